//! Descriptions evaluated on small operands, against results computed by hand.

use tofu_ir::ElementType::{self, *};
use tofu_tdl::Tensor;

use crate::support::*;

fn close(actual: &Tensor, expected: &[f64], tolerance: f64) {
    let actual = actual.numbers();
    assert_eq!(actual.len(), expected.len(), "{actual:?}");
    for (a, b) in actual.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{actual:?} is not {expected:?}");
    }
}

#[test]
fn convolution() {
    let data = tensor(I32, &[1, 2, 4], &[1., 2., 3., 4., 5., 6., 7., 8.]);
    let filter = tensor(I32, &[2, 1, 2], &[1., 10., 100., 1000.]);
    let result = run(&read(CONV1D), &[data, filter]);
    assert_eq!(result[0].dims(), [1, 1, 3]);
    close(&result[0], &[6521., 7632., 8743.], 0.0);
}

#[test]
fn softmax() {
    let x = tensor(F64, &[2, 2], &[0., 0., 1., 1. + 3f64.ln()]);
    close(&run(&read(SOFTMAX), &[x])[0], &[0.5, 0.5, 0.25, 0.75], 1e-15);
}

#[test]
fn cholesky() {
    let a = tensor(F32, &[2, 2, 2], &[4., 2., 2., 5., 9., 0., 0., 1.]);
    close(&run(&read(CHOLESKY), &[a])[0], &[2., 0., 1., 2., 3., 0., 0., 1.], 0.0);
}

#[test]
fn embedding() {
    let table = tensor(BF16, &[3, 2], &[1., 2., 3., 4., 5., 6.]);
    let ids = tensor(I32, &[4], &[2., 0., 7., -1.]);
    close(&run(&read(EMBEDDING), &[table, ids])[0], &[5., 6., 1., 2., 0., 0., 0., 0.], 0.0);
}

#[test]
fn argmax_carries_two_values() {
    let text = "tdl @argmax(x: [N, M]) -> (value: [N], index: i32[N]) {
  combine best(a, i: i32; b, j: i32) from (lowest, 0) = (if a >= b then a else b, if a >= b then i else j)
  value[n] = best(m)(x[n, m], convert<i32>(m)).0
  index[n] = best(m)(x[n, m], convert<i32>(m)).1
}";
    for element in [F32, I8, F8E4M3FN] as [ElementType; 3] {
        let x = tensor(element, &[2, 3], &[1., 3., 3., -5., -6., -4.]);
        let results = run(&read(text), &[x]);
        close(&results[0], &[3., -4.], 0.0);
        close(&results[1], &[1., 2.], 0.0);
    }
}

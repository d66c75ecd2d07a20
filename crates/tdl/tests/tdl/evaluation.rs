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

#[test]
fn sums_of_one_term_keep_it_bit_for_bit() {
    let mut table = tensor(F32, &[2, 1], &[-0.0, 1.0]);
    table.set_number(0, -0.0);
    let result = run(&read(EMBEDDING), &[table.clone(), tensor(I32, &[1], &[0.])]);
    assert_eq!(result[0].bytes(), &table.bytes()[..4]);
}

#[test]
fn indices_from_elements_are_checked_when_they_are_used() {
    let pick = read("tdl @pick(x: [N], at: i64[M]) -> [M] { out[i] = x[at[i]] }");
    let x = tensor(F32, &[3], &[1., 2., 3.]);
    close(&run(&pick, &[x.clone(), tensor(I64, &[2], &[2., 0.])])[0], &[3., 1.], 0.0);
    let registry = tofu_tdl::OpaqueRegistry::builtin();
    let error = tofu_tdl::evaluate(&pick, &[x, tensor(I64, &[1], &[3.])], &registry).unwrap_err();
    assert_eq!(error.to_string(), "the index into dimension 0 of `x` is 3, outside 0..3");
}

#[test]
fn copies_keep_every_bit() {
    let transpose = read("tdl @t(x: [N, M]) -> [M, N] { out[i, j] = x[j, i] }");
    for element in ElementType::ALL {
        let size = element.storage_bytes();
        let byte = |at: usize| (at as u8).wrapping_mul(91).wrapping_add(0x7F);
        let held = |byte: u8| (0..=255).map(|n| byte.wrapping_add(n)).find(|&byte| element.holds_byte(byte));
        let bytes: Vec<u8> = (0..3 * size).map(|at| held(byte(at)).unwrap()).collect();
        let x = Tensor::from_bytes(element, &[3, 1], bytes.clone()).unwrap();
        assert_eq!(run(&transpose, &[x])[0].bytes(), bytes, "{element}");
    }
}

#[test]
fn results_may_use_types_of_their_own() {
    let iota = read("tdl @iota() -> f8E5M2[6] { out[i] = convert<f8E5M2>(4 * i) }");
    // 12 is 1.5 * 8 and 20 is 1.25 * 16.
    close(&run(&iota, &[])[0], &[0., 4., 8., 12., 16., 20.], 0.0);
    let parts = read(
        "tdl @parts<T: complex>(z: [N]) -> (re: part<T>[N], size: part<T>[N], back: [N]) {
           re[i] = real(z[i])
           size[i] = abs(z[i])
           back[i] = complex(real(z[i]), -imag(z[i]))
         }",
    );
    let mut z = Tensor::zeros(Complex32, &[1]).unwrap();
    z.set_complex(0, 3.0, 4.0);
    let results = run(&parts, &[z]);
    assert_eq!((results[0].element(), results[0].number(0), results[1].number(0)), (F32, 3.0, 5.0));
    assert_eq!(results[2].complex_at(0), (3.0, -4.0));
}

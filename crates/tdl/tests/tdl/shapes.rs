//! Extents solved forward and backward, and what disagrees.

use tofu_ir::ElementType::{self, *};
use tofu_ir::{Dim, Interner, TensorType};
use tofu_tdl::{Value, solve, solve_with_results};

use crate::support::*;

fn of(dims: &[Dim], element: ElementType) -> TensorType {
    TensorType { dims: dims.iter().copied().collect(), element }
}

fn known(dims: &[u64]) -> TensorType {
    TensorType::of(dims, F32)
}

#[test]
fn results_follow_from_operands() {
    let conv1d = read(CONV1D);
    let solution = solve(&conv1d, &[known(&[2, 3, 10]), known(&[3, 4, 3])]).unwrap();
    assert_eq!(solution.results, [known(&[2, 4, 8])]);
    // B, CI, X, DX, CO
    assert_eq!(solution.static_extents(), Some(vec![2, 3, 8, 3, 4]));
}

#[test]
fn symbols_and_unknown_extents_flow_through() {
    let mut interner = Interner::new();
    let (batch, width) = (Dim::Symbol(interner.name("batch")), Dim::Symbol(interner.name("width")));
    let conv1d = read(CONV1D);
    let data = of(&[batch, Dim::Static(3), width], F32);
    let solution = solve(&conv1d, &[data.clone(), known(&[3, 4, 1])]).unwrap();
    assert_eq!(solution.results, [of(&[batch, Dim::Static(4), width], F32)]);
    // width - 2 has no name.
    let solution = solve(&conv1d, &[data, known(&[3, 4, 3])]).unwrap();
    assert_eq!(solution.results, [of(&[batch, Dim::Static(4), Dim::Unknown], F32)]);
    let add = read("tdl @add(x: [N, M], y: [N, M]) -> [N, M] { out[i, j] = x[i, j] + y[i, j] }");
    let x = of(&[batch, Dim::Unknown], F32);
    let y = of(&[Dim::Unknown, Dim::Static(7)], F32);
    let solution = solve(&add, &[x, y]).unwrap();
    let both = of(&[batch, Dim::Static(7)], F32);
    assert_eq!(
        (&solution.operands[..], &solution.results[..]),
        (&[both.clone(), both.clone()][..], &[both][..])
    );
    let solution = solve(&add, &[of(&[batch, width], F32), of(&[width, width], F32)]).unwrap();
    assert_eq!(solution.assumptions, [(batch, width)]);
}

#[test]
fn operands_follow_from_results() {
    let conv1d = read(CONV1D);
    let unknown = of(&[Dim::Unknown, Dim::Unknown, Dim::Unknown], F32);
    let solution = solve_with_results(&conv1d, &[unknown, known(&[3, 4, 3])], &[known(&[2, 4, 8])]).unwrap();
    assert_eq!(solution.operands[0], known(&[2, 3, 10]));
    let split = read("tdl @unmerge(x: [A * B], y: [B]) -> [A, B] { out[a, b] = x[a * B + b] * y[b] }");
    let solution = solve(&split, &[known(&[12]), known(&[4])]).unwrap();
    assert_eq!(solution.results, [known(&[3, 4])]);
}

#[test]
fn a_product_of_unknown_extents_is_any_number() {
    let fold = read(
        "tdl @fold(x: [N, M], y: [K, L]) -> [] where N * M = K * L {
           out[] = (sum(i, j) x[i, j]) + (sum(k, l) y[k, l])
         }",
    );
    let mut interner = Interner::new();
    let n = Dim::Symbol(interner.name("n"));
    // 12 is a multiple of something; and of 0 = (N - K) * M, either factor may be 0.
    for x in [[Dim::Unknown, Dim::Unknown], [n, Dim::Unknown], [Dim::Unknown, n]] {
        let solution = solve(&fold, &[of(&x, F32), known(&[3, 4])]).unwrap();
        assert_eq!(solution.operands[0], of(&x, F32));
        let solution = solve(&fold, &[of(&x, F32), of(&[Dim::Unknown, x[1]], F32)]).unwrap();
        assert_eq!(solution.operands[0], of(&x, F32));
    }
    let solution = solve(&fold, &[of(&[Dim::Static(6), Dim::Unknown], F32), known(&[3, 4])]).unwrap();
    assert_eq!(solution.operands[0], known(&[6, 2]));
    let error = solve(&fold, &[of(&[Dim::Static(5), Dim::Unknown], F32), known(&[3, 4])]).unwrap_err();
    assert!(error.message.contains("which no `M` makes"), "{}", error.message);
}

#[test]
fn conditions_give_extents() {
    let pool = read(
        "tdl @pool(x: [W], s: [S], k: [K]) -> [X] where X = (W - K) floordiv S + 1, K <= W {
           out[i] = (sum(j: K) x[S * i + j] * k[j]) + s[0]
         }",
    );
    let solution = solve(&pool, &[known(&[11]), known(&[3]), known(&[4])]).unwrap();
    assert_eq!(solution.results, [known(&[3])]);
    let error = solve(&pool, &[known(&[3]), known(&[1]), known(&[4])]).unwrap_err();
    assert_eq!(error.message, "@pool: the condition `K <= W` does not hold: 4 > 3");
    let error = solve(&pool, &[known(&[3]), known(&[0]), known(&[1])]).unwrap_err();
    assert_eq!(error.message, "@pool: `S` is 0 and divides");
}

#[test]
fn what_disagrees_is_named() {
    let conv1d = read(CONV1D);
    let error = solve(&conv1d, &[known(&[2, 3, 10]), known(&[5, 4, 3])]).unwrap_err();
    assert_eq!(error.message, "@conv1d: dimension 0 of `filter` is 5, but dimension 1 of `data` is 3");
    assert_eq!((error.value, error.other), (Some(Value::Operand(1)), Some(Value::Operand(0))));
    let error = solve(&conv1d, &[known(&[2, 3, 1]), known(&[3, 4, 3])]).unwrap_err();
    assert_eq!(
        error.message,
        "@conv1d: dimension 2 of `data` is 1, but `X + DX - 1` would then need a negative `X`"
    );
    let error = solve(&conv1d, &[known(&[2, 3]), known(&[3, 4, 3])]).unwrap_err();
    assert_eq!(error.message, "@conv1d: `data` must have 3 dimensions, but has 2 dimensions");
    let halves = read("tdl @pairs(x: [2 * N]) -> [N] { out[i] = x[2 * i] }");
    let error = solve(&halves, &[known(&[7])]).unwrap_err();
    assert_eq!(error.message, "@pairs: dimension 0 of `x` is 7, which no `N` makes `2 * N`");
    let error = solve_with_results(&halves, &[known(&[8])], &[known(&[5])]).unwrap_err();
    assert_eq!(error.value, Some(Value::Result(0)));
}

#[test]
fn element_types_must_agree_and_fit() {
    let conv1d = read(CONV1D);
    let ints = TensorType::of(&[3, 4, 3], I32);
    let error = solve(&conv1d, &[known(&[2, 3, 10]), ints]).unwrap_err();
    assert_eq!(
        error.message,
        "@conv1d: `data` has elements of type f32 and `filter` of type i32; they must agree"
    );
    let softmax = read(SOFTMAX);
    let error = solve(&softmax, &[TensorType::of(&[2, 3], I32)]).unwrap_err();
    assert_eq!(
        error.message,
        "@softmax: `exp` takes a float or a complex number, and `x[b, n] - top[b]` is i32"
    );
    let embedding = read(EMBEDDING);
    let error = solve(&embedding, &[known(&[4, 2]), known(&[3])]).unwrap_err();
    assert_eq!(error.message, "@embedding: `ids` must have elements of type i32, but has f32");
}

#[test]
fn results_have_no_negative_extents() {
    let cut = read("tdl @cut(x: [N]) -> [N - 10] { out[i] = x[i + 10] }");
    let of = |size: u64| solve(&cut, &[TensorType::of(&[size], F32)]);
    assert_eq!(of(12).unwrap().results, [TensorType::of(&[2], F32)]);
    assert_eq!(of(10).unwrap().results, [TensorType::of(&[0], F32)]);
    assert_eq!(of(4).unwrap_err().message, "@cut: dimension 0 of the result `out` would be -6");
}

//! Text in, text out.

use crate::support::*;

/// Texts that print as they are.
const CANONICAL: [&str; 10] = [
    CONV1D,
    SOFTMAX,
    CHOLESKY,
    EMBEDDING,
    "tdl @argmax(x: [N, M]) -> (value: [N], index: i32[N]) {
  combine best(a, i: i32; b, j: i32) from (lowest, 0) = (if a >= b then a else b, if a >= b then i else j)
  value[n] = best(m)(x[n, m], convert<i32>(m)).0
  index[n] = best(m)(x[n, m], convert<i32>(m)).1
}
",
    "tdl @strided(x: [B, W], f: [K], s: [S]) -> [B, X]
    where X = (W - K) floordiv S + 1, K <= W {
  out[b, i] = sum(k) x[b, S * i + k] * f[k]
}
",
    "tdl @merge(x: [A, B]) -> [A * B] {
  out[i] = x[i floordiv B, i mod B]
}
",
    "tdl @pairs(x: f32[2 * N]) -> f32[] {
  out[] = sum(i: N) x[2 * i] * 3.0 - 1e-7
}
",
    "tdl @pick(x: [N, D], at: i64[M]) -> [M, D] {
  out[m, d] = x[max(min(convert<index>(at[m]), N - 1), 0), d]
}
",
    "tdl @iota() -> f32[4, 3] {
  out[i, j] = convert<f32>(3 * i + j)
}
",
];

#[test]
fn canonical_texts_print_as_they_are() {
    for text in CANONICAL {
        assert_eq!(read(text).to_string(), text);
    }
}

//! Descriptions of all kinds, on operands that are large enough for several blocks, panels and tiles.

use fastrand::Rng;
use tofu_ir::ElementType::{self, *};
use tofu_tdl::{Description, Tensor, operand_dims};

use crate::support::{check, draw, kernel, read};

/// A description, the elements of its operands, the ranges of the extents that operands have, and the stages of its
/// kernel for the larger ones.
struct Case {
    text: &'static str,
    elements: &'static [ElementType],
    extents: &'static [(&'static str, u64, u64)],
    stages: &'static str,
}

impl Case {
    fn draw(&self, description: &Description, large: bool, random: &mut Rng) -> Vec<Tensor> {
        let names = &description.data().extents;
        let extents: Vec<u64> = (names.iter())
            .map(|name| match self.extents.iter().find(|(known, ..)| **known == **name) {
                Some((_, _, high)) if large => *high,
                Some((_, low, high)) => random.u64(*low..=*high),
                None => 0,
            })
            .collect();
        let special = random.u8(..3) == 0;
        operand_dims(description, &extents)
            .unwrap()
            .iter()
            .enumerate()
            .map(|(number, dims)| {
                draw(self.elements[number.min(self.elements.len() - 1)], dims, special, random)
            })
            .collect()
    }
}

#[test]
fn kernels_give_what_the_evaluator_gives() {
    let mut random = Rng::with_seed(1);
    for case in CASES {
        let description = read(case.text);
        let operands = case.draw(&description, true, &mut random);
        let stages = format!("{:?}", kernel(&description, &operands));
        assert!(stages.contains(&format!("[{}]", case.stages)), "{stages}\n{}", case.text);
        check(&description, &operands);
        for _ in 0..6 {
            check(&description, &case.draw(&description, false, &mut random));
        }
    }
}

macro_rules! cases {
    ($($text:expr, [$($element:ident),*], [$($name:ident $low:literal..$high:literal),*], $stages:literal;)*) => {
        const CASES: &[Case] = &[$(Case {
            text: $text,
            elements: &[$($element),*],
            extents: &[$((stringify!($name), $low, $high)),*],
            stages: $stages,
        }),*];
    };
}

cases! {
    // Element by element.
    "tdl @add(x: [N, M], y: [N, M]) -> [N, M] { out[i, j] = x[i, j] + y[i, j] }", [F32], [N 0..70, M 1..40], "Map";
    "tdl @gelu(x: [N]) -> [N] { out[i] = 0.5 * x[i] * (1 + tanh(0.797 * (x[i] + 0.0447 * x[i] * x[i] * x[i]))) }",
        [F32], [N 1..2500], "Map";
    "tdl @bf16(x: [N], y: [N]) -> [N] { out[i] = x[i] * y[i] + x[i] / y[i] - sqrt(abs(x[i])) }", [BF16], [N 1..1500], "Map";
    "tdl @choose(p: i1[N], x: [N], y: [N]) -> [N] { out[i] = if p[i] then x[i] else y[i] }", [I1, F32], [N 1..2500], "Map";
    "tdl @clamp(l: [], x: [N], h: []) -> [N] { out[i] = min(max(x[i], l[]), h[]) }", [F32], [N 1..2500], "Map";
    "tdl @iota() -> i32[70, 40] { out[i, j] = convert<i32>(40 * i + j) }", [], [], "Map";
    // Movement.
    "tdl @transpose(x: [N, M, K]) -> [K, N, M] { out[k, n, m] = x[n, m, k] }", [I16], [N 1..9, M 1..30, K 1..20], "Map";
    "tdl @broadcast(x: [N], s: []) -> [N, 70] { out[i, j] = x[i] * s[] }", [F64], [N 1..70], "Map";
    "tdl @reverse(x: [N, M]) -> [N, M] { out[i, j] = x[N - 1 - i, M - 1 - j] }", [F32], [N 1..50, M 1..50], "Map";
    "tdl @slice(x: [2003]) -> [650] { out[i] = x[3 * i + 2] }", [Complex64], [], "Map";
    "tdl @concatenate(a: [N, K], b: [M, K]) -> [N + M, K] {
       out[i, k] = if i < N then a[i, k] else b[i - N, k]
     }", [F32], [N 1..40, M 1..40, K 1..40], "Map";
    "tdl @concatenate_inner(a: [K, N], b: [K, M]) -> [K, N + M] {
       out[k, i] = if i < N then a[k, i] else b[k, i - N]
     }", [F32], [N 1..40, M 1..40, K 1..40], "Map";
    "tdl @pad(x: [N, M], v: []) -> [N + 5, M + 3] {
       out[i, j] = if i >= 2 and i < N + 2 and j >= 1 and j < M + 1 then x[i - 2, j - 1] else v[]
     }", [F32], [N 1..50, M 1..50], "Map";
    "tdl @pad_interior(x: [N], v: []) -> [3 * N + 2] {
       out[i] = if i >= 1 and (i - 1) mod 3 == 0 and (i - 1) floordiv 3 < N then x[(i - 1) floordiv 3] else v[]
     }", [I32], [N 1..700], "Map";
    "tdl @reshape(x: [A, B, 6]) -> [B, 3, A, 2] {
       out[i, j, k, l] = x[(((i * 3 + j) * A + k) * 2 + l) floordiv (6 * B), (((i * 3 + j) * A + k) * 2 + l) floordiv 6 mod B,
         (((i * 3 + j) * A + k) * 2 + l) mod 6]
     }", [F32], [A 1..20, B 1..20], "Map";
    "tdl @regroup(x: [4 * A, 3]) -> [6 * A, 2] { out[i, j] = x[(2 * i + j) floordiv 3, (2 * i + j) mod 3] }",
        [I32], [A 1..200], "Map";
    "tdl @triangle(x: [N, N]) -> [N, N] { out[i, j] = if i >= j then x[i, j] else 0 }", [F32], [N 1..60], "Map";
    "tdl @diagonal(x: [N, N]) -> [N] { out[i] = x[i, i] }", [F32], [N 1..60], "Map";
    // Sums of products.
    "tdl @matmul(a: [M, K], b: [K, N]) -> [M, N] { out[m, n] = sum(k) a[m, k] * b[k, n] }",
        [F32], [M 1..67, K 1..90, N 1..70], "Contract";
    "tdl @matmul_transposed(a: [K, M], b: [N, K]) -> [N, M] { out[n, m] = sum(k) a[k, m] * b[n, k] }",
        [F64], [M 1..67, K 1..90, N 1..70], "Contract";
    "tdl @matmul_long(a: [M, K], b: [K, N]) -> [M, N] { out[m, n] = sum(k) a[m, k] * b[k, n] }",
        [F32], [M 1..5, K 1000..1300, N 1..9], "Contract";
    "tdl @matmul_wide(a: [M, K], b: [K, N]) -> [M, N] { out[m, n] = sum(k) a[m, k] * b[k, n] }",
        [I32], [M 1..70, K 1..4, N 250..530], "Contract";
    "tdl @matmul_tall(a: [M, K], b: [K, N]) -> [M, N] { out[m, n] = sum(k) a[m, k] * b[k, n] }",
        [F32], [M 100..500, K 1..9, N 1..4], "Contract";
    "tdl @matmul_bytes(a: [M, K], b: [K, N]) -> [M, N] { out[m, n] = sum(k) a[m, k] * b[k, n] }",
        [Ui8], [M 1..20, K 1..40, N 1..40], "Contract";
    "tdl @matmul_bf16(a: [M, K], b: [K, N]) -> bf16[M, N] {
       out[m, n] = convert<bf16>(sum(k) convert<f32>(a[m, k]) * convert<f32>(b[k, n]))
     }", [BF16], [M 1..20, K 1..40, N 1..40], "Contract, Map";
    "tdl @matmul_complex(a: [M, K], b: [K, N]) -> [M, N] { out[m, n] = sum(k) a[m, k] * b[k, n] }",
        [Complex32], [M 1..20, K 1..20, N 1..20], "Map, Fold";
    "tdl @matvec(a: [M, K], x: [K]) -> [M] { out[m] = sum(k) a[m, k] * x[k] }", [F32], [M 1..90, K 1..90], "Map, Fold";
    "tdl @dot(x: [K], y: [K]) -> [] { out[] = sum(k) x[k] * y[k] }", [F32], [K 1..3000], "Map, Fold";
    "tdl @outer(x: [M], y: [N]) -> [M, N] { out[m, n] = x[m] * y[n] }", [F32], [M 1..60, N 1..60], "Map";
    "tdl @attention(q: [B, S, H, D], k: [B, T, H, D]) -> [B, H, S, T] {
       out[b, h, s, t] = sum(d) q[b, s, h, d] * k[b, t, h, d]
     }", [F32], [B 1..3, S 1..20, T 1..20, H 1..3, D 1..16], "Contract";
    "tdl @scaled(a: [B, M, K], b: [B, K, N], s: []) -> [B, M, N] {
       out[i, m, n] = (sum(k) a[i, m, k] * b[i, k, n]) * s[] + 1
     }", [F32], [B 1..3, M 1..20, K 1..20, N 1..20], "Contract, Map";
    "tdl @two_products(a: [M, K], b: [K, N], c: [M, L], d: [L, N]) -> [M, N] {
       out[m, n] = (sum(k) a[m, k] * b[k, n]) + sum(l) c[m, l] * d[l, n]
     }", [F32], [M 1..20, K 1..20, N 1..20, L 1..20], "Contract, Contract, Map";
    "tdl @masked(p: i1[M, K], a: [M, K], b: [K, N]) -> [M, N] {
       out[m, n] = sum(k) if p[m, k] then a[m, k] * b[k, n] else 0
     }", [I1, F32], [M 1..20, K 1..20, N 1..20], "Contract";
    // Convolutions.
    "tdl @conv1d(data: [B, CI, X + DX - 1], filter: [CI, CO, DX]) -> [B, CO, X] {
       out[b, co, x] = sum(ci, dx) data[b, ci, x + dx] * filter[ci, co, dx]
     }", [F32], [B 1..3, CI 1..5, X 1..30, DX 1..4, CO 1..9], "Contract";
    "tdl @conv2d_same(x: [B, H, W, C], f: [3, 3, C, O]) -> [B, H, W, O] {
       out[b, y, i, o] = sum(dy, dx, c) if y + dy >= 1 and y + dy < H + 1 and i + dx >= 1 and i + dx < W + 1
         then x[b, y + dy - 1, i + dx - 1, c] * f[dy, dx, c, o] else 0
     }", [F32], [B 1..2, H 1..9, W 1..12, C 1..5, O 1..9], "Contract";
    "tdl @conv2d_strided(x: [B, H, W, C], f: [3, 2, C, O]) -> [B, Y, X, O]
       where Y = (H - 3) floordiv 2 + 1, X = (W - 2) floordiv 3 + 1, 3 <= H, 2 <= W {
       out[b, y, i, o] = sum(dy, dx, c) x[b, 2 * y + dy, 3 * i + dx, c] * f[dy, dx, c, o]
     }", [F32], [B 1..2, H 3..14, W 2..14, C 1..5, O 1..9], "Contract";
    "tdl @conv1d_transposed(x: [N, C], f: [3, C, O]) -> [2 * N + 1, O] {
       out[i, o] = sum(k, c) if i + k - 2 >= 0 and (i + k - 2) mod 2 == 0 and (i + k - 2) floordiv 2 < N
         then x[(i + k - 2) floordiv 2, c] * f[k, c, o] else 0
     }", [F32], [N 1..30, C 1..5, O 1..9], "Contract";
    "tdl @conv1d_grouped(x: [G * CI, X + K - 1], f: [K, CI, G * CO]) -> [G * CO, X] {
       out[o, i] = sum(k, c) x[o floordiv CO * CI + c, i + k] * f[k, c, o]
     }", [F32], [G 1..4, CI 1..4, CO 1..4, X 1..40, K 1..4], "Map";
    "tdl @filter_gradient(x: [B, C, N + 2], d: [B, O, N]) -> [O, C, 3] {
       out[o, c, k] = sum(b, i) x[b, c, i + k] * d[b, o, i]
     }", [F32], [B 1..3, C 1..5, O 1..9, N 1..40], "Contract";
    // Reductions.
    "tdl @total(x: [N, M]) -> [] { out[] = sum(i, j) x[i, j] }", [F32], [N 1..60, M 1..60], "Map, Fold";
    "tdl @rows(x: [N, M]) -> [N] { out[i] = sum(j) x[i, j] }", [F32], [N 1..70, M 1..60], "Map, Fold";
    "tdl @short_rows(x: [N, M]) -> [N] { out[i] = sum(j) x[i, j] }", [F32], [N 1..700, M 1..9], "Map";
    "tdl @columns(x: [N, M]) -> [M] { out[j] = max(i) x[i, j] }", [F32], [N 1..60, M 1..80], "Map";
    "tdl @middle(x: [N, M, K]) -> [N, K] { out[i, k] = min(j) x[i, j, k] }", [F64], [N 1..20, M 1..9, K 1..30], "Map";
    "tdl @every(x: [N, M]) -> i1[M] { out[j] = and(i) x[i, j] > 0 }", [I32], [N 1..9, M 1..90], "Map";
    "tdl @reduce_add(x: [N, M], init: []) -> [N] {
       combine add(a; b) from (init[]) = (a + b)
       out[i] = add(j)(x[i, j]).0
     }", [F32], [N 1..9, M 1..90], "Map, Fold";
    "tdl @argmax(x: [N, M]) -> (value: [N], index: i32[N]) {
       combine best(a, i: i32; b, j: i32) from (lowest, 0) =
         (if a > b or (a == b and i < j) then a else b, if a > b or (a == b and i < j) then i else j)
       value[n] = best(m)(x[n, m], convert<i32>(m)).0
       index[n] = best(m)(x[n, m], convert<i32>(m)).1
     }", [F32], [N 1..90, M 1..9], "Map, Map";
    "tdl @softmax(x: [B, N]) -> [B, N] {
       let top[b] = max(n) x[b, n]
       let mass[b] = sum(n) exp(x[b, n] - top[b])
       out[b, n] = exp(x[b, n] - top[b]) / mass[b]
     }", [F32], [B 1..70, N 1..50], "Map, Fold, Map, Fold, Map";
    "tdl @normalized(x: [B, N]) -> [B, N] { out[b, n] = x[b, n] / (sum(m: N) x[b, m] * x[b, m]) }",
        [F32], [B 1..70, N 1..50], "Map, Fold, Map";
    "tdl @prefix_sum(x: [N]) -> [N] { out[i] = sum(j) if j <= i then x[j] else 0 }", [I32], [N 1..90], "Map, Fold";
    "tdl @no_terms(x: [N, 0]) -> [N] { out[i] = max(j) x[i, j] }", [F32], [N 1..9], "Map";
    // Windows.
    "tdl @max_pool(x: [B, H, W]) -> [B, Y, X]
       where Y = (H - 3) floordiv 2 + 1, X = (W - 3) floordiv 2 + 1, 3 <= H, 3 <= W {
       out[b, y, i] = max(dy: 3, dx: 3) x[b, 2 * y + dy, 2 * i + dx]
     }", [F32], [B 1..3, H 3..30, W 3..30], "Map";
    "tdl @max_pool_same(x: [N, M]) -> [N, M] {
       out[i, j] = max(k: 3, l: 2) if i + k >= 1 and i + k < N + 1 and j + l < M then x[i + k - 1, j + l] else lowest
     }", [F32], [N 1..40, M 1..40], "Map";
    "tdl @max_pool_gradient(x: [2 * N], d: [N]) -> [2 * N] {
       let top[i: N] = max(k: 2) x[2 * i + k]
       out[j] = sum(k: 2) if (j - k) mod 2 == 0 and j - k >= 0 and (j - k) floordiv 2 < N
         then (if x[j] == top[(j - k) floordiv 2] then d[(j - k) floordiv 2] else 0) else 0
     }", [F32], [N 1..900], "Map, Map";
    // Elements that index.
    "tdl @embedding(table: [V, D], ids: i32[B]) -> [B, D] {
       out[b, d] = sum(v) if ids[b] == v then table[v, d] else 0
     }", [F32, I32], [V 1..12, D 1..30, B 1..70], "Map";
    "tdl @gather_rows(x: [N, D], at: i64[M]) -> [M, D] {
       out[m, d] = x[max(min(convert<index>(at[m]), N - 1), 0), d]
     }", [F32, I64], [N 1..9, D 1..30, M 1..70], "Map";
    "tdl @pick(x: [N], at: i64[M]) -> [M] { out[i] = x[at[i]] }", [F32, I64], [N 1..9, M 1..70], "Map";
    "tdl @pick_guarded(x: [N], at: i64[M]) -> [M] {
       out[i] = if at[i] >= 0 and at[i] < convert<i64>(N) then x[at[i]] else 0
     }", [F32, I64], [N 1..9, M 1..70], "Map";
    "tdl @gather_pairs(x: [N, M, D], at: i64[K, 2]) -> [K, D] {
       out[k, d] = sum(n, m) if at[k, 0] == n and at[k, 1] == m then x[n, m, d] else 0
     }", [F32, I64], [N 1..9, M 1..9, D 1..30, K 1..70], "Map";
    "tdl @scatter_add(x: [N, D], at: i32[M], u: [M, D]) -> [N, D] {
       out[n, d] = x[n, d] + sum(m) if at[m] == n then u[m, d] else 0
     }", [F32, I32, F32], [N 1..9, D 1..30, M 1..70], "Map, Scatter, Map";
    "tdl @scatter_max(at: i32[M, 2], u: [M, D]) -> [9, D, 5] {
       out[n, d, k] = max(m) if at[m, 0] == n and k == at[m, 1] and u[m, d] < 4 then u[m, d] else lowest
     }", [I32, F32], [D 1..30, M 1..70], "Map, Scatter";
    "tdl @scatter_into(x: [N, D], at: i32[M, 1], u: [M, D]) -> [N, D] where 1 <= M {
       out[n, d] = sum(m) ((if m == 0 then x[n, d] else 0) + (if at[m, 0] == n then u[m, d] else 0))
     }", [F32, I32, F32], [N 1..9, D 1..30, M 1..70], "Map, Scatter";
    "tdl @scatter_window(x: [N, D], at: i32[M, 2], u: [M, 3]) -> [N, D] where 1 <= M {
       out[n, d] = prod(m, w: 3) ((if w == 0 and m == 0 then x[n, d] else 1) *
         (if at[m, 0] == n and convert<index>(at[m, 1]) + w == d and u[m, w] < 3 then u[m, w] else 1))
     }", [F32, I32, F32], [N 1..9, D 1..30, M 1..70], "Map, Scatter";
    "tdl @scatter_set(x: [N, D], at: i32[M, 1], u: [M, D]) -> [N, D] {
       combine set(a, any_a: i1; b, any_b: i1) from (0, false) = (if any_b then b else a, any_a or any_b)
       out[n, d] = if set(m)(if at[m, 0] == n then u[m, d] else 0, at[m, 0] == n).1
         then set(m)(if at[m, 0] == n then u[m, d] else 0, at[m, 0] == n).0 else x[n, d]
     }", [F32, I32, F32], [N 1..9, D 1..30, M 1..70], "Map, Map, Update, Map";
    "tdl @scatter_pairs(x: [N], at: i32[M], u: [M], v: i32[M]) -> (top: [N], of: i32[N]) {
       combine best(a, i: i32, any_a: i1; b, j: i32, any_b: i1) from (0, 0, false) =
         (if any_b and (not any_a or b > a) then b else a, if any_b and (not any_a or b > a) then j else i, any_a or any_b)
       top[n] = best(m)(if at[m] == n then u[m] else 0, if at[m] == n then v[m] else 0, at[m] == n).0 + x[n]
       of[n] = best(m)(if at[m] == n then u[m] else 0, if at[m] == n then v[m] else 0, at[m] == n).1 + 1
     }", [F32, I32, F32, I32], [N 1..9, M 1..70], "Map, Map, Map, Update, Map, Map";
    "tdl @dynamic_slice(x: [N, K], s: i32[]) -> [4, K] where 4 <= N {
       out[i, k] = x[max(min(convert<index>(s[]), N - 4), 0) + i, k]
     }", [F32, I32], [N 4..12, K 1..70], "Map";
    "tdl @dynamic_update_slice(x: [N, K], u: [3, K], s: i32[]) -> [N, K] where 3 <= N {
       let start[] = max(min(convert<index>(s[]), N - 3), 0)
       out[i, k] = if convert<index>(i) >= start[] and convert<index>(i) < start[] + 3 then u[i - start[], k] else x[i, k]
     }", [F32, F32, I32], [N 3..12, K 1..70], "Map, Map";
    // Left to the evaluator.
    "tdl @cholesky(a: [B, N, N]) -> [B, N, N] { out[b, i, j] = opaque \"cholesky\"(a[b, :, :])[i, j] }",
        [F64], [B 1..3, N 1..4], "Evaluator";
}

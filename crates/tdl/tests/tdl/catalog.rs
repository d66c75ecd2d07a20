//! Descriptions of all kinds, with what their extents may be.

use fastrand::Rng;
use tofu_ir::ElementType::{self, *};
use tofu_ir::TensorType;
use tofu_tdl::{Description, Tensor, operand_dims, solve};

use crate::support::{CHOLESKY, CONV1D, EMBEDDING, SOFTMAX, read};

/// A description to be tried on random operands.
pub(crate) struct Case {
    pub(crate) text: &'static str,
    /// The ranges of the extents that operands have.
    extents: &'static [(&'static str, u64, u64)],
    elements: &'static [ElementType],
    /// The elements of operands lie in these ranges (the last one for all further operands).
    values: &'static [(i64, i64)],
    /// Whether regions are the smallest boxes.
    pub(crate) is_affine: bool,
}

impl Case {
    pub(crate) fn description(&self) -> Description {
        read(self.text)
    }

    /// Extents and operands.
    pub(crate) fn draw(&self, description: &Description, random: &mut Rng) -> (Vec<u64>, Vec<Tensor>) {
        let names = &description.data().extents;
        let extents: Vec<u64> = names
            .iter()
            .map(|name| match self.extents.iter().find(|(known, ..)| **known == **name) {
                Some((_, low, high)) => random.u64(*low..=*high),
                None => 0,
            })
            .collect();
        let operands: Vec<Tensor> = operand_dims(description, &extents)
            .unwrap()
            .iter()
            .enumerate()
            .map(|(number, dims)| {
                let element = self.elements[number.min(self.elements.len() - 1)];
                let (low, high) = self.values[number.min(self.values.len() - 1)];
                let mut tensor = Tensor::zeros(element, dims).unwrap();
                for index in 0..tensor.len() {
                    tensor.set_integer(index, i128::from(random.i64(low..=high)));
                }
                tensor
            })
            .collect();
        let types: Vec<TensorType> = operands.iter().map(Tensor::ty).collect();
        let solution = solve(description, &types).unwrap_or_else(|error| panic!("{}", error.message));
        (solution.static_extents().unwrap(), operands)
    }
}

macro_rules! cases {
    ($($text:expr, [$($name:ident $low:literal..$high:literal),*], [$($element:ident),*], [$($value:expr),*], $affine:literal;)*) => {
        pub(crate) const CASES: &[Case] = &[$(Case {
            text: $text,
            extents: &[$((stringify!($name), $low, $high)),*],
            elements: &[$($element),*],
            values: &[$($value),*],
            is_affine: $affine,
        }),*];
    };
}

cases! {
    CONV1D, [B 1..3, CI 1..5, X 1..9, DX 1..4, CO 1..4], [I32], [(-9, 9)], true;
    SOFTMAX, [B 1..5, N 1..9], [F64], [(-3, 3)], false;
    EMBEDDING, [V 1..9, D 1..4, B 1..6], [I32, I32], [(-9, 9), (0, 8)], false;
    CHOLESKY, [B 1..7, N 1..1], [F64], [(1, 9)], false;
    "tdl @add(x: [N, M], y: [N, M]) -> [N, M] { out[i, j] = x[i, j] + y[i, j] }",
        [N 1..9, M 1..5], [I8], [(-128, 127)], true;
    "tdl @transpose(x: [N, M, K]) -> [K, N, M] { out[k, n, m] = x[n, m, k] }",
        [N 1..5, M 1..5, K 1..9], [I16], [(-9, 9)], true;
    "tdl @broadcast(x: [N], s: []) -> [N, 7] { out[i, j] = x[i] * s[] }", [N 1..9], [I32], [(-9, 9)], true;
    "tdl @reverse(x: [N, M]) -> [N, M] { out[i, j] = x[N - 1 - i, j] }", [N 1..9, M 1..4], [I32], [(-9, 9)], true;
    "tdl @slice(x: [13]) -> [4] { out[i] = x[3 * i + 2] }", [], [I32], [(-9, 9)], true;
    "tdl @slice_any(x: [2 * N + 3]) -> [N] { out[i] = x[2 * i + 3] }", [N 1..9], [I32], [(-9, 9)], true;
    "tdl @concatenate(a: [N], b: [M]) -> [N + M] { out[i] = if i < N then a[i] else b[i - N] }",
        [N 1..9, M 1..9], [I32], [(-9, 9)], true;
    "tdl @concatenate3(a: [N, K], b: [M, K], c: [L, K]) -> [N + M + L, K] {
       out[i, k] = if i < N then a[i, k] else if i < N + M then b[i - N, k] else c[i - N - M, k]
     }", [N 1..4, M 1..6, L 1..5, K 1..3], [I32], [(-9, 9)], true;
    "tdl @pad(x: [N], v: []) -> [N + 5] { out[i] = if i >= 2 and i < N + 2 then x[i - 2] else v[] }",
        [N 1..9], [I32], [(-9, 9)], true;
    "tdl @pad_interior(x: [N], v: []) -> [3 * N + 2] {
       out[i] = if i >= 1 and (i - 1) mod 3 == 0 and (i - 1) floordiv 3 < N then x[(i - 1) floordiv 3] else v[]
     }", [N 1..7], [I32], [(-9, 9)], true;
    "tdl @merge(x: [A, B]) -> [A * B] { out[i] = x[i floordiv B, i mod B] }", [A 1..9, B 1..5], [I32], [(-9, 9)], true;
    "tdl @unmerge(x: [A * 3]) -> [A, 3] { out[a, b] = x[3 * a + b] }", [A 1..9], [I32], [(-9, 9)], true;
    "tdl @regroup(x: [4 * A, 3]) -> [6 * A, 2] {
       out[i, j] = x[(2 * i + j) floordiv 3, (2 * i + j) mod 3]
     }", [A 1..6], [I32], [(-9, 9)], true;
    "tdl @matmul(a: [M, K], b: [K, N]) -> [M, N] { out[m, n] = sum(k) a[m, k] * b[k, n] }",
        [M 1..9, K 1..9, N 1..5], [I64], [(-99, 99)], true;
    "tdl @batch_matmul_scaled(a: [B, M, K], b: [B, N, K], s: []) -> [B, M, N] {
       out[i, m, n] = (sum(k) a[i, m, k] * b[i, n, k]) * s[]
     }", [B 1..4, M 1..4, K 1..9, N 1..4], [I32], [(-9, 9)], true;
    "tdl @conv2d_strided(x: [B, H, W, C], f: [3, 2, C, O]) -> [B, Y, X, O]
       where Y = (H - 3) floordiv 2 + 1, X = (W - 2) floordiv 3 + 1, 3 <= H, 2 <= W {
       out[b, y, i, o] = sum(dy, dx, c) x[b, 2 * y + dy, 3 * i + dx, c] * f[dy, dx, c, o]
     }", [B 1..2, H 3..9, W 2..9, C 1..3, O 1..3], [I32], [(-9, 9)], true;
    "tdl @conv1d_dilated(x: [X + 2 * K - 2], f: [K]) -> [X] { out[i] = sum(k) x[i + 2 * k] * f[k] }",
        [X 1..9, K 1..4], [I32], [(-9, 9)], true;
    "tdl @conv1d_same(x: [N, C], f: [3, C, O]) -> [N, O] {
       out[i, o] = sum(k, c) if i + k - 1 >= 0 and i + k - 1 < N then x[i + k - 1, c] * f[k, c, o] else 0
     }", [N 1..9, C 1..3, O 1..3], [I32], [(-9, 9)], true;
    "tdl @conv1d_transposed(x: [N], f: [3]) -> [2 * N + 1] {
       out[i] = sum(k) if i + k - 2 >= 0 and (i + k - 2) mod 2 == 0 and (i + k - 2) floordiv 2 < N
         then x[(i + k - 2) floordiv 2] * f[k] else 0
     }", [N 1..7], [I32], [(-9, 9)], true;
    "tdl @conv1d_grouped(x: [G * CI, X + K - 1], f: [K, CI, G * CO]) -> [G * CO, X] {
       out[o, i] = sum(k, c) x[o floordiv CO * CI + c, i + k] * f[k, c, o]
     }", [G 1..4, CI 1..3, CO 1..3, X 1..4, K 1..3], [I32], [(-9, 9)], false;
    "tdl @max_pool(x: [B, H, W]) -> [B, Y, X]
       where Y = (H - 3) floordiv 2 + 1, X = (W - 3) floordiv 2 + 1, 3 <= H, 3 <= W {
       out[b, y, i] = max(dy: 3, dx: 3) x[b, 2 * y + dy, 2 * i + dx]
     }", [B 1..2, H 3..9, W 3..9], [I32], [(-9, 9)], true;
    "tdl @max_pool_same(x: [N]) -> [N] {
       out[i] = max(k: 3) if i + k >= 1 and i + k < N + 1 then x[i + k - 1] else lowest
     }", [N 1..9], [I32], [(-9, 9)], true;
    "tdl @avg_pool(x: [2 * N]) -> f64[N] { out[i] = (sum(k: 2) convert<f64>(x[2 * i + k])) / 2 }",
        [N 1..9], [I32], [(-9, 9)], true;
    "tdl @max_pool_gradient(x: [2 * N], d: [N]) -> [2 * N] {
       let top[i: N] = max(k: 2) x[2 * i + k]
       out[j] = sum(k: 2) if (j - k) mod 2 == 0 and j - k >= 0 and (j - k) floordiv 2 < N
         then (if x[j] == top[(j - k) floordiv 2] then d[(j - k) floordiv 2] else 0) else 0
     }", [N 1..7], [I32], [(-3, 3)], false;
    "tdl @total(x: [N, M]) -> [] { out[] = sum(i, j) x[i, j] }", [N 1..9, M 1..5], [I32], [(-9, 9)], true;
    "tdl @doubled_sum(x: [N, M]) -> [N] {
       let s[i] = sum(j) x[i, j]
       out[i] = s[i] * 2
     }", [N 1..5, M 1..9], [I32], [(-9, 9)], false;
    "tdl @reduce_any(x: [N, M], init: []) -> [N] {
       combine add(a; b) from (init[]) = (a + b)
       out[i] = add(j)(x[i, j]).0
     }", [N 1..5, M 1..9], [I32], [(-9, 9), (0, 0)], false;
    "tdl @row_max(x: [N, M]) -> [N] { out[i] = max(j) x[i, j] }", [N 1..5, M 1..9], [I32], [(-9, 9)], true;
    "tdl @product(x: [N]) -> [] { out[] = prod(i) x[i] }", [N 1..9], [I32], [(-3, 3)], true;
    "tdl @every(x: [N, M]) -> i1[M] { out[j] = and(i) x[i, j] > 0 }", [N 1..9, M 1..3], [I32], [(-3, 9)], true;
    "tdl @some(x: [N]) -> i1[] { out[] = or(i) (x[i] > 8) }", [N 1..9], [I32], [(-3, 9)], true;
    "tdl @argmax(x: [N, M]) -> (value: [N], index: i32[N]) {
       combine best(a, i: i32; b, j: i32) from (lowest, 0) =
         (if a > b or (a == b and i < j) then a else b, if a > b or (a == b and i < j) then i else j)
       value[n] = best(m)(x[n, m], convert<i32>(m)).0
       index[n] = best(m)(x[n, m], convert<i32>(m)).1
     }", [N 1..5, M 1..9], [I32], [(-3, 3)], true;
    "tdl @argmax_only(x: [N, M]) -> (index: i32[N], doubled: [M, N]) {
       combine best(a, i: i32; b, j: i32) from (lowest, 0) =
         (if a > b or (a == b and i < j) then a else b, if a > b or (a == b and i < j) then i else j)
       index[n] = best(m)(x[n, m], convert<i32>(m)).1
       doubled[m, n] = x[n, m] * 2
     }", [N 1..5, M 1..9], [I32], [(-3, 3)], true;
    "tdl @layer_norm(x: [B, N], g: [N]) -> [B, N] {
       let mean[b] = (sum(n) x[b, n]) / N
       let spread[b] = (sum(n) (x[b, n] - mean[b]) * (x[b, n] - mean[b])) / N
       out[b, n] = (x[b, n] - mean[b]) * rsqrt(spread[b] + 1e-3) * g[n]
     }", [B 1..5, N 1..6], [F64], [(-9, 9)], false;
    "tdl @batch_norm_sums(x: [B, C]) -> (mean: [C], square: [C]) {
       mean[c] = sum(b) x[b, c]
       square[c] = sum(b) x[b, c] * x[b, c]
     }", [B 1..9, C 1..5], [I32], [(-9, 9)], true;
    "tdl @iota() -> i32[9, 4] { out[i, j] = convert<i32>(4 * i + j) }", [], [I32], [(0, 0)], true;
    "tdl @gather_rows(x: [N, D], at: i64[M]) -> [M, D] {
       out[m, d] = x[max(min(convert<index>(at[m]), N - 1), 0), d]
     }", [N 1..6, D 1..5, M 1..7], [I32, I64], [(-9, 9), (-3, 9)], false;
    "tdl @scatter_add(x: [N, D], at: i32[M], u: [M, D]) -> [N, D] {
       out[n, d] = x[n, d] + sum(m) if at[m] == n then u[m, d] else 0
     }", [N 1..6, D 1..4, M 1..7], [I32], [(-9, 9), (-1, 6), (-9, 9)], false;
    "tdl @gather_pairs(x: [N, M, D], at: i64[K, 2]) -> [K, D] {
       out[k, d] = sum(n, m) if at[k, 0] == n and at[k, 1] == m then x[n, m, d] else 0
     }", [N 1..5, M 1..4, D 1..3, K 1..5], [I32, I64], [(-9, 9), (-1, 4)], false;
    "tdl @one_hot_sum(at: i32[M], u: [M, D]) -> [7, D] { out[n, d] = sum(m) if at[m] == n then u[m, d] else 0 }",
        [D 1..4, M 1..7], [I32], [(-1, 6), (-9, 9)], false;
    "tdl @prefix_sum(x: [N]) -> [N] { out[i] = sum(j) if j <= i then x[j] else 0 }", [N 1..9], [I32], [(-9, 9)], true;
    "tdl @triangle(x: [N, N]) -> [N, N] { out[i, j] = if i >= j then x[i, j] else 0 }", [N 1..9], [I32], [(-9, 9)], true;
    "tdl @diagonal(x: [N, N]) -> [N] { out[i] = x[i, i] }", [N 1..9], [I32], [(-9, 9)], true;
    "tdl @dynamic_slice(x: [N], s: i32[]) -> [4] where 4 <= N {
       out[i] = x[max(min(convert<index>(s[]), N - 4), 0) + i]
     }", [N 4..12], [I32], [(-9, 9), (-3, 12)], false;
    "tdl @dynamic_update_slice(x: [N], u: [3], s: i32[]) -> [N] where 3 <= N {
       out[i] = sum(j: 3) if max(min(convert<index>(s[]), N - 3), 0) + j == i then u[j] else 0
     }", [N 3..12], [I32], [(-9, 9), (-9, 9), (-3, 12)], false;
    "tdl @attention_scores(q: [B, H, S, D], k: [B, H, T, D]) -> [B, H, S, T] {
       out[b, h, s, t] = sum(d) q[b, h, s, d] * k[b, h, t, d]
     }", [B 1..2, H 1..4, S 1..4, T 1..4, D 1..5], [I32], [(-9, 9)], true;
    "tdl @complex_product(a: [N], b: [N]) -> [N] { out[i] = a[i] * b[i] - b[i] / (a[i] * a[i] + 1) }",
        [N 1..9], [Complex64], [(1, 9)], true;
    "tdl @local_response(x: [C, N]) -> [C, N] {
       out[c, n] = sum(k: 5) if c + k >= 2 and c + k < C + 2 then x[c + k - 2, n] * x[c + k - 2, n] else 0
     }", [C 1..9, N 1..3], [I32], [(-9, 9)], true;
    "tdl @sum_from(x: [N, M], init: []) -> [N] { out[i] = init[] + sum(j) x[i, j] }",
        [N 1..5, M 0..9], [I32], [(-9, 9)], true;
    "tdl @sum_taken(x: [N, M], y: [N]) -> [N] { out[i] = y[i] - (sum(j) x[i, j]) - 1 }",
        [N 1..5, M 0..9], [I32], [(-9, 9)], true;
    "tdl @fully_connected(data: [B, I], weight: [O, I], bias: [O]) -> [B, O] {
       out[b, o] = (sum(i) data[b, i] * weight[o, i]) + bias[o]
     }", [B 1..4, I 0..9, O 1..4], [I32], [(-9, 9)], true;
    "tdl @conv2d_biased(x: [B, C, Y + 2, X + 1], f: [O, C, 3, 2], bias: [O]) -> [B, O, Y, X] {
       out[b, o, y, i] = (sum(c, dy, dx) x[b, c, y + dy, i + dx] * f[o, c, dy, dx]) + bias[o]
     }", [B 1..2, C 1..5, Y 1..3, X 1..3, O 1..3], [I32], [(-9, 9)], true;
    "tdl @gemm(a: [M, K], b: [K, N], c: [M, N], alpha: [], beta: []) -> [M, N] {
       let product[m, n] = alpha[] * (sum(k) a[m, k] * b[k, n])
       out[m, n] = -(product[m, n] + beta[] * c[m, n]) * 3
     }", [M 1..3, K 1..9, N 1..3], [I32], [(-9, 9)], false;
    "tdl @bias_rounded(x: bf16[N], bias: bf16[]) -> bf16[] {
       out[] = convert<bf16>((sum(i) convert<f32>(x[i])) + convert<f32>(bias[]))
     }", [N 1..9], [BF16], [(-9, 9)], true;
    "tdl @sums_of_sums(x: [N, M], y: [M], z: [K]) -> [] {
       out[] = (sum(j) ((sum(i) x[i, j]) + y[j])) + sum(k) z[k]
     }", [N 1..9, M 1..5, K 0..4], [I32], [(-9, 9)], true;
    "tdl @shared_sum(x: [N, M], b: [N]) -> (plain: [N], biased: [N], twice: [N]) {
       let s[i] = sum(j) x[i, j]
       plain[i] = s[i]
       biased[i] = s[N - 1 - i] + b[i]
       twice[i] = s[i] - b[i] + s[i]
     }", [N 1..5, M 1..9], [I32], [(-9, 9)], false;
    "tdl @moments(x: [B, C], old: [C]) -> (out: [B, C], sums: [C]) {
       out[b, c] = x[b, c] * 2
       sums[c] = old[c] * 9 + sum(b) x[b, c]
     }", [B 1..9, C 1..4], [I32], [(-9, 9)], true;
    "tdl @centred(x: [N, M], y: [N, M]) -> (out: [N, M], sums: [N], others: [N]) where 1 <= M {
       let s[i] = sum(j) x[i, j]
       out[i, j] = x[i, j] - s[i]
       sums[i] = s[i] + y[i, 0]
       others[i] = (sum(j) y[i, j]) + s[i]
     }", [N 1..4, M 1..6], [I32], [(-9, 9)], false;
    "tdl @masked_sum(x: [N, M], b: [N]) -> [N] {
       out[i] = (if b[i] > 0 then sum(j) x[i, j] else 0) + b[i]
     }", [N 1..5, M 1..9], [I32], [(-9, 9)], false;
    "tdl @product_scaled(x: [N], by: []) -> [] { out[] = (prod(i) x[i]) * by[] }", [N 0..6], [I32], [(-3, 3)], true;
    "tdl @min_from(x: f32[N], init: f32[2]) -> f32[] { out[] = min(min(i) x[i], init[1]) }",
        [N 0..9], [F32], [(-9, 9)], true;
    "tdl @product_from(x: [N], init: []) -> [] { out[] = init[] * prod(i) x[i] }", [N 1..6], [I32], [(-3, 3)], true;
    "tdl @max_from(x: [N, M], init: []) -> [M] { out[j] = max(init[], max(i) x[i, j]) }",
        [N 0..9, M 1..4], [I32], [(-9, 9)], true;
    "tdl @or_from(x: i1[N], init: i1[]) -> i1[] { out[] = init[] or (or(i) x[i]) }", [N 1..9], [I1], [(0, 1)], true;
    "tdl @and_from(x: [N], init: []) -> [] { out[] = init[] and (and(i) x[i]) }", [N 1..9], [Ui8], [(0, 255)], true;
    "tdl @sort(x: i32[B, N], y: i32[B, N]) -> (a: i32[B, N], b: i32[B, N]) {
       compare less(p: i32, i: i32; q: i32, j: i32) = p < q or p == q and i > j
       a[b, i] = opaque \"sort\" by less (x[b, :], y[b, :])[i]
       b[b, i] = opaque \"sort\" by less (x[b, :], y[b, :]).1[i]
     }", [B 1..7, N 1..6], [I32], [(-3, 3)], false;
    "tdl @sort_columns(x: f32[N, M]) -> f32[N, M] {
       compare less(a: f32; b: f32) = order_key(a) > order_key(b)
       let scaled[i, j] = x[i, j] * 2
       out[i, j] = opaque \"sort\" by less (scaled[:, j])[i]
     }", [N 1..6, M 1..9], [F32], [(-9, 9)], false;
    "tdl @top_k(x: [B, N]) -> (values: [B, 2], at: i32[B, 2]) where 2 <= N {
       values[b, i] = opaque \"top_k\"{2}(x[b, :])[i]
       at[b, i] = opaque \"top_k\"{2}(x[b, :]).1[i]
     }", [B 1..9, N 2..6], [I32], [(-3, 3)], false;
    "tdl @solve(a: [B, N, N], b: [B, N, M]) -> [B, N, M] {
       out[i, j, k] = opaque \"triangular_solve\"{1, 0, 0}(a[i, :, :], b[i, :, k])[j]
     }", [B 1..4, N 1..3, M 1..5], [F64], [(1, 9)], false;
    "tdl @fft(x: [A, B, C]) -> [A, B, C] { out[i, j, k] = opaque \"fft\"(x[i, :, :])[j, k] }",
        [A 1..5, B 1..3, C 1..4], [Complex64], [(-9, 9)], false;
    "tdl @rfft(x: f32[A, 6, C]) -> complex<f32>[A, 4, C] { out[i, j, k] = opaque \"rfft\"(x[i, :, k])[j] }",
        [A 1..5, C 1..5], [F32], [(-9, 9)], false;
    "tdl @random(s: ui64[B, 2]) -> ui32[B, 3] { out[b, i] = opaque \"philox32\"{3}(s[b, :])[i] }",
        [B 1..9], [Ui64], [(0, 99)], false;
    "tdl @dot_wide(a: bf16[M, K], b: bf16[K, N]) -> f32[M, N] {
       out[m, n] = sum(k) convert<f32>(a[m, k]) * convert<f32>(b[k, n])
     }", [M 1..4, K 1..9, N 1..4], [BF16], [(-9, 9)], true;
    "tdl @dot_rounded(a: bf16[M, K], b: bf16[K, N]) -> bf16[M, N] {
       out[m, n] = convert<bf16>(sum(k) convert<f32>(a[m, k]) * convert<f32>(b[k, n]))
     }", [M 1..4, K 1..9, N 1..4], [BF16], [(-9, 9)], true;
    "tdl @max_rounded(x: f32[N]) -> f16[] { out[] = convert<f16>(max(i) x[i] / 3) }", [N 1..9], [F32], [(-9, 9)], true;
}

//! Strategies written down by hand.

use tofu_ir::ElementType::F32;
use tofu_tdl::strategies;

use crate::support::*;

fn check(text: &str, expected: &[&str]) {
    let description = read(text);
    let found: Vec<String> = strategies(&description).iter().map(|s| s.text(&description)).collect();
    assert_eq!(found, expected, "{description}");
}

#[test]
fn conv1d_splits_as_in_the_paper() {
    check(
        CONV1D,
        &[
            "b: data [split, whole, whole], filter [whole, whole, whole] -> concat 0",
            "co: data [whole, whole, whole], filter [whole, split, whole] -> concat 1",
            "x: data [whole, whole, halo(0, DX - 1)], filter [whole, whole, whole] -> concat 2",
            "ci: data [whole, split, whole], filter [split, whole, whole] -> sum",
            "dx: data [whole, whole, halo(0, X - 1)], filter [whole, whole, split] -> sum",
        ],
    );
}

#[test]
fn conv1d_regions_are_those_of_the_table() {
    let description = read(CONV1D);
    // B, CI, X, DX, CO
    let extents = [4, 6, 8, 2, 10];
    // For each worker, and each dimension, the start and the size.
    type Boxes = [[[u64; 2]; 3]; 2];
    let table: [(&str, Boxes, Boxes); 5] = [
        ("b", [[[0, 2], [0, 6], [0, 9]], [[2, 2], [0, 6], [0, 9]]], [[[0, 6], [0, 10], [0, 2]]; 2]),
        ("co", [[[0, 4], [0, 6], [0, 9]]; 2], [[[0, 6], [0, 5], [0, 2]], [[0, 6], [5, 5], [0, 2]]]),
        ("x", [[[0, 4], [0, 6], [0, 5]], [[0, 4], [0, 6], [4, 5]]], [[[0, 6], [0, 10], [0, 2]]; 2]),
        (
            "ci",
            [[[0, 4], [0, 3], [0, 9]], [[0, 4], [3, 3], [0, 9]]],
            [[[0, 3], [0, 10], [0, 2]], [[3, 3], [0, 10], [0, 2]]],
        ),
        (
            "dx",
            [[[0, 4], [0, 6], [0, 8]], [[0, 4], [0, 6], [1, 8]]],
            [[[0, 6], [0, 10], [0, 1]], [[0, 6], [0, 10], [1, 1]]],
        ),
    ];
    for (strategy, (name, data, filter)) in strategies(&description).iter().zip(table) {
        assert_eq!(&*strategy.variable, name);
        for worker in 0..2 {
            let regions = strategy.regions(&description, &extents, 2, worker);
            let boxes = |number: usize| -> Vec<[u64; 2]> {
                regions[number].dims.iter().map(|dim| [dim.start, dim.size]).collect()
            };
            assert_eq!(boxes(0), data[worker as usize], "{name}, data, worker {worker}");
            assert_eq!(boxes(1), filter[worker as usize], "{name}, filter, worker {worker}");
        }
    }
}

#[test]
fn what_is_hidden_is_not_split() {
    check(CHOLESKY, &["b: a [split, whole, whole] -> concat 0"]);
}

#[test]
fn softmax_splits_rows_or_reads_them_whole() {
    check(SOFTMAX, &["b: x [split, whole] -> concat 0", "n: x [whole, whole] -> concat 1"]);
}

#[test]
fn embedding_splits_the_vocabulary() {
    check(
        EMBEDDING,
        &[
            "b: table [whole, whole], ids [split] -> concat 0",
            "d: table [whole, split], ids [whole] -> concat 1",
            "v: table [masked, whole], ids [whole] -> sum",
        ],
    );
}

#[test]
fn reshapes_split_by_blocks() {
    check(
        "tdl @merge(x: [A, B]) -> [A * B] { out[i] = x[i floordiv B, i mod B] }",
        &["i by B: x [split, whole] -> concat 0"],
    );
    check(
        "tdl @unmerge(x: [A * B], y: [B]) -> [A, B] { out[a, b] = x[a * B + b] * y[b] }",
        &["a: x [blocks(B)], y [whole] -> concat 0", "b: x [halo(0, A * B - B)], y [split] -> concat 1"],
    );
}

#[test]
fn images_split_with_halos() {
    // Each worker's rows are twice its share of the output's rows, and one more: the window is 3 rows high.
    check(
        "tdl @conv2d_strided(x: [B, 2 * Y + 1, 3 * X - 1, C], f: [3, 2, C, O]) -> [B, Y, X, O] {
           out[b, y, i, o] = sum(dy, dx, c) x[b, 2 * y + dy, 3 * i + dx, c] * f[dy, dx, c, o]
         }",
        &[
            "b: x [split, whole, whole, whole], f [whole, whole, whole, whole] -> concat 0",
            "y: x [whole, halo(0, 1, scale 2), whole, whole], f [whole, whole, whole, whole] -> concat 1",
            "i: x [whole, whole, halo(0, -1, scale 3), whole], f [whole, whole, whole, whole] -> concat 2",
            "o: x [whole, whole, whole, whole], f [whole, whole, whole, split] -> concat 3",
            "dy: x [whole, halo(0, 2 * Y - 2), whole, whole], f [split, whole, whole, whole] -> sum",
            "dx: x [whole, whole, halo(0, 3 * X - 3), whole], f [whole, split, whole, whole] -> sum",
            "c: x [whole, whole, whole, split], f [whole, whole, split, whole] -> sum",
        ],
    );
    check(
        "tdl @dilated(x: [X + 2 * K - 2], f: [K]) -> [X] { out[i] = sum(k) x[i + 2 * k] * f[k] }",
        &[
            "i: x [halo(0, 2 * K - 2)], f [whole] -> concat 0",
            "k: x [halo(0, X - 2, scale 2)], f [split] -> sum",
        ],
    );
    check(
        "tdl @same(x: [N, C], f: [3, C, O]) -> [N, O] {
           out[i, o] = sum(k, c) if i + k >= 1 and i + k <= N then x[i + k - 1, c] * f[k, c, o] else 0
         }",
        &[
            "i: x [halo(1, 1), whole], f [whole, whole, whole] -> concat 0",
            "o: x [whole, whole], f [whole, whole, split] -> concat 1",
            "k: x [halo(1, N - 2), whole], f [split, whole, whole] -> sum",
            "c: x [whole, split], f [whole, split, whole] -> sum",
        ],
    );
}

#[test]
fn extents_that_follow_from_others_split_as_well() {
    // How far the rows reach is known by `H` only through a quotient; the other variables need not care.
    check(
        "tdl @strided(x: [H, C], f: [3, C]) -> [Y] where Y = (H - 3) floordiv 2 + 1, 3 <= H {
           out[y] = sum(k, c) x[2 * y + k, c] * f[k, c]
         }",
        &[
            "y: x [halo(0, 1, scale 2), whole], f [whole, whole] -> concat 0",
            "k: x [irregular, whole], f [split, whole] -> sum",
            "c: x [whole, split], f [whole, split] -> sum",
        ],
    );
}

#[test]
fn groups_split_by_blocks() {
    check(
        "tdl @grouped(x: [G * CI, X + K - 1], f: [K, CI, G * CO]) -> [G * CO, X] {
           out[o, i] = sum(k, c) x[o floordiv CO * CI + c, i + k] * f[k, c, o]
         }",
        &[
            "o by CO: x [blocks(CI), whole], f [whole, whole, blocks(CO)] -> concat 0",
            "i: x [whole, halo(0, K - 1)], f [whole, whole, whole] -> concat 1",
            "k: x [whole, halo(0, X - 1)], f [split, whole, whole] -> sum",
            "c: x [halo(0, G * CI - CI), whole], f [whole, split, whole] -> sum",
        ],
    );
}

#[test]
fn pooling_and_its_gradient() {
    check(
        "tdl @max_pool(x: [2 * N + 1]) -> [N] { out[i] = max(k: 3) x[2 * i + k] }",
        &["i: x [halo(0, 1, scale 2)] -> concat 0", "k: x [halo(0, 2 * N - 2)] -> max"],
    );
    check(
        "tdl @max_pool_gradient(x: [2 * N], d: [N]) -> [2 * N] {
           let top[i: N] = max(k: 2) x[2 * i + k]
           out[j] = if x[j] == top[j floordiv 2] then d[j floordiv 2] else 0
         }",
        &["j by 2: x [blocks(2)], d [split] -> concat 0"],
    );
}

#[test]
fn pieces_of_results_come_from_pieces_of_operands() {
    // Exact boxes tell more than layouts here: a worker reads only those operands that lie in its share.
    let description =
        read("tdl @concatenate(a: [N], b: [M]) -> [N + M] { out[i] = if i < N then a[i] else b[i - N] }");
    let all = strategies(&description);
    assert_eq!(all.len(), 1);
    let boxes = |worker: u64| -> Vec<[u64; 2]> {
        let regions = all[0].regions(&description, &[3, 5], 4, worker);
        regions.iter().map(|region| [region.dims[0].start, region.dims[0].size]).collect()
    };
    assert_eq!(
        [boxes(0), boxes(1), boxes(2), boxes(3)],
        [[[0, 2], [0, 0]], [[2, 1], [0, 1]], [[0, 0], [1, 2]], [[0, 0], [3, 2]]],
    );
    let description = read(
        "tdl @pad(x: [N], v: []) -> [N + 5] { out[i] = if i >= 2 and i < N + 2 then x[i - 2] else v[] }",
    );
    let all = strategies(&description);
    assert_eq!(all[0].text(&description), "i: x [halo(2, -2)], v [] -> concat 0");
    let sizes: Vec<[u64; 2]> = (0..3)
        .map(|worker| all[0].regions(&description, &[4], 3, worker)[0].dims[0])
        .map(|dim| [dim.start, dim.size])
        .collect();
    assert_eq!(sizes, [[0, 1], [1, 3], [0, 0]]);
}

#[test]
fn shares_are_ceilings_and_may_be_empty() {
    let description = read("tdl @add(x: [N], y: [N]) -> [N] { out[i] = x[i] + y[i] }");
    let strategy = &strategies(&description)[0];
    let shares = |extent: u64, workers: u64| -> Vec<(u64, u64)> {
        (0..workers).map(|worker| strategy.share(&description, &[extent], workers, worker)).collect()
    };
    assert_eq!(shares(10, 4), [(0, 3), (3, 3), (6, 3), (9, 1)]);
    assert_eq!(shares(5, 4), [(0, 2), (2, 2), (4, 1), (5, 0)]);
    assert_eq!(shares(0, 2), [(0, 0), (0, 0)]);
    assert_eq!(strategy.padded_share(&description, &[10], 4), 3);
    assert!(strategy.is_even(&description, &[8], 4) && !strategy.is_even(&description, &[10], 4));
    let merge = read("tdl @merge(x: [A, B]) -> [A * B] { out[i] = x[i floordiv B, i mod B] }");
    let strategy = &strategies(&merge)[0];
    assert_eq!(strategy.share(&merge, &[5, 3], 2, 0), (0, 9));
    assert_eq!(strategy.share(&merge, &[5, 3], 2, 1), (9, 6));
}

#[test]
fn reductions_inside_are_not_split() {
    check(
        "tdl @sum_of_max(x: [N, M]) -> [] { out[] = sum(i) max(j) x[i, j] }",
        &["i: x [split, whole] -> sum"],
    );
    check("tdl @norm(x: f32[N]) -> f32[] { out[] = sqrt(sum(i) x[i] * x[i]) }", &[]);
    check(
        "tdl @scaled(x: f32[N], y: f32[], b: f32[]) -> (p: f32[], q: f32[]) {
           p[] = -(sum(i) x[i]) * y[] / 2
           q[] = (sum(i) x[i]) + b[]
         }",
        &["i: x [split], y [], b [] first -> sum, sum"],
    );
    check(
        "tdl @scaled(x: f32[N], y: f32[]) -> f32[] { out[] = -(sum(i) x[i]) * y[] / 2 }",
        &["i: x [split], y [] -> sum"],
    );
    // Dividing integers does not distribute.
    check("tdl @mean(x: i32[N]) -> i32[] { out[] = (sum(i) x[i]) / 2 }", &[]);
    check(
        "tdl @clipped(x: [N], lower: []) -> [] { out[] = max(max(i) x[i], lower[]) }",
        &["i: x [split], lower [] first -> max"],
    );
    // What is whole must not use what is split: as a factor, as an addend, in a condition, in an index.
    let total = |last: &str| {
        format!(
            "tdl @a(x: f32[N], y: f32[N]) -> f32[] {{ let s[] = sum(i) x[i] let t[] = s[] > 0 out[] = {last} }}"
        )
    };
    for last in [
        "(sum(i) x[i]) * exp(sum(i) x[i])",
        "(sum(i) x[i]) * exp(s[])",
        "(sum(i) x[i]) + exp(s[])",
        "if s[] > 0 then s[] else 0",
        "if t[] then s[] else 0",
        "(sum(i) x[i] * s[]) * (sum(i) x[i])",
        "s[] * y[max(min(convert<index>(convert<i32>(s[])), N - 1), 0)]",
    ] {
        check(&total(last), &[]);
    }
}

#[test]
fn intermediate_sums_are_split_where_nothing_else_needs_them() {
    let text =
        |last: &str| format!("tdl @a(x: [N, M]) -> [N] {{ let s[i] = sum(j) x[i, j] out[i] = {last} }}");
    check(&text("s[i] * 2"), &["i: x [split, whole] -> concat 0", "j: x [whole, split] -> sum"]);
    check(&text("s[i] * s[i]"), &["i: x [split, whole] -> concat 0"]);
    // Two shares at opposite ends have no common interval but the whole.
    check(&text("s[i] + s[N - 1 - i]"), &["i: x [whole, whole] -> concat 0", "j: x [whole, split] -> sum"]);
    let exponential = text("s[i] + exp(s[N - 1 - i])").replace(" [N", " f32[N");
    check(&exponential, &["i: x [whole, whole] -> concat 0"]);
    // Where a result needs the sums whole, each worker makes them.
    check(
        "tdl @centred(x: [N, M], y: [N, M]) -> (out: [N, M], sums: [N], others: [N]) {
           let s[i] = sum(j) x[i, j]
           out[i, j] = x[i, j] - s[i]
           sums[i] = s[i]
           others[i] = sum(j) y[i, j]
         }",
        &[
            "i: x [split, whole], y [split, whole] -> concat 0, concat 0, concat 0",
            "j: x [whole, whole], y [whole, split] -> concat 1, replicated, sum",
        ],
    );
}

#[test]
fn values_carried_together_are_split_together() {
    let text = |results: &str, bodies: &str| {
        format!(
            "tdl @argmax(x: [N]) -> ({results}) {{
               combine best(a, i: i32; b, j: i32) from (lowest, 0) =
                 (if a >= b then a else b, if a >= b then i else j)
               {bodies}
             }}"
        )
    };
    let value = "value[] = best(n)(x[n], convert<i32>(n)).0";
    let index = "index[] = best(n)(x[n], convert<i32>(n)).1";
    check(&text("value: [], index: i32[]", &format!("{value} {index}")), &["n: x [split] -> best 0, best 1"]);
    check(&text("index: i32[]", index), &["n: x [split] -> best 1, carrying best 0"]);
    let twice = format!("{index} {}", index.replace("index", "again"));
    check(&text("index: i32[], again: i32[]", &twice), &["n: x [split] -> best 1, best 1, carrying best 0"]);
    // Of two reductions, or at other indices, they do not belong together.
    let other = value.replace("x[n]", "2 * x[n]");
    check(&text("value: [], index: i32[]", &format!("{other} {index}")), &[]);
    check(
        "tdl @argmax(x: [N, N, M]) -> (value: [N, N], index: i32[N, N]) {
           combine best(a, i: i32; b, j: i32) from (lowest, 0) =
             (if a >= b then a else b, if a >= b then i else j)
           value[i, j] = best(m)(x[i, j, m], convert<i32>(m)).0
           index[j, i] = best(m)(x[i, j, m], convert<i32>(m)).1
         }",
        &[
            "i: x [split, whole, whole] -> concat 0, concat 1",
            "j: x [whole, split, whole] -> concat 1, concat 0",
        ],
    );
}

#[test]
fn gathers_split_what_they_gather_from() {
    check(
        "tdl @gather(x: [N, M, D], at: i64[K, 2]) -> [K, D] {
           out[k, d] = sum(n, m) if at[k, 0] == n and at[k, 1] == m then x[n, m, d] else 0
         }",
        &[
            "k: x [whole, whole, whole], at [split, whole] -> concat 0",
            "d: x [whole, whole, split], at [whole, whole] -> concat 1",
            "n: x [masked, whole, whole], at [whole, whole] -> sum",
            "m: x [whole, masked, whole], at [whole, whole] -> sum",
        ],
    );
}

#[test]
fn wider_accumulation_keeps_the_strategies() {
    let product = "convert<f32>(a[m, k]) * convert<f32>(b[k])";
    let expected = ["m: a [split, whole], b [whole] -> concat 0", "k: a [whole, split], b [split] -> sum"];
    let wide = format!("tdl @dot(a: bf16[M, K], b: bf16[K]) -> f32[M] {{ out[m] = sum(k) {product} }}");
    check(&wide, &expected);
    let rounded = format!(
        "tdl @dot(a: bf16[M, K], b: bf16[K]) -> bf16[M] {{ out[m] = convert<bf16>(sum(k) {product}) }}"
    );
    check(&rounded, &expected);
    let generic =
        rounded.replace("@dot(a: bf16[M, K], b: bf16[K]) -> bf16", "@dot<T: float>(a: [M, K], b: [K]) -> ");
    check(&generic.replace("convert<bf16>", "convert<T>"), &expected);
    let found = tofu_tdl::accesses(&read(&wide));
    assert!(found.operands.iter().all(|access| access.is_linear));
    // Integers wrap at other places when they are wider.
    check("tdl @total(x: i8[N]) -> i32[] { out[] = convert<i32>(sum(i) x[i]) }", &[]);
}

#[test]
fn what_is_added_to_a_reduction_counts_once() {
    let rows = "i: x [split, whole], init [] -> concat 0";
    let columns = |name: &str| format!("j: x [whole, split], init [] first -> {name}");
    for (element, body, name) in [
        ("", "init[] + sum(j) x[i, j]", "sum"),
        ("", "init[] - (sum(j) x[i, j])", "sum"),
        ("", "init[] * prod(j) x[i, j]", "prod"),
        ("", "max(init[], max(j) x[i, j])", "max"),
        ("", "min(min(j) x[i, j], init[])", "min"),
        ("i8", "init[] and (and(j) x[i, j])", "and"),
        ("i1", "init[] or (or(j) x[i, j])", "or"),
    ] {
        let text =
            format!("tdl @from(x: {element}[N, M], init: {element}[]) -> {element}[N] {{ out[i] = {body} }}");
        check(&text, &[rows, &columns(name)]);
    }
    // Multiplication and rounding distribute over all of the sum; lets are summed as results are.
    check(
        "tdl @gemm(a: f32[M, K], b: f32[K, N], c: f32[M, N], alpha: f32[], beta: f32[]) -> f16[M, N] {
           let product[m, n] = alpha[] * (sum(k) a[m, k] * b[k, n])
           out[m, n] = convert<f16>((product[m, n] + beta[] * c[m, n]) / 2)
         }",
        &[
            "m: a [split, whole], b [whole, whole], c [split, whole], alpha [], beta [] -> concat 0",
            "n: a [whole, whole], b [whole, split], c [whole, split], alpha [], beta [] -> concat 1",
            "k: a [whole, split], b [split, whole], c [whole, whole] first, alpha [], beta [] first -> sum",
        ],
    );
    // What is read elsewhere as well, all workers read.
    check(
        "tdl @twice(x: [N], b: [2]) -> [2] { let c[k] = b[k] + 1 out[k] = c[k] + sum(i) x[i] * b[0] }",
        &["k: x [whole], b [irregular] -> concat 0", "i: x [split], b [whole] -> sum"],
    );
    check(
        "tdl @once(x: [N], b: [2]) -> [2] { let c[k] = b[k] + 1 out[k] = c[k] + sum(i) x[i] }",
        &["k: x [whole], b [split] -> concat 0", "i: x [split], b [whole] first -> sum"],
    );
    // Of two sums, each is added once to the shares of the other one.
    check(
        "tdl @both(x: [N], y: [M]) -> [] { out[] = (sum(i) x[i]) + sum(j) y[j] }",
        &["i: x [split], y [whole] first -> sum", "j: x [whole] first, y [split] -> sum"],
    );
}

#[test]
fn one_value_is_not_split() {
    check("tdl @flat(x: [N]) -> [N, 1] { out[i, one] = sum(k: 1) x[i + k] }", &["i: x [split] -> concat 0"]);
}

#[test]
fn opaque_functions_split_by_their_batches() {
    check(
        "tdl @top_k(x: [B, N]) -> (values: [B, 2], at: i32[B, 2]) where 2 <= N {
           values[b, i] = opaque \"top_k\"{2}(x[b, :])[i]
           at[b, i] = opaque \"top_k\"{2}(x[b, :]).1[i]
         }",
        &["b: x [split, whole] -> concat 0, concat 0"],
    );
    check(
        "tdl @solve(a: [B, N, N], b: [B, N, M]) -> [B, N, M] {
           out[i, j, k] = opaque \"triangular_solve\"{1, 0, 0}(a[i, :, :], b[i, :, k])[j]
         }",
        &[
            "i: a [split, whole, whole], b [split, whole, whole] -> concat 0",
            "k: a [whole, whole, whole], b [whole, whole, split] -> concat 2",
        ],
    );
    check(
        "tdl @fft(x: [A, B, C]) -> [A, B, C] { out[i, j, k] = opaque \"fft\"(x[i, :, :])[j, k] }",
        &["i: x [split, whole, whole] -> concat 0"],
    );
}

#[test]
fn workers_are_told_what_they_read() {
    let lines = |text: &str, number: usize, extents: &[u64], workers: u64| {
        let description = read(text);
        strategies(&description)[number].workers_text(&description, extents, &[F32], workers)
    };
    // B, CI, X, DX, CO
    assert_eq!(
        lines(CONV1D, 2, &[4, 6, 8, 2, 10], 2),
        [
            "worker 0: data [0..4, 0..6, 0..5], filter [0..6, 0..10, 0..2]; reads 960 bytes, writes 640 bytes",
            "worker 1: data [0..4, 0..6, 4..9], filter [0..6, 0..10, 0..2]; reads 960 bytes, writes 640 bytes"
        ]
    );
    let pairs = "tdl @pairs(x: [2 * N], y: [N]) -> [N] { out[i] = x[2 * i] }";
    assert_eq!(
        lines(pairs, 0, &[5], 4),
        [
            "worker 0: x [0..3 step 2], nothing of y; reads 8 bytes, writes 8 bytes",
            "worker 1: x [4..7 step 2], nothing of y; reads 8 bytes, writes 8 bytes",
            "worker 2: x [8..9], nothing of y; reads 4 bytes, writes 4 bytes",
            "worker 3: nothing"
        ]
    );
    let biased = "tdl @rows(x: [N], w: [N, M], b: [M]) -> [M] { out[j] = (sum(i) x[i] * w[i, j]) + b[j] }";
    assert_eq!(
        lines(biased, 1, &[4, 3], 2),
        [
            "worker 0: x [0..2], w [0..2, 0..3], b [0..3]; reads 44 bytes, writes 12 bytes",
            "worker 1: x [2..4], w [2..4, 0..3], nothing of b; reads 32 bytes, writes 12 bytes"
        ]
    );
}

//! Strategies written down by hand.

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
    let table: [(&str, [[[u64; 2]; 3]; 2], [[[u64; 2]; 3]; 2]); 5] = [
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
        &[
            "a: x [blocks(B)], y [whole] -> concat 0",
            "b: x [halo(0, A * B - B)], y [split] -> concat 1",
        ],
    );
}

//! Strategies written down by hand.

use tofu_tdl::{describe, strategies};

use crate::support::*;

/// The strategies of the last op of a kind in a function that takes these arguments.
#[track_caller]
fn check(op: &str, arguments: &str, lines: &str, expected: &[&str]) {
    let program = format!("func @f({arguments}) {{\n{lines}\nreturn\n}}");
    let module = read(&program).unwrap_or_else(|found| panic!("{}", found.join("\n")));
    let op = *ops_of(&module, op).last().unwrap();
    let description = describe(&module, op).unwrap();
    let found: Vec<String> = strategies(&description).iter().map(|s| s.text(&description)).collect();
    assert_eq!(found, expected, "{description}");
}

/// A region of this name that combines two numbers.
fn pairs(name: &str, op: &str) -> String {
    format!(
        "{{ ^{name}(%a: tensor<f32>, %b: tensor<f32>):
           %c = {op}
           tensor.yield %c
         }}"
    )
}

fn sum() -> String {
    pairs("sum", "tensor.add %a, %b")
}

#[test]
fn products_split_batches_sides_and_sums() {
    check(
        "tensor.dot_general",
        "%x: tensor<8x4x16xbf16>, %y: tensor<8x16x32xbf16>",
        "%r = tensor.dot_general %x, %y {batch = [0] x [0], contracting = [2] x [1]}",
        &[
            "b0: left [split, whole, whole], right [split, whole, whole] -> concat 0",
            "m0: left [whole, split, whole], right [whole, whole, whole] -> concat 1",
            "n0: left [whole, whole, whole], right [whole, whole, split] -> concat 2",
            "k0: left [whole, whole, split], right [whole, split, whole] -> sum",
        ],
    );
}

/// A window of 3 in steps of 2 with one place of padding before: of a share [s, s + l) the rows from 2s - 1 to 2(s + l).
/// A window of 2 in steps of 3: of the columns one in three is never read, and the last one read is 3(s + l) - 2.
#[test]
fn strided_convolutions_read_halos() {
    check(
        "tensor.convolution",
        "%x: tensor<8x32x30x16xf32>, %w: tensor<3x2x16x4xf32>",
        "%r = tensor.convolution %x, %w {dimensions = \"b01f_01io->b01f\", padding = [1, 0] x [1, 0],
           window_strides = [2, 3]}",
        &[
            "b: lhs [split, whole, whole, whole], rhs [whole, whole, whole, whole] -> concat 0",
            "x0: lhs [whole, halo(1, 0, scale 2), whole, whole], rhs [whole, whole, whole, whole] -> concat 1",
            "x1: lhs [whole, whole, halo(0, -1, scale 3), whole], rhs [whole, whole, whole, whole] -> concat 2",
            "o: lhs [whole, whole, whole, whole], rhs [whole, whole, whole, split] -> concat 3",
            "k0: lhs [whole, irregular, whole, whole], rhs [split, whole, whole, whole] -> sum",
            "k1: lhs [whole, whole, irregular, whole], rhs [whole, split, whole, whole] -> sum",
            "i: lhs [whole, whole, whole, split], rhs [whole, whole, split, whole] -> sum",
        ],
    );
}

/// Rows with a gap between them, so that two rows of the result need one of the operand and its neighbours; columns two
/// apart under the kernel, which reaches two further.
#[test]
fn dilated_convolutions_read_halos() {
    check(
        "tensor.convolution",
        "%x: tensor<8x32x30x16xf32>, %w: tensor<3x2x16x4xf32>",
        "%r = tensor.convolution %x, %w {dimensions = \"b01f_01io->b01f\", lhs_dilation = [2, 1],
           padding = [1, 0] x [1, 0], rhs_dilation = [1, 2]}",
        &[
            "b: lhs [split, whole, whole, whole], rhs [whole, whole, whole, whole] -> concat 0",
            "x0 by 2: lhs [whole, halo(1, 1), whole, whole], rhs [whole, whole, whole, whole] -> concat 1",
            "x1: lhs [whole, whole, halo(0, 2), whole], rhs [whole, whole, whole, whole] -> concat 2",
            "o: lhs [whole, whole, whole, whole], rhs [whole, whole, whole, split] -> concat 3",
            "k0 by 2: lhs [whole, halo(1, X0 - 1), whole, whole], rhs [blocks(2), whole, whole, whole] -> sum",
            "k1: lhs [whole, whole, halo(0, X1 - 4, scale 2), whole], rhs [whole, split, whole, whole] -> sum",
            "i: lhs [whole, whole, whole, split], rhs [whole, whole, split, whole] -> sum",
        ],
    );
}

#[test]
fn grouped_convolutions_split_by_groups() {
    check(
        "tensor.convolution",
        "%x: tensor<8x32x12xf32>, %w: tensor<3x4x9xf32>",
        "%r = tensor.convolution %x, %w {dimensions = \"b0f_0io->b0f\", feature_group_count = 3, padding = [1] x [1]}",
        &[
            "b: lhs [split, whole, whole], rhs [whole, whole, whole] -> concat 0",
            "x0: lhs [whole, halo(1, 1), whole], rhs [whole, whole, whole] -> concat 1",
            "o by O: lhs [whole, whole, blocks(I)], rhs [whole, whole, blocks(O)] -> concat 2",
            "k0: lhs [whole, halo(1, X0 - 2), whole], rhs [split, whole, whole] -> sum",
            "i: lhs [whole, whole, halo(0, 2 * I)], rhs [whole, split, whole] -> sum",
        ],
    );
}

/// Of a share [s, s + l) the windows reach from 2s to 2(s + l), both included.
#[test]
fn pooling_reads_halos() {
    check(
        "tensor.reduce_window",
        "%x: tensor<8x33x16xf32>",
        &format!(
            "%low = tensor.constant dense<0xFF800000> : tensor<f32>
             %r = tensor.reduce_window %x, %low {{window_dimensions = [1, 3, 1], window_strides = [1, 2, 1]}} ({})",
            pairs("max", "tensor.maximum %a, %b")
        ),
        &[
            "i0: inputs0 [split, whole, whole], inits0 [] -> concat 0",
            "i1: inputs0 [whole, halo(0, 1, scale 2), whole], inits0 [] -> concat 1",
            "i2: inputs0 [whole, whole, split], inits0 [] -> concat 2",
            "k1: inputs0 [whole, irregular, whole], inits0 [] -> max",
        ],
    );
}

fn pooling_gradient(size: u64, expected: &[&str]) {
    check(
        "tensor.select_and_scatter",
        &format!("%x: tensor<8x{}x16xf32>, %g: tensor<8x16x16xf32>", 30 + size),
        &format!(
            "%zero = tensor.constant dense<0.0> : tensor<f32>
             %r = tensor.select_and_scatter %x, %g, %zero {{window_dimensions = [1, {size}, 1],
               window_strides = [1, 2, 1]}} ({}, {})",
            pairs("select", "tensor.compare %a, %b {direction = \"GE\"}"),
            sum()
        ),
        expected,
    );
}

/// Windows that do not overlap: each worker has those of its elements.
#[test]
fn pooling_gradients_split_by_windows() {
    pooling_gradient(
        2,
        &[
            "i0: operand [split, whole, whole], source0 [split, whole, whole], init_value0 [] -> concat 0",
            "i1 by 2: operand [whole, blocks(2), whole], source0 [whole, halo(0, 0), whole], init_value0 [] -> concat 1",
            "i2: operand [whole, whole, split], source0 [whole, whole, split], init_value0 [] -> concat 2",
        ],
    );
}

/// Elements 2s to 2(s + l) - 1 lie in the windows s - 1 to s + l - 1, which reach from 2s - 2 to 2(s + l).
#[test]
fn gradients_of_overlapping_windows_read_halos() {
    pooling_gradient(
        3,
        &[
            "i0: operand [split, whole, whole], source0 [split, whole, whole], init_value0 [] -> concat 0",
            "i1 by 2: operand [whole, halo(2, 1, scale 2), whole], source0 [whole, halo(1, 0), whole], init_value0 [] \
             -> concat 1",
            "i2: operand [whole, whole, split], source0 [whole, whole, split], init_value0 [] -> concat 2",
            "k1 by 2: operand [whole, whole, whole], source0 [whole, irregular, whole], init_value0 [] -> sum",
        ],
    );
}

#[test]
fn reshapes_split_by_blocks() {
    check(
        "tensor.reshape",
        "%x: tensor<4x6x5xf32>",
        "%r = tensor.reshape %x : tensor<120xf32>",
        &["i0 by 30: x [split, whole, whole] -> concat 0"],
    );
    check(
        "tensor.reshape",
        "%x: tensor<120xf32>",
        "%r = tensor.reshape %x : tensor<4x30xf32>",
        &["i0: x [blocks(30)] -> concat 0", "i1: x [halo(0, 30 * N0 - 30)] -> concat 1"],
    );
    // Two rows of 6 become one of 12; half of such a row is one of the others.
    check(
        "tensor.reshape",
        "%x: tensor<4x6x5xf32>",
        "%r = tensor.reshape %x : tensor<2x12x5xf32>",
        &[
            "i0: x [blocks(2), whole, whole] -> concat 0",
            "i1 by 6: x [halo(0, 2 * N0 - 2), whole, whole] -> concat 1",
            "i2: x [whole, whole, split] -> concat 2",
        ],
    );
}

#[test]
fn pieces_of_results_come_from_pieces_of_operands() {
    check(
        "tensor.concatenate",
        "%x: tensor<4x6xf32>, %y: tensor<5x6xf32>",
        "%r = tensor.concatenate %x, %y {dimension = 0}",
        &[
            "i0: inputs0 [halo(0, 0), whole], inputs1 [halo(4, -4), whole] -> concat 0",
            "i1: inputs0 [whole, split], inputs1 [whole, split] -> concat 1",
        ],
    );
    check(
        "tensor.pad",
        "%x: tensor<4x6xf32>, %v: tensor<f32>",
        "%r = tensor.pad %x, %v {edge_padding_high = [2, -1], edge_padding_low = [1, 0], interior_padding = [0, 1]}",
        &[
            "i0: x [halo(1, -1), whole], value [] -> concat 0",
            "i1 by 2: x [whole, halo(0, 0)], value [] -> concat 1",
        ],
    );
}

#[test]
fn embeddings_split_the_vocabulary() {
    check(
        "tensor.gather",
        "%x: tensor<100x16xf32>, %i: tensor<7x3xi32>",
        "%r = tensor.gather %x, %i {collapsed_slice_dims = [0], index_vector_dim = 2, offset_dims = [2],
           slice_sizes = [1, 16], start_index_map = [0]}",
        &[
            "s0: operand [whole, whole], start_indices [split, whole] -> concat 0",
            "s1: operand [whole, whole], start_indices [whole, split] -> concat 1",
            "o1: operand [whole, split], start_indices [whole, whole] -> concat 2",
            "v0: operand [masked, whole], start_indices [whole, whole] -> sum",
        ],
    );
}

/// What is there already counts once, for the worker that has the first updates.
#[test]
fn scatters_split_updates() {
    check(
        "tensor.scatter",
        "%x: tensor<100x16xf32>, %i: tensor<7x3xi32>, %u: tensor<7x3x16xf32>",
        &format!(
            "%r = tensor.scatter %x, %i, %u {{index_vector_dim = 2, inserted_window_dims = [0],
               scatter_dims_to_operand_dims = [0], update_window_dims = [2]}} ({})",
            sum()
        ),
        &[
            "i0: inputs0 [split, whole], scatter_indices [whole, whole], updates0 [whole, whole, whole] -> concat 0",
            "i1: inputs0 [whole, split], scatter_indices [whole, whole], updates0 [whole, whole, split] -> concat 1",
            "s0: inputs0 [whole, whole] first, scatter_indices [split, whole], updates0 [split, whole, whole] -> sum",
            "s1: inputs0 [whole, whole] first, scatter_indices [whole, split], updates0 [whole, split, whole] -> sum",
        ],
    );
}

#[test]
fn slices_at_places_that_data_says() {
    check(
        "tensor.dynamic_slice",
        "%x: tensor<100x16xf32>, %i: tensor<i32>",
        "%r = tensor.dynamic_slice %x, %i, %i {slice_sizes = [3, 16]}",
        &[
            "i0: x [whole, whole], starts0 [], starts1 [] -> concat 0",
            "i1: x [whole, split], starts0 [], starts1 [] -> concat 1",
            "v0: x [masked, whole], starts0 [], starts1 [] -> sum",
        ],
    );
    check(
        "tensor.dynamic_update_slice",
        "%x: tensor<100x16xf32>, %u: tensor<3x16xf32>, %i: tensor<i32>",
        "%r = tensor.dynamic_update_slice %x, %u, %i, %i",
        &[
            "i0: x [split, whole], update [whole, whole], starts0 [], starts1 [] -> concat 0",
            "i1: x [whole, split], update [whole, split], starts0 [], starts1 [] -> concat 1",
        ],
    );
}

#[test]
fn what_is_hidden_is_not_split() {
    for lower in ["true", "false"] {
        check(
            "tensor.cholesky",
            "%x: tensor<5x16x16xf32>",
            &format!("%r = tensor.cholesky %x {{lower = {lower}}}"),
            &["i0: a [split, whole, whole] -> concat 0"],
        );
    }
    check(
        "tensor.triangular_solve",
        "%a: tensor<4x6x6xf32>, %b: tensor<4x6x5xf32>",
        "%r = tensor.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = \"ADJOINT\",
           unit_diagonal = false}",
        &[
            "i0: a [split, whole, whole], b [split, whole, whole] -> concat 0",
            "i2: a [whole, whole, whole], b [whole, whole, split] -> concat 2",
        ],
    );
    check(
        "tensor.sort",
        "%x: tensor<4x6xf32>",
        &format!(
            "%r = tensor.sort %x {{dimension = 1}} ({})",
            pairs("less", "tensor.compare %a, %b {direction = \"LT\"}")
        ),
        &["i0: inputs0 [split, whole] -> concat 0"],
    );
}

/// Each worker needs the means of all elements of its features.
#[test]
fn normalization_splits_features_or_reads_everything() {
    check(
        "tensor.batch_norm_training",
        "%x: tensor<4x6x5xf32>, %s: tensor<5xf32>",
        "%r, %m, %v = tensor.batch_norm_training %x, %s, %s {epsilon = 0.001 : f32, feature_index = 2}",
        &[
            "i0: operand [whole, whole, whole], scale [whole], offset [whole] -> concat 0, replicated, replicated",
            "i1: operand [whole, whole, whole], scale [whole], offset [whole] -> concat 1, replicated, replicated",
            "i2: operand [whole, whole, split], scale [split], offset [split] -> concat 2, concat 0, concat 0",
        ],
    );
}

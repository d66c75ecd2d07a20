//! What the searches find where it can be counted by hand. Bytes are those that a device sends.

use tofu_sharding::{Layout, Layouts};

use super::Algorithm;
use crate::graph::Graph;
use crate::testing::{found, graph, is_named, program};

/// How the tensors of these names are kept, along the first axis.
fn kept(graph: &Graph<'_>, algorithm: Algorithm, names: &[&str]) -> (i128, Vec<Layout>) {
    let outcome = found(graph, algorithm, 2);
    let layouts = names.iter().map(|name| {
        let tensor = graph.tensors.iter().position(|tensor| is_named(graph, tensor, name));
        let stored = outcome.plan.stored[tensor.unwrap()];
        assert_eq!(stored.copy, None);
        stored.first.on(0)
    });
    (outcome.evaluation.cost, layouts.collect())
}

/// Two layers; x has 128 bytes, w 512, h and a 256, v 128 and y 32.
const LAYERS: &str =
    "func @f(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %v: tensor<16x2xf32>) -> tensor<4x2xf32> {
  %h = tensor.dot_general %x, %w {contracting = [1] x [0]}
  %a = tensor.tanh %h
  %y = tensor.dot_general %a, %v {contracting = [1] x [0]}
  return %y
}";

#[test]
fn two_layers_are_split_by_columns_and_then_by_rows() {
    let module = program(LAYERS);
    let graph = graph(&module, 0);
    // Each device gets the other half of x, 64 bytes, and reduces half of y, 16.
    let columns_then_rows = vec![Layout::Split(1), Layout::Split(1), Layout::Split(1), Layout::Split(0)];
    for algorithm in [Algorithm::Tofu, Algorithm::EqualChop, Algorithm::Spartan] {
        let found = kept(&graph, algorithm, &["w", "h", "a", "v"]);
        assert_eq!(found, (64 + 16, columns_then_rows.clone()), "{}", algorithm.name());
    }
}

#[test]
fn without_reductions_the_second_layer_gets_all_of_its_input() {
    let module = program(LAYERS);
    // The other half of x, and either that of a, 128 bytes, or a moved to rows, 64, and that of v, 64.
    assert_eq!(kept(&graph(&module, 0), Algorithm::Icml18, &[]).0, 64 + 128);
}

#[test]
fn rows_only_are_dear() {
    let module = program(LAYERS);
    // First: x to columns, 32, and half of h reduced, 128. Second: the other half of v, 64.
    let rows = vec![Layout::Split(0); 6];
    let found = kept(&graph(&module, 0), Algorithm::AllRowGreedy, &["x", "w", "v", "h", "a", "y"]);
    assert_eq!(found, (32 + 128 + 64, rows));
}

/// One layer that learns; w and its gradient have 64 bytes, y 32.
const STEP: &str = "func @f(%w: tensor<8x2xf32>, %x: tensor<4x8xf32>) -> tensor<8x2xf32> {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0]}
  %g = tensor.dot_general %x, %y {contracting = [0] x [0]}
  %u = tensor.subtract %w, %g
  return %u
}";

#[test]
fn data_parallelism_reduces_gradients() {
    let module = program(STEP);
    let found = kept(&graph(&module, 1), Algorithm::DataParallel, &["w", "x", "y", "u"]);
    let (whole, rows) = (Layout::Replicated, Layout::Split(0));
    // An all-reduce of two devices sends as much as there is.
    assert_eq!(found, (64, vec![whole, rows, rows, whole]));
}

#[test]
fn sharded_state_is_gathered_and_gradients_are_scattered() {
    let module = program(STEP);
    let (cost, layouts) = kept(&graph(&module, 1), Algorithm::Fsdp, &["x", "y", "w", "u"]);
    assert_eq!((cost, &layouts[..2]), (32 + 32, &[Layout::Split(0), Layout::Split(0)][..]));
    assert!(matches!(layouts[2], Layout::Split(_)));
    assert_eq!(layouts[2], layouts[3]);
}

#[test]
fn a_matrix_split_by_columns_sends_nothing() {
    let module = program(STEP);
    let found = kept(&graph(&module, 1), Algorithm::Megatron, &["x", "w", "y", "g"]);
    let columns = Layout::Split(1);
    assert_eq!(found, (0, vec![Layout::Replicated, columns, columns, columns]));
}

#[test]
fn what_cannot_be_split_is_on_every_device() {
    let module = program(
        "func @f(%x: tensor<1xf32>, %s: tensor<f32>) -> tensor<1xf32> {
  %b = tensor.broadcast_in_dim %s {dimensions = []} : tensor<1xf32>
  %y = tensor.add %x, %b
  return %y
}",
    );
    let outcome = found(&graph(&module, 0), Algorithm::Tofu, 8);
    assert!(outcome.plan.stored.iter().all(|stored| stored.first == Layouts::REPLICATED));
    assert_eq!(outcome.evaluation.cost, 0);
}

/// The second cut sees the shares that the first one left: rows of x for both would need all of w twice.
#[test]
fn cuts_go_on_where_others_stopped() {
    let module = program(
        "func @f(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0]}
  return %y
}",
    );
    let graph = graph(&module, 0);
    // All three have 1024 bytes. Along one axis of four, a device gets three quarters of one of them. Along two of two, two
    // devices hold a half of x and a half of w in turn: a quarter of each is missing.
    assert_eq!(found(&graph, Algorithm::EqualChop, 4).evaluation.cost, 768);
    assert_eq!(found(&graph, Algorithm::Tofu, 4).evaluation.cost, 256 + 256);
}

/// The broadcast of a number is made where it is wanted: no device holds all of it.
#[test]
fn what_depends_on_no_argument_is_made_in_parts() {
    let module = program(
        "func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c = tensor.constant dense<2.0> : tensor<f32>
  %b = tensor.broadcast_in_dim %c {dimensions = []} : tensor<8x8xf32>
  %y = tensor.multiply %x, %b
  return %y
}",
    );
    let graph = graph(&module, 0);
    for algorithm in [Algorithm::Tofu, Algorithm::AllRowGreedy] {
        let (cost, layouts) = kept(&graph, algorithm, &["x", "b", "y", "c"]);
        assert_eq!(cost, 0);
        assert_eq!(layouts, [Layout::Split(0), Layout::Split(0), Layout::Split(0), Layout::Replicated]);
    }
}

/// All on every device sends as little as each its part, but takes longer: time decides, over axes of any number.
#[test]
fn of_plans_that_send_nothing_the_faster_one_is_found() {
    let module = program(
        "func @f(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %a = tensor.tanh %x
  %y = tensor.multiply %a, %x
  return %y
}",
    );
    let graph = graph(&module, 0);
    for devices in [2, 3, 4, 8] {
        let outcome = found(&graph, Algorithm::Optimal, devices);
        assert_eq!((outcome.evaluation.cost, outcome.lower_bound), (0, Some(0)));
        for name in ["a", "y"] {
            let tensor = graph.tensors.iter().position(|tensor| is_named(&graph, tensor, name)).unwrap();
            let held = outcome.plan.stored[tensor].first.local_elements(&outcome.plan.mesh, &[1024, 1024]);
            assert!(held <= 1024 * 1024u64.div_ceil(devices), "{name} on {devices}");
        }
    }
}

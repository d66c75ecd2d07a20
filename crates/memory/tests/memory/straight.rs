//! Straight-line programs.

use tofu_memory::{Liveness, Transient};
use tofu_tdl::Descriptions;

use crate::support::{check, function, liveness, named, peak, program};

const LAYERS: &str =
    "func @main(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %v: tensor<16x2xf32>) -> tensor<4x2xf32> {
  %h = tensor.dot_general %x, %w {contracting = [1] x [0]}
  %a = tensor.tanh %h
  %y = tensor.dot_general %a, %v {contracting = [1] x [0]}
  return %y
}";

#[test]
fn values_live_from_definition_to_last_use() {
    check(
        LAYERS,
        "parameter 0..4 x
         parameter 0..4 w
         parameter 0..4 v
         intermediate 0..3 h a
         intermediate* 2..4 y",
    );
}

#[test]
fn peaks_are_sums_at_a_position() {
    let module = program(LAYERS);
    let liveness = liveness(&module);
    // x 128, w 512, v 128; h and a share 256, y 32.
    let found = peak(&module, &liveness);
    assert_eq!((found.bytes, found.position, found.transient), (768 + 256 + 32, 2, 0));
    let sizes: Vec<u64> = found.alive.iter().map(|alive| alive.1).collect();
    assert_eq!(sizes, [512, 256, 128, 128, 32]);
    let transients = [Transient { live: 0..1, bytes: 100 }, Transient { live: 1..9, bytes: 7 }];
    let bytes = |value| tofu_memory::bytes_of(&module, value);
    let found = liveness.peak(&bytes, &transients);
    assert_eq!((found.bytes, found.position, found.transient), (768 + 256 + 100, 0, 100));
    assert_eq!(liveness.profile(&bytes, &transients), [1124, 1031, 1063, 807]);
    // Of split values, what the caller says.
    let half = |value| bytes(value) / 2;
    assert_eq!(liveness.peak(&half, &[]).bytes, 528);
}

#[test]
fn views_share_what_they_show() {
    check(
        "func @main(%x: tensor<4x6xf32>, %w: tensor<3x5xf32>) -> tensor<8x5xf32> {
           %a = tensor.reshape %x : tensor<8x3xf32>
           %b = tensor.dot_general %a, %w {contracting = [1] x [0]}
           %c = tensor.reshape %b : tensor<40xf32>
           %d = tensor.optimization_barrier %c
           %e = tensor.reshape %d : tensor<8x5xf32>
           return %e
         }",
        "parameter 0..6 x a
         parameter 0..6 w
         intermediate* 1..6 b c d e",
    );
}

#[test]
fn tuples_hold_what_they_are_made_of() {
    let text = "func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
        %a = tensor.dot_general %x, %x {contracting = [1] x [0]}
        %b = tensor.dot_general %a, %x {contracting = [1] x [0]}
        %t = tensor.tuple %a, %b
        %c = tensor.get_tuple_element %t {index = 1}
        %d = tensor.dot_general %c, %c {contracting = [1] x [0]}
        return %d
      }";
    check(
        text,
        "parameter 0..6 x
         intermediate 0..4 a
         intermediate 1..5 b c
         intermediate* 4..6 d",
    );
    let module = program(text);
    let liveness = liveness(&module);
    assert_eq!(liveness.storages_of(named(&module, "t")).len(), 2);
}

#[test]
fn updates_are_in_place_where_they_can_be() {
    // A slice of what dies; then not, for the old value is used again.
    check(
        "func @main(%x: tensor<8x8xf32>, %u: tensor<1x8xf32>, %i: tensor<i32>) -> tensor<8x8xf32> {
           %a = tensor.dot_general %x, %x {contracting = [1] x [0]}
           %b = tensor.dynamic_update_slice %a, %u, %i, %i
           %c = tensor.dynamic_update_slice %b, %u, %i, %i
           %d = tensor.dot_general %b, %c {contracting = [1] x [0]}
           return %d
         }",
        "parameter 0..5 x
         parameter 0..5 u
         parameter 0..5 i
         intermediate 0..4 a b
         intermediate 2..4 c
         intermediate* 3..5 d",
    );
    // A transposed reading is no place for the result; nor is another type.
    check(
        "func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xbf16>) {
           %a = tensor.dot_general %x, %x {contracting = [1] x [0]}
           %b = tensor.transpose %a {permutation = [1, 0]}
           %c = tensor.add %a, %b
           %d = tensor.dot_general %c, %x {contracting = [1] x [0]}
           %e = tensor.convert %d : tensor<8x8xbf16>
           return %c, %e
         }",
        "parameter 0..6 x
         intermediate 0..3 a
         intermediate* 2..6 c
         intermediate 3..5 d
         intermediate* 4..6 e",
    );
}

#[test]
fn what_the_caller_keeps_is_returned_as_a_copy() {
    check(
        "func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
           %a = tensor.dot_general %x, %x {contracting = [1] x [0]}
           return %x, %a, %a
         }",
        "parameter 0..2 x
         intermediate* 0..2 a
         intermediate* 1..2 x
         intermediate* 1..2 a",
    );
}

#[test]
fn constants_come_with_the_program() {
    check(
        "func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
           %a = tensor.dot_general %x, %x {contracting = [1] x [0]}
           %c = tensor.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
           %s = tensor.constant dense<2.0> : tensor<2x2xf32>
           %b = tensor.dot_general %a, %c {contracting = [1] x [0]}
           %d = tensor.dot_general %b, %s {contracting = [1] x [0]}
           return %d
         }",
        "parameter 0..6 x
         intermediate 0..4 a
         constant 0..6 c
         intermediate 2..5 s
         intermediate 3..5 b
         intermediate* 4..6 d",
    );
}

#[test]
fn what_is_never_used_is_there_for_a_moment() {
    check(
        "func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
           %a = tensor.dot_general %x, %x {contracting = [1] x [0]}
           %b = tensor.dot_general %x, %x {contracting = [0] x [1]}
           return %b
         }",
        "parameter 0..3 x
         intermediate 0..1 a
         intermediate* 1..3 b",
    );
}

#[test]
fn functions_without_an_order_are_refused() {
    let module = program("func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32>");
    let error = Liveness::of(&module, function(&module), &Descriptions::new()).unwrap_err();
    assert_eq!((error.code.id, &*error.message), ("T0804", "only a function with a body has a schedule"));
}

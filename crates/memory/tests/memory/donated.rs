//! Arguments that are given away, and the state of a step.

use tofu_memory::{Assumptions, Ties};
use tofu_tdl::Descriptions;

use crate::support::{check, check_assuming, function, program};

#[track_caller]
fn check_ties(text: &str, is_declared: bool, pairs: &[(usize, usize)]) {
    let module = program(text);
    let ties = Ties::of(&module, function(&module), &Descriptions::new());
    assert_eq!(ties, Ties { pairs: pairs.to_vec(), is_declared }, "{text}");
}

/// A step of gradient descent on `w`, with the loss as it was before.
const STEP: &str =
    "func @main(%w: tensor<8x8xf32>, %x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0]}
  %g = tensor.dot_general %x, %y {contracting = [0] x [0]}
  %n = tensor.subtract %w, %g
  return %n, %y
}";

#[test]
fn state_comes_first() {
    check_ties(STEP, false, &[(0, 0)]);
    // The caller keeps it, unless somebody knows better.
    check(
        STEP,
        "parameter 0..4 w
         parameter 0..4 x
         intermediate* 0..4 y
         intermediate* 1..4 g n",
    );
    check_assuming(
        STEP,
        &Assumptions { ties_are_donated: true },
        "parameter* 0..4 w n
         parameter 0..4 x
         intermediate* 0..4 y
         intermediate 1..3 g",
    );
}

#[test]
fn functions_without_state_have_no_ties() {
    // The same type, but no update of it.
    check_ties(
        "func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
           %y = tensor.dot_general %x, %w {contracting = [1] x [0]}
           %z = tensor.tanh %y
           return %z
         }",
        false,
        &[],
    );
    // It depends on something else.
    check_ties(
        "func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
           %y = tensor.negate %w
           return %y
         }",
        false,
        &[],
    );
    // Another type in front.
    check_ties(
        "func @main(%cache: tensor<8x8xf32>, %x: tensor<1x8xf32>, %i: tensor<i32>) -> (tensor<1x8xf32>, tensor<8x8xf32>) {
           %c = tensor.dynamic_update_slice %cache, %x, %i, %i
           %y = tensor.dot_general %x, %c {contracting = [1] x [0]}
           return %y, %c
         }",
        false,
        &[],
    );
}

#[test]
fn what_the_program_says_of_donation_counts() {
    let text = "func @main(%x: tensor<1x8xf32>, %cache: tensor<8x8xf32> {tf.aliasing_output = 1}, %i: tensor<i32>) -> (tensor<1x8xf32>, tensor<8x8xf32>) {
        %c = tensor.dynamic_update_slice %cache, %x, %i, %i
        %y = tensor.dot_general %x, %c {contracting = [1] x [0]}
        return %y, %c
      }";
    check_ties(text, true, &[(1, 1)]);
    check(
        text,
        "parameter 0..3 x
         parameter* 0..3 cache c
         parameter 0..3 i
         intermediate* 1..3 y",
    );
}

#[test]
fn what_is_given_away_freely_goes_to_the_first_result_of_its_type() {
    let text = "func @main(%a: tensor<8xf32> {jax.buffer_donor = true}, %b: tensor<8x8xf32> {jax.buffer_donor = true}, %c: tensor<8x8xf32> {jax.buffer_donor = true}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
        %d = tensor.dot_general %b, %b {contracting = [1] x [0]}
        %e = tensor.negate %c
        return %d, %e
      }";
    check_ties(text, true, &[(1, 0), (2, 1)]);
    // `a` is of no use to anyone. `d` cannot be written over `b` while that is read, so it is copied there in the end.
    check(
        text,
        "parameter 0..1 a
         parameter* 0..3 b
         parameter* 0..3 c e
         intermediate 0..3 d",
    );
}

#[test]
fn an_update_after_the_last_use_needs_no_copy() {
    // Read for the last time at 1, then replaced at 2 by what is computed from something else.
    check(
        "func @main(%b: tensor<8x8xf32> {tf.aliasing_output = 0}, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
           %c = tensor.dot_general %b, %x {contracting = [1] x [0]}
           %d = tensor.dot_general %c, %b {contracting = [1] x [0]}
           %e = tensor.dot_general %d, %d {contracting = [1] x [0]}
           return %e
         }",
        "parameter* 0..4 b e
         parameter 0..4 x
         intermediate 0..2 c
         intermediate 1..3 d",
    );
}

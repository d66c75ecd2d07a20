//! Loops and choices.

use tofu_ir::Control;
use tofu_memory::trip_count;
use tofu_tdl::Descriptions;

use crate::support::{check, function, program};

/// A loop of `body` rounds over `%i` and the values `%a`, `%b`.
fn scan(body: &str, yielded: &str) -> String {
    format!(
        "func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {{
           %zero = tensor.constant dense<0> : tensor<i32>
           %s = tensor.dot_general %x, %x {{contracting = [1] x [0]}}
           %n, %r = tensor.while %zero, %s ({{
             ^cond(%ci: tensor<i32>, %ca: tensor<8x8xf32>):
               %limit = tensor.constant dense<5> : tensor<i32>
               %c = tensor.compare %ci, %limit {{direction = \"LT\"}}
               tensor.yield %c
           }}, {{
             ^body(%i: tensor<i32>, %a: tensor<8x8xf32>):
               %one = tensor.constant dense<1> : tensor<i32>
               %j = tensor.add %i, %one
               {body}
               tensor.yield %j, {yielded}
           }})
           return %r
         }}"
    )
}

#[test]
fn loops_carry_values_in_place() {
    // zero 0, s 1, while 2, limit 3, c 4, yield 5, one 6, j 7, b 8, yield 9, end 10, return 11.
    check(
        &scan("%b = tensor.negate %a", "%b"),
        "parameter 0..12 x
         parameter 0..12 w
         intermediate 0..11 zero ci i j n
         intermediate* 1..12 s ca a b r
         intermediate 4..6 c",
    );
}

#[test]
fn what_cannot_be_written_in_place_is_copied() {
    // The product reads all of `a` for each element.
    check(
        &scan("%b = tensor.dot_general %a, %w {contracting = [1] x [0]}", "%b"),
        "parameter 0..12 x
         parameter 0..12 w
         intermediate 0..11 zero ci i j n
         intermediate* 1..12 s ca a r
         intermediate 4..6 c
         intermediate 8..10 b",
    );
    // Two products in a row: `a` is not needed any more when `d` is made.
    check(
        &scan(
            "%b = tensor.dot_general %a, %w {contracting = [1] x [0]}
             %d = tensor.dot_general %b, %w {contracting = [1] x [0]}",
            "%d",
        ),
        "parameter 0..13 x
         parameter 0..13 w
         intermediate 0..12 zero ci i j n
         intermediate* 1..13 s ca a d r
         intermediate 4..6 c
         intermediate 8..10 b",
    );
}

#[test]
fn what_a_loop_hands_round_is_no_copy() {
    // Read only, even the caller's.
    check(
        "func @main(%x: tensor<8x8xf32>, %k: tensor<i1>) -> tensor<8x8xf32> {
           %p, %q = tensor.while %k, %x ({
             ^cond(%cp: tensor<i1>, %cq: tensor<8x8xf32>):
               tensor.yield %cp
           }, {
             ^body(%bp: tensor<i1>, %bq: tensor<8x8xf32>):
               %m = tensor.not %bp
               tensor.yield %m, %bq
           })
           %y = tensor.negate %q
           return %y
         }",
        "parameter 0..7 x cq bq q
         parameter 0..7 k
         intermediate 0..5 cp bp m p
         intermediate* 5..7 y",
    );
}

#[test]
fn what_comes_from_outside_lives_through_the_loop() {
    // `t` is read in the first op of the body: it is there until the end at 9.
    check(
        "func @main(%x: tensor<8x8xf32>, %k: tensor<i1>) -> tensor<i1> {
           %t = tensor.dot_general %x, %x {contracting = [1] x [0]}
           %p = tensor.while %k ({
             ^cond(%cp: tensor<i1>):
               tensor.yield %cp
           }, {
             ^body(%bp: tensor<i1>):
               %u = tensor.dot_general %t, %x {contracting = [1] x [0]}
               %v = tensor.dot_general %u, %u {contracting = [1] x [0]}
               %f = tensor.slice %v {limit = [1, 1], start = [0, 0], stride = [1, 1]}
               %g = tensor.reshape %f : tensor<f32>
               %h = tensor.compare %g, %g {direction = \"LT\"}
               tensor.yield %h
           })
           return %p
         }",
        "parameter 0..11 x
         parameter 0..11 k
         intermediate 0..9 t
         intermediate* 1..11 cp bp h p
         intermediate 3..5 u
         intermediate 4..8 v",
    );
}

#[test]
fn branches_give_where_the_choice_is() {
    // if 0, a 1, yield 2, b 3, yield 4, end 5, return 6. The second branch hands on what the caller keeps: a copy.
    check(
        "func @main(%x: tensor<8x8xf32>, %k: tensor<i1>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
           %r, %s = tensor.if %k ({
             %a = tensor.negate %x
             tensor.yield %a, %a
           }, {
             %b = tensor.tanh %x
             tensor.yield %b, %x
           })
           return %r, %s
         }",
        "parameter 0..7 x
         parameter 0..7 k
         intermediate* 1..7 a b r
         intermediate* 2..7 s",
    );
}

#[test]
fn values_that_change_places_are_both_kept() {
    check(
        "func @main(%x: tensor<8x8xf32> {jax.buffer_donor = true}, %y: tensor<8x8xf32> {jax.buffer_donor = true}, %k: tensor<i1>) -> tensor<8x8xf32> {
           %p, %a, %b = tensor.while %k, %x, %y ({
             ^cond(%cp: tensor<i1>, %ca: tensor<8x8xf32>, %cb: tensor<8x8xf32>):
               tensor.yield %cp
           }, {
             ^body(%bp: tensor<i1>, %ba: tensor<8x8xf32>, %bb: tensor<8x8xf32>):
               %m = tensor.not %bp
               tensor.yield %m, %bb, %ba
           })
           %z = tensor.add %a, %b
           return %z
         }",
        "parameter* 0..7 x ca ba a z
         parameter 0..6 y cb bb b
         parameter 0..7 k
         intermediate 0..5 cp bp m p",
    );
}

/// How often the loop of a program goes round.
fn rounds(text: &str) -> Option<u64> {
    let module = program(text);
    let is_loop = |&op: &_| matches!(module.def(op).interface(), Some(Control::While));
    let found = module.walk(function(&module)).find(is_loop).unwrap();
    trip_count(&module, found, &Descriptions::new())
}

#[test]
fn loops_that_count_are_counted() {
    let text = scan("%b = tensor.negate %a", "%b");
    assert_eq!(rounds(&text), Some(5));
    let with = |from: &str, to: &str| {
        assert!(text.contains(from));
        text.replace(from, to)
    };
    assert_eq!(rounds(&with("\"LT\"", "\"LE\"")), Some(6));
    assert_eq!(rounds(&with("\"LT\"", "\"NE\"")), Some(5));
    assert_eq!(rounds(&with("\"LT\"", "\"GT\"")), Some(0));
    assert_eq!(rounds(&with("dense<1>", "dense<2>")), Some(3));
    assert_eq!(rounds(&with("tensor.add %i, %one", "tensor.add %one, %i")), Some(5));
    assert_eq!(rounds(&with("tensor.compare %ci, %limit", "tensor.compare %limit, %ci")), Some(0));
    // Never done, and not counting at all.
    assert_eq!(rounds(&with("tensor.add %i, %one", "tensor.subtract %i, %one")), None);
    assert_eq!(rounds(&with("tensor.add %i, %one", "tensor.multiply %i, %one")), None);
    assert_eq!(rounds(&with("tensor.add %i, %one", "tensor.add %i, %i")), None);
    // The limit may go round with the loop.
    let carried = "func @main(%x: tensor<i32>) -> tensor<i32> {
        %zero = tensor.constant dense<7> : tensor<i32>
        %top = tensor.constant dense<-3> : tensor<i32>
        %n, %t = tensor.while %zero, %top ({
          ^cond(%ci: tensor<i32>, %ct: tensor<i32>):
            %c = tensor.compare %ci, %ct {direction = \"GE\"}
            tensor.yield %c
        }, {
          ^body(%i: tensor<i32>, %bt: tensor<i32>):
            %two = tensor.constant dense<2> : tensor<i32>
            %j = tensor.subtract %i, %two
            tensor.yield %j, %bt
        })
        return %n
      }";
    // 7, 5, 3, 1, -1, -3.
    assert_eq!(rounds(carried), Some(6));
    assert_eq!(rounds(&carried.replace("tensor.yield %j, %bt", "tensor.yield %j, %j")), None);
}

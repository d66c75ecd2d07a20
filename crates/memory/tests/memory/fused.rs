//! Values that never reach memory.

use tofu_memory::Held;

use crate::support::{check, function, liveness, name, named, program};

/// What the kernels of a program read, and which of its values are in memory.
#[track_caller]
fn check_kernels(text: &str, expected: &[&str]) {
    let module = program(text);
    let liveness = liveness(&module);
    let stored = module.walk(function(&module)).skip(1).filter_map(|op| {
        liveness.schedule().begin(op)?;
        let value = module.results(op).next()?;
        (liveness.held(value) == Held::Stored).then(|| {
            let reads = liveness.reads(&module, op);
            let reads: Vec<&str> = reads.iter().map(|&value| name(&module, value)).collect();
            format!("{} of {}", name(&module, value), reads.join(" "))
        })
    });
    assert_eq!(stored.collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn elementwise_chains_are_one_kernel() {
    let text = "func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
        %h = tensor.dot_general %x, %w {contracting = [1] x [0]}
        %half = tensor.constant dense<0.5> : tensor<4x8xf32>
        %a = tensor.multiply %h, %half
        %t = tensor.tanh %a
        %b = tensor.multiply %t, %a
        %y = tensor.dot_general %b, %w {contracting = [1] x [0]}
        return %y
      }";
    check_kernels(text, &["h of x w", "b of h", "y of b w"]);
    // What is read on the way lives until the kernel, which writes over it.
    check(
        text,
        "parameter 0..7 x
         parameter 0..7 w
         intermediate 0..6 h b
         intermediate* 5..7 y",
    );
}

#[test]
fn reductions_compute_what_they_read_once() {
    check_kernels(
        "func @main(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
           %e = tensor.exponential %x
           %zero = tensor.constant dense<0.0> : tensor<f32>
           %s = tensor.reduce %e, %zero {dimensions = [1]} ({
             ^body(%a: tensor<f32>, %b: tensor<f32>):
               %c = tensor.add %a, %b
               tensor.yield %c
           })
           %r = tensor.broadcast_in_dim %s {dimensions = [0]} : tensor<4x8xf32>
           %n = tensor.negate %x
           %d = tensor.divide %n, %r
           return %s, %d
         }",
        &["s of x", "d of x s"],
    );
    // Two kernels need it: it is stored.
    check_kernels(
        "func @main(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
           %e = tensor.exponential %x
           %zero = tensor.constant dense<0.0> : tensor<f32>
           %s = tensor.reduce %e, %zero {dimensions = [1]} ({
             ^body(%a: tensor<f32>, %b: tensor<f32>):
               %c = tensor.add %a, %b
               tensor.yield %c
           })
           %r = tensor.broadcast_in_dim %s {dimensions = [0]} : tensor<4x8xf32>
           %d = tensor.divide %e, %r
           return %s, %d
         }",
        &["e of x", "s of e", "d of e s"],
    );
}

#[test]
fn what_costs_nothing_is_made_in_every_kernel() {
    let text = "func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
        %r = tensor.broadcast_in_dim %b {dimensions = [1]} : tensor<4x8xf32>
        %i = tensor.iota {dimension = 1} : tensor<4x8xi32>
        %three = tensor.constant dense<3> : tensor<4x8xi32>
        %m = tensor.compare %i, %three {direction = \"LT\"}
        %y = tensor.add %x, %r
        %z = tensor.select %m, %x, %r
        return %y, %z
      }";
    check_kernels(text, &["y of x b", "z of x b"]);
    let module = program(text);
    assert_eq!(liveness(&module).held(named(&module, "m")), Held::Copied);
}

#[test]
fn computing_is_not_repeated_along_broadcasts() {
    check_kernels(
        "func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
           %e = tensor.exponential %b
           %v = tensor.reshape %e : tensor<1x8xf32>
           %r = tensor.broadcast_in_dim %v {dimensions = [0, 1]} : tensor<4x8xf32>
           %y = tensor.add %x, %r
           return %y
         }",
        &["e of b", "y of x e"],
    );
}

#[test]
fn products_and_gathers_find_their_operands_in_memory() {
    check_kernels(
        "func @main(%x: tensor<4x4xf32>, %i: tensor<i32>) -> (tensor<4x4xf32>, tensor<1x4xf32>) {
           %a = tensor.negate %x
           %b = tensor.dot_general %a, %a {contracting = [1] x [0]}
           %c = tensor.negate %x
           %d = tensor.dynamic_slice %c, %i, %i {slice_sizes = [1, 4]}
           return %b, %d
         }",
        &["a of x", "b of a", "c of x", "d of c i"],
    );
}

#[test]
fn views_join_kernels() {
    check_kernels(
        "func @main(%x: tensor<4x6xf32>) -> tensor<8x3xf32> {
           %a = tensor.negate %x
           %b = tensor.reshape %a : tensor<8x3xf32>
           %c = tensor.tanh %b
           return %c
         }",
        &["c of x"],
    );
    // Stored for another kernel, it is only seen.
    check(
        "func @main(%x: tensor<4x6xf32>) -> (tensor<8x3xf32>, tensor<4x6xf32>) {
           %a = tensor.negate %x
           %b = tensor.reshape %a : tensor<8x3xf32>
           return %b, %a
         }",
        "parameter 0..3 x
         intermediate* 0..3 a b
         intermediate* 2..3 a",
    );
}

//! Which function is run, on what; and what is said when that does not work.

use tofu_interpreter::entry;
use tofu_ir::ElementType::*;
use tofu_tdl::Tensor;

use crate::support::{program, run_program, tensor};

fn entry_of(text: &str, name: Option<&str>) -> String {
    let (_, module) = program(text);
    match entry(&module, name) {
        Ok(function) => module.text(module.symbol_name(function).unwrap()).to_owned(),
        Err(error) => {
            let help = error.help.unwrap_or_default();
            [vec![format!("{}: {}", error.code.id, error.message)], error.notes, vec![help]]
                .concat()
                .join("; ")
        }
    }
}

#[test]
fn the_entry_is_main_or_the_only_function() {
    assert_eq!(entry_of("func @f() { return }\nfunc @main() { return }", None), "main");
    assert_eq!(entry_of("func @f()\nfunc @g() { return }", None), "g");
    assert_eq!(entry_of("func @f() { return }\nfunc @main() { return }", Some("f")), "f");
    assert_eq!(entry_of("func @f()", None), "T0604: there is no function to run; ");
    assert_eq!(
        entry_of("func @f() { return }\nfunc @g() { return }", None),
        "T0604: there are several functions, and none is called `@main`; the functions are @f, @g; say which one to run"
    );
    assert_eq!(
        entry_of("func @forward() { return }", Some("foward")),
        "T0604: there is no function `@foward` to run; did you mean `forward`?"
    );
}

#[test]
fn arguments_must_fit() {
    let text = "func @main(%x: tensor<{n}x2xf32>, %y: tensor<{n}xi32>, %z: tensor<?xf32>) { return }";
    let x = tensor(F32, &[2, 2], &[0.; 4]);
    let z = tensor(F32, &[7], &[0.; 7]);
    assert_eq!(run_program(text, &[x.clone(), tensor(I32, &[2], &[0.; 2]), z.clone()]), Ok(Vec::new()));
    let error =
        run_program(text, &[x, tensor(I32, &[3], &[0.; 3]), tensor(F64, &[1], &[0.]), z]).unwrap_err();
    assert_eq!(
        error,
        "T0605 at `func`: `@main` cannot be run on what it is given\n\
         argument 1: a `tensor<{n}xi32>` is expected, but a `tensor<3xi32>` came\n\
         argument 2: a `tensor<?xf32>` is expected, but a `tensor<1xf64>` came\n\
         4 arguments came, but 3 are taken"
    );
    let error = run_program(text, &[]).unwrap_err();
    assert_eq!(error.matches("is expected, but nothing came").count(), 3, "{error}");
}

#[test]
fn extents_may_differ_from_run_to_run() {
    let text = "func @main(%x: tensor<{n}x2xf32>) -> tensor<2x{n}xf32> {
      %y = tensor.transpose %x {permutation = [1, 0]}
      return %y
    }";
    let y = run_program(text, &[tensor(F32, &[3, 2], &[1., 2., 3., 4., 5., 6.])]).unwrap();
    assert_eq!((y[0].dims(), y[0].numbers()), (&[2, 3][..], vec![1., 3., 5., 2., 4., 6.]));
    let y = run_program(text, &[tensor(F32, &[1, 2], &[1., 2.])]).unwrap();
    assert_eq!(y[0].dims(), [2, 1]);
}

#[test]
fn a_small_network() {
    let text = "func @main(%x: tensor<2x2xf32>, %w: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<f32>) {
      %h = tensor.dot_general %x, %w {contracting = [1] x [0]}
      %c = tensor.broadcast_in_dim %b {dimensions = [1]} : tensor<2x3xf32>
      %s = tensor.add %h, %c
      %z = tensor.constant dense<0.0> : tensor<2x3xf32>
      %r = tensor.maximum %s, %z
      %i = tensor.constant dense<0.0> : tensor<f32>
      %l = tensor.reduce %r, %i {dimensions = [0, 1]} ({
        ^body(%a: tensor<f32>, %e: tensor<f32>):
          %t = tensor.add %a, %e
          tensor.yield %t
      })
      return %r, %l
    }";
    let x = tensor(F32, &[2, 2], &[1., 2., 3., 4.]);
    let w = tensor(F32, &[2, 3], &[1., 0., -1., 2., 1., 0.]);
    let b = tensor(F32, &[3], &[-5., 0., 2.]);
    let results = run_program(text, &[x, w, b]).unwrap();
    assert_eq!(results[0].numbers(), [0., 2., 1., 6., 4., 0.]);
    assert_eq!(results[1].numbers(), [13.]);
}

#[test]
fn what_cannot_be_run_is_named() {
    let with = |op: &str| {
        format!(
            "func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %y = {op} %x : tensor<4xf32>\n  return %y\n}}"
        )
    };
    let x = [Tensor::zeros(F32, &[4]).unwrap()];
    assert_eq!(
        run_program(&with("test.elsewhere"), &x).unwrap_err(),
        "T0601 at `test.elsewhere`: `test.elsewhere` cannot be run\nit depends on other devices"
    );
    assert_eq!(
        run_program(&with("test.unknown"), &x).unwrap_err(),
        "T0601 at `test.unknown`: `test.unknown` cannot be run\nit has no description, and does not say how control passes through it"
    );
    let text = "func @f(%x: tensor<4xf32>) -> tensor<4xf32>\n\
                func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = call @f(%x)\n  return %y\n}";
    assert_eq!(run_program(text, &x).unwrap_err(), "T0601 at `call`: `@f` has no body that could be run");
    let text =
        "func @main(%x: tensor<4xf32>) -> tuple<tensor<4xf32>> {\n  %y = tensor.tuple %x\n  return %y\n}";
    let error = run_program(text, &x).unwrap_err();
    assert_eq!(error, "T0601 at `func`: only tensors can be taken out of a program, not tokens or tuples");
}

#[test]
fn what_fails_is_named_with_its_callers() {
    let text = "func @main(%x: tensor<2xf32>, %at: tensor<3xi32>) -> tensor<3xf32> {
      %y = call @inner(%x, %at)
      return %y
    }
    func @inner(%x: tensor<2xf32>, %at: tensor<3xi32>) -> tensor<3xf32> {
      %y = test.pick %x, %at : tensor<3xf32>
      return %y
    }";
    let at = |numbers: &[f64]| [tensor(F32, &[2], &[5., 6.]), tensor(I32, &[3], numbers)];
    assert_eq!(run_program(text, &at(&[1., 0., 1.])).unwrap()[0].numbers(), [6., 5., 6.]);
    assert_eq!(
        run_program(text, &at(&[1., 0., 2.])).unwrap_err(),
        "T0602 at `test.pick`: `test.pick` failed: the index into dimension 0 of `x` is 2, outside 0..2"
    );
    let (_, module) = program(text);
    let mut interpreter = tofu_interpreter::Interpreter::new(&module, &tofu_tdl::OpaqueRegistry::builtin());
    let error = interpreter.run(entry(&module, None).unwrap(), &at(&[0., 0., -1.])).unwrap_err();
    assert_eq!(error.secondary.len(), 1);
    assert_eq!(error.secondary[0].text, "called from here");
    // A declared type that is not what comes out.
    let wrong = text
        .replace("%at : tensor<3xf32>", "%at : tensor<5xf32>")
        .replace("-> tensor<3xf32>", "-> tensor<5xf32>");
    let error = run_program(&wrong, &at(&[0., 0., 0.])).unwrap_err();
    assert!(error.contains("a `tensor<5xf32>` is expected, but a `tensor<3xf32>` came out"), "{error}");
}

//! Calls, loops, branches and tuples, against results computed by hand; and what is kept while they run.

use std::sync::Arc;

use tofu_interpreter::{Compute, Interpreter, Storage, entry};
use tofu_ir::ElementType::*;
use tofu_ir::ValueId;
use tofu_tdl::{OpaqueRegistry, Tensor};

use crate::support::{program, run_program, tensor};

/// The factorial of what is given, by a loop.
const FACTORIAL: &str = "func @main(%n: tensor<i64>) -> tensor<i64> {
  %one = tensor.constant dense<1> : tensor<i64>
  %i, %p = tensor.while %n, %one ({
    ^cond(%i: tensor<i64>, %p: tensor<i64>):
      %c = tensor.compare %i, %one {direction = \"GT\"}
      tensor.yield %c
  }, {
    ^body(%i: tensor<i64>, %p: tensor<i64>):
      %q = tensor.multiply %p, %i
      %j = tensor.subtract %i, %one
      tensor.yield %j, %q
  })
  return %p
}";

fn numbers(results: Result<Vec<Tensor>, String>) -> Vec<Vec<f64>> {
    results.unwrap().iter().map(Tensor::numbers).collect()
}

#[test]
fn loops_go_on_as_long_as_they_must() {
    for (n, factorial) in [(0.0, 1.0), (1.0, 1.0), (5.0, 120.0), (15.0, 1_307_674_368_000.0)] {
        assert_eq!(numbers(run_program(FACTORIAL, &[tensor(I64, &[], &[n])])), [[factorial]]);
    }
}

#[test]
fn branches_are_chosen_by_number() {
    let text = "func @main(%k: tensor<i32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %r = tensor.case %k ({
          %a = tensor.negate %x
          tensor.yield %a
        }, {
          tensor.yield %x
        }, {
          %a = tensor.add %x, %x
          tensor.yield %a
        })
      %zero = tensor.constant dense<0> : tensor<i32>
      %p = tensor.compare %k, %zero {direction = \"GT\"}
      %s = tensor.if %p ({
          tensor.yield %r
        }, {
          %a = tensor.multiply %r, %r
          tensor.yield %a
        })
      return %r, %s
    }";
    let x = tensor(F32, &[2], &[3., -4.]);
    let of = |k: f64| numbers(run_program(text, &[tensor(I32, &[], &[k]), x.clone()]));
    assert_eq!(of(0.), [[-3., 4.], [9., 16.]]);
    assert_eq!(of(1.), [[3., -4.], [3., -4.]]);
    // A number that no branch has means the last one.
    assert_eq!(of(7.), [[6., -8.], [6., -8.]]);
    assert_eq!(of(-1.), [[6., -8.], [36., 64.]]);
}

#[test]
fn functions_are_called_with_their_own_values() {
    let text = "func @main(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %a, %b = call @swap(%x, %y)
      %c, %d = call @swap(%a, %a)
      %e = tensor.subtract %b, %d
      return %a, %e
    }
    func @swap(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      return %y, %x
    }";
    let [x, y] = [3., 5.].map(|number| tensor(F32, &[], &[number]));
    assert_eq!(numbers(run_program(text, &[x, y])), [[5.], [-2.]]);
}

#[test]
fn tuples_and_tokens_hold_and_order() {
    let text = "func @main(%x: tensor<f32>, %y: tensor<2xi32>) -> (tensor<2xi32>, tensor<f32>) {
      %t = tensor.tuple %x, %y
      %u, %z = tensor.optimization_barrier %t, %x
      %b = tensor.get_tuple_element %u {index = 1}
      %o = tensor.create_token
      %p = tensor.after_all %o, %o
      return %b, %z
    }";
    let arguments = [tensor(F32, &[], &[3.]), tensor(I32, &[2], &[1., 2.])];
    assert_eq!(numbers(run_program(text, &arguments)), [vec![1., 2.], vec![3.]]);
}

/// Recursion may be as deep as it likes, within reason.
const SUM_TO: &str = "func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = tensor.constant dense<0> : tensor<i32>
  %one = tensor.constant dense<1> : tensor<i32>
  %go = tensor.compare %n, %zero {direction = \"GT\"}
  %r = tensor.if %go ({
      %m = tensor.subtract %n, %one
      %s = call @main(%m)
      %t = tensor.add %s, %n
      tensor.yield %t
    }, {
      tensor.yield %zero
    })
  return %r
}";

#[test]
fn recursion_has_an_end() {
    assert_eq!(numbers(run_program(SUM_TO, &[tensor(I32, &[], &[900.])])), [[405_450.]]);
    let error = run_program(SUM_TO, &[tensor(I32, &[], &[1000.])]).unwrap_err();
    assert_eq!(error, "T0603 at `call`: calls are nested more than 1000 deep\n995 further calls lead here");
}

/// Knows how many buffers there were at most when another one was made.
#[derive(Default)]
struct Counting {
    each: Arc<()>,
    most: usize,
}

impl Storage for Counting {
    type Buffer = Arc<(Vec<u8>, Arc<()>)>;

    fn allocate(&mut self, _: ValueId, bytes: usize) -> Result<Self::Buffer, String> {
        self.most = self.most.max(Arc::strong_count(&self.each));
        Ok(Arc::new((vec![0; bytes], Arc::clone(&self.each))))
    }

    fn share(&mut self, _: ValueId, buffer: &Self::Buffer) -> Self::Buffer {
        Arc::clone(buffer)
    }

    fn bytes<'s>(&'s self, buffer: &'s Self::Buffer) -> &'s [u8] {
        &buffer.0
    }

    fn compute(&mut self, inputs: &[&Self::Buffer], outputs: &mut [Self::Buffer], compute: &mut Compute<'_>) {
        let inputs: Vec<&[u8]> = inputs.iter().map(|input| input.0.as_slice()).collect();
        let mut outputs: Vec<&mut [u8]> =
            outputs.iter_mut().map(|output| Arc::get_mut(output).unwrap().0.as_mut_slice()).collect();
        compute(&inputs, &mut outputs);
    }
}

#[test]
fn values_end_with_their_last_use() {
    let live = |text: &str, arguments: &[Tensor]| {
        let (_, module) = program(text);
        let storage = Counting::default();
        let counts = Arc::clone(&storage.each);
        let mut interpreter = Interpreter::with_storage(&module, &OpaqueRegistry::builtin(), storage);
        interpreter.run(entry(&module, None).unwrap(), arguments).unwrap();
        let most = interpreter.storage().most;
        drop(interpreter);
        assert_eq!(Arc::strong_count(&counts), 1, "something is still there");
        most - 2
    };
    // A chain of ops keeps two tensors at a time, however long it is.
    let chain = |length: usize| {
        let ops: String = (1..=length).map(|i| format!("%x{i} = tensor.negate %x{}\n", i - 1)).collect();
        format!("func @main(%x0: tensor<4xf32>) -> tensor<4xf32> {{\n{ops}return %x{length}\n}}")
    };
    let x = tensor(F32, &[4], &[1., 2., 3., 4.]);
    assert_eq!(live(&chain(5), std::slice::from_ref(&x)), 1);
    assert_eq!(live(&chain(200), std::slice::from_ref(&x)), 1);
    // So does a loop, however often it goes round.
    let [few, many] = [3., 20_000.].map(|n| live(FACTORIAL, &[tensor(I64, &[], &[n])]));
    assert_eq!(few, many);
    // What a region uses lives as long as the op around it; what nothing uses ends at once.
    let unused = "func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %a = tensor.negate %x
      %b = tensor.negate %x
      %c = tensor.negate %x
      return %x
    }";
    assert_eq!(live(unused, &[x]), 1);
}

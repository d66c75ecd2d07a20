//! The types of results, and what is said where operands do not fit.

use std::sync::Arc;

use tofu_ir::{Registry, TypeData};

use crate::support::*;

/// The type of the value that `line` defines, in a function with arguments of several types; or the message.
fn result(line: &str) -> String {
    let program = format!(
        "func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %n: tensor<{{n}}x8xf32>, %u: tensor<?x?xf32>,
                 %t: tensor<8x4xf32>, %i: tensor<4x8xi32>, %p: tensor<4x8xi1>, %s: tensor<f32>, %q: tensor<i1>,
                 %c: tensor<4xcomplex<f32>>) {{
           {line}
           return
         }}"
    );
    let module = match read(&program) {
        Ok(module) => module,
        Err(found) => {
            assert_eq!(found.len(), 1, "{found:?}");
            return found[0].clone();
        }
    };
    let op = module.walk(module.root()).nth(2).unwrap();
    let ty = module.ty(module.result(op, 0));
    assert!(!matches!(module.type_data(ty), TypeData::Error));
    module.type_text(ty)
}

#[test]
fn elementwise_shapes_are_merged() {
    assert_eq!(result("%r = tensor.add %x, %y"), "tensor<4x8xf32>");
    assert_eq!(result("%r = tensor.add %u, %n"), "tensor<{n}x8xf32>");
    assert_eq!(result("%r = tensor.add %n, %x"), "tensor<4x8xf32>");
    assert_eq!(result("%r = tensor.add %u, %u"), "tensor<?x?xf32>");
    assert_eq!(result("%r = tensor.is_finite %x"), "tensor<4x8xi1>");
    assert_eq!(result("%r = tensor.abs %c"), "tensor<4xf32>");
    assert_eq!(result("%r = tensor.compare %x, %n {direction = \"LE\"}"), "tensor<4x8xi1>");
    assert_eq!(result("%r = tensor.select %p, %u, %n"), "tensor<4x8xf32>");
    assert_eq!(result("%r = tensor.select %q, %u, %u"), "tensor<?x?xf32>");
    assert_eq!(result("%r = tensor.clamp %s, %n, %x"), "tensor<4x8xf32>");
}

#[test]
fn elementwise_operands_agree() {
    assert_eq!(
        result("%r = tensor.add %x, %t"),
        "`tensor.add`: dimension 0 of `%t` is 8, but dimension 0 of `%x` is 4"
    );
    assert_eq!(
        result("%r = tensor.add %x, %i"),
        "`tensor.add`: `%x` has elements of type f32 and `%i` of type i32; they must agree"
    );
    assert_eq!(
        result("%r = tensor.tanh %i"),
        "operand `x` of `tensor.tanh` must be a tensor of floats or complex numbers, but is a `tensor<4x8xi32>`"
    );
    assert_eq!(
        result("%r = tensor.compare %c, %c {direction = \"LE\"}"),
        "complex numbers are only equal or not equal"
    );
    assert_eq!(
        result("%r = tensor.compare %x, %y {direction = \"le\"}"),
        "attribute `direction` of `tensor.compare` must be \"EQ\", \"NE\", \"LT\", \"LE\", \"GT\" or \"GE\", but is a \
         string"
    );
}

#[test]
fn products_have_batch_then_left_then_right_dimensions() {
    assert_eq!(result("%r = tensor.dot_general %x, %t {contracting = [1] x [0]}"), "tensor<4x4xf32>");
    assert_eq!(result("%r = tensor.dot_general %x, %t {contracting = [] x []}"), "tensor<4x8x8x4xf32>");
    assert_eq!(
        result("%r = tensor.dot_general %n, %x {batch = [0] x [0], contracting = [1] x [1]}"),
        "tensor<4xf32>"
    );
    assert_eq!(result("%r = tensor.dot_general %n, %t {contracting = [1] x [0]}"), "tensor<{n}x4xf32>");
    assert_eq!(
        result("%r = tensor.dot_general %x, %y {contracting = [1] x [0]}"),
        "`tensor.dot_general`: dimension 0 of `%y` is 4, but dimension 1 of `%x` is 8"
    );
    assert_eq!(
        result("%r = tensor.dot_general %x, %y {contracting = [0, 1] x [0]}"),
        "`contracting` names 2 dimensions of the left operand, but 1 of the right"
    );
    assert_eq!(
        result("%r = tensor.dot_general %x, %y {batch = [0] x [0], contracting = [0] x [0]}"),
        "dimension 0 of `%x` and 0 of `%y` cannot be in `batch` and in `contracting`"
    );
}

#[test]
fn layouts() {
    assert_eq!(result("%r = tensor.transpose %n {permutation = [1, 0]}"), "tensor<8x{n}xf32>");
    assert_eq!(
        result("%r = tensor.slice %x {limit = [4, 7], start = [1, 0], stride = [1, 3]}"),
        "tensor<3x3xf32>"
    );
    assert_eq!(result("%r = tensor.concatenate %x, %n {dimension = 0}"), "tensor<?x8xf32>");
    assert_eq!(result("%r = tensor.concatenate %x, %y, %x {dimension = 1}"), "tensor<4x24xf32>");
    assert_eq!(result("%r = tensor.reshape %x : tensor<2x16xf32>"), "tensor<2x16xf32>");
    assert_eq!(result("%r = tensor.reshape %n : tensor<{n}x2x4xf32>"), "tensor<{n}x2x4xf32>");
    assert_eq!(
        result("%r = tensor.broadcast_in_dim %x {dimensions = [2, 0]} : tensor<8x3x4xf32>"),
        "tensor<8x3x4xf32>"
    );
}

#[test]
fn reductions_drop_dimensions() {
    let body = "({ ^body(%a: tensor<f32>, %b: tensor<f32>):
             %sum = tensor.add %a, %b
             tensor.yield %sum
           })";
    assert_eq!(result(&format!("%r = tensor.reduce %n, %s {{dimensions = [1]}} {body}")), "tensor<{n}xf32>");
    assert_eq!(result(&format!("%r = tensor.reduce %x, %s {{dimensions = [0, 1]}} {body}")), "tensor<f32>");
    assert_eq!(
        result(&format!("%r = tensor.reduce %x, %y {{dimensions = [1]}} {body}")),
        "`tensor.reduce`: `%y` must have no dimensions, but has 2 dimensions"
    );
}

#[test]
fn builders_check_what_they_build() {
    use tofu_dialect_tensor as tensor;
    use tofu_ir::{Builder, ElementType, Module};

    let registry = Registry::new(&[&tofu_dialect_func::DIALECT, &tensor::DIALECT]).unwrap();
    let mut module = Module::new(Arc::new(registry));
    let (matrix, scalar) =
        (module.interner.tensor(&[4, 8], ElementType::F32), module.interner.tensor(&[], ElementType::F32));
    let row = module.interner.tensor(&[8], ElementType::F32);
    let (_, block) = tofu_dialect_func::build_function(&mut module, "f", &[matrix, scalar], &[]);
    let (x, s) = (module.arguments(block)[0], module.arguments(block)[1]);
    let mut builder = Builder::at_end(&mut module, block);
    assert_eq!(tensor::reshape(&mut builder, x, row).unwrap_err().code.id, "T0214");
    assert_eq!(tensor::broadcast_in_dim(&mut builder, x, row, &[0, 0]).unwrap_err().code.id, "T0217");
    assert_eq!(tensor::iota(&mut builder, row, 1).unwrap_err().code.id, "T0217");
    assert_eq!(tensor::add(&mut builder, x, s).unwrap_err().code.id, "T0225");
    let wrong = tensor::reduce(&mut builder, &[x], &[s], &[1], |_, _| Ok(vec![x]));
    assert_eq!(wrong.unwrap_err().code.id, "T0226");
    let sums = tensor::reduce(&mut builder, &[x], &[s], &[0], |builder, arguments| {
        Ok(vec![tensor::add(builder, arguments[0], arguments[1])?])
    });
    let sums = sums.unwrap();
    tofu_dialect_func::build_return(&mut builder, []);
    assert_eq!(module.ty(sums[0]), row);
    // Only the reduction and the return are there.
    assert_eq!(module.ops(block).count(), 2);
    assert!(tofu_ir::verify(&module).is_empty());
}

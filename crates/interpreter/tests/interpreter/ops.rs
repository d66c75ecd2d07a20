//! The ops of the tensor dialect: how they are described decides how fast they are.

use tofu_ir::{Module, OpId, TensorType};
use tofu_tdl::{Describe, OpaqueRegistry, Tensor};

use fastrand::Rng;
use tofu_interpreter::Kernel;

use crate::support::{check, draw, program};

/// The stages of the kernel of the last op but the return, which gives what the evaluator gives.
fn stages(arguments: &str, ops: &str) -> String {
    let (_, module) = program(&format!("func @main({arguments}) {{\n{ops}\nreturn\n}}"));
    let is_described = |&op: &OpId| module.def(op).interface::<Describe>().is_some();
    let parent = |module: &Module, op| {
        module.parent(op).is_some_and(|around| module.parent(around) == Some(module.root()))
    };
    let op =
        module.walk(module.root()).filter(is_described).filter(|&op| parent(&module, op)).last().unwrap();
    let describe = module.def(op).interface::<Describe>().unwrap();
    let description = (describe.0)(&module, op).unwrap();
    let types: Vec<TensorType> =
        module.operands(op).map(|operand| module.tensor_type(operand).unwrap().clone()).collect();
    let mut random = Rng::with_seed(3);
    let operands: Vec<Tensor> =
        types.iter().map(|ty| draw(ty.element, &ty.static_dims().unwrap(), false, &mut random)).collect();
    check(&description, &operands);
    format!("{:?}", Kernel::new(&description, &types, &OpaqueRegistry::builtin()).unwrap())
}

const ADD: &str = "^body(%a: tensor<f32>, %b: tensor<f32>):\n%c = tensor.add %a, %b\ntensor.yield %c";

#[test]
fn products_are_contracted() {
    let xy = "%x: tensor<20x30xf32>, %y: tensor<30x40xf32>";
    assert_eq!(stages(xy, "%r = tensor.dot_general %x, %y {contracting = [1] x [0]}"), "Kernel [Contract]");
    let narrow = xy.replace("f32", "bf16");
    assert_eq!(
        stages(&narrow, "%r = tensor.dot_general %x, %y {contracting = [1] x [0]}"),
        "Kernel [Contract, Map]"
    );
    let image = "%x: tensor<2x9x9x5xf32>, %f: tensor<3x3x5x8xf32>";
    for window in [
        "padding = [1, 1] x [1, 1]",
        "window_strides = [2, 2]",
        "padding = [2, 0] x [0, 2], lhs_dilation = [2, 1], rhs_dilation = [1, 2], window_reversal = [1, 0]",
    ] {
        let op = format!("%r = tensor.convolution %x, %f {{dimensions = \"b01f_01io->b01f\", {window}}}");
        assert_eq!(stages(image, &op), "Kernel [Contract]", "{window}");
    }
}

#[test]
fn only_what_updates_name_is_touched() {
    let arguments = "%x: tensor<9x4xf32>, %at: tensor<30x1xi32>, %u: tensor<30x4xf32>";
    let dimensions = "{index_vector_dim = 1, inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], \
                      update_window_dims = [1]}";
    let with = |body: &str| {
        stages(arguments, &format!("%r = tensor.scatter %x, %at, %u {dimensions} ({{\n{body}\n}})"))
    };
    let add = with(ADD);
    assert!(add.contains("Scatter"), "{add}");
    let set = with("^body(%a: tensor<f32>, %b: tensor<f32>):\ntensor.yield %b");
    assert!(set.contains("Update"), "{set}");
    let max = with(&ADD.replace("tensor.add", "tensor.maximum"));
    assert!(max.contains("Scatter"), "{max}");
}

#[test]
fn sums_run_along_rows() {
    let sum = |dimensions: &str| {
        let op = format!(
            "%s = tensor.constant dense<0.0> : tensor<f32>\n%r = tensor.reduce %x, %s {{dimensions = {dimensions}}} ({{\n{ADD}\n}})"
        );
        stages("%x: tensor<90x70xf32>", &op)
    };
    assert_eq!(sum("[1]"), "Kernel [Map, Fold]");
    assert_eq!(sum("[0]"), "Kernel [Map]");
    assert_eq!(sum("[0, 1]"), "Kernel [Map, Fold]");
}

//! The dialect `example`, with one op.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{AttrClass, AttrData, Dialect, ElementType, Module, OpDef, OpId, Trait, op, required, tensor};

/// `example.scale`: every element times a constant.
pub(crate) static SCALE: OpDef = op("example.scale")
    .summary("Every element times the constant `factor`.")
    .example("%r = example.scale %x {factor = 0.5}")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .attributes(&[required("factor", F64)])
    .traits(&[Trait::Pure])
    .infer_types(|module, op| Ok(vec![module.value_type(module.operand(op, 0)).clone()]))
    .verify(verify_scale);

const F64: AttrClass = AttrClass {
    name: "a number such as `0.5`",
    contains: |module, attr| matches!(module.attr_data(attr), AttrData::Float(_, ElementType::F64)),
};

/// The dialect.
pub(crate) static DIALECT: Dialect = Dialect {
    name: "example",
    summary: "What the tutorial adds to Tofu.",
    ops: &[&SCALE],
    types: &[],
    attributes: &[],
    constant: None,
};

/// The constant that an [`SCALE`] multiplies with.
pub(crate) fn factor(module: &Module, op: OpId) -> f64 {
    match module.attr_value(op, "factor") {
        Some(AttrData::Float(bits, _)) => f64::from_bits(*bits),
        _ => f64::NAN,
    }
}

fn verify_scale(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let is_float = module.tensor_type(module.operand(op, 0)).is_some_and(|tensor| tensor.element.is_float());
    if !is_float {
        let message = "`example.scale` scales floats only";
        found.push(Diagnostic::error(&codes::WRONG_OPERAND_TYPE, module.operand_span(op, 0), message));
    }
}

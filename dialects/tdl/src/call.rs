//! `tdl.call`.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{
    Builder, Module, OpDef, OpId, SYMBOL, SYMBOL_NAME, Syntax, Trait, TypeData, ValueId, op, required, tensor,
};
use tofu_tdl::{Describe, Description};

use crate::operator::{OPERATOR, description};

/// The attribute that says which operator is called.
pub const CALLEE: &str = "callee";

/// `%y = tdl.call @f(%x)`: the results of an operator that the program describes.
pub static CALL: OpDef = op("tdl.call")
    .summary("Applies an operator that the program describes.")
    .example(
        "tdl @scale(x: [N], factor: []) -> [N] {\n  out[n] = x[n] * factor[]\n}\n\
         func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {\n  %two = tensor.constant dense<2.0> : tensor<f32>\n  \
         %y = tdl.call @scale(%x, %two)\n  return %y\n}",
    )
    .operands(&[tensor("operands").variadic()])
    .results(&[tensor("results").variadic()])
    .attributes(&[required(CALLEE, SYMBOL)])
    .syntax(Syntax::Symbol(CALLEE))
    .traits(&[Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe)]);

/// Adds a call of an operator of the program.
///
/// # Errors
/// When there is no such operator, or it takes other operands.
pub fn build_call(
    builder: &mut Builder<'_>,
    callee: &str,
    operands: impl IntoIterator<Item = ValueId>,
) -> Result<OpId, Diagnostic> {
    let callee = builder.module.interner.symbol(callee);
    builder.op(&CALL).operands(operands).attr(CALLEE, callee).infer()
}

fn describe(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let operator = operator(module, op)?;
    match &*description(module, operator) {
        Ok(description) => Ok(description.clone()),
        Err(found) => Err(found.first().cloned().unwrap_or_else(|| {
            module.error(operator, &codes::TDL_MISSING_DEFINITION, "the operator has no description")
        })),
    }
}

fn infer_types(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let operator = operator(module, op)?;
    if description(module, operator).is_err() {
        // What is wrong with the description is said of the operator.
        return Ok(vec![TypeData::Error; module.result_count(op)]);
    }
    tofu_tdl::infer_types(module, op).map_err(|diagnostic| {
        diagnostic.secondary(module.attr_span(operator, SYMBOL_NAME), "the operator is described here")
    })
}

/// The [`OPERATOR`] that a [`CALL`] calls.
fn operator(module: &Module, call: OpId) -> Result<OpId, Diagnostic> {
    let name = module.attr(call, CALLEE).map_or(String::new(), |name| module.display_attr(name).to_string());
    let place = module.attr_span(call, CALLEE);
    let target = module
        .symbol_target(call, CALLEE)
        .ok_or_else(|| Diagnostic::error(&codes::UNDEFINED_SYMBOL, place, format!("there is no `{name}`")))?;
    if module.is(target, &OPERATOR) {
        return Ok(target);
    }
    let message = format!("`{name}` is no operator");
    Err(Diagnostic::error(&codes::WRONG_SIGNATURE, place, message)
        .secondary(module.span(target), "it is defined here"))
}

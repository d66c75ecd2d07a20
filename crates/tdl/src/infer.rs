//! The types of an op, by its description: what its definition infers and verifies.

use tofu_diagnostics::{Code, Diagnostic, Span, codes};
use tofu_ir::{Dim, Module, OpId, TensorType, TypeData, ValueId};

use crate::describe::{Describe, Undescribed};
use crate::description::Description;
use crate::shape::{Mismatch, Solution, Value, given_by_results, solve_named};

/// The description of an op, by its interface [`Describe`].
///
/// # Errors
///
/// It has none, or what the op says makes none.
pub fn describe(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    if let Some(Describe(describe)) = module.def(op).interface() {
        return describe(module, op);
    }
    let reason = module.def(op).interface().map(|Undescribed(reason)| format!(": {reason}"));
    let name = module.def(op).written_name();
    let message = format!("`{name}` has no description{}", reason.unwrap_or_default());
    Err(module.error(op, &codes::TDL_MISSING_DEFINITION, message))
}

/// The result types of an op that has a description, for [`OpDef::infer_types`](tofu_ir::OpDef::infer_types).
///
/// # Errors
///
/// The op has no description, an operand is no tensor, or the operands do not fit the description.
pub fn infer_types(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let description = describe(module, op)?;
    let solution = solve_op(module, op, &description, &[])?;
    if solution.extents.contains(&Dim::Unknown) && !given_by_results(&description).is_empty() {
        let message = format!("the result types of `{}` must be written", module.def(op).written_name());
        return Err(module.error(op, &codes::CANNOT_INFER_TYPE, message));
    }
    Ok(solution.results.into_iter().map(TypeData::Tensor).collect())
}

/// Checks operands and written results of an op against its description, for
/// [`OpDef::verify`](tofu_ir::OpDef::verify).
pub fn verify_types(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let results: Result<Vec<TensorType>, Diagnostic> = (0..module.result_count(op))
        .map(|number| tensor_type(module, op, Value::Result(number)).cloned())
        .collect();
    let solved =
        results.and_then(|results| solve_op(module, op, &describe(module, op)?, &results).map(|_| ()));
    found.extend(solved.err());
}

fn solve_op(
    module: &Module,
    op: OpId,
    description: &Description,
    results: &[TensorType],
) -> Result<Solution, Diagnostic> {
    let operands = (0..module.operand_count(op))
        .map(|number| tensor_type(module, op, Value::Operand(number)).cloned())
        .collect::<Result<Vec<TensorType>, Diagnostic>>()?;
    let names = |value: Value| match value {
        Value::Operand(_) => module.quoted_value(value_of(module, op, value)),
        Value::Result(0) if module.result_count(op) == 1 => "the result".to_owned(),
        Value::Result(number) => format!("result {number}"),
    };
    solve_named(description, &operands, results, &names).map_err(|mismatch| diagnostic(module, op, &mismatch))
}

fn tensor_type(module: &Module, op: OpId, value: Value) -> Result<&TensorType, Diagnostic> {
    let own = value_of(module, op, value);
    module.tensor_type(own).ok_or_else(|| {
        let message = format!(
            "`{}` {} tensors, but {} is a `{}`",
            module.def(op).name,
            if matches!(value, Value::Operand(_)) { "takes" } else { "gives" },
            module.quoted_value(own),
            module.type_text(module.ty(own))
        );
        Diagnostic::error(code(value, &codes::WRONG_OPERAND_TYPE), place(module, op, value), message)
    })
}

/// A mismatch at its place in the program, with the types of the values that do not fit.
fn diagnostic(module: &Module, op: OpId, mismatch: &Mismatch) -> Diagnostic {
    let own = if mismatch.code == codes::SHAPE_MISMATCH.id {
        &codes::SHAPE_MISMATCH
    } else {
        &codes::WRONG_OPERAND_TYPE
    };
    let message = format!("`{}`: {}", module.def(op).name, mismatch.message);
    // Operands stand as they are; it is the result that must follow them.
    let (value, other) = match (mismatch.value, mismatch.other) {
        (Some(value @ Value::Operand(_)), Some(other @ Value::Result(_))) => (Some(other), Some(value)),
        pair => pair,
    };
    let Some(value) = value else { return module.error(op, own, message) };
    let ty = |value: Value| format!("`{}`", module.type_text(module.ty(value_of(module, op, value))));
    let error = Diagnostic::error(code(value, own), place(module, op, value), message).label(ty(value));
    match other {
        Some(other) => error.secondary(place(module, op, other), ty(other)),
        None => error,
    }
}

fn code(value: Value, operand: &'static Code) -> &'static Code {
    match value {
        Value::Operand(_) => operand,
        Value::Result(_) => &codes::WRONG_RESULT_TYPE,
    }
}

fn value_of(module: &Module, op: OpId, value: Value) -> ValueId {
    match value {
        Value::Operand(number) => module.operand(op, number),
        Value::Result(number) => module.result(op, number),
    }
}

fn place(module: &Module, op: OpId, value: Value) -> Span {
    match value {
        Value::Operand(number) => module.operand_span(op, number),
        Value::Result(_) => module.value_span(value_of(module, op, value)),
    }
}

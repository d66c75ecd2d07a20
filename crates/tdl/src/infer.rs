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

/// The result types of an op that has a description, for [`OpDef::infer_types`](tofu_ir::OpDef::infer_types). Extents
/// that do not follow from the operands are those of the written results.
///
/// # Errors
///
/// The op has no description, an operand is no tensor, the operands do not fit the description, or extents follow only
/// from results that are not written.
pub fn infer_types(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let description = describe(module, op)?;
    let needs_results = !given_by_results(&description).is_empty();
    let written: Option<Vec<TensorType>> =
        module.results(op).map(|result| module.tensor_type(result).cloned()).collect();
    let written = written.filter(|written| needs_results && written.len() == description.results().len());
    let written_types = written.as_deref().unwrap_or_default();
    let solution = solve_op_as(module, op, &description, &operand_types(module, op)?, written_types)?;
    if needs_results && written.is_none() && solution.extents.contains(&Dim::Unknown) {
        let message = format!("the result types of `{}` must be written", module.def(op).written_name());
        return Err(module.error(op, &codes::CANNOT_INFER_TYPE, message));
    }
    Ok(solution.results.into_iter().map(TypeData::Tensor).collect())
}

/// Checks operands and written results of an op against its description, for
/// [`OpDef::verify`](tofu_ir::OpDef::verify).
pub fn verify_types(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    found.extend(describe(module, op).and_then(|description| solve_op(module, op, &description)).err());
}

/// All that follows from the types of an op's operands and results, by its description.
///
/// # Errors
///
/// An operand or a result is no tensor, or they do not fit the description: both places of a disagreement.
pub fn solve_op(module: &Module, op: OpId, description: &Description) -> Result<Solution, Diagnostic> {
    solve_op_as(module, op, description, &operand_types(module, op)?, &result_types(module, op)?)
}

/// [`solve_op`] with types that are known better than they are written, or only in part: no results are taken as
/// results of which nothing is known.
///
/// # Errors
///
/// They do not fit the description: both places of a disagreement.
pub fn solve_op_as(
    module: &Module,
    op: OpId,
    description: &Description,
    operands: &[TensorType],
    results: &[TensorType],
) -> Result<Solution, Diagnostic> {
    let names = |value: Value| match value {
        Value::Operand(_) => module.quoted_value(value_of(module, op, value)),
        Value::Result(0) if module.result_count(op) == 1 => "the result".to_owned(),
        Value::Result(number) => format!("result {number}"),
    };
    solve_named(description, operands, results, &names).map_err(|mismatch| diagnostic(module, op, &mismatch))
}

fn operand_types(module: &Module, op: OpId) -> Result<Vec<TensorType>, Diagnostic> {
    (0..module.operand_count(op))
        .map(|number| tensor_type(module, op, Value::Operand(number)).cloned())
        .collect()
}

fn result_types(module: &Module, op: OpId) -> Result<Vec<TensorType>, Diagnostic> {
    (0..module.result_count(op))
        .map(|number| tensor_type(module, op, Value::Result(number)).cloned())
        .collect()
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

//! Shapes and element types: what the operands say about extents, and what follows for results and operands.
//!
//! Every dimension of an operand (and of a result, where it is known already) is an equation between its expression
//! and its actual extent; so is every condition. Equations in which one extent is left and stands alone give that
//! extent; the others are checked. Known extents count before symbols, symbols before `?`. The same equations work
//! forward and backward.

mod magnitude;
mod solver;

use smallvec::SmallVec;
use tofu_diagnostics::{Code, Diagnostic, Span, codes, plural};
use tofu_ir::{Dim, ElementType, EntityId, TensorType};

use crate::check::instance_error;
use crate::description::*;
use crate::print::{condition_text, type_text};
use solver::{Conflict, Origin, Solver};

pub use crate::check::resolve;

/// What follows from the types of operands and results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// The element types that the type parameters stand for.
    pub types: Vec<ElementType>,
    /// The extents of the description, in its order.
    pub extents: Vec<Dim>,
    /// The types of the operands, with every extent that follows.
    pub operands: Vec<TensorType>,
    /// The types of the results.
    pub results: Vec<TensorType>,
    /// Pairs of extents that must turn out to be equal.
    pub assumptions: Vec<(Dim, Dim)>,
}

impl Solution {
    /// The extents, if all are known.
    pub fn static_extents(&self) -> Option<Vec<u64>> {
        self.extents.iter().map(|extent| extent.size()).collect()
    }
}

/// Why types do not fit a description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The kind of diagnostic.
    pub code: &'static str,
    /// What is wrong, with the names of the operands.
    pub message: String,
    /// The operand or result that is wrong, as far as it is one.
    pub value: Option<Value>,
    /// The other one that it disagrees with.
    pub other: Option<Value>,
    /// Where in the description's text it shows.
    pub span: Span,
}

/// A value that an op takes or gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// The operand of this number.
    Operand(usize),
    /// The result of this number.
    Result(usize),
}

impl Mismatch {
    /// The diagnostic for an op at `span`.
    pub fn diagnostic(&self, span: Span) -> Diagnostic {
        let code: &'static Code = codes::find(self.code).unwrap_or(&codes::SHAPE_MISMATCH);
        let diagnostic = Diagnostic::error(code, span, self.message.clone());
        if self.span.is_none() { diagnostic } else { diagnostic.secondary(self.span, "described here") }
    }
}

/// Result types from operand types.
///
/// # Errors
///
/// The operands disagree with the description or with each other.
pub fn solve(description: &Description, operands: &[TensorType]) -> Result<Solution, Mismatch> {
    solve_with_results(description, operands, &[])
}

/// All that follows from the types of operands and those of the results that are known already.
///
/// # Errors
///
/// The types disagree with the description or with each other, or an element type does not follow.
pub fn solve_with_results(
    description: &Description,
    operands: &[TensorType],
    results: &[TensorType],
) -> Result<Solution, Mismatch> {
    let data = description.data();
    let names = |value: Value| match value {
        Value::Operand(number) => format!("`{}`", data.parameters[number].name),
        Value::Result(number) => format!("the result `{}`", data.results[number].name),
    };
    solve_named(description, operands, results, &names)
        .map_err(|mismatch| Mismatch { message: format!("@{}: {}", data.name, mismatch.message), ..mismatch })
}

/// How messages name operands and results.
pub(crate) type Names<'a> = &'a dyn Fn(Value) -> String;

/// [`solve_with_results`] with messages that name values in another way, and not the description.
pub(crate) fn solve_named(
    description: &Description,
    operands: &[TensorType],
    results: &[TensorType],
    names: Names<'_>,
) -> Result<Solution, Mismatch> {
    let data = description.data();
    arity(description, operands, results, names)?;
    let types = element_types(description, operands, results, names)?;
    let mut solver = Solver::new(data, names);
    for (number, (operand, parameter)) in operands.iter().zip(&data.parameters).enumerate() {
        for (dimension, (&actual, &expected)) in operand.dims.iter().zip(&parameter.dims).enumerate() {
            solver.dimension(expected, actual, Origin::Operand(number, dimension));
        }
    }
    for (number, (result, declared)) in results.iter().zip(&data.results).enumerate() {
        for (dimension, (&actual, &expected)) in result.dims.iter().zip(&declared.dims).enumerate() {
            solver.dimension(expected, actual, Origin::Result(number, dimension));
        }
    }
    solver.solve().map_err(|conflict| Mismatch {
        code: codes::SHAPE_MISMATCH.id,
        message: conflict.message,
        value: conflict.value,
        other: conflict.other,
        span: description.spans().whole,
    })?;
    let mut tensor = |dims: &[IndexId], ty: TypeRef| TensorType {
        dims: dims.iter().map(|&dim| solver.size(dim)).collect::<SmallVec<_>>(),
        element: resolve(ty, &types),
    };
    let operands = data.parameters.iter().map(|parameter| tensor(&parameter.dims, parameter.ty)).collect();
    let results = data.results.iter().map(|result| tensor(&result.dims, result.ty)).collect();
    let extents = solver.extents();
    let known: Option<Vec<i64>> = extents.iter().map(|extent| i64::try_from(extent.size()?).ok()).collect();
    if let Some(known) = known {
        check_sizes(description, &known, names)?;
    }
    Ok(Solution { extents, assumptions: solver.assumptions(), types, operands, results })
}

/// Whether known extents make results that exist, and indices that can be computed.
fn check_sizes(description: &Description, extents: &[i64], names: Names<'_>) -> Result<(), Mismatch> {
    let data = description.data();
    let mismatch = |message: String, value: Option<Value>, span: Span| Mismatch {
        code: codes::SHAPE_MISMATCH.id,
        message,
        value,
        other: None,
        span,
    };
    for (number, result) in data.results.iter().enumerate() {
        for (dimension, &dim) in result.dims.iter().enumerate() {
            let size = crate::evaluate::eval_extent(data, dim, extents);
            if size.is_none_or(|size| size < 0) {
                let value = Value::Result(number);
                let size = size.map_or("beyond 64 bits".to_owned(), |size| size.to_string());
                let message = format!("dimension {dimension} of {} would be {size}", names(value));
                return Err(mismatch(message, Some(value), description.spans().whole));
            }
        }
    }
    match magnitude::too_large(data, extents) {
        None => Ok(()),
        Some(index) => {
            let span = description.spans().indices.get(index.index()).copied().unwrap_or(Span::NONE);
            Err(mismatch("for these extents an index passes 2^62".to_owned(), None, span))
        }
    }
}

/// The extents of the operands, for extents of the description in its order; `None` if one is negative or too large.
pub fn operand_dims(description: &Description, extents: &[u64]) -> Option<Vec<Vec<u64>>> {
    let data = description.data();
    let extents = crate::region::signed(extents);
    let size = |&dim: &IndexId| u64::try_from(crate::evaluate::eval_extent(data, dim, &extents)?).ok();
    data.parameters.iter().map(|parameter| parameter.dims.iter().map(size).collect()).collect()
}

/// Conditions that no extents satisfy; or else, extents that do not follow when all operands and results are known.
pub(crate) fn undetermined(description: &Description) -> Vec<Diagnostic> {
    let data = description.data();
    let spans = description.spans();
    let unsolved = match unsolved(data, true) {
        Ok(unsolved) => unsolved,
        // Where values may have any extents, only conditions can disagree.
        Err(conflict) => {
            let (message, span) = match conflict.condition {
                Some(number) => {
                    let text = condition_text(data, data.conditions[number]);
                    (format!("no extents satisfy `{text}`"), spans.conditions[number])
                }
                None => (conflict.message, Span::NONE),
            };
            return vec![Diagnostic::error(&codes::TDL_UNSATISFIABLE, span.or(spans.whole), message)];
        }
    };
    unsolved
        .into_iter()
        .map(|extent| {
            let message =
                format!("the extent `{extent}` follows neither from the operands nor from the results");
            let error = Diagnostic::error(&codes::TDL_UNSOLVED_EXTENT, spans.whole, message);
            error.help(format!("say what it is: `where {extent} = …`"))
        })
        .collect()
}

/// The extents that do not follow when all operands are known, so that the types of results must be given.
pub(crate) fn given_by_results(description: &Description) -> Vec<&str> {
    unsolved(description.data(), false).unwrap_or_default()
}

/// The extents that do not follow when all operands are known and, perhaps, all results.
fn unsolved(data: &Data, with_results: bool) -> Result<Vec<&str>, Conflict> {
    let mut solver = Solver::new(data, &|_| String::new());
    for (number, parameter) in data.parameters.iter().enumerate() {
        for (dimension, &expected) in parameter.dims.iter().enumerate() {
            solver.dimension(expected, Dim::Unknown, Origin::Operand(number, dimension));
        }
    }
    for (number, result) in data.results.iter().enumerate().filter(|_| with_results) {
        for (dimension, &expected) in result.dims.iter().enumerate() {
            solver.dimension(expected, Dim::Unknown, Origin::Result(number, dimension));
        }
    }
    solver.solve()?;
    Ok(solver.unsolved())
}

fn arity(
    description: &Description,
    operands: &[TensorType],
    results: &[TensorType],
    names: Names<'_>,
) -> Result<(), Mismatch> {
    let data = description.data();
    let mismatch = |message: String, value: Option<Value>| Mismatch {
        code: codes::SHAPE_MISMATCH.id,
        message,
        value,
        other: None,
        span: description.spans().whole,
    };
    if operands.len() != data.parameters.len() || (!results.is_empty() && results.len() != data.results.len())
    {
        let message = format!(
            "there are {} operands and {} results, not {} and {}",
            data.parameters.len(),
            data.results.len(),
            operands.len(),
            results.len()
        );
        return Err(mismatch(message, None));
    }
    let operands = operands.iter().zip(&data.parameters).map(|(own, parameter)| (own, &parameter.dims));
    let results = results.iter().zip(&data.results).map(|(own, result)| (own, &result.dims));
    let values = (operands.enumerate().map(|(number, pair)| (Value::Operand(number), pair)))
        .chain(results.enumerate().map(|(number, pair)| (Value::Result(number), pair)));
    for (value, (own, wanted)) in values {
        if own.rank() != wanted.len() {
            let (wanted, own) = (plural(wanted.len(), "dimension"), plural(own.rank(), "dimension"));
            let message = format!("{} must have {wanted}, but has {own}", names(value));
            return Err(mismatch(message, Some(value)));
        }
    }
    Ok(())
}

fn element_types(
    description: &Description,
    operands: &[TensorType],
    results: &[TensorType],
    names: Names<'_>,
) -> Result<Vec<ElementType>, Mismatch> {
    let data = description.data();
    let given: Vec<(TypeRef, ElementType, Value)> = (operands.iter().zip(&data.parameters).enumerate())
        .map(|(number, (operand, parameter))| (parameter.ty, operand.element, Value::Operand(number)))
        .chain(
            (results.iter().zip(&data.results).enumerate())
                .map(|(number, (own, result))| (result.ty, own.element, Value::Result(number))),
        )
        .collect();
    let whole = description.spans().whole;
    let mismatch = |message: String, value: Option<Value>, other: Option<Value>, span: Span| Mismatch {
        code: codes::TDL_TYPE.id,
        message,
        value,
        other,
        span,
    };
    let mut bound: Vec<Option<(ElementType, Value)>> = vec![None; data.types.len()];
    for &(ty, element, value) in &given {
        let TypeRef::Param(number) = ty else { continue };
        match bound[number as usize] {
            None => bound[number as usize] = Some((element, value)),
            Some((first, other)) if first != element => {
                let message = format!(
                    "{} has elements of type {first} and {} of type {element}; they must agree",
                    names(other),
                    names(value)
                );
                return Err(mismatch(message, Some(value), Some(other), whole));
            }
            Some(_) => {}
        }
    }
    let mut types = Vec::new();
    for (param, bound) in data.types.iter().zip(&bound) {
        let Some((element, _)) = bound else {
            let message = format!("the element type `{}` does not follow from the operands", param.name);
            return Err(mismatch(message, None, None, whole));
        };
        types.push(*element);
    }
    for &(ty, element, value) in &given {
        let wanted = resolve(ty, &types);
        if wanted != element {
            let wanted = if matches!(ty, TypeRef::Concrete(_)) {
                wanted.name().to_owned()
            } else {
                format!("{} ({})", type_text(data, ty), wanted)
            };
            let message = format!("{} must have elements of type {wanted}, but has {element}", names(value));
            return Err(mismatch(message, Some(value), None, whole));
        }
    }
    match instance_error(description, &types) {
        None => Ok(types),
        Some((error, param)) => {
            let value = param.and_then(|param| bound[param as usize]).map(|(_, value)| value);
            Err(mismatch(error.message, value, None, error.primary.span))
        }
    }
}

//! Reference execution: the elements of the results, one after the other, as the description says.
//!
//! A definition is compiled for the actual extents and element types into a tree of steps over numbered registers
//! (`compile.rs`), which `run.rs` walks for every element. Intermediate tensors are computed first, in their order.
//! Reductions run in row-major order of their variables. Nothing is approximated and nothing is reordered.

mod combine;
mod compile;
mod program;
mod run;
mod tensor;

use tofu_ir::{Dim, TensorType};

use crate::description::*;
use crate::opaque::OpaqueRegistry;
use crate::shape;
pub use combine::combine_partials;
pub use compile::eval_extent;
pub use tensor::Tensor;

/// Why something could not be evaluated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EvaluateError(pub String);

impl std::fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EvaluateError {}

/// Which elements of the operands were read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// For each operand, whether each element was read, row-major.
    pub operands: Vec<Vec<bool>>,
}

/// The part of the index space that is evaluated; whatever is not named is evaluated over its whole range.
///
/// The results of parts that cover the whole make up the whole: along the variables of results they are concatenated,
/// along those of reductions combined by the reducer. What is combined with such a reduction afterwards, `b[]` in
/// `b[] + sum(i) x[i]`, must then be left out of all parts but one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Part {
    /// Index variables of results, with the first value and the number of values.
    pub outputs: Vec<(VarId, u64, u64)>,
    /// Index variables of reductions, likewise.
    pub reductions: Vec<(ReductionId, VarId, u64, u64)>,
    /// Sums `a + b`, and which of `a` and `b` is left out: it is not computed, and 0 stands in its place. Likewise
    /// differences, products, `max`, `min`, `and` and `or`, each with what its reducer gives of nothing; and the branches
    /// of `if … then a else b`, with 0.
    pub left_out: Vec<(ScalarId, ScalarId)>,
    /// What is given after the results.
    pub carried: Vec<Carried>,
}

/// A value that a combiner carries along with a result, without being a result itself: the place of the greatest
/// element, where only that is wanted, comes with the element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// The number of the result. They have the same extents, and are combined together.
    pub result: usize,
    /// The reduction.
    pub reduction: ReductionId,
    /// Which of the values that its combiner carries this is.
    pub component: u32,
}

impl Carried {
    /// The type of its elements.
    pub fn element(&self, data: &Data) -> TypeRef {
        match data.reduction(self.reduction).reducer {
            Reducer::Custom(combiner) => data.combiner(combiner).types[self.component as usize],
            _ => data.scalar_type(data.reduction(self.reduction).bodies[0]),
        }
    }
}

impl Part {
    /// Whether an operand of a function of two values is left out.
    pub(crate) fn leaves_out(&self, of: ScalarId, operand: ScalarId) -> bool {
        self.left_out.contains(&(of, operand))
    }

    /// The operands of a function of two values, or the branches of a choice, that are not left out.
    pub(crate) fn kept(&self, of: ScalarId, operands: [ScalarId; 2]) -> impl Iterator<Item = ScalarId> {
        operands.into_iter().filter(move |&operand| !self.leaves_out(of, operand))
    }
}

/// Computes the results of whole operands.
///
/// # Errors
///
/// The operands do not fit the description, a data-dependent index lies outside its tensor, an opaque function is
/// missing or fails, or memory does not suffice.
pub fn evaluate(
    description: &Description,
    operands: &[Tensor],
    registry: &OpaqueRegistry,
) -> Result<Vec<Tensor>, EvaluateError> {
    evaluate_part(description, operands, registry, &Part::default(), None)
}

/// Computes a part of the results: tensors of the part's extents, and after them what is carried along. With a trace it notes every element that is read.
///
/// # Errors
///
/// As [`evaluate`].
pub fn evaluate_part(
    description: &Description,
    operands: &[Tensor],
    registry: &OpaqueRegistry,
    part: &Part,
    trace: Option<&mut Trace>,
) -> Result<Vec<Tensor>, EvaluateError> {
    let types: Vec<TensorType> = operands.iter().map(Tensor::ty).collect();
    let solution = shape::solve(description, &types).map_err(|mismatch| EvaluateError(mismatch.message))?;
    let mut extents = Vec::new();
    for (dim, name) in solution.extents.iter().zip(&description.data().extents) {
        match dim {
            Dim::Static(size) => extents.push(*size as i64),
            _ => return Err(EvaluateError(format!("the extent `{name}` is not known"))),
        }
    }
    let context =
        compile::Context { data: description.data(), extents, types: solution.types, registry, part };
    run::run(&context, operands, trace)
}

//! Products summed over contracting dimensions: matrix products of any rank.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{
    AttrData, Builder, INTS_PAIR, Module, OpDef, OpId, TensorType, Trait, TypeData, ValueId, op, optional,
    required, tensor,
};

use crate::classes::NUMBERS;
use crate::shapes::{Dims, dimensions, disagreement, one, operand_type, same_element, wrong_attribute};

/// `tensor.dot_general`: for each pair of elements of the remaining dimensions, the sum of products over the
/// contracting ones. The result has the batch dimensions, then the left operand's remaining ones, then the right's.
pub static DOT_GENERAL: OpDef = op("tensor.dot_general")
    .summary(
        "Products, summed over pairs of contracting dimensions, for each index of pairs of batch dimensions.",
    )
    .example("%r = tensor.dot_general %x, %y {batch = [0] x [0], contracting = [1] x [1]}")
    .operands(&[tensor("left").class(NUMBERS), tensor("right").class(NUMBERS)])
    .results(&[tensor("result")])
    .attributes(&[optional("batch", INTS_PAIR), required("contracting", INTS_PAIR)])
    .traits(&[Trait::Pure])
    .infer_types(infer_dot_general);

/// Adds a [`DOT_GENERAL`] that sums over `contracting`, for each index of `batch`: dimensions of the left and of the
/// right operand.
///
/// # Errors
/// When operands and dimensions do not fit.
pub fn dot_general(
    builder: &mut Builder<'_>,
    left: ValueId,
    right: ValueId,
    contracting: (&[i64], &[i64]),
    batch: (&[i64], &[i64]),
) -> Result<ValueId, Diagnostic> {
    let mut pair = |(left, right): (&[i64], &[i64])| {
        let interner = &mut builder.module.interner;
        let (left, right) = (interner.ints(left.iter().copied()), interner.ints(right.iter().copied()));
        interner.attr(AttrData::Pair(left, right))
    };
    let (contracting, batch_attr) = (pair(contracting), pair(batch));
    let mut op = builder.op(&DOT_GENERAL).operands([left, right]).attr("contracting", contracting);
    if !batch.0.is_empty() {
        op = op.attr("batch", batch_attr);
    }
    let op = op.infer()?;
    Ok(builder.module.result(op, 0))
}

fn infer_dot_general(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    same_element(module, op, 0, 1)?;
    let (left, right) = (operand_type(module, op, 0)?, operand_type(module, op, 1)?);
    let batch = pairs(module, op, "batch", left, right)?;
    let contracting = pairs(module, op, "contracting", left, right)?;
    for &(l, r) in batch.iter().chain(&contracting) {
        if !left.dims[l].may_equal(right.dims[r]) {
            let wanted = format!(
                "equal extents in dimension {l} of {} and {r} of {}",
                name(module, op, 0),
                name(module, op, 1)
            );
            return Err(disagreement(module, op, &codes::SHAPE_MISMATCH, &wanted, 0, 1));
        }
    }
    let mut paired = (vec![false; left.rank()], vec![false; right.rank()]);
    for &(l, r) in batch.iter().chain(&contracting) {
        // Each list names a dimension once, so that the second mention is in `contracting`.
        if std::mem::replace(&mut paired.0[l], true) | std::mem::replace(&mut paired.1[r], true) {
            let (left, right) = (name(module, op, 0), name(module, op, 1));
            let message = format!(
                "dimension {l} of {left} and {r} of {right} cannot be in `batch` and in `contracting`"
            );
            return Err(wrong_attribute(module, op, "contracting", message));
        }
    }
    let mut dims: Dims = batch.iter().map(|&(l, r)| left.dims[l].better(right.dims[r])).collect();
    for (ty, paired) in [(left, &paired.0), (right, &paired.1)] {
        dims.extend(ty.dims.iter().zip(paired).filter(|(_, is_paired)| !**is_paired).map(|(&dim, _)| dim));
    }
    Ok(one(TensorType { dims, element: left.element }))
}

fn name(module: &Module, op: OpId, index: usize) -> String {
    module.quoted_value(module.operand(op, index))
}

/// The pairs of dimensions in an attribute; none if it is missing.
fn pairs(
    module: &Module,
    op: OpId,
    name: &str,
    left: &TensorType,
    right: &TensorType,
) -> Result<SmallVec<[(usize, usize); 4]>, Diagnostic> {
    let Some(&AttrData::Pair(l, r)) = module.attr_value(op, name) else { return Ok(SmallVec::new()) };
    let list = |attr| match module.attr_data(attr) {
        AttrData::Ints(list) => &**list,
        _ => &[],
    };
    let (l, r) = (list(l), list(r));
    if l.len() != r.len() {
        let message = format!(
            "`{name}` names {} dimensions of the left operand, but {} of the right",
            l.len(),
            r.len()
        );
        return Err(wrong_attribute(module, op, name, message));
    }
    let l = dimensions(module, op, name, l, left.rank())?;
    let r = dimensions(module, op, name, r, right.rank())?;
    Ok(l.into_iter().zip(r).collect())
}

//! Products summed over contracting dimensions: matrix products of any rank.

use smallvec::SmallVec;
use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    AttrData, Builder, ElementType, INTS_PAIR, Module, OpDef, OpId, TensorType, Trait, ValueId, op, optional,
    required, tensor,
};
use tofu_tdl::{Describe, Description, IndexId, Reducer, TypeRef, infer_types};

use crate::classes::NUMBERS;
use crate::describe::{element, start};
use crate::shapes::{dimensions, holds, operand_type, pair, written_type, wrong_attribute, wrong_result};

/// `tensor.dot_general`: for each pair of elements of the remaining dimensions, the sum of products over the
/// contracting ones. The result has the batch dimensions, then the left operand's remaining ones, then the right's. Its
/// elements may be written as a wider type; the operands' are converted to that then. Floats of less than 32 bits are
/// summed up as `f32`.
pub static DOT_GENERAL: OpDef = op("tensor.dot_general")
    .summary(
        "Products, summed over pairs of contracting dimensions, for each index of pairs of batch dimensions.",
    )
    .example("%r = tensor.dot_general %x, %y {batch = [0] x [0], contracting = [1] x [1]}")
    .operands(&[tensor("left").class(NUMBERS), tensor("right").class(NUMBERS)])
    .results(&[tensor("result")])
    .attributes(&[optional("batch", INTS_PAIR), required("contracting", INTS_PAIR)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_dot_general)]);

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

fn describe_dot_general(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let (left, right) = (operand_type(module, op, 0)?, operand_type(module, op, 1)?);
    let batch = pairs(module, op, "batch", left, right)?;
    let contracting = pairs(module, op, "contracting", left, right)?;
    let mut sides = [vec![None; left.rank()], vec![None; right.rank()]];
    let mut b = start(module, op);
    let t = element(&mut b, "T", left.element);
    let (mut kept, mut contracted) = (Vec::new(), Vec::new());
    for (list, names, vars) in [(&batch, ["B", "b"], &mut kept), (&contracting, ["K", "k"], &mut contracted)]
    {
        for (number, &(l, r)) in list.iter().enumerate() {
            let extent = b.extent(&format!("{}{number}", names[0]));
            let var = b.var(&format!("{}{number}", names[1]), extent);
            vars.push(var);
            // Each list names a dimension once, so that the second mention is in `contracting`.
            let taken = [sides[0][l].replace((var, extent)), sides[1][r].replace((var, extent))];
            if taken.iter().any(Option::is_some) {
                let [left, right] = [0, 1].map(|index| module.quoted_value(module.operand(op, index)));
                let message = format!(
                    "dimension {l} of {left} and {r} of {right} cannot be in `batch` and in `contracting`"
                );
                return Err(wrong_attribute(module, op, "contracting", message));
            }
        }
    }
    for (side, names) in sides.iter_mut().zip([["M", "m"], ["N", "n"]]) {
        for (number, slot) in side.iter_mut().filter(|slot| slot.is_none()).enumerate() {
            let extent = b.extent(&format!("{}{number}", names[0]));
            let var = b.var(&format!("{}{number}", names[1]), extent);
            kept.push(var);
            *slot = Some((var, extent));
        }
    }
    let result = result_element(module, op, left.element, t)?;
    let wide = accumulator(left.element, result);
    let factors = [0, 1].map(|side| {
        let dims: Vec<IndexId> = sides[side].iter().flatten().map(|&(_, extent)| extent).collect();
        let operand = b.operand(["left", "right"][side], t, &dims);
        let at: Vec<IndexId> = sides[side].iter().flatten().map(|&(var, _)| b.index(var)).collect();
        let factor = b.read(operand, &at);
        b.convert(factor, wide)
    });
    let product = b.mul(factors[0], factors[1]);
    let value = if contracted.is_empty() { product } else { b.reduce(Reducer::Sum, &contracted, product) };
    let value = b.convert(value, result);
    b.output("result", result, &kept, value);
    b.finish_for(module, op)
}

/// The element type of sums of products of elements of a type: that of the written result, if it is a wider one, or else
/// their own.
///
/// # Errors
/// The written result has elements that do not hold those of the operands.
pub(crate) fn result_element(
    module: &Module,
    op: OpId,
    element: ElementType,
    own: TypeRef,
) -> Result<TypeRef, Diagnostic> {
    let Some(written) = written_type(module, op, 0).filter(|ty| ty.element != element) else {
        return Ok(own);
    };
    let wide = written.element;
    if holds(wide, element) {
        return Ok(TypeRef::Concrete(wide));
    }
    let message = format!("elements of type `{element}` are not summed up as `{wide}`");
    Err(wrong_result(module, op, message).help("give the result a wider type of the same kind"))
}

/// The type in which products of elements of a type are summed up: no float narrower than `f32`, as everywhere where
/// such sums are fast.
pub(crate) fn accumulator(element: ElementType, result: TypeRef) -> TypeRef {
    let narrow = match result {
        TypeRef::Concrete(wide) => wide,
        _ => element,
    };
    if narrow.is_float() && narrow.bits() < 32 { TypeRef::Concrete(ElementType::F32) } else { result }
}

/// The pairs of dimensions in an attribute; none if it is missing.
fn pairs(
    module: &Module,
    op: OpId,
    name: &str,
    left: &TensorType,
    right: &TensorType,
) -> Result<SmallVec<[(usize, usize); 4]>, Diagnostic> {
    let Some((l, r)) = pair(module, op, name) else { return Ok(SmallVec::new()) };
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

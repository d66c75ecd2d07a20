//! Computing ops at compile time.
//!
//! A fold gives exactly what running the op would give, or nothing:
//!
//! - Integers wrap. Dividing one by zero gives all bits set, the remainder is then the number itself.
//! - Floats follow IEEE 754 in their own type. The results that the standard rounds correctly (sums, products, quotients,
//!   remainders, square roots) are computed in `f64` and rounded once: for types of at most 24 bits of precision the
//!   detour over `f64`'s 53 changes no result (Figueroa, "When is double rounding innocuous?", 1995).
//! - Exponentials, logarithms and the like are not rounded correctly by any runtime, so they are not folded. Neither are
//!   complex numbers, nor floats of less than 16 bits, whose treatment at the edges of their ranges differs.
//! - Every NaN that is computed is the positive quiet one without a payload. Moving elements keeps their bits.
//! - `x + 0` is not `x` for floats (`-0 + 0` is `0`), but `x - 0` and `x + -0` are.
//!
//! Constants grow the program, so a result of more than [`MAX_ELEMENTS`] elements is computed only where it is a splat.
//! For the same reason `iota`, which says more in fewer bytes, stays what it is.

mod elementwise;
mod layout;
mod scalar;
#[cfg(test)]
mod tests;

pub(crate) use elementwise::*;
pub(crate) use layout::*;

use smallvec::SmallVec;
use tofu_ir::{
    AttrData, DenseConstant, DenseData, ElementType, Folded, Module, OpId, TensorType, Trait, VALUE, ValueId,
};

/// The most elements of a computed constant that is no splat.
const MAX_ELEMENTS: u64 = 4096;

/// What a fold gives: a value for the one result of the op.
type Fold = Option<Vec<Folded>>;

/// The constant that a value is.
fn constant(module: &Module, value: ValueId) -> Option<&DenseConstant> {
    let op = module.defining_op(value).filter(|&op| module.has(op, Trait::Constant))?;
    match module.attr_value(op, VALUE)? {
        AttrData::Dense(dense) => Some(dense),
        _ => None,
    }
}

/// The op's result is a value that exists, if that has the result's type.
fn forward(module: &Module, op: OpId, value: ValueId) -> Fold {
    (module.ty(value) == module.ty(module.result(op, 0))).then(|| vec![Folded::Value(value)])
}

/// The op's result is a constant.
fn dense(module: &Module, op: OpId, data: DenseData) -> Fold {
    let ty = module.ty(module.result(op, 0));
    Some(vec![Folded::Constant(AttrData::Dense(DenseConstant { ty, data }))])
}

fn splat(module: &Module, op: OpId, element: &[u8]) -> Fold {
    dense(module, op, DenseData::Splat(SmallVec::from_slice(element)))
}

/// The type of the op's result, if all extents are known, and the number of its elements.
fn known_result(module: &Module, op: OpId) -> Option<(&TensorType, u64)> {
    let ty = module.tensor_type(module.result(op, 0))?;
    Some((ty, ty.element_count()?))
}

/// The type of the elements of operand `index`.
fn element_of(module: &Module, op: OpId, index: usize) -> Option<ElementType> {
    Some(module.tensor_type(module.operand(op, index))?.element)
}

/// The bytes of an element, where a scalar stands for a tensor of any shape.
fn element_bytes(
    constant: &DenseConstant,
    element: ElementType,
    is_scalar: bool,
    index: usize,
) -> Option<&[u8]> {
    constant.data.element(if is_scalar { 0 } else { index }, element)
}

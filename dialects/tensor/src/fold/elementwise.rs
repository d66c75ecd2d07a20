//! Element-wise ops over constants, and the identities that hold exactly.
//!
//! Commutative ops have their constant on the right when they come here.

use tofu_ir::{DenseConstant, DenseData, ElementType, Module, OpDef, OpId, ValueId};

use super::scalar::{self, Scalar};
use super::{Fold, MAX_ELEMENTS, constant, dense, element_bytes, element_of, forward, known_result, splat};
use crate::shapes::optional_string;
use crate::{Direction, NEGATE, NOT};
use Scalar::{Float, Int};

pub(crate) fn abs(module: &Module, op: OpId) -> Fold {
    unary(module, op, |x| match x {
        Int(x) => Int(x.abs()),
        Float(x) => Float(x.abs()),
    })
}

pub(crate) fn ceil(module: &Module, op: OpId) -> Fold {
    float_unary(module, op, f64::ceil)
}

pub(crate) fn floor(module: &Module, op: OpId) -> Fold {
    float_unary(module, op, f64::floor)
}

pub(crate) fn is_finite(module: &Module, op: OpId) -> Fold {
    unary(module, op, |x| match x {
        Float(x) => Int(x.is_finite().into()),
        Int(_) => Int(1),
    })
}

pub(crate) fn negate(module: &Module, op: OpId) -> Fold {
    undone_by(module, op, &NEGATE).or_else(|| {
        unary(module, op, |x| match x {
            Int(x) => Int(-x),
            Float(x) => Float(-x),
        })
    })
}

pub(crate) fn not(module: &Module, op: OpId) -> Fold {
    undone_by(module, op, &NOT).or_else(|| integer_unary(module, op, |x| !x))
}

pub(crate) fn round_nearest_even(module: &Module, op: OpId) -> Fold {
    float_unary(module, op, f64::round_ties_even)
}

pub(crate) fn sign(module: &Module, op: OpId) -> Fold {
    unary(module, op, |x| match x {
        Int(x) => Int(x.signum()),
        // Zero keeps its sign, and NaN stays NaN.
        Float(x) => Float(if x == 0.0 { x } else { x.signum() }),
    })
}

pub(crate) fn sqrt(module: &Module, op: OpId) -> Fold {
    float_unary(module, op, f64::sqrt)
}

pub(crate) fn add(module: &Module, op: OpId) -> Fold {
    let zero = |y| matches!(y, Int(0)) || is(y, -0.0);
    right_is(module, op, zero).then(|| forward(module, op, module.operand(op, 0))).flatten().or_else(|| {
        binary(module, op, |element, x, y| match (x, y) {
            (Int(x), Int(y)) if element == ElementType::I1 => Some(Int(x | y)),
            (Int(x), Int(y)) => Some(Int(x + y)),
            (Float(x), Float(y)) => Some(Float(x + y)),
            _ => None,
        })
    })
}

pub(crate) fn subtract(module: &Module, op: OpId) -> Fold {
    let zero = |y| matches!(y, Int(0)) || is(y, 0.0);
    if right_is(module, op, zero) {
        return forward(module, op, module.operand(op, 0));
    }
    if same_integers(module, op) {
        return everywhere(module, op, 0);
    }
    binary(module, op, |_, x, y| match (x, y) {
        (Int(x), Int(y)) => Some(Int(x - y)),
        (Float(x), Float(y)) => Some(Float(x - y)),
        _ => None,
    })
}

pub(crate) fn multiply(module: &Module, op: OpId) -> Fold {
    if right_is(module, op, is_one) {
        return forward(module, op, module.operand(op, 0));
    }
    if right_is(module, op, |y| matches!(y, Int(0))) {
        return everywhere(module, op, 0);
    }
    binary(module, op, |_, x, y| match (x, y) {
        (Int(x), Int(y)) => Some(Int(x.wrapping_mul(y))),
        (Float(x), Float(y)) => Some(Float(x * y)),
        _ => None,
    })
}

pub(crate) fn divide(module: &Module, op: OpId) -> Fold {
    if right_is(module, op, is_one) {
        return forward(module, op, module.operand(op, 0));
    }
    binary(module, op, |_, x, y| match (x, y) {
        (Int(_), Int(0)) => Some(Int(-1)),
        (Int(x), Int(y)) => Some(Int(x / y)),
        (Float(x), Float(y)) => Some(Float(x / y)),
        _ => None,
    })
}

pub(crate) fn remainder(module: &Module, op: OpId) -> Fold {
    if right_is(module, op, |y| matches!(y, Int(1))) {
        return everywhere(module, op, 0);
    }
    binary(module, op, |_, x, y| match (x, y) {
        (Int(x), Int(0)) => Some(Int(x)),
        (Int(x), Int(y)) => Some(Int(x % y)),
        (Float(x), Float(y)) => Some(Float(x % y)),
        _ => None,
    })
}

/// Powers of floats are not rounded correctly by any runtime, negative powers of integers not defined.
pub(crate) fn power(module: &Module, op: OpId) -> Fold {
    binary(module, op, |_, x, y| match (x, y) {
        (Int(x), Int(y)) if y >= 0 => Some(Int(wrapping_power(x, y))),
        _ => None,
    })
}

pub(crate) fn maximum(module: &Module, op: OpId) -> Fold {
    same(module, op).or_else(|| binary(module, op, |_, x, y| larger(x, y)))
}

pub(crate) fn minimum(module: &Module, op: OpId) -> Fold {
    same(module, op).or_else(|| binary(module, op, |_, x, y| smaller(x, y)))
}

pub(crate) fn and(module: &Module, op: OpId) -> Fold {
    if right_is(module, op, |y| matches!(y, Int(0))) {
        return everywhere(module, op, 0);
    }
    if all_ones(module, op) {
        return forward(module, op, module.operand(op, 0));
    }
    same(module, op).or_else(|| integer_binary(module, op, |x, y| x & y))
}

pub(crate) fn or(module: &Module, op: OpId) -> Fold {
    if right_is(module, op, |y| matches!(y, Int(0))) {
        return forward(module, op, module.operand(op, 0));
    }
    if all_ones(module, op) {
        return forward(module, op, module.operand(op, 1)).or_else(|| everywhere(module, op, !0));
    }
    same(module, op).or_else(|| integer_binary(module, op, |x, y| x | y))
}

pub(crate) fn xor(module: &Module, op: OpId) -> Fold {
    if right_is(module, op, |y| matches!(y, Int(0))) {
        return forward(module, op, module.operand(op, 0));
    }
    if same_integers(module, op) {
        return everywhere(module, op, 0);
    }
    integer_binary(module, op, |x, y| x ^ y)
}

pub(crate) fn compare(module: &Module, op: OpId) -> Fold {
    use Direction::*;
    let direction = Direction::of(module, op)?;
    if optional_string(module, op, "compare_type") == Some("TOTALORDER") {
        return None;
    }
    if same_integers(module, op) {
        let holds = matches!(direction, Equal | LessOrEqual | GreaterOrEqual);
        return everywhere(module, op, holds.into());
    }
    binary(module, op, |_, x, y| {
        let order = match (x, y) {
            (Int(x), Int(y)) => Some(x.cmp(&y)),
            (Float(x), Float(y)) => x.partial_cmp(&y),
            _ => return None,
        };
        let holds = match direction {
            Equal => order.is_some_and(|order| order.is_eq()),
            NotEqual => order.is_none_or(|order| order.is_ne()),
            Less => order.is_some_and(|order| order.is_lt()),
            LessOrEqual => order.is_some_and(|order| order.is_le()),
            Greater => order.is_some_and(|order| order.is_gt()),
            GreaterOrEqual => order.is_some_and(|order| order.is_ge()),
        };
        Some(Int(holds.into()))
    })
}

pub(crate) fn clamp(module: &Module, op: OpId) -> Fold {
    map(module, op, |operands| smaller(larger(operands[1], operands[0])?, operands[2]))
}

pub(crate) fn convert(module: &Module, op: OpId) -> Fold {
    let (from, to) = (element_of(module, op, 0)?, module.tensor_type(module.result(op, 0))?.element);
    if from == to {
        return forward(module, op, module.operand(op, 0));
    }
    map(module, op, |operands| scalar::convert(from, operands[0], to))
}

pub(crate) fn select(module: &Module, op: OpId) -> Fold {
    let (on_true, on_false) = (module.operand(op, 1), module.operand(op, 2));
    if on_true == on_false {
        return forward(module, op, on_true);
    }
    let condition = constant(module, module.operand(op, 0))?;
    if let DenseData::Splat(bytes) = &condition.data {
        return forward(module, op, if bytes.first() == Some(&0) { on_false } else { on_true });
    }
    let (ty, count) = known_result(module, op)?;
    let (on_true, on_false) = (constant(module, on_true)?, constant(module, on_false)?);
    if count > MAX_ELEMENTS {
        return None;
    }
    let mut bytes = Vec::new();
    for index in 0..count as usize {
        let is_true = *condition.data.element(index, ElementType::I1)?.first()? != 0;
        let chosen = if is_true { on_true } else { on_false };
        bytes.extend_from_slice(chosen.data.element(index, ty.element)?);
    }
    dense(module, op, DenseData::from_bytes(bytes, ty.element))
}

// Helpers: over all elements.

fn map(module: &Module, op: OpId, compute: impl Fn(&[Scalar]) -> Option<Scalar>) -> Fold {
    let mut operands: [Option<(&DenseConstant, ElementType, bool)>; 3] = [None; 3];
    let operand_count = module.operand_count(op);
    for (slot, operand) in operands.iter_mut().zip(module.operands(op)) {
        let ty = module.tensor_type(operand)?;
        *slot = Some((constant(module, operand)?, ty.element, ty.rank() == 0));
    }
    let (ty, count) = known_result(module, op)?;
    let element_at = |index: usize| {
        let mut numbers = [Int(0); 3];
        for (number, &(constant, element, is_scalar)) in numbers.iter_mut().zip(operands.iter().flatten()) {
            *number = scalar::decode(element, element_bytes(constant, element, is_scalar, index)?)?;
        }
        scalar::encode(ty.element, compute(&numbers[..operand_count])?)
    };
    let is_splat = |&(constant, ..): &(&DenseConstant, _, _)| matches!(constant.data, DenseData::Splat(_));
    if operands.iter().flatten().all(is_splat) {
        return splat(module, op, &element_at(0)?);
    }
    if count > MAX_ELEMENTS {
        return None;
    }
    let mut bytes = Vec::with_capacity(count as usize * ty.element.storage_bytes());
    for index in 0..count as usize {
        bytes.extend_from_slice(&element_at(index)?);
    }
    dense(module, op, DenseData::from_bytes(bytes, ty.element))
}

fn unary(module: &Module, op: OpId, compute: impl Fn(Scalar) -> Scalar) -> Fold {
    map(module, op, |operands| Some(compute(operands[0])))
}

fn float_unary(module: &Module, op: OpId, compute: fn(f64) -> f64) -> Fold {
    map(module, op, |operands| match operands[0] {
        Float(x) => Some(Float(compute(x))),
        Int(_) => None,
    })
}

fn integer_unary(module: &Module, op: OpId, compute: fn(i128) -> i128) -> Fold {
    map(module, op, |operands| match operands[0] {
        Int(x) => Some(Int(compute(x))),
        Float(_) => None,
    })
}

fn binary(
    module: &Module,
    op: OpId,
    compute: impl Fn(ElementType, Scalar, Scalar) -> Option<Scalar>,
) -> Fold {
    let element = element_of(module, op, 0)?;
    map(module, op, |operands| compute(element, operands[0], operands[1]))
}

fn integer_binary(module: &Module, op: OpId, compute: fn(i128, i128) -> i128) -> Fold {
    binary(module, op, |_, x, y| match (x, y) {
        (Int(x), Int(y)) => Some(Int(compute(x, y))),
        _ => None,
    })
}

// Helpers: identities.

/// Whether every element of the right operand passes the test.
fn right_is(module: &Module, op: OpId, test: impl Fn(Scalar) -> bool) -> bool {
    splat_of(module, module.operand(op, 1)).is_some_and(test)
}

/// The number that all elements of a constant are.
fn splat_of(module: &Module, value: ValueId) -> Option<Scalar> {
    let DenseData::Splat(bytes) = &constant(module, value)?.data else { return None };
    scalar::decode(module.tensor_type(value)?.element, bytes)
}

fn is(number: Scalar, wanted: f64) -> bool {
    matches!(number, Float(value) if value.to_bits() == wanted.to_bits())
}

fn is_one(number: Scalar) -> bool {
    matches!(number, Int(1)) || is(number, 1.0)
}

fn all_ones(module: &Module, op: OpId) -> bool {
    let Some(element) = element_of(module, op, 1) else { return false };
    let ones = element.integer_range().map(|(low, high)| if low < 0 { -1 } else { high });
    right_is(module, op, |y| matches!(y, Int(y) if Some(y) == ones))
}

/// Both operands are one value: the op gives it.
fn same(module: &Module, op: OpId) -> Fold {
    let value = module.operand(op, 0);
    (value == module.operand(op, 1)).then(|| forward(module, op, value)).flatten()
}

fn same_integers(module: &Module, op: OpId) -> bool {
    module.operand(op, 0) == module.operand(op, 1)
        && element_of(module, op, 0).is_some_and(ElementType::is_integer)
}

/// The op's operand is a result of the op that undoes it.
fn undone_by(module: &Module, op: OpId, inverse: &'static OpDef) -> Fold {
    let inner = module.defining_op(module.operand(op, 0)).filter(|&inner| module.is(inner, inverse))?;
    forward(module, op, module.operand(inner, 0))
}

/// Every element of the result is this integer.
fn everywhere(module: &Module, op: OpId, value: i128) -> Fold {
    let (ty, _) = known_result(module, op)?;
    splat(module, op, &scalar::encode(ty.element, Int(value))?)
}

fn larger(x: Scalar, y: Scalar) -> Option<Scalar> {
    Some(match (x, y) {
        (Int(x), Int(y)) => Int(x.max(y)),
        (Float(x), Float(y)) if x.is_nan() || y.is_nan() => Float(f64::NAN),
        // The zeros are ordered by their signs.
        (Float(x), Float(y)) if x == y => Float(if x.is_sign_positive() { x } else { y }),
        (Float(x), Float(y)) => Float(x.max(y)),
        _ => return None,
    })
}

fn smaller(x: Scalar, y: Scalar) -> Option<Scalar> {
    Some(match (x, y) {
        (Int(x), Int(y)) => Int(x.min(y)),
        (Float(x), Float(y)) if x.is_nan() || y.is_nan() => Float(f64::NAN),
        (Float(x), Float(y)) if x == y => Float(if x.is_sign_negative() { x } else { y }),
        (Float(x), Float(y)) => Float(x.min(y)),
        _ => return None,
    })
}

fn wrapping_power(mut base: i128, mut exponent: i128) -> i128 {
    let mut power = 1i128;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    power
}

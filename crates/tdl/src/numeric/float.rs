//! Real floating-point numbers.

use tofu_ir::ElementType;

use super::{Word, special};
use crate::scalar::{BinaryOp, UnaryOp};

pub(super) fn f32_op(a: Word, b: Word, op: fn(f32, f32) -> f32) -> Word {
    let result = op(f32::from_bits(a.low as u32), f32::from_bits(b.low as u32));
    Word { low: u64::from(result.to_bits()), high: 0 }
}

pub(super) fn f64_op(a: Word, b: Word, op: fn(f64, f64) -> f64) -> Word {
    Word { low: op(f64::from_bits(a.low), f64::from_bits(b.low)).to_bits(), high: 0 }
}

pub(super) fn unary(op: UnaryOp, element: ElementType, a: Word) -> Word {
    let x = a.as_float(element);
    let value = match op {
        UnaryOp::IsFinite => return Word::bool(x.is_finite()),
        UnaryOp::OrderKey => return Word::int(order_key(element, a)),
        UnaryOp::ReducePrecision { exponent, mantissa } => {
            return reduce_precision(element, a, exponent, mantissa);
        }
        op => real(op, x),
    };
    Word::of_float(element, value)
}

pub(super) fn real(op: UnaryOp, x: f64) -> f64 {
    match op {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        // The sign of a zero and NaN are kept.
        UnaryOp::Sign if x == 0.0 || x.is_nan() => x,
        UnaryOp::Sign => x.signum(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Floor => x.floor(),
        UnaryOp::RoundNearestAfz => x.round(),
        UnaryOp::RoundNearestEven => x.round_ties_even(),
        UnaryOp::Exp => libm::exp(x),
        UnaryOp::ExponentialMinusOne => libm::expm1(x),
        UnaryOp::Log => libm::log(x),
        UnaryOp::LogPlusOne => libm::log1p(x),
        UnaryOp::Logistic => 1.0 / (1.0 + libm::exp(-x)),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Rsqrt => 1.0 / x.sqrt(),
        UnaryOp::Cbrt => libm::cbrt(x),
        UnaryOp::Sine => libm::sin(x),
        UnaryOp::Cosine => libm::cos(x),
        UnaryOp::Tan => libm::tan(x),
        UnaryOp::Tanh => libm::tanh(x),
        UnaryOp::Asin => libm::asin(x),
        UnaryOp::Acos => libm::acos(x),
        UnaryOp::Atan => libm::atan(x),
        UnaryOp::Sinh => libm::sinh(x),
        UnaryOp::Cosh => libm::cosh(x),
        UnaryOp::Asinh => libm::asinh(x),
        UnaryOp::Acosh => libm::acosh(x),
        UnaryOp::Atanh => libm::atanh(x),
        UnaryOp::Erf => libm::erf(x),
        UnaryOp::Erfc => libm::erfc(x),
        UnaryOp::ErfInv => special::erf_inv(x),
        UnaryOp::Lgamma => libm::lgamma(x),
        UnaryOp::Digamma => special::digamma(x),
        UnaryOp::BesselI1e => special::bessel_i1e(x),
        UnaryOp::Real => x,
        UnaryOp::Imag => 0.0,
        // Of no float, or handled by the caller.
        UnaryOp::Not
        | UnaryOp::IsFinite
        | UnaryOp::Popcnt
        | UnaryOp::CountLeadingZeros
        | UnaryOp::OrderKey
        | UnaryOp::ReducePrecision { .. } => x,
    }
}

pub(super) fn binary(op: BinaryOp, element: ElementType, a: Word, b: Word) -> Word {
    let (x, y) = (a.as_float(element), b.as_float(element));
    match op {
        BinaryOp::Complex => return Word { low: a.low, high: b.low },
        BinaryOp::NextAfter => return next_after(element, a, b),
        _ => {}
    }
    Word::of_float(
        element,
        match op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x * y,
            BinaryOp::Div => x / y,
            BinaryOp::Rem => x % y,
            BinaryOp::Max => extreme(x, y, true),
            BinaryOp::Min => extreme(x, y, false),
            BinaryOp::Pow => libm::pow(x, y),
            BinaryOp::Atan2 => libm::atan2(x, y),
            BinaryOp::Zeta => special::zeta(x, y),
            BinaryOp::Polygamma => special::polygamma(x, y),
            _ => x,
        },
    )
}

/// The maximum or minimum of IEEE 754-2019: NaN wins, and -0 is less than +0.
fn extreme(x: f64, y: f64, greatest: bool) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == y {
        return if x.is_sign_negative() == greatest { y } else { x };
    }
    if (x > y) == greatest { x } else { y }
}

/// The number next to `a` in the direction of `b`.
fn next_after(element: ElementType, a: Word, b: Word) -> Word {
    let (x, y) = (a.as_float(element), b.as_float(element));
    if x.is_nan() || y.is_nan() || x == y {
        return if x.is_nan() { a } else { b };
    }
    if element.bits() <= 8 {
        // The narrow formats differ in what their codes mean; there are few.
        let codes = (0..1u64 << element.bits()).map(|low| Word { low, high: 0 });
        let value = |code: &Word| code.as_float(element);
        let order = |a: &Word, b: &Word| value(a).total_cmp(&value(b));
        // By the values and not by how far they are: all are equally far from infinity.
        let nearest = if x < y {
            codes.filter(|code| value(code) > x).min_by(order)
        } else {
            codes.filter(|code| value(code) < x).max_by(order)
        };
        return nearest.unwrap_or(b);
    }
    let sign = 1u64 << (element.bits() - 1);
    let low = match () {
        // The least number of that sign.
        () if x == 0.0 => (b.low & sign) | 1,
        () if (x < y) == (x > 0.0) => a.low + 1,
        () => a.low - 1,
    };
    Word { low, high: 0 }
}

/// An integer that orders the values of a type totally: -NaN, -infinity, …, -0, +0, …, infinity, NaN.
fn order_key(element: ElementType, a: Word) -> i64 {
    let sign = 1u64 << (element.bits() - 1);
    let magnitude = (a.low & (sign - 1)) as i64;
    if a.low & sign != 0 { -1 - magnitude } else { magnitude }
}

/// A value rounded to fewer bits of exponent and mantissa, on its bits: what no longer fits becomes infinity, and with a
/// narrower exponent what would be subnormal becomes zero.
fn reduce_precision(element: ElementType, a: Word, exponent: u8, mantissa: u8) -> Word {
    let (own_exponent, own_mantissa) = match element {
        ElementType::F64 => (11, 52),
        ElementType::F32 => (8, 23),
        ElementType::BF16 => (8, 7),
        ElementType::F16 => (5, 10),
        // The narrow types are rounded in a type that holds them.
        _ => {
            let wide = Word::of_float(ElementType::F32, a.as_float(element));
            let rounded = reduce_precision(ElementType::F32, wide, exponent, mantissa);
            return Word::of_float(element, rounded.as_float(ElementType::F32));
        }
    };
    if !a.as_float(element).is_finite() {
        return a;
    }
    let sign = a.low & (1 << (own_exponent + own_mantissa));
    let mut bits = a.low ^ sign;
    let lost = own_mantissa - u32::from(mantissa).min(own_mantissa);
    if lost > 0 {
        let odd = (bits >> lost) & 1;
        bits = ((bits + (1 << (lost - 1)) - 1 + odd) >> lost) << lost;
    }
    let exponent = u32::from(exponent);
    if exponent < own_exponent {
        let bias = |width: u32| (1i64 << (width - 1)) - 1;
        let power = (bits >> own_mantissa) as i64 - bias(own_exponent);
        if power > bias(exponent) {
            bits = ((1 << own_exponent) - 1) << own_mantissa;
        } else if power < 1 - bias(exponent) {
            bits = 0;
        }
    }
    Word { low: sign | bits, high: 0 }
}

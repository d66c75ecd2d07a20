//! The ops of functions of one or two values. The elements of the language have the names of the ops that stand for them.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Builder, ValueId};
use tofu_tdl::{BinaryOp, Comparison, UnaryOp};

use crate as tensor;
use crate::Direction;

type One = fn(&mut Builder<'_>, ValueId) -> Result<ValueId, Diagnostic>;
type Two = fn(&mut Builder<'_>, ValueId, ValueId) -> Result<ValueId, Diagnostic>;

/// The op of a function of one value; none if there is none.
pub(super) fn unary(builder: &mut Builder<'_>, op: UnaryOp, x: ValueId) -> Option<ValueId> {
    let build: One = match op {
        UnaryOp::Neg => tensor::negate,
        UnaryOp::Not => tensor::not,
        UnaryOp::Abs => tensor::abs,
        UnaryOp::Sign => tensor::sign,
        UnaryOp::Ceil => tensor::ceil,
        UnaryOp::Floor => tensor::floor,
        UnaryOp::RoundNearestAfz => tensor::round_nearest_afz,
        UnaryOp::RoundNearestEven => tensor::round_nearest_even,
        UnaryOp::Exp => tensor::exponential,
        UnaryOp::ExponentialMinusOne => tensor::exponential_minus_one,
        UnaryOp::Log => tensor::log,
        UnaryOp::LogPlusOne => tensor::log_plus_one,
        UnaryOp::Logistic => tensor::logistic,
        UnaryOp::Sqrt => tensor::sqrt,
        UnaryOp::Rsqrt => tensor::rsqrt,
        UnaryOp::Cbrt => tensor::cbrt,
        UnaryOp::Sine => tensor::sine,
        UnaryOp::Cosine => tensor::cosine,
        UnaryOp::Tan => tensor::tan,
        UnaryOp::Tanh => tensor::tanh,
        UnaryOp::Asin => tensor::asin,
        UnaryOp::Acos => tensor::acos,
        UnaryOp::Atan => tensor::atan,
        UnaryOp::Sinh => tensor::sinh,
        UnaryOp::Cosh => tensor::cosh,
        UnaryOp::Asinh => tensor::asinh,
        UnaryOp::Acosh => tensor::acosh,
        UnaryOp::Atanh => tensor::atanh,
        UnaryOp::Erf => tensor::erf,
        UnaryOp::Erfc => tensor::erfc,
        UnaryOp::ErfInv => tensor::erf_inv,
        UnaryOp::Lgamma => tensor::lgamma,
        UnaryOp::Digamma => tensor::digamma,
        UnaryOp::BesselI1e => tensor::bessel_i1e,
        UnaryOp::IsFinite => tensor::is_finite,
        UnaryOp::Popcnt => tensor::popcnt,
        UnaryOp::CountLeadingZeros => tensor::count_leading_zeros,
        UnaryOp::Real => tensor::real,
        UnaryOp::Imag => tensor::imag,
        UnaryOp::ReducePrecision { exponent, mantissa } => {
            return tensor::reduce_precision(builder, x, exponent.into(), mantissa.into()).ok();
        }
        // Only comparisons in the total order have it.
        UnaryOp::OrderKey => return None,
    };
    build(builder, x).ok()
}

/// The op of a function of two values.
pub(super) fn binary(builder: &mut Builder<'_>, op: BinaryOp, x: ValueId, y: ValueId) -> Option<ValueId> {
    let build: Two = match op {
        BinaryOp::Add => tensor::add,
        BinaryOp::Sub => tensor::subtract,
        BinaryOp::Mul => tensor::multiply,
        BinaryOp::Div => tensor::divide,
        BinaryOp::Rem => tensor::remainder,
        BinaryOp::Max => tensor::maximum,
        BinaryOp::Min => tensor::minimum,
        BinaryOp::Pow => tensor::power,
        BinaryOp::Atan2 => tensor::atan2,
        BinaryOp::MulHigh => tensor::mulhi,
        BinaryOp::NextAfter => tensor::next_after,
        BinaryOp::Zeta => tensor::zeta,
        BinaryOp::Polygamma => tensor::polygamma,
        BinaryOp::And => tensor::and,
        BinaryOp::Or => tensor::or,
        BinaryOp::Xor => tensor::xor,
        BinaryOp::ShiftLeft => tensor::shift_left,
        BinaryOp::ShiftRightLogical => tensor::shift_right_logical,
        BinaryOp::ShiftRightArithmetic => tensor::shift_right_arithmetic,
        BinaryOp::Complex => tensor::complex,
    };
    build(builder, x, y).ok()
}

impl From<Comparison> for Direction {
    fn from(comparison: Comparison) -> Direction {
        match comparison {
            Comparison::Eq => Direction::Equal,
            Comparison::Ne => Direction::NotEqual,
            Comparison::Lt => Direction::Less,
            Comparison::Le => Direction::LessOrEqual,
            Comparison::Gt => Direction::Greater,
            Comparison::Ge => Direction::GreaterOrEqual,
        }
    }
}

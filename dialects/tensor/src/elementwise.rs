//! Ops that treat every element alike: each result element depends on the operands' elements at its place.
//!
//! Most of them are one line of a table: the definition, the function that adds one, its operands, what it does, what
//! tensors it takes, an example's operands, further traits, what it computes of the elements and how it folds.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Builder, Fold, OpDef, TENSOR, Trait, ValueId, op, tensor};
use tofu_tdl::{self as tdl, BinaryOp, Comparison, Describe, ScalarId, UnaryOp, infer_types};

use crate::classes::{FLOATS, FLOATS_OR_COMPLEX, INTEGERS, INTEGERS_NOT_BOOLEANS, NUMBERS, SIGNED_NUMBERS};
use crate::describe::{conjugate, elementwise};
use crate::fold;

macro_rules! elementwise {
    ($(
        $DEFINITION:ident $build:ident($($operand:ident),+) $summary:literal $class:ident $example:literal
        [$($trait:ident),*] |$b:ident| $body:expr, [$($fold:ident)?];
    )*) => {$(
        #[doc = concat!("`tensor.", stringify!($build), "`: ", $summary)]
        pub static $DEFINITION: OpDef = op(concat!("tensor.", stringify!($build)))
            .summary($summary)
            .example(concat!("%r = tensor.", stringify!($build), " ", $example))
            .operands(&[$(tensor(stringify!($operand)).class($class)),+])
            .results(&[tensor("result")])
            .traits(&[Trait::Local, Trait::Pure, $(Trait::$trait),*])
            .infer_types(infer_types)
            .interfaces(&[
                &Describe(|module, op| elementwise(module, op, |$b, [$($operand),+]| $body)),
                $(&Fold(fold::$fold))?
            ]);

        #[doc = concat!("Adds a [`", stringify!($DEFINITION), "`].")]
        ///
        /// # Errors
        /// When the operands do not fit.
        pub fn $build(builder: &mut Builder<'_>, $($operand: ValueId),+) -> Result<ValueId, Diagnostic> {
            let op = builder.op(&$DEFINITION).operands([$($operand),+]).infer()?;
            Ok(builder.module.result(op, 0))
        }
    )*};
}

elementwise! {
    ABS abs(x) "Absolute value." SIGNED_NUMBERS "%x" [] |b| b.unary(UnaryOp::Abs, x), [abs];
    ACOS acos(x) "Arc cosine." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Acos, x), [];
    ACOSH acosh(x) "Inverse hyperbolic cosine." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Acosh, x), [];
    ADD add(x, y) "Sum; of booleans, whether one is true." TENSOR "%x, %y" [Commutative] |b| b.add(x, y), [add];
    AND and(x, y) "Bitwise and." INTEGERS "%i, %i" [Commutative] |b| b.binary(BinaryOp::And, x, y), [and];
    ASIN asin(x) "Arc sine." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Asin, x), [];
    ASINH asinh(x) "Inverse hyperbolic sine." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Asinh, x), [];
    ATAN atan(x) "Arc tangent." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Atan, x), [];
    ATAN2 atan2(x, y) "Angle of the point whose ordinate is `x` and whose abscissa is `y`." FLOATS "%x, %y" []
        |b| b.binary(BinaryOp::Atan2, x, y), [];
    ATANH atanh(x) "Inverse hyperbolic tangent." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Atanh, x), [];
    BESSEL_I1E bessel_i1e(x) "Modified Bessel function of the first kind of order 1, times `exp(-abs(x))`." FLOATS "%x" []
        |b| b.unary(UnaryOp::BesselI1e, x), [];
    CBRT cbrt(x) "Cube root." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Cbrt, x), [];
    CEIL ceil(x) "Rounding up to an integer." FLOATS "%x" [] |b| b.unary(UnaryOp::Ceil, x), [ceil];
    CONJ conj(x) "Complex conjugate; a real number is its own." FLOATS_OR_COMPLEX "%x" [] |b| conjugate(b, x), [];
    COSH cosh(x) "Hyperbolic cosine." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Cosh, x), [];
    COSINE cosine(x) "Cosine." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Cosine, x), [];
    COUNT_LEADING_ZEROS count_leading_zeros(x) "Number of zero bits above the highest bit that is set."
        INTEGERS_NOT_BOOLEANS "%i" [] |b| b.unary(UnaryOp::CountLeadingZeros, x), [];
    DIGAMMA digamma(x) "Derivative of the logarithm of the gamma function." FLOATS "%x" []
        |b| b.unary(UnaryOp::Digamma, x), [];
    DIVIDE divide(x, y) "Quotient; of integers, towards zero." NUMBERS "%x, %y" [] |b| b.div(x, y), [divide];
    ERF erf(x) "Error function." FLOATS "%x" [] |b| b.unary(UnaryOp::Erf, x), [];
    ERF_INV erf_inv(x) "Inverse of the error function." FLOATS "%x" [] |b| b.unary(UnaryOp::ErfInv, x), [];
    ERFC erfc(x) "One minus the error function." FLOATS "%x" [] |b| b.unary(UnaryOp::Erfc, x), [];
    EXPONENTIAL exponential(x) "Exponential function." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Exp, x), [];
    EXPONENTIAL_MINUS_ONE exponential_minus_one(x) "Exponential function minus one." FLOATS_OR_COMPLEX "%x" []
        |b| b.unary(UnaryOp::ExponentialMinusOne, x), [];
    FLOOR floor(x) "Rounding down to an integer." FLOATS "%x" [] |b| b.unary(UnaryOp::Floor, x), [floor];
    IMAG imag(x) "Imaginary part; of a real number, zero." FLOATS_OR_COMPLEX "%x" []
        |b| b.unary(UnaryOp::Imag, x), [];
    IS_FINITE is_finite(x) "Whether the number is neither infinite nor NaN." FLOATS "%x" []
        |b| b.unary(UnaryOp::IsFinite, x), [is_finite];
    IS_INF is_inf(x) "Whether the number is infinite." FLOATS "%x" [] |b| is_infinite(b, x), [];
    IS_NEG_INF is_neg_inf(x) "Whether the number is negative infinity." FLOATS "%x" []
        |b| is_infinity(b, x, Comparison::Lt), [];
    IS_POS_INF is_pos_inf(x) "Whether the number is positive infinity." FLOATS "%x" []
        |b| is_infinity(b, x, Comparison::Gt), [];
    LGAMMA lgamma(x) "Natural logarithm of the absolute value of the gamma function." FLOATS "%x" []
        |b| b.unary(UnaryOp::Lgamma, x), [];
    LOG log(x) "Natural logarithm." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Log, x), [];
    LOG_PLUS_ONE log_plus_one(x) "Natural logarithm of the number plus one." FLOATS_OR_COMPLEX "%x" []
        |b| b.unary(UnaryOp::LogPlusOne, x), [];
    LOGISTIC logistic(x) "Logistic function, `1 / (1 + exp(-x))`." FLOATS_OR_COMPLEX "%x" []
        |b| b.unary(UnaryOp::Logistic, x), [];
    MAXIMUM maximum(x, y) "The larger one, NaN if one is." TENSOR "%x, %y" [Commutative]
        |b| b.binary(BinaryOp::Max, x, y), [maximum];
    MINIMUM minimum(x, y) "The smaller one, NaN if one is." TENSOR "%x, %y" [Commutative]
        |b| b.binary(BinaryOp::Min, x, y), [minimum];
    MULHI mulhi(x, y) "Upper half of the bits of the product." INTEGERS_NOT_BOOLEANS "%i, %i" [Commutative]
        |b| b.binary(BinaryOp::MulHigh, x, y), [];
    MULTIPLY multiply(x, y) "Product; of booleans, whether both are true." TENSOR "%x, %y" [Commutative]
        |b| b.mul(x, y), [multiply];
    NEGATE negate(x) "Negation." NUMBERS "%x" [] |b| b.unary(UnaryOp::Neg, x), [negate];
    NEXT_AFTER next_after(x, y) "The number next to `x` in the direction of `y`." FLOATS "%x, %y" []
        |b| b.binary(BinaryOp::NextAfter, x, y), [];
    NOT not(x) "Bitwise complement." INTEGERS "%i" [] |b| b.unary(UnaryOp::Not, x), [not];
    OR or(x, y) "Bitwise or." INTEGERS "%i, %i" [Commutative] |b| b.binary(BinaryOp::Or, x, y), [or];
    POLYGAMMA polygamma(n, x) "Derivative of number `n` of the digamma function." FLOATS "%x, %y" []
        |b| b.binary(BinaryOp::Polygamma, n, x), [];
    POPCNT popcnt(x) "Number of bits that are set." INTEGERS_NOT_BOOLEANS "%i" []
        |b| b.unary(UnaryOp::Popcnt, x), [];
    POWER power(x, y) "The first number to the power of the second." NUMBERS "%x, %y" []
        |b| b.binary(BinaryOp::Pow, x, y), [power];
    REAL real(x) "Real part." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Real, x), [];
    REMAINDER remainder(x, y) "Remainder of the quotient towards zero, with the sign of the first number." NUMBERS
        "%x, %y" [] |b| b.binary(BinaryOp::Rem, x, y), [remainder];
    ROUND_NEAREST_AFZ round_nearest_afz(x) "Rounding to the nearest integer, halves away from zero." FLOATS "%x" []
        |b| b.unary(UnaryOp::RoundNearestAfz, x), [];
    ROUND_NEAREST_EVEN round_nearest_even(x) "Rounding to the nearest integer, halves to the even one." FLOATS "%x" []
        |b| b.unary(UnaryOp::RoundNearestEven, x), [round_nearest_even];
    RSQRT rsqrt(x) "Reciprocal of the square root." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Rsqrt, x), [];
    SHIFT_LEFT shift_left(x, y) "Bits moved up by `y` places; zero if there are fewer." INTEGERS_NOT_BOOLEANS "%i, %i"
        [] |b| b.binary(BinaryOp::ShiftLeft, x, y), [];
    SHIFT_RIGHT_ARITHMETIC shift_right_arithmetic(x, y) "Bits moved down by `y` places, filled with the sign."
        INTEGERS_NOT_BOOLEANS "%i, %i" [] |b| b.binary(BinaryOp::ShiftRightArithmetic, x, y), [];
    SHIFT_RIGHT_LOGICAL shift_right_logical(x, y) "Bits moved down by `y` places, filled with zeros."
        INTEGERS_NOT_BOOLEANS "%i, %i" [] |b| b.binary(BinaryOp::ShiftRightLogical, x, y), [];
    SIGN sign(x) "One with the sign of the number; zero for zero." SIGNED_NUMBERS "%x" []
        |b| b.unary(UnaryOp::Sign, x), [sign];
    SINE sine(x) "Sine." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Sine, x), [];
    SINH sinh(x) "Hyperbolic sine." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Sinh, x), [];
    SQRT sqrt(x) "Square root." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Sqrt, x), [sqrt];
    SQUARE square(x) "Product of the number with itself." FLOATS_OR_COMPLEX "%x" [] |b| b.mul(x, x), [];
    SUBTRACT subtract(x, y) "Difference." NUMBERS "%x, %y" [] |b| b.sub(x, y), [subtract];
    TAN tan(x) "Tangent." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Tan, x), [];
    TANH tanh(x) "Hyperbolic tangent." FLOATS_OR_COMPLEX "%x" [] |b| b.unary(UnaryOp::Tanh, x), [];
    XOR xor(x, y) "Bitwise exclusive or." INTEGERS "%i, %i" [Commutative] |b| b.binary(BinaryOp::Xor, x, y), [xor];
    ZETA zeta(x, q) "Hurwitz zeta function." FLOATS "%x, %y" [] |b| b.binary(BinaryOp::Zeta, x, q), [];
}

/// What is not finite is infinite or NaN, and NaN is not equal to itself.
fn is_infinite(b: &mut tdl::Builder, x: ScalarId) -> ScalarId {
    let is_finite = b.unary(UnaryOp::IsFinite, x);
    let is_infinite_or_nan = b.unary(UnaryOp::Not, is_finite);
    let is_number = b.compare(Comparison::Eq, x, x);
    b.binary(BinaryOp::And, is_infinite_or_nan, is_number)
}

fn is_infinity(b: &mut tdl::Builder, x: ScalarId, sign: Comparison) -> ScalarId {
    let ty = b.type_of(x);
    let (is_infinite, zero) = (is_infinite(b, x), b.int(0, ty));
    let has_sign = b.compare(sign, x, zero);
    b.binary(BinaryOp::And, is_infinite, has_sign)
}

//! Corner cases of every kind of type, against values computed by hand.

use tofu_ir::ElementType::{self, *};

use super::*;

fn int(element: ElementType, value: i128) -> Word {
    Word::of_int(element, value)
}

fn float(element: ElementType, value: f64) -> Word {
    Word::of_float(element, value)
}

fn ints(op: BinaryOp, element: ElementType, a: i128, b: i128) -> i128 {
    binary_fn(op, element)(op, element, int(element, a), int(element, b)).as_int(element)
}

fn floats(op: BinaryOp, element: ElementType, a: f64, b: f64) -> f64 {
    binary_fn(op, element)(op, element, float(element, a), float(element, b)).as_float(element)
}

fn one(op: UnaryOp, element: ElementType, a: f64) -> f64 {
    unary_fn(element)(op, element, float(element, a)).as_float(element)
}

fn is_negative_zero(value: f64) -> bool {
    value == 0.0 && value.is_sign_negative()
}

#[test]
fn integers_wrap() {
    use BinaryOp::*;
    assert_eq!(ints(Add, I8, 127, 1), -128);
    assert_eq!(ints(Sub, Ui8, 0, 1), 255);
    assert_eq!(ints(Mul, I32, 1 << 30, 4), 0);
    assert_eq!(ints(Mul, I64, i128::from(i64::MIN), -1), i128::from(i64::MIN));
    assert_eq!(ints(Add, I4, 7, 1), -8);
    assert_eq!(ints(Add, Ui2, 3, 3), 2);
    assert_eq!(ints(Add, I2, 1, 1), -2);
    assert_eq!(ints(Mul, Ui64, i128::from(u64::MAX), i128::from(u64::MAX)), 1);
    let negated = unary_fn(I8)(UnaryOp::Neg, I8, int(I8, -128)).as_int(I8);
    let absolute = unary_fn(I8)(UnaryOp::Abs, I8, int(I8, -128)).as_int(I8);
    assert_eq!((negated, absolute), (-128, -128));
}

#[test]
fn division_of_integers() {
    use BinaryOp::*;
    assert_eq!((ints(Div, I32, -7, 2), ints(Rem, I32, -7, 2)), (-3, -1));
    assert_eq!((ints(Div, I32, 7, -2), ints(Rem, I32, 7, -2)), (-3, 1));
    assert_eq!((ints(Div, I32, 5, 0), ints(Rem, I32, 5, 0)), (-1, 5));
    assert_eq!((ints(Div, Ui8, 5, 0), ints(Rem, Ui8, 5, 0)), (255, 5));
    assert_eq!((ints(Div, I8, -128, -1), ints(Rem, I8, -128, -1)), (-128, 0));
}

#[test]
fn shifts_powers_and_bits() {
    use BinaryOp::*;
    assert_eq!(ints(ShiftLeft, I8, 1, 7), -128);
    assert_eq!((ints(ShiftLeft, I8, 1, 8), ints(ShiftLeft, I8, 1, -1)), (0, 0));
    assert_eq!(ints(ShiftRightLogical, I8, -1, 4), 15);
    assert_eq!((ints(ShiftRightArithmetic, I8, -128, 3), ints(ShiftRightArithmetic, I8, -1, 9)), (-16, -1));
    assert_eq!(ints(ShiftRightArithmetic, Ui8, 0x80, 4), 0xF8);
    assert_eq!((ints(Pow, I32, 3, 4), ints(Pow, I32, 2, -1), ints(Pow, I32, -1, -3)), (81, 0, -1));
    assert_eq!(ints(Pow, I8, 2, 7), -128);
    let bits = |op: UnaryOp, element: ElementType, value: i128| {
        unary_fn(element)(op, element, int(element, value)).as_int(element)
    };
    assert_eq!((bits(UnaryOp::Popcnt, I8, -1), bits(UnaryOp::Popcnt, I4, -1)), (8, 4));
    assert_eq!(bits(UnaryOp::CountLeadingZeros, Ui16, 1), 15);
    assert_eq!(bits(UnaryOp::CountLeadingZeros, I2, 0), -2, "2 leading zeros wrap in i2");
    assert_eq!((bits(UnaryOp::Not, I1, 1), bits(UnaryOp::Not, Ui4, 5)), (0, 10));
}

#[test]
fn booleans_add_as_or_and_multiply_as_and() {
    use BinaryOp::*;
    assert_eq!((ints(Add, I1, 1, 1), ints(Mul, I1, 1, 0), ints(Max, I1, 0, 1)), (1, 0, 1));
    assert_eq!((ints(Xor, I1, 1, 1), ints(Min, I1, 0, 1)), (0, 0));
}

#[test]
fn nan_and_signed_zeros() {
    use BinaryOp::*;
    for element in [F64, F32, F16, BF16, F8E5M2, F8E4M3FN] {
        assert!(floats(Max, element, f64::NAN, 1.0).is_nan() && floats(Min, element, 1.0, f64::NAN).is_nan());
        assert!(!is_negative_zero(floats(Max, element, -0.0, 0.0)), "{element}");
        assert!(is_negative_zero(floats(Min, element, 0.0, -0.0)), "{element}");
        assert!(is_negative_zero(one(UnaryOp::Sign, element, -0.0)));
        assert!(one(UnaryOp::Sign, element, f64::NAN).is_nan());
        assert!(is_negative_zero(one(UnaryOp::Neg, element, 0.0)));
        for comparison in [Comparison::Eq, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge] {
            assert!(!compare(comparison, element, float(element, f64::NAN), float(element, f64::NAN)));
        }
        assert!(compare(Comparison::Ne, element, float(element, f64::NAN), float(element, 0.0)));
        assert!(compare(Comparison::Eq, element, float(element, -0.0), float(element, 0.0)));
    }
    assert_eq!(floats(Div, F32, 1.0, 0.0), f64::INFINITY);
    assert_eq!(floats(Div, F32, -1.0, 0.0), f64::NEG_INFINITY);
    assert!(floats(Div, F32, 0.0, 0.0).is_nan());
    assert_eq!((floats(Rem, F64, -7.5, 2.0), floats(Rem, F64, 7.5, -2.0)), (-1.5, 1.5));
    assert_eq!((floats(Pow, F64, 0.0, 0.0), floats(Pow, F64, f64::NAN, 0.0)), (1.0, 1.0));
}

#[test]
fn rounding_is_to_nearest_even_once() {
    use BinaryOp::*;
    // 256 + 1 lies between the bf16 numbers 256 and 258; 258 + 1 between 258 and 260.
    assert_eq!(floats(Add, BF16, 256.0, 1.0), 256.0);
    assert_eq!(floats(Add, BF16, 258.0, 1.0), 260.0);
    assert_eq!(floats(Add, F16, 2048.0, 1.0), 2048.0);
    assert_eq!(floats(Add, F16, 65504.0, 16.0), f64::INFINITY);
    assert_eq!(floats(Add, F8E5M2, 8.0, 1.0), 8.0);
    assert!(floats(Add, F8E4M3FN, 448.0, 448.0).is_nan());
    assert_eq!(floats(Add, F4E2M1FN, 6.0, 6.0), 6.0);
    // Through f32 the sum would be a tie and round down.
    assert_eq!(floats(Add, F32, 16_777_216.0, 1.0), 16_777_216.0);
    assert_eq!(one(UnaryOp::RoundNearestEven, F32, 2.5), 2.0);
    assert_eq!(
        (one(UnaryOp::RoundNearestAfz, F32, 2.5), one(UnaryOp::RoundNearestAfz, F32, -2.5)),
        (3.0, -3.0)
    );
}

#[test]
fn conversions_saturate_wrap_and_round() {
    let to_int = |value: f64, to: ElementType| convert(F32, to, float(F32, value)).as_int(to);
    assert_eq!((to_int(300.0, I8), to_int(-300.0, I8), to_int(-1.0, Ui8)), (127, -128, 0));
    assert_eq!((to_int(f64::NAN, I32), to_int(f64::INFINITY, I64)), (0, i128::from(i64::MAX)));
    assert_eq!((to_int(-2.9, I32), to_int(2.9, I4), to_int(99.0, I4)), (-2, 2, 7));
    assert_eq!((to_int(0.5, I1), to_int(-0.0, I1), to_int(f64::NAN, I1)), (1, 0, 1));
    assert_eq!(convert(I32, I8, int(I32, 300)).as_int(I8), 44);
    assert_eq!(convert(I8, Ui8, int(I8, -1)).as_int(Ui8), 255);
    assert_eq!(convert(I1, F16, int(I1, 1)).as_float(F16), 1.0);
    assert_eq!(convert(F32, BF16, float(F32, 1.003_906_25)).as_float(BF16), 1.0);
    assert_eq!(convert(Complex64, F32, Word::of_complex(Complex64, 2.5, 7.0)).as_float(F32), 2.5);
    assert_eq!(convert(F32, Complex64, float(F32, 2.5)).as_complex(Complex64), (2.5, 0.0));
}

#[test]
fn integers_beyond_the_mantissa_round_once() {
    // In bf16 2^56 + 2^48 is a tie between 2^56 and 2^56 + 2^49; one more must round up.
    let tie = (1i128 << 56) + (1 << 48);
    assert_eq!(convert(I64, BF16, int(I64, tie)).as_float(BF16), 2f64.powi(56));
    assert_eq!(convert(I64, BF16, int(I64, tie + 1)).as_float(BF16), 2f64.powi(56) + 2f64.powi(49));
    // In f64 the one is lost already.
    assert_eq!((tie + 1) as f64, tie as f64);
}

#[test]
fn bits_are_kept() {
    assert_eq!(bitcast(F32, I32, float(F32, -0.0)).as_int(I32), i128::from(i32::MIN));
    assert_eq!(bitcast(I8, Ui8, int(I8, -1)).as_int(Ui8), 255);
    assert_eq!(bitcast(Ui16, F16, int(Ui16, 0x3C00)).as_float(F16), 1.0);
    let signalling = Word { low: 0x7F80_0001, high: 0 };
    assert_eq!(bitcast(I32, F32, bitcast(F32, I32, signalling)), signalling);
}

#[test]
fn precision_is_reduced_on_the_bits() {
    let reduced = |value: f64, exponent: u8, mantissa: u8| {
        one(UnaryOp::ReducePrecision { exponent, mantissa }, F32, value)
    };
    assert_eq!(reduced(1.0 + 1.0 / 1024.0, 5, 10), 1.0 + 1.0 / 1024.0);
    assert_eq!(reduced(1.0 + 1.0 / 2048.0, 5, 10), 1.0);
    assert_eq!((reduced(65536.0, 5, 10), reduced(-65536.0, 5, 10)), (f64::INFINITY, f64::NEG_INFINITY));
    assert!(is_negative_zero(reduced(-1e-8, 5, 10)));
    assert_eq!(reduced(1e-40, 8, 23), f64::from(1e-40f32));
    assert!(reduced(f64::NAN, 5, 2).is_nan());
}

#[test]
fn extremes_and_identities_by_type() {
    assert_eq!(identity(Reducer::Max, F32).as_float(F32), f64::NEG_INFINITY);
    assert_eq!(identity(Reducer::Max, F8E4M3FN).as_float(F8E4M3FN), -448.0);
    assert_eq!(identity(Reducer::Min, F4E2M1FN).as_float(F4E2M1FN), 6.0);
    assert_eq!(identity(Reducer::Max, Ui8).as_int(Ui8), 0);
    assert_eq!(identity(Reducer::Min, I1).as_int(I1), 1);
    assert_eq!(identity(Reducer::And, I16).as_int(I16), -1);
    assert_eq!(identity(Reducer::Prod, Complex32).as_complex(Complex32), (1.0, 0.0));
    for element in ElementType::ALL.into_iter().filter(|e| !e.is_complex()) {
        let word = extreme(element, true);
        for reducer in [Reducer::Max, Reducer::Min] {
            let op = reducer_op(reducer);
            let combined = binary_fn(op, element)(op, element, identity(reducer, element), word);
            assert_eq!(combined, word, "{element} {reducer:?}");
        }
    }
}

#[test]
fn order_keys_order_all_values() {
    let values = [f64::NEG_INFINITY, -1.0, -0.0, 0.0, 1e-30, 1.0, f64::INFINITY];
    for element in [F64, F32] {
        let key = |word: Word| unary_fn(element)(UnaryOp::OrderKey, element, word).low as i64;
        let keys: Vec<i64> = values.iter().map(|&value| key(float(element, value))).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{element}: {keys:?}");
    }
    let negative_nan = Word { low: 0xFFC0_0000, high: 0 };
    assert!((unary_fn(F32)(UnaryOp::OrderKey, F32, negative_nan).low as i64) < -0x7F80_0000);
}

#[test]
fn complex_numbers() {
    let word = |re: f64, im: f64| Word::of_complex(Complex64, re, im);
    let apply = |op: UnaryOp, re: f64, im: f64| {
        unary_fn(Complex64)(op, Complex64, word(re, im)).as_complex(Complex64)
    };
    let two = |op: BinaryOp, a: (f64, f64), b: (f64, f64)| {
        binary_fn(op, Complex64)(op, Complex64, word(a.0, a.1), word(b.0, b.1)).as_complex(Complex64)
    };
    assert_eq!(two(BinaryOp::Mul, (1.0, 2.0), (3.0, -1.0)), (5.0, 5.0));
    assert_eq!(two(BinaryOp::Div, (5.0, 5.0), (1.0, 2.0)), (3.0, -1.0));
    let absolute = unary_fn(Complex64)(UnaryOp::Abs, Complex64, word(3.0, -4.0));
    assert_eq!(absolute.as_float(F64), 5.0);
    let near =
        |a: (f64, f64), b: (f64, f64)| assert!((a.0 - b.0).abs() + (a.1 - b.1).abs() < 1e-14, "{a:?} {b:?}");
    near(apply(UnaryOp::Sqrt, -4.0, 0.0), (0.0, 2.0));
    near(apply(UnaryOp::Sqrt, 3.0, -4.0), (2.0, -1.0));
    near(apply(UnaryOp::Exp, 0.0, std::f64::consts::PI), (-1.0, 0.0));
    near(apply(UnaryOp::Log, -1.0, 0.0), (0.0, std::f64::consts::PI));
    near(apply(UnaryOp::Sign, 3.0, 4.0), (0.6, 0.8));
    // Identities that hold in every point: sin² + cos² = 1, tanh = sinh / cosh, exp(log z) = z.
    for (re, im) in [(0.3, 0.4), (-1.2, 2.0), (0.0, -1.0), (2.0, 0.0)] {
        let (s, c) = (apply(UnaryOp::Sine, re, im), apply(UnaryOp::Cosine, re, im));
        let (s2, c2) = (two(BinaryOp::Mul, s, s), two(BinaryOp::Mul, c, c));
        near((s2.0 + c2.0, s2.1 + c2.1), (1.0, 0.0));
        near(two(BinaryOp::Div, s, c), apply(UnaryOp::Tan, re, im));
        let logarithm = apply(UnaryOp::Log, re, im);
        near(apply(UnaryOp::Exp, logarithm.0, logarithm.1), (re, im));
        let (e, one) = (apply(UnaryOp::Exp, re, im), apply(UnaryOp::ExponentialMinusOne, re, im));
        near((e.0 - 1.0, e.1), one);
        let double = apply(UnaryOp::Exp, 2.0 * re, 2.0 * im);
        near(
            two(BinaryOp::Div, (double.0 - 1.0, double.1), (double.0 + 1.0, double.1)),
            apply(UnaryOp::Tanh, re, im),
        );
        near(two(BinaryOp::Pow, (re, im), (2.0, 0.0)), two(BinaryOp::Mul, (re, im), (re, im)));
    }
    assert_eq!(apply(UnaryOp::LogPlusOne, 1e-20, 0.0).0, 1e-20);
}

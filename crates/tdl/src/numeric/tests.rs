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
    let greatest = i128::from(u64::MAX);
    assert_eq!(ints(MulHigh, Ui64, greatest, greatest), greatest - 1);
    assert_eq!(ints(MulHigh, I64, i128::from(i64::MIN), 1), -1);
    assert_eq!((ints(MulHigh, I8, -128, -128), ints(MulHigh, I8, -128, 127)), (64, -64));
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
    let is_true = |re: f64, im: f64| convert(Complex32, I1, Word::of_complex(Complex32, re, im));
    assert_eq!([(0.0, -0.0), (0.0, 1.0), (1.0, 0.0)].map(|(re, im)| is_true(re, im).low), [0, 1, 1]);
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

#[test]
fn complex_powers_of_zero() {
    let word = |re: f64, im: f64| Word::of_complex(Complex64, re, im);
    let pow = |re: f64, im: f64| {
        binary_fn(BinaryOp::Pow, Complex64)(BinaryOp::Pow, Complex64, word(0.0, 0.0), word(re, im))
            .as_complex(Complex64)
    };
    assert_eq!(pow(0.0, 0.0), (1.0, 0.0));
    assert_eq!((pow(2.0, 0.0), pow(0.5, 0.0)), ((0.0, 0.0), (0.0, 0.0)));
    for (re, im) in [(-1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (-3.0, -4.0)] {
        let power = pow(re, im);
        assert!(power.0.is_nan() && power.1.is_nan(), "{re} + {im}i: {power:?}");
    }
}

/// Whether a function of `f64`s has these values, to some units in the last place.
fn check_values(run: impl Fn(&[f64]) -> f64, values: &[(&[f64], f64)]) {
    for (arguments, wanted) in values {
        let found = run(arguments);
        let is_near = found == *wanted
            || (found.is_nan() && wanted.is_nan())
            || (found - wanted).abs() <= 1e-14 * wanted.abs();
        assert!(
            is_near && found.is_sign_negative() == wanted.is_sign_negative()
                || wanted.is_nan() && found.is_nan(),
            "{arguments:?}: {found:?} is not {wanted:?}"
        );
    }
}

#[test]
fn special_functions_of_one_value() {
    use std::f64::consts::PI;
    let inf = f64::INFINITY;
    let run = |op: UnaryOp| move |x: &[f64]| unary_fn(F64)(op, F64, float(F64, x[0])).as_float(F64);
    check_values(
        run(UnaryOp::ErfInv),
        &[
            (&[0.0], 0.0),
            (&[-0.0], -0.0),
            (&[0.5], 0.476_936_276_204_469_9),
            (&[-0.5], -0.476_936_276_204_469_9),
            (&[0.999_999], 3.458_910_737_275_499),
            (&[1.0 - f64::EPSILON / 2.0], 5.863_584_748_755_167),
            (&[1e-300], 1e-300 * PI.sqrt() / 2.0),
            (&[1e-9], 1e-9 * PI.sqrt() / 2.0),
            (&[1.0], inf),
            (&[-1.0], -inf),
            (&[1.5], f64::NAN),
        ],
    );
    // ψ(1) = -γ, ψ(1/2) = -γ - 2 ln 2, ψ(x + 1) = ψ(x) + 1/x
    let gamma = 0.577_215_664_901_532_9;
    check_values(
        run(UnaryOp::Digamma),
        &[
            (&[1.0], -gamma),
            (&[2.0], 1.0 - gamma),
            (&[0.5], -gamma - 2.0 * 2f64.ln()),
            (&[-1.5], 2.0 - gamma - 2.0 * 2f64.ln() + 2.0 / 3.0),
            (&[10.0], 2.251_752_589_066_721),
            (&[1e10], 23.025_850_929_890_456),
            (&[0.0], f64::NAN),
            (&[-3.0], f64::NAN),
            (&[inf], inf),
            (&[-inf], f64::NAN),
        ],
    );
    check_values(
        run(UnaryOp::BesselI1e),
        &[
            (&[0.0], 0.0),
            (&[1.0], 0.207_910_415_349_708_5),
            (&[-1.0], -0.207_910_415_349_708_5),
            (&[29.999_999], 0.071_916_331_766_242_71),
            (&[30.0], 0.071_916_330_598_647_5),
            (&[1e10], 3.989_422_803_864_723e-6),
            (&[inf], 0.0),
        ],
    );
    // f32: rounded once.
    let rounded = unary_fn(F32)(UnaryOp::ErfInv, F32, float(F32, 0.5)).as_float(F32);
    assert_eq!(rounded, f64::from(0.476_936_276_204_469_9_f64 as f32));
}

#[test]
fn special_functions_of_two_values() {
    use std::f64::consts::PI;
    let inf = f64::INFINITY;
    let run = |op: BinaryOp| {
        move |x: &[f64]| binary_fn(op, F64)(op, F64, float(F64, x[0]), float(F64, x[1])).as_float(F64)
    };
    check_values(
        run(BinaryOp::Zeta),
        &[
            (&[2.0, 1.0], PI * PI / 6.0),
            (&[4.0, 1.0], PI.powi(4) / 90.0),
            (&[3.0, 0.5], 8.414_398_322_117_158),
            (&[3.0, -1.5], 0.118_102_025_820_864_13),
            (&[4.0, -2.5], 32.457_979_369_864_6),
            (&[2.0, 1e10], 1.000_000_000_05e-10),
            (&[50.0, 1.5], 1.568_328_545_496_635_2e-9),
            (&[1000.0, 1.5], 8.104_774_656_527_566e-177),
            (&[1.0, 1.0], inf),
            (&[0.5, 1.0], f64::NAN),
            (&[2.0, -1.0], inf),
            (&[3.0, 0.0], f64::NAN),
            (&[2.5, -0.5], f64::NAN),
        ],
    );
    check_values(
        run(BinaryOp::Polygamma),
        &[
            (&[0.0, 1.0], -0.577_215_664_901_532_9),
            (&[1.0, 1.0], PI * PI / 6.0),
            (&[1.0, 0.5], PI * PI / 2.0),
            (&[2.0, 2.5], -0.236_204_051_641_727_36),
            (&[2.0, -0.5], -0.828_796_644_234_32),
            (&[3.0, 0.1], 60_004.512_876_790_24),
            (&[10.0, 3.0], -21.436_606_628_712_99),
            (&[-1.0, 0.5], f64::NAN),
            (&[0.5, 1.0], f64::NAN),
        ],
    );
    check_values(
        run(BinaryOp::NextAfter),
        &[
            (&[1.0, 2.0], 1.0 + f64::EPSILON),
            (&[1.0, -2.0], 1.0 - f64::EPSILON / 2.0),
            (&[-1.0, 2.0], -1.0 + f64::EPSILON / 2.0),
            (&[0.0, 1.0], 5e-324),
            (&[-0.0, -1.0], -5e-324),
            (&[-5e-324, 1.0], -0.0),
            (&[inf, 0.0], f64::MAX),
            (&[f64::MAX, inf], inf),
            (&[3.0, 3.0], 3.0),
            (&[f64::NAN, 1.0], f64::NAN),
            (&[1.0, f64::NAN], f64::NAN),
        ],
    );
    let next = |element, a: f64, b: f64| {
        binary_fn(BinaryOp::NextAfter, element)(
            BinaryOp::NextAfter,
            element,
            float(element, a),
            float(element, b),
        )
        .as_float(element)
    };
    assert_eq!(next(BF16, 1.0, 2.0), 1.0078125);
    assert_eq!(next(F16, 65504.0, inf), inf);
    assert_eq!(next(F8E4M3FN, 0.0, -1.0), -0.001_953_125);
    assert_eq!(next(F8E4M3FNUZ, -0.000_976_562_5, 1.0), 0.0);
    assert_eq!(next(F8E4M3FN, 448.0, -448.0), 416.0);
    assert_eq!((next(F8E3M4, -inf, 0.5), next(F8E5M2, inf, 1.0)), (-15.5, 57344.0));
}

#[test]
fn complex_inverse_functions() {
    let run = |op: UnaryOp, re: f64, im: f64| {
        unary_fn(Complex64)(op, Complex64, Word::of_complex(Complex64, re, im)).as_complex(Complex64)
    };
    let near = |op, (re, im): (f64, f64), wanted: (f64, f64)| {
        let found = run(op, re, im);
        assert!(
            (found.0 - wanted.0).abs() < 1e-14 && (found.1 - wanted.1).abs() < 1e-14,
            "{op:?}({re}, {im}) is {found:?}, not {wanted:?}"
        );
    };
    let z = (0.5, 0.25);
    near(UnaryOp::Asin, z, (0.501_608_853_275_500_9, 0.281_396_056_245_292_8));
    near(UnaryOp::Acos, z, (1.069_187_473_519_395_8, -0.281_396_056_245_292_8));
    near(UnaryOp::Atan, z, (0.484_254_490_329_966_2, 0.200_586_618_131_234_32));
    near(UnaryOp::Asinh, z, (0.492_675_683_420_770_5, 0.224_328_452_634_667_5));
    near(UnaryOp::Acosh, z, (0.281_396_056_245_292_8, 1.069_187_473_519_395_8));
    near(UnaryOp::Atanh, z, (0.500_370_000_052_531_1, 0.314_398_143_207_716_5));
    near(UnaryOp::Sinh, z, (0.504_895_714_387_995_1, 0.278_979_128_350_261_56));
    near(UnaryOp::Cosh, z, (1.092_570_804_731_917_6, 0.128_921_041_728_098_26));
    let z = (-2.0, 1.0);
    near(UnaryOp::Asin, z, (-1.063_440_023_577_752_1, 1.469_351_744_368_185_2));
    near(UnaryOp::Acos, z, (2.634_236_350_372_648_7, -1.469_351_744_368_185_2));
    near(UnaryOp::Atan, z, (-1.178_097_245_096_172_4, 0.173_286_795_139_986_32));
    near(UnaryOp::Asinh, z, (-1.528_570_919_480_998_2, 0.427_078_586_392_476_1));
    near(UnaryOp::Acosh, z, (1.469_351_744_368_185_2, 2.634_236_350_372_648_7));
    near(UnaryOp::Atanh, z, (-0.402_359_478_108_525_07, 1.338_972_522_294_493_5));
    // On the branch cuts the sign of zero says which side.
    near(UnaryOp::Acos, (2.0, 0.0), (0.0, -1.316_957_896_924_816_6));
    near(UnaryOp::Acosh, (-2.0, 0.0), (1.316_957_896_924_816_6, std::f64::consts::PI));
    near(UnaryOp::Asin, (2.0, 0.0), (std::f64::consts::FRAC_PI_2, 1.316_957_896_924_816_6));
    // The functions undo their inverses.
    for (op, inverse) in
        [(UnaryOp::Asin, UnaryOp::Sine), (UnaryOp::Acosh, UnaryOp::Cosh), (UnaryOp::Atanh, UnaryOp::Tanh)]
    {
        let there = run(op, 0.3, -0.7);
        let back = run(inverse, there.0, there.1);
        assert!((back.0 - 0.3).abs() < 1e-14 && (back.1 + 0.7).abs() < 1e-14);
    }
}

//! Floating-point values as bits: every format that an [`ElementType`] names, to and from `f64`.
//!
//! A format is described by its exponent and mantissa widths, its bias and by what its top codes mean. Decoding is
//! exact (every format fits into `f64`); encoding rounds to nearest, ties to even. The 8-bit formats and their
//! conventions are those of "FP8 Formats for Deep Learning" (Micikevicius et al., 2022) and of the Open Compute
//! Project's Microscaling Formats specification (version 1.0, section 5).

use crate::ElementType;

/// What the codes at the edge of a format stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Specials {
    /// The largest exponent is infinity and the NaNs, as in IEEE 754.
    Ieee,
    /// No infinity; the code with all bits set is NaN.
    AllOnesNan,
    /// No infinity and no negative zero; that code is the NaN.
    NegativeZeroNan,
    /// Only finite numbers.
    None,
}

#[derive(Clone, Copy)]
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    specials: Specials,
}

const fn format(exponent_bits: u32, mantissa_bits: u32, bias: i32, specials: Specials) -> Format {
    Format { exponent_bits, mantissa_bits, bias, specials }
}

fn format_of(element: ElementType) -> Option<Format> {
    use ElementType::*;
    use Specials::*;
    Some(match element {
        F4E2M1FN => format(2, 1, 1, None),
        F6E2M3FN => format(2, 3, 1, None),
        F6E3M2FN => format(3, 2, 3, None),
        F8E3M4 => format(3, 4, 3, Ieee),
        F8E4M3 => format(4, 3, 7, Ieee),
        F8E4M3FN => format(4, 3, 7, AllOnesNan),
        F8E4M3FNUZ => format(4, 3, 8, NegativeZeroNan),
        F8E4M3B11FNUZ => format(4, 3, 11, NegativeZeroNan),
        F8E5M2 => format(5, 2, 15, Ieee),
        F8E5M2FNUZ => format(5, 2, 16, NegativeZeroNan),
        BF16 => format(8, 7, 127, Ieee),
        F16 => format(5, 10, 15, Ieee),
        _ => return Option::None,
    })
}

/// The value of `bits` read as an `element`. Integers and complex numbers have none: the answer is NaN.
pub fn decode_float(element: ElementType, bits: u64) -> f64 {
    match element {
        ElementType::F64 => f64::from_bits(bits),
        ElementType::F32 => f64::from(f32::from_bits(bits as u32)),
        ElementType::F8E8M0FNU if bits & 0xFF == 0xFF => f64::NAN,
        ElementType::F8E8M0FNU => 2f64.powi((bits & 0xFF) as i32 - 127),
        _ => format_of(element).map_or(f64::NAN, |format| decode(format, bits)),
    }
}

/// The bits of `value` rounded to an `element`, to nearest and ties to even. What is too large becomes infinity, the
/// NaN of a format without infinity, or the largest number of a format with neither.
pub fn encode_float(element: ElementType, value: f64) -> u64 {
    match element {
        ElementType::F64 => value.to_bits(),
        ElementType::F32 => u64::from((value as f32).to_bits()),
        ElementType::F8E8M0FNU => encode_scale(value),
        _ => format_of(element).map_or(0, |format| encode(format, value)),
    }
}

fn decode(format: Format, bits: u64) -> f64 {
    let mantissa_mask = (1u64 << format.mantissa_bits) - 1;
    let exponent_mask = (1u64 << format.exponent_bits) - 1;
    let mantissa = bits & mantissa_mask;
    let exponent = (bits >> format.mantissa_bits) & exponent_mask;
    let negative = (bits >> (format.mantissa_bits + format.exponent_bits)) & 1 == 1;
    let sign = if negative { -1.0 } else { 1.0 };
    match format.specials {
        Specials::Ieee if exponent == exponent_mask && mantissa == 0 => return sign * f64::INFINITY,
        Specials::Ieee if exponent == exponent_mask => return f64::NAN,
        Specials::AllOnesNan if exponent == exponent_mask && mantissa == mantissa_mask => return f64::NAN,
        Specials::NegativeZeroNan if negative && exponent == 0 && mantissa == 0 => return f64::NAN,
        _ => {}
    }
    let (significand, power) = if exponent == 0 {
        (mantissa, 1 - format.bias)
    } else {
        (mantissa | (1 << format.mantissa_bits), exponent as i32 - format.bias)
    };
    sign * significand as f64 * power_of_two(power - format.mantissa_bits as i32)
}

/// 2 to a power that a normal number has.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

fn encode(format: Format, value: f64) -> u64 {
    let sign_bit = 1u64 << (format.mantissa_bits + format.exponent_bits);
    let nan = match format.specials {
        Specials::Ieee => {
            (((1 << format.exponent_bits) - 1) << format.mantissa_bits) | (1 << (format.mantissa_bits - 1))
        }
        Specials::AllOnesNan => sign_bit - 1,
        Specials::NegativeZeroNan => return encode_without_negative_zero(format, value, sign_bit),
        Specials::None => 0,
    };
    if value.is_nan() {
        return nan;
    }
    let sign = if value.is_sign_negative() { sign_bit } else { 0 };
    let overflow = match format.specials {
        Specials::Ieee => ((1 << format.exponent_bits) - 1) << format.mantissa_bits,
        Specials::AllOnesNan => nan,
        _ => sign_bit - 1,
    };
    let last_finite = match format.specials {
        Specials::Ieee => overflow - 1,
        Specials::AllOnesNan => nan - 1,
        _ => sign_bit - 1,
    };
    let magnitude = round_magnitude(format, value.abs());
    sign | if magnitude > last_finite { overflow } else { magnitude }
}

fn encode_without_negative_zero(format: Format, value: f64, sign_bit: u64) -> u64 {
    let magnitude = if value.is_nan() { u64::MAX } else { round_magnitude(format, value.abs()) };
    match magnitude {
        0 => 0,
        m if m >= sign_bit => sign_bit,
        m if value < 0.0 => sign_bit | m,
        m => m,
    }
}

/// The code of a non-negative value as if exponents went on for ever, so that a too large value gets a code above the
/// last finite one.
fn round_magnitude(format: Format, value: f64) -> u64 {
    if value == 0.0 {
        return 0;
    }
    if value.is_infinite() {
        return u64::MAX;
    }
    // Subnormal `f64`s are below every rounding threshold here; their exponent does not matter.
    let exponent = (((value.to_bits() >> 52) & 0x7FF) as i32 - 1023).max(1 - format.bias);
    let scaled = value * power_of_two(format.mantissa_bits as i32 - exponent);
    let rounded = scaled.round_ties_even() as u64;
    // A rounded-up significand carries into the exponent by itself: codes are ordered as values are.
    let biased = (exponent + format.bias) as u64;
    rounded + ((biased - 1) << format.mantissa_bits)
}

fn encode_scale(value: f64) -> u64 {
    // There is no zero, no sign and no infinity.
    if value.is_nan() || value <= 0.0 || value.is_infinite() {
        return 0xFF;
    }
    let exponent = ((value.to_bits() >> 52) & 0x7FF) as i64 - 1023;
    let above = value / 2f64.powi(exponent as i32);
    // Ties between two powers of two go to the even code.
    let code = exponent + 127;
    let up = above > 1.5 || (above == 1.5 && code & 1 == 1);
    match code + i64::from(up) {
        c if c < 0 => 0,
        c if c > 0xFE => 0xFF,
        c => c as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_narrow_formats_is_read_back() {
        for element in ElementType::ALL.into_iter().filter(|e| e.is_float() && e.bits() <= 16) {
            for bits in 0..1u64 << element.bits() {
                let value = decode_float(element, bits);
                if !value.is_nan() {
                    assert_eq!(encode_float(element, value), bits, "{element} {bits:#x} = {value}");
                }
            }
        }
    }

    #[test]
    fn rounding_agrees_with_the_nearest_neighbour() {
        for element in ElementType::ALL.into_iter().filter(|e| e.is_float() && e.bits() <= 8) {
            let mut codes: Vec<(f64, u64)> = (0..1u64 << element.bits())
                .map(|bits| (decode_float(element, bits), bits))
                .filter(|(value, _)| value.is_finite() && (*value != 0.0 || value.is_sign_positive()))
                .collect();
            codes.sort_by(|a, b| a.0.total_cmp(&b.0));
            for pair in codes.windows(2) {
                let ((low, low_bits), (high, high_bits)) = (pair[0], pair[1]);
                let middle = low + (high - low) / 2.0;
                let even = if low_bits & 1 == 0 { low } else { high };
                let got = decode_float(element, encode_float(element, middle));
                assert_eq!(got, even, "{element}: between {low_bits:#x} and {high_bits:#x}");
                let below = low + (high - low) * 0.49;
                assert_eq!(decode_float(element, encode_float(element, below)), low, "{element}");
            }
        }
    }

    #[test]
    fn known_values() {
        assert_eq!(decode_float(ElementType::F8E4M3FN, 0x7E), 448.0);
        assert_eq!(decode_float(ElementType::F8E5M2, 0x7B), 57344.0);
        assert_eq!(decode_float(ElementType::F4E2M1FN, 0x7), 6.0);
        assert_eq!(encode_float(ElementType::F8E4M3FN, 1e9), 0x7F);
        assert_eq!(encode_float(ElementType::F8E5M2, -1e9), 0xFC);
        assert_eq!(encode_float(ElementType::F4E2M1FN, -1e9), 0xF);
        assert_eq!(encode_float(ElementType::F16, 0.1), 0x2E66);
        // Rounded once: through f32 this would be a tie.
        let above_tie = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(encode_float(ElementType::F16, above_tie), 0x3C01);
        assert!(decode_float(ElementType::F8E4M3FNUZ, 0x80).is_nan());
        for value in [0.0, -0.0, -1.0, f64::INFINITY, f64::NAN, 1e300] {
            assert_eq!(encode_float(ElementType::F8E8M0FNU, value), 0xFF, "{value}");
        }
        assert_eq!(encode_float(ElementType::F8E8M0FNU, 1e-300), 0);
    }
}

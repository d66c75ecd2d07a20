//! Single elements as numbers.

use smallvec::SmallVec;
use tofu_ir::{ElementKind, ElementType, decode_float, encode_float};

/// A number. What it means for a type to hold it is decided when it is encoded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Scalar {
    /// An integer or a boolean. Wraps to the width of its type.
    Int(i128),
    /// A float, rounded to the precision of its type.
    Float(f64),
}

/// The number in the bytes of an element; none for complex ones.
pub(super) fn decode(element: ElementType, bytes: &[u8]) -> Option<Scalar> {
    let bits = bytes.iter().take(8).rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
    let unused = 64u32.saturating_sub(element.bits());
    Some(match element.kind() {
        ElementKind::Bool => Scalar::Int(i128::from(bits & 1)),
        ElementKind::Signed => Scalar::Int(i128::from((bits << unused).cast_signed() >> unused)),
        ElementKind::Unsigned => Scalar::Int(i128::from(bits << unused >> unused)),
        ElementKind::Float => Scalar::Float(decode_float(element, bits)),
        ElementKind::Complex => return None,
    })
}

/// The bytes of an element that holds a number; none if its type is of another kind or is not folded.
pub(super) fn encode(element: ElementType, scalar: Scalar) -> Option<SmallVec<[u8; 16]>> {
    let unused = 64u32.saturating_sub(element.bits());
    let bits = match (scalar, element.kind()) {
        (Scalar::Int(value), ElementKind::Bool | ElementKind::Unsigned) => (value as u64) << unused >> unused,
        // What is left of a narrow number's byte repeats the sign.
        (Scalar::Int(value), ElementKind::Signed) => ((value as i64) << unused >> unused).cast_unsigned(),
        (Scalar::Float(value), ElementKind::Float) if element.bits() >= 16 => {
            let value = if value.is_nan() { QUIET_NAN } else { value };
            encode_float(element, value)
        }
        _ => return None,
    };
    Some(SmallVec::from_slice(&bits.to_le_bytes()[..element.storage_bytes()]))
}

/// The same on every machine, unlike the NaN that an operation makes.
const QUIET_NAN: f64 = f64::from_bits(0x7FF8_0000_0000_0000);

/// A number converted to another type; none where that is not defined or would be rounded twice.
pub(super) fn convert(from: ElementType, scalar: Scalar, to: ElementType) -> Option<Scalar> {
    Some(match (scalar, to.kind()) {
        (Scalar::Int(value), ElementKind::Bool) => Scalar::Int(i128::from(value != 0)),
        (Scalar::Float(value), ElementKind::Bool) => Scalar::Int(i128::from(value != 0.0)),
        (Scalar::Int(_), ElementKind::Signed | ElementKind::Unsigned) => scalar,
        (Scalar::Float(value), ElementKind::Signed | ElementKind::Unsigned) => {
            let (low, high) = to.integer_range()?;
            let towards_zero = value.trunc();
            // NaN and what is out of range become what the machine likes.
            let fits = towards_zero >= low as f64 && towards_zero < high as f64 + 1.0;
            Scalar::Int(fits.then_some(towards_zero as i128)?)
        }
        (Scalar::Int(value), ElementKind::Float) => {
            let exact = value as f64;
            match to {
                ElementType::F64 => Scalar::Float(exact),
                ElementType::F32 => Scalar::Float(f64::from(value as f32)),
                _ if from.bits() <= 32 => Scalar::Float(exact),
                _ => return None,
            }
        }
        (Scalar::Float(_), ElementKind::Float) => scalar,
        (_, ElementKind::Complex) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::*;

    fn through(element: ElementType, scalar: Scalar) -> Option<Scalar> {
        decode(element, &encode(element, scalar)?)
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(through(I8, Scalar::Int(200)), Some(Scalar::Int(-56)));
        assert_eq!(through(I4, Scalar::Int(-9)), Some(Scalar::Int(7)));
        assert_eq!(encode(I4, Scalar::Int(15)).unwrap()[..], [0xFF]);
        assert_eq!(encode(Ui4, Scalar::Int(-1)).unwrap()[..], [0x0F]);
        assert_eq!(through(Ui8, Scalar::Int(-1)), Some(Scalar::Int(255)));
        assert_eq!(through(Ui64, Scalar::Int(-1)), Some(Scalar::Int(u64::MAX.into())));
        assert_eq!(through(I64, Scalar::Int(1 << 63)), Some(Scalar::Int(i64::MIN.into())));
        assert_eq!(through(I1, Scalar::Int(!0)), Some(Scalar::Int(1)));
    }

    #[test]
    fn floats_round_once() {
        assert_eq!(through(F32, Scalar::Float(0.1)), Some(Scalar::Float(f64::from(0.1f32))));
        assert_eq!(through(BF16, Scalar::Float(257.0)), Some(Scalar::Float(256.0)));
        // Just above the middle between two neighbours, by less than a `f32` can tell.
        let above = |middle: f64| Scalar::Float(middle + 2f64.powi(-40));
        assert_eq!(through(F16, above(1.0 + 2f64.powi(-11))), Some(Scalar::Float(1.0 + 2f64.powi(-10))));
        assert_eq!(through(BF16, above(1.0 + 2f64.powi(-8))), Some(Scalar::Float(1.0 + 2f64.powi(-7))));
        assert_eq!(encode(F16, Scalar::Float(-f64::NAN)).unwrap()[..], [0x00, 0x7E]);
        assert_eq!(encode(F8E4M3FN, Scalar::Float(1.0)), None);
        assert_eq!(encode(I32, Scalar::Float(1.0)), None);
    }

    #[test]
    fn conversions_that_are_defined() {
        let to = |value: f64, element| convert(F64, Scalar::Float(value), element);
        assert_eq!(to(-1.9, I8), Some(Scalar::Int(-1)));
        assert_eq!(to(127.9, I8), Some(Scalar::Int(127)));
        assert_eq!(to(128.0, I8), None);
        assert_eq!(to(-0.5, Ui8), Some(Scalar::Int(0)));
        assert_eq!(to(f64::NAN, I8), None);
        assert_eq!(to(9.3e18, I64), None);
        assert_eq!(to(f64::NAN, I1), Some(Scalar::Int(1)));
        let odd = Scalar::Int((1 << 24) + 1);
        assert_eq!(convert(I32, odd, F32), Some(Scalar::Float(16_777_216.0)));
        assert_eq!(convert(I64, odd, BF16), None);
        assert_eq!(convert(I32, Scalar::Int(-7), BF16), Some(Scalar::Float(-7.0)));
    }
}

//! What scalar functions compute, for every element type.
//!
//! Integers wrap. Floats are computed in `f64` and rounded once to their type: for the four operations and the square
//! root of any type up to `f32` that is the correctly rounded result, since 53 bits are at least twice 24 plus 2
//! (Figueroa, "When is double rounding innocuous?", 1995). Other functions are those of `libm`, the same on every
//! machine. Corner cases follow the StableHLO specification; where it leaves them open, what XLA does: an integer
//! divided by zero is -1 (all bits set) and leaves itself as remainder, the least integer divided by -1 is itself,
//! conversions to integers truncate and saturate, and NaN converts to 0.

pub(crate) mod complex;
mod float;
mod integer;
mod special;

use tofu_ir::{ElementKind, ElementType, decode_float, encode_float};

use crate::description::{Reducer, TypeRef};
use crate::scalar::{BinaryOp, Comparison, Literal, UnaryOp};

/// A value of some element type: integers sign- or zero-extended, floats as their bits, complex numbers as the bits of
/// both parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Word {
    /// The value, or the real part.
    pub low: u64,
    /// The imaginary part.
    pub high: u64,
}

/// A function of one value.
pub type UnaryFn = fn(UnaryOp, ElementType, Word) -> Word;
/// A function of two values.
pub type BinaryFn = fn(BinaryOp, ElementType, Word, Word) -> Word;

impl Word {
    /// A boolean.
    pub fn bool(value: bool) -> Word {
        Word { low: u64::from(value), high: 0 }
    }

    /// An integer of a signed type of 64 bits, or an index.
    pub fn int(value: i64) -> Word {
        Word { low: value as u64, high: 0 }
    }

    /// A float, rounded.
    pub fn of_float(element: ElementType, value: f64) -> Word {
        let low = match element {
            ElementType::F32 => u64::from((value as f32).to_bits()),
            ElementType::F64 => value.to_bits(),
            _ => encode_float(element, value),
        };
        Word { low, high: 0 }
    }

    /// A complex number, each part rounded.
    pub fn of_complex(element: ElementType, re: f64, im: f64) -> Word {
        let part = element.part();
        Word { low: Word::of_float(part, re).low, high: Word::of_float(part, im).low }
    }

    /// An integer of any size, wrapped.
    pub fn of_int(element: ElementType, value: i128) -> Word {
        match element.kind() {
            ElementKind::Bool => Word::bool(value != 0),
            _ => Word::extended(element, value as u64),
        }
    }

    /// An integer of its lowest bits.
    pub fn extended(element: ElementType, bits: u64) -> Word {
        let unused = 64u32.saturating_sub(element.bits());
        let low = match element.kind() {
            ElementKind::Bool => u64::from(bits != 0),
            ElementKind::Signed => ((bits << unused) as i64 >> unused) as u64,
            _ => (bits << unused) >> unused,
        };
        Word { low, high: 0 }
    }

    /// The value of a float.
    pub fn as_float(self, element: ElementType) -> f64 {
        match element {
            ElementType::F32 => f64::from(f32::from_bits(self.low as u32)),
            ElementType::F64 => f64::from_bits(self.low),
            _ => decode_float(element, self.low),
        }
    }

    /// The value of an integer.
    pub fn as_int(self, element: ElementType) -> i128 {
        match element.kind() {
            ElementKind::Signed => i128::from(self.low as i64),
            _ => i128::from(self.low),
        }
    }

    /// The real and the imaginary part of a complex number.
    pub fn as_complex(self, element: ElementType) -> (f64, f64) {
        let part = element.part();
        let high = Word { low: self.high, high: 0 };
        (self.as_float(part), high.as_float(part))
    }

    /// The value of an element in its little-endian [storage](ElementType::storage_bytes).
    #[inline]
    pub fn read(element: ElementType, bytes: &[u8]) -> Word {
        match element.kind() {
            ElementKind::Complex => {
                let (low, high) = bytes.split_at(bytes.len() / 2);
                Word { low: little_endian(low), high: little_endian(high) }
            }
            ElementKind::Float => Word { low: little_endian(bytes), high: 0 },
            _ => Word::extended(element, little_endian(bytes)),
        }
    }

    /// Writes an element into its storage.
    #[inline]
    pub fn write(self, element: ElementType, bytes: &mut [u8]) {
        if element.is_complex() {
            let (low, high) = bytes.split_at_mut(bytes.len() / 2);
            low.copy_from_slice(&self.low.to_le_bytes()[..low.len()]);
            high.copy_from_slice(&self.high.to_le_bytes()[..high.len()]);
        } else {
            bytes.copy_from_slice(&self.low.to_le_bytes()[..bytes.len()]);
        }
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

/// A constant of a type.
pub fn literal(literal: Literal, element: ElementType) -> Word {
    let real = |value: f64| match element.kind() {
        ElementKind::Float => Word::of_float(element, value),
        ElementKind::Complex => Word::of_complex(element, value, 0.0),
        _ => convert(ElementType::F64, element, Word::of_float(ElementType::F64, value)),
    };
    match literal {
        Literal::Int(value) if element.is_integer() => Word::of_int(element, value),
        Literal::Int(value) => match i64::try_from(value) {
            Ok(value) => convert(ElementType::I64, element, Word::int(value)),
            Err(_) => real(value as f64),
        },
        Literal::Float(bits) => real(f64::from_bits(bits)),
        Literal::NaN => real(f64::NAN),
        Literal::Highest => extreme(element, true),
        Literal::Lowest => extreme(element, false),
    }
}

fn extreme(element: ElementType, highest: bool) -> Word {
    if let Some((low, high)) = element.integer_range() {
        return Word::of_int(element, if highest { high } else { low });
    }
    let part = element.part();
    let infinity = if highest { f64::INFINITY } else { f64::NEG_INFINITY };
    let mut value = infinity;
    if part.bits() <= 8 && Word::of_float(part, infinity).as_float(part) != infinity {
        // Formats without infinity have few codes.
        let codes = (0..1u64 << part.bits()).map(|bits| decode_float(part, bits)).filter(|v| !v.is_nan());
        value = codes.fold(-infinity, |best, v| if highest { best.max(v) } else { best.min(v) });
    }
    if element.is_complex() { Word::of_complex(element, value, 0.0) } else { Word::of_float(element, value) }
}

/// What a reducer gives of nothing.
pub fn identity(reducer: Reducer, element: ElementType) -> Word {
    literal(reducer.identity(TypeRef::Concrete(element)), element)
}

/// The function that combines two values for a reducer.
pub fn reducer_op(reducer: Reducer) -> BinaryOp {
    match reducer {
        Reducer::Sum | Reducer::Custom(_) => BinaryOp::Add,
        Reducer::Prod => BinaryOp::Mul,
        Reducer::Max => BinaryOp::Max,
        Reducer::Min => BinaryOp::Min,
        Reducer::And => BinaryOp::And,
        Reducer::Or => BinaryOp::Or,
    }
}

/// The implementation of a function for a type.
pub fn unary_fn(element: ElementType) -> UnaryFn {
    match element.kind() {
        ElementKind::Float => float::unary,
        ElementKind::Complex => complex::unary,
        _ => integer::unary,
    }
}

/// The implementation of a function for a type.
pub fn binary_fn(op: BinaryOp, element: ElementType) -> BinaryFn {
    match (element, op) {
        (ElementType::F32, BinaryOp::Add) => |_, _, a, b| float::f32_op(a, b, |a, b| a + b),
        (ElementType::F32, BinaryOp::Sub) => |_, _, a, b| float::f32_op(a, b, |a, b| a - b),
        (ElementType::F32, BinaryOp::Mul) => |_, _, a, b| float::f32_op(a, b, |a, b| a * b),
        (ElementType::F64, BinaryOp::Add) => |_, _, a, b| float::f64_op(a, b, |a, b| a + b),
        (ElementType::F64, BinaryOp::Sub) => |_, _, a, b| float::f64_op(a, b, |a, b| a - b),
        (ElementType::F64, BinaryOp::Mul) => |_, _, a, b| float::f64_op(a, b, |a, b| a * b),
        _ => match element.kind() {
            ElementKind::Float => float::binary,
            ElementKind::Complex => complex::binary,
            _ => integer::binary,
        },
    }
}

/// Whether a comparison holds.
pub fn compare(comparison: Comparison, element: ElementType, a: Word, b: Word) -> bool {
    let order = match element.kind() {
        ElementKind::Float => a.as_float(element).partial_cmp(&b.as_float(element)),
        ElementKind::Signed => Some((a.low as i64).cmp(&(b.low as i64))),
        ElementKind::Bool | ElementKind::Unsigned => Some(a.low.cmp(&b.low)),
        ElementKind::Complex => {
            (a.as_complex(element) == b.as_complex(element)).then_some(std::cmp::Ordering::Equal)
        }
    };
    comparison.holds(order)
}

/// A value in another type.
pub fn convert(from: ElementType, to: ElementType, word: Word) -> Word {
    use ElementKind::*;
    match (from.kind(), to.kind()) {
        _ if from == to => word,
        (Complex, Complex) => {
            let (re, im) = word.as_complex(from);
            Word::of_complex(to, re, im)
        }
        (Complex, Bool) => Word::bool(word.as_complex(from) != (0.0, 0.0)),
        (Complex, _) => {
            let part = from.part();
            convert(part, to, Word { low: word.low, high: 0 })
        }
        (_, Complex) => Word { low: convert(from, to.part(), word).low, high: 0 },
        (Float, Float) => Word::of_float(to, word.as_float(from)),
        (Float, Bool) => Word::bool(word.as_float(from) != 0.0),
        (Float, _) => {
            let (low, high) = to.integer_range().unwrap_or((0, 0));
            Word::of_int(to, (word.as_float(from) as i128).clamp(low, high))
        }
        (_, Float) => match (word.as_int(from), to) {
            (value, ElementType::F32) => Word { low: u64::from((value as f32).to_bits()), high: 0 },
            (value, ElementType::F64) => Word::of_float(to, value as f64),
            (value, _) => Word::of_float(to, rounded_to_odd(value)),
        },
        (_, Bool) => Word::bool(word.as_int(from) != 0),
        _ => Word::of_int(to, word.as_int(from)),
    }
}

/// An integer as an `f64` whose last bit is set if anything was lost, so that rounding again rounds as once.
fn rounded_to_odd(value: i128) -> f64 {
    let magnitude = value.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let kept = magnitude >> excess;
    let lost = kept << excess != magnitude;
    let odd = (kept | u128::from(lost)) << excess;
    if value < 0 { -(odd as f64) } else { odd as f64 }
}

/// An integer as an index; what does not fit becomes the greatest index.
pub fn to_index(element: ElementType, word: Word) -> i64 {
    i64::try_from(word.as_int(element)).unwrap_or(i64::MAX)
}

/// The same bits as another type.
pub fn bitcast(from: ElementType, to: ElementType, word: Word) -> Word {
    if from.is_complex() {
        return word;
    }
    let bits = from.bits();
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let raw = word.low & mask;
    if to.is_integer() { Word::of_int(to, i128::from(raw)) } else { Word { low: raw, high: 0 } }
}

#[cfg(test)]
mod tests;

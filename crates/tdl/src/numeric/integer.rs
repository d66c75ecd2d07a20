//! Integers and booleans: everything wraps, nothing traps.

use tofu_ir::{ElementKind, ElementType};

use super::Word;
use crate::scalar::{BinaryOp, UnaryOp};

pub(super) fn unary(op: UnaryOp, element: ElementType, a: Word) -> Word {
    let value = a.as_int(element);
    let bits = element.bits();
    let raw = if bits >= 64 { a.low } else { a.low & ((1 << bits) - 1) };
    Word::of_int(
        element,
        match op {
            UnaryOp::Neg => -value,
            UnaryOp::Not if element.kind() == ElementKind::Bool => i128::from(value == 0),
            UnaryOp::Not => !value,
            UnaryOp::Abs => value.abs(),
            UnaryOp::Sign => value.signum(),
            UnaryOp::Popcnt => i128::from(raw.count_ones()),
            UnaryOp::CountLeadingZeros => i128::from(raw.leading_zeros().saturating_sub(64 - bits)),
            // Of no integer; refused where element types are checked.
            _ => value,
        },
    )
}

pub(super) fn binary(op: BinaryOp, element: ElementType, a: Word, b: Word) -> Word {
    let (x, y) = (a.as_int(element), b.as_int(element));
    if element.kind() == ElementKind::Bool {
        let (x, y) = (x != 0, y != 0);
        return Word::bool(match op {
            BinaryOp::Add | BinaryOp::Or | BinaryOp::Max => x | y,
            BinaryOp::Mul | BinaryOp::And | BinaryOp::Min => x & y,
            _ => x ^ y,
        });
    }
    let shift = |by: i128| u32::try_from(by).ok().filter(|&by| by < element.bits());
    let raw = x & i128::from(u64::MAX >> (64 - element.bits()));
    Word::of_int(
        element,
        match op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x.wrapping_mul(y),
            BinaryOp::MulHigh => upper_half(x, y, element.bits()),
            BinaryOp::Div if y == 0 => -1,
            BinaryOp::Div => x / y,
            BinaryOp::Rem if y == 0 => x,
            BinaryOp::Rem => x % y,
            BinaryOp::Max => x.max(y),
            BinaryOp::Min => x.min(y),
            BinaryOp::Pow => power(x, y),
            BinaryOp::And => x & y,
            BinaryOp::Or => x | y,
            BinaryOp::Xor => x ^ y,
            BinaryOp::ShiftLeft => shift(y).map_or(0, |by| x.wrapping_shl(by)),
            BinaryOp::ShiftRightLogical => shift(y).map_or(0, |by| raw >> by),
            BinaryOp::ShiftRightArithmetic => {
                // Unsigned values are shifted as the signed ones of the same bits.
                let unused = 128 - element.bits();
                let signed = (raw << unused) >> unused;
                shift(y).map_or(if signed < 0 { -1 } else { 0 }, |by| signed >> by)
            }
            BinaryOp::Atan2
            | BinaryOp::NextAfter
            | BinaryOp::Zeta
            | BinaryOp::Polygamma
            | BinaryOp::Complex => x,
        },
    )
}

/// The bits of a product above the lowest `bits`, at most 64.
fn upper_half(x: i128, y: i128, bits: u32) -> i128 {
    match x.checked_mul(y) {
        Some(product) => product >> bits,
        // Of unsigned factors, which are positive.
        None => (x.cast_unsigned().wrapping_mul(y.cast_unsigned()) >> bits).cast_signed(),
    }
}

/// A power modulo 2^128; of a negative exponent the quotient 1 / x^-y, rounded towards zero.
fn power(base: i128, exponent: i128) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let (mut result, mut square, mut left) = (1i128, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    result
}

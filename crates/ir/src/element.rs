//! The types of tensor elements, and how their values are laid out in bytes.
//!
//! An element takes [`ElementType::storage_bytes`] bytes, little endian; the narrow types (`i1`, `f4…`, `i4`) take a
//! whole byte each in constants and in the interpreter. What a device needs for them is
//! [`ElementType::bits`] rounded up over the tensor.

/// The type of one element of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are the types as they are written")]
pub enum ElementType {
    I1,
    I2,
    I4,
    I8,
    I16,
    I32,
    I64,
    Ui2,
    Ui4,
    Ui8,
    Ui16,
    Ui32,
    Ui64,
    F4E2M1FN,
    F6E2M3FN,
    F6E3M2FN,
    F8E3M4,
    F8E4M3,
    F8E4M3B11FNUZ,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0FNU,
    BF16,
    F16,
    F32,
    F64,
    Complex32,
    Complex64,
    Index,
}

/// The families of element types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElementKind {
    /// `i1`: false or true.
    Bool,
    /// Two's complement. StableHLO's `i…` are signed; `index` counts as signed.
    Signed,
    /// `ui…`.
    Unsigned,
    /// Any floating-point type.
    Float,
    /// A pair of floats, real part first.
    Complex,
}

use ElementType::*;

impl ElementType {
    /// Every element type, in the order of the enumeration.
    pub const ALL: [ElementType; 31] = [
        I1,
        I2,
        I4,
        I8,
        I16,
        I32,
        I64,
        Ui2,
        Ui4,
        Ui8,
        Ui16,
        Ui32,
        Ui64,
        F4E2M1FN,
        F6E2M3FN,
        F6E3M2FN,
        F8E3M4,
        F8E4M3,
        F8E4M3B11FNUZ,
        F8E4M3FN,
        F8E4M3FNUZ,
        F8E5M2,
        F8E5M2FNUZ,
        F8E8M0FNU,
        BF16,
        F16,
        F32,
        F64,
        Complex32,
        Complex64,
        Index,
    ];

    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            I1 => "i1",
            I2 => "i2",
            I4 => "i4",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            Ui2 => "ui2",
            Ui4 => "ui4",
            Ui8 => "ui8",
            Ui16 => "ui16",
            Ui32 => "ui32",
            Ui64 => "ui64",
            F4E2M1FN => "f4E2M1FN",
            F6E2M3FN => "f6E2M3FN",
            F6E3M2FN => "f6E3M2FN",
            F8E3M4 => "f8E3M4",
            F8E4M3 => "f8E4M3",
            F8E4M3B11FNUZ => "f8E4M3B11FNUZ",
            F8E4M3FN => "f8E4M3FN",
            F8E4M3FNUZ => "f8E4M3FNUZ",
            F8E5M2 => "f8E5M2",
            F8E5M2FNUZ => "f8E5M2FNUZ",
            F8E8M0FNU => "f8E8M0FNU",
            BF16 => "bf16",
            F16 => "f16",
            F32 => "f32",
            F64 => "f64",
            Complex32 => "complex<f32>",
            Complex64 => "complex<f64>",
            Index => "index",
        }
    }

    /// The type that is written `name`.
    pub fn from_name(name: &str) -> Option<ElementType> {
        ElementType::ALL.into_iter().find(|element| element.name() == name)
    }

    /// Its family.
    pub fn kind(self) -> ElementKind {
        match self {
            I1 => ElementKind::Bool,
            I2 | I4 | I8 | I16 | I32 | I64 | Index => ElementKind::Signed,
            Ui2 | Ui4 | Ui8 | Ui16 | Ui32 | Ui64 => ElementKind::Unsigned,
            Complex32 | Complex64 => ElementKind::Complex,
            _ => ElementKind::Float,
        }
    }

    /// True for integers of either sign, `i1` and `index`.
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), ElementKind::Bool | ElementKind::Signed | ElementKind::Unsigned)
    }

    /// True for real floating-point types.
    pub fn is_float(self) -> bool {
        self.kind() == ElementKind::Float
    }

    /// True for complex types.
    pub fn is_complex(self) -> bool {
        self.kind() == ElementKind::Complex
    }

    /// The type of a complex number's parts; any other type is its own.
    pub fn part(self) -> ElementType {
        match self {
            Complex32 => F32,
            Complex64 => F64,
            other => other,
        }
    }

    /// Its width in bits.
    pub fn bits(self) -> u32 {
        match self {
            I1 => 1,
            I2 | Ui2 => 2,
            I4 | Ui4 | F4E2M1FN => 4,
            F6E2M3FN | F6E3M2FN => 6,
            I8 | Ui8 | F8E3M4 | F8E4M3 | F8E4M3B11FNUZ | F8E4M3FN | F8E4M3FNUZ | F8E5M2 | F8E5M2FNUZ
            | F8E8M0FNU => 8,
            I16 | Ui16 | BF16 | F16 => 16,
            I32 | Ui32 | F32 => 32,
            I64 | Ui64 | F64 | Complex32 | Index => 64,
            Complex64 => 128,
        }
    }

    /// The bytes one element takes in a constant.
    pub fn storage_bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }

    /// Whether a byte can be part of an element's storage. Types narrower than a byte take a whole one, whose other bits
    /// repeat the sign, or are zero.
    pub fn holds_byte(self, byte: u8) -> bool {
        match self.bits() {
            8.. => true,
            bits if self.kind() == ElementKind::Signed => {
                let unused = 8 - bits;
                ((byte << unused) as i8 >> unused) as u8 == byte
            }
            bits => byte >> bits == 0,
        }
    }

    /// The smallest and the largest value of an integer type.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        let bits = self.bits();
        match self.kind() {
            ElementKind::Bool => Some((0, 1)),
            ElementKind::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            ElementKind::Unsigned => Some((0, (1 << bits) - 1)),
            ElementKind::Float | ElementKind::Complex => None,
        }
    }
}

impl std::fmt::Display for ElementType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for element in ElementType::ALL {
            assert_eq!(ElementType::from_name(element.name()), Some(element));
        }
        assert_eq!(ElementType::from_name("f31"), None);
    }

    #[test]
    fn narrow_elements_are_extended_to_a_byte() {
        assert!(I4.holds_byte(0xFF) && I4.holds_byte(0x07) && !I4.holds_byte(0x08) && !I4.holds_byte(0x7F));
        assert!(Ui4.holds_byte(0x0F) && !Ui4.holds_byte(0xFF));
        assert!(
            I1.holds_byte(1) && !I1.holds_byte(2) && F6E2M3FN.holds_byte(0x3F) && !F6E2M3FN.holds_byte(0x40)
        );
        assert!(F32.holds_byte(0xFF));
    }

    #[test]
    fn integer_ranges() {
        assert_eq!(I8.integer_range(), Some((-128, 127)));
        assert_eq!(Ui64.integer_range(), Some((0, u64::MAX as i128)));
        assert_eq!(I1.integer_range(), Some((0, 1)));
        assert_eq!(F32.integer_range(), None);
    }
}

//! Arguments drawn at random, the same on every machine.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), one
//! stream for all arguments in their order. Floats are multiples of 2^-23 in [-1, 1), rounded to their type, and so are
//! both parts of complex numbers; integers are drawn from 0..8 as far as their type holds them, truth values are even odds.

use tofu_ir::{ElementKind, TensorType};
use tofu_tdl::Tensor;

/// Tensors of these types.
///
/// # Errors
///
/// An extent is not known, or a tensor does not fit into the memory.
pub fn draw(seed: u64, types: &[TensorType]) -> Result<Vec<Tensor>, String> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    };
    let mut draw = |(number, ty): (usize, &TensorType)| {
        let dims = ty.static_dims().ok_or_else(|| {
            format!("argument {number} cannot be drawn, since not all of its extents are known")
        })?;
        let mut tensor = Tensor::zeros(ty.element, &dims)?;
        let mut float = || (next() >> 40) as f64 / f64::from(1 << 23) - 1.0;
        for index in 0..tensor.len() {
            match ty.element.kind() {
                ElementKind::Float => tensor.set_number(index, float()),
                ElementKind::Complex => {
                    let re = float();
                    tensor.set_complex(index, re, float());
                }
                _ => {
                    let (_, high) = ty.element.integer_range().unwrap_or((0, 0));
                    // From the highest bits, like the floats.
                    let drawn = ((float() + 1.0) * 4.0) as i128;
                    tensor.set_integer(index, drawn % (high.min(7) + 1));
                }
            }
        }
        Ok(tensor)
    };
    types.iter().enumerate().map(&mut draw).collect()
}

#[cfg(test)]
mod tests {
    use tofu_ir::ElementType::*;

    use super::*;

    /// The first numbers of the published generator from seed 0 are 0xE220A8397B1DCDAF and 0x6E789E6AA1B965F4.
    #[test]
    fn the_stream_is_the_published_one() {
        let drawn = draw(0, &[TensorType::of(&[1], F32), TensorType::of(&[], F64)]).unwrap();
        assert_eq!(drawn[0].number(0), f64::from(0xE220A8_u32) / 8_388_608.0 - 1.0);
        assert_eq!(drawn[1].number(0), f64::from(0x6E789E_u32) / 8_388_608.0 - 1.0);
    }

    #[test]
    fn values_lie_in_their_ranges() {
        let types = [F32, BF16, Complex32, I32, Ui2, I2, I1].map(|element| TensorType::of(&[500], element));
        let drawn = draw(7, &types).unwrap();
        let range = |number: usize| {
            let numbers = drawn[number].numbers();
            (
                numbers.iter().copied().fold(f64::MAX, f64::min),
                numbers.iter().copied().fold(f64::MIN, f64::max),
            )
        };
        assert!(range(0).0 < -0.9 && range(0).1 > 0.9 && range(0).1 < 1.0);
        assert!(range(1).0 >= -1.0 && range(2).1 < 1.0);
        assert_eq!([3, 4, 5, 6].map(range), [(0.0, 7.0), (0.0, 3.0), (0.0, 1.0), (0.0, 1.0)]);
        assert!(
            draw(0, &[TensorType { dims: [tofu_ir::Dim::Unknown].into_iter().collect(), element: F32 }])
                .is_err()
        );
    }
}

//! Arrays as tensors, and back.

use tofu_ir::{Dim, ElementKind, ElementType, TensorType};
use tofu_tdl::Tensor;

use crate::npy::{Array, Kind, shape};

/// The kind and size of the elements of the array that holds a tensor's.
fn element(element: ElementType) -> (Kind, usize) {
    let size = element.storage_bytes();
    match element.kind() {
        ElementKind::Bool => (Kind::Bool, 1),
        ElementKind::Signed => (Kind::Signed, size),
        ElementKind::Unsigned => (Kind::Unsigned, size),
        ElementKind::Complex => (Kind::Complex, size),
        ElementKind::Float if is_native(element) => (Kind::Float, size),
        ElementKind::Float => (Kind::Float, 4),
    }
}

/// Whether NumPy has a type for the elements; else they are converted.
fn is_native(element: ElementType) -> bool {
    use ElementType::*;
    matches!(element, F16 | F32 | F64) || !element.is_float()
}

/// For messages: which arrays hold tensors of a type.
pub(crate) fn expected(ty: &TensorType) -> String {
    let (kind, size) = element(ty.element);
    let dims: Vec<String> = ty
        .dims
        .iter()
        .map(|dim| match dim {
            Dim::Static(size) => size.to_string(),
            _ => "?".to_owned(),
        })
        .collect();
    format!("{} {}", kind.name(size), shape(&dims))
}

/// The tensor that an array holds; or how it differs from what is expected.
pub fn tensor(array: &Array, ty: &TensorType) -> Result<Tensor, String> {
    let fits = ty.rank() == array.dims.len()
        && ty.dims.iter().zip(&array.dims).all(|(dim, size)| dim.size().is_none_or(|dim| dim == *size));
    if !fits || element(ty.element) != (array.kind, array.size) {
        return Err(format!("{} came", array.text()));
    }
    if !is_native(ty.element) {
        let mut tensor = Tensor::zeros(ty.element, &array.dims)?;
        for (index, bytes) in array.bytes.as_chunks().0.iter().enumerate() {
            tensor.set_number(index, f64::from(f32::from_le_bytes(*bytes)));
        }
        return Ok(tensor);
    }
    let wrong = array.bytes.iter().position(|&byte| !ty.element.holds_byte(byte));
    if let Some(index) = wrong {
        let value = match array.kind {
            Kind::Signed => (array.bytes[index] as i8).to_string(),
            _ => array.bytes[index].to_string(),
        };
        return Err(format!("element {index} is {value}, which is no `{}`", ty.element));
    }
    Tensor::from_bytes(ty.element, &array.dims, array.bytes.clone())
}

/// The array that holds a tensor.
pub(crate) fn array(tensor: &Tensor) -> Array {
    let (kind, size) = element(tensor.element());
    let bytes = if is_native(tensor.element()) {
        tensor.bytes().to_vec()
    } else {
        tensor.numbers().into_iter().flat_map(|number| (number as f32).to_le_bytes()).collect()
    };
    Array { kind, size, dims: tensor.dims().to_vec(), bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tensor_comes_back() {
        for element in ElementType::ALL {
            let mut tensor = Tensor::zeros(element, &[3, 2]).unwrap();
            (0..6).for_each(|index| tensor.set_number(index, [1.0, 0.0, 1.0, 0.0, 0.0, 1.0][index]));
            let array = array(&tensor);
            assert_eq!(super::tensor(&array, &tensor.ty()), Ok(tensor), "{element}");
        }
    }

    #[test]
    fn narrow_types_are_wider_in_arrays() {
        let text = |element| expected(&TensorType::of(&[2], element));
        assert_eq!(text(ElementType::BF16), "float32 (2,)");
        assert_eq!(text(ElementType::F8E4M3FN), "float32 (2,)");
        assert_eq!(text(ElementType::Ui4), "uint8 (2,)");
        assert_eq!(text(ElementType::Index), "int64 (2,)");
        assert_eq!(text(ElementType::I1), "bool (2,)");
        let array = Array { kind: Kind::Signed, size: 1, dims: vec![2], bytes: vec![0xFF, 0x09] };
        let error = tensor(&array, &TensorType::of(&[2], ElementType::I4)).unwrap_err();
        assert_eq!(error, "element 1 is 9, which is no `i4`");
    }
}

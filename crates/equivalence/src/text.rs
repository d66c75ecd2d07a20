//! Elements, types and distances in few words.

use std::fmt::Write as _;

use tofu_ir::{Dim, ElementKind, TensorType};
use tofu_tdl::Tensor;

/// A type of known extents, as programs write it.
pub fn type_text(ty: &TensorType) -> String {
    let mut out = "tensor<".to_owned();
    for dim in &ty.dims {
        // Writing into a string cannot fail.
        let _ = match dim {
            Dim::Static(size) => write!(out, "{size}x"),
            _ => write!(out, "?x"),
        };
    }
    out + ty.element.name() + ">"
}

/// One element.
pub fn element_text(tensor: &Tensor, index: usize) -> String {
    let number = |value: f64| match tensor.element().part() {
        tofu_ir::ElementType::F64 => decimal(value, |value| format!("{value:?}")),
        // Numbers of the narrow types fit into an `f32`, and need no more digits than those of one.
        _ => decimal(value, |value| format!("{:?}", value as f32)),
    };
    match tensor.element().kind() {
        ElementKind::Bool => (tensor.integer(index) != 0).to_string(),
        ElementKind::Float => number(tensor.number(index)),
        ElementKind::Complex => {
            let (re, im) = tensor.complex_at(index);
            let sign = if im.is_sign_negative() && !im.is_nan() { "" } else { "+" };
            format!("{}{sign}{}i", number(re), number(im))
        }
        _ => tensor.integer(index).to_string(),
    }
}

/// A number in digits as `digits` writes them, unless it is none.
pub fn decimal(value: f64, digits: impl Fn(f64) -> String) -> String {
    match value {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        _ => digits(value),
    }
}

/// A distance or a tolerance, in few digits.
pub fn distance_text(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        _ if value.is_finite() => {
            let text = format!("{value:.2e}");
            text.replace(".00e", "e").replace("0e", "e")
        }
        _ => decimal(value, |_| String::new()),
    }
}

#[cfg(test)]
mod tests {
    use tofu_ir::ElementType::{self, *};

    use super::*;

    #[test]
    fn elements_are_written_in_few_digits() {
        let one = |element: ElementType, number| {
            element_text(&Tensor::from_numbers(element, &[], &[number]).unwrap(), 0)
        };
        assert_eq!(one(F32, 0.1), "0.1");
        assert_eq!(one(F64, 0.1), "0.1");
        assert_eq!(one(BF16, 0.1), "0.100097656");
        assert_eq!(one(F32, 1e-20), "1e-20");
        assert_eq!([one(F32, f64::NAN), one(F32, f64::NEG_INFINITY), one(I1, 1.0)], ["nan", "-inf", "true"]);
        assert_eq!(one(Complex32, -0.5), "-0.5+0.0i");
        let distances = [0.0, 1.5e-7, 2e-3, f64::INFINITY].map(distance_text);
        assert_eq!(distances, ["0", "1.5e-7", "2e-3", "inf"]);
    }
}

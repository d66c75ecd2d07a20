//! Tensors as text, as NumPy would print them.

use std::fmt::Write as _;

use tofu_ir::{Dim, ElementKind, TensorType};
use tofu_tdl::Tensor;

/// Of a tensor with more elements than this, only the ends of each dimension are shown.
const MANY: usize = 1000;
/// How many indices at each end.
const ENDS: u64 = 3;

/// All results: the name, the type and the elements of each.
pub(crate) fn results(results: &[Tensor]) -> String {
    let mut out = String::new();
    for (number, result) in results.iter().enumerate() {
        // Writing into a string cannot fail.
        let _ = writeln!(out, "res{number}: {}", type_text(&result.ty()));
        out.push_str(&elements(result));
        out.push('\n');
    }
    out
}

/// A type of known extents, as programs write it.
pub(crate) fn type_text(ty: &TensorType) -> String {
    let mut out = "tensor<".to_owned();
    for dim in &ty.dims {
        let _ = match dim {
            Dim::Static(size) => write!(out, "{size}x"),
            _ => write!(out, "?x"),
        };
    }
    out + ty.element.name() + ">"
}

/// One element.
pub(crate) fn element(tensor: &Tensor, index: usize) -> String {
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

fn decimal(value: f64, digits: impl Fn(f64) -> String) -> String {
    match value {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        _ => digits(value),
    }
}

/// A distance or a tolerance, in few digits.
pub(crate) fn error(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        _ if value.is_finite() => {
            let text = format!("{value:.2e}");
            text.replace(".00e", "e").replace("0e", "e")
        }
        _ => decimal(value, |_| String::new()),
    }
}

/// The elements in brackets, one row a line, in columns.
fn elements(tensor: &Tensor) -> String {
    let is_long = tensor.len() > MANY;
    let shown = |dim: u64| -> Vec<Option<u64>> {
        if !is_long || dim <= 2 * ENDS {
            return (0..dim).map(Some).collect();
        }
        (0..ENDS).map(Some).chain([None]).chain((dim - ENDS..dim).map(Some)).collect()
    };
    let Some((&row, outer)) = tensor.dims().split_last() else { return element(tensor, 0) };
    if tensor.is_empty() {
        return format!("{}{}", "[".repeat(tensor.dims().len()), "]".repeat(tensor.dims().len()));
    }
    // The rows that are shown: the number of each, and how many brackets open and close there; or a gap, and how far in.
    let mut rows: Vec<(Option<u64>, usize, usize)> = vec![(Some(0), 1, 1)];
    for (level, &dim) in outer.iter().enumerate() {
        let indices = shown(dim);
        let mut inner = Vec::new();
        for (number, opens, closes) in rows {
            let Some(number) = number else {
                inner.push((None, opens, closes));
                continue;
            };
            for (at, index) in indices.iter().enumerate() {
                let first = if at == 0 { opens + 1 } else { 1 };
                let last = if at + 1 == indices.len() { closes + 1 } else { 1 };
                match index {
                    Some(index) => inner.push((Some(number * dim + index), first, last)),
                    None => inner.push((None, level + 1, 0)),
                }
            }
        }
        rows = inner;
    }
    let lanes = shown(row);
    let texts: Vec<Vec<String>> = rows
        .iter()
        .map(|(number, ..)| {
            let text = |lane: &Option<u64>| match (number, lane) {
                (Some(number), Some(lane)) => element(tensor, (number * row + lane) as usize),
                _ => "...".to_owned(),
            };
            if number.is_some() { lanes.iter().map(text).collect() } else { vec!["...".to_owned()] }
        })
        .collect();
    let width = texts.iter().flatten().map(String::len).max().unwrap_or(0);
    let depth = tensor.dims().len();
    let mut out = String::new();
    for (at, (texts, (number, opens, closes))) in texts.iter().zip(&rows).enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if number.is_none() {
            let _ = write!(out, "{}...", " ".repeat(*opens));
            continue;
        }
        let texts: Vec<String> = texts.iter().map(|text| format!("{text:>width$}")).collect();
        let _ = write!(
            out,
            "{}{}{}{}",
            " ".repeat(depth - opens),
            "[".repeat(*opens),
            texts.join(", "),
            "]".repeat(*closes)
        );
        if closes < &depth {
            out.push(',');
        }
    }
    out
}

/// What devices sent, as a line.
pub(crate) fn traffic(bytes: u64, traffic: &tofu_interpreter::Traffic) -> String {
    let times: u64 = traffic
        .ops()
        .iter()
        .filter(|sending| sending.sent.iter().any(|&bytes| bytes > 0))
        .map(|sending| sending.times)
        .sum();
    format!("{times} collectives, in which a device sends {bytes} bytes\n")
}

#[cfg(test)]
mod tests {
    use tofu_ir::ElementType::{self, *};

    use super::*;

    fn tensor(element: ElementType, dims: &[u64], numbers: &[f64]) -> Tensor {
        Tensor::from_numbers(element, dims, numbers).unwrap()
    }

    #[test]
    fn elements_are_written_in_few_digits() {
        let one = |element, number| super::element(&tensor(element, &[], &[number]), 0);
        assert_eq!(one(F32, 0.1), "0.1");
        assert_eq!(one(F64, 0.1), "0.1");
        assert_eq!(one(BF16, 0.1), "0.100097656");
        assert_eq!(one(F32, 1e-20), "1e-20");
        assert_eq!([one(F32, f64::NAN), one(F32, f64::NEG_INFINITY), one(I1, 1.0)], ["nan", "-inf", "true"]);
        assert_eq!(one(Complex32, -0.5), "-0.5+0.0i");
        assert_eq!(
            [error(0.0), error(1.5e-7), error(2e-3), error(f64::INFINITY)],
            ["0", "1.5e-7", "2e-3", "inf"]
        );
    }

    #[test]
    fn rows_stand_in_columns() {
        let x = tensor(I32, &[2, 2, 2], &[1., -2., 3., 4., 50., 6., 7., 8.]);
        assert_eq!(elements(&x), "[[[ 1, -2],\n  [ 3,  4]],\n [[50,  6],\n  [ 7,  8]]]");
        assert_eq!(elements(&tensor(F32, &[], &[2.5])), "2.5");
        assert_eq!(elements(&tensor(F32, &[2, 0], &[])), "[[]]");
    }

    #[test]
    fn long_tensors_are_shown_by_their_ends() {
        let numbers: Vec<f64> = (0..2000).map(f64::from).collect();
        let x = tensor(I32, &[2000], &numbers);
        assert_eq!(elements(&x), "[   0,    1,    2,  ..., 1997, 1998, 1999]");
        let text = elements(&tensor(I32, &[100, 20], &numbers));
        assert_eq!(text.lines().count(), 7);
        assert_eq!(text.lines().nth(2), Some(" [  40,   41,   42,  ...,   57,   58,   59],"));
        assert_eq!(text.lines().nth(3), Some(" ..."));
        assert_eq!(text.lines().last(), Some(" [1980, 1981, 1982,  ..., 1997, 1998, 1999]]"));
    }
}

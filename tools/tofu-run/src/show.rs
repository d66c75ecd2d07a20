//! Tensors as text, as NumPy would print them.

use std::fmt::Write as _;

use tofu_equivalence::{element_text, type_text};
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

/// The elements in brackets, one row a line, in columns.
fn elements(tensor: &Tensor) -> String {
    let is_long = tensor.len() > MANY;
    let shown = |dim: u64| -> Vec<Option<u64>> {
        if !is_long || dim <= 2 * ENDS {
            return (0..dim).map(Some).collect();
        }
        (0..ENDS).map(Some).chain([None]).chain((dim - ENDS..dim).map(Some)).collect()
    };
    let Some((&row, outer)) = tensor.dims().split_last() else { return element_text(tensor, 0) };
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
                (Some(number), Some(lane)) => element_text(tensor, (number * row + lane) as usize),
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

//! Descriptions that several tests use, and helpers.

use tofu_ir::ElementType;
use tofu_tdl::{Description, OpaqueRegistry, Tensor, evaluate, parse};

/// The description that this text says; it must be right.
pub(crate) fn read(text: &str) -> Description {
    match parse(text, 1, &OpaqueRegistry::builtin()) {
        Ok(description) => description,
        Err(errors) => {
            let messages: Vec<String> = errors
                .iter()
                .map(|e| format!("{}: {} ({:?})", e.code.id, e.message, e.primary.span))
                .collect();
            panic!("{}\n{text}", messages.join("\n"))
        }
    }
}

/// A tensor of numbers.
pub(crate) fn tensor(element: ElementType, dims: &[u64], numbers: &[f64]) -> Tensor {
    Tensor::from_numbers(element, dims, numbers).unwrap()
}

/// The results for whole operands.
pub(crate) fn run(description: &Description, operands: &[Tensor]) -> Vec<Tensor> {
    evaluate(description, operands, &OpaqueRegistry::builtin()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) const CONV1D: &str = "tdl @conv1d(data: [B, CI, X + DX - 1], filter: [CI, CO, DX]) -> [B, CO, X] {
  out[b, co, x] = sum(ci, dx) data[b, ci, x + dx] * filter[ci, co, dx]
}
";

pub(crate) const SOFTMAX: &str = "tdl @softmax(x: [B, N]) -> [B, N] {
  let top[b] = max(n) x[b, n]
  let mass[b] = sum(n) exp(x[b, n] - top[b])
  out[b, n] = exp(x[b, n] - top[b]) / mass[b]
}
";

pub(crate) const CHOLESKY: &str = "tdl @cholesky(a: [B, N, N]) -> [B, N, N] {
  out[b, i, j] = opaque \"cholesky\"(a[b, :, :])[i, j]
}
";

pub(crate) const EMBEDDING: &str = "tdl @embedding(table: [V, D], ids: i32[B]) -> [B, D] {
  out[b, d] = sum(v) if ids[b] == v then table[v, d] else 0
}
";

//! The greatest elements of a vector and their places.
//!
//! Floats are in their total order, as XLA has them: NaN (without a sign) before infinity, and +0 before -0. Of equal
//! elements the earlier one comes first.

use tofu_ir::{ElementKind, ElementType};

use super::{size, tensors};
use crate::evaluate::Tensor;
use crate::numeric;
use crate::opaque::{OpaqueArguments, OpaqueArity, OpaqueElement, OpaqueFunction, OpaqueResults};
use crate::scalar::{TypeClass, UnaryOp};

/// `top_k{k}(x)`: the `k` greatest elements of a vector in descending order, and their indices.
pub static TOP_K: OpaqueFunction = OpaqueFunction {
    name: "top_k",
    arguments: OpaqueArity::Exactly(1),
    results: OpaqueResults::These(&[OpaqueElement::Argument(0), OpaqueElement::Concrete(ElementType::I32)]),
    class: TypeClass::Real,
    ranks: Some(|ranks, constants| match (ranks, constants) {
        ([1], [_]) => Ok(vec![1, 1]),
        _ => Err(TAKES.to_owned()),
    }),
    compares: false,
    reference,
    flops: |dims, _| {
        let n = dims.first().and_then(|dims| dims.first()).copied().unwrap_or(0);
        n.saturating_mul(u64::from(64 - n.saturating_sub(1).leading_zeros()))
    },
    mlir_symbol: "tofu_top_k",
    cuda_source: SOURCE,
};

const TAKES: &str = "top_k takes a vector and one constant";

fn reference(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let [x] = tensors(call, "top_k")?;
    let (&[length], &[k]) = (x.dims(), call.constants) else {
        return Err(TAKES.to_owned());
    };
    let count = u64::try_from(k).ok().filter(|&k| k <= length);
    let count = count.ok_or_else(|| format!("there are not {k} elements in {length}"))?;
    let key = |index: &usize| -> i128 {
        match (x.element().kind(), x.load(*index)) {
            (ElementKind::Float, Some(word)) => {
                let key = numeric::unary_fn(x.element())(UnaryOp::OrderKey, x.element(), word);
                key.as_int(ElementType::I64)
            }
            _ => x.integer(*index),
        }
    };
    let mut order: Vec<usize> = (0..size(length)?).collect();
    order.sort_by_cached_key(|index| std::cmp::Reverse(key(index)));
    let mut values = Tensor::zeros(x.element(), &[count])?;
    let mut indices = Tensor::zeros(ElementType::I32, &[count])?;
    for (to, &from) in order.iter().take(size(count)?).enumerate() {
        if let Some(word) = x.load(from) {
            values.store(to, word);
        }
        indices.set_integer(to, from as i128);
    }
    Ok(vec![values, indices])
}

const SOURCE: &str = r#"
// Keeps the k greatest in order by insertion; key(i) is an integer in the order of the elements.
template <typename T, typename Key>
__device__ void tofu_top_k(const T* x, T* values, int* indices, long n, long k, Key key) {
  long kept = 0;
  for (long i = 0; i < n; ++i) {
    long at = kept;
    while (at > 0 && key(indices[at - 1]) < key(i)) --at;
    if (at >= k) continue;
    if (kept < k) ++kept;
    for (long j = kept - 1; j > at; --j) indices[j] = indices[j - 1];
    indices[at] = i;
  }
  for (long j = 0; j < kept; ++j) values[j] = x[indices[j]];
}
"#;

//! Sorting vectors together, by a comparator: a bottom-up merge sort. It is stable, and whatever the comparator says, it
//! ends with a permutation; library sorts may refuse comparators that are not orders, as those of NaN often are not.

use super::size;
use crate::evaluate::Tensor;
use crate::opaque::{OpaqueArguments, OpaqueArity, OpaqueFunction, OpaqueResults};
use crate::scalar::TypeClass;

/// `sort by less (x, y, …)`: the elements of vectors of one length, in the order in which the comparator puts the
/// tuples `(x[i], y[i], …)`. Equal tuples keep their order.
pub static SORT: OpaqueFunction = OpaqueFunction {
    name: "sort",
    arguments: OpaqueArity::Any,
    results: OpaqueResults::LikeArguments,
    class: TypeClass::Any,
    ranks: Some(|ranks, _| match ranks.iter().all(|&rank| rank == 1) {
        true => Ok(ranks.to_vec()),
        false => Err(TAKES.to_owned()),
    }),
    compares: true,
    reference,
    flops: |dims, _| {
        let n = dims.first().and_then(|dims| dims.first()).copied().unwrap_or(0);
        n.saturating_mul(u64::from(64 - n.saturating_sub(1).leading_zeros()))
    },
    mlir_symbol: "tofu_sort",
    cuda_source: SOURCE,
};

const TAKES: &str = "sort takes vectors of one length";

fn reference(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let tensors = call.tensors;
    let length = match tensors.first().map(Tensor::dims) {
        Some(&[length]) if tensors.iter().all(|tensor| tensor.dims() == [length]) => size(length)?,
        _ => return Err(TAKES.to_owned()),
    };
    let order = sorted(length, &mut |left, right| call.less(left, right))?;
    tensors
        .iter()
        .map(|tensor| {
            let mut sorted = Tensor::zeros(tensor.element(), tensor.dims())?;
            for (to, &from) in order.iter().enumerate() {
                if let Some(word) = tensor.load(from) {
                    sorted.store(to, word);
                }
            }
            Ok(sorted)
        })
        .collect()
}

/// The numbers below `length` in order.
fn sorted(
    length: usize,
    less: &mut dyn FnMut(usize, usize) -> Result<bool, String>,
) -> Result<Vec<usize>, String> {
    let mut order: Vec<usize> = (0..length).collect();
    let mut width = 1;
    while width < length {
        let mut merged = Vec::with_capacity(length);
        for run in order.chunks(2 * width) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            while let (&[first, ref left_rest @ ..], &[second, ref right_rest @ ..]) = (left, right) {
                // Only what is less passes by what stood before it.
                if less(second, first)? {
                    merged.push(second);
                    right = right_rest;
                } else {
                    merged.push(first);
                    left = left_rest;
                }
            }
            merged.extend(left);
            merged.extend(right);
        }
        order = merged;
        width *= 2;
    }
    Ok(order)
}

const SOURCE: &str = r#"
// Puts 0 ... n - 1 into `order`; less(i, j) compares what is at places i and j. `scratch` has n places.
template <typename Less> __device__ void tofu_sort(long* order, long* scratch, long n, Less less) {
  for (long i = 0; i < n; ++i) order[i] = i;
  for (long width = 1; width < n; width *= 2) {
    for (long start = 0; start < n; start += 2 * width) {
      long middle = min(start + width, n), end = min(start + 2 * width, n);
      long left = start, right = middle;
      for (long to = start; to < end; ++to) {
        bool take_right = right < end && (left >= middle || less(order[right], order[left]));
        scratch[to] = take_right ? order[right++] : order[left++];
      }
    }
    for (long i = 0; i < n; ++i) order[i] = scratch[i];
  }
}
"#;

//! The lower Cholesky factor of a symmetric or Hermitian positive definite matrix, column by column.

use super::{Complex, square, tensors};
use crate::evaluate::Tensor;
use crate::opaque::{OpaqueArguments, OpaqueArity, OpaqueElement, OpaqueFunction, OpaqueResults};
use crate::scalar::TypeClass;

/// `cholesky(a)`: the lower triangular `l` with `l lᴴ = a`, of which the lower triangle is read; zero above the
/// diagonal, NaN where `a` is not positive definite.
pub static CHOLESKY: OpaqueFunction = OpaqueFunction {
    name: "cholesky",
    arguments: OpaqueArity::Exactly(1),
    results: OpaqueResults::These(&[OpaqueElement::Argument(0)]),
    class: TypeClass::Inexact,
    ranks: Some(|ranks, _| match ranks {
        [2] => Ok(vec![2]),
        _ => Err("cholesky takes a square matrix".to_owned()),
    }),
    compares: false,
    reference,
    flops: |dims, _| {
        let n = dims.first().and_then(|dims| dims.first()).copied().unwrap_or(0);
        n.saturating_mul(n).saturating_mul(n) / 3
    },
    mlir_symbol: "tofu_cholesky",
    cuda_source: SOURCE,
};

fn reference(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let [a] = tensors(call, "cholesky")?;
    let n = square(a, "cholesky")?;
    let mut l: Vec<Complex> = vec![(0.0, 0.0); n * n];
    let at = |i: usize, j: usize| a.complex_at(i * n + j);
    for j in 0..n {
        let norm: f64 = l[j * n..j * n + j].iter().map(|(re, im)| re * re + im * im).sum();
        let diagonal = (at(j, j).0 - norm).sqrt();
        l[j * n + j] = (diagonal, 0.0);
        for i in j + 1..n {
            let (mut re, mut im) = at(i, j);
            for k in 0..j {
                let ((a, b), (c, d)) = (l[i * n + k], l[j * n + k]);
                re -= a * c + b * d;
                im -= b * c - a * d;
            }
            l[i * n + j] = (re / diagonal, im / diagonal);
        }
    }
    let mut result = Tensor::zeros(a.element(), a.dims())?;
    for (index, &(re, im)) in l.iter().enumerate() {
        result.set_complex(index, re, im);
    }
    Ok(vec![result])
}

const SOURCE: &str = r#"
// T is float or double.
template <typename T> __device__ void tofu_cholesky(const T* a, T* l, long n) {
  for (long j = 0; j < n; ++j) {
    T norm = 0;
    for (long k = 0; k < j; ++k) norm += l[j * n + k] * l[j * n + k];
    T diagonal = sqrt(a[j * n + j] - norm);
    l[j * n + j] = diagonal;
    for (long i = j + 1; i < n; ++i) {
      T rest = a[i * n + j];
      for (long k = 0; k < j; ++k) rest -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = rest / diagonal;
      l[j * n + i] = 0;
    }
  }
}
"#;

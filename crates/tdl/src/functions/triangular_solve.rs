//! Solving a triangular system for one right side, by substitution.

use super::{Complex, size, square, tensors};
use crate::evaluate::Tensor;
use crate::numeric::complex;
use crate::opaque::{OpaqueArguments, OpaqueArity, OpaqueElement, OpaqueFunction, OpaqueResults};
use crate::scalar::TypeClass;

/// `triangular_solve{lower, unit_diagonal, transpose}(a, b)`: the vector `x` with `op(a) x = b`, where `a` is lower (1)
/// or upper (0) triangular, its diagonal counts as ones (1) or is read (0), and `op(a)` is `a` (0), its transpose (1),
/// its adjoint (2) or its conjugate (3). The other triangle is not read.
///
/// A system with `op(a)` to the right, `x op(a) = b`, is `op(a)ᵀ xᵀ = bᵀ`: rows for columns, and the transposes of the
/// four `op`s, which are 1, 0, 3 and 2.
pub static TRIANGULAR_SOLVE: OpaqueFunction = OpaqueFunction {
    name: "triangular_solve",
    arguments: OpaqueArity::Exactly(2),
    results: OpaqueResults::These(&[OpaqueElement::Argument(0)]),
    class: TypeClass::Inexact,
    ranks: Some(|ranks, constants| match (ranks, constants) {
        ([2, 1], [_, _, 0..=3]) => Ok(vec![1]),
        ([2, 1], _) => Err(CONSTANTS.to_owned()),
        _ => Err("triangular_solve takes a square matrix and a vector".to_owned()),
    }),
    compares: false,
    reference,
    flops: |dims, _| {
        let n = dims.first().and_then(|dims| dims.first()).copied().unwrap_or(0);
        n.saturating_mul(n)
    },
    mlir_symbol: "tofu_triangular_solve",
    cuda_source: SOURCE,
};

const CONSTANTS: &str = "triangular_solve takes three constants, the last one from 0 to 3";

fn reference(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let [a, b] = tensors(call, "triangular_solve")?;
    let n = square(a, "triangular_solve")?;
    let &[length] = b.dims() else { return Err("triangular_solve takes a vector".to_owned()) };
    let &[lower, unit, transpose @ 0..=3] = call.constants else {
        return Err(CONSTANTS.to_owned());
    };
    if size(length)? != n {
        return Err(format!("{n} equations have {length} right sides"));
    }
    let (is_transposed, is_conjugate) = (matches!(transpose, 1 | 2), matches!(transpose, 2 | 3));
    let at = |i: usize, j: usize| -> Complex {
        let (re, im) = a.complex_at(if is_transposed { j * n + i } else { i * n + j });
        (re, if is_conjugate { -im } else { im })
    };
    let is_lower = (lower != 0) != is_transposed;
    let mut x: Vec<Complex> = (0..n).map(|i| b.complex_at(i)).collect();
    for step in 0..n {
        let i = if is_lower { step } else { n - 1 - step };
        let known = if is_lower { 0..i } else { i + 1..n };
        for j in known {
            let (re, im) = complex::mul(at(i, j), x[j]);
            x[i] = (x[i].0 - re, x[i].1 - im);
        }
        if unit == 0 {
            x[i] = match (a.element().is_complex(), at(i, i)) {
                (true, diagonal) => complex::div(x[i], diagonal),
                (false, (diagonal, _)) => (x[i].0 / diagonal, 0.0),
            };
        }
    }
    let mut result = Tensor::zeros(a.element(), b.dims())?;
    for (index, &(re, im)) in x.iter().enumerate() {
        result.set_complex(index, re, im);
    }
    Ok(vec![result])
}

const SOURCE: &str = r#"
// T is float or double, for which adjoint is transpose; x may be b.
template <typename T>
__device__ void tofu_triangular_solve(const T* a, const T* b, T* x, long n, bool lower, bool unit, int transpose) {
  bool transposed = transpose == 1 || transpose == 2;
  bool forward = lower != transposed;
  for (long step = 0; step < n; ++step) {
    long i = forward ? step : n - 1 - step;
    T rest = b[i];
    for (long j = forward ? 0 : i + 1; j < (forward ? i : n); ++j)
      rest -= a[transposed ? j * n + i : i * n + j] * x[j];
    x[i] = unit ? rest : rest / a[i * n + i];
  }
}
"#;

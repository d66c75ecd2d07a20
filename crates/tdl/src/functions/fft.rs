//! Discrete Fourier transforms of one to three dimensions and any length.
//!
//! A transform of length `p m` is `p` transforms of length `m`, of every `p`-th element each, put together with roots of
//! unity (Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965); `p` is the
//! least prime factor. Lengths with large prime factors take time as their squares. Several dimensions are transformed
//! one after the other.

use super::{Complex, size, tensors};
use crate::evaluate::Tensor;
use crate::numeric::complex::mul;
use crate::opaque::{OpaqueArguments, OpaqueArity, OpaqueElement, OpaqueFunction, OpaqueResults};
use crate::scalar::TypeClass;

/// `fft(x)`: the transform over all dimensions, `Σ x[n] exp(-2πi kn/N)`.
pub static FFT: OpaqueFunction =
    function("fft", TypeClass::Complex, OpaqueElement::Argument(0), |call| complex(call, false), "tofu_fft");
/// `ifft(x)`: the inverse of [`FFT`], with the factor `1/N`.
pub static IFFT: OpaqueFunction =
    function("ifft", TypeClass::Complex, OpaqueElement::Argument(0), |call| complex(call, true), "tofu_ifft");
/// `rfft(x)`: of the transform of real numbers, the first `N/2 + 1` elements of the last dimension.
pub static RFFT: OpaqueFunction =
    function("rfft", TypeClass::Float, OpaqueElement::Complex(0), rfft, "tofu_rfft");
/// `irfft{length}(x)`: the inverse of [`RFFT`], with `length` elements in the last dimension.
pub static IRFFT: OpaqueFunction =
    function("irfft", TypeClass::Complex, OpaqueElement::Part(0), irfft, "tofu_irfft");

const fn function(
    name: &'static str,
    class: TypeClass,
    element: OpaqueElement,
    reference: crate::opaque::Reference,
    symbol: &'static str,
) -> OpaqueFunction {
    // What a static refers to must be one itself.
    let results: &'static [OpaqueElement] = match element {
        OpaqueElement::Complex(_) => &[OpaqueElement::Complex(0)],
        OpaqueElement::Part(_) => &[OpaqueElement::Part(0)],
        _ => &[OpaqueElement::Argument(0)],
    };
    OpaqueFunction {
        name,
        arguments: OpaqueArity::Exactly(1),
        results: OpaqueResults::These(results),
        class,
        ranks: Some(|ranks, _| match ranks {
            [rank @ 1..=3] => Ok(vec![*rank]),
            ranks => Err(wrong_rank(ranks.first().copied().unwrap_or(0))),
        }),
        compares: false,
        reference,
        // 5 N log N, the usual count.
        flops: |dims, _| {
            let dims = dims.first().map_or(&[][..], |dims| dims);
            let n = dims.iter().fold(1u64, |product, &dim| product.saturating_mul(dim));
            n.saturating_mul(5 * u64::from(64 - n.saturating_sub(1).leading_zeros()))
        },
        mlir_symbol: symbol,
        cuda_source: SOURCE,
    }
}

fn complex(call: &mut OpaqueArguments<'_>, inverse: bool) -> Result<Vec<Tensor>, String> {
    let (x, dims) = argument(call)?;
    let mut data: Vec<Complex> = (0..x.len()).map(|index| x.complex_at(index)).collect();
    (0..dims.len()).for_each(|axis| along(&mut data, &dims, axis, inverse));
    result(x.element(), x.dims(), &data)
}

fn rfft(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let (x, dims) = argument(call)?;
    let mut data: Vec<Complex> = (0..x.len()).map(|index| (x.number(index), 0.0)).collect();
    (0..dims.len()).for_each(|axis| along(&mut data, &dims, axis, false));
    let last = dims.last().copied().unwrap_or(1);
    let kept: Vec<Complex> =
        data.chunks(last.max(1)).flat_map(|row| row[..(last / 2 + 1).min(row.len())].to_vec()).collect();
    let mut kept_dims = x.dims().to_vec();
    if let Some(dim) = kept_dims.last_mut() {
        *dim = *dim / 2 + 1;
    }
    let element = match x.element() {
        tofu_ir::ElementType::F64 => tofu_ir::ElementType::Complex64,
        _ => tofu_ir::ElementType::Complex32,
    };
    result(element, &kept_dims, &kept)
}

fn irfft(call: &mut OpaqueArguments<'_>) -> Result<Vec<Tensor>, String> {
    let (x, mut dims) = argument(call)?;
    let &[length] = call.constants else { return Err("irfft takes one constant".to_owned()) };
    let length = usize::try_from(length).map_err(|_| "a length is not negative".to_owned())?;
    let half = dims.last().copied().unwrap_or(0);
    if half != length / 2 + 1 {
        return Err(format!("{half} elements do not make {length}"));
    }
    let mut data: Vec<Complex> = (0..x.len()).map(|index| x.complex_at(index)).collect();
    (0..dims.len() - 1).for_each(|axis| along(&mut data, &dims, axis, true));
    // The other half is the first one mirrored and conjugate.
    let mut whole: Vec<Complex> = Vec::new();
    for row in data.chunks(half) {
        whole.extend(
            (0..length).map(|k| if k < half { row[k] } else { (row[length - k].0, -row[length - k].1) }),
        );
    }
    let axis = dims.len() - 1;
    dims[axis] = length;
    along(&mut whole, &dims, axis, true);
    let mut whole_dims = x.dims().to_vec();
    whole_dims[axis] = length as u64;
    result(x.element().part(), &whole_dims, &whole)
}

fn argument<'a>(call: &OpaqueArguments<'a>) -> Result<(&'a Tensor, Vec<usize>), String> {
    let [x] = tensors(call, "a Fourier transform")?;
    if !matches!(x.dims().len(), 1..=3) {
        return Err(wrong_rank(x.dims().len()));
    }
    let dims = x.dims().iter().map(|&dim| size(dim)).collect::<Result<Vec<usize>, String>>()?;
    Ok((x, dims))
}

fn wrong_rank(rank: usize) -> String {
    format!("a Fourier transform has 1 to 3 dimensions, not {rank}")
}

fn result(element: tofu_ir::ElementType, dims: &[u64], data: &[Complex]) -> Result<Vec<Tensor>, String> {
    let mut tensor = Tensor::zeros(element, dims)?;
    for (index, &(re, im)) in data.iter().enumerate() {
        tensor.set_complex(index, re, im);
    }
    Ok(vec![tensor])
}

/// Transforms every line along a dimension.
fn along(data: &mut [Complex], dims: &[usize], axis: usize, inverse: bool) {
    let length = dims[axis];
    let stride: usize = dims[axis + 1..].iter().product();
    if data.is_empty() {
        return;
    }
    let sign = if inverse { 1.0 } else { -1.0 };
    let roots: Vec<Complex> = (0..length)
        .map(|k| {
            let angle = sign * std::f64::consts::TAU * k as f64 / length as f64;
            (libm::cos(angle), libm::sin(angle))
        })
        .collect();
    let scale = if inverse { 1.0 / length as f64 } else { 1.0 };
    for block in (0..data.len()).step_by(length * stride) {
        for offset in block..block + stride {
            let line: Vec<Complex> = (0..length).map(|k| data[offset + k * stride]).collect();
            for (k, (re, im)) in transform(&line, &roots).into_iter().enumerate() {
                data[offset + k * stride] = (re * scale, im * scale);
            }
        }
    }
}

/// The transform of a line whose length divides the number of roots.
fn transform(line: &[Complex], roots: &[Complex]) -> Vec<Complex> {
    let length = line.len();
    if length <= 1 {
        return line.to_vec();
    }
    let prime = (2..).take_while(|p| p * p <= length).find(|p| length.is_multiple_of(*p)).unwrap_or(length);
    let inner = length / prime;
    let parts: Vec<Vec<Complex>> = (0..prime)
        .map(|first| {
            let every: Vec<Complex> = line.iter().skip(first).step_by(prime).copied().collect();
            transform(&every, roots)
        })
        .collect();
    let step = roots.len() / length;
    (0..length)
        .map(|k| {
            parts.iter().enumerate().fold((0.0, 0.0), |(re, im), (first, part)| {
                let term = mul(part[k % inner], roots[first * k % length * step]);
                (re + term.0, im + term.1)
            })
        })
        .collect()
}

const SOURCE: &str = r#"
// One dimension, by its definition; T is float or double. Element n is x[n * stride], as re and im in turn.
template <typename T>
__device__ void tofu_dft(const T* x, T* y, long n, long outputs, long stride, T sign, T scale) {
  for (long k = 0; k < outputs; ++k) {
    T re = 0, im = 0;
    for (long j = 0; j < n; ++j) {
      T s, c;
      sincospi(sign * 2 * T(j * k % n) / T(n), &s, &c);
      T a = x[2 * j * stride], b = x[2 * j * stride + 1];
      re += a * c - b * s;
      im += a * s + b * c;
    }
    y[2 * k * stride] = re * scale;
    y[2 * k * stride + 1] = im * scale;
  }
}
template <typename T> __device__ void tofu_fft(const T* x, T* y, long n, long stride) {
  tofu_dft(x, y, n, n, stride, T(-1), T(1));
}
template <typename T> __device__ void tofu_ifft(const T* x, T* y, long n, long stride) {
  tofu_dft(x, y, n, n, stride, T(1), T(1) / T(n));
}
template <typename T> __device__ void tofu_rfft(const T* x, T* y, long n) {
  for (long k = 0; k <= n / 2; ++k) {
    T re = 0, im = 0;
    for (long j = 0; j < n; ++j) {
      T s, c;
      sincospi(T(-2) * T(j * k % n) / T(n), &s, &c);
      re += x[j] * c;
      im += x[j] * s;
    }
    y[2 * k] = re;
    y[2 * k + 1] = im;
  }
}
template <typename T> __device__ void tofu_irfft(const T* x, T* y, long n) {
  for (long j = 0; j < n; ++j) {
    T sum = 0;
    for (long k = 0; k < n; ++k) {
      long half = k <= n / 2 ? k : n - k;
      T s, c;
      sincospi(T(2) * T(j * k % n) / T(n), &s, &c);
      sum += x[2 * half] * c - (k <= n / 2 ? x[2 * half + 1] : -x[2 * half + 1]) * s;
    }
    y[j] = sum / T(n);
  }
}
"#;

//! The opaque functions that this crate brings, each with a reference implementation.
//!
//! References compute in `f64` and round once at the end. The constants, arguments and results of each are said at its
//! definition; batch dimensions are not theirs: a description slices.

mod cholesky;
mod fft;
mod random;
mod sort;
mod top_k;
mod triangular_solve;

pub use cholesky::CHOLESKY;
pub use fft::{FFT, IFFT, IRFFT, RFFT};
pub use random::{PHILOX32, PHILOX64, THREE_FRY32, THREE_FRY64};
pub use sort::SORT;
pub use top_k::TOP_K;
pub use triangular_solve::TRIANGULAR_SOLVE;

use crate::evaluate::Tensor;
use crate::numeric::complex::Complex;
use crate::opaque::{OpaqueArguments, OpaqueFunction};

/// All of them, by name.
pub static ALL: [&OpaqueFunction; 12] = [
    &CHOLESKY,
    &FFT,
    &IFFT,
    &IRFFT,
    &PHILOX32,
    &PHILOX64,
    &RFFT,
    &SORT,
    &THREE_FRY32,
    &THREE_FRY64,
    &TOP_K,
    &TRIANGULAR_SOLVE,
];

/// The tensors of a call that takes so many.
fn tensors<'a, const N: usize>(call: &OpaqueArguments<'a>, name: &str) -> Result<&'a [Tensor; N], String> {
    call.tensors.try_into().map_err(|_| format!("{name} takes {N} tensors, not {}", call.tensors.len()))
}

/// The number of rows of a square matrix.
fn square(matrix: &Tensor, name: &str) -> Result<usize, String> {
    match *matrix.dims() {
        [rows, columns] if rows == columns => size(rows),
        _ => Err(format!("{name} takes a square matrix, not a tensor of the extents {:?}", matrix.dims())),
    }
}

fn size(extent: u64) -> Result<usize, String> {
    usize::try_from(extent).map_err(|_| "a tensor is too large".to_owned())
}

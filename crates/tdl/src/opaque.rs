//! Opaque functions: algorithms that a description uses without saying how they work.
//!
//! Every road carries them: the interpreter calls the reference implementation, the MLIR lowering calls the symbol, the
//! CUDA lowering includes the source. Nothing inside them can be split.

use std::sync::Arc;

use indexmap::IndexMap;
use tofu_ir::ElementType;

use crate::evaluate::Tensor;

/// A function whose algorithm is hidden.
#[derive(Clone, Debug)]
pub struct OpaqueFunction {
    /// Its name in descriptions.
    pub name: &'static str,
    /// How many tensors it takes.
    pub arguments: usize,
    /// How many tensors it gives.
    pub results: usize,
    /// The types of the elements of result `number`, given those of the arguments.
    pub element: OpaqueElement,
    /// Computes the results of whole tensors; the constants are those of the call. It must not panic.
    pub reference: Reference,
    /// Floating-point operations of a call, given the extents of its arguments.
    pub flops: fn(&[Vec<u64>]) -> u64,
    /// The function that MLIR code calls.
    pub mlir_symbol: &'static str,
    /// CUDA C++ source of a device function of that name; empty where there is none.
    pub cuda_source: &'static str,
}

/// Computes the results of whole tensors; or says why it cannot.
pub type Reference = fn(&[Tensor], &[i64]) -> Result<Vec<Tensor>, String>;

/// The type of an opaque function's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpaqueElement {
    /// That of an argument: result `i` has the type of argument `min(i, arguments - 1)`.
    Argument,
    /// This one.
    Concrete(ElementType),
}

/// The opaque functions that descriptions may name.
#[derive(Clone, Debug, Default)]
pub struct OpaqueRegistry {
    functions: IndexMap<&'static str, Arc<OpaqueFunction>>,
}

impl OpaqueRegistry {
    /// None.
    pub fn new() -> OpaqueRegistry {
        OpaqueRegistry::default()
    }

    /// The functions of this crate: `cholesky`.
    pub fn builtin() -> OpaqueRegistry {
        let mut registry = OpaqueRegistry::new();
        registry.add(cholesky::FUNCTION);
        registry
    }

    /// Adds a function; one of the same name is replaced.
    pub fn add(&mut self, function: OpaqueFunction) {
        self.functions.insert(function.name, Arc::new(function));
    }

    /// The function of this name.
    pub fn get(&self, name: &str) -> Option<&OpaqueFunction> {
        self.functions.get(name).map(Arc::as_ref)
    }

    /// All names, in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.functions.keys().copied()
    }
}

mod cholesky {
    //! The lower Cholesky factor of a symmetric or Hermitian positive definite matrix, column by column.

    use super::{OpaqueElement, OpaqueFunction, Tensor};

    pub(super) const FUNCTION: OpaqueFunction = OpaqueFunction {
        name: "cholesky",
        arguments: 1,
        results: 1,
        element: OpaqueElement::Argument,
        reference,
        flops: |dims| {
            let n = dims.first().and_then(|dims| dims.first()).copied().unwrap_or(0);
            n.saturating_mul(n).saturating_mul(n) / 3
        },
        mlir_symbol: "tofu_cholesky",
        cuda_source: SOURCE,
    };

    fn reference(arguments: &[Tensor], _: &[i64]) -> Result<Vec<Tensor>, String> {
        let [a] = arguments else { return Err("cholesky takes one matrix".to_owned()) };
        let &[n, columns] = a.dims() else { return Err("cholesky takes a matrix".to_owned()) };
        if n != columns {
            return Err(format!("cholesky takes a square matrix, not {n}x{columns}"));
        }
        let n = usize::try_from(n).map_err(|_| "the matrix is too large".to_owned())?;
        let mut l = vec![(0.0f64, 0.0f64); n * n];
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
}

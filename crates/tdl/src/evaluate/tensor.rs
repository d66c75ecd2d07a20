//! Plain typed buffers.

use tofu_ir::{ElementKind, ElementType, TensorType};

use crate::numeric::Word;

/// No tensor that is evaluated is larger than this, in bytes.
const MAX_BYTES: u64 = 1 << 36;

/// A tensor in memory: row-major, each element in its little-endian
/// [storage](tofu_ir::ElementType::storage_bytes).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tensor {
    element: ElementType,
    /// Follows from the type; kept since every access needs it.
    size: usize,
    dims: Vec<u64>,
    bytes: Vec<u8>,
}

impl Tensor {
    /// A tensor of zeros.
    ///
    /// # Errors
    ///
    /// It is too large for the memory.
    pub fn zeros(element: ElementType, dims: &[u64]) -> Result<Tensor, String> {
        let too_large = || format!("a tensor of the extents {dims:?} is too large to be evaluated");
        let size = dims.iter().try_fold(element.storage_bytes() as u64, |size, &dim| size.checked_mul(dim));
        let size = size.filter(|&size| size <= MAX_BYTES).ok_or_else(too_large)?;
        let size = usize::try_from(size).map_err(|_| too_large())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| too_large())?;
        bytes.resize(size, 0);
        Ok(Tensor { element, size: element.storage_bytes(), dims: dims.to_vec(), bytes })
    }

    /// A tensor of these bytes.
    ///
    /// # Errors
    ///
    /// There are more or fewer bytes than the extents need.
    pub fn from_bytes(element: ElementType, dims: &[u64], bytes: Vec<u8>) -> Result<Tensor, String> {
        let size = dims.iter().try_fold(element.storage_bytes() as u64, |size, &dim| size.checked_mul(dim));
        if size != Some(bytes.len() as u64) {
            return Err(format!(
                "{} bytes are not a tensor of the extents {dims:?} of {element}",
                bytes.len()
            ));
        }
        Ok(Tensor { element, size: element.storage_bytes(), dims: dims.to_vec(), bytes })
    }

    /// A tensor of numbers, converted to its type as constants are.
    ///
    /// # Errors
    ///
    /// There are more or fewer numbers than the extents need.
    pub fn from_numbers(element: ElementType, dims: &[u64], numbers: &[f64]) -> Result<Tensor, String> {
        let mut tensor = Tensor::zeros(element, dims)?;
        if numbers.len() != tensor.len() {
            return Err(format!("{} numbers are not a tensor of the extents {dims:?}", numbers.len()));
        }
        for (index, &number) in numbers.iter().enumerate() {
            tensor.set_number(index, number);
        }
        Ok(tensor)
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// The extents.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// The type.
    pub fn ty(&self) -> TensorType {
        TensorType::of(&self.dims, self.element)
    }

    /// The bytes of all elements.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.element.storage_bytes()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The real part of an element, as a number. Integers beyond 2^53 are rounded; NaN beyond the end.
    pub fn number(&self, index: usize) -> f64 {
        self.complex_at(index).0
    }

    /// An element as a complex number; NaN beyond the end.
    pub fn complex_at(&self, index: usize) -> (f64, f64) {
        let Some(word) = self.load(index) else { return (f64::NAN, f64::NAN) };
        match self.element.kind() {
            ElementKind::Complex => word.as_complex(self.element),
            ElementKind::Float => (word.as_float(self.element), 0.0),
            _ => (word.as_int(self.element) as f64, 0.0),
        }
    }

    /// An integer element; floats are truncated, 0 beyond the end.
    pub fn integer(&self, index: usize) -> i128 {
        match self.load(index) {
            Some(word) if self.element.is_integer() => word.as_int(self.element),
            _ => self.number(index) as i128,
        }
    }

    /// All elements as numbers.
    pub fn numbers(&self) -> Vec<f64> {
        (0..self.len()).map(|index| self.number(index)).collect()
    }

    /// Sets an element to a number, rounded to its type, or truncated for integers.
    pub fn set_number(&mut self, index: usize, number: f64) {
        self.set_complex(index, number, 0.0);
    }

    /// Sets an element to an integer, wrapped to its type.
    pub fn set_integer(&mut self, index: usize, value: i128) {
        if self.element.is_integer() {
            self.store(index, Word::of_int(self.element, value));
        } else {
            self.set_number(index, value as f64);
        }
    }

    /// Sets an element to a complex number; real types keep the real part.
    pub fn set_complex(&mut self, index: usize, re: f64, im: f64) {
        let word = match self.element.kind() {
            ElementKind::Complex => Word::of_complex(self.element, re, im),
            ElementKind::Float => Word::of_float(self.element, re),
            _ => Word::of_int(self.element, re as i128),
        };
        self.store(index, word);
    }

    pub(crate) fn load(&self, index: usize) -> Option<Word> {
        let at = index.checked_mul(self.size)?;
        self.bytes.get(at..at + self.size).map(|bytes| Word::read(self.element, bytes))
    }

    pub(crate) fn store(&mut self, index: usize, word: Word) {
        let place = index.checked_mul(self.size).and_then(|at| self.bytes.get_mut(at..at + self.size));
        if let Some(bytes) = place {
            word.write(self.element, bytes);
        }
    }
}

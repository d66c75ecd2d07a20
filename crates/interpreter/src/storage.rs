//! Where tensors are kept while a program runs.

use std::sync::Arc;

use tofu_ir::ValueId;

/// Memory for tensors. A buffer lives as long as some clone of it does; the interpreter drops those of a value after its
/// last use. An executor that has planned its memory hands out places of one arena here.
pub trait Storage {
    /// The elements of one tensor.
    type Buffer: Clone;

    /// Memory for `bytes` bytes, the elements of `value`; what is in it does not matter.
    ///
    /// # Errors
    ///
    /// There is not enough.
    fn allocate(&mut self, value: ValueId, bytes: usize) -> Result<Self::Buffer, String>;

    /// The elements of `value`, which are those of another value: an argument of a block, or a result that is handed on.
    fn share(&mut self, value: ValueId, buffer: &Self::Buffer) -> Self::Buffer;

    /// The bytes of a buffer.
    fn bytes<'s>(&'s self, buffer: &'s Self::Buffer) -> &'s [u8];

    /// Gives the bytes of some buffers, and those of others to be written, to `compute`. What is written was allocated just
    /// now: nobody else holds it.
    fn compute(&mut self, inputs: &[&Self::Buffer], outputs: &mut [Self::Buffer], compute: &mut Compute<'_>);
}

/// Computes the bytes of tensors from those of others.
pub type Compute<'a> = dyn FnMut(&[&[u8]], &mut [&mut [u8]]) + 'a;

/// Each tensor in memory of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap;

/// No tensor that is run is larger than this, in bytes.
const MAX_BYTES: usize = 1 << 36;

/// Memory of so many zeros, or that there is not enough.
pub(crate) fn zeros(bytes: usize) -> Result<Vec<u8>, String> {
    check(bytes)?;
    let mut buffer = Vec::new();
    if buffer.try_reserve_exact(bytes).is_err() {
        return Err(too_many(bytes));
    }
    buffer.resize(bytes, 0);
    Ok(buffer)
}

/// Whether a buffer may have so many bytes.
///
/// # Errors
/// They are too many.
pub(crate) fn check(bytes: usize) -> Result<(), String> {
    if bytes > MAX_BYTES { Err(too_many(bytes)) } else { Ok(()) }
}

fn too_many(bytes: usize) -> String {
    format!("{bytes} bytes do not fit into the memory")
}

impl Storage for Heap {
    type Buffer = Arc<Vec<u8>>;

    fn allocate(&mut self, _: ValueId, bytes: usize) -> Result<Arc<Vec<u8>>, String> {
        zeros(bytes).map(Arc::new)
    }

    fn share(&mut self, _: ValueId, buffer: &Arc<Vec<u8>>) -> Arc<Vec<u8>> {
        Arc::clone(buffer)
    }

    fn bytes<'s>(&'s self, buffer: &'s Arc<Vec<u8>>) -> &'s [u8] {
        buffer
    }

    fn compute(&mut self, inputs: &[&Arc<Vec<u8>>], outputs: &mut [Arc<Vec<u8>>], compute: &mut Compute<'_>) {
        let inputs: Vec<&[u8]> = inputs.iter().map(|input| input.as_slice()).collect();
        let mut outputs: Vec<&mut [u8]> =
            outputs.iter_mut().map(|output| Arc::make_mut(output).as_mut_slice()).collect();
        compute(&inputs, &mut outputs);
    }
}

//! Cost matrices by their content. An exported problem repeats a few thousand distinct matrices over tens of thousands
//! of edges, so sharing them is most of what keeps an instance small in memory and its sweeps in the cache.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// The index of a matrix in its [`Pool`].
pub(crate) type MatrixId = u32;

/// Distinct flat matrices. The shape is known by whoever holds the id. Copies of a pool share its matrices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool(IndexSet<Arc<[i64]>, FxBuildHasher>);

impl Pool {
    pub(crate) fn new() -> Self {
        Pool::default()
    }

    /// The id of the matrix with this content.
    pub(crate) fn intern(&mut self, matrix: &[i64]) -> MatrixId {
        let index = self.0.get_index_of(matrix).unwrap_or_else(|| self.0.insert_full(matrix.into()).0);
        index as MatrixId
    }

    pub(crate) fn get(&self, id: MatrixId) -> &[i64] {
        &self.0[id as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

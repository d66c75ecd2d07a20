//! Cost matrices by their content. An exported problem repeats a few thousand distinct matrices over tens of thousands
//! of edges, so sharing them is most of what keeps an instance small in memory and its sweeps in the cache.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::ragged::Ragged;

/// The index of a matrix in its [`Pool`].
pub(crate) type MatrixId = u32;

/// Distinct flat matrices. The shape is known by whoever holds the id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    matrices: Ragged<i64>,
    by_hash: FxHashMap<u64, Vec<MatrixId>>,
}

impl Pool {
    pub(crate) fn new() -> Self {
        Pool { matrices: Ragged::new(), by_hash: FxHashMap::default() }
    }

    /// The id of the matrix with this content.
    pub(crate) fn intern(&mut self, matrix: &[i64]) -> MatrixId {
        let mut hasher = FxHasher::default();
        matrix.hash(&mut hasher);
        let same_hash = self.by_hash.entry(hasher.finish()).or_default();
        for &id in same_hash.iter() {
            if self.matrices.row(id as usize) == matrix {
                return id;
            }
        }
        let id = self.matrices.len() as MatrixId;
        self.matrices.push(matrix.iter().copied());
        same_hash.push(id);
        id
    }

    pub(crate) fn get(&self, id: MatrixId) -> &[i64] {
        self.matrices.row(id as usize)
    }

    pub(crate) fn len(&self) -> usize {
        self.matrices.len()
    }
}

//! Index and extent expressions, with constants folded.

use tofu_ir::EntityId;

use super::Builder;
use crate::description::*;

impl Builder {
    /// The extent of this name.
    pub fn extent(&mut self, name: &str) -> IndexId {
        let (number, _) = self.extents.insert_full(name.into());
        self.intern_index(Index::Extent(ExtentId::from_index(number)))
    }

    /// A number.
    pub fn constant(&mut self, value: i64) -> IndexId {
        self.intern_index(Index::Const(value))
    }

    /// The value of a variable.
    pub fn index(&mut self, var: VarId) -> IndexId {
        self.intern_index(Index::Var(var))
    }

    /// The value of an expression of an integer type, as an index.
    pub fn data_index(&mut self, value: ScalarId) -> IndexId {
        match self.scalars[value.index()].0 {
            Scalar::Index(index) => index,
            _ => self.intern_index(Index::Data(value)),
        }
    }

    /// A sum.
    pub fn index_add(&mut self, a: IndexId, b: IndexId) -> IndexId {
        match (self.number(a), self.number(b)) {
            (Some(x), Some(y)) => self.folded(x.checked_add(y), Index::Add(a, b)),
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (_, Some(y)) if y < 0 && y != i64::MIN => {
                let positive = self.constant(-y);
                self.intern_index(Index::Sub(a, positive))
            }
            _ => self.intern_index(Index::Add(a, b)),
        }
    }

    /// A difference.
    pub fn index_sub(&mut self, a: IndexId, b: IndexId) -> IndexId {
        match (self.number(a), self.number(b)) {
            (Some(x), Some(y)) => self.folded(x.checked_sub(y), Index::Sub(a, b)),
            (_, Some(0)) => a,
            (_, Some(y)) if y < 0 && y != i64::MIN => {
                let positive = self.constant(-y);
                self.intern_index(Index::Add(a, positive))
            }
            _ => self.intern_index(Index::Sub(a, b)),
        }
    }

    /// A product.
    pub fn index_mul(&mut self, a: IndexId, b: IndexId) -> IndexId {
        match (self.number(a), self.number(b)) {
            (Some(x), Some(y)) => self.folded(x.checked_mul(y), Index::Mul(a, b)),
            (Some(0), _) | (_, Some(0)) => self.constant(0),
            (Some(1), _) => b,
            (_, Some(1)) => a,
            _ => self.intern_index(Index::Mul(a, b)),
        }
    }

    /// A quotient, rounded down.
    pub fn index_floordiv(&mut self, a: IndexId, b: IndexId) -> IndexId {
        match (self.number(a), self.number(b)) {
            (Some(x), Some(y)) if y > 0 => self.constant(x.div_euclid(y)),
            (_, Some(1)) => a,
            _ => self.intern_index(Index::FloorDiv(a, b)),
        }
    }

    /// The remainder of [`index_floordiv`](Self::index_floordiv).
    pub fn index_mod(&mut self, a: IndexId, b: IndexId) -> IndexId {
        match (self.number(a), self.number(b)) {
            (Some(x), Some(y)) if y > 0 => self.constant(x.rem_euclid(y)),
            (_, Some(1)) => self.constant(0),
            _ => self.intern_index(Index::Mod(a, b)),
        }
    }

    /// `scale * a + offset`.
    pub fn affine(&mut self, scale: i64, a: IndexId, offset: i64) -> IndexId {
        let factor = self.constant(scale);
        let scaled = self.index_mul(a, factor);
        let offset = self.constant(offset);
        self.index_add(scaled, offset)
    }

    /// The extents of a tensor.
    pub fn dims(&self, source: Source) -> Vec<IndexId> {
        match source {
            Source::Operand(number) => {
                self.parameters.get(number as usize).map_or(Vec::new(), |p| p.dims.to_vec())
            }
            Source::Let(number) => self.lets.get(number as usize).map_or(Vec::new(), |definition| {
                definition.vars.iter().map(|var| self.variables[var.index()].extent).collect()
            }),
        }
    }

    pub(crate) fn number(&self, id: IndexId) -> Option<i64> {
        match self.indices[id.index()] {
            Index::Const(value) => Some(value),
            _ => None,
        }
    }

    fn folded(&mut self, value: Option<i64>, otherwise: Index) -> IndexId {
        self.intern_index(value.map_or(otherwise, Index::Const))
    }
}

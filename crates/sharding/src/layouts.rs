//! Layouts on all axes of a mesh at once, packed for searches.
//!
//! A search looks at millions of them, so they are a word that is copied, compared and hashed as one. They say less than a
//! [`Sharding`]: the axes of a dimension stand in the order of the mesh, and an axis is one thing as a whole.

use std::hash::{Hash, Hasher};

use crate::{Layout, Mesh, Reducer, Sharding, share};

/// A layout on each axis of a mesh.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Layouts([u8; Layouts::MAX_AXES]);

/// As one word, which takes one step of the hash; a slice of bytes takes several, and one for its length.
impl Hash for Layouts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from_le_bytes(self.0));
    }
}

/// Codes: 0 is replicated, from 1 on are dimensions, from here on reducers.
const PARTIAL: u8 = 0x80;

impl Layouts {
    /// How many axes a mesh may have.
    pub const MAX_AXES: usize = 8;

    /// Dimensions from this one on cannot be split.
    pub const MAX_RANK: usize = PARTIAL as usize - 1;

    /// Replicated on all axes.
    pub const REPLICATED: Layouts = Layouts([0; Layouts::MAX_AXES]);

    /// The layout on an axis; beyond the last axis, replicated.
    pub fn on(self, axis: usize) -> Layout {
        match self.0.get(axis).copied().unwrap_or(0) {
            0 => Layout::Replicated,
            code if code < PARTIAL => Layout::Split(usize::from(code) - 1),
            code => {
                let reducers = Reducer::ALL;
                Layout::Partial(reducers[usize::from(code - PARTIAL).min(reducers.len() - 1)])
            }
        }
    }

    /// The same with another layout on one axis.
    ///
    /// # Panics
    /// When there are not so many axes, or dimensions.
    #[must_use]
    pub fn with(mut self, axis: usize, layout: Layout) -> Layouts {
        self.0[axis] = match layout {
            Layout::Replicated => 0,
            Layout::Split(dim) => {
                assert!(dim < Layouts::MAX_RANK, "dimension {dim} cannot be split");
                dim as u8 + 1
            }
            Layout::Partial(reducer) => PARTIAL + reducer as u8,
        };
        self
    }

    /// A number for the layout on an axis, by which layouts are in some order.
    pub fn code(self, axis: usize) -> u8 {
        self.0.get(axis).copied().unwrap_or(0)
    }

    /// The layouts of a sharding, if its axes are whole and stand in the order of the mesh.
    pub fn of(sharding: &Sharding, mesh: &Mesh) -> Option<Layouts> {
        let mut layouts = Layouts::REPLICATED;
        for (axis, layout) in sharding.uses() {
            if axis != mesh.whole(axis.axis) || axis.axis >= Layouts::MAX_AXES {
                return None;
            }
            layouts = layouts.with(axis.axis, layout);
        }
        let in_order = sharding.dims.iter().all(|dim| dim.axes.is_sorted());
        in_order.then_some(layouts)
    }

    /// As a sharding of a tensor of this shape. A value has one reducer: the last one, where there are several.
    pub fn sharding(self, mesh: &Mesh, shape: &[u64]) -> Sharding {
        let mut sharding = Sharding::replicated(shape.len());
        for axis in 0..mesh.axes().len() {
            match self.on(axis) {
                Layout::Replicated => {}
                Layout::Split(dim) => sharding = sharding.split(dim, mesh.whole(axis)),
                Layout::Partial(reducer) => sharding = sharding.with_partial(reducer, mesh.whole(axis)),
            }
        }
        sharding.pad_for(shape)
    }

    /// Whether values are partial on some axis.
    pub fn is_partial(self) -> bool {
        self.0.iter().any(|&code| code >= PARTIAL)
    }

    /// Whether no axis splits anything or holds terms.
    pub fn is_replicated(self) -> bool {
        self == Layouts::REPLICATED
    }

    /// In how many shares a dimension lies.
    pub fn shards(self, mesh: &Mesh, dim: usize) -> u64 {
        let axes = mesh.axes().iter().zip(self.0);
        axes.filter(|(_, code)| usize::from(*code) == dim + 1).map(|(axis, _)| axis.size).product()
    }

    /// The elements that a device holds of a tensor of this shape, padding included.
    pub fn local_elements(self, mesh: &Mesh, shape: &[u64]) -> u64 {
        let each = shape.iter().enumerate().map(|(dim, &extent)| share(extent, self.shards(mesh, dim)));
        each.fold(1, |product: u64, extent| product.saturating_mul(extent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_shardings() {
        let mesh = Mesh::new([("x", 2), ("y", 4)]).unwrap();
        let each = [Layout::Replicated, Layout::Partial(Reducer::Sum), Layout::Split(0), Layout::Split(1)];
        for x in each {
            for y in each {
                let product = Layouts::REPLICATED.with(0, x).with(1, y);
                assert_eq!((product.on(0), product.on(1)), (x, y));
                let sharding = product.sharding(&mesh, &[8, 10]);
                assert_eq!(Layouts::of(&sharding, &mesh), Some(product));
                let local: u64 = sharding.local_shape(&[8, 10]).iter().product();
                assert_eq!(product.local_elements(&mesh, &[8, 10]), local);
            }
        }
    }
}

//! How a tensor may be kept: the layouts in which it exists.
//!
//! A tensor is kept in one layout, and in at most one more: a copy that several of its readers share, made once. A reader for
//! whom neither will do converts for itself. (In no plan of a study of real training steps were more than two worth keeping.)

use tofu_ir::Type;
use tofu_sharding::{Layout, Layouts, Mesh, Reducer, share};

use crate::domain::Symmetry;
use crate::graph::{Graph, TensorId};
use crate::op_info::bytes;
use crate::price::{Prices, TensorShape};
use crate::way::has_one_reducer;

/// The layouts in which a tensor exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Stored {
    /// As it is kept where it is made.
    pub first: Layouts,
    /// A copy of it.
    pub copy: Option<Layouts>,
}

impl Stored {
    /// Kept in one layout only.
    pub fn only(first: Layouts) -> Stored {
        Stored { first, copy: None }
    }

    /// All that there is.
    pub fn layouts(self) -> impl Iterator<Item = Layouts> {
        [Some(self.first), self.copy].into_iter().flatten()
    }

    /// The bytes that a device holds.
    pub fn bytes(self, mesh: &Mesh, tensor: TensorShape<'_>) -> u64 {
        let of = |layouts: Layouts| bytes(layouts.local_elements(mesh, tensor.extents), tensor.bits);
        self.layouts().map(of).fold(0, u64::saturating_add)
    }
}

/// What the states of a tensor depend on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Class {
    pub(crate) ty: Type,
    pub(crate) partials: u8,
    pub(crate) has_copies: bool,
}

/// What conversions of a tensor depend on.
pub(crate) fn shape_of<'g>(graph: &'g Graph<'_>, tensor: TensorId) -> TensorShape<'g> {
    let tensor = &graph.tensors[tensor as usize];
    TensorShape { ty: tensor.ty, extents: &tensor.shape, bits: tensor.element.bits() }
}

/// On one axis: replicated, split along what gets smaller by it, or partial.
fn on_axis(extents: &[u64], partials: u8, size: u64) -> Vec<Layout> {
    let mut layouts = vec![Layout::Replicated];
    let splits = extents.iter().enumerate().take(Layouts::MAX_RANK);
    layouts.extend(splits.filter(|&(_, &extent)| share(extent, size) < extent).map(|(dim, _)| Layout::Split(dim)));
    let reducers = Reducer::ALL.into_iter().filter(|&reducer| partials & 1 << reducer as u8 != 0);
    layouts.extend(reducers.map(Layout::Partial));
    layouts
}

/// The layouts that a tensor may have which agree with `base` on all axes but `free`, and are the same on these.
pub(crate) fn candidates(
    mesh: &Mesh,
    extents: &[u64],
    partials: u8,
    base: Layouts,
    free: &[usize],
) -> Vec<Layouts> {
    let size: u64 = free.iter().map(|&axis| mesh.axes()[axis].size).product();
    let axes = mesh.axes().len().min(Layouts::MAX_AXES);
    let clear = free.iter().fold(base, |base, &axis| base.with(axis, Layout::Replicated));
    let with = |layout: Layout| {
        if let Layout::Split(dim) = layout {
            let before = clear.shards(mesh, dim);
            if share(extents[dim], before * size) >= share(extents[dim], before) {
                return None;
            }
        }
        let layouts = free.iter().fold(clear, |layouts, &axis| layouts.with(axis, layout));
        has_one_reducer(layouts, axes).then_some(layouts)
    };
    on_axis(extents, partials, size).into_iter().filter_map(with).collect()
}

/// All layouts that a tensor may have, one for each orbit of the symmetry.
pub(crate) fn all_layouts(mesh: &Mesh, extents: &[u64], partials: u8, symmetry: &Symmetry) -> Vec<Layouts> {
    let mut found = vec![Layouts::REPLICATED];
    for axis in 0..mesh.axes().len().min(Layouts::MAX_AXES) {
        found = found.iter().flat_map(|&from| candidates(mesh, extents, partials, from, &[axis])).collect();
        found.retain(|layouts| symmetry.is_ordered_at(axis, |axis| layouts.code(axis)));
    }
    found
}

/// All ways of keeping a tensor, one for each orbit of the symmetry, as far as that goes: copies are not told apart.
pub(crate) fn all_states(prices: &Prices<'_>, class: Class, tensor: TensorShape<'_>, symmetry: &Symmetry) -> Vec<Stored> {
    let mesh = &prices.mesh;
    let firsts = all_layouts(mesh, tensor.extents, class.partials, symmetry);
    let mut list: Vec<Stored> = firsts.iter().map(|&first| Stored::only(first)).collect();
    if !class.has_copies {
        return list;
    }
    let axes = mesh.axes().len();
    for &first in &firsts {
        // On several axes, copies that are whole on some of them; of all layouts there would be too many.
        let copies = if axes == 1 { firsts.clone() } else { gathers(first, axes) };
        for copy in copies {
            // What costs nothing need not be kept.
            if copy != first && !copy.is_partial() && prices.convert(tensor, first, copy) > 0 {
                list.push(Stored { first, copy: Some(copy) });
            }
        }
    }
    list
}

/// The layouts that are whole on some of the axes, and otherwise the same.
fn gathers(from: Layouts, axes: usize) -> Vec<Layouts> {
    let mut all = vec![from];
    for axis in 0..axes {
        if from.on(axis) != Layout::Replicated {
            let more: Vec<Layouts> = all.iter().map(|layouts| layouts.with(axis, Layout::Replicated)).collect();
            all.extend(more);
        }
    }
    all
}

//! How a tensor may be kept: the layouts in which it exists.
//!
//! A tensor is kept in one layout, and in at most one more: a copy that is whole, along some axes, where the first is not. The
//! copy is made once, for all who read it. A reader for whom neither will do converts for itself. (Of plans of real training
//! steps that were free to have any second layout, hardly any had another kind, and none gained a thousandth by it.)

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

    /// Whether the copy is whole where it is not like the first.
    pub fn is_gathered(self, axes: usize) -> bool {
        let Some(copy) = self.copy else { return true };
        (0..axes).all(|axis| copy.on(axis) == Layout::Replicated || copy.on(axis) == self.first.on(axis))
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

impl Class {
    pub(crate) fn of(graph: &Graph<'_>, tensor: TensorId) -> Class {
        let tensor = &graph.tensors[tensor as usize];
        Class { ty: tensor.ty, partials: tensor.partials, has_copies: tensor.uses > 1 }
    }
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
    layouts.extend(
        splits.filter(|&(_, &extent)| share(extent, size) < extent).map(|(dim, _)| Layout::Split(dim)),
    );
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

/// So many layouts are looked at for each that is asked for: those that split what gets no smaller are passed over.
const LOOKED_AT: usize = 16;

/// The layouts that a tensor may have, those first that differ from `from` on the fewest axes, `most` at most; and whether
/// these are all.
pub fn layouts_near(
    graph: &Graph<'_>,
    tensor: TensorId,
    mesh: &Mesh,
    from: Layouts,
    most: usize,
) -> (Vec<Layouts>, bool) {
    let of = &graph.tensors[tensor as usize];
    let axes = mesh.axes().len().min(Layouts::MAX_AXES);
    let on: Vec<Vec<Layout>> =
        mesh.axes()[..axes].iter().map(|axis| on_axis(&of.shape, of.partials, axis.size)).collect();
    let mut near = vec![from];
    // Those that differ on so many axes, each with the axes behind the last of them.
    let mut level = vec![(from, 0)];
    let mut looked_at = 0;
    for _ in 0..axes {
        let mut next = Vec::new();
        for (before, first) in level {
            for (axis, on) in on.iter().enumerate().skip(first) {
                for &layout in on.iter().filter(|&&layout| layout != from.on(axis)) {
                    let layouts = before.with(axis, layout);
                    looked_at += 1;
                    let is_possible = is_possible(mesh, &of.shape, layouts);
                    let is_full = is_possible && near.len() >= most;
                    if is_full || looked_at > most.saturating_mul(LOOKED_AT) {
                        return (near, false);
                    }
                    near.extend(is_possible.then_some(layouts));
                    next.push((layouts, axis + 1));
                }
            }
        }
        level = next;
    }
    (near, true)
}

/// Whether each axis makes the tensor smaller, along what the axes before leave of it, or holds terms of it or all.
fn is_possible(mesh: &Mesh, extents: &[u64], layouts: Layouts) -> bool {
    let axes = mesh.axes().len().min(Layouts::MAX_AXES);
    let mut before = Layouts::REPLICATED;
    let is_smaller = (0..axes).all(|axis| {
        let layout = layouts.on(axis);
        let shards = |dim: usize| before.shards(mesh, dim);
        let is_smaller = match layout {
            Layout::Split(dim) => {
                share(extents[dim], shards(dim) * mesh.axes()[axis].size) < share(extents[dim], shards(dim))
            }
            Layout::Replicated | Layout::Partial(_) => true,
        };
        before = before.with(axis, layout);
        is_smaller
    });
    is_smaller && has_one_reducer(layouts, axes)
}

/// All ways of keeping a tensor, one for each orbit of the symmetry.
pub(crate) fn all_states(
    prices: &Prices<'_>,
    class: Class,
    tensor: TensorShape<'_>,
    symmetry: &Symmetry,
) -> Vec<Stored> {
    let firsts = all_layouts(&prices.mesh, tensor.extents, class.partials, symmetry);
    let mut list = Vec::with_capacity(firsts.len());
    for &first in &firsts {
        list.extend(with_copies(prices.mesh.axes().len(), &[], first, class.has_copies));
    }
    list.retain(|stored| {
        symmetry.is_ordered(|axis| (stored.first.code(axis), stored.copy.map(|copy| copy.code(axis))))
    });
    list
}

/// A tensor kept in this layout, without a copy and, if there may be one, with each copy that is worth keeping: whole along
/// some of the axes, of which those of `together` are as one.
pub(crate) fn with_copies(axes: usize, together: &[usize], first: Layouts, has_copies: bool) -> Vec<Stored> {
    let mut all = vec![Stored::only(first)];
    if has_copies {
        let gathered = gathers(first, axes, together).into_iter();
        let gathered = gathered.filter(|copy| *copy != first && !copy.is_partial());
        all.extend(gathered.map(|copy| Stored { first, copy: Some(copy) }));
    }
    all
}

/// The layouts that are whole on some of the axes, and otherwise the same.
fn gathers(from: Layouts, axes: usize, together: &[usize]) -> Vec<Layouts> {
    let whole = |of: Layouts, axes: &[usize]| {
        axes.iter().fold(of, |layouts, &axis| layouts.with(axis, Layout::Replicated))
    };
    let alone = (0..axes).filter(|axis| !together.contains(axis)).map(|axis| vec![axis]);
    let mut all = vec![from];
    for group in alone.chain([together.to_vec()]) {
        if whole(from, &group) != from {
            let more: Vec<Layouts> = all.iter().map(|&layouts| whole(layouts, &group)).collect();
            all.extend(more);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{graph, program};

    /// The nearest come first, and all are those that the search has, on meshes with axes that split nothing, too.
    #[test]
    fn near_layouts_are_all_layouts() {
        let module = program("func @f(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {\n  return %x\n}");
        let graph = graph(&module, 0);
        for sizes in [&[2u64][..], &[2, 2], &[4, 2], &[1, 3], &[2, 2, 2], &[7, 2]] {
            let names = ["x", "y", "z"];
            let mesh = Mesh::new(names.iter().copied().zip(sizes.iter().copied())).unwrap();
            let mut all = all_layouts(&mesh, &[4, 6], 0, &Symmetry::none());
            all.sort_unstable();
            for &from in &all {
                let (mut near, is_all) = layouts_near(&graph, 0, &mesh, from, 1000);
                assert!(is_all);
                let differs =
                    |layouts: &Layouts| (0..3).filter(|&axis| layouts.on(axis) != from.on(axis)).count();
                assert!(near.is_sorted_by_key(differs));
                let (some, is_all) = layouts_near(&graph, 0, &mesh, from, 3);
                assert_eq!((&some[..], is_all), (&near[..near.len().min(3)], near.len() <= 3));
                near.sort_unstable();
                assert_eq!(near, all);
            }
        }
    }
}

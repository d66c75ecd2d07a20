//! Layouts on all axes of a mesh at once, packed for searches; and what it takes to get from one to another.
//!
//! A search looks at millions of them, so they are a word that is copied, compared and hashed as one. They say less than a
//! [`Sharding`]: the axes of a dimension stand in the order of the mesh, and an axis is one thing as a whole.
//!
//! # Conversions
//!
//! Each axis goes from what it was to what it becomes:
//!
//! | from, to | split | replicated | partial |
//! |---|---|---|---|
//! | split on d | all-to-all, unless it stays on d | all-gather | zeros for the rest, nothing is sent |
//! | replicated | a slice, nothing is sent | nothing | the others' terms become zero, nothing is sent |
//! | partial | reduce-scatter | all-reduce | nothing |
//!
//! All axes that go the same way go together, in one collective, and in an order in which tensors are as small as they can be:
//! slices, reduce-scatters, all-to-alls, all-reduces, and all-gathers last. Where axes are taken from or added to a
//! dimension other than as its minor ones, shards lie on the wrong devices, and a permutation comes first.

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;
use tofu_machine::{Collective, Machine, Time};

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

    /// The axes that split a dimension, the major one first.
    fn axes_of(self, dim: usize) -> impl Iterator<Item = usize> {
        let codes = self.0.into_iter().enumerate();
        codes.filter(move |(_, code)| usize::from(*code) == dim + 1).map(|(axis, _)| axis)
    }
}

/// One collective of a conversion.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// What devices do.
    pub collective: Collective,
    /// Over which axes of the mesh, in its order.
    pub axes: SmallVec<[u8; 4]>,
    /// The bytes of the whole tensor that the group holds; of a halo exchange, those that a device gets.
    pub bytes: u64,
}

impl Step {
    /// How long it takes.
    pub fn time(&self, machine: &Machine, mesh: &Mesh) -> Time {
        let axes: SmallVec<[_; 4]> = self.axes.iter().map(|&axis| mesh.whole(axis.into())).collect();
        machine.collective_time(self.collective, &mesh.group(&axes), self.bytes)
    }

    /// The bytes that a device sends.
    pub fn sent_bytes(&self, mesh: &Mesh) -> u64 {
        self.collective.sent_bytes(self.devices(mesh), self.bytes)
    }

    /// How many devices take part in a group.
    pub fn devices(&self, mesh: &Mesh) -> u64 {
        self.axes.iter().map(|&axis| mesh.axes()[usize::from(axis)].size).product()
    }
}

/// What conversions are made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Means {
    /// Terms can be reduced and scattered at once. Where they cannot, all is reduced and then sliced.
    pub reduce_scatter: bool,
    /// Shards lie on certain devices, and are moved where they lie on the wrong ones. If not, the order of axes does not
    /// matter, and conversions cost the same, or less, with axes exchanged that are alike.
    pub ordered: bool,
}

/// What devices do to a tensor of this shape, of elements of so many bits, to bring it from one layout to another.
pub fn conversion(
    mesh: &Mesh,
    shape: &[u64],
    bits: u32,
    from: Layouts,
    to: Layouts,
    means: Means,
) -> SmallVec<[Step; 2]> {
    let mut steps = SmallVec::new();
    if from == to {
        return steps;
    }
    let axes = 0..mesh.axes().len().min(Layouts::MAX_AXES);
    let bytes = |layouts: Layouts| {
        let bits = u128::from(layouts.local_elements(mesh, shape)) * u128::from(bits);
        u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
    };
    let mut now = from;
    // Nothing is sent for these.
    for axis in axes.clone() {
        if matches!((from.on(axis), to.on(axis)), (Layout::Replicated, Layout::Split(_))) {
            now = now.with(axis, to.on(axis));
        }
    }
    let moves = |is: fn(Layout, Layout) -> bool| -> SmallVec<[u8; 4]> {
        axes.clone().filter(|&axis| is(from.on(axis), to.on(axis))).map(|axis| axis as u8).collect()
    };
    let size =
        |axes: &[u8]| -> u64 { axes.iter().map(|&axis| mesh.axes()[usize::from(axis)].size).product() };
    if let Some(wrong) = misplaced(shape.len(), from, to).filter(|_| means.ordered) {
        let group = size(&wrong);
        steps.push(Step {
            collective: Collective::Permute,
            axes: wrong,
            bytes: bytes(now).saturating_mul(group),
        });
    }
    let mut go = |now: &mut Layouts, collective: Collective, axes: SmallVec<[u8; 4]>| {
        if axes.is_empty() {
            return;
        }
        let before = bytes(*now);
        for &axis in &axes {
            *now = now.with(axis.into(), to.on(axis.into()));
        }
        let group = size(&axes);
        let whole = match collective {
            Collective::AllGather => bytes(*now),
            Collective::AllToAll => before.saturating_mul(group),
            _ => before,
        };
        steps.push(Step { collective, axes, bytes: whole });
    };
    let scattered = moves(|from, to| matches!((from, to), (Layout::Partial(_), Layout::Split(_))));
    let reduced = |from: Layout, to: Layout| match (from, to) {
        (Layout::Partial(_), Layout::Replicated) => true,
        (Layout::Partial(a), Layout::Partial(b)) => a != b,
        _ => false,
    };
    if means.reduce_scatter {
        go(&mut now, Collective::ReduceScatter, scattered);
        let swapped =
            |from: Layout, to: Layout| matches!((from, to), (Layout::Split(a), Layout::Split(b)) if a != b);
        go(&mut now, Collective::AllToAll, moves(swapped));
        go(&mut now, Collective::AllReduce, moves(reduced));
    } else {
        let swapped =
            |from: Layout, to: Layout| matches!((from, to), (Layout::Split(a), Layout::Split(b)) if a != b);
        go(&mut now, Collective::AllToAll, moves(swapped));
        let either = |from: Layout, to: Layout| match (from, to) {
            (Layout::Partial(_), Layout::Replicated | Layout::Split(_)) => true,
            (Layout::Partial(a), Layout::Partial(b)) => a != b,
            _ => false,
        };
        go(&mut now, Collective::AllReduce, moves(either));
    }
    go(
        &mut now,
        Collective::AllGather,
        moves(|from, to| matches!((from, to), (Layout::Split(_), Layout::Replicated))),
    );
    steps
}

/// The axes of the dimensions whose shards lie on other devices than slices and gathers make of them: what a dimension
/// keeps must be its major axes before and after.
fn misplaced(rank: usize, from: Layouts, to: Layouts) -> Option<SmallVec<[u8; 4]>> {
    let mut wrong: SmallVec<[u8; 4]> = SmallVec::new();
    for dim in 0..rank.min(Layouts::MAX_RANK) {
        let kept = from.axes_of(dim).filter(|&axis| to.on(axis) == Layout::Split(dim)).count();
        let is_prefix = from.axes_of(dim).take(kept).eq(to.axes_of(dim).take(kept));
        if !is_prefix {
            wrong.extend(from.axes_of(dim).chain(to.axes_of(dim)).map(|axis| axis as u8));
        }
    }
    wrong.sort_unstable();
    wrong.dedup();
    (!wrong.is_empty()).then_some(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPLIT: [Layout; 3] = [Layout::Split(0), Layout::Split(1), Layout::Split(2)];
    const SUM: Layout = Layout::Partial(Reducer::Sum);
    const WHOLE: Layout = Layout::Replicated;
    const ALL: Means = Means { reduce_scatter: true, ordered: true };

    fn layouts(on: &[Layout]) -> Layouts {
        on.iter().enumerate().fold(Layouts::REPLICATED, |layouts, (axis, &layout)| layouts.with(axis, layout))
    }

    fn steps(from: &[Layout], to: &[Layout]) -> Vec<(Collective, Vec<u8>, u64)> {
        let mesh = Mesh::new([("x", 2), ("y", 4)]).unwrap();
        let steps = conversion(&mesh, &[16, 32, 8], 32, layouts(from), layouts(to), ALL);
        steps.into_iter().map(|step| (step.collective, step.axes.to_vec(), step.bytes)).collect()
    }

    /// 16 · 32 · 8 elements of 4 bytes.
    const BYTES: u64 = 16 * 32 * 8 * 4;

    #[test]
    fn one_axis_goes_one_way() {
        use Collective::*;
        assert_eq!(steps(&[WHOLE, WHOLE], &[SPLIT[0], SUM]), []);
        assert_eq!(steps(&[SPLIT[0], WHOLE], &[SUM, WHOLE]), []);
        assert_eq!(steps(&[SPLIT[0], WHOLE], &[WHOLE, WHOLE]), [(AllGather, vec![0], BYTES)]);
        assert_eq!(steps(&[SUM, WHOLE], &[SPLIT[1], WHOLE]), [(ReduceScatter, vec![0], BYTES)]);
        assert_eq!(steps(&[WHOLE, SUM], &[WHOLE, WHOLE]), [(AllReduce, vec![1], BYTES)]);
        assert_eq!(steps(&[SPLIT[0], WHOLE], &[SPLIT[2], WHOLE]), [(AllToAll, vec![0], BYTES)]);
    }

    #[test]
    fn axes_go_together_while_tensors_are_small() {
        use Collective::*;
        assert_eq!(steps(&[SUM, SUM], &[WHOLE, WHOLE]), [(AllReduce, vec![0, 1], BYTES)]);
        assert_eq!(steps(&[SPLIT[0], SPLIT[1]], &[WHOLE, WHOLE]), [(AllGather, vec![0, 1], BYTES)]);
        // The slice along x comes first, so the reduction along y is of half as much.
        assert_eq!(steps(&[WHOLE, SUM], &[SPLIT[0], WHOLE]), [(AllReduce, vec![1], BYTES / 2)]);
        // The terms are scattered before the rest is gathered.
        let expected = [(ReduceScatter, vec![1], BYTES / 2), (AllGather, vec![0], BYTES / 4)];
        assert_eq!(steps(&[SPLIT[0], SUM], &[WHOLE, SPLIT[1]]), expected);
    }

    #[test]
    fn major_axes_cannot_go_first() {
        use Collective::*;
        let both = [SPLIT[0], SPLIT[0]];
        assert_eq!(steps(&both, &[SPLIT[0], WHOLE]), [(AllGather, vec![1], BYTES / 2)]);
        let expected = [(Permute, vec![0, 1], BYTES), (AllGather, vec![0], BYTES / 4)];
        assert_eq!(steps(&both, &[WHOLE, SPLIT[0]]), expected);
        // From y alone to x and y: a slice, but of what other devices hold.
        assert_eq!(steps(&[WHOLE, SPLIT[0]], &both), [(Permute, vec![0, 1], BYTES)]);
    }

    #[test]
    fn without_an_order_conversions_are_the_same_with_axes_exchanged() {
        let mesh = Mesh::new([("x", 2), ("y", 2)]).unwrap();
        let means = Means { ordered: false, ..ALL };
        let each = [WHOLE, SUM, SPLIT[0], SPLIT[1]];
        let all = || each.into_iter().flat_map(|x| each.into_iter().map(move |y| [x, y]));
        let sent = |from: [Layout; 2], to: [Layout; 2], means: Means| -> u64 {
            let steps = conversion(&mesh, &[6, 10], 32, layouts(&from), layouts(&to), means);
            steps.iter().map(|step| step.sent_bytes(&mesh)).sum()
        };
        for from in all() {
            for to in all() {
                let exchanged = sent([from[1], from[0]], [to[1], to[0]], means);
                assert_eq!(sent(from, to, means), exchanged, "{from:?} {to:?}");
                assert!(exchanged <= sent(from, to, ALL), "{from:?} {to:?}");
            }
        }
    }

    #[test]
    fn without_reduce_scatter_all_is_reduced() {
        let mesh = Mesh::new([("x", 4)]).unwrap();
        let steps = conversion(
            &mesh,
            &[16],
            32,
            layouts(&[SUM]),
            layouts(&[SPLIT[0]]),
            Means { reduce_scatter: false, ..ALL },
        );
        assert_eq!(steps.len(), 1);
        assert_eq!((steps[0].collective, steps[0].bytes), (Collective::AllReduce, 64));
        assert_eq!(steps[0].sent_bytes(&mesh), 96);
    }

    #[test]
    fn layouts_are_shardings() {
        let mesh = Mesh::new([("x", 2), ("y", 4)]).unwrap();
        for x in [WHOLE, SUM, SPLIT[0], SPLIT[1]] {
            for y in [WHOLE, SUM, SPLIT[0], SPLIT[1]] {
                let product = layouts(&[x, y]);
                assert_eq!((product.on(0), product.on(1)), (x, y));
                let sharding = product.sharding(&mesh, &[8, 10]);
                assert_eq!(Layouts::of(&sharding, &mesh), Some(product));
                let local: u64 = sharding.local_shape(&[8, 10]).iter().product();
                assert_eq!(product.local_elements(&mesh, &[8, 10]), local);
            }
        }
    }
}

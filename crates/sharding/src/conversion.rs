//! What devices do to bring a tensor from one layout to another.
//!
//! Each axis goes from what it was to what it becomes:
//!
//! | from, to | split | replicated | partial |
//! |---|---|---|---|
//! | split on d | all-to-all, unless it stays on d | all-gather | what other devices hold becomes nothing, nothing is sent |
//! | replicated | a slice, nothing is sent | nothing | the others' terms become nothing, nothing is sent |
//! | partial | reduce-scatter | all-reduce | nothing |
//!
//! All axes that go the same way go together, in one collective, and in an order in which tensors are as small as they can be:
//! slices, reduce-scatters, all-to-alls, all-reduces, and all-gathers last.
//!
//! # Order
//!
//! What leaves a dimension must be its minor axes, and what comes is minor to what there is. Where it must be otherwise,
//! shards lie on the wrong devices, and a permutation moves them.
//!
//! # Shares that are not even
//!
//! Shares are ceilings over all axes of a dimension together: of 10 elements over `x = 2` they are 5, over `x = 2, y = 2` they are
//! 3, and two shares of 3 are no share of 5. Where shares do not nest, all of the dimension is gathered, and then sliced. A device
//! holds, and sends, the padding of its shares.

use smallvec::{SmallVec, smallvec};
use tofu_machine::{Collective, Machine, Time};

use crate::{Layout, Layouts, Mesh, Reducer, Sharding, share};

/// Axes of a mesh, by their numbers.
pub type Axes = SmallVec<[u8; 4]>;

/// One collective of a conversion.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// What devices do.
    pub collective: Collective,
    /// Over which axes of the mesh, in its order.
    pub axes: Axes,
    /// The bytes of the whole tensor that the group holds, padding included; of a halo exchange, those that a device gets.
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
        mesh.devices_along(&self.axes)
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

/// What devices do with the buffers that they hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Each keeps its part of these dimensions, which is one of the axes' product, the first axis the major one.
    Slice(Vec<(usize, Axes)>),
    /// The parts of these dimensions are put together.
    Gather(Vec<(usize, Axes)>),
    /// Terms are reduced.
    Reduce(Reducer, Axes),
    /// Terms are reduced, and each device keeps its part of these dimensions.
    Scatter(Reducer, Vec<(usize, Axes)>),
    /// The parts of the first dimensions are put together, while each device keeps its part of the second ones. The axes are the same ones;
    /// no dimension is among both.
    Exchange(Vec<(usize, Axes)>, Vec<(usize, Axes)>),
    /// Shards move to other devices: what lay on the device of a coordinate along the first axes lies on the one of the same
    /// coordinate along the second ones.
    Permute(Vec<(Axes, Axes)>),
    /// The whole becomes terms: it is one on the first device along the axes, and the others hold what the reducer gives of nothing.
    Term(Reducer, Axes),
    /// Parts of a dimension become terms: each device has what the reducer gives of nothing where it had nothing.
    Embed(Reducer, usize, Axes),
}

/// An action, and where it leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// What devices do.
    pub action: Action,
    /// What they send for it; none if nothing.
    pub step: Option<Step>,
    /// The shape of the buffers then, with what padding is left over cut off.
    pub local: SmallVec<[u64; 4]>,
    /// The axes that split each dimension then, the major one first.
    pub order: SmallVec<[Axes; 4]>,
    /// How it lies then, but for the order of axes.
    pub layouts: Layouts,
}

impl Move {
    /// How it lies then; which dimensions are padded is not said, since buffers are.
    pub fn sharding(&self, mesh: &Mesh) -> Sharding {
        let dims = self.order.iter().enumerate();
        let axes = dims.flat_map(|(dim, axes)| axes.iter().map(move |&axis| (dim, axis)));
        let split = axes.fold(Sharding::replicated(self.order.len()), |sharding, (dim, axis)| {
            sharding.split(dim, mesh.whole(axis.into()))
        });
        (0..mesh.axes().len().min(Layouts::MAX_AXES)).fold(split, |sharding, axis| {
            match self.layouts.on(axis) {
                Layout::Partial(reducer) => sharding.with_partial(reducer, mesh.whole(axis)),
                Layout::Replicated | Layout::Split(_) => sharding,
            }
        })
    }
}

/// What devices do to a tensor of this shape, of elements of so many bits, to bring it from one layout to another.
pub fn moves(mesh: &Mesh, shape: &[u64], bits: u32, from: Layouts, to: Layouts, means: Means) -> Vec<Move> {
    let mut plan = Planning::new(mesh, shape, bits, from, means);
    plan.go(to);
    plan.moves
}

/// What devices send for it.
pub fn conversion(
    mesh: &Mesh,
    shape: &[u64],
    bits: u32,
    from: Layouts,
    to: Layouts,
    means: Means,
) -> SmallVec<[Step; 2]> {
    if from == to {
        return SmallVec::new();
    }
    moves(mesh, shape, bits, from, to, means).into_iter().filter_map(|step| step.step).collect()
}

struct Planning<'a> {
    mesh: &'a Mesh,
    shape: &'a [u64],
    bits: u32,
    means: Means,
    now: Layouts,
    /// The axes of each dimension, the major one first.
    order: SmallVec<[Axes; 4]>,
    local: SmallVec<[u64; 4]>,
    moves: Vec<Move>,
}

impl<'a> Planning<'a> {
    fn new(mesh: &'a Mesh, shape: &'a [u64], bits: u32, from: Layouts, means: Means) -> Planning<'a> {
        let order = (0..shape.len()).map(|dim| axes_of(from, dim)).collect();
        let local = local_shape(mesh, shape, from);
        Planning { mesh, shape, bits, means, now: from, order, local, moves: Vec::new() }
    }

    fn go(&mut self, to: Layouts) {
        if self.now == to {
            return;
        }
        let between = self.without_uneven(to);
        if between != to && between != self.now {
            self.go(between);
        }
        let ways = Ways::of(self.mesh, self.now, to);
        self.slice(&ways.sliced, to);
        if self.means.reduce_scatter {
            self.scatter(&ways.scattered, to);
        }
        self.exchange(&ways.swapped, to);
        if self.means.reduce_scatter {
            self.reduce(&ways.reduced);
        } else {
            let mut both: Axes = ways.scattered.iter().chain(&ways.reduced).copied().collect();
            both.sort_unstable();
            self.reduce(&both);
            self.slice(&ways.scattered, to);
        }
        self.order_for(to, &ways.embedded);
        self.embed(&ways.embedded, to);
        self.gather(&ways.gathered);
        self.term(&ways.terms, to);
        self.put_in_order(to);
    }

    /// The layouts without the dimensions whose shares do not nest, on the way to these.
    fn without_uneven(&self, to: Layouts) -> Layouts {
        let ways = Ways::of(self.mesh, self.now, to);
        let mut between = to;
        for (dim, &extent) in self.shape.iter().enumerate() {
            let (before, after) = (axes_of(self.now, dim), axes_of(to, dim));
            let mut all: Axes = before.iter().chain(&after).copied().collect();
            all.sort_unstable();
            all.dedup();
            if extent.is_multiple_of(self.mesh.devices_along(&all))
                || self.nests(extent, &before, &after, &ways)
            {
                continue;
            }
            for axis in all {
                between = between.with(axis.into(), Layout::Replicated);
            }
        }
        between
    }

    /// Whether the shares that a dimension has one after the other are shares of one another.
    fn nests(&self, extent: u64, before: &Axes, after: &Axes, ways: &Ways) -> bool {
        let mut now = before.clone();
        let mut changes = |axes: &Axes, list: &Axes, comes: bool| {
            let before = self.mesh.devices_along(&now);
            let changed: Axes = axes.iter().copied().filter(|axis| list.contains(axis)).collect();
            if comes {
                now.extend(changed);
            } else {
                now.retain(|axis| !changed.contains(axis));
            }
            let now = self.mesh.devices_along(&now);
            let (few, many) = (before.min(now), before.max(now));
            few == many || few == 1 || share(extent, few) == share(extent, many) * (many / few)
        };
        let scatters = self.means.reduce_scatter;
        // What comes may come before or after what leaves.
        let comes = after.iter().any(|axis| ways.swapped.contains(axis) && !before.contains(axis));
        let leaves = before.iter().any(|axis| ways.swapped.contains(axis) && !after.contains(axis));
        if comes && leaves {
            return false;
        }
        changes(after, &ways.sliced, true)
            && (!scatters || changes(after, &ways.scattered, true))
            && changes(before, &ways.swapped, false)
            && changes(after, &ways.swapped, true)
            && (scatters || changes(after, &ways.scattered, true))
            && changes(before, &ways.embedded, false)
            && changes(before, &ways.gathered, false)
    }

    /// The bytes of so many buffers of this shape, one after the other.
    fn bytes(&self, local: &[u64], buffers: u64) -> u64 {
        let elements = local.iter().fold(buffers, |product, &extent| product.saturating_mul(extent));
        let bits = u128::from(elements) * u128::from(self.bits);
        u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
    }

    fn push(&mut self, action: Action, sent: Option<(Collective, Axes, u64)>) {
        let step = sent.map(|(collective, mut axes, bytes)| {
            axes.sort_unstable();
            Step { collective, axes, bytes }
        });
        let (local, order) = (self.local.clone(), self.order.clone());
        self.moves.push(Move { action, step, local, order, layouts: self.now });
    }

    /// The dimensions that these axes split, each with those that do.
    fn by_dim(&self, axes: &[u8], layouts: Layouts) -> Vec<(usize, Axes)> {
        let of = |dim: usize| -> Axes {
            axes.iter().copied().filter(|&axis| layouts.on(axis.into()) == Layout::Split(dim)).collect()
        };
        (0..self.shape.len()).map(|dim| (dim, of(dim))).filter(|(_, axes)| !axes.is_empty()).collect()
    }

    /// These axes split dimensions from now on, as their minor ones.
    fn come(&mut self, dims: &[(usize, Axes)]) {
        for (dim, axes) in dims {
            for &axis in axes {
                self.now = self.now.with(axis.into(), Layout::Split(*dim));
                self.order[*dim].push(axis);
            }
            self.local[*dim] = share(self.local[*dim], self.mesh.devices_along(axes));
        }
    }

    /// These axes, minor ones, split dimensions no more. The shape of the buffers before padding is cut off.
    fn leave(&mut self, dims: &[(usize, Axes)]) -> SmallVec<[u64; 4]> {
        let mut padded = self.local.clone();
        for (dim, axes) in dims {
            for &axis in axes {
                self.now = self.now.with(axis.into(), Layout::Replicated);
                self.order[*dim].retain(|other| *other != axis);
            }
            padded[*dim] = padded[*dim].saturating_mul(self.mesh.devices_along(axes));
            self.local[*dim] = padded[*dim];
            if self.order[*dim].is_empty() {
                self.local[*dim] = self.shape[*dim];
            }
        }
        padded
    }

    fn slice(&mut self, axes: &[u8], to: Layouts) {
        let dims = self.by_dim(axes, to);
        if !dims.is_empty() {
            self.come(&dims);
            self.push(Action::Slice(dims), None);
        }
    }

    fn scatter(&mut self, axes: &[u8], to: Layouts) {
        let dims = self.by_dim(axes, to);
        let Some(&first) = axes.first() else { return };
        let Layout::Partial(reducer) = self.now.on(first.into()) else { return };
        self.come(&dims);
        let bytes = self.bytes(&self.local, self.mesh.devices_along(axes));
        self.push(
            Action::Scatter(reducer, dims),
            Some((Collective::ReduceScatter, Axes::from_slice(axes), bytes)),
        );
    }

    fn reduce(&mut self, axes: &[u8]) {
        let Some(&first) = axes.first() else { return };
        let Layout::Partial(reducer) = self.now.on(first.into()) else { return };
        for &axis in axes {
            self.now = self.now.with(axis.into(), Layout::Replicated);
        }
        let axes = Axes::from_slice(axes);
        let bytes = self.bytes(&self.local, 1);
        self.push(Action::Reduce(reducer, axes.clone()), Some((Collective::AllReduce, axes, bytes)));
    }

    fn exchange(&mut self, axes: &[u8], to: Layouts) {
        let mut left = Axes::from_slice(axes);
        self.trade_places(&mut left, to);
        while !left.is_empty() {
            let together = self.exchanged_together(&left, to);
            left.retain(|axis| !together.contains(axis));
            self.order_for(to, &together);
            let of = |dim: usize, order: &[u8]| -> (usize, Axes) {
                (dim, order.iter().copied().filter(|axis| together.contains(axis)).collect())
            };
            let rank = self.shape.len();
            let gone: Vec<(usize, Axes)> = (0..rank).map(|dim| of(dim, &self.order[dim])).collect();
            let come: Vec<(usize, Axes)> = (0..rank).map(|dim| of(dim, &axes_of(to, dim))).collect();
            let [gone, come] = [gone, come]
                .map(|dims| dims.into_iter().filter(|(_, axes)| !axes.is_empty()).collect::<Vec<_>>());
            let mut padded = self.leave(&gone);
            self.come(&come);
            for (dim, axes) in &come {
                padded[*dim] = share(padded[*dim], self.mesh.devices_along(axes));
            }
            let bytes = self.bytes(&padded, self.mesh.devices_along(&together));
            self.push(Action::Exchange(gone, come), Some((Collective::AllToAll, together, bytes)));
        }
    }

    /// Of these axes, those that can be exchanged together: what one of them leaves none comes to.
    fn exchanged_together(&self, axes: &[u8], to: Layouts) -> Axes {
        let mut together = Axes::new();
        let (mut sources, mut targets): (SmallVec<[usize; 4]>, SmallVec<[usize; 4]>) = Default::default();
        for (dim, order) in self.order.iter().enumerate() {
            for &axis in order.iter().filter(|axis| axes.contains(axis)) {
                let Layout::Split(target) = to.on(axis.into()) else { continue };
                if !targets.contains(&dim) && !sources.contains(&target) {
                    together.push(axis);
                    sources.push(dim);
                    targets.push(target);
                }
            }
        }
        together.sort_unstable();
        together
    }

    /// Two axes of one size that take each other's place only rename the devices.
    fn trade_places(&mut self, left: &mut Axes, to: Layouts) {
        let size_of = |mesh: &Mesh, axis: u8| mesh.axes()[usize::from(axis)].size;
        let before = self.order.clone();
        for first in 0..self.shape.len() {
            for second in first + 1..self.shape.len() {
                while let Some((a, b)) = self.order[first].iter().find_map(|&a| {
                    let trades = |b: &&u8| {
                        left.contains(&a)
                            && left.contains(b)
                            && to.on(a.into()) == Layout::Split(second)
                            && to.on((**b).into()) == Layout::Split(first)
                            && size_of(self.mesh, a) == size_of(self.mesh, **b)
                    };
                    self.order[second].iter().find(trades).map(|&b| (a, b))
                }) {
                    for (dim, old, new) in [(first, a, b), (second, b, a)] {
                        self.order[dim].iter_mut().filter(|axis| **axis == old).for_each(|axis| *axis = new);
                        self.now = self.now.with(new.into(), Layout::Split(dim));
                    }
                    left.retain(|axis| *axis != a && *axis != b);
                }
            }
        }
        let wanted = std::mem::replace(&mut self.order, before);
        let dims: SmallVec<[usize; 4]> = (0..wanted.len()).collect();
        self.permute(&dims, &wanted);
    }

    fn gather(&mut self, axes: &[u8]) {
        if axes.is_empty() {
            return;
        }
        let mut dims = self.by_dim(axes, self.now);
        for (dim, own) in &mut dims {
            *own = self.order[*dim].iter().copied().filter(|axis| axes.contains(axis)).collect();
        }
        let bytes = self.bytes(&self.local, self.mesh.devices_along(axes));
        self.leave(&dims);
        self.push(Action::Gather(dims), Some((Collective::AllGather, Axes::from_slice(axes), bytes)));
    }

    fn embed(&mut self, axes: &[u8], to: Layouts) {
        for (dim, own) in self.by_dim(axes, self.now) {
            let own: Axes = self.order[dim].iter().copied().filter(|axis| own.contains(axis)).collect();
            let Some(Layout::Partial(reducer)) = own.first().map(|&axis| to.on(axis.into())) else {
                continue;
            };
            self.leave(&[(dim, own.clone())]);
            for &axis in &own {
                self.now = self.now.with(axis.into(), Layout::Partial(reducer));
            }
            self.push(Action::Embed(reducer, dim, own), None);
        }
    }

    fn term(&mut self, axes: &[u8], to: Layouts) {
        let Some(Layout::Partial(reducer)) = axes.first().map(|&axis| to.on(axis.into())) else { return };
        for &axis in axes {
            self.now = self.now.with(axis.into(), Layout::Partial(reducer));
        }
        self.push(Action::Term(reducer, Axes::from_slice(axes)), None);
    }

    /// Makes what leaves dimensions their minor axes, and of that the last ones what leaves now.
    fn order_for(&mut self, to: Layouts, now: &Axes) {
        let wanted = |(dim, order): (usize, &Axes)| -> Axes {
            let stays = axes_of(to, dim).into_iter().filter(|axis| order.contains(axis));
            let leaves = |axis: &u8| to.on((*axis).into()) != Layout::Split(dim);
            let later = order.iter().copied().filter(|axis| leaves(axis) && !now.contains(axis));
            let last = order.iter().copied().filter(|axis| leaves(axis) && now.contains(axis));
            stays.chain(later).chain(last).collect()
        };
        let wanted: Vec<Axes> = self.order.iter().enumerate().map(wanted).collect();
        // Where nothing leaves, what comes may still change the order.
        let leaves =
            |dim: &usize| self.order[*dim].iter().any(|&axis| to.on(axis.into()) != Layout::Split(*dim));
        let dims: SmallVec<[usize; 4]> = (0..wanted.len()).filter(leaves).collect();
        self.permute(&dims, &wanted);
    }

    fn put_in_order(&mut self, to: Layouts) {
        let wanted: Vec<Axes> = (0..self.shape.len()).map(|dim| axes_of(to, dim)).collect();
        let dims: SmallVec<[usize; 4]> = (0..wanted.len()).collect();
        self.permute(&dims, &wanted);
    }

    fn permute(&mut self, dims: &[usize], wanted: &[Axes]) {
        let wrong: SmallVec<[usize; 4]> =
            dims.iter().copied().filter(|&dim| self.order[dim] != wanted[dim]).collect();
        if wrong.is_empty() {
            return;
        }
        let mut axes: Axes = smallvec![];
        let mut changes = Vec::new();
        for &dim in &wrong {
            axes.extend_from_slice(&wanted[dim]);
            changes.push((self.order[dim].clone(), wanted[dim].clone()));
            self.order[dim] = wanted[dim].clone();
        }
        if self.means.ordered {
            let bytes = self.bytes(&self.local, self.mesh.devices_along(&axes));
            self.push(Action::Permute(changes), Some((Collective::Permute, axes, bytes)));
        }
    }
}

/// Which way axes go.
struct Ways {
    sliced: Axes,
    scattered: Axes,
    swapped: Axes,
    reduced: Axes,
    gathered: Axes,
    embedded: Axes,
    terms: Axes,
}

impl Ways {
    fn of(mesh: &Mesh, from: Layouts, to: Layouts) -> Ways {
        let which = |is: fn(Layout, Layout) -> bool| -> Axes {
            let axes = (0..mesh.axes().len().min(Layouts::MAX_AXES)).map(|axis| axis as u8);
            axes.filter(|&axis| is(from.on(axis.into()), to.on(axis.into()))).collect()
        };
        Ways {
            sliced: which(|from, to| matches!((from, to), (Layout::Replicated, Layout::Split(_)))),
            scattered: which(|from, to| matches!((from, to), (Layout::Partial(_), Layout::Split(_)))),
            swapped: which(|from, to| matches!((from, to), (Layout::Split(a), Layout::Split(b)) if a != b)),
            reduced: which(|from, to| match (from, to) {
                (Layout::Partial(_), Layout::Replicated) => true,
                (Layout::Partial(a), Layout::Partial(b)) => a != b,
                _ => false,
            }),
            gathered: which(|from, to| matches!((from, to), (Layout::Split(_), Layout::Replicated))),
            embedded: which(|from, to| matches!((from, to), (Layout::Split(_), Layout::Partial(_)))),
            terms: which(|from, to| match (from, to) {
                (Layout::Replicated, Layout::Partial(_)) => true,
                (Layout::Partial(a), Layout::Partial(b)) => a != b,
                _ => false,
            }),
        }
    }
}

/// The axes that split a dimension, the major one first.
fn axes_of(layouts: Layouts, dim: usize) -> Axes {
    let axes = 0..Layouts::MAX_AXES;
    axes.filter(|&axis| layouts.on(axis) == Layout::Split(dim)).map(|axis| axis as u8).collect()
}

fn local_shape(mesh: &Mesh, shape: &[u64], layouts: Layouts) -> SmallVec<[u64; 4]> {
    shape.iter().enumerate().map(|(dim, &extent)| share(extent, layouts.shards(mesh, dim))).collect()
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
}

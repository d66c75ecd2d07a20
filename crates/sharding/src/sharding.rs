//! Shardings, and layouts: what a sharding is on one axis.

use smallvec::SmallVec;

use crate::AxisRef;
use crate::axis::insert;

/// How a tensor lies on a mesh.
///
/// Any value of the type can be made; [`check`](Sharding::check) tells whether it is a sharding of a tensor. Shardings
/// that are checked and mean the same are equal.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sharding {
    /// What splits each dimension.
    pub dims: SmallVec<[DimSharding; 4]>,
    /// Axes that must not split an open dimension, in the order of the mesh.
    pub replicated: SmallVec<[AxisRef; 2]>,
    /// What is still to be reduced.
    pub partial: Option<Partial>,
}

/// What splits a dimension.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DimSharding {
    /// The axes, of which the first is the major one.
    pub axes: SmallVec<[AxisRef; 2]>,
    /// Whether more axes may split it: it is a wish, no plan.
    pub open: bool,
    /// Whether the shares together are larger than the extent.
    pub padded: bool,
}

/// Axes over which devices hold terms: the values are what the reducer makes of them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Partial {
    /// What reduces them.
    pub reducer: Reducer,
    /// The axes, in the order of the mesh.
    pub axes: SmallVec<[AxisRef; 2]>,
}

/// What reduces partial values; combiners of a description's own have no partial values on a mesh.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are the reducers as they are written")]
pub enum Reducer {
    Sum,
    Prod,
    Max,
    Min,
    And,
    Or,
}

/// What a sharding is on one axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// The devices along the axis hold the same.
    Replicated,
    /// They hold parts of this dimension.
    Split(usize),
    /// They hold terms of the values.
    Partial(Reducer),
}

impl Reducer {
    /// All of them.
    pub const ALL: [Reducer; 6] =
        [Reducer::Sum, Reducer::Prod, Reducer::Max, Reducer::Min, Reducer::And, Reducer::Or];

    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            Reducer::Sum => "sum",
            Reducer::Prod => "prod",
            Reducer::Max => "max",
            Reducer::Min => "min",
            Reducer::And => "and",
            Reducer::Or => "or",
        }
    }

    /// The reducer that is written `name`.
    pub fn from_name(name: &str) -> Option<Reducer> {
        Reducer::ALL.into_iter().find(|reducer| reducer.name() == name)
    }

    /// As descriptions have it.
    pub fn description(self) -> tofu_tdl::Reducer {
        match self {
            Reducer::Sum => tofu_tdl::Reducer::Sum,
            Reducer::Prod => tofu_tdl::Reducer::Prod,
            Reducer::Max => tofu_tdl::Reducer::Max,
            Reducer::Min => tofu_tdl::Reducer::Min,
            Reducer::And => tofu_tdl::Reducer::And,
            Reducer::Or => tofu_tdl::Reducer::Or,
        }
    }

    /// The reducer of a description, if it is not a combiner of its own.
    pub fn of_description(reducer: tofu_tdl::Reducer) -> Option<Reducer> {
        match reducer {
            tofu_tdl::Reducer::Sum => Some(Reducer::Sum),
            tofu_tdl::Reducer::Prod => Some(Reducer::Prod),
            tofu_tdl::Reducer::Max => Some(Reducer::Max),
            tofu_tdl::Reducer::Min => Some(Reducer::Min),
            tofu_tdl::Reducer::And => Some(Reducer::And),
            tofu_tdl::Reducer::Or => Some(Reducer::Or),
            tofu_tdl::Reducer::Custom(_) => None,
        }
    }
}

impl Sharding {
    /// A tensor that every device holds whole.
    pub fn replicated(rank: usize) -> Sharding {
        Sharding { dims: SmallVec::from_elem(DimSharding::default(), rank), ..Sharding::default() }
    }

    /// Splits the shares of a dimension once more, by an axis that is minor to those that split it already.
    ///
    /// # Panics
    /// When there is no such dimension.
    #[must_use]
    pub fn split(mut self, dim: usize, axis: AxisRef) -> Sharding {
        let axes = &mut self.dims[dim].axes;
        match axes.last_mut().and_then(|last| Some((last.joined(axis)?, last))) {
            Some((joined, last)) => *last = joined,
            None => axes.push(axis),
        }
        self
    }

    /// Makes the values partial over one more axis. A value has one reducer: another one takes the place of what was.
    #[must_use]
    pub fn with_partial(mut self, reducer: Reducer, axis: AxisRef) -> Sharding {
        let before = self.partial.take().filter(|partial| partial.reducer == reducer);
        let mut axes = before.map(|partial| partial.axes).unwrap_or_default();
        insert(&mut axes, axis);
        self.partial = Some(Partial { reducer, axes });
        self
    }

    /// Declares for a tensor of this shape which dimensions are padded.
    #[must_use]
    pub fn pad_for(mut self, shape: &[u64]) -> Sharding {
        for (dim, &extent) in self.dims.iter_mut().zip(shape) {
            dim.padded = !extent.is_multiple_of(dim.shards());
        }
        self
    }

    /// Whether nothing is split and nothing partial.
    pub fn is_replicated(&self) -> bool {
        self.partial.is_none() && self.dims.iter().all(|dim| dim.axes.is_empty())
    }

    /// The axes that are used, each with what for.
    pub fn uses(&self) -> impl Iterator<Item = (AxisRef, Layout)> + '_ {
        let split = self.dims.iter().enumerate();
        let split = split
            .flat_map(|(dim, sharding)| sharding.axes.iter().map(move |&axis| (axis, Layout::Split(dim))));
        let partial = self.partial.iter();
        let partial = partial
            .flat_map(|partial| partial.axes.iter().map(|&axis| (axis, Layout::Partial(partial.reducer))));
        split.chain(partial)
    }

    /// What the sharding asks for along an axis of the mesh; none where it leaves that open.
    pub fn asked(&self, axis: usize) -> Option<Layout> {
        let used = self.uses().find(|(other, _)| other.axis == axis).map(|(_, layout)| layout);
        let is_open = self.dims.iter().any(|dim| dim.open);
        let is_replicated = !is_open || self.replicated.iter().any(|other| other.axis == axis);
        used.or(is_replicated.then_some(Layout::Replicated))
    }

    /// The same over other axes: those that `map` gives for the axes of this one.
    ///
    /// # Errors
    /// The first error of `map`.
    pub fn map_axes<E>(&self, mut map: impl FnMut(AxisRef) -> Result<AxisRef, E>) -> Result<Sharding, E> {
        let mut mapped = self.clone();
        let dims = mapped.dims.iter_mut().flat_map(|dim| &mut dim.axes);
        let partial = mapped.partial.iter_mut().flat_map(|partial| &mut partial.axes);
        for axis in dims.chain(&mut mapped.replicated).chain(partial) {
            *axis = map(*axis)?;
        }
        Ok(mapped)
    }

    /// What the sharding is on an axis or a part of one; none if it is not one thing on all of it.
    pub fn on(&self, axis: AxisRef) -> Option<Layout> {
        let mut others = self.uses().filter(|(other, _)| !other.is_disjoint(axis));
        match others.next() {
            None => Some(Layout::Replicated),
            Some((other, layout)) => other.contains(axis).then_some(layout),
        }
    }
}

impl DimSharding {
    /// How many shares the dimension has.
    pub fn shards(&self) -> u64 {
        self.axes.iter().fold(1, |product: u64, axis| product.saturating_mul(axis.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mesh;

    #[test]
    fn parts_of_an_axis_become_one_again() {
        let mesh = Mesh::new([("x", 8), ("y", 2)]).unwrap();
        let (x, y) = (mesh.whole(0), mesh.whole(1));
        let part = |pre, size| AxisRef { axis: 0, pre, size };
        let once = Sharding::replicated(1).split(0, x);
        assert_eq!(Sharding::replicated(1).split(0, part(1, 2)).split(0, part(2, 4)), once);
        assert_ne!(Sharding::replicated(1).split(0, part(2, 4)).split(0, part(1, 2)), once, "another order");
        let partial = |axes: &[AxisRef]| {
            let none = Sharding::replicated(1);
            axes.iter().fold(none, |sharding, &axis| sharding.with_partial(Reducer::Sum, axis))
        };
        assert_eq!(partial(&[y, part(4, 2), part(1, 4)]), partial(&[x, y]), "no order matters");
    }

    #[test]
    fn on_an_axis_a_sharding_is_one_thing() {
        let mesh = Mesh::new([("x", 8), ("y", 2), ("z", 2)]).unwrap();
        let part = |pre, size| AxisRef { axis: 0, pre, size };
        let sharding = Sharding::replicated(2).split(1, part(2, 4)).with_partial(Reducer::Max, mesh.whole(1));
        assert_eq!(sharding.on(part(2, 4)), Some(Layout::Split(1)));
        assert_eq!(sharding.on(part(4, 2)), Some(Layout::Split(1)));
        assert_eq!(sharding.on(part(1, 2)), Some(Layout::Replicated));
        assert_eq!(sharding.on(mesh.whole(0)), None, "it is split along a part only");
        assert_eq!(sharding.on(mesh.whole(1)), Some(Layout::Partial(Reducer::Max)));
        assert_eq!(sharding.on(mesh.whole(2)), Some(Layout::Replicated));
    }

    #[test]
    fn reducers_have_names() {
        for reducer in Reducer::ALL {
            assert_eq!(Reducer::from_name(reducer.name()), Some(reducer));
        }
        assert_eq!(Reducer::from_name("mean"), None);
    }
}

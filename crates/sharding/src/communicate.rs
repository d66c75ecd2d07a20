//! What ops do that devices do together, for whoever runs, prices or schedules them.

use tofu_ir::{Interface, Module, OpId};
use tofu_machine::Collective;

use crate::{Action, Axes, Mesh};

/// The interface of ops that devices do together, or that depend on which device does them. None if the op is wrong.
#[derive(Debug)]
pub struct Communicate(pub fn(&Module, OpId) -> Option<Communication>);

impl Interface for Communicate {}

/// What devices do together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Communication {
    /// The mesh over all devices of the program.
    pub mesh: Mesh,
    /// What each of them does.
    pub kind: Kind,
}

/// What a device does with its buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A step of a conversion.
    Convert(Action),
    /// It gets a range of the dimension `dim`, which axes split: as many elements as its result has, from `start + step · w`
    /// on for the device of coordinate w. What lies outside of the `extent` elements that there are is 0.
    Fetch {
        /// The dimension.
        dim: usize,
        /// The axes that split it, the major one first.
        axes: Axes,
        /// The first element of the first device.
        start: i64,
        /// From one device to the next.
        step: i64,
        /// How many elements there are on all devices.
        extent: u64,
    },
    /// It gets its coordinate along some axes together, of which the first is the major one.
    Index(Axes),
}

impl Communication {
    /// The collective, and its axes; none if nothing is sent.
    pub fn collective(&self) -> Option<(Collective, Axes)> {
        let of_dims =
            |dims: &[(usize, Axes)]| dims.iter().flat_map(|(_, axes)| axes.iter().copied()).collect();
        let found: (Collective, Axes) = match &self.kind {
            Kind::Convert(Action::Gather(dims)) => (Collective::AllGather, of_dims(dims)),
            Kind::Convert(Action::Reduce(_, axes)) => (Collective::AllReduce, axes.clone()),
            Kind::Convert(Action::Scatter(_, dims)) => (Collective::ReduceScatter, of_dims(dims)),
            Kind::Convert(Action::Exchange(gone, _)) => (Collective::AllToAll, of_dims(gone)),
            Kind::Convert(Action::Permute(changes)) => {
                let axes = changes.iter().flat_map(|(axes, _)| axes.iter().copied());
                (Collective::Permute, axes.collect())
            }
            Kind::Fetch { axes, .. } => (Collective::HaloExchange, axes.clone()),
            Kind::Convert(Action::Slice(_) | Action::Term(..) | Action::Embed(..)) | Kind::Index(_) => {
                return None;
            }
        };
        Some(found)
    }
}

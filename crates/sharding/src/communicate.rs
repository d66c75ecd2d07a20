//! What ops do that devices do together, for whoever runs, prices or schedules them.

use tofu_ir::{Interface, Module, OpId, TensorType, ValueId};
use tofu_machine::Collective;

use crate::{Action, Axes, Mesh, Step, share};

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
    /// Steps of several conversions, one for each operand, all by one collective over the same axes.
    Bucket(Vec<Action>),
}

impl Communication {
    /// What an op does, if devices do it together.
    pub fn of(module: &Module, op: OpId) -> Option<Communication> {
        let communicate = module.def(op).interface::<Communicate>()?;
        (communicate.0)(module, op)
    }

    /// The collective, and its axes; none if nothing is sent.
    pub fn collective(&self) -> Option<(Collective, Axes)> {
        match &self.kind {
            Kind::Convert(action) => action.collective(),
            Kind::Bucket(actions) => actions.first().and_then(Action::collective),
            Kind::Fetch { axes, .. } => Some((Collective::HaloExchange, axes.clone())),
            Kind::Index(_) => None,
        }
    }

    /// What devices send, as plans have it, where buffers of elements of so many bits have these extents before and after; none if
    /// nothing is sent. The extents are those of each operand and its result.
    pub fn step(&self, buffers: &[(&[u64], &[u64])], bits: u32) -> Option<Step> {
        let (collective, mut axes) = self.collective()?;
        axes.sort_unstable();
        let elements = match &self.kind {
            Kind::Convert(action) => {
                let (from, to) = buffers.first()?;
                self.elements(action, from, to)
            }
            Kind::Bucket(actions) => {
                let each = actions.iter().zip(buffers);
                each.map(|(action, (from, to))| self.elements(action, from, to)).fold(0, u64::saturating_add)
            }
            Kind::Fetch { dim, axes, start, step, extent } => {
                let (from, to) = buffers.first()?;
                let missing = self.missing(axes, (*start, *step, *to.get(*dim)?), *from.get(*dim)?, *extent);
                let others = from.iter().enumerate().filter(|(other, _)| other != dim);
                others.fold(missing, |product, (_, &extent)| product.saturating_mul(extent))
            }
            Kind::Index(_) => return None,
        };
        let bytes = (u128::from(elements) * u128::from(bits)).div_ceil(8);
        let step = Step { collective, axes, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) };
        (step.sent_bytes(&self.mesh) > 0).then_some(step)
    }

    /// The elements of the whole that a group holds.
    fn elements(&self, action: &Action, from: &[u64], to: &[u64]) -> u64 {
        let size = |axes: &Axes| self.mesh.devices_along(axes);
        let all = |dims: &[(usize, Axes)]| -> u64 { dims.iter().map(|(_, axes)| size(axes)).product() };
        let product =
            |extents: &[u64], devices: u64| extents.iter().copied().fold(devices, u64::saturating_mul);
        match action {
            Action::Gather(dims) => product(from, all(dims)),
            Action::Reduce(..) => product(from, 1),
            Action::Scatter(_, dims) => product(to, all(dims)),
            Action::Permute(changes) => product(from, changes.iter().map(|(axes, _)| size(axes)).product()),
            Action::Exchange(gone, come) => {
                let factor = |dims: &[(usize, Axes)], dim: usize| -> u64 {
                    dims.iter().filter(|(other, _)| *other == dim).map(|(_, axes)| size(axes)).product()
                };
                let padded = from.iter().enumerate();
                let padded = padded
                    .map(|(dim, &extent)| share(extent.saturating_mul(factor(gone, dim)), factor(come, dim)));
                padded.fold(all(gone), u64::saturating_mul)
            }
            Action::Slice(_) | Action::Term(..) | Action::Embed(..) => 0,
        }
    }

    /// How many rows the device lacks that lacks most, of those that it gets.
    fn missing(&self, axes: &Axes, (start, step, size): (i64, i64, u64), own: u64, extent: u64) -> u64 {
        let devices = self.mesh.devices_along(axes);
        let (extent, own, size) = (i128::from(extent), i128::from(own), i128::from(size));
        let lacks = |device: u64| {
            let low = i128::from(start) + i128::from(step) * i128::from(device);
            let [begin, end] = [low.clamp(0, extent), (low + size).clamp(0, extent)];
            let [first, last] = [i128::from(device) * own, i128::from(device + 1) * own];
            let held = (end.min(last) - begin.max(first)).max(0);
            (end - begin).max(0) - held
        };
        u64::try_from((0..devices).map(lacks).max().unwrap_or(0)).unwrap_or(u64::MAX)
    }
}

impl Step {
    /// What devices send for an op that they do together; none if nothing.
    pub fn of(module: &Module, op: OpId) -> Option<Step> {
        let communication = Communication::of(module, op)?;
        let dims = |value: ValueId| module.tensor_type(value).and_then(TensorType::static_dims);
        let operands = module.operands(op).zip(module.results(op));
        let each: Vec<_> =
            operands.map(|(operand, result)| Some((dims(operand)?, dims(result)?))).collect::<Option<_>>()?;
        let buffers: Vec<(&[u64], &[u64])> = each.iter().map(|(from, to)| (&from[..], &to[..])).collect();
        let element = module.tensor_type(module.result(op, 0))?.element;
        communication.step(&buffers, element.bits())
    }
}

impl Action {
    /// The collective, and its axes; none if nothing is sent.
    pub fn collective(&self) -> Option<(Collective, Axes)> {
        let of_dims =
            |dims: &[(usize, Axes)]| dims.iter().flat_map(|(_, axes)| axes.iter().copied()).collect();
        match self {
            Action::Gather(dims) => Some((Collective::AllGather, of_dims(dims))),
            Action::Reduce(_, axes) => Some((Collective::AllReduce, axes.clone())),
            Action::Scatter(_, dims) => Some((Collective::ReduceScatter, of_dims(dims))),
            Action::Exchange(gone, _) => Some((Collective::AllToAll, of_dims(gone))),
            Action::Permute(changes) => {
                let axes = changes.iter().flat_map(|(axes, _)| axes.iter().copied());
                Some((Collective::Permute, axes.collect()))
            }
            Action::Slice(_) | Action::Term(..) | Action::Embed(..) => None,
        }
    }
}

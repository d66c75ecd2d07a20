//! A machine and its parts; the times of kernels and of copies.

use std::sync::Arc;

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, Span, codes, plural, suggest};
use tofu_ir::{ElementKind, ElementType};

use crate::Time;
use crate::calibration::{Calibration, KernelTable};
use crate::hierarchy::shape_of;

/// No machine has more devices.
pub const MAX_DEVICES: u64 = 1 << 20;

/// A machine, of which a number of devices is in use.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    pub(crate) spec: Arc<Spec>,
    pub(crate) devices: u64,
    pub(crate) shape: SmallVec<[u64; 4]>,
}

/// What a machine file says.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Spec {
    pub(crate) name: Box<str>,
    pub(crate) summary: Box<str>,
    pub(crate) device: Device,
    pub(crate) levels: Box<[Level]>,
    pub(crate) host: Host,
    pub(crate) calibration: Calibration,
}

/// A device: what computes and holds tensors.
#[derive(Clone, PartialEq, Debug)]
pub struct Device {
    /// Its name on the data sheet.
    pub name: Box<str>,
    /// Its memory, in bytes.
    pub memory: u64,
    /// The bandwidth of that memory, in bytes a second.
    pub memory_bandwidth: u64,
    /// What starting a kernel takes.
    pub launch: Time,
    /// Operations a second, by element type, in the order of the types.
    pub(crate) flops: Box<[(ElementType, u64)]>,
}

/// A level of the hierarchy: what joins the blocks inside of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Level {
    /// What its blocks are called: `node`, `socket`, `device`.
    pub name: Box<str>,
    /// How many blocks it joins at most.
    pub count: u64,
    /// The bandwidth of a link, in bytes a second and direction.
    pub bandwidth: u64,
    /// What a message takes besides its bytes.
    pub latency: Time,
    /// Who shares a link.
    pub sharing: Sharing,
}

/// Who shares a link of a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// `port`: each device has a link of its own.
    Port,
    /// `uplink`: the devices of a block share the block's link.
    Uplink,
    /// `bus`: all devices that the level joins share one.
    Bus,
}

/// A host: a memory beside the devices, into which they can copy.
#[derive(Clone, PartialEq, Debug)]
pub struct Host {
    /// How many devices it serves.
    pub devices: u64,
    /// Its memory, in bytes.
    pub memory: u64,
    /// The bandwidth of a link towards the devices, in bytes a second.
    pub to_device: u64,
    /// The bandwidth of a link towards the host, in bytes a second.
    pub from_device: u64,
    /// What a copy takes besides its bytes.
    pub latency: Time,
    /// How many devices share a link.
    pub shared_by: u64,
}

/// Which way a copy goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// From the host to a device.
    ToDevice,
    /// From a device to the host.
    FromDevice,
}

/// What a device does in one go: an op, or several that are fused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel<'a> {
    /// The op's name; measured times are kept by it.
    pub op: &'a str,
    /// The type that it computes in.
    pub element: ElementType,
    /// Operations.
    pub flops: u64,
    /// Bytes that it reads from memory and writes to it.
    pub bytes: u64,
}

impl Machine {
    pub(crate) fn new(spec: Spec, devices: u64) -> Machine {
        let shape = shape_of(&spec.levels, devices);
        Machine { spec: Arc::new(spec), devices, shape }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// What is wrong with its measured times if there are no other ops than these: tables of ops that do not exist, and are never read.
    pub fn unknown_ops(&self, known: &[&str]) -> Vec<Diagnostic> {
        let is_unknown = |table: &&KernelTable| !known.contains(&&*table.op);
        let unknown = self.spec.calibration.kernels.iter().filter(is_unknown);
        let error = |table: &KernelTable| {
            let message = format!("there is no op `{}`", table.op);
            let help = suggest::did_you_mean(&table.op, known.iter().copied());
            Diagnostic::error(&codes::MACHINE_ENTRY, table.span, message).maybe_help(help)
        };
        unknown.map(error).collect()
    }

    /// What it is, in one sentence.
    pub fn summary(&self) -> &str {
        &self.spec.summary
    }

    /// How many devices are in use.
    pub fn devices(&self) -> u64 {
        self.devices
    }

    /// How many devices the hierarchy holds.
    pub fn capacity(&self) -> u64 {
        capacity(&self.spec.levels)
    }

    /// The same machine with so many devices in use: as few blocks as hold them, all filled alike.
    ///
    /// # Errors
    /// When there is none, or more than the hierarchy holds. The diagnostic stands at `span`.
    pub fn with_devices(&self, devices: u64, span: Span) -> Result<Machine, Diagnostic> {
        if devices == 0 {
            let message = "a machine needs at least one device";
            return Err(Diagnostic::error(&codes::MACHINE_CONTRADICTION, span, message));
        }
        if devices > self.capacity() {
            let (name, held) = (self.name(), plural_devices(self.capacity()));
            let message = format!("`{name}` holds {held}, but {devices} are asked for");
            let help =
                "take another machine, or raise the `count` of a level in a file that `inherits` this one";
            return Err(Diagnostic::error(&codes::MACHINE_CONTRADICTION, span, message).help(help));
        }
        let shape = shape_of(&self.spec.levels, devices);
        Ok(Machine { spec: Arc::clone(&self.spec), devices, shape })
    }

    /// What each device is.
    pub fn device(&self) -> &Device {
        &self.spec.device
    }

    /// The levels of the hierarchy, from the slowest links inwards.
    pub fn levels(&self) -> &[Level] {
        &self.spec.levels
    }

    /// How many blocks of each level are in use.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.spec.host
    }

    /// A device's part of the memory of its host, in bytes.
    pub fn host_memory_per_device(&self) -> u64 {
        let host = self.host();
        host.memory / host.devices.min(self.devices)
    }

    /// How long a kernel takes: the launch, and then as long as its operations or its memory traffic need, whichever
    /// is more (Williams, Waterman and Patterson, "Roofline", 2009).
    pub fn kernel_time(&self, kernel: &Kernel<'_>) -> Time {
        let measured = self.spec.calibration.kernel(kernel, |kernel| self.roofline(kernel));
        measured.unwrap_or_else(|| self.roofline(kernel))
    }

    /// What all kernels of an op take at least that have no fewer operations and no less memory traffic than this one. By the
    /// formula that is what this one takes; measured times need not rise with the size.
    pub fn least_kernel_time(&self, kernel: &Kernel<'_>) -> Time {
        self.spec.calibration.least_kernel(kernel).unwrap_or_else(|| self.roofline(kernel))
    }

    fn roofline(&self, kernel: &Kernel<'_>) -> Time {
        let device = self.device();
        let computing = Time::at_rate(kernel.flops.into(), device.flop_rate(kernel.element));
        let moving = Time::at_rate(kernel.bytes.into(), device.memory_bandwidth);
        device.launch + computing.max(moving)
    }

    /// How long a copy of `bytes` takes while all devices that share the link copy as much.
    pub fn copy_time(&self, direction: Direction, bytes: u64) -> Time {
        if bytes == 0 {
            return Time::ZERO;
        }
        let host = self.host();
        let bandwidth = match direction {
            Direction::ToDevice => host.to_device,
            Direction::FromDevice => host.from_device,
        };
        let sharers = host.shared_by.min(self.devices);
        let model = |bytes: u64| {
            host.latency + Time::at_rate(u128::from(bytes).saturating_mul(sharers.into()), bandwidth)
        };
        self.spec.calibration.copy(direction, bytes, model).unwrap_or_else(|| model(bytes))
    }
}

impl Device {
    /// Operations a second on elements of this type. A type that the machine says nothing of counts as the narrowest
    /// one that holds it: of its own family (integers, floats) if there is one, and else of any; failing that, as the
    /// slowest. A complex type counts as its parts.
    pub fn flop_rate(&self, element: ElementType) -> u64 {
        if let Some(&(_, rate)) = self.flops.iter().find(|(other, _)| *other == element) {
            return rate;
        }
        let element = element.part();
        let holds = |&&(other, _): &&(ElementType, u64)| other.bits() >= element.bits();
        let is_kin = |&&(other, _): &&(ElementType, u64)| family(other) == family(element);
        let narrowest = |(other, _): &&(ElementType, u64)| other.bits();
        let kin = self.flops.iter().filter(is_kin).filter(holds).min_by_key(narrowest);
        let any = kin.or_else(|| self.flops.iter().filter(holds).min_by_key(narrowest));
        let slowest = self.flops.iter().min_by_key(|(_, rate)| *rate);
        any.or(slowest).map_or(1, |&(_, rate)| rate)
    }
}

/// Floats, and all else.
fn family(element: ElementType) -> ElementKind {
    if element.is_float() { ElementKind::Float } else { ElementKind::Signed }
}

pub(crate) fn capacity(levels: &[Level]) -> u64 {
    levels.iter().fold(1, |product: u64, level| product.saturating_mul(level.count))
}

pub(crate) fn plural_devices(devices: u64) -> String {
    plural(usize::try_from(devices).unwrap_or(usize::MAX), "device")
}

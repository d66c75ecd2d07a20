//! What things cost: the one measure by which all searches, and all plans, are compared.

mod conversions;

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_ir::Type;
use tofu_machine::{Collective, Kernel, Machine};
use tofu_sharding::{Layouts, Means, Mesh, Step};

use conversions::Conversions;

use crate::graph::{Graph, Op, TensorId};
use crate::op_info::OpInfo;
use crate::way::{Wanted, Way};

/// What to minimise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Objective {
    /// The time of a step, in picoseconds: the roofline of each kernel, and the collectives.
    Time,
    /// The bytes that a device sends in a step. Tofu (EuroSys 2019, section 5.1) counts these of all devices together.
    Bytes,
}

/// The prices on a machine.
#[derive(Debug)]
pub struct Prices<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The mesh over its devices.
    pub mesh: Mesh,
    /// The measure.
    pub objective: Objective,
    /// What conversions are made of.
    pub means: Means,
    converted: RefCell<FxHashMap<(Type, Layouts, Layouts), u64>>,
    conversions: Conversions,
    /// What collectives cost, by their axes, as bits, and bytes.
    collectives: RefCell<FxHashMap<(Collective, u8, u64), u64>>,
}

impl<'a> Prices<'a> {
    /// Prices on a mesh over a machine's devices.
    pub fn new(machine: &'a Machine, mesh: Mesh, objective: Objective, reduce_scatter: bool) -> Prices<'a> {
        let means = Means { reduce_scatter, ordered: true };
        let (converted, conversions, collectives) = Default::default();
        Prices { machine, mesh, objective, means, converted, conversions, collectives }
    }

    /// The same, where shards that lie on the wrong devices are moved for nothing: no plan costs more than by the prices
    /// themselves, and it costs the same with axes exchanged that are alike.
    #[must_use]
    pub(crate) fn unordered(&self) -> Prices<'a> {
        let means = Means { ordered: false, ..self.means };
        let (converted, conversions, collectives) = Default::default();
        Prices { mesh: self.mesh.clone(), means, converted, conversions, collectives, ..*self }
    }

    /// What a collective costs.
    pub fn step(&self, step: &Step) -> u64 {
        self.collective(step, step.bytes)
    }

    /// What it would cost with so many bytes.
    fn collective(&self, step: &Step, bytes: u64) -> u64 {
        if self.objective == Objective::Bytes {
            return step.collective.sent_bytes(step.devices(&self.mesh), bytes);
        }
        let axes = step.axes.iter().fold(0u8, |bits, axis| bits | 1 << axis);
        let key = (step.collective, axes, bytes);
        if let Some(&known) = self.collectives.borrow().get(&key) {
            return known;
        }
        let time = Step { bytes, ..step.clone() }.time(self.machine, &self.mesh).picoseconds();
        self.collectives.borrow_mut().insert(key, time);
        time
    }

    /// What several cost, one after the other.
    pub fn steps(&self, steps: &[Step]) -> u64 {
        steps.iter().fold(0, |sum: u64, step| sum.saturating_add(self.step(step)))
    }

    /// The collectives of a conversion.
    pub fn conversion(&self, tensor: TensorShape<'_>, from: Layouts, to: Layouts) -> SmallVec<[Step; 2]> {
        if from == to {
            return SmallVec::new();
        }
        let plan = self.conversions.plan(&self.mesh, self.means, tensor, from, to);
        plan.steps().map(|(step, bytes)| Step { bytes, ..step.clone() }).collect()
    }

    /// What a conversion costs.
    pub fn convert(&self, tensor: TensorShape<'_>, from: Layouts, to: Layouts) -> u64 {
        if from == to {
            return 0;
        }
        let key = (tensor.ty, from, to);
        if let Some(&known) = self.converted.borrow().get(&key) {
            return known;
        }
        let price = self.convert_once(tensor, from, to);
        self.converted.borrow_mut().insert(key, price);
        price
    }

    /// The same, not remembered: for more conversions than will be asked for again.
    pub(crate) fn convert_once(&self, tensor: TensorShape<'_>, from: Layouts, to: Layouts) -> u64 {
        if from == to {
            return 0;
        }
        let plan = self.conversions.plan(&self.mesh, self.means, tensor, from, to);
        plan.steps().fold(0, |sum: u64, (step, bytes)| sum.saturating_add(self.collective(step, bytes)))
    }

    /// What it costs to have an operand as it is wanted, from a copy that lies like this; and whether it is had without
    /// an exchange with neighbours.
    pub fn want(&self, tensor: TensorShape<'_>, from: Layouts, wanted: &Wanted) -> (u64, bool) {
        let exchanged = self.convert(tensor, from, wanted.layouts).saturating_add(self.steps(&wanted.halo));
        if wanted.halo.is_empty() {
            return (exchanged, true);
        }
        let whole = self.convert(tensor, from, wanted.without);
        if whole <= exchanged { (whole, true) } else { (exchanged, false) }
    }

    /// What an op of the graph costs apart from conversions. Operands and results that never reach memory cost no traffic, and
    /// a kernel that writes nothing is part of another one.
    pub fn way(&self, graph: &Graph<'_>, op: &Op, info: &OpInfo, way: &Way) -> u64 {
        let is_in_memory = |tensors: &[Option<TensorId>], place: usize| {
            let tensor = tensors.get(place).copied().flatten();
            tensor.is_some_and(|tensor| graph.tensors[tensor as usize].in_memory)
        };
        let reads = |place: usize| is_in_memory(&op.operands, place);
        let writes = |place: usize| is_in_memory(&op.results, place);
        let own = self.steps(&way.own);
        match self.objective {
            Objective::Bytes => own,
            Objective::Time => {
                let sum = |bytes: &[u64], counts: &dyn Fn(usize) -> bool| {
                    let counted = bytes.iter().enumerate().filter(|(number, _)| counts(*number));
                    counted.fold(0u64, |sum, (_, &bytes)| sum.saturating_add(bytes))
                };
                let bytes = sum(&way.reads, &reads).saturating_add(sum(&way.writes, &writes));
                let is_kernel = (0..way.writes.len()).any(writes);
                let kernel = Kernel { op: info.name, element: info.element, flops: way.flops, bytes };
                let time = self.machine.kernel_time(&kernel).picoseconds();
                let launch = if is_kernel { 0 } else { self.machine.device().launch.picoseconds() };
                own.saturating_add(time.saturating_sub(launch))
            }
        }
    }
}

/// A tensor, as far as conversions depend on it.
#[derive(Clone, Copy, Debug)]
pub struct TensorShape<'t> {
    /// Its type; equal types have equal shapes.
    pub ty: Type,
    /// Its extents.
    pub extents: &'t [u64],
    /// The bits of an element.
    pub bits: u32,
}

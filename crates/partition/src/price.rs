//! What things cost: the one measure by which all searches, and all plans, are compared.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_ir::Type;
use tofu_machine::{Kernel, Machine};
use tofu_sharding::{Layout, Layouts, Means, Mesh, Step, conversion};

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
    conversions: RefCell<FxHashMap<(Type, Layouts, Layouts), u64>>,
    even: RefCell<FxHashMap<(Layouts, Layouts), Rc<Even>>>,
}

/// The collectives of a conversion of any tensor whose dimensions lie in even shares all the way: where they do, only the
/// size of the tensor makes a difference.
#[derive(Debug)]
struct Even {
    /// What each extent must be a multiple of; those beyond are not touched.
    multiples: SmallVec<[u64; 4]>,
    /// The collectives for a tensor of just these extents, of elements of a byte; none if it is too large.
    steps: Option<SmallVec<[Step; 2]>>,
}

impl<'a> Prices<'a> {
    /// Prices on a mesh over a machine's devices.
    pub fn new(machine: &'a Machine, mesh: Mesh, objective: Objective, reduce_scatter: bool) -> Prices<'a> {
        let means = Means { reduce_scatter, ordered: true };
        Prices { machine, mesh, objective, means, conversions: RefCell::default(), even: RefCell::default() }
    }

    /// The same, where shards that lie on the wrong devices are moved for nothing: no plan costs more than by the prices
    /// themselves, and it costs the same with axes exchanged that are alike.
    #[must_use]
    pub(crate) fn unordered(&self) -> Prices<'a> {
        let means = Means { ordered: false, ..self.means };
        let even = RefCell::default();
        Prices { mesh: self.mesh.clone(), means, conversions: RefCell::default(), even, ..*self }
    }

    /// What a collective costs.
    pub fn step(&self, step: &Step) -> u64 {
        match self.objective {
            Objective::Time => step.time(self.machine, &self.mesh).picoseconds(),
            Objective::Bytes => step.sent_bytes(&self.mesh),
        }
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
        let even = self.even(from, to);
        match even.steps(tensor.extents, tensor.bits) {
            Some(steps) => steps,
            None => conversion(&self.mesh, tensor.extents, tensor.bits, from, to, self.means),
        }
    }

    fn even(&self, from: Layouts, to: Layouts) -> Rc<Even> {
        if let Some(known) = self.even.borrow().get(&(from, to)) {
            return Rc::clone(known);
        }
        let even = Rc::new(Even::new(&self.mesh, self.means, from, to));
        self.even.borrow_mut().insert((from, to), Rc::clone(&even));
        even
    }

    /// What a conversion costs.
    pub fn convert(&self, tensor: TensorShape<'_>, from: Layouts, to: Layouts) -> u64 {
        if from == to {
            return 0;
        }
        let key = (tensor.ty, from, to);
        if let Some(&known) = self.conversions.borrow().get(&key) {
            return known;
        }
        let price = self.steps(&self.conversion(tensor, from, to));
        self.conversions.borrow_mut().insert(key, price);
        price
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

impl Even {
    fn new(mesh: &Mesh, means: Means, from: Layouts, to: Layouts) -> Even {
        let mut multiples: SmallVec<[u64; 4]> = SmallVec::new();
        for (axis, of) in mesh.axes().iter().enumerate().take(Layouts::MAX_AXES) {
            let (before, after) = (from.on(axis), to.on(axis));
            let mut split = |layout: Layout| {
                if let Layout::Split(dim) = layout {
                    multiples.resize(multiples.len().max(dim + 1), 1);
                    multiples[dim] = multiples[dim].saturating_mul(of.size);
                }
            };
            split(before);
            if after != before {
                split(after);
            }
        }
        // Groups of devices make it larger, not more than all of them.
        let elements = multiples.iter().try_fold(mesh.devices(), |product, &extent| product.checked_mul(extent));
        let steps = elements.map(|_| conversion(mesh, &multiples, u8::BITS, from, to, means));
        Even { multiples, steps }
    }

    /// The collectives for a tensor, if its shares are even.
    fn steps(&self, extents: &[u64], bits: u32) -> Option<SmallVec<[Step; 2]>> {
        let steps = self.steps.as_ref()?;
        let mut extents = extents.iter();
        let mut many: u64 = 1;
        for &multiple in &self.multiples {
            let &extent = extents.next()?;
            if extent == 0 || !extent.is_multiple_of(multiple) {
                return None;
            }
            many = many.checked_mul(extent / multiple)?;
        }
        let many = extents.try_fold(many, |product, &extent| product.checked_mul(extent))?;
        let scaled = |step: &Step| {
            let bits = u128::from(step.bytes.checked_mul(many)?) * u128::from(bits);
            let bytes = u64::try_from(bits.div_ceil(u8::BITS.into())).ok()?;
            Some(Step { bytes, ..step.clone() })
        };
        steps.iter().map(scaled).collect()
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

#[cfg(test)]
mod tests {
    use tofu_sharding::Reducer;

    use super::*;

    /// What is known of a conversion from its layouts alone is what planning it says, of all shapes of which it is known.
    #[test]
    fn even_conversions_are_those_that_are_planned() {
        let mesh = Mesh::new([("x", 2), ("y", 2), ("z", 3)]).unwrap();
        let on = [Layout::Replicated, Layout::Split(0), Layout::Split(1), Layout::Partial(Reducer::Sum)];
        let of_code = |code: usize| {
            (0..3).fold(Layouts::REPLICATED, |of, axis| of.with(axis, on[code >> (2 * axis) & 3]))
        };
        let all: Vec<Layouts> = (0..64).map(of_code).collect();
        let shapes: [&[u64]; 7] = [&[12, 24], &[144, 36, 5], &[6, 12], &[7, 12], &[12, 1], &[0, 12], &[12]];
        let mut known = [0; 7];
        for (reduce_scatter, ordered) in [(true, true), (true, false), (false, true)] {
            let means = Means { reduce_scatter, ordered };
            for (&from, &to) in all.iter().flat_map(|from| all.iter().map(move |to| (from, to))) {
                let even = Even::new(&mesh, means, from, to);
                for (number, extents) in shapes.iter().enumerate() {
                    for bits in [4, 32] {
                        let Some(steps) = even.steps(extents, bits) else { continue };
                        known[number] += 1;
                        let planned = conversion(&mesh, extents, bits, from, to, means);
                        assert_eq!(steps, planned, "{extents:?} {from:?} {to:?}");
                    }
                }
            }
        }
        // Everything of what all axes split evenly; of what has no elements, what splits nothing.
        let all = 64 * 64 * 6;
        assert_eq!((known[0], known[1], known[5]), (all, all, 8 * 8 * 6));
        assert!([2, 3, 4, 6].iter().all(|&shape| 0 < known[shape] && known[shape] < all));
    }
}

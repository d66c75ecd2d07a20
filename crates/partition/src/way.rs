//! The ways of doing an op on a mesh: on each axis it splits a variable, passes partial sums on, or does everything on every
//! device.

use smallvec::SmallVec;
use tofu_machine::Collective;
use tofu_sharding::{Layout, Layouts, Mesh, Reducer, Step, share};

use crate::domain::Symmetry;
use crate::op_info::{Give, Need, OpInfo, Shape, bytes};

/// What an op does on an axis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Choice {
    /// Every device along the axis does the same.
    Whole,
    /// They split the variable of this strategy.
    Split(usize),
    /// They hold terms of some operands, of this one among [`Analysis::linear`](tofu_tdl::Analysis::linear), and give terms of the results.
    Linear(usize),
}

/// What an op does on each axis of a mesh, as a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Choices([u8; Layouts::MAX_AXES]);

/// Codes: 0 is whole, from 1 on are strategies, from here on linear sets.
const LINEAR: u8 = 0x80;

impl Choices {
    /// Everything on every device.
    pub const WHOLE: Choices = Choices([0; Layouts::MAX_AXES]);

    /// What it does on an axis.
    pub fn on(self, axis: usize) -> Choice {
        match self.0.get(axis).copied().unwrap_or(0) {
            0 => Choice::Whole,
            code if code < LINEAR => Choice::Split(usize::from(code) - 1),
            code => Choice::Linear(usize::from(code - LINEAR)),
        }
    }

    /// The same with something else on one axis.
    #[must_use]
    pub fn with(mut self, axis: usize, choice: Choice) -> Choices {
        self.0[axis] = match choice {
            Choice::Whole => 0,
            Choice::Split(strategy) => strategy as u8 + 1,
            Choice::Linear(set) => LINEAR + set as u8,
        };
        self
    }
}

/// Strategies and sets from these on are not considered.
const MOST_STRATEGIES: usize = LINEAR as usize - 1;

/// A way of doing an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Way {
    /// What it does on each axis.
    pub choices: Choices,
    /// How it wants its operands; nothing of those that it does not read.
    pub operands: SmallVec<[Option<Wanted>; 4]>,
    /// How it gives its results.
    pub results: SmallVec<[Layouts; 1]>,
    /// What it sends besides conversions of its operands and results.
    pub own: SmallVec<[Step; 1]>,
    /// The operations of a device.
    pub flops: u64,
    /// The bytes that a device reads of each operand.
    pub reads: SmallVec<[u64; 4]>,
    /// The bytes that a device writes of each result.
    pub writes: SmallVec<[u64; 1]>,
}

/// How an op wants an operand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Wanted {
    /// How it lies on the mesh.
    pub layouts: Layouts,
    /// What else it needs of its neighbours' shares.
    pub halo: SmallVec<[Step; 1]>,
    /// The layouts with which it needs nothing of its neighbours.
    pub without: Layouts,
}

/// All that an op can do on an axis. `has_terms` says which operands may be terms of a sum where they are made; terms of
/// anything else are as good as the whole of it.
pub(crate) fn all_choices(info: &OpInfo, has_terms: &dyn Fn(usize) -> bool) -> Vec<Choice> {
    let strategies = info.analysis.strategies.len().min(MOST_STRATEGIES);
    let linear = info.analysis.linear.iter().take(MOST_STRATEGIES).enumerate();
    let passed = linear.filter(|(_, linear)| linear.partial.iter().any(|&operand| has_terms(operand)));
    let mut all = vec![Choice::Whole];
    all.extend((0..strategies).map(Choice::Split));
    all.extend(passed.map(|(set, _)| Choice::Linear(set)));
    all
}

/// What an op can do if it does the same on all of these axes, and on the others what it does already.
pub(crate) fn choices_along(
    info: &OpInfo,
    choices: Choices,
    axes: &[usize],
    has_terms: &dyn Fn(usize) -> bool,
) -> impl Iterator<Item = Choices> {
    let all = all_choices(info, has_terms);
    all.into_iter().map(move |choice| axes.iter().fold(choices, |choices, &axis| choices.with(axis, choice)))
}

/// Every combination of what an op can do on the axes of a mesh of which one stands for all with axes exchanged.
pub(crate) fn combinations(
    info: &OpInfo,
    mesh: &Mesh,
    symmetry: &Symmetry,
    has_terms: &dyn Fn(usize) -> bool,
) -> Vec<Choices> {
    let all = all_choices(info, has_terms);
    let mut found = vec![Choices::WHOLE];
    for axis in 0..mesh.axes().len().min(Layouts::MAX_AXES) {
        found = found.iter().flat_map(|from| all.iter().map(|&choice| from.with(axis, choice))).collect();
        found.retain(|choices| symmetry.is_ordered_at(axis, |axis| choices.0[axis]));
    }
    found
}

/// The ways of doing an op as these choices say; those that give devices no less than others do are left out.
pub(crate) fn ways(info: &OpInfo, mesh: &Mesh, choices: &[Choices]) -> Vec<Way> {
    let axes = mesh.axes().len().min(Layouts::MAX_AXES);
    choices.iter().filter_map(|&choices| way(info, mesh, axes, choices)).collect()
}

/// One way; none if there is no such way.
pub fn way_of(info: &OpInfo, mesh: &Mesh, choices: Choices) -> Option<Way> {
    let axes = mesh.axes().len().min(Layouts::MAX_AXES);
    way(info, mesh, axes, choices)
}

fn way(info: &OpInfo, mesh: &Mesh, axes: usize, choices: Choices) -> Option<Way> {
    let size = |axis: usize| mesh.axes()[axis].size;
    // The strategies that are used, each with its axes and their product.
    let mut used: SmallVec<[(usize, SmallVec<[usize; 4]>, u64); 4]> = SmallVec::new();
    for axis in 0..axes {
        if let Choice::Split(strategy) = choices.on(axis) {
            match used.iter_mut().find(|(other, ..)| *other == strategy) {
                Some((_, along, workers)) => {
                    along.push(axis);
                    *workers *= size(axis);
                }
                None => used.push((strategy, SmallVec::from_slice(&[axis]), size(axis))),
            }
        }
    }
    let mut operands: SmallVec<[(Layouts, Layouts, SmallVec<[(usize, u64); 1]>); 4]> =
        info.operands.iter().map(|_| (Layouts::REPLICATED, Layouts::REPLICATED, SmallVec::new())).collect();
    let mut results: SmallVec<[Layouts; 1]> = info.results.iter().map(|_| Layouts::REPLICATED).collect();
    let mut reads = info.reads.clone();
    let mut unread: SmallVec<[bool; 4]> = info.reads.iter().map(|&read| read == 0).collect();
    let mut flops = u128::from(info.flops);
    let mut misplaced: SmallVec<[(usize, usize, u64); 1]> = SmallVec::new();
    let mut combined: SmallVec<[(usize, usize); 1]> = SmallVec::new();
    for (strategy, along, workers) in &used {
        let shares = info.shares(*strategy, *workers)?;
        // Each of the axes must make shares smaller, or its devices only wait.
        for &axis in along {
            let fewer = workers / size(axis);
            let less = if fewer <= 1 { info.values[*strategy] } else { info.shares(*strategy, fewer)?.share };
            if shares.share >= less {
                return None;
            }
        }
        let values = info.values[*strategy].max(1);
        let part = |whole: u128| (whole * u128::from(shares.share)).div_ceil(u128::from(values));
        flops = part(flops);
        for (number, need) in shares.operands.iter().enumerate() {
            let (layouts, without, halo) = &mut operands[number];
            match *need {
                Need::Nothing => unread[number] = true,
                Need::Whole => {}
                Need::Share { dim, missing } => {
                    // A dimension of which two variables want shares is had as a whole by the second one.
                    let taken = (0..axes).any(|axis| layouts.on(axis) == Layout::Split(dim));
                    if taken {
                        continue;
                    }
                    for &axis in along {
                        *layouts = layouts.with(axis, Layout::Split(dim));
                        if missing == 0 {
                            *without = without.with(axis, Layout::Split(dim));
                        }
                    }
                    if missing > 0 {
                        halo.push((dim, missing));
                    }
                    reads[number] = part(reads[number].into()) as u64;
                }
            }
        }
        for (number, give) in shares.results.iter().enumerate() {
            let layout = match *give {
                Give::Whole => continue,
                Give::Share { dim, misplaced: elsewhere } => {
                    if elsewhere > 0 {
                        misplaced.push((number, dim, elsewhere));
                    }
                    Layout::Split(dim)
                }
                Give::Partial(reducer) => Layout::Partial(reducer),
                Give::Combined => {
                    combined.extend(along.iter().map(|&axis| (number, axis)));
                    continue;
                }
            };
            for &axis in along {
                results[number] = results[number].with(axis, layout);
            }
        }
    }
    for axis in 0..axes {
        if let Choice::Linear(set) = choices.on(axis) {
            let linear = info.analysis.linear.get(set)?;
            for &operand in &linear.partial {
                let (layouts, without, _) = &mut operands[operand];
                *layouts = layouts.with(axis, Layout::Partial(Reducer::Sum));
                *without = without.with(axis, Layout::Partial(Reducer::Sum));
            }
            for (layouts, _) in results.iter_mut().zip(&linear.results).filter(|(_, partial)| **partial) {
                *layouts = layouts.with(axis, Layout::Partial(Reducer::Sum));
            }
        }
    }
    if results.iter().any(|layouts| !has_one_reducer(*layouts, axes)) {
        return None;
    }
    let wanted = operands.iter().zip(&info.operands).zip(&unread).map(
        |(((layouts, without, halo), shape), unread)| {
            let halo = halo
                .iter()
                .map(|&(dim, missing)| exchange(mesh, axes, *layouts, shape, dim, missing))
                .collect();
            (!unread).then_some(Wanted { layouts: *layouts, halo, without: *without })
        },
    );
    let wanted: SmallVec<[Option<Wanted>; 4]> = wanted.collect();
    let mut own: SmallVec<[Step; 1]> = misplaced
        .iter()
        .map(|&(number, dim, elsewhere)| {
            exchange(mesh, axes, results[number], &info.results[number], dim, elsewhere)
        })
        .collect();
    for (number, shape) in info.results.iter().enumerate() {
        let group: SmallVec<[u8; 4]> =
            combined.iter().filter(|(other, _)| *other == number).map(|&(_, axis)| axis as u8).collect();
        if !group.is_empty() {
            let bytes = bytes(results[number].local_elements(mesh, &shape.extents), shape.bits);
            own.push(Step { collective: Collective::AllReduce, axes: group, bytes });
        }
    }
    let writes = results
        .iter()
        .zip(&info.results)
        .map(|(layouts, shape)| bytes(layouts.local_elements(mesh, &shape.extents), shape.bits))
        .collect();
    let flops = u64::try_from(flops).unwrap_or(u64::MAX);
    Some(Way { choices, operands: wanted, results, own, flops, reads, writes })
}

/// The exchange by which each device gets so many elements along a dimension that others hold.
fn exchange(mesh: &Mesh, axes: usize, layouts: Layouts, shape: &Shape, dim: usize, elements: u64) -> Step {
    let along = (0..axes).filter(|&axis| layouts.on(axis) == Layout::Split(dim)).map(|axis| axis as u8);
    let each = |(other, &extent): (usize, &u64)| {
        if other == dim { elements } else { share(extent, layouts.shards(mesh, other)) }
    };
    let elements = shape.extents.iter().enumerate().map(each).fold(1u64, u64::saturating_mul);
    Step { collective: Collective::HaloExchange, axes: along.collect(), bytes: bytes(elements, shape.bits) }
}

/// A value is partial by one reducer.
pub(crate) fn has_one_reducer(layouts: Layouts, axes: usize) -> bool {
    let mut reducers = (0..axes).filter_map(|axis| match layouts.on(axis) {
        Layout::Partial(reducer) => Some(reducer),
        Layout::Replicated | Layout::Split(_) => None,
    });
    reducers.next().is_none_or(|first| reducers.all(|other| other == first))
}

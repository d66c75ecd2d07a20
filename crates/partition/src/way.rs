//! The ways of doing an op on a mesh: on each axis it splits a variable, passes partial sums on, or does everything on every
//! device.

mod make;

use smallvec::SmallVec;
use tofu_sharding::{Layout, Layouts, Mesh, Step};

pub(crate) use make::is_useful;
pub use make::way_of;

use crate::domain::Symmetry;
use crate::op_info::OpInfo;

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

/// What an op can do if it does the same on all of these axes, and on the others what it does already, as far as it gives devices
/// less to do.
pub(crate) fn choices_along(
    info: &OpInfo,
    mesh: &Mesh,
    choices: Choices,
    axes: &[usize],
    has_terms: &dyn Fn(usize) -> bool,
) -> impl Iterator<Item = Choices> {
    let all = all_choices(info, has_terms);
    let all = all.into_iter();
    let all = all.map(move |choice| axes.iter().fold(choices, |choices, &axis| choices.with(axis, choice)));
    all.filter(move |&choices| is_useful(info, mesh, choices))
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
        found.retain(|&choices| is_useful(info, mesh, choices));
    }
    found
}

/// The ways of doing an op as these choices say.
pub(crate) fn ways(info: &OpInfo, mesh: &Mesh, choices: &[Choices]) -> Vec<Way> {
    choices.iter().filter_map(|&choices| way_of(info, mesh, choices)).collect()
}

/// A value is partial by one reducer.
pub(crate) fn has_one_reducer(layouts: Layouts, axes: usize) -> bool {
    let mut reducers = (0..axes).filter_map(|axis| match layouts.on(axis) {
        Layout::Partial(reducer) => Some(reducer),
        Layout::Replicated | Layout::Split(_) => None,
    });
    reducers.next().is_none_or(|first| reducers.all(|other| other == first))
}

//! The searches, behind one door.
//!
//! | algorithm | is | file |
//! |---|---|---|
//! | `optimal` | exact on one axis; on several, a bound and what is near to it | `optimal`, with `axes` and `estimate` |
//! | `tofu`, `equalchop`, `icml18` | the paper's, and two others that it compares with | `tofu`; `coarsen`, `cut`, `frontier` |
//! | `allrow-greedy`, `spartan` | greedy ones that the paper compares with | `greedy` |
//! | `data-parallel`, `fsdp`, `megatron` | what people do by hand | `practice`; `batch` |
//!
//! [`complete()`] is for programs that say already how tensors lie.

mod batch;
#[cfg(test)]
mod brute_force;
mod coarsen;
mod complete;
mod constants;
mod cut;
mod frontier;
mod greedy;
#[cfg(test)]
mod hand_counts;
mod optimal;
mod practice;
mod tofu;

use std::time::Duration;

use tofu_machine::Machine;
use tofu_sharding::Mesh;
use tofu_solver::Invalid;

pub use self::complete::complete;
use self::greedy::Greedy;
use self::practice::Practice;
use self::tofu::Rules;
use crate::constraints::Constraints;
use crate::graph::Graph;
use crate::magnitude;
use crate::plan::{Broken, Evaluation, Plan};
use crate::price::Objective;
use crate::problem::Lifetimes;

/// How to look for a plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Algorithm {
    /// The best that can be found, with a bound.
    Optimal,
    /// That of the Tofu paper (EuroSys 2019): cut by cut, tensors always split.
    Tofu,
    /// Every tensor split along its first dimension.
    AllRowGreedy,
    /// The largest tensor first.
    Spartan,
    /// Tofu's, with one cut over all devices.
    EqualChop,
    /// Tofu's, without splitting what is reduced, as Jia et al. (ICML 2018) do.
    Icml18,
    /// State on every device, examples split along the batch.
    DataParallel,
    /// State split and gathered where it is used, examples split along the batch.
    Fsdp,
    /// Matrices split by columns and rows in turn, examples on every device.
    Megatron,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 9] = [
        Algorithm::Optimal,
        Algorithm::Tofu,
        Algorithm::AllRowGreedy,
        Algorithm::Spartan,
        Algorithm::EqualChop,
        Algorithm::Icml18,
        Algorithm::DataParallel,
        Algorithm::Fsdp,
        Algorithm::Megatron,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Optimal => "optimal",
            Algorithm::Tofu => "tofu",
            Algorithm::AllRowGreedy => "allrow-greedy",
            Algorithm::Spartan => "spartan",
            Algorithm::EqualChop => "equalchop",
            Algorithm::Icml18 => "icml18",
            Algorithm::DataParallel => "data-parallel",
            Algorithm::Fsdp => "fsdp",
            Algorithm::Megatron => "megatron",
        }
    }

    /// The algorithm of this name.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

/// What memory there is.
#[derive(Clone, Copy)]
pub struct Memory<'a> {
    /// The bytes that a device has.
    pub limit: u64,
    /// When a tensor occupies memory, as a half-open interval of positions in the schedule; none if others stand for it.
    pub lives: Lifetimes<'a>,
    /// The bytes that a device needs at the peak of a plan.
    pub peak: &'a dyn Fn(&Plan) -> u64,
}

impl std::fmt::Debug for Memory<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What is to be split.
    pub graph: &'a Graph<'a>,
    /// Over the devices of this machine.
    pub machine: &'a Machine,
    /// Over this mesh of them, or over any.
    pub mesh: Option<Mesh>,
    /// How.
    pub algorithm: Algorithm,
    /// What to minimise.
    pub objective: Objective,
    /// Whether the back end can reduce and scatter at once.
    pub reduce_scatter: bool,
    /// What plans must keep.
    pub constraints: &'a Constraints,
    /// What memory there is; none if plans may need as much as they like.
    pub memory: Option<Memory<'a>>,
    /// The units of work that may be spent, about a nanosecond each.
    pub work: u64,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The plan.
    pub plan: Plan,
    /// What it costs.
    pub evaluation: Evaluation,
    /// No plan costs less, or, if the plan keeps a memory limit, none that keeps it does; only of searches that know.
    pub lower_bound: Option<i128>,
    /// The plan of the smallest peak that was found, if none keeps the memory limit; only of searches that look for one.
    pub smallest: Option<Plan>,
    /// Whether somebody ended the search early.
    pub was_stopped: bool,
}

/// Where a search stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// What it does.
    pub phase: &'static str,
    /// Since it began.
    pub elapsed: Duration,
    /// What the best plan so far costs.
    pub cost: Option<i128>,
    /// No plan costs less.
    pub bound: Option<i128>,
}

/// Why no plan was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Numbers are too large for the solver.
    TooLarge(Invalid),
    /// A search made something that is no plan; a fault of the search.
    Broken(Broken),
    /// No plan keeps the constraints.
    Constrained,
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Failure {
        Failure::TooLarge(invalid)
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Failure {
        Failure::Broken(broken)
    }
}

/// Looks for a plan. `progress` is told how far it is, and returns whether to go on.
///
/// # Errors
/// When there is none.
pub fn search(
    request: &Request<'_>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, Failure> {
    magnitude::check(request)?;
    match request.algorithm {
        Algorithm::Optimal => optimal::search(request, progress),
        Algorithm::Tofu => tofu::search(request, Rules { one_cut: false, reductions: true }, progress),
        Algorithm::EqualChop => tofu::search(request, Rules { one_cut: true, reductions: true }, progress),
        Algorithm::Icml18 => tofu::search(request, Rules { one_cut: false, reductions: false }, progress),
        Algorithm::AllRowGreedy => greedy::search(request, Greedy::AllRow),
        Algorithm::Spartan => greedy::search(request, Greedy::Spartan),
        Algorithm::DataParallel => practice::search(request, Practice::DataParallel, progress),
        Algorithm::Fsdp => practice::search(request, Practice::Fsdp, progress),
        Algorithm::Megatron => practice::search(request, Practice::Megatron, progress),
    }
}

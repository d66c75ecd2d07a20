//! What a caller asks of the solver, hears from it, and gets.

use std::time::Duration;

/// Limits and means of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// When to stop, counted from the call. The result then depends on the machine's speed.
    pub time: Option<Duration>,
    /// Units of work (about a nanosecond each) after which to stop. The result does not depend on the threads then.
    pub work: Option<u64>,
    /// How many threads to use; more than two bring nothing.
    pub threads: usize,
    /// Where random decisions start from.
    pub seed: u64,
    /// Spend everything on the lower bound: no search beyond a first choice.
    pub bound_only: bool,
    /// The search ends as soon as the bound is within this part of the cost (0.01 is one percent). Not negative.
    pub gap: f64,
    /// Only choices that cost less are searched for, and the bound is at most this. If there are none, the answer is any choice
    /// within the memory limit.
    pub below: Option<i128>,
    /// Choices that are known: a strategy per node. The answer costs no more than the best of those within the limit, and
    /// what costs as much is not looked at. Whatever is no choice of the problem is passed over.
    pub starts: Vec<Vec<u32>>,
}

impl Default for Options {
    /// One thread, 10^10 units of work, some ten seconds, no gap, and nothing known.
    fn default() -> Self {
        Options {
            time: None,
            work: Some(10_000_000_000),
            threads: 1,
            seed: 0,
            bound_only: false,
            gap: 0.0,
            below: None,
            starts: Vec::new(),
        }
    }
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Since the call.
    pub elapsed: Duration,
    /// Units of work so far.
    pub work: u64,
    /// The cost of the best choice so far.
    pub cost: i128,
    /// No choice within the limit costs less.
    pub bound: i128,
    /// Nodes that presolve left.
    pub nodes: usize,
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Solution {
    /// A choice within the limit.
    Found {
        /// A strategy per node.
        choices: Vec<u32>,
        /// What it costs.
        cost: i128,
        /// No choice within the limit costs less; equal to the cost if that is proven to be optimal.
        bound: i128,
        /// Nodes that presolve left.
        nodes: usize,
    },
    /// No choice keeps within the limit.
    Infeasible {
        /// A choice with the smallest peak of all.
        choices: Vec<u32>,
        /// That peak.
        peak: i128,
    },
}

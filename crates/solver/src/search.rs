//! The search as a whole: presolve, then bound and descent side by side, then branch and bound if what presolve left
//! is small enough.

mod branch;
mod crossover;
mod dive;
mod lanes;
mod memory;
mod tree_block;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::core::Core;
use crate::evaluate::evaluate;
use crate::meter::Meter;
use crate::model::FORBIDDEN;
use crate::options::{Options, Progress, Solution};
use crate::presolve::{Reduced, build};
use crate::problem::Problem;

use branch::{Open, Processed};
use lanes::Lanes;

/// Costs from here on above the minimum are taken for infinite at first; the exchange format writes 10^18.
const INFINITE: i64 = 100_000_000_000_000_000;

/// Work per lane between two meetings.
const EPOCH: u64 = 500_000_000;

/// Work on reducing a label.
const LABEL: u64 = 200;

/// Work on elimination through large tables, at most, and no more than three quarters of what there is: if it is given up, the
/// rest has to do.
const ELIMINATE: u64 = 4 * EPOCH;

/// Up to this many nodes and labels a model is branched on.
const BRANCH_NODES: usize = 800;
const BRANCH_LABELS: usize = 12_000;

/// Work per lane between stretches of branching, which take a multiple of it.
const EXPLORE: u64 = EPOCH / 2;

/// Open nodes processed side by side.
const BATCH: usize = 2;

/// Finds a choice of low cost within the memory limit, and a bound on what any choice costs.
///
/// `progress` is called whenever the best cost or the bound changes; it returns whether to go on.
pub fn solve(problem: &Problem, options: &Options, progress: &mut dyn FnMut(&Progress) -> bool) -> Solution {
    let start = Instant::now();
    // Every cost is finite, so the limit can be kept if and only if everybody's minimum keeps it.
    let least: Vec<u32> = (0..problem.nodes()).map(|node| least_usage(problem, node)).collect();
    let Some(evaluation) = evaluate(problem, &least) else {
        return Solution::Infeasible { choices: Vec::new(), peak: 0 };
    };
    if evaluation.peak > i128::from(problem.usage_limit()) || problem.usage_limit() < 0 {
        return Solution::Infeasible { choices: least, peak: evaluation.peak };
    }
    let mut search = Search {
        problem,
        options,
        progress,
        start,
        deadline: options.time.map(|time| start + time),
        work: 0,
        offset: 0,
        beyond: 0,
        best: least,
        cost: evaluation.cost,
        bound: i128::MIN,
        nodes: 0,
        stopped: false,
    };
    for start in &options.starts {
        search.offer(start.clone());
    }
    // Should every choice use an infinite cost, the second attempt takes them as the numbers they are.
    for infinite in [INFINITE, FORBIDDEN] {
        let proven = search.attempt(infinite);
        search.report();
        if !proven || search.is_closed() || search.over() {
            break;
        }
    }
    Solution::Found {
        bound: search.bound.min(search.cost),
        choices: search.best,
        cost: search.cost,
        nodes: search.nodes,
    }
}

/// The cheapest of the strategies with the least usage.
fn least_usage(problem: &Problem, node: usize) -> u32 {
    let [from, to] = problem.interval(node);
    let alive = i64::from(from < to);
    let key = |strategy: &usize| (problem.usages(node)[*strategy] * alive, problem.costs(node)[*strategy]);
    (0..problem.strategies(node)).min_by_key(key).unwrap_or(0) as u32
}

struct Search<'a> {
    problem: &'a Problem,
    options: &'a Options,
    progress: &'a mut dyn FnMut(&Progress) -> bool,
    start: Instant,
    deadline: Option<Instant>,
    work: u64,
    /// What the model's costs leave out.
    offset: i128,
    /// What every choice costs at least that the model forbids.
    beyond: i128,
    best: Vec<u32>,
    cost: i128,
    bound: i128,
    nodes: usize,
    stopped: bool,
}

impl Search<'_> {
    /// Searches the choices without entries of `infinite` cost. Gives whether all of them are covered by the bound.
    fn attempt(&mut self, infinite: i64) -> bool {
        let (model, offset) = build(self.problem, infinite);
        self.offset = offset;
        self.beyond = offset + i128::from(infinite);
        self.work += LABEL * model.labels() as u64;
        self.raise_bound(offset);
        self.report();
        let mut base = Reduced::new(model, self.deadline);
        let mut meter = Meter::new((self.left() / 4 * 3).min(ELIMINATE), self.deadline);
        let reduced = base.reduce(self.cut()).and_then(|()| base.eliminate(self.cut(), &mut meter));
        self.work += meter.spent;
        if reduced.is_err() {
            // What is left out costs more than either.
            self.raise_bound(self.beyond);
            return true;
        }
        self.nodes = base.model.nodes.len();
        self.raise_bound(offset + i128::from(base.model.constant));
        if base.model.nodes.is_empty() {
            self.offer(base.lift(&[]));
            self.raise_bound(self.beyond);
            return true;
        }
        let small = base.model.nodes.len() <= BRANCH_NODES && base.model.labels() <= BRANCH_LABELS;
        let mut lanes = Lanes::new(base, self.cut(), &self.best, self.options.seed);
        self.explore(&mut lanes, small);
        if self.is_closed() {
            return true;
        }
        let finished = small && !self.over() && self.branch(&mut lanes);
        if finished {
            self.raise_bound(self.beyond);
        }
        finished
    }

    /// What choices that are looked for cost less than.
    fn target(&self) -> i128 {
        self.options.below.map_or(self.cost, |below| below.min(self.cost))
    }

    /// Whether the bound is as close to the target as it has to be. Costs may be negative; a gap never is.
    fn is_closed(&self) -> bool {
        let target = self.target();
        target.saturating_sub(self.bound) <= (target as f64 * self.options.gap).abs() as i128
    }

    /// What a model's choice has to cost less than.
    fn cut(&self) -> i64 {
        self.target().saturating_sub(self.offset).clamp(0, i128::from(FORBIDDEN)) as i64
    }

    /// Bound and descent side by side, until the search is over or, on a small model, ready to branch.
    fn explore(&mut self, lanes: &mut Lanes, small: bool) {
        let sweeps = lanes.core.graph.work;
        let first = if small { (200 * sweeps).min(EPOCH / 50) } else { (20 * sweeps).min(EPOCH / 4) };
        for round in 0.. {
            if self.over() || self.is_closed() || (small && round > 2) {
                return;
            }
            self.epoch(lanes, EPOCH.min(first << round.min(16)));
            let ascent = &lanes.bounds.ascent;
            let due = ascent.converged || round % 8 == 7 || self.over();
            if due && ascent.bound > lanes.certified
                || ascent.bound > lanes.certified + 0.002 * lanes.certified.abs()
            {
                lanes.certified = ascent.bound;
                let certificate = ascent.certify(&lanes.core.reduced.model, &lanes.core.graph, None);
                self.raise_bound(self.offset + i128::from(certificate.bound));
            }
            self.report();
            if self.options.bound_only && lanes.bounds.ascent.converged && !small {
                return;
            }
            lanes.rescale(self.cut());
        }
    }

    /// Both lanes once, for so much work each.
    fn epoch(&mut self, lanes: &mut Lanes, limit: u64) {
        let cut = (self.cut() < INFINITE).then(|| self.cut());
        let deadline = self.deadline;
        let prices = lanes.bounds.ascent.prices.clone();
        let descends = cut.is_some() && !self.options.bound_only;
        let Lanes { core, bounds, descent, pool, best, .. } = lanes;
        let (dives, descended) = side_by_side(
            self.options.threads,
            || {
                let mut meter = Meter::new(limit, deadline);
                let found = bounds.run(core, cut, limit, self.options.bound_only, pool, &mut meter);
                (found, meter.spent)
            },
            || {
                let mut meter = Meter::new(limit, deadline);
                let found = best.as_deref().filter(|_| descends).map(|best| {
                    descent.follow(core, best);
                    descent.run(core, pool, &prices, &mut meter)
                });
                (found, meter.spent)
            },
        );
        self.work += dives.1 + descended.1;
        for choice in dives.0.into_iter().chain(descended.0) {
            for better in lanes.improvements(choice) {
                self.offer(lanes.core.reduced.lift(&better));
            }
        }
    }

    /// Branch and bound, with some exploring in between. Gives whether nothing is left to search.
    fn branch(&mut self, lanes: &mut Lanes) -> bool {
        let cut = self.cut();
        let Ok(core) = Core::new(lanes.base.clone(), cut, cut) else { return true };
        let mut explored = self.work;
        let floor = (self.bound - self.offset).clamp(0, i128::from(FORBIDDEN)) as i64;
        let mut open = vec![Open::root(Arc::new(core), floor)];
        for round in 0u64.. {
            if open.is_empty() {
                return true;
            }
            if self.over() || self.is_closed() {
                break;
            }
            let cut = self.cut();
            let second = open.pop();
            let first = open.pop();
            let deadline = self.deadline;
            let seed = self.options.seed ^ (round << 8);
            let process = |node: Option<Open>, lane: u64| {
                let mut meter = Meter::new(u64::MAX, deadline);
                let mut random = fastrand::Rng::with_seed(seed.wrapping_mul(BATCH as u64).wrapping_add(lane));
                let processed = node.map(|node| node.process(cut, &mut random, &mut meter));
                (processed, meter.spent)
            };
            let (first, second) =
                side_by_side(self.options.threads, || process(first, 0), || process(second, 1));
            for (processed, spent) in [first, second] {
                self.work += spent;
                let Some(Processed { children, found }) = processed else { continue };
                open.extend(children);
                if let Some((_, choice)) = found {
                    self.offer(choice);
                }
            }
            let least = open.iter().map(|node| node.bound).min().unwrap_or(FORBIDDEN).min(self.cut());
            self.raise_bound(self.offset + i128::from(least));
            if !self.options.bound_only && !open.is_empty() && self.work > explored + 6 * EXPLORE {
                lanes.rescale(self.cut());
                self.epoch(lanes, EXPLORE);
                explored = self.work;
            }
            self.report();
        }
        open.is_empty()
    }

    /// Takes a choice if it is within the limit and better.
    fn offer(&mut self, choice: Vec<u32>) {
        let Some(evaluation) = evaluate(self.problem, &choice) else { return };
        if evaluation.cost < self.cost && evaluation.peak <= i128::from(self.problem.usage_limit()) {
            self.cost = evaluation.cost;
            self.best = choice;
        }
    }

    fn raise_bound(&mut self, bound: i128) {
        self.bound = self.bound.max(bound.min(self.beyond).min(self.target()));
    }

    fn report(&mut self) {
        let progress = Progress {
            elapsed: self.start.elapsed(),
            work: self.work,
            cost: self.cost,
            bound: self.bound,
            nodes: self.nodes,
        };
        self.stopped |= !(self.progress)(&progress);
    }

    /// The work that is left.
    fn left(&self) -> u64 {
        self.options.work.map_or(u64::MAX, |work| work.saturating_sub(self.work))
    }

    /// Whether the time or the work is used up, or the caller wants to stop.
    fn over(&self) -> bool {
        self.stopped
            || self.options.work.is_some_and(|work| self.work >= work)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Runs two lanes, on two threads if allowed.
fn side_by_side<A: Send, B: Send>(
    threads: usize,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads < 2 {
        return (first(), second());
    }
    std::thread::scope(|scope| {
        let handle = scope.spawn(second);
        let first = first();
        match handle.join() {
            Ok(second) => (first, second),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// How long a run may take so that it ends within `seconds` of the process's start, printing included.
pub fn time_within(seconds: f64, already: Duration) -> Duration {
    let margin = 0.1 + 0.01 * seconds;
    Duration::from_secs_f64((seconds - margin - already.as_secs_f64()).max(0.05))
}

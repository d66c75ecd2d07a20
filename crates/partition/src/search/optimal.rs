//! The default search.
//!
//! Every step solves a problem of the same kind on the whole graph, with the true prices over all axes, and as a rule to its
//! optimum: graphs of real programs are narrow.
//!
//! 1. The same on all axes, as if they were one: the flat plan. Of a mesh of one axis it is the optimum (within
//!    one part in 10⁷, where the measure is time), and all is done.
//! 2. Where the graph is small enough for the work that may be spent: everything on every axis, up to exchanging axes that
//!    are alike ([`Domain::All`]), with permutations of shards between devices for free. That gives a bound, and for each
//!    op and tensor what it does on how many axes; then, which axes these are, op by op and tensor by tensor
//!    ([`Lists::orbits`]). The bound comes from messages alone, and layers that repeat share theirs, so that a deep
//!    network takes little longer than a shallow one.
//! 3. The best of what is known, Tofu's plan among it, op by op and tensor by tensor ([`Lists::among`]).
//! 4. Descent: anything along one axis, or the same along several, with the rest as it is ([`Lists::along`]), as long as it
//!    helps by more than a trifle and there is work left; from the best plan, and then from the flat one.
//!
//! Memory limits the choices only if the best plan without a limit needs too much. Then the solver has a limit on what
//! tensors occupy, each while the storage lives that it is the first to use, and this limit is lowered until the true
//! peak of a plan keeps the true limit, and raised again as far as it does. The plans of all other searches are considered,
//! too. If nothing fits, the plan is the best one without a limit, and the one of the smallest peak stands beside it.

mod axes;
mod estimate;

use std::time::Instant;

use tofu_solver::{Options, Solution, solve};

use super::tofu::{self, Rules};
use super::{Algorithm, Failure, Outcome, Progress, Request};
use crate::domain::{Domain, Lists, Symmetry};
use crate::plan::Plan;
use crate::price::{Objective, Prices};
use crate::problem::{Limits, Problem};
use axes::mesh_of;
use estimate::{ENTRY, NODE, least_compute, predicted};

pub(super) use axes::mesh_of_sizes;

/// The first step, and the one that is repeated: neither must take all of the work.
const FLAT: &str = "all axes";
const DESCENT: &str = "descent";

/// What the solver's own unit of work takes.
const UNIT: u64 = 2;

/// The parts of the work that may be spent on the flat plan, where there are several axes, on the bound, and on one step of the
/// descent.
const FLAT_PART: u64 = 10;
const BOUND_PART: u64 = 2;
const DESCENT_PART: u64 = 3;

/// How much more work one step of a search under a memory limit may take, and all of them.
const LIMITED: u64 = 2;
const ALL_LIMITED: u64 = 3;

/// A descent ends where the cost is above the bound by no more than one part in so many, or where no step saves so much.
const NEAR_COST: i128 = 500;

/// Within the memory limit, a cost is good enough if it is above the bound by no more than one part in so many.
const ENOUGH: i128 = 100;

/// The part of a cost, where it is time, that a bound may stay below it.
const GAP: f64 = 1e-7;

/// How many memory limits the solver is given at most.
const LIMITS: usize = 8;

/// The part of the memory limit to which the solver's is found.
const NEAR: u64 = 200;

pub(super) fn search(
    request: &Request<'_>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, Failure> {
    let (mesh, symmetry) = match &request.mesh {
        Some(mesh) => (mesh.clone(), Symmetry::none()),
        None => mesh_of(request),
    };
    let priced = |objective| Prices::new(request.machine, mesh.clone(), objective, request.reduce_scatter);
    let prices = priced(request.objective);
    let mut run = Run {
        request,
        prices: &prices,
        times: (request.objective == Objective::Bytes).then(|| priced(Objective::Time)),
        progress,
        start: Instant::now(),
        spent: 0,
        memory: None,
        best: None,
        fitting: None,
        bound: least_compute(request, &prices),
        stopped: false,
    };
    run.search(&symmetry)?;
    let limit = request.memory.map_or(u64::MAX, |memory| memory.limit);
    let mut smallest = None;
    if run.best.as_ref().is_some_and(|best| best.excess > 0) && !run.stopped {
        let (unlimited, bound) = (run.best.clone(), run.bound);
        run.best = run.fitting.clone().or(run.best);
        run.memory = Some(limit);
        run.spent = 0;
        run.search(&symmetry)?;
        // What does not fit anyhow need not cost more than it must.
        if run.best.as_ref().is_some_and(|best| best.excess > 0) {
            smallest = std::mem::replace(&mut run.best, unlimited).map(|best| best.plan);
            // What bounds plans that keep the limit does not bound this one.
            run.bound = bound;
        }
    }
    if run.best.as_ref().is_some_and(|best| best.excess > 0) {
        run.best = run.fitting.take().or(run.best);
    }
    run.finish(smallest)
}

#[derive(Clone)]
struct Best {
    /// The bytes that the plan needs beyond the limit.
    excess: u64,
    cost: i128,
    /// What decides among plans of the same cost: with bytes as the measure, the time of their kernels.
    tie: i128,
    plan: Plan,
}

impl Best {
    /// The key by which plans are compared, less is better.
    fn rank(&self) -> (u64, i128, i128) {
        (self.excess, self.cost, self.tie)
    }
}

struct Found {
    plan: Plan,
    /// No plan of the domain costs less; none if no plan keeps the memory limit.
    bound: Option<i128>,
}

struct Run<'a, 'p> {
    request: &'a Request<'a>,
    prices: &'a Prices<'a>,
    /// What decides among plans that send the same bytes; none where time is the measure.
    times: Option<Prices<'a>>,
    progress: &'p mut dyn FnMut(&Progress) -> bool,
    start: Instant,
    /// Work so far.
    spent: u64,
    /// The memory limit for the solver.
    memory: Option<u64>,
    /// The best plan, whatever memory it needs as long as that is not limited.
    best: Option<Best>,
    /// The best plan of those that keep the limit.
    fitting: Option<Best>,
    bound: i128,
    stopped: bool,
}

impl Run<'_, '_> {
    fn search(&mut self, symmetry: &Symmetry) -> Result<(), Failure> {
        let (graph, constraints) = (self.request.graph, self.request.constraints);
        let axes = self.prices.mesh.axes().len();
        let all: Vec<usize> = (0..axes).collect();
        let whole = Plan::replicated(graph, &self.prices.mesh);
        let flat = Lists::along(graph, &whole, &all, constraints);
        let flat = self.solve_within(FLAT, &flat)?;
        if axes <= 1 {
            self.raise_bound(flat.bound);
            return if self.memory.is_some() { self.others() } else { Ok(()) };
        }
        if self.memory.is_some() {
            self.others()?;
        }
        let mut known = vec![flat.plan];
        if self.memory.is_none() && constraints.is_empty() && !self.stopped {
            known.push(self.tofu()?);
            if self.has_work(predicted(self.request, self.prices, symmetry)) {
                let unordered = self.prices.unordered();
                let relaxed = self.solve("bound", &unordered, Domain::All(symmetry))?;
                self.raise_bound(relaxed.bound);
                if self.is_proven() {
                    return Ok(());
                }
                let lists = Lists::orbits(&relaxed.plan, symmetry);
                known.push(self.solve_within("axes", &lists)?.plan);
            }
            if known.len() > 1 && !self.stopped {
                let lists = Lists::among(&known.iter().collect::<Vec<_>>());
                self.solve_within("mix", &lists)?;
            }
        }
        self.descend()?;
        if self.memory.is_none() && self.has_work(0) && !self.is_near() {
            self.descend_from(known.swap_remove(0))?;
        }
        Ok(())
    }

    /// The plan of Tofu's own search, on the same mesh.
    fn tofu(&mut self) -> Result<Plan, Failure> {
        let rules = Rules { one_cut: false, reductions: true };
        let request = Request { mesh: Some(self.prices.mesh.clone()), ..self.request.clone() };
        let found = tofu::search(&request, rules, &mut *self.progress)?;
        self.stopped |= found.was_stopped;
        self.consider(found.plan.clone())?;
        Ok(found.plan)
    }

    /// The plans of all other searches, some of which may need less memory than any that was found. Those that find none, or
    /// none on this mesh, are passed over.
    fn others(&mut self) -> Result<(), Failure> {
        let others = Algorithm::ALL.into_iter().filter(|&algorithm| algorithm != Algorithm::Optimal);
        for algorithm in others {
            if self.stopped {
                break;
            }
            let mesh = Some(self.prices.mesh.clone());
            let request = Request { algorithm, mesh, memory: None, ..self.request.clone() };
            let Ok(Outcome { plan, was_stopped, .. }) = super::search(&request, &mut *self.progress) else {
                continue;
            };
            self.stopped |= was_stopped;
            if plan.mesh == self.prices.mesh {
                self.consider(plan)?;
            }
        }
        Ok(())
    }

    /// Along one axis, or several alike, as long as something gets much better.
    fn descend(&mut self) -> Result<(), Failure> {
        // Along an axis of one device, everything is the same.
        let axes = self.prices.mesh.axes().iter().enumerate();
        let axes: Vec<usize> = axes.filter(|(_, axis)| axis.size > 1).map(|(place, _)| place).collect();
        // Single axes first: most is to be had from them.
        let mut groups: Vec<Vec<usize>> = (1..1usize << axes.len())
            .map(|bits| {
                let chosen = axes.iter().enumerate().filter(|(place, _)| bits >> place & 1 != 0);
                chosen.map(|(_, &axis)| axis).collect()
            })
            .collect();
        groups.sort_by_key(Vec::len);
        let mut since = 0;
        for group in groups.iter().cycle() {
            let Some(best) = &self.best else { break };
            let (before, rank) = (self.spent, self.rank(best));
            if since >= groups.len() || self.stopped || self.is_near() {
                break;
            }
            let lists = Lists::along(self.request.graph, &best.plan, group, self.request.constraints);
            self.solve_within(DESCENT, &lists)?;
            let is_better = self.best.as_ref().is_some_and(|best| {
                let (excess, cost, _) = self.rank(best);
                excess < rank.0 || excess == rank.0 && rank.1 - cost > cost / NEAR_COST
            });
            since = if is_better { 0 } else { since + 1 };
            if !self.has_work(self.spent - before) {
                break;
            }
        }
        Ok(())
    }

    /// Descent from another plan than the best, which may end elsewhere, and the best of both ends.
    fn descend_from(&mut self, plan: Plan) -> Result<(), Failure> {
        let best = self.best.take();
        self.consider(plan)?;
        self.descend()?;
        let other = std::mem::replace(&mut self.best, best);
        let plans: Vec<Plan> = self.best.iter().chain(&other).map(|best| best.plan.clone()).collect();
        self.solve_within("mix", &Lists::among(&plans.iter().collect::<Vec<_>>()))?;
        Ok(())
    }

    /// Whether a better plan would not be worth its search.
    fn is_near(&self) -> bool {
        let near = |best: &Best| best.cost - self.bound <= best.cost / NEAR_COST;
        self.memory.is_none() && self.best.as_ref().is_some_and(near)
    }

    /// The best plan of these lists that the solver finds, within the memory limit if there is one.
    fn solve_within(&mut self, phase: &'static str, lists: &Lists) -> Result<Found, Failure> {
        let Some(memory) = self.request.memory.filter(|_| self.memory.is_some()) else {
            let found = self.solve(phase, self.prices, Domain::Listed(lists))?;
            self.consider(found.plan.clone())?;
            return Ok(found);
        };
        let mut first: Option<Found> = None;
        // What the solver may use lies between a limit that was low enough and one that was not.
        let (mut low, mut high) = (None, None);
        let mut limit = self.memory.unwrap_or(memory.limit);
        for _ in 0..LIMITS {
            self.memory = Some(limit);
            let found = self.solve(phase, self.prices, Domain::Listed(lists))?;
            let excess = (memory.peak)(&found.plan).saturating_sub(memory.limit);
            self.consider(found.plan.clone())?;
            let is_least = found.bound.is_none();
            let bound = first.get_or_insert(found).bound;
            let is_enough = |best: &Best| {
                best.excess == 0 && bound.is_some_and(|bound| best.cost - bound <= best.cost / ENOUGH)
            };
            if self.best.as_ref().is_some_and(is_enough) {
                low = Some(limit);
                break;
            }
            if excess > 0 && !is_least {
                high = Some(limit);
            } else {
                low = Some(limit);
            }
            limit = match (low, high) {
                _ if self.stopped => break,
                (Some(low), Some(high)) if high - low > memory.limit / NEAR => low + (high - low) / 2,
                (None, Some(high)) => high.saturating_sub(excess),
                _ => break,
            };
        }
        self.memory = low.or(high);
        first.ok_or(Failure::Constrained)
    }

    fn solve(
        &mut self,
        phase: &'static str,
        prices: &Prices<'_>,
        domain: Domain<'_>,
    ) -> Result<Found, Failure> {
        let constraints = self.request.constraints;
        let pinned: Vec<_> = constraints.tensors().collect();
        let memory = self.request.memory.zip(self.memory);
        let limits = Limits {
            domain,
            allowed: &|tensor, stored| constraints.allow(tensor, stored),
            pinned: &pinned,
            memory: memory.map(|(memory, limit)| (limit, memory.lives)),
            ties: true,
        };
        let problem = Problem::new(self.request.graph, prices, &limits)?;
        let is_bound = matches!(domain, Domain::All(_));
        let mut work = self.request.work.saturating_sub(self.spent).max(self.request.work / 20);
        // Under a memory limit the first choices of the solver are poor, and each limit is a search of its own.
        if memory.is_some() {
            let left = self.request.work.saturating_mul(ALL_LIMITED).saturating_sub(self.spent);
            work = left.min(self.request.work.saturating_mul(LIMITED)).max(self.request.work / 20);
        } else if phase == DESCENT {
            work /= DESCENT_PART;
        } else if phase == FLAT && prices.mesh.axes().len() > 1 {
            work /= FLAT_PART;
        } else if is_bound {
            work /= BOUND_PART;
        }
        let options = Options {
            work: Some(work / UNIT),
            starts: self.best.iter().filter_map(|best| problem.choices(&best.plan)).collect(),
            // Between plans that send the same bytes, ties decide; they are far below such a part of the cost.
            gap: if self.request.objective == Objective::Time { GAP } else { 0.0 },
            bound_only: is_bound,
            below: self.best.as_ref().filter(|_| is_bound).map(|best| best.cost * problem.scale()),
            ..Options::default()
        };
        let (start, cost, bound) = (self.start, self.best.as_ref().map(|best| best.cost), self.bound);
        let (stopped, progress) = (&mut self.stopped, &mut self.progress);
        let mut work = 0;
        let solution = solve(&problem.selection, &options, &mut |at| {
            work = at.work;
            let goes_on = progress(&Progress { phase, elapsed: start.elapsed(), cost, bound: Some(bound) });
            *stopped |= !goes_on;
            goes_on
        });
        let built = problem.entries().saturating_mul(ENTRY);
        let given = (problem.selection.nodes() as u64).saturating_mul(NODE);
        let spent = built.saturating_add(given).saturating_add(work.saturating_mul(UNIT));
        self.spent = self.spent.saturating_add(spent);
        match solution {
            Solution::Found { choices, bound, .. } => {
                Ok(Found { plan: problem.plan(&choices), bound: Some(bound.div_euclid(problem.scale())) })
            }
            // Of no plan at all there is no least peak.
            Solution::Infeasible { choices, .. } if choices.is_empty() => Err(Failure::Constrained),
            Solution::Infeasible { choices, .. } => Ok(Found { plan: problem.plan(&choices), bound: None }),
        }
    }

    /// How good a plan is; what it needs too much counts where memory is limited.
    fn rank(&self, best: &Best) -> (u64, i128, i128) {
        let (excess, cost, tie) = best.rank();
        (if self.memory.is_some() { excess } else { 0 }, cost, tie)
    }

    fn raise_bound(&mut self, bound: Option<i128>) {
        self.bound = self.bound.max(bound.unwrap_or(self.bound));
    }

    /// Whether nothing can be better than the best plan: its cost is the bound, it fits, and nothing decides among equals.
    fn is_proven(&self) -> bool {
        let is_least = |best: &Best| best.excess == 0 && best.cost <= self.bound;
        self.times.is_none() && self.best.as_ref().is_some_and(is_least)
    }

    fn has_work(&self, work: u64) -> bool {
        !self.stopped && self.spent.saturating_add(work) <= self.request.work
    }

    /// Takes a plan if it is better than the best so far.
    fn consider(&mut self, plan: Plan) -> Result<(), Failure> {
        let cost = plan.evaluate(self.request.graph, self.prices)?.cost;
        let tie = match &self.times {
            Some(times) => plan.evaluate(self.request.graph, times)?.compute,
            None => 0,
        };
        let excess =
            self.request.memory.map_or(0, |memory| (memory.peak)(&plan).saturating_sub(memory.limit));
        let found = Best { excess, cost, tie, plan };
        if excess == 0 && self.fitting.as_ref().is_none_or(|best| found.rank() < best.rank()) {
            self.fitting = Some(found.clone());
        }
        if self.best.as_ref().is_none_or(|best| self.rank(&found) < self.rank(best)) {
            self.best = Some(found);
        }
        Ok(())
    }

    fn finish(self, smallest: Option<Plan>) -> Result<Outcome, Failure> {
        let Some(Best { plan, .. }) = self.best else { return Err(Failure::Constrained) };
        let evaluation = plan.evaluate(self.request.graph, self.prices)?;
        debug_assert!(self.bound <= evaluation.cost, "{} is no bound of {}", self.bound, evaluation.cost);
        Ok(Outcome {
            lower_bound: Some(self.bound).filter(|&bound| bound <= evaluation.cost),
            plan,
            evaluation,
            smallest,
            was_stopped: self.stopped,
        })
    }
}

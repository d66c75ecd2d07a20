//! The default search.
//!
//! On one axis the problem is solved as it is. Over several axes:
//!
//! 1. all axes as one: the flat plan;
//! 2. everything on every axis, up to exchanging axes that are alike ([`Domain::All`]): a bound, and of each op and
//!    tensor what it does on how many axes;
//! 3. which axes these are, op by op and tensor by tensor ([`Lists::orbits`]): a plan;
//! 4. the best of both, op by op and tensor by tensor ([`Lists::among`]);
//! 5. descent: anything along one axis, or along several alike, with the rest as it is ([`Lists::along`]), as long as it helps.
//!
//! Every step solves a problem of the same kind on the whole graph, with the true prices over all axes; the solver gives the
//! optimum of each as a rule, since graphs of real programs are narrow.

use std::time::Instant;

use smallvec::SmallVec;
use tofu_sharding::{Layouts, Mesh};
use tofu_solver::{Options, Solution, solve};

use super::{Failure, Outcome, Progress, Request};
use crate::domain::{Domain, Lists, Symmetry, refined};
use crate::plan::Plan;
use crate::price::Prices;
use crate::problem::{Limits, Problem};

/// More axes than this are not told apart.
const MOST_AXES: usize = 3;

/// Names of axes.
pub(super) const NAMES: [&str; Layouts::MAX_AXES] = ["x", "y", "z", "w", "v", "u", "t", "s"];

pub(super) fn search(
    request: &Request<'_>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, Failure> {
    let (mesh, symmetry) = match &request.mesh {
        Some(mesh) => (mesh.clone(), Symmetry::none()),
        None => mesh_of(request),
    };
    let fine = Prices::new(request.machine, mesh.clone(), request.objective, request.reduce_scatter);
    let mut run = Run { request, progress, start: Instant::now(), best: None, bound: None, stopped: false };
    let axes = mesh.axes().len();
    if axes <= 1 {
        let found = run.solve("search", &fine, Domain::All(&Symmetry::none()), &[])?;
        run.bound = Some(found.bound);
        run.consider(&fine, found.plan)?;
        return run.finish();
    }
    let mut known: Vec<Plan> = Vec::new();
    if request.mesh.is_none() {
        let flat_mesh = mesh_of_sizes(&[mesh.devices()]);
        let flat = Prices::new(request.machine, flat_mesh, request.objective, request.reduce_scatter);
        let found = run.solve("one axis", &flat, Domain::All(&Symmetry::none()), &[])?;
        known.push(refined(&found.plan, &mesh, &[(0..axes).collect()]));
        run.consider(&fine, known[0].clone())?;
    }
    let relaxed = run.solve("bound", &fine, Domain::All(&symmetry), &[])?;
    run.bound = Some(relaxed.bound);
    let lists = Lists::orbits(&relaxed.plan, &symmetry);
    let lifted = run.solve("axes", &fine, Domain::Listed(&lists), &[])?;
    run.consider(&fine, lifted.plan.clone())?;
    known.push(lifted.plan);
    let among: Vec<&Plan> = known.iter().collect();
    let lists = Lists::among(&among);
    let both = run.solve("mix", &fine, Domain::Listed(&lists), &known)?;
    run.consider(&fine, both.plan)?;
    run.descend(&fine)?;
    run.finish()
}

/// The mesh of a machine with its prime factors as axes, the largest ones joined if there are too many, and which are alike.
fn mesh_of(request: &Request<'_>) -> (Mesh, Symmetry) {
    let mut factors: Vec<(u64, Option<usize>)> =
        request.machine.mesh_axes().into_iter().map(|factor| (factor.size, Some(factor.level))).collect();
    while factors.len() > MOST_AXES {
        // The two neighbours whose product is least, of one level if there are such.
        let joined = |place: &usize| {
            let (a, b) = (factors[*place], factors[*place + 1]);
            (a.1 != b.1, a.0 * b.0)
        };
        let Some(place) = (0..factors.len() - 1).min_by_key(joined) else { break };
        let (a, b) = (factors[place], factors.remove(place + 1));
        factors[place] = (a.0 * b.0, if a.1 == b.1 { a.1 } else { None });
    }
    let sizes: Vec<u64> = factors.iter().map(|(size, _)| *size).collect();
    let mut groups: Vec<SmallVec<[usize; 4]>> = Vec::new();
    for (axis, factor) in factors.iter().enumerate() {
        if factor.1.is_none() {
            continue;
        }
        match groups.iter_mut().find(|group| factors[group[0]] == *factor) {
            Some(group) => group.push(axis),
            None => groups.push(SmallVec::from_slice(&[axis])),
        }
    }
    (mesh_of_sizes(&sizes), Symmetry::of(groups))
}

/// A mesh of axes of these sizes.
pub(super) fn mesh_of_sizes(sizes: &[u64]) -> Mesh {
    let axes = NAMES.iter().copied().zip(sizes.iter().copied());
    // It is one: the names differ, and a machine has no more devices than a mesh may have.
    Mesh::new(axes).unwrap_or_default()
}

struct Found {
    plan: Plan,
    bound: i128,
}

struct Run<'a, 'p> {
    request: &'a Request<'a>,
    progress: &'p mut dyn FnMut(&Progress) -> bool,
    start: Instant,
    best: Option<(i128, Plan)>,
    bound: Option<i128>,
    stopped: bool,
}

impl Run<'_, '_> {
    /// The best plan of a domain that the solver finds.
    fn solve(
        &mut self,
        phase: &'static str,
        prices: &Prices<'_>,
        domain: Domain<'_>,
        _known: &[Plan],
    ) -> Result<Found, Failure> {
        let constraints = self.request.constraints;
        let pinned: Vec<_> = constraints.tensors().collect();
        let limits = Limits {
            domain,
            allowed: &|tensor, stored| constraints.allow(tensor, stored),
            pinned: &pinned,
            allowed_ways: &|_, _| true,
            memory: None,
        };
        let problem = Problem::new(self.request.graph, prices, &limits)?;
        let options = Options { work: Some(self.request.work), ..Options::default() };
        let (start, cost, bound) = (self.start, self.best.as_ref().map(|best| best.0), self.bound);
        let (stopped, progress) = (&mut self.stopped, &mut self.progress);
        let solution = solve(&problem.selection, &options, &mut |_| {
            let goes_on = progress(&Progress { phase, elapsed: start.elapsed(), cost, bound });
            *stopped |= !goes_on;
            goes_on
        });
        match solution {
            Solution::Found { choices, bound, .. } => Ok(Found { plan: problem.plan(&choices), bound }),
            Solution::Infeasible { .. } => Err(Failure::Constrained),
        }
    }

    /// Takes a plan if it is better than the best so far; says whether it is.
    fn consider(&mut self, prices: &Prices<'_>, plan: Plan) -> Result<bool, Failure> {
        let cost = plan.evaluate(self.request.graph, prices)?.cost;
        let is_better = self.best.as_ref().is_none_or(|(best, _)| cost < *best);
        if is_better {
            self.best = Some((cost, plan));
        }
        Ok(is_better)
    }

    /// Along one axis, or several alike, as long as something gets better.
    fn descend(&mut self, prices: &Prices<'_>) -> Result<(), Failure> {
        let axes = prices.mesh.axes().len();
        let groups: Vec<Vec<usize>> = (1..1usize << axes)
            .map(|bits| (0..axes).filter(|axis| bits >> axis & 1 != 0).collect())
            .collect();
        let mut since = 0;
        for group in groups.iter().cycle() {
            let Some((_, best)) = &self.best else { break };
            if since >= groups.len() || self.stopped {
                break;
            }
            let lists = Lists::along(self.request.graph, best, group);
            let found = self.solve("descent", prices, Domain::Listed(&lists), &[])?;
            since = if self.consider(prices, found.plan)? { 0 } else { since + 1 };
        }
        Ok(())
    }

    fn finish(self) -> Result<Outcome, Failure> {
        let Some((_, plan)) = self.best else { return Err(Failure::Constrained) };
        let prices = Prices::new(self.request.machine, plan.mesh.clone(), self.request.objective, self.request.reduce_scatter);
        let evaluation = plan.evaluate(self.request.graph, &prices)?;
        let lower_bound = self.bound.map(|bound| bound.min(evaluation.cost));
        Ok(Outcome { plan, evaluation, lower_bound, was_stopped: self.stopped })
    }
}

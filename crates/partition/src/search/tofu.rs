//! The search of the paper (Tofu, EuroSys 2019, section 5): recursion over cuts, each by dynamic programming over the
//! coarsened graph.
//!
//! ```text
//! devices = k1 · k2 · … · km, slowest links first
//! cut along axis 1 ─► cut along axis 2, of shares ─► … ─► plan
//! ```
//!
//! Each cut sees what the cuts before it did: the shares that they left, and collectives over several axes at once. Which of
//! several cuts of equal cost comes first decides what is left for later ones, up to a quarter of the whole cost; so
//! plans that are tied are kept, each the best under another rule for ties, and the recursion goes on from all of them.
//!
//! `equalchop` is the same with one cut over all devices; `icml18`, without ways that reduce (as section 7.3 describes Jia et
//! al., "Exploring hidden dimensions in parallelizing convolutional neural networks", ICML 2018).

use std::time::Instant;

use smallvec::SmallVec;
use tofu_sharding::{Layouts, Mesh};

use super::coarsen::{Coarse, constants};
use super::constants::settle;
use super::cut::{Coarsely, Cut, Tables};
use super::frontier::{Model, Table, cost, minimise};
use super::optimal::mesh_of_sizes;
use super::{Failure, Outcome, Progress, Request};
use crate::domain::refined;
use crate::graph::TensorId;
use crate::plan::Plan;
use crate::price::Prices;

/// So many plans are kept from cut to cut.
const KEPT: usize = 2;

/// What makes the algorithms different.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Whether there is one cut over all devices, and not one for each prime factor.
    pub(super) one_cut: bool,
    /// Whether ops may split what they reduce.
    pub(super) reductions: bool,
}

pub(super) fn search(
    request: &Request<'_>,
    rules: Rules,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, Failure> {
    let start = Instant::now();
    let mesh = mesh_of(request, rules.one_cut);
    let prices = Prices::new(request.machine, mesh.clone(), request.objective, request.reduce_scatter);
    let coarse = Coarse::of(request.graph, request.constraints);
    let mut plans = vec![(0, Coarsely::replicated(&coarse))];
    let axes = mesh.axes().len();
    let mut was_stopped = false;
    for axis in 0..axes {
        let next = (axis + 1 < axes).then_some(axis + 1);
        let mut found: Vec<(u64, Coarsely)> = Vec::new();
        let mut tables = Tables::default();
        for (_, before) in &plans {
            let constraints = request.constraints;
            let reductions = rules.reductions;
            let cut = Cut { coarse: &coarse, prices: &prices, constraints, before, axis, next, reductions };
            let choosing = cut.model(&mut tables)?;
            // What is tied after the last cut is the same in the end.
            for tie in &Tie::ALL[..if next.is_some() { Tie::ALL.len() } else { 1 }] {
                let states = tie.decide(&choosing.model);
                let plan = choosing.plan(&coarse, &tables, &states);
                if found.iter().all(|(_, other)| *other != plan) {
                    found.push((choosing.model.counted(&states), plan));
                }
            }
            let report = Progress { phase: "cut", elapsed: start.elapsed(), cost: None, bound: None };
            was_stopped |= !progress(&report);
        }
        found.sort_by_key(|(cost, _)| *cost);
        found.truncate(KEPT);
        plans = found;
    }
    let (counted, plan) = plans.swap_remove(0);
    let outcome = finish(request, coarse.plan(&mesh, &plan.layouts, &plan.choices), was_stopped)?;
    let is_same = outcome.plan.mesh != mesh || outcome.evaluation.step_cost() <= i128::from(counted);
    debug_assert!(is_same, "cuts are measured otherwise than plans");
    Ok(outcome)
}

/// A plan as an outcome, on the mesh that was asked for.
pub(super) fn finish(request: &Request<'_>, plan: Plan, was_stopped: bool) -> Result<Outcome, Failure> {
    let mut plan = on_mesh(request, plan);
    let mut free = constants(request.graph);
    request.constraints.tensors().for_each(|tensor| free[tensor as usize] = false);
    settle(request.graph, &mut plan, &free)?;
    let prices = Prices::new(request.machine, plan.mesh.clone(), request.objective, request.reduce_scatter);
    let evaluation = plan.evaluate(request.graph, &prices)?;
    let is_allowed = |tensor: TensorId| request.constraints.allow(tensor, plan.stored[tensor as usize]);
    if !request.constraints.tensors().all(is_allowed) {
        return Err(Failure::Constrained);
    }
    Ok(Outcome { plan, evaluation, lower_bound: None, smallest: None, was_stopped })
}

/// A plan over all devices at once, on the axes of the mesh that was asked for.
pub(super) fn on_mesh(request: &Request<'_>, plan: Plan) -> Plan {
    match &request.mesh {
        Some(mesh) if plan.mesh.axes().len() == 1 && mesh.axes().len() != 1 => {
            refined(&plan, mesh, &[(0..mesh.axes().len()).collect()])
        }
        _ => plan,
    }
}

/// The mesh that was asked for, or one axis, or one for each prime factor of the devices. Beyond the number of axes that a mesh may
/// have, the neighbours of the smallest product are joined.
fn mesh_of(request: &Request<'_>, one_cut: bool) -> Mesh {
    if one_cut {
        return one_axis(request);
    }
    if let Some(mesh) = &request.mesh {
        return mesh.clone();
    }
    let mut sizes: Vec<u64> = request.machine.mesh_axes().iter().map(|factor| factor.size).collect();
    while sizes.len() > Layouts::MAX_AXES {
        let product = |place: &usize| sizes[*place] * sizes[*place + 1];
        let Some(place) = (0..sizes.len() - 1).min_by_key(product) else { break };
        sizes[place] *= sizes.remove(place + 1);
    }
    mesh_of_sizes(&sizes)
}

/// All devices along one axis.
pub(super) fn one_axis(request: &Request<'_>) -> Mesh {
    let devices = request.mesh.as_ref().map_or(request.machine.devices(), Mesh::devices);
    mesh_of_sizes(&[devices])
}

/// What decides among cuts of equal cost.
#[derive(Clone, Copy)]
enum Tie {
    /// What it would cost to cut along the next axis the same way.
    Repeated,
    /// Late dimensions, rather: those of features, as programs have them.
    Late,
}

impl Tie {
    const ALL: [Tie; 2] = [Tie::Repeated, Tie::Late];

    /// The states of least cost.
    fn decide(self, model: &Model) -> Vec<usize> {
        match self {
            Tie::Repeated => minimise(model),
            Tie::Late => minimise(&late(model)),
        }
    }
}

/// The model with other words that decide: the numbers of the states, from the last one on.
fn late(model: &Model) -> Model {
    let counts = |table: &Table| {
        let costs = table.costs.iter().map(|entry| cost((entry >> 64) as u64, 0)).collect();
        Table { scope: table.scope.clone(), costs }
    };
    let mut tables: Vec<Table> = model.tables.iter().map(counts).collect();
    for (variable, &size) in model.sizes.iter().enumerate() {
        let costs = (0..size).map(|state| cost(0, (size - 1 - state) as u64)).collect();
        tables.push(Table { scope: SmallVec::from_slice(&[variable as u32]), costs });
    }
    Model { sizes: model.sizes.clone(), tables, constant: model.constant }
}

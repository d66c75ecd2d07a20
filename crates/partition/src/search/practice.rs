//! What people do by hand, over all devices at once.
//!
//! | | arguments and results of a step | examples |
//! |---|---|---|
//! | `data-parallel` | state on every device | split along the batch |
//! | `fsdp` (Rajbhandari et al., "ZeRO", SC 2020) | state split, and gathered by whoever uses it | split along the batch |
//! | `megatron` (Shoeybi et al., 2019) | matrices split, and what is computed with them | on every device |
//!
//! Each says which layouts a tensor may have; what that leaves open is chosen at least cost, as the default search does: where
//! gradients are reduced, along which dimension state lies, which matrices are split by columns and which by rows.

use smallvec::SmallVec;
use tofu_sharding::{Layout, Layouts, Mesh};
use tofu_solver::{Options, Solution, solve};

use super::batch::batch;
use super::coarsen::{constants, is_elementwise, states};
use super::tofu::{finish, on_mesh, one_axis};
use super::{Failure, Outcome, Progress, Request};
use crate::domain::{Domain, Lists};
use crate::graph::{Graph, Op, OpKind, TensorId};
use crate::plan::Plan;
use crate::price::Prices;
use crate::problem::{Limits, Problem};
use crate::states::{Stored, candidates};
use crate::way::{Choices, choices_along, way_of};

/// Which one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Practice {
    DataParallel,
    Fsdp,
    Megatron,
}

pub(super) fn search(
    request: &Request<'_>,
    practice: Practice,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, Failure> {
    let start = std::time::Instant::now();
    let (graph, mesh) = (request.graph, one_axis(request));
    let prices = Prices::new(request.machine, mesh.clone(), request.objective, request.reduce_scatter);
    let program = Program {
        graph,
        mesh: &mesh,
        practice,
        batch: batch(graph),
        constants: constants(graph),
        states: states(graph),
    };
    let mut stored: Vec<SmallVec<[Stored; 4]>> = program.stored();
    keep_constraints(request, &mesh, &mut stored)?;
    let lists = Lists { choices: graph.ops.iter().map(|op| program.choices(op)).collect(), stored };
    let limits = Limits {
        domain: Domain::Listed(&lists),
        allowed: &|_, _| true,
        pinned: &[],
        allowed_ways: &|_, _| true,
        memory: None,
    };
    let problem = Problem::new(graph, &prices, &limits)?;
    let options = Options { work: Some(request.work), ..Options::default() };
    let mut was_stopped = false;
    let solution = solve(&problem.selection, &options, &mut |_| {
        let goes_on = progress(&Progress { phase: "search", elapsed: start.elapsed(), cost: None, bound: None });
        was_stopped |= !goes_on;
        goes_on
    });
    match solution {
        Solution::Found { choices, .. } => finish(request, problem.plan(&choices), was_stopped),
        Solution::Infeasible { .. } => Err(Failure::Constrained),
    }
}

struct Program<'p> {
    graph: &'p Graph<'p>,
    mesh: &'p Mesh,
    practice: Practice,
    batch: Vec<Option<usize>>,
    constants: Vec<bool>,
    states: Vec<TensorId>,
}

impl Program<'_> {
    /// How each tensor may be kept.
    fn stored(&self) -> Vec<SmallVec<[Stored; 4]>> {
        let is_state = {
            let mut is_state = vec![false; self.graph.tensors.len()];
            self.states.iter().for_each(|&state| is_state[state as usize] = true);
            is_state
        };
        let each = self.graph.tensors.iter().enumerate();
        each.map(|(number, tensor)| {
            let mut all = candidates(self.mesh, &tensor.shape, tensor.partials, Layouts::REPLICATED, &[0]);
            all.retain(|layouts| self.may_be(number, is_state[number], tensor.shape.len(), layouts.on(0)));
            if all.is_empty() {
                all.push(Layouts::REPLICATED);
            }
            all.into_iter().map(Stored::only).collect()
        })
        .collect()
    }

    fn may_be(&self, tensor: usize, is_state: bool, rank: usize, layout: Layout) -> bool {
        if self.constants[tensor] {
            return layout == Layout::Replicated;
        }
        let is_split = matches!(layout, Layout::Split(_));
        let batch = self.batch[tensor];
        match self.practice {
            Practice::DataParallel if is_state => layout == Layout::Replicated,
            Practice::Fsdp if is_state => is_split,
            Practice::Megatron if is_state => is_split || rank < 2,
            Practice::Megatron => batch.is_none_or(|batch| layout != Layout::Split(batch)),
            Practice::DataParallel | Practice::Fsdp => match batch {
                Some(batch) => layout == Layout::Split(batch),
                None => self.practice == Practice::Fsdp || !is_split,
            },
        }
    }

    /// What an op may do. With tensors split by hand, what reads a matrix of the state works on a part of it.
    fn choices(&self, op: &Op) -> SmallVec<[Choices; 4]> {
        let OpKind::Described(info) = op.kind else { return SmallVec::from_slice(&[Choices::WHOLE]) };
        let info = &self.graph.infos[info as usize];
        let all: SmallVec<[Choices; 4]> = choices_along(info, Choices::WHOLE, &[0]).collect();
        if self.practice != Practice::Megatron || is_elementwise(info) {
            return all;
        }
        let matrix = op.operands.iter().position(|operand| {
            operand.is_some_and(|tensor| {
                self.graph.tensors[tensor as usize].shape.len() >= 2 && self.states.contains(&tensor)
            })
        });
        let Some(matrix) = matrix else { return all };
        let parts = all.iter().copied().filter(|&choices| {
            let way = way_of(info, self.mesh, choices);
            let wanted = way.as_ref().and_then(|way| way.operands.get(matrix)?.as_ref());
            wanted.is_some_and(|wanted| matches!(wanted.layouts.on(0), Layout::Split(_)))
        });
        let parts: SmallVec<[Choices; 4]> = parts.collect();
        if parts.is_empty() { all } else { parts }
    }
}

/// Leaves out what a user does not allow.
fn keep_constraints(request: &Request<'_>, mesh: &Mesh, stored: &mut [SmallVec<[Stored; 4]>]) -> Result<(), Failure> {
    for tensor in request.constraints.tensors() {
        let of = &mut stored[tensor as usize];
        of.retain(|stored| {
            let plan = Plan { mesh: mesh.clone(), choices: Vec::new(), stored: vec![*stored] };
            request.constraints.allow(tensor, on_mesh(request, plan).stored[0])
        });
        if of.is_empty() {
            return Err(Failure::Constrained);
        }
    }
    Ok(())
}

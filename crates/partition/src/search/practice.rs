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
use super::coarsen::{constants, states};
use super::tofu::{finish, on_mesh, one_axis};
use super::{Failure, Outcome, Progress, Request};
use crate::domain::{Domain, Lists};
use crate::graph::{Graph, Op, OpKind, TensorId};
use crate::plan::Plan;
use crate::price::Prices;
use crate::problem::{Limits, Problem};
use crate::states::{Stored, candidates};
use crate::way::{Choices, choices_along, way_of};

/// The units of work that are spent at most: it is a baseline, and most graphs need less.
const MOST_WORK: u64 = 50_000_000;

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
    let mut is_state = vec![false; graph.tensors.len()];
    states(graph).into_iter().for_each(|state| is_state[state as usize] = true);
    let program =
        Program { graph, mesh: &mesh, practice, batch: batch(graph), constants: constants(graph), is_state };
    let mut stored: Vec<SmallVec<[Stored; 4]>> = program.stored();
    keep_constraints(request, &mesh, &mut stored)?;
    let lists = Lists { choices: graph.ops.iter().map(|op| program.choices(op)).collect(), stored };
    let limits = Limits {
        domain: Domain::Listed(&lists),
        allowed: &|_, _| true,
        pinned: &[],
        memory: None,
        ties: true,
    };
    let problem = Problem::new(graph, &prices, &limits)?;
    let options = Options { work: Some(request.work.min(MOST_WORK)), ..Options::default() };
    let mut was_stopped = false;
    let solution = solve(&problem.selection, &options, &mut |_| {
        let goes_on =
            progress(&Progress { phase: "search", elapsed: start.elapsed(), cost: None, bound: None });
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
    is_state: Vec<bool>,
}

impl Program<'_> {
    /// How each tensor may be kept.
    fn stored(&self) -> Vec<SmallVec<[Stored; 4]>> {
        let each = self.graph.tensors.iter().enumerate();
        each.map(|(number, tensor)| {
            let mut all = candidates(self.mesh, &tensor.shape, tensor.partials, Layouts::REPLICATED, &[0]);
            all.retain(|layouts| self.may_be(number, tensor.shape.len(), layouts.on(0)));
            if all.is_empty() {
                all.push(Layouts::REPLICATED);
            }
            all.into_iter().map(Stored::only).collect()
        })
        .collect()
    }

    fn may_be(&self, tensor: usize, rank: usize, layout: Layout) -> bool {
        // A practice says nothing of how a result lies that the user asks for.
        if self.graph.tensors[tensor].is_own_result() {
            return true;
        }
        if self.constants[tensor] {
            return layout == Layout::Replicated;
        }
        let is_split = matches!(layout, Layout::Split(_));
        let (batch, is_state) = (self.batch[tensor], self.is_state[tensor]);
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

    /// What an op may do: where examples are split it splits the batch of all that it reads; where matrices are, a matrix of
    /// the state that it reads. What cannot do that may do anything.
    fn choices(&self, op: &Op) -> SmallVec<[Choices; 4]> {
        let OpKind::Described(info) = op.kind else { return SmallVec::from_slice(&[Choices::WHOLE]) };
        let info = &self.graph.infos[info as usize];
        let all: SmallVec<[Choices; 4]> =
            choices_along(info, self.mesh, Choices::WHOLE, &[0], &|_| true).collect();
        let fits = |choices: &Choices| {
            let Some(way) = way_of(info, self.mesh, *choices) else { return false };
            op.operands.iter().zip(&way.operands).all(|(tensor, wanted)| match (*tensor, wanted) {
                (Some(tensor), Some(wanted)) => self.may_want(tensor, wanted.layouts.on(0)),
                _ => true,
            })
        };
        let fitting: SmallVec<[Choices; 4]> = all.iter().copied().filter(fits).collect();
        if fitting.is_empty() { all } else { fitting }
    }

    /// Whether what the practice says of a tensor is done with it.
    fn may_want(&self, tensor: TensorId, layout: Layout) -> bool {
        match self.practice {
            Practice::DataParallel | Practice::Fsdp => {
                self.batch[tensor as usize].is_none_or(|batch| layout == Layout::Split(batch))
            }
            Practice::Megatron => {
                let is_matrix =
                    self.graph.tensors[tensor as usize].shape.len() >= 2 && self.is_state[tensor as usize];
                !is_matrix || matches!(layout, Layout::Split(_))
            }
        }
    }
}

/// Leaves out what a user does not allow.
fn keep_constraints(
    request: &Request<'_>,
    mesh: &Mesh,
    stored: &mut [SmallVec<[Stored; 4]>],
) -> Result<(), Failure> {
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

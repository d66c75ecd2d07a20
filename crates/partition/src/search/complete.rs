//! A plan from how tensors are kept: what each op does, and which copies there are.
//!
//! Shardings in a program say of each tensor one layout. With these given, the problem is the same as ever, and small: ops are joined only by the
//! copies of the tensors between them.

use smallvec::SmallVec;
use tofu_machine::Collective;
use tofu_sharding::{Layout, Layouts, Mesh};
use tofu_solver::{Options, Solution, solve};

use super::Failure;
use crate::domain::{Domain, Lists};
use crate::graph::{Graph, Op, OpKind, Tensor, TensorId};
use crate::op_info::OpInfo;
use crate::plan::{Broken, Plan};
use crate::price::Prices;
use crate::problem::{Limits, Problem};
use crate::states::with_copies;
use crate::way::{Choice, Choices, Wanted, all_choices, is_useful, way_of};

/// What the solver may do, in its units.
const WORK: u64 = 1_000_000_000;

/// The cheapest plan that keeps tensors in these layouts, those of each tensor of the graph.
///
/// # Errors
/// When there is none, or numbers are too large for the solver.
pub fn complete(graph: &Graph<'_>, prices: &Prices<'_>, kept: &[Layouts]) -> Result<Plan, Failure> {
    let mesh = &prices.mesh;
    let mut possible = Possible { graph, mesh, kept, known: vec![None; graph.infos.len()] };
    let lists = Lists {
        choices: graph.ops.iter().map(|op| possible.of(op)).collect(),
        stored: graph
            .tensors
            .iter()
            .zip(kept)
            .map(|(tensor, &first)| {
                with_copies(mesh.axes().len(), &[], first, has_one_copy(tensor)).into_iter().collect()
            })
            .collect(),
    };
    let limits = Limits {
        domain: Domain::Listed(&lists),
        allowed: &|_, _| true,
        pinned: &[],
        memory: None,
        ties: true,
    };
    let problem = Problem::new(graph, prices, &limits)?;
    let options = Options { work: Some(WORK), ..Options::default() };
    let plan = match solve(&problem.selection, &options, &mut |_| true) {
        Solution::Found { choices, .. } => problem.plan(&choices),
        Solution::Infeasible { .. } => return Err(Failure::Constrained),
    };
    plan.verify(graph).map_err(|Broken { message }| Failure::Broken(Broken { message }))?;
    Ok(plan)
}

/// What ops may do.
struct Possible<'a> {
    graph: &'a Graph<'a>,
    mesh: &'a Mesh,
    kept: &'a [Layouts],
    /// For each info, what there is in all if that is not too much, as far as it can be done.
    known: Vec<Option<SmallVec<[Choices; 4]>>>,
}

/// So many combinations are all looked at. Of more axes, each only does what agrees with how some tensor is kept.
const MOST: usize = 1_000;

impl Possible<'_> {
    fn of(&mut self, op: &Op) -> SmallVec<[Choices; 4]> {
        let OpKind::Described(number) = op.kind else { return SmallVec::from_slice(&[Choices::WHOLE]) };
        let info = &self.graph.infos[number as usize];
        // Whether operands may be terms is asked of each op by itself.
        let all = all_choices(info, &|_| true);
        let axes = self.mesh.axes().len();
        if all.len().checked_pow(axes as u32).is_none_or(|combinations| combinations > MOST) {
            return self.among(info, |axis| {
                let agrees =
                    |&&choice: &&Choice| choice == Choice::Whole || self.agrees(op, info, axis, choice);
                all.iter().filter(agrees).copied().collect()
            });
        }
        if let Some(known) = &self.known[number as usize] {
            return known.clone();
        }
        let found = self.among(info, |_| all.clone());
        self.known[number as usize] = Some(found.clone());
        found
    }

    /// Everything that can be done of what there is on each axis.
    fn among(&self, info: &OpInfo, on_axis: impl Fn(usize) -> Vec<Choice>) -> SmallVec<[Choices; 4]> {
        let mut found: SmallVec<[Choices; 4]> = SmallVec::from_slice(&[Choices::WHOLE]);
        for axis in 0..self.mesh.axes().len() {
            let on = on_axis(axis);
            found = found.iter().flat_map(|from| on.iter().map(|&choice| from.with(axis, choice))).collect();
            found.retain(|choices| is_useful(info, self.mesh, *choices));
        }
        found.retain(|choices| {
            let way = way_of(info, self.mesh, *choices);
            way.is_some_and(|way| way.own.iter().all(|step| step.collective != Collective::AllReduce))
        });
        found
    }

    /// Whether some operand is kept along the axis as it is wanted with this choice, or some result as it is given.
    fn agrees(&self, op: &Op, info: &OpInfo, axis: usize, choice: Choice) -> bool {
        let Some(way) = way_of(info, self.mesh, Choices::WHOLE.with(axis, choice)) else { return false };
        let is_kept = |tensor: &Option<TensorId>, layouts: Layouts| {
            let kept = tensor.map_or(Layout::Replicated, |tensor| self.kept[tensor as usize].on(axis));
            kept != Layout::Replicated && kept == layouts.on(axis)
        };
        let wants = |(tensor, wanted): (&Option<TensorId>, &Option<Wanted>)| {
            wanted.as_ref().is_some_and(|wanted| is_kept(tensor, wanted.layouts))
        };
        op.operands.iter().zip(&way.operands).any(wants)
            || op.results.iter().zip(&way.results).any(|(tensor, &given)| is_kept(tensor, given))
    }
}

/// Of a tensor that is several values, those of a loop or what is only handed on, there would be a copy for each.
fn has_one_copy(tensor: &Tensor) -> bool {
    tensor.uses > 1 && tensor.values.len() == 1
}

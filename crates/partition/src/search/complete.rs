//! A plan from how tensors are kept: what each op does, and which copies there are.
//!
//! Shardings in a program say of each tensor one layout. With these given, the problem is the same as ever, and small: ops are joined only by the
//! copies of the tensors between them.

use smallvec::SmallVec;
use tofu_machine::Collective;
use tofu_sharding::Layouts;
use tofu_solver::{Options, Solution, solve};

use super::Failure;
use crate::domain::{Domain, Lists, Symmetry};
use crate::graph::{Graph, OpKind, Tensor};
use crate::plan::{Broken, Plan};
use crate::price::Prices;
use crate::problem::{Limits, Problem};
use crate::states::with_copies;
use crate::way::{Choices, combinations, way_of};

/// What the solver may do, in its units.
const WORK: u64 = 1_000_000_000;

/// The cheapest plan that keeps tensors in these layouts, those of each tensor of the graph.
///
/// # Errors
/// When there is none, or numbers are too large for the solver.
pub fn complete(graph: &Graph<'_>, prices: &Prices<'_>, kept: &[Layouts]) -> Result<Plan, Failure> {
    let mesh = &prices.mesh;
    let mut known: Vec<Option<Vec<Choices>>> = vec![None; graph.infos.len()];
    let mut choices_of = |number: usize| -> SmallVec<[Choices; 4]> {
        let op = &graph.ops[number];
        let OpKind::Described(info) = op.kind else { return SmallVec::from_slice(&[Choices::WHOLE]) };
        let own = &graph.infos[info as usize];
        let all = known[info as usize].get_or_insert_with(|| {
            // Whether operands may be terms is asked of each op by itself, below.
            let all = combinations(own, mesh, &Symmetry::none(), &|_| true);
            let reduces = |choices: &Choices| {
                let way = way_of(own, mesh, *choices);
                way.is_some_and(|way| way.own.iter().all(|step| step.collective != Collective::AllReduce))
            };
            all.into_iter().filter(reduces).collect()
        });
        all.iter().copied().collect()
    };
    let lists = Lists {
        choices: (0..graph.ops.len()).map(&mut choices_of).collect(),
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

/// Of a tensor that is several values, those of a loop or what is only handed on, there would be a copy for each.
fn has_one_copy(tensor: &Tensor) -> bool {
    tensor.uses > 1 && tensor.values.len() == 1
}

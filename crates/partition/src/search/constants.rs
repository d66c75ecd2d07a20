//! What depends on no argument, where all that read it want the same of it.
//!
//! Every device can make all of such a tensor without anybody sending anything, which is how searches take it; but the
//! broadcast of a number to the shape of a weight is as large as the weight. Where its readers agree, each device makes the
//! part that they want, and nothing else changes.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_sharding::{Layout, Layouts};
use tofu_tdl::Combine;

use crate::graph::{Graph, OpKind, TensorId};
use crate::op_info::OpInfo;
use crate::plan::{Broken, Plan};
use crate::states::Stored;
use crate::way::{Choice, Choices, Way, way_of};

/// Makes what depends on no argument as its readers want it, from the last op to the first.
///
/// # Errors
/// Where the plan does not hold together.
pub(super) fn settle(graph: &Graph<'_>, plan: &mut Plan, is_constant: &[bool]) -> Result<(), Broken> {
    let mut wants: Vec<Wants> = vec![Wants::Nothing; graph.tensors.len()];
    for tensor in graph.links.iter().flat_map(|link| [link.from, link.to]) {
        wants[tensor as usize] = Wants::Different;
    }
    for &tensor in graph.results.iter().flatten() {
        wants[tensor as usize] = Wants::Different;
    }
    // The ways of ops that are alike and do the same are made once.
    let mut known: FxHashMap<(u32, Choices), Way> = FxHashMap::default();
    for number in (0..graph.ops.len()).rev() {
        let op = &graph.ops[number];
        if op.kind == OpKind::Constant {
            continue;
        }
        if let (Some(info), [Some(made)]) = (graph.info(op), &op.results[..])
            && is_constant[*made as usize]
            && plan.stored[*made as usize] == Stored::only(Layouts::REPLICATED)
            && let Wants::Like(layouts) = wants[*made as usize]
            && let Some(choices) = part(info, plan, layouts)
        {
            plan.choices[number] = choices;
            plan.stored[*made as usize] = Stored::only(layouts);
        }
        if op.operands.iter().flatten().any(|&tensor| is_constant[tensor as usize]) {
            match op.kind {
                OpKind::Described(info) => {
                    let way = match known.entry((info, plan.choices[number])) {
                        Entry::Occupied(known) => known.into_mut(),
                        Entry::Vacant(place) => place.insert(plan.way(graph, number)?),
                    };
                    note(&op.operands, way, &mut wants);
                }
                OpKind::Constant | OpKind::Whole => note(&op.operands, &plan.way(graph, number)?, &mut wants),
            }
        }
    }
    Ok(())
}

/// What the readers of a tensor want.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    Nothing,
    Like(Layouts),
    Different,
}

fn note(operands: &[Option<TensorId>], way: &Way, wants: &mut [Wants]) {
    for (tensor, wanted) in operands.iter().zip(&way.operands) {
        let (Some(tensor), Some(wanted)) = (*tensor, wanted) else { continue };
        let own = if wanted.halo.is_empty() { Wants::Like(wanted.layouts) } else { Wants::Different };
        let all = &mut wants[tensor as usize];
        *all = match *all {
            Wants::Nothing => own,
            other if other == own => own,
            _ => Wants::Different,
        };
    }
}

/// What an op does that makes exactly such a part of its result; none if it cannot.
fn part(info: &OpInfo, plan: &Plan, layouts: Layouts) -> Option<Choices> {
    let axes = plan.mesh.axes().len();
    let of_axis: Option<SmallVec<[Choice; 4]>> = (0..axes)
        .map(|axis| match layouts.on(axis) {
            Layout::Replicated => Some(Choice::Whole),
            Layout::Split(dim) => {
                let splits =
                    |strategy: &tofu_tdl::Strategy| strategy.outputs[..] == [Combine::Concat { dim }];
                info.analysis.strategies.iter().position(splits).map(Choice::Split)
            }
            Layout::Partial(_) => None,
        })
        .collect();
    let choices = of_axis?.into_iter().enumerate();
    let choices = choices.fold(Choices::WHOLE, |choices, (axis, choice)| choices.with(axis, choice));
    let way = way_of(info, &plan.mesh, choices)?;
    let is_free = way.own.is_empty() && way.operands.iter().flatten().all(|wanted| wanted.halo.is_empty());
    (is_free && way.results[..] == [layouts]).then_some(choices)
}

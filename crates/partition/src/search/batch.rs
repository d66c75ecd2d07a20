//! Which dimension of which tensor is the batch: the one along which the examples of a step lie, so that an op does the same
//! for each of them with the same weights.
//!
//! Nothing in a program says so, but its structure does. A dimension of an argument that is no state is followed from op to op as
//! long as there is a way of splitting it that splits no state and exchanges nothing with neighbours. What gets furthest, by
//! the operations on the way, is the batch: features end where they are contracted with weights, rows of an image at the
//! first convolution, time at a recurrence. Gradients of weights sum over the batch and have no such dimension.

use tofu_tdl::{Combine, DimLayout, Strategy};

use super::coarsen::{constants, states};
use crate::graph::{Graph, OpKind, TensorId};

/// Of each tensor, its batch dimension.
pub(super) fn batch(graph: &Graph<'_>) -> Vec<Option<usize>> {
    let states = states(graph);
    let mut makers = vec![None; graph.tensors.len()];
    for (number, op) in graph.ops.iter().enumerate() {
        op.results.iter().flatten().for_each(|&tensor| makers[tensor as usize] = Some(number));
    }
    let flow = Flow { graph, constants: constants(graph), makers };
    let mut starts: Vec<(TensorId, usize)> = Vec::new();
    for &tensor in graph.arguments.iter().flatten().filter(|tensor| !states.contains(tensor)) {
        let extents = &graph.tensors[tensor as usize].shape;
        let dims = (0..extents.len()).filter(|&dim| extents[dim] > 1);
        // The first one of those that get furthest.
        let reach = dims.map(|dim| (dim, flow.from(&[(tensor, dim)]).1));
        let best = reach.reduce(|best, other| if other.1 > best.1 { other } else { best });
        starts.extend(best.map(|(dim, _)| (tensor, dim)));
    }
    flow.from(&starts).0
}

struct Flow<'g> {
    graph: &'g Graph<'g>,
    constants: Vec<bool>,
    makers: Vec<Option<usize>>,
}

/// So many ops are gone back to see whether something is the same for the whole batch.
const MOST_STEPS: usize = 8;

impl Flow<'_> {
    /// How these dimensions go on, and the operations and the ops on their way.
    fn from(&self, starts: &[(TensorId, usize)]) -> (Vec<Option<usize>>, (u128, usize)) {
        let mut dims: Vec<Option<usize>> = vec![None; self.graph.tensors.len()];
        for &(tensor, dim) in starts {
            dims[tensor as usize] = Some(dim);
        }
        let mut reach = (0u128, 0);
        for op in &self.graph.ops {
            let OpKind::Described(info) = op.kind else { continue };
            let info = &self.graph.infos[info as usize];
            let known =
                |tensor: &Option<TensorId>| tensor.is_some_and(|tensor| dims[tensor as usize].is_some());
            if !op.operands.iter().any(known) {
                continue;
            }
            let Some(strategy) =
                info.analysis.strategies.iter().find(|strategy| self.goes_on(&dims, &op.operands, strategy))
            else {
                continue;
            };
            reach = (reach.0 + u128::from(info.flops), reach.1 + 1);
            for (operand, layout) in op.operands.iter().zip(&strategy.operands) {
                if let Some(operand) = *operand
                    && !self.constants[operand as usize]
                {
                    dims[operand as usize] = dims[operand as usize].or(split(&layout.dims));
                }
            }
            for (result, combine) in op.results.iter().zip(&strategy.outputs) {
                if let (Some(result), Combine::Concat { dim }) = (*result, *combine) {
                    dims[result as usize] = Some(dim);
                }
            }
        }
        (dims, reach)
    }

    /// Whether a strategy splits the known dimensions, and else only what is the same for the whole batch.
    fn goes_on(&self, dims: &[Option<usize>], operands: &[Option<TensorId>], strategy: &Strategy) -> bool {
        operands.iter().zip(&strategy.operands).all(|(operand, layout)| {
            let Some(operand) = *operand else { return true };
            if layout.first_only {
                return true;
            }
            let is_even =
                |dim: &DimLayout| matches!(dim, DimLayout::Split | DimLayout::Blocks(_) | DimLayout::Whole);
            let needed = split(&layout.dims);
            match dims[operand as usize] {
                Some(known) => needed == Some(known) && layout.dims.iter().all(is_even),
                None => match needed {
                    None => layout.dims.iter().all(|dim| matches!(dim, DimLayout::Whole | DimLayout::Unread)),
                    Some(dim) => self.is_spread(dims, operand, dim, MOST_STEPS),
                },
            }
        })
    }

    /// Whether a tensor is made of what has no such dimension: broadcast along it.
    fn is_spread(&self, dims: &[Option<usize>], tensor: TensorId, dim: usize, steps: usize) -> bool {
        if self.constants[tensor as usize] {
            return true;
        }
        let Some(op) = self.makers[tensor as usize].filter(|_| steps > 0).map(|op| &self.graph.ops[op])
        else {
            return false;
        };
        let Some(info) = self.graph.info(op) else { return false };
        let result = op.results.iter().position(|result| *result == Some(tensor));
        info.analysis.strategies.iter().any(|strategy| {
            let concatenates =
                result.and_then(|result| strategy.outputs.get(result)) == Some(&Combine::Concat { dim });
            concatenates
                && op.operands.iter().zip(&strategy.operands).all(|(operand, layout)| {
                    match (*operand, split(&layout.dims)) {
                        (None, _) | (_, None) => true,
                        (Some(operand), Some(dim)) => {
                            dims[operand as usize].is_none() && self.is_spread(dims, operand, dim, steps - 1)
                        }
                    }
                })
        })
    }
}

/// The dimension of which devices get shares.
fn split(dims: &[DimLayout]) -> Option<usize> {
    dims.iter().position(|dim| !matches!(dim, DimLayout::Whole | DimLayout::Unread))
}

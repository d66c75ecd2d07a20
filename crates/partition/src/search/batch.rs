//! Which dimension of which tensor is the batch: the one along which the examples of a step lie, so that an op does the same
//! for each of them with the same weights.
//!
//! Nothing in a program says so, but its structure does. A dimension of an argument that is no state is followed from op to op as
//! long as there is a way of splitting it that splits no state and exchanges nothing with neighbours. What gets furthest, by
//! the operations on the way, is the batch: features end where they are contracted with weights, rows of an image at the
//! first convolution, time at a recurrence. Gradients of weights sum over the batch and have no such dimension.
//!
//! Not all other arguments are examples: weights that are not trained, or copies of them in another type, come in as well, and
//! their columns get as far as the next product. So arguments join one after the other, those that get furthest first, each if
//! all together get no less far with it.

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
    let mut candidates: Vec<(Reach, TensorId, usize)> = Vec::new();
    for &tensor in graph.arguments.iter().flatten().filter(|tensor| !states.contains(tensor)) {
        let extents = &graph.tensors[tensor as usize].shape;
        let dims = (0..extents.len()).filter(|&dim| extents[dim] > 1);
        // The first one of those that get furthest.
        let reach = dims.map(|dim| (dim, flow.from(&[(tensor, dim)]).1));
        let best = reach.reduce(|best, other| if other.1 > best.1 { other } else { best });
        candidates.extend(best.map(|(dim, reach)| (reach, tensor, dim)));
    }
    candidates.sort_by_key(|&(reach, ..)| std::cmp::Reverse(reach));
    let mut starts: Vec<(TensorId, usize)> = Vec::new();
    let mut joint = flow.from(&starts);
    for (_, tensor, dim) in candidates.into_iter().take(MOST_ARGUMENTS) {
        starts.push((tensor, dim));
        let with = flow.from(&starts);
        if with.1 < joint.1 {
            starts.pop();
        } else {
            joint = with;
        }
    }
    joint.0
}

/// So many arguments are asked, of those that get furthest: each takes a walk over the program.
const MOST_ARGUMENTS: usize = 64;

/// How far dimensions go: the operations and the ops on their way.
type Reach = (u128, usize);

struct Flow<'g> {
    graph: &'g Graph<'g>,
    constants: Vec<bool>,
    makers: Vec<Option<usize>>,
}

/// So many ops are gone back to see whether something is the same for the whole batch.
const MOST_STEPS: usize = 8;

impl Flow<'_> {
    /// How these dimensions go on, and how far.
    fn from(&self, starts: &[(TensorId, usize)]) -> (Vec<Option<usize>>, Reach) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{graph, is_named, program};

    /// Examples are told from weights in other types, whether the program makes these or is given them, in either order.
    #[test]
    fn copies_of_weights_are_no_examples() {
        let head = "(%w: tensor<8x8xf32>, %v: tensor<8x8xf32>, ";
        let made =
            "  %w16 = tensor.convert %w : tensor<8x8xbf16>\n  %v16 = tensor.convert %v : tensor<8x8xbf16>\n";
        let given = "%w16: tensor<8x8xbf16>, %v16: tensor<8x8xbf16>";
        let x = "%x: tensor<4x8xbf16>";
        for (arguments, copies) in
            [(x.to_owned(), made), (format!("{given}, {x}"), ""), (format!("{x}, {given}"), "")]
        {
            let module = program(&format!(
                "func @f{head}{arguments}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {{
{copies}  %h = tensor.dot_general %x, %w16 {{contracting = [1] x [0]}}
  %a = tensor.tanh %h
  %y = tensor.dot_general %a, %v16 {{contracting = [1] x [0]}}
  %dv16 = tensor.dot_general %a, %y {{contracting = [0] x [0]}}
  %da = tensor.dot_general %y, %v16 {{contracting = [1] x [1]}}
  %dw16 = tensor.dot_general %x, %da {{contracting = [0] x [0]}}
  %dw = tensor.convert %dw16 : tensor<8x8xf32>
  %dv = tensor.convert %dv16 : tensor<8x8xf32>
  %w1 = tensor.subtract %w, %dw
  %v1 = tensor.subtract %v, %dv
  return %w1, %v1
}}"
            ));
            let graph = graph(&module, 2);
            let found = batch(&graph);
            let of = |name: &str| {
                found[graph.tensors.iter().position(|tensor| is_named(&graph, tensor, name)).unwrap()]
            };
            for name in ["x", "h", "a", "y", "da"] {
                assert_eq!(of(name), Some(0), "{name} with {arguments}");
            }
            for name in ["w", "v", "w16", "v16", "dw", "dv16", "w1"] {
                assert_eq!(of(name), None, "{name} with {arguments}");
            }
        }
    }
}

//! Coarsening (Tofu, EuroSys 2019, section 5.1): tensors that are split alike.
//!
//! Two kinds of tensors are, and both are told by structure, since a program that was imported carries no marks:
//!
//! - what goes into an element-wise op and what comes out of it. Runs of them become one class, and with a forward pass
//!   goes its backward pass where a derivative multiplies with forward values;
//! - what corresponds in the steps of an unrolled recurrence. Steps read the same weights: ops that are alike and read
//!   one state of the program at the same place are tied, and from there on whatever they read and give, ops as long as they are
//!   alike on both sides:
//!
//! ```text
//!         w ──────┬──────────────┬──────────────┬─
//!     x0 ─► dot ──┤     x1 ─► dot ──┤     x2 ─► dot      the three x are tied, and the results, and their readers …
//! ```
//!
//! The paper also puts an op into one group with its backward ops, and a tensor with its gradient. Within a group everything
//! is enumerated, so that groups say nothing about what is possible, only in which order the search goes; here
//! [`frontier`](super::frontier) finds its order by itself.
//!
//! What depends on no argument is made by every device alike, at no cost: tensors of that kind are in classes of their own and
//! tie nothing. (Programs share constants: all layers read the same ones.)

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_sharding::{Layouts, Mesh};
use tofu_tdl::{Combine, DimLayout};

use crate::constraints::Constraints;
use crate::graph::{Graph, Op, OpKind, TensorId};
use crate::op_info::OpInfo;
use crate::plan::Plan;
use crate::states::{Stored, shape_of};
use crate::way::Choices;

/// A coarsened graph: classes of tensors, and groups of ops that are alike and touch the same classes.
pub(super) struct Coarse<'g> {
    pub(super) graph: &'g Graph<'g>,
    /// The class of each tensor, numbered in the order of their first tensors.
    pub(super) class_of: Vec<u32>,
    /// The first tensor of each class.
    pub(super) first: Vec<TensorId>,
    /// Of each tensor, whether it depends on no argument.
    pub(super) is_constant: Vec<bool>,
    /// The groups, in the order of their first ops. Constants are in none.
    pub(super) groups: Vec<Group>,
    group_of: Vec<Option<u32>>,
}

/// Ops that are alike and touch the same classes.
pub(super) struct Group {
    /// The first one.
    pub(super) op: u32,
    /// How often they are done in a step, together.
    pub(super) times: u64,
    /// The classes that they touch, in the order of their operands and results.
    pub(super) classes: SmallVec<[u32; 4]>,
    /// Groups of the same number have ops that are alike, and the same pattern of classes.
    pub(super) pattern: u32,
}

/// What ops of one group have in common: what they are, the class of each operand and result, and which are in memory.
type Touching = (OpKind, SmallVec<[Option<u32>; 6]>, u64);

/// What ops of one pattern have in common: what they are, of each operand and result its place among their classes, and
/// which are in memory, a bit for each.
type Pattern = (OpKind, SmallVec<[Option<u16>; 6]>, u64);

impl<'g> Coarse<'g> {
    /// A graph, coarsened. Tensors of which something is asked are in classes of their own.
    pub(super) fn of(graph: &'g Graph<'g>, constraints: &Constraints) -> Coarse<'g> {
        let mut ties = Ties::of(graph);
        for tensor in constraints.tensors() {
            ties.is_loose[tensor as usize] = true;
        }
        ties.elementwise();
        ties.steps();
        Coarse::tied(graph, &mut ties)
    }

    /// A graph as it is: every tensor is a class.
    pub(super) fn fine(graph: &'g Graph<'g>) -> Coarse<'g> {
        Coarse::tied(graph, &mut Ties::of(graph))
    }

    fn tied(graph: &'g Graph<'g>, ties: &mut Ties<'_>) -> Coarse<'g> {
        let mut number: Vec<Option<u32>> = vec![None; graph.tensors.len()];
        let mut first = Vec::new();
        let class_of = (0..graph.tensors.len() as TensorId).map(|tensor| {
            *number[ties.root(tensor) as usize].get_or_insert_with(|| {
                first.push(tensor);
                first.len() as u32 - 1
            })
        });
        let class_of = class_of.collect();
        let is_constant = constants(graph);
        let mut coarse =
            Coarse { graph, class_of, first, is_constant, groups: Vec::new(), group_of: Vec::new() };
        coarse.group();
        coarse
    }

    fn group(&mut self) {
        let mut numbers: FxHashMap<Touching, u32> = FxHashMap::default();
        let mut patterns: FxHashMap<Pattern, u32> = FxHashMap::default();
        for (number, op) in self.graph.ops.iter().enumerate() {
            if op.kind == OpKind::Constant {
                self.group_of.push(None);
                continue;
            }
            let tensors = || op.operands.iter().chain(&op.results);
            let class = |tensor: &Option<TensorId>| tensor.map(|tensor| self.class_of[tensor as usize]);
            let touched: SmallVec<[Option<u32>; 6]> = tensors().map(class).collect();
            let in_memory = tensors().take(64).enumerate().fold(0, |bits, (place, tensor)| {
                bits | u64::from(tensor.is_some_and(|tensor| self.graph.tensors[tensor as usize].in_memory))
                    << place
            });
            let next = self.groups.len() as u32;
            let group = *numbers.entry((op.kind, touched, in_memory)).or_insert(next);
            self.group_of.push(Some(group));
            if group < next {
                self.groups[group as usize].times += op.times;
                continue;
            }
            let mut classes: SmallVec<[u32; 4]> = SmallVec::new();
            let mut places = SmallVec::new();
            for class in tensors().map(class) {
                places.push(class.map(|class| {
                    let known = classes.iter().position(|&other| other == class);
                    known.unwrap_or_else(|| {
                        classes.push(class);
                        classes.len() - 1
                    }) as u16
                }));
            }
            let next = patterns.len() as u32;
            let pattern = *patterns.entry((op.kind, places, in_memory)).or_insert(next);
            self.groups.push(Group { op: number as u32, times: op.times, classes, pattern });
        }
    }

    /// The plan in which each class is kept, and each group done, like this.
    pub(super) fn plan(&self, mesh: &Mesh, layouts: &[Layouts], choices: &[Choices]) -> Plan {
        let stored = self.class_of.iter().map(|&class| Stored::only(layouts[class as usize]));
        let choices =
            self.group_of.iter().map(|group| group.map_or(Choices::WHOLE, |group| choices[group as usize]));
        Plan { mesh: mesh.clone(), choices: choices.collect(), stored: stored.collect() }
    }

    /// The bytes of the largest tensor of each class.
    pub(super) fn bytes(&self) -> Vec<u64> {
        let mut bytes = vec![0; self.first.len()];
        for (tensor, &class) in self.class_of.iter().enumerate() {
            let of = Stored::default().bytes(&Mesh::default(), shape_of(self.graph, tensor as TensorId));
            bytes[class as usize] = of.max(bytes[class as usize]);
        }
        bytes
    }
}

/// What depends on no argument, and is not carried around a loop.
pub(super) fn constants(graph: &Graph<'_>) -> Vec<bool> {
    let mut is_made = vec![false; graph.tensors.len()];
    let mut constant = vec![false; graph.tensors.len()];
    for op in &graph.ops {
        let depends = |tensor: &TensorId| is_made[*tensor as usize] && constant[*tensor as usize];
        let is_constant = op.kind == OpKind::Constant
            || matches!(op.kind, OpKind::Described(_)) && op.operands.iter().flatten().all(depends);
        for &tensor in op.results.iter().flatten() {
            is_made[tensor as usize] = true;
            constant[tensor as usize] = is_constant;
        }
    }
    constant
}

/// Whether every element of the results is made of the same element of each operand of that shape, and of scalars.
pub(super) fn is_elementwise(info: &OpInfo) -> bool {
    let Some(shape) = info.results.first().map(|result| &result.extents) else { return false };
    let strategies = &info.analysis.strategies;
    if shape.is_empty()
        || info.results.iter().any(|result| result.extents != *shape)
        || strategies.len() != shape.len()
    {
        return false;
    }
    let fits = |dims: &[DimLayout], split: usize| {
        let expected = |dim: usize| if dim == split { DimLayout::Split } else { DimLayout::Whole };
        dims.is_empty()
            || dims.len() == shape.len()
                && dims.iter().enumerate().all(|(dim, layout)| *layout == expected(dim))
    };
    strategies.iter().all(|strategy| {
        let Some(&Combine::Concat { dim }) = strategy.outputs.first() else { return false };
        let concatenates = |output: &Combine| *output == Combine::Concat { dim };
        strategy.block.is(1)
            && strategy.outputs.iter().all(concatenates)
            && strategy.operands.iter().all(|operand| !operand.first_only && fits(&operand.dims, dim))
    })
}

struct Ties<'g> {
    graph: &'g Graph<'g>,
    parents: Vec<TensorId>,
    is_loose: Vec<bool>,
}

impl<'g> Ties<'g> {
    /// Nothing is tied, and constants will not be.
    fn of(graph: &'g Graph<'g>) -> Ties<'g> {
        Ties { graph, parents: (0..graph.tensors.len() as TensorId).collect(), is_loose: constants(graph) }
    }

    fn root(&mut self, mut tensor: TensorId) -> TensorId {
        while self.parents[tensor as usize] != tensor {
            let above = self.parents[tensor as usize];
            self.parents[tensor as usize] = self.parents[above as usize];
            tensor = above;
        }
        tensor
    }

    /// Whether they were not tied before.
    fn tie(&mut self, a: TensorId, b: TensorId) -> bool {
        if self.is_loose[a as usize] || self.is_loose[b as usize] {
            return false;
        }
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }

    fn elementwise(&mut self) {
        let graph = self.graph;
        let known: Vec<bool> = graph.infos.iter().map(is_elementwise).collect();
        for op in &graph.ops {
            let OpKind::Described(info) = op.kind else { continue };
            let Some(Some(first)) = op.results.first() else { continue };
            if !known[info as usize] {
                continue;
            }
            for &tensor in op.results.iter().chain(&op.operands).flatten() {
                if graph.tensors[tensor as usize].shape == graph.tensors[*first as usize].shape {
                    self.tie(*first, tensor);
                }
            }
        }
    }

    /// The steps of unrolled recurrences.
    fn steps(&mut self) {
        let graph = self.graph;
        let uses = Uses::of(graph);
        // Correspondence by itself: element-wise ops tie more than that.
        let mut pairs = Ties { is_loose: self.is_loose.clone(), ..Ties::of(graph) };
        for &tensor in graph.arguments.iter().flatten() {
            pairs.is_loose[tensor as usize] = true;
        }
        let mut ops: Vec<(u32, u32)> = Vec::new();
        for tensor in states(graph) {
            for alike in uses.alike(tensor) {
                ops.extend(alike.windows(2).map(|pair| (pair[0], pair[1])));
            }
        }
        while let Some((a, b)) = ops.pop() {
            let [a, b] = [a, b].map(|op| &graph.ops[op as usize]);
            let operands = a.operands.iter().zip(&b.operands);
            for (a, b) in operands.chain(a.results.iter().zip(&b.results)) {
                let (Some(a), Some(b)) = (*a, *b) else { continue };
                if graph.tensors[a as usize].ty != graph.tensors[b as usize].ty || !pairs.tie(a, b) {
                    continue;
                }
                self.tie(a, b);
                if let (Some(a), Some(b)) = (uses.maker[a as usize], uses.maker[b as usize])
                    && are_alike(&graph.ops[a as usize], &graph.ops[b as usize])
                {
                    ops.push((a, b));
                }
                uses.corresponding(a, b, &mut ops);
            }
        }
    }
}

/// The state of a program: arguments that something replaces in the next step. Of a program without any, all arguments.
pub(super) fn states(graph: &Graph<'_>) -> Vec<TensorId> {
    let mut replaced: Vec<TensorId> = graph.links.iter().map(|link| link.to).collect();
    replaced.sort_unstable();
    let arguments = || graph.arguments.iter().flatten().copied();
    let states: Vec<TensorId> = arguments().filter(|tensor| replaced.binary_search(tensor).is_ok()).collect();
    if states.is_empty() { arguments().collect() } else { states }
}

fn are_alike(a: &Op, b: &Op) -> bool {
    matches!(a.kind, OpKind::Described(_)) && a.kind == b.kind
}

/// Who makes and who reads each tensor.
struct Uses {
    maker: Vec<Option<u32>>,
    /// Readers by what they are, and at which place they read; then in their order.
    readers: Vec<Vec<(u32, u32, u32)>>,
}

impl Uses {
    fn of(graph: &Graph<'_>) -> Uses {
        let mut uses =
            Uses { maker: vec![None; graph.tensors.len()], readers: vec![Vec::new(); graph.tensors.len()] };
        for (number, op) in graph.ops.iter().enumerate() {
            let OpKind::Described(info) = op.kind else { continue };
            for &tensor in op.results.iter().flatten() {
                uses.maker[tensor as usize] = Some(number as u32);
            }
            for (place, tensor) in op.operands.iter().enumerate() {
                if let Some(tensor) = *tensor {
                    uses.readers[tensor as usize].push((info, place as u32, number as u32));
                }
            }
        }
        uses.readers.iter_mut().for_each(|readers| readers.sort_unstable());
        uses
    }

    /// The readers of a tensor that read it alike.
    fn alike(&self, tensor: TensorId) -> Vec<Vec<u32>> {
        let groups = self.readers[tensor as usize].chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        groups.map(|group| group.iter().map(|reader| reader.2).collect()).collect()
    }

    /// Ops that read one of two tensors as another one reads the other, where it is clear which ones those are.
    fn corresponding(&self, a: TensorId, b: TensorId, pairs: &mut Vec<(u32, u32)>) {
        let same = |a: &(u32, u32, u32), b: &(u32, u32, u32)| (a.0, a.1) == (b.0, b.1);
        let groups: Vec<&[(u32, u32, u32)]> = self.readers[b as usize].chunk_by(same).collect();
        for group in self.readers[a as usize].chunk_by(same) {
            let Ok(place) =
                groups.binary_search_by_key(&(group[0].0, group[0].1), |other| (other[0].0, other[0].1))
            else {
                continue;
            };
            if groups[place].len() == group.len() {
                pairs.extend(group.iter().zip(groups[place]).map(|(a, b)| (a.2, b.2)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Link;
    use crate::testing::{graph, is_named, program};

    /// Two layers of a recurrence, with weights of the same shapes, unrolled over some steps.
    fn recurrence(steps: usize) -> String {
        let mut text =
            "func @f(%w0: tensor<8x8xf32>, %u0: tensor<8x8xf32>, %w1: tensor<8x8xf32>, %u1: tensor<8x8xf32>"
                .to_owned();
        for step in 0..steps {
            text += &format!(", %x{step}: tensor<4x8xf32>");
        }
        text += ", %s0: tensor<4x8xf32>, %s1: tensor<4x8xf32>)";
        text +=
            " -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {\n";
        let mut before = ["s0".to_owned(), "s1".to_owned()];
        for step in 0..steps {
            let mut input = format!("x{step}");
            for (layer, before) in before.iter_mut().enumerate() {
                let name = |value: &str| format!("%{value}_{layer}_{step}");
                let (fed, kept, sum, h) = (name("fed"), name("kept"), name("sum"), name("h"));
                text += &format!(
                    "  {fed} = tensor.dot_general %{input}, %w{layer} {{contracting = [1] x [0]}}\n"
                );
                text += &format!(
                    "  {kept} = tensor.dot_general %{before}, %u{layer} {{contracting = [1] x [0]}}\n"
                );
                text += &format!("  {sum} = tensor.add {fed}, {kept}\n  {h} = tensor.tanh {sum}\n");
                input = h[1..].to_owned();
                before.clone_from(&input);
            }
        }
        text + &format!("  return %w0, %u0, %w1, %u1, %{}\n}}", before[1])
    }

    fn class(coarse: &Coarse<'_>, name: &str) -> u32 {
        let tensor = coarse.graph.tensors.iter().position(|tensor| is_named(coarse.graph, tensor, name));
        coarse.class_of[tensor.unwrap()]
    }

    #[test]
    fn steps_of_a_recurrence_are_tied_and_layers_are_not() {
        // State is what a step replaces: here it goes through, so that nothing else ties.
        let module = program(&recurrence(4));
        let mut graph = graph(&module, 0);
        let state: Vec<TensorId> = graph.arguments.iter().take(4).flatten().copied().collect();
        graph.links = state.iter().map(|&to| Link { from: to, to, times: 1 }).collect();
        let coarse = Coarse::of(&graph, &Constraints::default());
        for layer in 0..2 {
            let first = class(&coarse, &format!("h_{layer}_0"));
            for value in ["fed", "kept", "sum", "h"] {
                for step in 0..4 {
                    assert_eq!(
                        class(&coarse, &format!("{value}_{layer}_{step}")),
                        first,
                        "{value} {layer} {step}"
                    );
                }
            }
        }
        assert_ne!(class(&coarse, "h_0_0"), class(&coarse, "h_1_0"));
        // Two layers, four weights, four inputs, and what was before the first step.
        assert_eq!(coarse.first.len(), 2 + 4 + 4 + 2);
    }

    #[test]
    fn ops_that_are_alike_and_touch_the_same_classes_are_one_group() {
        let module = program(&recurrence(4));
        let mut graph = graph(&module, 0);
        let state: Vec<TensorId> = graph.arguments.iter().take(4).flatten().copied().collect();
        graph.links = state.iter().map(|&to| Link { from: to, to, times: 1 }).collect();
        let coarse = Coarse::of(&graph, &Constraints::default());
        // Of each layer a sum and a tanh. Of its products with the weights of the recurrence one reads what was before the first
        // step; of the first layer's with the input each reads an input of its own.
        assert_eq!(coarse.groups.len(), 2 * 2 + 2 * 2 + 4 + 1);
        let times: u64 = coarse.groups.iter().map(|group| group.times).sum();
        assert_eq!(times, 4 * 2 * 4);
    }

    #[test]
    fn constants_tie_nothing() {
        let module = program(
            "func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = tensor.constant dense<2.0> : tensor<4xf32>
  %a = tensor.multiply %x, %c
  %b = tensor.multiply %y, %c
  return %a, %b
}",
        );
        let graph = graph(&module, 0);
        let coarse = Coarse::of(&graph, &Constraints::default());
        assert_eq!(class(&coarse, "x"), class(&coarse, "a"));
        assert_eq!(class(&coarse, "y"), class(&coarse, "b"));
        assert_ne!(class(&coarse, "a"), class(&coarse, "b"));
    }

    #[test]
    fn what_is_pinned_is_by_itself() {
        let module =
            program("func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %a = tensor.tanh %x\n  return %a\n}");
        let graph = graph(&module, 0);
        let mut constraints = Constraints::default();
        assert_eq!(Coarse::of(&graph, &constraints).first.len(), 1);
        constraints.pin(0, 0, tofu_sharding::Layout::Replicated);
        assert_eq!(Coarse::of(&graph, &constraints).first.len(), 2);
    }
}

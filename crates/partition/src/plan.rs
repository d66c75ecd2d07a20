//! A plan: how every op is done and every tensor kept; what it costs, and whether it holds together.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tofu_ir::Type;
use tofu_machine::Collective;
use tofu_sharding::{Layout, Layouts, Mesh, Reducer, Step};

use crate::graph::{Graph, Op, OpKind, TensorId};
use crate::price::{Prices, TensorShape};
use crate::problem::{tie_break, whole_way};
use crate::states::{Stored, shape_of};
use crate::way::{Choices, Wanted, Way, has_one_reducer, way_of};

/// How a program is split.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The mesh.
    pub mesh: Mesh,
    /// What each op of the graph does.
    pub choices: Vec<Choices>,
    /// How each tensor is kept.
    pub stored: Vec<Stored>,
}

/// Why a plan is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// What is wrong, and with which op or tensor.
    pub message: String,
}

/// What a plan costs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evaluation {
    /// By the prices' measure: all that follows, and a little for memory, which breaks ties.
    pub cost: i128,
    /// What devices compute.
    pub compute: i128,
    /// All collectives.
    pub communication: Vec<Sent>,
}

/// Collectives that a plan asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sent {
    /// What devices do.
    pub step: Step,
    /// How often in a step of the program.
    pub times: u64,
    /// What it costs each time.
    pub price: u64,
    /// Of which tensor.
    pub tensor: TensorId,
    /// For which op of the graph; none where tensors become one another, or are results.
    pub op: Option<u32>,
}

impl Evaluation {
    /// What communication costs.
    pub fn communication_cost(&self) -> i128 {
        self.communication.iter().map(|sent| i128::from(sent.price) * i128::from(sent.times)).sum()
    }

    /// What a step costs: computing, and communication.
    pub fn step_cost(&self) -> i128 {
        self.compute + self.communication_cost()
    }

    /// The bytes that a device sends.
    pub fn sent_bytes(&self, mesh: &Mesh) -> u64 {
        self.communication.iter().fold(0, |sum: u64, sent| {
            sum.saturating_add(sent.step.sent_bytes(mesh).saturating_mul(sent.times))
        })
    }

    /// How often devices do a collective, and the bytes that each sends for it, by the names of the collectives.
    pub fn by_collective(&self, mesh: &Mesh) -> Vec<(Collective, u64, u64)> {
        let of = |collective: Collective| {
            let sent = self.communication.iter().filter(|sent| sent.step.collective == collective);
            sent.fold((collective, 0, 0), |(_, count, bytes): (_, u64, u64), sent| {
                let own = sent.step.sent_bytes(mesh).saturating_mul(sent.times);
                (collective, count.saturating_add(sent.times), bytes.saturating_add(own))
            })
        };
        Collective::ALL.into_iter().map(of).filter(|&(_, count, _)| count > 0).collect()
    }
}

impl Plan {
    /// Everything on every device.
    pub fn replicated(graph: &Graph<'_>, mesh: &Mesh) -> Plan {
        Plan {
            mesh: mesh.clone(),
            choices: vec![Choices::WHOLE; graph.ops.len()],
            stored: vec![Stored::default(); graph.tensors.len()],
        }
    }

    /// What it costs, op by op and conversion by conversion; made from nothing but the plan.
    ///
    /// # Errors
    /// Where it does not hold together.
    pub fn evaluate(&self, graph: &Graph<'_>, prices: &Prices<'_>) -> Result<Evaluation, Broken> {
        let done = self.checked(graph)?;
        let mut sum = Sum { evaluation: Evaluation::default(), prices };
        for (tensor, &stored) in self.stored.iter().enumerate() {
            let bytes = stored.bytes(&self.mesh, shape_of(graph, tensor as TensorId));
            sum.evaluation.cost += i128::from(tie_break(prices, bytes));
            if let Some(copy) = stored.copy {
                let id = tensor as TensorId;
                sum.send(
                    prices.conversion(shape_of(graph, id), stored.first, copy),
                    graph.tensors[tensor].times,
                    id,
                    None,
                );
            }
        }
        for (number, op) in graph.ops.iter().enumerate() {
            if op.kind == OpKind::Constant {
                continue;
            }
            let whole;
            let way = match done.way(number) {
                Some(way) => way,
                None => {
                    whole = whole_way(op);
                    &whole
                }
            };
            let here = Some(number as u32);
            if let Some(info) = graph.info(op) {
                let all = i128::from(prices.way(graph, op, info, way)) * i128::from(op.times);
                let own = i128::from(prices.steps(&way.own)) * i128::from(op.times);
                sum.evaluation.cost += all - own;
                sum.evaluation.compute += all - own;
                let made = op.results.iter().flatten().next().copied().unwrap_or(0);
                sum.send(way.own.clone(), op.times, made, here);
            }
            for (tensor, wanted) in op.operands.iter().zip(&way.operands) {
                let (Some(tensor), Some(wanted)) = (*tensor, wanted) else { continue };
                let Had { from, to, halo } = self.had(graph, prices, tensor, wanted);
                sum.send(prices.conversion(shape_of(graph, tensor), from, to), op.times, tensor, here);
                sum.send(halo.iter().cloned(), op.times, tensor, here);
            }
            for (tensor, &given) in op.results.iter().zip(&way.results) {
                if let Some(tensor) = *tensor {
                    let kept = self.stored[tensor as usize].first;
                    sum.send(prices.conversion(shape_of(graph, tensor), given, kept), op.times, tensor, here);
                }
            }
        }
        for link in &graph.links {
            let shape = shape_of(graph, link.from);
            let to = self.stored[link.to as usize].first;
            sum.become_one(shape, self.stored[link.from as usize], to, link.times, link.from);
        }
        Ok(sum.evaluation)
    }

    /// The bytes of a tensor that a device holds, with the copy that is kept beside it.
    pub fn bytes(&self, graph: &Graph<'_>, tensor: TensorId) -> u64 {
        self.stored[tensor as usize].bytes(&self.mesh, shape_of(graph, tensor))
    }

    /// The bytes that a device needs while it does each op, for operands as they are wanted where they are not kept like that,
    /// with what comes from neighbours, and for results as they are given where they are not kept like that.
    ///
    /// # Errors
    /// Where the plan does not hold together.
    pub fn buffers(&self, graph: &Graph<'_>, prices: &Prices<'_>) -> Result<Vec<u64>, Broken> {
        let done = self.checked(graph)?;
        let local = |tensor: TensorId, layouts: Layouts| {
            Stored::only(layouts).bytes(&self.mesh, shape_of(graph, tensor))
        };
        let of_op = |(number, op): (usize, &Op)| {
            if op.kind == OpKind::Constant {
                return 0;
            }
            let whole = whole_way(op);
            let way = done.way(number).unwrap_or(&whole);
            let wanted = op.operands.iter().zip(&way.operands).filter_map(|(tensor, wanted)| {
                let (tensor, wanted) = ((*tensor)?, wanted.as_ref()?);
                let Had { from, to, halo } = self.had(graph, prices, tensor, wanted);
                let grown = halo.iter().fold(0, |sum: u64, step| sum.saturating_add(step.bytes));
                // What grows is made anew beside what it is made of.
                let moved = if from != to || grown > 0 { local(tensor, to) } else { 0 };
                Some(moved.saturating_add(grown))
            });
            let given = op.results.iter().zip(&way.results).filter_map(|(tensor, &given)| {
                let tensor = (*tensor)?;
                (given != self.stored[tensor as usize].first).then(|| local(tensor, given))
            });
            wanted.chain(given).fold(0, u64::saturating_add)
        };
        Ok(graph.ops.iter().enumerate().map(of_op).collect())
    }

    /// How an operand is had as it is wanted.
    fn had<'w>(
        &self,
        graph: &Graph<'_>,
        prices: &Prices<'_>,
        tensor: TensorId,
        wanted: &'w Wanted,
    ) -> Had<'w> {
        let (shape, stored) = (shape_of(graph, tensor), self.stored[tensor as usize]);
        let cheapest = stored.layouts().min_by_key(|&from| prices.want(shape, from, wanted).0);
        let from = cheapest.unwrap_or(stored.first);
        match prices.want(shape, from, wanted) {
            (_, true) => Had { from, to: wanted.without, halo: &[] },
            (_, false) => Had { from, to: wanted.layouts, halo: &wanted.halo },
        }
    }

    /// How an op is done.
    ///
    /// # Errors
    /// When there is no such way.
    pub fn way(&self, graph: &Graph<'_>, op: usize) -> Result<Way, Broken> {
        let of = &graph.ops[op];
        let Some(info) = graph.info(of) else { return Ok(whole_way(of)) };
        way_of(info, &self.mesh, self.choices[op]).ok_or_else(|| Broken {
            message: format!("op {op}, `{}`, cannot be done as {:?}", info.name, self.choices[op]),
        })
    }

    /// Checks that there is a layout for each tensor and a way for each op, that they fit the mesh, and that only what is made as
    /// terms is kept as terms.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self, graph: &Graph<'_>) -> Result<(), Broken> {
        self.checked(graph).map(drop)
    }

    /// Checks it, and gives the ways of all ops: those of ops that are alike and do the same are made once.
    fn checked(&self, graph: &Graph<'_>) -> Result<Done, Broken> {
        let broken = |message: String| Err(Broken { message });
        if self.choices.len() != graph.ops.len() || self.stored.len() != graph.tensors.len() {
            return broken("the plan is one of another program".to_owned());
        }
        let axes = self.mesh.axes().len();
        let mut known: FxHashSet<(Type, Layouts)> = FxHashSet::default();
        for (number, stored) in self.stored.iter().enumerate() {
            let tensor = &graph.tensors[number];
            for layouts in stored.layouts() {
                if !known.insert((tensor.ty, layouts)) {
                    continue;
                }
                let sharding = layouts.sharding(&self.mesh, &tensor.shape);
                let extents: SmallVec<[Option<u64>; 4]> = tensor.shape.iter().copied().map(Some).collect();
                if let Err(error) = sharding.check(&self.mesh, &extents) {
                    return broken(format!("tensor {number}: {error}"));
                }
                if !has_one_reducer(layouts, axes) {
                    return broken(format!("tensor {number} is partial by two reducers"));
                }
            }
            if stored.copy.is_some_and(Layouts::is_partial) || !stored.is_gathered(axes) {
                return broken(format!(
                    "tensor {number} has a copy that is not whole where the first is not"
                ));
            }
            let is_made = |reducer: Reducer| tensor.partials & 1 << reducer as u8 != 0;
            for axis in 0..axes.min(Layouts::MAX_AXES) {
                if let Layout::Partial(reducer) = stored.first.on(axis)
                    && !is_made(reducer)
                {
                    return broken(format!(
                        "tensor {number} is partial by `{}` on axis {axis}, but nothing makes such terms of it",
                        reducer.name()
                    ));
                }
            }
        }
        let mut done = Done { ways: Vec::new(), of: Vec::with_capacity(graph.ops.len()) };
        let mut numbers: FxHashMap<(u32, Choices), u32> = FxHashMap::default();
        for (number, op) in graph.ops.iter().enumerate() {
            let OpKind::Described(info) = op.kind else {
                done.of.push(None);
                continue;
            };
            let way = match numbers.entry((info, self.choices[number])) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(place) => {
                    done.ways.push(self.way(graph, number)?);
                    *place.insert(done.ways.len() as u32 - 1)
                }
            };
            done.of.push(Some(way));
        }
        Ok(done)
    }
}

/// How an operand is had: from a layout that is kept of it, in another one, and with what comes from neighbours then.
struct Had<'w> {
    from: Layouts,
    to: Layouts,
    halo: &'w [Step],
}

/// How ops are done.
struct Done {
    ways: Vec<Way>,
    of: Vec<Option<u32>>,
}

impl Done {
    /// How an op is done; none if every device does all of it.
    fn way(&self, op: usize) -> Option<&Way> {
        self.of[op].map(|way| &self.ways[way as usize])
    }
}

struct Sum<'a, 'p> {
    evaluation: Evaluation,
    prices: &'p Prices<'a>,
}

impl Sum<'_, '_> {
    fn send(&mut self, steps: impl IntoIterator<Item = Step>, times: u64, tensor: TensorId, op: Option<u32>) {
        for step in steps {
            let price = self.prices.step(&step);
            self.evaluation.cost += i128::from(price) * i128::from(times);
            self.evaluation.communication.push(Sent { step, times, price, tensor, op });
        }
    }

    /// The cheapest conversion of what is kept to a layout.
    fn become_one(
        &mut self,
        shape: TensorShape<'_>,
        stored: Stored,
        to: Layouts,
        times: u64,
        tensor: TensorId,
    ) {
        if let Some(from) = stored.layouts().min_by_key(|&from| self.prices.convert(shape, from, to)) {
            self.send(self.prices.conversion(shape, from, to), times, tensor, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{graph, is_named, program};

    /// Terms are kept only by a reducer that makes them: each one, on each axis, of tensors that something sums, takes the
    /// greatest of, or neither.
    #[test]
    fn terms_are_those_that_something_makes() {
        let module = program(
            "func @f(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %z = tensor.constant dense<0.0> : tensor<f32>
  %s = tensor.reduce %x, %z {dimensions = [1]} ({
    ^body(%a: tensor<f32>, %b: tensor<f32>):
      %c = tensor.add %a, %b
      tensor.yield %c
  })
  %m = tensor.reduce %x, %z {dimensions = [1]} ({
    ^body(%a: tensor<f32>, %b: tensor<f32>):
      %c = tensor.maximum %a, %b
      tensor.yield %c
  })
  %t = tensor.tanh %s
  %u = tensor.tanh %m
  %y = tensor.add %t, %u
  return %y
}",
        );
        let graph = graph(&module, 0);
        let mesh = Mesh::new([("x", 2), ("y", 2)]).unwrap();
        let made = [("s", Some(Reducer::Sum)), ("m", Some(Reducer::Max)), ("t", None), ("x", None)];
        for (name, made) in made {
            let tensor = graph.tensors.iter().position(|tensor| is_named(&graph, tensor, name)).unwrap();
            for (axis, reducer) in (0..2).flat_map(|axis| Reducer::ALL.map(|reducer| (axis, reducer))) {
                let mut plan = Plan::replicated(&graph, &mesh);
                plan.stored[tensor].first = Layouts::REPLICATED.with(axis, Layout::Partial(reducer));
                let holds = plan.verify(&graph).is_ok();
                assert_eq!(holds, made == Some(reducer), "{name} {axis} {}", reducer.name());
            }
        }
    }
}

//! How the problem is made.
//!
//! Ops of one class, alike down to the tensors that they read and make, have the same ways, costs and matrices; these are
//! made once, and ways that another one beats whatever is around them are left out. Real programs have some hundred classes.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_solver::{Invalid, Problem as Selection, SharedMatrix};

use super::rows::{Row, Rows};
use super::{FORBIDDEN, Limits, Problem, add, cost_of, tie_break, times, whole_way};
use crate::domain::Domain;
use crate::graph::{Graph, Link, Op, OpKind, TensorId};
use crate::magnitude;
use crate::price::{Objective, Prices};
use crate::states::{Class, Stored, all_states, shape_of};
use crate::way::{Choices, Way, combinations, ways};

pub(super) struct Build<'a, 'l> {
    graph: &'a Graph<'a>,
    limits: &'l Limits<'l>,
    problem: Problem<'a>,
    state_lists: FxHashMap<StateKey, u32>,
    classes: FxHashMap<ClassKey, u32>,
    class_list: Vec<OpClass>,
    links: FxHashMap<(u32, u32, u64), SharedMatrix>,
    rows: Rows<'a>,
    ties: Option<Ties<'a>>,
}

/// What breaks ties between plans that send the same bytes: a weighted sum of time and memory, each of which is scaled to
/// less than half of what bytes are multiplied with, so that bytes always count first.
struct Ties<'a> {
    prices: Prices<'a>,
    /// So much time counts one: all kernels together count less than half the scale.
    time: i128,
    /// So many bytes of memory count one: all tensors and copies of them count less than half the scale.
    memory: i128,
}

/// Bytes are multiplied with this, if all that a plan may send remains far from what a solver takes.
const MOST_SCALE: i128 = 1 << 20;

/// All costs together stay below this when they are scaled.
const MOST_SCALED: i128 = FORBIDDEN as i128 / 2;

/// What the states of a tensor depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct StateKey {
    class: Class,
    listed: Option<SmallVec<[Stored; 4]>>,
}

/// What ways, costs and matrices of an op depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ClassKey {
    /// Its number in the graph's list; none of what every device does as a whole, or makes as a constant.
    info: Option<u32>,
    times: u64,
    /// For each operand and result its list of states, and whether it is in memory; none for what is no tensor.
    tensors: SmallVec<[Option<(u32, bool)>; 6]>,
    listed: Option<SmallVec<[Choices; 4]>>,
}

struct OpClass {
    /// Its list of ways.
    list: u32,
    costs: Vec<i64>,
    /// For each operand and result that matters, its place among both, and the costs.
    edges: SmallVec<[(usize, SharedMatrix); 4]>,
}

impl<'a, 'l> Build<'a, 'l> {
    pub(super) fn new(graph: &'a Graph<'a>, prices: &'a Prices<'a>, limits: &'l Limits<'l>) -> Build<'a, 'l> {
        let most = i64::MAX / 8;
        let limit = limits.memory.map_or(most, |(limit, _)| i64::try_from(limit).unwrap_or(most).min(most));
        let problem = Problem {
            prices,
            selection: Selection::new("partition", limit),
            states: Vec::new(),
            states_of: Vec::new(),
            ways: Vec::new(),
            ways_of: Vec::new(),
            node_of_tensor: Vec::new(),
            node_of_op: Vec::new(),
            entries: 0,
            scale: 1,
        };
        let mut build = Build {
            graph,
            limits,
            problem,
            state_lists: FxHashMap::default(),
            classes: FxHashMap::default(),
            class_list: Vec::new(),
            links: FxHashMap::default(),
            rows: Rows::new(prices, limits.domain),
            ties: None,
        };
        if limits.ties && prices.objective == Objective::Bytes {
            build.leave_room();
        }
        build
    }

    /// Leaves room below the bytes that are sent for the time of kernels, and for memory.
    fn leave_room(&mut self) {
        let (graph, prices) = (self.graph, self.problem.prices);
        let (all, _) = magnitude::most(graph, prices.machine, Objective::Bytes, prices.mesh.devices());
        let scale = (MOST_SCALED / all.max(1)).clamp(1, MOST_SCALE);
        self.problem.scale = scale as i64;
        if scale > 1 {
            let times = Prices::new(
                prices.machine,
                prices.mesh.clone(),
                Objective::Time,
                prices.means.reduce_scatter,
            );
            let time = magnitude::kernels(graph, prices.machine).saturating_mul(2) / scale + 1;
            let bytes: i128 = graph.tensors.iter().map(|tensor| i128::from(tensor.bytes())).sum();
            self.ties = Some(Ties { prices: times, time, memory: bytes * 4 / scale + 1 });
        }
    }

    /// Prices as costs of the solver's, each for so many times.
    fn scaled(&self) -> impl Fn(u64, u64) -> i64 + use<> {
        let scale = self.problem.scale as u64;
        move |price, count| times(times(cost_of(price), scale), count)
    }

    pub(super) fn run(mut self) -> Result<Problem<'a>, Invalid> {
        self.tensors()?;
        for number in 0..self.graph.ops.len() {
            self.op(number)?;
        }
        for &Link { from, to, times } in &self.graph.links {
            self.link(from, to, times)?;
        }
        Ok(self.problem)
    }

    fn tensors(&mut self) -> Result<(), Invalid> {
        let (graph, prices) = (self.graph, self.problem.prices);
        let scaled = self.scaled();
        for number in 0..graph.tensors.len() {
            let id = number as TensorId;
            let list = self.states_of(id);
            let (tensor, shape) = (&graph.tensors[number], shape_of(graph, id));
            let interval = self.limits.memory.and_then(|(_, lifetimes)| lifetimes(id));
            let mut costs: SmallVec<[i64; 16]> = SmallVec::new();
            let mut usages: SmallVec<[i64; 16]> = SmallVec::new();
            for &stored in &self.problem.states[list as usize] {
                let copy = stored.copy.map_or(0, |copy| prices.convert(shape, stored.first, copy));
                let cost = scaled(copy, tensor.times);
                let bytes = stored.bytes(&prices.mesh, shape);
                let tie = match &self.ties {
                    Some(ties) => i64::try_from(i128::from(bytes) / ties.memory).unwrap_or(FORBIDDEN),
                    None => tie_break(prices, bytes),
                };
                costs.push(add(cost, tie));
                usages.push(interval.map_or(0, |_| i64::try_from(bytes).unwrap_or(i64::MAX / 8)));
            }
            let node = self.problem.selection.add_node(interval.unwrap_or([0, 0]), &costs, &usages)?;
            self.problem.node_of_tensor.push(node as u32);
            self.problem.states_of.push(list);
        }
        Ok(())
    }

    /// The list of states of a tensor.
    fn states_of(&mut self, id: TensorId) -> u32 {
        let (graph, prices) = (self.graph, self.problem.prices);
        let class = Class::of(graph, id);
        let listed = match self.limits.domain {
            Domain::All(_) => None,
            Domain::Listed(lists) => Some(lists.stored[id as usize].clone()),
        };
        let key = StateKey { class, listed };
        let list = match self.state_lists.get(&key) {
            Some(&list) => list,
            None => {
                let states = match self.limits.domain {
                    Domain::All(symmetry) => all_states(prices, class, shape_of(graph, id), symmetry),
                    Domain::Listed(lists) => lists.stored[id as usize].to_vec(),
                };
                let list = self.add_states(states);
                self.state_lists.insert(key, list);
                list
            }
        };
        if self.limits.pinned.binary_search(&id).is_err() {
            return list;
        }
        let states = self.problem.states[list as usize].iter().copied();
        let allowed = states.filter(|&stored| (self.limits.allowed)(id, stored)).collect();
        self.add_states(allowed)
    }

    fn add_states(&mut self, states: Vec<Stored>) -> u32 {
        self.rows.add_list(&states);
        self.problem.states.push(states);
        self.problem.states.len() as u32 - 1
    }

    fn op(&mut self, number: usize) -> Result<(), Invalid> {
        let op = &self.graph.ops[number];
        if op.kind == OpKind::Constant {
            self.problem.node_of_op.push(None);
            self.problem.ways_of.push(u32::MAX);
            return Ok(());
        }
        let class = self.class_of(number);
        let OpClass { list, costs, edges } = &self.class_list[class as usize];
        let usages: SmallVec<[i64; 16]> = SmallVec::from_elem(0, costs.len());
        let node = self.problem.selection.add_node([0, 0], costs, &usages)?;
        self.problem.node_of_op.push(Some(node as u32));
        self.problem.ways_of.push(*list);
        for &(place, matrix) in edges {
            if let Some(tensor) = tensors(op).nth(place).flatten() {
                let other = self.problem.node_of_tensor[tensor as usize] as usize;
                self.problem.selection.add_edge_with(node, other, matrix)?;
            }
        }
        Ok(())
    }

    fn class_of(&mut self, number: usize) -> u32 {
        let op = &self.graph.ops[number];
        let info = match op.kind {
            OpKind::Described(info) => Some(info),
            OpKind::Constant | OpKind::Whole => None,
        };
        let listed = match self.limits.domain {
            Domain::Listed(lists) => Some(lists.choices[number].clone()),
            Domain::All(_) => None,
        };
        let tensors = tensors(op).map(|tensor| {
            let tensor = tensor? as usize;
            Some((self.problem.states_of[tensor], self.graph.tensors[tensor].in_memory))
        });
        let key = ClassKey { info, times: op.times, tensors: tensors.collect(), listed };
        if let Some(&class) = self.classes.get(&key) {
            return class;
        }
        let class = self.new_class(op, key.listed.as_deref());
        self.class_list.push(class);
        let class = self.class_list.len() as u32 - 1;
        self.classes.insert(key, class);
        class
    }

    fn new_class(&mut self, op: &Op, listed: Option<&[Choices]>) -> OpClass {
        let (ways, costs) = self.ways_of(op, listed);
        let scaled = self.scaled();
        // Rows of each matrix, one after the other.
        let mut matrices: SmallVec<[(usize, Vec<i64>); 4]> = SmallVec::new();
        for (place, tensor) in tensors(op).enumerate() {
            let Some(tensor) = tensor else { continue };
            let mut matrix: Vec<i64> = Vec::new();
            for way in &ways {
                let key = match place.checked_sub(op.operands.len()) {
                    None => way.operands.get(place).cloned().flatten().map(Row::Wants),
                    Some(result) => Some(Row::Gives(way.results.get(result).copied().unwrap_or_default())),
                };
                let list = self.problem.states_of[tensor as usize];
                let row = key.map(|key| self.rows.row(shape_of(self.graph, tensor), list, key));
                match row {
                    Some(row) => matrix.extend(row.iter().map(|&price| scaled(price, op.times))),
                    // It is not read.
                    None => matrix.resize(matrix.len() + self.states(tensor).len(), 0),
                }
            }
            self.problem.entries += matrix.len() as u64;
            if matrix.iter().any(|&cost| cost != 0) {
                matrices.push((place, matrix));
            }
        }
        let kept = undominated(&costs, &matrices);
        let pick = |rows: &[i64]| -> Vec<i64> {
            let width = rows.len() / costs.len().max(1);
            kept.iter().flat_map(|&way| rows[way * width..(way + 1) * width].iter().copied()).collect()
        };
        let edges = matrices
            .iter()
            .map(|(place, matrix)| (*place, self.problem.selection.share_matrix(&pick(matrix))))
            .collect();
        self.problem.ways.push(kept.iter().map(|&way| ways[way].choices).collect());
        OpClass { list: self.problem.ways.len() as u32 - 1, costs: pick(&costs), edges }
    }

    fn states(&self, tensor: TensorId) -> &[Stored] {
        &self.problem.states[self.problem.states_of[tensor as usize] as usize]
    }

    /// The ways of an op, and what they cost.
    fn ways_of(&self, op: &Op, listed: Option<&[Choices]>) -> (Vec<Way>, Vec<i64>) {
        let (graph, prices) = (self.graph, self.problem.prices);
        let Some(info) = graph.info(op) else { return (vec![whole_way(op)], vec![0]) };
        let has_terms = |operand: usize| graph.has_terms(op, operand);
        let list = match (self.limits.domain, listed) {
            (Domain::All(symmetry), _) => {
                ways(info, &prices.mesh, &combinations(info, &prices.mesh, symmetry, &has_terms))
            }
            (_, Some(choices)) => ways(info, &prices.mesh, choices),
            (Domain::Listed(_), None) => Vec::new(),
        };
        let scaled = self.scaled();
        let cost = |way: &Way| {
            let own = scaled(prices.way(graph, op, info, way), op.times);
            let tie = self.ties.as_ref().map_or(0, |ties| {
                let all = ties.prices.way(graph, op, info, way);
                // Measured times need not fall with the size of a kernel; all ties together must stay below the scale.
                let most = magnitude::kernel(prices.machine, info);
                let kernel = i128::from(all.saturating_sub(ties.prices.steps(&way.own))).min(most);
                i64::try_from(kernel.saturating_mul(op.times.into()) / ties.time).unwrap_or(FORBIDDEN)
            });
            add(own, tie)
        };
        let costs = list.iter().map(cost).collect();
        (list, costs)
    }

    fn link(&mut self, from: TensorId, to: TensorId, weight: u64) -> Result<(), Invalid> {
        let (rows, columns) = (self.problem.states_of[from as usize], self.problem.states_of[to as usize]);
        let shape = shape_of(self.graph, from);
        let scaled = &self.scaled();
        let matrix = match self.links.get(&(rows, columns, weight)) {
            Some(&matrix) => matrix,
            None => {
                let mut matrix: Vec<i64> = Vec::new();
                for &source in &self.problem.states[rows as usize] {
                    let row = self.rows.becomes(shape, source, columns);
                    matrix.extend(row.into_iter().map(|price| scaled(price, weight)));
                }
                let matrix = self.problem.selection.share_matrix(&matrix);
                self.links.insert((rows, columns, weight), matrix);
                matrix
            }
        };
        let [a, b] = [from, to].map(|tensor| self.problem.node_of_tensor[tensor as usize] as usize);
        self.problem.selection.add_edge_with(a, b, matrix)
    }
}

/// The operands of an op, then its results.
fn tensors(op: &Op) -> impl Iterator<Item = Option<TensorId>> {
    op.operands.iter().chain(&op.results).copied()
}

/// The ways that no other one beats, whatever is around them, in their order.
fn undominated(costs: &[i64], matrices: &[(usize, Vec<i64>)]) -> Vec<usize> {
    let rows = |way: usize| {
        matrices.iter().map(move |(_, matrix)| {
            let width = matrix.len() / costs.len();
            &matrix[way * width..(way + 1) * width]
        })
    };
    let total = |way: usize| {
        let sum = rows(way).flatten().fold(0i128, |sum, &cost| sum + i128::from(cost));
        sum + i128::from(costs[way])
    };
    let mut order: Vec<(i128, usize)> = (0..costs.len()).map(|way| (total(way), way)).collect();
    // What beats another one costs no more in all.
    order.sort_unstable();
    let beats = |p: usize, q: usize| {
        costs[p] <= costs[q] && rows(p).zip(rows(q)).all(|(p, q)| p.iter().zip(q).all(|(p, q)| p <= q))
    };
    let mut kept: Vec<usize> = Vec::new();
    for (_, way) in order {
        if !kept.iter().any(|&other| beats(other, way)) {
            kept.push(way);
        }
    }
    kept.sort_unstable();
    kept
}

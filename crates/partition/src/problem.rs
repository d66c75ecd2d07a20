//! The problem as the solver takes it: strategy selection, as in Alpa (Zheng et al., OSDI 2022, section 4).
//!
//! ```text
//! op ───────────── tensor ───────────── op
//! ways    gives    states    wants     ways
//! ```
//!
//! A node for each op chooses a [`Way`], a node for each tensor how it is [`Stored`]. An edge from an op to what it makes costs
//! the conversion into the layout that is kept; an edge from a tensor to a reader costs the cheapest conversion from
//! anything that is kept; the copy itself is a cost of the tensor's node, so that all who read it pay once. Of tensors that
//! become one another, the edge joins their nodes.
//!
//! Ops that are alike and tensors of one type have the same choices, so their costs are made once.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_machine::Time;
use tofu_sharding::{Layout, Layouts};
use tofu_solver::{Invalid, Problem as Selection};

use crate::domain::{Domain, exchanged_stored};
use crate::graph::{Graph, Link, Op, OpKind, TensorId};
use crate::plan::Plan;
use crate::price::{Objective, Prices, TensorShape};
use crate::states::{Class, Stored, all_states, candidates, shape_of};
use crate::way::{Choices, Wanted, Way, combinations, ways};

/// Costs from here on count as forbidden.
pub(crate) const FORBIDDEN: i64 = 1_000_000_000_000_000_000;

/// Which states are allowed, besides: of a tensor, kept like that.
pub type Allowed<'f> = &'f dyn Fn(TensorId, Stored) -> bool;

/// What memory a tensor takes: when, if any.
pub type Lifetimes<'f> = &'f dyn Fn(TensorId) -> Option<[i64; 2]>;

/// What limits the choices.
pub struct Limits<'f> {
    /// Which states there are.
    pub domain: Domain<'f>,
    /// Of these, the ones that are allowed; of tensors in `pinned` only, the others are not asked about.
    pub allowed: Allowed<'f>,
    /// The tensors of which not everything is allowed, in ascending order.
    pub pinned: &'f [TensorId],
    /// Which ways of ops are allowed.
    pub allowed_ways: &'f dyn Fn(&Op, &Way) -> bool,
    /// Bytes that a device has, and when tensors occupy them; none if there is no limit.
    pub memory: Option<(u64, Lifetimes<'f>)>,
}

/// The problem of a graph.
#[derive(Debug)]
pub struct Problem<'a> {
    graph: &'a Graph<'a>,
    prices: &'a Prices<'a>,
    /// The lists of ways; which one an op has.
    ways: Vec<Vec<Way>>,
    ways_of: Vec<u32>,
    states: Vec<Vec<Stored>>,
    states_of: Vec<u32>,
    /// For the solver. Nodes are those ops that have a choice, then the tensors.
    pub selection: Selection,
    node_of_op: Vec<Option<u32>>,
    node_of_tensor: Vec<u32>,
}

impl<'a> Problem<'a> {
    /// Builds it.
    ///
    /// # Errors
    /// When the numbers are larger than a solver can take.
    pub fn new(graph: &'a Graph<'a>, prices: &'a Prices<'a>, limits: &Limits<'_>) -> Result<Problem<'a>, Invalid> {
        let limit = limits.memory.map_or(i64::MAX / 8, |(limit, _)| i64::try_from(limit).unwrap_or(i64::MAX).min(i64::MAX / 8));
        let problem = Problem {
            graph,
            prices,
            ways: Vec::new(),
            ways_of: Vec::new(),
            states: Vec::new(),
            states_of: Vec::new(),
            selection: Selection::new("partition", limit),
            node_of_op: Vec::new(),
            node_of_tensor: Vec::new(),
        };
        let mut build = Build {
            problem,
            limits,
            state_lists: FxHashMap::default(),
            way_lists: FxHashMap::default(),
            matrices: FxHashMap::default(),
            way_costs: FxHashMap::default(),
        };
        build.choose_states();
        build.choose_ways();
        build.nodes()?;
        build.edges()?;
        Ok(build.problem)
    }

    /// The plan of a choice for each node.
    pub fn plan(&self, choices: &[u32]) -> Plan {
        let stored = self.node_of_tensor.iter().enumerate().map(|(tensor, &node)| {
            self.states[self.states_of[tensor] as usize][choices[node as usize] as usize]
        });
        let ops = self.node_of_op.iter().enumerate().map(|(op, node)| match node {
            Some(node) => self.ways[self.ways_of[op] as usize][choices[*node as usize] as usize].choices,
            None => Choices::WHOLE,
        });
        Plan { mesh: self.prices.mesh.clone(), choices: ops.collect(), stored: stored.collect() }
    }

    /// The choice of each node that is this plan; none if the plan is not among the choices.
    pub fn choices(&self, plan: &Plan) -> Option<Vec<u32>> {
        let mut choices = vec![0; self.selection.nodes()];
        for (op, node) in self.node_of_op.iter().enumerate() {
            if let Some(node) = node {
                let list = &self.ways[self.ways_of[op] as usize];
                choices[*node as usize] = list.iter().position(|way| way.choices == plan.choices[op])? as u32;
            }
        }
        for (tensor, &node) in self.node_of_tensor.iter().enumerate() {
            let list = &self.states[self.states_of[tensor] as usize];
            choices[node as usize] = list.iter().position(|&stored| stored == plan.stored[tensor])? as u32;
        }
        Some(choices)
    }
}

/// What the ways of an op depend on, besides its profile.
#[derive(Clone, PartialEq, Eq, Hash)]
struct WayKey {
    info: u32,
    /// Which operands can be terms of sums.
    terms: u64,
    /// Of lists, which one.
    choices: Option<SmallVec<[Choices; 4]>>,
}

/// What the states of a tensor depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct StateKey {
    class: Class,
    stored: Option<SmallVec<[Stored; 4]>>,
}

struct Build<'a, 'l> {
    problem: Problem<'a>,
    limits: &'l Limits<'l>,
    state_lists: FxHashMap<StateKey, u32>,
    way_lists: FxHashMap<WayKey, u32>,
    /// Of an edge, by what it depends on.
    matrices: FxHashMap<MatrixKey, Vec<i64>>,
    way_costs: FxHashMap<(u32, u64, u64), Vec<i64>>,
}

/// What the costs of an edge depend on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct MatrixKey {
    /// What the rows are.
    rows: u32,
    kind: MatrixKind,
    /// The list of states that the columns are.
    columns: u32,
    times: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum MatrixKind {
    Gives(u32),
    Wants(u32),
    Becomes,
}

/// Every axis stays where it is.
static NO_EXCHANGE: [[u8; Layouts::MAX_AXES]; 1] = [[0, 1, 2, 3, 4, 5, 6, 7]];

/// The list of ways of what every device does as a whole.
const WHOLE_WAYS: u32 = u32::MAX;

impl<'l> Build<'_, 'l> {
    /// The exchanges of axes of which each edge takes the cheapest.
    fn exchanges(&self) -> &'l [[u8; Layouts::MAX_AXES]] {
        match self.limits.domain {
            Domain::All(symmetry) => symmetry.exchanges(),
            Domain::Listed(_) => &NO_EXCHANGE,
        }
    }

    fn choose_states(&mut self) {
        let graph = self.problem.graph;
        for (number, tensor) in graph.tensors.iter().enumerate() {
            let id = number as TensorId;
            let class = Class { ty: tensor.ty, partials: tensor.partials, has_copies: tensor.uses > 1 };
            let shape = shape_of(graph, id);
            let stored = match self.limits.domain {
                Domain::All(_) => None,
                Domain::Listed(lists) => Some(lists.stored[number].clone()),
            };
            let key = StateKey { class, stored };
            let list = match self.state_lists.get(&key) {
                Some(&list) => list,
                None => {
                    let states = match self.limits.domain {
                        Domain::All(symmetry) => all_states(self.problem.prices, class, shape, symmetry),
                        Domain::Listed(lists) => lists.stored[number].to_vec(),
                    };
                    self.problem.states.push(states);
                    let list = self.problem.states.len() as u32 - 1;
                    self.state_lists.insert(key, list);
                    list
                }
            };
            let list = if self.limits.pinned.binary_search(&id).is_ok() {
                let states = self.problem.states[list as usize].iter().copied();
                let allowed = states.filter(|&stored| (self.limits.allowed)(id, stored)).collect();
                self.problem.states.push(allowed);
                self.problem.states.len() as u32 - 1
            } else {
                list
            };
            self.problem.states_of.push(list);
        }
    }

    fn choose_ways(&mut self) {
        let graph = self.problem.graph;
        for (number, op) in graph.ops.iter().enumerate() {
            let OpKind::Described(info) = op.kind else {
                self.problem.ways_of.push(WHOLE_WAYS);
                continue;
            };
            let sum = 1u8;
            let has_terms = |operand: usize| {
                let tensor = op.operands.get(operand).copied().flatten();
                tensor.is_some_and(|tensor| graph.tensors[tensor as usize].partials & sum != 0)
            };
            let terms = (0..op.operands.len().min(64)).filter(|&operand| has_terms(operand));
            let terms = terms.fold(0, |bits, operand| bits | 1u64 << operand);
            let choices = match self.limits.domain {
                Domain::All(_) => None,
                Domain::Listed(lists) => Some(lists.choices[number].clone()),
            };
            let key = WayKey { info, terms, choices };
            let list = match self.way_lists.get(&key) {
                Some(&list) => list,
                None => {
                    let (info, mesh) = (&graph.infos[info as usize], &self.problem.prices.mesh);
                    let mut list = match self.limits.domain {
                        Domain::All(symmetry) => ways(info, mesh, &combinations(info, mesh, symmetry, &has_terms)),
                        Domain::Listed(lists) => ways(info, mesh, &lists.choices[number]),
                    };
                    list.retain(|way| (self.limits.allowed_ways)(op, way));
                    self.problem.ways.push(list);
                    let list = self.problem.ways.len() as u32 - 1;
                    self.way_lists.insert(key, list);
                    list
                }
            };
            self.problem.ways_of.push(list);
        }
    }

    fn nodes(&mut self) -> Result<(), Invalid> {
        let graph = self.problem.graph;
        for (number, op) in graph.ops.iter().enumerate() {
            let list = self.problem.ways_of[number];
            if list == WHOLE_WAYS {
                self.problem.node_of_op.push(None);
                continue;
            }
            let in_memory = |tensors: &[Option<TensorId>]| {
                let tensors = tensors.iter().take(64).enumerate();
                let there = tensors.filter(|(_, tensor)| tensor.is_some_and(|tensor| graph.tensors[tensor as usize].in_memory));
                there.fold(0u64, |bits, (place, _)| bits | 1 << place)
            };
            let (reads, writes) = (in_memory(&op.operands), in_memory(&op.results));
            let prices = self.problem.prices;
            let ways = &self.problem.ways[list as usize];
            let costs = self.way_costs.entry((list, reads, writes)).or_insert_with(|| {
                let Some(info) = graph.info(op) else { return Vec::new() };
                let bit = |bits: u64| move |place: usize| place >= 64 || bits >> place & 1 != 0;
                let price = |way: &Way| prices.way(info, way, &bit(reads), &bit(writes));
                ways.iter().map(|way| cost_of(price(way))).collect()
            });
            let costs: SmallVec<[i64; 16]> = costs.iter().map(|&cost| times(cost, op.times)).collect();
            let usages: SmallVec<[i64; 16]> = SmallVec::from_elem(0, costs.len());
            let node = self.problem.selection.add_node([0, 0], &costs, &usages)?;
            self.problem.node_of_op.push(Some(node as u32));
        }
        let results = results(graph);
        for (number, tensor) in graph.tensors.iter().enumerate() {
            let id = number as TensorId;
            let shape = shape_of(graph, id);
            let prices = self.problem.prices;
            let states = &self.problem.states[self.problem.states_of[number] as usize];
            let is_result = results.binary_search(&id).is_ok();
            let mut costs: SmallVec<[i64; 16]> = SmallVec::new();
            let mut usages: SmallVec<[i64; 16]> = SmallVec::new();
            for stored in states {
                let copy = stored.copy.map_or(0, |copy| prices.convert(shape, stored.first, copy));
                let mut cost = times(cost_of(copy), tensor.times);
                if is_result {
                    cost = add(cost, cost_of(resolve(prices, shape, *stored)));
                }
                let bytes = stored.bytes(&prices.mesh, shape);
                costs.push(add(cost, tie_break(prices, bytes)));
                usages.push(i64::try_from(bytes).unwrap_or(i64::MAX / 8));
            }
            let interval = self.limits.memory.and_then(|(_, lifetimes)| lifetimes(id));
            if interval.is_none() {
                usages.iter_mut().for_each(|usage| *usage = 0);
            }
            let node = self.problem.selection.add_node(interval.unwrap_or([0, 0]), &costs, &usages)?;
            self.problem.node_of_tensor.push(node as u32);
        }
        Ok(())
    }

    fn edges(&mut self) -> Result<(), Invalid> {
        let graph = self.problem.graph;
        for (number, op) in graph.ops.iter().enumerate() {
            let list = self.problem.ways_of[number];
            if op.kind == OpKind::Constant {
                continue;
            }
            for (place, result) in op.results.iter().enumerate() {
                if let Some(tensor) = *result {
                    self.edge(number, list, MatrixKind::Gives(place as u32), tensor, op.times)?;
                }
            }
            for (place, operand) in op.operands.iter().enumerate() {
                if let Some(tensor) = *operand {
                    self.edge(number, list, MatrixKind::Wants(place as u32), tensor, op.times)?;
                }
            }
        }
        for &Link { from, to, times } in &graph.links {
            self.link(from, to, times)?;
        }
        Ok(())
    }

    /// Between an op and an operand or a result. An op without a choice adds to the costs of the tensor: an edge to it.
    fn edge(&mut self, op: usize, list: u32, kind: MatrixKind, tensor: TensorId, weight: u64) -> Result<(), Invalid> {
        let graph = self.problem.graph;
        let columns = self.problem.states_of[tensor as usize];
        let prices = self.problem.prices;
        let shape = shape_of(graph, tensor);
        // Of what every device does as a whole, rows are the one way; costs depend on the type then.
        let key = MatrixKey { rows: list, kind, columns, times: weight };
        let whole = [whole_way(&graph.ops[op])];
        let exchanges = self.exchanges();
        let problem = &self.problem;
        let matrix = self.matrices.entry(key).or_insert_with(|| {
            let ways: &[Way] = if list == WHOLE_WAYS { &whole } else { &problem.ways[list as usize] };
            let states = &problem.states[columns as usize];
            let mut matrix = Vec::with_capacity(ways.len() * states.len());
            for way in ways {
                matrix.extend(states.iter().map(|&stored| {
                    let price = match kind {
                        MatrixKind::Gives(place) => {
                            let given = way.results.get(place as usize).copied().unwrap_or_default();
                            cheapest(exchanges, stored, |stored| prices.convert(shape, given, stored.first))
                        }
                        MatrixKind::Wants(place) => match way.operands.get(place as usize) {
                            Some(Some(wanted)) => {
                                cheapest(exchanges, stored, |stored| want(prices, shape, stored, wanted))
                            }
                            _ => 0,
                        },
                        MatrixKind::Becomes => 0,
                    };
                    times(cost_of(price), weight)
                }));
            }
            matrix
        });
        if matrix.iter().all(|&cost| cost == 0) {
            return Ok(());
        }
        let node = self.problem.node_of_tensor[tensor as usize] as usize;
        let op = match self.problem.node_of_op[op] {
            Some(node) => node as usize,
            None => {
                let node = self.problem.selection.add_node([0, 0], &[0], &[0])?;
                self.problem.node_of_op[op] = Some(node as u32);
                node
            }
        };
        self.problem.selection.add_edge(op, node, matrix)
    }

    fn link(&mut self, from: TensorId, to: TensorId, weight: u64) -> Result<(), Invalid> {
        let (rows, columns) = (self.problem.states_of[from as usize], self.problem.states_of[to as usize]);
        let key = MatrixKey { rows, kind: MatrixKind::Becomes, columns, times: weight };
        let problem = &self.problem;
        let shape = shape_of(problem.graph, from);
        let exchanges = self.exchanges();
        let matrix = self.matrices.entry(key).or_insert_with(|| {
            let mut matrix = Vec::new();
            for &source in &problem.states[rows as usize] {
                matrix.extend(problem.states[columns as usize].iter().map(|&target| {
                    let price = |target: Stored| becomes(problem.prices, shape, source, target.first);
                    times(cost_of(cheapest(exchanges, target, price)), weight)
                }));
            }
            matrix
        });
        let [a, b] = [from, to].map(|tensor| self.problem.node_of_tensor[tensor as usize] as usize);
        self.problem.selection.add_edge(a, b, matrix)
    }
}

/// The least of all exchanges of axes.
fn cheapest(exchanges: &[[u8; Layouts::MAX_AXES]], stored: Stored, price: impl Fn(Stored) -> u64) -> u64 {
    match exchanges {
        [_] => price(stored),
        _ => exchanges.iter().map(|exchange| price(exchanged_stored(stored, exchange))).min().unwrap_or(0),
    }
}

/// The one way of what every device does as a whole.
pub(crate) fn whole_way(op: &Op) -> Way {
    let wanted = Wanted { layouts: Layouts::REPLICATED, halo: SmallVec::new(), without: Layouts::REPLICATED };
    Way {
        choices: Choices::WHOLE,
        operands: op.operands.iter().map(|operand| operand.map(|_| wanted.clone())).collect(),
        results: op.results.iter().map(|_| Layouts::REPLICATED).collect(),
        own: SmallVec::new(),
        flops: 0,
        reads: SmallVec::new(),
        writes: SmallVec::new(),
    }
}

/// The least that it costs to have an operand as it is wanted.
pub(crate) fn want(prices: &Prices<'_>, shape: TensorShape<'_>, stored: Stored, wanted: &Wanted) -> u64 {
    stored.layouts().map(|layouts| prices.want(shape, layouts, wanted).0).min().unwrap_or(0)
}

/// The least that it costs to bring a tensor into a layout.
pub(crate) fn becomes(prices: &Prices<'_>, shape: TensorShape<'_>, stored: Stored, to: Layouts) -> u64 {
    stored.layouts().map(|layouts| prices.convert(shape, layouts, to)).min().unwrap_or(0)
}

/// What a result costs that is still partial: nobody else can reduce it.
pub(crate) fn resolve(prices: &Prices<'_>, shape: TensorShape<'_>, stored: Stored) -> u64 {
    if stored.layouts().any(|layouts| !layouts.is_partial()) {
        return 0;
    }
    resolved(prices, shape, stored).map_or(0, |(_, price)| price)
}

/// What terms become at the least cost, axis by axis the same unless it is partial there.
pub(crate) fn resolved(
    prices: &Prices<'_>,
    shape: TensorShape<'_>,
    stored: Stored,
) -> Option<(Layouts, u64)> {
    let axes = 0..prices.mesh.axes().len().min(Layouts::MAX_AXES);
    let is_partial = |axis: &usize| matches!(stored.first.on(*axis), Layout::Partial(_));
    let partial: SmallVec<[usize; 8]> = axes.filter(is_partial).collect();
    let to = candidates(&prices.mesh, shape.extents, 0, stored.first, &partial);
    to.into_iter().map(|to| (to, prices.convert(shape, stored.first, to))).min_by_key(|&(_, price)| price)
}

/// The results of the function, in ascending order.
pub(crate) fn results(graph: &Graph<'_>) -> Vec<TensorId> {
    let mut results: Vec<TensorId> = graph.results.iter().flatten().copied().collect();
    results.sort_unstable();
    results.dedup();
    results
}

/// Of plans that cost the same, the one that needs less memory is better: a picosecond for each MiB that tensors take. With
/// bytes as the objective nothing is added.
pub(crate) fn tie_break(prices: &Prices<'_>, bytes: u64) -> i64 {
    match prices.objective {
        Objective::Time => (bytes >> 20) as i64,
        Objective::Bytes => 0,
    }
}

pub(crate) fn cost_of(price: u64) -> i64 {
    i64::try_from(price).unwrap_or(FORBIDDEN).min(FORBIDDEN)
}

pub(crate) fn times(cost: i64, times: u64) -> i64 {
    cost.saturating_mul(i64::try_from(times).unwrap_or(i64::MAX)).min(FORBIDDEN)
}

pub(crate) fn add(a: i64, b: i64) -> i64 {
    a.saturating_add(b).min(FORBIDDEN)
}

/// A cost as a time, where the objective is time.
pub fn time_of(cost: i128) -> Time {
    Time::from_picoseconds(u64::try_from(cost).unwrap_or(u64::MAX))
}

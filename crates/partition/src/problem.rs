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
//!
//! Of plans that send the same bytes, the faster one is better, and the one that needs less memory. So bytes are multiplied with
//! a [scale](Problem::scale) that leaves room below them for the time of all kernels and all memory.

mod build;
mod rows;

use smallvec::SmallVec;
use tofu_sharding::Layouts;
use tofu_solver::{Invalid, Problem as Selection};

use crate::domain::Domain;
use crate::graph::{Graph, Op, TensorId};
use crate::plan::Plan;
use crate::price::{Objective, Prices};
use crate::states::Stored;
use crate::way::{Choices, Wanted, Way};
use build::Build;

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
    /// Bytes that a device has, and when tensors occupy them; none if there is no limit.
    pub memory: Option<(u64, Lifetimes<'f>)>,
    /// With bytes as the objective: whether time and memory break ties between plans that send the same bytes.
    pub ties: bool,
}

/// The problem of a graph.
#[derive(Debug)]
pub struct Problem<'a> {
    prices: &'a Prices<'a>,
    /// For the solver.
    pub selection: Selection,
    /// The lists of states, and which one each tensor has.
    states: Vec<Vec<Stored>>,
    states_of: Vec<u32>,
    /// The lists of ways, and which one each op has.
    ways: Vec<Vec<Choices>>,
    ways_of: Vec<u32>,
    /// The nodes of the tensors and of the ops; none of ops that have no say.
    node_of_tensor: Vec<u32>,
    node_of_op: Vec<Option<u32>>,
    entries: u64,
    scale: i64,
}

impl<'a> Problem<'a> {
    /// Builds it.
    ///
    /// # Errors
    /// When the numbers are larger than a solver can take.
    pub fn new(
        graph: &'a Graph<'a>,
        prices: &'a Prices<'a>,
        limits: &Limits<'_>,
    ) -> Result<Problem<'a>, Invalid> {
        Build::new(graph, prices, limits).run()
    }

    /// The entries of all matrices that were made, which is most of what building takes.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// What all costs are multiplied with: a plan costs the sum of its scaled costs divided by this, rounded down; the rest is
    /// what broke ties.
    pub fn scale(&self) -> i128 {
        self.scale.into()
    }

    /// The plan of a choice for each node.
    pub fn plan(&self, choices: &[u32]) -> Plan {
        let stored = self.node_of_tensor.iter().enumerate().map(|(tensor, &node)| {
            self.states[self.states_of[tensor] as usize][choices[node as usize] as usize]
        });
        let ops = self.node_of_op.iter().enumerate().map(|(op, node)| match node {
            Some(node) => self.ways[self.ways_of[op] as usize][choices[*node as usize] as usize],
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
                choices[*node as usize] =
                    list.iter().position(|&choices| choices == plan.choices[op])? as u32;
            }
        }
        for (tensor, &node) in self.node_of_tensor.iter().enumerate() {
            let list = &self.states[self.states_of[tensor] as usize];
            choices[node as usize] = list.iter().position(|&stored| stored == plan.stored[tensor])? as u32;
        }
        Some(choices)
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

/// Breaks ties between plans of the same time by memory: a picosecond for each MiB that tensors take. With bytes as the
/// objective it adds nothing: [`Limits::ties`] breaks ties there, below the scale.
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

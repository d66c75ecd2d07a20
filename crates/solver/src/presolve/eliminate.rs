//! Elimination of nodes that have no say in memory, by dynamic programming over the others' labels (bucket elimination;
//! R. Dechter, Artificial Intelligence 113, 1999; for nodes of degree up to two it is what register allocation by
//! partitioned boolean quadratic problems does, B. Scholz and E. Eckstein, LCTES 2002). A node that goes leaves a table of
//! the least that it and all its costs come to, for each choice of its neighbours:
//!
//! ```text
//!   a   c            a   c
//!    \ /              \ /
//!     n      ->        t        t(a, c, d) = min over n of cost(n) + m(a, n) + m(c, n) + m(n, d)
//!     |                |
//!     d                d
//! ```
//!
//! A table of one neighbour is a cost of it, one of two is an edge. Larger ones, which a model cannot hold, are made only
//! where they are gone again in the end. All of it is exact. Programs repeat themselves, layer by layer, and so do tables,
//! once their minimum is taken out of them: equal buckets are worked on once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::meter::Meter;
use crate::model::{Edge, Model, Parts, add, transpose};
use crate::pool::{MatrixId, Pool};

use super::lift::{Eliminated, Lift};
use super::order::{Limits, Order};
use super::table::{Bucket, Rest, Term};

/// Nodes of degree up to two, where the edge that stands for one stays small.
const NARROW: Limits = Limits { neighbours: 2, entries: 1 << 14, all: usize::MAX };

/// Whatever a table of 32 MiB can hold, and all of them in 256 MiB. A term has a bit for each neighbour.
const WIDE: Limits = Limits { neighbours: 64, entries: 1 << 22, all: 1 << 25 };

/// Eliminates nodes of degree 0, 1 and 2.
pub(super) fn narrow(model: Model) -> (Model, Option<Lift>) {
    let order = Order::of(&model, NARROW);
    // Few steps each: the work on all of them is that of looking at the model.
    eliminate(model, &order, NARROW.all, &mut Meter::new(u64::MAX, None))
}

/// Eliminates all nodes, through tables of any number of them, if limits and meter allow all of it. Half of it would leave what
/// is worse for everything that comes after: fewer nodes, but joined with each other.
pub(super) fn wide(model: Model, meter: &mut Meter) -> (Model, Option<Lift>) {
    let order = Order::of(&model, WIDE);
    if order.nodes.len() < model.nodes.len() {
        return (model, None);
    }
    match eliminate(model.clone(), &order, WIDE.all, meter) {
        (reduced, lift) if reduced.nodes.is_empty() => (reduced, lift),
        _ => (model, None),
    }
}

fn eliminate(model: Model, order: &Order, most: usize, meter: &mut Meter) -> (Model, Option<Lift>) {
    if order.nodes.is_empty() {
        return (model, None);
    }
    let before = model.nodes.len();
    let mut work = Work::of(model, order);
    let mut entries = 0;
    for &node in &order.nodes {
        if meter.done() || entries > most {
            break;
        }
        entries += work.eliminate(node, meter);
    }
    let (model, gone, tables) = work.finish();
    let lift = (!gone.is_empty()).then(|| Lift::Eliminate { before, gone, tables: Arc::new(tables) });
    (model, lift)
}

/// A table over some nodes.
struct Factor {
    /// In the order of elimination.
    scope: Vec<u32>,
    table: MatrixId,
    /// The step of the elimination that used it up.
    used: Option<usize>,
}

/// The elimination of one node.
struct Step {
    node: u32,
    scope: Vec<u32>,
    bucket: Arc<Bucket>,
    constant: i64,
    /// The table that it left, if that is about more than two nodes.
    left: Option<usize>,
}

struct Work<'a> {
    parts: Parts,
    /// All there are, also costs of nodes.
    tables: Pool,
    order: &'a Order,
    factors: Vec<Factor>,
    /// Per node: the factors whose scope it is the first of.
    buckets: Vec<Vec<usize>>,
    steps: Vec<Step>,
    known: FxHashMap<Arc<Bucket>, Rest>,
    /// Where tables are made.
    values: Vec<i64>,
}

impl<'a> Work<'a> {
    fn of(model: Model, order: &'a Order) -> Self {
        let Model { constant, nodes, edges, matrices: mut tables, slack, cliques } = model;
        let mut factors = Vec::with_capacity(edges.len() + order.nodes.len());
        let mut transposed: FxHashMap<(MatrixId, usize), MatrixId> = FxHashMap::default();
        for Edge { a, b, matrix } in edges {
            let factor = if order.position[a as usize] <= order.position[b as usize] {
                Factor { scope: vec![a, b], table: matrix, used: None }
            } else {
                let rows = nodes[a as usize].cost.len();
                let table = *transposed.entry((matrix, rows)).or_insert_with(|| {
                    let matrix = transpose(tables.get(matrix), rows);
                    tables.intern(&matrix)
                });
                Factor { scope: vec![b, a], table, used: None }
            };
            factors.push(factor);
        }
        let mut buckets = vec![Vec::new(); nodes.len()];
        for (number, factor) in factors.iter().enumerate() {
            buckets[factor.scope[0] as usize].push(number);
        }
        let parts = Parts { constant, nodes, edges: Vec::new(), matrices: Pool::new(), slack, cliques };
        let known = FxHashMap::default();
        Work { parts, tables, order, factors, buckets, steps: Vec::new(), known, values: Vec::new() }
    }

    /// Eliminates a node; gives how many entries of tables were made.
    fn eliminate(&mut self, node: u32, meter: &mut Meter) -> usize {
        meter.spend(64);
        let factors = std::mem::take(&mut self.buckets[node as usize]);
        let neighbours = factors.iter().flat_map(|&factor| &self.factors[factor].scope[1..]);
        let mut scope: Vec<u32> = neighbours.copied().collect();
        scope.sort_unstable_by_key(|&other| (self.order.position[other as usize], other));
        scope.dedup();
        let mut terms: Vec<Term> = factors.iter().map(|&factor| self.term(factor, &scope)).collect();
        terms.sort_unstable();
        let sizes = scope.iter().map(|&other| self.parts.nodes[other as usize].cost.len() as u32).collect();
        let own = self.tables.intern(&self.parts.nodes[node as usize].cost);
        let bucket = Bucket { own, sizes, terms };
        let mut made = 0;
        let (bucket, rest) = match self.known.get_key_value(&bucket) {
            Some((bucket, rest)) => (Arc::clone(bucket), *rest),
            None => {
                let rest = bucket.least(&mut self.tables, &mut self.values, meter);
                made = bucket.choices();
                let bucket = Arc::new(bucket);
                self.known.insert(Arc::clone(&bucket), rest);
                (bucket, rest)
            }
        };
        for factor in factors {
            self.factors[factor].used = Some(self.steps.len());
        }
        let left = rest.table.and_then(|table| self.pass_on(&scope, table));
        self.steps.push(Step { node, scope, bucket, constant: rest.constant, left });
        made
    }

    fn term(&self, factor: usize, scope: &[u32]) -> Term {
        let Factor { scope: own, table, .. } = &self.factors[factor];
        let bit = |other: &u32| scope.iter().position(|known| known == other).map_or(0, |place| 1 << place);
        Term { table: *table, neighbours: own[1..].iter().map(bit).fold(0, |all, bit: u64| all | bit) }
    }

    /// Adds a table to the costs of the nodes that it is about; gives which it is if no edge can hold it.
    fn pass_on(&mut self, scope: &[u32], table: MatrixId) -> Option<usize> {
        if let &[only] = scope {
            let costs = self.parts.nodes[only as usize].cost.iter_mut();
            costs.zip(self.tables.get(table)).for_each(|(cost, &more)| *cost = add(*cost, more));
            return None;
        }
        let number = self.factors.len();
        self.buckets[scope[0] as usize].push(number);
        self.factors.push(Factor { scope: scope.to_vec(), table, used: None });
        (scope.len() > 2).then_some(number)
    }

    /// Takes back the steps whose tables no edge can hold and no other step used up; gives the model, the other ones,
    /// and all tables.
    fn finish(mut self) -> (Model, Vec<Eliminated>, Pool) {
        let mut holds = vec![false; self.steps.len()];
        for (number, step) in self.steps.iter().enumerate().rev() {
            let used = |factor: usize| self.factors[factor].used.is_some_and(|by| holds[by]);
            holds[number] = step.left.is_none_or(used);
        }
        let mut here = vec![true; self.parts.nodes.len()];
        let mut gone = Vec::new();
        for (step, _) in self.steps.into_iter().zip(&holds).filter(|(_, holds)| **holds) {
            here[step.node as usize] = false;
            self.parts.constant = add(self.parts.constant, step.constant);
            gone.push(Eliminated { node: step.node, neighbours: step.scope, bucket: step.bucket });
        }
        let mut numbers = vec![0; here.len()];
        let mut next = 0;
        for (number, &here) in numbers.iter_mut().zip(&here) {
            *number = next;
            next += u32::from(here);
        }
        let mut stays = here.iter().copied();
        self.parts.nodes.retain(|_| stays.next() == Some(true));
        let mut copied: FxHashMap<MatrixId, MatrixId> = FxHashMap::default();
        for factor in self.factors.iter().filter(|factor| factor.used.is_none_or(|by| !holds[by])) {
            if let &[a, b] = &factor.scope[..] {
                let (a, b) = (numbers[a as usize], numbers[b as usize]);
                let table = self.tables.get(factor.table);
                let matrices = &mut self.parts.matrices;
                let matrix = *copied.entry(factor.table).or_insert_with(|| matrices.intern(table));
                self.parts.edges.push(Edge { a, b, matrix });
            }
        }
        (self.parts.assemble(), gone, self.tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FORBIDDEN, Node};

    /// Whatever the limits, the least cost stays what it is, and the choice that has it comes back: also where tables are
    /// given up half way.
    #[test]
    fn optima_stay_under_any_limits() {
        let (mut gone, mut kept) = (0, 0);
        for seed in 0..1500 {
            let mut random = fastrand::Rng::with_seed(seed);
            let model = random_model(&mut random);
            let before = optimum(&model);
            let limits = Limits {
                neighbours: random.usize(0..=5),
                entries: random.usize(1..=60),
                all: random.usize(1..=200),
            };
            let order = Order::of(&model, limits);
            let mut meter = Meter::new(random.u64(1..2000), None);
            let (reduced, lift) = eliminate(model.clone(), &order, limits.all, &mut meter);
            let after = optimum(&reduced);
            assert_eq!(after.0, before.0, "seed {seed}");
            let Some(lift) = lift else { continue };
            gone += model.nodes.len() - reduced.nodes.len();
            kept += reduced.nodes.len();
            let choice = lift.lift(&after.1);
            assert_eq!(model.cost(&choice), before.0, "seed {seed}");
            let projected = lift.project(&choice).unwrap();
            assert_eq!(reduced.cost(&projected), before.0, "seed {seed}");
        }
        assert!(gone > 1000 && kept > 1000, "{gone} gone, {kept} kept");
    }

    fn random_model(random: &mut fastrand::Rng) -> Model {
        let count = random.usize(2..=7);
        let mut draw = |most: usize| -> Vec<i64> {
            (0..most).map(|_| if random.u8(..6) == 0 { FORBIDDEN } else { random.i64(0..20) }).collect()
        };
        let sizes: Vec<usize> = draw(count).iter().map(|&size| 1 + (size % 3) as usize).collect();
        let nodes = sizes.iter().map(|&size| Node { cost: draw(size), pieces: Vec::new() }).collect();
        let mut matrices = Pool::new();
        let mut edges = Vec::new();
        for (a, &rows) in sizes.iter().enumerate() {
            for (b, &columns) in sizes.iter().enumerate().skip(a + 1) {
                if draw(1)[0] < 9 {
                    edges.push(Edge {
                        a: a as u32,
                        b: b as u32,
                        matrix: matrices.intern(&draw(rows * columns)),
                    });
                }
            }
        }
        Parts { constant: 3, nodes, edges, matrices, slack: Vec::new(), cliques: Vec::new() }.assemble()
    }

    /// The least cost of all choices, and the first that has it.
    fn optimum(model: &Model) -> (i64, Vec<u32>) {
        let sizes: Vec<usize> = model.nodes.iter().map(|node| node.cost.len()).collect();
        let choices = (0..sizes.iter().product()).map(|place: usize| {
            let mut left = place;
            let digit = |&size: &usize| {
                let digit = (left % size) as u32;
                left /= size;
                digit
            };
            sizes.iter().map(digit).collect::<Vec<u32>>()
        });
        choices.map(|choice| (model.cost(&choice), choice)).min().unwrap()
    }
}

//! Kinds of nodes whose neighbourhoods are equal, so that message passing can run on one node of each kind.
//!
//! Programs repeat layers, and inside a stack of equal layers the messages converge to the same values in each. Two nodes
//! are of one kind if colour refinement cannot tell them apart within [`DISTANCE`] links (linear programs fold along these
//! kinds: M. Grohe, K. Kersting, M. Mladenov and E. Selman, Dimension reduction via colour refinement, ESA 2014).
//! Refinement stops before it is stable, so nodes of one kind may differ further away, at the ends of a stack: messages that
//! are copied from one to the other are then not the best ones. Any messages give a valid bound, only a lower one.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::model::Model;

use super::graph::{Direction, Graph};

/// How far nodes of one kind look alike, in links.
const DISTANCE: usize = 4;

/// The kinds of nodes of a graph.
#[derive(Debug)]
pub(crate) struct Folding {
    /// Per node: the one that stands for its kind.
    stands_for: Vec<u32>,
    /// Per node that stands for a kind: all of that kind.
    members: Vec<Vec<u32>>,
    /// Per node: its links in an order that is the same for all of a kind.
    links: Vec<Vec<u32>>,
    /// What one pass over all kinds costs, in matrix entries and labels.
    pub(crate) work: u64,
}

impl Folding {
    /// The kinds of a graph of nodes without a say in memory, if there are at most half as many as nodes.
    pub(crate) fn of(model: &Model, graph: &Graph) -> Option<Folding> {
        let nodes = graph.nodes();
        let mut colours: Vec<u64> =
            (0..nodes).map(|node| hash(|hasher| model.nodes[node].cost.hash(hasher))).collect();
        // The colours of the last round but one: what tells the links of a node apart.
        let mut before = Vec::new();
        for _ in 0..DISTANCE {
            before = std::mem::take(&mut colours);
            colours = (0..nodes as u32)
                .map(|node| {
                    let mut around: Vec<(usize, u8, u64)> = (graph.links(node).iter())
                        .map(|link| (link.matrix, link.direction as u8, before[link.other as usize]))
                        .collect();
                    around.sort_unstable();
                    hash(|hasher| (before[node as usize], around).hash(hasher))
                })
                .collect();
        }
        let links: Vec<Vec<u32>> = (0..nodes as u32)
            .map(|node| {
                let all = graph.links(node);
                let mut order: Vec<u32> = (0..all.len() as u32).collect();
                let key = |&link: &u32| {
                    let link = &all[link as usize];
                    (link.matrix, link.direction as u8, before[link.other as usize])
                };
                order.sort_by_key(key);
                order
            })
            .collect();
        let mut kinds: Vec<Vec<u32>> = Vec::new();
        let mut known: FxHashMap<u64, usize> = FxHashMap::default();
        for (node, &colour) in colours.iter().enumerate() {
            let kind = *known.entry(colour).or_insert(kinds.len());
            if kind == kinds.len() {
                kinds.push(Vec::new());
            }
            kinds[kind].push(node as u32);
        }
        if 2 * kinds.len() > nodes {
            return None;
        }
        let shape = |node: u32| {
            let all = graph.links(node);
            let links = links[node as usize].iter().map(|&link| &all[link as usize]);
            let links: Vec<_> = links.map(|link| (link.matrix, link.direction)).collect();
            (graph.labels(node).len(), links)
        };
        let mut folding = Folding {
            stands_for: (0..nodes as u32).collect(),
            members: vec![Vec::new(); nodes],
            work: 0,
            links: Vec::new(),
        };
        for kind in kinds {
            // One in the middle of a stack is like most of the others.
            let middle = kind[kind.len() / 2];
            let like = shape(middle);
            for node in kind {
                // Should the hashes of two colours collide, a node stands for itself.
                let by = if shape(node) == like { middle } else { node };
                folding.stands_for[node as usize] = by;
                folding.members[by as usize].push(node);
            }
        }
        let work = |node: u32| {
            let labels = graph.labels(node).len();
            let around = graph.links(node).iter().map(|link| labels * graph.labels(link.other).len() + 8);
            (labels + around.sum::<usize>()) as u64
        };
        folding.work = (0..nodes as u32).filter(|&node| folding.stands_for(node)).map(work).sum();
        folding.links = links;
        Some(folding)
    }

    /// Whether a node stands for its kind.
    pub(crate) fn stands_for(&self, node: u32) -> bool {
        self.stands_for[node as usize] == node
    }

    /// How many nodes this one stands for.
    pub(crate) fn count(&self, node: u32) -> usize {
        self.members[node as usize].len()
    }

    /// Gives all of its kind what a node has passed on in a direction.
    pub(crate) fn spread(&self, graph: &Graph, node: u32, direction: Direction, messages: &mut [f64]) {
        let from = graph.links(node);
        for (place, &link) in self.links[node as usize].iter().enumerate() {
            let link = &from[link as usize];
            if link.direction != direction {
                continue;
            }
            let width = graph.labels(link.other).len();
            for &other in self.members[node as usize].iter().filter(|&&other| other != node) {
                let to = &graph.links(other)[self.links[other as usize][place] as usize];
                messages.copy_within(link.outbound..link.outbound + width, to.outbound);
            }
        }
    }
}

fn hash(write: impl FnOnce(&mut FxHasher)) -> u64 {
    let mut hasher = FxHasher::default();
    write(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Ascent;
    use crate::meter::Meter;
    use crate::model::{Edge, Node, Parts};
    use crate::pool::Pool;
    use crate::presolve::Reduced;

    /// Layers of equal random costs, each node joined with one of its own layer and two of the next.
    fn layers(random: &mut fastrand::Rng, count: usize) -> Model {
        const WIDTH: usize = 3;
        const LABELS: usize = 4;
        let mut matrices = Pool::new();
        let costs: Vec<Vec<i64>> =
            (0..WIDTH).map(|_| (0..LABELS).map(|_| random.i64(0..100)).collect()).collect();
        let mut draw = || {
            let matrix: Vec<i64> = (0..LABELS * LABELS).map(|_| random.i64(0..100)).collect();
            matrices.intern(&matrix)
        };
        let within: Vec<_> = (0..WIDTH).map(|_| draw()).collect();
        let across: Vec<_> = (0..2 * WIDTH).map(|_| draw()).collect();
        let mut edges = Vec::new();
        for layer in 0..count {
            let at = |layer: usize, place: usize| (layer * WIDTH + place % WIDTH) as u32;
            for place in 0..WIDTH {
                let mut join = |a: u32, b: u32, matrix| edges.push(Edge { a, b, matrix });
                join(at(layer, place), at(layer, place + 1), within[place]);
                if layer + 1 < count {
                    join(at(layer, place), at(layer + 1, place), across[place]);
                    join(at(layer, place), at(layer + 1, place + 1), across[WIDTH + place]);
                }
            }
        }
        let nodes = (0..count).flat_map(|_| &costs);
        let nodes = nodes.map(|cost| Node { cost: cost.clone(), pieces: Vec::new() }).collect();
        Parts { constant: 0, nodes, edges, matrices, slack: Vec::new(), cliques: Vec::new() }.assemble()
    }

    /// Messages that settled on one layer bound the cost of all of them nearly as well as those of every layer, at a small part
    /// of the work; and no bound is above the least cost.
    #[test]
    fn one_layer_bounds_all_layers() {
        for seed in 0..20 {
            let mut random = fastrand::Rng::with_seed(seed);
            let model = layers(&mut random, 60);
            let mut exact = Reduced::new(model.clone(), None);
            exact.reduce(i64::MAX).unwrap();
            exact.eliminate(i64::MAX, &mut Meter::new(u64::MAX, None)).unwrap();
            assert!(exact.model.nodes.is_empty());
            let least = exact.model.constant;

            let mut graph = Graph::of(&model, 1e9);
            let folding = graph.folding.as_ref().expect("layers repeat");
            assert!(folding.work * 4 < graph.work, "seed {seed}: {} of {}", folding.work, graph.work);
            let bound = |graph: &Graph, steps: usize| {
                let mut ascent = Ascent::new(&model, graph);
                let mut meter = Meter::new(u64::MAX, None);
                ascent.run(&model, graph, None, f64::INFINITY, steps, &mut meter);
                ascent.certify(&model, graph, None).bound
            };
            let none = Ascent::new(&model, &graph).certify(&model, &graph, None).bound;
            // No step on all nodes follows the first ones on one of each kind.
            let folded = bound(&graph, 0);
            graph.folding = None;
            let full = bound(&graph, 500);
            assert!(folded <= least && full <= least, "seed {seed}: {folded}, {full}, {least}");
            let part = (folded - none) as f64 / (full - none) as f64;
            assert!(part > 0.9, "seed {seed}: {none}, {folded}, {full}");
        }
    }
}

//! In which order nodes are eliminated, before any table is made: always one whose elimination joins the fewest pairs of its
//! neighbours that were not joined before (minimum fill; U. Kjærulff, Triangulation of graphs, 1990), of these one with the
//! smallest table. On programs, whose graphs are long and narrow, that takes a fraction of the entries of the order by
//! the size of tables alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::model::Model;

/// What may be eliminated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The neighbours that a node may have when it goes.
    pub(super) neighbours: usize,
    /// The entries of the table over these neighbours' labels.
    pub(super) entries: usize,
    /// The entries of all tables together.
    pub(super) all: usize,
}

/// An order of elimination.
pub(super) struct Order {
    /// Nodes, the first to go first.
    pub(super) nodes: Vec<u32>,
    /// Where each node stands in the order; those that stay come last.
    pub(super) position: Vec<u32>,
}

/// The position of what stays.
const STAYS: u32 = u32::MAX;

impl Order {
    /// The order in which nodes without a say in memory can go.
    pub(super) fn of(model: &Model, limits: Limits) -> Order {
        let mut graph = Graph::of(model);
        let mut order = Order { nodes: Vec::new(), position: vec![STAYS; model.nodes.len()] };
        let can_go: Vec<bool> = model.nodes.iter().map(|node| node.pieces.is_empty()).collect();
        let entries = weight_of(limits.entries);
        let key = |graph: &Graph, node: u32| {
            let index = node as usize;
            let fits = graph.neighbours[index].len() <= limits.neighbours && graph.weights[index] <= entries;
            (can_go[index] && fits).then(|| (graph.fill(index), graph.weights[index]))
        };
        let mut queue: BinaryHeap<Reverse<((usize, u64), u32)>> = (0..model.nodes.len() as u32)
            .filter_map(|node| Some(Reverse((key(&graph, node)?, node))))
            .collect();
        while let Some(Reverse((before, node))) = queue.pop() {
            if order.position[node as usize] != STAYS {
                continue;
            }
            // What is joined elsewhere changes a node's fill without a word.
            match key(&graph, node) {
                Some(now) if now <= before => {}
                Some(now) => {
                    queue.push(Reverse((now, node)));
                    continue;
                }
                None => continue,
            }
            order.position[node as usize] = order.nodes.len() as u32;
            order.nodes.push(node);
            let neighbours = graph.eliminate(node);
            queue.extend(neighbours.iter().filter_map(|&other| Some(Reverse((key(&graph, other)?, other)))));
        }
        order
    }
}

/// Weights are logarithms of numbers of labels, so that those of a table add up; integers, so that they do exactly.
fn weight_of(labels: usize) -> u64 {
    ((labels.max(1) as f64).log2() * f64::from(1 << 20)).ceil() as u64
}

/// Who is joined with whom while nodes go.
struct Graph {
    /// In ascending order.
    neighbours: Vec<Vec<u32>>,
    own: Vec<u64>,
    /// Of the table over each node's neighbours.
    weights: Vec<u64>,
}

impl Graph {
    fn of(model: &Model) -> Graph {
        let mut neighbours = vec![Vec::new(); model.nodes.len()];
        for edge in &model.edges {
            neighbours[edge.a as usize].push(edge.b);
            neighbours[edge.b as usize].push(edge.a);
        }
        let own: Vec<u64> = model.nodes.iter().map(|node| weight_of(node.cost.len())).collect();
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let weight = |list: &Vec<u32>| list.iter().map(|&other| own[other as usize]).sum();
        let weights = neighbours.iter().map(weight).collect();
        Graph { neighbours, own, weights }
    }

    /// How many pairs of a node's neighbours are not joined.
    fn fill(&self, node: usize) -> usize {
        let list = &self.neighbours[node];
        let apart = |(place, &one): (usize, &u32)| {
            let known = &self.neighbours[one as usize];
            list[place + 1..].iter().filter(|&other| known.binary_search(other).is_err()).count()
        };
        list.iter().enumerate().map(apart).sum()
    }

    /// Joins the neighbours of a node, and gives them.
    fn eliminate(&mut self, node: u32) -> Vec<u32> {
        let neighbours = std::mem::take(&mut self.neighbours[node as usize]);
        for &one in &neighbours {
            let list = &mut self.neighbours[one as usize];
            let weight = &mut self.weights[one as usize];
            if let Ok(place) = list.binary_search(&node) {
                list.remove(place);
                *weight -= self.own[node as usize];
            }
            for &other in neighbours.iter().filter(|&&other| other != one) {
                if let Err(place) = list.binary_search(&other) {
                    list.insert(place, other);
                    *weight += self.own[other as usize];
                }
            }
        }
        neighbours
    }
}

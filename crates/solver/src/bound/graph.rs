//! The form of a model that message passing runs on: every cost in floating point, every matrix in both orientations,
//! nodes in a fixed order, and the trees that hang off the cyclic core told apart from it.

use rustc_hash::FxHashMap;

use crate::model::{Adjacency, FORBIDDEN, Model};

use super::fold::Folding;

/// What a node's arc is to the passes over the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From a node of a tree towards the core: the one arc over which it passes everything on.
    Up,
    /// The same arc's other end.
    Down,
    /// Within the core, to a later node.
    Forward,
    /// Within the core, to an earlier node.
    Backward,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) other: u32,
    /// The matrix with this node's labels as rows, as a start in [`Graph::entries`].
    pub(crate) matrix: usize,
    /// Where the message into this node over this link starts.
    pub(crate) inbound: usize,
    /// Where the message into the other node starts.
    pub(crate) outbound: usize,
    /// The position of the same link among those of the other node.
    pub(crate) twin: u32,
    pub(crate) direction: Direction,
}

/// Costs below this are exact in floating point, with bits to spare for sums.
const LARGEST: f64 = (1i64 << 51) as f64;

#[derive(Debug)]
pub(crate) struct Graph {
    /// Stands for a forbidden cost.
    pub(crate) infinite: f64,
    /// Each node's first label in arrays over all labels; one more at the end.
    pub(crate) starts: Vec<usize>,
    pub(crate) entries: Vec<f64>,
    link_starts: Vec<usize>,
    links: Vec<Link>,
    /// Length of the array of all messages.
    pub(crate) message_length: usize,
    /// Nodes of trees, outermost first.
    pub(crate) trees: Vec<u32>,
    /// Nodes of the core in order.
    pub(crate) core: Vec<u32>,
    /// The share that a core node passes to each backward (and forward) link.
    pub(crate) share: Vec<f64>,
    /// What one sweep costs, in matrix entries and labels.
    pub(crate) work: u64,
    /// Nodes of one kind, if there are many.
    pub(crate) folding: Option<Folding>,
}

impl Graph {
    /// Forbidden entries become `infinite`, which any bound below it survives.
    pub(crate) fn of(model: &Model, infinite: f64) -> Graph {
        let infinite = infinite.clamp(1.0, LARGEST);
        let adjacency = Adjacency::of(model);
        let count = model.nodes.len();
        let mut starts = vec![0; count + 1];
        for (node, labels) in model.nodes.iter().enumerate() {
            starts[node + 1] = starts[node] + labels.cost.len();
        }
        let size = |node: u32| starts[node as usize + 1] - starts[node as usize];
        let (trees, parent) = peel(&adjacency, count);
        let mut in_tree = vec![false; count];
        for &node in &trees {
            in_tree[node as usize] = true;
        }
        let core: Vec<u32> = (0..count as u32).filter(|&node| !in_tree[node as usize]).collect();
        let mut graph = Graph {
            infinite,
            starts: Vec::new(),
            entries: Vec::new(),
            link_starts: vec![0],
            links: Vec::with_capacity(model.edges.len() * 2),
            message_length: 0,
            trees,
            core,
            share: vec![0.0; count],
            work: 0,
            folding: None,
        };
        let mut known: FxHashMap<(u32, usize, bool), usize> = FxHashMap::default();
        // The message into the lower node of an edge, then the one into the higher.
        let mut messages = Vec::with_capacity(model.edges.len());
        for edge in &model.edges {
            let into_a = graph.message_length;
            let into_b = into_a + size(edge.a);
            graph.message_length = into_b + size(edge.b);
            graph.work += 2 * (size(edge.a) * size(edge.b)) as u64 + 16;
            messages.push([into_a, into_b]);
        }
        graph.work += starts[count] as u64;
        let mut ends = vec![[0; 2]; model.edges.len()];
        for node in 0..count {
            let (mut forward, mut backward) = (0, 0);
            for arc in adjacency.at(node) {
                let edge = &model.edges[arc.edge as usize];
                let is_a = edge.a as usize == node;
                let (rows, columns) = (size(node as u32), size(arc.other));
                let matrix = *known.entry((edge.matrix, rows, is_a)).or_insert_with(|| {
                    let start = graph.entries.len();
                    let values = model.matrices.get(edge.matrix);
                    for row in 0..rows {
                        for column in 0..columns {
                            let entry = row * arc.stride as usize + column * arc.other_stride as usize;
                            let cost = values[entry];
                            graph.entries.push(if cost >= FORBIDDEN {
                                infinite
                            } else {
                                (cost as f64).min(infinite)
                            });
                        }
                    }
                    start
                });
                let direction = if parent[node] == Some(arc.edge) {
                    Direction::Up
                } else if parent[arc.other as usize] == Some(arc.edge) {
                    Direction::Down
                } else if arc.other as usize > node {
                    forward += 1;
                    Direction::Forward
                } else {
                    backward += 1;
                    Direction::Backward
                };
                let [into_a, into_b] = messages[arc.edge as usize];
                let (inbound, outbound) = if is_a { (into_a, into_b) } else { (into_b, into_a) };
                let position = (graph.links.len() - graph.link_starts[node]) as u32;
                ends[arc.edge as usize][usize::from(!is_a)] = position;
                graph.links.push(Link {
                    other: arc.other,
                    matrix,
                    inbound,
                    outbound,
                    twin: arc.edge,
                    direction,
                });
            }
            graph.link_starts.push(graph.links.len());
            graph.share[node] = 1.0 / f64::from(forward.max(backward).max(1));
        }
        for node in 0..count {
            for link in &mut graph.links[graph.link_starts[node]..graph.link_starts[node + 1]] {
                let edge = link.twin as usize;
                let is_a = model.edges[edge].a as usize == node;
                link.twin = ends[edge][usize::from(is_a)];
            }
        }
        graph.starts = starts;
        if model.slack.is_empty() {
            graph.folding = Folding::of(model, &graph);
        }
        graph
    }

    pub(crate) fn links(&self, node: u32) -> &[Link] {
        &self.links[self.link_starts[node as usize]..self.link_starts[node as usize + 1]]
    }

    pub(crate) fn labels(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize]..self.starts[node as usize + 1]
    }

    pub(crate) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Nodes of degree at most 1, again and again; with each its edge to what remains.
fn peel(adjacency: &Adjacency, count: usize) -> (Vec<u32>, Vec<Option<u32>>) {
    let mut degree: Vec<usize> = (0..count).map(|node| adjacency.at(node).len()).collect();
    let mut peeled = vec![false; count];
    let mut parent = vec![None; count];
    let mut order: Vec<u32> = Vec::new();
    let mut stack: Vec<u32> = (0..count as u32).rev().filter(|&node| degree[node as usize] <= 1).collect();
    while let Some(node) = stack.pop() {
        if std::mem::replace(&mut peeled[node as usize], true) {
            continue;
        }
        order.push(node);
        for arc in adjacency.at(node as usize).iter().filter(|arc| !peeled[arc.other as usize]) {
            parent[node as usize] = Some(arc.edge);
            let other = arc.other as usize;
            degree[other] -= 1;
            if degree[other] <= 1 {
                stack.push(arc.other);
            }
        }
    }
    (order, parent)
}

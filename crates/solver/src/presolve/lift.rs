//! The way back from a reduced model: what each kind of step did to the nodes and their labels.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::model::{Edge, FORBIDDEN, Model, Node, Parts, Piece, add};
use crate::pool::{MatrixId, Pool};

use super::table::Bucket;

/// How a step's choices map to those of the model before it.
#[derive(Clone, Debug)]
pub(crate) enum Lift {
    /// Each node before: the node that it became (part of), and per label of that node its own label.
    Map(Vec<(u32, Vec<u32>)>),
    /// Nodes that went, in order, out of `before` nodes; the others moved up.
    Eliminate { before: usize, gone: Vec<Eliminated>, tables: Arc<Pool> },
}

/// A node that takes its best label given its neighbours'.
#[derive(Clone, Debug)]
pub(crate) struct Eliminated {
    pub(crate) node: u32,
    pub(crate) neighbours: Vec<u32>,
    pub(crate) bucket: Arc<Bucket>,
}

impl Lift {
    pub(super) fn lift(&self, choice: &[u32]) -> Vec<u32> {
        match self {
            Lift::Map(map) => {
                let label = |(node, labels): &(u32, Vec<u32>)| labels[choice[*node as usize] as usize];
                map.iter().map(label).collect()
            }
            Lift::Eliminate { before, gone, tables } => {
                let mut full = vec![0; *before];
                for (node, &label) in survivors(*before, gone).zip(choice) {
                    full[node] = label;
                }
                for eliminated in gone.iter().rev() {
                    let labels = eliminated.neighbours.iter().map(|&other| full[other as usize]);
                    let labels: Vec<u32> = labels.collect();
                    full[eliminated.node as usize] = eliminated.bucket.best(tables, &labels);
                }
                full
            }
        }
    }

    pub(super) fn project(&self, choice: &[u32]) -> Option<Vec<u32>> {
        match self {
            Lift::Map(map) => {
                let nodes = map.iter().map(|(node, _)| *node as usize + 1).max().unwrap_or(0);
                // Nodes that were contracted into one agree on the labels that match all of them.
                let mut projected: Vec<Option<Vec<u32>>> = vec![None; nodes];
                for ((node, labels), &label) in map.iter().zip(choice) {
                    let fits = |&candidate: &u32| labels[candidate as usize] == label;
                    let slot = &mut projected[*node as usize];
                    match slot {
                        Some(candidates) => candidates.retain(fits),
                        None => *slot = Some((0..labels.len() as u32).filter(fits).collect()),
                    }
                }
                projected.into_iter().map(|candidates| candidates?.first().copied()).collect()
            }
            Lift::Eliminate { before, gone, .. } => {
                Some(survivors(*before, gone).map(|node| choice[node]).collect())
            }
        }
    }
}

fn survivors(before: usize, gone: &[Eliminated]) -> impl Iterator<Item = usize> {
    let mut here = vec![true; before];
    for eliminated in gone {
        here[eliminated.node as usize] = false;
    }
    (0..before).filter(move |&node| here[node])
}

/// Keeps the labels that are alive.
pub(super) fn restrict(model: Model, alive: &[Vec<bool>]) -> (Model, Option<Lift>) {
    let kept =
        |labels: &Vec<bool>| (0..labels.len() as u32).filter(|&label| labels[label as usize]).collect();
    let map = alive.iter().enumerate().map(|(node, labels)| (node as u32, kept(labels))).collect();
    relabel(model, map)
}

/// Maps nodes and labels as [`Lift::Map`] says. Nodes may become part of one.
pub(super) fn relabel(model: Model, map: Vec<(u32, Vec<u32>)>) -> (Model, Option<Lift>) {
    let count = map.iter().map(|(node, _)| *node as usize + 1).max().unwrap_or(0);
    let mut nodes = vec![Node::default(); count];
    for (old, (node, labels)) in model.nodes.iter().zip(&map) {
        let node = &mut nodes[*node as usize];
        node.cost.resize(labels.len(), 0);
        for (cost, &label) in node.cost.iter_mut().zip(labels) {
            *cost = add(*cost, old.cost[label as usize]);
        }
        node.pieces.extend(old.pieces.iter().map(|piece| Piece {
            usage: labels.iter().map(|&label| piece.usage[label as usize]).collect(),
            ..*piece
        }));
    }
    let mut names = Names::default();
    let signatures: Vec<u32> = map.iter().map(|(_, labels)| names.of(labels)).collect();
    let mut matrices = Pool::new();
    let mut known: FxHashMap<(MatrixId, u32, u32), MatrixId> = FxHashMap::default();
    let mut edges = Vec::with_capacity(model.edges.len());
    for edge in &model.edges {
        let ((a, rows), (b, columns)) = (&map[edge.a as usize], &map[edge.b as usize]);
        let key = (edge.matrix, signatures[edge.a as usize], signatures[edge.b as usize]);
        let matrix = *known.entry(key).or_insert_with(|| {
            let old = model.matrices.get(edge.matrix);
            let width = model.nodes[edge.b as usize].cost.len();
            let entry = |row: u32, column: u32| old[row as usize * width + column as usize];
            let new: Vec<i64> =
                rows.iter().flat_map(|&row| columns.iter().map(move |&column| entry(row, column))).collect();
            matrices.intern(&new)
        });
        edges.push(Edge { a: *a, b: *b, matrix });
    }
    let Model { constant, slack, cliques, .. } = model;
    (Parts { constant, nodes, edges, matrices, slack, cliques }.assemble(), Some(Lift::Map(map)))
}

/// Numbers for distinct lists of labels.
#[derive(Default)]
struct Names<'a>(FxHashMap<&'a [u32], u32>);

impl<'a> Names<'a> {
    fn of(&mut self, labels: &'a [u32]) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(labels).or_insert(next)
    }
}

/// Whether an entry is one that no choice below the cut can use.
pub(super) fn usable(model: &Model, a: i64, b: i64, entry: i64, cut: i64) -> bool {
    // Each is at most FORBIDDEN = 2^60, so the sum stays within 2^62.
    entry < FORBIDDEN && model.constant + a + b + entry < cut
}

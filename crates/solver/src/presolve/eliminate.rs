//! Elimination of nodes that have no say in memory, as register allocation by partitioned boolean quadratic problems does
//! (B. Scholz and E. Eckstein, LCTES 2002): a node of degree 0 takes its best label, one of degree 1 becomes a cost of
//! its neighbour, one of degree 2 an edge between its neighbours. All three are exact.

use crate::model::{Edge, FORBIDDEN, Model, Parts, add, transpose};

use super::lift::{Eliminated, Lift};

/// Entries up to which an edge between two neighbours is made.
const LARGEST: usize = 1 << 14;

pub(super) fn eliminate(model: Model) -> (Model, Option<Lift>) {
    let before = model.nodes.len();
    let mut work = Work::of(model);
    let mut stack: Vec<u32> = (0..before as u32).rev().collect();
    let mut gone = Vec::new();
    while let Some(node) = stack.pop() {
        if let Some(eliminated) = work.try_eliminate(node) {
            stack.extend(eliminated.neighbours.iter().map(|(other, _)| *other));
            gone.push(eliminated);
        }
    }
    if gone.is_empty() {
        return (work.parts.assemble(), None);
    }
    (work.finish(), Some(Lift::Eliminate { before, gone }))
}

/// A model in which nodes and edges come and go.
struct Work {
    parts: Parts,
    here: Vec<bool>,
    edge_here: Vec<bool>,
    /// Edges at each node; those that went are skipped.
    incident: Vec<Vec<u32>>,
}

impl Work {
    fn of(model: Model) -> Self {
        let Model { constant, nodes, edges, matrices, slack, cliques } = model;
        let mut incident = vec![Vec::new(); nodes.len()];
        for (index, edge) in edges.iter().enumerate() {
            incident[edge.a as usize].push(index as u32);
            incident[edge.b as usize].push(index as u32);
        }
        let (here, edge_here) = (vec![true; nodes.len()], vec![true; edges.len()]);
        Work { parts: Parts { constant, nodes, edges, matrices, slack, cliques }, here, edge_here, incident }
    }

    fn try_eliminate(&mut self, node: u32) -> Option<Eliminated> {
        let index = node as usize;
        if !self.here[index] || !self.parts.nodes[index].pieces.is_empty() {
            return None;
        }
        self.incident[index].retain(|&edge| self.edge_here[edge as usize]);
        if self.incident[index].len() > 2 {
            return None;
        }
        let edges = self.incident[index].clone();
        let neighbours: Vec<(u32, Vec<i64>)> = edges.iter().map(|&edge| self.seen_from(node, edge)).collect();
        let cost = self.parts.nodes[index].cost.clone();
        match &neighbours[..] {
            [] => {
                self.parts.constant =
                    add(self.parts.constant, cost.iter().copied().min().unwrap_or(FORBIDDEN))
            }
            [(other, matrix)] => {
                let columns = matrix.len() / cost.len();
                for (column, target) in self.parts.nodes[*other as usize].cost.iter_mut().enumerate() {
                    let through = |(label, &cost): (usize, &i64)| add(cost, matrix[label * columns + column]);
                    *target = add(*target, cost.iter().enumerate().map(through).min().unwrap_or(FORBIDDEN));
                }
            }
            [(first, rows), (second, columns)] => self.bridge(&cost, (*first, rows), (*second, columns))?,
            _ => return None,
        }
        for edge in edges {
            self.edge_here[edge as usize] = false;
        }
        self.here[index] = false;
        Some(Eliminated { node, cost, neighbours })
    }

    /// Adds the edge that stands for a node of degree 2, unless it would be large.
    fn bridge(&mut self, cost: &[i64], first: (u32, &[i64]), second: (u32, &[i64])) -> Option<()> {
        let (rows, columns) = (first.1.len() / cost.len(), second.1.len() / cost.len());
        if first.0 == second.0 || rows * columns > LARGEST {
            return None;
        }
        let mut matrix = vec![FORBIDDEN; rows * columns];
        for (label, &cost) in cost.iter().enumerate() {
            for row in 0..rows {
                let so_far = add(cost, first.1[label * rows + row]);
                let to = &second.1[label * columns..][..columns];
                for (entry, &cost) in matrix[row * columns..].iter_mut().zip(to) {
                    *entry = (*entry).min(add(so_far, cost));
                }
            }
        }
        let edge = self.parts.edges.len() as u32;
        let matrix = self.parts.matrices.intern(&matrix);
        self.parts.edges.push(Edge { a: first.0, b: second.0, matrix });
        self.edge_here.push(true);
        for node in [first.0, second.0] {
            self.incident[node as usize].push(edge);
        }
        Some(())
    }

    /// The other end of an edge, and its matrix with the labels of `node` as rows.
    fn seen_from(&self, node: u32, edge: u32) -> (u32, Vec<i64>) {
        let edge = self.parts.edges[edge as usize];
        let matrix = self.parts.matrices.get(edge.matrix);
        if edge.a == node {
            return (edge.b, matrix.to_vec());
        }
        (edge.a, transpose(matrix, self.parts.nodes[edge.a as usize].cost.len()))
    }

    fn finish(mut self) -> Model {
        let mut numbers = vec![0; self.here.len()];
        let mut next = 0;
        for (number, &here) in numbers.iter_mut().zip(&self.here) {
            *number = next;
            next += u32::from(here);
        }
        let mut here = self.here.iter().copied();
        self.parts.nodes.retain(|_| here.next() == Some(true));
        let mut here = self.edge_here.iter().copied();
        self.parts.edges.retain(|_| here.next() == Some(true));
        for edge in &mut self.parts.edges {
            edge.a = numbers[edge.a as usize];
            edge.b = numbers[edge.b as usize];
        }
        self.parts.assemble()
    }
}

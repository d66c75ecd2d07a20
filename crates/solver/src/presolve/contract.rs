//! Contraction: where an edge allows each label of one node exactly one label of the other, the second node is a
//! function of the first and becomes part of it. Most edges of exported problems are of this kind (an element-wise op
//! has the sharding of its operand), and contracting them shrinks tens of thousands of nodes to a few hundred.
//!
//! One-to-one edges always contract. A many-to-one edge gives the other edges of the determined node more rows; it
//! contracts if they stay small.

use crate::model::{Adjacency, FORBIDDEN, Model};

use super::lift::{Lift, relabel};

/// How many matrix entries a many-to-one contraction may add.
const GROWTH: usize = 1 << 12;

pub(super) fn contract(model: Model) -> (Model, Option<Lift>) {
    let mut forest = Forest::new(&model);
    let adjacency = Adjacency::of(&model);
    for (index, edge) in model.edges.iter().enumerate() {
        let matrix = model.matrix(index as u32);
        let (a, b) = (edge.a as usize, edge.b as usize);
        let (rows, columns) = (model.nodes[a].cost.len(), model.nodes[b].cost.len());
        let down = only_entries(matrix, rows, columns, columns, 1);
        let up = only_entries(matrix, columns, rows, 1, columns);
        match (down, up) {
            (Some(down), Some(up)) => {
                let _ =
                    forest.join(a, b, &down) || forest.join(b, a, &up) || forest.join_chain(a, b, &down, &up);
            }
            (Some(down), None) if growth(&model, &adjacency, b, rows) <= GROWTH => {
                forest.join(a, b, &down);
            }
            (None, Some(up)) if growth(&model, &adjacency, a, columns) <= GROWTH => {
                forest.join(b, a, &up);
            }
            _ => {}
        }
    }
    if forest.joined {
        let map = forest.into_map();
        return relabel(model, map);
    }
    (model, None)
}

/// Per label of one node, the only label of the other that goes with it; `None` if some label has another number.
fn only_entries(
    matrix: &[i64],
    labels: usize,
    others: usize,
    stride: usize,
    other_stride: usize,
) -> Option<Vec<u32>> {
    let mut function = Vec::with_capacity(labels);
    for label in 0..labels {
        let allowed = |other: &usize| matrix[label * stride + other * other_stride] < FORBIDDEN;
        let mut allowed = (0..others).filter(allowed);
        match (allowed.next(), allowed.next()) {
            (Some(only), None) => function.push(only as u32),
            _ => return None,
        }
    }
    Some(function)
}

/// How many entries the edges of a node gain if it takes more labels.
fn growth(model: &Model, adjacency: &Adjacency, node: usize, labels: usize) -> usize {
    let more = labels.saturating_sub(model.nodes[node].cost.len());
    let entries: usize =
        adjacency.at(node).iter().map(|arc| model.nodes[arc.other as usize].cost.len()).sum();
    more * entries
}

/// Each node's root, and its label as a function of the root's.
struct Forest {
    parent: Vec<Option<(usize, Vec<u32>)>>,
    sizes: Vec<usize>,
    joined: bool,
}

impl Forest {
    fn new(model: &Model) -> Self {
        let sizes = model.nodes.iter().map(|node| node.cost.len()).collect();
        Forest { parent: vec![None; model.nodes.len()], sizes, joined: false }
    }

    /// Makes `b`, which must be a root to succeed, the given function of `a`.
    fn join(&mut self, a: usize, b: usize, function: &[u32]) -> bool {
        let (root, labels) = self.find(a);
        if self.parent[b].is_some() || root == b {
            return root == b;
        }
        let composed = labels.iter().map(|&label| function[label as usize]).collect();
        self.parent[b] = Some((root, composed));
        self.joined = true;
        true
    }

    /// Joins two nodes that are both part of others, over a one-to-one edge: the root of `b` becomes a function of
    /// `a` if it is one of `b`.
    fn join_chain(&mut self, a: usize, b: usize, down: &[u32], up: &[u32]) -> bool {
        let (root, labels) = self.find(b);
        if let Some(inverse) = invert(&labels, self.sizes[b]) {
            let function: Vec<u32> = down.iter().map(|&label| inverse[label as usize]).collect();
            return self.join(a, root, &function);
        }
        let (root, labels) = self.find(a);
        if let Some(inverse) = invert(&labels, self.sizes[a]) {
            let function: Vec<u32> = up.iter().map(|&label| inverse[label as usize]).collect();
            return self.join(b, root, &function);
        }
        false
    }

    /// The root of a node, and the node's label per label of the root. Shortens the path.
    fn find(&mut self, node: usize) -> (usize, Vec<u32>) {
        let Some((parent, labels)) = self.parent[node].take() else {
            return (node, (0..self.sizes[node] as u32).collect());
        };
        let mut path = vec![(node, labels)];
        let mut root = parent;
        while let Some((parent, labels)) = self.parent[root].take() {
            path.push((root, labels));
            root = parent;
        }
        let mut from_root: Vec<u32> = (0..self.sizes[root] as u32).collect();
        while let Some((node, labels)) = path.pop() {
            from_root = from_root.iter().map(|&label| labels[label as usize]).collect();
            self.parent[node] = Some((root, from_root.clone()));
        }
        (root, from_root)
    }

    fn into_map(mut self) -> Vec<(u32, Vec<u32>)> {
        let mut numbers = vec![0; self.parent.len()];
        let mut next = 0;
        for (number, parent) in numbers.iter_mut().zip(&self.parent) {
            if parent.is_none() {
                *number = next;
                next += 1;
            }
        }
        let find = |node| {
            let (root, labels) = self.find(node);
            (numbers[root], labels)
        };
        (0..numbers.len()).map(find).collect()
    }
}

/// The inverse of a function onto `size` labels, if it has one.
fn invert(function: &[u32], size: usize) -> Option<Vec<u32>> {
    let mut inverse = vec![u32::MAX; size];
    if function.len() != size {
        return None;
    }
    for (label, &value) in function.iter().enumerate() {
        inverse[value as usize] = label as u32;
    }
    (!inverse.contains(&u32::MAX)).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_compose_over_chains() {
        let mut forest = Forest { parent: vec![None; 4], sizes: vec![3; 4], joined: false };
        assert!(forest.join(0, 1, &[1, 2, 0]));
        assert!(forest.join(2, 3, &[2, 1, 0]));
        // Nodes 1 and 3 are both taken: the root of 3 joins that of 1.
        assert!(!forest.join(1, 3, &[0, 1, 2]));
        assert!(forest.join_chain(1, 3, &[0, 1, 2], &[0, 1, 2]));
        // Label l of node 0 is l + 1 of node 1, the same of node 3, and 2 - that of node 2.
        assert_eq!(forest.find(2), (0, vec![1, 0, 2]));
        assert_eq!(forest.find(3), (0, vec![1, 2, 0]));
        assert_eq!(forest.into_map().iter().map(|(node, _)| *node).collect::<Vec<_>>(), [0; 4]);
    }
}

//! Partition crossover (D. Whitley, D. Hains and A. Howe, GECCO 2009): where two choices differ, the graph falls into
//! components that can be switched independently of each other as far as costs go. Each component of another choice
//! that is cheaper is taken, as far as memory allows.

use crate::bound::Graph;
use crate::model::Model;

use super::memory::Memory;

/// The best of `choice` with components of `other`. `choice` must be within memory; so is the result.
pub(crate) fn crossover(model: &Model, graph: &Graph, choice: &[u32], other: &[u32]) -> Vec<u32> {
    let mut components = components(graph, choice, other);
    for component in &mut components {
        component.change = change(model, graph, choice, other, &component.nodes);
    }
    components.sort_by(|a, b| a.change.total_cmp(&b.change).then(a.nodes.cmp(&b.nodes)));
    let mut result = choice.to_vec();
    let mut memory = Memory::new(&model.left(choice));
    // A component that does not fit may fit once others have gone in.
    loop {
        let mut taken = false;
        components.retain(|component| {
            if component.change >= 0.0 {
                return false;
            }
            let mut shift = |sign: i64| {
                for &node in &component.nodes {
                    let (old, new) = (choice[node as usize] as usize, other[node as usize] as usize);
                    for piece in &model.nodes[node as usize].pieces {
                        memory.take(piece.from, piece.to, sign * (piece.usage[new] - piece.usage[old]));
                    }
                }
                memory.least() >= 0
            };
            if !shift(1) {
                shift(-1);
                return true;
            }
            for &node in &component.nodes {
                result[node as usize] = other[node as usize];
            }
            taken = true;
            false
        });
        if !taken {
            return result;
        }
    }
}

struct Component {
    nodes: Vec<u32>,
    /// By how much the cost changes when the component switches.
    change: f64,
}

fn components(graph: &Graph, choice: &[u32], other: &[u32]) -> Vec<Component> {
    let differs = |node: u32| choice[node as usize] != other[node as usize];
    let mut seen = vec![false; graph.nodes()];
    let mut components = Vec::new();
    for start in (0..graph.nodes() as u32).filter(|&node| differs(node)) {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut nodes = vec![start];
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            next += 1;
            for link in graph.links(node) {
                if differs(link.other) && !std::mem::replace(&mut seen[link.other as usize], true) {
                    nodes.push(link.other);
                }
            }
        }
        nodes.sort_unstable();
        components.push(Component { nodes, change: 0.0 });
    }
    components
}

fn change(model: &Model, graph: &Graph, choice: &[u32], other: &[u32], nodes: &[u32]) -> f64 {
    let mut change = 0.0;
    for &node in nodes {
        let (old, new) = (choice[node as usize] as usize, other[node as usize] as usize);
        let cost = &model.nodes[node as usize].cost;
        change += cost[new] as f64 - cost[old] as f64;
        for link in graph.links(node) {
            // Edges within the component come up at both ends.
            let inside = choice[link.other as usize] != other[link.other as usize];
            if inside && link.other < node {
                continue;
            }
            let width = graph.labels(link.other).len();
            let entry = |row: usize, labels: &[u32]| {
                graph.entries[link.matrix + row * width + labels[link.other as usize] as usize]
            };
            change += entry(new, other) - entry(old, choice);
        }
    }
    change
}

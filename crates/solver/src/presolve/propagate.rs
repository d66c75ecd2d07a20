//! Arc consistency with memory: a label goes if it is too expensive, if a neighbour has no label that goes with it, or
//! if the memory it adds exceeds what is left when every other node uses its least. What goes raises the minima, so
//! the three repeat until nothing goes.

use crate::model::{Adjacency, FORBIDDEN, Infeasible, Model};

use super::lift::usable;

/// How many labels all rounds together look at, at most, on a model of many.
const CASCADE: usize = 50_000_000;

/// Which labels may be part of a choice that costs less than `cut`, out of those that are alive.
pub(crate) fn propagate(
    model: &Model,
    cut: i64,
    mut alive: Vec<Vec<bool>>,
) -> Result<Vec<Vec<bool>>, Infeasible> {
    if model.constant >= cut {
        return Err(Infeasible);
    }
    for (node, alive) in model.nodes.iter().zip(&mut alive) {
        for (alive, &cost) in alive.iter_mut().zip(&node.cost) {
            *alive &= cost < FORBIDDEN && model.constant + cost < cut;
        }
    }
    let adjacency = Adjacency::of(model);
    let mut changed: Vec<usize> = (0..model.nodes.len()).collect();
    // What is left out is no error, only a reduction missed; a cascade of one label a round is not worth its price.
    for _ in 0..(CASCADE / model.labels().max(1)).max(3) {
        support(model, &adjacency, cut, &mut alive, changed)?;
        changed = memory(model, &mut alive)?;
        if changed.is_empty() {
            break;
        }
    }
    if alive.iter().any(|labels| !labels.contains(&true)) {
        return Err(Infeasible);
    }
    Ok(alive)
}

/// Removes labels without support in a neighbour, starting from the edges of the nodes that changed.
fn support(
    model: &Model,
    adjacency: &Adjacency,
    cut: i64,
    alive: &mut [Vec<bool>],
    changed: Vec<usize>,
) -> Result<(), Infeasible> {
    let mut queued = vec![false; model.nodes.len()];
    for &node in &changed {
        queued[node] = true;
    }
    let mut queue = std::collections::VecDeque::from(changed);
    while let Some(node) = queue.pop_front() {
        queued[node] = false;
        for arc in adjacency.at(node) {
            let other = arc.other as usize;
            let matrix = model.matrix(arc.edge);
            let mut removed = false;
            for label in 0..alive[other].len() {
                if !alive[other][label] {
                    continue;
                }
                let cost = model.nodes[other].cost[label];
                let start = label * arc.other_stride as usize;
                let supports = |(mine, (&alive, &own)): (usize, (&bool, &i64))| {
                    alive && usable(model, cost, own, matrix[start + mine * arc.stride as usize], cut)
                };
                let mut mine = alive[node].iter().zip(&model.nodes[node].cost).enumerate();
                if !mine.any(supports) {
                    alive[other][label] = false;
                    removed = true;
                }
            }
            if removed {
                if !alive[other].contains(&true) {
                    return Err(Infeasible);
                }
                if !queued[other] {
                    queued[other] = true;
                    queue.push_back(other);
                }
            }
        }
    }
    Ok(())
}

/// Removes labels that do not fit with the minima of all other nodes, and gives the nodes that changed.
fn memory(model: &Model, alive: &mut [Vec<bool>]) -> Result<Vec<usize>, Infeasible> {
    let least = |usage: &[i64], alive: &[bool]| {
        usage.iter().zip(alive).filter(|(_, alive)| **alive).map(|(usage, _)| *usage).min().unwrap_or(0)
    };
    let mut change = vec![0; model.slack.len() + 1];
    for (node, alive) in model.nodes.iter().zip(alive.iter()) {
        for piece in &node.pieces {
            let least = least(&piece.usage, alive);
            change[piece.from as usize] += least;
            change[piece.to as usize] -= least;
        }
    }
    let mut used = 0;
    let mut left = Vec::with_capacity(model.slack.len());
    for (&slack, &change) in model.slack.iter().zip(&change) {
        used += change;
        left.push(slack - used);
        if slack < used {
            return Err(Infeasible);
        }
    }
    let range = RangeMinimum::new(left);
    let mut changed = Vec::new();
    for (index, (node, alive)) in model.nodes.iter().zip(alive.iter_mut()).enumerate() {
        let mut removed = false;
        for piece in &node.pieces {
            let room = range.least(piece.from, piece.to) + least(&piece.usage, alive);
            for (alive, &usage) in alive.iter_mut().zip(&piece.usage) {
                if *alive && usage > room {
                    *alive = false;
                    removed = true;
                }
            }
        }
        if removed {
            changed.push(index);
        }
    }
    Ok(changed)
}

/// Minima over ranges, by a table of the minima over all ranges whose length is a power of two.
pub(crate) struct RangeMinimum(Vec<Vec<i64>>);

impl RangeMinimum {
    pub(crate) fn new(values: Vec<i64>) -> Self {
        let mut table = vec![values];
        let mut length = 1;
        while table[0].len() >= 2 * length {
            let shorter = &table[table.len() - 1];
            let longer = shorter.iter().zip(&shorter[length..]).map(|(a, b)| *a.min(b)).collect();
            table.push(longer);
            length *= 2;
        }
        RangeMinimum(table)
    }

    /// The least value in a range that is not empty.
    pub(crate) fn least(&self, from: u32, to: u32) -> i64 {
        let level = (to - from).ilog2();
        let row = &self.0[level as usize];
        row[from as usize].min(row[(to - (1 << level)) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_minima_equal_the_minima_over_ranges() {
        let values: Vec<i64> = (0..37).map(|index| (index * 29 + 7) % 41).collect();
        let range = RangeMinimum::new(values.clone());
        for from in 0..37 {
            for to in from + 1..=37 {
                let least = values[from..to].iter().min();
                assert_eq!(Some(&range.least(from as u32, to as u32)), least);
            }
        }
    }
}

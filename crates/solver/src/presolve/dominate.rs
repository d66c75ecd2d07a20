//! Dominance, known as dead-end elimination (Goldstein's criterion: R. F. Goldstein, Biophysical Journal 66, 1994): label q of a
//! node goes if another label p uses no more memory anywhere and, whatever the neighbours choose, costs no more:
//! `c(p) - c(q) + sum over edges of max over j of (m(p, j) - m(q, j)) <= 0`.

use crate::model::{Adjacency, Arc, FORBIDDEN, Model};

use super::lift::usable;

/// Pairs of labels times entries up to which a node is looked at; what lies above is rare and would take seconds.
const MOST: usize = 50_000_000;

/// Which labels are left.
pub(super) fn dominate(model: &Model, cut: i64) -> Vec<Vec<bool>> {
    let adjacency = Adjacency::of(model);
    let mut alive: Vec<Vec<bool>> = model.nodes.iter().map(|node| vec![true; node.cost.len()]).collect();
    for node in 0..model.nodes.len() {
        let labels = alive[node].len();
        let entries: usize = adjacency.at(node).iter().map(|arc| alive[arc.other as usize].len()).sum();
        if labels < 2 || labels * labels * (entries + 1) > MOST {
            continue;
        }
        for q in 0..labels {
            let beats = |&p: &usize| {
                p != q && alive[node][p] && dominates(model, &adjacency, &alive, node, p, q, cut)
            };
            if (0..labels).find(beats).is_some() {
                alive[node][q] = false;
            }
        }
    }
    alive
}

fn dominates(
    model: &Model,
    adjacency: &Adjacency,
    alive: &[Vec<bool>],
    node: usize,
    p: usize,
    q: usize,
    cut: i64,
) -> bool {
    let Model { nodes, .. } = model;
    if nodes[node].pieces.iter().any(|piece| piece.usage[p] > piece.usage[q]) {
        return false;
    }
    let mut excess = nodes[node].cost[p] - nodes[node].cost[q];
    for arc in adjacency.at(node) {
        match most_excess(model, alive, node, arc, p, q, cut) {
            Some(most) => excess = excess.saturating_add(most),
            None => return false,
        }
    }
    excess <= 0
}

/// How much more `p` costs on one edge than `q`, at most; `None` if `p` is forbidden where `q` is not.
fn most_excess(
    model: &Model,
    alive: &[Vec<bool>],
    node: usize,
    arc: &Arc,
    p: usize,
    q: usize,
    cut: i64,
) -> Option<i64> {
    let matrix = model.matrix(arc.edge);
    let other = arc.other as usize;
    let own = model.nodes[node].cost[q];
    let mut most = i64::MIN / 4;
    for (j, &cost) in model.nodes[other].cost.iter().enumerate() {
        let entry = |label: usize| matrix[label * arc.stride as usize + j * arc.other_stride as usize];
        let with_q = entry(q);
        if !alive[other][j] || !usable(model, own, cost, with_q, cut) {
            continue;
        }
        let with_p = entry(p);
        if with_p >= FORBIDDEN {
            return None;
        }
        most = most.max(with_p - with_q);
    }
    Some(most)
}

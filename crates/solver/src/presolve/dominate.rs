//! Dominance, known as dead-end elimination (Goldstein's criterion: R. F. Goldstein, Biophysical Journal 66, 1994): label q of a
//! node goes if another label p uses no more memory anywhere and, whatever the neighbours choose, costs no more:
//! `c(p) - c(q) + sum over edges of max over j of (m(p, j) - m(q, j)) <= 0`.

use rustc_hash::FxHashMap;

use crate::model::{Adjacency, Arc, FORBIDDEN, Model, Node};

use super::lift::usable;

/// Pairs of labels times entries up to which a node is looked at; what lies above is rare and would take seconds.
const MOST: usize = 50_000_000;

/// Which labels are left.
pub(super) fn dominate(model: &Model, cut: i64) -> Vec<Vec<bool>> {
    let adjacency = Adjacency::of(model);
    let mut alive: Vec<Vec<bool>> = model.nodes.iter().map(|node| vec![true; node.cost.len()]).collect();
    let surroundings = Surroundings::of(model);
    let mut known: FxHashMap<Vec<u32>, Vec<bool>> = FxHashMap::default();
    for node in 0..model.nodes.len() {
        let labels = alive[node].len();
        let entries: usize = adjacency.at(node).iter().map(|arc| alive[arc.other as usize].len()).sum();
        if labels < 2 || labels * labels * (entries + 1) > MOST {
            continue;
        }
        // Programs repeat themselves, layer by layer.
        let around = surroundings.at(node, adjacency.at(node), &alive);
        if let Some(known) = known.get(&around) {
            alive[node].clone_from(known);
            continue;
        }
        let candidate = Candidate::of(model, &adjacency, node, &alive, cut);
        let mut kept = alive[node].clone();
        for q in 0..labels {
            let beats = |&p: &usize| p != q && kept[p] && candidate.dominates(&alive, p, q, cut);
            if (0..labels).any(|p| beats(&p)) {
                kept[q] = false;
            }
        }
        alive[node].clone_from(&kept);
        known.insert(around, kept);
    }
    alive
}

/// What a node's dominated labels depend on, as numbers that are equal where it is.
struct Surroundings<'a> {
    model: &'a Model,
    /// Per node: stands for its costs and for its use of memory.
    own: Vec<u32>,
}

impl<'a> Surroundings<'a> {
    fn of(model: &'a Model) -> Self {
        let mut names: FxHashMap<(&[i64], Vec<&[i64]>), u32> = FxHashMap::default();
        let name = |node: &'a Node| {
            let next = names.len() as u32;
            let usages = node.pieces.iter().map(|piece| &piece.usage[..]).collect();
            *names.entry((&node.cost, usages)).or_insert(next)
        };
        Surroundings { model, own: model.nodes.iter().map(name).collect() }
    }

    fn at(&self, node: usize, arcs: &[Arc], alive: &[Vec<bool>]) -> Vec<u32> {
        let mut around = vec![self.own[node]];
        for arc in arcs {
            let other = arc.other as usize;
            let edge = self.model.edges[arc.edge as usize];
            around.extend([edge.matrix, u32::from(edge.b == arc.other), self.own[other]]);
            let word = |labels: &[bool]| labels.iter().fold(0, |word, &alive| word << 1 | u32::from(alive));
            around.extend(alive[other].chunks(32).map(word));
        }
        around
    }
}

/// A node, and what its labels cost on average, which tells most pairs apart before their entries are compared: the
/// largest difference of two rows is at least the difference of their means.
struct Candidate<'a> {
    model: &'a Model,
    arcs: &'a [Arc],
    node: usize,
    /// Per arc and label.
    means: Vec<Vec<f64>>,
    /// Per label: its cost and all its means.
    total: Vec<f64>,
    /// Per arc and label: the neighbour's label with the least entry of all that may be chosen.
    best: Vec<Vec<Option<usize>>>,
}

/// What a forbidden entry counts in a mean.
const DEAR: f64 = 1e16;

impl<'a> Candidate<'a> {
    fn of(model: &'a Model, adjacency: &'a Adjacency, node: usize, alive: &'a [Vec<bool>], cut: i64) -> Self {
        let arcs = adjacency.at(node);
        let cost = &model.nodes[node].cost;
        let mut best = Vec::with_capacity(arcs.len());
        let mut total: Vec<f64> = cost.iter().map(|&cost| cost as f64).collect();
        let mut means = Vec::with_capacity(arcs.len());
        for arc in arcs {
            let matrix = model.matrix(arc.edge);
            let width = model.nodes[arc.other as usize].cost.len();
            let mean = |label: usize| {
                let entry = |j: usize| matrix[label * arc.stride as usize + j * arc.other_stride as usize];
                (0..width).map(|j| (entry(j) as f64).min(DEAR)).sum::<f64>() / width as f64
            };
            let row: Vec<f64> = (0..cost.len()).map(mean).collect();
            total.iter_mut().zip(&row).for_each(|(total, mean)| *total += mean);
            means.push(row);
            let other = arc.other as usize;
            let costs = &model.nodes[other].cost;
            let least = |label: usize| {
                let entry = |&j: &usize| matrix[label * arc.stride as usize + j * arc.other_stride as usize];
                let usable =
                    |j: &usize| alive[other][*j] && usable(model, cost[label], costs[*j], entry(j), cut);
                (0..width).filter(usable).min_by_key(entry)
            };
            best.push((0..cost.len()).map(least).collect());
        }
        Candidate { model, arcs, node, means, total, best }
    }

    fn dominates(&self, alive: &[Vec<bool>], p: usize, q: usize, cut: i64) -> bool {
        let node = &self.model.nodes[self.node];
        // What the sum is at least, with means for the arcs not yet looked at; rounding must not reject.
        let mut at_least = self.total[p] - self.total[q];
        let rounding = 1e-9 * (self.total[p].abs() + self.total[q].abs());
        if at_least > rounding || node.pieces.iter().any(|piece| piece.usage[p] > piece.usage[q]) {
            return false;
        }
        // Where `q` is at its best, `p` is worse as a rule.
        let mut where_best = (node.cost[p] - node.cost[q]) as f64;
        for ((arc, means), best) in self.arcs.iter().zip(&self.means).zip(&self.best) {
            let mean = means[p] - means[q];
            let at = |j: usize| {
                let matrix = self.model.matrix(arc.edge);
                let entry =
                    |label: usize| matrix[label * arc.stride as usize + j * arc.other_stride as usize];
                (entry(p) - entry(q)) as f64
            };
            where_best += best[q].map_or(mean, |j| at(j).max(mean));
        }
        if where_best > rounding {
            return false;
        }
        let mut excess = i128::from(node.cost[p]) - i128::from(node.cost[q]);
        for (arc, means) in self.arcs.iter().zip(&self.means) {
            let mean = means[p] - means[q];
            let room = rounding - at_least + mean;
            let Some(most) = self.most_excess(alive, arc, (p, q), room, cut) else { return false };
            excess += i128::from(most);
            at_least += (most as f64 - mean).max(0.0);
        }
        excess <= 0
    }

    /// How much more `p` costs over an arc than `q`, at most; `None` if that is more than there is room for, or `p` is
    /// forbidden where `q` is not.
    fn most_excess(
        &self,
        alive: &[Vec<bool>],
        arc: &Arc,
        (p, q): (usize, usize),
        room: f64,
        cut: i64,
    ) -> Option<i64> {
        let matrix = self.model.matrix(arc.edge);
        let other = arc.other as usize;
        let own = self.model.nodes[self.node].cost[q];
        // Almost every pair ends here, at one of the first entries.
        let room = if room < i64::MAX as f64 { room.floor() as i64 } else { i64::MAX };
        let mut most = i64::MIN / 4;
        for (j, &cost) in self.model.nodes[other].cost.iter().enumerate() {
            let entry = |label: usize| matrix[label * arc.stride as usize + j * arc.other_stride as usize];
            let (with_p, with_q) = (entry(p), entry(q));
            if with_p - with_q <= most || !alive[other][j] || !usable(self.model, own, cost, with_q, cut) {
                continue;
            }
            if with_p >= FORBIDDEN || with_p - with_q > room {
                return None;
            }
            most = with_p - with_q;
        }
        Some(most)
    }
}

//! Diving: nodes are fixed one after another at the label that the dual's messages find cheapest among those that fit,
//! arc consistency follows every decision, and every so often a sweep lets the messages catch up with what is decided.
//! Memory is never overdrawn: a label is taken only if it fits with the minima of all that is undecided.

use crate::bound::Dual;
use crate::meter::Meter;

use super::memory::Memory;

/// How a dive goes about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) order: Order,
    /// Sweeps over the whole dive.
    pub(crate) sweeps: usize,
    /// What the dual's prices are multiplied by.
    pub(crate) price_factor: f64,
    /// Relative noise on the costs of labels.
    pub(crate) noise: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Forward,
    Backward,
    /// The most decided nodes first.
    Regret,
    Random,
}

/// Dives from the dual's state, which it uses up, within the labels that are alive. `None` if it ends where no label
/// fits, or if time runs out.
pub(crate) fn dive(
    mut dual: Dual,
    alive: Vec<bool>,
    style: Style,
    random: &mut fastrand::Rng,
    meter: &mut Meter,
) -> Option<Vec<u32>> {
    let nodes = dual.graph.nodes();
    let mut dive = Dive {
        memory: Memory::new(&dual.model.slack),
        left: (0..nodes as u32).map(|node| count(&alive[dual.graph.labels(node)])).collect(),
        fixed: vec![None; nodes],
        alive,
        trail: Vec::new(),
    };
    for node in 0..nodes as u32 {
        if dive.left[node as usize] == 1 && !dive.settle(&dual, node) {
            return None;
        }
    }
    let mut open: Vec<u32> = (0..nodes as u32).filter(|&node| dive.fixed[node as usize].is_none()).collect();
    match style.order {
        Order::Forward | Order::Regret => {}
        Order::Backward => open.reverse(),
        Order::Random => random.shuffle(&mut open),
    }
    let batch = open.len().div_ceil(style.sweeps).max(1);
    while !open.is_empty() {
        dual.price_labels(style.price_factor, Some(&dive.alive));
        dual.sweep();
        meter.spend(dual.graph.work);
        if meter.late() {
            return None;
        }
        if style.order == Order::Regret {
            let regret = |node: &u32| {
                let (least, second) = two_least(&dual.marginal[dual.graph.labels(*node)]);
                least - second
            };
            open.sort_by(|a, b| regret(a).total_cmp(&regret(b)).then(a.cmp(b)));
        }
        let now: Vec<u32> = open.drain(..batch.min(open.len())).collect();
        for node in now {
            if dive.fixed[node as usize].is_none() && !dive.decide(&dual, node, style.noise, random) {
                return None;
            }
        }
        open.retain(|&node| dive.fixed[node as usize].is_none());
    }
    dive.fixed.into_iter().collect()
}

struct Dive {
    memory: Memory,
    /// Per node, how many labels are alive.
    left: Vec<usize>,
    fixed: Vec<Option<u32>>,
    alive: Vec<bool>,
    /// Labels that went and nodes that were fixed, to be undone.
    trail: Vec<Undo>,
}

enum Undo {
    Label { node: u32, index: usize },
    Fixed(u32),
}

impl Dive {
    /// Fixes a node at its cheapest label that works out.
    fn decide(&mut self, dual: &Dual, node: u32, noise: f64, random: &mut fastrand::Rng) -> bool {
        let range = dual.graph.labels(node);
        let mut costs = dual.unary[range.clone()].to_vec();
        for link in dual.graph.links(node) {
            if let Some(other) = self.fixed[link.other as usize] {
                let width = dual.graph.labels(link.other).len();
                for (label, cost) in costs.iter_mut().enumerate() {
                    *cost += dual.graph.entries[link.matrix + label * width + other as usize];
                }
            } else {
                for (cost, message) in costs.iter_mut().zip(&dual.messages[link.inbound..]) {
                    *cost += message;
                }
            }
        }
        if noise > 0.0 {
            let (least, second) = two_least(&costs);
            let scale = (second - least).min(dual.graph.infinite) * noise;
            costs.iter_mut().for_each(|cost| *cost += scale * random.f64());
        }
        let mut candidates: Vec<u32> =
            (0..costs.len() as u32).filter(|&label| self.alive[range.start + label as usize]).collect();
        candidates.sort_by(|&a, &b| costs[a as usize].total_cmp(&costs[b as usize]).then(a.cmp(&b)));
        for label in candidates {
            let mark = self.trail.len();
            for index in range.clone().filter(|&index| index != range.start + label as usize) {
                self.remove(node, index);
            }
            if self.settle(dual, node) {
                return true;
            }
            self.undo(dual, mark);
        }
        false
    }

    fn remove(&mut self, node: u32, index: usize) {
        if std::mem::replace(&mut self.alive[index], false) {
            self.left[node as usize] -= 1;
            self.trail.push(Undo::Label { node, index });
        }
    }

    /// Fixes a node that has one label left, and what follows from it.
    fn settle(&mut self, dual: &Dual, node: u32) -> bool {
        let mut changed = vec![node];
        while let Some(node) = changed.pop() {
            if self.left[node as usize] == 1 && self.fixed[node as usize].is_none() && !self.fix(dual, node) {
                return false;
            }
            for link in dual.graph.links(node) {
                if self.fixed[link.other as usize].is_some() && self.fixed[node as usize].is_none() {
                    continue;
                }
                if self.filter(dual, node, link) {
                    if self.left[link.other as usize] == 0 {
                        return false;
                    }
                    changed.push(link.other);
                }
            }
        }
        true
    }

    fn fix(&mut self, dual: &Dual, node: u32) -> bool {
        let alive = &self.alive[dual.graph.labels(node)];
        let Some(label) = alive.iter().position(|&alive| alive) else { return false };
        let pieces = &dual.model.nodes[node as usize].pieces;
        let fits =
            |piece: &crate::model::Piece| self.memory.least_in(piece.from, piece.to) >= piece.usage[label];
        if !pieces.iter().all(fits) {
            return false;
        }
        for piece in pieces {
            self.memory.take(piece.from, piece.to, piece.usage[label]);
        }
        self.fixed[node as usize] = Some(label as u32);
        self.trail.push(Undo::Fixed(node));
        true
    }

    /// Removes the labels of a neighbour that no label of the node goes with.
    fn filter(&mut self, dual: &Dual, node: u32, link: &crate::bound::Link) -> bool {
        let mine = dual.graph.labels(node);
        let others = dual.graph.labels(link.other);
        let width = others.len();
        let mut removed = false;
        for (column, index) in others.enumerate() {
            if !self.alive[index] {
                continue;
            }
            let supports = |row: usize| {
                self.alive[mine.start + row]
                    && dual.graph.entries[link.matrix + row * width + column] < dual.graph.infinite
            };
            if !(0..mine.len()).any(supports) {
                self.remove(link.other, index);
                removed = true;
            }
        }
        removed
    }

    fn undo(&mut self, dual: &Dual, mark: usize) {
        for undo in self.trail.drain(mark..).rev() {
            match undo {
                Undo::Label { node, index } => {
                    self.alive[index] = true;
                    self.left[node as usize] += 1;
                }
                Undo::Fixed(node) => {
                    if let Some(label) = self.fixed[node as usize].take() {
                        for piece in &dual.model.nodes[node as usize].pieces {
                            self.memory.take(piece.from, piece.to, -piece.usage[label as usize]);
                        }
                    }
                }
            }
        }
    }
}

fn count(alive: &[bool]) -> usize {
    alive.iter().filter(|&&alive| alive).count()
}

fn two_least(costs: &[f64]) -> (f64, f64) {
    costs.iter().fold((f64::INFINITY, f64::INFINITY), |(least, second), &cost| {
        if cost < least { (cost, least) } else { (least, second.min(cost)) }
    })
}

//! Branch and bound. Each open node is a reduced model with the labels that are alive and the state of its dual.
//! Processing one propagates, raises the bound, removes labels whose own bound reaches the cut, dives for a better
//! choice, and branches on the model node whose labels' bounds, probed one by one, promise the smallest tree. Where
//! many labels have died the model is reduced again, which contracts and eliminates what has become simple.
//!
//! What is pruned is pruned by a certificate in integers or by propagation, never by floating point.

use std::sync::Arc;

use crate::bound::Ascent;
use crate::core::Core;
use crate::meter::Meter;
use crate::presolve::propagate;

use super::dive::{Order, Style, dive};

/// A set of choices still to be searched.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    core: Arc<Core>,
    alive: Vec<bool>,
    ascent: Ascent,
    /// Proven for all of its choices.
    pub(crate) bound: i64,
    depth: u32,
}

/// What came of an open node.
pub(crate) struct Processed {
    /// To be searched instead of it, the most promising last.
    pub(crate) children: Vec<Open>,
    /// A choice in the model that was built first, with its cost.
    pub(crate) found: Option<(i64, Vec<u32>)>,
}

/// Steps of the dual at a node whose model is new, and at one that continues its parent's.
const STEPS_FRESH: usize = 2_000;
const STEPS_WARM: usize = 60;

/// Steps of the dual per probed label.
const STEPS_PROBE: usize = 6;

/// Model nodes that are probed before branching.
const CANDIDATES: usize = 10;

/// Up to this many labels each gets a child of its own.
const WIDEST: usize = 8;

impl Open {
    pub(crate) fn root(core: Arc<Core>, bound: i64) -> Open {
        let labels = core.reduced.model.labels();
        let ascent = Ascent::new(&core.reduced.model, &core.graph);
        Open { core, alive: vec![true; labels], ascent, bound, depth: 0 }
    }

    /// Processes the node for choices that cost less than `cut`. If time runs out the node comes back as its own
    /// child.
    pub(crate) fn process(mut self, cut: i64, random: &mut fastrand::Rng, meter: &mut Meter) -> Processed {
        let closed = |found| Processed { children: Vec::new(), found };
        let mut fresh = self.ascent.bound == f64::NEG_INFINITY;
        loop {
            if self.bound >= cut {
                return closed(None);
            }
            if meter.late() {
                return Processed { children: vec![self], found: None };
            }
            let before = self.count();
            let alive = nested(&self.core, &self.alive);
            meter.spend(self.core.graph.work + self.core.reduced.model.slack.len() as u64 * 16);
            let Ok(alive) = propagate(&self.core.reduced.model, cut, alive) else { return closed(None) };
            self.alive = alive.concat();
            let count = self.count();
            if count == self.core.reduced.model.nodes.len() {
                return closed(self.leaf(cut));
            }
            if count * 10 <= self.alive.len() * 7 {
                match self.shrink(cut, meter) {
                    Some(smaller) => self = smaller,
                    None => return closed(None),
                }
                fresh = true;
                continue;
            }
            let progress = count * 100 < before * 98;
            let steps = if fresh { STEPS_FRESH } else { STEPS_WARM };
            self.ascend(cut, steps, meter);
            let died = self.certify(cut, meter);
            if self.bound >= cut {
                return closed(None);
            }
            if !(died * 50 > count || progress || died > 0 && fresh) {
                break;
            }
            fresh = false;
        }
        let found = self.dive(cut, random, meter);
        let cut = found.as_ref().map_or(cut, |(cost, _)| *cost);
        Processed { children: self.branch(cut, meter), found }
    }

    fn count(&self) -> usize {
        self.alive.iter().filter(|&&alive| alive).count()
    }

    fn ascend(&mut self, cut: i64, steps: usize, meter: &mut Meter) {
        let Core { reduced, graph } = &*self.core;
        self.ascent.restart();
        self.ascent.run(&reduced.model, graph, Some(&self.alive), cut as f64 + 0.01, steps, meter);
    }

    /// Proves what the ascent found; gives how many labels that removed.
    fn certify(&mut self, cut: i64, meter: &mut Meter) -> usize {
        let Core { reduced, graph } = &*self.core;
        let certificate = self.ascent.certify(&reduced.model, graph, Some(&self.alive));
        meter.spend(2 * graph.work);
        self.bound = self.bound.max(certificate.bound);
        let mut died = 0;
        for (alive, &with) in self.alive.iter_mut().zip(&certificate.with) {
            died += usize::from(*alive && with >= cut);
            *alive &= with < cut;
        }
        died
    }

    /// The one choice that is left.
    fn leaf(&self, cut: i64) -> Option<(i64, Vec<u32>)> {
        let graph = &self.core.graph;
        let only =
            |node: u32| self.alive[graph.labels(node)].iter().position(|&alive| alive).unwrap_or(0) as u32;
        let choice: Vec<u32> = (0..graph.nodes() as u32).map(only).collect();
        self.check(&choice, cut)
    }

    /// A choice, if it is feasible and better.
    fn check(&self, choice: &[u32], cut: i64) -> Option<(i64, Vec<u32>)> {
        let reduced = &self.core.reduced;
        let cost = reduced.model.cost(choice);
        (cost < cut && reduced.model.fits(choice)).then(|| (cost, reduced.lift(choice)))
    }

    /// The same choices on a smaller model; `None` if there are none below the cut.
    fn shrink(&self, cut: i64, meter: &mut Meter) -> Option<Open> {
        let mut reduced = self.core.reduced.clone();
        reduced.restrict(&nested(&self.core, &self.alive));
        meter.spend(20 * self.core.graph.work);
        let core = Core::new(reduced, cut, cut).ok()?;
        let mut ascent = Ascent::new(&core.reduced.model, &core.graph);
        ascent.take_prices(&core.reduced.model, &self.core.reduced.model, &self.ascent);
        let alive = vec![true; core.reduced.model.labels()];
        Some(Open { core: Arc::new(core), alive, ascent, bound: self.bound, depth: self.depth })
    }

    fn dive(&self, cut: i64, random: &mut fastrand::Rng, meter: &mut Meter) -> Option<(i64, Vec<u32>)> {
        let Core { reduced, graph } = &*self.core;
        let order = if self.depth.is_multiple_of(2) { Order::Regret } else { Order::Forward };
        let style = Style { order, sweeps: 12, price_factor: 1.0, noise: 0.0 };
        let dual = self.ascent.dual(&reduced.model, graph, Some(&self.alive));
        let choice = dive(dual, self.alive.clone(), style, random, meter)?;
        self.check(&choice, cut)
    }

    /// Splits the node. Probing may close it.
    fn branch(mut self, cut: i64, meter: &mut Meter) -> Vec<Open> {
        let mut best: Option<(f64, Vec<Open>)> = None;
        for node in self.candidates() {
            if meter.late() {
                break;
            }
            let parts = self.parts(node);
            let mut children = Vec::new();
            let mut dead = 0;
            for part in parts {
                match self.probe(node, &part, cut, meter) {
                    Some(child) => children.push(child),
                    None => {
                        dead += 1;
                        for index in part {
                            self.alive[index] = false;
                        }
                    }
                }
            }
            if children.is_empty() {
                return children;
            }
            if dead > 0 && children.len() == 1 {
                // The node is decided without branching.
                self = children.remove(0);
                self.ascent.restart();
                return vec![self];
            }
            let gap = (cut as f64 - self.ascent.bound).max(1.0);
            // The size of a search tree is about exponential in the gap that its root leaves.
            let size = |child: &Open| ((cut as f64 - child.ascent.bound).max(0.0) / gap * 12.0).exp2();
            let sizes: f64 = children.iter().map(size).sum();
            if best.as_ref().is_none_or(|(least, _)| sizes < *least) {
                best = Some((sizes, children));
            }
        }
        let Some((_, mut children)) = best else { return vec![self] };
        for child in &mut children {
            child.depth += 1;
        }
        children.sort_by(|a, b| b.ascent.bound.total_cmp(&a.ascent.bound));
        children
    }

    /// Model nodes worth probing: half by how much of the memory they decide, half by how undecided the costs are.
    fn candidates(&self) -> Vec<u32> {
        let Core { reduced, graph } = &*self.core;
        let dual = {
            let mut dual = self.ascent.dual(&reduced.model, graph, Some(&self.alive));
            dual.sweep();
            dual
        };
        let alive = |node: u32| graph.labels(node).filter(|&index| self.alive[index]);
        let open: Vec<u32> = (0..graph.nodes() as u32).filter(|&node| alive(node).count() > 1).collect();
        let memory = |node: u32| -> f64 {
            let start = graph.labels(node).start;
            let spread = |piece: &crate::model::Piece| {
                let usages = || alive(node).map(|index| piece.usage[index - start]);
                let spread = usages().max().unwrap_or(0) - usages().min().unwrap_or(0);
                spread as f64 * f64::from(piece.to - piece.from)
            };
            reduced.model.nodes[node as usize].pieces.iter().map(spread).sum()
        };
        let regret = |node: u32| -> f64 {
            let mut costs: Vec<f64> = alive(node).map(|index| dual.marginal[index]).collect();
            costs.sort_by(f64::total_cmp);
            // Small where several labels are as good as each other.
            costs.iter().map(|cost| cost - costs[0]).sum::<f64>() / (costs.len() - 1) as f64
        };
        let ranked = |value: &dyn Fn(u32) -> f64| {
            let mut nodes: Vec<(f64, u32)> = open.iter().map(|&node| (value(node), node)).collect();
            nodes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            nodes.into_iter().map(|(_, node)| node)
        };
        let mut candidates: Vec<u32> = ranked(&memory).take(CANDIDATES / 2).collect();
        for node in ranked(&regret) {
            if candidates.len() >= CANDIDATES.min(open.len()) {
                break;
            }
            if !candidates.contains(&node) {
                candidates.push(node);
            }
        }
        candidates
    }

    /// The labels of a model node in the parts that become children.
    fn parts(&self, node: u32) -> Vec<Vec<usize>> {
        let mut labels: Vec<usize> =
            self.core.graph.labels(node).filter(|&index| self.alive[index]).collect();
        if labels.len() <= WIDEST {
            return labels.into_iter().map(|index| vec![index]).collect();
        }
        let Core { reduced, graph } = &*self.core;
        let mut dual = self.ascent.dual(&reduced.model, graph, Some(&self.alive));
        dual.sweep();
        labels.sort_by(|&a, &b| dual.marginal[a].total_cmp(&dual.marginal[b]).then(a.cmp(&b)));
        let rest = labels.split_off(labels.len() / 4);
        vec![labels, rest]
    }

    /// The child that keeps only some labels of a model node; `None` if it holds nothing below the cut.
    fn probe(&self, node: u32, part: &[usize], cut: i64, meter: &mut Meter) -> Option<Open> {
        let mut child = self.clone();
        for index in self.core.graph.labels(node) {
            child.alive[index] &= part.contains(&index);
        }
        let model = &self.core.reduced.model;
        meter.spend(self.core.graph.work + model.slack.len() as u64 * 16);
        child.alive = propagate(model, cut, nested(&self.core, &child.alive)).ok()?.concat();
        child.ascend(cut, STEPS_PROBE, meter);
        if child.ascent.bound >= cut as f64 {
            child.certify(cut, meter);
            if child.bound >= cut {
                return None;
            }
        }
        Some(child)
    }
}

fn nested(core: &Core, alive: &[bool]) -> Vec<Vec<bool>> {
    (0..core.graph.nodes() as u32).map(|node| alive[core.graph.labels(node)].to_vec()).collect()
}

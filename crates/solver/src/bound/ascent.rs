//! Ascent of the dual: how long the steps are, when the state goes back to the best, and when to stop.
//!
//! Polyak's step aims at the optimum's value, which is not known; the best cost known stands in for it, and the rise
//! that is aimed at shrinks whenever a run of steps brings nothing (as the target level methods of U. Brännlund, 1993,
//! do). Prices *and* messages go back to the best state then.

use crate::meter::Meter;
use crate::model::Model;

use super::certify::{Certificate, certify};
use super::dual::Dual;
use super::fold::Folding;
use super::graph::Graph;

/// Where an ascent stands; it can be taken up again on the same model, or by prices alone on another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ascent {
    pub(crate) prices: Vec<f64>,
    pub(crate) messages: Vec<f64>,
    /// The best bound, with the model's constant; in floating point.
    pub(crate) bound: f64,
    rise: f64,
    stalled: u32,
    /// No step brings anything any more.
    pub(crate) converged: bool,
}

/// Steps without progress after which the state goes back to the best, and what the rise is multiplied by then:
/// while steps are long, and after.
const PATIENCE: [(u32, f64); 2] = [(8, 0.6), (20, 0.7)];

/// The rise of the bound in one sweep, as a part of the bound, below which messages settle.
const SETTLED: f64 = 1e-4;

/// Without prices, messages have converged after so many sweeps in a row that raise the bound by less than that.
const SETTLED_SWEEPS: u32 = 3;

/// What part of the last direction is kept.
const MOMENTUM: f64 = 0.6;

impl Ascent {
    pub(crate) fn new(model: &Model, graph: &Graph) -> Self {
        Ascent {
            prices: vec![0.0; model.slack.len()],
            messages: vec![0.0; graph.message_length],
            bound: f64::NEG_INFINITY,
            rise: f64::INFINITY,
            stalled: 0,
            converged: false,
        }
    }

    /// Takes over the prices that another model's ascent found for the cliques that both have.
    pub(crate) fn take_prices(&mut self, model: &Model, other: &Model, ascent: &Ascent) {
        let mut theirs = other.cliques.iter().zip(&ascent.prices).peekable();
        for (price, clique) in self.prices.iter_mut().zip(&model.cliques) {
            while theirs.next_if(|(other, _)| *other < clique).is_some() {}
            *price = theirs.next_if(|(other, _)| *other == clique).map_or(0.0, |(_, price)| *price);
        }
    }

    /// Starts again from the prices, with long steps: the model or the labels that are alive have changed.
    pub(crate) fn restart(&mut self) {
        self.bound = f64::NEG_INFINITY;
        self.rise = f64::INFINITY;
        self.stalled = 0;
        self.converged = false;
    }

    /// The dual in the best state so far.
    pub(crate) fn dual<'m>(&self, model: &'m Model, graph: &'m Graph, alive: Option<&[bool]>) -> Dual<'m> {
        let mut dual = Dual::new(model, graph);
        dual.prices.clone_from(&self.prices);
        dual.messages.clone_from(&self.messages);
        dual.price_labels(1.0, alive);
        dual
    }

    /// Whether long steps are over.
    pub(crate) fn settled(&self) -> bool {
        self.converged || self.rise < 0.001 * self.bound
    }

    /// Takes steps until they bring nothing, until the bound reaches `target`, or until `steps` or the work is used
    /// up. `target` is a cost that choices are known or guessed to reach.
    pub(crate) fn run(
        &mut self,
        model: &Model,
        graph: &Graph,
        alive: Option<&[bool]>,
        target: f64,
        steps: usize,
        meter: &mut Meter,
    ) {
        let mut dual = self.dual(model, graph, alive);
        let pieces: usize = model.nodes.iter().map(|node| node.pieces.len()).sum();
        let step_work = graph.work + (2 * pieces + 2 * model.slack.len()) as u64;
        // Without prices there is nothing but messages, whose bound never falls.
        let is_free = model.slack.is_empty();
        // Nodes of a kind are no longer alike once labels of some are dead, and then the messages are those of a parent
        // in the search tree, which are better.
        if self.bound == f64::NEG_INFINITY
            && is_free
            && alive.is_none()
            && let Some(folding) = &graph.folding
        {
            self.fold(&mut dual, folding, meter);
        }
        for _ in 0..steps {
            if self.converged || self.bound >= target || meter.done() {
                return;
            }
            dual.sweep();
            meter.spend(step_work);
            let bound = dual.bound - dual.slack_value(1.0) + model.constant as f64;
            let least = match is_free {
                // Near the target, what is left to rise counts.
                true => SETTLED * bound.abs().min((target - bound).max(0.0) * 100.0),
                false => 0.02 * self.rise,
            };
            self.stalled = if bound > self.bound + least { 0 } else { self.stalled + 1 };
            if bound > self.bound {
                self.bound = bound;
                // No further than twice the bound, for the target may be far too high.
                self.rise = self.rise.min(target - bound).min(bound.max(1.0)).max(0.0);
                self.prices.clone_from(&dual.prices);
                self.messages.clone_from(&dual.messages);
            }
            if is_free {
                self.converged = self.stalled >= SETTLED_SWEEPS;
                continue;
            }
            let (patience, shrink) = PATIENCE[usize::from(self.settled())];
            if self.stalled > patience {
                self.stalled = 0;
                self.rise *= shrink;
                self.converged = self.rise < 1e-7 * (target - self.bound).max(1.0) || self.rise < 0.05;
                dual.prices.clone_from(&self.prices);
                dual.messages.clone_from(&self.messages);
                dual.forget_direction();
                dual.price_labels(1.0, alive);
                dual.sweep();
                meter.spend(step_work);
            }
            dual.step(self.rise, MOMENTUM);
            dual.price_labels(1.0, alive);
        }
    }

    /// Passes messages between one node of each kind until they have converged.
    fn fold(&mut self, dual: &mut Dual<'_>, folding: &Folding, meter: &mut Meter) {
        let (mut best, mut since) = (f64::NEG_INFINITY, 0);
        while since < SETTLED_SWEEPS && !meter.done() {
            dual.sweep_folded(folding);
            meter.spend(folding.work);
            since = if dual.bound > best + SETTLED * best.abs() { 0 } else { since + 1 };
            best = best.max(dual.bound);
        }
        self.messages.clone_from(&dual.messages);
    }

    /// What the best state proves.
    pub(crate) fn certify(&self, model: &Model, graph: &Graph, alive: Option<&[bool]>) -> Certificate {
        certify(&self.dual(model, graph, alive), alive)
    }
}

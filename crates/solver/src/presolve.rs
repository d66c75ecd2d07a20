//! Exact reductions. Each step turns a model into a smaller one with the same optimum among the choices that cost less
//! than a cut, and leaves a [`Lift`] that carries choices of the smaller model back. The steps feed each other and run
//! in turn until none has anything left to do:
//!
//! 1. [`propagate`]: labels without support across an edge, above the cut, or without memory go;
//! 2. [`dominate`]: labels that another label of the node beats whatever the others choose go;
//! 3. [`contract`]: a node that is a function of its neighbour joins it;
//! 4. [`eliminate`]: nodes of degree 0, 1 and 2 without a say in memory go, as in register allocation by PBQP;
//! 5. [`cliques`]: times that cannot bind, or that others imply, go.
//!
//! Once, after that, where memory does not bind and the graph is narrow, all nodes go through larger tables, which is all there
//! is to do.

mod build;
mod cliques;
mod contract;
mod dominate;
mod eliminate;
mod lift;
mod order;
mod propagate;
mod table;

pub(crate) use build::build;
pub(crate) use lift::Lift;
pub(crate) use propagate::propagate;

use std::time::Instant;

use crate::meter::Meter;
use crate::model::{FORBIDDEN, Infeasible, Model};

/// A model, and the way back to the one it was reduced from.
#[derive(Clone, Debug)]
pub(crate) struct Reduced {
    pub(crate) model: Model,
    lifts: Vec<Lift>,
    /// When to stop reducing: what was reduced until then holds.
    deadline: Option<Instant>,
}

/// Rounds of all the steps. Each round but the last removes something; past these few, what it removes is little.
const ROUNDS: usize = 30;

impl Reduced {
    pub(crate) fn new(model: Model, deadline: Option<Instant>) -> Self {
        Reduced { model, lifts: Vec::new(), deadline }
    }

    fn late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Reduces the model, keeping the optimum if it costs less than `cut`.
    ///
    /// # Errors
    /// If there is no such choice.
    pub(crate) fn reduce(&mut self, cut: i64) -> Result<(), Infeasible> {
        let cut = cut.min(FORBIDDEN);
        for _ in 0..ROUNDS {
            let before = measure(&self.model);
            let alive = propagate(&self.model, cut, all_alive(&self.model))?;
            self.restrict(&alive);
            if self.late() {
                break;
            }
            let alive = dominate::dominate(&self.model, cut);
            self.restrict(&alive);
            if self.late() {
                break;
            }
            self.step(contract::contract);
            if self.late() {
                break;
            }
            self.step(eliminate::narrow);
            cliques::reduce(&mut self.model);
            if self.late() || !worthwhile(before, measure(&self.model)) {
                break;
            }
        }
        if self.model.constant >= cut || self.model.slack.iter().any(|&slack| slack < 0) {
            return Err(Infeasible);
        }
        Ok(())
    }

    /// Eliminates all nodes through tables of any number of them, if the meter allows as much work.
    ///
    /// # Errors
    /// If no choice costs less than `cut`.
    pub(crate) fn eliminate(&mut self, cut: i64, meter: &mut Meter) -> Result<(), Infeasible> {
        let before = self.model.nodes.len();
        self.step(|model| eliminate::wide(model, meter));
        if self.model.nodes.len() < before { self.reduce(cut) } else { Ok(()) }
    }

    /// Keeps only the labels that are alive.
    pub(crate) fn restrict(&mut self, alive: &[Vec<bool>]) {
        if alive.iter().any(|labels| labels.contains(&false)) {
            self.step(|model| lift::restrict(model, alive));
        }
    }

    fn step(&mut self, step: impl FnOnce(Model) -> (Model, Option<Lift>)) {
        let (model, lift) = step(std::mem::take(&mut self.model));
        self.model = model;
        self.lifts.extend(lift);
    }

    /// The choice in the original model that a choice in the reduced one stands for.
    pub(crate) fn lift(&self, choice: &[u32]) -> Vec<u32> {
        self.lifts.iter().rev().fold(choice.to_vec(), |choice, lift| lift.lift(&choice))
    }

    /// The choice in the reduced model that comes closest to one in the original; `None` if a label is gone.
    pub(crate) fn project(&self, choice: &[u32]) -> Option<Vec<u32>> {
        self.lifts.iter().try_fold(choice.to_vec(), |choice, lift| lift.project(&choice))
    }
}

/// Every label, alive.
pub(crate) fn all_alive(model: &Model) -> Vec<Vec<bool>> {
    model.nodes.iter().map(|node| vec![true; node.cost.len()]).collect()
}

/// Whether a round removed so much that another is due: anything from a small model, a percent of a large one.
fn worthwhile(before: [usize; 4], after: [usize; 4]) -> bool {
    let large = before[1] > 20_000;
    before
        .iter()
        .zip(&after)
        .any(|(&before, &after)| after * 100 < if large { before * 99 } else { before * 100 })
}

fn measure(model: &Model) -> [usize; 4] {
    [model.nodes.len(), model.labels(), model.edges.len(), model.slack.len()]
}

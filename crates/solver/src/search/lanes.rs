//! The two lanes of the search on a model too large to branch on. One raises the bound and dives from its state, the
//! other descends from the best choice. They run side by side for a fixed amount of work and meet; what each finds
//! depends on that amount and not on how many threads carried them.

use crate::bound::Ascent;
use crate::core::Core;
use crate::meter::Meter;
use crate::presolve::Reduced;

use super::crossover::crossover;
use super::dive::{Order, Style, dive};
use super::tree_block::Descent;

/// Both lanes, and what they share.
pub(crate) struct Lanes {
    pub(crate) base: Reduced,
    pub(crate) core: Core,
    pub(crate) bounds: BoundLane,
    pub(crate) descent: DescentLane,
    /// The latest choices found, within memory.
    pub(crate) pool: Vec<Vec<u32>>,
    pub(crate) best: Option<Vec<u32>>,
    /// The ascent's bound when it was last certified.
    pub(crate) certified: f64,
    /// What the core was told a choice costs.
    scale: i64,
}

/// Choices in the pool.
const POOL: usize = 24;

impl Lanes {
    pub(crate) fn new(base: Reduced, scale: i64, choice: &[u32], seed: u64) -> Self {
        let core = Core::of(base.clone(), scale);
        Lanes {
            bounds: BoundLane::new(&core, seed.wrapping_mul(2)),
            descent: DescentLane::new(seed.wrapping_mul(2).wrapping_add(1)),
            pool: Vec::new(),
            best: base.project(choice),
            certified: f64::MIN,
            core,
            base,
            scale,
        }
    }

    /// Forbidden entries count as a few times what a choice costs, which keeps messages exact; when much cheaper
    /// choices are known, they count as less.
    pub(crate) fn rescale(&mut self, cost: i64) {
        if cost < self.scale / 3 {
            self.scale = cost;
            self.core = Core::of(self.base.clone(), cost);
            self.bounds.ascent.messages.fill(0.0);
            self.bounds.ascent.restart();
        }
    }

    /// Adds a choice to the pool, and gives what is better than the best before: it, and its crossover with it.
    pub(crate) fn improvements(&mut self, choice: Vec<u32>) -> Vec<Vec<u32>> {
        let (model, graph) = (&self.core.reduced.model, &self.core.graph);
        let mut better = Vec::new();
        let crossed = self.best.as_ref().map(|best| crossover(model, graph, best, &choice));
        for candidate in [Some(choice.clone()), crossed].into_iter().flatten() {
            let improves = self.best.as_ref().is_none_or(|best| model.cost(&candidate) < model.cost(best));
            if improves && model.fits(&candidate) {
                self.best = Some(candidate.clone());
                better.push(candidate);
            }
        }
        self.pool.push(choice);
        if self.pool.len() > POOL {
            self.pool.remove(0);
        }
        better
    }
}

/// Raises the bound and dives.
pub(crate) struct BoundLane {
    pub(crate) ascent: Ascent,
    random: fastrand::Rng,
    dives: u32,
    /// What dives multiply prices by: up when they run out of memory, down when they do not.
    factor: f64,
    /// Descends from dives.
    descent: DescentLane,
}

impl BoundLane {
    pub(crate) fn new(core: &Core, seed: u64) -> Self {
        BoundLane {
            ascent: Ascent::new(&core.reduced.model, &core.graph),
            random: fastrand::Rng::with_seed(seed),
            dives: 0,
            factor: 1.0,
            descent: DescentLane::new(!seed),
        }
    }

    /// Ascends for a part of the work, dives or descends for the rest; gives the choices found.
    pub(crate) fn run(
        &mut self,
        core: &Core,
        cut: Option<i64>,
        limit: u64,
        bound_only: bool,
        pool: &[Vec<u32>],
        meter: &mut Meter,
    ) -> Vec<Vec<u32>> {
        let (model, graph) = (&core.reduced.model, &core.graph);
        let target = match cut {
            Some(cut) => cut as f64,
            None => self.guess(core),
        };
        // Dives are as good as the prices, so the ascent comes first until its long steps are over.
        let share = if bound_only && cut.is_some() {
            limit
        } else if self.ascent.settled() {
            limit / 2
        } else {
            limit / 5 * 4
        };
        let mut part = meter.part(share);
        self.ascent.run(model, graph, None, target, usize::MAX, &mut part);
        meter.spend(part.spent);
        let mut found = Vec::new();
        if model.slack.is_empty() {
            // Without prices, messages that have settled often tell an optimum.
            let mut dual = self.ascent.dual(model, graph, None);
            dual.sweep();
            meter.spend(graph.work);
            let choice = dual.decode();
            let is_near = model.cost(&choice) as f64 <= self.ascent.bound * (1.0 + NEAR);
            found.push(choice);
            if bound_only || is_near {
                return found;
            }
        }
        if !self.ascent.settled() || cut.is_none() || bound_only {
            while !meter.done() {
                found.extend(self.dive(core, meter));
            }
            return found;
        }
        // From now on the dives are starts of descents, which end elsewhere than those from the best choice.
        while !meter.done() {
            if self.descent.current.is_empty() {
                let Some(choice) = self.dive(core, meter) else { continue };
                self.descent.current.clone_from(&choice);
                found.push(choice);
            }
            found.push(self.descent.run(core, pool, &self.ascent.prices, meter));
        }
        found
    }

    fn dive(&mut self, core: &Core, meter: &mut Meter) -> Option<Vec<u32>> {
        let (model, graph) = (&core.reduced.model, &core.graph);
        let style = self.style();
        let dual = self.ascent.dual(model, graph, None);
        meter.spend(graph.work + 1000);
        let choice = dive(dual, vec![true; model.labels()], style, &mut self.random, meter);
        self.factor = if choice.is_some() { 1.0f64.max(self.factor * 0.97) } else { self.factor * 1.15 };
        choice
    }

    /// What an optimum might cost, when nothing is known: twice what it costs without a limit on memory.
    fn guess(&mut self, core: &Core) -> f64 {
        let mut dual = self.ascent.dual(&core.reduced.model, &core.graph, None);
        dual.sweep();
        let bound = dual.bound + core.reduced.model.constant as f64;
        2.0 * bound.max(self.ascent.bound).max(1.0)
    }

    /// Styles in turn, so that dives differ.
    fn style(&mut self) -> Style {
        self.dives += 1;
        // Deciding first what is clearest finds by far the best choices on most models; the other orders help crossover.
        let order = match self.dives % 8 {
            2 => Order::Forward,
            4 => Order::Backward,
            6 => Order::Random,
            _ => Order::Regret,
        };
        let sweeps = [50, 25, 80][self.dives as usize % 3];
        let noise = if self.dives <= 8 { 0.0 } else { 0.15 * self.random.f64() };
        Style { order, sweeps, price_factor: self.factor, noise }
    }
}

/// Descends.
pub(crate) struct DescentLane {
    random: fastrand::Rng,
    /// Where the current descent stands; empty at first.
    current: Vec<u32>,
    /// How far the current cycle is, from 0 to 1.
    phase: f64,
    cycles: u32,
}

/// How far above the bound, as a part of it, a choice is as good as it gets.
const NEAR: f64 = 1e-7;

/// Epochs in the first cycle; each cycle is longer than the one before, up to a limit.
const SHORTEST: f64 = 6.0;
const LONGEST: f64 = 40.0;

/// Blocks between two looks at the meter.
const CHUNK: usize = 64;

impl DescentLane {
    pub(crate) fn new(seed: u64) -> Self {
        DescentLane { random: fastrand::Rng::with_seed(seed), current: Vec::new(), phase: 0.0, cycles: 0 }
    }

    /// Has the next run start from a choice, if it is much better than what a descent could catch up with or if the
    /// last cycle is over.
    pub(crate) fn follow(&mut self, core: &Core, best: &[u32]) {
        let model = &core.reduced.model;
        if self.current.is_empty() || model.cost(&self.current) as f64 > 1.01 * model.cost(best) as f64 {
            self.current = best.to_vec();
            self.phase = 0.0;
        }
    }

    /// Descends from where it stands and gives the best choice found on the way.
    pub(crate) fn run(
        &mut self,
        core: &Core,
        pool: &[Vec<u32>],
        prices: &[f64],
        meter: &mut Meter,
    ) -> Vec<u32> {
        let (model, graph) = (&core.reduced.model, &core.graph);
        let mut descent = Descent::new(model, graph, std::mem::take(&mut self.current), prices);
        meter.spend(2 * graph.work);
        let start = model.cost(descent.choice()) as f64;
        let (mut cost, mut least) = (start, start);
        let mut best_here = descent.choice().to_vec();
        let epochs = (SHORTEST * 1.3f64.powi(self.cycles as i32)).min(LONGEST);
        // The end of a cycle counts memory at a fraction of its price, so that what is left is used.
        let rho = 0.95 - 0.75 * self.phase;
        let largest = 30.0 * (1000.0f64).powf(self.phase);
        while !meter.done() {
            for _ in 0..CHUNK {
                let cap = 2 + (largest * self.random.f64().powi(2)) as usize;
                let (change, work) = descent.block(cap, rho, &mut self.random);
                cost += change;
                meter.spend(work);
            }
            if cost < least {
                least = cost;
                best_here.copy_from_slice(descent.choice());
            }
        }
        self.current = descent.choice().to_vec();
        self.phase += 1.0 / epochs;
        if self.phase > 1.0 {
            self.phase = 0.0;
            self.cycles += 1;
            for other in pool {
                best_here = crossover(model, graph, &best_here, other);
            }
            self.current.clear();
        }
        best_here
    }
}

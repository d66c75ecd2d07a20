//! What workers reach of operands and of intermediate tensors, whatever guards say of bounds: windows move evenly from worker to
//! worker, which what is left of them at the edges would not.

use smallvec::SmallVec;

use super::{Shares, Window};
use crate::description::*;
use crate::region::{Interval, Scope};

/// The windows of operands and intermediate tensors, as far as they are chosen.
pub(super) struct Reach<'d> {
    data: &'d Data,
    extents: &'d [i64],
    shares: &'d Shares,
    pub(super) operands: Vec<SmallVec<[Window; 4]>>,
    /// None of what nothing needs.
    pub(super) lets: Vec<Option<SmallVec<[Window; 4]>>>,
}

/// The workers at whom is looked: of one division one worker, of the others all.
type At = Option<(usize, i64)>;

impl<'d> Reach<'d> {
    pub(super) fn new(data: &'d Data, extents: &'d [i64], shares: &'d Shares) -> Reach<'d> {
        Reach { data, extents, shares, operands: Vec::new(), lets: vec![None; data.lets.len()] }
    }

    /// Chooses the windows of all intermediate tensors, the last ones first, then of the operands.
    pub(super) fn choose(&mut self, moves: &dyn Fn(usize, usize) -> Option<usize>) {
        for number in (0..self.data.lets.len()).rev() {
            let source = Source::Let(number as u32);
            if self.reached(source, None).is_none() {
                continue;
            }
            let dims = self.data.dims(source);
            let windows = dims.iter().enumerate().map(|(dim, &extent)| {
                let extent = self.extent(extent);
                let all = 0..self.shares.each.len();
                all.filter_map(|division| self.window(source, dim, division, extent))
                    .next()
                    .unwrap_or(Window::whole(extent))
            });
            let windows = windows.collect();
            self.lets[number] = Some(windows);
        }
        for operand in 0..self.data.parameters.len() {
            let source = Source::Operand(operand as u32);
            let dims = self.data.dims(source);
            let windows = dims.iter().enumerate().map(|(dim, &extent)| {
                let extent = self.extent(extent);
                moves(operand, dim)
                    .and_then(|division| self.window(source, dim, division, extent))
                    .unwrap_or(Window::whole(extent))
            });
            let windows = windows.collect();
            self.operands.push(windows);
        }
    }

    fn extent(&self, id: IndexId) -> u64 {
        let scope = Scope::new(self.data, self.extents);
        scope.extent(id).max(0) as u64
    }

    /// The window of a dimension that moves with the workers of a division, if there is one and it is smaller than all.
    fn window(&self, source: Source, dim: usize, division: usize, extent: u64) -> Option<Window> {
        let workers = self.shares.each[division].workers;
        if workers < 2 || self.shares.each[division].var.is_none() {
            return None;
        }
        let of = |worker: i64| {
            let reached = self.reached(source, Some((division, worker)))?;
            reached.get(dim).copied().filter(|interval| !interval.is_empty())
        };
        let (first, second, last) = (of(0)?, of(1)?, of(workers - 1)?);
        let size = |interval: Interval| interval.high.saturating_sub(interval.low).saturating_add(1);
        let step = second.low - first.low;
        let far = first.low.checked_add(step.checked_mul(workers - 1)?)?;
        let moves = step != 0 && size(first) == size(second) && size(second) == size(last) && far == last.low;
        let window = Window {
            moves: Some(division),
            start: first.low,
            step,
            size: u64::try_from(size(first)).unwrap_or(u64::MAX),
        };
        (moves && window.size < extent).then_some(window)
    }

    /// What is reached of a tensor by what stands behind it.
    fn reached(&self, target: Source, at: At) -> Option<Vec<Interval>> {
        let mut walk = Walk { reach: self, target, at, found: None };
        for result in &self.data.results {
            let mut scope = Scope::new(self.data, self.extents);
            for &var in &result.vars {
                walk.bind(&mut scope, var, self.shares.of_var(var));
            }
            walk.scalar(result.body, &scope);
        }
        let after = match target {
            Source::Let(number) => number as usize + 1,
            Source::Operand(_) => 0,
        };
        for number in after..self.data.lets.len() {
            let Some(windows) = &self.lets[number] else { continue };
            let item = &self.data.lets[number];
            let mut scope = Scope::new(self.data, self.extents);
            for (&var, window) in item.vars.iter().zip(windows) {
                scope.bind(var, self.range(window, at));
            }
            walk.scalar(item.body, &scope);
        }
        walk.found
    }

    /// The elements of a window.
    fn range(&self, window: &Window, at: At) -> Interval {
        let size = i64::try_from(window.size).unwrap_or(i64::MAX);
        let of = |worker: i64| {
            let low = window.start.saturating_add(window.step.saturating_mul(worker));
            Interval::new(low, low.saturating_add(size - 1))
        };
        match (window.moves, at) {
            (None, _) => of(0),
            (Some(division), Some((looked_at, worker))) if division == looked_at => of(worker),
            (Some(division), _) => of(0).hull(of(self.shares.each[division].workers - 1)),
        }
    }
}

struct Walk<'r, 'd> {
    reach: &'r Reach<'d>,
    target: Source,
    at: At,
    found: Option<Vec<Interval>>,
}

impl Walk<'_, '_> {
    /// Brings a variable into scope: over a share, padding included, where it is split and a worker is looked at. Of divisions
    /// at which nobody looks, the padding does not count: an index that hangs on their workers stays inside anyhow.
    fn bind(&self, scope: &mut Scope<'_>, var: VarId, split: Option<(usize, i64)>) {
        scope.bind_whole(var);
        if let (Some((division, each)), Some((looked_at, worker))) = (split, self.at)
            && division == looked_at
        {
            scope.bind(var, Interval::new(each * worker, each * (worker + 1) - 1));
        }
    }

    fn scalar(&mut self, id: ScalarId, scope: &Scope<'_>) {
        let data = scope.data;
        match data.scalar(id) {
            Scalar::Literal(_) | Scalar::Carried(..) => {}
            Scalar::Index(index) => self.index(*index, scope),
            Scalar::Read(source, indices) => self.access(*source, indices.iter().copied().map(Some), scope),
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => self.scalar(*a, scope),
            Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => {
                self.scalar(*a, scope);
                self.scalar(*b, scope);
            }
            Scalar::Select(condition, a, b) => {
                self.scalar(*condition, scope);
                // What a guard says of remainders holds of all workers alike.
                let mut holds = scope.clone();
                holds.assume_remainders(*condition);
                if !holds.is_dead() {
                    self.scalar(*a, &holds);
                }
                self.scalar(*b, scope);
            }
            Scalar::Reduce(id, _) => {
                let reduction = data.reduction(*id);
                if let Reducer::Custom(combiner) = reduction.reducer {
                    data.combiner(combiner).identities.iter().for_each(|&value| self.scalar(value, scope));
                }
                let mut inside = scope.clone();
                for &var in &reduction.vars {
                    self.bind(&mut inside, var, self.reach.shares.of_reduced(*id, var));
                }
                reduction.bodies.iter().for_each(|&body| self.scalar(body, &inside));
            }
            Scalar::Opaque(call, indices) => {
                for slice in &data.opaque(*call).arguments {
                    self.access(slice.source, slice.dims.iter().copied(), scope);
                }
                indices.iter().for_each(|&index| self.index(index, scope));
            }
        }
    }

    fn index(&mut self, id: IndexId, scope: &Scope<'_>) {
        match scope.data.index(id) {
            Index::Const(_) | Index::Extent(_) | Index::Var(_) => {}
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Mul(a, b)
            | Index::FloorDiv(a, b)
            | Index::Mod(a, b) => {
                self.index(a, scope);
                self.index(b, scope);
            }
            Index::Data(scalar) => self.scalar(scalar, scope),
        }
    }

    fn access(&mut self, source: Source, slots: impl Iterator<Item = Option<IndexId>>, scope: &Scope<'_>) {
        let data = scope.data;
        let dims = data.dims(source);
        let slots: SmallVec<[Option<IndexId>; 4]> = slots.collect();
        for &slot in slots.iter().flatten() {
            self.index(slot, scope);
        }
        if source != self.target {
            return;
        }
        let intervals: Vec<Interval> = slots
            .iter()
            .zip(&dims)
            .map(|(slot, &extent)| {
                let whole = Interval::new(0, scope.extent(extent) - 1);
                let Some(index) = *slot else { return whole };
                // What hangs on elements may be anywhere.
                if crate::walk::any_index_in(data, index, &|part| matches!(part, Index::Data(_))) {
                    return whole;
                }
                scope.interval(index)
            })
            .collect();
        if intervals.iter().any(|interval| interval.is_empty()) {
            return;
        }
        self.found = Some(match self.found.take() {
            Some(before) => before.into_iter().zip(intervals).map(|(a, b)| a.hull(b)).collect(),
            None => intervals,
        });
    }
}

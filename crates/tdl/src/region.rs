//! Regions: which elements of the operands a part of the results needs, for actual extents.
//!
//! Results are walked with their variables in the ranges of the part; every access notes the strided interval of each
//! of its indices, with guards taken into account. What is needed of an intermediate tensor is known when everything
//! after it was walked; then its own definition is, over just that. For affine indices the boxes are the smallest
//! strided ones, since a sum of independent strided intervals takes its extremes and has the greatest common divisor
//! of the steps as its step.

mod interval;
mod scope;

pub(crate) use interval::{Interval, gcd};
pub(crate) use scope::Scope;

use crate::description::*;
use crate::evaluate::Part;

/// A strided range of one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DimRange {
    /// The first index.
    pub start: u64,
    /// How many indices.
    pub size: u64,
    /// From one to the next.
    pub stride: u64,
}

/// A strided box of a tensor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Region {
    /// One range for each dimension; if nothing is needed they have the size 0.
    pub dims: Vec<DimRange>,
}

impl Region {
    /// The whole of a tensor.
    pub fn whole(dims: &[u64]) -> Region {
        Region { dims: dims.iter().map(|&size| DimRange { start: 0, size, stride: 1 }).collect() }
    }

    /// The number of elements.
    pub fn len(&self) -> u64 {
        self.dims.iter().fold(1, |product, dim| product.saturating_mul(dim.size))
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What is needed of each operand and intermediate tensor.
#[derive(Clone, Debug)]
pub(crate) struct Needs {
    pub(crate) operands: Vec<Option<Vec<Interval>>>,
    pub(crate) lets: Vec<Option<Vec<Interval>>>,
}

/// What a part of the results needs of each operand; the extents are those of the description, in its order.
pub fn regions(description: &Description, extents: &[u64], part: &Part) -> Vec<Region> {
    let data = description.data();
    let extents = signed(extents);
    let needs = needs(data, &extents, part);
    let ranks = data.parameters.iter().map(|parameter| parameter.dims.len());
    needs.operands.iter().zip(ranks).map(|(need, rank)| region(need.as_deref(), rank)).collect()
}

pub(crate) fn signed(extents: &[u64]) -> Vec<i64> {
    extents.iter().map(|&extent| i64::try_from(extent).unwrap_or(i64::MAX)).collect()
}

pub(crate) fn region(need: Option<&[Interval]>, rank: usize) -> Region {
    let range = |interval: &Interval| DimRange {
        start: interval.low as u64,
        size: interval.count() as u64,
        stride: interval.step.max(1) as u64,
    };
    match need {
        Some(intervals) => Region { dims: intervals.iter().map(range).collect() },
        None => Region { dims: vec![DimRange { start: 0, size: 0, stride: 1 }; rank] },
    }
}

pub(crate) fn needs(data: &Data, extents: &[i64], part: &Part) -> Needs {
    let mut walk = Walk {
        part,
        needs: Needs { operands: vec![None; data.parameters.len()], lets: vec![None; data.lets.len()] },
    };
    for result in &data.results {
        let mut scope = Scope::new(data, extents);
        for &var in &result.vars {
            bind_output(&mut scope, var, part);
        }
        walk.scalar(result.body, &scope);
    }
    for (number, item) in data.lets.iter().enumerate().rev() {
        let Some(needed) = walk.needs.lets[number].clone() else { continue };
        let mut scope = Scope::new(data, extents);
        for (&var, interval) in item.vars.iter().zip(needed) {
            scope.bind(var, interval);
        }
        walk.scalar(item.body, &scope);
    }
    walk.needs
}

impl Interval {
    /// The `length` numbers from `start` on, as far as they are in it.
    fn clip_share(self, start: u64, length: u64) -> Interval {
        let far = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.clip(far(start), far(start.saturating_add(length)).saturating_sub(1))
    }
}

/// Brings a variable of a result into scope, over its share.
pub(crate) fn bind_output(scope: &mut Scope<'_>, var: VarId, part: &Part) {
    scope.bind_whole(var);
    if let Some(&(_, start, length)) = part.outputs.iter().find(|(other, ..)| *other == var) {
        let share = scope.range(var).clip_share(start, length);
        scope.bind(var, share);
    }
}

/// Brings the variables of a reduction into scope, over their shares.
pub(crate) fn bind_reduction(scope: &mut Scope<'_>, id: ReductionId, part: &Part) {
    let data = scope.data;
    for &var in &data.reduction(id).vars {
        scope.bind_whole(var);
        let share = part.reductions.iter().find(|(other, name, ..)| *other == id && *name == var);
        if let Some(&(_, _, start, length)) = share {
            let share = scope.range(var).clip_share(start, length);
            scope.bind(var, share);
        }
    }
}

struct Walk<'p> {
    part: &'p Part,
    needs: Needs,
}

impl Walk<'_> {
    fn scalar(&mut self, id: ScalarId, scope: &Scope<'_>) {
        if scope.is_dead() {
            return;
        }
        let data = scope.data;
        match data.scalar(id) {
            Scalar::Literal(_) | Scalar::Carried(..) => {}
            Scalar::Index(index) => self.index(*index, scope),
            Scalar::Read(source, indices) => {
                self.access(*source, indices.iter().copied().map(Some), scope);
            }
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => self.scalar(*a, scope),
            Scalar::Binary(_, a, b) => {
                self.part.kept(id, [*a, *b]).for_each(|operand| self.scalar(operand, scope));
            }
            Scalar::Compare(_, a, b) => {
                self.scalar(*a, scope);
                self.scalar(*b, scope);
            }
            Scalar::Select(condition, a, b) => {
                self.scalar(*condition, scope);
                for (branch, holds) in [(*a, true), (*b, false)] {
                    if matches!(data.scalar(branch), Scalar::Literal(_)) || self.part.leaves_out(id, branch) {
                        continue;
                    }
                    let mut inside = scope.clone();
                    inside.assume(*condition, holds);
                    self.scalar(branch, &inside);
                }
            }
            Scalar::Reduce(id, _) => {
                let reduction = data.reduction(*id);
                if let Reducer::Custom(combiner) = reduction.reducer {
                    data.combiner(combiner).identities.iter().for_each(|&value| self.scalar(value, scope));
                }
                let mut inside = scope.clone();
                bind_reduction(&mut inside, *id, self.part);
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
        let mut intervals = Vec::new();
        for (slot, &extent) in slots.zip(&scope.data.dims(source)) {
            let whole = Interval::new(0, scope.extent(extent) - 1);
            intervals.push(match slot {
                Some(index) => {
                    self.index(index, scope);
                    scope.interval(index).clip(0, whole.high)
                }
                None => whole,
            });
        }
        if intervals.iter().any(|interval| interval.is_empty()) {
            return;
        }
        let need = match source {
            Source::Operand(number) => &mut self.needs.operands[number as usize],
            Source::Let(number) => &mut self.needs.lets[number as usize],
        };
        *need = Some(match need.take() {
            Some(before) => before.into_iter().zip(intervals).map(|(a, b)| a.hull(b)).collect(),
            None => intervals,
        });
    }
}

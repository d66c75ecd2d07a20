//! Elements of tensors.
//!
//! Most places are even in the variables: each dimension of the tensor is a row of digits, `x[i·64 + j]` for `j` below 64, or several dimensions
//! together are one, `x[i floordiv 64, i mod 64]`. Such elements are cut out and reshaped. All else is gathered.

use smallvec::SmallVec;
use tofu_ir::ValueId;
use tofu_tdl::{IndexId, Source, VarId};

use super::linear::{Atom, Linear};
use super::{Express, Term, Vars};
use crate::{PlaceDimensions, concatenate, gather, pad, reshape, slice};

/// What of a dimension is read: `count` elements from `start` on, in steps; they are the digits of these variables, the major one first.
struct Digits {
    start: i64,
    step: i64,
    count: u64,
    vars: Vars,
}

impl Express<'_> {
    pub(super) fn read(&mut self, source: Source, indices: &[IndexId]) -> Option<Term> {
        let value = self.source(source)?;
        let linear: Vec<Linear> = indices.iter().map(|&index| self.linear(index)).collect::<Option<_>>()?;
        self.read_at(value, &linear)
    }

    fn read_at(&mut self, value: ValueId, linear: &[Linear]) -> Option<Term> {
        let dims = self.dims_of(value);
        if dims.len() != linear.len() {
            return None;
        }
        let (merged, places) = self.merged(&dims, linear)?;
        match self.digits(&places) {
            Some(digits) => self.cut_out(value, &merged, &digits),
            None => self.gathered(value, &dims, linear),
        }
    }

    /// Dimensions that share variables, as one: the extents then, and the places.
    fn merged(&self, dims: &[u64], linear: &[Linear]) -> Option<(Vec<u64>, Vec<Linear>)> {
        let vars: Vec<Vars> = linear.iter().map(vars_of).collect();
        let (mut merged, mut places): (Vec<u64>, Vec<Linear>) = (Vec::new(), Vec::new());
        let mut first = 0;
        while first < dims.len() {
            // As far as something is shared with what comes later.
            let mut last = first;
            let mut at = first;
            while at <= last {
                let shares = |other: &usize| vars[*other].iter().any(|var| vars[at].contains(var));
                last = last.max((at + 1..dims.len()).filter(shares).max().unwrap_or(at));
                at += 1;
            }
            let mut extent = 1_u64;
            let mut place = Linear::default();
            for dim in first..=last {
                place = place.times(i64::try_from(dims[dim]).ok()?)?.plus(linear[dim].clone())?;
                extent = extent.checked_mul(dims[dim])?;
            }
            merged.push(extent);
            places.push(place);
            first = last + 1;
        }
        Some((merged, places))
    }

    /// The digits that places are, if all of them are.
    fn digits(&self, places: &[Linear]) -> Option<Vec<Digits>> {
        let mut seen = Vars::new();
        let one = |place: &Linear| {
            let mut vars = place.of_vars()?;
            // One that has a single value, 0, counts nothing.
            vars.retain(|(var, _)| self.known.contains_key(var) || self.extent(*var) != Some(1));
            if vars
                .iter()
                .any(|(var, factor)| *factor <= 0 || self.known.contains_key(var) || seen.contains(var))
            {
                return None;
            }
            seen.extend(vars.iter().map(|&(var, _)| var));
            vars.sort_by_key(|&(_, factor)| std::cmp::Reverse(factor));
            let step = vars.last().map_or(1, |&(_, factor)| factor);
            let (mut next, mut count) = (step, 1);
            for &(var, factor) in vars.iter().rev() {
                if factor != next {
                    return None;
                }
                let extent = self.extent(var)?;
                count *= extent;
                next = next.checked_mul(i64::try_from(extent).ok()?)?;
            }
            let vars = vars.iter().map(|&(var, _)| var).collect();
            Some(Digits { start: place.constant, step, count, vars })
        };
        places.iter().map(one).collect()
    }

    fn cut_out(&mut self, value: ValueId, dims: &[u64], digits: &[Digits]) -> Option<Term> {
        let element = self.element_of(value);
        let mut value = value;
        if self.dims_of(value)[..] != *dims {
            let ty = self.ty(dims, element);
            value = reshape(&mut self.builder(), value, ty).ok()?;
        }
        // Where a guard leaves out what is outside, something must stand there.
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for (digits, &extent) in digits.iter().zip(dims) {
            let last = digits.start.checked_add(digits.step.checked_mul(digits.count as i64 - 1)?)?;
            low.push((-digits.start).max(0));
            high.push((last - (extent as i64 - 1)).max(0));
        }
        if low.iter().chain(&high).any(|&more| more > 0) {
            let zero = self.word(tofu_tdl::numeric::Word::of_int(element, 0), element)?;
            let none = vec![0; dims.len()];
            value = pad(&mut self.builder(), value, zero.value, &low, &high, &none).ok()?;
        }
        let start: Vec<i64> = digits.iter().zip(&low).map(|(digits, low)| digits.start + low).collect();
        let limit: Vec<i64> = digits
            .iter()
            .zip(&start)
            .map(|(digits, start)| start + digits.step * (digits.count as i64 - 1) + 1)
            .collect();
        let step: Vec<i64> = digits.iter().map(|digits| digits.step).collect();
        let counts: Vec<u64> = digits.iter().map(|digits| digits.count).collect();
        if self.dims_of(value)[..] != counts[..] || step.iter().any(|&step| step != 1) {
            value = slice(&mut self.builder(), value, &start, &limit, &step).ok()?;
        }
        let vars: Vars = digits.iter().flat_map(|digits| digits.vars.iter().copied()).collect();
        let dims = self.extents(&vars)?;
        if self.dims_of(value)[..] != dims[..] {
            let ty = self.ty(&dims, element);
            value = reshape(&mut self.builder(), value, ty).ok()?;
        }
        let ordered = self.in_order(vars.iter().copied());
        let value = self.aligned(&Term { value, vars }, &ordered)?;
        Some(Term { value, vars: ordered })
    }

    /// Elements at any places: an element for each, of those dimensions of which not all is read alike.
    fn gathered(&mut self, value: ValueId, dims: &[u64], linear: &[Linear]) -> Option<Term> {
        let whole: Vec<Option<VarId>> = (0..dims.len())
            .map(|dim| {
                let (var, 1, 0) = linear[dim].of_one()? else { return None };
                let is_alone = (0..dims.len()).all(|other| other == dim || !self.uses(&linear[other], var));
                (is_alone && !self.known.contains_key(&var) && self.extent(var) == Some(dims[dim]))
                    .then_some(var)
            })
            .collect();
        let placed: Vec<usize> = (0..dims.len()).filter(|&dim| whole[dim].is_none()).collect();
        let terms = placed.iter().map(|&dim| self.of_linear(&linear[dim])).collect::<Option<Vec<_>>>()?;
        let (values, vars) = self.together(&terms.iter().collect::<Vec<_>>())?;
        let mut extents: Vec<u64> = self.extents(&vars)?.to_vec();
        extents.push(1);
        let ty = self.ty(&extents, self.index);
        let columns = values
            .into_iter()
            .map(|value| reshape(&mut self.builder(), value, ty).ok())
            .collect::<Option<Vec<_>>>()?;
        let vector = vars.len() as i64;
        let places = match columns[..] {
            [one] => one,
            _ => concatenate(&mut self.builder(), &columns, vector).ok()?,
        };
        let windows: Vars = whole.iter().flatten().copied().collect();
        let window: Vec<i64> = (0..windows.len() as i64).map(|number| vector + number).collect();
        let placed: Vec<i64> = placed.iter().map(|&dim| dim as i64).collect();
        let dimensions = PlaceDimensions {
            window: &window,
            dropped: &placed,
            batching: &[],
            indices_batching: &[],
            map: &placed,
            vector,
        };
        let sizes: Vec<i64> =
            (0..dims.len()).map(|dim| if whole[dim].is_some() { dims[dim] as i64 } else { 1 }).collect();
        let value = gather(&mut self.builder(), value, places, dimensions, &sizes).ok()?;
        let all: Vars = vars.iter().chain(&windows).copied().collect();
        let ordered = self.in_order(all.iter().copied());
        let value = self.aligned(&Term { value, vars: all }, &ordered)?;
        Some(Term { value, vars: ordered })
    }
}

/// The variables of which places are made.
fn vars_of(place: &Linear) -> Vars {
    place
        .terms
        .iter()
        .flat_map(|(atom, _)| match atom {
            Atom::Var(var) => SmallVec::from_iter([*var]),
            Atom::Element(_) => Vars::new(),
            Atom::Quotient(inner, _) | Atom::Remainder(inner, _) => vars_of(inner),
        })
        .collect()
}

//! What is known of index variables at some place, for actual extents, and the intervals that follow.
//!
//! An index is brought into the form `constant + Σ factor · term`, where a term is a variable, a quotient, a remainder
//! or an index that depends on elements. A guard bounds such a sum; the bound is kept with the sum itself, so that an
//! access of the same sum is clipped exactly, and it narrows the range of every variable in it.

use smallvec::SmallVec;

use super::interval::{FAR, Interval, gcd};
use crate::description::*;
use crate::evaluate::eval_extent;
use crate::scalar::{BinaryOp, Comparison, UnaryOp};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Term {
    Var(VarId),
    /// A quotient, a remainder or an element.
    Other(IndexId),
}

type Terms = SmallVec<[(Term, i64); 3]>;

#[derive(Clone, Debug, Default)]
struct Sum {
    constant: i64,
    terms: Terms,
}

/// A bound on a sum without a constant, whose first factor is positive and whose factors have no common divisor.
#[derive(Clone, Debug)]
struct Bound {
    terms: Terms,
    low: i64,
    high: i64,
    /// `(rest, modulus)`
    congruence: Option<(i64, i64)>,
}

/// What is known at some place.
#[derive(Clone, Debug)]
pub(crate) struct Scope<'d> {
    pub(crate) data: &'d Data,
    pub(crate) extents: &'d [i64],
    vars: Vec<(VarId, Interval)>,
    bounds: Vec<Bound>,
    /// Set when nothing is ever evaluated here.
    dead: bool,
}

impl<'d> Scope<'d> {
    pub(crate) fn new(data: &'d Data, extents: &'d [i64]) -> Scope<'d> {
        Scope { data, extents, vars: Vec::new(), bounds: Vec::new(), dead: false }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead
    }

    pub(crate) fn extent(&self, id: IndexId) -> i64 {
        eval_extent(self.data, id, self.extents).unwrap_or(0)
    }

    /// Brings a variable into scope.
    pub(crate) fn bind(&mut self, var: VarId, range: Interval) {
        self.vars.retain(|(other, _)| *other != var);
        self.bounds.retain(|bound| !bound.terms.iter().any(|(term, _)| *term == Term::Var(var)));
        self.vars.push((var, range));
        self.dead |= range.is_empty();
    }

    /// Brings a variable into scope, over its whole range.
    pub(crate) fn bind_whole(&mut self, var: VarId) {
        let extent = self.extent(self.data.variable(var).extent);
        self.bind(var, Interval::new(0, extent - 1));
    }

    pub(crate) fn range(&self, var: VarId) -> Interval {
        let found = self.vars.iter().rev().find(|(other, _)| *other == var);
        found.map_or(Interval::EMPTY, |(_, range)| *range)
    }

    /// The values that an index may have here.
    pub(crate) fn interval(&self, id: IndexId) -> Interval {
        self.interval_of(&self.sum(id))
    }

    fn interval_of(&self, sum: &Sum) -> Interval {
        let mut interval = Interval::single(0);
        for &(term, factor) in &sum.terms {
            interval = interval.add(self.term(term).scale(factor));
        }
        if let Some((normal, factor)) = normal(&sum.terms) {
            for bound in self.bounds.iter().filter(|bound| bound.terms == normal) {
                let mut inner = interval_divided(interval, factor).clip(bound.low, bound.high);
                if let Some((rest, modulus)) = bound.congruence {
                    inner = inner.congruent(rest, modulus);
                }
                interval = inner.scale(factor);
            }
        }
        interval.add(Interval::single(sum.constant))
    }

    fn term(&self, term: Term) -> Interval {
        match term {
            Term::Var(var) => self.range(var),
            Term::Other(id) => match self.data.index(id) {
                Index::FloorDiv(a, b) => self.interval(a).floor_div(self.extent(b)),
                Index::Mod(a, b) => self.interval(a).modulo(self.extent(b)),
                Index::Data(scalar) => self.element(scalar),
                _ => Interval::new(-FAR, FAR),
            },
        }
    }

    /// The values of a scalar used as an index: clamped ones are known to lie between the clamps.
    fn element(&self, id: ScalarId) -> Interval {
        match *self.data.scalar(id) {
            Scalar::Index(index) => self.interval(index),
            Scalar::Binary(op @ (BinaryOp::Max | BinaryOp::Min), a, b) => {
                let (a, b) = (self.element(a), self.element(b));
                if op == BinaryOp::Max {
                    Interval::new(a.low.max(b.low), a.high.max(b.high))
                } else {
                    Interval::new(a.low.min(b.low), a.high.min(b.high))
                }
            }
            _ => Interval::new(-FAR, FAR),
        }
    }

    fn sum(&self, id: IndexId) -> Sum {
        let single = |term: Term| Sum { constant: 0, terms: SmallVec::from_slice(&[(term, 1)]) };
        match self.data.index(id) {
            Index::Const(_) | Index::Extent(_) => Sum { constant: self.extent(id), ..Sum::default() },
            Index::Var(var) => single(Term::Var(var)),
            Index::Add(a, b) => plus(self.sum(a), &self.sum(b), 1),
            Index::Sub(a, b) => plus(self.sum(a), &self.sum(b), -1),
            Index::Mul(a, b) => {
                let (a, b) = (self.sum(a), self.sum(b));
                let (sum, factor) = if a.terms.is_empty() { (b, a.constant) } else { (a, b.constant) };
                plus(Sum::default(), &sum, factor)
            }
            Index::FloorDiv(a, b) | Index::Mod(a, b) => {
                let (inner, divisor) = (self.sum(a), self.extent(b));
                let is_floor = matches!(self.data.index(id), Index::FloorDiv(..));
                if !inner.terms.is_empty() || divisor < 1 {
                    return single(Term::Other(id));
                }
                let value = inner.constant;
                let constant = if is_floor { value.div_euclid(divisor) } else { value.rem_euclid(divisor) };
                Sum { constant, ..Sum::default() }
            }
            Index::Data(_) => single(Term::Other(id)),
        }
    }

    /// Takes it as known that a condition holds, or does not.
    pub(crate) fn assume(&mut self, condition: ScalarId, holds: bool) {
        self.note(condition, holds);
        // What one bound says may narrow what another one does.
        for _ in 0..3 {
            self.tighten();
        }
    }

    /// Of a condition that holds, takes as known only what it says of remainders.
    pub(crate) fn assume_remainders(&mut self, condition: ScalarId) {
        match *self.data.scalar(condition) {
            Scalar::Binary(BinaryOp::And, a, b) => {
                self.assume_remainders(a);
                self.assume_remainders(b);
            }
            Scalar::Compare(Comparison::Eq, a, b) => {
                let (&Scalar::Index(a), &Scalar::Index(b)) = (self.data.scalar(a), self.data.scalar(b))
                else {
                    return;
                };
                let (left, right) = (self.sum(a), self.sum(b));
                self.note_remainder([(a, &right), (b, &left)]);
                self.tighten();
            }
            _ => {}
        }
    }

    /// `e mod m == r` says something about e.
    fn note_remainder(&mut self, sides: [(IndexId, &Sum); 2]) {
        for (side, other) in sides {
            if let (Index::Mod(inner, modulus), true) = (self.data.index(side), other.terms.is_empty()) {
                let (inner, modulus) = (self.sum(inner), self.extent(modulus));
                self.congruent(&inner, other.constant, modulus);
            }
        }
    }

    fn tighten(&mut self) {
        for number in 0..self.bounds.len() {
            let Bound { terms, congruence, .. } = self.bounds[number].clone();
            let interval = self.interval_of(&Sum { constant: 0, terms: terms.clone() });
            if interval.is_empty() {
                self.dead = true;
                return;
            }
            self.narrow_variables(&terms, interval.low, interval.high);
            if let Some((rest, modulus)) = congruence {
                self.narrow_congruent(&terms, rest, modulus);
            }
        }
    }

    fn note(&mut self, condition: ScalarId, holds: bool) {
        match *self.data.scalar(condition) {
            Scalar::Binary(BinaryOp::And, a, b) if holds => {
                self.note(a, true);
                self.note(b, true);
            }
            Scalar::Binary(BinaryOp::Or, a, b) if !holds => {
                self.note(a, false);
                self.note(b, false);
            }
            Scalar::Unary(UnaryOp::Not, a) => self.note(a, !holds),
            Scalar::Compare(comparison, a, b) => {
                let (&Scalar::Index(a), &Scalar::Index(b)) = (self.data.scalar(a), self.data.scalar(b))
                else {
                    return;
                };
                self.compare(if holds { comparison } else { comparison.negated() }, a, b);
            }
            _ => {}
        }
    }

    fn compare(&mut self, comparison: Comparison, a: IndexId, b: IndexId) {
        let (left, right) = (self.sum(a), self.sum(b));
        if comparison == Comparison::Eq {
            self.note_remainder([(a, &right), (b, &left)]);
        }
        // left - right, compared with 0
        let difference = plus(left, &right, -1);
        let (low, high) = match comparison {
            Comparison::Eq => (0, 0),
            Comparison::Ne => {
                let always_equal = difference.terms.is_empty() && difference.constant == 0;
                self.dead |= always_equal;
                return;
            }
            Comparison::Lt => (-FAR, -1),
            Comparison::Le => (-FAR, 0),
            Comparison::Gt => (1, FAR),
            Comparison::Ge => (0, FAR),
        };
        self.bound(&difference, low, high);
    }

    /// Takes it as known that a sum lies between two numbers.
    fn bound(&mut self, sum: &Sum, low: i64, high: i64) {
        let (low, high) = (low.saturating_sub(sum.constant), high.saturating_sub(sum.constant));
        let Some((terms, factor)) = normal(&sum.terms) else {
            self.dead |= low > 0 || high < 0;
            return;
        };
        let (low, high) = if factor > 0 {
            (ceil_div(low, factor), high.div_euclid(factor))
        } else {
            (ceil_div(high.saturating_neg(), -factor), low.saturating_neg().div_euclid(-factor))
        };
        self.narrow_variables(&terms, low, high);
        if terms.len() > 1 || matches!(terms[0].0, Term::Other(_)) {
            self.bounds.push(Bound { terms: terms.clone(), low, high, congruence: None });
        }
        // A bound on a quotient is one on what is divided.
        if let [(Term::Other(id), 1)] = terms[..]
            && let Index::FloorDiv(a, b) = self.data.index(id)
        {
            let (inner, divisor) = (self.sum(a), self.extent(b));
            let above = high.saturating_add(1).saturating_mul(divisor).saturating_sub(1);
            self.bound(&inner, low.saturating_mul(divisor).max(-FAR), above.min(FAR));
        }
        self.dead |= self.interval_of(&Sum { constant: 0, terms }).is_empty();
    }

    fn narrow_variables(&mut self, terms: &Terms, low: i64, high: i64) {
        for &(term, factor) in terms {
            let Term::Var(var) = term else { continue };
            let others: Terms = terms.iter().copied().filter(|(other, _)| *other != term).collect();
            let rest = self.interval_of(&Sum { constant: 0, terms: others });
            if rest.is_empty() {
                continue;
            }
            // low <= factor * var + rest <= high
            let (least, most) = (low.saturating_sub(rest.high), high.saturating_sub(rest.low));
            let (least, most) = if factor > 0 {
                (ceil_div(least, factor), most.div_euclid(factor))
            } else {
                (
                    ceil_div(most.saturating_neg(), factor.saturating_neg()),
                    least.saturating_neg().div_euclid(factor.saturating_neg()),
                )
            };
            self.narrow(var, |range| range.clip(least, most));
        }
    }

    /// Narrows each variable in a sum that leaves `rest` when divided, where the others always leave the same.
    fn narrow_congruent(&mut self, terms: &Terms, rest: i64, modulus: i64) {
        for &(term, factor) in terms {
            let Term::Var(var) = term else { continue };
            let others: Terms = terms.iter().copied().filter(|(other, _)| *other != term).collect();
            let others = self.interval_of(&Sum { constant: 0, terms: others });
            if !others.is_empty() && others.step % modulus == 0 {
                let own = rest.rem_euclid(modulus) - others.low.rem_euclid(modulus);
                match solve_congruence(factor, own, modulus) {
                    Some((rest, modulus)) => self.narrow(var, |range| range.congruent(rest, modulus)),
                    None => self.dead = true,
                }
            }
        }
    }

    fn narrow(&mut self, var: VarId, narrower: impl Fn(Interval) -> Interval) {
        if let Some((_, range)) = self.vars.iter_mut().rev().find(|(other, _)| *other == var) {
            *range = narrower(*range);
            self.dead |= range.is_empty();
        }
    }

    fn congruent(&mut self, sum: &Sum, rest: i64, modulus: i64) {
        if modulus < 1 {
            return;
        }
        let rest = rest.saturating_sub(sum.constant).rem_euclid(modulus);
        let Some((terms, factor)) = normal(&sum.terms) else {
            self.dead |= rest != 0;
            return;
        };
        let Some(congruence @ (rest, modulus)) = solve_congruence(factor, rest, modulus) else {
            self.dead = true;
            return;
        };
        match terms[..] {
            [(Term::Var(var), 1)] => self.narrow(var, |range| range.congruent(rest, modulus)),
            _ => self.bounds.push(Bound { terms, low: -FAR, high: FAR, congruence: Some(congruence) }),
        }
    }
}

/// What is known of `x` where `factor * x` leaves `rest` when divided by `modulus`: what `x` leaves, and divided by what;
/// `None` if there is no such number.
fn solve_congruence(factor: i64, rest: i64, modulus: i64) -> Option<(i64, i64)> {
    let common = gcd(factor.saturating_abs(), modulus);
    if rest % common != 0 {
        return None;
    }
    let (factor, rest, modulus) = (factor / common, rest / common, modulus / common);
    // The inverse of the factor, by Euclid's algorithm.
    let (mut a, mut b) = ((factor.rem_euclid(modulus), 1i64), (modulus, 0i64));
    while a.0 > 1 {
        let quotient = b.0 / a.0;
        (a, b) = ((b.0 - quotient * a.0, b.1 - quotient * a.1), a);
    }
    let solution = i128::from(a.1) * i128::from(rest);
    Some((solution.rem_euclid(i128::from(modulus)) as i64, modulus))
}

fn plus(mut sum: Sum, other: &Sum, factor: i64) -> Sum {
    sum.constant = sum.constant.saturating_add(other.constant.saturating_mul(factor));
    for &(term, own) in &other.terms {
        let own = own.saturating_mul(factor);
        match sum.terms.iter_mut().find(|(known, _)| *known == term) {
            Some((_, known)) => *known = known.saturating_add(own),
            None => sum.terms.push((term, own)),
        }
    }
    sum.terms.retain(|term| term.1 != 0);
    sum.terms.sort_unstable();
    sum
}

/// The terms divided by a number such that the first factor is positive and the factors have no common divisor, and
/// that number; `None` without terms.
fn normal(terms: &Terms) -> Option<(Terms, i64)> {
    let first = terms.first()?.1;
    let common = terms.iter().fold(0, |common, term| gcd(common, term.1.saturating_abs()));
    let factor = if first < 0 { -common } else { common };
    Some((terms.iter().map(|&(term, own)| (term, own.saturating_div(factor))).collect(), factor))
}

fn interval_divided(interval: Interval, factor: i64) -> Interval {
    if interval.is_empty() {
        return interval;
    }
    let (a, b) = (interval.low / factor, interval.high / factor);
    Interval { low: a.min(b), high: a.max(b), step: interval.step / factor.abs() }
}

fn ceil_div(a: i64, b: i64) -> i64 {
    a.div_euclid(b).saturating_add(i64::from(a.rem_euclid(b) != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn congruences_are_solved() {
        for (modulus, factor) in (1..13).flat_map(|modulus| (-14..14).map(move |factor| (modulus, factor))) {
            for rest in -modulus..=modulus {
                let holds = |x: i64| (factor * x - rest).rem_euclid(modulus) == 0;
                match solve_congruence(factor, rest, modulus) {
                    None => assert!((0..modulus).all(|x| !holds(x)), "{factor} x = {rest} mod {modulus}"),
                    Some((own, step)) => {
                        for x in -20..20 {
                            let is_solution = (x - own).rem_euclid(step) == 0;
                            assert_eq!(holds(x), is_solution, "{factor} {x} = {rest} mod {modulus}");
                        }
                    }
                }
            }
        }
    }
}

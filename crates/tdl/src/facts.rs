//! What is known around an expression, and what follows from it: the symbolic interval analysis.
//!
//! Every index variable lies in an interval whose ends are polynomials in the extents. To show that an expression is
//! never negative, its variables are replaced one by one by that end of their interval which makes it smallest: the
//! lower end where the factor is positive, the upper end where it is negative. What is left is a polynomial in extents;
//! it is not negative if all its coefficients are not, once each extent is counted from its least value. Conditions
//! around the expression help as in Farkas' lemma: `p >= 0` follows from `p - c*g >= 0` and `g >= 0`.
//!
//! The rules of Tofu (EuroSys 2019, section 4.2) keep one interval per expression and thereby lose what two
//! occurrences of a variable have to do with each other; here expressions are normalised first.

mod ends;

use smallvec::SmallVec;
use tofu_ir::EntityId;

use crate::description::*;
use crate::poly::{Atom, AtomId, Atoms, Monomial, Poly};
use crate::scalar::{BinaryOp, Comparison, UnaryOp};

/// How much work one question may cause.
const BUDGET: u32 = 600;

/// What is known at some place of a description.
#[derive(Clone, Debug)]
pub(crate) struct Facts<'d> {
    pub(crate) data: &'d Data,
    pub(crate) atoms: Atoms,
    /// The least and the greatest value of variables and other atoms, in the order in which they were bound.
    ranges: Vec<(AtomId, Poly, Poly)>,
    /// What is not negative.
    guards: Vec<Poly>,
    /// Products of extents that equal something else.
    equations: Vec<(Monomial, Poly)>,
    /// The least values of extents, where they are not 0.
    least: Vec<(AtomId, i128)>,
    /// Pairs of which the first is a multiple of the second.
    multiples: Vec<(Poly, Poly)>,
    /// How many quotients inside quotients are being looked at.
    nesting: u32,
}

impl<'d> Facts<'d> {
    /// What the conditions of a description say.
    pub(crate) fn new(data: &'d Data) -> Facts<'d> {
        let mut facts = Facts {
            data,
            atoms: Atoms::default(),
            ranges: Vec::new(),
            guards: Vec::new(),
            equations: Vec::new(),
            least: Vec::new(),
            multiples: Vec::new(),
            nesting: 0,
        };
        // Facts that are derived from these agree on the numbers of extents.
        for number in 0..data.extents.len() {
            facts.atoms.id(Atom::Extent(ExtentId::from_index(number)));
        }
        for index in &data.indices {
            // A divisor of zero is refused where extents get their values.
            if let Index::FloorDiv(_, divisor) | Index::Mod(_, divisor) = index
                && let Index::Extent(_) = data.index(*divisor)
            {
                let divisor = facts.poly(*divisor);
                facts.at_least(&divisor, 1);
            }
        }
        for condition in &data.conditions {
            let (left, right) = (facts.poly(condition.left), facts.poly(condition.right));
            let difference = right.sub(&left);
            facts.guards.push(difference.clone());
            if condition.relation == Relation::Equal {
                facts.guards.push(difference.scale(-1));
                facts.equation(&left, &right);
                facts.multiple(condition.left, condition.right);
            } else if let Some(least) = left.as_constant() {
                facts.at_least(&right, least);
            }
        }
        facts
    }

    fn equation(&mut self, left: &Poly, right: &Poly) {
        for (from, to) in [(left, right), (right, left)] {
            if let Some((monomial, 1)) = from.as_monomial()
                && !monomial.is_empty()
                && !monomial.iter().any(|&atom| to.mentions(atom))
            {
                self.equations.push((monomial.clone(), to.clone()));
                return;
            }
        }
    }

    /// `a mod b = 0` says that `b * (a floordiv b)` is `a`.
    fn multiple(&mut self, left: IndexId, right: IndexId) {
        if let (Index::Mod(a, b), Index::Const(0)) = (self.data.index(left), self.data.index(right)) {
            let (a, b) = (self.poly(a), self.poly(b));
            let (_, rest) = a.divide(&b);
            self.multiples.push((rest, b));
        }
    }

    fn at_least(&mut self, extent: &Poly, least: i128) {
        let Some(atom) = extent.as_atom() else { return };
        match self.least.iter_mut().find(|(other, _)| *other == atom) {
            Some((_, known)) => *known = (*known).max(least),
            None => self.least.push((atom, least)),
        }
    }

    /// Brings a variable into scope, over its whole range.
    pub(crate) fn bind(&mut self, var: VarId) {
        let extent = self.poly(self.data.variable(var).extent);
        // Where the variable has a value, its range is not empty.
        self.at_least(&extent.clone(), 1);
        self.guards.push(extent.offset(-1));
        self.bind_between(var, Poly::default(), extent.offset(-1));
    }

    /// Brings a variable into scope, from `low` to `high`, both included.
    pub(crate) fn bind_between(&mut self, var: VarId, low: Poly, high: Poly) {
        let atom = self.atoms.id(Atom::Var(var));
        self.ranges.retain(|(other, ..)| *other != atom);
        self.ranges.push((atom, low, high));
    }

    /// A new atom between two ends.
    pub(crate) fn fresh(&mut self, number: u32, least: i128) -> Poly {
        let atom = self.atoms.id(Atom::Free(number));
        let poly = Poly::atom(atom);
        self.at_least(&poly, least);
        poly
    }

    /// Takes it as known that `poly` is not negative.
    pub(crate) fn assume(&mut self, poly: Poly) {
        if self.guards.len() < 24 && !poly.is_overflow() {
            self.guards.push(poly);
        }
    }

    /// Takes it as known that a condition holds, or does not.
    pub(crate) fn assume_condition(&mut self, condition: ScalarId, holds: bool) {
        match *self.data.scalar(condition) {
            Scalar::Binary(BinaryOp::And, a, b) if holds => {
                self.assume_condition(a, true);
                self.assume_condition(b, true);
            }
            Scalar::Binary(BinaryOp::Or, a, b) if !holds => {
                self.assume_condition(a, false);
                self.assume_condition(b, false);
            }
            Scalar::Unary(UnaryOp::Not, a) => self.assume_condition(a, !holds),
            Scalar::Compare(comparison, a, b) => {
                let (&Scalar::Index(a), &Scalar::Index(b)) = (self.data.scalar(a), self.data.scalar(b))
                else {
                    return;
                };
                let difference = self.poly(b).sub(&self.poly(a));
                match if holds { comparison } else { comparison.negated() } {
                    Comparison::Le => self.assume(difference),
                    Comparison::Lt => self.assume(difference.offset(-1)),
                    Comparison::Ge => self.assume(difference.scale(-1)),
                    Comparison::Gt => self.assume(difference.scale(-1).offset(-1)),
                    Comparison::Eq => {
                        self.multiple(a, b);
                        self.assume(difference.clone());
                        self.assume(difference.scale(-1));
                    }
                    Comparison::Ne => {}
                }
            }
            _ => {}
        }
    }

    /// The normal form of an expression.
    pub(crate) fn poly(&mut self, id: IndexId) -> Poly {
        let poly = match self.data.index(id) {
            Index::Const(value) => Poly::constant(i128::from(value)),
            Index::Extent(extent) => Poly::atom(self.atoms.id(Atom::Extent(extent))),
            Index::Var(var) => Poly::atom(self.atoms.id(Atom::Var(var))),
            Index::Add(a, b) => self.poly(a).add(&self.poly(b)),
            Index::Sub(a, b) => self.poly(a).sub(&self.poly(b)),
            Index::Mul(a, b) => self.poly(a).mul(&self.poly(b)),
            Index::FloorDiv(a, b) => {
                let (a, b) = (self.poly(a), self.poly(b));
                self.floor(&a, &b)
            }
            Index::Mod(a, b) => {
                let (a, b) = (self.poly(a), self.poly(b));
                self.remainder(&a, &b)
            }
            Index::Data(scalar) => Poly::atom(self.atoms.id(Atom::Data(scalar))),
        };
        self.rewritten(poly)
    }

    fn rewritten(&self, poly: Poly) -> Poly {
        self.equations.iter().fold(poly, |poly, (from, to)| match poly.has_factors(from) {
            true => poly.rewrite(from, to),
            false => poly,
        })
    }

    /// `a floordiv b`, as far as divisibility is known.
    pub(crate) fn floor(&mut self, a: &Poly, b: &Poly) -> Poly {
        let (quotient, rest) = a.divide(b);
        if rest.is_zero() {
            return quotient;
        }
        if self.is_remainder(&rest, b) {
            return quotient;
        }
        if rest.as_constant().is_some_and(|rest| rest < 0) && self.proves(&rest.add(b)) {
            return quotient.offset(-1);
        }
        let atom = Atom::Floor(rest, b.clone());
        quotient.add(&Poly::atom(self.atoms.id(atom)))
    }

    fn remainder(&mut self, a: &Poly, b: &Poly) -> Poly {
        let (_, rest) = a.divide(b);
        if rest.is_zero() || self.is_remainder(&rest, b) {
            return rest;
        }
        let atom = Atom::Mod(rest, b.clone());
        Poly::atom(self.atoms.id(atom))
    }

    fn is_remainder(&mut self, rest: &Poly, divisor: &Poly) -> bool {
        self.proves(rest) && self.proves(&divisor.sub(rest).offset(-1))
    }

    /// Whether `poly` is shown to be never negative.
    pub(crate) fn proves(&mut self, poly: &Poly) -> bool {
        let mut budget = BUDGET;
        let poly = self.rewritten(poly.clone());
        // Most often it is just what a guard says, and needs no search.
        let says_it = |guard: &Poly| guard.differs_by(&poly).is_some_and(|difference| difference >= 0);
        if self.guards.iter().any(says_it) || self.positive(&poly, &mut budget) {
            return true;
        }
        let guards = self.guards.clone();
        // Where something is known that cannot be, nothing is ever evaluated.
        if guards.iter().any(|guard| guard.as_constant().is_some_and(|value| value < 0)) {
            return true;
        }
        let weakened: SmallVec<[Poly; 8]> =
            guards.iter().flat_map(|guard| weaker(&poly, &self.rewritten(guard.clone()))).collect();
        // Nor does a multiple of a guard need a search.
        if weakened.iter().any(|first| first.as_constant().is_some_and(|value| value >= 0)) {
            return true;
        }
        for first in &weakened {
            if self.positive(first, &mut budget) {
                return true;
            }
        }
        for first in &weakened {
            for guard in &guards {
                for second in weaker(first, &self.rewritten(guard.clone())) {
                    if budget == 0 {
                        return false;
                    }
                    if self.positive(&second, &mut budget) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Whether `poly` is never negative by the ranges of its atoms and one guard.
    fn supported(&mut self, poly: &Poly, budget: &mut u32) -> bool {
        if self.positive(poly, budget) {
            return true;
        }
        for number in 0..self.guards.len() {
            let guard = self.rewritten(self.guards[number].clone());
            if weaker(poly, &guard).iter().any(|weaker| self.positive(weaker, budget)) {
                return true;
            }
        }
        false
    }

    /// Whether `poly` is never negative by the ranges of its atoms alone.
    fn positive(&mut self, poly: &Poly, budget: &mut u32) -> bool {
        if poly.is_overflow() || *budget == 0 {
            return false;
        }
        *budget -= 1;
        if let Some(value) = poly.as_constant() {
            return value >= 0;
        }
        // What was bound last may depend on what was bound before.
        let bound = self.ranges.iter().rev().find(|(atom, ..)| poly.mentions(*atom)).cloned();
        if let Some((atom, low, high)) = bound {
            let Some((factor, rest)) = poly.split(atom) else { return false };
            let ends = match self.sign(&factor, budget) {
                Some(true) => [Some(low), None],
                Some(false) => [Some(high), None],
                // A product is smallest at one of the ends.
                None => [Some(low), Some(high)],
            };
            return ends.into_iter().flatten().all(|end| {
                let at_end = self.rewritten(factor.mul(&end).add(&rest));
                self.positive(&at_end, budget)
            });
        }
        let derived = poly.atoms().into_iter().rev().find_map(|atom| match self.atoms.get(atom) {
            Some(Atom::Floor(a, b)) => Some((atom, a.clone(), b.clone(), true)),
            Some(Atom::Mod(a, b)) => Some((atom, a.clone(), b.clone(), false)),
            _ => None,
        });
        if let Some((atom, a, b, is_floor)) = derived {
            return self.positive_around(poly, atom, &a, &b, is_floor, budget);
        }
        self.positive_in_extents(poly)
    }

    /// [`positive`](Self::positive) for a polynomial with a quotient or a remainder in it.
    fn positive_around(
        &mut self,
        poly: &Poly,
        atom: AtomId,
        a: &Poly,
        b: &Poly,
        is_floor: bool,
        budget: &mut u32,
    ) -> bool {
        let Some((factor, rest)) = poly.split(atom) else { return false };
        let Some(rises) = self.sign(&factor, budget) else { return false };
        if !is_floor {
            let end = if rises { Poly::default() } else { b.offset(-1) };
            let at_end = self.rewritten(factor.mul(&end).add(&rest));
            return self.positive(&at_end, budget);
        }
        if let Some(end) = self.quotient_end(atom, a, b, !rises) {
            let at_end = self.rewritten(factor.mul(&end).add(&rest));
            if self.supported(&at_end, budget) {
                return true;
            }
        }
        // b * (a floordiv b) lies between a - b + 1 and a, and b is positive: a divisor of zero is refused where extents
        // get their values.
        let is_multiple = self.multiples.iter().any(|(multiple, of)| multiple == a && of == b);
        let end = if rises && !is_multiple { a.sub(b).offset(1) } else { a.clone() };
        let (times, left) = factor.divide(b);
        if left.is_zero() {
            let at_end = self.rewritten(times.mul(&end).add(&rest));
            if self.supported(&at_end, budget) {
                return true;
            }
        }
        // An integer p is not negative if b * p is greater than -b.
        let scaled = factor.mul(&end).add(&rest.add(&Poly::constant(1)).mul(b)).offset(-1);
        let scaled = self.rewritten(scaled);
        if self.supported(&scaled, budget) {
            return true;
        }
        // A quotient of what is not negative is not negative, and no larger than it.
        let at_end = if rises { rest } else { self.rewritten(factor.mul(a).add(&rest)) };
        self.positive(a, budget) && self.positive(&at_end, budget)
    }

    /// Whether a factor is never negative (`true`) or never positive (`false`).
    fn sign(&mut self, factor: &Poly, budget: &mut u32) -> Option<bool> {
        if self.positive(factor, budget) {
            return Some(true);
        }
        self.positive(&factor.scale(-1), budget).then_some(false)
    }

    fn positive_in_extents(&self, poly: &Poly) -> bool {
        let mut poly = poly.clone();
        for &(atom, least) in &self.least {
            if least != 0 && poly.mentions(atom) {
                // Counted from its least value; the same atom then stands for the excess.
                let shifted = Poly::atom(atom).offset(least);
                poly = substitute_once(&poly, atom, &shifted);
            }
        }
        let is_data = |atom: &AtomId| matches!(self.atoms.get(*atom), Some(Atom::Data(_) | Atom::Var(_)));
        !poly.is_overflow()
            && poly.terms().iter().all(|(monomial, value)| *value >= 0 && !monomial.iter().any(is_data))
    }
}

/// `poly` with `atom` replaced by something that mentions it, in every power.
fn substitute_once(poly: &Poly, atom: AtomId, by: &Poly) -> Poly {
    let mut result = Poly::default();
    for (monomial, value) in poly.terms() {
        let mut term = Poly::constant(*value);
        for &factor in monomial {
            let factor = if factor == atom { by.clone() } else { Poly::atom(factor) };
            term = term.mul(&factor);
        }
        result = result.add(&term);
    }
    result
}

/// What `poly` becomes when multiples of something that is not negative are taken away, such that an atom cancels.
fn weaker(poly: &Poly, guard: &Poly) -> SmallVec<[Poly; 2]> {
    let mut results: SmallVec<[Poly; 2]> = SmallVec::new();
    if guard.as_constant().is_some() {
        return results;
    }
    let mut multiples: SmallVec<[i128; 2]> = SmallVec::new();
    for (monomial, value) in guard.terms().iter().filter(|term| !term.0.is_empty()) {
        let Some((_, own)) = poly.terms().iter().find(|term| term.0 == *monomial) else { continue };
        if own % value == 0 && own / value > 0 && !multiples.contains(&(own / value)) {
            multiples.push(own / value);
        }
    }
    for multiple in multiples {
        results.push(poly.sub(&guard.scale(multiple)));
    }
    results
}

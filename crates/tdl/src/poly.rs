//! Polynomials with integer coefficients over extents, index variables and what is derived from them.
//!
//! This is the normal form in which index and extent expressions are compared and bounded. An atom is whatever the
//! arithmetic does not look into: a name, or a quotient that does not come out even. A polynomial whose coefficients or
//! length leave all reason is marked and proves nothing.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::description::{ExtentId, ScalarId, VarId};

/// The number of an atom in its [`Atoms`].
pub(crate) type AtomId = u32;

/// What a polynomial does not look into.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Atom {
    /// An extent of the description.
    Extent(ExtentId),
    /// An index variable.
    Var(VarId),
    /// A quotient rounded down.
    Floor(Poly, Poly),
    /// A remainder.
    Mod(Poly, Poly),
    /// A data-dependent index.
    Data(ScalarId),
    /// A name that an analysis introduces: the start or the length of a share, an extent of the program.
    Free(u32),
}

/// The atoms of a computation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Atoms {
    items: IndexSet<Atom, FxBuildHasher>,
}

impl Atoms {
    pub(crate) fn id(&mut self, atom: Atom) -> AtomId {
        self.items.insert_full(atom).0 as AtomId
    }

    pub(crate) fn get(&self, id: AtomId) -> Option<&Atom> {
        self.items.get_index(id as usize)
    }
}

/// Atoms of one product, ascending.
pub(crate) type Monomial = SmallVec<[AtomId; 3]>;

/// No polynomial has more terms.
const MAX_TERMS: usize = 200;

/// A polynomial: a sum of products of atoms times numbers, ascending by monomial, none of them zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Poly {
    terms: SmallVec<[(Monomial, i128); 2]>,
    overflow: bool,
}

impl Poly {
    pub(crate) fn constant(value: i128) -> Poly {
        let mut poly = Poly::default();
        if value != 0 {
            poly.terms.push((Monomial::new(), value));
        }
        poly
    }

    pub(crate) fn atom(id: AtomId) -> Poly {
        let mut poly = Poly::default();
        poly.terms.push((SmallVec::from_slice(&[id]), 1));
        poly
    }

    pub(crate) fn terms(&self) -> &[(Monomial, i128)] {
        &self.terms
    }

    pub(crate) fn is_overflow(&self) -> bool {
        self.overflow
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.terms.is_empty() && !self.overflow
    }

    /// The value of a constant.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        match &self.terms[..] {
            _ if self.overflow => None,
            [] => Some(0),
            [(monomial, value)] if monomial.is_empty() => Some(*value),
            _ => None,
        }
    }

    /// The atom that this is, if it is one.
    pub(crate) fn as_atom(&self) -> Option<AtomId> {
        match &self.terms[..] {
            [(monomial, 1)] if monomial.len() == 1 && !self.overflow => monomial.first().copied(),
            _ => None,
        }
    }

    /// The one product that this is, with its coefficient.
    pub(crate) fn as_monomial(&self) -> Option<(&Monomial, i128)> {
        match &self.terms[..] {
            [(monomial, coefficient)] if !self.overflow => Some((monomial, *coefficient)),
            _ => None,
        }
    }

    pub(crate) fn add(&self, other: &Poly) -> Poly {
        self.plus(other, 1)
    }

    pub(crate) fn sub(&self, other: &Poly) -> Poly {
        self.plus(other, -1)
    }

    fn plus(&self, other: &Poly, factor: i128) -> Poly {
        if factor == 1 && self.terms.is_empty() && !self.overflow {
            return other.clone();
        }
        let mut sum = Poly { overflow: self.overflow || other.overflow, ..Poly::default() };
        let (mut left, mut right) = (&self.terms[..], &other.terms[..]);
        loop {
            let (x, y) = match (left.first(), right.first()) {
                (Some(x), Some(y)) if x.0 < y.0 => (Some(x), None),
                (Some(x), Some(y)) if x.0 > y.0 => (None, Some(y)),
                both => both,
            };
            let Some((monomial, _)) = x.or(y) else { break };
            let added = y.map_or(Some(0), |y| y.1.checked_mul(factor));
            match added.and_then(|added| x.map_or(0, |x| x.1).checked_add(added)) {
                Some(0) => {}
                Some(value) => sum.terms.push((Monomial::from_slice(monomial), value)),
                None => sum.overflow = true,
            }
            left = &left[usize::from(x.is_some())..];
            right = &right[usize::from(y.is_some())..];
        }
        sum.overflow |= sum.terms.len() > MAX_TERMS;
        sum
    }

    pub(crate) fn offset(&self, value: i128) -> Poly {
        self.add(&Poly::constant(value))
    }

    pub(crate) fn scale(&self, factor: i128) -> Poly {
        let mut scaled = self.clone();
        for (_, value) in &mut scaled.terms {
            match value.checked_mul(factor) {
                Some(product) => *value = product,
                None => scaled.overflow = true,
            }
        }
        scaled.without_zeros()
    }

    fn without_zeros(mut self) -> Poly {
        self.terms.retain(|term| term.1 != 0);
        self
    }

    pub(crate) fn mul(&self, other: &Poly) -> Poly {
        if let Some(factor) = other.as_constant() {
            return self.scale(factor);
        }
        let mut result = Poly { overflow: self.overflow || other.overflow, ..Poly::default() };
        if self.terms.len() * other.terms.len() > 4 * MAX_TERMS {
            result.overflow = true;
            return result;
        }
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut monomial = a.clone();
                monomial.extend(b.iter().copied());
                monomial.sort_unstable();
                result.overflow |= monomial.len() > 16;
                let Some(value) = x.checked_mul(*y).filter(|value| value.unsigned_abs() < 1 << 100) else {
                    result.overflow = true;
                    continue;
                };
                let mut term = Poly::default();
                term.terms.push((monomial, value));
                result = result.add(&term);
            }
        }
        result
    }

    /// The atoms that occur, ascending.
    pub(crate) fn atoms(&self) -> Vec<AtomId> {
        let mut atoms: Vec<AtomId> = self.terms.iter().flat_map(|term| term.0.iter().copied()).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    pub(crate) fn mentions(&self, atom: AtomId) -> bool {
        self.terms.iter().any(|term| term.0.contains(&atom))
    }

    /// `(factor, rest)` such that this is `factor * atom + rest` and neither mentions the atom; `None` if it occurs in
    /// a higher power.
    pub(crate) fn split(&self, atom: AtomId) -> Option<(Poly, Poly)> {
        let mut factor = Poly { overflow: self.overflow, ..Poly::default() };
        let mut rest = factor.clone();
        for (monomial, value) in &self.terms {
            let Some(at) = monomial.iter().position(|&other| other == atom) else {
                rest.terms.push((monomial.clone(), *value));
                continue;
            };
            let mut others = monomial.clone();
            others.remove(at);
            if others.contains(&atom) {
                return None;
            }
            let mut term = Poly::default();
            term.terms.push((others, *value));
            factor = factor.add(&term);
        }
        Some((factor, rest))
    }

    /// The number that `other` is larger by, if it is one.
    pub(crate) fn differs_by(&self, other: &Poly) -> Option<i128> {
        // The constant, which has the least monomial, comes first.
        let parts = |poly: &Poly| match poly.terms.first() {
            Some((monomial, value)) if monomial.is_empty() => (*value, 1),
            _ => (0, 0),
        };
        let ((own, first), (its, second)) = (parts(self), parts(other));
        let same = !self.overflow && !other.overflow && self.terms[first..] == other.terms[second..];
        its.checked_sub(own).filter(|_| same)
    }

    /// Whether a product of atoms is a part of a term.
    pub(crate) fn has_factors(&self, factors: &Monomial) -> bool {
        self.terms.iter().any(|(monomial, _)| without(monomial, factors).is_some())
    }

    /// This with every occurrence of a product of atoms replaced.
    pub(crate) fn rewrite(&self, from: &Monomial, to: &Poly) -> Poly {
        let mut result = Poly { overflow: self.overflow, ..Poly::default() };
        for (monomial, value) in &self.terms {
            let mut term = Poly::default();
            match without(monomial, from) {
                Some(others) => {
                    term.terms.push((others, *value));
                    term = term.mul(to);
                }
                None => term.terms.push((monomial.clone(), *value)),
            }
            result = result.add(&term);
        }
        result
    }

    /// `(quotient, rest)` such that this is `quotient * divisor + rest`, with as much as possible in the quotient.
    pub(crate) fn divide(&self, divisor: &Poly) -> (Poly, Poly) {
        let mut quotient = Poly { overflow: self.overflow, ..Poly::default() };
        let mut rest = quotient.clone();
        let Some((product, factor)) = divisor.as_monomial().filter(|(_, factor)| *factor != 0) else {
            if !divisor.is_zero() && self == divisor {
                return (Poly::constant(1), Poly::default());
            }
            return (quotient, self.clone());
        };
        for (monomial, value) in &self.terms {
            let mut term = Poly::default();
            match without(monomial, product) {
                Some(others) => {
                    // The rest of a number is not negative; that of a product keeps its sign, so that `-x` stays whole.
                    let (whole, left) = match others.is_empty() {
                        true => (value.div_euclid(factor), value.rem_euclid(factor)),
                        false => (value / factor, value % factor),
                    };
                    term.terms.push((others, whole));
                    quotient = quotient.add(&term.without_zeros());
                    if left != 0 {
                        rest.terms.push((monomial.clone(), left));
                    }
                }
                None => rest.terms.push((monomial.clone(), *value)),
            }
        }
        (quotient, rest)
    }
}

/// A product without some of its factors, if it has them.
fn without(monomial: &Monomial, factors: &Monomial) -> Option<Monomial> {
    let mut left = monomial.clone();
    for factor in factors {
        let at = left.iter().position(|atom| atom == factor)?;
        left.remove(at);
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_that_of_polynomials() {
        let (x, y) = (Poly::atom(0), Poly::atom(1));
        let sum = x.add(&y).offset(2);
        assert_eq!(sum.sub(&y).sub(&x).as_constant(), Some(2));
        let square = x.add(&y).mul(&x.add(&y));
        let expected = x.mul(&x).add(&x.mul(&y).scale(2)).add(&y.mul(&y));
        assert_eq!(square, expected);
        assert_eq!(square.split(1), None);
        assert_eq!(x.mul(&y).offset(3).split(1), Some((x.clone(), Poly::constant(3))));
        assert!(x.scale(0).is_zero());
    }

    #[test]
    fn division_takes_out_whole_multiples() {
        let (x, n) = (Poly::atom(0), Poly::atom(1));
        let (quotient, rest) = x.mul(&n).add(&n.scale(2)).offset(-1).divide(&n);
        assert_eq!((quotient, rest), (x.offset(2), Poly::constant(-1)));
        let (quotient, rest) = x.scale(7).offset(-1).divide(&Poly::constant(3));
        assert_eq!((quotient, rest), (x.scale(2).offset(-1), x.offset(2)));
    }

    #[test]
    fn what_grows_without_reason_is_marked() {
        let mut poly = Poly::atom(0).add(&Poly::atom(1)).offset(i128::from(i64::MAX));
        for _ in 0..10 {
            poly = poly.mul(&poly.clone());
        }
        assert!(poly.is_overflow() && poly.as_constant().is_none());
    }
}

//! The interval in which an expression lies, as polynomials in extents and in the share of a split variable.

use super::{BUDGET, Facts};
use crate::poly::{Atom, AtomId, Poly};

impl Facts<'_> {
    /// The least and the greatest value of `poly`, in terms of what is not bound; `None` where no such polynomials are
    /// found. The ends are reached if every variable occurs once.
    pub(crate) fn ends(&mut self, poly: &Poly) -> Option<(Poly, Poly)> {
        let mut rounds = 64;
        Some((self.end(poly, false, &mut rounds)?, self.end(poly, true, &mut rounds)?))
    }

    /// Whether a split variable's share says something about `poly`, directly or through the ranges of its variables.
    pub(crate) fn depends_on_share(&self, poly: &Poly) -> bool {
        poly.atoms().into_iter().any(|atom| match self.atoms.get(atom) {
            Some(Atom::Free(_)) => true,
            Some(Atom::Floor(a, b) | Atom::Mod(a, b)) => self.depends_on_share(a) || self.depends_on_share(b),
            Some(Atom::Var(_)) => {
                let range = self.ranges.iter().find(|(other, ..)| *other == atom);
                range.is_some_and(|(_, low, high)| self.depends_on_share(low) || self.depends_on_share(high))
            }
            _ => false,
        })
    }

    /// The least or the greatest value of the quotient `atom`, which is `a floordiv b`.
    pub(super) fn quotient_end(&mut self, atom: AtomId, a: &Poly, b: &Poly, upper: bool) -> Option<Poly> {
        if self.nesting >= 3 {
            return None;
        }
        self.nesting += 1;
        let end = self.end(a, upper, &mut 64).map(|end| self.floor(&end, b));
        self.nesting -= 1;
        // A quotient that stays one is no end.
        end.filter(|end| !end.mentions(atom))
    }

    fn end(&mut self, poly: &Poly, upper: bool, rounds: &mut u32) -> Option<Poly> {
        let mut poly = poly.clone();
        loop {
            *rounds = rounds.checked_sub(1)?;
            let bound = self.ranges.iter().rev().find(|(atom, ..)| poly.mentions(*atom)).cloned();
            let derived = || {
                let mut atoms = poly.atoms().into_iter();
                atoms.find_map(|atom| match self.atoms.get(atom)? {
                    Atom::Floor(a, b) => Some((atom, a.clone(), b.clone(), true)),
                    Atom::Mod(a, b) => Some((atom, a.clone(), b.clone(), false)),
                    _ => None,
                })
            };
            let (atom, low, high) = match bound {
                Some(bound) => bound,
                None => match derived() {
                    None => break,
                    Some((atom, a, b, true)) => {
                        let below = self.quotient_end(atom, &a, &b, false)?;
                        (atom, below, self.quotient_end(atom, &a, &b, true)?)
                    }
                    Some((atom, _, b, false)) => (atom, Poly::default(), b.offset(-1)),
                },
            };
            let (factor, rest) = poly.split(atom)?;
            let rises = self.sign(&factor, &mut { BUDGET })?;
            let end = if rises == upper { high } else { low };
            poly = self.rewritten(factor.mul(&end).add(&rest));
        }
        let is_known = |atom: &u32| matches!(self.atoms.get(*atom), Some(Atom::Extent(_) | Atom::Free(_)));
        (!poly.is_overflow() && poly.atoms().iter().all(is_known)).then_some(poly)
    }
}

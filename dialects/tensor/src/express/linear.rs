//! Indices as sums of multiples of variables, of quotients and remainders, and of elements.
//!
//! Quotients and remainders go where the ranges of variables say so, and where one of each makes up the whole:
//! `k · (e floordiv k) + e mod k = e`.

use smallvec::SmallVec;
use tofu_tdl::{Index, IndexId, Scalar, ScalarId, VarId};

use super::{Express, Term};
use crate::{add, divide, multiply, remainder};

/// What is multiplied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Atom {
    Var(VarId),
    /// What an expression says.
    Element(ScalarId),
    /// A quotient rounded down, by a positive number.
    Quotient(Box<Linear>, i64),
    Remainder(Box<Linear>, i64),
}

/// A sum of multiples, and a constant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Linear {
    pub(super) terms: SmallVec<[(Atom, i64); 4]>,
    pub(super) constant: i64,
}

impl Linear {
    pub(super) fn constant(constant: i64) -> Linear {
        Linear { terms: SmallVec::new(), constant }
    }

    fn atom(atom: Atom) -> Linear {
        Linear { terms: SmallVec::from_iter([(atom, 1)]), constant: 0 }
    }

    pub(super) fn times(mut self, factor: i64) -> Option<Linear> {
        if factor == 0 {
            return Some(Linear::default());
        }
        for (_, own) in &mut self.terms {
            *own = own.checked_mul(factor)?;
        }
        self.constant = self.constant.checked_mul(factor)?;
        Some(self)
    }

    pub(super) fn plus(mut self, other: Linear) -> Option<Linear> {
        for (atom, factor) in other.terms {
            match self.terms.iter_mut().find(|(own, _)| *own == atom) {
                Some((_, own)) => *own = own.checked_add(factor)?,
                None => self.terms.push((atom, factor)),
            }
        }
        self.terms.retain(|(_, factor)| *factor != 0);
        self.constant = self.constant.checked_add(other.constant)?;
        self.joined()
    }

    /// With quotients and remainders of the same made one where they can be.
    fn joined(mut self) -> Option<Linear> {
        let pair = self.terms.iter().enumerate().find_map(|(at, (atom, factor))| {
            let Atom::Remainder(of, by) = atom else { return None };
            let whole = Linear::quotient(of, *by)?.times(factor.checked_mul(*by)?)?;
            let [(quotient, multiple)] = &whole.terms[..] else { return None };
            let other = self.terms.iter().position(|(atom, own)| atom == quotient && own == multiple)?;
            (whole.constant == 0).then(|| (at, other, of.clone().times(*factor)))
        });
        let Some((at, other, whole)) = pair else { return Some(self) };
        let mut index = 0;
        self.terms.retain(|_| {
            index += 1;
            index - 1 != at && index - 1 != other
        });
        self.plus(whole?)
    }

    /// The quotient of something whose range is not known.
    fn quotient(of: &Linear, by: i64) -> Option<Linear> {
        // A quotient of a quotient.
        if let ([(Atom::Quotient(inner, first), 1)], 0) = (&of.terms[..], of.constant) {
            return Some(Linear::atom(Atom::Quotient(inner.clone(), first.checked_mul(by)?)));
        }
        Some(Linear::atom(Atom::Quotient(Box::new(of.clone()), by)))
    }

    /// The only variable of which it is a multiple, and a constant: the variable, the factor and the constant.
    pub(super) fn of_one(&self) -> Option<(VarId, i64, i64)> {
        match self.terms[..] {
            [(Atom::Var(var), factor)] => Some((var, factor, self.constant)),
            _ => None,
        }
    }

    /// The variables of which it is a sum of multiples, if it is nothing else.
    pub(super) fn of_vars(&self) -> Option<SmallVec<[(VarId, i64); 4]>> {
        let var = |(atom, factor): &(Atom, i64)| match atom {
            Atom::Var(var) => Some((*var, *factor)),
            _ => None,
        };
        self.terms.iter().map(var).collect()
    }
}

impl Express<'_> {
    pub(super) fn linear(&self, id: IndexId) -> Option<Linear> {
        let data = self.data;
        let constant = |id: IndexId| match data.index(id) {
            Index::Const(value) => Some(value),
            _ => None,
        };
        match data.index(id) {
            Index::Const(value) => Some(Linear::constant(value)),
            Index::Extent(_) => None,
            Index::Var(var) => Some(Linear::atom(Atom::Var(var))),
            Index::Add(a, b) => self.linear(a)?.plus(self.linear(b)?),
            Index::Sub(a, b) => self.linear(a)?.plus(self.linear(b)?.times(-1)?),
            Index::Mul(a, b) => match (constant(a), constant(b)) {
                (Some(factor), _) => self.linear(b)?.times(factor),
                (_, Some(factor)) => self.linear(a)?.times(factor),
                _ => None,
            },
            Index::FloorDiv(a, b) => {
                self.divided(self.linear(a)?, constant(b)?).map(|(quotient, _)| quotient)
            }
            Index::Mod(a, b) => self.divided(self.linear(a)?, constant(b)?).map(|(_, remainder)| remainder),
            Index::Data(scalar) => self.linear_element(scalar),
        }
    }

    /// An element that is an index, as one.
    pub(super) fn linear_element(&self, id: ScalarId) -> Option<Linear> {
        match self.data.scalar(id) {
            Scalar::Index(index) => self.linear(*index),
            _ => Some(Linear::atom(Atom::Element(id))),
        }
    }

    /// The quotient rounded down, and the remainder.
    fn divided(&self, of: Linear, by: i64) -> Option<(Linear, Linear)> {
        if by <= 0 {
            return None;
        }
        let (mut whole, mut rest) = (Linear::default(), Linear::default());
        for (atom, factor) in of.terms {
            let into = if factor % by == 0 { &mut whole } else { &mut rest };
            into.terms.push((atom, factor));
        }
        whole.terms.iter_mut().for_each(|(_, factor)| *factor /= by);
        whole.constant = of.constant.div_euclid(by);
        rest.constant = of.constant.rem_euclid(by);
        match self.range(&rest) {
            Some((low, high)) if low >= 0 && high < by => Some((whole, rest)),
            _ => {
                let quotient = Linear::quotient(&rest, by)?;
                Some((whole.plus(quotient)?, Linear::atom(Atom::Remainder(Box::new(rest), by))))
            }
        }
    }

    /// The least and the greatest value, if that is known.
    pub(super) fn range(&self, of: &Linear) -> Option<(i64, i64)> {
        let (mut low, mut high) = (of.constant, of.constant);
        for (atom, factor) in &of.terms {
            let own = match atom {
                Atom::Var(var) if !self.known.contains_key(var) => (0, self.extent(*var)? as i64 - 1),
                Atom::Var(_) | Atom::Element(_) => return None,
                Atom::Remainder(_, by) => (0, by - 1),
                Atom::Quotient(inner, by) => {
                    let (low, high) = self.range(inner)?;
                    (low.div_euclid(*by), high.div_euclid(*by))
                }
            };
            let ends = [own.0.checked_mul(*factor)?, own.1.checked_mul(*factor)?];
            low = low.checked_add(ends[0].min(ends[1]))?;
            high = high.checked_add(ends[0].max(ends[1]))?;
        }
        Some((low, high))
    }

    /// Whether it uses a variable.
    pub(super) fn uses(&self, of: &Linear, var: VarId) -> bool {
        of.terms.iter().any(|(atom, _)| match atom {
            Atom::Var(other) => self.is_made_of(*other, var),
            Atom::Element(scalar) => self.mentions(*scalar, var),
            Atom::Quotient(inner, _) | Atom::Remainder(inner, _) => self.uses(inner, var),
        })
    }

    pub(super) fn of_linear(&mut self, of: &Linear) -> Option<Term> {
        let mut sum: Option<Term> = None;
        for (atom, factor) in &of.terms {
            let own = match atom {
                Atom::Var(var) => self.var(*var)?,
                Atom::Element(scalar) => {
                    let element = self.scalar(*scalar)?;
                    self.converted(element, self.index)?
                }
                Atom::Quotient(inner, by) => {
                    // Rounded down: what is left is taken away first.
                    let rest = self.remainder(inner, *by)?;
                    let inner = self.of_linear(inner)?;
                    let (values, vars) = self.together(&[&inner, &rest])?;
                    let value = crate::subtract(&mut self.builder(), values[0], values[1]).ok()?;
                    let by = self.integer(*by)?;
                    let (values, vars) = self.together(&[&Term { value, vars }, &by])?;
                    Term { value: divide(&mut self.builder(), values[0], values[1]).ok()?, vars }
                }
                Atom::Remainder(inner, by) => self.remainder(inner, *by)?,
            };
            let own = if *factor == 1 {
                own
            } else {
                let factor = self.integer(*factor)?;
                let (values, vars) = self.together(&[&own, &factor])?;
                Term { value: multiply(&mut self.builder(), values[0], values[1]).ok()?, vars }
            };
            sum = Some(match sum {
                Some(others) => self.added(&others, &own)?,
                None => own,
            });
        }
        match sum {
            None => self.integer(of.constant),
            Some(sum) if of.constant == 0 => Some(sum),
            Some(sum) => {
                let constant = self.integer(of.constant)?;
                self.added(&sum, &constant)
            }
        }
    }

    fn added(&mut self, a: &Term, b: &Term) -> Option<Term> {
        let (values, vars) = self.together(&[a, b])?;
        Some(Term { value: add(&mut self.builder(), values[0], values[1]).ok()?, vars })
    }

    /// The remainder, never negative.
    fn remainder(&mut self, of: &Linear, by: i64) -> Option<Term> {
        let is_negative = self.range(of).is_none_or(|(low, _)| low < 0);
        let of = self.of_linear(of)?;
        let by = self.integer(by)?;
        let (values, vars) = self.together(&[&of, &by])?;
        let mut value = remainder(&mut self.builder(), values[0], values[1]).ok()?;
        if is_negative {
            value = add(&mut self.builder(), value, values[1]).ok()?;
            value = remainder(&mut self.builder(), value, values[1]).ok()?;
        }
        Some(Term { value, vars })
    }
}

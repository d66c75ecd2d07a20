//! Index expressions of known extents, in a normal form in which equal ones are mostly alike.
//!
//! A form is a constant plus factors times terms; the terms are the axes of the box that is walked, the variables of
//! reductions around, columns of data-dependent indices, and quotients. A remainder is written with its quotient,
//! `a mod b = a - b * (a floordiv b)`, and a quotient is taken apart as far as its divisor allows. So the offset of a
//! reshaped element, `(i floordiv B) * B + i mod B`, is again `i`: whatever only moves elements in row-major order
//! becomes a plain copy.

use smallvec::SmallVec;

use super::program::Reg;

/// What an index varies with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Term {
    /// The index along an axis of the box.
    Axis(usize),
    /// The value of a variable that is the same for all points of a block.
    Point(usize),
    /// A column of indices.
    Column(Reg),
    /// A quotient of [`Forms`].
    Quotient(usize),
}

/// `constant + Σ factor · term`; terms ascend and no factor is zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Linear {
    pub(super) constant: i64,
    pub(super) terms: SmallVec<[(Term, i64); 4]>,
}

impl Linear {
    pub(super) fn constant(constant: i64) -> Linear {
        Linear { constant, terms: SmallVec::new() }
    }

    pub(super) fn term(term: Term) -> Linear {
        Linear { constant: 0, terms: [(term, 1)].into_iter().collect() }
    }

    pub(super) fn add(&mut self, other: &Linear, factor: i64) {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for &(term, own) in &other.terms {
            let own = own.wrapping_mul(factor);
            match self.terms.binary_search_by_key(&term, |known| known.0) {
                Ok(at) => self.terms[at].1 = self.terms[at].1.wrapping_add(own),
                Err(at) => self.terms.insert(at, (term, own)),
            }
        }
        self.terms.retain(|known| known.1 != 0);
    }

    pub(super) fn plus(mut self, other: &Linear, factor: i64) -> Linear {
        self.add(other, factor);
        self
    }

    pub(super) fn scaled(&self, factor: i64) -> Linear {
        Linear::default().plus(self, factor)
    }

    /// The factor of a term.
    pub(super) fn factor(&self, term: Term) -> i64 {
        self.terms.iter().find(|known| known.0 == term).map_or(0, |known| known.1)
    }

    /// Whether it is a function of axes and points alone.
    pub(super) fn is_affine(&self) -> bool {
        self.terms.iter().all(|(term, _)| matches!(term, Term::Axis(_) | Term::Point(_)))
    }
}

/// The terms of one program: what they range over, and which quotients there are.
#[derive(Debug, Default)]
pub(super) struct Forms {
    /// The extents of the axes.
    pub(super) axes: Vec<i64>,
    /// The extents of the variables of points.
    pub(super) points: Vec<i64>,
    quotients: Vec<(Linear, i64)>,
}

/// The least and the greatest value of something.
type Range = (i128, i128);

impl Forms {
    /// The terms of a box of these extents.
    pub(super) fn of_box(axes: Vec<i64>) -> Forms {
        Forms { axes, ..Forms::default() }
    }

    /// What a quotient divides, and by what.
    pub(super) fn quotient(&self, number: usize) -> (&Linear, i64) {
        let (dividend, divisor) = &self.quotients[number];
        (dividend, *divisor)
    }

    /// `form floordiv divisor`, for a positive divisor.
    pub(super) fn floor(&mut self, form: &Linear, divisor: i64) -> Linear {
        let mut whole = Linear::constant(form.constant.div_euclid(divisor));
        let mut rest = Linear::constant(form.constant.rem_euclid(divisor));
        for &(term, factor) in &form.terms {
            let (part, quotient) =
                if factor % divisor == 0 { (&mut whole, factor / divisor) } else { (&mut rest, factor) };
            part.add(&Linear::term(term), quotient);
        }
        if self.range(&rest).is_some_and(|(low, high)| low >= 0 && high < i128::from(divisor)) {
            return whole;
        }
        // (x + y floordiv a) floordiv b = (a * x + y) floordiv (a * b)
        let inner = rest.terms.iter().find_map(|&(term, factor)| match term {
            Term::Quotient(number) if factor == 1 => Some(number),
            _ => None,
        });
        if let Some(number) = inner {
            let (dividend, by) = self.quotients[number].clone();
            if let Some(product) = divisor.checked_mul(by) {
                rest.add(&Linear::term(Term::Quotient(number)), -1);
                let lifted = rest.scaled(by).plus(&dividend, 1);
                return whole.plus(&self.floor(&lifted, product), 1);
            }
        }
        // (g * x + r) floordiv (g * b) = x floordiv b, for 0 <= r < g
        for common in rest.terms.iter().map(|&(_, factor)| gcd(factor, divisor)) {
            let mut small = Linear::constant(rest.constant.rem_euclid(common));
            let mut large = Linear::constant(rest.constant.div_euclid(common));
            for &(term, factor) in &rest.terms {
                let (part, factor) =
                    if factor % common == 0 { (&mut large, factor / common) } else { (&mut small, factor) };
                part.add(&Linear::term(term), factor);
            }
            if common > 1 && self.is_within(&small, common) {
                return whole.plus(&self.floor(&large, divisor / common), 1);
            }
        }
        let quotient = (rest, divisor);
        let number = self.quotients.iter().position(|known| *known == quotient).unwrap_or_else(|| {
            self.quotients.push(quotient);
            self.quotients.len() - 1
        });
        whole.plus(&Linear::term(Term::Quotient(number)), 1)
    }

    /// `form mod divisor`, for a positive divisor.
    pub(super) fn modulo(&mut self, form: &Linear, divisor: i64) -> Linear {
        let quotient = self.floor(form, divisor);
        form.clone().plus(&quotient, divisor.wrapping_neg())
    }

    /// The values that a form may take; `None` if it depends on elements.
    pub(super) fn range(&self, form: &Linear) -> Option<Range> {
        let mut sum = (i128::from(form.constant), i128::from(form.constant));
        for &(term, factor) in &form.terms {
            let (low, high) = match term {
                Term::Axis(axis) => (0, i128::from(self.axes[axis]) - 1),
                Term::Point(point) => (0, i128::from(self.points[point]) - 1),
                Term::Column(_) => return None,
                Term::Quotient(number) => {
                    let (dividend, divisor) = self.quotient(number);
                    let (low, high) = self.range(dividend)?;
                    (low.div_euclid(divisor.into()), high.div_euclid(divisor.into()))
                }
            };
            let (a, b) = (low * i128::from(factor), high * i128::from(factor));
            sum = (sum.0 + a.min(b), sum.1 + a.max(b));
        }
        Some(sum)
    }

    /// Whether the value of a form depends on elements.
    pub(super) fn depends_on_elements(&self, form: &Linear) -> bool {
        form.terms.iter().any(|&(term, _)| match term {
            Term::Axis(_) | Term::Point(_) => false,
            Term::Column(_) => true,
            Term::Quotient(number) => self.depends_on_elements(self.quotient(number).0),
        })
    }

    /// Whether a form stays within `0..extent`.
    pub(super) fn is_within(&self, form: &Linear, extent: i64) -> bool {
        self.range(form).is_some_and(|(low, high)| low >= 0 && high < i128::from(extent))
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(axis: usize, factor: i64) -> Linear {
        Linear::term(Term::Axis(axis)).scaled(factor)
    }

    /// The offset in a tensor of these extents of the element whose row-major number is `form`.
    fn reshaped(forms: &mut Forms, form: &Linear, dims: &[i64]) -> Linear {
        let mut offset = Linear::default();
        let mut stride = 1;
        for (dimension, &extent) in dims.iter().enumerate().rev() {
            let quotient = forms.floor(form, stride);
            let index = if dimension == 0 { quotient } else { forms.modulo(&quotient, extent) };
            offset.add(&index, stride);
            stride *= extent;
        }
        offset
    }

    #[test]
    fn reshapes_are_the_identity() {
        for (from, to) in [
            (vec![12], vec![3, 4]),
            (vec![3, 4], vec![12]),
            (vec![4, 6], vec![8, 3]),
            (vec![2, 3, 10], vec![5, 4, 3]),
            (vec![7, 1, 30], vec![1, 10, 3, 7]),
            (vec![6, 35], vec![2, 3, 5, 7]),
        ] {
            let mut forms = Forms::of_box(from.clone());
            let mut number = Linear::default();
            for (at, &extent) in from.iter().enumerate() {
                number = number.scaled(extent).plus(&axis(at, 1), 1);
            }
            assert_eq!(reshaped(&mut forms, &number, &to), number, "{from:?} {to:?}");
        }
    }

    #[test]
    fn quotients_are_taken_apart() {
        let mut forms = Forms::of_box(vec![10, 4]);
        let form = axis(0, 4).plus(&axis(1, 1), 1);
        assert_eq!(forms.floor(&form, 4), axis(0, 1));
        assert_eq!(forms.modulo(&form, 4), axis(1, 1));
        let shifted = form.plus(&Linear::constant(-1), 1);
        let quotient = forms.floor(&shifted, 4);
        assert_eq!(quotient.terms.len(), 2, "{quotient:?}");
        assert_eq!(forms.range(&quotient), Some((-1, 9)));
        // (2 i + 1) floordiv 4 = i floordiv 2
        let doubled = axis(0, 2).plus(&Linear::constant(1), 1);
        assert_eq!(forms.floor(&doubled, 4), forms.floor(&axis(0, 1), 2));
    }
}

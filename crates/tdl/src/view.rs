//! Whether a description only renames the elements of its operand, in row-major order.
//!
//! Let `L` count the elements of the result in row-major order. The index along a dimension of stride `s` and extent `n`
//! is the digit `(L floordiv s) mod n`, and every index expression that a reshape is made of is a sum of multiples of
//! such digits: sums join neighbouring digits, quotients and remainders cut them apart. The elements keep their order
//! if the row-major place of what is read is, so written, the one digit that is all of `L`.

use crate::description::*;
use crate::evaluate::eval_extent;

/// Whether the only result of a description has the elements of one operand, in the same row-major order: which
/// operand. The extents are those of the description, in its order.
pub fn view(description: &Description, extents: &[u64]) -> Option<usize> {
    let data = description.data();
    let [result] = &data.results[..] else { return None };
    let &Scalar::Read(Source::Operand(number), ref places) = data.scalar(result.body) else { return None };
    let extents: Vec<i64> = extents.iter().map(|&extent| extent.try_into().ok()).collect::<Option<_>>()?;
    let sizes = |dims: &[IndexId]| -> Option<Vec<i64>> {
        dims.iter().map(|&dim| eval_extent(data, dim, &extents)).collect()
    };
    let (to, from) = (sizes(&result.dims)?, sizes(&data.parameters[number as usize].dims)?);
    let total = product(&to)?;
    if total <= 0 || product(&from)? != total {
        return None;
    }
    let mut digits = Vec::new();
    let mut stride = total;
    for (&var, &size) in result.vars.iter().zip(&to) {
        stride /= size;
        digits.push((var, Digits::one(stride, stride * size)));
    }
    let walk = Walk { data, extents: &extents, digits: &digits };
    let mut place = Digits::default();
    let mut stride = total;
    for (&index, &size) in places.iter().zip(&from) {
        stride /= size;
        place = place.plus(walk.index(index)?.times(stride)?)?;
    }
    (place == Digits::one(1, total)).then_some(number as usize)
}

fn product(sizes: &[i64]) -> Option<i64> {
    sizes.iter().try_fold(1i64, |product, &size| product.checked_mul(size))
}

/// `constant + Σ factor · ((L floordiv low) mod (high / low))`; `low` divides `high`, terms ascend by `low`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Digits {
    constant: i64,
    terms: Vec<Term>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Term {
    factor: i64,
    low: i64,
    high: i64,
}

impl Digits {
    fn one(low: i64, high: i64) -> Digits {
        let terms = if low == high { Vec::new() } else { vec![Term { factor: 1, low, high }] };
        Digits { constant: 0, terms }
    }

    fn plus(mut self, other: Digits) -> Option<Digits> {
        self.constant = self.constant.checked_add(other.constant)?;
        self.terms.extend(other.terms);
        self.terms.sort_unstable_by_key(|term| (term.low, term.high, term.factor));
        let mut joined: Vec<Term> = Vec::new();
        for term in self.terms {
            match joined.last_mut() {
                Some(last)
                    if last.high == term.low
                        && last.factor.checked_mul(last.high / last.low) == Some(term.factor) =>
                {
                    last.high = term.high;
                }
                _ => joined.push(term),
            }
        }
        Some(Digits { constant: self.constant, terms: joined })
    }

    fn times(mut self, by: i64) -> Option<Digits> {
        if by == 0 {
            return Some(Digits::default());
        }
        self.constant = self.constant.checked_mul(by)?;
        for term in &mut self.terms {
            term.factor = term.factor.checked_mul(by)?;
        }
        Some(self)
    }

    /// The quotient and the remainder by a positive number, where they are sums of digits again.
    fn divided(self, by: i64) -> Option<(Digits, Digits)> {
        if by <= 0 {
            return None;
        }
        let quotient = Digits { constant: self.constant.div_euclid(by), terms: Vec::new() };
        let rest = Digits { constant: self.constant.rem_euclid(by), terms: Vec::new() };
        let (mut quotient, mut rest) = (quotient, rest);
        // The most that the rest can be.
        let mut most = rest.constant;
        for term in self.terms {
            let Term { factor, low, high } = term;
            if factor % by == 0 {
                quotient.terms.push(Term { factor: factor / by, ..term });
                continue;
            }
            if factor <= 0 {
                return None;
            }
            let mut below = term;
            if factor.checked_mul(high / low)? > by {
                let cut = (by % factor == 0).then_some(by / factor)?;
                let middle = low.checked_mul(cut).filter(|middle| high % middle == 0)?;
                below.high = middle;
                quotient.terms.push(Term { factor: 1, low: middle, high });
            }
            most = most.checked_add(factor.checked_mul(below.high / low - 1)?)?;
            rest.terms.push(below);
        }
        (most < by).then_some(())?;
        Some((quotient.plus(Digits::default())?, rest.plus(Digits::default())?))
    }
}

struct Walk<'a> {
    data: &'a Data,
    extents: &'a [i64],
    digits: &'a [(VarId, Digits)],
}

impl Walk<'_> {
    fn index(&self, id: IndexId) -> Option<Digits> {
        let number = |constant: i64| Some(Digits { constant, terms: Vec::new() });
        match self.data.index(id) {
            Index::Const(value) => number(value),
            Index::Extent(_) => number(eval_extent(self.data, id, self.extents)?),
            Index::Var(var) => self.digits.iter().find(|known| known.0 == var).map(|known| known.1.clone()),
            Index::Add(a, b) => self.index(a)?.plus(self.index(b)?),
            Index::Sub(a, b) => self.index(a)?.plus(self.index(b)?.times(-1)?),
            Index::Mul(a, b) => match (self.index(a)?, self.index(b)?) {
                (sum, by) | (by, sum) if by.terms.is_empty() => sum.times(by.constant),
                _ => None,
            },
            Index::FloorDiv(a, b) => Some(self.index(a)?.divided(self.divisor(b)?)?.0),
            Index::Mod(a, b) => Some(self.index(a)?.divided(self.divisor(b)?)?.1),
            Index::Data(_) => None,
        }
    }

    fn divisor(&self, id: IndexId) -> Option<i64> {
        eval_extent(self.data, id, self.extents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpaqueRegistry, parse};

    #[track_caller]
    fn check(text: &str, extents: &[u64], expected: Option<usize>) {
        let description = parse(text, 1, &OpaqueRegistry::builtin()).unwrap();
        assert_eq!(view(&description, extents), expected, "{text}");
    }

    #[test]
    fn views_keep_the_order_of_elements() {
        check("tdl @same(x: [N, M]) -> [N, M] { out[i, j] = x[i, j] }", &[3, 5], Some(0));
        check("tdl @row(x: [N]) -> [1, N] { out[i: 1, j] = x[j] }", &[7], Some(0));
        check("tdl @flat(x: [N, M]) -> [N * M] { out[i] = x[i floordiv M, i mod M] }", &[4, 6], Some(0));
        check("tdl @split(x: [4 * N]) -> [N, 4] { out[i, j] = x[i * 4 + j] }", &[6], Some(0));
        let text = "tdl @both(y: [], x: [4, 6 * N]) -> [2, 12 * N] {
            out[i, j] = x[i * 2 + j floordiv (6 * N), j mod (6 * N)]
        }";
        check(text, &[5], Some(1));
        // Through the place in the whole: no stride of one shape divides those of the other.
        let text = "tdl @odd(x: [2, 3]) -> [3, 2] {
            out[i, j] = x[(i * 2 + j) floordiv 3, (i * 2 + j) mod 3]
        }";
        check(text, &[], Some(0));
    }

    #[test]
    fn other_moves_are_no_views() {
        check("tdl @turn(x: [N, M]) -> [M, N] { out[i, j] = x[j, i] }", &[3, 5], None);
        // Turned, but along a dimension of one element: the order is the same.
        check("tdl @turn(x: [N, M]) -> [M, N] { out[i, j] = x[j, i] }", &[1, 5], Some(0));
        check("tdl @spread(x: [N]) -> [M, N] { out[i: M, j] = x[j] }", &[3, 5], None);
        check("tdl @cut(x: [N + 1]) -> [N] { out[i] = x[i] }", &[3], None);
        check("tdl @shift(x: [N]) -> [N] { out[i] = x[(i + 1) mod N] }", &[3], None);
        check("tdl @back(x: [N]) -> [N] { out[i] = x[N - 1 - i] }", &[3], None);
        check("tdl @weave(x: [N, M]) -> [N * M] { out[i] = x[i mod N, i floordiv N] }", &[4, 6], None);
        check("tdl @twice(x: [N]) -> [N] { out[i] = x[i] + x[i] }", &[3], None);
        check("tdl @none(x: [N]) -> [N] { out[i] = x[i] }", &[0], None);
    }
}

//! Numbers of elements that depend on extents.

use tofu_ir::EntityId;

use crate::description::*;
use crate::poly::{Atom, Atoms, Poly};

/// A polynomial in the extents of a description.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Amount {
    /// Factors of products of extents; the constant has no extents.
    pub terms: Vec<(i64, Vec<ExtentId>)>,
}

impl Amount {
    /// A number.
    pub fn constant(value: i64) -> Amount {
        Amount { terms: if value == 0 { Vec::new() } else { vec![(value, Vec::new())] } }
    }

    /// Whether it is this number whatever the extents.
    pub fn is(&self, value: i64) -> bool {
        *self == Amount::constant(value)
    }

    /// Its value for these extents; `None` if it does not fit.
    pub fn value(&self, extents: &[i64]) -> Option<i64> {
        self.terms.iter().try_fold(0i64, |sum, (factor, product)| {
            let mut term = *factor;
            for extent in product {
                term = term.checked_mul(*extents.get(extent.index())?)?;
            }
            sum.checked_add(term)
        })
    }

    pub(super) fn from_poly(poly: &Poly, atoms: &Atoms) -> Option<Amount> {
        if poly.is_overflow() {
            return None;
        }
        let mut terms = Vec::new();
        for (monomial, factor) in poly.terms() {
            let mut extents = Vec::new();
            for &atom in monomial {
                match atoms.get(atom) {
                    Some(Atom::Extent(extent)) => extents.push(*extent),
                    _ => return None,
                }
            }
            terms.push((i64::try_from(*factor).ok()?, extents));
        }
        // The constant last, extents in their order.
        terms.sort_by(|a, b| (a.1.is_empty(), &a.1).cmp(&(b.1.is_empty(), &b.1)));
        Some(Amount { terms })
    }

    /// As text, with the names of the description.
    pub fn text(&self, data: &Data) -> String {
        let mut out = String::new();
        for (factor, product) in &self.terms {
            let sign = match (out.is_empty(), *factor < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let names: Vec<&str> = product.iter().map(|extent| &*data.extents[extent.index()]).collect();
            let size = factor.unsigned_abs();
            let term = match (size, names.is_empty()) {
                (_, true) => size.to_string(),
                (1, false) => names.join(" * "),
                (_, false) => format!("{size} * {}", names.join(" * ")),
            };
            out.push_str(sign);
            out.push_str(&term);
        }
        if out.is_empty() { "0".to_owned() } else { out }
    }
}

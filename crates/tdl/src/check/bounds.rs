//! Accesses stay inside their tensors, whatever the extents, as far as conditions and guards say.
//!
//! An index that depends on elements cannot be checked here; the evaluator looks at each of them.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::EntityId;

use crate::description::*;
use crate::facts::Facts;
use crate::poly::{Atom, Poly};
use crate::print::index_text;

/// Every access that may leave its tensor.
pub(super) fn check(description: &Description) -> Vec<Diagnostic> {
    let data = description.data();
    let mut walk = Walk { description, found: Vec::new() };
    let facts = Facts::new(data);
    for combiner in &data.combiners {
        let facts = &mut facts.clone();
        combiner.identities.iter().chain(&combiner.bodies).for_each(|&body| walk.scalar(body, facts));
    }
    let lets = data.lets.iter().map(|item| (&item.vars, item.body));
    for (vars, body) in lets.chain(data.results.iter().map(|result| (&result.vars, result.body))) {
        let mut facts = facts.clone();
        vars.iter().for_each(|&var| facts.bind(var));
        walk.scalar(body, &mut facts);
    }
    walk.found.dedup_by(|a, b| a.primary.span == b.primary.span && a.message == b.message);
    walk.found
}

struct Walk<'d> {
    description: &'d Description,
    found: Vec<Diagnostic>,
}

impl Walk<'_> {
    fn scalar(&mut self, id: ScalarId, facts: &mut Facts<'_>) {
        let data = facts.data;
        match data.scalar(id) {
            Scalar::Literal(_) | Scalar::Carried(..) => {}
            Scalar::Index(index) => self.index(*index, facts),
            Scalar::Read(source, indices) => {
                for (dimension, &index) in indices.iter().enumerate() {
                    self.access(*source, dimension, index, facts);
                }
            }
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => self.scalar(*a, facts),
            Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => {
                self.scalar(*a, facts);
                self.scalar(*b, facts);
            }
            Scalar::Select(condition, a, b) => {
                self.scalar(*condition, facts);
                for (branch, holds) in [(*a, true), (*b, false)] {
                    if let Scalar::Literal(_) = data.scalar(branch) {
                        continue;
                    }
                    let mut inside = facts.clone();
                    inside.assume_condition(*condition, holds);
                    self.scalar(branch, &mut inside);
                }
            }
            Scalar::Reduce(reduction, _) => {
                let reduction = data.reduction(*reduction);
                let mut inside = facts.clone();
                reduction.vars.iter().for_each(|&var| inside.bind(var));
                reduction.bodies.iter().for_each(|&body| self.scalar(body, &mut inside));
            }
            Scalar::Opaque(call, indices) => {
                for slice in &data.opaque(*call).arguments {
                    for (dimension, index) in slice.dims.iter().enumerate() {
                        if let Some(index) = index {
                            self.access(slice.source, dimension, *index, facts);
                        }
                    }
                }
                indices.iter().for_each(|&index| self.index(index, facts));
            }
        }
    }

    /// Looks at the accesses inside an index.
    fn index(&mut self, id: IndexId, facts: &mut Facts<'_>) {
        match facts.data.index(id) {
            Index::Const(_) | Index::Extent(_) | Index::Var(_) => {}
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Mul(a, b)
            | Index::FloorDiv(a, b)
            | Index::Mod(a, b) => {
                self.index(a, facts);
                self.index(b, facts);
            }
            Index::Data(scalar) => self.scalar(scalar, facts),
        }
    }

    fn access(&mut self, source: Source, dimension: usize, index: IndexId, facts: &mut Facts<'_>) {
        self.index(index, facts);
        let data = facts.data;
        let Some(&extent) = data.dims(source).get(dimension) else { return };
        if matches!(data.index(index), Index::Var(var) if data.variable(var).extent == extent) {
            return;
        }
        let value = facts.poly(index);
        let depends_on_elements = value.atoms().iter().any(|&atom| mentions_data(&Poly::atom(atom), facts));
        if depends_on_elements {
            return;
        }
        let low = facts.proves(&value);
        let size = facts.poly(extent);
        let high = facts.proves(&size.sub(&value).offset(-1));
        if low && high {
            return;
        }
        let (text, name) = (index_text(data, index), data.source_name(source));
        let size = index_text(data, extent);
        let side = match (low, high) {
            (false, true) => "negative".to_owned(),
            (true, false) => format!("{size} or more"),
            _ => format!("outside 0..{size}"),
        };
        let message = format!("the index `{text}` into dimension {dimension} of `{name}` may be {side}");
        let spans = self.description.spans();
        let span = spans.indices[index.index()].or(spans.whole);
        let help = if low {
            format!("guard it: `if {text} < {size} then … else …`")
        } else if high {
            format!("guard it: `if {text} >= 0 then … else …`")
        } else {
            format!("guard it: `if {text} >= 0 and {text} < {size} then … else …`")
        };
        self.found.push(Diagnostic::error(&codes::TDL_OUT_OF_BOUNDS, span, message).help(help));
    }
}

fn mentions_data(poly: &Poly, facts: &Facts<'_>) -> bool {
    poly.atoms().into_iter().any(|atom| match facts.atoms.get(atom) {
        Some(Atom::Data(_)) => true,
        Some(Atom::Floor(a, b) | Atom::Mod(a, b)) => mentions_data(a, facts) || mentions_data(b, facts),
        _ => false,
    })
}

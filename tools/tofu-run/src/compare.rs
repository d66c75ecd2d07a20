//! Results against expected ones.

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_equivalence::{Comparison, Tolerance, type_text};
use tofu_ir::ElementType;
use tofu_tdl::Tensor;

use crate::arrays;
use crate::npz::Archive;

/// How far results may be from what is expected.
pub(crate) struct Allowed {
    /// The part of the expected size, and what is allowed whatever the size; what rounding explains where nothing is said.
    pub(crate) relative: Option<f64>,
    pub(crate) absolute: Option<f64>,
    /// The types that each result is computed in.
    pub(crate) elements: Vec<Vec<ElementType>>,
}

impl Allowed {
    fn tolerance(&self, number: usize, expected: &Tensor) -> Tolerance {
        let elements = self.elements.get(number).into_iter().flatten().copied();
        let usual = Tolerance::of_result(expected, elements);
        Tolerance {
            relative: self.relative.unwrap_or(usual.relative),
            absolute: self.absolute.unwrap_or(usual.absolute),
        }
    }
}

/// What came of a comparison.
pub(crate) struct Compared {
    /// One line for each result: how far it is from what is expected.
    pub(crate) table: String,
    /// What differs by more than is allowed.
    pub(crate) differences: Vec<Diagnostic>,
}

/// Compares results with the arrays `res0`, `res1`, … of an archive. Integers and truth values must be equal, and NaN
/// equals NaN.
pub(crate) fn compare(results: &[Tensor], expected: &Archive, allowed: &Allowed) -> Compared {
    let mut table = String::new();
    let mut wrong = Vec::new();
    for (number, result) in results.iter().enumerate() {
        let name = format!("res{number}");
        let ty = result.ty();
        let came = type_text(&ty);
        let found = match expected.get(&name) {
            Some(array) => arrays::tensor(array, &ty).map_err(|given| {
                format!(
                    "{name} is a `{came}`, an array {}; in the expected ones, {given}",
                    arrays::expected(&ty)
                )
            }),
            None => Err(format!("`{name}` is a `{came}`, but nothing of this name is expected")),
        };
        match found {
            Ok(array) => {
                let errors = Comparison::of(result, &array, allowed.tolerance(number, &array));
                table.push_str(&errors.line(&name, &came));
                wrong.extend(errors.message(&name, result, &array));
            }
            Err(message) => wrong.push(message),
        }
    }
    let is_known = |name: &str| (0..results.len()).any(|number| name == format!("res{number}"));
    let others: Vec<&str> = expected.names().filter(|name| !is_known(name)).collect();
    if !others.is_empty() {
        wrong.push(format!("no result is called {}, as expected ones are", others.join(", ")));
    }
    let difference = |message| Diagnostic::error(&codes::RESULTS_DIFFER, Span::NONE, message);
    Compared { table, differences: wrong.into_iter().map(difference).collect() }
}

/// Compares results with others.
pub(crate) fn compare_tensors(results: &[Tensor], expected: &[Tensor], allowed: &Allowed) -> Compared {
    let mut table = String::new();
    let mut wrong = Vec::new();
    for (number, (result, expected)) in results.iter().zip(expected).enumerate() {
        let name = format!("res{number}");
        let found = Comparison::of(result, expected, allowed.tolerance(number, expected));
        table.push_str(&found.line(&name, &type_text(&result.ty())));
        wrong.extend(found.message(&name, result, expected));
    }
    let difference = |message| Diagnostic::error(&codes::RESULTS_DIFFER, Span::NONE, message);
    Compared { table, differences: wrong.into_iter().map(difference).collect() }
}

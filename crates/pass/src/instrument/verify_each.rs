//! Verification after every pass, so that a pass that breaks the program is known by name.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::verify;

use super::{Instrument, Step};
use crate::Changed;

/// Verifies the program after each pass that has changed it.
///
/// While functions are worked on in parallel, each sees only what it mentioned before; symbols are then checked when all
/// functions are together again.
#[derive(Debug, Default)]
pub struct VerifyEach;

impl Instrument for VerifyEach {
    fn after_pipeline(&mut self, step: &Step<'_>, changed: Changed) -> Vec<Diagnostic> {
        // On one op the passes worked in place, and each was checked on the whole.
        if step.op_count > 1 { check(step, changed) } else { Vec::new() }
    }

    fn after_pass(
        &mut self,
        step: &Step<'_>,
        changed: Changed,
        _: &[(&'static str, u64)],
    ) -> Vec<Diagnostic> {
        check(step, changed)
    }

    fn fork(&self) -> Box<dyn Instrument> {
        Box::new(VerifyEach)
    }

    fn join(&mut self, _fork: Box<dyn Instrument>) {}
}

fn check(step: &Step<'_>, changed: Changed) -> Vec<Diagnostic> {
    if changed == Changed::No {
        return Vec::new();
    }
    let mut found = verify(step.module);
    if step.detached {
        let of_whole = [codes::UNDEFINED_SYMBOL.id, codes::REDEFINED_SYMBOL.id];
        found.retain(|diagnostic| !of_whole.contains(&diagnostic.code.id));
    }
    if let Some(first) = found.first() {
        let message = format!("the program is invalid after `{}`", step.text());
        let note = "this is a fault of the pass, not of the program; what is wrong follows";
        let error = Diagnostic::error(&codes::INVALID_AFTER_PASS, first.primary.span, message);
        found.insert(0, error.note(note));
    }
    found
}

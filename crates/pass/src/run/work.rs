//! What a pipeline works on, and where its passes and instruments leave their words.

use tofu_diagnostics::{Diagnostic, Severity, codes};
use tofu_ir::{Module, OpId};

use crate::{
    Instrument, Session, Step,
    context::{Output, cannot_write},
    instrument::{What, describe},
    panics::{Panic, guard},
};

/// Something failed, and it has been said what.
pub(super) struct Stopped;

/// One op that passes work on.
pub(super) struct Work<'w, 'i> {
    pub(super) module: &'w mut Module,
    pub(super) op: OpId,
    pub(super) session: &'w Session,
    pub(super) instruments: &'w mut [&'i mut dyn Instrument],
    pub(super) diagnostics: &'w mut Vec<Diagnostic>,
    /// Whether the module is only a part of the program, while others work on other parts.
    pub(super) detached: bool,
    /// What passes on a part of the program have made, until it is this part's turn to be written.
    pub(super) outputs: Vec<Output>,
    /// See [`Step`].
    pub(super) indices: Vec<usize>,
    pub(super) trail: Vec<String>,
}

impl<'w, 'i> Work<'w, 'i> {
    pub(super) fn on_program(
        module: &'w mut Module,
        session: &'w Session,
        instruments: &'w mut [&'i mut dyn Instrument],
        diagnostics: &'w mut Vec<Diagnostic>,
    ) -> Work<'w, 'i> {
        let op = module.root();
        let (outputs, indices, trail) = (Vec::new(), Vec::new(), Vec::new());
        Work { module, op, session, instruments, diagnostics, detached: false, outputs, indices, trail }
    }

    /// Passes diagnostics on, and fails if there is an error among them.
    pub(super) fn say(&mut self, found: Vec<Diagnostic>) -> Result<(), Stopped> {
        let failed = found.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        self.diagnostics.extend(found);
        if failed { Err(Stopped) } else { Ok(()) }
    }

    /// Writes and shows what passes have made when it is its turn; says what could not be written.
    pub(super) fn keep(&mut self, outputs: Vec<Output>) -> Vec<Diagnostic> {
        if self.detached {
            self.outputs.extend(outputs);
            return Vec::new();
        }
        let put = |output: Output| match output {
            Output::Artifact { pass, name, bytes } => {
                let error = self.session.artifacts.write(&name, &bytes).err()?;
                Some(cannot_write(pass, &name, &error))
            }
            Output::Listing(text) => {
                self.session.printer.print(&text);
                None
            }
            Output::Summary(text) => {
                self.session.printer.summarize(&text);
                None
            }
            Output::Finding { pass, finding } => {
                self.session.findings.take(pass, finding);
                None
            }
        };
        outputs.into_iter().filter_map(put).collect()
    }

    pub(super) fn panicked(&self, panic: Panic, pass: &str) -> Diagnostic {
        let place = describe(self.module, self.op);
        let message = format!("`{pass}` panicked on `{place}`: {}", panic.message);
        let mut diagnostic = self.module.error(self.op, &codes::PASS_PANICKED, message).help(
            "this is a defect of the pass; report it with the file that `--crash-reproducer=FILE` writes",
        );
        if let Some(place) = panic.place {
            diagnostic = diagnostic.note(format!("it happened at {place}"));
        }
        match panic.backtrace {
            Some(backtrace) => diagnostic.note(backtrace),
            None => diagnostic,
        }
    }

    pub(super) fn before(
        &mut self,
        what: What<'_>,
        op_count: usize,
        hook: impl Fn(&mut dyn Instrument, &Step<'_>),
    ) {
        let (instruments, step) = self.step(what, op_count);
        instruments.iter_mut().for_each(|instrument| hook(&mut **instrument, &step));
    }

    pub(super) fn after(
        &mut self,
        what: What<'_>,
        op_count: usize,
        hook: impl Fn(&mut dyn Instrument, &Step<'_>) -> Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let (instruments, step) = self.step(what, op_count);
        instruments.iter_mut().rev().flat_map(|instrument| hook(&mut **instrument, &step)).collect()
    }

    /// The program may be in any state: an instrument that trips over it says nothing more.
    pub(super) fn failed(
        &mut self,
        what: What<'_>,
        op_count: usize,
        hook: impl Fn(&mut dyn Instrument, &Step<'_>),
    ) {
        let (instruments, step) = self.step(what, op_count);
        for instrument in instruments.iter_mut().rev() {
            let _ = guard(|| hook(&mut **instrument, &step));
        }
    }

    fn step<'s>(
        &'s mut self,
        what: What<'s>,
        op_count: usize,
    ) -> (&'s mut [&'i mut dyn Instrument], Step<'s>) {
        let Work { module, op, detached, indices, trail, instruments, .. } = self;
        let step = Step { what, indices, trail, module, op: *op, op_count, detached: *detached };
        (instruments, step)
    }
}

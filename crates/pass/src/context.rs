//! What a pass sees of the world: the program, and a [`Session`] in place of files, clocks and terminals.

use std::any::{Any, TypeId};
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tofu_diagnostics::{Diagnostic, Severity, Span, codes};
use tofu_ir::{Module, OpId};
use tofu_machine::{Machine, Machines};

use crate::{Analysis, Failed, MachineName, analysis::Analyses};

/// What a tool lends to the passes that it runs.
#[derive(Clone)]
pub struct Session {
    /// How many threads work on the functions of a program. The result does not depend on it.
    pub threads: NonZeroUsize,
    /// The machine that programs are compiled for, and those that options of passes name:
    /// [`PassManager::machines`](crate::PassManager::machines), resolved.
    pub machines: Machines,
    /// Where passes read from.
    pub resources: Arc<dyn Resources>,
    /// Where passes write to.
    pub artifacts: Arc<dyn Artifacts>,
    /// Where passes show what the user has asked to see.
    pub printer: Arc<dyn Printer>,
    /// Who wants to know how far the passes are.
    pub progress: Arc<dyn Progress>,
    /// Who puts together what passes have found.
    pub findings: Arc<dyn Findings>,
    /// Ends the run early.
    pub cancellation: Cancellation,
    /// Whether a pass that says [`Changed::No`](crate::Changed::No) is checked to have changed nothing. It costs a
    /// walk over the program before and after each pass.
    pub check_changes: bool,
}

impl Default for Session {
    /// One thread, the default machine, no files, nothing shown, no progress; changes are checked in debug builds.
    fn default() -> Session {
        Session {
            threads: NonZeroUsize::MIN,
            machines: Machines::default(),
            resources: Arc::new(Nothing),
            artifacts: Arc::new(Nothing),
            printer: Arc::new(Nothing),
            progress: Arc::new(Nothing),
            findings: Arc::new(Nothing),
            cancellation: Cancellation::default(),
            check_changes: cfg!(debug_assertions),
        }
    }
}

/// Loads what a pass names: a machine description, a plan made earlier.
pub trait Resources: Send + Sync {
    /// The bytes of a resource.
    ///
    /// # Errors
    /// When there is none of this name or it cannot be read.
    fn load(&self, name: &str) -> io::Result<Vec<u8>>;
}

/// Takes what is made besides the program: reports, traces, printed programs. Names are relative paths with `/`.
pub trait Artifacts: Send + Sync {
    /// Keeps `bytes` under `name`.
    ///
    /// # Errors
    /// When they cannot be written.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Tells whether something can be written under `name`, as far as that is known before it is. Nothing is written.
    ///
    /// # Errors
    /// Why not.
    fn check(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }
}

/// Shows listings to the user: passes whose purpose it is to show something print through it.
pub trait Printer: Send + Sync {
    /// Shows `text`, which ends in a line break.
    fn print(&self, text: &str);

    /// Shows a summary of what a pass has done, which nobody has asked for in so many words.
    fn summarize(&self, text: &str) {
        self.print(text);
    }
}

/// Takes what passes have found, for reports.
pub trait Findings: Send + Sync {
    /// A pass has found this; who knows its type uses it.
    fn take(&self, pass: &str, finding: Box<dyn Any + Send>);
}

/// Is told how far passes are.
pub trait Progress: Send + Sync {
    /// A pass has done this fraction, from 0 to 1, of its work.
    fn update(&self, pass: &str, fraction: f64, message: &str);
}

/// Has no resources, takes no artifacts, shows nothing, is told everything and does nothing.
struct Nothing;

impl Resources for Nothing {
    fn load(&self, _name: &str) -> io::Result<Vec<u8>> {
        Err(io::Error::new(io::ErrorKind::NotFound, "this tool gives passes no files to read"))
    }
}

impl Artifacts for Nothing {
    fn write(&self, _name: &str, _bytes: &[u8]) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this tool gives passes no place to write to"))
    }
}

impl Printer for Nothing {
    fn print(&self, _text: &str) {}
}

impl Findings for Nothing {
    fn take(&self, _pass: &str, _finding: Box<dyn Any + Send>) {}
}

impl Progress for Nothing {
    fn update(&self, _pass: &str, _fraction: f64, _message: &str) {}
}

/// A wish to stop, shared between whoever has it and those who work.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Asks everybody to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether somebody has asked, once: who ends early with what there is has done what was asked for, and the run goes on.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    /// Fails if somebody has asked; loops that take long call it now and then.
    ///
    /// # Errors
    /// With [`codes::CANCELLED`].
    pub fn check(&self) -> Result<(), Failed> {
        if self.is_cancelled() {
            return Err(Diagnostic::error(&codes::CANCELLED, Span::NONE, "the run was cancelled").into());
        }
        Ok(())
    }
}

/// What a pass works with.
pub struct PassContext<'a> {
    /// The program. In a function pass it holds the function and perhaps no more than what the function's symbols mean,
    /// other functions as declarations.
    pub module: &'a mut Module,
    op: OpId,
    pass: &'static str,
    session: &'a Session,
    analyses: &'a mut Analyses,
    notes: &'a mut Notes,
}

/// What a pass leaves behind besides a changed program.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) counts: Vec<(&'static str, u64)>,
    pub(crate) preserved: Vec<TypeId>,
    pub(crate) outputs: Vec<Output>,
}

/// Something made besides the program.
pub(crate) enum Output {
    /// To be written.
    Artifact { pass: &'static str, name: String, bytes: Vec<u8> },
    /// To be shown.
    Listing(String),
    /// To be shown unless the user wants quiet.
    Summary(String),
    /// For reports.
    Finding { pass: &'static str, finding: Box<dyn Any + Send> },
}

impl<'a> PassContext<'a> {
    pub(crate) fn new(
        module: &'a mut Module,
        op: OpId,
        pass: &'static str,
        session: &'a Session,
        analyses: &'a mut Analyses,
        notes: &'a mut Notes,
    ) -> PassContext<'a> {
        PassContext { module, op, pass, session, analyses, notes }
    }

    /// The op to work on: the module, the function.
    pub fn op(&self) -> OpId {
        self.op
    }

    /// A fact about the op, computed now or kept from before. It describes the program as it was when it was first
    /// asked for, in this pass or in one whose changes have preserved it.
    pub fn analysis<A: Analysis>(&mut self) -> Arc<A> {
        self.analyses.get(self.module, self.op)
    }

    /// Says that `A` holds after this pass although the program has changed.
    pub fn preserve<A: Analysis>(&mut self) {
        self.notes.preserved.push(TypeId::of::<A>());
    }

    /// Says something about the program. After an error the pass counts as failed, whatever it returns.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.notes.diagnostics.push(diagnostic);
    }

    /// Reports all that a check has found: `cx.report_all(plan.verify())?`.
    ///
    /// # Errors
    /// When there is an error among it.
    pub fn report_all(&mut self, found: Vec<Diagnostic>) -> Result<(), Failed> {
        let failed = found.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        self.notes.diagnostics.extend(found);
        if failed { Err(Failed(None)) } else { Ok(()) }
    }

    /// Adds to one of the pass's [statistics](crate::Pass::STATISTICS).
    pub fn count(&mut self, name: &'static str, number: u64) {
        match self.notes.counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += number,
            None => self.notes.counts.push((name, number)),
        }
    }

    /// The machine that an option of the pass names; without a name the one that the whole run is for.
    ///
    /// # Errors
    /// When whoever runs the pass has not made the machine known.
    pub fn machine(&self, name: Option<&MachineName>) -> Result<Machine, Failed> {
        let machines = &self.session.machines;
        let Some(MachineName(name)) = name else { return Ok(machines.default_machine().clone()) };
        machines.get(name).ok_or_else(|| {
            let message =
                format!("`{}` is to run for the machine `{name}`, which is not known here", self.pass);
            Diagnostic::error(&codes::UNKNOWN_MACHINE, Span::NONE, message).into()
        })
    }

    /// The bytes of a resource.
    ///
    /// # Errors
    /// When there is none of this name or it cannot be read.
    pub fn load(&self, name: &str) -> Result<Vec<u8>, Failed> {
        self.session.resources.load(name).map_err(|error| {
            let message = format!("`{}` cannot read `{name}`: {error}", self.pass);
            Diagnostic::error(&codes::CANNOT_READ, Span::NONE, message).into()
        })
    }

    /// Checks that an artifact of this name can be written, so that nobody waits for one in vain.
    ///
    /// # Errors
    /// When it is known already that it cannot.
    pub fn check_artifact(&self, name: &str) -> Result<(), Diagnostic> {
        self.session.artifacts.check(name).map_err(|error| cannot_write(self.pass, name, &error))
    }

    /// Makes an artifact. It is written after the pass, those of functions in the order of the functions; if that
    /// fails, so does the run.
    pub fn write(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let (pass, name, bytes) = (self.pass, name.into(), bytes.into());
        self.notes.outputs.push(Output::Artifact { pass, name, bytes });
    }

    /// Shows a text, which ends in a line break, to the user. It comes after the pass, those of functions in the order
    /// of the functions.
    pub fn print(&mut self, text: impl Into<String>) {
        self.notes.outputs.push(Output::Listing(text.into()));
    }

    /// Shows a summary of what the pass has done, as [`print`](PassContext::print) does, unless the user wants quiet.
    pub fn summarize(&mut self, text: impl Into<String>) {
        self.notes.outputs.push(Output::Summary(text.into()));
    }

    /// Hands out something for reports.
    pub fn find(&mut self, finding: impl Any + Send) {
        let (pass, finding) = (self.pass, Box::new(finding));
        self.notes.outputs.push(Output::Finding { pass, finding });
    }

    /// Tells how far the pass is, from 0 to 1, and what it is doing.
    pub fn progress(&self, fraction: f64, message: &str) {
        self.session.progress.update(self.pass, fraction, message);
    }

    /// Whether to go on; see [`Cancellation::check`].
    pub fn cancellation(&self) -> &Cancellation {
        &self.session.cancellation
    }
}

/// What is said of an artifact that cannot be written.
pub(crate) fn cannot_write(pass: &str, name: &str, error: &io::Error) -> Diagnostic {
    let error = error.to_string();
    let error = error.split(" (os error").next().unwrap_or(&error);
    Diagnostic::error(&codes::CANNOT_WRITE, Span::NONE, format!("`{pass}` cannot write `{name}`: {error}"))
}

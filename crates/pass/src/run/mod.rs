//! Running a pipeline, pass by pass.

mod nested;
#[cfg(test)]
mod tests;
mod work;

use std::sync::OnceLock;

use rayon::ThreadPool;
use tofu_diagnostics::{Code, Diagnostic, Severity, codes};
use tofu_ir::{Compared, Module, digest};

use self::work::{Stopped, Work};
use crate::{
    Changed, Failed, Instrument, PassContext, PassManager, Session,
    analysis::Analyses,
    context::Notes,
    instrument::What,
    manager::{Item, Pipeline},
    panics::guard,
    pass::ErasedPass,
};

/// What a run has come to.
#[derive(Debug)]
#[must_use]
pub struct Outcome {
    /// Whether the program has changed. `None` if a pass failed: the program is then to be thrown away.
    pub changed: Option<Changed>,
    /// Everything that was said, in the order of the pipeline and, inside of it, of the functions.
    pub diagnostics: Vec<Diagnostic>,
}

impl Outcome {
    /// Whether a pass failed.
    pub fn failed(&self) -> bool {
        self.changed.is_none()
    }

    /// Whether a pass panicked.
    pub fn panicked(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| is(diagnostic, &codes::PASS_PANICKED))
    }
}

impl PassManager {
    /// Runs the pipeline on a program. A pass that panics has failed; see also
    /// [`install_panic_hook`](crate::install_panic_hook).
    pub fn run(
        &self,
        module: &mut Module,
        session: &Session,
        instruments: &mut [&mut dyn Instrument],
    ) -> Outcome {
        let mut diagnostics = Vec::new();
        let mut work = Work::on_program(module, session, instruments, &mut diagnostics);
        let runner = Runner { session, pool: OnceLock::new() };
        let result =
            runner.watched(&self.pipeline, 1, &mut work, |work| runner.pipeline(&self.pipeline, work));
        Outcome { changed: result.ok(), diagnostics }
    }
}

struct Runner<'s> {
    session: &'s Session,
    pool: OnceLock<Option<ThreadPool>>,
}

type Ran = Result<Changed, Stopped>;

impl Runner<'_> {
    fn pipeline(&self, pipeline: &Pipeline, work: &mut Work<'_, '_>) -> Ran {
        let mut analyses = Analyses::default();
        let mut all = Changed::No;
        for (index, item) in pipeline.items.iter().enumerate() {
            work.indices.push(index);
            let changed = match item {
                Item::Pass(pass) => self.pass(&**pass, work, &mut analyses),
                Item::Nest(nested) => self.nested(nested, work, &mut analyses),
            };
            work.indices.pop();
            all = all.or(changed?);
        }
        Ok(all)
    }

    fn pass(&self, pass: &dyn ErasedPass, work: &mut Work<'_, '_>, analyses: &mut Analyses) -> Ran {
        if let Err(Failed(cancelled)) = self.session.cancellation.check() {
            work.diagnostics.extend(cancelled.map(|diagnostic| *diagnostic));
            return Err(Stopped);
        }
        let what = What::Pass(pass);
        work.before(what, 1, |instrument, step| instrument.before_pass(step));
        let mut notes = Notes::default();
        let result = self.bare_pass(pass, work, analyses, &mut notes).and_then(|changed| {
            analyses.update(changed, &notes.preserved);
            let found = guard(|| {
                work.after(what, 1, |instrument, step| instrument.after_pass(step, changed, &notes.counts))
            });
            let found = found.unwrap_or_else(|panic| vec![work.panicked(panic, pass.name())]);
            work.say(found).map(|()| changed)
        });
        if result.is_err() {
            work.failed(what, 1, |instrument, step| instrument.after_pass_failed(step));
        }
        result
    }

    /// Runs a pass without instruments and settles whether it has failed.
    fn bare_pass(
        &self,
        pass: &dyn ErasedPass,
        work: &mut Work<'_, '_>,
        analyses: &mut Analyses,
        notes: &mut Notes,
    ) -> Ran {
        let content = |work: &Work<'_, '_>| {
            let compared = Compared { names: true, locations: true };
            self.session.check_changes.then(|| digest(work.module, work.op, compared))
        };
        let before = content(work);
        let mut cx = PassContext::new(work.module, work.op, pass.name(), self.session, analyses, notes);
        let result = guard(|| pass.run(&mut cx));
        let result = result.and_then(|result| {
            let declared = |name: &str| pass.statistics().iter().any(|(known, _)| *known == name);
            let undeclared = notes.counts.iter().find(|(name, _)| !declared(name));
            guard(|| {
                debug_assert!(
                    undeclared.is_none(),
                    "{undeclared:?} is counted, but `STATISTICS` does not list it"
                );
                result
            })
        });

        let mut found = std::mem::take(&mut notes.diagnostics);
        let changed = match result {
            Ok(Ok(changed)) => Some(changed),
            Ok(Err(Failed(reason))) => {
                found.extend(reason.map(|reason| Diagnostic { severity: Severity::Error, ..*reason }));
                None
            }
            Err(panic) => {
                found.push(work.panicked(panic, pass.name()));
                None
            }
        };
        if changed == Some(Changed::No) && before != content(work) {
            let message = format!("`{}` has changed the program and says that it has not", pass.text());
            found.push(work.module.error(work.op, &codes::WRONG_CHANGE_REPORT, message));
        }
        found.extend(work.keep(std::mem::take(&mut notes.outputs)));
        work.say(found)?;
        changed.ok_or(Stopped)
    }

    /// Runs `body` with the instruments told about the pipeline around it.
    fn watched<'w, 'i>(
        &self,
        pipeline: &Pipeline,
        op_count: usize,
        work: &mut Work<'w, 'i>,
        body: impl FnOnce(&mut Work<'w, 'i>) -> Ran,
    ) -> Ran {
        let what = What::Pipeline(pipeline);
        work.before(what, op_count, |instrument, step| instrument.before_pipeline(step));
        let result = body(work).and_then(|changed| {
            let found =
                work.after(what, op_count, |instrument, step| instrument.after_pipeline(step, changed));
            work.say(found).map(|()| changed)
        });
        if result.is_err() {
            work.failed(what, op_count, |instrument, step| instrument.after_pipeline_failed(step));
        }
        result
    }
}

fn is(diagnostic: &Diagnostic, code: &Code) -> bool {
    diagnostic.code.id == code.id
}

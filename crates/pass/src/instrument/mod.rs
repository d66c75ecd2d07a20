//! Hooks around passes, and what hangs on them: times, statistics, printed programs, verification, reproducers.
//!
//! A pipeline over several functions runs on several threads. Each function then has [forks](Instrument::fork) of the
//! instruments, which are [joined](Instrument::join) in the order of the functions, so that what an instrument records
//! does not depend on the threads.

mod print_ir;
mod reproducer;
mod statistics;
mod timing;
mod verify_each;

use std::any::Any;

use tofu_diagnostics::Diagnostic;
use tofu_ir::{AttrData, Module, OpId, SYMBOL_NAME};

pub use print_ir::{PrintIr, When, Which};
pub use reproducer::{CrashRecorder, Reproducer};
pub use statistics::Statistics;
pub use timing::Timing;
pub use verify_each::VerifyEach;

use crate::{Changed, manager::Pipeline, pass::ErasedPass};

/// Something that watches passes run. Of several, the last is closest to the pass: it is told last of what begins and
/// first of what ends.
pub trait Instrument: Any + Send {
    /// A pipeline is about to run on all ops of its kind in an op.
    fn before_pipeline(&mut self, _step: &Step<'_>) {}

    /// The pipeline has run. Errors that are returned make it fail.
    fn after_pipeline(&mut self, _step: &Step<'_>, _changed: Changed) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// A pass in the pipeline has failed, or an instrument has just found fault with the pipeline.
    fn after_pipeline_failed(&mut self, _step: &Step<'_>) {}

    /// A pass is about to run.
    fn before_pass(&mut self, _step: &Step<'_>) {}

    /// The pass has run, and has counted this. Errors that are returned make it fail.
    fn after_pass(
        &mut self,
        _step: &Step<'_>,
        _changed: Changed,
        _counts: &[(&'static str, u64)],
    ) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// The pass has failed or panicked, or an instrument has just found fault with it. The program may be in any state.
    fn after_pass_failed(&mut self, _step: &Step<'_>) {}

    /// The same instrument for one of several functions, with nothing recorded.
    fn fork(&self) -> Box<dyn Instrument>;

    /// Adds what a fork of this instrument has recorded.
    fn join(&mut self, fork: Box<dyn Instrument>);
}

/// What an instrument is told: which pass or pipeline, and on what.
pub struct Step<'a> {
    pub(crate) what: What<'a>,
    /// Where it stands in the pipeline: its index in the outermost list, in the list at that index, and so on. Empty
    /// for the outermost pipeline.
    pub indices: &'a [usize],
    /// Which function, and so on inwards, it is on: `0_step`. Each is preceded by its pipeline: `1_func`.
    pub trail: &'a [String],
    /// The program. Where functions are worked on in parallel it holds the function alone.
    pub module: &'a Module,
    /// The op that a pass works on, or that holds the ops of a pipeline.
    pub op: OpId,
    /// How many ops a pipeline works on, each in a module of its own if there are several.
    pub op_count: usize,
    /// Whether `module` is only a part of the program, in which symbols of other parts are missing.
    pub detached: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum What<'a> {
    Pass(&'a dyn ErasedPass),
    Pipeline(&'a Pipeline),
}

impl Step<'_> {
    /// The name of the pass, or the anchor of the pipeline.
    pub fn name(&self) -> &'static str {
        match self.what {
            What::Pass(pass) => pass.name(),
            What::Pipeline(pipeline) => pipeline.anchor,
        }
    }

    /// The pass with its options, or the whole pipeline, as it is written.
    pub fn text(&self) -> String {
        match self.what {
            What::Pass(pass) => pass.text(),
            What::Pipeline(pipeline) => pipeline.to_string(),
        }
    }

    /// The op, as a message names it: `func @step`.
    pub fn op_text(&self) -> String {
        describe(self.module, self.op)
    }
}

/// An op, as a message names it: `func @step`.
pub(crate) fn describe(module: &Module, op: OpId) -> String {
    let name = module.def(op).written_name();
    match module.attr(op, SYMBOL_NAME) {
        Some(symbol) if matches!(module.attr_data(symbol), AttrData::Symbol(_)) => {
            format!("{name} {}", module.display_attr(symbol))
        }
        _ => name.to_owned(),
    }
}

/// The recorded instrument in a fork.
fn recorded<I: Instrument>(fork: Box<dyn Instrument>) -> Option<Box<I>> {
    let fork: Box<dyn Any> = fork;
    fork.downcast().ok()
}

//! Passes, pipelines and the pass manager of the Tofu compiler.
//!
//! A [`Pass`] rewrites the ops of one kind, its [`Anchor`]; its fields are its options. A [`PassManager`] is a pipeline
//! of passes, composed in Rust or read from text, and runs it. Passes never print, exit or open files: the
//! [`PassContext`] lends them all they need, and they return diagnostics.
//!
//! | file | holds |
//! |---|---|
//! | `pass`, `options` | what a pass is, and its options as text |
//! | `registry` | the list of passes and pipelines that a tool knows |
//! | `manager`, `pipeline` | pipelines as data, and from text |
//! | `context`, `analysis` | what a pass is lent, and the facts it may ask for |
//! | `run`, `panics` | running, on one thread or on many |
//! | `instrument` | what watches passes run: times, statistics, printing, verification, reproducers |

mod analysis;
mod context;
mod instrument;
mod manager;
mod options;
mod panics;
mod pass;
mod pipeline;
mod registry;
mod run;
#[cfg(test)]
mod testing;

pub use analysis::Analysis;
pub use context::{Artifacts, Cancellation, Findings, PassContext, Printer, Progress, Resources, Session};
pub use instrument::{
    CrashRecorder, Instrument, PrintIr, Reproducer, Statistics, Step, Timing, VerifyEach, When, Which,
};
pub use manager::PassManager;
pub use options::{ByteSize, MachineName, OptionSpec, OptionValue, Options, SetError};
#[doc(hidden)]
pub use options::{assign, one_of, unquote};
pub use panics::install_panic_hook;
pub use pass::{Anchor, Changed, Example, Failed, ModuleAnchor, Pass, PassResult};
pub use registry::{Entry, EntryKind, PassRegistry};
pub use run::Outcome;

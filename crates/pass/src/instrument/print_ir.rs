//! Printing the program around passes.

use std::sync::Arc;

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_ir::{Compared, Digest, digest};
use tofu_syntax::{PrintOptions, print, print_op};

use super::{Instrument, Step, recorded};
use crate::{Artifacts, Changed};

/// Prints what passes work on, before or after them: the function, or the whole program.
pub struct PrintIr {
    when: When,
    to: Target,
    digest: Option<Digest>,
    errors: Vec<Diagnostic>,
}

/// When a [`PrintIr`] prints, and how. By default it does not print.
#[derive(Clone, Debug, Default)]
pub struct When {
    /// Before which passes.
    pub before: Which,
    /// After which passes.
    pub after: Which,
    /// After passes that have changed something, down to names and locations.
    pub after_change: bool,
    /// After passes that have failed.
    pub after_failure: bool,
    /// In which form.
    pub options: PrintOptions,
}

/// Some passes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Which {
    /// No pass.
    #[default]
    None,
    /// Every pass.
    All,
    /// The passes of these names.
    Named(Vec<String>),
}

impl Which {
    fn contains(&self, name: &str) -> bool {
        match self {
            Which::None => false,
            Which::All => true,
            Which::Named(names) => names.iter().any(|known| known == name),
        }
    }
}

enum Target {
    Log(Box<dyn FnMut(&str) + Send>),
    /// What a fork has to say, until it is joined.
    Buffer(String),
    Tree(Arc<dyn Artifacts>),
}

impl PrintIr {
    /// Hands the text to `log`, in pieces that belong together.
    pub fn to_log(when: When, log: impl FnMut(&str) + Send + 'static) -> PrintIr {
        PrintIr::new(when, Target::Log(Box::new(log)))
    }

    /// Makes a file of each program, in numbered directories as pipelines nest: `1_func/0_step/2_simplify.tir`.
    pub fn to_tree(when: When, tree: Arc<dyn Artifacts>) -> PrintIr {
        PrintIr::new(when, Target::Tree(tree))
    }

    fn new(when: When, to: Target) -> PrintIr {
        PrintIr { when, to, digest: None, errors: Vec::new() }
    }

    fn print(&mut self, step: &Step<'_>, moment: &str) {
        let text = if step.op == step.module.root() {
            print(step.module, &self.when.options)
        } else {
            print_op(step.module, step.op, &self.when.options)
        };
        let text = text.trim_end();
        let title = format!("// ----- {moment} `{}` on `{}` -----", step.text(), step.op_text());
        match &mut self.to {
            Target::Log(log) => log(&format!("{title}\n{text}\n\n")),
            Target::Buffer(buffer) => buffer.extend([title.as_str(), "\n", text, "\n\n"]),
            Target::Tree(tree) => {
                let index = step.indices.last().copied().unwrap_or(0);
                let suffix = if moment == AFTER { String::new() } else { format!("_{moment}") };
                let directories: String = step.trail.iter().map(|part| format!("{part}/")).collect();
                let name = format!("{directories}{index}_{}{suffix}.tir", step.name());
                if let Err(error) = tree.write(&name, format!("{title}\n{text}\n").as_bytes()) {
                    let message = format!("cannot write `{name}`: {error}");
                    self.errors.push(Diagnostic::error(&codes::CANNOT_WRITE, Span::NONE, message));
                }
            }
        }
    }
}

const BEFORE: &str = "before";
const AFTER: &str = "after";
const FAILED: &str = "failed";

impl Instrument for PrintIr {
    fn before_pass(&mut self, step: &Step<'_>) {
        self.digest = self.when.after_change.then(|| content(step));
        if self.when.before.contains(step.name()) {
            self.print(step, BEFORE);
        }
    }

    fn after_pass(
        &mut self,
        step: &Step<'_>,
        changed: Changed,
        _: &[(&'static str, u64)],
    ) -> Vec<Diagnostic> {
        let before = self.digest.take();
        let has_changed = || changed == Changed::Yes && before.is_some_and(|before| before != content(step));
        if self.when.after.contains(step.name()) || has_changed() {
            self.print(step, AFTER);
        }
        std::mem::take(&mut self.errors)
    }

    fn after_pass_failed(&mut self, step: &Step<'_>) {
        if self.when.after_failure {
            self.print(step, FAILED);
        }
    }

    fn fork(&self) -> Box<dyn Instrument> {
        let to = match &self.to {
            Target::Log(_) | Target::Buffer(_) => Target::Buffer(String::new()),
            Target::Tree(tree) => Target::Tree(Arc::clone(tree)),
        };
        Box::new(PrintIr::new(self.when.clone(), to))
    }

    fn join(&mut self, fork: Box<dyn Instrument>) {
        let Some(fork) = recorded::<PrintIr>(fork) else { return };
        self.errors.extend(fork.errors);
        match (&mut self.to, fork.to) {
            (Target::Log(log), Target::Buffer(text)) if !text.is_empty() => log(&text),
            (Target::Buffer(buffer), Target::Buffer(text)) => buffer.push_str(&text),
            _ => {}
        }
    }
}

fn content(step: &Step<'_>) -> Digest {
    digest(step.module, step.op, Compared { names: true, locations: true })
}

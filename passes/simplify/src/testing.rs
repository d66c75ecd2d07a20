//! What the tests of the files share.

use std::sync::Arc;

use tofu_diagnostics::{Format, Renderer, Severity, SourceMap};
use tofu_ir::{Dialect, Module, OpDef, OpId, Registry, SuccessorCount, Trait, op, verify};
use tofu_syntax::{PrintOptions, parse, print};

/// `test.branch [^a, ^b]`: continues at one of several blocks.
static BRANCH: OpDef = op("test.branch").successors(SuccessorCount::Any).traits(&[Trait::Terminator]);
static DIALECT: Dialect = Dialect {
    name: "test",
    summary: "For tests.",
    ops: &[&BRANCH],
    types: &[],
    attributes: &[],
    constant: None,
};

/// The program in `text`.
pub(crate) fn read(text: &str) -> Module {
    let dialects = [&tofu_dialect_func::DIALECT, &tofu_dialect_tensor::DIALECT, &DIALECT];
    let registry = Registry::new(&dialects).unwrap();
    let mut map = SourceMap::new();
    let file = map.add("test.tir", text).unwrap();
    let parsed = parse(&map, file, Arc::new(registry));
    let renderer = Renderer { format: Format::Short, color: false, width: 80 };
    let errors = parsed.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let errors: String = errors.map(|found| renderer.render(&map, found)).collect();
    assert!(errors.is_empty(), "{errors}");
    parsed.module
}

/// Runs `change` on the program `before`, and compares what comes out with `after`, both without `module { … }`.
#[track_caller]
pub(crate) fn check<T>(before: &str, after: &str, change: impl FnOnce(&mut Module, OpId) -> T) -> T {
    let mut module = read(before);
    let root = module.root();
    let outcome = change(&mut module, root);
    let problems = verify(&module);
    assert!(problems.is_empty(), "{problems:?}");
    let options = PrintOptions::default();
    let after = read(after);
    assert_eq!(print(&module, &options), print(&after, &options));
    outcome
}

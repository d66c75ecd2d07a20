//! Helpers.

use std::sync::Arc;

use tofu_diagnostics::SourceMap;
use tofu_ir::{Module, OpId, Registry, ValueId, verify};
use tofu_memory::{Assumptions, Liveness, Peak, StorageKind, bytes_of};
use tofu_syntax::parse;
use tofu_tdl::Descriptions;

/// A program; it must be right.
pub(crate) fn program(text: &str) -> Module {
    let dialects = [
        &tofu_dialect_func::DIALECT,
        &tofu_dialect_stablehlo::JAX,
        &tofu_dialect_stablehlo::TF,
        &tofu_dialect_tdl::DIALECT,
        &tofu_dialect_tensor::DIALECT,
    ];
    let registry = Arc::new(Registry::new(&dialects).unwrap());
    let mut sources = SourceMap::new();
    let file = sources.add("test.tir", text).unwrap();
    let parsed = parse(&sources, file, registry);
    let mut found = parsed.diagnostics;
    found.extend(verify(&parsed.module));
    assert!(found.is_empty(), "{found:#?}\n{text}");
    parsed.module
}

/// The first function.
pub(crate) fn function(module: &Module) -> OpId {
    module.first_op(module.body()).unwrap()
}

pub(crate) fn liveness(module: &Module) -> Liveness {
    Liveness::of(module, function(module), &Descriptions::new()).unwrap()
}

/// The storages of a program, one a line: `kind from..to values`, a `*` where a result is in it at the end.
pub(crate) fn storages(module: &Module, liveness: &Liveness) -> String {
    let mut text = String::new();
    for (_, storage) in liveness.storages() {
        let kind = match storage.kind {
            StorageKind::Parameter => "parameter",
            StorageKind::Constant => "constant",
            StorageKind::Intermediate => "intermediate",
        };
        let mark = if storage.is_result { "*" } else { "" };
        let values: Vec<&str> = storage.values.iter().map(|&value| name(module, value)).collect();
        let line =
            format!("{kind}{mark} {}..{} {}\n", storage.live.start, storage.live.end, values.join(" "));
        text.push_str(&line);
    }
    text
}

/// Checks the storages of a program.
#[track_caller]
pub(crate) fn check(text: &str, expected: &str) {
    check_assuming(text, &Assumptions::default(), expected);
}

/// Checks the storages of a program under assumptions.
#[track_caller]
pub(crate) fn check_assuming(text: &str, assumptions: &Assumptions, expected: &str) {
    let module = program(text);
    let liveness = Liveness::assuming(&module, function(&module), &Descriptions::new(), assumptions).unwrap();
    let lines = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert_eq!(lines(&storages(&module, &liveness)), lines(expected), "{text}");
}

/// The peak of a whole program.
pub(crate) fn peak(module: &Module, liveness: &Liveness) -> Peak {
    liveness.peak(&|value| bytes_of(module, value), &[])
}

pub(crate) fn name(module: &Module, value: ValueId) -> &str {
    module.value_name(value).map_or("?", |name| module.text(name))
}

/// The value of a name.
pub(crate) fn named(module: &Module, wanted: &str) -> ValueId {
    let function = function(module);
    let values = module.walk(function).flat_map(|op| module.results(op).collect::<Vec<_>>());
    values.into_iter().find(|&value| name(module, value) == wanted).unwrap()
}

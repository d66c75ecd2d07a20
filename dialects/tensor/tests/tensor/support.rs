//! Programs as text, and their ops.

use std::sync::Arc;

use tofu_diagnostics::SourceMap;
use tofu_ir::{Module, OpId, Registry};
use tofu_syntax::parse;

/// The program that a text says, or the messages of everything that is wrong with it.
pub(crate) fn read(program: &str) -> Result<Module, Vec<String>> {
    let registry = Registry::new(&[&tofu_dialect_func::DIALECT, &tofu_dialect_tensor::DIALECT]).unwrap();
    let mut map = SourceMap::new();
    let file = map.add("test.tir", program.to_owned()).unwrap();
    let parsed = parse(&map, file, Arc::new(registry));
    if parsed.diagnostics.is_empty() {
        return Ok(parsed.module);
    }
    Err(parsed.diagnostics.into_iter().map(|found| found.message).collect())
}

/// The ops of a definition, in the order of the program.
pub(crate) fn ops_of(module: &Module, name: &str) -> Vec<OpId> {
    module.walk(module.root()).filter(|&op| module.def(op).name == name).collect()
}

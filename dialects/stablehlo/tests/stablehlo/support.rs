//! Reading texts and files, and comparing programs.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_diagnostics::SourceMap;
use tofu_dialect_stablehlo::{ReadOptions, WriteOptions};
use tofu_ir::{Compared, Digest, Module, Registry, digest};
use tofu_syntax::{Parsed, PrintOptions};

pub(crate) fn registry() -> Arc<Registry> {
    let dialects = [
        &tofu_dialect_func::DIALECT,
        &tofu_dialect_stablehlo::DIALECT,
        &tofu_dialect_stablehlo::CHECK,
        &tofu_dialect_stablehlo::JAX,
        &tofu_dialect_stablehlo::MHLO,
        &tofu_dialect_stablehlo::SDY,
        &tofu_dialect_stablehlo::TF,
        &tofu_dialect_tensor::DIALECT,
    ];
    Arc::new(Registry::new(&dialects).unwrap())
}

pub(crate) fn parse(text: &str, options: ReadOptions) -> Parsed {
    let mut sources = SourceMap::new();
    let file = sources.add("test.mlir", text).unwrap();
    tofu_dialect_stablehlo::read(&sources, file, registry(), options)
}

/// Reads a program that must be right.
pub(crate) fn read(text: &str) -> Module {
    let parsed = parse(text, ReadOptions::default());
    let found: Vec<&str> = parsed.diagnostics.iter().map(|found| found.message.as_str()).collect();
    assert!(parsed.is_ok(), "{found:?}");
    parsed.module
}

/// The program as StableHLO, which must have words for all of it.
pub(crate) fn write(module: &Module) -> String {
    tofu_dialect_stablehlo::write(module, WriteOptions { locations: true }).unwrap()
}

/// The program as our own text, and read back from it.
pub(crate) fn through_tir(module: &Module) -> Module {
    let text = tofu_syntax::print(module, &PrintOptions { locations: true, ..PrintOptions::default() });
    let mut sources = SourceMap::new();
    let file = sources.add("test.tir", text.as_str()).unwrap();
    let parsed = tofu_syntax::parse(&sources, file, registry());
    assert!(parsed.is_ok(), "{:?}", parsed.diagnostics);
    parsed.module
}

/// What a program is, names of values and locations included.
pub(crate) fn whole(module: &Module) -> Digest {
    digest(module, module.root(), Compared { names: true, locations: true })
}

/// What a program does.
pub(crate) fn nameless(module: &Module) -> Digest {
    digest(module, module.root(), Compared { names: false, locations: false })
}

pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// The text of a file, which may be compressed.
pub(crate) fn text(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    match path.extension().unwrap().to_str().unwrap() {
        "gz" => flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
        _ => (&bytes[..]).read_to_string(&mut text).unwrap(),
    };
    text
}

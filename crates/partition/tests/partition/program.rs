//! Programs as the tests read them.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use tofu_diagnostics::SourceMap;
use tofu_dialect_stablehlo::{self as stablehlo, ReadOptions};
use tofu_ir::{Module, OpId, Registry};
use tofu_partition::{Facts, Graph};
use tofu_tdl::Descriptions;

/// StableHLO of a file, compressed or not.
pub(crate) fn text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path)?;
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::GzDecoder::new(file).read_to_string(&mut text)?;
    } else {
        std::io::BufReader::new(file).read_to_string(&mut text)?;
    }
    Ok(text)
}

/// The program of StableHLO's text, without calls and without what can be simplified.
pub(crate) fn program(text: &str) -> Module {
    let dialects = [
        &tofu_dialect_func::DIALECT,
        &tofu_dialect_tensor::DIALECT,
        &stablehlo::DIALECT,
        &stablehlo::JAX,
        &stablehlo::MHLO,
        &stablehlo::SDY,
    ];
    let registry = Arc::new(Registry::new(&dialects).unwrap());
    let mut sources = SourceMap::new();
    let file = sources.add("program.mlir", text).unwrap();
    let parsed = stablehlo::read(&sources, file, registry, ReadOptions::default());
    assert!(parsed.is_ok(), "{:?}", parsed.diagnostics);
    let mut module = parsed.module;
    let root = module.root();
    tofu_dialect_func::inline_calls(&mut module, root, u64::MAX).unwrap();
    tofu_pass_simplify::simplify(&mut module, root);
    module
}

/// The first function of a program, and its body.
fn function(module: &Module) -> (OpId, tofu_ir::BlockId) {
    let root = module.root();
    let top = module.blocks(module.region(root, 0))[0];
    let function = module.ops(top).next().unwrap();
    (function, tofu_dialect_func::body(module, function).unwrap())
}

/// The graph of a training step whose first results are its next state, in the order of its first arguments.
pub(crate) fn graph(module: &Module) -> Graph<'_> {
    let (function, body) = function(module);
    let results: Vec<_> = module.operands(module.last_op(body).unwrap()).collect();
    let pairs = module.arguments(body).iter().zip(&results);
    let tied = pairs.take_while(|(argument, result)| module.ty(**argument) == module.ty(**result)).count();
    let ties: Vec<(usize, usize)> = (0..tied).map(|place| (place, place)).collect();
    let facts =
        Facts { trips: &|_| None, ties: &ties, own_results: &[], in_memory: &|_| true, converts: &|_| false };
    Graph::of(module, function, &Descriptions::new(), &facts).unwrap()
}

//! What the tests of the files share.

use std::sync::Arc;

use tofu_diagnostics::{SourceMap, Span};
use tofu_ir::{Module, Registry};
use tofu_machine::Machine;
use tofu_tdl::Descriptions;

use crate::constraints::Constraints;
use crate::graph::{Facts, Graph, Tensor};
use crate::price::Objective;
use crate::search::{Algorithm, Outcome, Request, search};

/// The program in `text`.
pub(crate) fn program(text: &str) -> Module {
    let dialects = [&tofu_dialect_func::DIALECT, &tofu_dialect_tensor::DIALECT];
    let mut sources = SourceMap::new();
    let file = sources.add("test.tir", text).unwrap();
    let parsed = tofu_syntax::parse(&sources, file, Arc::new(Registry::new(&dialects).unwrap()));
    assert!(parsed.is_ok(), "{:?}", parsed.diagnostics);
    parsed.module
}

/// The graph of the only function, of which so many results replace the first arguments.
pub(crate) fn graph(module: &Module, tied: usize) -> Graph<'_> {
    let top = module.blocks(module.region(module.root(), 0))[0];
    let function = module.ops(top).next().unwrap();
    let ties: Vec<(usize, usize)> = (0..tied).map(|place| (place, place)).collect();
    let facts =
        Facts { trips: &|_| None, ties: &ties, own_results: &[], in_memory: &|_| true, converts: &|_| false };
    Graph::of(module, function, &Descriptions::new(), &facts).unwrap()
}

/// Whether a tensor has this name.
pub(crate) fn is_named(graph: &Graph<'_>, tensor: &Tensor, name: &str) -> bool {
    graph.module.value_name(tensor.values[0]).is_some_and(|own| graph.module.text(own) == name)
}

/// What an algorithm finds for so many devices, counting bytes.
pub(crate) fn found(graph: &Graph<'_>, algorithm: Algorithm, devices: u64) -> Outcome {
    let machine = Machine::preset("p2.8xlarge").unwrap().with_devices(devices, Span::NONE).unwrap();
    let request = Request {
        graph,
        machine: &machine,
        mesh: None,
        algorithm,
        objective: Objective::Bytes,
        reduce_scatter: true,
        constraints: &Constraints::default(),
        memory: None,
        work: 100_000_000,
    };
    search(&request, &mut |_| true).unwrap()
}

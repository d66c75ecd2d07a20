//! Every search on small training steps as JAX prints them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use std::path::PathBuf;

use tofu_diagnostics::Span;
use tofu_ir::Module;
use tofu_machine::Machine;
use tofu_partition::{Algorithm, Constraints, Graph, Objective, Outcome, Prices, Request, search};
use tofu_sharding::{Layout, Mesh};

/// What is small enough for all of them.
const MODELS: [&str; 8] = [
    "dlrm_tiny",
    "gpt_tiny",
    "llama_tiny",
    "mlp_tiny",
    "moe_tiny",
    "rnn_tiny",
    "unet3d_tiny",
    "wresnet_tiny",
];

fn model(name: &str) -> Module {
    let file = format!("../../testdata/models/{name}.mlir.gz");
    program::program(&program::text(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap())
}

fn machine(devices: u64) -> Machine {
    Machine::preset("p2.8xlarge").unwrap().with_devices(devices, Span::NONE).unwrap()
}

fn find(
    graph: &Graph<'_>,
    machine: &Machine,
    mesh: Option<Mesh>,
    algorithm: Algorithm,
    objective: Objective,
) -> Outcome {
    let constraints = Constraints::default();
    let work = 300_000_000;
    let request = Request {
        graph,
        machine,
        mesh,
        algorithm,
        objective,
        reduce_scatter: true,
        constraints: &constraints,
        work,
    };
    search(&request, &mut |_| true).unwrap()
}

/// All but the default one.
fn others() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.into_iter().filter(|&algorithm| algorithm != Algorithm::Optimal)
}

#[test]
fn no_search_beats_what_is_optimal() {
    for name in MODELS {
        let module = model(name);
        let graph = program::graph(&module);
        for devices in [2, 3] {
            let machine = machine(devices);
            let mesh = Mesh::new([("x", devices)]).unwrap();
            let best = find(&graph, &machine, Some(mesh.clone()), Algorithm::Optimal, Objective::Time);
            let bound = best.lower_bound.unwrap();
            for algorithm in others() {
                let other = find(&graph, &machine, Some(mesh.clone()), algorithm, Objective::Time);
                let name = format!("{} of {name} on {devices}", algorithm.name());
                assert!(other.evaluation.cost >= bound, "{name}: {} < {bound}", other.evaluation.cost);
                assert!(other.evaluation.cost >= best.evaluation.cost, "{name}: {}", other.evaluation.cost);
            }
        }
    }
}

#[test]
fn plans_hold_together_and_are_the_same_every_time() {
    for name in MODELS {
        let module = model(name);
        let graph = program::graph(&module);
        for devices in [1, 6, 8] {
            let machine = machine(devices);
            for algorithm in others() {
                let first = find(&graph, &machine, None, algorithm, Objective::Bytes);
                let second = find(&graph, &machine, None, algorithm, Objective::Bytes);
                assert_eq!(first.plan, second.plan, "{} of {name} on {devices}", algorithm.name());
                let mesh = first.plan.mesh.clone();
                assert_eq!(mesh.devices(), devices);
                let prices = Prices::new(&machine, mesh, Objective::Bytes, true);
                assert_eq!(first.plan.evaluate(&graph, &prices).unwrap(), first.evaluation);
            }
        }
    }
}

/// More cuts to choose from, and more ways of doing an op, never cost more with everything along one axis.
#[test]
fn what_is_left_out_costs() {
    for name in MODELS {
        let module = model(name);
        let graph = program::graph(&module);
        let cost = |algorithm| find(&graph, &machine(2), None, algorithm, Objective::Bytes).evaluation.cost;
        let tofu = cost(Algorithm::Tofu);
        assert_eq!(tofu, cost(Algorithm::EqualChop), "{name}");
        assert!(tofu <= cost(Algorithm::Icml18), "{name}");
        assert!(tofu <= cost(Algorithm::AllRowGreedy), "{name}");
    }
}

/// Tofu splits whatever can be split along every axis: a device holds no more than its share of arguments.
#[test]
fn nothing_that_can_be_split_is_kept_whole() {
    for name in MODELS {
        let module = model(name);
        let graph = program::graph(&module);
        let plan = find(&graph, &machine(8), None, Algorithm::Tofu, Objective::Bytes).plan;
        for &tensor in graph.arguments.iter().flatten() {
            let extents = &graph.tensors[tensor as usize].shape;
            let first = plan.stored[tensor as usize].first;
            for axis in 0..3 {
                if first.on(axis) == Layout::Replicated {
                    let more = (0..extents.len()).map(|dim| first.with(axis, Layout::Split(dim)));
                    let now = first.local_elements(&plan.mesh, extents);
                    assert!(
                        more.into_iter().all(|more| more.local_elements(&plan.mesh, extents) >= now),
                        "{name}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_batch_is_found() {
    // The batch is the first dimension of images and of tokens, and the second one of a sequence's steps.
    for (name, dims) in [("wresnet_tiny", [0, 0]), ("gpt_tiny", [0, 0]), ("rnn_tiny", [1, 1])] {
        let module = model(name);
        let graph = program::graph(&module);
        let plan = find(&graph, &machine(2), None, Algorithm::DataParallel, Objective::Time).plan;
        let replaced: Vec<u32> = graph.links.iter().map(|link| link.to).collect();
        let (state, data): (Vec<u32>, Vec<u32>) =
            graph.arguments.iter().flatten().partition(|tensor| replaced.contains(tensor));
        assert!(state.iter().all(|&tensor| plan.stored[tensor as usize].first.is_replicated()), "{name}");
        let found = data.iter().map(|&tensor| plan.stored[tensor as usize].first.on(0));
        assert!(found.eq(dims.map(Layout::Split)), "{name}");
    }
}

//! Every search on small training steps as JAX prints them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

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
        memory: None,
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
        // Three devices, which divide little, where searching takes no time.
        let devices = if ["mlp_tiny", "dlrm_tiny"].contains(&name) { 3 } else { 2 };
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

#[test]
fn plans_hold_together_and_are_the_same_every_time() {
    for name in MODELS {
        let module = model(name);
        let graph = program::graph(&module);
        let few = ["mlp_tiny", "rnn_tiny"].contains(&name);
        for &devices in if few { &[1, 6, 8][..] } else { &[6][..] } {
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

/// Three times the weights, in GiB: weights, gradients and history, of which arguments are the first and the last. The paper's
/// first layers of RNNs read inputs that are not as wide as what is hidden, so they lack half of a layer's weights.
#[test]
fn weights_are_those_of_the_paper() {
    let half_a_layer = |hidden: f64| 3.0 * hidden * 4.0 * hidden * 4.0 / f64::from(1 << 30);
    for (name, paper, less) in [
        ("wresnet50_4", 4.2, 0.0),
        ("wresnet152_4", 10.5, 0.0),
        ("wresnet152_10", 65.1, 0.0),
        ("rnn6_4k", 8.4, half_a_layer(4096.0)),
        ("rnn10_8k", 57.0, half_a_layer(8192.0)),
    ] {
        let module = model(name);
        let graph = program::graph(&module);
        let bytes = |tensor: u32| {
            let tensor = &graph.tensors[tensor as usize];
            tensor.shape.iter().product::<u64>() * u64::from(tensor.element.bits()) / 8
        };
        let state: u64 = graph.links.iter().map(|link| bytes(link.to)).sum();
        let ours = state as f64 * 1.5 / f64::from(1 << 30) - less;
        assert!((ours / paper - 1.0).abs() < 0.025, "{name}: {ours:.2} and {paper}");
    }
}

/// Figure 11 of the paper: the plan for the largest WResNet splits what early blocks make by the batch and by rows, what late ones
/// make by channels, along all three axes or two of them, and between them by both; blocks that are alike are split alike.
#[test]
fn blocks_are_split_as_in_the_paper() {
    let module = model("wresnet152_10");
    let graph = program::graph(&module);
    let plan = find(&graph, &machine(8), None, Algorithm::Tofu, Objective::Bytes).plan;
    // What the first reader of each weight makes, for weights of 3 × 3 in the order of the program: images, so batch, rows, columns, channels.
    let mut blocks: Vec<(u64, [usize; 4])> = Vec::new();
    let mut weights: Vec<u32> = graph.links.iter().map(|link| link.to).collect();
    weights.retain(|&tensor| graph.tensors[tensor as usize].shape.starts_with(&[3, 3]));
    let reader = |tensor: u32| graph.ops.iter().position(|op| op.operands.contains(&Some(tensor)));
    let mut readers: Vec<usize> = weights.iter().filter_map(|&tensor| reader(tensor)).collect();
    readers.sort_unstable();
    readers.dedup();
    for op in readers {
        let made = graph.ops[op].results[0].unwrap();
        let shape = &graph.tensors[made as usize].shape;
        if shape.len() != 4 || shape[0] != 8 {
            continue;
        }
        let mut split = [0; 4];
        for axis in 0..3 {
            match plan.stored[made as usize].first.on(axis) {
                Layout::Split(dim) => split[dim] += 1,
                other => panic!("{other:?}"),
            }
        }
        blocks.push((shape[3], split));
    }
    assert_eq!(blocks.len(), 50);
    // The stages differ in their channels.
    let stages: Vec<&[(u64, [usize; 4])]> = blocks.chunk_by(|a, b| a.0 == b.0).collect();
    assert_eq!(stages.iter().map(|stage| stage.len()).collect::<Vec<_>>(), [3, 8, 36, 3]);
    // Along how many of the three axes.
    let by_channels: Vec<usize> = blocks.iter().map(|(_, split)| split[3]).collect();
    let (early, rest) = by_channels.split_at(3);
    let (middle, late) = rest.split_at(8);
    assert!(early.iter().all(|&axes| axes == 0), "{early:?}");
    assert!(middle[1..].iter().all(|&axes| axes == 1 || axes == 2), "{middle:?}");
    assert!(
        late.iter().all(|&axes| axes >= 2) && late.iter().filter(|&&axes| axes == 3).count() >= 30,
        "{late:?}"
    );
    // Of a stage, all blocks but the first ones, which change the size of the images.
    for stage in stages {
        assert!(stage[1..].windows(2).all(|pair| pair[0] == pair[1]), "{stage:?}");
    }
}

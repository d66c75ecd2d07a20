//! Searches with every algorithm: `compare_algorithms MACHINE OBJECTIVE FILE [ALGORITHM…]`, where the objective is `time`
//! or `bytes`. Prints lines of words with tabs between:
//!
//! ```text
//! program    ops    tensors    bytes of arguments    bytes of the state among them
//! algorithm  seconds  cost  bound or -  bytes sent  step in seconds  seconds of communication in it  peak in bytes
//! layout     algorithm  shape of a state of four dimensions  its layout  that of what the first reader makes of it
//! ```
//!
//! All but the cost, the bound and the seconds of the search are by the time of a step, so that they can be compared; costs, bytes
//! and peaks are those of a device. The peak counts what is alive in the order of the program and what ops convert, but
//! not what depends on no argument.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool")]

#[path = "../tests/partition/program.rs"]
mod program;

use std::path::Path;
use std::time::Instant;

use tofu_machine::Machine;
use tofu_partition::{
    Algorithm, Constraints, Graph, Objective, OpKind, Plan, Prices, Request, Stored, search,
};
use tofu_sharding::Layouts;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [machine, objective, file, only @ ..] = &arguments[..] else {
        println!("usage: compare_algorithms MACHINE OBJECTIVE FILE [ALGORITHM…]");
        return;
    };
    let machine = Machine::preset(machine).unwrap();
    let objective = if objective == "bytes" { Objective::Bytes } else { Objective::Time };
    let module = program::program(&program::text(Path::new(file)).unwrap());
    let graph = program::graph(&module);
    let whole = |&tensor: &u32| {
        bytes(&graph, &Plan::replicated(&graph, &Default::default()), tensor, Layouts::REPLICATED)
    };
    let arguments: u64 = graph.arguments.iter().flatten().map(whole).sum();
    let state: u64 = graph.links.iter().map(|link| whole(&link.to)).sum();
    println!("program\t{}\t{}\t{arguments}\t{state}", graph.ops.len(), graph.tensors.len());
    let constraints = Constraints::default();
    for algorithm in Algorithm::ALL {
        if !only.is_empty() && !only.iter().any(|name| name == algorithm.name()) {
            continue;
        }
        let request = Request {
            graph: &graph,
            machine: &machine,
            mesh: None,
            algorithm,
            objective,
            reduce_scatter: true,
            constraints: &constraints,
            work: 2_000_000_000,
        };
        let start = Instant::now();
        let outcome = search(&request, &mut |_| true).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let plan = &outcome.plan;
        let timed = Prices::new(&machine, plan.mesh.clone(), Objective::Time, true);
        let step = plan.evaluate(&graph, &timed).unwrap();
        let bound = outcome.lower_bound.map_or("-".to_owned(), |bound| bound.to_string());
        println!(
            "{}\t{seconds:.4}\t{}\t{bound}\t{}\t{:.6}\t{:.6}\t{}",
            algorithm.name(),
            outcome.evaluation.cost,
            step.sent_bytes(&plan.mesh),
            step.cost as f64 / 1e12,
            step.communication_cost() as f64 / 1e12,
            peak(&graph, plan),
        );
        print_layouts(&graph, plan, algorithm.name());
    }
}

/// The bytes that a device holds of a tensor.
fn bytes(graph: &Graph<'_>, plan: &Plan, tensor: u32, layouts: Layouts) -> u64 {
    let tensor = &graph.tensors[tensor as usize];
    (layouts.local_elements(&plan.mesh, &tensor.shape) * u64::from(tensor.element.bits())).div_ceil(8)
}

/// The most that a device holds at a time.
fn peak(graph: &Graph<'_>, plan: &Plan) -> u64 {
    let kept = |tensor: u32| -> u64 {
        let Stored { first, copy } = plan.stored[tensor as usize];
        bytes(graph, plan, tensor, first) + copy.map_or(0, |copy| bytes(graph, plan, tensor, copy))
    };
    let mut last_use = vec![0; graph.tensors.len()];
    let mut counts = vec![false; graph.tensors.len()];
    graph.arguments.iter().flatten().for_each(|&tensor| counts[tensor as usize] = true);
    for (number, op) in graph.ops.iter().enumerate() {
        op.operands.iter().flatten().for_each(|&tensor| last_use[tensor as usize] = number);
        let depends = op.operands.iter().flatten().any(|&tensor| counts[tensor as usize]);
        op.results.iter().flatten().for_each(|&tensor| counts[tensor as usize] = depends);
    }
    graph.results.iter().flatten().for_each(|&tensor| last_use[tensor as usize] = graph.ops.len());
    // What a step replaces is overwritten by what replaces it: results that replace something take no memory of their own.
    graph.links.iter().for_each(|link| counts[link.from as usize] = false);
    let mut held: u64 = graph.arguments.iter().flatten().map(|&tensor| kept(tensor)).sum();
    let arguments: Vec<u32> = graph.arguments.iter().flatten().copied().collect();
    let mut peak = held;
    for (number, op) in graph.ops.iter().enumerate() {
        let way = plan.way(graph, number).unwrap();
        let mut converted = 0;
        for (tensor, wanted) in op.operands.iter().zip(&way.operands) {
            if let (Some(tensor), Some(wanted)) = (*tensor, wanted)
                && counts[tensor as usize]
                && plan.stored[tensor as usize].layouts().all(|layouts| layouts != wanted.layouts)
            {
                converted += bytes(graph, plan, tensor, wanted.layouts);
            }
        }
        for (place, result) in op.results.iter().enumerate() {
            let Some(tensor) = *result else { continue };
            if !counts[tensor as usize] || op.kind == OpKind::Constant {
                continue;
            }
            held += kept(tensor);
            let given = way.results.get(place).copied().unwrap_or_default();
            if given != plan.stored[tensor as usize].first {
                converted += bytes(graph, plan, tensor, given);
            }
        }
        peak = peak.max(held + converted);
        let mut dead: Vec<u32> = op.operands.iter().chain(&op.results).flatten().copied().collect();
        dead.sort_unstable();
        dead.dedup();
        for tensor in dead {
            if counts[tensor as usize] && last_use[tensor as usize] <= number && !arguments.contains(&tensor)
            {
                held -= kept(tensor);
            }
        }
    }
    peak
}

/// How what convolutions learn is kept, and what they make.
fn print_layouts(graph: &Graph<'_>, plan: &Plan, algorithm: &str) {
    let text = |tensor: u32| {
        let of = &graph.tensors[tensor as usize];
        plan.stored[tensor as usize].first.sharding(&plan.mesh, &of.shape).display(&plan.mesh).to_string()
    };
    for link in &graph.links {
        let shape = &graph.tensors[link.to as usize].shape;
        let reader = graph.ops.iter().find(|op| op.operands.contains(&Some(link.to)));
        if let Some(Some(made)) = reader.map(|op| op.results[0])
            && shape.len() == 4
            && graph.tensors[made as usize].shape.len() == 4
            && graph.tensors[made as usize].shape != *shape
        {
            println!("layout\t{algorithm}\t{shape:?}\t{}\t{}", text(link.to), text(made));
        }
    }
}

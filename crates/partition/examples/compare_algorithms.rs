//! Searches with every algorithm, one line each: `compare_algorithms MACHINE OBJECTIVE FILE [ALGORITHM…]`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool")]

#[path = "../tests/partition/program.rs"]
mod program;

use std::path::Path;
use std::time::Instant;

use tofu_machine::Machine;
use tofu_partition::{Algorithm, Constraints, Objective, Prices, Request, search};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [machine, objective, file, only @ ..] = &arguments[..] else { return };
    let machine = Machine::preset(machine).unwrap();
    let objective = if objective == "bytes" { Objective::Bytes } else { Objective::Time };
    let start = Instant::now();
    let module = program::program(&program::text(Path::new(file)).unwrap());
    println!("read {:.3}", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let graph = program::graph(&module);
    println!("graph {:.3} ops {} tensors {}", start.elapsed().as_secs_f64(), graph.ops.len(), graph.tensors.len());
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
        let time = plan.evaluate(&graph, &timed).unwrap();
        let sent = time.sent_bytes(&plan.mesh) as f64 / f64::from(1 << 20);
        println!(
            "{:14} search {seconds:8.3} cost {:>18} bound {:?} sent {sent:10.1} MiB step {:.4} s of which communication {:.1} %",
            algorithm.name(),
            outcome.evaluation.cost,
            outcome.lower_bound,
            time.cost as f64 / 1e12,
            time.communication_cost() as f64 / time.cost as f64 * 100.0,
        );
    }
}

//! How long the solver takes on a large program without a limit on memory: layers that repeat, each node joined to two of
//! the seven before it, 6 to 30 labels.
//!
//! `cargo run --release --package tofu-solver --example layers -- [NODES [LAYER]]`

#![expect(clippy::print_stdout, reason = "it is a program")]

use std::time::Instant;

use tofu_solver::{Invalid, Options, Problem, SharedMatrix, Solution, solve};

fn main() -> Result<(), Invalid> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let nodes = numbers.first().copied().unwrap_or(30_000);
    let layer = numbers.get(1).copied().unwrap_or(100);
    let start = Instant::now();
    let problem = layers(nodes, layer)?;
    println!("{} nodes, {} edges: built in {:.3} s", nodes, problem.edges(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let solution = solve(&problem, &Options::default(), &mut |_| true);
    if let Solution::Found { cost, bound, nodes, .. } = solution {
        let seconds = start.elapsed().as_secs_f64();
        println!("cost {cost}, bound {bound}, {nodes} nodes left: solved in {seconds:.3} s");
    }
    Ok(())
}

/// A node of a layer: its labels, and which of the nodes before it are joined to it, by which matrix.
struct Pattern {
    costs: Vec<i64>,
    joined: Vec<usize>,
}

/// A problem of so many nodes, in layers of one pattern.
fn layers(nodes: usize, layer: usize) -> Result<Problem, Invalid> {
    let mut random = fastrand::Rng::with_seed(1);
    let pattern: Vec<Pattern> = (0..layer)
        .map(|_| {
            // Most have few labels, as ops do whose operands can be split in few ways.
            let labels = 6 + (25.0 * random.f64().powi(3)) as usize;
            let costs = (0..labels).map(|_| random.i64(0..1000)).collect();
            let first = random.usize(1..=7);
            let second = 1 + (first + random.usize(0..6)) % 7;
            Pattern { costs, joined: vec![first, second] }
        })
        .collect();
    let mut problem = Problem::new("layers", 0);
    let mut matrices: Vec<((usize, usize, usize), SharedMatrix)> = Vec::new();
    for node in 0..nodes {
        let Pattern { costs, joined } = &pattern[node % layer];
        problem.add_node([0, 0], costs, &vec![0; costs.len()])?;
        for &back in joined.iter().filter(|&&back| back <= node) {
            let (rows, columns) = (problem.strategies(node - back), costs.len());
            let kind = (node % layer + back) % 3;
            let key = (rows, columns, kind);
            let known = matrices.iter().find(|(known, _)| *known == key).map(|(_, matrix)| *matrix);
            let matrix = known.unwrap_or_else(|| {
                let matrix = problem.share_matrix(&conversion(rows, columns, kind));
                matrices.push((key, matrix));
                matrix
            });
            problem.add_edge_with(node - back, node, matrix)?;
        }
    }
    Ok(problem)
}

/// What it costs to have one layout as another: nothing if they are the same, never from some to some.
fn conversion(rows: usize, columns: usize, kind: usize) -> Vec<i64> {
    let cost = |row: usize, column: usize| match (row + kind * column) % 11 {
        _ if row == column => 0,
        0 => 1_000_000_000_000_000_000,
        step => 100 * step as i64 + (row * 7 + column * 3) as i64 % 50,
    };
    (0..rows).flat_map(|row| (0..columns).map(move |column| cost(row, column))).collect()
}

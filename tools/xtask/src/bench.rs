//! `cargo xtask bench`: measurements against peers, as whole processes in the same run.

mod import;
mod jax;
mod measure;
mod parse;
mod partition;
mod program;
mod solver;

use clap::Subcommand;

use crate::shell::Done;

#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Read StableHLO programs, beside JAX's parser
    Import(import::Options),
    /// Compile plans for several devices by XLA, and compare what is sent
    Jax(jax::Options),
    /// Parse, verify and print a generated program, beside `mlir-opt`
    Parse(parse::Options),
    /// Partition training steps with every search, beside the paper
    Partition(partition::Options),
    /// Solve the contest's strategy-selection instances, and check what comes out
    Solver(solver::Options),
}

pub(crate) fn run(what: &Bench) -> Done {
    match what {
        Bench::Import(options) => import::run(options),
        Bench::Jax(options) => jax::run(options),
        Bench::Parse(options) => parse::run(options),
        Bench::Partition(options) => partition::run(options),
        Bench::Solver(options) => solver::run(options),
    }
}

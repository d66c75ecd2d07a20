//! `cargo xtask`: everything about the workspace that is not a build.
//!
//! - `cargo xtask test` sets up what the checks need and runs them all: formatting, lints, documentation, tests.
//! - `cargo xtask bench parse` measures against `mlir-opt`, `cargo xtask bench import` against JAX's parser.
//! - `cargo xtask docs` writes the generated references under `docs/`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a tool that talks to a terminal")]

mod bench;
mod docs;
mod engine;
#[cfg(test)]
mod layers;
mod setup;
mod shell;
mod stablehlo;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use shell::Failure;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tests, benchmarks and documents the workspace.")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check formatting and lints, build the documentation and run all tests
    Test,
    /// Measure
    Bench {
        #[command(subcommand)]
        what: bench::Bench,
    },
    /// Write the generated references under `docs/`
    Docs,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Test => test::run_all(),
        Task::Bench { what } => bench::run(&what),
        Task::Docs => docs::write(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(message)) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

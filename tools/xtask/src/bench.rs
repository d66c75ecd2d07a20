//! `cargo xtask bench`: measurements against peers, as whole processes in the same run.

mod measure;
mod parse;
mod program;

use clap::Subcommand;

use crate::shell::Done;

#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Parse, verify and print a generated program, beside `mlir-opt`
    Parse(parse::Options),
}

pub(crate) fn run(what: &Bench) -> Done {
    match what {
        Bench::Parse(options) => parse::run(options),
    }
}

//! `tofu-run`: runs a program on NumPy arrays.

mod arrays;
mod cli;
mod compare;
mod npy;
mod npz;
mod random;
mod run;
mod show;

use std::process::ExitCode;

use tofu_opt::Streams;

fn main() -> ExitCode {
    ExitCode::from(run::main(std::env::args_os(), Streams::of_process()))
}

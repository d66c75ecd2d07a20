//! `tofu-run`: runs a program on NumPy arrays.

use std::process::ExitCode;

use tofu_opt::Streams;

fn main() -> ExitCode {
    ExitCode::from(tofu_run::main(std::env::args_os(), Streams::of_process()))
}

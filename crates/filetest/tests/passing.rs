//! A harness as a tool would have it, over files that all pass.

use std::process::ExitCode;

use tofu_filetest::{Config, run};

fn main() -> ExitCode {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/passing");
    run(&Config::new(root).extension("txt").tool("sh", "/bin/sh").feature("here"))
}

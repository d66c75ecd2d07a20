//! `cargo xtask bench jax`: plans of every program of a directory, written for each device, and what XLA makes of them.
//!
//! Programs are compiled for CPU devices, not run: what a device sends in a step and what it holds are read from what XLA has compiled, and
//! stand beside what the plan says.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::Value;

use crate::setup::python_with_jax;
use crate::shell::{Done, Failure, built, cargo, root, run as run_command};
use crate::stablehlo::{programs, unpacked};

#[derive(Args)]
pub(crate) struct Options {
    /// Where the programs are, as `.mlir` or `.mlir.gz`
    #[arg(default_value = "testdata/models")]
    directory: PathBuf,
    /// The machine
    #[arg(long, default_value = "testdata/machines/study.toml")]
    machine: String,
    /// What else is asked of the plans, as options of `--partition`
    #[arg(long, default_value = "mesh=x:8")]
    options: String,
    /// Only the programs of these names
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The algorithms
    #[arg(long, value_delimiter = ',', default_value = "optimal,data-parallel,fsdp,megatron")]
    algorithms: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Done {
    let python = python_with_jax()?;
    run_command(cargo().args(["build", "--release", "--package", "tofu-opt"]))?;
    let directory = tempfile::tempdir()?;
    println!(
        "| program | algorithm | planned, MiB | compiled, MiB | arguments, MiB | temporary, MiB | peak of the plan, MiB |"
    );
    println!("|---|---|---|---|---|---|---|");
    for file in programs(&options.directory)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default();
        if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        let plain = unpacked(&file, directory.path())?;
        for algorithm in &options.algorithms {
            match compiled(options, &python, &plain, algorithm) {
                Ok(row) => println!("| {name} | {algorithm} | {row} |"),
                Err(Failure(reason)) => println!("| {name} | {algorithm} | {reason} | | | | |"),
            }
        }
    }
    Ok(())
}

/// The figures of a plan, and of what XLA makes of it.
fn compiled(options: &Options, python: &Path, file: &Path, algorithm: &str) -> Result<String, Failure> {
    let [program, report, figures] =
        ["out.mlir", "plan.json", "figures.json"].map(|extension| file.with_extension(extension));
    let Options { machine, options, .. } = options;
    let mut plan = Command::new(built("release", "tofu-opt")?);
    plan.current_dir(root()).arg(file).args(["--insert-communication", "--emit=stablehlo", "--quiet"]);
    plan.arg(format!("--machine={machine}")).arg(format!("--partition={options} algorithm={algorithm}"));
    plan.arg("-o").arg(&program).arg(format!("--report={}", report.display()));
    if !plan.stderr(Stdio::null()).status()?.success() {
        return Err(Failure("no plan".to_owned()));
    }
    let mut compile = Command::new(python);
    compile.arg(root().join("tools/jax/run.py")).arg(&program).arg("--compile-only");
    compile.arg(format!("--report={}", report.display())).arg(format!("--json={}", figures.display()));
    if !compile.stdout(Stdio::null()).status()?.success() {
        return Err(Failure("not compiled".to_owned()));
    }
    let text = std::fs::read_to_string(&figures)?;
    let figures: Value = serde_json::from_str(&text).map_err(|error| Failure(error.to_string()))?;
    let mib = |place: &str| {
        let bytes = figures.pointer(place).and_then(Value::as_f64);
        bytes.map_or("-".to_owned(), |bytes| format!("{:.1}", bytes / f64::from(1 << 20)))
    };
    let places = ["/plan/sent_bytes", "/sent_bytes", "/argument_bytes", "/temp_bytes", "/plan/peak_bytes"];
    Ok(places.map(mib).join(" | "))
}

//! `cargo xtask bench parse`: reading, verifying and printing, beside `mlir-opt` on the same program.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::measure::{Cost, measure, median};
use super::program::{Language, program};
use crate::{
    setup,
    shell::{Done, Failure, built, cargo, run as run_command},
};

#[derive(Args)]
pub(crate) struct Options {
    /// How many ops the program has
    #[arg(long, default_value_t = 25_000)]
    ops: usize,
    /// How many times each tool runs
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// Up to how many ops the growth is measured
    #[arg(long, default_value_t = 1_000_000)]
    largest: usize,
}

const PEER: &str = "mlir-opt-22";

pub(crate) fn run(options: &Options) -> Done {
    setup::debian_program(PEER, "mlir-22-tools")?;
    run_command(cargo().args(["build", "--release", "--package", "tofu-opt"]))?;
    let directory = tempfile::tempdir()?;
    compare(options, directory.path())?;
    growth(options, directory.path())
}

fn compare(options: &Options, directory: &Path) -> Done {
    let tir = write(directory, options.ops, Language::Tir)?;
    let mlir = write(directory, options.ops, Language::Mlir)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // One round warms the caches; then the two take turns, so that a change of the machine's speed meets both.
    for round in 0..=options.runs {
        let pair = (measure(&mut tofu_opt(&tir)?)?, measure(&mut mlir_opt(&mlir))?);
        if round > 0 {
            ours.push(pair.0);
            theirs.push(pair.1);
        }
    }
    let size = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.len() as f64 / 1e6);
    println!(
        "{} ops; {:.1} MB of .tir, {:.1} MB of MLIR; {} runs",
        options.ops,
        size(&tir)?,
        size(&mlir)?,
        options.runs
    );
    println!("{:12} {:>10} {:>10} {:>10}", "median", "wall s", "cpu s", "peak MiB");
    row("tofu-opt", &ours);
    row(PEER, &theirs);
    let ratio =
        |figure: fn(&Cost) -> f64| median(ours.iter().zip(&theirs).map(|(a, b)| figure(a) / figure(b)));
    println!(
        "{:12} {:>10.3} {:>10.3} {:>10.3}",
        "ratio",
        ratio(|cost| cost.wall),
        ratio(|cost| cost.cpu),
        ratio(|cost| cost.peak)
    );
    Ok(())
}

fn row(name: &str, costs: &[Cost]) {
    let of = |figure: fn(&Cost) -> f64| median(costs.iter().map(figure));
    let mebibytes = of(|cost| cost.peak) / f64::from(1 << 20);
    println!("{name:12} {:>10.3} {:>10.3} {mebibytes:>10.1}", of(|cost| cost.wall), of(|cost| cost.cpu));
}

fn growth(options: &Options, directory: &Path) -> Done {
    println!("\n{:>10} {:>10} {:>12} {:>12}", "ops", "wall s", "µs per op", "bytes per op");
    let mut ops = options.ops;
    while ops <= options.largest {
        let path = write(directory, ops, Language::Tir)?;
        let mut costs = Vec::new();
        for _ in 0..3 {
            costs.push(measure(&mut tofu_opt(&path)?)?);
        }
        let wall = median(costs.iter().map(|cost| cost.wall));
        let peak = median(costs.iter().map(|cost| cost.peak));
        println!("{ops:>10} {wall:>10.3} {:>12.2} {:>12.0}", wall * 1e6 / ops as f64, peak / ops as f64);
        std::fs::remove_file(path)?;
        ops = if ops < options.largest { (ops * 4).min(options.largest) } else { ops + 1 };
    }
    Ok(())
}

fn write(directory: &Path, ops: usize, language: Language) -> Result<PathBuf, Failure> {
    let extension = if language == Language::Tir { "tir" } else { "mlir" };
    let path = directory.join(format!("{ops}.{extension}"));
    std::fs::write(&path, program(ops, language))?;
    Ok(path)
}

fn tofu_opt(input: &Path) -> Result<Command, Failure> {
    let mut command = Command::new(built("release", "tofu-opt")?);
    command.arg(input).args(["-o", "/dev/null"]);
    Ok(command)
}

fn mlir_opt(input: &Path) -> Command {
    let mut command = Command::new(PEER);
    command.arg(input).args(["--allow-unregistered-dialect", "--mlir-print-op-generic", "-o", "/dev/null"]);
    command
}

//! `cargo xtask bench import`: reading StableHLO, beside JAX's own parser on the same texts.
//!
//! `tofu-opt` is measured as a whole process, which starts, reads the file, verifies the program and ends; of JAX only the parsing (and
//! verifying) itself, in a process that has read a text before.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::measure::{Cost, measure, median};
use crate::{
    setup,
    shell::{Done, Failure, built, cargo, root, run as run_command},
    stablehlo::{programs, unpacked},
};

#[derive(Args)]
pub(crate) struct Options {
    /// Where the programs are, as `.mlir` or `.mlir.gz`
    #[arg(default_value = "testdata/models")]
    directory: PathBuf,
    /// How many times each reads each program
    #[arg(long, default_value_t = 9)]
    runs: usize,
}

pub(crate) fn run(options: &Options) -> Done {
    let python = setup::python_with_jax()?;
    run_command(cargo().args(["build", "--release", "--package", "tofu-opt"]))?;
    let tofu_opt = built("release", "tofu-opt")?;
    let directory = tempfile::tempdir()?;
    let mut files = Vec::new();
    for path in programs(&options.directory)? {
        files.push(unpacked(&path, directory.path())?);
    }
    let mut ours: Vec<Vec<Cost>> = vec![Vec::new(); files.len()];
    let mut theirs: Vec<Vec<f64>> = vec![Vec::new(); files.len()];
    // One round warms the caches; then the two take turns, so that a change of the machine's speed meets both.
    for round in 0..=options.runs {
        let script = root().join("tools/xtask/python/time_parse.py");
        let output = Command::new(&python).arg(script).args(&files).output()?;
        if !output.status.success() {
            return Err(Failure(format!("JAX failed: {}", String::from_utf8_lossy(&output.stderr))));
        }
        let seconds = String::from_utf8_lossy(&output.stdout);
        for (index, (file, seconds)) in files.iter().zip(seconds.lines()).enumerate() {
            let cost = measure(Command::new(&tofu_opt).arg(file).arg("--emit=none"))?;
            if round > 0 {
                ours[index].push(cost);
                theirs[index].extend(seconds.parse::<f64>());
            }
        }
    }
    println!("{} runs; medians", options.runs);
    println!(
        "{:22} {:>7} {:>11} {:>11} {:>9} {:>7} {:>9}",
        "program", "MB", "tofu-opt ms", "JAX ms", "MB/s", "ratio", "peak MiB"
    );
    for ((file, ours), theirs) in files.iter().zip(&ours).zip(&theirs) {
        let megabytes = std::fs::metadata(file)?.len() as f64 / 1e6;
        let wall = median(ours.iter().map(|cost| cost.wall));
        let jax = median(theirs.iter().copied());
        let ratio = median(ours.iter().zip(theirs).map(|(ours, theirs)| ours.wall / theirs));
        let peak = median(ours.iter().map(|cost| cost.peak)) / f64::from(1 << 20);
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        println!(
            "{name:22} {megabytes:>7.2} {:>11.1} {:>11.1} {:>9.0} {ratio:>7.2} {peak:>9.1}",
            wall * 1e3,
            jax * 1e3,
            megabytes / wall
        );
    }
    let Some(largest) = files.iter().max_by_key(|file| std::fs::metadata(file).map_or(0, |data| data.len()))
    else {
        return Ok(());
    };
    growth(&tofu_opt, &std::fs::read_to_string(largest)?, directory.path())
}

/// Programs of several times the functions of one.
fn growth(tofu_opt: &Path, program: &str, directory: &Path) -> Done {
    println!("\n{:>7} {:>11} {:>9} {:>13}", "MB", "tofu-opt ms", "ms per MB", "peak KiB / MB");
    let (head, rest) = program.split_once('\n').unwrap_or((program, ""));
    let functions = rest.trim_end().trim_end_matches('}');
    for copies in [1, 2, 4, 8] {
        let copy = |number| functions.replace('@', &format!("@copy{number}_"));
        let text = format!("{head}\n{}}}\n", (0..copies).map(copy).collect::<String>());
        let path = directory.join("growth.mlir");
        std::fs::write(&path, &text)?;
        let mut costs = Vec::new();
        for _ in 0..3 {
            costs.push(measure(Command::new(tofu_opt).arg(&path).arg("--emit=none"))?);
        }
        let megabytes = text.len() as f64 / 1e6;
        let milliseconds = median(costs.iter().map(|cost| cost.wall)) * 1e3;
        let peak = median(costs.iter().map(|cost| cost.peak)) / 1024.0;
        println!(
            "{megabytes:>7.2} {milliseconds:>11.1} {:>9.1} {:>13.0}",
            milliseconds / megabytes,
            peak / megabytes
        );
    }
    Ok(())
}

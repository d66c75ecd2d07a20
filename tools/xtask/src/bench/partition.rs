//! `cargo xtask bench partition`: every search on every program of a directory, and what is known of them from the paper.
//!
//! Each search is a run of a release build of `tofu-opt` as a whole process; its report says what was found. Costs, bytes and
//! peaks are those of a device.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde_json::Value;

use super::measure::measure;
use crate::shell::{Done, Failure, built, cargo, run as run_command};

#[derive(Args)]
pub(crate) struct Options {
    /// Where the programs are, as `.mlir`, `.mlir.gz` or `.tir`
    #[arg(default_value = "testdata/models")]
    directory: PathBuf,
    /// The machine
    #[arg(long, default_value = "p2.8xlarge")]
    machine: String,
    /// How many devices of it; all of them without
    #[arg(long)]
    devices: Option<u64>,
    /// What to minimise: `time` or `bytes`
    #[arg(long, default_value = "time")]
    objective: String,
    /// Only programs whose file name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// The algorithms
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "optimal,tofu,icml18,equalchop,spartan,allrow-greedy,data-parallel,fsdp,megatron"
    )]
    algorithms: Vec<String>,
}

/// What one search found.
struct Found {
    /// From start to end of the process, and of the search in it, in seconds.
    wall: f64,
    search: f64,
    cost: f64,
    bound: Option<f64>,
    sent: f64,
    step: f64,
    communication: f64,
    peak: f64,
    limit: f64,
}

/// Algorithms, each with the share of communication in per cent; none where memory ran out.
type Shares = &'static [(&'static str, Option<f64>)];

/// Of the programs of the paper's Figure 10.
const FIGURE_10: [(&str, Shares); 2] = [
    (
        "rnn4_8k",
        &[
            ("allrow-greedy", Some(24.5)),
            ("spartan", Some(21.1)),
            ("equalchop", Some(13.8)),
            ("icml18", Some(13.2)),
            ("tofu", Some(6.4)),
        ],
    ),
    (
        "wresnet152_10",
        &[
            ("allrow-greedy", None),
            ("spartan", Some(33.8)),
            ("equalchop", Some(35.2)),
            ("icml18", None),
            ("tofu", Some(21.9)),
        ],
    ),
];

const GIB: f64 = (1u64 << 30) as f64;

pub(crate) fn run(options: &Options) -> Done {
    run_command(cargo().args(["build", "--release", "--package", "tofu-opt"]))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&options.directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_program = [".mlir", ".mlir.gz", ".tir"].iter().any(|extension| name.ends_with(extension));
        if is_program && name.contains(&options.only) {
            files.push(path);
        }
    }
    files.sort();
    let directory = tempfile::tempdir()?;
    for file in &files {
        compare(options, file, directory.path())?;
    }
    Ok(())
}

/// A table of what all algorithms find for a program.
fn compare(options: &Options, file: &Path, directory: &Path) -> Done {
    let plain = unpacked(file, directory)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    let paper = FIGURE_10.iter().find(|(program, _)| *program == name).map(|(_, shares)| *shares);
    println!(
        "\n{name:16} {:>8} {:>9} {:>14} {:>8} {:>11} {:>10} {:>7} {:>10}{}",
        "wall s",
        "search s",
        "cost",
        "gap",
        "sent MiB",
        "step s",
        "comm.",
        "peak GiB",
        if paper.is_some() { "   in the paper" } else { "" }
    );
    for algorithm in &options.algorithms {
        let found = search(options, &plain, algorithm, directory)?;
        let gap =
            found.bound.map_or("-".to_owned(), |bound| format!("{:.2}%", (1.0 - bound / found.cost) * 100.0));
        let shown = paper.and_then(|shares| shares.iter().find(|(name, _)| name == algorithm));
        let shown = shown.map_or(String::new(), |(_, share)| {
            share.map_or("   out of memory".to_owned(), |share| format!("   {share}%"))
        });
        println!(
            "{algorithm:16} {:>8.2} {:>9.3} {:>14.6} {gap:>8} {:>11.1} {:>10.4} {:>6.1}% {:>9.2}{}{shown}",
            found.wall,
            found.search,
            found.cost,
            found.sent / f64::from(1 << 20),
            found.step,
            found.communication / found.step * 100.0,
            found.peak / GIB,
            if found.peak > found.limit { "!" } else { " " },
        );
    }
    Ok(())
}

/// The program as text: what is compressed is not part of the measurement.
fn unpacked(file: &Path, directory: &Path) -> Result<PathBuf, Failure> {
    if file.extension().is_none_or(|extension| extension != "gz") {
        return Ok(file.to_owned());
    }
    let plain = directory.join(file.file_stem().unwrap_or_default());
    let mut text = flate2::read::GzDecoder::new(std::fs::File::open(file)?);
    std::io::copy(&mut text, &mut std::fs::File::create(&plain)?)?;
    Ok(plain)
}

fn search(options: &Options, file: &Path, algorithm: &str, directory: &Path) -> Result<Found, Failure> {
    let report = directory.join("report.json");
    let Options { machine, objective, .. } = options;
    let devices = options.devices.map_or(String::new(), |devices| format!(" devices={devices}"));
    let cost = measure(
        Command::new(built("release", "tofu-opt")?)
            .arg(file)
            .arg(format!(
                "--partition=machine={machine}{devices} algorithm={algorithm} objective={objective}"
            ))
            .arg("--emit=none")
            .arg(format!("--report={}", report.display()))
            .stderr(std::process::Stdio::null()),
    )?;
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&report)?)
        .map_err(|error| Failure(format!("the report of {}: {error}", file.display())))?;
    let figure = |place: &str| report.pointer(place).and_then(Value::as_f64);
    let found = || {
        Some(Found {
            wall: cost.wall,
            search: figure("/timing/search_seconds")?,
            cost: figure("/partition/cost")?,
            bound: figure("/partition/lower_bound"),
            sent: figure("/partition/communication_bytes_per_device")?,
            step: figure("/simulation/step_seconds")?,
            communication: figure("/simulation/communication_seconds")?,
            peak: figure("/memory/peak_bytes")?,
            limit: figure("/memory/limit_bytes")?,
        })
    };
    found().ok_or_else(|| Failure(format!("the report of {} lacks figures of the plan", file.display())))
}

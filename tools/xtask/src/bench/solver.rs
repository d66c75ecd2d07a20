//! `cargo xtask bench solver`: the contest's instances, each solved by a process of its own. What it prints is checked
//! here, by evaluating the choice on the problem as it stands in the file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use tofu_solver::{evaluate, read_file};
use wait4::Wait4;

use crate::shell::{Done, Failure, built, cargo, run as run_command};

#[derive(Args)]
pub(crate) struct Options {
    /// Where the instances are, as `.json` or `.json.gz`
    #[arg(default_value = "testdata/solver")]
    directory: PathBuf,
    /// How many seconds each instance gets
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// How many threads the solver uses
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Only instances whose file name contains this
    #[arg(long, default_value = "")]
    only: String,
}

/// What is known of the contest's instances: the cheapest choice published, what the contest's winner finds in 60 s on
/// two cores, and the highest bound published.
const KNOWN: [(&str, i128, Option<i128>, i128); 8] = [
    ("example", 445, None, 445),
    ("asplos-2025-iopddl-A", 6_548_641_531, Some(6_569_457_720), 6_513_812_172),
    ("asplos-2025-iopddl-B", 532_843, Some(532_844), 532_843),
    ("asplos-2025-iopddl-G", 217_039, Some(217_039), 216_931),
    ("asplos-2025-iopddl-K", 2_274_276_676, Some(3_484_275_420), 2_065_623_588),
    ("asplos-2025-iopddl-P", 651_833_115_436, None, 616_246_285_727),
    ("asplos-2025-iopddl-U", 2_569_342_178, None, 2_018_900_000),
    ("asplos-2025-iopddl-V", 1_617_084, Some(1_617_084), 1_617_084),
];

pub(crate) fn run(options: &Options) -> Done {
    run_command(cargo().args(["build", "--release", "--package", "tofu-solve"]))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&options.directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if (name.ends_with(".json") || name.ends_with(".json.gz")) && name.contains(&options.only) {
            files.push(path);
        }
    }
    files.sort();
    println!(
        "{:22} {:>15} {:>15} {:>15} {:>15} {:>15} {:>8} {:>7} {:>7} {:>7} {:>6}",
        "instance",
        "cost",
        "best known",
        "winner",
        "bound",
        "known bound",
        "gap",
        "best at",
        "wall s",
        "cpu s",
        "MiB"
    );
    let directory = tempfile::tempdir()?;
    for file in &files {
        solve(options, file, directory.path())?;
    }
    Ok(())
}

fn solve(options: &Options, file: &Path, directory: &Path) -> Done {
    let (output, report) = (directory.join("stdout"), directory.join("stderr"));
    let started = Instant::now();
    let mut child = Command::new(built("release", "tofu-solve")?)
        .arg(file)
        .args([options.seconds.to_string(), format!("--threads={}", options.threads)])
        .stdin(Stdio::null())
        .stdout(File::create(&output)?)
        .stderr(File::create(&report)?)
        .spawn()?;
    let used = child.wait4()?;
    let wall = started.elapsed().as_secs_f64();
    let (output, report) = (std::fs::read_to_string(output)?, std::fs::read_to_string(report)?);
    let fails = |what: &str| Failure(format!("{}: {what}", file.display()));
    if !used.status.success() {
        return Err(fails(&report));
    }
    let problem = read_file(file).map_err(|error| fails(&error.to_string()))?;
    let list = output.lines().last().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let choices: Result<Vec<u32>, _> = list.split(", ").map(str::parse).collect();
    let choices = choices.map_err(|_| fails("the last line is no list of choices"))?;
    let evaluation = evaluate(&problem, &choices).ok_or_else(|| fails("the list is not a choice"))?;
    if evaluation.peak > i128::from(problem.usage_limit()) {
        return Err(fails("the choice does not keep within the limit"));
    }
    let figure = |name: &str| -> Result<&str, Failure> {
        let value = report.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next());
        value.ok_or_else(|| fails(&format!("the report lacks the {name}")))
    };
    let bound: i128 = figure("proven lower bound")?.parse().map_err(|_| fails("the bound is no number"))?;
    if figure("cost")? != evaluation.cost.to_string() || bound > evaluation.cost {
        return Err(fails("the report does not say what the choice costs"));
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    let known = KNOWN.iter().find(|known| known.0 == name);
    let or_dash = |figure: Option<i128>| figure.map_or("-".to_owned(), |figure| figure.to_string());
    let gap = (evaluation.cost - bound) as f64 / evaluation.cost.max(1) as f64 * 100.0;
    println!(
        "{:22} {:>15} {:>15} {:>15} {bound:>15} {:>15} {gap:>7.3}% {:>7} {wall:>7.2} {:>7.2} {:>6.0}",
        name.trim_start_matches("asplos-2025-"),
        evaluation.cost,
        or_dash(known.map(|known| known.1)),
        or_dash(known.and_then(|known| known.2)),
        or_dash(known.map(|known| known.3)),
        figure("time to best")?,
        (used.rusage.utime + used.rusage.stime).as_secs_f64(),
        used.rusage.maxrss as f64 / f64::from(1 << 20),
    );
    Ok(())
}

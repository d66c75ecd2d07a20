//! `cargo xtask bench partition`: every search on every program of a directory, and what is known of them from the paper.
//!
//! Searches run in a process of a release build, one program after the other; the default one once more as a user has it, as a
//! whole `tofu-opt`.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::measure::measure;
use crate::shell::{Done, Failure, built, cargo, run as run_command, target};

#[derive(Args)]
pub(crate) struct Options {
    /// Where the programs are, as `.mlir` or `.mlir.gz`
    #[arg(default_value = "testdata/models")]
    directory: PathBuf,
    /// The machine
    #[arg(long, default_value = "p2.8xlarge")]
    machine: String,
    /// What is to be little: `time` or `bytes`
    #[arg(long, default_value = "time")]
    objective: String,
    /// Only programs whose file name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Only these algorithms, with commas between; all without
    #[arg(long, value_delimiter = ',')]
    algorithms: Vec<String>,
    /// Print how the weights of convolutions are split, too
    #[arg(long)]
    layouts: bool,
}

/// One algorithm on one program.
struct Row {
    algorithm: String,
    seconds: f64,
    cost: f64,
    bound: Option<f64>,
    sent: f64,
    step: f64,
    communication: f64,
    peak: f64,
}

/// Of the programs of the paper's Figure 10: shares of communication in per cent; none where memory ran out.
const FIGURE_10: [(&str, &[(&str, Option<f64>)]); 2] = [
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

/// The paper's GiB of weights, gradients and history, three times the weights.
const WEIGHTS: [(&str, f64); 21] = [
    ("wresnet50_4", 4.2),
    ("wresnet50_6", 9.6),
    ("wresnet50_8", 17.1),
    ("wresnet50_10", 26.7),
    ("wresnet101_4", 7.8),
    ("wresnet101_6", 17.1),
    ("wresnet101_8", 30.6),
    ("wresnet101_10", 47.7),
    ("wresnet152_4", 10.5),
    ("wresnet152_6", 23.4),
    ("wresnet152_8", 41.7),
    ("wresnet152_10", 65.1),
    ("rnn6_4k", 8.4),
    ("rnn8_4k", 11.4),
    ("rnn10_4k", 14.4),
    ("rnn6_6k", 18.6),
    ("rnn8_6k", 25.5),
    ("rnn10_6k", 32.1),
    ("rnn6_8k", 33.0),
    ("rnn8_8k", 45.3),
    ("rnn10_8k", 57.0),
];

const GIB: f64 = (1u64 << 30) as f64;

pub(crate) fn run(options: &Options) -> Done {
    let example = ["build", "--release", "--package", "tofu-partition", "--example", "compare_algorithms"];
    run_command(cargo().args(example))?;
    run_command(cargo().args(["build", "--release", "--package", "tofu-opt"]))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&options.directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if (name.ends_with(".mlir") || name.ends_with(".mlir.gz")) && name.contains(&options.only) {
            files.push(path);
        }
    }
    files.sort();
    for file in &files {
        compare(options, file)?;
    }
    Ok(())
}

fn compare(options: &Options, file: &Path) -> Done {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    let output = Command::new(target().join("release").join("examples").join("compare_algorithms"))
        .args([&options.machine, &options.objective])
        .arg(file)
        .args(&options.algorithms)
        .output()?;
    let fails = |what: &str| Failure(format!("{}: {what}", file.display()));
    if !output.status.success() {
        return Err(fails(&String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<&str>>());
    let first = lines.next();
    let Some(["program", ops, tensors, _, state]) = first.as_deref() else {
        return Err(fails("the comparison says nothing of the program"));
    };
    println!("\n{name}: {ops} ops, {tensors} tensors");
    if let Some((_, paper)) = WEIGHTS.iter().find(|(program, _)| *program == name) {
        // State is the weights and their history.
        let state: f64 = state.parse().map_err(|_| fails("no bytes of state"))?;
        println!("weights, gradients and history {:.1} GiB; in the paper {paper}", state * 1.5 / GIB);
    }
    if options.algorithms.is_empty() {
        let whole = measure(Command::new(built("release", "tofu-opt")?).arg(file).arg("--partition"))?;
        println!("tofu-opt --partition: {:.2} s, {:.0} MiB", whole.wall, whole.peak / f64::from(1 << 20));
    }
    let mut rows = Vec::new();
    for line in lines {
        match line[..] {
            ["layout", algorithm, shape, weights, made] if options.layouts => {
                println!("  {algorithm:14} {shape:24} {weights:28} {made}");
            }
            ["layout", ..] => {}
            _ => rows.push(Row::of(&line).ok_or_else(|| fails("a line of the comparison has other words"))?),
        }
    }
    print_rows(name, &rows);
    Ok(())
}

impl Row {
    fn of(words: &[&str]) -> Option<Row> {
        let [algorithm, seconds, cost, bound, sent, step, communication, peak] = words else { return None };
        let figure = |word: &str| word.parse::<f64>().ok();
        Some(Row {
            algorithm: (*algorithm).to_owned(),
            seconds: figure(seconds)?,
            cost: figure(cost)?,
            bound: figure(bound),
            sent: figure(sent)?,
            step: figure(step)?,
            communication: figure(communication)?,
            peak: figure(peak)?,
        })
    }
}

fn print_rows(program: &str, rows: &[Row]) {
    let paper = FIGURE_10.iter().find(|(name, _)| *name == program).map(|(_, shares)| *shares);
    println!(
        "{:14} {:>9} {:>20} {:>7} {:>11} {:>9} {:>7} {:>9}{}",
        "algorithm",
        "search s",
        "cost",
        "gap",
        "sent MiB",
        "step s",
        "comm.",
        "peak GiB",
        if paper.is_some() { "   in the paper" } else { "" }
    );
    for row in rows {
        let gap =
            row.bound.map_or("-".to_owned(), |bound| format!("{:.2}%", (1.0 - bound / row.cost) * 100.0));
        let share = paper.and_then(|shares| shares.iter().find(|(name, _)| *name == row.algorithm));
        let share = share.map_or(String::new(), |(_, share)| {
            share.map_or("   out of memory".to_owned(), |share| format!("   {share}%"))
        });
        println!(
            "{:14} {:>9.3} {:>20} {gap:>7} {:>11.1} {:>9.4} {:>6.1}% {:>9.2}{share}",
            row.algorithm,
            row.seconds,
            row.cost,
            row.sent / f64::from(1 << 20),
            row.step,
            row.communication / row.step * 100.0,
            row.peak / GIB,
        );
    }
}

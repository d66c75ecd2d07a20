//! `tofu-solve`: reads a strategy-selection problem, prints the choices on the last line of stdout, and how it went on
//! stderr. With `--allocate` it reads buffers and prints them with their offsets.

mod allocate;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use tofu_solver::{Options, Problem, Progress, Solution, evaluate, read_file, solve, time_within};

/// Chooses one strategy per node at the least total cost such that memory stays within the limit at all times; or gives buffers
/// with fixed lifetimes offsets below a capacity.
#[derive(Parser)]
#[command(
    version,
    about,
    after_help = "Exit codes: 0 a choice, or the offsets, are printed; 1 no choice keeps within the limit and `[]` \
    is printed, or no offsets below the capacity were found; 2 the problem or the command line is wrong."
)]
struct Arguments {
    /// The problem: JSON, plain or compressed with gzip
    #[arg(required_unless_present = "allocate")]
    file: Option<PathBuf>,
    /// How long to take, reading and printing included
    #[arg(required_unless_present = "allocate")]
    seconds: Option<f64>,
    /// Give the buffers of a file, lines `id,lower,upper,size` with that header, offsets below a capacity in bytes
    #[arg(long, num_args = 2, value_names = ["FILE.csv", "CAPACITY"], conflicts_with_all = ["file", "seconds", "threads", "seed", "bound_only"])]
    allocate: Option<Vec<String>>,
    /// Stop after this many units of work (about a nanosecond each) instead: the same result on any machine
    #[arg(long, value_name = "N")]
    work: Option<u64>,
    /// How many threads to use; the result under --work does not depend on it
    #[arg(long, value_name = "N", default_value_t = 2)]
    threads: usize,
    /// Where random decisions start from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Spend everything on the lower bound
    #[arg(long)]
    bound_only: bool,
    /// Print nothing on stderr but errors
    #[arg(long)]
    quiet: bool,
}

fn main() -> ExitCode {
    let start = Instant::now();
    let arguments = Arguments::parse();
    if let Some([file, capacity]) = arguments.allocate.as_deref() {
        return allocate::run(file.as_ref(), capacity, arguments.work, arguments.quiet);
    }
    let (Some(file), Some(seconds)) = (arguments.file, arguments.seconds) else { return ExitCode::from(2) };
    if !(seconds > 0.0 && seconds < 1e9) {
        say(format_args!("error: SECONDS: a positive number is expected"));
        return ExitCode::from(2);
    }
    let problem = match read_file(&file) {
        Ok(problem) => problem,
        Err(error) => {
            say(format_args!("error: {}: {error}", file.display()));
            return ExitCode::from(2);
        }
    };
    let options = Options {
        time: arguments.work.is_none().then(|| time_within(seconds, start.elapsed())),
        work: arguments.work,
        threads: arguments.threads,
        seed: arguments.seed,
        bound_only: arguments.bound_only,
        ..Options::default()
    };
    let mut table =
        Table { quiet: arguments.quiet, read: start.elapsed(), last: None, best_at: Duration::ZERO };
    table.start(&problem);
    let solution = solve(&problem, &options, &mut |progress| {
        table.line(progress);
        true
    });
    match solution {
        Solution::Found { choices, cost, bound, nodes } => {
            table.summary(&problem, &choices, (cost, bound), nodes, start.elapsed());
            let choices: Vec<String> = choices.iter().map(u32::to_string).collect();
            answer(&format!("[{}]\n", choices.join(", ")), ExitCode::SUCCESS)
        }
        Solution::Infeasible { peak, .. } => {
            say(format_args!(
                "error: no choice keeps within the limit of {}: the smallest peak is {peak}",
                problem.usage_limit()
            ));
            answer("[]\n", ExitCode::FAILURE)
        }
    }
}

/// Writes stdout; `code` if that succeeds.
fn answer(text: &str, code: ExitCode) -> ExitCode {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => code,
        // A reader that has gone away wanted no more of it.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => code,
        Err(error) => {
            say(format_args!("error: cannot write standard output: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Writes a line on stderr. There is nowhere to tell that it is gone.
fn say(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Progress and outcome on stderr.
struct Table {
    quiet: bool,
    /// How long reading took.
    read: Duration,
    last: Option<(i128, i128)>,
    best_at: Duration,
}

impl Table {
    fn start(&self, problem: &Problem) {
        if !self.quiet {
            let (name, nodes, edges) = (problem.name().escape_debug(), problem.nodes(), problem.edges());
            say(format_args!(
                "{name}: {nodes} nodes, {edges} edges, read in {:.2} s",
                self.read.as_secs_f64()
            ));
            say(format_args!("{:>9} {:>24} {:>24} {:>9}", "seconds", "cost", "bound", "gap"));
        }
    }

    fn line(&mut self, progress: &Progress) {
        let state = (progress.cost, progress.bound);
        if self.last == Some(state) {
            return;
        }
        let elapsed = self.read + progress.elapsed;
        if self.last.is_none_or(|(cost, _)| cost != progress.cost) {
            self.best_at = elapsed;
        }
        self.last = Some(state);
        if !self.quiet {
            let (cost, bound) = state;
            say(format_args!(
                "{:>9.2} {cost:>24} {bound:>24} {:>9}",
                elapsed.as_secs_f64(),
                gap(cost, bound)
            ));
        }
    }

    fn summary(
        &self,
        problem: &Problem,
        choices: &[u32],
        (cost, bound): (i128, i128),
        nodes: usize,
        elapsed: Duration,
    ) {
        if self.quiet {
            return;
        }
        let peak = evaluate(problem, choices).map_or(0, |evaluation| evaluation.peak);
        let limit = problem.usage_limit();
        say(format_args!("cost                  {cost}{}", if cost == bound { " (optimal)" } else { "" }));
        say(format_args!("proven lower bound    {bound}"));
        say(format_args!("gap                   {}", gap(cost, bound)));
        let percent =
            if limit > 0 { format!(" ({:.2} %)", peak as f64 / limit as f64 * 100.0) } else { String::new() };
        say(format_args!("peak usage            {peak} of {limit}{percent}"));
        say(format_args!("nodes after presolve  {nodes} of {}", problem.nodes()));
        say(format_args!(
            "time to best          {:.2} s of {:.2} s",
            self.best_at.as_secs_f64(),
            elapsed.as_secs_f64()
        ));
    }
}

/// How far the cost is above the bound.
fn gap(cost: i128, bound: i128) -> String {
    match cost - bound {
        0 => "0 %".to_owned(),
        gap if bound > 0 && gap < bound.saturating_mul(10) => {
            format!("{:.3} %", gap as f64 / bound as f64 * 100.0)
        }
        _ => "-".to_owned(),
    }
}

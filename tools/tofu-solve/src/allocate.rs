//! `--allocate`: offsets for buffers.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use tofu_allocator::{Buffer, Options, Problem, allocate, check, read_csv};

use crate::{answer, say};

/// Reads buffers, prints them with offsets, and says how it went.
pub(crate) fn run(file: &Path, capacity: &str, work: Option<u64>, quiet: bool) -> ExitCode {
    let start = Instant::now();
    let Ok(capacity) = capacity.parse::<u64>() else {
        say(format_args!("error: CAPACITY: a number of bytes is expected"));
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            say(format_args!("error: {}: {error}", file.display()));
            return ExitCode::from(2);
        }
    };
    let (names, buffers): (Vec<String>, Vec<Buffer>) = match read_csv(&text) {
        Ok(buffers) => buffers.into_iter().unzip(),
        Err(errors) => {
            errors.iter().for_each(|error| say(format_args!("error: {}:{error}", file.display())));
            return ExitCode::from(2);
        }
    };
    let problem = Problem::new(buffers, Some(capacity));
    let options = work.map_or_else(Options::default, |work| Options { work });
    let allocation = match allocate(&problem, &options, &mut || true) {
        Ok(allocation) => allocation,
        Err(error) => {
            say(format_args!("error: {}: {error}", file.display()));
            return ExitCode::from(2);
        }
    };
    let arena = allocation.arenas[0];
    if let Err(fault) = check(&problem, &allocation.offsets, &[arena.bytes]) {
        say(format_args!("error: internal: {fault}"));
        return ExitCode::from(2);
    }
    if !quiet {
        let over = arena.bytes.saturating_sub(arena.lower_bound);
        let gap = over as f64 / arena.lower_bound.max(1) as f64 * 100.0;
        say(format_args!("buffers      {}", names.len()));
        say(format_args!("arena        {} of {capacity}", arena.bytes));
        say(format_args!("lower bound  {}", arena.lower_bound));
        say(format_args!("gap          {gap:.3} %"));
        say(format_args!("time         {:.2} s", start.elapsed().as_secs_f64()));
    }
    if arena.lower_bound > capacity {
        say(format_args!("error: nothing fits into {capacity}: at least {} is needed", arena.lower_bound));
        return ExitCode::FAILURE;
    }
    if arena.bytes > capacity {
        say(format_args!(
            "error: nothing that fits into {capacity} was found within the work; more of it (--work) may do"
        ));
        return ExitCode::FAILURE;
    }
    let mut rows = String::from("id,lower,upper,size,offset\n");
    for ((name, buffer), offset) in names.iter().zip(&problem.buffers).zip(&allocation.offsets) {
        let (lower, upper, size) = (buffer.live.start, buffer.live.end, buffer.bytes);
        let _ = writeln!(rows, "{name},{lower},{upper},{size},{offset}");
    }
    answer(&rows, ExitCode::SUCCESS)
}

//! How long each pass takes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use tofu_diagnostics::Diagnostic;

use super::{Instrument, Step, recorded};
use crate::Changed;

/// Measures the time of every pass and pipeline.
#[derive(Debug, Default)]
pub struct Timing {
    /// By place in the pipeline, which is the order in which a table shows them.
    rows: BTreeMap<Vec<usize>, Row>,
    running: Vec<(Vec<usize>, Instant)>,
}

#[derive(Debug)]
struct Row {
    name: &'static str,
    is_pass: bool,
    time: Duration,
    runs: usize,
}

impl Timing {
    /// Nothing measured yet.
    pub fn new() -> Timing {
        Timing::default()
    }

    /// A table of the times, in seconds:
    ///
    /// - `wall`: from start to end. Functions run in parallel, so a pass on functions has none of its own.
    /// - `sum`: the time of a pass on all functions, added up; of a pipeline, that of its passes.
    /// - `%`: what part of the sum over all passes that is.
    /// - `runs`: on how many ops a pass ran.
    pub fn table(&self) -> String {
        let total = self.sum(&[]).as_secs_f64();
        let mut table = String::from("   wall s     sum s       %    runs  pass\n");
        for (indices, row) in &self.rows {
            let wall = if row.is_pass && indices.len() > 1 {
                String::new()
            } else {
                format!("{:.4}", row.time.as_secs_f64())
            };
            let sum = self.sum(indices).as_secs_f64();
            let percent = if total > 0.0 { 100.0 * sum / total } else { 0.0 };
            let runs = if row.is_pass { row.runs.to_string() } else { String::new() };
            let indent = 2 * indices.len();
            // Writing to a string cannot fail.
            let _ =
                writeln!(table, "{wall:>9} {sum:>9.4} {percent:>7.1} {runs:>7}  {:indent$}{}", "", row.name);
        }
        table
    }

    /// The time of all passes at or under a place.
    fn sum(&self, place: &[usize]) -> Duration {
        let under = self.rows.range(place.to_vec()..).take_while(|(indices, _)| indices.starts_with(place));
        under.filter(|(_, row)| row.is_pass).map(|(_, row)| row.time).sum()
    }

    fn start(&mut self, step: &Step<'_>) {
        self.running.push((step.indices.to_vec(), Instant::now()));
    }

    /// A step may end twice: when it is done, and when another instrument then finds fault with it.
    fn stop(&mut self, step: &Step<'_>, is_pass: bool) {
        if let Some((indices, start)) = self.running.pop_if(|(indices, _)| indices == step.indices) {
            self.add(indices, Row { name: step.name(), is_pass, time: start.elapsed(), runs: 1 });
        }
    }

    fn add(&mut self, indices: Vec<usize>, row: Row) {
        let sum = self.rows.entry(indices).or_insert(Row { time: Duration::ZERO, runs: 0, ..row });
        sum.time += row.time;
        sum.runs += row.runs;
    }
}

impl Instrument for Timing {
    fn before_pipeline(&mut self, step: &Step<'_>) {
        self.start(step);
    }

    fn after_pipeline(&mut self, step: &Step<'_>, _changed: Changed) -> Vec<Diagnostic> {
        self.stop(step, false);
        Vec::new()
    }

    fn after_pipeline_failed(&mut self, step: &Step<'_>) {
        self.stop(step, false);
    }

    fn before_pass(&mut self, step: &Step<'_>) {
        self.start(step);
    }

    fn after_pass(&mut self, step: &Step<'_>, _: Changed, _: &[(&'static str, u64)]) -> Vec<Diagnostic> {
        self.stop(step, true);
        Vec::new()
    }

    fn after_pass_failed(&mut self, step: &Step<'_>) {
        self.stop(step, true);
    }

    fn fork(&self) -> Box<dyn Instrument> {
        Box::new(Timing::new())
    }

    fn join(&mut self, fork: Box<dyn Instrument>) {
        for (indices, row) in recorded::<Timing>(fork).map(|fork| fork.rows).unwrap_or_default() {
            self.add(indices, row);
        }
    }
}

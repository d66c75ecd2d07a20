//! Times and memory of whole processes, from the operating system's accounts.

use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4;

use crate::shell::Failure;

/// What one run of a process took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// From start to end, in seconds.
    pub(crate) wall: f64,
    /// On all processors, in seconds.
    pub(crate) cpu: f64,
    /// The largest resident set, in bytes.
    pub(crate) peak: f64,
}

/// Runs a command, which must succeed, and measures it.
pub(crate) fn measure(command: &mut Command) -> Result<Cost, Failure> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let used = child.wait4()?;
    let wall = started.elapsed().as_secs_f64();
    if !used.status.success() {
        return Err(Failure(format!("{command:?} failed: {}", used.status)));
    }
    let cpu = (used.rusage.utime + used.rusage.stime).as_secs_f64();
    Ok(Cost { wall, cpu, peak: used.rusage.maxrss as f64 })
}

/// The middle of a list of figures.
pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    match figures.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => figures[middle],
        _ => (figures[middle - 1] + figures[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}

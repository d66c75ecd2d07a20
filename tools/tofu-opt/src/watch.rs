//! Who watches passes work: a line on the terminal that says how far they are, and whoever presses Ctrl-C.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tofu_pass::{Cancellation, Printer, Progress};

use crate::console::Log;

/// What takes less than this is not worth a line.
const PATIENCE: Duration = Duration::from_millis(500);

/// The exit code of a process that a user has interrupted.
const INTERRUPTED: i32 = 130;

/// The terminal while passes work: listings and summaries, and on a last line how far the work is.
pub(crate) struct Screen {
    log: Log,
    /// Whether summaries are left out.
    is_quiet: bool,
    /// Whether there is a terminal to draw on.
    is_terminal: bool,
    line: Mutex<Line>,
}

#[derive(Default)]
struct Line {
    since: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Screen {
    pub(crate) fn new(log: Log, is_terminal: bool, is_quiet: bool) -> Screen {
        Screen { log, is_quiet, is_terminal, line: Mutex::default() }
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = line.bar.take() {
            bar.finish_and_clear();
        }
        line.since = None;
    }
}

impl Printer for Screen {
    fn print(&self, text: &str) {
        self.clear();
        self.log.write(text);
    }

    fn summarize(&self, text: &str) {
        self.clear();
        if !self.is_quiet {
            self.log.write(text);
        }
    }
}

impl Progress for Screen {
    fn update(&self, pass: &str, _fraction: f64, message: &str) {
        if !self.is_terminal || self.is_quiet {
            return;
        }
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let since = *line.since.get_or_insert_with(Instant::now);
        if since.elapsed() < PATIENCE {
            return;
        }
        let bar = line.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            // The template is one: it is a constant.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(format!("{pass}: {message}"));
        bar.tick();
    }
}

/// From now on, Ctrl-C asks whoever works to end early with what there is; a second one ends the process.
pub(crate) fn listen(cancellation: Cancellation) {
    let mut was_asked = false;
    let handler = move || {
        if was_asked {
            #[expect(clippy::exit, reason = "this is the main's handler, and the user has asked twice")]
            std::process::exit(INTERRUPTED);
        }
        was_asked = true;
        cancellation.cancel();
        // There is nowhere to tell that the terminal is gone.
        let _ = writeln!(std::io::stderr(), "\nstopping with the best so far; Ctrl-C again ends at once");
    };
    // Where signals cannot be handled, the process ends at the first one.
    let _ = ctrlc::set_handler(handler);
}

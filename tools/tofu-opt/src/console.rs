//! What goes to the terminal: diagnostics and everything that is not the program.

use std::io::{self, IsTerminal, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tofu_diagnostics::{ColorChoice, Diagnostic, Format, Renderer, SourceMap, Span, codes};
use tofu_pass::Cancellation;

use crate::{
    emit,
    tool::{DONE, WRONG_USE},
};

/// Where a tool reads from and writes to.
pub struct Streams {
    /// Programs, when the input is `-`.
    pub input: Box<dyn Read>,
    /// Programs, and answers to questions.
    pub output: Box<dyn Write>,
    /// Everything else.
    pub log: Log,
    /// Whether the log is a terminal.
    pub log_is_terminal: bool,
    /// How somebody outside asks for an early end.
    pub cancellation: Cancellation,
}

impl Streams {
    /// Those of the process.
    pub fn of_process() -> Streams {
        Streams {
            input: Box::new(io::stdin()),
            output: Box::new(io::stdout()),
            log: Log::new(io::stderr()),
            log_is_terminal: io::stderr().is_terminal(),
            cancellation: Cancellation::default(),
        }
    }
}

/// A stream that several parts of a tool write whole messages to.
#[derive(Clone)]
pub struct Log(Arc<Mutex<dyn Write + Send>>);

impl Log {
    /// A log that ends in `stream`.
    pub fn new(stream: impl Write + Send + 'static) -> Log {
        Log(Arc::new(Mutex::new(stream)))
    }

    /// Writes a message. There is nowhere to tell that the log itself is gone.
    pub(crate) fn write(&self, text: &str) {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = stream.write_all(text.as_bytes());
        let _ = stream.flush();
    }
}

/// Renders diagnostics into the log.
pub struct Console {
    pub(crate) log: Log,
    /// Whether the log is a terminal.
    pub(crate) is_terminal: bool,
    renderer: Renderer,
}

impl Console {
    /// A console that writes to the log of `streams`, at most as colorful as it is a terminal.
    pub fn new(streams: &Streams, format: Format, color: ColorChoice) -> Console {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = color.resolve(streams.log_is_terminal, no_color);
        let width = if streams.log_is_terminal { terminal_width() } else { 80 };
        Console { log: streams.log.clone(), is_terminal: streams.log_is_terminal, renderer: Renderer { format, color, width } }
    }

    /// Writes the answer to a question; the exit code.
    pub fn answer(&self, text: &str, streams: &mut Streams) -> u8 {
        match emit::write_stream(text, &mut streams.output) {
            Ok(()) => DONE,
            Err(error) => {
                self.report(&SourceMap::new(), &[cannot_write("standard output", &error)]);
                WRONG_USE
            }
        }
    }

    /// Writes diagnostics.
    pub fn report(&self, sources: &SourceMap, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            self.log.write(&self.renderer.render(sources, diagnostic));
        }
    }
}

/// The diagnostic for a failed write to what `name` says.
pub fn cannot_write(name: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::error(&codes::CANNOT_WRITE, Span::NONE, format!("cannot write {name}: {}", plain(error)))
}

/// The system's message about an error, without its number.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// The width that the shell tells, within reason.
fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.unwrap_or(100usize).clamp(40, 200)
}

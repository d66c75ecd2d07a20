//! The optimizer driver as a library: a tool is a [`Tool`] with its own dialects and passes.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     tofu_opt::Tool::standard("my-opt", env!("CARGO_PKG_VERSION")).main()
//! }
//! ```
//!
//! Other tools use its pieces, so that all of them read programs, write diagnostics and end alike: [`read_program`] and its parts,
//! [`Streams`], [`Console`], and the exit codes [`DONE`], [`ERRORS`] and [`WRONG_USE`].
//!
//! | file | holds |
//! |---|---|
//! | `tool` | what a tool is made of, and its entry |
//! | `cli` | the command line |
//! | `input` | reading, splitting and parsing files |
//! | `drive` | from text through passes to text |
//! | `emit` | what is written |
//! | `expect` | `--verify-diagnostics` |
//! | `lists` | `--list-…`, `--explain` |
//! | `reference` | references, in Markdown |
//! | `console` | what goes to the terminal |
//! | `watch` | progress, and Ctrl-C |

mod cli;
mod console;
mod drive;
mod emit;
mod expect;
mod input;
mod lists;
mod reference;
mod tool;
mod watch;

pub use cli::answer_or_refuse;
pub use console::{Console, Log, Streams, cannot_write};
pub use emit::write_file;
pub use input::{Language, SEPARATOR, as_written, parse_program, parts, read_program, read_source};
pub use reference::{example_program, ops_reference, passes_reference};
pub use tofu_pass::Cancellation;
pub use tool::{DONE, ERRORS, Tool, WRONG_USE};

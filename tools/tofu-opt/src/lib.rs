//! The optimizer driver as a library: a tool is a [`Tool`] with its own dialects and passes.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     tofu_opt::Tool::standard("my-opt", env!("CARGO_PKG_VERSION")).main()
//! }
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `tool` | what a tool is made of, and its entry |
//! | `cli` | the command line |
//! | `input` | reading and splitting files |
//! | `drive` | from text through passes to text |
//! | `emit` | what is written |
//! | `expect` | `--verify-diagnostics` |
//! | `lists` | `--list-…`, `--explain` |
//! | `console` | what goes to the terminal |

mod cli;
mod console;
mod drive;
mod emit;
mod expect;
mod input;
mod lists;
mod tool;

pub use console::{Log, Streams};
pub use lists::{ops_reference, passes_reference};
pub use tool::Tool;

//! Diagnostics: what the compiler has to say to the person who wrote the program.
//!
//! A [`Diagnostic`] is a value. Passes, verifiers and parsers return diagnostics; only a tool's main renders them.
//! Places are [`Span`]s: byte ranges in the address space of one [`SourceMap`], so that a span needs eight bytes and
//! no file name.
//!
//! - [`codes`] lists every kind of diagnostic, with what `--explain` prints.
//! - [`suggest`] finds the name that a misspelled one was meant to be.
//! - [`plural`] says how many there are of something.
//! - [`Renderer`] turns a diagnostic into text, for people (feature `human`) or for programs.
//!
//! ```
//! use tofu_diagnostics::{Diagnostic, Format, Renderer, SourceMap, Span, codes, suggest};
//!
//! let mut map = SourceMap::new();
//! let file = map.add("mlp.tir", "%y = tensor.tahn %x").unwrap();
//! let start = map.file(file).span().start;
//! let op = Span::new(start + 5, start + 16);
//!
//! let message = format!("unknown op `{}`", map.text(op));
//! let help = suggest::did_you_mean(map.text(op), ["tensor.add", "tensor.tanh"]);
//! let error = Diagnostic::error(&codes::UNKNOWN_OP, op, message).maybe_help(help);
//!
//! let renderer = Renderer { format: Format::Short, color: false, width: 80 };
//! assert_eq!(
//!     renderer.render(&map, &error),
//!     "mlp.tir:1:6: error[T0201]: unknown op `tensor.tahn` (help: did you mean `tensor.tanh`?)\n",
//! );
//! ```

pub mod codes;
mod diagnostic;
mod render;
mod source;
pub mod suggest;
mod wording;

pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub use render::{ColorChoice, Format, Renderer, UnknownName};
pub use source::{FileId, Position, SourceFile, SourceMap, SourceTooLarge, Span};
pub use wording::plural;

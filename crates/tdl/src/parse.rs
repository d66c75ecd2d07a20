//! The parser: text to a checked [`Description`], with every independent mistake reported.
//!
//! The grammar gives a tree (`tree.rs`); `lower.rs` resolves names and gives literals their types, with calls in
//! `applications.rs`; `binders.rs` finds the ranges of index variables. What remains to be checked (types, ranks, bounds) is checked on the finished description,
//! whether it came from text or from a builder.

mod applications;
mod binders;
mod errors;
mod lower;
mod signature;
mod tree;

use pest::Parser as _;
use tofu_diagnostics::{Diagnostic, Span};

pub(crate) use applications::REDUCERS;
pub(crate) use binders::needs_range;

use crate::description::Description;
use crate::opaque::OpaqueRegistry;

mod grammar {
    use pest_derive::Parser;

    /// The pest parser for `tdl.pest`.
    #[derive(Parser)]
    #[grammar = "tdl.pest"]
    pub(super) struct Grammar;
}
use grammar::{Grammar, Rule};

/// Longer texts are not descriptions.
const MAX_BYTES: usize = 1 << 20;

/// Reads the text of one description, `tdl @name(…) -> … { … }`, which starts at offset `base` of the source map.
///
/// # Errors
///
/// All mistakes in it, in the order in which they were found; at least one diagnostic.
pub fn parse(text: &str, base: u32, registry: &OpaqueRegistry) -> Result<Description, Vec<Diagnostic>> {
    if text.len() > MAX_BYTES {
        let span = Span::new(base, base.saturating_add(text.len() as u32));
        let message = "a description is at most 1 MiB of text";
        return Err(vec![Diagnostic::error(&tofu_diagnostics::codes::FILE_TOO_LARGE, span, message)]);
    }
    let mut pairs =
        Grammar::parse(Rule::file, text).map_err(|error| vec![errors::grammar_error(text, base, &error)])?;
    let Some(description) = pairs.next().and_then(|file| file.into_inner().next()) else {
        let span = Span::new(base, base);
        let message = "expected a description";
        return Err(vec![Diagnostic::error(&tofu_diagnostics::codes::SYNTAX, span, message)]);
    };
    signature::description(description, base, registry)
}

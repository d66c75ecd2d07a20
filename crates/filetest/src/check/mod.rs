//! Checks a text against the CHECK lines of a file, with the semantics of LLVM's FileCheck.
//!
//! | directive | asks for |
//! |---|---|
//! | `CHECK:` | a match after the previous one |
//! | `CHECK-NEXT:`, `CHECK-SAME:` | the same, on the next line, on the same line |
//! | `CHECK-EMPTY:` | that the next line is empty |
//! | `CHECK-NOT:` | no match between the matches around it |
//! | `CHECK-DAG:` | matches in any order that do not overlap; a `CHECK-NOT` ends the group |
//! | `CHECK-COUNT-n:` | `n` matches, one after the other |
//! | `CHECK-LABEL:` | a match that cuts the input: no other check reaches across it |
//!
//! A pattern is literal text with `{{regex}}`, `[[NAME:regex]]`, which names what it matches, and `[[NAME]]`,
//! which is that text again. Regexes are POSIX extended ones. `CHECK{LITERAL}:` takes the whole pattern
//! literally. Runs of spaces and tabs are equal to one space, in patterns and in the input. Beyond LLVM's
//! FileCheck, a near miss of a directive (`CHECK-LABLE:`) is an error.
//!
//! The tests hold a table of check files, inputs and verdicts; the verdicts were taken from LLVM's FileCheck
//! 22.

mod command;
mod matcher;
mod parse;
mod pattern;
mod posix;
mod report;
#[cfg(test)]
mod tests;

pub use command::{Outcome, filecheck};

/// How to read a check file.
#[derive(Clone, Debug)]
pub struct Options {
    /// The words that open a check line, normally just `CHECK`. Each must occur in the check file.
    pub prefixes: Vec<String>,
    /// Accept an empty input.
    pub allow_empty: bool,
    /// Forget variables at each `CHECK-LABEL`, except those whose name begins with `$`.
    pub enable_var_scope: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { prefixes: vec!["CHECK".to_string()], allow_empty: false, enable_var_scope: false }
    }
}

/// Why a check did not succeed; the text is a report to be read by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The input is not what the check file asks for.
    Mismatch(String),
    /// The check file is wrong, or the input empty.
    Usage(String),
}

/// A text and the name under which reports mention it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Normally a path.
    pub name: &'a str,
    /// The content.
    pub text: &'a str,
}

/// Checks `input` against the check lines of `checks`.
///
/// # Errors
/// [`Failure::Mismatch`] reports every check that failed, at most one between two labels.
pub fn check(checks: Source<'_>, input: Source<'_>, options: &Options) -> Result<(), Failure> {
    let groups =
        parse::parse(checks.text, options).map_err(|error| Failure::Usage(report::usage(checks, &error)))?;
    if input.text.is_empty() && !options.allow_empty {
        return Err(Failure::Usage(format!("error: {} is empty\n", input.name)));
    }
    let text = parse::canonicalize(input.text);
    let mismatches = matcher::check(&groups, &text, options.enable_var_scope);
    if mismatches.is_empty() {
        Ok(())
    } else {
        Err(Failure::Mismatch(report::mismatches(checks, input, &text, &mismatches)))
    }
}

//! The one diagnostic type.

use crate::Span;

/// How grave a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The program is wrong; nothing is written.
    Error,
    /// The program may not do what its author thinks.
    Warning,
    /// Something worth knowing.
    Remark,
}

/// A kind of diagnostic, with what `--explain` says about it.
///
/// Codes are statics; two codes are the same when their ids are.
#[derive(Debug)]
pub struct Code {
    /// For example `T0101`.
    pub id: &'static str,
    /// One line, without a full stop.
    pub title: &'static str,
    /// What it means and how to get rid of it, in Markdown, with an example.
    pub explanation: &'static str,
}

/// A place and what there is to say about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there; may be empty.
    pub text: String,
}

/// Something the compiler says about the program.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Its kind.
    pub code: &'static Code,
    /// How grave it is.
    pub severity: Severity,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// The place that is wrong.
    pub primary: Label,
    /// Other places that belong to it.
    pub secondary: Vec<Label>,
    /// Facts that help to understand.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message)
    }

    /// A warning at `span`.
    pub fn warning(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, span, message)
    }

    /// A remark at `span`.
    pub fn remark(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Remark, code, span, message)
    }

    fn new(severity: Severity, code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Says what is at the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn secondary(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Says what to do; the last call wins.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// Says what to do where there is something to say.
    #[must_use]
    pub fn maybe_help(mut self, text: Option<String>) -> Diagnostic {
        self.help = text.or(self.help);
        self
    }
}

//! The parameters of dialect types and attributes, read by their dialect.

use pest::Parser as _;
use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_ir::{Attr, Module, ParameterReader, ParametricDef, Type};

use super::{Grammar, Parser, Rule};

impl<'s> Parser<'s> {
    /// Has `def` read `text`, which stands at `at`, in what is nested `depth` deep.
    pub(super) fn parameters_of(
        &mut self,
        def: &'static ParametricDef,
        text: &'s str,
        at: usize,
        whole: Span,
        depth: usize,
    ) -> Option<Attr> {
        let before = self.found.len();
        let mut reader = Reader { parser: self, text, base: at, at: 0, whole, depth: depth + 1 };
        let params = match (def.parse)(&mut reader) {
            Ok(_) if !reader.at_end() => Err(reader.unexpected("the closing bracket")),
            result => result,
        };
        match params {
            Ok(params) => match (def.verify)(&self.module, params) {
                Ok(()) => Some(params),
                Err(message) => {
                    self.error(&codes::WRONG_ATTRIBUTE, whole, message);
                    None
                }
            },
            Err(diagnostic) => {
                // What the parser itself found inside has been reported.
                if self.found.len() == before {
                    self.report(diagnostic);
                }
                None
            }
        }
    }
}

struct Reader<'p, 's> {
    parser: &'p mut Parser<'s>,
    text: &'s str,
    base: usize,
    at: usize,
    whole: Span,
    /// How deep what is read is nested.
    depth: usize,
}

impl<'s> Reader<'_, 's> {
    fn skip_blank(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']).len();
            if !self.text[self.at..].starts_with("//") {
                return;
            }
            self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
        }
    }

    fn place(&self) -> Span {
        if self.text.is_empty() {
            return self.whole;
        }
        let at = self.base + self.at;
        let length = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        self.parser.span(at, at + length)
    }

    fn unexpected(&mut self, expected: &str) -> Diagnostic {
        self.skip_blank();
        let found = match self.text[self.at..].chars().next() {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end".to_owned(),
        };
        Diagnostic::error(&codes::SYNTAX, self.place(), format!("expected {expected}, found {found}"))
    }

    /// Reads a piece that the grammar knows.
    fn piece(
        &mut self,
        rule: Rule,
        expected: &str,
    ) -> Result<(pest::iterators::Pair<'s, Rule>, usize), Diagnostic> {
        self.skip_blank();
        let start = self.at;
        let text: &'s str = self.text;
        let parsed = Grammar::parse(rule, &text[start..]).ok().and_then(|mut pairs| pairs.next());
        match parsed {
            Some(pair) => {
                self.at = start + pair.as_span().end();
                Ok((pair, self.base + start))
            }
            None => Err(self.unexpected(expected)),
        }
    }

    fn reported(&self) -> Diagnostic {
        Diagnostic::error(&codes::SYNTAX, self.place(), "this could not be read")
    }
}

impl ParameterReader for Reader<'_, '_> {
    fn module(&mut self) -> &mut Module {
        &mut self.parser.module
    }

    fn at_end(&mut self) -> bool {
        self.skip_blank();
        self.at >= self.text.len()
    }

    fn take(&mut self, text: &str) -> bool {
        self.skip_blank();
        let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let Some(after) = self.text[self.at..].strip_prefix(text) else { return false };
        // A word is taken only whole.
        if text.ends_with(is_inner) && after.starts_with(is_inner) {
            return false;
        }
        self.at += text.len();
        true
    }

    fn expect(&mut self, text: &str) -> Result<(), Diagnostic> {
        if self.take(text) { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    fn word(&mut self) -> Result<String, Diagnostic> {
        let (pair, _) = self.piece(Rule::word, "a name")?;
        Ok(pair.as_str().to_owned())
    }

    fn integer(&mut self) -> Result<i64, Diagnostic> {
        let start = self.at;
        let (pair, _) = self.piece(Rule::number, "an integer")?;
        pair.as_str().parse().map_err(|_| {
            self.at = start;
            self.unexpected("an integer of 64 bits")
        })
    }

    fn ty(&mut self) -> Result<Type, Diagnostic> {
        let (pair, at) = self.piece(Rule::ty, "a type")?;
        self.parser.spelled_type(pair.as_str(), at, self.depth).ok_or_else(|| self.reported())
    }

    fn attribute(&mut self) -> Result<Attr, Diagnostic> {
        let (pair, at) = self.piece(Rule::attribute, "an attribute")?;
        self.parser.attribute(at, pair, self.depth).ok_or_else(|| self.reported())
    }

    fn error(&mut self, message: String) -> Diagnostic {
        self.skip_blank();
        Diagnostic::error(&codes::SYNTAX, self.place(), message)
    }
}

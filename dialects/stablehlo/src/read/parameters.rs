//! The parameters of dialect attributes, read by their definitions.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{Attr, Module, ParameterReader, Type};

use super::{Reader, Reported};

impl ParameterReader for Reader<'_> {
    fn module(&mut self) -> &mut Module {
        &mut self.module
    }

    fn at_end(&mut self) -> bool {
        matches!(self.next(), b'>' | 0)
    }

    fn take(&mut self, text: &str) -> bool {
        if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return self.take_word(text);
        }
        self.take_text(text)
    }

    fn expect(&mut self, text: &str) -> Result<(), Diagnostic> {
        if ParameterReader::take(self, text) { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    fn word(&mut self) -> Result<String, Diagnostic> {
        let word = self.peek_word();
        if word.is_empty() {
            return Err(self.unexpected("a name"));
        }
        self.at += word.len();
        Ok(word.to_owned())
    }

    fn integer(&mut self) -> Result<i64, Diagnostic> {
        let digits = self.peek_number();
        let Ok(value) = digits.parse() else { return Err(self.unexpected("an integer of 64 bits")) };
        self.at += digits.len();
        Ok(value)
    }

    fn ty(&mut self) -> Result<Type, Diagnostic> {
        Reader::ty(self).map_err(|Reported| self.reported())
    }

    fn attribute(&mut self) -> Result<Attr, Diagnostic> {
        Reader::attribute(self).map_err(|Reported| self.reported())
    }

    fn error(&mut self, message: String) -> Diagnostic {
        self.next();
        Diagnostic::error(&codes::SYNTAX, self.token().1, message)
    }
}

impl Reader<'_> {
    /// Stands in for what has been reported.
    fn reported(&self) -> Diagnostic {
        Diagnostic::error(&codes::SYNTAX, self.token().1, "this could not be read")
    }
}

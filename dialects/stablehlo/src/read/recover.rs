//! Going on after a statement that could not be read.
//!
//! Reading resumes at the next line that looks like the start of a statement, outside of all brackets that the damaged
//! one opens. Names that the skipped text would have defined are taken as defined, so that their uses are no mistakes.

use tofu_diagnostics::Span;

use super::{
    Read, Reader, Reported,
    lexer::{string_end, word_end},
    statement::Op,
};

/// Whether a word begins a statement though no dialect stands before it.
pub(super) fn is_keyword(word: &str) -> bool {
    matches!(word, "call" | "module" | "return")
}

impl<'s> Reader<'s> {
    /// Moves to the next statement after the damaged one that starts at `start` and was read up to the current place.
    pub(super) fn recover(&mut self, start: usize) {
        let text = self.text;
        let failed = self.at.max(start).min(text.len());
        let bytes = text.as_bytes();
        let own_indent = self.indent(start);
        let mut open = 0usize;
        let mut at = start;
        let end = loop {
            match bytes.get(at) {
                None => break at,
                Some(b'"') => at = string_end(bytes, at).unwrap_or(at + 1),
                Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                    at += memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
                }
                Some(b'(' | b'[' | b'{') => {
                    open += 1;
                    at += 1;
                }
                // A brace that closes what is around ends the statement.
                Some(b'}') if open == 0 && at >= failed => break at,
                Some(b')' | b']' | b'}') => {
                    open = open.saturating_sub(1);
                    at += 1;
                }
                Some(b'\n') => {
                    at += 1;
                    if at >= failed && self.begins_statement(at, open, own_indent) {
                        break at;
                    }
                }
                Some(_) => at += 1,
            }
        };
        self.at = end;
        self.assume_definitions(start, end);
    }

    /// Whether a statement begins at the line at `at`, or a region ends there, while `open` brackets of the damaged one are
    /// open. One that stands no deeper than the damaged one shows that a bracket is missing.
    fn begins_statement(&self, at: usize, open: usize, own_indent: usize) -> bool {
        let line = self.text[at..].split('\n').next().unwrap_or("").trim_start();
        let indent = self.indent(at);
        match line.as_bytes().first() {
            Some(b'}') => indent < own_indent || open == 0,
            _ if open > 0 && indent > own_indent => false,
            Some(b'%' | b'"' | b'^' | b'#' | b'!') => true,
            Some(byte) if byte.is_ascii_alphabetic() => {
                let word = &line[..word_end(line.as_bytes(), 0)];
                word.contains('.') || is_keyword(word)
            }
            _ => false,
        }
    }

    /// The column, from 0, at which the line of `at` has its first character.
    fn indent(&self, at: usize) -> usize {
        let line = memchr::memrchr(b'\n', &self.text.as_bytes()[..at]).map_or(0, |newline| newline + 1);
        let line = &self.text[line..];
        line.len() - line.trim_start_matches([' ', '\t']).len()
    }

    /// Moves to the brace of the body of an op whose head could not be read: the one that ends a line before the next
    /// statement begins. Gives the head's text. Fails if there is none.
    pub(super) fn lost_head(&mut self, op: &mut Op<'s>) -> Read<&'s str> {
        let text = self.text;
        let mut at = self.at;
        loop {
            let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length);
            let line = text[at..end].trim_end();
            if line.ends_with('{') {
                self.at = at + line.len() - 1;
                break;
            }
            at = end + 1;
            if at >= text.len() || self.begins_statement(at, 0, 0) {
                return Err(Reported);
            }
        }
        op.is_damaged = true;
        op.entries.clear();
        op.attributes.clear();
        let head = &text[op.start..self.at];
        self.assume_symbols(head);
        Ok(head)
    }

    /// Takes all values that the head of a function mentions as its arguments.
    pub(super) fn assume_arguments(&mut self, head: &'s str) {
        for found in memchr::memchr_iter(b'%', head.as_bytes()) {
            let name = &head[found + 1..word_end(head.as_bytes(), found + 1)];
            self.define_unreadable(name, Span::NONE);
        }
    }

    /// Takes what the text between `start` and `end` seems to define as defined.
    fn assume_definitions(&mut self, start: usize, end: usize) {
        let text = self.text;
        let bytes = text.as_bytes();
        let mut at = start;
        while bytes.get(at) == Some(&b'%') {
            let name_end = word_end(bytes, at + 1);
            self.define_unreadable(&text[at + 1..name_end], self.span(at, name_end));
            let is_between = |c: char| c.is_ascii_digit() || matches!(c, ':' | ',' | ' ');
            at = end - text[name_end.min(end)..end].trim_start_matches(is_between).len();
        }
        self.assume_symbols(&text[start..end]);
    }

    /// Takes all symbols that a text mentions as defined.
    fn assume_symbols(&mut self, text: &str) {
        for found in memchr::memchr_iter(b'@', text.as_bytes()) {
            let symbol = &text[found + 1..word_end(text.as_bytes(), found + 1)];
            let symbol = self.module.interner.name(symbol);
            self.damage.symbols.insert(symbol);
        }
    }
}

//! Tokens: each is taken from the text where it is expected.

use tofu_diagnostics::{Diagnostic, Span, codes};

use super::{Read, Reader, Reported};

/// Which bytes go on a word.
static IS_INNER: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'$' | b'.');
        byte += 1;
    }
    table
};

/// Where the word ends that begins at `at`.
pub(super) fn word_end(bytes: &[u8], at: usize) -> usize {
    let length = bytes[at..].iter().position(|&byte| !IS_INNER[usize::from(byte)]);
    length.map_or(bytes.len(), |length| at + length)
}

/// Where the string ends whose opening quote stands at `at`, the closing quote included. None if it is not closed on
/// its line.
pub(super) fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr::memchr3(b'"', b'\\', b'\n', bytes.get(at..)?)?;
        match bytes[at] {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => return None,
        }
    }
}

impl<'s> Reader<'s> {
    /// Moves past white space and comments; the next byte, or zero at the end.
    pub(super) fn next(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let next = loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\t'..=b'\r') => self.at += 1,
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'/') => {
                    let rest = &bytes[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                Some(&byte) => break byte,
                None => break 0,
            }
        };
        if self.at > start {
            self.blank = start..self.at;
        }
        next
    }

    /// Where the last token ended, white space and comments behind it aside.
    pub(super) fn end(&self) -> usize {
        if self.blank.end == self.at { self.blank.start } else { self.at }
    }

    /// Takes `mark` if it stands here.
    pub(super) fn take(&mut self, mark: u8) -> bool {
        let stands_here = self.next() == mark && self.at < self.text.len();
        self.at += usize::from(stands_here);
        stands_here
    }

    /// Takes `mark`, or says that it was expected.
    pub(super) fn expect(&mut self, mark: u8) -> Read {
        if self.take(mark) { Ok(()) } else { self.expected(&format!("`{}`", char::from(mark))) }
    }

    /// Takes the punctuation `text` if it stands here.
    pub(super) fn take_text(&mut self, text: &str) -> bool {
        self.next();
        let stands_here = self.text[self.at..].starts_with(text);
        self.at += if stands_here { text.len() } else { 0 };
        stands_here
    }

    /// The word that stands here, without taking it; empty if none does.
    pub(super) fn peek_word(&mut self) -> &'s str {
        let first = self.next();
        let is_word = first.is_ascii_alphabetic() || first == b'_';
        let end = if is_word { word_end(self.text.as_bytes(), self.at) } else { self.at };
        &self.text[self.at..end]
    }

    /// Takes `word` if it stands here.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let stands_here = self.peek_word() == word;
        self.at += if stands_here { word.len() } else { 0 };
        stands_here
    }

    /// Takes `word`, or says that it was expected.
    pub(super) fn expect_word(&mut self, word: &str) -> Read {
        if self.take_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// A word.
    pub(super) fn word(&mut self, what: &str) -> Read<&'s str> {
        let word = self.peek_word();
        if word.is_empty() {
            return self.expected(what);
        }
        self.at += word.len();
        Ok(word)
    }

    /// What follows `%`, `^`, `@`, `#` or `!`, which stands at the current place: a word that may begin with a digit and
    /// hold dashes.
    pub(super) fn name_after_sigil(&mut self) -> &'s str {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut end = word_end(bytes, start.min(bytes.len()));
        while bytes.get(end) == Some(&b'-') && bytes.get(end + 1) != Some(&b'>') {
            end = word_end(bytes, end + 1);
        }
        self.at = end;
        &self.text[start.min(end)..end]
    }

    /// A string in quotes, with them; white space was skipped.
    pub(super) fn quoted(&mut self) -> Read<&'s str> {
        let bytes = self.text.as_bytes();
        if bytes.get(self.at) != Some(&b'"') {
            return self.expected("a string");
        }
        match string_end(bytes, self.at).filter(|&end| end <= bytes.len()) {
            Some(end) => {
                let quoted = &self.text[self.at..end];
                self.at = end;
                Ok(quoted)
            }
            None => {
                let span = self.span(self.at, self.at + 1);
                let message = "the string is not closed on its line";
                self.report(Diagnostic::error(&codes::UNTERMINATED, span, message).help("add `\"`"));
                Err(Reported)
            }
        }
    }

    /// The number that stands here, without taking it: digits, sign, point, exponent, or hexadecimal.
    pub(super) fn peek_number(&mut self) -> &'s str {
        let first = self.next();
        let bytes = self.text.as_bytes();
        let digits = self.at + usize::from(first == b'-');
        if !bytes.get(digits).is_some_and(u8::is_ascii_digit) {
            return "";
        }
        let mut end = digits;
        while let Some(&byte) = bytes.get(end) {
            let is_sign = matches!(byte, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E');
            if !byte.is_ascii_alphanumeric() && byte != b'.' && !is_sign {
                break;
            }
            end += 1;
        }
        &self.text[self.at..end]
    }

    /// An integer.
    pub(super) fn integer(&mut self) -> Read<i64> {
        let digits = self.peek_number();
        match digits.parse() {
            Ok(value) => {
                self.at += digits.len();
                Ok(value)
            }
            Err(_) if digits.is_empty() => self.expected("an integer"),
            Err(_) => {
                let span = self.span(self.at, self.at + digits.len());
                self.fail(&codes::BAD_LITERAL, span, "expected an integer of 64 bits")
            }
        }
    }

    /// `[1, 2]`.
    pub(super) fn integers(&mut self) -> Read<Vec<i64>> {
        self.expect(b'[')?;
        let mut values = Vec::new();
        while !self.take(b']') {
            if !values.is_empty() {
                self.comma_or("]")?;
            }
            values.push(self.integer()?);
        }
        Ok(values)
    }

    /// The comma between two items of a list that may end in `close` instead.
    pub(super) fn comma_or(&mut self, close: &str) -> Read {
        if self.take(b',') { Ok(()) } else { self.expected(&format!("`,` or `{close}`")) }
    }

    /// Says that something else was expected here.
    pub(super) fn expected<T>(&mut self, what: &str) -> Read<T> {
        let diagnostic = self.unexpected(what);
        self.report(diagnostic);
        Err(Reported)
    }

    pub(super) fn unexpected(&mut self, what: &str) -> Diagnostic {
        self.next();
        if self.text[self.end()..self.at].contains('\n') {
            // What was expected belongs to the line before.
            self.at = self.end();
            let message = format!("expected {what}, found the end of the line");
            return Diagnostic::error(&codes::SYNTAX, self.span(self.at, self.at), message);
        }
        let (found, span) = self.token();
        let code = if self.at < self.text.len() { &codes::SYNTAX } else { &codes::UNTERMINATED };
        Diagnostic::error(code, span, format!("expected {what}, found {found}"))
    }

    /// The token at the current place, as a message names it, and where it stands.
    pub(super) fn token(&self) -> (String, Span) {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else {
            return ("the end of the text".to_owned(), self.span(self.at, self.at));
        };
        let bytes = rest.as_bytes();
        let length = match first {
            '%' | '^' | '@' | '#' | '!' => word_end(bytes, 1),
            c if c.is_ascii_alphanumeric() || c == '_' => word_end(bytes, 0),
            c => c.len_utf8(),
        };
        let token = &rest[..length];
        let shown: String = token.chars().take(MAX_SHOWN).collect();
        let more = if shown.len() < token.len() { "…" } else { "" };
        let found = if first.is_control() { first.escape_debug().collect() } else { shown };
        (format!("`{found}{more}`"), self.span(self.at, self.at + length))
    }
}

/// A longer token is cut in a message.
const MAX_SHOWN: usize = 40;

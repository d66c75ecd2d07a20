//! Going on after a statement that could not be read.
//!
//! Reading resumes at the next line that looks like the start of a statement and stands no deeper than the damaged
//! one. Names that the skipped text would have defined are taken as defined, so that their uses are no mistakes.

use tofu_ir::Trait;

use super::Parser;
use crate::foreign::{indentation, leading_word};

impl<'s> Parser<'s> {
    /// Moves past white space and comments.
    pub(super) fn skip_blank(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\t'..=b'\r') => self.at += 1,
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'/') => {
                    let rest = &bytes[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// The column (in bytes, from 0) at which the line of `at` has its first character.
    pub(super) fn indent_of(&self, at: usize) -> usize {
        let line = memchr::memrchr(b'\n', &self.text.as_bytes()[..at]).map_or(0, |newline| newline + 1);
        indentation(&self.text[line..])
    }

    /// Moves to the next statement after the damaged one that starts at `start` and was read up to `failed`.
    pub(super) fn recover(&mut self, start: usize, failed: usize) {
        let own_indent = self.indent_of(start);
        let mut depth = Depth::default();
        depth.scan(&self.text[start..failed.max(start)]);
        let mut at = failed.max(start);
        loop {
            let newline = memchr::memchr(b'\n', &self.text.as_bytes()[at..]);
            let next = newline.map_or(self.text.len(), |newline| at + newline + 1);
            // A brace that closes what is around ends the statement before its line does.
            if let Some(brace) = depth.scan(&self.text[at..next]) {
                self.at = at + brace;
                break;
            }
            if newline.is_none() {
                self.at = next;
                break;
            }
            at = next;
            let line = &self.text[next..];
            let indent = indentation(line);
            let rest = &line[indent..];
            if rest.starts_with('\n') || rest.starts_with('\r') || rest.starts_with("//") {
                continue;
            }
            let closes_own = rest.starts_with('}') && indent == own_indent && depth.open > 0;
            let stands_beside = indent <= own_indent && starts_something(rest);
            if closes_own || !(stands_beside || self.starts_statement(rest)) {
                continue;
            }
            if depth.open == 0 || indent <= own_indent {
                self.at = next;
                break;
            }
        }
        self.assume_definitions(start, self.at);
    }

    fn starts_statement(&self, rest: &str) -> bool {
        match rest.as_bytes().first() {
            Some(b'%') => assigned_names(rest).is_some(),
            Some(b'^' | b'}' | b'"') => true,
            Some(_) => {
                let word = leading_word(rest);
                word.contains('.') || self.module.registry().op(word).is_some()
            }
            None => false,
        }
    }

    /// Takes what the lines between `start` and `end` seem to define as defined.
    pub(super) fn assume_definitions(&mut self, start: usize, end: usize) {
        let text: &'s str = self.text;
        let mut at = start;
        // The damaged statement may lack its `=`.
        let (names, rest) = leading_names(&text[start..end]);
        let span = self.span(start, end - rest.len());
        names.into_iter().for_each(|(_, name)| self.define_unreadable(name, span));
        for line in text[start..end].split_inclusive('\n') {
            let mut rest = line;
            while let Some(found) = memchr::memchr(b'%', rest.as_bytes()) {
                let (names, after) = leading_names(&rest[found..]);
                if after.starts_with('=') {
                    let list = at + line.len() - rest.len() + found;
                    let span = self.span(list, at + line.len() - after.len());
                    names.into_iter().for_each(|(_, name)| self.define_unreadable(name, span));
                }
                rest = after;
            }
            let symbols = line.match_indices('@').map(|(found, _)| leading_word(&line[found + 1..]));
            for symbol in symbols {
                let symbol = self.module.interner.name(symbol);
                self.damage.symbols.insert(symbol);
            }
            at += line.len();
        }
    }

    /// Whether an item such as a function starts at the current place and stands no deeper than the op at `op`.
    pub(super) fn starts_item(&self, op: usize) -> bool {
        let word = leading_word(&self.text[self.at..]);
        let is_item = self.module.registry().op(word).is_some_and(|def| def.has(Trait::TopLevel));
        is_item && self.indent_of(self.at) <= self.indent_of(op)
    }
}

/// Whether a line that stands beside a damaged statement can only be a statement, or the attempt at one.
fn starts_something(rest: &str) -> bool {
    let goes_on = ["loc", "attributes"].iter().any(|part| leading_word(rest) == *part);
    rest.starts_with(|c: char| c.is_alphanumeric() || c == '%') && !goes_on
}

/// How many brackets are open, strings and comments aside.
#[derive(Default)]
struct Depth {
    open: usize,
}

impl Depth {
    /// Counts the brackets of `text`, up to a closing brace that none of them opens; that one's place.
    fn scan(&mut self, text: &str) -> Option<usize> {
        let mut line_start = 0;
        for line in text.split_inclusive('\n') {
            let mut in_string = false;
            let bytes = line.as_bytes();
            let mut at = 0;
            while at < bytes.len() {
                match bytes[at] {
                    b'\\' if in_string => at += 1,
                    b'"' => in_string = !in_string,
                    _ if in_string => {}
                    b'/' if bytes.get(at + 1) == Some(&b'/') => break,
                    b'(' | b'[' | b'{' => self.open += 1,
                    b'}' if self.open == 0 => return Some(line_start + at),
                    b')' | b']' | b'}' => self.open = self.open.saturating_sub(1),
                    _ => {}
                }
                at += 1;
            }
            line_start += line.len();
        }
        None
    }
}

/// The names before the `=` of `%a, %b = op` at `start`, each with its place, and where the op's name is; no names where
/// the op's name comes first. None if the line does not read so.
pub(super) fn leading_results(text: &str, start: usize) -> Option<(Vec<(usize, &str)>, usize)> {
    let (mut names, rest) = leading_names(&text[start..]);
    let rest = match rest.strip_prefix('=') {
        Some(after) if !names.is_empty() => after.trim_start_matches([' ', '\t']),
        _ if names.is_empty() => rest,
        _ => return None,
    };
    for (at, name) in &mut names {
        *at += start;
        if name.is_empty() {
            return None;
        }
    }
    Some((names, text.len() - rest.len()))
}

/// The names before the `=` of `%a, %b = …`.
pub(super) fn assigned_names(text: &str) -> Option<Vec<&str>> {
    let (names, rest) = leading_names(text);
    let names: Vec<&str> = names.into_iter().map(|(_, name)| name).collect();
    (!names.is_empty() && rest.starts_with('=')).then_some(names)
}

/// The names of the list `%a, %b` at the start of `text`, each with its place, and what follows the list.
fn leading_names(text: &str) -> (Vec<(usize, &str)>, &str) {
    let mut rest = text;
    let mut names = Vec::new();
    while let Some(after) = rest.strip_prefix('%') {
        let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
        let end = after.find(|c| !is_inner(c)).unwrap_or(after.len());
        names.push((text.len() - after.len(), &after[..end]));
        rest = after[end..].trim_start_matches([' ', '\t']);
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start_matches([' ', '\t']),
            None => break,
        }
    }
    (names, rest)
}

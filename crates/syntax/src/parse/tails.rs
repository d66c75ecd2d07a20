//! Ends of lines that were read before.
//!
//! What stands behind the operands of an op, a few attributes and a type, is spelled alike for many ops of a program.
//! The grammar reads each spelling once. When a line ends in a known one, only the operands before it are parsed: the
//! names of results have been seen on the way to the op's name.

use pest::Parser as _;
use smallvec::SmallVec;
use tofu_ir::{Attr, Name, Type};

use super::recover::leading_results;
use super::statement::{Entry, Head};
use super::{Grammar, Parser, Rule};
use crate::foreign::leading_word;

/// More spellings than this are not kept, so that a program that repeats none of them pays little.
const MAX_TAILS: usize = 4096;

/// A longer end of a line is not looked at, so that many ops on one line cost no more than on many.
const MAX_LENGTH: usize = 256;

/// What a spelling means.
pub(super) struct Tail {
    entries: SmallVec<[TailEntry; 1]>,
    types: Option<SmallVec<[Type; 2]>>,
}

/// An attribute, and where in the spelling it stands.
struct TailEntry {
    name: Name,
    attr: Attr,
    start: u32,
    end: u32,
}

impl<'s> Parser<'s> {
    /// The head of the statement at the current place, if it is one line and how it ends is known. `rule` is that of
    /// the whole statement.
    pub(super) fn known_head(&mut self, rule: Rule) -> Option<Head<'s>> {
        if self.tails.is_empty() || !matches!(rule, Rule::uniform_statement | Rule::value_statement) {
            return None;
        }
        let text: &'s str = self.text;
        let mut head = Head::default();
        let (results, name_at) = leading_results(text, self.at)?;
        head.results.extend(results.into_iter().map(|(at, name)| (name, self.span(at - 1, at + name.len()))));
        head.name = leading_word(&text[name_at..]);
        let name_end = name_at + head.name.len();
        head.name_span = self.span(name_at, name_end);
        let operands = match rule {
            // That no operands stand here is no error of the grammar's: each would cost a look at the whole text.
            Rule::uniform_statement => Grammar::parse(Rule::some_operands, &text[name_end..]).ok()?.next(),
            _ => None,
        };
        let tail_start = name_end + operands.as_ref().map_or(0, |operands| operands.as_span().end());
        let line_end = self.line_end(tail_start)?;
        let tail = text[tail_start..line_end].trim_end();
        if !self.tails.contains_key(tail) || !self.starts_afresh(line_end) {
            return None;
        }
        if let Some(operands) = operands {
            self.head(name_end, operands, &mut head);
        }
        let known = self.tails.get(tail)?;
        let place = self.base + tail_start as u32;
        head.entries.extend(known.entries.iter().map(|entry| Entry {
            name: entry.name,
            attr: entry.attr,
            span: tofu_diagnostics::Span::new(place + entry.start, place + entry.end),
        }));
        head.types.clone_from(&known.types);
        head.beginning_end = 0;
        self.at = tail_start + tail.len();
        Some(head)
    }

    /// Keeps how the statement ends that was just read up to the current place, if that is the end of a line.
    pub(super) fn keep_tail(&mut self, head: &Head<'s>) {
        let start = head.beginning_end;
        if start == 0 {
            return;
        }
        let is_plain = !head.is_damaged && head.successors.is_empty() && head.location.is_none();
        let Some(line_end) = self.line_end(start) else { return };
        let text: &'s str = self.text;
        let tail = text[start..line_end].trim_end();
        if !is_plain || self.tails.len() == MAX_TAILS || self.at != start + tail.len() {
            return;
        }
        let place = self.base + start as u32;
        let entries = head.entries.iter().map(|entry| TailEntry {
            name: entry.name,
            attr: entry.attr,
            start: entry.span.start - place,
            end: entry.span.end - place,
        });
        self.tails.insert(tail, Tail { entries: entries.collect(), types: head.types.clone() });
    }

    /// Where the line ends, unless that is far away.
    fn line_end(&self, at: usize) -> Option<usize> {
        let rest = &self.text.as_bytes()[at..];
        let near = &rest[..rest.len().min(MAX_LENGTH)];
        memchr::memchr(b'\n', near).map(|length| at + length)
    }

    /// Whether what follows a line cannot belong to the statement on it.
    fn starts_afresh(&self, line_end: usize) -> bool {
        let rest = self.text[line_end..].trim_start();
        let is_part = |word: &str| rest.starts_with(word);
        match rest.as_bytes().first() {
            None | Some(b'%' | b'}' | b'^' | b'"') => true,
            Some(byte) => byte.is_ascii_alphabetic() && !is_part("loc") && !is_part("attributes"),
        }
    }
}

//! Text in a language of a dialect's own ([`Syntax::Text`](tofu_ir::Syntax)): where it ends.
//!
//! It ends behind the brace that closes its first one, comments and strings aside. Other brackets are not counted, so
//! that one that is missing is a mistake of the text and does not swallow what follows. A brace that is missing shows
//! where something begins that can only stand beside the text.

use std::cell::LazyCell;

use tofu_ir::{Registry, Trait};

/// Where a text ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Behind its closing brace.
    Closed(usize),
    /// There is no closing brace before this place, where something else begins or all text ends.
    Open {
        /// The place.
        at: usize,
        /// Whether there is an opening one.
        has_brace: bool,
    },
}

/// Where the text that begins at `start` ends. `indent` says how deep in its line the item stands that it belongs to; it
/// is asked once, if at all.
pub(crate) fn end_of(text: &str, start: usize, indent: impl FnOnce() -> usize, registry: &Registry) -> End {
    let bytes = text.as_bytes();
    let indent = LazyCell::new(indent);
    let (mut at, mut depth) = (start, 0usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' if starts_item(&text[at + 1..], *indent, registry) => {
                return End::Open { at: at + 1 + indentation(&text[at + 1..]), has_brace: depth > 0 };
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
                continue;
            }
            b'"' => at += string_length(&bytes[at..]),
            b'{' => depth += 1,
            b'}' if depth == 1 => return End::Closed(at + 1),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    End::Open { at: text.len(), has_brace: depth > 0 }
}

/// Whether a line begins an item such as a function, no deeper than `indent`.
fn starts_item(line: &str, indent: usize, registry: &Registry) -> bool {
    let own = indentation(line);
    own <= indent && registry.op(leading_word(&line[own..])).is_some_and(|def| def.has(Trait::TopLevel))
}

/// How far the string that begins here goes on; a quote that nothing closes on its line is no string.
fn string_length(bytes: &[u8]) -> usize {
    let end = memchr::memchr2(b'"', b'\n', &bytes[1..]).map_or(0, |found| found + 1);
    if bytes.get(end) == Some(&b'"') { end } else { 0 }
}

/// How many blanks a line begins with.
pub(crate) fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The word at the start of `text`, dots included.
pub(crate) fn leading_word(text: &str) -> &str {
    &text[..text.find(|c| !is_word_inner(c)).unwrap_or(text.len())]
}

/// Whether a character can go on in a word.
pub(crate) fn is_word_inner(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')
}

//! Values as text: where one ends, and how one is quoted.

use std::borrow::Cow;

/// The end of the value that `text` begins with: where `stops` first holds outside of quotes and brackets. None if
/// quotes or brackets are left open.
pub(crate) fn value_end(text: &str, stops: impl Fn(char) -> bool) -> Option<usize> {
    let mut depth = 0usize;
    let mut quoted = false;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quoted => {
                chars.next();
            }
            '"' => quoted = !quoted,
            _ if quoted => {}
            _ if depth == 0 && stops(c) => return Some(at),
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    (depth == 0 && !quoted).then_some(text.len())
}

/// The text itself, or what it says between double quotes.
#[doc(hidden)]
pub fn unquote(text: &str) -> Option<Cow<'_, str>> {
    let Some(inner) = text.strip_prefix('"') else { return Some(Cow::Borrowed(text)) };
    let inner = inner.strip_suffix('"')?;
    let mut plain = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '"' => return None,
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                escaped => escaped,
            },
            c => c,
        });
    }
    Some(Cow::Owned(plain))
}

/// The text between double quotes.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

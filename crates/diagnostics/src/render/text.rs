//! User text made safe: nothing in it can move the cursor, break a line or fill the screen.

use std::borrow::Cow;
use std::fmt::Write;

/// The longest text that is shown whole, in bytes.
const LONGEST: usize = 2000;

/// `text` in one line: control characters escaped as in Rust, its middle left out where it is very long.
pub(super) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(LONGEST));
    for c in clip(text).chars() {
        if is_unsafe(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// `text` with its line breaks: tabs become blanks, other control characters visible, and its middle is left out
/// where it is very long.
#[cfg(feature = "human")]
pub(super) fn paragraph(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(LONGEST));
    for c in clip(text).replace("\r\n", "\n").chars() {
        match c {
            '\n' => out.push('\n'),
            '\t' => out.push(' '),
            _ => push_visible(&mut out, c),
        }
    }
    out
}

/// Appends `c`, or a picture of it where it is a control character.
#[cfg(feature = "human")]
pub(super) fn push_visible(out: &mut String, c: char) {
    match c {
        '\0'..='\x1F' => out.extend(char::from_u32(0x2400 + c as u32)),
        '\x7F' => out.push('\u{2421}'),
        _ if is_unsafe(c) => out.extend(c.escape_unicode()),
        _ => out.push(c),
    }
}

/// Control characters, and the invisible ones that reorder or hide the text around them.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

fn clip(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    let (mut head, mut tail) = (LONGEST / 2, text.len() - LONGEST / 2);
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    let mut out = String::with_capacity(LONGEST + 40);
    out.push_str(&text[..head]);
    // Writing to a string cannot fail.
    let _ = write!(out, " … {} bytes left out … ", tail - head);
    out.push_str(&text[tail..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_dangerous_remains() {
        assert_eq!(one_line("a\n\u{1b}[2J\u{202e}é"), "a\\n\\u{1b}[2J\\u{202e}é");
        assert_eq!(paragraph("a\r\nb\t\u{1b}[2J\u{7f}\u{9b}é"), "a\nb ␛[2J␡\\u{9b}é");
    }

    #[test]
    fn long_texts_lose_their_middle() {
        let text = "é".repeat(5_000_000);
        let line = one_line(&text);
        assert!(line.len() < LONGEST + 60, "{}", line.len());
        assert!(line.starts_with("éé") && line.ends_with("éé"));
        assert!(line.contains(" … 9998000 bytes left out … "), "{line}");
    }
}

//! Translates POSIX extended regular expressions, in the dialect of LLVM's FileCheck, to the syntax of
//! `regex-automata`.
//!
//! What would mean something else there is an error here, as it is in LLVM or more strictly: lazy repetition
//! (`*?`), classes such as `\d` (which LLVM reads as the letter d), back-references by number. A negated set
//! does not match a line end.

use std::str::Chars;

/// Translates one regex. Errors are phrases that complete "invalid regex: ".
pub(super) fn translate(source: &str) -> Result<String, String> {
    let mut chars = source.chars();
    let mut regex = String::new();
    let mut depth = 0;
    let mut branch_is_empty = true;
    let mut repeatable = false;
    while let Some(char) = chars.next() {
        let repetition = matches!(char, '*' | '+' | '?')
            || (char == '{' && chars.as_str().starts_with(|next: char| next.is_ascii_digit()));
        if repetition && !repeatable {
            return Err(format!("`{char}` repeats nothing (there is no lazy repetition)"));
        }
        if matches!(char, ')' | '|') && branch_is_empty {
            return Err("an alternative is empty".to_string());
        }
        match char {
            '\\' => escape(&mut chars, &mut regex)?,
            '[' => set(&mut chars, &mut regex)?,
            '(' if next_if(&mut chars, ')') => regex.push_str("(?:)"),
            '(' => {
                depth += 1;
                regex.push_str("(?:");
            }
            ')' if depth == 0 => return Err("`)` without `(`".to_string()),
            ')' => {
                depth -= 1;
                regex.push(')');
            }
            '{' if repetition => bounds(&mut chars, &mut regex)?,
            '|' | '^' | '$' | '.' | '*' | '+' | '?' => regex.push(char),
            _ => push_literal(char, &mut regex),
        }
        branch_is_empty = char == '|' || regex.ends_with("(?:");
        repeatable = !(repetition || branch_is_empty || matches!(char, '^' | '$'));
    }
    if depth > 0 {
        return Err("`(` without `)`".to_string());
    }
    if branch_is_empty {
        return Err("an alternative is empty".to_string());
    }
    Ok(regex)
}

/// How many groups a translated regex has.
pub(super) fn group_count(regex: &str) -> usize {
    regex.matches("(?:").count()
}

/// Adds a regex that matches just `text`.
pub(super) fn push_escaped(text: &str, regex: &mut String) {
    text.chars().for_each(|char| push_literal(char, regex));
}

fn push_literal(char: char, regex: &mut String) {
    if r"\.+*?()|[]{}^$#&-~".contains(char) {
        regex.push('\\');
    }
    regex.push(char);
}

fn next_if(chars: &mut Chars<'_>, wanted: char) -> bool {
    let found = chars.as_str().starts_with(wanted);
    if found {
        chars.next();
    }
    found
}

fn escape(chars: &mut Chars<'_>, regex: &mut String) -> Result<(), String> {
    match chars.next() {
        None => Err("`\\` at the end".to_string()),
        Some(char) if char.is_alphanumeric() => {
            Err(format!("`\\{char}` has no meaning in POSIX regexes; write a set such as `[0-9]`"))
        }
        Some(char) => {
            push_literal(char, regex);
            Ok(())
        }
    }
}

/// `{2}`, `{2,}` or `{2,5}`, after the brace.
fn bounds(chars: &mut Chars<'_>, regex: &mut String) -> Result<(), String> {
    let (text, rest) = chars.as_str().split_once('}').ok_or("`{` without `}`")?;
    let (low, high) = text.split_once(',').unwrap_or((text, text));
    let ordered = match (low.parse::<u8>(), high.parse::<u8>()) {
        (Ok(low), Ok(high)) => low <= high,
        (Ok(_), Err(_)) => high.is_empty(),
        (Err(_), _) => false,
    };
    if !ordered {
        return Err(format!("`{{{text}}}` is not a repetition count or range up to 255"));
    }
    regex.push_str(&format!("{{{text}}}"));
    *chars = rest.chars();
    Ok(())
}

/// A set `[…]`, after its opening bracket; a backslash has no special meaning in it.
fn set(chars: &mut Chars<'_>, regex: &mut String) -> Result<(), String> {
    regex.push('[');
    if next_if(chars, '^') {
        regex.push_str("^\\n");
    }
    let mut first = true;
    loop {
        let low = set_member(chars)?;
        match low {
            ']' if !first => break,
            '[' if chars.as_str().starts_with([':', '.', '=']) => class(chars, regex)?,
            '-' if !first && !chars.as_str().starts_with(']') => {
                return Err("`-` in a set stands first, last or in a range".to_string());
            }
            _ => {
                push_literal(low, regex);
                let rest = chars.as_str();
                if rest.starts_with('-') && !rest.starts_with("-]") {
                    chars.next();
                    let high = set_member(chars)?;
                    if high < low {
                        return Err(format!("`{low}-{high}` is not a range"));
                    }
                    regex.push('-');
                    push_literal(high, regex);
                }
            }
        }
        first = false;
    }
    regex.push(']');
    Ok(())
}

fn set_member(chars: &mut Chars<'_>) -> Result<char, String> {
    chars.next().ok_or_else(|| "`[` without `]`".to_string())
}

/// A class such as `[:alpha:]`, after its opening bracket.
fn class(chars: &mut Chars<'_>, regex: &mut String) -> Result<(), String> {
    const NAMES: [&str; 12] = [
        "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
        "xdigit",
    ];
    let text = chars.as_str();
    let found = NAMES.iter().find_map(|name| {
        let rest = text.strip_prefix(':')?.strip_prefix(name)?.strip_prefix(":]")?;
        Some((name, rest))
    });
    let (name, rest) =
        found.ok_or("unknown class in a set; there are `[:alpha:]`, `[:digit:]` and the like")?;
    regex.push_str(&format!("[:{name}:]"));
    *chars = rest.chars();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{group_count, translate};

    #[test]
    fn translations() {
        for (source, expected) in [
            ("a.b", "a.b"),
            ("(a|b)+", "(?:a|b)+"),
            ("x{2,3}", "x{2,3}"),
            ("{x}", r"\{x\}"),
            ("[^a]", r"[^\na]"),
            (r"[]\&&]", r"[\]\\\&\&]"),
            ("[a-z-]", r"[a-z\-]"),
            ("[[:alpha:]_]", "[[:alpha:]_]"),
            (r"\$%#", r"\$%\#"),
            ("()a", "(?:)a"),
        ] {
            assert_eq!(translate(source).expect(source), expected);
        }
    }

    #[test]
    fn groups_are_counted() {
        assert_eq!(group_count(&translate(r"(a(b))\(()[(?:]").expect("valid")), 3);
    }

    #[test]
    fn errors() {
        for source in [
            "",
            "a|",
            "|a",
            "(|a)",
            "a*?",
            "a**",
            "*",
            "(*a)",
            "^*",
            "x{2",
            "x{3,2}",
            "x{256}",
            "x{1}+",
            "[a",
            "[b-a]",
            "[a-c-e]",
            "[[:foo:]]",
            "[[.a.]]",
            "(",
            ")",
            "\\",
            r"\d",
            r"\1",
        ] {
            assert!(translate(source).is_err(), "{source}");
        }
    }
}

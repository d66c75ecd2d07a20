//! Reads the check lines of a file.

use super::Options;
use super::pattern::{Kind, Pattern, Piece};
use super::posix;

/// A match to look for, and the CHECK-DAG and CHECK-NOT patterns that stand before it.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) skipped: Vec<Pattern>,
    pub(super) anchor: Pattern,
}

/// What is wrong with a check file, and at which line and column (both from 1; 0 if the whole file is meant).
#[derive(Debug)]
pub(super) struct Error {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

/// Reads all check lines of `text`.
pub(super) fn parse(text: &str, options: &Options) -> Result<Vec<Group>, Error> {
    check_prefixes(&options.prefixes)?;
    let mut unused: Vec<&str> = options.prefixes.iter().map(String::as_str).collect();
    let mut groups: Vec<Group> = Vec::new();
    let mut skipped: Vec<Pattern> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let located = |column, message| Error { line: index + 1, column, message };
        let Some(directive) =
            find_directive(line, &options.prefixes).map_err(|(at, message)| located(at + 1, message))?
        else {
            continue;
        };
        unused.retain(|prefix| *prefix != directive.prefix);
        let source = line[directive.end..].trim_matches([' ', '\t', '\r']);
        let start = line.len() - line[directive.end..].trim_start_matches([' ', '\t']).len();
        let pattern = Pattern {
            kind: directive.kind,
            name: line[directive.start..directive.end].trim_end_matches(':').to_string(),
            count: directive.count,
            line: index + 1,
            column: start + 1,
            width: source.len(),
            pieces: parse_pieces(&canonicalize(source), &directive)
                .map_err(|message| located(start + 1, message))?,
        };
        check_place(&pattern, &groups).map_err(|message| located(directive.start + 1, message))?;
        match pattern.kind {
            Kind::Dag | Kind::Not => skipped.push(pattern),
            _ => groups.push(Group { skipped: std::mem::take(&mut skipped), anchor: pattern }),
        }
    }
    if !unused.is_empty() {
        let message = format!("no check lines with prefix {}", unused.join(", "));
        return Err(Error { line: 0, column: 0, message });
    }
    if !skipped.is_empty() {
        let line = text.lines().count();
        groups.push(Group { skipped, anchor: Pattern::end(line) });
    }
    Ok(groups)
}

/// Makes every run of spaces and tabs one space, and every line end `\n`.
pub(super) fn canonicalize(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            ' ' | '\t' => {
                while chars.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
                result.push(' ');
            }
            '\r' if chars.peek() == Some(&'\n') => {}
            _ => result.push(char),
        }
    }
    result
}

fn check_prefixes(prefixes: &[String]) -> Result<(), Error> {
    for (index, prefix) in prefixes.iter().enumerate() {
        let valid = !prefix.is_empty() && prefix.chars().all(is_word);
        let unique = !prefixes[..index].contains(prefix) && !COMMENTS.contains(&prefix.as_str());
        if !(valid && unique) {
            let message = format!(
                "check prefix `{prefix}`: prefixes are unique and hold only letters, digits, `-` and `_`"
            );
            return Err(Error { line: 0, column: 0, message });
        }
    }
    Ok(())
}

fn check_place(pattern: &Pattern, groups: &[Group]) -> Result<(), String> {
    let name = &pattern.name;
    match pattern.kind {
        Kind::Next | Kind::Same | Kind::Empty if groups.is_empty() => {
            Err(format!("{name} without a match before it to refer to"))
        }
        Kind::Label if pattern.has_variables() => Err(format!("{name} cannot define or use variables")),
        _ => Ok(()),
    }
}

/// Prefixes after which a line is not a check, whatever it says.
const COMMENTS: [&str; 2] = ["COM", "RUN"];

/// Where a directive stands in its line, in bytes: its prefix at `start`, its pattern from `end`.
struct Directive<'a> {
    prefix: &'a str,
    kind: Kind,
    count: usize,
    literal: bool,
    start: usize,
    end: usize,
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_')
}

/// The first directive of a line. An error comes with its place in the line.
fn find_directive<'a>(line: &str, prefixes: &'a [String]) -> Result<Option<Directive<'a>>, (usize, String)> {
    let mut words: Vec<&str> = prefixes.iter().map(String::as_str).chain(COMMENTS).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let mut start = 0;
    while let Some(found) = line[start..].find(is_word) {
        start += found;
        let rest = &line[start..];
        let length = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
        if let Some(prefix) = words.iter().find(|word| rest.starts_with(**word)) {
            let after = &rest[prefix.len()..];
            if COMMENTS.contains(prefix) {
                if after.starts_with(':') {
                    return Ok(None);
                }
            } else if let Some((kind, count, literal, left)) =
                parse_suffix(after, prefix).map_err(|message| (start, message))?
            {
                let end = line.len() - left.len();
                return Ok(Some(Directive { prefix, kind, count, literal, start, end }));
            }
        }
        start += length;
    }
    Ok(None)
}

/// What follows a prefix: kind, count, whether the pattern is literal, and the rest of the line; `None` if
/// this is no directive at all.
fn parse_suffix<'a>(after: &'a str, prefix: &str) -> Result<Option<(Kind, usize, bool, &'a str)>, String> {
    let length = after.find(|char| !is_word(char)).unwrap_or(after.len());
    let (suffix, rest) = after.split_at(length);
    let (literal, rest) = match rest.strip_prefix("{LITERAL}") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let Some(left) = rest.strip_prefix(':') else {
        return match (rest.starts_with('{'), KINDS.iter().any(|(name, _)| *name == suffix)) {
            (true, true) => Err(format!("unknown modifier after {prefix}{suffix}; there is {{LITERAL}}")),
            _ => Ok(None),
        };
    };
    if let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == suffix) {
        return Ok(Some((*kind, 1, literal, left)));
    }
    if let Some(count) = suffix.strip_prefix("-COUNT-") {
        return match count.parse() {
            Ok(count @ 1..) => Ok(Some((Kind::Plain, count, literal, left))),
            _ => Err(format!("`{count}` is not a count of matches, which is a number from 1")),
        };
    }
    let words: Vec<&str> = suffix.split(['-', '_']).skip(1).collect();
    if words.len() > 1 && words.contains(&"NOT") && words.iter().all(|word| DIRECTIVES.contains(word)) {
        return Err(format!("{prefix}{suffix}: NOT cannot be combined with another directive"));
    }
    let near = |name: &&&str| strsim::osa_distance(name, suffix.trim_start_matches(['-', '_'])) <= 1;
    match DIRECTIVES.iter().find(near) {
        Some(name) => Err(format!("{prefix}{suffix} is no directive; did you mean {prefix}-{name}?")),
        None => Ok(None),
    }
}

const KINDS: [(&str, Kind); 7] = [
    ("", Kind::Plain),
    ("-LABEL", Kind::Label),
    ("-NEXT", Kind::Next),
    ("-SAME", Kind::Same),
    ("-NOT", Kind::Not),
    ("-DAG", Kind::Dag),
    ("-EMPTY", Kind::Empty),
];

const DIRECTIVES: [&str; 6] = ["LABEL", "NEXT", "SAME", "NOT", "DAG", "EMPTY"];

fn parse_pieces(source: &str, directive: &Directive<'_>) -> Result<Vec<Piece>, String> {
    match (directive.kind, source.is_empty()) {
        (Kind::Empty, true) => return Ok(Vec::new()),
        (Kind::Empty, false) => return Err("a check for an empty line has no pattern".to_string()),
        (_, true) => return Err("this check has no pattern".to_string()),
        (_, false) => {}
    }
    if directive.literal {
        return Ok(vec![Piece::Literal(source.to_string())]);
    }
    let mut pieces = Vec::new();
    let mut rest = source;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("{{") {
            let (regex, left) = after.split_once("}}").ok_or("`{{` without `}}`")?;
            pieces.push(Piece::Regex(translate(regex)?));
            rest = left;
        } else if let Some(after) = rest.strip_prefix("[[") {
            let end = variable_end(after).ok_or("`[[` without `]]`")?;
            pieces.push(parse_variable(&after[..end])?);
            rest = &after[end + 2..];
        } else {
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let end = [rest[first..].find("{{"), rest[first..].find("[[")].into_iter().flatten().min();
            let (literal, left) = rest.split_at(end.map_or(rest.len(), |end| first + end));
            pieces.push(Piece::Literal(literal.to_string()));
            rest = left;
        }
    }
    check_back_references(&pieces)?;
    Ok(pieces)
}

fn translate(regex: &str) -> Result<String, String> {
    posix::translate(regex).map_err(|error| format!("invalid regex: {error}"))
}

/// LLVM's FileCheck turns the use of a variable that its own line defines to a back-reference, of which there
/// are nine.
fn check_back_references(pieces: &[Piece]) -> Result<(), String> {
    let mut groups = 0;
    let mut defined: Vec<(&str, usize)> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Literal(_) => {}
            Piece::Regex(regex) => groups += usize::from(regex.contains('|')) + posix::group_count(regex),
            Piece::Define { name, regex } => {
                defined.push((name, groups + 1));
                groups += 1 + posix::group_count(regex);
            }
            Piece::Use(name) => {
                let group = defined.iter().rfind(|(defined, _)| defined == name);
                if group.is_some_and(|(_, group)| *group > 9) {
                    return Err(format!(
                        "`{name}` is used on the line that defines it, after more than nine groups and variables"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Where the `]]` stands that closes a variable: not one within a set or after a backslash.
fn variable_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            ']' if depth == 0 => return text[at..].starts_with("]]").then_some(at),
            '[' => depth += 1,
            ']' => depth -= 1,
            '\\' => drop(chars.next()),
            _ => {}
        }
    }
    None
}

/// `NAME` or `NAME:regex`.
fn parse_variable(text: &str) -> Result<Piece, String> {
    if text.starts_with(['#', '@']) {
        return Err(format!("`[[{text}]]`: numeric variables are not supported"));
    }
    let (name, regex) = match text.split_once(':') {
        Some((name, regex)) => (name, Some(regex)),
        None => (text, None),
    };
    let plain = name.strip_prefix('$').unwrap_or(name);
    let valid = !plain.starts_with(|first: char| first.is_ascii_digit())
        && !plain.is_empty()
        && plain.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    if !valid {
        return Err(format!(
            "`{name}` is not a name for a variable; `[[` as text is written `{{{{\\[\\[}}}}`"
        ));
    }
    let name = name.to_string();
    match regex {
        None => Ok(Piece::Use(name)),
        Some("") => Ok(Piece::Define { name, regex: String::new() }),
        Some(regex) => Ok(Piece::Define { name, regex: translate(regex)? }),
    }
}

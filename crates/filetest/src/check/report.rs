//! Reports about failed checks, with the check line and the part of the input where it should have matched.

use std::fmt::Write as _;
use std::ops::Range;

use super::Source;
use super::matcher::Mismatch;
use super::parse::Error;
use super::pattern::{Kind, Pattern, Piece, Variables};

/// A report of what is wrong with a check file.
pub(super) fn usage(checks: Source<'_>, error: &Error) -> String {
    if error.line == 0 {
        return format!("error: {}: {}\n", checks.name, error.message);
    }
    let mut report = format!("error: {}\n", error.message);
    show_line(&mut report, checks, error.line, error.column, 1);
    report
}

/// A report of all mismatches. `text` is the canonical form of `input`, with the same lines.
pub(super) fn mismatches(checks: Source<'_>, input: Source<'_>, text: &str, all: &[Mismatch<'_>]) -> String {
    let mut report = String::new();
    for mismatch in all {
        if !report.is_empty() {
            report.push('\n');
        }
        let pattern = mismatch.pattern;
        report.push_str(&format!("error: {}: {}\n", pattern.name, mismatch.message));
        show_line(&mut report, checks, pattern.line, pattern.column, pattern.width);
        show_variables(&mut report, mismatch);
        show_input(&mut report, input, text, mismatch);
    }
    report
}

/// One line of a file, with `width` columns underlined.
fn show_line(report: &mut String, source: Source<'_>, line: usize, column: usize, width: usize) {
    let text = source.text.lines().nth(line - 1).unwrap_or_default();
    let before = text.get(..column - 1).unwrap_or(text);
    let indent: String = before.chars().map(|char| if char == '\t' { '\t' } else { ' ' }).collect();
    let marked = text.get(column - 1..column - 1 + width).map_or(1, |marked| marked.chars().count().max(1));
    let _ = writeln!(report, "  --> {}:{line}:{column}", source.name);
    let _ = writeln!(report, "{line:>5} | {text}");
    let _ = writeln!(report, "      | {indent}{}", "^".repeat(marked));
}

fn show_variables(report: &mut String, mismatch: &Mismatch<'_>) {
    for piece in &mismatch.pattern.pieces {
        if let Piece::Use(name) = piece
            && let Some(value) = mismatch.variables.get(name)
        {
            let _ = writeln!(report, "      = {name} is {value:?}");
        }
    }
}

/// How many lines to show before and after the marked one.
const CONTEXT: usize = 4;

fn show_input(report: &mut String, input: Source<'_>, text: &str, mismatch: &Mismatch<'_>) {
    let line_of = |at: usize| text[..at].matches('\n').count();
    let first = line_of(mismatch.region.start);
    let last = line_of(mismatch.region.end.max(1) - 1).max(first);
    let (marked, what) = match &mismatch.found {
        Some(found) => (Some(line_of(found.start)), "the match is marked"),
        None => match closest_line(mismatch.pattern, &mismatch.variables, text, &mismatch.region) {
            Some(at) => (Some(line_of(at)), "the most similar line is marked"),
            None => (None, "no line is similar"),
        },
    };
    let _ = writeln!(report, "  searched lines {} to {} of {}; {what}:", first + 1, last + 1, input.name);
    let middle = marked.unwrap_or(first);
    let from = middle.saturating_sub(CONTEXT);
    for (index, line) in input.text.lines().enumerate().skip(from).take(middle + CONTEXT + 1 - from) {
        let mark = if marked == Some(index) { '>' } else { ' ' };
        let _ = writeln!(report, "{mark}{:>4} | {line}", index + 1);
    }
}

/// Where the line begins that is nearest to the pattern, if at most half of the pattern's literal text is
/// different.
fn closest_line(
    pattern: &Pattern,
    variables: &Variables,
    text: &str,
    region: &Range<usize>,
) -> Option<usize> {
    if matches!(pattern.kind, Kind::Empty | Kind::End) {
        return None;
    }
    let mut elements = Vec::new();
    for piece in &pattern.pieces {
        let literal = match piece {
            Piece::Literal(literal) => Some(literal),
            Piece::Use(name) => variables.get(name),
            Piece::Regex(_) | Piece::Define { .. } => None,
        };
        match literal {
            Some(literal) => elements.extend(literal.chars().map(Some)),
            None => elements.push(None),
        }
    }
    let mut at = region.start;
    let mut best: Option<(usize, usize)> = None;
    for line in text[region.clone()].split_inclusive('\n') {
        let distance = distance(&elements, line.trim_end_matches('\n'));
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, at));
        }
        at += line.len();
    }
    let literal_length = elements.iter().flatten().filter(|char| **char != ' ').count();
    best.filter(|(distance, _)| distance * 2 <= literal_length).map(|(_, at)| at)
}

/// The least number of edits that make the pattern match somewhere in the line (Sellers' algorithm); `None`
/// is a gap that takes any text for free. Only the beginning of very long lines is looked at.
fn distance(pattern: &[Option<char>], line: &str) -> usize {
    const LONGEST: usize = 1000;
    let line: Vec<char> = line.chars().take(LONGEST).collect();
    let mut above = vec![0; line.len() + 1];
    for element in pattern {
        let mut row = Vec::with_capacity(above.len());
        row.push(above[0] + usize::from(element.is_some()));
        for (index, char) in line.iter().enumerate() {
            let left = row[index];
            row.push(match element {
                None => left.min(above[index + 1]),
                Some(wanted) => {
                    let replaced = above[index] + usize::from(wanted != char);
                    replaced.min(left + 1).min(above[index + 1] + 1)
                }
            });
        }
        above = row;
    }
    above.into_iter().min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances() {
        let pattern = |text: &str| text.chars().map(|char| (char != '*').then_some(char)).collect::<Vec<_>>();
        for (text, line, expected) in [
            ("add", "x = add y", 0),
            ("add", "x = and y", 1),
            ("add", "", 3),
            ("a*d", "xabcdx", 0),
            ("a*d", "xabcx", 1),
            ("abcd", "xacdx", 1),
            ("*", "", 0),
        ] {
            assert_eq!(distance(&pattern(text), line), expected, "{text} in {line}");
        }
    }
}

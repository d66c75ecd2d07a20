//! `--verify-diagnostics`: a file announces in comments what is wrong with it.
//!
//! `// expected-error@+1 {{text}}` announces an error on the next line whose message contains the text; so do
//! `expected-warning` and `expected-remark`. `@+2` and `@-1` count lines, `@above` and `@below` are `@-1` and `@+1`,
//! nothing means the same line, and `@unknown` a diagnostic without a place. Whatever is announced must come, and
//! nothing else.

use tofu_diagnostics::{Diagnostic, FileId, Severity, SourceMap, Span, codes};

/// An announced diagnostic.
struct Expectation<'t> {
    severity: Severity,
    /// None for a diagnostic without a place in the file.
    line: Option<u32>,
    text: &'t str,
    span: Span,
}

/// What speaks against `diagnostics` being exactly what `file` announces.
pub(crate) fn verify(sources: &SourceMap, file: FileId, diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
    let (expectations, mut found) = read(sources, file);
    let mut open: Vec<Option<Expectation<'_>>> = expectations.into_iter().map(Some).collect();
    for diagnostic in diagnostics {
        let line = sources.position(diagnostic.primary.span).filter(|at| at.file == file).map(|at| at.line);
        let fits = |expectation: &Expectation<'_>| {
            expectation.severity == diagnostic.severity
                && expectation.line == line
                && diagnostic.message.contains(expectation.text)
        };
        // Of several that fit, the one that says most: a vague one may be needed for another diagnostic.
        let fitting = open.iter_mut().filter(|expectation| expectation.as_ref().is_some_and(fits));
        match fitting.max_by_key(|expectation| expectation.as_ref().map(|expectation| expectation.text.len()))
        {
            Some(expectation) => *expectation = None,
            None => {
                let message = format!("unexpected {}: {}", name(diagnostic.severity), diagnostic.message);
                found.push(Diagnostic::error(
                    &codes::UNEXPECTED_DIAGNOSTIC,
                    diagnostic.primary.span,
                    message,
                ));
            }
        }
    }
    for Expectation { severity, line, text, span } in open.into_iter().flatten() {
        let place = line.map_or("anywhere".to_owned(), |line| format!("on line {line}"));
        let message = format!("no {} with `{text}` came {place}", name(severity));
        found.push(Diagnostic::error(&codes::MISSING_DIAGNOSTIC, span, message));
    }
    found.sort_by_key(|diagnostic| diagnostic.primary.span.start);
    found
}

fn name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Remark => "remark",
    }
}

fn read(sources: &SourceMap, file: FileId) -> (Vec<Expectation<'_>>, Vec<Diagnostic>) {
    let source = sources.file(file);
    let (mut expectations, mut wrong) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(source.text().split('\n')) {
        let line_start = source.span().start + source.line_range(number).start as u32;
        let Some(comment) = line.find("//") else { continue };
        let mut at = comment;
        while let Some(found) = line[at..].find("expected-") {
            let start = at + found;
            let kind = &line[start + "expected-".len()..];
            if !["error", "warning", "remark"].iter().any(|name| kind.starts_with(name)) {
                at = start + "expected-".len();
                continue;
            }
            let (length, parsed) = expectation(&line[start..], number);
            let span = Span::new(line_start + start as u32, line_start + (start + length) as u32);
            at = start + length;
            match parsed {
                Ok((severity, line, text)) => expectations.push(Expectation { severity, line, text, span }),
                Err(message) => wrong.push(Diagnostic::error(&codes::BAD_EXPECTATION, span, message)),
            }
        }
    }
    (expectations, wrong)
}

type Announced<'t> = Result<(Severity, Option<u32>, &'t str), String>;

/// Reads `expected-error@+1 {{text}}` at the start of `text`, which stands on line `line`, and how long it is.
fn expectation(text: &str, line: u32) -> (usize, Announced<'_>) {
    let Some(open) = text.find("{{") else {
        return (text.len(), Err("the expected text stands in `{{` and `}}`".to_owned()));
    };
    let Some(length) = text[open..].find("}}").map(|close| open + close + 2) else {
        return (text.len(), Err("`}}` is missing".to_owned()));
    };
    let head = text["expected-".len().min(open)..open].trim();
    let (kind, place) = head.split_once('@').unwrap_or((head, "+0"));
    let severity = match kind {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "remark" => Severity::Remark,
        _ => return (length, Err(format!("`{kind}` is none of `error`, `warning`, `remark`"))),
    };
    let line = match place {
        "above" => line.checked_sub(1).filter(|&line| line > 0),
        "below" => Some(line + 1),
        "unknown" => return (length, Ok((severity, None, &text[open + 2..length - 2]))),
        _ => place
            .parse::<i32>()
            .ok()
            .and_then(|offset| line.checked_add_signed(offset))
            .filter(|&line| line > 0),
    };
    match line {
        None if place.starts_with(['-', 'a']) => {
            (length, Err(format!("`@{place}` is before the start of the file")))
        }
        Some(line) if place.starts_with(['+', '-', 'a', 'b']) => {
            (length, Ok((severity, Some(line), &text[open + 2..length - 2])))
        }
        _ => (length, Err(format!("`@{place}` is none of `@+1`, `@-1`, `@above`, `@below`, `@unknown`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages about a file in which an error says "wrong" on line 2.
    fn check(text: &str) -> Vec<String> {
        let mut sources = SourceMap::new();
        let file = sources.add("f", text).unwrap();
        let start = sources.file(file).span().start + sources.file(file).line_range(2).start as u32;
        let wrong = Diagnostic::error(&codes::SYNTAX, Span::new(start, start), "all wrong here");
        verify(&sources, file, &[wrong]).into_iter().map(|found| found.message).collect()
    }

    #[test]
    fn what_is_announced_must_come_and_nothing_else() {
        assert!(check("// expected-error@+1 {{wrong}}\n\n").is_empty());
        assert!(check("\nx // expected-error {{wrong here}}\n").is_empty());
        assert!(check("\n\n// expected-error@above {{wrong}}").is_empty());
        assert_eq!(check("\n\n"), ["unexpected error: all wrong here"]);
        let both = check("// expected-warning@+1 {{wrong}}\n\n");
        assert_eq!(both, ["no warning with `wrong` came on line 2", "unexpected error: all wrong here"]);
        let twice = check("// expected-error@+1 {{wrong}} expected-error@+1 {{wrong}}\n\n");
        assert_eq!(twice, ["no error with `wrong` came on line 2"]);
    }

    #[test]
    fn wrong_announcements_are_errors() {
        assert_eq!(
            check("\n// expected-error {{wrong"),
            ["unexpected error: all wrong here", "`}}` is missing"]
        );
        assert!(check("\n// expected-errors {{wrong}}")[1].starts_with("`errors` is none of"));
        assert!(check("\n// expected-error@1 {{wrong}}")[1].starts_with("`@1` is none of"));
        let before = check("// expected-error@-1 {{wrong}}\n");
        assert!(before[0].ends_with("before the start of the file"), "{before:?}");
        assert_eq!(check("\n// what was expected-as-usual\n"), ["unexpected error: all wrong here"]);
    }
}

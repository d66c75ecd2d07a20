//! A report for people: what is wrong, the lines it is about, notes and help.
//!
//! miette draws the lines. Its handler knows one source text a report and has no notes, so a diagnostic becomes a
//! series of small reports, each with its own heading: `error[T0101]:` with the file of the primary label, `note:`
//! with each other file, and the notes and the help without lines.

use std::fmt;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

use super::excerpt::{Excerpt, TAB_WIDTH};
use super::text::paragraph;
use super::{severity_name, short};
use crate::{Diagnostic, FileId, Label, Severity, SourceMap};

/// Narrower terminals are treated as this wide.
const LEAST_WIDTH: usize = 40;
/// The columns to the left of a line of the program: its number and the arrows of labels over several lines.
const GUTTER: usize = 12;
/// So many secondary places are shown.
const MOST_PLACES: usize = 8;

pub(super) fn report(map: &SourceMap, diagnostic: &Diagnostic, color: bool, width: usize) -> String {
    let width = width.max(LEAST_WIDTH);
    let mut out = String::new();
    let drawn =
        reports(map, diagnostic, width).iter().try_for_each(|report| report.draw(&mut out, color, width));
    if drawn.is_err() {
        // The words matter more than the drawing.
        out = short::line(map, diagnostic);
    }
    out.push('\n');
    out
}

fn reports(map: &SourceMap, diagnostic: &Diagnostic, width: usize) -> Vec<Report> {
    let severity = match diagnostic.severity {
        Severity::Error => miette::Severity::Error,
        Severity::Warning => miette::Severity::Warning,
        Severity::Remark => miette::Severity::Advice,
    };
    let columns = width - GUTTER;
    let primary_file = map.file_of(diagnostic.primary.span);
    let (files, placeless) = labels_by_file(map, diagnostic);

    let heading = format!("{}[{}]:", severity_name(diagnostic.severity), diagnostic.code.id);
    let mut first = Report::new(heading, severity, &diagnostic.message);
    let mut reports = Vec::new();
    for (file, labels) in &files {
        if Some(*file) == primary_file {
            first.excerpt = Some(Excerpt::new(map, *file, labels, columns));
        } else {
            reports.push(Report::elsewhere(map, *file, labels, columns));
        }
    }
    reports.insert(0, first);

    let more = diagnostic.secondary.len().saturating_sub(MOST_PLACES);
    let more = (more > 0).then(|| format!("{more} more places are not shown"));
    let notes =
        placeless.iter().copied().chain(diagnostic.notes.iter().map(String::as_str)).chain(more.as_deref());
    reports.extend(notes.map(Report::note));
    reports.extend(diagnostic.help.as_deref().map(Report::help));
    reports
}

/// The labels that are shown, with whether they are the primary one, by file in the order of their first label, and
/// the texts of those that lie in no file.
type LabelsByFile<'a> = (Vec<(FileId, Vec<(&'a Label, bool)>)>, Vec<&'a str>);

fn labels_by_file<'a>(map: &SourceMap, diagnostic: &'a Diagnostic) -> LabelsByFile<'a> {
    let mut files: Vec<(FileId, Vec<(&Label, bool)>)> = Vec::new();
    let mut placeless = Vec::new();
    let secondary = diagnostic.secondary.iter().take(MOST_PLACES).map(|label| (label, false));
    for (label, is_primary) in std::iter::once((&diagnostic.primary, true)).chain(secondary) {
        let Some(file) = map.file_of(label.span) else {
            placeless.extend(Some(label.text.as_str()).filter(|text| !text.is_empty()));
            continue;
        };
        match files.iter_mut().find(|(known, _)| *known == file) {
            Some((_, labels)) => labels.push((label, is_primary)),
            None => files.push((file, vec![(label, is_primary)])),
        }
    }
    (files, placeless)
}

/// A heading, a text, and lines of one file.
#[derive(Debug)]
struct Report {
    heading: String,
    severity: miette::Severity,
    message: String,
    excerpt: Option<Excerpt>,
}

impl Report {
    fn new(heading: impl Into<String>, severity: miette::Severity, message: &str) -> Report {
        Report { heading: heading.into(), severity, message: paragraph(message), excerpt: None }
    }

    fn note(text: &str) -> Report {
        Report::new("note:", miette::Severity::Advice, text)
    }

    fn help(text: &str) -> Report {
        Report::new("help:", miette::Severity::Advice, text)
    }

    /// A note with the lines of a file that is not the primary label's.
    fn elsewhere(map: &SourceMap, file: FileId, labels: &[(&Label, bool)], columns: usize) -> Report {
        let mut excerpt = Excerpt::new(map, file, labels, columns);
        let mut report = match labels {
            // The note says it; the label need not repeat it.
            [(label, _)] if !label.text.is_empty() => {
                excerpt.marks.truncate(1);
                excerpt.marks.iter_mut().for_each(|mark| mark.text.clear());
                Report::note(&label.text)
            }
            _ => Report::note("see also"),
        };
        report.excerpt = Some(excerpt);
        report
    }

    fn draw(&self, out: &mut String, color: bool, width: usize) -> fmt::Result {
        let mut theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let icons = &mut theme.characters;
        for icon in [&mut icons.error, &mut icons.warning, &mut icons.advice] {
            icon.clone_from(&self.heading);
        }
        let mut text = String::new();
        GraphicalReportHandler::new_themed(theme)
            .with_links(false)
            .with_width(width)
            .with_context_lines(1)
            .tab_width(TAB_WIDTH)
            .render_report(&mut text, self)?;
        for line in text.lines() {
            // What belongs to the first heading is indented, it is not.
            out.push_str(
                if out.is_empty() { line.trim_start_matches(' ') } else { line }.trim_end_matches(' '),
            );
            out.push('\n');
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report {}

impl miette::Diagnostic for Report {
    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let marks = &self.excerpt.as_ref()?.marks;
        Some(Box::new(marks.iter().map(|mark| {
            let text = Some(mark.text.clone()).filter(|text| !text.is_empty());
            if mark.is_primary {
                LabeledSpan::new_primary_with_span(text, mark.bytes.clone())
            } else {
                LabeledSpan::new_with_span(text, mark.bytes.clone())
            }
        })))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::{Span, codes};

    const PROGRAM: &str = "\
module @mlp {
  func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = tensor.tranpose %x
    return %y
  }
}
";

    /// One file with the places that its brackets `⟦…⟧` mark, in order.
    struct Marked {
        map: SourceMap,
        spans: Vec<Span>,
    }

    impl Marked {
        fn new(text: &str) -> Marked {
            let mut marked = Marked { map: SourceMap::new(), spans: Vec::new() };
            marked.add("a.tir", text);
            marked
        }

        fn add(&mut self, name: &str, text: &str) {
            let base = self.map.files().last().map_or(1, |(_, file)| file.span().end + 1);
            let (mut plain, mut open) = (String::new(), Vec::new());
            for c in text.chars() {
                let here = base + plain.len() as u32;
                match c {
                    '⟦' => open.push(here),
                    '⟧' => self.spans.push(Span::new(open.pop().unwrap(), here)),
                    _ => plain.push(c),
                }
            }
            self.map.add(name, plain).unwrap();
        }

        fn error(&self, message: &str) -> Diagnostic {
            Diagnostic::error(&codes::SYNTAX, self.spans[0], message)
        }

        fn report(&self, diagnostic: &Diagnostic) -> String {
            report(&self.map, diagnostic, false, 80)
        }
    }

    /// The report of an error at the only mark of `text`, labelled "here".
    fn error_at(text: &str) -> String {
        let marked = Marked::new(text);
        marked.report(&marked.error("wrong").label("here"))
    }

    #[test]
    fn ordinary() {
        let marked = Marked::new(&PROGRAM.replace("tensor.tranpose", "⟦tensor.tranpose⟧"));
        let error = Diagnostic::error(&codes::UNKNOWN_OP, marked.spans[0], "unknown op `tensor.tranpose`")
            .label("no such op in the dialect `tensor`")
            .note("the dialect `tensor` is registered and has 97 ops; an op of another crate is known only to tools that register it")
            .help("did you mean `tensor.transpose`?");
        insta::assert_snapshot!(marked.report(&error), @r#"
        error[T0201]: unknown op `tensor.tranpose`
           ╭─[a.tir:3:10]
         2 │   func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
         3 │     %y = tensor.tranpose %x
           ·          ───────┬───────
           ·                 ╰── no such op in the dialect `tensor`
         4 │     return %y
           ╰────
          note: the dialect `tensor` is registered and has 97 ops; an op of another
          │ crate is known only to tools that register it
          help: did you mean `tensor.transpose`?
        "#);
    }

    #[test]
    fn several_labels() {
        let marked = Marked::new("⟦%a⟧ = tensor.add ⟦%b⟧, ⟦%c⟧\n\n\n\n\n// far\n%b = ⟦tensor⟧.tanh %b\n");
        let warning = Diagnostic::warning(&codes::SHAPE_MISMATCH, marked.spans[0], "shapes disagree")
            .label("here")
            .secondary(marked.spans[1], "4 elements")
            .secondary(marked.spans[2], "8 elements")
            .secondary(marked.spans[3], "defined here");
        insta::assert_snapshot!(marked.report(&warning), @r#"
        warning[T0225]: shapes disagree
           ╭─[a.tir:1:1]
         1 │ %a = tensor.add %b, %c
           · ─┬              ─┬  ─┬
           ·  │               │   ╰── 8 elements
           ·  │               ╰── 4 elements
           ·  ╰── here
         2 │
           ╰────
           ╭─[a.tir:7:6]
         6 │ // far
         7 │ %b = tensor.tanh %b
           ·      ───┬──
           ·         ╰── defined here
           ╰────
        "#);
    }

    #[test]
    fn several_files() {
        let mut marked = Marked::new("module {\n  ⟦func⟧ @f()\n}\n");
        marked.add("b.tir", "// b\n⟦func⟧ @f()\n");
        marked.add("c.tir", "⟦func⟧ @f(⟦%x⟧)\n");
        let error =
            Diagnostic::error(&codes::REDEFINED_SYMBOL, marked.spans[1], "symbol `@f` is defined twice")
                .label("defined again")
                .secondary(marked.spans[0], "first defined here")
                .secondary(marked.spans[2], "and here")
                .secondary(marked.spans[3], "")
                .secondary(Span::NONE, "a builder made another one")
                .help("rename one of them");
        insta::assert_snapshot!(marked.report(&error), @r#"
        error[T0210]: symbol `@f` is defined twice
           ╭─[b.tir:2:1]
         1 │ // b
         2 │ func @f()
           · ──┬─
           ·   ╰── defined again
           ╰────
          note: first defined here
           ╭─[a.tir:2:3]
         1 │ module {
         2 │   func @f()
           ·   ────
         3 │ }
           ╰────
          note: see also
           ╭─[c.tir:1:1]
         1 │ func @f(%x)
           · ──┬─    ──
           ·   ╰── and here
           ╰────
          note: a builder made another one
          help: rename one of them
        "#);
    }

    #[test]
    fn without_a_place() {
        let map = SourceMap::new();
        let remark =
            Diagnostic::remark(&codes::CANCELLED, Span::NONE, "cancelled").note("after 3 of 5 passes");
        insta::assert_snapshot!(report(&map, &remark, false, 80), @r#"
        remark[T0311]: cancelled
          note: after 3 of 5 passes
        "#);
    }

    #[test]
    fn at_the_end_of_the_file() {
        insta::assert_snapshot!(error_at("module {\n⟦⟧"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:2:1]
         1 │ module {
         2 │
           · ▲
           · ╰── here
           ╰────
        "#);
        insta::assert_snapshot!(error_at("module {⟦⟧"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:9]
         1 │ module {
           ·         ▲
           ·         ╰── here
           ╰────
        "#);
        insta::assert_snapshot!(error_at("⟦⟧"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:1]
         1 │
           · ▲
           · ╰── here
           ╰────
        "#);
    }

    #[test]
    fn empty_spans_and_line_breaks() {
        insta::assert_snapshot!(error_at("a ⟦⟧b\n"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:3]
         1 │ a b
           ·   ▲
           ·   ╰── here
           ╰────
        "#);
        insta::assert_snapshot!(error_at("a b⟦\n⟧c\n"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:4]
         1 │ a b
           ·    ▲
           ·    ╰── here
         2 │ c
           ╰────
        "#);
        insta::assert_snapshot!(error_at("a\r\nb ⟦c\r\n⟧d\r\n"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:2:3]
         1 │ a
         2 │ b c
           ·   ┬
           ·   ╰── here
         3 │ d
           ╰────
        "#);
        insta::assert_snapshot!(error_at("a\r⟦b⟧\r\n"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:3]
         1 │ a␍b
           ·   ┬
           ·   ╰── here
           ╰────
        "#);
    }

    #[test]
    fn tabs_and_control_characters() {
        insta::assert_snapshot!(error_at("\ta\t⟦b\tc⟧\t\n"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:4]
         1 │     a   b   c
           ·         ──┬──
           ·           ╰── here
           ╰────
        "#);
        insta::assert_snapshot!(error_at("a \u{1b}[31m\u{0}\u{202e} ⟦b\u{7f}⟧\n"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:11]
         1 │ a ␛[31m␀\u{202e} b␡
           ·                  ─┬
           ·                   ╰── here
           ╰────
        "#);
        let marked = Marked::new("⟦a⟧\n");
        let error = marked.error("two\nlines \u{1b}[2J").label("also\ntwo \u{7}").help("a\tb");
        insta::assert_snapshot!(marked.report(&error), @r#"
        error[T0101]: two
          │ lines ␛[2J
           ╭─[a.tir:1:1]
         1 │ a
           · ┬
           · ╰─┤ also
           ·   │ two ␇
           ╰────
          help: a b
        "#);
    }

    #[test]
    fn wide_characters() {
        insta::assert_snapshot!(error_at("%値 = ⟦テンソル⟧.tanh %é́ // 🦀\n"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:6]
         1 │ %値 = テンソル.tanh %é́ // 🦀
           ·       ────┬───
           ·           ╰── here
           ╰────
        "#);
    }

    #[test]
    fn long_lines_are_cut() {
        let digits = "0123456789".repeat(1_000_000);
        insta::assert_snapshot!(error_at(&format!("a\n{digits}⟦x⟧{digits}\n{digits}")), @r#"
        error[T0101]: wrong
           ╭─[a.tir:2:10000001]
         1 │ a
         2 │ …789012345678901234567890123456789x0123456789012345678901234567890123…
           ·                                   ┬
           ·                                   ╰── here
         3 │ 01234567890123456789012345678901234567890123456789012345678901234567…
           ╰────
        "#);
        insta::assert_snapshot!(error_at(&format!("dense<⟦[{digits}]⟧>")), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:7]
         1 │ dense<[012345678901234567890123456…89012345678901234567890123456789]>
           ·       ───────────────────────────────┬──────────────────────────────
           ·                                      ╰── here
           ╰────
        "#);
    }

    #[test]
    fn many_lines_are_cut() {
        let lines = "  line\n".repeat(1000);
        insta::assert_snapshot!(error_at(&format!("module ⟦{{\n{lines}}}⟧\n")), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:8]
         1 │ module {
           ·        ┬
           ·        ╰── here
         2 │   line
           ╰────
              ╭─[a.tir:1002:1]
         1001 │   line
         1002 │ }
              · ┬
              · ╰── to here
              ╰────
        "#);
        insta::assert_snapshot!(error_at("a ⟦{\n  b\n}⟧ c\n"), @r#"
        error[T0101]: wrong
           ╭─[a.tir:1:3]
         1 │ ╭─▶ a {
         2 │ │     b
         3 │ ├─▶ } c
           · ╰──── here
           ╰────
        "#);
    }

    #[test]
    fn many_places_are_cut() {
        let marked = Marked::new(&"⟦x⟧\n".repeat(1000));
        let error = marked.spans.iter().fold(marked.error("wrong"), |error, &span| error.secondary(span, ""));
        let report = marked.report(&error);
        assert!(report.contains("note: 992 more places are not shown"), "{report}");
        assert!(report.lines().count() < 40, "{report}");
    }

    #[test]
    fn colours_are_only_paint() {
        let marked = Marked::new(&PROGRAM.replace("%x\n", "⟦%x⟧\n"));
        let error = marked.error("wrong").label("here").note("a note").help("some help");
        let colored = report(&marked.map, &error, true, 80);
        let mut plain = String::new();
        let mut parts = colored.split("\u{1b}[");
        plain.extend(parts.next());
        plain.extend(parts.map(|part| part.split_once('m').unwrap().1));
        assert_ne!(colored, plain);
        assert_eq!(plain, marked.report(&error));
    }

    #[test]
    fn any_span_of_any_text_is_drawn_fast() {
        let texts =
            ["", "\n", "\r\n", "é\r\n\tx\r\r\n\n\u{0}日本", "a\n\n\n\n\n\n\n\n\n\nb", "\u{feff}a\u{301}"];
        let mut map = SourceMap::new();
        for (index, text) in texts.iter().enumerate() {
            map.add(index.to_string(), *text).unwrap();
        }
        let began = Instant::now();
        let end = map.files().last().unwrap().1.span().end + 2;
        for start in 0..end {
            for end in start..end {
                for other in [1, end / 2, end] {
                    let error = Diagnostic::error(&codes::SYNTAX, Span::new(start, end), "wrong")
                        .label("here")
                        .secondary(Span::new(other, end), "there");
                    let report = report(&map, &error, false, 80);
                    let has_place = map.file_of(error.primary.span).is_some();
                    assert_eq!(
                        report.contains("╭─["),
                        has_place || map.file_of(Span::new(other, end)).is_some()
                    );
                    assert!(report.starts_with("error[T0101]: wrong\n"), "{report}");
                    assert!(!report.chars().any(|c| c.is_control() && c != '\n'), "{report:?}");
                }
            }
        }
        assert!(began.elapsed() < Duration::from_secs(60));
    }
}

//! One line a diagnostic.

use super::severity_name;
use super::text::one_line;
use crate::{Diagnostic, SourceMap};

pub(super) fn line(map: &SourceMap, diagnostic: &Diagnostic) -> String {
    let place = map.position(diagnostic.primary.span).map_or_else(String::new, |at| {
        format!("{}:{}:{}: ", one_line(map.file(at.file).name()), at.line, at.column)
    });
    let help = diagnostic.help.as_deref();
    let help = help.map_or_else(String::new, |help| format!(" (help: {})", one_line(help)));
    let severity = severity_name(diagnostic.severity);
    format!("{place}{severity}[{}]: {}{help}\n", diagnostic.code.id, one_line(&diagnostic.message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Span, codes};

    #[test]
    fn a_diagnostic_is_one_line() {
        let mut map = SourceMap::new();
        let file = map.add("dir/a.tir", "module {\r\n  %é x\n}").unwrap();
        let start = map.file(file).span().start;
        let span = Span::new(start + 16, start + 17);
        assert_eq!(map.text(span), "x");

        let error = Diagnostic::error(&codes::SYNTAX, span, "expected `=`\nfound \u{1b}[31m");
        insta::assert_snapshot!(line(&map, &error), @r"dir/a.tir:2:6: error[T0101]: expected `=`\nfound \u{1b}[31m");
        let warning = Diagnostic::warning(&codes::NOT_CONVERGED, Span::NONE, "no fixed point");
        let warning = warning.help("raise the limit").note("not shown");
        insta::assert_snapshot!(line(&map, &warning), @"warning[T0308]: no fixed point (help: raise the limit)");
        let at_end = Diagnostic::remark(&codes::SYNTAX, Span::new(start + 19, start + 19), "the end");
        insta::assert_snapshot!(line(&map, &at_end), @"dir/a.tir:3:2: remark[T0101]: the end");
    }
}

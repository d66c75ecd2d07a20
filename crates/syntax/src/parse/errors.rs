//! What the grammar did not accept, said in the user's words.

use pest::error::{Error, ErrorVariant, InputLocation};
use tofu_diagnostics::{Diagnostic, codes};

use super::{Parser, Rule};

impl Parser<'_> {
    /// The diagnostic for a statement that starts at `start` and that the grammar refused, and how far it was read.
    pub(super) fn grammar_error(&self, start: usize, error: &Error<Rule>) -> (Diagnostic, usize) {
        let at = start
            + match error.location {
                InputLocation::Pos(at) => at,
                InputLocation::Span((at, _)) => at,
            };
        let positives = match &error.variant {
            ErrorVariant::ParsingError { positives, .. } => positives,
            ErrorVariant::CustomError { .. } => {
                let message = "brackets nest too deep";
                let place = self.span(start, start);
                return (Diagnostic::error(&codes::NESTING_TOO_DEEP, place, message), start);
            }
        };
        let (found, end) = self.token_at(at);
        let expected = list(positives);
        let place = self.span(at, end);
        let code = if at >= self.text.len() || self.opens_unclosed_string(at) {
            &codes::UNTERMINATED
        } else {
            &codes::SYNTAX
        };
        let message = if self.opens_unclosed_string(at) {
            "the string is not closed on its line".to_owned()
        } else {
            format!("expected {expected}, found {found}")
        };
        (Diagnostic::error(code, place, message), at)
    }

    /// The token at `at` as a message names it, and where it ends.
    pub(super) fn token_at(&self, at: usize) -> (String, usize) {
        let rest = &self.text[at..];
        let Some(first) = rest.chars().next() else { return ("the end of the text".to_owned(), at) };
        if first == '\n' {
            return ("the end of the line".to_owned(), at);
        }
        let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
        let length = match first {
            '%' | '^' | '@' | '#' => 1 + rest[1..].find(|c: char| !is_inner(c)).unwrap_or(rest.len() - 1),
            c if is_inner(c) => rest.find(|c: char| !is_inner(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let token: String = rest[..length].chars().take(40).collect();
        (format!("`{}`", token.escape_debug()), at + length)
    }

    fn opens_unclosed_string(&self, at: usize) -> bool {
        let Some(rest) = self.text[at..].strip_prefix('"') else { return false };
        let line = rest.split('\n').next().unwrap_or("");
        let mut escaped = false;
        !line.chars().any(|c| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        })
    }
}

/// Rules as a list in prose. Parts of what is also listed, and what only stands for the end, are left out.
fn list(rules: &[Rule]) -> String {
    let mut names: Vec<&str> = rules.iter().filter_map(|&rule| rule_name(rule)).collect();
    names.sort_unstable();
    names.dedup();
    // Where anything may follow, a list of all of it helps nobody.
    if names.len() > 3 && names.contains(&NEXT_OP) {
        return "the rest of this op, or the next one".to_owned();
    }
    match names.as_slice() {
        [] => "something else".to_owned(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

const NEXT_OP: &str = "the next op";

fn rule_name(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::value | Rule::bare_operands | Rule::operands => "a value (`%name`)",
        Rule::block => "a block (`^name`)",
        Rule::string | Rule::quoted => "a string",
        Rule::symbol | Rule::symbol_path => "a symbol (`@name`)",
        Rule::op_name => "an op",
        Rule::word | Rule::key | Rule::entry => "a name",
        Rule::number | Rule::typed_number | Rule::integer => "a number",
        Rule::ty | Rule::type_parts | Rule::type_list | Rule::plain_type => "a type",
        Rule::types | Rule::tail => "`:` and the result types",
        Rule::dim => "an extent (`4`, `?` or `{name}`)",
        Rule::element => "an element type",
        Rule::dict | Rule::attributes => "attributes (`{…}`)",
        Rule::attribute | Rule::array | Rule::dialect_attribute | Rule::typed_dense => "an attribute",
        Rule::dense | Rule::dense_body | Rule::dense_text => "a constant (`dense<…>`)",
        Rule::parameters => "parameters (`(%x: type)`)",
        Rule::parameter => "a parameter (`%x: type`)",
        Rule::function_results | Rule::function_result => "result types",
        Rule::results => "results (`%name =`)",
        Rule::successors | Rule::successor => "successors (`[^block]`)",
        Rule::body => "`{`",
        Rule::after | Rule::EOI => NEXT_OP,
        Rule::location | Rule::location_body | Rule::named => "a location (`loc(…)`)",
        Rule::unknown | Rule::callsite | Rule::fused => "a location (`loc(…)`)",
        _ => return None,
    })
}

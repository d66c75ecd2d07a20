//! What the grammar did not accept, said in the user's words.

use pest::error::{Error, ErrorVariant, InputLocation};
use tofu_diagnostics::{Diagnostic, Span, codes};

use super::{Parser, Rule};

impl Parser<'_> {
    /// The diagnostic for a text that starts at `start` and that the grammar refused, and how far it was read.
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
                let place = self.span(start, self.token_at(start).1);
                return (Diagnostic::error(&codes::NESTING_TOO_DEEP, place, message), start);
            }
        };
        let (found, end) = self.token_at(at);
        let place = self.span(at, end);
        let rest = &self.text[at..];
        let diagnostic = if opens_unclosed_string(rest) {
            Diagnostic::error(&codes::UNTERMINATED, place, "the string is not closed on its line")
                .help("add `\"`")
        } else if rest.starts_with('<') && self.text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) {
            Diagnostic::error(&codes::UNTERMINATED, place, "`<` is not closed").help("add `>`")
        } else if rest.starts_with('[') && positives.contains(&Rule::definition) {
            Diagnostic::error(&codes::UNTERMINATED, place, "`[` is not closed").help("add `]`")
        } else {
            let code = if rest.is_empty() { &codes::UNTERMINATED } else { &codes::SYNTAX };
            let message = format!("expected {}, found {found}", list(positives));
            Diagnostic::error(code, place, message).maybe_help(help(rest))
        };
        (diagnostic, at)
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
        let token = &rest[..length];
        let shown: String = token.chars().take(MAX_SHOWN).collect();
        let more = if shown.len() < token.len() { "…" } else { "" };
        let quotes_are_fine = |c: char| -> String {
            if matches!(c, '"' | '\'' | '\\') { c.to_string() } else { c.escape_debug().collect() }
        };
        (format!("`{}{more}`", shown.chars().map(quotes_are_fine).collect::<String>()), at + length)
    }

    /// The token at `at` as a message names it, and where it stands. At the end of the text there is nothing to point
    /// at but its last character.
    pub(super) fn token_place(&self, at: usize) -> (String, Span) {
        let (token, end) = self.token_at(at);
        if end > at {
            return (token, self.span(at, end));
        }
        let last = self.text[..at].trim_end();
        let last = last.len() - last.chars().next_back().map_or(0, char::len_utf8);
        (token, self.span(last, at))
    }
}

/// A longer token is cut in a message.
const MAX_SHOWN: usize = 40;

fn opens_unclosed_string(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('"') else { return false };
    let line = rest.split('\n').next().unwrap_or("");
    let mut escaped = false;
    !line.chars().any(|c| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    })
}

/// What to do about a token that stands nowhere in the language.
fn help(text: &str) -> Option<String> {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
    let names = || "a name is made of letters from a to z, digits, `_`, `.`, `-` and `$`".to_owned();
    match text.strip_prefix(['%', '^']) {
        Some(rest) => (!rest.starts_with(is_inner)).then(names),
        None => text.starts_with(['/', ';']).then(|| "a comment begins with `//`".to_owned()),
    }
}

/// Rules as a list in prose.
fn list(rules: &[Rule]) -> String {
    let mut names: Vec<&str> = rules.iter().flat_map(|&rule| rule_names(rule)).copied().collect();
    names.sort_unstable();
    names.dedup();
    // Where anything may follow, a list of all of it helps nobody.
    if names.len() > 2 && names.contains(&LINE_END) {
        return "the rest of this op or the end of the line".to_owned();
    }
    if names.len() > 3 && names.contains(&ATTRIBUTE) {
        names = vec![ATTRIBUTE];
    }
    match names.as_slice() {
        [] => "something else".to_owned(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

const LINE_END: &str = "the end of the line";
const ATTRIBUTE: &str = "an attribute";

/// What a rule stands for in a message. Those that only hold others stand for nothing.
fn rule_names(rule: Rule) -> &'static [&'static str] {
    match rule {
        Rule::value | Rule::bare_operands => &["a value (`%name`)"],
        Rule::operands => &["operands in parentheses (`(%x)`)"],
        Rule::block => &["a block (`^name`)"],
        Rule::string => &["a string"],
        Rule::symbol | Rule::symbol_path => &["a symbol (`@name`)"],
        Rule::op_name
        | Rule::quoted
        | Rule::uniform_statement
        | Rule::uniform_head
        | Rule::generic_statement
        | Rule::generic_head
        | Rule::symbol_statement
        | Rule::symbol_head
        | Rule::value_statement
        | Rule::value_head => &["an op"],
        Rule::word | Rule::key | Rule::entry => &["a name"],
        Rule::number | Rule::typed_number | Rule::integer => &["a number"],
        Rule::ty | Rule::type_parts | Rule::type_list | Rule::plain_type | Rule::no_result_type => {
            &["a type"]
        }
        Rule::types | Rule::tail => &["`:` and the result types"],
        Rule::dim => &["an extent (`4`, `?` or `{name}`)"],
        Rule::element => &["an element type"],
        Rule::dict | Rule::attributes => &["attributes (`{…}`)"],
        Rule::attribute | Rule::array | Rule::dialect_attribute | Rule::typed_dense | Rule::parenthesized => {
            &[ATTRIBUTE]
        }
        Rule::dense | Rule::dense_body => &["a constant (`dense<…>`)"],
        Rule::parameters => &["parameters (`(%x: type)`)"],
        Rule::parameter => &["a parameter (`%x: type`)"],
        Rule::function_results | Rule::function_result => &["result types"],
        Rule::results => &["results (`%name =`)"],
        Rule::successors | Rule::successor => &["successors (`[^block]`)"],
        Rule::body => &["`{`"],
        Rule::after | Rule::EOI => &[LINE_END],
        Rule::location | Rule::location_body | Rule::named | Rule::unknown | Rule::callsite | Rule::fused => {
            &["a location"]
        }
        Rule::no_angle => &["`>`"],
        Rule::no_at => &["`at`"],
        Rule::no_brace => &["`,`", "`}`"],
        Rule::no_bracket => &["`,`", "`]`"],
        Rule::no_close => &["`)`"],
        Rule::no_colon => &["`:`"],
        Rule::no_equals => &["`,`", "`=`"],
        Rule::definition => &["`[`"],
        Rule::no_equals_sign => &["`=`"],
        Rule::no_open_angle => &["`<`"],
        Rule::no_paren => &["`,`", "`)`"],
        Rule::no_x => &["`x`"],
        _ => &[],
    }
}

//! What the grammar did not accept, said in the user's words.

use pest::error::{Error, ErrorVariant, InputLocation};
use tofu_diagnostics::{Diagnostic, Span, codes};

use super::Rule;

/// The diagnostic for a text that the grammar refused.
pub(super) fn grammar_error(text: &str, base: u32, error: &Error<Rule>) -> Diagnostic {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let place = |end: usize| Span::new(base + at as u32, base + end as u32);
    let ErrorVariant::ParsingError { positives, .. } = &error.variant else {
        return Diagnostic::error(&codes::NESTING_TOO_DEEP, place(at), "expressions nest too deep");
    };
    let rest = text.get(at..).unwrap_or("");
    let Some(first) = rest.chars().next() else {
        let message = format!("expected {}, found the end of the text", list(positives));
        return Diagnostic::error(&codes::UNTERMINATED, place(at), message);
    };
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    let length =
        if is_inner(first) { rest.find(|c| !is_inner(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
    let token: String = rest[..length].chars().take(40).collect();
    let message = format!("expected {}, found `{}`", list(positives), token.escape_debug());
    Diagnostic::error(&codes::SYNTAX, place(at + length), message)
}

/// Rules as a list in prose.
fn list(rules: &[Rule]) -> String {
    let mut names: Vec<&str> = rules.iter().filter_map(|&rule| rule_name(rule)).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => "something else".to_owned(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

fn rule_name(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::description | Rule::file => "`tdl`",
        Rule::symbol => "a symbol (`@name`)",
        Rule::word | Rule::type_param | Rule::slot | Rule::binder | Rule::slice => "a name",
        Rule::parameter | Rule::parameters => "a parameter (`name: [N]`)",
        Rule::shape | Rule::results | Rule::result => "a shape (`[N, M]`)",
        Rule::ty => "an element type",
        Rule::conditions | Rule::condition => "a condition (`where X = …`)",
        Rule::relation => "`=`, `<=`, `<`, `>=` or `>`",
        Rule::statement
        | Rule::combiner
        | Rule::comparator
        | Rule::intermediate
        | Rule::definition
        | Rule::target => "a definition (`out[i] = …`)",
        Rule::expr
        | Rule::conditional
        | Rule::unary
        | Rule::number
        | Rule::special
        | Rule::typed_call
        | Rule::opaque
        | Rule::reduction
        | Rule::call
        | Rule::access
        | Rule::name
        | Rule::prefix
        | Rule::sum
        | Rule::body
        | Rule::reduced => "an expression",
        Rule::factor | Rule::sign | Rule::comparison => "an operator",
        Rule::string => "a string",
        Rule::integer | Rule::signed => "an integer",
        Rule::indices => "indices (`[i, j]`)",
        Rule::EOI => "the end",
        _ => return None,
    })
}

//! `tdl @name(…) -> … { … }`.

use std::sync::Arc;

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_ir::{
    AttrData, Builder, Module, OpDef, OpId, STRING, SYMBOL_DEFINITION, SYMBOL_NAME, Syntax, Trait, op,
    required,
};
use tofu_tdl::{Description, OpaqueRegistry, parse};

/// The attribute that holds the text of a description behind the operator's name.
pub const TEXT: &str = "text";

/// `tdl @name(…) -> … { … }`: an operator that the program describes.
pub static OPERATOR: OpDef = op("tdl.operator")
    .keyword("tdl")
    .summary(
        "Describes an operator: each element of its results, as an expression of elements of its operands.",
    )
    .example("tdl @scale(x: [N], factor: []) -> [N] {\n  out[n] = x[n] * factor[]\n}")
    .attributes(&[required(SYMBOL_NAME, SYMBOL_DEFINITION), required(TEXT, STRING)])
    .syntax(Syntax::Text(TEXT))
    .traits(&[Trait::Symbol, Trait::TopLevel])
    .verify(|module, op, found| {
        found.extend(description(module, op).as_ref().as_ref().err().into_iter().flatten().cloned())
    });

/// Adds an operator at the end of a program. `text` is its description from behind the name on:
/// `(x: [N]) -> [N] { out[n] = x[n] }`.
///
/// # Errors
/// All that is wrong with the description.
pub fn build_operator(module: &mut Module, name: &str, text: &str) -> Result<OpId, Vec<Diagnostic>> {
    let body = module.body();
    let symbol = module.interner.symbol(name);
    let string = module.interner.attr(AttrData::String(text.into()));
    let op = Builder::at_end(module, body).op(&OPERATOR).attr(SYMBOL_NAME, symbol).attr(TEXT, string).build();
    match &*description(module, op) {
        Ok(_) => Ok(op),
        Err(found) => {
            let found = found.clone();
            module.erase(op);
            Err(found)
        }
    }
}

/// What an operator's text says.
pub(crate) type Read = Result<Description, Vec<Diagnostic>>;

/// The description of an [`OPERATOR`], or all that is wrong with it. The text is read once, however many calls ask.
pub(crate) fn description(module: &Module, operator: OpId) -> Arc<Read> {
    module.memo(operator, || read(module, operator))
}

fn read(module: &Module, operator: OpId) -> Read {
    let name = module.symbol_name(operator).map_or("", |name| module.text(name));
    let Some(AttrData::String(text)) = module.attr_value(operator, TEXT) else { return Err(Vec::new()) };
    if !is_plain(name) {
        let message = format!("`{}` cannot be the name of an operator", name.escape_debug());
        let place = module.attr_span(operator, SYMBOL_NAME);
        let help = "its name begins with a letter or `_` and goes on with letters, digits, `_`, `.` and `$`";
        return Err(vec![Diagnostic::error(&codes::TDL_UNKNOWN_NAME, place, message).help(help)]);
    }
    let head = format!("tdl @{name}");
    let place = module.attr_span(operator, TEXT);
    // Only a text that is written as it is has as many bytes as where it is written; quotes add some.
    let is_verbatim = place.end - place.start == text.len() as u32;
    let base = if is_verbatim { place.start.saturating_sub(head.len() as u32) } else { 0 };
    let described = parse(&(head + text), base, &OpaqueRegistry::builtin());
    if is_verbatim {
        return described;
    }
    match described {
        Ok(description) => Ok(description.without_places()),
        Err(found) => Err(found.into_iter().map(|diagnostic| placed(diagnostic, place)).collect()),
    }
}

/// A diagnostic whose own places mean nothing, at a place that does.
fn placed(mut diagnostic: Diagnostic, place: Span) -> Diagnostic {
    diagnostic.primary.span = place;
    diagnostic.secondary.clear();
    diagnostic
}

/// Whether the description language takes a name.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'))
}

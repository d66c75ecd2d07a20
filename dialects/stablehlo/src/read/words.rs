//! The words of a diagnostic about a program that is written in StableHLO.

use tofu_diagnostics::Diagnostic;

use crate::syntax::{AttributeSyntax, foreign_name, syntax};

/// Names ops and their attributes in a diagnostic about a program that is written in StableHLO as they are named there.
/// Whoever looks at our ops, the verifier as the interpreter, names ours.
pub fn in_foreign_words(found: &mut Diagnostic) {
    // The op that the message names first is the one whose attributes it names.
    let op = found.message.split('`').skip(1).step_by(2).find_map(foreign_name);
    let attributes = op.as_deref().map_or(&[][..], |op| syntax(op).attributes);
    let renamed = |text: &str| {
        let parts = text.split('`').enumerate();
        let parts = parts.map(|(index, part)| match index % 2 {
            1 => foreign(part, attributes).unwrap_or_else(|| part.to_owned()),
            _ => part.to_owned(),
        });
        parts.collect::<Vec<String>>().join("`")
    };
    found.message = renamed(&found.message);
    found.help = found.help.as_deref().map(renamed);
    found.notes.iter_mut().for_each(|note| *note = renamed(note));
    found.secondary.iter_mut().for_each(|label| label.text = renamed(&label.text));
}

/// What is quoted, an op or an attribute with or without its value (`{dimensions = [0]}`), in the words of StableHLO.
fn foreign(quoted: &str, attributes: &[AttributeSyntax]) -> Option<String> {
    if let Some(op) = foreign_name(quoted) {
        return Some(op);
    }
    let word = quoted.trim_start_matches('{').split(' ').next().filter(|word| !word.is_empty())?;
    let attribute = attributes.iter().find(|attribute| attribute.ours == word)?;
    let name = [attribute.name, attribute.key].into_iter().find(|name| !name.is_empty())?;
    Some(quoted.replacen(word, name, 1))
}

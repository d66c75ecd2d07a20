//! One JSON object a line; [`Format::Json`](super::Format::Json) documents the fields.

use serde::Serialize;

use super::severity_name;
use crate::{Diagnostic, Label, SourceMap, Span};

pub(super) fn line(map: &SourceMap, diagnostic: &Diagnostic) -> String {
    let record = Record {
        code: diagnostic.code.id,
        severity: severity_name(diagnostic.severity),
        message: &diagnostic.message,
        place: Place::of(map, &diagnostic.primary),
        secondary: diagnostic.secondary.iter().map(|label| Place::of(map, label)).collect(),
        notes: &diagnostic.notes,
        help: diagnostic.help.as_deref(),
    };
    #[expect(clippy::expect_used, reason = "strings, numbers and lists of them always serialize")]
    let mut line = serde_json::to_string(&record).expect("a record is plain data");
    line.push('\n');
    line
}

#[derive(Serialize)]
struct Record<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
    secondary: Vec<Place<'a>>,
    notes: &'a [String],
    help: Option<&'a str>,
}

#[derive(Default, Serialize)]
struct Place<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
    byte_start: Option<usize>,
    byte_end: Option<usize>,
    label: &'a str,
}

impl<'a> Place<'a> {
    fn of(map: &'a SourceMap, label: &'a Label) -> Place<'a> {
        let Some(start) = map.position(label.span) else {
            return Place { label: &label.text, ..Place::default() };
        };
        let file = map.file(start.file);
        let range = file.range(label.span);
        let end = file.span().start + range.end as u32;
        let end = map.position(Span::new(end, end)).unwrap_or(start);
        Place {
            file: Some(file.name()),
            line: Some(start.line),
            column: Some(start.column),
            end_line: Some(end.line),
            end_column: Some(end.column),
            byte_start: Some(range.start),
            byte_end: Some(range.end),
            label: &label.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::codes;

    #[test]
    fn all_fields_are_always_there() {
        let mut map = SourceMap::new();
        let file = map.add("a.tir", "one\ntwé x\r\n").unwrap();
        let start = map.file(file).span().start;
        let error = Diagnostic::error(&codes::SYNTAX, Span::new(start + 6, start + 12), "m")
            .label("here")
            .secondary(Span::NONE, "nowhere")
            .note("n")
            .help("h");
        insta::assert_snapshot!(line(&map, &error), @r#"{"code":"T0101","severity":"error","message":"m","file":"a.tir","line":2,"column":3,"end_line":3,"end_column":1,"byte_start":6,"byte_end":12,"label":"here","secondary":[{"file":null,"line":null,"column":null,"end_line":null,"end_column":null,"byte_start":null,"byte_end":null,"label":"nowhere"}],"notes":["n"],"help":"h"}"#);
        let bare = Diagnostic::remark(&codes::CANCELLED, Span::NONE, "m");
        insta::assert_snapshot!(line(&map, &bare), @r#"{"code":"T0311","severity":"remark","message":"m","file":null,"line":null,"column":null,"end_line":null,"end_column":null,"byte_start":null,"byte_end":null,"label":"","secondary":[],"notes":[],"help":null}"#);
    }

    #[test]
    fn any_text_comes_back_unchanged() {
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        for _ in 0..2000 {
            let [name, message, label, other, note, help] = std::array::from_fn(|_| nasty(&mut state));
            let mut map = SourceMap::new();
            let file = map.add(name.as_str(), message.as_str()).unwrap();
            let whole = map.file(file).span();
            let error = Diagnostic::error(&codes::SYNTAX, whole, &message)
                .label(&label)
                .secondary(whole, &other)
                .note(&note)
                .help(&help);
            let text = line(&map, &error);
            assert_eq!(text.find(|c: char| c < ' '), Some(text.len() - 1), "{text:?}");
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value["file"], name.as_str());
            assert_eq!(value["message"], message.as_str());
            assert_eq!(value["label"], label.as_str());
            assert_eq!(value["secondary"][0]["label"], other.as_str());
            assert_eq!(value["notes"][0], note.as_str());
            assert_eq!(value["help"], help.as_str());
            assert_eq!(value["byte_end"], message.len());
            assert_eq!(value["end_line"], message.matches('\n').count() + 1);
        }
    }

    /// Up to twelve characters, most of them hard on JSON (xorshift64).
    fn nasty(state: &mut u64) -> String {
        let mut next = || {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            *state as u32
        };
        let length = next() % 13;
        let one = |kind: u32, bits: u32| match kind % 4 {
            0 => char::from_u32(bits % 0x80),
            1 => ['"', '\\', '/', '\u{7F}', '\u{2028}', '\u{FEFF}'].get(bits as usize % 6).copied(),
            2 => char::from_u32(bits % 0xA0),
            _ => char::from_u32(bits % 0x11_0000),
        };
        (0..length).filter_map(|_| one(next(), next())).collect()
    }
}

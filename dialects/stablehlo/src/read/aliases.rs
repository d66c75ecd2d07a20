//! Names for attributes, types and locations, `#name = …` and `!name = …`, and the resources that end a file.
//!
//! A name may be used before its definition (JAX writes its locations last), so the definitions are found first: each
//! begins a line. One is read when it is first used.

use rustc_hash::FxHashMap;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{Attr, Location, Type};

use super::{
    Read, Reader, Reported,
    lexer::{string_end, word_end},
};

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Attribute(Attr),
    Type(Type),
    Location(Location),
}

#[derive(Clone, Copy)]
enum Alias {
    /// It has not been used yet.
    Unread,
    /// It is being read; another use of it now would not end.
    Open,
    /// What it stands for.
    Read(Meaning),
    /// It was read, and something in it was wrong.
    Wrong,
}

/// A line `#name = value`.
#[derive(Clone, Copy)]
struct Definition {
    alias: Alias,
    /// Where the name stands.
    line: usize,
    value: usize,
    /// Where the value ends, once it was read.
    end: usize,
}

/// What a file defines under names.
pub(super) struct Aliases<'s> {
    /// With their `#` or `!`.
    definitions: FxHashMap<&'s str, Definition>,
    /// The names in the order of the text.
    names: Vec<&'s str>,
    /// Where each resource's string stands, by the resource's name.
    resources: FxHashMap<&'s str, usize>,
    /// Where the section of resources begins, or else the text ends.
    pub(super) end: usize,
}

impl<'s> Aliases<'s> {
    pub(super) fn find(text: &'s str) -> Aliases<'s> {
        let bytes = text.as_bytes();
        let end = memchr::memmem::rfind(bytes, b"\n{-#").unwrap_or(text.len());
        let (mut definitions, mut names) = (FxHashMap::default(), Vec::new());
        for line in std::iter::once(0).chain(memchr::memchr_iter(b'\n', &bytes[..end]).map(|at| at + 1)) {
            let blank = bytes[line..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let line = line + blank;
            if !matches!(bytes.get(line), Some(b'#' | b'!')) {
                continue;
            }
            let name_end = word_end(bytes, line + 1).min(end);
            let value = text[name_end..end].trim_start_matches([' ', '\t']);
            let Some(value) = value.strip_prefix('=') else { continue };
            let definition = Definition { alias: Alias::Unread, line, value: end - value.len(), end: line };
            let name = &text[line..name_end];
            definitions.entry(name).or_insert_with(|| {
                names.push(name);
                definition
            });
        }
        Aliases { definitions, names, resources: resources(text, end), end }
    }
}

/// The resources of `{-# dialect_resources: { builtin: { name: "0x…", … } } #-}` at `start`.
fn resources(text: &str, start: usize) -> FxHashMap<&str, usize> {
    let bytes = text.as_bytes();
    let mut found = FxHashMap::default();
    let mut at = start;
    // A name, a colon and a string; whatever else there is has no strings that follow a colon.
    let mut name: Option<&str> = None;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let Some(end) = string_end(bytes, at) else { return found };
                match name.take() {
                    Some(name) => {
                        found.insert(name, at);
                    }
                    // A name may be written as a string.
                    None => name = Some(&text[at + 1..end - 1]),
                }
                at = end;
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => {
                let end = word_end(bytes, at);
                name = Some(&text[at..end]);
                at = end;
            }
            _ => {
                if matches!(byte, b'{' | b',' | b'}') {
                    name = None;
                }
                at += 1;
            }
        }
    }
    found
}

impl<'s> Reader<'s> {
    /// Reads all definitions. One that uses others finds them read already if they stand before it, as printers write
    /// them.
    pub(super) fn read_aliases(&mut self) {
        for name in self.aliases.names.clone() {
            if let Some(definition) = self.aliases.definitions.get(name).copied() {
                self.at = definition.line;
                // What is wrong with it has been reported.
                let _ = self.alias();
            }
        }
        self.at = 0;
    }

    /// What the name at the current place, which begins with `#` or `!`, stands for. None, and nothing taken, if there is
    /// no definition of it.
    pub(super) fn alias(&mut self) -> Option<Read<Meaning>> {
        let start = self.at;
        self.name_after_sigil();
        let name = &self.text[start..self.at];
        let Some(&definition) = self.aliases.definitions.get(name) else {
            self.at = start;
            return None;
        };
        Some(match definition.alias {
            Alias::Read(meaning) => Ok(meaning),
            Alias::Wrong => Err(Reported),
            Alias::Open => {
                let message = format!("`{name}` is defined by itself");
                self.fail(&codes::NESTING_TOO_DEEP, self.span(start, self.at), message)
            }
            Alias::Unread => {
                self.set_alias(name, Alias::Open, definition.line);
                let after = std::mem::replace(&mut self.at, definition.value);
                let meaning =
                    self.nested(if name.starts_with('!') { Self::type_meaning } else { Self::meaning });
                let end = std::mem::replace(&mut self.at, after);
                let alias = meaning.as_ref().map_or(Alias::Wrong, |&meaning| Alias::Read(meaning));
                self.set_alias(name, alias, end);
                meaning
            }
        })
    }

    fn set_alias(&mut self, name: &'s str, alias: Alias, end: usize) {
        if let Some(definition) = self.aliases.definitions.get_mut(name) {
            (definition.alias, definition.end) = (alias, end);
        }
    }

    fn type_meaning(&mut self) -> Read<Meaning> {
        self.ty().map(Meaning::Type)
    }

    fn meaning(&mut self) -> Read<Meaning> {
        if self.peek_word() == "loc" {
            return self.location().map(Meaning::Location);
        }
        self.attribute().map(Meaning::Attribute)
    }

    /// Passes over a definition, which has been read before.
    pub(super) fn alias_definition(&mut self) -> Read {
        let start = self.at;
        self.name_after_sigil();
        let name = &self.text[start..self.at];
        match self.aliases.definitions.get(name).copied() {
            Some(Definition { line, end, alias: Alias::Read(_), .. }) if line == start => {
                self.at = end;
                Ok(())
            }
            Some(definition) if definition.line == start => Err(Reported),
            Some(definition) => {
                let first = self.span(definition.line, definition.line + name.len());
                let message = format!("`{name}` is defined twice");
                let span = self.span(start, self.at);
                self.report(
                    Diagnostic::error(&codes::SYNTAX, span, message)
                        .secondary(first, "it is defined here first"),
                );
                Err(Reported)
            }
            None => self.expected("`=` and what the name stands for, at the start of a line"),
        }
    }

    /// The string of a resource.
    pub(super) fn resource(&self, name: &str) -> Option<&'s str> {
        let at = *self.aliases.resources.get(name)?;
        let end = string_end(self.text.as_bytes(), at)?;
        Some(&self.text[at..end])
    }
}

//! A TOML document, read table by table with the place of everything, and with all mistakes collected.

use std::ops::Range;

use tofu_diagnostics::{Diagnostic, SourceFile, Span, codes, suggest};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::quantity::{self, Kind, Problem};

/// A value and where it stands.
pub(crate) type Entry<'t> = Spanned<DeValue<'t>>;

/// A table of the document.
#[derive(Clone, Copy)]
pub(crate) struct Table<'t> {
    /// How messages name it: `` `[device]` ``.
    pub(crate) name: &'static str,
    /// Where it is opened.
    pub(crate) span: Span,
    entries: Option<&'t DeTable<'t>>,
}

/// Where a document stands, and what is wrong with it.
pub(crate) struct Reader {
    base: u32,
    length: usize,
    found: Vec<Diagnostic>,
    /// What tables lack; what one lacks is one diagnostic.
    missing: Vec<(&'static str, Span, Vec<String>)>,
}

impl Reader {
    pub(crate) fn new(file: &SourceFile) -> Reader {
        Reader { base: file.span().start, length: file.text().len(), found: Vec::new(), missing: Vec::new() }
    }

    /// Reads the text of the document, as far as it is TOML.
    pub(crate) fn document<'t>(&mut self, text: &'t str) -> Spanned<DeTable<'t>> {
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let message = format!("this is no TOML: {}", error.message());
            let span = self.span(error.span().unwrap_or(0..text.len()));
            self.report(Diagnostic::error(&codes::SYNTAX, span, message));
        }
        document
    }

    /// All that was found, in the order of the text.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        for (table, span, keys) in std::mem::take(&mut self.missing) {
            let message = format!("{table} has no `{}`", keys.join("`, `"));
            self.report(Diagnostic::error(&codes::MACHINE_ENTRY, span, message));
        }
        self.found.sort_by_key(|diagnostic| diagnostic.primary.span.start);
        self.found
    }

    /// Whether anything was found.
    pub(crate) fn has_found(&self) -> bool {
        !self.found.is_empty() || !self.missing.is_empty()
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    pub(crate) fn contradiction(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(&codes::MACHINE_CONTRADICTION, span, message));
    }

    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        let at = |offset: usize| self.base + u32::try_from(offset.min(self.length)).unwrap_or(0);
        Span::new(at(range.start), at(range.end))
    }

    /// The document as a table.
    pub(crate) fn root<'t>(&self, document: &'t Spanned<DeTable<'t>>) -> Table<'t> {
        Table { name: "the file", span: self.span(0..0), entries: Some(document.get_ref()) }
    }

    /// Reports the entries of a table that are none of `known`.
    pub(crate) fn check_keys(&mut self, table: &Table<'_>, known: &[&str]) {
        for (key, _) in table.entries.iter().flat_map(|entries| entries.iter()) {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let message = format!("{} has no entry `{name}`", table.name);
                let help = suggest::did_you_mean(name, known.iter().copied())
                    .unwrap_or_else(|| format!("there are `{}`", known.join("`, `")));
                let span = self.span(key.span());
                self.report(Diagnostic::error(&codes::MACHINE_ENTRY, span, message).help(help));
            }
        }
    }

    /// The value of an entry.
    pub(crate) fn entry<'t>(&self, table: &Table<'t>, key: &str) -> Option<(&'t Entry<'t>, Span)> {
        let value = table.entries?.get(key)?;
        Some((value, self.span(value.span())))
    }

    /// An entry that must be there: reports it as missing, unless there is an inherited value.
    pub(crate) fn required<T>(
        &mut self,
        table: &Table<'_>,
        key: &str,
        read: Option<T>,
        base: Option<T>,
    ) -> Option<T> {
        if read.is_some() || self.entry(table, key).is_some() {
            return read;
        }
        if base.is_none() {
            self.missing(table, key);
        }
        base
    }

    /// Reports an entry as missing.
    pub(crate) fn missing(&mut self, table: &Table<'_>, key: &str) {
        match self.missing.iter_mut().find(|(name, span, _)| (*name, *span) == (table.name, table.span)) {
            Some((.., keys)) => keys.push(key.to_owned()),
            None => self.missing.push((table.name, table.span, vec![key.to_owned()])),
        }
    }

    /// The table that an entry is.
    pub(crate) fn table<'t>(&mut self, table: &Table<'t>, key: &str, name: &'static str) -> Table<'t> {
        let absent = Table { name, span: table.span, entries: None };
        match self.entry(table, key) {
            None => absent,
            Some((value, span)) => match value.get_ref() {
                DeValue::Table(entries) => Table { name, span, entries: Some(entries) },
                _ => {
                    self.wrong(span, "a table");
                    absent
                }
            },
        }
    }

    /// The tables of a list such as `[[level]]`.
    pub(crate) fn tables<'t>(&mut self, table: &Table<'t>, key: &str, name: &'static str) -> Vec<Table<'t>> {
        let mut tables = Vec::new();
        for (value, span) in self.list(table, key) {
            match value.get_ref() {
                DeValue::Table(entries) => tables.push(Table { name, span, entries: Some(entries) }),
                _ => self.wrong(span, "a table"),
            }
        }
        tables
    }

    /// The entries of a table, by name.
    pub(crate) fn entries<'t>(&self, table: &Table<'t>) -> Vec<(&'t str, Span, &'t Entry<'t>)> {
        let entries = table.entries.iter().flat_map(|entries| entries.iter());
        entries.map(|(key, value)| (&**key.get_ref(), self.span(key.span()), value)).collect()
    }

    /// The items of a list.
    pub(crate) fn list<'t>(&mut self, table: &Table<'t>, key: &str) -> Vec<(&'t Entry<'t>, Span)> {
        let Some((value, span)) = self.entry(table, key) else { return Vec::new() };
        self.items(value, span).unwrap_or_default()
    }

    /// The items of a value that is a list.
    pub(crate) fn items<'t>(
        &mut self,
        value: &'t Entry<'t>,
        span: Span,
    ) -> Option<Vec<(&'t Entry<'t>, Span)>> {
        match value.get_ref() {
            DeValue::Array(items) => Some(items.iter().map(|item| (item, self.span(item.span()))).collect()),
            _ => {
                self.wrong(span, "a list");
                None
            }
        }
    }

    /// The text that an entry is.
    pub(crate) fn text<'t>(&mut self, table: &Table<'t>, key: &str) -> Option<(&'t str, Span)> {
        let (value, span) = self.entry(table, key)?;
        match value.get_ref() {
            DeValue::String(text) => Some((text, span)),
            _ => {
                self.wrong(span, "a text");
                None
            }
        }
    }

    /// One of some names.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        table: &Table<'_>,
        key: &str,
        choices: &[(&'static str, T)],
    ) -> Option<T> {
        let (written, span) = self.text(table, key)?;
        let found = choices.iter().find(|(name, _)| *name == written);
        if found.is_none() {
            let names: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
            let message = format!("`{key}` cannot be \"{written}\"");
            let help = suggest::did_you_mean(written, names.iter().copied())
                .unwrap_or_else(|| format!("there are \"{}\"", names.join("\", \"")));
            self.report(Diagnostic::error(&codes::MACHINE_VALUE, span, message).help(help));
        }
        found.map(|&(_, choice)| choice)
    }

    /// The positive integer that an entry is.
    pub(crate) fn count(&mut self, table: &Table<'_>, key: &str) -> Option<(u64, Span)> {
        let (value, span) = self.entry(table, key)?;
        self.positive(value, span).map(|count| (count, span))
    }

    /// The positive integer that a value is.
    pub(crate) fn positive(&mut self, value: &Entry<'_>, span: Span) -> Option<u64> {
        let integer = match value.get_ref() {
            DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix()).ok(),
            _ => None,
        };
        let positive = integer.filter(|&integer| integer > 0).and_then(|integer| u64::try_from(integer).ok());
        if positive.is_none() {
            self.wrong(span, "a positive integer");
        }
        positive
    }

    /// The quantity that an entry is, in its base unit; only a time may be zero.
    pub(crate) fn quantity(&mut self, table: &Table<'_>, key: &str, kind: Kind) -> Option<u64> {
        let (value, span) = self.entry(table, key)?;
        self.measured(value, span, kind)
    }

    /// The quantity that a value is.
    pub(crate) fn measured(&mut self, value: &Entry<'_>, span: Span, kind: Kind) -> Option<u64> {
        let DeValue::String(text) = value.get_ref() else {
            self.wrong(span, kind.expected());
            return None;
        };
        match quantity::parse(text, kind) {
            Ok(0) if kind != Kind::Time => {
                let message = format!("\"{text}\" must be more than zero");
                self.report(Diagnostic::error(&codes::MACHINE_VALUE, span, message));
                None
            }
            Ok(quantity) => Some(quantity),
            Err(Problem::NoNumber) => {
                self.wrong(span, kind.expected());
                None
            }
            Err(Problem::TooLarge) => {
                let message = format!("\"{text}\" is more than 64 bits hold");
                self.report(Diagnostic::error(&codes::MACHINE_VALUE, span, message));
                None
            }
            Err(Problem::UnknownUnit { written, units }) => {
                let message = match &*written {
                    "" => format!("\"{text}\" lacks a unit: expected {}", kind.expected()),
                    _ => format!("`{written}` is no unit here: expected {}", kind.expected()),
                };
                let near = suggest::did_you_mean(&written, units.iter().copied());
                let help = near.unwrap_or_else(|| format!("the units are `{}`", units.join("`, `")));
                self.report(Diagnostic::error(&codes::MACHINE_VALUE, span, message).help(help));
                None
            }
        }
    }

    pub(crate) fn wrong(&mut self, span: Span, expected: &str) {
        self.report(Diagnostic::error(&codes::MACHINE_VALUE, span, format!("expected {expected}")));
    }
}

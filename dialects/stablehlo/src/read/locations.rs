//! Locations: `loc("file.py":1:2)`, `loc("name"(child))`, `loc(callsite(a at b))`, `loc(fused<…>[a, b])`, `loc(unknown)`,
//! `loc(#loc1)`.
//!
//! Of a range of lines the first place is kept.

use tofu_diagnostics::codes;
use tofu_ir::{Location, LocationData};
use tofu_syntax::literals::unescape;

use super::{Read, Reader, aliases::Meaning};

impl Reader<'_> {
    /// `loc(…)` after an op or an argument, if it stands here.
    pub(super) fn optional_location(&mut self) -> Read<Option<Location>> {
        if self.peek_word() == "loc" { self.location().map(Some) } else { Ok(None) }
    }

    /// `loc(…)`.
    pub(super) fn location(&mut self) -> Read<Location> {
        self.expect_word("loc")?;
        self.expect(b'(')?;
        let location = self.location_body()?;
        self.expect(b')')?;
        Ok(location)
    }

    fn location_body(&mut self) -> Read<Location> {
        self.nested(Self::flat_location)
    }

    fn flat_location(&mut self) -> Read<Location> {
        let data = match self.next() {
            b'#' => return self.location_alias(),
            b'"' => self.named_location()?,
            _ => match self.peek_word() {
                "unknown" => {
                    self.expect_word("unknown")?;
                    LocationData::Unknown
                }
                "callsite" => {
                    self.expect_word("callsite")?;
                    self.expect(b'(')?;
                    let callee = self.location_body()?;
                    self.expect_word("at")?;
                    let caller = self.location_body()?;
                    self.expect(b')')?;
                    LocationData::Call { callee, caller }
                }
                "fused" => {
                    self.expect_word("fused")?;
                    let mut metadata = None;
                    if self.take(b'<') {
                        metadata = Some(self.attribute()?);
                        self.expect(b'>')?;
                    }
                    self.expect(b'[')?;
                    let mut parts = Vec::new();
                    while !self.take(b']') {
                        if !parts.is_empty() {
                            self.comma_or("]")?;
                        }
                        parts.push(self.location_body()?);
                    }
                    LocationData::Fused { parts: parts.into(), metadata }
                }
                _ => return self.expected("a location"),
            },
        };
        Ok(self.module.interner.location(data))
    }

    fn location_alias(&mut self) -> Read<Location> {
        let start = self.at;
        match self.alias() {
            Some(meaning) => match meaning? {
                Meaning::Location(location) => Ok(location),
                _ => {
                    let message = format!("`{}` is no location", &self.text[start..self.at]);
                    self.fail(&codes::SYNTAX, self.span(start, self.at), message)
                }
            },
            None => {
                let (token, span) = self.token();
                self.fail(&codes::UNKNOWN_ATTRIBUTE, span, format!("there is no location {token}"))
            }
        }
    }

    fn named_location(&mut self) -> Read<LocationData> {
        let name = unescape(self.quoted()?);
        let name = self.module.interner.name(&name);
        if self.take(b':') {
            let file = name;
            let line = self.position()?;
            self.expect(b':')?;
            let column = self.position()?;
            if self.take_word("to") {
                if self.next() != b':' {
                    self.position()?;
                }
                self.expect(b':')?;
                self.position()?;
            }
            return Ok(LocationData::File { file, line, column });
        }
        let child = if self.take(b'(') {
            let child = self.location_body()?;
            self.expect(b')')?;
            child
        } else {
            self.module.interner.unknown_location()
        };
        Ok(LocationData::Named { name, child })
    }

    /// A line or a column. One beyond what a number holds says no more than the last one that it holds.
    fn position(&mut self) -> Read<u32> {
        Ok(u32::try_from(self.integer()?.max(0)).unwrap_or(u32::MAX))
    }
}

//! Attributes and locations.

use pest::iterators::Pair;
use tofu_diagnostics::{Diagnostic, codes, suggest};
use tofu_ir::{
    Attr, AttrData, DialectAttr, ElementType, Location, LocationData, Name, SymbolRef, Type, TypeData,
};

use super::{Parser, Rule, literals, statement::Entry, types::MAX_DEPTH};

impl<'s> Parser<'s> {
    /// The entries of a dictionary; none if one of them was reported as wrong.
    pub(super) fn entries(&mut self, base: usize, pair: Pair<'s, Rule>) -> Option<Vec<Entry>> {
        self.nested_entries(base, pair, 0)
    }

    /// A dictionary.
    pub(super) fn dict(&mut self, base: usize, pair: Pair<'s, Rule>) -> Option<Attr> {
        self.nested_dict(base, pair, 0)
    }

    fn nested_dict(&mut self, base: usize, pair: Pair<'s, Rule>, depth: usize) -> Option<Attr> {
        let entries = self.nested_entries(base, pair, depth)?;
        let mut kept: Vec<(Name, Attr)> = Vec::with_capacity(entries.len());
        for Entry { name, attr, span } in entries {
            if kept.iter().any(|&(other, _)| other == name) {
                let message = format!("the attribute `{}` is given twice", self.module.text(name));
                self.error(&codes::DUPLICATE_ATTRIBUTE, span, message);
                return None;
            }
            kept.push((name, attr));
        }
        Some(self.module.interner.dict(&kept))
    }

    fn nested_entries(&mut self, base: usize, pair: Pair<'s, Rule>, depth: usize) -> Option<Vec<Entry>> {
        let mut entries = Some(Vec::new());
        for entry in pair.into_inner() {
            let span = self.pair_span(base, &entry);
            let mut parts = entry.into_inner();
            let key = parts.next()?;
            let name = self.unquoted(key.as_str());
            let name = self.module.interner.name(&name);
            let attr = match parts.next() {
                Some(attribute) => self.attribute(base, attribute, depth + 1),
                None => Some(self.module.interner.attr(AttrData::Unit)),
            };
            // All entries are read, so that each mistake in them is reported.
            match (attr, &mut entries) {
                (Some(attr), Some(entries)) => entries.push(Entry { name, attr, span }),
                _ => entries = None,
            }
        }
        entries
    }

    /// An `attribute` of the grammar.
    pub(super) fn attribute(&mut self, base: usize, pair: Pair<'s, Rule>, depth: usize) -> Option<Attr> {
        if depth > MAX_DEPTH {
            let span = self.pair_span(base, &pair);
            self.error(&codes::NESTING_TOO_DEEP, span, format!("attributes nest more than {MAX_DEPTH} deep"));
            return None;
        }
        let mut sides = pair.into_inner();
        let left = self.side(base, sides.next()?, depth)?;
        match sides.next() {
            None => Some(left),
            Some(right) => {
                let right = self.side(base, right, depth)?;
                Some(self.module.interner.attr(AttrData::Pair(left, right)))
            }
        }
    }

    fn side(&mut self, base: usize, pair: Pair<'s, Rule>, depth: usize) -> Option<Attr> {
        let data = match pair.as_rule() {
            Rule::attribute => return self.attribute(base, pair, depth + 1),
            Rule::dict => return self.nested_dict(base, pair, depth + 1),
            Rule::symbol_path => return Some(self.symbol_attr(&pair)),
            Rule::typed_number => return self.number(base, pair),
            Rule::typed_dense => return self.typed_dense(base, pair),
            Rule::string => AttrData::String(literals::unescape(pair.as_str()).into()),
            Rule::array => {
                let mut items = Some(Vec::new());
                for item in pair.into_inner() {
                    match (self.attribute(base, item, depth + 1), &mut items) {
                        (Some(item), Some(items)) => items.push(item),
                        _ => items = None,
                    }
                }
                AttrData::Array(items?.into())
            }
            Rule::dialect_attribute => {
                let span = self.pair_span(base, &pair);
                let mut parts = pair.into_inner();
                let name = parts.next()?.as_str();
                let Some(def) = self.module.registry().parametric_attr(name) else {
                    let help = suggest::did_you_mean(name, self.module.registry().attr_names());
                    let message = format!("there is no attribute `#{name}`");
                    self.report(Diagnostic::error(&codes::UNKNOWN_ATTRIBUTE, span, message).maybe_help(help));
                    return None;
                };
                let raw = parts.next().map_or(("", 0), |raw| (raw.as_str(), base + raw.as_span().start()));
                let params = self.parameters_of(def, raw.0, raw.1, span)?;
                AttrData::Dialect(DialectAttr { def, params })
            }
            _ => match Self::keyword_attr(pair.as_str()) {
                Some(keyword) => keyword,
                None => AttrData::Type(self.ty(base, &pair)?),
            },
        };
        Some(self.module.interner.attr(data))
    }

    /// A `symbol` or a `symbol_path`.
    pub(super) fn symbol_attr(&mut self, pair: &Pair<'s, Rule>) -> Attr {
        let text = pair.as_str();
        let mut path = SymbolRef::new();
        let mut rest = text;
        while let Some(after) = rest.strip_prefix("::").unwrap_or(rest).strip_prefix('@') {
            let end = literals::word_or_string_end(after);
            let name = self.unquoted(&after[..end]);
            path.push(self.module.interner.name(&name));
            rest = &after[end..];
        }
        self.module.interner.attr(AttrData::Symbol(path))
    }

    fn number(&mut self, base: usize, pair: Pair<'s, Rule>) -> Option<Attr> {
        let span = self.pair_span(base, &pair);
        let mut parts = pair.into_inner();
        let text = parts.next()?.as_str();
        let element = match parts.next() {
            None if literals::looks_like_float(text) => ElementType::F64,
            None => ElementType::I64,
            Some(ty) => {
                let ty = self.ty(base, &ty)?;
                match self.module.type_data(ty) {
                    TypeData::Element(element) => *element,
                    _ => {
                        let message = format!("a number cannot be a `{}`", self.module.type_text(ty));
                        self.error(&codes::BAD_LITERAL, span, message);
                        return None;
                    }
                }
            }
        };
        match literals::number(text, element) {
            Ok(data) => Some(self.module.interner.attr(data)),
            Err(message) => {
                self.error(&codes::BAD_LITERAL, span, message);
                None
            }
        }
    }

    fn typed_dense(&mut self, base: usize, pair: Pair<'s, Rule>) -> Option<Attr> {
        let mut parts = pair.into_inner();
        let body = parts.next()?.into_inner().next()?;
        let ty = self.ty(base, &parts.next()?)?;
        self.dense(body.as_str(), base + body.as_span().start(), ty)
    }

    /// The constant whose text between the angle brackets is `body`, at `at`.
    pub(super) fn dense(&mut self, body: &'s str, at: usize, ty: Type) -> Option<Attr> {
        let TypeData::Tensor(tensor) = self.module.type_data(ty) else {
            let message = format!("a constant cannot be a `{}`", self.module.type_text(ty));
            self.error(&codes::BAD_LITERAL, self.span(at, at + body.len()), message);
            return None;
        };
        match literals::dense(body, tensor) {
            Ok(data) => Some(self.module.interner.dense(ty, data)),
            Err(problem) => {
                let start = at + problem.at.min(body.len());
                let span = self.span(start, (start + problem.length).min(at + body.len()));
                self.error(problem.code, span, problem.message);
                None
            }
        }
    }

    /// A `location` of the grammar.
    pub(super) fn location(&mut self, pair: Pair<'s, Rule>) -> Option<Location> {
        let body = pair.into_inner().next()?;
        self.location_body(body, 0)
    }

    fn location_body(&mut self, pair: Pair<'s, Rule>, depth: usize) -> Option<Location> {
        if depth > MAX_DEPTH {
            self.error(&codes::NESTING_TOO_DEEP, self.span(self.at, self.at), "locations nest too deep");
            return None;
        }
        let form = pair.into_inner().next()?;
        let rule = form.as_rule();
        let mut parts = form.into_inner();
        let data = match rule {
            Rule::callsite => {
                let callee = self.location_body(parts.next()?, depth + 1)?;
                let caller = self.location_body(parts.next()?, depth + 1)?;
                LocationData::Call { callee, caller }
            }
            Rule::fused => {
                let mut inner = Vec::new();
                for part in parts {
                    inner.push(self.location_body(part, depth + 1)?);
                }
                LocationData::Fused(inner.into())
            }
            Rule::named => {
                let name = self.unquoted(parts.next()?.as_str());
                let name = self.module.interner.name(&name);
                match parts.next() {
                    None => LocationData::Named { name, child: self.module.interner.unknown_location() },
                    Some(line) if line.as_rule() == Rule::integer => {
                        // A line beyond what a number holds says no more than the last one that it holds.
                        let number = |text: &str| text.parse().unwrap_or(u32::MAX);
                        let column = number(parts.next()?.as_str());
                        LocationData::File { file: name, line: number(line.as_str()), column }
                    }
                    Some(child) => LocationData::Named { name, child: self.location_body(child, depth + 1)? },
                }
            }
            _ => LocationData::Unknown,
        };
        Some(self.module.interner.location(data))
    }
}

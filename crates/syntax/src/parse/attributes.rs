//! Attributes and locations.

use pest::Parser as _;
use pest::iterators::Pair;
use tofu_diagnostics::{Diagnostic, codes, suggest};
use tofu_ir::{
    Attr, AttrData, DialectAttr, ElementType, Location, LocationData, Name, SymbolRef, Type, TypeData,
};

use super::{Grammar, Parser, Rule, literals, statement::Entry, types::MAX_DEPTH, types::OUTERMOST_DEPTH};

impl<'s> Parser<'s> {
    /// The entries of a dictionary; none if one of them was reported as wrong.
    pub(super) fn entries(&mut self, base: usize, pair: Pair<'s, Rule>) -> Option<Vec<Entry>> {
        self.nested_entries(base, pair, 0)
    }

    /// The dictionary of a parameter or a result.
    pub(super) fn dict(&mut self, base: usize, pair: Pair<'s, Rule>) -> Option<Attr> {
        // It counts as deep as it is in the generic form, where it stands in a list in an attribute.
        self.nested_dict(base, pair, 3)
    }

    fn nested_dict(&mut self, base: usize, pair: Pair<'s, Rule>, depth: usize) -> Option<Attr> {
        let mut entries = self.nested_entries(base, pair, depth)?;
        self.sort_entries(&mut entries);
        Some(self.interned_dict(&entries))
    }

    /// Brings entries into their order, and reports and removes those whose name was given before.
    pub(super) fn sort_entries(&mut self, entries: &mut Vec<Entry>) {
        entries.sort_by(|a, b| self.module.text(a.name).cmp(self.module.text(b.name)));
        entries.dedup_by(|later, first| {
            let is_repeated = later.name == first.name;
            if is_repeated {
                let message = format!("the attribute `{}` is given twice", self.module.text(later.name));
                self.report(
                    Diagnostic::error(&codes::DUPLICATE_ATTRIBUTE, later.span, message)
                        .secondary(first.span, "it is given here first"),
                );
            }
            is_repeated
        });
    }

    pub(super) fn interned_dict(&mut self, entries: &[Entry]) -> Attr {
        let entries: Vec<(Name, Attr)> = entries.iter().map(|entry| (entry.name, entry.attr)).collect();
        self.module.interner.dict(&entries)
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
            Rule::parenthesized => {
                let inner = pair.into_inner().next()?;
                return self.spelled_attribute(inner.as_str(), base + inner.as_span().start(), depth + 1);
            }
            Rule::integers => AttrData::Ints(self.integers(base, &pair)?),
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
                    let name = format!("#{name}");
                    let known: Vec<String> =
                        self.module.registry().attr_names().map(|known| format!("#{known}")).collect();
                    let help = suggest::did_you_mean(&name, known.iter().map(String::as_str));
                    let message = format!("there is no attribute `{name}`");
                    self.report(Diagnostic::error(&codes::UNKNOWN_ATTRIBUTE, span, message).maybe_help(help));
                    return None;
                };
                let raw = parts.next().map_or(("", 0), |raw| (raw.as_str(), base + raw.as_span().start()));
                let params = self.parameters_of(def, raw.0, raw.1, span, depth)?;
                AttrData::Dialect(DialectAttr { def, params })
            }
            _ => match Self::keyword_attr(pair.as_str()) {
                Some(keyword) => keyword,
                None => AttrData::Type(self.ty(base, &pair, depth.saturating_sub(1))?),
            },
        };
        Some(self.module.interner.attr(data))
    }

    /// The attribute spelled `text`, which stands at `at`.
    fn spelled_attribute(&mut self, text: &'s str, at: usize, depth: usize) -> Option<Attr> {
        match Grammar::parse(Rule::attribute_alone, text) {
            Ok(mut pairs) => self.attribute(at, pairs.next()?.into_inner().next()?, depth),
            Err(error) => {
                let (diagnostic, _) = self.grammar_error(at, &error);
                self.report(diagnostic);
                None
            }
        }
    }

    fn integers(&mut self, base: usize, pair: &Pair<'s, Rule>) -> Option<Box<[i64]>> {
        let text = pair.as_str();
        let items = &text[1..text.len() - 1];
        if items.trim().is_empty() {
            return Some(Box::default());
        }
        let mut integers = Vec::new();
        let mut at = base + pair.as_span().start() + 1;
        for item in items.split(',') {
            let integer = item.trim();
            match literals::number(integer, ElementType::I64) {
                Ok(AttrData::Int(value, _)) => integers.extend(i64::try_from(value)),
                Ok(_) => {}
                Err(message) => {
                    let start = at + item.len() - item.trim_start().len();
                    self.error(&codes::BAD_LITERAL, self.span(start, start + integer.len()), message);
                    return None;
                }
            }
            at += item.len() + 1;
        }
        Some(integers.into())
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
                let ty = self.ty(base, &ty, OUTERMOST_DEPTH)?;
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
        let ty = self.ty(base, &parts.next()?, OUTERMOST_DEPTH)?;
        self.dense(body.as_str(), base + body.as_span().start(), ty)
    }

    /// The constant whose text between the angle brackets is `body`, at `at`.
    pub(super) fn dense(&mut self, body: &'s str, at: usize, ty: Type) -> Option<Attr> {
        if ty == self.error_type {
            return None;
        }
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
    pub(super) fn location(&mut self, base: usize, pair: Pair<'s, Rule>) -> Option<Location> {
        let body = pair.into_inner().next()?;
        self.location_body(base, body, 0)
    }

    fn location_body(&mut self, base: usize, pair: Pair<'s, Rule>, depth: usize) -> Option<Location> {
        if depth > MAX_DEPTH {
            let span = self.span(self.at, self.at);
            self.error(&codes::NESTING_TOO_DEEP, span, format!("locations nest more than {MAX_DEPTH} deep"));
            return None;
        }
        let form = pair.into_inner().next()?;
        let rule = form.as_rule();
        let mut parts = form.into_inner();
        let data = match rule {
            Rule::callsite => {
                let callee = self.location_body(base, parts.next()?, depth + 1)?;
                let caller = self.location_body(base, parts.next()?, depth + 1)?;
                LocationData::Call { callee, caller }
            }
            Rule::fused => {
                let (mut inner, mut metadata) = (Vec::new(), None);
                for part in parts {
                    match part.as_rule() {
                        Rule::attribute => metadata = Some(self.attribute(base, part, 0)?),
                        _ => inner.push(self.location_body(base, part, depth + 1)?),
                    }
                }
                LocationData::Fused { parts: inner.into(), metadata }
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
                    Some(child) => {
                        LocationData::Named { name, child: self.location_body(base, child, depth + 1)? }
                    }
                }
            }
            _ => LocationData::Unknown,
        };
        Some(self.module.interner.location(data))
    }
}

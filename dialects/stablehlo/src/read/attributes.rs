//! Attributes, as what they say. Which of our attributes they become is `translate`'s business.

use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::{Attr, AttrData, DialectAttr, ElementKind, ElementType, ParametricDef, SymbolRef, TypeData};
use tofu_syntax::literals::{looks_like_float, number, unescape};

use super::{Read, Reader, Reported, aliases::Meaning};
use crate::dialect::{CONV, OPAQUE_ATTR};

/// An entry of a dictionary, as it is written.
#[derive(Clone, Copy)]
pub(super) struct Written<'s> {
    pub(super) name: &'s str,
    pub(super) attr: Attr,
    pub(super) span: Span,
}

/// Attributes of dialects that we know, of no use to anybody but the partitioner or the compiler that they are meant
/// for. They are kept as text.
const KEPT_AS_TEXT: [&str; 5] = [
    "chlo.precision",
    "chlo.ragged_dot",
    "sdy.op_sharding_rule",
    "sdy.propagation_edges",
    "stablehlo.replica_group_mesh_axes",
];

impl<'s> Reader<'s> {
    /// An attribute.
    pub(super) fn attribute(&mut self) -> Read<Attr> {
        self.nested(Self::new_attribute)
    }

    fn new_attribute(&mut self) -> Read<Attr> {
        let start = self.at;
        let data = match self.next() {
            b'"' => AttrData::String(unescape(self.quoted()?).into()),
            b'@' => AttrData::Symbol(self.symbol_path()?),
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.take(b']') {
                    if !items.is_empty() {
                        self.comma_or("]")?;
                    }
                    items.push(self.attribute()?);
                }
                AttrData::Array(items.into())
            }
            b'{' => return self.dictionary(),
            b'0'..=b'9' | b'-' => self.number()?,
            b'#' => return self.hash_attribute(),
            b'!' | b'(' => self.type_attribute()?,
            _ => match self.peek_word() {
                "" => return self.expected("an attribute"),
                word @ ("true" | "false") => {
                    self.at += word.len();
                    AttrData::Bool(word == "true")
                }
                "unit" => {
                    self.expect_word("unit")?;
                    AttrData::Unit
                }
                "dense" => self.dense()?,
                "dense_resource" => self.dense_resource()?,
                "array" => self.array()?,
                word @ ("affine_map" | "affine_set" | "distinct" | "loc" | "sparse" | "strided") => {
                    return self.builtin_attribute(word);
                }
                _ => self.type_attribute()?,
            },
        };
        debug_assert!(self.at > start);
        Ok(self.module.interner.attr(data))
    }

    /// `@name`, `@outer::@name`.
    pub(super) fn symbol_path(&mut self) -> Read<SymbolRef> {
        let mut path = SymbolRef::new();
        loop {
            let name = self.symbol()?;
            path.push(self.module.interner.name(&name));
            if !self.take_text("::") {
                return Ok(path);
            }
        }
    }

    /// `@name` or `@"name"`, without the `@`.
    pub(super) fn symbol(&mut self) -> Read<String> {
        if self.next() != b'@' {
            return self.expected("a symbol (`@name`)");
        }
        if self.text[self.at + 1..].starts_with('"') {
            self.at += 1;
            return Ok(unescape(self.quoted()?));
        }
        let start = self.at;
        let name = self.name_after_sigil();
        if name.is_empty() {
            self.at = start;
            return self.expected("a symbol (`@name`)");
        }
        Ok(name.to_owned())
    }

    fn number(&mut self) -> Read<AttrData> {
        let text = self.peek_number();
        if text.is_empty() {
            return self.expected("a number");
        }
        let start = self.at;
        self.at += text.len();
        let span = self.span(start, self.at);
        let element = if self.take(b':') {
            let ty = self.ty()?;
            match self.module.type_data(ty) {
                TypeData::Element(element) => *element,
                TypeData::Error => return Err(Reported),
                TypeData::Dialect(_) => return Ok(self.opaque(start)),
                _ => {
                    let message = format!("a number cannot be a `{}`", self.module.type_text(ty));
                    return self.fail(&codes::BAD_LITERAL, span, message);
                }
            }
        } else if looks_like_float(text) {
            ElementType::F64
        } else {
            ElementType::I64
        };
        match (number(text, element), same_bits(text, element)) {
            (Ok(data), _) => Ok(data),
            (Err(_), Some(value)) => Ok(AttrData::Int(value, element)),
            (Err(message), None) => self.fail(&codes::BAD_LITERAL, span, message),
        }
    }

    /// `{key = value, flag}` as an attribute. A key that is written twice counts once.
    pub(super) fn dictionary(&mut self) -> Read<Attr> {
        let mut entries = Vec::new();
        self.entries(&mut entries)?;
        Ok(self.interned(&entries))
    }

    /// Entries as an attribute.
    pub(super) fn interned(&mut self, entries: &[Written<'s>]) -> Attr {
        let interner = &mut self.module.interner;
        let entries: Vec<_> = entries.iter().map(|entry| (interner.name(entry.name), entry.attr)).collect();
        interner.dict(&entries)
    }

    /// The entries of `{key = value, flag}`.
    pub(super) fn entries(&mut self, entries: &mut Vec<Written<'s>>) -> Read {
        self.expect(b'{')?;
        let first = entries.len();
        while !self.take(b'}') {
            if entries.len() > first {
                self.comma_or("}")?;
            }
            let start = if self.next() == b'"' { self.at + 1 } else { self.at };
            let name = match self.next() {
                b'"' => {
                    let quoted = self.quoted()?;
                    &quoted[1..quoted.len() - 1]
                }
                _ => self.word("a name")?,
            };
            let span = self.span(start, start + name.len());
            let attr =
                if self.take(b'=') { self.attribute()? } else { self.module.interner.attr(AttrData::Unit) };
            entries.push(Written { name, attr, span });
        }
        Ok(())
    }

    /// What begins with `#`.
    fn hash_attribute(&mut self) -> Read<Attr> {
        let start = self.at;
        if let Some(meaning) = self.alias() {
            return match meaning? {
                Meaning::Attribute(attr) => Ok(attr),
                Meaning::Type(ty) => Ok(self.module.interner.attr(AttrData::Type(ty))),
                Meaning::Location(_) => {
                    let message = format!("`{}` is a location", &self.text[start..self.at]);
                    self.fail(&codes::SYNTAX, self.span(start, self.at), message)
                }
            };
        }
        let name = self.name_after_sigil();
        // `#dialect<name …>` says the same as `#dialect.name<…>`.
        let mnemonic = if name.contains('.') || !self.text[self.at..].starts_with('<') {
            ""
        } else {
            self.at += 1;
            self.peek_word()
        };
        let full = if mnemonic.is_empty() { name.to_owned() } else { format!("{name}.{mnemonic}") };
        // CHLO has the same words for how its broadcasting ops compare.
        let full = match full.strip_prefix("chlo.comparison_") {
            Some(rest) => format!("stablehlo.comparison_{rest}"),
            None => full,
        };
        let Some(def) = self.module.registry().parametric_attr(&full) else {
            let known = KEPT_AS_TEXT.contains(&full.as_str());
            self.at = start;
            if known {
                self.skip_hash_attribute()?;
                let data = self.opaque(start);
                return Ok(self.module.interner.attr(data));
            }
            return self.unknown_attribute(&format!("#{full}"), Self::skip_hash_attribute);
        };
        let is_open = if mnemonic.is_empty() {
            self.text[self.at..].starts_with('<') && self.take(b'<')
        } else {
            self.at += mnemonic.len();
            true
        };
        let params = self.parameters_of(def)?;
        if is_open {
            self.expect(b'>')?;
        }
        let span = self.span(start, self.at);
        self.checked(def, params, span)
    }

    /// `<…>` in a place where only an attribute of this kind can stand.
    pub(super) fn bare_attribute(&mut self, def: &'static ParametricDef) -> Read<Attr> {
        self.next();
        let start = self.at;
        self.expect(b'<')?;
        let params = self.parameters_of(def)?;
        self.expect(b'>')?;
        let span = self.span(start, self.at);
        self.checked(def, params, span)
    }

    /// An attribute of a definition whose parameters have been read.
    pub(super) fn checked(&mut self, def: &'static ParametricDef, params: Attr, span: Span) -> Read<Attr> {
        match (def.verify)(&self.module, params) {
            Ok(()) => Ok(self.module.interner.attr(AttrData::Dialect(DialectAttr { def, params }))),
            Err(message) => self.fail(&codes::WRONG_ATTRIBUTE, span, message),
        }
    }

    /// What stands between the brackets of an attribute of this definition.
    pub(super) fn parameters_of(&mut self, def: &'static ParametricDef) -> Read<Attr> {
        if std::ptr::eq(def, &CONV) {
            let dimensions = self.dimension_numbers()?;
            return Ok(self.module.interner.string(&dimensions));
        }
        let before = self.found.len();
        (def.parse)(self).map_err(|diagnostic| {
            // What was read inside has reported what is wrong itself.
            if self.found.len() == before {
                self.report(diagnostic);
            }
            Reported
        })
    }

    /// The text from `start` to the current place, kept as it is.
    pub(super) fn opaque(&mut self, start: usize) -> AttrData {
        let params = self.module.interner.string(&self.text[start..self.at]);
        AttrData::Dialect(DialectAttr { def: &OPAQUE_ATTR, params })
    }

    /// An attribute called `name` that nothing here knows; `skip` passes over it. It is reported and read as text.
    fn unknown_attribute(&mut self, name: &str, skip: fn(&mut Self) -> Read) -> Read<Attr> {
        let start = self.at;
        skip(self)?;
        let data = self.opaque(start);
        let attr = self.module.interner.attr(data);
        if self.options.allow_unregistered {
            return Ok(attr);
        }
        let span = self.span(start, self.at);
        let known: Vec<String> = self.module.registry().attr_names().map(|name| format!("#{name}")).collect();
        let help = suggest::did_you_mean(name, known.iter().map(String::as_str));
        let message = format!("there is no attribute `{name}`");
        self.report(Diagnostic::error(&codes::UNKNOWN_ATTRIBUTE, span, message).maybe_help(help));
        self.is_doubtful = true;
        Ok(attr)
    }

    /// An attribute of MLIR's own for which nothing here has a use. It is kept as text, which must stand for itself.
    fn builtin_attribute(&mut self, word: &str) -> Read<Attr> {
        let start = self.at;
        self.skip_keyword_attribute()?;
        let text = &self.text[start..self.at];
        if let Some(at) = text.find(['#', '!']).filter(|_| !text.contains('"')) {
            let span = self.span(start + at, self.at);
            let message = format!("`{word}` is kept as text here, and cannot hold a name for something else");
            self.report(
                Diagnostic::error(&codes::WRONG_ATTRIBUTE, span, message)
                    .help("write what the name stands for"),
            );
            return Err(Reported);
        }
        let data = self.opaque(start);
        Ok(self.module.interner.attr(data))
    }

    fn skip_hash_attribute(&mut self) -> Read {
        self.name_after_sigil();
        self.skip_angles()?;
        self.skip_attribute_type()
    }

    fn skip_keyword_attribute(&mut self) -> Read {
        let word = self.word("an attribute")?;
        if word == "loc" {
            self.at -= word.len();
            return self.location().map(|_| ());
        }
        if self.text[self.at..].starts_with('[') {
            match memchr::memchr(b']', &self.text.as_bytes()[self.at..]) {
                Some(length) => self.at += length + 1,
                None => return self.fail(&codes::UNTERMINATED, self.token().1, "`[` is not closed"),
            }
        }
        self.skip_angles()?;
        self.skip_attribute_type()
    }

    /// `: type` behind an attribute.
    fn skip_attribute_type(&mut self) -> Read {
        let end = self.at;
        if self.next() == b':' && !self.text[self.at..].starts_with("::") {
            self.at += 1;
            self.ty()?;
        } else {
            // White space behind it is no part of what is kept as text.
            self.at = end;
        }
        Ok(())
    }
}

/// The integer of a type that has the bits of another one: MLIR's integers have no sign, and `255 : i8` is `-1 : i8`.
pub(super) fn same_bits(text: &str, element: ElementType) -> Option<i128> {
    let (value, (low, high)) = (text.parse::<i128>().ok()?, element.integer_range()?);
    match element.kind() {
        ElementKind::Bool if value == -1 => Some(1),
        ElementKind::Signed if (high + 1..=high - low).contains(&value) => Some(value - (high - low + 1)),
        _ => None,
    }
}

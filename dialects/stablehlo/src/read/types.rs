//! Types.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::{AttrData, DialectType, Dim, ElementType, FunctionType, TensorType, Type, TypeData};

use super::{Read, Reader, Reported, aliases::Meaning, lexer::string_end};
use crate::dialect::OPAQUE_TYPE;

impl<'s> Reader<'s> {
    /// A type. One that nothing here knows is reported and read as the error type.
    pub(super) fn ty(&mut self) -> Read<Type> {
        self.next();
        // A program spells the same few tensors over and over.
        let rest = &self.text[self.at..];
        if rest.starts_with("tensor<")
            && let Some(close) = memchr::memchr(b'>', rest.as_bytes())
            && let Some(&ty) = self.types.get(&rest[..=close])
        {
            self.at += close + 1;
            return Ok(ty);
        }
        self.nested(Self::new_type)
    }

    fn new_type(&mut self) -> Read<Type> {
        let start = self.at;
        let data = match self.next() {
            b'!' => return self.dialect_type(),
            b'(' => TypeData::Function(self.function_type()?),
            _ => match self.peek_word() {
                "" => return self.expected("a type"),
                "tensor" => match self.tensor_type()? {
                    Some(tensor) => TypeData::Tensor(tensor),
                    None => return self.unknown_type(start),
                },
                "tuple" => {
                    self.expect_word("tuple")?;
                    self.expect(b'<')?;
                    TypeData::Tuple(self.types_until(b'>')?.into_boxed_slice())
                }
                _ => match self.element()? {
                    Some(element) => TypeData::Element(element),
                    None => return self.unknown_type(start),
                },
            },
        };
        let ty = self.module.interner.ty(data);
        self.types.insert(&self.text[start..self.at], ty);
        Ok(ty)
    }

    /// Types between parentheses or brackets, the opening one already read, up to `close`.
    pub(super) fn types_until(&mut self, close: u8) -> Read<SmallVec<[Type; 4]>> {
        let mut types = SmallVec::new();
        while !self.take(close) {
            if !types.is_empty() {
                self.comma_or(if close == b')' { ")" } else { ">" })?;
            }
            types.push(self.ty()?);
        }
        Ok(types)
    }

    /// One type, or any number of them in parentheses: what follows `->`.
    pub(super) fn result_types(&mut self) -> Read<SmallVec<[Type; 4]>> {
        if self.take(b'(') {
            return self.types_until(b')');
        }
        Ok(SmallVec::from_elem(self.ty()?, 1))
    }

    /// `(types) -> types`.
    pub(super) fn function_type(&mut self) -> Read<FunctionType> {
        self.expect(b'(')?;
        let inputs = self.types_until(b')')?.into_boxed_slice();
        if !self.take_text("->") {
            return self.expected("`->`");
        }
        Ok(FunctionType { inputs, results: self.result_types()?.into_boxed_slice() })
    }

    /// `tensor<…>`; none if its element or what follows that is not known.
    fn tensor_type(&mut self) -> Read<Option<TensorType>> {
        self.expect_word("tensor")?;
        self.expect(b'<')?;
        let mut dims = SmallVec::new();
        loop {
            let dim = match self.next() {
                b'?' => {
                    self.at += 1;
                    Dim::Unknown
                }
                b'0'..=b'9' => Dim::Static(self.extent()?),
                _ => break,
            };
            dims.push(dim);
            // No white space stands around the `x`, and the element follows it at once.
            if !self.text[self.at..].starts_with('x') {
                return self.expected("`x`");
            }
            self.at += 1;
        }
        let Some(element) = self.element()? else { return Ok(None) };
        Ok(self.take(b'>').then_some(TensorType { dims, element }))
    }

    fn extent(&mut self) -> Read<u64> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        match rest[..length].parse() {
            Ok(extent) => {
                self.at += length;
                Ok(extent)
            }
            Err(_) => {
                let span = self.span(self.at, self.at + length);
                self.fail(&codes::TENSOR_TOO_LARGE, span, "this extent is larger than any tensor may be")
            }
        }
    }

    /// An element type; none, and nothing taken, if it is not known.
    fn element(&mut self) -> Read<Option<ElementType>> {
        let word = self.peek_word();
        if word == "complex" {
            self.expect_word("complex")?;
            self.expect(b'<')?;
            let part = self.word("`f32` or `f64`")?;
            self.expect(b'>')?;
            return Ok(ElementType::from_name(&format!("complex<{part}>")));
        }
        let element = ElementType::from_name(word);
        self.at += if element.is_some() { word.len() } else { 0 };
        Ok(element)
    }

    fn dialect_type(&mut self) -> Read<Type> {
        let start = self.at;
        if let Some(meaning) = self.alias() {
            return match meaning? {
                Meaning::Type(ty) => Ok(ty),
                _ => self.unknown_type(start),
            };
        }
        if self.name_after_sigil() == "stablehlo.token" {
            return Ok(self.module.interner.ty(TypeData::Token));
        }
        self.unknown_type(start)
    }

    /// A type that begins at `start` and that nothing here knows.
    fn unknown_type(&mut self, start: usize) -> Read<Type> {
        self.at = start;
        self.skip_type()?;
        let (text, span) = (&self.text[start..self.at], self.span(start, self.at));
        if self.options.allow_unregistered {
            let params = self.module.interner.string(text);
            return Ok(self.module.interner.ty(TypeData::Dialect(DialectType { def: &OPAQUE_TYPE, params })));
        }
        self.report(unknown_type(text, span));
        self.is_doubtful = true;
        Ok(self.error_type)
    }

    /// Passes over a type: a word, perhaps after `!`, and what stands in angle brackets behind it.
    fn skip_type(&mut self) -> Read {
        match self.next() {
            b'!' => {
                self.name_after_sigil();
            }
            _ => {
                self.word("a type")?;
            }
        }
        self.skip_angles()
    }

    /// Passes over `<…>` if it stands right here.
    pub(super) fn skip_angles(&mut self) -> Read {
        let bytes = self.text.as_bytes();
        if bytes.get(self.at) != Some(&b'<') {
            return Ok(());
        }
        let start = self.at;
        let mut open = Vec::new();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    let Some(end) = string_end(bytes, self.at) else { break };
                    self.at = end;
                    continue;
                }
                b'-' if bytes.get(self.at + 1) == Some(&b'>') => self.at += 1,
                b'<' => open.push(b'>'),
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                b'>' | b')' | b']' | b'}' if open.pop() != Some(byte) => break,
                _ => {}
            }
            self.at += 1;
            if open.is_empty() {
                return Ok(());
            }
        }
        let span = self.span(start, start + 1);
        self.report(Diagnostic::error(&codes::UNTERMINATED, span, "`<` is not closed").help("add `>`"));
        Err(Reported)
    }

    /// What an attribute holds that is a type.
    pub(super) fn type_attribute(&mut self) -> Read<AttrData> {
        self.ty().map(AttrData::Type)
    }
}

/// What a type that begins so is, of those that are not read.
const UNREAD: [(&str, &str); 4] = [
    ("#stablehlo.bounds", "bounds of extents that are not known (`#stablehlo.bounds`) are not read"),
    (
        "#stablehlo.type_extensions",
        "bounds of extents that are not known (`#stablehlo.type_extensions`) are not read",
    ),
    ("!quant.calibrated", "quantized elements (`!quant.calibrated`) are not read"),
    ("!quant.uniform", "quantized elements (`!quant.uniform`) are not read"),
];

fn unknown_type(text: &str, span: Span) -> Diagnostic {
    for (start, message) in UNREAD {
        if let Some(at) = text.find(start) {
            let at = span.start + at as u32;
            let span = Span::new(at, at + start.len() as u32);
            return Diagnostic::error(&codes::UNKNOWN_TYPE, span, message);
        }
    }
    let shown: String = text.chars().take(60).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    let word = text.trim_start_matches("tensor<").trim_end_matches('>');
    let word = word.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, 'x' | '?'));
    let message = format!("there is no type `{shown}{more}`");
    let diagnostic = Diagnostic::error(&codes::UNKNOWN_TYPE, span, message);
    // MLIR has integers that say they are signed, and StableHLO does not take them.
    if let Some(plain) = word.strip_prefix('s').filter(|plain| ElementType::from_name(plain).is_some()) {
        return diagnostic.help(format!("StableHLO writes signed integers `{plain}`"));
    }
    let known =
        ElementType::ALL.map(ElementType::name).into_iter().chain(["tensor", "tuple", "!stablehlo.token"]);
    diagnostic.maybe_help(suggest::did_you_mean(word, known))
}

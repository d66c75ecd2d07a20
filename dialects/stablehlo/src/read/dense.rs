//! Constants: `dense<…>`, `dense_resource<…>`, `array<…>`.

use std::fmt::Write;

use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{
    Attr, AttrData, DenseConstant, DenseData, DialectAttr, ElementKind, ElementType, TensorType, Type,
    TypeData,
};
use tofu_syntax::literals::{self, Problem};

use super::{Read, Reader, Reported, lexer::string_end};
use crate::dialect::ARRAY;

impl<'s> Reader<'s> {
    /// `dense<…> : tensor<…>`.
    pub(super) fn dense(&mut self) -> Read<AttrData> {
        let start = self.at;
        self.expect_word("dense")?;
        self.expect(b'<')?;
        let body = self.at;
        self.skip_dense_body()?;
        let end = self.at;
        self.expect(b'>')?;
        let Some((ty, tensor)) = self.constant_type()? else { return self.unknown_constant(start) };
        let text = &self.text[body..end];
        match elements(text, &tensor) {
            Ok(data) => Ok(AttrData::Dense(DenseConstant { ty, data })),
            Err(problem) => {
                let at = body + problem.at.min(text.len());
                let span = self.span(at, (at + problem.length).min(end));
                self.fail(problem.code, span, problem.message)
            }
        }
    }

    /// Moves to the `>` that closes `dense<`.
    fn skip_dense_body(&mut self) -> Read {
        let bytes = self.text.as_bytes();
        let start = self.at;
        while let Some(found) = memchr::memchr2(b'>', b'"', &bytes[self.at..]) {
            self.at += found;
            if bytes[self.at] == b'>' {
                return Ok(());
            }
            match string_end(bytes, self.at) {
                Some(end) => self.at = end,
                None => break,
            }
        }
        self.at = start;
        let span = self.span(start - 1, start);
        self.report(Diagnostic::error(&codes::UNTERMINATED, span, "`<` is not closed").help("add `>`"));
        Err(Reported)
    }

    /// `dense_resource<name> : tensor<…>`.
    pub(super) fn dense_resource(&mut self) -> Read<AttrData> {
        let start = self.at;
        self.expect_word("dense_resource")?;
        self.expect(b'<')?;
        let name_at = self.at;
        let name = match self.next() {
            b'"' => self.quoted()?.trim_matches('"'),
            _ => self.word("the name of a resource")?,
        };
        let name_span = self.span(name_at, self.at);
        self.expect(b'>')?;
        let Some((ty, tensor)) = self.constant_type()? else { return self.unknown_constant(start) };
        if name == "__elided__" {
            let message = "the value of this constant was left out when it was printed";
            return self.fail(&codes::ELIDED_CONSTANT, name_span, message);
        }
        let Some(blob) = self.resource(name) else {
            let message = format!("there is no resource `{name}`");
            let diagnostic = Diagnostic::error(&codes::UNDEFINED_SYMBOL, name_span, message);
            self.report(
                diagnostic.help("resources stand at the end of a file: `{-# dialect_resources: … #-}`"),
            );
            return Err(Reported);
        };
        // The first four bytes say how the others are aligned in memory.
        let digits = blob.strip_prefix("\"0x").and_then(|rest| rest.get(8..));
        let blob = digits.map_or(blob.to_owned(), |digits| format!("\"0x{digits}"));
        match elements(&blob, &tensor) {
            Ok(data) => Ok(AttrData::Dense(DenseConstant { ty, data })),
            Err(problem) => self.fail(problem.code, name_span, problem.message),
        }
    }

    /// The type of a constant; none if it is no tensor with elements that are known.
    fn constant_type(&mut self) -> Read<Option<(Type, TensorType)>> {
        self.expect(b':')?;
        let start = self.next_at();
        let ty = self.ty()?;
        match self.module.type_data(ty) {
            TypeData::Tensor(tensor) => Ok(Some((ty, tensor.clone()))),
            TypeData::Error => Err(Reported),
            TypeData::Dialect(_) => Ok(None),
            _ => {
                let message = format!("a constant cannot be a `{}`", self.module.type_text(ty));
                self.fail(&codes::BAD_LITERAL, self.span(start, self.at), message)
            }
        }
    }

    /// A constant whose type is kept as text is kept as text itself.
    fn unknown_constant(&mut self, start: usize) -> Read<AttrData> {
        Ok(self.opaque(start))
    }

    /// `array<i64: 1, 2>`.
    pub(super) fn array(&mut self) -> Read<AttrData> {
        self.expect_word("array")?;
        self.expect(b'<')?;
        let start = self.next_at();
        let ty = self.ty()?;
        let element = match self.module.type_data(ty) {
            TypeData::Element(element) => *element,
            TypeData::Error => return Err(Reported),
            _ => {
                let message = format!("an array of numbers cannot hold `{}`", self.module.type_text(ty));
                return self.fail(&codes::BAD_LITERAL, self.span(start, self.at), message);
            }
        };
        let body = if self.take(b':') { self.at } else { self.next_at() };
        let close = memchr::memchr(b'>', &self.text.as_bytes()[body..]);
        let Some(length) = close else { return self.expected("`>`") };
        let text = &self.text[body..body + length];
        self.at = body + length + 1;
        let count = if text.trim().is_empty() { 0 } else { text.split(',').count() as u64 };
        let tensor = TensorType::of(&[count], element);
        let data = match literals::dense(&format!("[{text}]"), &tensor) {
            Ok(data) => data,
            Err(problem) => {
                let at = body + problem.at.saturating_sub(1).min(length);
                let span = self.span(at, (at + problem.length).min(body + length));
                return self.fail(problem.code, span, problem.message);
            }
        };
        let ty = self.module.interner.ty(tensor);
        let params = self.module.interner.dense(ty, data);
        Ok(AttrData::Dialect(DialectAttr { def: &ARRAY, params }))
    }

    fn next_at(&mut self) -> usize {
        self.next();
        self.at
    }

    /// The integers of a list: of `array<i64: …>`, or of a constant of one dimension, as older programs have them.
    pub(super) fn list_of(&self, attr: Attr) -> Option<Vec<i64>> {
        let dense = match self.module.attr_data(attr) {
            AttrData::Ints(items) => return Some(items.to_vec()),
            AttrData::Dense(dense) => dense,
            AttrData::Dialect(DialectAttr { def, params }) if std::ptr::eq(*def, &ARRAY) => {
                match self.module.attr_data(*params) {
                    AttrData::Dense(dense) => dense,
                    _ => return None,
                }
            }
            _ => return None,
        };
        let (tensor, values) = self.integers_of(dense)?;
        (tensor.rank() == 1).then_some(values)
    }

    /// The two columns of a constant of integers.
    pub(super) fn columns_of(&self, attr: Attr) -> Option<[Vec<i64>; 2]> {
        let AttrData::Dense(dense) = self.module.attr_data(attr) else { return None };
        let (tensor, values) = self.integers_of(dense)?;
        let is_pairs = tensor.rank() == 2 && tensor.dims[1].size() == Some(2) || values.is_empty();
        let column = |at: usize| values.iter().skip(at).step_by(2).copied().collect();
        is_pairs.then(|| [column(0), column(1)])
    }

    fn integers_of(&self, dense: &DenseConstant) -> Option<(&TensorType, Vec<i64>)> {
        let TypeData::Tensor(tensor) = self.module.type_data(dense.ty) else { return None };
        if !tensor.element.is_integer() {
            return None;
        }
        // Lists of integers are short; a constant that is not is no list.
        let count = usize::try_from(tensor.element_count()?).ok().filter(|&count| count <= MAX_LIST)?;
        let values = (0..count).map(|index| Some(signed(dense.data.element(index, tensor.element)?)));
        Some((tensor, values.collect::<Option<_>>()?))
    }
}

/// No list of integers of an op is longer.
const MAX_LIST: usize = 1 << 16;

/// The little-endian integer in `bytes`.
fn signed(bytes: &[u8]) -> i64 {
    let fill = if bytes.last().is_some_and(|&byte| byte >= 0x80) { 0xFF } else { 0 };
    let mut wide = [fill; 8];
    wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    i64::from_le_bytes(wide)
}

/// The elements of the constant `dense<body>`.
fn elements(body: &str, tensor: &TensorType) -> Result<DenseData, Problem> {
    let narrow = if tensor.element.bits() < 8 { narrow_elements(body.trim(), tensor) } else { None };
    match narrow {
        Some(data) => Ok(data),
        None => literals::dense(body, tensor)
            .or_else(|problem| signed_elements(body, tensor).unwrap_or(Err(problem))),
    }
}

/// The elements of a constant in which numbers are written without their sign, `255` for `-1` of `i8`. None if there
/// are no such numbers; what is wrong otherwise is said of the text as it is written.
fn signed_elements(body: &str, tensor: &TensorType) -> Option<Result<DenseData, Problem>> {
    if body.contains('"') {
        return None;
    }
    let (mut text, mut rest) = (String::with_capacity(body.len()), body);
    // Where a number was replaced: the ends of it in the new text and in the old one.
    let mut replaced: Vec<(usize, usize)> = Vec::new();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit() || c == '-') {
        let number = &rest[start..];
        let end = number.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '.'));
        let number = &number[..end.unwrap_or(number.len())];
        text.push_str(&rest[..start]);
        rest = &rest[start + number.len()..];
        match super::attributes::same_bits(number, tensor.element) {
            Some(value) => {
                let _ = write!(text, "{value}");
                replaced.push((text.len(), body.len() - rest.len()));
            }
            None => text.push_str(number),
        }
    }
    text.push_str(rest);
    if replaced.is_empty() {
        return None;
    }
    Some(literals::dense(&text, tensor).map_err(|mut problem| {
        let before = replaced.partition_point(|&(end, _)| end <= problem.at);
        if let Some(&(new, old)) = before.checked_sub(1).and_then(|index| replaced.get(index)) {
            problem.at = problem.at - new + old;
        }
        problem
    }))
}

/// The elements of `"0x…"` that take less than a byte. Of a byte for each, or for all, MLIR takes the lowest bits; a
/// boolean is true unless all bits are zero. Older printers wrote booleans eight in a byte, the first one lowest. None
/// if the length is another one.
fn narrow_elements(quoted: &str, tensor: &TensorType) -> Option<DenseData> {
    let element = tensor.element;
    let digits = quoted.strip_prefix("\"0x")?.strip_suffix('"')?;
    let count = usize::try_from(tensor.element_count()?).ok()?;
    let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok());
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    if element == ElementType::I1 && bytes.len() == count.div_ceil(8) && bytes.len() > 1 {
        let bits = (0..count).map(|index| bytes[index / 8] >> (index % 8) & 1).collect();
        return Some(DenseData::from_bytes(bits, element));
    }
    let unused = 8 - element.bits();
    let narrowed = bytes.into_iter().map(|byte| match element.kind() {
        _ if element == ElementType::I1 => u8::from(byte != 0),
        ElementKind::Signed => ((byte << unused) as i8 >> unused) as u8,
        _ => byte << unused >> unused,
    });
    let narrowed: Vec<u8> = narrowed.collect();
    match narrowed[..] {
        [byte] if count != 0 => Some(DenseData::Splat([byte][..].into())),
        _ => (narrowed.len() == count).then(|| DenseData::from_bytes(narrowed, element)),
    }
}

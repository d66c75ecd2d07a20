//! Numbers, strings and constants, as they are written here and in MLIR.

use smallvec::SmallVec;
use tofu_diagnostics::{Code, codes};
use tofu_ir::{AttrData, DenseData, ElementKind, ElementType, TensorType, encode_float};

use super::types::MAX_DEPTH;

/// What is wrong in a constant, and where in its text.
#[derive(Debug)]
pub struct Problem {
    /// What kind of mistake it is.
    pub code: &'static Code,
    /// Where it begins, in bytes of the constant's text.
    pub at: usize,
    /// How many bytes are wrong.
    pub length: usize,
    /// One sentence, lower case, without a full stop.
    pub message: String,
}

/// Text in quotes without them and without escapes. `\n` and `\t` are what they look like, `\41` is a byte, any other
/// character stands for itself. Bytes that make no character are replaced.
pub fn unescape(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    if !inner.contains('\\') {
        return inner.to_owned();
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'\\' {
            bytes.push(first);
            continue;
        }
        let hex = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let hex = hex.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        if let Some(byte) = hex.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &rest[2..];
            continue;
        }
        if let Some((&escaped, after)) = rest.split_first() {
            bytes.push(match escaped {
                b'n' => b'\n',
                b't' => b'\t',
                other => other,
            });
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where the word or the string at the start of `text` ends.
pub(super) fn word_or_string_end(text: &str) -> usize {
    if !text.starts_with('"') {
        let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
        return text.find(|c| !is_inner(c)).unwrap_or(text.len());
    }
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// Whether a number without a type is a float.
pub fn looks_like_float(text: &str) -> bool {
    !text.starts_with("0x") && text.contains(['.', 'e', 'E'])
}

/// The number `text` as an `element`; it may be given by its bits in hexadecimal.
///
/// # Errors
/// When it is no number of this type, with a message.
pub fn number(text: &str, element: ElementType) -> Result<AttrData, String> {
    match element.kind() {
        ElementKind::Complex => Err(format!("a number cannot be a `{element}`")),
        ElementKind::Float => Ok(AttrData::Float(float_bits(text, element)?, element)),
        _ => Ok(AttrData::Int(integer(text, element)?, element)),
    }
}

fn integer(text: &str, element: ElementType) -> Result<i128, String> {
    let (sign, magnitude) = text.strip_prefix('-').map_or((1, text), |magnitude| (-1, magnitude));
    let value = match magnitude.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok().map(|value| sign * value),
        None if text == "true" => Some(1),
        None if text == "false" => Some(0),
        None => text.parse().ok(),
    };
    let Some(value) = value else {
        return Err(format!("`{}` is no {element}", shortened(text)));
    };
    match element.integer_range() {
        // The bits of a negative number.
        Some((low, high))
            if low < 0 && text.starts_with("0x") && (high + 1..=2 * high + 1).contains(&value) =>
        {
            Ok(value + 2 * low)
        }
        Some((low, high)) if (low..=high).contains(&value) => Ok(value),
        Some((low, high)) => Err(format!("{value} is out of the range of {element}, {low} to {high}")),
        None => Err(format!("`{}` is no {element}", shortened(text))),
    }
}

/// The bits of the float `text`: a decimal number, rounded, or its bits in hexadecimal.
fn float_bits(text: &str, element: ElementType) -> Result<u64, String> {
    if let Some(digits) = text.strip_prefix("0x") {
        let bits =
            u64::from_str_radix(digits, 16).map_err(|_| format!("`{}` is too long", shortened(text)))?;
        return match element.bits() {
            64 => Ok(bits),
            width if bits >> width == 0 => Ok(bits),
            width => Err(format!("`{text}` has more than the {width} bits of {element}")),
        };
    }
    let wrong = |_| format!("`{}` is no {element}", shortened(text));
    // Parsed as what it is: a detour through f64 would round an f32 twice.
    if element == ElementType::F32 {
        return text.parse::<f32>().map(|value| u64::from(value.to_bits())).map_err(wrong);
    }
    text.parse::<f64>().map(|value| encode_float(element, value)).map_err(wrong)
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(40).chain(['…']).collect() }
}

/// The elements of the constant `dense<body>` of the type `tensor`.
///
/// # Errors
/// When the body is no constant of this type.
pub fn dense(body: &str, tensor: &TensorType) -> Result<DenseData, Problem> {
    let element = tensor.element;
    let whole = |code, message: String| Problem { code, at: 0, length: body.len(), message };
    let (Some(dims), Some(count)) = (tensor.static_dims(), tensor.element_count()) else {
        let message = "a constant needs a type whose extents are all known".to_owned();
        return Err(whole(&codes::BAD_CONSTANT_SHAPE, message));
    };
    let trimmed = body.trim();
    if trimmed == "…" {
        let message = "the value of this constant was left out when it was printed".to_owned();
        return Err(whole(&codes::ELIDED_CONSTANT, message));
    }
    if trimmed.is_empty() {
        return match count {
            0 => Ok(DenseData::from_bytes(Vec::new(), element)),
            _ => Err(whole(&codes::BAD_CONSTANT_SHAPE, format!("{count} elements are missing"))),
        };
    }
    if trimmed.starts_with('"') {
        return hex_bytes(trimmed, count, element)
            .map_err(|message| whole(&codes::BAD_CONSTANT_SHAPE, message));
    }
    let mut reader = DenseReader { text: body, at: 0, element, dims: &dims, bytes: Vec::new() };
    reader.skip_blank();
    let is_list = reader.peek() == Some(b'[');
    if is_list {
        reader.list(0)?;
    } else {
        reader.element()?;
    }
    reader.skip_blank();
    if reader.at < body.len() {
        return Err(reader.problem(&codes::BAD_LITERAL, "nothing may follow the value".to_owned()));
    }
    // A lone element fills the whole tensor; a list has been counted against the extents.
    if is_list || count == 1 {
        return Ok(DenseData::from_bytes(reader.bytes, element));
    }
    match count {
        0 => Ok(DenseData::from_bytes(Vec::new(), element)),
        _ => Ok(DenseData::Splat(SmallVec::from_vec(reader.bytes))),
    }
}

/// `"0x…"`: the storage of all elements, or of one that fills the tensor.
fn hex_bytes(quoted: &str, count: u64, element: ElementType) -> Result<DenseData, String> {
    let digits = quoted.strip_prefix("\"0x").and_then(|rest| rest.strip_suffix('"'));
    let Some(digits) = digits else {
        return Err("a constant in quotes is hexadecimal: `\"0x…\"`".to_owned());
    };
    let size = element.storage_bytes();
    let wanted = u128::from(count) * size as u128;
    if digits.len() as u128 != wanted * 2 && digits.len() != size * 2 {
        return Err(format!(
            "expected {wanted} bytes, or {size} for one value, found {} digits",
            digits.len()
        ));
    }
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    for pair in digits.as_bytes().chunks_exact(2) {
        match (hex_digit(pair[0]), hex_digit(pair[1])) {
            (Some(high), Some(low)) => bytes.push(high << 4 | low),
            _ => return Err("a digit is not hexadecimal".to_owned()),
        }
    }
    for item in bytes.chunks_exact(size) {
        check_storage(item, element)?;
    }
    Ok(DenseData::from_bytes(bytes, element))
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

/// Narrow elements take a whole byte; bits beyond theirs must repeat the sign, or be zero.
fn check_storage(bytes: &[u8], element: ElementType) -> Result<(), String> {
    match bytes.iter().find(|&&byte| !element.holds_byte(byte)) {
        None => Ok(()),
        Some(byte) => Err(format!("the byte 0x{byte:02X} is no {element}")),
    }
}

/// Reads nested lists of elements, counting them against the extents.
struct DenseReader<'a> {
    text: &'a str,
    at: usize,
    element: ElementType,
    dims: &'a [u64],
    bytes: Vec<u8>,
}

impl DenseReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t'..=b'\r')) {
            self.at += 1;
        }
    }

    fn problem(&self, code: &'static Code, message: String) -> Problem {
        Problem { code, at: self.at, length: self.next_length(), message }
    }

    fn next_length(&self) -> usize {
        self.text[self.at..].chars().next().map_or(0, char::len_utf8)
    }

    /// A list at nesting `level`.
    fn list(&mut self, level: usize) -> Result<(), Problem> {
        let start = self.at;
        if level == MAX_DEPTH {
            let message = format!("lists nest more than {MAX_DEPTH} deep");
            return Err(self.problem(&codes::NESTING_TOO_DEEP, message));
        }
        let Some(&extent) = self.dims.get(level) else {
            let message = format!("lists nest deeper than the {} dimensions of the type", self.dims.len());
            return Err(self.problem(&codes::BAD_CONSTANT_SHAPE, message));
        };
        self.at += 1;
        let mut length = 0u64;
        loop {
            self.skip_blank();
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    break;
                }
                Some(b',') if length > 0 => {
                    self.at += 1;
                    self.skip_blank();
                }
                Some(_) if length == 0 => {}
                _ => return Err(self.problem(&codes::BAD_LITERAL, "expected `,` or `]`".to_owned())),
            }
            if self.peek() == Some(b'[') {
                self.list(level + 1)?;
            } else if level + 1 == self.dims.len() {
                self.element()?;
            } else {
                let message = format!("expected a list: the type has {} dimensions", self.dims.len());
                return Err(self.problem(&codes::BAD_CONSTANT_SHAPE, message));
            }
            length += 1;
        }
        if length == extent {
            return Ok(());
        }
        self.at = start;
        let message = format!("this list has {length} items, but dimension {level} of the type is {extent}");
        Err(self.problem(&codes::BAD_CONSTANT_SHAPE, message))
    }

    fn element(&mut self) -> Result<(), Problem> {
        if !self.element.is_complex() {
            return self.number(self.element);
        }
        let part = self.element.part();
        self.expect(b'(')?;
        self.number(part)?;
        self.expect(b',')?;
        self.number(part)?;
        self.expect(b')')
    }

    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        self.skip_blank();
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        let message = format!("expected `{}`: a complex number reads `(1.0, 2.0)`", char::from(byte));
        Err(self.problem(&codes::BAD_LITERAL, message))
    }

    fn number(&mut self, element: ElementType) -> Result<(), Problem> {
        self.skip_blank();
        let rest = &self.text[self.at..];
        let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
        let length = rest.find(|c: char| !is_inner(c)).unwrap_or(rest.len());
        let token = &rest[..length];
        let length_of_mark = length.max(self.next_length());
        let wrong =
            |message| Problem { code: &codes::BAD_LITERAL, at: self.at, length: length_of_mark, message };
        if !token.starts_with(|c: char| c.is_ascii_digit() || c == '-') && !matches!(token, "true" | "false")
        {
            return Err(wrong(format!("expected a number, found `{}`", shortened(token))));
        }
        let bits = if element.is_float() {
            float_bits(token, element).map_err(wrong)?
        } else {
            integer(token, element).map_err(wrong)? as u64
        };
        self.bytes.extend_from_slice(&bits.to_le_bytes()[..element.storage_bytes()]);
        self.at += length;
        Ok(())
    }
}

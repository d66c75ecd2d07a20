//! Types, attributes and locations as text: what the parser in `syntax` reads back, and what messages quote.

use std::fmt::Write;

use crate::{
    Attr, AttrData, DenseConstant, DenseData, DialectAttr, Dim, ElementKind, ElementType, EntityId,
    FunctionType, Location, LocationData, Module, Name, ParameterWriter, TensorType, Type, TypeData,
    decode_float, encode_float,
};

/// How much of constants is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DisplayOptions {
    /// Constants of more elements than this that are no splat are written `dense<…>` without their value; such text
    /// cannot be read back.
    pub elide_constants: Option<usize>,
}

/// Constants of more elements than this are written as one string of hexadecimal bytes.
const MAX_LISTED_ELEMENTS: usize = 64;

/// Constants of more dimensions than this are, too.
const MAX_LISTED_RANK: usize = 16;

/// Writes a type.
pub fn write_type(out: &mut String, module: &Module, ty: Type) {
    write_type_data(out, module, module.type_data(ty));
}

fn write_type_data(out: &mut String, module: &Module, data: &TypeData) {
    match data {
        TypeData::Element(element) => out.push_str(element.name()),
        TypeData::Tensor(tensor) => write_tensor_type(out, module, tensor),
        TypeData::Token => out.push_str("token"),
        TypeData::Tuple(items) => {
            out.push_str("tuple<");
            write_types(out, module, items);
            out.push('>');
        }
        TypeData::Function(function) => write_function_type(out, module, function),
        TypeData::Dialect(dialect) => {
            out.push_str(dialect.def.name);
            write_in_angles(out, module, dialect.def.print, dialect.params);
        }
        TypeData::Error => out.push_str("<error>"),
    }
}

fn write_tensor_type(out: &mut String, module: &Module, tensor: &TensorType) {
    out.push_str("tensor<");
    for dim in &tensor.dims {
        match *dim {
            Dim::Static(size) => write_unsigned(out, size),
            Dim::Unknown => out.push('?'),
            Dim::Symbol(name) => {
                out.push('{');
                write_word(out, module.text(name));
                out.push('}');
            }
        }
        out.push('x');
    }
    out.push_str(tensor.element.name());
    out.push('>');
}

fn write_types(out: &mut String, module: &Module, types: &[Type]) {
    for (index, &ty) in types.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_type(out, module, ty);
    }
}

fn write_function_type(out: &mut String, module: &Module, function: &FunctionType) {
    out.push('(');
    write_types(out, module, &function.inputs);
    out.push_str(") -> ");
    match *function.results {
        [ty] if !matches!(module.type_data(ty), TypeData::Function(_)) => write_type(out, module, ty),
        ref results => {
            out.push('(');
            write_types(out, module, results);
            out.push(')');
        }
    }
}

/// Writes `number`; a little faster than the formatting machinery, which matters for millions of extents.
fn write_unsigned(out: &mut String, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

/// Writes an attribute. A unit is written `unit`.
pub fn write_attr(out: &mut String, module: &Module, attr: Attr, options: DisplayOptions) {
    match module.attr_data(attr) {
        AttrData::Unit => out.push_str("unit"),
        AttrData::Bool(value) => push(out, format_args!("{value}")),
        AttrData::Int(value, ElementType::I64) => push(out, format_args!("{value}")),
        AttrData::Int(value, ty) => push(out, format_args!("{value} : {ty}")),
        AttrData::Float(bits, element) => {
            write_float(out, *element, *bits);
            if *element != ElementType::F64 || !decode_float(*element, *bits).is_finite() {
                push(out, format_args!(" : {element}"));
            }
        }
        AttrData::String(text) => write_string(out, text),
        AttrData::Symbol(path) => {
            for (index, &name) in path.iter().enumerate() {
                out.push_str(if index > 0 { "::@" } else { "@" });
                write_word(out, module.text(name));
            }
        }
        AttrData::Type(ty) => write_type(out, module, *ty),
        AttrData::Array(items) => {
            out.push('[');
            for (index, &item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_attr(out, module, item, options);
            }
            out.push(']');
        }
        AttrData::Ints(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                push(out, format_args!("{item}"));
            }
            out.push(']');
        }
        AttrData::Dict(entries) => write_dict(out, module, entries, options),
        AttrData::Dense(dense) => {
            write_dense(out, module, dense, options);
            out.push_str(" : ");
            write_type(out, module, dense.ty);
        }
        AttrData::Pair(left, right) => {
            write_pair_side(out, module, *left, options);
            out.push_str(" x ");
            write_pair_side(out, module, *right, options);
        }
        AttrData::Dialect(dialect) => {
            out.push('#');
            out.push_str(dialect.def.name);
            write_in_angles(out, module, dialect.def.print, dialect.params);
        }
    }
}

/// Writes what stands between the brackets of a dialect's own attribute.
pub fn write_parameters(out: &mut String, module: &Module, attr: &DialectAttr) {
    out.push_str(&parameters(module, attr.def.print, attr.params));
}

fn write_pair_side(out: &mut String, module: &Module, attr: Attr, options: DisplayOptions) {
    let nested = matches!(module.attr_data(attr), AttrData::Pair(..));
    if nested {
        out.push('(');
    }
    write_attr(out, module, attr, options);
    if nested {
        out.push(')');
    }
}

/// Writes a dictionary, `{a = 1, b}`.
pub fn write_dict(out: &mut String, module: &Module, entries: &[(Name, Attr)], options: DisplayOptions) {
    out.push('{');
    for (index, &(name, attr)) in entries.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_word(out, module.text(name));
        if !matches!(module.attr_data(attr), AttrData::Unit) {
            out.push_str(" = ");
            write_attr(out, module, attr, options);
        }
    }
    out.push('}');
}

/// Writes a constant without its type, `dense<…>`.
pub fn write_dense(out: &mut String, module: &Module, dense: &DenseConstant, options: DisplayOptions) {
    let TypeData::Tensor(tensor) = module.type_data(dense.ty) else { return };
    let element = tensor.element;
    out.push_str("dense<");
    match &dense.data {
        DenseData::Splat(bytes) => write_element(out, element, bytes),
        DenseData::Bytes(bytes) => {
            let count = bytes.len() / element.storage_bytes();
            let dims = tensor.static_dims().unwrap_or_default();
            if options.elide_constants.is_some_and(|limit| count > limit) {
                out.push('…');
            } else if count > MAX_LISTED_ELEMENTS || dims.len() > MAX_LISTED_RANK && count > 0 {
                write_hex(out, bytes);
            } else if count > 0 {
                write_nested(out, element, &dims, bytes);
            }
        }
    }
    out.push('>');
}

fn write_hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push_str("\"0x");
    out.reserve(bytes.len() * 2 + 1);
    for &byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    out.push('"');
}

fn write_nested(out: &mut String, element: ElementType, dims: &[u64], bytes: &[u8]) {
    let Some((&extent, inner)) = dims.split_first() else {
        return write_element(out, element, bytes);
    };
    out.push('[');
    let size = bytes.len() / extent.max(1) as usize;
    for (index, part) in bytes.chunks_exact(size.max(1)).enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_nested(out, element, inner, part);
    }
    out.push(']');
}

fn write_element(out: &mut String, element: ElementType, bytes: &[u8]) {
    if element.is_complex() {
        let (real, imaginary) = bytes.split_at(bytes.len() / 2);
        out.push('(');
        write_element(out, element.part(), real);
        out.push_str(", ");
        write_element(out, element.part(), imaginary);
        out.push(')');
        return;
    }
    let bits = little_endian(bytes);
    match element.kind() {
        ElementKind::Bool => out.push_str(if bits != 0 { "true" } else { "false" }),
        ElementKind::Unsigned => write_unsigned(out, bits),
        ElementKind::Signed => {
            let unused = 64 - element.bits();
            push(out, format_args!("{}", ((bits << unused) as i64) >> unused));
        }
        ElementKind::Float | ElementKind::Complex => write_float(out, element, bits),
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).enumerate().fold(0, |bits, (index, &byte)| bits | u64::from(byte) << (8 * index))
}

/// Writes a float as the shortest decimal that reads back to the same bits, or as those bits where none does.
fn write_float(out: &mut String, element: ElementType, bits: u64) {
    let value = decode_float(element, bits);
    if value.is_finite() {
        match element {
            ElementType::F64 => return push(out, format_args!("{value:?}")),
            ElementType::F32 => return push(out, format_args!("{:?}", value as f32)),
            // A short decimal near a large number may be no number of the type; the number itself is clearer.
            _ if value.fract() == 0.0 && value.abs() < 1e6 => return push(out, format_args!("{value:?}")),
            _ => {
                for digits in 0..17 {
                    let rounded = format!("{value:.digits$e}").parse().unwrap_or(value);
                    if encode_float(element, rounded) == bits {
                        return push(out, format_args!("{rounded:?}"));
                    }
                }
            }
        }
    }
    let digits = element.storage_bytes() * 2;
    push(out, format_args!("0x{bits:0digits$X}"));
}

/// Writes a string in quotes.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let mut buffer = [0; 4];
                for byte in c.encode_utf8(&mut buffer).bytes() {
                    push(out, format_args!("\\{byte:02X}"));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Writes a name: bare where it is a word, else in quotes.
pub fn write_word(out: &mut String, text: &str) {
    if is_word(text) { out.push_str(text) } else { write_string(out, text) }
}

fn is_word(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.split('.').all(|part| !part.is_empty() && part.bytes().all(is_inner))
}

fn write_in_angles(
    out: &mut String,
    module: &Module,
    print: fn(&Module, Attr, &mut dyn ParameterWriter),
    params: Attr,
) {
    let text = parameters(module, print, params);
    if !text.is_empty() {
        out.push('<');
        out.push_str(&text);
        out.push('>');
    }
}

fn parameters(module: &Module, print: fn(&Module, Attr, &mut dyn ParameterWriter), params: Attr) -> String {
    let mut writer = Parameters { text: String::new(), module };
    print(module, params, &mut writer);
    writer.text
}

struct Parameters<'m> {
    text: String,
    module: &'m Module,
}

impl Write for Parameters<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}

impl ParameterWriter for Parameters<'_> {
    fn ty(&mut self, ty: Type) {
        write_type(&mut self.text, self.module, ty);
    }

    fn attribute(&mut self, attr: Attr) {
        write_attr(&mut self.text, self.module, attr, DisplayOptions::default());
    }
}

/// Writes a location as it stands inside `loc(…)`.
pub fn write_location(out: &mut String, module: &Module, location: Location) {
    write_location_with(out, module, location, &mut |out, metadata| {
        write_attr(out, module, metadata, DisplayOptions::default());
    });
}

/// The same, where `attribute` writes attributes in it.
pub fn write_location_with(
    out: &mut String,
    module: &Module,
    location: Location,
    attribute: &mut dyn FnMut(&mut String, Attr),
) {
    match module.location_data(location) {
        LocationData::Unknown => out.push_str("unknown"),
        LocationData::File { file, line, column } => {
            write_string(out, module.text(*file));
            push(out, format_args!(":{line}:{column}"));
        }
        LocationData::Named { name, child } => {
            write_string(out, module.text(*name));
            if *child != module.interner.unknown_location() {
                out.push('(');
                write_location_with(out, module, *child, attribute);
                out.push(')');
            }
        }
        LocationData::Fused { parts, metadata } => {
            out.push_str("fused");
            if let Some(metadata) = *metadata {
                out.push('<');
                attribute(out, metadata);
                out.push('>');
            }
            out.push('[');
            for (index, &part) in parts.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_location_with(out, module, part, attribute);
            }
            out.push(']');
        }
        LocationData::Call { callee, caller } => {
            out.push_str("callsite(");
            write_location_with(out, module, *callee, attribute);
            out.push_str(" at ");
            write_location_with(out, module, *caller, attribute);
            out.push(')');
        }
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a string cannot fail.
    let _ = out.write_fmt(text);
}

/// An attribute as text, for messages.
#[derive(Clone, Copy, Debug)]
pub struct AttrDisplay<'m> {
    module: &'m Module,
    attr: Attr,
}

impl std::fmt::Display for AttrDisplay<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        write_attr(&mut text, self.module, self.attr, DisplayOptions { elide_constants: Some(16) });
        f.write_str(&text)
    }
}

impl Module {
    /// A type as text, for messages.
    pub fn type_text(&self, ty: Type) -> String {
        self.type_data_text(self.type_data(ty))
    }

    /// A type that need not be interned as text, for messages.
    pub fn type_data_text(&self, data: &TypeData) -> String {
        let mut text = String::new();
        write_type_data(&mut text, self, data);
        text
    }

    /// An attribute as text, for messages.
    pub fn display_attr(&self, attr: Attr) -> AttrDisplay<'_> {
        AttrDisplay { module: self, attr }
    }

    /// A value as it stands in a sentence: its name in quotes, or which result or argument it is.
    pub fn quoted_value(&self, value: crate::ValueId) -> String {
        match self.value_name(value) {
            Some(name) => format!("`%{}`", self.text(name)),
            None => self.value_text(value),
        }
    }

    /// A value as messages name it: its name, or which result or argument it is.
    pub fn value_text(&self, value: crate::ValueId) -> String {
        if let Some(name) = self.value_name(value) {
            return format!("%{}", self.text(name));
        }
        match self.definition(value) {
            crate::Definition::Result { op, index } => {
                format!("result {index} of `{}`", self.def(op).written_name())
            }
            crate::Definition::Argument { index, .. } => format!("block argument {index}"),
            crate::Definition::None => format!("value {}", value.index()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(element: ElementType, bits: u64) -> String {
        let mut out = String::new();
        write_float(&mut out, element, bits);
        out
    }

    #[test]
    fn floats_are_short_and_exact() {
        assert_eq!(float(ElementType::F32, u64::from(0.1f32.to_bits())), "0.1");
        assert_eq!(float(ElementType::F64, 1e300f64.to_bits()), "1e300");
        assert_eq!(float(ElementType::F16, 0x2E66), "0.1");
        assert_eq!(float(ElementType::F8E4M3FN, 0x7E), "448.0");
        assert_eq!(float(ElementType::BF16, 0x8000), "-0.0");
        assert_eq!(float(ElementType::F32, 0x7FC0_0001), "0x7FC00001");
        assert_eq!(float(ElementType::F8E5M2, 0x7C), "0x7C");
    }

    #[test]
    fn strings_escape_what_would_end_them() {
        let mut out = String::new();
        write_string(&mut out, "a\"\\\n\u{1}é");
        assert_eq!(out, r#""a\"\\\n\01é""#);
    }
}

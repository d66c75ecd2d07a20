//! Types, attributes and constants as MLIR spells them.

use std::fmt::Write as _;

use tofu_ir::{
    Attr, AttrData, DenseConstant, DenseData, DialectAttr, Dim, ElementKind, ElementType, ParameterWriter,
    Type, TypeData, decode_float, write_string, write_word,
};

use super::{Writer, attributes::enumeration};
use crate::dialect::{
    ALL_TO_ALL_PARAMS, ARRAY, AXES, AXES_PER_DIMENSION, COMPARISON_DIRECTION, COMPARISON_TYPE, CONV,
    FFT_TYPE, MANUAL_AXES, OPAQUE_ATTR, OPAQUE_TYPE, PRECISION, RNG_ALGORITHM, RNG_DISTRIBUTION, TRANSPOSE,
};

/// Constants of more elements than this are written as hexadecimal bytes.
const MAX_LISTED_ELEMENTS: usize = 64;

impl Writer<'_> {
    pub(super) fn new_type(&mut self, ty: Type) {
        match self.module.type_data(ty) {
            TypeData::Element(element) => self.out.push_str(element.name()),
            TypeData::Tensor(tensor) => {
                self.out.push_str("tensor<");
                for dim in &tensor.dims {
                    match dim {
                        Dim::Static(size) => {
                            let _ = write!(self.out, "{size}x");
                        }
                        Dim::Unknown | Dim::Symbol(_) => self.out.push_str("?x"),
                    }
                }
                self.out.push_str(tensor.element.name());
                self.out.push('>');
            }
            TypeData::Token => self.out.push_str("!stablehlo.token"),
            TypeData::Tuple(items) => {
                self.out.push_str("tuple<");
                self.type_list(items.iter().copied());
                self.out.push('>');
            }
            TypeData::Function(function) => {
                self.out.push('(');
                self.type_list(function.inputs.iter().copied());
                self.out.push_str(") -> (");
                self.type_list(function.results.iter().copied());
                self.out.push(')');
            }
            TypeData::Dialect(dialect) if std::ptr::eq(dialect.def, &OPAQUE_TYPE) => {
                if let AttrData::String(text) = self.module.attr_data(dialect.params) {
                    self.out.push_str(text);
                }
            }
            TypeData::Dialect(_) | TypeData::Error => {
                self.refuse(format!(
                    "the type `{}` cannot be written in StableHLO",
                    self.module.type_text(ty)
                ));
            }
        }
    }

    /// An attribute as text.
    pub(super) fn attr_text(&mut self, attr: Attr) -> String {
        self.captured(|writer| writer.attr(attr))
    }

    /// A field of a structure, where integers have no types.
    pub(super) fn field_text(&mut self, attr: Attr) -> String {
        match self.module.attr_data(attr) {
            AttrData::Int(value, _) => value.to_string(),
            _ => self.attr_text(attr),
        }
    }

    /// `<…>` of a dialect attribute.
    pub(super) fn bare_text(&mut self, attr: Attr) -> Option<String> {
        let AttrData::Dialect(dialect) = self.module.attr_data(attr) else { return None };
        Some(format!("<{}>", self.parameters(dialect)))
    }

    /// What `write` writes, on its own.
    fn captured(&mut self, write: impl FnOnce(&mut Self)) -> String {
        let out = std::mem::take(&mut self.out);
        // Places in one text mean nothing in another.
        let types = std::mem::take(&mut self.types);
        write(self);
        self.types = types;
        std::mem::replace(&mut self.out, out)
    }

    pub(super) fn attr(&mut self, attr: Attr) {
        let module = self.module;
        match module.attr_data(attr) {
            AttrData::Unit => self.out.push_str("unit"),
            AttrData::Bool(value) => {
                let _ = write!(self.out, "{value}");
            }
            AttrData::Int(value, element) => {
                let _ = write!(self.out, "{value} : {element}");
            }
            AttrData::Float(bits, element) => {
                self.float(*element, *bits);
                let _ = write!(self.out, " : {element}");
            }
            AttrData::String(text) => write_string(&mut self.out, text),
            AttrData::Symbol(path) => {
                for (index, &name) in path.iter().enumerate() {
                    self.out.push_str(if index > 0 { "::@" } else { "@" });
                    write_word(&mut self.out, module.text(name));
                }
            }
            AttrData::Type(ty) => self.ty(*ty),
            AttrData::Array(items) => {
                self.out.push('[');
                for (index, &item) in items.iter().enumerate() {
                    self.separate(index);
                    self.attr(item);
                }
                self.out.push(']');
            }
            AttrData::Ints(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.separate(index);
                    let _ = write!(self.out, "{item}");
                }
                self.out.push(']');
            }
            AttrData::Dict(entries) => {
                let entries: Vec<(String, String)> = entries
                    .iter()
                    .map(|&(name, attr)| (module.text(name).to_owned(), self.attr_text(attr)))
                    .collect();
                self.braced(&entries);
            }
            AttrData::Dense(dense) => self.typed_dense(dense),
            AttrData::Pair(..) => {
                self.refuse(format!("`{}` cannot be written in StableHLO", module.display_attr(attr)));
            }
            AttrData::Dialect(dialect) => self.dialect_attr(dialect),
        }
    }

    fn dialect_attr(&mut self, dialect: &DialectAttr) {
        let enumerations = [
            &COMPARISON_DIRECTION,
            &COMPARISON_TYPE,
            &FFT_TYPE,
            &PRECISION,
            &RNG_ALGORITHM,
            &RNG_DISTRIBUTION,
            &TRANSPOSE,
        ];
        let is = |def: &&_| std::ptr::eq(dialect.def, *def);
        let params = self.module.attr_data(dialect.params);
        match params {
            AttrData::String(word) if enumerations.iter().any(is) => {
                self.out.push_str(&enumeration(dialect.def, word));
            }
            AttrData::String(text) if is(&&OPAQUE_ATTR) => self.out.push_str(text),
            AttrData::String(text) if is(&&CONV) => {
                let _ = write!(self.out, "#{}<{}>", CONV.name, super::attributes::dimension_numbers(text));
            }
            AttrData::Dense(dense) if is(&&ARRAY) => self.array(dense),
            _ if [&MANUAL_AXES, &AXES, &AXES_PER_DIMENSION, &ALL_TO_ALL_PARAMS].iter().any(is) => {
                let axes = self.parameters(dialect);
                let _ = write!(self.out, "#sdy<{}{axes}>", dialect.def.name.trim_start_matches("sdy."));
            }
            _ if matches!(dialect.def.name.split_once('.'), Some(("stablehlo" | "sdy", _))) => {
                let parameters = self.parameters(dialect);
                let _ = write!(self.out, "#{}<{parameters}>", dialect.def.name);
            }
            _ => self.refuse(format!("`#{}` cannot be written in StableHLO", dialect.def.name)),
        }
    }

    /// What stands between the brackets of a dialect attribute.
    pub(super) fn parameters(&mut self, dialect: &DialectAttr) -> String {
        let module = self.module;
        self.captured(|writer| (dialect.def.print)(module, dialect.params, &mut Parameters(writer)))
    }

    /// `dense<…> : type`.
    pub(super) fn typed_dense(&mut self, dense: &DenseConstant) {
        let TypeData::Tensor(tensor) = self.module.type_data(dense.ty) else { return };
        let element = tensor.element;
        self.out.push_str("dense<");
        match &dense.data {
            DenseData::Splat(bytes) => self.element(element, bytes),
            DenseData::Bytes(bytes) => {
                let count = bytes.len() / element.storage_bytes();
                // Booleans have had two forms as bytes.
                if count > MAX_LISTED_ELEMENTS && element != ElementType::I1 {
                    self.hex(bytes);
                } else if count > 0 {
                    let dims = tensor.static_dims().unwrap_or_default();
                    self.nested(element, &dims, bytes);
                }
            }
        }
        self.out.push_str("> : ");
        self.ty(dense.ty);
    }

    /// `array<i64: 1, 2>`.
    fn array(&mut self, dense: &DenseConstant) {
        let TypeData::Tensor(tensor) = self.module.type_data(dense.ty) else { return };
        let element = tensor.element;
        let _ = write!(self.out, "array<{element}");
        for index in 0..tensor.element_count().unwrap_or(0) as usize {
            self.out.push_str(if index == 0 { ": " } else { ", " });
            if let Some(bytes) = dense.data.element(index, element) {
                self.element(element, bytes);
            }
        }
        self.out.push('>');
    }

    fn hex(&mut self, bytes: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        self.out.push_str("\"0x");
        self.out.reserve(bytes.len() * 2 + 1);
        for &byte in bytes {
            self.out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            self.out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        self.out.push('"');
    }

    fn nested(&mut self, element: ElementType, dims: &[u64], bytes: &[u8]) {
        let Some((&extent, inner)) = dims.split_first() else { return self.element(element, bytes) };
        self.out.push('[');
        let size = bytes.len() / extent.max(1) as usize;
        for (index, part) in bytes.chunks_exact(size.max(1)).enumerate() {
            self.separate(index);
            self.nested(element, inner, part);
        }
        self.out.push(']');
    }

    fn element(&mut self, element: ElementType, bytes: &[u8]) {
        if element.is_complex() {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            self.out.push('(');
            self.element(element.part(), real);
            self.out.push_str(", ");
            self.element(element.part(), imaginary);
            self.out.push(')');
            return;
        }
        let mut wide = [0; 8];
        wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
        let bits = u64::from_le_bytes(wide);
        match element.kind() {
            ElementKind::Bool => self.out.push_str(if bits != 0 { "true" } else { "false" }),
            ElementKind::Unsigned => {
                let _ = write!(self.out, "{bits}");
            }
            ElementKind::Signed => {
                let unused = 64 - element.bits();
                let _ = write!(self.out, "{}", ((bits << unused) as i64) >> unused);
            }
            ElementKind::Float | ElementKind::Complex => self.float(element, bits),
        }
    }

    /// A float as a decimal that reads back to the same bits, always with a point, or as those bits where none does.
    fn float(&mut self, element: ElementType, bits: u64) {
        let value = decode_float(element, bits);
        if !value.is_finite() {
            let digits = element.storage_bytes() * 2;
            let _ = write!(self.out, "0x{bits:0digits$X}");
            return;
        }
        // MLIR reads a number as an `f64` first, so that one which is short for an `f32` must be right after that, too.
        let short = format!("{:?}", value as f32);
        let is_exact =
            element == ElementType::F32 && short.parse::<f64>().is_ok_and(|read| read as f32 == value as f32);
        let text = if is_exact { short } else { format!("{value:?}") };
        match text.split_once('e') {
            Some((digits, exponent)) if !digits.contains('.') => {
                let _ = write!(self.out, "{digits}.0e{exponent}");
            }
            _ => self.out.push_str(&text),
        }
    }
}

/// Writes the parameters of a dialect attribute.
struct Parameters<'w, 'm>(&'w mut Writer<'m>);

impl std::fmt::Write for Parameters<'_, '_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.out.push_str(text);
        Ok(())
    }
}

impl ParameterWriter for Parameters<'_, '_> {
    fn ty(&mut self, ty: Type) {
        self.0.ty(ty);
    }

    fn attribute(&mut self, attr: Attr) {
        match self.0.module.attr_data(attr) {
            // Within a structure an integer has no type.
            AttrData::Int(value, _) => {
                let _ = write!(self.0.out, "{value}");
            }
            AttrData::Float(bits, element) => self.0.float(*element, *bits),
            _ => self.0.attr(attr),
        }
    }
}

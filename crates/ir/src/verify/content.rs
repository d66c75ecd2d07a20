//! Whether types and attributes are valid in themselves, wherever they occur.
//!
//! They are interned, so each is looked at once. What is wrong is said where it is met first; after that only that
//! something is wrong is known.

use tofu_diagnostics::{Code, codes};

use crate::{
    Attr, AttrData, DenseConstant, DenseData, ElementType, MAX_TENSOR_BYTES, Module, SecondaryMap, Type,
    TypeData,
};

/// What is known of the types and attributes looked at so far.
pub(super) struct Contents {
    allows_errors: bool,
    types: SecondaryMap<Type, Checked>,
    attrs: SecondaryMap<Attr, Checked>,
}

/// What is wrong with a type or an attribute; nothing if it was said before.
pub(super) type Problem = Option<(&'static Code, String)>;

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Checked {
    #[default]
    Not,
    Good,
    Bad,
}

impl Contents {
    /// Nothing has been looked at. The error type is allowed only where something is known to be wrong.
    pub(super) fn new(allows_errors: bool) -> Contents {
        Contents { allows_errors, types: SecondaryMap::new(), attrs: SecondaryMap::new() }
    }

    pub(super) fn ty(&mut self, module: &Module, ty: Type) -> Result<(), Problem> {
        match self.types[ty] {
            Checked::Good => return Ok(()),
            Checked::Bad => return Err(None),
            Checked::Not => {}
        }
        let result = self.look_at_type(module, ty);
        self.types[ty] = if result.is_ok() { Checked::Good } else { Checked::Bad };
        result
    }

    pub(super) fn attr(&mut self, module: &Module, attr: Attr) -> Result<(), Problem> {
        match self.attrs[attr] {
            Checked::Good => return Ok(()),
            Checked::Bad => return Err(None),
            Checked::Not => {}
        }
        let result = self.look_at_attr(module, attr);
        self.attrs[attr] = if result.is_ok() { Checked::Good } else { Checked::Bad };
        result
    }

    fn look_at_type(&mut self, module: &Module, ty: Type) -> Result<(), Problem> {
        match module.type_data(ty) {
            TypeData::Tensor(tensor) if tensor.bytes().is_some_and(|bytes| bytes > MAX_TENSOR_BYTES) => {
                let message = format!("`{}` needs more than 2^60 bytes", module.type_text(ty));
                Err(Some((&codes::TENSOR_TOO_LARGE, message)))
            }
            TypeData::Tuple(items) => items.iter().try_for_each(|&item| self.ty(module, item)),
            TypeData::Function(function) => {
                function.inputs.iter().chain(&function.results).try_for_each(|&item| self.ty(module, item))
            }
            TypeData::Dialect(dialect) => {
                self.attr(module, dialect.params)?;
                (dialect.def.verify)(module, dialect.params).map_err(wrong)
            }
            TypeData::Error if !self.allows_errors => {
                let message = "this has the type of something wrong, but nothing wrong was reported";
                Err(Some((&codes::MALFORMED_IR, message.to_owned())))
            }
            TypeData::Element(_) | TypeData::Tensor(_) | TypeData::Token | TypeData::Error => Ok(()),
        }
    }

    fn look_at_attr(&mut self, module: &Module, attr: Attr) -> Result<(), Problem> {
        match module.attr_data(attr) {
            &AttrData::Int(value, element) => check_int(value, element).map_err(wrong),
            &AttrData::Float(bits, element) => check_float(bits, element).map_err(wrong),
            AttrData::Type(ty) => self.ty(module, *ty),
            AttrData::Dense(dense) => {
                self.ty(module, dense.ty)?;
                check_dense(module, dense).map_err(wrong)
            }
            AttrData::Array(items) => items.iter().try_for_each(|&item| self.attr(module, item)),
            AttrData::Dict(entries) => {
                // They are in the order of their keys.
                if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                    let message = format!("the key `{}` occurs twice", module.text(pair[0].0));
                    return Err(Some((&codes::DUPLICATE_ATTRIBUTE, message)));
                }
                entries.iter().try_for_each(|&(_, item)| self.attr(module, item))
            }
            AttrData::Pair(left, right) => {
                self.attr(module, *left)?;
                self.attr(module, *right)
            }
            AttrData::Dialect(dialect) => {
                self.attr(module, dialect.params)?;
                (dialect.def.verify)(module, dialect.params).map_err(wrong)
            }
            AttrData::Unit
            | AttrData::Bool(_)
            | AttrData::String(_)
            | AttrData::Symbol(_)
            | AttrData::Ints(_) => Ok(()),
        }
    }
}

fn wrong(message: String) -> Problem {
    Some((&codes::WRONG_ATTRIBUTE, message))
}

fn check_int(value: i128, element: ElementType) -> Result<(), String> {
    match element.integer_range() {
        Some((low, high)) if (low..=high).contains(&value) => Ok(()),
        Some((low, high)) => Err(format!("{value} is out of the range of {element}, {low} to {high}")),
        None => Err(format!("the integer {value} cannot be a `{element}`")),
    }
}

fn check_float(bits: u64, element: ElementType) -> Result<(), String> {
    if !element.is_float() {
        return Err(format!("a float cannot be a `{element}`"));
    }
    match bits.checked_shr(element.bits()) {
        None | Some(0) => Ok(()),
        Some(_) => Err(format!("0x{bits:X} has more than the {} bits of {element}", element.bits())),
    }
}

fn check_dense(module: &Module, dense: &DenseConstant) -> Result<(), String> {
    let ty = module.type_data(dense.ty);
    let (tensor, count) = match ty {
        TypeData::Error => return Ok(()),
        TypeData::Tensor(tensor) => (tensor, tensor.element_count()),
        _ => return Err(format!("a constant must be a tensor, but is a `{}`", module.type_data_text(ty))),
    };
    let Some(count) = count else {
        let text = module.type_data_text(ty);
        return Err(format!("a constant needs a type whose extents are all known, but has `{text}`"));
    };
    let size = tensor.element.storage_bytes() as u128;
    let (bytes, wanted) = match &dense.data {
        DenseData::Splat(bytes) => (&bytes[..], size),
        DenseData::Bytes(bytes) => (&bytes[..], size * u128::from(count)),
    };
    if bytes.len() as u128 != wanted {
        let text = module.type_data_text(ty);
        return Err(format!("a constant of type `{text}` has {wanted} bytes, not {}", bytes.len()));
    }
    match bytes.iter().find(|&&byte| !tensor.element.holds_byte(byte)) {
        Some(byte) => Err(format!("the byte 0x{byte:02X} is no {}", tensor.element)),
        None => Ok(()),
    }
}

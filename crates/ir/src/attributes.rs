//! Attributes: the constant facts an op carries. An [`Attr`] is the id of an interned [`AttrData`].

use std::sync::Arc;

use smallvec::SmallVec;

use crate::{ElementType, Name, ParametricDef, Type};

crate::entity_ids! {
    /// An interned attribute of a module.
    Attr = "attr";
}

/// What an [`Attr`] stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrData {
    /// `unit`: it is there. In a dictionary only its name is written.
    Unit,
    /// `true` or `false`.
    Bool(bool),
    /// `3 : i32`; without a type it is an `i64`.
    Int(i128, ElementType),
    /// `1.5 : f32`; without a type it is an `f64`. The number is kept as the bits of its type.
    Float(u64, ElementType),
    /// `"text"`.
    String(Box<str>),
    /// `@name`, or `@outer::@name` for a name in a nested symbol table.
    Symbol(SymbolRef),
    /// A type.
    Type(Type),
    /// `[a, b]`. Never all `i64`s: that is [`Ints`](AttrData::Ints).
    Array(Box<[Attr]>),
    /// `[1, 2]`: an array of `i64`s, packed. Also the empty array.
    Ints(Box<[i64]>),
    /// `{key = value}`, in the order of the keys' text.
    Dict(Box<[(Name, Attr)]>),
    /// `dense<…> : tensor<…>`.
    Dense(DenseConstant),
    /// `a x b`, for example the two lists of contracting dimensions.
    Pair(Attr, Attr),
    /// A dialect's own attribute, such as `#dist.sharding<…>`.
    Dialect(DialectAttr),
}

/// A path through symbol tables.
pub type SymbolRef = SmallVec<[Name; 1]>;

/// The value of a tensor known at compile time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DenseConstant {
    /// A tensor type of known extents.
    pub ty: Type,
    /// Its elements.
    pub data: DenseData,
}

/// Elements of a constant, each in its little-endian [storage](ElementType::storage_bytes).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DenseData {
    /// Every element is this one. It says nothing about how many there are.
    Splat(SmallVec<[u8; 16]>),
    /// All elements, row-major. Shared: copies of a module hold the bytes once.
    Bytes(Arc<[u8]>),
}

impl DenseData {
    /// The elements of `bytes`, as a splat if all (at least one) are the same.
    pub fn from_bytes(bytes: Vec<u8>, element: ElementType) -> DenseData {
        let size = element.storage_bytes();
        match bytes.get(..size) {
            Some(first) if bytes.chunks_exact(size).all(|chunk| chunk == first) => {
                DenseData::Splat(SmallVec::from_slice(first))
            }
            _ => DenseData::Bytes(bytes.into()),
        }
    }

    /// The bytes of element `index`.
    pub fn element(&self, index: usize, element: ElementType) -> Option<&[u8]> {
        let size = element.storage_bytes();
        match self {
            DenseData::Splat(bytes) => Some(bytes),
            DenseData::Bytes(bytes) => bytes.get(index * size..(index + 1) * size),
        }
    }
}

/// An attribute that a dialect defines.
#[derive(Clone, Debug)]
pub struct DialectAttr {
    /// Its definition.
    pub def: &'static ParametricDef,
    /// Its parameters, in the form that the definition's reader gives them.
    pub params: Attr,
}

impl PartialEq for DialectAttr {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.def, other.def) && self.params == other.params
    }
}

impl Eq for DialectAttr {}

impl std::hash::Hash for DialectAttr {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.def).hash(state);
        self.params.hash(state);
    }
}

impl AttrData {
    /// A symbol in the nearest symbol table.
    pub fn symbol(name: Name) -> AttrData {
        AttrData::Symbol(SymbolRef::from_slice(&[name]))
    }

    /// How a message names this kind of attribute.
    pub fn kind_name(&self) -> &'static str {
        match self {
            AttrData::Unit => "a unit",
            AttrData::Bool(_) => "a boolean",
            AttrData::Int(..) => "an integer",
            AttrData::Float(..) => "a float",
            AttrData::String(_) => "a string",
            AttrData::Symbol(_) => "a symbol",
            AttrData::Type(_) => "a type",
            AttrData::Array(_) => "an array",
            AttrData::Ints(_) => "an array of integers",
            AttrData::Dict(_) => "a dictionary",
            AttrData::Dense(_) => "a dense constant",
            AttrData::Pair(..) => "a pair",
            AttrData::Dialect(_) => "a dialect attribute",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_elements_become_a_splat() {
        let splat = DenseData::from_bytes(vec![1, 0, 1, 0], ElementType::I16);
        assert_eq!(splat, DenseData::Splat(SmallVec::from_slice(&[1, 0])));
        let bytes = DenseData::from_bytes(vec![1, 0, 2, 0], ElementType::I16);
        assert_eq!(bytes.element(1, ElementType::I16), Some(&[2u8, 0][..]));
        assert_eq!(bytes.element(2, ElementType::I16), None);
        assert_eq!(DenseData::from_bytes(vec![], ElementType::I16), DenseData::Bytes(Arc::from([])));
    }
}

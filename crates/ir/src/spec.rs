//! What an op definition says of operands, results, attributes, regions and successors.

use crate::{Attr, AttrData, Module, TypeData};

/// One operand or result, or a run of them.
#[derive(Clone, Copy, Debug)]
pub struct OperandSpec {
    /// What it is called in messages and references.
    pub name: &'static str,
    /// What types it may have.
    pub class: TypeClass,
    /// How many there are.
    pub arity: Arity,
}

/// How many values or regions a specification stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one.
    One,
    /// Any number. All variadic operands of an op stand for the same number of values, and so do all variadic results.
    Variadic,
}

/// A set of types.
#[derive(Clone, Copy, Debug)]
pub struct TypeClass {
    /// How a message names it: "expected …".
    pub name: &'static str,
    /// Whether a type belongs to it.
    pub contains: fn(&TypeData) -> bool,
}

/// Any type.
pub const ANY_TYPE: TypeClass = TypeClass { name: "any type", contains: |_| true };
/// Any tensor.
pub const TENSOR: TypeClass =
    TypeClass { name: "a tensor", contains: |ty| matches!(ty, TypeData::Tensor(_)) };
/// `token`.
pub const TOKEN: TypeClass = TypeClass { name: "a token", contains: |ty| matches!(ty, TypeData::Token) };

/// One value of any type.
pub const fn any(name: &'static str) -> OperandSpec {
    OperandSpec { name, class: ANY_TYPE, arity: Arity::One }
}

/// One tensor.
pub const fn tensor(name: &'static str) -> OperandSpec {
    OperandSpec { name, class: TENSOR, arity: Arity::One }
}

impl OperandSpec {
    /// Any number of them.
    pub const fn variadic(mut self) -> OperandSpec {
        self.arity = Arity::Variadic;
        self
    }

    /// Of these types.
    pub const fn class(mut self, class: TypeClass) -> OperandSpec {
        self.class = class;
        self
    }
}

/// An attribute of an op.
#[derive(Clone, Copy, Debug)]
pub struct AttributeSpec {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub class: AttrClass,
    /// Whether it must be there.
    pub required: bool,
}

/// A set of attributes.
#[derive(Clone, Copy, Debug)]
pub struct AttrClass {
    /// How a message names it: "expected …".
    pub name: &'static str,
    /// Whether an attribute belongs to it.
    pub contains: fn(&Module, Attr) -> bool,
}

/// An attribute that must be there.
pub const fn required(name: &'static str, class: AttrClass) -> AttributeSpec {
    AttributeSpec { name, class, required: true }
}

/// An attribute that may be there.
pub const fn optional(name: &'static str, class: AttrClass) -> AttributeSpec {
    AttributeSpec { name, class, required: false }
}

macro_rules! attr_classes {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $pattern:pat,)*) => {$(
        $(#[$doc])*
        pub const $constant: AttrClass = AttrClass {
            name: $name,
            contains: |module, attr| matches!(module.attr_data(attr), $pattern),
        };
    )*};
}

attr_classes! {
    /// Anything.
    ANY_ATTR = "any attribute", _,
    /// `unit`.
    UNIT = "a unit", AttrData::Unit,
    /// A boolean.
    BOOL = "a boolean", AttrData::Bool(_),
    /// A float of any type.
    FLOAT = "a float", AttrData::Float(..),
    /// An integer of any type.
    INT = "an integer", AttrData::Int(..),
    /// A list of `i64`s.
    INTS = "a list of integers", AttrData::Ints(_),
    /// A string.
    STRING = "a string", AttrData::String(_),
    /// A reference to a symbol.
    SYMBOL = "a symbol", AttrData::Symbol(_),
    /// A type.
    TYPE = "a type", AttrData::Type(_),
    /// A constant tensor.
    DENSE = "a dense constant", AttrData::Dense(_),
    /// A list of anything.
    ARRAY = "an array", AttrData::Array(_) | AttrData::Ints(_),
    /// A dictionary.
    DICT = "a dictionary", AttrData::Dict(_),
}

/// The symbol that an op with [`Trait::Symbol`](crate::Trait::Symbol) defines: one name, no path.
pub const SYMBOL_DEFINITION: AttrClass = AttrClass {
    name: "a symbol without a path",
    contains: |module, attr| matches!(module.attr_data(attr), AttrData::Symbol(path) if path.len() == 1),
};

/// The type of a function.
pub const FUNCTION: AttrClass = AttrClass {
    name: "a function type",
    contains: |module, attr| match module.attr_data(attr) {
        AttrData::Type(ty) => matches!(module.type_data(*ty), TypeData::Function(_)),
        _ => false,
    },
};

/// Two lists of integers: `[1] x [0]`.
pub const INTS_PAIR: AttrClass = AttrClass {
    name: "two lists of integers (`[0] x [1]`)",
    contains: |module, attr| {
        let is_list = |attr| matches!(module.attr_data(attr), AttrData::Ints(_));
        matches!(module.attr_data(attr), AttrData::Pair(a, b) if is_list(*a) && is_list(*b))
    },
};

/// A region of an op, or a run of them.
#[derive(Clone, Copy, Debug)]
pub struct RegionSpec {
    /// What it is called in messages and references.
    pub name: &'static str,
    /// How many blocks it may have.
    pub blocks: BlockCount,
    /// How many there are; only an op's last specification may be variadic.
    pub arity: Arity,
}

/// How many blocks a region may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockCount {
    /// Exactly one.
    One,
    /// None (the op is a declaration) or one.
    AtMostOne,
    /// Any number.
    Any,
}

/// A region of exactly one block.
pub const fn region(name: &'static str) -> RegionSpec {
    RegionSpec { name, blocks: BlockCount::One, arity: Arity::One }
}

impl RegionSpec {
    /// Any number of them.
    pub const fn variadic(mut self) -> RegionSpec {
        self.arity = Arity::Variadic;
        self
    }

    /// With another number of blocks.
    pub const fn blocks(mut self, blocks: BlockCount) -> RegionSpec {
        self.blocks = blocks;
        self
    }
}

/// How many blocks an op may continue at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuccessorCount {
    /// So many.
    Exactly(usize),
    /// Any number.
    Any,
}

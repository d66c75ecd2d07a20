//! What tensors an op takes, by their elements.

use tofu_ir::{ElementKind, ElementType, TypeClass, TypeData};

const fn class(name: &'static str, contains: fn(&TypeData) -> bool) -> TypeClass {
    TypeClass { name, contains }
}

pub(crate) const FLOATS: TypeClass = class("a tensor of floats", |ty| elements(ty, ElementType::is_float));

pub(crate) const FLOATS_OR_COMPLEX: TypeClass =
    class("a tensor of floats or complex numbers", |ty| elements(ty, |e| e.is_float() || e.is_complex()));

pub(crate) const INTEGERS: TypeClass =
    class("a tensor of integers or booleans", |ty| elements(ty, ElementType::is_integer));

pub(crate) const INTEGERS_NOT_BOOLEANS: TypeClass =
    class("a tensor of integers", |ty| elements(ty, |e| e.is_integer() && e.kind() != ElementKind::Bool));

pub(crate) const INTEGER_SCALAR: TypeClass = class("an integer scalar", |ty| {
    (INTEGERS_NOT_BOOLEANS.contains)(ty) && matches!(ty, TypeData::Tensor(tensor) if tensor.rank() == 0)
});

pub(crate) const BOOLEAN_SCALAR: TypeClass = class("a boolean scalar", |ty| {
    (BOOLEANS.contains)(ty) && matches!(ty, TypeData::Tensor(tensor) if tensor.rank() == 0)
});

/// The types that parts of a complex number have.
pub(crate) const PARTS: TypeClass =
    class("a tensor of f32 or f64", |ty| elements(ty, |e| matches!(e, ElementType::F32 | ElementType::F64)));

pub(crate) const ORDERED: TypeClass =
    class("a tensor of elements that have an order", |ty| elements(ty, |e| !e.is_complex()));

pub(crate) const NUMBERS: TypeClass =
    class("a tensor of numbers", |ty| elements(ty, |e| e.kind() != ElementKind::Bool));

pub(crate) const SIGNED_NUMBERS: TypeClass = class("a tensor of signed numbers", |ty| {
    elements(ty, |e| !matches!(e.kind(), ElementKind::Bool | ElementKind::Unsigned))
});

pub(crate) const BOOLEANS: TypeClass =
    class("a tensor of booleans", |ty| elements(ty, |e| e.kind() == ElementKind::Bool));

fn elements(ty: &TypeData, belongs: fn(ElementType) -> bool) -> bool {
    matches!(ty, TypeData::Tensor(tensor) if belongs(tensor.element))
}

pub(crate) const NUMBER_SCALAR: TypeClass = class("a real number", |ty| {
    matches!(ty, TypeData::Tensor(tensor) if tensor.rank() == 0 && !tensor.element.is_complex()
        && tensor.element.kind() != ElementKind::Bool)
});

pub(crate) const UI64_VECTOR: TypeClass = class(
    "a vector of ui64",
    |ty| matches!(ty, TypeData::Tensor(tensor) if tensor.rank() == 1 && tensor.element == ElementType::Ui64),
);

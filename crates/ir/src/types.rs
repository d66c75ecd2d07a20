//! Types. A [`Type`] is the id of an interned [`TypeData`]: two types of a module are equal when their ids are.

use smallvec::SmallVec;

use crate::{Attr, ElementType, Name, ParametricDef};

crate::entity_ids! {
    /// An interned type of a module.
    Type = "type";
}

/// What a [`Type`] stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeData {
    /// A scalar, such as `f32` or `index`.
    Element(ElementType),
    /// A ranked tensor.
    Tensor(TensorType),
    /// `token`: orders effects.
    Token,
    /// `tuple<…>`.
    Tuple(Box<[Type]>),
    /// `(…) -> (…)`.
    Function(FunctionType),
    /// A dialect's own type, such as `mem.host<…>`.
    Dialect(DialectType),
    /// The type of a value whose definition was wrong. Never printed, and never seen by a pass; it keeps one mistake
    /// from causing more diagnostics.
    Error,
}

/// A ranked tensor: `tensor<{batch}x1024xf32>`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    /// The extents, slowest-varying first.
    pub dims: SmallVec<[Dim; 4]>,
    /// The type of the elements.
    pub element: ElementType,
}

/// One extent of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dim {
    /// A known extent.
    Static(u64),
    /// `?`: known only when the program runs.
    Unknown,
    /// `{batch}`: unknown, but equal to every other extent of that name in the function.
    Symbol(Name),
}

/// The type of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FunctionType {
    /// The types of the arguments.
    pub inputs: Box<[Type]>,
    /// The types of the results.
    pub results: Box<[Type]>,
}

/// A type that a dialect defines.
#[derive(Clone, Debug)]
pub struct DialectType {
    /// Its definition.
    pub def: &'static ParametricDef,
    /// Its parameters, in the form that the definition's reader gives them.
    pub params: Attr,
}

impl PartialEq for DialectType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.def, other.def) && self.params == other.params
    }
}

impl Eq for DialectType {}

impl std::hash::Hash for DialectType {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.def).hash(state);
        self.params.hash(state);
    }
}

/// No tensor may need more bytes than this (1 EiB); sums over all tensors of a program then stay far inside `u128`,
/// and one tensor's byte count inside `u64`.
pub const MAX_TENSOR_BYTES: u64 = 1 << 60;

impl TensorType {
    /// A tensor of known extents.
    pub fn of(dims: &[u64], element: ElementType) -> TensorType {
        TensorType { dims: dims.iter().map(|&d| Dim::Static(d)).collect(), element }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The extents, if all are known.
    pub fn static_dims(&self) -> Option<SmallVec<[u64; 4]>> {
        self.dims.iter().map(|dim| dim.size()).collect()
    }

    /// The number of elements, if all extents are known. Saturates; the verifier refuses tensors that large.
    pub fn element_count(&self) -> Option<u64> {
        let dims = self.static_dims()?;
        if dims.contains(&0) {
            return Some(0);
        }
        Some(dims.iter().fold(1u64, |product, &d| product.saturating_mul(d)))
    }

    /// The bytes a device needs for it, if all extents are known: elements narrower than a byte are packed.
    /// Saturates; the verifier refuses more than [`MAX_TENSOR_BYTES`].
    pub fn bytes(&self) -> Option<u64> {
        let bits = u128::from(self.element_count()?) * u128::from(self.element.bits());
        Some(u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX))
    }

    /// The same extents with another element type.
    pub fn with_element(&self, element: ElementType) -> TensorType {
        TensorType { dims: self.dims.clone(), element }
    }
}

impl Dim {
    /// The extent, if it is known.
    pub fn size(self) -> Option<u64> {
        match self {
            Dim::Static(size) => Some(size),
            Dim::Unknown | Dim::Symbol(_) => None,
        }
    }

    /// Of two extents that are equal, the one that is known better.
    pub fn better(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Unknown, _) | (Dim::Symbol(_), Dim::Static(_)) => other,
            _ => self,
        }
    }

    /// Whether both can be the same extent: they are equal, or one is `?`. A symbol may turn out to be any number.
    pub fn may_equal(self, other: Dim) -> bool {
        match (self, other) {
            (Dim::Static(a), Dim::Static(b)) => a == b,
            _ => true,
        }
    }
}

impl From<TensorType> for TypeData {
    fn from(tensor: TensorType) -> TypeData {
        TypeData::Tensor(tensor)
    }
}

impl From<ElementType> for TypeData {
    fn from(element: ElementType) -> TypeData {
        TypeData::Element(element)
    }
}

impl From<FunctionType> for TypeData {
    fn from(function: FunctionType) -> TypeData {
        TypeData::Function(function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_saturate_and_zero_extents_win() {
        assert_eq!(TensorType::of(&[1 << 40, 1 << 40], ElementType::F32).element_count(), Some(u64::MAX));
        assert_eq!(TensorType::of(&[1 << 40, 1 << 40, 0], ElementType::F32).bytes(), Some(0));
        assert_eq!(TensorType::of(&[3], ElementType::I4).bytes(), Some(2));
        assert_eq!(TensorType::of(&[], ElementType::F64).bytes(), Some(8));
        let unknown = TensorType { dims: [Dim::Unknown].into_iter().collect(), element: ElementType::F32 };
        assert_eq!(unknown.bytes(), None);
    }
}

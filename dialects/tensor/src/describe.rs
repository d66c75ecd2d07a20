//! What the descriptions of several ops have in common.
//!
//! Extents of operands are symbolic where nothing else about the op fixes them, so that ops of different shapes share a
//! description and its analysis.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Dim, ElementKind, ElementType, Module, OpId};
use tofu_tdl::{
    self as tdl, BinaryOp, Description, IndexId, ScalarId, Slice, Source, TypeClass, TypeRef, UnaryOp, VarId,
};

use crate::shapes::operand_type;

/// The type of the index expressions' values.
pub(crate) const INDEX: TypeRef = TypeRef::Concrete(ElementType::Index);
/// The type of truth values.
pub(crate) const BOOL: TypeRef = TypeRef::Concrete(ElementType::I1);

/// The beginning of the description of an op; it is called as the op is in its dialect.
pub(crate) fn start(module: &Module, op: OpId) -> tdl::Builder {
    let name = module.def(op).name;
    tdl::Builder::new(name.split_once('.').map_or(name, |(_, name)| name))
}

/// A type parameter for elements of this type and those of its family.
pub(crate) fn element(b: &mut tdl::Builder, name: &str, element: ElementType) -> TypeRef {
    let class = match element.kind() {
        ElementKind::Bool => TypeClass::Logical,
        ElementKind::Signed | ElementKind::Unsigned => TypeClass::Int,
        ElementKind::Float => TypeClass::Float,
        ElementKind::Complex => TypeClass::Complex,
    };
    b.type_param(name, class)
}

/// The extents `N0`, `N1`, …
pub(crate) fn extents(b: &mut tdl::Builder, name: &str, count: usize) -> Vec<IndexId> {
    (0..count).map(|number| b.extent(&format!("{name}{number}"))).collect()
}

/// The variables `i0`, `i1`, … over these extents.
pub(crate) fn variables(b: &mut tdl::Builder, name: &str, extents: &[IndexId]) -> Vec<VarId> {
    extents.iter().enumerate().map(|(number, &extent)| b.var(&format!("{name}{number}"), extent)).collect()
}

/// The values of variables.
pub(crate) fn indices(b: &mut tdl::Builder, vars: &[VarId]) -> Vec<IndexId> {
    vars.iter().map(|&var| b.index(var)).collect()
}

/// An extent that is this number, or one of this name where the number is not known.
pub(crate) fn known(b: &mut tdl::Builder, name: &str, dim: Dim) -> IndexId {
    match dim.size().map(i64::try_from) {
        Some(Ok(size)) => b.constant(size),
        _ => b.extent(name),
    }
}

/// The sum of indices; 0 of none.
pub(crate) fn sum(b: &mut tdl::Builder, parts: impl IntoIterator<Item = IndexId>) -> IndexId {
    let zero = b.constant(0);
    parts.into_iter().fold(zero, |sum, part| b.index_add(sum, part))
}

/// The product of extents; 1 of none.
pub(crate) fn product(b: &mut tdl::Builder, factors: impl IntoIterator<Item = IndexId>) -> IndexId {
    let one = b.constant(1);
    factors.into_iter().fold(one, |product, factor| b.index_mul(product, factor))
}

/// Whether all of these hold; `None` if there are none.
pub(crate) fn all(b: &mut tdl::Builder, conditions: impl IntoIterator<Item = ScalarId>) -> Option<ScalarId> {
    conditions.into_iter().reduce(|all, condition| b.binary(BinaryOp::And, all, condition))
}

/// An op that computes each element of its result from those of its operands, all of one type, at the same place.
pub(crate) fn elementwise<const N: usize>(
    module: &Module,
    op: OpId,
    body: impl FnOnce(&mut tdl::Builder, [ScalarId; N]) -> ScalarId,
) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    elementwise_over(module, op, b, [(t, ty.rank()); N], body)
}

/// [`elementwise`] where the operands have these types and ranks: that of the result, or 0.
pub(crate) fn elementwise_over<const N: usize>(
    module: &Module,
    op: OpId,
    mut b: tdl::Builder,
    operands: [(TypeRef, usize); N],
    body: impl FnOnce(&mut tdl::Builder, [ScalarId; N]) -> ScalarId,
) -> Result<Description, Diagnostic> {
    let rank = operands.iter().map(|&(_, rank)| rank).max().unwrap_or(0);
    let dims = extents(&mut b, "N", rank);
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let mut names = module.def(op).operands.iter();
    let elements = operands.map(|(ty, rank)| {
        let source = b.operand(names.next().map_or("", |spec| spec.name), ty, &dims[..rank]);
        b.read(source, &at[..rank])
    });
    let value = body(&mut b, elements);
    let ty = b.type_of(value);
    b.output("result", ty, &vars, value);
    b.finish_for(module, op)
}

/// The complex conjugate; a real number is its own.
pub(crate) fn conjugate(b: &mut tdl::Builder, x: ScalarId) -> ScalarId {
    let (re, im) = (b.unary(UnaryOp::Real, x), b.unary(UnaryOp::Imag, x));
    if b.type_of(re) == b.type_of(x) {
        return x;
    }
    let im = b.unary(UnaryOp::Neg, im);
    b.binary(BinaryOp::Complex, re, im)
}

/// A part of a tensor that an opaque function is given: at these indices, but for the dimensions that it takes whole.
pub(crate) fn slice(source: Source, at: &[IndexId], whole: &[usize]) -> Slice {
    let slots = at.iter().enumerate().map(|(axis, &index)| (!whole.contains(&axis)).then_some(index));
    Slice { source, dims: slots.collect() }
}

//! The ranges of index variables that are bound without one.
//!
//! A variable that stands alone as an index ranges over that dimension; the first such access counts. The printer asks
//! the same question of a finished description ([`extent_in_scalar`]), and writes a range only where the answer differs.

use tofu_ir::EntityId;

use super::tree::{Expr, Kind};
use crate::description::*;

/// The extent of the first dimension that `name` indexes alone, where `dims` gives the extents of a named tensor.
pub(super) fn extent_in_text(
    name: &str,
    expr: &Expr<'_>,
    dims: &dyn Fn(&str) -> Option<Vec<IndexId>>,
) -> Option<IndexId> {
    let each = |inner: &[Expr<'_>]| inner.iter().find_map(|expr| extent_in_text(name, expr, dims));
    let direct = |tensor: &str, mut indices: &mut dyn Iterator<Item = Option<&Expr<'_>>>| {
        let alone = |index: Option<&Expr<'_>>| {
            index.is_some_and(|index| matches!(index.kind, Kind::Name(text) if text == name))
        };
        let position = Iterator::position(&mut indices, alone)?;
        dims(tensor)?.get(position).copied()
    };
    match &expr.kind {
        Kind::Literal(_) | Kind::Bool(_) | Kind::Name(_) => None,
        Kind::Negative(a) | Kind::Not(a) => extent_in_text(name, a, dims),
        Kind::Typed { argument, .. } | Kind::ReducePrecision { argument, .. } => {
            extent_in_text(name, argument, dims)
        }
        Kind::Binary(_, a, b) | Kind::Compare(_, a, b) => {
            extent_in_text(name, a, dims).or_else(|| extent_in_text(name, b, dims))
        }
        Kind::If(parts) => each(&parts[..]),
        Kind::Call(_, arguments) => each(arguments),
        Kind::Access(word, indices) => {
            direct(word.text, &mut indices.iter().map(Some)).or_else(|| each(indices))
        }
        Kind::Reduce { bodies, .. } => each(bodies),
        Kind::Opaque(call) => call
            .arguments
            .iter()
            .find_map(|(word, slots)| {
                direct(word.text, &mut slots.iter().map(Option::as_ref))
                    .or_else(|| slots.iter().flatten().find_map(|index| extent_in_text(name, index, dims)))
            })
            .or_else(|| each(&call.indices)),
    }
}

/// [`extent_in_text`] for a finished description.
pub(crate) fn extent_in_scalar(data: &Data, var: VarId, id: ScalarId) -> Option<IndexId> {
    let scalar = |id: ScalarId| extent_in_scalar(data, var, id);
    let access = |source: Source, slots: &mut dyn Iterator<Item = Option<IndexId>>| {
        let slots: Vec<Option<IndexId>> = slots.collect();
        let alone = |slot: &Option<IndexId>| {
            slot.is_some_and(
                |index| matches!(data.index(index), Index::Var(other) if same_name(data, var, other)),
            )
        };
        let direct = slots.iter().position(alone).and_then(|at| data.dims(source).get(at).copied());
        direct.or_else(|| slots.iter().flatten().find_map(|&index| extent_in_index(data, var, index)))
    };
    match data.scalar(id) {
        Scalar::Literal(_) | Scalar::Carried(..) => None,
        Scalar::Index(index) => extent_in_index(data, var, *index),
        Scalar::Read(source, indices) => access(*source, &mut indices.iter().copied().map(Some)),
        Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => scalar(*a),
        Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => scalar(*a).or_else(|| scalar(*b)),
        Scalar::Select(a, b, c) => scalar(*a).or_else(|| scalar(*b)).or_else(|| scalar(*c)),
        Scalar::Reduce(reduction, _) => {
            data.reduction(*reduction).bodies.iter().find_map(|&body| scalar(body))
        }
        Scalar::Opaque(call, indices) => data
            .opaque(*call)
            .arguments
            .iter()
            .find_map(|slice| access(slice.source, &mut slice.dims.iter().copied()))
            .or_else(|| indices.iter().find_map(|&index| extent_in_index(data, var, index))),
    }
}

fn same_name(data: &Data, a: VarId, b: VarId) -> bool {
    data.variable(a).name == data.variable(b).name
}

fn extent_in_index(data: &Data, var: VarId, id: IndexId) -> Option<IndexId> {
    match data.index(id) {
        Index::Const(_) | Index::Extent(_) | Index::Var(_) => None,
        Index::Add(a, b) | Index::Sub(a, b) | Index::Mul(a, b) | Index::FloorDiv(a, b) | Index::Mod(a, b) => {
            extent_in_index(data, var, a).or_else(|| extent_in_index(data, var, b))
        }
        Index::Data(scalar) => extent_in_scalar(data, var, scalar),
    }
}

/// Whether the text needs the range of `var`, which is bound around `bodies`.
pub(crate) fn needs_range(data: &Data, var: VarId, bodies: &[ScalarId]) -> bool {
    let found = bodies.iter().find_map(|&body| extent_in_scalar(data, var, body));
    let extent = data.variable(var).extent;
    found.map(EntityId::index) != Some(extent.index())
}

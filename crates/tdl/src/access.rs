//! How a description reads its operands: what makes ops fusible, movable and linear.

use crate::description::*;
use crate::linear::is_additive;
use crate::scalar::BinaryOp;

/// What a description does with its operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accesses {
    /// One for each operand.
    pub operands: Vec<Access>,
    /// Every element of every result is a function of the elements at the same indices: every access is the identity
    /// of the output index, or reads a single number.
    pub is_elementwise: bool,
    /// Elements are only moved, chosen by their place, or made; never computed with.
    pub is_movement: bool,
    /// Something is reduced.
    pub has_reduction: bool,
    /// An algorithm is hidden.
    pub has_opaque: bool,
}

/// How an operand is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// What the indices are.
    pub map: AccessMap,
    /// Each result is additive in this operand: the sum of two operands gives, to rounding, the sum of the results.
    pub is_linear: bool,
}

/// What the indices of all accesses of an operand are, for a single result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AccessMap {
    /// It is never read.
    Unused,
    /// Dimension `d` of the operand is indexed by dimension `map[d]` of the result, all different: the identity, a
    /// transposition, or a broadcast along the dimensions that are missing. Each element of the operand is read for one
    /// index of these dimensions; no element twice for the same element of the result.
    Projection(Vec<usize>),
    /// Other quasi-affine indices, or several different ones.
    Affine,
    /// Indices depend on elements, or an opaque function reads it.
    Dependent,
}

impl AccessMap {
    /// Whether the operand is read at the indices of the result, which has `rank` dimensions.
    pub fn is_identity(&self, rank: usize) -> bool {
        matches!(self, AccessMap::Projection(map) if map.iter().copied().eq(0..rank))
    }

    /// Whether no element of the operand is read for two elements of the result, which has `rank` dimensions.
    pub fn is_injective(&self, rank: usize) -> bool {
        matches!(self, AccessMap::Projection(map) if map.len() == rank)
    }

    /// Whether elements of the operand are read for several elements of the result, which has `rank` dimensions.
    pub fn is_broadcast(&self, rank: usize) -> bool {
        matches!(self, AccessMap::Projection(map) if map.len() < rank)
    }
}

/// Looks at a description.
pub fn accesses(description: &Description) -> Accesses {
    let data = description.data();
    let operands: Vec<Access> = (0..data.parameters.len() as u32)
        .map(|number| Access { map: map(data, number), is_linear: is_additive(data, number as usize) })
        .collect();
    let has_reduction = !data.reductions.is_empty();
    let has_opaque = !data.opaques.is_empty();
    let rank = data.results.first().map_or(0, |result| result.vars.len());
    let same_indices = data.results.iter().all(|result| result.vars == data.results[0].vars);
    let is_pointwise = |access: &Access| match &access.map {
        AccessMap::Unused => true,
        AccessMap::Projection(map) => map.is_empty() || access.map.is_identity(rank),
        _ => false,
    };
    let is_elementwise = same_indices
        && !has_reduction
        && !has_opaque
        && lets_are_pointwise(data)
        && operands.iter().all(is_pointwise);
    let is_movement = data.scalars.iter().enumerate().all(|(number, scalar)| match scalar {
        Scalar::Unary(..) | Scalar::Reduce(..) | Scalar::Opaque(..) | Scalar::Carried(..) => false,
        Scalar::Convert(_) | Scalar::Bitcast(_) => false,
        Scalar::Binary(op, ..) => {
            matches!(op, BinaryOp::And | BinaryOp::Or)
                && data.scalar_types[number] == TypeRef::Concrete(tofu_ir::ElementType::I1)
        }
        Scalar::Compare(_, a, b) => {
            [a, b].into_iter().all(|&side| matches!(data.scalar(side), Scalar::Index(_)))
        }
        Scalar::Literal(_) | Scalar::Index(_) | Scalar::Read(..) | Scalar::Select(..) => true,
    });
    Accesses { operands, is_elementwise, is_movement, has_reduction, has_opaque }
}

/// Whether all intermediate tensors have the indices of the results, or none, and are read at them.
pub(crate) fn lets_are_pointwise(data: &Data) -> bool {
    let own = |vars: &[VarId]| vars.is_empty() || data.results.iter().all(|result| *result.vars == *vars);
    let is_pointwise = |scalar: &Scalar| match scalar {
        Scalar::Read(Source::Let(number), indices) => {
            let vars = data.lets[*number as usize].vars.iter();
            vars.map(|&var| Index::Var(var)).eq(indices.iter().map(|&index| data.index(index)))
        }
        _ => true,
    };
    data.lets.iter().all(|item| own(&item.vars)) && data.scalars.iter().all(is_pointwise)
}

fn map(data: &Data, number: u32) -> AccessMap {
    let source = Source::Operand(number);
    if data.opaques.iter().any(|call| call.arguments.iter().any(|slice| slice.source == source)) {
        return AccessMap::Dependent;
    }
    let mut found: Option<&Indices> = None;
    let mut is_unique = true;
    for scalar in &data.scalars {
        let Scalar::Read(read, indices) = scalar else { continue };
        if *read != source {
            continue;
        }
        let depends =
            |&index: &IndexId| crate::walk::any_index_in(data, index, &|part| matches!(part, Index::Data(_)));
        if indices.iter().any(depends) {
            return AccessMap::Dependent;
        }
        is_unique &= found.is_none_or(|before| before == indices);
        found = Some(indices);
    }
    let Some(indices) = found else { return AccessMap::Unused };
    if !is_unique {
        return AccessMap::Affine;
    }
    let mut map = Vec::new();
    for &index in indices {
        // The place of the variable in every result must be the same.
        let Index::Var(var) = data.index(index) else { return AccessMap::Affine };
        let mut places = data.results.iter().map(|result| result.vars.iter().position(|&other| other == var));
        let Some(Some(first)) = places.next() else { return AccessMap::Affine };
        if !places.all(|place| place == Some(first)) || map.contains(&first) {
            return AccessMap::Affine;
        }
        map.push(first);
    }
    AccessMap::Projection(map)
}

//! Looks into expressions.

use crate::description::*;
use crate::scalar::{Comparison, Literal};

/// For `sum(v) if e == v then term else 0`, where `e` does not use `v`: `e` and the term. Such a sum has at most one
/// term.
pub(crate) fn single_term(data: &Data, reduction: &Reduction) -> Option<(ScalarId, ScalarId)> {
    let (&[var], &[body]) = (&reduction.vars[..], &reduction.bodies[..]) else { return None };
    let &Scalar::Select(condition, term, rest) = data.scalar(body) else { return None };
    let is_zero = matches!(data.scalar(rest), Scalar::Literal(Literal::Int(0)));
    let &Scalar::Compare(Comparison::Eq, a, b) = data.scalar(condition) else { return None };
    if reduction.reducer != Reducer::Sum || !is_zero {
        return None;
    }
    let is_var = |id: ScalarId| matches!(data.scalar(id), Scalar::Index(index) if data.index(*index) == Index::Var(var));
    let other = match (is_var(a), is_var(b)) {
        (true, false) => b,
        (false, true) => a,
        _ => return None,
    };
    (!mentions_var(data, other, var)).then_some((other, term))
}

/// Whether an expression uses a variable.
pub(crate) fn mentions_var(data: &Data, id: ScalarId, var: VarId) -> bool {
    any_index(data, id, &|index| index == Index::Var(var))
}

/// Whether some index expression inside a scalar expression is wanted, in the order of the text.
pub(crate) fn any_index(data: &Data, id: ScalarId, wanted: &dyn Fn(Index) -> bool) -> bool {
    let scalar = |id: &ScalarId| any_index(data, *id, wanted);
    let index = |id: &IndexId| any_index_in(data, *id, wanted);
    match data.scalar(id) {
        Scalar::Literal(_) | Scalar::Carried(..) => false,
        Scalar::Index(a) => index(a),
        Scalar::Read(_, indices) => indices.iter().any(index),
        Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => scalar(a),
        Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => scalar(a) || scalar(b),
        Scalar::Select(a, b, c) => scalar(a) || scalar(b) || scalar(c),
        Scalar::Reduce(reduction, _) => data.reduction(*reduction).bodies.iter().any(scalar),
        Scalar::Opaque(call, indices) => {
            let slices = data.opaque(*call).arguments.iter().flat_map(|slice| slice.dims.iter().flatten());
            slices.chain(indices).any(index)
        }
    }
}

/// Whether some part of an index expression is wanted.
pub(crate) fn any_index_in(data: &Data, id: IndexId, wanted: &dyn Fn(Index) -> bool) -> bool {
    let index = data.index(id);
    wanted(index)
        || match index {
            Index::Const(_) | Index::Extent(_) | Index::Var(_) => false,
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Mul(a, b)
            | Index::FloorDiv(a, b)
            | Index::Mod(a, b) => any_index_in(data, a, wanted) || any_index_in(data, b, wanted),
            Index::Data(scalar) => any_index(data, scalar, wanted),
        }
}

/// Whether an index expression uses a variable.
pub(crate) fn index_mentions_var(data: &Data, id: IndexId, var: VarId) -> bool {
    any_index_in(data, id, &|index| index == Index::Var(var))
}

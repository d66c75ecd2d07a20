//! Looks into expressions.

use crate::description::*;

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

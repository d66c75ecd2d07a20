//! Looks into expressions.

use crate::description::*;
use crate::scalar::{BinaryOp, Comparison, Literal};

/// For `sum(v, w) if e == v and f == w and … then term else 0`, where `e` and `f` use neither variable: `[e, f]`. Such a
/// sum has at most one term.
pub fn single_term(data: &Data, reduction: &Reduction) -> Option<Vec<ScalarId>> {
    let &[body] = &reduction.bodies[..] else { return None };
    let &Scalar::Select(condition, _, rest) = data.scalar(body) else { return None };
    let is_zero = matches!(data.scalar(rest), Scalar::Literal(Literal::Int(0)));
    if reduction.reducer != Reducer::Sum || !is_zero {
        return None;
    }
    reduction.vars.iter().map(|&var| selected(data, condition, var, &reduction.vars)).collect()
}

/// What a condition says that a variable equals.
fn selected(data: &Data, condition: ScalarId, var: VarId, vars: &[VarId]) -> Option<ScalarId> {
    match *data.scalar(condition) {
        Scalar::Binary(BinaryOp::And, a, b) => {
            selected(data, a, var, vars).or_else(|| selected(data, b, var, vars))
        }
        Scalar::Compare(Comparison::Eq, a, b) => {
            let is_var = |id: ScalarId| matches!(data.scalar(id), Scalar::Index(index) if data.index(*index) == Index::Var(var));
            let other = if is_var(b) { a } else { is_var(a).then_some(b)? };
            (!vars.iter().any(|&var| mentions_var(data, other, var))).then_some(other)
        }
        _ => None,
    }
}

/// Visits the expressions that an expression is made of, those that an index depends on and the bodies of intermediate
/// tensors included; all of them stand before it in the table.
pub(crate) fn each_part(data: &Data, id: ScalarId, visit: &mut dyn FnMut(ScalarId)) {
    let tensor = |source: Source, visit: &mut dyn FnMut(ScalarId)| {
        if let Source::Let(number) = source {
            visit(data.lets[number as usize].body);
        }
    };
    match data.scalar(id) {
        Scalar::Literal(_) | Scalar::Carried(..) => {}
        Scalar::Index(index) => each_element(data, *index, visit),
        Scalar::Read(source, indices) => {
            tensor(*source, visit);
            indices.iter().for_each(|&index| each_element(data, index, visit));
        }
        Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => visit(*a),
        Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => [*a, *b].into_iter().for_each(visit),
        Scalar::Select(a, b, c) => [*a, *b, *c].into_iter().for_each(visit),
        Scalar::Reduce(reduction, _) => {
            let reduction = data.reduction(*reduction);
            reduction.bodies.iter().for_each(|&body| visit(body));
            if let Reducer::Custom(combiner) = reduction.reducer {
                data.combiner(combiner).identities.iter().for_each(|&identity| visit(identity));
            }
        }
        Scalar::Opaque(call, indices) => {
            let arguments = &data.opaque(*call).arguments;
            arguments.iter().for_each(|slice| tensor(slice.source, visit));
            let slots = arguments.iter().flat_map(|slice| slice.dims.iter().flatten());
            slots.chain(indices).for_each(|&index| each_element(data, index, visit));
        }
    }
}

/// Visits the elements that an index depends on.
pub(crate) fn each_element(data: &Data, id: IndexId, visit: &mut dyn FnMut(ScalarId)) {
    match data.index(id) {
        Index::Const(_) | Index::Extent(_) | Index::Var(_) => {}
        Index::Add(a, b) | Index::Sub(a, b) | Index::Mul(a, b) | Index::FloorDiv(a, b) | Index::Mod(a, b) => {
            each_element(data, a, visit);
            each_element(data, b, visit);
        }
        Index::Data(scalar) => visit(scalar),
    }
}

/// Whether an expression uses a variable.
pub(crate) fn mentions_var(data: &Data, id: ScalarId, var: VarId) -> bool {
    any_index(data, id, &|index| index == Index::Var(var))
}

/// Whether some index expression inside a scalar expression is wanted, in the order of the text.
pub fn any_index(data: &Data, id: ScalarId, wanted: &dyn Fn(Index) -> bool) -> bool {
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
pub fn any_index_in(data: &Data, id: IndexId, wanted: &dyn Fn(Index) -> bool) -> bool {
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

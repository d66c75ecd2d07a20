//! Reductions that are the last thing done to a result.
//!
//! If each worker reduces only a share of a variable, it ends up with a partial result; that is one only if whatever is
//! done after the reduction may as well be done before the workers' values are combined.

use tofu_ir::EntityId;

use crate::description::*;
use crate::scalar::{BinaryOp, Literal, UnaryOp};
use crate::walk::mentions_var;

/// How the partial values of a result are combined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Partial {
    pub(super) reducer: Reducer,
    pub(super) component: u32,
    /// The reductions of which each worker does a share.
    pub(super) reductions: Vec<ReductionId>,
}

/// How a result is partial when `var` is split, if it is.
pub(super) fn partial(data: &Data, id: ScalarId, var: VarId) -> Option<Partial> {
    match data.scalar(id) {
        Scalar::Reduce(reduction, component) => {
            let inner = data.reduction(*reduction);
            if inner.vars.contains(&var) {
                let reductions = vec![*reduction];
                return Some(Partial { reducer: inner.reducer, component: *component, reductions });
            }
            if matches!(inner.reducer, Reducer::Custom(_)) {
                return None;
            }
            partial(data, *inner.bodies.first()?, var).filter(|part| part.reducer == inner.reducer)
        }
        Scalar::Unary(UnaryOp::Neg, a) => partial(data, *a, var).filter(|part| part.reducer == Reducer::Sum),
        // Rounding keeps the order; a rounded sum is, to rounding, the sum of what was rounded.
        Scalar::Convert(a) if data.is_float(*a) && data.is_float(id) => partial(data, *a, var)
            .filter(|part| matches!(part.reducer, Reducer::Sum | Reducer::Max | Reducer::Min)),
        Scalar::Binary(op, a, b) => binary(data, *op, *a, *b, var),
        Scalar::Select(condition, a, b) => {
            if mentions_var(data, *condition, var) {
                return None;
            }
            let is_zero = |id: ScalarId| matches!(data.scalar(id), Scalar::Literal(Literal::Int(0)));
            match (partial(data, *a, var), partial(data, *b, var)) {
                (Some(a), Some(b)) => join(a, b),
                (Some(a), None) if is_zero(*b) && a.reducer == Reducer::Sum => Some(a),
                (None, Some(b)) if is_zero(*a) && b.reducer == Reducer::Sum => Some(b),
                _ => None,
            }
        }
        Scalar::Read(Source::Let(number), _) => {
            // The intermediate tensor is partial as well; nothing else may need it whole.
            let reads = data.scalars.iter().filter(
                |scalar| matches!(scalar, Scalar::Read(source, _) if *source == Source::Let(*number)),
            );
            let sliced = data
                .opaques
                .iter()
                .any(|call| call.arguments.iter().any(|slice| slice.source == Source::Let(*number)));
            if reads.count() != 1 || sliced || uses(data, id) > 1 {
                return None;
            }
            partial(data, data.lets[*number as usize].body, var)
        }
        _ => None,
    }
}

/// In how many places an expression is used.
fn uses(data: &Data, id: ScalarId) -> usize {
    let in_results = data.results.iter().filter(|result| result.body == id).count();
    let in_lets = data.lets.iter().filter(|item| item.body == id).count();
    let count = |list: &[ScalarId]| list.iter().filter(|&&other| other == id).count();
    let in_scalars: usize = data
        .scalars
        .iter()
        .map(|scalar| match scalar {
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => count(&[*a]),
            Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => count(&[*a, *b]),
            Scalar::Select(a, b, c) => count(&[*a, *b, *c]),
            _ => 0,
        })
        .sum();
    let in_reductions: usize = data.reductions.iter().map(|reduction| count(&reduction.bodies)).sum();
    let in_indices = data.indices.iter().filter(|index| **index == Index::Data(id)).count();
    in_results + in_lets + in_scalars + in_reductions + in_indices
}

fn binary(data: &Data, op: BinaryOp, a: ScalarId, b: ScalarId, var: VarId) -> Option<Partial> {
    let (left, right) = (partial(data, a, var), partial(data, b, var));
    let of_sum = |part: Option<Partial>| part.filter(|part| part.reducer == Reducer::Sum);
    match (op, left, right) {
        (BinaryOp::Add | BinaryOp::Sub, Some(a), Some(b)) => {
            join(a, b).filter(|part| part.reducer == Reducer::Sum)
        }
        // Multiplication distributes over sums; for floats, division does as well, to rounding.
        (BinaryOp::Mul, Some(part), None) | (BinaryOp::Mul, None, Some(part)) => of_sum(Some(part)),
        (BinaryOp::Div, Some(part), None) if data.is_inexact(a) => of_sum(Some(part)),
        // What is idempotent may be combined in by every worker.
        (_, Some(part), None) | (_, None, Some(part)) => {
            own(op).filter(|own| *own == part.reducer).map(|_| part)
        }
        (_, Some(a), Some(b)) => join(a, b).filter(|part| own(op) == Some(part.reducer)),
        (_, None, None) => None,
    }
}

/// The idempotent reducer that a function is.
fn own(op: BinaryOp) -> Option<Reducer> {
    match op {
        BinaryOp::Max => Some(Reducer::Max),
        BinaryOp::Min => Some(Reducer::Min),
        BinaryOp::And => Some(Reducer::And),
        BinaryOp::Or => Some(Reducer::Or),
        _ => None,
    }
}

fn join(a: Partial, b: Partial) -> Option<Partial> {
    if a.reducer != b.reducer || a.component != b.component || matches!(a.reducer, Reducer::Custom(_)) {
        return None;
    }
    let mut joined = a;
    joined.reductions.extend(b.reductions);
    joined.reductions.sort_by_key(|id| id.index());
    joined.reductions.dedup();
    Some(joined)
}

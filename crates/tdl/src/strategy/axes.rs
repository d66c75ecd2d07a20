//! Which index variables can be split, and what becomes of the results.

use super::Combine;
use super::partial::partial;
use crate::description::*;
use crate::walk::index_mentions_var;

/// An index variable that can be split.
pub(super) struct Axis {
    pub(super) var: VarId,
    pub(super) outputs: Vec<Combine>,
    pub(super) reductions: Vec<ReductionId>,
}

/// All of them: the indices of results, then the variables of reductions.
pub(super) fn candidates(data: &Data) -> Vec<Axis> {
    let mut vars: Vec<VarId> = Vec::new();
    let spatial = data.results.iter().flat_map(|result| result.vars.iter());
    let reduced = data.reductions.iter().flat_map(|reduction| reduction.vars.iter());
    for &var in spatial.chain(reduced) {
        if !vars.contains(&var) {
            vars.push(var);
        }
    }
    let hidden = hidden_dims(data);
    vars.into_iter().filter_map(|var| axis(data, var, &hidden)).collect()
}

fn axis(data: &Data, var: VarId, hidden: &[Vec<bool>]) -> Option<Axis> {
    let mut outputs = Vec::new();
    let mut reductions: Vec<ReductionId> = Vec::new();
    for result in &data.results {
        if let Some(dim) = result.vars.iter().position(|&other| other == var) {
            if is_hidden(data, result.body, var, hidden) {
                return None;
            }
            outputs.push(Combine::Concat { dim });
            continue;
        }
        match partial(data, result.body, var) {
            Some(part) => {
                outputs.push(Combine::Partial { reducer: part.reducer, component: part.component });
                reductions.extend(part.reductions);
            }
            None => outputs.push(Combine::Replicated),
        }
    }
    // A reduction that one result has partial and another whole would have to be done twice.
    reductions.sort_unstable();
    reductions.dedup();
    let is_split = |output: &Combine| !matches!(output, Combine::Replicated);
    let useful = outputs.iter().any(is_split) && combiners_are_complete(data, &outputs);
    let consistent = data.results.iter().zip(&outputs).all(|(result, output)| match output {
        Combine::Partial { .. } => true,
        _ => !reductions.iter().any(|&reduction| uses_reduction(data, result.body, reduction)),
    });
    (useful && consistent).then_some(Axis { var, outputs, reductions })
}

/// Values that a combiner carries together are combined together: all of them must be results.
fn combiners_are_complete(data: &Data, outputs: &[Combine]) -> bool {
    outputs.iter().all(|output| match output {
        Combine::Partial { reducer: Reducer::Custom(id), .. } => {
            let count = data.combiner(*id).types.len() as u32;
            (0..count).all(|wanted| {
                outputs.iter().any(|other| {
                    matches!(other, Combine::Partial { reducer: Reducer::Custom(other), component }
                        if other == id && *component == wanted)
                })
            })
        }
        _ => true,
    })
}

fn uses_reduction(data: &Data, id: ScalarId, wanted: ReductionId) -> bool {
    let of = |id: &ScalarId| uses_reduction(data, *id, wanted);
    match data.scalar(id) {
        Scalar::Reduce(reduction, _) => {
            *reduction == wanted || data.reduction(*reduction).bodies.iter().any(of)
        }
        Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => of(a),
        Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => of(a) || of(b),
        Scalar::Select(a, b, c) => of(a) || of(b) || of(c),
        Scalar::Read(Source::Let(number), _) => of(&data.lets[*number as usize].body),
        _ => false,
    }
}

/// For each intermediate tensor, which of its dimensions an opaque function computes as one.
fn hidden_dims(data: &Data) -> Vec<Vec<bool>> {
    let mut hidden: Vec<Vec<bool>> = Vec::new();
    for item in &data.lets {
        let dims = item.vars.iter().map(|&var| is_hidden(data, item.body, var, &hidden)).collect();
        hidden.push(dims);
    }
    hidden
}

/// Whether a variable says where in the result of an opaque function to look.
fn is_hidden(data: &Data, id: ScalarId, var: VarId, hidden: &[Vec<bool>]) -> bool {
    let of = |id: &ScalarId| is_hidden(data, *id, var, hidden);
    let in_index = |index: &IndexId| index_mentions_var(data, *index, var);
    match data.scalar(id) {
        Scalar::Literal(_) | Scalar::Carried(..) | Scalar::Index(_) => false,
        Scalar::Read(Source::Let(number), indices) => {
            let dims = hidden.get(*number as usize).map_or(&[][..], |dims| dims);
            indices.iter().zip(dims).any(|(index, &is_hidden)| is_hidden && in_index(index))
        }
        Scalar::Read(..) => false,
        Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => of(a),
        Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => of(a) || of(b),
        Scalar::Select(a, b, c) => of(a) || of(b) || of(c),
        Scalar::Reduce(reduction, _) => data.reduction(*reduction).bodies.iter().any(of),
        Scalar::Opaque(_, indices) => indices.iter().any(in_index),
    }
}

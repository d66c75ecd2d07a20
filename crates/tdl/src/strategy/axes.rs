//! Which index variables can be split, and what becomes of the results.

use tofu_ir::EntityId;

use super::Combine;
use super::partial::{Form, Forms, Split};
use crate::description::*;
use crate::evaluate::Carried;
use crate::walk::index_mentions_var;

/// An index variable that can be split.
pub(super) struct Axis {
    pub(super) var: VarId,
    pub(super) outputs: Vec<Combine>,
    pub(super) carried: Vec<Carried>,
    pub(super) split: Split,
}

/// All of them: the indices of results, then the variables of reductions, but for those with a single value.
pub(super) fn candidates(data: &Data) -> Vec<Axis> {
    let mut vars: Vec<VarId> = Vec::new();
    let spatial = data.results.iter().flat_map(|result| result.vars.iter());
    let reduced = data.reductions.iter().flat_map(|reduction| reduction.vars.iter());
    for &var in spatial.chain(reduced) {
        let is_one = data.index(data.variable(var).extent) == Index::Const(1);
        if !is_one && !vars.contains(&var) {
            vars.push(var);
        }
    }
    let hidden = hidden_dims(data);
    vars.into_iter().filter_map(|var| axis(data, var, &hidden)).collect()
}

fn axis(data: &Data, var: VarId, hidden: &[Vec<bool>]) -> Option<Axis> {
    let place = |result: &Output| result.vars.iter().position(|&other| other == var);
    if data.results.iter().any(|result| place(result).is_some() && is_hidden(data, result.body, var, hidden))
    {
        return None;
    }
    // Where no result is partial, each worker does all of the reductions.
    partly(data, var).or_else(|| {
        let whole = |result| place(result).map_or(Combine::Replicated, |dim| Combine::Concat { dim });
        let outputs: Vec<Combine> = data.results.iter().map(whole).collect();
        let is_split = outputs.iter().any(|output| *output != Combine::Replicated);
        is_split.then(|| Axis { var, outputs, carried: Vec::new(), split: Split::default() })
    })
}

/// The variable with every result partial that can be.
fn partly(data: &Data, var: VarId) -> Option<Axis> {
    if !data.reductions.iter().any(|reduction| reduction.vars.contains(&var)) {
        return None;
    }
    let forms = Forms::new(data, var);
    let is_partial = |result: &&Output| !result.vars.contains(&var) && forms.of(result.body).is_some();
    let (mut partial, rest): (Vec<&Output>, Vec<&Output>) = data.results.iter().partition(is_partial);
    let mut whole: Vec<ScalarId> = rest.iter().map(|result| result.body).collect();
    // Reductions of which a result needs the whole are not split: what else needs only them then is whole as well.
    loop {
        let splits = |result: &&Output| forms.split(&[result.body], &whole).is_some();
        let (kept, dropped): (Vec<&Output>, Vec<&Output>) = partial.into_iter().partition(splits);
        partial = kept;
        if dropped.is_empty() {
            break;
        }
        whole.extend(dropped.iter().map(|result| result.body));
    }
    let bodies: Vec<ScalarId> = partial.iter().map(|result| result.body).collect();
    let split = forms.split(&bodies, &whole).filter(|split| !split.reductions.is_empty())?;
    let combine = |result: &Output| match result.vars.iter().position(|&other| other == var) {
        Some(dim) => Combine::Concat { dim },
        None if whole.contains(&result.body) => Combine::Replicated,
        None => forms.of(result.body).map_or(Combine::Replicated, |Form { reducer, component }| {
            Combine::Partial { reducer, component }
        }),
    };
    let outputs: Vec<Combine> = data.results.iter().map(combine).collect();
    let carried = carried(data, &outputs)?;
    Some(Axis { var, outputs, carried, split })
}

/// What combiners carry along with partial results, but is no result. What is combined together must be of one reduction
/// and at the same indices; `None` if it is not.
fn carried(data: &Data, outputs: &[Combine]) -> Option<Vec<Carried>> {
    let mut carried = Vec::new();
    for combiner in (0..data.combiners.len()).map(CombinerId::from_index) {
        let results = || {
            let each = data.results.iter().zip(outputs).enumerate();
            each.filter_map(|(number, (result, output))| match (output, data.scalar(result.body)) {
                (Combine::Partial { reducer, .. }, Scalar::Reduce(reduction, component))
                    if *reducer == Reducer::Custom(combiner) =>
                {
                    Some((number, &result.vars, *reduction, *component))
                }
                _ => None,
            })
        };
        let Some((result, vars, reduction, _)) = results().next() else { continue };
        if !results().all(|(_, other, of, _)| other == vars && of == reduction) {
            return None;
        }
        let components = 0..data.combiner(combiner).types.len() as u32;
        let missing = components.filter(|&wanted| !results().any(|(.., component)| component == wanted));
        carried.extend(missing.map(|component| Carried { result, reduction, component }));
    }
    Some(carried)
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

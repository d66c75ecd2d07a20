//! What a description does with operands that another op computes in the same loop.
//!
//! A loop over the elements of a result computes several ops at once where each element that one reads of another is at
//! the loop's own indices. An operand may be computed on the way if each of its elements is read once; where elements are
//! read several times, only what costs nothing to make again. A result may be written over an operand if what is read
//! of it for an element is that same element.

use crate::access::lets_are_pointwise;
use crate::description::*;

/// How a description lends itself to loops over several ops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fusion {
    /// Each element of each result is a function of single elements of the operands, at places that step through them
    /// with the indices of the result: it may be computed wherever it is read.
    pub is_pointwise: bool,
    /// Nothing but constants, places and elements of operands: making an element again costs no arithmetic.
    pub is_free: bool,
    /// One for each operand.
    pub operands: Vec<Reading>,
}

/// How an operand is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// How often each of its elements is read.
    pub times: Times,
    /// Of this operand, an element of the result needs at most the element at its own indices: the result may be written
    /// over it.
    pub is_in_place: bool,
}

/// How often elements of an operand are read while all results are computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Times {
    /// Not at all.
    Never,
    /// At most once each, at places that step through it with the loop.
    Once,
    /// Several times, at such places: a broadcast, or a factor of a contraction.
    Repeatedly,
    /// At other places, or by an opaque function.
    Elsewhere,
}

/// Looks at a description.
pub fn fusion(description: &Description) -> Fusion {
    let data = description.data();
    let vars = data.results.first().map_or(&[][..], |result| &result.vars);
    let is_one_loop = data.results.iter().all(|result| *result.vars == *vars)
        && data.opaques.is_empty()
        && lets_are_pointwise(data);
    // All variables that run while the results are computed.
    let mut running: Vec<VarId> =
        vars.iter().chain(data.reductions.iter().flat_map(|reduction| &reduction.vars)).copied().collect();
    running.sort_unstable();
    running.dedup();
    let mut operands = vec![Reading { times: Times::Never, is_in_place: true }; data.parameters.len()];
    for scalar in &data.scalars {
        let Scalar::Read(Source::Operand(number), indices) = scalar else { continue };
        let own = &mut operands[*number as usize];
        let times = if is_one_loop { times(data, indices, &running) } else { Times::Elsewhere };
        own.times = own.times.max(times);
        let is_same = indices.iter().map(|&index| data.index(index)).eq(vars.iter().copied().map(Index::Var));
        own.is_in_place &= is_one_loop && is_same;
    }
    if !is_one_loop {
        // An opaque function reads without a `Read`.
        operands.fill(Reading { times: Times::Elsewhere, is_in_place: false });
    }
    let is_plain = operands.iter().all(|reading| reading.times < Times::Elsewhere);
    let is_pointwise = is_one_loop && data.reductions.is_empty() && is_plain;
    let costs_nothing = |scalar: &Scalar| {
        matches!(
            scalar,
            Scalar::Literal(_)
                | Scalar::Index(_)
                | Scalar::Read(..)
                | Scalar::Convert(_)
                | Scalar::Bitcast(_)
                | Scalar::Compare(..)
                | Scalar::Select(..)
        )
    };
    let is_free = is_pointwise && data.scalars.iter().all(costs_nothing);
    Fusion { is_pointwise, is_free, operands }
}

fn times(data: &Data, indices: &Indices, running: &[VarId]) -> Times {
    let mut found = Vec::new();
    for &index in indices {
        match stepping(data, index) {
            Some(var) => found.extend(var),
            None => return Times::Elsewhere,
        }
    }
    found.sort_unstable();
    let is_distinct = found.windows(2).all(|pair| pair[0] != pair[1]);
    match is_distinct {
        true if found == running => Times::Once,
        true => Times::Repeatedly,
        false => Times::Elsewhere,
    }
}

/// The only variable of an index that steps through a dimension with it: a variable, times a number, plus numbers and
/// extents. Of what has no variables, none; of anything else, nothing is said.
fn stepping(data: &Data, id: IndexId) -> Option<Option<VarId>> {
    match data.index(id) {
        Index::Const(_) | Index::Extent(_) => Some(None),
        Index::Var(var) => Some(Some(var)),
        Index::Add(a, b) | Index::Sub(a, b) => match (stepping(data, a)?, stepping(data, b)?) {
            (var, None) | (None, var) => Some(var),
            _ => None,
        },
        Index::Mul(a, b) => match (data.index(a), data.index(b)) {
            (Index::Const(1..), _) => stepping(data, b),
            (_, Index::Const(1..)) => stepping(data, a),
            _ => None,
        },
        Index::FloorDiv(..) | Index::Mod(..) | Index::Data(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpaqueRegistry, parse};

    /// Whether a description is pointwise, whether it is free, and how its operands are read.
    #[track_caller]
    fn check(text: &str, is_pointwise: bool, is_free: bool, operands: &[(Times, bool)]) {
        let found = fusion(&parse(text, 1, &OpaqueRegistry::builtin()).unwrap());
        let operands = operands.iter().map(|&(times, is_in_place)| Reading { times, is_in_place }).collect();
        assert_eq!(found, Fusion { is_pointwise, is_free, operands }, "{text}");
    }

    #[test]
    fn loops_over_elements_fuse() {
        use Times::*;
        check(
            "tdl @axpy(a: [], x: [N], y: [N]) -> [N] { out[i] = a[] * x[i] + y[i] }",
            true,
            false,
            &[(Repeatedly, false), (Once, true), (Once, true)],
        );
        check("tdl @row(x: [N]) -> [M, N] { out[i: M, j] = x[j] }", true, true, &[(Repeatedly, false)]);
        check("tdl @turn(x: [N, M]) -> [M, N] { out[i, j] = x[j, i] }", true, true, &[(Once, false)]);
        check("tdl @cut(x: [2 * N + 1]) -> [N] { out[i] = x[2 * i + 1] }", true, true, &[(Once, false)]);
        check("tdl @back(x: [N]) -> [N] { out[i] = x[N - 1 - i] }", true, true, &[(Once, false)]);
        check("tdl @count() -> i32[N] { out[i: N] = convert<i32>(i) }", true, true, &[]);
        check(
            "tdl @both(x: [N, N]) -> [N, N] { out[i, j] = x[i, j] + x[j, i] }",
            true,
            false,
            &[(Once, false)],
        );
    }

    #[test]
    fn reductions_take_in_what_they_read_once() {
        use Times::*;
        check("tdl @sum(x: [N, M]) -> [N] { out[i] = sum(j) x[i, j] }", false, false, &[(Once, false)]);
        check(
            "tdl @dot(x: [N, K], y: [K, M]) -> [N, M] { out[i, j] = sum(k) x[i, k] * y[k, j] }",
            false,
            false,
            &[(Repeatedly, false), (Repeatedly, false)],
        );
        // Added where it is written.
        check(
            "tdl @gemm(c: [N, M], x: [N, K], y: [K, M]) -> [N, M] { out[i, j] = c[i, j] + sum(k) x[i, k] * y[k, j] }",
            false,
            false,
            &[(Repeatedly, true), (Repeatedly, false), (Repeatedly, false)],
        );
    }

    #[test]
    fn other_indices_read_elsewhere() {
        use Times::*;
        let blur = "tdl @blur(x: [N + 2]) -> [N] { out[i] = sum(j: 3) x[i + j] }";
        check(blur, false, false, &[(Elsewhere, false)]);
        let diagonal = "tdl @diagonal(x: [N, N]) -> [N] { out[i] = x[i, i] }";
        check(diagonal, false, false, &[(Elsewhere, false)]);
        let pick = "tdl @pick(x: [N], at: i32[M]) -> [M] { out[i] = x[at[i]] }";
        check(pick, false, false, &[(Elsewhere, false), (Once, true)]);
        // By way of an intermediate tensor.
        let norm = "tdl @norm(x: [N]) -> [N] { let s[] = sum(i) x[i]  out[j] = x[j] / s[] }";
        let found = fusion(&parse(norm, 1, &OpaqueRegistry::builtin()).unwrap());
        assert!(!found.is_pointwise && !found.operands[0].is_in_place);
    }
}

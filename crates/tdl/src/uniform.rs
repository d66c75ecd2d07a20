//! One op for all workers: what each of them runs on its share, with the number of the worker where that matters.
//!
//! [`local`](crate::local()) is the op of one worker, with the worker's place written into it. A program that all devices run
//! has one op for all: shares are padded to one size, and a variable that is split counts from the start of its worker's share.
//! What is wanted of an operand is a [`Window`], which moves with the worker; an access counts from the start of the window. For most accesses
//! the worker then cancels out:
//!
//! ```text
//! out[x] = sum(k) data[x + k] * filter[k]                 x split, 5 values each
//! x = x' + 5·w        window of data: from 5·w, 5 + K - 1 elements        x + k - 5·w = x' + k
//! ```
//!
//! Where it does not (guards, values of indices, accesses of what every worker has whole), the number of the worker is
//! one more operand, of no dimensions. Indices are kept as `rest + Σ factor · worker` to see it: what all terms of a quotient or a remainder are multiples of leaves it.
//!
//! Nothing is said of the values in the padding of results, except that they are computed without leaving the operands; where the padding of
//! a share would count in a reduction, it is masked. What counts once is masked on all workers but the first.

mod reach;
mod rewrite;

use std::collections::BTreeSet;

use smallvec::SmallVec;
use tofu_diagnostics::Diagnostic;

use crate::description::*;
use crate::linear::Linear;
use crate::region::signed;
use crate::strategy::Strategy;
use reach::Reach;
use rewrite::Rewriter;

/// What workers divide among themselves.
#[derive(Clone, Copy, Debug)]
pub enum Division<'a> {
    /// The values of a variable.
    Split(&'a Strategy),
    /// Terms.
    Terms(&'a Linear),
}

/// A division, and over how many workers. Several are independent of one another: each has workers of its own, and each worker of
/// one works with each of the others.
#[derive(Clone, Copy, Debug)]
pub struct Among<'a> {
    /// What.
    pub division: Division<'a>,
    /// How many.
    pub workers: u64,
}

/// What a worker has of a dimension of an operand: `size` elements, from `start` on and `step` further for each worker of the
/// division `moves`. Parts of it may lie outside of the operand; what is there does not matter unless it is said.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Window {
    /// The number of the division with whose workers it moves; none if it is the whole dimension.
    pub moves: Option<usize>,
    /// The first element of worker 0.
    pub start: i64,
    /// From one worker to the next.
    pub step: i64,
    /// How many elements.
    pub size: u64,
}

impl Window {
    /// A whole dimension.
    pub fn whole(extent: u64) -> Window {
        Window { moves: None, start: 0, step: 0, size: extent }
    }
}

/// What must be done with an operand before it is given to the op.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Mask {
    /// Of all workers of the division `among` but the first, it is what the reducer gives of nothing.
    Once {
        /// The operand.
        operand: usize,
        /// The division.
        among: usize,
        /// What it counts in.
        reducer: Reducer,
    },
    /// Beyond the extent of the dimension, it is what the reducer gives of nothing.
    Padding {
        /// The operand.
        operand: usize,
        /// The dimension.
        dim: usize,
        /// What it counts in.
        reducer: Reducer,
    },
    /// Beyond both ends of the dimension it is 0.
    Outside {
        /// The operand.
        operand: usize,
        /// The dimension.
        dim: usize,
    },
}

/// The op that all workers run.
#[derive(Clone, Debug)]
pub struct Uniform {
    /// What each computes, on its windows and, after them, on the numbers of workers, `i32`s.
    pub description: Description,
    /// What it has of each dimension of each operand.
    pub windows: Vec<SmallVec<[Window; 4]>>,
    /// What must be done with operands before.
    pub masks: Vec<Mask>,
    /// The divisions of whose workers it takes the numbers.
    pub workers: Vec<usize>,
}

/// The op that all workers run, for actual extents (those of the description, in its order). `moves` says with the workers
/// of which division a dimension of an operand moves; what then has no window is whole.
///
/// # Errors
/// It is too large.
pub fn uniform(
    description: &Description,
    extents: &[u64],
    among: &[Among<'_>],
    moves: &dyn Fn(usize, usize) -> Option<usize>,
) -> Result<Uniform, Vec<Diagnostic>> {
    let extents_signed = signed(extents);
    let shares = Shares::of(description, extents, among);
    let mut reach = Reach::new(description.data(), &extents_signed, &shares);
    reach.choose(moves);
    // Which workers matter is known when it is made; those that do not are then left out.
    let all: Vec<usize> = (0..among.len()).collect();
    let first = Rewriter::new(description.data(), &extents_signed, &shares, &reach, &all).whole()?;
    let used: Vec<usize> = first.used.iter().copied().collect();
    let made = if used == all {
        first
    } else {
        Rewriter::new(description.data(), &extents_signed, &shares, &reach, &used).whole()?
    };
    Ok(Uniform {
        description: made.description,
        windows: reach.operands.clone(),
        masks: made.masks,
        workers: used,
    })
}

/// The windows that workers have of each dimension of each operand when only this strategy splits anything, and every dimension moves
/// that can.
pub(crate) fn windows(
    description: &Description,
    extents: &[u64],
    strategy: &Strategy,
    workers: u64,
) -> Vec<SmallVec<[Window; 4]>> {
    let among = [Among { division: Division::Split(strategy), workers }];
    let extents_signed = signed(extents);
    let shares = Shares::of(description, extents, &among);
    let mut reach = Reach::new(description.data(), &extents_signed, &shares);
    reach.choose(&|_, _| Some(0));
    reach.operands
}

/// The divisions, with their shares.
struct Shares {
    each: Vec<Share>,
}

/// A division.
struct Share {
    /// The variable that is split, and how many values a worker gets.
    var: Option<(VarId, i64)>,
    /// How many values there are.
    values: i64,
    workers: i64,
    /// The reductions whose variable is split.
    reductions: Vec<ReductionId>,
    /// What counts once.
    once: Vec<(ScalarId, ScalarId)>,
    carried: Vec<crate::evaluate::Carried>,
}

impl Shares {
    fn of(description: &Description, extents: &[u64], among: &[Among<'_>]) -> Shares {
        let share = |among: &Among<'_>| {
            let workers = i64::try_from(among.workers).unwrap_or(i64::MAX).max(1);
            match among.division {
                Division::Split(strategy) => {
                    let first = strategy.part(description, extents, 1, 0);
                    let each = strategy.padded_share(description, extents, among.workers);
                    let other = strategy.part(description, extents, among.workers, 1);
                    let var = first.outputs.first().map(|&(var, ..)| var);
                    let values = first.outputs.first().map_or(0, |&(.., values)| values);
                    let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
                    Share {
                        var: var.map(|var| (var, signed(each))),
                        values: signed(values),
                        workers,
                        reductions: first.reductions.iter().map(|&(id, ..)| id).collect(),
                        once: other.left_out,
                        carried: first.carried,
                    }
                }
                Division::Terms(linear) => Share {
                    var: None,
                    values: 0,
                    workers,
                    reductions: Vec::new(),
                    once: linear.part(1).left_out,
                    carried: Vec::new(),
                },
            }
        };
        Shares { each: among.iter().map(share).collect() }
    }

    /// The division that splits a variable, and how many values a worker gets.
    fn of_var(&self, var: VarId) -> Option<(usize, i64)> {
        let mut each = self.each.iter().enumerate();
        each.find_map(|(number, share)| {
            share.var.filter(|(other, _)| *other == var).map(|(_, each)| (number, each))
        })
    }

    /// The same for the variable of a reduction.
    fn of_reduced(&self, reduction: ReductionId, var: VarId) -> Option<(usize, i64)> {
        self.of_var(var).filter(|&(number, _)| self.each[number].reductions.contains(&reduction))
    }

    /// Whether shares together are more than there is.
    fn is_padded(&self, number: usize) -> bool {
        let share = &self.each[number];
        share.var.is_some_and(|(_, each)| each * share.workers != share.values)
    }
}

/// An index: `rest`, a constant and, for each worker in `by`, so much for each.
#[derive(Clone, Debug)]
struct Shifted {
    rest: IndexId,
    constant: i64,
    by: SmallVec<[(usize, i64); 2]>,
}

impl Shifted {
    fn by(mut self, number: usize, factor: i64) -> Shifted {
        match self.by.iter_mut().find(|(other, _)| *other == number) {
            Some((_, known)) => *known += factor,
            None => self.by.push((number, factor)),
        }
        self.by.retain(|(_, factor)| *factor != 0);
        self.by.sort_unstable();
        self
    }
}

/// What a rewrite has made.
struct Made {
    description: Description,
    masks: Vec<Mask>,
    used: BTreeSet<usize>,
}

#[cfg(test)]
mod tests;

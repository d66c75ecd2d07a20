//! The stages of a kernel, each of which fills a tensor.
//!
//! | stage | for |
//! |---|---|
//! | [`Contract`] | sums of products |
//! | [`Scatter`], [`Update`] | `reduce(m, …) if at[m] == n and … then value else identity`, which for each `m` changes one `n` |
//! | [`Fold`] | reductions to few elements, and along rows |
//! | [`Map`] | everything else |

use std::ops::Range;

use tofu_tdl::EvaluateError;

use super::column;
use super::contract::Contract;
use super::places::Placed;
use super::program::{Combine, Program};
use super::run::{BLOCK, Ran, State, Tensors, advance};

/// The tensors that a stage fills.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Temporaries(Range<usize>),
    Result(usize),
}

impl Target {
    pub(super) fn temporary(number: usize) -> Target {
        Target::Temporaries(number..number + 1)
    }
}

/// A step of a kernel.
pub(super) struct Stage {
    pub(super) target: Target,
    pub(super) work: Work,
}

pub(super) enum Work {
    Map(Map),
    Fold(Fold),
    Scatter(Scatter),
    Update(Update),
    Contract(Box<Contract>, Option<Map>),
}

impl Work {
    /// What kind of stage it is.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Work::Map(_) => "Map",
            Work::Fold(_) => "Fold",
            Work::Scatter(_) => "Scatter",
            Work::Update(_) => "Update",
            Work::Contract(..) => "Contract",
        }
    }
}

/// Each element of the target is an expression.
pub(super) struct Map {
    pub(super) program: Program,
    pub(super) size: usize,
}

/// The target holds identities; rows of the box, whose last axes are those of the reduction, are folded into them.
pub(super) struct Fold {
    pub(super) program: Program,
    pub(super) size: usize,
    pub(super) row: usize,
    pub(super) combine: column::Combine,
}

/// The target holds identities; each point of the box, whose first axes are those of the reduction, changes one element.
pub(super) struct Scatter {
    pub(super) program: Program,
    pub(super) placed: Placed,
    pub(super) combine: column::Combine,
}

/// [`Scatter`] for combiners of several values, or of another kind: for each point of the reduction, over the variables
/// that are left, elements of several targets are combined at once.
pub(super) struct Update {
    pub(super) program: Program,
    pub(super) placed: Placed,
    /// The extents of the reduction.
    pub(super) extents: Vec<i64>,
    pub(super) combine: Combine,
}

impl Stage {
    pub(super) fn run(&self, tensors: Tensors<'_>, targets: &mut [&mut [u8]]) -> Ran<()> {
        if let Work::Update(update) = &self.work {
            return update.run(tensors, targets);
        }
        let Some(target) = targets.first_mut() else { return Ok(()) };
        match &self.work {
            Work::Map(map) => map.run(tensors, target),
            Work::Fold(fold) => fold.run(tensors, target),
            Work::Scatter(scatter) => scatter.run(tensors, target),
            Work::Update(_) => Ok(()),
            Work::Contract(contract, otherwise) => {
                let is_done = contract.run(tensors, target)?;
                match otherwise {
                    Some(map) if !is_done => map.run(tensors, target),
                    _ => Ok(()),
                }
            }
        }
    }
}

/// Runs a program over its whole box, block by block.
fn blocks(
    program: &Program,
    tensors: Tensors<'_>,
    mut visit: impl FnMut(&State<'_>, usize, usize) -> Ran<()>,
) -> Ran<()> {
    let block = BLOCK.min(program.count);
    let mut state = State::new(program, tensors, block);
    let mut start = 0;
    while start < program.count {
        let length = block.min(program.count - start);
        state.run(start, length)?;
        visit(&state, start, length)?;
        start += length;
    }
    Ok(())
}

impl Map {
    fn run(&self, tensors: Tensors<'_>, target: &mut [u8]) -> Ran<()> {
        blocks(&self.program, tensors, |state, start, length| {
            let to = &mut target[start * self.size..(start + length) * self.size];
            to.copy_from_slice(state.column(self.program.results[0]));
            Ok(())
        })
    }
}

impl Fold {
    fn run(&self, tensors: Tensors<'_>, target: &mut [u8]) -> Ran<()> {
        blocks(&self.program, tensors, |state, mut point, length| {
            let mut column = state.column(self.program.results[0]);
            let end = point + length;
            while point < end {
                let count = (self.row - point % self.row).min(end - point);
                let (values, rest) = column.split_at(count * self.size);
                let element = point / self.row * self.size;
                (self.combine.fold)(&mut target[element..element + self.size], values);
                (column, point) = (rest, point + count);
            }
            Ok(())
        })
    }
}

impl Scatter {
    fn run(&self, tensors: Tensors<'_>, target: &mut [u8]) -> Ran<()> {
        let Placed { offset, counts, values } = &self.placed;
        blocks(&self.program, tensors, |state, _, _| {
            let [value, offset, counts] = [values[0], *offset, *counts].map(|reg| state.column(reg));
            match (self.combine.scatter)(target, offset, counts, value) {
                true => Ok(()),
                false => Err(EvaluateError("an access lies outside its tensor".to_owned())),
            }
        })
    }
}

impl Update {
    fn run(&self, tensors: Tensors<'_>, targets: &mut [&mut [u8]]) -> Ran<()> {
        if self.extents.contains(&0) {
            return Ok(());
        }
        let block = BLOCK.min(self.program.count);
        let mut state = State::new(&self.program, tensors, block);
        let mut point = vec![0; self.extents.len()];
        loop {
            state.points[..point.len()].copy_from_slice(&point);
            let mut start = 0;
            while start < self.program.count {
                let length = block.min(self.program.count - start);
                state.run(start, length)?;
                state.update(&self.placed, &self.combine, targets)?;
                start += length;
            }
            if !advance(&mut point, &self.extents) {
                return Ok(());
            }
        }
    }
}

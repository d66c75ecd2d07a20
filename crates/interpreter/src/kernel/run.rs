//! Runs programs, block by block.

use tofu_tdl::{Comparison, EvaluateError};

use super::column::{self, Lane, with_size};
use super::places::Placed;
use super::program::*;
use super::rows::{Row, Rows};

/// How many points a block has at most: columns of some registers fit into the first cache.
pub(super) const BLOCK: usize = 1024;

pub(super) type Ran<T> = Result<T, EvaluateError>;

/// The tensors that stages read.
#[derive(Clone, Copy)]
pub(super) struct Tensors<'a> {
    pub(super) operands: &'a [&'a [u8]],
    pub(super) temporaries: &'a [Vec<u8>],
}

impl<'a> Tensors<'a> {
    fn get(self, tensor: Tensor) -> &'a [u8] {
        match tensor {
            Tensor::Operand(number) => self.operands.get(number).copied().unwrap_or_default(),
            Tensor::Temporary(number) => self.temporaries.get(number).map_or(&[], Vec::as_slice),
        }
    }
}

/// The registers of a program that runs.
pub(super) struct State<'a> {
    program: &'a Program,
    tensors: Tensors<'a>,
    columns: Vec<Vec<u8>>,
    /// The values of the points' variables.
    pub(super) points: Vec<i64>,
    start: usize,
    length: usize,
}

impl<'a> State<'a> {
    /// Registers for blocks of up to `length` points.
    pub(super) fn new(program: &'a Program, tensors: Tensors<'a>, length: usize) -> State<'a> {
        let mut columns: Vec<Vec<u8>> =
            program.registers.iter().map(|element| vec![0; element.storage_bytes() * length]).collect();
        for (register, element) in &program.constants {
            column::fill(&mut columns[*register], element);
        }
        State { program, tensors, columns, points: vec![0; program.points], start: 0, length: 0 }
    }

    /// Computes the columns of the points `start..start + length`.
    pub(super) fn run(&mut self, start: usize, length: usize) -> Ran<()> {
        (self.start, self.length) = (start, length);
        let program = self.program;
        self.block(&program.block)
    }

    /// The elements of a register for the block that ran last.
    pub(super) fn column(&self, register: Reg) -> &[u8] {
        &self.columns[register][..self.length * self.size(register)]
    }

    fn size(&self, register: Reg) -> usize {
        self.program.registers[register].storage_bytes()
    }

    /// Computes the column of a register from the others.
    fn set(&mut self, to: Reg, compute: impl FnOnce(&mut [u8], &Self) -> Ran<()>) -> Ran<()> {
        let mut column = std::mem::take(&mut self.columns[to]);
        let length = self.length * self.size(to);
        let computed = compute(&mut column[..length], self);
        self.columns[to] = column;
        computed
    }

    fn copy(&mut self, to: Reg, from: Reg) -> Ran<()> {
        if to == from {
            return Ok(());
        }
        self.set(to, |to, state| {
            to.copy_from_slice(state.column(from));
            Ok(())
        })
    }

    fn walk(&self, rows: &Rows, visit: impl FnMut(Row<'_>) -> bool) -> bool {
        rows.walk(self.start, self.length, &self.points, visit)
    }

    fn block(&mut self, block: &Block) -> Ran<()> {
        block.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Ran<()> {
        match step {
            Step::Index { to, affine, columns } => self.set(*to, |to, state| {
                let to = i64::lanes_mut(to);
                state.walk(affine, |row| {
                    let mut value = row.values[0];
                    for lane in &mut to[row.at..row.at + row.length] {
                        *lane = value.put();
                        value = value.wrapping_add(row.steps[0]);
                    }
                    true
                });
                for &(column, factor) in columns {
                    for (lane, &value) in to.iter_mut().zip(i64::lanes(state.column(column))) {
                        *lane = i64::get(*lane).wrapping_add(factor.wrapping_mul(i64::get(value))).put();
                    }
                }
                Ok(())
            }),
            Step::Condition { to, form, comparison } => self.set(*to, |to, state| {
                state.walk(form, |row| {
                    condition(&mut to[row.at..row.at + row.length], row.values[0], row.steps[0], *comparison);
                    true
                });
                Ok(())
            }),
            Step::Load { to, tensor, size, rows, extents } => self.set(*to, |to, state| {
                let from = state.tensors.get(*tensor);
                let all = with_size!(*size, N => {
                    let (from, to) = (from.as_chunks::<N>().0, to.as_chunks_mut::<N>().0);
                    state.walk(rows, |row| load_row(&mut to[row.at..row.at + row.length], from, &row, extents))
                });
                if all { Ok(()) } else { Err(EvaluateError("an access lies outside its tensor".to_owned())) }
            }),
            Step::Gather(gather) => self.set(gather.to, |to, state| gather_lanes(to, state, gather)),
            Step::Unary { to, a, run } => self.set(*to, |to, state| {
                run(to, state.column(*a));
                Ok(())
            }),
            Step::Binary { to, a, b, run } => self.set(*to, |to, state| {
                run(to, state.column(*a), state.column(*b));
                Ok(())
            }),
            Step::Select { to, condition, then, otherwise } => {
                let conditions = self.column(*condition);
                let (all, any) = (!conditions.contains(&0), conditions.contains(&1));
                if any {
                    self.block(&then.0)?;
                }
                if !all {
                    self.block(&otherwise.0)?;
                }
                match (all, any) {
                    (true, _) => self.copy(*to, then.1),
                    (_, false) => self.copy(*to, otherwise.1),
                    _ => {
                        let size = self.size(*to);
                        self.set(*to, |to, state| {
                            let columns = [*condition, then.1, otherwise.1].map(|register| state.column(register));
                            column::select(size, to, columns[0], columns[1], columns[2]);
                            Ok(())
                        })
                    }
                }
            }
            Step::Reduce(reduce) => self.reduce(reduce),
        }
    }

    fn reduce(&mut self, reduce: &Reduce) -> Ran<()> {
        self.block(&reduce.identities.0)?;
        for (&to, &from) in reduce.carried.iter().zip(&reduce.identities.1) {
            self.copy(to, from)?;
        }
        if reduce.extents.contains(&0) {
            return Ok(());
        }
        let points = reduce.first_point..reduce.first_point + reduce.extents.len();
        self.points[points.clone()].fill(0);
        loop {
            self.block(&reduce.bodies.0)?;
            self.combine(reduce)?;
            if !advance(&mut self.points[points.clone()], &reduce.extents) {
                return Ok(());
            }
        }
    }

    /// Combines what the block that ran last has computed into elements of targets.
    pub(super) fn update(
        &mut self,
        placed: &Placed,
        combine: &Combine,
        targets: &mut [&mut [u8]],
    ) -> Ran<()> {
        let Combine::Custom { left, right, block, results } = combine else { return Ok(()) };
        let Placed { offset, counts, values } = placed;
        if !self.column(*counts).contains(&1) {
            return Ok(());
        }
        for ((&to, &value), (&left, target)) in right.iter().zip(values).zip(left.iter().zip(targets.iter()))
        {
            self.copy(to, value)?;
            let size = self.size(left);
            self.set(left, |to, state| {
                let moved = |to: &mut [u8], at: usize| to.copy_from_slice(&target[at..at + size]);
                state.placed(*offset, *counts, size, target.len(), to, moved)
            })?;
        }
        self.block(block)?;
        for (&result, target) in results.iter().zip(targets) {
            let size = self.size(result);
            let mut column = self.column(result).to_vec();
            let length = target.len();
            let moved = |from: &mut [u8], at: usize| target[at..at + size].copy_from_slice(from);
            self.placed(*offset, *counts, size, length, &mut column, moved)?;
        }
        Ok(())
    }

    /// Moves elements of a column from or to their places in a target of `length` bytes, where there are any.
    fn placed(
        &self,
        offset: Reg,
        counts: Reg,
        size: usize,
        length: usize,
        column: &mut [u8],
        mut moved: impl FnMut(&mut [u8], usize),
    ) -> Ran<()> {
        let offsets = i64::lanes(self.column(offset)).iter().map(|&offset| i64::get(offset));
        for ((element, offset), &counts) in
            column.chunks_exact_mut(size).zip(offsets).zip(self.column(counts))
        {
            if counts == 0 {
                continue;
            }
            let at = usize::try_from(offset).ok().and_then(|offset| offset.checked_mul(size));
            let Some(at) = at.filter(|&at| at + size <= length) else {
                return Err(EvaluateError("an access lies outside its tensor".to_owned()));
            };
            moved(element, at);
        }
        Ok(())
    }

    fn combine(&mut self, reduce: &Reduce) -> Ran<()> {
        match &reduce.combine {
            Combine::Binary(run, to) => {
                let (carried, body) = (reduce.carried[0], reduce.bodies.1[0]);
                self.set(*to, |to, state| {
                    run(to, state.column(carried), state.column(body));
                    Ok(())
                })?;
                self.columns.swap(*to, carried);
                Ok(())
            }
            Combine::Custom { left, right, block, results } => {
                let inputs = reduce.carried.iter().zip(left).chain(reduce.bodies.1.iter().zip(right));
                for (&from, &to) in inputs {
                    self.copy(to, from)?;
                }
                self.block(block)?;
                for (&to, &from) in reduce.carried.iter().zip(results) {
                    self.copy(to, from)?;
                }
                Ok(())
            }
        }
    }
}

/// The next point in row-major order; after the last one comes the first.
pub(super) fn advance(points: &mut [i64], extents: &[i64]) -> bool {
    for (point, extent) in points.iter_mut().zip(extents).rev() {
        *point += 1;
        if *point < *extent {
            return true;
        }
        *point = 0;
    }
    false
}

/// Whether `value`, `value + step`, … compare with zero.
fn condition(to: &mut [u8], value: i64, step: i64, comparison: Comparison) {
    // The number of lanes before the condition `value >= bound` changes, and what it is before.
    let at_least = |to: &mut [u8], bound: i64, negated: bool| {
        let rest = bound.saturating_sub(value);
        let holds = rest <= 0;
        let until = match step {
            0 => to.len(),
            _ if holds && step < 0 => (rest.unsigned_abs() / step.unsigned_abs()) as usize + 1,
            _ if !holds && step > 0 => rest.unsigned_abs().div_ceil(step.unsigned_abs()) as usize,
            _ => to.len(),
        };
        let (before, after) = to.split_at_mut(until.min(to.len()));
        before.fill(u8::from(holds != negated));
        after.fill(u8::from(holds == negated));
    };
    match comparison {
        Comparison::Ge => at_least(to, 0, false),
        Comparison::Gt => at_least(to, 1, false),
        Comparison::Lt => at_least(to, 0, true),
        Comparison::Le => at_least(to, 1, true),
        Comparison::Eq | Comparison::Ne => {
            let equal = u8::from(comparison == Comparison::Eq);
            if step == 0 {
                to.fill(if value == 0 { equal } else { 1 - equal });
                return;
            }
            to.fill(1 - equal);
            let at = value.wrapping_neg() / step;
            let lane = usize::try_from(at).ok().filter(|_| at.wrapping_mul(step) == value.wrapping_neg());
            if let Some(lane) = lane.and_then(|lane| to.get_mut(lane)) {
                *lane = equal;
            }
        }
    }
}

/// Loads a row; lanes of which an index leaves its dimension become zero. False if others lie outside of the tensor.
fn load_row<const N: usize>(to: &mut [[u8; N]], from: &[[u8; N]], row: &Row<'_>, extents: &[i64]) -> bool {
    let mut inside = 0..row.length;
    for (form, &extent) in extents.iter().enumerate() {
        let lanes = lanes_within(row.values[form + 1], row.steps[form + 1], extent, row.length);
        inside = inside.start.max(lanes.start)..inside.end.min(lanes.end);
    }
    if inside.is_empty() {
        to.fill([0; N]);
        return true;
    }
    to[..inside.start].fill([0; N]);
    to[inside.end..].fill([0; N]);
    let step = row.steps[0];
    let first = row.values[0].wrapping_add(step.wrapping_mul(inside.start as i64));
    let last = row.values[0].wrapping_add(step.wrapping_mul(inside.end as i64 - 1));
    let is_there = |offset: i64| usize::try_from(offset).is_ok_and(|offset| offset < from.len());
    if !is_there(first) || !is_there(last) {
        return false;
    }
    let (to, first) = (&mut to[inside], first as usize);
    match step {
        0 => to.fill(from[first]),
        1 => to.copy_from_slice(&from[first..first + to.len()]),
        _ => {
            let mut at = first;
            for lane in to {
                // Between the first and the last one.
                *lane = from[at];
                at = at.wrapping_add_signed(step as isize).min(from.len() - 1);
            }
        }
    }
    true
}

/// The lanes for which `value + step * lane` lies in `0..extent`.
fn lanes_within(value: i64, step: i64, extent: i64, length: usize) -> std::ops::Range<usize> {
    if step == 0 {
        return if (0..extent).contains(&value) { 0..length } else { 0..0 };
    }
    // A falling form is a rising one of the distance from the other end.
    let (value, step) = if step > 0 { (value, step) } else { (extent - 1 - value, -step) };
    let ceil = |a: i64| if a <= 0 { 0 } else { (a as u64).div_ceil(step as u64) as usize };
    ceil(-value).min(length)..ceil(extent - value).min(length)
}

fn gather_lanes(to: &mut [u8], state: &State<'_>, gather: &Gather) -> Ran<()> {
    let from = state.tensors.get(gather.tensor);
    let offsets = i64::lanes(state.column(gather.offset));
    let indices = |check: &Check| i64::lanes(state.column(check.index)).iter().map(|&index| i64::get(index));
    let is_outside = |check: &Check| indices(check).any(|index| index < 0 || index >= check.extent);
    let open: Vec<&Check> = gather.checks.iter().filter(|check| is_outside(check)).collect();
    let counts = gather.counts.map(|counts| state.column(counts));
    let mut inside = vec![true; if open.is_empty() { 0 } else { offsets.len() }];
    for check in open {
        for (lane, index) in indices(check).enumerate() {
            if (0..check.extent).contains(&index) {
                continue;
            }
            if check.depends_on_elements && counts.is_none_or(|counts| counts[lane] != 0) {
                return Err(EvaluateError(format!(
                    "the index into dimension {} of `{}` is {index}, outside 0..{}",
                    check.dimension, gather.name, check.extent
                )));
            }
            inside[lane] = false;
        }
    }
    let all = with_size!(gather.size, N => {
        let from = from.as_chunks::<N>().0;
        to.as_chunks_mut::<N>().0.iter_mut().zip(offsets).enumerate().all(|(lane, (to, &offset))| {
            let is_inside = inside.get(lane).copied().unwrap_or(true);
            let offset = usize::try_from(i64::get(offset)).ok().filter(|_| is_inside);
            match offset.and_then(|offset| from.get(offset)) {
                Some(element) => {
                    *to = *element;
                    true
                }
                None => {
                    *to = [0; N];
                    !is_inside
                }
            }
        })
    });
    if all { Ok(()) } else { Err(EvaluateError("an access lies outside its tensor".to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_runs_of_lanes() {
        for comparison in
            [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge]
        {
            for value in -9..9 {
                for step in -4..5 {
                    let mut lanes = [7; 6];
                    condition(&mut lanes, value, step, comparison);
                    let expected = [0, 1, 2, 3, 4, 5]
                        .map(|lane: i64| u8::from(comparison.holds(Some((value + step * lane).cmp(&0)))));
                    assert_eq!(lanes, expected, "{value} {step} {comparison:?}");
                }
            }
        }
    }

    #[test]
    fn lanes_inside_a_dimension() {
        for value in -9..9 {
            for step in -4..5 {
                for extent in 0..6 {
                    let lanes = lanes_within(value, step, extent, 6);
                    for lane in 0..6 {
                        let is_inside = (0..extent).contains(&(value + step * lane as i64));
                        assert_eq!(lanes.contains(&lane), is_inside, "{value} {step} {extent} {lane}");
                    }
                }
            }
        }
    }
}

//! Joins the cells of values that are one in memory, and makes storages of what comes out.

use smallvec::SmallVec;
use tofu_ir::{Control, EntityId, Module, OpId, SecondaryMap, ValueId};

use crate::assign::Assignment;
use crate::cells::Cell;
use crate::donation::Ties;
use crate::kernels::{Held, Kernels};
use crate::liveness::{Storage, StorageId, StorageKind};
use crate::schedule::{Schedule, has_inner_ops};
use crate::source::{is_invariant, part};

/// The storages, and those that each value is in.
pub(crate) type Storages = (Vec<Storage>, SecondaryMap<ValueId, SmallVec<[StorageId; 1]>>);

/// Joins the cells of an assignment.
pub(crate) fn join(assignment: Assignment<'_>, ties: &Ties) -> Storages {
    let aligned = aligned(assignment.module, assignment.schedule, assignment.kernels);
    let mut joining = Joining { it: assignment, aligned };
    joining.control();
    let copied = joining.results(ties);
    joining.in_place();
    joining.storages(copied)
}

struct Joining<'m> {
    it: Assignment<'m>,
    /// Of values that a kernel computes on its way: whether the kernel's results need at most the element at their own
    /// indices.
    aligned: SecondaryMap<ValueId, bool>,
}

impl<'m> Joining<'m> {
    /// The only cell of a value.
    fn cell(&self, value: ValueId) -> Option<Cell> {
        match self.it.of[value][..] {
            [cell] => Some(cell),
            _ => None,
        }
    }

    /// Loops and choices.
    fn control(&mut self) {
        let (module, schedule) = (self.it.module, self.it.schedule);
        let begins = |&(position, &op): &(u32, &OpId)| {
            has_inner_ops(module, op) && schedule.begin(op) == Some(position)
        };
        let all: Vec<(u32, &OpId)> = (0u32..).zip(schedule.ops()).filter(begins).collect();
        let is_loop = |op: OpId| matches!(module.def(op).interface(), Some(Control::While));
        // What has to be one comes before what may be.
        for &(_, &op) in all.iter().filter(|(_, op)| is_loop(**op)) {
            for index in 0..module.result_count(op) {
                if let Some((argument, result)) = self.carried(op, index) {
                    self.it.cells.unite(argument, result);
                }
            }
        }
        for (begin, &op) in all {
            for index in 0..module.result_count(op) {
                match is_loop(op) {
                    true => self.repeated(op, index, begin),
                    false => self.chosen(op, index),
                }
            }
        }
    }

    /// The cells of an argument of a loop's body and of the loop's result; none if the loop hands it on as it is.
    fn carried(&self, op: OpId, index: usize) -> Option<(Cell, Cell)> {
        let module = self.it.module;
        let (body, _) = part(module, op, 1)?;
        if is_invariant(module, op, index) {
            return None;
        }
        Some((self.cell(module.arguments(body)[index])?, self.cell(module.result(op, index))?))
    }

    /// What a loop is given for a value that it changes, and what it gives itself.
    fn repeated(&mut self, op: OpId, index: usize, begin: u32) {
        let module = self.it.module;
        let (Some((own, _)), Some((_, last))) = (self.carried(op, index), part(module, op, 1)) else {
            return;
        };
        if let Some(operand) = self.cell(module.operand(op, index)) {
            self.it.cells.join(operand, own, Some(begin));
        }
        self.given(last, index, own);
    }

    /// What branches give.
    fn chosen(&mut self, op: OpId, index: usize) {
        let module = self.it.module;
        let Some(own) = self.cell(module.result(op, index)) else { return };
        for region in 0..module.region_count(op) {
            if let Some((_, last)) = part(module, op, region) {
                self.given(last, index, own);
            }
        }
    }

    /// What a region gives: it is where it has to be, or is copied there at the region's end.
    fn given(&mut self, last: OpId, index: usize, own: Cell) {
        let value = self.it.module.operand(last, index);
        let is_there = self.cell(value).is_some_and(|cell| {
            let over = self.over(value, own);
            self.it.cells.join(own, cell, over)
        });
        if let Some(position) = self.it.schedule.begin(last).filter(|_| !is_there) {
            let copy = self.it.cells.add(position..position + 1);
            self.it.cells.join(own, copy, None);
        }
    }

    /// What the function returns. The answer is those values of which a copy is returned.
    fn results(&mut self, ties: &Ties) -> Vec<ValueId> {
        let len = self.it.schedule.len();
        let (arguments, results) = self.it.ends.clone();
        let mut is_tied = vec![false; results.len()];
        let mut copied = Vec::new();
        for &(argument, result) in &ties.pairs {
            if !self.it.is_donated[argument] {
                continue;
            }
            let (Some(own), Some(cell)) = (self.cell(arguments[argument]), self.cell(results[result])) else {
                continue;
            };
            let over = self.over(results[result], own);
            let is_own = self.it.cells.class(own) == self.it.cells.class(cell);
            if !is_own && !self.it.cells.join(own, cell, over) {
                // It is copied in the end, if nothing else that is returned is there.
                let copy = self.it.cells.add(len.saturating_sub(1)..len);
                if !self.it.cells.join(own, copy, None) {
                    continue;
                }
            }
            is_tied[result] = true;
            self.it.facts[own].is_result = true;
        }
        // Nobody may write over what the caller keeps, or what is returned in another place already.
        let mut is_returned: SecondaryMap<Cell, bool> = SecondaryMap::new();
        for (&value, _) in results.iter().zip(&is_tied).filter(|(_, is_tied)| !**is_tied) {
            for cell in self.it.of[value].clone() {
                let class = self.it.cells.class(cell);
                let is_kept = match self.it.facts[cell].kind {
                    StorageKind::Parameter => !self.is_donated(cell),
                    StorageKind::Constant => true,
                    StorageKind::Intermediate => false,
                };
                if is_kept || is_returned[class] || self.it.facts[class].is_result {
                    copied.push(value);
                } else {
                    is_returned[class] = true;
                    self.it.facts[cell].is_result = true;
                }
            }
        }
        copied
    }

    fn is_donated(&self, cell: Cell) -> bool {
        let mut arguments = self.it.ends.0.iter().zip(&self.it.is_donated);
        arguments.any(|(&argument, &is_donated)| is_donated && self.cell(argument) == Some(cell))
    }

    /// Results that are written over an operand.
    fn in_place(&mut self) {
        let (module, schedule) = (self.it.module, self.it.schedule);
        for (position, &op) in (0u32..).zip(schedule.ops()) {
            if self.it.kernels.fusion(op).is_none() {
                continue;
            }
            let mut leaves = None;
            for result in module.results(op) {
                let (Held::Stored, Some(own)) = (self.it.kernels.held(result), self.cell(result)) else {
                    continue;
                };
                let leaves = leaves.get_or_insert_with(|| self.leaves(op));
                let fitting = leaves.iter().filter(|&&leaf| module.ty(leaf) == module.ty(result));
                let cells: Vec<Cell> = fitting.filter_map(|&leaf| self.cell(leaf)).collect();
                for cell in cells {
                    if self.dies_in_place(cell, op, position) && self.it.cells.join(cell, own, Some(position))
                    {
                        break;
                    }
                }
            }
        }
    }

    /// Where a value is computed, if it may be written over what is in a cell.
    fn over(&mut self, value: ValueId, cell: Cell) -> Option<u32> {
        let op = self.it.module.defining_op(value)?;
        let position = self.it.schedule.begin(op)?;
        let class = self.it.cells.class(cell);
        for leaf in self.leaves(op) {
            let Some(own) = self.cell(leaf).filter(|&own| self.it.cells.class(own) == class) else {
                continue;
            };
            if self.it.module.ty(leaf) == self.it.module.ty(value) && self.dies_in_place(own, op, position) {
                return Some(position);
            }
        }
        None
    }

    /// What the kernel of an op reads only at the indices of what it writes.
    fn leaves(&self, op: OpId) -> Vec<ValueId> {
        let (module, kernels) = (self.it.module, self.it.kernels);
        let mut found = Vec::new();
        let mut pending = vec![op];
        while let Some(inner) = pending.pop() {
            let operands = module.operands(inner).enumerate();
            for (_, operand) in operands.filter(|&(index, _)| kernels.is_in_place(inner, index)) {
                match kernels.held(operand) {
                    Held::Stored | Held::Alias(_) => found.push(operand),
                    Held::Fused(root) if root == op && self.aligned[operand] => {
                        pending.extend(module.defining_op(operand));
                    }
                    Held::Fused(_) | Held::Copied => {}
                }
            }
        }
        found
    }

    /// Whether the kernel of an op is the last to read what is in a cell, and reads it only at the indices of what it
    /// writes.
    fn dies_in_place(&self, cell: Cell, op: OpId, position: u32) -> bool {
        let (module, kernels) = (self.it.module, self.it.kernels);
        let facts = &self.it.facts[cell];
        let is_in_place = |(user, operand): (OpId, usize)| {
            let is_earlier =
                kernels.reads_until(module, self.it.schedule, user).is_some_and(|until| until < position);
            let is_own = user == op
                || module.results(user).all(|result| {
                    // A view of it is in the same cell.
                    kernels.is_stored(result)
                        || (kernels.held(result) == Held::Fused(op) && self.aligned[result])
                });
            is_earlier || (is_own && kernels.is_in_place(user, operand))
        };
        facts.live.end == position + 1
            && facts.values.iter().all(|&value| module.uses(value).all(is_in_place))
    }

    fn storages(mut self, copied: Vec<ValueId>) -> Storages {
        let len = self.it.schedule.len();
        let mut numbers: SecondaryMap<Cell, Option<StorageId>> = SecondaryMap::new();
        let mut storages: Vec<Storage> = Vec::new();
        for (cell, facts) in self.it.facts.iter() {
            let class = self.it.cells.class(cell);
            let id = *numbers[class].get_or_insert_with(|| {
                let live = self.it.cells.live(class);
                let storage = Storage { kind: facts.kind, is_result: false, live, values: Vec::new() };
                storages.push(storage);
                StorageId::from_index(storages.len() - 1)
            });
            let storage = &mut storages[id.index()];
            storage.kind = storage.kind.min(facts.kind);
            storage.is_result |= facts.is_result;
            storage.values.extend(&facts.values);
        }
        let mut of: SecondaryMap<ValueId, SmallVec<[StorageId; 1]>> = SecondaryMap::new();
        let values = storages.iter().flat_map(|storage| storage.values.clone()).collect::<Vec<_>>();
        for value in values.into_iter().chain(self.it.ends.1.clone()).chain(self.tuples()) {
            let mut own: SmallVec<[StorageId; 1]> = SmallVec::new();
            for cell in self.it.of[value].clone() {
                let class = self.it.cells.class(cell);
                own.extend(numbers[class].filter(|id| !own.contains(id)));
            }
            of[value] = own;
        }
        let copy = |value: ValueId| Storage {
            kind: StorageKind::Intermediate,
            is_result: true,
            live: len.saturating_sub(1)..len,
            values: vec![value],
        };
        storages.extend(copied.into_iter().map(copy));
        for storage in &mut storages {
            storage.values.sort_unstable();
        }
        (storages, of)
    }

    /// Values that are in several cells.
    fn tuples(&self) -> Vec<ValueId> {
        let (module, of) = (self.it.module, &self.it.of);
        let results = self.it.schedule.ops().iter().flat_map(|&op| module.results(op));
        results.filter(|&value| of[value].len() > 1).collect()
    }
}

/// Of each value that a kernel computes on its way, whether what the kernel writes needs only the element at the indices
/// that are written.
fn aligned(module: &Module, schedule: &Schedule, kernels: &Kernels) -> SecondaryMap<ValueId, bool> {
    let mut aligned: SecondaryMap<ValueId, bool> = SecondaryMap::new();
    for &op in schedule.ops().iter().rev() {
        if module.result_count(op) != 1 {
            continue;
        }
        let value = module.result(op, 0);
        let Held::Fused(root) = kernels.held(value) else { continue };
        let is_aligned = module.uses(value).all(|(user, operand)| {
            kernels.is_in_place(user, operand) && (user == root || aligned[module.result(user, 0)])
        });
        aligned[value] = is_aligned;
    }
    aligned
}

//! Gives values cells: which ones have memory of their own, and when it is occupied.

use std::ops::Range;

use smallvec::SmallVec;
use tofu_ir::{Arena, Control, Module, OpId, SecondaryMap, Trait, TypeData, ValueId};

use crate::cells::{Cell, Cells};
use crate::donation::{Donated, Ties, donated, ends};
use crate::kernels::{Held, Kernels, is_uniform_constant};
use crate::liveness::{Assumptions, StorageKind};
use crate::schedule::{Schedule, has_inner_ops};
use crate::source::handed_on;

/// The cells that hold a value: one, or those of the elements of a tuple, or none.
pub(crate) type CellsOf = SmallVec<[Cell; 1]>;

/// The cells of a function's values, not joined yet.
pub(crate) struct Assignment<'m> {
    pub(crate) module: &'m Module,
    pub(crate) schedule: &'m Schedule,
    pub(crate) kernels: &'m Kernels,
    pub(crate) of: SecondaryMap<ValueId, CellsOf>,
    pub(crate) facts: Arena<Cell, CellFacts>,
    pub(crate) cells: Cells,
    /// What the function is given and what it returns.
    pub(crate) ends: (Vec<ValueId>, Vec<ValueId>),
    /// Whether the caller has given an argument away.
    pub(crate) is_donated: Vec<bool>,
}

/// What is known of a cell.
#[derive(Debug)]
pub(crate) struct CellFacts {
    pub(crate) kind: StorageKind,
    pub(crate) is_result: bool,
    pub(crate) live: Range<u32>,
    /// The values that are in it, the one that it was made for first.
    pub(crate) values: Vec<ValueId>,
}

impl<'m> Assignment<'m> {
    pub(crate) fn new(
        module: &'m Module,
        function: OpId,
        schedule: &'m Schedule,
        kernels: &'m Kernels,
        ties: &Ties,
        assumptions: &Assumptions,
    ) -> Assignment<'m> {
        let ends = ends(module, function).unwrap_or_default();
        let is_given = |argument: usize| {
            let is_tied = ties.result_of(argument).is_some();
            match donated(module, function, argument) {
                // To a result that cannot take its place: nothing comes of it.
                Some(Donated::To(_)) => is_tied,
                Some(Donated::Freely) => true,
                None => is_tied && assumptions.ties_are_donated,
            }
        };
        let is_donated = (0..ends.0.len()).map(is_given).collect();
        let mut assignment = Assignment {
            module,
            schedule,
            kernels,
            of: SecondaryMap::new(),
            facts: Arena::new(),
            cells: Cells::default(),
            ends,
            is_donated,
        };
        assignment.arguments();
        for (position, &op) in (0u32..).zip(schedule.ops()) {
            assignment.op(op, position);
        }
        assignment.uses();
        for number in 0..assignment.facts.len() {
            let cell = tofu_ir::EntityId::from_index(number);
            let added = assignment.cells.add(assignment.facts[cell].live.clone());
            debug_assert_eq!(added, cell);
        }
        assignment
    }

    /// Adds a cell that is not joined to others yet.
    fn cell(&mut self, value: ValueId, kind: StorageKind, live: Range<u32>) {
        let cell = self.facts.push(CellFacts { kind, is_result: false, live, values: vec![value] });
        self.of[value] = CellsOf::from_slice(&[cell]);
    }

    fn arguments(&mut self) {
        let len = self.schedule.len();
        for (number, value) in self.ends.0.clone().into_iter().enumerate() {
            if holds_something(self.module, value) {
                let end = if self.is_donated[number] { 1 } else { len };
                self.cell(value, StorageKind::Parameter, 0..end);
            }
        }
    }

    /// The values that an op defines at a position.
    fn op(&mut self, op: OpId, position: u32) {
        let module = self.module;
        let has_regions = has_inner_ops(module, op);
        if has_regions && self.schedule.begin(op) == Some(position) {
            let blocks = module.regions(op).filter_map(|region| module.entry(region));
            let mut first: &[ValueId] = &[];
            for block in blocks {
                for (number, &value) in module.arguments(block).iter().enumerate() {
                    // Both regions of a loop see the same values.
                    match first.get(number) {
                        Some(&other) => self.alias(value, other),
                        None => self.define(value, position),
                    }
                }
                if first.is_empty() {
                    first = module.arguments(block);
                }
            }
        }
        if self.schedule.end(op) == Some(position) {
            if matches!(module.def(op).interface(), Some(Control::Tuple)) {
                let mut all: CellsOf =
                    module.operands(op).flat_map(|operand| self.of[operand].clone()).collect();
                all.sort_unstable();
                all.dedup();
                self.of[module.result(op, 0)] = all;
                return;
            }
            for value in module.results(op) {
                self.define(value, position);
            }
        }
    }

    /// Gives a value that is defined at a position what holds it.
    fn define(&mut self, value: ValueId, position: u32) {
        let module = self.module;
        if !holds_something(module, value) {
            return;
        }
        if let Some(source) = handed_on(module, value) {
            return self.alias(value, source);
        }
        let op = module.defining_op(value);
        if let Some(op) = op
            && matches!(module.def(op).interface(), Some(Control::Element(_)))
        {
            // Of a tuple that was not put together in view, and is one piece.
            return self.alias(value, module.operand(op, 0));
        }
        match self.kernels.held(value) {
            Held::Alias(source) => self.alias(value, source),
            Held::Fused(_) | Held::Copied => {}
            Held::Stored => {
                let is_constant =
                    op.is_some_and(|op| module.has(op, Trait::Constant) && !is_uniform_constant(module, op));
                match is_constant {
                    true => self.cell(value, StorageKind::Constant, 0..self.schedule.len()),
                    false => self.cell(value, StorageKind::Intermediate, position..position + 1),
                }
            }
        }
    }

    fn alias(&mut self, value: ValueId, source: ValueId) {
        let cells = self.of[source].clone();
        if let [cell] = cells[..] {
            self.facts[cell].values.push(value);
        }
        self.of[value] = cells;
    }

    /// Extends cells to the last uses of what is in them.
    fn uses(&mut self) {
        let module = self.module;
        let mut values = self.ends.0.clone();
        for (position, &op) in (0u32..).zip(self.schedule.ops()) {
            if has_inner_ops(module, op) && self.schedule.begin(op) == Some(position) {
                let blocks = module.regions(op).filter_map(|region| module.entry(region));
                values.extend(blocks.flat_map(|block| module.arguments(block)));
            }
            if self.schedule.end(op) == Some(position) {
                values.extend(module.results(op));
            }
        }
        for value in values {
            if self.of[value].is_empty() {
                continue;
            }
            let end = module.uses(value).map(|(user, _)| self.end_of_use(value, user)).max().unwrap_or(0);
            self.extend(value, end);
        }
        for value in self.ends.1.clone() {
            self.extend(value, self.schedule.len());
        }
    }

    fn extend(&mut self, value: ValueId, end: u32) {
        for cell in self.of[value].clone() {
            let live = &mut self.facts[cell].live;
            live.end = live.end.max(end);
        }
    }

    /// Up to where a value has to live for the sake of an op that uses it.
    fn end_of_use(&self, value: ValueId, user: OpId) -> u32 {
        let (module, schedule) = (self.module, self.schedule);
        let block = module.defining_block(value);
        // Ops in regions that are read as functions are part of the op around them.
        let mut op = user;
        while schedule.begin(op).is_none() {
            match module.parent(op) {
                Some(parent) => op = parent,
                None => return 0,
            }
        }
        let mut end = self.kernels.reads_until(module, schedule, op).map_or(0, |position| position + 1);
        while module.block_of(op) != block {
            let Some(parent) = module.parent(op) else { break };
            op = parent;
            if matches!(module.def(op).interface(), Some(Control::While)) {
                end = end.max(schedule.end(op).unwrap_or(0));
            }
        }
        end
    }
}

/// Tokens order effects and hold nothing.
fn holds_something(module: &Module, value: ValueId) -> bool {
    !matches!(module.value_type(value), TypeData::Token)
}

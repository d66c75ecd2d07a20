//! When the ops of a function run: its program order, as numbers.
//!
//! An op has one position. A loop or a choice has two, one before and one behind the ops in its regions, which stand in
//! between: at the first it takes its operands, at the second it has its results. Regions that an op only describes
//! itself with (the reducer of a reduction) are no part of it.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{BlockId, Control, Module, OpId, RegionId, SecondaryMap};

/// The order in which the ops of a function run.
#[derive(Clone, Debug)]
pub struct Schedule {
    ops: Vec<OpId>,
    places: SecondaryMap<OpId, Option<(u32, u32)>>,
}

impl Schedule {
    /// Program order, depth first through loops and choices.
    ///
    /// # Errors
    ///
    /// The op has no body, or a region does not have one block: where control goes from block to block, no order is given.
    pub fn of(module: &Module, function: OpId) -> Result<Schedule, Diagnostic> {
        let mut schedule = Schedule { ops: Vec::new(), places: SecondaryMap::new() };
        let Some(region) = module.only_region(function).filter(|&region| module.entry(region).is_some())
        else {
            let message = "only a function with a body has a schedule";
            return Err(module.error(function, &codes::CANNOT_PLAN, message));
        };
        // What is still to do: an op to begin with, or one whose regions are done.
        enum Step {
            Begin(OpId),
            End(OpId, u32),
        }
        let mut steps: Vec<Step> = ops(module, region)?.into_iter().rev().map(Step::Begin).collect();
        while let Some(step) = steps.pop() {
            let position = schedule.len();
            match step {
                Step::Begin(op) => {
                    schedule.ops.push(op);
                    schedule.places[op] = Some((position, position));
                    if has_inner_ops(module, op) {
                        steps.push(Step::End(op, position));
                        let mut inner = Vec::new();
                        for region in module.regions(op) {
                            inner.extend(ops(module, region)?);
                        }
                        steps.extend(inner.into_iter().rev().map(Step::Begin));
                    }
                }
                Step::End(op, begin) => {
                    schedule.ops.push(op);
                    schedule.places[op] = Some((begin, position));
                }
            }
        }
        Ok(schedule)
    }

    /// How many positions there are.
    pub fn len(&self) -> u32 {
        u32::try_from(self.ops.len()).unwrap_or(u32::MAX)
    }

    /// True if the function is empty.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The ops by position; one with regions stands here twice.
    pub fn ops(&self) -> &[OpId] {
        &self.ops
    }

    /// Where an op takes its operands; none for ops that are no part of the schedule.
    pub fn begin(&self, op: OpId) -> Option<u32> {
        self.places[op].map(|places| places.0)
    }

    /// Where an op has its results: another place than [`begin`](Self::begin) only for ops with regions.
    pub fn end(&self, op: OpId) -> Option<u32> {
        self.places[op].map(|places| places.1)
    }
}

/// Whether the ops in the regions of an op are scheduled.
pub(crate) fn has_inner_ops(module: &Module, op: OpId) -> bool {
    let control: Option<&Control> = module.def(op).interface();
    matches!(control, Some(Control::While | Control::Case | Control::If))
}

/// The block of a region that has only one.
pub(crate) fn only_block(module: &Module, region: RegionId) -> Option<BlockId> {
    match module.blocks(region) {
        &[block] => Some(block),
        _ => None,
    }
}

fn ops(module: &Module, region: RegionId) -> Result<Vec<OpId>, Diagnostic> {
    let block = only_block(module, region).ok_or_else(|| {
        let message = "memory is planned only where every region is one block";
        module.error(module.op_of(region), &codes::CANNOT_PLAN, message)
    })?;
    Ok(module.ops(block).collect())
}

//! Which values an op is the last to use.

use rustc_hash::FxHashMap;
use tofu_ir::{BlockId, Module, OpId, ValueId};

/// The last uses of the values of a function. A value that is used inside of the regions of an op is used by that op.
#[derive(Debug, Default)]
pub(crate) struct Lifetimes {
    /// Values that end when the op has taken its operands: it is the last to use them, and its regions do not.
    taken: FxHashMap<OpId, Vec<ValueId>>,
    /// Values that end with the op: the last use is in its regions, or nothing ever uses them.
    done: FxHashMap<OpId, Vec<ValueId>>,
}

impl Lifetimes {
    /// For all values inside of `function`.
    pub(crate) fn new(module: &Module, function: OpId) -> Lifetimes {
        let mut lifetimes = Lifetimes::default();
        for op in module.walk(function) {
            for block in module.regions(op).flat_map(|region| module.blocks(region)) {
                if let Some(first) = module.first_op(*block) {
                    module
                        .arguments(*block)
                        .iter()
                        .for_each(|&value| lifetimes.add(module, value, *block, first));
                }
            }
            if let Some(block) = module.block_of(op).filter(|_| op != function) {
                module.results(op).for_each(|value| lifetimes.add(module, value, block, op));
            }
        }
        lifetimes
    }

    /// Adds a value of a block. If nothing uses it, it ends with the op `defined`.
    fn add(&mut self, module: &Module, value: ValueId, block: BlockId, defined: OpId) {
        let users = module.uses(value).filter_map(|(user, _)| {
            let around = module.ancestors(user).find(|&op| module.block_of(op) == Some(block))?;
            Some((around, around == user))
        });
        let mut last: Option<(OpId, bool)> = None;
        for (user, is_operand) in users {
            last = match last {
                Some((known, alone)) if known == user => Some((user, alone && is_operand)),
                Some((known, _)) if module.is_before(user, known) => last,
                _ => Some((user, is_operand)),
            };
        }
        let (list, op) = match last {
            Some((op, true)) => (&mut self.taken, op),
            Some((op, false)) => (&mut self.done, op),
            None => (&mut self.done, defined),
        };
        list.entry(op).or_default().push(value);
    }

    /// Values that end when `op` has taken its operands.
    pub(crate) fn taken(&self, op: OpId) -> &[ValueId] {
        self.taken.get(&op).map_or(&[], Vec::as_slice)
    }

    /// Values that end with `op`.
    pub(crate) fn done(&self, op: OpId) -> &[ValueId] {
        self.done.get(&op).map_or(&[], Vec::as_slice)
    }
}

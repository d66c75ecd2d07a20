//! Ops that wait to be looked at, each at most once at a time.

use tofu_ir::{Module, OpId, SecondaryMap};

pub(crate) struct Worklist {
    pending: Vec<OpId>,
    is_pending: SecondaryMap<OpId, bool>,
}

impl Worklist {
    /// All ops in `root`; the last one comes first.
    pub(crate) fn backward(module: &Module, root: OpId) -> Worklist {
        let mut worklist = Worklist { pending: Vec::new(), is_pending: SecondaryMap::with_default(false) };
        for op in module.walk(root).skip(1) {
            worklist.push(op);
        }
        worklist
    }

    /// All ops in `root`; the first one comes first.
    pub(crate) fn forward(module: &Module, root: OpId) -> Worklist {
        let mut worklist = Worklist::backward(module, root);
        worklist.pending.reverse();
        worklist
    }

    /// Makes an op the next one, unless it waits already.
    pub(crate) fn push(&mut self, op: OpId) {
        if !std::mem::replace(&mut self.is_pending[op], true) {
            self.pending.push(op);
        }
    }

    /// The next op that has not been erased in the meantime.
    pub(crate) fn pop(&mut self, module: &Module) -> Option<OpId> {
        loop {
            let op = self.pending.pop()?;
            self.is_pending[op] = false;
            if !module.is_erased(op) {
                return Some(op);
            }
        }
    }
}

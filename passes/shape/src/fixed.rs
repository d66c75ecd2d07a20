//! Which values must keep their types, and which must have one type.
//!
//! What an op with a description takes and gives may be known better than it says: types only have to agree. Elsewhere
//! they have to be equal: a loop hands on its operands round by round, branches yield what the op gives, a `return` gives
//! what the function declares.

use rustc_hash::FxHashMap;
use tofu_dialect_func as func;
use tofu_ir::{BlockId, Control, Module, OpId, SecondaryMap, ValueId};
use tofu_tdl::Describe;

/// Values of one type, as sets; and those whose type is fixed.
pub(crate) struct Fixed {
    parents: SecondaryMap<ValueId, Option<ValueId>>,
    is_fixed: SecondaryMap<ValueId, bool>,
}

impl Fixed {
    /// Of the values in a function. Without `signature_may_change`, what it takes and returns is fixed.
    pub(crate) fn of(module: &Module, function: OpId, signature_may_change: bool) -> Fixed {
        let mut fixed = Fixed { parents: SecondaryMap::new(), is_fixed: SecondaryMap::with_default(false) };
        if !signature_may_change && let Some(entry) = func::body(module, function) {
            module.arguments(entry).iter().for_each(|&argument| fixed.fix(argument));
        }
        let mut returned: Vec<ValueId> = Vec::new();
        let mut pending = vec![function];
        while let Some(op) = pending.pop() {
            for region in module.regions(op) {
                for (index, &block) in module.blocks(region).iter().enumerate() {
                    if index > 0 {
                        module.arguments(block).iter().for_each(|&argument| fixed.fix(argument));
                    }
                    for inner in module.ops(block) {
                        fixed.op(module, inner);
                        if is_walked(module, inner) {
                            pending.push(inner);
                        }
                        if op == function && is_yield(module, inner) {
                            let values: Vec<ValueId> = module.own_operands(inner).collect();
                            returned.iter().zip(&values).for_each(|(&a, &b)| fixed.tie(a, b));
                            if !signature_may_change {
                                values.iter().for_each(|&value| fixed.fix(value));
                            }
                            returned = values;
                        }
                    }
                }
            }
        }
        fixed
    }

    fn op(&mut self, module: &Module, op: OpId) {
        let successors = module.successor_argument_count(op);
        module.operands(op).rev().take(successors).for_each(|value| self.fix(value));
        let def = module.def(op);
        match def.interface::<Control>() {
            Some(Control::While) => {
                let operands: Vec<ValueId> = module.operands(op).collect();
                for (&operand, result) in operands.iter().zip(module.results(op)) {
                    self.tie(operand, result);
                }
                for block in module.regions(op).filter_map(|region| module.entry(region)) {
                    let arguments = module.arguments(block).to_vec();
                    arguments
                        .iter()
                        .zip(&operands)
                        .for_each(|(&argument, &operand)| self.tie(argument, operand));
                }
                let body = module.regions(op).nth(1).and_then(|region| module.entry(region));
                let yielded = body.map_or(Vec::new(), |body| yielded(module, body));
                yielded.into_iter().zip(operands).for_each(|(value, operand)| self.tie(value, operand));
            }
            Some(Control::Case | Control::If) => {
                for block in module.regions(op).filter_map(|region| module.entry(region)) {
                    let pairs = yielded(module, block).into_iter().zip(module.results(op));
                    pairs.for_each(|(value, result)| self.tie(value, result));
                }
            }
            Some(
                Control::Yield | Control::Call(_) | Control::Forward | Control::Element(_) | Control::Token,
            ) => {}
            None if def.interface::<Describe>().is_some() => {}
            // What is known of its types is known only to the op.
            Some(Control::Tuple) | None => {
                module.operands(op).chain(module.results(op)).for_each(|value| self.fix(value));
                for &block in module.regions(op).flat_map(|region| module.blocks(region)) {
                    module.arguments(block).iter().for_each(|&argument| self.fix(argument));
                    yielded(module, block).into_iter().for_each(|value| self.fix(value));
                }
            }
        }
    }

    fn fix(&mut self, value: ValueId) {
        let root = self.root(value);
        self.is_fixed[root] = true;
    }

    fn tie(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parents[b] = Some(a);
            self.is_fixed[a] |= self.is_fixed[b];
        }
    }

    fn root(&mut self, value: ValueId) -> ValueId {
        let mut root = value;
        while let Some(parent) = self.parents[root] {
            root = parent;
        }
        let mut next = value;
        while let Some(parent) = self.parents[next] {
            self.parents[next] = Some(root);
            next = parent;
        }
        root
    }

    /// The sets of values that may get another type, each in the order of `values`.
    pub(crate) fn groups(&mut self, values: impl IntoIterator<Item = ValueId>) -> Vec<Vec<ValueId>> {
        let mut places: FxHashMap<ValueId, usize> = FxHashMap::default();
        let mut groups: Vec<Vec<ValueId>> = Vec::new();
        for value in values {
            let root = self.root(value);
            if !self.is_fixed[root] {
                let place = *places.entry(root).or_insert(groups.len());
                if place == groups.len() {
                    groups.push(Vec::new());
                }
                groups[place].push(value);
            }
        }
        groups
    }
}

/// Whether the ops in an op's regions are ops of their own: those of an op with a description are part of that.
pub(crate) fn is_walked(module: &Module, op: OpId) -> bool {
    module.region_count(op) > 0 && module.def(op).interface::<Describe>().is_none()
}

fn is_yield(module: &Module, op: OpId) -> bool {
    module.def(op).interface::<Control>() == Some(&Control::Yield)
}

/// What a block yields at its end.
pub(crate) fn yielded(module: &Module, block: BlockId) -> Vec<ValueId> {
    let last = module.last_op(block).filter(|&last| is_yield(module, last));
    last.map_or(Vec::new(), |last| module.own_operands(last).collect())
}

//! Where values come from, through ops that only hand them on.

use tofu_ir::{AttrData, BlockId, Control, Definition, Module, OpId, ValueId};

use crate::schedule::only_block;

/// What an op hands on as a result, or a loop as an argument of its regions, without touching it.
pub(crate) fn handed_on(module: &Module, value: ValueId) -> Option<ValueId> {
    match module.definition(value) {
        Definition::Result { op, index } => match module.def(op).interface()? {
            Control::Forward => Some(module.operand(op, index as usize)),
            Control::Element(attribute) => element(module, op, attribute),
            Control::While => {
                is_invariant(module, op, index as usize).then(|| module.operand(op, index as usize))
            }
            _ => None,
        },
        Definition::Argument { block, index } => {
            let op = module.block_parent(block)?;
            let is_loop = matches!(module.def(op).interface(), Some(Control::While));
            (is_loop && is_invariant(module, op, index as usize)).then(|| module.operand(op, index as usize))
        }
        Definition::None => None,
    }
}

/// Where a value comes from in the end, through everything that only hands on.
pub(crate) fn origin(module: &Module, mut value: ValueId) -> ValueId {
    while let Some(before) = handed_on(module, value) {
        value = before;
    }
    value
}

/// The element of a tuple that was put together in view.
fn element(module: &Module, op: OpId, attribute: &str) -> Option<ValueId> {
    let &AttrData::Int(index, _) = module.attr_value(op, attribute)? else { return None };
    let tuple = module.defining_op(origin(module, module.operand(op, 0)))?;
    let is_tuple = matches!(module.def(tuple).interface(), Some(Control::Tuple));
    let index = usize::try_from(index).ok()?;
    (is_tuple && index < module.operand_count(tuple)).then(|| module.operand(tuple, index))
}

/// Whether a loop gives argument `index` of its body on as it is.
pub(crate) fn is_invariant(module: &Module, op: OpId, index: usize) -> bool {
    let Some(body) = body(module, op) else { return false };
    let mut value = module.operand(body.1, index);
    // Through what hands on inside of the body; never out of it, so that this ends.
    loop {
        if value == module.arguments(body.0)[index] {
            return true;
        }
        let Definition::Result { op: inner, index: result } = module.definition(value) else { return false };
        if module.block_of(inner) != Some(body.0) {
            return false;
        }
        match module.def(inner).interface() {
            Some(Control::Forward) => value = module.operand(inner, result as usize),
            Some(Control::While) if is_invariant(module, inner, result as usize) => {
                value = module.operand(inner, result as usize);
            }
            _ => return false,
        }
    }
}

/// The block of the body of a loop, and the op that ends it; none if either is not there.
pub(crate) fn body(module: &Module, op: OpId) -> Option<(BlockId, OpId)> {
    part(module, op, 1)
}

/// The block of a region, and the op that ends it.
pub(crate) fn part(module: &Module, op: OpId, region: usize) -> Option<(BlockId, OpId)> {
    if region >= module.region_count(op) {
        return None;
    }
    let block = only_block(module, module.region(op, region))?;
    Some((block, module.last_op(block)?))
}

//! How often a loop goes round, where it counts.
//!
//! A loop counts if its condition compares one of its values with a number, its body adds a number to that value, and it
//! begins at a number. Conditions, steps and numbers are read from descriptions and constants: `i < n` may be written with
//! whatever op says `i < n`, and `n` may be carried round unchanged. Of a loop that does not count, an [attribute](TRIP_COUNT)
//! may say it.

use tofu_ir::{AttrData, Control, Definition, ElementKind, ElementType, Module, OpId, Trait, VALUE, ValueId};
use tofu_tdl::{BinaryOp, Comparison, Data, Descriptions, Literal, Scalar, ScalarId, Source, Tensor};

use crate::source::{origin, part};

/// The attribute of a loop that says how often it runs, as an integer, where that does not follow from the loop.
pub const TRIP_COUNT: &str = "tensor.trip_count";

/// How often the body of a loop runs; none if the op is no loop, or if neither its form nor its attribute says so.
pub fn trip_count(module: &Module, op: OpId, descriptions: &Descriptions) -> Option<u64> {
    if !matches!(module.def(op).interface(), Some(Control::While)) {
        return None;
    }
    counted(module, op, descriptions).or_else(|| match module.attr_value(op, TRIP_COUNT)? {
        &AttrData::Int(count, _) => u64::try_from(count).ok(),
        _ => None,
    })
}

fn counted(module: &Module, op: OpId, descriptions: &Descriptions) -> Option<u64> {
    let (_, test) = part(module, op, 0)?;
    let (block, last) = part(module, op, 1)?;
    let (comparison, a, b) = compared(module, module.operand(test, 0), descriptions)?;
    let index_of = |value: ValueId| match module.definition(value) {
        Definition::Argument { block, index } if module.block_parent(block) == Some(op) => {
            Some(index as usize)
        }
        _ => None,
    };
    let (a, b) = (origin(module, a), origin(module, b));
    let (index, comparison, limit) = match (index_of(a), index_of(b)) {
        (Some(index), None) => (index, comparison, number(module, b)?),
        (None, Some(index)) => (index, comparison.swapped(), number(module, a)?),
        _ => return None,
    };
    let counter = module.arguments(block)[index];
    let step = step(module, module.operand(last, index), counter, descriptions)?;
    let first = number(module, module.operand(op, index))?;
    let range = range(module.tensor_type(counter)?.element)?;
    count(comparison, first, limit, step, range)
}

/// Which numbers an integer type has.
fn range(element: ElementType) -> Option<(i128, i128)> {
    let bits = element.bits();
    match element.kind() {
        ElementKind::Signed => Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)),
        ElementKind::Unsigned => Some((0, (1i128 << bits) - 1)),
        _ => None,
    }
}

/// How many numbers of `first, first + step, …` come before the first that fails the comparison with `limit`; none if
/// that is never, or only after leaving the type.
fn count(
    comparison: Comparison,
    first: i128,
    limit: i128,
    step: i128,
    (least, greatest): (i128, i128),
) -> Option<u64> {
    let rounds = match comparison {
        Comparison::Lt if first < limit => (step > 0).then(|| (limit - first + step - 1) / step)?,
        Comparison::Le if first <= limit => (step > 0).then(|| (limit - first) / step + 1)?,
        Comparison::Gt if first > limit => (step < 0).then(|| (first - limit - step - 1) / -step)?,
        Comparison::Ge if first >= limit => (step < 0).then(|| (first - limit) / -step + 1)?,
        Comparison::Ne if first != limit => {
            let fits = step != 0 && (limit - first) % step == 0 && (limit - first) / step > 0;
            fits.then(|| (limit - first) / step)?
        }
        Comparison::Eq if first == limit => (step != 0).then_some(1)?,
        _ => 0,
    };
    let last = first.checked_add(step.checked_mul(rounds)?)?;
    (least <= last && last <= greatest).then(|| u64::try_from(rounds).ok())?
}

/// What a condition compares.
fn compared(
    module: &Module,
    value: ValueId,
    descriptions: &Descriptions,
) -> Option<(Comparison, ValueId, ValueId)> {
    let op = module.defining_op(origin(module, value))?;
    let (description, _) = descriptions.of(module, op).ok()?;
    let data = description.data();
    let &Scalar::Compare(comparison, a, b) = body(data)? else { return None };
    Some((comparison, read(module, op, data, a)?, read(module, op, data, b)?))
}

/// What a value is more than another one.
fn step(module: &Module, value: ValueId, counter: ValueId, descriptions: &Descriptions) -> Option<i128> {
    let op = module.defining_op(origin(module, value))?;
    let (description, _) = descriptions.of(module, op).ok()?;
    let data = description.data();
    let &Scalar::Binary(function, a, b) = body(data)? else { return None };
    let is_counter =
        |id: ScalarId| read(module, op, data, id).is_some_and(|value| origin(module, value) == counter);
    let amount = |id: ScalarId| match data.scalar(id) {
        Scalar::Literal(Literal::Int(value)) => Some(*value),
        _ => number(module, read(module, op, data, id)?),
    };
    match function {
        BinaryOp::Add if is_counter(a) => amount(b),
        BinaryOp::Add if is_counter(b) => amount(a),
        BinaryOp::Sub if is_counter(a) => amount(b).map(|amount| -amount),
        _ => None,
    }
}

/// The only element that a description computes.
fn body(data: &Data) -> Option<&Scalar> {
    match &data.results[..] {
        [result] if result.vars.is_empty() => Some(data.scalar(result.body)),
        _ => None,
    }
}

/// The operand that an expression reads.
fn read(module: &Module, op: OpId, data: &Data, id: ScalarId) -> Option<ValueId> {
    match data.scalar(id) {
        &Scalar::Read(Source::Operand(operand), _) if (operand as usize) < module.operand_count(op) => {
            Some(module.operand(op, operand as usize))
        }
        _ => None,
    }
}

/// The integer that a value is.
fn number(module: &Module, value: ValueId) -> Option<i128> {
    let op = module.defining_op(origin(module, value)).filter(|&op| module.has(op, Trait::Constant))?;
    let AttrData::Dense(dense) = module.attr_value(op, VALUE)? else { return None };
    let ty = module.tensor_type(module.result(op, 0))?;
    let element = ty.element;
    let is_number = ty.rank() == 0 && matches!(element.kind(), ElementKind::Signed | ElementKind::Unsigned);
    let bytes = dense.data.element(0, element).filter(|_| is_number)?;
    Some(Tensor::from_bytes(element, &[], bytes.to_vec()).ok()?.integer(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_those_of_counting() {
        use Comparison::*;
        for comparison in [Lt, Le, Gt, Ge, Eq, Ne] {
            for (first, limit, step) in (-9..9).flat_map(|first| {
                (-9..9).flat_map(move |limit| (-4..=4).map(move |step| (first, limit, step)))
            }) {
                let holds = |value: i128| match comparison {
                    Lt => value < limit,
                    Le => value <= limit,
                    Gt => value > limit,
                    Ge => value >= limit,
                    Eq => value == limit,
                    Ne => value != limit,
                };
                // With numbers from -16 to 15, whoever is not done by then has left them, or never ends.
                let mut value = first;
                let mut rounds = 0;
                while holds(value) && rounds < 40 && (-16..16).contains(&value) {
                    value += step;
                    rounds += 1;
                }
                let expected = (!holds(value) && (-16..16).contains(&value)).then_some(rounds);
                let found = count(comparison, first, limit, step, (-16, 15));
                assert_eq!(found, expected, "{comparison:?} {first} {limit} {step}");
            }
        }
    }
}

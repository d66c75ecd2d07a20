//! Shardings of values, as constraints.
//!
//! XLA ignores what attributes say of the results of ops, and decides anew on every value that nothing pins. So each value gets a
//! constraint behind it, but for constants and what is made of nothing else, which are wherever they are needed. Terms are
//! reduced where they are made: `unreduced`, which would leave them, is silently computed wrong by XLA for some ops (convolutions
//! whose windows are split, gathers from rows that are).
//!
//! XLA pads shares that are not even, but who calls the program cannot: outside, arguments and results have those dimensions whole.

use rustc_hash::FxHashSet;
use tofu_dialect_dist as dist;
use tofu_dialect_func::body;
use tofu_ir::{
    ARGUMENT_ATTRIBUTES, Attr, Builder, Module, OpId, RESULT_ATTRIBUTES, Trait, TypeData, ValueId,
};
use tofu_sharding::{DimSharding, Sharding};

use crate::dialect::SHARDING_CONSTRAINT;
use crate::shardy::{encode, items};

/// Puts constraints behind the values of a function that have shardings.
pub(crate) fn constrain(module: &mut Module, function: OpId) {
    let Some(block) = body(module, function) else { return };
    let arguments = module.arguments(block).to_vec();
    let ops: Vec<OpId> = module.walk(function).filter(|&op| op != function).collect();
    let fixed = fixed(module, &ops);
    let mut pinned: Vec<(ValueId, Attr)> = Vec::new();
    for (index, &argument) in arguments.iter().enumerate() {
        let Some(attr) = dist::sharding_of(module, argument) else { continue };
        if make_even(module, function, ARGUMENT_ATTRIBUTES, index) {
            pinned.push((argument, attr));
        }
    }
    let results = module.attr(function, RESULT_ATTRIBUTES).map_or(0, |list| items(module, list).len());
    for index in 0..results {
        make_even(module, function, RESULT_ATTRIBUTES, index);
    }
    for op in ops {
        // A constraint says it itself.
        if module.attr(op, dist::SHARDING).is_none() || module.is(op, &SHARDING_CONSTRAINT) {
            continue;
        }
        for value in module.results(op).collect::<Vec<_>>() {
            let attr = dist::sharding_of(module, value).filter(|_| !fixed.contains(&value));
            pinned.extend(attr.map(|attr| (value, attr)));
        }
    }
    for (value, attr) in pinned {
        pin(module, value, attr);
    }
}

/// Values that are made of constants only.
fn fixed(module: &Module, ops: &[OpId]) -> FxHashSet<ValueId> {
    let mut fixed = FxHashSet::default();
    for &op in ops {
        let is_fixed = module.has(op, Trait::Pure)
            && module.region_count(op) == 0
            && module.operands(op).all(|operand| fixed.contains(&operand));
        if is_fixed {
            fixed.extend(module.results(op));
        }
    }
    fixed
}

fn pin(module: &mut Module, value: ValueId, attr: Attr) {
    let maker = module.defining_op(value);
    let before = match maker {
        Some(maker) => module.next_op(maker),
        None => module.defining_block(value).and_then(|block| module.first_op(block)),
    };
    let (Some(before), Some(ty)) = (before, module.tensor_type(value)) else { return };
    if ty.rank() == 0 {
        return;
    }
    let Some((mesh_op, mesh, sharding)) = dist::read_sharding(module, before, attr) else { return };
    let Some(name) = module.symbol_name(mesh_op).map(|name| module.text(name).to_owned()) else { return };
    let sharding = Sharding { partial: None, ..sharding };
    let Ok(attr) = encode(module, &name, &mesh, &sharding) else { return };
    let ty = module.ty(value);
    let mut builder = Builder::before(module, before).origin(maker.unwrap_or(before));
    let op = builder.op(&SHARDING_CONSTRAINT).operand(value).attr("sharding", attr).result(ty).build();
    let constrained = module.result(op, 0);
    module.replace_all_uses(value, constrained);
    module.set_operand(op, 0, value);
}

/// Leaves the dimensions whole, of an argument or a result, whose shares are not even. Whether there are such.
fn make_even(module: &mut Module, function: OpId, list: &str, index: usize) -> bool {
    let Some(dict) = module.attr(function, list).and_then(|list| items(module, list).get(index).copied())
    else {
        return false;
    };
    let Some(attr) = module.dict_entry(dict, dist::SHARDING) else { return false };
    let Some((mesh_op, mesh, mut sharding)) = dist::read_sharding(module, function, attr) else {
        return false;
    };
    let Some(dims) = extents(module, function, list, index) else { return false };
    let mut is_uneven = false;
    for (dim, extent) in sharding.dims.iter_mut().zip(dims) {
        if !extent.is_multiple_of(dim.shards()) {
            *dim = DimSharding::default();
            is_uneven = true;
        }
    }
    if is_uneven {
        let name = module.symbol_name(mesh_op).map_or(String::new(), |name| module.text(name).to_owned());
        let attr = dist::sharding_attr(module, &name, &mesh, &sharding);
        match list {
            ARGUMENT_ATTRIBUTES => {
                if let Some(&argument) =
                    body(module, function).and_then(|block| module.arguments(block).get(index))
                {
                    dist::set_sharding(module, argument, Some(attr));
                }
            }
            _ => dist::set_result_sharding(module, function, index, Some(attr)),
        }
    }
    is_uneven
}

fn extents(module: &Module, function: OpId, list: &str, index: usize) -> Option<Vec<u64>> {
    let signature = tofu_dialect_func::signature(module, function)?;
    let types = if list == ARGUMENT_ATTRIBUTES { &signature.inputs } else { &signature.results };
    match module.type_data(*types.get(index)?) {
        TypeData::Tensor(ty) => ty.static_dims().map(|dims| dims.to_vec()),
        _ => None,
    }
}

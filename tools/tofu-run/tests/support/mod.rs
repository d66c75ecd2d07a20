//! Random meshes, and random shardings of every value.

use fastrand::Rng;
use tofu_dialect_dist::{build_mesh, set_result_sharding, set_sharding, sharding_attr};
use tofu_dialect_tensor as tensor;
use tofu_ir::{Control, Module, OpId, ValueId};
use tofu_sharding::{Layout, Layouts, Mesh, Reducer, share};

/// One to three axes, eight devices at most.
pub(crate) fn mesh(random: &mut Rng) -> Mesh {
    let mut axes: Vec<(&str, u64)> = Vec::new();
    let mut devices = 1;
    for name in ["x", "y", "z"].into_iter().take(random.usize(1..=3)) {
        let size = random.u64(1..=8 / devices);
        devices *= size;
        axes.push((name, size));
    }
    Mesh::new(axes).unwrap()
}

/// Gives every value a random sharding, those in loops and branches too.
pub(crate) fn shard(module: &mut Module, function: OpId, mesh: &Mesh, random: &mut Rng) {
    build_mesh(module, "m", mesh);
    let block = module.entry(module.region(function, 0)).unwrap();
    let arguments: Vec<ValueId> = module.arguments(block).to_vec();
    // What describes a single element, in a reduction, has no place of its own.
    let is_placed = |module: &Module, op: OpId| {
        let mut around = module.ancestors(op).skip(1).take_while(|&around| around != function);
        around.all(|around| module.def(around).interface::<Control>().is_some())
    };
    let ops: Vec<OpId> =
        module.walk(function).filter(|&op| op != function && is_placed(module, op)).collect();
    let choose = |module: &mut Module, value: ValueId, terms: bool, random: &mut Rng| {
        let shape = module.tensor_type(value).unwrap().static_dims().unwrap();
        let mut layouts = Layouts::REPLICATED;
        for axis in 0..mesh.axes().len() {
            let size = mesh.axes()[axis].size;
            let dim = random.usize(0..=shape.len());
            if terms && random.u32(0..3) == 0 {
                layouts = layouts.with(axis, Layout::Partial(Reducer::Sum));
            } else if dim < shape.len() {
                let before = layouts.shards(mesh, dim);
                if share(shape[dim], before * size) < share(shape[dim], before) {
                    layouts = layouts.with(axis, Layout::Split(dim));
                }
            }
        }
        let sharding = layouts.sharding(mesh, &shape);
        sharding_attr(module, "m", mesh, &sharding)
    };
    for argument in arguments {
        let attr = choose(module, argument, false, random);
        set_sharding(module, argument, Some(attr));
    }
    let is_result =
        |module: &Module, value: ValueId| module.uses(value).any(|(user, _)| module.next_op(user).is_none());
    for op in ops {
        for value in module.results(op).collect::<Vec<_>>() {
            if module.tensor_type(value).is_none() {
                continue;
            }
            let sums = module.is(op, &tensor::DOT_GENERAL);
            let terms = sums && !is_result(module, value);
            let attr = choose(module, value, terms, random);
            set_sharding(module, value, Some(attr));
        }
    }
    let last = module.last_op(block).unwrap();
    for (index, result) in module.operands(last).collect::<Vec<_>>().into_iter().enumerate() {
        let attr = choose(module, result, false, random);
        set_result_sharding(module, function, index, Some(attr));
    }
}

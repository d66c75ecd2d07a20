//! Functions that are written for each device.
//!
//! ```text
//! func @f(%x: tensor<4x8xf32> {dist.global = tensor<8x8xf32>, dist.sharding = #dist.sharding<@m, [{x}, {}]>})
//! ```
//!
//! Arguments and results are buffers; the attribute [`GLOBAL`] says of which tensors they are parts, and the sharding which parts. Whoever runs the
//! function on whole tensors cuts the arguments and puts the results together.

use smallvec::SmallVec;
use tofu_ir::{
    ARGUMENT_ATTRIBUTES, AttrData, FUNCTION_TYPE, Module, OpId, RESULT_ATTRIBUTES, TensorType, TypeData,
};
use tofu_sharding::{Lying, Mesh, Sharding, Spmd};

use crate::place::{SHARDING, set_listed};
use crate::{items, read_sharding, sharding_attr};

/// The attribute of an argument or a result that holds the type of the tensor of which it is a part.
pub const GLOBAL: &str = "dist.global";

/// What a function takes and gives, if it is written for each device.
pub fn spmd(module: &Module, function: OpId) -> Option<Spmd> {
    let AttrData::Type(ty) = module.attr_value(function, FUNCTION_TYPE)? else { return None };
    let TypeData::Function(signature) = module.type_data(*ty) else { return None };
    let mut mesh: Option<Mesh> = None;
    let mut read = |list: &str, count: usize| -> Option<Vec<Lying>> {
        (0..count)
            .map(|index| {
                let dict = *items(module, module.attr(function, list)?).get(index)?;
                let AttrData::Type(ty) = module.attr_data(module.dict_entry(dict, GLOBAL)?) else {
                    return None;
                };
                let TypeData::Tensor(ty) = module.type_data(*ty) else { return None };
                let (_, own, sharding) = read_sharding(module, function, module.dict_entry(dict, SHARDING)?)?;
                if mesh.get_or_insert_with(|| own.clone()) != &own {
                    return None;
                }
                Some(Lying { ty: ty.clone(), sharding })
            })
            .collect()
    };
    let arguments = read(ARGUMENT_ATTRIBUTES, signature.inputs.len())?;
    let results = read(RESULT_ATTRIBUTES, signature.results.len())?;
    Some(Spmd { mesh: mesh?, arguments, results })
}

/// Says of a function what its arguments and results are parts of. Their types are those of the parts already.
pub fn mark_spmd(module: &mut Module, function: OpId, name: &str, spmd: &Spmd) {
    for (list, all) in [(ARGUMENT_ATTRIBUTES, &spmd.arguments), (RESULT_ATTRIBUTES, &spmd.results)] {
        let (mut shardings, mut globals) = (Vec::new(), Vec::new());
        for (index, lying) in all.iter().enumerate() {
            shardings.push((index, Some(sharding_attr(module, name, &spmd.mesh, &lying.sharding))));
            let ty = module.interner.ty(TypeData::Tensor(lying.ty.clone()));
            globals.push((index, Some(module.interner.attr(AttrData::Type(ty)))));
        }
        set_listed(module, function, list, SHARDING, &shardings);
        set_listed(module, function, list, GLOBAL, &globals);
    }
}

/// The tensor of which an argument or a result is a part, where that is said.
pub(crate) fn global<'m>(
    module: &'m Module,
    function: OpId,
    list: &str,
    index: usize,
) -> Option<&'m TensorType> {
    let dict = *items(module, module.attr(function, list)?).get(index)?;
    match module.attr_data(module.dict_entry(dict, GLOBAL)?) {
        AttrData::Type(ty) => match module.type_data(*ty) {
            TypeData::Tensor(ty) => Some(ty),
            _ => None,
        },
        _ => None,
    }
}

/// The extents of the part that each device holds, if all are known.
pub(crate) fn local_dims(global: &TensorType, sharding: &Sharding) -> Option<SmallVec<[u64; 4]>> {
    global.static_dims().map(|shape| sharding.local_shape(&shape))
}

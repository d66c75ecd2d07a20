//! Programs that are written for each device, as XLA takes them: a function of whole tensors that holds one `sdy.manual_computation`,
//! in which each device computes on its shares and the collectives of `dist` are those of StableHLO.
//!
//! ```text
//! func @f(%x: tensor<4x8xf32> {dist.global = tensor<8x8xf32>, …})       func.func @f(%x: tensor<8x8xf32> {sdy.sharding = …}) {
//!   %y = dist.all_gather %x …                                    ⇒         %r = sdy.manual_computation(%x) … (%a: tensor<4x8xf32>) {
//!   return %y                                                                 %y = stablehlo.all_gather(%a) …
//! ```
//!
//! XLA compiles such a body one to one, so what devices send is what the plan says.
//!
//! Shares of a manual computation must be even, and so must those of JAX's arrays. An argument or a result of shares that are not is padded by
//! whoever runs the program: the function takes and gives all shares together, padding included, and the attribute [`EXTENTS`] says how much
//! of it there is. What stands in the padding does not matter. So the state of a step stays split from one step to the next.
//!
//! | file | holds |
//! |---|---|
//! | `collectives` | what devices do together, in StableHLO's ops |
//! | `fetch` | ranges of a dimension, from whoever holds them |
//! | `site` | the place where ops are put, and those that every one of these needs |

mod collectives;
mod fetch;
mod site;

use tofu_diagnostics::{Diagnostic, codes};
use tofu_dialect_dist as dist;
use tofu_dialect_func::{FUNC, RETURN, body};
use tofu_ir::{
    ARGUMENT_ATTRIBUTES, AttrData, BlockId, Builder, DialectAttr, FUNCTION_TYPE, Module, OpId,
    RESULT_ATTRIBUTES, Type, TypeData, ValueId,
};
use tofu_sharding::{Lying, Sharding, Spmd};

use crate::dialect::{MANUAL_AXES, MANUAL_COMPUTATION, SDY_RETURN, SHARDING_PER_VALUE};
use crate::shardy::{encode, items};
use collectives::Collectives;

/// The attribute of a padded argument or result: the extents without the padding.
pub const EXTENTS: &str = "tofu.extents";

/// Makes every function that is written for each device one of whole tensors around a manual computation. Others stay as they are.
///
/// # Errors
/// At what StableHLO cannot say; the program is then to be thrown away.
pub fn to_manual(module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let functions: Vec<OpId> = module.ops(module.body()).filter(|&op| module.is(op, &FUNC)).collect();
    let mut found = Vec::new();
    for function in functions {
        let (Some(spmd), Some(block)) = (dist::spmd(module, function), body(module, function)) else {
            continue;
        };
        let Some(name) = mesh_name(module, function) else { continue };
        let made = Collectives::expand(module, function, block, &spmd.mesh)
            .and_then(|()| Around { function, spmd: &spmd, name: &name }.put(module, block));
        found.extend(made.err());
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// What the mesh is called on which the arguments and results of a function lie.
fn mesh_name(module: &Module, function: OpId) -> Option<String> {
    let lists = [ARGUMENT_ATTRIBUTES, RESULT_ATTRIBUTES].into_iter();
    let mut dicts = lists.filter_map(|list| module.attr(function, list)).flat_map(|list| items(module, list));
    let attr = dicts.find_map(|&dict| module.dict_entry(dict, dist::SHARDING))?;
    let (op, ..) = dist::read_sharding(module, function, attr)?;
    module.symbol_name(op).map(|name| module.text(name).to_owned())
}

/// A function of whole tensors around its body.
struct Around<'a> {
    function: OpId,
    spmd: &'a Spmd,
    name: &'a str,
}

impl Around<'_> {
    fn put(&self, module: &mut Module, inner: BlockId) -> Result<(), Diagnostic> {
        let Spmd { mesh, arguments, results } = self.spmd;
        let region = module.region(self.function, 0);
        let blocks = module.take_blocks(region);
        let outer = module.append_block(region);
        let mut operands = Vec::new();
        let inner_arguments = module.arguments(inner).to_vec();
        for (lying, argument) in arguments.iter().zip(inner_arguments) {
            let ty = padded(module, lying);
            let value = module.append_argument(outer, ty);
            let name = module.value_name(argument);
            module.set_value_name(argument, None);
            module.set_value_name(value, name);
            operands.push(value);
        }
        let [inputs, outputs] = [arguments, results]
            .map(|all| all.iter().map(|lying| padded(module, lying)).collect::<Vec<Type>>());
        let [inside, outside] =
            [arguments, results].map(|all| self.shardings(module, all)).map(|all| all.map_err(|e| *e));
        let (inside, outside) = (inside?, outside?);
        let axes: Vec<_> = mesh.axes().iter().map(|axis| module.interner.string(&axis.name)).collect();
        let axes = module.interner.attr(AttrData::Array(axes.into()));
        let axes = module.interner.attr(AttrData::Dialect(DialectAttr { def: &MANUAL_AXES, params: axes }));
        let computation = Builder::at_end(module, outer)
            .origin(self.function)
            .op(&MANUAL_COMPUTATION)
            .operands(operands)
            .attr("in_shardings", inside)
            .attr("manual_axes", axes)
            .attr("out_shardings", outside)
            .region()
            .results(outputs.iter().copied())
            .build();
        let body = module.region(computation, 0);
        blocks.into_iter().for_each(|block| module.attach_block(body, block));
        if let Some(end) = module.last_op(inner).filter(|&end| module.is(end, &RETURN)) {
            let values: Vec<ValueId> = module.operands(end).collect();
            Builder::before(module, end).origin(end).op(&SDY_RETURN).operands(values).build();
            module.erase(end);
        }
        let given: Vec<ValueId> = module.results(computation).collect();
        Builder::at_end(module, outer).origin(self.function).op(&RETURN).operands(given).build();
        let ty = module.interner.function(&inputs, &outputs);
        let ty = module.interner.attr(AttrData::Type(ty));
        module.set_attr(self.function, FUNCTION_TYPE, ty);
        self.say_outside(module);
        Ok(())
    }

    /// The shardings of values that the computation takes or gives.
    fn shardings(&self, module: &mut Module, all: &[Lying]) -> Result<tofu_ir::Attr, Box<Diagnostic>> {
        let shardings = all
            .iter()
            .map(|lying| {
                encode(module, self.name, &self.spmd.mesh, &closed(&lying.sharding))
                    .ok()
                    .filter(|_| lying.sharding.partial.is_none())
            })
            .collect::<Option<Vec<_>>>();
        let Some(shardings) = shardings else {
            let message = "what a function takes and gives cannot be terms in StableHLO";
            return Err(Box::new(module.error(self.function, &codes::NOT_EXPRESSIBLE, message)));
        };
        let params = module.interner.attr(AttrData::Array(shardings.into()));
        Ok(module.interner.attr(AttrData::Dialect(DialectAttr { def: &SHARDING_PER_VALUE, params })))
    }

    /// Says of the function how its whole tensors lie.
    fn say_outside(&self, module: &mut Module) {
        let Spmd { mesh, arguments, results } = self.spmd;
        for (list, all) in [(ARGUMENT_ATTRIBUTES, arguments), (RESULT_ATTRIBUTES, results)] {
            let Some(attr) = module.attr(self.function, list) else { continue };
            let dicts = items(module, attr).to_vec();
            let mut changed = Vec::new();
            for (dict, lying) in dicts.into_iter().zip(all) {
                let sharding = dist::sharding_attr(module, self.name, mesh, &closed(&lying.sharding));
                let kept: Vec<_> = module.dict(dict).to_vec();
                let is_padded =
                    padded(module, lying) != module.interner.ty(TypeData::Tensor(lying.ty.clone()));
                let mut entries: Vec<_> = kept
                    .into_iter()
                    .filter(|&(key, _)| module.text(key) != dist::GLOBAL)
                    .map(|(key, value)| match module.text(key) {
                        dist::SHARDING => (key, sharding),
                        _ => (key, value),
                    })
                    .collect();
                if is_padded {
                    let dims = lying.ty.static_dims().unwrap_or_default();
                    let dims = module.interner.ints(dims.iter().map(|&dim| dim as i64));
                    entries.push((module.interner.name(EXTENTS), dims));
                    entries.sort_by(|(a, _), (b, _)| module.text(*a).cmp(module.text(*b)));
                }
                changed.push(module.interner.dict(&entries));
            }
            let attr = module.interner.attr(AttrData::Array(changed.into()));
            module.set_attr(self.function, list, attr);
        }
    }
}

/// The tensor with the padding of all its shares.
fn padded(module: &mut Module, lying: &Lying) -> Type {
    let dims = lying.ty.dims.iter().zip(&lying.sharding.dims);
    let dims: Vec<u64> =
        dims.map(|(extent, dim)| extent.size().unwrap_or(0).next_multiple_of(dim.shards().max(1))).collect();
    module.interner.tensor(&dims, lying.ty.element)
}

/// Shardy pads without a word, and outside of the computation nothing is padded any more.
fn closed(sharding: &Sharding) -> Sharding {
    let mut sharding = sharding.clone();
    sharding.dims.iter_mut().for_each(|dim| (dim.open, dim.padded) = (false, false));
    sharding
}

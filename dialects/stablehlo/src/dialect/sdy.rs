//! Shardy: meshes, shardings, and the ops that pin them, as XLA's partitioner reads them.
//!
//! Attributes are written as in Shardy. Their parameters:
//!
//! | attribute | parameters |
//! |---|---|
//! | `#sdy.mesh<["x"=2, "y"=4], device_ids=[…]>` | a dictionary of `axes`, pairs of a name and a size, and `device_ids` |
//! | `#sdy.sharding<@mesh, [{"x"}, {?}p1], replicated={…}, unreduced={…}>` | a dictionary of `mesh`, a symbol or a mesh, `dims`, and `replicated` and `unreduced`, axes |
//! | `#sdy.sharding_per_value<[<@mesh, […]>, …]>` | an array of shardings |
//! | `#sdy.manual_axes<{"x"}>`, `#sdy.axis_ref_list<{"x"}>` | an array of axes |
//! | `#sdy.list_of_axis_ref_lists<[{"x"}, {}]>` | an array of arrays of axes, one for each dimension |
//! | `#sdy.all_to_all_param_list<[{"x"}: 0->1]>` | an array of pairs of axes and a pair of dimensions |
//!
//! A dimension is a dictionary of `axes`, `open` and `priority`. An axis is a name, or for a part of one a pair of the
//! name and the pair of what lies before it and its size: `"x":(2)4`.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    AttrClass, AttrData, Control, Dialect, INT, Module, OpDef, OpId, ParametricDef, STRING,
    SYMBOL_DEFINITION, SYMBOL_NAME, Trait, TypeData, any, op, optional, region, required,
};
use tofu_tdl::Undescribed;

mod check;
mod collectives;
mod text;

pub(crate) use check::{axis_ref, mesh_axes, mesh_of};

pub use collectives::*;
use text::{
    parse_axes, parse_mesh, parse_sharding, parse_shardings, print_axes, print_mesh, print_sharding,
    print_shardings,
};

/// The dialect of meshes and shardings.
pub static SDY: Dialect = Dialect {
    name: "sdy",
    summary: "Meshes and shardings, as XLA's partitioner reads them.",
    ops: &[
        &SDY_ALL_GATHER,
        &SDY_ALL_REDUCE,
        &ALL_SLICE,
        &SDY_ALL_TO_ALL,
        &SDY_COLLECTIVE_PERMUTE,
        &DATA_FLOW_EDGE,
        &MANUAL_COMPUTATION,
        &MESH,
        &NAMED_COMPUTATION,
        &PROPAGATION_BARRIER,
        &SDY_REDUCE_SCATTER,
        &REPLICATED_TO_UNREDUCED,
        &RESHARD,
        &SDY_RETURN,
        &SHARDED_TO_UNREDUCED,
        &SHARDING_CONSTRAINT,
        &SHARDING_GROUP,
    ],
    types: &[],
    attributes: &[
        &ALL_TO_ALL_PARAMS,
        &AXES,
        &AXES_PER_DIMENSION,
        &MANUAL_AXES,
        &MESH_ATTR,
        &SHARDING,
        &SHARDING_PER_VALUE,
    ],
    constant: None,
};

/// `#sdy.mesh<["x"=2]>`: named axes over devices.
pub static MESH_ATTR: ParametricDef = ParametricDef::new("sdy.mesh")
    .summary("Named axes over devices.")
    .example("#sdy.mesh<[\"x\"=2, \"y\"=4]>")
    .text(parse_mesh, print_mesh)
    .verify(check::verify_mesh);

/// `#sdy.sharding<@mesh, [{"x"}, {}]>`: along which axes each dimension of a tensor is split.
pub static SHARDING: ParametricDef = ParametricDef::new("sdy.sharding")
    .summary("Along which axes of a mesh each dimension of a tensor is split.")
    .example("#sdy.sharding<@mesh, [{\"x\"}, {?}]>")
    .text(parse_sharding, print_sharding)
    .verify_use(check::verify_sharding);

/// `#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>`: a sharding for each of several values.
pub static SHARDING_PER_VALUE: ParametricDef = ParametricDef::new("sdy.sharding_per_value")
    .summary("A sharding for each of several values.")
    .example("#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>, <@mesh, []>]>")
    .text(parse_shardings, print_shardings)
    .verify_use(check::verify_shardings);

/// `#sdy.manual_axes<{"x"}>`: the axes along which a computation is split by hand.
pub static MANUAL_AXES: ParametricDef = ParametricDef::new("sdy.manual_axes")
    .summary("The axes along which a computation is split by hand.")
    .example("#sdy.manual_axes<{\"x\"}>")
    .text(parse_axes, print_axes);

macro_rules! classes {
    ($($constant:ident = $name:literal, $def:ident;)*) => {$(
        const $constant: AttrClass = AttrClass {
            name: $name,
            contains: |module, attr| {
                matches!(module.attr_data(attr), AttrData::Dialect(attr) if std::ptr::eq(attr.def, &$def))
            },
        };
    )*};
}

classes! {
    IS_MESH = "a mesh (`#sdy.mesh<[\"x\"=2]>`)", MESH_ATTR;
    IS_SHARDING = "a sharding (`#sdy.sharding<@mesh, [{\"x\"}]>`)", SHARDING;
    ARE_SHARDINGS = "shardings (`#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>`)", SHARDING_PER_VALUE;
    ARE_AXES = "axes (`#sdy.manual_axes<{\"x\"}>`)", MANUAL_AXES;
}

/// `sdy.mesh`: gives a mesh a name.
pub static MESH: OpDef = op("sdy.mesh")
    .summary("Gives a mesh a name.")
    .example("sdy.mesh {mesh = #sdy.mesh<[\"x\"=2, \"y\"=4]>, sym_name = @mesh}")
    .attributes(&[required("mesh", IS_MESH), required(SYMBOL_NAME, SYMBOL_DEFINITION)])
    .traits(&[Trait::Symbol, Trait::TopLevel]);

/// The type of the operand: these ops say something of a value and hand it on.
fn same_type(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    Ok(vec![module.value_type(module.operand(op, 0)).clone()])
}

/// `sdy.sharding_constraint`: a value with this sharding.
pub static SHARDING_CONSTRAINT: OpDef = op("sdy.sharding_constraint")
    .summary("A value with this sharding.")
    .example("%r = sdy.sharding_constraint %x {sharding = #sdy.sharding<mesh<[\"x\"=2]>, [{\"x\"}, {}]>}")
    .operands(&[any("input")])
    .results(&[any("result")])
    .attributes(&[required("sharding", IS_SHARDING)])
    .traits(&[Trait::Pure])
    .infer_types(same_type)
    .interfaces(&[&Control::Forward]);

/// `sdy.reshard`: a value moved to another sharding.
pub static RESHARD: OpDef = op("sdy.reshard")
    .summary("A value moved to another sharding.")
    .example("%r = sdy.reshard %x {sharding = #sdy.sharding<mesh<[\"x\"=2]>, [{}, {\"x\"}]>}")
    .operands(&[any("input")])
    .results(&[any("result")])
    .attributes(&[required("sharding", IS_SHARDING)])
    .traits(&[Trait::Pure])
    .infer_types(same_type)
    .interfaces(&[&Control::Forward]);

/// Whether an op says of a value that it lies otherwise behind it.
pub fn converts_sharding(module: &Module, op: OpId) -> bool {
    module.is(op, &SHARDING_CONSTRAINT) || module.is(op, &RESHARD)
}

/// `sdy.data_flow_edge`: a place through which shardings pass from one op to another.
pub static DATA_FLOW_EDGE: OpDef = op("sdy.data_flow_edge")
    .summary("A place through which shardings pass from one op to another.")
    .example("%r = sdy.data_flow_edge %x")
    .operands(&[any("input")])
    .results(&[any("result")])
    .attributes(&[optional("sharding", IS_SHARDING)])
    .traits(&[Trait::Pure])
    .infer_types(same_type)
    .interfaces(&[&Control::Forward]);

/// `sdy.propagation_barrier`: a place where shardings pass in one direction only, or not at all.
pub static PROPAGATION_BARRIER: OpDef = op("sdy.propagation_barrier")
    .summary("A place where shardings pass in one direction only, or not at all.")
    .example("%r = sdy.propagation_barrier %x {allowed_direction = 0}")
    .operands(&[any("input")])
    .results(&[any("result")])
    .attributes(&[required("allowed_direction", INT)])
    .traits(&[Trait::Pure])
    .infer_types(same_type)
    .interfaces(&[&Control::Forward]);

/// `sdy.sharding_group`: values of one group get one sharding.
pub static SHARDING_GROUP: OpDef = op("sdy.sharding_group")
    .summary("Values of one group get one sharding.")
    .example("sdy.sharding_group %x {group_id = 0}")
    .operands(&[any("input")])
    .attributes(&[required("group_id", INT)])
    .interfaces(&[&Undescribed("it computes nothing; it says something about its operand")]);

/// `sdy.manual_computation`: a computation on each device's own share.
pub static MANUAL_COMPUTATION: OpDef = op("sdy.manual_computation")
    .summary("A computation on each device's own share.")
    .example(
        "%r = sdy.manual_computation %x {in_shardings = #sdy.sharding_per_value<[<mesh<[\"x\"=2]>, [{\"x\"}, {}]>]>, \
         manual_axes = #sdy.manual_axes<{\"x\"}>, out_shardings = #sdy.sharding_per_value<[<mesh<[\"x\"=2]>, [{\"x\"}, \
         {}]>]>} ({\n  ^body(%a: tensor<2x8xf32>):\n    sdy.return %a\n}) : tensor<4x8xf32>",
    )
    .operands(&[any("inputs").variadic()])
    .results(&[any("results").variadic()])
    .attributes(&[
        required("in_shardings", ARE_SHARDINGS),
        required("manual_axes", ARE_AXES),
        required("out_shardings", ARE_SHARDINGS),
    ])
    .regions(&[region("body")])
    .traits(&[Trait::Isolated])
    .interfaces(&[&Undescribed("its body computes on each device's own share")]);

/// `sdy.named_computation`: a computation under a name.
pub static NAMED_COMPUTATION: OpDef = op("sdy.named_computation")
    .summary("A computation under a name.")
    .example(
        "%r = sdy.named_computation %x {name = \"block\"} ({\n  ^body(%a: tensor<4x8xf32>):\n    sdy.return %a\n}) : \
         tensor<4x8xf32>",
    )
    .operands(&[any("inputs").variadic()])
    .results(&[any("results").variadic()])
    .attributes(&[
        optional("in_shardings", ARE_SHARDINGS),
        required("name", STRING),
        optional("out_shardings", ARE_SHARDINGS),
    ])
    .regions(&[region("body")])
    .traits(&[Trait::Isolated])
    .interfaces(&[&Undescribed("it computes what its body computes")]);

/// `sdy.return`: ends the body of a computation.
pub static SDY_RETURN: OpDef = op("sdy.return")
    .summary("Ends the body of a computation and gives its results.")
    .example(NAMED_COMPUTATION.example)
    .operands(&[any("results").variadic()])
    .traits(&[Trait::Pure, Trait::Terminator])
    .interfaces(&[&Control::Yield]);

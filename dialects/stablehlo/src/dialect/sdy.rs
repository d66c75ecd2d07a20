//! Shardy: meshes, shardings, and the ops that pin them, as XLA's partitioner reads them.
//!
//! Attributes are written as in Shardy. Their parameters:
//!
//! | attribute | parameters |
//! |---|---|
//! | `#sdy.mesh<["x"=2, "y"=4], device_ids=[…]>` | a dictionary of `axes`, pairs of a name and a size, and `device_ids` |
//! | `#sdy.sharding<@mesh, [{"x"}, {?}p1], replicated={…}, unreduced={…}>` | a dictionary of `mesh`, a symbol or a mesh, `dims`, and `replicated` and `unreduced`, axes |
//! | `#sdy.sharding_per_value<[<@mesh, […]>, …]>` | an array of shardings |
//! | `#sdy.manual_axes<{"x"}>` | an array of axes |
//!
//! A dimension is a dictionary of `axes`, `open` and `priority`. An axis is a name, or for a part of one a pair of the
//! name and the pair of what lies before it and its size: `"x":(2)4`.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    Attr, AttrClass, AttrData, Control, Dialect, DialectAttr, INT, Module, OpDef, OpId, ParameterReader,
    ParameterWriter, ParametricDef, STRING, SYMBOL_DEFINITION, SYMBOL_NAME, Trait, TypeData, any, op,
    optional, region, required,
};
use tofu_tdl::Undescribed;

/// The dialect of meshes and shardings.
pub static SDY: Dialect = Dialect {
    name: "sdy",
    summary: "Meshes and shardings, as XLA's partitioner reads them.",
    ops: &[
        &DATA_FLOW_EDGE,
        &MANUAL_COMPUTATION,
        &MESH,
        &NAMED_COMPUTATION,
        &PROPAGATION_BARRIER,
        &RESHARD,
        &SDY_RETURN,
        &SHARDING_CONSTRAINT,
        &SHARDING_GROUP,
    ],
    types: &[],
    attributes: &[&MANUAL_AXES, &MESH_ATTR, &SHARDING, &SHARDING_PER_VALUE],
    constant: None,
};

/// `#sdy.mesh<["x"=2]>`: named axes over devices.
pub static MESH_ATTR: ParametricDef = ParametricDef::new("sdy.mesh")
    .summary("Named axes over devices.")
    .example("#sdy.mesh<[\"x\"=2, \"y\"=4]>")
    .text(parse_mesh, print_mesh);

/// `#sdy.sharding<@mesh, [{"x"}, {}]>`: along which axes each dimension of a tensor is split.
pub static SHARDING: ParametricDef = ParametricDef::new("sdy.sharding")
    .summary("Along which axes of a mesh each dimension of a tensor is split.")
    .example("#sdy.sharding<@mesh, [{\"x\"}, {?}]>")
    .text(parse_sharding, print_sharding);

/// `#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>`: a sharding for each of several values.
pub static SHARDING_PER_VALUE: ParametricDef = ParametricDef::new("sdy.sharding_per_value")
    .summary("A sharding for each of several values.")
    .example("#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>, <@mesh, []>]>")
    .text(parse_shardings, print_shardings);

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

// Here and below: writing into the printer's buffer cannot fail.

fn parse_mesh(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    let axes = list(reader, "[", "]", |reader| {
        let name = reader.attribute()?;
        reader.expect("=")?;
        let size = reader.integer()?;
        let interner = &mut reader.module().interner;
        let size = interner.int(size);
        Ok(interner.attr(AttrData::Pair(name, size)))
    })?;
    let mut fields = vec![("axes", axes)];
    if reader.take(",") {
        reader.expect("device_ids")?;
        reader.expect("=")?;
        fields.push(("device_ids", reader.attribute()?));
    }
    Ok(dictionary(reader, &fields))
}

fn print_mesh(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    print_list(module, module.dict_entry(params, "axes"), ["[", "]"], writer, |axis, writer| {
        if let AttrData::Pair(name, size) = module.attr_data(axis) {
            writer.attribute(*name);
            let _ = writer.write_str("=");
            writer.attribute(*size);
        }
    });
    if let Some(ids) = module.dict_entry(params, "device_ids") {
        let _ = writer.write_str(", device_ids=");
        writer.attribute(ids);
    }
}

fn parse_sharding(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    let mesh = if reader.take("mesh") {
        reader.expect("<")?;
        let params = parse_mesh(reader)?;
        reader.expect(">")?;
        reader.module().interner.attr(AttrData::Dialect(DialectAttr { def: &MESH_ATTR, params }))
    } else {
        reader.attribute()?
    };
    reader.expect(",")?;
    let dims = list(reader, "[", "]", parse_dimension)?;
    let mut fields = vec![("mesh", mesh), ("dims", dims)];
    while reader.take(",") {
        let key = if reader.take("replicated") {
            "replicated"
        } else {
            reader.expect("unreduced")?;
            "unreduced"
        };
        reader.expect("=")?;
        fields.push((key, parse_axes(reader)?));
    }
    Ok(dictionary(reader, &fields))
}

fn print_sharding(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    if let Some(mesh) = module.dict_entry(params, "mesh") {
        match module.attr_data(mesh) {
            AttrData::Dialect(mesh) => {
                let _ = writer.write_str("mesh<");
                print_mesh(module, mesh.params, writer);
                let _ = writer.write_str(">");
            }
            _ => writer.attribute(mesh),
        }
        let _ = writer.write_str(", ");
    }
    print_list(module, module.dict_entry(params, "dims"), ["[", "]"], writer, |dimension, writer| {
        print_dimension(module, dimension, writer);
    });
    for key in ["replicated", "unreduced"] {
        if let Some(axes) = module.dict_entry(params, key) {
            let _ = write!(writer, ", {key}=");
            print_axes(module, axes, writer);
        }
    }
}

fn parse_dimension(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    reader.expect("{")?;
    let (mut axes, mut is_open) = (Vec::new(), false);
    while !is_open && !reader.take("}") {
        if !axes.is_empty() {
            reader.expect(",")?;
        }
        if reader.take("?") {
            reader.expect("}")?;
            is_open = true;
        } else {
            axes.push(parse_axis(reader)?);
        }
    }
    let axes = reader.module().interner.attr(AttrData::Array(axes.into()));
    let mut fields = vec![("axes", axes)];
    if is_open {
        fields.push(("open", reader.module().interner.attr(AttrData::Unit)));
    }
    if let Ok(word) = reader.word() {
        let Some(priority) = word.strip_prefix('p').and_then(|digits| digits.parse().ok()) else {
            return Err(reader.error(format!("expected a priority (`p1`) before this, found `{word}`")));
        };
        fields.push(("priority", reader.module().interner.int(priority)));
    }
    Ok(dictionary(reader, &fields))
}

fn print_dimension(module: &Module, dimension: Attr, writer: &mut dyn ParameterWriter) {
    let _ = writer.write_str("{");
    let axes = items(module, module.dict_entry(dimension, "axes"));
    for (index, &axis) in axes.iter().enumerate() {
        let _ = writer.write_str(if index > 0 { ", " } else { "" });
        print_axis(module, axis, writer);
    }
    if module.dict_entry(dimension, "open").is_some() {
        let _ = writer.write_str(if axes.is_empty() { "?" } else { ", ?" });
    }
    let _ = writer.write_str("}");
    if let Some(priority) = module.dict_entry(dimension, "priority") {
        let _ = writer.write_str("p");
        writer.attribute(priority);
    }
}

fn parse_shardings(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    list(reader, "[", "]", |reader| {
        reader.expect("<")?;
        let params = parse_sharding(reader)?;
        reader.expect(">")?;
        Ok(reader.module().interner.attr(AttrData::Dialect(DialectAttr { def: &SHARDING, params })))
    })
}

fn print_shardings(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    print_list(module, Some(params), ["[", "]"], writer, |sharding, writer| {
        if let AttrData::Dialect(sharding) = module.attr_data(sharding) {
            let _ = writer.write_str("<");
            print_sharding(module, sharding.params, writer);
            let _ = writer.write_str(">");
        }
    });
}

fn parse_axes(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    list(reader, "{", "}", parse_axis)
}

fn print_axes(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    print_list(module, Some(params), ["{", "}"], writer, |axis, writer| print_axis(module, axis, writer));
}

fn parse_axis(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    let name = reader.attribute()?;
    if !reader.take(":") {
        return Ok(name);
    }
    reader.expect("(")?;
    let before = reader.integer()?;
    reader.expect(")")?;
    let size = reader.integer()?;
    let interner = &mut reader.module().interner;
    let (before, size) = (interner.int(before), interner.int(size));
    let part = interner.attr(AttrData::Pair(before, size));
    Ok(interner.attr(AttrData::Pair(name, part)))
}

fn print_axis(module: &Module, axis: Attr, writer: &mut dyn ParameterWriter) {
    let AttrData::Pair(name, part) = module.attr_data(axis) else { return writer.attribute(axis) };
    writer.attribute(*name);
    if let AttrData::Pair(before, size) = module.attr_data(*part) {
        let _ = writer.write_str(":(");
        writer.attribute(*before);
        let _ = writer.write_str(")");
        writer.attribute(*size);
    }
}

fn dictionary(reader: &mut dyn ParameterReader, fields: &[(&str, Attr)]) -> Attr {
    let interner = &mut reader.module().interner;
    let fields: Vec<_> = fields.iter().map(|&(key, value)| (interner.name(key), value)).collect();
    interner.dict(&fields)
}

fn list(
    reader: &mut dyn ParameterReader,
    open: &str,
    close: &str,
    item: impl Fn(&mut dyn ParameterReader) -> Result<Attr, Diagnostic>,
) -> Result<Attr, Diagnostic> {
    reader.expect(open)?;
    let mut items = Vec::new();
    while !reader.take(close) {
        if !items.is_empty() {
            reader.expect(",")?;
        }
        items.push(item(reader)?);
    }
    Ok(reader.module().interner.attr(AttrData::Array(items.into())))
}

fn print_list(
    module: &Module,
    list: Option<Attr>,
    [open, close]: [&str; 2],
    writer: &mut dyn ParameterWriter,
    item: impl Fn(Attr, &mut dyn ParameterWriter),
) {
    let _ = writer.write_str(open);
    for (index, &attr) in items(module, list).iter().enumerate() {
        let _ = writer.write_str(if index > 0 { ", " } else { "" });
        item(attr, writer);
    }
    let _ = writer.write_str(close);
}

/// The items of an array; an empty one is a list of integers.
fn items(module: &Module, list: Option<Attr>) -> &[Attr] {
    match list.map(|list| module.attr_data(list)) {
        Some(AttrData::Array(items)) => items,
        _ => &[],
    }
}

//! Meshes and shardings as text.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Attr, AttrData, DialectAttr, Module, ParameterReader, ParameterWriter};

use super::{MESH_ATTR, SHARDING};

// Here and below: writing into the printer's buffer cannot fail.

pub(super) fn parse_mesh(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
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

pub(super) fn print_mesh(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
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

pub(super) fn parse_sharding(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
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

pub(super) fn print_sharding(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
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

pub(super) fn parse_shardings(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    list(reader, "[", "]", |reader| {
        reader.expect("<")?;
        let params = parse_sharding(reader)?;
        reader.expect(">")?;
        Ok(reader.module().interner.attr(AttrData::Dialect(DialectAttr { def: &SHARDING, params })))
    })
}

pub(super) fn print_shardings(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    print_list(module, Some(params), ["[", "]"], writer, |sharding, writer| {
        if let AttrData::Dialect(sharding) = module.attr_data(sharding) {
            let _ = writer.write_str("<");
            print_sharding(module, sharding.params, writer);
            let _ = writer.write_str(">");
        }
    });
}

pub(super) fn parse_axes(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    list(reader, "{", "}", parse_axis)
}

pub(super) fn print_axes(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
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

pub(super) fn dictionary(reader: &mut dyn ParameterReader, fields: &[(&str, Attr)]) -> Attr {
    let interner = &mut reader.module().interner;
    let fields: Vec<_> = fields.iter().map(|&(key, value)| (interner.name(key), value)).collect();
    interner.dict(&fields)
}

pub(super) fn list(
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

pub(super) fn print_list(
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
pub(super) fn items(module: &Module, list: Option<Attr>) -> &[Attr] {
    match list.map(|list| module.attr_data(list)) {
        Some(AttrData::Array(items)) => items,
        _ => &[],
    }
}

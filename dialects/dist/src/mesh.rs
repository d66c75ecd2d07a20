//! `dist.mesh @m = [x = 2, y = 4]`.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    Attr, AttrClass, AttrData, Builder, DialectAttr, ElementType, Module, OpDef, OpId, ParameterReader,
    ParameterWriter, ParametricDef, SYMBOL_DEFINITION, SYMBOL_NAME, Syntax, Trait, op, required, write_word,
};
use tofu_sharding::Mesh;

use crate::items;

/// The attribute that holds the axes of a mesh.
pub const AXES: &str = "axes";

/// `dist.mesh @m = [x = 2, y = 4]`: names the axes of a mesh, the slowest first.
pub static MESH: OpDef = op("dist.mesh")
    .summary("Names axes over the devices, the slowest first.")
    .example("dist.mesh @m = [x = 2, y = 4]")
    .attributes(&[required(AXES, AXES_CLASS), required(SYMBOL_NAME, SYMBOL_DEFINITION)])
    .syntax(Syntax::Definition(AXES))
    .traits(&[Trait::Symbol, Trait::TopLevel]);

const AXES_CLASS: AttrClass = AttrClass {
    name: "axes (`#dist.axes<x = 2>`)",
    contains: |module, attr| axes_of(module, attr).is_some(),
};

/// `#dist.axes<x = 2, y = 4>`: the axes of a mesh. The parameters are a list of pairs of a name and a size.
pub(crate) static AXES_ATTR: ParametricDef = ParametricDef::new("dist.axes")
    .summary("The axes of a mesh.")
    .example("#dist.axes<x = 2, y = 4>")
    .text(parse, print)
    .verify(|module, params| decode(module, params).map(drop));

/// Adds a mesh at the beginning of a program.
pub fn build_mesh(module: &mut Module, name: &str, mesh: &Mesh) -> OpId {
    let axes: Vec<(String, u64)> =
        mesh.axes().iter().map(|axis| (axis.name.to_string(), axis.size)).collect();
    let params = encode(module, &axes);
    let axes = module.interner.attr(AttrData::Dialect(DialectAttr { def: &AXES_ATTR, params }));
    let symbol = module.interner.symbol(name);
    let body = module.body();
    let mut builder = match module.first_op(body) {
        Some(first) => Builder::before(module, first),
        None => Builder::at_end(module, body),
    };
    builder.op(&MESH).attr(AXES, axes).attr(SYMBOL_NAME, symbol).build()
}

/// The mesh that a [`MESH`] names.
pub fn mesh(module: &Module, op: OpId) -> Option<Mesh> {
    let axes = module.attr(op, AXES).filter(|_| module.is(op, &MESH))?;
    decode(module, axes_of(module, axes)?).ok()
}

fn axes_of(module: &Module, attr: Attr) -> Option<Attr> {
    match module.attr_data(attr) {
        AttrData::Dialect(dialect) if std::ptr::eq(dialect.def, &AXES_ATTR) => Some(dialect.params),
        _ => None,
    }
}

fn encode(module: &mut Module, axes: &[(String, u64)]) -> Attr {
    let pair = |&(ref name, size): &(String, u64)| {
        let name = module.interner.string(name);
        let size = module.interner.attr(AttrData::Int(size.into(), ElementType::I64));
        module.interner.attr(AttrData::Pair(name, size))
    };
    let pairs = axes.iter().map(pair).collect();
    module.interner.attr(AttrData::Array(pairs))
}

fn decode(module: &Module, params: Attr) -> Result<Mesh, String> {
    let axis = |&pair: &Attr| {
        let AttrData::Pair(name, size) = module.attr_data(pair) else { return None };
        match (module.attr_data(*name), module.attr_data(*size)) {
            (AttrData::String(name), AttrData::Int(size, _)) => {
                Some((name.clone(), u64::try_from(*size).unwrap_or(0)))
            }
            _ => None,
        }
    };
    let axes: Option<Vec<(Box<str>, u64)>> = items(module, params).iter().map(axis).collect();
    Mesh::new(axes.ok_or("these are no axes")?)
}

fn parse(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    let mut axes: Vec<(String, u64)> = Vec::new();
    while !reader.at_end() {
        if !axes.is_empty() {
            reader.expect(",")?;
        }
        let name = axis_name(reader)?;
        reader.expect("=")?;
        axes.push((name, positive(reader)?));
    }
    let meshed = Mesh::new(axes.iter().map(|(name, size)| (name.as_str(), *size)));
    if let Err(message) = meshed {
        return Err(Diagnostic { code: &tofu_diagnostics::codes::WRONG_MESH, ..reader.error(message) });
    }
    Ok(encode(reader.module(), &axes))
}

fn print(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    let Ok(mesh) = decode(module, params) else { return };
    for (index, axis) in mesh.axes().iter().enumerate() {
        let mut name = String::new();
        write_word(&mut name, &axis.name);
        // Writing into the printer's buffer cannot fail.
        let _ = write!(writer, "{}{name} = {}", if index > 0 { ", " } else { "" }, axis.size);
    }
}

/// The name of an axis: a word, or a string.
pub(crate) fn axis_name(reader: &mut dyn ParameterReader) -> Result<String, Diagnostic> {
    let expected = match reader.word() {
        Ok(name) => return Ok(name),
        Err(expected) => expected,
    };
    match reader.attribute() {
        Ok(attr) => match reader.module().attr_data(attr) {
            AttrData::String(name) => Ok(name.to_string()),
            _ => Err(expected),
        },
        Err(_) => Err(expected),
    }
}

/// A positive integer.
pub(crate) fn positive(reader: &mut dyn ParameterReader) -> Result<u64, Diagnostic> {
    let refusal = reader.error("expected a positive integer".to_owned());
    let integer = reader.integer()?;
    u64::try_from(integer).ok().filter(|&integer| integer > 0).ok_or(refusal)
}

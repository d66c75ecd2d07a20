//! `#dist.sharding<@m, [{x}, {}], partial = sum {y}>`.
//!
//! The parameters name the mesh and its axes; what they are is known only where the attribute is used. So the text is read
//! into a sharding over axes that have a name and, unless only a part is meant, no size yet; on its mesh that becomes the
//! sharding proper.
//!
//! As an attribute it is the list of the mesh, the dimensions (each a pair of axes and marks), the axes that are replicated,
//! and a pair of the reducer and axes, or `unit`. An axis is a string, or a pair of a string and `[pre, size]`.

use smallvec::SmallVec;
use tofu_diagnostics::{Code, Diagnostic, codes, suggest};
use tofu_ir::{
    Attr, AttrData, DialectAttr, Module, OpId, ParameterReader, ParameterWriter, ParametricDef, SymbolRef,
    write_word,
};
use tofu_sharding::{AxisRef, DimSharding, Mesh, Partial, Reducer, Sharding, ShardingError};

use crate::mesh::{MESH, axis_name, mesh, positive};
use crate::{items, place};

/// `#dist.sharding<@m, [{x}, {}], partial = sum {y}>`: how a tensor lies on a mesh.
pub static SHARDING_ATTR: ParametricDef = ParametricDef::new("dist.sharding")
    .summary("How a tensor lies on a mesh: the axes that split each dimension, and those over which it is partial.")
    .example("#dist.sharding<@m, [{x}, {}], partial = sum {y}>")
    .text(parse, print)
    .verify(|module, params| match Written::decode(module, params) {
        Some(_) => Ok(()),
        None => Err("these are no parameters of a sharding".to_owned()),
    })
    .verify_use(place::verify);

/// The attribute of a sharding on the mesh that is called `name`.
pub fn sharding_attr(module: &mut Module, name: &str, mesh: &Mesh, sharding: &Sharding) -> Attr {
    let named = sharding.map_axes(|axis| {
        let is_whole = mesh.has(axis) && axis == mesh.whole(axis.axis);
        let size = if is_whole { ALL } else { axis.size };
        Ok::<_, std::convert::Infallible>(AxisRef { size, ..axis })
    });
    let Ok(sharding) = named;
    let names = mesh.axes().iter().map(|axis| axis.name.clone()).collect();
    let symbol = module.interner.symbol(name);
    let params = Written { symbol, names, sharding }.encode(module);
    module.interner.attr(AttrData::Dialect(DialectAttr { def: &SHARDING_ATTR, params }))
}

/// What a sharding's attribute says where `user` uses it: the op of the mesh, the mesh, and the sharding. None if it is no
/// such attribute, or wrong.
pub fn read_sharding(module: &Module, user: OpId, attr: Attr) -> Option<(OpId, Mesh, Sharding)> {
    match module.attr_data(attr) {
        AttrData::Dialect(dialect) if std::ptr::eq(dialect.def, &SHARDING_ATTR) => {
            resolve(module, user, dialect.params).ok()?
        }
        _ => None,
    }
}

/// What is wrong with a sharding where it is used.
pub(crate) struct Problem {
    pub(crate) code: &'static Code,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl From<ShardingError> for Problem {
    fn from(error: ShardingError) -> Problem {
        let (code, help) = match &error {
            ShardingError::NoSuchAxis { .. } => (&codes::UNKNOWN_AXIS, None),
            ShardingError::Padding { padded: false, .. } => {
                (&codes::UNDECLARED_PADDING, Some("write `padded` behind the dimension's axes"))
            }
            ShardingError::Padding { padded: true, .. } => {
                (&codes::WRONG_SHARDING, Some("leave `padded` away"))
            }
            _ => (&codes::WRONG_SHARDING, None),
        };
        Problem { code, message: error.to_string(), help: help.map(str::to_owned) }
    }
}

/// The mesh and the sharding that parameters mean where `user` uses them; nothing if the mesh is not there or wrong, which
/// is said elsewhere.
pub(crate) fn resolve(
    module: &Module,
    user: OpId,
    params: Attr,
) -> Result<Option<(OpId, Mesh, Sharding)>, Problem> {
    let Some(written) = Written::decode(module, params) else { return Ok(None) };
    let AttrData::Symbol(path) = module.attr_data(written.symbol) else { return Ok(None) };
    let Some(op) = module.resolve_symbol(user, path) else { return Ok(None) };
    if !module.is(op, &MESH) {
        let message = format!("`{}` is no mesh", symbol_text(module, path));
        return Err(Problem { code: &codes::WRONG_SHARDING, message, help: None });
    }
    let Some(mesh) = mesh(module, op) else { return Ok(None) };
    let sharding = written.sharding.map_axes(|axis| {
        let name = written.names.get(axis.axis).map_or("", |name| name);
        let Some(whole) = mesh.axis(name) else {
            let message = format!("`{}` has no axis `{name}`", symbol_text(module, path));
            let help = suggest::did_you_mean(name, mesh.axes().iter().map(|axis| &*axis.name));
            return Err(Problem { code: &codes::UNKNOWN_AXIS, message, help });
        };
        if axis.size == ALL {
            return Ok(whole);
        }
        let part = AxisRef { axis: whole.axis, ..axis };
        if part == whole {
            let message = format!("`{}` is all of `{name}`, which must be written", written.text(axis));
            return Err(Problem { code: &codes::WRONG_SHARDING, message, help: None });
        }
        Ok(part)
    })?;
    sharding.check_axes(&mesh)?;
    Ok(Some((op, mesh, sharding)))
}

fn symbol_text(module: &Module, path: &SymbolRef) -> String {
    let names: Vec<&str> = path.iter().map(|&name| module.text(name)).collect();
    format!("@{}", names.join("::@"))
}

/// The size of an axis all of which is meant.
const ALL: u64 = 0;

/// A sharding as it is written.
struct Written {
    /// The mesh.
    symbol: Attr,
    /// The names of the axes, by their numbers in the sharding.
    names: Vec<Box<str>>,
    sharding: Sharding,
}

impl Written {
    fn axis(&mut self, name: &str, part: Option<(u64, u64)>) -> AxisRef {
        let known = self.names.iter().position(|other| **other == *name);
        let axis = known.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        let (pre, size) = part.unwrap_or((1, ALL));
        AxisRef { axis, pre, size }
    }

    fn text(&self, axis: AxisRef) -> String {
        let mut text = String::new();
        write_word(&mut text, self.names.get(axis.axis).map_or("", |name| name));
        if axis.size == ALL { text } else { format!("{text}:({}){}", axis.pre, axis.size) }
    }

    fn encode(&self, module: &mut Module) -> Attr {
        let mut axes = |axes: &[AxisRef]| {
            let axis = |axis: &AxisRef| {
                let name = module.interner.string(self.names.get(axis.axis).map_or("", |name| name));
                if axis.size == ALL {
                    return name;
                }
                let part = module.interner.ints([axis.pre as i64, axis.size as i64]);
                module.interner.attr(AttrData::Pair(name, part))
            };
            let axes = axes.iter().map(axis).collect();
            module.interner.attr(AttrData::Array(axes))
        };
        let Sharding { dims, replicated, partial } = &self.sharding;
        let dim_axes: Vec<Attr> = dims.iter().map(|dim| axes(&dim.axes)).collect();
        let replicated = axes(replicated);
        let partial = partial.as_ref().map(|partial| (partial.reducer, axes(&partial.axes)));
        let interner = &mut module.interner;
        let dim = |(dim, axes): (&DimSharding, Attr)| {
            let marks = [(dim.open, OPEN), (dim.padded, PADDED)];
            let marks = marks.into_iter().filter(|(is_set, _)| *is_set);
            let marks = marks.map(|(_, mark)| interner.string(mark)).collect();
            let marks = interner.attr(AttrData::Array(marks));
            interner.attr(AttrData::Pair(axes, marks))
        };
        let dims = dims.iter().zip(dim_axes).map(dim).collect();
        let dims = interner.attr(AttrData::Array(dims));
        let partial = match partial {
            Some((reducer, axes)) => {
                let reducer = interner.string(reducer.name());
                AttrData::Pair(reducer, axes)
            }
            None => AttrData::Unit,
        };
        let partial = interner.attr(partial);
        interner.attr(AttrData::Array([self.symbol, dims, replicated, partial].into()))
    }

    fn decode(module: &Module, params: Attr) -> Option<Written> {
        let &[symbol, dims, replicated, partial] = items(module, params) else { return None };
        let mut written = Written { symbol, names: Vec::new(), sharding: Sharding::default() };
        for &dim in items(module, dims) {
            let AttrData::Pair(axes, marks) = module.attr_data(dim) else { return None };
            let has = |mark: &str| {
                let is_mark = |&attr: &Attr| matches!(module.attr_data(attr), AttrData::String(text) if **text == *mark);
                items(module, *marks).iter().any(is_mark)
            };
            let axes = written.decode_axes(module, *axes)?;
            written.sharding.dims.push(DimSharding { axes, open: has(OPEN), padded: has(PADDED) });
        }
        written.sharding.replicated = written.decode_axes(module, replicated)?;
        if let AttrData::Pair(reducer, axes) = module.attr_data(partial) {
            let AttrData::String(reducer) = module.attr_data(*reducer) else { return None };
            let axes = written.decode_axes(module, *axes)?;
            written.sharding.partial = Some(Partial { reducer: Reducer::from_name(reducer)?, axes });
        }
        matches!(module.attr_data(symbol), AttrData::Symbol(_)).then_some(written)
    }

    fn decode_axes(&mut self, module: &Module, axes: Attr) -> Option<SmallVec<[AxisRef; 2]>> {
        let axis = |&attr: &Attr| match module.attr_data(attr) {
            AttrData::String(name) => Some(self.axis(name, None)),
            AttrData::Pair(name, part) => match (module.attr_data(*name), module.attr_data(*part)) {
                (AttrData::String(name), AttrData::Ints(part)) => {
                    let &[pre, size] = &**part else { return None };
                    let positive = |number: i64| u64::try_from(number).ok().filter(|&number| number > 0);
                    Some(self.axis(name, Some((positive(pre)?, positive(size)?))))
                }
                _ => None,
            },
            _ => None,
        };
        items(module, axes).iter().map(axis).collect()
    }
}

const OPEN: &str = "open";
const PADDED: &str = "padded";

fn parse(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    let no_mesh = reader.error("expected a mesh (`@name`)".to_owned());
    let symbol = reader.attribute()?;
    if !matches!(reader.module().attr_data(symbol), AttrData::Symbol(_)) {
        return Err(no_mesh);
    }
    let mut written = Written { symbol, names: Vec::new(), sharding: Sharding::default() };
    reader.expect(",")?;
    reader.expect("[")?;
    while !reader.take("]") {
        if !written.sharding.dims.is_empty() {
            reader.expect(",")?;
        }
        let (axes, open) = parse_axes(reader, &mut written)?;
        let padded = reader.take(PADDED);
        written.sharding.dims.push(DimSharding { axes, open, padded });
    }
    while !reader.at_end() {
        reader.expect(",")?;
        let place = reader.error("expected `replicated` or `partial`, each once".to_owned());
        if written.sharding.replicated.is_empty() && reader.take("replicated") {
            reader.expect("=")?;
            written.sharding.replicated = parse_closed_axes(reader, &mut written)?;
        } else if written.sharding.partial.is_none() && reader.take("partial") {
            reader.expect("=")?;
            let reducer = parse_reducer(reader)?;
            let axes = parse_closed_axes(reader, &mut written)?;
            written.sharding.partial = Some(Partial { reducer, axes });
        } else {
            return Err(place);
        }
    }
    Ok(written.encode(reader.module()))
}

/// `{x, y:(1)2, ?}`: axes, and whether there may be more.
fn parse_axes(
    reader: &mut dyn ParameterReader,
    written: &mut Written,
) -> Result<(SmallVec<[AxisRef; 2]>, bool), Diagnostic> {
    let mut axes = SmallVec::new();
    reader.expect("{")?;
    while !reader.take("}") {
        if !axes.is_empty() {
            reader.expect(",")?;
        }
        if reader.take("?") {
            reader.expect("}")?;
            return Ok((axes, true));
        }
        let name = axis_name(reader)?;
        let part = if reader.take(":") {
            reader.expect("(")?;
            let pre = positive(reader)?;
            reader.expect(")")?;
            Some((pre, positive(reader)?))
        } else {
            None
        };
        axes.push(written.axis(&name, part));
    }
    Ok((axes, false))
}

/// Axes of which there cannot be more.
fn parse_closed_axes(
    reader: &mut dyn ParameterReader,
    written: &mut Written,
) -> Result<SmallVec<[AxisRef; 2]>, Diagnostic> {
    let place = reader.error("only a dimension can be open".to_owned());
    match parse_axes(reader, written)? {
        (axes, false) => Ok(axes),
        (_, true) => Err(place),
    }
}

fn parse_reducer(reader: &mut dyn ParameterReader) -> Result<Reducer, Diagnostic> {
    let place = reader.error(String::new());
    let name = reader.word()?;
    Reducer::from_name(&name).ok_or_else(|| {
        let help = suggest::did_you_mean(&name, Reducer::ALL.map(Reducer::name));
        Diagnostic { message: format!("there is no reducer `{name}`"), ..place }.maybe_help(help)
    })
}

fn print(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    let Some(written) = Written::decode(module, params) else { return };
    writer.attribute(written.symbol);
    // Writing into the printer's buffer cannot fail.
    let _ = write!(writer, ", {}", written.sharding.display_with(|axis| written.text(axis)));
}

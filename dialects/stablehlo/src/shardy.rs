//! Shardy's meshes and shardings in the terms of `dist`, and back.
//!
//! The two agree in what they mean. Shardy knows no padding (extents that axes do not divide are padded without a word) and
//! of partial values only sums, which it calls unreduced. What it has beyond `dist`, priorities, says nothing about how a
//! tensor lies; an order of devices other than 0, 1, 2, … cannot be said in `dist`.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes, suggest};
use tofu_dialect_dist as dist;
use tofu_dialect_func::{FUNC, body, signature};
use tofu_ir::{
    ARGUMENT_ATTRIBUTES, Attr, AttrData, Builder, DialectAttr, Module, OpId, RESULT_ATTRIBUTES, SYMBOL_NAME,
    ValueId,
};
use tofu_sharding::{AxisRef, DimSharding, Mesh, Partial, Reducer, Sharding};

use crate::dialect::{MESH, MESH_ATTR, SHARDING, SHARDING_CONSTRAINT, SHARDING_PER_VALUE};

/// The attribute that holds a sharding of Shardy's.
pub const SDY_SHARDING: &str = "sdy.sharding";

/// A sharding of Shardy's, and where its mesh has a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shardy {
    /// The op that names the mesh; none if the mesh stands in the sharding itself.
    pub named: Option<OpId>,
    /// The mesh.
    pub mesh: Mesh,
    /// The sharding on it.
    pub sharding: Sharding,
}

/// The mesh that a `sdy.mesh` names; none if the op is another one.
///
/// # Errors
/// When `dist` has no such mesh; the message says why.
pub fn shardy_mesh(module: &Module, op: OpId) -> Option<Result<Mesh, String>> {
    let attr = module.attr(op, "mesh").filter(|_| module.is(op, &MESH))?;
    Some(mesh_of(module, attr))
}

/// What a sharding of Shardy's means where `user` uses it; none if the attribute is none.
///
/// # Errors
/// When it is wrong, or `dist` cannot say it; the message says why.
pub fn read_shardy(module: &Module, user: OpId, attr: Attr) -> Option<Result<Shardy, String>> {
    match module.attr_data(attr) {
        AttrData::Dialect(dialect) if std::ptr::eq(dialect.def, &SHARDING) => {
            Some(decode(module, user, dialect.params))
        }
        _ => None,
    }
}

/// The shardings of several values, one by one; none if the attribute is something else.
pub fn shardings_per_value(module: &Module, attr: Attr) -> Option<&[Attr]> {
    match module.attr_data(attr) {
        AttrData::Dialect(dialect) if std::ptr::eq(dialect.def, &SHARDING_PER_VALUE) => {
            Some(items(module, dialect.params))
        }
        _ => None,
    }
}

/// Says of `values`, which are to stand for the results of an op that goes, what the op says in `sdy.sharding` of its
/// results: by a constraint before the op for each result of which it says something. The values that hold then.
pub fn keep_shardings(module: &mut Module, op: OpId, values: Vec<ValueId>) -> Vec<ValueId> {
    let Some(attr) = module.attr(op, SDY_SHARDING) else { return values };
    let Some(shardings) = shardings_per_value(module, attr).map(<[Attr]>::to_vec) else { return values };
    let mut kept = values;
    for (value, sharding) in kept.iter_mut().zip(shardings) {
        let ty = module.ty(*value);
        let mut builder = Builder::before(module, op).origin(op);
        let constraint = builder.op(&SHARDING_CONSTRAINT).operand(*value).attr("sharding", sharding);
        let constraint = constraint.result(ty).build();
        *value = module.result(constraint, 0);
    }
    kept
}

/// Says in Shardy's words what `dist` says of meshes, and of arguments and results of functions. What it says of other values
/// goes: XLA does not look at attributes of ops.
///
/// # Errors
/// At partial values that are no sums, which Shardy cannot say.
pub fn to_shardy(module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    let ops: Vec<OpId> = module.walk(module.root()).collect();
    let functions: Vec<OpId> = ops.iter().copied().filter(|&op| module.is(op, &FUNC)).collect();
    for function in functions {
        lists_to_shardy(module, function, &mut found);
    }
    for op in ops {
        if module.is(op, &dist::MESH) {
            mesh_to_shardy(module, op);
        } else if module.attr(op, dist::SHARDING).is_some() {
            module.remove_attr(op, dist::SHARDING);
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn lists_to_shardy(module: &mut Module, function: OpId, found: &mut Vec<Diagnostic>) {
    let (inputs, results) =
        signature(module, function).map_or((0, 0), |of| (of.inputs.len(), of.results.len()));
    let arguments = body(module, function).map_or(Vec::new(), |block| module.arguments(block).to_vec());
    for (list, count) in [(ARGUMENT_ATTRIBUTES, inputs), (RESULT_ATTRIBUTES, results)] {
        let mut dicts: Vec<Attr> =
            module.attr(function, list).map_or(Vec::new(), |list| items(module, list).to_vec());
        if dicts.len() != count {
            continue;
        }
        let mut is_changed = false;
        for (index, dict) in dicts.iter_mut().enumerate() {
            let attr = match list {
                ARGUMENT_ATTRIBUTES => {
                    arguments.get(index).and_then(|&value| dist::sharding_of(module, value))
                }
                _ => dist::result_sharding(module, function, index),
            };
            let Some((op, mesh, sharding)) =
                attr.and_then(|attr| dist::read_sharding(module, function, attr))
            else {
                continue;
            };
            let name = module.symbol_name(op).map_or(String::new(), |name| module.text(name).to_owned());
            match encode(module, &name, &mesh, &sharding) {
                Ok(attr) => {
                    let kept = module.dict(*dict).iter().copied();
                    let is_kept = |name: &str| name != dist::SHARDING && name != SDY_SHARDING;
                    let mut entries: Vec<_> = kept.filter(|&(name, _)| is_kept(module.text(name))).collect();
                    entries.push((module.interner.name(SDY_SHARDING), attr));
                    entries.sort_by(|(a, _), (b, _)| module.text(*a).cmp(module.text(*b)));
                    *dict = module.interner.dict(&entries);
                    is_changed = true;
                }
                Err(reducer) => {
                    let message = format!("a partial {reducer} cannot be said in StableHLO");
                    found.push(module.error(function, &codes::NOT_EXPRESSIBLE, message));
                }
            }
        }
        if is_changed {
            let list_attr = module.interner.attr(AttrData::Array(dicts.into()));
            module.set_attr(function, list, list_attr);
        }
    }
}

fn mesh_to_shardy(module: &mut Module, op: OpId) {
    let (Some(mesh), Some(symbol)) = (dist::mesh(module, op), module.attr(op, SYMBOL_NAME)) else { return };
    let axis = |axis: &tofu_sharding::MeshAxis| {
        let name = module.interner.string(&axis.name);
        let size = module.interner.int(axis.size as i64);
        module.interner.attr(AttrData::Pair(name, size))
    };
    let axes: Vec<Attr> = mesh.axes().iter().map(axis).collect();
    let axes = module.interner.attr(AttrData::Array(axes.into()));
    let fields = [(module.interner.name("axes"), axes)];
    let params = module.interner.dict(&fields);
    let mesh = module.interner.attr(AttrData::Dialect(DialectAttr { def: &MESH_ATTR, params }));
    Builder::before(module, op).origin(op).op(&MESH).attr("mesh", mesh).attr(SYMBOL_NAME, symbol).build();
    module.erase(op);
}

/// As Shardy's attribute; the reducer if it is none of Shardy's.
fn encode(
    module: &mut Module,
    mesh_name: &str,
    mesh: &Mesh,
    sharding: &Sharding,
) -> Result<Attr, &'static str> {
    let unreduced = match &sharding.partial {
        Some(partial) if partial.reducer != Reducer::Sum => return Err(partial.reducer.name()),
        Some(partial) => &partial.axes[..],
        None => &[],
    };
    let mut fields = vec![("mesh", module.interner.symbol(mesh_name))];
    let dims: Vec<Attr> = sharding
        .dims
        .iter()
        .map(|dim| {
            let mut entries = vec![(module.interner.name("axes"), encode_axes(module, mesh, &dim.axes))];
            if dim.open {
                entries.push((module.interner.name("open"), module.interner.attr(AttrData::Unit)));
            }
            module.interner.dict(&entries)
        })
        .collect();
    fields.push(("dims", module.interner.attr(AttrData::Array(dims.into()))));
    for (key, axes) in [("replicated", &sharding.replicated[..]), ("unreduced", unreduced)] {
        if !axes.is_empty() {
            fields.push((key, encode_axes(module, mesh, axes)));
        }
    }
    let fields: Vec<_> = fields.into_iter().map(|(key, value)| (module.interner.name(key), value)).collect();
    let params = module.interner.dict(&fields);
    Ok(module.interner.attr(AttrData::Dialect(DialectAttr { def: &SHARDING, params })))
}

fn encode_axes(module: &mut Module, mesh: &Mesh, axes: &[AxisRef]) -> Attr {
    let axis = |axis: &AxisRef| {
        let name = module.interner.string(&mesh.axes()[axis.axis].name);
        if *axis == mesh.whole(axis.axis) {
            return name;
        }
        let (pre, size) = (module.interner.int(axis.pre as i64), module.interner.int(axis.size as i64));
        let part = module.interner.attr(AttrData::Pair(pre, size));
        module.interner.attr(AttrData::Pair(name, part))
    };
    let axes: Vec<Attr> = axes.iter().map(axis).collect();
    module.interner.attr(AttrData::Array(axes.into()))
}

fn decode(module: &Module, user: OpId, params: Attr) -> Result<Shardy, String> {
    let entry = |name: &str| module.dict_entry(params, name);
    let mesh = entry("mesh").ok_or("it has no mesh")?;
    let (named, mesh) = match module.attr_data(mesh) {
        AttrData::Symbol(path) => {
            let op = module.resolve_symbol(user, path).ok_or("its mesh is not there")?;
            let mesh = dist::mesh(module, op).map(Ok).or_else(|| shardy_mesh(module, op));
            (Some(op), mesh.ok_or("what it names is no mesh")??)
        }
        _ => (None, mesh_of(module, mesh)?),
    };
    let mut sharding = Sharding::default();
    for &dim in items(module, entry("dims").ok_or("it has no dimensions")?) {
        let axes = match module.dict_entry(dim, "axes") {
            Some(axes) => decode_axes(module, &mesh, axes)?,
            None => SmallVec::new(),
        };
        let open = module.dict_entry(dim, "open").is_some();
        sharding.dims.push(DimSharding { axes, open, padded: false });
    }
    if let Some(axes) = entry("replicated") {
        sharding.replicated = decode_axes(module, &mesh, axes)?;
    }
    if let Some(axes) = entry("unreduced") {
        sharding.partial = Some(Partial { reducer: Reducer::Sum, axes: decode_axes(module, &mesh, axes)? });
    }
    Ok(Shardy { named, mesh, sharding })
}

fn decode_axes(module: &Module, mesh: &Mesh, axes: Attr) -> Result<SmallVec<[AxisRef; 2]>, String> {
    let whole = |name: Attr| match module.attr_data(name) {
        AttrData::String(name) => mesh.axis(name).ok_or_else(|| {
            let near = suggest::did_you_mean(name, mesh.axes().iter().map(|axis| &*axis.name));
            format!("its mesh has no axis `{name}`{}", near.map_or(String::new(), |near| format!("; {near}")))
        }),
        _ => Err("an axis has no name".to_owned()),
    };
    let axis = |&axis: &Attr| {
        let AttrData::Pair(name, part) = module.attr_data(axis) else { return whole(axis) };
        let positive = |attr: Attr| match module.attr_data(attr) {
            AttrData::Int(number, _) => u64::try_from(*number).ok().filter(|&number| number > 0),
            _ => None,
        };
        let AttrData::Pair(pre, size) = module.attr_data(*part) else { return whole(*name) };
        match (positive(*pre), positive(*size)) {
            (Some(pre), Some(size)) => Ok(AxisRef { axis: whole(*name)?.axis, pre, size }),
            _ => Err("a part of an axis is no part".to_owned()),
        }
    };
    items(module, axes).iter().map(axis).collect()
}

fn mesh_of(module: &Module, attr: Attr) -> Result<Mesh, String> {
    let AttrData::Dialect(dialect) = module.attr_data(attr) else { return Err("it is no mesh".to_owned()) };
    let axis = |&axis: &Attr| {
        let AttrData::Pair(name, size) = module.attr_data(axis) else { return None };
        match (module.attr_data(*name), module.attr_data(*size)) {
            (AttrData::String(name), AttrData::Int(size, _)) => {
                Some((name.clone(), u64::try_from(*size).unwrap_or(0)))
            }
            _ => None,
        }
    };
    let axes = module.dict_entry(dialect.params, "axes").map_or(&[][..], |axes| items(module, axes));
    let axes: Option<Vec<(Box<str>, u64)>> = axes.iter().map(axis).collect();
    let mesh = Mesh::new(axes.ok_or("its axes are none")?)?;
    let ids = module.dict_entry(dialect.params, "device_ids").map(|ids| module.attr_data(ids));
    match ids {
        Some(AttrData::Ints(ids))
            if mesh.devices() > 1 && !ids.iter().copied().eq(0..mesh.devices() as i64) =>
        {
            Err("its devices are in another order than 0, 1, 2, …".to_owned())
        }
        _ => Ok(mesh),
    }
}

/// The items of an array; an empty one is a list of integers.
fn items(module: &Module, list: Attr) -> &[Attr] {
    match module.attr_data(list) {
        AttrData::Array(items) => items,
        _ => &[],
    }
}

//! Shardy's meshes and shardings in the terms of `dist`, and back.
//!
//! The two agree in what they mean. Shardy knows no padding (extents that axes do not divide are padded without a word) and
//! of partial values only sums, which it calls unreduced. What it has beyond `dist`, priorities, says nothing about how a
//! tensor lies; an order of devices other than 0, 1, 2, … cannot be said in `dist`.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_dialect_dist as dist;
use tofu_dialect_func::{FUNC, body, signature};
use tofu_ir::{
    ARGUMENT_ATTRIBUTES, Attr, AttrData, Builder, DialectAttr, Module, OpId, RESULT_ATTRIBUTES, SYMBOL_NAME,
    ValueId,
};
use tofu_sharding::{AxisRef, DimSharding, Mesh, Partial, Reducer, Sharding};

use crate::constrain::constrain;
use crate::dialect::{
    MESH, MESH_ATTR, SHARDING, SHARDING_CONSTRAINT, SHARDING_PER_VALUE, axis_ref, mesh_axes, mesh_of,
};

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
    let written = module.attr(op, "mesh").filter(|_| module.is(op, &MESH))?;
    let AttrData::Dialect(dialect) = module.attr_data(written) else { return None };
    let mesh = mesh_axes(module, dialect.params);
    Some(mesh.and_then(|mesh| in_order(module, written, &mesh).map(|()| mesh)))
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

/// Says in Shardy's words what `dist` says of meshes, of arguments and results of functions, and of other values: of those by constraints,
/// since XLA does not look at attributes of ops.
///
/// # Errors
/// At partial values that are no sums, which Shardy cannot say.
pub fn to_shardy(module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    let ops: Vec<OpId> = module.walk(module.root()).collect();
    let functions: Vec<OpId> = ops.iter().copied().filter(|&op| module.is(op, &FUNC)).collect();
    for function in functions {
        constrain(module, function);
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
pub(crate) fn encode(
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
    let mesh = mesh_of(module, params, user)?.ok_or("its mesh is not there")?;
    let named = match entry("mesh").map(|mesh| module.attr_data(mesh)) {
        Some(AttrData::Symbol(path)) => module.resolve_symbol(user, path),
        _ => None,
    };
    let written = match named {
        Some(op) => module.attr(op, "mesh"),
        None => entry("mesh"),
    };
    if let Some(written) = written {
        in_order(module, written, &mesh)?;
    }
    let axes = |list: Option<Attr>| -> Result<SmallVec<[AxisRef; 2]>, String> {
        let list = list.map_or(&[][..], |list| items(module, list));
        list.iter().map(|&axis| axis_ref(module, &mesh, axis)).collect()
    };
    let dims = entry("dims").map_or(&[][..], |dims| items(module, dims)).iter().map(|&dim| {
        let open = module.dict_entry(dim, "open").is_some();
        Ok::<_, String>(DimSharding { axes: axes(module.dict_entry(dim, "axes"))?, open, padded: false })
    });
    let unreduced = axes(entry("unreduced"))?;
    let sharding = Sharding {
        dims: dims.collect::<Result<_, _>>()?,
        replicated: axes(entry("replicated"))?,
        partial: (!unreduced.is_empty()).then_some(Partial { reducer: Reducer::Sum, axes: unreduced }),
    };
    Ok(Shardy { named, mesh, sharding })
}

/// Whether the devices of a mesh are in the order that those of `dist` have.
fn in_order(module: &Module, written: Attr, mesh: &Mesh) -> Result<(), String> {
    let AttrData::Dialect(dialect) = module.attr_data(written) else { return Ok(()) };
    let ids = module.dict_entry(dialect.params, "device_ids").map(|ids| module.attr_data(ids));
    match ids {
        Some(AttrData::Ints(ids))
            if mesh.devices() > 1 && !ids.iter().copied().eq(0..mesh.devices() as i64) =>
        {
            Err("the devices of its mesh are in another order than 0, 1, 2, …".to_owned())
        }
        _ => Ok(()),
    }
}

/// The items of an array; an empty one is a list of integers.
pub(crate) fn items(module: &Module, list: Attr) -> &[Attr] {
    match module.attr_data(list) {
        AttrData::Array(items) => items,
        _ => &[],
    }
}

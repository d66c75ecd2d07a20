//! Whether a sharding is one of its mesh and of the tensor that it is said of.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, Span, codes, plural};
use tofu_ir::{Attr, AttrData, AttrTarget, AttrUse, FUNCTION_TYPE, FunctionType, Module, OpId, TypeData};
use tofu_sharding::{AxisRef, DimSharding, Mesh, Partial, Reducer, Sharding};

use super::{MESH, MESH_ATTR, SHARDING, text::items};

/// Whether the parameters of a mesh are those of one.
pub(super) fn verify_mesh(module: &Module, params: Attr) -> Result<(), String> {
    mesh_axes(module, params).map(drop)
}

/// Checks a sharding where it is used.
pub(super) fn verify_sharding(
    module: &Module,
    params: Attr,
    place: &AttrUse<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let of = match place.target {
        AttrTarget::Op if module.result_count(place.op) == 1 => {
            Some(module.value_type(module.result(place.op, 0)))
        }
        AttrTarget::Op if module.operand_count(place.op) == 1 => {
            Some(module.value_type(module.operand(place.op, 0)))
        }
        AttrTarget::Op | AttrTarget::Item(_) => None,
        AttrTarget::Argument(index) => of_function(module, place.op, |ty| &ty.inputs, index),
        AttrTarget::Result(index) => of_function(module, place.op, |ty| &ty.results, index),
    };
    let mut place = *place;
    if let AttrTarget::Argument(index) = place.target {
        place.span = argument_span(module, place.op, index).unwrap_or(place.span);
    }
    report(check(module, params, place.op, of), &place, found);
}

/// The place of an argument of a function with a body.
fn argument_span(module: &Module, function: OpId, index: usize) -> Option<Span> {
    let block = module.entry(module.regions(function).next()?)?;
    Some(module.value_span(*module.arguments(block).get(index)?))
}

/// Checks shardings, one for each of several values, where they are used: those of the results, unless the op calls them
/// those of its inputs.
pub(super) fn verify_shardings(
    module: &Module,
    params: Attr,
    place: &AttrUse<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let (values, kind): (Vec<_>, _) = match place.name {
        "in_shardings" => (module.operands(place.op).collect(), "operand"),
        _ => (module.results(place.op).collect(), "result"),
    };
    let shardings = items(module, Some(params));
    // An op that only has an effect may say on which device, and has nothing to say it of.
    if values.len() != shardings.len() && (values.len(), shardings.len()) != (0, 1) {
        let message = format!(
            "the op has {}, but {} are written for them",
            plural(values.len(), kind),
            plural(shardings.len(), "sharding")
        );
        return report(Err(message), place, found);
    }
    for (index, &sharding) in shardings.iter().enumerate() {
        let AttrData::Dialect(sharding) = module.attr_data(sharding) else { continue };
        if std::ptr::eq(sharding.def, &SHARDING) {
            let of = values.get(index).map(|&value| module.value_type(value));
            report(check(module, sharding.params, place.op, of), place, found);
        }
    }
}

/// Whether lists of axes are of the mesh of a sharding.
pub(super) fn check_axes(module: &Module, user: OpId, sharding: Attr, axes: &[Attr]) -> Result<(), String> {
    let AttrData::Dialect(sharding) = module.attr_data(sharding) else { return Ok(()) };
    let Some(mesh) = mesh_of(module, sharding.params, user)? else { return Ok(()) };
    let axes = axes.iter().map(|&axis| axis_ref(module, &mesh, axis)).collect::<Result<_, _>>()?;
    let all = Sharding { dims: SmallVec::from_elem(DimSharding { axes, ..dimension() }, 1), ..none() };
    all.check_axes(&mesh).map_err(|error| error.to_string())
}

fn report(checked: Result<(), String>, place: &AttrUse<'_>, found: &mut Vec<Diagnostic>) {
    if let Err(message) = checked {
        found.push(Diagnostic::error(&codes::WRONG_SHARDING, place.span, message));
    }
}

fn of_function(
    module: &Module,
    op: OpId,
    list: fn(&FunctionType) -> &[tofu_ir::Type],
    index: usize,
) -> Option<&TypeData> {
    let Some(AttrData::Type(ty)) = module.attr_value(op, FUNCTION_TYPE) else { return None };
    let TypeData::Function(function) = module.type_data(*ty) else { return None };
    list(function).get(index).map(|&ty| module.type_data(ty))
}

fn check(module: &Module, params: Attr, user: OpId, of: Option<&TypeData>) -> Result<(), String> {
    let mesh = mesh_of(module, params, user)?;
    // One device out of several holds all of the tensor: nothing is said of its dimensions.
    if mesh.as_ref().is_some_and(|mesh| mesh.axes().is_empty()) {
        return Ok(());
    }
    let dims = items(module, module.dict_entry(params, "dims"));
    if let Some(TypeData::Tensor(tensor)) = of
        && tensor.rank() != dims.len()
    {
        let (dims, rank) = (plural(dims.len(), "dimension"), tensor.rank());
        return Err(format!("the sharding has {dims}, but the tensor {rank}"));
    }
    let Some(mesh) = mesh else { return Ok(()) };
    let axes = |list: Option<Attr>| -> Result<SmallVec<[AxisRef; 2]>, String> {
        items(module, list).iter().map(|&axis| axis_ref(module, &mesh, axis)).collect()
    };
    let dims = dims.iter().map(|&dim| {
        Ok::<_, String>(DimSharding { axes: axes(module.dict_entry(dim, "axes"))?, ..dimension() })
    });
    let unreduced = axes(module.dict_entry(params, "unreduced"))?;
    let sharding = Sharding {
        dims: dims.collect::<Result<_, _>>()?,
        replicated: axes(module.dict_entry(params, "replicated"))?,
        partial: (!unreduced.is_empty()).then_some(Partial { reducer: Reducer::Sum, axes: unreduced }),
    };
    sharding.check_axes(&mesh).map_err(|error| error.to_string())
}

fn dimension() -> DimSharding {
    DimSharding { axes: SmallVec::new(), open: false, padded: false }
}

fn none() -> Sharding {
    Sharding { dims: SmallVec::new(), replicated: SmallVec::new(), partial: None }
}

/// The mesh of a sharding; none if it could not be read.
pub(crate) fn mesh_of(module: &Module, params: Attr, user: OpId) -> Result<Option<Mesh>, String> {
    let Some(written) = module.dict_entry(params, "mesh") else { return Ok(None) };
    let attr = match module.attr_data(written) {
        AttrData::Symbol(path) => {
            let Some(op) = module.resolve_symbol(user, path) else { return Ok(None) };
            // Once a program is planned, its mesh is one of `dist`, and what it said of single values stays.
            if let Some(mesh) = tofu_dialect_dist::mesh(module, op) {
                return Ok(Some(mesh));
            }
            if !module.is(op, &MESH) {
                return Err(format!("`{}` is no mesh", module.display_attr(written)));
            }
            let Some(attr) = module.attr(op, "mesh") else { return Ok(None) };
            attr
        }
        _ => written,
    };
    match module.attr_data(attr) {
        AttrData::Dialect(dialect) if std::ptr::eq(dialect.def, &MESH_ATTR) => {
            mesh_axes(module, dialect.params).map(Some)
        }
        _ => Ok(None),
    }
}

/// The axes of a mesh.
pub(crate) fn mesh_axes(module: &Module, params: Attr) -> Result<Mesh, String> {
    let axes = items(module, module.dict_entry(params, "axes"));
    let axes = axes.iter().filter_map(|&axis| {
        let AttrData::Pair(name, size) = module.attr_data(axis) else { return None };
        match (module.attr_data(*name), module.attr_data(*size)) {
            (AttrData::String(name), AttrData::Int(size, _)) => {
                Some((&**name, u64::try_from(*size).unwrap_or(0)))
            }
            _ => None,
        }
    });
    Mesh::new(axes)
}

/// An axis of a mesh, or a part of one.
pub(crate) fn axis_ref(module: &Module, mesh: &Mesh, axis: Attr) -> Result<AxisRef, String> {
    let (name, part) = match module.attr_data(axis) {
        AttrData::Pair(name, part) => (*name, Some(*part)),
        _ => (axis, None),
    };
    let AttrData::String(name) = module.attr_data(name) else {
        return Err(format!("an axis is a string, not `{}`", module.display_attr(name)));
    };
    let no_such = || format!("the mesh has no axis `{name}`");
    let whole = mesh.axis(name).ok_or_else(no_such)?;
    let Some(part) = part else { return Ok(whole) };
    let AttrData::Pair(pre, size) = module.attr_data(part) else { return Err(no_such()) };
    let number = |attr: &Attr| match module.attr_data(*attr) {
        AttrData::Int(value, _) => u64::try_from(*value).unwrap_or(0),
        _ => 0,
    };
    Ok(AxisRef { pre: number(pre), size: number(size), ..whole })
}

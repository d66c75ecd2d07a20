//! Where the shardings of values stand, and the check that they fit them.

use rustc_hash::FxHashMap;
use tofu_diagnostics::{Diagnostic, codes, plural, suggest};
use tofu_ir::{
    ARGUMENT_ATTRIBUTES, Attr, AttrData, AttrTarget, AttrUse, Definition, FUNCTION_TYPE, FunctionType,
    Module, OpId, RESULT_ATTRIBUTES, TypeData, ValueId,
};
use tofu_sharding::{Mesh, Sharding};

use crate::items;
use crate::sharding::{Problem, resolve};
use crate::spmd::{global, local_dims};

/// The attribute that holds the sharding of a value.
pub const SHARDING: &str = "dist.sharding";

/// The attribute of the sharding of a value, if there is one.
pub fn sharding_of(module: &Module, value: ValueId) -> Option<Attr> {
    match module.definition(value) {
        Definition::Result { op, index } => {
            let attr = module.attr(op, SHARDING)?;
            let attr =
                if module.result_count(op) == 1 { attr } else { *items(module, attr).get(index as usize)? };
            Some(attr).filter(|&attr| !matches!(module.attr_data(attr), AttrData::Unit))
        }
        Definition::Argument { .. } => {
            let (function, index) = function_argument(module, value)?;
            listed(module, function, ARGUMENT_ATTRIBUTES, index)
        }
        Definition::None => None,
    }
}

/// Sets the sharding of a value, or takes it away. Says whether the value can have one: results of ops and arguments of
/// functions can, other arguments of blocks cannot.
pub fn set_sharding(module: &mut Module, value: ValueId, sharding: Option<Attr>) -> bool {
    let Some((op, side, index)) = place_of(module, value) else { return false };
    set_at(module, op, side, &[(index, sharding)]);
    true
}

/// Sets the shardings of many values, or takes them away: a list of shardings is made once, and not for each of its items.
/// Values that cannot have one are left out.
pub fn set_shardings(module: &mut Module, shardings: impl IntoIterator<Item = (ValueId, Option<Attr>)>) {
    let mut known: FxHashMap<(OpId, Side), usize> = FxHashMap::default();
    let mut all: Vec<(OpId, Side, Vec<Entry>)> = Vec::new();
    for (value, sharding) in shardings {
        let Some((op, side, index)) = place_of(module, value) else { continue };
        let number = *known.entry((op, side)).or_insert(all.len());
        if number == all.len() {
            all.push((op, side, Vec::new()));
        }
        all[number].2.push((index, sharding));
    }
    for (op, side, entries) in all {
        set_at(module, op, side, &entries);
    }
}

/// The number of a result or an argument, and what it gets; none takes away what it had.
pub type Entry = (usize, Option<Attr>);

/// Of what an op says the shardings.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    Results,
    /// Those of a function, in its body.
    Arguments,
}

/// The op that says the sharding of a value, and the value's number there.
fn place_of(module: &Module, value: ValueId) -> Option<(OpId, Side, usize)> {
    match module.definition(value) {
        Definition::Result { op, index } => Some((op, Side::Results, index as usize)),
        Definition::Argument { .. } => {
            function_argument(module, value).map(|(function, index)| (function, Side::Arguments, index))
        }
        Definition::None => None,
    }
}

fn set_at(module: &mut Module, op: OpId, side: Side, entries: &[Entry]) {
    if side == Side::Arguments {
        return set_listed(module, op, ARGUMENT_ATTRIBUTES, SHARDING, entries);
    }
    let attr = match module.result_count(op) {
        1 => entries.last().and_then(|&(_, sharding)| sharding),
        count => {
            let unit = module.interner.attr(AttrData::Unit);
            let mut all = vec![unit; count];
            if let Some(before) = module.attr(op, SHARDING) {
                all.iter_mut().zip(items(module, before)).for_each(|(item, &before)| *item = before);
            }
            for &(index, sharding) in entries {
                all[index] = sharding.unwrap_or(unit);
            }
            let says_something = all.iter().any(|&item| item != unit);
            says_something.then(|| module.interner.attr(AttrData::Array(all.into())))
        }
    };
    match attr {
        Some(attr) => module.set_attr(op, SHARDING, attr),
        None => module.remove_attr(op, SHARDING),
    }
}

/// The attribute of the sharding of a function's result, if there is one.
pub fn result_sharding(module: &Module, function: OpId, index: usize) -> Option<Attr> {
    listed(module, function, RESULT_ATTRIBUTES, index)
}

/// Sets the sharding of a function's result, or takes it away.
pub fn set_result_sharding(module: &mut Module, function: OpId, index: usize, sharding: Option<Attr>) {
    set_result_shardings(module, function, &[(index, sharding)]);
}

/// Sets the shardings of results of a function, by their numbers, or takes them away.
pub fn set_result_shardings(module: &mut Module, function: OpId, shardings: &[Entry]) {
    set_listed(module, function, RESULT_ATTRIBUTES, SHARDING, shardings);
}

/// Checks a sharding where it is used.
pub(crate) fn verify(module: &Module, params: Attr, place: &AttrUse<'_>, found: &mut Vec<Diagnostic>) {
    if let Err(problem) = check(module, params, place) {
        found.push(Diagnostic::error(problem.code, place.span, problem.message).maybe_help(problem.help));
    }
}

fn check(module: &Module, params: Attr, place: &AttrUse<'_>) -> Result<(), Problem> {
    let wrong = |message: String| Problem { code: &codes::WRONG_SHARDING, message, help: None };
    let resolved = resolve(module, place.op, params)?;
    // An attribute that the op itself declares is for the op to check.
    let is_of_op = matches!(place.target, AttrTarget::Op | AttrTarget::Item(_));
    if is_of_op && module.def(place.op).attribute(place.name).is_some() {
        return Ok(());
    }
    if place.name != SHARDING {
        let help = suggest::did_you_mean(place.name, [SHARDING]);
        let message = format!("the sharding of a value stands in `{SHARDING}`, not in `{}`", place.name);
        return Err(Problem { help, ..wrong(message) });
    }
    let results = module.result_count(place.op);
    let ty = match place.target {
        AttrTarget::Op if results == 1 => Some(module.value_type(module.result(place.op, 0))),
        AttrTarget::Op if results == 0 => {
            let name = module.def(place.op).written_name();
            return Err(wrong(format!("`{name}` has no results, but a sharding")));
        }
        AttrTarget::Op => {
            let name = module.def(place.op).written_name();
            let message =
                format!("`{name}` has {}: a list of shardings is needed", plural(results, "result"));
            return Err(wrong(message));
        }
        AttrTarget::Item(index) => {
            let listed = module.attr(place.op, SHARDING).map_or(0, |attr| items(module, attr).len());
            let (name, counted) = (module.def(place.op).written_name(), plural(results, "result"));
            if results == 1 {
                return Err(wrong(format!("`{name}` has {counted}, whose sharding stands in no list")));
            }
            if listed != results {
                return Err(wrong(format!("`{name}` has {counted}, but {}", plural(listed, "sharding"))));
            }
            Some(module.value_type(module.result(place.op, index)))
        }
        AttrTarget::Argument(index) => {
            let function = function_type(module, place.op);
            function.and_then(|function| function.inputs.get(index)).map(|&ty| module.type_data(ty))
        }
        AttrTarget::Result(index) => {
            let function = function_type(module, place.op);
            function.and_then(|function| function.results.get(index)).map(|&ty| module.type_data(ty))
        }
    };
    let part_of = match place.target {
        AttrTarget::Argument(index) => global(module, place.op, ARGUMENT_ATTRIBUTES, index),
        AttrTarget::Result(index) => global(module, place.op, RESULT_ATTRIBUTES, index),
        AttrTarget::Op | AttrTarget::Item(_) => None,
    };
    match (ty, resolved) {
        (Some(TypeData::Tensor(tensor)), Some((_, mesh, sharding))) => {
            if let Some(whole) = part_of {
                let shape: Vec<Option<u64>> = whole.dims.iter().map(|dim| dim.size()).collect();
                fits(&mesh, &sharding, &shape)?;
                let (held, own) = (local_dims(whole, &sharding), tensor.static_dims());
                if held != own || whole.element != tensor.element {
                    let (part, whole) = (tensor.clone(), whole.clone());
                    let [part, whole] =
                        [part, whole].map(|ty| module.type_data_text(&TypeData::Tensor(ty)).to_string());
                    return Err(wrong(format!("a `{part}` is not what a device holds of a `{whole}`")));
                }
                return Ok(());
            }
            let shape: Vec<Option<u64>> = tensor.dims.iter().map(|dim| dim.size()).collect();
            fits(&mesh, &sharding, &shape)
        }
        (Some(TypeData::Tensor(_)) | None, _) => Ok(()),
        (Some(other), _) => {
            Err(wrong(format!("a `{}` is no tensor and has no sharding", module.type_data_text(other))))
        }
    }
}

fn fits(mesh: &Mesh, sharding: &Sharding, shape: &[Option<u64>]) -> Result<(), Problem> {
    sharding.check(mesh, shape).map_err(Problem::from)
}

/// The function whose argument a value is, and which one.
fn function_argument(module: &Module, value: ValueId) -> Option<(OpId, usize)> {
    let Definition::Argument { block, index } = module.definition(value) else { return None };
    let region = module.region_of(block)?;
    let function = module.op_of(region);
    function_type(module, function)?;
    let is_entry = module.entry(region) == Some(block);
    is_entry.then_some((function, index as usize))
}

fn function_type(module: &Module, op: OpId) -> Option<&FunctionType> {
    match module.attr_value(op, FUNCTION_TYPE)? {
        AttrData::Type(ty) => match module.type_data(*ty) {
            TypeData::Function(function) => Some(function),
            _ => None,
        },
        _ => None,
    }
}

fn listed(module: &Module, function: OpId, list: &str, index: usize) -> Option<Attr> {
    let dict = *items(module, module.attr(function, list)?).get(index)?;
    module.dict_entry(dict, SHARDING)
}

/// Sets an attribute of arguments or results, by their numbers, or takes it away.
pub(crate) fn set_listed(module: &mut Module, function: OpId, list: &str, name: &str, attrs: &[Entry]) {
    let count = match (function_type(module, function), list) {
        (Some(function), ARGUMENT_ATTRIBUTES) => function.inputs.len(),
        (Some(function), _) => function.results.len(),
        (None, _) => return,
    };
    let empty = module.interner.empty_dict();
    let mut dicts = vec![empty; count];
    if let Some(before) = module.attr(function, list) {
        dicts.iter_mut().zip(items(module, before)).for_each(|(dict, &before)| *dict = before);
    }
    let key = module.interner.name(name);
    for &(index, attr) in attrs {
        let Some(dict) = dicts.get_mut(index) else { continue };
        let mut entries = module.dict(*dict).to_vec();
        entries.retain(|&(name, _)| name != key);
        entries.extend(attr.map(|attr| (key, attr)));
        *dict = module.interner.dict(&entries);
    }
    if dicts.iter().all(|&dict| dict == empty) {
        module.remove_attr(function, list);
    } else {
        let dicts = module.interner.attr(AttrData::Array(dicts.into()));
        module.set_attr(function, list, dicts);
    }
}

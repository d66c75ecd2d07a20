//! What devices do together in a program that is written for each device.
//!
//! Such an op is done by all devices, each with a buffer of its own. Conversions say how the tensor lies before and after, on the mesh
//! and over the dimensions of the buffers:
//!
//! ```text
//! %y = dist.all_gather %x {from = #dist.sharding<@m, [{x}]>, to = #dist.sharding<@m, [{}]>} : tensor<8xf32>
//! ```
//!
//! Shares that are not even are padded; where a dimension becomes whole, the padding is cut off, so that the extents of the
//! result are written.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{
    Attr, AttrClass, AttrData, Builder, ElementType, INT, Module, OpDef, OpId, TensorType, Trait, Type,
    TypeData, ValueId, op, required, tensor,
};
use tofu_sharding::{Action, Axes, AxisRef, Communicate, Communication, Kind, Mesh, Move, Reducer, Sharding};

use crate::sharding::{SHARDING_ATTR, read_sharding, sharding_attr};

/// The attribute that says how a tensor lies before a conversion.
pub const FROM: &str = "from";
/// The attribute that says how it lies after it.
pub const TO: &str = "to";
/// The attribute that says how a tensor lies of which something is fetched, or along which axes devices are counted.
pub const OF: &str = "of";

const IS_SHARDING: AttrClass =
    AttrClass { name: "a sharding (`#dist.sharding<@m, [{x}]>`)", contains: is_sharding };

/// Whether an attribute is a sharding.
pub(crate) fn is_sharding(module: &Module, attr: Attr) -> bool {
    matches!(module.attr_data(attr), AttrData::Dialect(dialect) if std::ptr::eq(dialect.def, &SHARDING_ATTR))
}

macro_rules! conversions {
    ($($(#[$doc:meta])* $name:ident = $op:literal, $summary:literal, $operand:literal: $from:literal => $to:literal, $result:literal;)*) => {
        $(
            $(#[$doc])*
            pub static $name: OpDef = op($op)
                .summary($summary)
                .example(concat!(
                    "dist.mesh @m = [x = 2, y = 2]\nfunc @f(%x: ", $operand, ") -> ", $result, " {\n  %y = ", $op,
                    " %x {from = #dist.sharding<@m, ", $from, ">, to = #dist.sharding<@m, ", $to, ">} : ", $result,
                    "\n  return %y\n}"
                ))
                .operands(&[tensor("x")])
                .results(&[tensor("y")])
                .attributes(&[required(FROM, IS_SHARDING), required(TO, IS_SHARDING)])
                .traits(&[Trait::Local, Trait::Pure])
                .verify(verify_conversion)
                .interfaces(&[&Communicate(communication)]);
        )*
    };
}

conversions! {
    /// `dist.all_gather`: split → replicated.
    ALL_GATHER = "dist.all_gather",
        "Puts the shares of dimensions together, on all devices along the axes that split them.",
        "tensor<4xf32>": "[{x}]" => "[{}]", "tensor<8xf32>";
    /// `dist.all_slice`: replicated → split.
    ALL_SLICE = "dist.all_slice",
        "Each device keeps its share of dimensions; nothing is sent.",
        "tensor<8xf32>": "[{}]" => "[{x}]", "tensor<4xf32>";
    /// `dist.all_reduce`: partial → replicated.
    ALL_REDUCE = "dist.all_reduce",
        "Reduces the terms that devices hold; all of them get the whole.",
        "tensor<8xf32>": "[{}], partial = sum {x}" => "[{}]", "tensor<8xf32>";
    /// `dist.reduce_scatter`: partial → split.
    REDUCE_SCATTER = "dist.reduce_scatter",
        "Reduces the terms that devices hold; each of them gets its share.",
        "tensor<8xf32>": "[{}], partial = sum {x}" => "[{x}]", "tensor<4xf32>";
    /// `dist.all_to_all`: split on one dimension → split on another.
    ALL_TO_ALL = "dist.all_to_all",
        "Puts the shares of one dimension together, while each device keeps its share of another.",
        "tensor<4x8xf32>": "[{x}, {}]" => "[{}, {x}]", "tensor<8x4xf32>";
    /// `dist.permute`: the same shares on other devices.
    PERMUTE = "dist.permute",
        "Moves shares to other devices: those that hold them by another order of the axes.",
        "tensor<2xf32>": "[{x, y}]" => "[{y, x}]", "tensor<2xf32>";
    /// `dist.to_partial`: whole, or shares → terms.
    TO_PARTIAL = "dist.to_partial",
        "Makes terms: the reducer's neutral elements take the place of what other devices hold; nothing is sent.",
        "tensor<8xf32>": "[{}]" => "[{}], partial = sum {x}", "tensor<8xf32>";
}

/// `dist.fetch`: any range of a dimension, from whoever holds it.
pub static FETCH: OpDef = op("dist.fetch")
    .summary(
        "Each device gets a range of a dimension that is split: from `start` on for the first one, and `step` further for each \
         next one; 0 outside of the `extent` elements that there are.",
    )
    .example(
        "dist.mesh @m = [x = 2]\nfunc @f(%x: tensor<4xf32>) -> tensor<5xf32> {\n  %y = dist.fetch %x {dim = 0, extent = 8, of = \
         #dist.sharding<@m, [{x}]>, start = -1, step = 3} : tensor<5xf32>\n  return %y\n}",
    )
    .operands(&[tensor("x")])
    .results(&[tensor("y")])
    .attributes(&[
        required("dim", INT),
        required("extent", INT),
        required(OF, IS_SHARDING),
        required("start", INT),
        required("step", INT),
    ])
    .traits(&[Trait::Local, Trait::Pure])
    .verify(verify_fetch)
    .interfaces(&[&Communicate(communication)]);

/// `dist.halo_exchange`: shares grow by what neighbours hold.
pub static HALO_EXCHANGE: OpDef = op("dist.halo_exchange")
    .summary(
        "Shares of a dimension grow by `low` elements before and `high` after them, from neighbours; 0 outside of the `extent` \
         elements that there are.",
    )
    .example(
        "dist.mesh @m = [x = 2]\nfunc @f(%x: tensor<4xf32>) -> tensor<6xf32> {\n  %y = dist.halo_exchange %x {dim = 0, extent = 8, \
         high = 1, low = 1, of = #dist.sharding<@m, [{x}]>} : tensor<6xf32>\n  return %y\n}",
    )
    .operands(&[tensor("x")])
    .results(&[tensor("y")])
    .attributes(&[
        required("dim", INT),
        required("extent", INT),
        required("high", INT),
        required("low", INT),
        required(OF, IS_SHARDING),
    ])
    .traits(&[Trait::Local, Trait::Pure])
    .verify(verify_fetch)
    .interfaces(&[&Communicate(communication)]);

/// `dist.axis_index`: which device this is.
pub static AXIS_INDEX: OpDef = op("dist.axis_index")
    .summary("The coordinate of the device along the axes that split the one dimension of `of`, the first axis the major one.")
    .example(
        "dist.mesh @m = [x = 2]\nfunc @f() -> tensor<i32> {\n  %i = dist.axis_index {of = #dist.sharding<@m, [{x}]>}\n  return %i\n}",
    )
    .results(&[tensor("index")])
    .attributes(&[required(OF, IS_SHARDING)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(|_, _| Ok(vec![TypeData::Tensor(TensorType::of(&[], ElementType::I32))]))
    .interfaces(&[&Communicate(communication)]);

/// Adds the op of one step of a conversion, from a tensor that lies like `from`; its result, and how that lies.
pub fn build_move(
    builder: &mut Builder<'_>,
    (name, mesh): (&str, &Mesh),
    value: ValueId,
    from: &Sharding,
    step: &Move,
) -> (ValueId, Sharding) {
    let def = match step.action {
        Action::Slice(_) => &ALL_SLICE,
        Action::Gather(_) => &ALL_GATHER,
        Action::Reduce(..) => &ALL_REDUCE,
        Action::Scatter(..) => &REDUCE_SCATTER,
        Action::Exchange(..) => &ALL_TO_ALL,
        Action::Permute(_) => &PERMUTE,
        Action::Term(..) | Action::Embed(..) => &TO_PARTIAL,
    };
    let to = step.sharding(mesh);
    let attrs = [from, &to].map(|sharding| sharding_attr(builder.module, name, mesh, sharding));
    let ty = local_type(builder.module, value, &step.local);
    let op = builder.op(def).operand(value).attr(FROM, attrs[0]).attr(TO, attrs[1]).result(ty).build();
    (builder.module.result(op, 0), to)
}

/// What each device gets of a dimension of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The dimension.
    pub dim: usize,
    /// The first element of the first device.
    pub start: i64,
    /// From one device to the next.
    pub step: i64,
    /// How many elements each device gets.
    pub size: u64,
    /// How many there are.
    pub extent: u64,
}

/// Adds a [`HALO_EXCHANGE`] or, where shares do not just grow, a [`FETCH`], from a tensor that lies like `of`.
pub fn build_fetch(
    builder: &mut Builder<'_>,
    (name, mesh): (&str, &Mesh),
    value: ValueId,
    of: &Sharding,
    range: Range,
) -> ValueId {
    let mut dims: SmallVec<[u64; 4]> =
        builder.module.tensor_type(value).and_then(TensorType::static_dims).unwrap_or_default();
    let share = dims.get(range.dim).map_or(0, |&share| share as i64);
    if let Some(dim) = dims.get_mut(range.dim) {
        *dim = range.size;
    }
    let of = sharding_attr(builder.module, name, mesh, of);
    let ty = local_type(builder.module, value, &dims);
    let int = |builder: &mut Builder<'_>, value: i64| builder.module.interner.int(value);
    let (dim, extent) = (int(builder, range.dim as i64), int(builder, range.extent as i64));
    let (low, high) = (-range.start, range.start + range.size as i64 - share);
    let grows = range.step == share && low >= 0 && high >= 0;
    let op = if grows {
        let (low, high) = (int(builder, low), int(builder, high));
        let op = builder.op(&HALO_EXCHANGE).operand(value).attr("dim", dim).attr("extent", extent);
        op.attr("high", high).attr("low", low).attr(OF, of).result(ty).build()
    } else {
        let (start, step) = (int(builder, range.start), int(builder, range.step));
        let op = builder.op(&FETCH).operand(value).attr("dim", dim).attr("extent", extent);
        op.attr(OF, of).attr("start", start).attr("step", step).result(ty).build()
    };
    builder.module.result(op, 0)
}

/// Adds an [`AXIS_INDEX`] of these axes, of which the first is the major one.
pub fn build_axis_index(builder: &mut Builder<'_>, (name, mesh): (&str, &Mesh), axes: &[AxisRef]) -> ValueId {
    let sharding = axes.iter().fold(Sharding::replicated(1), |sharding, &axis| sharding.split(0, axis));
    let of = sharding_attr(builder.module, name, mesh, &sharding);
    let ty = builder.module.interner.tensor(&[], ElementType::I32);
    let op = builder.op(&AXIS_INDEX).attr(OF, of).result(ty).build();
    builder.module.result(op, 0)
}

fn local_type(module: &mut Module, value: ValueId, dims: &[u64]) -> Type {
    let element = module.tensor_type(value).map_or(ElementType::F32, |ty| ty.element);
    module.interner.tensor(dims, element)
}

/// What an op of this file does.
fn communication(module: &Module, op: OpId) -> Option<Communication> {
    let sharding = |name: &str| read_sharding(module, op, module.attr(op, name)?);
    let int = |name: &str| match module.attr_value(op, name) {
        Some(&AttrData::Int(value, _)) => i64::try_from(value).ok(),
        _ => None,
    };
    if module.is(op, &AXIS_INDEX) {
        let (_, mesh, of) = sharding(OF)?;
        let axes = whole(&mesh, &of.dims.first()?.axes)?;
        return Some(Communication { mesh, kind: Kind::Index(axes) });
    }
    if module.is(op, &FETCH) || module.is(op, &HALO_EXCHANGE) {
        let (_, mesh, of) = sharding(OF)?;
        let dim = usize::try_from(int("dim")?).ok()?;
        let axes = whole(&mesh, &of.dims.get(dim)?.axes)?;
        let extent = u64::try_from(int("extent")?).ok()?;
        let (start, step) = if module.is(op, &FETCH) {
            (int("start")?, int("step")?)
        } else {
            let ty = module.tensor_type(module.operand(op, 0))?;
            (int("low")?.checked_neg()?, i64::try_from(ty.dims.get(dim)?.size()?).ok()?)
        };
        return Some(Communication { mesh, kind: Kind::Fetch { dim, axes, start, step, extent } });
    }
    let ((_, mesh, from), (_, other, to)) = (sharding(FROM)?, sharding(TO)?);
    let action = action_of(module.def(op), &mesh, &from, &to).filter(|_| mesh == other)?;
    Some(Communication { mesh, kind: Kind::Convert(action) })
}

fn whole(mesh: &Mesh, axes: &[AxisRef]) -> Option<Axes> {
    axes.iter()
        .map(|&axis| if axis == mesh.whole(axis.axis) { u8::try_from(axis.axis).ok() } else { None })
        .collect()
}

/// What brings a tensor from one sharding to another in one step, if an op of this kind does.
pub(crate) fn action_of(def: &OpDef, mesh: &Mesh, from: &Sharding, to: &Sharding) -> Option<Action> {
    if from.dims.len() != to.dims.len() {
        return None;
    }
    let before = from.dims.iter().map(|dim| whole(mesh, &dim.axes)).collect::<Option<Vec<Axes>>>()?;
    let after = to.dims.iter().map(|dim| whole(mesh, &dim.axes)).collect::<Option<Vec<Axes>>>()?;
    let terms = |sharding: &Sharding| match &sharding.partial {
        Some(partial) => Some((Some(partial.reducer), whole(mesh, &partial.axes)?)),
        None => Some((None, Axes::new())),
    };
    let ((reducer, partial), (next_reducer, next_partial)) = (terms(from)?, terms(to)?);
    // The minor axes of dimensions that are only in the one of the two.
    let more = |longer: &[Axes], shorter: &[Axes]| -> Option<Vec<(usize, Axes)>> {
        let each = longer.iter().zip(shorter).enumerate();
        let each = each.map(|(dim, (longer, shorter))| {
            longer.strip_prefix(&shorter[..]).map(|minor| (dim, Axes::from_slice(minor)))
        });
        let all: Vec<(usize, Axes)> = each.collect::<Option<_>>()?;
        Some(all.into_iter().filter(|(_, axes)| !axes.is_empty()).collect())
    };
    let same_terms = reducer == next_reducer && partial == next_partial;
    let less = |all: &Axes, left: &Axes| -> Axes {
        all.iter().copied().filter(|axis| !left.contains(axis)).collect()
    };
    let all_of = |dims: &[(usize, Axes)]| -> Axes {
        let mut all: Axes = dims.iter().flat_map(|(_, axes)| axes.iter().copied()).collect();
        all.sort_unstable();
        all
    };
    let is = |other: &'static OpDef| std::ptr::eq(def, other);
    // Of partial values, what becomes whole is left out, and nothing else changes.
    let fewer = |all: &Axes, left: &Axes| left.iter().all(|axis| all.contains(axis));
    let reduces = |reducer: Option<Reducer>| {
        let stays = next_reducer.is_none_or(|next| Some(next) == reducer);
        reducer.filter(|_| stays && fewer(&partial, &next_partial))
    };
    if is(&ALL_GATHER) && same_terms {
        more(&before, &after).map(Action::Gather)
    } else if is(&ALL_SLICE) && same_terms {
        more(&after, &before).map(Action::Slice)
    } else if is(&ALL_REDUCE) && before == after {
        Some(Action::Reduce(reduces(reducer)?, less(&partial, &next_partial)))
    } else if is(&REDUCE_SCATTER) {
        let dims = more(&after, &before)?;
        let gone = less(&partial, &next_partial);
        (all_of(&dims) == gone).then_some(Action::Scatter(reduces(reducer)?, dims))
    } else if is(&ALL_TO_ALL) && same_terms {
        exchange(&before, &after)
    } else if is(&PERMUTE) && same_terms {
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after);
        let changed: Vec<(Axes, Axes)> = changed.map(|(a, b)| (a.clone(), b.clone())).collect();
        let all = |list: fn(&(Axes, Axes)) -> &Axes| {
            let mut all: Axes = changed.iter().flat_map(|change| list(change).iter().copied()).collect();
            all.sort_unstable();
            all
        };
        let size = |axes: &Axes| mesh.devices_along(axes);
        let is_even = changed.iter().all(|(before, after)| size(before) == size(after));
        (is_even && all(|change| &change.0) == all(|change| &change.1)).then_some(Action::Permute(changed))
    } else if is(&TO_PARTIAL) {
        let stays = reducer.is_none_or(|before| Some(before) == next_reducer);
        let reducer = next_reducer.filter(|_| stays && fewer(&next_partial, &partial))?;
        let come = less(&next_partial, &partial);
        match &more(&before, &after)?[..] {
            [] => Some(Action::Term(reducer, come)),
            [(dim, axes)] if all_of(&[(*dim, axes.clone())]) == come => {
                Some(Action::Embed(reducer, *dim, axes.clone()))
            }
            _ => None,
        }
    } else {
        None
    }
}

/// Which axes leave dimensions, as minor ones, and come to others.
fn exchange(before: &[Axes], after: &[Axes]) -> Option<Action> {
    let differ = |all: &[Axes], others: &[Axes]| -> Vec<(usize, Axes)> {
        let each = all.iter().zip(others).enumerate().map(|(dim, (axes, other))| {
            let kept = axes.iter().zip(other).take_while(|(a, b)| a == b).count();
            (dim, Axes::from_slice(&axes[kept..]))
        });
        each.filter(|(_, axes)| !axes.is_empty()).collect()
    };
    let (gone, come) = (differ(before, after), differ(after, before));
    let all = |dims: &[(usize, Axes)]| -> Axes {
        let mut all: Axes = dims.iter().flat_map(|(_, axes)| axes.iter().copied()).collect();
        all.sort_unstable();
        all
    };
    let is_disjoint = gone.iter().all(|(dim, _)| come.iter().all(|(other, _)| dim != other));
    (is_disjoint && all(&gone) == all(&come)).then_some(Action::Exchange(gone, come))
}

fn verify_conversion(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let name = module.def(op).written_name();
    let Some(Communication { mesh, kind: Kind::Convert(action) }) = communication(module, op) else {
        let message = format!("`{name}` does not lead from the one sharding to the other");
        let help =
            "axes leave a dimension as its minor ones, and come as minor ones; nothing else may change";
        found.push(module.error(op, &codes::WRONG_SHARDING, message).help(help));
        return;
    };
    verify_part(module, op, 0, (&mesh, &action, module.attr(op, FROM)), found);
}

/// Checks the types of operand and result number `index` of a conversion from a sharding.
pub(crate) fn verify_part(
    module: &Module,
    op: OpId,
    index: usize,
    (mesh, action, from): (&Mesh, &Action, Option<Attr>),
    found: &mut Vec<Diagnostic>,
) {
    let name = module.def(op).written_name();
    let (before, after) =
        (module.tensor_type(module.operand(op, index)), module.tensor_type(module.result(op, index)));
    let (Some(before), Some(after)) = (before, after) else { return };
    let sharding = from.and_then(|from| read_sharding(module, op, from));
    let (Some(from), Some(to)) = (before.static_dims(), after.static_dims()) else { return };
    let rank = sharding.map_or(from.len(), |(_, _, sharding)| sharding.dims.len());
    if rank != from.len() || from.len() != to.len() || before.element != after.element {
        let message = format!(
            "`{name}` gives a tensor of the same rank and element type as its operand, and as its shardings"
        );
        found.push(module.error(op, &codes::WRONG_RESULT_TYPE, message));
        return;
    }
    let size = |axes: &Axes| mesh.devices_along(axes);
    let change = |dim: usize| -> (u64, u64) {
        let of = |dims: &[(usize, Axes)]| {
            dims.iter().filter(|(other, _)| *other == dim).map(|(_, axes)| size(axes)).product::<u64>()
        };
        match action {
            Action::Gather(dims) => (of(dims), 1),
            Action::Slice(dims) | Action::Scatter(_, dims) => (1, of(dims)),
            Action::Embed(_, other, axes) if *other == dim => (size(axes), 1),
            Action::Exchange(gone, come) => (of(gone), of(come)),
            _ => (1, 1),
        }
    };
    for (dim, (&own, &given)) in from.iter().zip(&to).enumerate() {
        let (more, less) = change(dim);
        let largest = own.saturating_mul(more).div_ceil(less);
        // Padding that is cut off is less than a share for each device.
        let fits = if more > 1 {
            given <= largest && given.saturating_add(own.saturating_mul(more - 1)) >= largest
        } else {
            given == largest
        };
        if !fits {
            let message = format!(
                "dimension {dim} has {own} elements on each device, of which come {largest}, not {given}"
            );
            found.push(module.error(op, &codes::WRONG_RESULT_TYPE, message));
        }
    }
}

fn verify_fetch(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let (before, after) =
        (module.tensor_type(module.operand(op, 0)), module.tensor_type(module.result(op, 0)));
    let (Some(before), Some(after)) = (before, after) else { return };
    let name = module.def(op).written_name();
    let Some(Communication { mesh, kind: Kind::Fetch { dim, axes, extent, .. } }) = communication(module, op)
    else {
        let message =
            format!("`{name}` names a dimension that the sharding does not have, or a range that is none");
        found.push(module.error(op, &codes::WRONG_ATTRIBUTE, message));
        return;
    };
    let same = before.dims.iter().zip(&after.dims).enumerate().all(|(other, (a, b))| other == dim || a == b);
    if before.rank() != after.rank() || dim >= before.rank() || !same || before.element != after.element {
        let message = format!("`{name}` changes the extent of dimension {dim} only");
        found.push(module.error(op, &codes::WRONG_RESULT_TYPE, message));
        return;
    }
    let size = |ty: &TensorType| ty.dims[dim].size();
    let (Some(own), Some(given)) = (size(before), size(after)) else { return };
    let devices = mesh.devices_along(&axes);
    if own.saturating_mul(devices) < extent {
        let message = format!("{devices} devices of {own} elements each hold less than {extent}");
        found.push(module.error(op, &codes::WRONG_RESULT_TYPE, message));
    }
    let number = |name: &str| match module.attr_value(op, name) {
        Some(&AttrData::Int(value, _)) if module.is(op, &HALO_EXCHANGE) => Some(value),
        _ => None,
    };
    if let (Some(low), Some(high)) = (number("low"), number("high")) {
        let grown = i128::from(own) + low + high;
        if low < 0 || high < 0 || i128::from(given) != grown {
            let message = format!("{own} elements that grow by {low} and {high} are no {given}");
            found.push(module.error(op, &codes::WRONG_RESULT_TYPE, message));
        }
    }
}

//! Several conversions by one collective.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{
    Attr, AttrClass, AttrData, Builder, Module, OpDef, OpId, Trait, Type, ValueId, op, required, tensor,
};
use tofu_sharding::{Action, Communicate, Communication, Kind};

use crate::collectives::{
    ALL_GATHER, ALL_REDUCE, FROM, REDUCE_SCATTER, TO, action_of, is_sharding, verify_part,
};
use crate::items;
use crate::sharding::read_sharding;

const ARE_SHARDINGS: AttrClass = AttrClass {
    name: "a list of shardings (`[#dist.sharding<@m, [{x}]>]`)",
    contains: |module, attr| matches!(module.attr_data(attr), AttrData::Array(items) if items.iter().all(|&item| is_sharding(module, item))),
};

/// `dist.bucket`: several gathers, reductions or scattered reductions, over the same axes, at once.
pub static BUCKET: OpDef = op("dist.bucket")
    .summary(
        "Does steps of several conversions by one collective, which takes less time than one for each: all of them gather, or all reduce, \
         or all reduce and scatter, over the same axes and by the same reducer.",
    )
    .example(
        "dist.mesh @m = [x = 2]\nfunc @f(%x: tensor<8xf32>, %y: tensor<2x2xf32>) -> (tensor<8xf32>, tensor<2x2xf32>) {\n  %a, %b = dist.bucket \
         %x, %y {from = [#dist.sharding<@m, [{}], partial = sum {x}>, #dist.sharding<@m, [{}, {}], partial = sum {x}>], to = \
         [#dist.sharding<@m, [{}]>, #dist.sharding<@m, [{}, {}]>]} : tensor<8xf32>, tensor<2x2xf32>\n  return %a, %b\n}",
    )
    .operands(&[tensor("xs").variadic()])
    .results(&[tensor("ys").variadic()])
    .attributes(&[required(FROM, ARE_SHARDINGS), required(TO, ARE_SHARDINGS)])
    .traits(&[Trait::Local, Trait::Pure])
    .verify(verify)
    .interfaces(&[&Communicate(communication)]);

/// Ops that can go into one bucket are those of which this is equal: the op, the axes and the reducer are, and the elements.
pub fn can_be_together(module: &Module, a: OpId, b: OpId) -> bool {
    let of = |op: OpId| {
        let def = [&ALL_GATHER, &ALL_REDUCE, &REDUCE_SCATTER].into_iter().find(|def| module.is(op, def))?;
        let Communication { mesh, kind: Kind::Convert(action) } = communicate(module, op)? else {
            return None;
        };
        let element = module.tensor_type(module.result(op, 0))?.element;
        Some((def.name, mesh, kind_of(&action), element))
    };
    of(a).is_some_and(|a| of(b) == Some(a))
}

fn communicate(module: &Module, op: OpId) -> Option<Communication> {
    let communicate = module.def(op).interface::<Communicate>()?;
    (communicate.0)(module, op)
}

/// What must be the same of actions that go together: the axes, in no order, and the reducer.
fn kind_of(action: &Action) -> (Option<tofu_sharding::Reducer>, Vec<u8>) {
    let mut axes = action.collective().map_or(Vec::new(), |(_, axes)| axes.to_vec());
    axes.sort_unstable();
    let reducer = match action {
        Action::Reduce(reducer, _) | Action::Scatter(reducer, _) => Some(*reducer),
        _ => None,
    };
    (reducer, axes)
}

/// Adds a [`BUCKET`] of ops that [can be together](can_be_together), with their operands; its results take the place of theirs.
pub fn build_bucket(builder: &mut Builder<'_>, ops: &[OpId]) -> OpId {
    let module = &mut *builder.module;
    let operands: Vec<ValueId> = ops.iter().map(|&op| module.operand(op, 0)).collect();
    let types: Vec<Type> = ops.iter().map(|&op| module.ty(module.result(op, 0))).collect();
    let mut list = |name: &str| -> Attr {
        let all: Vec<Attr> = ops.iter().filter_map(|&op| module.attr(op, name)).collect();
        module.interner.attr(AttrData::Array(all.into()))
    };
    let (from, to) = (list(FROM), list(TO));
    let op = builder.op(&BUCKET).operands(operands).attr(FROM, from).attr(TO, to);
    types.into_iter().fold(op, |op, ty| op.result(ty)).build()
}

fn communication(module: &Module, op: OpId) -> Option<Communication> {
    let lists = [FROM, TO].map(|name| module.attr(op, name).map_or(&[][..], |attr| items(module, attr)));
    let mut mesh = None;
    let mut actions: Vec<Action> = Vec::new();
    for (&from, &to) in lists[0].iter().zip(lists[1]) {
        let ((_, own, from), (_, other, to)) =
            (read_sharding(module, op, from)?, read_sharding(module, op, to)?);
        if own != other || mesh.get_or_insert_with(|| own.clone()) != &own {
            return None;
        }
        let defs = [&ALL_REDUCE, &REDUCE_SCATTER, &ALL_GATHER];
        let action = defs.into_iter().find_map(|def| {
            let action = action_of(def, &own, &from, &to)?;
            action.collective().is_some_and(|(_, axes)| !axes.is_empty()).then_some(action)
        })?;
        actions.push(action);
    }
    let first = actions.first()?;
    let alike = |action: &Action| {
        kind_of(action) == kind_of(first)
            && action.collective().map(|(collective, _)| collective)
                == first.collective().map(|(collective, _)| collective)
    };
    let counts = [lists[0].len(), lists[1].len(), module.operands(op).count(), module.result_count(op)];
    let is_whole = counts.iter().all(|&count| count == actions.len());
    let fits = is_whole && actions.iter().all(alike);
    Some(Communication { mesh: mesh.filter(|_| fits)?, kind: Kind::Bucket(actions) })
}

fn verify(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let Some(Communication { mesh, kind: Kind::Bucket(actions) }) = communication(module, op) else {
        let message = "`dist.bucket` holds no steps that one collective does";
        let help = "each operand has a sharding in `from`, in `to`, and a result; all of them gather, reduce, or reduce and \
                    scatter, over the same axes and by one reducer";
        found.push(module.error(op, &codes::WRONG_SHARDING, message).help(help));
        return;
    };
    let elements: Vec<_> =
        module.operands(op).filter_map(|value| module.tensor_type(value)).map(|ty| ty.element).collect();
    if elements.iter().any(|element| Some(element) != elements.first()) {
        let message = "`dist.bucket` takes tensors of one element type";
        found.push(module.error(op, &codes::WRONG_RESULT_TYPE, message));
    }
    for (index, action) in actions.iter().enumerate() {
        let from = module.attr(op, FROM).and_then(|attr| items(module, attr).get(index).copied());
        verify_part(module, op, index, (&mesh, action, from), found);
    }
}

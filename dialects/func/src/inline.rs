//! Inlining: a call becomes a copy of the body of the function that it calls.
//!
//! Functions are worked on callees first, so that a body has no calls left but those that stay when it is copied, and
//! each call is replaced once:
//!
//! ```text
//! main ──► loss ──► relu        relu, then loss (relu inside of it by now), then main
//!   └──────────────► relu
//! ```
//!
//! The order is that of the strongly connected components of the graph of calls. A call within one component is
//! recursive and stays. So does one of a function that is only declared or has several blocks, and one that takes its
//! arguments as of a less known shape than they have: the body may depend on the shapes that are written in it.
//!
//! A chain of functions that each call the next one twice doubles at every step, so that a small program may ask for
//! more than fits anywhere; it is given up before that.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use tofu_ir::{
    AttrData, BlockId, Dim, Extents, Location, LocationData, Module, Name, OpId, Type, TypeData, ValueId,
    ValueMap, copy_op,
};
use tofu_syntax::ValueNames;

use crate::call::{CALL, callee};
use crate::function::{FUNC, RETURN, VISIBILITY, body, signature};

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Inlined {
    /// Calls that were replaced.
    pub calls: u64,
    /// Functions that were erased.
    pub functions: u64,
}

/// The call whose replacement would have been too much. What was done before it stays done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge {
    /// The call.
    pub call: OpId,
}

/// Replaces calls in the functions of `root`, a module, and erases private functions that nothing mentions then.
///
/// # Errors
/// When all functions together would come to have more than `max_ops` ops.
pub fn inline_calls(module: &mut Module, root: OpId, max_ops: u64) -> Result<Inlined, TooLarge> {
    inline_calls_keeping(module, root, max_ops, |_, _, results| results)
}

/// What a call says of its results goes with the call, unless this finds another place for it: it is given a call that is
/// to be replaced and the values that are to stand for its results, and gives the values that do. Ops that it makes stand
/// before the call.
pub type Keep = fn(&mut Module, OpId, Vec<ValueId>) -> Vec<ValueId>;

/// The same, with `keep` asked about each call.
///
/// # Errors
/// When all functions together would come to have more than `max_ops` ops; one that `keep` makes counts for each value
/// that it exchanges.
pub fn inline_calls_keeping(
    module: &mut Module,
    root: OpId,
    max_ops: u64,
    keep: Keep,
) -> Result<Inlined, TooLarge> {
    let functions: Vec<OpId> = module.walk(root).filter(|&op| module.is(op, &FUNC)).collect();
    let calls: Vec<Vec<OpId>> = functions.iter().map(|&function| calls_in(module, function)).collect();
    let (order, component) = callees_first(module, &functions, &calls);
    let mut sizes: FxHashMap<OpId, u64> = FxHashMap::default();
    for &function in &functions {
        sizes.insert(function, module.walk(function).count() as u64 - 1);
    }
    let mut total: u64 = sizes.values().sum();
    let mut done = Inlined::default();
    for node in order {
        let function = functions[node];
        let before = done.calls;
        for &call in &calls[node] {
            let Some(target) =
                callee(module, call).filter(|target| component[target] != component[&function])
            else {
                continue;
            };
            let Some(block) = fitting_body(module, call, target) else { continue };
            // A copy of all but `return` comes, and the call goes.
            let growth = sizes[&target].saturating_sub(1);
            if total.saturating_add(growth) > max_ops {
                return Err(TooLarge { call });
            }
            let growth = growth + replace(module, call, target, block, keep);
            for (counted, added) in [(&mut total, growth), (sizes.entry(function).or_default(), growth)] {
                *counted = (*counted + added).saturating_sub(1);
            }
            done.calls += 1;
        }
        if done.calls > before {
            settle_names(module, function);
        }
    }
    done.functions = erase_unmentioned(module, root, &functions);
    Ok(done)
}

fn calls_in(module: &Module, function: OpId) -> Vec<OpId> {
    module.walk(function).filter(|&op| module.is(op, &CALL)).collect()
}

/// The numbers of the functions, callees before callers, and for each function the component of calls that it is in.
fn callees_first(
    module: &Module,
    functions: &[OpId],
    calls: &[Vec<OpId>],
) -> (Vec<usize>, FxHashMap<OpId, usize>) {
    let number: FxHashMap<OpId, u32> = functions.iter().copied().zip(0..).collect();
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(functions.len(), functions.len());
    for _ in functions {
        graph.add_node(());
    }
    for (caller, calls) in (0u32..).zip(calls) {
        for target in calls.iter().filter_map(|&call| number.get(&callee(module, call)?)) {
            graph.update_edge(NodeIndex::new(caller as usize), NodeIndex::new(*target as usize), ());
        }
    }
    let mut order = Vec::with_capacity(functions.len());
    let mut component = FxHashMap::default();
    for (index, nodes) in kosaraju_scc(&graph).into_iter().enumerate() {
        for node in nodes {
            order.push(node.index());
            component.insert(functions[node.index()], index);
        }
    }
    (order, component)
}

/// The one block of the function that a call calls, if a copy of it can stand for the call.
fn fitting_body(module: &Module, call: OpId, function: OpId) -> Option<BlockId> {
    let block = body(module, function)?;
    let region = module.only_region(function)?;
    let end = module.last_op(block).filter(|&end| module.is(end, &RETURN))?;
    let mut extents = Extents::new();
    let arguments = module.arguments(block);
    let fits = module.blocks(region).len() == 1
        && arguments.len() == module.operand_count(call)
        && module.operand_count(end) == module.result_count(call)
        && arguments.iter().zip(module.operands(call)).all(|(&argument, operand)| {
            extents.accept(module, module.ty(argument), module.ty(operand))
                && is_as_known(module, module.ty(argument), module.ty(operand))
        })
        // An argument that is returned at once must have the type that the call gives.
        && module.operands(end).zip(module.results(call)).all(|(returned, result)| {
            let operand = arguments.iter().position(|&argument| argument == returned);
            operand.is_none_or(|index| module.ty(module.operand(call, index)) == module.ty(result))
        });
    fits.then_some(block)
}

/// Whether what a function takes says as much of a shape as what it is given; a symbolic extent stands for any.
fn is_as_known(module: &Module, parameter: Type, argument: Type) -> bool {
    match (module.type_data(parameter), module.type_data(argument)) {
        (TypeData::Tensor(parameter), TypeData::Tensor(argument)) => parameter
            .dims
            .iter()
            .zip(&argument.dims)
            .all(|(parameter, argument)| matches!(parameter, Dim::Symbol(_)) || parameter == argument),
        _ => parameter == argument,
    }
}

/// Puts a copy of a function's block in the place of a call; how many results something else than the copy stands for.
fn replace(module: &mut Module, call: OpId, function: OpId, block: BlockId, keep: Keep) -> u64 {
    let mut values: ValueMap = module.arguments(block).iter().copied().zip(module.operands(call)).collect();
    let extents = symbolic_extents(module, call, function);
    let caller = module.location(call);
    let originals: Vec<OpId> = module.ops(block).collect();
    let Some((&end, originals)) = originals.split_last() else { return 0 };
    for &original in originals {
        let copy = copy_op(module, original, &mut values);
        module.insert_before(call, copy);
        for inner in module.walk(copy).collect::<Vec<_>>() {
            let location = called_at(module, module.location(inner), caller);
            module.set_location(inner, location);
        }
        if let Some(extents) = &extents {
            instantiate(module, copy, extents);
        }
    }
    let results: Vec<ValueId> =
        module.operands(end).map(|result| values.get(&result).copied().unwrap_or(result)).collect();
    let kept = keep(module, call, results.clone());
    module.replace(call, &kept);
    kept.iter().zip(&results).filter(|(kept, result)| kept != result).count() as u64
}

/// The place of an op that was called at `caller`.
fn called_at(module: &mut Module, callee: Location, caller: Location) -> Location {
    let unknown = module.interner.unknown_location();
    match (callee == unknown, caller == unknown) {
        (true, _) => caller,
        (false, true) => callee,
        (false, false) => module.interner.location(LocationData::Call { callee, caller }),
    }
}

/// What stands for the function's symbolic extents at a call, if it has any.
fn symbolic_extents(module: &Module, call: OpId, function: OpId) -> Option<Extents> {
    let inputs = &signature(module, function)?.inputs;
    let is_symbolic = |ty: &Type| match module.type_data(*ty) {
        TypeData::Tensor(tensor) => tensor.dims.iter().any(|dim| matches!(dim, Dim::Symbol(_))),
        TypeData::Element(_) | TypeData::Token => false,
        TypeData::Tuple(_) | TypeData::Function(_) | TypeData::Dialect(_) | TypeData::Error => true,
    };
    if !inputs.iter().any(is_symbolic) {
        return None;
    }
    let mut extents = Extents::new();
    let accepts_all = inputs
        .iter()
        .zip(module.operands(call))
        .all(|(&input, operand)| extents.accept(module, input, module.ty(operand)));
    accepts_all.then_some(extents)
}

/// Gives all values of a copied op the types that they have at this call.
fn instantiate(module: &mut Module, copy: OpId, extents: &Extents) {
    let values: Vec<ValueId> = module.walk(copy).flat_map(|op| values_of(module, op)).collect();
    for value in values {
        let ty = module.interner.instantiate(module.ty(value), extents);
        module.set_type(value, ty);
    }
}

/// Calls each value what its text calls it: copies share the names of their originals, and a text tells them apart.
fn settle_names(module: &mut Module, function: OpId) {
    let names = ValueNames::of(module, function);
    let values = module.walk(function).flat_map(|op| values_of(module, op));
    let named: Vec<ValueId> = values.filter(|&value| module.value_name(value).is_some()).collect();
    let mut text = String::new();
    for value in named {
        text.clear();
        names.write_value(&mut text, module, value);
        let name = module.interner.name(&text);
        module.set_value_name(value, Some(name));
    }
}

/// The values that an op defines: its results, and the arguments of its blocks.
fn values_of(module: &Module, op: OpId) -> impl Iterator<Item = ValueId> + '_ {
    let blocks = module.regions(op).flat_map(|region| module.blocks(region));
    module.results(op).chain(blocks.flat_map(|&block| module.arguments(block).iter().copied()))
}

/// Erases private functions that nothing but such functions mentions; their number.
fn erase_unmentioned(module: &mut Module, root: OpId, functions: &[OpId]) -> u64 {
    let is_private = |module: &Module, op: OpId| {
        module.is(op, &FUNC)
            && matches!(module.attr_value(op, VISIBILITY), Some(AttrData::String(text)) if &**text == "private")
    };
    let private: FxHashSet<OpId> =
        functions.iter().copied().filter(|&function| is_private(module, function)).collect();
    // Names are looked up in the order in which they are met; what a name means is decided by where it stands.
    let mut mentioned: FxHashSet<OpId> = FxHashSet::default();
    let mut pending: Vec<OpId> = Vec::new();
    let mut visit = |module: &Module, op: OpId, pending: &mut Vec<OpId>| {
        let mut paths: Vec<Vec<Name>> = Vec::new();
        module.visit_symbols_of_op(op, &mut |path| paths.push(path.to_vec()));
        for path in paths {
            let target = module.resolve_symbol(op, &path);
            // A function's own name is no mention of it.
            if let Some(target) = target.filter(|&target| target != op && private.contains(&target))
                && mentioned.insert(target)
            {
                pending.push(target);
            }
        }
    };
    let mut around: Vec<OpId> = vec![root];
    while let Some(op) = around.pop() {
        visit(module, op, &mut pending);
        let blocks = module.regions(op).flat_map(|region| module.blocks(region));
        let inner = blocks.flat_map(|&block| module.ops(block));
        around.extend(inner.filter(|inner| !private.contains(inner)));
    }
    while let Some(function) = pending.pop() {
        for op in module.walk(function) {
            visit(module, op, &mut pending);
        }
    }
    let dead: Vec<OpId> = functions
        .iter()
        .copied()
        .filter(|function| private.contains(function) && !mentioned.contains(function))
        .collect();
    for &function in &dead {
        module.erase(function);
    }
    dead.len() as u64
}

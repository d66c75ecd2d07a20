//! Regions of tensor ops: their ends, what they take and give, and how ops with regions are built.

use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_ir::{
    BlockId, Builder, Control, ElementType, Module, OpDef, OpId, TensorType, Trait, Type, TypeData, ValueId,
    any, op,
};

use crate::shapes::{holds, operand_type};

/// `tensor.yield`: ends the region of a tensor op and gives its results.
pub static YIELD: OpDef = op("tensor.yield")
    .summary("Ends the region of a tensor op and gives its results.")
    .example(
        "%r = tensor.reduce %x, %s {dimensions = [0]} ({\n  ^body(%a: tensor<f32>, %b: tensor<f32>):\n    \
         %c = tensor.maximum %a, %b\n    tensor.yield %c\n})",
    )
    .operands(&[any("results").variadic()])
    .traits(&[Trait::Local, Trait::Pure, Trait::Terminator])
    .interfaces(&[&Control::Yield]);

/// A tensor without dimensions.
pub(crate) fn scalar(element: ElementType) -> TypeData {
    TypeData::Tensor(TensorType::of(&[], element))
}

/// Checks that a region takes values of these types.
///
/// # Errors
/// It takes others, or is ended by another op than [`YIELD`].
pub(crate) fn check_arguments(
    module: &Module,
    op: OpId,
    number: usize,
    wanted: &[TypeData],
) -> Result<(), Diagnostic> {
    let Some(block) = module.entry(module.region(op, number)) else { return Ok(()) };
    let arguments = module.arguments(block);
    if arguments.iter().map(|&argument| module.value_type(argument)).eq(wanted) {
        return check_end(module, op, number, block);
    }
    let message = format!("{} must take {}", place(module, op, number), list(module, wanted.iter()));
    let span = arguments.first().map_or(module.span(op), |&first| module.value_span(first));
    Err(Diagnostic::error(&codes::WRONG_BLOCK_ARGUMENTS, span, message).secondary(module.span(op), "here"))
}

/// Checks that a region yields values of these types.
///
/// # Errors
/// It yields others.
pub(crate) fn check_yield(
    module: &Module,
    op: OpId,
    number: usize,
    wanted: &[TypeData],
) -> Result<(), Diagnostic> {
    let Some(last) = terminator(module, op, number) else { return Ok(()) };
    if module.operands(last).map(|value| module.value_type(value)).eq(wanted) {
        return Ok(());
    }
    let message = format!("{} must yield {}", place(module, op, number), list(module, wanted.iter()));
    Err(module.error(last, &codes::WRONG_SIGNATURE, message).secondary(module.span(op), "for this op"))
}

/// Checks that a region yields one tensor without dimensions.
///
/// # Errors
/// It yields something else.
pub(crate) fn check_one_scalar(module: &Module, op: OpId, number: usize) -> Result<(), Diagnostic> {
    let Some(last) = terminator(module, op, number) else { return Ok(()) };
    let is_scalar = |value| module.tensor_type(value).is_some_and(|ty| ty.rank() == 0);
    if module.operand_count(last) == 1 && module.operands(last).all(is_scalar) {
        return Ok(());
    }
    let message = format!("{} must yield one scalar", place(module, op, number));
    Err(module.error(last, &codes::WRONG_SIGNATURE, message).secondary(module.span(op), "for this op"))
}

fn check_end(module: &Module, op: OpId, number: usize, block: BlockId) -> Result<(), Diagnostic> {
    match module.last_op(block) {
        Some(last) if module.has(last, Trait::Terminator) && !module.is(last, &YIELD) => {
            let name = module.def(last).written_name();
            let message = format!("`{name}` cannot end {}", place(module, op, number));
            Err(module.error(last, &codes::WRONG_PARENT, message).help("end it with `tensor.yield`"))
        }
        _ => Ok(()),
    }
}

/// The `tensor.yield` that ends a region.
pub(crate) fn terminator(module: &Module, op: OpId, number: usize) -> Option<OpId> {
    let block = module.entry(module.region(op, number))?;
    module.last_op(block).filter(|&last| module.is(last, &YIELD))
}

fn place(module: &Module, op: OpId, number: usize) -> String {
    let def = module.def(op);
    let name = def.regions.get(number).or(def.regions.last()).map_or("", |spec| spec.name);
    format!("the region `{name}` of `{}`", def.written_name())
}

fn list<'t>(module: &Module, types: impl ExactSizeIterator<Item = &'t TypeData>) -> String {
    if types.len() == 0 {
        return plural(0, "value");
    }
    types.map(|ty| format!("`{}`", module.type_data_text(ty))).collect::<Vec<_>>().join(", ")
}

/// What fills a region: it is given a builder at the region's end and the arguments, and gives what is yielded.
pub(crate) type Body<'b> =
    Box<dyn FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Diagnostic> + 'b>;

/// Fills the regions of an op that was built without results, each with the types of its arguments, and gives the op the
/// results that follow; or takes it away again.
///
/// # Errors
/// A body fails, or the op is wrong.
pub(crate) fn fill(
    builder: &mut Builder<'_>,
    op: OpId,
    regions: Vec<(Vec<Type>, Body<'_>)>,
) -> Result<Vec<ValueId>, Diagnostic> {
    let filled = try_fill(builder.module, op, regions);
    if filled.is_err() {
        builder.module.erase(op);
    }
    filled
}

fn try_fill(
    module: &mut Module,
    op: OpId,
    regions: Vec<(Vec<Type>, Body<'_>)>,
) -> Result<Vec<ValueId>, Diagnostic> {
    for (number, (types, body)) in regions.into_iter().enumerate() {
        let block = module.append_block(module.region(op, number));
        let arguments: Vec<ValueId> = types.iter().map(|&ty| module.append_argument(block, ty)).collect();
        let mut builder = Builder::at_end(module, block).origin(op);
        let results = body(&mut builder, &arguments)?;
        builder.op(&YIELD).operands(results).build();
    }
    module.infer_results(op).map_err(|mut found| found.swap_remove(0))?;
    let mut found = Vec::new();
    if let Some(verify) = module.def(op).verification() {
        verify(module, op, &mut found);
    }
    match found.into_iter().next() {
        Some(first) => Err(first),
        None => Ok(module.results(op).collect()),
    }
}

/// Checks that a region combines values by pairs: it takes as many scalars as there are values, twice, and yields as
/// many. They have the element types of the operands from `first` on, or wider ones.
///
/// # Errors
/// It takes or yields others.
pub(crate) fn check_combiner(
    module: &Module,
    op: OpId,
    number: usize,
    first: usize,
    count: usize,
) -> Result<(), Diagnostic> {
    let arguments = module.entry(module.region(op, number)).map_or(&[][..], |block| module.arguments(block));
    let mut wanted = Vec::new();
    for index in 0..count {
        let own = operand_type(module, op, first + index)?.element;
        let wider = arguments.get(index).and_then(|&argument| module.tensor_type(argument));
        let wider = wider.map(|ty| ty.element).filter(|&element| holds(element, own));
        wanted.push(scalar(wider.unwrap_or(own)));
    }
    check_arguments(module, op, number, &[&wanted[..], &wanted].concat())?;
    check_yield(module, op, number, &wanted)
}

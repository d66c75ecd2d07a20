//! Reductions over dimensions with a combiner given as a region, and functions of elements given as one.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Builder, INTS, Module, OpDef, OpId, Trait, Type, ValueId, op, region, required, tensor};
use tofu_tdl::{self as tdl, Describe, Description, IndexId, ScalarId, Source, TypeRef, VarId, infer_types};

use crate::describe::{extents, indices, start, variables};
use crate::regions::{Body, check_arguments, check_combiner, check_one_scalar, fill, scalar};
use crate::shapes::{listed_dimensions, operand_type, same_element, wrong_attribute, wrong_operand_count};

/// `tensor.reduce`: combines all elements along some dimensions.
///
/// Of `n` inputs and `n` initial values, the body takes `n` scalars combined so far and `n` elements, and yields the
/// combination. The combiner must be associative and the initial values its neutral elements; the order of combining
/// is not fixed. The body may compute in wider types than those of the inputs; the results have them then.
pub static REDUCE: OpDef = op("tensor.reduce")
    .summary("Combines all elements along `dimensions`, beginning with `inits`.")
    .example(
        "%r = tensor.reduce %x, %s {dimensions = [1]} ({\n  ^body(%a: tensor<f32>, %b: tensor<f32>):\n    \
         %c = tensor.add %a, %b\n    tensor.yield %c\n})",
    )
    .operands(&[tensor("inputs").variadic(), tensor("inits").variadic()])
    .results(&[tensor("results").variadic()])
    .attributes(&[required("dimensions", INTS)])
    .regions(&[region("body")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_reduce)]);

/// Adds a [`REDUCE`]. `body` is given the scalars combined so far and the elements, `inputs.len()` of each, and gives
/// the combinations.
///
/// # Errors
/// When inputs, initial values and dimensions do not fit, or `body` fails.
pub fn reduce(
    builder: &mut Builder<'_>,
    inputs: &[ValueId],
    inits: &[ValueId],
    dimensions: &[i64],
    body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Diagnostic>,
) -> Result<Vec<ValueId>, Diagnostic> {
    let dimensions = builder.module.interner.ints(dimensions.iter().copied());
    let types = twice(builder, inits);
    let operands = inputs.iter().chain(inits).copied();
    let op = builder.op(&REDUCE).operands(operands).attr("dimensions", dimensions).region().build();
    fill(builder, op, vec![(types, Box::new(body))])
}

/// The types of values, twice: what a region takes that combines them by pairs.
pub(crate) fn twice(builder: &Builder<'_>, values: &[ValueId]) -> Vec<Type> {
    values.iter().chain(values).map(|&value| builder.module.ty(value)).collect()
}

fn describe_reduce(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let count = inputs_and_inits(module, op)?;
    let rank = operand_type(module, op, 0)?.rank();
    let reduced = listed_dimensions(module, op, "dimensions", rank)?;
    check_combiner(module, op, 0, count, count)?;
    let mut b = start(module, op);
    let dims = extents(&mut b, "N", rank);
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let inputs = inputs(module, op, &mut b, "inputs", 0, count, &dims)?;
    let inits = inits(module, op, &mut b, "inits", count, count)?;
    let elements: Vec<ScalarId> = inputs.iter().map(|&input| b.read(input, &at)).collect();
    let over: Vec<VarId> = reduced.iter().map(|&axis| vars[axis]).collect();
    let kept: Vec<VarId> = vars.iter().copied().filter(|var| !over.contains(var)).collect();
    let results = b.reduce_region(module, module.region(op, 0), &inits, &over, None, &elements)?;
    finish(module, op, b, &kept, &results)
}

/// `tensor.map`: a function of elements, given as a region of scalars.
pub static MAP: OpDef = op("tensor.map")
    .summary("Applies `computation` to the elements of the inputs at each place.")
    .example(
        "%r = tensor.map %x, %y {dimensions = [0, 1]} ({\n  ^computation(%a: tensor<f32>, %b: tensor<f32>):\n    \
         %c = tensor.multiply %a, %b\n    tensor.yield %c\n})",
    )
    .operands(&[tensor("inputs").variadic()])
    .results(&[tensor("result")])
    .attributes(&[required("dimensions", INTS)])
    .regions(&[region("computation")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_map)]);

/// Adds a [`MAP`]. `computation` is given one element of each input, and gives the result's.
///
/// # Errors
/// When the inputs do not fit, or `computation` fails.
pub fn map(
    builder: &mut Builder<'_>,
    inputs: &[ValueId],
    computation: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<ValueId, Diagnostic>,
) -> Result<ValueId, Diagnostic> {
    let tensors = inputs.iter().map(|&input| builder.module.tensor_type(input).cloned());
    let tensors = tensors.collect::<Option<Vec<_>>>().unwrap_or_default();
    let rank = tensors.first().map_or(0, |ty| ty.rank() as i64);
    let interner = &mut builder.module.interner;
    let types = tensors.iter().map(|ty| interner.tensor(&[], ty.element)).collect();
    let dimensions = interner.ints(0..rank);
    let op =
        builder.op(&MAP).operands(inputs.iter().copied()).attr("dimensions", dimensions).region().build();
    let body: Body<'_> = Box::new(|builder, arguments| Ok(vec![computation(builder, arguments)?]));
    fill(builder, op, vec![(types, body)]).map(|results| results[0])
}

fn describe_map(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let count = at_least_one(module, op, module.operand_count(op))?;
    let rank = operand_type(module, op, 0)?.rank();
    let dimensions = listed_dimensions(module, op, "dimensions", rank)?;
    if !dimensions.iter().copied().eq(0..rank) {
        let message = format!("`dimensions` must be all of the {rank}, in their order");
        return Err(wrong_attribute(module, op, "dimensions", message));
    }
    let elements = (0..count).map(|index| Ok(scalar(operand_type(module, op, index)?.element)));
    check_arguments(module, op, 0, &elements.collect::<Result<Vec<_>, Diagnostic>>()?)?;
    check_one_scalar(module, op, 0)?;
    let mut b = start(module, op);
    let dims = extents(&mut b, "N", rank);
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let inputs = inputs(module, op, &mut b, "inputs", 0, count, &dims)?;
    let elements: Vec<ScalarId> = inputs.iter().map(|&input| b.read(input, &at)).collect();
    let results = b.inline_region(module, module.region(op, 0), &elements)?;
    finish(module, op, b, &vars, &results)
}

/// How many inputs there are of an op that takes as many initial values, in its second half of operands.
///
/// # Errors
/// There are none, or an initial value has other elements than its input.
pub(crate) fn inputs_and_inits(module: &Module, op: OpId) -> Result<usize, Diagnostic> {
    let count = at_least_one(module, op, module.operand_count(op) / 2)?;
    for number in 0..count {
        same_element(module, op, number, count + number)?;
    }
    Ok(count)
}

pub(crate) fn at_least_one(module: &Module, op: OpId, count: usize) -> Result<usize, Diagnostic> {
    if count == 0 {
        return Err(wrong_operand_count(module, op, "at least one tensor"));
    }
    Ok(count)
}

/// Operands of one shape, from the `first` on.
pub(crate) fn inputs(
    module: &Module,
    op: OpId,
    b: &mut tdl::Builder,
    name: &str,
    first: usize,
    count: usize,
    dims: &[IndexId],
) -> Result<Vec<Source>, Diagnostic> {
    (0..count)
        .map(|number| {
            let element = TypeRef::Concrete(operand_type(module, op, first + number)?.element);
            Ok(b.operand(&format!("{name}{number}"), element, dims))
        })
        .collect()
}

/// The scalars that reductions begin with, from the operand `first` on: the operands and their elements.
pub(crate) fn inits(
    module: &Module,
    op: OpId,
    b: &mut tdl::Builder,
    name: &str,
    first: usize,
    count: usize,
) -> Result<Vec<(ValueId, ScalarId)>, Diagnostic> {
    let sources = inputs(module, op, b, name, first, count, &[])?;
    let pairs = sources.into_iter().enumerate();
    Ok(pairs.map(|(number, source)| (module.operand(op, first + number), b.read(source, &[]))).collect())
}

/// A description whose results are these expressions over the same variables.
pub(crate) fn finish(
    module: &Module,
    op: OpId,
    mut b: tdl::Builder,
    vars: &[VarId],
    results: &[ScalarId],
) -> Result<Description, Diagnostic> {
    for (number, &result) in results.iter().enumerate() {
        let name = if results.len() == 1 { "result".to_owned() } else { format!("result{number}") };
        let ty = b.type_of(result);
        b.output(&name, ty, vars, result);
    }
    b.finish_for(module, op)
}

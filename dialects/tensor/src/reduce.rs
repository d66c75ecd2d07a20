//! Reductions over dimensions with a combiner given as a region, and the end of such regions.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{
    Builder, INTS, Module, OpDef, OpId, TensorType, Trait, TypeData, ValueId, any, op, region, required,
    tensor,
};

use crate::shapes::{dimensions, operand_type};
type Dims = SmallVec<[tofu_ir::Dim; 4]>;

/// `tensor.reduce`: combines all elements along some dimensions.
///
/// Of `n` inputs and `n` initial values, the body takes `n` scalars combined so far and `n` elements, and yields the
/// combination. The combiner must be associative and the initial values its neutral elements; the order of combining
/// is not fixed.
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
    .traits(&[Trait::Pure])
    .infer_types(infer_reduce)
    .verify(verify_reduce);

/// `tensor.yield`: ends the region of a tensor op and gives its results.
pub static YIELD: OpDef = op("tensor.yield")
    .summary("Ends the region of a tensor op and gives its results.")
    .example(
        "%r = tensor.reduce %x, %s {dimensions = [0]} ({\n  ^body(%a: tensor<f32>, %b: tensor<f32>):\n    \
         %c = tensor.maximum %a, %b\n    tensor.yield %c\n})",
    )
    .operands(&[any("results").variadic()])
    .traits(&[Trait::Pure, Trait::Terminator]);

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
    let operands = inputs.iter().chain(inits).copied();
    let op = builder.op(&REDUCE).operands(operands).attr("dimensions", dimensions).region().build();
    let built = build_body(builder.module, op, inits, body);
    let inferred =
        built.and_then(|()| builder.module.infer_types(op).map_err(|mut found| found.swap_remove(0)));
    let types = match inferred {
        Ok(types) => types,
        Err(diagnostic) => {
            builder.module.erase(op);
            return Err(diagnostic);
        }
    };
    builder.module.append_results(op, &types);
    let mut found = Vec::new();
    verify_reduce(builder.module, op, &mut found);
    if found.is_empty() {
        return Ok(builder.module.results(op).collect());
    }
    builder.module.erase(op);
    Err(found.swap_remove(0))
}

fn build_body(
    module: &mut Module,
    op: OpId,
    inits: &[ValueId],
    body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Diagnostic>,
) -> Result<(), Diagnostic> {
    let block = module.append_block(module.region(op, 0));
    let mut arguments = Vec::with_capacity(inits.len() * 2);
    for &init in inits.iter().chain(inits) {
        let ty = module.ty(init);
        arguments.push(module.append_argument(block, ty));
    }
    let mut builder = Builder::at_end(module, block).origin(op);
    let results = body(&mut builder, &arguments)?;
    builder.op(&YIELD).operands(results).build();
    Ok(())
}

fn infer_reduce(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let count = module.operand_count(op) / 2;
    if count == 0 {
        return Err(module.error(
            op,
            &codes::WRONG_OPERAND_COUNT,
            "`tensor.reduce` takes at least one tensor",
        ));
    }
    let first = operand_type(module, op, 0)?;
    let reduced = dimensions(module, op, "dimensions", module.ints(op, "dimensions"), first.rank())?;
    let mut dims = first.dims.clone();
    for index in 0..count {
        merge_shape(module, op, 0, index, &mut dims)?;
        let (input, init) = (operand_type(module, op, index)?, operand_type(module, op, count + index)?);
        if init.rank() > 0 || init.element != input.element {
            let wanted = "for each input a scalar of its element type";
            return Err(disagreement(module, op, &codes::WRONG_OPERAND_TYPE, wanted, index, count + index));
        }
    }
    let mut is_kept = vec![true; dims.len()];
    reduced.iter().for_each(|&axis| is_kept[axis] = false);
    let kept = dims.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
    let dims: Dims = kept.map(|(&dim, _)| dim).collect();
    (0..count)
        .map(|index| {
            let element = operand_type(module, op, index)?.element;
            Ok(TypeData::Tensor(TensorType { dims: dims.clone(), element }))
        })
        .collect()
}

fn verify_reduce(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let count = module.operand_count(op) / 2;
    let Some(block) = module.entry(module.region(op, 0)) else { return };
    let wanted: SmallVec<[_; 4]> = module.operands(op).skip(count).map(|init| module.ty(init)).collect();
    let text =
        || wanted.iter().map(|&ty| format!("`{}`", module.type_text(ty))).collect::<Vec<_>>().join(", ");
    let arguments: SmallVec<[_; 4]> =
        module.arguments(block).iter().map(|&argument| module.ty(argument)).collect();
    if arguments.len() != 2 * count || arguments.chunks(count).any(|half| *half != *wanted) {
        let message = format!("the body of `tensor.reduce` must take {} twice", text());
        let place =
            module.arguments(block).first().map_or(module.span(op), |&first| module.value_span(first));
        found.push(
            Diagnostic::error(&codes::WRONG_BLOCK_ARGUMENTS, place, message)
                .secondary(module.span(op), "here"),
        );
    }
    let Some(last) = module.last_op(block).filter(|&last| module.has(last, Trait::Terminator)) else {
        return;
    };
    if !module.is(last, &YIELD) {
        let message = format!("`{}` cannot end the body of `tensor.reduce`", module.def(last).written_name());
        found.push(module.error(last, &codes::WRONG_PARENT, message).help("end it with `tensor.yield`"));
        return;
    }
    if !module.operands(last).map(|result| module.ty(result)).eq(wanted.iter().copied()) {
        let message = format!("the body of `tensor.reduce` must yield {}", text());
        found.push(
            module.error(last, &codes::WRONG_SIGNATURE, message).secondary(module.span(op), "for this op"),
        );
    }
}

/// Operand `index` has the shape `dims`, which is operand `origin`'s; `dims` learns the extents that are known better.
fn merge_shape(
    module: &Module,
    op: OpId,
    origin: usize,
    index: usize,
    dims: &mut Dims,
) -> Result<(), Diagnostic> {
    let other = operand_type(module, op, index)?;
    let fits = dims.len() == other.rank() && dims.iter().zip(&other.dims).all(|(a, &b)| a.may_equal(b));
    if !fits {
        return Err(disagreement(module, op, &codes::SHAPE_MISMATCH, "operands of one shape", origin, index));
    }
    for (dim, &other) in dims.iter_mut().zip(&other.dims) {
        *dim = dim.better(other);
    }
    Ok(())
}

/// An error that names two operands and their places.
fn disagreement(
    module: &Module,
    op: OpId,
    code: &'static tofu_diagnostics::Code,
    wanted: &str,
    first: usize,
    second: usize,
) -> Diagnostic {
    let described = |index| {
        let value = module.operand(op, index);
        (module.quoted_value(value), module.type_text(module.ty(value)))
    };
    let ((first_name, first_type), (second_name, second_type)) = (described(first), described(second));
    let message = format!(
        "`{}` takes {wanted}, but {first_name} is a `{first_type}` and {second_name} a `{second_type}`",
        module.def(op).name
    );
    Diagnostic::error(code, module.operand_span(op, second), message)
        .label(format!("`{second_type}`"))
        .secondary(module.operand_span(op, first), format!("`{first_type}`"))
}

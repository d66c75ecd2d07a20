//! Order: sorting along a dimension, and the greatest elements.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    BOOL, Builder, Dim, ElementType, INT, Module, OpDef, OpId, Trait, ValueId, op, optional, region,
    required, tensor,
};
use tofu_tdl::{Describe, Description, OpaqueCall, TypeRef, functions, infer_types};

use crate::classes::ORDERED;
use crate::describe::{element, extents, indices, slice, start, variables};
use crate::reduce::{at_least_one, finish, inputs};
use crate::regions::{check_arguments, check_yield, fill, scalar};
use crate::shapes::{integer, operand_type, optional_integer, wrong_attribute};

/// `tensor.sort`: sorts along a dimension, all inputs in the same way. The order is stable whether that is asked for or
/// not.
///
/// Of `n` inputs, the comparator takes `2n` scalars, the left and the right element of each in turn, and yields whether
/// the left ones come first.
pub static SORT: OpDef = op("tensor.sort")
    .summary("Sorts all inputs together along `dimension` (the last one, unless given), as `comparator` says.")
    .example(
        "%r = tensor.sort %x {dimension = 1, is_stable = true} ({\n  \
         ^comparator(%a: tensor<f32>, %b: tensor<f32>):\n    %c = tensor.compare %a, %b {direction = \"LT\"}\n    \
         tensor.yield %c\n})",
    )
    .operands(&[tensor("inputs").variadic()])
    .results(&[tensor("results").variadic()])
    .attributes(&[optional("dimension", INT), optional("is_stable", BOOL)])
    .regions(&[region("comparator")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_sort)]);

/// Adds a [`SORT`] along `dimension`. `comparator` is given the left and the right element of each input in turn.
///
/// # Errors
/// When inputs and dimension do not fit, or `comparator` fails.
pub fn sort(
    builder: &mut Builder<'_>,
    inputs: &[ValueId],
    dimension: i64,
    comparator: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Diagnostic>,
) -> Result<Vec<ValueId>, Diagnostic> {
    let elements = inputs.iter().map(|&input| builder.module.tensor_type(input).map(|ty| ty.element));
    let elements = elements.collect::<Option<Vec<_>>>().unwrap_or_default();
    let interner = &mut builder.module.interner;
    let types = elements.iter().flat_map(|&element| [element, element]);
    let types = types.map(|element| interner.tensor(&[], element)).collect();
    let dimension = interner.int(dimension);
    let op = builder.op(&SORT).operands(inputs.iter().copied()).attr("dimension", dimension).region().build();
    fill(builder, op, vec![(types, Box::new(comparator))])
}

fn describe_sort(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let count = at_least_one(module, op, module.operand_count(op))?;
    let rank = operand_type(module, op, 0)?.rank();
    let given = optional_integer(module, op, "dimension")?.unwrap_or(-1);
    let axis = if given < 0 { given + rank as i64 } else { given };
    let Some(axis) = usize::try_from(axis).ok().filter(|&axis| axis < rank) else {
        let message = format!("`dimension` is {given}, but the tensor has rank {rank}");
        return Err(wrong_attribute(module, op, "dimension", message));
    };
    let elements = (0..count)
        .map(|index| Ok(operand_type(module, op, index)?.element))
        .collect::<Result<Vec<_>, Diagnostic>>()?;
    let arguments: Vec<_> = elements.iter().flat_map(|&element| [scalar(element), scalar(element)]).collect();
    check_arguments(module, op, 0, &arguments)?;
    check_yield(module, op, 0, &[scalar(ElementType::I1)])?;
    let mut b = start(module, op);
    let dims = extents(&mut b, "N", rank);
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let inputs = inputs(module, op, &mut b, "inputs", 0, count, &dims)?;
    let types: Vec<TypeRef> = elements.into_iter().map(TypeRef::Concrete).collect();
    let comparator = b.region_comparator(module, module.region(op, 0), &types)?;
    let arguments: Vec<_> = inputs.iter().map(|&input| slice(input, &at, &[axis])).collect();
    let results: Vec<_> = (0..count)
        .map(|number| {
            let call = OpaqueCall {
                function: functions::SORT.name.into(),
                constants: [].into(),
                arguments: arguments.clone().into(),
                comparator: Some(comparator),
                result: number as u32,
            };
            b.opaque(&functions::SORT, call, &[at[axis]])
        })
        .collect();
    finish(module, op, b, &vars, &results)
}

/// `tensor.top_k`: the greatest elements along the last dimension, in descending order, and where they are.
pub static TOP_K: OpDef = op("tensor.top_k")
    .summary("The `k` greatest elements along the last dimension in descending order, and their indices.")
    .example("%r, %at = tensor.top_k %x {k = 3}")
    .operands(&[tensor("x").class(ORDERED)])
    .results(&[tensor("values"), tensor("indices")])
    .attributes(&[required("k", INT)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_top_k)]);

/// Adds a [`TOP_K`]; gives the values and their indices.
///
/// # Errors
/// When the last dimension of `x` has fewer elements.
pub fn top_k(builder: &mut Builder<'_>, x: ValueId, k: i64) -> Result<[ValueId; 2], Diagnostic> {
    let k = builder.module.interner.int(k);
    let op = builder.op(&TOP_K).operand(x).attr("k", k).infer()?;
    Ok([0, 1].map(|number| builder.module.result(op, number)))
}

fn describe_top_k(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let k = integer(module, op, "k")?;
    let last = ty.dims.last().copied();
    let is_too_small = matches!(last, Some(Dim::Static(size)) if u64::try_from(k).is_ok_and(|k| k > size));
    if k < 0 || is_too_small || last.is_none() {
        let value = module.quoted_value(module.operand(op, 0));
        let message = format!("{value} does not have {k} elements in its last dimension");
        return Err(wrong_attribute(module, op, "k", message));
    }
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let mut dims = extents(&mut b, "N", ty.rank());
    let x = b.operand("x", t, &dims);
    let axis = ty.rank() - 1;
    if last != Some(Dim::Static(k.cast_unsigned())) {
        let count = b.constant(k);
        b.require_at_most(count, dims[axis]);
        dims[axis] = count;
    }
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    for (number, name) in ["values", "indices"].into_iter().enumerate() {
        let call = OpaqueCall {
            function: functions::TOP_K.name.into(),
            constants: [k].into(),
            arguments: [slice(x, &at, &[axis])].into(),
            comparator: None,
            result: number as u32,
        };
        let value = b.opaque(&functions::TOP_K, call, &[at[axis]]);
        let ty = b.type_of(value);
        b.output(name, ty, &vars, value);
    }
    b.finish_for(module, op)
}

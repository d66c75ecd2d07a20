//! Ops that move elements and compute none: each result element is one of the operand's.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{
    Builder, Dim, Fold, INT, INTS, Module, OpDef, OpId, TensorType, Trait, Type, TypeData, ValueId, op,
    required, tensor,
};

use crate::fold;
use crate::shapes::{
    checked, dimension, dimensions, disagreement, one, operand_type, result_type, same_element,
    same_result_element, wrong_attribute, wrong_result,
};

/// `tensor.broadcast_in_dim`: repeats elements along new dimensions and along those of extent 1.
pub static BROADCAST_IN_DIM: OpDef = op("tensor.broadcast_in_dim")
    .summary(
        "Repeats elements along new dimensions and those of extent 1; `dimensions` says where each one goes.",
    )
    .example("%r = tensor.broadcast_in_dim %s {dimensions = []} : tensor<4x8xf32>")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .attributes(&[required("dimensions", INTS)])
    .traits(&[Trait::Pure])
    .verify(|module, op, found| found.extend(verify_broadcast(module, op).err()))
    .interfaces(&[&Fold(fold::broadcast_in_dim)]);

/// `tensor.reshape`: the same elements in row-major order, in another shape.
pub static RESHAPE: OpDef = op("tensor.reshape")
    .summary("The same elements in row-major order, in another shape.")
    .example("%r = tensor.reshape %x : tensor<32xf32>")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .traits(&[Trait::Pure])
    .verify(|module, op, found| found.extend(verify_reshape(module, op).err()))
    .interfaces(&[&Fold(fold::reshape)]);

/// `tensor.transpose`: exchanges dimensions. Dimension `i` of the result is dimension `permutation[i]` of the operand.
pub static TRANSPOSE: OpDef = op("tensor.transpose")
    .summary(
        "Exchanges dimensions: dimension `i` of the result is dimension `permutation[i]` of the operand.",
    )
    .example("%r = tensor.transpose %x {permutation = [1, 0]}")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .attributes(&[required("permutation", INTS)])
    .traits(&[Trait::Pure])
    .infer_types(infer_transpose)
    .interfaces(&[&Fold(fold::transpose)]);

/// `tensor.slice`: the elements from `start` to before `limit`, every `stride`th one, in each dimension.
pub static SLICE: OpDef = op("tensor.slice")
    .summary("The elements from `start` to before `limit`, every `stride`th one, in each dimension.")
    .example("%r = tensor.slice %x {limit = [4, 8], start = [0, 2], stride = [1, 2]}")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .attributes(&[required("limit", INTS), required("start", INTS), required("stride", INTS)])
    .traits(&[Trait::Pure])
    .infer_types(infer_slice)
    .interfaces(&[&Fold(fold::slice)]);

/// `tensor.concatenate`: joins tensors along one dimension.
pub static CONCATENATE: OpDef = op("tensor.concatenate")
    .summary("Joins tensors along `dimension`.")
    .example("%r = tensor.concatenate %x, %y {dimension = 0}")
    .operands(&[tensor("inputs").variadic()])
    .results(&[tensor("result")])
    .attributes(&[required("dimension", INT)])
    .traits(&[Trait::Pure])
    .infer_types(infer_concatenate)
    .interfaces(&[&Fold(fold::concatenate)]);

/// Adds a [`BROADCAST_IN_DIM`] to type `ty`: dimension `i` of `x` becomes dimension `dimensions[i]`.
///
/// # Errors
/// When `x` does not fit into `ty`.
pub fn broadcast_in_dim(
    builder: &mut Builder<'_>,
    x: ValueId,
    ty: Type,
    dimensions: &[i64],
) -> Result<ValueId, Diagnostic> {
    let dimensions = builder.module.interner.ints(dimensions.iter().copied());
    let op = builder.op(&BROADCAST_IN_DIM).operand(x).attr("dimensions", dimensions).result(ty).build();
    checked(builder, op, verify_broadcast)
}

/// Adds a [`RESHAPE`] to type `ty`.
///
/// # Errors
/// When `ty` has another number or type of elements.
pub fn reshape(builder: &mut Builder<'_>, x: ValueId, ty: Type) -> Result<ValueId, Diagnostic> {
    let op = builder.op(&RESHAPE).operand(x).result(ty).build();
    checked(builder, op, verify_reshape)
}

/// Adds a [`TRANSPOSE`].
///
/// # Errors
/// When `permutation` is no permutation of the dimensions of `x`.
pub fn transpose(builder: &mut Builder<'_>, x: ValueId, permutation: &[i64]) -> Result<ValueId, Diagnostic> {
    let permutation = builder.module.interner.ints(permutation.iter().copied());
    let op = builder.op(&TRANSPOSE).operand(x).attr("permutation", permutation).infer()?;
    Ok(builder.module.result(op, 0))
}

/// Adds a [`SLICE`].
///
/// # Errors
/// When the bounds do not fit the shape of `x`.
pub fn slice(
    builder: &mut Builder<'_>,
    x: ValueId,
    start: &[i64],
    limit: &[i64],
    stride: &[i64],
) -> Result<ValueId, Diagnostic> {
    let mut list = |values: &[i64]| builder.module.interner.ints(values.iter().copied());
    let (start, limit, stride) = (list(start), list(limit), list(stride));
    let op = builder
        .op(&SLICE)
        .operand(x)
        .attr("limit", limit)
        .attr("start", start)
        .attr("stride", stride)
        .infer()?;
    Ok(builder.module.result(op, 0))
}

/// Adds a [`CONCATENATE`].
///
/// # Errors
/// When the shapes of `inputs` differ in another dimension.
pub fn concatenate(
    builder: &mut Builder<'_>,
    inputs: &[ValueId],
    dimension: i64,
) -> Result<ValueId, Diagnostic> {
    let dimension = builder.module.interner.int(dimension);
    let op =
        builder.op(&CONCATENATE).operands(inputs.iter().copied()).attr("dimension", dimension).infer()?;
    Ok(builder.module.result(op, 0))
}

fn verify_broadcast(module: &Module, op: OpId) -> Result<(), Diagnostic> {
    same_result_element(module, op)?;
    let (operand, Some(result)) = (operand_type(module, op, 0)?, result_type(module, op)) else {
        return Ok(());
    };
    let targets = per_dimension(module, op, "dimensions", operand)?;
    let targets = dimensions(module, op, "dimensions", targets, result.rank())?;
    for (axis, &target) in targets.iter().enumerate() {
        let (from, to) = (operand.dims[axis], result.dims[target]);
        if from != Dim::Static(1) && !from.may_equal(to) {
            let message = format!(
                "dimension {axis} of {} (a `{}`) is neither 1 nor that of dimension {target} of the result (a `{}`)",
                module.quoted_value(module.operand(op, 0)),
                module.type_text(module.ty(module.operand(op, 0))),
                module.type_text(module.ty(module.result(op, 0)))
            );
            return Err(wrong_result(module, op, message).secondary(module.operand_span(op, 0), "its shape"));
        }
    }
    Ok(())
}

fn verify_reshape(module: &Module, op: OpId) -> Result<(), Diagnostic> {
    same_result_element(module, op)?;
    let (operand, Some(result)) = (operand_type(module, op, 0)?, result_type(module, op)) else {
        return Ok(());
    };
    match (operand.element_count(), result.element_count()) {
        (Some(from), Some(to)) if from != to => {
            let value = module.quoted_value(module.operand(op, 0));
            let message = format!("{value} has {from} elements, but the result {to}");
            Err(wrong_result(module, op, message)
                .secondary(module.operand_span(op, 0), format!("{from} elements")))
        }
        _ => Ok(()),
    }
}

fn infer_transpose(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let permutation = per_dimension(module, op, "permutation", ty)?;
    let permutation = dimensions(module, op, "permutation", permutation, ty.rank())?;
    let dims = permutation.iter().map(|&axis| ty.dims[axis]).collect();
    Ok(one(TensorType { dims, element: ty.element }))
}

fn infer_slice(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let limits = per_dimension(module, op, "limit", ty)?;
    let starts = per_dimension(module, op, "start", ty)?;
    let strides = per_dimension(module, op, "stride", ty)?;
    let mut dims = SmallVec::new();
    for axis in 0..ty.rank() {
        let (start, limit, stride) = (starts[axis], limits[axis], strides[axis]);
        if stride < 1 {
            let message = format!("the stride of dimension {axis} is {stride}, but must be positive");
            return Err(wrong_attribute(module, op, "stride", message));
        }
        let beyond =
            ty.dims[axis].size().is_some_and(|size| u64::try_from(limit).is_ok_and(|limit| limit > size));
        if start < 0 || limit < start || beyond {
            let message = format!(
                "{} (a `{}`) has no elements from {start} to {limit} in dimension {axis}",
                module.quoted_value(module.operand(op, 0)),
                module.type_text(module.ty(module.operand(op, 0)))
            );
            return Err(wrong_attribute(module, op, if beyond { "limit" } else { "start" }, message));
        }
        dims.push(Dim::Static((limit - start).cast_unsigned().div_ceil(stride.cast_unsigned())));
    }
    Ok(one(TensorType { dims, element: ty.element }))
}

fn infer_concatenate(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    if module.operand_count(op) == 0 {
        return Err(module.error(
            op,
            &codes::WRONG_OPERAND_COUNT,
            "`tensor.concatenate` takes at least one tensor",
        ));
    }
    let mut ty = operand_type(module, op, 0)?.clone();
    let axis = dimension(module, op, "dimension", ty.rank())?;
    for index in 1..module.operand_count(op) {
        same_element(module, op, 0, index)?;
        let other = operand_type(module, op, index)?;
        let fits = other.rank() == ty.rank()
            && (0..ty.rank()).all(|other_axis| {
                other_axis == axis || ty.dims[other_axis].may_equal(other.dims[other_axis])
            });
        if !fits {
            let wanted = format!("tensors that differ only in dimension {axis}");
            return Err(disagreement(module, op, &codes::SHAPE_MISMATCH, &wanted, 0, index));
        }
        for other_axis in 0..ty.rank() {
            let (own, others) = (ty.dims[other_axis], other.dims[other_axis]);
            ty.dims[other_axis] = if other_axis == axis { sum(own, others) } else { own.better(others) };
        }
    }
    Ok(one(ty))
}

fn sum(a: Dim, b: Dim) -> Dim {
    match (a.size(), b.size()) {
        (Some(a), Some(b)) => Dim::Static(a.saturating_add(b)),
        _ => Dim::Unknown,
    }
}

/// The list in the attribute `name`, which has one entry for each dimension of the operand.
fn per_dimension<'m>(
    module: &'m Module,
    op: OpId,
    name: &str,
    ty: &TensorType,
) -> Result<&'m [i64], Diagnostic> {
    let list = module.ints(op, name);
    if list.len() == ty.rank() {
        return Ok(list);
    }
    let message = format!(
        "`{name}` has length {}, but {} has rank {}",
        list.len(),
        module.quoted_value(module.operand(op, 0)),
        ty.rank()
    );
    Err(wrong_attribute(module, op, name, message))
}

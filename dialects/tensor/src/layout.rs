//! Ops that move elements and compute none: each result element is one of the operand's.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    Builder, Dim, Fold, INT, INTS, Module, OpDef, OpId, Trait, Type, ValueId, op, optional, required, tensor,
};
use tofu_tdl::{
    self as tdl, Comparison, Describe, Description, IndexId, ScalarId, Source, VarId, infer_types,
    verify_types,
};

use crate::describe::{all, element, extents, indices, known, start, variables};
use crate::fold;
use crate::reduce::at_least_one;
use crate::shapes::{
    checked, dimension, dimensions, distances, listed_dimensions, operand_type, per_dimension,
    per_dimension_or, result_type, wrong_attribute,
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
    .traits(&[Trait::Local, Trait::Pure])
    .verify(verify_types)
    .interfaces(&[&Describe(describe_broadcast), &Fold(fold::broadcast_in_dim)]);

/// `tensor.transpose`: exchanges dimensions. Dimension `i` of the result is dimension `permutation[i]` of the operand.
pub static TRANSPOSE: OpDef = op("tensor.transpose")
    .summary(
        "Exchanges dimensions: dimension `i` of the result is dimension `permutation[i]` of the operand.",
    )
    .example("%r = tensor.transpose %x {permutation = [1, 0]}")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .attributes(&[required("permutation", INTS)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_transpose), &Fold(fold::transpose)]);

/// `tensor.slice`: the elements from `start` to before `limit`, every `stride`th one, in each dimension.
pub static SLICE: OpDef = op("tensor.slice")
    .summary("The elements from `start` to before `limit`, every `stride`th one, in each dimension.")
    .example("%r = tensor.slice %x {limit = [4, 8], start = [0, 2], stride = [1, 2]}")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .attributes(&[required("limit", INTS), required("start", INTS), required("stride", INTS)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_slice), &Fold(fold::slice)]);

/// `tensor.concatenate`: joins tensors along one dimension.
pub static CONCATENATE: OpDef = op("tensor.concatenate")
    .summary("Joins tensors along `dimension`.")
    .example("%r = tensor.concatenate %x, %y {dimension = 0}")
    .operands(&[tensor("inputs").variadic()])
    .results(&[tensor("result")])
    .attributes(&[required("dimension", INT)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_concatenate), &Fold(fold::concatenate)]);

/// `tensor.reverse`: the elements in the opposite order along some dimensions.
pub static REVERSE: OpDef = op("tensor.reverse")
    .summary("The elements in the opposite order along `dimensions`.")
    .example("%r = tensor.reverse %x {dimensions = [1]}")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .attributes(&[required("dimensions", INTS)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_reverse)]);

/// `tensor.pad`: puts a value around the elements and between them. Negative padding takes elements away at the edges.
pub static PAD: OpDef = op("tensor.pad")
    .summary("Puts `value` before, after and between the elements of each dimension; negative numbers take elements away.")
    .example("%r = tensor.pad %x, %s {edge_padding_high = [0, -1], edge_padding_low = [1, 2], interior_padding = [0, 1]}")
    .operands(&[tensor("x"), tensor("value")])
    .results(&[tensor("result")])
    .attributes(&[
        required("edge_padding_high", INTS),
        required("edge_padding_low", INTS),
        optional("interior_padding", INTS),
    ])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_pad)]);

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
    checked(builder, op)
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

/// Adds a [`REVERSE`].
///
/// # Errors
/// When `x` has no such dimensions.
pub fn reverse(builder: &mut Builder<'_>, x: ValueId, dimensions: &[i64]) -> Result<ValueId, Diagnostic> {
    let dimensions = builder.module.interner.ints(dimensions.iter().copied());
    let op = builder.op(&REVERSE).operand(x).attr("dimensions", dimensions).infer()?;
    Ok(builder.module.result(op, 0))
}

/// Adds a [`PAD`]: for each dimension how many times `value` stands before, after and between the elements.
///
/// # Errors
/// When the lists do not fit the shape of `x`, or more is taken away than there is.
pub fn pad(
    builder: &mut Builder<'_>,
    x: ValueId,
    value: ValueId,
    low: &[i64],
    high: &[i64],
    interior: &[i64],
) -> Result<ValueId, Diagnostic> {
    let [low, high, interior] =
        [low, high, interior].map(|list| builder.module.interner.ints(list.iter().copied()));
    let op = builder
        .op(&PAD)
        .operands([x, value])
        .attr("edge_padding_high", high)
        .attr("edge_padding_low", low)
        .attr("interior_padding", interior)
        .infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_broadcast(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let (from, to) = (operand_type(module, op, 0)?, result_type(module, op, 0)?);
    let targets = per_dimension(module, op, "dimensions", from.rank())?;
    let targets = dimensions(module, op, "dimensions", targets, to.rank())?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", from.element);
    let one = b.constant(1);
    // Of each dimension of the result, the operand's dimension that it goes along.
    let mut sources = vec![None; to.rank()];
    targets.iter().enumerate().for_each(|(axis, &target)| sources[target] = Some(axis));
    let mut own = vec![one; from.rank()];
    let mut dims = Vec::new();
    for (axis, (&dim, source)) in to.dims.iter().zip(&sources).enumerate() {
        let name = format!("N{axis}");
        dims.push(match *source {
            Some(source) if from.dims[source] != Dim::Static(1) || dim == Dim::Static(1) => {
                own[source] = b.extent(&name);
                own[source]
            }
            _ => known(&mut b, &name, dim),
        });
    }
    let x = b.operand("x", t, &own);
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let zero = b.constant(0);
    let places: Vec<IndexId> = (targets.iter().zip(&own))
        .map(|(&target, &extent)| if extent == one { zero } else { at[target] })
        .collect();
    let value = b.read(x, &places);
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

fn describe_transpose(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let permutation = per_dimension(module, op, "permutation", ty.rank())?;
    let permutation = dimensions(module, op, "permutation", permutation, ty.rank())?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let dims = extents(&mut b, "N", ty.rank());
    let x = b.operand("x", t, &dims);
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let value = b.read(x, &at);
    let vars: Vec<VarId> = permutation.iter().map(|&axis| vars[axis]).collect();
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

fn describe_slice(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let [starts, limits, strides] =
        ["start", "limit", "stride"].map(|name| per_dimension(module, op, name, ty.rank()));
    let (limits, starts, strides) = (limits?, starts?, strides?);
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let dims = extents(&mut b, "N", ty.rank());
    let x = b.operand("x", t, &dims);
    let (mut vars, mut at) = (Vec::new(), Vec::new());
    for axis in 0..ty.rank() {
        let (first, limit, stride) = (starts[axis], limits[axis], strides[axis]);
        if stride < 1 {
            let message = format!("the stride of dimension {axis} is {stride}, but must be positive");
            return Err(wrong_attribute(module, op, "stride", message));
        }
        let beyond =
            ty.dims[axis].size().is_some_and(|size| u64::try_from(limit).is_ok_and(|limit| limit > size));
        if first < 0 || limit < first || beyond {
            let message = format!(
                "{} (a `{}`) has no elements from {first} to {limit} in dimension {axis}",
                module.quoted_value(module.operand(op, 0)),
                module.type_text(module.ty(module.operand(op, 0)))
            );
            return Err(wrong_attribute(module, op, if beyond { "limit" } else { "start" }, message));
        }
        let is_whole = first == 0 && stride == 1 && ty.dims[axis] == Dim::Static(limit.cast_unsigned());
        let extent = if is_whole {
            dims[axis]
        } else {
            let least = b.constant(limit);
            b.require_at_most(least, dims[axis]);
            b.constant((limit - first).cast_unsigned().div_ceil(stride.cast_unsigned()).cast_signed())
        };
        let var = b.var(&format!("i{axis}"), extent);
        let index = b.index(var);
        // Where only one element is taken, the stride means nothing and may be any number.
        at.push(b.affine(stride.min((limit - first).max(1)), index, first));
        vars.push(var);
    }
    let value = b.read(x, &at);
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

fn describe_concatenate(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let count = at_least_one(module, op, module.operand_count(op))?;
    let first = operand_type(module, op, 0)?;
    let axis = dimension(module, op, "dimension", first.rank())?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", first.element);
    let shape = extents(&mut b, "N", first.rank());
    let mut inputs = Vec::new();
    let mut total = b.constant(0);
    let mut starts = vec![total];
    for number in 0..count {
        // Numbers, where they are known: sums of the extents of many operands would be long.
        let dim = operand_type(module, op, number)?.dims.get(axis).copied().unwrap_or(Dim::Unknown);
        let mut dims = shape.clone();
        dims[axis] = known(&mut b, &format!("M{number}"), dim);
        total = b.index_add(total, dims[axis]);
        starts.push(total);
        inputs.push(b.operand(&format!("inputs{number}"), t, &dims));
    }
    let mut dims = shape;
    dims[axis] = total;
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let value = choose(&mut b, &inputs, &starts, &at, axis);
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

/// The element of the input in whose part of the result an index lies, found by bisection.
fn choose(
    b: &mut tdl::Builder,
    inputs: &[Source],
    starts: &[IndexId],
    at: &[IndexId],
    axis: usize,
) -> ScalarId {
    if let [input] = *inputs {
        let mut at = at.to_vec();
        at[axis] = b.index_sub(at[axis], starts[0]);
        return b.read(input, &at);
    }
    let middle = inputs.len() / 2;
    let (low, high) = inputs.split_at(middle);
    let (low, high) =
        (choose(b, low, &starts[..=middle], at, axis), choose(b, high, &starts[middle..], at, axis));
    let is_low = b.compare_indices(Comparison::Lt, at[axis], starts[middle]);
    b.select(is_low, low, high)
}

fn describe_reverse(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let reversed = listed_dimensions(module, op, "dimensions", ty.rank())?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let dims = extents(&mut b, "N", ty.rank());
    let x = b.operand("x", t, &dims);
    let vars = variables(&mut b, "i", &dims);
    let mut at = indices(&mut b, &vars);
    let one = b.constant(1);
    for axis in reversed {
        let last = b.index_sub(dims[axis], one);
        at[axis] = b.index_sub(last, at[axis]);
    }
    let value = b.read(x, &at);
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

fn describe_pad(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let low = distances(module, op, "edge_padding_low", ty.rank())?;
    let high = distances(module, op, "edge_padding_high", ty.rank())?;
    let interior = per_dimension_or(module, op, "interior_padding", ty.rank(), 0, 0)?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let zero = b.constant(0);
    let (mut dims, mut vars, mut at, mut inside) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (axis, &dim) in ty.dims.iter().enumerate() {
        let (low, high, step) = (low[axis], high[axis], interior[axis] + 1);
        // Nothing is put between no elements.
        let is_empty = dim == Dim::Static(0);
        let change = low + high - if is_empty { 0 } else { interior[axis] };
        // With fewer elements, more would be taken away than there is.
        let least = (-change.div_euclid(step)).max(i64::from(interior[axis] > 0 && !is_empty));
        if dim.size().is_some_and(|size| i128::from(size) < i128::from(least)) {
            let message = format!("more is taken away than there is in dimension {axis}");
            return Err(wrong_attribute(
                module,
                op,
                if low < 0 { "edge_padding_low" } else { "edge_padding_high" },
                message,
            ));
        }
        let extent = if is_empty { zero } else { b.extent(&format!("N{axis}")) };
        if least > 0 {
            let least = b.constant(least);
            b.require_at_most(least, extent);
        }
        let size = b.affine(step, extent, change);
        let var = b.var(&format!("i{axis}"), size);
        let index = b.index(var);
        let place = b.affine(1, index, -low);
        let steps = b.constant(step);
        let source = b.index_floordiv(place, steps);
        if low > 0 {
            inside.push(b.compare_indices(Comparison::Ge, source, zero));
        }
        if step > 1 {
            let rest = b.index_mod(place, steps);
            inside.push(b.compare_indices(Comparison::Eq, rest, zero));
        }
        if high >= step || is_empty {
            inside.push(b.compare_indices(Comparison::Lt, source, extent));
        }
        dims.push(extent);
        vars.push(var);
        at.push(source);
    }
    let x = b.operand("x", t, &dims);
    let padding = b.operand("value", t, &[]);
    let mut value = b.read(x, &at);
    if let Some(inside) = all(&mut b, inside) {
        let padding = b.read(padding, &[]);
        value = b.select(inside, value, padding);
    }
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

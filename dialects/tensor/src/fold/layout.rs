//! Ops that move elements, over constants; and those that move nothing.
//!
//! All but `concatenate` are views: the source of result element (i₀, i₁, …) is `base + Σ iₖ·strideₖ` elements from the
//! first.

use smallvec::SmallVec;
use tofu_ir::{AttrData, DenseData, Dim, Module, OpId, TensorType, ValueId};

use super::{Fold, MAX_ELEMENTS, constant, dense, forward, known_result, splat};
use crate::{RESHAPE, TRANSPOSE};

type Strides = SmallVec<[usize; 4]>;

pub(crate) fn transpose(module: &Module, op: OpId) -> Fold {
    let x = module.operand(op, 0);
    let permutation = module.ints(op, "permutation");
    if is_identity(permutation.iter().copied()) {
        return forward(module, op, x);
    }
    if let Some(inner) = module.defining_op(x).filter(|&inner| module.is(inner, &TRANSPOSE)) {
        let before = module.ints(inner, "permutation");
        if is_identity(permutation.iter().filter_map(|&axis| before.get(axis as usize).copied())) {
            return forward(module, op, module.operand(inner, 0));
        }
    }
    let source = row_major(module.tensor_type(x)?)?;
    let strides =
        permutation.iter().map(|&axis| source.get(axis as usize).copied()).collect::<Option<Strides>>()?;
    view(module, op, 0, &strides)
}

pub(crate) fn reshape(module: &Module, op: OpId) -> Fold {
    let x = module.operand(op, 0);
    if keeps_shape(module, op, x) {
        return forward(module, op, x);
    }
    if let Some(inner) = module.defining_op(x).filter(|&inner| module.is(inner, &RESHAPE)) {
        let first = module.operand(inner, 0);
        if keeps_shape(module, op, first) {
            return forward(module, op, first);
        }
    }
    view(module, op, 0, &row_major(known_result(module, op)?.0)?)
}

pub(crate) fn broadcast_in_dim(module: &Module, op: OpId) -> Fold {
    let x = module.operand(op, 0);
    let targets = module.ints(op, "dimensions");
    if is_identity(targets.iter().copied()) && keeps_shape(module, op, x) {
        return forward(module, op, x);
    }
    let ty = module.tensor_type(x)?;
    let mut strides: Strides = (0..known_result(module, op)?.0.rank()).map(|_| 0).collect();
    for ((&target, &dim), stride) in targets.iter().zip(&ty.dims).zip(row_major(ty)?) {
        *strides.get_mut(target as usize)? = if dim == Dim::Static(1) { 0 } else { stride };
    }
    view(module, op, 0, &strides)
}

pub(crate) fn slice(module: &Module, op: OpId) -> Fold {
    let x = module.operand(op, 0);
    let (starts, steps) = (module.ints(op, "start"), module.ints(op, "stride"));
    let ty = module.tensor_type(x)?;
    let limits = module.ints(op, "limit").iter().map(|&limit| Dim::Static(limit.cast_unsigned()));
    if starts.iter().all(|&start| start == 0)
        && steps.iter().all(|&step| step == 1)
        && limits.eq(ty.dims.iter().copied())
    {
        return forward(module, op, x);
    }
    let (result, count) = known_result(module, op)?;
    if count == 0 {
        // Extents of zero may hide others that are too large to be multiplied; nothing is read then.
        return constant(module, x).and_then(|_| dense(module, op, DenseData::Bytes([].into())));
    }
    let source = row_major(ty)?;
    let scaled = |factor: i64, stride: usize| usize::try_from(factor).ok()?.checked_mul(stride);
    let mut base = 0usize;
    let mut strides = Strides::new();
    for (axis, extent) in result.static_dims()?.into_iter().enumerate() {
        base = base.checked_add(scaled(*starts.get(axis)?, source[axis])?)?;
        // Where only one element is taken, the step to the next one means nothing and may be anything.
        strides.push(if extent > 1 { scaled(*steps.get(axis)?, source[axis])? } else { 0 });
    }
    view(module, op, base, &strides)
}

pub(crate) fn concatenate(module: &Module, op: OpId) -> Fold {
    if module.operand_count(op) == 1 {
        return forward(module, op, module.operand(op, 0));
    }
    let parts: Vec<_> = module.operands(op).map(|part| constant(module, part)).collect::<Option<_>>()?;
    let (ty, count) = known_result(module, op)?;
    let (first, rest) = parts.split_first()?;
    if let DenseData::Splat(bytes) = &first.data
        && rest.iter().all(|part| part.data == first.data)
    {
        return splat(module, op, bytes);
    }
    if count > MAX_ELEMENTS {
        return None;
    }
    let axis = match module.attr_value(op, "dimension")? {
        AttrData::Int(axis, _) => usize::try_from(*axis).ok()?,
        _ => return None,
    };
    // Row-major: for each index of the dimensions before, the rows of all parts.
    let outer: u64 = ty.static_dims()?.get(..axis)?.iter().product();
    let mut bytes = Vec::with_capacity(count as usize * ty.element.storage_bytes());
    for row in 0..outer as usize {
        for (part, value) in parts.iter().zip(module.operands(op)) {
            let length = (module.tensor_type(value)?.element_count()? / outer) as usize;
            for index in row * length..(row + 1) * length {
                bytes.extend_from_slice(part.data.element(index, ty.element)?);
            }
        }
    }
    dense(module, op, DenseData::from_bytes(bytes, ty.element))
}

/// The elements of a constant operand in the order of the result.
fn view(module: &Module, op: OpId, base: usize, strides: &[usize]) -> Fold {
    let source = constant(module, module.operand(op, 0))?;
    let (ty, count) = known_result(module, op)?;
    let bytes = match &source.data {
        DenseData::Splat(bytes) => return splat(module, op, bytes),
        DenseData::Bytes(bytes) if count <= MAX_ELEMENTS => bytes,
        DenseData::Bytes(_) => return None,
    };
    let size = ty.element.storage_bytes();
    let dims = ty.static_dims()?;
    let mut moved = Vec::with_capacity(count as usize * size);
    for index in 0..count {
        let (mut rest, mut at) = (index, base);
        for (&extent, &stride) in dims.iter().zip(strides).rev() {
            at = at.checked_add(((rest % extent) as usize).checked_mul(stride)?)?;
            rest /= extent;
        }
        moved.extend_from_slice(bytes.get(at.checked_mul(size)?..)?.get(..size)?);
    }
    dense(module, op, DenseData::from_bytes(moved, ty.element))
}

/// How many elements apart neighbours along each dimension are.
fn row_major(ty: &TensorType) -> Option<Strides> {
    let mut strides: Strides = ty.dims.iter().map(|_| 1).collect();
    for axis in (1..ty.rank()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(ty.dims[axis].size()? as usize);
    }
    Some(strides)
}

fn is_identity(axes: impl Iterator<Item = i64>) -> bool {
    axes.enumerate().all(|(index, axis)| axis == index as i64)
}

/// Whether the result surely has the shape of a value. Two `?` may be different extents.
fn keeps_shape(module: &Module, op: OpId, value: ValueId) -> bool {
    module.ty(value) == module.ty(module.result(op, 0))
        && module.tensor_type(value).is_some_and(|ty| !ty.dims.contains(&Dim::Unknown))
}

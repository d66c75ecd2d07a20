//! How shapes and lists of dimensions are compared, and what is said where they disagree.

use smallvec::SmallVec;
use tofu_diagnostics::{Code, Diagnostic, codes};
use tofu_ir::{AttrData, Builder, Dim, Module, OpId, TensorType, TypeData, ValueId};

pub(crate) type Dims = SmallVec<[Dim; 4]>;

/// The type of operand `index`, which the op's definition says is a tensor.
pub(crate) fn operand_type(module: &Module, op: OpId, index: usize) -> Result<&TensorType, Diagnostic> {
    let value = module.operand(op, index);
    module.tensor_type(value).ok_or_else(|| {
        let message = format!(
            "`{}` takes tensors, but {} is a `{}`",
            module.def(op).name,
            module.quoted_value(value),
            module.type_text(module.ty(value))
        );
        Diagnostic::error(&codes::WRONG_OPERAND_TYPE, module.operand_span(op, index), message)
    })
}

/// The type that fits all operands: one element type, one shape.
pub(crate) fn common_type(module: &Module, op: OpId) -> Result<TensorType, Diagnostic> {
    let mut common = operand_type(module, op, 0)?.clone();
    for index in 1..module.operand_count(op) {
        if module.ty(module.operand(op, index)) != module.ty(module.operand(op, 0)) {
            same_element(module, op, 0, index)?;
            merge_shape(module, op, 0, index, &mut common.dims)?;
        }
    }
    Ok(common)
}

/// Two operands have elements of one type.
pub(crate) fn same_element(module: &Module, op: OpId, first: usize, second: usize) -> Result<(), Diagnostic> {
    if operand_type(module, op, first)?.element == operand_type(module, op, second)?.element {
        return Ok(());
    }
    Err(disagreement(module, op, &codes::WRONG_OPERAND_TYPE, "operands of one element type", first, second))
}

/// Operand `index` has the shape `dims`, which is operand `origin`'s; `dims` learns the extents that are known better.
pub(crate) fn merge_shape(
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
pub(crate) fn disagreement(
    module: &Module,
    op: OpId,
    code: &'static Code,
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

/// An error at an attribute.
pub(crate) fn wrong_attribute(module: &Module, op: OpId, name: &str, message: String) -> Diagnostic {
    Diagnostic::error(&codes::WRONG_ATTRIBUTE, module.attr_span(op, name), message)
}

/// The dimensions that `listed` (of the attribute `name`) names, each below `rank` and named once.
pub(crate) fn dimensions(
    module: &Module,
    op: OpId,
    name: &str,
    listed: &[i64],
    rank: usize,
) -> Result<SmallVec<[usize; 4]>, Diagnostic> {
    let mut found = SmallVec::new();
    let mut named = vec![false; rank];
    for &dimension in listed {
        let Some(axis) = usize::try_from(dimension).ok().filter(|&axis| axis < rank) else {
            let message = format!("`{name}` names dimension {dimension} of a tensor of rank {rank}");
            return Err(wrong_attribute(module, op, name, message));
        };
        if std::mem::replace(&mut named[axis], true) {
            let message = format!("`{name}` names dimension {dimension} twice");
            return Err(wrong_attribute(module, op, name, message));
        }
        found.push(axis);
    }
    Ok(found)
}

/// The one dimension in the attribute `name`, below `rank`.
pub(crate) fn dimension(module: &Module, op: OpId, name: &str, rank: usize) -> Result<usize, Diagnostic> {
    let Some(&AttrData::Int(value, _)) = module.attr_value(op, name) else {
        return Err(wrong_attribute(module, op, name, format!("`{name}` must be an integer")));
    };
    usize::try_from(value).ok().filter(|&axis| axis < rank).ok_or_else(|| {
        let message = format!("`{name}` is {value}, but the tensor has rank {rank}");
        wrong_attribute(module, op, name, message)
    })
}

/// The written type of the op's result, which its definition says is a tensor.
pub(crate) fn result_type(module: &Module, op: OpId) -> Option<&TensorType> {
    module.tensor_type(module.results(op).next()?)
}

/// An error at the written type of the op's result.
pub(crate) fn wrong_result(module: &Module, op: OpId, message: String) -> Diagnostic {
    let place = module.results(op).next().map_or(module.span(op), |result| module.value_span(result));
    Diagnostic::error(&codes::WRONG_RESULT_TYPE, place, message)
}

/// The operand and the result have elements of one type.
pub(crate) fn same_result_element(module: &Module, op: OpId) -> Result<(), Diagnostic> {
    let (operand, Some(result)) = (operand_type(module, op, 0)?, result_type(module, op)) else {
        return Ok(());
    };
    if operand.element == result.element {
        return Ok(());
    }
    let message = format!(
        "`{}` keeps the element type, but {} has elements `{}` and the result `{}`",
        module.def(op).name,
        module.quoted_value(module.operand(op, 0)),
        operand.element,
        result.element
    );
    Err(wrong_result(module, op, message).help("change the element type with `tensor.convert`"))
}

/// A tensor type as the only inferred result.
pub(crate) fn one(ty: TensorType) -> Vec<TypeData> {
    vec![TypeData::Tensor(ty)]
}

/// Checks an op that was just added; takes it away again if it is wrong.
pub(crate) fn checked(
    builder: &mut Builder<'_>,
    op: OpId,
    verify: fn(&Module, OpId) -> Result<(), Diagnostic>,
) -> Result<ValueId, Diagnostic> {
    match verify(builder.module, op) {
        Ok(()) => Ok(builder.module.result(op, 0)),
        Err(diagnostic) => {
            builder.module.erase(op);
            Err(diagnostic)
        }
    }
}

//! What is said of the types and attributes of ops that do not fit, where their descriptions cannot say it.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_ir::{
    AttrData, Builder, ElementKind, ElementType, MAX_TENSOR_BYTES, Module, OpId, TensorType, ValueId,
};

/// The type of operand `index`, which the op's definition says is a tensor.
pub(crate) fn operand_type(module: &Module, op: OpId, index: usize) -> Result<&TensorType, Diagnostic> {
    if index >= module.operand_count(op) {
        return Err(wrong_operand_count(module, op, &format!("more than {}", plural(index, "operand"))));
    }
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

/// The written type of result `index`.
pub(crate) fn result_type(module: &Module, op: OpId, index: usize) -> Result<&TensorType, Diagnostic> {
    written_type(module, op, index).ok_or_else(|| {
        let message = format!("the result types of `{}` must be written", module.def(op).name);
        module.error(op, &codes::CANNOT_INFER_TYPE, message)
    })
}

/// The type of result `index`, if the op has it already.
pub(crate) fn written_type(module: &Module, op: OpId, index: usize) -> Option<&TensorType> {
    module.results(op).nth(index).and_then(|result| module.tensor_type(result))
}

/// An error at an operand.
pub(crate) fn wrong_operand(module: &Module, op: OpId, index: usize, message: String) -> Diagnostic {
    let ty = module.type_text(module.ty(module.operand(op, index)));
    Diagnostic::error(&codes::WRONG_OPERAND_TYPE, module.operand_span(op, index), message)
        .label(format!("`{ty}`"))
}

/// Two operands have elements of one type, where their region says nothing of it.
pub(crate) fn same_element(module: &Module, op: OpId, first: usize, second: usize) -> Result<(), Diagnostic> {
    let elements = [operand_type(module, op, first)?.element, operand_type(module, op, second)?.element];
    if elements[0] == elements[1] {
        return Ok(());
    }
    let [own, other] = [first, second].map(|index| module.quoted_value(module.operand(op, index)));
    let message = format!(
        "`{}`: {own} has elements of type {} and {other} of type {}; they must agree",
        module.def(op).name,
        elements[0],
        elements[1]
    );
    Err(wrong_operand(module, op, second, message))
}

/// An error at an attribute.
pub(crate) fn wrong_attribute(module: &Module, op: OpId, name: &str, message: String) -> Diagnostic {
    Diagnostic::error(&codes::WRONG_ATTRIBUTE, module.attr_span(op, name), message)
}

/// An error at the written type of the op's result.
pub(crate) fn wrong_result(module: &Module, op: OpId, message: String) -> Diagnostic {
    let place = module.results(op).next().map_or(module.span(op), |result| module.value_span(result));
    Diagnostic::error(&codes::WRONG_RESULT_TYPE, place, message)
}

/// Dimensions, each below some rank.
pub(crate) type Axes = SmallVec<[usize; 4]>;

/// The dimensions that `listed` (of the attribute `name`) names, each below `rank` and named once.
pub(crate) fn dimensions(
    module: &Module,
    op: OpId,
    name: &str,
    listed: &[i64],
    rank: usize,
) -> Result<Axes, Diagnostic> {
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

/// The dimensions in the list `name`, none if it is missing.
pub(crate) fn listed_dimensions(
    module: &Module,
    op: OpId,
    name: &str,
    rank: usize,
) -> Result<Axes, Diagnostic> {
    dimensions(module, op, name, module.ints(op, name), rank)
}

/// The one dimension in the attribute `name`, below `rank`.
pub(crate) fn dimension(module: &Module, op: OpId, name: &str, rank: usize) -> Result<usize, Diagnostic> {
    let value = integer(module, op, name)?;
    usize::try_from(value).ok().filter(|&axis| axis < rank).ok_or_else(|| {
        let message = format!("`{name}` is {value}, but the tensor has rank {rank}");
        wrong_attribute(module, op, name, message)
    })
}

/// The integer in the attribute `name`.
pub(crate) fn integer(module: &Module, op: OpId, name: &str) -> Result<i64, Diagnostic> {
    optional_integer(module, op, name)?
        .ok_or_else(|| wrong_attribute(module, op, name, format!("`{name}` must be an integer")))
}

/// The integer in the attribute `name`, if it is there.
pub(crate) fn optional_integer(module: &Module, op: OpId, name: &str) -> Result<Option<i64>, Diagnostic> {
    match module.attr_value(op, name) {
        Some(&AttrData::Int(value, _)) => i64::try_from(value)
            .map(Some)
            .map_err(|_| wrong_attribute(module, op, name, format!("`{name}` does not fit into 64 bits"))),
        _ => Ok(None),
    }
}

/// The string in the attribute `name`, if it is there.
pub(crate) fn optional_string<'m>(module: &'m Module, op: OpId, name: &str) -> Option<&'m str> {
    match module.attr_value(op, name) {
        Some(AttrData::String(text)) => Some(text),
        _ => None,
    }
}

/// The truth value in the attribute `name`; false if it is missing.
pub(crate) fn flag(module: &Module, op: OpId, name: &str) -> bool {
    matches!(module.attr_value(op, name), Some(AttrData::Bool(true)))
}

/// The list in the attribute `name`, which has one entry for each of `count` dimensions: all of the first operand's, or
/// its spatial ones.
pub(crate) fn per_dimension<'m>(
    module: &'m Module,
    op: OpId,
    name: &str,
    count: usize,
) -> Result<&'m [i64], Diagnostic> {
    let list = module.ints(op, name);
    if list.len() == count {
        return Ok(list);
    }
    let wanted = match module.operands(op).next() {
        Some(first) if module.tensor_type(first).is_some_and(|ty| ty.rank() == count) => {
            format!("{} has rank {count}", module.quoted_value(first))
        }
        _ => format!("there are {}", plural(count, "spatial dimension")),
    };
    let message = format!("`{name}` has length {}, but {wanted}", list.len());
    Err(wrong_attribute(module, op, name, message))
}

/// [`per_dimension`], each no larger than a tensor can be, so that sums of a few do not overflow.
pub(crate) fn distances<'m>(
    module: &'m Module,
    op: OpId,
    name: &str,
    count: usize,
) -> Result<&'m [i64], Diagnostic> {
    let list = per_dimension(module, op, name, count)?;
    match list.iter().find(|value| value.unsigned_abs() > MAX_TENSOR_BYTES) {
        Some(large) => Err(wrong_attribute(
            module,
            op,
            name,
            format!("`{name}` holds {large}, but no tensor is so large"),
        )),
        None => Ok(list),
    }
}

/// [`distances`], each at least `least`; `default` for each dimension if the attribute is missing.
pub(crate) fn per_dimension_or(
    module: &Module,
    op: OpId,
    name: &str,
    count: usize,
    default: i64,
    least: i64,
) -> Result<SmallVec<[i64; 4]>, Diagnostic> {
    if module.attr(op, name).is_none() {
        return Ok(SmallVec::from_elem(default, count));
    }
    let list = distances(module, op, name, count)?;
    if let Some(small) = list.iter().find(|&&value| value < least) {
        let message = format!("`{name}` holds {small}, but must be at least {least}");
        return Err(wrong_attribute(module, op, name, message));
    }
    Ok(list.into())
}

/// The two lists in the attribute `name`; none if it is missing.
pub(crate) fn pair<'m>(module: &'m Module, op: OpId, name: &str) -> Option<(&'m [i64], &'m [i64])> {
    let Some(&AttrData::Pair(left, right)) = module.attr_value(op, name) else { return None };
    let list = |attr| match module.attr_data(attr) {
        AttrData::Ints(list) => Some(&**list),
        _ => None,
    };
    list(left).zip(list(right))
}

/// Checks an op that was just added with its written results; takes it away again if it is wrong.
pub(crate) fn checked(builder: &mut Builder<'_>, op: OpId) -> Result<ValueId, Diagnostic> {
    let mut found = Vec::new();
    tofu_tdl::verify_types(builder.module, op, &mut found);
    if found.is_empty() {
        return Ok(builder.module.result(op, 0));
    }
    builder.module.erase(op);
    Err(found.swap_remove(0))
}

/// Whether numbers of one type are taken as numbers of another one: of its family, and not wider.
pub(crate) fn holds(wide: ElementType, element: ElementType) -> bool {
    let family = |element: ElementType| {
        (element.kind() == ElementKind::Bool, element.is_integer(), element.is_complex())
    };
    family(wide) == family(element) && wide.bits() >= element.bits()
}

/// An error of an op that takes other operands: `wanted`.
pub(crate) fn wrong_operand_count(module: &Module, op: OpId, wanted: &str) -> Diagnostic {
    let message = format!("`{}` takes {wanted}", module.def(op).name);
    module.error(op, &codes::WRONG_OPERAND_COUNT, message)
}

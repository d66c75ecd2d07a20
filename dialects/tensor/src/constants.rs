//! Tensors whose elements are known: `constant` and `iota`.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    Attr, AttrData, Builder, DENSE, DenseData, ElementKind, INT, Module, OpDef, OpId, Syntax, Trait, Type,
    TypeData, VALUE, ValueId, encode_float, op, required, tensor,
};

use tofu_tdl::{Describe, Description, IndexId, TypeRef, Undescribed, verify_types};

use crate::classes::NUMBERS;
use crate::describe::{known, start, variables};
use crate::shapes::{checked, dimension, result_type, wrong_attribute};

/// `tensor.constant`: a tensor known at compile time.
pub static CONSTANT: OpDef = op("tensor.constant")
    .summary("A tensor known at compile time.")
    .example("%r = tensor.constant dense<[1.0, 2.0]> : tensor<2xf32>")
    .results(&[tensor("result")])
    .attributes(&[required(VALUE, DENSE)])
    .syntax(Syntax::Value)
    .traits(&[Trait::Constant, Trait::Local, Trait::Pure])
    .infer_types(infer_constant)
    .interfaces(&[&Undescribed("its elements are an attribute, of which every part is a constant as well")]);

/// `tensor.iota`: every element is its index along one dimension.
pub static IOTA: OpDef = op("tensor.iota")
    .summary("Every element is its index along `dimension`.")
    .example("%r = tensor.iota {dimension = 1} : tensor<4x8xi32>")
    .results(&[tensor("result").class(NUMBERS)])
    .attributes(&[required("dimension", INT)])
    .traits(&[Trait::Local, Trait::Pure])
    .verify(verify_types)
    .interfaces(&[&Describe(describe_iota)]);

/// Adds a [`CONSTANT`] of a dense attribute.
///
/// # Errors
/// When the attribute is something else.
pub fn constant(builder: &mut Builder<'_>, value: Attr) -> Result<ValueId, Diagnostic> {
    let op = builder.op(&CONSTANT).attr(VALUE, value).infer()?;
    Ok(builder.module.result(op, 0))
}

/// Adds a [`CONSTANT`] of type `ty` whose every element is `value`, or what of the element type is nearest to it.
///
/// # Errors
/// When `ty` is no tensor of known extents.
pub fn splat(builder: &mut Builder<'_>, ty: Type, value: f64) -> Result<ValueId, Diagnostic> {
    let bytes = match builder.module.type_data(ty) {
        TypeData::Tensor(tensor) => {
            let element = tensor.element;
            let bits = match (element.part().kind(), element.integer_range()) {
                (ElementKind::Bool, _) => u64::from(value != 0.0),
                (_, Some((low, high))) => (value.round_ties_even() as i128).clamp(low, high) as u64,
                _ => encode_float(element.part(), value),
            };
            let mut bytes = bits.to_le_bytes().to_vec();
            bytes.truncate(element.part().storage_bytes());
            // The imaginary part of a complex number is zero.
            bytes.resize(element.storage_bytes(), 0);
            bytes
        }
        _ => Vec::new(),
    };
    let value = builder.module.interner.dense(ty, DenseData::Splat(bytes.into()));
    constant(builder, value)
}

/// Adds an [`IOTA`] of type `ty`.
///
/// # Errors
/// When `ty` has no such dimension.
pub fn iota(builder: &mut Builder<'_>, ty: Type, dimension: i64) -> Result<ValueId, Diagnostic> {
    let dimension = builder.module.interner.int(dimension);
    let op = builder.op(&IOTA).attr("dimension", dimension).result(ty).build();
    checked(builder, op)
}

fn infer_constant(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let Some(AttrData::Dense(dense)) = module.attr_value(op, VALUE) else { return Ok(Vec::new()) };
    let ty = module.type_data(dense.ty);
    match ty {
        TypeData::Tensor(tensor) if tensor.static_dims().is_some() => Ok(vec![ty.clone()]),
        _ => {
            let message = format!("a `{}` cannot be constant", module.type_data_text(ty));
            Err(wrong_attribute(module, op, VALUE, message).help("give every extent a number"))
        }
    }
}

fn describe_iota(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = result_type(module, op, 0)?;
    let axis = dimension(module, op, "dimension", ty.rank())?;
    let mut b = start(module, op);
    let dims: Vec<IndexId> =
        (ty.dims.iter().enumerate()).map(|(axis, &dim)| known(&mut b, &format!("N{axis}"), dim)).collect();
    let vars = variables(&mut b, "i", &dims);
    let at = b.index(vars[axis]);
    let element = TypeRef::Concrete(ty.element);
    let index = b.index_value(at);
    let value = b.convert(index, element);
    b.output("result", element, &vars, value);
    b.finish_for(module, op)
}

//! Ops that compute with shapes: the extent of a dimension, and those whose result has a shape that is an operand.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    ANY_ATTR, Builder, ElementType, INT, INTS, Module, OpDef, OpId, STRING, Trait, ValueId, op, optional,
    required, tensor,
};
use tofu_tdl::{Describe, Description, TypeRef, Undescribed, infer_types};

use crate::classes::{INTEGER_SCALAR, INTEGERS_NOT_BOOLEANS};
use crate::describe::{element, extents, start};
use crate::shapes::{dimension, operand_type};

/// `tensor.get_dimension_size`: the extent of a dimension.
pub static GET_DIMENSION_SIZE: OpDef = op("tensor.get_dimension_size")
    .summary("The extent of `dimension`.")
    .example("%r = tensor.get_dimension_size %x {dimension = 1}")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .attributes(&[required("dimension", INT)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_size)]);

/// Adds a [`GET_DIMENSION_SIZE`].
///
/// # Errors
/// When `x` has no such dimension.
pub fn get_dimension_size(
    builder: &mut Builder<'_>,
    x: ValueId,
    dimension: i64,
) -> Result<ValueId, Diagnostic> {
    let dimension = builder.module.interner.int(dimension);
    let op = builder.op(&GET_DIMENSION_SIZE).operand(x).attr("dimension", dimension).infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_size(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let axis = dimension(module, op, "dimension", ty.rank())?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let dims = extents(&mut b, "N", ty.rank());
    b.operand("x", t, &dims);
    let size = b.index_value(dims[axis]);
    let result = TypeRef::Concrete(ElementType::I32);
    let size = b.convert(size, result);
    b.output("result", result, &[], size);
    b.finish_for(module, op)
}

const SHAPE: Undescribed =
    Undescribed("the shape of its result is an operand; with that constant it is one of the other ops");

macro_rules! shaped {
    ($(
        $DEFINITION:ident $name:literal ($($operand:expr),*) [$($attribute:expr),*] $summary:literal $example:literal;
    )*) => {$(
        #[doc = concat!("`tensor.", $name, "`: ", $summary)]
        pub static $DEFINITION: OpDef = op(concat!("tensor.", $name))
            .summary($summary)
            .example($example)
            .operands(&[$($operand),*])
            .results(&[tensor("result")])
            .attributes(&[$($attribute),*])
            .traits(&[Trait::Local, Trait::Pure])
            .interfaces(&[&SHAPE]);
    )*};
}

shaped! {
    DYNAMIC_BROADCAST_IN_DIM "dynamic_broadcast_in_dim"
        (tensor("operand"), tensor("output_dimensions").class(INTEGERS_NOT_BOOLEANS))
        [
            required("broadcast_dimensions", INTS),
            optional("known_expanding_dimensions", INTS),
            optional("known_nonexpanding_dimensions", INTS)
        ]
        "`broadcast_in_dim` to the shape that the second operand holds."
        "%shape = tensor.constant dense<[4, 8]> : tensor<2xi32>\n\
         %r = tensor.dynamic_broadcast_in_dim %s, %shape {broadcast_dimensions = []} : tensor<?x?xf32>";
    DYNAMIC_CONV "dynamic_conv" (tensor("lhs"), tensor("rhs"), tensor("padding").class(INTEGERS_NOT_BOOLEANS))
        [
            optional("batch_group_count", INT),
            required("dimensions", STRING),
            optional("feature_group_count", INT),
            optional("lhs_dilation", INTS),
            optional("rhs_dilation", INTS),
            optional("window_reversal", INTS),
            optional("window_strides", INTS)
        ]
        "`convolution` with the padding that the third operand holds."
        "%image = tensor.reshape %x : tensor<1x4x8x1xf32>\n%kernel = tensor.reshape %y : tensor<4x4x1x2xf32>\n\
         %padding = tensor.constant dense<1> : tensor<2x2xi32>\n\
         %r = tensor.dynamic_conv %image, %kernel, %padding {dimensions = \"b01f_01io->b01f\"} : tensor<1x?x?x2xf32>";
    DYNAMIC_GATHER "dynamic_gather"
        (
            tensor("operand"),
            tensor("start_indices").class(INTEGERS_NOT_BOOLEANS),
            tensor("slice_sizes").class(INTEGERS_NOT_BOOLEANS)
        )
        [
            optional("collapsed_slice_dims", INTS),
            required("index_vector_dim", INT),
            optional("indices_are_sorted", ANY_ATTR),
            required("offset_dims", INTS),
            optional("operand_batching_dims", INTS),
            optional("start_indices_batching_dims", INTS),
            required("start_index_map", INTS)
        ]
        "`gather` of slices of the sizes that the third operand holds."
        "%at = tensor.constant dense<[3, 0, 1]> : tensor<3xi32>\n%sizes = tensor.constant dense<[1, 8]> : tensor<2xi32>\n\
         %r = tensor.dynamic_gather %x, %at, %sizes {collapsed_slice_dims = [0], index_vector_dim = 1, offset_dims = [1], \
         start_index_map = [0]} : tensor<3x?xf32>";
    DYNAMIC_IOTA "dynamic_iota" (tensor("output_shape").class(INTEGERS_NOT_BOOLEANS)) [required("iota_dimension", INT)]
        "`iota` of the shape that the operand holds."
        "%shape = tensor.constant dense<[4, 8]> : tensor<2xi32>\n\
         %r = tensor.dynamic_iota %shape {iota_dimension = 0} : tensor<?x?xi32>";
    DYNAMIC_PAD "dynamic_pad"
        (
            tensor("operand"),
            tensor("padding_value"),
            tensor("edge_padding_low").class(INTEGERS_NOT_BOOLEANS),
            tensor("edge_padding_high").class(INTEGERS_NOT_BOOLEANS),
            tensor("interior_padding").class(INTEGERS_NOT_BOOLEANS)
        )
        []
        "`pad` with the paddings that the last three operands hold."
        "%n = tensor.constant dense<[1, 0]> : tensor<2xi32>\n\
         %r = tensor.dynamic_pad %x, %s, %n, %n, %n : tensor<?x?xf32>";
    DYNAMIC_RESHAPE "dynamic_reshape" (tensor("operand"), tensor("output_shape").class(INTEGERS_NOT_BOOLEANS)) []
        "`reshape` to the shape that the second operand holds."
        "%shape = tensor.constant dense<[2, 16]> : tensor<2xi32>\n\
         %r = tensor.dynamic_reshape %x, %shape : tensor<?x?xf32>";
    REAL_DYNAMIC_SLICE "real_dynamic_slice"
        (
            tensor("operand"),
            tensor("start_indices").class(INTEGERS_NOT_BOOLEANS),
            tensor("limit_indices").class(INTEGERS_NOT_BOOLEANS),
            tensor("strides").class(INTEGERS_NOT_BOOLEANS)
        )
        []
        "`slice` with the bounds and strides that the last three operands hold."
        "%n = tensor.constant dense<[1, 2]> : tensor<2xi32>\n\
         %r = tensor.real_dynamic_slice %x, %n, %n, %n : tensor<?x?xf32>";
    SET_DIMENSION_SIZE "set_dimension_size" (tensor("operand"), tensor("size").class(INTEGER_SCALAR))
        [required("dimension", INT)]
        "The operand, of which only as many elements of a dimension count as the second operand says."
        "%n = tensor.constant dense<2> : tensor<i32>\n\
         %r = tensor.set_dimension_size %x, %n {dimension = 0} : tensor<?x8xf32>";
}

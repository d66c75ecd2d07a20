//! Element-wise ops with attributes, mixed element types or scalars beside tensors: comparison, selection, conversion.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    AttrClass, AttrData, Builder, ElementKind, ElementType, Fold, INT, Module, OpDef, OpId, Trait, Type,
    ValueId, op, optional, required, tensor,
};
use tofu_tdl::{self as tdl, BinaryOp, Describe, Description, TypeRef, UnaryOp, infer_types, verify_types};

use crate::classes::{BOOLEANS, FLOATS, ORDERED, PARTS};
use crate::describe::{BOOL, element, elementwise, elementwise_over, start};
use crate::fold;
use crate::shapes::{checked, integer, operand_type, optional_string, result_type, wrong_attribute};

/// How two elements are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are the usual ones")]
pub enum Direction {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Direction {
    const ALL: [Direction; 6] = [
        Direction::Equal,
        Direction::NotEqual,
        Direction::Less,
        Direction::LessOrEqual,
        Direction::Greater,
        Direction::GreaterOrEqual,
    ];

    /// How it is written, as in StableHLO.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Equal => "EQ",
            Direction::NotEqual => "NE",
            Direction::Less => "LT",
            Direction::LessOrEqual => "LE",
            Direction::Greater => "GT",
            Direction::GreaterOrEqual => "GE",
        }
    }

    /// The direction of a [`COMPARE`].
    pub fn of(module: &Module, compare: OpId) -> Option<Direction> {
        let name = optional_string(module, compare, "direction")?;
        Direction::ALL.into_iter().find(|direction| direction.name() == name)
    }

    fn comparison(self) -> tdl::Comparison {
        match self {
            Direction::Equal => tdl::Comparison::Eq,
            Direction::NotEqual => tdl::Comparison::Ne,
            Direction::Less => tdl::Comparison::Lt,
            Direction::LessOrEqual => tdl::Comparison::Le,
            Direction::Greater => tdl::Comparison::Gt,
            Direction::GreaterOrEqual => tdl::Comparison::Ge,
        }
    }
}

const DIRECTIONS: AttrClass = AttrClass {
    name: "\"EQ\", \"NE\", \"LT\", \"LE\", \"GT\" or \"GE\"",
    contains: |module, attr| match module.attr_data(attr) {
        AttrData::String(name) => Direction::ALL.iter().any(|direction| direction.name() == &**name),
        _ => false,
    },
};

/// By what order elements are compared: as floats, or by the total order of all their values, NaNs and signed zeros
/// included; as signed or as unsigned integers.
const COMPARE_TYPES: AttrClass = AttrClass {
    name: "\"FLOAT\", \"TOTALORDER\", \"SIGNED\" or \"UNSIGNED\"",
    contains: |module, attr| {
        matches!(module.attr_data(attr), AttrData::String(name)
            if matches!(&**name, "FLOAT" | "TOTALORDER" | "SIGNED" | "UNSIGNED"))
    },
};

/// `tensor.compare`: whether two elements stand in a relation. NaN is unequal to all, and neither less nor greater; with
/// the `compare_type` `TOTALORDER`, floats have the order of IEEE 754's `totalOrder`.
pub static COMPARE: OpDef = op("tensor.compare")
    .summary("Whether two elements stand in a relation.")
    .example("%r = tensor.compare %x, %y {direction = \"GT\"}")
    .operands(&[tensor("x"), tensor("y")])
    .results(&[tensor("result").class(BOOLEANS)])
    .attributes(&[optional("compare_type", COMPARE_TYPES), required("direction", DIRECTIONS)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_compare), &Fold(fold::compare)]);

/// Adds a [`COMPARE`].
///
/// # Errors
/// When the operands do not fit.
pub fn compare(
    builder: &mut Builder<'_>,
    direction: Direction,
    x: ValueId,
    y: ValueId,
) -> Result<ValueId, Diagnostic> {
    let direction = builder.module.interner.string(direction.name());
    let op = builder.op(&COMPARE).operands([x, y]).attr("direction", direction).infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_compare(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let element = operand_type(module, op, 0)?.element;
    let direction = Direction::of(module, op).ok_or_else(|| {
        let message = format!("`direction` must be {}", DIRECTIONS.name);
        wrong_attribute(module, op, "direction", message)
    })?;
    if element.is_complex() && !matches!(direction, Direction::Equal | Direction::NotEqual) {
        let message = "complex numbers are only equal or not equal".to_owned();
        return Err(wrong_attribute(module, op, "direction", message));
    }
    let order = optional_string(module, op, "compare_type");
    let fits = match order {
        None => true,
        Some("FLOAT") => element.is_float() || element.is_complex(),
        Some("TOTALORDER") => element.is_float(),
        Some("SIGNED") => element.kind() == ElementKind::Signed,
        _ => matches!(element.kind(), ElementKind::Unsigned | ElementKind::Bool),
    };
    if !fits {
        let message =
            format!("elements of type `{element}` are not compared as {}", order.unwrap_or_default());
        return Err(wrong_attribute(module, op, "compare_type", message));
    }
    elementwise(module, op, |b, [x, y]| {
        let (x, y) = match order {
            Some("TOTALORDER") => (b.unary(UnaryOp::OrderKey, x), b.unary(UnaryOp::OrderKey, y)),
            _ => (x, y),
        };
        b.compare(direction.comparison(), x, y)
    })
}

/// `tensor.select`: an element of one tensor or of the other. The condition has their shape or is a scalar.
pub static SELECT: OpDef = op("tensor.select")
    .summary("The element of `on_true` where `condition` is true, of `on_false` elsewhere; `condition` may be a scalar.")
    .example("%r = tensor.select %p, %x, %y")
    .operands(&[tensor("condition").class(BOOLEANS), tensor("on_true"), tensor("on_false")])
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_select), &Fold(fold::select)]);

/// Adds a [`SELECT`].
///
/// # Errors
/// When the operands do not fit.
pub fn select(
    builder: &mut Builder<'_>,
    condition: ValueId,
    on_true: ValueId,
    on_false: ValueId,
) -> Result<ValueId, Diagnostic> {
    let op = builder.op(&SELECT).operands([condition, on_true, on_false]).infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_select(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 1)?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let rank = |index| scalar_or(module, op, index, ty.rank());
    let operands = [(BOOL, rank(0)?), (t, ty.rank()), (t, ty.rank())];
    elementwise_over(module, op, b, operands, |b, [condition, on_true, on_false]| {
        b.select(condition, on_true, on_false)
    })
}

/// The rank of an operand that may be a scalar beside tensors of this rank.
fn scalar_or(module: &Module, op: OpId, index: usize, rank: usize) -> Result<usize, Diagnostic> {
    Ok(if operand_type(module, op, index)?.rank() == 0 { 0 } else { rank })
}

/// `tensor.clamp`: the nearest number between two bounds, which have the operand's shape or are scalars.
pub static CLAMP: OpDef = op("tensor.clamp")
    .summary("`minimum(maximum(x, low), high)`; `low` and `high` may be scalars.")
    .example("%r = tensor.clamp %s, %x, %s")
    .operands(&[tensor("low").class(ORDERED), tensor("x").class(ORDERED), tensor("high").class(ORDERED)])
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_clamp), &Fold(fold::clamp)]);

/// Adds a [`CLAMP`].
///
/// # Errors
/// When the operands do not fit.
pub fn clamp(
    builder: &mut Builder<'_>,
    low: ValueId,
    x: ValueId,
    high: ValueId,
) -> Result<ValueId, Diagnostic> {
    let op = builder.op(&CLAMP).operands([low, x, high]).infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_clamp(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 1)?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let rank = |index| scalar_or(module, op, index, ty.rank());
    let operands = [(t, rank(0)?), (t, ty.rank()), (t, rank(2)?)];
    elementwise_over(module, op, b, operands, |b, [low, x, high]| {
        let raised = b.binary(BinaryOp::Max, x, low);
        b.binary(BinaryOp::Min, raised, high)
    })
}

/// `tensor.complex`: complex numbers of their parts.
pub static COMPLEX: OpDef = op("tensor.complex")
    .summary("A complex number of a real and an imaginary part.")
    .example("%r = tensor.complex %x, %y")
    .operands(&[tensor("real").class(PARTS), tensor("imag").class(PARTS)])
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(|module, op| {
        let ty = operand_type(module, op, 0)?;
        let part = TypeRef::Concrete(ty.element);
        elementwise_over(module, op, start(module, op), [(part, ty.rank()); 2], |b, [re, im]| {
            b.binary(BinaryOp::Complex, re, im)
        })
    })]);

/// Adds a [`COMPLEX`].
///
/// # Errors
/// When the operands do not fit.
pub fn complex(builder: &mut Builder<'_>, real: ValueId, imag: ValueId) -> Result<ValueId, Diagnostic> {
    let op = builder.op(&COMPLEX).operands([real, imag]).infer()?;
    Ok(builder.module.result(op, 0))
}

/// `tensor.reduce_precision`: rounds floats to those of a type with fewer bits of exponent and mantissa, and keeps their
/// type.
pub static REDUCE_PRECISION: OpDef = op("tensor.reduce_precision")
    .summary(
        "The number rounded to `exponent_bits` of exponent and `mantissa_bits` of mantissa, in its own type.",
    )
    .example("%r = tensor.reduce_precision %x {exponent_bits = 5, mantissa_bits = 10}")
    .operands(&[tensor("x").class(FLOATS)])
    .results(&[tensor("result")])
    .attributes(&[required("exponent_bits", INT), required("mantissa_bits", INT)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_reduce_precision)]);

/// Adds a [`REDUCE_PRECISION`].
///
/// # Errors
/// When `x` is no tensor of floats, or there are no such formats.
pub fn reduce_precision(
    builder: &mut Builder<'_>,
    x: ValueId,
    exponent_bits: i64,
    mantissa_bits: i64,
) -> Result<ValueId, Diagnostic> {
    let [exponent, mantissa] = [exponent_bits, mantissa_bits].map(|bits| builder.module.interner.int(bits));
    let op = builder
        .op(&REDUCE_PRECISION)
        .operand(x)
        .attr("exponent_bits", exponent)
        .attr("mantissa_bits", mantissa)
        .infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_reduce_precision(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let bits = |name: &str, least: i64| {
        let value = integer(module, op, name)?;
        u8::try_from(value).ok().filter(|_| value >= least).ok_or_else(|| {
            let message = format!("`{name}` is {value}, but must be between {least} and 255");
            wrong_attribute(module, op, name, message)
        })
    };
    let (exponent, mantissa) = (bits("exponent_bits", 1)?, bits("mantissa_bits", 0)?);
    elementwise(module, op, |b, [x]| b.unary(UnaryOp::ReducePrecision { exponent, mantissa }, x))
}

/// `tensor.convert`: the same numbers with other elements. To booleans: whether the number is not zero.
pub static CONVERT: OpDef = op("tensor.convert")
    .summary(
        "The numbers with another element type, rounded to nearest; floats become integers towards zero.",
    )
    .example("%r = tensor.convert %x : tensor<4x8xbf16>")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .verify(verify_types)
    .interfaces(&[&Describe(describe_convert), &Fold(fold::convert)]);

/// Adds a [`CONVERT`] to elements of this type.
///
/// # Errors
/// When `x` is no tensor.
pub fn convert(builder: &mut Builder<'_>, x: ValueId, element: ElementType) -> Result<ValueId, Diagnostic> {
    let ty: Type = match builder.module.tensor_type(x) {
        Some(tensor) => {
            let converted = tensor.with_element(element);
            builder.module.interner.ty(converted)
        }
        None => builder.module.ty(x),
    };
    let op = builder.op(&CONVERT).operand(x).result(ty).build();
    checked(builder, op)
}

fn describe_convert(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let (from, to) = (operand_type(module, op, 0)?, result_type(module, op, 0)?);
    let mut b = start(module, op);
    let t = element(&mut b, "T", from.element);
    elementwise_over(module, op, b, [(t, from.rank())], |b, [x]| b.convert(x, TypeRef::Concrete(to.element)))
}

//! Ops that treat every element alike: each result element depends on the operands' elements at its place.
//!
//! Most of them are one line of the table: the definition, the function that adds one, its operands, what it does, what
//! tensors it takes, an example's operands, further traits, how its type follows and how it folds.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{
    AttrClass, AttrData, Builder, ElementType, Fold, Module, OpDef, OpId, TENSOR, Trait, Type, TypeData,
    ValueId, op, required, tensor,
};

use crate::classes::{BOOLEANS, FLOATS, FLOATS_OR_COMPLEX, INTEGERS, NUMBERS, SIGNED_NUMBERS};
use crate::fold;
use crate::shapes::{
    checked, common_type, disagreement, merge_shape, one, operand_type, result_type, same_element,
    wrong_attribute, wrong_result,
};

macro_rules! elementwise {
    ($(
        $DEFINITION:ident $build:ident($($operand:ident),+) $summary:literal $class:ident $example:literal
        [$($trait:ident),*] $infer:ident [$($fold:ident)?];
    )*) => {$(
        #[doc = concat!("`tensor.", stringify!($build), "`: ", $summary)]
        pub static $DEFINITION: OpDef = op(concat!("tensor.", stringify!($build)))
            .summary($summary)
            .example(concat!("%r = tensor.", stringify!($build), " ", $example))
            .operands(&[$(tensor(stringify!($operand)).class($class)),+])
            .results(&[tensor("result")])
            .traits(&[Trait::Pure, $(Trait::$trait),*])
            .infer_types($infer)
            .interfaces(&[$(&Fold(fold::$fold))?]);

        #[doc = concat!("Adds a [`", stringify!($DEFINITION), "`].")]
        ///
        /// # Errors
        /// When the operands do not fit.
        pub fn $build(builder: &mut Builder<'_>, $($operand: ValueId),+) -> Result<ValueId, Diagnostic> {
            let op = builder.op(&$DEFINITION).operands([$($operand),+]).infer()?;
            Ok(builder.module.result(op, 0))
        }
    )*};
}

elementwise! {
    ABS abs(x) "Absolute value." SIGNED_NUMBERS "%x" [] infer_part [abs];
    ADD add(x, y) "Sum; of booleans, whether one is true." TENSOR "%x, %y" [Commutative] infer_common [add];
    AND and(x, y) "Bitwise and." INTEGERS "%i, %i" [Commutative] infer_common [and];
    CBRT cbrt(x) "Cube root." FLOATS_OR_COMPLEX "%x" [] infer_common [];
    CEIL ceil(x) "Rounding up to an integer." FLOATS "%x" [] infer_common [ceil];
    COSINE cosine(x) "Cosine." FLOATS_OR_COMPLEX "%x" [] infer_common [];
    DIVIDE divide(x, y) "Quotient; of integers, towards zero." NUMBERS "%x, %y" [] infer_common [divide];
    EXPONENTIAL exponential(x) "Exponential function." FLOATS_OR_COMPLEX "%x" [] infer_common [];
    EXPONENTIAL_MINUS_ONE exponential_minus_one(x) "Exponential function minus one." FLOATS_OR_COMPLEX "%x" []
        infer_common [];
    FLOOR floor(x) "Rounding down to an integer." FLOATS "%x" [] infer_common [floor];
    IS_FINITE is_finite(x) "Whether the number is neither infinite nor NaN." FLOATS "%x" [] infer_boolean [is_finite];
    LOG log(x) "Natural logarithm." FLOATS_OR_COMPLEX "%x" [] infer_common [];
    LOG_PLUS_ONE log_plus_one(x) "Natural logarithm of the number plus one." FLOATS_OR_COMPLEX "%x" []
        infer_common [];
    LOGISTIC logistic(x) "Logistic function, `1 / (1 + exp(-x))`." FLOATS_OR_COMPLEX "%x" [] infer_common [];
    MAXIMUM maximum(x, y) "The larger one, NaN if one is." TENSOR "%x, %y" [Commutative] infer_common [maximum];
    MINIMUM minimum(x, y) "The smaller one, NaN if one is." TENSOR "%x, %y" [Commutative] infer_common [minimum];
    MULTIPLY multiply(x, y) "Product; of booleans, whether both are true." TENSOR "%x, %y" [Commutative]
        infer_common [multiply];
    NEGATE negate(x) "Negation." NUMBERS "%x" [] infer_common [negate];
    NOT not(x) "Bitwise complement." INTEGERS "%i" [] infer_common [not];
    OR or(x, y) "Bitwise or." INTEGERS "%i, %i" [Commutative] infer_common [or];
    POWER power(x, y) "The first number to the power of the second." NUMBERS "%x, %y" [] infer_common [power];
    REMAINDER remainder(x, y) "Remainder of the quotient towards zero, with the sign of the first number." NUMBERS
        "%x, %y" [] infer_common [remainder];
    ROUND_NEAREST_EVEN round_nearest_even(x) "Rounding to the nearest integer, halves to the even one." FLOATS "%x" []
        infer_common [round_nearest_even];
    RSQRT rsqrt(x) "Reciprocal of the square root." FLOATS_OR_COMPLEX "%x" [] infer_common [];
    SIGN sign(x) "One with the sign of the number; zero for zero." SIGNED_NUMBERS "%x" [] infer_common [sign];
    SINE sine(x) "Sine." FLOATS_OR_COMPLEX "%x" [] infer_common [];
    SQRT sqrt(x) "Square root." FLOATS_OR_COMPLEX "%x" [] infer_common [sqrt];
    SUBTRACT subtract(x, y) "Difference." NUMBERS "%x, %y" [] infer_common [subtract];
    TANH tanh(x) "Hyperbolic tangent." FLOATS_OR_COMPLEX "%x" [] infer_common [];
    XOR xor(x, y) "Bitwise exclusive or." INTEGERS "%i, %i" [Commutative] infer_common [xor];
}

fn infer_common(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    common_type(module, op).map(one)
}

/// The absolute value of a complex number is real.
fn infer_part(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    Ok(one(ty.with_element(ty.element.part())))
}

fn infer_boolean(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    Ok(one(common_type(module, op)?.with_element(ElementType::I1)))
}

// Comparison.

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
        let Some(AttrData::String(name)) = module.attr_value(compare, "direction") else { return None };
        Direction::ALL.into_iter().find(|direction| direction.name() == &**name)
    }
}

const DIRECTIONS: AttrClass = AttrClass {
    name: "\"EQ\", \"NE\", \"LT\", \"LE\", \"GT\" or \"GE\"",
    contains: |module, attr| match module.attr_data(attr) {
        AttrData::String(name) => Direction::ALL.iter().any(|direction| direction.name() == &**name),
        _ => false,
    },
};

/// `tensor.compare`: whether two elements stand in a relation. NaN is unequal to all, and neither less nor greater.
pub static COMPARE: OpDef = op("tensor.compare")
    .summary("Whether two elements stand in a relation.")
    .example("%r = tensor.compare %x, %y {direction = \"GT\"}")
    .operands(&[tensor("x"), tensor("y")])
    .results(&[tensor("result").class(BOOLEANS)])
    .attributes(&[required("direction", DIRECTIONS)])
    .traits(&[Trait::Pure])
    .infer_types(infer_compare)
    .interfaces(&[&Fold(fold::compare)]);

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

fn infer_compare(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let ty = common_type(module, op)?;
    let direction = Direction::of(module, op);
    if ty.element.is_complex() && !matches!(direction, Some(Direction::Equal | Direction::NotEqual)) {
        let message = "complex numbers are only equal or not equal".to_owned();
        return Err(wrong_attribute(module, op, "direction", message));
    }
    Ok(one(ty.with_element(ElementType::I1)))
}

// Selection.

/// `tensor.select`: an element of one tensor or of the other. The condition has their shape or is a scalar.
pub static SELECT: OpDef = op("tensor.select")
    .summary("The element of `on_true` where `condition` is true, of `on_false` elsewhere; `condition` may be a scalar.")
    .example("%r = tensor.select %p, %x, %y")
    .operands(&[tensor("condition").class(BOOLEANS), tensor("on_true"), tensor("on_false")])
    .results(&[tensor("result")])
    .traits(&[Trait::Pure])
    .infer_types(infer_select)
    .interfaces(&[&Fold(fold::select)]);

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

fn infer_select(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let mut ty = operand_type(module, op, 1)?.clone();
    same_element(module, op, 1, 2)?;
    merge_shape(module, op, 1, 2, &mut ty.dims)?;
    if operand_type(module, op, 0)?.rank() > 0 {
        merge_shape(module, op, 1, 0, &mut ty.dims)?;
    }
    Ok(one(ty))
}

/// `tensor.clamp`: the nearest number between two bounds, which have the operand's shape or are scalars.
pub static CLAMP: OpDef = op("tensor.clamp")
    .summary("`minimum(maximum(x, low), high)`; `low` and `high` may be scalars.")
    .example("%r = tensor.clamp %s, %x, %s")
    .operands(&[tensor("low"), tensor("x"), tensor("high")])
    .results(&[tensor("result")])
    .traits(&[Trait::Pure])
    .infer_types(infer_clamp)
    .interfaces(&[&Fold(fold::clamp)]);

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

fn infer_clamp(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let mut ty = operand_type(module, op, 1)?.clone();
    if ty.element.is_complex() {
        return Err(disagreement(module, op, &codes::WRONG_OPERAND_TYPE, "numbers that have an order", 0, 1));
    }
    for bound in [0, 2] {
        same_element(module, op, 1, bound)?;
        if operand_type(module, op, bound)?.rank() > 0 {
            merge_shape(module, op, 1, bound, &mut ty.dims)?;
        }
    }
    Ok(one(ty))
}

// Conversion.

/// `tensor.convert`: the same numbers with other elements. To booleans: whether the number is not zero.
pub static CONVERT: OpDef = op("tensor.convert")
    .summary(
        "The numbers with another element type, rounded to nearest; floats become integers towards zero.",
    )
    .example("%r = tensor.convert %x : tensor<4x8xbf16>")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .traits(&[Trait::Pure])
    .verify(|module, op, found| found.extend(verify_convert(module, op).err()))
    .interfaces(&[&Fold(fold::convert)]);

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
    checked(builder, op, verify_convert)
}

fn verify_convert(module: &Module, op: OpId) -> Result<(), Diagnostic> {
    let (operand, Some(result)) = (operand_type(module, op, 0)?, result_type(module, op)) else {
        return Ok(());
    };
    if operand.rank() == result.rank() && operand.dims.iter().zip(&result.dims).all(|(a, &b)| a.may_equal(b))
    {
        return Ok(());
    }
    let message = format!(
        "`tensor.convert` keeps the shape, but {} is a `{}` and the result a `{}`",
        module.quoted_value(module.operand(op, 0)),
        module.type_text(module.ty(module.operand(op, 0))),
        module.type_text(module.ty(module.result(op, 0)))
    );
    Err(wrong_result(module, op, message).secondary(module.operand_span(op, 0), "its shape"))
}

//! The vocabulary of scalar expressions: functions, their names in the text, and the element types they take.
//!
//! What they compute is in [`numeric`](crate::numeric).

use tofu_ir::{ElementKind, ElementType};

use crate::description::TypeRef;

/// A set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypeClass {
    /// All.
    Any,
    /// Integers but `i1`.
    Int,
    /// Integers and `i1`.
    Logical,
    /// Real floating-point types.
    Float,
    /// Complex types.
    Complex,
    /// Integers and floats: what has an order; `i1` too.
    Real,
    /// Integers (not `i1`), floats and complex types.
    Number,
    /// Signed integers, floats and complex types.
    Signed,
    /// Floats and complex types.
    Inexact,
}

impl TypeClass {
    /// All classes.
    pub const ALL: [TypeClass; 9] = [
        TypeClass::Any,
        TypeClass::Int,
        TypeClass::Logical,
        TypeClass::Float,
        TypeClass::Complex,
        TypeClass::Real,
        TypeClass::Number,
        TypeClass::Signed,
        TypeClass::Inexact,
    ];

    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            TypeClass::Any => "any",
            TypeClass::Int => "int",
            TypeClass::Logical => "logical",
            TypeClass::Float => "float",
            TypeClass::Complex => "complex",
            TypeClass::Real => "real",
            TypeClass::Number => "number",
            TypeClass::Signed => "signed",
            TypeClass::Inexact => "inexact",
        }
    }

    /// How a message names it.
    pub fn phrase(self) -> &'static str {
        match self {
            TypeClass::Any => "any type",
            TypeClass::Int => "an integer",
            TypeClass::Logical => "an integer or i1",
            TypeClass::Float => "a float",
            TypeClass::Complex => "a complex number",
            TypeClass::Real => "an integer or a float",
            TypeClass::Number => "a number",
            TypeClass::Signed => "a signed integer, a float or a complex number",
            TypeClass::Inexact => "a float or a complex number",
        }
    }

    /// Whether a type belongs to it.
    pub fn contains(self, element: ElementType) -> bool {
        use ElementKind::*;
        let kind = element.kind();
        match self {
            TypeClass::Any => true,
            TypeClass::Int => matches!(kind, Signed | Unsigned),
            TypeClass::Logical => matches!(kind, Bool | Signed | Unsigned),
            TypeClass::Float => kind == Float,
            TypeClass::Complex => kind == Complex,
            TypeClass::Real => kind != Complex,
            TypeClass::Number => kind != Bool,
            TypeClass::Signed => matches!(kind, Signed | Float | Complex),
            TypeClass::Inexact => matches!(kind, Float | Complex),
        }
    }

    /// Whether some type belongs to both.
    pub fn meets(self, other: TypeClass) -> bool {
        ElementType::ALL.into_iter().any(|element| self.contains(element) && other.contains(element))
    }
}

/// A constant; its type is that of the expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Literal {
    /// An integer; converted to other types.
    Int(i128),
    /// The bits of an `f64`; rounded to other types.
    Float(u64),
    /// The greatest value of the type: an infinity where it has one.
    Highest,
    /// The least value of the type: an infinity where it has one.
    Lowest,
    /// Not a number.
    NaN,
}

/// A function of one value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names are StableHLO's")]
pub enum UnaryOp {
    Neg,
    Not,
    Abs,
    Sign,
    Ceil,
    Floor,
    RoundNearestAfz,
    RoundNearestEven,
    Exp,
    ExponentialMinusOne,
    Log,
    LogPlusOne,
    Logistic,
    Sqrt,
    Rsqrt,
    Cbrt,
    Sine,
    Cosine,
    Tan,
    Tanh,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Erfc,
    ErfInv,
    Lgamma,
    Digamma,
    /// The modified Bessel function of the first kind of order 1, scaled by `exp(-|x|)`.
    BesselI1e,
    IsFinite,
    Popcnt,
    CountLeadingZeros,
    Real,
    Imag,
    /// An `i64` in the total order of a float's values.
    OrderKey,
    /// Rounds to a narrower exponent and mantissa.
    ReducePrecision {
        exponent: u8,
        mantissa: u8,
    },
}

impl UnaryOp {
    /// Those with a plain name in the text.
    pub const NAMED: [UnaryOp; 38] = [
        UnaryOp::Abs,
        UnaryOp::Sign,
        UnaryOp::Ceil,
        UnaryOp::Floor,
        UnaryOp::RoundNearestAfz,
        UnaryOp::RoundNearestEven,
        UnaryOp::Exp,
        UnaryOp::ExponentialMinusOne,
        UnaryOp::Log,
        UnaryOp::LogPlusOne,
        UnaryOp::Logistic,
        UnaryOp::Sqrt,
        UnaryOp::Rsqrt,
        UnaryOp::Cbrt,
        UnaryOp::Sine,
        UnaryOp::Cosine,
        UnaryOp::Tan,
        UnaryOp::Tanh,
        UnaryOp::Asin,
        UnaryOp::Acos,
        UnaryOp::Atan,
        UnaryOp::Sinh,
        UnaryOp::Cosh,
        UnaryOp::Asinh,
        UnaryOp::Acosh,
        UnaryOp::Atanh,
        UnaryOp::Erf,
        UnaryOp::Erfc,
        UnaryOp::ErfInv,
        UnaryOp::Lgamma,
        UnaryOp::Digamma,
        UnaryOp::BesselI1e,
        UnaryOp::IsFinite,
        UnaryOp::Popcnt,
        UnaryOp::CountLeadingZeros,
        UnaryOp::Real,
        UnaryOp::Imag,
        UnaryOp::OrderKey,
    ];

    /// Its name in the text.
    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "not",
            UnaryOp::Abs => "abs",
            UnaryOp::Sign => "sign",
            UnaryOp::Ceil => "ceil",
            UnaryOp::Floor => "floor",
            UnaryOp::RoundNearestAfz => "round_nearest_afz",
            UnaryOp::RoundNearestEven => "round_nearest_even",
            UnaryOp::Exp => "exp",
            UnaryOp::ExponentialMinusOne => "expm1",
            UnaryOp::Log => "log",
            UnaryOp::LogPlusOne => "log1p",
            UnaryOp::Logistic => "logistic",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::Rsqrt => "rsqrt",
            UnaryOp::Cbrt => "cbrt",
            UnaryOp::Sine => "sin",
            UnaryOp::Cosine => "cos",
            UnaryOp::Tan => "tan",
            UnaryOp::Tanh => "tanh",
            UnaryOp::Asin => "asin",
            UnaryOp::Acos => "acos",
            UnaryOp::Atan => "atan",
            UnaryOp::Sinh => "sinh",
            UnaryOp::Cosh => "cosh",
            UnaryOp::Asinh => "asinh",
            UnaryOp::Acosh => "acosh",
            UnaryOp::Atanh => "atanh",
            UnaryOp::Erf => "erf",
            UnaryOp::Erfc => "erfc",
            UnaryOp::ErfInv => "erf_inv",
            UnaryOp::Lgamma => "lgamma",
            UnaryOp::Digamma => "digamma",
            UnaryOp::BesselI1e => "bessel_i1e",
            UnaryOp::IsFinite => "is_finite",
            UnaryOp::Popcnt => "popcnt",
            UnaryOp::CountLeadingZeros => "count_leading_zeros",
            UnaryOp::Real => "real",
            UnaryOp::Imag => "imag",
            UnaryOp::OrderKey => "order_key",
            UnaryOp::ReducePrecision { .. } => "reduce_precision",
        }
    }

    /// The function of this name.
    pub fn from_name(name: &str) -> Option<UnaryOp> {
        UnaryOp::NAMED.into_iter().find(|op| op.name() == name)
    }

    /// Which types it takes.
    pub fn class(self) -> TypeClass {
        use UnaryOp::*;
        match self {
            Neg => TypeClass::Number,
            Not => TypeClass::Logical,
            Abs | Sign => TypeClass::Signed,
            Popcnt | CountLeadingZeros => TypeClass::Int,
            Exp | ExponentialMinusOne | Log | LogPlusOne | Logistic | Sqrt | Rsqrt | Cbrt | Sine | Cosine
            | Tan | Tanh | Asin | Acos | Atan | Sinh | Cosh | Asinh | Acosh | Atanh | Real | Imag => {
                TypeClass::Inexact
            }
            _ => TypeClass::Float,
        }
    }

    /// The type of its value.
    pub(crate) fn result(self, ty: TypeRef, is_complex: bool) -> TypeRef {
        match self {
            UnaryOp::IsFinite => TypeRef::Concrete(ElementType::I1),
            UnaryOp::OrderKey => TypeRef::Concrete(ElementType::I64),
            UnaryOp::Abs | UnaryOp::Real | UnaryOp::Imag if is_complex => match ty {
                TypeRef::Concrete(element) => TypeRef::Concrete(element.part()),
                TypeRef::Param(number) | TypeRef::Part(number) => TypeRef::Part(number),
            },
            _ => ty,
        }
    }

    /// Floating-point operations that it counts as.
    pub fn flops(self) -> u64 {
        match self {
            UnaryOp::Real | UnaryOp::Imag | UnaryOp::Not | UnaryOp::OrderKey => 0,
            _ => 1,
        }
    }
}

/// A function of two values of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names are StableHLO's")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Max,
    Min,
    Pow,
    Atan2,
    /// The upper half of the bits of a product.
    MulHigh,
    /// The number next to the first in the direction of the second.
    NextAfter,
    /// Hurwitz' zeta function.
    Zeta,
    Polygamma,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightLogical,
    ShiftRightArithmetic,
    /// A complex number of a real and an imaginary part.
    Complex,
}

impl BinaryOp {
    /// Those written as calls.
    pub const CALLS: [BinaryOp; 14] = [
        BinaryOp::Rem,
        BinaryOp::Max,
        BinaryOp::Min,
        BinaryOp::Pow,
        BinaryOp::Atan2,
        BinaryOp::MulHigh,
        BinaryOp::NextAfter,
        BinaryOp::Zeta,
        BinaryOp::Polygamma,
        BinaryOp::Xor,
        BinaryOp::ShiftLeft,
        BinaryOp::ShiftRightLogical,
        BinaryOp::ShiftRightArithmetic,
        BinaryOp::Complex,
    ];

    /// Its name or sign in the text.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "rem",
            BinaryOp::Max => "max",
            BinaryOp::Min => "min",
            BinaryOp::Pow => "pow",
            BinaryOp::Atan2 => "atan2",
            BinaryOp::MulHigh => "mul_high",
            BinaryOp::NextAfter => "next_after",
            BinaryOp::Zeta => "zeta",
            BinaryOp::Polygamma => "polygamma",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
            BinaryOp::ShiftLeft => "shift_left",
            BinaryOp::ShiftRightLogical => "shift_right_logical",
            BinaryOp::ShiftRightArithmetic => "shift_right_arithmetic",
            BinaryOp::Complex => "complex",
        }
    }

    /// The function written as a call of this name.
    pub fn from_name(name: &str) -> Option<BinaryOp> {
        BinaryOp::CALLS.into_iter().find(|op| op.name() == name)
    }

    /// Which types it takes.
    pub fn class(self) -> TypeClass {
        use BinaryOp::*;
        match self {
            Add | Mul | Max | Min => TypeClass::Any,
            Sub | Div | Rem | Pow => TypeClass::Number,
            Atan2 | NextAfter | Zeta | Polygamma => TypeClass::Float,
            And | Or | Xor => TypeClass::Logical,
            MulHigh | ShiftLeft | ShiftRightLogical | ShiftRightArithmetic => TypeClass::Int,
            Complex => TypeClass::Float,
        }
    }

    /// Floating-point operations that it counts as.
    pub fn flops(self) -> u64 {
        u64::from(self != BinaryOp::Complex)
    }
}

/// A comparison. With a NaN only `!=` holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Comparison {
    /// Its sign in the text.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::Eq => "==",
            Comparison::Ne => "!=",
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Gt => ">",
            Comparison::Ge => ">=",
        }
    }

    /// The comparison that holds between two values in the other order.
    pub fn swapped(self) -> Comparison {
        match self {
            Comparison::Eq | Comparison::Ne => self,
            Comparison::Lt => Comparison::Gt,
            Comparison::Le => Comparison::Ge,
            Comparison::Gt => Comparison::Lt,
            Comparison::Ge => Comparison::Le,
        }
    }

    /// Which types it takes.
    pub fn class(self) -> TypeClass {
        match self {
            Comparison::Eq | Comparison::Ne => TypeClass::Any,
            _ => TypeClass::Real,
        }
    }

    /// Whether it holds between values in this order, `None` if they have none.
    pub fn holds(self, order: Option<std::cmp::Ordering>) -> bool {
        use std::cmp::Ordering::*;
        match self {
            Comparison::Eq => order == Some(Equal),
            Comparison::Ne => order != Some(Equal),
            Comparison::Lt => order == Some(Less),
            Comparison::Le => matches!(order, Some(Less | Equal)),
            Comparison::Gt => order == Some(Greater),
            Comparison::Ge => matches!(order, Some(Greater | Equal)),
        }
    }

    /// The comparison that holds exactly when this one does not; only for values that have an order.
    pub fn negated(self) -> Comparison {
        match self {
            Comparison::Eq => Comparison::Ne,
            Comparison::Ne => Comparison::Eq,
            Comparison::Lt => Comparison::Ge,
            Comparison::Le => Comparison::Gt,
            Comparison::Gt => Comparison::Le,
            Comparison::Ge => Comparison::Lt,
        }
    }
}

//! The tensor description language: what an operator computes, said once.

mod builder;
mod canonical;
mod check;
mod description;
mod evaluate;
mod facts;
mod numeric;
mod opaque;
mod parse;
mod poly;
mod print;
mod scalar;
mod shape;
mod walk;

pub use builder::Builder;
pub use description::*;
pub use evaluate::{EvaluateError, Part, Tensor, Trace, evaluate, evaluate_part};
pub use opaque::{OpaqueElement, OpaqueFunction, OpaqueRegistry};
pub use parse::parse;
pub use scalar::{BinaryOp, Comparison, Literal, TypeClass, UnaryOp};
pub use shape::{Mismatch, Solution, Value, solve, solve_with_results};

//! The tensor description language: what an operator computes, said once.

mod builder;
mod canonical;
mod check;
mod description;
mod evaluate;
mod facts;
mod local;
mod numeric;
mod opaque;
mod parse;
mod poly;
mod print;
mod region;
mod scalar;
mod shape;
mod strategy;
mod walk;

pub use builder::Builder;
pub use description::*;
pub use evaluate::{EvaluateError, Part, Tensor, Trace, combine_partials, evaluate, evaluate_part};
pub use local::{Local, local};
pub use opaque::{OpaqueElement, OpaqueFunction, OpaqueRegistry};
pub use parse::parse;
pub use region::{DimRange, Region, regions};
pub use scalar::{BinaryOp, Comparison, Literal, TypeClass, UnaryOp};
pub use shape::{Mismatch, Solution, Value, operand_dims, solve, solve_with_results};
pub use strategy::{Amount, Combine, DimLayout, OperandLayout, Strategy, strategies};

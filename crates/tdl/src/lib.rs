//! The tensor description language: what an operator computes, said once.
//!
//! A [`Description`] says each element of each result as an expression of elements of the operands. It is written as
//! text ([`parse`], and `Display` for the way back) or built ([`Builder`]). Everything else is derived from it:
//!
//! | what | where |
//! |---|---|
//! | result types from operand types, and back | [`solve`], [`solve_with_results`] |
//! | the ways of splitting the op over workers | [`strategies`], cached by [`Descriptions`]; as text [`Strategy::text`] |
//! | what a part of the results needs of the operands | [`regions`] |
//! | the op that one worker runs on its share | [`local`] |
//! | the one op that all workers run on theirs | [`uniform`] |
//! | operations and bytes | [`cost`] |
//! | whether it is element-wise, a broadcast, linear | [`accesses`] |
//! | the operands that may be sums still to be made | [`linear()`] |
//! | whether it is computed in one loop with others, or over an operand | [`fusion`] |
//! | whether it only renames the elements of an operand | [`view`] |
//! | its results, for actual operands | [`evaluate`] |
//!
//! Ops have descriptions through the interface [`Describe`]; [`infer_types`] and [`verify_types`] are what their
//! definitions then say of types. Algorithms that cannot be written as element expressions
//! are [opaque functions](OpaqueFunction).
//!
//! # The text
//!
//! ```text
//! tdl @argmax(x: [N, M]) -> (value: [N], index: i32[N]) {
//!   combine best(a, i: i32; b, j: i32) from (lowest, 0) = (if a >= b then a else b, if a >= b then i else j)
//!   value[n] = best(m)(x[n, m], convert<i32>(m)).0
//!   index[n] = best(m)(x[n, m], convert<i32>(m)).1
//! }
//! ```
//!
//! - Operands and results have extents, which are expressions of named extents; `where X = (W - K) floordiv S + 1,
//!   K <= W` says what else holds. Elements have the type that is written before the brackets, or else the first type
//!   parameter (`<T: float>`; without any, `T` is any type).
//! - `let name[i] = …` is an intermediate tensor. An index ranges over the dimension that it indexes alone, or over
//!   what is written: `sum(i: N)`.
//! - Indices are quasi-affine: sums of indices and extents times numbers and extents, `floordiv` and `mod` by numbers
//!   and extents. An integer element may be an index; it is checked when it is used.
//! - Scalars: arithmetic, comparisons, `and or not`, `if … then … else …` (only one branch reads), the functions of
//!   [`UnaryOp`] and [`BinaryOp`], `convert<f32>(…)`, `bitcast<i32>(…)`, index values, `lowest highest nan inf`.
//! - Reductions: `sum prod max min and or`, written before a product (`sum(k) a[k] * b[k]`), or a `combine`d one of
//!   several values. `opaque "name"{constants}(a[b, :, :])[i, j]` calls an opaque function, one of [`functions`] or
//!   of the registry's own; `compare less(a; b) = a < b` defines a comparator for `opaque "sort" by less (x[b, :])[i]`.
//!
//! # Example
//!
//! ```
//! use tofu_tdl::{OpaqueRegistry, parse, strategies};
//!
//! let text = "tdl @conv1d(data: [B, CI, X + DX - 1], filter: [CI, CO, DX]) -> [B, CO, X] {
//!   out[b, co, x] = sum(ci, dx) data[b, ci, x + dx] * filter[ci, co, dx]
//! }";
//! let conv1d = parse(text, 1, &OpaqueRegistry::builtin()).unwrap();
//! let strategies = strategies(&conv1d);
//! assert_eq!(
//!     strategies[2].text(&conv1d),
//!     "x: data [whole, whole, halo(0, DX - 1)], filter [whole, whole, whole] -> concat 2",
//! );
//! // Worker 1 of 2, for B = 4, CI = 3, X = 10, DX = 3, CO = 5.
//! let regions = strategies[2].regions(&conv1d, &[4, 3, 10, 3, 5], 2, 1);
//! assert_eq!((regions[0].dims[2].start, regions[0].dims[2].size), (5, 7));
//! ```

mod access;
mod builder;
mod canonical;
mod check;
mod cost;
mod describe;
mod description;
mod evaluate;
mod facts;
pub mod functions;
mod fusion;
mod infer;
mod linear;
mod local;
pub mod numeric;
mod opaque;
mod parse;
mod poly;
mod print;
mod region;
mod scalar;
mod shape;
mod strategy;
mod uniform;
mod view;
mod walk;

pub use access::{Access, AccessMap, Accesses, accesses};
pub use builder::Builder;
pub use cost::{Cost, cost};
pub use describe::{Analysis, Describe, Descriptions, Undescribed};
pub use description::*;
pub use evaluate::{
    Carried, EvaluateError, Part, Tensor, Trace, combine_partials, eval_extent, evaluate, evaluate_part,
};
pub use fusion::{Fusion, Reading, Times, fusion};
pub use infer::{describe, infer_types, solve_op, solve_op_as, verify_types};
pub use linear::{Linear, linear};
pub use local::{Local, local};
pub use opaque::{
    OpaqueArguments, OpaqueArity, OpaqueElement, OpaqueFunction, OpaqueRegistry, OpaqueResults, Ranks,
    Reference,
};
pub use parse::parse;
pub use region::{DimRange, Region, regions};
pub use scalar::{BinaryOp, Comparison, Literal, TypeClass, UnaryOp};
pub use shape::{Mismatch, Solution, Value, operand_dims, resolve, solve, solve_with_results};
pub use strategy::{Amount, Combine, DimLayout, OperandLayout, Strategy, strategies};
pub use uniform::{Among, Division, Mask, Uniform, Window, uniform};
pub use view::view;
pub use walk::{any_index, any_index_in, single_term};

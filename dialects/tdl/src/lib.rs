//! Operators that a program describes itself, and calls of them.
//!
//! ```text
//! tdl @conv1d(data: [B, CI, X + DX - 1], filter: [CI, CO, DX]) -> [B, CO, X] {
//!   out[b, co, x] = sum(ci, dx) data[b, ci, x + dx] * filter[ci, co, dx]
//! }
//! func @f(%data: tensor<8x4x10xf32>, %filter: tensor<4x16x3xf32>) -> tensor<8x16x8xf32> {
//!   %y = tdl.call @conv1d(%data, %filter)
//!   return %y
//! }
//! ```
//!
//! A [`CALL`] has its operator's [`Description`](tofu_tdl::Description), so that whatever follows from a description
//! follows for it as for any other op.

mod call;
mod operator;

pub use call::{CALL, CALLEE, build_call};
pub use operator::{OPERATOR, TEXT, build_operator};

use tofu_ir::Dialect;

/// The dialect.
pub static DIALECT: Dialect = Dialect {
    name: "tdl",
    summary: "Operators that a program describes itself, and calls of them.",
    ops: &[&CALL, &OPERATOR],
    types: &[],
    attributes: &[],
    constant: None,
};

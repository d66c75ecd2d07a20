//! What of StableHLO's world has no place in our other dialects: attributes that only frameworks and XLA understand,
//! shardings, what programs expect of themselves, and what nothing here knows.

mod attributes;
mod check;
mod sdy;

pub use attributes::*;
pub use check::*;
pub use sdy::*;

use tofu_ir::{BlockCount, DICT, Dialect, OpDef, STRING, Trait, any, op, optional, region, required};
use tofu_tdl::Undescribed;

/// The dialect of StableHLO's own attributes and of ops that nothing here knows.
///
/// An attribute of StableHLO's that an op of ours does not have is kept under this prefix: `precision_config` of a
/// `tensor.dot_general` as `stablehlo.precision_config`.
pub static DIALECT: Dialect = Dialect {
    name: "stablehlo",
    summary: "What StableHLO says beyond the ops of `tensor`, and what nothing here knows.",
    ops: &[&OPAQUE],
    types: &[&OPAQUE_TYPE],
    attributes: &[
        &ARRAY,
        &CHANNEL_HANDLE,
        &COMPARISON_DIRECTION,
        &COMPARISON_TYPE,
        &CONV,
        &DOT,
        &DOT_ALGORITHM,
        &FFT_TYPE,
        &GATHER,
        &OPAQUE_ATTR,
        &OUTPUT_OPERAND_ALIAS,
        &PRECISION,
        &RESULT_ACCURACY,
        &RESULT_ACCURACY_MODE,
        &RNG_ALGORITHM,
        &RNG_DISTRIBUTION,
        &SCATTER,
        &TRANSPOSE,
    ],
    constant: None,
};

/// The prefix of attributes that JAX puts on functions and their arguments and results.
pub static JAX: Dialect = prefix("jax", "What JAX says about functions, their arguments and results.");
/// The prefix of attributes for XLA.
pub static MHLO: Dialect = prefix("mhlo", "What frameworks tell XLA about a program.");
/// The prefix of attributes that say which argument's buffer a result takes over.
pub static TF: Dialect = prefix("tf", "Which argument's buffer a result takes over.");
/// The prefix of attributes that Tofu puts on what it writes for XLA.
pub static TOFU: Dialect = prefix("tofu", "What Tofu says about programs that it writes for XLA.");

const fn prefix(name: &'static str, summary: &'static str) -> Dialect {
    Dialect { name, summary, ops: &[], types: &[], attributes: &[], constant: None }
}

/// The attribute of an [`OPAQUE`] op that holds the op's own name.
pub const OPAQUE_NAME: &str = "name";
/// The attribute of an [`OPAQUE`] op that holds the attributes that the op itself knows, `<{…}>`.
pub const OPAQUE_PROPERTIES: &str = "properties";
/// The attribute of an [`OPAQUE`] op that holds the attributes that others have put on the op, `{…}`.
pub const OPAQUE_ATTRIBUTES: &str = "attributes";

/// `stablehlo.opaque`: an op that nothing here knows. It is kept as it was written, and nothing is concluded from it.
pub static OPAQUE: OpDef = op("stablehlo.opaque")
    .summary("An op that nothing here knows, kept as it was written.")
    .example("%r = stablehlo.opaque %x {attributes = {mode = 1}, name = \"other.op\"} : tensor<4x8xf32>")
    .operands(&[any("operands").variadic()])
    .results(&[any("results").variadic()])
    .attributes(&[
        optional(OPAQUE_ATTRIBUTES, DICT),
        required(OPAQUE_NAME, STRING),
        optional(OPAQUE_PROPERTIES, DICT),
    ])
    .regions(&[region("regions").blocks(BlockCount::Any).variadic()])
    .traits(&[Trait::NoTerminator])
    .interfaces(&[&Undescribed("nothing here knows what it computes")]);

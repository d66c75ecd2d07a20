//! StableHLO's text, read and written.
//!
//! [`read`] turns what JAX prints (and MLIR's generic form of it) into a module of our own dialects: `stablehlo.add` becomes
//! `tensor.add`, `func.func` our `func`. What StableHLO says beyond that is kept under the dialects of this crate.
//!
//! | file | holds |
//! |---|---|
//! | `syntax` | the table of how ops and attributes are written, where that does not follow from ours |
//! | `dialect` | dialects for what ours have no place for: shardings, hints to XLA, ops that are not known |
//! | `read` | the reader |
//! | `write` | the writer |
//! | `tell` | telling StableHLO from our own text |

mod dialect;
mod read;
mod syntax;
mod tell;
mod write;

pub use dialect::*;
pub use read::{ReadOptions, read, read_part};
pub use tell::is_stablehlo;
pub use write::{WriteOptions, write};

//! StableHLO's text, read and written.
//!
//! [`read`] turns what JAX prints (and MLIR's generic form of it) into a module of our own dialects: `stablehlo.add` becomes
//! `tensor.add`, `func.func` our `func`. What StableHLO says beyond that is kept under the dialects of this crate.
//!
//! ```
//! use std::sync::Arc;
//! use tofu_diagnostics::SourceMap;
//! use tofu_dialect_stablehlo::{self as stablehlo, ReadOptions, WriteOptions};
//! use tofu_ir::Registry;
//!
//! let text = "module {
//!   func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
//!     %0 = stablehlo.add %x, %x : tensor<4xf32>
//!     return %0 : tensor<4xf32>
//!   }
//! }
//! ";
//! let dialects = [&tofu_dialect_func::DIALECT, &tofu_dialect_tensor::DIALECT, &stablehlo::DIALECT];
//! let registry = Arc::new(Registry::new(&dialects).unwrap());
//! let mut sources = SourceMap::new();
//! let file = sources.add("double.mlir", text).unwrap();
//! let parsed = stablehlo::read(&sources, file, registry, ReadOptions::default());
//! assert!(parsed.is_ok());
//! assert_eq!(stablehlo::write(&parsed.module, WriteOptions::default()).unwrap(), text);
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `syntax` | the table of how ops and attributes are written, where that does not follow from ours |
//! | `dialect` | dialects for what ours have no place for: shardings, hints to XLA, ops that are not known |
//! | `read` | the reader |
//! | `write` | the writer |
//! | `constrain` | shardings of values, as constraints |
//! | `shardy` | its shardings as those of `dist`, and back |
//! | `manual` | programs that are written for each device, as manual computations |
//! | `tell` | telling StableHLO from our own text |

mod constrain;
mod dialect;
mod manual;
mod read;
mod shardy;
mod syntax;
mod tell;
mod write;

pub use dialect::*;
pub use manual::{EXTENTS, to_manual};
pub use read::{ReadOptions, in_foreign_words, read, read_part};
pub use shardy::{
    SDY_SHARDING, Shardy, keep_shardings, read_shardy, shardings_per_value, shardy_mesh, to_shardy,
};
pub use tell::is_stablehlo;
pub use write::{WriteOptions, write};

//! Functions, calls and returns.
//!
//! ```
//! use std::sync::Arc;
//! use tofu_dialect_func as func;
//! use tofu_ir::{Builder, ElementType, Module, Registry, verify};
//!
//! let registry = Registry::new(&[&func::DIALECT]).unwrap();
//! let mut module = Module::new(Arc::new(registry));
//! let ty = module.interner.tensor(&[4, 8], ElementType::F32);
//! let (_, body) = func::build_function(&mut module, "identity", &[ty], &[ty]);
//! let x = module.arguments(body)[0];
//! func::build_return(&mut Builder::at_end(&mut module, body), [x]);
//! assert!(verify(&module).is_empty());
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `function` | [`FUNC`] and [`RETURN`] |
//! | `call` | [`CALL`] |
//! | `inline` | [`inline_calls`]: calls replaced by the bodies of what they call |

mod call;
mod function;
mod inline;

pub use call::{CALL, CALLEE, build_call, callee};
pub use function::{
    ALIASING_OUTPUT, BUFFER_DONOR, FUNC, Func, RETURN, VISIBILITY, body, build_function, build_return,
    signature,
};
pub use inline::{Inlined, Keep, TooLarge, inline_calls, inline_calls_keeping};

use tofu_ir::Dialect;

/// The dialect of functions.
pub static DIALECT: Dialect = Dialect {
    name: "func",
    summary: "Functions, calls and returns.",
    ops: &[&CALL, &FUNC, &RETURN],
    types: &[],
    attributes: &[],
    constant: None,
};

//! Folding, common subexpressions and dead code.
//!
//! | pass | does | file |
//! |---|---|---|
//! | [`Simplify`] | folds, merges equal ops and erases dead ones until nothing changes | `simplify` |
//! | [`Cse`] | merges equal ops | `cse` |
//! | [`Dce`] | erases dead ops | `dce` |
//!
//! Each is a function first, on an isolated op and all that is in it: [`fold_ops`], [`merge_equal_ops`], [`erase_dead_ops`].

mod cse;
mod dce;
mod fold;
mod simplify;
#[cfg(test)]
mod testing;
mod worklist;

pub use cse::{Cse, merge_equal_ops};
pub use dce::{Dce, erase_dead_ops};
pub use fold::{FoldCounts, fold_ops};
pub use simplify::{Counts, Simplify, simplify};

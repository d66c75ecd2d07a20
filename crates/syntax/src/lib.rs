//! The text of Tofu's intermediate representation.
//!
//! [`parse`] reads a `.tir` file into a [`Module`](tofu_ir::Module), [`print()`] writes one; `parse(print(m))` equals
//! `m` in the pretty form and in the generic one. The grammar is `tir.pest`; `docs/tir.md` explains it by example.
//! Readers of other languages share [`literals`], [`Parsed`] and [`adopt_root`],
//! writers [`ValueNames`].

mod foreign;
mod parse;
mod print;

pub use parse::{MAX_ERRORS, Parsed, adopt_root, literals, parse, parse_part};
pub use print::{PrintOptions, ValueNames, print, print_op};

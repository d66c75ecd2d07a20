//! The one dialect that the IR itself brings: `module`, the root of every program.

use crate::{
    BlockCount, Dialect, OpDef, RegionSpec, SYMBOL_DEFINITION, SYMBOL_NAME, Syntax, Trait, op, optional,
    region,
};

/// `module @name { … }`: a list of named ops.
pub static MODULE: OpDef = op("builtin.module")
    .keyword("module")
    .summary("A program: a list of functions and other named ops.")
    .example("module @empty {\n}")
    .attributes(&[optional(SYMBOL_NAME, SYMBOL_DEFINITION)])
    .regions(&[BODY])
    .syntax(Syntax::Body)
    .traits(&[Trait::Isolated, Trait::NoTerminator, Trait::Symbol, Trait::SymbolTable, Trait::TopLevel]);

const BODY: RegionSpec = region("body").blocks(BlockCount::One);

/// The dialect of [`MODULE`].
pub static DIALECT: Dialect = Dialect {
    name: "builtin",
    summary: "What every program needs.",
    ops: &[&MODULE],
    types: &[],
    attributes: &[],
    constant: None,
};

//! A small dialect that uses every shape of op, for tests.

use std::sync::{Arc, LazyLock};

use tofu_diagnostics::{Diagnostic, Format, Renderer, SourceMap};
use tofu_ir::*;
use tofu_syntax::{Parsed, parse};

pub(crate) static ADD: OpDef = op("test.add")
    .operands(&[tensor("a"), tensor("b")])
    .results(&[tensor("sum")])
    .traits(&[Trait::Pure, Trait::Commutative])
    .infer_types(|module, op| Ok(vec![module.value_type(module.operand(op, 0)).clone()]));

pub(crate) static CONSTANT: OpDef = op("test.constant")
    .results(&[tensor("value")])
    .attributes(&[required("value", DENSE), optional("note", ANY_ATTR)])
    .traits(&[Trait::Pure, Trait::Constant])
    .syntax(Syntax::Value);

pub(crate) static ANY: OpDef =
    op("test.any").operands(&[any("inputs").variadic()]).results(&[any("outputs").variadic()]).attributes(&[
        optional("a", ANY_ATTR),
        optional("b", ANY_ATTR),
        optional("c", ANY_ATTR),
        optional("a strange name", ANY_ATTR),
    ]);

pub(crate) static REGION: OpDef = op("test.region")
    .operands(&[any("inputs").variadic()])
    .results(&[any("outputs").variadic()])
    .attributes(&[optional("a", ANY_ATTR)])
    .regions(&[region("body").blocks(BlockCount::Any)]);

pub(crate) static TWO_REGIONS: OpDef = op("test.two_regions")
    .operands(&[any("inputs").variadic()])
    .results(&[any("outputs").variadic()])
    .regions(&[region("first").blocks(BlockCount::Any), region("second").blocks(BlockCount::Any)]);

pub(crate) static ISOLATED: OpDef = op("test.isolated")
    .operands(&[any("inputs").variadic()])
    .results(&[any("outputs").variadic()])
    .regions(&[region("body").blocks(BlockCount::Any)])
    .traits(&[Trait::Isolated]);

/// Braces without a signature, and values from around it seen inside.
pub(crate) static SCOPE: OpDef = op("test.scope")
    .attributes(&[optional(SYMBOL_NAME, SYMBOL_DEFINITION), optional("a", ANY_ATTR)])
    .regions(&[region("body").blocks(BlockCount::Any)])
    .syntax(Syntax::Body)
    .traits(&[Trait::Symbol]);

/// A symbol table that is not isolated.
pub(crate) static TABLE: OpDef = op("test.table")
    .attributes(&[optional(SYMBOL_NAME, SYMBOL_DEFINITION), optional("a", ANY_ATTR)])
    .regions(&[region("body").blocks(BlockCount::Any)])
    .syntax(Syntax::Body)
    .traits(&[Trait::NoTerminator, Trait::Symbol, Trait::SymbolTable]);

pub(crate) static SPLIT: OpDef = op("test.split")
    .operands(&[tensor("x")])
    .results(&[tensor("low"), tensor("high")])
    .traits(&[Trait::Pure])
    .infer_types(|module, op| Ok(vec![module.value_type(module.operand(op, 0)).clone(); 2]));

pub(crate) static END: OpDef = op("test.end")
    .operands(&[any("values").variadic()])
    .successors(SuccessorCount::Any)
    .traits(&[Trait::Terminator, Trait::Pure]);

pub(crate) static CALL: OpDef = op("test.call")
    .operands(&[any("arguments").variadic()])
    .results(&[any("results").variadic()])
    .attributes(&[required("callee", SYMBOL), optional("a", ANY_ATTR)])
    .syntax(Syntax::Symbol("callee"));

pub(crate) static FUNC: OpDef = op("test.func")
    .keyword("func")
    .attributes(&[
        required(SYMBOL_NAME, SYMBOL_DEFINITION),
        required(FUNCTION_TYPE, FUNCTION),
        optional(ARGUMENT_ATTRIBUTES, ARRAY),
        optional(RESULT_ATTRIBUTES, ARRAY),
        optional("a", ANY_ATTR),
    ])
    .regions(&[region("body").blocks(BlockCount::Any)])
    .syntax(Syntax::Function)
    .traits(&[Trait::Isolated, Trait::Symbol, Trait::TopLevel]);

/// A name for an attribute.
pub(crate) static DEFINITION: OpDef = op("test.define")
    .keyword("define")
    .attributes(&[
        required(SYMBOL_NAME, SYMBOL_DEFINITION),
        required("list", ANY_ATTR),
        optional("a", ANY_ATTR),
    ])
    .syntax(Syntax::Definition("list"))
    .traits(&[Trait::Symbol, Trait::TopLevel]);

/// Text in another language.
pub(crate) static TEXT: OpDef = op("test.text")
    .keyword("text")
    .attributes(&[
        required(SYMBOL_NAME, SYMBOL_DEFINITION),
        required("words", STRING),
        optional("a", ANY_ATTR),
    ])
    .syntax(Syntax::Text("words"))
    .traits(&[Trait::Symbol, Trait::TopLevel]);

pub(crate) static HOST: ParametricDef = ParametricDef::new("test.host").text(
    |reader| {
        let ty = reader.ty()?;
        Ok(reader.module().interner.attr(AttrData::Type(ty)))
    },
    |module, params, writer| {
        if let AttrData::Type(ty) = module.attr_data(params) {
            writer.ty(*ty);
        }
    },
);

pub(crate) static LIST: ParametricDef = ParametricDef::new("test.list").verify(|module, params| {
    let too_long = matches!(module.attr_data(params), AttrData::Ints(items) if items.len() > 8);
    if too_long { Err("a test list has at most 8 items".to_owned()) } else { Ok(()) }
});

pub(crate) static DIALECT: Dialect = Dialect {
    name: "test",
    summary: "For tests.",
    ops: &[
        &ADD,
        &ANY,
        &CALL,
        &CONSTANT,
        &DEFINITION,
        &END,
        &FUNC,
        &ISOLATED,
        &REGION,
        &SCOPE,
        &SPLIT,
        &TABLE,
        &TEXT,
        &TWO_REGIONS,
    ],
    types: &[&HOST],
    attributes: &[&LIST],
    constant: None,
};

pub(crate) fn registry() -> Arc<Registry> {
    static REGISTRY: LazyLock<Arc<Registry>> =
        LazyLock::new(|| Arc::new(Registry::new(&[&DIALECT]).unwrap()));
    Arc::clone(&REGISTRY)
}

pub(crate) fn parse_text(text: &str) -> (SourceMap, Parsed) {
    let mut sources = SourceMap::new();
    let file = sources.add("test.tir", text).unwrap();
    let parsed = parse(&sources, file, registry());
    (sources, parsed)
}

/// All diagnostics, a line each.
pub(crate) fn short(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let renderer = Renderer { format: Format::Short, color: false, width: 80 };
    diagnostics.iter().map(|diagnostic| renderer.render(sources, diagnostic)).collect()
}

/// The module of a text without mistakes.
pub(crate) fn module(text: &str) -> Module {
    let (sources, parsed) = parse_text(text);
    assert!(parsed.is_ok(), "{}\n{text}", short(&sources, &parsed.diagnostics));
    parsed.module
}

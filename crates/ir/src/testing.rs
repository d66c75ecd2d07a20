//! Ops for the tests of this crate.

use std::sync::Arc;

use crate::*;

pub(crate) static FUNC: OpDef = op("t.func")
    .attributes(&[
        required(SYMBOL_NAME, SYMBOL_DEFINITION),
        required(FUNCTION_TYPE, FUNCTION),
        optional(ARGUMENT_ATTRIBUTES, ARRAY),
        optional(RESULT_ATTRIBUTES, ARRAY),
    ])
    .regions(&[region("body").blocks(BlockCount::Any)])
    .syntax(Syntax::Function)
    .traits(&[Trait::Isolated, Trait::Symbol, Trait::TopLevel]);

pub(crate) static ANY: OpDef = op("t.any")
    .operands(&[any("inputs").variadic()])
    .results(&[any("outputs").variadic()])
    .attributes(&[optional("a", ANY_ATTR), optional("list", INTS)]);

pub(crate) static NAMED: OpDef = op("t.named")
    .attributes(&[optional("a", ANY_ATTR), required(SYMBOL_NAME, SYMBOL_DEFINITION)])
    .traits(&[Trait::Symbol]);

pub(crate) static SAME: OpDef = op("t.same")
    .operands(&[tensor("x")])
    .results(&[tensor("y")])
    .infer_types(|module, op| Ok(vec![module.value_type(module.operand(op, 0)).clone()]))
    .verify(|module, op, found| {
        if module.has_uses(module.result(op, 0)) {
            found.push(module.error(op, &tofu_diagnostics::codes::SHAPE_MISMATCH, "used"));
        }
    });

pub(crate) static SCOPE: OpDef = op("t.scope").regions(&[region("body").blocks(BlockCount::Any)]);

pub(crate) static ONE_BLOCK: OpDef =
    op("t.one_block").regions(&[region("body")]).traits(&[Trait::NoTerminator]);

pub(crate) static CASES: OpDef =
    op("t.cases").regions(&[region("first"), region("more").variadic()]).traits(&[Trait::NoTerminator]);

pub(crate) static ISOLATED: OpDef = op("t.isolated")
    .regions(&[region("body").blocks(BlockCount::Any)])
    .traits(&[Trait::Isolated, Trait::NoTerminator]);

pub(crate) static END: OpDef = op("t.end")
    .operands(&[any("values").variadic()])
    .successors(SuccessorCount::Any)
    .traits(&[Trait::Terminator]);

pub(crate) static EVEN: ParametricDef =
    ParametricDef::new("t.even").verify(|module, params| match module.attr_data(params) {
        AttrData::Ints(items) if items.len().is_multiple_of(2) => Ok(()),
        _ => Err("an even number of integers is expected".to_owned()),
    });

/// Reports every use of itself.
pub(crate) static SAID: ParametricDef = ParametricDef::new("t.said").verify_use(|module, _, place, found| {
    let message = format!("{} {:?}", place.name, place.target);
    found.push(module.error(place.op, &tofu_diagnostics::codes::WRONG_ATTRIBUTE, message));
});

static DIALECT: Dialect = Dialect {
    name: "t",
    summary: "For tests.",
    ops: &[&ANY, &CASES, &END, &FUNC, &ISOLATED, &NAMED, &ONE_BLOCK, &SAME, &SCOPE],
    types: &[&EVEN],
    attributes: &[&SAID],
    constant: None,
};

/// An empty program.
pub(crate) fn module() -> Module {
    Module::new(Arc::new(Registry::new(&[&DIALECT]).unwrap()))
}

/// A function without arguments, and its empty entry block.
pub(crate) fn function(module: &mut Module, name: &str) -> (OpId, BlockId) {
    let body = module.body();
    let ty = module.interner.function(&[], &[]);
    let (symbol, ty) = (module.interner.symbol(name), module.interner.attr(AttrData::Type(ty)));
    let op = Builder::at_end(module, body)
        .op(&FUNC)
        .attr(SYMBOL_NAME, symbol)
        .attr(FUNCTION_TYPE, ty)
        .region()
        .build();
    let region = module.region(op, 0);
    (op, module.append_block(region))
}

/// A scalar type.
pub(crate) fn f32(module: &mut Module) -> Type {
    module.interner.ty(ElementType::F32)
}

/// An op with these operands and so many scalar results, at the end of a block.
pub(crate) fn any_op(module: &mut Module, block: BlockId, operands: &[ValueId], results: usize) -> OpId {
    let ty = f32(module);
    let mut builder = Builder::at_end(module, block);
    builder.op(&ANY).operands(operands.iter().copied()).results(std::iter::repeat_n(ty, results)).build()
}

/// A terminator that continues at these blocks, which take nothing.
pub(crate) fn end(module: &mut Module, block: BlockId, successors: &[BlockId]) -> OpId {
    let mut builder = Builder::at_end(module, block);
    successors.iter().fold(builder.op(&END), |op, &next| op.successor(next, [])).build()
}

//! `func` and `return`.

use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_ir::{
    ARGUMENT_ATTRIBUTES, AttrClass, AttrData, BlockCount, BlockId, Builder, Control, FUNCTION, FUNCTION_TYPE,
    FunctionType, Module, OpDef, OpId, OpState, RESULT_ATTRIBUTES, SYMBOL_DEFINITION, SYMBOL_NAME, Syntax,
    Trait, Type, TypeData, ValueId, any, op, optional, region, required,
};
use tofu_memory::{Donated, Donation};
use tofu_pass::Anchor;

/// The attribute that says who may call a function.
pub const VISIBILITY: &str = "visibility";

/// `func @name(%x: …) -> … { … }`: a function, or without a body the declaration of one.
pub static FUNC: OpDef = op("func.func")
    .keyword("func")
    .summary("A function: a name, a signature, and a body unless it is only declared.")
    .example("func @identity(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n  return %x\n}")
    .attributes(&[
        optional(ARGUMENT_ATTRIBUTES, DICTIONARIES),
        required(FUNCTION_TYPE, FUNCTION),
        optional(RESULT_ATTRIBUTES, DICTIONARIES),
        required(SYMBOL_NAME, SYMBOL_DEFINITION),
        optional(VISIBILITY, VISIBILITIES),
    ])
    .regions(&[region("body").blocks(BlockCount::Any)])
    .syntax(Syntax::Function)
    .traits(&[Trait::Isolated, Trait::Symbol, Trait::TopLevel])
    .verify(verify_function)
    .interfaces(&[&Donation(donation)]);

/// What passes over functions are anchored to.
#[derive(Clone, Copy, Debug)]
pub struct Func;

impl Anchor for Func {
    const OP: &'static str = "func";
}

/// `return %x`: ends a function and gives its results.
pub static RETURN: OpDef = op("func.return")
    .keyword("return")
    .summary("Ends a function and gives its results.")
    .example("func @second(%x: f32, %y: f32) -> f32 {\n  return %y\n}")
    .operands(&[any("results").variadic()])
    .traits(&[Trait::Pure, Trait::Terminator])
    .verify(verify_return)
    .interfaces(&[&Control::Yield]);

const DICTIONARIES: AttrClass = AttrClass {
    name: "an array of dictionaries",
    contains: |module, attr| match module.attr_data(attr) {
        AttrData::Array(items) => {
            items.iter().all(|&item| matches!(module.attr_data(item), AttrData::Dict(_)))
        }
        AttrData::Ints(items) => items.is_empty(),
        _ => false,
    },
};

const VISIBILITIES: AttrClass = AttrClass {
    name: "\"public\" or \"private\"",
    contains: |module, attr| matches!(module.attr_data(attr), AttrData::String(text) if matches!(&**text, "public" | "private")),
};

/// The attribute of an argument that says which result takes its place, as XLA and JAX have it.
pub const ALIASING_OUTPUT: &str = "tf.aliasing_output";
/// The attribute of an argument that the caller has given away, as JAX has it.
pub const BUFFER_DONOR: &str = "jax.buffer_donor";

fn donation(module: &Module, function: OpId, argument: usize) -> Option<Donated> {
    let Some(AttrData::Array(items)) = module.attr_value(function, ARGUMENT_ATTRIBUTES) else { return None };
    let said = *items.get(argument)?;
    let entry = |name: &str| module.dict_entry(said, name).map(|attr| module.attr_data(attr));
    match (entry(ALIASING_OUTPUT), entry(BUFFER_DONOR)) {
        (Some(&AttrData::Int(result, _)), _) => usize::try_from(result).ok().map(Donated::To),
        (_, Some(AttrData::Bool(true))) => Some(Donated::Freely),
        _ => None,
    }
}

/// The signature of a [`FUNC`].
pub fn signature(module: &Module, function: OpId) -> Option<&FunctionType> {
    let Some(AttrData::Type(ty)) = module.attr_value(function, FUNCTION_TYPE) else { return None };
    match module.type_data(*ty) {
        TypeData::Function(signature) => Some(signature),
        _ => None,
    }
}

/// The block in which a [`FUNC`] begins; none if it is only declared.
pub fn body(module: &Module, function: OpId) -> Option<BlockId> {
    module.entry(module.only_region(function)?)
}

/// Adds a function at the end of a program: the op, and its entry block with one argument for each of `inputs`.
pub fn build_function(module: &mut Module, name: &str, inputs: &[Type], results: &[Type]) -> (OpId, BlockId) {
    let ty = module.interner.function(inputs, results);
    let entries = [
        (module.interner.name(SYMBOL_NAME), module.interner.symbol(name)),
        (module.interner.name(FUNCTION_TYPE), module.interner.attr(AttrData::Type(ty))),
    ];
    let attrs = module.interner.dict(&entries);
    let function = module.create(OpState::new(&FUNC).attrs(attrs).regions(1));
    module.append(module.body(), function);
    let entry = module.append_block(module.region(function, 0));
    for &input in inputs {
        module.append_argument(entry, input);
    }
    (function, entry)
}

/// Adds a [`RETURN`].
pub fn build_return(builder: &mut Builder<'_>, results: impl IntoIterator<Item = ValueId>) -> OpId {
    builder.op(&RETURN).operands(results).build()
}

fn verify_function(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let Some(signature) = signature(module, op) else { return };
    let lists = [
        (ARGUMENT_ATTRIBUTES, "argument", signature.inputs.len()),
        (RESULT_ATTRIBUTES, "result", signature.results.len()),
    ];
    for (name, what, wanted) in lists {
        let given = match module.attr_value(op, name) {
            Some(AttrData::Array(items)) => items.len(),
            Some(AttrData::Ints(items)) => items.len(),
            _ => continue,
        };
        if given != wanted {
            let message =
                format!("the function has {}, but `{name}` {given} dictionaries", plural(wanted, what));
            found.push(Diagnostic::error(&codes::WRONG_ATTRIBUTE, module.attr_span(op, name), message));
        }
    }
    // Another op's terminator would leave the function without giving its results.
    for block in module.regions(op).flat_map(|region| module.blocks(region)) {
        let Some(last) = module.last_op(*block).filter(|&last| module.has(last, Trait::Terminator)) else {
            continue;
        };
        if !module.is(last, &RETURN) && module.successors(last).is_empty() {
            let name = module.def(last).written_name();
            let message = format!("`{name}` cannot end a function");
            found.push(module.error(last, &codes::WRONG_PARENT, message).help("end it with `return`"));
        }
    }
}

fn verify_return(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let Some(function) = module.parent(op).filter(|&parent| module.is(parent, &FUNC)) else {
        let message = "`return` may stand only directly in a function";
        found.push(module.error(op, &codes::WRONG_PARENT, message));
        return;
    };
    let Some(signature) = signature(module, function) else { return };
    let declared = module.attr_span(function, FUNCTION_TYPE);
    let (given, wanted) = (module.operand_count(op), signature.results.len());
    if given != wanted {
        let message =
            format!("`return` gives {}, but the function declares {wanted}", plural(given, "result"));
        let error = module.error(op, &codes::WRONG_SIGNATURE, message);
        found.push(error.secondary(declared, "the function is declared here"));
        return;
    }
    for (index, (operand, &result)) in module.operands(op).zip(&signature.results).enumerate() {
        let ty = module.ty(operand);
        if ty != result {
            let message = format!(
                "`return` gives a `{}` as result {index}, but the function declares `{}`",
                module.type_text(ty),
                module.type_text(result)
            );
            found.push(
                Diagnostic::error(&codes::WRONG_SIGNATURE, module.operand_span(op, index), message)
                    .secondary(declared, "the function is declared here"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tofu_ir::{ElementType, Registry, verify};

    use super::*;

    fn module() -> Module {
        Module::new(Arc::new(Registry::new(&[&crate::DIALECT]).unwrap()))
    }

    fn problems(module: &Module) -> Vec<(&'static str, String)> {
        verify(module).into_iter().map(|found| (found.code.id, found.message)).collect()
    }

    #[test]
    fn declarations_have_no_body() {
        let mut module = module();
        let ty = module.interner.tensor(&[4], ElementType::F32);
        let (function, entry) = build_function(&mut module, "f", &[ty], &[ty]);
        let x = module.arguments(entry)[0];
        build_return(&mut Builder::at_end(&mut module, entry), [x]);
        assert_eq!(problems(&module), []);
        assert_eq!(body(&module, function), Some(entry));
        assert_eq!(signature(&module, function).unwrap().inputs[..], [ty]);
    }

    #[test]
    fn a_return_gives_what_is_declared() {
        let mut module = module();
        let (four, eight) =
            (module.interner.tensor(&[4], ElementType::F32), module.interner.tensor(&[8], ElementType::F32));
        let (_, entry) = build_function(&mut module, "f", &[four], &[eight]);
        let x = module.arguments(entry)[0];
        build_return(&mut Builder::at_end(&mut module, entry), [x]);
        let (_, entry) = build_function(&mut module, "g", &[], &[eight]);
        build_return(&mut Builder::at_end(&mut module, entry), []);
        let expected = [
            "`return` gives a `tensor<4xf32>` as result 0, but the function declares `tensor<8xf32>`",
            "`return` gives no results, but the function declares 1",
        ];
        assert_eq!(problems(&module), expected.map(|message| ("T0226", message.to_owned())));
    }

    #[test]
    fn a_return_continues_nowhere() {
        let mut module = module();
        let ty = module.interner.tensor(&[4], ElementType::F32);
        let (function, entry) = build_function(&mut module, "f", &[ty], &[]);
        let next = module.append_block(module.region(function, 0));
        module.append_argument(next, ty);
        build_return(&mut Builder::at_end(&mut module, next), []);
        let x = module.arguments(entry)[0];
        Builder::at_end(&mut module, entry).op(&RETURN).successor(next, [x]).build();
        let expected = "`return` continues at no blocks, but is given 1";
        assert_eq!(problems(&module), [("T0230", expected.to_owned())]);
    }

    #[test]
    fn attribute_lists_fit_the_signature() {
        let mut module = module();
        let ty = module.interner.tensor(&[4], ElementType::F32);
        let (function, entry) = build_function(&mut module, "f", &[ty], &[]);
        build_return(&mut Builder::at_end(&mut module, entry), []);
        let none = module.interner.ints([]);
        module.set_attr(function, ARGUMENT_ATTRIBUTES, none);
        let secret = module.interner.string("secret");
        module.set_attr(function, VISIBILITY, secret);
        let expected = "attribute `visibility` of `func` must be \"public\" or \"private\", but is a string";
        assert_eq!(problems(&module), [("T0217", expected.to_owned())]);
        let private = module.interner.string("private");
        module.set_attr(function, VISIBILITY, private);
        let expected = "the function has one argument, but `arg_attrs` 0 dictionaries";
        assert_eq!(problems(&module), [("T0217", expected.to_owned())]);
    }

    #[test]
    fn a_function_ends_in_return() {
        static STOP: OpDef = op("other.stop").traits(&[Trait::Terminator]);
        let mut module = module();
        let (_, entry) = build_function(&mut module, "f", &[], &[]);
        Builder::at_end(&mut module, entry).op(&STOP).build();
        assert_eq!(problems(&module), [("T0227", "`other.stop` cannot end a function".to_owned())]);
    }
}

//! `call`.
//!
//! Symbolic extents belong to one function, so a call gives those of its callee a meaning: where the callee takes
//! `{n}`, the argument's extent stands for `{n}` in the results.

use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_ir::{
    Builder, Control, Extents, Instances, Module, OpDef, OpId, SYMBOL, Syntax, ValueId, any, op, required,
};

use crate::{FUNC, signature};

/// The attribute that says which function is called.
pub const CALLEE: &str = "callee";

/// `%y = call @f(%x)`: the results of a function.
pub static CALL: OpDef = op("func.call")
    .keyword("call")
    .summary("Calls a function.")
    .example(
        "func @callee(%x: tensor<4x8xf32>) -> tensor<4x8xf32>\n\
         func @caller(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n  %y = call @callee(%x)\n  return %y\n}",
    )
    .operands(&[any("arguments").variadic()])
    .results(&[any("results").variadic()])
    .attributes(&[required(CALLEE, SYMBOL)])
    .syntax(Syntax::Symbol(CALLEE))
    .infer_instances(infer_call)
    .interfaces(&[&Control::Call(CALLEE)]);

/// The function that a [`CALL`] calls.
pub fn callee(module: &Module, call: OpId) -> Option<OpId> {
    module.symbol_target(call, CALLEE).filter(|&target| module.is(target, &FUNC))
}

/// Adds a call of a function of the program.
///
/// # Errors
/// When there is no such function, or it takes other arguments.
pub fn build_call(
    builder: &mut Builder<'_>,
    callee: &str,
    arguments: impl IntoIterator<Item = ValueId>,
) -> Result<OpId, Diagnostic> {
    let callee = builder.module.interner.symbol(callee);
    builder.op(&CALL).operands(arguments).attr(CALLEE, callee).infer()
}

fn infer_call(module: &Module, op: OpId) -> Result<Instances, Diagnostic> {
    let name =
        module.attr(op, CALLEE).map_or(String::new(), |callee| module.display_attr(callee).to_string());
    let target = module.symbol_target(op, CALLEE).ok_or_else(|| {
        let message = format!("there is no `{name}`");
        Diagnostic::error(&codes::UNDEFINED_SYMBOL, module.attr_span(op, CALLEE), message)
    })?;
    let declared = module.span(target);
    let Some(signature) = signature(module, target).filter(|_| module.is(target, &FUNC)) else {
        let message = format!("`{name}` is no function");
        return Err(Diagnostic::error(&codes::WRONG_SIGNATURE, module.attr_span(op, CALLEE), message)
            .secondary(declared, "it is defined here"));
    };
    let (given, wanted) = (module.operand_count(op), signature.inputs.len());
    if given != wanted {
        let message = format!("`{name}` takes {}, but is given {given}", plural(wanted, "argument"));
        return Err(module
            .error(op, &codes::WRONG_SIGNATURE, message)
            .secondary(declared, "the function is declared here"));
    }
    let mut extents = Extents::new();
    for (index, (argument, &input)) in module.operands(op).zip(&signature.inputs).enumerate() {
        let ty = module.ty(argument);
        if !extents.accept(module, input, ty) {
            let message = format!(
                "`{name}` takes a `{}` as argument {index}, but is given a `{}`",
                module.type_text(input),
                module.type_text(ty)
            );
            return Err(Diagnostic::error(&codes::WRONG_SIGNATURE, module.operand_span(op, index), message)
                .secondary(declared, "the function is declared here"));
        }
    }
    Ok(Instances { types: signature.results.to_vec(), extents })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tofu_ir::{
        AttrData, DialectType, Dim, ElementType, ParametricDef, Registry, TensorType, Type, TypeData, verify,
    };

    use super::*;
    use crate::{build_function, build_return};

    fn tensor(module: &mut Module, dims: &[Dim]) -> Type {
        module.interner.ty(TensorType { dims: dims.into(), element: ElementType::F32 })
    }

    /// Calls `f(inputs) -> results` with `arguments`; the type of the first result.
    fn call(inputs: &[&[&str]], results: &[&[&str]], arguments: &[&[&str]]) -> Result<String, String> {
        let mut module = Module::new(Arc::new(Registry::new(&[&crate::DIALECT]).unwrap()));
        let mut types = |types: &[&[&str]]| -> Vec<Type> {
            let dim = |module: &mut Module, text: &str| match text {
                "?" => Dim::Unknown,
                _ => text.parse().map_or_else(|_| Dim::Symbol(module.interner.name(text)), Dim::Static),
            };
            let dims = |dims: &&[&str]| {
                let dims: Vec<Dim> = dims.iter().map(|text| dim(&mut module, text)).collect();
                tensor(&mut module, &dims)
            };
            types.iter().map(dims).collect()
        };
        let (inputs, results, arguments) = (types(inputs), types(results), types(arguments));
        let (callee, entry) = build_function(&mut module, "f", &inputs, &results);
        let body = module.region_of(entry).unwrap();
        assert_eq!(module.op_of(body), callee);
        let (_, entry) = build_function(&mut module, "g", &arguments, &[]);
        let arguments = module.arguments(entry).to_vec();
        let made = build_call(&mut Builder::at_end(&mut module, entry), "f", arguments);
        let op = made.map_err(|diagnostic| format!("{}: {}", diagnostic.code.id, diagnostic.message))?;
        assert_eq!(crate::callee(&module, op), Some(callee));
        build_return(&mut Builder::at_end(&mut module, entry), []);
        Ok(module.type_text(module.ty(module.result(op, 0))))
    }

    #[test]
    fn results_are_those_of_the_callee() {
        assert_eq!(call(&[&["4"]], &[&["8"]], &[&["4"]]), Ok("tensor<8xf32>".into()));
        assert_eq!(call(&[&["?"]], &[&["?"]], &[&["4"]]), Ok("tensor<?xf32>".into()));
    }

    #[test]
    fn symbolic_extents_stand_for_the_arguments() {
        assert_eq!(call(&[&["n", "2"]], &[&["n"]], &[&["4", "2"]]), Ok("tensor<4xf32>".into()));
        assert_eq!(call(&[&["n"]], &[&["n", "m"]], &[&["batch"]]), Ok("tensor<{batch}x?xf32>".into()));
        assert_eq!(call(&[&["n"], &["n"]], &[&["n"]], &[&["?"], &["4"]]), Ok("tensor<4xf32>".into()));
        let error = "T0226: `@f` takes a `tensor<{n}xf32>` as argument 1, but is given a `tensor<5xf32>`";
        assert_eq!(call(&[&["n"], &["n"]], &[&["n"]], &[&["4"], &["5"]]), Err(error.into()));
    }

    #[test]
    fn extents_inside_of_other_types_are_those_of_the_call_too() {
        static HOST: ParametricDef = ParametricDef::new("func.host");
        let mut module = Module::new(Arc::new(Registry::new(&[&crate::DIALECT]).unwrap()));
        let n = Dim::Symbol(module.interner.name("n"));
        let mut wrapped = |dim| {
            let tensor = tensor(&mut module, &[dim]);
            let params = module.interner.attr(AttrData::Type(tensor));
            let host = module.interner.ty(TypeData::Dialect(DialectType { def: &HOST, params }));
            let function = module.interner.function(&[tensor], &[tensor]);
            module.interner.ty(TypeData::Tuple([host, function].into()))
        };
        let (of_n, of_four, of_unknown) = (wrapped(n), wrapped(Dim::Static(4)), wrapped(Dim::Unknown));
        let (of_tensor, four) = (tensor(&mut module, &[n]), tensor(&mut module, &[Dim::Static(4)]));
        build_function(&mut module, "from_tensor", &[of_tensor], &[of_n]);
        build_function(&mut module, "from_tuple", &[of_n], &[of_n]);
        build_function(&mut module, "from_nothing", &[], &[of_n]);
        for function in module.walk(module.root()).skip(1).collect::<Vec<_>>() {
            let blocks = module.take_blocks(module.region(function, 0));
            assert_eq!(blocks.len(), 1, "it becomes a declaration");
        }
        let (_, entry) = build_function(&mut module, "caller", &[four, of_four], &[]);
        let arguments = module.arguments(entry).to_vec();
        let mut call = |callee: &str, arguments: &[ValueId]| {
            let op =
                build_call(&mut Builder::at_end(&mut module, entry), callee, arguments.to_vec()).unwrap();
            module.ty(module.result(op, 0))
        };
        assert_eq!(call("from_tensor", &arguments[..1]), of_four);
        assert_eq!(call("from_tuple", &arguments[1..]), of_four);
        assert_eq!(call("from_nothing", &[]), of_unknown);
        build_return(&mut Builder::at_end(&mut module, entry), []);
        assert!(verify(&module).is_empty());
        // The callee's `{n}` says nothing in the caller.
        let calls: Vec<OpId> = module.ops(entry).filter(|&op| module.is(op, &CALL)).collect();
        module.set_type(module.result(calls[0], 0), of_n);
        let found = verify(&module);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "result 0 of `call` is written as `tuple<func.host<tensor<{n}xf32>>, (tensor<{n}xf32>) -> tensor<{n}xf32>>`, but \
             `call` gives `tuple<func.host<tensor<4xf32>>, (tensor<4xf32>) -> tensor<4xf32>>`"
        );
    }

    #[test]
    fn arguments_fit() {
        let error = "T0226: `@f` takes a `tensor<4xf32>` as argument 0, but is given a `tensor<?xf32>`";
        assert_eq!(call(&[&["4"]], &[&["4"]], &[&["?"]]), Err(error.into()));
        let error = "T0226: `@f` takes one argument, but is given 0";
        assert_eq!(call(&[&["4"]], &[&["4"]], &[]), Err(error.into()));
    }

    #[test]
    fn callees_are_functions_that_exist() {
        let mut module = Module::new(Arc::new(Registry::new(&[&crate::DIALECT]).unwrap()));
        let (_, entry) = build_function(&mut module, "g", &[], &[]);
        let error = build_call(&mut Builder::at_end(&mut module, entry), "f", []).unwrap_err();
        assert_eq!((error.code.id, error.message.as_str()), ("T0209", "there is no `@f`"));
        build_return(&mut Builder::at_end(&mut module, entry), []);
        assert!(verify(&module).is_empty());
    }
}

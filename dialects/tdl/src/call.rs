//! `tdl.call`.

use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_ir::{
    Builder, Module, OpDef, OpId, SYMBOL, SYMBOL_NAME, Syntax, Trait, TypeData, ValueId, op, required, tensor,
};
use tofu_tdl::{Describe, Description};

use crate::operator::{OPERATOR, description};

/// The attribute that says which operator is called.
pub const CALLEE: &str = "callee";

/// `%y = tdl.call @f(%x)`: the results of an operator that the program describes.
pub static CALL: OpDef = op("tdl.call")
    .summary("Applies an operator that the program describes.")
    .example(
        "tdl @scale(x: [N], factor: []) -> [N] {\n  out[n] = x[n] * factor[]\n}\n\
         func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {\n  %two = tensor.constant dense<2.0> : tensor<f32>\n  \
         %y = tdl.call @scale(%x, %two)\n  return %y\n}",
    )
    .operands(&[tensor("operands").variadic()])
    .results(&[tensor("results").variadic()])
    .attributes(&[required(CALLEE, SYMBOL)])
    .syntax(Syntax::Symbol(CALLEE))
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe)]);

/// Adds a call of an operator of the program.
///
/// # Errors
/// When there is no such operator, or it takes other operands.
pub fn build_call(
    builder: &mut Builder<'_>,
    callee: &str,
    operands: impl IntoIterator<Item = ValueId>,
) -> Result<OpId, Diagnostic> {
    let callee = builder.module.interner.symbol(callee);
    builder.op(&CALL).operands(operands).attr(CALLEE, callee).infer()
}

fn describe(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let operator = operator(module, op)?;
    match &*description(module, operator) {
        Ok(description) => Ok(description.clone()),
        Err(found) => Err(found.first().cloned().unwrap_or_else(|| {
            module.error(operator, &codes::TDL_MISSING_DEFINITION, "the operator has no description")
        })),
    }
}

fn infer_types(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let operator = operator(module, op)?;
    let Ok(description) = &*description(module, operator) else {
        // What is wrong with the description is said of the operator.
        return Ok(vec![TypeData::Error; module.result_count(op)]);
    };
    let (given, wanted) = (module.operand_count(op), description.parameters().len());
    let types = if given == wanted {
        tofu_tdl::infer_types(module, op)
    } else {
        let message =
            format!("`@{}` takes {}, but is given {given}", description.name(), plural(wanted, "operand"));
        Err(module.error(op, &codes::WRONG_OPERAND_COUNT, message))
    };
    types.map_err(|diagnostic| {
        diagnostic.secondary(module.attr_span(operator, SYMBOL_NAME), "the operator is described here")
    })
}

/// The [`OPERATOR`] that a [`CALL`] calls.
fn operator(module: &Module, call: OpId) -> Result<OpId, Diagnostic> {
    let name = module.attr(call, CALLEE).map_or(String::new(), |name| module.display_attr(name).to_string());
    let place = module.attr_span(call, CALLEE);
    let target = module
        .symbol_target(call, CALLEE)
        .ok_or_else(|| Diagnostic::error(&codes::UNDEFINED_SYMBOL, place, format!("there is no `{name}`")))?;
    if module.is(target, &OPERATOR) {
        return Ok(target);
    }
    let message = format!("`{name}` is no operator");
    Err(Diagnostic::error(&codes::WRONG_SIGNATURE, place, message)
        .secondary(module.span(target), "it is defined here"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tofu_dialect_func as func;
    use tofu_ir::{ElementType, Registry, copy_op_from, verify};

    use super::*;
    use crate::build_operator;

    const WINDOW: &str = "(x: [2 * N]) -> [N] { out[n] = x[2 * n] }";

    fn module() -> Module {
        Module::new(Arc::new(Registry::new(&[&func::DIALECT, &crate::DIALECT]).unwrap()))
    }

    /// A function that calls `callee` with a tensor of 8 elements, and the call.
    fn caller(module: &mut Module, callee: &str) -> (OpId, Result<OpId, Diagnostic>) {
        let ty = module.interner.tensor(&[8], ElementType::F32);
        let (function, entry) = func::build_function(module, "f", &[ty], &[]);
        let argument = module.arguments(entry)[0];
        let call = build_call(&mut Builder::at_end(module, entry), callee, [argument]);
        func::build_return(&mut Builder::at_end(module, entry), []);
        (function, call)
    }

    #[test]
    fn calls_have_the_descriptions_of_their_operators() {
        let mut module = module();
        let operator = build_operator(&mut module, "window", WINDOW).unwrap();
        let (function, call) = caller(&mut module, "window");
        let call = call.unwrap();
        assert_eq!(module.type_text(module.ty(module.result(call, 0))), "tensor<4xf32>");
        let described = tofu_tdl::describe(&module, call).unwrap();
        assert_eq!(described.to_string(), "tdl @window(x: [2 * N]) -> [N] {\n  out[n] = x[2 * n]\n}\n");
        assert_eq!(described.spans().parameters, [tofu_diagnostics::Span::NONE]);
        assert!(verify(&module).is_empty());
        // The text was read once, and is read again where it is copied to.
        assert!(Arc::ptr_eq(&description(&module, operator), &description(&module, operator)));
        let mut other = self::module();
        for op in [operator, function] {
            let copy = copy_op_from(&module, op, &mut other, &mut Default::default());
            other.append(other.body(), copy);
        }
        assert!(verify(&other).is_empty());
    }

    #[test]
    fn nothing_wrong_is_built() {
        let mut module = module();
        let found = build_operator(&mut module, "window", "(x: [N]) -> [N] { out[n] = x[2 * n] + y }");
        let codes: Vec<&str> = found.unwrap_err().iter().map(|diagnostic| diagnostic.code.id).collect();
        assert_eq!(codes, ["T0501"]);
        let error = caller(&mut module, "window").1.unwrap_err();
        assert_eq!((error.code.id, error.message.as_str()), ("T0209", "there is no `@window`"));
        assert!(verify(&module).is_empty());
    }

    #[test]
    fn what_rests_on_a_wrong_description_is_not_wrong_itself() {
        let mut module = module();
        let operator = build_operator(&mut module, "window", WINDOW).unwrap();
        let (_, call) = caller(&mut module, "window");
        let wrong =
            module.interner.attr(tofu_ir::AttrData::String("(x: [N]) -> [N] { out[n] = y[] }".into()));
        module.set_attr(operator, crate::TEXT, wrong);
        let found = verify(&module);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].message, "`y` is not a tensor that is defined before");
        assert!(tofu_tdl::describe(&module, call.unwrap()).is_err());
    }
}

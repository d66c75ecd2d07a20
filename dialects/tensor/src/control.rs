//! Ops whose results come from regions, or that only hand values on.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{
    AttrData, Builder, Control, ElementType, INT, Module, OpDef, OpId, TOKEN, Trait, Type, TypeClass,
    TypeData, ValueId, any, op, region, required, tensor,
};
use tofu_memory::TRIP_COUNT;

use crate::classes::{BOOLEAN_SCALAR, INTEGER_SCALAR};
use crate::regions::{Body, check_arguments, check_yield, fill, scalar, terminator};
use crate::shapes::{integer, wrong_attribute};

/// `tensor.while`: repeats a body as long as a condition holds.
pub static WHILE: OpDef = op("tensor.while")
    .summary("As long as `cond` yields true of the operands, replaces them by what `body` yields of them.")
    .example(
        "%r = tensor.while %s ({\n  ^cond(%a: tensor<f32>):\n    %limit = tensor.constant dense<9.0> : tensor<f32>\n    \
         %c = tensor.compare %a, %limit {direction = \"LT\"}\n    tensor.yield %c\n}, {\n  ^body(%a: tensor<f32>):\n    \
         %one = tensor.constant dense<1.0> : tensor<f32>\n    %c = tensor.add %a, %one\n    tensor.yield %c\n})",
    )
    .operands(&[any("operands").variadic()])
    .results(&[any("results").variadic()])
    .regions(&[region("cond"), region("body")])
    .traits(&[Trait::Pure])
    .infer_types(infer_while)
    .verify(verify_while)
    .interfaces(&[&Control::While]);

/// Adds a [`WHILE`]. Both bodies are given the operands of a round; `cond` says whether there is another one, `body`
/// gives the operands of the next.
///
/// # Errors
/// When what the bodies give does not fit, or one fails.
pub fn while_loop(
    builder: &mut Builder<'_>,
    operands: &[ValueId],
    cond: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<ValueId, Diagnostic>,
    body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Diagnostic>,
) -> Result<Vec<ValueId>, Diagnostic> {
    let types: Vec<Type> = operands.iter().map(|&operand| builder.module.ty(operand)).collect();
    let op = builder.op(&WHILE).operands(operands.iter().copied()).region().region().build();
    let cond: Body<'_> = Box::new(|builder, arguments| Ok(vec![cond(builder, arguments)?]));
    fill(builder, op, vec![(types.clone(), cond), (types, Box::new(body))])
}

fn infer_while(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let types = operand_types(module, op)?;
    check_arguments(module, op, 0, &types)?;
    check_arguments(module, op, 1, &types)?;
    check_yield(module, op, 0, &[scalar(ElementType::I1)])?;
    check_yield(module, op, 1, &types)?;
    Ok(types)
}

fn verify_while(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    match module.attr_value(op, TRIP_COUNT) {
        None => {}
        Some(&AttrData::Int(count, _)) if u64::try_from(count).is_ok() => {}
        Some(_) => {
            let message = format!("`{TRIP_COUNT}` must be an integer that is not negative");
            let error = wrong_attribute(module, op, TRIP_COUNT, message);
            found.push(
                error.help(format!("it says how often the loop goes round, as in `{TRIP_COUNT} = 100`")),
            );
        }
    }
}

fn operand_types(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    Ok(module.operands(op).map(|operand| module.value_type(operand).clone()).collect())
}

/// `tensor.case`: what one of several regions yields.
pub static CASE: OpDef = op("tensor.case")
    .summary("What the branch of number `index` yields; the last one, where there is no such branch.")
    .example(
        "%c = tensor.constant dense<1> : tensor<i32>\n\
         %r = tensor.case %c ({\n  ^first:\n    tensor.yield %x\n}, {\n  ^second:\n    tensor.yield %y\n})",
    )
    .operands(&[tensor("index").class(INTEGER_SCALAR)])
    .results(&[any("results").variadic()])
    .regions(&[region("branches"), region("branches").variadic()])
    .traits(&[Trait::Pure])
    .infer_types(infer_branches)
    .interfaces(&[&Control::Case]);

/// Adds a [`CASE`] with these branches.
///
/// # Errors
/// When `index` is no integer, what the branches give does not fit, or one fails.
pub fn case(
    builder: &mut Builder<'_>,
    index: ValueId,
    branches: Vec<Branch<'_>>,
) -> Result<Vec<ValueId>, Diagnostic> {
    choice(builder, &CASE, index, branches)
}

/// A branch of a [`CASE`] or an [`IF`]: it is given a builder and gives what is yielded.
pub type Branch<'b> = Box<dyn FnOnce(&mut Builder<'_>) -> Result<Vec<ValueId>, Diagnostic> + 'b>;

fn choice(
    builder: &mut Builder<'_>,
    def: &'static OpDef,
    selector: ValueId,
    branches: Vec<Branch<'_>>,
) -> Result<Vec<ValueId>, Diagnostic> {
    let op = branches.iter().fold(builder.op(def).operand(selector), |op, _| op.region()).build();
    let bodies = branches
        .into_iter()
        .map(|branch| -> (Vec<Type>, Body<'_>) { (Vec::new(), Box::new(|builder, _| branch(builder))) });
    fill(builder, op, bodies.collect())
}

/// `tensor.if`: what one of two regions yields.
pub static IF: OpDef = op("tensor.if")
    .summary("What `true_branch` yields if `pred` is true, what `false_branch` yields otherwise.")
    .example(
        "%c = tensor.constant dense<true> : tensor<i1>\n\
         %r = tensor.if %c ({\n  ^then:\n    tensor.yield %x\n}, {\n  ^else:\n    tensor.yield %y\n})",
    )
    .operands(&[tensor("pred").class(BOOLEAN_SCALAR)])
    .results(&[any("results").variadic()])
    .regions(&[region("true_branch"), region("false_branch")])
    .traits(&[Trait::Pure])
    .infer_types(infer_branches)
    .interfaces(&[&Control::If]);

/// Adds an [`IF`] with these branches.
///
/// # Errors
/// When `pred` is no boolean, what the branches give does not fit, or one fails.
pub fn if_else(
    builder: &mut Builder<'_>,
    pred: ValueId,
    true_branch: Branch<'_>,
    false_branch: Branch<'_>,
) -> Result<Vec<ValueId>, Diagnostic> {
    choice(builder, &IF, pred, vec![true_branch, false_branch])
}

fn infer_branches(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let yielded = terminator(module, op, 0).map(|last| operand_types(module, last)).transpose()?;
    let types = yielded.unwrap_or_default();
    for number in 0..module.region_count(op) {
        check_arguments(module, op, number, &[])?;
        check_yield(module, op, number, &types)?;
    }
    Ok(types)
}

/// `tensor.optimization_barrier`: hands values on, all of which are there before any is used.
pub static OPTIMIZATION_BARRIER: OpDef = op("tensor.optimization_barrier")
    .summary("Hands its operands on, all of which are there before any result is used.")
    .example("%r, %q = tensor.optimization_barrier %x, %y")
    .operands(&[any("operands").variadic()])
    .results(&[any("results").variadic()])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(operand_types)
    .interfaces(&[&Control::Forward]);

/// Adds an [`OPTIMIZATION_BARRIER`].
///
/// # Errors
/// None.
pub fn optimization_barrier(
    builder: &mut Builder<'_>,
    operands: &[ValueId],
) -> Result<Vec<ValueId>, Diagnostic> {
    let op = builder.op(&OPTIMIZATION_BARRIER).operands(operands.iter().copied()).infer()?;
    Ok(builder.module.results(op).collect())
}

const TUPLE_TYPE: TypeClass = TypeClass { name: "a tuple", contains: |ty| matches!(ty, TypeData::Tuple(_)) };

/// `tensor.tuple`: several values as one.
pub static TUPLE: OpDef = op("tensor.tuple")
    .summary("The tuple of its operands.")
    .example("%r = tensor.tuple %x, %i")
    .operands(&[any("values").variadic()])
    .results(&[any("result").class(TUPLE_TYPE)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(|module, op| {
        Ok(vec![TypeData::Tuple(module.operands(op).map(|operand| module.ty(operand)).collect())])
    })
    .interfaces(&[&Control::Tuple]);

/// Adds a [`TUPLE`].
///
/// # Errors
/// None.
pub fn tuple(builder: &mut Builder<'_>, values: &[ValueId]) -> Result<ValueId, Diagnostic> {
    let op = builder.op(&TUPLE).operands(values.iter().copied()).infer()?;
    Ok(builder.module.result(op, 0))
}

/// `tensor.get_tuple_element`: one of the values in a tuple.
pub static GET_TUPLE_ELEMENT: OpDef = op("tensor.get_tuple_element")
    .summary("The element of a tuple of this number, counted from zero.")
    .example("%t = tensor.tuple %x, %i\n%r = tensor.get_tuple_element %t {index = 1}")
    .operands(&[any("operand").class(TUPLE_TYPE)])
    .results(&[any("result")])
    .attributes(&[required("index", INT)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_element)
    .interfaces(&[&Control::Element("index")]);

/// Adds a [`GET_TUPLE_ELEMENT`].
///
/// # Errors
/// When there is no such element.
pub fn get_tuple_element(
    builder: &mut Builder<'_>,
    operand: ValueId,
    index: i64,
) -> Result<ValueId, Diagnostic> {
    let index = builder.module.interner.int(index);
    let op = builder.op(&GET_TUPLE_ELEMENT).operand(operand).attr("index", index).infer()?;
    Ok(builder.module.result(op, 0))
}

fn infer_element(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let index = integer(module, op, "index")?;
    let TypeData::Tuple(types) = module.value_type(module.operand(op, 0)) else {
        let message = format!("`{}` takes a tuple", module.def(op).name);
        return Err(module.error(op, &codes::WRONG_OPERAND_TYPE, message));
    };
    let found = usize::try_from(index).ok().and_then(|index| types.get(index));
    let ty = found.ok_or_else(|| {
        let message = format!("the tuple has no element of number {index}");
        wrong_attribute(module, op, "index", message)
    })?;
    Ok(vec![module.type_data(*ty).clone()])
}

/// `tensor.after_all`: a token that comes after others.
pub static AFTER_ALL: OpDef = op("tensor.after_all")
    .summary("A token that comes after all of its operands.")
    .example("%t = tensor.create_token\n%r = tensor.after_all %t, %t")
    .operands(&[any("inputs").class(TOKEN).variadic()])
    .results(&[any("result").class(TOKEN)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(|_, _| Ok(vec![TypeData::Token]))
    .interfaces(&[&Control::Token]);

/// Adds an [`AFTER_ALL`].
///
/// # Errors
/// When an operand is no token.
pub fn after_all(builder: &mut Builder<'_>, inputs: &[ValueId]) -> Result<ValueId, Diagnostic> {
    let op = builder.op(&AFTER_ALL).operands(inputs.iter().copied()).infer()?;
    Ok(builder.module.result(op, 0))
}

/// `tensor.create_token`: a token that comes after nothing.
pub static CREATE_TOKEN: OpDef = op("tensor.create_token")
    .summary("A token that comes after nothing.")
    .example("%r = tensor.create_token")
    .results(&[any("result").class(TOKEN)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(|_, _| Ok(vec![TypeData::Token]))
    .interfaces(&[&Control::Token]);

/// Adds a [`CREATE_TOKEN`].
///
/// # Errors
/// None.
pub fn create_token(builder: &mut Builder<'_>) -> Result<ValueId, Diagnostic> {
    let op = builder.op(&CREATE_TOKEN).infer()?;
    Ok(builder.module.result(op, 0))
}

//! Random numbers, all of them functions of something that is given: a state, or the place of an element.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    AttrClass, AttrData, Builder, ElementType, Module, OpDef, OpId, Trait, Type, ValueId, op, required,
    tensor,
};
use tofu_tdl::{
    BinaryOp, Describe, Description, IndexId, OpaqueCall, OpaqueFunction, TypeRef, UnaryOp, functions,
    verify_types,
};

use crate::bitcast::bits;
use crate::classes::{NUMBER_SCALAR, UI64_VECTOR};
use crate::describe::{element, indices, known, product, slice, start, sum, variables};
use crate::shapes::{checked, operand_type, optional_string, result_type, wrong_attribute, wrong_result};

const DISTRIBUTIONS: AttrClass = AttrClass {
    name: "\"UNIFORM\" or \"NORMAL\"",
    contains: |module, attr| matches!(module.attr_data(attr), AttrData::String(name) if matches!(&**name, "UNIFORM" | "NORMAL")),
};

/// `tensor.rng`: random numbers, uniform from `a` to below `b`, or normal of mean `a` and standard deviation `b`.
///
/// Which numbers they are is not fixed; here they follow from the places of the elements, so that two of these ops give
/// the same numbers, and each worker makes those of its share.
pub static RNG: OpDef = op("tensor.rng")
    .summary("Random numbers: uniform in `[a, b)`, or normal of mean `a` and standard deviation `b`.")
    .example(
        "%one = tensor.constant dense<1.0> : tensor<f32>\n\
         %r = tensor.rng %s, %one {rng_distribution = \"UNIFORM\"} : tensor<4x8xf32>",
    )
    .operands(&[tensor("a").class(NUMBER_SCALAR), tensor("b").class(NUMBER_SCALAR)])
    .results(&[tensor("result")])
    .attributes(&[required("rng_distribution", DISTRIBUTIONS)])
    .traits(&[Trait::Local, Trait::Pure])
    .verify(verify_types)
    .interfaces(&[&Describe(describe_rng)]);

/// How random numbers are distributed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are the usual ones")]
pub enum Distribution {
    Uniform,
    Normal,
}

/// Adds an [`RNG`] that gives a tensor of type `ty`.
///
/// # Errors
/// When `a` and `b` are no scalars of its element type, or normal numbers are no floats.
pub fn rng(
    builder: &mut Builder<'_>,
    a: ValueId,
    b: ValueId,
    distribution: Distribution,
    ty: Type,
) -> Result<ValueId, Diagnostic> {
    let name = match distribution {
        Distribution::Uniform => "UNIFORM",
        Distribution::Normal => "NORMAL",
    };
    let distribution = builder.module.interner.string(name);
    let op = builder.op(&RNG).operands([a, b]).attr("rng_distribution", distribution).result(ty).build();
    checked(builder, op)
}

fn describe_rng(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = result_type(module, op, 0)?;
    let own = operand_type(module, op, 0)?.element;
    let is_normal = optional_string(module, op, "rng_distribution") == Some("NORMAL");
    if is_normal && !own.is_float() {
        let message = format!("elements of type `{own}` are not distributed normally");
        return Err(wrong_attribute(module, op, "rng_distribution", message));
    }
    let mut b = start(module, op);
    let t = element(&mut b, "T", own);
    let operands = ["a", "b"].map(|name| {
        let source = b.operand(name, t, &[]);
        b.read(source, &[])
    });
    let dims: Vec<IndexId> =
        ty.dims.iter().enumerate().map(|(axis, &dim)| known(&mut b, &format!("N{axis}"), dim)).collect();
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let parts: Vec<IndexId> = (0..at.len())
        .map(|axis| {
            let stride = product(&mut b, dims[axis + 1..].iter().copied());
            b.index_mul(at[axis], stride)
        })
        .collect();
    let place = sum(&mut b, parts);
    let unit = b.random_unit(place);
    let [unit, first, second] = [unit, operands[0], operands[1]].map(|value| b.convert(value, F64));
    let offset = if is_normal {
        // sqrt(2) · erf⁻¹(2u − 1) is distributed normally.
        let (two, one, root) = (b.float(2.0, F64), b.float(1.0, F64), b.float(std::f64::consts::SQRT_2, F64));
        let doubled = b.mul(unit, two);
        let centered = b.sub(doubled, one);
        let inverse = b.unary(UnaryOp::ErfInv, centered);
        let standard = b.mul(root, inverse);
        b.mul(second, standard)
    } else {
        let range = b.sub(second, first);
        let offset = b.mul(range, unit);
        if own.is_float() { offset } else { b.unary(UnaryOp::Floor, offset) }
    };
    let value = b.add(first, offset);
    let mut value = b.convert(value, t);
    if own.is_float() && !is_normal {
        // Rounded to fewer bits it may be the end, which does not belong to the range.
        let last = b.binary(BinaryOp::NextAfter, operands[1], operands[0]);
        value = b.binary(BinaryOp::Min, value, last);
    }
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

const UI64: TypeRef = TypeRef::Concrete(ElementType::Ui64);
const F64: TypeRef = TypeRef::Concrete(ElementType::F64);

const ALGORITHMS: AttrClass = AttrClass {
    name: "\"DEFAULT\", \"THREE_FRY\" or \"PHILOX\"",
    contains: |module, attr| {
        matches!(module.attr_data(attr), AttrData::String(name)
            if matches!(&**name, "DEFAULT" | "THREE_FRY" | "PHILOX"))
    },
};

/// `tensor.rng_bit_generator`: random bits that follow from a state, and the next state.
pub static RNG_BIT_GENERATOR: OpDef = op("tensor.rng_bit_generator")
    .summary("Random bits that follow from a state, and the next state; by default those of Philox.")
    .example(
        "%state = tensor.constant dense<[1, 2]> : tensor<2xui64>\n\
         %next, %r = tensor.rng_bit_generator %state {rng_algorithm = \"THREE_FRY\"} : tensor<2xui64>, tensor<4xui32>",
    )
    .operands(&[tensor("initial_state").class(UI64_VECTOR)])
    .results(&[tensor("output_state"), tensor("output")])
    .attributes(&[required("rng_algorithm", ALGORITHMS)])
    .traits(&[Trait::Local, Trait::Pure])
    .verify(verify_types)
    .interfaces(&[&Describe(describe_bits)]);

/// How random bits are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are the usual ones")]
pub enum Algorithm {
    Default,
    ThreeFry,
    Philox,
}

/// Adds an [`RNG_BIT_GENERATOR`] that gives the next state and a tensor of type `ty`.
///
/// # Errors
/// When `state` is no vector of `ui64`, or `ty` has unknown extents or elements that are no numbers.
pub fn rng_bit_generator(
    builder: &mut Builder<'_>,
    state: ValueId,
    algorithm: Algorithm,
    ty: Type,
) -> Result<[ValueId; 2], Diagnostic> {
    let name = match algorithm {
        Algorithm::Default => "DEFAULT",
        Algorithm::ThreeFry => "THREE_FRY",
        Algorithm::Philox => "PHILOX",
    };
    let algorithm = builder.module.interner.string(name);
    let next = builder.module.ty(state);
    let op = builder
        .op(&RNG_BIT_GENERATOR)
        .operand(state)
        .attr("rng_algorithm", algorithm)
        .results([next, ty])
        .build();
    checked(builder, op)?;
    Ok([0, 1].map(|number| builder.module.result(op, number)))
}

fn describe_bits(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = result_type(module, op, 1)?;
    let holder = bits(ty.element).filter(|holder| *holder != ElementType::I1 && !ty.element.is_complex());
    let sizes: Option<Vec<i64>> = ty.dims.iter().map(|dim| i64::try_from(dim.size()?).ok()).collect();
    let (Some(holder), Some(sizes)) = (holder, sizes) else {
        let message = "random bits are made for numbers, in tensors of known extents".to_owned();
        return Err(wrong_result(module, op, message));
    };
    let is_three_fry = optional_string(module, op, "rng_algorithm") == Some("THREE_FRY");
    let function: &OpaqueFunction = match (is_three_fry, holder.bits() > 32) {
        (true, false) => &functions::THREE_FRY32,
        (true, true) => &functions::THREE_FRY64,
        (false, false) => &functions::PHILOX32,
        (false, true) => &functions::PHILOX64,
    };
    let mut b = start(module, op);
    let words = b.extent("S");
    let state = b.operand("initial_state", UI64, &[words]);
    let dims: Vec<IndexId> = sizes.iter().map(|&size| b.constant(size)).collect();
    let word = b.var("s", words);
    let word_at = b.index(word);
    let call = |result: u32| OpaqueCall {
        function: function.name.into(),
        constants: sizes.clone().into(),
        arguments: [slice(state, &[word_at], &[0])].into(),
        comparator: None,
        result,
    };
    let next = b.opaque(function, call(1), &[word_at]);
    b.output("output_state", UI64, &[word], next);
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let value = b.opaque(function, call(0), &at);
    // Of more bits than are wanted the lowest ones are taken.
    let value = b.convert(value, TypeRef::Concrete(holder));
    let element = TypeRef::Concrete(ty.element);
    let value = b.bitcast(value, element);
    b.output("output", element, &vars, value);
    b.finish_for(module, op)
}

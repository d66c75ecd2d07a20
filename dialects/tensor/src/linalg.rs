//! Linear algebra on the last two dimensions, and Fourier transforms on the last ones: algorithms that descriptions do
//! not say. The dimensions before are split as any.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    AttrClass, AttrData, BOOL, Builder, INTS, Module, OpDef, OpId, TensorType, Trait, ValueId, op, optional,
    required, tensor,
};
use tofu_tdl::{
    self as tdl, Describe, Description, IndexId, OpaqueCall, OpaqueFunction, ScalarId, Slice, TypeRef,
    functions, infer_types,
};

use crate::classes::FLOATS_OR_COMPLEX;
use crate::describe::{conjugate, element, extents, indices, slice, start, variables};
use crate::shapes::{flag, operand_type, optional_string, wrong_attribute, wrong_operand};

/// `tensor.cholesky`: the triangular factors of symmetric or Hermitian positive definite matrices, of which one half is
/// read.
pub static CHOLESKY: OpDef = op("tensor.cholesky")
    .summary(
        "The factor `l` of matrices `a = l · lᴴ`, lower triangular; or, unless `lower`, `u` of `a = uᴴ · u`.",
    )
    .example("%a = tensor.reshape %x : tensor<2x4x4xf32>\n%r = tensor.cholesky %a {lower = true}")
    .operands(&[tensor("a").class(FLOATS_OR_COMPLEX)])
    .results(&[tensor("result")])
    .attributes(&[optional("lower", BOOL)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_cholesky)]);

/// Adds a [`CHOLESKY`].
///
/// # Errors
/// When `a` does not hold square matrices.
pub fn cholesky(builder: &mut Builder<'_>, a: ValueId, lower: bool) -> Result<ValueId, Diagnostic> {
    let lower = builder.module.interner.attr(AttrData::Bool(lower));
    let op = builder.op(&CHOLESKY).operand(a).attr("lower", lower).infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_cholesky(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let batch = batch_rank(module, op, 0, ty)?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let size = b.extent("N");
    let mut dims = extents(&mut b, "B", batch);
    dims.extend([size, size]);
    let mut a = b.operand("a", t, &dims);
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let turned: Vec<IndexId> = at[..batch].iter().copied().chain([at[batch + 1], at[batch]]).collect();
    let lower = flag(module, op, "lower");
    if !lower {
        // The function reads the lower half: here, that is the conjugate of the upper one.
        let value = b.read(a, &turned);
        let value = conjugate(&mut b, value);
        a = b.define("adjoint", &vars, value);
    }
    let at = if lower { at } else { turned };
    let argument = slice(a, &at, &[batch, batch + 1]);
    let factor = opaque(&mut b, &functions::CHOLESKY, &[], &[argument], &at[batch..]);
    let value = if lower { factor } else { conjugate(&mut b, factor) };
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

fn opaque(
    b: &mut tdl::Builder,
    function: &OpaqueFunction,
    constants: &[i64],
    arguments: &[Slice],
    at: &[IndexId],
) -> ScalarId {
    let call = OpaqueCall {
        function: function.name.into(),
        constants: constants.into(),
        arguments: arguments.into(),
        comparator: None,
        result: 0,
    };
    b.opaque(function, call, at)
}

/// How many dimensions stand before those of the matrices in an operand.
fn batch_rank(module: &Module, op: OpId, index: usize, ty: &TensorType) -> Result<usize, Diagnostic> {
    ty.rank().checked_sub(2).ok_or_else(|| {
        let value = module.quoted_value(module.operand(op, index));
        wrong_operand(module, op, index, format!("{value} must hold matrices, but has rank {}", ty.rank()))
    })
}

const TRANSPOSES: AttrClass = AttrClass {
    name: "\"NO_TRANSPOSE\", \"TRANSPOSE\" or \"ADJOINT\"",
    contains: |module, attr| {
        matches!(module.attr_data(attr), AttrData::String(name)
            if matches!(&**name, "NO_TRANSPOSE" | "TRANSPOSE" | "ADJOINT"))
    },
};

/// `tensor.triangular_solve`: systems of equations with triangular matrices, of which the other half is not read.
pub static TRIANGULAR_SOLVE: OpDef = op("tensor.triangular_solve")
    .summary("The `x` of `op(a) · x = b`, or unless `left_side` of `x · op(a) = b`, with triangular matrices `a`.")
    .example(
        "%a = tensor.reshape %x : tensor<2x4x4xf32>\n%b = tensor.reshape %y : tensor<2x4x4xf32>\n\
         %r = tensor.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = \"NO_TRANSPOSE\", \
         unit_diagonal = false}",
    )
    .operands(&[tensor("a").class(FLOATS_OR_COMPLEX), tensor("b").class(FLOATS_OR_COMPLEX)])
    .results(&[tensor("result")])
    .attributes(&[
        required("left_side", BOOL),
        required("lower", BOOL),
        required("transpose_a", TRANSPOSES),
        required("unit_diagonal", BOOL),
    ])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_triangular_solve)]);

/// What is done to the matrices of a [`TRIANGULAR_SOLVE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the attributes")]
pub struct TriangularSolve {
    pub left_side: bool,
    pub lower: bool,
    pub unit_diagonal: bool,
    pub transpose_a: Transpose,
}

/// Whether a matrix is transposed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are the usual ones")]
pub enum Transpose {
    No,
    Transpose,
    Adjoint,
}

impl Transpose {
    /// How it is written, as in StableHLO.
    pub fn name(self) -> &'static str {
        match self {
            Transpose::No => "NO_TRANSPOSE",
            Transpose::Transpose => "TRANSPOSE",
            Transpose::Adjoint => "ADJOINT",
        }
    }
}

/// Adds a [`TRIANGULAR_SOLVE`].
///
/// # Errors
/// When the operands do not hold matrices that fit.
pub fn triangular_solve(
    builder: &mut Builder<'_>,
    a: ValueId,
    b: ValueId,
    how: TriangularSolve,
) -> Result<ValueId, Diagnostic> {
    let interner = &mut builder.module.interner;
    let [left_side, lower, unit_diagonal] =
        [how.left_side, how.lower, how.unit_diagonal].map(|flag| interner.attr(AttrData::Bool(flag)));
    let transpose = interner.string(how.transpose_a.name());
    let op = builder
        .op(&TRIANGULAR_SOLVE)
        .operands([a, b])
        .attr("left_side", left_side)
        .attr("lower", lower)
        .attr("transpose_a", transpose)
        .attr("unit_diagonal", unit_diagonal)
        .infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_triangular_solve(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let batch = batch_rank(module, op, 0, ty)?;
    let is_left = flag(module, op, "left_side");
    let own = match optional_string(module, op, "transpose_a") {
        Some("TRANSPOSE") => 1,
        Some("ADJOINT") => 2,
        _ => 0,
    };
    // The right side of `x op(a) = b` is that of `op(a)ᵀ xᵀ = bᵀ`; the transpose of an adjoint is the conjugate.
    let transpose = if is_left { own } else { [1, 0, 3][own as usize] };
    let constants = [flag(module, op, "lower").into(), flag(module, op, "unit_diagonal").into(), transpose];
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let [size, others] = ["N", "M"].map(|name| b.extent(name));
    let shared = extents(&mut b, "B", batch);
    let dims = |last: [IndexId; 2]| -> Vec<IndexId> { shared.iter().copied().chain(last).collect() };
    let (matrices, sides) = (dims([size, size]), dims(if is_left { [size, others] } else { [others, size] }));
    let a = b.operand("a", t, &matrices);
    let right = b.operand("b", t, &sides);
    let vars = variables(&mut b, "i", &sides);
    let at = indices(&mut b, &vars);
    let along = if is_left { batch } else { batch + 1 };
    let arguments = [slice(a, &at, &[batch, batch + 1]), slice(right, &at, &[along])];
    let value = opaque(&mut b, &functions::TRIANGULAR_SOLVE, &constants, &arguments, &[at[along]]);
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

const TRANSFORMS: AttrClass = AttrClass {
    name: "\"FFT\", \"IFFT\", \"RFFT\" or \"IRFFT\"",
    contains: |module, attr| {
        matches!(module.attr_data(attr), AttrData::String(name)
            if matches!(&**name, "FFT" | "IFFT" | "RFFT" | "IRFFT"))
    },
};

/// `tensor.fft`: Fourier transforms over the last one to three dimensions.
///
/// `FFT` and `IFFT` are those of complex numbers. `RFFT` is that of real ones, of whose last dimension `n` only the first
/// `n/2 + 1` elements are given, the others being their conjugates; `IRFFT` is its inverse.
pub static FFT: OpDef = op("tensor.fft")
    .summary("The Fourier transform over the last dimensions, whose extents are `fft_length`.")
    .example("%r = tensor.fft %x {fft_length = [8], fft_type = \"RFFT\"}")
    .operands(&[tensor("x").class(FLOATS_OR_COMPLEX)])
    .results(&[tensor("result")])
    .attributes(&[required("fft_length", INTS), required("fft_type", TRANSFORMS)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_fft)]);

/// A Fourier transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are StableHLO's")]
pub enum Transform {
    Fft,
    Ifft,
    Rfft,
    Irfft,
}

impl Transform {
    const ALL: [Transform; 4] = [Transform::Fft, Transform::Ifft, Transform::Rfft, Transform::Irfft];

    /// How it is written, as in StableHLO.
    pub fn name(self) -> &'static str {
        match self {
            Transform::Fft => "FFT",
            Transform::Ifft => "IFFT",
            Transform::Rfft => "RFFT",
            Transform::Irfft => "IRFFT",
        }
    }
}

/// Adds an [`FFT`] over the last dimensions, whose extents (of the real numbers, if there are any) are `length`.
///
/// # Errors
/// When `x` has other elements or extents.
pub fn fft(
    builder: &mut Builder<'_>,
    x: ValueId,
    transform: Transform,
    length: &[i64],
) -> Result<ValueId, Diagnostic> {
    let interner = &mut builder.module.interner;
    let (length, transform) = (interner.ints(length.iter().copied()), interner.string(transform.name()));
    let op = builder.op(&FFT).operand(x).attr("fft_length", length).attr("fft_type", transform).infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_fft(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let length = module.ints(op, "fft_length");
    let name = optional_string(module, op, "fft_type").unwrap_or_default();
    let transform =
        Transform::ALL.into_iter().find(|transform| transform.name() == name).unwrap_or(Transform::Fft);
    if (transform == Transform::Rfft) == ty.element.is_complex() {
        let message = format!("{name} does not take elements of type `{}`", ty.element);
        return Err(wrong_operand(module, op, 0, message));
    }
    let batch = ty.rank().checked_sub(length.len()).filter(|_| (1..=3).contains(&length.len()));
    let Some(batch) = batch.filter(|_| length.iter().all(|&length| length > 0)) else {
        let value = module.quoted_value(module.operand(op, 0));
        let message =
            format!("`fft_length` must be one to three positive extents of the last dimensions of {value}");
        return Err(wrong_attribute(module, op, "fft_length", message));
    };
    let mut b = start(module, op);
    // Only the parts of complex numbers of these types are known.
    let t = TypeRef::Concrete(ty.element);
    let mut dims = extents(&mut b, "N", batch);
    dims.extend(length.iter().map(|&length| b.constant(length)));
    let mut halved = dims.clone();
    if let (Some(last), Some(length)) = (halved.last_mut(), length.last()) {
        *last = b.constant(length / 2 + 1);
    }
    let (function, constants, from, to) = match transform {
        Transform::Fft => (&functions::FFT, &[][..], &dims, &dims),
        Transform::Ifft => (&functions::IFFT, &[][..], &dims, &dims),
        Transform::Rfft => (&functions::RFFT, &[][..], &dims, &halved),
        Transform::Irfft => (&functions::IRFFT, &length[length.len() - 1..], &halved, &dims),
    };
    let x = b.operand("x", t, from);
    let vars = variables(&mut b, "i", to);
    let at = indices(&mut b, &vars);
    let whole: Vec<usize> = (batch..ty.rank()).collect();
    let value = opaque(&mut b, function, constants, &[slice(x, &at, &whole)], &at[batch..]);
    let result = b.type_of(value);
    b.output("result", result, &vars, value);
    b.finish_for(module, op)
}

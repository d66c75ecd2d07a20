//! `bitcast_convert`: elements of other types in the same bits.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Builder, ElementType, Module, OpDef, OpId, Trait, Type, ValueId, op, tensor};
use tofu_tdl::{
    self as tdl, BinaryOp, Comparison, Describe, Description, IndexId, Reducer, ScalarId, TypeRef, UnaryOp,
    VarId, verify_types,
};

use crate::describe::{BOOL, extents, indices, start, variables};
use crate::shapes::{checked, operand_type, result_type, wrong_result};

/// `tensor.bitcast_convert`: the same bits as elements of another type. If that is narrower by a factor, the result has a
/// last dimension of that extent, lowest bits first; if it is wider, the operand has.
pub static BITCAST_CONVERT: OpDef = op("tensor.bitcast_convert")
    .summary(
        "The same bits as elements of another type; a last dimension goes over the parts of a wider element.",
    )
    .example("%r = tensor.bitcast_convert %x : tensor<4x8x2xbf16>")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .verify(verify_types)
    .interfaces(&[&Describe(describe_bitcast)]);

/// Adds a [`BITCAST_CONVERT`] to a tensor of type `ty`.
///
/// # Errors
/// When `x` and `ty` have different bits.
pub fn bitcast_convert(builder: &mut Builder<'_>, x: ValueId, ty: Type) -> Result<ValueId, Diagnostic> {
    let op = builder.op(&BITCAST_CONVERT).operand(x).result(ty).build();
    checked(builder, op)
}

fn describe_bitcast(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let (from, to) = (operand_type(module, op, 0)?, result_type(module, op, 0)?);
    let Some(cast) = Cast::between(from.element, to.element) else {
        let message = format!(
            "elements of type `{to}` cannot have the bits of elements of type `{from}`",
            from = from.element,
            to = to.element
        );
        return Err(wrong_result(module, op, message));
    };
    let (own, target) = (TypeRef::Concrete(from.element), TypeRef::Concrete(to.element));
    let mut b = start(module, op);
    let extent = b.constant(cast.parts);
    let part = b.var("part", extent);
    let part_at = b.index(part);
    // All dimensions but the one over the parts of an element.
    let joined = usize::from(cast.joins && cast.parts > 1);
    let mut dims = extents(&mut b, "N", from.rank().saturating_sub(joined));
    let mut vars = variables(&mut b, "i", &dims);
    let mut at = indices(&mut b, &vars);
    let value = if cast.joins && cast.parts > 1 {
        dims.push(extent);
        let x = b.operand("x", own, &dims);
        if from.element.is_complex() {
            let halves = [0, 1].map(|half| {
                let half = b.constant(half);
                let at: Vec<IndexId> = at.iter().copied().chain([half]).collect();
                let element = b.read(x, &at);
                joined_parts(&mut b, element)
            });
            b.binary(BinaryOp::Complex, halves[0], halves[1])
        } else {
            at.push(part_at);
            let element = b.read(x, &at);
            cast.join(&mut b, element, part)
        }
    } else {
        let x = b.operand("x", own, &dims);
        let element = b.read(x, &at);
        if cast.parts == 1 {
            b.bitcast(element, target)
        } else {
            vars.push(part);
            cast.split(&mut b, element, part_at)
        }
    };
    b.output("result", target, &vars, value);
    b.finish_for(module, op)
}

/// How elements of one type hold those of another.
struct Cast {
    from: ElementType,
    to: ElementType,
    /// How many of the narrower ones make a wider one.
    parts: i64,
    /// Whether the result is the wider one.
    joins: bool,
}

impl Cast {
    fn between(from: ElementType, to: ElementType) -> Option<Cast> {
        let (own, target) = (from.bits(), to.bits());
        let fits = from.is_complex() == to.is_complex()
            && own.max(target) % own.min(target) == 0
            // Narrower and wider elements are cut out of integers of their width.
            && (own == target || from.is_complex() || (bits(from).is_some() && bits(to).is_some()));
        let parts = i64::from(own.max(target) / own.min(target));
        fits.then_some(Cast { from, to, parts, joins: target > own })
    }

    /// One of the narrower elements in a wider one.
    fn split(&self, b: &mut tdl::Builder, element: ScalarId, part: IndexId) -> ScalarId {
        if self.from.is_complex() {
            // A part of the wide number holds both parts of a narrow one.
            let zero = b.constant(0);
            let is_first = b.compare_indices(Comparison::Eq, part, zero);
            let (re, im) = (b.unary(UnaryOp::Real, element), b.unary(UnaryOp::Imag, element));
            let half = b.select(is_first, re, im);
            let half = b.bitcast(half, UI64);
            let [re, im] = [0, 32].map(|by| {
                let by = b.int(by, UI64);
                let shifted = b.binary(BinaryOp::ShiftRightLogical, half, by);
                let cut = b.convert(shifted, UI32);
                b.bitcast(cut, TypeRef::Concrete(ElementType::F32))
            });
            return b.binary(BinaryOp::Complex, re, im);
        }
        let wide = bits_of(b, element, self.from);
        let by = self.offset(b, part, wide);
        let shifted = b.binary(BinaryOp::ShiftRightLogical, wide, by);
        if self.to == ElementType::I1 {
            let ty = b.type_of(shifted);
            let one = b.int(1, ty);
            let lowest = b.binary(BinaryOp::And, shifted, one);
            return b.convert(lowest, BOOL);
        }
        let cut = b.convert(shifted, TypeRef::Concrete(bits(self.to).unwrap_or(self.to)));
        b.bitcast(cut, TypeRef::Concrete(self.to))
    }

    /// The wider element of narrower ones.
    fn join(&self, b: &mut tdl::Builder, element: ScalarId, part: VarId) -> ScalarId {
        let narrow = bits_of(b, element, self.from);
        let wide = b.convert(narrow, TypeRef::Concrete(bits(self.to).unwrap_or(self.to)));
        let part_at = b.index(part);
        let by = self.offset(b, part_at, wide);
        let shifted = b.binary(BinaryOp::ShiftLeft, wide, by);
        let joined = b.reduce(Reducer::Or, &[part], shifted);
        b.bitcast(joined, TypeRef::Concrete(self.to))
    }

    /// Where the bits of a part begin, as a value of the type of `wide`.
    fn offset(&self, b: &mut tdl::Builder, part: IndexId, wide: ScalarId) -> ScalarId {
        let offset = b.affine(i64::from(self.from.bits().min(self.to.bits())), part, 0);
        let (offset, ty) = (b.index_value(offset), b.type_of(wide));
        b.convert(offset, ty)
    }
}

const UI32: TypeRef = TypeRef::Concrete(ElementType::Ui32);
const UI64: TypeRef = TypeRef::Concrete(ElementType::Ui64);

/// The unsigned type with the bits of a real one; a boolean is its own.
pub(crate) fn bits(element: ElementType) -> Option<ElementType> {
    Some(match element.bits() {
        1 => ElementType::I1,
        2 => ElementType::Ui2,
        4 => ElementType::Ui4,
        8 => ElementType::Ui8,
        16 => ElementType::Ui16,
        32 => ElementType::Ui32,
        64 => ElementType::Ui64,
        _ => return None,
    })
}

fn bits_of(b: &mut tdl::Builder, element: ScalarId, ty: ElementType) -> ScalarId {
    b.bitcast(element, TypeRef::Concrete(bits(ty).unwrap_or(ty)))
}

/// The bits of both parts of a narrow complex number, as a wide float.
fn joined_parts(b: &mut tdl::Builder, element: ScalarId) -> ScalarId {
    let [re, im] = [UnaryOp::Real, UnaryOp::Imag].map(|part| {
        let part = b.unary(part, element);
        let narrow = b.bitcast(part, UI32);
        b.convert(narrow, UI64)
    });
    let by = b.int(32, UI64);
    let high = b.binary(BinaryOp::ShiftLeft, im, by);
    let both = b.binary(BinaryOp::Or, re, high);
    b.bitcast(both, TypeRef::Concrete(ElementType::F64))
}

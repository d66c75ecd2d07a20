//! Scalar expressions.
//!
//! Arithmetic on index values is index arithmetic where it stays quasi-affine, so that both ways of writing it are one.

use smallvec::SmallVec;
use tofu_diagnostics::codes;
use tofu_ir::{ElementType, EntityId};

use super::Builder;
use crate::description::*;
use crate::opaque::OpaqueFunction;
use crate::scalar::{BinaryOp, Comparison, Literal, TypeClass, UnaryOp};

const INDEX: TypeRef = TypeRef::Concrete(ElementType::Index);
const BOOL: TypeRef = TypeRef::Concrete(ElementType::I1);

impl Builder {
    /// The type of an expression.
    pub fn type_of(&self, id: ScalarId) -> TypeRef {
        self.scalars[id.index()].1
    }

    /// A constant.
    pub fn literal(&mut self, value: Literal, ty: TypeRef) -> ScalarId {
        match value {
            Literal::Int(number) if ty == INDEX => match i64::try_from(number) {
                Ok(number) => {
                    let index = self.constant(number);
                    self.index_value(index)
                }
                Err(_) => self.scalar(Scalar::Literal(value), ty),
            },
            _ => self.scalar(Scalar::Literal(value), ty),
        }
    }

    /// An integer constant.
    pub fn int(&mut self, value: i128, ty: TypeRef) -> ScalarId {
        self.literal(Literal::Int(value), ty)
    }

    /// A floating-point constant.
    pub fn float(&mut self, value: f64, ty: TypeRef) -> ScalarId {
        if value.is_nan() {
            return self.literal(Literal::NaN, ty);
        }
        self.literal(Literal::Float(value.to_bits()), ty)
    }

    /// The value of an index expression, of type `index`.
    pub fn index_value(&mut self, index: IndexId) -> ScalarId {
        match self.indices[index.index()] {
            Index::Data(scalar) => self.convert(scalar, INDEX),
            _ => self.scalar(Scalar::Index(index), INDEX),
        }
    }

    /// An element of a tensor.
    pub fn read(&mut self, source: Source, indices: &[IndexId]) -> ScalarId {
        let ty = match source {
            Source::Operand(number) => self.parameters.get(number as usize).map(|operand| operand.ty),
            Source::Let(number) => self.lets.get(number as usize).map(|item| self.type_of(item.body)),
        };
        let Some(ty) = ty else {
            self.report(&codes::TDL_UNKNOWN_NAME, "an access of a tensor that is not there");
            return self.int(0, BOOL);
        };
        self.scalar(Scalar::Read(source, SmallVec::from_slice(indices)), ty)
    }

    /// An element, or `otherwise` where the indices lie outside the tensor: what padding and dilation read.
    pub fn read_or(&mut self, source: Source, indices: &[IndexId], otherwise: ScalarId) -> ScalarId {
        let dims = self.dims(source);
        let zero = self.constant(0);
        let mut inside = None;
        for (&index, &extent) in indices.iter().zip(&dims) {
            if self.always_inside(index, extent) {
                continue;
            }
            let low = self.compare_indices(Comparison::Le, zero, index);
            let high = self.compare_indices(Comparison::Lt, index, extent);
            let both = self.binary(BinaryOp::And, low, high);
            inside = Some(match inside {
                Some(others) => self.binary(BinaryOp::And, others, both),
                None => both,
            });
        }
        let value = self.read(source, indices);
        match inside {
            Some(condition) => self.select(condition, value, otherwise),
            None => value,
        }
    }

    /// Whether an index is a variable over exactly this extent.
    fn always_inside(&self, index: IndexId, extent: IndexId) -> bool {
        matches!(self.indices[index.index()], Index::Var(var) if self.variables[var.index()].extent == extent)
    }

    /// A function of one value.
    pub fn unary(&mut self, op: UnaryOp, a: ScalarId) -> ScalarId {
        let ty = self.type_of(a);
        if let (UnaryOp::Neg, Scalar::Index(index)) = (op, &self.scalars[a.index()].0) {
            let (index, zero) = (*index, self.constant(0));
            let negative = self.index_sub(zero, index);
            return self.index_value(negative);
        }
        let result = op.result(ty, self.class_of(ty) == TypeClass::Complex);
        self.scalar(Scalar::Unary(op, a), result)
    }

    /// A function of two values.
    pub fn binary(&mut self, op: BinaryOp, a: ScalarId, b: ScalarId) -> ScalarId {
        if let (&Scalar::Index(x), &Scalar::Index(y)) =
            (&self.scalars[a.index()].0, &self.scalars[b.index()].0)
        {
            let index = match op {
                BinaryOp::Add => Some(self.index_add(x, y)),
                BinaryOp::Sub => Some(self.index_sub(x, y)),
                BinaryOp::Mul if self.is_extent(x) || self.is_extent(y) => Some(self.index_mul(x, y)),
                _ => None,
            };
            if let Some(index) = index {
                return self.index_value(index);
            }
        }
        let ty = match (op, self.type_of(a)) {
            (BinaryOp::Complex, TypeRef::Concrete(ElementType::F32)) => {
                TypeRef::Concrete(ElementType::Complex32)
            }
            (BinaryOp::Complex, TypeRef::Concrete(ElementType::F64)) => {
                TypeRef::Concrete(ElementType::Complex64)
            }
            (BinaryOp::Complex, TypeRef::Part(number)) => TypeRef::Param(number),
            (_, ty) => ty,
        };
        self.scalar(Scalar::Binary(op, a, b), ty)
    }

    /// A sum.
    pub fn add(&mut self, a: ScalarId, b: ScalarId) -> ScalarId {
        self.binary(BinaryOp::Add, a, b)
    }

    /// A difference.
    pub fn sub(&mut self, a: ScalarId, b: ScalarId) -> ScalarId {
        self.binary(BinaryOp::Sub, a, b)
    }

    /// A product.
    pub fn mul(&mut self, a: ScalarId, b: ScalarId) -> ScalarId {
        self.binary(BinaryOp::Mul, a, b)
    }

    /// A quotient.
    pub fn div(&mut self, a: ScalarId, b: ScalarId) -> ScalarId {
        self.binary(BinaryOp::Div, a, b)
    }

    /// A comparison.
    pub fn compare(&mut self, comparison: Comparison, a: ScalarId, b: ScalarId) -> ScalarId {
        self.scalar(Scalar::Compare(comparison, a, b), BOOL)
    }

    /// A comparison of index expressions.
    pub fn compare_indices(&mut self, comparison: Comparison, a: IndexId, b: IndexId) -> ScalarId {
        let (a, b) = (self.index_value(a), self.index_value(b));
        self.compare(comparison, a, b)
    }

    /// `if condition then a else b`.
    pub fn select(&mut self, condition: ScalarId, a: ScalarId, b: ScalarId) -> ScalarId {
        let ty = self.type_of(a);
        self.scalar(Scalar::Select(condition, a, b), ty)
    }

    /// The value in another type.
    pub fn convert(&mut self, a: ScalarId, ty: TypeRef) -> ScalarId {
        if self.type_of(a) == ty { a } else { self.scalar(Scalar::Convert(a), ty) }
    }

    /// The same bits as a value of a type of the same width.
    pub fn bitcast(&mut self, a: ScalarId, ty: TypeRef) -> ScalarId {
        if self.type_of(a) == ty { a } else { self.scalar(Scalar::Bitcast(a), ty) }
    }

    /// A reduction of one expression; without variables, the expression.
    pub fn reduce(&mut self, reducer: Reducer, vars: &[VarId], body: ScalarId) -> ScalarId {
        if vars.is_empty() { body } else { self.reduce_many(reducer, vars, &[body], 0) }
    }

    /// One of the values that a reduction of several expressions gives.
    pub fn reduce_many(
        &mut self,
        reducer: Reducer,
        vars: &[VarId],
        bodies: &[ScalarId],
        component: u32,
    ) -> ScalarId {
        let reduction = Reduction { reducer, vars: vars.into(), bodies: bodies.into() };
        let id = ReductionId::from_index(self.reductions.insert_full(reduction).0);
        let ty = match reducer {
            Reducer::Custom(combiner) => {
                self.combiners[combiner.index()].types.get(component as usize).copied()
            }
            _ => bodies.first().map(|&body| self.type_of(body)),
        };
        self.scalar(Scalar::Reduce(id, component), ty.unwrap_or(BOOL))
    }

    /// A number between 0 and 1, neither included, that looks random: a function of `index` alone, of type `f32`. What
    /// is made of it can be split in all dimensions.
    ///
    /// The index is scrambled by multiplications and shifts (Wellons, "Prospecting for hash functions", 2018).
    pub fn random_unit(&mut self, index: IndexId) -> ScalarId {
        let (ui32, f32) = (TypeRef::Concrete(ElementType::Ui32), TypeRef::Concrete(ElementType::F32));
        let index = self.index_value(index);
        let mut bits = self.convert(index, ui32);
        for (shift, factor) in [(16, 0x7FEB_352D), (15, 0x846C_A68B), (16, 1)] {
            let shift = self.int(shift, ui32);
            let high = self.binary(BinaryOp::ShiftRightLogical, bits, shift);
            bits = self.binary(BinaryOp::Xor, bits, high);
            if factor != 1 {
                let factor = self.int(factor, ui32);
                bits = self.mul(bits, factor);
            }
        }
        // The middles of 2^23 equal parts, all of which are `f32`s.
        let unused = self.int(9, ui32);
        let part = self.binary(BinaryOp::ShiftRightLogical, bits, unused);
        let part = self.convert(part, f32);
        let (half, size) = (self.float(0.5, f32), self.float(1.0 / f64::from(1 << 23), f32));
        let middle = self.add(part, half);
        self.mul(middle, size)
    }

    /// An element of a result of an opaque function.
    pub fn opaque(&mut self, function: &OpaqueFunction, call: OpaqueCall, indices: &[IndexId]) -> ScalarId {
        let types: SmallVec<[TypeRef; 2]> = call
            .arguments
            .iter()
            .filter_map(|slice| match slice.source {
                Source::Operand(number) => self.parameters.get(number as usize).map(|operand| operand.ty),
                Source::Let(number) => self.lets.get(number as usize).map(|item| self.type_of(item.body)),
            })
            .collect();
        let refusal = function.refusal(types.len(), call.result, call.comparator.is_some()).or_else(|| {
            let whole = |slice: &Slice| slice.dims.iter().filter(|dim| dim.is_none()).count();
            let shapes: Vec<(usize, TypeClass)> = (call.arguments.iter().zip(&types))
                .map(|(slice, &ty)| (whole(slice), self.class_of(ty)))
                .collect();
            function.misfit(&shapes, &call.constants, call.result, indices.len())
        });
        let ty = function.element(call.result, &types).filter(|_| refusal.is_none());
        let Some(ty) = ty else {
            let message =
                format!("the element type of \"{}\" does not follow from its arguments", function.name);
            self.report(&codes::TDL_UNKNOWN_OPAQUE, refusal.unwrap_or(message));
            return self.int(0, BOOL);
        };
        self.opaque_of_type(call, indices, ty)
    }

    /// [`opaque`](Self::opaque) where the type is known.
    pub(crate) fn opaque_of_type(&mut self, call: OpaqueCall, indices: &[IndexId], ty: TypeRef) -> ScalarId {
        let id = OpaqueId::from_index(self.opaques.insert_full(call).0);
        self.scalar(Scalar::Opaque(id, SmallVec::from_slice(indices)), ty)
    }

    /// The types of the values that a combiner carries.
    pub(crate) fn combiner_types(&self, combiner: CombinerId) -> SmallVec<[TypeRef; 2]> {
        self.combiners[combiner.index()].types.iter().copied().collect()
    }

    /// Which types a type may be.
    pub(crate) fn class_of(&self, ty: TypeRef) -> TypeClass {
        match ty {
            TypeRef::Concrete(element) => TypeClass::ALL
                .into_iter()
                .rev()
                .find(|class| {
                    matches!(class, TypeClass::Complex | TypeClass::Float | TypeClass::Int)
                        && class.contains(element)
                })
                .unwrap_or(TypeClass::Any),
            TypeRef::Param(number) => self.types.get(number as usize).map_or(TypeClass::Any, |t| t.class),
            TypeRef::Part(_) => TypeClass::Float,
        }
    }

    /// Whether an index expression has no variables and no data.
    pub(crate) fn is_extent(&self, id: IndexId) -> bool {
        match self.indices[id.index()] {
            Index::Const(_) | Index::Extent(_) => true,
            Index::Var(_) | Index::Data(_) => false,
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Mul(a, b)
            | Index::FloorDiv(a, b)
            | Index::Mod(a, b) => self.is_extent(a) && self.is_extent(b),
        }
    }
}

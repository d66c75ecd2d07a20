//! The one value: what an operator computes.
//!
//! A description is a handful of small tables. Index expressions, scalar expressions and reductions are interned, so
//! that equal expressions have equal ids and an analysis visits each once. The tables are numbered in the order in which
//! the text mentions things ([`canonical`](crate::canonical)); two descriptions that print alike are therefore equal, and
//! comparing, hashing and cloning cost next to nothing. Where things stand in a text is kept beside the tables and takes
//! no part in equality.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;
use smallvec::SmallVec;
use tofu_diagnostics::Span;
use tofu_ir::{ElementType, EntityId};

use crate::scalar::{BinaryOp, Comparison, Literal, TypeClass, UnaryOp};

tofu_ir::entity_ids! {
    /// A named extent of a description: `N`.
    ExtentId = "extent";
    /// An index variable: a name and the extent of its range.
    VarId = "var";
    /// An index or extent expression.
    IndexId = "index";
    /// A scalar expression.
    ScalarId = "scalar";
    /// A reduction over index variables.
    ReductionId = "reduction";
    /// A custom combiner or a comparator.
    CombinerId = "combiner";
    /// A call of an opaque function.
    OpaqueId = "opaque";
}

/// What an operator computes: each element of each result, as an expression of elements of the operands.
///
/// Cheap to clone, to compare and to hash.
#[derive(Clone)]
pub struct Description(Arc<Inner>);

struct Inner {
    hash: u64,
    data: Data,
    spans: Spans,
}

/// The tables of a description.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Data {
    /// The operator's name, without `@`.
    pub name: Box<str>,
    /// The element types it is generic over; a parameter whose type is not written has the first.
    pub types: Box<[TypeParam]>,
    /// The names of the extents.
    pub extents: Box<[Box<str>]>,
    /// The operands.
    pub parameters: Box<[Parameter]>,
    /// What must hold between extents.
    pub conditions: Box<[Condition]>,
    /// Intermediate tensors, each using only operands and earlier ones.
    pub lets: Box<[Definition]>,
    /// The results, at least one.
    pub results: Box<[Output]>,
    /// Custom combiners and comparators.
    pub combiners: Box<[Combiner]>,
    /// All index variables.
    pub variables: Box<[Variable]>,
    /// All index and extent expressions; parts stand before the whole.
    pub indices: Box<[Index]>,
    /// All scalar expressions; parts stand before the whole.
    pub scalars: Box<[Scalar]>,
    /// The type of each scalar expression.
    pub scalar_types: Box<[TypeRef]>,
    /// All reductions.
    pub reductions: Box<[Reduction]>,
    /// All calls of opaque functions.
    pub opaques: Box<[OpaqueCall]>,
}

/// Where things stand in the text, where they came from one.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// The whole description.
    pub whole: Span,
    /// Each parameter.
    pub parameters: Vec<Span>,
    /// Each scalar expression, at its first use.
    pub scalars: Vec<Span>,
    /// Each index expression, at its first use.
    pub indices: Vec<Span>,
    /// Each condition.
    pub conditions: Vec<Span>,
}

/// An element type that a description is generic over.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TypeParam {
    /// Its name.
    pub name: Box<str>,
    /// Which types it may be.
    pub class: TypeClass,
}

/// The element type of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypeRef {
    /// This one.
    Concrete(ElementType),
    /// The type parameter of this number.
    Param(u32),
    /// The type of the parts of a complex type parameter.
    Part(u32),
}

/// An operand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Box<str>,
    /// The type of its elements.
    pub ty: TypeRef,
    /// Its extents, expressions without variables.
    pub dims: Box<[IndexId]>,
}

/// A relation between extents: `left = right` or `left <= right`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Condition {
    /// The left side.
    pub left: IndexId,
    /// Which relation.
    pub relation: Relation,
    /// The right side.
    pub right: IndexId,
}

/// How two extents relate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    /// `=`
    Equal,
    /// `<=`
    AtMost,
}

/// An index variable. It ranges over `0..extent`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Box<str>,
    /// The extent of its range.
    pub extent: IndexId,
}

/// An intermediate tensor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Definition {
    /// Its name.
    pub name: Box<str>,
    /// Its indices; its shape is their extents.
    pub vars: Box<[VarId]>,
    /// Its element at these indices.
    pub body: ScalarId,
}

/// A result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Output {
    /// Its name.
    pub name: Box<str>,
    /// The type of its elements.
    pub ty: TypeRef,
    /// Its extents; those of `vars`.
    pub dims: Box<[IndexId]>,
    /// Its indices.
    pub vars: Box<[VarId]>,
    /// Its element at these indices.
    pub body: ScalarId,
}

/// A quasi-affine expression of index variables and extents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    /// A number.
    Const(i64),
    /// An extent.
    Extent(ExtentId),
    /// A variable.
    Var(VarId),
    /// A sum.
    Add(IndexId, IndexId),
    /// A difference.
    Sub(IndexId, IndexId),
    /// A product, of which one factor has no variables.
    Mul(IndexId, IndexId),
    /// The quotient rounded down; the divisor has no variables.
    FloorDiv(IndexId, IndexId),
    /// The remainder of [`FloorDiv`](Index::FloorDiv), never negative for a positive divisor.
    Mod(IndexId, IndexId),
    /// The value of a scalar expression of an integer type: a data-dependent index.
    Data(ScalarId),
}

/// The indices of an access.
pub type Indices = SmallVec<[IndexId; 4]>;

/// What an access reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// The operand of this number.
    Operand(u32),
    /// The intermediate tensor of this number.
    Let(u32),
}

/// A scalar expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Scalar {
    /// A constant of the expression's type.
    Literal(Literal),
    /// The value of an index expression; its type is `index`.
    Index(IndexId),
    /// An element of an operand or of an intermediate tensor.
    Read(Source, Indices),
    /// A function of one value.
    Unary(UnaryOp, ScalarId),
    /// A function of two values.
    Binary(BinaryOp, ScalarId, ScalarId),
    /// A comparison; its type is `i1`.
    Compare(Comparison, ScalarId, ScalarId),
    /// `if condition then a else b`. Only the branch that is taken reads anything.
    Select(ScalarId, ScalarId, ScalarId),
    /// The value in the expression's type.
    Convert(ScalarId),
    /// The same bits, read as the expression's type.
    Bitcast(ScalarId),
    /// One of the values that a reduction carries.
    Reduce(ReductionId, u32),
    /// An element of what an opaque function gives.
    Opaque(OpaqueId, Indices),
    /// Inside a combiner: a carried value, the left ones first, then the right ones.
    Carried(CombinerId, u32),
}

/// A reduction over all values of some variables, in row-major order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reduction {
    /// How two values are combined.
    pub reducer: Reducer,
    /// The variables.
    pub vars: Box<[VarId]>,
    /// What is reduced: one expression, or as many as the combiner carries.
    pub bodies: Box<[ScalarId]>,
}

/// An associative way to combine values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reducer {
    /// The sum; 0 of nothing.
    Sum,
    /// The product; 1 of nothing.
    Prod,
    /// The greatest; the lowest value of the type of nothing.
    Max,
    /// The least; the highest value of the type of nothing.
    Min,
    /// Conjunction, bit by bit for integers.
    And,
    /// Disjunction, bit by bit for integers.
    Or,
    /// A combiner of the description.
    Custom(CombinerId),
}

impl Reducer {
    /// The built-in reducer that combines by a function, or by its inverse.
    pub(crate) fn of(op: BinaryOp) -> Option<Reducer> {
        match op {
            BinaryOp::Add | BinaryOp::Sub => Some(Reducer::Sum),
            BinaryOp::Mul => Some(Reducer::Prod),
            BinaryOp::Max => Some(Reducer::Max),
            BinaryOp::Min => Some(Reducer::Min),
            BinaryOp::And => Some(Reducer::And),
            BinaryOp::Or => Some(Reducer::Or),
            _ => None,
        }
    }

    /// The constant that a built-in reducer gives of nothing.
    pub fn identity(self, ty: TypeRef) -> Literal {
        match self {
            Reducer::Sum | Reducer::Or | Reducer::Custom(_) => Literal::Int(0),
            Reducer::Prod => Literal::Int(1),
            Reducer::Max => Literal::Lowest,
            Reducer::Min => Literal::Highest,
            Reducer::And if ty == TypeRef::Concrete(ElementType::I1) => Literal::Int(1),
            Reducer::And => Literal::Int(-1),
        }
    }
}

/// A function of two tuples of values: a custom combiner of reductions, or a comparator for opaque functions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Combiner {
    /// Its name.
    pub name: Box<str>,
    /// The types of the carried values: of the left ones, and of the right ones.
    pub types: Box<[TypeRef]>,
    /// The names of the left ones, then of the right ones.
    pub names: Box<[Box<str>]>,
    /// What nothing reduces to; it must be an identity. It may read operands of rank 0. A comparator has none.
    pub identities: Box<[ScalarId]>,
    /// The combined values; of a comparator, whether the left ones come before the right ones.
    pub bodies: Box<[ScalarId]>,
}

impl Combiner {
    /// Whether it is a comparator.
    pub fn compares(&self) -> bool {
        self.identities.is_empty()
    }
}

/// A call of an opaque function, whose algorithm is hidden.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OpaqueCall {
    /// The function's name in the registry.
    pub function: Box<str>,
    /// Constants that it is given.
    pub constants: Box<[i64]>,
    /// How it compares elements, for those that do: by values of all arguments at two places.
    pub comparator: Option<CombinerId>,
    /// The tensors that it is given.
    pub arguments: Box<[Slice]>,
    /// Which of its results is meant.
    pub result: u32,
}

/// A part of a tensor that an opaque function is given.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Slice {
    /// The tensor.
    pub source: Source,
    /// For each dimension an index, or the whole dimension.
    pub dims: SmallVec<[Option<IndexId>; 4]>,
}

impl Description {
    pub(crate) fn from_parts(data: Data, spans: Spans) -> Description {
        let mut hasher = FxHasher::default();
        data.hash(&mut hasher);
        Description(Arc::new(Inner { hash: hasher.finish(), data, spans }))
    }

    /// The same description, as one that was not read from a text.
    pub fn without_places(&self) -> Description {
        let Spans { parameters, scalars, indices, conditions, .. } = self.spans();
        let none = |spans: &[Span]| vec![Span::NONE; spans.len()];
        let spans = Spans {
            whole: Span::NONE,
            parameters: none(parameters),
            scalars: none(scalars),
            indices: none(indices),
            conditions: none(conditions),
        };
        Description(Arc::new(Inner { hash: self.0.hash, data: self.0.data.clone(), spans }))
    }

    /// The tables.
    pub fn data(&self) -> &Data {
        &self.0.data
    }

    /// Where things stand in the text.
    pub fn spans(&self) -> &Spans {
        &self.0.spans
    }

    /// The operator's name.
    pub fn name(&self) -> &str {
        &self.0.data.name
    }

    /// The operands.
    pub fn parameters(&self) -> &[Parameter] {
        &self.0.data.parameters
    }

    /// The results.
    pub fn results(&self) -> &[Output] {
        &self.0.data.results
    }
}

impl PartialEq for Description {
    fn eq(&self, other: &Description) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.hash == other.0.hash && self.0.data == other.0.data)
    }
}

impl Eq for Description {}

impl Hash for Description {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl std::fmt::Debug for Description {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Description").field(&self.0.data.name).finish()
    }
}

impl Data {
    /// An index expression.
    pub fn index(&self, id: IndexId) -> Index {
        self.indices[id.index()]
    }

    /// A scalar expression.
    pub fn scalar(&self, id: ScalarId) -> &Scalar {
        &self.scalars[id.index()]
    }

    /// The type of a scalar expression.
    pub fn scalar_type(&self, id: ScalarId) -> TypeRef {
        self.scalar_types[id.index()]
    }

    /// Whether an expression is a real floating-point number, whatever the type parameters are.
    pub(crate) fn is_float(&self, id: ScalarId) -> bool {
        match self.scalar_type(id) {
            TypeRef::Concrete(element) => element.is_float(),
            TypeRef::Param(number) => {
                self.types.get(number as usize).is_some_and(|param| param.class == TypeClass::Float)
            }
            TypeRef::Part(_) => true,
        }
    }

    /// Whether an expression is a real or complex floating-point number, whatever the type parameters are.
    pub(crate) fn is_inexact(&self, id: ScalarId) -> bool {
        let of = |number: u32| self.types.get(number as usize).map(|param| param.class);
        match self.scalar_type(id) {
            TypeRef::Concrete(element) => element.is_float() || element.is_complex(),
            TypeRef::Param(number) => {
                matches!(of(number), Some(TypeClass::Float | TypeClass::Complex | TypeClass::Inexact))
            }
            TypeRef::Part(_) => true,
        }
    }

    /// An index variable.
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.index()]
    }

    /// A reduction.
    pub fn reduction(&self, id: ReductionId) -> &Reduction {
        &self.reductions[id.index()]
    }

    /// A combiner.
    pub fn combiner(&self, id: CombinerId) -> &Combiner {
        &self.combiners[id.index()]
    }

    /// A call of an opaque function.
    pub fn opaque(&self, id: OpaqueId) -> &OpaqueCall {
        &self.opaques[id.index()]
    }

    /// The number of dimensions of a tensor.
    pub fn rank(&self, source: Source) -> usize {
        match source {
            Source::Operand(number) => self.parameters[number as usize].dims.len(),
            Source::Let(number) => self.lets[number as usize].vars.len(),
        }
    }

    /// The extents of a tensor.
    pub fn dims(&self, source: Source) -> Indices {
        match source {
            Source::Operand(number) => self.parameters[number as usize].dims.iter().copied().collect(),
            Source::Let(number) => {
                self.lets[number as usize].vars.iter().map(|&var| self.variable(var).extent).collect()
            }
        }
    }

    /// The name of a tensor.
    pub fn source_name(&self, source: Source) -> &str {
        match source {
            Source::Operand(number) => &self.parameters[number as usize].name,
            Source::Let(number) => &self.lets[number as usize].name,
        }
    }

    /// The type of a tensor's elements.
    pub(crate) fn source_type(&self, source: Source) -> TypeRef {
        match source {
            Source::Operand(number) => self.parameters[number as usize].ty,
            Source::Let(number) => self.scalar_type(self.lets[number as usize].body),
        }
    }
}

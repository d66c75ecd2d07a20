//! Builds descriptions: the parser from text, dialects from the attributes of an op.
//!
//! Every method only notes what it is given; [`Builder::finish`] checks the whole and reports everything that is wrong.
//!
//! ```
//! use tofu_tdl::{Builder, Reducer};
//!
//! let mut b = Builder::new("matvec");
//! let (m, k) = (b.extent("M"), b.extent("K"));
//! let t = b.default_type();
//! let (a, x) = (b.operand("a", t, &[m, k]), b.operand("x", t, &[k]));
//! let (i, j) = (b.var("i", m), b.var("j", k));
//! let (ii, jj) = (b.index(i), b.index(j));
//! let product = (b.read(a, &[ii, jj]), b.read(x, &[jj]));
//! let product = b.mul(product.0, product.1);
//! let sum = b.reduce(Reducer::Sum, &[j], product);
//! b.output("out", t, &[i], sum);
//! let description = b.finish().unwrap();
//! assert_eq!(
//!     description.to_string(),
//!     "tdl @matvec(a: [M, K], x: [K]) -> [M] {\n  out[i] = sum(j) a[i, j] * x[j]\n}\n",
//! );
//! ```

mod index;
mod region;
mod scalar;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use tofu_diagnostics::{Code, Diagnostic, Span, codes};
use tofu_ir::{ElementType, EntityId, Module, OpId};

use crate::description::*;
use crate::scalar::{Literal, TypeClass};

/// Expressions nest no deeper than this, so that analyses may recurse.
const MAX_DEPTH: u16 = 100;
/// No expression, written out as a tree, has more nodes than this.
const MAX_NODES: u32 = 1 << 16;
/// No description has more distinct expressions than this.
const MAX_TABLE: usize = 1 << 20;

type Table<T> = IndexSet<T, FxBuildHasher>;

/// A description in the making.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    pub(crate) name: Box<str>,
    pub(crate) types: Vec<TypeParam>,
    pub(crate) extents: Table<Box<str>>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) lets: Vec<Definition>,
    pub(crate) results: Vec<Output>,
    pub(crate) combiners: Vec<Combiner>,
    pub(crate) variables: Table<Variable>,
    pub(crate) indices: Table<Index>,
    pub(crate) scalars: Table<(Scalar, TypeRef)>,
    pub(crate) reductions: Table<Reduction>,
    pub(crate) opaques: Table<OpaqueCall>,
    pub(crate) spans: Spans,
    index_sizes: Vec<Size>,
    scalar_sizes: Vec<Size>,
    here: Span,
    found: Vec<Diagnostic>,
}

impl Builder {
    /// An empty description of this name.
    pub fn new(name: &str) -> Builder {
        Builder { name: name.into(), ..Builder::default() }
    }

    /// Whatever is made next stands here in the text.
    pub fn at(&mut self, span: Span) -> &mut Builder {
        self.here = span;
        self
    }

    /// Declares an element type that the description is generic over.
    pub fn type_param(&mut self, name: &str, class: TypeClass) -> TypeRef {
        self.types.push(TypeParam { name: name.into(), class });
        TypeRef::Param(self.types.len() as u32 - 1)
    }

    /// The first type parameter; declares `T`, which may be any type, if there is none.
    pub fn default_type(&mut self) -> TypeRef {
        if self.types.is_empty() {
            self.type_param("T", TypeClass::Any);
        }
        TypeRef::Param(0)
    }

    /// An operand of this type and these extents.
    pub fn operand(&mut self, name: &str, ty: TypeRef, dims: &[IndexId]) -> Source {
        self.parameters.push(Parameter { name: name.into(), ty, dims: dims.into() });
        self.spans.parameters.push(self.here);
        Source::Operand(self.parameters.len() as u32 - 1)
    }

    /// Requires `left = right`; where `left` is an extent that no operand determines, this determines it.
    pub fn require_equal(&mut self, left: IndexId, right: IndexId) {
        self.condition(left, Relation::Equal, right);
    }

    /// Requires `left <= right`.
    pub fn require_at_most(&mut self, left: IndexId, right: IndexId) {
        self.condition(left, Relation::AtMost, right);
    }

    fn condition(&mut self, left: IndexId, relation: Relation, right: IndexId) {
        self.conditions.push(Condition { left, relation, right });
        self.spans.conditions.push(self.here);
    }

    /// An index variable over `0..extent`; the same name and extent give the same variable.
    pub fn var(&mut self, name: &str, extent: IndexId) -> VarId {
        let (number, _) = self.variables.insert_full(Variable { name: name.into(), extent });
        VarId::from_index(number)
    }

    /// An intermediate tensor over the ranges of `vars`.
    pub fn define(&mut self, name: &str, vars: &[VarId], body: ScalarId) -> Source {
        self.lets.push(Definition { name: name.into(), vars: vars.into(), body });
        Source::Let(self.lets.len() as u32 - 1)
    }

    /// A result over the ranges of `vars`.
    pub fn output(&mut self, name: &str, ty: TypeRef, vars: &[VarId], body: ScalarId) {
        let dims = vars.iter().map(|var| self.variables[var.index()].extent).collect();
        self.results.push(Output { name: name.into(), ty, dims, vars: vars.into(), body });
    }

    /// Starts a combiner; its bodies, set by [`finish_combiner`](Self::finish_combiner), use the carried values.
    pub fn combiner(&mut self, name: &str, types: &[TypeRef], names: &[&str]) -> CombinerId {
        self.combiners.push(Combiner {
            name: name.into(),
            types: types.into(),
            names: names.iter().map(|&name| name.into()).collect(),
            identities: Box::new([]),
            bodies: Box::new([]),
        });
        CombinerId::from_index(self.combiners.len() - 1)
    }

    /// A carried value of a combiner: the left ones first, then the right ones.
    pub fn carried(&mut self, combiner: CombinerId, slot: u32) -> ScalarId {
        let types = &self.combiners[combiner.index()].types;
        let ty = types.get(slot as usize % types.len().max(1)).copied();
        self.scalar(Scalar::Carried(combiner, slot), ty.unwrap_or(TypeRef::Concrete(ElementType::I1)))
    }

    /// Sets what a combiner gives, and what it gives of nothing. A comparator gives nothing of nothing, and else whether
    /// the left values come before the right ones.
    pub fn finish_combiner(&mut self, combiner: CombinerId, identities: &[ScalarId], bodies: &[ScalarId]) {
        let combiner = &mut self.combiners[combiner.index()];
        combiner.identities = identities.into();
        combiner.bodies = bodies.into();
    }

    /// Checks everything and gives the description.
    ///
    /// # Errors
    ///
    /// All that is wrong with it; at least one diagnostic.
    pub fn finish(self) -> Result<Description, Vec<Diagnostic>> {
        if !self.found.is_empty() {
            return Err(self.found);
        }
        let (data, spans) = crate::canonical::canonical(&self);
        let description = Description::from_parts(data, spans);
        let found = crate::check::check(&description);
        if found.is_empty() { Ok(description) } else { Err(found) }
    }

    /// [`finish`](Self::finish) for the description of an op, which what is wrong is said of.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn finish_for(self, module: &Module, op: OpId) -> Result<Description, Diagnostic> {
        self.finish().map_err(|mut found| {
            let first = found.swap_remove(0);
            module.error(op, first.code, format!("`{}`: {}", module.def(op).written_name(), first.message))
        })
    }

    /// The description without a look at its accesses, for what was cut out of one that was checked.
    pub(crate) fn finish_cut(self) -> Result<Description, Vec<Diagnostic>> {
        if !self.found.is_empty() {
            return Err(self.found);
        }
        let (data, spans) = crate::canonical::canonical(&self);
        Ok(Description::from_parts(data, spans))
    }

    /// Notes something wrong at the current place.
    pub(crate) fn report(&mut self, code: &'static Code, message: impl Into<String>) {
        self.found.push(Diagnostic::error(code, self.here, message));
    }

    pub(crate) fn note(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    pub(crate) fn intern_index(&mut self, index: Index) -> IndexId {
        if let Some(number) = self.indices.get_index_of(&index) {
            return IndexId::from_index(number);
        }
        let size = Size::around(match index {
            Index::Const(_) | Index::Extent(_) | Index::Var(_) => Size::default(),
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Mul(a, b)
            | Index::FloorDiv(a, b)
            | Index::Mod(a, b) => self.index_sizes[a.index()].beside(self.index_sizes[b.index()]),
            Index::Data(scalar) => self.scalar_sizes[scalar.index()],
        });
        if self.too_large(size) {
            return self.intern_index(Index::Const(0));
        }
        self.index_sizes.push(size);
        self.spans.indices.push(self.here);
        IndexId::from_index(self.indices.insert_full(index).0)
    }

    /// A scalar expression of this type, as it is.
    pub fn scalar(&mut self, scalar: Scalar, ty: TypeRef) -> ScalarId {
        let key = (scalar, ty);
        if let Some(number) = self.scalars.get_index_of(&key) {
            return ScalarId::from_index(number);
        }
        let size = Size::around(self.size_below(&key.0));
        if self.too_large(size) {
            return self.scalar(Scalar::Literal(Literal::Int(0)), ty);
        }
        self.scalar_sizes.push(size);
        self.spans.scalars.push(self.here);
        ScalarId::from_index(self.scalars.insert_full(key).0)
    }

    fn size_below(&self, scalar: &Scalar) -> Size {
        let of = |id: &ScalarId| self.scalar_sizes[id.index()];
        let of_index = |id: &IndexId| self.index_sizes[id.index()];
        let all = |sizes: &mut dyn Iterator<Item = Size>| sizes.fold(Size::default(), Size::beside);
        match scalar {
            Scalar::Literal(_) | Scalar::Carried(..) => Size::default(),
            Scalar::Index(index) => of_index(index),
            Scalar::Read(_, indices) => all(&mut indices.iter().map(of_index)),
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => of(a),
            Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => of(a).beside(of(b)),
            Scalar::Select(a, b, c) => of(a).beside(of(b)).beside(of(c)),
            Scalar::Reduce(reduction, _) => {
                all(&mut self.reductions[reduction.index()].bodies.iter().map(of))
            }
            Scalar::Opaque(call, indices) => {
                let arguments = self.opaques[call.index()].arguments.iter();
                all(&mut arguments.flat_map(|slice| slice.dims.iter().flatten()).chain(indices).map(of_index))
            }
        }
    }

    fn too_large(&mut self, size: Size) -> bool {
        let is_large = size.depth > MAX_DEPTH
            || size.nodes > MAX_NODES
            || self.indices.len() + self.scalars.len() >= MAX_TABLE;
        if is_large && self.found.is_empty() {
            let message = "the expression is too large";
            let error = Diagnostic::error(&codes::NESTING_TOO_DEEP, self.here, message);
            self.found.push(error.help("name parts of it with `let`"));
        }
        is_large
    }
}

/// How large an expression is as a tree.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    depth: u16,
    nodes: u32,
}

impl Size {
    fn around(inner: Size) -> Size {
        Size { depth: inner.depth.saturating_add(1), nodes: inner.nodes.saturating_add(1) }
    }

    fn beside(self, other: Size) -> Size {
        Size { depth: self.depth.max(other.depth), nodes: self.nodes.saturating_add(other.nodes) }
    }
}

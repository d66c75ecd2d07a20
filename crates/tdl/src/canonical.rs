//! Numbers the tables of a description in the order in which its text mentions things.
//!
//! A builder interns expressions as they are made; two builders may make the same ones in different orders. Walking the
//! description in the order of its text gives everything the same number whoever made it, and leaves out what nothing
//! uses. Equality is then equality of tables.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use tofu_ir::EntityId;

use crate::builder::Builder;
use crate::description::*;

type Map<K> = IndexMap<K, K, FxBuildHasher>;

/// The tables and spans of what a builder holds.
pub(crate) fn canonical(builder: &Builder) -> (Data, Spans) {
    let mut walk = Walk::new(builder);
    walk.whole();
    let mut data = walk.data;
    data.name = builder.name.clone();
    data.types = builder.types.clone().into();
    let spans = Spans {
        whole: builder.spans.whole,
        parameters: builder.spans.parameters.clone(),
        conditions: builder.spans.conditions.clone(),
        ..walk.spans
    };
    let tables = walk.tables;
    data.extents = tables.extents.into();
    data.variables = tables.variables.into();
    data.indices = tables.indices.into();
    data.scalars = tables.scalars.into();
    data.scalar_types = tables.scalar_types.into();
    data.reductions = tables.reductions.into();
    data.opaques = tables.opaques.into();
    (data, spans)
}

struct Walk<'a> {
    from: &'a Builder,
    data: Data,
    spans: Spans,
    tables: Tables,
    extents: Map<ExtentId>,
    vars: Map<VarId>,
    indices: Map<IndexId>,
    scalars: Map<ScalarId>,
    reductions: Map<ReductionId>,
    opaques: Map<OpaqueId>,
}

#[derive(Default)]
struct Tables {
    extents: Vec<Box<str>>,
    variables: Vec<Variable>,
    indices: Vec<Index>,
    scalars: Vec<Scalar>,
    scalar_types: Vec<TypeRef>,
    reductions: Vec<Reduction>,
    opaques: Vec<OpaqueCall>,
}

impl<'a> Walk<'a> {
    fn new(from: &'a Builder) -> Walk<'a> {
        Walk {
            from,
            data: Data::default(),
            spans: Spans::default(),
            tables: Tables::default(),
            extents: Map::default(),
            vars: Map::default(),
            indices: Map::default(),
            scalars: Map::default(),
            reductions: Map::default(),
            opaques: Map::default(),
        }
    }

    fn whole(&mut self) {
        let from = self.from;
        self.data.parameters = from
            .parameters
            .iter()
            .map(|p| Parameter { name: p.name.clone(), ty: p.ty, dims: self.all(&p.dims) })
            .collect();
        for result in &from.results {
            self.all(&result.dims);
        }
        self.data.conditions = from
            .conditions
            .iter()
            .map(|condition| Condition {
                left: self.index(condition.left),
                relation: condition.relation,
                right: self.index(condition.right),
            })
            .collect();
        self.data.combiners = from
            .combiners
            .iter()
            .map(|combiner| Combiner {
                identities: self.bodies(&combiner.identities),
                bodies: self.bodies(&combiner.bodies),
                ..combiner.clone()
            })
            .collect();
        self.data.lets = from
            .lets
            .iter()
            .map(|item| Definition {
                name: item.name.clone(),
                vars: self.vars(&item.vars),
                body: self.scalar(item.body),
            })
            .collect();
        self.data.results = from
            .results
            .iter()
            .map(|result| Output {
                name: result.name.clone(),
                ty: result.ty,
                dims: self.all(&result.dims),
                vars: self.vars(&result.vars),
                body: self.scalar(result.body),
            })
            .collect();
    }

    fn all(&mut self, ids: &[IndexId]) -> Box<[IndexId]> {
        ids.iter().map(|&id| self.index(id)).collect()
    }

    fn bodies(&mut self, ids: &[ScalarId]) -> Box<[ScalarId]> {
        ids.iter().map(|&id| self.scalar(id)).collect()
    }

    fn vars(&mut self, vars: &[VarId]) -> Box<[VarId]> {
        vars.iter().map(|&var| self.var(var)).collect()
    }

    fn var(&mut self, old: VarId) -> VarId {
        if let Some(&new) = self.vars.get(&old) {
            return new;
        }
        let variable = &self.from.variables[old.index()];
        let extent = self.index(variable.extent);
        let new = VarId::from_index(self.tables.variables.len());
        self.tables.variables.push(Variable { name: variable.name.clone(), extent });
        self.vars.insert(old, new);
        new
    }

    fn extent(&mut self, old: ExtentId) -> ExtentId {
        if let Some(&new) = self.extents.get(&old) {
            return new;
        }
        let new = ExtentId::from_index(self.tables.extents.len());
        self.tables.extents.push(self.from.extents[old.index()].clone());
        self.extents.insert(old, new);
        new
    }

    fn index(&mut self, old: IndexId) -> IndexId {
        if let Some(&new) = self.indices.get(&old) {
            return new;
        }
        let index = match self.from.indices[old.index()] {
            Index::Const(value) => Index::Const(value),
            Index::Extent(extent) => Index::Extent(self.extent(extent)),
            Index::Var(var) => Index::Var(self.var(var)),
            Index::Add(a, b) => Index::Add(self.index(a), self.index(b)),
            Index::Sub(a, b) => Index::Sub(self.index(a), self.index(b)),
            Index::Mul(a, b) => Index::Mul(self.index(a), self.index(b)),
            Index::FloorDiv(a, b) => Index::FloorDiv(self.index(a), self.index(b)),
            Index::Mod(a, b) => Index::Mod(self.index(a), self.index(b)),
            Index::Data(scalar) => Index::Data(self.scalar(scalar)),
        };
        let new = IndexId::from_index(self.tables.indices.len());
        self.tables.indices.push(index);
        self.spans.indices.push(self.from.spans.indices[old.index()]);
        self.indices.insert(old, new);
        new
    }

    fn accessed(&mut self, indices: &Indices) -> Indices {
        indices.iter().map(|&index| self.index(index)).collect()
    }

    fn scalar(&mut self, old: ScalarId) -> ScalarId {
        if let Some(&new) = self.scalars.get(&old) {
            return new;
        }
        let (scalar, ty) = &self.from.scalars[old.index()];
        let scalar = match scalar {
            Scalar::Literal(_) | Scalar::Carried(..) => scalar.clone(),
            Scalar::Index(index) => Scalar::Index(self.index(*index)),
            Scalar::Read(source, indices) => Scalar::Read(*source, self.accessed(indices)),
            Scalar::Unary(op, a) => Scalar::Unary(*op, self.scalar(*a)),
            Scalar::Binary(op, a, b) => Scalar::Binary(*op, self.scalar(*a), self.scalar(*b)),
            Scalar::Compare(op, a, b) => Scalar::Compare(*op, self.scalar(*a), self.scalar(*b)),
            Scalar::Select(a, b, c) => Scalar::Select(self.scalar(*a), self.scalar(*b), self.scalar(*c)),
            Scalar::Convert(a) => Scalar::Convert(self.scalar(*a)),
            Scalar::Bitcast(a) => Scalar::Bitcast(self.scalar(*a)),
            Scalar::Reduce(reduction, component) => Scalar::Reduce(self.reduction(*reduction), *component),
            Scalar::Opaque(call, indices) => Scalar::Opaque(self.opaque(*call), self.accessed(indices)),
        };
        let new = ScalarId::from_index(self.tables.scalars.len());
        self.tables.scalars.push(scalar);
        self.tables.scalar_types.push(*ty);
        self.spans.scalars.push(self.from.spans.scalars[old.index()]);
        self.scalars.insert(old, new);
        new
    }

    fn reduction(&mut self, old: ReductionId) -> ReductionId {
        if let Some(&new) = self.reductions.get(&old) {
            return new;
        }
        let reduction = &self.from.reductions[old.index()];
        let vars = self.vars(&reduction.vars);
        let bodies = self.bodies(&reduction.bodies);
        let new = ReductionId::from_index(self.tables.reductions.len());
        self.tables.reductions.push(Reduction { reducer: reduction.reducer, vars, bodies });
        self.reductions.insert(old, new);
        new
    }

    fn opaque(&mut self, old: OpaqueId) -> OpaqueId {
        if let Some(&new) = self.opaques.get(&old) {
            return new;
        }
        let call = &self.from.opaques[old.index()];
        let arguments = call
            .arguments
            .iter()
            .map(|slice| Slice {
                source: slice.source,
                dims: slice
                    .dims
                    .iter()
                    .map(|dim| dim.map(|index| self.index(index)))
                    .collect::<SmallVec<_>>(),
            })
            .collect();
        let new = OpaqueId::from_index(self.tables.opaques.len());
        self.tables.opaques.push(OpaqueCall { arguments, ..call.clone() });
        self.opaques.insert(old, new);
        new
    }
}

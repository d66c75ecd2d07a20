//! Whether a description makes sense: names, ranks, element types, quasi-affine indices, and accesses that stay inside.
//!
//! It looks at the finished value, so that text and builders are held to the same rules.

mod bounds;
mod types;

use rustc_hash::FxHashSet;
use tofu_diagnostics::{Code, Diagnostic, Span, codes, plural};
use tofu_ir::{ElementKind, EntityId};

pub(crate) use types::instance_error;
pub use types::resolve;

use crate::description::*;
use crate::print::{index_text, type_text};

/// All that is wrong with a description. Later checks run only on what passes the earlier ones.
pub(crate) fn check(description: &Description) -> Vec<Diagnostic> {
    let mut checker = Checker { description, data: description.data(), found: Vec::new() };
    checker.names();
    checker.signature();
    checker.bodies();
    if checker.found.is_empty() {
        checker.found.extend(types::check(description));
    }
    if checker.found.is_empty() {
        checker.found.extend(crate::shape::undetermined(description));
    }
    if checker.found.is_empty() {
        checker.found.extend(bounds::check(description));
    }
    checker.found
}

struct Checker<'d> {
    description: &'d Description,
    data: &'d Data,
    found: Vec<Diagnostic>,
}

/// What may be used at some place.
#[derive(Clone, Default)]
struct Scope {
    vars: Vec<VarId>,
    /// How many intermediate tensors are defined.
    lets: usize,
    combiner: Option<CombinerId>,
}

impl<'d> Checker<'d> {
    fn error(&mut self, code: &'static Code, span: Span, message: impl Into<String>) {
        let span = span.or(self.description.spans().whole);
        self.found.push(Diagnostic::error(code, span, message));
    }

    fn names(&mut self) {
        let data = self.data;
        let tensors =
            (data.parameters.iter().map(|p| &p.name)).chain(data.lets.iter().map(|item| &item.name));
        self.unique(tensors);
        self.unique(data.results.iter().map(|result| &result.name));
        self.unique(data.combiners.iter().map(|combiner| &combiner.name));
        self.unique(data.types.iter().map(|param| &param.name));
        let mut names: FxHashSet<&str> = data.extents.iter().map(|name| &**name).collect();
        for variable in &data.variables {
            if !names.insert(&variable.name) && data.extents.contains(&variable.name) {
                let message = format!("`{}` is an extent and cannot be an index as well", variable.name);
                self.error(&codes::TDL_REDEFINED, Span::NONE, message);
            }
        }
    }

    fn unique<'a>(&mut self, names: impl Iterator<Item = &'a Box<str>>) {
        let mut seen = FxHashSet::default();
        for name in names {
            if !is_word(name) {
                self.error(&codes::TDL_UNKNOWN_NAME, Span::NONE, format!("`{name}` is not a name"));
            }
            if !seen.insert(name) {
                self.error(&codes::TDL_REDEFINED, Span::NONE, format!("`{name}` is defined twice"));
            }
        }
    }

    fn signature(&mut self) {
        let data = self.data;
        let dims = (data.parameters.iter().flat_map(|p| p.dims.iter()))
            .chain(data.results.iter().flat_map(|result| result.dims.iter()))
            .chain(data.conditions.iter().flat_map(|condition| [&condition.left, &condition.right]))
            .chain(data.variables.iter().map(|variable| &variable.extent));
        for &extent in dims {
            self.index(extent, &Scope::default());
        }
        let is_known = |ty: TypeRef| match ty {
            TypeRef::Concrete(_) => true,
            TypeRef::Param(number) | TypeRef::Part(number) => (number as usize) < data.types.len(),
        };
        let types = data.parameters.iter().map(|p| p.ty).chain(data.results.iter().map(|result| result.ty));
        if !types.chain(data.scalar_types.iter().copied()).all(is_known) {
            self.error(&codes::TDL_TYPE, Span::NONE, "a type parameter is not declared");
        }
        if data.results.is_empty() {
            self.error(&codes::TDL_MISSING_DEFINITION, Span::NONE, "the description has no result");
        }
    }

    fn bodies(&mut self) {
        let data = self.data;
        for (number, combiner) in data.combiners.iter().enumerate() {
            let count = combiner.types.len();
            let values = if combiner.compares() { 1 } else { count };
            let complete = count > 0
                && (combiner.compares() || combiner.identities.len() == count)
                && combiner.bodies.len() == values
                && combiner.names.len() == 2 * count;
            if !complete {
                let message = format!(
                    "the combiner `{}` carries {count} values; it needs as many identities and results",
                    combiner.name
                );
                self.error(&codes::TDL_WRONG_REDUCER, Span::NONE, message);
                continue;
            }
            for &identity in &combiner.identities {
                self.scalar(identity, &mut Scope::default());
            }
            let mut scope = Scope { combiner: Some(CombinerId::from_index(number)), ..Scope::default() };
            for &body in &combiner.bodies {
                self.scalar(body, &mut scope);
            }
        }
        for (number, item) in data.lets.iter().enumerate() {
            let mut scope = Scope { lets: number, ..Scope::default() };
            self.bind(&item.vars, &mut scope);
            self.scalar(item.body, &mut scope);
        }
        for result in &data.results {
            let mut scope = Scope { lets: data.lets.len(), ..Scope::default() };
            self.bind(&result.vars, &mut scope);
            self.scalar(result.body, &mut scope);
        }
    }

    fn bind(&mut self, vars: &[VarId], scope: &mut Scope) {
        for &var in vars {
            let name = &self.data.variable(var).name;
            if scope.vars.iter().any(|&other| self.data.variable(other).name == *name) {
                self.error(&codes::TDL_REDEFINED, Span::NONE, format!("the index `{name}` is bound already"));
            }
            scope.vars.push(var);
        }
    }

    fn scalar(&mut self, id: ScalarId, scope: &mut Scope) {
        let data = self.data;
        let span = self.description.spans().scalars[id.index()];
        match data.scalar(id) {
            Scalar::Literal(_) => {}
            Scalar::Carried(combiner, slot) => {
                let known = scope.combiner == Some(*combiner)
                    && (*slot as usize) < 2 * data.combiner(*combiner).types.len();
                if !known {
                    self.error(&codes::TDL_UNKNOWN_NAME, span, "a carried value outside its combiner");
                }
            }
            Scalar::Index(index) => self.index(*index, scope),
            Scalar::Read(source, indices) => {
                if self.reads(*source, indices.len(), span, scope) {
                    indices.iter().for_each(|&index| self.index(index, scope));
                }
            }
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => self.scalar(*a, scope),
            Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => {
                self.scalar(*a, scope);
                self.scalar(*b, scope);
            }
            Scalar::Select(a, b, c) => [a, b, c].into_iter().for_each(|&part| self.scalar(part, scope)),
            Scalar::Reduce(reduction, component) => {
                let reduction = data.reduction(*reduction);
                let carried = match reduction.reducer {
                    Reducer::Custom(id) if data.combiner(id).compares() => {
                        let message = format!("`{}` compares, and combines nothing", data.combiner(id).name);
                        self.error(&codes::TDL_WRONG_REDUCER, span, message);
                        return;
                    }
                    Reducer::Custom(id) => data.combiner(id).types.len(),
                    _ => 1,
                };
                let given = reduction.bodies.len();
                if given != carried || *component as usize >= carried {
                    let values = plural(carried, "value");
                    let message = if given != carried {
                        format!("the reducer carries {values} and is given {given}")
                    } else {
                        format!("the reducer gives {values}; there is none of number {component}")
                    };
                    self.error(&codes::TDL_WRONG_REDUCER, span, message);
                    return;
                }
                let outer = scope.vars.len();
                self.bind(&reduction.vars, scope);
                reduction.bodies.iter().for_each(|&body| self.scalar(body, scope));
                scope.vars.truncate(outer);
            }
            Scalar::Opaque(call, indices) => {
                let call = data.opaque(*call);
                if let Some(comparator) = call.comparator.map(|id| data.combiner(id)) {
                    let types = call.arguments.iter().map(|slice| data.source_type(slice.source));
                    if !comparator.compares() || !types.eq(comparator.types.iter().copied()) {
                        let message = format!(
                            "`{}` does not compare elements of what \"{}\" is given",
                            comparator.name, call.function
                        );
                        self.error(&codes::TDL_UNKNOWN_OPAQUE, span, message);
                        return;
                    }
                }
                for slice in &call.arguments {
                    if self.reads(slice.source, slice.dims.len(), span, scope) {
                        slice.dims.iter().flatten().for_each(|&index| self.index(index, scope));
                    }
                }
                indices.iter().for_each(|&index| self.index(index, scope));
            }
        }
    }

    /// Whether a tensor may be read here with this many indices.
    fn reads(&mut self, source: Source, indices: usize, span: Span, scope: &Scope) -> bool {
        let data = self.data;
        if let Some(combiner) = scope.combiner {
            let message =
                format!("`{}` may only use the values that it is given", data.combiner(combiner).name);
            self.error(&codes::TDL_WRONG_REDUCER, span, message);
            return false;
        }
        let known = match source {
            Source::Operand(number) => (number as usize) < data.parameters.len(),
            Source::Let(number) => (number as usize) < scope.lets,
        };
        if !known {
            let message = "a tensor is used before it is defined";
            self.error(&codes::TDL_RECURSION, span, message);
            return false;
        }
        let rank = data.rank(source);
        if rank != indices {
            let name = data.source_name(source);
            let message = format!("`{name}` has {rank} dimensions and is read with {indices} indices");
            self.error(&codes::TDL_WRONG_RANK, span, message);
        }
        rank == indices
    }

    fn index(&mut self, id: IndexId, scope: &Scope) {
        let data = self.data;
        let span = self.description.spans().indices[id.index()];
        match data.index(id) {
            Index::Const(_) | Index::Extent(_) => {}
            Index::Var(var) => {
                if !scope.vars.contains(&var) {
                    let message = format!("the index `{}` is not bound here", data.variable(var).name);
                    self.error(&codes::TDL_UNKNOWN_NAME, span, message);
                }
            }
            Index::Add(a, b) | Index::Sub(a, b) => {
                self.index(a, scope);
                self.index(b, scope);
            }
            Index::Mul(a, b) => {
                if !self.has_no_variables(a) && !self.has_no_variables(b) {
                    let message = format!("`{}` is a product of indices", index_text(data, id));
                    self.error(&codes::TDL_NOT_AFFINE, span, message);
                }
                self.index(a, scope);
                self.index(b, scope);
            }
            Index::FloorDiv(a, b) | Index::Mod(a, b) => {
                let positive = match data.index(b) {
                    Index::Const(value) => value > 0,
                    _ => self.has_no_variables(b),
                };
                if !positive {
                    let message = format!(
                        "`{}` divides by something that is not a positive number or an extent",
                        index_text(data, id)
                    );
                    self.error(&codes::TDL_NOT_AFFINE, span, message);
                }
                self.index(a, scope);
                self.index(b, scope);
            }
            Index::Data(scalar) => {
                let is_integer = match data.scalar_type(scalar) {
                    TypeRef::Concrete(element) => {
                        matches!(element.kind(), ElementKind::Signed | ElementKind::Unsigned)
                    }
                    TypeRef::Param(number) => data
                        .types
                        .get(number as usize)
                        .is_some_and(|param| param.class == crate::scalar::TypeClass::Int),
                    TypeRef::Part(_) => false,
                };
                if !is_integer {
                    let ty = type_text(data, data.scalar_type(scalar));
                    self.error(
                        &codes::TDL_TYPE,
                        span,
                        format!("an index is an integer, not a value of type {ty}"),
                    );
                }
                if scope.vars.is_empty() && scope.lets == 0 && scope.combiner.is_none() {
                    self.error(&codes::TDL_NOT_AFFINE, span, "an extent does not depend on elements");
                } else {
                    self.scalar(scalar, &mut scope.clone());
                }
            }
        }
    }

    fn has_no_variables(&self, id: IndexId) -> bool {
        match self.data.index(id) {
            Index::Const(_) | Index::Extent(_) => true,
            Index::Var(_) | Index::Data(_) => false,
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Mul(a, b)
            | Index::FloorDiv(a, b)
            | Index::Mod(a, b) => self.has_no_variables(a) && self.has_no_variables(b),
        }
    }
}

fn is_word(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

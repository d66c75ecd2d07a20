//! The op that one worker runs: the same description over the worker's share.
//!
//! All extents are known here. Operands become their regions, so an access counts from the start of its region, in its
//! steps; a variable counts from the start of its share, so where it is used the start is added. Guards stay, and speak
//! of the original indices; branches that no point of the share takes are left out. Intermediate tensors are computed
//! as far as they are needed.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use tofu_diagnostics::Diagnostic;
use tofu_ir::EntityId;

use crate::builder::Builder;
use crate::description::*;
use crate::evaluate::Part;
use crate::region::{Interval, Needs, Region, Scope, bind_output, bind_reduction, needs, region, signed};
use crate::scalar::BinaryOp;

/// One worker's share of an op.
#[derive(Clone, Debug)]
pub struct Local {
    /// What the worker computes, on operands that are the regions: the results, and what the part says is carried.
    pub description: Description,
    /// What it needs of each operand.
    pub operands: Vec<Region>,
}

/// The op that computes a part of the results, for actual extents (those of the description, in its order).
///
/// # Errors
///
/// The local description is too large.
pub fn local(description: &Description, extents: &[u64], part: &Part) -> Result<Local, Vec<Diagnostic>> {
    let data = description.data();
    let extents = signed(extents);
    let needs = needs(data, &extents, part);
    let ranks = data.parameters.iter().map(|parameter| parameter.dims.len());
    let operands =
        needs.operands.iter().zip(ranks).map(|(need, rank)| region(need.as_deref(), rank)).collect();
    let mut rewriter = Rewriter {
        data,
        extents: &extents,
        part,
        needs: &needs,
        b: Builder::new(&data.name),
        starts: Vec::new(),
        combiners: HashMap::default(),
        carried: None,
    };
    let description = rewriter.whole()?;
    Ok(Local { description, operands })
}

struct Rewriter<'d> {
    data: &'d Data,
    extents: &'d [i64],
    part: &'d Part,
    needs: &'d Needs,
    b: Builder,
    /// The variables in scope: what they were, what they are, and the range that they had.
    starts: Vec<(VarId, VarId, Interval)>,
    combiners: HashMap<CombinerId, CombinerId, FxBuildHasher>,
    carried: Option<CombinerId>,
}

impl Rewriter<'_> {
    fn whole(&mut self) -> Result<Description, Vec<Diagnostic>> {
        let data = self.data;
        for param in &data.types {
            self.b.type_param(&param.name, param.class);
        }
        for (parameter, need) in data.parameters.iter().zip(&self.needs.operands) {
            let rank = parameter.dims.len();
            let dims: Vec<IndexId> = region(need.as_deref(), rank)
                .dims
                .iter()
                .map(|dim| self.b.constant(dim.size as i64))
                .collect();
            self.b.operand(&parameter.name, parameter.ty, &dims);
        }
        for (number, combiner) in data.combiners.iter().enumerate() {
            let names: Vec<&str> = combiner.names.iter().map(|name| &**name).collect();
            let id = self.b.combiner(&combiner.name, &combiner.types, &names);
            self.combiners.insert(CombinerId::from_index(number), id);
            self.carried = Some(id);
            let mut scope = Scope::new(data, self.extents);
            let identities: Vec<ScalarId> =
                combiner.identities.iter().map(|&value| self.scalar(value, &mut scope)).collect();
            let bodies: Vec<ScalarId> =
                combiner.bodies.iter().map(|&value| self.scalar(value, &mut scope)).collect();
            self.b.finish_combiner(id, &identities, &bodies);
            self.carried = None;
        }
        for (item, need) in data.lets.iter().zip(&self.needs.lets) {
            let mut scope = Scope::new(data, self.extents);
            for (position, &var) in item.vars.iter().enumerate() {
                let needed = need.as_ref().and_then(|need| need.get(position).copied());
                scope.bind(var, needed.unwrap_or(Interval::EMPTY));
            }
            let vars = self.bind(&item.vars, &scope);
            // What nothing needs keeps its place, and is empty.
            let body = if need.is_none() {
                let ty = data.scalar_type(item.body);
                self.b.int(0, ty)
            } else {
                self.scalar(item.body, &mut scope)
            };
            self.starts.clear();
            self.b.define(&item.name, &vars, body);
        }
        for result in &data.results {
            self.output(result, &result.name, result.ty, |this, scope| this.scalar(result.body, scope));
        }
        for carried in &self.part.carried {
            let result = &data.results[carried.result];
            let mut name = format!("{}_{}", result.name, carried.component);
            while data.results.iter().any(|other| *other.name == name) {
                name.push('_');
            }
            self.output(result, &name, carried.element(data), |this, scope| {
                this.reduce(carried.reduction, carried.component, scope)
            });
        }
        // Accesses stay inside since the regions were made to hold them; where that hangs on remainders, the check by
        // polynomials would not see it.
        std::mem::take(&mut self.b).finish_cut()
    }

    /// A result with the indices of `like`.
    fn output(
        &mut self,
        like: &Output,
        name: &str,
        ty: TypeRef,
        body: impl FnOnce(&mut Self, &mut Scope<'_>) -> ScalarId,
    ) {
        let mut scope = Scope::new(self.data, self.extents);
        like.vars.iter().for_each(|&var| bind_output(&mut scope, var, self.part));
        let vars = self.bind(&like.vars, &scope);
        let body = if scope.is_dead() { self.b.int(0, ty) } else { body(self, &mut scope) };
        self.starts.clear();
        self.b.output(name, ty, &vars, body);
    }

    fn bind(&mut self, vars: &[VarId], scope: &Scope<'_>) -> Vec<VarId> {
        let mut bound = Vec::new();
        for &var in vars {
            let range = scope.range(var);
            let extent = self.b.constant(range.count());
            let new = self.b.var(&self.data.variable(var).name, extent);
            self.starts.push((var, new, range));
            bound.push(new);
        }
        bound
    }

    fn scalar(&mut self, id: ScalarId, scope: &mut Scope<'_>) -> ScalarId {
        let data = self.data;
        let ty = data.scalar_type(id);
        match data.scalar(id) {
            Scalar::Literal(literal) => self.b.literal(*literal, ty),
            Scalar::Carried(_, slot) => match self.carried {
                Some(combiner) => self.b.carried(combiner, *slot),
                None => self.b.int(0, ty),
            },
            Scalar::Index(index) => {
                let index = self.index(*index, scope);
                self.b.index_value(index)
            }
            Scalar::Read(source, indices) => {
                let need = self.need(*source);
                let indices: Vec<IndexId> = indices
                    .iter()
                    .enumerate()
                    .map(|(dimension, &index)| {
                        let index = self.index(index, scope);
                        self.shifted(index, need.as_ref().and_then(|need| need.get(dimension)))
                    })
                    .collect();
                self.b.read(*source, &indices)
            }
            Scalar::Unary(op, a) => {
                let a = self.scalar(*a, scope);
                self.b.unary(*op, a)
            }
            Scalar::Binary(op, a, b) => self.binary(id, *op, [*a, *b], scope),
            Scalar::Compare(comparison, a, b) => {
                let (a, b) = (self.scalar(*a, scope), self.scalar(*b, scope));
                self.b.compare(*comparison, a, b)
            }
            Scalar::Select(condition, a, b) => {
                let (mut holds, mut fails) = (scope.clone(), scope.clone());
                holds.assume(*condition, true);
                fails.assume(*condition, false);
                if holds.is_dead() {
                    return self.kept(id, Reducer::Sum, *b, &mut fails);
                }
                if fails.is_dead() {
                    return self.kept(id, Reducer::Sum, *a, &mut holds);
                }
                let condition = self.scalar(*condition, scope);
                let a = self.kept(id, Reducer::Sum, *a, &mut holds);
                let b = self.kept(id, Reducer::Sum, *b, &mut fails);
                self.b.select(condition, a, b)
            }
            Scalar::Convert(a) => {
                let a = self.scalar(*a, scope);
                self.b.convert(a, ty)
            }
            Scalar::Bitcast(a) => {
                let a = self.scalar(*a, scope);
                self.b.bitcast(a, ty)
            }
            Scalar::Reduce(reduction, component) => self.reduce(*reduction, *component, scope),
            Scalar::Opaque(call, indices) => {
                let call = data.opaque(*call);
                let mut arguments = Vec::new();
                for slice in &call.arguments {
                    let need = self.need(slice.source);
                    let mut dims = smallvec::SmallVec::new();
                    for (dimension, slot) in slice.dims.iter().enumerate() {
                        dims.push(slot.map(|index| {
                            let index = self.index(index, scope);
                            self.shifted(index, need.as_ref().and_then(|need| need.get(dimension)))
                        }));
                    }
                    arguments.push(Slice { source: slice.source, dims });
                }
                let indices: Vec<IndexId> = indices.iter().map(|&index| self.index(index, scope)).collect();
                let comparator = call.comparator.and_then(|id| self.combiners.get(&id).copied());
                let call = OpaqueCall { arguments: arguments.into(), comparator, ..call.clone() };
                self.b.opaque_of_type(call, &indices, ty)
            }
        }
    }

    /// A function of two values, or what is left of it.
    fn binary(
        &mut self,
        id: ScalarId,
        op: BinaryOp,
        [a, b]: [ScalarId; 2],
        scope: &mut Scope<'_>,
    ) -> ScalarId {
        let left_out = |operand: ScalarId| self.part.leaves_out(id, operand);
        match (left_out(a), left_out(b)) {
            (false, true) => return self.scalar(a, scope),
            (true, false) if op != BinaryOp::Sub => return self.scalar(b, scope),
            _ => {}
        }
        let [a, b] = [a, b].map(|operand| match Reducer::of(op) {
            Some(reducer) => self.kept(id, reducer, operand, scope),
            None => self.scalar(operand, scope),
        });
        self.b.binary(op, a, b)
    }

    /// An operand of a function, or what the reducer gives of nothing if the part leaves it out.
    fn kept(&mut self, of: ScalarId, reducer: Reducer, operand: ScalarId, scope: &mut Scope<'_>) -> ScalarId {
        if !self.part.leaves_out(of, operand) {
            return self.scalar(operand, scope);
        }
        let ty = self.data.scalar_type(operand);
        self.b.literal(reducer.identity(ty), ty)
    }

    fn reduce(&mut self, id: ReductionId, component: u32, scope: &Scope<'_>) -> ScalarId {
        let reduction = self.data.reduction(id);
        let mut inside = scope.clone();
        bind_reduction(&mut inside, id, self.part);
        let outer = self.starts.len();
        let vars = self.bind(&reduction.vars, &inside);
        let bodies: Vec<ScalarId> = reduction
            .bodies
            .iter()
            .map(|&body| {
                if inside.is_dead() {
                    let ty = self.data.scalar_type(body);
                    self.b.int(0, ty)
                } else {
                    self.scalar(body, &mut inside)
                }
            })
            .collect();
        self.starts.truncate(outer);
        let reducer = match reduction.reducer {
            Reducer::Custom(combiner) => {
                Reducer::Custom(self.combiners.get(&combiner).copied().unwrap_or(combiner))
            }
            builtin => builtin,
        };
        self.b.reduce_many(reducer, &vars, &bodies, component)
    }

    fn need(&self, source: Source) -> Option<Vec<Interval>> {
        match source {
            Source::Operand(number) => self.needs.operands[number as usize].clone(),
            Source::Let(number) => self.needs.lets[number as usize].clone(),
        }
    }

    /// An index counted from the start of a region, in its steps.
    fn shifted(&mut self, index: IndexId, need: Option<&Interval>) -> IndexId {
        let Some(need) = need else { return index };
        let start = self.b.constant(need.low);
        let shifted = self.b.index_sub(index, start);
        let step = self.b.constant(need.step.max(1));
        self.b.index_floordiv(shifted, step)
    }

    fn index(&mut self, id: IndexId, scope: &mut Scope<'_>) -> IndexId {
        match self.data.index(id) {
            Index::Const(_) | Index::Extent(_) => self.b.constant(scope.extent(id)),
            Index::Var(var) => {
                let found = self.starts.iter().rev().find(|(old, ..)| *old == var);
                let Some(&(_, new, range)) = found else { return self.b.constant(0) };
                let index = self.b.index(new);
                self.b.affine(range.step.max(1), index, range.low)
            }
            Index::Add(a, b) => {
                let (a, b) = (self.index(a, scope), self.index(b, scope));
                self.b.index_add(a, b)
            }
            Index::Sub(a, b) => {
                let (a, b) = (self.index(a, scope), self.index(b, scope));
                self.b.index_sub(a, b)
            }
            Index::Mul(a, b) => {
                let (a, b) = (self.index(a, scope), self.index(b, scope));
                self.b.index_mul(a, b)
            }
            Index::FloorDiv(a, b) => {
                let (a, b) = (self.index(a, scope), self.index(b, scope));
                self.b.index_floordiv(a, b)
            }
            Index::Mod(a, b) => {
                let (a, b) = (self.index(a, scope), self.index(b, scope));
                self.b.index_mod(a, b)
            }
            Index::Data(value) => {
                let value = self.scalar(value, scope);
                self.b.data_index(value)
            }
        }
    }
}

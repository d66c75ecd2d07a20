//! The rewrite itself: expressions over shares, with the numbers of workers where they matter.

use std::collections::{BTreeSet, HashMap};

use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use tofu_diagnostics::Diagnostic;
use tofu_ir::{ElementType, EntityId};

use super::reach::Reach;
use super::{Made, Mask, Shares, Shifted, Window};
use crate::builder::Builder;
use crate::description::*;
use crate::region::Scope;
use crate::scalar::{BinaryOp, Comparison, Literal};

const WORKER: TypeRef = TypeRef::Concrete(ElementType::I32);
const INDEX: TypeRef = TypeRef::Concrete(ElementType::Index);

pub(super) struct Rewriter<'a> {
    data: &'a Data,
    extents: &'a [i64],
    shares: &'a Shares,
    reach: &'a Reach<'a>,
    /// The divisions whose workers are operands.
    workers: &'a [usize],
    b: Builder,
    /// The variables in scope.
    bound: Vec<(VarId, Shifted)>,
    combiners: HashMap<CombinerId, CombinerId, FxBuildHasher>,
    carried: Option<CombinerId>,
    masks: Vec<Mask>,
    used: BTreeSet<usize>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(
        data: &'a Data,
        extents: &'a [i64],
        shares: &'a Shares,
        reach: &'a Reach<'a>,
        workers: &'a [usize],
    ) -> Rewriter<'a> {
        Rewriter {
            data,
            extents,
            shares,
            reach,
            workers,
            b: Builder::new(&data.name),
            bound: Vec::new(),
            combiners: HashMap::default(),
            carried: None,
            masks: Vec::new(),
            used: BTreeSet::new(),
        }
    }

    pub(super) fn whole(mut self) -> Result<Made, Vec<Diagnostic>> {
        let data = self.data;
        for param in &data.types {
            self.b.type_param(&param.name, param.class);
        }
        for (parameter, windows) in data.parameters.iter().zip(&self.reach.operands) {
            let dims: Vec<IndexId> =
                windows.iter().map(|window| self.b.constant(window.size as i64)).collect();
            self.b.operand(&parameter.name, parameter.ty, &dims);
        }
        for &worker in self.workers {
            let mut name = format!("worker{worker}");
            while data.parameters.iter().any(|other| *other.name == name) {
                name.push('_');
            }
            self.b.operand(&name, WORKER, &[]);
        }
        for (number, combiner) in data.combiners.iter().enumerate() {
            let names: Vec<&str> = combiner.names.iter().map(|name| &**name).collect();
            let id = self.b.combiner(&combiner.name, &combiner.types, &names);
            self.combiners.insert(CombinerId::from_index(number), id);
            self.carried = Some(id);
            let scope = Scope::new(data, self.extents);
            let identities: Vec<ScalarId> =
                combiner.identities.iter().map(|&value| self.scalar(value, &scope)).collect();
            let bodies: Vec<ScalarId> =
                combiner.bodies.iter().map(|&value| self.scalar(value, &scope)).collect();
            self.b.finish_combiner(id, &identities, &bodies);
            self.carried = None;
        }
        for (item, windows) in data.lets.iter().zip(&self.reach.lets) {
            let mut scope = Scope::new(data, self.extents);
            let empty = SmallVec::from_elem(Window { size: 0, ..Window::whole(0) }, item.vars.len());
            let mut vars = Vec::new();
            for (&var, window) in item.vars.iter().zip(windows.as_ref().unwrap_or(&empty)) {
                scope.bind_whole(var);
                vars.push(self.bind_window(var, window));
            }
            // What nothing needs keeps its place, and is empty.
            let body = match windows {
                Some(_) => self.scalar(item.body, &scope),
                None => self.b.int(0, data.scalar_type(item.body)),
            };
            self.bound.clear();
            self.b.define(&item.name, &vars, body);
        }
        for result in &data.results {
            self.output(result, &result.name, result.ty, |this, scope| this.scalar(result.body, scope));
        }
        let carried: Vec<_> = self.shares.each.iter().flat_map(|share| share.carried.clone()).collect();
        for carried in carried {
            let result = &data.results[carried.result];
            let mut name = format!("{}_{}", result.name, carried.component);
            while data.results.iter().any(|other| *other.name == name) {
                name.push('_');
            }
            self.output(result, &name, carried.element(data), |this, scope| {
                this.reduce(carried.reduction, carried.component, scope)
            });
        }
        let description = std::mem::take(&mut self.b).finish_cut()?;
        Ok(Made { description, masks: self.masks, used: self.used })
    }

    /// A result with the indices of `like`.
    fn output(
        &mut self,
        like: &Output,
        name: &str,
        ty: TypeRef,
        body: impl FnOnce(&mut Self, &Scope<'_>) -> ScalarId,
    ) {
        let mut scope = Scope::new(self.data, self.extents);
        let mut vars = Vec::new();
        for &var in &like.vars {
            vars.push(self.bind_share(&mut scope, var, self.shares.of_var(var)));
        }
        let body = body(self, &scope);
        self.bound.clear();
        self.b.output(name, ty, &vars, body);
    }

    /// Brings a variable into scope, over a share if it is split.
    fn bind_share(&mut self, scope: &mut Scope<'_>, var: VarId, split: Option<(usize, i64)>) -> VarId {
        scope.bind_whole(var);
        let window = match split {
            Some((number, each)) => {
                Window { moves: Some(number), start: 0, step: each, size: each.max(0) as u64 }
            }
            None => Window::whole(scope.extent(self.data.variable(var).extent).max(0) as u64),
        };
        self.bind_window(var, &window)
    }

    fn bind_window(&mut self, var: VarId, window: &Window) -> VarId {
        let extent = self.b.constant(window.size as i64);
        let new = self.b.var(&self.data.variable(var).name, extent);
        let rest = self.b.index(new);
        let mut shifted = Shifted { rest, constant: window.start, by: SmallVec::new() };
        if let Some(number) = window.moves {
            shifted = shifted.by(number, window.step);
        }
        self.bound.push((var, shifted));
        new
    }

    fn scalar(&mut self, id: ScalarId, scope: &Scope<'_>) -> ScalarId {
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
                let index = self.placed(index);
                self.b.index_value(index)
            }
            Scalar::Read(source, indices) => {
                let indices: Vec<IndexId> = indices
                    .iter()
                    .enumerate()
                    .map(|(dim, &index)| self.accessed(*source, dim, index, scope))
                    .collect();
                self.b.read(*source, &indices)
            }
            Scalar::Unary(op, a) => {
                let a = self.scalar(*a, scope);
                self.b.unary(*op, a)
            }
            Scalar::Binary(op, a, b) => {
                let reducer = Reducer::of(*op).unwrap_or(Reducer::Sum);
                let (a, b) = (self.kept(id, reducer, *a, scope), self.kept(id, reducer, *b, scope));
                self.b.binary(*op, a, b)
            }
            Scalar::Compare(comparison, a, b) => self.compare(*comparison, [*a, *b], scope),
            Scalar::Select(condition, a, b) => self.select(id, [*condition, *a, *b], scope),
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
                    let mut dims = SmallVec::new();
                    for (dim, slot) in slice.dims.iter().enumerate() {
                        dims.push(slot.map(|index| self.accessed(slice.source, dim, index, scope)));
                    }
                    arguments.push(Slice { source: slice.source, dims });
                }
                let indices: Vec<IndexId> = indices
                    .iter()
                    .map(|&index| {
                        let index = self.index(index, scope);
                        self.placed(index)
                    })
                    .collect();
                let comparator = call.comparator.and_then(|id| self.combiners.get(&id).copied());
                let call = OpaqueCall { arguments: arguments.into(), comparator, ..call.clone() };
                self.b.opaque_of_type(call, &indices, ty)
            }
        }
    }

    /// Of two indices that move alike, what is left of them compares as they do.
    fn compare(&mut self, comparison: Comparison, [a, b]: [ScalarId; 2], scope: &Scope<'_>) -> ScalarId {
        if let (&Scalar::Index(x), &Scalar::Index(y)) = (self.data.scalar(a), self.data.scalar(b)) {
            let (x, y) = (self.index(x, scope), self.index(y, scope));
            let is_alike = x.by == y.by;
            let [x, y] = [x, y].map(|index| {
                let by = if is_alike { SmallVec::new() } else { index.by.clone() };
                self.placed(Shifted { by, ..index })
            });
            return self.b.compare_indices(comparison, x, y);
        }
        let (a, b) = (self.scalar(a, scope), self.scalar(b, scope));
        self.b.compare(comparison, a, b)
    }

    fn select(&mut self, id: ScalarId, [condition, a, b]: [ScalarId; 3], scope: &Scope<'_>) -> ScalarId {
        let (mut holds, mut fails) = (scope.clone(), scope.clone());
        holds.assume(condition, true);
        fails.assume(condition, false);
        if holds.is_dead() && !scope.is_dead() {
            return self.kept(id, Reducer::Sum, b, &fails);
        }
        if fails.is_dead() && !scope.is_dead() {
            return self.kept(id, Reducer::Sum, a, &holds);
        }
        let condition = match self.without_bounds(condition, a, b, scope) {
            Some(left) => {
                let mut all = None;
                for part in left {
                    let part = self.scalar(part, scope);
                    all = Some(match all {
                        Some(others) => self.b.binary(BinaryOp::And, others, part),
                        None => part,
                    });
                }
                all
            }
            None => Some(self.scalar(condition, scope)),
        };
        let a = self.kept(id, Reducer::Sum, a, &holds);
        let b = self.kept(id, Reducer::Sum, b, &fails);
        match condition {
            Some(condition) => self.b.select(condition, a, b),
            None => a,
        }
    }

    /// For `if 0 <= e and e < N and … then operand[…, e, …] else 0`: a window that moves holds 0 outside of the operand, so the
    /// bounds of its dimensions need no guard. What is left of the guard.
    fn without_bounds(
        &mut self,
        condition: ScalarId,
        a: ScalarId,
        b: ScalarId,
        scope: &Scope<'_>,
    ) -> Option<Vec<ScalarId>> {
        let data = self.data;
        let is_zero = match data.scalar(b) {
            Scalar::Literal(Literal::Int(0)) => true,
            Scalar::Literal(Literal::Float(bits)) => *bits == 0,
            _ => false,
        };
        let &Scalar::Read(Source::Operand(operand), ref indices) = data.scalar(a) else { return None };
        if !is_zero {
            return None;
        }
        let mut left = vec![condition];
        let mut parts = Vec::new();
        while let Some(part) = left.pop() {
            match data.scalar(part) {
                Scalar::Binary(BinaryOp::And, x, y) => left.extend([*y, *x]),
                _ => parts.push(part),
            }
        }
        let windows = &self.reach.operands[operand as usize];
        let mut dropped: Vec<usize> = Vec::new();
        let extent_of = |dim: usize| {
            let dims = data.dims(Source::Operand(operand));
            dims.get(dim).map(|&extent| scope.extent(extent))
        };
        let kept: Vec<ScalarId> = parts
            .iter()
            .copied()
            .filter(|&part| {
                let Scalar::Compare(comparison, x, y) = data.scalar(part) else { return true };
                let (&Scalar::Index(x), &Scalar::Index(y)) = (data.scalar(*x), data.scalar(*y)) else {
                    return true;
                };
                let bounded = match comparison {
                    Comparison::Le if data.index(x) == Index::Const(0) => {
                        indices.iter().position(|&index| index == y)
                    }
                    Comparison::Ge if data.index(y) == Index::Const(0) => {
                        indices.iter().position(|&index| index == x)
                    }
                    Comparison::Lt => indices.iter().enumerate().position(|(dim, &index)| {
                        let is_extent = !crate::walk::any_index_in(data, y, &|part| {
                            matches!(part, Index::Var(_) | Index::Data(_))
                        });
                        index == x && is_extent && Some(scope.extent(y)) == extent_of(dim)
                    }),
                    _ => None,
                };
                match bounded.filter(|&dim| windows[dim].moves.is_some()) {
                    Some(dim) => {
                        dropped.push(dim);
                        false
                    }
                    None => true,
                }
            })
            .collect();
        dropped.sort_unstable();
        dropped.dedup();
        for dim in dropped {
            self.mask(Mask::Outside { operand: operand as usize, dim });
        }
        Some(kept)
    }

    fn mask(&mut self, mask: Mask) {
        if !self.masks.contains(&mask) {
            self.masks.push(mask);
        }
    }

    /// An operand of a function, which may count once only.
    fn kept(&mut self, of: ScalarId, reducer: Reducer, operand: ScalarId, scope: &Scope<'_>) -> ScalarId {
        let once: Vec<usize> = self
            .shares
            .each
            .iter()
            .enumerate()
            .filter(|(_, share)| share.once.contains(&(of, operand)))
            .map(|(number, _)| number)
            .collect();
        let mut value = self.scalar(operand, scope);
        for number in once {
            if let Some(read) = self.read_once(operand) {
                self.mask(Mask::Once { operand: read, among: number, reducer });
                continue;
            }
            let ty = self.data.scalar_type(operand);
            let nothing = self.b.literal(reducer.identity(ty), ty);
            let worker = self.worker(number);
            let worker = self.b.index_value(worker);
            let zero = self.b.constant(0);
            let zero = self.b.index_value(zero);
            let is_first = self.b.compare(Comparison::Eq, worker, zero);
            value = self.b.select(is_first, value, nothing);
        }
        value
    }

    /// The operand of which an expression is an element, if nothing else reads it.
    fn read_once(&self, id: ScalarId) -> Option<usize> {
        let Scalar::Read(Source::Operand(operand), _) = self.data.scalar(id) else { return None };
        self.is_read_once(*operand).then_some(*operand as usize)
    }

    fn is_read_once(&self, operand: u32) -> bool {
        let reads =
            |scalar: &&Scalar| matches!(scalar, Scalar::Read(Source::Operand(other), _) if *other == operand);
        let slices = self.data.opaques.iter().flat_map(|call| &call.arguments);
        self.data.scalars.iter().filter(reads).count() == 1
            && !slices.into_iter().any(|slice| slice.source == Source::Operand(operand))
    }

    fn reduce(&mut self, id: ReductionId, component: u32, scope: &Scope<'_>) -> ScalarId {
        let data = self.data;
        let reduction = data.reduction(id);
        let mut inside = scope.clone();
        let outer = self.bound.len();
        let mut vars = Vec::new();
        let mut padded = Vec::new();
        for &var in &reduction.vars {
            let split = self.shares.of_reduced(id, var);
            vars.push(self.bind_share(&mut inside, var, split));
            if let Some((number, _)) = split.filter(|&(number, _)| self.shares.is_padded(number)) {
                padded.push((var, number));
            }
        }
        let mut bodies: Vec<ScalarId> =
            reduction.bodies.iter().map(|&body| self.scalar(body, &inside)).collect();
        for (var, number) in padded {
            if let Some(masks) = self.masked_operands(reduction, var) {
                masks.into_iter().for_each(|mask| self.mask(mask));
                continue;
            }
            let index = self.var(var);
            let index = self.placed(index);
            let values = self.b.constant(self.shares.each[number].values);
            let is_inside = self.b.compare_indices(Comparison::Lt, index, values);
            for (component, body) in bodies.iter_mut().enumerate() {
                let ty = self.b.type_of(*body);
                let nothing = match reduction.reducer {
                    Reducer::Custom(combiner) => {
                        let identity = data.combiner(combiner).identities[component];
                        self.scalar(identity, scope)
                    }
                    builtin => self.b.literal(builtin.identity(ty), ty),
                };
                *body = self.b.select(is_inside, *body, nothing);
            }
        }
        self.bound.truncate(outer);
        let reducer = match reduction.reducer {
            Reducer::Custom(combiner) => {
                Reducer::Custom(self.combiners.get(&combiner).copied().unwrap_or(combiner))
            }
            builtin => builtin,
        };
        self.b.reduce_many(reducer, &vars, &bodies, component)
    }

    /// The masks by which the padding of a variable counts nothing: of an element that is reduced, or of all factors of a product
    /// that is summed, where they are read at the variable and nowhere else.
    fn masked_operands(&self, reduction: &Reduction, var: VarId) -> Option<Vec<Mask>> {
        let &[body] = &reduction.bodies[..] else { return None };
        if matches!(reduction.reducer, Reducer::Custom(_)) {
            return None;
        }
        let mut masks = Vec::new();
        let mut left = vec![body];
        while let Some(id) = left.pop() {
            match self.data.scalar(id) {
                Scalar::Binary(BinaryOp::Mul, a, b) if reduction.reducer == Reducer::Sum => {
                    left.extend([*a, *b]);
                }
                Scalar::Convert(a) if reduction.reducer == Reducer::Sum => left.push(*a),
                Scalar::Read(Source::Operand(operand), indices) => {
                    let mentions = |index: &IndexId| crate::walk::index_mentions_var(self.data, *index, var);
                    if !indices.iter().any(mentions) {
                        continue;
                    }
                    let dim = indices.iter().position(|&index| self.data.index(index) == Index::Var(var))?;
                    let is_alone = indices.iter().filter(|index| mentions(index)).count() == 1;
                    let moves = self.reach.operands[*operand as usize][dim].moves.is_some();
                    if !is_alone || !moves || !self.is_read_once(*operand) {
                        return None;
                    }
                    masks.push(Mask::Padding { operand: *operand as usize, dim, reducer: reduction.reducer });
                }
                _ => return None,
            }
        }
        (!masks.is_empty()).then_some(masks)
    }

    fn windows(&self, source: Source) -> Option<&SmallVec<[Window; 4]>> {
        match source {
            Source::Operand(number) => self.reach.operands.get(number as usize),
            Source::Let(number) => self.reach.lets.get(number as usize)?.as_ref(),
        }
    }

    /// An index of a dimension, counted from the start of its window. One that hangs on a worker stays inside for the padding of shares too.
    fn accessed(&mut self, source: Source, dim: usize, id: IndexId, scope: &Scope<'_>) -> IndexId {
        let window = self.windows(source).and_then(|windows| windows.get(dim)).copied();
        let mut index = self.index(id, scope);
        let Some(window) = window else { return self.placed(index) };
        index.constant -= window.start;
        if let Some(number) = window.moves {
            index = index.by(number, -window.step);
        }
        let is_still = index.by.is_empty();
        let placed = self.placed(index);
        if is_still {
            return placed;
        }
        let value = self.b.index_value(placed);
        let (zero, last) = (self.b.constant(0), self.b.constant(window.size as i64 - 1));
        let (zero, last) = (self.b.index_value(zero), self.b.index_value(last));
        let value = self.b.scalar(Scalar::Binary(BinaryOp::Max, value, zero), INDEX);
        let value = self.b.scalar(Scalar::Binary(BinaryOp::Min, value, last), INDEX);
        self.b.data_index(value)
    }

    /// An index as it is, with the numbers of workers.
    fn placed(&mut self, index: Shifted) -> IndexId {
        let mut sum = index.rest;
        for (number, factor) in index.by {
            let worker = self.worker(number);
            let scaled = self.b.affine(factor, worker, 0);
            sum = self.b.index_add(scaled, sum);
        }
        self.b.affine(1, sum, index.constant)
    }

    /// The number of a worker.
    fn worker(&mut self, number: usize) -> IndexId {
        self.used.insert(number);
        let place = self.workers.iter().position(|&other| other == number).unwrap_or(0);
        let read = self.b.read(Source::Operand((self.data.parameters.len() + place) as u32), &[]);
        self.b.data_index(read)
    }

    fn var(&mut self, var: VarId) -> Shifted {
        match self.bound.iter().rev().find(|(other, _)| *other == var) {
            Some((_, shifted)) => shifted.clone(),
            None => Shifted { rest: self.b.constant(0), constant: 0, by: SmallVec::new() },
        }
    }

    fn index(&mut self, id: IndexId, scope: &Scope<'_>) -> Shifted {
        let fixed = |rest: IndexId| Shifted { rest, constant: 0, by: SmallVec::new() };
        match self.data.index(id) {
            Index::Const(_) | Index::Extent(_) => {
                Shifted { rest: self.b.constant(0), constant: scope.extent(id), by: SmallVec::new() }
            }
            Index::Var(var) => self.var(var),
            Index::Add(a, b) => {
                let (a, b) = (self.index(a, scope), self.index(b, scope));
                let rest = self.b.index_add(a.rest, b.rest);
                let sum = Shifted { rest, constant: a.constant + b.constant, by: a.by };
                b.by.into_iter().fold(sum, |sum, (number, factor)| sum.by(number, factor))
            }
            Index::Sub(a, b) => {
                let (a, b) = (self.index(a, scope), self.index(b, scope));
                let rest = self.b.index_sub(a.rest, b.rest);
                let sum = Shifted { rest, constant: a.constant - b.constant, by: a.by };
                b.by.into_iter().fold(sum, |sum, (number, factor)| sum.by(number, -factor))
            }
            Index::Mul(a, b) => {
                let (x, y) = (self.index(a, scope), self.index(b, scope));
                let is_number =
                    |index: &Shifted, b: &Builder| index.by.is_empty() && b.number(index.rest) == Some(0);
                let (x, factor, is_left) = match (is_number(&x, &self.b), is_number(&y, &self.b)) {
                    (_, true) => (x, y.constant, false),
                    (true, false) => (y, x.constant, true),
                    (false, false) => {
                        let (x, y) = (self.placed(x), self.placed(y));
                        return fixed(self.b.index_mul(x, y));
                    }
                };
                let number = self.b.constant(factor);
                let rest =
                    if is_left { self.b.index_mul(number, x.rest) } else { self.b.index_mul(x.rest, number) };
                let by = x.by.into_iter().map(|(number, own)| (number, own * factor));
                let scaled = Shifted { rest, constant: x.constant * factor, by: SmallVec::new() };
                by.fold(scaled, |sum, (number, factor)| sum.by(number, factor))
            }
            Index::FloorDiv(a, b) => {
                let (a, divisor) = (self.index(a, scope), scope.extent(b));
                let by = self.b.constant(divisor);
                if divisor > 0 && a.by.iter().all(|(_, factor)| factor % divisor == 0) {
                    let inner = self.b.affine(1, a.rest, a.constant.rem_euclid(divisor));
                    let moved = a.by.into_iter().map(|(number, own)| (number, own / divisor));
                    return Shifted {
                        rest: self.b.index_floordiv(inner, by),
                        constant: a.constant.div_euclid(divisor),
                        by: moved.collect(),
                    };
                }
                let a = self.placed(a);
                fixed(self.b.index_floordiv(a, by))
            }
            Index::Mod(a, b) => {
                let (a, divisor) = (self.index(a, scope), scope.extent(b));
                let by = self.b.constant(divisor);
                if divisor > 0 && a.by.iter().all(|(_, factor)| factor % divisor == 0) {
                    let inner = self.b.affine(1, a.rest, a.constant.rem_euclid(divisor));
                    return fixed(self.b.index_mod(inner, by));
                }
                let a = self.placed(a);
                fixed(self.b.index_mod(a, by))
            }
            Index::Data(value) => {
                let value = self.scalar(value, scope);
                fixed(self.b.data_index(value))
            }
        }
    }
}

//! Cuts a description into stages.
//!
//! Intermediate tensors of the description are stages anyhow. Reductions become stages of their own where that is
//! faster than to run them point by point of what uses them; those that not all variables around take part in are
//! computed once.

use tofu_ir::EntityId;
use tofu_tdl::*;

use super::column;
use super::compile::{Compiled, Context, Identity, Reducing, uses};
use super::contract::Contract;
use super::places::{Placed, Places, beginning, is_left_alone};
use super::program::Reg;
use super::stage::{Fold, Map, Scatter, Stage, Target, Update, Work};

/// Reductions to fewer elements than this fold rows of what is reduced.
const FEW: usize = 64;
/// So do those of rows in memory that are at least so long.
const LONG: usize = 16;

/// Cuts a description into stages.
pub(super) struct Planner<'d> {
    pub(super) context: Context<'d>,
    pub(super) stages: Vec<Stage>,
    /// The size in bytes of each intermediate tensor.
    pub(super) temporaries: Vec<usize>,
}

impl Planner<'_> {
    /// All stages.
    pub(super) fn plan(&mut self) -> Compiled<()> {
        let data = self.context.data;
        for item in &data.lets {
            let size = self.bytes(&item.vars, item.body)?;
            self.temporaries.push(size);
        }
        for (number, item) in data.lets.iter().enumerate() {
            self.definition(&item.vars, item.body, Target::temporary(number))?;
        }
        for (number, result) in data.results.iter().enumerate() {
            self.definition(&result.vars, result.body, Target::Result(number))?;
        }
        Ok(())
    }

    /// The size of a tensor over the ranges of `vars`.
    fn bytes(&self, vars: &[VarId], body: ScalarId) -> Compiled<usize> {
        let size = self.context.element_of(body).storage_bytes();
        let bytes = self
            .context
            .ranges(vars)?
            .iter()
            .try_fold(size, |bytes, &extent| bytes.checked_mul(usize::try_from(extent).ok()?));
        bytes.ok_or_else(|| EvaluateError("an intermediate tensor is too large".to_owned()))
    }

    fn definition(&mut self, vars: &[VarId], body: ScalarId, target: Target) -> Compiled<()> {
        let data = self.context.data;
        let mut reductions = Vec::new();
        unconditional(data, body, self.context.has_data_indices, &mut reductions);
        for id in reductions {
            let own: Vec<VarId> =
                vars.iter().copied().filter(|&var| uses_in_reduction(data, id, var)).collect();
            let is_whole =
                matches!(data.scalar(body), Scalar::Reduce(other, 0) if *other == id) && own == vars;
            if is_whole {
                if self.reduction(id, &own, &target)? {
                    return Ok(());
                }
            } else if !self.context.staged.contains_key(&id) {
                self.temporary(id, vars, &own)?;
            }
        }
        let map = self.map(vars, body)?;
        self.stages.push(Stage { target, work: Work::Map(map) });
        Ok(())
    }

    fn map(&self, vars: &[VarId], body: ScalarId) -> Compiled<Map> {
        let program =
            self.context.program(&[], vars, |compiler, block| Ok(vec![compiler.scalar(body, block)?]))?;
        Ok(Map { program, size: self.context.element_of(body).storage_bytes() })
    }

    /// Computes a reduction inside of a definition over `vars` into tensors of its own, where that pays.
    fn temporary(&mut self, id: ReductionId, vars: &[VarId], own: &[VarId]) -> Compiled<()> {
        let reduction = self.context.data.reduction(id);
        let first = self.temporaries.len();
        let target = Target::Temporaries(first..first + reduction.bodies.len());
        let sizes =
            reduction.bodies.iter().map(|&body| self.bytes(own, body)).collect::<Compiled<Vec<usize>>>()?;
        if !self.reduction(id, own, &target)? {
            let &[body] = &reduction.bodies[..] else { return Ok(()) };
            if own.len() == vars.len() || single_term(self.context.data, reduction).is_some() {
                return Ok(());
            }
            let map = self.point_by_point(id, own, body)?;
            self.stages.push(Stage { target, work: Work::Map(map) });
        }
        self.temporaries.extend(sizes);
        self.context.staged.insert(id, (first, own.into()));
        Ok(())
    }

    /// Adds stages that compute a reduction over `own` in another way than point by point, where there is one.
    fn reduction(&mut self, id: ReductionId, own: &[VarId], target: &Target) -> Compiled<bool> {
        let context = &self.context;
        let reduction = context.data.reduction(id);
        if single_term(context.data, reduction).is_some() {
            return Ok(false);
        }
        let (op, identity) = match context.reducing(reduction) {
            Reducing::Binary(op, identity) => (op, identity),
            Reducing::Custom(combiner) => return self.update(reduction, combiner, own, target),
        };
        let body = reduction.bodies[0];
        if let Some(contract) = Contract::new(context, reduction, own)? {
            let otherwise = contract.may_decline().then(|| self.point_by_point(id, own, body)).transpose()?;
            let work = Work::Contract(Box::new(contract), otherwise);
            self.stages.push(Stage { target: target.clone(), work });
            return Ok(true);
        }
        let element = context.element_of(body);
        let combine = || column::combine(op, element);
        let (there, added) = match beginning(context.data, reduction, op) {
            Some((there, added)) if is_left_alone(context, there.1, (op, identity)) => (Some(there.0), added),
            _ => (None, body),
        };
        let scatter = self.scatter(reduction, added, own, (op, identity), combine)?;
        let (work, there) = match scatter {
            Some(scatter) => (Work::Scatter(scatter), there),
            None => match self.fold(reduction, own, combine)? {
                Some(fold) => (Work::Fold(fold), None),
                None => return Ok(false),
            },
        };
        // What is there already is combined as the description does it, so that a zero has the right sign.
        let program = context.program(&[], own, |compiler, block| {
            let nothing = compiler.identity(identity, element, block)?;
            let Some(there) = there else { return Ok(vec![nothing]) };
            let there = compiler.scalar(there, block)?;
            let there = compiler.binary(element, there, nothing, column::binary(op, element), block);
            Ok(vec![compiler.binary(element, nothing, there, column::binary(op, element), block)])
        })?;
        let map = Work::Map(Map { program, size: element.storage_bytes() });
        self.stages.push(Stage { target: target.clone(), work: map });
        self.stages.push(Stage { target: target.clone(), work });
        Ok(true)
    }

    /// Adds stages that combine into the elements at places that other elements name, for any combiner.
    fn update(
        &mut self,
        reduction: &Reduction,
        combiner: CombinerId,
        own: &[VarId],
        target: &Target,
    ) -> Compiled<bool> {
        let data = self.context.data;
        let Target::Temporaries(temporaries) = target else { return Ok(false) };
        let identities = &data.combiner(combiner).identities;
        // Each value is `if guard then value else identity`, all with one guard; the guard itself is one that is false.
        let mut guard = None;
        let mut values = Vec::new();
        for (&body, &identity) in reduction.bodies.iter().zip(identities) {
            let (condition, value) = match *data.scalar(body) {
                Scalar::Select(condition, value, rest) if data.scalar(rest) == data.scalar(identity) => {
                    (condition, value)
                }
                _ if matches!(data.scalar(identity), Scalar::Literal(Literal::Int(0))) => (body, body),
                _ => return Ok(false),
            };
            if *guard.get_or_insert(condition) != condition {
                return Ok(false);
            }
            values.push(value);
        }
        let Some(places) = guard.and_then(|guard| Places::of(data, guard, own)) else { return Ok(false) };
        let mut combine = None;
        let program = self.context.program(&reduction.vars, &places.free, |compiler, block| {
            let (offset, counts) = places.compile(compiler, own, block)?;
            let values = values.iter().map(|&value| places.value(compiler, counts, value, block));
            let mut registers = values.collect::<Compiled<Vec<Reg>>>()?;
            combine = Some(compiler.combiner(combiner)?);
            registers.extend([offset, counts]);
            Ok(registers)
        })?;
        let (Some(combine), &[ref values @ .., offset, counts]) = (combine, &program.results[..]) else {
            return Ok(false);
        };
        let placed = Placed { offset, counts, values: values.to_vec() };
        for (number, &identity) in temporaries.clone().zip(identities) {
            let map = self.map(own, identity)?;
            self.stages.push(Stage { target: Target::temporary(number), work: Work::Map(map) });
        }
        let extents = self.context.ranges(&reduction.vars)?;
        let work = Work::Update(Update { program, placed, extents, combine });
        self.stages.push(Stage { target: target.clone(), work });
        Ok(true)
    }

    fn point_by_point(&self, id: ReductionId, own: &[VarId], body: ScalarId) -> Compiled<Map> {
        let program =
            self.context.program(&[], own, |compiler, block| Ok(vec![compiler.reduction(id, block)?]))?;
        Ok(Map { program, size: self.context.element_of(body).storage_bytes() })
    }

    fn fold(
        &self,
        reduction: &Reduction,
        own: &[VarId],
        combine: impl Fn() -> column::Combine,
    ) -> Compiled<Option<Fold>> {
        let count = |vars: &[VarId]| -> Compiled<usize> {
            Ok(self
                .context
                .ranges(vars)?
                .iter()
                .fold(1usize, |count, &extent| count.saturating_mul(extent as usize)))
        };
        let (elements, row) = (count(own)?, count(&reduction.vars)?);
        let body = reduction.bodies[0];
        let in_rows = |&var: &VarId| reads_rows(self.context.data, body, var);
        let is_long = row >= LONG && reduction.vars.last().is_some_and(in_rows);
        if !is_long && (elements >= FEW || row <= elements) {
            return Ok(None);
        }
        let axes = [own, &reduction.vars].concat();
        let program =
            self.context.program(&[], &axes, |compiler, block| Ok(vec![compiler.scalar(body, block)?]))?;
        let size = self.context.element_of(body).storage_bytes();
        Ok(Some(Fold { program, size, row, combine: combine() }))
    }

    fn scatter(
        &self,
        reduction: &Reduction,
        body: ScalarId,
        own: &[VarId],
        (op, identity): (BinaryOp, Identity),
        combine: impl Fn() -> column::Combine,
    ) -> Compiled<Option<Scatter>> {
        let &Scalar::Select(condition, value, rest) = self.context.data.scalar(body) else {
            return Ok(None);
        };
        if !is_left_alone(&self.context, rest, (op, identity)) {
            return Ok(None);
        }
        let Some(places) = Places::of(self.context.data, condition, own) else { return Ok(None) };
        let axes = [&reduction.vars[..], &places.free].concat();
        let program = self.context.program(&[], &axes, |compiler, block| {
            let (offset, counts) = places.compile(compiler, own, block)?;
            Ok(vec![places.value(compiler, counts, value, block)?, offset, counts])
        })?;
        let &[value, offset, counts] = &program.results[..] else { return Ok(None) };
        Ok(Some(Scatter {
            program,
            placed: Placed { offset, counts, values: vec![value] },
            combine: combine(),
        }))
    }
}

/// The outermost reductions of an expression that run for every point; without indices that depend on elements nothing
/// can go wrong, and those under conditions count, too.
fn unconditional(data: &Data, id: ScalarId, only_certain: bool, found: &mut Vec<ReductionId>) {
    let mut visit = |id: ScalarId| unconditional(data, id, only_certain, found);
    match data.scalar(id) {
        Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => visit(*a),
        Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => {
            visit(*a);
            visit(*b);
        }
        Scalar::Select(condition, a, b) => {
            visit(*condition);
            if !only_certain {
                visit(*a);
                visit(*b);
            }
        }
        Scalar::Reduce(reduction, _) if !found.contains(reduction) => found.push(*reduction),
        Scalar::Reduce(..)
        | Scalar::Literal(_)
        | Scalar::Index(_)
        | Scalar::Read(..)
        | Scalar::Opaque(..)
        | Scalar::Carried(..) => {}
    }
}

/// Whether an expression reads elements one after the other when a variable goes on.
fn reads_rows(data: &Data, id: ScalarId, var: VarId) -> bool {
    let reads = |id: &ScalarId| reads_rows(data, *id, var);
    match data.scalar(id) {
        Scalar::Read(_, indices) => {
            indices.last().is_some_and(|&index| any_index_in(data, index, &|index| index == Index::Var(var)))
        }
        Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => reads(a),
        Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => reads(a) || reads(b),
        Scalar::Select(a, b, c) => reads(a) || reads(b) || reads(c),
        Scalar::Literal(_)
        | Scalar::Index(_)
        | Scalar::Reduce(..)
        | Scalar::Opaque(..)
        | Scalar::Carried(..) => false,
    }
}

fn uses_in_reduction(data: &Data, id: ReductionId, var: VarId) -> bool {
    data.reductions[id.index()].bodies.iter().any(|&body| uses(data, body, var))
}

//! The stages in which a description is computed, each of which fills a tensor.
//!
//! Intermediate tensors of the description are stages anyhow. Reductions become stages of their own where that is
//! faster than to run them point by point of what uses them:
//!
//! | stage | for |
//! |---|---|
//! | [`Contract`] | sums of products |
//! | [`Scatter`], [`Update`] | `reduce(m, …) if at[m] == n and … then value else identity`, which for each `m` changes one `n` |
//! | [`Fold`] | reductions to few elements, and along rows |
//! | [`Map`] | everything else; reductions that not all variables around take part in are computed once |

use std::ops::Range;

use tofu_ir::EntityId;
use tofu_tdl::*;

use super::column;
use super::compile::{Compiled, Compiler, Context, Identity, Reducing, uses};
use super::contract::{Contract, conjuncts};
use super::linear::Linear;
use super::program::{Block, Combine, Program, Reg};
use super::run::{BLOCK, Ran, State, Tensors, advance};

/// Reductions to fewer elements than this fold rows of what is reduced.
const FEW: usize = 64;
/// So do those of rows in memory that are at least so long.
const LONG: usize = 16;

/// The tensors that a stage fills.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Temporaries(Range<usize>),
    Result(usize),
}

impl Target {
    fn temporary(number: usize) -> Target {
        Target::Temporaries(number..number + 1)
    }
}

/// A step of a kernel.
pub(super) struct Stage {
    pub(super) target: Target,
    pub(super) work: Work,
}

pub(super) enum Work {
    Map(Map),
    Fold(Fold),
    Scatter(Scatter),
    Update(Update),
    Contract(Box<Contract>, Option<Map>),
}

impl Work {
    /// What kind of stage it is.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Work::Map(_) => "Map",
            Work::Fold(_) => "Fold",
            Work::Scatter(_) => "Scatter",
            Work::Update(_) => "Update",
            Work::Contract(..) => "Contract",
        }
    }
}

/// Each element of the target is an expression.
pub(super) struct Map {
    program: Program,
    size: usize,
}

/// The target holds identities; rows of the box, whose last axes are those of the reduction, are folded into them.
pub(super) struct Fold {
    program: Program,
    size: usize,
    row: usize,
    combine: column::Combine,
}

/// The target holds identities; each point of the box, whose first axes are those of the reduction, changes one element.
pub(super) struct Scatter {
    program: Program,
    placed: Placed,
    combine: column::Combine,
}

/// [`Scatter`] for combiners of several values, or of another kind: for each point of the reduction, over the variables
/// that are left, elements of several targets are combined at once.
pub(super) struct Update {
    program: Program,
    placed: Placed,
    /// The extents of the reduction.
    extents: Vec<i64>,
    combine: Combine,
}

/// Which elements of the targets are combined with what: registers of the offsets, of whether there is anything, and of
/// what there is for each target.
pub(super) struct Placed {
    pub(super) offset: Reg,
    pub(super) counts: Reg,
    pub(super) values: Vec<Reg>,
}

impl Stage {
    pub(super) fn run(&self, tensors: Tensors<'_>, targets: &mut [&mut [u8]]) -> Ran<()> {
        if let Work::Update(update) = &self.work {
            return update.run(tensors, targets);
        }
        let Some(target) = targets.first_mut() else { return Ok(()) };
        match &self.work {
            Work::Map(map) => map.run(tensors, target),
            Work::Fold(fold) => fold.run(tensors, target),
            Work::Scatter(scatter) => scatter.run(tensors, target),
            Work::Update(_) => Ok(()),
            Work::Contract(contract, otherwise) => {
                let is_done = contract.run(tensors, target)?;
                match otherwise {
                    Some(map) if !is_done => map.run(tensors, target),
                    _ => Ok(()),
                }
            }
        }
    }
}

/// Runs a program over its whole box, block by block.
fn blocks(
    program: &Program,
    tensors: Tensors<'_>,
    mut visit: impl FnMut(&State<'_>, usize, usize) -> Ran<()>,
) -> Ran<()> {
    let block = BLOCK.min(program.count);
    let mut state = State::new(program, tensors, block);
    let mut start = 0;
    while start < program.count {
        let length = block.min(program.count - start);
        state.run(start, length)?;
        visit(&state, start, length)?;
        start += length;
    }
    Ok(())
}

impl Map {
    fn run(&self, tensors: Tensors<'_>, target: &mut [u8]) -> Ran<()> {
        blocks(&self.program, tensors, |state, start, length| {
            let to = &mut target[start * self.size..(start + length) * self.size];
            to.copy_from_slice(state.column(self.program.results[0]));
            Ok(())
        })
    }
}

impl Fold {
    fn run(&self, tensors: Tensors<'_>, target: &mut [u8]) -> Ran<()> {
        blocks(&self.program, tensors, |state, mut point, length| {
            let mut column = state.column(self.program.results[0]);
            let end = point + length;
            while point < end {
                let count = (self.row - point % self.row).min(end - point);
                let (values, rest) = column.split_at(count * self.size);
                let element = point / self.row * self.size;
                (self.combine.fold)(&mut target[element..element + self.size], values);
                (column, point) = (rest, point + count);
            }
            Ok(())
        })
    }
}

impl Scatter {
    fn run(&self, tensors: Tensors<'_>, target: &mut [u8]) -> Ran<()> {
        let Placed { offset, counts, values } = &self.placed;
        blocks(&self.program, tensors, |state, _, _| {
            let [value, offset, counts] = [values[0], *offset, *counts].map(|reg| state.column(reg));
            match (self.combine.scatter)(target, offset, counts, value) {
                true => Ok(()),
                false => Err(EvaluateError("an access lies outside its tensor".to_owned())),
            }
        })
    }
}

impl Update {
    fn run(&self, tensors: Tensors<'_>, targets: &mut [&mut [u8]]) -> Ran<()> {
        if self.extents.contains(&0) {
            return Ok(());
        }
        let block = BLOCK.min(self.program.count);
        let mut state = State::new(&self.program, tensors, block);
        let mut point = vec![0; self.extents.len()];
        loop {
            state.points[..point.len()].copy_from_slice(&point);
            let mut start = 0;
            while start < self.program.count {
                let length = block.min(self.program.count - start);
                state.run(start, length)?;
                state.update(&self.placed, &self.combine, targets)?;
                start += length;
            }
            if !advance(&mut point, &self.extents) {
                return Ok(());
            }
        }
    }
}

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

/// A condition that says where elements are put: `var == place and … and others`.
struct Places {
    /// Variables of the result, and the values that they have where the condition holds.
    fixed: Vec<(VarId, ScalarId)>,
    /// The other variables of the result.
    free: Vec<VarId>,
    /// What else must hold.
    conditions: Vec<ScalarId>,
}

impl Places {
    /// For a condition that fixes at least one of the variables of the result.
    fn of(data: &Data, condition: ScalarId, own: &[VarId]) -> Option<Places> {
        let mut conditions = Vec::new();
        conjuncts(data, condition, &mut conditions);
        let mut fixed: Vec<(VarId, ScalarId)> = Vec::new();
        conditions.retain(|&condition| {
            let place = placed(data, condition, own);
            let place = place.filter(|(var, _)| fixed.iter().all(|(known, _)| known != var));
            fixed.extend(place);
            place.is_none()
        });
        let is_free = |var: &VarId| fixed.iter().all(|(known, _)| known != var);
        let free: Vec<VarId> = own.iter().copied().filter(is_free).collect();
        (!fixed.is_empty()).then_some(Places { fixed, free, conditions })
    }

    /// Binds the fixed variables; the registers of the offset in the result, and of whether there is such an element.
    fn compile(
        &self,
        compiler: &mut Compiler<'_, '_>,
        own: &[VarId],
        block: &mut Block,
    ) -> Compiled<(Reg, Reg)> {
        let mut counts = None;
        let mut offset = Linear::default();
        let mut stride = 1i64;
        for (&var, extent) in own.iter().zip(compiler.ranges(own)?).rev() {
            if let Some(&(_, place)) = self.fixed.iter().find(|(known, _)| *known == var) {
                let form = compiler.scalar_index(place, block)?;
                let inside = compiler.within(&form, extent, block);
                counts = compiler.both(counts, inside, block);
                compiler.bind(var, form);
            }
            offset = offset.plus(&compiler.var(var), stride);
            stride = stride.wrapping_mul(extent);
        }
        for &condition in &self.conditions {
            let condition = compiler.counting(counts, |compiler| compiler.scalar(condition, block))?;
            counts = compiler.both(counts, Some(condition), block);
        }
        let counts = counts.unwrap_or_else(|| compiler.yes());
        Ok((compiler.indices(&offset, block), counts))
    }

    /// The register of what is put there.
    fn value(
        &self,
        compiler: &mut Compiler<'_, '_>,
        counts: Reg,
        value: ScalarId,
        block: &mut Block,
    ) -> Compiled<Reg> {
        compiler.counting(Some(counts), |compiler| compiler.scalar(value, block))
    }
}

/// Whether combining with a constant changes nothing: it is the identity of the reducer. A sum that starts at +0 never
/// becomes -0, so that this holds for zero, too; but one type has no zero.
fn is_left_alone(context: &Context<'_>, constant: ScalarId, (op, identity): (BinaryOp, Identity)) -> bool {
    let element = context.element_of(constant);
    match (identity, context.data.scalar(constant)) {
        (Identity::Word(word), Scalar::Literal(literal)) => {
            let twice = numeric::binary_fn(op, element)(op, element, word, word);
            numeric::literal(*literal, element) == word && twice == word
        }
        _ => false,
    }
}

/// For the reduction of `(if v == 0 and … then there else constant) op added`, where the condition holds for the first
/// values of all variables: what is there with the constant, and what is added.
fn beginning(data: &Data, reduction: &Reduction, op: BinaryOp) -> Option<((ScalarId, ScalarId), ScalarId)> {
    let &Scalar::Binary(combines, first, added) = data.scalar(reduction.bodies[0]) else { return None };
    let &Scalar::Select(condition, there, constant) = data.scalar(first) else { return None };
    let mut conditions = Vec::new();
    conjuncts(data, condition, &mut conditions);
    let is_first = |var: VarId| {
        conditions.iter().any(|&condition| match *data.scalar(condition) {
            Scalar::Compare(Comparison::Eq, a, b) => match (data.scalar(a), data.scalar(b)) {
                (&Scalar::Index(a), &Scalar::Index(b)) => {
                    data.index(a) == Index::Var(var) && data.index(b) == Index::Const(0)
                }
                _ => false,
            },
            _ => false,
        })
    };
    let depends = reduction.vars.iter().any(|&var| uses(data, there, var));
    let is_beginning = combines == op
        && conditions.len() == reduction.vars.len()
        && reduction.vars.iter().all(|&var| is_first(var))
        && !depends;
    is_beginning.then_some(((there, constant), added))
}

/// `var == place`, for a variable of the result, where the place depends on no such variable.
fn placed(data: &Data, condition: ScalarId, own: &[VarId]) -> Option<(VarId, ScalarId)> {
    let &Scalar::Compare(Comparison::Eq, a, b) = data.scalar(condition) else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(side, place)| {
        let &Scalar::Index(index) = data.scalar(side) else { return None };
        let Index::Var(var) = data.index(index) else { return None };
        let is_fixed = !own.iter().any(|&own| uses(data, place, own));
        (own.contains(&var) && is_fixed).then_some((var, place))
    })
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

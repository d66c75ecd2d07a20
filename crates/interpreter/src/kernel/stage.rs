//! The stages in which a description is computed, each of which fills a tensor.
//!
//! Intermediate tensors of the description are stages anyhow. Reductions become stages of their own where that is
//! faster than to run them point by point of what uses them:
//!
//! | stage | for |
//! |---|---|
//! | [`Contract`] | sums of products |
//! | [`Scatter`] | `reduce(m, …) if at[m] == n and … then value else identity`, which for each `m` changes one `n` |
//! | [`Fold`] | reductions to few elements |
//! | [`Map`] | everything else; reductions that not all variables around take part in are computed once |

use tofu_ir::EntityId;
use tofu_tdl::*;

use super::column;
use super::compile::{Compiled, Context, Identity, Reducing, uses};
use super::contract::{Contract, conjuncts};
use super::linear::Linear;
use super::program::{Program, Reg, Tensor};
use super::run::{BLOCK, Ran, State, Tensors};

/// Reductions to fewer elements than this fold rows of what is reduced.
const FEW: usize = 64;

/// A tensor that a stage fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Temporary(usize),
    Result(usize),
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
    Contract(Box<Contract>, Option<Map>),
}

impl Work {
    /// What kind of stage it is.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Work::Map(_) => "Map",
            Work::Fold(_) => "Fold",
            Work::Scatter(_) => "Scatter",
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
    value: Reg,
    offset: Reg,
    counts: Reg,
    combine: column::Combine,
}

impl Stage {
    pub(super) fn run(&self, tensors: Tensors<'_>, target: &mut [u8]) -> Ran<()> {
        match &self.work {
            Work::Map(map) => map.run(tensors, target),
            Work::Fold(fold) => fold.run(tensors, target),
            Work::Scatter(scatter) => scatter.run(tensors, target),
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
        blocks(&self.program, tensors, |state, _, _| {
            let [value, offset, counts] = [self.value, self.offset, self.counts].map(|reg| state.column(reg));
            match (self.combine.scatter)(target, offset, counts, value) {
                true => Ok(()),
                false => Err(EvaluateError("an access lies outside its tensor".to_owned())),
            }
        })
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
            self.definition(&item.vars, item.body, Target::Temporary(number))?;
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
                if self.reduction(id, &own, target)? {
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

    /// Computes a reduction inside of a definition over `vars` into a tensor of its own, where that pays.
    fn temporary(&mut self, id: ReductionId, vars: &[VarId], own: &[VarId]) -> Compiled<()> {
        let reduction = self.context.data.reduction(id);
        let &[body] = &reduction.bodies[..] else { return Ok(()) };
        let number = self.temporaries.len();
        let target = Target::Temporary(number);
        let size = self.bytes(own, body)?;
        let is_staged = self.reduction(id, own, target)?;
        if !is_staged {
            if own.len() == vars.len() || single_term(self.context.data, reduction).is_some() {
                return Ok(());
            }
            let map = self.point_by_point(id, own, body)?;
            self.stages.push(Stage { target, work: Work::Map(map) });
        }
        self.temporaries.push(size);
        self.context.staged.insert(id, (Tensor::Temporary(number), own.into()));
        Ok(())
    }

    /// Adds stages that compute a reduction over `own` in another way than point by point, where there is one.
    fn reduction(&mut self, id: ReductionId, own: &[VarId], target: Target) -> Compiled<bool> {
        let context = &self.context;
        let reduction = context.data.reduction(id);
        let &[body] = &reduction.bodies[..] else { return Ok(false) };
        if single_term(context.data, reduction).is_some() {
            return Ok(false);
        }
        if let Some(contract) = Contract::new(context, reduction, own)? {
            let otherwise = contract.may_decline().then(|| self.point_by_point(id, own, body)).transpose()?;
            self.stages.push(Stage { target, work: Work::Contract(Box::new(contract), otherwise) });
            return Ok(true);
        }
        let Reducing::Binary(op, identity) = context.reducing(reduction) else { return Ok(false) };
        let combine = || column::combine(op, context.element_of(body));
        let work = if let Some(scatter) = self.scatter(reduction, own, (op, identity), combine)? {
            Work::Scatter(scatter)
        } else if let Some(fold) = self.fold(reduction, own, combine)? {
            Work::Fold(fold)
        } else {
            return Ok(false);
        };
        let element = context.element_of(body);
        let program = context
            .program(&[], own, |compiler, block| Ok(vec![compiler.identity(identity, element, block)?]))?;
        let identities = Work::Map(Map { program, size: element.storage_bytes() });
        self.stages.push(Stage { target, work: identities });
        self.stages.push(Stage { target, work });
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
        if elements >= FEW || row <= elements {
            return Ok(None);
        }
        let body = reduction.bodies[0];
        let axes = [own, &reduction.vars].concat();
        let program =
            self.context.program(&[], &axes, |compiler, block| Ok(vec![compiler.scalar(body, block)?]))?;
        let size = self.context.element_of(body).storage_bytes();
        Ok(Some(Fold { program, size, row, combine: combine() }))
    }

    fn scatter(
        &self,
        reduction: &Reduction,
        own: &[VarId],
        (op, identity): (BinaryOp, Identity),
        combine: impl Fn() -> column::Combine,
    ) -> Compiled<Option<Scatter>> {
        let data = self.context.data;
        let &Scalar::Select(condition, value, rest) = data.scalar(reduction.bodies[0]) else {
            return Ok(None);
        };
        // A sum that starts at +0 never becomes -0, so that adding zero changes nothing; nor does combining with the
        // identity of another reducer. One type has no zero.
        let element = self.context.element_of(rest);
        let is_identity = match (identity, data.scalar(rest)) {
            (Identity::Word(word), Scalar::Literal(literal)) => {
                let twice = numeric::binary_fn(op, element)(op, element, word, word);
                numeric::literal(*literal, element) == word && twice == word
            }
            _ => false,
        };
        if !is_identity {
            return Ok(None);
        }
        let mut conditions = Vec::new();
        conjuncts(data, condition, &mut conditions);
        let mut places: Vec<(VarId, ScalarId)> = Vec::new();
        conditions.retain(|&condition| {
            let place =
                placed(data, condition, own).filter(|(var, _)| places.iter().all(|(known, _)| known != var));
            places.extend(place);
            place.is_none()
        });
        if places.is_empty() {
            return Ok(None);
        }
        let free: Vec<VarId> =
            own.iter().copied().filter(|var| places.iter().all(|(placed, _)| placed != var)).collect();
        let axes = [&reduction.vars[..], &free].concat();
        let ranges = self.context.ranges(own)?;
        let program = self.context.program(&[], &axes, |compiler, block| {
            let mut counts = None;
            let mut offset = Linear::default();
            let mut stride = 1i64;
            for (&var, &extent) in own.iter().zip(&ranges).rev() {
                if let Some(&(_, place)) = places.iter().find(|(placed, _)| *placed == var) {
                    let form = compiler.scalar_index(place, block)?;
                    let inside = compiler.within(&form, extent, block);
                    counts = compiler.both(counts, inside, block);
                    compiler.bind(var, form);
                }
                offset = offset.plus(&compiler.var(var), stride);
                stride = stride.wrapping_mul(extent);
            }
            for &condition in &conditions {
                let condition = compiler.scalar(condition, block)?;
                counts = compiler.both(counts, Some(condition), block);
            }
            let (value, counts) = match counts {
                Some(counts) => {
                    (compiler.guarded(counts, value, self.context.element_of(value), block)?, counts)
                }
                None => (compiler.scalar(value, block)?, compiler.yes()),
            };
            Ok(vec![value, compiler.indices(&offset, block), counts])
        })?;
        let &[value, offset, counts] = &program.results[..] else { return Ok(None) };
        Ok(Some(Scatter { program, value, offset, counts, combine: combine() }))
    }
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

fn uses_in_reduction(data: &Data, id: ReductionId, var: VarId) -> bool {
    data.reductions[id.index()].bodies.iter().any(|&body| uses(data, body, var))
}

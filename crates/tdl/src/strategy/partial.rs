//! Reductions that are the last thing done to a result.
//!
//! If each worker reduces only a share of a variable, it ends up with a partial result; that is one only if whatever is
//! done after the reduction may as well be done before the workers' values are combined. What else the result is made
//! of must be the same for all workers: a factor or a condition, which each of them uses, or an addend,
//!
//! ```text
//! out[b, o] = (sum(i) data[b, i] * weight[o, i]) + bias[o]
//! ```
//!
//! which one of them combines in and the others leave out. Three passes over the tables tell: how each expression
//! could be partial, from its parts upward; what must be partial for the results to be, downward; and whether the rest
//! uses any of the reductions that are then split.

use tofu_ir::EntityId;

use crate::description::*;
use crate::scalar::{BinaryOp, UnaryOp};
use crate::walk::{each_element, each_part};

/// How the values that workers hold of an expression are combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Form {
    pub(super) reducer: Reducer,
    /// Which of the values that a custom combiner carries it is.
    pub(super) component: u32,
}

/// What becomes of the parts of an expression of which workers hold partial values.
#[derive(Default)]
struct Parts {
    partial: Vec<ScalarId>,
    /// What is the same for all workers.
    whole: Vec<ScalarId>,
    addend: Option<ScalarId>,
    reduction: Option<ReductionId>,
}

/// The forms of all expressions when a variable is split.
pub(super) struct Forms<'d> {
    data: &'d Data,
    var: VarId,
    forms: Vec<Option<Form>>,
}

/// What is split so that some expressions are partial.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Split {
    /// The reductions of which each worker does a share.
    pub(super) reductions: Vec<ReductionId>,
    /// Functions of two values, and the one of them that counts once.
    pub(super) addends: Vec<(ScalarId, ScalarId)>,
}

impl<'d> Forms<'d> {
    pub(super) fn new(data: &'d Data, var: VarId) -> Forms<'d> {
        let mut this = Forms { data, var, forms: Vec::with_capacity(data.scalars.len()) };
        // Parts stand before the whole, intermediate tensors before what reads them.
        for number in 0..data.scalars.len() {
            let form = this.look_into(ScalarId::from_index(number)).map(|(form, _)| form);
            this.forms.push(form);
        }
        this
    }

    /// How an expression could be partial, if it could.
    pub(super) fn of(&self, id: ScalarId) -> Option<Form> {
        self.forms.get(id.index()).copied().flatten()
    }

    /// What is split so that `partial` are partial and `whole` are not; `None` if there is no such way.
    pub(super) fn split(&self, partial: &[ScalarId], whole: &[ScalarId]) -> Option<Split> {
        let mut split = Split::default();
        let mut whole = whole.to_vec();
        let mut found = vec![false; self.data.scalars.len()];
        let mut rest = partial.to_vec();
        while let Some(id) = rest.pop() {
            if std::mem::replace(&mut found[id.index()], true) {
                continue;
            }
            let (_, parts) = self.look_into(id)?;
            rest.extend(parts.partial);
            split.reductions.extend(parts.reduction);
            whole.extend(parts.whole);
            if let Some(addend) = parts.addend {
                split.addends.push((id, addend));
                whole.push(addend);
            }
        }
        split.reductions.sort_unstable();
        split.reductions.dedup();
        split.addends.sort_unstable();
        let users = users(self.data, &split.reductions);
        (!whole.iter().any(|id| users[id.index()])).then_some(split)
    }

    /// How an expression is partial, and what its parts are then.
    fn look_into(&self, id: ScalarId) -> Option<(Form, Parts)> {
        let data = self.data;
        match data.scalar(id) {
            Scalar::Reduce(number, component) => self.reduction(*number, *component),
            Scalar::Unary(UnaryOp::Neg, a) => {
                let form = self.of(*a).filter(|form| form.reducer == Reducer::Sum)?;
                Some((form, Parts { partial: vec![*a], ..Parts::default() }))
            }
            // Rounding keeps the order; a rounded sum is, to rounding, the sum of what was rounded.
            Scalar::Convert(a) if data.is_float(*a) && data.is_float(id) => {
                let keeps = |form: &Form| matches!(form.reducer, Reducer::Sum | Reducer::Max | Reducer::Min);
                let form = self.of(*a).filter(keeps)?;
                Some((form, Parts { partial: vec![*a], ..Parts::default() }))
            }
            Scalar::Binary(op, a, b) => self.binary(*op, *a, *b),
            Scalar::Select(condition, a, b) => {
                let nothing = |id: ScalarId, form: Form| {
                    matches!(data.scalar(id), Scalar::Literal(literal)
                        if *literal == form.reducer.identity(data.scalar_type(id)))
                };
                let (form, partial) = match (self.of(*a), self.of(*b)) {
                    (Some(form), Some(other)) if form == other => (form, vec![*a, *b]),
                    (Some(form), None) if nothing(*b, form) => (form, vec![*a]),
                    (None, Some(form)) if nothing(*a, form) => (form, vec![*b]),
                    _ => return None,
                };
                Some((form, Parts { partial, whole: vec![*condition], ..Parts::default() }))
            }
            Scalar::Read(Source::Let(number), indices) => {
                // The intermediate tensor is partial as well.
                let body = data.lets[*number as usize].body;
                let form = self.of(body)?;
                let mut whole = Vec::new();
                indices
                    .iter()
                    .for_each(|&index| each_element(data, index, &mut |element| whole.push(element)));
                Some((form, Parts { partial: vec![body], whole, ..Parts::default() }))
            }
            _ => None,
        }
        // What a custom combiner carries is combined together: only where nothing is done to it is it known what with.
        .filter(|(form, parts)| !matches!(form.reducer, Reducer::Custom(_)) || parts.reduction.is_some())
    }

    fn reduction(&self, id: ReductionId, component: u32) -> Option<(Form, Parts)> {
        let reduction = self.data.reduction(id);
        if reduction.vars.contains(&self.var) {
            let mut whole = reduction.bodies.to_vec();
            if let Reducer::Custom(combiner) = reduction.reducer {
                whole.extend(&self.data.combiner(combiner).identities);
            }
            let form = Form { reducer: reduction.reducer, component };
            return Some((form, Parts { whole, reduction: Some(id), ..Parts::default() }));
        }
        let &[body] = &reduction.bodies[..] else { return None };
        let form = self.of(body).filter(|form| form.reducer == reduction.reducer)?;
        Some((form, Parts { partial: vec![body], ..Parts::default() }))
    }

    fn binary(&self, op: BinaryOp, a: ScalarId, b: ScalarId) -> Option<(Form, Parts)> {
        let (form, partial, other) = match (self.of(a), self.of(b)) {
            (Some(form), Some(other)) => {
                let together = form == other && Reducer::of(op) == Some(form.reducer);
                return together.then(|| (form, Parts { partial: vec![a, b], ..Parts::default() }));
            }
            (Some(form), None) => (form, a, b),
            (None, Some(form)) => (form, b, a),
            (None, None) => return None,
        };
        let partial = vec![partial];
        if Reducer::of(op) == Some(form.reducer) {
            return Some((form, Parts { partial, addend: Some(other), ..Parts::default() }));
        }
        // Multiplication distributes over sums; for floats, division does as well, to rounding.
        let distributes =
            op == BinaryOp::Mul || (op == BinaryOp::Div && other == b && self.data.is_inexact(a));
        let is_sum = form.reducer == Reducer::Sum;
        (is_sum && distributes).then(|| (form, Parts { partial, whole: vec![other], ..Parts::default() }))
    }
}

/// Which expressions use one of these reductions, be it through an intermediate tensor.
fn users(data: &Data, reductions: &[ReductionId]) -> Vec<bool> {
    let mut users: Vec<bool> = Vec::with_capacity(data.scalars.len());
    for (number, scalar) in data.scalars.iter().enumerate() {
        let mut uses = matches!(scalar, Scalar::Reduce(reduction, _) if reductions.contains(reduction));
        each_part(data, ScalarId::from_index(number), &mut |part| uses |= users[part.index()]);
        users.push(uses);
    }
    users
}

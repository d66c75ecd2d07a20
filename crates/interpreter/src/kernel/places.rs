//! Places that elements name: where a scatter puts what it adds.

use tofu_tdl::*;

use super::compile::{Compiled, Compiler, Context, Identity, uses};
use super::contract::conjuncts;
use super::linear::Linear;
use super::program::{Block, Reg};

/// Which elements of the targets are combined with what: registers of the offsets, of whether there is anything, and of
/// what there is for each target.
pub(super) struct Placed {
    pub(super) offset: Reg,
    pub(super) counts: Reg,
    pub(super) values: Vec<Reg>,
}

/// A condition that says where elements are put: `var == place and … and others`.
pub(super) struct Places {
    /// Variables of the result, and the values that they have where the condition holds.
    fixed: Vec<(VarId, ScalarId)>,
    /// The other variables of the result.
    pub(super) free: Vec<VarId>,
    /// What else must hold.
    conditions: Vec<ScalarId>,
}

impl Places {
    /// For a condition that fixes at least one of the variables of the result.
    pub(super) fn of(data: &Data, condition: ScalarId, own: &[VarId]) -> Option<Places> {
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
    pub(super) fn compile(
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
    pub(super) fn value(
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
pub(super) fn is_left_alone(
    context: &Context<'_>,
    constant: ScalarId,
    (op, identity): (BinaryOp, Identity),
) -> bool {
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
pub(super) fn beginning(
    data: &Data,
    reduction: &Reduction,
    op: BinaryOp,
) -> Option<((ScalarId, ScalarId), ScalarId)> {
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

//! Which values never reach memory, because one kernel computes them and whatever uses them.
//!
//! ```text
//!   %a = exp %x          in the kernel of %s           %x ──► exp ──► reduce ──► %s
//!   %s = reduce %a       a kernel; it stores %s
//! ```
//!
//! The rule is that of compilers that fuse loops: a value whose elements are computed from single elements goes to the
//! kernel that uses it, if there is one such kernel and it reads each element once. That is fusion by dominance (Chen et
//! al., "TVM", OSDI 2018, section 3), where every kernel stores the results of one op, its root. What costs nothing to
//! make (constants, places, broadcasts of them and of smaller tensors) goes to every kernel that uses it, into loops
//! too. Products, gathers and all that reads elsewhere than at the loop's own indices find what they read in memory.
//!
//! All this follows from how descriptions read their operands ([`Fusion`]), and walks the schedule once, backwards.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_ir::{AttrData, DenseData, Module, OpId, SecondaryMap, TensorType, Trait, VALUE, ValueId};
use tofu_tdl::{Analysis, Description, Descriptions, Fusion, Times, solve_op, view};

use crate::schedule::Schedule;

/// Where the elements of a value are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// In memory, written by the op that has it as a result.
    Stored,
    /// In memory, as the elements of this value: nothing is written.
    Alias(ValueId),
    /// In the kernel whose results are this op's, and nowhere else.
    Fused(OpId),
    /// In every kernel that uses it.
    Copied,
}

/// How values are divided among kernels.
#[derive(Clone, Debug)]
pub(crate) struct Kernels {
    facts: Facts,
    held: SecondaryMap<ValueId, Option<Held>>,
    /// Of values that kernels compute on their way: the last position of such a kernel.
    until: SecondaryMap<ValueId, u32>,
    /// Values of which some kernel computes an element several times.
    repeated: SecondaryMap<ValueId, bool>,
}

impl Kernels {
    pub(crate) fn new(module: &Module, schedule: &Schedule, descriptions: &Descriptions) -> Kernels {
        let facts = Facts::new(module, schedule, descriptions);
        let free = facts.free(module, schedule);
        let mut kernels = Kernels {
            facts,
            held: SecondaryMap::new(),
            until: SecondaryMap::new(),
            repeated: SecondaryMap::new(),
        };
        for (position, &op) in schedule.ops().iter().enumerate().rev() {
            // Ops with regions are met twice; they have no description.
            debug_assert!(schedule.end(op).is_some_and(|end| end as usize >= position));
            kernels.decide(module, schedule, &free, op);
        }
        // Whether what a view shows is in memory is known only now.
        for &op in schedule.ops() {
            let Some(operand) = kernels.facts.views[op] else { continue };
            let (seen, value) = (module.operand(op, operand as usize), module.result(op, 0));
            if kernels.held[value].is_none() && kernels.is_stored(seen) {
                kernels.held[value] = Some(Held::Alias(seen));
            }
        }
        kernels
    }

    /// Where a value is.
    pub(crate) fn held(&self, value: ValueId) -> Held {
        self.held[value].unwrap_or(Held::Stored)
    }

    /// Whether a value is in memory, by itself or as another one.
    pub(crate) fn is_stored(&self, value: ValueId) -> bool {
        matches!(self.held(value), Held::Stored | Held::Alias(_))
    }

    /// What is known of an op's description.
    pub(crate) fn fusion(&self, op: OpId) -> Option<&Fusion> {
        self.facts.analyses[op].as_ref().map(|analysis| &analysis.fusion)
    }

    /// Whether an op, written where it reads, overwrites at most what it has read of this operand.
    pub(crate) fn is_in_place(&self, op: OpId, operand: usize) -> bool {
        self.facts.views[op] == u32::try_from(operand).ok()
            || self
                .fusion(op)
                .is_some_and(|fusion| fusion.operands.get(operand).is_some_and(|r| r.is_in_place))
    }

    /// The last position at which an op reads its operands: its own, or that of the kernels that it is computed in.
    pub(crate) fn reads_until(&self, module: &Module, schedule: &Schedule, op: OpId) -> Option<u32> {
        match module.result_count(op) {
            1 if !self.is_stored(module.result(op, 0)) => Some(self.until[module.result(op, 0)]),
            _ => schedule.begin(op),
        }
    }

    /// Decides where the result of an op is, from where its users' are.
    fn decide(&mut self, module: &Module, schedule: &Schedule, free: &SecondaryMap<ValueId, bool>, op: OpId) {
        if module.result_count(op) != 1 || !self.facts.is_pointwise(module, op) {
            return;
        }
        let value = module.result(op, 0);
        let is_free = free[value];
        let costs_nothing = self.facts.costs_nothing(module, op);
        let mut root: Option<OpId> = None;
        let (mut is_one, mut is_repeated, mut until, mut any) = (true, false, 0, false);
        for (user, operand) in module.uses(value) {
            any = true;
            if !is_free && module.block_of(user) != module.block_of(op) {
                return;
            }
            let Some(begin) = schedule.begin(user) else {
                // In a region that is read as a function: constants become part of it.
                if is_free {
                    continue;
                }
                return;
            };
            let mut repeats = match self.facts.takes_in(user, operand) {
                Some(repeats) => repeats,
                None => return,
            };
            let held = match module.result_count(user) {
                1 => self.held[module.result(user, 0)],
                _ => None,
            };
            let (own, own_until) = match held {
                Some(Held::Fused(root)) => (Some(root), self.until[module.result(user, 0)]),
                Some(Held::Copied) => (None, self.until[module.result(user, 0)]),
                _ => (Some(user), begin),
            };
            if held.is_some() {
                repeats |= self.repeated[module.result(user, 0)];
            }
            is_one &= own.is_some() && root.is_none_or(|known| Some(known) == own);
            root = own.or(root);
            is_repeated |= repeats;
            until = until.max(own_until);
        }
        if !any || (is_repeated && !costs_nothing && !is_free) {
            return;
        }
        let held = match root {
            _ if is_free => Held::Copied,
            Some(root) if is_one => Held::Fused(root),
            _ if self.facts.expands(module, free, op) => Held::Copied,
            _ => return,
        };
        self.held[value] = Some(held);
        self.until[value] = until;
        self.repeated[value] = is_repeated;
    }
}

/// What descriptions say about the ops of a schedule.
#[derive(Clone, Debug)]
struct Facts {
    analyses: SecondaryMap<OpId, Option<Arc<Analysis>>>,
    /// Of ops that only rename the elements of an operand, which one.
    views: SecondaryMap<OpId, Option<u32>>,
}

impl Facts {
    fn new(module: &Module, schedule: &Schedule, descriptions: &Descriptions) -> Facts {
        let mut facts = Facts { analyses: SecondaryMap::new(), views: SecondaryMap::new() };
        let mut known = FxHashMap::default();
        for &op in schedule.ops() {
            // Not every op has one, and that is no error: such an op runs by itself.
            let Ok((description, analysis)) = descriptions.of(module, op) else { continue };
            facts.views[op] = find_view(module, op, &description, &mut known);
            facts.analyses[op] = Some(analysis);
        }
        facts
    }

    /// Whether each element of an op's results is computed from single elements.
    fn is_pointwise(&self, module: &Module, op: OpId) -> bool {
        is_uniform_constant(module, op)
            || self.views[op].is_some()
            || self.analyses[op].as_ref().is_some_and(|analysis| analysis.fusion.is_pointwise)
    }

    /// Whether making an element of an op's results again costs no arithmetic.
    fn costs_nothing(&self, module: &Module, op: OpId) -> bool {
        is_uniform_constant(module, op)
            || self.views[op].is_some()
            || self.analyses[op].as_ref().is_some_and(|analysis| analysis.fusion.is_free)
    }

    /// Whether the kernel of an op can compute an operand on its way; then, whether it needs elements several times.
    fn takes_in(&self, op: OpId, operand: usize) -> Option<bool> {
        if self.views[op] == u32::try_from(operand).ok() {
            return Some(false);
        }
        let fusion = &self.analyses[op].as_ref()?.fusion;
        match fusion.operands.get(operand)?.times {
            Times::Never | Times::Once => Some(false),
            // The other factor of a product is in memory; a number to begin with is not.
            Times::Repeatedly if fusion.is_pointwise => Some(true),
            Times::Repeatedly => self.is_number(op, operand).then_some(true),
            Times::Elsewhere => None,
        }
    }

    fn is_number(&self, op: OpId, operand: usize) -> bool {
        // Of the description's operand, which is the op's.
        self.analyses[op].as_ref().is_some_and(|analysis| {
            matches!(
                analysis.accesses.operands.get(operand).map(|access| &access.map),
                Some(tofu_tdl::AccessMap::Projection(map)) if map.is_empty()
            )
        })
    }

    /// Values that are made from nothing in memory.
    fn free(&self, module: &Module, schedule: &Schedule) -> SecondaryMap<ValueId, bool> {
        let mut free = SecondaryMap::new();
        for &op in schedule.ops() {
            if module.result_count(op) == 1
                && self.is_pointwise(module, op)
                && module.operands(op).all(|operand| free[operand])
            {
                free[module.result(op, 0)] = true;
            }
        }
        free
    }

    /// Whether an op spreads what it reads over more dimensions, so that reading is less than reading the result.
    fn expands(&self, module: &Module, free: &SecondaryMap<ValueId, bool>, op: OpId) -> bool {
        let elements = |value: ValueId| module.tensor_type(value).and_then(TensorType::element_count);
        let Some(own) = elements(module.result(op, 0)) else { return false };
        self.costs_nothing(module, op)
            && module
                .operands(op)
                .all(|operand| free[operand] || elements(operand).is_some_and(|read| read < own))
    }
}

/// Whether an op is a constant whose elements are all alike.
pub(crate) fn is_uniform_constant(module: &Module, op: OpId) -> bool {
    let Some(AttrData::Dense(dense)) = module.attr_value(op, VALUE) else { return false };
    module.has(op, Trait::Constant)
        && (matches!(dense.data, DenseData::Splat(_))
            || module.tensor_type(module.result(op, 0)).and_then(TensorType::element_count) == Some(1))
}

type Types = SmallVec<[TensorType; 3]>;

/// The operand whose elements an op only renames.
fn find_view(
    module: &Module,
    op: OpId,
    description: &Description,
    known: &mut FxHashMap<(Description, Types), Option<u32>>,
) -> Option<u32> {
    if module.result_count(op) != 1 || module.operand_count(op) == 0 {
        return None;
    }
    let values = module.operands(op).chain(module.results(op));
    let types: Types = values.map(|value| module.tensor_type(value).cloned()).collect::<Option<_>>()?;
    let key = (description.clone(), types);
    if let Some(&found) = known.get(&key) {
        return found;
    }
    let extents = solve_op(module, op, description).ok().and_then(|solution| solution.static_extents());
    let operand = extents.and_then(|extents| view(description, &extents));
    let found = operand.and_then(|operand| u32::try_from(operand).ok());
    known.insert(key, found);
    found
}

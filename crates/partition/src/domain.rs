//! What a search may choose from.
//!
//! On one axis that is everything. On several, everything is the product of what there is on each, too much for large
//! programs; but where axes have the same size and the same links, exchanging them everywhere changes nothing. So one of
//! each [orbit](Symmetry) of layouts is enough to bound the cost from below, and a plan follows in a second step, in which each op and
//! each tensor only chooses which of the axes is which. Other steps improve plans: some of what several plans have, or
//! anything along some of the axes with the rest as it is.

use smallvec::SmallVec;
use tofu_sharding::{Layout, Layouts, Mesh};

use crate::constraints::Constraints;
use crate::graph::{Graph, OpKind, TensorId};
use crate::op_info::OpInfo;
use crate::plan::Plan;
use crate::states::{Stored, candidates, with_copies};
use crate::way::{Choice, Choices, choices_along};

/// What a search may choose from.
#[derive(Clone, Copy, Debug)]
pub enum Domain<'d> {
    /// Everything, up to exchanging axes that are alike: costs are those of the cheapest exchange of axes at each edge by
    /// itself, so that no plan costs less. For this, prices must be the same with all axes exchanged: those of conversions that
    /// are not [ordered](tofu_sharding::Means::ordered). Without a symmetry, everything as it is.
    All(&'d Symmetry),
    /// What these lists hold.
    Listed(&'d Lists),
}

/// The axes of a mesh that are alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symmetry {
    /// Axes that may be exchanged, in ascending order; those that may not are in none.
    groups: Vec<SmallVec<[usize; 4]>>,
    permutations: Vec<[u8; Layouts::MAX_AXES]>,
}

impl Symmetry {
    /// Every axis is different from every other.
    pub fn none() -> Symmetry {
        Symmetry::of(Vec::new())
    }

    /// The axes of each group are alike.
    pub fn of(groups: Vec<SmallVec<[usize; 4]>>) -> Symmetry {
        let mut permutations: Vec<[u8; Layouts::MAX_AXES]> = vec![std::array::from_fn(|axis| axis as u8)];
        for group in &groups {
            permutations = permutations.iter().flat_map(|from| permuted(from, group)).collect();
        }
        Symmetry { groups, permutations }
    }

    /// How many axes before this one are like it.
    pub(crate) fn before(&self, axis: usize) -> usize {
        let group = self.groups.iter().find(|group| group.contains(&axis));
        group.map_or(0, |group| group.iter().filter(|&&other| other < axis).count())
    }

    /// Whether what is on an axis may come after what is on the one before that is like it: what is so ordered on all axes
    /// stands for its orbit.
    pub(crate) fn is_ordered_at(&self, axis: usize, on: impl Fn(usize) -> u8) -> bool {
        let group = self.groups.iter().find(|group| group.contains(&axis));
        let before = group.and_then(|group| group.iter().copied().take_while(|&other| other < axis).last());
        before.is_none_or(|before| on(before) <= on(axis))
    }

    /// Whether something is the one of its orbit that stands for it.
    pub(crate) fn is_ordered<T: PartialOrd>(&self, on: impl Fn(usize) -> T) -> bool {
        self.groups.iter().all(|group| group.windows(2).all(|pair| on(pair[0]) <= on(pair[1])))
    }

    /// All exchanges of axes, of which the first one exchanges nothing.
    pub(crate) fn exchanges(&self) -> &[[u8; Layouts::MAX_AXES]] {
        &self.permutations
    }
}

fn permuted(from: &[u8; Layouts::MAX_AXES], group: &[usize]) -> Vec<[u8; Layouts::MAX_AXES]> {
    let mut all = vec![(*from, Vec::new())];
    for _ in group {
        let mut longer = Vec::new();
        for (base, picked) in &all {
            for &axis in group {
                if !picked.contains(&axis) {
                    let mut picked: Vec<usize> = picked.clone();
                    picked.push(axis);
                    longer.push((*base, picked));
                }
            }
        }
        all = longer;
    }
    let place = |(mut base, picked): ([u8; Layouts::MAX_AXES], Vec<usize>)| {
        for (&to, &axis) in group.iter().zip(&picked) {
            base[to] = axis as u8;
        }
        base
    };
    all.into_iter().map(place).collect()
}

/// Layouts with axes exchanged: on axis `i`, what was on axis `exchange[i]`.
pub(crate) fn exchanged(layouts: Layouts, exchange: &[u8; Layouts::MAX_AXES]) -> Layouts {
    let each = exchange.iter().enumerate();
    each.fold(Layouts::REPLICATED, |new, (axis, &from)| match layouts.on(from.into()) {
        Layout::Replicated => new,
        layout => new.with(axis, layout),
    })
}

pub(crate) fn exchanged_stored(stored: Stored, exchange: &[u8; Layouts::MAX_AXES]) -> Stored {
    Stored {
        first: exchanged(stored.first, exchange),
        copy: stored.copy.map(|copy| exchanged(copy, exchange)),
    }
}

fn exchanged_choices(choices: Choices, exchange: &[u8; Layouts::MAX_AXES]) -> Choices {
    let each = exchange.iter().enumerate();
    each.fold(Choices::WHOLE, |new, (axis, &from)| match choices.on(from.into()) {
        Choice::Whole => new,
        choice => new.with(axis, choice),
    })
}

/// What each op and each tensor may choose from, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lists {
    /// The choices of each op.
    pub choices: Vec<SmallVec<[Choices; 4]>>,
    /// The ways of keeping each tensor.
    pub stored: Vec<SmallVec<[Stored; 4]>>,
}

impl Lists {
    /// What some of these plans have.
    pub fn among(plans: &[&Plan]) -> Lists {
        let Some(first) = plans.first() else { return Lists::default() };
        let choices = (0..first.choices.len()).map(|op| set(plans.iter().map(|plan| plan.choices[op])));
        let stored = (0..first.stored.len()).map(|tensor| set(plans.iter().map(|plan| plan.stored[tensor])));
        Lists { choices: choices.collect(), stored: stored.collect() }
    }

    /// A plan, with the axes that are alike exchanged op by op and tensor by tensor.
    pub fn orbits(plan: &Plan, symmetry: &Symmetry) -> Lists {
        let exchanges = symmetry.exchanges();
        let choices = plan.choices.iter();
        let choices =
            choices.map(|&of| set(exchanges.iter().map(|exchange| exchanged_choices(of, exchange))));
        let stored = plan.stored.iter();
        let stored = stored.map(|&of| set(exchanges.iter().map(|exchange| exchanged_stored(of, exchange))));
        Lists { choices: choices.collect(), stored: stored.collect() }
    }

    /// A plan, and what becomes of it with anything else on these axes, the same on all of them but where constraints ask for
    /// something.
    pub fn along(graph: &Graph<'_>, plan: &Plan, axes: &[usize], constraints: &Constraints) -> Lists {
        let mesh = &plan.mesh;
        let choices = graph.ops.iter().zip(&plan.choices).map(|(op, &choices)| {
            let OpKind::Described(info) = op.kind else { return set([choices]) };
            let info: &OpInfo = &graph.infos[info as usize];
            let has_terms = |operand: usize| graph.has_terms(op, operand);
            set(choices_along(info, mesh, choices, axes, &has_terms).chain([choices]))
        });
        let of_mesh = mesh.axes().len();
        let stored = graph.tensors.iter().zip(&plan.stored).enumerate().map(|(number, (tensor, &stored))| {
            let pinned = |first: Layouts| constraints.apply(number as TensorId, first, of_mesh);
            let firsts = candidates(mesh, &tensor.shape, tensor.partials, stored.first, axes);
            let firsts = firsts.into_iter().filter_map(pinned);
            let kept = firsts.flat_map(|first| with_copies(of_mesh, axes, first, tensor.uses > 1));
            set(kept
                .chain([stored].into_iter().filter(|&stored| constraints.allow(number as TensorId, stored))))
        });
        Lists { choices: choices.collect(), stored: stored.collect() }
    }
}

fn set<T: Ord>(items: impl IntoIterator<Item = T>) -> SmallVec<[T; 4]> {
    let mut items: SmallVec<[T; 4]> = items.into_iter().collect();
    items.sort_unstable();
    items.dedup();
    items
}

/// A plan on a mesh some of whose axes are the product of several of a finer one, on that.
pub(crate) fn refined(plan: &Plan, mesh: &Mesh, parts: &[SmallVec<[usize; 4]>]) -> Plan {
    let layouts = |of: Layouts| {
        let each = parts.iter().enumerate();
        each.fold(Layouts::REPLICATED, |new, (axis, parts)| {
            parts.iter().fold(new, |new, &part| match of.on(axis) {
                Layout::Replicated => new,
                layout => new.with(part, layout),
            })
        })
    };
    let choices = |of: Choices| {
        let each = parts.iter().enumerate();
        each.fold(Choices::WHOLE, |new, (axis, parts)| {
            parts.iter().fold(new, |new, &part| match of.on(axis) {
                Choice::Whole => new,
                choice => new.with(part, choice),
            })
        })
    };
    let stored = |of: Stored| Stored { first: layouts(of.first), copy: of.copy.map(layouts) };
    Plan {
        mesh: mesh.clone(),
        choices: plan.choices.iter().map(|&of| choices(of)).collect(),
        stored: plan.stored.iter().map(|&of| stored(of)).collect(),
    }
}

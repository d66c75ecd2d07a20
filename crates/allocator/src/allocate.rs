//! The whole run: the bound, the greedy placements, then the search where those leave a gap.

use crate::check::{Fault, check};
use crate::greedy::greedy;
use crate::meter::Meter;
use crate::model::{Model, arena, models};
use crate::problem::{Invalid, Problem};
use crate::search::{Above, Verdict, fit};

/// Limits of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Units of work, about a nanosecond each, after which each pool's search stops. The greedy placements come in any case.
    pub work: u64,
}

impl Default for Options {
    /// Some ten seconds.
    fn default() -> Options {
        Options { work: 10_000_000_000 }
    }
}

/// Offsets, and how good they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// Where each buffer begins in its pool, in bytes. Buffers that are never needed lie at 0 where nothing else is asked for.
    pub offsets: Vec<u64>,
    /// What the pools need.
    pub arenas: Vec<Arena>,
}

/// What a pool needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arena {
    /// Where its highest buffer ends, in bytes. More than the pool's capacity if no placement within was found.
    pub bytes: u64,
    /// No arena can be smaller. More than the pool's capacity if it is proven that nothing fits.
    pub lower_bound: u64,
}

/// Places buffers: within the capacity of a pool that has one, in the smallest arena otherwise. `go_on` is asked now and then, and
/// stops the search when it says no; the best placement so far is the answer then.
///
/// # Errors
///
/// What is wrong with the problem. That something does not fit is no error: its arena is larger than the capacity then.
pub fn allocate(
    problem: &Problem,
    options: &Options,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Allocation, Invalid> {
    let models = models(problem)?;
    check_fixed(problem, &models)?;
    let mut allocation = Allocation { offsets: vec![0; problem.buffers.len()], arenas: Vec::new() };
    for model in &models {
        let (offsets, lower_bound) = place(model, &mut Meter::new(options.work, go_on));
        allocation.arenas.push(Arena { bytes: arena(model, &offsets), lower_bound });
        for (members, offset) in model.members.iter().zip(offsets) {
            members.iter().for_each(|&buffer| allocation.offsets[buffer] = offset);
        }
    }
    Ok(allocation)
}

/// Offsets of items that are fixed must not overlap.
fn check_fixed(problem: &Problem, models: &[Model]) -> Result<(), Invalid> {
    let mut offsets = vec![0; problem.buffers.len()];
    let mut fixed = problem.clone();
    for buffer in &mut fixed.buffers {
        (buffer.alignment, buffer.offset) = (1, None);
    }
    for (item, members) in models.iter().flat_map(|model| model.items.iter().zip(&model.members)) {
        for &member in members {
            match item.fixed {
                Some(offset) => offsets[member] = offset,
                None => fixed.buffers[member].bytes = 0,
            }
        }
    }
    match check(&fixed, &offsets, &vec![u64::MAX; problem.pools.len()]) {
        Err(Fault::Overlap(a, b)) => Err(Invalid::Overlap(a, b)),
        _ => Ok(()),
    }
}

/// Offsets of a pool's items, and a bound.
fn place(model: &Model, meter: &mut Meter<'_>) -> (Vec<u64>, u64) {
    let mut lower = lower_bound(model);
    let enough = model.capacity.unwrap_or(lower);
    let mut offsets = greedy(model, enough.max(lower), meter);
    if arena(model, &offsets) <= enough.max(lower) || enough < lower || model.items.len() > MAX_ITEMS {
        return (offsets, lower);
    }
    let Some(above) = Above::new(model, MAX_MET) else { return (offsets, lower) };
    if model.capacity.is_some() {
        match fit(model, &above, enough, meter, u64::MAX) {
            Verdict::Fits(found) => offsets = found,
            Verdict::Impossible => lower = enough + 1,
            Verdict::Unknown => {}
        }
        return (offsets, lower);
    }
    // The bound itself first, then halving what is left between what is known or given up below, and the best.
    let (mut below, mut height) = (lower, lower);
    while below < arena(model, &offsets) && !meter.is_done() {
        let until = meter.spent + meter.left() / 4 + 1;
        match fit(model, &above, height, meter, until) {
            Verdict::Fits(found) => offsets = found,
            verdict => {
                if verdict == Verdict::Impossible {
                    lower = lower.max(height + 1);
                }
                below = height + 1;
            }
        }
        height = below + (arena(model, &offsets) - 1).saturating_sub(below) / 2;
    }
    (offsets, lower)
}

/// How many items may be searched for.
const MAX_ITEMS: usize = 5_000;

/// How many pairs of items that are alive at once, counted both ways, may be searched for.
const MAX_MET: usize = 10_000_000;

/// The most that is alive at once, where what was added to reach the grain need not be there in one item, the highest; and the
/// end of any item at the lowest offset that it may have.
fn lower_bound(model: &Model) -> u64 {
    let load = model.load();
    let most = load.iter().copied().max().unwrap_or(0);
    let peak = load.iter().position(|&load| load == most).unwrap_or(0);
    let there = model.items.iter().flat_map(|item| item.parts.iter().map(move |part| (item, part)));
    let saved = there.filter(|(_, part)| part.sections().contains(&peak)).map(|(item, _)| {
        if item.parts.len() == 1 { item.height - item.bytes } else { model.grain.saturating_sub(1) }
    });
    let needed = model.items.iter().filter(|item| !item.parts.is_empty());
    let ends = needed.map(|item| item.fixed.unwrap_or(0) + item.bytes);
    (most - saved.max().unwrap_or(0)).max(ends.max().unwrap_or(0))
}

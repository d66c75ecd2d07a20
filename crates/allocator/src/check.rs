//! An independent checker: it knows of no items, sections or parts, only of buffers, and walks along time with what is alive in
//! order of its offsets, where only neighbours can overlap first.

use std::collections::BTreeMap;
use std::fmt;

use crate::problem::Problem;

/// What is wrong with offsets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// There are not as many offsets as buffers.
    Count,
    /// These two buffers share bytes while both are alive, and do not lie together.
    Overlap(usize, usize),
    /// This buffer does not begin at a multiple of its alignment.
    Misaligned(usize),
    /// This buffer does not begin where it must.
    Moved(usize),
    /// This buffer ends outside of its pool's arena.
    Outside(usize),
    /// These two buffers should begin at one offset.
    Apart(usize, usize),
}

/// Checks offsets of buffers against what they are for. `arenas` has the bytes of each pool.
///
/// # Errors
///
/// The first thing that is wrong.
pub fn check(problem: &Problem, offsets: &[u64], arenas: &[u64]) -> Result<(), Fault> {
    let buffers = &problem.buffers;
    if offsets.len() != buffers.len() || arenas.len() != problem.pools.len() {
        return Err(Fault::Count);
    }
    for (number, (&offset, buffer)) in offsets.iter().zip(buffers).enumerate() {
        if offset % buffer.alignment.max(1) != 0 {
            return Err(Fault::Misaligned(number));
        }
        if buffer.offset.is_some_and(|wanted| wanted != offset) {
            return Err(Fault::Moved(number));
        }
        let arena = arenas.get(buffer.pool).copied().unwrap_or(0);
        if buffer.is_needed() && offset.checked_add(buffer.bytes).is_none_or(|end| end > arena) {
            return Err(Fault::Outside(number));
        }
    }
    let group = joined(problem, offsets)?;
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for (number, buffer) in buffers.iter().enumerate().filter(|(_, buffer)| buffer.is_needed()) {
        events.push((buffer.live.start, true, number));
        events.push((buffer.live.end, false, number));
    }
    events.sort_unstable();
    // What is alive, by pool and offset: of each group one that reaches farthest, and all that are alive of it.
    let mut alive: BTreeMap<(usize, u64), Vec<usize>> = BTreeMap::new();
    for (_, begins, number) in events {
        let (pool, offset) = (buffers[number].pool, offsets[number]);
        if !begins {
            if let Some(there) = alive.get_mut(&(pool, offset)) {
                there.retain(|&other| other != number);
                if there.is_empty() {
                    alive.remove(&(pool, offset));
                }
            }
            continue;
        }
        let end = |number: usize| offsets[number].saturating_add(buffers[number].bytes);
        let here = alive.get(&(pool, offset)).into_iter().flatten();
        let below =
            alive.range((pool, 0)..(pool, offset)).next_back().into_iter().flat_map(|(_, there)| there);
        let below = below.filter(|&&other| end(other) > offset);
        let next = (pool, offset.saturating_add(1))..=(pool, u64::MAX);
        let over = alive.range(next).next().into_iter().flat_map(|(_, there)| there);
        let over = over.filter(|&&other| offsets[other] < end(number));
        if let Some(&other) =
            here.filter(|&&other| group[other] != group[number]).chain(below).chain(over).next()
        {
            return Err(Fault::Overlap(other.min(number), other.max(number)));
        }
        alive.entry((pool, offset)).or_default().push(number);
    }
    Ok(())
}

/// A number of the group of each buffer, the smallest in it.
fn joined(problem: &Problem, offsets: &[u64]) -> Result<Vec<usize>, Fault> {
    let mut group: Vec<usize> = (0..offsets.len()).collect();
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for together in &problem.together {
            let there = || together.iter().copied().filter(|&at| at < offsets.len());
            let Some(least) = there().map(|at| group[at]).min() else { continue };
            for at in there() {
                if (offsets[at], problem.buffers[at].pool) != (offsets[least], problem.buffers[least].pool) {
                    return Err(Fault::Apart(least.min(at), least.max(at)));
                }
                is_changed |= group[at] != least;
                group[at] = least;
            }
        }
    }
    Ok(group)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Count => write!(f, "there are not as many offsets as buffers, or arenas as pools"),
            Fault::Overlap(a, b) => write!(f, "buffers {a} and {b} overlap"),
            Fault::Misaligned(at) => write!(f, "buffer {at} does not begin at a multiple of its alignment"),
            Fault::Moved(at) => write!(f, "buffer {at} does not begin where it must"),
            Fault::Outside(at) => write!(f, "buffer {at} ends outside of its arena"),
            Fault::Apart(a, b) => write!(f, "buffers {a} and {b} should begin at one offset"),
        }
    }
}

impl std::error::Error for Fault {}

//! Offsets in one arena for buffers whose live ranges are fixed: dynamic storage allocation, offline.
//!
//! ```text
//!   bytes ▲      ┌──────┐
//!         │ ┌────┤  c   │        buffers that are alive at once must not overlap;
//!         │ │ b  ├──┬───┤        the arena is as large as the highest end
//!         │ ├────┴┐ │ d │
//!         │ │  a  │ └───┘
//!         └─┴─────┴──────────► positions
//! ```
//!
//! Finding the smallest arena is NP-hard (Garey and Johnson, SR2). Here are the greedy answers, and the best of them is
//! taken: time order with the tightest gap, as an allocator would do it that runs along; then a few fixed orders (by size, by
//! size times lifetime, by lifetime, by the load that a buffer lies under), each buffer going to the lowest gap, or to the
//! tightest one, that is free all of its life. What is alive all the time lies at the bottom, where it is in nobody's way: from
//! any placement such a buffer can be taken out, and what lies above it moved down. The lower bound is the most that is alive
//! at once; when it is met, no more is tried.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

mod gaps;
mod timeline;

use crate::peak::profile;
use gaps::Gaps;
use timeline::{MaxTree, Timeline};

/// Something that needs a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// The positions at which it is needed. One that is never needed lies at offset 0, whatever is there.
    pub live: Range<u32>,
    /// Bytes.
    pub bytes: u64,
}

/// Offsets of buffers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// Where each buffer begins, in bytes; multiples of the alignment.
    pub offsets: Vec<u64>,
    /// The size of the arena, in bytes.
    pub arena: u64,
    /// No arena can be smaller: the most bytes that are alive at once, each buffer but one padded to the alignment.
    pub lower_bound: u64,
}

/// What is wrong with a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overlap {
    /// These two buffers share bytes while both are alive.
    Buffers(usize, usize),
    /// This buffer does not begin at a multiple of the alignment, or ends outside of the arena.
    Arena(usize),
    /// There are not as many offsets as buffers.
    Count,
}

/// Places buffers. `alignment` is in bytes; 0 counts as 1.
pub fn place(buffers: &[Buffer], alignment: u64) -> Placement {
    let problem = Problem::new(buffers, alignment.max(1));
    let mut best = problem.along_time();
    if !problem.is_met(&best) && problem.pairs <= MAX_PAIRS {
        for (order, fit) in
            problem.orders().iter().flat_map(|order| [(order, Fit::Lowest), (order, Fit::Tightest)])
        {
            let found = problem.in_order(order, fit, best.arena);
            if let Some(found) = found {
                best = found;
            }
            if problem.is_met(&best) {
                break;
            }
        }
    }
    best
}

impl Placement {
    /// Checks offsets against the buffers that they are for.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn verify(&self, buffers: &[Buffer], alignment: u64) -> Result<(), Overlap> {
        if self.offsets.len() != buffers.len() {
            return Err(Overlap::Count);
        }
        for (number, (&offset, buffer)) in self.offsets.iter().zip(buffers).enumerate() {
            let end = offset.checked_add(buffer.bytes);
            if offset % alignment.max(1) != 0 || end.is_none_or(|end| end > self.arena) {
                return Err(Overlap::Arena(number));
            }
        }
        // Along time; what is alive lies in order of its offsets, and only neighbours can overlap first.
        let mut events: Vec<(u32, bool, usize)> = Vec::new();
        for (number, buffer) in buffers.iter().enumerate().filter(|(_, buffer)| is_needed(buffer)) {
            events.push((buffer.live.start, true, number));
            events.push((buffer.live.end, false, number));
        }
        events.sort_unstable();
        let mut alive: BTreeSet<(u64, usize)> = BTreeSet::new();
        for (_, begins, number) in events {
            let offset = self.offsets[number];
            if !begins {
                alive.remove(&(offset, number));
                continue;
            }
            let end = offset + buffers[number].bytes;
            if let Some(&(_, other)) = alive.range(..(offset, number)).next_back()
                && self.offsets[other] + buffers[other].bytes > offset
            {
                return Err(Overlap::Buffers(other.min(number), other.max(number)));
            }
            if let Some(&(start, other)) = alive.range((offset, number)..).next()
                && start < end
            {
                return Err(Overlap::Buffers(other.min(number), other.max(number)));
            }
            alive.insert((offset, number));
        }
        Ok(())
    }
}

/// How many pairs of buffers that are alive at once may be looked at for each order; with more, only time order is tried.
const MAX_PAIRS: u64 = 100_000_000;

/// Whether a buffer takes any place.
fn is_needed(buffer: &Buffer) -> bool {
    buffer.bytes > 0 && buffer.live.start < buffer.live.end
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fit {
    Lowest,
    Tightest,
}

struct Problem<'b> {
    buffers: &'b [Buffer],
    /// Sizes, padded to the alignment.
    padded: Vec<u64>,
    /// The bytes that are alive at each position.
    load: Vec<u128>,
    lower_bound: u64,
    /// Where buffers that are alive all the time begin; others have none yet.
    fixed: Vec<Option<u64>>,
    /// Where those end.
    base: u64,
    /// How many pairs of other buffers are alive at once.
    pairs: u64,
}

impl<'b> Problem<'b> {
    fn new(buffers: &'b [Buffer], alignment: u64) -> Problem<'b> {
        let padded: Vec<u64> = buffers
            .iter()
            .map(|buffer| buffer.bytes.checked_next_multiple_of(alignment).unwrap_or(u64::MAX))
            .collect();
        let needed = || buffers.iter().zip(&padded).filter(|(buffer, _)| is_needed(buffer));
        let end = needed().map(|(buffer, _)| buffer.live.end).max().unwrap_or(0);
        let load = profile(end, needed().map(|(buffer, &padded)| (buffer.live.clone(), padded)));
        let begin = needed().map(|(buffer, _)| buffer.live.start).min().unwrap_or(0);
        let (mut fixed, mut base) = (vec![None; buffers.len()], 0u64);
        for (at, buffer) in buffers.iter().enumerate() {
            if is_needed(buffer) && buffer.live == (begin..end) {
                fixed[at] = Some(base);
                base = base.saturating_add(padded[at]);
            }
        }
        let mut problem = Problem { buffers, padded, load, lower_bound: 0, fixed, base, pairs: 0 };
        problem.lower_bound = problem.bound();
        let open = || problem.open().map(|at| &buffers[at].live);
        let mut starts: Vec<u32> = open().map(|live| live.start).collect();
        starts.sort_unstable();
        // A buffer meets those that begin during its life.
        let pairs = open().map(|live| {
            let begun = |position: u32| starts.partition_point(|&start| start < position) as u64;
            begun(live.end) - begun(live.start + 1)
        });
        problem.pairs = pairs.fold(0u64, u64::saturating_add);
        problem
    }

    /// The buffers that are to be placed.
    fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.buffers.len()).filter(|&at| is_needed(&self.buffers[at]) && self.fixed[at].is_none())
    }

    /// The offsets of what is placed from the beginning.
    fn offsets(&self) -> Vec<u64> {
        self.fixed.iter().map(|offset| offset.unwrap_or(0)).collect()
    }

    /// The most that is alive at once, where the padding of one buffer, the last one, need not be there.
    fn bound(&self) -> u64 {
        let most = self.load.iter().copied().max().unwrap_or(0);
        let Some(at) = self.load.iter().position(|&load| load == most) else { return 0 };
        let there = self.buffers.iter().zip(&self.padded).filter(|(buffer, _)| {
            is_needed(buffer) && (buffer.live.start as usize) <= at && at < buffer.live.end as usize
        });
        let saved = there.map(|(buffer, padded)| padded - buffer.bytes).max().unwrap_or(0);
        u64::try_from(most - u128::from(saved)).unwrap_or(u64::MAX)
    }

    /// Whether nothing is lost but at most some padding.
    fn is_met(&self, placement: &Placement) -> bool {
        self.load.iter().any(|&load| load >= placement.arena.into())
            || placement.arena <= placement.lower_bound
    }

    /// Along time: what begins takes the tightest gap, or the end of the arena.
    fn along_time(&self) -> Placement {
        let mut order: Vec<usize> = self.open().collect();
        order.sort_by_key(|&at| {
            let buffer = &self.buffers[at];
            (buffer.live.start, Reverse(buffer.live.end), Reverse(buffer.bytes), at)
        });
        let mut offsets = self.offsets();
        let mut gaps = Gaps::above(self.base);
        let mut ends: BTreeSet<(u32, usize)> = BTreeSet::new();
        for at in order {
            while let Some(&(end, other)) = ends.first()
                && end <= self.buffers[at].live.start
            {
                ends.remove(&(end, other));
                gaps.free(offsets[other], self.padded[other]);
            }
            offsets[at] = gaps.take(self.padded[at]);
            ends.insert((self.buffers[at].live.end, at));
        }
        self.placement(offsets)
    }

    /// The orders that buffers are placed in.
    fn orders(&self) -> [Vec<usize>; 4] {
        let table = MaxTree::new(&self.load);
        let keys = |buffer: &Buffer| {
            let (bytes, length) = (u128::from(buffer.bytes), u128::from(buffer.live.end - buffer.live.start));
            let area = bytes * length;
            // The highest load that a buffer lies under: those at the peak first.
            [(bytes, length), (area, bytes), (length, bytes), (table.most(&buffer.live), area)]
        };
        [0, 1, 2, 3].map(|which| {
            let mut order: Vec<usize> = self.open().collect();
            order.sort_by_cached_key(|&at| {
                let buffer = &self.buffers[at];
                (Reverse(keys(buffer)[which]), buffer.live.start, at)
            });
            order
        })
    }

    /// Places buffers one by one; gives up when the arena gets as large as `limit`.
    fn in_order(&self, order: &[usize], fit: Fit, limit: u64) -> Option<Placement> {
        let mut offsets = self.offsets();
        let mut placed = Timeline::new(self.load.len());
        let mut there: Vec<(u64, u64)> = Vec::new();
        for &at in order {
            let buffer = &self.buffers[at];
            there.clear();
            placed.visit(&buffer.live, |other| {
                there.push((offsets[other], offsets[other].saturating_add(self.padded[other])));
            });
            there.sort_unstable();
            let offset = fitting(self.base, &there, self.padded[at], fit);
            if offset.checked_add(buffer.bytes).is_none_or(|end| end >= limit) {
                return None;
            }
            offsets[at] = offset;
            placed.insert(&buffer.live, at);
        }
        Some(self.placement(offsets))
    }

    fn placement(&self, offsets: Vec<u64>) -> Placement {
        let needed = self.buffers.iter().zip(&offsets).filter(|(buffer, _)| is_needed(buffer));
        let arena = needed.map(|(buffer, &offset)| offset.saturating_add(buffer.bytes)).max().unwrap_or(0);
        // What is never alive lies at 0, and still inside.
        let idle = self.buffers.iter().filter(|buffer| !is_needed(buffer)).map(|buffer| buffer.bytes).max();
        let arena = arena.max(idle.unwrap_or(0));
        Placement { offsets, arena, lower_bound: self.lower_bound.max(idle.unwrap_or(0)) }
    }
}

/// The offset of a gap between what is there above `base`, in order of its beginning.
fn fitting(base: u64, there: &[(u64, u64)], bytes: u64, fit: Fit) -> u64 {
    let mut best: Option<(u64, u64)> = None;
    let mut free = base;
    for &(start, end) in there {
        if let Some(gap) = start.checked_sub(free).filter(|&gap| gap >= bytes) {
            if fit == Fit::Lowest {
                return free;
            }
            best = Some(best.map_or((gap, free), |best| best.min((gap, free))));
        }
        free = free.max(end);
    }
    best.map_or(free, |(_, offset)| offset)
}

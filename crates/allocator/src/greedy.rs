//! Greedy placements, of which the best is taken.
//!
//! First along time, what begins taking the tightest gap, as an allocator would do it that runs along. Then a few fixed orders
//! (by height, by height times length, by length, by the load that an item lies under), each item going to the lowest gap, or to
//! the tightest one, that is free all of its life. Items that are needed all the time lie at the bottom, where they are in nobody's
//! way: from any placement such an item can be taken out, and what lies above it moved down. Finding the smallest arena is
//! NP-hard (Garey and Johnson, SR2); when the lower bound is met, no more is tried.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

mod gaps;
mod timeline;

use crate::meter::Meter;
use crate::model::{Item, Model, arena};
use gaps::Gaps;
use timeline::{MaxTree, Timeline};

/// The best of the greedy placements: an offset for each item. Stops at a placement whose arena is at most `enough`.
pub(crate) fn greedy(model: &Model, enough: u64, meter: &mut Meter<'_>) -> Vec<u64> {
    let greedy = Greedy::new(model);
    let mut best: Option<(u64, Vec<u64>)> =
        greedy.along_time().map(|offsets| (arena(model, &offsets), offsets));
    let goes_on = |best: &Option<(u64, Vec<u64>)>| best.as_ref().is_none_or(|(arena, _)| *arena > enough);
    // Time order is cheap. Another one must be gone through where that could not be done.
    if goes_on(&best) && (best.is_none() || greedy.pairs <= MAX_PAIRS) {
        for (order, fit) in
            greedy.orders().iter().flat_map(|order| [(order, Fit::Lowest), (order, Fit::Tightest)])
        {
            let limit = best.as_ref().map_or(u64::MAX, |(arena, _)| *arena);
            if best.is_some() && (!goes_on(&best) || meter.is_done() || meter.spent >= MOST_WORK) {
                break;
            }
            meter.spend(greedy.pairs * 20 + model.items.len() as u64 * 4000);
            if let Some(offsets) = greedy.in_order(order, fit, limit) {
                best = Some((arena(model, &offsets), offsets));
            }
        }
    }
    best.map_or_else(Vec::new, |(_, offsets)| offsets)
}

/// How many pairs of items that are alive at once may be looked at for each order; with more, only time order is tried.
const MAX_PAIRS: u64 = 100_000_000;

/// No further order is begun after so much work: some hundred thousand items leave time for a few.
const MOST_WORK: u64 = 1_000_000_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fit {
    Lowest,
    Tightest,
}

struct Greedy<'m> {
    model: &'m Model,
    load: Vec<u64>,
    /// Where fixed items begin, and those that are alive all the time; others have no offset yet.
    given: Vec<Option<u64>>,
    /// Where those that are alive all the time end.
    base: u64,
    /// How many pairs of other items are alive at once.
    pairs: u64,
    /// A multiple of all alignments; nothing if that is not one of them.
    alignment: Option<u64>,
}

impl<'m> Greedy<'m> {
    fn new(model: &'m Model) -> Greedy<'m> {
        let largest = model.items.iter().map(|item| item.alignment).max().unwrap_or(1);
        let alignment = model.items.iter().all(|item| largest % item.alignment == 0).then_some(largest);
        let mut given: Vec<Option<u64>> = model.items.iter().map(|item| item.fixed).collect();
        let mut base = 0;
        if given.iter().all(Option::is_none) {
            for (item, given) in model.items.iter().zip(&mut given) {
                let is_always = matches!(&item.parts[..], [part] if part.sections() == (0..model.sections));
                if is_always && item.height % largest == 0 && alignment.is_some() {
                    *given = Some(base);
                    base += item.height;
                }
            }
        }
        let mut greedy = Greedy { model, load: model.load(), given, base, pairs: 0, alignment };
        let mut starts: Vec<u32> = greedy.open().map(|at| model.items[at].hull().start).collect();
        starts.sort_unstable();
        // An item meets those that begin during its life.
        let pairs = greedy.open().map(|at| {
            let begun = |section: u32| starts.partition_point(|&start| start < section) as u64;
            let hull = model.items[at].hull();
            begun(hull.end) - begun(hull.start)
        });
        greedy.pairs = pairs.sum();
        greedy
    }

    /// The items that are to be placed.
    fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.given.len()).filter(|&at| self.given[at].is_none() && !self.model.items[at].parts.is_empty())
    }

    fn offsets(&self) -> Vec<u64> {
        self.given.iter().map(|offset| offset.unwrap_or(0)).collect()
    }

    /// Along time: what begins takes the tightest gap, or the end of the arena. Nothing where fixed items or alignments of several
    /// kinds are in the way.
    fn along_time(&self) -> Option<Vec<u64>> {
        let alignment = self.alignment?;
        if self.model.items.iter().any(|item| item.fixed.is_some() && !item.parts.is_empty()) {
            return None;
        }
        let height = |at: usize| self.model.items[at].height.next_multiple_of(alignment);
        let mut order: Vec<(u32, Reverse<u32>, Reverse<u64>, usize)> = Vec::new();
        for at in self.open() {
            let hull = self.model.items[at].hull();
            order.push((hull.start, Reverse(hull.end), Reverse(height(at)), at));
        }
        order.sort_unstable();
        let mut offsets = self.offsets();
        let mut gaps = Gaps::above(self.base);
        let mut ends: BTreeSet<(u32, usize)> = BTreeSet::new();
        for (start, Reverse(end), Reverse(bytes), at) in order {
            while let Some(&(end, other)) = ends.first()
                && end <= start
            {
                ends.remove(&(end, other));
                gaps.free(offsets[other], height(other));
            }
            offsets[at] = gaps.take(bytes);
            ends.insert((end, at));
        }
        Some(offsets)
    }

    /// The orders that items are placed in.
    fn orders(&self) -> [Vec<usize>; 4] {
        let table = MaxTree::new(&self.load);
        let keys = |item: &Item| {
            let (height, length) = (u128::from(item.height), u128::from(item.length));
            let area = height * length;
            // The highest load that an item lies under: those at the peak first.
            let most = item.parts.iter().map(|part| table.most(&(part.start..part.end))).max();
            [(height, length), (area, height), (length, height), (most.unwrap_or(0).into(), area)]
        };
        [0, 1, 2, 3].map(|which| {
            let mut order: Vec<usize> = self.open().collect();
            order.sort_by_cached_key(|&at| {
                let item = &self.model.items[at];
                (Reverse(keys(item)[which]), item.hull().start, at)
            });
            order
        })
    }

    /// Places items one by one; gives up when the arena gets as large as `limit`.
    fn in_order(&self, order: &[usize], fit: Fit, limit: u64) -> Option<Vec<u64>> {
        let mut offsets = self.offsets();
        let mut placed = Timeline::new(self.model.sections);
        let mut heights: Vec<(usize, u64)> = Vec::new();
        let add = |placed: &mut Timeline, heights: &mut Vec<(usize, u64)>, at: usize| {
            for part in &self.model.items[at].parts {
                placed.insert(&(part.start..part.end), heights.len());
                heights.push((at, part.height));
            }
        };
        for at in (0..offsets.len()).filter(|&at| self.model.items[at].fixed.is_some()) {
            add(&mut placed, &mut heights, at);
        }
        let mut there: Vec<Range<u64>> = Vec::new();
        for &at in order {
            let item = &self.model.items[at];
            there.clear();
            for part in &item.parts {
                placed.visit(&(part.start..part.end), |number| {
                    let (other, height) = heights[number];
                    there.push(offsets[other]..offsets[other] + height);
                });
            }
            there.sort_unstable_by_key(|range| (range.start, range.end));
            let offset = fitting(self.base, &there, item, fit);
            if offset + item.bytes >= limit {
                return None;
            }
            offsets[at] = offset;
            add(&mut placed, &mut heights, at);
        }
        Some(offsets)
    }
}

/// The offset of a gap between what is there above `base`, in order of its beginning.
fn fitting(base: u64, there: &[Range<u64>], item: &Item, fit: Fit) -> u64 {
    let mut best: Option<(u64, u64)> = None;
    let mut free = item.aligned(base);
    for taken in there {
        if let Some(gap) = taken.start.checked_sub(free).filter(|&gap| gap >= item.height) {
            if fit == Fit::Lowest {
                return free;
            }
            best = Some(best.map_or((gap, free), |best| best.min((gap, free))));
        }
        free = free.max(item.aligned(taken.end));
    }
    best.map_or(free, |(_, offset)| offset)
}

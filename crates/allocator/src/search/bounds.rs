//! What follows from who can be lowest in a section: lowest offsets, room, and few choices.

use std::cmp::Reverse;
use std::ops::Range;

use smallvec::SmallVec;

use super::Search;
use crate::meter::Meter;

impl Search<'_> {
    /// The lowest offset that each item of a component can still get: at least its lowest one now, and what cannot be next must
    /// be lifted before.
    pub(super) fn start_bounds(&mut self, items: Range<usize>, last: Option<(u64, u32)>, lifts: u64) {
        for &at in &self.components[items] {
            let item = &self.model.items[at as usize];
            let low = self.low[at as usize];
            let is_ready = Some((low, self.rank[at as usize])) > last;
            self.bound[at as usize] = if is_ready || item.fixed.is_some() { low } else { low.max(lifts) };
            for part in &item.parts {
                self.sums[part.sections()].fill(0);
            }
        }
    }

    /// Raises lowest offsets, section by section: only some of the items can be the lowest there, because all others must lie
    /// above it, and those that cannot lie on top of one that can. False if there is a section where none can.
    pub(super) fn raise_bounds(&mut self, items: Range<usize>, meter: &mut Meter<'_>) -> bool {
        let mut work = 0;
        for &at in &self.components[items.clone()] {
            let item = &self.model.items[at as usize];
            if self.bound[at as usize] > self.capacity - item.bytes {
                return false;
            }
            for part in &item.parts {
                work += part.sections().len() as u64;
                self.sums[part.sections()].iter_mut().for_each(|sum| *sum += part.height);
            }
        }
        let mut is_raised = true;
        while is_raised {
            is_raised = false;
            meter.spend(work * 2);
            for &at in &self.components[items.clone()] {
                for part in &self.model.items[at as usize].parts {
                    self.first_end[part.sections()].fill(u64::MAX);
                }
            }
            for &at in &self.components[items.clone()] {
                let bound = self.bound[at as usize];
                for part in &self.model.items[at as usize].parts {
                    let sums = &self.sums[part.sections()];
                    for (end, sum) in self.first_end[part.sections()].iter_mut().zip(sums) {
                        if bound + sum <= self.ceiling {
                            *end = (*end).min(bound + part.height);
                        }
                    }
                }
            }
            for &at in &self.components[items.clone()] {
                let item = &self.model.items[at as usize];
                let bound = self.bound[at as usize];
                let mut raised = bound;
                for part in &item.parts {
                    let sums = &self.sums[part.sections()];
                    for (&end, sum) in self.first_end[part.sections()].iter().zip(sums) {
                        if bound + sum > self.ceiling {
                            raised = raised.max(end);
                        }
                    }
                }
                if raised > bound {
                    if raised > self.capacity - item.bytes {
                        return false;
                    }
                    let raised = item.aligned(raised);
                    if raised > self.capacity - item.bytes || item.fixed.is_some() {
                        return false;
                    }
                    self.bound[at as usize] = raised;
                    is_raised = true;
                }
            }
        }
        true
    }

    /// Whether each section has room for what begins at any height or above it.
    pub(super) fn has_room(&mut self, items: Range<usize>, meter: &mut Meter<'_>) -> bool {
        self.by_low.clear();
        for &at in &self.components[items] {
            self.by_low.push((self.bound[at as usize], at));
            for part in &self.model.items[at as usize].parts {
                self.sums[part.sections()].fill(0);
            }
        }
        self.by_low.sort_unstable_by_key(|&(low, _)| Reverse(low));
        let mut work = 0;
        for &(low, at) in &self.by_low {
            for part in &self.model.items[at as usize].parts {
                work += part.sections().len() as u64;
                for sum in &mut self.sums[part.sections()] {
                    *sum += part.height;
                    if low + *sum > self.ceiling {
                        meter.spend(work);
                        return false;
                    }
                }
            }
        }
        meter.spend(work);
        true
    }

    /// Replaces the candidates, if there is a section that leaves fewer choices: one of few items must be the lowest in it, and so
    /// low that nothing fits under it anywhere, which is then where it can lie.
    pub(super) fn narrow(&mut self, items: Range<usize>, begin: usize, meter: &mut Meter<'_>) -> bool {
        let model = self.model;
        for &at in &self.components[items.clone()] {
            let hull = model.items[at as usize].hull();
            self.first_end[hull.start as usize..hull.end as usize].fill(0);
        }
        let (mut work, mut first, mut end) = (0, u32::MAX, 0);
        for &at in &self.components[items.clone()] {
            let bound = self.bound[at as usize];
            for part in &model.items[at as usize].parts {
                work += part.sections().len() as u64;
                (first, end) = (first.min(part.start), end.max(part.end));
                let sums = &self.sums[part.sections()];
                for (count, sum) in self.first_end[part.sections()].iter_mut().zip(sums) {
                    *count += u64::from(bound + sum <= self.ceiling);
                }
            }
        }
        meter.spend(work * 2);
        let fewer = (self.candidates.len() - begin) as u64;
        let mut sections: SmallVec<[(u64, u32); 16]> = SmallVec::new();
        for section in first..end {
            let count = self.first_end[section as usize];
            if (1..fewer.min(MOST_FIRST + 1)).contains(&count) {
                sections.push((count, section));
            }
        }
        sections.sort_unstable();
        let mut found: SmallVec<[u32; 8]> = SmallVec::new();
        'sections: for &(_, section) in &sections {
            let highest = self.ceiling - self.sums[section as usize];
            found.clear();
            for &at in &self.components[items.clone()] {
                let item = &model.items[at as usize];
                let covers = item.parts.iter().any(|part| (part.start..part.end).contains(&section));
                if !covers || self.bound[at as usize] > highest {
                    continue;
                }
                let met = &self.above.met[self.above.of(at)];
                meter.spend(met.len() as u64);
                let fits_under = met.iter().any(|&(other, _)| {
                    let other = other as usize;
                    !self.placed[other] && self.bound[other] + model.items[other].least <= highest
                });
                if fits_under {
                    continue 'sections;
                }
                if self.low[at as usize] == self.bound[at as usize] {
                    found.push(at);
                }
            }
            self.candidates.truncate(begin);
            self.candidates.extend_from_slice(&found);
            return true;
        }
        false
    }
}

/// From how many items that can be the lowest of a section one is chosen.
const MOST_FIRST: u64 = 4;

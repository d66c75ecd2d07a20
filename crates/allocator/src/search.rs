//! Whether items fit below a height: exact search.
//!
//! A placement is *canonical* when no item can be moved down, and every placement can be made so. Then each item lies at 0 or on
//! top of another, and placing the items from the bottom up, each as low as what lies there allows, reaches every canonical
//! placement. The search does that depth first, and a state is left
//! - when an item that is left could lie wholly below the next one's offset: it would have to be moved down later
//!   (*dominance*);
//! - when some section cannot hold what is still to come: the items that can begin at some height or above it are together
//!   higher than what is above it;
//! - when the same items with the same lowest offsets have failed before (a table of fingerprints).
//!
//! Where a section has room for few items only as its lowest, and nothing could lie under any of them, one of these is placed next,
//! wherever the others are: that they are few prunes more than the order from the bottom does.
//!
//! What is left falls apart where no item crosses from one section to the next, and the parts are solved one by one: when one
//! of them has no solution, the others are not looked at again. The idea of canonical placements from the bottom up and of
//! sections is that of Moffitt, "MiniMalloc: a lightweight memory allocator for hardware-accelerated machine learning"
//! (ASPLOS 2023); the rules on what can be lowest in a section, and the table, are ours.
//!
//! Which item is tried first matters more than anything else, and no rule is best everywhere: [`fit`] starts over with other
//! orders, each time with more work.

use std::ops::Range;

use smallvec::SmallVec;

mod bounds;

use crate::meter::Meter;
use crate::model::Model;
use crate::orders::orders;

/// What the search has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// An offset for each item.
    Fits(Vec<u64>),
    /// There is none.
    Impossible,
    /// The work was spent before either was clear.
    Unknown,
}

/// Whether all items fit below `capacity`; gives up when the work spent reaches `until`.
pub(crate) fn fit(model: &Model, above: &Above, capacity: u64, meter: &mut Meter<'_>, until: u64) -> Verdict {
    let needed = model.items.iter().filter(|item| !item.parts.is_empty());
    if needed.map(|item| item.fixed.unwrap_or(0) + item.bytes).any(|end| end > capacity) {
        return Verdict::Impossible;
    }
    let mut budget = FIRST_BUDGET;
    for round in 0.. {
        for order in orders(model, round) {
            let part = until.min(meter.spent.saturating_add(budget));
            match Search::new(model, above, capacity, &order).run(meter, part) {
                Verdict::Unknown if meter.is_done() || meter.spent >= until => return Verdict::Unknown,
                Verdict::Unknown => {}
                verdict => return verdict,
            }
        }
        budget = budget.saturating_mul(2);
    }
    Verdict::Unknown
}

/// Work of each search of the first round.
const FIRST_BUDGET: u64 = 5_000_000;

/// Which items meet which, and how much higher one must begin that lies above the other.
pub(crate) struct Above {
    starts: Vec<usize>,
    met: Vec<(u32, u64)>,
}

impl Above {
    /// All pairs that meet; nothing where there are more than `most`.
    pub(crate) fn new(model: &Model, most: usize) -> Option<Above> {
        let mut in_section: Vec<Vec<(u32, u64)>> = vec![Vec::new(); model.sections];
        for (at, item) in (0u32..).zip(&model.items) {
            for part in &item.parts {
                in_section[part.sections()].iter_mut().for_each(|there| there.push((at, part.height)));
            }
        }
        let mut above = Above { starts: vec![0], met: Vec::new() };
        let mut height = vec![0u64; model.items.len()];
        for (at, item) in (0u32..).zip(&model.items) {
            let begin = above.met.len();
            for part in &item.parts {
                for &(other, _) in in_section[part.sections()].iter().flatten().filter(|met| met.0 != at) {
                    if height[other as usize] == 0 {
                        above.met.push((other, 0));
                    }
                    height[other as usize] = height[other as usize].max(part.height);
                }
                if above.met.len() > most {
                    return None;
                }
            }
            for (other, needed) in &mut above.met[begin..] {
                *needed = std::mem::take(&mut height[*other as usize]);
            }
            above.starts.push(above.met.len());
        }
        Some(above)
    }

    fn of(&self, item: u32) -> Range<usize> {
        self.starts[item as usize]..self.starts[item as usize + 1]
    }
}

struct Search<'m> {
    model: &'m Model,
    above: &'m Above,
    capacity: u64,
    /// The capacity, up to the next multiple of the grain: what no sum of heights exceeds.
    ceiling: u64,
    /// Which of two items at one offset is placed first.
    rank: Vec<u32>,
    /// The lowest offset of each item above what is placed; where it lies, once it is placed.
    low: Vec<u64>,
    placed: Vec<bool>,
    /// What was changed: an item and its lowest offset before.
    lifted: Vec<(u32, u64)>,
    /// Items in the order in which they were placed.
    order: Vec<u32>,
    frames: Vec<Frame>,
    /// The items of the components of all frames, one after the other.
    components: Vec<u32>,
    /// The candidates of all frames, one after the other.
    candidates: Vec<u32>,
    failed: Vec<u128>,
    /// The sum of the heights of the items of a section that were looked at.
    sums: Vec<u64>,
    by_low: Vec<(u64, u32)>,
    /// The lowest offset that an item can still get.
    bound: Vec<u64>,
    /// The lowest end of what can be the lowest item of a section.
    first_end: Vec<u64>,
    /// The end of the farthest item that begins in a section.
    reach: Vec<u32>,
}

/// A component whose items are being placed.
struct Frame {
    items: Range<usize>,
    candidates: Range<usize>,
    /// Which of them is next.
    next: usize,
    /// The components that are left after the last candidate was placed, of which the first have been solved.
    children: SmallVec<[Range<usize>; 2]>,
    solved: usize,
    /// What there was before the last candidate was placed.
    lifted: usize,
    ordered: usize,
    components: usize,
    fingerprint: u128,
    /// Everything in it lies above this offset, or at it with a higher rank.
    last: Option<(u64, u32)>,
    /// Whether a candidate is the lowest of all that are left.
    is_lowest: bool,
}

/// Where a search goes on.
enum Step {
    /// Place the next candidate of the innermost component.
    Place,
    /// Go into the next component that the placed candidate leaves.
    Enter,
    /// Take the candidate away again.
    Back,
}

impl<'m> Search<'m> {
    fn new(model: &'m Model, above: &'m Above, capacity: u64, order: &[u32]) -> Search<'m> {
        let count = model.items.len();
        let mut rank = vec![0; count];
        (0u32..).zip(order).for_each(|(at, &item)| rank[item as usize] = at);
        Search {
            model,
            above,
            capacity,
            ceiling: capacity.next_multiple_of(model.grain.max(1)),
            rank,
            low: model.items.iter().map(|item| item.fixed.unwrap_or(0)).collect(),
            placed: vec![false; count],
            lifted: Vec::new(),
            order: Vec::new(),
            frames: Vec::new(),
            components: order
                .iter()
                .copied()
                .filter(|&at| !model.items[at as usize].parts.is_empty())
                .collect(),
            candidates: Vec::new(),
            failed: vec![0; 1 << TABLE],
            sums: vec![0; model.sections],
            by_low: Vec::new(),
            bound: vec![0; count],
            first_end: vec![0; model.sections],
            reach: vec![0; model.sections],
        }
    }

    fn run(&mut self, meter: &mut Meter<'_>, until: u64) -> Verdict {
        for part in self.split(0..self.components.len()) {
            match self.solve(part, meter, until) {
                None => return Verdict::Unknown,
                Some(false) => return Verdict::Impossible,
                Some(true) => {}
            }
        }
        Verdict::Fits(self.low.clone())
    }

    /// Places the items of a component, if that is possible. Nothing if the work was spent.
    fn solve(&mut self, items: Range<usize>, meter: &mut Meter<'_>, until: u64) -> Option<bool> {
        if !self.open(items, None, meter) {
            return Some(false);
        }
        let mut step = Step::Place;
        loop {
            let Some(frame) = self.frames.last_mut() else { return Some(true) };
            step = match step {
                Step::Place if frame.next < frame.candidates.end => {
                    if meter.spent >= until || meter.is_done() {
                        return None;
                    }
                    let item = self.candidates[frame.next];
                    frame.next += 1;
                    frame.solved = 0;
                    (frame.lifted, frame.ordered) = (self.lifted.len(), self.order.len());
                    frame.components = self.components.len();
                    let items = frame.items.clone();
                    if self.place(item) {
                        let children = self.split(items);
                        if let Some(frame) = self.frames.last_mut() {
                            frame.children = children;
                        }
                        Step::Enter
                    } else {
                        Step::Back
                    }
                }
                Step::Place => {
                    let fingerprint = frame.fingerprint;
                    self.failed[slot(fingerprint)] = fingerprint;
                    self.frames.pop();
                    if self.frames.is_empty() {
                        return Some(false);
                    }
                    Step::Back
                }
                Step::Enter => match frame.children.get(frame.solved).cloned() {
                    Some(items) => {
                        let placed = self.order[frame.ordered] as usize;
                        let last = match frame.is_lowest {
                            true => Some((self.low[placed], self.rank[placed])),
                            false => frame.last,
                        };
                        if self.open(items, last, meter) { Step::Place } else { Step::Back }
                    }
                    None => {
                        self.frames.pop();
                        if let Some(frame) = self.frames.last_mut() {
                            frame.solved += 1;
                        }
                        Step::Enter
                    }
                },
                Step::Back => {
                    let (components, candidates) = (frame.components, frame.candidates.end);
                    let (lifted, ordered) = (frame.lifted, frame.ordered);
                    self.components.truncate(components);
                    self.candidates.truncate(candidates);
                    self.take_back(lifted, ordered);
                    Step::Place
                }
            }
        }
    }

    /// Places an item where it can be lowest, and lifts what meets it. Whether all of that can still fit.
    fn place(&mut self, item: u32) -> bool {
        let offset = self.low[item as usize];
        self.placed[item as usize] = true;
        self.order.push(item);
        for &(other, height) in &self.above.met[self.above.of(item)] {
            let at = other as usize;
            if self.placed[at] || self.low[at] >= offset + height {
                continue;
            }
            let met = &self.model.items[at];
            let low = met.aligned(offset + height);
            if met.fixed.is_some() || low + met.bytes > self.capacity {
                return false;
            }
            self.lifted.push((other, self.low[at]));
            self.low[at] = low;
        }
        true
    }

    fn take_back(&mut self, lifted: usize, ordered: usize) {
        for (item, low) in self.lifted.drain(lifted..).rev() {
            self.low[item as usize] = low;
        }
        for item in self.order.drain(ordered..) {
            self.placed[item as usize] = false;
        }
    }

    /// Begins with a component, above the item that was placed last; false if it is seen to have no solution.
    fn open(&mut self, items: Range<usize>, last: Option<(u64, u32)>, meter: &mut Meter<'_>) -> bool {
        let model = self.model;
        let first_fixed = self.components[items.clone()]
            .iter()
            .filter_map(|&at| model.items[at as usize].fixed)
            .min()
            .unwrap_or(u64::MAX);
        // Whatever begins here or above could let some item lie below it.
        let mut top = u64::MAX;
        let mut lifts = u64::MAX;
        let mut fingerprint = 0u128;
        for &at in &self.components[items.clone()] {
            let (low, item) = (self.low[at as usize], &model.items[at as usize]);
            let end = low + item.height;
            if item.fixed.is_none() && end <= first_fixed {
                top = top.min(end);
            }
            let is_ready = Some((low, self.rank[at as usize])) > last;
            if is_ready {
                lifts = lifts.min(low + item.least);
            }
            fingerprint = fingerprint.wrapping_add(mix(at, low, is_ready));
        }
        meter.spend(items.len() as u64 * 10);
        if last.is_some_and(|(offset, _)| offset >= top) || self.failed[slot(fingerprint)] == fingerprint {
            return false;
        }
        self.start_bounds(items.clone(), last, lifts);
        let begin = self.candidates.len();
        if !self.raise_bounds(items.clone(), meter) || !self.has_room(items.clone(), meter) {
            return false;
        }
        for &at in &self.components[items.clone()] {
            let low = self.low[at as usize];
            let is_ready = Some((low, self.rank[at as usize])) > last;
            // What must still be lifted cannot be next.
            if is_ready && low == self.bound[at as usize] && low < top && low <= first_fixed {
                self.candidates.push(at);
            }
        }
        let is_lowest = !self.narrow(items.clone(), begin, meter);
        let (low, rank) = (&self.low, &self.rank);
        self.candidates[begin..].sort_unstable_by_key(|&at| (low[at as usize], rank[at as usize]));
        self.frames.push(Frame {
            items,
            candidates: begin..self.candidates.len(),
            next: begin,
            children: SmallVec::new(),
            solved: 0,
            lifted: 0,
            ordered: 0,
            components: 0,
            fingerprint,
            last,
            is_lowest,
        });
        true
    }

    /// The components of the items that are not placed: they meet nothing of each other.
    fn split(&mut self, items: Range<usize>) -> SmallVec<[Range<usize>; 2]> {
        let model = self.model;
        let (mut first, mut end) = (u32::MAX, 0);
        for &at in &self.components[items.clone()] {
            let hull = model.items[at as usize].hull();
            self.reach[hull.start as usize..hull.end as usize].fill(0);
            (first, end) = (first.min(hull.start), end.max(hull.end));
        }
        let mut left = 0;
        for at in items.clone() {
            let at = self.components[at];
            if !self.placed[at as usize] {
                let hull = model.items[at as usize].hull();
                let reach = &mut self.reach[hull.start as usize];
                *reach = (*reach).max(hull.end);
                left += 1;
            }
        }
        let mut children = SmallVec::new();
        let mut section = first;
        while section < end && left > 0 {
            // A run of sections that items cross.
            let begin = section;
            let mut until = self.reach[section as usize];
            while section < until {
                until = until.max(self.reach[section as usize]);
                section += 1;
            }
            section = section.max(begin + 1);
            if until > begin {
                let from = self.components.len();
                for at in items.clone() {
                    let at = self.components[at];
                    let start = model.items[at as usize].hull().start;
                    if !self.placed[at as usize] && (begin..section).contains(&start) {
                        self.components.push(at);
                    }
                }
                children.push(from..self.components.len());
                left -= self.components.len() - from;
            }
        }
        children
    }
}

/// How many fingerprints of what has failed are kept, as a power of two.
const TABLE: u32 = 16;

fn slot(fingerprint: u128) -> usize {
    (fingerprint >> (128 - TABLE)) as usize
}

/// A fingerprint of an item's state. Those of a component are added up.
fn mix(item: u32, low: u64, is_ready: bool) -> u128 {
    let mut state = (u128::from(low) << 33 | u128::from(item) << 1 | u128::from(is_ready)) + 1;
    for _ in 0..3 {
        state = state.wrapping_mul(0x2d99_787d_42c5_9d1b_7fb5_d329_728e_a185);
        state ^= state >> 61;
    }
    state
}

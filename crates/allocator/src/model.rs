//! A pool as the algorithms see it: items and sections.
//!
//! Buffers that lie together are one *item*, whose height may change along time: its *parts*. Of time only the *sections* are
//! left, the moments at which no more can be alive: where the first end follows a beginning. Whatever is alive at any other time
//! is alive in a section too, so a placement without overlaps in all sections has none at all. There are at most as many
//! sections as parts, and a part covers consecutive ones.
//!
//! ```text
//!   a ├────────┤           sections: {a, b, c}, {c, d}
//!   b   ├───┤
//!   c     ├────────────┤
//!   d              ├─┤
//! ```

use std::ops::Range;

use smallvec::SmallVec;

use crate::problem::{Buffer, Invalid, Problem};

/// One pool's items and sections.
#[derive(Default, Debug)]
pub(crate) struct Model {
    pub(crate) items: Vec<Item>,
    /// The buffers that each item stands for.
    pub(crate) members: Vec<Vec<usize>>,
    pub(crate) sections: usize,
    /// All offsets are multiples of this, so whatever lies above an item begins at a multiple of it.
    pub(crate) grain: u64,
    pub(crate) capacity: Option<u64>,
}

/// Buffers that share an offset.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Item {
    /// In order of time.
    pub(crate) parts: SmallVec<[Part; 1]>,
    /// The largest height of a part.
    pub(crate) height: u64,
    /// The smallest height of a part.
    pub(crate) least: u64,
    /// The bytes of its largest buffer: its height without what was added to reach the grain.
    pub(crate) bytes: u64,
    /// For how long it needs anything.
    pub(crate) length: u64,
    pub(crate) alignment: u64,
    pub(crate) fixed: Option<u64>,
}

/// A stretch of sections in which an item needs the same number of bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Part {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Bytes, up to the next multiple of the grain.
    pub(crate) height: u64,
}

impl Part {
    pub(crate) fn sections(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Item {
    /// The sections from its first to its last.
    pub(crate) fn hull(&self) -> Range<u32> {
        match (self.parts.first(), self.parts.last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }

    /// The lowest offset from `low` up that it may have.
    pub(crate) fn aligned(&self, low: u64) -> u64 {
        low.next_multiple_of(self.alignment)
    }
}

impl Model {
    /// The sum of what is alive in each section.
    pub(crate) fn load(&self) -> Vec<u64> {
        let mut load = vec![0u64; self.sections + 1];
        for part in self.items.iter().flat_map(|item| &item.parts) {
            // Differences first, which may be below zero in between.
            load[part.start as usize] = load[part.start as usize].wrapping_add(part.height);
            load[part.end as usize] = load[part.end as usize].wrapping_sub(part.height);
        }
        load.pop();
        let mut sum = 0u64;
        for load in &mut load {
            sum = sum.wrapping_add(*load);
            *load = sum;
        }
        load
    }
}

/// A model for each pool.
///
/// # Errors
///
/// What is wrong with the problem.
pub(crate) fn models(problem: &Problem) -> Result<Vec<Model>, Invalid> {
    check_sizes(problem)?;
    let mut models: Vec<Model> =
        problem.pools.iter().map(|pool| Model { capacity: pool.capacity, ..Model::default() }).collect();
    let mut lives: Vec<Vec<Life>> = problem.pools.iter().map(|_| Vec::new()).collect();
    for group in groups(problem)? {
        let pool = problem.buffers[group[0]].pool;
        let (item, life) = merge(problem, &group)?;
        models[pool].items.push(item);
        models[pool].members.push(group);
        lives[pool].push(life);
    }
    for (model, lives) in models.iter_mut().zip(lives) {
        model.grain = model
            .items
            .iter()
            .fold(0, |grain, item| gcd(gcd(grain, item.alignment), item.fixed.unwrap_or(0)));
        model.divide_time(&lives);
    }
    Ok(models)
}

/// When an item needs how many bytes: consecutive stretches.
type Life = Vec<(Range<u64>, u64)>;

/// Limits sums: offsets are at most the sum of all sizes, each rounded up to an alignment, above the highest fixed end.
fn check_sizes(problem: &Problem) -> Result<(), Invalid> {
    let mut sum = 0u128;
    let mut most = 1u64;
    for (number, buffer) in problem.buffers.iter().enumerate() {
        if buffer.pool >= problem.pools.len() {
            return Err(Invalid::NoSuchPool { buffer: number, pool: buffer.pool });
        }
        most = most.max(buffer.alignment);
        sum += u128::from(buffer.bytes) + u128::from(buffer.offset.unwrap_or(0));
    }
    // An alignment of a group is at most the product of those in it, and few differ.
    let rounding = u128::from(most) * (problem.buffers.len() as u128 + 1);
    if sum + rounding >= 1 << 62 || problem.buffers.len() >= u32::MAX as usize / 4 {
        return Err(Invalid::TooLarge);
    }
    Ok(())
}

/// The groups of buffers that lie together, those alone included, in the order of their first buffers.
fn groups(problem: &Problem) -> Result<Vec<Vec<usize>>, Invalid> {
    let mut leader: Vec<usize> = (0..problem.buffers.len()).collect();
    fn find(leader: &mut [usize], mut at: usize) -> usize {
        while leader[at] != at {
            leader[at] = leader[leader[at]];
            at = leader[at];
        }
        at
    }
    for (number, group) in problem.together.iter().enumerate() {
        if let Some(&buffer) = group.iter().find(|&&buffer| buffer >= leader.len()) {
            return Err(Invalid::NoSuchBuffer { group: number, buffer });
        }
        for pair in group.windows(2) {
            let (a, b) = (find(&mut leader, pair[0]), find(&mut leader, pair[1]));
            leader[a.max(b)] = a.min(b);
        }
    }
    let mut groups = vec![Vec::new(); leader.len()];
    for at in 0..leader.len() {
        groups[find(&mut leader, at)].push(at);
    }
    groups.retain(|group| !group.is_empty());
    Ok(groups)
}

/// A group as one item, whose parts have no sections yet.
fn merge(problem: &Problem, group: &[usize]) -> Result<(Item, Life), Invalid> {
    let buffers = || group.iter().map(|&at| &problem.buffers[at]);
    let (mut alignment, mut fixed) = (1u64, None);
    for (&at, buffer) in group.iter().zip(buffers()) {
        if buffer.pool != problem.buffers[group[0]].pool {
            return Err(Invalid::Apart(group[0], at));
        }
        let own = buffer.alignment.max(1);
        alignment = (alignment / gcd(alignment, own)).checked_mul(own).ok_or(Invalid::TooLarge)?;
        match (fixed, buffer.offset) {
            (Some((other, offset)), Some(own)) if offset != own => return Err(Invalid::Apart(other, at)),
            (None, Some(own)) => fixed = Some((at, own)),
            _ => {}
        }
    }
    if alignment >= 1 << 40 {
        return Err(Invalid::TooLarge);
    }
    if let Some((buffer, offset)) = fixed
        && offset % alignment != 0
    {
        return Err(Invalid::Misaligned { buffer });
    }
    let bytes = buffers().filter(|buffer| buffer.is_needed()).map(|buffer| buffer.bytes).max().unwrap_or(0);
    let fixed = fixed.map(|(_, offset)| offset);
    let life = life(buffers());
    let length = life.iter().map(|(span, _)| span.end - span.start).sum();
    Ok((Item { parts: SmallVec::new(), height: 0, least: u64::MAX, bytes, length, alignment, fixed }, life))
}

/// How many bytes a group needs when: at any time those of the largest that is alive.
fn life<'b>(buffers: impl Iterator<Item = &'b Buffer>) -> Life {
    let needed: Vec<&Buffer> = buffers.filter(|buffer| buffer.is_needed()).collect();
    if let [alone] = needed[..] {
        return vec![(alone.live.clone(), alone.bytes)];
    }
    let mut times: Vec<u64> = needed.iter().flat_map(|buffer| [buffer.live.start, buffer.live.end]).collect();
    times.sort_unstable();
    times.dedup();
    let mut life: Life = Vec::new();
    for span in times.windows(2) {
        let alive = needed.iter().filter(|buffer| buffer.live.contains(&span[0]));
        let Some(bytes) = alive.map(|buffer| buffer.bytes).max() else { continue };
        match life.last_mut() {
            Some((last, most)) if last.end == span[0] && *most == bytes => last.end = span[1],
            _ => life.push((span[0]..span[1], bytes)),
        }
    }
    life
}

impl Model {
    /// Finds the sections, and which of them each part covers. Items that need nothing have no parts.
    fn divide_time(&mut self, lives: &[Life]) {
        // (time, whether it begins, item, part): ends come before beginnings.
        let mut events: Vec<(u64, bool, usize, usize)> = Vec::new();
        for (at, life) in lives.iter().enumerate() {
            for (part, (span, bytes)) in life.iter().enumerate() {
                events.push((span.start, true, at, part));
                events.push((span.end, false, at, part));
                let height = bytes.next_multiple_of(self.grain.max(1));
                self.items[at].height = self.items[at].height.max(height);
                self.items[at].least = self.items[at].least.min(height);
                self.items[at].parts.push(Part { start: 0, end: 0, height });
            }
        }
        events.sort_unstable();
        let (mut section, mut has_begun) = (0, false);
        for (_, begins, at, part) in events {
            let part = &mut self.items[at].parts[part];
            if begins {
                part.start = section;
                has_begun = true;
            } else {
                section += u32::from(has_begun);
                has_begun = false;
                part.end = section;
            }
        }
        self.sections = section as usize;
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The highest end of what is needed.
pub(crate) fn arena(model: &Model, offsets: &[u64]) -> u64 {
    let needed = model.items.iter().zip(offsets).filter(|(item, _)| !item.parts.is_empty());
    needed.map(|(item, offset)| offset + item.bytes).max().unwrap_or(0)
}

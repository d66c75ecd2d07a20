//! Random problems, and what is wrong with offsets, pair by pair.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fastrand::Rng;
use tofu_allocator::{Allocation, Buffer, Options, Problem, allocate};

pub(crate) fn draw(random: &mut Rng, count: usize, times: u64, most: u64) -> Vec<Buffer> {
    let buffer = |_| {
        let start = random.u64(..times);
        Buffer::new(start..random.u64(start..=times), random.u64(..=most))
    };
    (0..count).map(buffer).collect()
}

pub(crate) fn placed(problem: &Problem) -> Allocation {
    allocate(problem, &Options { work: 200_000_000 }, &mut || true).unwrap()
}

/// Whether two buffers share bytes while both are alive.
pub(crate) fn overlap(problem: &Problem, offsets: &[u64], a: usize, b: usize) -> bool {
    let (x, y) = (&problem.buffers[a], &problem.buffers[b]);
    let meet = |p: &std::ops::Range<u64>, q: &std::ops::Range<u64>| p.start.max(q.start) < p.end.min(q.end);
    let bytes = |at: usize| offsets[at]..offsets[at] + problem.buffers[at].bytes;
    x.pool == y.pool && meet(&x.live, &y.live) && meet(&bytes(a), &bytes(b))
}

/// The smallest arena of one pool, trying every multiple of each alignment for one buffer after the other. `with[b]` is a buffer
/// before `b` that it lies with.
pub(crate) fn smallest(problem: &Problem, with: &[Option<usize>], most: u64) -> Option<u64> {
    (0..=most).find(|&arena| fits(problem, with, arena, &mut Vec::new()))
}

fn fits(problem: &Problem, with: &[Option<usize>], arena: u64, offsets: &mut Vec<u64>) -> bool {
    let at = offsets.len();
    let Some(buffer) = problem.buffers.get(at) else { return true };
    // One that is in nobody's way need not be moved about.
    let is_free = !buffer.is_needed() && with[at].is_none() && !with.contains(&Some(at));
    let most = if is_free { buffer.offset.unwrap_or(0) } else { arena.max(12) };
    for offset in 0..=most {
        let is_wanted = offset % buffer.alignment.max(1) == 0
            && buffer.offset.is_none_or(|wanted| wanted == offset)
            && with[at].is_none_or(|other| offsets[other] == offset)
            && (!buffer.is_needed() || offset + buffer.bytes <= arena);
        offsets.push(offset);
        let is_free = || {
            (0..at).all(|other| root(with, other) == root(with, at) || !overlap(problem, offsets, other, at))
        };
        if is_wanted && is_free() && fits(problem, with, arena, offsets) {
            return true;
        }
        offsets.pop();
    }
    false
}

fn root(with: &[Option<usize>], mut at: usize) -> usize {
    while let Some(other) = with[at] {
        at = other;
    }
    at
}

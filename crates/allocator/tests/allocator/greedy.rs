//! Placement against bounds, against all possible placements, and against a checker.

use fastrand::Rng;
use tofu_memory::{Buffer, Overlap, Placement, place};

fn draw(random: &mut Rng, count: usize, positions: u32, most: u64) -> Vec<Buffer> {
    let buffer = |_| {
        let start = random.u32(..positions);
        Buffer { live: start..random.u32(start..=positions), bytes: random.u64(..=most) }
    };
    (0..count).map(buffer).collect()
}

#[test]
fn placements_are_sound_and_above_the_bound() {
    let mut random = Rng::with_seed(11);
    for _ in 0..400 {
        let count = random.usize(..40);
        let buffers = draw(&mut random, count, 20, 100);
        for alignment in [0, 1, 16, 64] {
            let placed = place(&buffers, alignment);
            assert_eq!(placed.verify(&buffers, alignment), Ok(()));
            assert!(placed.arena >= placed.lower_bound, "{placed:?}");
            // Any two, one by one.
            for (a, x) in buffers.iter().enumerate() {
                for (b, y) in buffers.iter().enumerate().skip(a + 1) {
                    let apart = x.live.end <= y.live.start
                        || y.live.end <= x.live.start
                        || x.live.is_empty()
                        || y.live.is_empty();
                    let (p, q) = (placed.offsets[a], placed.offsets[b]);
                    assert!(apart || p + x.bytes <= q || q + y.bytes <= p, "{x:?} {y:?}");
                }
            }
        }
    }
}

/// The smallest arena, by placing in all orders at all places that touch something.
fn smallest(buffers: &[Buffer], placed: &mut Vec<(usize, u64)>, best: &mut u64) {
    let height = placed.iter().map(|&(at, offset)| offset + buffers[at].bytes).max().unwrap_or(0);
    if height >= *best {
        return;
    }
    if placed.len() == buffers.len() {
        *best = height;
        return;
    }
    for at in 0..buffers.len() {
        if placed.iter().any(|&(other, _)| other == at) {
            continue;
        }
        let ends: Vec<u64> = placed.iter().map(|&(other, offset)| offset + buffers[other].bytes).collect();
        for offset in ends.into_iter().chain([0]) {
            let own = &buffers[at];
            let is_free = placed.iter().all(|&(other, start)| {
                let other = &buffers[other];
                other.live.end <= own.live.start
                    || own.live.end <= other.live.start
                    || start + other.bytes <= offset
                    || offset + own.bytes <= start
            });
            if is_free {
                placed.push((at, offset));
                smallest(buffers, placed, best);
                placed.pop();
            }
        }
    }
}

#[test]
fn greedy_placements_are_near_the_smallest() {
    let mut random = Rng::with_seed(5);
    let (mut equal, mut all) = (0, 0);
    for _ in 0..60 {
        let mut buffers = draw(&mut random, 5, 6, 8);
        buffers.retain(|buffer| !buffer.live.is_empty() && buffer.bytes > 0);
        let mut best = u64::MAX;
        smallest(&buffers, &mut Vec::new(), &mut best);
        let best = if buffers.is_empty() { 0 } else { best };
        let placed = place(&buffers, 1);
        assert!(placed.lower_bound <= best && best <= placed.arena, "{best} {placed:?} {buffers:?}");
        equal += usize::from(placed.arena == best);
        all += 1;
    }
    assert!(equal * 10 >= all * 9, "{equal} of {all}");
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let buffer = |live, bytes| Buffer { live, bytes };
    let buffers = [buffer(0..4, 10), buffer(1..2, 10), buffer(3..5, 4), buffer(4..5, 10)];
    let check = |offsets: [u64; 4], arena, alignment| {
        Placement { offsets: offsets.to_vec(), arena, lower_bound: 0 }.verify(&buffers, alignment)
    };
    assert_eq!(check([0, 10, 10, 0], 20, 1), Ok(()));
    assert_eq!(check([0, 9, 10, 0], 20, 1), Err(Overlap::Buffers(0, 1)));
    assert_eq!(check([0, 10, 9, 20], 30, 1), Err(Overlap::Buffers(0, 2)));
    assert_eq!(check([0, 10, 10, 13], 30, 1), Err(Overlap::Buffers(2, 3)));
    assert_eq!(check([0, 10, 10, 0], 19, 1), Err(Overlap::Arena(1)));
    assert_eq!(check([0, 10, 10, 0], 20, 4), Err(Overlap::Arena(1)));
    let short = Placement { offsets: vec![0], arena: 20, lower_bound: 0 };
    assert_eq!(short.verify(&buffers, 1), Err(Overlap::Count));
}

/// Sizes that no machine has do no harm.
#[test]
fn sums_that_overflow_are_placed_somewhere() {
    let buffers = vec![Buffer { live: 0..2, bytes: u64::MAX }; 3];
    let placed = place(&buffers, 64);
    assert_eq!((placed.arena, placed.lower_bound), (u64::MAX, u64::MAX));
}

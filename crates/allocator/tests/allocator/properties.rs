//! What holds of all placements.

use fastrand::Rng;
use tofu_allocator::{Buffer, Invalid, Options, Pool, Problem, allocate, check};

use crate::support::{draw, overlap, placed};

#[test]
fn all_that_is_asked_for_is_kept() {
    let mut random = Rng::with_seed(5);
    for _ in 0..300 {
        let count = random.usize(..40);
        let mut problem = Problem::new(draw(&mut random, count, 20, 100), None);
        problem.pools.push(Pool::default());
        for buffer in &mut problem.buffers {
            buffer.pool = random.usize(..2);
            buffer.alignment = 1 << random.u32(..6);
        }
        // One fixed buffer in each pool, so that they cannot be in each other's way.
        for pool in 0..2 {
            if let Some(buffer) = problem.buffers.iter_mut().find(|buffer| buffer.pool == pool) {
                buffer.offset = Some(64 * random.u64(..4));
            }
        }
        let pool = |at: usize| problem.buffers[at].pool;
        let free = |at: &usize| problem.buffers[*at].offset.is_none();
        let mut groups = Vec::new();
        for _ in 0..count / 8 {
            let (a, b) = (random.usize(..count), random.usize(..count));
            if pool(a) == pool(b) && free(&a) && free(&b) {
                groups.push(vec![a, b]);
            }
        }
        problem.together = groups;
        let work = Options { work: 2_000_000 };
        let found = allocate(&problem, &work, &mut || true).unwrap();
        assert_eq!(found, allocate(&problem, &work, &mut || true).unwrap());
        let arenas: Vec<u64> = found.arenas.iter().map(|arena| arena.bytes).collect();
        assert_eq!(check(&problem, &found.offsets, &arenas), Ok(()));
        for arena in &found.arenas {
            assert!(arena.bytes >= arena.lower_bound);
        }
        // Once more, pair by pair.
        let mut group: Vec<usize> = (0..count).collect();
        for _ in 0..count {
            for pair in &problem.together {
                let least = group[pair[0]].min(group[pair[1]]);
                (group[pair[0]], group[pair[1]]) = (least, least);
            }
        }
        for (a, buffer) in problem.buffers.iter().enumerate() {
            assert_eq!(found.offsets[a] % buffer.alignment, 0);
            assert!(buffer.offset.is_none_or(|offset| offset == found.offsets[a]));
            for b in a + 1..count {
                match group[a] == group[b] {
                    true => assert_eq!(found.offsets[a], found.offsets[b]),
                    false => assert!(!overlap(&problem, &found.offsets, a, b)),
                }
            }
        }
    }
}

/// Double buffering: two that are never alive together lie at one offset, and what is between them in time fits in between.
#[test]
fn what_lies_together_leaves_its_place_in_between() {
    let buffers = vec![Buffer::new(0..2, 8), Buffer::new(4..6, 8), Buffer::new(2..4, 8)];
    let mut problem = Problem::new(buffers, None);
    problem.together = vec![vec![0, 1]];
    assert_eq!(placed(&problem).arenas[0].bytes, 8);
}

#[test]
fn contradictions_are_errors() {
    let buffers = |first: Option<u64>, second: Option<u64>| {
        let mut buffers = vec![Buffer::new(0..2, 8), Buffer::new(1..3, 8)];
        (buffers[0].offset, buffers[1].offset) = (first, second);
        buffers
    };
    let answer = |problem: &Problem| allocate(problem, &Options::default(), &mut || true).unwrap_err();
    let problem = Problem::new(buffers(Some(0), Some(4)), None);
    assert_eq!(answer(&problem), Invalid::Overlap(0, 1));
    let together = Problem { together: vec![vec![0, 1]], ..problem.clone() };
    assert_eq!(answer(&together), Invalid::Apart(0, 1));
    let missing = Problem { together: vec![vec![0, 2]], ..problem.clone() };
    assert_eq!(answer(&missing), Invalid::NoSuchBuffer { group: 0, buffer: 2 });
    let mut misaligned = Problem::new(buffers(None, Some(4)), None);
    misaligned.buffers[1].alignment = 8;
    assert_eq!(answer(&misaligned), Invalid::Misaligned { buffer: 1 });
    let mut elsewhere = problem.clone();
    elsewhere.buffers[1].pool = 1;
    assert_eq!(answer(&elsewhere), Invalid::NoSuchPool { buffer: 1, pool: 1 });
    for at in 0..3 {
        let mut large = Problem::new(buffers(None, None), None);
        match at {
            0 => large.buffers[0].bytes = u64::MAX,
            1 => large.buffers[0].alignment = 1 << 63,
            _ => large.buffers[0].offset = Some(u64::MAX - 1),
        }
        assert_eq!(answer(&large), Invalid::TooLarge);
    }
}

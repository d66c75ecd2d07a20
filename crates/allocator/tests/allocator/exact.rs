//! Small problems against every possible placement.

use fastrand::Rng;
use tofu_allocator::{Options, Problem, allocate, check};

use crate::support::{draw, placed, smallest};

#[test]
fn small_arenas_are_the_smallest() {
    let mut random = Rng::with_seed(1);
    for case in 0..400 {
        let mut problem = Problem::new(draw(&mut random, 6, 6, 6), None);
        let mut with = vec![None; 6];
        // Each kind of wish alone, and all together.
        if case % 4 == 1 || case % 4 == 3 {
            problem
                .buffers
                .iter_mut()
                .for_each(|buffer| buffer.alignment = [0, 1, 2, 3, 4][random.usize(..5)]);
        }
        if case % 4 >= 2 {
            let (a, b) = (random.usize(..3), random.usize(3..6));
            problem.together = vec![vec![a, b]];
            with[b] = Some(a);
        }
        if case % 5 == 4 {
            let fixed = random.usize(..6);
            let apart = problem.together.is_empty() || with[fixed].is_none();
            let alignment = problem.buffers.iter().map(|buffer| buffer.alignment.max(1)).product::<u64>();
            problem.buffers[fixed].offset = apart.then_some(if alignment < 13 { alignment } else { 0 });
        }
        let best = smallest(&problem, &with, 100).unwrap();
        let found = placed(&problem);
        let arena = found.arenas[0];
        assert_eq!(check(&problem, &found.offsets, &[arena.bytes]), Ok(()), "{problem:?}");
        assert_eq!(arena.bytes, best, "{problem:?} {found:?}");
        assert!(arena.lower_bound <= best, "{problem:?}");
        // At a capacity, the answer is whether it is that much.
        problem.pools[0].capacity = Some(best);
        assert!(placed(&problem).arenas[0].bytes <= best);
        if best > 0 {
            problem.pools[0].capacity = Some(best - 1);
            assert!(placed(&problem).arenas[0].lower_bound == best, "{problem:?}");
        }
    }
}

/// Cut a rectangle into pieces: they fit into it again, and greedy orders seldom do that.
#[test]
fn pieces_of_a_full_rectangle_fit_into_it() {
    let mut random = Rng::with_seed(2);
    for count in [10, 20, 40, 60] {
        let mut pieces = vec![(0..50u64, 0..10_000u64)];
        while pieces.len() < count {
            let at = random.usize(..pieces.len());
            let (live, bytes) = pieces[at].clone();
            if random.bool() && live.end - live.start > 1 {
                let cut = random.u64(live.start + 1..live.end);
                pieces[at].0 = live.start..cut;
                pieces.push((cut..live.end, bytes));
            } else if bytes.end - bytes.start > 1 {
                let cut = random.u64(bytes.start + 1..bytes.end);
                pieces[at].1 = bytes.start..cut;
                pieces.push((live, cut..bytes.end));
            }
        }
        random.shuffle(&mut pieces);
        let buffers = pieces
            .into_iter()
            .map(|(live, bytes)| tofu_allocator::Buffer::new(live, bytes.end - bytes.start));
        let problem = Problem::new(buffers.collect(), Some(10_000));
        let found = placed(&problem);
        assert_eq!((found.arenas[0].bytes, found.arenas[0].lower_bound), (10_000, 10_000));
        assert_eq!(check(&problem, &found.offsets, &[10_000]), Ok(()));
    }
}

/// The peak is a bound that cannot always be met, which is proven then.
#[test]
fn what_cannot_fit_though_the_peak_would_is_proven() {
    let mut random = Rng::with_seed(3);
    let mut proven = 0;
    for _ in 0..500 {
        let mut problem = Problem::new(draw(&mut random, 7, 6, 5), None);
        problem.buffers.iter_mut().for_each(|buffer| buffer.alignment = random.u64(1..5));
        let load = |time| {
            let alive = problem.buffers.iter().filter(|buffer| buffer.live.contains(&time));
            alive.map(|buffer| buffer.bytes).sum::<u64>()
        };
        let peak = (0..6).map(load).max().unwrap();
        let best = placed(&problem).arenas[0];
        assert_eq!(best.bytes, best.lower_bound);
        if best.bytes > peak {
            assert_eq!(smallest(&problem, &[None; 7], 100), Some(best.bytes));
            proven += 1;
        }
    }
    assert!(proven > 0);
}

#[test]
fn a_caller_can_stop_the_search_and_still_gets_a_placement() {
    let mut random = Rng::with_seed(4);
    let problem = Problem::new(draw(&mut random, 300, 60, 1000), None);
    let mut asked = 0;
    let stopped = allocate(&problem, &Options::default(), &mut || {
        asked += 1;
        asked < 3
    });
    let stopped = stopped.unwrap();
    assert!(asked <= 3);
    assert_eq!(check(&problem, &stopped.offsets, &[stopped.arenas[0].bytes]), Ok(()));
    let none = allocate(&problem, &Options { work: 0 }, &mut || true).unwrap();
    assert_eq!(check(&problem, &none.offsets, &[none.arenas[0].bytes]), Ok(()));
}

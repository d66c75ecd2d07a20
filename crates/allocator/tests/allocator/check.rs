//! The checker, on what is wrong by intent.

use fastrand::Rng;
use tofu_allocator::{Buffer, Fault, Problem, check};

use crate::support::{draw, overlap, placed};

#[test]
fn planted_faults_are_found() {
    let buffers =
        vec![Buffer::new(0..4, 10), Buffer::new(1..2, 10), Buffer::new(3..5, 4), Buffer::new(4..5, 10)];
    let mut problem = Problem::new(buffers, None);
    assert_eq!(check(&problem, &[0, 10, 10, 0], &[20]), Ok(()));
    assert_eq!(check(&problem, &[0, 9, 10, 0], &[20]), Err(Fault::Overlap(0, 1)));
    assert_eq!(check(&problem, &[0, 10, 9, 20], &[30]), Err(Fault::Overlap(0, 2)));
    assert_eq!(check(&problem, &[0, 10, 10, 13], &[30]), Err(Fault::Overlap(2, 3)));
    assert_eq!(check(&problem, &[0, 10, 10, 10], &[30]), Err(Fault::Overlap(2, 3)));
    assert_eq!(check(&problem, &[0, 10, 10, 0], &[19]), Err(Fault::Outside(1)));
    assert_eq!(check(&problem, &[0, u64::MAX, 10, 0], &[20]), Err(Fault::Outside(1)));
    assert_eq!(check(&problem, &[0], &[20]), Err(Fault::Count));
    problem.together = vec![vec![2, 3]];
    assert_eq!(check(&problem, &[0, 10, 10, 10], &[20]), Ok(()));
    assert_eq!(check(&problem, &[0, 10, 10, 0], &[20]), Err(Fault::Apart(2, 3)));
    problem.together.clear();
    problem.buffers[1].alignment = 4;
    assert_eq!(check(&problem, &[0, 10, 10, 0], &[20]), Err(Fault::Misaligned(1)));
    problem.buffers[1].alignment = 1;
    problem.buffers[1].offset = Some(11);
    assert_eq!(check(&problem, &[0, 10, 10, 0], &[20]), Err(Fault::Moved(1)));
}

/// Moving a buffer anywhere is found out exactly if some pair overlaps then.
#[test]
fn the_sweep_agrees_with_all_pairs() {
    let mut random = Rng::with_seed(6);
    let mut wrong = 0;
    for _ in 0..2000 {
        let problem = Problem::new(draw(&mut random, 8, 8, 9), None);
        let mut offsets = placed(&problem).offsets;
        offsets[random.usize(..8)] = random.u64(..30);
        let overlaps = (0..8).any(|a| (0..a).any(|b| overlap(&problem, &offsets, a, b)));
        match check(&problem, &offsets, &[u64::MAX]) {
            Err(Fault::Overlap(a, b)) => assert!(overlap(&problem, &offsets, a, b)),
            answer => assert_eq!((answer, overlaps), (Ok(()), false)),
        }
        wrong += usize::from(overlaps);
    }
    assert!((200..1800).contains(&wrong), "{wrong}");
}

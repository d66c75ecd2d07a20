//! Every strategy of every description, by execution: cut the operands as the regions say, run each worker's share
//! alone, combine as the strategy says, and get what the whole op gives.

use tofu_tdl::{OpaqueRegistry, Region};
use tofu_tdl_testing::Whole;

use crate::catalog::{CASES, Case};

const WORKERS: [u64; 4] = [2, 3, 4, 8];

fn check(case: &Case, rounds: usize, spoil: &dyn Fn(&mut Vec<Region>)) -> Result<usize, String> {
    let (description, registry) = (case.description(), OpaqueRegistry::builtin());
    let mut random = fastrand::Rng::with_seed(7);
    let mut done = 0;
    for _ in 0..rounds {
        let (extents, operands) = case.draw(&description, &mut random);
        let whole = Whole::run(&description, &registry, &extents, &operands)?;
        done += whole.check_strategies(&WORKERS, spoil)?;
    }
    Ok(done)
}

#[test]
fn shares_put_together_are_the_whole() {
    let mut total = 0;
    let mut failures = Vec::new();
    for case in CASES {
        match check(case, 4, &|_| {}) {
            Ok(done) => total += done,
            Err(error) => failures.push(error),
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n---\n"));
    assert!(total > 1500, "only {total} comparisons");
}

#[test]
fn wrong_regions_are_found() {
    let conv1d = CASES.iter().find(|case| case.text.contains("@conv1d(")).unwrap();
    let late = |regions: &mut Vec<Region>| {
        // One element earlier wherever there is room, as if the halo were on the other side.
        let dim = &mut regions[0].dims[2];
        dim.start = dim.start.saturating_sub(1);
    };
    assert!(check(conv1d, 4, &late).is_err());
    let swapped = CASES.iter().find(|case| case.text.contains("@concatenate(")).unwrap();
    let swap = |regions: &mut Vec<Region>| regions[1].dims[0].start = 0;
    assert!(check(swapped, 4, &swap).is_err());
}

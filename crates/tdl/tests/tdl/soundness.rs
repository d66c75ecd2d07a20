//! Every strategy of every description, by execution: cut the operands as the regions say, run each worker's share
//! alone, combine as the strategy says, and get what the whole op gives.

use tofu_ir::ElementType::{F32, I32};
use tofu_tdl::{
    OpaqueRegistry, Part, Reducer, Region, Strategy, Tensor, combine_partials, evaluate, evaluate_part,
    local, strategies,
};
use tofu_tdl_testing::{Whole, cut};

use crate::catalog::{CASES, Case};
use crate::support::{read, run, tensor};

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

#[test]
fn extremes_stay_what_they_are() {
    // Bit for bit: a NaN wins, and -0 is less than +0, whether it is reduced or combined in once.
    let values = [f64::NAN, -0.0, 0.0, f64::NEG_INFINITY, f64::INFINITY, 1.5];
    let mut random = fastrand::Rng::with_seed(5);
    let registry = OpaqueRegistry::builtin();
    for name in ["max", "min"] {
        let text = format!(
            "tdl @extreme(x: f32[N, M], init: f32[N]) -> f32[N] {{ out[i] = {name}(init[i], {name}(j) x[i, j]) }}"
        );
        let description = read(&text);
        for columns in [0, 1, 3, 5] {
            let mut draw = |dims: &[u64]| {
                let count = dims.iter().product::<u64>();
                let numbers: Vec<f64> = (0..count).map(|_| values[random.usize(..values.len())]).collect();
                Tensor::from_numbers(F32, dims, &numbers).unwrap()
            };
            let operands = [draw(&[20, columns]), draw(&[20])];
            let extents = [20, columns];
            let whole = Whole::run(&description, &registry, &extents, &operands).unwrap();
            for strategy in strategies(&description) {
                for workers in WORKERS {
                    let combined = whole.combined(&strategy, workers, &|_| {}).unwrap();
                    assert_eq!(
                        combined[0].bytes(),
                        whole.results[0].bytes(),
                        "{}",
                        strategy.text(&description)
                    );
                }
            }
        }
    }
}

#[test]
fn addends_count_once_whatever_the_extents() {
    let description = read("tdl @from(x: [N], init: []) -> [] { out[] = init[] + sum(i) x[i] }");
    let strategy = &strategies(&description)[0];
    for extent in [0, 1, 2, 5] {
        for worker in 0..4 {
            let part = strategy.part(&description, &[extent], 4, worker);
            assert_eq!(part.left_out.is_empty(), worker == 0, "{extent} values");
        }
    }
    let second = local(&description, &[5], &strategy.part(&description, &[5], 2, 1)).unwrap();
    assert_eq!(
        second.description.to_string(),
        "tdl @from(x: [2], init: []) -> [] {\n  out[] = sum(i: 2) x[i + 3 - 3]\n}\n"
    );
}

/// The part of a worker at the crossing of the shares of two strategies.
fn crossing(first: Part, second: Part) -> Part {
    Part {
        outputs: [first.outputs, second.outputs].concat(),
        reductions: [first.reductions, second.reductions].concat(),
        left_out: [first.left_out, second.left_out].concat(),
        carried: Vec::new(),
    }
}

#[test]
fn parts_of_two_strategies_cross() {
    let draw = |random: &mut fastrand::Rng, dims: &[u64]| {
        let count = dims.iter().product::<u64>();
        let numbers: Vec<f64> = (0..count).map(|_| f64::from(random.i32(-9..9))).collect();
        tensor(I32, dims, &numbers)
    };
    let mut random = fastrand::Rng::with_seed(11);
    let registry = OpaqueRegistry::builtin();
    for body in [
        "b[] - (sum(i, j) x[i] * y[j])",
        "b[] - (sum(i) x[i]) - (sum(j) y[j])",
        "(sum(i) x[i]) - ((sum(j) y[j]) - b[])",
    ] {
        let description = read(&format!("tdl @grid(x: [N], y: [M], b: []) -> [] {{ out[] = {body} }}"));
        let operands = [draw(&mut random, &[5]), draw(&mut random, &[7]), draw(&mut random, &[])];
        let whole = run(&description, &operands);
        let found = strategies(&description);
        let part = |strategy: &Strategy, workers: u64, worker: u64| {
            strategy.part(&description, &[5, 7], workers, worker)
        };
        let mut sums: Vec<[Tensor; 1]> = Vec::new();
        for row in 0..3 {
            for column in 0..4 {
                let part = crossing(part(&found[0], 3, row), part(&found[1], 4, column));
                let own = evaluate_part(&description, &operands, &registry, &part, None).unwrap();
                let local = local(&description, &[5, 7], &part).unwrap();
                let cut: Vec<Tensor> = operands
                    .iter()
                    .zip(&local.operands)
                    .map(|(tensor, region)| cut(tensor, region).unwrap())
                    .collect();
                assert_eq!(evaluate(&local.description, &cut, &registry).unwrap()[0].bytes(), own[0].bytes());
                sums.push([own[0].clone()]);
            }
        }
        let mut total = sums[0].clone();
        for other in &sums[1..] {
            combine_partials(&description, Reducer::Sum, &mut total, other).unwrap();
        }
        assert_eq!(total[0].integer(0), whole[0].integer(0), "{description}");
    }
}

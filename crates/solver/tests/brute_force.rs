//! Thousands of small random problems against enumeration.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tofu_solver::{Evaluation, Options, Problem, Solution, evaluate, solve};

const INFINITE: i64 = 1_000_000_000_000_000_000;

#[test]
fn optimal_on_random_problems() {
    let (mut found, mut searched) = (0, 0);
    for seed in 0..8000 {
        // The last ones have more edges than presolve can take apart.
        let problem = if seed < 4000 { random_problem(seed, 7, 4, 2) } else { random_problem(seed, 9, 4, 5) };
        let options = Options { work: Some(500_000_000), seed, ..Options::default() };
        let solution = solve(&problem, &options, &mut |_| true);
        match (enumerate(&problem), solution) {
            (Best::Cost(best), Solution::Found { choices, cost, bound, nodes }) => {
                found += 1;
                searched += u32::from(nodes > 0);
                check(&problem, &choices, cost, seed);
                // Beyond the infinite, a valid bound is all that is promised.
                if best < i128::from(INFINITE) {
                    assert_eq!(cost, best, "seed {seed}");
                    assert_eq!(bound, best, "seed {seed}");
                }
                assert!(bound <= best, "seed {seed}");
            }
            (Best::Peak(least), Solution::Infeasible { choices, peak }) => {
                assert_eq!(peak, least, "seed {seed}");
                assert_eq!(evaluate(&problem, &choices).unwrap().peak, least, "seed {seed}");
            }
            (best, solution) => panic!("seed {seed}: {best:?}, but {solution:?}"),
        }
    }
    assert!(found > 4000 && searched > 400, "of {found} problems with a choice presolve left {searched}");
}

/// Costs around a tenth of what counts as forbidden at first: a bound must not pass over what was left out.
#[test]
fn bounds_hold_where_costs_are_nearly_infinite() {
    for seed in 0..600 {
        let mut random = fastrand::Rng::with_seed(seed);
        let nodes = random.usize(2..=5);
        let mut problem = Problem::new("near", random.i64(3..9));
        let mut cost = |zeros: f64| {
            let is_zero = random.f64() < zeros;
            if is_zero { 0 } else { random.i64(1..13) * (INFINITE / 100) }
        };
        let costs: Vec<Vec<i64>> = (0..nodes).map(|_| (0..3).map(|_| cost(0.4)).collect()).collect();
        let edges: Vec<Vec<i64>> = (1..nodes).map(|_| (0..9).map(|_| cost(0.6)).collect()).collect();
        for costs in &costs {
            let usages: Vec<i64> = (0..3).map(|_| random.i64(0..3)).collect();
            problem.add_node([0, 1], costs, &usages).unwrap();
        }
        for (node, costs) in edges.iter().enumerate() {
            problem.add_edge(random.usize(0..=node), node + 1, costs).unwrap();
        }
        let Best::Cost(best) = enumerate(&problem) else { continue };
        let options = Options { work: Some(500_000_000), seed, ..Options::default() };
        let Solution::Found { choices, cost, bound, .. } = solve(&problem, &options, &mut |_| true) else {
            panic!("seed {seed}")
        };
        check(&problem, &choices, cost, seed);
        assert!(bound <= best && best <= cost, "seed {seed}: {bound} <= {best} <= {cost}");
    }
}

#[test]
fn bounds_hold_when_work_runs_out() {
    for seed in 0..300 {
        let problem = random_problem(seed, 9, 4, 4);
        let Best::Cost(best) = enumerate(&problem) else { continue };
        for (work, bound_only) in [(1, false), (20_000, false), (20_000, true), (1_000_000, false)] {
            let options = Options { work: Some(work), seed, bound_only, ..Options::default() };
            let mut last = i128::MAX;
            let solution = solve(&problem, &options, &mut |progress| {
                assert!(progress.cost <= last, "the cost never rises");
                assert!(progress.bound <= best && best <= progress.cost, "seed {seed}");
                last = progress.cost;
                true
            });
            let Solution::Found { choices, cost, bound, .. } = solution else { panic!("seed {seed}") };
            check(&problem, &choices, cost, seed);
            assert!(bound <= best && best <= cost, "seed {seed}: {bound} <= {best} <= {cost}");
        }
    }
}

/// What costs no less than is asked for is not looked for, and the bound never claims more; what does is found as ever.
#[test]
fn only_what_costs_less_is_looked_for() {
    for seed in 0..300 {
        let problem = random_problem(seed, 9, 4, 4);
        let Best::Cost(best) = enumerate(&problem) else { continue };
        if best >= i128::from(INFINITE) {
            continue;
        }
        for below in [best - 1, best, best + 1, 2 * best + 5] {
            let options = Options { work: Some(200_000_000), seed, below: Some(below), ..Options::default() };
            let Solution::Found { cost, bound, .. } = solve(&problem, &options, &mut |_| true) else {
                panic!("seed {seed}")
            };
            assert_eq!(bound, best.min(below), "seed {seed} below {below}");
            assert!(cost >= best && (below <= best || cost == best), "seed {seed} below {below}: {cost}");
        }
    }
}

/// A gap ends the search early, at a cost that is no further from the bound than it says.
#[test]
fn gaps_are_kept() {
    let mut early = 0;
    for seed in 0..300 {
        let problem = random_problem(seed, 9, 4, 4);
        let Best::Cost(best) = enumerate(&problem) else { continue };
        if best >= i128::from(INFINITE) {
            continue;
        }
        let options = Options { work: Some(200_000_000), seed, gap: 0.3, ..Options::default() };
        let Solution::Found { cost, bound, .. } = solve(&problem, &options, &mut |_| true) else {
            panic!("seed {seed}")
        };
        assert!(bound <= best && best <= cost, "seed {seed}: {bound} <= {best} <= {cost}");
        assert!((cost - bound) as f64 <= 0.3 * cost as f64, "seed {seed}: {bound} to {cost}");
        early += usize::from(bound < cost);
    }
    assert!(early > 3, "{early}");
}

#[test]
fn threads_do_not_change_the_result() {
    for seed in 0..100 {
        let problem = random_problem(seed, 30, 5, 3);
        let run = |threads| {
            let options = Options { work: Some(3_000_000), seed, threads, ..Options::default() };
            let mut trace = Vec::new();
            let solution = solve(&problem, &options, &mut |progress| {
                trace.push((progress.work, progress.cost, progress.bound));
                true
            });
            (solution, trace)
        };
        let one = run(1);
        assert_eq!(one, run(2), "seed {seed}");
        assert_eq!(one, run(1), "seed {seed}");
    }
}

#[test]
fn answers_are_never_worse_than_what_is_known() {
    let mut kept = 0;
    for seed in 0..400 {
        let problem = random_problem(seed, 12, 5, 3);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut starts: Vec<Vec<u32>> = (0..4)
            .map(|_| {
                (0..problem.nodes()).map(|node| random.u32(0..problem.strategies(node) as u32)).collect()
            })
            .collect();
        // What is no choice is passed over.
        starts.push(vec![u32::MAX; problem.nodes()]);
        starts.push(Vec::new());
        let within = |evaluation: &Evaluation| evaluation.peak <= i128::from(problem.usage_limit());
        let known = starts.iter().filter_map(|start| evaluate(&problem, start)).filter(within);
        let known = known.map(|evaluation| evaluation.cost).min();
        let free = solve(&problem, &Options { seed, ..Options::default() }, &mut |_| true);
        if cost_of(&free).is_some_and(|cost| cost >= i128::from(INFINITE)) {
            continue;
        }
        if let Solution::Found { choices, .. } = &free {
            // An optimum is proven to be one, and a run without work keeps it.
            let options =
                Options { work: Some(1), seed, starts: vec![choices.clone()], ..Options::default() };
            let stopped = solve(&problem, &options, &mut |_| true);
            assert_eq!(cost_of(&stopped), cost_of(&free), "seed {seed}");
        }
        let stopped = solve(
            &problem,
            &Options { work: Some(1), seed, starts: starts.clone(), ..Options::default() },
            &mut |_| true,
        );
        let run = solve(&problem, &Options { seed, starts, ..Options::default() }, &mut |_| true);
        assert_eq!(cost_of(&run), cost_of(&free), "seed {seed}");
        if let (Some(known), Some(cost)) = (known, cost_of(&stopped)) {
            assert!(cost <= known, "seed {seed}: {cost} > {known}");
            kept += 1;
        }
    }
    assert!(kept > 50, "only {kept} problems with a known choice within the limit");
}

fn cost_of(solution: &Solution) -> Option<i128> {
    match solution {
        Solution::Found { cost, .. } => Some(*cost),
        Solution::Infeasible { .. } => None,
    }
}

#[test]
fn empty_problems() {
    let problem = Problem::new("empty", 0);
    let solution = solve(&problem, &Options::default(), &mut |_| true);
    assert!(matches!(solution, Solution::Found { cost: 0, bound: 0, .. }), "{solution:?}");
    let mut problem = Problem::new("negative limit", -1);
    problem.add_node([0, 1], &[0], &[0]).unwrap();
    let solution = solve(&problem, &Options::default(), &mut |_| true);
    assert!(matches!(solution, Solution::Infeasible { peak: 0, .. }), "{solution:?}");
}

#[test]
fn the_largest_costs_do_not_overflow() {
    let mut problem = Problem::new("large", 10);
    for node in 0..6 {
        problem.add_node([0, 9], &[i64::MAX, i64::MIN, 0], &[0, 3, 2]).unwrap();
        if node > 0 {
            problem.add_edge(node - 1, node, &[i64::MAX; 9]).unwrap();
        }
    }
    let Best::Cost(best) = enumerate(&problem) else { panic!("the first strategies fit") };
    let solution = solve(&problem, &Options::default(), &mut |_| true);
    let Solution::Found { choices, cost, bound, .. } = solution else { panic!("{solution:?}") };
    check(&problem, &choices, cost, 0);
    assert!(bound <= best && best <= cost, "{bound} <= {best} <= {cost}");
}

fn check(problem: &Problem, choices: &[u32], cost: i128, seed: u64) {
    let evaluation = evaluate(problem, choices).unwrap();
    assert_eq!(evaluation.cost, cost, "seed {seed}");
    assert!(evaluation.peak <= i128::from(problem.usage_limit()), "seed {seed}");
}

#[derive(Debug)]
enum Best {
    /// The least cost within the limit.
    Cost(i128),
    /// Nothing is within the limit: the least peak.
    Peak(i128),
}

fn enumerate(problem: &Problem) -> Best {
    let mut choices = vec![0; problem.nodes()];
    let (mut cost, mut peak) = (None, i128::MAX);
    loop {
        let evaluation = evaluate(problem, &choices).unwrap();
        peak = peak.min(evaluation.peak);
        if evaluation.peak <= i128::from(problem.usage_limit()) {
            cost = Some(cost.map_or(evaluation.cost, |cost: i128| cost.min(evaluation.cost)));
        }
        let mut node = 0;
        loop {
            if node == choices.len() {
                return cost.map_or(Best::Peak(peak), Best::Cost);
            }
            choices[node] += 1;
            if (choices[node] as usize) < problem.strategies(node) {
                break;
            }
            choices[node] = 0;
            node += 1;
        }
    }
}

/// A problem with a bit of everything: forbidden entries, one-to-one and constant edges, parallel edges and loops,
/// empty intervals, negative costs, limits from too tight to loose.
fn random_problem(seed: u64, most_nodes: usize, most_strategies: usize, density: usize) -> Problem {
    // The first numbers from seeds in a row are much alike.
    let mut random = fastrand::Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    random.shuffle(&mut [0; 64]);
    let nodes = random.usize(1..=most_nodes);
    let limit = random.i64(2..12) * nodes as i64 / 2;
    let mut problem = Problem::new("random", limit);
    let infinite = random.f64() * 0.3;
    for _ in 0..nodes {
        let strategies = random.usize(1..=most_strategies);
        let from = random.i64(0..12);
        let lowest = if random.u8(0..8) == 0 { -20 } else { 0 };
        let costs: Vec<i64> = (0..strategies)
            .map(|_| if random.f64() < infinite / 3.0 { INFINITE } else { random.i64(lowest..30) })
            .collect();
        let usages: Vec<i64> = (0..strategies).map(|_| random.i64(0..12)).collect();
        problem.add_node([from, from + random.i64(0..8)], &costs, &usages).unwrap();
    }
    for _ in 0..random.usize(0..=density * nodes) {
        let (a, b) = (random.usize(0..nodes), random.usize(0..nodes));
        let (rows, columns) = (problem.strategies(a), problem.strategies(b));
        let kind = random.u8(0..4);
        let shift = random.usize(0..columns);
        let mut costs = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let one_to_one = rows == columns && (row + shift) % columns == column;
                costs.push(match kind {
                    0 => 7,
                    1 if rows == columns => {
                        if one_to_one {
                            0
                        } else {
                            INFINITE
                        }
                    }
                    _ if random.f64() < infinite => INFINITE,
                    _ => random.i64(0..40),
                });
            }
        }
        problem.add_edge(a, b, &costs).unwrap();
    }
    problem
}

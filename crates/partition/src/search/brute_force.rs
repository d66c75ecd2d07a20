//! The default search against all plans of small random programs.
//!
//! Plans are enumerated, not modelled: every way of keeping every tensor, and for each of these the best way of every op,
//! by what [`Plan::evaluate`] says. Ops do not see one another once it is settled how tensors are kept.

use fastrand::Rng;
use tofu_diagnostics::Span;
use tofu_machine::Machine;
use tofu_sharding::Mesh;

use super::{Memory, Outcome, Request, search};
use crate::constraints::Constraints;
use crate::domain::Symmetry;
use crate::graph::{Graph, TensorId};
use crate::plan::Plan;
use crate::price::{Objective, Prices};
use crate::search::Algorithm;
use crate::states::{Class, Stored, all_states, shape_of};
use crate::testing::{graph, program};
use crate::way::{Choices, combinations};

/// A function of `ops` random ops on matrices. Its last value is its result.
fn random_program(random: &mut Rng, ops: usize) -> String {
    let extents = [random.u64(2..=6) * 64, random.u64(2..=9) * 64];
    let mut values: Vec<(String, [u64; 2])> =
        vec![("a".to_owned(), [extents[0], extents[1]]), ("b".to_owned(), [extents[1], extents[0]])];
    let ty = |[rows, columns]: [u64; 2]| format!("tensor<{rows}x{columns}xf32>");
    let head = format!("func @f(%a: {}, %b: {})", ty(values[0].1), ty(values[1].1));
    let mut body = String::new();
    for number in 0..ops {
        let (x, shape) = values[random.usize(..values.len())].clone();
        let alike: Vec<String> =
            values.iter().filter(|(_, other)| *other == shape).map(|(name, _)| name.clone()).collect();
        let fitting: Vec<(String, [u64; 2])> =
            values.iter().filter(|(_, other)| other[0] == shape[1]).cloned().collect();
        let (text, result) = match random.u8(..5) {
            0 => (format!("tensor.tanh %{x}"), shape),
            1 => (format!("tensor.transpose %{x} {{permutation = [1, 0]}}"), [shape[1], shape[0]]),
            2 => (format!("tensor.multiply %{x}, %{}", alike[random.usize(..alike.len())]), shape),
            3 if !fitting.is_empty() => {
                let (y, other) = &fitting[random.usize(..fitting.len())];
                (format!("tensor.dot_general %{x}, %{y} {{contracting = [1] x [0]}}"), [shape[0], other[1]])
            }
            _ => (format!("tensor.add %{x}, %{}", alike[random.usize(..alike.len())]), shape),
        };
        body.push_str(&format!("  %v{number} = {text}\n"));
        values.push((format!("v{number}"), result));
    }
    let (last, shape) = values[values.len() - 1].clone();
    format!("{head} -> {} {{\n{body}  return %{last}\n}}", ty(shape))
}

/// The least cost of all plans that `keeps` accepts by how tensors are kept; none if it accepts none.
fn least(graph: &Graph<'_>, prices: &Prices<'_>, keeps: &dyn Fn(&Plan) -> bool) -> Option<i128> {
    let none = Symmetry::none();
    let states: Vec<Vec<Stored>> = (0..graph.tensors.len())
        .map(|number| {
            let class = Class::of(graph, number as TensorId);
            all_states(prices, class, shape_of(graph, number as TensorId), &none)
        })
        .collect();
    let ways: Vec<Vec<Choices>> = graph
        .ops
        .iter()
        .map(|op| match graph.info(op) {
            Some(info) => combinations(info, &prices.mesh, &none, &|operand| graph.has_terms(op, operand)),
            None => vec![Choices::WHOLE],
        })
        .collect();
    let mut best: Option<i128> = None;
    let mut places = vec![0; states.len()];
    loop {
        let mut plan = Plan::replicated(graph, &prices.mesh);
        plan.stored = places.iter().zip(&states).map(|(&place, states)| states[place]).collect();
        if keeps(&plan) {
            let base = plan.evaluate(graph, prices).unwrap().cost;
            let mut cost = base;
            for (op, choices) in ways.iter().enumerate() {
                let saved = choices.iter().filter_map(|&choices| {
                    plan.choices[op] = choices;
                    Some(plan.evaluate(graph, prices).ok()?.cost - base)
                });
                cost += saved.min().unwrap_or(0);
                plan.choices[op] = Choices::WHOLE;
            }
            best = Some(best.map_or(cost, |best| best.min(cost)));
        }
        let Some(next) = (0..places.len()).find(|&place| places[place] + 1 < states[place].len()) else {
            return best;
        };
        places[next] += 1;
        places[..next].fill(0);
    }
}

fn find(
    graph: &Graph<'_>,
    machine: &Machine,
    mesh: Option<Mesh>,
    objective: Objective,
    memory: Option<Memory<'_>>,
) -> Outcome {
    let request = Request {
        graph,
        machine,
        mesh,
        algorithm: Algorithm::Optimal,
        objective,
        reduce_scatter: true,
        constraints: &Constraints::default(),
        memory,
        work: 1_000_000_000,
    };
    search(&request, &mut |_| true).unwrap()
}

fn machine(devices: u64) -> Machine {
    Machine::preset("dgx1-v100").unwrap().with_devices(devices, Span::NONE).unwrap()
}

#[test]
fn on_one_axis_no_plan_costs_less() {
    let mut random = Rng::with_seed(1);
    for case in 0..200 {
        let ops = random.usize(1..=3);
        let text = random_program(&mut random, ops);
        let module = program(&text);
        let graph = graph(&module, 0);
        let devices = [2, 3, 8][case % 3];
        let (machine, mesh) = (machine(devices), Mesh::new([("x", devices)]).unwrap());
        let prices = Prices::new(&machine, mesh.clone(), Objective::Time, true);
        let found = find(&graph, &machine, Some(mesh.clone()), Objective::Time, None);
        assert_eq!(
            Some(found.evaluation.cost),
            least(&graph, &prices, &|_| true),
            "{devices} devices, {text}"
        );
        assert_eq!(found.lower_bound, Some(found.evaluation.cost), "{text}");
    }
}

#[test]
fn over_two_axes_the_bound_is_one() {
    let mut random = Rng::with_seed(2);
    let mut proven = 0;
    let machine = Machine::preset("default").unwrap().with_devices(4, Span::NONE).unwrap();
    // The machine's own mesh has two axes that are alike, one that is given has none.
    let given = Mesh::new([("x", 2), ("y", 2)]).unwrap();
    for case in 0..12 {
        let ops = random.usize(1..=2);
        let text = random_program(&mut random, ops);
        let module = program(&text);
        let graph = graph(&module, 0);
        let prices = Prices::new(&machine, given.clone(), Objective::Time, true);
        let mesh = (case % 3 == 0).then(|| given.clone());
        let found = find(&graph, &machine, mesh, Objective::Time, None);
        let least = least(&graph, &prices, &|_| true).unwrap();
        let bound = found.lower_bound.unwrap();
        assert!(bound <= least && least <= found.evaluation.cost, "{bound}, {least}, {text}");
        proven += usize::from(bound == found.evaluation.cost);
    }
    assert!(proven >= 6, "only {proven} were solved");
}

#[test]
fn within_a_memory_limit_no_plan_costs_less() {
    let mut random = Rng::with_seed(3);
    let mut binding = 0;
    for _ in 0..100 {
        let ops = random.usize(1..=3);
        let text = random_program(&mut random, ops);
        let module = program(&text);
        let graph = graph(&module, 0);
        let (machine, mesh) = (machine(2), Mesh::new([("x", 2)]).unwrap());
        let prices = Prices::new(&machine, mesh.clone(), Objective::Time, true);
        // Everything is alive all the time.
        let peak =
            |plan: &Plan| (0..graph.tensors.len()).map(|tensor| plan.bytes(&graph, tensor as TensorId)).sum();
        let free = find(&graph, &machine, Some(mesh.clone()), Objective::Time, None);
        let limit: u64 = peak(&free.plan) * 9 / 10;
        let memory = Memory { limit, lives: &|_| Some([0, 1]), peak: &peak };
        let found = find(&graph, &machine, Some(mesh.clone()), Objective::Time, Some(memory));
        match least(&graph, &prices, &|plan| peak(plan) <= limit) {
            Some(least) => {
                binding += 1;
                assert!(peak(&found.plan) <= limit, "{text}");
                assert_eq!(found.evaluation.cost, least, "{text}");
                assert!(found.lower_bound.unwrap() <= least, "{text}");
            }
            None => {
                assert!(found.smallest.is_some_and(|plan| peak(&plan) > limit), "{text}");
                assert_eq!(found.evaluation.cost, free.evaluation.cost, "{text}");
            }
        }
    }
    assert!(binding >= 10, "only {binding} limits were binding and could be kept");
}

/// What bounds the plans that the solver takes to keep the limit does not bound the plan that is given where none does: here a
/// device needs more than the limit whatever the plan, which the solver cannot know.
#[test]
fn where_nothing_fits_the_bound_is_that_of_all_plans() {
    let mut random = Rng::with_seed(5);
    let machine = machine(2);
    for _ in 0..40 {
        let text = random_program(&mut random, 2);
        let module = program(&text);
        let graph = graph(&module, 0);
        let mesh = Mesh::new([("x", 2)]).unwrap();
        let bytes = |plan: &Plan| -> u64 {
            (0..graph.tensors.len()).map(|tensor| plan.bytes(&graph, tensor as TensorId)).sum()
        };
        let free = find(&graph, &machine, Some(mesh.clone()), Objective::Time, None);
        let limit = bytes(&free.plan) * 9 / 10;
        let peak = |plan: &Plan| limit + bytes(plan);
        let memory = Memory { limit, lives: &|_| Some([0, 1]), peak: &peak };
        let found = find(&graph, &machine, Some(mesh), Objective::Time, Some(memory));
        assert_eq!(found.evaluation.cost, free.evaluation.cost, "{text}");
        assert_eq!(found.lower_bound, free.lower_bound, "{text}");
        assert!(found.smallest.is_some(), "{text}");
    }
}

/// Whatever another search finds that keeps the limit, this one finds no worse: also where the best plan of all does not keep it,
/// but some poor one does.
#[test]
fn within_a_memory_limit_no_other_search_is_better() {
    let mut random = Rng::with_seed(4);
    let mut kept = 0;
    let machine = Machine::preset("default").unwrap();
    for case in 0..40 {
        let ops = random.usize(2..=4);
        let text = random_program(&mut random, ops);
        let module = program(&text);
        let graph = graph(&module, 0);
        let peak =
            |plan: &Plan| (0..graph.tensors.len()).map(|tensor| plan.bytes(&graph, tensor as TensorId)).sum();
        let free = find(&graph, &machine, None, Objective::Time, None);
        let limit: u64 = peak(&free.plan) * [9, 7, 5, 3][case % 4] / 10;
        let memory = || Some(Memory { limit, lives: &|_| Some([0, 1]), peak: &peak });
        let found = find(&graph, &machine, None, Objective::Time, memory());
        for algorithm in Algorithm::ALL {
            let request = Request {
                graph: &graph,
                machine: &machine,
                mesh: None,
                algorithm,
                objective: Objective::Time,
                reduce_scatter: true,
                constraints: &Constraints::default(),
                memory: memory(),
                work: 1_000_000,
            };
            let Ok(other) = search(&request, &mut |_| true) else { continue };
            if peak(&other.plan) <= limit {
                kept += 1;
                let (ours, theirs) = (found.evaluation.cost, other.evaluation.cost);
                assert!(
                    peak(&found.plan) <= limit && ours <= theirs,
                    "{algorithm:?}: {ours} {theirs} {text}"
                );
            }
        }
    }
    assert!(kept >= 40, "only {kept} plans keep their limits");
}

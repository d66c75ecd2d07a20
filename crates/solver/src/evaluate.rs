//! What a choice costs and how much memory it uses, straight from the problem's statement. Nothing here is shared with
//! the search, so that agreement between the two means something.

use std::collections::BTreeMap;

use crate::problem::Problem;

/// The cost of a choice and its memory in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The sum of the chosen costs.
    pub cost: i128,
    /// The largest sum of usages at any time.
    pub peak: i128,
    /// The first time at which the peak is reached.
    pub peak_time: i64,
}

/// Evaluates a choice: one strategy index per node. `None` if the choice is not one: a node is missing, or an index
/// is out of range.
pub fn evaluate(problem: &Problem, choices: &[u32]) -> Option<Evaluation> {
    if choices.len() != problem.nodes() {
        return None;
    }
    let mut cost = 0i128;
    // Usage that begins (or ends, when negative) at each time.
    let mut change: BTreeMap<i64, i128> = BTreeMap::new();
    for (node, &choice) in choices.iter().enumerate() {
        let strategy = choice as usize;
        cost += i128::from(*problem.costs(node).get(strategy)?);
        let usage = i128::from(problem.usages(node)[strategy]);
        let [from, to] = problem.interval(node);
        if from < to {
            *change.entry(from).or_default() += usage;
            *change.entry(to).or_default() -= usage;
        }
    }
    for edge in problem.edge_list() {
        let (row, column) = (choices[edge.a as usize] as usize, choices[edge.b as usize] as usize);
        cost += i128::from(problem.matrix(edge)[row * problem.strategies(edge.b as usize) + column]);
    }
    let (mut usage, mut peak, mut peak_time) = (0, 0, 0);
    for (time, change) in change {
        usage += change;
        if usage > peak {
            (peak, peak_time) = (usage, time);
        }
    }
    Some(Evaluation { cost, peak, peak_time })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_add_up_and_intervals_are_half_open() {
        let mut problem = Problem::new("p", 10);
        problem.add_node([0, 2], &[1, 5], &[8, 3]).unwrap();
        problem.add_node([2, 3], &[1, 5], &[7, 3]).unwrap();
        problem.add_node([2, 2], &[0], &[100]).unwrap();
        problem.add_edge(0, 1, &[10, 20, 30, 40]).unwrap();
        problem.add_edge(1, 0, &[1, 2, 3, 4]).unwrap();
        // 5 + 1, 30 from the first edge's (1, 0), 2 from the second's (0, 1).
        assert_eq!(evaluate(&problem, &[1, 0, 0]), Some(Evaluation { cost: 38, peak: 7, peak_time: 2 }));
        assert_eq!(evaluate(&problem, &[0, 1, 0]).unwrap().peak, 8);
        assert_eq!(evaluate(&problem, &[0, 2, 0]), None);
        assert_eq!(evaluate(&problem, &[0, 0]), None);
    }
}

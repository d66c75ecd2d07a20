//! From the problem as stated to a model: minima out of the costs, times to cliques.
//!
//! Only a time at which some set of nodes is alive that is contained in no other time's set needs checking: these are
//! the maximal cliques of the interval graph, and each is where an end follows a start.

use crate::model::{Edge, FORBIDDEN, Model, Node, Parts, Piece};
use crate::pool::Pool;
use crate::problem::Problem;

/// The model of a problem, and the cost that every choice has in addition. Costs that exceed their node's or edge's
/// minimum by `infinite` or more become forbidden.
pub(crate) fn build(problem: &Problem, infinite: i64) -> (Model, i128) {
    let mut offset = 0i128;
    let spans = clique_spans(problem);
    let nodes: Vec<Node> = spans
        .iter()
        .enumerate()
        .map(|(node, &[from, to])| {
            let pieces = if from < to {
                vec![Piece { from, to, usage: problem.usages(node).to_vec() }]
            } else {
                Vec::new()
            };
            let least = least(problem.costs(node));
            offset += i128::from(least);
            Node { cost: shifted(problem.costs(node), least, infinite), pieces }
        })
        .collect();
    let cliques = spans.iter().map(|&[_, to]| to).max().unwrap_or(0);
    let mut matrices = Pool::new();
    let mut edges = Vec::with_capacity(problem.edges());
    // A problem's matrices are shared; so is the work on them. Each use adds the minimum again.
    let mut known = vec![None; problem.distinct_matrices()];
    for edge in problem.edge_list() {
        let matrix = problem.matrix(edge);
        let slot = &mut known[edge.matrix as usize];
        let id = match *slot {
            Some((id, least)) => {
                offset += least;
                id
            }
            None => {
                let least = least(matrix);
                let id = matrices.intern(&shifted(matrix, least, infinite));
                offset += i128::from(least);
                *slot = Some((id, i128::from(least)));
                id
            }
        };
        edges.push(Edge { a: edge.a, b: edge.b, matrix: id });
    }
    let slack = vec![problem.usage_limit(); cliques as usize];
    let cliques = (0..cliques).collect();
    (Parts { constant: 0, nodes, edges, matrices, slack, cliques }.assemble(), offset)
}

fn least(costs: &[i64]) -> i64 {
    costs.iter().copied().min().unwrap_or(0)
}

fn shifted(costs: &[i64], least: i64, infinite: i64) -> Vec<i64> {
    let shift = |&cost: &i64| match cost.checked_sub(least) {
        Some(cost) if cost < infinite => cost,
        _ => FORBIDDEN,
    };
    costs.iter().map(shift).collect()
}

/// Per node, the range of cliques in which it is alive.
fn clique_spans(problem: &Problem) -> Vec<[u32; 2]> {
    let mut changes: Vec<(i64, bool, usize)> = Vec::with_capacity(problem.nodes() * 2);
    for node in 0..problem.nodes() {
        let [from, to] = problem.interval(node);
        if from < to {
            changes.push((from, true, node));
            changes.push((to, false, node));
        }
    }
    // Intervals are half-open: at equal times ends (false) come before starts.
    changes.sort_unstable();
    let mut spans = vec![[0; 2]; problem.nodes()];
    let (mut clique, mut grown) = (0, false);
    for (_, starts, node) in changes {
        if starts {
            spans[node][0] = clique;
        } else {
            clique += u32::from(grown);
            spans[node][1] = clique;
        }
        grown = starts;
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_maximal_cliques() {
        let mut problem = Problem::new("p", 100);
        for interval in [[0, 4], [1, 3], [3, 5], [4, 6], [7, 7], [8, 9]] {
            problem.add_node(interval, &[0], &[1]).unwrap();
        }
        // {0, 1}, {0, 2}, {2, 3}, {5}.
        assert_eq!(clique_spans(&problem), [[0, 2], [0, 1], [1, 3], [2, 3], [0, 0], [3, 4]]);
    }

    #[test]
    fn minima_go_to_the_offset() {
        let mut problem = Problem::new("p", 10);
        problem.add_node([0, 2], &[-3, 5], &[8, 3]).unwrap();
        problem.add_node([0, 2], &[i64::MIN, i64::MAX], &[1, 1]).unwrap();
        for _ in 0..2 {
            problem.add_edge(0, 1, &[10, 1000, 11, 12]).unwrap();
        }
        let (model, offset) = build(&problem, 100);
        assert_eq!(offset, 20 - 3 + i128::from(i64::MIN));
        assert_eq!(model.slack, [6]);
        assert_eq!(model.cost(&[1, 0]), 8 + 2);
        assert_eq!(model.cost(&[0, 1]), FORBIDDEN);
    }
}

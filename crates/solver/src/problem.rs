//! The strategy-selection problem as its user states it.

use std::fmt;

use crate::pool::{MatrixId, Pool};
use crate::ragged::Ragged;

/// Nodes with strategies, edges with matrices of costs, and a limit on the memory in use at any time.
///
/// A choice picks one strategy per node. It costs the sum of the chosen node costs and of the chosen entries of the
/// edges' matrices. Each node occupies its chosen strategy's usage during its half-open interval of times; at no time
/// may the usages sum to more than the limit. Costs and usages carry whatever units the caller means (bytes,
/// microseconds); the solver only adds and compares.
///
/// ```
/// use tofu_solver::Problem;
///
/// let mut problem = Problem::new("pair", 10);
/// let a = problem.add_node([0, 2], &[1, 5], &[8, 3])?;
/// let b = problem.add_node([1, 3], &[1, 5], &[8, 3])?;
/// problem.add_edge(a, b, &[0, 0, 0, 7])?;
/// assert_eq!(problem.strategies(a), 2);
/// # Ok::<(), tofu_solver::Invalid>(())
/// ```
#[derive(Clone, Debug)]
pub struct Problem {
    name: String,
    usage_limit: i64,
    intervals: Vec<[i64; 2]>,
    costs: Ragged<i64>,
    usages: Ragged<i64>,
    edges: Vec<Edge>,
    matrices: Pool,
    /// The sum over the nodes of the largest usage; checked against overflow as nodes are added.
    total_usage: i64,
}

/// A matrix of costs that a [`Problem`] holds for any number of its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedMatrix(pub(crate) MatrixId);

/// Two nodes and the matrix of their joint costs, row-major over `a`'s strategies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) matrix: MatrixId,
}

/// What is wrong with a problem, and at which of its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The entry, in the words of the exchange format: `nodes.costs[3][1]`.
    pub entry: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.entry, self.message)
    }
}

impl std::error::Error for Invalid {}

/// Node and strategy indices are `u32`, and counts of either stay below this.
const MOST: usize = u32::MAX as usize / 2;

/// Sums of usages stay below this, so that no profile overflows.
const MOST_USAGE: i64 = i64::MAX / 4;

impl Problem {
    /// A problem without nodes, with a limit on the memory in use at any time.
    pub fn new(name: impl Into<String>, usage_limit: i64) -> Self {
        Problem {
            name: name.into(),
            usage_limit,
            intervals: Vec::new(),
            costs: Ragged::new(),
            usages: Ragged::new(),
            edges: Vec::new(),
            matrices: Pool::new(),
            total_usage: 0,
        }
    }

    /// Adds a node that is alive during the half-open `interval`, with one cost and one usage per strategy, and gives
    /// its index.
    ///
    /// # Errors
    /// Unequal numbers of costs and usages, or none; an interval that ends before it starts, or that starts before
    /// time 0; a negative usage; usages whose sum over the nodes overflows.
    pub fn add_node(&mut self, interval: [i64; 2], costs: &[i64], usages: &[i64]) -> Result<usize, Invalid> {
        let node = self.intervals.len();
        let invalid = |entry: String, message: String| Err(Invalid { entry, message });
        if node >= MOST || costs.len() >= MOST {
            return invalid(format!("nodes.costs[{node}]"), "too large for this solver".into());
        }
        if interval[0] < 0 || interval[1] < interval[0] {
            let [from, to] = interval;
            return invalid(
                format!("nodes.intervals[{node}]"),
                format!("[{from}, {to}] is no interval: 0 <= start <= end is expected"),
            );
        }
        if costs.is_empty() {
            return invalid(format!("nodes.costs[{node}]"), "the node has no strategy".into());
        }
        if usages.len() != costs.len() {
            return invalid(
                format!("nodes.usages[{node}]"),
                format!("{} usages for {} strategies", usages.len(), costs.len()),
            );
        }
        let mut most = 0;
        for (strategy, &usage) in usages.iter().enumerate() {
            if usage < 0 {
                return invalid(
                    format!("nodes.usages[{node}][{strategy}]"),
                    format!("the usage {usage} is negative"),
                );
            }
            most = most.max(usage);
        }
        match self.total_usage.checked_add(most) {
            Some(total) if total <= MOST_USAGE => self.total_usage = total,
            _ => return invalid(format!("nodes.usages[{node}]"), "the sum of the usages overflows".into()),
        }
        self.intervals.push(interval);
        self.costs.push(costs.iter().copied());
        self.usages.push(usages.iter().copied());
        Ok(node)
    }

    /// Adds an edge between two nodes: one cost per pair of strategies, row-major over those of `a`. Several edges
    /// may join the same pair; their costs add up.
    ///
    /// # Errors
    /// A node that does not exist, or a matrix of another size.
    pub fn add_edge(&mut self, a: usize, b: usize, costs: &[i64]) -> Result<(), Invalid> {
        let matrix = self.share_matrix(costs);
        self.add_edge_with(a, b, matrix)
    }

    /// Puts a matrix in place for edges to be added by [`add_edge_with`](Problem::add_edge_with); equal ones are one. Its
    /// entries are row-major, its shape is that of the strategies of the nodes that it is used for.
    pub fn share_matrix(&mut self, costs: &[i64]) -> SharedMatrix {
        SharedMatrix(self.matrices.intern(costs))
    }

    /// Puts matrices in place before the edges that refer to them are added.
    pub(crate) fn with_matrices(mut self, matrices: Pool) -> Self {
        self.matrices = matrices;
        self
    }

    /// Adds an edge as [`add_edge`](Problem::add_edge) does, with a matrix that is there already: the rows are those of `a`,
    /// which may be any of the two nodes.
    ///
    /// # Errors
    /// A node that does not exist, a matrix of another size, or one that this problem does not hold.
    pub fn add_edge_with(&mut self, a: usize, b: usize, matrix: SharedMatrix) -> Result<(), Invalid> {
        let SharedMatrix(matrix) = matrix;
        let edge = self.edges.len();
        for (end, node) in [a, b].into_iter().enumerate() {
            if node >= self.intervals.len() {
                return Err(Invalid {
                    entry: format!("edges.nodes[{edge}][{end}]"),
                    message: format!("node {node} of {} nodes", self.intervals.len()),
                });
            }
        }
        let (rows, columns) = (self.strategies(a), self.strategies(b));
        if matrix as usize >= self.matrices.len() {
            return Err(Invalid {
                entry: format!("edges.costs[{edge}]"),
                message: "the matrix is one of another problem".into(),
            });
        }
        let length = self.matrices.get(matrix).len();
        if rows.checked_mul(columns) != Some(length) {
            return Err(Invalid {
                entry: format!("edges.costs[{edge}]"),
                message: format!("{length} costs where nodes {a} and {b} have {rows} x {columns} strategies"),
            });
        }
        self.edges.push(Edge { a: a as u32, b: b as u32, matrix });
        Ok(())
    }

    /// The problem's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The limit on the memory in use at any time.
    pub fn usage_limit(&self) -> i64 {
        self.usage_limit
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.intervals.len()
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// How many strategies a node has.
    pub fn strategies(&self, node: usize) -> usize {
        self.costs.row(node).len()
    }

    pub(crate) fn interval(&self, node: usize) -> [i64; 2] {
        self.intervals[node]
    }

    pub(crate) fn costs(&self, node: usize) -> &[i64] {
        self.costs.row(node)
    }

    pub(crate) fn usages(&self, node: usize) -> &[i64] {
        self.usages.row(node)
    }

    pub(crate) fn edge_list(&self) -> &[Edge] {
        &self.edges
    }

    pub(crate) fn distinct_matrices(&self) -> usize {
        self.matrices.len()
    }

    pub(crate) fn matrix(&self, edge: &Edge) -> &[i64] {
        self.matrices.get(edge.matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(result: Result<impl fmt::Debug, Invalid>) -> String {
        result.unwrap_err().entry
    }

    #[test]
    fn the_wrong_entry_is_named() {
        let mut problem = Problem::new("p", 10);
        problem.add_node([0, 1], &[1, 2], &[3, 4]).unwrap();
        assert_eq!(entry(problem.add_node([2, 1], &[1], &[1])), "nodes.intervals[1]");
        assert_eq!(entry(problem.add_node([-1, 1], &[1], &[1])), "nodes.intervals[1]");
        assert_eq!(entry(problem.add_node([0, 1], &[], &[])), "nodes.costs[1]");
        assert_eq!(entry(problem.add_node([0, 1], &[1], &[1, 2])), "nodes.usages[1]");
        assert_eq!(entry(problem.add_node([0, 1], &[1, 2], &[1, -2])), "nodes.usages[1][1]");
        assert_eq!(entry(problem.add_node([0, 1], &[1], &[i64::MAX])), "nodes.usages[1]");
        assert_eq!(entry(problem.add_edge(0, 1, &[1, 2])), "edges.nodes[0][1]");
        assert_eq!(entry(problem.add_edge(0, 0, &[1, 2])), "edges.costs[0]");
        assert!(problem.add_edge(0, 0, &[1, 2, 3, 4]).is_ok());
        let matrix = problem.share_matrix(&[1, 2, 3, 4]);
        assert_eq!(matrix, problem.share_matrix(&[1, 2, 3, 4]));
        assert!(problem.add_edge_with(0, 0, matrix).is_ok());
        let mut other = Problem::new("other", 10);
        other.add_node([0, 1], &[1, 2], &[3, 4]).unwrap();
        assert_eq!(entry(other.add_edge_with(0, 0, matrix)), "edges.costs[0]");
    }
}

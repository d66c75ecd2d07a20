//! The problem as presolve and search work on it: costs shifted so that every minimum is zero, equal matrices shared,
//! time reduced to the cliques of intervals that can bind, and only what usages exceed their minimum by counted
//! against what those minima leave of the limit.

use rustc_hash::FxHashMap;

use crate::pool::{MatrixId, Pool};

/// Costs from here on are infinite. Two of them still add up without overflow.
pub(crate) const FORBIDDEN: i64 = 1 << 60;

/// The sum of two costs, each from 0 to [`FORBIDDEN`].
#[inline]
pub(crate) fn add(a: i64, b: i64) -> i64 {
    (a + b).min(FORBIDDEN)
}

/// No choice within memory costs less than the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Infeasible;

/// A strategy-selection problem in reduced form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    /// Part of every choice's cost.
    pub(crate) constant: i64,
    pub(crate) nodes: Vec<Node>,
    /// At most one per pair of nodes.
    pub(crate) edges: Vec<Edge>,
    pub(crate) matrices: Pool,
    /// Per time clique: the memory left when every node uses its minimum.
    pub(crate) slack: Vec<i64>,
    /// Per time clique: which it was in the model that was built first.
    pub(crate) cliques: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// Per label; the smallest is 0.
    pub(crate) cost: Vec<i64>,
    /// Disjoint ranges of cliques in order.
    pub(crate) pieces: Vec<Piece>,
}

/// What a node uses above its minimum, the same in each clique of `from..to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Per label; the smallest is 0, the largest is not.
    pub(crate) usage: Vec<i64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The lower node; its labels are the matrix's rows.
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) matrix: MatrixId,
}

/// One end of an edge, as seen from a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc {
    pub(crate) edge: u32,
    pub(crate) other: u32,
    /// How far apart in the matrix are two labels of this node, and two of the other.
    pub(crate) stride: u32,
    pub(crate) other_stride: u32,
}

/// The edges at each node.
pub(crate) struct Adjacency {
    starts: Vec<u32>,
    arcs: Vec<Arc>,
}

impl Adjacency {
    pub(crate) fn of(model: &Model) -> Self {
        let mut starts = vec![0u32; model.nodes.len() + 1];
        for edge in &model.edges {
            starts[edge.a as usize + 1] += 1;
            starts[edge.b as usize + 1] += 1;
        }
        for node in 0..model.nodes.len() {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut arcs = vec![Arc { edge: 0, other: 0, stride: 0, other_stride: 0 }; model.edges.len() * 2];
        for (index, edge) in model.edges.iter().enumerate() {
            let columns = model.nodes[edge.b as usize].cost.len() as u32;
            for (node, other, stride, other_stride) in
                [(edge.a, edge.b, columns, 1), (edge.b, edge.a, 1, columns)]
            {
                arcs[next[node as usize] as usize] = Arc { edge: index as u32, other, stride, other_stride };
                next[node as usize] += 1;
            }
        }
        Adjacency { starts, arcs }
    }

    pub(crate) fn at(&self, node: usize) -> &[Arc] {
        &self.arcs[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

impl Model {
    pub(crate) fn labels(&self) -> usize {
        self.nodes.iter().map(|node| node.cost.len()).sum()
    }

    pub(crate) fn matrix(&self, edge: u32) -> &[i64] {
        self.matrices.get(self.edges[edge as usize].matrix)
    }

    /// The cost of a choice of labels; [`FORBIDDEN`] if it uses a forbidden entry.
    pub(crate) fn cost(&self, choice: &[u32]) -> i64 {
        let mut cost = self.constant;
        for (node, &label) in self.nodes.iter().zip(choice) {
            cost = add(cost, node.cost[label as usize]);
        }
        for edge in &self.edges {
            let columns = self.nodes[edge.b as usize].cost.len();
            let entry = choice[edge.a as usize] as usize * columns + choice[edge.b as usize] as usize;
            cost = add(cost, self.matrices.get(edge.matrix)[entry]);
        }
        cost
    }

    /// What a choice leaves of the memory, per clique.
    pub(crate) fn left(&self, choice: &[u32]) -> Vec<i64> {
        let mut change = vec![0; self.slack.len() + 1];
        for (node, &label) in self.nodes.iter().zip(choice) {
            for piece in &node.pieces {
                change[piece.from as usize] += piece.usage[label as usize];
                change[piece.to as usize] -= piece.usage[label as usize];
            }
        }
        let mut used = 0;
        let left = |(slack, change): (&i64, &i64)| {
            used += change;
            slack - used
        };
        self.slack.iter().zip(&change).map(left).collect()
    }

    /// Whether a choice keeps within the memory limit.
    pub(crate) fn fits(&self, choice: &[u32]) -> bool {
        self.left(choice).iter().all(|&left| left >= 0)
    }
}

/// The parts of a model that is being rebuilt: edges in either direction, several per pair, loops, and pieces that
/// overlap, all of them with minima anywhere at or above 0.
pub(crate) struct Parts {
    pub(crate) constant: i64,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) matrices: Pool,
    pub(crate) slack: Vec<i64>,
    pub(crate) cliques: Vec<u32>,
}

impl Parts {
    /// Brings the parts into a model's form. Only the matrices that it needs stay in its pool.
    pub(crate) fn assemble(mut self) -> Model {
        let edges = self.merge_edges();
        let (edges, matrices) = self.shift_edges(&edges);
        for node in &mut self.nodes {
            let least = node.cost.iter().copied().min().unwrap_or(FORBIDDEN);
            self.constant = add(self.constant, least);
            for cost in &mut node.cost {
                if *cost < FORBIDDEN {
                    *cost -= least;
                }
            }
        }
        let mut used = vec![0; self.slack.len() + 1];
        for node in &mut self.nodes {
            node.pieces = disjoint(std::mem::take(&mut node.pieces), &mut used);
        }
        let mut sum = 0;
        for (slack, used) in self.slack.iter_mut().zip(&used) {
            sum += used;
            *slack -= sum;
        }
        let Parts { constant, nodes, slack, cliques, .. } = self;
        Model { constant, nodes, edges, matrices, slack, cliques }
    }

    fn size(&self, node: u32) -> usize {
        self.nodes[node as usize].cost.len()
    }

    /// One edge per pair of nodes, from the lower to the higher. Loops become costs of their node.
    fn merge_edges(&mut self) -> Vec<Edge> {
        let mut edges = std::mem::take(&mut self.edges);
        edges.retain(|edge| {
            if edge.a != edge.b {
                return true;
            }
            let cost = &mut self.nodes[edge.a as usize].cost;
            let size = cost.len();
            for (label, cost) in cost.iter_mut().enumerate() {
                *cost = add(*cost, self.matrices.get(edge.matrix)[label * size + label]);
            }
            false
        });
        let mut transposed: FxHashMap<(MatrixId, usize), MatrixId> = FxHashMap::default();
        for edge in &mut edges {
            if edge.a > edge.b {
                let rows = self.nodes[edge.a as usize].cost.len();
                edge.matrix = *transposed.entry((edge.matrix, rows)).or_insert_with(|| {
                    let matrix = transpose(self.matrices.get(edge.matrix), rows);
                    self.matrices.intern(&matrix)
                });
                std::mem::swap(&mut edge.a, &mut edge.b);
            }
        }
        edges.sort_by_key(|edge| (edge.a, edge.b));
        let mut merged: Vec<Edge> = Vec::with_capacity(edges.len());
        for parallel in edges.chunk_by(|x, y| (x.a, x.b) == (y.a, y.b)) {
            let mut edge = parallel[0];
            if parallel.len() > 1 {
                let mut sum = self.matrices.get(edge.matrix).to_vec();
                for other in &parallel[1..] {
                    for (sum, &cost) in sum.iter_mut().zip(self.matrices.get(other.matrix)) {
                        *sum = add(*sum, cost);
                    }
                }
                edge.matrix = self.matrices.intern(&sum);
            }
            merged.push(edge);
        }
        merged
    }

    /// Moves each row's and then each column's minimum into the nodes, which leaves nothing of an edge whose costs
    /// are separable; such edges go.
    fn shift_edges(&mut self, edges: &[Edge]) -> (Vec<Edge>, Pool) {
        let mut pool = Pool::new();
        let mut kept = Vec::with_capacity(edges.len());
        let mut known: FxHashMap<(MatrixId, usize), Shifted> = FxHashMap::default();
        for edge in edges {
            let rows = self.size(edge.a);
            let shifted = known
                .entry((edge.matrix, rows))
                .or_insert_with(|| Shifted::of(self.matrices.get(edge.matrix), rows, &mut pool));
            for (node, shifts) in [(edge.a, &shifted.rows), (edge.b, &shifted.columns)] {
                for (cost, &shift) in self.nodes[node as usize].cost.iter_mut().zip(shifts) {
                    *cost = add(*cost, shift);
                }
            }
            if let Some(matrix) = shifted.rest {
                kept.push(Edge { matrix, ..*edge });
            }
        }
        (kept, pool)
    }
}

/// A matrix as row costs, column costs and the rest.
struct Shifted {
    rows: Vec<i64>,
    columns: Vec<i64>,
    /// `None` if all zero.
    rest: Option<MatrixId>,
}

impl Shifted {
    fn of(matrix: &[i64], rows: usize, pool: &mut Pool) -> Shifted {
        let width = matrix.len() / rows;
        let mut rest = matrix.to_vec();
        // A line that is forbidden as a whole is left to the node's cost; its entries no longer matter.
        let shift = |line: &mut dyn Iterator<Item = &mut i64>, least: i64| {
            for entry in line {
                *entry = match *entry {
                    _ if least >= FORBIDDEN => 0,
                    FORBIDDEN => FORBIDDEN,
                    finite => finite - least,
                };
            }
        };
        let mut row_shifts = Vec::with_capacity(rows);
        for row in rest.chunks_mut(width) {
            let least = row.iter().copied().min().unwrap_or(0);
            shift(&mut row.iter_mut(), least);
            row_shifts.push(least);
        }
        let mut columns = Vec::with_capacity(width);
        for column in 0..width {
            // Rows that are forbidden must not hide what the other rows of a column have in common.
            let possible = (0..rows).filter(|&row| row_shifts[row] < FORBIDDEN);
            let least = possible.map(|row| rest[row * width + column]).min().unwrap_or(0);
            shift(&mut rest[column..].iter_mut().step_by(width), least);
            for row in 0..rows {
                if row_shifts[row] >= FORBIDDEN {
                    rest[row * width + column] = 0;
                }
            }
            columns.push(least);
        }
        let zero = rest.iter().all(|&entry| entry == 0);
        Shifted { rows: row_shifts, columns, rest: (!zero).then(|| pool.intern(&rest)) }
    }
}

pub(crate) fn transpose(matrix: &[i64], rows: usize) -> Vec<i64> {
    let columns = matrix.len() / rows;
    (0..columns).flat_map(|column| (0..rows).map(move |row| matrix[row * columns + column])).collect()
}

/// Cuts overlapping pieces into disjoint ones whose usage starts at 0; the minima go to `used`, as changes per clique.
fn disjoint(pieces: Vec<Piece>, used: &mut [i64]) -> Vec<Piece> {
    let Some(labels) = pieces.first().map(|piece| piece.usage.len()) else { return pieces };
    let mut changes: Vec<(u32, bool, usize)> = Vec::with_capacity(pieces.len() * 2);
    for (index, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.from < piece.to) {
        changes.push((piece.from, true, index));
        changes.push((piece.to, false, index));
    }
    changes.sort_unstable();
    let mut result: Vec<Piece> = Vec::new();
    let mut sum = vec![0; labels];
    for (position, &(clique, begins, index)) in changes.iter().enumerate() {
        for (sum, &usage) in sum.iter_mut().zip(&pieces[index].usage) {
            *sum += if begins { usage } else { -usage };
        }
        let Some(&(next, ..)) = changes.get(position + 1) else { break };
        if next == clique {
            continue;
        }
        let least = sum.iter().copied().min().unwrap_or(0);
        used[clique as usize] += least;
        used[next as usize] -= least;
        if sum.iter().all(|&usage| usage == least) {
            continue;
        }
        let usage: Vec<i64> = sum.iter().map(|usage| usage - least).collect();
        match result.last_mut() {
            Some(last) if last.to == clique && last.usage == usage => last.to = next,
            _ => result.push(Piece { from: clique, to: next, usage }),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separable_matrices_leave_nothing() {
        let mut pool = Pool::new();
        let shifted = Shifted::of(&[3, 5, FORBIDDEN, FORBIDDEN, 4, 6], 3, &mut pool);
        assert_eq!(shifted.rows, [3, FORBIDDEN, 4]);
        assert_eq!(shifted.columns, [0, 2]);
        assert_eq!(shifted.rest, None);
        let shifted = Shifted::of(&[1, FORBIDDEN, 7, 2], 2, &mut pool);
        assert_eq!((shifted.rows, shifted.columns), (vec![1, 2], vec![0, 0]));
        assert_eq!(pool.get(shifted.rest.unwrap()), [0, FORBIDDEN, 5, 0]);
    }

    #[test]
    fn overlapping_pieces_become_disjoint() {
        let piece = |from, to, usage: [i64; 2]| Piece { from, to, usage: usage.to_vec() };
        let mut used = vec![0; 7];
        let pieces = vec![piece(0, 4, [5, 3]), piece(2, 6, [1, 3]), piece(1, 1, [9, 0])];
        // 0..2: [5, 3]; 2..4: [6, 6]; 4..6: [1, 3].
        assert_eq!(disjoint(pieces, &mut used), [piece(0, 2, [2, 0]), piece(4, 6, [0, 2])]);
        assert_eq!(used, [3, 0, 3, 0, -5, 0, -1]);
    }
}

//! The Lagrangian dual: prices on the memory of each time clique turn the limit into costs, and message passing bounds
//! what remains.
//!
//! For prices p >= 0 and messages m, `min over x of cost(x) + sum over cliques of p (usage(x) - slack)` is at least
//! the sum of the minima of reparametrised node and edge costs. The messages are those of sequential tree-reweighted
//! message passing (V. Kolmogorov, PAMI 2006): each core node, in order, takes what its links hold and passes equal
//! shares on; trees that hang off the core pass everything. The prices move by projected subgradient steps (Held and
//! Karp 1971; Polyak 1969), one sweep per step, the messages kept from step to step. The subgradient is the usage of
//! the nodes' best labels under the reparametrised costs.
//!
//! Floating point only steers. What is claimed is certified in integers; see [`super::certify`].

use crate::model::{FORBIDDEN, Model};

use super::fold::Folding;
use super::graph::{Direction, Graph};

#[derive(Clone)]
pub(crate) struct Dual<'m> {
    pub(crate) model: &'m Model,
    pub(crate) graph: &'m Graph,
    /// Per clique, in cost per unit of usage.
    pub(crate) prices: Vec<f64>,
    pub(crate) messages: Vec<f64>,
    /// Costs with prices on usage; `infinite` for a label that is out.
    pub(crate) unary: Vec<f64>,
    /// Costs with all messages added: what each label costs, as far as the messages know.
    pub(crate) marginal: Vec<f64>,
    /// The best label per node under `marginal`.
    pub(crate) best: Vec<u32>,
    /// The bound of the last iteration, without the model's constant.
    pub(crate) bound: f64,
    scratch: Vec<f64>,
    direction: Vec<f64>,
}

impl<'m> Dual<'m> {
    pub(crate) fn new(model: &'m Model, graph: &'m Graph) -> Self {
        let labels = graph.starts[model.nodes.len()];
        let mut dual = Dual {
            model,
            prices: vec![0.0; model.slack.len()],
            messages: vec![0.0; graph.message_length],
            unary: vec![0.0; labels],
            marginal: vec![0.0; labels],
            best: vec![0; model.nodes.len()],
            bound: 0.0,
            scratch: Vec::new(),
            direction: vec![0.0; model.slack.len()],
            graph,
        };
        dual.price_labels(1.0, None);
        dual
    }

    /// Recomputes the nodes' costs under the prices times `factor`. Labels that are not alive are out.
    pub(crate) fn price_labels(&mut self, factor: f64, alive: Option<&[bool]>) {
        let mut sums = Vec::with_capacity(self.prices.len() + 1);
        let mut sum = 0.0;
        sums.push(0.0);
        for price in &self.prices {
            sum += price * factor;
            sums.push(sum);
        }
        for (node, labels) in self.model.nodes.iter().enumerate() {
            let range = self.graph.labels(node as u32);
            for (unary, &cost) in self.unary[range.clone()].iter_mut().zip(&labels.cost) {
                *unary = if cost >= FORBIDDEN { self.graph.infinite } else { cost as f64 };
            }
            for piece in &labels.pieces {
                let price = sums[piece.to as usize] - sums[piece.from as usize];
                if price > 0.0 {
                    for (unary, &usage) in self.unary[range.clone()].iter_mut().zip(&piece.usage) {
                        *unary += usage as f64 * price;
                    }
                }
            }
            if let Some(alive) = alive {
                for (unary, &alive) in self.unary[range.clone()].iter_mut().zip(&alive[range]) {
                    if !alive {
                        *unary = self.graph.infinite;
                    }
                }
            }
        }
    }

    /// One forward and one backward pass; sets the marginals, the best labels and the bound. The bound is for the
    /// unary costs as they are; what the prices take back (slack) is not part of it.
    pub(crate) fn sweep(&mut self) {
        let mut bound = 0.0;
        for index in 0..self.graph.trees.len() {
            let node = self.graph.trees[index];
            let least = self.gather(node, Some(Direction::Up));
            match self.graph.links(node).iter().position(|link| link.direction == Direction::Up) {
                Some(link) => bound += self.send(node, link, 1.0, false),
                None => bound += least,
            }
        }
        for index in 0..self.graph.core.len() {
            let node = self.graph.core[index];
            self.gather(node, None);
            self.send_all(node, Direction::Forward);
        }
        for index in (0..self.graph.core.len()).rev() {
            let node = self.graph.core[index];
            let least = self.gather(node, None);
            let (sent, links) = self.send_all(node, Direction::Backward);
            bound += sent + least * (1.0 - f64::from(links) * self.graph.share[node as usize]);
        }
        for index in (0..self.graph.trees.len()).rev() {
            let node = self.graph.trees[index];
            // The parent's marginal is complete: it is of the core, or came before in this loop.
            if let Some(link) = self.graph.links(node).iter().find(|link| link.direction == Direction::Up) {
                let (parent, twin) = (link.other, link.twin as usize);
                self.send(parent, twin, 1.0, true);
            }
            self.gather(node, None);
        }
        for node in 0..self.graph.nodes() {
            let marginal = &self.marginal[self.graph.labels(node as u32)];
            let mut best = 0;
            for (label, value) in marginal.iter().enumerate() {
                if *value < marginal[best] {
                    best = label;
                }
            }
            self.best[node] = best as u32;
        }
        self.bound = bound;
    }

    /// The same on one node of each kind, whose messages are copied to all others of the kind. Sets no best labels, and the
    /// bound only tells when messages have converged: it would hold if all nodes of a kind were exactly alike, so it is not
    /// valid for the model.
    pub(crate) fn sweep_folded(&mut self, folding: &Folding) {
        let graph = self.graph;
        let mut bound = 0.0;
        for &node in graph.trees.iter().filter(|&&node| folding.stands_for(node)) {
            let count = folding.count(node) as f64;
            let least = self.gather(node, Some(Direction::Up));
            match graph.links(node).iter().position(|link| link.direction == Direction::Up) {
                Some(link) => {
                    bound += count * self.send(node, link, 1.0, false);
                    folding.spread(graph, node, Direction::Up, &mut self.messages);
                }
                None => bound += count * least,
            }
        }
        for &node in graph.core.iter().filter(|&&node| folding.stands_for(node)) {
            self.gather(node, None);
            self.send_all(node, Direction::Forward);
            folding.spread(graph, node, Direction::Forward, &mut self.messages);
        }
        for &node in graph.core.iter().rev().filter(|&&node| folding.stands_for(node)) {
            let least = self.gather(node, None);
            let (sent, links) = self.send_all(node, Direction::Backward);
            folding.spread(graph, node, Direction::Backward, &mut self.messages);
            let kept = least * (1.0 - f64::from(links) * graph.share[node as usize]);
            bound += folding.count(node) as f64 * (sent + kept);
        }
        self.bound = bound;
    }

    /// A label for each node, one after the other: the best by what is chosen already among its neighbours, and by the messages of
    /// the others (V. Kolmogorov, PAMI 2006, section 5). To be called after a sweep.
    pub(crate) fn decode(&self) -> Vec<u32> {
        const OPEN: u32 = u32::MAX;
        let mut labels = vec![OPEN; self.graph.nodes()];
        let mut costs: Vec<f64> = Vec::new();
        for &node in self.graph.core.iter().chain(self.graph.trees.iter().rev()) {
            costs.clear();
            costs.extend(&self.unary[self.graph.labels(node)]);
            for link in self.graph.links(node) {
                let chosen = labels[link.other as usize];
                if chosen == OPEN {
                    let inbound = &self.messages[link.inbound..][..costs.len()];
                    costs.iter_mut().zip(inbound).for_each(|(cost, message)| *cost += message);
                } else {
                    let width = self.graph.labels(link.other).len();
                    let column = self.graph.entries[link.matrix + chosen as usize..].iter().step_by(width);
                    costs.iter_mut().zip(column).for_each(|(cost, entry)| *cost += entry);
                }
            }
            let least = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
            labels[node as usize] = least.unwrap_or(0) as u32;
        }
        labels
    }

    /// Sums a node's cost and inbound messages into its marginal, and gives the least. The message over a link in
    /// direction `without` is left out.
    fn gather(&mut self, node: u32, without: Option<Direction>) -> f64 {
        let range = self.graph.labels(node);
        let marginal = &mut self.marginal[range.clone()];
        marginal.copy_from_slice(&self.unary[range]);
        for link in self.graph.links(node) {
            if Some(link.direction) != without {
                let inbound = &self.messages[link.inbound..][..marginal.len()];
                for (marginal, message) in marginal.iter_mut().zip(inbound) {
                    *marginal += message;
                }
            }
        }
        marginal.iter().copied().fold(f64::INFINITY, |a, b| if b < a { b } else { a })
    }

    fn send_all(&mut self, node: u32, direction: Direction) -> (f64, u32) {
        let (mut bound, mut links) = (0.0, 0);
        let share = self.graph.share[node as usize];
        for link in 0..self.graph.links(node).len() {
            if self.graph.links(node)[link].direction == direction {
                bound += self.send(node, link, share, true);
                links += 1;
            }
        }
        (bound, links)
    }

    /// Sends a share of a node's marginal over a link, less what came from there if `less`. The message is shifted to
    /// a minimum of 0; the shift is returned.
    fn send(&mut self, node: u32, link: usize, share: f64, less: bool) -> f64 {
        let link = self.graph.links(node)[link];
        let marginal = &self.marginal[self.graph.labels(node)];
        let width = self.graph.labels(link.other).len();
        self.scratch.clear();
        self.scratch.resize(width, f64::INFINITY);
        let matrix = &self.graph.entries[link.matrix..][..width * marginal.len()];
        for (label, row) in matrix.chunks_exact(width).enumerate() {
            let mut base = marginal[label] * share;
            if less {
                base -= self.messages[link.inbound + label];
            }
            for (least, entry) in self.scratch.iter_mut().zip(row) {
                let value = base + entry;
                *least = if value < *least { value } else { *least };
            }
        }
        let shift = self.scratch.iter().copied().fold(f64::INFINITY, |a, b| if b < a { b } else { a });
        for (message, value) in self.messages[link.outbound..][..width].iter_mut().zip(&self.scratch) {
            *message = value - shift;
        }
        shift
    }

    /// What the prices times `factor` take back from the bound: the price of the slack.
    pub(crate) fn slack_value(&self, factor: f64) -> f64 {
        self.prices.iter().zip(&self.model.slack).map(|(price, &slack)| price * slack as f64).sum::<f64>()
            * factor
    }

    /// Usage of the best labels less the slack, per clique.
    fn excess(&self) -> Vec<f64> {
        self.model.left(&self.best).iter().map(|&left| -left as f64).collect()
    }

    /// A subgradient step from the last sweep, of the length at which the bound would rise by `rise` if it were
    /// linear. Part of the last direction is kept.
    pub(crate) fn step(&mut self, rise: f64, momentum: f64) {
        let excess = self.excess();
        let mut norm = 0.0;
        for ((direction, &excess), price) in self.direction.iter_mut().zip(&excess).zip(&self.prices) {
            *direction = excess + momentum * *direction;
            if *price > 0.0 || *direction > 0.0 {
                norm += *direction * *direction;
            }
        }
        if norm > 0.0 {
            let length = rise / norm;
            for (price, direction) in self.prices.iter_mut().zip(&self.direction) {
                *price = (*price + length * direction).max(0.0);
            }
        }
    }

    pub(crate) fn forget_direction(&mut self) {
        self.direction.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Edge, Node, Parts};
    use crate::pool::Pool;

    /// On a tree, messages know everything, so one sweep bounds the least cost exactly and what is read off has it.
    #[test]
    fn trees_are_read_off_at_their_optimum() {
        for seed in 0..50 {
            let mut random = fastrand::Rng::with_seed(seed);
            let count = random.usize(2..=7);
            let mut draw = |many: usize| -> Vec<i64> { (0..many).map(|_| random.i64(0..50)).collect() };
            let nodes = (0..count).map(|_| Node { cost: draw(3), pieces: Vec::new() }).collect();
            let mut matrices = Pool::new();
            let tables: Vec<_> = (1..count).map(|_| matrices.intern(&draw(9))).collect();
            let parent: Vec<usize> = (1..count).map(|node| random.usize(0..node)).collect();
            let edge =
                |place: usize| Edge { a: parent[place] as u32, b: place as u32 + 1, matrix: tables[place] };
            let edges = (0..count - 1).map(edge).collect();
            let model = Parts { constant: 0, nodes, edges, matrices, slack: Vec::new(), cliques: Vec::new() }
                .assemble();
            let choices = (0..3usize.pow(count as u32)).map(|number| {
                (0..count).map(|node| (number / 3usize.pow(node as u32) % 3) as u32).collect::<Vec<u32>>()
            });
            let least = choices.map(|choice| model.cost(&choice)).min().unwrap();
            let graph = Graph::of(&model, 1e6);
            let mut dual = Dual::new(&model, &graph);
            dual.sweep();
            assert_eq!(dual.bound.round() as i64 + model.constant, least, "seed {seed}");
            assert_eq!(model.cost(&dual.decode()), least, "seed {seed}");
        }
    }
}

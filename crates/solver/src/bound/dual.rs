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

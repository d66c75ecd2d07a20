//! Descent by tree blocks (F. Hamze and N. de Freitas, UAI 2004): the labels on a random induced tree are chosen anew,
//! all at once and exactly, by dynamic programming given the labels around it. Memory counts through prices while a
//! block is optimised, and as the limit it is when the outcome is accepted or not.

use crate::bound::Graph;
use crate::model::Model;

use super::memory::Memory;

/// A choice within memory, and what each change to it would cost.
pub(crate) struct Descent<'m> {
    model: &'m Model,
    graph: &'m Graph,
    choice: Vec<u32>,
    /// Per label: the node's cost and its edges' given the neighbours' labels.
    given: Vec<f64>,
    memory: Memory,
    /// Per label: what its usage costs at the prices.
    priced: Vec<f64>,
    /// How often each node was reached from the tree, per stamp.
    reached: Vec<(u32, u32)>,
    stamp: u32,
    tree: Vec<Member>,
    /// Each tree node's position in `tree`.
    position: Vec<u32>,
    values: Vec<f64>,
    arguments: Vec<u32>,
}

/// A node of the tree.
struct Member {
    node: u32,
    /// The position of the parent in the tree, and the link to it.
    parent: Option<(usize, usize)>,
    /// Where its labels start in `values`, and its parent's in `arguments`.
    start: usize,
    argument_start: usize,
}

impl<'m> Descent<'m> {
    pub(crate) fn new(model: &'m Model, graph: &'m Graph, choice: Vec<u32>, prices: &[f64]) -> Self {
        let labels = graph.starts[graph.nodes()];
        let mut descent = Descent {
            model,
            graph,
            memory: Memory::new(&model.left(&choice)),
            choice,
            given: vec![0.0; labels],
            priced: vec![0.0; labels],
            reached: vec![(0, 0); graph.nodes()],
            stamp: 0,
            tree: Vec::new(),
            position: vec![0; graph.nodes()],
            values: Vec::new(),
            arguments: Vec::new(),
        };
        descent.set_given();
        descent.set_prices(prices);
        descent
    }

    pub(crate) fn choice(&self) -> &[u32] {
        &self.choice
    }

    fn set_given(&mut self) {
        for node in 0..self.graph.nodes() as u32 {
            let range = self.graph.labels(node);
            let given = &mut self.given[range];
            for (given, &cost) in given.iter_mut().zip(&self.model.nodes[node as usize].cost) {
                *given = (cost as f64).min(self.graph.infinite);
            }
            for link in self.graph.links(node) {
                let width = self.graph.labels(link.other).len();
                let column = self.choice[link.other as usize] as usize;
                for (row, given) in given.iter_mut().enumerate() {
                    *given += self.graph.entries[link.matrix + row * width + column];
                }
            }
        }
    }

    pub(crate) fn set_prices(&mut self, prices: &[f64]) {
        let mut sums = vec![0.0];
        let mut sum = 0.0;
        for price in prices {
            sum += price;
            sums.push(sum);
        }
        for (node, labels) in self.model.nodes.iter().enumerate() {
            let range = self.graph.labels(node as u32);
            let priced = &mut self.priced[range];
            priced.fill(0.0);
            for piece in &labels.pieces {
                let price = sums[piece.to as usize] - sums[piece.from as usize];
                for (priced, &usage) in priced.iter_mut().zip(&piece.usage) {
                    *priced += usage as f64 * price;
                }
            }
        }
    }

    /// Optimises one block of at most `cap` nodes with usage at `rho` times the prices. Gives by how much the cost
    /// itself changed, and the work done.
    pub(crate) fn block(&mut self, cap: usize, rho: f64, random: &mut fastrand::Rng) -> (f64, u64) {
        let mut work = self.grow(cap, random);
        work += self.optimise(rho);
        let (before, after) = self.labels_before_and_after();
        if before == after {
            return (0.0, work);
        }
        for (member, (&old, &new)) in self.tree.iter().zip(before.iter().zip(&after)) {
            shift_memory(self.model, &mut self.memory, member.node, old, new);
        }
        if self.memory.least() < 0 {
            for (member, (&old, &new)) in self.tree.iter().zip(before.iter().zip(&after)) {
                shift_memory(self.model, &mut self.memory, member.node, new, old);
            }
            return (0.0, work + 16 * self.tree.len() as u64);
        }
        let mut change = 0.0;
        for index in 0..self.tree.len() {
            if before[index] != after[index] {
                let (delta, more) = self.relabel(self.tree[index].node, after[index]);
                change += delta;
                work += more;
            }
        }
        (change, work)
    }

    /// Gives a node another label; the memory is up to date already. Returns by how much the cost changed.
    fn relabel(&mut self, node: u32, label: u32) -> (f64, u64) {
        let range = self.graph.labels(node);
        let old = std::mem::replace(&mut self.choice[node as usize], label);
        let change = self.given[range.start + label as usize] - self.given[range.start + old as usize];
        let mut work = 0;
        for link in self.graph.links(node) {
            let others = self.graph.labels(link.other);
            let width = others.len();
            let old_row = &self.graph.entries[link.matrix + old as usize * width..][..width];
            let new_row = &self.graph.entries[link.matrix + label as usize * width..][..width];
            for ((given, old), new) in self.given[others].iter_mut().zip(old_row).zip(new_row) {
                *given += new - old;
            }
            work += width as u64;
        }
        (change, work)
    }

    /// Grows a random induced tree.
    fn grow(&mut self, cap: usize, random: &mut fastrand::Rng) -> u64 {
        self.stamp += 1;
        self.tree.clear();
        let (mut start, mut argument_start) = (0, 0);
        let mut frontier: Vec<(u32, Option<(usize, usize)>)> =
            vec![(random.u32(0..self.graph.nodes() as u32), None)];
        let mut work = 0;
        while !frontier.is_empty() && self.tree.len() < cap {
            let (node, parent) = frontier.swap_remove(random.usize(0..frontier.len()));
            let (stamp, times) = self.reached[node as usize];
            // A node that was reached twice would close a cycle.
            if stamp == self.stamp && times > 1 {
                continue;
            }
            let position = self.tree.len();
            self.position[node as usize] = position as u32;
            self.reached[node as usize] = (self.stamp, 2);
            self.tree.push(Member { node, parent, start, argument_start });
            let labels = self.graph.labels(node).len();
            start += labels;
            work += labels as u64 + 16;
            if let Some((parent, _)) = parent {
                argument_start += self.graph.labels(self.tree[parent].node).len();
            }
            for link in self.graph.links(node) {
                let (stamp, times) = &mut self.reached[link.other as usize];
                if *stamp == self.stamp {
                    *times += 1;
                } else {
                    (*stamp, *times) = (self.stamp, 1);
                    frontier.push((link.other, Some((position, link.twin as usize))));
                }
                work += 1;
            }
        }
        self.values.clear();
        self.values.resize(start, 0.0);
        self.arguments.clear();
        self.arguments.resize(argument_start, 0);
        work
    }

    /// Messages from the leaves to the root.
    fn optimise(&mut self, rho: f64) -> u64 {
        let mut work = 0;
        for member in &self.tree {
            let range = self.graph.labels(member.node);
            let values = &mut self.values[member.start..][..range.len()];
            for ((value, given), priced) in
                values.iter_mut().zip(&self.given[range.clone()]).zip(&self.priced[range])
            {
                *value += given + rho * priced;
            }
            if let Some((parent, link)) = member.parent {
                // What the tree's own edges cost with the labels of before is not given any more.
                let link = &self.graph.links(member.node)[link];
                let parent = &self.tree[parent];
                let width = self.graph.labels(parent.node).len();
                let above = self.choice[parent.node as usize] as usize;
                let below = self.choice[member.node as usize] as usize;
                for (row, value) in values.iter_mut().enumerate() {
                    *value -= self.graph.entries[link.matrix + row * width + above];
                }
                let row = &self.graph.entries[link.matrix + below * width..][..width];
                for (value, entry) in self.values[parent.start..][..width].iter_mut().zip(row) {
                    *value -= entry;
                }
            }
        }
        let mut message: Vec<f64> = Vec::new();
        for member in self.tree.iter().rev() {
            let Some((parent, link)) = member.parent else { continue };
            let link = &self.graph.links(member.node)[link];
            let parent = &self.tree[parent];
            let width = self.graph.labels(parent.node).len();
            let size = self.graph.labels(member.node).len();
            let arguments = &mut self.arguments[member.argument_start..][..width];
            message.clear();
            message.resize(width, f64::INFINITY);
            for label in 0..size {
                let base = self.values[member.start + label];
                let row = &self.graph.entries[link.matrix + label * width..][..width];
                for ((least, argument), entry) in message.iter_mut().zip(arguments.iter_mut()).zip(row) {
                    let value = base + entry;
                    if value < *least {
                        (*least, *argument) = (value, label as u32);
                    }
                }
            }
            for (value, message) in self.values[parent.start..][..width].iter_mut().zip(&message) {
                *value += message;
            }
            work += (size * width) as u64 + 16;
        }
        work
    }

    /// Reads the labels off, from the root to the leaves.
    fn labels_before_and_after(&self) -> (Vec<u32>, Vec<u32>) {
        let mut after: Vec<u32> = Vec::with_capacity(self.tree.len());
        let mut before = Vec::with_capacity(self.tree.len());
        for member in &self.tree {
            before.push(self.choice[member.node as usize]);
            let label = match member.parent {
                Some((parent, _)) => self.arguments[member.argument_start + after[parent] as usize],
                None => {
                    let values = &self.values[member.start..][..self.graph.labels(member.node).len()];
                    let mut best = 0;
                    for (label, value) in values.iter().enumerate() {
                        if *value < values[best] {
                            best = label;
                        }
                    }
                    best as u32
                }
            };
            after.push(label);
        }
        (before, after)
    }
}

fn shift_memory(model: &Model, memory: &mut Memory, node: u32, old: u32, new: u32) {
    if old != new {
        for piece in &model.nodes[node as usize].pieces {
            memory.take(piece.from, piece.to, piece.usage[new as usize] - piece.usage[old as usize]);
        }
    }
}

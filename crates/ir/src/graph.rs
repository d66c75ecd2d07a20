//! Programs as graphs, for petgraph's algorithms.
//!
//! The module is the truth; these graphs are made from it inside an analysis and thrown away when it changes. Nodes
//! are numbered in program order, and neighbours come in ascending order, so that what an algorithm does with equal
//! choices is the same in every run.
//!
//! `petgraph::algo::toposort(&graph, None)` orders a [`DataflowGraph`], `petgraph::algo::kosaraju_scc(&graph)` finds its
//! cycles (not `tarjan_scc`, which recurses and overflows the stack on long chains).

use petgraph::Direction;
use petgraph::algo::dominators::simple_fast;
use petgraph::visit::{
    GraphBase, GraphProp, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, NodeCount,
    NodeIndexable, VisitMap, Visitable,
};
use rustc_hash::FxHashMap;

use crate::{BlockId, Module, OpId, RegionId};

/// A directed graph over dense nodes, both ways stored as one flat list each.
#[derive(Clone, Debug, Default)]
struct Adjacency {
    successor_start: Vec<u32>,
    successors: Vec<u32>,
    predecessor_start: Vec<u32>,
    predecessors: Vec<u32>,
}

impl Adjacency {
    /// Edges may repeat; each is kept once.
    fn new(node_count: usize, mut edges: Vec<(u32, u32)>) -> Adjacency {
        edges.sort_unstable();
        edges.dedup();
        let (successor_start, successors) = flatten(node_count, &edges);
        for edge in &mut edges {
            *edge = (edge.1, edge.0);
        }
        edges.sort_unstable();
        let (predecessor_start, predecessors) = flatten(node_count, &edges);
        Adjacency { successor_start, successors, predecessor_start, predecessors }
    }

    fn neighbors(&self, node: u32, direction: Direction) -> &[u32] {
        let (starts, list) = match direction {
            Direction::Outgoing => (&self.successor_start, &self.successors),
            Direction::Incoming => (&self.predecessor_start, &self.predecessors),
        };
        &list[starts[node as usize] as usize..starts[node as usize + 1] as usize]
    }
}

fn flatten(node_count: usize, sorted: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; node_count + 1];
    for &(from, _) in sorted {
        starts[from as usize + 1] += 1;
    }
    for node in 0..node_count {
        starts[node + 1] += starts[node];
    }
    (starts, sorted.iter().map(|&(_, to)| to).collect())
}

/// Which ops of one block feed which. An op with regions is one node: it uses whatever its inner ops use.
#[derive(Clone, Debug)]
pub struct DataflowGraph {
    ops: Vec<OpId>,
    nodes: FxHashMap<OpId, u32>,
    adjacency: Adjacency,
}

impl DataflowGraph {
    /// The graph of a block's ops.
    pub fn of_block(module: &Module, block: BlockId) -> DataflowGraph {
        let ops: Vec<OpId> = module.ops(block).collect();
        let nodes: FxHashMap<OpId, u32> =
            ops.iter().enumerate().map(|(node, &op)| (op, node as u32)).collect();
        let mut edges = Vec::new();
        for (node, &op) in ops.iter().enumerate() {
            for inner in module.walk(op) {
                for operand in module.operands(inner) {
                    // A definition inside `op` itself is no edge of this graph.
                    let definition = module.defining_op(operand).and_then(|def| nodes.get(&def));
                    if let Some(&definition) = definition.filter(|&&definition| definition != node as u32) {
                        edges.push((definition, node as u32));
                    }
                }
            }
        }
        let adjacency = Adjacency::new(ops.len(), edges);
        DataflowGraph { ops, nodes, adjacency }
    }

    /// The op of a node.
    pub fn op(&self, node: u32) -> OpId {
        self.ops[node as usize]
    }

    /// The node of an op of the block.
    pub fn node(&self, op: OpId) -> Option<u32> {
        self.nodes.get(&op).copied()
    }

    /// The ops that use a result of `node`, directly or inside.
    pub fn users(&self, node: u32) -> &[u32] {
        self.adjacency.neighbors(node, Direction::Outgoing)
    }

    /// The ops that `node` uses results of, directly or inside.
    pub fn inputs(&self, node: u32) -> &[u32] {
        self.adjacency.neighbors(node, Direction::Incoming)
    }

    /// For every node the length of the longest path that leads to it.
    ///
    /// # Errors
    /// A node on a cycle: the block is not in topological order and cannot be brought into one.
    pub fn levels(&self) -> Result<Vec<u32>, u32> {
        let order = petgraph::algo::toposort(self, None).map_err(|cycle| cycle.node_id())?;
        let mut levels = vec![0; self.ops.len()];
        for node in order {
            for &user in self.users(node) {
                levels[user as usize] = levels[user as usize].max(levels[node as usize] + 1);
            }
        }
        Ok(levels)
    }
}

/// Which blocks of a region continue at which.
#[derive(Clone, Debug)]
pub struct BlockGraph {
    blocks: Vec<BlockId>,
    nodes: FxHashMap<BlockId, u32>,
    adjacency: Adjacency,
}

impl BlockGraph {
    /// The graph of a region's blocks.
    pub fn of_region(module: &Module, region: RegionId) -> BlockGraph {
        let blocks = module.blocks(region).to_vec();
        let nodes: FxHashMap<BlockId, u32> =
            blocks.iter().enumerate().map(|(node, &block)| (block, node as u32)).collect();
        let mut edges = Vec::new();
        for (node, &block) in blocks.iter().enumerate() {
            if let Some(last) = module.last_op(block) {
                let targets =
                    module.successors(last).iter().filter_map(|successor| nodes.get(&successor.block));
                edges.extend(targets.map(|&target| (node as u32, target)));
            }
        }
        let adjacency = Adjacency::new(blocks.len(), edges);
        BlockGraph { blocks, nodes, adjacency }
    }

    /// The block of a node.
    pub fn block(&self, node: u32) -> BlockId {
        self.blocks[node as usize]
    }

    /// The node of a block of the region.
    pub fn node(&self, block: BlockId) -> Option<u32> {
        self.nodes.get(&block).copied()
    }
}

/// The visit traits that petgraph's algorithms ask for, from an [`Adjacency`].
macro_rules! petgraph_views {
    ($($graph:ty),*) => {$(
        impl GraphBase for $graph {
            type NodeId = u32;
            type EdgeId = (u32, u32);
        }

        impl GraphProp for $graph {
            type EdgeType = petgraph::Directed;
        }

        impl NodeCount for $graph {
            fn node_count(&self) -> usize {
                self.nodes.len()
            }
        }

        impl NodeIndexable for $graph {
            fn node_bound(&self) -> usize {
                self.nodes.len()
            }

            fn to_index(&self, node: u32) -> usize {
                node as usize
            }

            fn from_index(&self, index: usize) -> u32 {
                index as u32
            }
        }

        impl Visitable for $graph {
            type Map = Visited;

            fn visit_map(&self) -> Visited {
                Visited(vec![false; self.nodes.len()])
            }

            fn reset_map(&self, map: &mut Visited) {
                map.0.clear();
                map.0.resize(self.nodes.len(), false);
            }
        }

        impl<'a> IntoNeighbors for &'a $graph {
            type Neighbors = std::iter::Copied<std::slice::Iter<'a, u32>>;

            fn neighbors(self, node: u32) -> Self::Neighbors {
                self.adjacency.neighbors(node, Direction::Outgoing).iter().copied()
            }
        }

        impl<'a> IntoNeighborsDirected for &'a $graph {
            type NeighborsDirected = std::iter::Copied<std::slice::Iter<'a, u32>>;

            fn neighbors_directed(self, node: u32, direction: Direction) -> Self::NeighborsDirected {
                self.adjacency.neighbors(node, direction).iter().copied()
            }
        }

        impl IntoNodeIdentifiers for &$graph {
            type NodeIdentifiers = std::ops::Range<u32>;

            fn node_identifiers(self) -> std::ops::Range<u32> {
                0..self.nodes.len() as u32
            }
        }
    )*};
}

petgraph_views!(DataflowGraph, BlockGraph);

/// The nodes that a search has seen.
#[derive(Clone, Debug, Default)]
pub struct Visited(Vec<bool>);

impl VisitMap<u32> for Visited {
    fn visit(&mut self, node: u32) -> bool {
        !std::mem::replace(&mut self.0[node as usize], true)
    }

    fn is_visited(&self, node: &u32) -> bool {
        self.0[*node as usize]
    }

    fn unvisit(&mut self, node: u32) -> bool {
        std::mem::replace(&mut self.0[node as usize], false)
    }
}

/// Which blocks of a region are on every way to which, as a tree: each block stands right below the nearest other one
/// that is on every way to it.
///
/// The blocks that a block dominates are those below it. Counted in pre-order they follow it directly, so that two
/// comparisons tell whether one is among them.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    nodes: FxHashMap<BlockId, u32>,
    /// For each node the blocks right below it.
    children: Vec<Vec<BlockId>>,
    /// For each node its place in pre-order, and the last place below it; none for a block that no way leads to.
    places: Vec<Option<(u32, u32)>>,
}

impl DominatorTree {
    /// The tree of a region's blocks.
    pub fn of_region(module: &Module, region: RegionId) -> DominatorTree {
        let BlockGraph { blocks, nodes, adjacency } = BlockGraph::of_region(module, region);
        let mut children = vec![Vec::new(); blocks.len()];
        let mut places = vec![None; blocks.len()];
        if blocks.is_empty() {
            return DominatorTree { nodes, children, places };
        }
        let graph = BlockGraph { blocks, nodes, adjacency };
        let dominators = simple_fast(&graph, 0);
        let parent = |node| dominators.immediate_dominator(node).map(|parent| parent as usize);
        for node in 1..places.len() as u32 {
            if let Some(parent) = parent(node) {
                children[parent].push(graph.block(node));
            }
        }
        let mut order = Vec::new();
        let mut pending = vec![0u32];
        while let Some(node) = pending.pop() {
            let place = order.len() as u32;
            places[node as usize] = Some((place, place));
            order.push(node);
            pending.extend(children[node as usize].iter().rev().map(|block| graph.nodes[block]));
        }
        for &node in order.iter().rev() {
            let last = places[node as usize].map(|(_, last)| last);
            if let (Some(last), Some((_, above))) =
                (last, parent(node).and_then(|parent| places[parent].as_mut()))
            {
                *above = last.max(*above);
            }
        }
        DominatorTree { nodes: graph.nodes, children, places }
    }

    /// Whether every way from the region's entry to `block` leads through `dominator`. A block that no way leads to is
    /// dominated by all; a block of another region dominates none and is dominated by none.
    pub fn dominates(&self, dominator: BlockId, block: BlockId) -> bool {
        let (Some(&dominator), Some(&block)) = (self.nodes.get(&dominator), self.nodes.get(&block)) else {
            return false;
        };
        match (self.places[dominator as usize], self.places[block as usize]) {
            (_, None) => true,
            (None, Some(_)) => dominator == block,
            (Some((first, last)), Some((place, _))) => (first..=last).contains(&place),
        }
    }

    /// The blocks right below a block, in the order of the region.
    pub fn children(&self, block: BlockId) -> &[BlockId] {
        self.nodes.get(&block).map_or(&[], |&node| &self.children[node as usize])
    }
}

/// Which block dominates which, anywhere in a module. Regions are looked at when they are first asked about.
#[derive(Debug, Default)]
pub struct Dominance {
    trees: FxHashMap<RegionId, DominatorTree>,
}

impl Dominance {
    /// Nothing looked at yet.
    pub fn new() -> Dominance {
        Dominance::default()
    }

    /// Whether every way from the region's entry to `block` leads through `dominator`; both must be in one region. A
    /// block that no way leads to is dominated by all.
    pub fn dominates(&mut self, module: &Module, dominator: BlockId, block: BlockId) -> bool {
        if dominator == block {
            return true;
        }
        let Some(region) = module.region_of(block) else { return false };
        let tree = self.trees.entry(region).or_insert_with(|| DominatorTree::of_region(module, region));
        tree.dominates(dominator, block)
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use petgraph::algo::toposort;

    use super::*;
    use crate::testing::{SCOPE, any_op, end, function, module};
    use crate::{Builder, ValueId};

    /// Which blocks are reached from `from` without entering `avoided`.
    fn reached(successors: &[Vec<usize>], from: usize, avoided: usize) -> Vec<bool> {
        let mut seen = vec![false; successors.len()];
        let mut pending = vec![from];
        while let Some(block) = pending.pop() {
            if block != avoided && !std::mem::replace(&mut seen[block], true) {
                pending.extend(&successors[block]);
            }
        }
        seen
    }

    #[test]
    fn dominance_agrees_with_its_definition() {
        for seed in 0..300 {
            let mut rng = Rng::with_seed(seed);
            let mut module = module();
            let (op, entry) = function(&mut module, "f");
            let region = module.region(op, 0);
            let count = rng.usize(1..9);
            let mut blocks = vec![entry];
            blocks.extend((1..count).map(|_| module.append_block(region)));
            let successors: Vec<Vec<usize>> = (0..count)
                .map(|_| (0..rng.usize(0..3)).filter(|_| count > 1).map(|_| rng.usize(1..count)).collect())
                .collect();
            for (block, next) in blocks.iter().zip(&successors) {
                let next: Vec<BlockId> = next.iter().map(|&next| blocks[next]).collect();
                end(&mut module, *block, &next);
            }
            let mut dominance = Dominance::new();
            let reachable = reached(&successors, 0, usize::MAX);
            for a in 0..count {
                let without = reached(&successors, 0, a);
                for b in 0..count {
                    let expected = a == b || !reachable[b] || !without[b];
                    let found = dominance.dominates(&module, blocks[a], blocks[b]);
                    assert_eq!(found, expected, "seed {seed}: {a} over {b} in {successors:?}");
                }
            }
        }
    }

    #[test]
    fn levels_are_the_longest_paths() {
        for seed in 0..100 {
            let mut rng = Rng::with_seed(seed);
            let mut module = module();
            let (_, block) = function(&mut module, "f");
            let mut values: Vec<ValueId> = Vec::new();
            let mut expected: Vec<u32> = Vec::new();
            for _ in 0..rng.usize(0..30) {
                let picked: Vec<usize> = (0..rng.usize(0..3))
                    .filter(|_| !values.is_empty())
                    .map(|_| rng.usize(0..values.len()))
                    .collect();
                let operands: Vec<ValueId> = picked.iter().map(|&index| values[index]).collect();
                let op = if rng.bool() {
                    any_op(&mut module, block, &operands, 1)
                } else {
                    // The uses may be inside.
                    let ty = crate::testing::f32(&mut module);
                    let op = Builder::at_end(&mut module, block).op(&SCOPE).region().result(ty).build();
                    let region = module.region(op, 0);
                    let inner = module.append_block(region);
                    any_op(&mut module, inner, &operands, 1);
                    op
                };
                values.push(module.result(op, 0));
                expected.push(picked.iter().map(|&index| expected[index] + 1).max().unwrap_or(0));
            }
            let graph = DataflowGraph::of_block(&module, block);
            assert_eq!(graph.levels(), Ok(expected), "seed {seed}");
            let order = toposort(&graph, None).unwrap();
            let mut position = vec![0; order.len()];
            order.iter().enumerate().for_each(|(at, &node)| position[node as usize] = at);
            for &node in &order {
                assert!(
                    graph.users(node).iter().all(|&user| position[node as usize] < position[user as usize])
                );
                assert!(graph.inputs(node).iter().all(|&input| graph.users(input).contains(&node)));
            }
        }
    }

    #[test]
    fn equal_choices_are_made_alike() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let source = any_op(&mut module, block, &[], 1);
        let x = module.result(source, 0);
        let middle: Vec<OpId> = (0..3).map(|_| any_op(&mut module, block, &[x, x], 1)).collect();
        let results: Vec<ValueId> = middle.iter().map(|&op| module.result(op, 0)).collect();
        any_op(&mut module, block, &results, 0);
        let graph = DataflowGraph::of_block(&module, block);
        assert_eq!(graph.users(0), [1, 2, 3]);
        assert_eq!(graph.inputs(4), [1, 2, 3]);
        let order = toposort(&graph, None).unwrap();
        assert_eq!(order, [0, 1, 2, 3, 4]);
        assert_eq!(graph.node(graph.op(2)), Some(2));
    }

    #[test]
    fn a_cycle_has_no_levels() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let first = any_op(&mut module, block, &[], 1);
        let second = any_op(&mut module, block, &[], 1);
        let (x, y) = (module.result(first, 0), module.result(second, 0));
        module.set_operands(first, &[y]);
        module.set_operands(second, &[x]);
        assert!(DataflowGraph::of_block(&module, block).levels().is_err());
    }
}

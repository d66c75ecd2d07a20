//! Programs as graphs, for petgraph's algorithms.
//!
//! The module is the truth; these graphs are made from it inside an analysis and thrown away when it changes. Nodes
//! are numbered in program order, and neighbours come in ascending order, so that what an algorithm does with equal
//! choices is the same in every run.
//!
//! `petgraph::algo::toposort(&graph, None)` orders a [`DataflowGraph`], `petgraph::algo::kosaraju_scc(&graph)` finds its
//! cycles (not `tarjan_scc`, which recurses and overflows the stack on long chains).

use petgraph::Direction;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::visit::{
    GraphBase, GraphProp, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, NodeCount,
    NodeIndexable, VisitMap, Visitable,
};
use rustc_hash::FxHashMap;

use crate::{BlockId, Module, OpId, RegionId, SecondaryMap};

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

/// Which block is on every way to which. Regions are looked at when they are first asked about.
#[derive(Debug, Default)]
pub struct Dominance {
    regions: SecondaryMap<RegionId, Option<usize>>,
    trees: Vec<(BlockGraph, Dominators<u32>)>,
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
        let index = match self.regions[region] {
            Some(index) => index,
            None => {
                let graph = BlockGraph::of_region(module, region);
                let tree = simple_fast(&graph, 0);
                self.trees.push((graph, tree));
                *self.regions[region].insert(self.trees.len() - 1)
            }
        };
        let (graph, tree) = &self.trees[index];
        match (graph.node(dominator), graph.node(block)) {
            (Some(dominator), Some(block)) => match tree.dominators(block) {
                Some(mut dominators) => dominators.any(|node| node == dominator),
                None => true,
            },
            _ => false,
        }
    }
}

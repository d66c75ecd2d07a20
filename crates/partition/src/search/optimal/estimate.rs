//! What is known before a search: what no plan costs less than, and how much work the bound over several axes takes.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};
use smallvec::SmallVec;
use tofu_machine::Kernel;

use crate::domain::Symmetry;
use crate::graph::{Graph, TensorId};
use crate::price::{Objective, Prices};
use crate::search::Request;
use crate::states::Class;

/// What it takes to make an entry of the problem's matrices, in nanoseconds, which are the units of work.
pub(super) const ENTRY: u64 = 60;

/// What it takes to give the solver a node, before it works on it.
pub(super) const NODE: u64 = 1_500;

/// What it takes the solver to look at a state of a tensor of each kind, and of each tensor.
const OF_KIND: u64 = 8_000;
const OF_ALL: u64 = 1_000;

/// What no plan costs less than: every kernel with its operations and its memory traffic spread evenly over all devices.
pub(super) fn least_compute(request: &Request<'_>, prices: &Prices<'_>) -> i128 {
    let graph = request.graph;
    let devices = prices.mesh.devices();
    let mut sum = 0;
    for op in &graph.ops {
        let Some(info) = graph.info(op) else { continue };
        let in_memory =
            |tensor: &Option<u32>| tensor.is_some_and(|tensor| graph.tensors[tensor as usize].in_memory);
        let read = op
            .operands
            .iter()
            .zip(&info.reads)
            .filter(|(tensor, _)| in_memory(tensor))
            .map(|(_, &bytes)| bytes);
        let written = op.results.iter().filter(|tensor| in_memory(tensor)).flatten();
        let written = written.map(|&tensor| graph.tensors[tensor as usize].bytes());
        let bytes = read.chain(written).fold(0u64, u64::saturating_add);
        let kernel = Kernel {
            op: info.name,
            element: info.element,
            flops: info.flops / devices,
            bytes: bytes / devices,
        };
        if request.objective == Objective::Time {
            let time = request.machine.least_kernel_time(&kernel).picoseconds();
            let launch = match op.results.iter().any(&in_memory) {
                true => 0,
                false => request.machine.device().launch.picoseconds(),
            };
            sum += i128::from(time.saturating_sub(launch)) * i128::from(op.times);
        }
    }
    sum
}

/// What it takes to bound the cost of everything on every axis. Ops that are alike share what is made for them.
pub(super) fn predicted(request: &Request<'_>, prices: &Prices<'_>, symmetry: &Symmetry) -> u64 {
    let graph = request.graph;
    // So many multisets of axes that are alike, times so many lists of the others.
    let axes = 0..prices.mesh.axes().len();
    let many = |kinds: u64| -> u64 {
        axes.clone().fold(1u64, |product, axis| {
            let before = symmetry.before(axis) as u64;
            product.saturating_mul(kinds + before) / (before + 1)
        })
    };
    let states = |class: Class, shape: &[u64]| {
        let splits = shape.iter().filter(|&&extent| extent > 1).count() as u64;
        let kinds = 1 + splits + u64::from(class.partials.count_ones());
        // With a copy or without on each axis.
        many(if class.has_copies { 2 * kinds - 1 } else { kinds })
    };
    let mut seen = FxHashSet::default();
    let (mut of_kinds, mut of_all): (u64, u64) = (0, 0);
    let mut kinds_seen = FxHashSet::default();
    for (tensor, kind) in kinds(graph).into_iter().enumerate() {
        let own = states(Class::of(graph, tensor as TensorId), &graph.tensors[tensor].shape);
        of_all = of_all.saturating_add(own);
        if kinds_seen.insert(kind) {
            of_kinds = of_kinds.saturating_add(own);
        }
    }
    let mut entries: u64 = 0;
    for op in &graph.ops {
        let Some(info) = graph.info(op) else { continue };
        let tensors = op.operands.iter().chain(&op.results).copied();
        let classes: SmallVec<[_; 6]> = tensors
            .map(|tensor| {
                tensor.map(|tensor| (Class::of(graph, tensor), graph.tensors[tensor as usize].in_memory))
            })
            .collect();
        if !seen.insert((op.kind, op.times, classes)) {
            continue;
        }
        let ways = many((1 + info.analysis.strategies.len() + info.analysis.linear.len()) as u64);
        for &tensor in op.operands.iter().chain(&op.results).flatten() {
            let shape = &graph.tensors[tensor as usize].shape;
            entries = entries.saturating_add(ways.saturating_mul(states(Class::of(graph, tensor), shape)));
        }
    }
    let mut linked = FxHashSet::default();
    for link in &graph.links {
        let ends = [link.from, link.to];
        let classes = ends.map(|tensor| Class::of(graph, tensor));
        if linked.insert(classes) {
            let [from, to] =
                ends.map(|tensor| states(Class::of(graph, tensor), &graph.tensors[tensor as usize].shape));
            entries = entries.saturating_add(from.saturating_mul(to));
        }
    }
    let looked_at = of_kinds.saturating_mul(OF_KIND).saturating_add(of_all.saturating_mul(OF_ALL));
    entries.saturating_mul(ENTRY).saturating_add(looked_at)
}

/// Numbers that are equal for tensors whose surroundings are alike, as far as messages of the solver that are shared between
/// nodes look: two ops away.
fn kinds(graph: &Graph<'_>) -> Vec<u64> {
    let hash = |of: &dyn Fn(&mut FxHasher)| {
        let mut hasher = FxHasher::default();
        of(&mut hasher);
        hasher.finish()
    };
    let mut kinds: Vec<u64> = (0..graph.tensors.len())
        .map(|tensor| {
            let class = (Class::of(graph, tensor as TensorId), graph.tensors[tensor].in_memory);
            hash(&|hasher| class.hash(hasher))
        })
        .collect();
    for _ in 0..2 {
        let mut next = kinds.clone();
        for op in &graph.ops {
            let tensors = || op.operands.iter().chain(&op.results).enumerate();
            let own = hash(&|hasher| {
                (op.kind, op.times).hash(hasher);
                tensors().for_each(|(_, tensor)| tensor.map(|tensor| kinds[tensor as usize]).hash(hasher));
            });
            for (place, tensor) in tensors() {
                if let Some(tensor) = *tensor {
                    // In whatever order the ops stand.
                    let from = hash(&|hasher| (own, place).hash(hasher));
                    next[tensor as usize] = next[tensor as usize].wrapping_add(from);
                }
            }
        }
        kinds = next;
    }
    kinds
}

//! Common subexpression elimination: of equal pure ops, one of which is always executed before the other, keeps that one.
//!
//! The walk goes down the dominator tree and, from each op, into its regions. A hash table holds the ops that dominate
//! the current place; what a block adds is taken out when the walk leaves what the block dominates:
//!
//! ```text
//! ^entry: a ──► ^left:  a'   equal to a: replaced by it
//!         │             b
//!         └───► ^right: b'   equal to b, but neither dominates the other: both stay
//! ```
//!
//! Operands have been replaced before an op is looked at, so equal expressions of any depth are found in one walk
//! (dominator-based value numbering: Briggs, Cooper and Simpson, "Value Numbering", 1997). Two ops are equal if they are of one kind and
//! agree in attributes, operands and result types; ops with regions if, further, the digests of their regions and the
//! values used from outside agree. The inside of an isolated op is walked with a table of its own.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use tofu_dialect_func::Func;
use tofu_ir::{
    BlockId, Compared, Digest, DominatorTree, EntityId, Module, OpId, RegionId, Trait, ValueId, digest,
};
use tofu_pass::{Changed, Example, Pass, PassContext, PassResult, pass_options};

pass_options! {
    /// Merges equal ops: of two pure ops that agree in everything, the one that is always executed first remains.
    pub struct Cse;
}

impl Pass for Cse {
    const NAME: &'static str = "cse";
    type Anchor = Func;

    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = tensor.tanh %x
  %b = tensor.tanh %x
  %y = tensor.multiply %a, %b
  return %y
}",
        effect: "`%b` is `%a`; the product is that of `%a` and `%a`.",
    };

    const STATISTICS: &'static [(&'static str, &'static str)] =
        &[("merged ops", "Ops that an equal one was there for already.")];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let function = cx.op();
        let merged = merge_equal_ops(cx.module, function);
        cx.count("merged ops", merged);
        Ok(Changed::from(merged > 0))
    }
}

/// Merges equal ops in `root`, an isolated op. Gives the number of ops that were erased; those that remain come from all places that
/// they stand for.
pub fn merge_equal_ops(module: &mut Module, root: OpId) -> u64 {
    let mut walk = Walk {
        known: Known::default(),
        bodies: FxHashMap::default(),
        dominated: FxHashMap::default(),
        steps: Vec::new(),
        merged: Vec::new(),
    };
    walk.enter_regions(module, root);
    while let Some(step) = walk.steps.pop() {
        walk.step(module, step);
    }
    let erased = walk.merged.len() as u64;
    join_places(module, walk.merged);
    erased
}

struct Walk {
    known: Known,
    /// What ops with regions are compared by.
    bodies: FxHashMap<OpId, Body>,
    /// The blocks right below each block in the dominator tree, in regions of more than one.
    dominated: FxHashMap<BlockId, Vec<BlockId>>,
    /// What remains to be done, the next thing last. An explicit stack, since regions may nest deeply.
    steps: Vec<Step>,
    /// Ops that stay, each with one that it has replaced.
    merged: Vec<(OpId, OpId)>,
}

enum Step {
    /// Look at the blocks of a region.
    Region(RegionId),
    /// Look at a block and those that it dominates.
    Block(BlockId),
    /// Look at an op and those after it.
    Op(OpId),
    /// The regions of this op are done: compare it with others.
    Compare(OpId),
    /// Forget what was learned since there were so many entries.
    Forget(usize),
    /// Go on with the table from before an isolated op.
    Restore(Known),
}

impl Walk {
    fn step(&mut self, module: &mut Module, step: Step) {
        match step {
            Step::Region(region) => self.enter_region(module, region),
            Step::Block(block) => {
                self.steps.push(Step::Forget(self.known.log.len()));
                for &next in self.dominated.get(&block).into_iter().flatten().rev() {
                    self.steps.push(Step::Block(next));
                }
                self.steps.extend(module.first_op(block).map(Step::Op));
            }
            Step::Op(op) => {
                self.steps.extend(module.next_op(op).map(Step::Op));
                if module.region_count(op) == 0 {
                    self.compare(module, op);
                } else {
                    self.steps.push(Step::Compare(op));
                    self.enter_regions(module, op);
                }
            }
            Step::Compare(op) => self.compare(module, op),
            Step::Forget(count) => self.known.forget(count),
            Step::Restore(known) => self.known = known,
        }
    }

    fn enter_regions(&mut self, module: &Module, op: OpId) {
        if module.has(op, Trait::Isolated) {
            self.steps.push(Step::Restore(std::mem::take(&mut self.known)));
        }
        let regions: Vec<RegionId> = module.regions(op).collect();
        self.steps.extend(regions.into_iter().rev().map(Step::Region));
    }

    fn enter_region(&mut self, module: &Module, region: RegionId) {
        let Some(entry) = module.entry(region) else { return };
        self.steps.push(Step::Block(entry));
        if let blocks @ [_, _, ..] = module.blocks(region) {
            // Blocks that no way leads to are not in the tree; they are left alone.
            let tree = DominatorTree::of_region(module, region);
            self.dominated.extend(blocks.iter().map(|&block| (block, tree.children(block).to_vec())));
        }
    }

    fn compare(&mut self, module: &mut Module, op: OpId) {
        if module.has(op, Trait::Terminator) || module.result_count(op) == 0 || !module.is_pure(op) {
            return;
        }
        let body = (module.region_count(op) > 0).then(|| Body::of(module, op));
        let hash = hash_of(module, op, body.as_ref());
        match self.known.find(hash, |other| self.is_equal(module, op, body.as_ref(), other)) {
            None => {
                self.known.insert(hash, op);
                self.bodies.extend(body.map(|body| (op, body)));
            }
            Some(kept) => {
                self.merged.push((kept, op));
                let values: Vec<ValueId> = module.results(kept).collect();
                module.replace(op, &values);
            }
        }
    }

    fn is_equal(&self, module: &Module, op: OpId, body: Option<&Body>, other: OpId) -> bool {
        module.is(other, module.def(op))
            && module.attr_dict(other) == module.attr_dict(op)
            && module.operands(other).eq(module.operands(op))
            && module
                .results(other)
                .map(|value| module.ty(value))
                .eq(module.results(op).map(|value| module.ty(value)))
            && self.bodies.get(&other) == body
    }
}

/// The ops that dominate the current place, by hash.
#[derive(Default)]
struct Known {
    table: HashTable<(u64, OpId)>,
    /// The entries, oldest first.
    log: Vec<(u64, OpId)>,
}

impl Known {
    fn find(&self, hash: u64, mut is_equal: impl FnMut(OpId) -> bool) -> Option<OpId> {
        self.table
            .find(hash, |&(other_hash, other)| other_hash == hash && is_equal(other))
            .map(|entry| entry.1)
    }

    fn insert(&mut self, hash: u64, op: OpId) {
        self.table.insert_unique(hash, (hash, op), |entry| entry.0);
        self.log.push((hash, op));
    }

    fn forget(&mut self, count: usize) {
        for entry in self.log.drain(count..) {
            if let Ok(found) = self.table.find_entry(entry.0, |&other| other == entry) {
                found.remove();
            }
        }
    }
}

/// What is in an op: its structure, and the values that it uses from outside, in the order of their uses.
#[derive(PartialEq)]
struct Body {
    digest: Digest,
    outside: Vec<ValueId>,
}

impl Body {
    fn of(module: &Module, op: OpId) -> Body {
        let mut inside: FxHashSet<ValueId> = FxHashSet::default();
        for inner in module.walk(op) {
            inside.extend(module.results(inner));
            let blocks = module.regions(inner).flat_map(|region| module.blocks(region));
            inside.extend(blocks.flat_map(|&block| module.arguments(block)));
        }
        let used = module.walk(op).flat_map(|inner| module.operands(inner));
        let outside = used.filter(|value| !inside.contains(value)).collect();
        Body { digest: digest(module, op, Compared::default()), outside }
    }
}

fn hash_of(module: &Module, op: OpId, body: Option<&Body>) -> u64 {
    let mut hasher = FxHasher::default();
    std::ptr::from_ref(module.def(op)).hash(&mut hasher);
    hasher.write_usize(module.attr_dict(op).index());
    for operand in module.operands(op) {
        hasher.write_usize(operand.index());
    }
    for result in module.results(op) {
        hasher.write_usize(module.ty(result).index());
    }
    body.map(|body| body.digest).hash(&mut hasher);
    hasher.finish()
}

/// Makes each kept op come from all places that it stands for.
fn join_places(module: &mut Module, mut merged: Vec<(OpId, OpId)>) {
    let unknown = module.interner.unknown_location();
    merged.retain(|&(kept, gone)| ![unknown, module.location(kept)].contains(&module.location(gone)));
    merged.sort_by_key(|&(kept, _)| kept);
    for group in merged.chunk_by(|a, b| a.0 == b.0) {
        let kept = group[0].0;
        let mut origins = vec![kept];
        origins.extend(group.iter().map(|pair| pair.1));
        module.join_places(kept, &origins);
    }
}

#[cfg(test)]
mod tests {
    use tofu_ir::LocationData;

    use super::*;
    use crate::testing::{check, read};

    #[test]
    fn equal_expressions_of_any_depth_are_merged() {
        let merged = check(
            "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
               %a = tensor.tanh %x
               %b = tensor.negate %a
               %c = tensor.tanh %x
               %d = tensor.negate %c
               %y = tensor.add %b, %d
               return %y
             }",
            "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
               %a = tensor.tanh %x
               %b = tensor.negate %a
               %y = tensor.add %b, %b
               return %y
             }",
            merge_equal_ops,
        );
        assert_eq!(merged, 2);
    }

    #[test]
    fn attributes_types_and_effects_make_a_difference() {
        let text = "
             func @g(%x: tensor<2x2xf32>) -> tensor<2x2xf32>
             func @f(%x: tensor<2x2xf32>) {
               %a = tensor.transpose %x {permutation = [0, 1]}
               %b = tensor.transpose %x {permutation = [1, 0]}
               %c = tensor.reshape %x : tensor<4xf32>
               %d = tensor.reshape %x : tensor<1x4xf32>
               %e = call @g(%x)
               %f = call @g(%x)
               return
             }";
        assert_eq!(check(text, text, merge_equal_ops), 0);
    }

    #[test]
    fn functions_share_nothing() {
        let function = |name: &str| {
            format!(
                "func @{name}() -> tensor<f32> {{\n  %a = tensor.constant dense<1.0> : tensor<f32>\n  return %a\n}}\n"
            )
        };
        let text = &(function("f") + &function("g"));
        assert_eq!(check(text, text, merge_equal_ops), 0);
    }

    #[test]
    fn regions_see_what_is_around_them_but_not_the_reverse() {
        let merged = check(
            "func @f(%p: tensor<i1>, %s: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
               %t = tensor.tanh %s
               %r = tensor.if %p ({ ^then:
                 %inner = tensor.tanh %s
                 %n = tensor.negate %s
                 %sum = tensor.add %inner, %n
                 tensor.yield %sum
               }, { ^else:
                 tensor.yield %s
               })
               %n = tensor.negate %s
               return %r, %n
             }",
            "func @f(%p: tensor<i1>, %s: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
               %t = tensor.tanh %s
               %r = tensor.if %p ({ ^then:
                 %n = tensor.negate %s
                 %sum = tensor.add %t, %n
                 tensor.yield %sum
               }, { ^else:
                 tensor.yield %s
               })
               %n = tensor.negate %s
               return %r, %n
             }",
            merge_equal_ops,
        );
        assert_eq!(merged, 1);
    }

    #[test]
    fn only_ops_on_every_way_are_kept() {
        let merged = check(
            "func @f(%x: tensor<2xf32>) {
               %a = tensor.tanh %x
               test.branch [^left, ^right]
             ^left:
               %b = tensor.tanh %x
               %c = tensor.add %a, %b
               test.branch [^end]
             ^right:
               %d = tensor.add %a, %a
               test.branch [^end]
             ^end:
               %e = tensor.add %a, %a
               %f = tensor.add %a, %a
               return
             }",
            "func @f(%x: tensor<2xf32>) {
               %a = tensor.tanh %x
               test.branch [^left, ^right]
             ^left:
               %c = tensor.add %a, %a
               test.branch [^end]
             ^right:
               %d = tensor.add %a, %a
               test.branch [^end]
             ^end:
               %e = tensor.add %a, %a
               return
             }",
            merge_equal_ops,
        );
        assert_eq!(merged, 2);
    }

    #[test]
    fn ops_with_equal_regions_are_merged() {
        let branch = |result: &str, from: &str, combine: &str| {
            format!(
                "{result} = tensor.if %p ({{ ^then:
                   %v = tensor.negate {from}
                   %w = {combine} %s, %v
                   tensor.yield %w
                 }}, {{ ^else:
                   tensor.yield %s
                 }})"
            )
        };
        let program = |lines: &[String], results: &str, types: &str| {
            format!(
                "func @f(%p: tensor<i1>, %s: tensor<f32>, %t: tensor<f32>) -> ({types}) {{
                 {}
                 return {results}
                 }}",
                lines.join("\n")
            )
        };
        let [first, equal, other_op, other_value] = [
            branch("%a", "%s", "tensor.add"),
            branch("%b", "%s", "tensor.add"),
            branch("%c", "%s", "tensor.multiply"),
            branch("%d", "%t", "tensor.add"),
        ];
        let types = ["tensor<f32>"; 4].join(", ");
        let merged = check(
            &program(
                &[first.clone(), equal, other_op.clone(), other_value.clone()],
                "%a, %b, %c, %d",
                &types,
            ),
            &program(&[first, other_op, other_value], "%a, %a, %c, %d", &types),
            merge_equal_ops,
        );
        assert_eq!(merged, 1);
    }

    #[test]
    fn an_op_that_stands_for_others_names_their_places() {
        let mut module = read(
            "func @f(%x: tensor<2xf32>) {
               %a = tensor.tanh %x loc(\"first\")
               %b = tensor.tanh %x loc(\"second\")
               %c = tensor.tanh %x
               %d = tensor.tanh %x loc(\"first\")
               return
             }",
        );
        let root = module.root();
        assert_eq!(merge_equal_ops(&mut module, root), 3);
        let kept = module.walk(root).find(|&op| module.def(op).name == "tensor.tanh").unwrap();
        let LocationData::Fused { parts, .. } = module.location_data(module.location(kept)) else {
            panic!("not joined")
        };
        assert_eq!(parts.len(), 2);
    }
}

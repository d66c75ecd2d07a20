//! Folding: ops that a dialect can compute at compile time, and operands in their one order.
//!
//! Ops wait in a worklist in program order. One that folds hands its users back to the list, so that a chain of constant
//! ops is computed in one go. Each fold erases its op, so the work ends. Constants that folds make stand at the beginning
//! of the isolated op around them (the function), one for each value; constants of the program stay where they are.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use tofu_ir::{
    Attr, BlockId, Definition, Fold, Folded, Module, OpDef, OpId, OpState, RegionId, Trait, Type, VALUE,
    ValueId,
};

use crate::worklist::Worklist;

/// What folding has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FoldCounts {
    /// Ops that were computed, or found to be one of their operands.
    pub folded: u64,
    /// Commutative ops whose operands were exchanged.
    pub exchanged: u64,
}

/// Folds the ops in `root`, an isolated op, until none folds any more. Operands of commutative ops come in the order of their
/// definitions, constants last.
pub fn fold_ops(module: &mut Module, root: OpId) -> FoldCounts {
    let mut counts = FoldCounts::default();
    let mut constants = Constants::default();
    let mut worklist = Worklist::forward(module, root);
    while let Some(op) = worklist.pop(module) {
        counts.exchanged += u64::from(order_operands(module, op));
        let Some(values) = fold(module, op, &mut constants) else { continue };
        for result in module.results(op) {
            for (user, _) in module.uses(result) {
                worklist.push(user);
            }
        }
        module.replace(op, &values);
        counts.folded += 1;
    }
    counts
}

/// The values that stand for the results of an op.
fn fold(module: &mut Module, op: OpId, constants: &mut Constants) -> Option<Vec<ValueId>> {
    if module.has(op, Trait::Constant) {
        return None;
    }
    let folded = module.def(op).interface::<Fold>()?.0(module, op)?;
    let results: Vec<ValueId> = module.results(op).collect();
    if folded.len() != results.len() {
        return None;
    }
    // Nothing is made before it is clear that all can be.
    let resolved: Vec<Resolved> = folded
        .into_iter()
        .zip(results)
        .map(|(folded, result)| resolve(module, op, folded, result))
        .collect::<Option<_>>()?;
    resolved
        .into_iter()
        .map(|resolved| match resolved {
            Resolved::Value(value) => Some(value),
            Resolved::Constant(def, attr, ty) => constants.get(module, op, def, attr, ty),
        })
        .collect()
}

enum Resolved {
    Value(ValueId),
    Constant(&'static OpDef, Attr, Type),
}

fn resolve(module: &mut Module, op: OpId, folded: Folded, result: ValueId) -> Option<Resolved> {
    let ty = module.ty(result);
    match folded {
        Folded::Value(value) => (module.ty(value) == ty).then_some(Resolved::Value(value)),
        Folded::Constant(data) => {
            let attr = module.interner.attr(data);
            Some(Resolved::Constant(constant_op(module, op, attr, ty)?, attr, ty))
        }
    }
}

/// The constants that folds have made.
#[derive(Default)]
struct Constants {
    values: FxHashMap<(RegionId, Attr, Type), ValueId>,
    /// The last one in each region; the next one stands after it.
    last: FxHashMap<RegionId, OpId>,
}

impl Constants {
    /// A constant that `op` sees; it is made if there is none yet.
    fn get(
        &mut self,
        module: &mut Module,
        op: OpId,
        def: &'static OpDef,
        attr: Attr,
        ty: Type,
    ) -> Option<ValueId> {
        let region = outermost_region(module, op)?;
        if let Some(&value) = self.values.get(&(region, attr, ty)) {
            return Some(value);
        }
        let entry = module.entry(region)?;
        let name = module.interner.name(VALUE);
        let dict = module.interner.dict(&[(name, attr)]);
        let constant = module.create(OpState::new(def).attrs(dict).results([ty]));
        module.inherit_place(constant, op);
        match (self.last.insert(region, constant), module.first_op(entry)) {
            (Some(last), _) => module.insert_after(last, constant),
            (None, Some(first)) => module.insert_before(first, constant),
            (None, None) => module.append(entry, constant),
        }
        let value = module.result(constant, 0);
        self.values.insert((region, attr, ty), value);
        Some(value)
    }
}

/// The region of the nearest isolated op in which `op` is.
fn outermost_region(module: &Module, op: OpId) -> Option<RegionId> {
    let mut inner = op;
    loop {
        let region = module.region_of(module.block_of(inner)?)?;
        inner = module.op_of(region);
        if module.has(inner, Trait::Isolated) {
            return Some(region);
        }
    }
}

/// The op that makes a constant: of the dialect that has folded, or of the first one that can.
fn constant_op(module: &Module, op: OpId, attr: Attr, ty: Type) -> Option<&'static OpDef> {
    let registry = module.registry();
    let own = registry.dialect(module.def(op).dialect());
    own.into_iter()
        .chain(registry.dialects().iter().copied())
        .find_map(|dialect| dialect.constant.and_then(|constant| constant(module, attr, ty)))
}

/// Exchanges the operands of a commutative op that stand in the wrong order.
fn order_operands(module: &mut Module, op: OpId) -> bool {
    if !module.has(op, Trait::Commutative) || module.operand_count(op) != 2 {
        return false;
    }
    let (left, right) = (module.operand(op, 0), module.operand(op, 1));
    let wrong = match (is_constant(module, left), is_constant(module, right)) {
        (true, false) => true,
        (false, true) => false,
        _ => compare_definitions(module, left, right) == Ordering::Greater,
    };
    if wrong {
        module.swap_operands(op, 0, 1);
    }
    wrong
}

fn is_constant(module: &Module, value: ValueId) -> bool {
    module.defining_op(value).is_some_and(|op| module.has(op, Trait::Constant))
}

/// Which of two values, both visible from one place, is defined first.
fn compare_definitions(module: &Module, a: ValueId, b: ValueId) -> Ordering {
    let (Some(block_a), Some(block_b)) = (module.defining_block(a), module.defining_block(b)) else {
        return a.cmp(&b);
    };
    if block_a != block_b {
        return compare_blocks(module, block_a, block_b);
    }
    match (module.definition(a), module.definition(b)) {
        (Definition::Argument { index: a, .. }, Definition::Argument { index: b, .. }) => a.cmp(&b),
        (Definition::Argument { .. }, _) => Ordering::Less,
        (_, Definition::Argument { .. }) => Ordering::Greater,
        (Definition::Result { op: a, .. }, Definition::Result { op: b, .. }) if a != b => {
            if module.is_before(a, b) { Ordering::Less } else { Ordering::Greater }
        }
        _ => a.cmp(&b),
    }
}

/// Of two blocks that dominate one place, one is in the same region as the other or around it.
fn compare_blocks(module: &Module, a: BlockId, b: BlockId) -> Ordering {
    let (Some(region_a), Some(region_b)) = (module.region_of(a), module.region_of(b)) else {
        return a.cmp(&b);
    };
    if region_a == region_b {
        let blocks = module.blocks(region_a);
        return blocks.iter().position(|&block| block == a).cmp(&blocks.iter().position(|&block| block == b));
    }
    let around_b = module.ancestors(module.op_of(region_b));
    let mut regions_around_b = around_b.filter_map(|op| module.region_of(module.block_of(op)?));
    if regions_around_b.any(|region| region == region_a) { Ordering::Less } else { Ordering::Greater }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    #[test]
    fn chains_of_constants_are_computed_in_one_go() {
        let counts = check(
            "func @f(%x: tensor<2xi32>) -> tensor<2xi32> {
               %one = tensor.constant dense<1> : tensor<2xi32>
               %two = tensor.add %one, %one
               %three = tensor.add %two, %one
               %y = tensor.multiply %x, %three
               return %y
             }",
            "func @f(%x: tensor<2xi32>) -> tensor<2xi32> {
               %two = tensor.constant dense<2> : tensor<2xi32>
               %three = tensor.constant dense<3> : tensor<2xi32>
               %one = tensor.constant dense<1> : tensor<2xi32>
               %y = tensor.multiply %x, %three
               return %y
             }",
            fold_ops,
        );
        assert_eq!(counts, FoldCounts { folded: 2, exchanged: 0 });
    }

    #[test]
    fn operands_come_in_order_with_constants_last() {
        let counts = check(
            "func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
               %c = tensor.constant dense<2.0> : tensor<2xf32>
               %a = tensor.add %y, %x
               %b = tensor.multiply %c, %a
               %d = tensor.maximum %b, %a
               %e = tensor.subtract %d, %x
               return %e
             }",
            "func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
               %c = tensor.constant dense<2.0> : tensor<2xf32>
               %a = tensor.add %x, %y
               %b = tensor.multiply %a, %c
               %d = tensor.maximum %a, %b
               %e = tensor.subtract %d, %x
               return %e
             }",
            fold_ops,
        );
        assert_eq!(counts, FoldCounts { folded: 0, exchanged: 3 });
    }

    #[test]
    fn constants_of_regions_stand_in_the_function() {
        check(
            "func @f(%x: tensor<2xf32>, %s: tensor<f32>) -> tensor<f32> {
               %r = tensor.reduce %x, %s {dimensions = [0]} ({ ^body(%p: tensor<f32>, %q: tensor<f32>):
                 %two = tensor.constant dense<2.0> : tensor<f32>
                 %four = tensor.add %two, %two
                 %sum = tensor.add %four, %q
                 tensor.yield %sum
               })
               return %r
             }",
            "func @f(%x: tensor<2xf32>, %s: tensor<f32>) -> tensor<f32> {
               %four = tensor.constant dense<4.0> : tensor<f32>
               %r = tensor.reduce %x, %s {dimensions = [0]} ({ ^body(%p: tensor<f32>, %q: tensor<f32>):
                 %two = tensor.constant dense<2.0> : tensor<f32>
                 %sum = tensor.add %q, %four
                 tensor.yield %sum
               })
               return %r
             }",
            fold_ops,
        );
    }

    #[test]
    fn values_around_a_region_come_before_those_in_it() {
        check(
            "func @f(%s: tensor<f32>) -> tensor<f32> {
               %r, %last = tensor.while %s, %s ({ ^cond(%p: tensor<f32>, %q: tensor<f32>):
                 %goes_on = tensor.is_finite %p
                 tensor.yield %goes_on
               }, { ^body(%p: tensor<f32>, %q: tensor<f32>):
                 %sum = tensor.add %q, %p
                 %sums = tensor.add %sum, %s
                 tensor.yield %sums, %q
               })
               return %r
             }",
            "func @f(%s: tensor<f32>) -> tensor<f32> {
               %r, %last = tensor.while %s, %s ({ ^cond(%p: tensor<f32>, %q: tensor<f32>):
                 %goes_on = tensor.is_finite %p
                 tensor.yield %goes_on
               }, { ^body(%p: tensor<f32>, %q: tensor<f32>):
                 %sum = tensor.add %p, %q
                 %sums = tensor.add %s, %sum
                 tensor.yield %sums, %q
               })
               return %r
             }",
            fold_ops,
        );
    }
}

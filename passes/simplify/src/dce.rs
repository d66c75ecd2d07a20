//! Dead code elimination: erases pure ops that nothing uses.
//!
//! Ops are looked at from the last to the first, so that most users are gone before the ops that they use are asked;
//! the operands of an erased op are asked again. Each erased op costs one step an operand.

use tofu_dialect_func::Func;
use tofu_ir::{Module, OpId, Trait};
use tofu_pass::{Changed, Example, Pass, PassContext, PassResult, pass_options};

use crate::worklist::Worklist;

pass_options! {
    /// Erases dead ops: pure ones whose results nothing uses.
    pub struct Dce;
}

impl Pass for Dce {
    const NAME: &'static str = "dce";
    type Anchor = Func;

    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = tensor.tanh %x
  %unused = tensor.negate %a
  return %x
}",
        effect: "Both ops go: nothing uses `%unused`, and then nothing uses `%a`.",
    };

    const STATISTICS: &'static [(&'static str, &'static str)] = &[("dead ops", "Ops that nothing used.")];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let function = cx.op();
        let dead = erase_dead_ops(cx.module, function);
        cx.count("dead ops", dead);
        Ok(Changed::from(dead > 0))
    }
}

/// Erases the dead ops in `root`, an isolated op, inner ones included. Gives their number; ops in an erased op do not
/// count.
pub fn erase_dead_ops(module: &mut Module, root: OpId) -> u64 {
    let mut worklist = Worklist::backward(module, root);
    let mut erased = 0;
    while let Some(op) = worklist.pop(module) {
        if !is_dead(module, op) {
            continue;
        }
        for inner in module.walk(op) {
            for definer in module.operands(inner).filter_map(|operand| module.defining_op(operand)) {
                worklist.push(definer);
            }
        }
        module.erase(op);
        erased += 1;
    }
    erased
}

fn is_dead(module: &Module, op: OpId) -> bool {
    module.results(op).all(|result| !module.has_uses(result))
        && !module.has(op, Trait::Terminator)
        && module.is_pure(op)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    #[test]
    fn dead_chains_go_and_effects_stay() {
        let erased = check(
            "
             func @effect(%x: tensor<2xf32>) -> tensor<2xf32>
             func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
               %a = tensor.tanh %x
               %b = tensor.negate %a
               %c = tensor.add %a, %b
               %y = tensor.abs %x
               %z = call @effect(%y)
               return %x
             }",
            "
             func @effect(%x: tensor<2xf32>) -> tensor<2xf32>
             func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
               %y = tensor.abs %x
               %z = call @effect(%y)
               return %x
             }",
            erase_dead_ops,
        );
        assert_eq!(erased, 3);
    }

    #[test]
    fn regions_are_cleaned_and_go_with_their_op() {
        let body = "tensor.if %p ({ ^then:
                     %sum = tensor.add %s, %s";
        let erased = check(
            &format!(
                "func @f(%x: tensor<2xf32>, %p: tensor<i1>, %s: tensor<f32>) -> tensor<f32> {{
                   %t = tensor.tanh %x
                   %r = {body}
                     %dead = tensor.negate %sum
                     tensor.yield %sum
                   }}, {{ ^else:
                     tensor.yield %s
                   }})
                   %dead = {body}
                     %u = tensor.slice %t {{limit = [1], start = [0], stride = [1]}}
                     tensor.yield %sum
                   }}, {{ ^else:
                     tensor.yield %s
                   }})
                   return %r
                 }}"
            ),
            &format!(
                "func @f(%x: tensor<2xf32>, %p: tensor<i1>, %s: tensor<f32>) -> tensor<f32> {{
                   %r = {body}
                     tensor.yield %sum
                   }}, {{ ^else:
                     tensor.yield %s
                   }})
                   return %r
                 }}"
            ),
            erase_dead_ops,
        );
        // `%u` and the negation, the choice around `%u`, and the hyperbolic tangent.
        assert_eq!(erased, 4);
    }
}

//! Canonicalization: everything that makes a program simpler without a choice, until nothing changes any more.
//!
//! A round folds, then merges equal ops, then erases dead ones. Each makes work for the others in this order (folding
//! makes equal constants; what was folded leaves dead operands), but merging may also let more fold, as `x - y` does when
//! `y` turns out to be `x`; hence rounds. Every round but the last makes the program smaller, so they come to an end; the
//! bound is for dialects whose folds go round in circles.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_dialect_func::Func;
use tofu_ir::{Module, OpId};
use tofu_pass::{Changed, Example, Pass, PassContext, PassResult, pass_options};

use crate::{erase_dead_ops, fold_ops, merge_equal_ops};

pass_options! {
    /// Folds ops, merges equal ones and erases dead ones, until nothing changes any more.
    ///
    /// Operands of commutative ops come in the order of their definitions, constants last. A fold gives exactly what
    /// running the op would give.
    pub struct Simplify {
        /// After how many rounds, at least one, to give up with a warning.
        pub max_iterations: u32 = 10,
    }
}

impl Pass for Simplify {
    const NAME: &'static str = "simplify";
    type Anchor = Func;

    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = tensor.constant dense<1.0> : tensor<2xf32>
  %y = tensor.multiply %one, %x
  %unused = tensor.tanh %y
  return %y
}",
        effect: "`%x` times one is `%x`; what is left of the function is `return %x`.",
    };

    const STATISTICS: &'static [(&'static str, &'static str)] = &[
        ("folded ops", "Ops that were computed, or found to be one of their operands."),
        ("exchanged operands", "Commutative ops whose operands were exchanged."),
        ("merged ops", "Ops that an equal one was there for already."),
        ("dead ops", "Ops that nothing used."),
    ];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let function = cx.op();
        let mut total = Counts::default();
        let rounds = self.max_iterations.max(1);
        for _ in 0..rounds {
            cx.cancellation().check()?;
            let counts = simplify(cx.module, function);
            if counts == Counts::default() {
                return Ok(report(cx, total));
            }
            total = total.plus(counts);
        }
        let name = cx.module.symbol_name(function).map_or("", |name| cx.module.text(name));
        let message =
            format!("`@{name}` may not be as simple as it could be: it still changed in round {rounds}");
        let help = format!(
            "raise the limit: `--simplify=max-iterations={}`",
            self.max_iterations.saturating_mul(10)
        );
        let warning =
            Diagnostic::warning(&codes::NOT_CONVERGED, cx.module.span(function), message).help(help);
        cx.report(warning);
        Ok(report(cx, total))
    }
}

fn report(cx: &mut PassContext<'_>, counts: Counts) -> Changed {
    cx.count("folded ops", counts.folded);
    cx.count("exchanged operands", counts.exchanged);
    cx.count("merged ops", counts.merged);
    cx.count("dead ops", counts.dead);
    Changed::from(counts != Counts::default())
}

/// What a round has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Ops that were computed, or found to be one of their operands.
    pub folded: u64,
    /// Commutative ops whose operands were exchanged.
    pub exchanged: u64,
    /// Ops that an equal one was there for already.
    pub merged: u64,
    /// Ops that nothing used.
    pub dead: u64,
}

impl Counts {
    fn plus(self, other: Counts) -> Counts {
        Counts {
            folded: self.folded + other.folded,
            exchanged: self.exchanged + other.exchanged,
            merged: self.merged + other.merged,
            dead: self.dead + other.dead,
        }
    }
}

/// One round of simplification of the ops in `root`, an isolated op. When it has done nothing, there is nothing left to do.
pub fn simplify(module: &mut Module, root: OpId) -> Counts {
    let folds = fold_ops(module, root);
    let merged = merge_equal_ops(module, root);
    let dead = erase_dead_ops(module, root);
    Counts { folded: folds.folded, exchanged: folds.exchanged, merged, dead }
}

#[cfg(test)]
mod tests {
    use tofu_dialect_func as func;
    use tofu_dialect_tensor as tensor;
    use tofu_ir::{Builder, ElementType};
    use tofu_pass::{PassManager, Session};

    use super::*;
    use crate::testing::{check, read};

    #[test]
    fn merging_lets_more_fold() {
        let rounds = check(
            "func @f(%x: tensor<2xi32>) -> tensor<2xi32> {
               %a = tensor.not %x
               %b = tensor.not %x
               %zero = tensor.subtract %a, %b
               %y = tensor.add %zero, %x
               return %y
             }",
            "func @f(%x: tensor<2xi32>) -> tensor<2xi32> { return %x }",
            |module, root| (0..).take_while(|_| simplify(module, root) != Counts::default()).count(),
        );
        assert_eq!(rounds, 2);
    }

    #[test]
    fn what_is_simple_stays_the_same() {
        let text = "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
               %c = tensor.constant dense<2.0> : tensor<2xf32>
               %y = tensor.multiply %x, %c
               return %y
             }";
        assert_eq!(check(text, text, simplify), Counts::default());
    }

    #[test]
    fn the_pass_says_when_it_gives_up() {
        let run = |max_iterations| {
            let mut module = read(
                "func @f(%x: tensor<2xi32>) -> tensor<2xi32> {
                   %zero = tensor.subtract %x, %x
                   return %zero
                 }",
            );
            let manager = PassManager::new().nest::<Func>(|f| f.add(Simplify { max_iterations }));
            manager.run(&mut module, &Session::default(), &mut [])
        };
        let outcome = run(2);
        assert_eq!((outcome.changed, outcome.diagnostics.len()), (Some(Changed::Yes), 0));
        let outcome = run(1);
        assert_eq!(outcome.changed, Some(Changed::Yes));
        assert_eq!(outcome.diagnostics[0].code.id, "T0308");
        assert_eq!(
            outcome.diagnostics[0].message,
            "`@f` may not be as simple as it could be: it still changed in round 1"
        );
    }

    /// A chain of `2 * length` ops, of which half are equal to the other half; then all of them are dead but one.
    #[test]
    fn large_programs_are_simplified_iteratively() {
        let mut module = read("");
        let ty = module.interner.tensor(&[2], ElementType::F32);
        let (function, block) = func::build_function(&mut module, "f", &[ty], &[ty]);
        let x = module.arguments(block)[0];
        let mut builder = Builder::at_end(&mut module, block);
        let (mut a, mut b) = (x, x);
        let length = 50_000;
        for _ in 0..length {
            a = tensor::tanh(&mut builder, a).unwrap();
            b = tensor::tanh(&mut builder, b).unwrap();
        }
        let sum = tensor::add(&mut builder, a, b).unwrap();
        func::build_return(&mut builder, [sum]);
        let counts = simplify(&mut module, function);
        assert_eq!(counts, Counts { folded: 0, exchanged: 0, merged: length, dead: 0 });
        let last = module.last_op(block).unwrap();
        module.set_operand(last, 0, x);
        assert_eq!(simplify(&mut module, function).dead, length + 1);
        assert_eq!(module.ops(block).count(), 1);
    }
}

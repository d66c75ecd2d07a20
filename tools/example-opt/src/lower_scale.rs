//! `--lower-scale`.

use tofu_dialect_func::Func;
use tofu_dialect_tensor as tensor;
use tofu_ir::{Builder, OpId};
use tofu_pass::{Changed, Example, Pass, PassContext, PassResult, pass_options};

use crate::dialect::{SCALE, factor};

pass_options! {
    /// Turns `example.scale` into a multiplication.
    pub(crate) struct LowerScale {
        /// Leave ops alone whose factor is one.
        pub(crate) keep_ones: bool = false,
    }
}

impl Pass for LowerScale {
    const NAME: &'static str = "lower-scale";
    type Anchor = Func;
    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = example.scale %x {factor = 0.5}
  return %r
}",
        effect: "The op becomes a `tensor.multiply` with a constant.",
    };
    const STATISTICS: &'static [(&'static str, &'static str)] =
        &[("lowered ops", "Ops that became multiplications.")];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let scales: Vec<OpId> = cx.module.walk(cx.op()).filter(|&op| cx.module.is(op, &SCALE)).collect();
        let mut lowered = 0;
        for op in scales {
            let factor = factor(cx.module, op);
            if self.keep_ones && factor == 1.0 {
                continue;
            }
            let x = cx.module.operand(op, 0);
            let ty = cx.module.ty(x);
            let mut builder = Builder::before(cx.module, op);
            let constant = tensor::splat(&mut builder, ty, factor)?;
            let product = tensor::multiply(&mut builder, x, constant)?;
            cx.module.replace(op, &[product]);
            lowered += 1;
        }
        cx.count("lowered ops", lowered);
        Ok(Changed::from(lowered > 0))
    }
}

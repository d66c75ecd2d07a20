//! The pass around [`inline_calls_keeping`].

use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_dialect_func::{Inlined, TooLarge, inline_calls_keeping};
use tofu_dialect_stablehlo::keep_shardings;
use tofu_pass::{Changed, Example, ModuleAnchor, Pass, PassContext, PassResult, pass_options};

pass_options! {
    /// Replaces calls by the bodies of the functions that they call, and erases private functions that nothing calls.
    ///
    /// Recursive calls stay, and so do calls of functions that are only declared or have several blocks. What a call says
    /// in `sdy.sharding` of its results becomes a `sdy.sharding_constraint` on each of them.
    pub struct Inline {
        /// How many ops all functions together may come to have; beyond that the pass fails.
        pub max_ops: u64 = 10_000_000,
    }
}

impl Pass for Inline {
    const NAME: &'static str = "inline";
    type Anchor = ModuleAnchor;

    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @twice(%x)
  return %y
}
func @twice(%x: tensor<2xf32>) -> tensor<2xf32> attributes {visibility = \"private\"} {
  %y = tensor.add %x, %x
  return %y
}",
        effect: "The sum stands in `@f`, and `@twice` is gone.",
    };

    const STATISTICS: &'static [(&'static str, &'static str)] = &[
        ("inlined calls", "Calls that became the body of what they call."),
        ("erased functions", "Private functions that nothing mentions."),
    ];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let root = cx.op();
        match inline_calls_keeping(cx.module, root, self.max_ops, keep_shardings) {
            Ok(Inlined { calls, functions }) => {
                cx.count("inlined calls", calls);
                cx.count("erased functions", functions);
                Ok(Changed::from(calls + functions > 0))
            }
            Err(TooLarge { call }) => {
                let message = format!(
                    "inlining this call would bring the program beyond {}",
                    plural(usize::try_from(self.max_ops).unwrap_or(usize::MAX), "op")
                );
                let error = Diagnostic::error(&codes::TOO_MANY_OPS, cx.module.span(call), message);
                Err(error.help("raise `max-ops`, or leave these functions to be called").into())
            }
        }
    }
}

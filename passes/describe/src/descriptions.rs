//! `--print-descriptions`.

use tofu_dialect_func::Func;
use tofu_pass::{Changed, Example, Pass, PassContext, PassResult, pass_options};

use crate::listing::Listing;

pass_options! {
    /// Prints the description of each op.
    ///
    /// A description says what an op computes: each element of its results as an expression of elements of its operands.
    /// Of ops that are alike it is printed once.
    pub struct PrintDescriptions {
        /// Only of ops of this name (`tensor.dot_general`), or of the one that defines this value (`%y`).
        pub op: String = String::new(),
    }
}

impl Pass for PrintDescriptions {
    const NAME: &'static str = "print-descriptions";
    type Anchor = Func;

    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0]}
  return %y
}",
        effect: "The description of `%y` says that its elements are sums of products.",
    };

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let text =
            Listing::new(cx.module, cx.op()).text(&self.op, |described| described.description.to_string());
        cx.print(text);
        Ok(Changed::No)
    }
}

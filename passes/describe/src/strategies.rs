//! `--print-strategies`.

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_dialect_func::Func;
use tofu_pass::{Changed, Example, Pass, PassContext, PassResult, pass_options};

use crate::listing::{Described, Listing};

pass_options! {
    /// Prints the ways of splitting each op over workers.
    ///
    /// A strategy splits one index variable: an index of a result, whose parts are concatenated, or one of a reduction,
    /// whose partial results are reduced. For each it says what a worker needs of each operand (all of it, a share, a
    /// share and a halo of its neighbours, …) and how the results combine; then, for actual extents, what each worker
    /// reads and how many bytes it moves. Of ops that are alike this is printed once.
    pub struct PrintStrategies {
        /// How many workers there are in the lines about each of them; none if 0.
        pub devices: u32 = 2,
        /// Only of ops of this name (`tensor.dot_general`), or of the one that defines this value (`%y`).
        pub op: String = String::new(),
    }
}

impl Pass for PrintStrategies {
    const NAME: &'static str = "print-strategies";
    type Anchor = Func;

    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0]}
  return %y
}",
        effect: "There are three: rows of `%x` and of `%y`, columns of `%w` and of `%y`, or the dimension that is summed over, after \
                 which the workers' products are added.",
    };

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        if self.devices > MAX_DEVICES {
            let message = format!("a line for each of {} workers is more than anybody reads", self.devices);
            let help = format!("`devices` is at most {MAX_DEVICES}");
            return Err(Diagnostic::error(&codes::BAD_OPTION_VALUE, Span::NONE, message).help(help).into());
        }
        let text = Listing::new(cx.module, cx.op()).text(&self.op, |described| self.strategies(described));
        cx.print(text);
        Ok(Changed::No)
    }
}

const MAX_DEVICES: u32 = 1024;

impl PrintStrategies {
    fn strategies(&self, described: &Described) -> String {
        let description = &described.description;
        let mut out = String::new();
        for strategy in &described.analysis.strategies {
            out.push_str(&strategy.text(description));
            out.push('\n');
            if let Some(instance) = &described.instance {
                let workers = u64::from(self.devices);
                for line in strategy.workers_text(description, &instance.extents, &instance.types, workers) {
                    out.push_str(&format!("  {line}\n"));
                }
            }
        }
        if described.analysis.strategies.is_empty() {
            out.push_str("it cannot be split\n");
        } else if described.instance.is_none() && self.devices > 0 {
            out.push_str("what each worker reads depends on extents that are not known\n");
        }
        out
    }
}

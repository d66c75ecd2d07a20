//! `--insert-communication`.

use tofu_dialect_func::{FUNC, body};
use tofu_ir::OpId;
use tofu_pass::{Changed, Example, MachineName, ModuleAnchor, Pass, PassContext, PassResult, pass_options};
use tofu_tdl::Descriptions;

use crate::planned::Planned;
use crate::rewrite::rewrite;

pass_options! {
    /// Makes a program with shardings one that every device runs on its own part of each tensor, with what devices exchange
    /// written out.
    ///
    /// Functions without shardings stay as they are. Shardings of results and arguments remain, so that tools can cut
    /// arguments and put results together.
    pub struct InsertCommunication {
        /// The machine, if it is not that of the whole run: a preset, or a file that describes one.
        pub machine: Option<MachineName> = None,
        /// Terms can be reduced and scattered at once.
        pub reduce_scatter: bool = true,
    }
}

impl Pass for InsertCommunication {
    const NAME: &'static str = "insert-communication";
    type Anchor = ModuleAnchor;

    const EXAMPLE: Example = Example {
        program: "dist.mesh @m = [x = 4]
func @f(%x: tensor<8x8xf32> {dist.sharding = #dist.sharding<@m, [{x}, {}]>},
        %w: tensor<8x8xf32> {dist.sharding = #dist.sharding<@m, [{x}, {}]>})
    -> (tensor<8x8xf32> {dist.sharding = #dist.sharding<@m, [{x}, {}]>}) {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0], dist.sharding = #dist.sharding<@m, [{x}, {}]>}
  return %y
}",
        effect: "Each device multiplies its two rows of `%x` with all of `%w`, which it gathers before.",
    };

    const STATISTICS: &'static [(&'static str, &'static str)] = &[
        ("collectives", "Ops in which devices send something to each other."),
        ("sent bytes", "The bytes that a device sends in a step, as the plan has it."),
    ];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let root = cx.op();
        let functions: Vec<OpId> = cx
            .module
            .walk(root)
            .filter(|&op| cx.module.is(op, &FUNC) && body(cx.module, op).is_some())
            .collect();
        let descriptions = Descriptions::new();
        let mut changed = Changed::No;
        for function in functions {
            let machine = cx.machine(self.machine.as_ref())?;
            let planned = Planned::of(cx.module, function, &descriptions, machine, self.reduce_scatter)?;
            let Some(planned) = planned else { continue };
            cx.count("collectives", planned.exchanges.steps());
            cx.count("sent bytes", planned.exchanges.sent_bytes());
            rewrite(cx.module, function, &descriptions, planned)?;
            changed = Changed::Yes;
        }
        Ok(changed)
    }
}

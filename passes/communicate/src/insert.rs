//! `--insert-communication`.

use tofu_diagnostics::Diagnostic;
use tofu_dialect_func::{FUNC, body};
use tofu_ir::{Module, OpId};
use tofu_machine::Machine;
use tofu_pass::{Changed, Example, MachineName, ModuleAnchor, Pass, PassContext, PassResult, pass_options};
use tofu_tdl::Descriptions;

use crate::planned::{Exchanges, Planned};
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
            let inserted = insert(cx.module, function, &descriptions, machine, self.reduce_scatter)?;
            let Some(exchanges) = inserted else { continue };
            cx.count("collectives", exchanges.steps().len() as u64);
            cx.count("sent bytes", exchanges.sent_bytes());
            changed = Changed::Yes;
        }
        Ok(changed)
    }
}

/// Makes a function with shardings one for each device of a machine; what devices exchange. None if it has no shardings, or is written for
/// each device already.
///
/// # Errors
/// Shardings from which no program follows; the function is then to be thrown away.
pub fn insert(
    module: &mut Module,
    function: OpId,
    descriptions: &Descriptions,
    machine: Machine,
    reduce_scatter: bool,
) -> Result<Option<Exchanges>, Diagnostic> {
    let Some(planned) = Planned::of(module, function, descriptions, machine, reduce_scatter)? else {
        return Ok(None);
    };
    let exchanges = planned.exchanges.clone();
    rewrite(module, function, descriptions, planned)?;
    Ok(Some(exchanges))
}

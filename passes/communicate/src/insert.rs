//! `--insert-communication`.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_dialect_func::{CALL, FUNC, body, callee};
use tofu_ir::{Module, OpId};
use tofu_machine::Machine;
use tofu_pass::{
    ByteSize, Changed, Example, MachineName, ModuleAnchor, Pass, PassContext, PassResult, pass_options,
};
use tofu_tdl::Descriptions;

use crate::bucket::{bucket, usual_bytes};
use crate::planned::{Exchanges, Planned};
use crate::rewrite::rewrite;
use crate::tidy::{hoist, sent_in_text, share, trips};

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
        /// The bytes of one collective where several could be one, 0 for none together; by default what the machine takes longer for than to start.
        pub bucket_bytes: Option<ByteSize> = None,
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
            let inserting = self.inserting(cx.machine(self.machine.as_ref())?);
            let inserted = insert(cx.module, function, &descriptions, &inserting)?;
            let Some(exchanges) = inserted else { continue };
            cx.count("collectives", exchanges.count());
            cx.count("sent bytes", exchanges.sent_bytes());
            changed = Changed::Yes;
        }
        Ok(changed)
    }
}

/// How communication is inserted.
#[derive(Clone, Debug)]
pub struct Inserting {
    /// The machine, whose links prices are of.
    pub machine: Machine,
    /// Terms can be reduced and scattered at once.
    pub reduce_scatter: bool,
    /// How much goes into one collective, in bytes of the whole that a group of devices holds; if it is not given, so much that it
    /// takes the machine about as long as its bytes.
    pub bucket_bytes: Option<u64>,
}

impl Inserting {
    /// As the pass does it unless it is told otherwise.
    pub fn for_machine(machine: Machine) -> Inserting {
        InsertCommunication::default().inserting(machine)
    }
}

impl InsertCommunication {
    fn inserting(&self, machine: Machine) -> Inserting {
        Inserting {
            machine,
            reduce_scatter: self.reduce_scatter,
            bucket_bytes: self.bucket_bytes.map(|size| size.0),
        }
    }
}

/// The bytes that a device sends in a step of a function that is written for each device, as its ops say.
pub fn sent_in_program(module: &Module, function: OpId, descriptions: &Descriptions) -> u64 {
    sent_in_text(module, function, &trips(module, function, descriptions))
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
    inserting: &Inserting,
) -> Result<Option<Exchanges>, Diagnostic> {
    let Some(planned) = Planned::of(module, function, descriptions, inserting)? else {
        return Ok(None);
    };
    let is_call = |&op: &OpId| module.is(op, &CALL) && callee(module, op) == Some(function);
    if let Some(call) = module.walk(module.root()).find(is_call) {
        let message = "a function that is called cannot become one for each device, since who calls it has whole tensors";
        let help = "run `inline` first";
        return Err(module
            .error(function, &codes::CANNOT_COMMUNICATE, message)
            .secondary(module.span(call), "it is called here")
            .help(help));
    }
    let mut exchanges = planned.exchanges.clone();
    let most = inserting.bucket_bytes.unwrap_or_else(|| usual_bytes(&planned.machine, &planned.mesh));
    let trips = trips(module, function, descriptions);
    rewrite(module, function, descriptions, planned)?;
    share(module, function, &trips, &mut exchanges)?;
    hoist(module, function);
    bucket(module, function, most, &trips, &mut exchanges)?;
    Ok(Some(exchanges))
}

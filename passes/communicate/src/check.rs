//! `--check-equivalence`: a program before and after it is split, run on the same arguments.

use std::fmt::Write as _;

use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_dialect_dist::spmd;
use tofu_dialect_func::{FUNC, body};
use tofu_equivalence::{
    Comparison, Tolerance, draw, elements_behind, run_together, sent_bytes, shrink, type_text, unplanned,
};
use tofu_interpreter::Interpreter;
use tofu_ir::{ElementType, Module, OpId, TensorType};
use tofu_machine::Machine;
use tofu_pass::{Changed, Example, MachineName, ModuleAnchor, Pass, PassContext, PassResult, pass_options};
use tofu_tdl::{Descriptions, OpaqueRegistry, Tensor};

use crate::insert::{Inserting, insert, sent_in_program};
use crate::planned::{Exchanges, Planned};

pass_options! {
    /// Checks that functions with shardings do the same when they are split.
    ///
    /// Each is run on arguments drawn at random, on one device and on as many virtual ones as its mesh has, and the results are compared. The bytes that
    /// devices send are compared with those of the plan. The program stays as it is.
    ///
    /// A function of too much work is run on smaller tensors: extents shrink that neither attributes nor constants hold.
    pub struct CheckEquivalence {
        /// What arguments are drawn by.
        pub seed: u64 = 0,
        /// How far a result may be from the other one, relative to that; by default what rounding explains
        /// to the types that it is computed in.
        pub rtol: Option<f64> = None,
        /// How far it may be in any case; by default as much, of the largest element of the other one.
        pub atol: Option<f64> = None,
        /// How many operations and bytes a run on one device may take before tensors shrink.
        pub work: u64 = 30_000_000,
        /// The machine, if it is not that of the whole run: a preset, or a file that describes one.
        pub machine: Option<MachineName> = None,
        /// Terms can be reduced and scattered at once.
        pub reduce_scatter: bool = true,
    }
}

impl Pass for CheckEquivalence {
    const NAME: &'static str = "check-equivalence";
    type Anchor = ModuleAnchor;

    const EXAMPLE: Example = Example {
        program: "dist.mesh @m = [x = 4]
func @f(%x: tensor<8x8xf32> {dist.sharding = #dist.sharding<@m, [{x}, {}]>},
        %w: tensor<8x8xf32> {dist.sharding = #dist.sharding<@m, [{x}, {}]>})
    -> (tensor<8x8xf32> {dist.sharding = #dist.sharding<@m, [{x}, {}]>}) {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0], dist.sharding = #dist.sharding<@m, [{x}, {}]>}
  return %y
}",
        effect: "Says that `%y` is the same on 4 devices, which send 192 bytes each.",
    };

    const STATISTICS: &'static [(&'static str, &'static str)] =
        &[("functions", "Functions that were run."), ("shrunk extents", "Extents that were made smaller.")];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let root = cx.op();
        let functions: Vec<OpId> = cx
            .module
            .walk(root)
            .filter(|&op| cx.module.is(op, &FUNC) && body(cx.module, op).is_some())
            .collect();
        for function in functions {
            if spmd(cx.module, function).is_some() {
                let name = cx.module.symbol_name(function).map_or("", |name| cx.module.text(name));
                let message = format!(
                    "`@{name}` is written for each device already: there is nothing to compare it with"
                );
                let error = cx.module.error(function, &codes::CANNOT_COMMUNICATE, message);
                return Err(error.help("put `check-equivalence` before `insert-communication`").into());
            }
            let machine = cx.machine(self.machine.as_ref())?;
            let Some(checked) = self.check(cx.module, function, &machine)? else { continue };
            cx.count("functions", 1);
            cx.count("shrunk extents", checked.shrunk as u64);
            cx.summarize(checked.text);
            cx.report_all(checked.wrong)?;
        }
        Ok(Changed::No)
    }
}

/// What came of a check.
struct Checked {
    text: String,
    shrunk: usize,
    wrong: Vec<Diagnostic>,
}

impl CheckEquivalence {
    /// None if the function has no shardings.
    fn check(
        &self,
        module: &Module,
        function: OpId,
        machine: &Machine,
    ) -> Result<Option<Checked>, Diagnostic> {
        let descriptions = Descriptions::new();
        let inserting =
            Inserting { reduce_scatter: self.reduce_scatter, ..Inserting::for_machine(machine.clone()) };
        let planned = Planned::of(module, function, &descriptions, &inserting)?;
        let Some(devices) = planned.map(|planned| planned.mesh.devices()) else { return Ok(None) };
        let shrunk = shrink(module, function, &descriptions, devices, self.work);
        let unsplit = shrunk.module;
        let mut split = unsplit.clone();
        let Some(exchanges) = insert(&mut split, function, &Descriptions::new(), &inserting)? else {
            return Ok(None);
        };
        let mut text = String::new();
        let name = module.symbol_name(function).map_or("", |name| module.text(name));
        for (from, to) in &shrunk.extents {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "@{name} is run with {to} in place of {from}");
        }
        let compared = self.compare(&unsplit, &split, function, &exchanges)?;
        text.push_str(&compared.text);
        Ok(Some(Checked { text, shrunk: shrunk.extents.len(), wrong: compared.wrong }))
    }

    /// Runs a function as it is, and as it is split, on arguments drawn by the seed.
    ///
    /// # Errors
    /// It cannot be run, or fails.
    fn compare(
        &self,
        unsplit: &Module,
        split: &Module,
        function: OpId,
        exchanges: &Exchanges,
    ) -> Result<Compared, Diagnostic> {
        let name = unsplit.symbol_name(function).map_or("", |name| unsplit.text(name));
        let not_split = || {
            let message = format!("`@{name}` is not written for each device");
            split.error(function, &codes::CANNOT_COMMUNICATE, message)
        };
        let signature = spmd(split, function).ok_or_else(not_split)?;
        let types: Vec<TensorType> = signature.arguments.iter().map(|lying| lying.ty.clone()).collect();
        let arguments = draw(self.seed, &types)
            .map_err(|message| unsplit.error(function, &codes::WRONG_ARGUMENTS, message))?;
        let single: Vec<Tensor> =
            Interpreter::new(unsplit, &OpaqueRegistry::builtin()).run(function, &arguments)?;
        let together = run_together(split, function, &signature, &arguments)?;
        let mut compared = Compared { text: format!("@{name}\n"), wrong: Vec::new() };
        let returned: Vec<_> = body(unsplit, function)
            .and_then(|block| unsplit.last_op(block))
            .map_or(Vec::new(), |last| unsplit.operands(last).collect());
        let elements = elements_behind(unsplit, function);
        for (number, (own, whole)) in together.results.iter().zip(&single).enumerate() {
            let title = format!("res{number}");
            let computed_from = elements.get(number).map_or(&[][..], Vec::as_slice);
            let found = Comparison::of(own, whole, self.tolerance(whole, computed_from));
            compared.text.push_str(&found.line(&title, &type_text(&own.ty())));
            let Some(message) = found.message(&title, own, whole) else { continue };
            let maker =
                returned.get(number).and_then(|&value| unsplit.defining_op(value)).unwrap_or(function);
            let error = unsplit.error(maker, &codes::RESULTS_DIFFER, message);
            compared.wrong.push(
                error.note(format!("`@{name}` was run split and unsplit on arguments of seed {}", self.seed)),
            );
        }
        let (sent, planned) = (sent_bytes(split, &together.traffic), exchanges.sent_bytes());
        let devices = plural(signature.mesh.devices() as usize, "device");
        let _ = writeln!(compared.text, "{devices}, each of which sends {sent} bytes");
        for (op, sent, planned) in unplanned(split, &together.traffic) {
            let op_name = split.def(op).written_name();
            let message = format!("devices send {sent} bytes in `{op_name}`, not {planned} as planned");
            compared.wrong.push(split.error(op, &codes::TRAFFIC_DIFFERS, message));
        }
        // Which branches are taken, and how often loops go round that nobody counts, the plan does not know; what it does is what the text says.
        let said = sent_in_program(split, function, &Descriptions::new());
        if said != planned {
            let message =
                format!("devices that run `@{name}` are to send {said} bytes each, not {planned} as planned");
            compared.wrong.push(unsplit.error(function, &codes::TRAFFIC_DIFFERS, message));
        }
        Ok(compared)
    }

    fn tolerance(&self, expected: &Tensor, computed_from: &[ElementType]) -> Tolerance {
        let usual = Tolerance::of_result(expected, computed_from.iter().copied());
        Tolerance {
            relative: self.rtol.unwrap_or(usual.relative),
            absolute: self.atol.unwrap_or(usual.absolute),
        }
    }
}

/// What came of a comparison.
struct Compared {
    text: String,
    wrong: Vec<Diagnostic>,
}

#[cfg(test)]
mod tests;

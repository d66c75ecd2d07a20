//! Programs made ones for several devices.

use tofu_diagnostics::{Diagnostic, Severity};
use tofu_ir::Module;
use tofu_pass::{PassManager, Session};
use tofu_pass_communicate::InsertCommunication;
use tofu_pass_partition::Partition;

/// Makes a program one for so many devices: it is partitioned, and communication is inserted. What there is to warn of.
///
/// # Errors
/// What is wrong with it.
pub fn split(module: &mut Module, devices: u64) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let partition = Partition { devices: Some(devices), ..Partition::default() };
    let manager = PassManager::new().add(partition).add(InsertCommunication::default());
    let outcome = manager.run(module, &Session::default(), &mut []);
    let is_wrong = outcome.failed();
    let (errors, others): (Vec<Diagnostic>, Vec<Diagnostic>) =
        outcome.diagnostics.into_iter().partition(|found| found.severity == Severity::Error);
    if is_wrong { Err(errors) } else { Ok(others) }
}

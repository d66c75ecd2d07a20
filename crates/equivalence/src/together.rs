//! Runs of programs that are written for each device.

use tofu_diagnostics::{Diagnostic, codes};
use tofu_interpreter::{Interpreter, Sending, Traffic, cut_shards, join_shards};
use tofu_ir::{Module, OpId};
use tofu_machine::Collective;
use tofu_sharding::{Communication, Spmd, Step};
use tofu_tdl::{OpaqueRegistry, Tensor};

/// What came of a run on several devices.
#[derive(Clone, Debug)]
pub struct Together {
    /// The results, put together.
    pub results: Vec<Tensor>,
    /// What devices sent.
    pub traffic: Traffic,
}

/// Runs a function that is written for each device on whole tensors.
///
/// # Errors
/// It fails, or devices that should hold the same do not.
pub fn run_together(
    module: &Module,
    function: OpId,
    signature: &Spmd,
    arguments: &[Tensor],
) -> Result<Together, Diagnostic> {
    let failed = |message: String| module.error(function, &codes::EXECUTION_FAILED, message);
    let mesh = &signature.mesh;
    let mut all: Vec<Vec<Tensor>> = vec![Vec::new(); mesh.devices() as usize];
    for (lying, argument) in signature.arguments.iter().zip(arguments) {
        let shares = cut_shards(mesh, &lying.sharding, argument).map_err(failed)?;
        all.iter_mut().zip(shares).for_each(|(device, share)| device.push(share));
    }
    let mut interpreter = Interpreter::new(module, &OpaqueRegistry::builtin());
    let (given, traffic) = interpreter.run_together(function, &all)?;
    let mut results = Vec::new();
    for (number, lying) in signature.results.iter().enumerate() {
        let shares: Vec<Tensor> = given.iter().filter_map(|device| device.get(number).cloned()).collect();
        let shape = lying.ty.static_dims().unwrap_or_default();
        let joined = join_shards(mesh, &lying.sharding, &shape, &shares);
        results.push(joined.map_err(|message| failed(format!("result {number}: {message}")))?);
    }
    Ok(Together { results, traffic })
}

/// The bytes that a device sent, as plans count them: in rings and all-to-alls, what devices send on the average; in other exchanges,
/// what the device gets that gets most.
pub fn sent_bytes(module: &Module, traffic: &Traffic) -> u64 {
    traffic.ops().iter().map(|sending| sent_each(module, sending).saturating_mul(sending.times)).sum()
}

/// The same for an op, each time.
fn sent_each(module: &Module, sending: &Sending) -> u64 {
    let communication = Communication::of(module, sending.op);
    let times = sending.times.max(1);
    match communication.and_then(|communication| communication.collective()) {
        None => 0,
        Some((Collective::HaloExchange | Collective::Permute, _)) => {
            sending.received.iter().copied().max().unwrap_or(0) / times
        }
        Some(_) => (sending.sent.iter().sum::<u64>() / times).div_ceil(sending.sent.len().max(1) as u64),
    }
}

/// The ops in which devices sent other bytes each time than plans say, with both numbers. Elements of less than a byte are sent packed; where
/// plans round up to bytes, a byte does not count.
pub fn unplanned(module: &Module, traffic: &Traffic) -> Vec<(OpId, u64, u64)> {
    let wrong = |sending: &Sending| {
        let mesh = Communication::of(module, sending.op)?.mesh;
        let planned = Step::of(module, sending.op).map_or(0, |step| step.sent_bytes(&mesh));
        let bits = module.tensor_type(module.result(sending.op, 0))?.element.bits();
        let rounding = if bits.is_multiple_of(8) { 0 } else { module.result_count(sending.op) as u64 };
        let counted = sent_each(module, sending);
        (counted.abs_diff(planned) > rounding).then_some((sending.op, counted, planned))
    };
    traffic.ops().iter().filter_map(wrong).collect()
}

//! Collectives of the same kind over the same axes, several at once.
//!
//! A collective takes some time however little it sends. So what is reduced, gathered or scattered one after the other goes together,
//! as gradients do behind the layers of a backward pass, until it is so much that the time is that of the bytes:
//!
//! ```text
//! ── g3 ── r3 ── g2 ── r2 ── … ── use r3      ──►      ── g3 ── g2 ── [r3 r2] ── … ── use r3
//! ```
//!
//! A bucket stands where its last operand is made, and nobody waits for it longer: it is closed where somebody reads the first of its results. (Li et al., "PyTorch
//! Distributed: experiences on accelerating data parallel training", VLDB 2020, section 3.2.3.)

use rustc_hash::FxHashMap;
use tofu_diagnostics::Diagnostic;
use tofu_dialect_dist::{build_bucket, can_be_together};
use tofu_ir::{BlockId, Builder, Module, OpId, ValueId};
use tofu_machine::{Collective, Machine};
use tofu_sharding::{Axes, Mesh, Step};

use crate::planned::Exchanges;
use crate::tidy::{Trips, blocks, forget, times};

/// Buckets that nobody has said the size of hold at least, and at most, so many bytes.
const USUAL: [u64; 2] = [1 << 20, 1 << 30];

/// How much of the time is that of the bytes in a bucket that is large enough.
const BUSY: f64 = 0.9;

/// The bytes from which on twice as many take nearly twice as long to be reduced by all devices.
pub(crate) fn usual_bytes(machine: &Machine, mesh: &Mesh) -> u64 {
    let axes: Axes = (0..mesh.axes().len()).filter_map(|axis| u8::try_from(axis).ok()).collect();
    let seconds = |bytes: u64| {
        let step = Step { collective: Collective::AllReduce, axes: axes.clone(), bytes };
        step.time(machine, mesh).seconds()
    };
    let mut bytes = USUAL[0];
    while bytes < USUAL[1] && seconds(2 * bytes) < (1.0 + BUSY) * seconds(bytes) {
        bytes *= 2;
    }
    bytes
}

/// Puts collectives together, in buckets of at most so many bytes; those are bytes of the whole that a group of devices holds.
///
/// # Errors
/// What the plan does not know.
pub(crate) fn bucket(
    module: &mut Module,
    function: OpId,
    most: u64,
    trips: &Trips,
    exchanges: &mut Exchanges,
) -> Result<(), Diagnostic> {
    for block in blocks(module, function) {
        let mut buckets = Buckets { most, open: Vec::new(), closed: Vec::new() };
        let deadlines = deadlines(module, block);
        let ops: Vec<OpId> = module.ops(block).collect();
        for (place, &op) in ops.iter().enumerate() {
            buckets.close(|bucket| bucket.deadline <= place);
            if let Some(step) = Step::of(module, op) {
                let deadline = deadlines.get(&op).copied().unwrap_or(ops.len());
                buckets.put(module, op, step, deadline);
            }
        }
        buckets.close(|_| true);
        for bucket in buckets.closed.into_iter().filter(|bucket| bucket.steps.len() > 1) {
            bucket.build(module, trips, exchanges)?;
        }
    }
    Ok(())
}

/// The place of the op of a block that first reads what an op of it gives, itself or in its regions.
fn deadlines(module: &Module, block: BlockId) -> FxHashMap<OpId, usize> {
    let places: FxHashMap<OpId, usize> =
        module.ops(block).enumerate().map(|(place, op)| (op, place)).collect();
    let first = |op: OpId| {
        let users = module
            .results(op)
            .flat_map(|result| module.uses(result).map(|(user, _)| user).collect::<Vec<_>>());
        let place = |user: OpId| module.ancestors(user).find_map(|around| places.get(&around).copied());
        users.filter_map(place).min()
    };
    places.keys().filter_map(|&op| Some((op, first(op)?))).collect()
}

struct Buckets {
    most: u64,
    open: Vec<Bucket>,
    closed: Vec<Bucket>,
}

struct Bucket {
    steps: Vec<(OpId, Step)>,
    bytes: u64,
    /// Where somebody reads the first result.
    deadline: usize,
}

impl Buckets {
    fn close(&mut self, is_due: impl Fn(&Bucket) -> bool) {
        let open = std::mem::take(&mut self.open);
        let (due, open): (Vec<Bucket>, Vec<Bucket>) = open.into_iter().partition(is_due);
        self.open = open;
        self.closed.extend(due);
    }

    fn put(&mut self, module: &Module, op: OpId, step: Step, deadline: usize) {
        let fits = |bucket: &Bucket| can_be_together(module, bucket.steps[0].0, op);
        if let Some(bucket) = self.open.iter_mut().find(|bucket| fits(bucket)) {
            let bytes = bucket.bytes.saturating_add(step.bytes);
            if bytes <= self.most {
                bucket.bytes = bytes;
                bucket.deadline = bucket.deadline.min(deadline);
                bucket.steps.push((op, step));
                return;
            }
        }
        self.close(fits);
        if can_be_together(module, op, op) {
            self.open.push(Bucket { bytes: step.bytes, steps: vec![(op, step)], deadline });
        }
    }
}

impl Bucket {
    /// Where the last of the ops stands, one takes the place of all.
    fn build(self, module: &mut Module, trips: &Trips, exchanges: &mut Exchanges) -> Result<(), Diagnostic> {
        let ops: Vec<OpId> = self.steps.iter().map(|&(op, _)| op).collect();
        let Some(&last) = ops.last() else { return Ok(()) };
        let mut builder = Builder::before(module, last).origin(last);
        let made = build_bucket(&mut builder, &ops);
        module.join_places(made, &ops);
        for (op, step) in self.steps {
            forget(module, op, step, trips, exchanges)?;
        }
        exchanges.add(Step::of(module, made), times(module, last, trips));
        let given: Vec<ValueId> = module.results(made).collect();
        for (&op, &value) in ops.iter().zip(&given) {
            let name = module.value_name(module.result(op, 0));
            module.replace(op, &[value]);
            module.set_value_name(value, name);
        }
        Ok(())
    }
}

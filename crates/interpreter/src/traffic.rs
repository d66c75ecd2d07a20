//! What devices sent while a program ran.

use rustc_hash::FxHashMap;
use tofu_ir::OpId;

/// The bytes that devices sent, op by op, in the order in which ops first sent any.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    ops: Vec<Sending>,
    places: FxHashMap<OpId, usize>,
}

/// What devices sent in one op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sending {
    /// The op.
    pub op: OpId,
    /// How often it was run.
    pub times: u64,
    /// The bytes that each device sent, all times together.
    pub bytes: Vec<u64>,
}

impl Traffic {
    /// What was sent in each op.
    pub fn ops(&self) -> &[Sending] {
        &self.ops
    }

    /// The bytes that each device sent.
    pub fn of_devices(&self) -> Vec<u64> {
        let mut sum: Vec<u64> = Vec::new();
        for sending in &self.ops {
            sum.resize(sum.len().max(sending.bytes.len()), 0);
            sum.iter_mut().zip(&sending.bytes).for_each(|(sum, bytes)| *sum += bytes);
        }
        sum
    }

    pub(crate) fn add(&mut self, op: OpId, sent: &[u64]) {
        let place = *self.places.entry(op).or_insert(self.ops.len());
        if place == self.ops.len() {
            self.ops.push(Sending { op, times: 0, bytes: vec![0; sent.len()] });
        }
        let sending = &mut self.ops[place];
        sending.times += 1;
        sending.bytes.iter_mut().zip(sent).for_each(|(sum, bytes)| *sum += bytes);
    }
}

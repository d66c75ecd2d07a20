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
    pub sent: Vec<u64>,
    /// The bytes that each device received.
    pub received: Vec<u64>,
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
            sum.resize(sum.len().max(sending.sent.len()), 0);
            sum.iter_mut().zip(&sending.sent).for_each(|(sum, bytes)| *sum += bytes);
        }
        sum
    }

    pub(crate) fn add(&mut self, op: OpId, sent: &[u64], received: &[u64]) {
        let place = *self.places.entry(op).or_insert(self.ops.len());
        if place == self.ops.len() {
            let none = vec![0; sent.len()];
            self.ops.push(Sending { op, times: 0, sent: none.clone(), received: none });
        }
        let sending = &mut self.ops[place];
        sending.times += 1;
        sending.sent.iter_mut().zip(sent).for_each(|(sum, bytes)| *sum += bytes);
        sending.received.iter_mut().zip(received).for_each(|(sum, bytes)| *sum += bytes);
    }
}

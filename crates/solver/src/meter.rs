//! Counting work. One unit is about one matrix entry or label looked at, a nanosecond or two; the same run spends the
//! same units on any machine, which is what makes a work limit deterministic and a time limit not.

use std::time::Instant;

/// A part of the work, to be spent by one lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    pub(crate) spent: u64,
    limit: u64,
    deadline: Option<Instant>,
}

impl Meter {
    pub(crate) fn new(limit: u64, deadline: Option<Instant>) -> Self {
        Meter { spent: 0, limit, deadline }
    }

    /// A meter of its own for a part of the work; what it spends is still to be added.
    pub(crate) fn part(&self, limit: u64) -> Meter {
        Meter { spent: 0, limit, deadline: self.deadline }
    }

    pub(crate) fn spend(&mut self, work: u64) {
        self.spent += work;
    }

    /// Whether the work is spent or the time is over.
    pub(crate) fn done(&self) -> bool {
        self.spent >= self.limit || self.late()
    }

    /// Whether the time is over.
    pub(crate) fn late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

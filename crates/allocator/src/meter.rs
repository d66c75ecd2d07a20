//! Counting work, so that the same run ends at the same place on any machine. One unit is about a nanosecond.

/// Work that is spent, of as much as may be.
pub(crate) struct Meter<'c> {
    pub(crate) spent: u64,
    limit: u64,
    /// Where the caller is asked again.
    next: u64,
    go_on: &'c mut dyn FnMut() -> bool,
}

/// How often the caller is asked whether to go on, in work.
const EVERY: u64 = 1_000_000;

impl<'c> Meter<'c> {
    pub(crate) fn new(limit: u64, go_on: &'c mut dyn FnMut() -> bool) -> Meter<'c> {
        Meter { spent: 0, limit, next: EVERY, go_on }
    }

    pub(crate) fn spend(&mut self, work: u64) {
        self.spent = self.spent.saturating_add(work);
        if self.spent >= self.next {
            self.next = self.spent.saturating_add(EVERY);
            if !(self.go_on)() {
                self.limit = 0;
            }
        }
    }

    /// Whether there is nothing left, or the caller has had enough.
    pub(crate) fn is_done(&self) -> bool {
        self.spent >= self.limit
    }

    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.spent)
    }
}

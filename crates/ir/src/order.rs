//! Order keys: which of two ops of a block comes first, in constant time.
//!
//! Every op of a block has a key, and keys ascend along the block. A new op takes a key between its neighbours'. Where
//! there is none left, the smallest aligned range of keys around the place that is not too full gets its ops spread
//! evenly over it. A range of 2^k keys is too full beyond 1.5^k ops: larger ranges have to be emptier, so that after
//! one was spread out much must be inserted before it is again. That costs O(log n) changed keys for each insertion on
//! average, wherever the insertions are (Bender, Cole, Demaine, Farach-Colton and Zito, "Two Simplified Algorithms for
//! Maintaining Order in a List", 2002).

use crate::{Module, OpId};

/// The key of an op that is alone.
const MIDDLE: u64 = 1 << 63;

/// Between neighbours at either end of a block: 2^32 ops, as many as a module can hold, fit in without more ado.
const STEP: u64 = 1 << 31;

/// How much fuller a range twice as large may be. Of all the 2^64 keys 1.5^64, more than 2^37, may be taken.
const GROWTH: f64 = 1.5;

impl Module {
    /// Gives an op that was just linked into a block its key. Returns how many other ops got a new one.
    pub(crate) fn assign_order(&mut self, op: OpId) -> usize {
        let key = |op: OpId| self.ops[op].order;
        let key = match (self.ops[op].previous.map(key), self.ops[op].next.map(key)) {
            (None, None) => Some(MIDDLE),
            (Some(low), None) => between(low, low.saturating_add(2 * STEP)),
            (None, Some(high)) => between(high.saturating_sub(2 * STEP), high),
            (Some(low), Some(high)) => between(low, high),
        };
        match key {
            Some(key) => {
                self.ops[op].order = key;
                0
            }
            None => self.spread_around(op),
        }
    }

    fn spread_around(&mut self, op: OpId) -> usize {
        let neighbor = self.ops[op].previous.or(self.ops[op].next);
        let base = neighbor.map_or(MIDDLE, |neighbor| self.ops[neighbor].order);
        let (mut first, mut last, mut count) = (op, op, 1u64);
        let mut limit = 1.0;
        for bits in 1..=u64::BITS {
            limit *= GROWTH;
            let mask = u64::MAX >> (u64::BITS - bits);
            let (start, end) = (base & !mask, base | mask);
            while let Some(previous) = self.ops[first].previous.filter(|&op| self.ops[op].order >= start) {
                (first, count) = (previous, count + 1);
            }
            while let Some(next) = self.ops[last].next.filter(|&op| self.ops[op].order <= end) {
                (last, count) = (next, count + 1);
            }
            if count as f64 <= limit {
                self.spread(first, last, start, mask / count);
                break;
            }
        }
        count as usize - 1
    }

    fn spread(&mut self, first: OpId, last: OpId, start: u64, gap: u64) {
        let mut at = Some(first);
        let mut key = start + gap / 2;
        while let Some(op) = at {
            self.ops[op].order = key;
            key = key.wrapping_add(gap);
            at = if op == last { None } else { self.ops[op].next };
        }
    }
}

fn between(low: u64, high: u64) -> Option<u64> {
    let middle = low + (high - low) / 2;
    (low < middle).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ANY, module};
    use crate::{BlockId, OpState};

    /// How many keys `n` insertions into a block of `n` ops change; `place` says before which op the next one goes.
    fn changed_keys(n: usize, place: impl Fn(&Module, BlockId, Option<OpId>) -> Option<OpId>) -> usize {
        let mut module = module();
        let block = module.body();
        for _ in 0..n {
            let op = module.create(OpState::new(&ANY));
            module.append(block, op);
        }
        let (mut changed, mut newest) = (0, None);
        for _ in 0..n {
            let op = module.create(OpState::new(&ANY));
            let next = place(&module, block, newest);
            let previous = next.map_or_else(|| module.last_op(block), |next| module.previous_op(next));
            changed += module.link(op, block, previous, next);
            newest = Some(op);
        }
        let keys: Vec<u64> = module.ops(block).map(|op| module.ops[op].order).collect();
        assert_eq!(keys.len(), 2 * n);
        assert!(keys.is_sorted_by(|a, b| a < b));
        changed
    }

    #[test]
    fn insertions_at_one_place_change_few_keys() {
        const N: usize = 100_000;
        let bound = 2 * N * (2 * N).ilog2() as usize;
        let middle = |module: &Module, block| module.ops(block).nth(N / 2);
        assert_eq!(changed_keys(N, |_, _, _| None), 0);
        assert_eq!(changed_keys(N, |module, block, _| module.first_op(block)), 0);
        let before_anchor = changed_keys(N, |module, block, newest| match newest {
            Some(newest) => module.next_op(newest),
            None => middle(module, block),
        });
        assert!((1..bound).contains(&before_anchor), "{before_anchor}");
        let after_anchor = changed_keys(N, |module, block, newest| newest.or_else(|| middle(module, block)));
        assert!((1..bound).contains(&after_anchor), "{after_anchor}");
    }

    #[test]
    fn keys_at_either_end_of_the_range_make_room() {
        for end in [0, u64::MAX] {
            let mut module = module();
            let block = module.body();
            for _ in 0..3 {
                let op = module.create(OpState::new(&ANY));
                module.append(block, op);
            }
            let ops: Vec<OpId> = module.ops(block).collect();
            for (index, &op) in ops.iter().enumerate() {
                module.ops[op].order = end.abs_diff(if end == 0 { index as u64 } else { 2 - index as u64 });
            }
            for _ in 0..100 {
                let op = module.create(OpState::new(&ANY));
                match end {
                    0 => module.insert_before(ops[0], op),
                    _ => module.append(block, op),
                }
            }
            for pair in module.ops(block).collect::<Vec<_>>().windows(2) {
                assert!(module.is_before(pair[0], pair[1]));
            }
        }
    }
}

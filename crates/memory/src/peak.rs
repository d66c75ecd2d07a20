//! How much memory a step needs, position by position.

use std::ops::Range;

use tofu_ir::ValueId;

use crate::{Liveness, StorageId};

/// Memory that is needed for a while beside the storages: what a conversion or a collective copies through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transient {
    /// The positions at which it is needed.
    pub live: Range<u32>,
    /// Bytes.
    pub bytes: u64,
}

/// The position at which most memory is needed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Peak {
    /// Bytes that are alive there.
    pub bytes: u64,
    /// The first position at which so much is alive.
    pub position: u32,
    /// The storages that are alive there and hold something, and the bytes of each; the largest first.
    pub alive: Vec<(StorageId, u64)>,
    /// Bytes of transients that are alive there.
    pub transient: u64,
}

impl Liveness {
    /// The bytes of each storage, by its number: those of the largest of its values.
    pub fn storage_bytes(&self, bytes: &dyn Fn(ValueId) -> u64) -> Vec<u64> {
        let largest = |values: &[ValueId]| values.iter().map(|&value| bytes(value)).max().unwrap_or(0);
        self.storages().map(|(_, storage)| largest(&storage.values)).collect()
    }

    /// The most that is alive at once. `bytes` says how much of a value a device holds.
    pub fn peak(&self, bytes: &dyn Fn(ValueId) -> u64, transients: &[Transient]) -> Peak {
        let sizes = self.storage_bytes(bytes);
        let live = self.storages().map(|(_, storage)| storage.live.clone()).zip(sizes.iter().copied());
        let others = transients.iter().map(|transient| (transient.live.clone(), transient.bytes));
        let profile = profile(self.schedule().len(), live.chain(others));
        // Of equal ones, the first.
        let highest =
            profile.iter().zip(0u32..).max_by_key(|&(&bytes, position)| (bytes, u32::MAX - position));
        let Some((&bytes, position)) = highest else { return Peak::default() };
        let mut alive: Vec<(StorageId, u64)> = self
            .storages()
            .zip(sizes)
            .filter(|((_, storage), bytes)| storage.live.contains(&position) && *bytes > 0)
            .map(|((id, _), bytes)| (id, bytes))
            .collect();
        alive.sort_by_key(|&(id, bytes)| (u64::MAX - bytes, id));
        let there = transients.iter().filter(|transient| transient.live.contains(&position));
        let transient = there.fold(0u64, |sum, transient| sum.saturating_add(transient.bytes));
        Peak { bytes: clamp(bytes), position, alive, transient }
    }

    /// The bytes that are alive at each position.
    pub fn profile(&self, bytes: &dyn Fn(ValueId) -> u64, transients: &[Transient]) -> Vec<u64> {
        let sizes = self.storage_bytes(bytes);
        let live = self.storages().map(|(_, storage)| storage.live.clone()).zip(sizes);
        let others = transients.iter().map(|transient| (transient.live.clone(), transient.bytes));
        profile(self.schedule().len(), live.chain(others)).into_iter().map(clamp).collect()
    }
}

/// Sums of what is alive at each of `positions` positions.
fn profile(positions: u32, live: impl Iterator<Item = (Range<u32>, u64)>) -> Vec<u128> {
    let mut changes = vec![0i128; positions as usize + 1];
    for (range, bytes) in live {
        let (start, end) = (range.start.min(positions), range.end.min(positions));
        if start < end {
            changes[start as usize] += i128::from(bytes);
            changes[end as usize] -= i128::from(bytes);
        }
    }
    changes.pop();
    let sums = changes.into_iter().scan(0i128, |sum, change| {
        *sum += change;
        Some(sum.unsigned_abs())
    });
    sums.collect()
}

fn clamp(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

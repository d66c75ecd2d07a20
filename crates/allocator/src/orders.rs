//! Orders in which items are tried.

use std::cmp::Reverse;

use fastrand::Rng;

use crate::model::Model;

/// Orders of the items, those that are most in the way first. In each round the same ones by length, area, height and the load
/// that an item lies under, then others that weigh these differently, with some noise.
pub(crate) fn orders(model: &Model, round: u64) -> Vec<Vec<u32>> {
    let facts = facts(model);
    let mut random = Rng::with_seed(round);
    let by_keys = BY_KEYS.iter().map(|keys| sorted(facts.iter().map(|facts| keys.map(|key| facts[key]))));
    let by_weights = (0..WEIGHED).map(|_| {
        let mut weights: [u64; 4] = std::array::from_fn(|_| random.u64(..=8));
        weights[MOST] *= 8;
        let noise = random.u64(..4);
        sorted(facts.iter().map(|facts| {
            let score = facts.iter().zip(weights).map(|(&fact, weight)| log2(fact) * weight).sum::<u64>();
            score + random.u64(..=(noise << 16))
        }))
    });
    by_keys.chain(by_weights).collect()
}

const LENGTH: usize = 0;
const AREA: usize = 1;
const HEIGHT: usize = 2;
const MOST: usize = 3;

const BY_KEYS: [[usize; 3]; 5] = [
    [MOST, LENGTH, AREA],
    [MOST, AREA, LENGTH],
    [LENGTH, AREA, MOST],
    [AREA, LENGTH, HEIGHT],
    [HEIGHT, LENGTH, MOST],
];

/// How many orders there are in a round beside those.
const WEIGHED: usize = 5;

/// An item's length, area, height, and the highest load of its sections.
fn facts(model: &Model) -> Vec<[u128; 4]> {
    let load = model.load();
    let facts = model.items.iter().map(|item| {
        let most = item.parts.iter().flat_map(|part| &load[part.sections()]).max().copied().unwrap_or(0);
        let (length, height) = (u128::from(item.length), u128::from(item.height));
        [length, length * height, height, most.into()]
    });
    facts.collect()
}

/// The numbers of the items, those with the largest keys first.
fn sorted<K: Ord>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut order: Vec<(Reverse<K>, u32)> = keys.map(Reverse).zip(0..).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}

/// 65,536 times the logarithm, piece by piece linear: the same on every machine.
fn log2(number: u128) -> u64 {
    let Some(whole) = number.checked_ilog2() else { return 0 };
    let part = (number - (1 << whole)) << 16 >> whole;
    u64::from(whole) << 16 | part as u64
}

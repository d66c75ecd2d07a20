//! Bounds that hold: the dual's prices and messages, rounded to integers, evaluated without rounding.
//!
//! Any prices p >= 0 and any messages give a valid bound, so rounding them costs a little of its height and nothing of
//! its validity. Costs are scaled by a power of two first, so that the rounding is far below one unit. Node sums are
//! 128-bit; what enters an edge is clamped to 2^53, downwards where it matters, so that nothing overflows.

use crate::model::FORBIDDEN;

use super::dual::Dual;
use super::graph::Direction;

/// A proven bound.
pub(crate) struct Certificate {
    /// Every choice within memory, of labels that are alive, costs at least this or uses a forbidden entry.
    pub(crate) bound: i64,
    /// Per label of all nodes: every such choice with this label costs at least this.
    pub(crate) with: Vec<i64>,
}

/// Bits of a price after the binary point, in addition to the costs' scale.
const PRICE_BITS: u32 = 24;

const CLAMP: f64 = (1i64 << 53) as f64;

pub(crate) fn certify(dual: &Dual, alive: Option<&[bool]>) -> Certificate {
    let Dual { model, graph, .. } = dual;
    // Scaled so that a forbidden cost has 52 bits.
    let scale_bits = (51 - graph.infinite.max(1.0).log2().ceil() as i32).clamp(0, 30) as u32;
    let scale = f64::from(1u32 << scale_bits);
    let (unary, taken_back) = unary_costs(dual, alive, scale_bits);
    let message = |index: usize| (dual.messages[index] * scale).round().clamp(-CLAMP, CLAMP) as i64;
    let infinite = (graph.infinite * scale).min(CLAMP) as i64;

    // What each node keeps after passing on, and the least of each edge, in total and per label of its ends.
    let mut total = -taken_back;
    let mut with = vec![0i128; unary.len()];
    let mut kept = vec![0i128; unary.len()];
    let mut pushed: Vec<i64> = Vec::new();
    for node in 0..graph.nodes() as u32 {
        let range = graph.labels(node);
        let sum = &mut kept[range.clone()];
        sum.copy_from_slice(&unary[range.clone()]);
        let up = graph.links(node).iter().any(|link| link.direction == Direction::Up);
        for link in graph.links(node).iter().filter(|link| link.direction != Direction::Up) {
            for (label, sum) in sum.iter_mut().enumerate() {
                *sum += i128::from(message(link.inbound + label));
            }
        }
        let share = if up { 1.0 } else { graph.share[node as usize] };
        pushed.clear();
        pushed.extend(sum.iter().map(|&sum| (sum as f64 * share).floor().clamp(-CLAMP, CLAMP) as i64));
        let pushes =
            |link: &&super::graph::Link| matches!(link.direction, Direction::Up | Direction::Backward);
        for link in graph.links(node).iter().filter(pushes) {
            let width = graph.labels(link.other).len();
            let matrix = &graph.entries[link.matrix..][..width * pushed.len()];
            let mut row_least = vec![i64::MAX; pushed.len()];
            let mut column_least = vec![i64::MAX; width];
            let outbound: Vec<i64> = (0..width).map(|column| message(link.outbound + column)).collect();
            for (row, entries) in matrix.chunks_exact(width).enumerate() {
                let mut base = pushed[row];
                if link.direction == Direction::Backward {
                    base -= message(link.inbound + row);
                }
                for ((&entry, &outbound), least) in entries.iter().zip(&outbound).zip(&mut column_least) {
                    // Whole costs below 2^53 scale without rounding; larger ones count as forbidden.
                    let cost = if entry >= graph.infinite { infinite } else { (entry as i64) << scale_bits };
                    let value = base + cost - outbound;
                    row_least[row] = row_least[row].min(value);
                    *least = (*least).min(value);
                }
            }
            let least = column_least.iter().copied().min().unwrap_or(0);
            total += i128::from(least);
            for (label, &row) in row_least.iter().enumerate() {
                with[range.start + label] += i128::from(row - least);
            }
            let other = graph.labels(link.other).start;
            for (label, &column) in column_least.iter().enumerate() {
                with[other + label] += i128::from(column - least);
            }
            for (sum, &pushed) in sum.iter_mut().zip(&pushed) {
                *sum -= i128::from(pushed);
            }
        }
        let least = sum.iter().copied().min().unwrap_or(0);
        total += least;
        for (with, sum) in with[range].iter_mut().zip(&*sum) {
            *with += *sum - least;
        }
    }
    let bound = |value: i128| {
        let scaled = -((-value) >> scale_bits) + i128::from(model.constant);
        scaled.clamp(i128::from(i64::MIN / 4), i128::from(FORBIDDEN)) as i64
    };
    Certificate { bound: bound(total), with: with.iter().map(|&with| bound(total + with)).collect() }
}

/// The nodes' costs under the prices, rounded down, and the price of the slack, rounded up; both scaled.
fn unary_costs(dual: &Dual, alive: Option<&[bool]>, scale_bits: u32) -> (Vec<i128>, i128) {
    let Dual { model, graph, .. } = dual;
    let price_scale = f64::from(1u32 << scale_bits) * f64::from(1u32 << PRICE_BITS);
    let mut sums = vec![0i128];
    let mut sum = 0i128;
    let mut taken_back = 0i128;
    for (&price, &slack) in dual.prices.iter().zip(&model.slack) {
        // Any price is valid; below 2^50 the sums stay far inside 128 bits.
        let price = (price * price_scale).round().clamp(0.0, (1u64 << 50) as f64) as i128;
        taken_back += price * i128::from(slack);
        sum += price;
        sums.push(sum);
    }
    let taken_back = -((-taken_back) >> PRICE_BITS);
    let infinite = (graph.infinite * f64::from(1u32 << scale_bits)) as i128;
    let mut unary = vec![0i128; graph.starts[graph.nodes()]];
    for (node, labels) in model.nodes.iter().enumerate() {
        let range = graph.labels(node as u32);
        for (label, (index, &cost)) in range.zip(&labels.cost).enumerate() {
            if cost >= FORBIDDEN || alive.is_some_and(|alive| !alive[index]) {
                unary[index] = infinite;
                continue;
            }
            let priced: i128 = labels
                .pieces
                .iter()
                .map(|piece| {
                    (sums[piece.to as usize] - sums[piece.from as usize]) * i128::from(piece.usage[label])
                })
                .sum();
            unary[index] = (i128::from(cost) << scale_bits) + (priced >> PRICE_BITS);
        }
    }
    (unary, taken_back)
}

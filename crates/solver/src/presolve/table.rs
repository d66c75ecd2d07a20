//! One step of elimination: the least over a node's labels of the sum of its tables.
//!
//! All tables have the node's own labels outermost and the others in one order, so that the innermost loop runs over entries
//! that lie side by side. Neighbours that occur in the same tables are one dimension.

use crate::meter::Meter;
use crate::model::{FORBIDDEN, add};
use crate::pool::{MatrixId, Pool};

/// A node's costs of all kinds. Equal ones have equal minima.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Bucket {
    /// Stands for the node's own costs.
    pub(super) own: u32,
    /// How many labels each neighbour has.
    pub(super) sizes: Vec<u32>,
    pub(super) terms: Vec<Term>,
}

/// A table over the node and some neighbours: one bit for each of these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Term {
    pub(super) table: MatrixId,
    pub(super) neighbours: u64,
}

/// The label of a node that is best for each choice of its neighbours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Best {
    /// How many labels each neighbour has.
    pub(super) sizes: Vec<u32>,
    /// Row-major.
    pub(super) labels: Vec<u16>,
}

/// What elimination leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rest {
    /// The least cost of all.
    pub(super) constant: i64,
    /// What the choices of the neighbours cost above it; `None` if nothing.
    pub(super) table: Option<MatrixId>,
}

impl Best {
    /// The best label for these labels of the neighbours.
    pub(super) fn at(&self, neighbours: impl Iterator<Item = u32>) -> u32 {
        let place = self
            .sizes
            .iter()
            .zip(neighbours)
            .fold(0, |place, (&size, label)| place * size as usize + label as usize);
        u32::from(self.labels[place])
    }
}

impl Bucket {
    /// Takes the minimum over the node's labels, whose own costs are given.
    pub(super) fn least(&self, cost: &[i64], tables: &mut Pool, meter: &mut Meter) -> (Best, Rest) {
        let layout = Layout::of(self);
        let slices: Vec<&[i64]> = self.terms.iter().map(|term| tables.get(term.table)).collect();
        let (mut values, labels) = layout.minimize(cost, &slices);
        meter.spend((labels.len() * cost.len() * (slices.len() + 1)) as u64);
        let constant = values.iter().copied().min().unwrap_or(FORBIDDEN);
        if constant < FORBIDDEN {
            values.iter_mut().filter(|value| **value < FORBIDDEN).for_each(|value| *value -= constant);
        }
        let is_flat = constant == FORBIDDEN || values.iter().all(|&value| value == 0);
        let table = (!is_flat).then(|| tables.intern(&values));
        (Best { sizes: self.sizes.clone(), labels }, Rest { constant, table })
    }
}

/// The dimensions over which a bucket is worked on, and where its tables have them.
struct Layout {
    dims: Vec<usize>,
    places: Vec<Place>,
}

/// How far apart entries of a table are.
struct Place {
    /// From one label of the node to the next.
    own: usize,
    /// Along each dimension; 0 where the table does not have it.
    strides: Vec<usize>,
}

impl Layout {
    fn of(bucket: &Bucket) -> Layout {
        let has = |term: &Term, neighbour: usize| term.neighbours >> neighbour & 1 == 1;
        let mut dims: Vec<usize> = Vec::new();
        // For each dimension, the first neighbour in it.
        let mut firsts: Vec<usize> = Vec::new();
        for (neighbour, &size) in bucket.sizes.iter().enumerate() {
            let alike = firsts.last().is_some_and(|&first| {
                bucket.terms.iter().all(|term| has(term, neighbour) == has(term, first))
            });
            match dims.last_mut() {
                Some(last) if alike => *last *= size as usize,
                _ => {
                    dims.push(size as usize);
                    firsts.push(neighbour);
                }
            }
        }
        let place = |term: &Term| {
            let mut strides = vec![0; dims.len()];
            let mut stride = 1;
            for (dim, &first) in firsts.iter().enumerate().rev() {
                if has(term, first) {
                    strides[dim] = stride;
                    stride *= dims[dim];
                }
            }
            Place { own: stride, strides }
        };
        let places = bucket.terms.iter().map(place).collect();
        Layout { dims, places }
    }

    /// For each choice of the neighbours, the least sum and the first label that gives it.
    fn minimize(&self, cost: &[i64], tables: &[&[i64]]) -> (Vec<i64>, Vec<u16>) {
        let size = self.dims.iter().product();
        let (inner, outer) = match self.dims.split_last() {
            Some((&inner, outer)) => (inner, outer),
            None => (1, &[][..]),
        };
        let runs = |&term: &usize| self.places[term].strides.last().is_some_and(|&stride| stride == 1);
        let (running, fixed): (Vec<usize>, Vec<usize>) = (0..tables.len()).partition(runs);
        let mut values = vec![FORBIDDEN; size];
        let mut labels = vec![0u16; size];
        let mut at = vec![0; outer.len()];
        let mut offsets = vec![0; tables.len()];
        let mut sums = vec![0; inner];
        for (values, labels) in values.chunks_mut(inner).zip(labels.chunks_mut(inner)) {
            for (label, &cost) in cost.iter().enumerate() {
                let start = |term: usize| offsets[term] + label * self.places[term].own;
                let base = fixed.iter().fold(cost, |sum, &term| add(sum, tables[term][start(term)]));
                if base >= FORBIDDEN {
                    continue;
                }
                let row = |term: usize| &tables[term][start(term)..][..inner];
                match running[..] {
                    [] => keep(values, labels, label, [base].into_iter()),
                    [a] => keep(values, labels, label, row(a).iter().map(|a| base + a)),
                    [a, b] => {
                        let both = row(a).iter().zip(row(b)).map(|(a, b)| base + a + b);
                        keep(values, labels, label, both);
                    }
                    _ => {
                        sums.fill(base);
                        for &term in &running {
                            sums.iter_mut().zip(row(term)).for_each(|(sum, &cost)| *sum = add(*sum, cost));
                        }
                        keep(values, labels, label, sums.iter().copied());
                    }
                }
            }
            self.advance(&mut at, outer, &mut offsets);
        }
        (values, labels)
    }

    /// The next place along the outer dimensions, and where it is in each table.
    fn advance(&self, at: &mut [usize], outer: &[usize], offsets: &mut [usize]) {
        for (dim, (at, &size)) in at.iter_mut().zip(outer).enumerate().rev() {
            *at += 1;
            let wraps = *at == size;
            for (offset, place) in offsets.iter_mut().zip(&self.places) {
                *offset += place.strides[dim];
                if wraps {
                    *offset -= size * place.strides[dim];
                }
            }
            if !wraps {
                return;
            }
            *at = 0;
        }
    }
}

/// Keeps what is less than before. Sums are of at most three costs that were capped, so none overflows.
#[inline]
fn keep(values: &mut [i64], labels: &mut [u16], label: usize, sums: impl Iterator<Item = i64>) {
    for ((value, best), sum) in values.iter_mut().zip(labels).zip(sums) {
        if sum < *value {
            *value = sum;
            *best = label as u16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the sum written out, for tables over all kinds of neighbours.
    #[test]
    fn minima_are_those_of_the_sums() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..300 {
            let sizes: Vec<u32> = (0..random.usize(0..=4)).map(|_| random.u32(1..=4)).collect();
            let own = random.usize(1..=4);
            let mut tables = Pool::new();
            let draw = |count: usize, random: &mut fastrand::Rng| -> Vec<i64> {
                (0..count).map(|_| if random.u8(..4) == 0 { FORBIDDEN } else { random.i64(0..50) }).collect()
            };
            let cost = draw(own, &mut random);
            let masks: Vec<u64> = (0..random.usize(0..=4)).map(|_| random.u64(..1 << sizes.len())).collect();
            let covered = masks.iter().fold(0, |all, mask| all | mask);
            // As in a graph, each neighbour is one of some table.
            let rest = ((1u64 << sizes.len()) - 1) & !covered;
            let terms: Vec<Term> = (masks.into_iter().chain((rest != 0).then_some(rest)))
                .map(|neighbours| {
                    let entries: usize = (0..sizes.len())
                        .filter(|&dim| neighbours >> dim & 1 == 1)
                        .map(|dim| sizes[dim] as usize)
                        .product();
                    let table = tables.intern(&draw(own * entries, &mut random));
                    Term { table, neighbours }
                })
                .collect();
            let bucket = Bucket { own: 0, sizes: sizes.clone(), terms: terms.clone() };
            let mut pool = tables.clone();
            let (best, rest) = bucket.least(&cost, &mut pool, &mut Meter::new(u64::MAX, None));
            let mut least = FORBIDDEN;
            let count: u32 = sizes.iter().product();
            for place in 0..count {
                let mut left = place;
                let mut choice = vec![0; sizes.len()];
                for (label, &size) in choice.iter_mut().zip(&sizes).rev() {
                    (*label, left) = (left % size, left / size);
                }
                let sum = |label: usize| {
                    terms.iter().fold(cost[label], |sum, term| {
                        let dims = (0..sizes.len()).filter(|&dim| term.neighbours >> dim & 1 == 1);
                        let entry =
                            dims.fold(label, |at, dim| at * sizes[dim] as usize + choice[dim] as usize);
                        add(sum, tables.get(term.table)[entry])
                    })
                };
                let expected = (0..own).map(sum).min().unwrap();
                least = least.min(expected);
                let label = best.at(choice.iter().copied()) as usize;
                assert_eq!(sum(label), expected);
                let above = rest.table.map_or(0, |table| pool.get(table)[place as usize]);
                assert_eq!(add(rest.constant, above), expected);
            }
            assert_eq!(rest.constant, least);
        }
    }
}

//! One step of elimination: the least over a node's labels of the sum of its tables.
//!
//! All tables have the node's own labels outermost and the others in one order, so that the innermost loop runs over entries
//! that lie side by side. A table about some of the neighbours that another one is about as well is added to it first;
//! neighbours that occur in the same tables are then one dimension.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::meter::Meter;
use crate::model::{FORBIDDEN, add};
use crate::pool::{MatrixId, Pool};

/// A node's costs of all kinds. Equal ones have equal minima.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Bucket {
    /// The node's own costs.
    pub(super) own: MatrixId,
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

/// What elimination leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rest {
    /// The least cost of all.
    pub(super) constant: i64,
    /// What the choices of the neighbours cost above it; `None` if nothing.
    pub(super) table: Option<MatrixId>,
}

impl Bucket {
    /// How many choices of labels the neighbours have.
    pub(super) fn choices(&self) -> usize {
        self.sizes.iter().map(|&size| size as usize).product()
    }

    /// Takes the minimum over the node's labels, in a place that was used before.
    pub(super) fn least(&self, tables: &mut Pool, values: &mut Vec<i64>, meter: &mut Meter) -> Rest {
        let own = tables.get(self.own);
        let merged = self.merged(tables, meter);
        meter.spend((self.choices() * own.len() * merged.len().max(1)) as u64);
        minimize(&self.sizes, own, &merged, values);
        let constant = values.iter().copied().min().unwrap_or(FORBIDDEN);
        if constant < FORBIDDEN {
            values.iter_mut().filter(|value| **value < FORBIDDEN).for_each(|value| *value -= constant);
        }
        let is_flat = constant == FORBIDDEN || values.iter().all(|&value| value == 0);
        drop(merged);
        Rest { constant, table: (!is_flat).then(|| tables.intern(values)) }
    }

    /// The node's first label that is best for these labels of its neighbours.
    pub(super) fn best(&self, tables: &Pool, neighbours: &[u32]) -> u32 {
        let own = tables.get(self.own);
        let mut sums = own.to_vec();
        for term in &self.terms {
            let (mut place, mut size) = (0, 1);
            for (number, (&label, &labels)) in neighbours.iter().zip(&self.sizes).enumerate().rev() {
                if term.neighbours >> number & 1 == 1 {
                    place += label as usize * size;
                    size *= labels as usize;
                }
            }
            let entries = tables.get(term.table).iter().skip(place).step_by(size);
            sums.iter_mut().zip(entries).for_each(|(sum, &cost)| *sum = add(*sum, cost));
        }
        let least = sums.iter().enumerate().min_by_key(|&(label, &sum)| (sum, label));
        least.map_or(0, |(label, _)| label as u32)
    }

    /// The tables, each about some neighbour that no other one is about.
    fn merged<'t>(&self, tables: &'t Pool, meter: &mut Meter) -> Vec<Table<'t>> {
        let table = |term: &Term| Table {
            neighbours: term.neighbours,
            entries: Cow::Borrowed(tables.get(term.table)),
        };
        let mut all: Vec<Table<'t>> = self.terms.iter().map(table).collect();
        all.sort_by_key(|table| table.entries.len());
        let mut merged: Vec<Table<'t>> = Vec::new();
        // The largest first: what is added to is there already.
        while let Some(table) = all.pop() {
            let holds = |other: &&mut Table<'t>| table.neighbours & !other.neighbours == 0;
            match merged.iter_mut().filter(holds).min_by_key(|other| other.entries.len()) {
                Some(other) => {
                    meter.spend(other.entries.len() as u64);
                    other.add(&table, &self.sizes);
                }
                None => merged.push(table),
            }
        }
        merged
    }
}

/// Costs for each label of a node and each choice of some neighbours.
struct Table<'t> {
    neighbours: u64,
    entries: Cow<'t, [i64]>,
}

impl Table<'_> {
    /// Adds a table about some of the same neighbours.
    fn add(&mut self, other: &Table<'_>, sizes: &[u32]) {
        let mut walk = Walk::new(sizes, &[self.neighbours, other.neighbours]);
        let entries = walk.entries();
        for (label, entries) in self.entries.to_mut().chunks_mut(entries).enumerate() {
            for plane in entries.chunks_mut(walk.row * walk.rows) {
                let from = &other.entries[walk.start(1, label)..];
                for (number, row) in plane.chunks_mut(walk.row).enumerate() {
                    let from = &from[number * walk.tables[1].next..];
                    if walk.runs(1) {
                        row.iter_mut().zip(from).for_each(|(sum, &cost)| *sum = add(*sum, cost));
                    } else {
                        row.iter_mut().for_each(|sum| *sum = add(*sum, from[0]));
                    }
                }
                walk.advance();
            }
        }
    }
}

/// For each choice of the neighbours, the least sum.
fn minimize(sizes: &[u32], own: &[i64], tables: &[Table<'_>], values: &mut Vec<i64>) {
    let masks: Vec<u64> = tables.iter().map(|table| table.neighbours).collect();
    let mut walk = Walk::new(sizes, &masks);
    let (running, fixed): (Vec<usize>, Vec<usize>) = (0..tables.len()).partition(|&table| walk.runs(table));
    values.clear();
    values.resize(walk.entries(), FORBIDDEN);
    let mut sums = vec![0; walk.row];
    for plane in values.chunks_mut(walk.row * walk.rows) {
        for (label, &cost) in own.iter().enumerate() {
            let entries = |&table: &usize| {
                let Place { next, .. } = walk.tables[table];
                (&tables[table].entries[walk.start(table, label)..], next)
            };
            let running: SmallVec<[_; 4]> = running.iter().map(entries).collect();
            let fixed: SmallVec<[_; 4]> = fixed.iter().map(entries).collect();
            for (number, values) in plane.chunks_mut(walk.row).enumerate() {
                let base = fixed.iter().fold(cost, |sum, (entries, next)| add(sum, entries[number * next]));
                // Sums of at most three costs that were capped do not overflow.
                match &running[..] {
                    _ if base >= FORBIDDEN => {}
                    [] => values.iter_mut().for_each(|value| *value = (*value).min(base)),
                    [(a, next)] => {
                        for (value, a) in values.iter_mut().zip(&a[number * next..]) {
                            *value = (*value).min(base + a);
                        }
                    }
                    [(a, next), (b, other)] => {
                        let both = a[number * next..].iter().zip(&b[number * other..]);
                        for (value, (a, b)) in values.iter_mut().zip(both) {
                            *value = (*value).min(base + a + b);
                        }
                    }
                    all => {
                        sums.fill(base);
                        for (entries, next) in all {
                            let row = &entries[number * next..];
                            sums.iter_mut().zip(row).for_each(|(sum, &cost)| *sum = add(*sum, cost));
                        }
                        values.iter_mut().zip(&sums).for_each(|(value, &sum)| *value = (*value).min(sum));
                    }
                }
            }
        }
        walk.advance();
    }
}

/// A walk over all choices of the neighbours that some tables are about, plane by plane. A plane has rows along the last
/// of their dimensions, one for each choice in the last but one.
struct Walk {
    /// How many entries a row has.
    row: usize,
    /// How many rows a plane has.
    rows: usize,
    outer: Vec<usize>,
    at: Vec<usize>,
    tables: Vec<Place>,
}

/// Where the walk is in a table.
struct Place {
    /// From one label of the node to the next.
    own: usize,
    /// From one row to the next.
    next: usize,
    /// Along each dimension; 0 where the table does not have it.
    strides: Vec<usize>,
    offset: usize,
}

impl Walk {
    fn new(sizes: &[u32], masks: &[u64]) -> Walk {
        let mut dims: Vec<usize> = Vec::new();
        // For each dimension, the first neighbour in it.
        let mut firsts: Vec<usize> = Vec::new();
        let has = |mask: u64, neighbour: usize| mask >> neighbour & 1 == 1;
        for (neighbour, &size) in sizes.iter().enumerate() {
            if !masks.iter().any(|&mask| has(mask, neighbour)) {
                continue;
            }
            let alike = |&first: &usize| masks.iter().all(|&mask| has(mask, neighbour) == has(mask, first));
            match dims.last_mut() {
                Some(last) if firsts.last().is_some_and(alike) => *last *= size as usize,
                _ => {
                    dims.push(size as usize);
                    firsts.push(neighbour);
                }
            }
        }
        let place = |&mask: &u64| {
            let mut strides = vec![0; dims.len()];
            let mut stride = 1;
            for (dim, &first) in firsts.iter().enumerate().rev() {
                if has(mask, first) {
                    strides[dim] = stride;
                    stride *= dims[dim];
                }
            }
            let next = dims.len().checked_sub(2).map_or(0, |dim| strides[dim]);
            Place { own: stride, next, strides, offset: 0 }
        };
        let tables = masks.iter().map(place).collect();
        let row = dims.pop().unwrap_or(1);
        let rows = dims.pop().unwrap_or(1);
        Walk { row, rows, at: vec![0; dims.len()], outer: dims, tables }
    }

    /// How many entries there are in all planes.
    fn entries(&self) -> usize {
        self.row * self.rows * self.outer.iter().product::<usize>()
    }

    /// Whether a table has the rows' dimension, and with it their entries side by side.
    fn runs(&self, table: usize) -> bool {
        self.tables[table].strides.last().is_some_and(|&stride| stride == 1)
    }

    /// Where the plane starts in a table, for a label of the node.
    fn start(&self, table: usize, label: usize) -> usize {
        let Place { own, offset, .. } = &self.tables[table];
        offset + label * own
    }

    /// Goes to the next plane; after the last one comes the first.
    fn advance(&mut self) {
        for (dim, (at, &size)) in self.at.iter_mut().zip(&self.outer).enumerate().rev() {
            *at += 1;
            let wraps = *at == size;
            for place in &mut self.tables {
                place.offset += place.strides[dim];
                if wraps {
                    place.offset -= size * place.strides[dim];
                }
            }
            if !wraps {
                return;
            }
            *at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the sums written out, for tables over all kinds of neighbours.
    #[test]
    fn minima_are_those_of_the_sums() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..1000 {
            let sizes: Vec<u32> = (0..random.usize(0..=4)).map(|_| random.u32(1..=4)).collect();
            let labels = random.usize(1..=4);
            let mut pool = Pool::new();
            let draw = |count: usize, random: &mut fastrand::Rng| -> Vec<i64> {
                (0..count).map(|_| if random.u8(..4) == 0 { FORBIDDEN } else { random.i64(0..50) }).collect()
            };
            let cost = draw(labels, &mut random);
            let masks: Vec<u64> = (0..random.usize(0..=5)).map(|_| random.u64(..1 << sizes.len())).collect();
            // As in a graph, each neighbour is one of some table.
            let rest = masks.iter().fold((1 << sizes.len()) - 1, |rest, mask| rest & !mask);
            let terms: Vec<Term> = (masks.into_iter().chain((rest != 0).then_some(rest)))
                .map(|neighbours| {
                    let has = |&dim: &usize| neighbours >> dim & 1 == 1;
                    let entries: u32 = (0..sizes.len()).filter(has).map(|dim| sizes[dim]).product();
                    Term { table: pool.intern(&draw(labels * entries as usize, &mut random)), neighbours }
                })
                .collect();
            let bucket = Bucket { own: pool.intern(&cost), sizes: sizes.clone(), terms: terms.clone() };
            let Rest { constant, table } =
                bucket.least(&mut pool, &mut Vec::new(), &mut Meter::new(u64::MAX, None));
            let mut least = FORBIDDEN;
            for place in 0..bucket.choices() {
                let mut left = place as u32;
                let mut choice = vec![0; sizes.len()];
                for (label, &size) in choice.iter_mut().zip(&sizes).rev() {
                    (*label, left) = (left % size, left / size);
                }
                let sum = |label: usize| {
                    terms.iter().fold(cost[label], |sum, term| {
                        let dims = (0..sizes.len()).filter(|&dim| term.neighbours >> dim & 1 == 1);
                        let entry =
                            dims.fold(label, |at, dim| at * sizes[dim] as usize + choice[dim] as usize);
                        add(sum, pool.get(term.table)[entry])
                    })
                };
                let expected = (0..labels).map(sum).min().unwrap();
                least = least.min(expected);
                assert_eq!(sum(bucket.best(&pool, &choice) as usize), expected);
                let above = table.map_or(0, |table| pool.get(table)[place]);
                assert_eq!(add(constant, above), expected);
            }
            assert_eq!(constant, least);
        }
    }
}

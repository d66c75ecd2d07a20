//! Trees over positions: which ranges meet a range, and the most in a range.

use std::ops::Range;

/// Ranges of positions, of which those that meet a range are found without looking at the others: a segment tree. A range
/// stands at the nodes that make it up, and counts as below all nodes above these.
pub(crate) struct Timeline {
    leaves: u32,
    here: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Timeline {
    pub(crate) fn new(positions: usize) -> Timeline {
        let leaves = positions.max(1).next_power_of_two();
        let nodes = vec![Vec::new(); 2 * leaves];
        Timeline { leaves: u32::try_from(leaves).unwrap_or(u32::MAX), here: nodes.clone(), below: nodes }
    }

    /// Adds a range, which is not empty, under a number.
    pub(crate) fn insert(&mut self, range: &Range<u32>, number: usize) {
        self.insert_at(1, 0..self.leaves, range, number);
    }

    /// Visits the numbers of all ranges that meet a range; some more than once.
    pub(crate) fn visit(&self, range: &Range<u32>, mut found: impl FnMut(usize)) {
        self.visit_at(1, 0..self.leaves, range, &mut found);
    }

    // Both go as deep as the tree is high: 32 levels at most.

    fn insert_at(&mut self, node: usize, own: Range<u32>, range: &Range<u32>, number: usize) {
        if range.start <= own.start && own.end <= range.end {
            self.here[node].push(number);
            return;
        }
        self.below[node].push(number);
        for (child, half) in children(node, &own) {
            if meets(&half, range) {
                self.insert_at(child, half, range, number);
            }
        }
    }

    fn visit_at(&self, node: usize, own: Range<u32>, range: &Range<u32>, found: &mut impl FnMut(usize)) {
        self.here[node].iter().for_each(|&number| found(number));
        if range.start <= own.start && own.end <= range.end {
            self.below[node].iter().for_each(|&number| found(number));
            return;
        }
        for (child, half) in children(node, &own) {
            if meets(&half, range) {
                self.visit_at(child, half, range, found);
            }
        }
    }
}

fn children(node: usize, own: &Range<u32>) -> [(usize, Range<u32>); 2] {
    let middle = own.start + (own.end - own.start) / 2;
    [(2 * node, own.start..middle), (2 * node + 1, middle..own.end)]
}

fn meets(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

/// The largest of some numbers, range by range.
pub(crate) struct MaxTree {
    leaves: usize,
    most: Vec<u64>,
}

impl MaxTree {
    pub(crate) fn new(numbers: &[u64]) -> MaxTree {
        let leaves = numbers.len().max(1);
        let mut most = vec![0; 2 * leaves];
        most[leaves..leaves + numbers.len()].copy_from_slice(numbers);
        for node in (1..leaves).rev() {
            most[node] = most[2 * node].max(most[2 * node + 1]);
        }
        MaxTree { leaves, most }
    }

    /// The largest number in a range; 0 in an empty one.
    pub(crate) fn most(&self, range: &Range<u32>) -> u64 {
        let (mut start, mut end) = (range.start as usize + self.leaves, range.end as usize + self.leaves);
        let mut most = 0;
        while start < end {
            if start % 2 == 1 {
                most = most.max(self.most[start]);
                start += 1;
            }
            if end % 2 == 1 {
                end -= 1;
                most = most.max(self.most[end]);
            }
            (start, end) = (start / 2, end / 2);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn trees_find_what_a_scan_finds() {
        let mut random = Rng::with_seed(3);
        for _ in 0..200 {
            let positions = random.u32(1..40);
            let range = |random: &mut Rng| {
                let start = random.u32(..positions);
                start..random.u32(start + 1..=positions)
            };
            let ranges: Vec<Range<u32>> = (0..random.usize(..30)).map(|_| range(&mut random)).collect();
            let mut timeline = Timeline::new(positions as usize);
            ranges.iter().enumerate().for_each(|(number, range)| timeline.insert(range, number));
            let numbers: Vec<u64> = (0..positions).map(|_| random.u8(..).into()).collect();
            let tree = MaxTree::new(&numbers);
            let wanted = range(&mut random);
            let mut found = Vec::new();
            timeline.visit(&wanted, |number| found.push(number));
            found.sort_unstable();
            found.dedup();
            let expected: Vec<usize> =
                (0..ranges.len()).filter(|&number| meets(&ranges[number], &wanted)).collect();
            assert_eq!(found, expected);
            let most = numbers[wanted.start as usize..wanted.end as usize].iter().max();
            assert_eq!(Some(&tree.most(&wanted)), most);
        }
    }
}

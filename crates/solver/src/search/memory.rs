//! The memory left per clique, under changes over ranges: a segment tree of minima.

/// Each inner node holds the least of its range without what was added above it.
#[derive(Clone)]
pub(crate) struct Memory {
    width: usize,
    least: Vec<i64>,
    added: Vec<i64>,
}

/// What pads the leaves to a power of two.
const UNLIMITED: i64 = i64::MAX / 2;

impl Memory {
    pub(crate) fn new(left: &[i64]) -> Self {
        let width = left.len().next_power_of_two();
        let mut least = vec![UNLIMITED; 2 * width];
        least[width..width + left.len()].copy_from_slice(left);
        for node in (1..width).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        Memory { width, least, added: vec![0; 2 * width] }
    }

    /// The least that is left anywhere.
    pub(crate) fn least(&self) -> i64 {
        self.least[1]
    }

    /// Takes from what is left in each clique of `from..to`; gives back if `amount` is negative.
    pub(crate) fn take(&mut self, from: u32, to: u32, amount: i64) {
        if amount != 0 {
            self.change(1, 0, self.width, (from as usize, to as usize), -amount);
        }
    }

    /// The least that is left in `from..to`.
    pub(crate) fn least_in(&self, from: u32, to: u32) -> i64 {
        self.query(1, 0, self.width, (from as usize, to as usize))
    }

    fn change(&mut self, node: usize, start: usize, width: usize, range: (usize, usize), amount: i64) {
        if range.0 <= start && start + width <= range.1 {
            self.least[node] += amount;
            self.added[node] += amount;
            return;
        }
        let half = width / 2;
        if range.0 < start + half {
            self.change(2 * node, start, half, range, amount);
        }
        if range.1 > start + half {
            self.change(2 * node + 1, start + half, half, range, amount);
        }
        self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) + self.added[node];
    }

    fn query(&self, node: usize, start: usize, width: usize, range: (usize, usize)) -> i64 {
        if range.0 <= start && start + width <= range.1 {
            return self.least[node];
        }
        let half = width / 2;
        let mut least = UNLIMITED;
        if range.0 < start + half {
            least = self.query(2 * node, start, half, range);
        }
        if range.1 > start + half {
            least = least.min(self.query(2 * node + 1, start + half, half, range));
        }
        least + self.added[node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_agree_with_an_array() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut plain: Vec<i64> = (0..13).map(|_| random.i64(0..100)).collect();
        let mut memory = Memory::new(&plain);
        for _ in 0..1000 {
            let from = random.usize(0..13);
            let to = random.usize(from + 1..=13);
            let amount = random.i64(-9..10);
            memory.take(from as u32, to as u32, amount);
            plain[from..to].iter_mut().for_each(|left| *left -= amount);
            assert_eq!(Some(memory.least()), plain.iter().copied().min());
            let from = random.usize(0..13);
            let to = random.usize(from + 1..=13);
            assert_eq!(Some(memory.least_in(from as u32, to as u32)), plain[from..to].iter().copied().min());
        }
    }
}

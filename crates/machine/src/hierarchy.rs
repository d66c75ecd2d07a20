//! How devices stand along the levels of a machine, and which levels a group of them spans.
//!
//! Devices are numbered level by level, innermost fastest. With `shape` blocks of each level in use, level `i` joins
//! blocks of `shape[i+1] · shape[i+2] · …` devices each:
//!
//! ```text
//! level 0 (node)    ┌───────── 0 ─────────┐ ┌───────── 1 ─────────┐
//! level 1 (device)   0    1    2    3        4    5    6    7          shape [2, 4]
//! ```
//!
//! A group is a product of [axes](Axis) of a mesh. How many blocks of each size a group touches says all that the times
//! of collectives depend on. For axes that fit the blocks the count is exact; for others (three devices of a node of
//! four, say) it is what the worst group among those that run at once may touch.

use smallvec::SmallVec;

use crate::{Level, Machine};

/// An axis of a mesh, as its devices are numbered: `size` of them, each `stride` after the one before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Axis {
    /// How many devices.
    pub size: u64,
    /// From one to the next.
    pub stride: u64,
}

/// A factor of the number of devices, as a mesh along the hierarchy has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Factor {
    /// A prime number.
    pub size: u64,
    /// The outermost level that it spans.
    pub level: usize,
}

/// How many blocks of each level are needed for so many devices: as few as hold them, outer levels last.
pub(crate) fn shape_of(levels: &[Level], devices: u64) -> SmallVec<[u64; 4]> {
    let mut shape: SmallVec<[u64; 4]> = SmallVec::from_elem(1, levels.len());
    let mut rest = devices;
    for (used, level) in shape.iter_mut().zip(levels).rev() {
        let blocks = rest.div_ceil(level.count);
        *used = rest.div_ceil(blocks);
        rest = blocks;
    }
    shape
}

impl Machine {
    /// How the number of devices factors along the hierarchy: primes, those of the slowest level first, the larger
    /// first within a level. A mesh of these axes, in this order, lies along the hierarchy. Where blocks are filled
    /// unevenly (5 devices on nodes of 4) it is the number as a whole that is factored.
    pub fn mesh_axes(&self) -> Vec<Factor> {
        let is_even = self.shape.iter().product::<u64>() == self.devices;
        let whole = [self.devices];
        let parts: &[u64] = if is_even { &self.shape } else { &whole };
        let sizes = parts.iter().flat_map(|&part| prime_factors(part));
        let mut stride = self.devices;
        sizes
            .map(|size| {
                stride /= size;
                let blocks = self.blocks(&[Axis { size, stride }]);
                let level = blocks.iter().skip(1).position(|&blocks| blocks > 1).unwrap_or(0);
                Factor { size, level }
            })
            .collect()
    }

    /// The devices in a block that level `level` joins with others: those below it.
    pub(crate) fn devices_below(&self, level: usize) -> u64 {
        self.shape[level + 1..].iter().product::<u64>().min(self.devices)
    }

    /// How many blocks a group touches: of the whole machine, of the blocks that level 0 joins, …, of single devices.
    /// The first is 1, the last the number of devices in the group.
    pub(crate) fn blocks(&self, group: &[Axis]) -> SmallVec<[u64; 5]> {
        let members = members(group);
        let mut there_are: u64 = 1;
        let mut touched: u64 = 1;
        let mut blocks: SmallVec<[u64; 5]> = SmallVec::from_elem(1, 1);
        for (level, &used) in self.shape.iter().enumerate() {
            there_are = there_are.saturating_mul(used);
            let below = self.devices_below(level);
            let product =
                group.iter().fold(1, |product: u64, axis| product.saturating_mul(axis.blocks(below)));
            touched = product.min(there_are).min(members).max(touched);
            blocks.push(touched);
        }
        if let Some(last) = blocks.last_mut() {
            *last = members;
        }
        blocks
    }
}

impl Axis {
    /// How many blocks of `below` devices the axis touches at most, wherever it starts.
    fn blocks(&self, below: u64) -> u64 {
        let Axis { size, stride } = *self;
        let whole = stride.saturating_mul(size);
        if stride >= below {
            size
        } else if below.is_multiple_of(whole) {
            1
        } else if whole.is_multiple_of(below) && below.is_multiple_of(stride) {
            whole / below
        } else {
            size.min((whole - stride).div_ceil(below) + 1)
        }
    }
}

/// The number of devices in a group.
pub(crate) fn members(group: &[Axis]) -> u64 {
    group.iter().fold(1, |product: u64, axis| product.saturating_mul(axis.size))
}

/// The prime factors of a number, the largest first.
fn prime_factors(mut number: u64) -> Vec<u64> {
    let mut factors = Vec::new();
    let mut factor = 2;
    while factor * factor <= number {
        while number.is_multiple_of(factor) {
            factors.push(factor);
            number /= factor;
        }
        factor += 1;
    }
    if number > 1 {
        factors.push(number);
    }
    factors.reverse();
    factors
}

#[cfg(test)]
mod tests {
    use tofu_diagnostics::Span;

    use super::*;

    /// The blocks that the worst of all groups along `axis` touches, by looking.
    fn counted(machine: &Machine, axis: Axis, below: u64) -> u64 {
        let repeat = axis.size * axis.stride;
        let starts = (0..machine.devices()).filter(|device| (device % repeat) < axis.stride);
        let blocks = |start: u64| {
            let mut touched: Vec<u64> = (0..axis.size).map(|i| (start + i * axis.stride) / below).collect();
            touched.dedup();
            touched.len() as u64
        };
        starts.map(blocks).max().unwrap_or(1)
    }

    #[test]
    fn groups_touch_the_blocks_that_one_counts() {
        for name in ["default", "dgx1-v100"] {
            for devices in (1..=24).chain([32, 48, 64]) {
                let machine = Machine::preset(name).unwrap().with_devices(devices, Span::NONE).unwrap();
                for size in (1..=devices).filter(|size| devices.is_multiple_of(*size)) {
                    for stride in (1..=devices / size).filter(|s| (devices / size).is_multiple_of(*s)) {
                        let axis = Axis { size, stride };
                        let blocks = machine.blocks(&[axis]);
                        for level in 0..machine.levels().len() {
                            let below = machine.devices_below(level);
                            let (bound, exact) = (blocks[level + 1], counted(&machine, axis, below));
                            let whole = stride * size;
                            let fits = below.is_multiple_of(whole)
                                || whole.is_multiple_of(below) && below.is_multiple_of(stride);
                            assert!(bound >= exact, "{axis:?} of {devices} on {name}");
                            assert!(bound == exact || !fits, "{axis:?} of {devices} on {name}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn few_blocks_are_filled_alike() {
        let machine = Machine::preset("default").unwrap();
        let shape = |devices| machine.with_devices(devices, Span::NONE).unwrap().shape().to_vec();
        assert_eq!(shape(5), [1, 5]);
        assert_eq!(shape(8), [1, 8]);
        assert_eq!(shape(9), [2, 5]);
        assert_eq!(shape(12), [2, 6]);
        assert_eq!(shape(1024), [128, 8]);
    }

    #[test]
    fn numbers_factor_along_the_hierarchy() {
        let axes = |name: &str, devices| {
            let machine = Machine::preset(name).unwrap().with_devices(devices, Span::NONE).unwrap();
            machine.mesh_axes().iter().map(|axis| (axis.size, axis.level)).collect::<Vec<_>>()
        };
        assert_eq!(axes("default", 1), []);
        assert_eq!(axes("default", 8), [(2, 1), (2, 1), (2, 1)]);
        assert_eq!(axes("default", 12), [(2, 0), (3, 1), (2, 1)]);
        assert_eq!(axes("default", 7), [(7, 1)]);
        // Six nodes of eight.
        assert_eq!(axes("default", 48), [(3, 0), (2, 0), (2, 1), (2, 1), (2, 1)]);
        // Two nodes of five, of which one has only four devices in use.
        assert_eq!(axes("default", 9), [(3, 0), (3, 0)]);
        assert_eq!(axes("dgx1-v100", 16), [(2, 0), (2, 1), (2, 2), (2, 2)]);
    }
}

//! Regions against what is really read.

use tofu_tdl::{DimRange, Part, Region, Tensor, Trace, evaluate_part, regions, strategies};

use crate::Whole;

impl Whole<'_> {
    /// Compares the region of each operand, for the whole op and for the shares of each strategy, with the smallest box
    /// around the elements that an evaluation reads; gives how many were compared.
    ///
    /// # Errors
    ///
    /// The first region that is another box, with the description.
    pub fn check_regions(&self, workers: &[u64]) -> Result<usize, String> {
        let (description, extents) = (self.description, self.extents);
        let mut parts = vec![Part::default()];
        for strategy in strategies(description) {
            for &workers in workers {
                parts.extend((0..workers).map(|worker| strategy.part(description, extents, workers, worker)));
            }
        }
        let mut compared = 0;
        for part in parts {
            let mut trace = Trace::default();
            evaluate_part(description, self.operands, self.registry, &part, Some(&mut trace))
                .map_err(|error| error.to_string())?;
            let found = regions(description, extents, &part);
            let each = self.operands.iter().zip(&trace.operands).zip(&found);
            for (number, ((operand, read), region)) in each.enumerate() {
                let expected = smallest_box(operand, read);
                if expected != *region && !(expected.is_empty() && region.is_empty()) {
                    return Err(format!(
                        "operand {number}: {region:?}\nis not {expected:?}\n{extents:?} {part:?}\n{description}"
                    ));
                }
                compared += 1;
            }
        }
        Ok(compared)
    }
}

/// The smallest strided box around some elements of a tensor.
fn smallest_box(tensor: &Tensor, read: &[bool]) -> Region {
    let dims = tensor.dims();
    let mut seen: Vec<Vec<u64>> = vec![Vec::new(); dims.len()];
    for (index, _) in read.iter().enumerate().filter(|(_, was_read)| **was_read) {
        let mut rest = index as u64;
        for (dimension, &extent) in dims.iter().enumerate().rev() {
            seen[dimension].push(rest % extent);
            rest /= extent;
        }
    }
    let gcd = |a: u64, b: u64| {
        let (mut a, mut b) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let range = |values: &Vec<u64>| {
        let (Some(&low), Some(&high)) = (values.iter().min(), values.iter().max()) else {
            return DimRange { start: 0, size: 0, stride: 1 };
        };
        let stride = values.iter().fold(0, |step, value| gcd(step, value - low)).max(1);
        DimRange { start: low, size: (high - low) / stride + 1, stride }
    };
    Region { dims: seen.iter().map(range).collect() }
}

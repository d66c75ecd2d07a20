//! Regions are no larger than the smallest strided boxes around the elements that are really read.

use tofu_tdl::{DimRange, OpaqueRegistry, Part, Region, Tensor, Trace, evaluate_part, regions, strategies};

use crate::catalog::CASES;

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

#[test]
fn regions_are_the_smallest_boxes() {
    let mut compared = 0;
    for case in CASES.iter().filter(|case| case.is_affine) {
        let description = case.description();
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..4 {
            let (extents, operands) = case.draw(&description, &mut random);
            let mut parts = vec![Part::default()];
            for strategy in strategies(&description) {
                for workers in [2, 3, 5] {
                    for worker in 0..workers {
                        parts.push(strategy.part(&description, &extents, workers, worker));
                    }
                }
            }
            for part in parts {
                let mut trace = Trace::default();
                let registry = OpaqueRegistry::builtin();
                evaluate_part(&description, &operands, &registry, &part, Some(&mut trace)).unwrap();
                let found = regions(&description, &extents, &part);
                for ((operand, read), region) in operands.iter().zip(&trace.operands).zip(&found) {
                    let expected = smallest_box(operand, read);
                    let is_same = expected == *region || (expected.is_empty() && region.is_empty());
                    assert!(is_same, "{region:?}\nis not {expected:?}\n{extents:?} {part:?}\n{description}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1000, "only {compared}");
}

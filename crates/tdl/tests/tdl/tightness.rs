//! Regions are no larger than the smallest strided boxes around the elements that are really read.

use tofu_tdl::{
    DimLayout, DimRange, OpaqueRegistry, Part, Region, Tensor, Trace, evaluate_part, regions, strategies,
};

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

/// Where a layout says that a worker's elements of a dimension lie, for a share of whole blocks.
fn claimed(layout: &DimLayout, extents: &[i64], size: i64, start: i64, blocks: i64) -> Option<(i64, i64)> {
    let (scale, low, high) = match layout {
        DimLayout::Unread | DimLayout::Whole | DimLayout::Irregular => return None,
        DimLayout::Split | DimLayout::Masked => (1, 0, 0),
        DimLayout::Blocks(scale) => (scale.value(extents)?, 0, 0),
        DimLayout::Halo { scale, low, high, .. } => {
            (scale.value(extents)?, low.value(extents)?, high.value(extents)?)
        }
        DimLayout::Reversed => return Some((size - start - blocks, size - start)),
    };
    Some((scale * start - low, scale * (start + blocks) + high))
}

#[test]
fn layouts_hold_the_boxes() {
    let mut compared = 0;
    for case in CASES {
        let description = case.description();
        let mut random = fastrand::Rng::with_seed(23);
        for _ in 0..4 {
            let (extents, operands) = case.draw(&description, &mut random);
            let signed: Vec<i64> = extents.iter().map(|&extent| extent as i64).collect();
            for strategy in strategies(&description) {
                let block = strategy.block.value(&signed).unwrap();
                for worker in 0..3 {
                    let (start, length) = strategy.share(&description, &extents, 3, worker);
                    let (start, blocks) = (start as i64 / block, (length as i64 + block - 1) / block);
                    let boxes = strategy.regions(&description, &extents, 3, worker);
                    for ((operand, layout), found) in operands.iter().zip(&strategy.operands).zip(&boxes) {
                        for ((layout, &size), dim) in layout.dims.iter().zip(operand.dims()).zip(&found.dims)
                        {
                            let Some((low, high)) = claimed(layout, &signed, size as i64, start, blocks)
                            else {
                                continue;
                            };
                            if length == 0 || found.is_empty() {
                                continue;
                            }
                            let last = (dim.start + (dim.size - 1) * dim.stride) as i64;
                            assert!(
                                low <= dim.start as i64 && last < high,
                                "{dim:?} is not in {low}..{high}: {}\n{extents:?}, worker {worker}\n{description}",
                                strategy.text(&description)
                            );
                            compared += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(compared > 1000, "only {compared}");
}

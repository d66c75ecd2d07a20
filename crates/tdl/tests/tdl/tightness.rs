//! Regions are no larger than the smallest strided boxes around the elements that are really read.

use tofu_tdl::{DimLayout, OpaqueRegistry, strategies};
use tofu_tdl_testing::Whole;

use crate::catalog::CASES;

#[test]
fn regions_are_the_smallest_boxes() {
    let registry = OpaqueRegistry::builtin();
    let mut compared = 0;
    for case in CASES.iter().filter(|case| case.is_affine) {
        let description = case.description();
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..4 {
            let (extents, operands) = case.draw(&description, &mut random);
            let whole = Whole::run(&description, &registry, &extents, &operands).unwrap();
            compared += whole.check_regions(&[2, 3, 5]).unwrap_or_else(|error| panic!("{error}"));
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

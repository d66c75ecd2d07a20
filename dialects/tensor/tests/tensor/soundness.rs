//! Every strategy of every op, by execution; regions against what is really read.

use fastrand::Rng;
use tofu_dialect_tensor::DIALECT;
use tofu_ir::OpDef;
use tofu_tdl::{Linear, OpaqueRegistry, Region, operand_dims, solve};
use tofu_tdl_testing::{Spoil, SpoilLinear, Whole};

use crate::samples::{Instance, sample};

const WORKERS: [u64; 4] = [2, 3, 4, 8];

/// Runs samples of an op as wholes.
fn each(
    def: &'static OpDef,
    rounds: usize,
    seed: u64,
    check: &mut dyn FnMut(&Whole<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let registry = OpaqueRegistry::builtin();
    let mut random = Rng::with_seed(seed);
    for _ in 0..rounds {
        let Some(sample) = sample(def, &mut random) else { return Ok(()) };
        let Instance { program, description, operands } = sample.instance(def, &mut random)?;
        let types: Vec<_> = operands.iter().map(tofu_tdl::Tensor::ty).collect();
        let solution =
            solve(&description, &types).map_err(|error| format!("{program}\n{}", error.message))?;
        let extents =
            solution.static_extents().ok_or_else(|| format!("{program}\nan extent is not known"))?;
        assert_eq!(operand_dims(&description, &extents).unwrap().len(), operands.len());
        let whole = Whole::run(&description, &registry, &extents, &operands)
            .map_err(|error| format!("{program}\n{error}\n{description}"))?;
        check(&whole).map_err(|error| format!("{program}\n{error}"))?;
    }
    Ok(())
}

fn check_strategies(def: &'static OpDef, rounds: usize, spoil: Spoil<'_>) -> Result<usize, String> {
    let mut done = 0;
    each(def, rounds, 11, &mut |whole| {
        done += whole.check_strategies(&WORKERS, spoil)?;
        Ok(())
    })?;
    Ok(done)
}

#[test]
fn shares_put_together_are_the_whole() {
    let (mut total, mut failures) = (0, Vec::new());
    for def in DIALECT.ops {
        match check_strategies(def, 24, &|_| {}) {
            Ok(done) => total += done,
            Err(error) => failures.push(error),
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n---\n"));
    assert!(total > 5000, "only {total} comparisons");
}

/// A test of the test: shares that are not what they should be are found.
#[test]
fn wrong_regions_are_found() {
    let def = |name: &str| *DIALECT.ops.iter().find(|def| def.name == name).unwrap();
    // A halo on the wrong side.
    let early = |regions: &mut Vec<Region>| {
        for dim in &mut regions[0].dims {
            dim.start = dim.start.saturating_sub(1);
        }
    };
    for name in ["tensor.convolution", "tensor.reduce_window", "tensor.pad", "tensor.slice"] {
        assert!(check_strategies(def(name), 16, &early).is_err(), "{name}");
    }
    // The ends exchanged.
    let swapped = |regions: &mut Vec<Region>| {
        for dim in regions.iter_mut().flat_map(|region| &mut region.dims) {
            dim.start = 0;
        }
    };
    for name in
        ["tensor.concatenate", "tensor.reverse", "tensor.dot_general", "tensor.gather", "tensor.scatter"]
    {
        assert!(check_strategies(def(name), 16, &swapped).is_err(), "{name}");
    }
}

fn check_linear(def: &'static OpDef, rounds: usize, spoil: SpoilLinear<'_>) -> Result<usize, String> {
    let (mut done, mut random) = (0, Rng::with_seed(3));
    each(def, rounds, 17, &mut |whole| {
        done += whole.check_linear(&[2, 3, 5], &mut random, spoil)?;
        Ok(())
    })?;
    Ok(done)
}

/// The ops through which partial sums pass, as counted by hand.
const ADDITIVE: &[&str] = &[
    "tensor.add",
    "tensor.batch_norm_grad",
    "tensor.batch_norm_inference",
    "tensor.batch_norm_training",
    "tensor.broadcast_in_dim",
    "tensor.complex",
    "tensor.concatenate",
    "tensor.conj",
    "tensor.convert",
    "tensor.convolution",
    "tensor.divide",
    "tensor.dot_general",
    "tensor.dynamic_slice",
    "tensor.dynamic_update_slice",
    "tensor.gather",
    "tensor.imag",
    "tensor.map",
    "tensor.multiply",
    "tensor.negate",
    "tensor.pad",
    "tensor.real",
    "tensor.reduce",
    "tensor.reduce_window",
    "tensor.reshape",
    "tensor.reverse",
    "tensor.rng",
    "tensor.scatter",
    "tensor.select",
    "tensor.select_and_scatter",
    "tensor.slice",
    "tensor.subtract",
    "tensor.transpose",
];

#[test]
fn partial_sums_pass_through() {
    let (mut total, mut failures, mut passed) = (0, Vec::new(), Vec::new());
    for def in DIALECT.ops {
        match check_linear(def, 24, &|_| {}) {
            Ok(0) => {}
            Ok(done) => {
                total += done;
                passed.push(def.name);
            }
            Err(error) => failures.push(error),
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n---\n"));
    assert!(total > 1000, "only {total} comparisons");
    assert_eq!(passed, ADDITIVE);
}

/// A test of the test: claims that partial sums pass through where they do not are found.
#[test]
fn wrong_ways_of_partial_sums_are_found() {
    let def = |name: &str| *DIALECT.ops.iter().find(|def| def.name == name).unwrap();
    // Both factors at once.
    let both = |way: &mut Linear| way.partial = vec![0, 1];
    for name in ["tensor.multiply", "tensor.dot_general", "tensor.convolution"] {
        assert!(check_linear(def(name), 16, &both).is_err(), "{name}");
    }
    // What is added counts in every worker.
    let counted = |way: &mut Linear| way.partial.truncate(1);
    for name in ["tensor.add", "tensor.subtract", "tensor.concatenate", "tensor.scatter", "tensor.pad"] {
        assert!(check_linear(def(name), 16, &counted).is_err(), "{name}");
    }
    // A result that is not made of terms.
    let whole = |way: &mut Linear| way.results.fill(false);
    for name in ["tensor.negate", "tensor.transpose", "tensor.gather", "tensor.select"] {
        assert!(check_linear(def(name), 16, &whole).is_err(), "{name}");
    }
}

/// Ops whose regions are wider than what is read, and why.
const WIDER: &[(&str, &str)] = &[
    ("tensor.batch_norm_grad", WHOLE),
    ("tensor.batch_norm_training", WHOLE),
    ("tensor.cholesky", WHOLE),
    ("tensor.dynamic_slice", DATA),
    ("tensor.dynamic_update_slice", DATA),
    ("tensor.gather", DATA),
    ("tensor.scatter", DATA),
    ("tensor.select", DATA),
    ("tensor.select_and_scatter", DATA),
];
const WHOLE: &str = "an evaluation computes intermediate tensors as a whole";
const DATA: &str = "what is read depends on elements";

/// Where a guard cuts off a sum of two strided indices (a dilated window in large steps, at the padding; a reshape that goes
/// through places), the box ends at the guard, and the sum may skip that very place. One sample in ten thousand does; none
/// of these.
#[test]
fn regions_are_the_smallest_boxes() {
    let (mut compared, mut failures) = (0, Vec::new());
    for def in DIALECT.ops.iter().filter(|def| !WIDER.iter().any(|(name, _)| *name == def.name)) {
        let result = each(def, 12, 29, &mut |whole| {
            compared += whole.check_regions(&[2, 3, 5])?;
            Ok(())
        });
        failures.extend(result.err());
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n---\n"));
    assert!(compared > 5000, "only {compared}");
}

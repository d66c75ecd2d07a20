//! Every strategy of every op, by execution; regions against what is really read.

use fastrand::Rng;
use tofu_dialect_tensor::DIALECT;
use tofu_ir::OpDef;
use tofu_tdl::{OpaqueRegistry, operand_dims, solve};
use tofu_tdl_testing::{Spoil, Whole};

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
        eprintln!("{}", sample.program());
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
        eprintln!("{}", def.name);
        match check_strategies(def, 60, &|_| {}) {
            Ok(done) => total += done,
            Err(error) => failures.push(error),
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n---\n"));
    assert!(total > 5000, "only {total} comparisons");
}

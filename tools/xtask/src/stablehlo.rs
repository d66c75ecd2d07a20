//! What `tofu-opt` writes, read by JAX; and what programs compute, stored for the tests, computed by JAX.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use crate::{
    setup,
    shell::{Done, Failure, built, cargo, root, run, succeeds},
};

/// Texts beside the whole programs that JAX reads as they are.
const TEXTS: [&str; 5] =
    ["collectives.mlir", "generic.mlir", "ops.mlir", "shardings.mlir", "signatures.mlir"];

/// What separates the programs of one file.
const SEPARATOR: &str = "// -----\n";

/// Checks that JAX finds each program the same before and after a way through `tofu-opt`, and through `.tir` text.
pub(crate) fn check() -> Done {
    let python = setup::python_with_jax()?;
    run(cargo().args(["build", "--package", "tofu-opt"]))?;
    let tofu_opt = built("debug", "tofu-opt")?;
    let directory = tempfile::tempdir()?;
    let mut pairs = Command::new(python);
    pairs.arg(root().join("tools/xtask/python/compare_stablehlo.py"));
    let texts = TEXTS.map(|name| root().join("testdata/stablehlo").join(name));
    let mut originals = Vec::new();
    for path in texts.into_iter().chain(programs(&root().join("testdata/models"))?) {
        originals.push(unpacked(&path, directory.path())?);
    }
    let mut small = String::new();
    for name in ["jax.mlir.gz", "written.mlir"] {
        small += &std::fs::read_to_string(unpacked(&values_directory().join(name), directory.path())?)?;
        small += SEPARATOR;
    }
    for (number, program) in small.trim_end_matches(SEPARATOR).split(SEPARATOR).enumerate() {
        let path = directory.path().join(format!("small{number}.mlir"));
        std::fs::write(&path, program)?;
        originals.push(path);
    }
    for original in originals {
        let (tir, written) = (original.with_extension("tir"), original.with_extension("out.mlir"));
        let mut there = Command::new(&tofu_opt);
        let mut back = Command::new(&tofu_opt);
        there.arg(&original).arg("-o").arg(&tir);
        back.arg(&tir).args(["--emit=stablehlo", "-o"]).arg(&written);
        for command in [&mut there, &mut back] {
            // There are hundreds; only one that fails is worth a line.
            if !succeeds(command) {
                run(command)?;
            }
        }
        pairs.args([&original, &written]);
    }
    println!("JAX compares programs before and after");
    if pairs.status()?.success() { Ok(()) } else { Err(Failure("JAX finds programs changed".to_owned())) }
}

/// Checks that the stored results of small programs are what JAX computes.
pub(crate) fn check_values() -> Done {
    let directory = values_directory();
    let mut check = Command::new(setup::python_with_jax()?);
    check.arg(root().join("tools/xtask/python/check_values.py"));
    for (text, values) in [("jax.mlir.gz", "jax.npz"), ("written.mlir", "written.npz")] {
        check.args([directory.join(text), directory.join(values)]);
    }
    println!("JAX runs small programs");
    let help = "results are not what is stored; `print_programs.py` writes those of today";
    if check.status()?.success() { Ok(()) } else { Err(Failure(help.to_owned())) }
}

/// Where small programs are, and what they compute.
fn values_directory() -> PathBuf {
    root().join("testdata/inputs/values")
}

/// The StableHLO texts in a directory, compressed or not.
pub(crate) fn programs(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.to_string_lossy();
        if name.ends_with(".mlir") || name.ends_with(".mlir.gz") {
            programs.push(path);
        }
    }
    programs.sort();
    Ok(programs)
}

/// A copy of a text that is not compressed, in `directory`.
pub(crate) fn unpacked(path: &Path, directory: &Path) -> io::Result<PathBuf> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    if is_packed {
        GzDecoder::new(file).read_to_end(&mut bytes)?
    } else {
        (&file).read_to_end(&mut bytes)?
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let copy = directory.join(name.trim_end_matches(".gz"));
    std::fs::write(&copy, bytes)?;
    Ok(copy)
}

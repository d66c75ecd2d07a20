//! Whole training steps, as JAX prints them.

use std::path::PathBuf;

use tofu_ir::FUNCTION_TYPE;

use crate::support::{read, testdata, text, through_tir, whole, write};

fn programs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(testdata().join("models")).unwrap();
    let mut programs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    programs.retain(|path| path.to_str().unwrap().ends_with(".mlir.gz"));
    programs.sort();
    assert!(programs.len() > 20, "the programs are gone");
    programs
}

/// A program is the same after a way through our own text, and after one through StableHLO.
#[test]
fn programs_come_back() {
    for path in programs() {
        let module = read(&text(&path));
        let main = module.ops(module.body()).next().unwrap();
        assert!(module.attr(main, FUNCTION_TYPE).is_some(), "{path:?} begins with its function");
        assert_eq!(whole(&through_tir(&module)), whole(&module), "{path:?}");
        assert_eq!(whole(&read(&write(&module))), whole(&module), "{path:?}");
    }
}

/// So is each of some hundred small programs, nearly one for each primitive and each element type of JAX.
#[test]
fn small_programs_come_back() {
    let values = testdata().join("inputs/values");
    let texts = ["jax.mlir.gz", "written.mlir"].map(|name| text(&values.join(name)));
    let mut count = 0;
    for program in texts.iter().flat_map(|text| text.split("// -----\n")) {
        let name = program.lines().next().unwrap();
        let module = read(program);
        assert_eq!(whole(&through_tir(&module)), whole(&module), "{name}");
        assert_eq!(whole(&read(&write(&module))), whole(&module), "{name}");
        count += 1;
    }
    assert!(count > 550, "only {count} programs");
}

/// Every line of a program is one op: none is lost, and none is made up.
#[test]
fn every_statement_is_an_op() {
    for path in programs() {
        let text = text(&path);
        let module = read(&text);
        let is_statement = |line: &&str| {
            let line = line.trim_start();
            ["%", "\"", "func.func", "module", "return", "stablehlo."]
                .iter()
                .any(|start| line.starts_with(start))
        };
        let lines = text.lines().filter(is_statement).count();
        // A reduction that names its op holds two.
        let short = text.matches(" applies ").count() * 2;
        assert_eq!(module.walk(module.root()).count(), lines + short, "{path:?}");
    }
}

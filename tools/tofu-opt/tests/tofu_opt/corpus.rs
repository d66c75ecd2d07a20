//! What must hold for every file under `testdata`.

use crate::support::{files, root, run};

/// Pipelines that make sense for any program with a function.
const PIPELINES: [&[&str]; 4] = [
    &[],
    &["--simplify", "--pass-statistics"],
    &["--cse", "--dce", "--print-ir-after-change"],
    &["--simplify", "--print-generic", "--print-locations", "--diagnostics=json"],
];

fn corpus() -> Vec<String> {
    let files = files(&root().join("testdata"), "tir");
    assert!(files.len() > 10, "the corpus is gone");
    files.into_iter().map(|path| path.to_str().unwrap().to_owned()).collect()
}

#[test]
fn output_does_not_depend_on_threads_or_on_the_run() {
    for file in corpus() {
        for pipeline in PIPELINES {
            let with = |threads: &str| {
                run(&[&[file.as_str(), "--split-input-file", threads], pipeline].concat(), b"")
            };
            let one = with("--threads=1");
            assert_eq!(one, with("--threads=2"), "{file} {pipeline:?}");
            assert_eq!(one, with("--threads=2"), "{file} {pipeline:?}");
        }
    }
}

#[test]
fn every_program_reads_back_as_it_is_written() {
    let mut whole = 0;
    for file in corpus() {
        for pipeline in [&[][..], &["--simplify"]] {
            let arguments =
                ["--split-input-file", "--verify-roundtrip", "--diagnostics=short", "--emit=none"];
            let ran = run(&[&[file.as_str()], &arguments[..], pipeline].concat(), b"");
            assert!(!ran.log.contains("T0312"), "{file}: {}", ran.log);
            whole += usize::from(ran.code == 0);
        }
    }
    assert!(whole > 10, "only {whole} runs came as far as the round trip");
}

/// What was written is the same when it is read and written again, also in the generic form.
#[test]
fn writing_is_stable() {
    for file in corpus() {
        let first = run(&[&file, "--print-locations"], b"");
        if first.code != 0 {
            continue;
        }
        let again = run(&["-", "--print-locations"], first.output.as_bytes());
        assert_eq!(first.output, again.output, "{file}");
        let generic = run(&["-", "--print-locations", "--print-generic"], first.output.as_bytes());
        let back = run(&["-", "--print-locations"], generic.output.as_bytes());
        assert_eq!(first.output, back.output, "{file}");
    }
}

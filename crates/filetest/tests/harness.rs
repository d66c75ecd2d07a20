//! What the harness finds, and how it judges files that pass and files that fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tofu_filetest::{Config, TestCase, discover};

fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn config(root: impl Into<PathBuf>) -> Config {
    let config = Config::new(root).tool("sh", "/bin/sh");
    Config { timeout: Duration::from_secs(20), bless: false, ..config }
}

fn names(cases: &[TestCase]) -> Vec<&str> {
    cases.iter().map(TestCase::name).collect()
}

#[test]
fn every_file_with_the_extension_is_a_test_except_data() {
    let cases = discover(&config(fixtures("passing")).extension("txt"));
    let expected = [
        "builtin.tir",
        "exact.tir",
        "hash.txt",
        "nested/substitutions.tir",
        "not.tir",
        "pipeline.tir",
        "redirect.tir",
    ];
    assert_eq!(names(&cases), expected);
}

#[test]
fn good_files_pass() {
    for case in discover(&config(fixtures("passing"))) {
        assert_eq!(case.run(), Ok(()), "{}", case.name());
    }
}

#[test]
fn bad_files_fail_and_say_why() {
    let expected: &[(&str, &[&str])] = &[
        (
            "check.tir",
            &["check.tir:1: failed with exit status 1", "CHECK: expected text not found", "check.tir:2:11"],
        ),
        ("count.tir", &["expected 2 lines, found 1:\na\n"]),
        ("diff.tir", &["diff.tir:2: failed with exit status 1", "-a\n+b\n"]),
        (
            "early-stage.tir",
            &["failed with exit status 1", "command: sh -c", "standard error\nbroken\n", "output\na\n"],
        ),
        ("exact-no-line-end.tir", &["no final line end"]),
        ("exact-none.tir", &["no EXPECTED section; TOFU_BLESS=1 adds it"]),
        ("exact.tir", &["TOFU_BLESS=1 accepts it", " a\n-c\n+b\n"]),
        ("missing-input.tir", &["cannot read ./inputs/none"]),
        ("no-run.tir", &["no-run.tir: there is no RUN line"]),
        ("not-code.tir", &["exit status is 1, but should be 2"]),
        ("not-success.tir", &["succeeded, but should fail"]),
        ("panic-asked-for.tir", &["a panic"]),
        ("panic.tir", &["a panic"]),
        ("requires.tir", &["requires.tir requires elsewhere"]),
        ("second-run.tir", &["second-run.tir:2: failed with exit status 3"]),
        ("signal.tir", &["crashed: signal: 9"]),
        ("syntax.tir", &["line 1: there is no shell: `&`"]),
        ("timeout.tir", &["stopped after 0.5 s"]),
        ("unknown-command.tir", &["unknown command `ls`; there are count, diff, exact, filecheck, sh"]),
        ("unknown-substitution.tir", &["unknown substitution `%shape`"]),
    ];
    let cases = discover(&config(fixtures("failing")));
    assert_eq!(names(&cases), expected.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (name, parts) in expected {
        let mut config = config(fixtures("failing"));
        if *name == "timeout.tir" {
            config.timeout = Duration::from_millis(500);
        }
        let cases = discover(&config);
        let case = cases.iter().find(|case| case.name() == *name).expect(name);
        let report = case.run().expect_err(name);
        for part in *parts {
            assert!(report.contains(part), "{name} does not report {part:?}:\n{report}");
        }
    }
}

#[test]
fn a_feature_makes_a_required_test_run() {
    let without = discover(&config(fixtures("failing")));
    let find = |cases: &[TestCase]| {
        cases.iter().find(|case| case.name() == "requires.tir").cloned().expect("listed")
    };
    assert_eq!(find(&without).missing_features(), ["elsewhere"]);
    let case = find(&discover(&config(fixtures("failing")).feature("elsewhere")));
    assert!(case.missing_features().is_empty());
    assert_eq!(case.run(), Ok(()));
}

#[test]
fn a_root_without_tests_fails() {
    let empty = tempfile::tempdir().expect("a temporary directory");
    for root in [empty.path().to_path_buf(), empty.path().join("missing")] {
        let cases = discover(&config(root));
        assert_eq!(names(&cases), ["."]);
        assert!(cases[0].run().is_err());
    }
}

#[test]
fn bless_rewrites_the_expected_section() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let file = root.path().join("a.tir");
    let head = "// RUN: sh -c 'echo a; echo; echo b' | exact %s\n";
    for old in ["", "// EXPECTED:\n// x\n", "// EXPECTED:\n"] {
        fs::write(&file, format!("{head}func\n{old}")).expect("writable");
        let blessing = Config { bless: true, ..config(root.path()) };
        assert_eq!(discover(&blessing)[0].run(), Ok(()));
        let new = fs::read_to_string(&file).expect("readable");
        assert_eq!(new, format!("{head}func\n// EXPECTED:\n// a\n//\n// b\n"));
        assert_eq!(discover(&config(root.path()))[0].run(), Ok(()));
    }
}

#[test]
fn blessed_outputs_of_one_file_must_agree() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let text = "// RUN: sh -c 'echo a' | exact %s\n// RUN: sh -c 'echo b' | exact %s\n";
    fs::write(root.path().join("a.tir"), text).expect("writable");
    let report = discover(&Config { bless: true, ..config(root.path()) })[0].run().expect_err("they differ");
    assert!(report.contains("-a\n+b\n"), "{report}");
}

#[test]
fn the_program_has_the_exit_statuses_of_the_command() {
    let file = fixtures("failing").join("check.tir");
    for (input, status, stream) in [
        ("no-run.tir", 0, ""),
        ("exact.tir", 0, ""),
        ("panic.tir", 1, "CHECK: expected"),
        ("x", 2, "cannot read"),
    ] {
        let input = format!("--input-file={}", fixtures("failing").join(input).display());
        let output =
            Command::new(env!("CARGO_BIN_EXE_filecheck")).arg(&file).arg(input).output().expect("it runs");
        assert_eq!(output.status.code(), Some(status));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(stream) && stderr.is_empty() == stream.is_empty(), "{stderr}");
    }
}

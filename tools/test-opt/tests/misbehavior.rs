//! What a file test cannot see: builds that check more, and files that a tool writes by itself.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "func @f() {\n  return\n}\n";

fn test_opt(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_test-opt"));
    command.current_dir(directory).args(arguments).arg("--diagnostics=short").env_remove("RUST_BACKTRACE");
    command.output().unwrap()
}

/// A directory with the program in `f.tir`.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("f.tir"), PROGRAM).unwrap();
    directory
}

#[test]
#[cfg(debug_assertions)]
fn wrong_change_reports_are_errors() {
    let run = test_opt(directory().path(), &["f.tir", "--test-lie"]);
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.contains("error[T0310]") && said.contains("`test-lie`"), "{said}");
    assert_eq!(run.status.code(), Some(1));
}

/// A panic leaves a reproducer behind although nobody asked for one, and the reproducer panics again.
#[test]
fn panics_write_a_reproducer_that_replays() {
    let directory = directory();
    let first = test_opt(directory.path(), &["f.tir", "--test-remark", "--test-panic"]);
    assert_eq!(first.status.code(), Some(1));
    let is_reproducer = |name: &String| name.starts_with("tofu-crash-");
    let names = || std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let reproducers = || names().map(|name| name.into_string().unwrap()).filter(is_reproducer);
    let name = reproducers().next().expect("a reproducer was written");
    assert!(String::from_utf8(first.stderr).unwrap().contains(&name));
    let text = std::fs::read_to_string(directory.path().join(&name)).unwrap();
    assert!(text.starts_with("// tofu-reproducer pipeline='module(func(test-remark,test-panic))'"), "{text}");
    assert!(text.ends_with(PROGRAM), "{text}");

    let again = test_opt(directory.path(), &[&name, "--run-reproducer", "--crash-reproducer=again.tir"]);
    assert_eq!(again.status.code(), Some(1));
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains("error[T0307]") && said.contains("`test-panic` panics, as it should"), "{said}");
    assert_eq!(reproducers().count(), 1);
}

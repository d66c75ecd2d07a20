//! A pass that changes the program and says that it has not is found out, in builds that check it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::process::Command;

#[test]
#[cfg(debug_assertions)]
fn wrong_change_reports_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("f.tir");
    std::fs::write(&input, "func @f() {\n  return\n}\n").unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_test-opt"))
        .args([input.as_os_str(), "--test-lie".as_ref(), "--diagnostics=short".as_ref()])
        .output()
        .unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.contains("error[T0310]"), "{said}");
    assert!(said.contains("`test-lie`"), "{said}");
    assert_eq!(run.status.code(), Some(1));
}

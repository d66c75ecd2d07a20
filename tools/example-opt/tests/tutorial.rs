//! The tutorial shows this crate as it is, and what its commands print.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;

fn tutorial() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial.md")
}

#[test]
fn commands_print_what_is_shown() {
    std::env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    trycmd::TestCases::new().case("../../docs/tutorial.md");
}

#[test]
fn code_is_shown_as_it_is() {
    let text = std::fs::read_to_string(tutorial()).unwrap();
    let mut sources = String::new();
    for directory in ["src", "tests"] {
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(directory)).unwrap() {
            sources.push_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
        }
    }
    let blocks: Vec<&str> =
        text.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() > 5);
    for block in blocks {
        assert!(sources.contains(block), "this is not in the crate:\n{block}");
    }
}

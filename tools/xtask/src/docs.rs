//! `cargo xtask docs`: references generated from definitions. A test checks that the files are as they would be
//! written.

use std::fmt::Write;

use tofu_opt::Tool;

use crate::shell::{Done, root};

/// Writes all generated files.
pub(crate) fn write() -> Done {
    for (name, text) in generated() {
        std::fs::write(root().join(name), text)?;
        println!("{name}");
    }
    Ok(())
}

/// The generated files, by their paths from the root.
fn generated() -> Vec<(&'static str, String)> {
    let tool = || Tool::standard("tofu-opt", env!("CARGO_PKG_VERSION"));
    vec![
        ("docs/diagnostics.md", diagnostics()),
        ("docs/machines.md", tofu_machine::reference()),
        ("docs/ops.md", tofu_opt::ops_reference(&tool())),
        ("docs/passes.md", tofu_opt::passes_reference(tool())),
    ]
}

fn diagnostics() -> String {
    let mut text = String::from(
        "# Diagnostics\n\nGenerated from the table of codes by `cargo xtask docs`; do not edit. `tofu-opt --explain CODE` \
         prints the same.\n",
    );
    for code in tofu_diagnostics::codes::all() {
        // Writing into a string cannot fail.
        let _ = write!(text, "\n## {}: {}\n\n{}\n", code.id, code.title, code.explanation.trim());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_fresh() {
        for (name, text) in generated() {
            let committed = std::fs::read_to_string(root().join(name)).unwrap_or_default();
            assert!(committed == text, "{name} is stale: run `cargo xtask docs`");
        }
    }
}

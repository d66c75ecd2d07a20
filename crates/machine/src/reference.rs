//! The document about machine files.

use std::fmt::Write;

use crate::preset::PRESETS;
use crate::{Machine, presets};

/// What a machine file is, and all presets, in Markdown.
pub fn reference() -> String {
    let mut text = String::from(include_str!("reference.md"));
    text.push_str("\n## Presets\n\n| name | devices | summary |\n|---|---|---|\n");
    for machine in presets().filter_map(Machine::preset) {
        // Writing into a string cannot fail.
        let (name, devices, summary) = (machine.name(), machine.devices(), machine.summary());
        let _ = writeln!(text, "| `{name}` | {devices} | {summary} |");
    }
    for (name, file) in PRESETS {
        let _ = write!(text, "\n### `{name}`\n\n```toml\n{}\n```\n", file.trim());
    }
    text
}

//! Tests of machines: times counted by hand, the presets' published figures, machine files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod files;
mod measured;
mod presets;
mod support;
mod times;

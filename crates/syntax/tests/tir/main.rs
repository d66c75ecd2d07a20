//! Tests of the text: what it means, that it round-trips, and that nothing breaks its parser.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dialect;
mod generate;
mod hostile;
mod mistakes;
mod properties;
mod text;

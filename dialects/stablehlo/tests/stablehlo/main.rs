//! Tests of reading and writing StableHLO.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod forms;
mod hostile;
mod programs;
mod support;

//! Tests of the tensor ops.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::panic, reason = "a test fails by panicking")]

mod descriptions;
mod elements;
mod reference;
mod samples;
mod soundness;
mod strategies;
mod support;
mod types;

//! Kernels against the evaluator of descriptions, and programs against results computed by hand.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::panic, reason = "a test fails by panicking")]

mod catalog;
mod control;
mod elements;
mod functions;
mod ops;
mod random;
mod support;

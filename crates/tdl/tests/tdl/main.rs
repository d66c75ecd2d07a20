//! Tests of the description language from outside.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails should panic")]

mod built;
mod catalog;
mod evaluation;
mod functions;
mod linearity;
mod mistakes;
mod mxnet;
mod ops;
mod property;
mod regions;
mod shapes;
mod soundness;
mod strategies;
mod support;
mod text;
mod tightness;

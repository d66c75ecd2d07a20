//! Tests of the driver as a whole.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod command_line;
mod corpus;
mod documents;
mod readme;
mod report;
mod support;

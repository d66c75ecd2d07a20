//! Tests of shardings: what devices hold, and what is no sharding.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cheapest;
mod checks;
mod places;

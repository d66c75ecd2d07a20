//! Storages counted by hand, by simulation, and on training steps.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::panic, reason = "a test fails by panicking")]

mod donated;
mod fused;
mod loops;
mod models;
mod random;
mod simulate;
mod straight;
mod support;

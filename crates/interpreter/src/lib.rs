//! Runs programs.
mod kernel;

pub use kernel::Kernel;

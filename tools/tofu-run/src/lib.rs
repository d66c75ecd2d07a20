//! `tofu-run` as a library: running a program on NumPy arrays, and comparing what comes out.
//!
//! | file | holds |
//! |---|---|
//! | `cli`, `run` | the command line, and what it asks for |
//! | `npy`, `npz`, `arrays` | NumPy's files, and tensors as arrays |
//! | `devices` | programs that several devices run together |
//! | `random` | arguments that are drawn |
//! | `expectations` | programs that say themselves what they expect |
//! | `compare`, `show` | results against expected ones, and as text |

mod arrays;
mod cli;
mod compare;
mod devices;
mod expectations;
mod npy;
mod npz;
mod random;
mod run;
mod show;

pub use arrays::tensor;
pub use compare::{Tolerance, difference};
pub use devices::{Together, run_together, sent_bytes, split};
pub use npy::Array;
pub use npz::Archive;
pub use run::main;

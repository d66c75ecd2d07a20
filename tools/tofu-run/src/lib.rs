//! `tofu-run` as a library: running a program on NumPy arrays, and comparing what comes out.
//!
//! | file | holds |
//! |---|---|
//! | `cli`, `run` | the command line, and what it asks for |
//! | `npy`, `npz`, `arrays` | NumPy's files, and tensors as arrays |
//! | `devices` | programs made ones for several devices |
//! | `expectations` | programs that say themselves what they expect |
//! | `compare`, `show` | results against expected ones, and as text |

mod arrays;
mod cli;
mod compare;
mod devices;
mod expectations;
mod npy;
mod npz;
mod run;
mod show;

pub use arrays::tensor;
pub use devices::split;
pub use npy::Array;
pub use npz::Archive;
pub use run::main;

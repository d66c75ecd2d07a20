//! Runs programs: the reference for everything that compiles them.
//!
//! The interpreter knows no dialect. An op is run by its [description](tofu_tdl::Describe), by what it says about
//! [control](tofu_ir::Control), or by what it says that devices do [together](tofu_sharding::Communicate); so whatever can be described can be run. Results are exactly those of the descriptions:
//! integers wrap, floats are rounded after every operation, sums have their terms in row-major order.
//!
//! | file | holds |
//! |---|---|
//! | `functions` | which function to run, and on what |
//! | `interpreter` | control: blocks, calls, loops |
//! | `lifetimes` | when values end |
//! | `exchange`, `traffic` | what devices do together, and what they send |
//! | `shards` | tensors cut into what devices hold, and put together |
//! | `storage` | where tensors are |
//! | `kernel`, `kernels` | descriptions, compiled |

mod exchange;
mod functions;
mod interpreter;
mod kernel;
mod kernels;
mod lifetimes;
mod shards;
mod storage;
mod traffic;

pub use functions::{entry, signature, tensor_type};
pub use interpreter::{Interpreter, MAX_CALL_DEPTH};
pub use kernel::Kernel;
pub use shards::{cut_shards, join_shards};
pub use storage::{Compute, Heap, Storage};
pub use traffic::{Sending, Traffic};

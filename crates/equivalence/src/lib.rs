//! Whether two programs compute the same: both are run on the same arguments, and their results are compared.
//!
//! | file | holds |
//! |---|---|
//! | `draw` | arguments drawn at random |
//! | `shrink` | the same program on smaller tensors |
//! | `together` | runs of programs that are written for each device |
//! | `compare` | how far results are apart |
//! | `text` | elements, types and distances in few words |

mod compare;
mod draw;
mod shrink;
mod text;
mod together;

pub use compare::{Comparison, Tolerance, difference, elements_behind};
pub use draw::draw;
pub use shrink::{Shrunk, shrink, work};
pub use text::{decimal, distance_text, element_text, type_text};
pub use together::{Together, run_together, sent_bytes, unplanned};

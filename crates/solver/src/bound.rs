//! Lower bounds: prices on memory, messages between nodes, and certificates of both in integers.

mod ascent;
mod certify;
mod dual;
mod fold;
mod graph;

pub(crate) use ascent::Ascent;
pub(crate) use dual::Dual;
pub(crate) use graph::{Graph, Link};

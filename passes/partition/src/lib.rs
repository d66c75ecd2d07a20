//! How the tensors of a program are split over devices.
//!
//! The search and its plans are in `tofu-partition`; what is here brings programs to it and writes its plans down.
//!
//! | file | holds |
//! |---|---|
//! | `partition` | the pass and its options |
//! | `target` | the machine and the mesh |
//! | `facts` | loops, state and memory of a function |
//! | `incoming`, `rules`, `pins` | what the program and the user ask for |
//! | `plan` | the search |
//! | `rewrite` | a plan, written into the program |
//! | `summary`, `compare`, `explain` | a plan, for people |
//! | `report`, `dump` | a plan and its problem, for other programs |

mod compare;
mod dump;
mod explain;
mod facts;
mod incoming;
mod options;
mod partition;
mod pins;
mod plan;
mod report;
mod rewrite;
mod rules;
mod summary;
mod target;
mod text;

pub use options::{AlgorithmName, Collectives, MeshAxes, ObjectiveName};
pub use partition::Partition;

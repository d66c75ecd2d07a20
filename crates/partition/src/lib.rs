//! How to split the tensors of a program over the devices of a machine.
//!
//! A [`Graph`] is what is to be split: the ops of a function, with their descriptions, and the tensors between them. A
//! [`Plan`] says what each op does on each axis of a mesh and in which layouts each tensor is kept; [`Prices`] say what that
//! costs, and [`Plan::evaluate`] adds it up. [`search()`] looks for a plan that costs little, by one of the
//! [algorithms](Algorithm), and the default one says how much less any plan could cost.
//!
//! | file | holds |
//! |---|---|
//! | `graph` | ops and tensors; loops, and what becomes what |
//! | `calls` | why calls are refused |
//! | `op_info`, `way` | what an op costs, and the ways of doing it on a mesh |
//! | `states` | the ways of keeping a tensor |
//! | `price` | the measure: time or bytes |
//! | `domain`, `problem` | what may be chosen, and the problem as the solver takes it |
//! | `constraints` | what a user asks of a plan |
//! | `magnitude` | which numbers are too large |
//! | `plan` | plans, checked and evaluated |
//! | `search` | the searches |

mod calls;
mod constraints;
mod domain;
mod graph;
mod magnitude;
mod op_info;
mod plan;
mod price;
mod problem;
mod search;
mod states;
#[cfg(test)]
mod testing;
mod way;

pub use constraints::Constraints;
pub use domain::{Domain, Lists, Symmetry};
pub use graph::{Facts, Graph, Link, Op, OpKind, Tensor, TensorId};
pub use op_info::{Give, Need, OpInfo, Shape, Shares, lacks};
pub use plan::{Broken, Evaluation, Plan, Sent};
pub use price::{Objective, Prices, TensorShape};
pub use problem::{Allowed, Lifetimes, Limits, Problem};
pub use search::{Algorithm, Failure, Memory, Outcome, Progress, Request, complete, search};
pub use states::{Stored, layouts_near};
pub use way::{Choice, Choices, Wanted, Way, way_of};

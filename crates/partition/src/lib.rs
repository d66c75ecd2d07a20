//! How to split the tensors of a program over the devices of a machine.

mod constraints;
mod domain;
mod graph;
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
pub use domain::{Domain, Lists, Symmetry, refined};
pub use graph::{Facts, Graph, Link, Op, OpKind, Tensor, TensorId};
pub use op_info::{Give, Need, OpInfo, Shape, Shares};
pub use plan::{Broken, Evaluation, Plan, Sent};
pub use price::{Objective, Prices, TensorShape};
pub use problem::{Allowed, Lifetimes, Limits, Problem, time_of};
pub use search::{Algorithm, Failure, Outcome, Progress, Request, search};
pub use states::Stored;
pub use way::{Choice, Choices, Wanted, Way, way_of};

//! Strategy selection under a memory limit: exact where it can be, anytime with a proven gap where it cannot.
//!
//! A [`Problem`] is a graph whose nodes each choose one strategy. Strategies cost, pairs of strategies on an edge cost,
//! and each strategy occupies memory while its node is alive; at no time may the memory in use exceed the limit.
//! [`solve`] looks for the cheapest choice and for the highest bound below which no choice can cost:
//!
//! ```
//! use tofu_solver::{Options, Problem, Solution, solve};
//!
//! let mut problem = Problem::new("pair", 10);
//! let a = problem.add_node([0, 2], &[1, 5], &[8, 3])?;
//! let b = problem.add_node([1, 3], &[1, 5], &[8, 3])?;
//! problem.add_edge(a, b, &[0, 0, 0, 7])?;
//! let solution = solve(&problem, &Options::default(), &mut |_| true);
//! // Only the second strategies of both fit together: 5 + 5, and 7 on the edge.
//! assert!(matches!(solution, Solution::Found { cost: 17, bound: 17, .. }));
//! # Ok::<(), tofu_solver::Invalid>(())
//! ```
//!
//! The rooms, in the order in which a run passes through them:
//! - `read`, `write`: problems from the contest's JSON, and as such;
//! - `presolve`: exact reductions, which often leave a few hundred of tens of thousands of nodes;
//! - `bound`: prices on memory and messages between nodes, certified in integers;
//! - `search`: dives, descent, crossover, branch and bound;
//! - [`evaluate()`]: the cost and the peak of a choice, independent of all that.

mod bound;
mod core;
mod evaluate;
mod meter;
mod model;
mod options;
mod pool;
mod presolve;
mod problem;
mod ragged;
mod read;
mod search;
mod write;

pub use evaluate::{Evaluation, evaluate};
pub use options::{Options, Progress, Solution};
pub use problem::{Invalid, Problem, SharedMatrix};
pub use read::{ReadError, read_file, read_json};
pub use search::{solve, time_within};
pub use write::write_json;

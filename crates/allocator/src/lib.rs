//! Offsets for buffers with fixed lifetimes: dynamic storage allocation, offline.
//!
//! ```text
//!   bytes ▲      ┌──────┐
//!         │ ┌────┤  c   │        buffers that are alive at once must not overlap;
//!         │ │ b  ├──┬───┤        the arena is as large as the highest end
//!         │ ├────┴┐ │ d │
//!         │ │  a  │ └───┘
//!         └─┴─────┴──────────► time
//! ```
//!
//! [`allocate`] gives each buffer of a [`Problem`] an offset in its pool: a multiple of its alignment, the one that it must have,
//! or the one of those that it lies together with.
//!
//! ```
//! use tofu_allocator::{Buffer, Options, Problem, allocate, check};
//!
//! let buffers = vec![Buffer::new(0..3, 4), Buffer::new(3..9, 4), Buffer::new(0..9, 4), Buffer::new(9..21, 4)];
//! let problem = Problem::new(buffers, None);
//! let allocation = allocate(&problem, &Options::default(), &mut || true)?;
//! assert_eq!((allocation.arenas[0].bytes, allocation.arenas[0].lower_bound), (8, 8));
//! assert_eq!(check(&problem, &allocation.offsets, &[8]), Ok(()));
//! # Ok::<(), tofu_allocator::Invalid>(())
//! ```
//!
//! The rooms, in the order in which a run passes through them: `model` (items and sections), `greedy`, `search`, and [`check()`],
//! which knows of none of them. Same input, same output: limits count work, not time.

mod allocate;
mod check;
mod csv;
mod greedy;
mod meter;
mod model;
mod orders;
mod problem;
mod search;

pub use allocate::{Allocation, Arena, Options, allocate};
pub use check::{Fault, check};
pub use csv::{ReadError, read_csv};
pub use problem::{Buffer, Invalid, Pool, Problem};

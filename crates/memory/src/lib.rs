//! Where the values of a program live.
//!
//! | what | where |
//! |---|---|
//! | the order in which ops run | [`Schedule`] |
//! | which values share memory, and when it is needed | [`Liveness`], [`Storage`] |
//! | which values never reach memory | [`Liveness::is_materialized`], [`Held`] |
//! | the most that is needed at once | [`Liveness::peak`], [`Peak`] |
//! | which results take the place of which arguments | [`Ties`], [`Donation`] |
//! | how often a loop goes round | [`trip_count`] |
//!
//! Offsets for what lives when are found by `tofu-allocator`.
//!
//! Nothing here knows an op by its name: all follows from how control passes through ops ([`tofu_ir::Control`]) and from
//! how their descriptions read their operands ([`tofu_tdl::Fusion`]).

mod assign;
mod cells;
mod donation;
mod join;
mod kernels;
mod liveness;
mod peak;
mod schedule;
mod source;
mod trip_count;

pub use donation::{Donated, Donation, Ties};
pub use kernels::Held;
pub use liveness::{Assumptions, Liveness, Storage, StorageId, StorageKind, bytes_of};
pub use peak::{Peak, Transient};
pub use schedule::Schedule;
pub use trip_count::{TRIP_COUNT, trip_count};

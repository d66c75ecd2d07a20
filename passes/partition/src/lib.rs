//! How the tensors of a program are split over devices.

mod partition;

pub use partition::Partition;

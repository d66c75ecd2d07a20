//! Programs that are written for each device: what their arguments and results are parts of.

use tofu_ir::TensorType;

use crate::{Mesh, Sharding};

/// A tensor of which each device holds a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lying {
    /// The type of all of it.
    pub ty: TensorType,
    /// How it lies.
    pub sharding: Sharding,
}

/// What a function that is written for each device takes and gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spmd {
    /// The mesh over the devices.
    pub mesh: Mesh,
    /// The arguments.
    pub arguments: Vec<Lying>,
    /// The results.
    pub results: Vec<Lying>,
}

//! What makes a sharding one of a mesh and of a tensor.

use tofu_diagnostics::plural;

use crate::{AxisRef, Mesh, Sharding};

/// What is wrong with a sharding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShardingError {
    /// It has dimensions that the tensor has not, or the other way round.
    Rank {
        /// The dimensions of the sharding.
        dims: usize,
        /// Those of the tensor.
        rank: usize,
    },
    /// It uses an axis, or a part of one, that the mesh does not have.
    NoSuchAxis {
        /// The axis, as it is written.
        axis: String,
    },
    /// It uses an axis twice, at least in part.
    UsedTwice {
        /// The one use, as it is written.
        first: String,
        /// The other one.
        second: String,
    },
    /// It uses two parts where one says the same.
    NotJoined {
        /// The parts, as they are written.
        parts: [String; 2],
        /// What says the same.
        joined: String,
    },
    /// Axes whose order has no meaning are not in that of the mesh.
    NotInOrder {
        /// Those that come first, but should not, as they are written.
        first: String,
        /// Those before which they come.
        second: String,
    },
    /// Nothing is partial.
    NothingPartial,
    /// A dimension does not divide and is not declared as padded, or the other way round.
    Padding {
        /// The dimension.
        dim: usize,
        /// Its extent.
        extent: u64,
        /// How many shares it has.
        shards: u64,
        /// Whether it is declared as padded.
        padded: bool,
    },
}

impl Sharding {
    /// Whether this is a sharding on a mesh of a tensor of these extents, as far as they are known.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self, mesh: &Mesh, shape: &[Option<u64>]) -> Result<(), ShardingError> {
        self.check_axes(mesh)?;
        if self.dims.len() != shape.len() {
            return Err(ShardingError::Rank { dims: self.dims.len(), rank: shape.len() });
        }
        for (dim, (sharding, &extent)) in self.dims.iter().zip(shape).enumerate() {
            let Some(extent) = extent else { continue };
            let (shards, padded) = (sharding.shards(), sharding.padded);
            if extent.is_multiple_of(shards) == padded {
                return Err(ShardingError::Padding { dim, extent, shards, padded });
            }
        }
        Ok(())
    }

    /// Whether this is a sharding on a mesh, of some tensor.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check_axes(&self, mesh: &Mesh) -> Result<(), ShardingError> {
        let text = |axis: AxisRef| axis.text(mesh);
        let partial = self.partial.as_ref().map(|partial| &partial.axes);
        if partial.is_some_and(|axes| axes.is_empty()) {
            return Err(ShardingError::NothingPartial);
        }
        let unordered = [Some(&self.replicated), partial];
        let unordered = unordered.into_iter().flatten();
        let lists = self.dims.iter().map(|dim| &dim.axes).chain(unordered.clone());
        let mut used: Vec<AxisRef> = Vec::new();
        for axes in lists {
            for &axis in axes {
                if !mesh.has(axis) {
                    return Err(ShardingError::NoSuchAxis { axis: text(axis) });
                }
                if let Some(&other) = used.iter().find(|other| !other.is_disjoint(axis)) {
                    return Err(ShardingError::UsedTwice { first: text(other), second: text(axis) });
                }
                used.push(axis);
            }
            for pair in axes.windows(2) {
                if let Some(joined) = pair[0].joined(pair[1]) {
                    let parts = [text(pair[0]), text(pair[1])];
                    return Err(ShardingError::NotJoined { parts, joined: text(joined) });
                }
            }
        }
        for axes in unordered {
            if let Some(pair) = axes.windows(2).find(|pair| pair[0] > pair[1]) {
                return Err(ShardingError::NotInOrder { first: text(pair[0]), second: text(pair[1]) });
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for ShardingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ShardingError::Rank { dims, rank } => {
                write!(f, "the sharding has {}, but the tensor {rank}", plural(*dims, "dimension"))
            }
            ShardingError::NoSuchAxis { axis } => write!(f, "the mesh has no axis `{axis}`"),
            ShardingError::UsedTwice { first, second } if first == second => {
                write!(f, "axis `{first}` is used twice")
            }
            ShardingError::UsedTwice { first, second } => {
                write!(f, "`{first}` and `{second}` are used, which have devices in common")
            }
            ShardingError::NotJoined { parts: [first, second], joined } => {
                write!(f, "`{first}` and `{second}` together are `{joined}`, which must be written")
            }
            ShardingError::NotInOrder { first, second } => {
                write!(f, "`{second}` must stand before `{first}`, as in the mesh")
            }
            ShardingError::NothingPartial => write!(f, "no axis is given over which values are partial"),
            ShardingError::Padding { dim, extent, shards, padded: false } => {
                write!(
                    f,
                    "{shards} devices split dimension {dim}, whose {extent} elements they do not divide evenly"
                )
            }
            ShardingError::Padding { dim, extent, shards, padded: true } => {
                write!(
                    f,
                    "dimension {dim} is not padded: {shards} devices divide its {extent} elements evenly"
                )
            }
        }
    }
}

impl std::error::Error for ShardingError {}

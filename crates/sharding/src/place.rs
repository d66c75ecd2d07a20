//! Which device holds what.

use smallvec::SmallVec;
use tofu_tdl::{DimRange, Region};

use crate::{Mesh, Sharding};

/// The share of an extent that is split in `shards`: the ceiling, so that the last shares may be short or empty.
pub fn share(extent: u64, shards: u64) -> u64 {
    extent.div_ceil(shards.max(1))
}

impl Sharding {
    /// The shape of the buffer that each device holds of a tensor of this shape, padding included.
    pub fn local_shape(&self, shape: &[u64]) -> SmallVec<[u64; 4]> {
        self.dims.iter().zip(shape).map(|(dim, &extent)| share(extent, dim.shards())).collect()
    }

    /// Which share of each dimension a device holds.
    pub fn shard_of(&self, mesh: &Mesh, device: u64) -> SmallVec<[u64; 4]> {
        self.dims.iter().map(|dim| mesh.joint_coordinate(device, &dim.axes)).collect()
    }

    /// The part of a tensor of this shape that a device holds, without padding; sizes may be 0.
    pub fn region(&self, mesh: &Mesh, shape: &[u64], device: u64) -> Region {
        let shard = self.shard_of(mesh, device);
        let range = |((dim, &extent), index): ((&crate::DimSharding, &u64), u64)| {
            let each = share(extent, dim.shards());
            let start = index.saturating_mul(each).min(extent);
            DimRange { start, size: each.min(extent - start), stride: 1 }
        };
        Region { dims: self.dims.iter().zip(shape).zip(shard).map(range).collect() }
    }

    /// The devices that hold this share of each dimension, in ascending order: copies of one another, or terms.
    pub fn holders(&self, mesh: &Mesh, shard: &[u64]) -> Vec<u64> {
        (0..mesh.devices()).filter(|&device| self.shard_of(mesh, device)[..] == *shard).collect()
    }
}

//! Tensors cut into what devices hold of them, and put together again.

use tofu_sharding::{Mesh, Sharding};
use tofu_tdl::Tensor;

use crate::exchange::copy_box;

/// What each device holds of a tensor. Padding is filled with ones in every bit, NaN in floats: whatever comes to count it is seen.
///
/// # Errors
/// The tensor does not fit the memory, or holds terms, of which nobody knows them.
pub fn cut_shards(mesh: &Mesh, sharding: &Sharding, whole: &Tensor) -> Result<Vec<Tensor>, String> {
    if sharding.partial.is_some() {
        return Err("an argument cannot be cut into terms".to_owned());
    }
    let local = sharding.local_shape(whole.dims());
    let (element, size) = (whole.element(), whole.element().storage_bytes());
    let length = local.iter().product::<u64>() as usize * size;
    let padding = if element == tofu_ir::ElementType::I1 { 1 } else { u8::MAX };
    (0..mesh.devices())
        .map(|device| {
            let mut bytes = vec![padding; length];
            let shard = sharding.shard_of(mesh, device);
            let start: Vec<u64> = shard.iter().zip(&local).map(|(shard, local)| shard * local).collect();
            let place = vec![0; local.len()];
            copy_box(size, (whole.bytes(), whole.dims(), &start), (&mut bytes, &local, &place));
            Tensor::from_bytes(element, &local, bytes)
        })
        .collect()
}

/// A tensor of this shape from what devices hold of it.
///
/// # Errors
/// They do not hold shares of it, or what should be copies is not the same.
pub fn join_shards(
    mesh: &Mesh,
    sharding: &Sharding,
    shape: &[u64],
    shares: &[Tensor],
) -> Result<Tensor, String> {
    let Some(first) = shares.first().filter(|_| shares.len() as u64 == mesh.devices()) else {
        return Err(format!("{} devices hold shares, not {}", shares.len(), mesh.devices()));
    };
    if sharding.partial.is_some() {
        return Err("a result cannot be terms".to_owned());
    }
    let (element, size) = (first.element(), first.element().storage_bytes());
    let mut bytes = vec![0; shape.iter().product::<u64>() as usize * size];
    let local = sharding.local_shape(shape);
    for (device, held) in shares.iter().enumerate() {
        if held.dims() != &local[..] || held.element() != element {
            return Err(format!(
                "device {device} holds a buffer of {:?}, not of {:?}",
                held.dims(),
                &local[..]
            ));
        }
        let region = sharding.region(mesh, shape, device as u64);
        let start: Vec<u64> = region.dims.iter().map(|dim| dim.start).collect();
        let extents: Vec<u64> = region.dims.iter().map(|dim| dim.size).collect();
        let none = vec![0; extents.len()];
        let mut own = vec![0; extents.iter().product::<u64>() as usize * size];
        copy_box(size, (held.bytes(), held.dims(), &none), (&mut own, &extents, &none));
        let shard = sharding.shard_of(mesh, device as u64);
        let holder = sharding.holders(mesh, &shard).first().copied().unwrap_or(0);
        if holder < device as u64 {
            let mut other = vec![0; own.len()];
            copy_box(size, (&bytes, shape, &start), (&mut other, &extents, &none));
            if other != own {
                return Err(format!("devices {holder} and {device} should hold the same, but do not"));
            }
            continue;
        }
        copy_box(size, (&own, &extents, &none), (&mut bytes, shape, &start));
    }
    Tensor::from_bytes(element, shape, bytes)
}

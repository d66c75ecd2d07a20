//! Which device holds what, by hand and by counting.

use tofu_machine::{Collective, Machine, Time};
use tofu_sharding::{AxisRef, Mesh, Reducer, Sharding, share};
use tofu_tdl::{DimRange, Region};

fn region(ranges: &[(u64, u64)]) -> Region {
    Region { dims: ranges.iter().map(|&(start, size)| DimRange { start, size, stride: 1 }).collect() }
}

#[test]
fn a_matrix_over_two_axes() {
    let mesh = Mesh::new([("x", 2), ("y", 4)]).unwrap();
    let (x, y) = (mesh.whole(0), mesh.whole(1));
    let columns = Sharding::replicated(2).split(1, y);
    assert_eq!(columns.local_shape(&[6, 8])[..], [6, 2]);
    assert_eq!(columns.region(&mesh, &[6, 8], 5), region(&[(0, 6), (2, 2)]), "device 5 is x = 1, y = 1");
    assert_eq!(columns.holders(&mesh, &[0, 1]), [1, 5]);
    let both = Sharding::replicated(2).split(0, x).split(1, y);
    assert_eq!(both.region(&mesh, &[6, 8], 5), region(&[(3, 3), (2, 2)]));
    assert_eq!(both.holders(&mesh, &[1, 1]), [5]);
}

/// The first axis of a dimension is the major one.
#[test]
fn the_order_of_axes_is_that_of_shares() {
    let mesh = Mesh::new([("x", 2), ("y", 4)]).unwrap();
    let (x, y) = (mesh.whole(0), mesh.whole(1));
    let start = |sharding: &Sharding, device| sharding.region(&mesh, &[16], device).dims[0].start;
    let starts = |sharding: Sharding| (0..8).map(|device| start(&sharding, device)).collect::<Vec<_>>();
    assert_eq!(starts(Sharding::replicated(1).split(0, x).split(0, y)), [0, 2, 4, 6, 8, 10, 12, 14]);
    assert_eq!(starts(Sharding::replicated(1).split(0, y).split(0, x)), [0, 4, 8, 12, 2, 6, 10, 14]);
    let minor = AxisRef { axis: 1, pre: 2, size: 2 };
    assert_eq!(starts(Sharding::replicated(1).split(0, minor)), [0, 8, 0, 8, 0, 8, 0, 8]);
}

/// One ceiling over all axes of a dimension, not one for each.
#[test]
fn shares_are_flat() {
    let mesh = Mesh::new([("x", 3), ("y", 3)]).unwrap();
    let sharding = Sharding::replicated(1).split(0, mesh.whole(0)).split(0, mesh.whole(1));
    assert_eq!(sharding.local_shape(&[10])[..], [2]);
    let sizes: Vec<u64> = (0..9).map(|device| sharding.region(&mesh, &[10], device).dims[0].size).collect();
    assert_eq!(sizes, [2, 2, 2, 2, 2, 0, 0, 0, 0], "and not shares of 4, 4 and 2 that are split once more");
    assert_eq!([share(7, 3), share(6, 3), share(0, 3), share(2, 3)], [3, 2, 0, 1]);
}

/// Every element lies on as many devices as the tensor has copies, in buffers that are large enough.
#[test]
fn parts_make_up_the_tensor() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..300 {
        let sizes: Vec<u64> = (0..3).map(|_| [1, 2, 3, 4, 6][random.usize(0..5)]).collect();
        let mesh = Mesh::new(["x", "y", "z"].into_iter().zip(sizes.iter().copied())).unwrap();
        let shape = [random.u64(0..12), random.u64(1..12)];
        let mut sharding = Sharding::replicated(2);
        let mut shards = 1;
        let mut axes = [0, 1, 2];
        random.shuffle(&mut axes);
        for axis in axes.into_iter().map(|axis| mesh.whole(axis)).filter(|axis| axis.size > 1) {
            // All of the axis, or the major part of one that can be halved.
            let part =
                AxisRef { size: if axis.size % 2 == 0 && random.bool() { 2 } else { axis.size }, ..axis };
            match random.u8(0..4) {
                0 => sharding = sharding.with_partial(Reducer::Sum, part),
                1 => {}
                _ => {
                    sharding = sharding.split(random.usize(0..2), part);
                    shards *= part.size;
                }
            }
        }
        let sharding = sharding.pad_for(&shape);
        sharding.check(&mesh, &shape.map(Some)).unwrap();
        let local = sharding.local_shape(&shape);
        let mut copies = vec![0; (shape[0] * shape[1]) as usize];
        for device in 0..mesh.devices() {
            let region = sharding.region(&mesh, &shape, device);
            let [rows, columns] = region.dims[..] else { panic!() };
            assert!(rows.size <= local[0] && columns.size <= local[1]);
            for row in rows.start..rows.start + rows.size {
                for column in columns.start..columns.start + columns.size {
                    copies[(row * shape[1] + column) as usize] += 1;
                }
            }
            let holders = sharding.holders(&mesh, &sharding.shard_of(&mesh, device));
            assert!(holders.contains(&device) && holders.len() as u64 == mesh.devices() / shards);
        }
        let expected = mesh.devices() / shards;
        assert!(copies.iter().all(|&copies| copies == expected), "{}", sharding.display(&mesh));
    }
}

/// The axes of a mesh along a machine span the levels that they are meant for.
#[test]
fn a_mesh_has_the_times_of_its_machine() {
    let machine = Machine::preset("dgx-a100-x2").unwrap();
    let mesh = Mesh::new([("node", 2), ("gpu", 8)]).unwrap();
    let time = |axes: &[AxisRef]| -> Time {
        machine.collective_time(Collective::AllReduce, &mesh.group(axes), 1 << 30)
    };
    let (node, gpu) = (mesh.whole(0), mesh.whole(1));
    assert!(time(&[node]) > time(&[gpu]), "over InfiniBand it is slower");
    assert!(time(&[node, gpu]) < time(&[node]) + time(&[gpu]));
    assert_eq!(
        time(&[AxisRef { axis: 1, pre: 1, size: 4 }, AxisRef { axis: 1, pre: 4, size: 2 }]),
        time(&[gpu])
    );
}

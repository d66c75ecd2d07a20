//! Each formula against a count by hand.

use tofu_ir::ElementType;
use tofu_machine::{Axis, Collective, Direction, Kernel, Machine, Time};

use crate::support::{assert_near, parse, preset, us};

const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;

/// Round numbers: 10 GB/s between devices, 1 us a message, no launch; four nodes of four devices, 8 GB/s a node and 3 us.
fn small() -> Machine {
    parse(
        "inherits = \"default\"
        devices = 16
        [device]
        launch = \"0us\"
        memory_bandwidth = \"100GB/s\"
        [device.flops]
        f32 = \"1TFLOP/s\"
        [[level]]
        name = \"node\"
        count = 4
        bandwidth = \"8GB/s\"
        latency = \"3us\"
        [[level]]
        name = \"device\"
        count = 4
        bandwidth = \"10GB/s\"
        latency = \"1us\"",
    )
    .unwrap()
}

/// The axis inside of a node, the axis over nodes, and both.
const INSIDE: Axis = Axis { size: 4, stride: 1 };
const ACROSS: Axis = Axis { size: 4, stride: 4 };

#[test]
fn kernels_follow_the_roofline() {
    let machine = preset("default", 8);
    let time =
        |flops, bytes| machine.kernel_time(&Kernel { op: "any", element: ElementType::F32, flops, bytes });
    // 100 TFLOP/s and 2 TB/s meet at 50 operations a byte.
    assert_eq!(time(0, 0), us(5.0));
    assert_eq!(time(100_000_000, 2000), us(6.0));
    assert_eq!(time(100_000_000, 2_000_000), us(6.0));
    assert_eq!(time(100_000_000, 4_000_000), us(7.0));
}

#[test]
fn element_types_that_are_not_listed_have_a_rate() {
    let rate = |machine: &str, element| preset(machine, 8).device().flop_rate(element) / 1_000_000_000;
    assert_eq!(rate("dgx-a100", ElementType::BF16), 312_000);
    assert_eq!(rate("dgx-a100", ElementType::F8E4M3FN), 312_000, "computed in 16 bits");
    assert_eq!(rate("dgx-h100", ElementType::F8E5M2), 1_979_000);
    assert_eq!(rate("dgx-a100", ElementType::Complex32), 19_500);
    assert_eq!(rate("dgx-a100", ElementType::I4), 624_000);
    assert_eq!(rate("p2.8xlarge", ElementType::F16), 2800);
    assert_eq!(rate("p2.8xlarge", ElementType::I64), 935);
}

#[test]
fn copies_share_their_link() {
    let machine = preset("p2.8xlarge", 8);
    // 8 devices send 1 MB each through 10 GB/s.
    assert_eq!(machine.copy_time(Direction::ToDevice, 1_000_000), us(10.0 + 800.0));
    assert_eq!(preset("p2.8xlarge", 1).copy_time(Direction::FromDevice, 1_000_000), us(10.0 + 100.0));
    assert_eq!(machine.copy_time(Direction::ToDevice, 0), Time::ZERO);
    assert_eq!(machine.host_memory_per_device(), 61 * GIB);
}

#[test]
fn collectives_inside_of_a_node() {
    let machine = small();
    let time = |collective, bytes| machine.collective_time(collective, &[INSIDE], bytes);
    // 4 devices, 40 MB: a part of it, 10 MB, takes 1 ms.
    let bytes = 40_000_000;
    assert_eq!(time(Collective::AllGather, bytes), us(3.0 + 3000.0));
    assert_eq!(time(Collective::ReduceScatter, bytes), us(3.0 + 3000.0));
    assert_eq!(time(Collective::AllReduce, bytes), us(6.0 + 6000.0));
    assert_eq!(time(Collective::AllToAll, bytes), us(3.0 + 750.0));
    assert_eq!(time(Collective::Permute, bytes), us(1.0 + 1000.0));
    assert_eq!(time(Collective::HaloExchange, 10_000), us(1.0 + 1.0));
    // Of a short message the tree's 4 steps beat the ring's 6: 1 kB, twice, takes 0.2 us.
    assert_eq!(time(Collective::AllReduce, 1000), us(4.0 + 0.2));
    assert_eq!(time(Collective::AllGather, 0), Time::ZERO);
    assert_eq!(machine.collective_time(Collective::AllReduce, &[], bytes), Time::ZERO);
    assert_eq!(
        machine.collective_time(Collective::AllReduce, &[Axis { size: 1, stride: 1 }], bytes),
        Time::ZERO
    );
}

#[test]
fn collectives_across_nodes_share_the_uplink() {
    let machine = small();
    let time = |collective, bytes| machine.collective_time(collective, &[ACROSS], bytes);
    // Four groups at once: each of the four devices of a node has 2 GB/s. 10 MB take 5 ms.
    let bytes = 40_000_000;
    assert_eq!(time(Collective::AllGather, bytes), us(9.0 + 15_000.0));
    assert_eq!(time(Collective::AllReduce, bytes), us(18.0 + 30_000.0));
    assert_eq!(time(Collective::AllToAll, bytes), us(9.0 + 3750.0));
    assert_eq!(time(Collective::Permute, bytes), us(3.0 + 5000.0));
    assert_eq!(time(Collective::HaloExchange, 2000), us(3.0 + 1.0));
}

#[test]
fn collectives_over_two_axes_are_priced_together() {
    let machine = small();
    let time = |collective, bytes| machine.collective_time(collective, &[ACROSS, INSIDE], bytes);
    // 16 devices, 160 MB, a part of 10 MB: across nodes 3 parts at 2 GB/s while, inside, 12 parts at 10 GB/s.
    let bytes = 160_000_000;
    assert_eq!(time(Collective::AllGather, bytes), us(9.0 + 3.0 + 15_000.0));
    assert_eq!(time(Collective::AllReduce, bytes), us(2.0 * 15_012.0));
    // Of its part of 10 MB a device sends 12 sixteenths to other nodes, and 3 within its own.
    assert_eq!(time(Collective::AllToAll, bytes), us(36.0 + 3.0 + 3750.0));
    // The order of the axes says nothing.
    let other = machine.collective_time(Collective::AllToAll, &[INSIDE, ACROSS], bytes);
    assert_eq!(time(Collective::AllToAll, bytes), other);
    // Only the last device of a node has a neighbour in another one: 10 kB through 8 GB/s, or through 10 GB/s inside.
    assert_eq!(time(Collective::HaloExchange, 10_000), us(3.0 + 1.25));
    assert_eq!(time(Collective::Permute, bytes), us(3.0 + 5000.0));
}

#[test]
fn several_axes_within_a_level_are_one() {
    let machine = preset("default", 8);
    let axes = [Axis { size: 2, stride: 4 }, Axis { size: 2, stride: 2 }, Axis { size: 2, stride: 1 }];
    let whole = [Axis { size: 8, stride: 1 }];
    for collective in Collective::ALL {
        for bytes in [1, KIB, GIB] {
            let joint = machine.collective_time(collective, &axes, bytes);
            assert_eq!(
                joint,
                machine.collective_time(collective, &whole, bytes),
                "{collective:?} of {bytes}"
            );
        }
    }
}

/// An all-reduce over axes one after the other pays the full price for each.
#[test]
fn together_is_cheaper_than_one_after_the_other() {
    for (name, devices) in [("default", 8), ("dgx-a100", 16), ("dgx1-v100", 64)] {
        let machine = preset(name, devices);
        for outer in (2..devices).filter(|size| devices.is_multiple_of(*size)) {
            let inner = devices / outer;
            let axes = [Axis { size: outer, stride: inner }, Axis { size: inner, stride: 1 }];
            for collective in [Collective::AllGather, Collective::AllReduce, Collective::ReduceScatter] {
                let joint = machine.collective_time(collective, &axes, GIB);
                let each = axes.map(|axis| machine.collective_time(collective, &[axis], GIB));
                assert!(joint < each[0] + each[1], "{collective:?} over {outer} x {inner} on {name}");
                assert!(joint >= each[1], "{collective:?} over {outer} x {inner} on {name}");
            }
        }
    }
}

#[test]
fn uneven_groups_send_no_more_than_there_is() {
    // Five devices on nodes of four are three and two: across nodes one part of five, inside at most three.
    let machine = parse(
        "inherits = \"default\"
        devices = 5
        [device]
        launch = \"0us\"
        [[level]]
        name = \"node\"
        bandwidth = \"3GB/s\"
        latency = \"0us\"
        [[level]]
        name = \"device\"
        count = 4
        bandwidth = \"10GB/s\"
        latency = \"0us\"",
    )
    .unwrap();
    assert_eq!(machine.shape(), [2, 3]);
    let whole = [Axis { size: 5, stride: 1 }];
    assert_near(machine.collective_time(Collective::AllGather, &whole, 50_000_000), us(10_000.0));
}

#[test]
fn a_bus_carries_everything() {
    let machine = preset("cpu", 8);
    // Seven eighths of 8 MB from each of 8 devices through 102.4 GB/s, 7 messages, and a launch.
    let whole = [Axis { size: 8, stride: 1 }];
    let time = machine.collective_time(Collective::AllGather, &whole, 8_000_000);
    assert_near(time, us(1.0 + 7.0 + 56_000_000.0 / 102_400.0));
}

#[test]
fn bytes_are_those_of_the_usual_terms() {
    let sent = |collective: Collective| collective.sent_bytes(8, 800);
    assert_eq!(Collective::ALL.map(sent), [700, 1400, 88, 800, 100, 700]);
    assert_eq!(Collective::AllGather.sent_bytes(8, 1), 1, "a part of a byte is one");
    assert_eq!(Collective::AllReduce.sent_bytes(1, 800), 0);
    assert_eq!(Collective::AllReduce.sent_bytes(u64::MAX, u64::MAX), u64::MAX);
}

/// More bytes, more devices, more devices on a link: never less time.
#[test]
fn times_grow_with_what_is_done() {
    let mut random = fastrand::Rng::with_seed(7);
    for name in ["cpu", "default", "dgx1-v100", "dgx-h100"] {
        for _ in 0..200 {
            let machine = preset(name, 1 << random.u32(0..=3));
            let size = 1 << random.u32(0..=machine.devices().ilog2());
            let stride = 1 << random.u32(0..=(machine.devices() / size).ilog2());
            let group = [Axis { size, stride }];
            let (few, many) = (random.u64(1..1 << 20), random.u64(1 << 20..1 << 40));
            for collective in Collective::ALL {
                let time = |bytes| machine.collective_time(collective, &group, bytes);
                assert!(time(few) <= time(many), "{collective:?} over {group:?} on {name}");
            }
        }
    }
}

#[test]
fn what_is_too_large_saturates() {
    let machine = preset("default", 1024);
    let whole = [Axis { size: 1024, stride: 1 }];
    for collective in Collective::ALL {
        assert!(machine.collective_time(collective, &whole, u64::MAX) > Time::ZERO);
    }
    let kernel = Kernel { op: "any", element: ElementType::F32, flops: u64::MAX, bytes: u64::MAX };
    assert!(machine.kernel_time(&kernel) > Time::ZERO);
    assert!(machine.copy_time(Direction::ToDevice, u64::MAX) > Time::ZERO);
}

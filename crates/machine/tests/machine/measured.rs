//! Measured times override the formulas.

use tofu_ir::ElementType;
use tofu_machine::{Axis, Collective, Direction, Kernel, Machine, Time};

use crate::support::{assert_near, parse, preset, us};

fn measured() -> Machine {
    parse(
        "inherits = \"dgx-a100\"
        devices = 16

        [[kernel]]
        op = \"tensor.dot_general\"
        element = \"bf16\"
        flops = [[\"1GFLOP\", \"20us\"], [\"100GFLOP\", \"2000us\"]]

        [[kernel]]
        op = \"tensor.add\"
        element = \"bf16\"
        bytes = [[\"1MB\", \"7us\"]]

        [[collective]]
        kind = \"all_reduce\"
        group = [8]
        bytes = [[\"64KiB\", \"30us\"], [\"16MiB\", \"120us\"]]

        [[collective]]
        kind = \"all_reduce\"
        group = [2, 8]
        bytes = [[\"64KiB\", \"90us\"]]

        [[copy]]
        direction = \"to_device\"
        bytes = [[\"1GB\", \"50ms\"]]",
    )
    .unwrap()
}

#[test]
fn kernels() {
    let machine = measured();
    let model = preset("dgx-a100", 16);
    let kernel = |flops| Kernel { op: "tensor.dot_general", element: ElementType::BF16, flops, bytes: 1000 };
    assert_eq!(machine.kernel_time(&kernel(1_000_000_000)), us(20.0));
    assert_near(machine.kernel_time(&kernel(10_000_000_000)), us(200.0));
    // Above, the formula scaled by what it missed at the largest size.
    let ratio = 2000e-6 / model.kernel_time(&kernel(100_000_000_000)).seconds();
    let expected = Time::from_seconds(model.kernel_time(&kernel(400_000_000_000)).seconds() * ratio);
    assert_near(machine.kernel_time(&kernel(400_000_000_000)), expected);
    // What was not measured: another type, another op, no size to look up.
    for kernel in [
        Kernel { element: ElementType::F32, ..kernel(1_000_000_000) },
        Kernel { op: "tensor.subtract", ..kernel(1_000_000_000) },
        kernel(0),
    ] {
        assert_eq!(machine.kernel_time(&kernel), model.kernel_time(&kernel));
    }
    let add = Kernel { op: "tensor.add", element: ElementType::BF16, flops: 1, bytes: 1_000_000 };
    assert_eq!(machine.kernel_time(&add), us(7.0));
}

#[test]
fn collectives_by_the_levels_that_the_group_spans() {
    let machine = measured();
    let time = |group: &[Axis]| machine.collective_time(Collective::AllReduce, group, 64 << 10);
    assert_eq!(time(&[Axis { size: 8, stride: 1 }]), us(30.0));
    assert_eq!(time(&[Axis { size: 2, stride: 4 }, Axis { size: 4, stride: 1 }]), us(30.0));
    assert_eq!(time(&[Axis { size: 16, stride: 1 }]), us(90.0));
    // Across nodes only, and fewer devices of a node, were not measured.
    for other in [Axis { size: 2, stride: 8 }, Axis { size: 4, stride: 2 }] {
        let model = preset("dgx-a100", 16).collective_time(Collective::AllReduce, &[other], 64 << 10);
        assert_eq!(time(&[other]), model);
    }
    // Half way in the logarithm of the size is half way in that of the time.
    let middle = machine.collective_time(Collective::AllReduce, &[Axis { size: 8, stride: 1 }], 1 << 20);
    assert_near(middle, us(60.0));
}

#[test]
fn copies() {
    let machine = measured();
    assert_eq!(machine.copy_time(Direction::ToDevice, 1_000_000_000), us(50_000.0));
    let model = preset("dgx-a100", 16).copy_time(Direction::FromDevice, 1_000_000_000);
    assert_eq!(machine.copy_time(Direction::FromDevice, 1_000_000_000), model);
}

//! The presets say what is published of the machines.

use tofu_diagnostics::SourceMap;
use tofu_ir::ElementType;
use tofu_machine::{Axis, Collective, DEFAULT_PRESET, Machine, Sharing, presets, reference};

use crate::support::preset;

#[test]
fn all_presets_are_machines() {
    let names: Vec<&str> = presets().collect();
    assert!(names.is_sorted());
    for name in names {
        let machine = Machine::preset(name).unwrap();
        assert_eq!(machine.name(), name);
        assert!(machine.summary().ends_with('.'), "{name}");
        assert!(machine.devices() <= machine.capacity());
    }
    assert_eq!(Machine::preset(DEFAULT_PRESET).unwrap().devices(), 8);
    assert!(Machine::preset("dgx").is_none());
}

/// Section 7 of the Tofu paper.
#[test]
fn the_paper_s_machine() {
    let machine = Machine::preset("p2.8xlarge").unwrap();
    assert_eq!(machine.devices(), 8);
    assert_eq!(machine.device().memory, 12 << 30);
    assert_eq!(machine.levels()[0].bandwidth, 21_000_000_000);
    let host = machine.host();
    assert_eq!((host.to_device, host.shared_by, host.memory), (10_000_000_000, 8, 488 << 30));
}

/// The data sheets' figures of whole systems, from the parts that the files name.
#[test]
fn systems_add_up() {
    // (preset, memory of all GPUs in GiB, petaFLOP/s on tensor cores, GB/s a GPU both ways, Gb/s a node)
    let systems = [
        ("dgx1-v100", 256, ElementType::F16, 1.0, 300, 400),
        ("dgx-a100", 640, ElementType::I8, 5.0, 600, 1600),
        ("dgx-h100", 640, ElementType::F8E4M3FN, 15.8, 900, 3200),
    ];
    for (name, memory, element, petaflops, nvlink, network) in systems {
        let machine = Machine::preset(name).unwrap();
        assert_eq!(machine.devices(), 8, "{name}");
        assert_eq!(machine.device().memory * 8, memory << 30, "{name}");
        let rate = machine.device().flop_rate(element) as f64 * 8.0 / 1e15;
        assert!((rate - petaflops).abs() < 0.05, "{name}: {rate}");
        let ports = machine.levels().iter().filter(|level| level.sharing == Sharing::Port);
        assert_eq!(ports.map(|level| level.bandwidth * 2).sum::<u64>(), nvlink * 1_000_000_000, "{name}");
        assert_eq!(machine.levels()[0].bandwidth * 8, network * 1_000_000_000, "{name}");
    }
}

/// Bus bandwidths of 8-device all-reduces as published for nccl-tests lie between half of the model's and the model's.
#[test]
fn all_reduces_are_as_fast_as_the_links() {
    for (name, links) in [("dgx1-v100", 150.0), ("dgx-a100", 300.0), ("dgx-h100", 450.0)] {
        let bytes = 1u64 << 30;
        let time =
            preset(name, 8).collective_time(Collective::AllReduce, &[Axis { size: 8, stride: 1 }], bytes);
        let bus = Collective::AllReduce.sent_bytes(8, bytes) as f64 / time.seconds() / 1e9;
        assert!(bus < links && bus > links * 0.5, "{name}: {bus} GB/s");
    }
}

#[test]
fn clusters_are_more_of_the_same() {
    for node in ["dgx1-v100", "dgx-a100", "dgx-h100"] {
        let one = Machine::preset(node).unwrap();
        for nodes in [2, 8] {
            let cluster = Machine::preset(&format!("{node}-x{nodes}")).unwrap();
            assert_eq!(cluster.devices(), 8 * nodes);
            assert_eq!(cluster.shape()[0], nodes);
            assert_eq!(cluster.device(), one.device());
            let level = cluster.mesh_axes()[0].level;
            assert_eq!(cluster.levels()[level].name.as_ref(), "node", "the slowest links come first");
        }
    }
}

/// The reference's examples are machine files.
#[test]
fn the_reference_s_files_are_read() {
    let mut count = 0;
    let text = reference();
    for block in text.split("```toml\n").skip(1) {
        let file = block.split("```").next().unwrap();
        // The example of measured times stands alone.
        let whole =
            if file.starts_with("[[") { format!("inherits = \"dgx-a100-x2\"\n{file}") } else { file.into() };
        let mut sources = SourceMap::new();
        let id = sources.add("reference", whole).unwrap();
        assert!(Machine::parse(&sources, id).is_ok(), "{file}");
        count += 1;
    }
    assert_eq!(count, presets().count() + 2);
}

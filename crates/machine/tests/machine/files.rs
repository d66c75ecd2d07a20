//! Machine files: what they may leave out, and what is said about mistakes.

use tofu_diagnostics::{Format, Renderer, SourceMap, Span};
use tofu_machine::{Machine, Sharing};

use crate::support::{parse, preset};

#[test]
fn a_file_says_what_is_different() {
    let base = preset("dgx-a100", 8);
    let machine = parse(
        "inherits = \"dgx-a100\"
        devices = 256
        device.memory = \"40GiB\"
        device.flops.f32 = \"156TFLOP/s\"
        host.shared_by = 1
        [[level]]
        name = \"pod\"
        count = 4
        bandwidth = \"1TB/s\"
        latency = \"10us\"
        sharing = \"uplink\"
        [[level]]
        name = \"node\"
        count = 32",
    )
    .unwrap();
    assert_eq!(machine.name(), "m.toml");
    assert_eq!(machine.device().memory, 40 << 30);
    assert_eq!(machine.device().memory_bandwidth, base.device().memory_bandwidth);
    let rates =
        [tofu_ir::ElementType::F32, tofu_ir::ElementType::BF16].map(|ty| machine.device().flop_rate(ty));
    assert_eq!(rates, [156_000_000_000_000, 312_000_000_000_000]);
    assert_eq!(machine.host().shared_by, 1);
    let levels: Vec<(&str, u64, u64)> =
        machine.levels().iter().map(|level| (&*level.name, level.count, level.bandwidth)).collect();
    let expected =
        [("pod", 4, 1_000_000_000_000), ("node", 32, 200_000_000_000), ("device", 8, 300_000_000_000)];
    assert_eq!(levels, expected);
    assert_eq!(machine.levels()[1].sharing, Sharing::Uplink);
    assert_eq!(machine.shape(), [1, 32, 8]);
}

#[test]
fn a_smaller_machine_uses_what_it_has() {
    let machine = parse("inherits = \"dgx-a100-x8\"\n[[level]]\nname = \"node\"\ncount = 2").unwrap();
    assert_eq!(machine.devices(), 16);
}

#[test]
fn devices_are_checked() {
    let machine = preset("p2.8xlarge", 8);
    let error = |devices| {
        let found = machine.with_devices(devices, Span::NONE).unwrap_err();
        let renderer = Renderer { format: Format::Short, color: false, width: 80 };
        renderer.render(&SourceMap::new(), &found)
    };
    insta::assert_snapshot!(error(0), @r#"error[T0704]: a machine needs at least one device"#);
    insta::assert_snapshot!(error(9), @r#"error[T0704]: `p2.8xlarge` holds 8 devices, but 9 are asked for (help: take another machine, or raise the `count` of a level in a file that `inherits` this one)"#);
}

fn mistakes(text: &str) -> String {
    parse(text).unwrap_err()
}

#[test]
fn misspelled_and_missing_entries() {
    insta::assert_snapshot!(mistakes("inherit = \"dgx-a100\""), @r#"
m.toml:1:1: error[T0702]: the file has no entry `inherit` (help: did you mean `inherits`?)
m.toml:1:1: error[T0702]: `[device]` has no `memory`, `memory_bandwidth`, `launch`, `flops`
m.toml:1:1: error[T0702]: the file has no `level`
m.toml:1:1: error[T0702]: `[host]` has no `devices`, `shared_by`, `memory`, `to_device`, `from_device`, `latency`
"#);
    insta::assert_snapshot!(mistakes("inherits = \"dgx-a10\"\ndevices = 0"), @r#"m.toml:1:12: error[T0701]: there is no machine `dgx-a10` (help: did you mean `dgx-a100`?)"#);
    insta::assert_snapshot!(
        mistakes(
            "inherits = \"dgx-a100\"
[device]
memry = \"40GiB\"
flops = { bf6 = \"1TFLOP/s\", f32 = \"1GB/s\" }
[[level]]
count = 2
[host]
speed = 3
[[collective]]
kind = \"all_gahter\"
bytes = []"
        ),
        @r#"
m.toml:3:1: error[T0702]: `[device]` has no entry `memry` (help: did you mean `memory`?)
m.toml:4:11: error[T0702]: there is no element type `bf6` (help: did you mean `bf16`?)
m.toml:4:35: error[T0703]: `GB/s` is no unit here: expected a rate such as "19.5TFLOP/s" (help: the units are `FLOP/s`, `MFLOP/s`, `GFLOP/s`, `TFLOP/s`, `PFLOP/s`)
m.toml:5:1: error[T0702]: `[[level]]` has no `name`
m.toml:8:1: error[T0702]: `[host]` has no entry `speed` (help: there are `devices`, `memory`, `to_device`, `from_device`, `latency`, `shared_by`)
m.toml:9:1: error[T0702]: `[[collective]]` has no `group`
m.toml:10:8: error[T0703]: `kind` cannot be "all_gahter" (help: did you mean `all_gather`?)
m.toml:11:9: error[T0703]: expected at least one size with its time
"#
    );
}

#[test]
fn values_of_the_wrong_kind() {
    insta::assert_snapshot!(
        mistakes(
            "inherits = \"dgx-a100\"
name = 3
devices = \"eight\"
device.memory = 40
device.memory_bandwidth = \"1555GB\"
device.launch = \"5\"
host.memory = \"2 tera\"
host.devices = -8
host.to_device = \"0GB/s\"
host.from_device = \"fast\"
level = \"node\""
        ),
        @r#"
m.toml:2:8: error[T0703]: expected a text
m.toml:3:11: error[T0703]: expected a positive integer
m.toml:4:17: error[T0703]: expected a size such as "16GiB"
m.toml:5:27: error[T0703]: `GB` is no unit here: expected a bandwidth such as "21GB/s" (help: the units are `B/s`, `kB/s`, `MB/s`, `GB/s`, `TB/s`, `KiB/s`, `MiB/s`, `GiB/s`, `TiB/s`, `Mb/s`, `Gb/s`, `Tb/s`)
m.toml:6:17: error[T0703]: "5" lacks a unit: expected a time such as "5us" (help: the units are `ps`, `ns`, `us`, `ms`, `s`)
m.toml:7:15: error[T0703]: `tera` is no unit here: expected a size such as "16GiB" (help: the units are `B`, `kB`, `MB`, `GB`, `TB`, `KiB`, `MiB`, `GiB`, `TiB`)
m.toml:8:16: error[T0703]: expected a positive integer
m.toml:9:18: error[T0703]: "0GB/s" must be more than zero
m.toml:10:20: error[T0703]: expected a bandwidth such as "21GB/s"
m.toml:11:9: error[T0703]: expected a list
"#
    );
    insta::assert_snapshot!(
        mistakes(
            "inherits = \"dgx-a100\"
device = 8
[[level]]
name = \"node\"
count = 1.5
latency = \"99999999999999999999s\"
sharing = \"uplnik\"
[[copy]]
direction = \"to_device\"
bytes = [\"1GB\"]"
        ),
        @r#"
m.toml:2:10: error[T0703]: expected a table
m.toml:5:9: error[T0703]: expected a positive integer
m.toml:6:11: error[T0703]: "99999999999999999999s" is more than 64 bits hold
m.toml:7:11: error[T0703]: `sharing` cannot be "uplnik" (help: did you mean `uplink`?)
m.toml:10:10: error[T0703]: expected a list
"#
    );
}

#[test]
fn numbers_that_contradict() {
    insta::assert_snapshot!(mistakes("inherits = \"p2.8xlarge\"\ndevices = 12\nhost.shared_by = 9"), @r#"
m.toml:2:11: error[T0704]: the levels hold 8 devices, but 12 are to be used
m.toml:3:18: error[T0704]: 9 devices share a link to the host, but the host serves 8 devices
"#);
    insta::assert_snapshot!(
        mistakes("inherits = \"dgx-a100\"\n[[level]]\nname = \"node\"\nbandwidth = \"9TB/s\""), @r#"m.toml:2:1: error[T0704]: level `node` gives a device 1125 GB/s, more than `device` inside of it, which gives 300 GB/s (help: levels go from the slowest links inwards)"#);
    insta::assert_snapshot!(
        mistakes("inherits = \"dgx-a100\"\n[[level]]\nname = \"node\"\n[[level]]\nname = \"node\""), @r#"m.toml:4:1: error[T0704]: there are two levels `node`"#);
    insta::assert_snapshot!(
        mistakes("inherits = \"dgx-a100\"\n[[level]]\nname = \"node\"\ncount = 1000000000000000000"), @r#"m.toml:2:1: error[T0704]: the levels hold 8000000000000000000 devices, more than 1048576"#);
    insta::assert_snapshot!(
        mistakes(
            "inherits = \"dgx-a100\"
[[kernel]]
op = \"tensor.add\"
element = \"f32\"
flops = [[\"1MFLOP\", \"1us\"]]
bytes = [[\"1MB\", \"1us\"]]
[[collective]]
kind = \"permute\"
group = [9]
bytes = [[\"1MB\", \"1us\"]]
[[collective]]
kind = \"permute\"
group = [1, 1, 8]
bytes = [[\"1MB\", \"1us\"]]
[[collective]]
kind = \"permute\"
group = [2]
bytes = [[\"1MB\", \"1us\"], [\"1MB\", \"2us\"]]
[[copy]]
direction = \"to_device\"
bytes = [[\"1MB\", \"0us\"]]
[[copy]]
direction = \"from_device\"
bytes = [[\"1MB\", \"1us\"]]
[[copy]]
direction = \"from_device\"
bytes = [[\"1MB\", \"1us\"]]"
        ),
        @r#"
m.toml:6:9: error[T0704]: a kernel is measured by `flops` or by `bytes`, not by both
m.toml:9:10: error[T0704]: level `device` joins 8, but `group` has 9 there
m.toml:13:9: error[T0704]: `group` has 3 numbers, but the machine 2 levels
m.toml:18:27: error[T0704]: sizes must ascend
m.toml:21:18: error[T0704]: nothing takes no time
m.toml:25:1: error[T0704]: `[[copy]]` for the same work stands here again
"#
    );
}

/// What never meets a collective, or an op, is not ignored.
#[test]
fn measurements_of_nothing() {
    let group = |numbers: &str| {
        mistakes(&format!(
            "inherits = \"dgx-a100\"\n[[collective]]\nkind = \"permute\"\ngroup = {numbers}\nbytes = [[\"1MB\", \"1us\"]]"
        ))
    };
    for numbers in ["[]", "[1]", "[1, 1]"] {
        let expected = "m.toml:4:9: error[T0704]: a group of one device does nothing together";
        assert_eq!(group(numbers).trim(), expected);
    }
    let machine = parse(
        "inherits = \"dgx-a100\"\n[[kernel]]\nop = \"t.nope\"\nelement = \"f32\"\nbytes = [[\"1MB\", \"1us\"]]",
    );
    let unknown = machine.unwrap().unknown_ops(&["t.add", "t.nop"]);
    let [error] = &unknown[..] else { panic!("{unknown:?}") };
    assert_eq!((error.code.id, &*error.message), ("T0702", "there is no op `t.nope`"));
    assert!(!error.primary.span.is_none());
    assert!(error.help.as_ref().unwrap().contains("t.nop"));
}

#[test]
fn text_that_is_no_toml() {
    insta::assert_snapshot!(mistakes("inherits = \"dgx-a100\ndevices = = 3\n[device"), @r#"
m.toml:1:21: error[T0101]: this is no TOML: invalid basic string, expected `"`
m.toml:2:11: error[T0101]: this is no TOML: extra `=`, expected nothing
m.toml:2:13: error[T0101]: this is no TOML: unexpected key or value, expected newline, `#`
m.toml:3:8: error[T0101]: this is no TOML: unclosed table, expected `]`
"#);
    insta::assert_snapshot!(mistakes("devices = 3\ndevices = 4"), @r#"m.toml:2:1: error[T0101]: this is no TOML: duplicate key"#);
    insta::assert_snapshot!(mistakes(""), @r#"
m.toml:1:1: error[T0702]: `[device]` has no `memory`, `memory_bandwidth`, `launch`, `flops`
m.toml:1:1: error[T0702]: the file has no `level`
m.toml:1:1: error[T0702]: `[host]` has no `devices`, `shared_by`, `memory`, `to_device`, `from_device`, `latency`
"#);
}

/// Whatever stands in a file, there is a machine or an error.
#[test]
fn damaged_files_are_refused() {
    let mut random = fastrand::Rng::with_seed(11);
    let text = include_str!("../../src/presets/dgx1-v100.toml");
    for _ in 0..2000 {
        let mut damaged: Vec<char> = text.chars().collect();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(0..damaged.len());
            match random.u8(0..3) {
                0 => drop(damaged.remove(at)),
                1 => {
                    damaged[at] =
                        random.choice(['"', '[', ']', '=', '#', '.', '0', '-', '\n', ' ', 'é']).unwrap()
                }
                _ => drop(damaged.drain(at..damaged.len().min(at + 40))),
            }
        }
        let damaged: String = damaged.into_iter().collect();
        if let Err(found) = parse(&damaged) {
            assert!(!found.is_empty(), "{damaged}");
        }
    }
    let deep = format!("a = {}", "[".repeat(100_000));
    assert!(parse(&deep).is_err());
}

#[test]
fn errors_stand_at_their_place() {
    let mut sources = SourceMap::new();
    sources.add("other", "x").unwrap();
    let text = "inherits = \"dgx-a100\"\n[device]\nmemory = \"40Gib\"\n";
    let file = sources.add("m.toml", text).unwrap();
    let found = Machine::parse(&sources, file).unwrap_err();
    assert_eq!(sources.text(found[0].primary.span), "\"40Gib\"");
}

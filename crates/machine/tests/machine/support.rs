//! Reading machine files in tests.

use tofu_diagnostics::{Format, Renderer, SourceMap, Span};
use tofu_machine::{Machine, Time};

/// The machine that a text says, or what is wrong with it, one line for each diagnostic.
pub(crate) fn parse(text: &str) -> Result<Machine, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("m.toml", text).unwrap();
    Machine::parse(&sources, file).map_err(|found| {
        let renderer = Renderer { format: Format::Short, color: false, width: 80 };
        found.iter().map(|diagnostic| renderer.render(&sources, diagnostic)).collect()
    })
}

/// The preset with so many devices in use.
pub(crate) fn preset(name: &str, devices: u64) -> Machine {
    Machine::preset(name).unwrap().with_devices(devices, Span::NONE).unwrap()
}

pub(crate) fn us(microseconds: f64) -> Time {
    Time::from_seconds(microseconds * 1e-6)
}

pub(crate) fn assert_near(time: Time, expected: Time) {
    let tolerance = expected.picoseconds() / 1_000_000 + 10;
    assert!(time.picoseconds().abs_diff(expected.picoseconds()) <= tolerance, "{time} is not {expected}");
}

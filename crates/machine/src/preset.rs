//! The machines that come with Tofu, each a file in `presets/`.

use tofu_diagnostics::SourceMap;

use crate::Machine;

/// The machine that is taken where none is named.
pub const DEFAULT_PRESET: &str = "default";

macro_rules! presets {
    ($($name:literal)*) => {
        /// Names and texts.
        pub(crate) const PRESETS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("presets/", $name, ".toml")))),*];
    };
}

presets! {
    "cpu"
    "default"
    "dgx-a100"
    "dgx-a100-x2"
    "dgx-a100-x8"
    "dgx-h100"
    "dgx-h100-x2"
    "dgx-h100-x8"
    "dgx1-v100"
    "dgx1-v100-x2"
    "dgx1-v100-x8"
    "p2.8xlarge"
}

/// The names of all presets, in alphabetical order.
pub fn presets() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|&(name, _)| name)
}

impl Machine {
    /// The preset of this name.
    pub fn preset(name: &str) -> Option<Machine> {
        let &(name, text) = PRESETS.iter().find(|(other, _)| *other == name)?;
        let mut sources = SourceMap::new();
        let file = sources.add(name, text).ok()?;
        Machine::parse(&sources, file).ok()
    }
}

//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use tofu_opt::Language;

/// Runs a function of a tensor program on one device or several, exactly as its ops are described
#[derive(Parser, Debug)]
#[command(
    name = "tofu-run",
    version,
    max_term_width = 100,
    after_help = "Arrays are named arg0, arg1, … and res0, res1, … in the order of the function's arguments and results. \
        Element types that NumPy lacks come and go as others: bf16, f8… and f4… as float32, i2 and i4 as int8, ui2 and ui4 \
        as uint8.\n\nA program with ops `check.expect_…`, as the StableHLO project's tests have, is run as those say unless a \
        function or arrays are named: each function without arguments, in each part between lines `// -----`.\n\nExit codes: 0 done, 1 errors or differences were reported, 2 wrong use."
)]
pub(crate) struct Arguments {
    /// The program: a .tir or StableHLO file, or - for standard input
    pub(crate) file: PathBuf,
    /// The function to run; @main, or the only one, if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// In what language FILE is; told by its content if not given
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) from: Option<Language>,
    /// The arguments, from a NumPy archive
    #[arg(long, value_name = "F.npz", conflicts_with = "random")]
    pub(crate) inputs: Option<PathBuf>,
    /// Draw the arguments: floats in [-1, 1), integers in 0..8, the same on every machine
    #[arg(long, value_name = "SEED")]
    pub(crate) random: Option<u64>,
    /// Write the results into a NumPy archive instead of printing them
    #[arg(long, value_name = "F.npz")]
    pub(crate) outputs: Option<PathBuf>,
    /// Compare the results with those of a NumPy archive instead of printing them
    #[arg(long, value_name = "F.npz", group = "reference")]
    pub(crate) expect: Option<PathBuf>,
    /// How far a result may be from the expected one, relative to that; by default what rounding explains to the types
    /// that it is computed in
    #[arg(long, value_name = "R", requires = "reference", value_parser = tolerance)]
    pub(crate) rtol: Option<f64>,
    /// How far a result may be from the expected one in any case; by default as much, of its largest element
    #[arg(long, value_name = "A", requires = "reference", value_parser = tolerance)]
    pub(crate) atol: Option<f64>,
    /// Run on so many devices; a program that is not written for each device is partitioned first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub(crate) devices: Option<u64>,
    /// Run on one device as well, and compare
    #[arg(long, requires = "devices", conflicts_with = "expect", group = "reference")]
    pub(crate) compare: bool,
    /// How to write diagnostics
    #[arg(long, value_name = "FORM", default_value = "human")]
    pub(crate) diagnostics: Form,
    /// Color diagnostics
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
}

impl Arguments {
    /// Whether nothing is said of which function to run, on what, or what to do with the results.
    pub(crate) fn names_nothing(&self) -> bool {
        let paths = [&self.inputs, &self.outputs, &self.expect];
        self.entry.is_none() && self.random.is_none() && paths.iter().all(|path| path.is_none())
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Form {
    Human,
    Short,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value >= 0.0 => Ok(value),
        _ => Err("expected a number that is not negative".to_owned()),
    }
}

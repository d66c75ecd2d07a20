//! Training steps give what JAX gave: as JAX printed them, and after being simplified, written as `.tir`, and written as
//! StableHLO again.
//!
//! The allowance is that of single precision, where sums are reordered. One program amplifies rounding so much that JAX
//! itself is farther from the exact results; `testdata/golden/README.md` says how it is judged.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tofu_opt::{Log, Streams, Tool};

/// How much farther from the exact results than JAX's a result may be.
const ROUNDING_FACTOR: f64 = 4.0;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// Runs `tofu-opt`.
fn opt(arguments: &[&str]) {
    let arguments = std::iter::once("tofu-opt").chain(arguments.iter().copied()).map(OsString::from);
    let streams = Streams {
        input: Box::new(std::io::empty()),
        output: Box::new(std::io::sink()),
        log: Log::new(std::io::stderr()),
        log_is_terminal: false,
        cancellation: tofu_opt::Cancellation::default(),
    };
    assert_eq!(Tool::standard("tofu-opt", "test").run(arguments, streams), 0);
}

/// Runs the program in `file` on the inputs of `name`; what is printed beside `expected`, and whether all is equal.
fn run(file: &Path, name: &str, expected: &str) -> (String, bool) {
    let archive = |option: &str, kind: &str| {
        format!("--{option}={}", data(&format!("golden/{name}_tiny.{kind}.npz")).display())
    };
    let output = Command::new(env!("CARGO_BIN_EXE_tofu-run"))
        .arg(file)
        .args([archive("inputs", "inputs"), archive("expect", expected)])
        .args(["--rtol=2e-4", "--atol=1e-5"])
        .output()
        .unwrap();
    let code = output.status.code().unwrap();
    assert!(code < 2, "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), code == 0)
}

fn check(name: &str, judge: fn(&Path, &str)) {
    let directory = tempfile::tempdir().unwrap();
    let path = |file: &str| directory.path().join(file);
    let mut text = String::new();
    let compressed = std::fs::File::open(data(&format!("models/{name}_tiny.mlir.gz"))).unwrap();
    flate2::read::GzDecoder::new(compressed).read_to_string(&mut text).unwrap();
    let original = path("original.mlir");
    std::fs::write(&original, text).unwrap();
    judge(&original, name);
    let change = |from: &Path, options: &[&str], to: &str| {
        let to = path(to);
        let output = format!("-o{}", to.display());
        opt(&[&[from.to_str().unwrap(), &output], options].concat());
        judge(&to, name);
        to
    };
    let simplified = change(&original, &["--simplify"], "simplified.tir");
    let tir = change(&original, &[], "plain.tir");
    change(&tir, &["--emit=stablehlo"], "again.mlir");
    change(&simplified, &["--emit=stablehlo"], "simplified.mlir");
}

fn equals_jax(file: &Path, name: &str) {
    let (printed, is_equal) = run(file, name, "outputs");
    assert!(is_equal, "{}:\n{printed}", file.display());
}

fn is_as_exact_as_jax(file: &Path, name: &str) {
    let (printed, _) = run(file, name, "exact");
    let rounding = std::fs::read_to_string(data(&format!("golden/{name}_tiny.rounding.txt"))).unwrap();
    assert_eq!(printed.lines().count(), rounding.lines().count());
    for (line, jax) in printed.lines().zip(rounding.lines()) {
        let (result, jax) = jax.split_once(' ').unwrap();
        assert!(line.starts_with(&format!("{result} ")), "{line}");
        let error = line.split_once("max abs error ").unwrap().1.split_whitespace().next().unwrap();
        let (error, jax): (f64, f64) = (error.parse().unwrap(), jax.parse().unwrap());
        assert!(error <= ROUNDING_FACTOR * jax + 1e-5, "{}: {line}; JAX's error is {jax}", file.display());
    }
}

macro_rules! golden {
    ($($name:ident: $judge:ident;)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), $judge);
        }
    )*};
}

golden! {
    dlrm: equals_jax;
    gpt: equals_jax;
    llama: equals_jax;
    mlp: equals_jax;
    moe: equals_jax;
    rnn: equals_jax;
    scan: equals_jax;
    unet3d: equals_jax;
    wresnet: is_as_exact_as_jax;
}

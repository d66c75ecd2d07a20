//! Runs every file under `testdata`.

fn main() -> std::process::ExitCode {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");
    let config = tofu_filetest::Config::new(root).extension("mlir");
    tofu_filetest::run(&config.tool("tofu-opt", env!("CARGO_BIN_EXE_tofu-opt")))
}

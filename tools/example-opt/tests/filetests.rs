//! Runs every file under `testdata`.

fn main() -> std::process::ExitCode {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");
    tofu_filetest::run(
        &tofu_filetest::Config::new(root).tool("example-opt", env!("CARGO_BIN_EXE_example-opt")),
    )
}

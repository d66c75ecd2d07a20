//! `tofu-opt`: the library's driver with everything that Tofu brings.

fn main() -> std::process::ExitCode {
    tofu_opt::Tool::standard("tofu-opt", env!("CARGO_PKG_VERSION")).main()
}

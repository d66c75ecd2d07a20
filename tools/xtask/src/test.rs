//! `cargo xtask test`.

use crate::{
    engine, setup,
    shell::{Done, cargo, run},
    stablehlo,
};

/// Runs every check. The tests come last, so that their summary is the last thing seen.
pub(crate) fn run_all() -> Done {
    setup::toolchain()?;
    setup::nextest()?;
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    run(cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings"))?;
    run(cargo().args(["test", "--workspace", "--doc"]))?;
    stablehlo::check()?;
    stablehlo::check_values()?;
    engine::check()?;
    let profile = if std::env::var_os("CI").is_some() { "ci" } else { "default" };
    // A snapshot that differs is a failure; nothing is written beside it.
    run(cargo().args(["nextest", "run", "--workspace", "--profile", profile]).env("INSTA_UPDATE", "no"))
}

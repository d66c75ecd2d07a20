//! What the tasks need besides a Rust toolchain. Where it may be installed without asking, it is; elsewhere the
//! message says what to do.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{Done, Failure, cargo, run, succeeds, target};

/// The parts of the toolchain that a minimal installation lacks.
pub(crate) fn toolchain() -> Done {
    for (component, subcommand) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if succeeds(cargo().args([subcommand, "--version"])) {
            continue;
        }
        run(Command::new("rustup").args(["component", "add", component])).map_err(|Failure(cause)| {
            Failure(format!(
                "`cargo {subcommand}` is missing ({cause}); run `rustup component add {component}`"
            ))
        })?;
    }
    Ok(())
}

/// The test runner.
pub(crate) fn nextest() -> Done {
    if succeeds(cargo().args(["nextest", "--version"])) {
        return Ok(());
    }
    println!("cargo-nextest is missing; it is built now, once");
    run(cargo().args(["install", "--locked", "cargo-nextest"])).map_err(|Failure(cause)| {
        Failure(format!("cannot install cargo-nextest ({cause}); run `cargo install --locked cargo-nextest`"))
    })
}

/// The version of JAX whose text is read and that reads ours.
const JAX: &str = "jax>=0.10,<0.11";

/// A Python with JAX, in an environment of its own where cargo builds.
pub(crate) fn python_with_jax() -> Result<PathBuf, Failure> {
    let environment = target().join("python");
    let python = environment.join("bin").join("python");
    if succeeds(Command::new(&python).args(["-c", "import jax"])) {
        return Ok(python);
    }
    println!("JAX is missing; an environment with it is made now, once");
    let made = run(Command::new("python3").args(["-m", "venv"]).arg(&environment))
        .and_then(|()| run(Command::new(&python).args(["-m", "pip", "install", "--quiet", JAX])));
    made.map_err(|Failure(cause)| {
        Failure(format!("cannot install JAX ({cause}); it needs Python 3 with `venv` and a package index"))
    })?;
    Ok(python)
}

/// A program from a Debian package.
pub(crate) fn debian_program(program: &str, package: &str) -> Done {
    let is_there = || succeeds(Command::new(program).arg("--version"));
    if is_there() {
        return Ok(());
    }
    let help = format!("`{program}` is missing; on Debian, run `apt-get install {package}`");
    if !may_install() {
        return Err(Failure(help));
    }
    let mut update = Command::new("apt-get");
    run(update.args(["update", "--quiet"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends", package]);
    run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    if is_there() { Ok(()) } else { Err(Failure(help)) }
}

/// Whether this is Debian and we are root.
fn may_install() -> bool {
    let user = Command::new("id").arg("-u").output();
    Path::new("/etc/debian_version").exists() && user.is_ok_and(|user| user.stdout.trim_ascii() == b"0")
}

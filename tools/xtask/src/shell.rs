//! Running other programs.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Why a task did not get done.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

pub(crate) type Done = Result<(), Failure>;

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure(error.to_string())
    }
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A program of the workspace that was built in this profile.
pub(crate) fn built(profile: &str, program: &str) -> Result<PathBuf, Failure> {
    let path = target().join(profile).join(program);
    if path.exists() { Ok(path) } else { Err(Failure(format!("`{}` was not built", path.display()))) }
}

/// The cargo that runs this task.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Done {
    let text = format!("{command:?}").replace('"', "");
    println!("$ {text}");
    let status = command.status().map_err(|error| Failure(format!("cannot run `{text}`: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure(format!("`{text}` failed: {status}"))) }
}

/// Whether a command can be run and says it is well.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

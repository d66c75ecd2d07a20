//! Checks its standard input against the CHECK lines of a file; see `filecheck --help`.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let outcome = tofu_filetest::check::filecheck(&arguments, Path::new(""), || {
        let mut input = Vec::new();
        io::stdin().read_to_end(&mut input)?;
        Ok(input)
    });
    // Nobody is left to tell if the terminal or the pipe is gone.
    let _ = io::stdout().write_all(&outcome.stdout);
    let _ = io::stderr().write_all(outcome.stderr.as_bytes());
    ExitCode::from(outcome.status)
}

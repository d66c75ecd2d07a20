//! The commands that run within the test process.

use std::fs;
use std::path::Path;

use similar::TextDiff;

use super::exact;
use crate::check::{self, Outcome};

/// The names of the built-in commands.
pub(super) const NAMES: [&str; 4] = ["count", "diff", "exact", "filecheck"];

/// What a built-in command may know.
pub(super) struct Call<'a> {
    pub(super) arguments: &'a [String],
    pub(super) directory: &'a Path,
    pub(super) stdin: Vec<u8>,
    /// Whether `exact` is to write what it would compare; cleared when it has.
    pub(super) bless: &'a mut bool,
}

/// Runs a built-in command; `None` if there is none of that name.
pub(super) fn run(name: &str, call: Call<'_>) -> Option<Outcome> {
    let result = match name {
        "count" => count(&call),
        "diff" => diff(&call),
        "exact" => exact(call),
        "filecheck" => Ok(check::filecheck(call.arguments, call.directory, || Ok(call.stdin))),
        _ => return None,
    };
    Some(result.unwrap_or_else(|message| Outcome::failure(2, format!("error: {name}: {message}\n"))))
}

fn count(call: &Call<'_>) -> Result<Outcome, String> {
    let [wanted] = call.arguments else { return Err("wants one number of lines".to_string()) };
    let wanted: usize = wanted.parse().map_err(|_| format!("`{wanted}` is not a number of lines"))?;
    let text = String::from_utf8_lossy(&call.stdin);
    let lines = text.lines().count();
    if lines == wanted {
        return Ok(Outcome::default());
    }
    Ok(Outcome::failure(1, format!("expected {wanted} lines, found {lines}:\n{text}")))
}

fn diff(call: &Call<'_>) -> Result<Outcome, String> {
    let [left, right] = call.arguments else { return Err("wants two files".to_string()) };
    let read = |name: &String| {
        if name == "-" { Ok(call.stdin.clone()) } else { read(call.directory, name) }
    };
    let (old, new) = (read(left)?, read(right)?);
    if old == new {
        return Ok(Outcome::default());
    }
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    Ok(Outcome { status: 1, stdout: unified(&old, &new, left, right).into(), stderr: String::new() })
}

fn exact(call: Call<'_>) -> Result<Outcome, String> {
    let [name] = call.arguments else { return Err("wants one file".to_string()) };
    let text = String::from_utf8(read(call.directory, name)?).map_err(|error| format!("{name}: {error}"))?;
    let output = String::from_utf8(call.stdin).map_err(|error| format!("the output: {error}"))?;
    if output.contains('\r') || !(output.is_empty() || output.ends_with('\n')) {
        return Err(
            "the output has carriage returns or no final line end, which comments cannot hold".to_string()
        );
    }
    if *call.bless {
        *call.bless = false;
        let blessed = exact::write(&text, &output);
        if blessed != text {
            fs::write(call.directory.join(name), blessed)
                .map_err(|error| format!("cannot write {name}: {error}"))?;
        }
        return Ok(Outcome::default());
    }
    let expected = exact::read(&text).map_err(|message| format!("{name}: {message}"))?;
    if expected == output {
        return Ok(Outcome::default());
    }
    let diff = unified(&expected, &output, "expected", "found");
    Ok(Outcome::failure(1, format!("the output is not the expected one (TOFU_BLESS=1 accepts it):\n{diff}")))
}

fn read(directory: &Path, name: &str) -> Result<Vec<u8>, String> {
    fs::read(directory.join(name)).map_err(|error| format!("cannot read {name}: {error}"))
}

fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().header(old_name, new_name).to_string()
}

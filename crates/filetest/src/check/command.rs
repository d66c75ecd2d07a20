//! The command line of `filecheck`, for the program and for RUN lines.

use std::path::Path;
use std::{fs, io};

use super::{Failure, Options, Source, check};

/// What a command did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The exit status: 0 for success, 1 for a mismatch, 2 for wrong use.
    pub status: u8,
    /// What it wrote to its standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error.
    pub stderr: String,
}

impl Outcome {
    pub(crate) fn failure(status: u8, stderr: String) -> Self {
        Self { status, stdout: Vec::new(), stderr }
    }
}

const HELP: &str = "\
Check the standard input against the CHECK lines of a file.

Usage: filecheck [OPTIONS] CHECK-FILE

Options:
  --check-prefix=P, --check-prefixes=A,B  What opens a check line [default: CHECK]
  --input-file=FILE                       Read this file instead of the standard input (`-`)
  --allow-empty                           Accept an empty input
  --enable-var-scope                      Forget variables at labels, except those named $...
  --help                                  Print this

Exit status: 0 the input matches, 1 it does not, 2 wrong use, a wrong check file or an empty input.
";

/// Runs `filecheck` with the arguments after its name; relative paths are relative to `directory`. `stdin` is
/// called if the standard input is to be read. Options may be written with one dash, and their values as the
/// next argument.
pub fn filecheck(
    arguments: &[String],
    directory: &Path,
    stdin: impl FnOnce() -> io::Result<Vec<u8>>,
) -> Outcome {
    let request = match parse(arguments) {
        Ok(Some(request)) => request,
        Ok(None) => return Outcome { stdout: HELP.into(), ..Outcome::default() },
        Err(message) => return Outcome::failure(2, format!("error: {message}; try filecheck --help\n")),
    };
    let input =
        if request.input_file == "-" { stdin() } else { fs::read(directory.join(&request.input_file)) };
    let texts = fs::read(directory.join(&request.check_file))
        .map_err(|error| format!("error: cannot read {}: {error}\n", request.check_file))
        .and_then(|checks| {
            let input =
                input.map_err(|error| format!("error: cannot read {}: {error}\n", request.input_file))?;
            Ok((checks, input))
        });
    let (checks, input) = match texts {
        Ok(texts) => texts,
        Err(message) => return Outcome::failure(2, message),
    };
    let input_name = if request.input_file == "-" { "the standard input" } else { &request.input_file };
    let result = check(
        Source { name: &request.check_file, text: &String::from_utf8_lossy(&checks) },
        Source { name: input_name, text: &String::from_utf8_lossy(&input) },
        &request.options,
    );
    match result {
        Ok(()) => Outcome::default(),
        Err(Failure::Mismatch(report)) => Outcome::failure(1, report),
        Err(Failure::Usage(report)) => Outcome::failure(2, report),
    }
}

struct Request {
    check_file: String,
    input_file: String,
    options: Options,
}

/// `None` stands for a call for help.
fn parse(arguments: &[String]) -> Result<Option<Request>, String> {
    let mut check_file = None;
    let mut input_file = "-".to_string();
    let mut options = Options::default();
    let mut prefixes = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let Some(option) = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')) else {
            if check_file.replace(argument.clone()).is_some() {
                return Err(format!("more than one check file: {argument}"));
            }
            continue;
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (option, None),
        };
        match (name, value) {
            ("help", None) => return Ok(None),
            ("allow-empty", None) => options.allow_empty = true,
            ("enable-var-scope", None) => options.enable_var_scope = true,
            ("check-prefix" | "check-prefixes" | "input-file", value) => {
                let value = value.or_else(|| arguments.next().cloned());
                let value = value.ok_or_else(|| format!("--{name} needs a value"))?;
                match name {
                    "input-file" => input_file = value,
                    _ => prefixes.extend(value.split(',').map(str::to_string)),
                }
            }
            _ => return Err(format!("unknown option {argument}")),
        }
    }
    if !prefixes.is_empty() {
        options.prefixes = prefixes;
    }
    let check_file = check_file.ok_or("no check file")?;
    Ok(Some(Request { check_file, input_file, options }))
}

//! Runs the pipelines of a test file, stage after stage: the output of a stage is complete before the next
//! one begins.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::process::{self, ExitStatus};
use std::time::{Duration, Instant};

use super::builtin::{self, Call};
use super::parse::{Command, Expected, Run, Stderr, TestFile};
use crate::harness::Config;

/// Runs all RUN lines of the file at `path`, which is relative to the root. Errors are reports for a person.
pub(crate) fn run_file(config: &Config, path: &Path, test: &TestFile) -> Result<(), String> {
    let root =
        std::path::absolute(&config.root).map_err(|error| format!("{}: {error}", config.root.display()))?;
    let temporary =
        tempfile::tempdir().map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    let mut session = Session { config, root: &root, path, temporary: temporary.path(), bless: config.bless };
    test.runs.iter().try_for_each(|run| session.run_pipeline(run))
}

struct Session<'a> {
    config: &'a Config,
    root: &'a Path,
    path: &'a Path,
    temporary: &'a Path,
    bless: bool,
}

/// What a finished command left behind.
struct Finished {
    status: Result<i32, Crash>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// An end that no test can ask for.
enum Crash {
    Signal(ExitStatus),
    Panic,
    Timeout(Duration),
}

impl Session<'_> {
    fn run_pipeline(&mut self, run: &Run) -> Result<(), String> {
        let mut input = Vec::new();
        for command in &run.stages {
            let mut words = Vec::new();
            let finished = self.run_command(command, input, &mut words);
            let report = |message: &str| {
                format!(
                    "{}:{}: {message}\n  RUN: {}\n  command: {}\n",
                    self.path.display(),
                    run.line,
                    run.source,
                    words.join(" ")
                )
            };
            let finished = finished.map_err(|message| report(&message))?;
            if let Some(message) = complaint(&finished.status, command.expected) {
                return Err(report(&message)
                    + &section("standard error", &finished.stderr)
                    + &section("standard output", &finished.stdout));
            }
            input = finished.stdout;
        }
        Ok(())
    }

    /// Runs one command and stores its words, with substitutions made, in `words`.
    fn run_command(
        &mut self,
        command: &Command,
        input: Vec<u8>,
        words: &mut Vec<String>,
    ) -> Result<Finished, String> {
        *words = command.words.iter().map(|word| self.substitute(word)).collect::<Result<_, _>>()?;
        let input = match &command.stdin {
            None => input,
            Some(file) => {
                let file = self.substitute(file)?;
                fs::read(self.root.join(&file)).map_err(|error| format!("cannot read {file}: {error}"))?
            }
        };
        let Some((name, arguments)) = words.split_first() else {
            return Err("a command is missing".to_string());
        };
        let mut finished = if let Some(program) = self.config.tools.get(name) {
            let join = command.stderr == Stderr::Joined;
            self.run_program(program, arguments, &input, join)
                .map_err(|error| format!("cannot run {}: {error}", program.display()))?
        } else {
            self.run_builtin(name, arguments, input, command.stderr == Stderr::Joined)?
        };
        if let Some(file) = &command.stdout {
            self.write(file, std::mem::take(&mut finished.stdout))?;
        }
        if let Stderr::File(file) = &command.stderr {
            self.write(file, std::mem::take(&mut finished.stderr))?;
        }
        Ok(finished)
    }

    fn run_builtin(
        &mut self,
        name: &str,
        arguments: &[String],
        stdin: Vec<u8>,
        join: bool,
    ) -> Result<Finished, String> {
        let call = Call { arguments, directory: self.root, stdin, bless: &mut self.bless };
        let Some(outcome) = builtin::run(name, call) else {
            let mut known: Vec<&str> =
                self.config.tools.keys().map(String::as_str).chain(builtin::NAMES).collect();
            known.sort_unstable();
            return Err(format!("unknown command `{name}`; there are {}", known.join(", ")));
        };
        let mut stdout = outcome.stdout;
        let mut stderr = outcome.stderr.into_bytes();
        if join {
            stdout.append(&mut stderr);
        }
        Ok(Finished { status: Ok(i32::from(outcome.status)), stdout, stderr })
    }

    /// Runs a program with files for its standard streams: no pipe can fill up, and a process that outlives
    /// the program keeps nobody waiting.
    fn run_program(
        &self,
        program: &Path,
        arguments: &[String],
        input: &[u8],
        join: bool,
    ) -> io::Result<Finished> {
        let mut stdin = tempfile::tempfile()?;
        stdin.write_all(input)?;
        stdin.rewind()?;
        let stdout = tempfile::tempfile()?;
        let stderr = if join { stdout.try_clone()? } else { tempfile::tempfile()? };
        let mut child = process::Command::new(std::path::absolute(program)?)
            .args(arguments)
            .current_dir(self.root)
            // What these say about a terminal or a debugging session must not reach what tests compare.
            .env_remove("COLUMNS")
            .env_remove("NO_COLOR")
            .env_remove("RUST_BACKTRACE")
            .stdin(stdin)
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .spawn()?;
        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break match status.code() {
                    Some(PANIC) => Err(Crash::Panic),
                    Some(code) => Ok(code),
                    None => Err(Crash::Signal(status)),
                };
            }
            if start.elapsed() > self.config.timeout {
                child.kill()?;
                child.wait()?;
                break Err(Crash::Timeout(self.config.timeout));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        let stderr = if join { Vec::new() } else { read_back(stderr)? };
        Ok(Finished { status, stdout: read_back(stdout)?, stderr })
    }

    fn write(&self, file: &str, content: Vec<u8>) -> Result<(), String> {
        let file = self.substitute(file)?;
        fs::write(self.root.join(&file), content).map_err(|error| format!("cannot write {file}: {error}"))
    }

    /// Replaces `%s`, `%S`, `%t` and `%%`.
    fn substitute(&self, word: &str) -> Result<String, String> {
        let mut result = String::new();
        let mut rest = word;
        while let Some((before, after)) = rest.split_once('%') {
            result.push_str(before);
            if let Some(left) = after.strip_prefix('%') {
                result.push('%');
                rest = left;
                continue;
            }
            let length = after.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(after.len());
            let (name, left) = after.split_at(length);
            let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let path = match name {
                "s" => self.path.to_path_buf(),
                "S" => directory.unwrap_or(Path::new(".")).to_path_buf(),
                "t" => self.temporary.join("t"),
                _ => return Err(format!("unknown substitution `%{name}`; a percent sign is written `%%`")),
            };
            result.push_str(&path.to_string_lossy());
            rest = left;
        }
        result.push_str(rest);
        Ok(result)
    }
}

/// The exit status of a Rust program that panicked.
const PANIC: i32 = 101;

fn read_back(mut file: File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut content)?;
    Ok(content)
}

/// What is wrong with an exit status, if anything.
fn complaint(status: &Result<i32, Crash>, expected: Expected) -> Option<String> {
    match (status, expected) {
        (Err(Crash::Signal(status)), _) => Some(format!("crashed: {status}")),
        (Err(Crash::Panic), _) => Some(format!("crashed: exit status {PANIC}, a panic")),
        (Err(Crash::Timeout(limit)), _) => Some(format!("stopped after {} s", limit.as_secs_f32())),
        (Ok(0), Expected::Failure) => Some("succeeded, but should fail".to_string()),
        (Ok(_), Expected::Failure) | (Ok(0), Expected::Success) => None,
        (Ok(code), Expected::Success) => Some(format!("failed with exit status {code}")),
        (Ok(code), Expected::Code(wanted)) => {
            (*code != wanted).then(|| format!("exit status is {code}, but should be {wanted}"))
        }
    }
}

/// A part of a report: the beginning of what a command wrote.
fn section(title: &str, content: &[u8]) -> String {
    const LINES: usize = 200;
    let text = String::from_utf8_lossy(content);
    let mut result = String::new();
    for (index, line) in text.lines().enumerate() {
        if index == 0 {
            result.push_str(&format!("--- {title}\n"));
        }
        if index == LINES {
            result.push_str(&format!("… and {} more lines\n", text.lines().count() - LINES));
            break;
        }
        result.push_str(line);
        result.push('\n');
    }
    result
}

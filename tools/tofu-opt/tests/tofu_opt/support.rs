//! Running the driver inside the test.

use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tofu_opt::{Log, Streams, Tool};

/// What a run has written, and its exit code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ran {
    pub(crate) output: String,
    pub(crate) log: String,
    pub(crate) code: u8,
}

/// Runs `tofu-opt` with these arguments on `input` as standard input.
pub(crate) fn run(arguments: &[&str], input: &[u8]) -> Ran {
    let (output, log) = (Buffer::default(), Buffer::default());
    let streams = Streams {
        input: Box::new(Cursor::new(input.to_vec())),
        output: Box::new(output.clone()),
        log: Log::new(log.clone()),
        log_is_terminal: false,
        cancellation: tofu_opt::Cancellation::default(),
    };
    let arguments = std::iter::once("tofu-opt").chain(arguments.iter().copied()).map(Into::into);
    let code = Tool::standard("tofu-opt", "0.0.0").run(arguments, streams);
    Ran { output: output.text(), log: log.text(), code }
}

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// All files under `directory` with this extension, sorted.
pub(crate) fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

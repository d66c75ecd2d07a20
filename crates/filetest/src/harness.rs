//! Finds the test files under a directory and runs them as tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use libtest_mimic::{Arguments, Trial};

use crate::run::{self, TestFile};

/// Which tests there are, and what they may use.
#[derive(Clone, Debug)]
pub struct Config {
    /// The directory of the tests, and the one their commands run in.
    pub root: PathBuf,
    /// The extensions of test files, without a dot.
    pub extensions: BTreeSet<String>,
    /// The programs that RUN lines may call, by name. One hides a built-in command of its name.
    pub tools: BTreeMap<String, PathBuf>,
    /// What REQUIRES lines may ask for.
    pub features: BTreeSet<String>,
    /// How long one command may run before it is killed and its test fails.
    pub timeout: Duration,
    /// Rewrite EXPECTED sections instead of comparing with them.
    pub bless: bool,
}

impl Config {
    /// Tests of `.tir` files under `root` without tools or features, with a time limit of 120 seconds a
    /// command. `bless` is taken from the environment: whether `TOFU_BLESS` is `1`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            extensions: BTreeSet::from(["tir".to_string()]),
            tools: BTreeMap::new(),
            features: BTreeSet::new(),
            timeout: Duration::from_secs(120),
            bless: std::env::var_os("TOFU_BLESS").is_some_and(|value| value == "1"),
        }
    }

    /// Adds an extension of test files.
    #[must_use]
    pub fn extension(mut self, extension: &str) -> Self {
        self.extensions.insert(extension.to_string());
        self
    }

    /// Adds a program that RUN lines may call.
    #[must_use]
    pub fn tool(mut self, name: &str, program: impl Into<PathBuf>) -> Self {
        self.tools.insert(name.to_string(), program.into());
        self
    }

    /// Adds a feature that REQUIRES lines may ask for.
    #[must_use]
    pub fn feature(mut self, name: &str) -> Self {
        self.features.insert(name.to_string());
        self
    }
}

/// A test file, ready to be run.
#[derive(Clone, Debug)]
pub struct TestCase {
    config: Arc<Config>,
    path: PathBuf,
    name: String,
    content: Result<TestFile, String>,
}

impl TestCase {
    fn new(config: &Arc<Config>, path: PathBuf, content: Result<TestFile, String>) -> Self {
        let components: Vec<_> = path.iter().map(|component| component.to_string_lossy()).collect();
        Self { config: Arc::clone(config), name: components.join("/"), path, content }
    }

    /// The path of the file relative to the root, with `/` between its components.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The features that the file requires and the configuration does not have. If there are any, the test is
    /// ignored.
    pub fn missing_features(&self) -> Vec<&str> {
        let requires = self.content.as_ref().map_or(&[][..], |test| &test.requires);
        requires
            .iter()
            .filter(|feature| !self.config.features.contains(*feature))
            .map(String::as_str)
            .collect()
    }

    /// Runs the test.
    ///
    /// # Errors
    /// A report of what failed. A test with missing features fails.
    pub fn run(&self) -> Result<(), String> {
        let missing = self.missing_features();
        if !missing.is_empty() {
            return Err(format!("{} requires {}", self.name, missing.join(", ")));
        }
        let test = self.content.as_ref().map_err(|message| format!("{}: {message}", self.name))?;
        run::run_file(&self.config, &self.path, test)
    }
}

/// All test files under the root, in the order of their paths. Directories named `inputs` or `models` hold
/// data, not tests.
///
/// What would hide tests is itself a test that fails: an unreadable file or directory, a file without a RUN
/// line, and a root without any test.
pub fn discover(config: &Config) -> Vec<TestCase> {
    let config = Arc::new(config.clone());
    let mut cases = Vec::new();
    visit(&config, Path::new(""), &mut cases);
    if cases.is_empty() {
        let message = format!("no test file under {}", config.root.display());
        cases.push(TestCase::new(&config, PathBuf::from("."), Err(message)));
    }
    cases
}

/// Runs the tests that the command line of the process asks for, as the `main` of a test target with `harness
/// = false`.
///
/// The command line is that of any Rust test (`--list`, `--exact`, filters …), so that cargo and nextest know
/// how to run it. A test with missing features is ignored and listed with what it requires.
pub fn run(config: &Config) -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = discover(config)
        .into_iter()
        .map(|case| {
            let missing = case.missing_features().join(", ");
            let name = case.name().to_string();
            let trial = Trial::test(name, move || case.run().map_err(Into::into));
            if missing.is_empty() {
                trial
            } else {
                trial.with_ignored_flag(true).with_kind(format!("requires {missing}"))
            }
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn visit(config: &Arc<Config>, directory: &Path, cases: &mut Vec<TestCase>) {
    let mut failed = |path: &Path, error: io::Error| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        cases.push(TestCase::new(config, path.to_path_buf(), Err(format!("cannot read: {error}"))));
    };
    let mut entries = match fs::read_dir(config.root.join(directory))
        .and_then(|entries| entries.collect::<Result<Vec<_>, _>>())
    {
        Ok(entries) => entries,
        Err(error) => return failed(directory, error),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = directory.join(entry.file_name());
        if config.root.join(&path).is_dir() {
            if !matches!(entry.file_name().to_str(), Some("inputs" | "models")) {
                visit(config, &path, cases);
            }
        } else if path.extension().and_then(|it| it.to_str()).is_some_and(|it| config.extensions.contains(it))
        {
            let text = fs::read(config.root.join(&path));
            let content = text.map_err(|error| format!("cannot read: {error}"));
            let content = content.and_then(|text| TestFile::parse(&String::from_utf8_lossy(&text)));
            cases.push(TestCase::new(config, path, content));
        }
    }
}

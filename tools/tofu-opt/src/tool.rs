//! What a tool is made of.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use tofu_diagnostics::{Code, codes};
use tofu_ir::{Dialect, Registry, RegistryError};
use tofu_pass::{Entry, PassRegistry, install_panic_hook};

use crate::{Streams, cli, console::Console, drive, lists, watch};

/// An opt tool: the dialects it reads, and the passes it runs.
#[derive(Debug)]
pub struct Tool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) dialects: Vec<&'static Dialect>,
    pub(crate) passes: Vec<Entry>,
    pub(crate) codes: Vec<&'static Code>,
}

/// The exit code of work that is done.
pub const DONE: u8 = 0;
/// The exit code where errors in the program were reported.
pub const ERRORS: u8 = 1;
/// The exit code where the tool was used wrongly, or a file could not be read or written.
pub const WRONG_USE: u8 = 2;

impl Tool {
    /// A tool with everything that Tofu brings. What it brings is listed here, by name, and nowhere else.
    pub fn standard(name: &'static str, version: &'static str) -> Tool {
        let mut tool = Tool::empty(name, version);
        tool.dialects = vec![
            &tofu_dialect_dist::DIALECT,
            &tofu_dialect_func::DIALECT,
            &tofu_dialect_stablehlo::DIALECT,
            &tofu_dialect_stablehlo::CHECK,
            &tofu_dialect_stablehlo::JAX,
            &tofu_dialect_stablehlo::MHLO,
            &tofu_dialect_stablehlo::SDY,
            &tofu_dialect_stablehlo::TF,
            &tofu_dialect_stablehlo::TOFU,
            &tofu_dialect_tdl::DIALECT,
            &tofu_dialect_tensor::DIALECT,
        ];
        tool.passes = vec![
            Entry::pass::<tofu_pass_simplify::Cse>(),
            Entry::pass::<tofu_pass_simplify::Dce>(),
            Entry::pass::<tofu_pass_shape::InferShapes>(),
            Entry::pass::<tofu_pass_inline::Inline>(),
            Entry::pass::<tofu_pass_partition::Partition>(),
            Entry::pass::<tofu_pass_communicate::CheckEquivalence>(),
            Entry::pass::<tofu_pass_communicate::InsertCommunication>(),
            Entry::pass::<tofu_pass_describe::PrintCosts>(),
            Entry::pass::<tofu_pass_describe::PrintDescriptions>(),
            Entry::pass::<tofu_pass_describe::PrintStrategies>(),
            Entry::pass::<tofu_pass_simplify::Simplify>(),
        ];
        tool
    }

    /// A tool without dialects and passes.
    pub fn empty(name: &'static str, version: &'static str) -> Tool {
        Tool { name, version, dialects: Vec::new(), passes: Vec::new(), codes: codes::all().to_vec() }
    }

    /// Adds a dialect.
    #[must_use]
    pub fn dialect(mut self, dialect: &'static Dialect) -> Tool {
        self.dialects.push(dialect);
        self
    }

    /// Adds a pass or a pipeline.
    #[must_use]
    pub fn pass(mut self, entry: Entry) -> Tool {
        self.passes.push(entry);
        self
    }

    /// Adds codes of diagnostics for `--explain`.
    #[must_use]
    pub fn codes(mut self, codes: &[&'static Code]) -> Tool {
        self.codes.extend_from_slice(codes);
        self
    }

    /// The dialects of the tool, ready to read programs with.
    ///
    /// # Errors
    /// When something is defined twice.
    pub fn registry(&self) -> Result<Registry, RegistryError> {
        Registry::new(&self.dialects)
    }

    /// Runs on the command line of the process.
    pub fn main(self) -> ExitCode {
        install_panic_hook();
        let streams = Streams::of_process();
        watch::listen(streams.cancellation.clone());
        ExitCode::from(self.run(std::env::args_os(), streams))
    }

    /// Runs on `arguments`, of which the first is the tool's own name. The answer is the exit code: 0 done, 1 errors
    /// in the program were reported, 2 wrong use.
    pub fn run(self, arguments: impl IntoIterator<Item = OsString>, mut streams: Streams) -> u8 {
        let Tool { name, version, dialects, passes, codes } = self;
        let registries = Registry::new(&dialects).map_err(|error| error.to_string()).and_then(|registry| {
            Ok((registry, PassRegistry::new(passes).map_err(|error| error.to_string())?))
        });
        let (registry, passes) = match registries {
            Ok(registries) => registries,
            Err(error) => {
                streams.log.write(&format!("{name}: {error}\n"));
                return WRONG_USE;
            }
        };
        let command = cli::command(name, version, &passes);
        let matches = match command.clone().try_get_matches_from(arguments) {
            Ok(matches) => matches,
            Err(error) => return cli::answer_or_refuse(&error, &mut streams),
        };
        let settings = match cli::Settings::from_matches(&matches, &passes) {
            Ok(settings) => settings,
            Err(error) => return cli::answer_or_refuse(&error.format(&mut command.clone()), &mut streams),
        };
        let console = Console::new(&streams, settings.diagnostics, settings.color);
        if let Some(question) = &settings.question {
            return lists::answer(question, command, &registry, &passes, &codes, &console, &mut streams);
        }
        drive::run(settings, Arc::new(registry), &passes, &console, &mut streams)
    }
}

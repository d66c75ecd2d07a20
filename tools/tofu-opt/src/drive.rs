//! From text through passes to text.

use std::any::Any;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tofu_diagnostics::{Code, Diagnostic, FileId, Severity, SourceMap, Span, codes};
use tofu_dialect_stablehlo::{to_manual, to_shardy};
use tofu_ir::{Compared, Module, Registry, digest, verify};
use tofu_machine::Machines;
use tofu_pass::{
    Artifacts, Cancellation, CrashRecorder, Findings, Instrument, Outcome, PassManager, PassRegistry,
    PrintIr, Reproducer, Resources, Session, Statistics, Timing, VerifyEach,
};
use tofu_report::{Report, Section};
use tofu_syntax::{PrintOptions, parse, print};

use crate::{
    Streams,
    cli::{Run, Settings},
    console::{Console, cannot_write},
    emit::{self, Emit},
    expect, input,
    tool::{DONE, ERRORS, WRONG_USE},
    watch::Screen,
};

/// Does what `settings` say.
pub(crate) fn run(
    settings: Settings,
    registry: Arc<Registry>,
    passes: &PassRegistry,
    console: &Console,
    streams: &mut Streams,
) -> u8 {
    let start = Instant::now();
    let mut sources = SourceMap::new();
    if let Some(path) = settings.crash_reproducer.as_deref().filter(|&path| same_file(path, &settings.input))
    {
        let message = format!("the reproducer would take the place of the input `{}`", path.display());
        console.report(&sources, &[Diagnostic::error(&codes::WRONG_USAGE, Span::NONE, message)]);
        return WRONG_USE;
    }
    let file = match input::read(&settings.input, &mut streams.input, &mut sources) {
        Ok(file) => file,
        Err(refused) => {
            console.report(&sources, &[refused.diagnostic]);
            return refused.code;
        }
    };
    let cancellation = streams.cancellation.clone();
    let (manager, machines) = (PassManager::new(), Machines::default());
    let mut driver = Driver { settings, registry, console, manager, machines, cancellation, start };
    let ready = driver.read_pipeline(passes, &mut sources, file);
    if let Err(found) = ready.and_then(|()| driver.find_machines(&mut sources)) {
        console.report(&sources, &found);
        return WRONG_USE;
    }
    let output = driver.settings.output.as_deref().filter(|_| driver.settings.emit != Emit::None);
    let written = [output, driver.settings.report.as_deref()];
    let written = written.into_iter().flatten().filter(|&path| path != Path::new("-"));
    let refused =
        |path: &Path| Some(cannot_write(&format!("`{}`", path.display()), &emit::check_file(path).err()?));
    let refused: Vec<Diagnostic> = written.filter_map(refused).collect();
    if !refused.is_empty() {
        console.report(&sources, &refused);
        return WRONG_USE;
    }
    if driver.settings.dump_pipeline {
        console.log.write(&format!("{}\n", driver.manager));
    }
    driver.parts(&mut sources, file, streams)
}

struct Driver<'t> {
    settings: Settings,
    registry: Arc<Registry>,
    console: &'t Console,
    manager: PassManager,
    machines: Machines,
    cancellation: Cancellation,
    /// When the run began.
    start: Instant,
}

impl Driver<'_> {
    fn read_pipeline(
        &mut self,
        passes: &PassRegistry,
        sources: &mut SourceMap,
        file: FileId,
    ) -> Result<(), Vec<Diagnostic>> {
        if self.settings.run_reproducer {
            let reproducer = Reproducer::parse(sources, file).map_err(|diagnostic| vec![*diagnostic])?;
            // What the command line says comes first.
            self.settings.verify_each.get_or_insert(reproducer.verify_each);
            self.settings.threads = self.settings.threads.or(reproducer.threads.try_into().ok());
            self.settings.machine = self.settings.machine.take().or(reproducer.machine);
            self.manager = PassManager::parse(sources, passes, &reproducer.pipeline)?;
            return Ok(());
        }
        match &self.settings.run {
            Run::Pipeline(text) => self.manager = PassManager::parse(sources, passes, text)?,
            Run::Passes(given) => {
                let mut found = Vec::new();
                for (name, options) in given {
                    if let Err(wrong) = self.manager.add_by_name(sources, passes, name, options) {
                        found.extend(wrong);
                    }
                }
                if !found.is_empty() {
                    return Err(found);
                }
            }
        }
        Ok(())
    }

    /// Reads what the machines are that the command line and the passes name, before anything runs.
    fn find_machines(&mut self, sources: &mut SourceMap) -> Result<(), Vec<Diagnostic>> {
        let (default, others) = (self.settings.machine.as_deref(), self.manager.machines());
        self.machines = Machines::resolve(default, others, sources, &|name| Files { part: None }.load(name))?;
        let unknown = self.machines.unknown_ops(&self.registry.op_names().collect::<Vec<_>>());
        if unknown.is_empty() { Ok(()) } else { Err(unknown) }
    }

    fn verify_each(&self) -> bool {
        self.settings.verify_each.unwrap_or(true)
    }

    fn threads(&self) -> NonZeroUsize {
        let all_cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.settings.threads.unwrap_or_else(all_cores)
    }

    /// Works on the parts of the file and writes what came of them, if all went well.
    fn parts(&self, sources: &mut SourceMap, file: FileId, streams: &mut Streams) -> u8 {
        let text = sources.file(file).shared_text();
        let whole = 0..text.len();
        let parts = if self.settings.split_input { input::parts(&text) } else { Vec::from([whole]) };
        let mut output = String::new();
        let mut found = Vec::new();
        let is_split = parts.len() > 1;
        for (index, part) in parts.into_iter().enumerate() {
            let number = is_split.then_some(index + 1);
            let (text, diagnostics) = self.guarded_part(sources, file, part, number);
            match text {
                Some(text) if index == 0 => output = text,
                Some(text) => output.extend([input::SEPARATOR, "\n", &text]),
                None => {}
            }
            if !self.settings.verify_diagnostics {
                self.console.report(sources, &diagnostics);
            }
            found.extend(diagnostics);
        }
        if self.settings.verify_diagnostics {
            let wrong = expect::verify(sources, file, &found);
            self.console.report(sources, &wrong);
            return if wrong.is_empty() { DONE } else { ERRORS };
        }
        if found.iter().any(is_error) {
            return ERRORS;
        }
        self.write(&output, sources, streams)
    }

    fn write(&self, text: &str, sources: &SourceMap, streams: &mut Streams) -> u8 {
        if self.settings.emit == Emit::None {
            return DONE;
        }
        let path = self.settings.output.as_deref();
        match emit::write(text, path, &mut streams.output) {
            Ok(()) => DONE,
            Err(error) => {
                let name = path.map_or("standard output".to_owned(), |path| format!("`{}`", path.display()));
                self.console.report(sources, &[cannot_write(&name, &error)]);
                WRONG_USE
            }
        }
    }

    /// [`part`](Driver::part), with panics outside of passes (those in passes have been caught) as diagnostics.
    fn guarded_part(
        &self,
        sources: &mut SourceMap,
        file: FileId,
        part: Range<usize>,
        number: Option<usize>,
    ) -> (Option<String>, Vec<Diagnostic>) {
        // A source map is whole after a panic: files are only added to it.
        let work = AssertUnwindSafe(|| self.part(sources, file, part.clone(), number));
        catch_unwind(work).unwrap_or_else(|_| {
            let message = "the tool panicked outside of any pass";
            let help = "this is a defect of the tool; report it with the reproducer";
            let panicked = Diagnostic::error(&codes::PASS_PANICKED, Span::NONE, message).help(help);
            let program = sources.file(file).text()[part].to_owned();
            let written = self.write_reproducer(default_path(), self.whole_reproducer(program), number);
            (None, vec![panicked, written])
        })
    }

    /// What comes of one part, and what there is to say about it. Parts of a file that was split have numbers.
    fn part(
        &self,
        sources: &mut SourceMap,
        file: FileId,
        part: Range<usize>,
        number: Option<usize>,
    ) -> (Option<String>, Vec<Diagnostic>) {
        let (from, options) = (self.settings.from, self.settings.stablehlo);
        let parsed = input::parse(sources, file, part.clone(), &self.registry, from, options);
        let is_ok = parsed.is_ok();
        let (mut module, mut diagnostics) = (parsed.module, parsed.diagnostics);
        if !is_ok {
            return (None, diagnostics);
        }
        if self.settings.verify_roundtrip {
            diagnostics.extend(self.roundtrip(&module, sources));
        }
        // A part of nothing but comments is not a program that a pass could miss its anchor in.
        let is_blank = number.is_some() && module.first_op(module.body()).is_none();
        let runs_passes = !self.manager.is_empty() && !is_blank;
        if runs_passes {
            let source = &sources.file(file).text()[part];
            diagnostics.extend(self.run_passes(&mut module, source, number));
        }
        if runs_passes && !self.verify_each() && !diagnostics.iter().any(is_error) {
            // What is written can be read back, whatever was skipped on the way.
            diagnostics.extend(verify(&module));
        }
        if diagnostics.iter().any(is_error) {
            return (None, diagnostics);
        }
        if self.settings.verify_roundtrip && runs_passes {
            diagnostics.extend(self.roundtrip(&module, sources));
        }
        if self.settings.emit == Emit::Stablehlo
            && let Err(found) = to_manual(&mut module).and_then(|()| to_shardy(&mut module))
        {
            diagnostics.extend(found);
            return (None, diagnostics);
        }
        match emit::emit(&module, self.settings.emit, &self.settings.print) {
            Ok(text) => (Some(text), diagnostics),
            Err(found) => {
                diagnostics.extend(found);
                (None, diagnostics)
            }
        }
    }
    fn run_passes(&self, module: &mut Module, source: &str, part: Option<usize>) -> Vec<Diagnostic> {
        let settings = &self.settings;
        let screen =
            Arc::new(Screen::new(self.console.log.clone(), self.console.is_terminal, settings.quiet));
        let findings = Arc::new(Sections::default());
        let mut session = Session {
            threads: self.threads(),
            machines: self.machines.clone(),
            resources: Arc::new(Files { part: None }),
            artifacts: Arc::new(Files { part }),
            printer: screen.clone(),
            progress: screen.clone(),
            findings: findings.clone(),
            cancellation: self.cancellation.clone(),
            ..Session::default()
        };
        if let Some(directory) = &settings.print_tree {
            let part = part.map(|part| format!("part{part}"));
            session.artifacts = Arc::new(Directory(directory.join(part.unwrap_or_default())));
        }
        let mut verify_each = VerifyEach;
        let mut print_ir = self.print_ir(&session);
        let mut timing = Timing::new();
        let mut statistics = Statistics::new();
        let mut recorder = CrashRecorder::new();
        let mut instruments: Vec<&mut dyn Instrument> = Vec::new();
        if settings.timing {
            instruments.push(&mut timing);
        }
        if settings.crash_reproducer.is_some() {
            instruments.push(&mut recorder);
        }
        if let Some(print_ir) = &mut print_ir {
            instruments.push(print_ir);
        }
        if self.verify_each() {
            instruments.push(&mut verify_each);
        }
        if settings.statistics {
            instruments.push(&mut statistics);
        }
        let outcome = self.manager.run(module, &session, &mut instruments);
        screen.clear();
        if settings.timing {
            self.console.log.write(&timing.table());
        }
        if settings.statistics {
            self.console.log.write(&statistics.table());
        }
        let mut diagnostics = self.reproducer(&outcome, &recorder, source, part);
        let failed = outcome.failed();
        diagnostics.splice(0..0, outcome.diagnostics);
        if let Some(path) = settings.report.as_deref().filter(|_| !failed) {
            diagnostics.extend(self.write_report(path, &findings, part));
        }
        diagnostics
    }

    /// Writes what passes have found; parts of a file have reports of their own.
    fn write_report(&self, path: &Path, findings: &Sections, part: Option<usize>) -> Option<Diagnostic> {
        let path = in_part(path, part);
        let mut report = Report::new(self.settings.input.display().to_string());
        for section in findings.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            report.add(section);
        }
        report.timing.total_seconds = Some(self.start.elapsed().as_secs_f64());
        let error = emit::write_file(report.to_json().as_bytes(), &path).err()?;
        Some(cannot_write(&format!("`{}`", path.display()), &error))
    }

    fn print_ir(&self, session: &Session) -> Option<PrintIr> {
        let when = self.settings.print_ir.clone()?;
        let log = self.console.log.clone();
        Some(match self.settings.print_tree {
            Some(_) => PrintIr::to_tree(when, Arc::clone(&session.artifacts)),
            None => PrintIr::to_log(when, move |text| log.write(text)),
        })
    }

    /// Writes a reproducer where one is due: after a failure if the user asked for it, after a panic in any case.
    fn reproducer(
        &self,
        outcome: &Outcome,
        recorder: &CrashRecorder,
        source: &str,
        part: Option<usize>,
    ) -> Vec<Diagnostic> {
        match &self.settings.crash_reproducer {
            Some(path) if outcome.failed() => {
                let recorded = recorder.reproducer(&self.manager, self.threads().get(), self.verify_each());
                let machine = self.settings.machine.clone();
                let recorded = recorded.map(|recorded| Reproducer { machine, ..recorded });
                let written = recorded.map(|recorded| self.write_reproducer(path.clone(), recorded, part));
                written.into_iter().collect()
            }
            None if outcome.panicked() => {
                let whole = self.whole_reproducer(source.to_owned());
                vec![self.write_reproducer(default_path(), whole, part)]
            }
            _ => Vec::new(),
        }
    }

    /// All that was asked for, as a reproducer.
    fn whole_reproducer(&self, program: String) -> Reproducer {
        let (threads, verify_each) = (self.threads().get(), self.verify_each());
        let machine = self.settings.machine.clone();
        Reproducer { pipeline: self.manager.to_string(), threads, verify_each, machine, program }
    }

    /// Writes a reproducer, and says so.
    fn write_reproducer(&self, path: PathBuf, reproducer: Reproducer, part: Option<usize>) -> Diagnostic {
        let path = part.map_or(path.clone(), |part| path.with_extension(format!("{part}.tir")));
        let name = format!("`{}`", path.display());
        match emit::write_file(reproducer.write().as_bytes(), &path) {
            Ok(()) => {
                let message = format!("a reproducer was written to {name}");
                let help = format!("run it with `--run-reproducer {}`", path.display());
                Diagnostic::remark(&codes::PASS_PANICKED, Span::NONE, message).help(help)
            }
            Err(error) => cannot_write(&name, &error),
        }
    }

    /// Says where the program differs from what its text reads back as.
    fn roundtrip(&self, module: &Module, sources: &mut SourceMap) -> Vec<Diagnostic> {
        let compared = Compared { names: false, locations: true };
        let structure = digest(module, module.root(), compared);
        for generic in [false, true] {
            let form = if generic { "generic" } else { "pretty" };
            let options = PrintOptions { generic, locations: true, elide_constants: None };
            let text = print(module, &options);
            let Ok(file) = sources.add(format!("<{form} form>"), text.as_str()) else {
                let message = "the program's text is too long to be read back";
                return vec![Diagnostic::error(&codes::FILE_TOO_LARGE, Span::NONE, message)];
            };
            let again = parse(sources, file, Arc::clone(&self.registry));
            let wrong = |code: &'static Code, message: &str| {
                Diagnostic::error(code, Span::NONE, format!("the program's {form} form {message}"))
            };
            if !again.is_ok() {
                let mut found = vec![wrong(&codes::ROUNDTRIP, "cannot be read back")];
                found.extend(again.diagnostics);
                return found;
            }
            // Names are compared as they are written: values that share one (in regions of StableHLO, or where a call
            // was inlined) are told apart there.
            let written_again = print(&again.module, &options);
            if structure != digest(&again.module, again.module.root(), compared) || text != written_again {
                let difference = first_difference(&text, &written_again);
                return vec![wrong(&codes::ROUNDTRIP, "reads back as another program").note(difference)];
            }
        }
        Vec::new()
    }
}

fn first_difference(written: &str, again: &str) -> String {
    let mut lines = (1..).zip(written.lines().zip(again.lines()));
    match lines.find(|(_, (a, b))| a != b) {
        Some((number, (a, b))) => {
            format!("line {number} was written\n{}\nand is then written\n{}", a.trim(), b.trim())
        }
        None => "both print alike".to_owned(),
    }
}

/// Where a reproducer goes that nobody has asked for.
fn default_path() -> PathBuf {
    PathBuf::from(format!("tofu-crash-{}.tir", std::process::id()))
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// Resources and artifacts as files, by path.
struct Files {
    /// The part of the input that is worked on, if it has several.
    part: Option<usize>,
}

/// The file for a part of the input: parts have files of their own, with their numbers in the names.
fn in_part(path: &Path, part: Option<usize>) -> PathBuf {
    let Some(part) = part else { return path.to_owned() };
    let extension = path.extension().map(|extension| format!(".{}", extension.display()));
    path.with_extension(format!("{part}{}", extension.unwrap_or_default()))
}

impl Resources for Files {
    fn load(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(name)
    }
}

impl Artifacts for Files {
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        emit::write_file(bytes, &in_part(Path::new(name), self.part))
    }

    fn check(&self, name: &str) -> io::Result<()> {
        emit::check_file(&in_part(Path::new(name), self.part))
    }
}

/// What passes have found for the report, in their order.
#[derive(Default)]
struct Sections(Mutex<Vec<Section>>);

impl Findings for Sections {
    fn take(&self, _pass: &str, finding: Box<dyn Any + Send>) {
        if let Ok(section) = finding.downcast::<Section>() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(*section);
        }
    }
}

/// Artifacts as files of a directory, and none outside of it.
struct Directory(PathBuf);

impl Artifacts for Directory {
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name leads out of the directory"));
        }
        let path = self.0.join(name);
        if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)
    }
}

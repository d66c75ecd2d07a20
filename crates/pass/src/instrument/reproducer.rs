//! Reproducers: a program and the pipeline that fails on it, in one file.
//!
//! The file is a program whose first line is a comment:
//!
//! ```text
//! // tofu-reproducer pipeline='module(func(simplify))' threads=4 verify-each=true machine='dgx-a100'
//! ```

use tofu_diagnostics::{Diagnostic, FileId, SourceMap, Span, codes};
use tofu_syntax::{PrintOptions, print};

use super::{Instrument, Step};
use crate::PassManager;

const MARK: &str = "// tofu-reproducer ";

/// A program and how it was run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reproducer {
    /// The pipeline's text.
    pub pipeline: String,
    /// How many threads there were.
    pub threads: usize,
    /// Whether the program was verified after each pass.
    pub verify_each: bool,
    /// The name of the machine that it was compiled for, if one was named.
    pub machine: Option<String>,
    /// The program's text.
    pub program: String,
}

impl Reproducer {
    /// The text of the file.
    pub fn write(&self) -> String {
        let Reproducer { pipeline, threads, verify_each, machine, program } = self;
        let machine = machine.as_ref().map(|name| format!(" machine={}", quoted(name))).unwrap_or_default();
        let pipeline = quoted(pipeline);
        format!("{MARK}pipeline={pipeline} threads={threads} verify-each={verify_each}{machine}\n{program}")
    }

    /// Reads a reproducer again. Its program may be parsed from the same file: the line above it is a comment.
    ///
    /// # Errors
    /// With [`codes::BAD_REPRODUCER`], if the file is none.
    pub fn parse(sources: &SourceMap, file: FileId) -> Result<Reproducer, Box<Diagnostic>> {
        let file = sources.file(file);
        let range = file.line_range(1);
        read(&file.text()[range.clone()], file.text()[range.end..].trim_start()).ok_or_else(|| {
            let start = file.span().start;
            let span = Span::new(start, start + range.end as u32);
            let message = format!("`{}` is not a reproducer", file.name());
            let help = format!("its first line would be `{MARK}pipeline='…' threads=… verify-each=…`");
            Box::new(Diagnostic::error(&codes::BAD_REPRODUCER, span, message).help(help))
        })
    }
}

fn read(line: &str, program: &str) -> Option<Reproducer> {
    let (pipeline, rest) = unquoted(line.strip_prefix(MARK)?.strip_prefix("pipeline=")?)?;
    let (threads, rest) = rest.trim().split_once(' ')?;
    let (verify_each, machine) = match rest.split_once(" machine=") {
        None => (rest, None),
        Some((verify_each, machine)) => {
            let (machine, rest) = unquoted(machine)?;
            if !rest.trim().is_empty() {
                return None;
            }
            (verify_each, Some(machine))
        }
    };
    Some(Reproducer {
        pipeline,
        threads: threads.strip_prefix("threads=")?.parse().ok().filter(|&threads| threads > 0)?,
        verify_each: verify_each.strip_prefix("verify-each=")?.parse().ok()?,
        machine,
        program: program.to_owned(),
    })
}

/// A text between single quotes, on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// The text between the single quotes that something begins with, and what comes behind it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('\'')?.chars();
    let mut unquoted = String::new();
    loop {
        unquoted.push(match chars.next()? {
            '\'' => return Some((unquoted, chars.as_str())),
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                escaped => escaped,
            },
            c => c,
        });
    }
}

/// Keeps the text of the program as it was before the step of the outermost pipeline that runs now, for a reproducer
/// should the step fail. It costs a printing of the program before each step.
#[derive(Debug, Default)]
pub struct CrashRecorder {
    last: Option<(usize, String)>,
}

impl CrashRecorder {
    /// Nothing has run yet.
    pub fn new() -> CrashRecorder {
        CrashRecorder::default()
    }

    /// The program before the last step that was begun, and the pipeline from that step on. When a nested pipeline
    /// failed, that is the whole program and all of the nested pipeline.
    pub fn reproducer(&self, manager: &PassManager, threads: usize, verify_each: bool) -> Option<Reproducer> {
        let (index, program) = self.last.as_ref()?;
        let pipeline = manager.rest(*index).to_string();
        Some(Reproducer { pipeline, threads, verify_each, machine: None, program: program.clone() })
    }

    fn record(&mut self, step: &Step<'_>) {
        if let ([index], false) = (step.indices, step.detached) {
            let options = PrintOptions { locations: true, ..PrintOptions::default() };
            self.last = Some((*index, print(step.module, &options)));
        }
    }
}

impl Instrument for CrashRecorder {
    fn before_pipeline(&mut self, step: &Step<'_>) {
        self.record(step);
    }

    fn before_pass(&mut self, step: &Step<'_>) {
        self.record(step);
    }

    /// What happens in one of several functions lies in a step that has been recorded.
    fn fork(&self) -> Box<dyn Instrument> {
        Box::new(CrashRecorder::new())
    }

    fn join(&mut self, _fork: Box<dyn Instrument>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reproducer_reads_as_it_was_written() {
        for machine in [None, Some("its machine='x'.toml".to_owned())] {
            let reproducer = Reproducer {
                pipeline: "module(func(tag{name=\"it's \\\" \n\"}))".to_owned(),
                threads: 4,
                verify_each: false,
                machine,
                program: "module @m {\n}\n".to_owned(),
            };
            let text = reproducer.write();
            assert!(
                text.starts_with("// tofu-reproducer pipeline='module(func(tag{name=\"it\\'s "),
                "{text}"
            );
            assert_eq!(text.lines().count(), 3);
            let mut sources = SourceMap::new();
            let file = sources.add("crash.tir", text).unwrap();
            assert_eq!(Reproducer::parse(&sources, file).unwrap(), reproducer);
        }
    }

    #[test]
    fn other_files_are_no_reproducers() {
        let damaged = [
            "",
            "module @m {\n}\n",
            "// tofu-reproducer pipeline='module()\nmodule {}",
            "// tofu-reproducer pipeline='module()' threads=0 verify-each=true\nmodule {}",
            "// tofu-reproducer pipeline='module()' threads=1\nmodule {}",
        ];
        for text in damaged {
            let mut sources = SourceMap::new();
            let file = sources.add("model.tir", text).unwrap();
            let error = Reproducer::parse(&sources, file).unwrap_err();
            assert_eq!((error.code.id, error.message.as_str()), ("T0407", "`model.tir` is not a reproducer"));
        }
    }
}

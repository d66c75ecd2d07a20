//! The command line.
//!
//! Every registered pass and pipeline is an option of its own, and their order counts; clap keeps the place of each
//! occurrence.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{EnumValueParser, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, ValueHint, value_parser};
use tofu_diagnostics::{ColorChoice, Format};
use tofu_dialect_stablehlo::ReadOptions;
use tofu_pass::{EntryKind, OptionValue, PassRegistry, When, Which};
use tofu_syntax::PrintOptions;

use crate::{Streams, console::Console, emit::Emit, input::Language, tool::WRONG_USE};

/// What the user asked for.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) question: Option<Question>,
    pub(crate) input: PathBuf,
    /// None if the text tells.
    pub(crate) from: Option<Language>,
    pub(crate) stablehlo: ReadOptions,
    pub(crate) output: Option<PathBuf>,
    pub(crate) emit: Emit,
    /// Where what was found is to be written as JSON.
    pub(crate) report: Option<PathBuf>,
    pub(crate) quiet: bool,
    pub(crate) run: Run,
    /// None if nothing was said about it.
    pub(crate) machine: Option<String>,
    pub(crate) split_input: bool,
    pub(crate) verify_diagnostics: bool,
    /// None if nothing was said about it.
    pub(crate) verify_each: Option<bool>,
    pub(crate) verify_roundtrip: bool,
    pub(crate) dump_pipeline: bool,
    pub(crate) print: PrintOptions,
    /// When to print the program around passes.
    pub(crate) print_ir: Option<When>,
    pub(crate) print_tree: Option<PathBuf>,
    pub(crate) timing: bool,
    pub(crate) statistics: bool,
    pub(crate) crash_reproducer: Option<PathBuf>,
    pub(crate) run_reproducer: bool,
    /// None if nothing was said about it.
    pub(crate) threads: Option<NonZeroUsize>,
    pub(crate) diagnostics: Format,
    pub(crate) color: ColorChoice,
}

/// Which passes to run.
#[derive(Debug)]
pub(crate) enum Run {
    /// Passes by name with their options, in order.
    Passes(Vec<(String, String)>),
    /// A pipeline's text.
    Pipeline(String),
}

/// What is answered without a program.
#[derive(Debug)]
pub(crate) enum Question {
    Passes,
    Ops,
    Dialects,
    Machines,
    Explain(String),
    Manual,
    Completions(clap_complete::Shell),
}

/// The description of the command line.
pub(crate) fn command(name: &'static str, version: &'static str, passes: &PassRegistry) -> Command {
    let command = Command::new(name)
        .version(version)
        .about("Reads a tensor program, runs passes on it and writes it back.")
        .after_help("A description of a diagnostic: --explain T0201. Exit codes: 0 done, 1 errors were reported, 2 wrong use.")
        .max_term_width(100)
        .arg(
            Arg::new("input")
                .value_name("INPUT")
                .help("The program: a .tir or StableHLO file, or - for standard input")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .required_unless_present_any(QUESTIONS),
        );
    let command = passes.entries().fold(
        command.next_help_heading("Passes, in the order they are given"),
        |command, entry| {
            command.arg(
                Arg::new(pass_id(entry.name))
                    .long(entry.name)
                    .help(entry.summary())
                    .hide_short_help(true)
                    .value_name("OPTIONS")
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("")
                    .action(ArgAction::Append)
                    .conflicts_with_all(["pass-pipeline", "run-reproducer"]),
            )
        },
    );
    let command = command.args([
        Arg::new("pass-pipeline")
            .long("pass-pipeline")
            .value_name("TEXT")
            .conflicts_with("run-reproducer")
            .help("A whole pipeline, such as 'module(func(simplify))'"),
        flag("dump-pass-pipeline", "Print the pipeline to standard error before it runs"),
        Arg::new("machine")
            .long("machine")
            .value_name("MACHINE")
            .help("What to compile for, unless a pass is told otherwise: a preset (see --list-machines) or a TOML file")
            .value_hint(ValueHint::FilePath),
    ]);
    [
        input_arguments(),
        output_arguments(),
        look_inside_arguments(),
        check_arguments(),
        discover_arguments(),
        general_arguments(),
    ]
    .into_iter()
    .fold(command, |command, (heading, arguments)| command.next_help_heading(heading).args(arguments))
}

type Group = (&'static str, Vec<Arg>);

fn input_arguments() -> Group {
    let arguments = vec![
        Arg::new("from")
            .long("from")
            .value_name("FORM")
            .help("In what language INPUT is; told by its content if not given")
            .value_parser(EnumValueParser::<Language>::new()),
        flag(
            "allow-unregistered",
            "Keep ops, attributes and types of StableHLO that are not known as they are",
        ),
    ];
    ("Input", arguments)
}

fn output_arguments() -> Group {
    let emit = EnumValueParser::<Emit>::new();
    let arguments = vec![
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("FILE")
            .help("Where to write; standard output if not given")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath),
        Arg::new("emit")
            .long("emit")
            .value_name("FORM")
            .help("What to write")
            .value_parser(emit)
            .default_value("tir"),
        Arg::new("report")
            .long("report")
            .value_name("FILE")
            .help("Write what was found about the program into a .json file: plan, memory, times")
            .value_parser(|text: &str| {
                let path = PathBuf::from(text);
                let is_json = path.extension().is_some_and(|extension| extension == "json");
                if is_json { Ok(path) } else { Err("expected a name that ends in `.json`") }
            })
            .value_hint(ValueHint::FilePath),
        flag("print-generic", "Write every op alike, without short cuts"),
        flag("print-locations", "Write the location of every op that has one"),
        Arg::new("elide-constants")
            .long("elide-constants")
            .value_name("N")
            .help("Leave out the values of constants of more than N elements; such text cannot be read back")
            .value_parser(value_parser!(usize)),
    ];
    ("Output", arguments)
}

fn look_inside_arguments() -> Group {
    let named = |id: &'static str, help: &'static str| {
        Arg::new(id).long(id).value_name("PASS").help(help).action(ArgAction::Append).value_delimiter(',')
    };
    let arguments = vec![
        named("print-ir-before", "Print the program to standard error before these passes"),
        named("print-ir-after", "Print the program to standard error after these passes"),
        flag("print-ir-after-all", "Print the program after every pass"),
        flag("print-ir-after-change", "Print the program after every pass that has changed it"),
        flag("print-ir-after-failure", "Print the program, in whatever state, after a pass that has failed"),
        Arg::new("print-ir-tree-dir")
            .long("print-ir-tree-dir")
            .value_name("DIR")
            .help("Print into files of this directory instead, one for each pass; after every pass if nothing else is said")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::DirPath),
        flag("compare-algorithms", "With --partition: print what every algorithm finds"),
        Arg::new("explain-plan")
            .long("explain-plan")
            .value_name("VALUE")
            .help("With --partition: print which layouts of a value (`%x`) were considered, and what each would cost"),
        flag("timing", "Report the time of each pass"),
        flag("pass-statistics", "Report what each pass has counted"),
    ];
    ("Look inside", arguments)
}

fn check_arguments() -> Group {
    let arguments = vec![
        Arg::new("verify-each")
            .long("verify-each")
            .value_name("BOOL")
            .help("Verify the program after each pass, which is done unless it is false")
            .num_args(0..=1)
            .require_equals(true)
            .value_parser(value_parser!(bool))
            .default_missing_value("true"),
        flag("verify-roundtrip", "Check that the program reads back as it is written, in both forms"),
        flag("split-input-file", "Work on the parts between lines `// -----` one by one"),
        flag(
            "verify-diagnostics",
            "Check that exactly the diagnostics come that comments `// expected-error@+1 {{text}}` announce",
        ),
        Arg::new("crash-reproducer")
            .long("crash-reproducer")
            .value_name("FILE")
            .help("When a pass fails or panics, write the program before it and what is left of the pipeline")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath),
        flag("run-reproducer", "Run the pipeline that INPUT, a reproducer, holds"),
    ];
    ("Check", arguments)
}

const QUESTIONS: [&str; 7] =
    ["list-passes", "list-ops", "list-dialects", "list-machines", "explain", "manual", "completions"];

fn discover_arguments() -> Group {
    let shell = PossibleValuesParser::new(["bash", "elvish", "fish", "powershell", "zsh"])
        .try_map(|name| name.parse::<clap_complete::Shell>());
    let arguments = vec![
        flag("list-passes", "List passes and pipelines with their options"),
        flag("list-ops", "List ops"),
        flag("list-dialects", "List dialects"),
        flag("list-machines", "List the machines that can be compiled for by name"),
        Arg::new("explain")
            .long("explain")
            .value_name("CODE")
            .help("Say what a diagnostic means, with an example"),
        flag("manual", "Write the manual page, in roff"),
        Arg::new("completions")
            .long("completions")
            .value_name("SHELL")
            .help("Write a script that completes this command in a shell")
            .value_parser(shell),
    ];
    ("Discover", arguments)
}

fn general_arguments() -> Group {
    let formats =
        PossibleValuesParser::new(["human", "short", "json"]).try_map(|name| name.parse::<Format>());
    let colors =
        PossibleValuesParser::new(["auto", "always", "never"]).try_map(|name| name.parse::<ColorChoice>());
    let arguments = vec![
        Arg::new("diagnostics")
            .long("diagnostics")
            .value_name("FORM")
            .help("How to write diagnostics")
            .value_parser(formats)
            .default_value("human"),
        Arg::new("color")
            .long("color")
            .value_name("WHEN")
            .help("Color diagnostics")
            .value_parser(colors)
            .default_value("auto"),
        flag("quiet", "Print no summaries and no progress"),
        Arg::new("threads")
            .long("threads")
            .value_name("N")
            .help("How many threads to work on; all cores if not given. The result does not depend on it")
            .value_parser(|text: &str| match text.parse() {
                Ok(threads) => Ok::<NonZeroUsize, _>(threads),
                Err(_) => Err("expected a whole number, at least 1"),
            }),
    ];
    ("General", arguments)
}

fn flag(id: &'static str, help: &'static str) -> Arg {
    Arg::new(id).long(id).help(help).action(ArgAction::SetTrue)
}

/// Passes have ids of their own, so that none is taken for another option.
fn pass_id(name: &str) -> String {
    format!("pass:{name}")
}

impl Settings {
    pub(crate) fn from_matches(matches: &ArgMatches, passes: &PassRegistry) -> Result<Settings, Error> {
        let strings =
            |id: &str| matches.get_many::<String>(id).unwrap_or_default().cloned().collect::<Vec<_>>();
        let path = |id: &str| matches.get_one::<PathBuf>(id).cloned();
        let (print_before, print_after) = (strings("print-ir-before"), strings("print-ir-after"));
        for name in print_before.iter().chain(&print_after) {
            if passes.get(name).is_none_or(|entry| entry.kind == EntryKind::Pipeline) {
                let near = tofu_diagnostics::suggest::did_you_mean(name, passes.names());
                let near = near.map(|near| format!("; {near}")).unwrap_or_default();
                return Err(Error::raw(
                    ErrorKind::InvalidValue,
                    format!("there is no pass `{name}`{near}\n"),
                ));
            }
        }
        Ok(Settings {
            question: question(matches),
            input: path("input").unwrap_or_default(),
            from: matches.get_one::<Language>("from").copied(),
            stablehlo: ReadOptions { allow_unregistered: matches.get_flag("allow-unregistered") },
            output: path("output"),
            emit: matches.get_one::<Emit>("emit").copied().unwrap_or_default(),
            report: path("report"),
            quiet: matches.get_flag("quiet"),
            run: run(matches, passes)?,
            machine: matches.get_one::<String>("machine").cloned(),
            split_input: matches.get_flag("split-input-file"),
            verify_diagnostics: matches.get_flag("verify-diagnostics"),
            verify_each: matches.get_one::<bool>("verify-each").copied(),
            verify_roundtrip: matches.get_flag("verify-roundtrip"),
            dump_pipeline: matches.get_flag("dump-pass-pipeline"),
            print: print_options(matches),
            print_ir: print_ir(matches, &print_before, &print_after),
            print_tree: path("print-ir-tree-dir"),
            timing: matches.get_flag("timing"),
            statistics: matches.get_flag("pass-statistics"),
            crash_reproducer: path("crash-reproducer"),
            run_reproducer: matches.get_flag("run-reproducer"),
            threads: matches.get_one::<NonZeroUsize>("threads").copied(),
            diagnostics: matches.get_one::<Format>("diagnostics").copied().unwrap_or(Format::Human),
            color: matches.get_one::<ColorChoice>("color").copied().unwrap_or_default(),
        })
    }
}

fn print_options(matches: &ArgMatches) -> PrintOptions {
    PrintOptions {
        generic: matches.get_flag("print-generic"),
        locations: matches.get_flag("print-locations"),
        elide_constants: matches.get_one::<usize>("elide-constants").copied(),
    }
}

fn print_ir(matches: &ArgMatches, before: &[String], after: &[String]) -> Option<When> {
    let named = |names: &[String]| if names.is_empty() { Which::None } else { Which::Named(names.to_vec()) };
    let to_tree = matches.contains_id("print-ir-tree-dir");
    let (after_change, after_failure) =
        (matches.get_flag("print-ir-after-change"), matches.get_flag("print-ir-after-failure"));
    let says_when = !before.is_empty() || !after.is_empty() || after_change || after_failure;
    let after_all = matches.get_flag("print-ir-after-all") || to_tree && !says_when;
    let after = if after_all { Which::All } else { named(after) };
    let options = print_options(matches);
    let when = When { before: named(before), after, after_change, after_failure, options };
    (says_when || after_all).then_some(when)
}

/// Options of the command line that are options of the pass [`PLANNER`].
const PLANNER_OPTIONS: [(&str, &str); 2] = [("compare-algorithms", "compare-algorithms"), ("explain-plan", "explain")];

/// The pass that they are options of.
const PLANNER: &str = "partition";

fn run(matches: &ArgMatches, passes: &PassRegistry) -> Result<Run, Error> {
    let given = |id: &str| match id {
        "explain-plan" => matches.get_one::<String>(id).map(OptionValue::text),
        _ => matches.get_flag(id).then(|| "true".to_owned()),
    };
    let planner: Vec<(&str, &str, String)> =
        PLANNER_OPTIONS.iter().filter_map(|&(id, option)| Some((id, option, given(id)?))).collect();
    let misplaced = |says: &str| {
        let message = planner.first().map(|(id, ..)| format!("`--{id}` {says}\n"));
        message.map_or(Ok(()), |message| Err(Error::raw(ErrorKind::ArgumentConflict, message)))
    };
    if let Some(text) = matches.get_one::<String>("pass-pipeline") {
        misplaced("does not reach into a pipeline: say it there, as in `partition{compare-algorithms}`")?;
        return Ok(Run::Pipeline(text.clone()));
    }
    let mut given: Vec<(usize, String, String)> = Vec::new();
    for entry in passes.entries() {
        let id = pass_id(entry.name);
        let places = matches.indices_of(&id).into_iter().flatten();
        let values = matches.get_many::<String>(&id).into_iter().flatten();
        given.extend(places.zip(values).map(|(place, value)| (place, entry.name.to_owned(), value.clone())));
    }
    given.sort_by_key(|&(place, ..)| place);
    let mut given: Vec<(String, String)> = given.into_iter().map(|(_, name, options)| (name, options)).collect();
    match given.iter_mut().find(|(name, _)| name == PLANNER) {
        Some((_, options)) => {
            for (_, option, value) in &planner {
                options.push_str(&format!(" {option}={value}"));
            }
        }
        None => misplaced("is about `--partition`, which is not there")?,
    }
    Ok(Run::Passes(given))
}

fn question(matches: &ArgMatches) -> Option<Question> {
    if let Some(code) = matches.get_one::<String>("explain") {
        return Some(Question::Explain(code.clone()));
    }
    if let Some(&shell) = matches.get_one::<clap_complete::Shell>("completions") {
        return Some(Question::Completions(shell));
    }
    let asked = |id, question| matches.get_flag(id).then_some(question);
    asked("list-passes", Question::Passes)
        .or(asked("list-ops", Question::Ops))
        .or(asked("list-dialects", Question::Dialects))
        .or(asked("list-machines", Question::Machines))
        .or(asked("manual", Question::Manual))
}

/// Writes what clap has to say, help that was asked for, or what is wrong with the command line; the exit code.
pub fn answer_or_refuse(error: &Error, streams: &mut Streams) -> u8 {
    let text = error.render().to_string();
    if error.use_stderr() {
        streams.log.write(&text);
        return WRONG_USE;
    }
    Console::new(streams, Format::Human, ColorChoice::Auto).answer(&text, streams)
}

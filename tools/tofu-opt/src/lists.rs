//! Answers that need no program: what there is, and what a diagnostic means.

use std::fmt::Write as _;

use clap::Command;
use tofu_diagnostics::{Code, Diagnostic, SourceMap, Span, codes, suggest};
use tofu_ir::Registry;
use tofu_machine::{Machine, presets};
use tofu_pass::{EntryKind, PassRegistry};

use crate::{Streams, cli::Question, console::Console, tool::WRONG_USE};

pub(crate) fn answer(
    question: &Question,
    mut command: Command,
    registry: &Registry,
    passes: &PassRegistry,
    known: &[&'static Code],
    console: &Console,
    streams: &mut Streams,
) -> u8 {
    let text = match question {
        Question::Passes => list_passes(passes),
        Question::Ops => list_ops(registry),
        Question::Dialects => list_dialects(registry),
        Question::Machines => list_machines(),
        Question::Manual => {
            let mut page = Vec::new();
            // Writing into memory cannot fail.
            let _ = clap_mangen::Man::new(command).render(&mut page);
            String::from_utf8_lossy(&page).into_owned()
        }
        Question::Completions(shell) => {
            let mut script = Vec::new();
            let name = command.get_name().to_owned();
            clap_complete::generate(*shell, &mut command, name, &mut script);
            String::from_utf8_lossy(&script).into_owned()
        }
        Question::Explain(id) => match known.iter().find(|code| code.id.eq_ignore_ascii_case(id)) {
            Some(code) => format!("{}: {}\n\n{}\n", code.id, code.title, code.explanation.trim()),
            None => {
                let message = format!("there is no diagnostic `{id}`");
                let help = suggest::did_you_mean(id, known.iter().map(|code| code.id));
                let diagnostic = Diagnostic::error(&codes::WRONG_USAGE, Span::NONE, message).maybe_help(help);
                console.report(&SourceMap::new(), &[diagnostic]);
                return WRONG_USE;
            }
        },
    };
    console.answer(&text, streams)
}

fn list_passes(passes: &PassRegistry) -> String {
    let mut text = String::new();
    for entry in passes.entries() {
        let kind = if entry.kind == EntryKind::Pipeline { "pipeline over " } else { "on " };
        let _ = writeln!(text, "{}  ({kind}{})\n    {}", entry.name, entry.anchor, entry.summary());
        for option in &entry.options {
            let _ = writeln!(text, "    {}={}  {}", option.name, option.default, first_line(&option.doc));
        }
    }
    text
}

fn list_ops(registry: &Registry) -> String {
    let mut text = String::new();
    for dialect in registry.dialects() {
        for def in dialect.ops {
            let keyword = def.keyword.map(|keyword| format!(" (written `{keyword}`)")).unwrap_or_default();
            let _ = writeln!(text, "{}{keyword}\n    {}", def.name, def.summary);
        }
    }
    text
}

fn list_dialects(registry: &Registry) -> String {
    let mut text = String::new();
    for dialect in registry.dialects() {
        let _ = writeln!(text, "{}  ({} ops)\n    {}", dialect.name, dialect.ops.len(), dialect.summary);
    }
    text
}

fn list_machines() -> String {
    let machines: Vec<Machine> = presets().filter_map(Machine::preset).collect();
    let width = machines.iter().map(|machine| machine.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    let _ = writeln!(text, "{:<width$}  devices  summary", "name");
    for machine in machines {
        let (name, devices, summary) = (machine.name(), machine.devices(), machine.summary());
        let _ = writeln!(text, "{name:<width$}  {devices:>7}  {summary}");
    }
    text
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

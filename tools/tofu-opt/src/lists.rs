//! Answers that need no program: what there is, and what a diagnostic means.

use std::fmt::Write as _;

use clap::Command;
use tofu_diagnostics::{Code, Diagnostic, SourceMap, Span, codes, suggest};
use tofu_ir::{Arity, OperandSpec, Registry};
use tofu_pass::{EntryKind, PassRegistry};

use crate::{
    Streams,
    cli::Question,
    console::Console,
    tool::{Tool, WRONG_USE},
};

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

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

/// The reference of a tool's passes, in Markdown.
pub fn passes_reference(tool: Tool) -> String {
    let mut text = String::from(
        "# Passes\n\nGenerated from the definitions of the passes by `cargo xtask docs`; do not edit.\n",
    );
    let Ok(passes) = PassRegistry::new(tool.passes) else { return text };
    for entry in passes.entries() {
        let kind = if entry.kind == EntryKind::Pipeline { "A pipeline over" } else { "Runs on" };
        let _ = write!(text, "\n## `{}`\n\n{kind} `{}`. {}\n", entry.name, entry.anchor, entry.doc.trim());
        if !entry.options.is_empty() {
            text.push_str("\n| option | default | takes | meaning |\n|---|---|---|---|\n");
        }
        for option in &entry.options {
            let doc = option.doc.trim().replace('\n', " ");
            let _ = writeln!(text, "| `{}` | `{}` | {} | {doc} |", option.name, option.default, option.kind);
        }
        if !entry.statistics.is_empty() {
            text.push_str("\n| counts | meaning |\n|---|---|\n");
        }
        for (name, meaning) in entry.statistics {
            let _ = writeln!(text, "| {name} | {meaning} |");
        }
        if !entry.example.program.is_empty() {
            let _ =
                write!(text, "\n{}\n\n```tir\n{}\n```\n", entry.example.effect, entry.example.program.trim());
        }
    }
    text
}

/// The reference of a tool's ops, in Markdown.
pub fn ops_reference(tool: &Tool) -> String {
    let mut text = String::from(
        "# Ops\n\nGenerated from the definitions of the ops by `cargo xtask docs`; do not edit.\n",
    );
    let Ok(registry) = Registry::new(&tool.dialects) else { return text };
    for dialect in registry.dialects() {
        let _ = write!(text, "\n## Dialect `{}`\n\n{}\n", dialect.name, dialect.summary);
        text.push_str("\n| op | operands | results | attributes | summary |\n|---|---|---|---|---|\n");
        for def in dialect.ops {
            let attributes: Vec<String> = def
                .attributes
                .iter()
                .map(|spec| format!("`{}`{}", spec.name, if spec.required { "" } else { "?" }))
                .collect();
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} |",
                def.name,
                values(def.operands),
                values(def.results),
                attributes.join(", "),
                def.summary
            );
        }
        for def in dialect.ops {
            let _ = write!(text, "\n### `{}`\n\n{}\n", def.name, def.summary);
            for spec in def.attributes {
                let need = if spec.required { "required" } else { "optional" };
                let _ = write!(text, "\n- `{}`: {}, {need}", spec.name, spec.class.name);
            }
            if !def.attributes.is_empty() {
                text.push('\n');
            }
            let _ = write!(text, "\n```tir\n{}\n```\n", def.example);
        }
    }
    text
}

fn values(specs: &[OperandSpec]) -> String {
    let one = |spec: &OperandSpec| {
        let many = if spec.arity == Arity::Variadic { "…" } else { "" };
        format!("{}{many}: {}", spec.name, spec.class.name)
    };
    specs.iter().map(one).collect::<Vec<_>>().join(", ")
}

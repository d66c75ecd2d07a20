//! References of what a tool knows, in Markdown.

use std::fmt::Write as _;
use std::sync::Arc;

use tofu_diagnostics::SourceMap;
use tofu_ir::{Arity, Control, Module, OpDef, OpId, OperandSpec, Registry, Syntax, Trait};
use tofu_pass::{EntryKind, PassRegistry};
use tofu_syntax::parse;
use tofu_tdl::{Describe, Description, DimLayout, Index, Strategy, Undescribed, describe, strategies};

use crate::tool::Tool;

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
        "# Ops\n\nGenerated from the definitions of the ops by `cargo xtask docs`; do not edit.\n\nWhat an op computes is \
         said by its description, in the [description language](tdl.md); that of an op's example stands below the op, \
         with the ways of splitting it over workers. An op with opaque dimensions computes something along them that \
         element expressions cannot say, and is split only along the others; what a data-dependent op reads depends on \
         the values of an operand.\n",
    );
    let Ok(registry) = Registry::new(&tool.dialects).map(Arc::new) else { return text };
    for dialect in registry.dialects() {
        let described =
            dialect.ops.iter().map(|def| description_of_example(&registry, def)).collect::<Vec<_>>();
        let _ = write!(text, "\n## Dialect `{}`\n\n{}", dialect.name, dialect.summary);
        let count = described.iter().flatten().count();
        if count > 0 {
            let _ = write!(text, " Of its {} ops {count} are described.", dialect.ops.len());
        }
        if dialect.ops.is_empty() {
            text.push('\n');
            continue;
        }
        text.push_str(
            "\n\n| op | described | operands | results | attributes | summary |\n|---|---|---|---|---|---|\n",
        );
        for (def, description) in dialect.ops.iter().zip(&described) {
            let attributes: Vec<String> = def
                .attributes
                .iter()
                .map(|spec| format!("`{}`{}", spec.name, if spec.required { "" } else { "?" }))
                .collect();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                def.name,
                kind(def, description.as_ref()),
                values(def.operands),
                values(def.results),
                attributes.join(", "),
                def.summary
            );
        }
        for (kind, defs) in [("type", dialect.types), ("attribute", dialect.attributes)] {
            if !defs.is_empty() {
                let _ = write!(text, "\n| {kind} | as in | summary |\n|---|---|---|\n");
            }
            for def in defs {
                let _ = writeln!(text, "| {} | `{}` | {} |", def.name, def.example, def.summary);
            }
        }
        for (def, description) in dialect.ops.iter().zip(&described) {
            op_section(&mut text, def, description.as_ref());
        }
    }
    text
}

fn op_section(text: &mut String, def: &OpDef, description: Option<&Description>) {
    let _ = write!(text, "\n### `{}`\n\n{}\n", def.name, def.summary);
    for spec in def.attributes {
        let need = if spec.required { "required" } else { "optional" };
        let _ = write!(text, "\n- `{}`: {}, {need}", spec.name, spec.class.name);
    }
    if !def.attributes.is_empty() {
        text.push('\n');
    }
    let _ = write!(text, "\n```tir\n{}\n```\n", def.example);
    if let Some(description) = description {
        let _ = write!(text, "\n```text\n{description}```\n");
        let strategies: Vec<String> =
            strategies(description).iter().map(|strategy| strategy.text(description)).collect();
        let strategies =
            if strategies.is_empty() { "it cannot be split".to_owned() } else { strategies.join("\n") };
        let _ = write!(text, "\n```text\n{strategies}\n```\n");
    } else if let Some(Undescribed(reason)) = def.interface() {
        let _ = write!(text, "\nIt has no description: {reason}.\n");
    }
}

/// How an op is described.
fn kind(def: &OpDef, description: Option<&Description>) -> String {
    if let Some(description) = description {
        let data = description.data();
        let is_opaque = !data.opaques.is_empty();
        let is_masked = |strategy: &Strategy| {
            strategy.operands.iter().any(|operand| operand.dims.contains(&DimLayout::Masked))
        };
        let depends_on_data = data.indices.iter().any(|index| matches!(index, Index::Data(_)))
            || strategies(description).iter().any(is_masked);
        return match (is_opaque, depends_on_data) {
            (false, false) => "yes",
            (true, false) => "opaque dimensions",
            (false, true) => "data-dependent",
            (true, true) => "opaque dimensions, data-dependent",
        }
        .to_owned();
    }
    match (def.interface::<Undescribed>(), def.interface::<Control>()) {
        (Some(Undescribed(reason)), _) => format!("no: {reason}"),
        (None, Some(_)) => "no: it passes control or values on".to_owned(),
        (None, None) => String::new(),
    }
}

/// The description of an op in its example, if it has one.
fn description_of_example(registry: &Arc<Registry>, def: &'static OpDef) -> Option<Description> {
    def.interface::<Describe>()?;
    let mut sources = SourceMap::new();
    let file = sources.add(def.name, example_program(registry, def)).ok()?;
    let module: Module = parse(&sources, file, Arc::clone(registry)).module;
    let op: OpId = module.walk(module.root()).find(|&op| module.is(op, def))?;
    describe(&module, op).ok()
}

/// A whole program around the example of an op. An example is a list of items, or ops in the body of a function with some
/// arguments.
pub fn example_program(registry: &Registry, def: &OpDef) -> String {
    let first = def.example.split([' ', '\n']).next().and_then(|word| registry.op(word));
    if first.is_some_and(|def| def.has(Trait::TopLevel) || def.syntax == Syntax::Body) {
        return def.example.to_owned();
    }
    format!(
        "func @example(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %p: tensor<4x8xi1>, %i: tensor<4x8xi32>, %s: \
         tensor<f32>) {{\n{}\nreturn\n}}\n",
        def.example
    )
}

fn values(specs: &[OperandSpec]) -> String {
    let one = |spec: &OperandSpec| {
        let many = if spec.arity == Arity::Variadic { "…" } else { "" };
        format!("{}{many}: {}", spec.name, spec.class.name)
    };
    specs.iter().map(one).collect::<Vec<_>>().join(", ")
}

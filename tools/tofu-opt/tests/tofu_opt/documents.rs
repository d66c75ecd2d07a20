//! What the documentation shows is true.

use std::path::PathBuf;

use tofu_diagnostics::codes;
use tofu_ir::{Control, Trait};
use tofu_opt::Tool;
use tofu_tdl::{BinaryOp, Describe, OpaqueRegistry, TypeClass, UnaryOp, Undescribed};

use crate::support::{Ran, files, root, run};

/// The fenced blocks of a Markdown text in this language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(&opening) {
        rest = &rest[start + opening.len()..];
        let end = rest.find("```").expect("a block is closed");
        blocks.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    blocks
}

fn check(program: &str) -> Ran {
    run(&["-", "--emit=none", "--diagnostics=short"], program.as_bytes())
}

#[test]
fn programs_in_documents_are_right() {
    let mut count = 0;
    for name in ["README.md", "docs/tdl.md", "docs/tir.md"] {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        for program in blocks(&text, "tir") {
            let ran = check(&program);
            assert!(ran.code == 0, "{name}:\n{program}\n{}", ran.log);
            count += 1;
        }
    }
    assert!(count > 0);
}

/// The first program of an explanation has the mistake it explains, and no other; the second has none.
#[test]
fn explanations_show_what_they_explain() {
    let mut count = 0;
    let mut wrongly_shown = Vec::new();
    for code in codes::all() {
        let programs = blocks(code.explanation, "tir");
        let Some(wrong) = programs.first() else { continue };
        let ran = check(wrong);
        let is_shown = !ran.log.is_empty() && ran.log.lines().all(|line| line.contains(code.id));
        // Those of passes and of running a program take more than reading it.
        let takes_more = ["T03", "T06"].iter().any(|family| code.id.starts_with(family));
        if !is_shown && !takes_more {
            wrongly_shown.push(format!("{}:\n{wrong}\n{}", code.id, ran.log));
        }
        for mended in programs.iter().skip(1) {
            let ran = check(mended);
            if !ran.log.is_empty() {
                wrongly_shown.push(format!("{}:\n{mended}\n{}", code.id, ran.log));
            }
        }
        count += 1;
    }
    assert!(wrongly_shown.is_empty(), "{}", wrongly_shown.join("\n"));
    assert!(count > 20, "only {count} explanations have an example");
}

/// Every op has a summary and an example that holds it and reads back.
#[test]
fn ops_are_documented() {
    let registry = Tool::standard("tofu-opt", "0.0.0").registry().unwrap();
    for dialect in registry.dialects() {
        assert!(dialect.ops.is_sorted_by_key(|def| def.name), "the ops of `{}` stand by name", dialect.name);
        for def in dialect.ops {
            assert!(def.summary.ends_with('.'), "{}", def.name);
            let program = tofu_opt::example_program(&registry, def);
            let ran = run(&["-", "--verify-roundtrip", "--diagnostics=short"], program.as_bytes());
            assert!(ran.code == 0, "{}:\n{program}\n{}", def.name, ran.log);
            let mut words = ran.output.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            let is_held = words.any(|word| word == def.name || word == def.written_name());
            assert!(is_held, "the example of `{}` does not hold it:\n{program}", def.name);
        }
    }
}

/// The reference of the description language names every function that there is.
#[test]
fn the_description_language_is_documented() {
    let text = std::fs::read_to_string(root().join("docs/tdl.md")).unwrap();
    let unary = UnaryOp::NAMED.map(UnaryOp::name).into_iter();
    let functions = unary.chain(BinaryOp::CALLS.map(BinaryOp::name)).map(|name| format!("`{name}`"));
    let classes = TypeClass::ALL.map(|class| format!("`{}`", class.name())).into_iter();
    let registry = OpaqueRegistry::builtin();
    let opaque = registry.names().map(|name| format!("\"{name}\"")).collect::<Vec<_>>();
    for name in functions.chain(classes).chain(opaque) {
        assert!(text.contains(&name), "docs/tdl.md does not name {name}");
    }
}

/// Every op on tensors has a description, which the reference shows, or says why it has none.
#[test]
fn ops_are_described() {
    let tool = || Tool::standard("tofu-opt", "0.0.0");
    let reference = tofu_opt::ops_reference(&tool());
    let registry = tool().registry().unwrap();
    let dialects = registry.dialects().iter().filter(|dialect| matches!(dialect.name, "tdl" | "tensor"));
    for def in dialects.flat_map(|dialect| dialect.ops).filter(|def| !def.has(Trait::TopLevel)) {
        let is_described = def.interface::<Describe>().is_some();
        let is_explained = def.interface::<Undescribed>().is_some() || def.interface::<Control>().is_some();
        assert!(is_described != is_explained, "`{}` is described: {is_described}", def.name);
        let section = reference.split(&format!("\n### `{}`\n", def.name)).nth(1).unwrap();
        let section = section.split("\n### ").next().unwrap();
        assert_eq!(section.contains("```text\ntdl @"), is_described, "`{}`:\n{section}", def.name);
        let row = format!("\n| {} | ", def.name);
        assert_eq!(reference.matches(&row).count(), 1, "{row}");
    }
}

/// Every pass has an example that it changes or says something about, and a file of tests that is called after it.
#[test]
fn passes_are_documented() {
    let listed = run(&["--list-passes"], b"").output;
    let files = files(&root().join("testdata"), "tir");
    let reference = std::fs::read_to_string(root().join("docs/passes.md")).unwrap();
    let mut count = 0;
    for name in listed.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| line.split_once("  "))
    {
        let name = name.0;
        let is_tested = |path: &&PathBuf| {
            path.file_name().and_then(|file| file.to_str()).is_some_and(|file| file.starts_with(name))
        };
        assert!(files.iter().any(|path| is_tested(&path)), "no file in testdata is called after `{name}`");
        let section =
            reference.split(&format!("\n## `{name}`\n")).nth(1).expect("the pass is in the reference");
        let section = section.split("\n## ").next().unwrap();
        let example = blocks(section, "tir").remove(0);
        let before = run(&["-"], example.as_bytes());
        let after = run(&["-", &format!("--{name}")], example.as_bytes());
        assert_eq!((before.code, after.code), (0, 0), "{}{}", before.log, after.log);
        let does_something = before.output != after.output || !after.log.is_empty();
        assert!(does_something, "`{name}` does nothing to its example");
        count += 1;
    }
    assert!(count > 0);
}

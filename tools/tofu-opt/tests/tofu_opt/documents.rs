//! What the documentation shows is true.

use std::path::PathBuf;

use tofu_diagnostics::codes;
use tofu_ir::{Syntax, Trait};
use tofu_opt::Tool;

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
    for name in ["README.md", "docs/tir.md"] {
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
        let passes = code.id.starts_with("T03");
        if !is_shown && !passes {
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
            let first = def.example.split([' ', '\n']).next().and_then(|word| registry.op(word));
            let is_item = first.is_some_and(|def| def.has(Trait::TopLevel) || def.syntax == Syntax::Body);
            let program = if is_item { def.example.to_owned() } else { wrapped(def.example) };
            let ran = run(&["-", "--verify-roundtrip", "--diagnostics=short"], program.as_bytes());
            assert!(ran.code == 0, "{}:\n{program}\n{}", def.name, ran.log);
            let mut words = ran.output.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            let is_held = words.any(|word| word == def.name || word == def.written_name());
            assert!(is_held, "the example of `{}` does not hold it:\n{program}", def.name);
        }
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

/// An example of an op in a body, in a function with values of the usual kinds.
fn wrapped(example: &str) -> String {
    format!(
        "func @example(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %p: tensor<4x8xi1>, %i: tensor<4x8xi32>, %s: \
         tensor<f32>) {{\n{example}\nreturn\n}}\n"
    )
}

//! Nothing that can be in a file breaks the parser: no panic, no overflow, no place outside of the text, and no time or
//! memory beyond what its length explains.

use std::path::{Path, PathBuf};

use fastrand::Rng;
use tofu_diagnostics::{Diagnostic, SourceMap};
use tofu_ir::{Compared, digest};
use tofu_syntax::{Parsed, PrintOptions, print};

use crate::dialect::{parse_text, short};
use crate::generate::program;

/// Reads a text and checks what holds for every text.
#[track_caller]
fn read(text: &str) -> (SourceMap, Parsed) {
    let (sources, parsed) = parse_text(text);
    assert!(parsed.diagnostics.len() <= 101, "{} diagnostics", parsed.diagnostics.len());
    for diagnostic in &parsed.diagnostics {
        check_places(text, diagnostic);
    }
    assert!(short(&sources, &parsed.diagnostics).lines().count() == parsed.diagnostics.len());
    (sources, parsed)
}

#[track_caller]
fn check_places(text: &str, diagnostic: &Diagnostic) {
    for label in std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary) {
        // The text is the only one of its source map, which begins at 1.
        let (start, end) = (label.span.start as usize, label.span.end as usize);
        let is_inside = start >= 1
            && start <= end
            && end <= text.len() + 1
            && text.is_char_boundary(start - 1)
            && text.is_char_boundary(end - 1);
        let text: String = text.chars().take(2000).collect();
        assert!(is_inside, "{} at {:?} in\n{text}", diagnostic.message, label.span);
    }
}

/// Reads a text, which must have mistakes of these kinds only.
#[track_caller]
fn refused(text: &str, kinds: &[&str]) {
    let (sources, parsed) = read(text);
    assert!(!parsed.is_ok());
    let unexpected = parsed.diagnostics.iter().find(|found| !kinds.contains(&found.code.id));
    assert!(
        unexpected.is_none(),
        "{}",
        short(&sources, &parsed.diagnostics[..parsed.diagnostics.len().min(5)])
    );
}

/// Reads a text without mistakes, which is printed as one that means the same.
#[track_caller]
fn accepted(text: &str) -> Parsed {
    let (sources, parsed) = read(text);
    assert!(parsed.is_ok(), "{}", short(&sources, &parsed.diagnostics));
    let options = PrintOptions { locations: true, ..PrintOptions::default() };
    let printed = print(&parsed.module, &options);
    let (sources, again) = parse_text(&printed);
    let beginning = || text.chars().take(2000).collect::<String>();
    assert!(again.is_ok(), "{}\n{}", beginning(), short(&sources, &again.diagnostics));
    let compared = Compared { names: true, locations: true };
    let (before, after) = (
        digest(&parsed.module, parsed.module.root(), compared),
        digest(&again.module, again.module.root(), compared),
    );
    assert_eq!(before, after, "{}", beginning());
    parsed
}

// Damaged texts.

/// Short programs and texts with mistakes, one by one or by the item.
fn corpus() -> Vec<String> {
    let mut texts: Vec<String> =
        include_str!("mistakes.tir").split("// -----\n").map(str::to_owned).collect();
    for seed in 0..600 {
        let module = program(seed, seed % 2 == 0);
        let generic = seed % 3 == 0;
        texts.push(print(&module, &PrintOptions { generic, locations: true, elide_constants: None }));
    }
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    for file in files_below(&testdata) {
        if file.extension().is_some_and(|extension| extension == "tir") {
            texts.extend(std::fs::read_to_string(file));
        }
    }
    texts.retain(|text| !text.is_empty() && text.len() < 450);
    texts
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(path) = pending.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => pending.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => files.push(path),
        }
    }
    files.sort();
    files
}

const TOKENS: [&str; 42] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "({",
    "})",
    ", {",
    ",",
    ":",
    "::",
    "=",
    "->",
    "%",
    "%x",
    "%0",
    "^",
    "^a",
    "@",
    "@f",
    "#",
    "#test.list<",
    "\"",
    "\\",
    "//",
    "\n",
    "dense<",
    "tensor<",
    "tuple<",
    "loc(",
    "func",
    "module {",
    "text @t",
    "define @d = [",
    "test.end",
    "x",
    "…",
    "é",
    "\0",
];

fn mutant(rng: &mut Rng, corpus: &[String]) -> String {
    let text = &corpus[rng.usize(0..corpus.len())];
    let mut bytes = text.clone().into_bytes();
    for _ in 0..rng.usize(1..4) {
        let at = rng.usize(0..=bytes.len());
        let end = (at + rng.usize(0..12)).min(bytes.len());
        match rng.u8(0..9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(0..8),
            4 => {
                let other = corpus[rng.usize(0..corpus.len())].as_bytes();
                let from = rng.usize(0..other.len());
                let part = &other[from..(from + rng.usize(0..80)).min(other.len())];
                bytes.splice(at..end, part.iter().copied());
            }
            5 => {
                let noise: Vec<u8> = (0..rng.usize(0..8)).map(|_| rng.u8(..)).collect();
                bytes.splice(at..end, noise);
            }
            _ => {
                let token = TOKENS[rng.usize(0..TOKENS.len())];
                bytes.splice(at..at, token.bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn mutants(seed: u64) {
    let corpus = corpus();
    let mut rng = Rng::with_seed(seed);
    for _ in 0..12_500 {
        let text = mutant(&mut rng, &corpus);
        let (_, parsed) = read(&text);
        if parsed.is_ok() && rng.u8(0..4) == 0 {
            accepted(&text);
        }
    }
}

/// Tests of some thousand mutants each, so that a runner can share them out.
macro_rules! mutant_tests {
    ($($name:ident = $seed:literal;)*) => {$(
        #[test]
        fn $name() {
            mutants($seed);
        }
    )*};
}

mutant_tests! {
    mutants_0 = 0;
    mutants_1 = 1;
    mutants_2 = 2;
    mutants_3 = 3;
    mutants_4 = 4;
    mutants_5 = 5;
    mutants_6 = 6;
    mutants_7 = 7;
}

#[test]
fn noise() {
    let mut rng = Rng::with_seed(0);
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..rng.usize(0..200)).map(|_| rng.u8(..)).collect();
        read(&String::from_utf8_lossy(&bytes));
        let tokens: String = (0..rng.usize(0..30)).map(|_| TOKENS[rng.usize(0..TOKENS.len())]).collect();
        read(&tokens);
    }
}

// Nesting.

const MILLION: usize = 1_000_000;

fn in_function(statement: &str) -> String {
    format!("func @f(%x: f32) {{\n  {statement}\n  test.end\n}}\n")
}

/// Also where the stack is larger than a test's, for as long as it lasts.
fn refused_on_any_stack(text: &str, kinds: &[&str]) {
    refused(text, kinds);
    let text = text.to_owned();
    let kinds: Vec<String> = kinds.iter().map(|&kind| kind.to_owned()).collect();
    let large = std::thread::Builder::new().stack_size(8 << 20).spawn(move || {
        refused(&text, &kinds.iter().map(String::as_str).collect::<Vec<_>>());
    });
    large.unwrap().join().unwrap();
}

const DEEP: &[&str] = &["T0103"];

#[test]
fn deep_attributes() {
    for opener in [
        "[",
        "{k = ",
        "(",
        "#test.list<",
        "tuple<",
        "test.host<",
        "() -> (",
        "(",
        "[{a = (#test.list<",
        "1 x (",
    ] {
        for count in [65, 500, 20_000] {
            let text = in_function(&format!("test.any {{a = {}", opener.repeat(count)));
            refused_on_any_stack(&text, &["T0101", "T0102", "T0103"]);
        }
    }
    for (opener, closer) in [("[", "]"), ("{k = ", "}"), ("(1 x ", ")"), ("#test.list<", ">")] {
        let nested =
            |count: usize| format!("test.any {{a = {}1{}}}", opener.repeat(count), closer.repeat(count));
        accepted(&in_function(&nested(20)));
        refused(&in_function(&nested(70)), DEEP);
        refused_on_any_stack(&in_function(&nested(10_000)), DEEP);
        refused(&in_function(&nested(MILLION)), DEEP);
    }
}

#[test]
fn deep_types() {
    for (opener, closer) in [("tuple<", ">"), ("test.host<", ">"), ("() -> (", ")"), ("(", ") -> ()")] {
        let nested =
            |count: usize| format!("%a = test.any : {}f32{}", opener.repeat(count), closer.repeat(count));
        accepted(&in_function(&nested(60)));
        refused(&in_function(&nested(70)), DEEP);
        refused_on_any_stack(&in_function(&nested(10_000)), DEEP);
        refused(&in_function(&nested(MILLION)), DEEP);
    }
    let arrows = |count| format!("%a = test.any : {}f32", "() -> ".repeat(count));
    accepted(&in_function(&arrows(60)));
    refused_on_any_stack(&in_function(&arrows(MILLION)), DEEP);
}

#[test]
fn deep_locations() {
    for (opener, closer) in [("fused[", "]"), ("\"a\"(", ")"), ("callsite(unknown at ", ")")] {
        let nested =
            |count: usize| format!("test.any loc({}unknown{})", opener.repeat(count), closer.repeat(count));
        accepted(&in_function(&nested(60)));
        refused(&in_function(&nested(70)), DEEP);
        refused_on_any_stack(&in_function(&nested(10_000)), DEEP);
        refused(&in_function(&nested(MILLION)), DEEP);
    }
}

#[test]
fn deep_regions() {
    for (opener, middle, closer) in [
        ("test.region ({\n", "test.end\n", "})\ntest.end\n"),
        ("test.scope {\n", "test.end\n", "}\ntest.end\n"),
        ("test.isolated ({\n", "test.end\n", "})\ntest.end\n"),
    ] {
        let nested =
            |count: usize| in_function(&format!("{}{middle}{}", opener.repeat(count), closer.repeat(count)));
        // An attribute in the innermost region still finds room on the stack.
        let inner = format!("test.any {{a = {}1{}}}\n", "[".repeat(60), "]".repeat(60));
        accepted(&nested(250).replace("  test.end\n}\n", "}\n").replacen(
            "test.end\n",
            &format!("{inner}test.end\n"),
            1,
        ));
        refused_on_any_stack(&nested(300), &["T0102", "T0103", "T0219"]);
        refused(&nested(MILLION), &["T0102", "T0103", "T0219"]);
    }
    refused_on_any_stack(&"module {".repeat(MILLION), &["T0101", "T0102", "T0103"]);
    refused_on_any_stack(&"module {\n".repeat(MILLION), &["T0102", "T0103"]);
    refused_on_any_stack(&"\"builtin.module\"() ({".repeat(MILLION), &["T0102", "T0103"]);
    refused(&"}".repeat(MILLION), &["T0101"]);
    refused(&"}\n".repeat(MILLION), &["T0101"]);
    refused(&in_function(&format!("test.any ({})", vec!["{}"; 70_000].join(", "))), &["T0218"]);
}

#[test]
fn deep_constants() {
    for count in [20_000, MILLION] {
        let text = format!(
            "%a = test.constant dense<{}1.0{}> : tensor<1xf32>",
            "[".repeat(count),
            "]".repeat(count)
        );
        refused_on_any_stack(&in_function(&text), &["T0106"]);
    }
    let rank = 10_000;
    let (opener, closer, dims) = ("[".repeat(rank), "]".repeat(rank), "1x".repeat(rank));
    let text = format!("%a = test.constant dense<{opener}1.0{closer}> : tensor<{dims}f32>");
    let (_, parsed) = read(&in_function(&text));
    drop(parsed);
}

// Size.

#[test]
fn huge_extents() {
    for extent in ["4611686018427387904", "18446744073709551616", "99999999999999999999999999"] {
        refused(&in_function(&format!("%a = test.any : tensor<{extent}xf32>")), &["T0224"]);
        refused(&in_function(&format!("%a = test.constant dense<1.0> : tensor<{extent}xf32>")), &["T0224"]);
    }
    refused(&in_function("%a = test.any : tensor<4294967296x4294967296x4294967296xf32>"), &["T0224"]);
    accepted(&in_function("%a = test.any : tensor<18446744073709551615x0xf32>"));
    accepted(&in_function("%a = test.any : tensor<18446744073709551615x?xf32>"));
    // 2^60 bytes are the most there may be.
    accepted(&in_function("%a = test.constant dense<1.0> : tensor<288230376151711744xf32>"));
    refused(&in_function("%a = test.any : tensor<288230376151711745xf32>"), &["T0224"]);
}

#[test]
fn long_texts() {
    let long = "a".repeat(10 << 20);
    accepted(&in_function(&format!("test.any {{a = \"{long}\"}}")));
    accepted(&format!("// {long}\n{}", in_function("test.any")));
    accepted(&in_function(&format!("test.any {{a = [{}1]}}", "1, ".repeat(1 << 17))));
    accepted(&in_function(&format!(
        "%a = test.constant dense<[{}1]> : tensor<131073xi8>",
        "1, ".repeat(1 << 17)
    )));
    accepted(&in_function(&format!(
        "test.any {{a = dense<\"0x{}\"> : tensor<2097152xi16>}}",
        "01FE".repeat(2 << 20)
    )));
    let name = &long[..1 << 20];
    accepted(&in_function(&format!("%{name} = test.any : f32\n test.any %{name}")));
    accepted(&format!(
        "func @{name}() {{\n  test.call @{name}()\n  test.end [^{name}]\n^{name}:\n  test.end\n}}"
    ));
    accepted(&in_function(&format!("test.any {{test.{name} = tensor<{{{name}}}xf32>}} loc(\"{name}\")")));
    refused(&in_function(&format!("test.any {{{name}}}")), &["T0204"]);
    refused(&in_function(&format!("test.{name}")), &["T0201"]);
    refused(&in_function(&format!("{name}.any")), &["T0202"]);
    refused(&in_function(&format!("test.any %{name}")), &["T0205"]);
    refused(&in_function(&format!("%a = test.any : {name}")), &["T0203"]);
    refused(&in_function(&format!("test.any {{a = {}}}", &"1".repeat(1 << 20))), &["T0105"]);
    refused(&in_function(&format!("test.any {long} {long}")), &["T0101"]);
    refused(&"%x, ".repeat(1 << 18), &["T0101", "T0102"]);
    refused(&"%x ".repeat(1 << 18), &["T0101"]);
    refused(&"func @f() ".repeat(100_000), &["T0101", "T0210"]);
    refused(&"(".repeat(1 << 20), &["T0101"]);
}

#[test]
fn many_of_a_kind() {
    let count = 30_000;
    let many = 100_000;
    refused(&format!("func @f() {{\n{}}}\n", "  test.any {a = }\n".repeat(many)), &["T0101"]);
    refused(&in_function(&"%a = test.any : f32\n".repeat(many)), &["T0101", "T0206"]);
    let undefined: String = (0..count).map(|number| format!("test.any %v{number}\n")).collect();
    refused(&in_function(&undefined), &["T0101", "T0205"]);
    let labels: String = (0..count).map(|number| format!("test.end [^v{number}]\n^w{number}:\n")).collect();
    refused(&in_function(&labels), &["T0101", "T0207"]);
    refused(&"func @f()\n".repeat(many), &["T0101", "T0210"]);
    refused(&"text @f {".repeat(many), &["T0102"]);
    refused(&"text @f {}".repeat(many), &["T0101", "T0210"]);
    refused(&"text @f {\n".repeat(many), &["T0101", "T0102"]);
    let texts: String = (0..many).map(|number| format!("text @f{number} {{\n}}")).collect();
    accepted(&texts);
    let unknown: String = (0..count).map(|number| format!("test.call @g{number}()\n")).collect();
    refused(&in_function(&unknown), &["T0101", "T0209"]);
    let entries: Vec<String> = (0..count).map(|number| format!("test.k{number}")).collect();
    accepted(&in_function(&format!("test.any {{{}}}", entries.join(", "))));
    accepted(&in_function(&format!("test.any {{a = {{{}}}}}", entries.join(", "))));
    refused(&in_function(&format!("test.any {{{}}}", vec!["a"; count].join(", "))), &["T0101", "T0228"]);
    accepted(&in_function(&format!("test.any {}", vec!["%x"; count].join(", "))));
    let results: Vec<String> = (0..count).map(|number| format!("%r{number}")).collect();
    let types = vec!["f32"; count].join(", ");
    accepted(&in_function(&format!("{} = test.any : {types}", results.join(", "))));
    let chain: String =
        (0..count).map(|number| format!("%{} = test.add %{number}, %{number}\n", number + 1)).collect();
    accepted(&format!("func @f(%0: tensor<4xf32>) {{\n{chain}test.end\n}}"));
    // Each op waits for the next one.
    let waiting: String =
        (0..count).map(|number| format!("%{number} = test.add %{}, %{}\n", number + 1, number + 1)).collect();
    refused(
        &format!("func @f() {{\n{waiting}%{count} = test.any : tensor<4xf32>\ntest.end\n}}"),
        &["T0101", "T0221"],
    );
}

#[test]
fn splats_take_no_memory() {
    let parsed = accepted(&in_function("%a = test.constant dense<1.0> : tensor<268435456xf32>"));
    assert!(parsed.is_ok());
    accepted(&in_function("%a = test.constant dense<\"0x0000803F\"> : tensor<268435456xf32>"));
    refused(&in_function("%a = test.constant dense<[1.0]> : tensor<268435456xf32>"), &["T0106"]);
}

// Ends and beginnings.

#[test]
fn unterminated() {
    let beginnings = [
        "func",
        "func @",
        "func @\"",
        "func @f",
        "func @f(",
        "func @f(%x",
        "func @f(%x:",
        "func @f(%x: tensor",
        "func @f(%x: tensor<",
        "func @f(%x: tensor<{",
        "func @f(%x: tensor<{\"n",
        "func @f(%x: f32",
        "func @f() ->",
        "func @f() -> (",
        "func @f() attributes",
        "func @f() attributes {",
        "func @f() {",
        "func @f() { //",
        "func @f() { /",
        "module",
        "module {",
        "module @m attributes {a = \"\\",
        "define",
        "define @a",
        "define @a =",
        "define @a = [",
        "define @a = [1",
        "define @a = [1,",
        "text",
        "text @",
        "text @a",
        "text @a }",
        "text @a {",
        "text @a {{}",
        "text @a { //}",
        "text @a { \"}\"",
    ];
    for text in beginnings {
        let (_, parsed) = read(text);
        assert!(!parsed.is_ok(), "{text}");
        assert!(parsed.diagnostics.len() <= 2, "{text}");
    }
    for end in [
        "%",
        "%a",
        "%a,",
        "%a =",
        "%a = test.any :",
        "\"",
        "\"test.any",
        "\"test.any\"",
        "\"test.any\"(",
        "test.any {",
        "test.any {a",
        "test.any {a =",
        "test.any {a = \"",
        "test.any {a = \"\\",
        "test.any {a = [",
        "test.any {a = #",
        "test.any {a = dense<",
        "test.any {a = dense<\"",
        "test.any {a = dense<1> :",
        "test.any {a = 1 x",
        "test.any {a = @f::",
        "test.any loc(",
        "test.any loc(\"",
        "test.any loc(\"a\":1:",
        "test.any loc(fused[",
        "test.any loc(callsite(unknown at",
        "test.region ({",
        "test.region ({\n}",
        "test.region ({\n},",
        "test.region ({\n}, {",
        "test.end [",
        "test.end [^",
        "test.end [^a(",
        "^",
        "^a",
        "^a(",
        "^a(%x",
        "^a(%x:",
        "test.call",
        "test.call @",
        "test.call @f",
        "test.call @f(",
        "%a = test.constant dense<",
        "test.any %",
    ] {
        let (_, parsed) = read(&format!("func @f() {{\n  {end}"));
        assert!(!parsed.is_ok(), "{end}");
        // The end itself, the open body, and an entry block without a terminator.
        assert!(parsed.diagnostics.len() <= 3, "{end}");
    }
}

#[test]
fn texts_of_little() {
    for text in ["", " ", "\n", "\r\n", "//", "// only a comment", "// one\n// two\n", "\t\u{b}\u{c}"] {
        accepted(text);
    }
    refused("\0", &["T0101"]);
    refused(&in_function("test.any\0"), &["T0101"]);
    accepted(&in_function("test.any {a = \"\0\"}"));
    accepted(&in_function("%a = test.any : f32\n test.any %a").replace('\n', "\r\n"));
    accepted(&format!("\u{feff}{}", in_function("test.any")));
    refused(&in_function("\u{feff}test.any"), &["T0101"]);
}

//! What is printed is read back as the same program, for random programs.

use tofu_ir::{Compared, ElementType, Module, digest, verify};
use tofu_syntax::{PrintOptions, print};

use crate::dialect::{parse_text, short};
use crate::generate::{copied, program};

const ALL: Compared = Compared { names: true, locations: true };
const PRETTY: PrintOptions = PrintOptions { generic: false, locations: true, elide_constants: None };
const GENERIC: PrintOptions = PrintOptions { generic: true, ..PRETTY };

fn read(seed: u64, text: &str) -> Module {
    let (sources, parsed) = parse_text(text);
    assert!(parsed.is_ok(), "seed {seed}\n{}\n{text}", short(&sources, &parsed.diagnostics));
    parsed.module
}

/// The properties of the program of `seed`.
fn check(seed: u64) {
    let plain_names = !seed.is_multiple_of(3);
    let module = program(seed, plain_names);
    let found = verify(&module);
    assert!(found.is_empty(), "seed {seed}: {found:#?}\n{}", print(&module, &PRETTY));
    // Names that a text cannot say, or not twice, are changed by the first printing only.
    let compared = Compared { names: plain_names, locations: true };
    let before = digest(&module, module.root(), compared);
    for options in [PRETTY, GENERIC] {
        let text = print(&module, &options);
        let again = read(seed, &text);
        let differs = digest(&again, again.root(), compared) != before;
        assert!(!differs, "seed {seed}\n{text}\nis read as\n{}", print(&again, &options));
        let printed = print(&again, &options);
        let difference = text.lines().zip(printed.lines()).find(|(first, second)| first != second);
        assert!(printed == text, "seed {seed}\n{text}\nis printed again as\n{printed}\n{difference:#?}");
    }
    let copy = copied(&module);
    assert_eq!(
        digest(&copy, copy.root(), ALL),
        digest(&module, module.root(), ALL),
        "seed {seed}: a copy differs"
    );
}

/// Tests of a thousand seeds each, so that a runner can share them out.
macro_rules! thousands {
    ($($name:ident = $first:literal;)*) => {$(
        #[test]
        fn $name() {
            ($first..$first + 1000).for_each(check);
        }
    )*};
}

thousands! {
    programs_0 = 0;
    programs_1 = 1000;
    programs_2 = 2000;
    programs_3 = 3000;
    programs_4 = 4000;
    programs_5 = 5000;
    programs_6 = 6000;
    programs_7 = 7000;
    programs_8 = 8000;
    programs_9 = 9000;
}

#[test]
fn every_form_occurs() {
    let texts: Vec<String> = (0..1000).map(|seed| print(&program(seed, true), &PRETTY)).collect();
    let all = texts.concat();
    let forms = [
        "func @",
        "\"test.func\"(",
        " attributes {",
        "test.constant dense<",
        "\"test.constant\"(",
        "test.call @",
        "::@",
        "test.scope {",
        "test.scope @",
        "\"test.scope\"(",
        "test.table @",
        "module @",
        "define @",
        "\"test.define\"(",
        "test.text",
        "text @",
        "test.two_regions",
        "test.isolated",
        "test.split",
        "test.add",
        "({\n",
        "  ^next",
        " = [] x ",
        "#test.list<",
        "test.host<",
        "tuple<",
        ") -> (",
        "token",
        "{\"",
        "x?x",
        "dense<>",
        "dense<\"0x",
        "dense<(",
        "dense<[[",
        "dense<true>",
        "0x7F",
        "-0.0",
        "loc(fused[",
        "loc(callsite(",
        "unknown",
        "9223372036854775807",
        "-128 : i8",
        "unit",
        "@\"",
    ];
    for form in forms {
        assert!(all.contains(form), "no program has {form}");
    }
    for element in ElementType::ALL {
        assert!(all.contains(&format!("x{element}>")), "no tensor of {element}");
    }
}

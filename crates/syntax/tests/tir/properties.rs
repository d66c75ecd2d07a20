//! What is printed is read back as the same program, for random programs.

use tofu_ir::{Compared, Module, digest_module, verify};
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
    let digest = digest_module(&module, compared);
    for options in [PRETTY, GENERIC] {
        let text = print(&module, &options);
        let again = read(seed, &text);
        let differs = digest_module(&again, compared) != digest;
        assert!(!differs, "seed {seed}\n{text}\nis read as\n{}", print(&again, &options));
        let printed = print(&again, &options);
        let difference = text.lines().zip(printed.lines()).find(|(first, second)| first != second);
        assert!(printed == text, "seed {seed}\n{text}\nis printed again as\n{printed}\n{difference:#?}");
    }
    let copy = copied(&module);
    assert_eq!(digest_module(&copy, ALL), digest_module(&module, ALL), "seed {seed}: a copy differs");
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

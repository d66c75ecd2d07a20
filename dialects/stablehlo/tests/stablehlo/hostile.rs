//! Whatever the text, reading ends, with a program or with what is wrong.

use tofu_dialect_stablehlo::ReadOptions;

use crate::support::{parse, testdata, text};

const FILES: [&str; 11] = [
    "aliases.mlir",
    "attributes.mlir",
    "collectives.mlir",
    "constants.mlir",
    "earlier.mlir",
    "expectations.mlir",
    "generic.mlir",
    "opaque.mlir",
    "ops.mlir",
    "shardings.mlir",
    "signatures.mlir",
];

fn options() -> [ReadOptions; 2] {
    [false, true].map(|allow_unregistered| ReadOptions { allow_unregistered })
}

/// Texts with pieces left out, doubled, exchanged or cut off.
#[test]
fn damaged_texts_are_read_to_an_end() {
    for (seed, name) in (0..).zip(FILES) {
        let original = text(&testdata().join("stablehlo").join(name));
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..150 {
            let mut damaged: Vec<char> = original.chars().collect();
            // A part, so that much is tried in little time.
            let start = rng.usize(0..damaged.len());
            let end = (start + 3000).min(damaged.len());
            damaged = damaged[start..end].to_vec();
            for _ in 0..rng.usize(1..6) {
                let at = rng.usize(0..damaged.len().max(1));
                let length = rng.usize(1..20).min(damaged.len() - at.min(damaged.len()));
                match rng.u8(0..4) {
                    0 => drop(damaged.drain(at..at + length)),
                    1 => {
                        let piece: Vec<char> = damaged[at..at + length].to_vec();
                        damaged.splice(at..at, piece);
                    }
                    2 => damaged.insert(
                        at,
                        *rng.choice(&['(', ')', '{', '}', '<', '>', '"', '#', '%', '\n', 'é', '0']).unwrap(),
                    ),
                    _ => damaged.truncate(at.max(1)),
                }
                if damaged.is_empty() {
                    break;
                }
            }
            let damaged: String = damaged.into_iter().collect();
            for options in options() {
                parse(&damaged, options);
            }
        }
    }
}

/// Every prefix of a file.
#[test]
fn texts_may_end_anywhere() {
    for name in FILES {
        let text = text(&testdata().join("stablehlo").join(name));
        for end in (0..text.len()).step_by(37).filter(|&end| text.is_char_boundary(end)) {
            parse(&text[..end], ReadOptions::default());
        }
    }
}

#[test]
fn nesting_has_an_end() {
    let deep = 20_000;
    let texts = [
        format!("module attributes {{mhlo.x = {}", "[".repeat(deep)),
        format!("module attributes {{mhlo.x = {}", "{a = ".repeat(deep)),
        format!("func.func @f(%x: {}", "tuple<".repeat(deep)),
        format!("func.func @f(%x: {}", "(".repeat(deep)),
        "\"other.op\"() ({ ".repeat(deep),
        "module {\n".repeat(deep),
        format!("%0 = stablehlo.constant dense<{}> : tensor<1xf32>", "[".repeat(deep)),
        format!("return loc({}", "callsite(".repeat(deep)),
        format!("return loc({}", "\"a\"(".repeat(deep)),
        (0..deep).map(|n| format!("#a{n} = [#a{}]\n", n + 1)).collect(),
        (0..deep).map(|n| format!("#a{n} = loc(\"x\"(#a{}))\n", n + 1)).collect(),
        format!("func.func @f(%x: !x.y{})", "<".repeat(deep)),
        format!("module attributes {{a = #x.y{}}}", "<(".repeat(deep)),
        format!("%1 = sdy.all_gather [{} %0 out_sharding=<@m, []> : tensor<f32>", "{".repeat(deep)),
        format!(
            "%1 = sdy.all_to_all [{} %0 out_sharding=<@m, []> : tensor<f32>",
            "{\"x\"}: 0->9223372036854775807, ".repeat(deep)
        ),
        format!("check.expect_eq_const %0, {}", "[".repeat(deep)),
        "check.expect_close %0, max_ulp_difference = 99999999999999999999 : tensor<f32>".to_owned(),
        "%0:4294967295 = \"other.op\"() : () -> ()".to_owned(),
        "\u{0}".repeat(deep),
        "^".repeat(deep),
        "}\n".repeat(deep),
    ];
    for text in texts {
        for options in options() {
            let parsed = parse(&text, options);
            assert!(!parsed.is_ok(), "{}…", text.chars().take(60).collect::<String>());
        }
    }
}

/// A long list of aliases that each use the one before is read in their order, however long.
#[test]
fn chains_of_aliases_are_no_nesting() {
    let mut text = "#a0 = loc(\"x\")\n".to_owned();
    for number in 1..1000 {
        text += &format!("#a{number} = loc(fused[#a{}, \"y\"])\n", number - 1);
    }
    text += "func.func @f() {\n  return loc(#a999)\n}\n";
    assert!(parse(&text, ReadOptions::default()).is_ok());
}

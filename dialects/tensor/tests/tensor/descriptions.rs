//! Every op says what it computes, or why it does not.

use tofu_dialect_tensor::DIALECT;
use tofu_ir::{Control, Syntax};
use tofu_tdl::{Describe, OpaqueRegistry, Undescribed, describe, parse};

use crate::support::*;

/// The example of an op in a function with values of the usual kinds.
fn example(text: &str) -> String {
    if text.starts_with("func") {
        return text.to_owned();
    }
    format!(
        "func @example(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %p: tensor<4x8xi1>, %i: tensor<4x8xi32>, %s: \
         tensor<f32>) {{\n{text}\nreturn\n}}\n"
    )
}

#[test]
fn examples_are_right_and_described() {
    let mut failures = Vec::new();
    for def in DIALECT.ops {
        assert!(!matches!(def.syntax, Syntax::Function));
        let program = example(def.example);
        let module = match read(&program) {
            Ok(module) => module,
            Err(found) => {
                failures.push(format!("{}:\n{program}\n{}", def.name, found.join("\n")));
                continue;
            }
        };
        let op = ops_of(&module, def.name)[0];
        if def.interface::<Describe>().is_none() {
            continue;
        }
        match describe(&module, op) {
            Ok(description) => {
                let text = description.to_string();
                match parse(&text, 1, &OpaqueRegistry::builtin()) {
                    Ok(again) if again == description => {}
                    Ok(again) => failures.push(format!("{text}\nreads back as\n{again}")),
                    Err(errors) => {
                        failures.push(format!("{text}\n{}: {}", errors[0].code.id, errors[0].message))
                    }
                }
            }
            Err(error) => failures.push(format!("{}: {}", def.name, error.message)),
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n---\n"));
}

#[test]
fn each_op_has_one_meaning() {
    for def in DIALECT.ops {
        let meanings = [
            def.interface::<Describe>().is_some(),
            def.interface::<Undescribed>().is_some(),
            def.interface::<Control>().is_some(),
        ];
        assert_eq!(meanings.iter().filter(|has| **has).count(), 1, "{}", def.name);
    }
}

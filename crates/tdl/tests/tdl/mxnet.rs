//! The operators of MXNet in the language of this crate. The Tofu paper could describe 134 of the 139 that it counts.
//!
//! `testdata/tdl/mxnet` holds their descriptions; what stands below each ([`corpus`]) is checked here, and
//! `docs/mxnet.md` is written from it. `TOFU_BLESS=1` writes both anew.

mod corpus;
mod functions;
mod report;

use tofu_ir::ElementType::{F64, Ui64};
use tofu_tdl::{Tensor, evaluate, parse, strategies};
use tofu_tdl_testing::Whole;

use corpus::Entry;

/// Runs a check on every description, and fails with all that is wrong.
fn check_all(check: impl Fn(&Entry) -> Result<(), String>) {
    let entries = corpus::entries();
    let failures: Vec<String> = entries
        .iter()
        .filter_map(|entry| {
            check(entry).err().map(|error| format!("{}: @{}: {error}", entry.file, entry.name))
        })
        .collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n---\n"));
}

#[test]
fn descriptions_print_as_they_read() {
    check_all(|entry| {
        let description = entry.description()?;
        let text = description.to_string();
        match parse(&text, 1, &functions::registry()) {
            Ok(again) if again == description => Ok(()),
            Ok(again) => Err(format!("{text}reads as\n{again}")),
            Err(errors) => Err(format!("{text}is not read: {}", errors[0].message)),
        }
    });
}

#[test]
fn strategies_are_those_below_the_descriptions() {
    if corpus::bless() {
        corpus::rewrite();
    }
    check_all(|entry| {
        let found = entry.strategies()?;
        if found == entry.splits {
            return Ok(());
        }
        Err(format!("TOFU_BLESS=1 accepts\n{}\nfor\n{}", found.join("\n"), entry.splits.join("\n")))
    });
}

#[test]
fn examples_give_what_mxnet_gives() {
    check_all(|entry| {
        let (given, gives) = match (&entry.given, &entry.gives) {
            (Some(given), Some(gives)) => (given, gives),
            (None, None) => return Ok(()),
            _ => return Err("`given` and `gives` belong together".to_owned()),
        };
        let description = entry.description()?;
        let operands: Vec<Tensor> = given
            .iter()
            .zip(description.parameters())
            .map(|(value, parameter)| value.tensor(corpus::element(parameter.ty, F64)))
            .collect();
        let results = evaluate(&description, &operands, &functions::registry()).map_err(|e| e.to_string())?;
        for (number, (result, expected)) in results.iter().zip(gives).enumerate() {
            expected.compare(result).map_err(|error| format!("result {number}: {error}"))?;
        }
        if results.len() == gives.len() { Ok(()) } else { Err("the number of results differs".to_owned()) }
    });
}

#[test]
fn shares_put_together_are_the_whole() {
    let registry = functions::registry();
    check_all(|entry| {
        let description = entry.description()?;
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..3 {
            let (extents, operands) = entry.draw(&description, &mut random)?;
            let whole = Whole::run(&description, &registry, &extents, &operands)?;
            for strategy in strategies(&description) {
                for workers in [2, 3, 4, 8] {
                    whole.compare(&strategy, workers, &|_| {}).map_err(|error| {
                        let line = strategy.text(&description);
                        format!("{line}\n{workers} workers, extents {extents:?}\n{error}")
                    })?;
                }
            }
        }
        Ok(())
    });
}

/// The numbers that are drawn are MXNet's no more than in distribution; so are the mean and the variance.
#[test]
fn random_numbers_are_distributed_as_they_should() {
    let expected: [(&str, &[f64], f64, f64); 7] = [
        ("uniform", &[-1.0, 2.0], 0.5, 0.75),
        ("normal", &[1.0, 2.0], 1.0, 4.0),
        ("exponential", &[2.0], 0.5, 0.25),
        ("gamma", &[2.0, 0.5], 1.0, 0.5),
        ("poisson", &[3.0], 3.0, 3.0),
        ("negative_binomial", &[3.0, 0.5], 3.0, 6.0),
        ("generalized_negative_binomial", &[2.0, 0.5], 2.0, 4.0),
    ];
    const ROWS: usize = 2000;
    let entries = corpus::entries();
    for (name, parameters, mean, variance) in expected {
        let entry = entries.iter().find(|entry| entry.name == format!("sample_{name}")).unwrap();
        let mut operands: Vec<Tensor> = parameters
            .iter()
            .map(|&parameter| Tensor::from_numbers(F64, &[ROWS as u64], &[parameter; ROWS]).unwrap())
            .collect();
        operands.push(Tensor::from_numbers(Ui64, &[], &[42.0]).unwrap());
        let results = evaluate(&entry.description().unwrap(), &operands, &functions::registry()).unwrap();
        let numbers = results[0].numbers();
        let count = numbers.len() as f64;
        let found = numbers.iter().sum::<f64>() / count;
        let spread = numbers.iter().map(|number| (number - found).powi(2)).sum::<f64>() / count;
        assert!((found - mean).abs() < 4.0 * (variance / count).sqrt(), "{name}: the mean is {found}");
        assert!((spread / variance - 1.0).abs() < 0.1, "{name}: the variance is {spread}");
    }
}

#[test]
fn the_document_is_fresh() {
    report::check();
}

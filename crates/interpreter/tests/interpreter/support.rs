//! Helpers.

use std::sync::Arc;

use fastrand::Rng;
use tofu_diagnostics::SourceMap;
use tofu_interpreter::{Interpreter, Kernel, entry};
use tofu_ir::{ElementKind, ElementType, Module, Registry, TensorType};
use tofu_tdl::{Description, OpaqueRegistry, Tensor, evaluate, parse};

/// The description that this text says; it must be right.
pub(crate) fn read(text: &str) -> Description {
    parse(text, 1, &OpaqueRegistry::builtin()).unwrap_or_else(|errors| {
        let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        panic!("{}\n{text}", messages.join("\n"))
    })
}

/// A tensor of small numbers, every eighth of which is something special if that is wanted.
pub(crate) fn draw(element: ElementType, dims: &[u64], special: bool, random: &mut Rng) -> Tensor {
    let mut tensor = Tensor::zeros(element, dims).unwrap();
    let part = |random: &mut Rng| {
        let specials =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e-40, 3e38, f64::MIN_POSITIVE];
        match special && random.u8(..8) == 0 {
            true => specials[random.usize(..specials.len())],
            false => f64::from(random.i16(-40..=40)) / 8.0,
        }
    };
    for index in 0..tensor.len() {
        match element.kind() {
            ElementKind::Complex => tensor.set_complex(index, part(random), part(random)),
            ElementKind::Float => tensor.set_number(index, part(random)),
            _ if special && random.u8(..4) == 0 => tensor.set_integer(index, i128::from(random.i64(..))),
            _ => tensor.set_integer(index, i128::from(random.i8(-9..=9))),
        }
    }
    tensor
}

/// The kernel of a description for these operands.
pub(crate) fn kernel(description: &Description, operands: &[Tensor]) -> Kernel {
    let types: Vec<TensorType> = operands.iter().map(Tensor::ty).collect();
    Kernel::new(description, &types, &OpaqueRegistry::builtin()).unwrap()
}

/// What the kernel of a description gives.
pub(crate) fn run(description: &Description, operands: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let kernel = kernel(description, operands);
    let dims = |ty: &TensorType| -> Vec<u64> { ty.dims.iter().map(|dim| dim.size().unwrap()).collect() };
    let zeros = |ty: &TensorType| Tensor::zeros(ty.element, &dims(ty)).unwrap().bytes().to_vec();
    let mut results: Vec<Vec<u8>> = kernel.results().iter().map(zeros).collect();
    let operands: Vec<&[u8]> = operands.iter().map(Tensor::bytes).collect();
    let mut slices: Vec<&mut [u8]> = results.iter_mut().map(Vec::as_mut_slice).collect();
    kernel.run(&operands, &mut slices).map_err(|error| error.to_string())?;
    let tensor =
        |(ty, bytes): (&TensorType, Vec<u8>)| Tensor::from_bytes(ty.element, &dims(ty), bytes).unwrap();
    Ok(kernel.results().iter().zip(results).map(tensor).collect())
}

/// A kernel gives what the evaluator gives: the same bits, or NaN in both.
pub(crate) fn check(description: &Description, operands: &[Tensor]) {
    let expected =
        evaluate(description, operands, &OpaqueRegistry::builtin()).map_err(|error| error.to_string());
    let actual = run(description, operands);
    let (expected, actual) = match (expected, actual) {
        (Ok(expected), Ok(actual)) => (expected, actual),
        (expected, actual) => {
            // Which of several wrong elements is found first depends on the order.
            let kind = |error: Option<String>| {
                error.map(|error| error.split(" dimension ").next().map(str::to_owned))
            };
            assert_eq!(kind(expected.err()), kind(actual.err()), "{description}");
            return;
        }
    };
    assert_eq!(expected.len(), actual.len());
    for (expected, actual) in expected.iter().zip(&actual) {
        assert_eq!(expected.ty(), actual.ty());
        let size = expected.element().storage_bytes();
        let elements = expected.bytes().chunks_exact(size).zip(actual.bytes().chunks_exact(size));
        for (index, (a, b)) in elements.enumerate() {
            let (x, y) = (expected.complex_at(index), actual.complex_at(index));
            let parts = [(x.0, y.0), (x.1, y.1)];
            let same = a == b
                || expected.element().part().is_float()
                    && parts.iter().all(|(x, y)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan());
            let shapes: Vec<&[u64]> = operands.iter().map(Tensor::dims).collect();
            assert!(same, "element {index} is {y:?} instead of {x:?}, for {shapes:?} of\n{description}");
        }
    }
}

/// Ops that no dialect has.
mod ops {
    use tofu_diagnostics::codes;
    use tofu_ir::{Dialect, OpDef, any, op};
    use tofu_tdl::{Describe, OpaqueRegistry, Undescribed, parse};

    static PICK: OpDef = op("test.pick")
        .operands(&[any("x"), any("at")])
        .results(&[any("result")])
        .interfaces(&[&Describe(|module, op| {
            let text = "tdl @pick(x: [N], at: i32[M]) -> [M] { out[i] = x[at[i]] }";
            parse(text, 1, &OpaqueRegistry::builtin())
                .map_err(|_| module.error(op, &codes::TDL_TYPE, "it cannot be described"))
        })]);
    static ELSEWHERE: OpDef = op("test.elsewhere")
        .operands(&[any("x")])
        .results(&[any("result")])
        .interfaces(&[&Undescribed("it depends on other devices")]);
    static UNKNOWN: OpDef = op("test.unknown").operands(&[any("x")]).results(&[any("result")]);

    pub(super) static DIALECT: Dialect = Dialect {
        name: "test",
        summary: "For tests.",
        ops: &[&ELSEWHERE, &PICK, &UNKNOWN],
        types: &[],
        attributes: &[],
        constant: None,
    };
}

/// The program that a text says; it must be right.
pub(crate) fn program(text: &str) -> (SourceMap, Module) {
    let dialects = [&tofu_dialect_func::DIALECT, &tofu_dialect_tensor::DIALECT, &ops::DIALECT];
    let registry = Arc::new(Registry::new(&dialects).unwrap());
    let mut sources = SourceMap::new();
    let file = sources.add("test.tir", text).unwrap();
    let parsed = tofu_syntax::parse(&sources, file, registry);
    let messages: Vec<&str> = parsed.diagnostics.iter().map(|found| found.message.as_str()).collect();
    assert!(parsed.is_ok(), "{messages:?}\n{text}");
    (sources, parsed.module)
}

/// Runs the main function; of a diagnostic its code, the text at its place, the message and the notes.
pub(crate) fn run_program(text: &str, arguments: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let (sources, module) = program(text);
    let run = |function| Interpreter::new(&module, &OpaqueRegistry::builtin()).run(function, arguments);
    entry(&module, None).and_then(run).map_err(|error| {
        let place = sources.text(error.primary.span);
        [vec![format!("{} at `{place}`: {}", error.code.id, error.message)], error.notes].concat().join("\n")
    })
}

/// A tensor of numbers.
pub(crate) fn tensor(element: ElementType, dims: &[u64], numbers: &[f64]) -> Tensor {
    Tensor::from_numbers(element, dims, numbers).unwrap()
}

//! Small programs compute what JAX computed: nearly one for each op and each element type that JAX has on the CPU, and with
//! odd attributes. The values are stored; `cargo xtask test` checks that they are what JAX gives today.
//!
//! Integers and truth values must be equal. A float may be a few units in the last place off: XLA approximates functions
//! in the type's own precision or, for types narrower than single precision, in that; this interpreter computes in
//! double precision and rounds once. Programs that need more say so, and why.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_diagnostics::SourceMap;
use tofu_dialect_tensor::express;
use tofu_equivalence::{Tolerance, difference};
use tofu_interpreter::{Interpreter, entry, signature, tensor_type};
use tofu_ir::{ElementType, Module, OpId, Registry, ValueId, verify};
use tofu_opt::{Log, Streams, Tool, read_program};
use tofu_run::{Archive, tensor};
use tofu_tdl::{Describe, OpaqueRegistry, Tensor, describe, solve_op, uniform};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/inputs/values").join(name)
}

/// What the comments at the head of a program say.
struct Head<'t> {
    name: &'t str,
    is_stored: bool,
    /// How many units in the last place of 1 a float may be off, if that is said.
    rounding: Option<f64>,
}

impl Head<'_> {
    fn of(program: &str) -> Head<'_> {
        let mut lines = program.lines().map_while(|line| line.strip_prefix("// "));
        let mut head = Head { name: lines.next().unwrap(), is_stored: true, rounding: None };
        for line in lines {
            match line.split_once(": ").unwrap() {
                ("not stored", _) => head.is_stored = false,
                ("rounding", text) => {
                    let (ulps, _reason) = text.split_once(", ").unwrap();
                    head.rounding = Some(ulps.parse().unwrap());
                }
                (other, _) => panic!("{}: `{other}` is not known", head.name),
            }
        }
        head
    }

    /// How far a result of these elements may be off.
    fn tolerance(&self, element: ElementType) -> Tolerance {
        let part = element.part();
        let Some(unit) = unit(part) else { return Tolerance { relative: 0.0, absolute: 0.0 } };
        let is_narrow = !matches!(part, ElementType::F32 | ElementType::F64);
        // XLA counts what is smaller than the smallest normal number as zero.
        let smallest = match part {
            ElementType::F64 => f64::MIN_POSITIVE,
            ElementType::F32 | ElementType::BF16 => f64::from(f32::MIN_POSITIVE),
            _ => 0.0,
        };
        match self.rounding {
            Some(ulps) => Tolerance { relative: ulps * unit, absolute: ulps * unit },
            None if is_narrow => Tolerance { relative: unit, absolute: smallest },
            None => Tolerance { relative: 8.0 * unit, absolute: smallest },
        }
    }
}

/// The distance from 1 to the next larger number of a floating-point type.
fn unit(element: ElementType) -> Option<f64> {
    if !element.is_float() {
        return None;
    }
    let is_number = |value: f64| {
        let nearest = Tensor::from_numbers(element, &[1], &[value]).unwrap().number(0);
        value > 1.0 && nearest == value
    };
    let halves = std::iter::successors(Some(1.0), |unit| Some(unit / 2.0));
    halves.take_while(|unit| is_number(1.0 + unit)).last()
}

/// Runs a program on what is stored, and says what is wrong.
fn check(program: &str, head: &Head<'_>, values: &Archive, registry: &Arc<Registry>) -> Vec<String> {
    match read(program, registry) {
        Ok(module) => check_module(&module, head, values),
        Err(found) => found,
    }
}

fn read(program: &str, registry: &Arc<Registry>) -> Result<Module, Vec<String>> {
    let mut sources = SourceMap::new();
    let read = read_program(Path::new("-"), &mut program.as_bytes(), &mut sources, registry, None);
    read.map(|(module, _)| module)
        .map_err(|(found, _)| found.into_iter().map(|found| found.message).collect())
}

fn check_module(module: &Module, head: &Head<'_>, values: &Archive) -> Vec<String> {
    let function = entry(module, None).unwrap();
    let ty = signature(module, function).unwrap();
    let stored = |kind: &str, number: usize| values.get(&format!("{}/{kind}{number}", head.name));
    let inputs = ty.inputs.iter().enumerate().map(|(number, &ty)| {
        let array = stored("arg", number).ok_or_else(|| format!("argument {number} is not stored"))?;
        tensor(array, &tensor_type(module, ty).unwrap())
    });
    let inputs: Vec<Tensor> = match inputs.collect() {
        Ok(inputs) => inputs,
        Err(message) => return vec![message],
    };
    let results = match Interpreter::new(module, &OpaqueRegistry::builtin()).run(function, &inputs) {
        Ok(results) => results,
        Err(error) => return vec![error.message],
    };
    let mut wrong = Vec::new();
    for (number, result) in results.iter().enumerate() {
        let name = format!("result {number} of {}", result.element());
        let expected = stored("res", number).ok_or_else(|| "it is not stored".to_owned());
        match expected.and_then(|array| tensor(array, &result.ty())) {
            Ok(expected) => {
                wrong.extend(difference(&name, result, &expected, head.tolerance(result.element())));
            }
            Err(message) => wrong.push(format!("{name}: {message}")),
        }
    }
    if stored("res", results.len()).is_some() {
        wrong.push("more results are stored".to_owned());
    }
    wrong
}

/// Puts what `express` finds in the place of every op that has a description. How many there were, and how many it found ops for.
fn express_all(module: &mut Module) -> (usize, usize) {
    let described = |module: &Module, op: OpId| module.def(op).interface::<Describe>().is_some();
    let ops: Vec<OpId> = module.walk(module.root()).filter(|&op| described(module, op)).collect();
    let (mut all, mut found) = (0, 0);
    for op in ops {
        if module.ancestors(op).skip(1).any(|around| described(module, around)) {
            continue;
        }
        let Ok(description) = describe(module, op) else { continue };
        let extents = solve_op(module, op, &description).ok().and_then(|solution| solution.static_extents());
        let Some(extents) = extents else { continue };
        let fixed = uniform(&description, &extents, &[], &|_, _| None).unwrap().description;
        all += 1;
        let operands: Vec<ValueId> = module.operands(op).collect();
        let Some(results) = express(module, (op, op), &fixed, &operands) else { continue };
        found += 1;
        let types = |values: &[ValueId]| values.iter().map(|&value| module.ty(value)).collect::<Vec<_>>();
        assert_eq!(types(&results), types(&module.results(op).collect::<Vec<_>>()), "{fixed}");
        module.replace(op, &results);
    }
    (all, found)
}

/// Every description is what the ops compute that are found for it.
#[test]
fn ops_found_for_descriptions_compute_what_those_say() {
    let mut text = String::new();
    let bytes = std::fs::read(data("jax.mlir.gz")).unwrap();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    let values = Archive::parse(&std::fs::read(data("jax.npz")).unwrap()).unwrap();
    let registry = Arc::new(Tool::standard("test", "").registry().unwrap());
    let (mut all, mut found, mut wrong) = (0, 0, Vec::new());
    for program in text.split(SEPARATOR) {
        let head = Head::of(program);
        if !head.is_stored {
            continue;
        }
        let mut module = read(program, &registry).unwrap();
        let (described, expressed) = express_all(&mut module);
        all += described;
        found += expressed;
        let broken = verify(&module).into_iter().map(|found| found.message);
        wrong.extend(broken.map(|found| format!("{}: {found}", head.name)));
        let differs = check_module(&module, &head, &values);
        wrong.extend(differs.into_iter().map(|found| format!("{}: {found}", head.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Algorithms that descriptions do not say, and bits of other widths, have no ops.
    assert!(found * 100 >= all * 90, "only {found} of {all} ops have others that compute the same");
}

/// Checks all programs of a text, and all after they were simplified.
fn check_all(text: &str, values: &str, fewest: usize) {
    let values = Archive::parse(&std::fs::read(data(values)).unwrap()).unwrap();
    let registry = Arc::new(Tool::standard("test", "").registry().unwrap());
    let mut wrong = Vec::new();
    let mut count = 0;
    let simplified = simplified(text);
    assert_eq!(text.split(SEPARATOR).count(), simplified.split(SEPARATOR).count());
    for (program, simplified) in text.split(SEPARATOR).zip(simplified.split(SEPARATOR)) {
        let head = Head::of(program);
        if !head.is_stored {
            continue;
        }
        count += 1;
        count += 1;
        for (how, program) in [("", program), (", simplified", simplified)] {
            let found = check(program, &head, &values, &registry);
            wrong.extend(found.into_iter().map(|found| format!("{}{how}: {found}", head.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= fewest, "only {count} programs have values");
}

const SEPARATOR: &str = "// -----\n";

/// Programs after `--simplify`.
fn simplified(text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("simplified.tir");
    let output = format!("-o{}", path.display());
    let arguments = ["test", "-", "--split-input-file", "--simplify", &output].map(Into::into);
    let streams = Streams {
        cancellation: Default::default(),
        input: Box::new(std::io::Cursor::new(text.to_owned())),
        output: Box::new(std::io::sink()),
        log: Log::new(std::io::stderr()),
        log_is_terminal: false,
    };
    assert_eq!(Tool::standard("test", "").run(arguments, streams), 0);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn programs_that_jax_prints() {
    let mut text = String::new();
    let bytes = std::fs::read(data("jax.mlir.gz")).unwrap();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    check_all(&text, "jax.npz", 500);
}

#[test]
fn programs_that_jax_does_not_print() {
    check_all(&std::fs::read_to_string(data("written.mlir")).unwrap(), "written.npz", 1);
}

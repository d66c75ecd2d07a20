//! The small programs that compute what JAX computed, nearly one for each op: with random shardings on random meshes they give
//! what they give unsplit, and send what their plan says.
//!
//! `TOFU_ROUNDS=100` tries each with so many shardings, `TOFU_SEED=7` only with that one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use support::{mesh, shard};
use tofu_diagnostics::{Diagnostic, SourceMap};
use tofu_dialect_dist::spmd;
use tofu_equivalence::{Tolerance, difference, run_together, unplanned};
use tofu_interpreter::{Interpreter, entry, signature, tensor_type};
use tofu_ir::{Registry, verify};
use tofu_machine::Machines;
use tofu_opt::{Tool, read_program};
use tofu_pass::{PassManager, Session};
use tofu_pass_communicate::{Inserting, insert, sent_in_program};
use tofu_pass_inline::Inline;
use tofu_run::{Archive, tensor};
use tofu_syntax::{PrintOptions, print};
use tofu_tdl::{Descriptions, OpaqueRegistry, Tensor};

mod support;

const ROUNDS: u64 = 1;

const SEPARATOR: &str = "// -----\n";

/// What of a program can be split.
enum Done {
    Split,
    /// It has no shardings, cannot be run, or is refused with a reason.
    Not,
}

/// What may stand in the way of a program: the code, and what the message says. That shares cannot be said, for one, is a fault of ours.
const REFUSALS: [(&str, &str); 3] = [
    // Composites, which are not inlined.
    ("T0801", "a call cannot be partitioned"),
    // Shardings are drawn value by value, also for those that an op only hands on.
    ("T0806", "this is the same tensor in another place, where it lies otherwise"),
    ("T0806", "`tensor.tuple` cannot be written for each device"),
];

fn is_expected(error: &Diagnostic) -> bool {
    REFUSALS.iter().any(|(code, message)| error.code.id == *code && error.message.contains(message))
}

fn check(
    program: &str,
    name: &str,
    values: &Archive,
    registry: &Arc<Registry>,
    seed: u64,
) -> Result<Done, String> {
    let mut sources = SourceMap::new();
    let read = read_program(Path::new("-"), &mut program.as_bytes(), &mut sources, registry, None);
    let Ok((mut module, _)) = read else { return Ok(Done::Not) };
    let inlined = PassManager::new().add(Inline::default()).run(&mut module, &Session::default(), &mut []);
    if inlined.failed() {
        return Ok(Done::Not);
    }
    let function = entry(&module, None).map_err(|error| error.message)?;
    let ty = signature(&module, function).unwrap().clone();
    let inputs = ty.inputs.iter().enumerate().map(|(number, &ty)| {
        let array = values.get(&format!("{name}/arg{number}"))?;
        tensor(array, &tensor_type(&module, ty)?).ok()
    });
    let Some(inputs) = inputs.collect::<Option<Vec<Tensor>>>() else { return Ok(Done::Not) };
    let Ok(single) = Interpreter::new(&module, &OpaqueRegistry::builtin()).run(function, &inputs) else {
        return Ok(Done::Not);
    };
    let mut random = Rng::with_seed(seed);
    let mesh = mesh(&mut random);
    shard(&mut module, function, &mesh, &mut random);
    let before = print(&module, &PrintOptions::default());
    let machine = Machines::default().default_machine().clone();
    let exchanges =
        match insert(&mut module, function, &Descriptions::new(), &Inserting::for_machine(machine)) {
            Ok(Some(exchanges)) => exchanges,
            Ok(None) => return Ok(Done::Not),
            Err(error) if is_expected(&error) => return Ok(Done::Not),
            Err(error) => {
                return Err(format!("{}: {} {:?}\n{before}", error.code.id, error.message, error.notes));
            }
        };
    let told = |what: String| format!("{what}\n{before}\n{}", print(&module, &PrintOptions::default()));
    if let Some(wrong) = verify(&module).first() {
        return Err(told(format!("not valid: {}", wrong.message)));
    }
    let signature = spmd(&module, function).unwrap();
    let together =
        run_together(&module, function, &signature, &inputs).map_err(|error| told(error.message))?;
    for (number, (own, whole)) in together.results.iter().zip(&single).enumerate() {
        let tolerance = Tolerance::of_result(whole, []);
        if let Some(message) = difference(&format!("result {number}"), own, whole, tolerance) {
            return Err(told(message));
        }
    }
    if let Some(&(op, counted, planned)) = unplanned(&module, &together.traffic).first() {
        let name = module.def(op).written_name();
        return Err(told(format!("{counted} bytes are sent in `{name}`, not {planned}")));
    }
    let said = sent_in_program(&module, function, &Descriptions::new());
    match said == exchanges.sent_bytes() {
        true => Ok(Done::Split),
        false => Err(told(format!("the program sends {said} bytes, not {}", exchanges.sent_bytes()))),
    }
}

fn check_all(text: &str, values: &str, fewest: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/inputs/values");
    let values = Archive::parse(&std::fs::read(folder.join(values)).unwrap()).unwrap();
    let registry = Arc::new(Tool::standard("test", "").registry().unwrap());
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("TOFU_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("TOFU_ROUNDS").unwrap_or(ROUNDS),
    };
    let (mut count, mut wrong) = (0, Vec::new());
    for program in text.split(SEPARATOR) {
        let name = program.lines().find_map(|line| line.strip_prefix("// ")).unwrap();
        let mut was_split = false;
        for seed in seeds.clone() {
            match check(program, name, &values, &registry, seed) {
                Ok(done) => was_split |= matches!(done, Done::Split),
                Err(message) => {
                    wrong.push(format!("{name}, seed {seed}: {message}"));
                    break;
                }
            }
        }
        count += usize::from(was_split);
    }
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(count >= fewest, "only {count} programs were split");
}

/// So many tests try the programs that JAX prints, each every so manyth of them.
const PARTS: usize = 4;

fn try_part(part: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/inputs/values/jax.mlir.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let own: Vec<&str> = text.split(SEPARATOR).skip(part).step_by(PARTS).collect();
    check_all(&own.join(SEPARATOR), "jax.npz", 75);
}

macro_rules! parts {
    ($($name:ident = $part:literal)*) => {$(
        #[test]
        fn $name() {
            try_part($part);
        }
    )*};
}

parts! { programs_of_part_0 = 0 programs_of_part_1 = 1 programs_of_part_2 = 2 programs_of_part_3 = 3 }

#[test]
fn written_programs_can_be_split() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/inputs/values/written.mlir");
    check_all(&std::fs::read_to_string(path).unwrap(), "written.npz", 20);
}

//! Training steps that several devices run, partitioned by every algorithm, give what JAX gave on one, and send what
//! the plan says.
//!
//! Each program is tried with every algorithm and every number of devices once, in turn; `TOFU_ALL=1` tries all with all.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_diagnostics::SourceMap;
use tofu_equivalence::{Tolerance, difference, run_together, sent_bytes};
use tofu_interpreter::entry;
use tofu_ir::{Module, TensorType, verify};
use tofu_machine::Machines;
use tofu_opt::{Tool, parse_program};
use tofu_partition::Algorithm;
use tofu_pass::{PassManager, Session};
use tofu_pass_communicate::{Exchanges, Inserting, insert};
use tofu_pass_partition::{AlgorithmName, Partition};
use tofu_run::{Archive, tensor};
use tofu_tdl::{Descriptions, Tensor};

const DEVICES: [u64; 4] = [2, 3, 4, 8];

/// How much farther from the exact results than JAX's a result may be, whose sums have yet another order.
const ROUNDING_FACTOR: f64 = 8.0;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

fn archive(name: &str, kind: &str) -> Archive {
    Archive::parse(&std::fs::read(data(&format!("golden/{name}_tiny.{kind}.npz"))).unwrap()).unwrap()
}

/// The program, made one for so many devices; what they exchange.
fn split(name: &str, devices: u64, algorithm: Algorithm) -> (Module, Exchanges) {
    let mut text = String::new();
    let compressed = std::fs::File::open(data(&format!("models/{name}_tiny.mlir.gz"))).unwrap();
    flate2::read::GzDecoder::new(compressed).read_to_string(&mut text).unwrap();
    let mut sources = SourceMap::new();
    let file = sources.add(name, text).unwrap();
    let registry = Arc::new(Tool::standard("test", "0").registry().unwrap());
    let whole = 0..sources.file(file).text().len();
    let (mut module, _) = parse_program(&sources, file, whole, &registry, None).unwrap();
    let partition =
        Partition { devices: Some(devices), algorithm: AlgorithmName(algorithm), ..Partition::default() };
    let outcome = PassManager::new().add(partition).run(&mut module, &Session::default(), &mut []);
    assert!(!outcome.failed(), "{:?}", outcome.diagnostics);
    let function = entry(&module, None).unwrap();
    let machine = Machines::default().default_machine().clone();
    let exchanges = insert(&mut module, function, &Descriptions::new(), &Inserting::for_machine(machine))
        .unwrap()
        .unwrap();
    (module, exchanges)
}

fn check(name: &str) {
    let all = env::var("TOFU_ALL").is_ok();
    for (turn, algorithm) in Algorithm::ALL.into_iter().enumerate() {
        for (number, devices) in DEVICES.into_iter().enumerate() {
            if all || turn % DEVICES.len() == number {
                compare(name, devices, algorithm);
            }
        }
    }
}

fn compare(name: &str, devices: u64, algorithm: Algorithm) {
    let what = format!("{name} on {devices} by {}", algorithm.name());
    let (module, exchanges) = split(name, devices, algorithm);
    let found = verify(&module);
    assert!(found.is_empty(), "{what}: {:?}", found[0]);
    let function = entry(&module, None).unwrap();
    let spmd = tofu_dialect_dist::spmd(&module, function).unwrap();
    let (inputs, outputs) = (archive(name, "inputs"), archive(name, "outputs"));
    let read = |archive: &Archive, key: &str, ty: &TensorType| -> Tensor {
        tensor(archive.get(key).unwrap(), ty).unwrap()
    };
    let arguments: Vec<Tensor> = spmd
        .arguments
        .iter()
        .enumerate()
        .map(|(number, lying)| read(&inputs, &format!("arg{number}"), &lying.ty))
        .collect();
    let together = run_together(&module, function, &spmd, &arguments);
    let together = together.map_err(|error| format!("{what}: {} {:?}", error.message, error.notes)).unwrap();
    let exact = data(&format!("golden/{name}_tiny.exact.npz")).exists().then(|| archive(name, "exact"));
    for (number, (own, lying)) in together.results.iter().zip(&spmd.results).enumerate() {
        let key = format!("res{number}");
        let jax = read(&outputs, &key, &lying.ty);
        let wrong = match &exact {
            None => difference(&key, own, &jax, Tolerance { relative: 2e-4, absolute: 1e-5 }),
            Some(exact) => {
                // This program amplifies rounding: JAX itself is far from the exact results.
                let exact = read(exact, &key, &lying.ty);
                let error = |of: &Tensor| -> f64 {
                    (0..of.len())
                        .map(|at| (of.number(at) - exact.number(at)).abs())
                        .fold(0.0, |most, error| if error > most || error.is_nan() { error } else { most })
                };
                let allowed = ROUNDING_FACTOR * error(&jax) + 1e-5;
                let far = error(own);
                (far.is_nan() || far > allowed)
                    .then(|| format!("`{key}` is {far} from exact, {allowed} is allowed"))
            }
        };
        assert!(wrong.is_none(), "{what}: {}", wrong.unwrap());
    }
    assert_eq!(sent_bytes(&module, &together.traffic), exchanges.sent_bytes(), "{what}");
}

macro_rules! golden {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*};
}

golden! { dlrm gpt llama mlp moe rnn scan unet3d wresnet }

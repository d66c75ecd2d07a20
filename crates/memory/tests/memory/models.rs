//! Training steps as JAX prints them.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use tofu_allocator::{Buffer, Options, Problem, allocate, check};
use tofu_diagnostics::SourceMap;
use tofu_dialect_stablehlo::{ReadOptions, read};
use tofu_ir::{Module, OpId, Registry};
use tofu_memory::{Assumptions, Liveness, Ties, bytes_of, trip_count};
use tofu_tdl::Descriptions;

/// A model of `testdata/models`, inlined, and its function.
fn model(name: &str) -> (Module, OpId) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models").join(name);
    let mut text = String::new();
    let file = File::open(path.with_extension("mlir.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let dialects = [
        &tofu_dialect_dist::DIALECT,
        &tofu_dialect_func::DIALECT,
        &tofu_dialect_stablehlo::DIALECT,
        &tofu_dialect_stablehlo::JAX,
        &tofu_dialect_stablehlo::MHLO,
        &tofu_dialect_stablehlo::SDY,
        &tofu_dialect_stablehlo::TF,
        &tofu_dialect_tdl::DIALECT,
        &tofu_dialect_tensor::DIALECT,
    ];
    let registry = Arc::new(Registry::new(&dialects).unwrap());
    let mut sources = SourceMap::new();
    let file = sources.add(name, text).unwrap();
    let mut module = read(&sources, file, registry, ReadOptions::default()).module;
    let root = module.root();
    tofu_dialect_func::inline_calls(&mut module, root, u64::MAX).unwrap();
    let is_main = |&op: &OpId| module.symbol_name(op).is_some_and(|name| module.text(name) == "main");
    let main = module.ops(module.body()).find(is_main).unwrap();
    (module, main)
}

/// Parameters and optimizer state come first and are replaced one by one; the batch, and the loss, do not.
#[test]
fn training_steps_replace_their_state() {
    let expected = [
        ("dlrm_tiny", 14),
        ("gpt_tiny", 60),
        ("llama_tiny", 63),
        ("mlp_tiny", 12),
        ("moe_tiny", 30),
        ("rnn_tiny", 8),
        ("scan_tiny", 36),
        ("unet3d_tiny", 33),
        ("wresnet_tiny", 106),
    ];
    for (name, count) in expected {
        let (module, main) = model(name);
        let ties = Ties::of(&module, main, &Descriptions::new());
        let pairs = (0..count).map(|number| (number, number)).collect();
        assert_eq!(ties, Ties { pairs, is_declared: false }, "{name}");
    }
}

#[test]
fn scans_are_counted() {
    let (module, main) = model("scan_tiny");
    let descriptions = Descriptions::new();
    let counts = module.walk(main).filter_map(|op| trip_count(&module, op, &descriptions));
    // Three layers, forward and backward.
    assert_eq!(counts.collect::<Vec<_>>(), [3, 3]);
}

/// State is there once if it is given away and twice if not; placement comes close to the bound.
#[test]
fn steps_fit_in_little_more_than_their_peak() {
    for name in ["dlrm_tiny", "gpt_tiny", "mlp_tiny", "scan_tiny", "unet3d_tiny"] {
        let (module, main) = model(name);
        let descriptions = Descriptions::new();
        let bytes = |value| bytes_of(&module, value);
        let kept = Liveness::of(&module, main, &descriptions).unwrap();
        let assumptions = Assumptions { ties_are_donated: true };
        let given = Liveness::assuming(&module, main, &descriptions, &assumptions).unwrap();
        let arguments = module.arguments(module.entry(module.region(main, 0)).unwrap());
        let state: u64 = arguments[..kept.ties().pairs.len()].iter().map(|&argument| bytes(argument)).sum();
        let at_the_end = |liveness: &Liveness| *liveness.profile(&bytes, &[]).last().unwrap();
        assert_eq!(at_the_end(&kept), at_the_end(&given) + state, "{name}");
        let peak = given.peak(&bytes, &[]).bytes;
        let buffers: Vec<Buffer> = (given.storages().zip(given.storage_bytes(&bytes)))
            .map(|((_, storage), bytes)| {
                Buffer::new(storage.live.start.into()..storage.live.end.into(), bytes)
            })
            .collect();
        let problem = Problem::new(buffers, None);
        let placed = allocate(&problem, &Options { work: 100_000_000 }, &mut || true).unwrap();
        let arena = placed.arenas[0];
        assert_eq!(check(&problem, &placed.offsets, &[arena.bytes]), Ok(()));
        assert_eq!(arena.lower_bound, peak, "{name}");
        assert!(arena.bytes <= peak + peak / 100, "{name}: {} bytes for {peak}", arena.bytes);
    }
}

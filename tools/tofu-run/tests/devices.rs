//! Random programs on random meshes, with random shardings of every value: run split they give what they give unsplit, and
//! send what their plan says.
//!
//! `TOFU_GRAPHS=100000 cargo test -p tofu-run --test devices` tries more of them, `TOFU_SEED=7` only that one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::sync::Arc;

use fastrand::Rng;
use tofu_diagnostics::Diagnostic;
use tofu_dialect_dist::spmd;
use tofu_dialect_func::{build_function, build_return};
use tofu_dialect_tensor as tensor;
use tofu_equivalence::{Tolerance, difference, run_together, sent_bytes};
use tofu_interpreter::Interpreter;
use tofu_ir::{
    AttrData, Builder, ElementType, FUNCTION_TYPE, FunctionType, Module, OpId, Registry, TypeData, ValueId,
    verify,
};
use tofu_machine::Machines;
use tofu_pass_communicate::{Inserting, insert};
use tofu_syntax::{PrintOptions, print};
use tofu_tdl::{Descriptions, OpaqueRegistry, Tensor};

use support::{mesh, shard};

mod support;

const GRAPHS: u64 = 2000;

/// So many tests try the graphs, each every so manyth of them.
const PARTS: u64 = 4;

macro_rules! parts {
    ($($name:ident = $part:literal)*) => {$(
        #[test]
        fn $name() {
            try_part($part);
        }
    )*};
}

parts! { split_programs_of_part_0 = 0 split_programs_of_part_1 = 1 split_programs_of_part_2 = 2 split_programs_of_part_3 = 3 }

fn try_part(part: u64) {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("TOFU_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("TOFU_GRAPHS").unwrap_or(GRAPHS),
    };
    let seeds = seeds.filter(|seed| seed % PARTS == part);
    let registry = Arc::new(
        Registry::new(&[
            &tofu_dialect_dist::DIALECT,
            &tofu_dialect_func::DIALECT,
            &tofu_dialect_tensor::DIALECT,
            &tofu_dialect_tdl::DIALECT,
        ])
        .unwrap(),
    );
    let mut failed = Vec::new();
    for seed in seeds {
        if let Err(error) = check(&registry, seed) {
            failed.push(format!("seed {seed}: {error}"));
            if failed.len() > 8 {
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

fn check(registry: &Arc<Registry>, seed: u64) -> Result<(), String> {
    let (module, function) = program(registry, &mut Rng::with_seed(seed));
    let mut random = Rng::with_seed(seed ^ 0x5EED);
    let block = module.entry(module.region(function, 0)).unwrap();
    let arguments: Vec<Tensor> = module
        .arguments(block)
        .iter()
        .map(|&argument| {
            let ty = module.tensor_type(argument).unwrap();
            let dims = ty.static_dims().unwrap();
            let count = dims.iter().product::<u64>();
            let numbers: Vec<f64> = (0..count).map(|_| f64::from(random.i32(-16..=16)) / 16.0).collect();
            Tensor::from_numbers(ty.element, &dims, &numbers).unwrap()
        })
        .collect();
    let single = Interpreter::new(&module, &OpaqueRegistry::builtin())
        .run(function, &arguments)
        .map_err(|error| format!("unsplit: {}", error.message))?;
    let (mut module, function) = program(registry, &mut Rng::with_seed(seed));
    let mesh = mesh(&mut random);
    shard(&mut module, function, &mesh, &mut random);
    let before = print(&module, &PrintOptions::default());
    let told = |what: String, module: &Module| {
        format!("{what}\n{before}\n{}", print(module, &PrintOptions::default()))
    };
    let machine = Machines::default().default_machine().clone();
    let exchanges = insert(&mut module, function, &Descriptions::new(), &Inserting::for_machine(machine));
    let exchanges =
        exchanges.map_err(|error| told(format!("{} {:?}", error.message, error.notes), &module))?;
    let Some(exchanges) = exchanges else { return Ok(()) };
    if let Some(wrong) = verify(&module).first() {
        return Err(told(format!("not valid: {}", wrong.message), &module));
    }
    let signature =
        spmd(&module, function).ok_or_else(|| told("no program for each device".to_owned(), &module))?;
    let together = run_together(&module, function, &signature, &arguments)
        .map_err(|error: Diagnostic| told(error.message, &module))?;
    let tolerance = Tolerance { relative: 1e-4, absolute: 1e-4 };
    for (number, (own, whole)) in together.results.iter().zip(&single).enumerate() {
        if let Some(message) = difference(&format!("result {number}"), own, whole, tolerance) {
            return Err(told(message, &module));
        }
    }
    let counted = sent_bytes(&module, &together.traffic);
    if counted != exchanges.sent_bytes() {
        let planned = exchanges.sent_bytes();
        return Err(told(format!("{counted} bytes are sent, not {planned}: {exchanges:?}"), &module));
    }
    Ok(())
}

/// A function of three arguments and some ops.
fn program(registry: &Arc<Registry>, random: &mut Rng) -> (Module, OpId) {
    let mut module = Module::new(Arc::clone(registry));
    let inputs: Vec<_> = (0..3)
        .map(|_| {
            let dims: Vec<u64> = (0..random.usize(1..=3)).map(|_| random.u64(1..=9)).collect();
            module.interner.tensor(&dims, ElementType::F32)
        })
        .collect();
    let (function, block) = build_function(&mut module, "main", &inputs, &[]);
    let mut values: Vec<ValueId> = module.arguments(block).to_vec();
    let wanted = values.len() + random.usize(3..=7);
    while values.len() < wanted {
        let mut b = Builder::at_end(&mut module, block);
        if let Some(value) = step(&mut b, &values, random) {
            values.push(value);
        }
    }
    let given: Vec<ValueId> = values.iter().rev().take(2).copied().collect();
    let results: Vec<_> = given.iter().map(|&value| module.ty(value)).collect();
    build_return(&mut Builder::at_end(&mut module, block), given);
    let inputs = inputs.into();
    let ty = module.interner.ty(TypeData::Function(FunctionType { inputs, results: results.into() }));
    let ty = module.interner.attr(AttrData::Type(ty));
    module.set_attr(function, FUNCTION_TYPE, ty);
    (module, function)
}

/// One more op, on some of the values; none if it does not fit them.
fn step(b: &mut Builder<'_>, values: &[ValueId], random: &mut Rng) -> Option<ValueId> {
    let x = values[random.usize(..values.len())];
    let dims: Vec<u64> = b.module.tensor_type(x)?.static_dims()?.to_vec();
    let rank = dims.len();
    let any = |random: &mut Rng| random.usize(..rank.max(1));
    let made = match random.u32(0..18) {
        0 => tensor::tanh(b, x),
        1 => tensor::negate(b, x),
        2 | 3 => {
            let y = values
                .iter()
                .copied()
                .rev()
                .find(|&y| y != x && b.module.ty(y) == b.module.ty(x))
                .unwrap_or(x);
            match random.u32(0..3) {
                0 => tensor::add(b, x, y),
                1 => tensor::multiply(b, x, y),
                _ => tensor::maximum(b, x, y),
            }
        }
        4 | 5 if rank > 0 => {
            // With a value that has an extent in common, or with itself.
            let dim = any(random);
            let fits = |b: &Builder<'_>, y: ValueId| {
                let other = b.module.tensor_type(y)?.static_dims()?;
                other.iter().position(|&extent| extent == dims[dim])
            };
            let (y, other) = values.iter().rev().find_map(|&y| Some((y, fits(b, y)?)))?;
            let together = rank + b.module.tensor_type(y)?.rank();
            if together > 6 {
                return None;
            }
            tensor::dot_general(b, x, y, (&[dim as i64], &[other as i64]), (&[], &[]))
        }
        6 | 7 if rank > 0 => {
            let axes: Vec<i64> = (0..rank as i64).filter(|_| random.bool()).collect();
            let ty = b.module.interner.tensor(&[], ElementType::F32);
            let is_sum = random.bool();
            let init = tensor::splat(b, ty, if is_sum { 0.0 } else { -1e30 }).ok()?;
            let reduced = tensor::reduce(b, &[x], &[init], &axes, |b, of| {
                Ok(vec![if is_sum {
                    tensor::add(b, of[0], of[1])?
                } else {
                    tensor::maximum(b, of[0], of[1])?
                }])
            });
            reduced.map(|results| results[0])
        }
        8 if rank < 3 => {
            let at = random.usize(0..=rank);
            let mut to = dims.clone();
            to.insert(at, random.u64(1..=9));
            let ty = b.module.interner.tensor(&to, ElementType::F32);
            let kept: Vec<i64> = (0..=rank as i64).filter(|&dim| dim != at as i64).collect();
            tensor::broadcast_in_dim(b, x, ty, &kept)
        }
        9 => {
            let mut order: Vec<i64> = (0..rank as i64).collect();
            random.shuffle(&mut order);
            tensor::transpose(b, x, &order)
        }
        10 if rank > 0 => {
            let dim = any(random);
            tensor::reverse(b, x, &[dim as i64])
        }
        11 if rank > 0 => {
            let mut list: Vec<[i64; 3]> = dims.iter().map(|&extent| [0, extent as i64, 1]).collect();
            let dim = any(random);
            let start = random.i64(0..dims[dim] as i64);
            list[dim] = [start, random.i64(start + 1..=dims[dim] as i64), random.i64(1..=3)];
            let column = |index: usize| -> Vec<i64> { list.iter().map(|of| of[index]).collect() };
            tensor::slice(b, x, &column(0), &column(1), &column(2))
        }
        12 if rank > 0 => {
            let dim = any(random);
            let alike = |y: ValueId| {
                let other = b.module.tensor_type(y)?.static_dims()?;
                let same = other.len() == rank && (0..rank).all(|of| of == dim || other[of] == dims[of]);
                same.then_some(y)
            };
            let y = values.iter().rev().find_map(|&y| alike(y))?;
            tensor::concatenate(b, &[x, y], dim as i64)
        }
        13 if rank > 0 => {
            let ty = b.module.interner.tensor(&[], ElementType::F32);
            let value = tensor::splat(b, ty, 0.5).ok()?;
            let list = |low: i64, high: i64, random: &mut Rng| -> Vec<i64> {
                (0..rank).map(|_| random.i64(low..=high)).collect()
            };
            let (low, high, interior) = (list(-1, 2, random), list(-1, 2, random), list(0, 1, random));
            if dims.iter().any(|&extent| extent < 3) {
                return None;
            }
            tensor::pad(b, x, value, &low, &high, &interior)
        }
        14 if rank > 1 => {
            // Two neighbours become one dimension.
            let dim = random.usize(..rank - 1);
            let mut to = dims.clone();
            to[dim] *= to.remove(dim + 1);
            let ty = b.module.interner.tensor(&to, ElementType::F32);
            tensor::reshape(b, x, ty)
        }
        15 if rank > 0 => {
            // A dimension becomes two.
            let dim = any(random);
            let factor = (2..=dims[dim]).find(|factor| dims[dim].is_multiple_of(*factor))?;
            let mut to = dims.clone();
            to[dim] /= factor;
            to.insert(dim + 1, factor);
            let ty = b.module.interner.tensor(&to, ElementType::F32);
            tensor::reshape(b, x, ty)
        }
        16 if rank == 3 => {
            let y = values.iter().copied().rev().find(|&y| {
                let other = b.module.tensor_type(y).and_then(|ty| ty.static_dims());
                other.is_some_and(|other| other.len() == 3 && other[1] == dims[1])
            })?;
            let dimensions = tensor::ConvolutionDimensions::parse("bf0_oi0->bf0")?;
            let (low, high) = (random.i64(0..=2), random.i64(0..=2));
            let window = tensor::ConvolutionWindow {
                window_strides: &[random.i64(1..=2)],
                padding_low: &[low],
                padding_high: &[high],
                lhs_dilation: &[random.i64(1..=2)],
                rhs_dilation: &[random.i64(1..=2)],
                ..Default::default()
            };
            tensor::convolution(b, x, y, &dimensions, window)
        }
        17 => {
            let ty = b.module.ty(x);
            let dim = (rank > 0).then(|| any(random))?;
            tensor::iota(b, ty, dim as i64)
        }
        _ => return None,
    };
    let value = made.ok()?;
    let dims = b.module.tensor_type(value)?.static_dims()?;
    // Empty tensors and large ones are no use.
    let count: u64 = dims.iter().product();
    (count > 0 && count <= 2000 && dims.len() <= 4).then_some(value)
}

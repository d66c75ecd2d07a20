//! Random instances of every op that has a description: shapes, attributes and operands.
//!
//! A sample is a program with one op of the kind, whose operands are arguments or constants. Numbers are small integers,
//! so that sums are exact in whatever order they are made.

use std::fmt::Write;

use fastrand::Rng;
use tofu_dialect_tensor::DIALECT;
use tofu_ir::{AttrData, ElementType, Module, OpDef, OpId, TensorType, TypeData, VALUE};
use tofu_tdl::{Describe, Description, Tensor, describe};

use crate::support::*;

/// An argument of a sample's function.
struct Argument {
    ty: String,
    /// The range of its elements, both included.
    range: (i64, i64),
}

/// A program with one op of a kind.
pub(crate) struct Sample {
    arguments: Vec<Argument>,
    body: String,
}

impl Sample {
    fn new() -> Sample {
        Sample { arguments: Vec::new(), body: String::new() }
    }

    /// An argument with elements between -9 and 9.
    fn arg(&mut self, dims: &[u64], element: &str) -> String {
        self.ranged(dims, element, (-9, 9))
    }

    fn ranged(&mut self, dims: &[u64], element: &str, range: (i64, i64)) -> String {
        self.arguments.push(Argument { ty: ty(dims, element), range });
        format!("%a{}", self.arguments.len() - 1)
    }

    fn line(mut self, line: impl AsRef<str>) -> Sample {
        writeln!(self.body, "  {}", line.as_ref()).unwrap();
        self
    }

    pub(crate) fn program(&self) -> String {
        let arguments: Vec<String> =
            self.arguments.iter().enumerate().map(|(number, a)| format!("%a{number}: {}", a.ty)).collect();
        format!("func @f({}) {{\n{}  return\n}}\n", arguments.join(", "), self.body)
    }

    /// The description of the op of a kind, and its operands.
    pub(crate) fn instance(&self, def: &'static OpDef, random: &mut Rng) -> Result<Instance, String> {
        let program = self.program();
        let module = read(&program).map_err(|found| format!("{program}\n{}", found.join("\n")))?;
        let op = *ops_of(&module, def.name).last().ok_or("the program does not hold the op")?;
        let description = describe(&module, op).map_err(|error| format!("{program}\n{}", error.message))?;
        let operands = (0..module.operand_count(op)).map(|index| self.operand(&module, op, index, random));
        Ok(Instance { program, description, operands: operands.collect() })
    }

    fn operand(&self, module: &Module, op: OpId, index: usize, random: &mut Rng) -> Tensor {
        let value = module.operand(op, index);
        let ty = module.tensor_type(value).unwrap();
        let dims = ty.static_dims().unwrap();
        let constant = module.defining_op(value).and_then(|op| module.attr_value(op, VALUE));
        if let Some(AttrData::Dense(dense)) = constant {
            let count = dims.iter().product::<u64>() as usize;
            let bytes = (0..count).flat_map(|at| dense.data.element(at, ty.element).unwrap().to_vec());
            return Tensor::from_bytes(ty.element, &dims, bytes.collect()).unwrap();
        }
        let block = module.defining_block(value).unwrap();
        let number = module.arguments(block).iter().position(|&other| other == value).unwrap();
        let (low, high) = self.arguments[number].range;
        let mut tensor = Tensor::zeros(ty.element, &dims).unwrap();
        for at in 0..tensor.len() {
            if ty.element.is_complex() {
                tensor.set_complex(at, random.i64(low..=high) as f64, random.i64(low..=high) as f64);
            } else {
                tensor.set_integer(at, random.i64(low..=high).into());
            }
        }
        tensor
    }
}

/// A description with operands.
pub(crate) struct Instance {
    pub(crate) program: String,
    pub(crate) description: Description,
    pub(crate) operands: Vec<Tensor>,
}

/// The type of a tensor as text.
pub(crate) fn ty(dims: &[u64], element: &str) -> String {
    let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{dims}{element}>")
}

fn dims(random: &mut Rng, rank: usize, sizes: std::ops::RangeInclusive<u64>) -> Vec<u64> {
    (0..rank).map(|_| random.u64(sizes.clone())).collect()
}

fn some_dims(random: &mut Rng) -> Vec<u64> {
    let rank = random.usize(1..=3);
    // Now and then there is nothing.
    let least = u64::from(random.u8(..8) > 0);
    dims(random, rank, least..=5)
}

fn shuffled(random: &mut Rng, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
    order
}

/// Some of the numbers below `count`, in ascending order.
fn subset(random: &mut Rng, count: usize) -> Vec<usize> {
    (0..count).filter(|_| random.bool()).collect()
}

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(..from.len())]
}

/// A region that combines pairs of values of a type.
fn combiner(element: &str, op: &str) -> String {
    format!(
        "({{\n  ^body(%p: tensor<{element}>, %q: tensor<{element}>):\n    %c = tensor.{op} %p, %q\n    tensor.yield %c\n}})"
    )
}

/// An op of pairs, its element type and the constant that it leaves values alone with.
fn monoid(random: &mut Rng) -> (&'static str, &'static str, &'static str) {
    [
        ("add", "i32", "0"),
        ("add", "f64", "0.0"),
        ("multiply", "i64", "1"),
        ("maximum", "i8", "-128"),
        ("minimum", "i32", "2147483647"),
        ("or", "i16", "0"),
        ("and", "ui8", "255"),
        ("or", "i1", "false"),
        ("add", "complex<f64>", "(0.0, 0.0)"),
    ][random.usize(..9)]
}

/// A sample of an op; none for ops that have no description.
pub(crate) fn sample(def: &'static OpDef, random: &mut Rng) -> Option<Sample> {
    let generator = GENERATORS.iter().find(|(name, _)| *name == def.name);
    if let Some((_, generator)) = generator {
        return Some(generator(random));
    }
    def.interface::<Describe>()?;
    let is_plain = def.attributes.is_empty() && def.regions.is_empty();
    assert!(is_plain, "`{}` is described, but has no generator", def.name);
    Some(elementwise(def, random))
}

fn elementwise(def: &'static OpDef, random: &mut Rng) -> Sample {
    let fitting: Vec<ElementType> =
        [ElementType::I32, ElementType::F64, ElementType::Complex64, ElementType::I1, ElementType::Ui8]
            .into_iter()
            .filter(|&element| {
                (def.operands[0].class.contains)(&TypeData::Tensor(TensorType::of(&[], element)))
            })
            .collect();
    let element = fitting[random.usize(..fitting.len())];
    let dims = some_dims(random);
    let mut sample = Sample::new();
    let range = if element == ElementType::I1 { (0, 1) } else { (-9, 9) };
    let operands: Vec<String> =
        def.operands.iter().map(|_| sample.ranged(&dims, element.name(), range)).collect();
    sample.line(format!("%r = {} {}", def.name, operands.join(", ")))
}

/// Every described op is here, or element-wise without attributes.
#[test]
fn every_described_op_has_samples() {
    let mut random = Rng::with_seed(1);
    let mut described = 0;
    for def in DIALECT.ops {
        assert_eq!(sample(def, &mut random).is_some(), def.interface::<Describe>().is_some(), "{}", def.name);
        described += usize::from(def.interface::<Describe>().is_some());
    }
    assert!(described > 90, "only {described}");
    assert!(GENERATORS.iter().all(|(name, _)| DIALECT.ops.iter().any(|def| def.name == *name)));
}

type Generator = fn(&mut Rng) -> Sample;

const GENERATORS: &[(&str, Generator)] = &[
    ("tensor.batch_norm_grad", |random| batch_norm(random, "batch_norm_grad", 3, true)),
    ("tensor.batch_norm_inference", |random| batch_norm(random, "batch_norm_inference", 4, false)),
    ("tensor.batch_norm_training", |random| batch_norm(random, "batch_norm_training", 2, false)),
    ("tensor.bitcast_convert", bitcast),
    ("tensor.broadcast_in_dim", broadcast),
    ("tensor.cholesky", cholesky),
    ("tensor.clamp", clamp),
    ("tensor.compare", compare),
    ("tensor.complex", |random| {
        let (mut sample, dims) = (Sample::new(), some_dims(random));
        let (re, im) = (sample.arg(&dims, "f64"), sample.arg(&dims, "f64"));
        sample.line(format!("%r = tensor.complex {re}, {im}"))
    }),
    ("tensor.concatenate", concatenate),
    ("tensor.convert", convert),
    ("tensor.convolution", convolution),
    ("tensor.dot_general", dot_general),
    ("tensor.dynamic_slice", dynamic_slice),
    ("tensor.dynamic_update_slice", dynamic_update_slice),
    ("tensor.fft", fft),
    ("tensor.gather", gather),
    ("tensor.get_dimension_size", |random| {
        let (mut sample, dims) = (Sample::new(), some_dims(random));
        let x = sample.arg(&dims, "i32");
        sample.line(format!(
            "%r = tensor.get_dimension_size {x} {{dimension = {}}}",
            random.usize(..dims.len())
        ))
    }),
    ("tensor.iota", |random| {
        let dims = some_dims(random);
        let element = pick(random, &["i8", "f32", "ui64", "complex<f32>"]);
        let dimension = random.usize(..dims.len());
        Sample::new().line(format!("%r = tensor.iota {{dimension = {dimension}}} : {}", ty(&dims, element)))
    }),
    ("tensor.map", |random| {
        let (mut sample, dims) = (Sample::new(), some_dims(random));
        let (x, y) = (sample.arg(&dims, "i32"), sample.arg(&dims, "i32"));
        let axes: Vec<usize> = (0..dims.len()).collect();
        sample.line(format!(
            "%r = tensor.map {x}, {y} {{dimensions = {axes:?}}} ({{\n  ^c(%p: tensor<i32>, %q: tensor<i32>):\n    \
             %two = tensor.constant dense<2> : tensor<i32>\n    %t = tensor.multiply %p, %two\n    \
             %c = tensor.subtract %t, %q\n    tensor.yield %c\n}})"
        ))
    }),
    ("tensor.pad", pad),
    ("tensor.reduce", reduce),
    ("tensor.reduce_precision", |random| {
        let (mut sample, dims) = (Sample::new(), some_dims(random));
        let x = sample.arg(&dims, pick(random, &["f32", "f64", "bf16"]));
        let (exponent, mantissa) = (random.u32(1..9), random.u32(0..24));
        sample.line(format!(
            "%r = tensor.reduce_precision {x} {{exponent_bits = {exponent}, mantissa_bits = {mantissa}}}"
        ))
    }),
    ("tensor.reduce_window", reduce_window),
    ("tensor.reshape", reshape),
    ("tensor.reverse", |random| {
        let (mut sample, dims) = (Sample::new(), some_dims(random));
        let x = sample.arg(&dims, "i32");
        let reversed = subset(random, dims.len());
        sample.line(format!("%r = tensor.reverse {x} {{dimensions = {reversed:?}}}"))
    }),
    ("tensor.rng", |random| {
        let element = pick(random, &["f32", "f64", "bf16", "i32", "ui8"]);
        let mut sample = Sample::new();
        let (a, b) = (sample.ranged(&[], element, (0, 3)), sample.ranged(&[], element, (4, 9)));
        let is_float = !element.contains('i');
        let distribution = if is_float { pick(random, &["UNIFORM", "NORMAL"]) } else { "UNIFORM" };
        let result = ty(&some_dims(random), element);
        sample.line(format!("%r = tensor.rng {a}, {b} {{rng_distribution = \"{distribution}\"}} : {result}"))
    }),
    ("tensor.rng_bit_generator", |random| {
        let algorithm = pick(random, &["DEFAULT", "THREE_FRY", "PHILOX"]);
        let element = pick(random, &["ui32", "ui64", "i8", "f32", "bf16"]);
        let mut sample = Sample::new();
        let state = sample.ranged(&[2], "ui64", (0, 1 << 40));
        let result = ty(&some_dims(random), element);
        sample.line(format!(
            "%s, %r = tensor.rng_bit_generator {state} {{rng_algorithm = \"{algorithm}\"}} : tensor<2xui64>, {result}"
        ))
    }),
    ("tensor.scatter", scatter),
    ("tensor.select", |random| {
        let (mut sample, dims) = (Sample::new(), some_dims(random));
        let condition = sample.ranged(if random.bool() { &dims } else { &[] }, "i1", (0, 1));
        let (x, y) = (sample.arg(&dims, "i32"), sample.arg(&dims, "i32"));
        sample.line(format!("%r = tensor.select {condition}, {x}, {y}"))
    }),
    ("tensor.select_and_scatter", select_and_scatter),
    ("tensor.slice", slice),
    ("tensor.sort", sort),
    ("tensor.top_k", |random| {
        let (mut sample, dims) = (Sample::new(), some_dims(random));
        let x = sample.arg(&dims, pick(random, &["i32", "f32"]));
        sample.line(format!("%v, %r = tensor.top_k {x} {{k = {}}}", random.u64(0..=dims[dims.len() - 1])))
    }),
    ("tensor.transpose", |random| {
        let (mut sample, dims) = (Sample::new(), some_dims(random));
        let x = sample.arg(&dims, "i32");
        let permutation = shuffled(random, dims.len());
        sample.line(format!("%r = tensor.transpose {x} {{permutation = {permutation:?}}}"))
    }),
    ("tensor.triangular_solve", triangular_solve),
];

fn batch_norm(random: &mut Rng, name: &str, per_feature: usize, has_gradient: bool) -> Sample {
    let dims = some_dims(random);
    let feature = random.usize(..dims.len());
    let mut sample = Sample::new();
    let mut operands = vec![sample.arg(&dims, "f64")];
    operands.extend((0..per_feature).map(|_| sample.ranged(&[dims[feature]], "f64", (1, 9))));
    if has_gradient {
        operands.push(sample.arg(&dims, "f64"));
    }
    let results = if name == "batch_norm_inference" { "%r" } else { "%r, %s, %t" };
    sample.line(format!(
        "{results} = tensor.{name} {} {{epsilon = 0.5 : f32, feature_index = {feature}}}",
        operands.join(", ")
    ))
}

fn bitcast(random: &mut Rng) -> Sample {
    let (from, to, parts) = [
        ("f32", "i32", 1),
        ("bf16", "ui16", 1),
        ("f64", "ui64", 1),
        ("i8", "i1", 8),
        ("f32", "i8", 4),
        ("ui64", "bf16", 4),
        ("i16", "i4", 4),
        ("complex<f64>", "complex<f32>", 2),
    ][random.usize(..8)];
    let mut narrow = some_dims(random);
    let mut wide = narrow.clone();
    if parts > 1 {
        let last = narrow.len() - 1;
        wide.truncate(last);
        narrow[last] = parts;
    }
    let mut sample = Sample::new();
    let (own, target, from, to) =
        if random.bool() { (wide, narrow, from, to) } else { (narrow, wide, to, from) };
    let range = if from == "i1" { (0, 1) } else { (-9, 9) };
    let x = sample.ranged(&own, from, range);
    sample.line(format!("%r = tensor.bitcast_convert {x} : {}", ty(&target, to)))
}

fn broadcast(random: &mut Rng) -> Sample {
    let result = some_dims(random);
    let mut targets = shuffled(random, result.len());
    targets.truncate(random.usize(..=result.len()));
    let own: Vec<u64> =
        targets.iter().map(|&target| if random.u8(..3) == 0 { 1 } else { result[target] }).collect();
    let mut sample = Sample::new();
    let x = sample.arg(&own, "i32");
    sample.line(format!(
        "%r = tensor.broadcast_in_dim {x} {{dimensions = {targets:?}}} : {}",
        ty(&result, "i32")
    ))
}

fn cholesky(random: &mut Rng) -> Sample {
    // Of one row, so that whatever is drawn is positive definite.
    let mut dims: Vec<u64> = some_dims(random);
    dims.extend([1, 1]);
    let mut sample = Sample::new();
    let a = sample.ranged(&dims, pick(random, &["f64", "complex<f64>"]), (1, 9));
    sample.line(format!("%r = tensor.cholesky {a} {{lower = {}}}", random.bool()))
}

fn clamp(random: &mut Rng) -> Sample {
    let (mut sample, dims) = (Sample::new(), some_dims(random));
    let element = pick(random, &["i32", "f32", "ui8"]);
    let low = sample.arg(if random.bool() { &dims } else { &[] }, element);
    let x = sample.arg(&dims, element);
    let high = sample.arg(if random.bool() { &dims } else { &[] }, element);
    sample.line(format!("%r = tensor.clamp {low}, {x}, {high}"))
}

fn compare(random: &mut Rng) -> Sample {
    let (mut sample, dims) = (Sample::new(), some_dims(random));
    let (element, order) =
        [("f32", "FLOAT"), ("f32", "TOTALORDER"), ("i32", "SIGNED"), ("ui8", "UNSIGNED")][random.usize(..4)];
    let (x, y) = (sample.ranged(&dims, element, (0, 3)), sample.ranged(&dims, element, (0, 3)));
    let direction = pick(random, &["EQ", "NE", "LT", "LE", "GT", "GE"]);
    sample.line(format!(
        "%r = tensor.compare {x}, {y} {{compare_type = \"{order}\", direction = \"{direction}\"}}"
    ))
}

fn concatenate(random: &mut Rng) -> Sample {
    let dims = some_dims(random);
    let axis = random.usize(..dims.len());
    let mut sample = Sample::new();
    let mut inputs = Vec::new();
    for _ in 0..random.usize(1..6) {
        let mut own = dims.clone();
        own[axis] = random.u64(0..4);
        inputs.push(sample.arg(&own, "i32"));
    }
    sample.line(format!("%r = tensor.concatenate {} {{dimension = {axis}}}", inputs.join(", ")))
}

fn convert(random: &mut Rng) -> Sample {
    let (mut sample, dims) = (Sample::new(), some_dims(random));
    let elements = ["i1", "i8", "ui8", "i64", "f32", "bf16", "f8E4M3FN", "complex<f64>"];
    let (from, to) = (pick(random, &elements), pick(random, &elements));
    let x = sample.ranged(&dims, from, if from == "i1" { (0, 1) } else { (-9, 9) });
    sample.line(format!("%r = tensor.convert {x} : {}", ty(&dims, to)))
}

/// Text of dimensions in some order, and the place of each letter.
fn layout(random: &mut Rng, letters: &str) -> String {
    let mut letters: Vec<char> = letters.chars().collect();
    random.shuffle(&mut letters);
    letters.into_iter().collect()
}

fn convolution(random: &mut Rng) -> Sample {
    let spatial = random.usize(0..=2);
    let digits: String = (0..spatial).map(|number| number.to_string()).collect();
    let (input, kernel, output) = (
        layout(random, &format!("bf{digits}")),
        layout(random, &format!("io{digits}")),
        layout(random, &format!("bf{digits}")),
    );
    let (groups, batch_groups) = [(1, 1), (1, 1), (2, 1), (3, 1), (1, 2)][random.usize(..5)];
    let (batch, inner, outer) = (random.u64(1..=3), random.u64(1..=3), random.u64(1..=3));
    let sizes: Vec<u64> = (0..spatial).map(|_| random.u64(1..=6)).collect();
    let windows: Vec<u64> = (0..spatial).map(|_| random.u64(1..=3)).collect();
    let size = |letter: char, own: [u64; 2], names: [char; 2], spatial: &[u64]| -> u64 {
        match names.iter().position(|&name| name == letter) {
            Some(place) => own[place],
            None => spatial[letter.to_digit(10).unwrap() as usize],
        }
    };
    let left: Vec<u64> = (input.chars())
        .map(|letter| size(letter, [batch * batch_groups, inner * groups], ['b', 'f'], &sizes))
        .collect();
    let right: Vec<u64> = (kernel.chars())
        .map(|letter| size(letter, [inner, outer * groups * batch_groups], ['i', 'o'], &windows))
        .collect();
    let mut list =
        |low: i64, high: i64| -> Vec<i64> { (0..spatial).map(|_| random.i64(low..=high)).collect() };
    let (strides, low, high) = (list(1, 3), list(-1, 3), list(-1, 3));
    let (spread, dilation, reversal) = (list(1, 3), list(1, 2), list(0, 1));
    let (element, result) =
        [("i32", ""), ("f64", ""), ("i8", "i32"), ("bf16", "f32"), ("bf16", "")][random.usize(..5)];
    let mut sample = Sample::new();
    let (x, w) = (sample.arg(&left, element), sample.ranged(&right, element, (-3, 3)));
    let mut text = format!(
        "%r = tensor.convolution {x}, {w} {{batch_group_count = {batch_groups}, dimensions = \
         \"{input}_{kernel}->{output}\", feature_group_count = {groups}, lhs_dilation = {spread:?}, padding = {low:?} x \
         {high:?}, rhs_dilation = {dilation:?}, window_reversal = {reversal:?}, window_strides = {strides:?}}}"
    );
    if !result.is_empty() {
        let count = |dim: usize| -> u64 {
            let padded = (sizes[dim] as i64 - 1) * spread[dim] + 1 + low[dim] + high[dim];
            let reach = (windows[dim] as i64 - 1) * dilation[dim] + 1;
            if reach > padded { 0 } else { ((padded - reach) / strides[dim] + 1) as u64 }
        };
        let counts: Vec<u64> = (0..spatial).map(count).collect();
        let dims: Vec<u64> = (output.chars())
            .map(|letter| size(letter, [batch, outer * groups * batch_groups], ['b', 'f'], &counts))
            .collect();
        write!(text, " : {}", ty(&dims, result)).unwrap();
    }
    sample.line(text)
}

fn dot_general(random: &mut Rng) -> Sample {
    let counts = [random.usize(..=1), random.usize(..=2), random.usize(..=2), random.usize(..=1)];
    let [batch, contracting, left, right] = counts.map(|count| dims(random, count, 1..=5));
    // Both operands in an order of their own.
    let mut place = |kept: &[u64]| -> (Vec<u64>, Vec<usize>, Vec<usize>) {
        let all: Vec<u64> = batch.iter().chain(&contracting).chain(kept).copied().collect();
        let order = shuffled(random, all.len());
        let at = |number: usize| order.iter().position(|&other| other == number).unwrap();
        let own = order.iter().map(|&number| all[number]).collect();
        let batch_at = (0..batch.len()).map(at).collect();
        (own, batch_at, (batch.len()..batch.len() + contracting.len()).map(at).collect())
    };
    let ((left_dims, left_batch, left_over), (right_dims, right_batch, right_over)) =
        (place(&left), place(&right));
    let (element, result) =
        [("i32", ""), ("f64", ""), ("i8", "i32"), ("bf16", "f32"), ("bf16", "")][random.usize(..5)];
    let mut sample = Sample::new();
    let (x, y) = (sample.arg(&left_dims, element), sample.ranged(&right_dims, element, (-3, 3)));
    let mut text = format!(
        "%r = tensor.dot_general {x}, {y} {{batch = {left_batch:?} x {right_batch:?}, contracting = {left_over:?} x \
         {right_over:?}}}"
    );
    if !result.is_empty() {
        let kept = |dims: &[u64], a: &[usize], b: &[usize]| -> Vec<u64> {
            (0..dims.len()).filter(|dim| !a.contains(dim) && !b.contains(dim)).map(|dim| dims[dim]).collect()
        };
        let dims = [
            batch.clone(),
            kept(&left_dims, &left_batch, &left_over),
            kept(&right_dims, &right_batch, &right_over),
        ]
        .concat();
        write!(text, " : {}", ty(&dims, result)).unwrap();
    }
    sample.line(text)
}

fn starts(random: &mut Rng, sample: &mut Sample, rank: usize) -> String {
    let element = pick(random, &["i32", "i64", "ui8"]);
    let starts: Vec<String> = (0..rank).map(|_| sample.ranged(&[], element, (-2, 7))).collect();
    starts.join(", ")
}

fn dynamic_slice(random: &mut Rng) -> Sample {
    let (mut sample, dims) = (Sample::new(), some_dims(random));
    let x = sample.arg(&dims, "i32");
    let starts = starts(random, &mut sample, dims.len());
    let sizes: Vec<u64> = dims.iter().map(|&dim| random.u64(0..=dim)).collect();
    sample.line(format!("%r = tensor.dynamic_slice {x}, {starts} {{slice_sizes = {sizes:?}}}"))
}

fn dynamic_update_slice(random: &mut Rng) -> Sample {
    let (mut sample, dims) = (Sample::new(), some_dims(random));
    let sizes: Vec<u64> = dims.iter().map(|&dim| random.u64(0..=dim)).collect();
    let (x, update) = (sample.arg(&dims, "i32"), sample.arg(&sizes, "i32"));
    let starts = starts(random, &mut sample, dims.len());
    sample.line(format!("%r = tensor.dynamic_update_slice {x}, {update}, {starts}"))
}

fn fft(random: &mut Rng) -> Sample {
    let (batch_rank, rank) = (random.usize(0..=2), random.usize(1..=2));
    let (batch, length) = (dims(random, batch_rank, 1..=5), dims(random, rank, 1..=4));
    let kind = pick(random, &["FFT", "IFFT", "RFFT", "IRFFT"]);
    let mut own = [batch, length.clone()].concat();
    if kind == "IRFFT" {
        let last = own.len() - 1;
        own[last] = own[last] / 2 + 1;
    }
    let mut sample = Sample::new();
    let x = sample.arg(&own, if kind == "RFFT" { "f64" } else { "complex<f64>" });
    sample.line(format!("%r = tensor.fft {x} {{fft_length = {length:?}, fft_type = \"{kind}\"}}"))
}

/// How the dimensions of an operand of places are drawn.
struct Places {
    /// The operand.
    own: Vec<u64>,
    /// What each dimension is: of the window, dropped, or along a dimension of the start indices.
    window: Vec<usize>,
    dropped: Vec<usize>,
    batching: Vec<usize>,
    /// The dimensions of the start indices that they run along.
    along: Vec<usize>,
    /// The dimensions that have start indices.
    map: Vec<usize>,
    /// The start indices, and where their vector is.
    indices: Vec<u64>,
    vector: usize,
    /// The extents of the places, in order.
    batch: Vec<u64>,
}

impl Places {
    fn draw(random: &mut Rng) -> Places {
        let rank = random.usize(1..=3);
        let own = dims(random, rank, 1..=5);
        let mut batch = {
            let count = random.usize(..=2);
            dims(random, count, 1..=4)
        };
        let (mut window, mut dropped, mut batching) = (Vec::new(), Vec::new(), Vec::new());
        for dim in 0..rank {
            match random.u8(..4) {
                0 => dropped.push(dim),
                1 if batching.len() < batch.len() => batching.push(dim),
                _ => window.push(dim),
            }
        }
        let mut free = shuffled(random, batch.len());
        free.truncate(batching.len());
        for (&dim, &along) in batching.iter().zip(&free) {
            batch[along] = own[dim];
        }
        let mut map: Vec<usize> =
            (0..rank).filter(|dim| !batching.contains(dim) && random.u8(..4) > 0).collect();
        random.shuffle(&mut map);
        let mut vector = random.usize(..=batch.len());
        let mut indices = batch.clone();
        if map.len() == 1 && random.bool() {
            vector = batch.len();
        } else {
            indices.insert(vector, map.len() as u64);
        }
        let along = free
            .iter()
            .map(|&place| if place >= vector && indices.len() > batch.len() { place + 1 } else { place });
        Places { along: along.collect(), own, window, dropped, batching, map, indices, vector, batch }
    }

    /// Where the dimensions of the window stand, and the dims of the other tensor.
    fn merged(&self, random: &mut Rng, window: &[u64]) -> (Vec<usize>, Vec<u64>) {
        let rank = self.batch.len() + window.len();
        let mut at = shuffled(random, rank);
        at.truncate(window.len());
        at.sort_unstable();
        let (mut window, mut batch) = (window.iter(), self.batch.iter());
        let dims = (0..rank)
            .map(|dim| *if at.contains(&dim) { window.next() } else { batch.next() }.unwrap())
            .collect();
        (at, dims)
    }
}

fn gather(random: &mut Rng) -> Sample {
    let places = Places::draw(random);
    let sizes: Vec<u64> = (0..places.own.len())
        .map(|dim| match (places.window.contains(&dim), random.bool()) {
            (false, _) => 1,
            (true, true) => places.own[dim],
            (true, false) => random.u64(0..=places.own[dim]),
        })
        .collect();
    let window: Vec<u64> = places.window.iter().map(|&dim| sizes[dim]).collect();
    let (offset, _) = places.merged(random, &window);
    let mut sample = Sample::new();
    let x = sample.arg(&places.own, "i32");
    let at = sample.ranged(&places.indices, pick(random, &["i32", "i64", "ui8"]), (-2, 6));
    let Places { dropped, batching, along, map, vector, .. } = &places;
    sample.line(format!(
        "%r = tensor.gather {x}, {at} {{collapsed_slice_dims = {dropped:?}, index_vector_dim = {vector}, offset_dims = \
         {offset:?}, operand_batching_dims = {batching:?}, slice_sizes = {sizes:?}, start_indices_batching_dims = \
         {along:?}, start_index_map = {map:?}}}"
    ))
}

fn scatter(random: &mut Rng) -> Sample {
    let places = Places::draw(random);
    let window: Vec<u64> = places
        .window
        .iter()
        .map(|&dim| if random.bool() { places.own[dim] } else { random.u64(1..=places.own[dim]) })
        .collect();
    let (window_at, update_dims) = places.merged(random, &window);
    let (op, element, _) = monoid(random);
    // Or the last one wins, or differences are taken.
    let (region, element) = match random.u8(..4) {
        0 => ("({\n  ^body(%p: tensor<i32>, %q: tensor<i32>):\n    tensor.yield %q\n})".to_owned(), "i32"),
        1 => (combiner("i32", "subtract"), "i32"),
        _ => (combiner(element, op), element),
    };
    let range = if element == "i1" { (0, 1) } else { (-9, 9) };
    let mut sample = Sample::new();
    let x = sample.ranged(&places.own, element, range);
    let at = sample.ranged(&places.indices, pick(random, &["i32", "i64", "ui8"]), (-2, 6));
    let update = sample.ranged(&update_dims, element, range);
    let Places { dropped, batching, along, map, vector, .. } = &places;
    sample.line(format!(
        "%r = tensor.scatter {x}, {at}, {update} {{index_vector_dim = {vector}, input_batching_dims = {batching:?}, \
         inserted_window_dims = {dropped:?}, scatter_dims_to_operand_dims = {map:?}, scatter_indices_batching_dims = \
         {along:?}, update_window_dims = {window_at:?}}} {region}"
    ))
}

fn pad(random: &mut Rng) -> Sample {
    let (mut sample, dims) = (Sample::new(), some_dims(random));
    let interior: Vec<i64> = dims.iter().map(|_| random.i64(0..=2)).collect();
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for (&dim, &between) in dims.iter().zip(&interior) {
        let size = dim as i64 + (dim as i64 - 1) * between;
        low.push(random.i64(-size..=3));
        let least = -size - low[low.len() - 1];
        high.push(random.i64(least.max(-size)..=least.max(3)));
    }
    let (x, value) = (sample.arg(&dims, "i32"), sample.arg(&[], "i32"));
    sample.line(format!(
        "%r = tensor.pad {x}, {value} {{edge_padding_high = {high:?}, edge_padding_low = {low:?}, interior_padding = \
         {interior:?}}}"
    ))
}

fn reduce(random: &mut Rng) -> Sample {
    let (mut sample, dims) = (Sample::new(), some_dims(random));
    let reduced = subset(random, dims.len());
    let (op, element, neutral) = monoid(random);
    if random.u8(..5) == 0 {
        // The largest element and its place.
        let (x, at) = (sample.ranged(&dims, "i32", (-3, 3)), sample.arg(&dims, "i64"));
        return sample
            .line("%low = tensor.constant dense<-2147483648> : tensor<i32>")
            .line("%none = tensor.constant dense<9223372036854775807> : tensor<i64>")
            .line(format!(
                "%r, %s = tensor.reduce {x}, {at}, %low, %none {{dimensions = {reduced:?}}} ({{\n  \
                 ^b(%p: tensor<i32>, %i: tensor<i64>, %q: tensor<i32>, %j: tensor<i64>):\n    \
                 %gt = tensor.compare %p, %q {{direction = \"GT\"}}\n    %eq = tensor.compare %p, %q {{direction = \"EQ\"}}\n    \
                 %lt = tensor.compare %i, %j {{direction = \"LT\"}}\n    %tie = tensor.and %eq, %lt\n    \
                 %first = tensor.or %gt, %tie\n    %v = tensor.select %first, %p, %q\n    \
                 %k = tensor.select %first, %i, %j\n    tensor.yield %v, %k\n}})"
            ));
    }
    let x = sample.ranged(&dims, element, if element == "i1" { (0, 1) } else { (-3, 3) });
    let sample = match random.u8(..3) {
        0 => {
            let init = sample.ranged(&[], element, if element == "i1" { (0, 1) } else { (-3, 3) });
            return sample.line(format!(
                "%r = tensor.reduce {x}, {init} {{dimensions = {reduced:?}}} {}",
                combiner(element, op)
            ));
        }
        _ => sample.line(format!("%init = tensor.constant dense<{neutral}> : tensor<{element}>")),
    };
    sample
        .line(format!("%r = tensor.reduce {x}, %init {{dimensions = {reduced:?}}} {}", combiner(element, op)))
}

struct Windows {
    sizes: Vec<i64>,
    strides: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
}

impl Windows {
    fn draw(random: &mut Rng, rank: usize) -> Windows {
        let mut list =
            |low: i64, high: i64| -> Vec<i64> { (0..rank).map(|_| random.i64(low..=high)).collect() };
        Windows { sizes: list(1, 3), strides: list(1, 3), low: list(0, 2), high: list(0, 2) }
    }
}

fn reduce_window(random: &mut Rng) -> Sample {
    let (mut sample, dims) = (Sample::new(), some_dims(random));
    let (op, element, neutral) = monoid(random);
    let Windows { sizes, strides, low, high } = Windows::draw(random, dims.len());
    let spread: Vec<i64> = dims.iter().map(|_| random.i64(1..=2)).collect();
    let dilation: Vec<i64> = dims.iter().map(|_| random.i64(1..=2)).collect();
    let x = sample.ranged(&dims, element, if element == "i1" { (0, 1) } else { (-3, 3) });
    let (sample, init) = if random.u8(..3) == 0 {
        let init = sample.ranged(&[], element, if element == "i1" { (0, 1) } else { (-3, 3) });
        (sample, init)
    } else {
        (
            sample.line(format!("%init = tensor.constant dense<{neutral}> : tensor<{element}>")),
            "%init".to_owned(),
        )
    };
    sample.line(format!(
        "%r = tensor.reduce_window {x}, {init} {{base_dilations = {spread:?}, padding = {low:?} x {high:?}, \
         window_dilations = {dilation:?}, window_dimensions = {sizes:?}, window_strides = {strides:?}}} {}",
        combiner(element, op)
    ))
}

fn select_and_scatter(random: &mut Rng) -> Sample {
    let dims = some_dims(random);
    let Windows { sizes, strides, low, high } = Windows::draw(random, dims.len());
    let source: Vec<u64> = (0..dims.len())
        .map(|dim| {
            let padded = dims[dim] as i64 + low[dim] + high[dim];
            if sizes[dim] > padded { 0 } else { ((padded - sizes[dim]) / strides[dim] + 1) as u64 }
        })
        .collect();
    let mut sample = Sample::new();
    let (x, update) = (sample.ranged(&dims, "i32", (-3, 3)), sample.arg(&source, "i32"));
    let (sample, init) = if random.bool() {
        let init = sample.arg(&[], "i32");
        (sample, init)
    } else {
        (sample.line("%init = tensor.constant dense<0> : tensor<i32>"), "%init".to_owned())
    };
    let direction = pick(random, &["GE", "LE", "GT"]);
    sample.line(format!(
        "%r = tensor.select_and_scatter {x}, {update}, {init} {{padding = {low:?} x {high:?}, window_dimensions = \
         {sizes:?}, window_strides = {strides:?}}} ({{\n  ^select(%p: tensor<i32>, %q: tensor<i32>):\n    \
         %c = tensor.compare %p, %q {{direction = \"{direction}\"}}\n    tensor.yield %c\n}}, {{\n  \
         ^scatter(%p: tensor<i32>, %q: tensor<i32>):\n    %c = tensor.add %p, %q\n    tensor.yield %c\n}})"
    ))
}

fn reshape(random: &mut Rng) -> Sample {
    // Both shapes are made of the same prime factors.
    let factors: Vec<u64> = (0..random.usize(0..=4)).map(|_| [2, 3, 2, 5][random.usize(..4)]).collect();
    let mut shape = || {
        let mut own = factors.clone();
        random.shuffle(&mut own);
        let mut dims = vec![1];
        for factor in own {
            if random.bool() {
                dims.push(1);
            }
            *dims.last_mut().unwrap() *= factor;
        }
        dims
    };
    let (own, target) = (shape(), shape());
    let mut sample = Sample::new();
    let x = sample.arg(&own, "i32");
    sample.line(format!("%r = tensor.reshape {x} : {}", ty(&target, "i32")))
}

fn slice(random: &mut Rng) -> Sample {
    let (mut sample, dims) = (Sample::new(), some_dims(random));
    let x = sample.arg(&dims, "i32");
    let (mut start, mut limit, mut stride) = (Vec::new(), Vec::new(), Vec::new());
    for &dim in &dims {
        let (a, b) = (random.u64(0..=dim), random.u64(0..=dim));
        start.push(if random.bool() { 0 } else { a.min(b) });
        limit.push(if random.bool() { dim } else { a.max(b) });
        stride.push(random.u64(1..=3));
    }
    sample
        .line(format!("%r = tensor.slice {x} {{limit = {limit:?}, start = {start:?}, stride = {stride:?}}}"))
}

fn sort(random: &mut Rng) -> Sample {
    let (mut sample, dims) = (Sample::new(), some_dims(random));
    let (x, y) = (sample.ranged(&dims, "i32", (-3, 3)), sample.arg(&dims, "f32"));
    let direction = pick(random, &["LT", "GT"]);
    let dimension = random.i64(-(dims.len() as i64)..dims.len() as i64);
    sample.line(format!(
        "%r, %s = tensor.sort {x}, {y} {{dimension = {dimension}}} ({{\n  ^c(%a: tensor<i32>, %b: tensor<i32>, \
         %c: tensor<f32>, %d: tensor<f32>):\n    %l = tensor.compare %a, %b {{direction = \"{direction}\"}}\n    \
         tensor.yield %l\n}})"
    ))
}

fn triangular_solve(random: &mut Rng) -> Sample {
    let batch_rank = random.usize(0..=2);
    let batch = dims(random, batch_rank, 1..=4);
    let (size, others) = (random.u64(1..=3), random.u64(1..=4));
    let (is_left, lower, unit) = (random.bool(), random.bool(), random.bool());
    let transpose = pick(random, &["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]);
    let element = pick(random, &["f64", "complex<f64>"]);
    let side = if is_left { [size, others] } else { [others, size] };
    let mut sample = Sample::new();
    let a = sample.ranged(&[&batch[..], &[size, size]].concat(), element, (1, 3));
    let b = sample.arg(&[&batch[..], &side].concat(), element);
    sample.line(format!(
        "%r = tensor.triangular_solve {a}, {b} {{left_side = {is_left}, lower = {lower}, transpose_a = \"{transpose}\", \
         unit_diagonal = {unit}}}"
    ))
}

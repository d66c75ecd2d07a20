//! Corner cases of element types, computed by hand: NaN, infinities, signed zeros, wrapping, rounding, saturation.

use tofu_ir::ElementType::{self, *};
use tofu_tdl::{OpaqueRegistry, Tensor, describe, evaluate};

use crate::samples::ty;
use crate::support::*;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The results of `line`, an op with so many that uses `%a0`, `%a1`, …
#[track_caller]
fn results(count: usize, line: &str, operands: &[Tensor]) -> Vec<Tensor> {
    let arguments: Vec<String> = (operands.iter().enumerate())
        .map(|(number, tensor)| format!("%a{number}: {}", ty(tensor.dims(), tensor.element().name())))
        .collect();
    let names: Vec<String> = (0..count).map(|number| format!("%r{number}")).collect();
    let (arguments, names) = (arguments.join(", "), names.join(", "));
    let program = format!("func @f({arguments}) {{\n{names} = tensor.{line}\nreturn\n}}");
    let module = read(&program).unwrap_or_else(|found| panic!("{}", found.join("\n")));
    let name = format!("tensor.{}", line.split(' ').next().unwrap());
    let op = ops_of(&module, &name)[0];
    let arguments = module.arguments(module.block_of(op).unwrap());
    let of = |value| &operands[arguments.iter().position(|&argument| argument == value).unwrap()];
    let operands: Vec<Tensor> = module.operands(op).map(|value| of(value).clone()).collect();
    evaluate(&describe(&module, op).unwrap(), &operands, &OpaqueRegistry::builtin()).unwrap()
}

/// The result of an op with one.
#[track_caller]
fn run(line: &str, operands: &[Tensor]) -> Tensor {
    results(1, line, operands).remove(0)
}

fn vector(element: ElementType, numbers: &[f64]) -> Tensor {
    Tensor::from_numbers(element, &[numbers.len() as u64], numbers).unwrap()
}

fn integers(element: ElementType, numbers: &[i128]) -> Tensor {
    let mut tensor = Tensor::zeros(element, &[numbers.len() as u64]).unwrap();
    numbers.iter().enumerate().for_each(|(at, &number)| tensor.set_integer(at, number));
    tensor
}

/// Numbers bit by bit, except that all NaNs are one.
fn bits(tensor: &Tensor) -> Vec<u64> {
    tensor.numbers().iter().map(|&number| if number.is_nan() { NAN } else { number }.to_bits()).collect()
}

#[track_caller]
fn floats(line: &str, operands: &[&[f64]], expected: &[f64]) {
    for element in [F64, F32, BF16, F16] {
        let operands: Vec<Tensor> = operands.iter().map(|numbers| vector(element, numbers)).collect();
        let found = run(line, &operands);
        let wanted = vector(found.element(), expected);
        assert_eq!(bits(&found), bits(&wanted), "{line} of {element}: {:?}", found.numbers());
    }
}

#[track_caller]
fn ints(line: &str, element: ElementType, operands: &[&[i128]], expected: &[i128]) {
    let operands: Vec<Tensor> = operands.iter().map(|numbers| integers(element, numbers)).collect();
    let found = run(line, &operands);
    let found: Vec<i128> = (0..found.len()).map(|at| found.integer(at)).collect();
    assert_eq!(found, expected, "{line} of {element}");
}

#[test]
fn floats_follow_the_standard() {
    floats("add %a0, %a1", &[&[INF, 0.0, -0.0, NAN], &[-INF, -0.0, -0.0, 1.0]], &[NAN, 0.0, -0.0, NAN]);
    floats("divide %a0, %a1", &[&[1.0, -1.0, 0.0, 1.0], &[0.0, 0.0, 0.0, -0.0]], &[INF, -INF, NAN, -INF]);
    floats("multiply %a0, %a1", &[&[INF, -0.0], &[0.0, 5.0]], &[NAN, -0.0]);
    floats("remainder %a0, %a1", &[&[5.5, -5.5, 1.0, INF], &[2.0, 2.0, 0.0, 2.0]], &[1.5, -1.5, NAN, NAN]);
    floats("maximum %a0, %a1", &[&[NAN, 1.0, -0.0, 0.0], &[1.0, NAN, 0.0, -0.0]], &[NAN, NAN, 0.0, 0.0]);
    floats("minimum %a0, %a1", &[&[NAN, 1.0, -0.0, 0.0], &[1.0, NAN, 0.0, -0.0]], &[NAN, NAN, -0.0, -0.0]);
    floats("negate %a0", &[&[0.0, INF, NAN]], &[-0.0, -INF, NAN]);
    floats("abs %a0", &[&[-0.0, -INF, NAN]], &[0.0, INF, NAN]);
    floats("sign %a0", &[&[-0.0, -INF, NAN, 0.5]], &[-0.0, -1.0, NAN, 1.0]);
    floats("round_nearest_even %a0", &[&[0.5, 1.5, -0.5, 2.5]], &[0.0, 2.0, -0.0, 2.0]);
    floats("round_nearest_afz %a0", &[&[0.5, 1.5, -0.5, 2.5]], &[1.0, 2.0, -1.0, 3.0]);
    floats("sqrt %a0", &[&[-1.0, -0.0, INF, 4.0]], &[NAN, -0.0, INF, 2.0]);
    floats("rsqrt %a0", &[&[0.0, INF, 4.0]], &[INF, 0.0, 0.5]);
    floats("exponential %a0", &[&[-INF, INF, 0.0]], &[0.0, INF, 1.0]);
    floats("log %a0", &[&[0.0, -1.0, INF, 1.0]], &[-INF, NAN, INF, 0.0]);
    floats("log_plus_one %a0", &[&[-1.0, -0.0]], &[-INF, -0.0]);
    floats("tanh %a0", &[&[INF, -INF, -0.0]], &[1.0, -1.0, -0.0]);
    floats("logistic %a0", &[&[INF, -INF, 0.0]], &[1.0, 0.0, 0.5]);
    floats("power %a0, %a1", &[&[0.0, NAN, 1.0, -2.0], &[-1.0, 0.0, NAN, 3.0]], &[INF, 1.0, 1.0, -8.0]);
    floats("atan2 %a0, %a1", &[&[0.0, -0.0], &[1.0, 1.0]], &[0.0, -0.0]);
    floats("clamp %a1, %a0, %a2", &[&[5.0, NAN, -5.0], &[0.0; 3], &[2.0; 3]], &[2.0, NAN, 0.0]);
    floats("is_finite %a0", &[&[1.0, INF, NAN]], &[1.0, 0.0, 0.0]);
    floats("is_inf %a0", &[&[1.0, INF, -INF, NAN]], &[0.0, 1.0, 1.0, 0.0]);
    floats("is_pos_inf %a0", &[&[1.0, INF, -INF, NAN]], &[0.0, 1.0, 0.0, 0.0]);
    floats("is_neg_inf %a0", &[&[1.0, INF, -INF, NAN]], &[0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn comparisons_know_nan_and_the_total_order() {
    let (x, y) = (&[NAN, 1.0, -0.0, 2.0][..], &[NAN, NAN, 0.0, 1.0][..]);
    let compare = |direction: &str, order: &str, expected: &[f64]| {
        let line = format!("compare %a0, %a1 {{compare_type = \"{order}\", direction = \"{direction}\"}}");
        floats(&line, &[x, y], expected);
    };
    compare("EQ", "FLOAT", &[0.0, 0.0, 1.0, 0.0]);
    compare("NE", "FLOAT", &[1.0, 1.0, 0.0, 1.0]);
    compare("LT", "FLOAT", &[0.0, 0.0, 0.0, 0.0]);
    compare("GE", "FLOAT", &[0.0, 0.0, 1.0, 1.0]);
    compare("EQ", "TOTALORDER", &[1.0, 0.0, 0.0, 0.0]);
    compare("LT", "TOTALORDER", &[0.0, 1.0, 1.0, 0.0]);
    compare("GE", "TOTALORDER", &[1.0, 0.0, 0.0, 1.0]);
}

/// Against products of twice the bits: corners with one another, and every pair of the small types.
#[test]
fn upper_halves_of_products() {
    for element in [I2, I4, I8, I16, I32, I64, Ui2, Ui4, Ui8, Ui16, Ui32, Ui64] {
        let (low, high) = element.integer_range().unwrap();
        let numbers: Vec<i128> = if element.bits() <= 8 {
            (low..=high).collect()
        } else {
            let corners = [0, 1, 2, 3, 1 << (element.bits() / 2), high / 3, high / 2];
            let around = |&corner: &i128| [low + corner, high - corner, corner, -corner];
            corners.iter().flat_map(around).filter(|number| (low..=high).contains(number)).collect()
        };
        let pairs: Vec<(i128, i128)> =
            numbers.iter().flat_map(|&x| numbers.iter().map(move |&y| (x, y))).collect();
        let (xs, ys): (Vec<i128>, Vec<i128>) = pairs.iter().copied().unzip();
        let upper = |&(x, y): &(i128, i128)| match (u128::try_from(x), u128::try_from(y)) {
            (Ok(x), Ok(y)) => ((x * y) >> element.bits()) as i128,
            _ => (x * y) >> element.bits(),
        };
        let expected: Vec<i128> = pairs.iter().map(upper).collect();
        ints("mulhi %a0, %a1", element, &[&xs, &ys], &expected);
    }
}

#[test]
fn integers_wrap_and_never_trap() {
    ints("add %a0, %a1", I8, &[&[127, -128], &[1, -1]], &[-128, 127]);
    ints("subtract %a0, %a1", Ui8, &[&[0], &[1]], &[255]);
    ints("multiply %a0, %a1", I16, &[&[300], &[300]], &[24464]);
    ints("multiply %a0, %a1", Ui64, &[&[1 << 40], &[1 << 40]], &[0]);
    ints(
        "divide %a0, %a1",
        I32,
        &[&[7, -7, 1, i32::MIN.into()], &[2, 2, 0, -1]],
        &[3, -3, -1, i32::MIN.into()],
    );
    ints("divide %a0, %a1", Ui8, &[&[7], &[0]], &[255]);
    ints("remainder %a0, %a1", I32, &[&[7, -7, 5, i32::MIN.into()], &[-2, 2, 0, -1]], &[1, -1, 5, 0]);
    ints("power %a0, %a1", I8, &[&[3, 2, 2, -1], &[5, 8, -1, -3]], &[-13, 0, 0, -1]);
    ints("abs %a0", I8, &[&[-128, -3]], &[-128, 3]);
    ints("negate %a0", Ui8, &[&[1]], &[255]);
    ints("sign %a0", I8, &[&[-5, 0, 5]], &[-1, 0, 1]);
    ints("shift_left %a0, %a1", I8, &[&[1, 1, -1], &[7, 8, 4]], &[-128, 0, -16]);
    ints("shift_right_logical %a0, %a1", I8, &[&[-128, -1], &[7, 9]], &[1, 0]);
    ints("shift_right_arithmetic %a0, %a1", I8, &[&[-128, -1, 64], &[7, 9, 9]], &[-1, -1, 0]);
    ints("popcnt %a0", I8, &[&[-1, 5]], &[8, 2]);
    ints("count_leading_zeros %a0", I16, &[&[0, 1, -1]], &[16, 15, 0]);
    ints("not %a0", I4, &[&[7, -8]], &[-8, 7]);
    ints("not %a0", I1, &[&[1, 0]], &[0, 1]);
    ints("add %a0, %a1", I1, &[&[1, 1, 0], &[1, 0, 0]], &[1, 1, 0]);
    ints("multiply %a0, %a1", I1, &[&[1, 1], &[1, 0]], &[1, 0]);
    ints("xor %a0, %a1", I1, &[&[1, 1], &[1, 0]], &[0, 1]);
    ints("maximum %a0, %a1", Ui8, &[&[200], &[100]], &[200]);
    ints("compare %a0, %a1 {direction = \"LT\"}", I8, &[&[-1], &[1]], &[1]);
    ints("compare %a0, %a1 {direction = \"LT\"}", Ui8, &[&[255], &[1]], &[0]);
}

fn converted(numbers: &[f64], from: ElementType, to: ElementType) -> Vec<f64> {
    let line = format!("convert %a0 : {}", ty(&[numbers.len() as u64], to.name()));
    run(&line, &[vector(from, numbers)]).numbers()
}

#[test]
fn conversions_round_and_saturate() {
    assert_eq!(converted(&[-1.9, 300.0, -300.0, NAN, INF], F32, I8), [-1.0, 127.0, -128.0, 0.0, 127.0]);
    assert_eq!(converted(&[-1.0, 300.0], F32, Ui8), [0.0, 255.0]);
    assert_eq!(converted(&[1e30, -1e30], F64, I64), [i64::MAX as f64, i64::MIN as f64]);
    assert_eq!(converted(&[200.0, -1.0], I16, I8), [-56.0, -1.0]);
    assert_eq!(converted(&[0.5, 0.0, -0.0, NAN], F32, I1), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(converted(&[1.0, 0.0], I1, F32), [1.0, 0.0]);
    // Halves between two neighbours go to the even one: of 8 bits 256, 258, 260; of 11 bits 2048, 2050.
    assert_eq!(converted(&[257.0, 259.0, 258.9], F32, BF16), [256.0, 260.0, 258.0]);
    assert_eq!(converted(&[2049.0, 2051.0, 65520.0], F32, F16), [2048.0, 2052.0, INF]);
    // 2^24 + 1 and 2^24 + 3.
    assert_eq!(converted(&[16777217.0, 16777219.0], I32, F32), [16777216.0, 16777220.0]);
    // Steps of 1/8 between 1 and 2, of 1/4 from 2 on; no infinity, the greatest is 448.
    assert_eq!(converted(&[1.0625, 1.1875, 2.125], F32, F8E4M3FN), [1.0, 1.25, 2.0]);
    assert!(converted(&[NAN, 1000.0], F32, F8E4M3FN)[..].iter().all(|number| number.is_nan()));
    // Steps of 1/4; the greatest is 57344.
    assert_eq!(converted(&[1.125, 1.375, 1e6], F32, F8E5M2), [1.0, 1.5, INF]);
}

#[test]
fn narrow_floats_round_after_each_operation() {
    let sum = |element, x: f64, y: f64| {
        run("add %a0, %a1", &[vector(element, &[x]), vector(element, &[y])]).number(0)
    };
    assert_eq!(sum(BF16, 256.0, 1.0), 256.0);
    assert_eq!(sum(F16, 2048.0, 1.0), 2048.0);
    assert_eq!(sum(F8E4M3FN, 16.0, 1.0), 16.0);
    assert_eq!(sum(F32, 16777216.0, 1.0), 16777216.0);
    // Products are summed up as f32 and rounded once.
    let ones = Tensor::from_numbers(BF16, &[300], &[1.0; 300]).unwrap();
    let product = run("dot_general %a0, %a1 {contracting = [0] x [0]}", &[ones.clone(), ones]);
    assert_eq!((product.element(), product.number(0)), (BF16, 300.0));
}

#[test]
fn precision_is_reduced_on_bits() {
    let reduced = |exponent: u32, mantissa: u32, numbers: &[f64]| {
        let line = format!("reduce_precision %a0 {{exponent_bits = {exponent}, mantissa_bits = {mantissa}}}");
        run(&line, &[vector(F32, numbers)])
    };
    // As bf16 and as f16.
    assert_eq!(reduced(8, 7, &[257.0, 259.0]).numbers(), [256.0, 260.0]);
    assert_eq!(reduced(5, 10, &[65519.0, 65520.0, 1e-8]).numbers(), [65504.0, INF, 0.0]);
    assert!(reduced(5, 2, &[NAN]).number(0).is_nan());
    assert_eq!(bits(&reduced(5, 2, &[-0.0, -INF])), [(-0.0f64).to_bits(), (-INF).to_bits()]);
}

#[test]
fn bits_keep_their_order() {
    let cast = |x: &Tensor, dims: &[u64], to: ElementType| {
        run(&format!("bitcast_convert %a0 : {}", ty(dims, to.name())), std::slice::from_ref(x))
    };
    let one = vector(F32, &[1.0]);
    // 0x3F800000, lowest bits first.
    let halves = cast(&one, &[1, 2], Ui16);
    assert_eq!(halves.numbers(), [0.0, f64::from(0x3F80)]);
    let bytes = cast(&one, &[1, 4], Ui8);
    assert_eq!(bytes.numbers(), [0.0, 0.0, 128.0, 63.0]);
    assert_eq!(cast(&one, &[1], I32).integer(0), 0x3F80_0000);
    assert_eq!(cast(&bytes, &[1], F32), one);
    assert_eq!(cast(&halves, &[1], F32), one);
    let five = integers(Ui8, &[5]);
    let flags = cast(&five, &[1, 8], I1);
    assert_eq!(flags.numbers(), [1., 0., 1., 0., 0., 0., 0., 0.]);
    assert_eq!(cast(&flags, &[1], Ui8), five);
    let mut wide = Tensor::zeros(Complex64, &[1]).unwrap();
    wide.set_complex(0, 2.0, -3.0);
    let narrow = cast(&wide, &[1, 2], Complex32);
    assert_eq!(narrow.bytes(), wide.bytes());
    assert_eq!(cast(&narrow, &[1], Complex64), wide);
}

#[test]
fn complex_numbers() {
    let mut z = Tensor::zeros(Complex64, &[2]).unwrap();
    z.set_complex(0, 3.0, 4.0);
    z.set_complex(1, 0.0, -1.0);
    let of = |line: &str| run(line, std::slice::from_ref(&z));
    assert_eq!(of("abs %a0").numbers(), [5.0, 1.0]);
    assert_eq!((of("real %a0").numbers(), of("imag %a0").numbers()), (vec![3.0, 0.0], vec![4.0, -1.0]));
    assert_eq!(of("conj %a0").complex_at(0), (3.0, -4.0));
    assert_eq!(of("multiply %a0, %a0").complex_at(0), (-7.0, 24.0));
    assert_eq!(of("divide %a0, %a0").complex_at(1), (1.0, 0.0));
    assert_eq!(of("square %a0").complex_at(1), (-1.0, 0.0));
    assert_eq!(of("compare %a0, %a0 {direction = \"EQ\"}").numbers(), [1.0, 1.0]);
    let parts = [vector(F32, &[1.0]), vector(F32, &[2.0])];
    assert_eq!(run("complex %a0, %a1", &parts).complex_at(0), (1.0, 2.0));
    assert_eq!(run("imag %a0", &parts[..1]).numbers(), [0.0]);
}

#[test]
fn starts_beyond_the_end_are_moved() {
    let x = vector(F32, &[1., 2., 3., 4., 5.]);
    for (start, expected) in [(-7, [1., 2.]), (2, [3., 4.]), (4, [4., 5.]), (i64::MAX.into(), [4., 5.])] {
        let mut at = Tensor::zeros(I64, &[]).unwrap();
        at.set_integer(0, start);
        let line = "dynamic_slice %a0, %a1 {slice_sizes = [2]}";
        assert_eq!(run(line, &[x.clone(), at.clone()]).numbers(), expected);
        let update = vector(F32, &[8., 9.]);
        let whole = run("dynamic_update_slice %a0, %a1, %a2", &[x.clone(), update, at]);
        assert_eq!(whole.numbers().iter().filter(|&&number| number > 5.0).count(), 2);
    }
    // Too large for an index.
    let mut at = Tensor::zeros(Ui64, &[]).unwrap();
    at.set_integer(0, u64::MAX.into());
    assert_eq!(run("dynamic_slice %a0, %a1 {slice_sizes = [2]}", &[x, at]).numbers(), [4., 5.]);
}

/// A window at 2^64 - 1 lies behind the operand, not one place before it.
#[test]
fn scatters_leave_out_what_is_too_far() {
    let region = "({\n^body(%p: tensor<f32>, %q: tensor<f32>):\ntensor.yield %q\n})";
    let line = format!(
        "scatter %a0, %a1, %a2 {{index_vector_dim = 1, scatter_dims_to_operand_dims = [0], \
         update_window_dims = [1]}} {region}"
    );
    let (x, updates) = (vector(F32, &[1., 2., 3.]), Tensor::from_numbers(F32, &[1, 2], &[8., 9.]).unwrap());
    let at = |element, place: i128| {
        let mut at = Tensor::zeros(element, &[1, 1]).unwrap();
        at.set_integer(0, place);
        at
    };
    let scattered = |at| run(&line, &[x.clone(), at, updates.clone()]).numbers();
    assert_eq!(scattered(at(Ui64, 1)), [1., 8., 9.]);
    assert_eq!(scattered(at(Ui64, 2)), [1., 2., 8.]);
    assert_eq!(scattered(at(I64, -1)), [9., 2., 3.]);
    assert_eq!(scattered(at(Ui64, u64::MAX.into())), [1., 2., 3.]);
}

#[test]
fn random_numbers_are_where_they_should_be() {
    let scalar = |element, number: f64| Tensor::from_numbers(element, &[], &[number]).unwrap();
    let uniform = "rng %a0, %a1 {rng_distribution = \"UNIFORM\"} : tensor<100x100xf32>";
    let numbers = run(uniform, &[scalar(F32, 2.0), scalar(F32, 6.0)]).numbers();
    assert!(numbers.iter().all(|number| (2.0..6.0).contains(number)));
    let mean = numbers.iter().sum::<f64>() / 1e4;
    assert!((mean - 4.0).abs() < 0.05, "{mean}");
    // One of 512 is nearer to the end than to any bf16 in the range.
    let narrow = "rng %a0, %a1 {rng_distribution = \"UNIFORM\"} : tensor<100x100xbf16>";
    let numbers = run(narrow, &[scalar(BF16, 0.0), scalar(BF16, 1.0)]).numbers();
    assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
    assert!(numbers.contains(&0.996_093_75), "the last bf16 before 1");
    let dice = "rng %a0, %a1 {rng_distribution = \"UNIFORM\"} : tensor<6000xi32>";
    let numbers = run(dice, &[scalar(I32, 1.0), scalar(I32, 7.0)]).numbers();
    for face in 1..=6 {
        let count = numbers.iter().filter(|&&number| number == f64::from(face)).count();
        assert!((800..1200).contains(&count), "{count} of {face}");
    }
    let normal = "rng %a0, %a1 {rng_distribution = \"NORMAL\"} : tensor<10000xf64>";
    let numbers = run(normal, &[scalar(F64, 1.0), scalar(F64, 3.0)]).numbers();
    let mean = numbers.iter().sum::<f64>() / 1e4;
    let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / 1e4;
    assert!((mean - 1.0).abs() < 0.1 && (variance - 9.0).abs() < 0.5, "{mean}, {variance}");
}

/// By its definition: columns with mean 0 and variance 1, and the gradient by differences.
#[test]
fn normalization_and_its_gradient() {
    let x = Tensor::from_numbers(F64, &[4, 2], &[1., -3., 2., 5., 4., 1., 9., 0.5]).unwrap();
    let (scale, offset) = (vector(F64, &[2.0, 3.0]), vector(F64, &[0.5, -1.0]));
    let attributes = "{epsilon = 0.125 : f32, feature_index = 1}";
    let forward = |x: &Tensor| -> Vec<Tensor> {
        let line = format!("batch_norm_training %a0, %a1, %a2 {attributes}");
        results(3, &line, &[x.clone(), scale.clone(), offset.clone()])
    };
    let all = forward(&x);
    assert_eq!(all[1].numbers(), [4.0, 0.875]);
    // (9 + 4 + 0 + 25) / 4
    assert_eq!(all[2].number(0), 9.5);
    let first = (1.0 - 4.0) / (9.5f64 + 0.125).sqrt() * 2.0 + 0.5;
    assert!((all[0].number(0) - first).abs() < 1e-12);
    let inferred = run(
        &format!("batch_norm_inference %a0, %a1, %a2, %a3, %a4 {attributes}"),
        &[x.clone(), scale.clone(), offset.clone(), all[1].clone(), all[2].clone()],
    );
    assert_eq!(inferred.numbers(), all[0].numbers());
    let weights: Vec<f64> = (0..8).map(|at| f64::from(at * at % 5)).collect();
    let gradient = Tensor::from_numbers(F64, &[4, 2], &weights).unwrap();
    let gradients = results(
        3,
        &format!("batch_norm_grad %a0, %a1, %a2, %a3, %a4 {attributes}"),
        &[x.clone(), scale.clone(), all[1].clone(), all[2].clone(), gradient],
    );
    let loss = |x: &Tensor| -> f64 { forward(x)[0].numbers().iter().zip(&weights).map(|(y, w)| y * w).sum() };
    for at in 0..8 {
        let step = |by: f64| {
            let mut moved = x.clone();
            moved.set_number(at, x.number(at) + by);
            loss(&moved)
        };
        let slope = (step(1e-5) - step(-1e-5)) / 2e-5;
        assert!((gradients[0].number(at) - slope).abs() < 1e-6, "{slope}");
    }
    assert_eq!(gradients[2].number(0), weights.iter().step_by(2).sum::<f64>());
}

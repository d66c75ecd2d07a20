//! The opaque functions that the crate brings, against results computed elsewhere or by their definition.

use fastrand::Rng;
use tofu_diagnostics::codes;
use tofu_ir::ElementType::*;
use tofu_tdl::{
    OpaqueArity, OpaqueElement, OpaqueFunction, OpaqueRegistry, OpaqueResults, Tensor, TypeClass, evaluate,
    functions, parse, strategies,
};

use crate::support::*;

const SORT: &str = "tdl @sort(x: f32[B, N], y: i32[B, N]) -> (a: f32[B, N], b: i32[B, N]) {
  compare less(p: f32, i: i32; q: f32, j: i32) = p < q or p == q and i > j
  a[b, i] = opaque \"sort\" by less (x[b, :], y[b, :])[i]
  b[b, i] = opaque \"sort\" by less (x[b, :], y[b, :]).1[i]
}
";

#[test]
fn calls_have_comparators() {
    let sort = read(SORT);
    assert_eq!(sort.to_string(), SORT);
    let x = tensor(F32, &[2, 4], &[3., 1., 2., 1., 0., -1., -2., -3.]);
    let y = tensor(I32, &[2, 4], &[0., 1., 2., 3., 4., 5., 6., 7.]);
    let results = run(&sort, &[x, y]);
    assert_eq!(results[0].numbers(), [1., 1., 2., 3., -3., -2., -1., 0.]);
    assert_eq!(results[1].numbers(), [3., 1., 2., 0., 7., 6., 5., 4.]);
    let ways: Vec<String> = strategies(&sort).iter().map(|strategy| strategy.text(&sort)).collect();
    assert_eq!(ways, ["b: x [split, whole], y [split, whole] -> concat 0, concat 0"]);
}

#[test]
fn wrong_calls_are_refused() {
    let refusal = |from: &str, to: &str| {
        let text = SORT.replace(from, to);
        let errors = parse(&text, 1, &OpaqueRegistry::builtin()).expect_err(&text);
        (errors[0].code.id, errors[0].message.clone())
    };
    let wrong = |message: &str| (codes::TDL_UNKNOWN_OPAQUE.id, message.to_owned());
    assert_eq!(
        refusal(" by less (", "("),
        wrong("\"sort\" needs a comparator: `opaque \"sort\" by less (…)`")
    );
    assert_eq!(refusal(".1[i]", ".2[i]"), wrong("\"sort\" gives 2 results; there is none of number 2"));
    assert_eq!(
        refusal("(x[b, :], y[b, :])", "(y[b, :], x[b, :])"),
        wrong("`less` does not compare elements of what \"sort\" is given")
    );
    assert_eq!(
        refusal("by less", "by leSS"),
        (codes::TDL_UNKNOWN_NAME.id, "unknown comparator `leSS`".to_owned())
    );
    assert_eq!(
        refusal("\"sort\" by less (x[b, :], y[b, :])", "\"top_k\"{2}(x[b, :], y[b, :])"),
        wrong("\"top_k\" takes one tensor, not 2")
    );
    // What a call is given is looked at before anything runs.
    assert_eq!(
        refusal("(x[b, :], y[b, :])", "(x[:, :], y[:, :])"),
        wrong("sort takes vectors of one length")
    );
    assert_eq!(refusal(".1[i]", ".1[b, i]"), wrong("result 1 of \"sort\" has one dimension, not 2"));
    for (call, message) in [
        ("\"fft\"(x[b, :])", "\"fft\" takes a complex number, not a float"),
        ("\"rfft\"(y[b, :])", "\"rfft\" takes a float, not an integer"),
        ("\"cholesky\"(x[b, :])", "cholesky takes a square matrix"),
        (
            "\"triangular_solve\"{0, 0, 0}(x[b, :], x[b, :])",
            "triangular_solve takes a square matrix and a vector",
        ),
        (
            "\"triangular_solve\"{0, 0, 4}(x[:, :], x[b, :])",
            "triangular_solve takes three constants, the last one from 0 to 3",
        ),
        ("\"top_k\"(x[b, :])", "top_k takes a vector and one constant"),
        (
            "\"three_fry32\"{4, 5}(y[:, :])",
            "the state of a random number generator is a vector of 2 or 3 ui64",
        ),
        ("\"philox64\"{4, 5}(y[b, :])", "result 0 of \"philox64\" has 2 dimensions, not 1"),
        ("\"philox64\"{4}(x[b, :])", "\"philox64\" takes an integer, not a float"),
    ] {
        assert_eq!(refusal("\"sort\" by less (x[b, :], y[b, :])", call), wrong(message));
    }
    assert_eq!(
        refusal("= p < q or p == q and i > j", "= i"),
        (codes::TDL_TYPE.id, "`less` has the type i1 and is defined as a value of type i32".to_owned())
    );
    assert_eq!(
        refusal("opaque \"sort\" by less (x[b, :], y[b, :])[i]", "less(k: N)(x[b, k], y[b, k]).0"),
        (codes::TDL_WRONG_REDUCER.id, "`less` compares, and combines nothing".to_owned())
    );
}

#[test]
fn sorting_is_stable_and_ends_with_a_permutation() {
    // By the first digit only; then by a comparator that is no order at all.
    let digit = read(
        "tdl @sort(x: i32[N]) -> i32[N] {
           compare less(a: i32; b: i32) = a / 10 < b / 10
           out[i] = opaque \"sort\" by less (x[:])[i]
         }",
    );
    let x = tensor(I32, &[7], &[25., 13., 21., 11., 29., 17., 4.]);
    assert_eq!(run(&digit, &[x])[0].numbers(), [4., 13., 11., 17., 25., 21., 29.]);
    let nonsense = read(
        "tdl @sort(x: f32[N]) -> f32[N] {
           compare less(a: f32; b: f32) = not (a == b)
           out[i] = opaque \"sort\" by less (x[:])[i]
         }",
    );
    let mut random = Rng::with_seed(3);
    for length in [0, 1, 2, 3, 50] {
        let numbers: Vec<f64> = (0..length).map(|_| f64::from(random.i32(-5..5))).collect();
        let x = tensor(F32, &[length], &numbers);
        let mut found = run(&nonsense, &[x])[0].numbers();
        let mut wanted = numbers;
        found.sort_by(f64::total_cmp);
        wanted.sort_by(f64::total_cmp);
        assert_eq!(found, wanted);
    }
}

/// Places and order as XLA has them.
#[test]
fn the_greatest_come_first() {
    let top = read(
        "tdl @top(x: [N]) -> (values: [8], at: i32[8]) where 8 <= N {
           values[i] = opaque \"top_k\"{8}(x[:])[i]
           at[i] = opaque \"top_k\"{8}(x[:]).1[i]
         }",
    );
    let inf = f64::INFINITY;
    let x = tensor(F32, &[9], &[1.0, f64::NAN, -0.0, 0.0, inf, -inf, 2.0, -f64::NAN, 2.0]);
    let results = run(&top, &[x]);
    assert_eq!(results[1].numbers(), [1., 4., 6., 8., 0., 3., 2., 5.]);
    assert!(results[0].number(0).is_nan() && results[0].number(6).is_sign_negative());
    let x = tensor(I8, &[8], &[-128., 3., 127., 3., 0., 1., 2., -1.]);
    assert_eq!(run(&top, &[x])[1].numbers(), [2., 1., 3., 6., 5., 4., 7., 0.]);
}

fn complex(dims: &[u64], random: &mut Rng) -> Tensor {
    let mut tensor = Tensor::zeros(Complex64, dims).unwrap();
    for index in 0..tensor.len() {
        tensor.set_complex(index, random.f64() - 0.5, random.f64() - 0.5);
    }
    tensor
}

/// By the definition, one element after the other.
fn slow_transform(x: &Tensor, sign: f64) -> Vec<(f64, f64)> {
    let dims = x.dims();
    let at = |mut index: u64| -> Vec<u64> {
        let mut at = vec![0; dims.len()];
        for (place, &dim) in at.iter_mut().zip(dims).rev() {
            (*place, index) = (index % dim, index / dim);
        }
        at
    };
    (0..x.len() as u64)
        .map(|k| {
            (0..x.len() as u64).fold((0.0, 0.0), |(re, im), n| {
                let turns: f64 = at(k)
                    .iter()
                    .zip(at(n))
                    .zip(dims)
                    .map(|((&k, n), &dim)| (k * n) as f64 / dim as f64)
                    .sum();
                let (sine, cosine) = (sign * std::f64::consts::TAU * turns).sin_cos();
                let (a, b) = x.complex_at(n as usize);
                (re + a * cosine - b * sine, im + a * sine + b * cosine)
            })
        })
        .collect()
}

fn assert_close(found: &Tensor, wanted: &[(f64, f64)]) {
    assert_eq!(found.len(), wanted.len());
    for (index, wanted) in wanted.iter().enumerate() {
        let found = found.complex_at(index);
        assert!(
            (found.0 - wanted.0).abs() < 1e-12 && (found.1 - wanted.1).abs() < 1e-12,
            "{found:?} is not {wanted:?}"
        );
    }
}

#[test]
fn transforms_follow_their_definition() {
    let mut random = Rng::with_seed(5);
    let slots = |rank: usize| vec![":"; rank].join(", ");
    let vars = |rank: usize| ["i", "j", "k"][..rank].join(", ");
    for dims in [&[1][..], &[2], &[7], &[12], &[30], &[3, 4], &[2, 3, 5]] {
        let rank = dims.len();
        let shape = dims.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let text = |function: &str, constants: &str, from: &str, to: &str| {
            let (slots, vars) = (slots(rank), vars(rank));
            read(&format!(
                "tdl @f(x: {from}) -> {to} {{ out[{vars}] = opaque \"{function}\"{constants}(x[{slots}])[{vars}] }}"
            ))
        };
        let whole = format!("complex<f64>[{shape}]");
        let x = complex(dims, &mut random);
        let forward = run(&text("fft", "", &whole, &whole), std::slice::from_ref(&x));
        assert_close(&forward[0], &slow_transform(&x, -1.0));
        let back = run(&text("ifft", "", &whole, &whole), &forward);
        assert_close(&back[0], &(0..x.len()).map(|i| x.complex_at(i)).collect::<Vec<_>>());
        // Of real numbers: the first half, and back.
        let mut real = x.clone();
        (0..real.len()).for_each(|index| real.set_complex(index, x.number(index), 0.0));
        let numbers = Tensor::from_numbers(F64, dims, &real.numbers()).unwrap();
        let last = dims[rank - 1];
        let mut half = dims.to_vec();
        half[rank - 1] = last / 2 + 1;
        let half = half.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let half = format!("complex<f64>[{half}]");
        let forward = run(&text("rfft", "", &format!("f64[{shape}]"), &half), std::slice::from_ref(&numbers));
        let wanted: Vec<(f64, f64)> = slow_transform(&real, -1.0)
            .chunks(last as usize)
            .flat_map(|row| row[..last as usize / 2 + 1].to_vec())
            .collect();
        assert_close(&forward[0], &wanted);
        let back = run(&text("irfft", &format!("{{{last}}}"), &half, &format!("f64[{shape}]")), &forward);
        assert_close(&back[0], &numbers.numbers().iter().map(|&number| (number, 0.0)).collect::<Vec<_>>());
    }
}

#[test]
fn triangular_systems_are_solved() {
    let mut random = Rng::with_seed(9);
    let n = 5usize;
    for lower in [0, 1] {
        for unit in [0, 1] {
            for transpose in 0..4 {
                let solve = read(&format!(
                    "tdl @solve(a: [N, N], b: [N]) -> [N] {{
                       out[i] = opaque \"triangular_solve\"{{{lower}, {unit}, {transpose}}}(a[:, :], b[:])[i]
                     }}"
                ));
                let (a, b) = (complex(&[5, 5], &mut random), complex(&[5], &mut random));
                let x = &run(&solve, &[a.clone(), b.clone()])[0];
                for i in 0..n {
                    let (mut re, mut im) = (0.0, 0.0);
                    for j in 0..n {
                        let (row, column) = if matches!(transpose, 1 | 2) { (j, i) } else { (i, j) };
                        let mut own = a.complex_at(row * n + column);
                        if row == column && unit == 1 {
                            own = (1.0, 0.0);
                        } else if row != column && (row < column) != (lower == 0) {
                            continue;
                        }
                        if transpose >= 2 {
                            own.1 = -own.1;
                        }
                        let value = x.complex_at(j);
                        re += own.0 * value.0 - own.1 * value.1;
                        im += own.0 * value.1 + own.1 * value.0;
                    }
                    let wanted = b.complex_at(i);
                    assert!(
                        (re - wanted.0).abs() < 1e-6 && (im - wanted.1).abs() < 1e-6,
                        "{lower}{unit}{transpose}"
                    );
                }
            }
        }
    }
    let real = read(
        "tdl @solve(a: [N, N], b: [N]) -> [N] { out[i] = opaque \"triangular_solve\"{1, 0, 0}(a[:, :], b[:])[i] }",
    );
    let a = tensor(F32, &[2, 2], &[2., 9., 3., 4.]);
    assert_eq!(run(&real, &[a, tensor(F32, &[2], &[4., 14.])])[0].numbers(), [2., 2.]);
}

/// The numbers are those of `jax.lax.rng_bit_generator` on a CPU.
#[test]
fn random_bits_are_those_of_xla() {
    let generate = |function: &str, dims: &[u64], state: &[u64]| -> (Vec<u64>, Vec<u64>) {
        let shape = dims.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let vars = ["i", "j"][..dims.len()].join(", ");
        let ty = if function.ends_with("32") { "ui32" } else { "ui64" };
        let generator = read(&format!(
            "tdl @random(s: ui64[N]) -> (bits: {ty}[{shape}], next: ui64[N]) {{
               bits[{vars}] = opaque \"{function}\"{{{shape}}}(s[:])[{vars}]
               next[k] = opaque \"{function}\"{{{shape}}}(s[:]).1[k]
             }}"
        ));
        let mut tensor = Tensor::zeros(Ui64, &[state.len() as u64]).unwrap();
        state.iter().enumerate().for_each(|(index, &word)| tensor.set_integer(index, i128::from(word)));
        let words = |tensor: &Tensor| (0..tensor.len()).map(|index| tensor.integer(index) as u64).collect();
        let results = run(&generator, &[tensor]);
        (words(&results[0]), words(&results[1]))
    };
    let state = [0x0123_4567_89ab_cdef, 0xffff_ffff_ffff_fffe];
    let next = |counter: u64| vec![state[0], counter];
    let three_fry = [0xb0f4_215b, 0xe19a_60b4, 0x0b3d_7494, 0xacf8_c4dc, 0xaaa4_d889, 0x6b35_c4f4];
    assert_eq!(generate("three_fry32", &[5], &state), (three_fry[..5].to_vec(), next(1)));
    let rows = [0, 2, 4, 1, 3, 5].map(|index| three_fry[index]);
    assert_eq!(generate("three_fry32", &[2, 3], &state), (rows.to_vec(), next(1)));
    let (bits, after) = generate("three_fry32", &[3, 5], &state);
    assert_eq!(
        (&bits[..8], after),
        (
            &[
                0xb0f4_215b,
                0xe19a_60b4,
                0x0b3d_7494,
                0xacf8_c4dc,
                0xaaa4_d889,
                0x75a5_2907,
                0xd3dd_8613,
                0x35d0_e5f1
            ][..],
            next(7)
        )
    );
    assert_eq!(generate("three_fry32", &[], &state), (vec![0xb0f4_215b], next(0xffff_ffff_ffff_ffff)));
    assert_eq!(
        generate("three_fry64", &[3], &state),
        (vec![0xe19a_60b4_b0f4_215b, 0xacf8_c4dc_0b3d_7494, 0x6b35_c4f4_aaa4_d889], next(1))
    );
    assert_eq!(
        generate("philox32", &[2, 3], &state),
        (vec![0x0a48_5194, 0x41c5_f806, 0xd682_2fee, 0x3885_a3d4, 0x41eb_59f3, 0x3073_85e0], next(0))
    );
    assert_eq!(
        generate("philox64", &[5], &state),
        (
            vec![
                0x41c5_f806_0a48_5194,
                0x3885_a3d4_d682_2fee,
                0x3073_85e0_41eb_59f3,
                0xa262_f67c_5b8b_3389,
                0xd71f_d4de_7006_d264
            ],
            next(1)
        )
    );
    // With three elements the counter has its own high half.
    let (bits, after) = generate("philox32", &[1], &[state[0], state[1], state[0]]);
    assert_eq!((bits, after), (vec![0x0a48_5194], vec![state[0], 0xffff_ffff_ffff_ffff, state[0]]));
}

#[test]
fn references_refuse_what_does_not_fit() {
    let call = |text: &str, operands: &[Tensor]| {
        evaluate(&read(text), operands, &OpaqueRegistry::builtin()).unwrap_err().0
    };
    let matrix = tensor(F32, &[2, 3], &[0.0; 6]);
    assert_eq!(
        call("tdl @c(a: [N, M]) -> [N, M] { out[i, j] = opaque \"cholesky\"(a[:, :])[i, j] }", &[matrix]),
        "cholesky takes a square matrix, not a tensor of the extents [2, 3]"
    );
    let row = tensor(F32, &[2], &[0.0; 2]);
    assert_eq!(
        call("tdl @t(a: [N]) -> [N] { out[i] = opaque \"top_k\"{9}(a[:])[i] }", std::slice::from_ref(&row)),
        "there are not 9 elements in 2"
    );
    assert_eq!(
        call("tdl @t(a: [N]) -> [N] { out[i] = opaque \"top_k\"{1}(a[:])[i] }", &[row]),
        "\"top_k\" gave no element at the indices"
    );
    assert!(functions::ALL.is_sorted_by_key(|function| function.name));
    for function in functions::ALL {
        assert!(function.cuda_source.contains(function.mlir_symbol), "{}", function.name);
    }
}

#[test]
fn functions_can_be_added() {
    let mut registry = OpaqueRegistry::new();
    registry.add(OpaqueFunction {
        name: "reversed",
        arguments: OpaqueArity::Exactly(1),
        results: OpaqueResults::These(&[OpaqueElement::Argument(0), OpaqueElement::Concrete(I32)]),
        class: TypeClass::Number,
        ranks: Some(|_, _| Ok(vec![1, 1])),
        compares: false,
        reference: |call| {
            let row = call.tensors.first().ok_or("it takes a row")?;
            let scale = call.constants.first().copied().unwrap_or(1) as f64;
            let numbers: Vec<f64> = row.numbers().iter().rev().map(|number| number * scale).collect();
            let places: Vec<f64> = (0..row.len()).rev().map(|at| at as f64).collect();
            Ok(vec![
                Tensor::from_numbers(row.element(), row.dims(), &numbers)?,
                Tensor::from_numbers(I32, row.dims(), &places)?,
            ])
        },
        flops: |dims, _| dims[0][0],
        mlir_symbol: "reversed",
        cuda_source: "",
    });
    let text = "tdl @reverse(x: [B, N]) -> (values: [B, N], places: i32[B, N]) {
  values[b, i] = opaque \"reversed\"{2}(x[b, :])[i]
  places[b, i] = opaque \"reversed\"{2}(x[b, :]).1[i]
}
";
    let reverse = parse(text, 1, &registry).unwrap();
    assert_eq!(reverse.to_string(), text);
    let x = tensor(F64, &[2, 3], &[5., 9., 7., 1., 0., 2.]);
    let results = evaluate(&reverse, &[x], &registry).unwrap();
    assert_eq!(results[0].numbers(), [14., 18., 10., 4., 0., 2.]);
    assert_eq!(results[1].numbers(), [2., 1., 0., 2., 1., 0.]);
    let lines: Vec<String> = strategies(&reverse).iter().map(|strategy| strategy.text(&reverse)).collect();
    assert_eq!(lines, ["b: x [split, whole] -> concat 0, concat 0"]);
    let cost = tofu_tdl::cost(&reverse, &[2, 3], &[F64], &tofu_tdl::Part::default(), &registry);
    // Both results are of the same calls.
    assert_eq!((cost.flops, cost.bytes_read, cost.bytes_written), (2 * 3, 48, 48 + 24));
}

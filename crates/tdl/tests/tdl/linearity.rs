//! Partial sums that pass through: which, as counted by hand, and that they do, by execution.

use tofu_tdl::{OpaqueRegistry, linear};
use tofu_tdl_testing::Whole;

use crate::catalog::CASES;
use crate::support::read;

fn ways(text: &str) -> Vec<String> {
    let description = read(text);
    linear(&description).iter().map(|way| way.text(&description)).collect()
}

#[test]
fn sums_keep_terms_together_and_products_one_factor() {
    assert_eq!(
        ways("tdl @add(x: f32[N], y: f32[N]) -> f32[N] { out[i] = x[i] + y[i] }"),
        ["partial x, y -> partial", "partial x, y once -> partial", "partial y, x once -> partial"]
    );
    assert_eq!(
        ways("tdl @mul(x: f32[N], y: f32[N]) -> f32[N] { out[i] = x[i] * y[i] }"),
        ["partial x -> partial", "partial y -> partial"]
    );
    assert_eq!(
        ways("tdl @div(x: f32[N], y: f32[N]) -> f32[N] { out[i] = -x[i] / y[i] }"),
        ["partial x -> partial"]
    );
    assert_eq!(ways("tdl @div(x: i32[N], y: i32[N]) -> i32[N] { out[i] = x[i] / y[i] }"), [""; 0]);
    assert_eq!(
        ways("tdl @rest(x: f32[N]) -> f32[N] { out[i] = 1 - x[i] }"),
        ["partial x, rest once -> partial"]
    );
    assert_eq!(ways("tdl @square(x: f32[N]) -> f32[] { out[] = sum(i) x[i] * x[i] }"), [""; 0]);
    assert_eq!(ways("tdl @exp(x: f32[N]) -> f32[N] { out[i] = exp(x[i]) }"), [""; 0]);
    assert_eq!(ways("tdl @greatest(x: f32[N]) -> f32[] { out[] = max(i) x[i] }"), [""; 0]);
}

#[test]
fn the_rest_of_a_sum_of_products_counts_once() {
    let dense = "tdl @dense(x: f32[B, I], w: f32[I, O], bias: f32[O]) -> f32[B, O] {
      out[b, o] = (sum(i) x[b, i] * w[i, o]) + bias[o]
    }";
    assert_eq!(
        ways(dense),
        [
            "partial x, bias -> partial",
            "partial w, bias -> partial",
            "partial x, bias once -> partial",
            "partial w, bias once -> partial",
            "partial bias, x once, w once -> partial",
        ]
    );
    // Two products, and something that is in both the sum and an addend: all workers read it.
    let two = "tdl @two(a: f32[N], b: f32[N], c: f32[N], d: f32[N], e: f32[N]) -> f32[N] {
      out[i] = (a[i] * b[i] + c[i] * d[i]) + exp(b[i] + e[i])
    }";
    let found = ways(two);
    for way in [
        "partial a, c once, d once, e once -> partial",
        "partial a, c, e once -> partial",
        "partial a, d, e once -> partial",
    ] {
        assert!(found.iter().any(|other| other == way), "{way} is none of {found:#?}");
    }
    assert!(!found.iter().any(|way| way.starts_with("partial b")), "{found:#?}");
}

#[test]
fn choices_places_and_data_are_followed() {
    assert_eq!(
        ways("tdl @pad(x: f32[N], v: f32[]) -> f32[N + 1] { out[i] = if i < N then x[i] else v[] }"),
        ["partial x, v -> partial", "partial x, v once -> partial", "partial v, x once -> partial"]
    );
    assert_eq!(
        ways("tdl @pad(x: f32[N]) -> f32[N + 1] { out[i] = if i < N then x[i] else 0 }"),
        ["partial x -> partial"]
    );
    assert_eq!(
        ways("tdl @relu(x: f32[N], g: f32[N]) -> f32[N] { out[i] = if x[i] > 0 then g[i] else 0 }"),
        ["partial g -> partial"]
    );
    assert_eq!(
        ways("tdl @gather(x: f32[N], at: i32[M]) -> f32[M] { out[m] = x[at[m]] }"),
        ["partial x -> partial"]
    );
    assert_eq!(
        ways("tdl @mean(x: f32[N]) -> f32[N] { let total[] = sum(i) x[i] out[i] = x[i] - total[] / N }"),
        ["partial x -> partial"]
    );
    assert_eq!(
        ways("tdl @fft(x: complex<f32>[N]) -> complex<f32>[N] { out[i] = opaque \"fft\"(x[:])[i] }"),
        [""; 0]
    );
    assert_eq!(
        ways("tdl @widen(x: f16[N]) -> f32[N] { out[i] = convert<f32>(x[i]) }"),
        ["partial x -> partial"]
    );
    assert_eq!(ways("tdl @widen(x: i16[N]) -> i32[N] { out[i] = convert<i32>(x[i]) }"), [""; 0]);
    assert_eq!(ways("tdl @truth(x: i1[N], y: i1[N]) -> i1[N] { out[i] = x[i] + y[i] }"), [""; 0]);
}

#[test]
fn results_that_see_no_terms_stay_whole() {
    assert_eq!(
        ways(
            "tdl @both(x: f32[N], y: f32[N]) -> (a: f32[N], b: f32[N]) { a[i] = x[i] * 2 b[i] = exp(y[i]) }"
        ),
        ["partial x -> partial, whole"]
    );
    assert_eq!(
        ways("tdl @both(x: f32[N], y: f32[N]) -> (a: f32[N], b: f32[N]) { a[i] = x[i] b[i] = x[i] + y[i] }"),
        [
            "partial x, y -> partial, partial",
            "partial x, y once -> partial, partial",
            // All workers need x, for the other result.
            "partial y, rest once -> whole, partial",
        ]
    );
}

#[test]
fn terms_of_operands_give_terms_of_results() {
    let registry = OpaqueRegistry::builtin();
    let (mut total, mut failures) = (0, Vec::new());
    for case in CASES {
        let description = case.description();
        let mut random = fastrand::Rng::with_seed(23);
        for _ in 0..4 {
            let (extents, operands) = case.draw(&description, &mut random);
            let checked = Whole::run(&description, &registry, &extents, &operands)
                .and_then(|whole| whole.check_linear(&[2, 3, 8], &mut random, &|_| {}));
            match checked {
                Ok(done) => total += done,
                Err(error) => failures.push(error),
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n---\n"));
    assert!(total > 300, "only {total} comparisons");
}

/// A sum of very many operands is looked at in no time that grows with their subsets.
#[test]
fn many_operands_are_no_many_sets() {
    let operands: Vec<String> = (0..60).map(|n| format!("x{n}: f32[N]")).collect();
    let sum: Vec<String> = (0..60).map(|n| format!("x{n}[i]")).collect();
    let text = format!("tdl @sum({}) -> f32[N] {{ out[i] = {} }}", operands.join(", "), balanced(&sum));
    let found = linear(&read(&text));
    assert!(found.len() <= 64, "{}", found.len());
    assert!(!found[0].counts_once() && found[0].partial.len() == 60);
}

fn balanced(terms: &[String]) -> String {
    match terms {
        [term] => term.clone(),
        _ => {
            let (left, right) = terms.split_at(terms.len() / 2);
            format!("({} + {})", balanced(left), balanced(right))
        }
    }
}

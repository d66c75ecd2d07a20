//! Wrong texts get a diagnostic at the place that is wrong.

use fastrand::Rng;
use tofu_ir::{ElementType, TensorType};
use tofu_tdl::{
    Description, OpaqueRegistry, Tensor, accesses, cost, evaluate, local, parse, regions, solve, strategies,
};

use crate::catalog::CASES;

/// The text has the wrong place between `«` and `»`.
fn check(marked: &str, code: &str, message: &str) {
    let start = marked.find('«').unwrap();
    let end = marked.find('»').unwrap() - '«'.len_utf8();
    let text = marked.replace(['«', '»'], "");
    let base = 1000;
    let errors = parse(&text, base, &OpaqueRegistry::builtin()).expect_err(&text);
    let found = errors.iter().any(|error| {
        error.code.id == code
            && (message.is_empty() || error.message == message)
            && error.primary.span.start as usize == base as usize + start
            && error.primary.span.end as usize == base as usize + end
    });
    let all: Vec<String> = errors
        .iter()
        .map(|e| {
            format!(
                "{} {} at {}..{}",
                e.code.id,
                e.message,
                e.primary.span.start - base,
                e.primary.span.end - base
            )
        })
        .collect();
    assert!(found, "{text}\nwanted {code} {message} at {start}..{end}\n{}", all.join("\n"));
}

#[test]
fn mistakes_are_found_where_they_are() {
    check("tdl @a(x: [N]) -> [N] { out[i] = x[«j»] }", "T0501", "`j` is neither an index nor an extent here");
    check("tdl @a(x: [N]) -> [N] { out[i] = «y»[i] }", "T0501", "`y` is not a tensor that is defined before");
    check("tdl @a(x: [N]) -> [N] { out[i] = «ex(x[i])» }", "T0501", "unknown function `ex`");
    check("tdl @a(x: [N]) -> [N] { out[i] = «out»[i] }", "T0507", "`out` is used in its own definition");
    check(
        "tdl @a(x: [N]) -> [N] { out[i] = x[«i + 1»] }",
        "T0504",
        "the index `i + 1` into dimension 0 of `x` may be N or more",
    );
    check(
        "tdl @a(x: [N, M]) -> [N] { out[i] = (sum(j) x[i, j]) + x[i, «0»] }",
        "T0504",
        "the index `0` into dimension 1 of `x` may be M or more",
    );
    check(
        "tdl @a(x: [N * N]) -> [N] { out[i] = sum(j: N) x[«i * j»] }",
        "T0503",
        "`i * j` is a product of indices",
    );
    check(
        "tdl @a(x: [N]) -> [] { out[] = sum(«i») 1.0 * x[0 * i] }",
        "T0508",
        "the range of `i` does not follow from any access",
    );
    check(
        "tdl @a(x: f32[N]) -> f32[] { out[] = «and(i) x[i]» }",
        "T0511",
        "`and` takes an integer or i1, and `x[i]` is f32",
    );
    check(
        "tdl @a(x: f32[N], y: i32[N]) -> f32[N] { out[i] = «x[i] + y[i]» }",
        "T0505",
        "`+` is given values of the types f32 and i32",
    );
    check("tdl @a(x: [N]) -> [N] { out[i] = if «x[i]» then x[i] else 0 }", "T0505", "");
    for (constant, ty) in [("300.7", "i8"), ("0.5", "i32"), ("256", "i8"), ("-129", "i8"), ("1e20", "i64")] {
        check(
            &format!("tdl @a(x: {ty}[N]) -> {ty}[N] {{ out[i] = max(x[i], «{constant}») }}"),
            "T0505",
            &format!("`{constant}` is no value of {ty}"),
        );
    }
    check(
        "tdl @a(x: [N, M]) -> [N] { out[i] = «sum(k: M)(x[i, k]).7» }",
        "T0511",
        "the reducer gives one value; there is none of number 7",
    );
    check(
        "tdl @a(x: [N, M]) -> [N] { out[i] = «x[i]» }",
        "T0506",
        "`x` has 2 dimensions and is read with 1 indices",
    );
    check(
        "tdl @a(x: [N], s: []) -> [] { combine c(a; b) from (0) = (a + b * «s[]») out[] = c(i)(x[i]).0 }",
        "T0511",
        "`c` may only use the values that it is given",
    );
    check("tdl @a(x: [N]) -> [N] { out[i] = x[i] «?» }", "T0101", "");
    check(
        "tdl @a(a: [B, N, N]) -> [B, N, N] { out[b, i, j] = opaque «\"qr\"»(a[b, :, :])[i, j] }",
        "T0510",
        "unknown opaque function \"qr\"",
    );
    check("tdl @a(x: [N]) -> (p: [N], «q: [N]») { p[i] = x[i] }", "T0512", "the result `q` is not defined");
    check("tdl @a(x: [N]) -> [N] { out[i] = sum(«i») x[i] }", "T0502", "the index `i` is bound already");
    check(
        "tdl @a(x: [N], y: [M]) -> [N] where N <= M, «N = M + N + 1» { out[i] = x[i] }",
        "T0514",
        "no extents satisfy `N = M + N + 1`",
    );
}

#[test]
fn every_independent_mistake_is_reported() {
    let text = "tdl @a(x: [N], y: f16x[N]) -> [N] {
      let s[i] = z[i]
      let t[i] = ex(x[i])
      out[i] = x[i] + w[i]
    }";
    let errors = parse(text, 1, &OpaqueRegistry::builtin()).unwrap_err();
    let codes: Vec<&str> = errors.iter().map(|error| error.code.id).collect();
    assert!(codes.len() >= 4 && codes.contains(&"T0203") && codes.contains(&"T0501"), "{errors:?}");
}

/// Asks everything of a description, for extents that may not fit it.
fn analyse(description: &Description, random: &mut Rng) {
    let registry = OpaqueRegistry::builtin();
    let large = [0, 1, 2, 3, 5, u64::MAX, 1 << 40, 1 << 62];
    let draw = |random: &mut Rng| {
        let many = if random.bool() { 5 } else { 8 };
        large[random.usize(..many)]
    };
    let extents: Vec<u64> = description.data().extents.iter().map(|_| draw(random)).collect();
    let types = vec![ElementType::F32; description.data().types.len()];
    for strategy in strategies(description) {
        let part = strategy.part(description, &extents, 3, 1);
        let found = regions(description, &extents, &part);
        assert_eq!(found.len(), description.parameters().len());
        let _ = local(description, &extents, &part);
        cost(description, &extents, &types, &part, &registry);
    }
    accesses(description);
    let operands: Vec<TensorType> = (description.parameters().iter())
        .map(|p| TensorType::of(&p.dims.iter().map(|_| draw(random)).collect::<Vec<_>>(), ElementType::F32))
        .collect();
    let _ = solve(description, &operands);
    let small: Option<Vec<Tensor>> = (operands.iter())
        .map(|ty| {
            let dims: Vec<u64> = ty.static_dims()?.iter().map(|&dim| dim.min(4)).collect();
            Tensor::zeros(ElementType::F32, &dims).ok()
        })
        .collect();
    let _ = evaluate(description, &small.unwrap(), &registry);
}

#[test]
fn nothing_panics_on_damaged_texts() {
    let mut random = Rng::with_seed(11);
    let registry = OpaqueRegistry::builtin();
    for _ in 0..4000 {
        let case = &CASES[random.usize(..CASES.len())];
        let mut bytes: Vec<char> = case.text.chars().collect();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..bytes.len());
            match random.u8(..5) {
                4 => {
                    let large =
                        ["9223372036854775807", "4611686018427387904", "99999", "-9223372036854775807"];
                    let number = large[random.usize(..4)];
                    bytes.splice(at..at, number.chars());
                }
                0 => {
                    bytes.remove(at);
                }
                1 => bytes.insert(
                    at,
                    *random.choice("[](){}:;,.+-*/<>=0a1NiX \"".chars().collect::<Vec<_>>().iter()).unwrap(),
                ),
                2 => {
                    let other = random.usize(..bytes.len());
                    bytes.swap(at, other);
                }
                _ => {
                    let end = (at + random.usize(1..12)).min(bytes.len());
                    let piece: Vec<char> = bytes[at..end].to_vec();
                    let to = random.usize(..bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
        let text: String = bytes.into_iter().collect();
        if let Ok(description) = parse(&text, 1, &registry) {
            let printed = description.to_string();
            let again = parse(&printed, 1, &registry)
                .unwrap_or_else(|errors| panic!("{text}\n{printed}\n{errors:?}"));
            assert_eq!(again, description, "{printed}");
            analyse(&description, &mut random);
        }
    }
}

#[test]
fn deep_and_long_texts_are_refused() {
    let nested = format!("tdl @a(x: [N]) -> [N] {{ out[i] = {}x[i]{} }}", "(".repeat(2000), ")".repeat(2000));
    let ifs =
        format!("tdl @a(x: [N]) -> [N] {{ out[i] = {}x[i] }}", "if x[i] > 0 then x[i] else ".repeat(800));
    let sum = format!("tdl @a(x: [N]) -> [N] {{ out[i] = x[i]{} }}", " + x[i]".repeat(5000));
    let minus = format!("tdl @a(x: [N]) -> [N] {{ out[i] = {}x[i] }}", "-".repeat(5000));
    for text in [nested, ifs, sum, minus] {
        let errors = parse(&text, 1, &OpaqueRegistry::builtin()).unwrap_err();
        assert_eq!(errors[0].code.id, "T0103", "{}", errors[0].message);
    }
    // Near the limit either answer is right, and nothing else happens.
    for depth in [50, 95, 99, 100, 101, 105, 120, 127, 128, 129, 140, 400] {
        let nested = format!("{}x[i]{}", "abs(".repeat(depth), ")".repeat(depth));
        let sum = format!("x[i]{}", " + x[i]".repeat(depth));
        let ifs = format!("{}x[i]", "if x[i] > 0 then x[i] else ".repeat(depth));
        let sums = format!("{}x[i]", "sum(j: 1) ".repeat(depth));
        for body in [nested, sum, ifs, sums] {
            let text = format!("tdl @a(x: [N]) -> [N] {{ out[i] = {body} }}");
            match parse(&text, 1, &OpaqueRegistry::builtin()) {
                Ok(description) => assert!(depth < 130 && description.to_string().contains("x[i]")),
                Err(errors) => assert!(depth >= 50, "{errors:?}"),
            }
        }
    }
}

#[test]
fn divisibility_is_used() {
    let read = crate::support::read;
    read(
        "tdl @halves(x: [N]) -> [2, N floordiv 2] where N mod 2 = 0 {
           out[i, j] = x[i * (N floordiv 2) + j]
         }",
    );
    read(
        "tdl @groups(x: [N], g: [G]) -> [G, N floordiv G] where N mod G = 0 {
           out[i, j] = x[i * (N floordiv G) + j] * g[i]
         }",
    );
    read(
        "tdl @every_third(x: [N], y: [3 * N]) -> [3 * N] { out[i] = if i mod 3 == 0 then x[i floordiv 3] else y[i] }",
    );
}

use crate::{Among, Division, Mask, OpaqueRegistry, Uniform, Window, parse, strategies, uniform};

const CONV: &str = "tdl @conv(data: [B, CI, X + DX - 1], filter: [CI, CO, DX]) -> [B, CO, X] {
  out[b, co, x] = sum(ci, dx) data[b, ci, x + dx] * filter[ci, co, dx]
}";

/// The op that all of so many workers run when they split this variable, with every dimension that can moving.
fn split(text: &str, extents: &[u64], variable: &str, workers: u64) -> Uniform {
    let description = parse(text, 0, &OpaqueRegistry::builtin()).unwrap();
    let strategies = strategies(&description);
    let strategy = strategies.iter().find(|strategy| *strategy.variable == *variable).unwrap();
    let among = [Among { division: Division::Split(strategy), workers }];
    uniform(&description, extents, &among, &|_, _| Some(0)).unwrap()
}

fn body(uniform: &Uniform) -> String {
    let text = uniform.description.to_string();
    let (_, body) = text.split_once("{\n").unwrap();
    body.trim_end().trim_end_matches('}').trim().to_owned()
}

#[test]
fn windows_of_a_convolution_move_and_nothing_else_does() {
    // B, CI, X, DX, CO
    let all = split(CONV, &[4, 3, 10, 3, 5], "x", 2);
    assert_eq!(body(&all), "out[b, co, x] = sum(ci, dx) data[b, ci, x + dx] * filter[ci, co, dx]");
    assert_eq!(all.windows[0][2], Window { moves: Some(0), start: 0, step: 5, size: 7 });
    assert_eq!(all.windows[1][2], Window::whole(3));
    assert_eq!((&all.masks[..], &all.workers[..]), (&[][..], &[][..]));
}

#[test]
fn padding_counts_nothing() {
    let all = split(CONV, &[4, 3, 10, 3, 5], "ci", 2);
    assert_eq!(body(&all), "out[b, co, x] = sum(ci, dx) data[b, ci, x + dx] * filter[ci, co, dx]");
    assert_eq!(all.windows[0][1], Window { moves: Some(0), start: 0, step: 2, size: 2 });
    let reducer = crate::Reducer::Sum;
    let expected =
        [Mask::Padding { operand: 1, dim: 0, reducer }, Mask::Padding { operand: 0, dim: 1, reducer }];
    assert_eq!(all.masks, expected);
    // An exponential of nothing is 1, so the padding of what is reduced is told by its place.
    let text = "tdl @mass(x: [N]) -> [] { out[] = sum(n) exp(x[n]) }";
    let all = split(text, &[10], "n", 4);
    assert_eq!(body(&all), "out[] = sum(n) if index(worker0[] * 3 + n) < 10 then exp(x[n]) else 0");
    assert_eq!((&all.masks[..], &all.workers[..]), (&[][..], &[0][..]));
}

#[test]
fn what_counts_once_is_masked() {
    let text = "tdl @biased(x: [N], b: []) -> [] { out[] = b[] + sum(n) x[n] }";
    let all = split(text, &[8], "n", 4);
    assert_eq!(all.masks, [Mask::Once { operand: 1, among: 0, reducer: crate::Reducer::Sum }]);
    assert_eq!(body(&all), "out[] = b[] + sum(n) x[n]");
}

#[test]
fn guards_speak_of_places_unless_a_window_has_zeros_outside() {
    let padded = "tdl @same(x: [N], f: [K]) -> [N] {
  out[n] = sum(k) (if 0 <= n + k - 1 and n + k - 1 < N then x[n + k - 1] else 0) * f[k]
}";
    let all = split(padded, &[8, 3], "n", 4);
    assert_eq!(body(&all), "out[n] = sum(k) x[n + k] * f[k]");
    assert_eq!(all.windows[0][0], Window { moves: Some(0), start: -1, step: 2, size: 4 });
    assert_eq!(all.masks, [Mask::Outside { operand: 0, dim: 0 }]);
    let iota = "tdl @line(x: [N]) -> i32[N] { out[n] = convert<i32>(n) }";
    assert_eq!(body(&split(iota, &[8], "n", 4)), "out[n] = convert<i32>(index(worker0[] * 2 + n))");
    let reshape = "tdl @rows(x: [2 * N]) -> [N, 2] { out[n, j] = x[2 * n + j] }";
    let all = split(reshape, &[6], "n", 3);
    assert_eq!(body(&all), "out[n, j] = x[2 * n + j]");
    assert_eq!(all.windows[0][0], Window { moves: Some(0), start: 0, step: 4, size: 4 });
    let reverse = "tdl @back(x: [N]) -> [N] { out[n] = x[N - 1 - n] }";
    let all = split(reverse, &[6], "n", 3);
    assert_eq!(body(&all), "out[n] = x[0 - n + 1]");
    assert_eq!(all.windows[0][0], Window { moves: Some(0), start: 4, step: -2, size: 2 });
}

//! What is said about mistakes: each once, at its place, and nothing about its consequences.

use crate::dialect::{parse_text, short};

/// The cases in `mistakes.tir` begin with the only diagnostic that they give.
#[test]
fn one_mistake_one_diagnostic() {
    let mut wrong = String::new();
    let cases = include_str!("mistakes.tir").split("// -----\n");
    for case in cases {
        let expected = case.lines().next().and_then(|line| line.strip_prefix("// ")).unwrap_or("");
        let (sources, parsed) = parse_text(case);
        let found = short(&sources, &parsed.diagnostics).replace("test.tir:", "");
        if found.strip_suffix('\n') != Some(expected) {
            wrong += &format!("{case}gives:\n{found}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn ten_mistakes_ten_diagnostics() {
    let text = "module @m {
  func @f(%x: tensor<4xf32>) {
    %a = test.add %x %x                                             // T0101 a comma is missing
    %b = test.add %x, %y                                            // T0205 there is no `%y`
    %c = test.any %a : tensor<4xf32                                 // T0102 `>` is missing
    %d = test.constant dense<[1.0, 2.0 : tensor<2xf32>              // T0101 `]>` is missing
    %e = test.constant dense<[1.0, 2.0]> : tensor<3xf32>            // T0106 three are needed
    %f = test.ad %a, %e                                             // T0201 there is no such op
    %g = test.add %x, %x : tensor<5xf32>                            // T0214 the result has four elements
    test.any {a = [1, 2}                                            // T0101 `]` is missing
    %h = test.add %g, %f
    test.call @g(%h)                                                // T0209 there is no `@g`
    test.end %c, %d
  func @h(%x: f32) {                                                // T0102 the brace of `@f` is missing
    test.end %x
  }
}
";
    let expected: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter_map(|(index, line)| Some((index + 1, line.split_once("// ")?.1.split_once(' ')?.0)))
        .collect();
    assert_eq!(expected.len(), 10);
    let (sources, parsed) = parse_text(text);
    let found: Vec<(usize, &str)> = parsed
        .diagnostics
        .iter()
        .filter_map(|found| Some((sources.position(found.primary.span)?.line as usize, found.code.id)))
        .collect();
    assert_eq!(found, expected, "{}", short(&sources, &parsed.diagnostics));
}

#[test]
fn a_text_of_mistakes_is_not_read_to_its_end() {
    let text = format!("func @f() {{\n{}}}\n", "  test.any {a = }\n".repeat(1000));
    let (sources, parsed) = parse_text(&text);
    assert_eq!(parsed.diagnostics.len(), 101);
    let last = short(&sources, &parsed.diagnostics[100..]);
    assert_eq!(
        last,
        "test.tir:102:17: error[T0101]: there are more than 100 errors; the others are not shown\n"
    );
}

/// A mistake hides none on a line of its own, and one that ends before a closing brace does not swallow it.
#[test]
fn mistakes_do_not_hide_others() {
    let lines = |body: &str| -> Vec<usize> {
        let (sources, parsed) =
            parse_text(&format!("func @f(%x: tensor<4xf32>) {{\n{body}\n  test.end\n}}\n"));
        let line = |line: &str| line.split(':').nth(1).unwrap().parse().unwrap();
        short(&sources, &parsed.diagnostics).lines().map(line).collect()
    };
    assert_eq!(lines("  x = test.add %x, %x\n  y = test.add %x, %x"), [2, 3]);
    assert_eq!(lines("  %a = test.add %x, %x;\n  y = test.add %x, %x\n  let z = 1"), [2, 3, 4]);
    assert_eq!(lines("  %k = test add %x\n  x = test.add %x, %x\n  y = test.add %x, %x"), [2, 3, 4]);
    assert_eq!(lines("  123\n  456\n  abc\n  def"), [2, 3, 4, 5]);
    assert_eq!(lines("  test.any %nope [^q]\n  %c = test.nothing [^bb1]"), [2, 2, 2, 3, 3]);
    let (sources, parsed) = parse_text("func @f() { %c = test.constant 1.0 : tensor<2xf32> test.end }");
    let said = short(&sources, &parsed.diagnostics);
    assert_eq!(said.lines().count(), 1, "{said}");
}

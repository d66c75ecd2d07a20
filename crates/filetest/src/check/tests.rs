//! The table of verdicts, and the reports.

use std::fs;

use super::{Failure, Options, Source, check, filecheck};

/// One entry of `cases.txt`: `=== NAME | EXIT STATUS | OPTIONS`, the check file, `---`, the input.
struct Case<'a> {
    name: &'a str,
    status: u8,
    options: Vec<String>,
    checks: &'a str,
    input: &'a str,
}

fn cases() -> Vec<Case<'static>> {
    let parse = |entry: &'static str| {
        let (head, body) = entry.split_once('\n').expect("a line for the head");
        let mut fields = head.split(" | ");
        let name = fields.next().expect("a name");
        let status = fields.next().expect(name).trim().parse().expect(name);
        let options = fields.next().unwrap_or_default().split_whitespace().map(str::to_string).collect();
        let (checks, input) = body.split_once("---\n").expect(name);
        Case { name, status, options, checks, input }
    };
    include_str!("cases.txt").split("=== ").skip(1).map(parse).collect()
}

#[test]
fn verdicts_are_those_of_llvm() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let cases = cases();
    assert!(cases.len() > 200, "only {} cases were read", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        fs::write(directory.path().join("checks"), case.checks).expect("writable");
        let mut arguments = case.options;
        arguments.push("checks".to_string());
        let outcome = filecheck(&arguments, directory.path(), || Ok(case.input.into()));
        if outcome.status != case.status {
            wrong.push(format!("{}: {}, not {}\n{}", case.name, outcome.status, case.status, outcome.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn verdict(checks: &str, input: &str) -> Result<(), Failure> {
    let source = |name, text| Source { name, text };
    check(source("test.tir", checks), source("the standard input", input), &Options::default())
}

fn mismatch(checks: &str, input: &str) -> String {
    match verdict(checks, input) {
        Err(Failure::Mismatch(report)) => report,
        other => panic!("expected a mismatch: {other:?}"),
    }
}

#[test]
fn tabs_and_carriage_returns_are_white_space() {
    assert_eq!(
        verdict("CHECK:\ta \tb\r\nCHECK-EMPTY:\r\nCHECK-NEXT: {{^}}c{{$}}\r\n", "a\t\tb\r\n\r\nc\r\n"),
        Ok(())
    );
}

#[test]
fn a_missing_last_line_end_does_not_matter() {
    assert_eq!(verdict("CHECK: a\nCHECK-NEXT: b{{$}}", "a\nb"), Ok(()));
    assert_eq!(verdict("CHECK: a\nCHECK-EMPTY:", "a\n\n"), Ok(()));
    assert!(matches!(verdict("CHECK:", "a"), Err(Failure::Usage(_))));
}

#[test]
fn near_misses_of_directives_are_errors() {
    for (directive, meant) in
        [("CHECK-LABLE", "LABEL"), ("CHECK-NETX", "NEXT"), ("CHECKNOT", "NOT"), ("CHECK-DAGS", "DAG")]
    {
        let Err(Failure::Usage(report)) = verdict(&format!("CHECK: a\n{directive}: b\n"), "a\n") else {
            panic!("{directive} is accepted");
        };
        assert!(report.contains(&format!("did you mean CHECK-{meant}?")), "{report}");
    }
}

#[test]
fn a_missing_text_is_shown_with_the_most_similar_line() {
    let report = mismatch(
        "// CHECK-LABEL: func @f\n// CHECK:   [[H:%.+]] = tensor.tanh\n// CHECK-NEXT: return [[H]]\n",
        "func @f\n  %h = tensor.tanh %x\n  retrn %h\n}\nfunc @g\n",
    );
    let expected = "\
error: CHECK-NEXT: expected text not found in the input
  --> test.tir:3:16
    3 | // CHECK-NEXT: return [[H]]
      |                ^^^^^^^^^^^^
      = H is \"%h\"
  searched lines 2 to 5 of the standard input; the most similar line is marked:
    1 | func @f
    2 |   %h = tensor.tanh %x
>   3 |   retrn %h
    4 | }
    5 | func @g
";
    assert_eq!(report, expected);
}

#[test]
fn an_excluded_text_is_marked() {
    let report = mismatch("CHECK: a\nCHECK-NOT: bad\nCHECK: end\n", "a\n1\n2\n3\n4\n5\nvery bad\nend\n");
    let expected = "\
error: CHECK-NOT: excluded text found in the input
  --> test.tir:2:12
    2 | CHECK-NOT: bad
      |            ^^^
  searched lines 1 to 7 of the standard input; the match is marked:
    3 | 2
    4 | 3
    5 | 4
    6 | 5
>   7 | very bad
    8 | end
";
    assert_eq!(report, expected);
}

#[test]
fn a_text_unlike_everything_has_no_candidate() {
    let report = mismatch("CHECK: tensor.transpose\n", "a\nb\n");
    assert!(
        report.contains("searched lines 1 to 2 of the standard input; no line is similar:\n    1 | a\n"),
        "{report}"
    );
}

#[test]
fn each_part_between_labels_has_its_report() {
    let report = mismatch(
        "CHECK-LABEL: f\nCHECK: x1\nCHECK-LABEL: g\nCHECK: x2\nCHECK-LABEL: h\nCHECK: x3\n",
        "f\ng\nx2\nh\n",
    );
    let errors: Vec<_> = report.lines().filter(|line| line.starts_with("  --> ")).collect();
    assert_eq!(errors, ["  --> test.tir:2:8", "  --> test.tir:6:8"]);
}

#[test]
fn messages_tell_what_is_wrong() {
    for (checks, input, part) in [
        (
            "CHECK: a\nCHECK-NEXT: b\n",
            "a\n1\n2\nb\n",
            "this is 3 lines after the previous match, not on the next",
        ),
        ("CHECK: a\nCHECK-NEXT: b\n", "a b\n", "this is on the same line as the previous match"),
        ("CHECK: a\nCHECK-SAME: b\n", "a\nb\n", "this is not on the same line as the previous match"),
        (
            "CHECK-COUNT-3: a\n",
            "a\na\n",
            "CHECK-COUNT-3: expected text not found in the input (after 2 of 3 matches)",
        ),
        ("CHECK: [[U]]\n", "a\n", "variable U is not defined"),
    ] {
        let report = mismatch(checks, input);
        assert!(report.contains(part), "{report}");
    }
}

#[test]
fn wrong_use_of_the_command() {
    for arguments in [
        &[][..],
        &["a", "b"],
        &["--foo", "a"],
        &["a", "--input-file"],
        &["--allow-empty=1", "a"],
        &["missing"],
    ] {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_string()).collect();
        let outcome = filecheck(&arguments, "/".as_ref(), || Ok(b"a".to_vec()));
        assert_eq!(outcome.status, 2, "{arguments:?}");
        assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
    }
}

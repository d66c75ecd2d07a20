//! The command line: what it prints, and with which exit code.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tofu_solver::{evaluate, read_file};

fn solve(file: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tofu-solve")).arg(file).args(arguments).output().unwrap()
}

fn instance(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/solver").join(name)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Solves a variant of the example.
fn variant(name: &str, from: &str, to: &str) -> Output {
    let example = std::fs::read_to_string(instance("example.json")).unwrap();
    assert!(example.contains(from), "the variant differs");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = directory.join(format!("{name}.json"));
    std::fs::write(&file, example.replacen(from, to, 1)).unwrap();
    solve(&file, &["2"])
}

#[test]
fn the_last_line_is_the_list_of_choices() {
    let output = solve(&instance("example.json"), &["10"]);
    assert!(output.status.success());
    assert_eq!(text(&output.stdout), "[0, 0, 2, 1, 0]\n");
    let report = text(&output.stderr);
    assert!(report.contains("445 (optimal)"), "{report}");
    assert!(report.contains("proven lower bound    445"), "{report}");
    assert!(report.contains("peak usage            50 of 50"), "{report}");
}

#[test]
fn quiet_is_quiet() {
    let output = solve(&instance("example.json"), &["10", "--quiet"]);
    assert_eq!(text(&output.stdout), "[0, 0, 2, 1, 0]\n");
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn small_contest_instances_are_solved_to_the_optimum() {
    for (name, optimum) in [("B", 532_843), ("G", 217_039)] {
        let file = instance(&format!("asplos-2025-iopddl-{name}.json.gz"));
        let output = solve(&file, &["10", "--work=1000000000"]);
        assert!(output.status.success());
        let list = text(&output.stdout);
        let choices: Vec<u32> =
            list.trim().trim_matches(['[', ']']).split(", ").map(|choice| choice.parse().unwrap()).collect();
        let problem = read_file(&file).unwrap();
        let evaluation = evaluate(&problem, &choices).unwrap();
        assert_eq!(evaluation.cost, optimum);
        assert!(evaluation.peak <= i128::from(problem.usage_limit()));
        assert!(text(&output.stderr).contains(&format!("proven lower bound    {optimum}")));
    }
}

#[test]
fn work_makes_runs_repeatable() {
    let file = instance("asplos-2025-iopddl-B.json.gz");
    // Too little work to finish, so that where it stops shows.
    let run = |threads| text(&solve(&file, &["10", "--work=6000000", threads, "--seed=3"]).stdout);
    let one = run("--threads=1");
    assert_eq!(one, run("--threads=2"));
    assert_eq!(one, run("--threads=1"));
}

#[test]
fn a_limit_that_cannot_be_kept_is_exit_code_1() {
    let output = variant("tight", "\"usage_limit\": 50", "\"usage_limit\": 49");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "[]\n");
    assert!(
        text(&output.stderr).contains("limit of 49: the smallest peak is 50"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn bad_input_is_exit_code_2_and_names_the_entry() {
    for (name, from, to, message) in [
        ("cut", "]", "", "expected"),
        ("interval", "[30, 70]", "[30, 7]", "nodes.intervals[0]: [30, 7] is no interval"),
        ("length", "[55, 65]", "[55]", "nodes.usages[1]: 2 usages for 1 strategies"),
        ("index", "[0, 1]", "[0, 5]", "edges.nodes[0][1]: node 5 of 5 nodes"),
        ("overflow", "[55, 65]", "[55, 9223372036854775808]", "nodes.costs[1][1] (byte "),
        ("usage", "[25, 25]", "[25, -25]", "nodes.usages[1][1]: the usage -25 is negative"),
    ] {
        let output = variant(name, from, to);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert_eq!(text(&output.stdout), "");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
    assert_eq!(solve(Path::new("no such file"), &["2"]).status.code(), Some(2));
    assert_eq!(solve(&instance("example.json"), &["never"]).status.code(), Some(2));
    assert_eq!(solve(&instance("example.json"), &["0"]).status.code(), Some(2));
}

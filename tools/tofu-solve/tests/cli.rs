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

/// Runs `--allocate` on a text.
fn allocate(name: &str, text: &str, capacity: &str) -> Output {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.csv"));
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tofu-solve"));
    command.arg("--allocate").arg(file).arg(capacity).output().unwrap()
}

const BUFFERS: &str = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

#[test]
fn buffers_are_printed_with_their_offsets() {
    let output = allocate("fits", BUFFERS, "12");
    assert!(output.status.success());
    let rows = text(&output.stdout);
    let rows: Vec<&str> = rows.lines().collect();
    assert_eq!(rows[0], "id,lower,upper,size,offset");
    // What is there all the time lies at the bottom.
    assert_eq!(rows[5], "b5,0,21,4,0");
    for (row, given) in rows.iter().zip(BUFFERS.lines()) {
        assert!(row.starts_with(given), "{row}");
    }
    let report = text(&output.stderr);
    assert!(report.contains("arena        12 of 12\nlower bound  12\ngap          0.000 %\n"), "{report}");
}

#[test]
fn a_capacity_that_is_too_small_is_exit_code_1() {
    let output = allocate("tight", BUFFERS, "11");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
    assert!(text(&output.stderr).contains("nothing fits into 11: at least 12 is needed"));
}

#[test]
fn bad_buffers_are_exit_code_2_with_their_lines() {
    let output = allocate("bad", "id,lower,upper,size\na,0,1,-1\nb,3,2,1\n", "11");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
    let report = text(&output.stderr);
    assert!(report.contains("bad.csv:2: size `-1` is negative"), "{report}");
    assert!(report.contains("bad.csv:3: lower 3 is not below upper 2"), "{report}");
    assert_eq!(allocate("capacity", BUFFERS, "-3").status.code(), Some(2));
}

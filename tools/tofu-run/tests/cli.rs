//! The command line: what it prints, and with which exit code. The archives under `testdata/inputs/run` were written by NumPy.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What came of a run.
#[derive(PartialEq, Eq, Debug)]
struct Ran {
    code: i32,
    output: String,
    log: String,
}

fn run(arguments: &[&str], input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tofu-run"))
        .args(arguments)
        .arg("--diagnostics=short")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A tool that reads no input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), output: text(output.stdout), log: text(output.stderr) }
}

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/inputs/run").join(name);
    path.to_str().unwrap().to_owned()
}

fn small(option: &str, archive: &str) -> String {
    format!("--{option}={}", file(&format!("small.{archive}.npz")))
}

#[test]
fn results_are_printed() {
    let ran = run(&[&file("small.tir"), &small("inputs", "inputs")], "");
    assert_eq!((ran.code, ran.log.as_str()), (0, ""));
    let expected = "res0: tensor<3x2xf32>\n[[1.0, 4.0],\n [2.0, 5.0],\n [3.0, 6.5]]\n\
                    res1: tensor<3xi4>\n[ 2, -8,  6]\n\
                    res2: tensor<2xbf16>\n[       2.25, 0.010009766]\n\
                    res3: tensor<2x1xi1>\n[[false],\n [ true]]\n\
                    res4: tensor<f32>\n21.5\n";
    assert_eq!(ran.output, expected);
}

#[test]
fn results_are_compared() {
    let ran = run(&[&file("small.tir"), &small("inputs", "inputs"), &small("expect", "outputs")], "");
    assert_eq!((ran.code, ran.log.as_str()), (0, ""), "{}", ran.output);
    assert_eq!(ran.output.lines().filter(|line| line.ends_with(" equal")).count(), 5, "{}", ran.output);
    let text = std::fs::read_to_string(file("small.tir")).unwrap();
    let other =
        text.replace("tensor.multiply %b, %b", "tensor.add %b, %b").replace("add %i, %i", "subtract %i, %i");
    let ran = run(&["-", &small("inputs", "inputs"), &small("expect", "outputs"), "--atol=0.8"], &other);
    assert_eq!(ran.code, 1);
    assert!(ran.log.contains("error[T0607]"), "{}", ran.log);
    assert!(
        ran.log.contains("`res1`: 3 of 3 elements differ; the worst is [1]: got 0, expected -8"),
        "{}",
        ran.log
    );
    assert!(!ran.log.contains("`res2`:"), "within the tolerance: {}", ran.log);
    assert!(
        ran.output.lines().any(|line| line.starts_with("res2 ") && line.ends_with(" close")),
        "{}",
        ran.output
    );
    let ran = run(&["-", &small("inputs", "inputs"), &small("expect", "outputs")], &other);
    assert!(
        ran.log.contains("`res2`: 2 of 2 elements differ; the worst is [0]: got 3.0, expected 2.25"),
        "{}",
        ran.log
    );
}

#[test]
fn results_are_written_and_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let path: PathBuf = directory.path().join("results.npz");
    let (outputs, expect) = (format!("--outputs={}", path.display()), format!("--expect={}", path.display()));
    let ran = run(&[&file("small.tir"), &small("inputs", "inputs"), &outputs], "");
    assert_eq!(ran, Ran { code: 0, output: String::new(), log: String::new() });
    let first = std::fs::read(&path).unwrap();
    let ran = run(&[&file("small.tir"), &small("inputs", "inputs"), &expect, "--rtol=0", "--atol=0"], "");
    assert_eq!(ran.code, 0, "{}", ran.log);
    run(&[&file("small.tir"), &small("inputs", "inputs"), &outputs], "");
    assert_eq!(first, std::fs::read(&path).unwrap(), "equal arrays make equal files");
    let nowhere = format!("--outputs={}", directory.path().join("no/such.npz").display());
    let ran = run(&[&file("small.tir"), &small("inputs", "inputs"), &nowhere], "");
    assert!(ran.code == 2 && ran.log.contains("T0402"), "{}", ran.log);
}

#[test]
fn everything_that_is_wrong_with_the_inputs_is_said_at_once() {
    let text = "func @main(%a: tensor<2x3xf64>, %b: tensor<2xi4>, %c: tensor<?xbf16>, %d: tensor<2x1xi1>, %e: tensor<f32>) { return }";
    let ran = run(&["-", &small("inputs", "inputs")], text);
    assert_eq!(ran.code, 1);
    for said in [
        "<stdin>:1:12: error[T0605]: `arg0` is to be an array float64 (2, 3) for a `tensor<2x3xf64>`, but float32 (2, 3) came",
        "<stdin>:1:33: error[T0605]: `arg1` is to be an array int8 (2,) for a `tensor<2xi4>`, but int8 (3,) came",
        "`arg4` is to be an array float32 () for a `tensor<f32>`, but there is none of this name",
    ] {
        assert!(ran.log.contains(said), "{said}\n{}", ran.log);
    }
    assert!(!ran.log.contains("`arg2`") && !ran.log.contains("`arg3`"), "{}", ran.log);
    let ran = run(&[&file("small.tir"), &small("inputs", "outputs")], "");
    assert!(
        ran.log.contains("takes 4 arguments, and none is called res0, res1, res2, res3, res4"),
        "{}",
        ran.log
    );
}

#[test]
fn arguments_are_drawn_alike_everywhere() {
    let text = "func @main(%x: tensor<3xf32>, %i: tensor<4xi32>, %p: tensor<3xi1>) -> (tensor<3xf32>, tensor<4xi32>, tensor<3xi1>) {
      return %x, %i, %p
    }";
    let ran = run(&["-", "--random=1"], text);
    let expected = "res0: tensor<3xf32>\n[0.13312304, 0.49156344,  0.9420054]\nres1: tensor<4xi32>\n[3, 3, 6, 7]\n\
                    res2: tensor<3xi1>\n[false, false, false]\n";
    assert_eq!((ran.code, ran.output.as_str()), (0, expected));
    assert_eq!(run(&["-", "--random=1"], text).output, expected);
    assert_ne!(run(&["-", "--random=2"], text).output, expected);
    let open = "func @main(%x: tensor<?xf32>) { return }";
    let ran = run(&["-", "--random=1"], open);
    assert!(ran.code == 1 && ran.log.contains("argument 0 cannot be drawn"), "{}", ran.log);
}

#[test]
fn programs_of_frameworks_are_run() {
    let text = "module @jit_f {\n  func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = \"\"}) {\n    \
                %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>\n    return %0 : tensor<2xf32>\n  }\n}\n";
    let ran = run(&["-", "--random=5"], text);
    assert_eq!((ran.code, ran.output.lines().next()), (0, Some("res0: tensor<2xf32>")), "{}", ran.log);
    assert_eq!(run(&["-", "--random=5", "--from=tir"], text).code, 1);
}

#[test]
fn programs_say_what_they_expect() {
    let ran = run(&[&file("expectations.mlir")], "");
    assert_eq!((ran.code, ran.output.as_str()), (0, "4 functions run, 8 expectations met\n"), "{}", ran.log);
    let text = std::fs::read_to_string(file("expectations.mlir")).unwrap();
    let wrong = text.replace("dense<[2, 0,", "dense<[2, 1,").replace("1.41421366", "1.4142142");
    let wrong = wrong.replace("dense<[2, 4]>", "dense<[2, 5]>").replace("20001.0", "20003.0");
    let ran = run(&["-"], &wrong);
    assert_eq!((ran.code, ran.output.as_str()), (1, "4 functions run, 3 expectations met\n"), "{}", ran.log);
    for said in [
        "<stdin>:4:3: error[T0607]: `value`: 1 of 3 elements differ; the worst is [1]: got 0, expected 1",
        "<stdin>:18:3: error[T0607]: `value`: 1 of 2 elements differ; the worst is [0]: got 1.4142135, expected \
         1.4142143: 6 units in the last place apart, not 0 to 1",
        "6 units in the last place apart, not 0 to 3",
        "`value`: 1 of 2 elements differ; the worst is [1]: got 4, expected 5",
        "`value`: 1 of 2 elements differ; the worst is [1]: got 20000.0, expected 20003.0",
    ] {
        assert!(ran.log.contains(said), "{said}\n{}", ran.log);
    }
    // A function that is named is run as any other, and its expectations are ops that compute nothing.
    assert_eq!(run(&["-", "--entry=add"], text.split("// -----").next().unwrap()).code, 1);
    for broken in
        ["check.expect_eq %0 : tensor<f32>", "check.expect_eq_const %0, 3 : tensor<f32>", "check.expect_same"]
    {
        let text = format!(
            "func.func @f() {{\n%0 = stablehlo.constant dense<1.0> : tensor<f32>\n{broken}\nreturn\n}}\n"
        );
        let ran = run(&["-"], &text);
        assert!(ran.code == 1 && ran.log.contains("<stdin>:3:"), "{}", ran.log);
    }
}

/// Ops of earlier versions mean what they did, as read and after a way through StableHLO.
#[test]
fn earlier_ops_have_their_values() {
    let ran = run(&[&file("earlier.mlir")], "");
    assert_eq!((ran.code, ran.output.as_str()), (0, "5 functions run, 25 expectations met\n"), "{}", ran.log);
}

/// Ops whose shapes are operands can be run where those are constants, and the others are called what the program calls
/// them.
#[test]
fn known_shapes_can_be_run() {
    let ran = run(&[&file("known_shapes.mlir")], "");
    assert_eq!((ran.code, ran.output.as_str()), (1, "3 functions run, 7 expectations met\n"), "{}", ran.log);
    assert!(
        ran.log.contains(":49:8: error[T0601]: `stablehlo.dynamic_reshape` cannot be run"),
        "{}",
        ran.log
    );
    assert!(!ran.log.contains("tensor."), "{}", ran.log);
}

#[test]
fn wrong_use_is_exit_code_2() {
    let wrong = |arguments: &[&str], said: &str| {
        let ran = run(arguments, "func @f(%x: tensor<f32>) { return }");
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.log);
        assert!(ran.log.contains(said), "{arguments:?}: {}", ran.log);
    };
    wrong(&["-"], "T0403");
    wrong(&["-", "--entry=g"], "T0604");
    wrong(&["-", "--inputs=no such file"], "T0401");
    wrong(&["-", &format!("--inputs={}", file("small.tir"))], "T0606");
    wrong(&["-", "--random=1", "--inputs=x.npz"], "cannot be used with");
    wrong(&["-", "--random=1", "--rtol=1"], "--expect");
    wrong(&["-", "--random=1", "--expect=x.npz", "--rtol=-1"], "not negative");
    wrong(&["no such file"], "T0401");
}

#[test]
fn errors_in_the_program_are_exit_code_1() {
    let ran = run(&["-"], "func @main() { oops }");
    assert_eq!((ran.code, ran.output.as_str()), (1, ""));
    let ran = run(&["-"], "func @f() { return }\nfunc @g() { return }");
    assert!(ran.code == 1 && ran.log.contains("T0604"), "{}", ran.log);
    let ran = run(&["-"], "func @main() {\n  call @main()\n  return\n}");
    assert!(ran.code == 1 && ran.log.contains("T0603"), "{}", ran.log);
}

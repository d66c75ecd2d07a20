//! Wrong use, and what is asked without a program.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};

use crate::support::{root, run};

#[test]
fn files_that_cannot_be_read_are_one_line_and_code_two() {
    let directory = tempfile::tempdir().unwrap();
    let binary = directory.path().join("binary");
    std::fs::write(&binary, b"\x7fELF\x02\0\0\0\xff\xfe").unwrap();
    let missing = directory.path().join("missing.tir");
    let inputs = [directory.path(), &binary, &missing];
    let said = ["it is a directory", "it is not a text file", "No such file"];
    for (input, said) in inputs.into_iter().zip(said) {
        let ran = run(&[input.to_str().unwrap(), "--diagnostics=short"], b"");
        assert_eq!((ran.code, ran.log.lines().count()), (2, 1), "{}", ran.log);
        assert!(ran.log.contains(said) && ran.log.contains("T0401"), "{}", ran.log);
        assert_eq!(ran.output, "");
    }
}

#[test]
fn damaged_text_is_shown_at_its_place() {
    let ran = run(&["-", "--diagnostics=short"], b"module @m {\n  // \xc3\x28\n}\n");
    assert_eq!(ran.code, 1);
    assert!(ran.log.starts_with("<stdin>:2:6: error[T0104]: byte 0xC3"), "{}", ran.log);
}

#[test]
fn unknown_passes_and_options_suggest_the_nearest() {
    let near = |arguments: &[&str], name: &str| {
        let ran = run(arguments, b"");
        assert_eq!(ran.code, 2, "{}", ran.log);
        assert!(ran.log.contains(name), "{}", ran.log);
    };
    near(&["-", "--simplyfy"], "'--simplify'");
    near(&["-", "--simplify=max-iteration=3"], "`max-iterations`");
    near(&["-", "--simplify=max-iterations=three"], "whole number");
    near(&["-", "--pass-pipeline=module(func(simplfy))"], "`simplify`");
    near(&["-", "--pass-pipeline=module(simplify)"], "func(simplify)");
    near(&["-", "--print-ir-after=simplfy"], "`simplify`");
    near(&["-", "--emit=til"], "'tir'");
    near(&["--explain=T021"], "T0210");
    near(&["-", "--simplify", "--pass-pipeline=module()"], "cannot be used with");
}

#[test]
fn nothing_is_written_when_something_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.tir");
    std::fs::write(&path, "precious").unwrap();
    let output = path.to_str().unwrap();
    assert_eq!(run(&["-", "-o", output], b"func @f() { oops }").code, 1);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(run(&["-", "-o", output], b"func @f() { return }").code, 0);
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("module {"));
    let nowhere = directory.path().join("no/such/out.tir");
    let ran = run(&["-", "-o", nowhere.to_str().unwrap(), "--diagnostics=short"], b"");
    assert_eq!(ran.code, 2);
    assert!(ran.log.contains("T0402"), "{}", ran.log);
}

/// The output may be the input.
#[test]
fn a_file_can_be_rewritten_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.tir");
    std::fs::write(&path, "func @f() { return }").unwrap();
    let name = path.to_str().unwrap();
    assert_eq!(run(&[name, "-o", name], b"").code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "module {\n  func @f() {\n    return\n  }\n}\n");
}

#[test]
fn questions_are_answered_without_a_program() {
    for (question, answer) in [
        ("--list-passes", "simplify"),
        ("--list-ops", "tensor.dot_general"),
        ("--list-dialects", "tensor"),
        ("--list-machines", "dgx-a100-x2        16  Two nodes of DGX A100.\n"),
        ("--explain=t0205", "T0205"),
        ("--manual", ".TH tofu-opt"),
        ("--completions=bash", "_tofu"),
        ("--help", "--pass-pipeline"),
        ("--version", "tofu-opt 0.0.0"),
    ] {
        let ran = run(&[question], b"");
        assert_eq!(ran.code, 0, "{question}: {}", ran.log);
        assert!(ran.output.contains(answer), "{question}: {}", ran.output);
    }
}

/// Each group of options fits a screen.
#[test]
fn help_is_grouped() {
    let help = run(&["-h"], b"").output;
    for group in help.split("\n\n") {
        assert!(group.lines().count() <= 24, "{group}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 100));
}

/// The language of a program is told by its content, part by part; `--from` has the last word.
#[test]
fn languages_are_told_apart() {
    let stablehlo = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.tanh %x : tensor<4xf32>\n  \
                     return %0 : tensor<4xf32>\n}\n";
    let tir = "func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = tensor.tanh %x\n  return %0\n}\n";
    let one = run(&["-"], stablehlo.as_bytes());
    assert_eq!((one.code, &one.output), (0, &run(&["-"], tir.as_bytes()).output));
    let both = run(&["-", "--split-input-file"], format!("{tir}// -----\n{stablehlo}").as_bytes());
    assert_eq!(both.output, format!("{0}// -----\n{0}", one.output));
    for (from, text) in [("--from=tir", stablehlo), ("--from=stablehlo", tir)] {
        assert_eq!(run(&["-", from], text.as_bytes()).code, 1, "{from}");
    }
    let written = run(&["-", "--emit=stablehlo"], tir.as_bytes());
    assert_eq!(run(&["-"], written.output.as_bytes()).output, one.output);
}

#[test]
fn programs_can_be_written_as_graphs() {
    let path = root().join("testdata/inputs/tanh.tir");
    let ran = run(&[path.to_str().unwrap(), "--emit=dot"], b"");
    assert_eq!(ran.output.matches("->").count(), 2, "{}", ran.output);
    assert_eq!(ran.output.matches("[label=").count(), 3, "{}", ran.output);
}

/// Links stay links, to files that exist and to files that do not yet.
#[test]
#[cfg(unix)]
fn links_are_written_through() {
    let directory = tempfile::tempdir().unwrap();
    let (file, link) = (directory.path().join("file.tir"), directory.path().join("link.tir"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for _ in 0..2 {
        assert_eq!(run(&["-", "-o", link.to_str().unwrap()], b"func @f() { return }").code, 0);
        assert!(link.is_symlink() && file.is_file());
    }
    let second_name = directory.path().join("second.tir");
    std::fs::hard_link(&file, &second_name).unwrap();
    assert_eq!(run(&["-", "-o", second_name.to_str().unwrap()], b"").code, 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), std::fs::read_to_string(&second_name).unwrap());
}

#[test]
fn what_a_reproducer_says_is_not_contradicted() {
    let text = b"// tofu-reproducer pipeline='module(func(cse))' threads=3 verify-each=false\nfunc @f() { return }\n";
    let ran = run(&["-", "--run-reproducer", "--dump-pass-pipeline", "--threads=1"], text);
    assert_eq!((ran.code, ran.log.as_str()), (0, "module(func(cse))\n"));
    for extra in ["--dce", "--pass-pipeline=module()"] {
        assert_eq!(run(&["-", "--run-reproducer", extra], text).code, 2);
    }
    let ran = run(&["-", "--run-reproducer", "--diagnostics=short"], b"func @f() { return }");
    assert!(ran.code == 2 && ran.log.contains("T0407"), "{}", ran.log);
}

#[test]
fn a_reproducer_never_takes_the_place_of_the_input() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.tir");
    std::fs::write(&path, "func @f() { return }").unwrap();
    let name = path.to_str().unwrap();
    assert_eq!(run(&[name, "--cse", "--crash-reproducer", name], b"").code, 2);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "func @f() { return }");
}

/// Options of a pass end where the option does, whatever brackets are in it.
#[test]
fn options_cannot_smuggle_passes_in() {
    for options in ["max-iterations=4},cse{", "}", "max-iterations=4 max_iterations=5", "max-iterations=4}("]
    {
        let ran = run(&["-", &format!("--simplify={options}")], b"");
        assert_eq!(ran.code, 2, "{options}: {}", ran.log);
    }
}

#[test]
fn more_threads_than_any_machine_has_do_no_harm() {
    let text = b"func @f() { return }\nfunc @g() { return }";
    assert_eq!(run(&["-", "--cse", "--threads=1000000"], text), run(&["-", "--cse", "--threads=1"], text));
    let ran = run(&["-", "--threads=0"], text);
    assert!(ran.code == 2 && ran.log.contains("at least 1"), "{}", ran.log);
}

/// Parts without a program are passed over; others are told apart in what is written beside the output.
#[test]
fn parts_are_worked_on_one_by_one() {
    let text = b"// -----\nfunc @f() { return }\n// -----\nfunc @g() { return }\n// -----\n// nothing\n";
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree");
    let ran = run(&["-", "--split-input-file", "--cse", "--print-ir-tree-dir", tree.to_str().unwrap()], text);
    assert_eq!(ran.code, 0, "{}", ran.log);
    let mut parts: Vec<_> =
        std::fs::read_dir(tree).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    parts.sort();
    assert_eq!(parts, ["part2", "part3"]);
}

#[test]
fn compressed_programs_are_read_as_they_are() {
    let text = b"func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x\n}\n";
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    let compressed = encoder.finish().unwrap();
    let (plain, read) = (run(&["-"], text), run(&["-"], &compressed));
    assert_eq!((plain.code, &plain), (0, &read));
    let damaged = run(&["-"], &compressed[..compressed.len() / 2]);
    assert_eq!(damaged.code, 2);
    assert!(damaged.log.contains("cannot read `<stdin>`"), "{}", damaged.log);
}

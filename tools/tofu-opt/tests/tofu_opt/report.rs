//! `--report`.

use serde_json::{Value, json};

use crate::support::run;

const PROGRAM: &str = "dist.mesh @m = [x = 4]
func @f(%x: tensor<256x65536xf32> {dist.sharding = #dist.sharding<@m, [{}, {x}]>},
        %w: tensor<65536x256xf32> {dist.sharding = #dist.sharding<@m, [{x}, {}]>})
    -> (tensor<256x256xf32> {dist.sharding = #dist.sharding<@m, [{x}, {}]>}) {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0]}
  return %y
}
";

fn report(arguments: &[&str]) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plan.json");
    let report = format!("--report={}", path.display());
    let ran = run(&[&["-", "--emit=none", "--quiet", &report], arguments].concat(), PROGRAM.as_bytes());
    assert_eq!((ran.code, ran.log.as_str()), (0, ""));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_report_says_what_was_planned() {
    let report = report(&["--partition=objective=bytes"]);
    assert_eq!(report["version"], 1);
    assert_eq!(
        (&report["input"], &report["machine"], &report["devices"]),
        (&json!("-"), &json!("default"), &json!(4))
    );
    assert_eq!(report["mesh"], json!({"x": 4}));
    let partition = &report["partition"];
    assert_eq!((&partition["function"], &partition["algorithm"]), (&json!("@f"), &json!("optimal")));
    // Every device sends three quarters of a result of 256 · 256 · 4 bytes.
    let sent = 256 * 256 * 3;
    assert_eq!(partition["cost"], json!(f64::from(sent)));
    assert_eq!((&partition["lower_bound"], &partition["gap"]), (&partition["cost"], &json!(0.0)));
    assert_eq!(partition["communication_bytes_per_device"], sent);
    let collective = &partition["collectives"][0];
    assert_eq!(
        (&collective["op"], &collective["count"], &collective["bytes"]),
        (&json!("reduce_scatter"), &json!(1), &json!(sent))
    );
    let shares = 256 * 65536 * 4 / 4;
    assert_eq!(
        report["shardings"],
        json!([
            {"value": "%x", "type": "tensor<256x65536xf32>", "sharding": "[{}, {x}]", "bytes_per_device": shares},
            {"value": "%w", "type": "tensor<65536x256xf32>", "sharding": "[{x}, {}]", "bytes_per_device": shares},
            {"value": "%y", "type": "tensor<256x256xf32>", "sharding": "[{x}, {}]", "bytes_per_device": 65536},
        ])
    );
    // While the product is made, a device holds terms of all of it.
    assert_eq!(report["memory"]["peak_bytes"], 2 * shares + 65536 + 4 * 65536);
    let seconds = |name: &str| report["simulation"][name].as_f64().unwrap();
    let sum = seconds("compute_seconds") + seconds("communication_seconds");
    assert!((seconds("step_seconds") - sum).abs() < 1e-12 && seconds("communication_seconds") > 0.0);
    assert!(report["timing"]["search_seconds"].as_f64() <= report["timing"]["total_seconds"].as_f64());
}

#[test]
fn only_times_of_the_run_differ() {
    let [mut a, mut b] =
        [["--partition", "--threads=1"], ["--partition", "--threads=2"]].map(|arguments| report(&arguments));
    a["timing"].take();
    b["timing"].take();
    assert_eq!(a, b);
}

#[test]
fn other_forms_of_report_are_refused() {
    let ran = run(&["-", "--report=plan.txt"], PROGRAM.as_bytes());
    assert_eq!(ran.code, 2);
    assert!(ran.log.contains("expected a name that ends in `.json`"), "{}", ran.log);
}

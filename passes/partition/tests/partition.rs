//! The pass as a library's user runs it: what it finds, dumps, and does when it is to end early.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::any::Any;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tofu_diagnostics::SourceMap;
use tofu_ir::{Module, Registry, verify};
use tofu_partition::Algorithm;
use tofu_pass::{Artifacts, Cancellation, Findings, Outcome, PassManager, Progress, Session};
use tofu_pass_partition::{AlgorithmName, MeshAxes, ObjectiveName, Partition};
use tofu_report::{Partition as Plan, Section};
use tofu_sharding::Mesh;
use tofu_solver::{Options, Solution, read_json, solve};

fn mlp() -> Module {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/mlp.tir");
    program(&std::fs::read_to_string(path).unwrap())
}

fn program(text: &str) -> Module {
    let dialects = [
        &tofu_dialect_dist::DIALECT,
        &tofu_dialect_func::DIALECT,
        &tofu_dialect_stablehlo::SDY,
        &tofu_dialect_tensor::DIALECT,
    ];
    let mut sources = SourceMap::new();
    let file = sources.add("test.tir", text).unwrap();
    let parsed = tofu_syntax::parse(&sources, file, Arc::new(Registry::new(&dialects).unwrap()));
    assert!(parsed.is_ok());
    parsed.module
}

/// Keeps what passes hand out.
#[derive(Default)]
struct Kept {
    files: Mutex<Vec<(String, Vec<u8>)>>,
    plans: Mutex<Vec<Plan>>,
}

impl Artifacts for Kept {
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.files.lock().unwrap().push((name.to_owned(), bytes.to_vec()));
        Ok(())
    }
}

impl Findings for Kept {
    fn take(&self, _pass: &str, finding: Box<dyn Any + Send>) {
        if let Section::Partition(plan, _) = *finding.downcast::<Section>().unwrap() {
            self.plans.lock().unwrap().push(plan);
        }
    }
}

fn run(pass: Partition, session: Session) -> (Module, Outcome, Arc<Kept>) {
    run_on(mlp(), pass, session)
}

fn run_on(mut module: Module, pass: Partition, session: Session) -> (Module, Outcome, Arc<Kept>) {
    let kept = Arc::new(Kept::default());
    let session = Session { artifacts: kept.clone(), findings: kept.clone(), ..session };
    let outcome = PassManager::new().add(pass).run(&mut module, &session, &mut []);
    (module, outcome, kept)
}

fn one_axis() -> Option<MeshAxes> {
    Some(MeshAxes(Mesh::new([("x", 4)]).unwrap()))
}

#[test]
fn the_problem_that_is_written_has_the_cost_that_is_reported() {
    for objective in [ObjectiveName::Time, ObjectiveName::Bytes] {
        let dump_problem = "problem.json".to_owned();
        let pass = Partition { mesh: one_axis(), objective, dump_problem, ..Partition::default() };
        let (_, outcome, kept) = run(pass, Session::default());
        assert!(!outcome.failed());
        let files = kept.files.lock().unwrap();
        let [(name, bytes)] = &files[..] else { panic!("one file is written") };
        assert_eq!(name, "problem.json");
        let problem = read_json(&bytes[..]).unwrap();
        let Solution::Found { cost, bound, .. } = solve(&problem, &Options::default(), &mut |_| true) else {
            panic!("there is a plan")
        };
        assert_eq!(cost, bound);
        let reported = kept.plans.lock().unwrap()[0].cost;
        let unit = if objective == ObjectiveName::Time { 1e-12 } else { 1.0 };
        let solved = cost as f64 * unit;
        // What breaks ties, by memory, is in the problem, but in no report.
        let ties = solved - reported;
        assert!((0.0..=1e-6 * reported).contains(&ties), "{reported} is reported, {solved} is solved");
    }
}

#[test]
fn every_algorithm_leaves_a_program_that_verifies() {
    let mut best: Option<f64> = None;
    for algorithm in Algorithm::ALL {
        let pass =
            Partition { algorithm: AlgorithmName(algorithm), devices: Some(4), ..Partition::default() };
        let (module, outcome, kept) = run(pass, Session::default());
        assert!(!outcome.failed(), "{}", algorithm.name());
        assert!(verify(&module).is_empty(), "{}", algorithm.name());
        let cost = kept.plans.lock().unwrap()[0].cost;
        // The optimal one comes first.
        assert!(*best.get_or_insert(cost) <= cost, "{}", algorithm.name());
    }
}

/// Ends a run as soon as it tells how far it is.
struct Impatient(Cancellation);

impl Progress for Impatient {
    fn update(&self, _pass: &str, fraction: f64, _message: &str) {
        assert!((0.0..=1.0).contains(&fraction));
        self.0.cancel();
    }
}

#[test]
fn a_search_that_is_ended_leaves_the_best_plan_so_far() {
    let cancellation = Cancellation::default();
    let progress = Arc::new(Impatient(cancellation.clone()));
    let session = Session { progress, cancellation: cancellation.clone(), ..Session::default() };
    let pass = Partition { devices: Some(8), ..Partition::default() };
    let (module, outcome, kept) = run(pass, session);
    assert!(!outcome.failed());
    assert!(verify(&module).is_empty());
    let stopped = kept.plans.lock().unwrap()[0].was_stopped;
    let said = outcome.diagnostics.iter().any(|said| said.message.starts_with("the search was stopped"));
    assert!(stopped && said);
    assert!(!cancellation.is_cancelled(), "the wish is fulfilled, and later passes run");
}

/// Whatever is asked of old state, of the value that replaces it and of the result that it is given as, is kept; to plan what
/// was written once more costs the same. Nothing is asked of what is left empty.
#[test]
fn what_is_asked_of_state_values_and_results_is_kept() {
    let layouts = ["", "[{x}, {}]", "[{}, {x}]", "[{}, {}]"];
    let said = |of: &str| match of {
        "" => String::new(),
        of => format!("dist.sharding = #dist.sharding<@m, {of}>"),
    };
    for algorithm in [Algorithm::Optimal, Algorithm::DataParallel, Algorithm::Fsdp] {
        for (old, new, given) in layouts
            .into_iter()
            .flat_map(|old| layouts.map(|new| (old, new)))
            .flat_map(|(old, new)| layouts.map(|given| (old, new, given)))
        {
            // What people do by hand has ideas of its own about state and values.
            if algorithm != Algorithm::Optimal && (!old.is_empty() || !new.is_empty()) {
                continue;
            }
            let donated = if old.is_empty() { "" } else { ", " };
            let text = format!(
                "dist.mesh @m = [x = 4]
func @f(%w: tensor<16x16xf32> {{{}{donated}tf.aliasing_output = 0 : i32}}, %g: tensor<16x16xf32>)
    -> (tensor<16x16xf32> {{{}}}) {{
  %u = tensor.add %w, %g {{{}}}
  return %u
}}",
                said(old),
                said(given),
                said(new)
            );
            let pass = || Partition { algorithm: AlgorithmName(algorithm), ..Partition::default() };
            let (module, outcome, kept) = run_on(program(&text), pass(), Session::default());
            assert!(!outcome.failed(), "{} {text}\n{:?}", algorithm.name(), outcome.diagnostics);
            assert!(verify(&module).is_empty());
            let written = tofu_syntax::print(&module, &tofu_syntax::PrintOptions::default());
            let lines: Vec<&str> = written.lines().filter(|line| line.contains("%w")).collect();
            let [head, sum] = lines[..] else { panic!("{written}") };
            let (arguments, results) = head.split_once("->").unwrap();
            for (of, line) in [(old, arguments), (given, results), (new, sum)] {
                assert!(line.contains(&said(of)), "{of} is asked for\n{text}\n{written}");
            }
            let cost = kept.plans.lock().unwrap()[0].cost;
            let (_, outcome, kept) = run_on(program(&written), pass(), Session::default());
            if algorithm == Algorithm::Optimal {
                assert!(!outcome.failed());
                assert_eq!(kept.plans.lock().unwrap()[0].cost, cost, "{text}\n{written}");
            }
        }
    }
}

/// A result of which nothing is said along an axis still takes the place of the argument: it lies as that does, and nobody has to
/// bring it there between steps.
#[test]
fn results_that_are_left_open_take_the_place_of_arguments() {
    let module = program(
        "dist.mesh @m = [x = 4]
func @f(%w: tensor<4096x4096xf32> {dist.sharding = #dist.sharding<@m, [{}, {}]>, tf.aliasing_output = 0 : i32},
        %g: tensor<4096x4096xf32>)
    -> (tensor<4096x4096xf32> {dist.sharding = #dist.sharding<@m, [{?}, {?}]>}) {
  %u = tensor.add %w, %g
  return %u
}",
    );
    let (module, outcome, _) = run_on(module, Partition::default(), Session::default());
    assert!(!outcome.failed(), "{:?}", outcome.diagnostics);
    let written = tofu_syntax::print(&module, &tofu_syntax::PrintOptions::default());
    let head = written.lines().find(|line| line.contains("->")).unwrap();
    let (_, results) = head.split_once("->").unwrap();
    assert!(results.contains("[{}, {}]"), "{written}");
}

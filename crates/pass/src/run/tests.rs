//! Tests of running pipelines: threads, failures, analyses, instruments.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tofu_diagnostics::SourceMap;
use tofu_ir::{OpId, ValueMap};

use super::*;
use crate::instrument::describe;
use crate::testing::{Check, Count, Func, Open, Shelf, Tag, functions, module, registry, text};
use crate::{
    Analysis, CrashRecorder, ModuleAnchor, Pass, PassResult, PrintIr, Reproducer, Statistics, Timing,
    VerifyEach, When, Which, install_panic_hook, pass_options,
};

fn session(threads: usize) -> (Session, Arc<Shelf>) {
    let shelf = Arc::new(Shelf::default());
    let threads = NonZeroUsize::new(threads).unwrap();
    (Session { threads, artifacts: shelf.clone(), check_changes: true, ..Session::default() }, shelf)
}

fn parse(text: &str) -> PassManager {
    PassManager::parse(&mut SourceMap::new(), &registry(), text).unwrap()
}

fn run(pipeline: &str, module: &mut Module) -> Outcome {
    parse(pipeline).run(module, &session(2).0, &mut [&mut VerifyEach])
}

fn said(outcome: &Outcome) -> Vec<String> {
    outcome
        .diagnostics
        .iter()
        .map(|diagnostic| format!("{}: {}", diagnostic.code.id, diagnostic.message))
        .collect()
}

fn log() -> (Arc<Mutex<String>>, impl FnMut(&str) + Send + 'static) {
    let log = Arc::new(Mutex::new(String::new()));
    let writer = Arc::clone(&log);
    (log, move |text: &str| writer.lock().unwrap().push_str(text))
}

#[test]
fn threads_change_nothing() {
    let mut expected = None;
    for threads in [1, 2, 4] {
        let mut module = functions(100);
        let (session, shelf) = session(threads);
        let (printed, write) = log();
        let mut print = PrintIr::to_log(When { after: Which::All, ..When::default() }, write);
        let mut statistics = Statistics::new();
        let outcome = parse("func(tag,tag{value=7}),count-items").run(
            &mut module,
            &session,
            &mut [&mut VerifyEach, &mut print, &mut statistics],
        );
        assert_eq!(outcome.changed, Some(Changed::Yes));
        assert_eq!(said(&outcome)[..3], ["T0308: tagged f0", "T0308: tagged f0", "T0308: tagged f1"]);
        assert_eq!(
            statistics.table(),
            "tag\n         100  added items\ntag\n         100  added items\ncount-items\n         400  items\n"
        );
        let ids: Vec<OpId> = module.walk(module.root()).collect();
        let files = shelf.0.lock().unwrap().clone();
        let printed = printed.lock().unwrap().clone();
        let result = (text(&module), ids, said(&outcome), printed, files);
        assert_eq!(*expected.get_or_insert(result.clone()), result, "{threads} threads");
    }
    let (text, _, said, printed, files) = expected.unwrap();
    assert_eq!(text.matches("value = 7}").count(), 101, "the item of @f7 and one in each function:\n{text}");
    assert_eq!((said.len(), files.len()), (200, 200));
    assert_eq!(files[2], ("f1.txt".to_owned(), "f1".to_owned()));
    assert!(printed.starts_with("// ----- after `tag` on `func @f0` -----\nfunc @f0 {\n"), "{printed}");
}

#[test]
fn functions_that_do_not_change_stay_where_they_are() {
    pass_options! {
        /// Changes `@f1` only.
        struct One;
    }
    impl Pass for One {
        const NAME: &'static str = "one";
        type Anchor = Func;
        fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
            let name = cx.module.symbol_name(cx.op()).unwrap();
            if cx.module.text(name) != "f1" {
                return Ok(Changed::No);
            }
            let body = cx.module.blocks(cx.module.region(cx.op(), 0))[0];
            let first = cx.module.first_op(body).unwrap();
            cx.module.erase(first);
            Ok(Changed::Yes)
        }
    }
    let mut module = functions(3);
    let before: Vec<OpId> = module.ops(module.body()).collect();
    let manager = PassManager::new().nest::<Func>(|f| f.add(One));
    let outcome = manager.run(&mut module, &session(2).0, &mut [&mut VerifyEach]);
    assert_eq!((outcome.changed, said(&outcome)), (Some(Changed::Yes), vec![]));
    let after: Vec<OpId> = module.ops(module.body()).collect();
    assert_eq!((after[0], after[2]), (before[0], before[2]));
    assert!(module.is_erased(before[1]) && !module.is_erased(after[1]));
}

#[test]
fn one_function_is_worked_on_in_place() {
    let mut module = functions(1);
    let before: Vec<OpId> = module.ops(module.body()).collect();
    assert_eq!(run("func(tag)", &mut module).changed, Some(Changed::Yes));
    assert_eq!(module.ops(module.body()).collect::<Vec<_>>(), before);
}

#[test]
fn pipelines_nest_in_nested_ones() {
    let inner = "module @a {\nfunc @f {\n}\nfunc @g {\n}\n}\nmodule @b {\nfunc @h {\n}\nfunc @i {\n}\n}\n";
    let mut texts = Vec::new();
    for threads in [1, 3] {
        let mut module = module(&format!("module @m {{\n{inner}}}\n"));
        let outcome = parse("module(module(check,func(tag)))").run(&mut module, &session(threads).0, &mut []);
        assert_eq!(said(&outcome), ["f", "g", "h", "i"].map(|name| format!("T0308: tagged {name}")));
        texts.push(text(&module));
    }
    assert_eq!(texts[0].matches("value = 100").count(), 4);
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn an_anchor_must_match_something_that_stands_by_itself() {
    let mut empty = module("module @m {\n}\n");
    let outcome = run("func(tag)", &mut empty);
    assert!(outcome.failed());
    assert_eq!(said(&outcome), ["T0306: there is no `func` in `module @m` for `func(tag)` to work on"]);

    let mut open = module("module @m {\ntest.open ({ ^body: })\n}\n");
    let manager = PassManager::new().nest::<Open>(|open| open);
    let outcome = manager.run(&mut open, &session(1).0, &mut []);
    assert_eq!(
        said(&outcome),
        ["T0304: `test.open` sees values from outside, so no pass can work on it alone"]
    );
}

#[test]
fn a_failure_stops_the_pipeline_but_not_the_other_functions() {
    let mut module = functions(3);
    let outcome = run("func(tag{fail-in=f1},tag),count-items", &mut module);
    assert!(outcome.failed() && !outcome.panicked());
    let expected = ["T0308: tagged f0", "T0308: tagged f0", "T0308: tagged f1", "T0225: no tag for f1"];
    assert_eq!(said(&outcome)[..4], expected);
    assert_eq!(said(&outcome)[4..], ["T0308: tagged f2", "T0308: tagged f2"]);
}

#[test]
fn a_panic_is_an_error_with_its_place_and_a_reproducer() {
    install_panic_hook();
    for threads in [1, 4] {
        let mut module = functions(5);
        let before = text(&module);
        let manager = parse("count-items,func(tag,tag{panic-in=f3}),check");
        let mut recorder = CrashRecorder::new();
        let (printed, write) = log();
        let mut print = PrintIr::to_log(When { after_failure: true, ..When::default() }, write);
        let outcome = manager.run(&mut module, &session(threads).0, &mut [&mut recorder, &mut print]);
        assert!(outcome.failed() && outcome.panicked());
        let panics: Vec<_> = outcome.diagnostics.iter().filter(|d| d.code.id == "T0307").collect();
        assert!(
            panics.len() == 1 && panics[0].message.starts_with("`tag` panicked on `func @f3`: "),
            "{panics:?}"
        );
        assert!(panics[0].message.ends_with("told to panic\n  left: \"f3\"\n right: \"f3\""), "{panics:?}");
        assert!(panics[0].notes[0].contains("testing.rs:"), "{panics:?}");
        assert!(
            printed.lock().unwrap().starts_with("// ----- failed `tag{panic-in=f3}` on `func @f3` -----\n")
        );

        let reproducer = recorder.reproducer(&manager, threads, true).unwrap();
        assert_eq!(reproducer.pipeline, "module(func(tag,tag{panic-in=f3}),check)");
        assert_eq!(reproducer.program, before);
        assert_reproduces(&reproducer);
    }
}

fn assert_reproduces(reproducer: &Reproducer) {
    let mut sources = SourceMap::new();
    let file = sources.add("crash.tir", reproducer.write()).unwrap();
    let again = Reproducer::parse(&sources, file).unwrap();
    let mut module = module(sources.file(file).text());
    let outcome = parse(&again.pipeline).run(&mut module, &session(again.threads).0, &mut []);
    assert!(outcome.panicked());
}

#[test]
fn several_panics_are_one_diagnostic() {
    pass_options! {
        /// Panics.
        struct Panics;
    }
    impl Pass for Panics {
        const NAME: &'static str = "panics";
        type Anchor = Func;
        fn run(&self, _cx: &mut PassContext<'_>) -> PassResult {
            panic!("always")
        }
    }
    install_panic_hook();
    let manager = PassManager::new().nest::<Func>(|f| f.add(Panics));
    for threads in [1, 4] {
        let outcome = manager.run(&mut functions(9), &session(threads).0, &mut []);
        assert_eq!(said(&outcome), ["T0307: `panics` panicked on `func @f0`: always"]);
    }
}

#[test]
fn analyses_are_computed_once_and_kept_while_they_hold() {
    static COMPUTED: AtomicUsize = AtomicUsize::new(0);
    struct OpCount(usize);
    impl Analysis for OpCount {
        fn compute(module: &Module, op: OpId) -> OpCount {
            COMPUTED.fetch_add(1, Ordering::Relaxed);
            OpCount(module.walk(op).count())
        }
    }
    pass_options! {
        /// Asks how many ops there are.
        struct Ask {
            /// Whether to erase the last function.
            change: bool = false,
            /// Whether to say that the number still holds.
            preserve: bool = false,
        }
    }
    impl Pass for Ask {
        const NAME: &'static str = "ask";
        type Anchor = ModuleAnchor;
        const STATISTICS: &'static [(&'static str, &'static str)] = &[("ops", "Ops in the module.")];
        fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
            let count = cx.analysis::<OpCount>().0;
            cx.count("ops", count as u64);
            if self.preserve {
                cx.preserve::<OpCount>();
            }
            if self.change {
                let last = cx.module.last_op(cx.module.body()).unwrap();
                cx.module.erase(last);
            }
            Ok(Changed::from(self.change))
        }
    }
    let computed = |manager: PassManager| {
        let before = COMPUTED.load(Ordering::Relaxed);
        let mut statistics = Statistics::new();
        let outcome = manager.run(&mut functions(4), &session(1).0, &mut [&mut statistics]);
        assert!(!outcome.failed());
        let counts: Vec<String> = statistics
            .table()
            .lines()
            .filter(|line| line.contains("ops"))
            .map(|line| line.trim().to_owned())
            .collect();
        (COMPUTED.load(Ordering::Relaxed) - before, counts.join(","))
    };
    let change = || Ask { change: true, ..Ask::default() };
    let ask = Ask::default;
    assert_eq!(computed(PassManager::new().add(ask()).add(Count).add(ask())), (1, "13  ops,13  ops".into()));
    assert_eq!(computed(PassManager::new().add(change()).add(ask())), (2, "13  ops,10  ops".into()));
    let preserving = Ask { change: true, preserve: true };
    assert_eq!(computed(PassManager::new().add(preserving).add(ask())), (1, "13  ops,13  ops".into()));
    let nested = PassManager::new().add(ask()).nest::<Func>(|f| f.add(Tag::default())).add(ask());
    let with_files = nested.run(&mut functions(4), &session(1).0, &mut []);
    assert!(!with_files.failed());
    assert_eq!(computed(nested), (2, "13  ops,17  ops".into()));
}

#[test]
fn a_wrong_change_report_is_found() {
    let mut module = functions(2);
    let outcome = run("check{change=true}", &mut module);
    assert_eq!((outcome.changed, said(&outcome)), (Some(Changed::Yes), vec![]));
    let mut module = functions(2);
    let pipeline = "check{change=true honest=false}";
    let outcome = run(pipeline, &mut module);
    assert_eq!(
        said(&outcome),
        [format!("T0310: `{pipeline}` has changed the program and says that it has not")]
    );
    let trusting = Session { check_changes: false, ..Session::default() };
    assert!(!parse(pipeline).run(&mut functions(2), &trusting, &mut []).failed());
}

#[test]
fn the_pass_that_breaks_the_program_is_named() {
    let mut module = functions(3);
    let outcome = run("func(tag,tag{forget-in=f1},tag)", &mut module);
    let found: Vec<String> = said(&outcome).into_iter().filter(|text| !text.contains("tagged")).collect();
    assert_eq!(
        found,
        [
            "T0309: the program is invalid after `tag{forget-in=f1}`",
            "T0216: `test.item` needs the attribute `value`"
        ]
    );
}

#[test]
fn symbols_are_checked_when_all_functions_are_together_again() {
    pass_options! {
        /// Gives every function the name `@f0`.
        struct Rename;
    }
    impl Pass for Rename {
        const NAME: &'static str = "rename";
        type Anchor = Func;
        fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
            let name = cx.module.interner.name("f0");
            let symbol = cx.module.interner.attr(tofu_ir::AttrData::Symbol([name].into_iter().collect()));
            let op = cx.op();
            cx.module.set_attr(op, tofu_ir::SYMBOL_NAME, symbol);
            Ok(Changed::Yes)
        }
    }
    let manager = PassManager::new().nest::<Func>(|f| f.add(Rename));
    let outcome = manager.run(&mut functions(2), &session(1).0, &mut [&mut VerifyEach]);
    assert!(outcome.failed());
    assert_eq!(
        said(&outcome),
        [
            "T0309: the program is invalid after `func(rename)`",
            "T0210: `@f0` is defined twice",
            "T0209: there is no `@f1`"
        ]
    );
}

#[test]
fn a_function_pass_may_not_reach_out_of_its_function() {
    pass_options! {
        /// Adds a second function.
        struct Split;
    }
    impl Pass for Split {
        const NAME: &'static str = "split";
        type Anchor = Func;
        fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
            let copy = tofu_ir::copy_op(cx.module, cx.op(), &mut ValueMap::default());
            let body = cx.module.body();
            cx.module.append(body, copy);
            Ok(Changed::Yes)
        }
    }
    let manager = PassManager::new().nest::<Func>(|f| f.add(Split));
    let outcome = manager.run(&mut functions(2), &session(1).0, &mut []);
    let message = "T0309: `func(split)` has changed what is around the op that it was given";
    assert_eq!(said(&outcome), [message, message]);
}

#[test]
fn programs_are_printed_after_changes_only_when_asked_so() {
    let print = |pipeline: &str, when: When| {
        let (printed, write) = log();
        let mut print = PrintIr::to_log(when, write);
        assert!(!parse(pipeline).run(&mut functions(2), &session(2).0, &mut [&mut print]).failed());
        let printed = printed.lock().unwrap();
        let titles = printed.lines().filter(|line| line.starts_with("// "));
        titles.map(|line| line.trim_matches(['/', '-', ' ']).to_owned()).collect::<Vec<_>>()
    };
    let pipeline = "check,check{change=true},func(tag),count-items";
    let named = Which::Named(vec!["check".to_owned(), "tag".to_owned()]);
    assert_eq!(
        print(pipeline, When { after_change: true, ..When::default() }),
        ["after `check{change=true}` on `module`", "after `tag` on `func @f0`", "after `tag` on `func @f1`"]
    );
    assert_eq!(
        print(pipeline, When { before: named, ..When::default() }),
        [
            "before `check` on `module @m`",
            "before `check{change=true}` on `module @m`",
            "before `tag` on `func @f0`",
            "before `tag` on `func @f1`"
        ]
    );
    assert_eq!(
        print("count-items", When { after: Which::All, ..When::default() }),
        ["after `count-items` on `module @m`"]
    );
}

#[test]
fn a_tree_of_programs_nests_as_the_pipeline_does() {
    let shelf = Arc::new(Shelf::default());
    let mut print = PrintIr::to_tree(When { after: Which::All, ..When::default() }, shelf.clone());
    let outcome =
        parse("count-items,func(tag,tag),check").run(&mut functions(2), &session(2).0, &mut [&mut print]);
    assert!(!outcome.failed());
    let files: BTreeMap<String, String> = shelf.0.lock().unwrap().iter().cloned().collect();
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        [
            "0_count-items.tir",
            "1_func/0_f0/0_tag.tir",
            "1_func/0_f0/1_tag.tir",
            "1_func/1_f1/0_tag.tir",
            "1_func/1_f1/1_tag.tir",
            "2_check.tir"
        ]
    );
    assert!(
        files["1_func/1_f1/0_tag.tir"].starts_with("// ----- after `tag` on `func @f1` -----\nfunc @f1 {\n")
    );
}

#[test]
fn times_are_a_tree() {
    let mut timing = Timing::new();
    let outcome = parse("count-items,func(tag)").run(&mut functions(5), &session(2).0, &mut [&mut timing]);
    assert!(!outcome.failed());
    let table = timing.table();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let names: Vec<&str> = table.lines().map(|line| &line[37..]).collect();
    assert_eq!(names, ["pass", "module", "  count-items", "  func", "    tag"]);
    assert_eq!(rows[1][2], "100.0");
    assert_eq!(rows[2][3..], ["1", "count-items"]);
    assert_eq!(rows[4][2..], ["5", "tag"]);
    let percent: f64 = [rows[2][2], rows[3][2]].iter().map(|text| text.parse::<f64>().unwrap()).sum();
    assert!((percent - 100.0).abs() < 0.2, "{table}");
}

#[test]
fn a_cancelled_run_says_so_once() {
    let (session, _) = session(2);
    let manager = parse("count-items,func(tag)");
    session.cancellation.cancel();
    let outcome = manager.run(&mut functions(3), &session, &mut []);
    assert_eq!(said(&outcome), ["T0311: the run was cancelled"]);
    let nested = parse("func(tag)").run(&mut functions(3), &session, &mut []);
    assert_eq!(said(&nested), ["T0311: the run was cancelled"]);
}

#[test]
fn listings_come_in_the_order_of_the_functions() {
    pass_options! {
        /// Shows the function's name.
        struct Show;
    }
    impl Pass for Show {
        const NAME: &'static str = "show";
        type Anchor = Func;
        fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
            let text = describe(cx.module, cx.op());
            cx.print(format!("{text}\n"));
            Ok(Changed::No)
        }
    }
    let expected: Vec<_> = (0..20).map(|index| (String::new(), format!("func @f{index}\n"))).collect();
    for threads in [1, 4] {
        let (mut session, shelf) = session(threads);
        session.printer = shelf.clone();
        let manager = PassManager::new().nest::<Func>(|f| f.add(Show));
        assert_eq!(manager.run(&mut functions(20), &session, &mut []).changed, Some(Changed::No));
        assert_eq!(*shelf.0.lock().unwrap(), expected);
    }
}

#[test]
fn what_a_session_lacks_is_an_error() {
    pass_options! {
        /// Reads a file.
        struct Read;
    }
    impl Pass for Read {
        const NAME: &'static str = "read";
        type Anchor = ModuleAnchor;
        fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
            cx.load("plan.json")?;
            Ok(Changed::No)
        }
    }
    let outcome = PassManager::new().add(Read).run(&mut functions(1), &Session::default(), &mut []);
    assert_eq!(
        said(&outcome),
        ["T0401: `read` cannot read `plan.json`: this tool gives passes no files to read"]
    );
    let outcome = parse("func(tag)").run(&mut functions(1), &Session::default(), &mut []);
    let unwritten = "T0402: `tag` cannot write `f0.txt`: this tool gives passes no place to write to";
    assert_eq!(said(&outcome), ["T0308: tagged f0", unwritten]);
    assert!(outcome.failed());
}

#[test]
fn composed_and_parsed_pipelines_do_the_same() {
    let composed = PassManager::new().add(Check::default()).nest::<Func>(|f| f.add(Tag::default()));
    let (mut a, mut b) = (functions(3), functions(3));
    assert!(!composed.run(&mut a, &session(1).0, &mut []).failed());
    assert!(!parse(&composed.to_string()).run(&mut b, &session(4).0, &mut []).failed());
    assert_eq!(text(&a), text(&b));
}

#[test]
fn functions_bring_what_they_mention() {
    pass_options! {
            /// Says what stands beside the function, and how many of its regions have blocks.
        struct Beside;
    }
    impl Pass for Beside {
        const NAME: &'static str = "beside";
        type Anchor = Func;
        fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
            let module = &*cx.module;
            let others = module.ops(module.body()).filter(|&op| op != cx.op());
            let names: Vec<String> = others
                .map(|op| {
                    let bodies = module.regions(op).filter(|&region| module.entry(region).is_some()).count();
                    format!("{} {bodies}", describe(module, op))
                })
                .collect();
            let message = format!("{} sees {names:?}", describe(module, cx.op()));
            cx.report(Diagnostic::remark(&codes::WRONG_USAGE, Default::default(), message));
            Ok(Changed::No)
        }
    }
    let mut module = functions(3);
    let body = module.body();
    let ops: Vec<_> = module.ops(body).collect();
    let callee = module.interner.symbol("f2");
    module.set_attr(ops[0], "test.mentions", callee);
    let manager = PassManager::new().nest::<Func>(|f| f.add(Beside));
    let outcome = manager.run(&mut module, &session(2).0, &mut []);
    let first = said(&outcome).remove(0);
    assert!(first.ends_with("func @f0 sees [\"func @f2 1\", \"func @f1 1\"]"), "{first}");
}

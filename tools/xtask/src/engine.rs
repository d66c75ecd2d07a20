//! Programs for several devices, as `tofu-opt` writes them, compiled and run by XLA on CPU devices.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{
    setup,
    shell::{Done, Failure, built, cargo, root, run, succeeds},
    stablehlo::unpacked,
};

/// What is run: a program with stored results, how it is split, and on how many processes.
struct Case {
    model: &'static str,
    options: &'static str,
    /// With what devices exchange written out, and not as shardings of values.
    is_manual: bool,
    processes: u32,
}

const fn case(model: &'static str, options: &'static str) -> Case {
    Case { model, options, is_manual: true, processes: 1 }
}

const CASES: [Case; 14] = [
    case("gpt_tiny", "mesh=x:8 algorithm=fsdp"),
    case("gpt_tiny", "mesh=x:2,y:4 algorithm=tofu"),
    case("moe_tiny", "mesh=x:8 algorithm=tofu"),
    case("wresnet_tiny", "mesh=x:8 algorithm=tofu"),
    case("rnn_tiny", "mesh=x:8 algorithm=tofu"),
    // Shares with halos, and a loop.
    case("unet3d_tiny", "mesh=x:4,y:2 algorithm=tofu"),
    case("scan_tiny", "mesh=x:8 algorithm=megatron"),
    Case { processes: 2, ..case("gpt_tiny", "mesh=x:8 algorithm=megatron") },
    Case { processes: 2, ..case("moe_tiny", "mesh=x:8 algorithm=tofu") },
    Case { processes: 2, ..case("wresnet_tiny", "mesh=x:8 algorithm=data-parallel") },
    Case { processes: 2, ..case("rnn_tiny", "mesh=x:2,y:4 algorithm=tofu") },
    Case { is_manual: false, ..case("gpt_tiny", "mesh=x:8 algorithm=fsdp collectives=xla-annotated") },
    Case { is_manual: false, ..case("moe_tiny", "mesh=x:8 algorithm=megatron collectives=xla-annotated") },
    Case {
        is_manual: false,
        ..case("wresnet_tiny", "mesh=x:8 algorithm=megatron collectives=xla-annotated")
    },
];

/// Programs of which XLA must send what their plans say, to half a per cent: none is run.
const COMPILED: [&str; 3] = ["mlp_wide", "dlrm", "unet3d"];

/// Checks that what XLA computes on 8 devices is what is stored, that a mistake would be found, and that XLA sends what plans say.
pub(crate) fn check() -> Done {
    let python = setup::python_with_jax()?;
    run(cargo().args(["build", "--package", "tofu-opt"]))?;
    let directory = tempfile::tempdir()?;
    let engine = Engine { python, tofu_opt: built("debug", "tofu-opt")?, directory: directory.path() };
    println!("XLA runs programs on 8 devices");
    for case in &CASES {
        let program = engine.written(case.model, case.options, case.is_manual)?;
        let text = format!("{} with {} on {} processes", case.model, case.options, case.processes);
        if !engine.runs(case.model, &program, case.processes)? {
            return Err(Failure(format!("{text}: the results are not those stored")));
        }
    }
    let program = engine.written("gpt_tiny", "mesh=x:8 algorithm=megatron", true)?;
    let broken = with_wrong_reducer(&std::fs::read_to_string(&program)?);
    std::fs::write(&program, broken)?;
    if engine.runs("gpt_tiny", &program, 1)? {
        return Err(Failure("a sum over devices that is none is not noticed".to_owned()));
    }
    println!("XLA compiles programs for 8 devices");
    for model in COMPILED {
        let program = engine.written(model, "mesh=x:8", true)?;
        let mut compile = engine.run(&program);
        compile.args(["--compile-only", "--wire-tolerance=0.005"]);
        run(&mut compile).map_err(|_| Failure(format!("{model}: what is sent is not what the plan says")))?;
    }
    Ok(())
}

struct Engine<'a> {
    python: PathBuf,
    tofu_opt: PathBuf,
    directory: &'a Path,
}

impl Engine<'_> {
    /// A model, split and written for XLA; its plan is beside it.
    fn written(&self, model: &str, options: &str, is_manual: bool) -> Result<PathBuf, Failure> {
        let packed = root().join("testdata/models").join(format!("{model}.mlir.gz"));
        let program = unpacked(&packed, self.directory)?;
        let (out, plan) = (program.with_extension("out.mlir"), program.with_extension("json"));
        let mut command = Command::new(&self.tofu_opt);
        command.arg(&program).arg(format!("--partition={options}")).arg("--quiet");
        command.args(is_manual.then_some("--insert-communication"));
        command.arg("--emit=stablehlo").arg("-o").arg(&out).arg(format!("--report={}", plan.display()));
        run(&mut command)?;
        Ok(out)
    }

    /// The driver, for a program.
    fn run(&self, program: &Path) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(root().join("tools/jax/run.py")).arg(program);
        let plan = program.with_extension("").with_extension("json");
        command.arg(format!("--report={}", plan.display()));
        command
    }

    /// Whether what a program computes is what is stored.
    fn runs(&self, model: &str, program: &Path, processes: u32) -> Result<bool, Failure> {
        let golden = |kind: &str| root().join("testdata/golden").join(format!("{model}.{kind}"));
        let mut command = self.run(program);
        command.arg(format!("--processes={processes}"));
        command.arg("--inputs").arg(golden("inputs.npz")).arg("--expected").arg(golden("outputs.npz"));
        if golden("exact.npz").exists() {
            command.arg("--exact").arg(golden("exact.npz")).arg("--rounding").arg(golden("rounding.txt"));
        }
        Ok(succeeds(&mut command))
    }
}

/// A program whose sums over devices are something else.
fn with_wrong_reducer(text: &str) -> String {
    let mut is_next = false;
    let line = |line: &str| {
        is_next |= line.contains("\"stablehlo.all_reduce\"") || line.contains("\"stablehlo.reduce_scatter\"");
        let changed =
            if is_next { line.replace("stablehlo.add ", "stablehlo.maximum ") } else { line.to_owned() };
        is_next &= changed == line;
        changed + "\n"
    };
    text.lines().map(line).collect()
}

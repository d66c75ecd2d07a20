//! `--partition`.

use std::time::Instant;

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_dialect_func::Func;
use tofu_machine::Machine;
use tofu_partition::{Facts, Graph, Objective};
use tofu_pass::{Changed, Example, Pass, PassContext, PassResult, pass_options};
use tofu_tdl::Descriptions;

pass_options! {
    /// Splits tensors.
    pub struct Partition {
        /// How many devices.
        pub devices: u64 = 8,
    }
}

impl Pass for Partition {
    const NAME: &'static str = "partition";
    type Anchor = Func;

    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0]}
  return %y
}",
        effect: "x",
    };

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let start = Instant::now();
        let machine = Machine::preset("default").unwrap().with_devices(self.devices, Span::NONE)?;
        let descriptions = Descriptions::new();
        let module: &tofu_ir::Module = cx.module;
        let function = cx.op();
        let block = tofu_dialect_func::body(module, function).unwrap();
        let arguments = module.arguments(block).to_vec();
        let returned: Vec<_> = module.operands(module.last_op(block).unwrap()).collect();
        let mut ties = Vec::new();
        for (i, (a, r)) in arguments.iter().zip(&returned).enumerate() {
            if module.ty(*a) != module.ty(*r) { break; }
            ties.push((i, i));
        }
        let facts = Facts { trips: &|_| None, ties: &ties, in_memory: &|_| true };
        let graph = Graph::of(module, function, &descriptions, &facts)?;
        eprintln!("graph {} ops {} tensors {} infos {:?}", graph.ops.len(), graph.tensors.len(), graph.infos.len(), start.elapsed());
        let request = tofu_partition::Request { graph: &graph, machine: &machine, mesh: None, algorithm: tofu_partition::Algorithm::Optimal, objective: Objective::Time, reduce_scatter: true, constraints: &Default::default(), work: 2_000_000_000 };
        let mut last = String::new();
        let outcome = tofu_partition::search(&request, &mut |p| { let t = format!("{} cost {:.6} bound {:.6}", p.phase, p.cost.unwrap_or(0) as f64 / 1e12, p.bound.unwrap_or(0) as f64 / 1e12); if t != last { eprintln!("{t} {:?}", p.elapsed); last = t; } true }).unwrap();
        let evaluation = &outcome.evaluation;
        let bound = outcome.lower_bound.unwrap();
        eprintln!("plan cost {:.6} bound {:.6} gap {:.2}% compute {:.6} bytes {:.1} MiB {:?} {:?}", evaluation.cost as f64 / 1e12, bound as f64 / 1e12, (1.0 - bound as f64 / evaluation.cost as f64) * 100.0, evaluation.compute as f64 / 1e12, evaluation.sent_bytes(&outcome.plan.mesh) as f64 / 1048576.0, evaluation.by_collective(&outcome.plan.mesh), start.elapsed());
        Ok(Changed::No)
    }
}

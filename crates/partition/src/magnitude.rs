//! Whether the numbers of a program are such that searches can count with them.
//!
//! Searches add costs up in words of 64 bits, and costs from [`FORBIDDEN`] on are all the same to them. No sensible plan
//! costs more than every device doing everything, and reducing each tensor over all devices wherever one is made or read;
//! where that is too much, nothing is searched for.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_ir::OpId;
use tofu_machine::{Collective, Kernel, Machine};
use tofu_sharding::{Mesh, Step};
use tofu_solver::Invalid;

use crate::graph::{Graph, OpKind, TensorId};
use crate::op_info::OpInfo;
use crate::price::{Objective, Prices};
use crate::problem::FORBIDDEN;
use crate::search::Request;

/// All costs together stay below this: eleven days in picoseconds, or an exabyte.
const MOST: i128 = FORBIDDEN as i128;

/// Checks it.
///
/// # Errors
/// When a sum might not fit: with the dearest op.
pub(crate) fn check(request: &Request<'_>) -> Result<(), Invalid> {
    let graph = request.graph;
    let devices = request.mesh.as_ref().map_or(request.machine.devices(), Mesh::devices);
    let (all, dearest) = most(graph, request.machine, request.objective, devices);
    if all < MOST {
        return Ok(());
    }
    let entry = dearest.map_or(String::new(), |op| format!("`{}`", graph.module.def(op).written_name()));
    Err(Invalid { entry, message: "most of the cost is there".to_owned() })
}

/// What no sensible plan for so many devices costs more than; and the dearest op.
pub(crate) fn most(
    graph: &Graph<'_>,
    machine: &Machine,
    objective: Objective,
    devices: u64,
) -> (i128, Option<OpId>) {
    let mesh = Mesh::new([("x", devices)]).unwrap_or_default();
    let prices = Prices::new(machine, mesh, objective, true);
    let kernels: Vec<i128> = match objective {
        Objective::Time => graph.infos.iter().map(|info| kernel(machine, info)).collect(),
        Objective::Bytes => vec![0; graph.infos.len()],
    };
    let mut collectives = Collectives { graph, prices, known: FxHashMap::default() };
    let mut all: i128 = 0;
    let mut dearest = None;
    for op in &graph.ops {
        let own = match op.kind {
            OpKind::Described(info) => kernels[info as usize],
            OpKind::Constant | OpKind::Whole => 0,
        };
        let tensors = op.operands.iter().chain(&op.results).flatten();
        let each = tensors.fold(own, |sum, &tensor| sum.saturating_add(collectives.reduced(tensor)));
        let cost = each.saturating_mul(op.times.into());
        all = all.saturating_add(cost);
        if dearest.is_none_or(|(most, _)| cost > most) {
            dearest = Some((cost, op.id));
        }
    }
    for link in &graph.links {
        all = all.saturating_add(collectives.reduced(link.from).saturating_mul(link.times.into()));
    }
    (all, dearest.map(|(_, op)| op))
}

/// What all kernels take that every device does as a whole.
pub(crate) fn kernels(graph: &Graph<'_>, machine: &Machine) -> i128 {
    let known: Vec<i128> = graph.infos.iter().map(|info| kernel(machine, info)).collect();
    let each = graph.ops.iter().map(|op| match op.kind {
        OpKind::Described(info) => known[info as usize].saturating_mul(op.times.into()),
        OpKind::Constant | OpKind::Whole => 0,
    });
    each.fold(0, i128::saturating_add)
}

/// What an op costs that every device does as a whole.
pub(crate) fn kernel(machine: &Machine, info: &OpInfo) -> i128 {
    let written = info.results.iter().map(|shape| {
        let elements = shape.extents.iter().fold(1, |product: u64, &extent| product.saturating_mul(extent));
        crate::op_info::bytes(elements, shape.bits)
    });
    let bytes = info.reads.iter().copied().chain(written).fold(0, u64::saturating_add);
    let kernel = Kernel { op: info.name, element: info.element, flops: info.flops, bytes };
    machine.kernel_time(&kernel).picoseconds().into()
}

/// What it costs to reduce all of a tensor over all devices.
struct Collectives<'a> {
    graph: &'a Graph<'a>,
    prices: Prices<'a>,
    /// By the bytes of the tensor.
    known: FxHashMap<u64, i128>,
}

impl Collectives<'_> {
    fn reduced(&mut self, tensor: TensorId) -> i128 {
        let bytes = self.graph.tensors[tensor as usize].bytes();
        let prices = &self.prices;
        *self.known.entry(bytes).or_insert_with(|| match prices.mesh.devices() {
            0 | 1 => 0,
            _ => {
                let axes = SmallVec::from_slice(&[0]);
                prices.step(&Step { collective: Collective::AllReduce, axes, bytes }).into()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use tofu_diagnostics::Span;
    use tofu_machine::Machine;
    use tofu_tdl::Descriptions;

    use crate::constraints::Constraints;
    use crate::graph::{Facts, Graph};
    use crate::price::Objective;
    use crate::search::{Algorithm, Failure, Request, search};
    use crate::testing::program;

    /// However often a loop runs, and by either measure, there is a plan, no dearer for each round than that of one round, or
    /// it is said that the numbers are too large.
    #[test]
    fn numbers_of_any_size_are_counted_with_or_refused() {
        let module = program(
            "func @f(%k: tensor<i1>, %x: tensor<65536x4096xf32>, %w: tensor<4096x4096xf32>) -> tensor<65536x4096xf32> {
  %i, %r = tensor.while %k, %x ({
    ^cond(%ci: tensor<i1>, %ca: tensor<65536x4096xf32>):
      tensor.yield %ci
  }, {
    ^body(%bi: tensor<i1>, %ba: tensor<65536x4096xf32>):
      %m = tensor.dot_general %ba, %w {contracting = [1] x [0]}
      %t = tensor.tanh %m
      tensor.yield %bi, %t
  })
  return %r
}",
        );
        let top = module.blocks(module.region(module.root(), 0))[0];
        let function = module.ops(top).next().unwrap();
        let machine = Machine::preset("p2.8xlarge").unwrap().with_devices(4, Span::NONE).unwrap();
        let mut refused = 0;
        let mut of_one_round = Vec::new();
        for trips in (0..64).step_by(3).map(|bits| 1 << bits).chain([u64::MAX]) {
            let facts = Facts {
                trips: &|_| Some(trips),
                ties: &[],
                own_results: &[],
                in_memory: &|_| true,
                converts: &|_| false,
            };
            let graph = Graph::of(&module, function, &Descriptions::new(), &facts).unwrap();
            let kinds = Algorithm::ALL.into_iter().flat_map(|algorithm| {
                [Objective::Time, Objective::Bytes].map(|objective| (algorithm, objective))
            });
            for (number, (algorithm, objective)) in kinds.enumerate() {
                let request = Request {
                    graph: &graph,
                    machine: &machine,
                    mesh: None,
                    algorithm,
                    objective,
                    reduce_scatter: true,
                    constraints: &Constraints::default(),
                    memory: None,
                    work: 1_000_000,
                };
                match search(&request, &mut |_| true) {
                    Ok(found) => {
                        assert!(found.plan.verify(&graph).is_ok());
                        let cost = found.evaluation.cost;
                        if trips == 1 {
                            of_one_round.push(cost);
                        }
                        // A search may miss the least cost by a millionth.
                        let most = i128::from(trips) * of_one_round[number];
                        assert!(cost <= most + most / 1_000_000, "{algorithm:?}: {cost} of {trips} rounds");
                    }
                    Err(Failure::TooLarge(invalid)) => {
                        assert!(trips > 1 << 20, "{trips} rounds are refused");
                        assert_eq!(invalid.entry, "`tensor.dot_general`");
                        refused += 1;
                    }
                    Err(other) => panic!("{algorithm:?} of {trips} rounds: {other:?}"),
                }
            }
        }
        assert!(refused > 0);
    }
}

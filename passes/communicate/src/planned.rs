//! What the shardings of a function mean: the plan that keeps tensors like that.

use rustc_hash::FxHashMap;
use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_dialect_dist::{SHARDING, read_sharding, result_sharding, sharding_of, spmd};
use tofu_dialect_func::body;
use tofu_dialect_stablehlo::converts_sharding;
use tofu_ir::{Attr, Module, OpId, ValueId};
use tofu_machine::Machine;
use tofu_memory::{Assumptions, Liveness, trip_count};
use tofu_partition::{
    Facts, Failure, Graph, Objective, Op, OpInfo, Plan, Prices, Tensor, TensorId, complete,
};
use tofu_sharding::{Layout, Layouts, Mesh, Step};
use tofu_tdl::Descriptions;

use crate::insert::Inserting;

/// What devices exchange, as the plan has it.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    mesh: Mesh,
    /// How many collectives there are of each kind that are done so often in a step.
    sent: FxHashMap<(Step, u64), u64>,
}

impl Exchanges {
    /// A collective is done one time less; so many times, if it stands in a loop.
    ///
    /// # Errors
    /// There is none: what is in the program is not what was planned. Says what is missing.
    pub(crate) fn forget(&mut self, step: Step, times: u64) -> Result<(), String> {
        let text = format!("{:?} of {} bytes", step.collective, step.bytes);
        match self.sent.get_mut(&(step, times)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                Ok(())
            }
            _ => Err(format!("{text}, {times} times in a step, is in the program, but not in its plan")),
        }
    }

    /// A collective more.
    pub(crate) fn add(&mut self, step: Option<Step>, times: u64) {
        if let Some(step) = step {
            *self.sent.entry((step, times)).or_default() += 1;
        }
    }

    /// The mesh over the devices.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// How many collectives are in the text of the program.
    pub fn count(&self) -> u64 {
        self.sent.values().sum()
    }

    /// What each of them comes to in a step of the program: a measure of it, so often as it is done.
    pub fn total(&self, measure: impl Fn(&Step) -> u64) -> u64 {
        self.sent.iter().fold(0, |sum: u64, ((step, times), count)| {
            sum.saturating_add(measure(step).saturating_mul(*times).saturating_mul(*count))
        })
    }

    /// The bytes that a device sends in a step of the program.
    pub fn sent_bytes(&self) -> u64 {
        self.total(|step| step.sent_bytes(&self.mesh))
    }
}

/// A function, and how it is split; nothing of it is borrowed from the program.
pub(crate) struct Planned {
    pub(crate) machine: Machine,
    pub(crate) mesh: Mesh,
    /// What the mesh is called.
    pub(crate) mesh_name: String,
    pub(crate) reduce_scatter: bool,
    pub(crate) ops: Vec<Op>,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) infos: Vec<OpInfo>,
    pub(crate) results: Vec<Option<TensorId>>,
    /// How the results of the function lie.
    pub(crate) result_layouts: Vec<Layouts>,
    pub(crate) plan: Plan,
    pub(crate) exchanges: Exchanges,
}

impl Planned {
    /// None if the function has no shardings, or is written for each device already.
    ///
    /// # Errors
    /// Shardings from which no program follows.
    pub(crate) fn of(
        module: &Module,
        function: OpId,
        descriptions: &Descriptions,
        inserting: &Inserting,
    ) -> Result<Option<Planned>, Diagnostic> {
        if spmd(module, function).is_some() {
            return Ok(None);
        }
        let Some((mesh_op, mesh)) = mesh_of(module, function) else { return Ok(None) };
        let machine = inserting.machine.clone().with_devices(mesh.devices(), Span::NONE)?;
        let reduce_scatter = inserting.reduce_scatter;
        let liveness =
            Liveness::assuming(module, function, descriptions, &Assumptions { ties_are_donated: true })?;
        let facts = Facts {
            trips: &|op| trip_count(module, op, descriptions),
            ties: &[],
            own_results: &[],
            in_memory: &|value| liveness.is_materialized(value),
            converts: &|op| converts(module, op),
        };
        let graph = Graph::of(module, function, descriptions, &facts)?;
        let reading = Reading { module, function, mesh: &mesh };
        let kept =
            graph.tensors.iter().map(|tensor| reading.tensor(tensor)).collect::<Result<Vec<_>, _>>()?;
        for (tensor, &layouts) in graph.tensors.iter().zip(&kept) {
            reading.can_be_partial(tensor, layouts)?;
        }
        let result =
            |(number, tensor): (usize, &Option<TensorId>)| match result_sharding(module, function, number) {
                Some(attr) => reading.layouts(attr, module.span(function)),
                None => Ok(tensor.map_or(Layouts::REPLICATED, |tensor| kept[tensor as usize])),
            };
        let result_layouts =
            graph.results.iter().enumerate().map(result).collect::<Result<Vec<_>, Diagnostic>>()?;
        let prices = Prices::new(&machine, mesh.clone(), Objective::Time, reduce_scatter);
        let failed = |failure: Failure| {
            let reason = match failure {
                Failure::Broken(broken) => broken.message,
                Failure::TooLarge(_) => "numbers are too large".to_owned(),
                Failure::Constrained => "no way of doing it keeps them".to_owned(),
            };
            let message = "no program for each device follows from the shardings of this function";
            module.error(function, &codes::CANNOT_COMMUNICATE, message).note(reason)
        };
        let plan = complete(&graph, &prices, &kept).map_err(failed)?;
        let evaluation = plan.evaluate(&graph, &prices).map_err(|broken| failed(Failure::Broken(broken)))?;
        let mut exchanges = Exchanges { mesh: mesh.clone(), ..Exchanges::default() };
        for sent in &evaluation.communication {
            exchanges.add(Some(sent.step.clone()), sent.times);
        }
        drop(prices);
        let Graph { ops, tensors, infos, results, .. } = graph;
        let name = module.symbol_name(mesh_op).map_or("", |name| module.text(name));
        let mut planned = Planned {
            machine,
            mesh_name: name.to_owned(),
            mesh,
            reduce_scatter,
            ops,
            tensors,
            infos,
            results,
            result_layouts,
            plan,
            exchanges: Exchanges::default(),
        };
        let prices = planned.prices();
        for (&tensor, &to) in planned.results.iter().zip(&planned.result_layouts) {
            let Some(tensor) = tensor else { continue };
            let (_, from) = planned.cheapest(&prices, tensor, to);
            let steps = prices.conversion(planned.shape(tensor), from, to);
            steps.into_iter().for_each(|step| exchanges.add(Some(step), 1));
        }
        drop(prices);
        planned.exchanges = exchanges;
        Ok(Some(planned))
    }

    /// The prices that the plan was made by.
    pub(crate) fn prices(&self) -> Prices<'_> {
        Prices::new(&self.machine, self.mesh.clone(), Objective::Time, self.reduce_scatter)
    }

    /// A tensor, as prices see it.
    pub(crate) fn shape(&self, tensor: TensorId) -> tofu_partition::TensorShape<'_> {
        let tensor = &self.tensors[tensor as usize];
        tofu_partition::TensorShape { ty: tensor.ty, extents: &tensor.shape, bits: tensor.element.bits() }
    }

    /// The layout of a tensor, of those in which it is kept, from which it is cheapest to get to another; and the price.
    pub(crate) fn cheapest(&self, prices: &Prices<'_>, tensor: TensorId, to: Layouts) -> (u64, Layouts) {
        let stored = self.plan.stored[tensor as usize];
        let priced = stored.layouts().map(|from| (prices.convert(self.shape(tensor), from, to), from));
        priced.min_by_key(|(price, _)| *price).unwrap_or((0, stored.first))
    }
}

/// Whether an op only says that a value lies otherwise behind it.
pub(crate) fn converts(module: &Module, op: OpId) -> bool {
    converts_sharding(module, op) && module.attr(op, SHARDING).is_some()
}

/// The mesh of the first sharding of a function.
fn mesh_of(module: &Module, function: OpId) -> Option<(OpId, Mesh)> {
    let values = module.walk(function).flat_map(|op| {
        let blocks = module.regions(op).flat_map(|region| module.blocks(region).to_vec());
        let arguments: Vec<ValueId> = blocks.flat_map(|block| module.arguments(block).to_vec()).collect();
        arguments.into_iter().chain(module.results(op))
    });
    let values = values.collect::<Vec<_>>();
    let of_values = values.into_iter().filter_map(|value| {
        let user = module.defining_op(value).unwrap_or(function);
        Some((user, sharding_of(module, value)?))
    });
    let results = (0..tofu_dialect_func::signature(module, function)?.results.len())
        .filter_map(|index| Some((function, result_sharding(module, function, index)?)));
    let mut all = of_values.chain(results);
    all.find_map(|(user, attr)| read_sharding(module, user, attr).map(|(op, mesh, _)| (op, mesh)))
}

struct Reading<'a> {
    module: &'a Module,
    function: OpId,
    mesh: &'a Mesh,
}

impl Reading<'_> {
    /// How a tensor is kept: as those of its values that have a sharding say, or whole.
    fn tensor(&self, tensor: &Tensor) -> Result<Layouts, Diagnostic> {
        let mut first: Option<(Layouts, Span)> = None;
        for &value in &tensor.values {
            let Some(attr) = sharding_of(self.module, value) else { continue };
            let span = self.module.value_span(value);
            let layouts = self.layouts(attr, span)?;
            let (said, before) = *first.get_or_insert((layouts, span));
            if said != layouts {
                let message = "this is the same tensor in another place, where it lies otherwise";
                return Err(Diagnostic::error(&codes::CANNOT_COMMUNICATE, span, message)
                    .secondary(before, "there")
                    .help("give both the same sharding"));
            }
        }
        Ok(first.map_or(Layouts::REPLICATED, |(layouts, _)| layouts))
    }

    /// # Errors
    /// A tensor is to be kept as terms that nothing makes of it.
    fn can_be_partial(&self, tensor: &Tensor, layouts: Layouts) -> Result<(), Diagnostic> {
        let wrong = (0..self.mesh.axes().len()).find_map(|axis| match layouts.on(axis) {
            Layout::Partial(reducer) if tensor.partials & 1 << reducer as u8 == 0 => Some((axis, reducer)),
            _ => None,
        });
        let Some((axis, reducer)) = wrong else { return Ok(()) };
        let module = self.module;
        let Some(&value) = tensor.values.iter().find(|&&value| sharding_of(module, value).is_some()) else {
            return Ok(());
        };
        let (name, axis) = (module.quoted_value(value), &self.mesh.axes()[axis].name);
        let last = body(module, self.function).and_then(|block| module.last_op(block));
        let is_returned =
            last.is_some_and(|last| module.operands(last).any(|given| tensor.values.contains(&given)));
        let is_made = module.defining_op(value).is_some();
        let (reason, help) = if is_returned && is_made {
            (
                "the function returns it",
                "leave `partial` out: what a function gives is whole, since nobody else can reduce its terms",
            )
        } else {
            (
                "nothing makes such terms of it",
                "leave `partial` out: only what an op reduces can lie as terms",
            )
        };
        let message = format!("{name} cannot be partial by `{}` along `{axis}`: {reason}", reducer.name());
        Err(Diagnostic::error(&codes::CANNOT_COMMUNICATE, module.value_span(value), message).help(help))
    }

    fn layouts(&self, attr: Attr, span: Span) -> Result<Layouts, Diagnostic> {
        let wrong = |message: String| Diagnostic::error(&codes::CANNOT_COMMUNICATE, span, message);
        let Some((_, mesh, sharding)) = read_sharding(self.module, self.function, attr) else {
            return Err(wrong("this sharding has no mesh".to_owned()));
        };
        if mesh != *self.mesh {
            return Err(wrong("the shardings of a function lie on several meshes".to_owned())
                .help("give all of them one mesh, over all devices"));
        }
        Layouts::of(&sharding, &mesh).ok_or_else(|| {
            let text = sharding.display(&mesh).to_string();
            wrong(format!(
                "`{text}` splits along parts of axes, or along axes in another order than the mesh has them"
            ))
            .help("split along whole axes, in the order of the mesh, or make two axes of one")
        })
    }
}

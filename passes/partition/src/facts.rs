//! What is known of a function besides its ops: loops, state, memory.

use tofu_diagnostics::{Diagnostic, Severity, codes};
use tofu_dialect_func::body;
use tofu_dialect_stablehlo::converts_sharding;
use tofu_ir::{Control, Module, OpId, ValueId};
use tofu_memory::{Assumptions, Liveness, TRIP_COUNT, Transient, trip_count};
use tofu_partition::{Facts, Graph, Plan, Prices, TensorId};
use tofu_tdl::Descriptions;

use crate::incoming::{Pin, Place};

/// What analyses say of a function.
#[derive(Debug)]
pub(crate) struct Known {
    /// Where its values live.
    pub(crate) liveness: Liveness,
    /// Which arguments take the value of which results in the next step.
    pub(crate) ties: Vec<(usize, usize)>,
    /// The results of which the program says how they lie.
    own_results: Vec<usize>,
}

/// The most that a device holds at once.
#[derive(Clone, Debug)]
pub(crate) struct DevicePeak {
    pub(crate) bytes: u64,
    /// What is largest of what is alive then, with its bytes.
    pub(crate) alive: Vec<(TensorId, u64)>,
}

impl Known {
    /// `pins` is what the program says of how its tensors lie.
    ///
    /// # Errors
    /// When the function is only declared, or its control goes other ways than regions.
    pub(crate) fn of(
        module: &Module,
        function: OpId,
        descriptions: &Descriptions,
        pins: &[Pin],
    ) -> Result<Known, Diagnostic> {
        // Whoever trains gives the old state away.
        let assumptions = Assumptions { ties_are_donated: true };
        let liveness = Liveness::assuming(module, function, descriptions, &assumptions)?;
        let arguments = body(module, function).map_or(&[][..], |block| module.arguments(block));
        let said = |of: &dyn Fn(Place) -> bool| pins.iter().find(|pin| of(pin.place));
        let of_argument = |number: usize| {
            said(&|place| matches!(place, Place::Value(value) if arguments.get(number) == Some(&value)))
        };
        let of_result =
            |number: usize| said(&|place| matches!(place, Place::Result(other) if other == number));
        // Who says of both that they lie differently brings the one to the other between steps.
        let is_one = |&(argument, result): &(usize, usize)| match (of_argument(argument), of_result(result)) {
            (Some(argument), Some(result)) => (0..argument.mesh.axes().len()).all(|axis| {
                let (old, new) = (argument.sharding.asked(axis), result.sharding.asked(axis));
                old.is_none() || new.is_none() || old == new
            }),
            _ => true,
        };
        let ties = liveness.ties().pairs.iter().copied().filter(is_one).collect();
        let own_results = pins.iter().filter_map(|pin| match pin.place {
            Place::Result(number) => Some(number),
            Place::Value(_) => None,
        });
        let own_results = own_results.collect();
        Ok(Known { liveness, ties, own_results })
    }

    /// The graph of the function.
    ///
    /// # Errors
    /// See [`Graph::of`].
    pub(crate) fn graph<'m>(
        &self,
        module: &'m Module,
        function: OpId,
        descriptions: &Descriptions,
    ) -> Result<Graph<'m>, Diagnostic> {
        let facts = Facts {
            trips: &|op| trip_count(module, op, descriptions),
            ties: &self.ties,
            own_results: &self.own_results,
            in_memory: &|value| self.liveness.is_materialized(value),
            converts: &|op| converts_sharding(module, op),
        };
        Graph::of(module, function, descriptions, &facts)
    }

    /// What to say of loops of which nobody knows how often they run: the graph counts them once.
    pub(crate) fn uncounted(
        module: &Module,
        function: OpId,
        descriptions: &Descriptions,
    ) -> Option<Diagnostic> {
        let is_uncounted = |op: &OpId| {
            matches!(module.def(*op).interface(), Some(Control::While))
                && trip_count(module, *op, descriptions).is_none()
        };
        let mut loops = module.walk(function).filter(is_uncounted);
        let first = loops.next()?;
        let message = "how often this loop runs is not known: what is in it counts once";
        let warning = module.error(first, &codes::UNKNOWN_TRIP_COUNT, message);
        let warning = match loops.count() {
            0 => warning,
            1 => warning.note("it is so of another loop, too"),
            others => warning.note(format!("it is so of {others} other loops, too")),
        };
        let help = format!("say it with an attribute of the loop, `{TRIP_COUNT} = 100`");
        Some(Diagnostic { severity: Severity::Warning, ..warning.help(help) })
    }

    /// When each tensor occupies memory, for the tensors that stand for a storage: the first of its values does. None of
    /// tensors that are elsewhere, or never in memory.
    pub(crate) fn lives(&self, graph: &Graph<'_>) -> Vec<Option<[i64; 2]>> {
        let mut lives: Vec<Option<[i64; 2]>> = vec![None; graph.tensors.len()];
        for (_, storage) in self.liveness.storages() {
            let first = storage.values.iter().find_map(|&value| graph.tensor_of(value));
            let Some(first) = first else { continue };
            let own = &mut lives[first as usize];
            let live = [i64::from(storage.live.start), i64::from(storage.live.end)];
            // Of several, the one that is alive longest.
            if own.is_none_or(|other| other[1] - other[0] < live[1] - live[0]) {
                *own = Some(live);
            }
        }
        lives
    }

    /// The most that a device holds at once: shares, the copies that are kept beside them, and what ops convert through.
    pub(crate) fn peak(&self, graph: &Graph<'_>, plan: &Plan, prices: &Prices<'_>) -> DevicePeak {
        let bytes = |value: ValueId| match graph.tensor_of(value) {
            Some(tensor) => plan.bytes(graph, tensor),
            None => 0,
        };
        // A plan that does not hold together is refused by the search itself.
        let buffers = plan.buffers(graph, prices).unwrap_or_default();
        let needed = graph.ops.iter().zip(buffers).filter(|(_, bytes)| *bytes > 0);
        let needed = needed.filter_map(|(op, bytes)| {
            let at = self.liveness.schedule().begin(op.id)?;
            Some(Transient { live: at..at + 1, bytes })
        });
        let end = self.liveness.schedule().len();
        let returned =
            returned(graph, plan).map(|bytes| Transient { live: end.saturating_sub(1)..end, bytes });
        let transients: Vec<Transient> = needed.chain(returned).collect();
        let peak = self.liveness.peak(&bytes, &transients);
        let tensor_of = |values: &[ValueId]| values.iter().find_map(|&value| graph.tensor_of(value));
        let alive = peak.alive.iter().filter_map(|&(storage, bytes)| {
            Some((tensor_of(&self.liveness.storage(storage).values)?, bytes))
        });
        DevicePeak { bytes: peak.bytes, alive: alive.collect() }
    }
}

/// The bytes of each result that lies otherwise than all that is kept of the value that is returned, beside which it is made.
fn returned(graph: &Graph<'_>, plan: &Plan) -> impl Iterator<Item = u64> {
    let own = graph.links.iter().filter(|link| graph.tensors[link.to as usize].is_own_result());
    own.filter_map(|link| {
        let result = plan.stored[link.to as usize].first;
        let is_kept = plan.stored[link.from as usize].layouts().any(|layouts| layouts == result);
        (!is_kept).then(|| plan.bytes(graph, link.to))
    })
}

//! What is known of a function besides its ops: loops, state, memory.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Module, OpId, ValueId};
use tofu_memory::{Assumptions, Liveness, Transient, trip_count};
use tofu_partition::{Facts, Graph, Plan, TensorId};
use tofu_tdl::Descriptions;

use crate::incoming::converts;

/// What analyses say of a function.
#[derive(Debug)]
pub(crate) struct Known {
    /// Where its values live.
    pub(crate) liveness: Liveness,
    /// Which arguments take the value of which results in the next step.
    pub(crate) ties: Vec<(usize, usize)>,
}

/// The most that a device holds at once.
#[derive(Clone, Debug)]
pub(crate) struct DevicePeak {
    pub(crate) bytes: u64,
    /// What is largest of what is alive then, with its bytes.
    pub(crate) alive: Vec<(TensorId, u64)>,
}

impl Known {
    /// A result of which the user says how it lies (those of these numbers) need not lie as an argument does.
    ///
    /// # Errors
    /// When the function is only declared, or its control goes other ways than regions.
    pub(crate) fn of(
        module: &Module,
        function: OpId,
        descriptions: &Descriptions,
        pinned: &[usize],
    ) -> Result<Known, Diagnostic> {
        // Whoever trains gives the old state away.
        let assumptions = Assumptions { ties_are_donated: true };
        let liveness = Liveness::assuming(module, function, descriptions, &assumptions)?;
        let ties =
            liveness.ties().pairs.iter().copied().filter(|(_, result)| !pinned.contains(result)).collect();
        Ok(Known { liveness, ties })
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
            in_memory: &|value| self.liveness.is_materialized(value),
            converts: &|op| converts(module, op),
        };
        Graph::of(module, function, descriptions, &facts)
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
    pub(crate) fn peak(&self, graph: &Graph<'_>, plan: &Plan) -> DevicePeak {
        let bytes = |value: ValueId| match graph.tensor_of(value) {
            Some(tensor) => plan.bytes(graph, tensor),
            None => 0,
        };
        // Of what is no plan the search says so itself.
        let buffers = plan.buffers(graph).unwrap_or_default();
        let needed = graph.ops.iter().zip(buffers).filter(|(_, bytes)| *bytes > 0);
        let transients: Vec<Transient> = needed
            .filter_map(|(op, bytes)| {
                let at = self.liveness.schedule().begin(op.id)?;
                Some(Transient { live: at..at + 1, bytes })
            })
            .collect();
        let peak = self.liveness.peak(&bytes, &transients);
        let tensor_of = |values: &[ValueId]| values.iter().find_map(|&value| graph.tensor_of(value));
        let alive = peak.alive.iter().filter_map(|&(storage, bytes)| {
            Some((tensor_of(&self.liveness.storage(storage).values)?, bytes))
        });
        DevicePeak { bytes: peak.bytes, alive: alive.collect() }
    }
}

//! The plan, as the report has it.

use tofu_partition::Objective;
use tofu_report::{
    Algorithm, Collective, Memory, Partition, PlannedValue, Refused, Section, Simulation, Timing,
};
use tofu_sharding::Layouts;

use crate::compare::Compared;
use crate::names::Names;
use crate::options::ObjectiveName;
use crate::plan::{Planned, Setting};
use crate::summary::{Measured, refused, took};
use crate::text;

/// What there is to report of a plan.
pub(crate) fn sections(setting: &Setting<'_>, planned: &Planned, measured: &Measured) -> Vec<Section> {
    let plan = &planned.outcome.plan;
    let axes = plan.mesh.axes().iter().map(|axis| (axis.name.to_string(), axis.size));
    let target = Section::Target {
        machine: setting.target.machine.name().to_owned(),
        devices: plan.mesh.devices(),
        mesh: axes.collect(),
    };
    let timing = Timing { search_seconds: Some(planned.search.as_secs_f64()), total_seconds: None };
    let memory = Memory {
        peak_bytes: measured.peak.bytes,
        placed_bytes: None,
        lower_bound_bytes: None,
        limit_bytes: setting.limit(),
        host_bytes: None,
    };
    let simulation = Simulation {
        step_seconds: seconds(measured.time.step_cost()),
        compute_seconds: seconds(measured.time.compute),
        communication_seconds: seconds(measured.time.communication_cost()),
        stall_seconds: None,
    };
    vec![
        Section::Function(setting.function()),
        target,
        Section::Partition(partition(setting, planned, measured), timing),
        Section::Memory(memory),
        Section::Simulation(simulation),
        Section::Shardings(values(setting, planned)),
    ]
}

/// What comparing algorithms has shown.
pub(crate) fn algorithms(setting: &Setting<'_>, compared: &[Compared]) -> Section {
    let one = |compared: &Compared| {
        let found = compared.found.as_ref().ok();
        Algorithm {
            name: compared.algorithm.name().to_owned(),
            cost: found.map(|found| unit(setting, found.cost)),
            communication_bytes_per_device: found.map(|found| found.sent),
            peak_bytes: found.map(|found| found.measured.peak.bytes),
            step_seconds: found.map(|found| seconds(found.measured.time.step_cost())),
            reason: compared.found.as_ref().err().cloned(),
        }
    };
    Section::Algorithms(compared.iter().map(one).collect())
}

fn partition(setting: &Setting<'_>, planned: &Planned, measured: &Measured) -> Partition {
    let mesh = &planned.outcome.plan.mesh;
    let collectives = measured.time.by_collective(mesh).into_iter().map(|(collective, count, bytes)| {
        let sent = measured.time.communication.iter().filter(|sent| sent.step.collective == collective);
        Collective { op: collective.name().to_owned(), count, bytes, seconds: seconds(took(sent)) }
    });
    let objective = match setting.options.objective {
        ObjectiveName::Time => "time",
        ObjectiveName::Bytes => "bytes",
    };
    let refused = refused(setting).into_iter();
    Partition {
        function: setting.function(),
        algorithm: setting.options.algorithm.0.name().to_owned(),
        objective: objective.to_owned(),
        cost: unit(setting, planned.outcome.evaluation.cost),
        lower_bound: planned.outcome.lower_bound.map(|bound| unit(setting, bound)),
        gap: planned.gap(),
        was_stopped: planned.outcome.was_stopped,
        communication_bytes_per_device: measured.time.sent_bytes(mesh),
        collectives: collectives.collect(),
        refused: refused
            .map(|of| Refused { op: of.op.to_owned(), count: of.count, reason: of.reason })
            .collect(),
    }
}

fn values(setting: &Setting<'_>, planned: &Planned) -> Vec<PlannedValue> {
    let graph = setting.graph;
    let plan = &planned.outcome.plan;
    let names = Names::of(graph);
    let mut values = Vec::new();
    for (number, tensor) in graph.tensors.iter().enumerate() {
        let layouts: Layouts = plan.stored[number].first;
        let sharding = text::layouts(layouts, &plan.mesh, &tensor.shape);
        let bytes = plan.bytes(graph, number as u32);
        values.extend(tensor.values.iter().map(|&value| PlannedValue {
            value: format!("%{}", names.get(value)),
            ty: graph.module.type_text(tensor.ty),
            sharding: sharding.clone(),
            bytes_per_device: bytes,
        }));
    }
    values
}

/// A cost in the unit of what is minimised.
fn unit(setting: &Setting<'_>, cost: i128) -> f64 {
    match setting.options.objective.objective() {
        Objective::Time => seconds(cost),
        Objective::Bytes => cost as f64,
    }
}

/// Of picoseconds.
fn seconds(picoseconds: i128) -> f64 {
    picoseconds as f64 / 1e12
}

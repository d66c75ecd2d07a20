//! Why a value lies as it does: the layouts that it could have, what each would cost, and the conversions of it.

use std::fmt::Write as _;

use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_partition::{Constraints, Plan, Sent, Stored, TensorId};
use tofu_pass::PassContext;
use tofu_sharding::{Layout, Layouts, Mesh, Reducer, share};

use crate::plan::{Planned, Setting};
use crate::rules::{named_value, value_names};
use crate::text::{bytes, cost, layouts, left, right};

/// For so many layouts, everything else is planned anew.
const MOST_SEARCHES: usize = 8;

/// The explanation of a value.
///
/// # Errors
/// When there is no such value.
pub(crate) fn text(setting: &Setting<'_>, planned: &Planned, name: &str, cx: &PassContext<'_>) -> Result<String, Diagnostic> {
    let graph = setting.graph;
    let Some((value, tensor)) = named_value(graph, name) else {
        let names = value_names(graph);
        let near = suggest::did_you_mean(name.trim_start_matches('%'), names.iter().map(String::as_str));
        let message = format!("there is no tensor `%{}` to explain", name.trim_start_matches('%'));
        let help = near.unwrap_or_else(|| format!("`{}` has {} of them, as `--partition` alone prints them", setting.function(), names.len()));
        return Err(Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, message).help(help));
    };
    let plan = &planned.outcome.plan;
    let of = &graph.tensors[tensor as usize];
    let ty = graph.module.type_text(of.ty);
    let kept = plan.stored[tensor as usize];
    let name = name.trim_start_matches('%');
    let made = match graph.module.defining_op(value) {
        Some(op) => format!("made by `{}`", graph.module.def(op).written_name()),
        None => "given to the function".to_owned(),
    };
    let mut out = format!("%{name}: {ty}, {made}\n");
    let shown = layouts(kept.first, &plan.mesh, &of.shape);
    let _ = writeln!(out, "  lies as {shown}, {} a device", bytes(plan.bytes(graph, tensor)));
    if let Some(copy) = kept.copy {
        let _ = writeln!(out, "  and once more as {}, for several of its readers", layouts(copy, &plan.mesh, &of.shape));
    }
    alternatives(&mut out, setting, planned, tensor, cx);
    conversions(&mut out, setting, planned, tensor);
    Ok(out)
}

/// A layout, and what the step costs with it.
struct Alternative {
    layouts: Layouts,
    /// With all else as it is.
    fixed: i128,
    /// With all else planned anew.
    anew: Option<i128>,
}

fn alternatives(out: &mut String, setting: &Setting<'_>, planned: &Planned, tensor: TensorId, cx: &PassContext<'_>) {
    let plan = &planned.outcome.plan;
    let objective = setting.options.objective.objective();
    let prices = setting.prices(&plan.mesh, objective);
    let of = &setting.graph.tensors[tensor as usize];
    let kept = plan.stored[tensor as usize];
    let best = planned.outcome.evaluation.cost;
    let mut all: Vec<Alternative> = Vec::new();
    for layouts in possible(&plan.mesh, &of.shape, of.partials) {
        let mut other: Plan = plan.clone();
        // What it is converted to is free to be what it was.
        other.stored[tensor as usize] = if layouts == kept.first { kept } else { Stored::only(layouts) };
        if let Ok(evaluation) = other.evaluate(setting.graph, &prices) {
            all.push(Alternative { layouts, fixed: evaluation.cost, anew: None });
        }
    }
    all.sort_by_key(|alternative| (alternative.layouts != kept.first, alternative.fixed, alternative.layouts));
    for alternative in all.iter_mut().take(MOST_SEARCHES) {
        if alternative.layouts == kept.first {
            alternative.anew = Some(best);
            continue;
        }
        let constraints = pinned(&planned.constraints, tensor, alternative.layouts, &plan.mesh);
        let found = setting.search(setting.options.algorithm.0, Some(plan.mesh.clone()), &constraints, cx);
        alternative.anew = found.ok().map(|(outcome, _)| outcome.evaluation.cost);
    }
    let _ = writeln!(out, "\n  {} {} {} {}", left("layout", 32), right("a device", 10), right("all else kept", 16), right("all else anew", 16));
    let told = |of: i128| {
        let more = if best > 0 { (of - best) as f64 / best as f64 * 100.0 } else { 0.0 };
        match of.cmp(&best) {
            std::cmp::Ordering::Equal => cost(of, objective),
            _ if more.abs() < 0.05 => format!("{} {}0.0 %", cost(of, objective), if of > best { "+" } else { "-" }),
            _ => format!("{} {more:+.1} %", cost(of, objective)),
        }
    };
    for alternative in &all {
        let mark = if alternative.layouts == kept.first { "*" } else { " " };
        let name = layouts(alternative.layouts, &plan.mesh, &of.shape);
        let held = bytes(Stored::only(alternative.layouts).bytes(&plan.mesh, shape_of(of)));
        let anew = alternative.anew.map_or("".to_owned(), told);
        let _ = writeln!(out, "{mark} {} {} {} {}", left(&name, 32), right(&held, 10), right(&told(alternative.fixed), 16), right(&anew, 16));
    }
    if all.len() > MOST_SEARCHES {
        let _ = writeln!(out, "  Only for the first {MOST_SEARCHES} was all else planned anew.");
    }
}

fn shape_of(tensor: &tofu_partition::Tensor) -> tofu_partition::TensorShape<'_> {
    tofu_partition::TensorShape { ty: tensor.ty, extents: &tensor.shape, bits: tensor.element.bits() }
}

/// All layouts of a tensor in which each axis makes it smaller, or holds terms of it.
fn possible(mesh: &Mesh, shape: &[u64], partials: u8) -> Vec<Layouts> {
    let mut all = vec![Layouts::REPLICATED];
    for axis in 0..mesh.axes().len().min(Layouts::MAX_AXES) {
        let mut more = Vec::new();
        for &before in &all {
            let splits = (0..shape.len().min(Layouts::MAX_RANK)).filter(|&dim| {
                let shards = before.shards(mesh, dim);
                share(shape[dim], shards * mesh.axes()[axis].size) < share(shape[dim], shards)
            });
            more.push(before);
            more.extend(splits.map(|dim| before.with(axis, Layout::Split(dim))));
            let reducers = Reducer::ALL.into_iter().filter(|&reducer| partials & 1 << reducer as u8 != 0);
            more.extend(reducers.map(|reducer| before.with(axis, Layout::Partial(reducer))));
        }
        all = more;
    }
    all
}

fn pinned(before: &Constraints, tensor: TensorId, layouts: Layouts, mesh: &Mesh) -> Constraints {
    let axes = 0..mesh.axes().len().min(Layouts::MAX_AXES);
    axes.fold(before.clone(), |mut constraints, axis| {
        constraints.pin(tensor, axis, layouts.on(axis));
        constraints
    })
}

fn conversions(out: &mut String, setting: &Setting<'_>, planned: &Planned, tensor: TensorId) {
    let graph = setting.graph;
    let plan = &planned.outcome.plan;
    let objective = setting.options.objective.objective();
    let mesh = &plan.mesh;
    let sent: Vec<&Sent> = planned.outcome.evaluation.communication.iter().filter(|sent| sent.tensor == tensor).collect();
    if sent.is_empty() {
        out.push_str("\n  It is never converted.\n");
        return;
    }
    out.push_str("\n  What is sent of it in a step, and why:\n");
    for sent in sent {
        let axes: Vec<&str> = sent.step.axes.iter().map(|&axis| &*mesh.axes()[usize::from(axis)].name).collect();
        let what = format!("{} over {}", sent.step.collective.name(), axes.join(", "));
        let size = bytes(sent.step.sent_bytes(mesh).saturating_mul(sent.times));
        let price = cost(i128::from(sent.price) * i128::from(sent.times), objective);
        let why = match sent.op {
            None if plan.stored[tensor as usize].copy.is_some() => "to keep the copy".to_owned(),
            None => "as it becomes another tensor, or a result".to_owned(),
            Some(op) => {
                let name = graph.module.def(graph.ops[op as usize].id).written_name();
                reason(setting, plan, op, tensor, name)
            }
        };
        let _ = writeln!(out, "    {} {} {}  {why}", left(&what, 24), right(&size, 10), right(&price, 10));
    }
}

/// Why an op makes a tensor be sent.
fn reason(setting: &Setting<'_>, plan: &Plan, op: u32, tensor: TensorId, name: &str) -> String {
    let graph = setting.graph;
    let of = &graph.ops[op as usize];
    let shape = &graph.tensors[tensor as usize].shape;
    let Ok(way) = plan.way(graph, op as usize) else { return String::new() };
    let given = of.results.iter().zip(&way.results).find(|(result, _)| **result == Some(tensor));
    if let Some((_, &given)) = given {
        return format!("`{name}` gives {}", layouts(given, &plan.mesh, shape));
    }
    let wanted = of.operands.iter().zip(&way.operands).find(|(operand, _)| **operand == Some(tensor));
    match wanted.and_then(|(_, wanted)| wanted.as_ref()) {
        Some(wanted) => format!("`{name}` wants {}", layouts(wanted.layouts, &plan.mesh, shape)),
        None => format!("for `{name}`"),
    }
}

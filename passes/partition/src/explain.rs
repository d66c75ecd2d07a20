//! Why a value lies as it does: the layouts that it could have, what each would cost, and the conversions of it.

use std::fmt::Write as _;

use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::ValueId;
use tofu_partition::{Constraints, Plan, Sent, Stored, TensorId, layouts_near};
use tofu_pass::PassContext;
use tofu_sharding::{Layouts, Mesh};

use crate::names::Names;
use crate::plan::{Planned, Setting};
use crate::text::{bytes, cost, layouts, left, right};

/// So many layouts are shown, and everything else is planned anew for each.
const MOST_SEARCHES: usize = 8;

/// So many layouts are priced with everything else as it is.
const MOST_LAYOUTS: usize = 200;

/// A value to explain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    value: ValueId,
    tensor: TensorId,
}

/// The value of a name, in each function that has one; nothing at all if none is asked for.
///
/// # Errors
/// When no function has it.
pub(crate) fn subjects(settings: &[Setting<'_>], name: &str) -> Result<Vec<Option<Subject>>, Diagnostic> {
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<Names<'_>> = settings.iter().map(|setting| Names::of(setting.graph)).collect();
    let found = names.iter().map(|names| names.find(name));
    let found: Vec<Option<Subject>> =
        found.map(|found| found.map(|(value, tensor)| Subject { value, tensor })).collect();
    if found.iter().any(Option::is_some) {
        return Ok(found);
    }
    let all: Vec<String> = names.iter().flat_map(Names::all).collect();
    let name = name.trim_start_matches('%');
    let help = suggest::did_you_mean(name, all.iter().map(String::as_str)).unwrap_or_else(|| {
        let functions: Vec<String> = settings.iter().map(Setting::function).collect();
        let (has, functions) = (if functions.len() == 1 { "has" } else { "have" }, functions.join("`, `"));
        format!("`{functions}` {has} {} tensors; they are named as in the program that is written", all.len())
    });
    let message = format!("there is no tensor `%{name}` to explain");
    Err(Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, message).help(help))
}

/// The explanation of a value.
pub(crate) fn text(
    setting: &Setting<'_>,
    planned: &Planned,
    subject: Subject,
    cx: &PassContext<'_>,
) -> String {
    let graph = setting.graph;
    let Subject { value, tensor } = subject;
    let plan = &planned.outcome.plan;
    let of = &graph.tensors[tensor as usize];
    let ty = graph.module.type_text(of.ty);
    let kept = plan.stored[tensor as usize];
    let name = Names::of(graph).get(value);
    let made = match graph.module.defining_op(value) {
        Some(op) => format!("made by `{}`", graph.module.def(op).written_name()),
        None => "given to the function".to_owned(),
    };
    let mut out = format!("%{name}: {ty}, {made}\n");
    let shown = layouts(kept.first, &plan.mesh, &of.shape);
    let _ = writeln!(out, "  lies as {shown}, {} a device", bytes(plan.bytes(graph, tensor)));
    if let Some(copy) = kept.copy {
        let _ = writeln!(
            out,
            "  and once more as {}, for several of its readers",
            layouts(copy, &plan.mesh, &of.shape)
        );
    }
    alternatives(&mut out, setting, planned, tensor, cx);
    conversions(&mut out, setting, planned, tensor);
    out
}

/// A layout, and what the step costs with it.
struct Alternative {
    layouts: Layouts,
    /// With all else as it is.
    fixed: i128,
    /// With all else planned anew.
    anew: Option<i128>,
}

fn alternatives(
    out: &mut String,
    setting: &Setting<'_>,
    planned: &Planned,
    tensor: TensorId,
    cx: &PassContext<'_>,
) {
    let plan = &planned.outcome.plan;
    let objective = setting.options.objective.objective();
    let prices = setting.prices(&plan.mesh, objective);
    let of = &setting.graph.tensors[tensor as usize];
    let kept = plan.stored[tensor as usize];
    let best = planned.outcome.evaluation.cost;
    let mut all: Vec<Alternative> = Vec::new();
    let (near, mut is_all) = layouts_near(setting.graph, tensor, &plan.mesh, kept.first, MOST_LAYOUTS);
    for layouts in near {
        if cx.cancellation().is_cancelled() {
            is_all = false;
            break;
        }
        let mut other: Plan = plan.clone();
        // What it is converted to is free to be what it was.
        other.stored[tensor as usize] = if layouts == kept.first { kept } else { Stored::only(layouts) };
        if let Ok(evaluation) = other.evaluate(setting.graph, &prices) {
            all.push(Alternative { layouts, fixed: evaluation.cost, anew: None });
        }
    }
    all.sort_by_key(|alternative| {
        (alternative.layouts != kept.first, alternative.fixed, alternative.layouts)
    });
    for alternative in all.iter_mut().take(MOST_SEARCHES) {
        if alternative.layouts == kept.first {
            alternative.anew = Some(best);
            continue;
        }
        if cx.cancellation().is_cancelled() {
            break;
        }
        let constraints = pinned(&planned.constraints, tensor, alternative.layouts, &plan.mesh);
        let found = setting.search(setting.options.algorithm.0, Some(plan.mesh.clone()), &constraints, cx);
        alternative.anew = found.ok().map(|(outcome, _)| outcome.evaluation.cost);
    }
    let _ = writeln!(
        out,
        "\n  {} {} {} {}",
        left("layout", 32),
        right("a device", 10),
        right("all else kept", 16),
        right("all else anew", 16)
    );
    let told = |of: i128| {
        let more = if best > 0 { (of - best) as f64 / best as f64 * 100.0 } else { 0.0 };
        match of.cmp(&best) {
            std::cmp::Ordering::Equal => cost(of, objective),
            _ if more.abs() < 0.05 => {
                format!("{} {}0.0 %", cost(of, objective), if of > best { "+" } else { "-" })
            }
            _ => format!("{} {more:+.1} %", cost(of, objective)),
        }
    };
    for alternative in all.iter().take(MOST_SEARCHES) {
        let mark = if alternative.layouts == kept.first { "*" } else { " " };
        let name = layouts(alternative.layouts, &plan.mesh, &of.shape);
        let held = bytes(Stored::only(alternative.layouts).bytes(&plan.mesh, shape_of(of)));
        let anew = alternative.anew.map_or("".to_owned(), told);
        let _ = writeln!(
            out,
            "{mark} {} {} {} {}",
            left(&name, 32),
            right(&held, 10),
            right(&told(alternative.fixed), 16),
            right(&anew, 16)
        );
    }
    if let [first, .., last] = all.get(MOST_SEARCHES..).unwrap_or_default() {
        let (others, from, to) = (all.len() - MOST_SEARCHES, told(first.fixed), told(last.fixed));
        let _ = writeln!(out, "  and {others} others, from {from} to {to} with all else kept");
    }
    // Whoever asked for an end has got it: the run goes on.
    if cx.cancellation().take() {
        out.push_str("  The run was asked to end: there may be others, and some were not planned anew.\n");
    } else if !is_all {
        out.push_str("  There are more: only those were looked at that differ on few axes.\n");
    }
}

fn shape_of(tensor: &tofu_partition::Tensor) -> tofu_partition::TensorShape<'_> {
    tofu_partition::TensorShape { ty: tensor.ty, extents: &tensor.shape, bits: tensor.element.bits() }
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
    let sent: Vec<&Sent> =
        planned.outcome.evaluation.communication.iter().filter(|sent| sent.tensor == tensor).collect();
    if sent.is_empty() {
        out.push_str("\n  It is never converted.\n");
        return;
    }
    out.push_str("\n  What is sent of it in a step, and why:\n");
    for sent in sent {
        let axes: Vec<&str> =
            sent.step.axes.iter().map(|&axis| &*mesh.axes()[usize::from(axis)].name).collect();
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

//! What a plan is, in a table that fits 80 columns.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use tofu_ir::{Control, Type};
use tofu_partition::{Evaluation, Objective, OpKind, Sent, Stored};
use tofu_tdl::Descriptions;

use crate::facts::DevicePeak;
use crate::plan::{Planned, Setting, mesh_text};
use crate::text::{bytes, cost, count, left, right, seconds, stored, time};

/// So many kinds of tensors of a class are shown.
const MOST_ROWS: usize = 6;

/// What is known of a plan beyond its cost.
#[derive(Debug)]
pub(crate) struct Measured {
    /// With times, whatever was minimised.
    pub(crate) time: Evaluation,
    pub(crate) peak: DevicePeak,
}

impl Measured {
    pub(crate) fn of(setting: &Setting<'_>, plan: &tofu_partition::Plan) -> Measured {
        let prices = setting.prices(&plan.mesh, Objective::Time);
        // A plan that a search has returned holds together.
        let time = plan.evaluate(setting.graph, &prices).unwrap_or_default();
        Measured { time, peak: setting.peak(plan) }
    }
}

/// The summary of a plan.
pub(crate) fn text(setting: &Setting<'_>, planned: &Planned, measured: &Measured) -> String {
    let mut out = String::new();
    head(&mut out, setting, planned);
    tensors(&mut out, setting, planned);
    communication(&mut out, planned, measured);
    outcome(&mut out, setting, planned, measured);
    for refused in refused(setting) {
        let of = format!("{} × `{}`", count(refused.count), refused.op);
        let _ = writeln!(out, "  not split       {of}: {}", refused.reason);
    }
    out
}

fn head(out: &mut String, setting: &Setting<'_>, planned: &Planned) {
    let plan = &planned.outcome.plan;
    let devices = plan.mesh.devices();
    let mesh = mesh_text(&plan.mesh);
    let machine = setting.target.machine.name();
    let (s, mesh) =
        (if devices == 1 { "" } else { "s" }, if mesh.is_empty() { "no axes".to_owned() } else { mesh });
    let _ =
        writeln!(out, "Plan of {} on {devices} device{s} of `{machine}`, mesh {mesh}", setting.function());
}

/// Tensors of one type that are kept alike.
struct Kind {
    ty: Type,
    stored: Stored,
    count: u64,
    each: u64,
}

impl Kind {
    /// The bytes of all of them.
    fn all(&self) -> u64 {
        self.count.saturating_mul(self.each)
    }
}

fn tensors(out: &mut String, setting: &Setting<'_>, planned: &Planned) {
    let graph = setting.graph;
    let plan = &planned.outcome.plan;
    let mut is_argument = vec![false; graph.tensors.len()];
    for &argument in graph.arguments.iter().flatten() {
        is_argument[argument as usize] = true;
    }
    for (title, wants_arguments) in [("arguments", true), ("intermediate", false)] {
        let mut kinds: Vec<Kind> = Vec::new();
        let mut places: FxHashMap<(Type, Stored), usize> = FxHashMap::default();
        for (number, tensor) in graph.tensors.iter().enumerate() {
            if is_argument[number] != wants_arguments || !(wants_arguments || tensor.in_memory) {
                continue;
            }
            let (ty, stored) = (tensor.ty, plan.stored[number]);
            let place = *places.entry((ty, stored)).or_insert_with(|| {
                kinds.push(Kind { ty, stored, count: 0, each: plan.bytes(graph, number as u32) });
                kinds.len() - 1
            });
            kinds[place].count += 1;
        }
        let all: u64 = kinds.iter().map(Kind::all).fold(0, u64::saturating_add);
        let number: u64 = kinds.iter().map(|kind| kind.count).sum();
        if number == 0 {
            continue;
        }
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.all()));
        let head = format!("{title}, {}", count(number));
        let _ = writeln!(out, "\n  {} {} {}", left(&head, 53), right("a device", 10), right("all", 11));
        let shown = if kinds.len() == MOST_ROWS + 1 { kinds.len() } else { kinds.len().min(MOST_ROWS) };
        for kind in &kinds[..shown] {
            let ty = graph.module.type_text(kind.ty);
            let shape = graph.module.type_data(kind.ty);
            let extents = match shape {
                tofu_ir::TypeData::Tensor(tensor) => tensor.static_dims().unwrap_or_default(),
                _ => Default::default(),
            };
            let sharding = stored(kind.stored, &plan.mesh, &extents);
            let name = cells(&ty, &sharding, 45);
            let (each, all) = (bytes(kind.each), bytes(kind.all()));
            let _ = writeln!(
                out,
                "  {} × {name} {} {}",
                right(&count(kind.count), 5),
                right(&each, 10),
                right(&all, 11)
            );
        }
        let rest = &kinds[shown..];
        if !rest.is_empty() {
            let (others, held) =
                rest.iter().fold((0, 0), |(n, b), kind| (n + kind.count, b + kind.count * kind.each));
            let name = left(&format!("others of {} kinds", count(rest.len() as u64)), 45);
            let _ = writeln!(
                out,
                "  {} × {name} {} {}",
                right(&count(others), 5),
                right("", 10),
                right(&bytes(held), 11)
            );
        }
        if kinds.len() > 1 && wants_arguments {
            let _ = writeln!(out, "  {} {} {}", left("", 53), right("", 10), right(&bytes(all), 11));
        }
    }
}

/// Two texts in so many columns, with the second one at its place if the first leaves it.
fn cells(first: &str, second: &str, width: usize) -> String {
    let (a, b) = (first.chars().count(), second.chars().count());
    let start = 26;
    if a < start && start + b <= width {
        return left(&format!("{} {second}", left(first, start - 1)), width);
    }
    if a + 1 + b <= width {
        return left(&format!("{first}{}{second}", " ".repeat(width - a - b)), width);
    }
    // Without blanks between its axes the second one may do.
    let compact = second.replace(", ", ",");
    let room = (width - 1).saturating_sub(compact.chars().count()).max(start - 1);
    left(&format!("{} {compact}", left(first, a.min(room))), width)
}

fn communication(out: &mut String, planned: &Planned, measured: &Measured) {
    let mesh = &planned.outcome.plan.mesh;
    let _ = writeln!(
        out,
        "\n  {} {} {} {}",
        left("communication a step", 31),
        right("times", 10),
        right("a device sends", 21),
        right("time", 11)
    );
    let all = measured.time.by_collective(mesh);
    if all.is_empty() {
        let _ = writeln!(out, "    none");
    }
    let row = |out: &mut String, name: &str, times: u64, sent: u64, took: i128| {
        let _ = writeln!(
            out,
            "    {} {} {} {}",
            left(name, 29),
            right(&count(times), 10),
            right(&bytes(sent), 21),
            right(&time(took), 11)
        );
    };
    for &(collective, times, sent) in &all {
        let of = |step: &&Sent| step.step.collective == collective;
        row(out, collective.name(), times, sent, took(measured.time.communication.iter().filter(of)));
    }
    if all.len() > 1 {
        let times = all.iter().map(|&(_, times, _)| times).sum();
        row(out, "all", times, measured.time.sent_bytes(mesh), measured.time.communication_cost());
    }
    out.push('\n');
}

/// How long collectives take, in picoseconds.
pub(crate) fn took<'s>(sent: impl Iterator<Item = &'s Sent>) -> i128 {
    sent.map(|sent| i128::from(sent.price) * i128::from(sent.times)).sum()
}

fn outcome(out: &mut String, setting: &Setting<'_>, planned: &Planned, measured: &Measured) {
    let (step, compute) = (measured.time.step_cost(), measured.time.compute);
    let sent = measured.time.communication_cost();
    let share = if step > 0 { sent as f64 / step as f64 * 100.0 } else { 0.0 };
    let _ = writeln!(
        out,
        "  step            {} = {} compute + {} communication ({share:.1} %)",
        time(step),
        time(compute),
        time(sent)
    );
    let (peak, limit) = (measured.peak.bytes, setting.limit());
    let used = peak as f64 / limit.max(1) as f64 * 100.0;
    let over = if peak > limit { ", which is too much" } else { "" };
    let _ = writeln!(
        out,
        "  memory          {} of {} a device at the peak ({used:.1} %){over}",
        bytes(peak),
        bytes(limit)
    );
    let objective = setting.options.objective.objective();
    let best = planned.outcome.evaluation.cost;
    let measure = match objective {
        Objective::Time => "",
        Objective::Bytes => " that a device sends",
    };
    // What needs too much is the best of all plans, whatever they need.
    let of = if peak > limit { "on this mesh, whatever it needs," } else { "on this mesh" };
    let proof = match (planned.outcome.lower_bound, planned.gap()) {
        (Some(_), Some(0.0)) => format!("{}{measure}, proven optimal {of}", cost(best, objective)),
        (Some(bound), Some(gap)) => format!(
            "{}{measure}; no plan {of} is below {}: gap {:.2} %",
            cost(best, objective),
            cost(bound, objective),
            gap * 100.0
        ),
        _ => format!("{}{measure}, without a bound", cost(best, objective)),
    };
    let _ = writeln!(out, "  cost            {proof}");
    let (ops, tensors) = (count(setting.graph.ops.len() as u64), count(setting.graph.tensors.len() as u64));
    let name = setting.options.algorithm.0.name();
    let took = seconds(planned.search.as_secs_f64());
    let early = if planned.outcome.was_stopped { ", stopped early" } else { "" };
    let _ = writeln!(out, "  search          {took} by `{name}`{early}: {ops} ops, {tensors} tensors");
}

/// Ops of a name that could not be split, and why.
pub(crate) struct Refused {
    pub(crate) op: &'static str,
    pub(crate) count: u64,
    pub(crate) reason: String,
}

/// The ops that every device does as a whole because nothing is known of them, by their names.
pub(crate) fn refused(setting: &Setting<'_>) -> Vec<Refused> {
    let module = setting.graph.module;
    let descriptions = Descriptions::new();
    let mut all: Vec<Refused> = Vec::new();
    for op in setting.graph.ops.iter().filter(|op| op.kind == OpKind::Whole) {
        let def = module.def(op.id);
        // What only decides where to go on computes nothing.
        if def.interface::<Control>().is_some() || op.results.is_empty() {
            continue;
        }
        match all.iter_mut().find(|refused| refused.op == def.name) {
            Some(refused) => refused.count += 1,
            None => {
                let reason = match descriptions.of(module, op.id) {
                    Err(error) => error.message,
                    Ok(_) => "its extents do not follow from its operands".to_owned(),
                };
                all.push(Refused { op: def.name, count: 1, reason });
            }
        }
    }
    all
}

//! What every algorithm finds, side by side.

use std::fmt::Write as _;
use std::time::Duration;

use tofu_partition::Algorithm;
use tofu_pass::PassContext;

use crate::plan::{Planned, Setting, reason};
use crate::summary::Measured;
use crate::text::{bytes, cost, left, right, seconds, time};

/// What an algorithm has found.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) algorithm: Algorithm,
    /// What it found, or why nothing.
    pub(crate) found: Result<Found, String>,
}

/// A plan, and how it was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) cost: i128,
    pub(crate) sent: u64,
    pub(crate) search: Duration,
    pub(crate) measured: Measured,
}

/// Runs all algorithms but the one whose plan is there already.
pub(crate) fn all(setting: &Setting<'_>, planned: &Planned, cx: &PassContext<'_>) -> Vec<Compared> {
    let found = |outcome: &tofu_partition::Outcome, search: Duration| {
        let mesh = &outcome.plan.mesh;
        Found {
            cost: outcome.evaluation.cost,
            sent: outcome.evaluation.sent_bytes(mesh),
            search,
            measured: Measured::of(setting, &outcome.plan),
        }
    };
    let one = |algorithm: Algorithm| {
        let found = if algorithm == setting.options.algorithm.0 {
            Ok(found(&planned.outcome, planned.search))
        } else if cx.cancellation().is_cancelled() {
            Err("the run was asked to end".to_owned())
        } else {
            let searched = setting.search(algorithm, planned.asked_mesh.clone(), &planned.constraints, cx);
            searched.map(|(outcome, search)| found(&outcome, search)).map_err(|failure| reason(&failure))
        };
        Compared { algorithm, found }
    };
    let all = Algorithm::ALL.into_iter().map(one).collect();
    // Whoever asked for an end has got it: the run goes on.
    cx.cancellation().take();
    all
}

/// The columns of the table, whose longest entries are `1023.9 MiB` and, beyond the limit, `1023.9 MiB!`.
const WIDTHS: [usize; 6] = [10, 9, 11, 10, 12, 10];

/// A table of it.
pub(crate) fn text(setting: &Setting<'_>, compared: &[Compared]) -> String {
    let objective = setting.options.objective.objective();
    let best =
        compared.iter().filter_map(|compared| Some(compared.found.as_ref().ok()?.cost)).min().unwrap_or(0);
    let mut out = format!(
        "Algorithms for {} on {} devices of `{}`\n\n",
        setting.function(),
        setting.target.machine.devices(),
        setting.target.machine.name()
    );
    let row = |cells: [&str; 6]| -> String {
        cells.iter().zip(WIDTHS).map(|(cell, width)| right(cell, width)).collect()
    };
    let heads = row(["cost", "to best", "sends", "step", "peak", "search"]);
    let _ = writeln!(out, "  {}{heads}", left("algorithm", 15));
    for Compared { algorithm, found } in compared {
        let Ok(found) = found else {
            let _ = writeln!(out, "  {}{}", left(algorithm.name(), 15), right("no plan", 10));
            continue;
        };
        let ratio =
            if best > 0 { format!("{:.2} ×", found.cost as f64 / best as f64) } else { String::new() };
        let fits = if found.measured.peak.bytes > setting.limit() { "!" } else { "" };
        let cells = [
            cost(found.cost, objective),
            ratio,
            bytes(found.sent),
            time(found.measured.time.step_cost()),
            format!("{}{fits}", bytes(found.measured.peak.bytes)),
            seconds(found.search.as_secs_f64()),
        ];
        let cells = row(cells.each_ref().map(String::as_str));
        let _ = writeln!(out, "  {}{cells}", left(algorithm.name(), 15));
    }
    if compared.iter().any(|compared| {
        compared.found.as_ref().is_ok_and(|found| found.measured.peak.bytes > setting.limit())
    }) {
        let _ = writeln!(out, "\n  ! more than the {} that a device has", bytes(setting.limit()));
    }
    for Compared { algorithm, found } in compared {
        if let Err(reason) = found {
            let _ = writeln!(out, "\n  no plan of `{}`: {reason}", algorithm.name());
        }
    }
    out
}

//! From what the user asks for to a plan: the search, and who watches it.

use std::time::{Duration, Instant};

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_partition::{
    Algorithm, Constraints, Failure, Graph, Memory, Objective, Outcome, Plan, Prices, Progress, Request,
    search,
};
use tofu_pass::PassContext;
use tofu_sharding::Mesh;

use crate::Partition;
use crate::facts::{DevicePeak, Known};
use crate::incoming::Pin;
use crate::options::Collectives;
use crate::pins::Pins;
use crate::rewrite::Assignment;
use crate::rules::{self, Rule};
use crate::target::Target;

/// What is split, over what, and how.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) options: &'a Partition,
    pub(crate) target: &'a Target,
    pub(crate) known: &'a Known,
    pub(crate) graph: &'a Graph<'a>,
}

/// A plan, and how it was found.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) outcome: Outcome,
    pub(crate) constraints: Constraints,
    /// The mesh that the search was told to use.
    pub(crate) asked_mesh: Option<Mesh>,
    pub(crate) search: Duration,
}

impl Setting<'_> {
    /// Prices on a mesh.
    pub(crate) fn prices(&self, mesh: &Mesh, objective: Objective) -> Prices<'_> {
        let reduce_scatter = self.options.collectives == Collectives::Manual;
        Prices::new(&self.target.machine, mesh.clone(), objective, reduce_scatter)
    }

    /// The most that a device holds at once.
    pub(crate) fn peak(&self, plan: &Plan) -> DevicePeak {
        let prices = self.prices(&plan.mesh, self.options.objective.objective());
        self.known.peak(self.graph, plan, &prices)
    }

    /// The bytes that a device may hold.
    pub(crate) fn limit(&self) -> u64 {
        self.options.memory.map_or(self.target.machine.device().memory, |limit| limit.0)
    }

    /// The name of the function, with its sign.
    pub(crate) fn function(&self) -> String {
        let module = self.graph.module;
        module
            .symbol_name(self.graph.function)
            .map_or(String::new(), |name| format!("@{}", module.text(name)))
    }

    /// What a search with an algorithm finds.
    pub(crate) fn search(
        &self,
        algorithm: Algorithm,
        mesh: Option<Mesh>,
        constraints: &Constraints,
        cx: &PassContext<'_>,
    ) -> Result<(Outcome, Duration), Failure> {
        let lives = self.known.lives(self.graph);
        let memory = Memory {
            limit: self.limit(),
            lives: &|tensor| lives[tensor as usize],
            peak: &|plan| self.peak(plan).bytes,
        };
        let request = Request {
            graph: self.graph,
            machine: &self.target.machine,
            mesh,
            algorithm,
            objective: self.options.objective.objective(),
            reduce_scatter: self.options.collectives == Collectives::Manual,
            constraints,
            memory: Some(memory),
            work: self.options.work,
        };
        let start = Instant::now();
        let outcome = search(&request, &mut |progress| {
            cx.progress(fraction(progress), &told(progress, request.objective));
            !cx.cancellation().is_cancelled()
        });
        Ok((outcome?, start.elapsed()))
    }
}

impl Planned {
    /// Looks for a plan.
    ///
    /// # Errors
    /// When what is asked for cannot be had.
    pub(crate) fn of(
        setting: &Setting<'_>,
        mesh: Option<Mesh>,
        pins: &[Pin],
        cx: &PassContext<'_>,
    ) -> Result<Planned, Vec<Diagnostic>> {
        let (rules, malformed) = rules::read(&setting.options.rules);
        let mesh = match mesh {
            None if !malformed.is_empty() => return Err(malformed),
            None if !rules.is_empty() => Some(mesh_for(&rules, setting.target.machine.devices())?),
            mesh => mesh,
        };
        let constraints = match &mesh {
            Some(mesh) => {
                let ruled = rules::ruled(setting.graph, mesh, &rules, malformed)?;
                Pins::of(setting.graph, mesh, pins, &ruled)?
            }
            None => Constraints::default(),
        };
        let found = setting.search(setting.options.algorithm.0, mesh.clone(), &constraints, cx);
        let (mut outcome, search) = found.map_err(|failure| vec![refused(setting, &failure)])?;
        // Whoever asked for an end has got it: the run goes on with what there is.
        outcome.was_stopped |= cx.cancellation().take();
        Ok(Planned { outcome, constraints, asked_mesh: mesh, search })
    }

    /// How the values of the function lie.
    pub(crate) fn assignment(&self, setting: &Setting<'_>) -> Assignment {
        let plan = &self.outcome.plan;
        Assignment::of(setting.graph, plan, &setting.known.ties)
    }

    /// The part of the cost that a better plan could save at most.
    pub(crate) fn gap(&self) -> Option<f64> {
        gap(self.outcome.evaluation.cost, self.outcome.lower_bound)
    }

    /// What to say of a search that was ended.
    pub(crate) fn stopped_remark(&self, setting: &Setting<'_>) -> Option<Diagnostic> {
        let known = match self.gap() {
            Some(gap) => format!("at most {:.1} % from the optimum", gap * 100.0),
            None => "how far it is from the optimum is not known".to_owned(),
        };
        let message = format!(
            "the search was stopped: the plan of `{}` is the best one so far, {known}",
            setting.function()
        );
        self.outcome.was_stopped.then(|| Diagnostic::remark(&codes::CANCELLED, Span::NONE, message))
    }
}

/// The part of a cost that lies above a bound.
pub(crate) fn gap(cost: i128, bound: Option<i128>) -> Option<f64> {
    let bound = bound?;
    Some(if cost <= 0 || bound >= cost { 0.0 } else { (cost - bound) as f64 / cost as f64 })
}

/// The mesh for rules where none is said: all devices along the one axis that they name.
fn mesh_for(rules: &[Rule<'_>], devices: u64) -> Result<Mesh, Vec<Diagnostic>> {
    match rules::axes_of(rules)[..] {
        [axis] => Mesh::new([(axis, devices)])
            .map_err(|error| vec![Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, error)]),
        ref axes => {
            let each: Vec<String> = axes.iter().map(|axis| format!("{axis}:…")).collect();
            let message = "rules name several axes, but no mesh says how many devices are along each";
            let error = Diagnostic::error(&codes::WRONG_CONSTRAINT, Span::NONE, message);
            Err(vec![
                error.help(format!("add `mesh={}`, with numbers whose product is {devices}", each.join(","))),
            ])
        }
    }
}

/// Why there is no plan, in a few words.
pub(crate) fn reason(failure: &Failure) -> String {
    match failure {
        Failure::Constrained => {
            "none of its kind keeps the shardings and rules that are asked for".to_owned()
        }
        Failure::TooLarge(invalid) => {
            format!("costs or sizes are beyond the numbers that the search counts with ({invalid})")
        }
        Failure::Broken(broken) => {
            format!("it made one that does not hold together, a defect of the search ({})", broken.message)
        }
    }
}

fn refused(setting: &Setting<'_>, failure: &Failure) -> Diagnostic {
    let (module, function) = (setting.graph.module, setting.graph.function);
    let message = format!("no plan of `{}` was found: {}", setting.function(), reason(failure));
    let (code, help) = match failure {
        Failure::Constrained => (
            &codes::WRONG_CONSTRAINT,
            "take some of them away; `--explain T0802` says what rules can ask for",
        ),
        Failure::TooLarge(_) => (
            &codes::CANNOT_PARTITION,
            "look for extents, or trip counts of loops, that are not meant to be so large",
        ),
        Failure::Broken(_) => (&codes::CANNOT_PARTITION, "please report it, with the program"),
    };
    module.error(function, code, message).help(help)
}

/// How far a search is: as far as its bound has come to its cost.
fn fraction(progress: &Progress) -> f64 {
    let gap = progress.cost.and_then(|cost| gap(cost, progress.bound));
    gap.map_or(0.0, |gap| (1.0 - gap).clamp(0.0, 1.0))
}

fn told(progress: &Progress, objective: Objective) -> String {
    let mut text = progress.phase.to_owned();
    if let Some(cost) = progress.cost {
        text.push_str(&format!(", best {}", crate::text::cost(cost, objective)));
    }
    if let Some(bound) = progress.bound {
        text.push_str(&format!(", bound {}", crate::text::cost(bound, objective)));
    }
    if let Some(gap) = progress.cost.and_then(|cost| gap(cost, progress.bound)) {
        text.push_str(&format!(", gap {:.1} %", gap * 100.0));
    }
    text
}

/// A mesh as it is shown to people: `x = 2, y = 4`.
pub(crate) fn mesh_text(mesh: &Mesh) -> String {
    let axes = mesh.axes().iter().map(|axis| format!("{} = {}", axis.name, axis.size));
    axes.collect::<Vec<_>>().join(", ")
}

//! `--partition`.

use tofu_diagnostics::{Diagnostic, Severity, codes, suggest};
use tofu_dialect_func::{FUNC, TooLarge, VISIBILITY, body, inline_calls_keeping};
use tofu_dialect_stablehlo::keep_shardings;
use tofu_ir::{AttrData, Module, OpId};
use tofu_partition::{Algorithm, Graph};
use tofu_pass::{
    ByteSize, Changed, Example, MachineName, ModuleAnchor, Pass, PassContext, PassResult, pass_options,
};
use tofu_report::Section;
use tofu_sharding::Mesh;
use tofu_tdl::Descriptions;

use crate::explain::Subject;
use crate::facts::Known;
use crate::incoming::{Incoming, Pin};
use crate::options::{AlgorithmName, Collectives, MeshAxes, ObjectiveName};
use crate::plan::{Planned, Setting};
use crate::rewrite::{Assignment, write_mesh};
use crate::summary::Measured;
use crate::target::Target;
use crate::{compare, dump, explain, names, report, summary, text};

pass_options! {
    /// Splits the tensors of a program over the devices of a machine.
    ///
    /// Looks for the way of doing every op and of keeping every tensor that costs least, proves how far from the optimum that
    /// can be, and writes it down: a mesh, and a sharding for every value. Shardings that the program has already are kept,
    /// those of Shardy too.
    pub struct Partition {
        /// How many devices to use. If it is not said: those of the mesh, or all of the machine.
        pub devices: Option<u64> = None,
        /// The machine, if it is not that of the whole run: a preset, or a file that describes one.
        pub machine: Option<MachineName> = None,
        /// The axes over the devices, the slowest first: `data:2,model:4`. If it is not said: the program's own, or what suits the machine.
        pub mesh: Option<MeshAxes> = None,
        /// How to look for a plan.
        pub algorithm: AlgorithmName = AlgorithmName(Algorithm::Optimal),
        /// What to minimise: the time of a step, or the bytes that a device sends in one.
        pub objective: ObjectiveName = ObjectiveName::Time,
        /// How much memory a device has for the program. If it is not said: what the machine's devices have.
        pub memory: Option<ByteSize> = None,
        /// Which collectives there are: all of them, or those that XLA finds from annotations.
        pub collectives: Collectives = Collectives::Manual,
        /// Dimensions that axes must split, by their names, by their extents, or of a value: `"batch:x 50257:x arg3.0:y"`.
        pub rules: String = String::new(),
        /// Writes the problem on one axis, as `tofu-solve` reads it, into this file; those of several functions into files with their names in this one.
        pub dump_problem: String = String::new(),
        /// Prints what every algorithm finds.
        pub compare_algorithms: bool = false,
        /// Prints the layouts that were considered for this value, and what each would cost.
        pub explain: String = String::new(),
        /// How much the search may do, in units of about a nanosecond. More of it finds better plans over several axes, and better bounds.
        pub work: u64 = 2_500_000_000,
    }
}

impl Pass for Partition {
    const NAME: &'static str = "partition";
    type Anchor = ModuleAnchor;

    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<4096x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<4096x4096xf32> {
  %y = tensor.dot_general %x, %w {contracting = [1] x [0]}
  return %y
}",
        effect: "The program has a mesh, and `%x`, `%w` and `%y` have shardings over its axes.",
    };

    const STATISTICS: &'static [(&'static str, &'static str)] = &[
        ("split values", "Values that are split over devices, or partial."),
        ("whole values", "Values that every device holds whole."),
    ];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        inline(cx)?;
        let functions = entries(cx.module, cx.op())?;
        let incoming = match Incoming::of(cx.module, &functions) {
            Ok(incoming) => incoming,
            Err(found) => return cx.report_all(found).map(|()| Changed::No),
        };
        let target = Target::of(self, cx, &incoming)?;
        let splits = match self.split_all(cx, &target, &functions, &incoming) {
            Ok(splits) => splits,
            Err(found) => return cx.report_all(found).map(|()| Changed::No),
        };
        // All functions of a program lie on one mesh.
        let mesh = splits.first().map(|split| split.mesh.clone()).unwrap_or_default();
        let mut assignments = Vec::new();
        for split in splits {
            let (divided, whole) = split.assignment.counts();
            cx.count("split values", divided);
            cx.count("whole values", whole);
            let [summary, listings] = split.shown;
            cx.summarize(summary);
            if !listings.is_empty() {
                cx.print(listings);
            }
            split.sections.into_iter().for_each(|section| cx.find(section));
            if let Some((name, text)) = split.dump {
                cx.write(name, text);
            }
            cx.report_all(split.said)?;
            assignments.push(split.assignment);
        }
        let name = write_mesh(cx.module, incoming.named, &mesh);
        for assignment in &assignments {
            assignment.write(cx.module, &name, &mesh);
        }
        Ok(Changed::Yes)
    }
}

/// So many ops a program may have once its calls are gone.
const MOST_OPS: u64 = 10_000_000;

/// Calls hide what they call, so they go first. Those that stay are found when the function is looked at.
fn inline(cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
    let root = cx.op();
    match inline_calls_keeping(cx.module, root, MOST_OPS, keep_shardings) {
        Ok(_) => Ok(()),
        Err(TooLarge { call }) => {
            let message = "with this call inlined, the program would have more than ten million ops";
            let error = cx.module.error(call, &codes::TOO_MANY_OPS, message);
            Err(error.help("programs of so many ops cannot be partitioned; write repeated parts as loops"))
        }
    }
}

/// What came of one function.
struct Split {
    assignment: Assignment,
    mesh: Mesh,
    /// The summary, and listings that were asked for.
    shown: [String; 2],
    sections: Vec<Section>,
    /// The problem, and the name of the file for it.
    dump: Option<(String, String)>,
    said: Vec<Diagnostic>,
}

impl Partition {
    /// Plans all functions, each on the mesh of the first one. What can be refused is refused before anything is searched for.
    fn split_all(
        &self,
        cx: &PassContext<'_>,
        target: &Target,
        functions: &[OpId],
        incoming: &Incoming,
    ) -> Result<Vec<Split>, Vec<Diagnostic>> {
        let module: &Module = cx.module;
        let descriptions = Descriptions::new();
        let graph_of = |(&function, pins): (&OpId, &Vec<Pin>)| {
            let known = Known::of(module, function, &descriptions, pins)?;
            let graph = known.graph(module, function, &descriptions)?;
            Ok((known, graph))
        };
        let graphs = functions.iter().zip(&incoming.pins).map(graph_of);
        let graphs: Vec<(Known, Graph<'_>)> =
            graphs.collect::<Result<_, _>>().map_err(|error| vec![error])?;
        let settings: Vec<Setting<'_>> =
            graphs.iter().map(|(known, graph)| Setting { options: self, target, known, graph }).collect();
        let subjects = explain::subjects(&settings, &self.explain).map_err(|error| vec![error])?;
        let dumps = dump::names(&settings, &self.dump_problem);
        for dump in &dumps {
            cx.check_artifact(dump).map_err(|error| vec![error])?;
        }
        let mut mesh = target.mesh.clone();
        let (mut splits, mut said): (Vec<Split>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
        for (number, (setting, pins)) in settings.iter().zip(&incoming.pins).enumerate() {
            let asked = Asked {
                pins,
                subject: subjects.get(number).copied().flatten(),
                dump: dumps.get(number).map(String::as_str),
            };
            match self.split(cx, setting, mesh, &asked) {
                Ok(split) => {
                    mesh = Some(split.mesh.clone());
                    said.extend(split.said.iter().cloned());
                    splits.push(split);
                }
                Err(found) => {
                    said.extend(found);
                    return Err(said);
                }
            }
        }
        Ok(splits)
    }

    fn split(
        &self,
        cx: &PassContext<'_>,
        setting: &Setting<'_>,
        mesh: Option<Mesh>,
        asked: &Asked<'_>,
    ) -> Result<Split, Vec<Diagnostic>> {
        let planned = Planned::of(setting, mesh, asked.pins, cx)?;
        let measured = Measured::of(setting, &planned.outcome.plan);
        let mut sections = report::sections(setting, &planned, &measured);
        let mut listings = Vec::new();
        if let Some(subject) = asked.subject {
            listings.push(explain::text(setting, &planned, subject, cx));
        }
        if self.compare_algorithms {
            let compared = compare::all(setting, &planned, cx);
            listings.push(compare::text(setting, &compared));
            sections.push(report::algorithms(setting, &compared));
        }
        let dump = asked.dump.map(|name| Ok((name.to_owned(), dump::problem(setting, &planned)?)));
        let uncounted = Known::uncounted(setting.graph.module, setting.graph.function, &Descriptions::new());
        let said = [uncounted, planned.stopped_remark(setting), over_limit(setting, &planned, &measured)];
        Ok(Split {
            assignment: planned.assignment(setting),
            mesh: planned.outcome.plan.mesh.clone(),
            shown: [summary::text(setting, &planned, &measured), listings.join("\n")],
            sections,
            dump: dump.transpose().map_err(|error| vec![error])?,
            said: said.into_iter().flatten().collect(),
        })
    }
}

/// What is asked for of one function.
struct Asked<'a> {
    pins: &'a [Pin],
    subject: Option<Subject>,
    /// The file for its problem.
    dump: Option<&'a str>,
}

/// What to say where no plan was found that keeps the memory limit: an error if the user has said it.
fn over_limit(setting: &Setting<'_>, planned: &Planned, measured: &Measured) -> Option<Diagnostic> {
    let limit = setting.limit();
    if measured.peak.bytes <= limit {
        return None;
    }
    let (module, function) = (setting.graph.module, setting.graph.function);
    let plan = planned.outcome.smallest.as_ref().unwrap_or(&planned.outcome.plan);
    let peak = setting.peak(plan);
    let message = format!(
        "no plan of `{}` was found that needs no more than {} a device: the smallest peak of those found is {}",
        setting.function(),
        text::bytes(limit),
        text::bytes(peak.bytes)
    );
    let error = module.error(function, &codes::OVER_MEMORY_LIMIT, message);
    let names = names::Names::of(setting.graph);
    let largest = peak.alive.iter().take(5).map(|&(tensor, bytes)| {
        let value = setting.graph.tensors[tensor as usize].values[0];
        format!("{} of `%{}`", text::bytes(bytes), names.get(value))
    });
    let largest: Vec<String> = largest.collect();
    let told = peak.alive.iter().take(5).fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes));
    let others = if told < peak.bytes { ", and others" } else { "" };
    let error = error.note(format!("at that peak, a device holds {}{others}", largest.join(", ")));
    let arguments = setting.graph.arguments.iter().flatten();
    let arguments = arguments.map(|&tensor| plan.bytes(setting.graph, tensor)).fold(0, u64::saturating_add);
    let is_enough = format!("its arguments alone take {} of it", text::bytes(arguments));
    let error = if arguments > limit { error.note(is_enough) } else { error };
    let error = match measured.peak.bytes == peak.bytes {
        true => error,
        false => error.note(format!(
            "the plan that is given costs least of all, and needs {}",
            text::bytes(measured.peak.bytes)
        )),
    };
    // Whatever is split over twice the devices takes half as much, at best.
    let devices = setting.target.machine.devices();
    let needed = peak.bytes.div_ceil(limit.max(1)).checked_next_power_of_two().unwrap_or(u64::MAX);
    let needed = devices.saturating_mul(needed);
    let more = if needed <= setting.target.machine.capacity() {
        format!("use more devices, `devices={needed}` or so, or a smaller program")
    } else {
        "use a smaller program: no number of devices of this machine is enough for this one".to_owned()
    };
    let help = format!("{more}; swapping and recomputation come after partitioning");
    let severity = if setting.options.memory.is_some() { Severity::Error } else { Severity::Warning };
    Some(Diagnostic { severity, ..error.help(help) })
}

/// The functions that a user of the program calls: `main`, or all that are public and have a body.
fn entries(module: &Module, root: OpId) -> Result<Vec<OpId>, Diagnostic> {
    let bodies = module.walk(root).filter(|&op| module.is(op, &FUNC) && body(module, op).is_some());
    let is_private = |op: OpId| matches!(module.attr_value(op, VISIBILITY), Some(AttrData::String(text)) if **text == *"private");
    let public: Vec<OpId> = bodies.filter(|&op| !is_private(op)).collect();
    let is_main = |op: &OpId| module.symbol_name(*op).is_some_and(|name| module.text(name) == "main");
    if let Some(&main) = public.iter().find(|op| is_main(op)) {
        return Ok(vec![main]);
    }
    if public.is_empty() {
        let names = module.walk(root).filter_map(|op| module.symbol_name(op)).map(|name| module.text(name));
        let help = suggest::did_you_mean("main", names)
            .unwrap_or_else(|| "a program begins in a function that is not private".to_owned());
        return Err(module
            .error(root, &codes::CANNOT_PARTITION, "there is no function to partition")
            .help(help));
    }
    Ok(public)
}

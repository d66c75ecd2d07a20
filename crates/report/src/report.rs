//! `plan.json`.
//!
//! Fields that this version lists are there, `null` where nothing is known. Only what stands under `timing` differs from one run
//! to the next. Sizes are bytes, times are seconds.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The version of the schema. It changes when a field changes its meaning or goes, not when one is added.
pub const REPORT_VERSION: u32 = 1;

/// Everything.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// The version of the schema.
    pub version: u32,
    /// The program that was planned, as the user named it.
    pub input: String,
    /// The machine.
    pub machine: Option<String>,
    /// How many of its devices are used.
    pub devices: Option<u64>,
    /// The axes over them, the slowest first.
    #[serde(serialize_with = "as_map")]
    pub mesh: Vec<(String, u64)>,
    /// How long planning took.
    pub timing: Timing,
    /// What was found about the first function that was planned, or about the program.
    #[serde(flatten)]
    pub findings: FunctionReport,
    /// What was found about the others.
    pub functions: Vec<FunctionReport>,
    /// Which of `functions` the sections that follow are about; `None` for the first function, in `findings`.
    #[serde(skip)]
    current: Option<usize>,
}

/// What was found about a function.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct FunctionReport {
    /// The function.
    pub function: Option<String>,
    /// How tensors are split.
    pub partition: Option<Partition>,
    /// What a device holds.
    pub memory: Option<Memory>,
    /// How long a step of the program takes.
    pub simulation: Option<Simulation>,
    /// The values, in the order of the program.
    pub shardings: Vec<PlannedValue>,
    /// What several algorithms found, where they were compared.
    pub algorithms: Vec<Algorithm>,
}

/// How tensors are split.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Partition {
    /// The function that was split.
    pub function: String,
    /// The algorithm.
    pub algorithm: String,
    /// What was minimised: `time` or `bytes`.
    pub objective: String,
    /// What the plan costs: seconds of a step, or bytes that a device sends in one.
    pub cost: f64,
    /// No plan costs less.
    pub lower_bound: Option<f64>,
    /// The part of the cost that a better plan could save, at most: from 0 to 1.
    pub gap: Option<f64>,
    /// Whether the search was ended before it was done.
    pub was_stopped: bool,
    /// The bytes that a device sends in a step.
    pub communication_bytes_per_device: u64,
    /// The collectives of a step.
    pub collectives: Vec<Collective>,
    /// The ops that could not be split.
    pub refused: Vec<Refused>,
}

/// A kind of collective.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Collective {
    /// Its name, as the ops of `dist` have it.
    pub op: String,
    /// How often it is done in a step.
    pub count: u64,
    /// The bytes that a device sends for them.
    pub bytes: u64,
    /// How long they take.
    pub seconds: f64,
}

/// Ops of a name that could not be split.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Refused {
    /// Their name.
    pub op: String,
    /// How many there are.
    pub count: u64,
    /// Why.
    pub reason: String,
}

/// What a device holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Memory {
    /// The most that is alive at once.
    pub peak_bytes: u64,
    /// What that takes once every tensor has its place; `null` before they have.
    pub placed_bytes: Option<u64>,
    /// No placement takes less.
    pub lower_bound_bytes: Option<u64>,
    /// What a device has, or may use.
    pub limit_bytes: u64,
    /// What is kept in the host's memory for it.
    pub host_bytes: Option<u64>,
}

/// How long planning took. These are the only fields that differ from run to run.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Timing {
    /// Searching for the plans of all functions.
    pub search_seconds: Option<f64>,
    /// All of the run.
    pub total_seconds: Option<f64>,
}

/// How long a step of the program takes, by the model of the machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Simulation {
    /// A step.
    pub step_seconds: f64,
    /// Its kernels.
    pub compute_seconds: f64,
    /// Its collectives.
    pub communication_seconds: f64,
    /// Waiting for copies; `null` before a timeline is made.
    pub stall_seconds: Option<f64>,
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PlannedValue {
    /// As the program names it.
    pub value: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// How it lies on the mesh.
    pub sharding: String,
    /// The bytes that a device holds of it.
    pub bytes_per_device: u64,
}

/// What an algorithm found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Algorithm {
    /// Its name.
    pub name: String,
    /// What its plan costs, as in [`Partition::cost`]; `null` where it found none.
    pub cost: Option<f64>,
    /// The bytes that a device sends in a step.
    pub communication_bytes_per_device: Option<u64>,
    /// The most that a device holds at once.
    pub peak_bytes: Option<u64>,
    /// How long a step takes.
    pub step_seconds: Option<f64>,
    /// Why it found no plan; `null` where it found one.
    pub reason: Option<String>,
}

/// What a pass has to say.
#[derive(Clone, PartialEq, Debug)]
pub enum Section {
    /// The function that what follows is about.
    Function(String),
    /// The machine, how many of its devices, and the axes over them.
    Target {
        /// The machine's name.
        machine: String,
        /// How many devices.
        devices: u64,
        /// The axes, the slowest first.
        mesh: Vec<(String, u64)>,
    },
    /// How tensors are split, and how long that took.
    Partition(Partition, Timing),
    /// What a device holds.
    Memory(Memory),
    /// How long a step takes.
    Simulation(Simulation),
    /// The values.
    Shardings(Vec<PlannedValue>),
    /// What several algorithms found.
    Algorithms(Vec<Algorithm>),
}

impl Report {
    /// A report about a program, with nothing in it.
    pub fn new(input: impl Into<String>) -> Report {
        Report {
            version: REPORT_VERSION,
            input: input.into(),
            machine: None,
            devices: None,
            mesh: Vec::new(),
            timing: Timing::default(),
            findings: FunctionReport::default(),
            functions: Vec::new(),
            current: None,
        }
    }

    /// Adds what a pass says; it takes the place of what was said of the same before.
    pub fn add(&mut self, section: Section) {
        let current = match self.current {
            Some(other) => &mut self.functions[other],
            None => &mut self.findings,
        };
        match section {
            Section::Function(name) => self.turn_to(name),
            Section::Target { machine, devices, mesh } => {
                self.machine = Some(machine);
                self.devices = Some(devices);
                self.mesh = mesh;
            }
            Section::Partition(partition, timing) => {
                current.partition = Some(partition);
                let seconds = [self.timing.search_seconds, timing.search_seconds];
                self.timing.search_seconds = seconds.into_iter().flatten().reduce(|a, b| a + b);
            }
            Section::Memory(memory) => current.memory = Some(memory),
            Section::Simulation(simulation) => current.simulation = Some(simulation),
            Section::Shardings(shardings) => current.shardings = shardings,
            Section::Algorithms(algorithms) => current.algorithms = algorithms,
        }
    }

    /// What follows is about this function.
    fn turn_to(&mut self, name: String) {
        if self.findings.function.as_ref().is_none_or(|first| *first == name) {
            self.findings.function = Some(name);
            self.current = None;
            return;
        }
        let known = self.functions.iter().position(|other| other.function.as_ref() == Some(&name));
        self.current = known.or_else(|| {
            self.functions.push(FunctionReport { function: Some(name), ..FunctionReport::default() });
            Some(self.functions.len() - 1)
        });
    }

    /// As JSON, with a line break at the end.
    pub fn to_json(&self) -> String {
        // Numbers that JSON does not have become `null`; there is nothing else that could fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn as_map<S: Serializer>(pairs: &[(String, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(pairs.len()))?;
    for (key, value) in pairs {
        map.serialize_entry(key, value)?;
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_empty_report_has_every_field() {
        let text = Report::new("a.mlir").to_json();
        let read: Value = serde_json::from_str(&text).unwrap();
        let expected = json!({
            "version": 1, "input": "a.mlir", "machine": null, "devices": null, "mesh": {},
            "timing": {"search_seconds": null, "total_seconds": null}, "function": null, "partition": null,
            "memory": null, "simulation": null, "shardings": [], "algorithms": [], "functions": [],
        });
        assert_eq!(read, expected);
    }

    #[test]
    fn axes_keep_their_order() {
        let mut report = Report::new("a.mlir");
        let mesh = vec![("y".to_owned(), 4), ("a".to_owned(), 2)];
        report.add(Section::Target { machine: "default".to_owned(), devices: 8, mesh });
        let text = report.to_json();
        let place = |what: &str| text.find(what).unwrap();
        assert!(place("\"y\": 4") < place("\"a\": 2"));
        assert!(place("\"version\"") < place("\"input\"") && place("\"input\"") < place("\"machine\""));
    }

    #[test]
    fn each_function_has_its_own() {
        let memory = |bytes| {
            let (placed_bytes, lower_bound_bytes, host_bytes) = (None, None, None);
            Section::Memory(Memory {
                peak_bytes: bytes,
                placed_bytes,
                lower_bound_bytes,
                limit_bytes: 8,
                host_bytes,
            })
        };
        let mut report = Report::new("a.mlir");
        // A second pass over the first one takes the place of what the first pass has said.
        for (name, bytes) in [("@f", 1), ("@g", 2), ("@h", 3), ("@f", 4), ("@g", 5)] {
            report.add(Section::Function(name.to_owned()));
            report.add(memory(bytes));
        }
        let read: Value = serde_json::from_str(&report.to_json()).unwrap();
        let found = |of: &Value| (of["function"].clone(), of["memory"]["peak_bytes"].clone());
        let others: Vec<(Value, Value)> = read["functions"].as_array().unwrap().iter().map(found).collect();
        assert_eq!(found(&read), (json!("@f"), json!(4)));
        assert_eq!(others, [(json!("@g"), json!(5)), (json!("@h"), json!(3))]);
    }

    #[test]
    fn searches_add_up() {
        let mut report = Report::new("a.mlir");
        let partition = Partition {
            function: "@f".to_owned(),
            algorithm: "optimal".to_owned(),
            objective: "time".to_owned(),
            cost: 0.0,
            lower_bound: None,
            gap: None,
            was_stopped: false,
            communication_bytes_per_device: 0,
            collectives: Vec::new(),
            refused: Vec::new(),
        };
        for _ in 0..2 {
            let timing = Timing { search_seconds: Some(1.0), total_seconds: None };
            report.add(Section::Partition(partition.clone(), timing));
        }
        assert_eq!(report.timing.search_seconds, Some(2.0));
    }
}

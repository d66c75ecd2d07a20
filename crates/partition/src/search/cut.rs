//! One cut: along one axis of a mesh, with what other axes do already known.
//!
//! Every class of tensors is split along one dimension, or not at all where it cannot be; every op then does what is cheapest
//! (Tofu, EuroSys 2019, section 5.2). So only classes are variables, and each op is a table over those that it touches:
//! the least over its ways of what it costs to convert what it reads and gives. Ops that are alike and touch classes of
//! the same states share the table; what is alike and touches the same classes counts as often as there is of it.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_sharding::{Layout, Layouts};

use super::Failure;
use super::coarsen::Classes;
use super::frontier::{Cost, Model, Table, cost};
use crate::constraints::Constraints;
use crate::graph::{Graph, OpKind, TensorId};
use crate::plan::Plan;
use crate::price::Prices;
use crate::problem::whole_way;
use crate::states::{Stored, candidates, shape_of};
use crate::way::{Choice, Choices, Way, way_of};

/// What is to be cut, and how.
pub(super) struct Cut<'c> {
    pub(super) graph: &'c Graph<'c>,
    pub(super) classes: &'c Classes,
    pub(super) prices: &'c Prices<'c>,
    pub(super) constraints: &'c Constraints,
    /// What the other axes do.
    pub(super) plan: &'c Plan,
    /// The axis that is cut.
    pub(super) axis: usize,
    /// The axis that will be cut next, if equal costs are to be decided by what it would cost to cut it the same way.
    pub(super) next: Option<usize>,
    /// Whether ops may split what they reduce.
    pub(super) reductions: bool,
}

/// A cut as a model, and what is needed to make a plan of it.
pub(super) struct Choosing {
    /// Variables are classes that have a choice.
    pub(super) model: Model,
    /// The class of each variable.
    pub(super) variables: Vec<u32>,
    /// The layouts of each class.
    pub(super) layouts: Vec<SmallVec<[Layouts; 4]>>,
    variable_of: Vec<Option<u32>>,
    ops: Vec<Option<Touched>>,
    known: Vec<OpTable>,
}

/// The table of an op, and its classes.
struct Touched {
    table: u32,
    classes: SmallVec<[u32; 4]>,
    /// Of an op that is too wide, the variable that says how it is done.
    way: Option<u32>,
}

/// What ops that are alike cost.
enum OpTable {
    /// For all states of the classes that they touch, the last class's first; and what the op then does.
    Joint { sizes: SmallVec<[usize; 4]>, costs: Vec<Cost>, choices: Vec<Choices> },
    /// Way by way, where a table of all states would be too large: the way is a variable of its own.
    Wide(Vec<WayCosts>),
}

/// What a way costs by itself, and for each class in each of its states.
struct WayCosts {
    own: Cost,
    classes: SmallVec<[SmallVec<[Cost; 4]>; 4]>,
    choices: Choices,
}

/// Ops with more joint states than this have a variable of their own.
const MOST_ENTRIES: usize = 1 << 10;

/// What the table of an op depends on.
#[derive(PartialEq, Eq, Hash)]
struct TableKey {
    kind: OpKind,
    choices: Choices,
    /// Of each operand, then of each result: which of the op's classes, and the list of states of that.
    slots: SmallVec<[(u8, u32); 6]>,
    in_memory: u64,
}

impl Cut<'_> {
    /// The model.
    ///
    /// # Errors
    /// When constraints leave nothing to choose from.
    pub(super) fn model(&self) -> Result<Choosing, Failure> {
        let (layouts, lists) = self.layouts()?;
        let mut variables = Vec::new();
        let variable_of = layouts.iter().enumerate().map(|(class, layouts)| {
            (layouts.len() > 1).then(|| {
                variables.push(class as u32);
                variables.len() as u32 - 1
            })
        });
        let variable_of: Vec<Option<u32>> = variable_of.collect();
        let sizes = variables.iter().map(|&class| layouts[class as usize].len()).collect();
        let model = Model { sizes, tables: Vec::new() };
        let mut choosing = Choosing { model, variables, layouts, variable_of, ops: Vec::new(), known: Vec::new() };
        let mut numbers: FxHashMap<TableKey, u32> = FxHashMap::default();
        // How often each table is there with the same classes, in the order in which they are met.
        let mut counts: FxHashMap<(u32, SmallVec<[u32; 4]>), usize> = FxHashMap::default();
        let mut counted: Vec<(u32, SmallVec<[u32; 4]>, u64)> = Vec::new();
        for (number, op) in self.graph.ops.iter().enumerate() {
            if op.kind == OpKind::Constant {
                choosing.ops.push(None);
                continue;
            }
            let (key, classes) = self.key(number, &lists);
            let table = match numbers.get(&key) {
                Some(&table) => table,
                None => {
                    let table = self.table(number, &classes, &choosing.layouts);
                    choosing.known.push(table);
                    let table = choosing.known.len() as u32 - 1;
                    numbers.insert(key, table);
                    table
                }
            };
            if let OpTable::Wide(ways) = &choosing.known[table as usize] {
                let way = choosing.model.sizes.len() as u32;
                choosing.model.sizes.push(ways.len());
                choosing.add_wide(table, &classes, way, op.times);
                choosing.ops.push(Some(Touched { table, classes, way: Some(way) }));
                continue;
            }
            let place = *counts.entry((table, classes.clone())).or_insert_with(|| {
                counted.push((table, classes.clone(), 0));
                counted.len() - 1
            });
            counted[place].2 += op.times;
            choosing.ops.push(Some(Touched { table, classes, way: None }));
        }
        for (table, classes, times) in counted {
            choosing.add(table, &classes, times);
        }
        self.links(&mut choosing);
        choosing.model.tables = merged(std::mem::take(&mut choosing.model.tables));
        Ok(choosing)
    }

    /// The layouts of each class, and the number of its list among all different ones.
    fn layouts(&self) -> Result<(Vec<SmallVec<[Layouts; 4]>>, Vec<u32>), Failure> {
        let axes = self.prices.mesh.axes().len().min(Layouts::MAX_AXES);
        let pinned: Vec<TensorId> = self.constraints.tensors().collect();
        let mut all = Vec::with_capacity(self.classes.first.len());
        let mut lists: Vec<u32> = Vec::with_capacity(self.classes.first.len());
        let mut numbers: FxHashMap<SmallVec<[Layouts; 4]>, u32> = FxHashMap::default();
        for &tensor in &self.classes.first {
            let of = &self.graph.tensors[tensor as usize];
            let base = self.plan.stored[tensor as usize].first;
            let is_pinned = pinned.binary_search(&tensor).is_ok();
            let mut layouts: SmallVec<[Layouts; 4]> = SmallVec::new();
            if self.classes.is_constant[tensor as usize] && !is_pinned {
                layouts.push(base);
            } else {
                let partials = if is_pinned { of.partials } else { 0 };
                layouts.extend(candidates(&self.prices.mesh, &of.shape, partials, base, &[self.axis]));
                layouts.retain(|layouts| {
                    let asked = self.constraints.apply(tensor, *layouts, axes);
                    asked.is_some_and(|asked| asked.on(self.axis) == layouts.on(self.axis))
                });
                let splits = |layouts: &Layouts| matches!(layouts.on(self.axis), Layout::Split(_));
                if layouts.iter().any(splits) {
                    layouts.retain(|layouts| splits(layouts));
                }
            }
            if layouts.is_empty() {
                return Err(Failure::Constrained);
            }
            let next = numbers.len() as u32;
            lists.push(*numbers.entry(layouts.clone()).or_insert(next));
            all.push(layouts);
        }
        Ok((all, lists))
    }

    /// What the table of an op depends on, and the classes that it touches.
    fn key(&self, number: usize, lists: &[u32]) -> (TableKey, SmallVec<[u32; 4]>) {
        let op = &self.graph.ops[number];
        let mut classes: SmallVec<[u32; 4]> = SmallVec::new();
        let mut slots = SmallVec::new();
        let mut in_memory = 0u64;
        for (place, tensor) in op.operands.iter().chain(&op.results).enumerate() {
            let Some(tensor) = *tensor else {
                slots.push((u8::MAX, 0));
                continue;
            };
            let class = self.classes.of[tensor as usize];
            let which = classes.iter().position(|&other| other == class).unwrap_or_else(|| {
                classes.push(class);
                classes.len() - 1
            });
            slots.push((which as u8, lists[class as usize]));
            in_memory |= u64::from(self.graph.tensors[tensor as usize].in_memory) << (place % 64);
        }
        (TableKey { kind: op.kind, choices: self.plan.choices[number], slots, in_memory }, classes)
    }

    /// The table of an op.
    fn table(&self, number: usize, classes: &[u32], layouts: &[SmallVec<[Layouts; 4]>]) -> OpTable {
        let ways = self.ways(number);
        let ways = ways.iter().map(|(way, twin)| self.costs(number, way, twin.as_ref(), classes, layouts));
        let sizes: SmallVec<[usize; 4]> = classes.iter().map(|&class| layouts[class as usize].len()).collect();
        let entries = sizes.iter().fold(1, |entries: usize, &size| entries.saturating_mul(size));
        if entries > MOST_ENTRIES {
            return OpTable::Wide(ways.collect());
        }
        let (mut costs, mut choices) = (vec![Cost::MAX; entries], vec![Choices::WHOLE; entries]);
        for way in ways {
            let mut at: SmallVec<[usize; 4]> = SmallVec::from_elem(0, classes.len());
            for entry in 0..entries {
                let cost = way.own + way.classes.iter().zip(&at).map(|(costs, &state)| costs[state]).sum::<Cost>();
                if cost < costs[entry] {
                    costs[entry] = cost;
                    choices[entry] = way.choices;
                }
                for place in (0..classes.len()).rev() {
                    at[place] += 1;
                    if at[place] < sizes[place] {
                        break;
                    }
                    at[place] = 0;
                }
            }
        }
        OpTable::Joint { sizes, costs, choices }
    }

    fn costs(
        &self,
        number: usize,
        way: &Way,
        twin: Option<&Way>,
        classes: &[u32],
        layouts: &[SmallVec<[Layouts; 4]>],
    ) -> WayCosts {
        let op = &self.graph.ops[number];
        let own = self.own(number, way);
        let own = cost(own, twin.map_or(0, |twin| self.own(number, twin)));
        let mut slots: SmallVec<[SmallVec<[Cost; 4]>; 4]> =
            classes.iter().map(|&class| SmallVec::from_elem(0, layouts[class as usize].len())).collect();
        let mut add = |tensor: TensorId, price: &dyn Fn(Layouts, &Way) -> u64| {
            let class = self.classes.of[tensor as usize];
            let Some(place) = classes.iter().position(|&other| other == class) else { return };
            for (sum, &layouts) in slots[place].iter_mut().zip(&layouts[class as usize]) {
                let later = twin.map_or(0, |twin| price(self.repeated(tensor, layouts), twin));
                *sum += cost(price(layouts, way), later);
            }
        };
        for (place, tensor) in op.operands.iter().enumerate() {
            if let Some(tensor) = *tensor {
                let shape = shape_of(self.graph, tensor);
                add(tensor, &|layouts, way: &Way| match way.operands.get(place) {
                    Some(Some(wanted)) => self.prices.want(shape, layouts, wanted).0,
                    _ => 0,
                });
            }
        }
        for (place, tensor) in op.results.iter().enumerate() {
            if let Some(tensor) = *tensor {
                let shape = shape_of(self.graph, tensor);
                add(tensor, &|layouts, way: &Way| {
                    let given = way.results.get(place).copied().unwrap_or_default();
                    self.prices.convert(shape, given, layouts)
                });
            }
        }
        WayCosts { own, classes: slots, choices: way.choices }
    }

    /// What a way costs apart from conversions.
    fn own(&self, number: usize, way: &Way) -> u64 {
        let op = &self.graph.ops[number];
        let Some(info) = self.graph.info(op) else { return 0 };
        let in_memory = |tensors: &[Option<TensorId>], place: usize| {
            tensors.get(place).copied().flatten().is_none_or(|tensor| self.graph.tensors[tensor as usize].in_memory)
        };
        self.prices.way(info, way, &|place| in_memory(&op.operands, place), &|place| in_memory(&op.results, place))
    }

    /// The ways of an op along the axis, those that leave devices the least to do first; and each with the next axis doing the
    /// same. Ops split something if they can: only what cannot, and what depends on no argument, is done by all alike.
    fn ways(&self, number: usize) -> Vec<(Way, Option<Way>)> {
        let op = &self.graph.ops[number];
        let Some(info) = self.graph.info(op) else { return vec![(whole_way(op), None)] };
        let now = self.plan.choices[number];
        let way = |choice: Choice| {
            let choices = now.with(self.axis, choice);
            let way = way_of(info, &self.prices.mesh, choices)?;
            let twin = self.next.map(|next| {
                let twice = way_of(info, &self.prices.mesh, choices.with(next, choice));
                twice.unwrap_or_else(|| way.clone())
            });
            Some((way, twin))
        };
        let is_free = op.results.iter().flatten().all(|&tensor| self.classes.is_constant[tensor as usize]);
        let strategies = if is_free { 0 } else { info.analysis.strategies.len() };
        let allowed = (0..strategies).filter(|&strategy| self.reductions || !info.analysis.strategies[strategy].is_reduction());
        let mut ways: Vec<(Way, Option<Way>)> = allowed.filter_map(|strategy| way(Choice::Split(strategy))).collect();
        if ways.is_empty() {
            ways.extend(way(Choice::Whole));
        }
        ways.sort_by_key(|(way, _)| (way.flops, moved(way)));
        ways
    }

    /// A layout with the next axis doing what this one does, where that is possible.
    fn repeated(&self, tensor: TensorId, layouts: Layouts) -> Layouts {
        let (Some(next), Layout::Split(dim)) = (self.next, layouts.on(self.axis)) else { return layouts };
        let mesh = &self.prices.mesh;
        let extents = &self.graph.tensors[tensor as usize].shape;
        let twice = layouts.with(next, Layout::Split(dim));
        if twice.local_elements(mesh, extents) < layouts.local_elements(mesh, extents) { twice } else { layouts }
    }

    /// What becomes what.
    fn links(&self, choosing: &mut Choosing) {
        for link in &self.graph.links {
            let [from, to] = [link.from, link.to].map(|tensor| self.classes.of[tensor as usize]);
            if from == to {
                continue;
            }
            let shape = shape_of(self.graph, link.from);
            let mut costs = Vec::new();
            for &source in &choosing.layouts[from as usize] {
                costs.extend(choosing.layouts[to as usize].iter().map(|&target| {
                    let later = self.next.map_or(0, |_| {
                        let [source, target] = [source, target].map(|layouts| self.repeated(link.from, layouts));
                        self.prices.convert(shape, source, target)
                    });
                    cost(self.prices.convert(shape, source, target), later)
                }));
            }
            choosing.add_costs(&[from, to], &costs, link.times);
        }
    }
}

/// The bytes that a device moves.
fn moved(way: &Way) -> u64 {
    way.reads.iter().chain(&way.writes).fold(0, |sum: u64, &bytes| sum.saturating_add(bytes))
}

impl Choosing {
    /// Adds the table of ops that are alike and touch the same classes.
    fn add(&mut self, table: u32, classes: &[u32], times: u64) {
        let OpTable::Joint { costs, .. } = &mut self.known[table as usize] else { return };
        let costs = std::mem::take(costs);
        self.add_costs(classes, &costs, times);
        if let OpTable::Joint { costs: place, .. } = &mut self.known[table as usize] {
            *place = costs;
        }
    }

    /// Adds an op whose way is a variable: a table of that and each class.
    fn add_wide(&mut self, table: u32, classes: &[u32], way: u32, times: u64) {
        let OpTable::Wide(ways) = &self.known[table as usize] else { return };
        let times = Cost::from(times);
        let own = ways.iter().map(|way| way.own * times).collect();
        self.model.tables.push(Table { scope: SmallVec::from_slice(&[way]), costs: own });
        for (place, &class) in classes.iter().enumerate() {
            let states = self.layouts[class as usize].len();
            let of = |state: usize| ways.iter().map(move |way| way.classes[place][state] * times);
            let costs: Vec<Cost> = (0..states).flat_map(of).collect();
            // Variables of ways come after those of classes.
            let scope = self.variable_of[class as usize].into_iter().chain([way]).collect();
            self.model.tables.push(Table { scope, costs });
        }
    }

    /// Adds costs of classes to the model.
    fn add_costs(&mut self, classes: &[u32], costs: &[Cost], times: u64) {
        if costs.iter().all(|&cost| cost == 0) {
            return;
        }
        let free: SmallVec<[(u32, usize); 4]> = classes
            .iter()
            .enumerate()
            .filter_map(|(place, &class)| self.variable_of[class as usize].map(|variable| (variable, place)))
            .collect();
        let size = |class: u32| self.layouts[class as usize].len();
        let stride = |place: usize| classes[place + 1..].iter().map(|&class| size(class)).product::<usize>();
        let mut sorted = free.clone();
        sorted.sort_unstable();
        let strides: SmallVec<[(usize, usize); 4]> =
            sorted.iter().map(|&(_, place)| (size(classes[place]), stride(place))).collect();
        let entries: usize = strides.iter().map(|(size, _)| size).product();
        let mut table = Vec::with_capacity(entries);
        for number in 0..entries {
            let mut rest = number;
            let mut entry = 0;
            for &(size, stride) in strides.iter().rev() {
                entry += rest % size * stride;
                rest /= size;
            }
            table.push(costs[entry] * Cost::from(times));
        }
        if !sorted.is_empty() {
            self.model.tables.push(Table { scope: sorted.iter().map(|&(variable, _)| variable).collect(), costs: table });
        }
    }

    /// The plan with these states of the variables.
    pub(super) fn plan(&self, cut: &Cut<'_>, states: &[usize]) -> Plan {
        let state = |class: u32| self.variable_of[class as usize].map_or(0, |variable| states[variable as usize]);
        let stored = cut.classes.of.iter().map(|&class| Stored::only(self.layouts[class as usize][state(class)]));
        let choices = self.ops.iter().map(|touched| {
            let Some(Touched { table, classes, way }) = touched else { return Choices::WHOLE };
            match &self.known[*table as usize] {
                OpTable::Joint { sizes, choices, .. } => {
                    let states = classes.iter().zip(sizes);
                    choices[states.fold(0, |entry, (&class, size)| entry * size + state(class))]
                }
                OpTable::Wide(ways) => ways[way.map_or(0, |way| states[way as usize])].choices,
            }
        });
        Plan { mesh: cut.plan.mesh.clone(), choices: choices.collect(), stored: stored.collect() }
    }

    /// The bytes of the largest tensor of the class of each variable, none of those that are no classes.
    pub(super) fn bytes(&self, cut: &Cut<'_>) -> Vec<u64> {
        let mut of_class = vec![0; self.layouts.len()];
        for (tensor, &class) in cut.classes.of.iter().enumerate() {
            let bytes = Stored::default().bytes(&cut.plan.mesh, shape_of(cut.graph, tensor as TensorId));
            of_class[class as usize] = bytes.max(of_class[class as usize]);
        }
        let mut bytes: Vec<u64> = self.variables.iter().map(|&class| of_class[class as usize]).collect();
        bytes.resize(self.model.sizes.len(), 0);
        bytes
    }
}

/// Tables of the same variables as one.
fn merged(tables: Vec<Table>) -> Vec<Table> {
    let mut places: FxHashMap<SmallVec<[u32; 4]>, usize> = FxHashMap::default();
    let mut all: Vec<Table> = Vec::new();
    for table in tables {
        match places.get(&table.scope) {
            Some(&place) => {
                let sums = all[place].costs.iter_mut();
                sums.zip(&table.costs).for_each(|(sum, cost)| *sum += cost);
            }
            None => {
                places.insert(table.scope.clone(), all.len());
                all.push(table);
            }
        }
    }
    all
}

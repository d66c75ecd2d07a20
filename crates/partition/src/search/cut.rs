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
use super::coarsen::{Coarse, Group};
use super::frontier::{Cost, Model, Table, cost};
use crate::constraints::Constraints;
use crate::graph::{Op, TensorId};
use crate::op_info::OpInfo;
use crate::price::Prices;
use crate::problem::whole_way;
use crate::states::{candidates, shape_of};
use crate::way::{Choice, Choices, Way, ways};

/// What is to be cut, and how.
pub(super) struct Cut<'c> {
    pub(super) coarse: &'c Coarse<'c>,
    pub(super) prices: &'c Prices<'c>,
    pub(super) constraints: &'c Constraints,
    /// What the other axes do.
    pub(super) before: &'c Coarsely,
    /// The axis that is cut.
    pub(super) axis: usize,
    /// The axis that will be cut next, if equal costs are to be decided by what it would cost to cut it the same way.
    pub(super) next: Option<usize>,
    /// Whether ops may split what they reduce.
    pub(super) reductions: bool,
}

/// A plan of a coarsened graph.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Coarsely {
    /// How each class is kept.
    pub(super) layouts: Vec<Layouts>,
    /// What each group does.
    pub(super) choices: Vec<Choices>,
}

impl Coarsely {
    /// Everything on every device.
    pub(super) fn replicated(coarse: &Coarse<'_>) -> Coarsely {
        Coarsely {
            layouts: vec![Layouts::REPLICATED; coarse.first.len()],
            choices: vec![Choices::WHOLE; coarse.groups.len()],
        }
    }
}

/// The layouts that a class may have.
type List = SmallVec<[Layouts; 4]>;

/// A cut as a model, and what is needed to make a plan of it.
pub(super) struct Choosing {
    /// Variables are classes that have a choice, then the ways of some ops.
    pub(super) model: Model,
    /// The class of each variable that is one.
    pub(super) variables: Vec<u32>,
    /// The layouts of each class.
    layouts: Vec<List>,
    variable_of: Vec<Option<u32>>,
    /// The table of each group; and where it is too wide, the variable that says how it is done.
    tables: Vec<(u32, Option<u32>)>,
}

/// The tables that are known along one axis, whatever the other axes do.
#[derive(Default)]
pub(super) struct Tables {
    numbers: FxHashMap<TableKey, u32>,
    /// The different lists of states.
    lists: FxHashMap<List, u32>,
    known: Vec<OpTable>,
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

/// What the table of a group depends on.
#[derive(PartialEq, Eq, Hash)]
struct TableKey {
    pattern: u32,
    choices: Choices,
    /// The lists of states of its classes.
    lists: SmallVec<[u32; 4]>,
}

impl Cut<'_> {
    /// The model.
    ///
    /// # Errors
    /// When constraints leave nothing to choose from.
    pub(super) fn model(&self, tables: &mut Tables) -> Result<Choosing, Failure> {
        let (layouts, lists) = self.layouts(&mut tables.lists)?;
        let mut variables = Vec::new();
        let variable_of = layouts.iter().enumerate().map(|(class, layouts)| {
            (layouts.len() > 1).then(|| {
                variables.push(class as u32);
                variables.len() as u32 - 1
            })
        });
        let variable_of: Vec<Option<u32>> = variable_of.collect();
        let sizes = variables.iter().map(|&class| layouts[class as usize].len()).collect();
        let model = Model { sizes, ..Model::default() };
        let mut choosing = Choosing { model, variables, layouts, variable_of, tables: Vec::new() };
        for (number, group) in self.coarse.groups.iter().enumerate() {
            let key = TableKey {
                pattern: group.pattern,
                choices: self.before.choices[number],
                lists: group.classes.iter().map(|&class| lists[class as usize]).collect(),
            };
            let table = *tables.numbers.entry(key).or_insert_with(|| {
                tables.known.push(self.table(number, &choosing.layouts));
                tables.known.len() as u32 - 1
            });
            choosing.add(table, &tables.known[table as usize], group);
        }
        self.links(&mut choosing);
        choosing.model.tables = merged(std::mem::take(&mut choosing.model.tables));
        Ok(choosing)
    }

    /// The layouts of each class, and the number of its list among all different ones.
    fn layouts(&self, numbers: &mut FxHashMap<List, u32>) -> Result<(Vec<List>, Vec<u32>), Failure> {
        let axes = self.prices.mesh.axes().len().min(Layouts::MAX_AXES);
        let pinned: Vec<TensorId> = self.constraints.tensors().collect();
        let mut all = Vec::with_capacity(self.coarse.first.len());
        let mut lists: Vec<u32> = Vec::with_capacity(self.coarse.first.len());
        for (class, &tensor) in self.coarse.first.iter().enumerate() {
            let of = &self.coarse.graph.tensors[tensor as usize];
            let base = self.before.layouts[class];
            let is_pinned = pinned.binary_search(&tensor).is_ok();
            let mut layouts: List = SmallVec::new();
            if self.coarse.is_constant[tensor as usize] && !is_pinned {
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
                // Splits that leave devices without anything are for what has no others.
                let fills = |layouts: &Layouts| match layouts.on(self.axis) {
                    Layout::Split(dim) => layouts.shards(&self.prices.mesh, dim) <= of.shape[dim],
                    Layout::Replicated | Layout::Partial(_) => true,
                };
                if layouts.iter().any(fills) {
                    layouts.retain(|layouts| fills(layouts));
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

    /// The table of a group.
    fn table(&self, number: usize, layouts: &[List]) -> OpTable {
        let group = &self.coarse.groups[number];
        let ways = self.ways(number);
        let ways = ways.iter().map(|(way, twin)| self.costs(group, way, twin.as_ref(), layouts));
        let classes = &group.classes;
        let sizes: SmallVec<[usize; 4]> =
            classes.iter().map(|&class| layouts[class as usize].len()).collect();
        let entries = sizes.iter().fold(1, |entries: usize, &size| entries.saturating_mul(size));
        if entries > MOST_ENTRIES {
            return OpTable::Wide(ways.collect());
        }
        let (mut costs, mut choices) = (vec![Cost::MAX; entries], vec![Choices::WHOLE; entries]);
        for way in ways {
            let mut at: SmallVec<[usize; 4]> = SmallVec::from_elem(0, classes.len());
            for entry in 0..entries {
                let cost =
                    way.own + way.classes.iter().zip(&at).map(|(costs, &state)| costs[state]).sum::<Cost>();
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

    fn costs(&self, group: &Group, way: &Way, twin: Option<&Way>, layouts: &[List]) -> WayCosts {
        let op = &self.coarse.graph.ops[group.op as usize];
        let own = cost(self.own(op, way), twin.map_or(0, |twin| self.own(op, twin)));
        let states = group.classes.iter().map(|&class| SmallVec::from_elem(0, layouts[class as usize].len()));
        let mut classes: SmallVec<[SmallVec<[Cost; 4]>; 4]> = states.collect();
        for (slot, tensor) in op.operands.iter().chain(&op.results).enumerate() {
            let Some(tensor) = *tensor else { continue };
            let class = self.coarse.class_of[tensor as usize];
            let Some(place) = group.classes.iter().position(|&other| other == class) else { continue };
            let shape = shape_of(self.coarse.graph, tensor);
            let price = |layouts: Layouts, way: &Way| match slot.checked_sub(op.operands.len()) {
                None => match way.operands.get(slot) {
                    Some(Some(wanted)) => self.prices.want(shape, layouts, wanted).0,
                    _ => 0,
                },
                Some(result) => {
                    self.prices.convert(shape, way.results.get(result).copied().unwrap_or_default(), layouts)
                }
            };
            for (sum, &layouts) in classes[place].iter_mut().zip(&layouts[class as usize]) {
                let later = twin.map_or(0, |twin| price(self.repeated(tensor, layouts), twin));
                *sum += cost(price(layouts, way), later);
            }
        }
        WayCosts { own, classes, choices: way.choices }
    }

    /// What a way costs apart from conversions.
    fn own(&self, op: &Op, way: &Way) -> u64 {
        let Some(info) = self.coarse.graph.info(op) else { return 0 };
        self.prices.way(self.coarse.graph, op, info, way)
    }

    /// The ways of an op along the axis, those that leave devices the least to do first; and each with the next axis doing the
    /// same. Ops split something if they can: only what cannot, and what depends on no argument, is done by all alike.
    fn ways(&self, number: usize) -> Vec<(Way, Option<Way>)> {
        let graph = self.coarse.graph;
        let op = &graph.ops[self.coarse.groups[number].op as usize];
        let Some(info) = graph.info(op) else { return vec![(whole_way(op), None)] };
        let now = self.before.choices[number];
        let is_free = op.results.iter().flatten().all(|&tensor| self.coarse.is_constant[tensor as usize]);
        let of = if is_free { &[] } else { &info.analysis.strategies[..] };
        let allowed =
            of.iter().enumerate().filter(|(_, strategy)| self.reductions || !strategy.is_reduction());
        let splits: Vec<Choice> = allowed.map(|(strategy, _)| Choice::Split(strategy)).collect();
        let found = self.done(info, now, &splits);
        let mut found = if found.is_empty() { self.done(info, now, &[Choice::Whole]) } else { found };
        found.sort_by_key(|(way, _)| (way.flops, moved(way)));
        found
    }

    /// Those of some choices along the axis that there are ways for, each with the next axis doing the same.
    fn done(&self, info: &OpInfo, now: Choices, choices: &[Choice]) -> Vec<(Way, Option<Way>)> {
        let once = |&choice: &Choice| now.with(self.axis, choice);
        let twice = |&choice: &Choice| self.next.map(|next| once(&choice).with(next, choice));
        let all: Vec<Choices> = choices.iter().map(once).chain(choices.iter().filter_map(twice)).collect();
        // In the order of what was asked, with gaps: each is taken once.
        let mut found = ways(info, &self.prices.mesh, &all).into_iter().peekable();
        let mut take = |choices: Choices| found.next_if(|way| way.choices == choices);
        let once_each: Vec<Option<Way>> = choices.iter().map(|choice| take(once(choice))).collect();
        let twins: Vec<Option<Way>> =
            choices.iter().map(|choice| twice(choice).and_then(&mut take)).collect();
        let pair = |(way, twin): (Option<Way>, Option<Way>)| {
            let way = way?;
            let twin = self.next.map(|_| twin.unwrap_or_else(|| way.clone()));
            Some((way, twin))
        };
        once_each.into_iter().zip(twins).filter_map(pair).collect()
    }

    /// A layout with the next axis doing what this one does, where that is possible.
    fn repeated(&self, tensor: TensorId, layouts: Layouts) -> Layouts {
        let (Some(next), Layout::Split(dim)) = (self.next, layouts.on(self.axis)) else { return layouts };
        let mesh = &self.prices.mesh;
        let extents = &self.coarse.graph.tensors[tensor as usize].shape;
        let twice = layouts.with(next, Layout::Split(dim));
        if twice.local_elements(mesh, extents) < layouts.local_elements(mesh, extents) {
            twice
        } else {
            layouts
        }
    }

    /// What becomes what.
    fn links(&self, choosing: &mut Choosing) {
        for link in &self.coarse.graph.links {
            let [from, to] = [link.from, link.to].map(|tensor| self.coarse.class_of[tensor as usize]);
            if from == to {
                continue;
            }
            let shape = shape_of(self.coarse.graph, link.from);
            let mut costs = Vec::new();
            for &source in &choosing.layouts[from as usize] {
                costs.extend(choosing.layouts[to as usize].iter().map(|&target| {
                    let later = self.next.map_or(0, |_| {
                        let [source, target] =
                            [source, target].map(|layouts| self.repeated(link.from, layouts));
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
    /// Adds the table of a group.
    fn add(&mut self, number: u32, table: &OpTable, group: &Group) {
        let way = match table {
            OpTable::Joint { costs, .. } => {
                self.add_costs(&group.classes, costs, group.times);
                None
            }
            OpTable::Wide(ways) => {
                let way = self.model.sizes.len() as u32;
                self.model.sizes.push(ways.len());
                self.add_wide(ways, &group.classes, way, group.times);
                Some(way)
            }
        };
        self.tables.push((number, way));
    }

    /// Adds an op whose way is a variable: a table of that and each class.
    fn add_wide(&mut self, ways: &[WayCosts], classes: &[u32], way: u32, times: u64) {
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
        if sorted.is_empty() {
            self.model.constant += table[0];
        } else {
            self.model
                .tables
                .push(Table { scope: sorted.iter().map(|&(variable, _)| variable).collect(), costs: table });
        }
    }

    /// The plan with these states of the variables.
    pub(super) fn plan(&self, coarse: &Coarse<'_>, tables: &Tables, states: &[usize]) -> Coarsely {
        let state =
            |class: u32| self.variable_of[class as usize].map_or(0, |variable| states[variable as usize]);
        let layouts = self.layouts.iter().enumerate().map(|(class, layouts)| layouts[state(class as u32)]);
        let choices = self.tables.iter().zip(&coarse.groups).map(|(&(table, way), group)| {
            match &tables.known[table as usize] {
                OpTable::Joint { sizes, choices, .. } => {
                    let states = group.classes.iter().zip(sizes);
                    choices[states.fold(0, |entry, (&class, size)| entry * size + state(class))]
                }
                OpTable::Wide(ways) => ways[way.map_or(0, |way| states[way as usize])].choices,
            }
        });
        Coarsely { layouts: layouts.collect(), choices: choices.collect() }
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

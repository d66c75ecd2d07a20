//! Dynamic programming over a frontier (Tofu, EuroSys 2019, section 5.2).
//!
//! A [`Model`] is variables, each with a few states, and tables of what the states of some of them cost together. The paper
//! walks along a chain of groups and keeps, for all states of the variables between what it has seen and what it has not, the
//! least cost so far. Here what was seen may be several pieces: the next variable is always one that leaves the smallest
//! table. On a chain that is the paper's walk; on a graph with branches it is narrower.
//!
//! ```text
//!   tables with v:  (a v), (v b), (v)   ──►   (a b): the least over v of their sum      and v as a function of a and b
//! ```
//!
//! Costs are numbers of two words, of which the upper one counts and the lower one decides among equals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use smallvec::SmallVec;

/// A cost, and what decides among equal costs.
pub(super) type Cost = u128;

/// A cost of two words.
pub(super) fn cost(counts: u64, decides: u64) -> Cost {
    Cost::from(counts) << 64 | Cost::from(decides)
}

/// Variables and tables.
#[derive(Clone, Default, Debug)]
pub(super) struct Model {
    /// How many states each variable has.
    pub(super) sizes: Vec<usize>,
    /// The tables.
    pub(super) tables: Vec<Table>,
    /// What it costs besides, whatever the states.
    pub(super) constant: Cost,
}

impl Model {
    /// What these states cost, without what decides.
    pub(super) fn counted(&self, states: &[usize]) -> u64 {
        let each = self.tables.iter().map(|table| table.costs[entry(&table.scope, &self.sizes, states)]);
        ((each.sum::<Cost>() + self.constant) >> 64) as u64
    }
}

/// Costs of some variables.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The variables, in ascending order.
    pub(super) scope: SmallVec<[u32; 4]>,
    /// For all their states, the last variable's first.
    pub(super) costs: Vec<Cost>,
}

/// Tables larger than this are not made: a variable is fixed instead.
const MOST_ENTRIES: usize = 1 << 16;

/// The states of least cost. Where tables would get too large some variables are fixed before, at what is least without
/// regard to the others.
pub(super) fn minimise(model: &Model) -> Vec<usize> {
    let mut run = Run::new(model);
    while let Some(Reverse((_, variable))) = run.queue.pop() {
        let variable = variable as usize;
        if run.is_done[variable] {
            continue;
        }
        let entries = run.entries(variable);
        if run.known[variable] != entries {
            // What the queue holds is from before.
            run.push(variable);
        } else if entries <= MOST_ENTRIES {
            run.eliminate(variable);
        } else {
            run.fix();
            run.push(variable);
        }
    }
    let mut states = vec![0; model.sizes.len()];
    for step in run.steps.iter().rev() {
        let entry = entry(&step.scope, &model.sizes, &states);
        states[step.variable] = usize::from(step.best[entry]);
    }
    states
}

/// Where in a table these states stand.
fn entry(scope: &[u32], sizes: &[usize], states: &[usize]) -> usize {
    scope.iter().fold(0, |entry, &variable| entry * sizes[variable as usize] + states[variable as usize])
}

/// A variable that is gone, as a function of others.
struct Step {
    variable: usize,
    scope: SmallVec<[u32; 4]>,
    best: Vec<u8>,
}

struct Run<'m> {
    sizes: &'m [usize],
    /// Those that are used up are empty.
    tables: Vec<Table>,
    /// The tables of each variable.
    of: Vec<Vec<u32>>,
    /// The variables that share a table with each one, in ascending order.
    around: Vec<Vec<u32>>,
    is_done: Vec<bool>,
    /// What the queue says of each variable.
    known: Vec<usize>,
    queue: BinaryHeap<Reverse<(usize, u32)>>,
    steps: Vec<Step>,
}

impl<'m> Run<'m> {
    fn new(model: &'m Model) -> Run<'m> {
        let variables = model.sizes.len();
        let mut run = Run {
            sizes: &model.sizes,
            tables: Vec::new(),
            of: vec![Vec::new(); variables],
            around: vec![Vec::new(); variables],
            is_done: vec![false; variables],
            known: vec![0; variables],
            queue: BinaryHeap::new(),
            steps: Vec::new(),
        };
        for table in &model.tables {
            for &variable in &table.scope {
                let others = table.scope.iter().filter(|&&other| other != variable);
                run.around[variable as usize].extend(others);
            }
            run.add(table.clone());
        }
        for around in &mut run.around {
            around.sort_unstable();
            around.dedup();
        }
        for variable in 0..variables {
            run.push(variable);
        }
        run
    }

    fn add(&mut self, table: Table) {
        let number = self.tables.len() as u32;
        for &variable in &table.scope {
            self.of[variable as usize].push(number);
        }
        self.tables.push(table);
    }

    fn push(&mut self, variable: usize) {
        self.known[variable] = self.entries(variable);
        self.queue.push(Reverse((self.known[variable], variable as u32)));
    }

    /// How large the work of eliminating it is, as far as it may be done.
    fn entries(&self, variable: usize) -> usize {
        let mut entries = self.sizes[variable];
        for &other in &self.around[variable] {
            entries = entries.saturating_mul(self.sizes[other as usize]);
            if entries > MOST_ENTRIES {
                return usize::MAX;
            }
        }
        entries
    }

    /// Takes a variable out of the graph, and gives those that shared a table with it.
    fn leave(&mut self, variable: usize) -> SmallVec<[u32; 4]> {
        let scope: SmallVec<[u32; 4]> = std::mem::take(&mut self.around[variable]).into();
        for &other in &scope {
            self.around[other as usize].retain(|&other| other as usize != variable);
        }
        scope
    }

    /// They share a table from now on.
    fn join(&mut self, scope: &[u32]) {
        for &variable in scope {
            for &other in scope {
                let around = &mut self.around[variable as usize];
                if let Err(place) = around.binary_search(&other)
                    && other != variable
                {
                    around.insert(place, other);
                }
            }
        }
    }

    fn take(&mut self, variable: usize) -> Vec<Table> {
        let numbers = std::mem::take(&mut self.of[variable]);
        let empty = Table { scope: SmallVec::new(), costs: Vec::new() };
        let take = |number: &u32| std::mem::replace(&mut self.tables[*number as usize], empty.clone());
        let taken: Vec<Table> = numbers.iter().map(take).collect();
        for table in &taken {
            for &other in &table.scope {
                self.of[other as usize].retain(|number| !numbers.contains(number));
            }
        }
        self.is_done[variable] = true;
        taken
    }

    fn eliminate(&mut self, variable: usize) {
        let scope = self.leave(variable);
        self.join(&scope);
        let tables = self.take(variable);
        let size = self.sizes[variable];
        // How far one goes in each table for one more of each variable of the scope, and for one more of this one.
        let stride = |table: &Table, of: u32| -> usize {
            let place = table.scope.iter().position(|&other| other == of);
            place.map_or(0, |place| {
                table.scope[place + 1..].iter().map(|&after| self.sizes[after as usize]).product()
            })
        };
        let strides: Vec<SmallVec<[usize; 4]>> =
            tables.iter().map(|table| scope.iter().map(|&of| stride(table, of)).collect()).collect();
        let own: Vec<usize> = tables.iter().map(|table| stride(table, variable as u32)).collect();
        let entries: usize = scope.iter().map(|&of| self.sizes[of as usize]).product();
        let mut at: SmallVec<[usize; 4]> = SmallVec::from_elem(0, scope.len());
        let mut starts: Vec<usize> = vec![0; tables.len()];
        let mut costs = Vec::with_capacity(entries);
        let mut best = Vec::with_capacity(entries);
        for _ in 0..entries {
            let of = |state: usize| -> Cost {
                let each = tables.iter().zip(&starts).zip(&own);
                each.map(|((table, start), own)| table.costs[start + own * state]).sum()
            };
            // The first one of the least.
            let (state, least) = (1..size).fold((0, of(0)), |(state, least), other| {
                let cost = of(other);
                if cost < least { (other, cost) } else { (state, least) }
            });
            costs.push(least);
            best.push(state as u8);
            for place in (0..scope.len()).rev() {
                at[place] += 1;
                let wraps = at[place] == self.sizes[scope[place] as usize];
                for (start, strides) in starts.iter_mut().zip(&strides) {
                    *start = if wraps {
                        *start - strides[place] * (at[place] - 1)
                    } else {
                        *start + strides[place]
                    };
                }
                if !wraps {
                    break;
                }
                at[place] = 0;
            }
        }
        self.steps.push(Step { variable, scope: scope.clone(), best });
        if !scope.is_empty() {
            self.add(Table { scope: scope.clone(), costs });
        }
        for other in scope {
            self.push(other as usize);
        }
    }

    /// Fixes the variable that shares tables with most others, at the state for which the sum of the least of each is least.
    fn fix(&mut self) {
        let open = (0..self.sizes.len()).filter(|&variable| !self.is_done[variable]);
        let Some(variable) = open.max_by_key(|&variable| (self.around[variable].len(), Reverse(variable)))
        else {
            return;
        };
        let around = self.leave(variable);
        let tables = self.take(variable);
        let mut sliced: Vec<Vec<Table>> = Vec::new();
        for state in 0..self.sizes[variable] {
            sliced.push(tables.iter().map(|table| self.slice(table, variable as u32, state)).collect());
        }
        let least = |tables: &Vec<Table>| -> Cost {
            tables.iter().map(|table| table.costs.iter().copied().min().unwrap_or(0)).sum()
        };
        let best = (0..sliced.len()).min_by_key(|&state| least(&sliced[state])).unwrap_or(0);
        self.steps.push(Step { variable, scope: SmallVec::new(), best: vec![best as u8] });
        for table in sliced.swap_remove(best) {
            if !table.scope.is_empty() {
                self.add(table);
            }
        }
        for other in around {
            self.push(other as usize);
        }
    }

    /// A table with one variable fixed.
    fn slice(&self, table: &Table, variable: u32, state: usize) -> Table {
        let Some(place) = table.scope.iter().position(|&other| other == variable) else {
            return table.clone();
        };
        let after: usize = table.scope[place + 1..].iter().map(|&after| self.sizes[after as usize]).product();
        let size = self.sizes[variable as usize];
        let mut scope = table.scope.clone();
        scope.remove(place);
        let chunks = table.costs.chunks(after * size);
        let costs = chunks.flat_map(|chunk| chunk[state * after..][..after].iter().copied()).collect();
        Table { scope, costs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(model: &Model, states: &[usize]) -> Cost {
        model.tables.iter().map(|table| table.costs[entry(&table.scope, &model.sizes, states)]).sum()
    }

    /// A model of some numbers, the same for the same seed.
    fn model(seed: u64, variables: u32, tables: usize) -> Model {
        let mut state = seed;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let sizes: Vec<usize> = (0..variables).map(|_| 1 + next(3) as usize).collect();
        let mut model = Model { sizes, ..Model::default() };
        for _ in 0..tables {
            let mut scope: SmallVec<[u32; 4]> =
                (0..1 + next(3)).map(|_| next(variables.into()) as u32).collect();
            scope.sort_unstable();
            scope.dedup();
            let entries: usize = scope.iter().map(|&variable| model.sizes[variable as usize]).product();
            let costs = (0..entries).map(|_| cost(next(50), next(4))).collect();
            model.tables.push(Table { scope, costs });
        }
        model
    }

    #[test]
    fn what_is_found_is_least_of_all() {
        for seed in 0..300 {
            let model = model(seed, 7, 10);
            let mut least = Cost::MAX;
            let all: usize = model.sizes.iter().product();
            for number in 0..all {
                let mut rest = number;
                let states: Vec<usize> = (model.sizes.iter())
                    .map(|&size| {
                        let state = rest % size;
                        rest /= size;
                        state
                    })
                    .collect();
                least = least.min(total(&model, &states));
            }
            assert_eq!(total(&model, &minimise(&model)), least, "seed {seed}");
        }
    }

    #[test]
    fn what_is_too_wide_is_still_decided() {
        // Everything with everything: 24 variables of three states each are a table of 3^24.
        let variables = 24u32;
        let mut model = Model { sizes: vec![3; variables as usize], ..Model::default() };
        for a in 0..variables {
            for b in a + 1..variables {
                let costs = (0..9).map(|entry| cost(u64::from(entry / 3 != entry % 3), 0)).collect();
                model.tables.push(Table { scope: SmallVec::from_slice(&[a, b]), costs });
            }
        }
        assert_eq!(total(&model, &minimise(&model)), 0);
    }
}

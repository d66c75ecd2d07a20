//! The greedy baselines of the paper (Tofu, EuroSys 2019, section 7.3), over all devices at once.
//!
//! `allrow-greedy` splits every tensor along its first dimension and lets ops do what is cheapest then. `spartan` (Huang et al.,
//! "Spartan: a distributed array framework with smart tiling", USENIX ATC 2015) decides about the largest tensors first,
//! each as is cheapest for the ops around it, with those decided that already are and the best for the others.

use std::cmp::Reverse;

use super::coarsen::Coarse;
use super::cut::{Coarsely, Cut, Tables};
use super::frontier::{Cost, Model};
use super::tofu::{finish, one_axis};
use super::{Failure, Outcome, Request};
use crate::price::Prices;

/// Which one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Greedy {
    AllRow,
    Spartan,
}

pub(super) fn search(request: &Request<'_>, greedy: Greedy) -> Result<Outcome, Failure> {
    let mesh = one_axis(request);
    let prices = Prices::new(request.machine, mesh.clone(), request.objective, request.reduce_scatter);
    let coarse = match greedy {
        Greedy::AllRow => Coarse::of(request.graph, request.constraints),
        Greedy::Spartan => Coarse::fine(request.graph),
    };
    let before = Coarsely::replicated(&coarse);
    let constraints = request.constraints;
    let cut = Cut {
        coarse: &coarse,
        prices: &prices,
        constraints,
        before: &before,
        axis: 0,
        next: None,
        reductions: true,
    };
    let mut tables = Tables::default();
    let choosing = cut.model(&mut tables)?;
    let states = match greedy {
        // Layouts are in the order of their dimensions.
        Greedy::AllRow => rows(&choosing.model, choosing.variables.len()),
        Greedy::Spartan => {
            let bytes = coarse.bytes();
            let mut bytes: Vec<u64> = choosing.variables.iter().map(|&class| bytes[class as usize]).collect();
            bytes.resize(choosing.model.sizes.len(), 0);
            largest_first(&choosing.model, &bytes)
        }
    };
    let plan = choosing.plan(&coarse, &tables, &states);
    finish(request, coarse.plan(&mesh, &plan.layouts, &plan.choices), false)
}

/// The first state of the variables of tensors; of the others, what is cheapest then.
fn rows(model: &Model, tensors: usize) -> Vec<usize> {
    let decided = (0..model.sizes.len()).map(|variable| (variable < tensors).then_some(0)).collect();
    complete(model, decided, tensors..model.sizes.len())
}

fn largest_first(model: &Model, bytes: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..model.sizes.len()).collect();
    order.sort_by_key(|&variable| Reverse(bytes[variable]));
    complete(model, vec![None; model.sizes.len()], order)
}

/// Decides about variables in this order, one after the other.
fn complete(
    model: &Model,
    mut decided: Vec<Option<usize>>,
    order: impl IntoIterator<Item = usize>,
) -> Vec<usize> {
    let mut tables: Vec<Vec<usize>> = vec![Vec::new(); model.sizes.len()];
    for (number, table) in model.tables.iter().enumerate() {
        table.scope.iter().for_each(|&variable| tables[variable as usize].push(number));
    }
    for variable in order {
        let mut costs: Vec<Cost> = vec![0; model.sizes[variable]];
        for &table in &tables[variable] {
            for (sum, least) in costs.iter_mut().zip(least(model, table, &decided, variable)) {
                *sum += least;
            }
        }
        let best = (0..costs.len()).min_by_key(|&state| costs[state]).unwrap_or(0);
        decided[variable] = Some(best);
    }
    decided.into_iter().map(|state| state.unwrap_or(0)).collect()
}

/// Of a table, the least cost of each state of a variable with what is decided.
fn least(model: &Model, table: usize, decided: &[Option<usize>], variable: usize) -> Vec<Cost> {
    let table = &model.tables[table];
    let mut least = vec![Cost::MAX; model.sizes[variable]];
    for (number, &cost) in table.costs.iter().enumerate() {
        let mut rest = number;
        let mut own = 0;
        let mut agrees = true;
        for &other in table.scope.iter().rev() {
            let size = model.sizes[other as usize];
            let state = rest % size;
            rest /= size;
            if other as usize == variable {
                own = state;
            } else {
                agrees &= decided[other as usize].is_none_or(|decided| decided == state);
            }
        }
        if agrees {
            least[own] = least[own].min(cost);
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use smallvec::SmallVec;

    use super::*;
    use crate::search::frontier::{Table, cost};

    #[test]
    fn the_largest_decides_first() {
        // Both prefer state 0 alone, together they may not have it.
        let unary = |variable| Table {
            scope: SmallVec::from_slice(&[variable]),
            costs: vec![cost(0, 0), cost(3, 0)],
        };
        let both = [9, 0, 0, 9].map(|price| cost(price, 0)).to_vec();
        let both = Table { scope: SmallVec::from_slice(&[0, 1]), costs: both };
        let model = Model { sizes: vec![2, 2], tables: vec![unary(0), unary(1), both], ..Model::default() };
        assert_eq!(largest_first(&model, &[1, 2]), [1, 0]);
        assert_eq!(largest_first(&model, &[2, 1]), [0, 1]);
    }
}

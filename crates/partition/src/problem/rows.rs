//! The rows of the problem's matrices: what it costs to have a tensor as an op wants or gives it, for each of its states.
//!
//! Ways of an op differ in few of its tensors, and ops in few ways, so a row is made once for all that ask for it; and it is made
//! of rows of plain conversions, of which there are fewer still.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_ir::Type;
use tofu_sharding::{Layouts, Step};

use crate::domain::{Domain, Symmetry, exchanged, exchanged_stored};
use crate::price::{Prices, TensorShape};
use crate::states::Stored;
use crate::way::Wanted;

pub(super) struct Rows<'a> {
    prices: &'a Prices<'a>,
    /// The exchanges of axes of which the cheapest counts, if everything is chosen from.
    symmetry: Option<Symmetry>,
    /// What the states of each list may be taken for.
    orbits: Vec<Orbits>,
    /// The lists of layouts that occur among the states.
    layouts: Vec<Rc<[Layouts]>>,
    numbers: FxHashMap<Rc<[Layouts]>, u32>,
    rows: FxHashMap<(Type, u32, Row), Rc<[u64]>>,
    conversions: FxHashMap<(Type, u32, Conversion), Rc<[u64]>>,
}

/// What each state of a list may be taken for: itself, with all exchanges of axes that are alike.
struct Orbits {
    /// The number of the list of layouts.
    layouts: u32,
    /// For each state, the pairs of a first layout and a copy, by their places in that list; [`NO_COPY`] where there is none.
    states: Vec<SmallVec<[(u32, u32); 1]>>,
}

const NO_COPY: u32 = u32::MAX;

/// What the prices of a row depend on, besides the tensor and its states.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Row {
    /// An op wants the tensor like this.
    Wants(Wanted),
    /// An op gives it like this.
    Gives(Layouts),
}

/// A conversion from each layout of a list, or into each.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Conversion {
    Into(Layouts),
    From(Layouts),
}

impl<'a> Rows<'a> {
    pub(super) fn new(prices: &'a Prices<'a>, domain: Domain<'_>) -> Rows<'a> {
        let symmetry = match domain {
            Domain::All(symmetry) => Some(symmetry.clone()),
            Domain::Listed(_) => None,
        };
        let (numbers, rows, conversions) = Default::default();
        Rows { prices, symmetry, orbits: Vec::new(), layouts: Vec::new(), numbers, rows, conversions }
    }

    /// Lists are numbered as they are added.
    pub(super) fn add_list(&mut self, states: &[Stored]) {
        let orbit = |&stored: &Stored| -> SmallVec<[Stored; 1]> {
            let Some(symmetry) = &self.symmetry else { return SmallVec::from_slice(&[stored]) };
            let mut all: SmallVec<[Stored; 1]> =
                symmetry.exchanges().iter().map(|exchange| exchanged_stored(stored, exchange)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let orbits: Vec<SmallVec<[Stored; 1]>> = states.iter().map(orbit).collect();
        let mut layouts: Vec<Layouts> = orbits.iter().flatten().flat_map(|stored| stored.layouts()).collect();
        layouts.sort_unstable();
        layouts.dedup();
        let place = |of: Layouts| layouts.binary_search(&of).map_or(NO_COPY, |place| place as u32);
        let places = |orbit: SmallVec<[Stored; 1]>| {
            orbit.iter().map(|stored| (place(stored.first), stored.copy.map_or(NO_COPY, place))).collect()
        };
        let states = orbits.into_iter().map(places).collect();
        let layouts: Rc<[Layouts]> = layouts.into();
        let number = *self.numbers.entry(Rc::clone(&layouts)).or_insert_with(|| {
            self.layouts.push(layouts);
            self.layouts.len() as u32 - 1
        });
        self.orbits.push(Orbits { layouts: number, states });
    }

    /// What it costs to have a tensor as it is wanted or given, for each state of a list. With a symmetry, this is the least of
    /// all exchanges of axes, so all that differ by an exchange share a row.
    pub(super) fn row(&mut self, tensor: TensorShape<'_>, list: u32, row: Row) -> Rc<[u64]> {
        let row = match &self.symmetry {
            Some(symmetry) => row.ordered(symmetry),
            None => row,
        };
        let key = (tensor.ty, list, row);
        if let Some(known) = self.rows.get(&key) {
            return Rc::clone(known);
        }
        let layouts = self.orbits[list as usize].layouts;
        let (each, wants) = match &key.2 {
            Row::Gives(given) => (self.conversion(tensor, layouts, Conversion::From(*given)), false),
            Row::Wants(wanted) => (self.wanted(tensor, layouts, wanted), true),
        };
        let least = |orbit: &SmallVec<[(u32, u32); 1]>| {
            let of = |&(first, copy): &(u32, u32)| {
                let first = each[first as usize];
                if wants && copy != NO_COPY { first.min(each[copy as usize]) } else { first }
            };
            orbit.iter().map(of).min().unwrap_or(0)
        };
        let row: Rc<[u64]> = self.orbits[list as usize].states.iter().map(least).collect();
        self.rows.insert(key, Rc::clone(&row));
        row
    }

    /// What it costs that a tensor which is kept like this becomes one with another, for each state of the other's list.
    pub(super) fn becomes(&mut self, tensor: TensorShape<'_>, stored: Stored, list: u32) -> Vec<u64> {
        let layouts = self.orbits[list as usize].layouts;
        let first = self.conversion(tensor, layouts, Conversion::From(stored.first));
        let copy = stored.copy.map(|copy| self.conversion(tensor, layouts, Conversion::From(copy)));
        let each = |&(place, _): &(u32, u32)| {
            let place = place as usize;
            copy.as_ref().map_or(first[place], |copy| first[place].min(copy[place]))
        };
        let states = self.orbits[list as usize].states.iter();
        states.map(|orbit| orbit.iter().map(each).min().unwrap_or(0)).collect()
    }

    /// What [`Prices::want`] says for each layout of a list.
    fn wanted(&mut self, tensor: TensorShape<'_>, layouts: u32, wanted: &Wanted) -> Rc<[u64]> {
        let each = self.conversion(tensor, layouts, Conversion::Into(wanted.layouts));
        if wanted.halo.is_empty() {
            return each;
        }
        let halo = self.prices.steps(&wanted.halo);
        let whole = self.conversion(tensor, layouts, Conversion::Into(wanted.without));
        each.iter().zip(&*whole).map(|(each, &whole)| each.saturating_add(halo).min(whole)).collect()
    }

    fn conversion(&mut self, tensor: TensorShape<'_>, layouts: u32, conversion: Conversion) -> Rc<[u64]> {
        let key = (tensor.ty, layouts, conversion);
        if let Some(known) = self.conversions.get(&key) {
            return Rc::clone(known);
        }
        let price = |&other: &Layouts| {
            let (from, to) = match conversion {
                Conversion::Into(to) => (other, to),
                Conversion::From(from) => (from, other),
            };
            match self.symmetry {
                Some(_) => self.prices.convert_once(tensor, from, to),
                None => self.prices.convert(tensor, from, to),
            }
        };
        let row: Rc<[u64]> = self.layouts[layouts as usize].iter().map(price).collect();
        self.conversions.insert(key, Rc::clone(&row));
        row
    }
}

impl Row {
    /// The one that stands for all with axes exchanged.
    fn ordered(self, symmetry: &Symmetry) -> Row {
        let each = symmetry.exchanges().iter();
        match self {
            Row::Gives(given) => {
                Row::Gives(each.map(|exchange| exchanged(given, exchange)).min().unwrap_or(given))
            }
            Row::Wants(wanted) => {
                let first = wanted.clone();
                let best = each.map(|exchange| {
                    let [layouts, without] =
                        [wanted.layouts, wanted.without].map(|layouts| exchanged(layouts, exchange));
                    (layouts, without, exchange)
                });
                let Some((layouts, without, exchange)) = best.min() else { return Row::Wants(first) };
                let place =
                    |axis: u8| exchange.iter().position(|&from| from == axis).unwrap_or(axis.into()) as u8;
                let moved = |step: &Step| {
                    let mut axes: SmallVec<[u8; 4]> = step.axes.iter().map(|&axis| place(axis)).collect();
                    axes.sort_unstable();
                    Step { axes, ..step.clone() }
                };
                let halo = wanted.halo.iter().map(moved).collect();
                Row::Wants(Wanted { layouts, halo, without })
            }
        }
    }
}

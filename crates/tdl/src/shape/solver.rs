//! Solves the equations between extents.

use smallvec::SmallVec;
use tofu_ir::{Dim, EntityId};

use super::{Names, Value};
use crate::description::*;
use crate::poly::{Atom, Atoms, Poly};
use crate::print::{condition_text, index_text};

/// Where an equation comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    Operand(usize, usize),
    Result(usize, usize),
    Condition(usize),
}

impl Origin {
    fn value(self) -> Option<Value> {
        match self {
            Origin::Operand(number, _) => Some(Value::Operand(number)),
            Origin::Result(number, _) => Some(Value::Result(number)),
            Origin::Condition(_) => None,
        }
    }

    fn condition(self) -> Option<usize> {
        match self {
            Origin::Condition(number) => Some(number),
            Origin::Operand(..) | Origin::Result(..) => None,
        }
    }

    /// What disagrees with nothing but itself.
    fn conflict(self, message: String) -> Conflict {
        Conflict { message, value: self.value(), other: None, condition: self.condition() }
    }
}

struct Equation {
    left: IndexId,
    right: Right,
    origin: Origin,
    /// Set when it gave an extent its value.
    done: bool,
}

enum Right {
    Actual(Poly, Dim),
    Extent(IndexId),
}

/// What disagrees.
pub(super) struct Conflict {
    pub(super) message: String,
    /// The value at fault.
    pub(super) value: Option<Value>,
    /// The one that it disagrees with.
    pub(super) other: Option<Value>,
    /// The condition that does not hold.
    pub(super) condition: Option<usize>,
}

pub(super) struct Solver<'d> {
    data: &'d Data,
    names: Names<'d>,
    atoms: Atoms,
    /// What a free atom stands for.
    free: Vec<Dim>,
    values: Vec<Option<(Poly, Origin)>>,
    equations: Vec<Equation>,
    assumed: Vec<(Dim, Dim)>,
}

impl<'d> Solver<'d> {
    pub(super) fn new(data: &'d Data, names: Names<'d>) -> Solver<'d> {
        let equations = data.conditions.iter().enumerate().filter(|(_, c)| c.relation == Relation::Equal);
        let equations = equations.map(|(number, condition)| Equation {
            left: condition.left,
            right: Right::Extent(condition.right),
            origin: Origin::Condition(number),
            done: false,
        });
        Solver {
            data,
            names,
            atoms: Atoms::default(),
            free: Vec::new(),
            values: vec![None; data.extents.len()],
            equations: equations.collect(),
            assumed: Vec::new(),
        }
    }

    /// The dimension with the extent `expected` has the extent `actual`.
    pub(super) fn dimension(&mut self, expected: IndexId, actual: Dim, origin: Origin) {
        let poly = match actual {
            Dim::Static(size) => Poly::constant(i128::from(size)),
            Dim::Symbol(_) => {
                let known = self.free.iter().position(|&dim| dim == actual);
                self.free_atom(known, actual)
            }
            Dim::Unknown => self.free_atom(None, actual),
        };
        self.equations.push(Equation {
            left: expected,
            right: Right::Actual(poly, actual),
            origin,
            done: false,
        });
    }

    fn free_atom(&mut self, known: Option<usize>, dim: Dim) -> Poly {
        let number = known.unwrap_or_else(|| {
            self.free.push(dim);
            self.free.len() - 1
        });
        Poly::atom(self.atoms.id(Atom::Free(number as u32)))
    }

    pub(super) fn solve(&mut self) -> Result<(), Conflict> {
        while self.step()? {}
        self.check()
    }

    /// Solves one equation, the one whose extent is known best.
    fn step(&mut self) -> Result<bool, Conflict> {
        for rank in 0..3 {
            for number in 0..self.equations.len() {
                let equation = &self.equations[number];
                if equation.done || self.rank(equation) > rank {
                    continue;
                }
                if self.try_equation(number)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn rank(&self, equation: &Equation) -> usize {
        match &equation.right {
            Right::Actual(_, Dim::Static(_)) => 0,
            Right::Extent(_) | Right::Actual(_, Dim::Symbol(_)) => 1,
            Right::Actual(_, Dim::Unknown) => 2,
        }
    }

    fn difference(&mut self, number: usize) -> Option<Poly> {
        let left = self.poly(self.equations[number].left)?;
        let right = match &self.equations[number].right {
            Right::Actual(poly, _) => poly.clone(),
            Right::Extent(extent) => {
                let extent = *extent;
                self.poly(extent)?
            }
        };
        Some(left.sub(&right))
    }

    fn try_equation(&mut self, number: usize) -> Result<bool, Conflict> {
        let Equation { left, ref right, origin, .. } = self.equations[number];
        // Most often it just names an extent.
        if let (Index::Extent(extent), Right::Actual(value, _)) = (self.data.index(left), right) {
            let is_new = self.values[extent.index()].is_none();
            if is_new {
                self.values[extent.index()] = Some((value.clone(), origin));
                self.equations[number].done = true;
            }
            return Ok(is_new);
        }
        let Some(difference) = self.difference(number) else { return Ok(false) };
        let unknown: SmallVec<[(u32, ExtentId); 2]> = (difference.atoms().into_iter())
            .filter_map(|atom| match self.atoms.get(atom) {
                Some(Atom::Extent(extent)) => Some((atom, *extent)),
                _ => None,
            })
            .collect();
        let &[(atom, extent)] = &unknown[..] else { return Ok(false) };
        let Some((factor, rest)) = difference.split(atom) else { return Ok(false) };
        let negated = rest.scale(-1);
        let (value, left) = match (factor.as_constant(), negated.as_constant()) {
            // The other factor may be 0 instead.
            (Some(0), _) | (None, Some(0)) => return Ok(false),
            (Some(factor), Some(value)) => (Poly::constant(value / factor), Poly::constant(value % factor)),
            (Some(-1), None) => (rest, Poly::default()),
            _ => negated.divide(&factor),
        };
        // A number that an extent with a name does not divide evenly may still be a multiple of it.
        let is_number = factor.as_constant().is_some();
        let is_uneven = is_number && left.as_constant().is_some_and(|left| left != 0);
        let is_negative = left.is_zero() && value.as_constant().is_some_and(|value| value < 0);
        if is_uneven || is_negative {
            let name = &self.data.extents[extent.index()];
            let (expected, actual) = (self.left_text(number), self.right_text(number));
            let place = self.place(origin);
            return Err(origin.conflict(if is_uneven {
                format!("{place} is {actual}, which no `{name}` makes `{expected}`")
            } else {
                format!("{place} is {actual}, but `{expected}` would then need a negative `{name}`")
            }));
        }
        // What does not come out even is some extent that nobody has named.
        let value = if left.is_zero() { value } else { self.free_atom(None, Dim::Unknown) };
        self.values[extent.index()] = Some((value, origin));
        self.equations[number].done = true;
        Ok(true)
    }

    fn check(&mut self) -> Result<(), Conflict> {
        for number in 0..self.equations.len() {
            if self.equations[number].done {
                continue;
            }
            let Some(difference) = self.difference(number) else { continue };
            match difference.as_constant() {
                Some(0) => {}
                Some(_) => return Err(self.conflict(number)),
                None => self.assume(number),
            }
        }
        for (number, condition) in self.data.conditions.iter().enumerate() {
            if condition.relation != Relation::AtMost {
                continue;
            }
            let (Some(left), Some(right)) = (self.poly(condition.left), self.poly(condition.right)) else {
                continue;
            };
            if right.sub(&left).as_constant().is_some_and(|difference| difference < 0) {
                let message = format!("{} does not hold: {}", self.place(Origin::Condition(number)), {
                    let (left, right) = (left.as_constant(), right.as_constant());
                    format!("{} > {}", number_text(left), number_text(right))
                });
                let (value, other) = self.blamed(*condition);
                return Err(Conflict { message, value, other, condition: Some(number) });
            }
        }
        for index in &self.data.indices {
            let (Index::FloorDiv(_, divisor) | Index::Mod(_, divisor)) = index else { continue };
            let value = self.poly(*divisor).and_then(|divisor| divisor.as_constant());
            if value.is_some_and(|value| value < 1) {
                let message = format!("`{}` is 0 and divides", index_text(self.data, *divisor));
                return Err(Conflict { message, value: None, other: None, condition: None });
            }
        }
        Ok(())
    }

    fn conflict(&mut self, number: usize) -> Conflict {
        let Equation { left, origin, .. } = self.equations[number];
        let actual = self.right_text(number);
        let value = number_text(self.poly(left).and_then(|left| left.as_constant()));
        if let Origin::Condition(condition) = origin {
            let (blamed, other) = self.blamed(self.data.conditions[condition]);
            let message = format!("{} does not hold: {value} is not {actual}", self.place(origin));
            return Conflict { message, value: blamed, other, condition: Some(condition) };
        }
        // The extents in it, and who gave them their values.
        let mut others = Vec::new();
        self.mentioned(left, &mut others);
        let other = others.iter().find_map(|&extent| {
            let by = self.origin_of(extent)?;
            (by != origin).then_some((extent, by))
        });
        let own = self.place(origin);
        let message = match other {
            // Both are this one extent, whatever it is called.
            Some((extent, by)) if self.is_bare(left, extent) && self.gives_bare(by, extent) => {
                format!("{own} is {actual}, but {} is {value}", self.place(by))
            }
            Some((extent, by)) => {
                let name = &self.data.extents[extent.index()];
                let given = self.values[extent.index()].as_ref().and_then(|(value, _)| value.as_constant());
                format!(
                    "{own} is {actual}, but `{}` is {value}, since `{name}` is {} by {}",
                    index_text(self.data, left),
                    number_text(given),
                    self.place(by)
                )
            }
            None => format!("{own} is {actual}, not {value}"),
        };
        let other = other.and_then(|(_, by)| by.value());
        Conflict { other, ..origin.conflict(message) }
    }

    /// The values that gave the extents of a condition theirs.
    fn blamed(&self, condition: Condition) -> (Option<Value>, Option<Value>) {
        let mut extents = Vec::new();
        self.mentioned(condition.left, &mut extents);
        self.mentioned(condition.right, &mut extents);
        let mut values = extents.iter().filter_map(|&extent| self.origin_of(extent)?.value());
        let first = values.next();
        (first, values.find(|&value| Some(value) != first))
    }

    /// Whose equation gave an extent its value.
    fn origin_of(&self, extent: ExtentId) -> Option<Origin> {
        self.values[extent.index()].as_ref().map(|&(_, by)| by)
    }

    fn is_bare(&self, id: IndexId, extent: ExtentId) -> bool {
        self.data.index(id) == Index::Extent(extent)
    }

    /// Whether a dimension is said to be just this extent.
    fn gives_bare(&self, origin: Origin, extent: ExtentId) -> bool {
        origin.value().is_some()
            && self.equations.iter().any(|other| other.origin == origin && self.is_bare(other.left, extent))
    }

    fn assume(&mut self, number: usize) {
        let (left, right) = (
            self.size(self.equations[number].left),
            match &self.equations[number].right {
                Right::Actual(_, dim) => *dim,
                Right::Extent(extent) => {
                    let extent = *extent;
                    self.size(extent)
                }
            },
        );
        if left != right && left != Dim::Unknown && right != Dim::Unknown {
            self.assumed.push((left, right));
        }
    }

    fn mentioned(&self, id: IndexId, into: &mut Vec<ExtentId>) {
        match self.data.index(id) {
            Index::Extent(extent) => into.push(extent),
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Mul(a, b)
            | Index::FloorDiv(a, b)
            | Index::Mod(a, b) => {
                self.mentioned(a, into);
                self.mentioned(b, into);
            }
            Index::Const(_) | Index::Var(_) | Index::Data(_) => {}
        }
    }

    fn left_text(&self, number: usize) -> String {
        index_text(self.data, self.equations[number].left)
    }

    fn right_text(&mut self, number: usize) -> String {
        let poly = match &self.equations[number].right {
            Right::Actual(poly, _) => poly.as_constant(),
            Right::Extent(extent) => {
                let extent = *extent;
                self.poly(extent).and_then(|value| value.as_constant())
            }
        };
        number_text(poly)
    }

    fn place(&self, origin: Origin) -> String {
        match origin {
            Origin::Operand(number, dimension) => {
                format!("dimension {dimension} of {}", (self.names)(Value::Operand(number)))
            }
            Origin::Result(number, dimension) => {
                format!("dimension {dimension} of {}", (self.names)(Value::Result(number)))
            }
            Origin::Condition(number) => {
                format!("the condition `{}`", condition_text(self.data, self.data.conditions[number]))
            }
        }
    }

    /// The value of an extent expression; extents without a value stand for themselves, but not inside a division.
    fn poly(&mut self, id: IndexId) -> Option<Poly> {
        Some(match self.data.index(id) {
            Index::Const(value) => Poly::constant(i128::from(value)),
            Index::Extent(extent) => match &self.values[extent.index()] {
                Some((value, _)) => value.clone(),
                None => Poly::atom(self.atoms.id(Atom::Extent(extent))),
            },
            Index::Add(a, b) => self.poly(a)?.add(&self.poly(b)?),
            Index::Sub(a, b) => self.poly(a)?.sub(&self.poly(b)?),
            Index::Mul(a, b) => self.poly(a)?.mul(&self.poly(b)?),
            Index::FloorDiv(a, b) | Index::Mod(a, b) => {
                let (a, b) = (self.poly(a)?, self.poly(b)?);
                let is_open = |poly: &Poly, this: &Self| {
                    poly.atoms().iter().any(|&atom| matches!(this.atoms.get(atom), Some(Atom::Extent(_))))
                };
                if is_open(&a, self) || is_open(&b, self) {
                    return None;
                }
                let is_floor = matches!(self.data.index(id), Index::FloorDiv(..));
                if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
                    let value = match y {
                        // Reported by `check`.
                        ..1 => 0,
                        y if is_floor => x.div_euclid(y),
                        y => x.rem_euclid(y),
                    };
                    return Some(Poly::constant(value));
                }
                let (quotient, rest) = a.divide(&b);
                match (is_floor, rest.is_zero()) {
                    (true, true) => quotient,
                    (false, true) => Poly::default(),
                    (true, false) => quotient.add(&Poly::atom(self.atoms.id(Atom::Floor(rest, b)))),
                    (false, false) => Poly::atom(self.atoms.id(Atom::Mod(rest, b))),
                }
            }
            Index::Var(_) | Index::Data(_) => return None,
        })
    }

    /// The extent that an expression turned out to be.
    pub(super) fn size(&mut self, id: IndexId) -> Dim {
        match self.poly(id) {
            Some(poly) => self.dim(&poly),
            None => Dim::Unknown,
        }
    }

    fn dim(&self, poly: &Poly) -> Dim {
        if let Some(value) = poly.as_constant() {
            return u64::try_from(value).map_or(Dim::Unknown, Dim::Static);
        }
        match poly.as_atom().and_then(|atom| self.atoms.get(atom)) {
            Some(Atom::Free(number)) => self.free[*number as usize],
            _ => Dim::Unknown,
        }
    }

    pub(super) fn extents(&self) -> Vec<Dim> {
        self.values
            .iter()
            .map(|value| value.as_ref().map_or(Dim::Unknown, |(poly, _)| self.dim(poly)))
            .collect()
    }

    pub(super) fn unsolved(&self) -> Vec<&'d str> {
        let names = self.data.extents.iter().zip(&self.values);
        names.filter(|(_, value)| value.is_none()).map(|(name, _)| &**name).collect()
    }

    pub(super) fn assumptions(&self) -> Vec<(Dim, Dim)> {
        self.assumed.clone()
    }
}

fn number_text(value: Option<i128>) -> String {
    value.map_or("unknown".to_owned(), |value| value.to_string())
}

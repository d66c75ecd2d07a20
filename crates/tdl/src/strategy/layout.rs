//! What a worker needs of each operand, symbolically: the split variable lies in `block * [s, s + l)` with `s` and `l`
//! unknown, every access is bounded by polynomials in them, and their factors tell the layout.

use super::axes::Axis;
use super::{Amount, DimLayout, Facts, OperandLayout};
use crate::description::*;
use crate::poly::{Atom, AtomId, Poly};
use crate::region::gcd;
use crate::scalar::{BinaryOp, Comparison};

/// The ends of an access in one dimension, and from one element to the next; `None` if they are not known.
type Ends = Option<Known>;

#[derive(Clone, Debug)]
struct Known {
    low: Poly,
    high: Poly,
    stride: i64,
}

/// The size of a block of the variable, and the layouts of all operands.
pub(super) fn operands(data: &Data, axis: &Axis) -> (Amount, Vec<OperandLayout>) {
    let mut facts = Facts::new(data);
    let block = block(&mut facts, axis);
    let start = facts.fresh(0, 0);
    let length = facts.fresh(1, 1);
    let (low, high) = (block.mul(&start), block.mul(&start.add(&length)).offset(-1));
    let extent = facts.poly(data.variable(axis.var).extent);
    facts.assume(extent.offset(-1).sub(&high));
    let mut walk = Walk {
        axis,
        share: (low, high),
        operands: vec![None; data.parameters.len()],
        lets: vec![None; data.lets.len()],
        masked: vec![Vec::new(); data.parameters.len()],
        once: false,
        shared: Vec::new(),
    };
    // What is needed is told in atoms, which must mean the same in all definitions.
    for result in &data.results {
        let mut inside = facts.clone();
        result.vars.iter().for_each(|&var| walk.bind(var, var == axis.var, &mut inside));
        walk.scalar(result.body, &mut inside, false);
        facts.atoms = inside.atoms;
    }
    for (number, item) in data.lets.iter().enumerate().rev() {
        let Some(needed) = walk.lets[number].clone() else { continue };
        let mut inside = facts.clone();
        for (&var, ends) in item.vars.iter().zip(needed) {
            inside.bind(var);
            if let Some(Known { low, high, .. }) = ends {
                inside.bind_between(var, low, high);
            }
        }
        walk.once = !walk.shared.contains(&Source::Let(number as u32));
        walk.scalar(item.body, &mut inside, false);
        facts.atoms = inside.atoms;
    }
    let share = Share { start: atom(&start), length: atom(&length), block: block.clone(), extent };
    let layouts = data
        .parameters
        .iter()
        .enumerate()
        .map(|(number, parameter)| {
            let dims = parameter.dims.iter().enumerate().map(|(dimension, &size)| {
                let ends = walk.operands[number].as_ref().and_then(|dims| dims.get(dimension));
                let layout = ends.map_or(DimLayout::Unread, |ends| share.layout(ends, size, &mut facts));
                let is_masked = walk.masked[number].contains(&dimension);
                if is_masked && layout == DimLayout::Split { DimLayout::Masked } else { layout }
            });
            let is_shared = walk.shared.contains(&Source::Operand(number as u32));
            OperandLayout { dims: dims.collect(), first_only: walk.operands[number].is_some() && !is_shared }
        })
        .collect();
    (Amount::from_poly(&block, &facts.atoms).unwrap_or_else(|| Amount::constant(1)), layouts)
}

fn atom(poly: &Poly) -> AtomId {
    poly.as_atom().unwrap_or(AtomId::MAX)
}

/// The smallest share of the variable such that quotients and remainders in which it occurs come out even.
fn block(facts: &mut Facts<'_>, axis: &Axis) -> Poly {
    let data = facts.data;
    let mut block = Poly::constant(1);
    let var = facts.atoms.id(Atom::Var(axis.var));
    for &index in &data.indices {
        let (Index::FloorDiv(a, b) | Index::Mod(a, b)) = index else { continue };
        let (a, b) = (facts.poly(a), facts.poly(b));
        let Some((factor, _)) = a.split(var).filter(|(factor, _)| !factor.is_zero()) else { continue };
        let own = match (factor.as_constant(), b.as_constant()) {
            (Some(factor), Some(divisor)) => {
                let (factor, divisor) = (factor.unsigned_abs() as i64, divisor.max(1) as i64);
                Poly::constant(i128::from(divisor / gcd(factor, divisor).max(1)))
            }
            _ => {
                let ((whole, left), (inverse, rest)) = (factor.divide(&b), b.divide(&factor));
                match (left.is_zero() && !whole.is_zero(), rest.is_zero() && !inverse.is_zero()) {
                    (true, _) => Poly::constant(1),
                    (_, true) => inverse,
                    _ => continue,
                }
            }
        };
        block = match (block.as_constant(), own.as_constant()) {
            (Some(a), Some(b)) => {
                let (a, b) = (a as i64, b as i64);
                Poly::constant(i128::from(a / gcd(a, b).max(1)) * i128::from(b))
            }
            (Some(1), None) => own,
            _ if own.divide(&block).1.is_zero() => own,
            _ => block,
        };
    }
    block
}

struct Walk<'a> {
    axis: &'a Axis,
    share: (Poly, Poly),
    operands: Vec<Option<Vec<Ends>>>,
    lets: Vec<Option<Vec<Ends>>>,
    /// Dimensions that are indexed by the variable where other data equals it.
    masked: Vec<Vec<usize>>,
    /// Whether this is an addend, which only one worker needs.
    once: bool,
    /// What all workers read.
    shared: Vec<Source>,
}

impl Walk<'_> {
    fn bind(&self, var: VarId, is_split: bool, facts: &mut Facts<'_>) {
        facts.bind(var);
        if is_split {
            facts.bind_between(var, self.share.0.clone(), self.share.1.clone());
        }
    }

    fn scalar(&mut self, id: ScalarId, facts: &mut Facts<'_>, selected: bool) {
        let data = facts.data;
        match data.scalar(id) {
            Scalar::Literal(_) | Scalar::Carried(..) => {}
            Scalar::Index(index) => self.index(*index, facts, selected),
            Scalar::Read(source, indices) => {
                self.access(*source, indices.iter().copied().map(Some), facts, selected);
            }
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => self.scalar(*a, facts, selected),
            Scalar::Binary(_, a, b) => {
                let outside = self.once;
                for part in [*a, *b] {
                    self.once = outside || self.axis.split.addends.contains(&(id, part));
                    self.scalar(part, facts, selected);
                }
                self.once = outside;
            }
            Scalar::Compare(_, a, b) => {
                self.scalar(*a, facts, selected);
                self.scalar(*b, facts, selected);
            }
            Scalar::Select(condition, a, b) => {
                self.scalar(*condition, facts, selected);
                let selects = selected || self.selects(*condition, data);
                self.scalar(*a, facts, selects);
                self.scalar(*b, facts, selected);
            }
            Scalar::Reduce(id, _) => {
                let reduction = data.reduction(*id);
                let mut inside = facts.clone();
                for &var in &reduction.vars {
                    let is_split = var == self.axis.var && self.axis.split.reductions.contains(id);
                    self.bind(var, is_split, &mut inside);
                }
                reduction.bodies.iter().for_each(|&body| self.scalar(body, &mut inside, selected));
                facts.atoms = inside.atoms;
            }
            Scalar::Opaque(call, indices) => {
                for slice in &data.opaque(*call).arguments {
                    self.access(slice.source, slice.dims.iter().copied(), facts, selected);
                }
                indices.iter().for_each(|&index| self.index(index, facts, selected));
            }
        }
    }

    /// Whether a condition says that an element equals the split variable.
    fn selects(&self, condition: ScalarId, data: &Data) -> bool {
        let is_var = |id: ScalarId| {
            matches!(data.scalar(id), Scalar::Index(index)
                if data.index(*index) == Index::Var(self.axis.var))
        };
        match *data.scalar(condition) {
            Scalar::Binary(BinaryOp::And, a, b) => self.selects(a, data) || self.selects(b, data),
            Scalar::Compare(Comparison::Eq, a, b) => {
                let is_element = |id: ScalarId| match data.scalar(id) {
                    Scalar::Index(index) => {
                        crate::walk::any_index_in(data, *index, &|part| matches!(part, Index::Data(_)))
                    }
                    _ => true,
                };
                (is_var(a) && is_element(b)) || (is_var(b) && is_element(a))
            }
            _ => false,
        }
    }

    fn index(&mut self, id: IndexId, facts: &mut Facts<'_>, selected: bool) {
        match facts.data.index(id) {
            Index::Const(_) | Index::Extent(_) | Index::Var(_) => {}
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Mul(a, b)
            | Index::FloorDiv(a, b)
            | Index::Mod(a, b) => {
                self.index(a, facts, selected);
                self.index(b, facts, selected);
            }
            Index::Data(scalar) => self.scalar(scalar, facts, selected),
        }
    }

    fn access(
        &mut self,
        source: Source,
        slots: impl Iterator<Item = Option<IndexId>>,
        facts: &mut Facts<'_>,
        selected: bool,
    ) {
        let mut all = Vec::new();
        for (dimension, (slot, &size)) in slots.zip(&facts.data.dims(source)).enumerate() {
            let Some(index) = slot else {
                let high = facts.poly(size).offset(-1);
                all.push(Some(Known { low: Poly::default(), high, stride: 1 }));
                continue;
            };
            self.index(index, facts, selected);
            if let (Source::Operand(number), true) = (source, selected)
                && facts.data.index(index) == Index::Var(self.axis.var)
            {
                self.masked[number as usize].push(dimension);
            }
            all.push(ends(index, size, facts));
        }
        if !self.once && !self.shared.contains(&source) {
            self.shared.push(source);
        }
        let need = match source {
            Source::Operand(number) => &mut self.operands[number as usize],
            Source::Let(number) => &mut self.lets[number as usize],
        };
        *need = Some(match need.take() {
            Some(before) => before.into_iter().zip(all).map(|(a, b)| hull(a, b, facts)).collect(),
            None => all,
        });
    }
}

fn ends(index: IndexId, size: IndexId, facts: &mut Facts<'_>) -> Ends {
    let poly = facts.poly(index);
    let high = facts.poly(size).offset(-1);
    let whole = Known { low: Poly::default(), high, stride: 1 };
    let mentions_data = crate::walk::any_index_in(facts.data, index, &|part| matches!(part, Index::Data(_)));
    if mentions_data {
        // Depends on elements: any of them.
        return Some(whole);
    }
    let mut stride = 0;
    for atom in poly.atoms() {
        let is_extent = matches!(facts.atoms.get(atom), Some(Atom::Extent(_) | Atom::Free(_)));
        if is_extent {
            continue;
        }
        let factor = poly.split(atom).and_then(|(factor, _)| factor.as_constant());
        stride = gcd(stride, factor.map_or(1, |factor| factor.unsigned_abs() as i64));
    }
    match facts.ends(&poly) {
        Some((low, high)) => Some(Known { low, high, stride: stride.max(1) }),
        // The same for all workers, whatever it is.
        None if !facts.depends_on_share(&poly) => Some(whole),
        None => None,
    }
}

fn hull(a: Ends, b: Ends, facts: &mut Facts<'_>) -> Ends {
    let Known { low: low_a, high: high_a, stride: stride_a } = a?;
    let Known { low: low_b, high: high_b, stride: stride_b } = b?;
    let distance = low_b.sub(&low_a).as_constant().map_or(1, |d| d.unsigned_abs() as i64);
    let stride = gcd(gcd(stride_a, stride_b), distance);
    let mut least = |a: Poly, b: Poly| {
        if facts.proves(&b.sub(&a)) {
            return Some(a);
        }
        facts.proves(&a.sub(&b)).then_some(b)
    };
    let (low, high) = (least(low_a, low_b), least(high_a.scale(-1), high_b.scale(-1)));
    Some(Known { low: low?, high: high?.scale(-1), stride })
}

/// The share in terms of which layouts are told.
struct Share {
    start: AtomId,
    length: AtomId,
    block: Poly,
    extent: Poly,
}

impl Share {
    fn layout(&self, ends: &Ends, size: IndexId, facts: &mut Facts<'_>) -> DimLayout {
        let Some(Known { low, high, stride }) = ends else { return DimLayout::Irregular };
        let depends = |poly: &Poly| poly.mentions(self.start) || poly.mentions(self.length);
        let above = high.offset(1);
        if !depends(low) && !depends(&above) {
            return DimLayout::Whole;
        }
        let size = facts.poly(size);
        self.forward(low, &above, &size, *stride, facts)
            .or_else(|| self.backward(low, &above, &size))
            .unwrap_or(DimLayout::Irregular)
    }

    /// `[scale * s - before, scale * (s + l) + after)`
    fn forward(
        &self,
        low: &Poly,
        above: &Poly,
        size: &Poly,
        stride: i64,
        facts: &mut Facts<'_>,
    ) -> Option<DimLayout> {
        let (scale, before) = low.split(self.start)?;
        let (scale_above, rest) = above.split(self.start)?;
        let (scale_length, after) = rest.split(self.length)?;
        let same = scale == scale_above && scale == scale_length;
        let is_free = |poly: &Poly| !poly.mentions(self.start) && !poly.mentions(self.length);
        if !same || !is_free(&before) || !is_free(&scale) || scale.is_zero() {
            return None;
        }
        let amount = |poly: &Poly, facts: &Facts<'_>| Amount::from_poly(poly, &facts.atoms);
        let aligned = size.mul(&self.block).sub(&scale.mul(&self.extent)).is_zero();
        if before.is_zero() && after.is_zero() && aligned && stride == 1 {
            let is_one = scale.as_constant() == Some(1);
            return Some(if is_one { DimLayout::Split } else { DimLayout::Blocks(amount(&scale, facts)?) });
        }
        facts.proves(&scale).then_some(())?;
        Some(DimLayout::Halo {
            scale: amount(&scale, facts)?,
            low: amount(&before.scale(-1), facts)?,
            high: amount(&after, facts)?,
            stride: stride as u64,
        })
    }

    /// `[size - (s + l), size - s)`
    fn backward(&self, low: &Poly, above: &Poly, size: &Poly) -> Option<DimLayout> {
        let (scale, rest) = low.split(self.start)?;
        let (scale_length, before) = rest.split(self.length)?;
        let (scale_above, after) = above.split(self.start)?;
        let is_mirrored =
            [&scale, &scale_length, &scale_above].into_iter().all(|factor| *factor == self.block.scale(-1));
        (is_mirrored && before == *size && after == *size && *size == self.extent)
            .then_some(DimLayout::Reversed)
    }
}

//! What a worker needs of each operand, symbolically: the split variable lies in `block * [s, s + l)` with `s` and `l`
//! unknown, every access is bounded by polynomials in them, and their factors tell the layout.

use tofu_ir::EntityId;

use super::axes::Axis;
use super::{Amount, DimLayout, Facts, OperandLayout};
use crate::description::*;
use crate::poly::{Atom, AtomId, Poly};
use crate::region::gcd;
use crate::scalar::{BinaryOp, Comparison};
use crate::walk::{any_index_in, index_mentions_var};

/// What is needed of a dimension.
#[derive(Clone, PartialEq, Debug)]
enum Need {
    /// All of it, for all workers.
    Whole,
    /// What this index gives, the same for all workers.
    Part(IndexId),
    Between(Box<Ends>),
    /// Depends on the share, in a way that is not known.
    Unknown,
}

/// The least and the greatest index, and from one to the next.
#[derive(Clone, PartialEq, Debug)]
struct Ends {
    low: Poly,
    high: Poly,
    stride: i64,
}

impl Need {
    fn between(low: Poly, high: Poly, stride: i64) -> Need {
        Need::Between(Box::new(Ends { low, high, stride }))
    }
}

/// The size of a block of the variable, and the layouts of all operands. `facts` are those of the description.
pub(super) fn operands(facts: &Facts<'_>, axis: &Axis) -> (Amount, Vec<OperandLayout>) {
    let (mut facts, data) = (facts.clone(), facts.data);
    let block = block(&mut facts, axis);
    let start = facts.fresh(0, 0);
    let length = facts.fresh(1, 1);
    let (low, high) = (block.mul(&start), block.mul(&start.add(&length)).offset(-1));
    let extent = facts.poly(data.variable(axis.var).extent);
    facts.assume(extent.offset(-1).sub(&high));
    let mut walk = Walk {
        axis,
        data,
        facts: &facts,
        share: Need::between(low, high, 1),
        scope: Vec::new(),
        operands: vec![None; data.parameters.len()],
        lets: vec![None; data.lets.len()],
        masked: vec![Vec::new(); data.parameters.len()],
        once: false,
        shared: Vec::new(),
    };
    for result in &data.results {
        let need = |&var| (var, if var == axis.var { walk.share.clone() } else { Need::Whole });
        walk.scope = result.vars.iter().map(need).collect();
        walk.scalar(result.body, false);
    }
    for (number, item) in data.lets.iter().enumerate().rev() {
        let Some(needed) = walk.lets[number].clone() else { continue };
        // Of what is not known, all is no less.
        let need = |need| if let Need::Between(_) = need { need } else { Need::Whole };
        walk.scope = item.vars.iter().copied().zip(needed.into_iter().map(need)).collect();
        walk.once = !walk.shared.contains(&Source::Let(number as u32));
        walk.scalar(item.body, false);
    }
    let Walk { operands, masked, shared, .. } = walk;
    let share = Share { start: atom(&start), length: atom(&length), block: block.clone(), extent };
    let layouts = data
        .parameters
        .iter()
        .enumerate()
        .map(|(number, parameter)| {
            let dims = parameter.dims.iter().enumerate().map(|(dimension, &size)| {
                let need = operands[number].as_ref().and_then(|dims| dims.get(dimension));
                let layout = need.map_or(DimLayout::Unread, |need| share.layout(need, size, &mut facts));
                let is_masked = masked[number].contains(&dimension);
                if is_masked && layout == DimLayout::Split { DimLayout::Masked } else { layout }
            });
            let dims = dims.collect();
            let is_shared = shared.contains(&Source::Operand(number as u32));
            OperandLayout { dims, first_only: operands[number].is_some() && !is_shared }
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

struct Walk<'a, 'd> {
    axis: &'a Axis,
    data: &'d Data,
    facts: &'a Facts<'d>,
    share: Need,
    /// The variables in scope, and the values that they have.
    scope: Vec<(VarId, Need)>,
    operands: Vec<Option<Vec<Need>>>,
    lets: Vec<Option<Vec<Need>>>,
    /// Dimensions that are indexed by the variable where other data equals it.
    masked: Vec<Vec<usize>>,
    /// Whether this is an addend, which only one worker needs.
    once: bool,
    /// What all workers read.
    shared: Vec<Source>,
}

impl Walk<'_, '_> {
    fn scalar(&mut self, id: ScalarId, selected: bool) {
        let data = self.data;
        match data.scalar(id) {
            Scalar::Literal(_) | Scalar::Carried(..) => {}
            Scalar::Index(index) => self.index(*index, selected),
            Scalar::Read(source, indices) => {
                self.access(*source, indices.iter().copied().map(Some), selected);
            }
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => self.scalar(*a, selected),
            Scalar::Binary(_, a, b) => {
                let outside = self.once;
                for part in [*a, *b] {
                    self.once = outside || self.axis.split.addends.contains(&(id, part));
                    self.scalar(part, selected);
                }
                self.once = outside;
            }
            Scalar::Compare(_, a, b) => {
                self.scalar(*a, selected);
                self.scalar(*b, selected);
            }
            Scalar::Select(condition, a, b) => {
                self.scalar(*condition, selected);
                let selects = selected || self.selects(*condition, data);
                self.scalar(*a, selects);
                self.scalar(*b, selected);
            }
            Scalar::Reduce(id, _) => {
                let reduction = data.reduction(*id);
                let outer = self.scope.len();
                for &var in &reduction.vars {
                    let is_split = var == self.axis.var && self.axis.split.reductions.contains(id);
                    self.scope.push((var, if is_split { self.share.clone() } else { Need::Whole }));
                }
                reduction.bodies.iter().for_each(|&body| self.scalar(body, selected));
                self.scope.truncate(outer);
            }
            Scalar::Opaque(call, indices) => {
                for slice in &data.opaque(*call).arguments {
                    self.access(slice.source, slice.dims.iter().copied(), selected);
                }
                indices.iter().for_each(|&index| self.index(index, selected));
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
                let on_elements = |part: Index| matches!(part, Index::Data(_));
                let is_element = |id: ScalarId| match data.scalar(id) {
                    Scalar::Index(index) => any_index_in(data, *index, &on_elements),
                    _ => true,
                };
                (is_var(a) && is_element(b)) || (is_var(b) && is_element(a))
            }
            _ => false,
        }
    }

    fn index(&mut self, id: IndexId, selected: bool) {
        match self.data.index(id) {
            Index::Const(_) | Index::Extent(_) | Index::Var(_) => {}
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Mul(a, b)
            | Index::FloorDiv(a, b)
            | Index::Mod(a, b) => {
                self.index(a, selected);
                self.index(b, selected);
            }
            Index::Data(scalar) => self.scalar(scalar, selected),
        }
    }

    fn access(&mut self, source: Source, slots: impl Iterator<Item = Option<IndexId>>, selected: bool) {
        let mut all = Vec::new();
        for (dimension, (slot, &size)) in slots.zip(&self.data.dims(source)).enumerate() {
            let Some(index) = slot else {
                all.push(Need::Whole);
                continue;
            };
            self.index(index, selected);
            if let (Source::Operand(number), true) = (source, selected)
                && self.data.index(index) == Index::Var(self.axis.var)
            {
                self.masked[number as usize].push(dimension);
            }
            all.push(self.need(index, size));
        }
        if !self.once && !self.shared.contains(&source) {
            self.shared.push(source);
        }
        let known = match source {
            Source::Operand(number) => &mut self.operands[number as usize],
            Source::Let(number) => &mut self.lets[number as usize],
        };
        if let Some(before) = known.take() {
            all = before.into_iter().zip(all).map(|(a, b)| self.hull(a, b)).collect();
        }
        match source {
            Source::Operand(number) => self.operands[number as usize] = Some(all),
            Source::Let(number) => self.lets[number as usize] = Some(all),
        }
    }

    /// The facts of the description with those of the variables in scope.
    fn facts_here(&self) -> Facts<'_> {
        let mut facts = self.facts.clone();
        for (var, need) in &self.scope {
            facts.bind(*var);
            if let Need::Between(ends) = need {
                facts.bind_between(*var, ends.low.clone(), ends.high.clone());
            }
        }
        facts
    }

    fn need(&self, index: IndexId, size: IndexId) -> Need {
        let is_shared = |var: VarId| {
            self.scope.iter().any(|(other, need)| *other == var && matches!(need, Need::Between(_)))
        };
        let mentions = |wanted: &dyn Fn(Index) -> bool| any_index_in(self.data, index, wanted);
        if mentions(&|part| matches!(part, Index::Data(_))) {
            // Depends on elements: any of them.
            return Need::Whole;
        }
        if let Index::Var(var) = self.data.index(index)
            && let Some((_, need)) = self.scope.iter().find(|(other, _)| *other == var)
            && (*need != Need::Whole || self.data.variable(var).extent == size)
        {
            return need.clone();
        }
        if !mentions(&|part| matches!(part, Index::Var(var) if is_shared(var))) {
            return Need::Part(index);
        }
        ends(index, self.facts_here())
    }

    /// What a part that is the same for all workers is, all variables having their whole ranges.
    fn constant(&self, need: Need) -> Need {
        let Need::Part(index) = need else { return need };
        let mut facts = self.facts.clone();
        let all = (0..self.data.variables.len()).map(VarId::from_index);
        all.filter(|&var| index_mentions_var(self.data, index, var)).for_each(|var| facts.bind(var));
        ends(index, facts)
    }

    /// What is needed where both are.
    fn hull(&self, a: Need, b: Need) -> Need {
        if a == b {
            return a;
        }
        let (a, b) = match (self.constant(a), self.constant(b)) {
            (Need::Between(a), Need::Between(b)) => (a, b),
            (Need::Whole, _) | (_, Need::Whole) => return Need::Whole,
            _ => return Need::Unknown,
        };
        let distance = b.low.sub(&a.low).as_constant().map_or(1, |d| d.unsigned_abs() as i64);
        let stride = gcd(gcd(a.stride, b.stride), distance);
        let mut facts = self.facts_here();
        let mut least = |a: Poly, b: Poly| {
            if facts.proves(&b.sub(&a)) {
                return Some(a);
            }
            facts.proves(&a.sub(&b)).then_some(b)
        };
        let (low, high) = (least(a.low, b.low), least(a.high.scale(-1), b.high.scale(-1)));
        match (low, high) {
            (Some(low), Some(high)) => Need::between(low, high.scale(-1), stride),
            _ => Need::Unknown,
        }
    }
}

/// What an index gives, in terms of the share.
fn ends(index: IndexId, mut facts: Facts<'_>) -> Need {
    let poly = facts.poly(index);
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
        Some((low, high)) => Need::between(low, high, stride.max(1)),
        // The share cancels out.
        None if !facts.depends_on_share(&poly) => Need::Whole,
        None => Need::Unknown,
    }
}

/// The share in terms of which layouts are told.
struct Share {
    start: AtomId,
    length: AtomId,
    block: Poly,
    extent: Poly,
}

impl Share {
    fn layout(&self, need: &Need, size: IndexId, facts: &mut Facts<'_>) -> DimLayout {
        let Ends { low, high, stride } = &**match need {
            Need::Whole | Need::Part(_) => return DimLayout::Whole,
            Need::Between(ends) => ends,
            Need::Unknown => return DimLayout::Irregular,
        };
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

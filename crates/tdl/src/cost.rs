//! What an op costs, for actual extents: the whole op or one worker's part.

use tofu_ir::ElementType;

use crate::description::*;
use crate::evaluate::{Part, eval_extent};
use crate::opaque::OpaqueRegistry;
use crate::region::{needs, region, signed};
use crate::shape::resolve;
use crate::walk::{index_mentions_var, single_term};

/// What an op costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Operations on elements, in FLOP: each arithmetic operation and function counts as one, on integers too; moving
    /// and converting elements is free, and of the branches of a condition the dearer one counts.
    pub flops: u64,
    /// Bytes that are read of the operands: each element of their regions once.
    pub bytes_read: u64,
    /// Bytes that are written to the results.
    pub bytes_written: u64,
}

/// The cost of a part of the results. The extents are those of the description and the types those of its type
/// parameters, both in its order.
pub fn cost(
    description: &Description,
    extents: &[u64],
    types: &[ElementType],
    part: &Part,
    registry: &OpaqueRegistry,
) -> Cost {
    let data = description.data();
    let bytes = |elements: u64, ty: TypeRef| {
        let bits = u128::from(elements) * u128::from(resolve(ty, types).bits());
        u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
    };
    let extents = signed(extents);
    let needs = needs(data, &extents, part);
    let mut cost = Cost::default();
    for (need, parameter) in needs.operands.iter().zip(&data.parameters) {
        let elements = region(need.as_deref(), parameter.dims.len()).len();
        cost.bytes_read = cost.bytes_read.saturating_add(bytes(elements, parameter.ty));
    }
    let mut counter = Counter { data, extents, types, part, registry, calls: Vec::new() };
    let share = |var| part.outputs.iter().find(|(other, ..)| *other == var).map(|share| share.2);
    for result in &data.results {
        let ranges = result.vars.iter().map(|&var| (var, counter.points(&[var], share))).collect();
        let (elements, flops) = counter.definition(ranges, result.body);
        cost.bytes_written = cost.bytes_written.saturating_add(bytes(elements, result.ty));
        cost.flops = cost.flops.saturating_add(flops);
    }
    for carried in &part.carried {
        let elements = counter.points(&data.results[carried.result].vars, share);
        let own = bytes(elements, carried.element(data));
        cost.bytes_written = cost.bytes_written.saturating_add(own);
    }
    for (item, need) in data.lets.iter().zip(&needs.lets) {
        let Some(need) = need else { continue };
        let counts = need.iter().map(|interval| interval.count() as u64);
        let (_, flops) = counter.definition(item.vars.iter().copied().zip(counts).collect(), item.body);
        cost.flops = cost.flops.saturating_add(flops);
    }
    cost.flops = cost.flops.saturating_add(counter.hidden());
    cost
}

struct Counter<'a> {
    data: &'a Data,
    extents: Vec<i64>,
    types: &'a [ElementType],
    part: &'a Part,
    registry: &'a OpaqueRegistry,
    /// How often opaque functions are called: once for all elements that take the same arguments, whichever result
    /// they are of.
    calls: Vec<(&'a OpaqueCall, u64)>,
}

impl<'a> Counter<'a> {
    /// The elements of a definition over these variables, and the operations outside of opaque functions.
    fn definition(&mut self, mut ranges: Vec<(VarId, u64)>, body: ScalarId) -> (u64, u64) {
        let elements = ranges.iter().fold(1u64, |points, &(_, count)| points.saturating_mul(count));
        if elements > 0 && !self.data.opaques.is_empty() {
            self.note_calls(body, &mut ranges);
        }
        (elements, elements.saturating_mul(self.scalar(body)))
    }

    fn extent(&self, id: IndexId) -> u64 {
        eval_extent(self.data, id, &self.extents).map_or(0, |extent| extent.max(0) as u64)
    }

    /// How many values some variables have together.
    fn points(&self, vars: &[VarId], share: impl Fn(VarId) -> Option<u64>) -> u64 {
        vars.iter().fold(1u64, |points, &var| {
            let extent = self.extent(self.data.variable(var).extent);
            points.saturating_mul(share(var).unwrap_or(extent).min(extent))
        })
    }

    /// The number of values of a variable of a reduction in its share, if it has one.
    fn share(&self, reduction: ReductionId, var: VarId) -> Option<u64> {
        let shares = self.part.reductions.iter();
        shares.filter(|share| (share.0, share.1) == (reduction, var)).map(|share| share.3).next()
    }

    /// Whether operations on a type are counted: indices and truth values are the machinery around elements.
    fn counts(&self, id: ScalarId) -> u64 {
        let element = resolve(self.data.scalar_type(id), self.types);
        u64::from(!matches!(element, ElementType::Index | ElementType::I1))
    }

    /// Operations for one element.
    fn scalar(&self, id: ScalarId) -> u64 {
        let data = self.data;
        match data.scalar(id) {
            Scalar::Literal(_) | Scalar::Carried(..) | Scalar::Index(_) | Scalar::Opaque(..) => 0,
            Scalar::Read(_, indices) => {
                indices.iter().fold(0, |sum, &index| sum.saturating_add(self.index(index)))
            }
            Scalar::Unary(op, a) => (op.flops() * self.counts(*a)).saturating_add(self.scalar(*a)),
            Scalar::Binary(op, a, b) => {
                let kept = || self.part.kept(id, [*a, *b]);
                // What is left of a function without one of its operands is the other one.
                let own = if kept().count() == 2 { op.flops() * self.counts(*a) } else { 0 };
                kept().fold(own, |sum, operand| sum.saturating_add(self.scalar(operand)))
            }
            Scalar::Compare(_, a, b) => {
                self.counts(*a).saturating_add(self.scalar(*a)).saturating_add(self.scalar(*b))
            }
            Scalar::Select(condition, a, b) => {
                let branches = self.part.kept(id, [*a, *b]).map(|branch| self.scalar(branch));
                self.scalar(*condition).saturating_add(branches.max().unwrap_or(0))
            }
            Scalar::Convert(a) | Scalar::Bitcast(a) => self.scalar(*a),
            Scalar::Reduce(_, component) if *component > 0 => 0,
            Scalar::Reduce(id, _) => {
                let reduction = data.reduction(*id);
                if single_term(data, reduction).is_some() {
                    let Some(Scalar::Select(_, term, _)) =
                        reduction.bodies.first().map(|&body| data.scalar(body))
                    else {
                        return 0;
                    };
                    return self.scalar(*term);
                }
                let points = self.points(&reduction.vars, |var| self.share(*id, var));
                let bodies =
                    reduction.bodies.iter().fold(0u64, |sum, &body| sum.saturating_add(self.scalar(body)));
                let combine = match reduction.reducer {
                    Reducer::Custom(combiner) => data
                        .combiner(combiner)
                        .bodies
                        .iter()
                        .fold(0u64, |sum, &body| sum.saturating_add(self.scalar(body))),
                    _ => reduction.bodies.first().map_or(0, |&body| self.counts(body)),
                };
                points.saturating_mul(bodies.saturating_add(combine))
            }
        }
    }

    fn index(&self, id: IndexId) -> u64 {
        match self.data.index(id) {
            Index::Data(scalar) => self.scalar(scalar),
            Index::Add(a, b) | Index::Sub(a, b) | Index::Mul(a, b) => {
                self.index(a).saturating_add(self.index(b))
            }
            Index::FloorDiv(a, _) | Index::Mod(a, _) => self.index(a),
            Index::Const(_) | Index::Extent(_) | Index::Var(_) => 0,
        }
    }

    /// Notes the calls of opaque functions in an expression, whose variables have so many values.
    fn note_calls(&mut self, id: ScalarId, ranges: &mut Vec<(VarId, u64)>) {
        let data = self.data;
        match data.scalar(id) {
            Scalar::Literal(_) | Scalar::Carried(..) => {}
            Scalar::Index(index) => self.note_calls_in_index(*index, ranges),
            Scalar::Read(_, indices) => {
                indices.iter().for_each(|&index| self.note_calls_in_index(index, ranges));
            }
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => self.note_calls(*a, ranges),
            Scalar::Binary(_, a, b) => {
                self.part.kept(id, [*a, *b]).for_each(|operand| self.note_calls(operand, ranges));
            }
            Scalar::Compare(_, a, b) => [*a, *b].into_iter().for_each(|part| self.note_calls(part, ranges)),
            Scalar::Select(a, b, c) => {
                self.note_calls(*a, ranges);
                self.part.kept(id, [*b, *c]).for_each(|branch| self.note_calls(branch, ranges));
            }
            Scalar::Reduce(number, _) => {
                let outer = ranges.len();
                let reduction = data.reduction(*number);
                for &var in &reduction.vars {
                    ranges.push((var, self.points(&[var], |var| self.share(*number, var))));
                }
                reduction.bodies.iter().for_each(|&body| self.note_calls(body, ranges));
                ranges.truncate(outer);
            }
            Scalar::Opaque(call, indices) => {
                let call = data.opaque(*call);
                let slots = || call.arguments.iter().flat_map(|slice| slice.dims.iter().flatten());
                slots().chain(indices).for_each(|&index| self.note_calls_in_index(index, ranges));
                let is_argument = |var: VarId| slots().any(|&index| index_mentions_var(data, index, var));
                let count = (ranges.iter().filter(|(var, _)| is_argument(*var)))
                    .fold(1u64, |points, &(_, count)| points.saturating_mul(count));
                let alike = |other: &OpaqueCall| {
                    (&other.function, &other.constants, other.comparator, &other.arguments)
                        == (&call.function, &call.constants, call.comparator, &call.arguments)
                };
                match self.calls.iter_mut().find(|(other, _)| alike(other)) {
                    Some((_, known)) => *known = count.max(*known),
                    None => self.calls.push((call, count)),
                }
            }
        }
    }

    fn note_calls_in_index(&mut self, id: IndexId, ranges: &mut Vec<(VarId, u64)>) {
        match self.data.index(id) {
            Index::Const(_) | Index::Extent(_) | Index::Var(_) => {}
            Index::Add(a, b) | Index::Sub(a, b) | Index::Mul(a, b) => {
                self.note_calls_in_index(a, ranges);
                self.note_calls_in_index(b, ranges);
            }
            Index::FloorDiv(a, _) | Index::Mod(a, _) => self.note_calls_in_index(a, ranges),
            Index::Data(scalar) => self.note_calls(scalar, ranges),
        }
    }

    /// Operations of the opaque functions that are called.
    fn hidden(&self) -> u64 {
        self.calls.iter().fold(0u64, |sum, (call, count)| {
            let Some(function) = self.registry.get(&call.function) else { return sum };
            let dims: Vec<Vec<u64>> = call
                .arguments
                .iter()
                .map(|slice| {
                    let dims = self.data.dims(slice.source);
                    let whole = slice.dims.iter().zip(dims).filter(|(slot, _)| slot.is_none());
                    whole.map(|(_, extent)| self.extent(extent)).collect()
                })
                .collect();
            sum.saturating_add(count.saturating_mul((function.flops)(&dims, &call.constants)))
        })
    }
}

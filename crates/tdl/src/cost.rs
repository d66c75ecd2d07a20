//! What an op costs, for actual extents: the whole op or one worker's part.

use tofu_ir::{ElementType, EntityId};

use crate::description::*;
use crate::evaluate::{Part, eval_extent};
use crate::opaque::OpaqueRegistry;
use crate::region::{needs, regions, signed};
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
    let mut cost = Cost::default();
    for (region, parameter) in regions(description, extents, part).iter().zip(&data.parameters) {
        cost.bytes_read = cost.bytes_read.saturating_add(bytes(region.len(), parameter.ty));
    }
    let counter = Counter { data, extents: signed(extents), types, part, registry };
    for result in &data.results {
        let elements = counter.points(&result.vars, |var| {
            part.outputs.iter().find(|(other, ..)| *other == var).map(|share| share.2)
        });
        cost.bytes_written = cost.bytes_written.saturating_add(bytes(elements, result.ty));
        let each = counter.scalar(result.body);
        let hidden = counter.opaque(result.body, part);
        cost.flops = cost.flops.saturating_add(elements.saturating_mul(each)).saturating_add(hidden);
    }
    let needs = needs(data, &counter.extents, part);
    for (item, need) in data.lets.iter().zip(&needs.lets) {
        let Some(need) = need else { continue };
        let elements =
            need.iter().fold(1u64, |points, interval| points.saturating_mul(interval.count() as u64));
        let each = counter.scalar(item.body);
        let hidden = counter.opaque(item.body, part);
        cost.flops = cost.flops.saturating_add(elements.saturating_mul(each)).saturating_add(hidden);
    }
    cost
}

struct Counter<'a> {
    data: &'a Data,
    extents: Vec<i64>,
    types: &'a [ElementType],
    part: &'a Part,
    registry: &'a OpaqueRegistry,
}

impl Counter<'_> {
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
                self.scalar(*condition).saturating_add(self.scalar(*a).max(self.scalar(*b)))
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
                let points = self.points(&reduction.vars, |var| {
                    let share =
                        self.part.reductions.iter().find(|(other, name, ..)| other == id && *name == var);
                    share.map(|share| share.3)
                });
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

    /// Operations of the opaque functions in an expression: one call for all elements that take the same argument.
    fn opaque(&self, id: ScalarId, part: &Part) -> u64 {
        let all =
            |ids: &[ScalarId]| ids.iter().fold(0u64, |sum, &id| sum.saturating_add(self.opaque(id, part)));
        let data = self.data;
        match data.scalar(id) {
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Bitcast(a) => all(&[*a]),
            Scalar::Binary(_, a, b) | Scalar::Compare(_, a, b) => all(&[*a, *b]),
            Scalar::Select(a, b, c) => all(&[*a, *b, *c]),
            Scalar::Reduce(reduction, _) => all(&data.reduction(*reduction).bodies),
            Scalar::Opaque(call, _) => {
                let call = data.opaque(*call);
                let Some(function) = self.registry.get(&call.function) else { return 0 };
                let slots = || call.arguments.iter().flat_map(|slice| slice.dims.iter().flatten());
                let is_used = |var: VarId| slots().any(|&index| index_mentions_var(data, index, var));
                let vars: Vec<VarId> =
                    (0..data.variables.len()).map(VarId::from_index).filter(|&var| is_used(var)).collect();
                let calls = self.points(&vars, |var| {
                    part.outputs.iter().find(|(other, ..)| *other == var).map(|share| share.2)
                });
                let dims: Vec<Vec<u64>> = call
                    .arguments
                    .iter()
                    .map(|slice| {
                        let dims = data.dims(slice.source);
                        let whole = slice.dims.iter().zip(dims).filter(|(slot, _)| slot.is_none());
                        whole.map(|(_, extent)| self.extent(extent)).collect()
                    })
                    .collect();
                calls.saturating_mul((function.flops)(&dims, &call.constants))
            }
            _ => 0,
        }
    }
}

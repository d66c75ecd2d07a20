//! Reductions.
//!
//! A sum of which a guard leaves one term is that term, at the place that the guard says; one whose guard says for which element of the
//! result a term counts is a scatter. Every reducer can stand for the sum here.

use tofu_ir::{Builder, ElementType, ValueId};
use tofu_tdl::numeric;
use tofu_tdl::{BinaryOp, Comparison, Literal, Reducer, ReductionId, Scalar, ScalarId, VarId};

use super::linear::Linear;
use super::{Express, Place, Term, Vars, functions};
use crate::{Direction, PlaceDimensions, REDUCE, YIELD, concatenate, reshape, scatter};

/// `if all of these then value else` what the reducer gives of nothing.
struct Guarded {
    conditions: Vec<ScalarId>,
    value: ScalarId,
}

impl Express<'_> {
    pub(super) fn reduction(&mut self, id: ReductionId, component: u32) -> Option<Term> {
        let data = self.data;
        let reduction = data.reduction(id);
        let outer = self.scope.len();
        // What is made inside may hang on what is known there.
        let made = self.made.clone();
        self.scope.extend(reduction.vars.iter().copied());
        let over: Vars = reduction.vars.iter().copied().collect();
        let term = match reduction.bodies[..] {
            [body] if !matches!(reduction.reducer, Reducer::Custom(_)) => {
                self.of_one_body(reduction.reducer, body, &over)
            }
            _ => self.of_bodies(reduction.reducer, &reduction.bodies, &over, component),
        };
        self.scope.truncate(outer);
        self.made = made;
        term
    }

    fn of_one_body(&mut self, reducer: Reducer, body: ScalarId, over: &Vars) -> Option<Term> {
        let guarded = self.guarded(reducer, body);
        if let Some((var, place, condition)) = self.single(&guarded, over) {
            return self.at_place(reducer, &guarded, (var, &place, condition), over);
        }
        if let Some((var, place, condition)) = self.scattered(&guarded, over) {
            return self.scatter_at(reducer, &guarded, (var, &place, condition), over);
        }
        if reducer == Reducer::Sum {
            if let Some(made) = self.convolution(body, over) {
                return Some(made);
            }
            if let Some(made) = self.dot(body, over) {
                return Some(made);
            }
        }
        self.of_bodies(reducer, &[body], over, 0)
    }

    fn guarded(&self, reducer: Reducer, body: ScalarId) -> Guarded {
        let data = self.data;
        let mut guarded = Guarded { conditions: Vec::new(), value: body };
        while let &Scalar::Select(condition, value, rest) = data.scalar(guarded.value) {
            let nothing = reducer.identity(data.scalar_type(rest));
            let is_nothing = match data.scalar(rest) {
                Scalar::Literal(Literal::Float(0)) => nothing == Literal::Int(0),
                Scalar::Literal(literal) => *literal == nothing,
                _ => false,
            };
            if !is_nothing {
                break;
            }
            self.conjuncts(condition, &mut guarded.conditions);
            guarded.value = value;
        }
        guarded
    }

    pub(super) fn conjuncts(&self, condition: ScalarId, into: &mut Vec<ScalarId>) {
        match self.data.scalar(condition) {
            Scalar::Binary(BinaryOp::And, a, b) => {
                self.conjuncts(*a, into);
                self.conjuncts(*b, into);
            }
            _ => into.push(condition),
        }
    }

    /// For an equation of indices: what must be 0.
    fn equation(&self, condition: ScalarId) -> Option<Linear> {
        let &Scalar::Compare(Comparison::Eq, a, b) = self.data.scalar(condition) else { return None };
        let element = self.element(self.data.scalar_type(a))?;
        if element.is_float() || element.is_complex() || element == ElementType::I1 {
            return None;
        }
        self.linear_element(a)?.plus(self.linear_element(b)?.times(-1)?)
    }

    /// What a variable equals where something is 0.
    fn solved(&self, zero: &Linear, var: VarId) -> Option<Linear> {
        let at = zero
            .terms
            .iter()
            .position(|(atom, factor)| *atom == super::linear::Atom::Var(var) && factor.abs() == 1)?;
        let mut rest = zero.clone();
        let (_, factor) = rest.terms.remove(at);
        (!self.uses(&rest, var)).then(|| rest.times(-factor))?
    }

    /// A variable of which a guard lets only one value pass: that, and the number of the condition.
    fn single(&self, guarded: &Guarded, over: &Vars) -> Option<(VarId, Linear, usize)> {
        guarded.conditions.iter().enumerate().find_map(|(number, &condition)| {
            let zero = self.equation(condition)?;
            over.iter().find_map(|&var| Some((var, self.solved(&zero, var)?, number)))
        })
    }

    fn at_place(
        &mut self,
        reducer: Reducer,
        guarded: &Guarded,
        (var, place, condition): (VarId, &Linear, usize),
        over: &Vars,
    ) -> Option<Term> {
        let place = self.of_linear(place)?;
        let extent = self.extent(var)?;
        let (low, high) = (self.integer(0)?, self.integer(extent as i64)?);
        let from = self.compared(Direction::GreaterOrEqual, &place, &low)?;
        let below = self.compared(Direction::Less, &place, &high)?;
        let mut holds = self.both(&from, &below)?;
        self.made.clear();
        self.known.insert(var, place);
        let rest: Vec<ScalarId> = guarded
            .conditions
            .iter()
            .enumerate()
            .filter(|(number, _)| *number != condition)
            .map(|(_, &id)| id)
            .collect();
        for condition in rest {
            let condition = self.scalar(condition)?;
            holds = self.both(&holds, &condition)?;
        }
        let value = self.scalar(guarded.value)?;
        self.known.remove(&var);
        self.made.clear();
        let element = self.element_of(value.value);
        let nothing = self.nothing(reducer, element)?;
        let value = self.selected(&holds, &value, &nothing)?;
        let left: Vars = over.iter().copied().filter(|&other| other != var).collect();
        self.reduced(reducer, vec![value], &left, 0)
    }

    fn both(&mut self, a: &Term, b: &Term) -> Option<Term> {
        let (values, vars) = self.together(&[a, b])?;
        let value = crate::and(&mut self.builder(), values[0], values[1]).ok()?;
        Some(Term { value, vars })
    }

    /// A variable of the result for one value of which a term counts only: that value, and the number of the condition.
    fn scattered(&self, guarded: &Guarded, over: &Vars) -> Option<(VarId, Linear, usize)> {
        guarded.conditions.iter().enumerate().find_map(|(number, &condition)| {
            let zero = self.equation(condition)?;
            let outer: Vars = self.scope.iter().copied().filter(|var| !over.contains(var)).collect();
            outer.iter().find_map(|&var| {
                let place = self.solved(&zero, var)?;
                let mut others = guarded.conditions.iter().enumerate().filter(|&(other, _)| other != number);
                let is_alone = !self.mentions(guarded.value, var)
                    && others.all(|(_, &condition)| !self.mentions(condition, var))
                    && over.iter().any(|&over| self.uses(&place, over));
                (is_alone && !self.known.contains_key(&var)).then_some((var, place, number))
            })
        })
    }

    fn scatter_at(
        &mut self,
        reducer: Reducer,
        guarded: &Guarded,
        (var, place, condition): (VarId, &Linear, usize),
        over: &Vars,
    ) -> Option<Term> {
        let place = self.of_linear(place)?;
        let mut value = self.scalar(guarded.value)?;
        let element = self.element_of(value.value);
        let nothing = self.nothing(reducer, element)?;
        for (number, &other) in guarded.conditions.iter().enumerate() {
            if number != condition {
                let holds = self.scalar(other)?;
                value = self.selected(&holds, &value, &nothing)?;
            }
        }
        let outer = |vars: &Vars| vars.iter().copied().filter(|var| !over.contains(var)).collect::<Vec<_>>();
        let placed = self.in_order(outer(&place.vars));
        let windows = self.in_order(outer(&value.vars).into_iter().filter(|var| !placed.contains(var)));
        let all = self.in_order(placed.iter().chain(&windows).copied().chain([var]));
        let (places, updates): (Vars, Vars) = (
            placed.iter().chain(over).copied().collect(),
            placed.iter().chain(over).chain(&windows).copied().collect(),
        );
        let updates = self.aligned(&value, &updates)?;
        let mut extents: Vec<u64> = self.extents(&places)?.to_vec();
        extents.push(1);
        let mut columns = Vec::new();
        for own in placed.iter().copied().map(Some).chain([None]) {
            let column = match own {
                Some(own) => self.var(own)?,
                None => place.clone(),
            };
            let column = self.aligned(&column, &places)?;
            let ty = self.ty(&extents, self.index);
            columns.push(reshape(&mut self.builder(), column, ty).ok()?);
        }
        let vector = places.len() as i64;
        let places = match columns[..] {
            [one] => one,
            _ => concatenate(&mut self.builder(), &columns, vector).ok()?,
        };
        let position = |var: &VarId| all.iter().position(|other| other == var).map_or(0, |at| at as i64);
        let map: Vec<i64> = placed.iter().chain([&var]).map(position).collect();
        let mut dropped = map.clone();
        dropped.sort_unstable();
        let window: Vec<i64> = (0..windows.len() as i64).map(|number| vector + number).collect();
        let into = self.aligned(&nothing, &all)?;
        let dimensions = PlaceDimensions {
            window: &window,
            dropped: &dropped,
            batching: &[],
            indices_batching: &[],
            map: &map,
            vector,
        };
        let op = numeric::reducer_op(reducer);
        let combine = |builder: &mut Builder<'_>, values: &[ValueId]| {
            Ok(functions::binary(builder, op, values[0], values[1]).into_iter().collect())
        };
        let result = scatter(&mut self.builder(), &[into], places, &[updates], dimensions, combine).ok()?;
        Some(Term { value: *result.first()?, vars: all })
    }

    pub(super) fn nothing(&mut self, reducer: Reducer, element: ElementType) -> Option<Term> {
        self.word(numeric::identity(reducer, element), element)
    }

    fn of_bodies(
        &mut self,
        reducer: Reducer,
        bodies: &[ScalarId],
        over: &Vars,
        component: u32,
    ) -> Option<Term> {
        let bodies = bodies.iter().map(|&body| self.scalar(body)).collect::<Option<Vec<_>>>()?;
        self.reduced(reducer, bodies, over, component)
    }

    pub(super) fn reduced(
        &mut self,
        reducer: Reducer,
        terms: Vec<Term>,
        over: &Vars,
        component: u32,
    ) -> Option<Term> {
        if over.is_empty() {
            return terms.into_iter().nth(component as usize);
        }
        let all = self.in_order(terms.iter().flat_map(|term| &term.vars).chain(over).copied());
        let inputs = terms.iter().map(|term| self.aligned(term, &all)).collect::<Option<Vec<_>>>()?;
        let inits = self.identities(reducer, &inputs)?;
        let dimensions: Vec<i64> =
            (0..all.len()).filter(|&dim| over.contains(&all[dim])).map(|dim| dim as i64).collect();
        let left: Vars = all.iter().copied().filter(|var| !over.contains(var)).collect();
        let dims = self.extents(&left)?;
        let elements: Vec<ElementType> = inits.iter().map(|&init| self.element_of(init)).collect();
        let types: Vec<_> = elements.iter().map(|&element| self.ty(&dims, element)).collect();
        let scalars: Vec<_> = elements.iter().map(|&element| self.ty(&[], element)).collect();
        let dimensions = self.module.interner.ints(dimensions);
        let op = self
            .builder()
            .op(&REDUCE)
            .operands(inputs.into_iter().chain(inits))
            .attr("dimensions", dimensions)
            .region()
            .results(types)
            .build();
        let block = self.module.append_block(self.module.region(op, 0));
        let carried: Vec<ValueId> =
            scalars.iter().chain(&scalars).map(|&ty| self.module.append_argument(block, ty)).collect();
        let place = std::mem::replace(&mut self.place, Place::End(block));
        let made = self.combined(reducer, carried);
        self.place = place;
        let made = made?;
        Builder::at_end(self.module, block).origin(self.origin).op(&YIELD).operands(made).build();
        let value = self.module.results(op).nth(component as usize)?;
        Some(Term { value, vars: left })
    }

    fn identities(&mut self, reducer: Reducer, inputs: &[ValueId]) -> Option<Vec<ValueId>> {
        let Reducer::Custom(combiner) = reducer else {
            let elements: Vec<ElementType> = inputs.iter().map(|&input| self.element_of(input)).collect();
            return elements.into_iter().map(|element| Some(self.nothing(reducer, element)?.value)).collect();
        };
        let identities = &self.data.combiner(combiner).identities;
        identities.iter().map(|&identity| Some(self.scalar(identity)?.value)).collect()
    }

    /// What a combiner makes of two tuples of values, in the region where they are.
    fn combined(&mut self, reducer: Reducer, carried: Vec<ValueId>) -> Option<Vec<ValueId>> {
        let Reducer::Custom(combiner) = reducer else {
            let op = numeric::reducer_op(reducer);
            let &[a, b] = &carried[..] else { return None };
            return Some(vec![functions::binary(&mut self.builder(), op, a, b)?]);
        };
        let outside = (std::mem::take(&mut self.made), std::mem::replace(&mut self.carried, carried));
        let bodies = &self.data.combiner(combiner).bodies;
        let made = bodies.iter().map(|&body| Some(self.scalar(body)?.value)).collect();
        (self.made, self.carried) = outside;
        made
    }
}

//! Regions of ops as scalar expressions: what reducers, comparators and other bodies compute.
//!
//! The ops of a region are on tensors without dimensions. Each has a description like any other op; put one into the
//! other, from the arguments of the block to what it yields, they are one expression.

use rustc_hash::FxHashMap;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{AttrData, ElementKind, ElementType, EntityId, Module, OpId, RegionId, Trait, VALUE, ValueId};

use super::Builder;
use crate::description::*;
use crate::evaluate::Tensor;
use crate::infer::describe;
use crate::numeric;
use crate::scalar::{BinaryOp, UnaryOp};

impl Builder {
    /// What a description of tensors without dimensions gives for these operands. Results whose types do not follow
    /// from the operands have the given ones.
    ///
    /// # Errors
    ///
    /// A tensor has dimensions, or something is reduced or hidden.
    pub fn inline(
        &mut self,
        description: &Description,
        operands: &[ScalarId],
        results: &[TypeRef],
    ) -> Result<Vec<ScalarId>, String> {
        let data = description.data();
        if operands.len() != data.parameters.len() {
            return Err(format!("it takes {} operands, not {}", data.parameters.len(), operands.len()));
        }
        let mut types: Vec<Option<TypeRef>> = vec![None; data.types.len()];
        let of_operands = data.parameters.iter().zip(operands).map(|(p, &own)| (p.ty, self.type_of(own)));
        let of_results = data.results.iter().zip(results).map(|(result, &own)| (result.ty, own));
        for (ty, own) in of_operands.chain(of_results) {
            if let TypeRef::Param(number) = ty {
                types[number as usize].get_or_insert(own);
            }
        }
        let resolved = |ty: TypeRef| match ty {
            TypeRef::Concrete(_) => Some(ty),
            TypeRef::Param(number) => types[number as usize],
            TypeRef::Part(number) => types[number as usize].map(|whole| match whole {
                TypeRef::Concrete(element) => TypeRef::Concrete(element.part()),
                TypeRef::Param(own) | TypeRef::Part(own) => TypeRef::Part(own),
            }),
        };
        // Parts stand before the whole.
        let mut inlined: Vec<ScalarId> = Vec::with_capacity(data.scalars.len());
        for (scalar, &ty) in data.scalars.iter().zip(&data.scalar_types) {
            let at = |id: ScalarId| inlined[id.index()];
            let ty = resolved(ty).ok_or("an element type does not follow")?;
            let new = match scalar {
                Scalar::Literal(literal) => self.literal(*literal, ty),
                Scalar::Index(index) => match data.index(*index) {
                    Index::Const(value) => {
                        let index = self.constant(value);
                        self.index_value(index)
                    }
                    _ => return Err("it uses an index".to_owned()),
                },
                Scalar::Read(_, indices) if !indices.is_empty() => {
                    return Err("it is not on tensors without dimensions".to_owned());
                }
                Scalar::Read(Source::Operand(number), _) => operands[*number as usize],
                Scalar::Read(Source::Let(number), _) => at(data.lets[*number as usize].body),
                Scalar::Unary(op, a) => self.unary(*op, at(*a)),
                Scalar::Binary(op, a, b) => self.binary(*op, at(*a), at(*b)),
                Scalar::Compare(comparison, a, b) => self.compare(*comparison, at(*a), at(*b)),
                Scalar::Select(condition, a, b) => self.select(at(*condition), at(*a), at(*b)),
                Scalar::Convert(a) => self.convert(at(*a), ty),
                Scalar::Bitcast(a) => self.bitcast(at(*a), ty),
                Scalar::Reduce(..) | Scalar::Carried(..) => return Err("it reduces something".to_owned()),
                Scalar::Opaque(..) => return Err("its algorithm is hidden".to_owned()),
            };
            inlined.push(new);
        }
        if data.results.iter().any(|result| !result.vars.is_empty()) {
            return Err("it is not on tensors without dimensions".to_owned());
        }
        Ok(data.results.iter().map(|result| inlined[result.body.index()]).collect())
    }

    /// What a region of one block yields for these arguments. It may use constants from outside.
    ///
    /// # Errors
    ///
    /// An op in it has no description or is not on tensors without dimensions, or a value from outside is no constant.
    pub fn inline_region(
        &mut self,
        module: &Module,
        region: RegionId,
        arguments: &[ScalarId],
    ) -> Result<Vec<ScalarId>, Diagnostic> {
        let owner = module.op_of(region);
        let refuse = |op: OpId, why: &str| {
            let name = module.def(op).written_name();
            let of = module.def(owner).written_name();
            let message =
                format!("`{name}` in the region of `{of}` is no function of single elements: {why}");
            module.error(op, &codes::TDL_REGION, message).secondary(module.span(owner), "the region's op")
        };
        let &[block] = module.blocks(region) else { return Err(refuse(owner, "there is not one block")) };
        let parameters = module.arguments(block);
        if parameters.len() != arguments.len() {
            let why = format!("its block takes {} arguments, not {}", parameters.len(), arguments.len());
            return Err(refuse(owner, &why));
        }
        let mut values: FxHashMap<ValueId, ScalarId> = FxHashMap::default();
        values.extend(parameters.iter().copied().zip(arguments.iter().copied()));
        for op in module.ops(block) {
            if module.has(op, Trait::Constant) {
                continue;
            }
            let mut operands = Vec::new();
            for operand in module.operands(op) {
                let known = values.get(&operand).copied().or_else(|| self.constant_of(module, operand));
                let why =
                    || format!("{} is neither computed in it nor constant", module.quoted_value(operand));
                operands.push(known.ok_or_else(|| refuse(op, &why()))?);
            }
            if module.has(op, Trait::Terminator) {
                return Ok(operands);
            }
            let mut types = Vec::new();
            for result in module.results(op) {
                match module.tensor_type(result) {
                    Some(tensor) if tensor.rank() == 0 => types.push(TypeRef::Concrete(tensor.element)),
                    _ => {
                        let ty = module.type_text(module.ty(result));
                        return Err(refuse(op, &format!("it gives a `{ty}`")));
                    }
                }
            }
            let description = describe(module, op)?;
            let results = self.inline(&description, &operands, &types).map_err(|why| refuse(op, &why))?;
            values.extend(module.results(op).zip(results));
        }
        Err(refuse(owner, "nothing ends its block"))
    }

    /// The number that every element of a constant is, if the value is one whose elements are all alike.
    fn constant_of(&mut self, module: &Module, value: ValueId) -> Option<ScalarId> {
        let op = module.defining_op(value).filter(|&op| module.has(op, Trait::Constant))?;
        let AttrData::Dense(dense) = module.attr_value(op, VALUE)? else { return None };
        let tensor = module.tensor_type(value)?;
        let element = tensor.element;
        let is_uniform =
            matches!(dense.data, tofu_ir::DenseData::Splat(_)) || tensor.element_count() == Some(1);
        let bytes = dense.data.element(0, element).filter(|_| is_uniform)?;
        let number = Tensor::from_bytes(element, &[], bytes.to_vec()).ok()?;
        let ty = TypeRef::Concrete(element);
        match element.kind() {
            ElementKind::Float => Some(self.float(number.number(0), ty)),
            ElementKind::Complex => {
                let part = TypeRef::Concrete(element.part());
                let (re, im) = number.complex_at(0);
                let (re, im) = (self.float(re, part), self.float(im, part));
                Some(self.binary(BinaryOp::Complex, re, im))
            }
            _ => Some(self.int(number.integer(0), ty)),
        }
    }

    /// Reduces `bodies` over all values of `vars` as a region says that combines values by pairs, as those of
    /// `reduce`, `reduce_window` and `select_and_scatter` do: it takes as many values combined so far as there are
    /// bodies, then as many elements. Only where `guard` holds is there an element.
    ///
    /// `inits` are the operands that the reductions start with, and their elements. The region's function leaves
    /// values alone when combined with them: that is required of whoever writes the op. Where it is one of the built-in
    /// reducers, an `init` that is not its identity is combined in once; an `init` that is a constant is not read.
    ///
    /// # Errors
    ///
    /// As [`inline_region`](Self::inline_region).
    pub fn reduce_region(
        &mut self,
        module: &Module,
        region: RegionId,
        inits: &[(ValueId, ScalarId)],
        vars: &[VarId],
        guard: Option<ScalarId>,
        bodies: &[ScalarId],
    ) -> Result<Vec<ScalarId>, Diagnostic> {
        let types = argument_types(module, region, bodies.len())?;
        let bodies = self.converted(bodies, &types);
        let inits = self.inits(module, inits, &types);
        let (left, right) = self.slots(&types, 0);
        let combined = self.inline_region(module, region, &[&left[..], &right].concat())?;
        if let Some(reducers) = self.builtin(&combined, &left, &right) {
            return Ok(self.reduce_builtin(&reducers, &inits, vars, guard, &bodies));
        }
        if vars.is_empty() {
            return self.updated(module, region, &inits, guard, &bodies);
        }
        let combiner = self.region_combiner(&types, &[]);
        self.finish_combiner(combiner, &inits, &combined);
        let guarded: Vec<ScalarId> =
            bodies.iter().zip(&inits).map(|(&body, &init)| self.guarded(guard, body, init)).collect();
        let count = guarded.len() as u32;
        Ok((0..count)
            .map(|number| self.reduce_many(Reducer::Custom(combiner), vars, &guarded, number))
            .collect())
    }

    /// Combines elements into ones that are there already, as `scatter` does: like
    /// [`reduce_region`](Self::reduce_region), but the region's function need not leave values alone when combined with
    /// `inits`, and is applied to them once if there is an element, and else not at all.
    ///
    /// # Errors
    ///
    /// As [`inline_region`](Self::inline_region).
    pub fn update_region(
        &mut self,
        module: &Module,
        region: RegionId,
        inits: &[(ValueId, ScalarId)],
        vars: &[VarId],
        guard: Option<ScalarId>,
        bodies: &[ScalarId],
    ) -> Result<Vec<ScalarId>, Diagnostic> {
        let types = argument_types(module, region, bodies.len())?;
        let bodies = self.converted(bodies, &types);
        let inits = self.inits(module, inits, &types);
        let count = types.len();
        // Beside the values: whether there are any.
        let (left, right) = self.slots(&types, 1);
        if vars.is_empty() {
            return self.updated(module, region, &inits, guard, &bodies);
        }
        let combined = self.inline_region(module, region, &[&left[..count], &right[..count]].concat())?;
        if let Some(reducers) = self.builtin(&combined, &left, &right) {
            return Ok(self.reduce_builtin(&reducers, &inits, vars, guard, &bodies));
        }
        // What is subtracted one after the other is a sum of what is negative.
        let subtracts = |(number, &value): (usize, &ScalarId)| {
            self.scalars[value.index()].0 == Scalar::Binary(BinaryOp::Sub, left[number], right[number])
        };
        if combined.iter().enumerate().all(subtracts) {
            let negative: Vec<ScalarId> = bodies.iter().map(|&body| self.unary(UnaryOp::Neg, body)).collect();
            return Ok(self.reduce_builtin(&vec![Reducer::Sum; count], &inits, vars, guard, &negative));
        }
        let (any_left, any_right) = (left[count], right[count]);
        let mut results: Vec<ScalarId> = (0..count)
            .map(|number| {
                let both = self.chosen(any_left, combined[number], right[number]);
                self.chosen(any_right, both, left[number])
            })
            .collect();
        results.push(self.binary(BinaryOp::Or, any_left, any_right));
        let combiner = self.region_combiner(&types, &[BOOL]);
        let mut nothing: Vec<ScalarId> = types.iter().map(|&ty| self.int(0, ty)).collect();
        nothing.push(self.int(0, BOOL));
        self.finish_combiner(combiner, &nothing, &results);
        let mut elements: Vec<ScalarId> =
            bodies.iter().zip(&nothing).map(|(&body, &none)| self.guarded(guard, body, none)).collect();
        let always = self.int(1, BOOL);
        elements.push(guard.unwrap_or(always));
        let reduced: Vec<ScalarId> = (0..=count as u32)
            .map(|number| self.reduce_many(Reducer::Custom(combiner), vars, &elements, number))
            .collect();
        let updated = self.inline_region(module, region, &[&inits[..], &reduced[..count]].concat())?;
        Ok(updated.iter().zip(&inits).map(|(&new, &init)| self.select(reduced[count], new, init)).collect())
    }

    /// Values combined with one element each, if there is one.
    fn updated(
        &mut self,
        module: &Module,
        region: RegionId,
        inits: &[ScalarId],
        guard: Option<ScalarId>,
        bodies: &[ScalarId],
    ) -> Result<Vec<ScalarId>, Diagnostic> {
        let updated = self.inline_region(module, region, &[inits, bodies].concat())?;
        let pairs = updated.iter().zip(inits);
        Ok(pairs.map(|(&new, &init)| self.guarded(guard, new, init)).collect())
    }

    /// A comparator for the elements of these types, as a region says that is given the left and the right element of
    /// each in turn.
    ///
    /// # Errors
    ///
    /// As [`inline_region`](Self::inline_region).
    pub fn region_comparator(
        &mut self,
        module: &Module,
        region: RegionId,
        types: &[TypeRef],
    ) -> Result<CombinerId, Diagnostic> {
        let (left, right) = self.slots(types, 0);
        let arguments: Vec<ScalarId> = left.iter().zip(&right).flat_map(|(&a, &b)| [a, b]).collect();
        let compared = self.inline_region(module, region, &arguments)?;
        let comparator = self.region_combiner(types, &[]);
        self.finish_combiner(comparator, &[], &compared);
        Ok(comparator)
    }

    fn reduce_builtin(
        &mut self,
        reducers: &[Reducer],
        inits: &[ScalarId],
        vars: &[VarId],
        guard: Option<ScalarId>,
        bodies: &[ScalarId],
    ) -> Vec<ScalarId> {
        let each = reducers.iter().zip(inits).zip(bodies);
        each.map(|((&reducer, &init), &body)| {
            let ty = self.type_of(body);
            let nothing = self.literal(reducer.identity(ty), ty);
            let body = self.guarded(guard, body, nothing);
            let reduced = self.reduce(reducer, vars, body);
            if self.is_identity(reducer, init) {
                return reduced;
            }
            self.binary(numeric::reducer_op(reducer), init, reduced)
        })
        .collect()
    }

    /// The built-in reducers of which a function of pairs consists, if it does.
    fn builtin(&self, combined: &[ScalarId], left: &[ScalarId], right: &[ScalarId]) -> Option<Vec<Reducer>> {
        let pairs = left.iter().zip(right);
        combined
            .iter()
            .zip(pairs)
            .map(|(&value, (&a, &b))| {
                let Scalar::Binary(op, x, y) = self.scalars[value.index()].0 else { return None };
                let TypeRef::Concrete(element) = self.type_of(value) else { return None };
                ((x, y) == (a, b) || (x, y) == (b, a)).then(|| reducer(op, element)).flatten()
            })
            .collect()
    }

    /// Whether an expression is a constant that a reducer leaves values alone with.
    fn is_identity(&self, reducer: Reducer, value: ScalarId) -> bool {
        let (Scalar::Literal(literal), TypeRef::Concrete(element)) = self.scalars[value.index()] else {
            // The only constant that is no literal.
            return matches!(self.scalars[value.index()].0, Scalar::Binary(BinaryOp::Complex, re, im)
                if self.is_identity(reducer, re) && self.is_identity(Reducer::Sum, im));
        };
        let (own, wanted) = (numeric::literal(literal, element), numeric::identity(reducer, element));
        // The sign of a zero makes no difference to a sum of nothing, which is 0.
        own == wanted || (element.is_float() && own.as_float(element) == wanted.as_float(element))
    }

    /// The operands that reductions start with: constants where they are.
    fn inits(&mut self, module: &Module, inits: &[(ValueId, ScalarId)], types: &[TypeRef]) -> Vec<ScalarId> {
        let values: Vec<ScalarId> = inits
            .iter()
            .map(|&(operand, element)| self.constant_of(module, operand).unwrap_or(element))
            .collect();
        self.converted(&values, types)
    }

    /// Elements in the types in which a region computes, which may be wider.
    fn converted(&mut self, values: &[ScalarId], types: &[TypeRef]) -> Vec<ScalarId> {
        values.iter().zip(types).map(|(&value, &ty)| self.convert(value, ty)).collect()
    }

    /// The carried values of the combiner that is made next, with so many truth values at the end.
    fn slots(&mut self, types: &[TypeRef], flags: usize) -> (Vec<ScalarId>, Vec<ScalarId>) {
        let next = CombinerId::from_index(self.combiners.len());
        let count = types.len() + flags;
        let mut side = |first: usize| -> Vec<ScalarId> {
            let types = types.iter().copied().chain(std::iter::repeat_n(BOOL, flags)).enumerate();
            types
                .map(|(number, ty)| self.scalar(Scalar::Carried(next, (first + number) as u32), ty))
                .collect()
        };
        (side(0), side(count))
    }

    fn region_combiner(&mut self, types: &[TypeRef], flags: &[TypeRef]) -> CombinerId {
        let number = self.combiners.len();
        let name = if number == 0 { "body".to_owned() } else { format!("body{number}") };
        let side = |letter: &str| -> Vec<String> {
            let values = (0..types.len()).map(|number| match types.len() {
                1 => letter.to_owned(),
                _ => format!("{letter}{number}"),
            });
            values.chain(flags.iter().map(|_| format!("any_{letter}"))).collect()
        };
        let names = [side("a"), side("b")].concat();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.combiner(&name, &[types, flags].concat(), &names)
    }

    fn guarded(&mut self, guard: Option<ScalarId>, value: ScalarId, otherwise: ScalarId) -> ScalarId {
        guard.map_or(value, |guard| self.select(guard, value, otherwise))
    }

    fn chosen(&mut self, condition: ScalarId, a: ScalarId, b: ScalarId) -> ScalarId {
        if a == b { a } else { self.select(condition, a, b) }
    }
}

const BOOL: TypeRef = TypeRef::Concrete(ElementType::I1);

/// The reducer that combines by a function, on this type.
fn reducer(op: BinaryOp, element: ElementType) -> Option<Reducer> {
    match (op, element.kind()) {
        (BinaryOp::Add | BinaryOp::Max | BinaryOp::Or, ElementKind::Bool) => Some(Reducer::Or),
        (BinaryOp::Mul | BinaryOp::Min | BinaryOp::And, ElementKind::Bool) => Some(Reducer::And),
        (BinaryOp::Add, _) => Some(Reducer::Sum),
        (BinaryOp::Mul, _) => Some(Reducer::Prod),
        (BinaryOp::Max | BinaryOp::Min, ElementKind::Complex) => None,
        (BinaryOp::Max, _) => Some(Reducer::Max),
        (BinaryOp::Min, _) => Some(Reducer::Min),
        (BinaryOp::And, _) => Some(Reducer::And),
        (BinaryOp::Or, _) => Some(Reducer::Or),
        _ => None,
    }
}

/// The types of the values that a region combines: the first half of its arguments.
fn argument_types(module: &Module, region: RegionId, count: usize) -> Result<Vec<TypeRef>, Diagnostic> {
    let arguments = module.entry(region).map_or(&[][..], |block| module.arguments(block));
    let types: Vec<TypeRef> = (arguments.iter().take(count))
        .filter_map(|&argument| module.tensor_type(argument))
        .map(|tensor| TypeRef::Concrete(tensor.element))
        .collect();
    if types.len() == count && arguments.len() == 2 * count {
        return Ok(types);
    }
    let op = module.op_of(region);
    let name = module.def(op).written_name();
    let message = format!("the region of `{name}` takes {} numbers, not {}", 2 * count, arguments.len());
    Err(module.error(op, &codes::WRONG_BLOCK_ARGUMENTS, message))
}

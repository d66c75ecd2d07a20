//! Compiles a definition for actual extents and element types.
//!
//! Equal expressions are computed once per block: what an enclosing block has computed is used inside, but not the
//! other way round, since a branch may not be taken and a loop's variable changes. A sum of which only one term can
//! be nonzero (`sum(v) if ids[b] == v then … else 0`) is compiled to that term, bit for bit: -0 stays -0.

use rustc_hash::FxHashMap;
use tofu_ir::{ElementType, EntityId};

use super::EvaluateError;
use super::program::*;
use super::{Carried, Part};
use crate::description::*;
use crate::numeric::{self, Word};
use crate::opaque::OpaqueRegistry;
use crate::shape::resolve;
use crate::walk::single_term;

/// What a description is compiled for.
pub(super) struct Context<'a> {
    pub(super) data: &'a Data,
    pub(super) extents: Vec<i64>,
    pub(super) types: Vec<ElementType>,
    pub(super) registry: &'a OpaqueRegistry,
    pub(super) part: &'a Part,
}

type Compiled<T> = Result<T, EvaluateError>;

fn error<T>(message: impl Into<String>) -> Compiled<T> {
    Err(EvaluateError(message.into()))
}

impl Context<'_> {
    pub(super) fn element(&self, ty: TypeRef) -> ElementType {
        resolve(ty, &self.types)
    }

    /// The value of an extent expression.
    pub(super) fn extent(&self, id: IndexId) -> Compiled<i64> {
        eval_extent(self.data, id, &self.extents)
            .ok_or_else(|| EvaluateError("an extent does not fit into 64 bits".to_owned()))
    }

    /// What combines two values of a custom combiner, and how many registers of each kind it needs.
    pub(super) fn combiner(&self, id: CombinerId) -> Compiled<(Combine, usize, usize)> {
        let mut compiler = Compiler::new(self);
        let combine = compiler.combine(Reducer::Custom(id), ElementType::I1)?;
        Ok((combine, compiler.registers as usize, compiler.int_registers as usize))
    }

    /// An intermediate tensor.
    pub(super) fn intermediate(&self, item: &Definition) -> Compiled<Program> {
        let ty = self.data.scalar_type(item.body);
        self.program(&item.vars, false, ty, |compiler, block| compiler.scalar(item.body, block))
    }

    /// A result.
    pub(super) fn result(&self, result: &Output) -> Compiled<Program> {
        let ty = self.data.scalar_type(result.body);
        self.program(&result.vars, true, ty, |compiler, block| compiler.scalar(result.body, block))
    }

    /// A value that is carried along with a result.
    pub(super) fn carried(&self, carried: &Carried) -> Compiled<Program> {
        let Carried { result, reduction, component } = *carried;
        let vars = &self.data.results[result].vars;
        self.program(vars, true, carried.element(self.data), |compiler, block| {
            compiler.component(reduction, component, block)
        })
    }

    /// A definition over `vars`; `is_output` says whether the part applies to them.
    fn program(
        &self,
        vars: &[VarId],
        is_output: bool,
        ty: TypeRef,
        body: impl FnOnce(&mut Compiler<'_, '_>, &mut Block) -> Compiled<Reg>,
    ) -> Compiled<Program> {
        let mut compiler = Compiler::new(self);
        let mut ranges = Vec::new();
        for &var in vars {
            let part = self.part.outputs.iter().find(|(other, ..)| *other == var).filter(|_| is_output);
            ranges.push(compiler.range(var, part.map(|&(_, start, length)| (start, length)))?);
        }
        let mut block = Block::new();
        let result = body(&mut compiler, &mut block)?;
        Ok(Program {
            ranges,
            block,
            result,
            element: self.element(ty),
            registers: compiler.registers as usize,
            int_registers: compiler.int_registers as usize,
            caches: compiler.caches,
        })
    }
}

/// The value of an extent expression for these extents; `None` if it has variables or does not fit.
pub fn eval_extent(data: &Data, id: IndexId, extents: &[i64]) -> Option<i64> {
    let of = |id: IndexId| eval_extent(data, id, extents);
    match data.index(id) {
        Index::Const(value) => Some(value),
        Index::Extent(extent) => extents.get(extent.index()).copied(),
        Index::Add(a, b) => of(a)?.checked_add(of(b)?),
        Index::Sub(a, b) => of(a)?.checked_sub(of(b)?),
        Index::Mul(a, b) => of(a)?.checked_mul(of(b)?),
        Index::FloorDiv(a, b) => Some(of(a)?.div_euclid(of(b).filter(|&b| b > 0)?)),
        Index::Mod(a, b) => Some(of(a)?.rem_euclid(of(b).filter(|&b| b > 0)?)),
        Index::Var(_) | Index::Data(_) => None,
    }
}

struct Compiler<'c, 'a> {
    context: &'c Context<'a>,
    registers: Reg,
    int_registers: IntReg,
    caches: usize,
    vars: FxHashMap<VarId, IntReg>,
    /// What is computed already, innermost block last.
    known: Vec<(ScalarId, Reg)>,
    known_reductions: Vec<(ReductionId, Vec<Reg>)>,
    carried: FxHashMap<(CombinerId, u32), Reg>,
}

impl<'c, 'a> Compiler<'c, 'a> {
    fn new(context: &'c Context<'a>) -> Compiler<'c, 'a> {
        Compiler {
            context,
            registers: 0,
            int_registers: 0,
            caches: 0,
            vars: FxHashMap::default(),
            known: Vec::new(),
            known_reductions: Vec::new(),
            carried: FxHashMap::default(),
        }
    }

    fn register(&mut self) -> Reg {
        self.registers += 1;
        self.registers - 1
    }

    fn int_register(&mut self) -> IntReg {
        self.int_registers += 1;
        self.int_registers - 1
    }

    fn range(&mut self, var: VarId, part: Option<(u64, u64)>) -> Compiled<Range> {
        let extent = self.context.extent(self.context.data.variable(var).extent)?.max(0);
        let register = self.int_register();
        self.vars.insert(var, register);
        Ok(match part {
            None => Range { register, start: 0, length: extent },
            Some((start, length)) => {
                let start = i64::try_from(start).unwrap_or(extent).min(extent);
                let length = i64::try_from(length).unwrap_or(extent).min(extent - start);
                Range { register, start, length }
            }
        })
    }

    /// Compiles what only some paths run; what it computes is forgotten afterwards.
    fn inner<T>(
        &mut self,
        compile: impl FnOnce(&mut Self, &mut Block) -> Compiled<T>,
    ) -> Compiled<(Block, T)> {
        let (known, reductions) = (self.known.len(), self.known_reductions.len());
        let mut block = Block::new();
        let result = compile(self, &mut block)?;
        self.known.truncate(known);
        self.known_reductions.truncate(reductions);
        Ok((block, result))
    }

    fn scalar(&mut self, id: ScalarId, block: &mut Block) -> Compiled<Reg> {
        if let Some((_, register)) = self.known.iter().rev().find(|(known, _)| *known == id) {
            return Ok(*register);
        }
        let register = self.compute(id, block)?;
        self.known.push((id, register));
        Ok(register)
    }

    fn compute(&mut self, id: ScalarId, block: &mut Block) -> Compiled<Reg> {
        let data = self.context.data;
        let type_of = |this: &Self, id: ScalarId| this.context.element(data.scalar_type(id));
        let element = type_of(self, id);
        let step = match data.scalar(id) {
            Scalar::Carried(combiner, slot) => {
                return match self.carried.get(&(*combiner, *slot)) {
                    Some(&register) => Ok(register),
                    None => error("a carried value outside its combiner"),
                };
            }
            Scalar::Literal(literal) => {
                Step::Constant { to: self.register(), value: numeric::literal(*literal, element) }
            }
            Scalar::Index(index) => {
                let a = self.index(*index, block)?;
                Step::FromIndex { to: self.register(), a }
            }
            Scalar::Read(source, indices) => self.load(*source, indices, block)?,
            Scalar::Unary(op, a) => {
                let element = type_of(self, *a);
                let a = self.scalar(*a, block)?;
                Step::Unary { to: self.register(), a, op: *op, element, run: numeric::unary_fn(element) }
            }
            Scalar::Binary(op, a, b) => {
                let element = type_of(self, *a);
                let [a, b] = [*a, *b].map(|operand| match Reducer::of(*op) {
                    Some(reducer) => self.kept(id, reducer, operand, block),
                    None => self.scalar(operand, block),
                });
                let (a, b) = (a?, b?);
                let run = numeric::binary_fn(*op, element);
                Step::Binary { to: self.register(), a, b, op: *op, element, run }
            }
            Scalar::Compare(comparison, a, b) => {
                let element = type_of(self, *a);
                let (a, b) = (self.scalar(*a, block)?, self.scalar(*b, block)?);
                Step::Compare { to: self.register(), a, b, comparison: *comparison, element }
            }
            Scalar::Select(condition, a, b) => {
                let condition = self.scalar(*condition, block)?;
                let then = self.inner(|this, block| this.kept(id, Reducer::Sum, *a, block))?;
                let otherwise = self.inner(|this, block| this.kept(id, Reducer::Sum, *b, block))?;
                Step::If { to: self.register(), condition, then, otherwise }
            }
            Scalar::Convert(a) => {
                let from = type_of(self, *a);
                let a = self.scalar(*a, block)?;
                Step::Convert { to: self.register(), a, from, into: element }
            }
            Scalar::Bitcast(a) => {
                let from = type_of(self, *a);
                let a = self.scalar(*a, block)?;
                Step::Bitcast { to: self.register(), a, from, into: element }
            }
            Scalar::Reduce(reduction, component) => return self.component(*reduction, *component, block),
            Scalar::Opaque(call, indices) => self.opaque(*call, indices, block)?,
        };
        let to = step_target(&step);
        block.push(step);
        Ok(to)
    }

    /// An operand of a function, or what the reducer gives of nothing if the part leaves it out.
    fn kept(
        &mut self,
        of: ScalarId,
        reducer: Reducer,
        operand: ScalarId,
        block: &mut Block,
    ) -> Compiled<Reg> {
        if !self.context.part.leaves_out(of, operand) {
            return self.scalar(operand, block);
        }
        let element = self.context.element(self.context.data.scalar_type(operand));
        let to = self.register();
        block.push(Step::Constant { to, value: numeric::identity(reducer, element) });
        Ok(to)
    }

    fn buffer(source: Source) -> Buffer {
        match source {
            Source::Operand(number) => Buffer::Operand(number as usize),
            Source::Let(number) => Buffer::Let(number as usize),
        }
    }

    fn dims(&self, source: Source) -> Compiled<Vec<i64>> {
        self.context.data.dims(source).iter().map(|&dim| self.context.extent(dim)).collect()
    }

    fn load(&mut self, source: Source, indices: &[IndexId], block: &mut Block) -> Compiled<Step> {
        let dims = self.dims(source)?;
        let mut offset = Linear::default();
        let mut checks = Vec::new();
        let mut stride = 1i64;
        for (dimension, (&index, &extent)) in indices.iter().zip(&dims).enumerate().rev() {
            let value = self.index(index, block)?;
            offset.add(&value, stride);
            // Other indices were shown to stay inside; a build with assertions looks again.
            if self.depends_on_elements(index) || cfg!(debug_assertions) {
                checks.push(Check { value, extent, dimension });
            }
            stride = stride.wrapping_mul(extent);
        }
        let name = self.context.data.source_name(source).into();
        let load = Load { to: self.register(), buffer: Self::buffer(source), name, offset, checks };
        Ok(Step::Load(Box::new(load)))
    }

    fn depends_on_elements(&self, id: IndexId) -> bool {
        match self.context.data.index(id) {
            Index::Const(_) | Index::Extent(_) | Index::Var(_) => false,
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Mul(a, b)
            | Index::FloorDiv(a, b)
            | Index::Mod(a, b) => self.depends_on_elements(a) || self.depends_on_elements(b),
            Index::Data(_) => true,
        }
    }

    fn index(&mut self, id: IndexId, block: &mut Block) -> Compiled<Linear> {
        let data = self.context.data;
        let combined = |a: Linear, b: &Linear, factor: i64| {
            let mut sum = a;
            sum.add(b, factor);
            sum
        };
        Ok(match data.index(id) {
            Index::Const(value) => Linear { constant: value, ..Linear::default() },
            Index::Extent(_) => Linear { constant: self.context.extent(id)?, ..Linear::default() },
            Index::Var(var) => match self.vars.get(&var) {
                Some(&register) => Linear { constant: 0, terms: [(register, 1)].into_iter().collect() },
                None => return error("an index that is not bound"),
            },
            Index::Add(a, b) => combined(self.index(a, block)?, &self.index(b, block)?, 1),
            Index::Sub(a, b) => combined(self.index(a, block)?, &self.index(b, block)?, -1),
            Index::Mul(a, b) => {
                let (a, b) = (self.index(a, block)?, self.index(b, block)?);
                let (linear, factor) = if a.terms.is_empty() { (b, a.constant) } else { (a, b.constant) };
                combined(Linear::default(), &linear, factor)
            }
            Index::FloorDiv(a, b) | Index::Mod(a, b) => {
                let is_floor = matches!(data.index(id), Index::FloorDiv(..));
                let (a, b) = (self.index(a, block)?, self.context.extent(b)?);
                if b < 1 {
                    return error("an index is divided by an extent of 0");
                }
                if a.terms.is_empty() {
                    let constant = a.constant;
                    let value = if is_floor { constant.div_euclid(b) } else { constant.rem_euclid(b) };
                    return Ok(Linear { constant: value, ..Linear::default() });
                }
                let to = self.int_register();
                block.push(if is_floor { Step::Floor { to, a, b } } else { Step::Modulo { to, a, b } });
                Linear { constant: 0, terms: [(to, 1)].into_iter().collect() }
            }
            Index::Data(scalar) => {
                let element = self.context.element(data.scalar_type(scalar));
                let a = self.scalar(scalar, block)?;
                let to = self.int_register();
                block.push(Step::ToIndex { to, a, element });
                Linear { constant: 0, terms: [(to, 1)].into_iter().collect() }
            }
        })
    }

    /// One of the values that a reduction carries.
    fn component(&mut self, id: ReductionId, component: u32, block: &mut Block) -> Compiled<Reg> {
        let carried = self.reduce(id, block)?;
        let register = carried.get(component as usize).copied();
        register.map_or_else(|| error("a reduction does not carry that many values"), Ok)
    }

    fn reduce(&mut self, id: ReductionId, block: &mut Block) -> Compiled<Vec<Reg>> {
        if let Some((_, carried)) = self.known_reductions.iter().rev().find(|(known, _)| *known == id) {
            return Ok(carried.clone());
        }
        let data = self.context.data;
        let reduction = data.reduction(id);
        let element = self.context.element(data.scalar_type(reduction.bodies[0]));
        let identities = match reduction.reducer {
            Reducer::Custom(combiner) => self.inner(|this, block| {
                data.combiner(combiner).identities.iter().map(|&value| this.scalar(value, block)).collect()
            })?,
            reducer => {
                let to = self.register();
                let value = numeric::identity(reducer, element);
                (vec![Step::Constant { to, value }], vec![to])
            }
        };
        let parts: Vec<_> = self.context.part.reductions.iter().filter(|part| part.0 == id).collect();
        let mut ranges = Vec::new();
        for &var in &reduction.vars {
            let part = parts.iter().find(|part| part.1 == var).map(|part| (part.2, part.3));
            ranges.push(self.range(var, part)?);
        }
        let only = self.single_term(reduction)?;
        let bodies = self.inner(|this, block| {
            reduction.bodies.iter().map(|&body| this.scalar(body, block)).collect::<Compiled<Vec<Reg>>>()
        })?;
        let combine = self.combine(reduction.reducer, element)?;
        let carried: Vec<Reg> = reduction.bodies.iter().map(|_| self.register()).collect();
        let step = Reduce { carried: carried.clone(), identities, ranges, bodies, combine, only };
        block.push(Step::Reduce(Box::new(step)));
        self.known_reductions.push((id, carried.clone()));
        Ok(carried)
    }

    /// The values of the variables at which alone a sum has a term.
    fn single_term(&mut self, reduction: &Reduction) -> Compiled<Option<(Block, Vec<IntReg>)>> {
        let Some(values) = single_term(self.context.data, reduction) else { return Ok(None) };
        let inner = self.inner(|this, block| {
            let mut registers = Vec::new();
            for value in values {
                let a = this.scalar(value, block)?;
                let to = this.int_register();
                block.push(Step::ToIndex { to, a, element: ElementType::Index });
                registers.push(to);
            }
            Ok(registers)
        })?;
        Ok(Some(inner))
    }

    fn combine(&mut self, reducer: Reducer, element: ElementType) -> Compiled<Combine> {
        let Reducer::Custom(id) = reducer else {
            let op = numeric::reducer_op(reducer);
            return Ok(Combine::Binary(op, element, numeric::binary_fn(op, element)));
        };
        let combiner = self.context.data.combiner(id);
        let count = combiner.types.len() as u32;
        let all: Vec<Reg> = (0..2 * count).map(|_| self.register()).collect();
        for (slot, &register) in all.iter().enumerate() {
            self.carried.insert((id, slot as u32), register);
        }
        let (left, right) = all.split_at(count as usize);
        // Carried values change with every step: nothing computed from them may be kept.
        let (known, reductions) =
            (std::mem::take(&mut self.known), std::mem::take(&mut self.known_reductions));
        let (block, results) = self.inner(|this, block| {
            combiner.bodies.iter().map(|&body| this.scalar(body, block)).collect::<Compiled<Vec<Reg>>>()
        })?;
        (self.known, self.known_reductions) = (known, reductions);
        Ok(Combine::Custom { left: left.to_vec(), right: right.to_vec(), block, results })
    }

    fn opaque(&mut self, id: OpaqueId, indices: &[IndexId], block: &mut Block) -> Compiled<Step> {
        let call = self.context.data.opaque(id);
        let Some(function) = self.context.registry.get(&call.function) else {
            return error(format!("the opaque function \"{}\" is not registered", call.function));
        };
        let mut arguments = Vec::new();
        for slice in &call.arguments {
            let mut dims = Vec::new();
            for (extent, index) in self.dims(slice.source)?.into_iter().zip(&slice.dims) {
                dims.push((extent, index.map(|index| self.index(index, block)).transpose()?));
            }
            arguments.push(Argument { buffer: Self::buffer(slice.source), dims });
        }
        let indices =
            indices.iter().map(|&index| self.index(index, block)).collect::<Compiled<Vec<Linear>>>()?;
        let comparator =
            call.comparator.map(|id| self.combine(Reducer::Custom(id), ElementType::I1)).transpose()?;
        self.caches += 1;
        Ok(Step::Opaque(Box::new(Opaque {
            to: self.register(),
            cache: self.caches - 1,
            function: function.clone(),
            constants: call.constants.to_vec(),
            comparator,
            arguments,
            result: call.result as usize,
            indices,
        })))
    }
}

fn step_target(step: &Step) -> Reg {
    match step {
        Step::Constant { to, .. }
        | Step::FromIndex { to, .. }
        | Step::Unary { to, .. }
        | Step::Binary { to, .. }
        | Step::Compare { to, .. }
        | Step::Convert { to, .. }
        | Step::Bitcast { to, .. }
        | Step::If { to, .. } => *to,
        Step::Load(load) => load.to,
        Step::Opaque(call) => call.to,
        Step::Floor { .. } | Step::Modulo { .. } | Step::ToIndex { .. } | Step::Reduce(_) => 0,
    }
}

/// A word that nothing has set.
pub(super) const UNSET: Word = Word { low: 0, high: 0 };

//! Compiles scalar expressions into programs over columns, for actual extents and element types.
//!
//! Equal expressions are computed once per block of steps: what an enclosing block has computed is used inside, but not
//! the other way round, since a branch may not be taken and a point changes. Comparisons of affine indices never make
//! columns of indices; whether a condition holds changes at most twice along a row.

use rustc_hash::FxHashMap;
use tofu_ir::ElementType;
use tofu_tdl::numeric::{self, Word};
use tofu_tdl::*;

use super::column;
use super::linear::{Forms, Linear, Term};
use super::program::{self, Block, Check, Gather, Program, Reg, Step, Tensor};
use super::rows::Rows;

pub(super) type Compiled<T> = Result<T, EvaluateError>;

fn error<T>(message: impl Into<String>) -> Compiled<T> {
    Err(EvaluateError(message.into()))
}

/// What a description is compiled for.
pub(super) struct Context<'d> {
    pub(super) data: &'d Data,
    pub(super) extents: Vec<i64>,
    pub(super) types: Vec<ElementType>,
    /// Reductions that stages of their own compute: the first temporary tensor, one for each value, over which variables.
    pub(super) staged: FxHashMap<ReductionId, (usize, Box<[VarId]>)>,
    /// Whether some index depends on elements.
    pub(super) has_data_indices: bool,
}

/// How two values of a reduction are combined.
pub(super) enum Reducing {
    /// By a function, from an identity.
    Binary(BinaryOp, Identity),
    /// By a combiner of the description.
    Custom(CombinerId),
}

/// What nothing reduces to.
#[derive(Clone, Copy)]
pub(super) enum Identity {
    Word(Word),
    Scalar(ScalarId),
}

impl Context<'_> {
    pub(super) fn element(&self, ty: TypeRef) -> ElementType {
        resolve(ty, &self.types)
    }

    /// The type of an expression.
    pub(super) fn element_of(&self, id: ScalarId) -> ElementType {
        self.element(self.data.scalar_type(id))
    }

    /// The value of an extent expression.
    pub(super) fn extent(&self, id: IndexId) -> Compiled<i64> {
        eval_extent(self.data, id, &self.extents)
            .ok_or_else(|| EvaluateError("an extent does not fit into 64 bits".to_owned()))
    }

    /// The extents of the ranges of variables.
    pub(super) fn ranges(&self, vars: &[VarId]) -> Compiled<Vec<i64>> {
        vars.iter().map(|&var| Ok(self.extent(self.data.variable(var).extent)?.max(0))).collect()
    }

    /// How a reduction combines; a combiner of one value that is a function of both sides is that function.
    pub(super) fn reducing(&self, reduction: &Reduction) -> Reducing {
        let Reducer::Custom(id) = reduction.reducer else {
            let element = self.element_of(reduction.bodies[0]);
            let identity = numeric::identity(reduction.reducer, element);
            return Reducing::Binary(numeric::reducer_op(reduction.reducer), Identity::Word(identity));
        };
        let combiner = self.data.combiner(id);
        if let (&[identity], &[body]) = (&combiner.identities[..], &combiner.bodies[..])
            && let Scalar::Binary(op, a, b) = *self.data.scalar(body)
            && *self.data.scalar(a) == Scalar::Carried(id, 0)
            && *self.data.scalar(b) == Scalar::Carried(id, 1)
        {
            let identity = match self.data.scalar(identity) {
                Scalar::Literal(literal) => {
                    Identity::Word(numeric::literal(*literal, self.element_of(identity)))
                }
                _ => Identity::Scalar(identity),
            };
            return Reducing::Binary(op, identity);
        }
        Reducing::Custom(id)
    }

    /// A program over the box of `axes`, at a point of `points`, that `build` fills.
    pub(super) fn program(
        &self,
        points: &[VarId],
        axes: &[VarId],
        build: impl FnOnce(&mut Compiler<'_, '_>, &mut Block) -> Compiled<Vec<Reg>>,
    ) -> Compiled<Program> {
        let extents = self.ranges(axes)?;
        let count = extents.iter().try_fold(1i64, |count, &extent| count.checked_mul(extent));
        let count = count.and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or_else(|| EvaluateError("the index space is too large".to_owned()))?;
        let mut compiler = Compiler {
            context: self,
            forms: Forms::of_box(extents),
            registers: Vec::new(),
            constants: Vec::new(),
            vars: FxHashMap::default(),
            known: Vec::new(),
            known_reductions: Vec::new(),
            known_quotients: Vec::new(),
            carried: FxHashMap::default(),
            has_data_indices: self.has_data_indices,
            counts: None,
        };
        for (axis, &var) in axes.iter().enumerate() {
            compiler.vars.insert(var, Linear::term(Term::Axis(axis)));
        }
        compiler.bind_points(points)?;
        let mut block = Block::new();
        let results = build(&mut compiler, &mut block)?;
        Ok(Program {
            registers: compiler.registers,
            constants: compiler.constants,
            block,
            results,
            points: compiler.forms.points.len(),
            count,
        })
    }
}

pub(super) struct Compiler<'c, 'd> {
    context: &'c Context<'d>,
    forms: Forms,
    registers: Vec<ElementType>,
    constants: Vec<(Reg, Vec<u8>)>,
    vars: FxHashMap<VarId, Linear>,
    /// What is computed already, innermost block last.
    known: Vec<(ScalarId, Reg)>,
    known_reductions: Vec<(ReductionId, Vec<Reg>)>,
    known_quotients: Vec<(usize, Reg)>,
    carried: FxHashMap<(CombinerId, u32), Reg>,
    /// Whether some index depends on elements.
    has_data_indices: bool,
    /// Which points of the block use what is computed; all, if there is no such column.
    counts: Option<Reg>,
}

impl Compiler<'_, '_> {
    fn register(&mut self, element: ElementType) -> Reg {
        self.registers.push(element);
        self.registers.len() - 1
    }

    /// Binds variables to the next points; the number of the first one.
    fn bind_points(&mut self, vars: &[VarId]) -> Compiled<usize> {
        let first = self.forms.points.len();
        for (&var, extent) in vars.iter().zip(self.context.ranges(vars)?) {
            self.vars.insert(var, Linear::term(Term::Point(self.forms.points.len())));
            self.forms.points.push(extent);
        }
        Ok(first)
    }

    /// A register that holds `word` everywhere.
    pub(super) fn constant(&mut self, element: ElementType, word: Word) -> Reg {
        let mut bytes = vec![0; element.storage_bytes()];
        word.write(element, &mut bytes);
        let known =
            self.constants.iter().find(|(reg, known)| self.registers[*reg] == element && *known == bytes);
        if let Some(&(reg, _)) = known {
            return reg;
        }
        let to = self.register(element);
        self.constants.push((to, bytes));
        to
    }

    pub(super) fn identity(
        &mut self,
        identity: Identity,
        element: ElementType,
        block: &mut Block,
    ) -> Compiled<Reg> {
        match identity {
            Identity::Word(word) => Ok(self.constant(element, word)),
            Identity::Scalar(id) => self.scalar(id, block),
        }
    }

    /// Compiles what only some points or some values of a variable run; what it computes is forgotten afterwards.
    fn inner<T>(
        &mut self,
        counts: Option<Reg>,
        compile: impl FnOnce(&mut Self, &mut Block) -> Compiled<T>,
    ) -> Compiled<(Block, T)> {
        let lengths = (self.known.len(), self.known_reductions.len(), self.known_quotients.len());
        let around = std::mem::replace(&mut self.counts, counts);
        let mut block = Block::new();
        let result = compile(self, &mut block)?;
        self.counts = around;
        self.known.truncate(lengths.0);
        self.known_reductions.truncate(lengths.1);
        self.known_quotients.truncate(lengths.2);
        Ok((block, result))
    }

    fn unary(&mut self, element: ElementType, a: Reg, run: column::Unary, block: &mut Block) -> Reg {
        let to = self.register(element);
        block.push(Step::Unary { to, a, run });
        to
    }

    pub(super) fn binary(
        &mut self,
        element: ElementType,
        a: Reg,
        b: Reg,
        run: column::Binary,
        block: &mut Block,
    ) -> Reg {
        let to = self.register(element);
        block.push(Step::Binary { to, a, b, run });
        to
    }

    /// Both conditions; what is missing holds everywhere.
    pub(super) fn both(&mut self, a: Option<Reg>, b: Option<Reg>, block: &mut Block) -> Option<Reg> {
        match (a, b) {
            (Some(a), Some(b)) => {
                let and = column::binary(BinaryOp::And, ElementType::I1);
                Some(self.binary(ElementType::I1, a, b, and, block))
            }
            (a, b) => a.or(b),
        }
    }

    /// The register that holds an expression.
    pub(super) fn scalar(&mut self, id: ScalarId, block: &mut Block) -> Compiled<Reg> {
        if let Some((_, register)) = self.known.iter().rev().find(|(known, _)| *known == id) {
            return Ok(*register);
        }
        let register = self.compute(id, block)?;
        self.known.push((id, register));
        Ok(register)
    }

    fn compute(&mut self, id: ScalarId, block: &mut Block) -> Compiled<Reg> {
        let context = self.context;
        let data = context.data;
        let element = context.element_of(id);
        match data.scalar(id) {
            Scalar::Carried(combiner, slot) => match self.carried.get(&(*combiner, *slot)) {
                Some(&register) => Ok(register),
                None => error("a carried value outside its combiner"),
            },
            Scalar::Literal(literal) => Ok(self.constant(element, numeric::literal(*literal, element))),
            Scalar::Index(index) => {
                let form = self.index(*index, block)?;
                Ok(self.indices(&form, block))
            }
            Scalar::Read(source, indices) => {
                let (tensor, dims, name) = match *source {
                    Source::Operand(number) => {
                        (Tensor::Operand(number as usize), data.dims(*source), data.source_name(*source))
                    }
                    Source::Let(number) => {
                        (Tensor::Temporary(number as usize), data.dims(*source), data.source_name(*source))
                    }
                };
                let dims = dims.iter().map(|&dim| context.extent(dim)).collect::<Compiled<Vec<i64>>>()?;
                let indices = indices
                    .iter()
                    .map(|&index| self.index(index, block))
                    .collect::<Compiled<Vec<Linear>>>()?;
                Ok(self.load(tensor, name, element, &dims, &indices, block))
            }
            Scalar::Unary(op, a) => {
                let from = context.element_of(*a);
                let a = self.scalar(*a, block)?;
                Ok(self.unary(element, a, column::unary(*op, from, element), block))
            }
            Scalar::Binary(op, a, b) => {
                let from = context.element_of(*a);
                let (a, b) = (self.scalar(*a, block)?, self.scalar(*b, block)?);
                Ok(self.binary(element, a, b, column::binary(*op, from), block))
            }
            Scalar::Compare(comparison, a, b) => self.compare(*comparison, *a, *b, block),
            Scalar::Select(condition, a, b) => {
                let condition = self.scalar(*condition, block)?;
                let (then, otherwise) = self.branches(condition, block);
                let then = self.inner(then, |this, block| this.scalar(*a, block))?;
                let otherwise = self.inner(otherwise, |this, block| this.scalar(*b, block))?;
                let to = self.register(element);
                block.push(Step::Select { to, condition, then, otherwise });
                Ok(to)
            }
            Scalar::Convert(a) => {
                let from = context.element_of(*a);
                let a = self.scalar(*a, block)?;
                Ok(if from == element {
                    a
                } else {
                    self.unary(element, a, column::convert(from, element), block)
                })
            }
            Scalar::Bitcast(a) => {
                let from = context.element_of(*a);
                let a = self.scalar(*a, block)?;
                Ok(self.unary(element, a, column::bitcast(from, element), block))
            }
            Scalar::Reduce(reduction, component) => {
                let carried = self.reduce(*reduction, block)?;
                match carried.get(*component as usize) {
                    Some(&register) => Ok(register),
                    None => error("a reduction does not carry that many values"),
                }
            }
            Scalar::Opaque(..) => error("an opaque function has no elements"),
        }
    }

    /// Which points use the two branches of a condition. Where no index depends on elements, nobody asks.
    fn branches(&mut self, condition: Reg, block: &mut Block) -> (Option<Reg>, Option<Reg>) {
        if !self.has_data_indices {
            return (None, None);
        }
        let not = column::unary(UnaryOp::Not, ElementType::I1, ElementType::I1);
        let not = self.unary(ElementType::I1, condition, not, block);
        let counts = self.counts;
        (self.both(counts, Some(condition), block), self.both(counts, Some(not), block))
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        a: ScalarId,
        b: ScalarId,
        block: &mut Block,
    ) -> Compiled<Reg> {
        let data = self.context.data;
        if let (&Scalar::Index(x), &Scalar::Index(y)) = (data.scalar(a), data.scalar(b)) {
            let (x, y) = (self.index(x, block)?, self.index(y, block)?);
            return Ok(self.condition(comparison, &x.plus(&y, -1), block));
        }
        let element = self.context.element_of(a);
        let (a, b) = (self.scalar(a, block)?, self.scalar(b, block)?);
        Ok(self.binary(ElementType::I1, a, b, column::compare(comparison, element), block))
    }

    /// Whether a form compares with zero.
    fn condition(&mut self, comparison: Comparison, form: &Linear, block: &mut Block) -> Reg {
        if form.is_affine() {
            let to = self.register(ElementType::I1);
            let form = Rows::new(&self.forms.axes, &[form]);
            block.push(Step::Condition { to, form, comparison });
            return to;
        }
        let zero = self.constant(ElementType::Index, Word::int(0));
        let a = self.indices(form, block);
        self.binary(ElementType::I1, a, zero, column::compare(comparison, ElementType::Index), block)
    }

    /// Whether a form lies in `0..extent`; nothing if it always does.
    pub(super) fn within(&mut self, form: &Linear, extent: i64, block: &mut Block) -> Option<Reg> {
        if self.forms.is_within(form, extent) {
            return None;
        }
        if form.is_affine() {
            let low = self.condition(Comparison::Ge, form, block);
            let high =
                self.condition(Comparison::Lt, &form.clone().plus(&Linear::constant(extent), -1), block);
            return self.both(Some(low), Some(high), block);
        }
        let a = self.indices(form, block);
        Some(self.unary(ElementType::I1, a, column::within(extent), block))
    }

    /// A column of the values of a form.
    pub(super) fn indices(&mut self, form: &Linear, block: &mut Block) -> Reg {
        let mut affine = Linear::constant(form.constant);
        let mut columns = Vec::new();
        for &(term, factor) in &form.terms {
            match term {
                Term::Axis(_) | Term::Point(_) => affine.add(&Linear::term(term), factor),
                Term::Column(reg) => columns.push((reg, factor)),
                Term::Quotient(number) => columns.push((self.quotient(number, block), factor)),
            }
        }
        let to = self.register(ElementType::Index);
        let affine = Rows::new(&self.forms.axes, &[&affine]);
        block.push(Step::Index { to, affine, columns });
        to
    }

    fn quotient(&mut self, number: usize, block: &mut Block) -> Reg {
        if let Some((_, reg)) = self.known_quotients.iter().rev().find(|(known, _)| *known == number) {
            return *reg;
        }
        let (dividend, divisor) = self.forms.quotient(number);
        let dividend = dividend.clone();
        let a = self.indices(&dividend, block);
        let to = self.unary(ElementType::Index, a, column::quotient(divisor), block);
        self.known_quotients.push((number, to));
        to
    }

    /// The elements of a tensor of these extents at these indices.
    fn load(
        &mut self,
        tensor: Tensor,
        name: &str,
        element: ElementType,
        dims: &[i64],
        indices: &[Linear],
        block: &mut Block,
    ) -> Reg {
        let mut offset = Linear::default();
        let mut stride = 1i64;
        for (index, &extent) in indices.iter().zip(dims).rev() {
            offset.add(index, stride);
            stride = stride.wrapping_mul(extent);
        }
        let open: Vec<usize> =
            (0..dims.len()).filter(|&at| !self.forms.is_within(&indices[at], dims[at])).collect();
        let size = element.storage_bytes();
        let is_affine = offset.is_affine() && open.iter().all(|&at| indices[at].is_affine());
        if is_affine {
            let forms: Vec<&Linear> =
                [&offset].into_iter().chain(open.iter().map(|&at| &indices[at])).collect();
            let rows = Rows::new(&self.forms.axes, &forms);
            let to = self.register(element);
            let extents = open.iter().map(|&at| dims[at]).collect();
            block.push(Step::Load { to, tensor, size, rows, extents });
            return to;
        }
        let checks = open
            .iter()
            .map(|&dimension| Check {
                index: self.indices(&indices[dimension], block),
                extent: dims[dimension],
                dimension,
                depends_on_elements: self.forms.depends_on_elements(&indices[dimension]),
            })
            .collect();
        let offset = self.indices(&offset, block);
        let to = self.register(element);
        let counts = self.counts;
        block.push(Step::Gather(Box::new(Gather {
            to,
            tensor,
            name: name.into(),
            size,
            offset,
            checks,
            counts,
        })));
        to
    }

    /// The normal form of an index expression.
    pub(super) fn index(&mut self, id: IndexId, block: &mut Block) -> Compiled<Linear> {
        let data = self.context.data;
        Ok(match data.index(id) {
            Index::Const(value) => Linear::constant(value),
            Index::Extent(_) => Linear::constant(self.context.extent(id)?),
            Index::Var(var) => match self.vars.get(&var) {
                Some(form) => form.clone(),
                None => return error("an index that is not bound"),
            },
            Index::Add(a, b) => self.index(a, block)?.plus(&self.index(b, block)?, 1),
            Index::Sub(a, b) => self.index(a, block)?.plus(&self.index(b, block)?, -1),
            Index::Mul(a, b) => {
                let (a, b) = (self.index(a, block)?, self.index(b, block)?);
                if a.terms.is_empty() { b.scaled(a.constant) } else { a.scaled(b.constant) }
            }
            Index::FloorDiv(a, b) | Index::Mod(a, b) => {
                let (form, divisor) = (self.index(a, block)?, self.context.extent(b)?);
                if divisor < 1 {
                    return error("an index is divided by an extent of 0");
                }
                match data.index(id) {
                    Index::FloorDiv(..) => self.forms.floor(&form, divisor),
                    _ => self.forms.modulo(&form, divisor),
                }
            }
            Index::Data(scalar) => self.scalar_index(scalar, block)?,
        })
    }

    /// The value of an integer expression, as an index.
    pub(super) fn scalar_index(&mut self, id: ScalarId, block: &mut Block) -> Compiled<Linear> {
        if let Scalar::Index(index) = self.context.data.scalar(id) {
            return self.index(*index, block);
        }
        let element = self.context.element_of(id);
        let mut column = self.scalar(id, block)?;
        if element != ElementType::Index {
            column = self.unary(ElementType::Index, column, column::to_index(element), block);
        }
        Ok(Linear::term(Term::Column(column)))
    }

    fn reduce(&mut self, id: ReductionId, block: &mut Block) -> Compiled<Vec<Reg>> {
        if let Some((_, carried)) = self.known_reductions.iter().rev().find(|(known, _)| *known == id) {
            return Ok(carried.clone());
        }
        let carried = self.compute_reduction(id, block)?;
        self.known_reductions.push((id, carried.clone()));
        Ok(carried)
    }

    fn compute_reduction(&mut self, id: ReductionId, block: &mut Block) -> Compiled<Vec<Reg>> {
        let context = self.context;
        let reduction = context.data.reduction(id);
        let element = context.element_of(reduction.bodies[0]);
        if let Some((first, vars)) = context.staged.get(&id) {
            let dims = context.ranges(vars)?;
            let indices: Option<Vec<Linear>> = vars.iter().map(|var| self.vars.get(var).cloned()).collect();
            let Some(indices) = indices else { return error("an index that is not bound") };
            return Ok((*first..)
                .zip(&reduction.bodies)
                .map(|(number, &body)| {
                    let element = context.element_of(body);
                    self.load(Tensor::Temporary(number), "", element, &dims, &indices, block)
                })
                .collect());
        }
        if let Some(values) = single_term(context.data, reduction) {
            return Ok(vec![self.single(reduction, &values, block)?]);
        }
        let reducing = context.reducing(reduction);
        let identities = self.inner(self.counts, |this, block| match &reducing {
            Reducing::Binary(_, identity) => Ok(vec![this.identity(*identity, element, block)?]),
            Reducing::Custom(combiner) => {
                let identities = &context.data.combiner(*combiner).identities;
                identities.iter().map(|&value| this.scalar(value, block)).collect()
            }
        })?;
        let first_point = self.bind_points(&reduction.vars)?;
        let extents = self.forms.points[first_point..].to_vec();
        let bodies = self.inner(self.counts, |this, block| {
            reduction.bodies.iter().map(|&body| this.scalar(body, block)).collect::<Compiled<Vec<Reg>>>()
        })?;
        let carried: Vec<Reg> =
            reduction.bodies.iter().map(|&body| self.register(context.element_of(body))).collect();
        let combine = match reducing {
            Reducing::Binary(op, _) => {
                program::Combine::Binary(column::binary(op, element), self.register(element))
            }
            Reducing::Custom(combiner) => self.combiner(combiner)?,
        };
        let carries = carried.clone();
        block.push(Step::Reduce(Box::new(program::Reduce {
            carried,
            identities,
            first_point,
            extents,
            bodies,
            combine,
        })));
        Ok(carries)
    }

    /// A sum that has at most one term, at `values` of its variables: that term, bit for bit.
    fn single(&mut self, reduction: &Reduction, values: &[ScalarId], block: &mut Block) -> Compiled<Reg> {
        let element = self.context.element_of(reduction.bodies[0]);
        let ranges = self.context.ranges(&reduction.vars)?;
        let mut inside = None;
        for ((&var, &value), extent) in reduction.vars.iter().zip(values).zip(ranges) {
            let form = self.scalar_index(value, block)?;
            let condition = self.within(&form, extent, block);
            inside = self.both(inside, condition, block);
            self.vars.insert(var, form);
        }
        if let Some(condition) = inside {
            return self.guarded(condition, reduction.bodies[0], element, block);
        }
        let (steps, value) =
            self.inner(self.counts, |this, block| this.scalar(reduction.bodies[0], block))?;
        block.extend(steps);
        Ok(value)
    }

    /// `if condition then value else 0`.
    pub(super) fn guarded(
        &mut self,
        condition: Reg,
        value: ScalarId,
        element: ElementType,
        block: &mut Block,
    ) -> Compiled<Reg> {
        let (counts, _) = self.branches(condition, block);
        let then = self.inner(counts, |this, block| this.scalar(value, block))?;
        let zero = self.constant(element, numeric::literal(Literal::Int(0), element));
        let to = self.register(element);
        block.push(Step::Select { to, condition, then, otherwise: (Block::new(), zero) });
        Ok(to)
    }

    /// What combines values by a combiner.
    pub(super) fn combiner(&mut self, id: CombinerId) -> Compiled<program::Combine> {
        let combiner = self.context.data.combiner(id);
        let count = combiner.types.len();
        let all: Vec<Reg> = (0..2 * count)
            .map(|slot| self.register(self.context.element(combiner.types[slot % count])))
            .collect();
        for (slot, &register) in all.iter().enumerate() {
            self.carried.insert((id, slot as u32), register);
        }
        let (left, right) = all.split_at(count);
        // Carried values change with every step: nothing computed from them may be kept.
        let known = std::mem::take(&mut self.known);
        let reductions = std::mem::take(&mut self.known_reductions);
        let (block, results) = self.inner(self.counts, |this, block| {
            combiner.bodies.iter().map(|&body| this.scalar(body, block)).collect::<Compiled<Vec<Reg>>>()
        })?;
        (self.known, self.known_reductions) = (known, reductions);
        Ok(program::Combine::Custom { left: left.to_vec(), right: right.to_vec(), block, results })
    }

    /// The value of the reduction of one expression.
    pub(super) fn reduction(&mut self, id: ReductionId, block: &mut Block) -> Compiled<Reg> {
        Ok(self.reduce(id, block)?[0])
    }

    /// Compiles what only some points use.
    pub(super) fn counting<T>(&mut self, counts: Option<Reg>, compile: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.counts, counts);
        let result = compile(self);
        self.counts = around;
        result
    }

    /// The extents of the ranges of variables.
    pub(super) fn ranges(&self, vars: &[VarId]) -> Compiled<Vec<i64>> {
        self.context.ranges(vars)
    }

    /// What a variable is.
    pub(super) fn var(&self, var: VarId) -> Linear {
        self.vars.get(&var).cloned().unwrap_or_default()
    }

    /// Says what a variable is.
    pub(super) fn bind(&mut self, var: VarId, form: Linear) {
        self.has_data_indices |= self.forms.depends_on_elements(&form);
        self.vars.insert(var, form);
    }

    /// A condition that always holds.
    pub(super) fn yes(&mut self) -> Reg {
        self.constant(ElementType::I1, Word::bool(true))
    }
}

/// The indices of the description that depend on elements.
pub(super) fn has_data_indices(data: &Data) -> bool {
    data.indices.iter().any(|index| matches!(index, Index::Data(_)))
        || data.reductions.iter().any(|reduction| single_term(data, reduction).is_some())
}

/// Whether a scalar expression uses a variable.
pub(super) fn uses(data: &Data, id: ScalarId, var: VarId) -> bool {
    any_index(data, id, &|index| index == Index::Var(var))
}

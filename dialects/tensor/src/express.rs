//! Ordinary ops for what a description says.
//!
//! Not every description is that of an op: programs describe operators of their own, and the share of an op may have guards and offsets
//! that no op has. This finds ops of this dialect that compute the same. A description is an expression over index variables, and every part of
//! it becomes a tensor over those variables that it depends on, so that nothing is larger than it must be; where parts meet, they
//! are broadcast.
//!
//! | what | becomes |
//! |---|---|
//! | a variable | `iota` |
//! | functions, comparisons, guards | the op of that name, `compare`, `select` |
//! | elements at places that are even in the variables | `slice`, `reshape`, `transpose`; `pad` where a guard leaves some out |
//! | elements at other places | `gather` |
//! | `sum(v) if e == v + c then f(v) else 0` | `f(e − c)`, if that is a value of `v` |
//! | `sum(s) if e(s) == i + c then f(s) else 0` | `scatter` |
//! | sums of products | `convolution`, `dot_general` |
//! | other reductions | `reduce` |
//!
//! Sums may be taken in another order than the description's. Opaque functions have no ops.
//!
//! | file | holds |
//! |---|---|
//! | `linear` | indices as sums of multiples |
//! | `read` | elements of tensors |
//! | `reduce`, `products` | reductions; sums of products |
//! | `functions` | the ops of functions of one or two values |

mod functions;
mod linear;
mod products;
mod read;
mod reduce;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_ir::{BlockId, Builder, DenseData, ElementKind, ElementType, Module, OpId, Type, ValueId};
use tofu_tdl::numeric::{self, Word};
use tofu_tdl::{
    Data, Description, Index, IndexId, Literal, Scalar, ScalarId, Source, TypeRef, VarId, any_index,
};

use crate::{Direction, broadcast_in_dim, compare, constant, convert, iota, select, transpose};

/// Adds ops before another one that compute what a description of known extents says of these operands; its results. None, and
/// nothing is added, if there are no such ops.
pub fn express(
    module: &mut Module,
    (before, origin): (OpId, OpId),
    description: &Description,
    operands: &[ValueId],
) -> Option<Vec<ValueId>> {
    let data = description.data();
    // Where nothing is read, a zero stands, and some formats have none.
    let has_zero = |&value: &ValueId| {
        module.tensor_type(value).is_none_or(|ty| match ty.element.kind() {
            ElementKind::Float => Word::of_float(ty.element, 0.0).as_float(ty.element) == 0.0,
            _ => true,
        })
    };
    if data.parameters.len() != operands.len() || !operands.iter().all(has_zero) {
        return None;
    }
    // What was added is taken away again if it leads nowhere.
    let ty = module.interner.tensor(&[], ElementType::I1);
    let first = crate::splat(&mut Builder::before(module, before).origin(origin), ty, 0.0).ok()?;
    let first = module.defining_op(first)?;
    let made = Express::of(module, (before, origin), data, operands).and_then(Express::results);
    if made.is_none() {
        let mut added = Vec::new();
        let mut next = module.next_op(first);
        while let Some(op) = next.filter(|&op| op != before) {
            added.push(op);
            next = module.next_op(op);
        }
        added.into_iter().rev().for_each(|op| module.erase(op));
    }
    module.erase(first);
    made
}

/// Where ops are put.
#[derive(Clone, Copy)]
enum Place {
    Before(OpId),
    End(BlockId),
}

/// A part of the description as a tensor over some variables, in the order in which those are in scope.
#[derive(Clone, Debug)]
struct Term {
    value: ValueId,
    vars: Vars,
}

type Vars = SmallVec<[VarId; 6]>;

struct Express<'a> {
    module: &'a mut Module,
    place: Place,
    origin: OpId,
    data: &'a Data,
    operands: &'a [ValueId],
    /// None of what nothing needs.
    lets: Vec<Option<ValueId>>,
    types: Vec<Option<ElementType>>,
    /// What indices are computed in.
    index: ElementType,
    /// The variables in scope, the outer ones first.
    scope: Vars,
    /// The variables that have been found to be something else.
    known: FxHashMap<VarId, Term>,
    /// What a combiner is given.
    carried: Vec<ValueId>,
    /// What has been made, as long as the scope is the same.
    made: FxHashMap<ScalarId, Term>,
}

impl<'a> Express<'a> {
    fn of(
        module: &'a mut Module,
        (before, origin): (OpId, OpId),
        data: &'a Data,
        operands: &'a [ValueId],
    ) -> Option<Express<'a>> {
        let mut types = vec![None; data.types.len()];
        for (parameter, &operand) in data.parameters.iter().zip(operands) {
            let ty = module.tensor_type(operand)?;
            if let TypeRef::Param(number) = parameter.ty {
                types[number as usize] = Some(ty.element);
            }
        }
        // Places that the elements of a tensor say may be anywhere.
        let reads_places = data.indices.iter().any(|index| match index {
            Index::Data(scalar) => !matches!(data.scalar(*scalar), Scalar::Read(_, at) if at.is_empty()),
            _ => false,
        });
        Some(Express {
            module,
            place: Place::Before(before),
            origin,
            data,
            operands,
            lets: Vec::new(),
            types,
            index: if reads_places { ElementType::I64 } else { ElementType::I32 },
            scope: Vars::new(),
            known: FxHashMap::default(),
            carried: Vec::new(),
            made: FxHashMap::default(),
        })
    }

    fn results(mut self) -> Option<Vec<ValueId>> {
        let data = self.data;
        for item in &data.lets {
            let value = if item.vars.iter().any(|&var| self.extent(var) == Some(0)) {
                None
            } else {
                Some(self.whole(&item.vars, item.body)?)
            };
            self.lets.push(value);
        }
        data.results
            .iter()
            .map(|result| {
                let value = self.whole(&result.vars, result.body)?;
                let wanted = self.element(result.ty)?;
                if self.element_of(value) == wanted {
                    return Some(value);
                }
                convert(&mut self.builder(), value, wanted).ok()
            })
            .collect()
    }

    /// An expression over all values of these variables.
    fn whole(&mut self, vars: &[VarId], body: ScalarId) -> Option<ValueId> {
        self.scope = vars.into();
        self.made.clear();
        let term = self.scalar(body)?;
        self.aligned(&term, vars)
    }

    fn builder(&mut self) -> Builder<'_> {
        let builder = match self.place {
            Place::Before(op) => Builder::before(self.module, op),
            Place::End(block) => Builder::at_end(self.module, block),
        };
        builder.origin(self.origin)
    }

    fn extent(&self, var: VarId) -> Option<u64> {
        self.number(self.data.variable(var).extent)
    }

    fn number(&self, index: IndexId) -> Option<u64> {
        match self.data.index(index) {
            Index::Const(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    fn extents(&self, vars: &[VarId]) -> Option<SmallVec<[u64; 6]>> {
        vars.iter().map(|&var| self.extent(var)).collect()
    }

    fn element(&self, ty: TypeRef) -> Option<ElementType> {
        match ty {
            TypeRef::Concrete(ElementType::Index) => Some(self.index),
            TypeRef::Concrete(element) => Some(element),
            TypeRef::Param(number) => *self.types.get(number as usize)?,
            TypeRef::Part(number) => Some((*self.types.get(number as usize)?)?.part()),
        }
    }

    fn element_of(&self, value: ValueId) -> ElementType {
        self.module.tensor_type(value).map_or(ElementType::F32, |ty| ty.element)
    }

    fn dims_of(&self, value: ValueId) -> SmallVec<[u64; 4]> {
        self.module.tensor_type(value).and_then(|ty| ty.static_dims()).unwrap_or_default()
    }

    fn ty(&mut self, dims: &[u64], element: ElementType) -> Type {
        self.module.interner.tensor(dims, element)
    }

    fn source(&self, source: Source) -> Option<ValueId> {
        match source {
            Source::Operand(number) => self.operands.get(number as usize).copied(),
            Source::Let(number) => *self.lets.get(number as usize)?,
        }
    }

    /// Where a variable stands in the scope.
    fn position(&self, var: VarId) -> usize {
        self.scope.iter().position(|&other| other == var).unwrap_or(usize::MAX)
    }

    fn in_order(&self, vars: impl IntoIterator<Item = VarId>) -> Vars {
        let mut vars: Vars = vars.into_iter().collect();
        vars.sort_by_key(|&var| self.position(var));
        vars.dedup();
        vars
    }

    /// A term over these variables, in their order, of which it knows some.
    fn aligned(&mut self, term: &Term, vars: &[VarId]) -> Option<ValueId> {
        let mut order: SmallVec<[usize; 6]> = (0..term.vars.len()).collect();
        let place = |var: VarId| vars.iter().position(|&other| other == var);
        let places: SmallVec<[usize; 6]> = term.vars.iter().map(|&var| place(var)).collect::<Option<_>>()?;
        order.sort_by_key(|&dim| places[dim]);
        let mut value = term.value;
        if !order.is_sorted() {
            let order: SmallVec<[i64; 6]> = order.iter().map(|&dim| dim as i64).collect();
            value = transpose(&mut self.builder(), value, &order).ok()?;
        }
        if term.vars.len() == vars.len() {
            return Some(value);
        }
        let dims = self.extents(vars)?;
        let ty = self.ty(&dims, self.element_of(value));
        let places: SmallVec<[i64; 6]> = order.iter().map(|&dim| places[dim] as i64).collect();
        broadcast_in_dim(&mut self.builder(), value, ty, &places).ok()
    }

    /// Terms over all variables that one of them knows.
    fn together(&mut self, terms: &[&Term]) -> Option<(Vec<ValueId>, Vars)> {
        let vars = self.in_order(terms.iter().flat_map(|term| term.vars.iter().copied()));
        let values = terms.iter().map(|term| self.aligned(term, &vars)).collect::<Option<_>>()?;
        Some((values, vars))
    }

    fn word(&mut self, word: Word, element: ElementType) -> Option<Term> {
        let ty = self.ty(&[], element);
        let mut bytes = vec![0; element.storage_bytes()];
        word.write(element, &mut bytes);
        let dense = self.module.interner.dense(ty, DenseData::from_bytes(bytes, element));
        let value = constant(&mut self.builder(), dense).ok()?;
        Some(Term { value, vars: Vars::new() })
    }

    fn literal(&mut self, literal: Literal, element: ElementType) -> Option<Term> {
        self.word(numeric::literal(literal, element), element)
    }

    fn integer(&mut self, value: i64) -> Option<Term> {
        self.word(Word::of_int(self.index, value.into()), self.index)
    }

    fn scalar(&mut self, id: ScalarId) -> Option<Term> {
        if let Some(known) = self.made.get(&id) {
            return Some(known.clone());
        }
        let made = self.new_scalar(id)?;
        self.made.insert(id, made.clone());
        Some(made)
    }

    fn new_scalar(&mut self, id: ScalarId) -> Option<Term> {
        let data = self.data;
        let element = self.element(data.scalar_type(id))?;
        match data.scalar(id) {
            Scalar::Literal(literal) => self.literal(*literal, element),
            Scalar::Carried(_, slot) => {
                let value = *self.carried.get(*slot as usize)?;
                Some(Term { value, vars: Vars::new() })
            }
            Scalar::Index(index) => self.index(*index),
            Scalar::Read(source, indices) => self.read(*source, indices),
            Scalar::Unary(op, a) => {
                let a = self.scalar(*a)?;
                let value = functions::unary(&mut self.builder(), *op, a.value)?;
                Some(Term { value, ..a })
            }
            Scalar::Binary(op, a, b) => {
                let (a, b) = (self.scalar(*a)?, self.scalar(*b)?);
                let (values, vars) = self.together(&[&a, &b])?;
                let value = functions::binary(&mut self.builder(), *op, values[0], values[1])?;
                Some(Term { value, vars })
            }
            Scalar::Compare(comparison, a, b) => {
                let (a, b) = (self.scalar(*a)?, self.scalar(*b)?);
                self.compared(Direction::from(*comparison), &a, &b)
            }
            Scalar::Select(condition, a, b) => {
                let (condition, a, b) = (self.scalar(*condition)?, self.scalar(*a)?, self.scalar(*b)?);
                self.selected(&condition, &a, &b)
            }
            Scalar::Convert(a) => {
                let a = self.scalar(*a)?;
                self.converted(a, element)
            }
            Scalar::Bitcast(a) => {
                let a = self.scalar(*a)?;
                let dims = self.dims_of(a.value);
                let same_size = self.element_of(a.value).bits() == element.bits();
                let ty = self.ty(&dims, element);
                let value = same_size.then(|| crate::bitcast_convert(&mut self.builder(), a.value, ty))?;
                Some(Term { value: value.ok()?, ..a })
            }
            Scalar::Reduce(reduction, component) => self.reduction(*reduction, *component),
            Scalar::Opaque(..) => None,
        }
    }

    fn converted(&mut self, term: Term, element: ElementType) -> Option<Term> {
        if self.element_of(term.value) == element {
            return Some(term);
        }
        let value = convert(&mut self.builder(), term.value, element).ok()?;
        Some(Term { value, ..term })
    }

    fn compared(&mut self, direction: Direction, a: &Term, b: &Term) -> Option<Term> {
        let (values, vars) = self.together(&[a, b])?;
        let value = compare(&mut self.builder(), direction, values[0], values[1]).ok()?;
        Some(Term { value, vars })
    }

    fn selected(&mut self, condition: &Term, a: &Term, b: &Term) -> Option<Term> {
        let (values, vars) = self.together(&[condition, a, b])?;
        let value = select(&mut self.builder(), values[0], values[1], values[2]).ok()?;
        Some(Term { value, vars })
    }

    /// The values of a variable.
    fn var(&mut self, var: VarId) -> Option<Term> {
        if let Some(known) = self.known.get(&var) {
            return Some(known.clone());
        }
        let extent = self.extent(var)?;
        let ty = self.ty(&[extent], self.index);
        let value = iota(&mut self.builder(), ty, 0).ok()?;
        Some(Term { value, vars: [var].into_iter().collect() })
    }

    fn index(&mut self, id: IndexId) -> Option<Term> {
        let linear = self.linear(id)?;
        self.of_linear(&linear)
    }

    fn mentions(&self, id: ScalarId, var: VarId) -> bool {
        any_index(self.data, id, &|index| match index {
            Index::Var(other) => self.is_made_of(other, var),
            _ => false,
        })
    }

    /// Whether a variable is another one, or is known to depend on it.
    fn is_made_of(&self, var: VarId, of: VarId) -> bool {
        var == of || self.known.get(&var).is_some_and(|term| term.vars.contains(&of))
    }
}

//! Slices whose place is known only when the program runs.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Builder, Dim, ElementType, INTS, Module, OpDef, OpId, Trait, ValueId, op, required, tensor};
use tofu_tdl::{
    self as tdl, BinaryOp, Comparison, Describe, Description, IndexId, Reducer, ScalarId, TypeRef, VarId,
    infer_types,
};

use crate::classes::INTEGER_SCALAR;
use crate::describe::{INDEX, all, element, extents, indices, start, variables};
use crate::shapes::{distances, operand_type, wrong_attribute, wrong_operand_count};

/// `tensor.dynamic_slice`: a box of this size. Where it would leave the tensor, it begins earlier.
pub static DYNAMIC_SLICE: OpDef = op("tensor.dynamic_slice")
    .summary("The elements of a box of `slice_sizes` that begins at `starts`, moved to lie inside.")
    .example(
        "%c = tensor.constant dense<2> : tensor<i32>\n\
         %r = tensor.dynamic_slice %x, %c, %c {slice_sizes = [1, 8]}",
    )
    .operands(&[tensor("x"), tensor("starts").class(INTEGER_SCALAR).variadic()])
    .results(&[tensor("result")])
    .attributes(&[required("slice_sizes", INTS)])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_dynamic_slice)]);

/// Adds a [`DYNAMIC_SLICE`].
///
/// # Errors
/// When there is not one start and one size for each dimension of `x`, or `x` is smaller.
pub fn dynamic_slice(
    builder: &mut Builder<'_>,
    x: ValueId,
    starts: &[ValueId],
    slice_sizes: &[i64],
) -> Result<ValueId, Diagnostic> {
    let sizes = builder.module.interner.ints(slice_sizes.iter().copied());
    let operands = [x].into_iter().chain(starts.iter().copied());
    let op = builder.op(&DYNAMIC_SLICE).operands(operands).attr("slice_sizes", sizes).infer()?;
    Ok(builder.module.result(op, 0))
}

/// `tensor.dynamic_update_slice`: the tensor with a box of it replaced. Where the box would leave it, it begins earlier.
pub static DYNAMIC_UPDATE_SLICE: OpDef = op("tensor.dynamic_update_slice")
    .summary("`x` with the box that begins at `starts`, moved to lie inside, replaced by `update`.")
    .example(
        "%c = tensor.constant dense<2> : tensor<i32>\n\
         %u = tensor.slice %x {limit = [1, 8], start = [0, 0], stride = [1, 1]}\n\
         %r = tensor.dynamic_update_slice %x, %u, %c, %c",
    )
    .operands(&[tensor("x"), tensor("update"), tensor("starts").class(INTEGER_SCALAR).variadic()])
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_dynamic_update_slice)]);

/// Adds a [`DYNAMIC_UPDATE_SLICE`].
///
/// # Errors
/// When there is not one start for each dimension of `x`, or `update` does not fit into it.
pub fn dynamic_update_slice(
    builder: &mut Builder<'_>,
    x: ValueId,
    update: ValueId,
    starts: &[ValueId],
) -> Result<ValueId, Diagnostic> {
    let operands = [x, update].into_iter().chain(starts.iter().copied());
    let op = builder.op(&DYNAMIC_UPDATE_SLICE).operands(operands).infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_dynamic_slice(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let sizes = distances(module, op, "slice_sizes", ty.rank())?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let dims = extents(&mut b, "N", ty.rank());
    let x = b.operand("x", t, &dims);
    let starts = starts(module, op, &mut b, 1, ty.rank())?;
    let (mut vars, mut at, mut picks) = (Vec::new(), Vec::new(), Picks::default());
    for (axis, &size) in sizes.iter().enumerate() {
        let slice = Slice::new(module, op, &mut b, axis, ty.dims[axis], dims[axis], size)?;
        let var = b.var(&format!("i{axis}"), slice.extent);
        let offset = b.index(var);
        vars.push(var);
        at.push(picks.place(&mut b, &slice, Some(starts[axis]), offset));
    }
    let value = b.read(x, &at);
    let value = picks.pick(&mut b, value);
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

/// A slice along one dimension of an operand.
pub(crate) struct Slice {
    axis: usize,
    /// The extent of the operand.
    whole: IndexId,
    /// The extent of the slice.
    pub(crate) extent: IndexId,
}

impl Slice {
    /// A slice of `size` elements of the dimension `axis`.
    ///
    /// # Errors
    /// The operand has fewer, or the size is negative.
    pub(crate) fn new(
        module: &Module,
        op: OpId,
        b: &mut tdl::Builder,
        axis: usize,
        dim: Dim,
        whole: IndexId,
        size: i64,
    ) -> Result<Slice, Diagnostic> {
        let known = dim.size().map(u64::cast_signed);
        if size < 0 || known.is_some_and(|whole| size > whole) {
            let message = match known {
                Some(whole) => format!("a slice of {size} elements is taken of {whole} in dimension {axis}"),
                None => format!("a slice of {size} elements is taken in dimension {axis}"),
            };
            return Err(wrong_attribute(module, op, "slice_sizes", message));
        }
        if known == Some(size) {
            return Ok(Slice { axis, whole, extent: whole });
        }
        let extent = b.constant(size);
        b.require_at_most(extent, whole);
        Ok(Slice { axis, whole, extent })
    }

    fn is_whole(&self) -> bool {
        self.whole == self.extent
    }
}

/// Elements at places that depend on data.
///
/// Each such dimension is summed over, and all places but one contribute zero: the dimension may then be split like that
/// of any sum.
#[derive(Default)]
pub(crate) struct Picks {
    vars: Vec<VarId>,
    conditions: Vec<ScalarId>,
}

impl Picks {
    /// The index of the element `offset` of a slice that begins at `start`, or 0.
    pub(crate) fn place(
        &mut self,
        b: &mut tdl::Builder,
        slice: &Slice,
        start: Option<ScalarId>,
        offset: IndexId,
    ) -> IndexId {
        let Some(start) = start.filter(|_| !slice.is_whole()) else { return offset };
        let last = b.index_sub(slice.whole, slice.extent);
        let first = clamped(b, start, last);
        let var = b.var(&format!("v{}", slice.axis), slice.whole);
        let (wanted, place) = (b.index_add(first, offset), b.index(var));
        self.vars.push(var);
        self.conditions.push(b.compare_indices(Comparison::Eq, wanted, place));
        place
    }

    /// The element at the places.
    pub(crate) fn pick(self, b: &mut tdl::Builder, value: ScalarId) -> ScalarId {
        let Some(is_there) = all(b, self.conditions) else { return value };
        let ty = b.type_of(value);
        let zero = b.int(0, ty);
        let term = b.select(is_there, value, zero);
        b.reduce(Reducer::Sum, &self.vars, term)
    }
}

fn describe_dynamic_update_slice(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let (ty, update) = (operand_type(module, op, 0)?, operand_type(module, op, 1)?);
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let dims = extents(&mut b, "N", ty.rank());
    let x = b.operand("x", t, &dims);
    let mut sizes = Vec::new();
    for axis in 0..ty.rank() {
        let is_whole = update.dims.get(axis) == Some(&ty.dims[axis]) && ty.dims[axis] != Dim::Unknown;
        sizes.push(if is_whole { dims[axis] } else { b.extent(&format!("M{axis}")) });
        if !is_whole {
            b.require_at_most(sizes[axis], dims[axis]);
        }
    }
    let source = b.operand("update", t, &sizes);
    let starts = starts(module, op, &mut b, 2, ty.rank())?;
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let (mut places, mut inside) = (Vec::new(), Vec::new());
    for axis in 0..ty.rank() {
        // What replaces a whole dimension begins at its beginning.
        if sizes[axis] == dims[axis] {
            places.push(at[axis]);
            continue;
        }
        let last = b.index_sub(dims[axis], sizes[axis]);
        let first = clamped(&mut b, starts[axis], last);
        let end = b.index_add(first, sizes[axis]);
        inside.push(b.compare_indices(Comparison::Le, first, at[axis]));
        inside.push(b.compare_indices(Comparison::Lt, at[axis], end));
        places.push(b.index_sub(at[axis], first));
    }
    let mut value = b.read(source, &places);
    if let Some(inside) = all(&mut b, inside) {
        let kept = b.read(x, &at);
        value = b.select(inside, value, kept);
    }
    b.output("result", t, &vars, value);
    b.finish_for(module, op)
}

/// The scalars that say where a slice begins, from the operand `first` on: one for each dimension.
fn starts(
    module: &Module,
    op: OpId,
    b: &mut tdl::Builder,
    first: usize,
    rank: usize,
) -> Result<Vec<ScalarId>, Diagnostic> {
    let given = module.operand_count(op).saturating_sub(first);
    if given != rank {
        return Err(wrong_operand_count(
            module,
            op,
            &format!("one start for each of {rank} dimensions, not {given}"),
        ));
    }
    let mut scalars = Vec::new();
    for number in 0..rank {
        let element = operand_type(module, op, first + number)?.element;
        let source = b.operand(&format!("starts{number}"), TypeRef::Concrete(element), &[]);
        scalars.push(b.read(source, &[]));
    }
    Ok(scalars)
}

/// The number nearest to `start` between 0 and `last`, as an index.
fn clamped(b: &mut tdl::Builder, start: ScalarId, last: IndexId) -> IndexId {
    let zero = b.constant(0);
    let (start, last, zero) = (start_value(b, start, last), b.index_value(last), b.index_value(zero));
    let lowered = b.binary(BinaryOp::Min, start, last);
    let clamped = b.binary(BinaryOp::Max, lowered, zero);
    b.data_index(clamped)
}

/// A start as the value of an index; one that is too large for an index becomes `most`.
pub(crate) fn start_value(b: &mut tdl::Builder, start: ScalarId, most: IndexId) -> ScalarId {
    if b.type_of(start) != UI64 {
        return b.convert(start, INDEX);
    }
    // Converted as it is, it would become a negative number.
    let most = b.index_value(most);
    let most = b.convert(most, UI64);
    let lowered = b.binary(BinaryOp::Min, start, most);
    b.convert(lowered, INDEX)
}

const UI64: TypeRef = TypeRef::Concrete(ElementType::Ui64);

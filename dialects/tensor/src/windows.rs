//! Windows that move over dimensions: how a window, a convolution's kernel among them, sees the elements; and the ops
//! that combine or choose the elements in each window.
//!
//! The elements of a dimension are spread apart (base dilation), values are put at its ends or taken away (padding), and
//! a window of some elements, themselves apart (window dilation), moves over it in steps (stride). Under offset `k` of
//! the window at position `p` lies place `p·stride + k·dilation − low` of the spread elements, which is an element if it
//! is a multiple of the base dilation and inside.

use smallvec::SmallVec;
use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    Builder, Dim, INTS, INTS_PAIR, Module, OpDef, OpId, Trait, ValueId, op, optional, region, required,
    tensor,
};
use tofu_tdl::{
    self as tdl, Comparison, Describe, Description, IndexId, Reducer, ScalarId, TypeRef, VarId, infer_types,
};

use crate::classes::ORDERED;
use crate::describe::{BOOL, all, indices, start, sum};
use crate::reduce::{finish, inits, inputs, inputs_and_inits, twice};
use crate::regions::{check_arguments, check_combiner, check_yield, fill, scalar};
use crate::shapes::{operand_type, pair, per_dimension_or, wrong_attribute};

/// A window along one dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// How many elements it has.
    pub(crate) size: i64,
    pub(crate) stride: i64,
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) base_dilation: i64,
    pub(crate) dilation: i64,
}

/// A dimension over which a window moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Track {
    window: Window,
    /// The extent of the dimension.
    pub(crate) extent: IndexId,
    /// How many positions of the window there are.
    pub(crate) positions: IndexId,
    /// Whether there is something only because of padding, or nothing at all.
    is_degenerate: bool,
}

impl Window {
    /// Whether there is one position for each element, and only that element in it.
    fn is_trivial(&self) -> bool {
        (self.size, self.stride, self.low, self.high, self.base_dilation) == (1, 1, 0, 0, 1)
    }

    /// Moves the window over a dimension, whose extent is called `name` unless its number matters.
    pub(crate) fn track(self, b: &mut tdl::Builder, name: &str, dim: Dim) -> Track {
        // From the first to the last element of the window, both included.
        let reach = (self.size - 1).saturating_mul(self.dilation).saturating_add(1);
        let reach = if self.size == 0 { 0 } else { reach };
        // Of an extent n > 0, the last position begins at n·base_dilation + last.
        let last = (self.low + self.high + 1 - self.base_dilation).saturating_sub(reach);
        let known = dim.size().and_then(|size| i64::try_from(size).ok());
        if let Some(extent) = known {
            let spread = if extent == 0 { 0 } else { (extent - 1).saturating_mul(self.base_dilation) + 1 };
            let padded = spread.saturating_add(self.low + self.high);
            if extent == 0 || padded <= 0 || reach > padded {
                let positions =
                    if padded <= 0 || reach > padded { 0 } else { (padded - reach) / self.stride + 1 };
                let (extent, positions) = (b.constant(extent), b.constant(positions));
                return Track { window: self, extent, positions, is_degenerate: true };
            }
        }
        let extent = b.extent(name);
        // The window fits in, and there is an element.
        let least = (-last.div_euclid(self.base_dilation)).max(1);
        let bound = b.constant(least);
        if !self.is_trivial() {
            b.require_at_most(bound, extent);
        }
        let positions = if self.stride == 1 {
            b.affine(self.base_dilation, extent, last + 1)
        } else {
            let spread = b.affine(self.base_dilation, extent, last);
            let stride = b.constant(self.stride);
            let steps = b.index_floordiv(spread, stride);
            b.affine(1, steps, 1)
        };
        Track { window: self, extent, positions, is_degenerate: false }
    }
}

impl Track {
    /// A variable over the offsets in the window; none if there is one only.
    pub(crate) fn offset(&self, b: &mut tdl::Builder, name: &str) -> Option<VarId> {
        let size = b.constant(self.window.size);
        (self.window.size != 1).then(|| b.var(name, size))
    }

    /// The index of the element under an offset of the window at a position, and what must hold for one to be there.
    pub(crate) fn element(
        &self,
        b: &mut tdl::Builder,
        position: IndexId,
        offset: Option<VarId>,
    ) -> (IndexId, SmallVec<[ScalarId; 3]>) {
        let Window { stride, low, high, base_dilation, dilation, .. } = self.window;
        let (zero, apart) = (b.constant(0), b.constant(base_dilation));
        let within = offset.map_or(zero, |offset| b.index(offset));
        let (begin, within) = (b.affine(stride, position, 0), b.affine(dilation, within, 0));
        let place = b.index_add(begin, within);
        let place = b.affine(1, place, -low);
        let index = b.index_floordiv(place, apart);
        let mut conditions = SmallVec::new();
        if low > 0 || self.is_degenerate {
            conditions.push(b.compare_indices(Comparison::Ge, index, zero));
        }
        if base_dilation > 1 {
            let rest = b.index_mod(place, apart);
            conditions.push(b.compare_indices(Comparison::Eq, rest, zero));
        }
        // Places after the last element that are fewer than from one element to the next hold none.
        if high >= base_dilation || self.is_degenerate {
            conditions.push(b.compare_indices(Comparison::Lt, index, self.extent));
        }
        (index, conditions)
    }

    /// The positions of the window at which it covers an element. Neither window nor elements are dilated.
    fn covers(&self, b: &mut tdl::Builder, element: IndexId, name: &str) -> Cover {
        let Window { size, stride, low, high, .. } = self.window;
        let (zero, steps) = (b.constant(0), b.constant(stride));
        let place = b.affine(1, element, low);
        let mut conditions = SmallVec::new();
        if size <= stride {
            // At most one: windows do not overlap.
            let (position, offset) = (b.index_floordiv(place, steps), b.index_mod(place, steps));
            if low < 0 {
                conditions.push(b.compare_indices(Comparison::Ge, position, zero));
            }
            if size < stride {
                let size = b.constant(size);
                conditions.push(b.compare_indices(Comparison::Lt, offset, size));
            }
            if high < 0 || stride > 1 {
                conditions.push(b.compare_indices(Comparison::Lt, position, self.positions));
            }
            return Cover { over: None, offset, position, conditions };
        }
        let extent = b.constant(size);
        let over = b.var(name, extent);
        let offset = b.index(over);
        let begin = b.index_sub(place, offset);
        let position = b.index_floordiv(begin, steps);
        if low < size - 1 {
            conditions.push(b.compare_indices(Comparison::Ge, position, zero));
        }
        if stride > 1 {
            let rest = b.index_mod(begin, steps);
            conditions.push(b.compare_indices(Comparison::Eq, rest, zero));
        }
        if high < size - 1 || stride > 1 {
            conditions.push(b.compare_indices(Comparison::Lt, position, self.positions));
        }
        Cover { over: Some(over), offset, position, conditions }
    }
}

/// The positions of a window at which it covers an element.
struct Cover {
    /// The offsets in the window at which the element may lie; none if there is at most one.
    over: Option<VarId>,
    /// The offset, and the position of the window.
    offset: IndexId,
    position: IndexId,
    /// What must hold for there to be such a position.
    conditions: SmallVec<[ScalarId; 3]>,
}

/// The paddings of `count` dimensions, before and after; none if they are not given.
pub(crate) fn padding(
    module: &Module,
    op: OpId,
    count: usize,
) -> Result<[SmallVec<[i64; 4]>; 2], Diagnostic> {
    let Some((low, high)) = pair(module, op, "padding") else {
        return Ok([SmallVec::from_elem(0, count), SmallVec::from_elem(0, count)]);
    };
    let largest = tofu_ir::MAX_TENSOR_BYTES;
    if low.len() != count || high.len() != count {
        let message = format!(
            "`padding` has lengths {} and {}, but {count} dimensions are padded",
            low.len(),
            high.len()
        );
        return Err(wrong_attribute(module, op, "padding", message));
    }
    if let Some(large) = low.iter().chain(high).find(|value| value.unsigned_abs() > largest) {
        let message = format!("`padding` holds {large}, but no tensor is so large");
        return Err(wrong_attribute(module, op, "padding", message));
    }
    Ok([low.into(), high.into()])
}

/// The windows of an op along all dimensions of its operand.
fn windows(module: &Module, op: OpId, rank: usize) -> Result<Vec<Window>, Diagnostic> {
    let list = |name: &str, default: i64| per_dimension_or(module, op, name, rank, default, 1);
    let sizes = list("window_dimensions", 1)?;
    let strides = list("window_strides", 1)?;
    let base_dilations = list("base_dilations", 1)?;
    let dilations = list("window_dilations", 1)?;
    let [low, high] = padding(module, op, rank)?;
    Ok((0..rank)
        .map(|dim| Window {
            size: sizes[dim],
            stride: strides[dim],
            low: low[dim],
            high: high[dim],
            base_dilation: base_dilations[dim],
            dilation: dilations[dim],
        })
        .collect())
}

/// `tensor.reduce_window`: combines the elements in each position of a window.
///
/// Of `n` inputs and `n` initial values, the body takes `n` scalars combined so far and `n` elements, and yields the
/// combination, as that of [`REDUCE`](crate::REDUCE) does. Where a window reaches into padding, it finds initial values.
pub static REDUCE_WINDOW: OpDef = op("tensor.reduce_window")
    .summary("Combines the elements in each position of a window, beginning with `inits`.")
    .example(
        "%r = tensor.reduce_window %x, %s {padding = [0, 1] x [0, 1], window_dimensions = [1, 3], window_strides = \
         [1, 2]} ({\n  ^body(%a: tensor<f32>, %b: tensor<f32>):\n    %c = tensor.maximum %a, %b\n    tensor.yield %c\n})",
    )
    .operands(&[tensor("inputs").variadic(), tensor("inits").variadic()])
    .results(&[tensor("results").variadic()])
    .attributes(&[
        optional("base_dilations", INTS),
        optional("padding", INTS_PAIR),
        optional("window_dilations", INTS),
        required("window_dimensions", INTS),
        optional("window_strides", INTS),
    ])
    .regions(&[region("body")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_reduce_window)]);

/// The windows of a [`REDUCE_WINDOW`] or [`SELECT_AND_SCATTER`]: for each dimension their extents, and by how much they
/// move, how far elements and the windows' own elements are apart, and what is put before and after the elements. What
/// is left empty is 1 in each dimension; the padding then is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(missing_docs, reason = "the names are those of the attributes")]
pub struct WindowDimensions<'a> {
    pub window_dimensions: &'a [i64],
    pub window_strides: &'a [i64],
    pub base_dilations: &'a [i64],
    pub window_dilations: &'a [i64],
    pub padding_low: &'a [i64],
    pub padding_high: &'a [i64],
}

impl WindowDimensions<'_> {
    fn attributes(&self, builder: &mut Builder<'_>) -> Vec<(&'static str, tofu_ir::Attr)> {
        let interner = &mut builder.module.interner;
        let lists = [
            ("base_dilations", self.base_dilations),
            ("window_dilations", self.window_dilations),
            ("window_dimensions", self.window_dimensions),
            ("window_strides", self.window_strides),
        ];
        let mut attributes = Vec::new();
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            attributes.push((name, interner.ints(list.iter().copied())));
        }
        if !self.padding_low.is_empty() || !self.padding_high.is_empty() {
            let sides = [self.padding_low, self.padding_high].map(|side| interner.ints(side.iter().copied()));
            attributes.push(("padding", interner.attr(tofu_ir::AttrData::Pair(sides[0], sides[1]))));
        }
        attributes
    }
}

/// Adds a [`REDUCE_WINDOW`]. `body` is as that of [`reduce`](crate::reduce()).
///
/// # Errors
/// When inputs, initial values and windows do not fit, or `body` fails.
pub fn reduce_window(
    builder: &mut Builder<'_>,
    inputs: &[ValueId],
    inits: &[ValueId],
    windows: WindowDimensions<'_>,
    body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Diagnostic>,
) -> Result<Vec<ValueId>, Diagnostic> {
    let attributes = windows.attributes(builder);
    let types = twice(builder, inits);
    let op = builder.op(&REDUCE_WINDOW).operands(inputs.iter().chain(inits).copied()).region();
    let op = attributes.into_iter().fold(op, |op, (name, attr)| op.attr(name, attr)).build();
    fill(builder, op, vec![(types, Box::new(body))])
}

fn describe_reduce_window(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let count = inputs_and_inits(module, op)?;
    let ty = operand_type(module, op, 0)?;
    let windows = windows(module, op, ty.rank())?;
    check_combiner(module, op, 0, count, count)?;
    let mut b = start(module, op);
    let tracks = tracks(&mut b, &windows, &ty.dims);
    let dims: Vec<IndexId> = tracks.iter().map(|track| track.extent).collect();
    let inputs = inputs(module, op, &mut b, "inputs", 0, count, &dims)?;
    let inits = inits(module, op, &mut b, "inits", count, count)?;
    let vars: Vec<VarId> =
        tracks.iter().enumerate().map(|(dim, track)| b.var(&format!("i{dim}"), track.positions)).collect();
    let at = indices(&mut b, &vars);
    let seen = Seen::new(&mut b, &tracks, &at);
    let elements: Vec<ScalarId> = inputs.iter().map(|&input| b.read(input, &seen.at)).collect();
    let results =
        b.reduce_region(module, module.region(op, 0), &inits, &seen.over, seen.inside, &elements)?;
    finish(module, op, b, &vars, &results)
}

fn tracks(b: &mut tdl::Builder, windows: &[Window], dims: &[Dim]) -> Vec<Track> {
    let pairs = windows.iter().zip(dims).enumerate();
    pairs.map(|(dim, (window, &extent))| window.track(b, &format!("N{dim}"), extent)).collect()
}

/// The elements in the windows at a position.
struct Seen {
    /// The offsets in the windows, where there are several, and in each dimension.
    over: Vec<VarId>,
    offsets: Vec<IndexId>,
    /// The element under them.
    at: Vec<IndexId>,
    /// Whether it is there.
    inside: Option<ScalarId>,
}

impl Seen {
    fn new(b: &mut tdl::Builder, tracks: &[Track], position: &[IndexId]) -> Seen {
        let zero = b.constant(0);
        let (mut over, mut offsets, mut at) = (Vec::new(), Vec::new(), Vec::new());
        let mut conditions = Vec::new();
        for (dim, (track, &position)) in tracks.iter().zip(position).enumerate() {
            let offset = track.offset(b, &format!("k{dim}"));
            let (index, own) = track.element(b, position, offset);
            over.extend(offset);
            offsets.push(offset.map_or(zero, |offset| b.index(offset)));
            at.push(index);
            conditions.extend(own);
        }
        Seen { over, offsets, at, inside: all(b, conditions) }
    }
}

/// The number of an offset among all in the windows, row-major.
fn number(b: &mut tdl::Builder, tracks: &[Track], offsets: &[IndexId]) -> ScalarId {
    let mut stride = 1;
    let mut parts = Vec::new();
    for (track, &offset) in tracks.iter().zip(offsets).rev() {
        parts.push(b.affine(stride, offset, 0));
        stride = stride.saturating_mul(track.window.size);
    }
    let number = sum(b, parts.into_iter().rev());
    let number = b.index_value(number);
    b.convert(number, PICK)
}

/// `tensor.select_and_scatter`: chooses one element in each position of a window, and combines into the place of that
/// element the source's element for the window: the gradient of a pooling.
///
/// The region `select` says of two elements whether the first one is chosen, the region `scatter` combines.
pub static SELECT_AND_SCATTER: OpDef = op("tensor.select_and_scatter")
    .summary(
        "For each position of a window, combines an element of `source` into the place of the element of `operand` \
         that `select` chooses in the window.",
    )
    .example(
        "%u = tensor.slice %y {limit = [4, 4], start = [0, 0], stride = [1, 1]}\n\
         %r = tensor.select_and_scatter %x, %u, %s {window_dimensions = [1, 2], window_strides = [1, 2]} ({\n  \
         ^select(%a: tensor<f32>, %b: tensor<f32>):\n    %c = tensor.compare %a, %b {direction = \"GE\"}\n    \
         tensor.yield %c\n}, {\n  ^scatter(%a: tensor<f32>, %b: tensor<f32>):\n    %c = tensor.add %a, %b\n    \
         tensor.yield %c\n})",
    )
    .operands(&[tensor("operand").class(ORDERED), tensor("source").class(ORDERED), tensor("init_value").class(ORDERED)])
    .results(&[tensor("result")])
    .attributes(&[
        optional("padding", INTS_PAIR),
        required("window_dimensions", INTS),
        optional("window_strides", INTS),
    ])
    .regions(&[region("select"), region("scatter")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_select_and_scatter)]);

/// Adds a [`SELECT_AND_SCATTER`]. `select` is given two elements and says whether the first one is chosen; `combine` is
/// given what is combined so far and an element of `source`.
///
/// # Errors
/// When the tensors and windows do not fit, or a body fails.
pub fn select_and_scatter(
    builder: &mut Builder<'_>,
    operand: ValueId,
    source: ValueId,
    init_value: ValueId,
    windows: WindowDimensions<'_>,
    select: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Diagnostic>,
    combine: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Diagnostic>,
) -> Result<ValueId, Diagnostic> {
    let attributes = windows.attributes(builder);
    let types = twice(builder, &[init_value]);
    let op = builder.op(&SELECT_AND_SCATTER).operands([operand, source, init_value]).region().region();
    let op = attributes.into_iter().fold(op, |op, (name, attr)| op.attr(name, attr)).build();
    let results = fill(builder, op, vec![(types.clone(), Box::new(select)), (types, Box::new(combine))])?;
    Ok(results[0])
}

fn describe_select_and_scatter(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let ty = operand_type(module, op, 0)?;
    let windows = windows(module, op, ty.rank())?;
    let own = scalar(ty.element);
    check_arguments(module, op, 0, &[own.clone(), own])?;
    check_yield(module, op, 0, &[scalar(tofu_ir::ElementType::I1)])?;
    check_combiner(module, op, 1, 2, 1)?;
    let mut b = start(module, op);
    let element = TypeRef::Concrete(ty.element);
    let tracks = tracks(&mut b, &windows, &ty.dims);
    let dims: Vec<IndexId> = tracks.iter().map(|track| track.extent).collect();
    let positions: Vec<IndexId> = tracks.iter().map(|track| track.positions).collect();
    let operand = b.operand("operand", element, &dims);
    let source = inputs(module, op, &mut b, "source", 1, 1, &positions)?[0];
    let inits = inits(module, op, &mut b, "init_value", 2, 1)?;
    // Which offset is chosen in each window.
    let vars: Vec<VarId> =
        positions.iter().enumerate().map(|(dim, &extent)| b.var(&format!("p{dim}"), extent)).collect();
    let at = indices(&mut b, &vars);
    let seen = Seen::new(&mut b, &tracks, &at);
    let value = b.read(operand, &seen.at);
    let chosen = if seen.over.is_empty() {
        None
    } else {
        let number = number(&mut b, &tracks, &seen.offsets);
        let pick = chosen(module, op, &mut b, element, &seen, value, number)?;
        Some(b.define("chosen", &vars, pick))
    };
    // The windows that cover an element.
    let vars: Vec<VarId> =
        dims.iter().enumerate().map(|(dim, &extent)| b.var(&format!("i{dim}"), extent)).collect();
    let at = indices(&mut b, &vars);
    let (mut over, mut position, mut offsets, mut conditions) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (dim, (track, &element)) in tracks.iter().zip(&at).enumerate() {
        let cover = track.covers(&mut b, element, &format!("k{dim}"));
        over.extend(cover.over);
        position.push(cover.position);
        offsets.push(cover.offset);
        conditions.extend(cover.conditions);
    }
    if operand_type(module, op, 1)?.element_count() == Some(0) {
        let nothing: Vec<ScalarId> = inits.iter().map(|init| init.1).collect();
        return finish(module, op, b, &vars, &nothing);
    }
    let mut guard = all(&mut b, conditions);
    if let Some(chosen) = chosen {
        let pick = b.read(chosen, &position);
        let own = number(&mut b, &tracks, &offsets);
        let is_own = b.compare(Comparison::Eq, pick, own);
        guard = Some(match guard {
            // Where there is no window, none is read.
            Some(inside) => {
                let no = b.int(0, BOOL);
                let is_own = b.select(inside, is_own, no);
                b.binary(tdl::BinaryOp::And, inside, is_own)
            }
            None => is_own,
        });
    }
    let update = b.read(source, &position);
    let results = b.reduce_region(module, module.region(op, 1), &inits, &over, guard, &[update])?;
    finish(module, op, b, &vars, &results)
}

const PICK: TypeRef = TypeRef::Concrete(tofu_ir::ElementType::I64);

/// The number of the offset whose element the region `select` chooses in a window: of two, the first one if the region
/// says so; where there is no element, none is chosen.
fn chosen(
    module: &Module,
    op: OpId,
    b: &mut tdl::Builder,
    element: TypeRef,
    seen: &Seen,
    value: ScalarId,
    number: ScalarId,
) -> Result<ScalarId, Diagnostic> {
    let combiner =
        b.combiner("choose", &[BOOL, element, PICK], &["any_a", "a", "at_a", "any_b", "b", "at_b"]);
    let [any_a, a, at_a, any_b, c, at_b] = [0, 1, 2, 3, 4, 5].map(|slot| b.carried(combiner, slot));
    let prefers = b.inline_region(module, module.region(op, 0), &[a, c])?[0];
    let none_b = b.unary(tdl::UnaryOp::Not, any_b);
    let is_first = b.binary(tdl::BinaryOp::Or, none_b, prefers);
    let is_first = b.binary(tdl::BinaryOp::And, any_a, is_first);
    let any = b.binary(tdl::BinaryOp::Or, any_a, any_b);
    let (kept, at) = (b.select(is_first, a, c), b.select(is_first, at_a, at_b));
    let (no, zero, nowhere) = (b.int(0, BOOL), b.int(0, element), b.int(-1, PICK));
    b.finish_combiner(combiner, &[no, zero, nowhere], &[any, kept, at]);
    let yes = b.int(1, BOOL);
    let mut elements = [yes, value, number];
    if let Some(inside) = seen.inside {
        elements = [inside, b.select(inside, value, zero), b.select(inside, number, nowhere)];
    }
    Ok(b.reduce_many(Reducer::Custom(combiner), &seen.over, &elements, 2))
}

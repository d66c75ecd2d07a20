//! Slices at many places that data says: `gather` takes them, `scatter` puts them back.
//!
//! Both have a tensor of start indices: along `index_vector_dim` lie the indices of one place (if that is its rank, each
//! element is a place). The dimensions of the operand are of three kinds: window dimensions, along which a slice extends;
//! dropped ones, of which a slice has one element; and batching ones, which run along with a dimension of the start
//! indices. The other tensor (what `gather` gives, what `scatter` is given) has the window dimensions and those of the
//! places.

use smallvec::SmallVec;
use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    BOOL, Builder, Dim, INT, INTS, Module, OpDef, OpId, TensorType, Trait, ValueId, op, optional, region,
    required, tensor,
};
use tofu_tdl::{
    self as tdl, Comparison, Describe, Description, IndexId, ScalarId, Source, TypeRef, VarId, infer_types,
};

use crate::classes::INTEGERS_NOT_BOOLEANS;
use crate::describe::{all, element, extents, indices, start, variables};
use crate::dynamic::{Picks, Slice, start_value};
use crate::reduce::{at_least_one, finish, inputs};
use crate::regions::{check_combiner, fill};
use crate::shapes::{Axes, dimensions, distances, integer, listed_dimensions, operand_type, wrong_attribute};

/// `tensor.gather`: slices of the operand, one for each place. A slice that would leave the operand begins earlier.
pub static GATHER: OpDef = op("tensor.gather")
    .summary(
        "Slices of `operand` of `slice_sizes`, one for each place in `start_indices`, moved to lie inside.",
    )
    .example(
        "%at = tensor.constant dense<[3, 0, 1]> : tensor<3xi32>\n\
         %r = tensor.gather %x, %at {collapsed_slice_dims = [0], index_vector_dim = 1, offset_dims = [1], \
         slice_sizes = [1, 8], start_index_map = [0]}",
    )
    .operands(&[tensor("operand"), tensor("start_indices").class(INTEGERS_NOT_BOOLEANS)])
    .results(&[tensor("result")])
    .attributes(&[
        optional("collapsed_slice_dims", INTS),
        required("index_vector_dim", INT),
        optional("indices_are_sorted", BOOL),
        required("offset_dims", INTS),
        optional("operand_batching_dims", INTS),
        required("slice_sizes", INTS),
        optional("start_indices_batching_dims", INTS),
        required("start_index_map", INTS),
    ])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_gather)]);

/// How the dimensions of the tensors of a [`GATHER`] or [`SCATTER`] go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlaceDimensions<'a> {
    /// The dimensions of the result (of the updates) that are those of a slice.
    pub window: &'a [i64],
    /// The dimensions of the operand of which a slice has one element, and which are left out of the window.
    pub dropped: &'a [i64],
    /// The dimensions of the operand that run along with dimensions of the start indices.
    pub batching: &'a [i64],
    /// These dimensions of the start indices.
    pub indices_batching: &'a [i64],
    /// Into which dimension of the operand each start index is one.
    pub map: &'a [i64],
    /// Along which dimension of the start indices those of one place lie.
    pub vector: i64,
}

/// The names of the attributes that hold [`PlaceDimensions`].
struct Names {
    window: &'static str,
    dropped: &'static str,
    batching: &'static str,
    indices_batching: &'static str,
    map: &'static str,
}

const OF_GATHER: Names = Names {
    window: "offset_dims",
    dropped: "collapsed_slice_dims",
    batching: "operand_batching_dims",
    indices_batching: "start_indices_batching_dims",
    map: "start_index_map",
};

const OF_SCATTER: Names = Names {
    window: "update_window_dims",
    dropped: "inserted_window_dims",
    batching: "input_batching_dims",
    indices_batching: "scatter_indices_batching_dims",
    map: "scatter_dims_to_operand_dims",
};

impl PlaceDimensions<'_> {
    fn attributes(&self, names: &Names) -> [(&'static str, SmallVec<[i64; 4]>); 5] {
        [
            (names.window, self.window),
            (names.dropped, self.dropped),
            (names.batching, self.batching),
            (names.indices_batching, self.indices_batching),
            (names.map, self.map),
        ]
        .map(|(name, list)| (name, list.into()))
    }
}

/// Adds a [`GATHER`] of slices of `slice_sizes`.
///
/// # Errors
/// When dimensions and shapes do not fit.
pub fn gather(
    builder: &mut Builder<'_>,
    operand: ValueId,
    start_indices: ValueId,
    dimensions: PlaceDimensions<'_>,
    slice_sizes: &[i64],
) -> Result<ValueId, Diagnostic> {
    let interner = &mut builder.module.interner;
    let vector = interner.int(dimensions.vector);
    let sizes = interner.ints(slice_sizes.iter().copied());
    let lists = dimensions.attributes(&OF_GATHER).map(|(name, list)| (name, interner.ints(list)));
    let op = builder.op(&GATHER).operands([operand, start_indices]).attr("index_vector_dim", vector);
    let op = lists.into_iter().fold(op, |op, (name, list)| op.attr(name, list));
    let op = op.attr("slice_sizes", sizes).infer()?;
    Ok(builder.module.result(op, 0))
}

/// `tensor.scatter`: the inputs with elements combined into them, each update at its place. What lies outside is left out.
///
/// Of `n` inputs and `n` tensors of updates, the region takes `n` elements that are there and `n` updates, and yields
/// what takes their place. In which order updates of one element come is not fixed; here it is that of the places.
pub static SCATTER: OpDef = op("tensor.scatter")
    .summary("`inputs` with `updates` combined into them, a slice at each place in `scatter_indices`.")
    .example(
        "%at = tensor.constant dense<[[3], [0]]> : tensor<2x1xi32>\n\
         %u = tensor.slice %y {limit = [2, 8], start = [0, 0], stride = [1, 1]}\n\
         %r = tensor.scatter %x, %at, %u {index_vector_dim = 1, inserted_window_dims = [0], \
         scatter_dims_to_operand_dims = [0], update_window_dims = [1]} ({\n  \
         ^update_computation(%a: tensor<f32>, %b: tensor<f32>):\n    %c = tensor.add %a, %b\n    tensor.yield %c\n})",
    )
    .operands(&[
        tensor("inputs").variadic(),
        tensor("scatter_indices").class(INTEGERS_NOT_BOOLEANS),
        tensor("updates").variadic(),
    ])
    .results(&[tensor("results").variadic()])
    .attributes(&[
        required("index_vector_dim", INT),
        optional("indices_are_sorted", BOOL),
        optional("input_batching_dims", INTS),
        optional("inserted_window_dims", INTS),
        required("scatter_dims_to_operand_dims", INTS),
        optional("scatter_indices_batching_dims", INTS),
        optional("unique_indices", BOOL),
        required("update_window_dims", INTS),
    ])
    .regions(&[region("update_computation")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_scatter)]);

/// Adds a [`SCATTER`]. `body` is given the elements that are there and the updates, `inputs.len()` of each, and gives
/// what takes their place.
///
/// # Errors
/// When dimensions and shapes do not fit, or `body` fails.
pub fn scatter(
    builder: &mut Builder<'_>,
    inputs: &[ValueId],
    scatter_indices: ValueId,
    updates: &[ValueId],
    dimensions: PlaceDimensions<'_>,
    body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Diagnostic>,
) -> Result<Vec<ValueId>, Diagnostic> {
    let tensors = inputs.iter().map(|&input| builder.module.tensor_type(input).map(|ty| ty.element));
    let elements = tensors.collect::<Option<Vec<_>>>().unwrap_or_default();
    let interner = &mut builder.module.interner;
    let types: Vec<_> =
        elements.iter().chain(&elements).map(|&element| interner.tensor(&[], element)).collect();
    let vector = interner.int(dimensions.vector);
    let lists = dimensions.attributes(&OF_SCATTER).map(|(name, list)| (name, interner.ints(list)));
    let operands = inputs.iter().copied().chain([scatter_indices]).chain(updates.iter().copied());
    let op = builder.op(&SCATTER).operands(operands).attr("index_vector_dim", vector).region();
    let op = lists.into_iter().fold(op, |op, (name, list)| op.attr(name, list)).build();
    fill(builder, op, vec![(types, Box::new(body))])
}

/// What the dimensions of an operand are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Dimension of this number of the window.
    Window(usize),
    Dropped,
    /// Runs along with this dimension of the start indices.
    Batching(usize),
}

/// The dimensions of an op, checked.
struct Places {
    roles: Vec<Role>,
    /// Where in a place the start index of each dimension is, if it has one.
    starts: Vec<Option<usize>>,
    /// The dimensions of the start indices but that of the vector.
    batch: Vec<usize>,
    /// The dimension along which the start indices of a place lie; their rank, if each element is a place.
    vector: usize,
    /// How many start indices a place has.
    count: usize,
    /// The dimensions of the result or of the updates that are those of the window; the others are those of the places.
    window: Axes,
}

impl Places {
    fn read(
        module: &Module,
        op: OpId,
        names: &Names,
        operand: &TensorType,
        start_indices: &TensorType,
    ) -> Result<Places, Diagnostic> {
        let rank = operand.rank();
        let list = |name: &str, rank: usize| listed_dimensions(module, op, name, rank);
        let wrong = |name: &str, message: String| Err(wrong_attribute(module, op, name, message));
        let vector = integer(module, op, "index_vector_dim")?;
        let Some(vector) = usize::try_from(vector).ok().filter(|&vector| vector <= start_indices.rank())
        else {
            let message = format!(
                "`index_vector_dim` is {vector}, but the start indices have rank {}",
                start_indices.rank()
            );
            return wrong("index_vector_dim", message);
        };
        let batch: Vec<usize> = (0..start_indices.rank()).filter(|&dim| dim != vector).collect();
        let window = {
            let listed = module.ints(op, names.window);
            dimensions(module, op, names.window, listed, batch.len() + listed.len())?
        };
        let dropped = list(names.dropped, rank)?;
        let batching = list(names.batching, rank)?;
        let along = list(names.indices_batching, start_indices.rank())?;
        let map = list(names.map, rank)?;
        if batching.len() != along.len() {
            let message = format!(
                "`{}` names {} dimensions, but `{}` {}",
                names.batching,
                batching.len(),
                names.indices_batching,
                along.len()
            );
            return wrong(names.batching, message);
        }
        if along.contains(&vector) {
            let message = format!("`{}` names the dimension of the index vector", names.indices_batching);
            return wrong(names.indices_batching, message);
        }
        if let Some(dim) = batching.iter().find(|dim| dropped.contains(dim) || map.contains(dim)) {
            let message =
                format!("dimension {dim} cannot be in `{}` and also be dropped or indexed", names.batching);
            return wrong(names.batching, message);
        }
        if window.len() + dropped.len() + batching.len() != rank {
            let message = format!(
                "`{}` names {} dimensions, but of {rank} of the operand {} are left for the window",
                names.window,
                window.len(),
                rank.saturating_sub(dropped.len() + batching.len())
            );
            return wrong(names.window, message);
        }
        if !window.is_sorted() {
            return wrong(names.window, format!("`{}` must be in ascending order", names.window));
        }
        let mut next = 0..;
        let roles = (0..rank)
            .map(|dim| match batching.iter().position(|&other| other == dim) {
                Some(number) => Role::Batching(along[number]),
                None if dropped.contains(&dim) => Role::Dropped,
                None => Role::Window(next.next().unwrap_or_default()),
            })
            .collect();
        if vector == start_indices.rank() && map.len() != 1 {
            let message = format!(
                "`{}` names {} dimensions, but each element of the start indices is a place",
                names.map,
                map.len()
            );
            return wrong(names.map, message);
        }
        let starts = (0..rank).map(|dim| map.iter().position(|&other| other == dim)).collect();
        Ok(Places { roles, starts, batch, vector, count: map.len(), window })
    }

    /// The variables over the places, by the dimension of the start indices: `S0`, `S1`, … where they are not given.
    fn places(
        &self,
        b: &mut tdl::Builder,
        given: &[(usize, VarId, IndexId)],
    ) -> Vec<(usize, VarId, IndexId)> {
        let mut places = Vec::new();
        for (number, &dim) in self.batch.iter().enumerate() {
            places.push(match given.iter().find(|place| place.0 == dim) {
                Some(&place) => place,
                None => {
                    let extent = b.extent(&format!("S{number}"));
                    (dim, b.var(&format!("s{number}"), extent), extent)
                }
            });
        }
        places
    }

    /// The operand of start indices.
    fn operand(
        &self,
        b: &mut tdl::Builder,
        name: &str,
        ty: &TensorType,
        places: &[(usize, VarId, IndexId)],
    ) -> Source {
        let count = b.constant(self.count as i64);
        let mut dims: Vec<IndexId> = places.iter().map(|place| place.2).collect();
        if self.vector < ty.rank() {
            dims.insert(self.vector, count);
        }
        b.operand(name, TypeRef::Concrete(ty.element), &dims)
    }

    /// The start index of a dimension, at a place.
    fn start(
        &self,
        b: &mut tdl::Builder,
        source: Source,
        dim: usize,
        places: &[(usize, VarId, IndexId)],
    ) -> Option<ScalarId> {
        let number = b.constant(self.starts[dim]? as i64);
        let mut at: Vec<IndexId> = places.iter().map(|place| b.index(place.1)).collect();
        if self.vector <= at.len() && b.dims(source).len() > at.len() {
            at.insert(self.vector, number);
        }
        Some(b.read(source, &at))
    }

    /// Puts together what belongs to the dimensions of the window and to those of the places.
    fn merged<T: Copy>(&self, window: &[T], places: &[T]) -> Vec<T> {
        let (mut window, mut places) = (window.iter(), places.iter());
        let rank = window.len() + places.len();
        let next = |dim: usize| if self.window.contains(&dim) { window.next() } else { places.next() };
        (0..rank).filter_map(next).copied().collect()
    }
}

fn describe_gather(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let (ty, indices_ty) = (operand_type(module, op, 0)?, operand_type(module, op, 1)?);
    let places = Places::read(module, op, &OF_GATHER, ty, indices_ty)?;
    let sizes = distances(module, op, "slice_sizes", ty.rank())?;
    let mut b = start(module, op);
    let t = element(&mut b, "T", ty.element);
    let mut dims = extents(&mut b, "N", ty.rank());
    let mut given = Vec::new();
    for (dim, &role) in places.roles.iter().enumerate() {
        match role {
            Role::Window(_) => continue,
            Role::Batching(along) => given.push((along, b.var(&format!("b{dim}"), dims[dim]), dims[dim])),
            Role::Dropped if ty.dims[dim] == Dim::Static(1) => dims[dim] = b.constant(1),
            Role::Dropped => {}
        }
        if sizes[dim] != 1 {
            let message = format!(
                "a slice has one element in dimension {dim}, which is no dimension of the window, not {}",
                sizes[dim]
            );
            return Err(wrong_attribute(module, op, "slice_sizes", message));
        }
    }
    let at_places = places.places(&mut b, &given);
    let operand = b.operand("operand", t, &dims);
    let source = places.operand(&mut b, "start_indices", indices_ty, &at_places);
    let zero = b.constant(0);
    let (mut at, mut window, mut picks) = (Vec::new(), Vec::new(), Picks::default());
    for (dim, &role) in places.roles.iter().enumerate() {
        let slice = Slice::new(module, op, &mut b, dim, ty.dims[dim], dims[dim], sizes[dim])?;
        let first = places.start(&mut b, source, dim, &at_places);
        at.push(match role {
            Role::Batching(_) => {
                let var = b.var(&format!("b{dim}"), dims[dim]);
                b.index(var)
            }
            Role::Dropped => picks.place(&mut b, &slice, first, zero),
            Role::Window(_) => {
                let var = b.var(&format!("o{dim}"), slice.extent);
                window.push(var);
                let offset = b.index(var);
                picks.place(&mut b, &slice, first, offset)
            }
        });
    }
    let value = b.read(operand, &at);
    let value = picks.pick(&mut b, value);
    let batch: Vec<VarId> = at_places.iter().map(|place| place.1).collect();
    b.output("result", t, &places.merged(&window, &batch), value);
    b.finish_for(module, op)
}

fn describe_scatter(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let count = at_least_one(module, op, module.operand_count(op).saturating_sub(1) / 2)?;
    let (ty, indices_ty) = (operand_type(module, op, 0)?, operand_type(module, op, count)?);
    let updates_ty = operand_type(module, op, count + 1)?;
    let places = Places::read(module, op, &OF_SCATTER, ty, indices_ty)?;
    check_combiner(module, op, 0, 0, count)?;
    let mut b = start(module, op);
    let dims = extents(&mut b, "N", ty.rank());
    let vars = variables(&mut b, "i", &dims);
    let at = indices(&mut b, &vars);
    let inputs_at = inputs(module, op, &mut b, "inputs", 0, count, &dims)?;
    let mut given = Vec::new();
    // Of each dimension of the window its extent, and whether it is that of the whole dimension.
    let mut window = Vec::new();
    for (dim, &role) in places.roles.iter().enumerate() {
        match role {
            Role::Batching(along) => given.push((along, vars[dim], dims[dim])),
            Role::Dropped => {}
            Role::Window(number) => {
                let own = updates_ty.dims.get(places.window[number]).copied();
                let is_whole = own.is_some_and(|own| own == ty.dims[dim] && own != Dim::Unknown);
                let extent = if is_whole { dims[dim] } else { b.extent(&format!("U{dim}")) };
                if !is_whole {
                    b.require_at_most(extent, dims[dim]);
                }
                window.push(extent);
            }
        }
    }
    let at_places = places.places(&mut b, &given);
    let source = places.operand(&mut b, "scatter_indices", indices_ty, &at_places);
    let batch: Vec<IndexId> = at_places.iter().map(|place| place.2).collect();
    let update_dims = places.merged(&window, &batch);
    let updates = inputs(module, op, &mut b, "updates", count + 1, count, &update_dims)?;
    // Which update reaches an element of the result.
    let (mut offsets, mut conditions) = (Vec::new(), Vec::new());
    for (dim, &role) in places.roles.iter().enumerate() {
        let first = places.start(&mut b, source, dim, &at_places);
        let first = first.map(|first| start_value(&mut b, first, dims[dim]));
        match (role, first) {
            (Role::Batching(_), _) => {}
            (Role::Dropped, Some(first)) => {
                let own = b.index_value(at[dim]);
                conditions.push(b.compare(Comparison::Eq, first, own));
            }
            (Role::Dropped, None) => {
                let zero = b.constant(0);
                conditions.push(b.compare_indices(Comparison::Eq, at[dim], zero));
            }
            (Role::Window(number), Some(first)) => {
                let first = b.data_index(first);
                let end = b.index_add(first, window[number]);
                conditions.push(b.compare_indices(Comparison::Le, first, at[dim]));
                conditions.push(b.compare_indices(Comparison::Lt, at[dim], end));
                offsets.push(b.index_sub(at[dim], first));
            }
            (Role::Window(number), None) => {
                if window[number] != dims[dim] {
                    conditions.push(b.compare_indices(Comparison::Lt, at[dim], window[number]));
                }
                offsets.push(at[dim]);
            }
        }
    }
    let batch: Vec<IndexId> = at_places.iter().map(|place| b.index(place.1)).collect();
    let update_at = places.merged(&offsets, &batch);
    let reached = all(&mut b, conditions);
    let elements: Vec<ScalarId> = updates.iter().map(|&update| b.read(update, &update_at)).collect();
    let inits: Vec<_> = (inputs_at.iter().enumerate())
        .map(|(number, &input)| (module.operand(op, number), b.read(input, &at)))
        .collect();
    let over: Vec<VarId> = at_places.iter().map(|place| place.1).filter(|var| !vars.contains(var)).collect();
    let results = b.update_region(module, module.region(op, 0), &inits, &over, reached, &elements)?;
    finish(module, op, b, &vars, &results)
}

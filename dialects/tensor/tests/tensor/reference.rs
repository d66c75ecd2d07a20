//! What ops give, against plain loops that follow the StableHLO specification and know nothing of descriptions.

use fastrand::Rng;
use tofu_dialect_tensor::{ConvolutionDimensions, DIALECT};
use tofu_ir::{AttrData, Module, OpId};
use tofu_tdl::{OpaqueRegistry, Tensor, evaluate};
use tofu_tdl_testing::same;

use crate::samples::{Instance, sample};
use crate::support::*;

/// An array of integers; every number in the samples is one.
#[derive(Clone)]
struct Array {
    dims: Vec<i64>,
    values: Vec<i128>,
}

impl Array {
    fn of(tensor: &Tensor) -> Array {
        let dims = tensor.dims().iter().map(|&dim| dim as i64).collect();
        Array { dims, values: (0..tensor.len()).map(|index| tensor.integer(index)).collect() }
    }

    fn filled(dims: &[i64], value: i128) -> Array {
        Array { dims: dims.to_vec(), values: vec![value; dims.iter().product::<i64>() as usize] }
    }

    fn place(&self, at: &[i64]) -> Option<usize> {
        let mut place = 0;
        for (&index, &dim) in at.iter().zip(&self.dims) {
            if index < 0 || index >= dim {
                return None;
            }
            place = place * dim + index;
        }
        Some(place as usize)
    }

    fn get(&self, at: &[i64]) -> Option<i128> {
        self.place(at).map(|place| self.values[place])
    }

    fn at(&mut self, at: &[i64]) -> Option<&mut i128> {
        let place = self.place(at)?;
        Some(&mut self.values[place])
    }
}

/// All indices of a shape, row-major.
fn indices(dims: &[i64]) -> Vec<Vec<i64>> {
    dims.iter().fold(vec![Vec::new()], |all, &dim| {
        all.iter().flat_map(|at| (0..dim).map(|index| [&at[..], &[index]].concat())).collect()
    })
}

/// One op of a program.
struct Op<'m> {
    module: &'m Module,
    op: OpId,
}

impl Op<'_> {
    fn ints(&self, name: &str) -> Vec<i64> {
        self.module.ints(self.op, name).to_vec()
    }

    fn int(&self, name: &str) -> i64 {
        match self.module.attr_value(self.op, name) {
            Some(&AttrData::Int(value, _)) => value as i64,
            _ => panic!("no {name}"),
        }
    }

    fn pair(&self, name: &str) -> [Vec<i64>; 2] {
        let Some(&AttrData::Pair(a, b)) = self.module.attr_value(self.op, name) else { panic!("no {name}") };
        [a, b].map(|list| match self.module.attr_data(list) {
            AttrData::Ints(list) => list.to_vec(),
            _ => panic!("{name}"),
        })
    }

    fn result(&self) -> Vec<i64> {
        let ty = self.module.tensor_type(self.module.result(self.op, 0)).unwrap();
        ty.static_dims().unwrap().iter().map(|&dim| dim as i64).collect()
    }

    /// What a region does to two numbers.
    fn combine(&self, region: usize, a: i128, b: i128) -> i128 {
        let block = self.module.entry(self.module.region(self.op, region)).unwrap();
        let first = self.module.first_op(block).unwrap();
        let direction = match self.module.attr_value(first, "direction") {
            Some(AttrData::String(text)) => text,
            _ => "",
        };
        let element = self.module.tensor_type(self.module.arguments(block)[0]).unwrap().element;
        match (self.module.def(first).name, direction) {
            ("tensor.yield", _) => b,
            ("tensor.add", _) if element == tofu_ir::ElementType::I1 => a | b,
            ("tensor.add", _) => a + b,
            ("tensor.subtract", _) => a - b,
            ("tensor.multiply", _) => a.wrapping_mul(b),
            ("tensor.maximum", _) => a.max(b),
            ("tensor.minimum", _) => a.min(b),
            ("tensor.or", _) => a | b,
            ("tensor.and", _) => a & b,
            ("tensor.compare", "GE") => (a >= b).into(),
            ("tensor.compare", "LE") => (a <= b).into(),
            ("tensor.compare", "GT") => (a > b).into(),
            (name, _) => panic!("{name}"),
        }
    }
}

fn pad(op: &Op<'_>, operands: &[Array]) -> Array {
    let (low, between) = (op.ints("edge_padding_low"), op.ints("interior_padding"));
    let mut result = Array::filled(&op.result(), operands[1].values[0]);
    for at in indices(&operands[0].dims) {
        let to: Vec<i64> = (0..at.len()).map(|dim| low[dim] + at[dim] * (between[dim] + 1)).collect();
        if let Some(place) = result.at(&to) {
            *place = operands[0].get(&at).unwrap();
        }
    }
    result
}

fn dot_general(op: &Op<'_>, operands: &[Array]) -> Array {
    let [left_batch, right_batch] = op.pair("batch");
    let [left_over, right_over] = op.pair("contracting");
    let free = |rank: usize, a: &[i64], b: &[i64]| -> Vec<usize> {
        (0..rank).filter(|&dim| !a.contains(&(dim as i64)) && !b.contains(&(dim as i64))).collect()
    };
    let left_free = free(operands[0].dims.len(), &left_batch, &left_over);
    let right_free = free(operands[1].dims.len(), &right_batch, &right_over);
    let over: Vec<i64> = left_over.iter().map(|&dim| operands[0].dims[dim as usize]).collect();
    let mut result = Array::filled(&op.result(), 0);
    for at in indices(&result.dims.clone()) {
        for k in indices(&over) {
            let mut left = vec![0; operands[0].dims.len()];
            let mut right = vec![0; operands[1].dims.len()];
            for (number, (&l, &r)) in left_batch.iter().zip(&right_batch).enumerate() {
                (left[l as usize], right[r as usize]) = (at[number], at[number]);
            }
            for (number, (&l, &r)) in left_over.iter().zip(&right_over).enumerate() {
                (left[l as usize], right[r as usize]) = (k[number], k[number]);
            }
            let mut next = at[left_batch.len()..].iter();
            left_free.iter().for_each(|&dim| left[dim] = *next.next().unwrap());
            right_free.iter().for_each(|&dim| right[dim] = *next.next().unwrap());
            *result.at(&at).unwrap() += operands[0].get(&left).unwrap() * operands[1].get(&right).unwrap();
        }
    }
    result
}

fn convolution(op: &Op<'_>, operands: &[Array]) -> Array {
    let Some(AttrData::String(text)) = op.module.attr_value(op.op, "dimensions") else { panic!() };
    let dims = ConvolutionDimensions::parse(text).unwrap();
    let (groups, batch_groups) = (op.int("feature_group_count"), op.int("batch_group_count"));
    let (strides, [low, _]) = (op.ints("window_strides"), op.pair("padding"));
    let (spread, dilation) = (op.ints("lhs_dilation"), op.ints("rhs_dilation"));
    let reversal = op.ints("window_reversal");
    let [left, right] = [&operands[0], &operands[1]];
    let outputs = right.dims[dims.kernel_output_feature];
    let inner = right.dims[dims.kernel_input_feature];
    let rows = left.dims[dims.input_batch] / batch_groups;
    let mut result = Array::filled(&op.result(), 0);
    for at in indices(&result.dims.clone()) {
        let feature = at[dims.output_feature];
        for k in indices(&right.dims) {
            if k[dims.kernel_output_feature] != feature {
                continue;
            }
            let mut from = vec![0; left.dims.len()];
            from[dims.input_batch] = feature / (outputs / batch_groups) * rows + at[dims.output_batch];
            from[dims.input_feature] = feature / (outputs / groups) * inner + k[dims.kernel_input_feature];
            let mut inside = true;
            for dim in 0..strides.len() {
                let size = right.dims[dims.kernel_spatial[dim]];
                let own = k[dims.kernel_spatial[dim]];
                let offset = if reversal[dim] == 1 { size - 1 - own } else { own };
                let place = at[dims.output_spatial[dim]] * strides[dim] + offset * dilation[dim] - low[dim];
                inside &= place >= 0 && place % spread[dim] == 0;
                from[dims.input_spatial[dim]] = place.div_euclid(spread[dim]);
            }
            if let Some(value) = left.get(&from).filter(|_| inside) {
                *result.at(&at).unwrap() += value * right.get(&k).unwrap();
            }
        }
    }
    result
}

fn reduce_window(op: &Op<'_>, operands: &[Array]) -> Array {
    let (sizes, strides, [low, _]) =
        (op.ints("window_dimensions"), op.ints("window_strides"), op.pair("padding"));
    let (spread, dilation) = (op.ints("base_dilations"), op.ints("window_dilations"));
    let init = operands[1].values[0];
    let mut result = Array::filled(&op.result(), init);
    for at in indices(&result.dims.clone()) {
        for k in indices(&sizes) {
            let place = |dim: usize| at[dim] * strides[dim] + k[dim] * dilation[dim] - low[dim];
            let is_element = (0..at.len()).all(|dim| place(dim) >= 0 && place(dim) % spread[dim] == 0);
            let from: Vec<i64> = (0..at.len()).map(|dim| place(dim).div_euclid(spread[dim])).collect();
            if let Some(value) = operands[0].get(&from).filter(|_| is_element) {
                let so_far = result.get(&at).unwrap();
                *result.at(&at).unwrap() = op.combine(0, so_far, value);
            }
        }
    }
    result
}

fn select_and_scatter(op: &Op<'_>, operands: &[Array]) -> Array {
    let (sizes, strides, [low, _]) =
        (op.ints("window_dimensions"), op.ints("window_strides"), op.pair("padding"));
    let mut result = Array::filled(&op.result(), operands[2].values[0]);
    for window in indices(&operands[1].dims) {
        let mut chosen: Option<(Vec<i64>, i128)> = None;
        for k in indices(&sizes) {
            let place: Vec<i64> =
                (0..k.len()).map(|dim| window[dim] * strides[dim] + k[dim] - low[dim]).collect();
            let Some(value) = operands[0].get(&place) else { continue };
            let keeps = chosen.as_ref().is_some_and(|(_, best)| op.combine(0, *best, value) != 0);
            if !keeps {
                chosen = Some((place, value));
            }
        }
        if let Some((place, _)) = chosen {
            let so_far = result.get(&place).unwrap();
            *result.at(&place).unwrap() = op.combine(1, so_far, operands[1].get(&window).unwrap());
        }
    }
    result
}

/// The start indices of a place, by the dimensions of the operand, and the place's own index at batching dimensions.
fn start(
    op: &Op<'_>,
    names: [&str; 3],
    rank: usize,
    start_indices: &Array,
    place: &[i64],
) -> (Vec<Option<i64>>, Vec<i64>) {
    let vector = op.int("index_vector_dim") as usize;
    let (map, batching, along) = (op.ints(names[0]), op.ints(names[1]), op.ints(names[2]));
    let mut starts = vec![None; rank];
    for (number, &dim) in map.iter().enumerate() {
        let mut at = place.to_vec();
        if vector < start_indices.dims.len() {
            at.insert(vector, number as i64);
        }
        starts[dim as usize] = Some(start_indices.get(&at).unwrap() as i64);
    }
    let mut fixed = vec![0; rank];
    for (&dim, &along) in batching.iter().zip(&along) {
        // The place has no index for the vector.
        let own = along as usize - usize::from(along as usize > vector);
        fixed[dim as usize] = place[own];
    }
    (starts, fixed)
}

fn gather(op: &Op<'_>, operands: &[Array]) -> Array {
    let (offset, sizes) = (op.ints("offset_dims"), op.ints("slice_sizes"));
    let dropped = [op.ints("collapsed_slice_dims"), op.ints("operand_batching_dims")].concat();
    let names = ["start_index_map", "operand_batching_dims", "start_indices_batching_dims"];
    let own = &operands[0];
    let mut result = Array::filled(&op.result(), 0);
    for at in indices(&result.dims.clone()) {
        let (window, place): (Vec<_>, Vec<_>) =
            at.iter().enumerate().partition(|(dim, _)| offset.contains(&(*dim as i64)));
        let place: Vec<i64> = place.into_iter().map(|(_, &index)| index).collect();
        let (starts, fixed) = start(op, names, own.dims.len(), &operands[1], &place);
        let mut window = window.into_iter().map(|(_, &index)| index);
        let from: Vec<i64> = (0..own.dims.len())
            .map(|dim| {
                let first = starts[dim].map_or(0, |start| start.clamp(0, own.dims[dim] - sizes[dim]));
                let inner = if dropped.contains(&(dim as i64)) { 0 } else { window.next().unwrap() };
                first + fixed[dim] + inner
            })
            .collect();
        *result.at(&at).unwrap() = own.get(&from).unwrap();
    }
    result
}

fn scatter(op: &Op<'_>, operands: &[Array]) -> Array {
    let window_dims = op.ints("update_window_dims");
    let dropped = [op.ints("inserted_window_dims"), op.ints("input_batching_dims")].concat();
    let names = ["scatter_dims_to_operand_dims", "input_batching_dims", "scatter_indices_batching_dims"];
    let mut result = operands[0].clone();
    // One place after the other, and at each the elements of its window.
    let split = |at: &[i64]| -> (Vec<i64>, Vec<i64>) {
        let (window, place): (Vec<_>, Vec<_>) =
            at.iter().copied().enumerate().partition(|(dim, _)| window_dims.contains(&(*dim as i64)));
        let indices = |list: Vec<(usize, i64)>| list.into_iter().map(|(_, index)| index).collect();
        (indices(window), indices(place))
    };
    let mut updates = indices(&operands[2].dims);
    updates.sort_by_key(|at| split(at).1);
    for at in updates {
        let (window, place) = split(&at);
        let (starts, fixed) = start(op, names, result.dims.len(), &operands[1], &place);
        let mut window = window.into_iter();
        let to: Vec<i64> = (0..result.dims.len())
            .map(|dim| {
                let inner = if dropped.contains(&(dim as i64)) { 0 } else { window.next().unwrap() };
                starts[dim].unwrap_or(0) + fixed[dim] + inner
            })
            .collect();
        if let Some(so_far) = result.get(&to) {
            *result.at(&to).unwrap() = op.combine(0, so_far, operands[2].get(&at).unwrap());
        }
    }
    result
}

fn dynamic_slice(op: &Op<'_>, operands: &[Array]) -> Array {
    let mut result = Array::filled(&op.result(), 0);
    for at in indices(&result.dims.clone()) {
        let from = |dim: usize| {
            let last = operands[0].dims[dim] - result.dims[dim];
            (operands[dim + 1].values[0] as i64).clamp(0, last) + at[dim]
        };
        let from: Vec<i64> = (0..at.len()).map(from).collect();
        *result.at(&at).unwrap() = operands[0].get(&from).unwrap();
    }
    result
}

fn dynamic_update_slice(op: &Op<'_>, operands: &[Array]) -> Array {
    let mut result = operands[0].clone();
    assert_eq!(result.dims, op.result());
    for at in indices(&operands[1].dims) {
        let to = |dim: usize| {
            let last = result.dims[dim] - operands[1].dims[dim];
            (operands[dim + 2].values[0] as i64).clamp(0, last) + at[dim]
        };
        let to: Vec<i64> = (0..at.len()).map(to).collect();
        *result.at(&to).unwrap() = operands[1].get(&at).unwrap();
    }
    result
}

type Reference = fn(&Op<'_>, &[Array]) -> Array;

const REFERENCES: &[(&str, Reference)] = &[
    ("tensor.convolution", convolution),
    ("tensor.dot_general", dot_general),
    ("tensor.dynamic_slice", dynamic_slice),
    ("tensor.dynamic_update_slice", dynamic_update_slice),
    ("tensor.gather", gather),
    ("tensor.pad", pad),
    ("tensor.reduce_window", reduce_window),
    ("tensor.scatter", scatter),
    ("tensor.select_and_scatter", select_and_scatter),
];

#[test]
fn descriptions_give_what_plain_loops_give() {
    let registry = OpaqueRegistry::builtin();
    for (name, reference) in REFERENCES {
        let def = *DIALECT.ops.iter().find(|def| def.name == *name).unwrap();
        let mut random = Rng::with_seed(41);
        let mut compared = 0;
        while compared < 60 {
            let sample = sample(def, &mut random).unwrap();
            let Instance { program, description, operands } = sample.instance(def, &mut random).unwrap();
            if operands[0].element().is_complex() {
                continue;
            }
            let module = read(&program).unwrap();
            let op = Op { module: &module, op: *ops_of(&module, name).last().unwrap() };
            let arrays: Vec<Array> = operands.iter().map(Array::of).collect();
            let expected = reference(&op, &arrays);
            let found = &evaluate(&description, &operands, &registry).unwrap()[0];
            let mut wanted = Tensor::zeros(found.element(), found.dims()).unwrap();
            assert_eq!(wanted.len(), expected.values.len(), "{program}");
            expected.values.iter().enumerate().for_each(|(at, &value)| wanted.set_integer(at, value));
            same(found, &wanted, "the result")
                .unwrap_or_else(|error| panic!("{program}\n{error}\n{description}"));
            compared += 1;
        }
    }
}

//! Runs an op on the shares of several workers and puts the results together.

use tofu_ir::ElementType;
use tofu_tdl::{
    Combine, Description, OpaqueRegistry, Reducer, Region, Strategy, Tensor, combine_partials, evaluate,
    local,
};

/// The elements of a region.
pub(crate) fn cut(tensor: &Tensor, region: &Region) -> Tensor {
    let dims: Vec<u64> = region.dims.iter().map(|dim| dim.size).collect();
    let mut part = Tensor::zeros(tensor.element(), &dims).unwrap();
    for index in 0..part.len() {
        let (mut rest, mut offset, mut stride) = (index as u64, 0, 1);
        for (dim, &extent) in region.dims.iter().zip(tensor.dims()).rev() {
            let at = dim.start + rest % dim.size * dim.stride;
            assert!(at < extent, "a region outside its tensor: {region:?} of {:?}", tensor.dims());
            rest /= dim.size;
            offset += at * stride;
            stride *= extent;
        }
        let (re, im) = tensor.complex_at(offset as usize);
        if tensor.element().is_integer() {
            part.set_integer(index, tensor.integer(offset as usize));
        } else {
            part.set_complex(index, re, im);
        }
    }
    part
}

/// An op run as a whole, with which the shares of workers are compared.
pub(crate) struct Whole<'a> {
    description: &'a Description,
    registry: &'a OpaqueRegistry,
    extents: &'a [u64],
    operands: &'a [Tensor],
    pub(crate) results: Vec<Tensor>,
}

impl<'a> Whole<'a> {
    /// Runs an op on operands for which the description has these extents.
    pub(crate) fn run(
        description: &'a Description,
        registry: &'a OpaqueRegistry,
        extents: &'a [u64],
        operands: &'a [Tensor],
    ) -> Result<Whole<'a>, String> {
        let results = evaluate(description, operands, registry).map_err(|error| error.to_string())?;
        Ok(Whole { description, registry, extents, operands, results })
    }

    /// Runs `strategy` on `workers` workers, where `spoil` may change what a worker is given, and compares.
    pub(crate) fn compare(
        &self,
        strategy: &Strategy,
        workers: u64,
        spoil: &dyn Fn(&mut Vec<Region>),
    ) -> Result<(), String> {
        let mut parts: Vec<Vec<Tensor>> = Vec::new();
        for worker in 0..workers {
            let part = strategy.part(self.description, self.extents, workers, worker);
            let own = local(self.description, self.extents, &part).map_err(|errors| {
                let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
                format!("no local op for {part:?}: {}", messages.join("; "))
            })?;
            let mut regions = own.operands.clone();
            spoil(&mut regions);
            let inputs: Vec<Tensor> =
                self.operands.iter().zip(&regions).map(|(tensor, region)| cut(tensor, region)).collect();
            let results = evaluate(&own.description, &inputs, self.registry)
                .map_err(|error| format!("worker {worker}: {error}\n{}", own.description))?;
            parts.push(results);
        }
        for (number, output) in strategy.outputs.iter().enumerate() {
            let whole = &self.results[number];
            let own: Vec<&Tensor> = parts.iter().map(|part| &part[number]).collect();
            let combined = match output {
                Combine::Concat { dim } => concat(&own, *dim, whole.dims()),
                Combine::Replicated => {
                    for other in &own {
                        same(other, own[0], &format!("replicated result {number}"))?;
                    }
                    own[0].clone()
                }
                Combine::Partial { reducer, component } => {
                    reduce(self.description, strategy, &parts, number, *reducer, *component)
                        .map_err(|error| error.to_string())?
                }
            };
            same(&combined, whole, &format!("result {number}"))?;
        }
        Ok(())
    }
}

fn concat(parts: &[&Tensor], dim: usize, dims: &[u64]) -> Tensor {
    let mut whole = Tensor::zeros(parts[0].element(), dims).unwrap();
    let inner: u64 = dims[dim + 1..].iter().product();
    let outer: u64 = dims[..dim].iter().product();
    let mut start = 0;
    for part in parts {
        let rows = part.dims()[dim];
        for index in 0..(outer * rows * inner) {
            let (o, rest) = (index / (rows * inner), index % (rows * inner));
            let to = (o * dims[dim] + start) * inner + rest;
            if part.element().is_integer() {
                whole.set_integer(to as usize, part.integer(index as usize));
            } else {
                let (re, im) = part.complex_at(index as usize);
                whole.set_complex(to as usize, re, im);
            }
        }
        start += rows;
    }
    whole
}

/// Result `number`; what a custom combiner carries with it is combined along with it.
fn reduce(
    description: &Description,
    strategy: &Strategy,
    parts: &[Vec<Tensor>],
    number: usize,
    reducer: Reducer,
    component: u32,
) -> Result<Tensor, tofu_tdl::EvaluateError> {
    let carried = |part: &Vec<Tensor>| -> Vec<Tensor> {
        let Reducer::Custom(_) = reducer else { return vec![part[number].clone()] };
        let mut all: Vec<(u32, Tensor)> = (strategy.outputs.iter().zip(part))
            .filter_map(|(output, tensor)| match output {
                Combine::Partial { reducer: other, component } if *other == reducer => {
                    Some((*component, tensor.clone()))
                }
                _ => None,
            })
            .collect();
        all.sort_by_key(|(component, _)| *component);
        all.dedup_by_key(|(component, _)| *component);
        all.into_iter().map(|(_, tensor)| tensor).collect()
    };
    let mut combined = carried(&parts[0]);
    for part in &parts[1..] {
        combine_partials(description, reducer, &mut combined, &carried(part))?;
    }
    let index = if matches!(reducer, Reducer::Custom(_)) { component as usize } else { 0 };
    Ok(combined[index].clone())
}

fn same(a: &Tensor, b: &Tensor, what: &str) -> Result<(), String> {
    if a.dims() != b.dims() {
        return Err(format!("{what}: {:?} is not {:?}", a.dims(), b.dims()));
    }
    for index in 0..a.len() {
        let (x, y) = (a.complex_at(index), b.complex_at(index));
        let exact = a.element().is_integer();
        let tolerance = match a.element() {
            ElementType::F32 | ElementType::Complex32 => 1e-4,
            ElementType::BF16 => 0.1,
            _ => 1e-9,
        };
        let near = |x: f64, y: f64| {
            x == y || (x.is_nan() && y.is_nan()) || (!exact && (x - y).abs() <= tolerance * (1.0 + x.abs()))
        };
        if !near(x.0, y.0) || !near(x.1, y.1) {
            return Err(format!("{what}: element {index} is {x:?}, not {y:?}"));
        }
    }
    Ok(())
}

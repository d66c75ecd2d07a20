//! Runs an op on the shares of several workers and puts the results together.

use tofu_ir::ElementType;
use tofu_tdl::{Combine, Reducer, Region, Strategy, Tensor, combine_partials, evaluate, local};

use crate::{Spoil, Whole};

impl Whole<'_> {
    /// Runs `strategy` on `workers` workers, where `spoil` may change what a worker is given, and compares.
    ///
    /// # Errors
    ///
    /// The results differ, or a worker fails.
    pub fn compare(&self, strategy: &Strategy, workers: u64, spoil: Spoil<'_>) -> Result<(), String> {
        let combined = self.combined(strategy, workers, spoil)?;
        let mut each = combined.iter().zip(&self.results).enumerate();
        each.try_for_each(|(number, (own, whole))| same(own, whole, &format!("result {number}")))
    }

    /// What the results of `workers` workers are when put together.
    ///
    /// # Errors
    ///
    /// A worker fails, or what each computes whole differs.
    pub fn combined(
        &self,
        strategy: &Strategy,
        workers: u64,
        spoil: Spoil<'_>,
    ) -> Result<Vec<Tensor>, String> {
        let mut parts: Vec<Vec<Tensor>> = Vec::new();
        for worker in 0..workers {
            let part = strategy.part(self.description, self.extents, workers, worker);
            let own = local(self.description, self.extents, &part).map_err(|errors| {
                let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
                format!("no local op for {part:?}: {}", messages.join("; "))
            })?;
            let mut regions = own.operands.clone();
            spoil(&mut regions);
            let inputs = self.operands.iter().zip(&regions).map(|(tensor, region)| cut(tensor, region));
            let inputs = inputs.collect::<Result<Vec<Tensor>, String>>()?;
            let results = evaluate(&own.description, &inputs, self.registry)
                .map_err(|error| format!("worker {worker}: {error}\n{}", own.description))?;
            parts.push(results);
        }
        let put_together = |(number, (output, whole)): (usize, (&Combine, &Tensor))| {
            let own: Vec<&Tensor> = parts.iter().filter_map(|part| part.get(number)).collect();
            match output {
                Combine::Concat { dim } => concat(&own, *dim, whole),
                Combine::Replicated => {
                    let what = format!("replicated result {number}");
                    own.iter().try_for_each(|other| same(other, whole, &what))?;
                    Ok(whole.clone())
                }
                Combine::Partial { reducer, component } => {
                    self.reduce(strategy, &parts, number, *reducer, *component)
                }
            }
        };
        strategy.outputs.iter().zip(&self.results).enumerate().map(put_together).collect()
    }

    /// Result `number`; what a custom combiner carries with it is combined along with it.
    fn reduce(
        &self,
        strategy: &Strategy,
        parts: &[Vec<Tensor>],
        number: usize,
        reducer: Reducer,
        component: u32,
    ) -> Result<Tensor, String> {
        let carried = |part: &Vec<Tensor>| -> Vec<Tensor> {
            let Reducer::Custom(_) = reducer else { return part.get(number).cloned().into_iter().collect() };
            let results = strategy.outputs.iter().map(|output| match output {
                Combine::Partial { reducer: other, component } if *other == reducer => Some(*component),
                _ => None,
            });
            let data = self.description.data();
            let carried = strategy.carried.iter().map(|carried| {
                (data.reduction(carried.reduction).reducer == reducer).then_some(carried.component)
            });
            let mut all: Vec<(u32, Tensor)> = (results.chain(carried).zip(part))
                .filter_map(|(component, tensor)| Some((component?, tensor.clone())))
                .collect();
            all.sort_by_key(|(component, _)| *component);
            all.dedup_by_key(|(component, _)| *component);
            all.into_iter().map(|(_, tensor)| tensor).collect()
        };
        let mut shares = parts.iter().map(carried);
        let mut combined = shares.next().ok_or("there are no workers")?;
        for share in shares {
            combine_partials(self.description, reducer, &mut combined, &share)
                .map_err(|error| error.to_string())?;
        }
        let index = if matches!(reducer, Reducer::Custom(_)) { component as usize } else { 0 };
        combined
            .into_iter()
            .nth(index)
            .ok_or_else(|| format!("component {index} of the reducer is no result"))
    }
}

/// The elements of a region.
///
/// # Errors
///
/// The region is not inside the tensor.
pub fn cut(tensor: &Tensor, region: &Region) -> Result<Tensor, String> {
    let dims: Vec<u64> = region.dims.iter().map(|dim| dim.size).collect();
    let mut part = Tensor::zeros(tensor.element(), &dims)?;
    for index in 0..part.len() {
        let (mut rest, mut offset, mut stride) = (index as u64, 0, 1);
        for (dim, &extent) in region.dims.iter().zip(tensor.dims()).rev() {
            let at = dim.start + rest % dim.size * dim.stride;
            if at >= extent {
                return Err(format!("a region outside its tensor: {region:?} of {:?}", tensor.dims()));
            }
            rest /= dim.size;
            offset += at * stride;
            stride *= extent;
        }
        copy(&mut part, index, tensor, offset as usize);
    }
    Ok(part)
}

fn copy(to: &mut Tensor, index: usize, from: &Tensor, other: usize) {
    if from.element().is_integer() {
        to.set_integer(index, from.integer(other));
    } else {
        let (re, im) = from.complex_at(other);
        to.set_complex(index, re, im);
    }
}

fn concat(parts: &[&Tensor], dim: usize, like: &Tensor) -> Result<Tensor, String> {
    let dims = like.dims();
    let mut whole = Tensor::zeros(like.element(), dims)?;
    let inner: u64 = dims[dim + 1..].iter().product();
    let outer: u64 = dims[..dim].iter().product();
    let mut start = 0;
    for part in parts {
        let rows = part.dims().get(dim).copied().unwrap_or(0);
        for index in 0..(outer * rows * inner) {
            let (o, rest) = (index / (rows * inner), index % (rows * inner));
            let to = (o * dims[dim] + start) * inner + rest;
            copy(&mut whole, to as usize, part, index as usize);
        }
        start += rows;
    }
    if start == dims[dim] { Ok(whole) } else { Err(format!("the shares make {start} of {}", dims[dim])) }
}

/// Compares two tensors: integers exactly, floats to rounding.
///
/// # Errors
///
/// The first element that differs.
pub fn same(a: &Tensor, b: &Tensor, what: &str) -> Result<(), String> {
    if a.dims() != b.dims() {
        return Err(format!("{what}: {:?} is not {:?}", a.dims(), b.dims()));
    }
    let tolerance = match a.element().part() {
        element if element.is_integer() => 0.0,
        ElementType::F32 => 1e-4,
        ElementType::F64 => 1e-9,
        ElementType::F16 => 1e-2,
        _ => 0.1,
    };
    for index in 0..a.len() {
        let (x, y) = (a.complex_at(index), b.complex_at(index));
        let near = |x: f64, y: f64| {
            x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance * (1.0 + x.abs())
        };
        if !near(x.0, y.0) || !near(x.1, y.1) {
            return Err(format!("{what}: element {index} is {x:?}, not {y:?}"));
        }
    }
    Ok(())
}

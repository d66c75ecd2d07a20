//! `reshape`: the same elements in row-major order, in another shape.
//!
//! The dimensions of both shapes are cut into the smallest runs that hold the same elements: `[4, 6, 5] -> [2, 12, 5]` is
//! `[4, 6] -> [2, 12]` and `[5] -> [5]`. Inside a run, both shapes are joined from the same factors wherever the strides
//! of one divide those of the other: `[4, 6]` and `[2, 12]` are `[2, 2, 6]`, joined in two ways. An index of the operand is
//! then a sum of factors' indices, each a quotient and remainder of one index of the result; splitting a dimension shows
//! as blocks. Where the factors do not fit (`[2, 3] -> [3, 2]`), indices go through the place in the whole run.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Builder, Dim, Fold, Module, Name, OpDef, OpId, TensorType, Trait, Type, ValueId, op, tensor};
use tofu_tdl::{self as tdl, Describe, Description, IndexId, VarId, verify_types};

use crate::describe::{element, known, product, start, sum, variables};
use crate::fold;
use crate::shapes::{checked, operand_type, result_type, wrong_result};

/// `tensor.reshape`: the same elements in row-major order, in another shape.
pub static RESHAPE: OpDef = op("tensor.reshape")
    .summary("The same elements in row-major order, in another shape.")
    .example("%r = tensor.reshape %x : tensor<32xf32>")
    .operands(&[tensor("x")])
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .verify(verify_types)
    .interfaces(&[&Describe(describe_reshape), &Fold(fold::reshape)]);

/// Adds a [`RESHAPE`] to type `ty`.
///
/// # Errors
/// When `ty` has another number or type of elements.
pub fn reshape(builder: &mut Builder<'_>, x: ValueId, ty: Type) -> Result<ValueId, Diagnostic> {
    let op = builder.op(&RESHAPE).operand(x).result(ty).build();
    checked(builder, op)
}

fn describe_reshape(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let (from, to) = (operand_type(module, op, 0)?, result_type(module, op, 0)?);
    let counts = (count(from), count(to));
    if let (Some(own), Some(target)) = counts
        && own != target
    {
        let value = module.quoted_value(module.operand(op, 0));
        let message = format!("{value} has {own} elements, but the result {target}");
        let place = module.operand_span(op, 0);
        return Err(wrong_result(module, op, message).secondary(place, format!("{own} elements")));
    }
    let mut b = start(module, op);
    let t = element(&mut b, "T", from.element);
    if counts.0 == Some(0) || counts.1 == Some(0) {
        // Nothing has to be matched.
        let own = extents_of_nothing(&mut b, "N", from);
        b.operand("x", t, &own);
        let target = extents_of_nothing(&mut b, "M", to);
        let vars = variables(&mut b, "i", &target);
        let zero = b.int(0, t);
        b.output("result", t, &vars, zero);
        return b.finish_for(module, op);
    }
    let mut shape = Shape::new(&mut b, from, to);
    for run in &runs(&from.dims, &to.dims) {
        match run.sizes(&from.dims, &to.dims) {
            Some((own, target)) => shape.fixed(&mut b, run, &own, &target),
            None => shape.open(&mut b, run),
        }
    }
    let x = b.operand("x", t, &shape.own);
    let value = if shape.is_guarded {
        let zero = b.int(0, t);
        b.read_or(x, &shape.places, zero)
    } else {
        b.read(x, &shape.places)
    };
    b.output("result", t, &shape.vars, value);
    b.finish_for(module, op)
}

/// The number of elements, as far as it is known: one extent of 0 is enough.
fn count(ty: &TensorType) -> Option<u64> {
    if ty.dims.contains(&Dim::Static(0)) { Some(0) } else { ty.element_count() }
}

/// The extents of a tensor without elements: if only one of them can be 0, it is.
fn extents_of_nothing(b: &mut tdl::Builder, name: &str, ty: &TensorType) -> Vec<IndexId> {
    let open = ty.dims.iter().filter(|dim| dim.size().is_none()).count();
    let is_zero = open == 1 && !ty.dims.contains(&Dim::Static(0));
    let extent = |(axis, &dim): (usize, &Dim)| {
        if is_zero && dim.size().is_none() { b.constant(0) } else { known(b, &format!("{name}{axis}"), dim) }
    };
    ty.dims.iter().enumerate().map(extent).collect()
}

/// The shapes as far as they are described: an extent of each, and which element of the operand an element of the result
/// is.
struct Shape<'t> {
    from: &'t TensorType,
    to: &'t TensorType,
    own: Vec<IndexId>,
    places: Vec<IndexId>,
    vars: Vec<VarId>,
    /// Whether some places are not seen to lie inside the operand.
    is_guarded: bool,
}

impl<'t> Shape<'t> {
    /// All extents are numbers, and all places 0.
    fn new(b: &mut tdl::Builder, from: &'t TensorType, to: &'t TensorType) -> Shape<'t> {
        let mut numbers = |dims: &[Dim]| -> Vec<IndexId> {
            dims.iter()
                .map(|dim| b.constant(dim.size().and_then(|size| size.try_into().ok()).unwrap_or(1)))
                .collect()
        };
        let (own, target) = (numbers(&from.dims), numbers(&to.dims));
        let vars =
            target.iter().enumerate().map(|(axis, &extent)| b.var(&format!("i{axis}"), extent)).collect();
        let places = vec![b.constant(0); from.rank()];
        Shape { from, to, own, places, vars, is_guarded: false }
    }

    fn bind(&mut self, b: &mut tdl::Builder, axis: usize, extent: IndexId) -> IndexId {
        self.vars[axis] = b.var(&format!("i{axis}"), extent);
        b.index(self.vars[axis])
    }

    /// A run in which all extents are known. The extent of its first factor is left open, so that reshapes that differ
    /// only in it have one description.
    fn fixed(&mut self, b: &mut tdl::Builder, run: &Run, own: &[i64], target: &[i64]) {
        let (own_strides, target_strides) = (strides(own), strides(target));
        let total: i64 = own.iter().product();
        let mut bounds: Vec<i64> =
            own_strides.iter().chain(&target_strides).copied().chain([total]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        if bounds.windows(2).any(|pair| pair[1] % pair[0] != 0) {
            let (own, target): (Vec<IndexId>, Vec<IndexId>) = (
                own.iter().map(|&size| b.constant(size)).collect(),
                target.iter().map(|&size| b.constant(size)).collect(),
            );
            return self.linear(b, run, &own, &target);
        }
        let first = b.extent(&format!("N{}", run.own[0]));
        let top = bounds[bounds.len() - 2];
        let extent = |b: &mut tdl::Builder, size: i64, stride: i64| {
            if stride * size == total { b.affine(top / stride, first, 0) } else { b.constant(size) }
        };
        for ((&axis, &size), &stride) in run.own.iter().zip(own).zip(&own_strides) {
            self.own[axis] = extent(b, size, stride);
        }
        for ((&axis, &size), &stride) in run.target.iter().zip(target).zip(&target_strides) {
            let extent = extent(b, size, stride);
            let index = self.bind(b, axis, extent);
            // The factors that this dimension of the result is made of.
            for pair in bounds.windows(2).filter(|pair| stride <= pair[0] && pair[1] <= stride * size) {
                let (low, high) = (pair[0], pair[1]);
                let by = b.constant(low / stride);
                let mut factor = b.index_floordiv(index, by);
                if high < stride * size {
                    let size = b.constant(high / low);
                    factor = b.index_mod(factor, size);
                }
                let holder = own_strides.iter().position(|&stride| stride <= low).unwrap_or(0);
                let scaled = b.affine(low / own_strides[holder], factor, 0);
                let place = &mut self.places[run.own[holder]];
                *place = b.index_add(*place, scaled);
            }
        }
    }

    /// A run with extents that are not known.
    fn open(&mut self, b: &mut tdl::Builder, run: &Run) {
        let mut own: Vec<IndexId> =
            run.own.iter().map(|&axis| known(b, &format!("N{axis}"), self.from.dims[axis])).collect();
        // An extent of the same name is the same extent.
        let mut target: Vec<IndexId> = Vec::new();
        for &axis in &run.target {
            let dim = self.to.dims[axis];
            let same = run.own.iter().position(|&own| dim != Dim::Unknown && self.from.dims[own] == dim);
            target.push(match same {
                Some(place) => own[place],
                None => known(b, &format!("M{axis}"), dim),
            });
        }
        if let [whole] = &mut own[..] {
            *whole = product(b, target.iter().copied());
        } else if let [whole] = &mut target[..] {
            *whole = product(b, own.iter().copied());
        } else {
            let (left, right) = (product(b, own.iter().copied()), product(b, target.iter().copied()));
            b.require_equal(left, right);
            self.is_guarded = true;
        }
        self.linear(b, run, &own, &target);
    }

    /// A run through the place of an element in it.
    fn linear(&mut self, b: &mut tdl::Builder, run: &Run, own: &[IndexId], target: &[IndexId]) {
        let mut parts = Vec::new();
        for (number, (&axis, &extent)) in run.target.iter().zip(target).enumerate() {
            let index = self.bind(b, axis, extent);
            let stride = product(b, target[number + 1..].iter().copied());
            parts.push(b.index_mul(index, stride));
        }
        let place = sum(b, parts);
        for (number, (&axis, &extent)) in run.own.iter().zip(own).enumerate() {
            let stride = product(b, own[number + 1..].iter().copied());
            let mut index = b.index_floordiv(place, stride);
            if number > 0 {
                index = b.index_mod(index, extent);
            }
            self.own[axis] = extent;
            self.places[axis] = index;
        }
    }
}

/// How far apart neighbours along each dimension are.
fn strides(sizes: &[i64]) -> Vec<i64> {
    (0..sizes.len()).map(|axis| sizes[axis + 1..].iter().product()).collect()
}

/// Dimensions of the operand and of the result that hold the same elements.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    own: Vec<usize>,
    target: Vec<usize>,
}

impl Run {
    /// The extents, if all are known.
    fn sizes(&self, from: &[Dim], to: &[Dim]) -> Option<(Vec<i64>, Vec<i64>)> {
        let sizes = |axes: &[usize], dims: &[Dim]| -> Option<Vec<i64>> {
            axes.iter().map(|&axis| i64::try_from(dims[axis].size()?).ok()).collect()
        };
        let (own, target) = (sizes(&self.own, from)?, sizes(&self.target, to)?);
        let count = |sizes: &[i64]| sizes.iter().try_fold(1i64, |count, &size| count.checked_mul(size));
        (count(&own)? == count(&target)?).then_some((own, target))
    }
}

/// The runs of two shapes, but for extents of 1, which stand for themselves.
fn runs(from: &[Dim], to: &[Dim]) -> Vec<Run> {
    let axes = |dims: &[Dim]| -> Vec<usize> {
        (0..dims.len()).filter(|&axis| dims[axis] != Dim::Static(1)).collect()
    };
    let (mut own, mut target) = (axes(from), axes(to));
    // From the front as far as extents are known, then from the back; what is left is one run.
    let mut found = Vec::new();
    while let Some((a, b)) =
        first_run(own.iter().map(|&axis| from[axis]), target.iter().map(|&axis| to[axis]))
    {
        found.push(Run { own: own.drain(..a).collect(), target: target.drain(..b).collect() });
    }
    while let Some((a, b)) =
        first_run(own.iter().rev().map(|&axis| from[axis]), target.iter().rev().map(|&axis| to[axis]))
    {
        found.push(Run { own: own.split_off(own.len() - a), target: target.split_off(target.len() - b) });
    }
    if !own.is_empty() || !target.is_empty() {
        found.push(Run { own, target });
    }
    found
}

/// How many of the first extents of two shapes have the same product.
fn first_run(
    mut from: impl Iterator<Item = Dim>,
    mut to: impl Iterator<Item = Dim>,
) -> Option<(usize, usize)> {
    let (mut own, mut target) = (Product::of(from.next()?)?, Product::of(to.next()?)?);
    let mut taken = (1, 1);
    while own != target {
        let is_larger = |a: &Product, b: &Product| {
            if a.symbols == b.symbols { a.number > b.number } else { a.is_multiple_of(b) }
        };
        if !is_larger(&own, &target) {
            own = own.times(Product::of(from.next()?)?);
            taken.0 += 1;
        } else {
            target = target.times(Product::of(to.next()?)?);
            taken.1 += 1;
        }
    }
    Some(taken)
}

/// A product of extents.
#[derive(PartialEq, Eq)]
struct Product {
    number: u128,
    symbols: Vec<Name>,
}

impl Product {
    fn of(dim: Dim) -> Option<Product> {
        match dim {
            Dim::Static(size) => Some(Product { number: size.into(), symbols: Vec::new() }),
            Dim::Symbol(name) => Some(Product { number: 1, symbols: vec![name] }),
            Dim::Unknown => None,
        }
    }

    fn times(mut self, other: Product) -> Product {
        self.number = self.number.saturating_mul(other.number);
        self.symbols.extend(other.symbols);
        self.symbols.sort_unstable();
        self
    }

    fn is_multiple_of(&self, other: &Product) -> bool {
        let mut left = self.symbols.clone();
        let holds = other.symbols.iter().all(|symbol| {
            left.iter().position(|own| own == symbol).map(|place| left.swap_remove(place)).is_some()
        });
        holds && self.number.is_multiple_of(other.number)
    }
}

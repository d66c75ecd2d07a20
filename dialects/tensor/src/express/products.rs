//! Sums of products.
//!
//! Two terms whose product is summed over variables of both are a `dot_general`. Where one of the factors is read at
//! `x·stride + k·dilation − low`, with a guard where that may be outside, and the other at `k`, they are a `convolution`, which need
//! not hold every window.

use smallvec::SmallVec;
use tofu_ir::ValueId;
use tofu_tdl::{BinaryOp, Comparison, Index, Literal, Reducer, Scalar, ScalarId, Source, VarId};

use super::linear::Linear;
use super::{Express, Term, Vars};
use crate::{ConvolutionDimensions, ConvolutionWindow, convert, convolution, dot_general, reshape};

/// A window along one dimension: `x·stride + k·dilation − low`.
struct Track {
    dim: usize,
    x: Option<VarId>,
    k: Option<VarId>,
    stride: i64,
    dilation: i64,
    low: i64,
}

impl Express<'_> {
    /// The factors of a product.
    fn factors(&self, body: ScalarId) -> Option<[ScalarId; 2]> {
        match self.data.scalar(body) {
            Scalar::Binary(BinaryOp::Mul, a, b) => Some([*a, *b]),
            _ => None,
        }
    }

    pub(super) fn dot(&mut self, body: ScalarId, over: &Vars) -> Option<Term> {
        let [a, b] = self.factors(body)?;
        let is_shared = over.iter().any(|&var| self.mentions(a, var) && self.mentions(b, var));
        if !is_shared {
            return None;
        }
        let (a, b) = (self.scalar(a)?, self.scalar(b)?);
        let both = |var: &VarId| a.vars.contains(var) && b.vars.contains(var);
        // A variable of neither factor counts as often as it has values.
        if over
            .iter()
            .any(|var| !a.vars.contains(var) && !b.vars.contains(var) && self.extent(*var) != Some(1))
            || !over.iter().any(both)
        {
            return None;
        }
        let contracted: Vars = over.iter().copied().filter(both).collect();
        let own = |term: &Term, other: &Term| -> Vars {
            over.iter().copied().filter(|var| term.vars.contains(var) && !other.vars.contains(var)).collect()
        };
        let (of_a, of_b) = (own(&a, &b), own(&b, &a));
        let a = self.reduced(Reducer::Sum, vec![a], &of_a, 0)?;
        let b = self.reduced(Reducer::Sum, vec![b], &of_b, 0)?;
        let batch: Vars =
            a.vars.iter().copied().filter(|var| b.vars.contains(var) && !contracted.contains(var)).collect();
        let places = |term: &Term, vars: &Vars| -> Option<Vec<i64>> {
            vars.iter().map(|var| Some(term.vars.iter().position(|other| other == var)? as i64)).collect()
        };
        let contracting = (places(&a, &contracted)?, places(&b, &contracted)?);
        let batching = (places(&a, &batch)?, places(&b, &batch)?);
        let value = dot_general(
            &mut self.builder(),
            a.value,
            b.value,
            (&contracting.0, &contracting.1),
            (&batching.0, &batching.1),
        )
        .ok()?;
        let free = |term: &Term| -> Vars {
            let is_free = |var: &VarId| !batch.contains(var) && !contracted.contains(var);
            term.vars.iter().copied().filter(is_free).collect()
        };
        let vars: Vars = batch.iter().copied().chain(free(&a)).chain(free(&b)).collect();
        let ordered = self.in_order(vars.iter().copied());
        let value = self.aligned(&Term { value, vars }, &ordered)?;
        Some(Term { value, vars: ordered })
    }

    pub(super) fn convolution(&mut self, body: ScalarId, over: &Vars) -> Option<Term> {
        let [a, b] = self.factors(body)?;
        self.convolved(a, b, over).or_else(|| self.convolved(b, a, over))
    }

    /// An element under a guard that only says that it is there: the tensor, where, and the element itself.
    fn element_at(&self, id: ScalarId) -> Option<(Source, Vec<Linear>, ScalarId)> {
        let data = self.data;
        let inner = match data.scalar(id) {
            Scalar::Convert(inner) => *inner,
            _ => id,
        };
        let (conditions, read) = match data.scalar(inner) {
            Scalar::Select(condition, read, rest) => {
                let is_zero =
                    matches!(data.scalar(*rest), Scalar::Literal(Literal::Int(0) | Literal::Float(0)));
                let mut conditions = Vec::new();
                self.conjuncts(*condition, &mut conditions);
                (is_zero.then_some(conditions)?, *read)
            }
            _ => (Vec::new(), inner),
        };
        let Scalar::Read(source, indices) = data.scalar(read) else { return None };
        let places: Vec<Linear> = indices.iter().map(|&index| self.linear(index)).collect::<Option<_>>()?;
        let dims = data.dims(*source);
        let is_bound = |condition: ScalarId| {
            let Scalar::Compare(comparison, x, y) = data.scalar(condition) else { return false };
            let index = |id: ScalarId| match data.scalar(id) {
                Scalar::Index(index) => Some(*index),
                _ => None,
            };
            let (Some(x), Some(y)) = (index(*x), index(*y)) else { return false };
            let constant = |id| match data.index(id) {
                Index::Const(value) => Some(value),
                _ => None,
            };
            let (place, is_low, bound) = match (comparison, constant(x), constant(y)) {
                (Comparison::Ge, _, Some(bound)) => (x, true, bound),
                (Comparison::Le, Some(bound), _) => (y, true, bound),
                (Comparison::Lt, _, Some(bound)) => (x, false, bound),
                (Comparison::Gt, Some(bound), _) => (y, false, bound),
                _ => return false,
            };
            let Some(place) = self.linear(place) else { return false };
            places.iter().zip(&dims).any(|(own, &extent)| {
                *own == place
                    && if is_low { bound == 0 } else { self.number(extent) == u64::try_from(bound).ok() }
            })
        };
        conditions.iter().all(|&condition| is_bound(condition)).then_some((*source, places, read))
    }

    fn convolved(&mut self, a: ScalarId, b: ScalarId, over: &Vars) -> Option<Term> {
        let (left, left_at, _) = self.element_at(a)?;
        let (right, right_at, right_read) = self.element_at(b)?;
        // The other one is read where it is, dimension by dimension.
        let plain =
            |place: &Linear| place.of_one().filter(|&(_, factor, constant)| factor == 1 && constant == 0);
        let of_right: Vec<Option<VarId>> = right_at
            .iter()
            .map(|place| match plain(place) {
                Some((var, ..)) => Some(Some(var)),
                None if place.terms.is_empty() && place.constant == 0 => Some(None),
                None => None,
            })
            .collect::<Option<_>>()?;
        let in_right = |var: VarId| of_right.contains(&Some(var));
        let is_over = |var: VarId| over.contains(&var);
        let mut tracks: Vec<Track> = Vec::new();
        let (mut feature, mut batches) = (None, Vec::new());
        for (dim, place) in left_at.iter().enumerate() {
            let vars = place.of_vars()?;
            if vars.iter().any(|(var, _)| self.known.contains_key(var)) {
                return None;
            }
            match vars[..] {
                [(var, 1)] if place.constant == 0 && is_over(var) && in_right(var) && feature.is_none() => {
                    feature = Some((dim, var));
                }
                [(var, 1)] if place.constant == 0 && !is_over(var) && !in_right(var) => {
                    batches.push((dim, var))
                }
                [(first, c), (second, d)] => {
                    let (x, stride, k, dilation) = match (in_right(first), in_right(second)) {
                        (false, true) => (first, c, second, d),
                        (true, false) => (second, d, first, c),
                        _ => return None,
                    };
                    if is_over(x) || !is_over(k) || stride < 1 || dilation < 1 {
                        return None;
                    }
                    let low = -place.constant;
                    tracks.push(Track { dim, x: Some(x), k: Some(k), stride, dilation, low });
                }
                _ => return None,
            }
        }
        let (feature, inner) = feature?;
        if tracks.is_empty() || batches.is_empty() {
            return None;
        }
        // What is in the result and has no window is the batch, or has one of one element.
        let (batch, batch_var) = batches.remove(0);
        tracks.extend(batches.iter().map(|&(dim, var)| Track {
            dim,
            x: Some(var),
            k: None,
            stride: 1,
            dilation: 1,
            low: 0,
        }));
        let windows: Vec<VarId> = tracks.iter().filter_map(|track| track.k).collect();
        let outer: Vec<VarId> = of_right
            .iter()
            .flatten()
            .copied()
            .filter(|var| *var != inner && !windows.contains(var))
            .collect();
        let [outer] = outer[..] else { return None };
        // All is summed that is to be, and nothing else; no dimension of the tensors is left out.
        let summed: Vars = windows.iter().copied().chain([inner]).collect();
        let is_all = over.iter().all(|var| summed.contains(var) || self.extent(*var) == Some(1));
        if is_over(outer) || !is_all {
            return None;
        }
        let (lhs, rhs) = (self.source(left)?, self.read_plain(right_read, right)?);
        let (lhs_dims, rhs_dims) = (self.dims_of(lhs), self.dims_of(rhs));
        if self.extent(inner) != Some(lhs_dims[feature]) || self.extent(batch_var) != Some(lhs_dims[batch]) {
            return None;
        }
        // The kernel with a dimension for each window, one of one element where it has none.
        let mut kernel_dims: Vec<u64> = Vec::new();
        let mut place_of = SmallVec::<[(VarId, usize); 6]>::new();
        for (dim, var) in of_right.iter().enumerate() {
            if let Some(var) = var {
                place_of.push((*var, kernel_dims.len()));
                kernel_dims.push(rhs_dims[dim]);
            }
        }
        let place = |var: VarId| place_of.iter().find(|(other, _)| *other == var).map(|&(_, at)| at);
        let mut kernel_spatial = SmallVec::new();
        for track in &tracks {
            kernel_spatial.push(match track.k {
                Some(k) => place(k)?,
                None => {
                    kernel_dims.push(1);
                    kernel_dims.len() - 1
                }
            });
        }
        let element = self.element_of(rhs);
        let ty = self.ty(&kernel_dims, element);
        let mut rhs = rhs;
        if self.dims_of(rhs)[..] != kernel_dims[..] {
            rhs = reshape(&mut self.builder(), rhs, ty).ok()?;
        }
        let count = tracks.len();
        let dimensions = ConvolutionDimensions {
            input_batch: batch,
            input_feature: feature,
            input_spatial: tracks.iter().map(|track| track.dim).collect(),
            kernel_input_feature: place(inner)?,
            kernel_output_feature: place(outer)?,
            kernel_spatial,
            output_batch: 0,
            output_feature: count + 1,
            output_spatial: (1..=count).collect(),
        };
        let mut high = Vec::new();
        for track in &tracks {
            let (positions, size) = (self.extent(track.x?)?, track.k.map_or(Some(1), |k| self.extent(k))?);
            let span = (positions as i64 - 1) * track.stride + (size as i64 - 1) * track.dilation + 1;
            high.push(span - track.low - lhs_dims[track.dim] as i64);
        }
        let of = |value: fn(&Track) -> i64| tracks.iter().map(value).collect::<Vec<i64>>();
        let (strides, dilations, low) =
            (of(|track| track.stride), of(|track| track.dilation), of(|track| track.low));
        let window = ConvolutionWindow {
            window_strides: &strides,
            padding_low: &low,
            padding_high: &high,
            rhs_dilation: &dilations,
            ..ConvolutionWindow::default()
        };
        // What the product is in.
        let wide = self.element(self.data.scalar_type(a))?;
        let [lhs, rhs] = [lhs, rhs].map(|value| {
            if self.element_of(value) == wide {
                Some(value)
            } else {
                convert(&mut self.builder(), value, wide).ok()
            }
        });
        let value = convolution(&mut self.builder(), lhs?, rhs?, &dimensions, window).ok()?;
        let xs = tracks.iter().filter_map(|track| track.x);
        let vars: Vars = [batch_var].into_iter().chain(xs).chain([outer]).collect();
        let ordered = self.in_order(vars.iter().copied());
        let value = self.aligned(&Term { value, vars }, &ordered)?;
        Some(Term { value, vars: ordered })
    }

    /// The tensor of which an element is read, if it is read as it is.
    fn read_plain(&self, read: ScalarId, source: Source) -> Option<ValueId> {
        let Scalar::Read(_, indices) = self.data.scalar(read) else { return None };
        let value = self.source(source)?;
        let dims = self.dims_of(value);
        let is_whole = indices.iter().zip(&dims).all(|(&index, &extent)| match self.data.index(index) {
            Index::Var(var) => self.extent(var) == Some(extent),
            Index::Const(0) => extent == 1,
            _ => false,
        });
        is_whole.then_some(value)
    }
}

//! Conversions of values between layouts, as the plan prices them.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_diagnostics::Diagnostic;
use tofu_dialect_dist::{Range, build_axis_index, build_fetch, build_move};
use tofu_dialect_tensor::{add, dynamic_slice, multiply, pad, splat};
use tofu_ir::{BlockId, Builder, ElementType, Module, OpId, ValueId};
use tofu_partition::TensorId;
use tofu_sharding::{Axes, AxisRef, Layouts, Means, Sharding, moves};

use crate::planned::Planned;

/// Where ops are put, and for what.
pub(crate) struct Place {
    /// Before this op.
    pub(crate) before: OpId,
    /// On behalf of this one.
    pub(crate) origin: OpId,
}

/// What is made once.
#[derive(Default)]
pub(crate) struct Made {
    /// Coordinates of devices.
    indices: FxHashMap<Axes, ValueId>,
}

impl Planned {
    /// A value in another layout.
    pub(crate) fn converted(
        &self,
        module: &mut Module,
        value: ValueId,
        tensor: TensorId,
        (from, to): (Layouts, Layouts),
        place: &Place,
    ) -> ValueId {
        let of = &self.tensors[tensor as usize];
        let means = Means { reduce_scatter: self.reduce_scatter, ordered: true };
        let mesh = (&*self.mesh_name, &self.mesh);
        let mut sharding = plain(from.sharding(&self.mesh, &of.shape));
        let mut value = value;
        for step in moves(&self.mesh, &of.shape, of.element.bits(), from, to, means) {
            let mut builder = Builder::before(module, place.before).origin(place.origin);
            (value, sharding) = build_move(&mut builder, mesh, value, &sharding, &step);
        }
        value
    }

    /// Another range of a dimension that some axes split.
    pub(crate) fn fetched(
        &self,
        module: &mut Module,
        value: ValueId,
        layouts: Layouts,
        shape: &[u64],
        range: Range,
        place: &Place,
    ) -> ValueId {
        let of = plain(layouts.sharding(&self.mesh, shape));
        let mut builder = Builder::before(module, place.before).origin(place.origin);
        build_fetch(&mut builder, (&*self.mesh_name, &self.mesh), value, &of, range)
    }

    /// A range of a dimension that every device holds whole, for the device of this coordinate along these axes; 0 beyond its ends.
    ///
    /// # Errors
    /// The extents are too large.
    pub(crate) fn window_of_whole(
        &self,
        module: &mut Module,
        value: ValueId,
        range: Range,
        (worker, axes): (ValueId, &Axes),
        place: &Place,
    ) -> Result<ValueId, Diagnostic> {
        let Range { dim, start, step, size, extent } = range;
        let mut dims: Vec<i64> =
            (module.tensor_type(value).and_then(|ty| ty.static_dims()).unwrap_or_default())
                .iter()
                .map(|&dim| dim as i64)
                .collect();
        let element = module.tensor_type(value).map_or(ElementType::F32, |ty| ty.element);
        let workers = self.mesh.devices_along(axes);
        let last = start + step * (workers as i64 - 1);
        // With room for all windows, so that none is moved.
        let (mut low, mut high) = (vec![0; dims.len()], vec![0; dims.len()]);
        low[dim] = (-start.min(last)).max(0);
        high[dim] = (start.max(last) + size as i64 - extent as i64).max(0);
        let none = vec![0; dims.len()];
        let scalar = module.interner.tensor(&[], element);
        let number = module.interner.tensor(&[], ElementType::I32);
        let mut builder = Builder::before(module, place.before).origin(place.origin);
        let zero = splat(&mut builder, scalar, 0.0)?;
        let room = pad(&mut builder, value, zero, &low, &high, &none)?;
        let [step, first, origin] =
            [step as f64, (start + low[dim]) as f64, 0.0].map(|value| splat(&mut builder, number, value));
        let at = multiply(&mut builder, worker, step?)?;
        let at = add(&mut builder, at, first?)?;
        let mut starts = vec![origin?; dims.len()];
        starts[dim] = at;
        dims[dim] = size as i64;
        dynamic_slice(&mut builder, room, &starts, &dims)
    }

    /// The coordinate of the device along some axes, made once at the beginning of the function.
    pub(crate) fn index(&self, module: &mut Module, made: &mut Made, body: BlockId, axes: &Axes) -> ValueId {
        if let Some(&known) = made.indices.get(axes) {
            return known;
        }
        let refs: SmallVec<[AxisRef; 4]> = axes.iter().map(|&axis| self.mesh.whole(axis.into())).collect();
        let mut builder = match module.first_op(body) {
            Some(first) => Builder::before(module, first),
            None => Builder::at_end(module, body),
        };
        let index = build_axis_index(&mut builder, (&*self.mesh_name, &self.mesh), &refs);
        made.indices.insert(axes.clone(), index);
        index
    }
}

/// Of buffers it is not said which dimensions are padded.
fn plain(mut sharding: Sharding) -> Sharding {
    sharding.dims.iter_mut().for_each(|dim| dim.padded = false);
    sharding
}

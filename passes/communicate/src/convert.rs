//! Conversions of values between layouts, as the plan prices them.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_dialect_dist::{Range, build_axis_index, build_fetch, build_move};
use tofu_ir::{BlockId, Builder, Module, OpId, ValueId};
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

//! What devices do together, in StableHLO's ops.
//!
//! Groups are lists of devices by their numbers on the mesh, in the order of their coordinates along the axes; a channel and global device
//! ids make XLA count partitions, not replicas. Conversions of one dimension are one collective on it. Where several dimensions
//! change at once, parts are put side by side along a new first dimension, and the collective is on that:
//!
//! ```text
//! split on d0 and d1 ⇒ whole:    [l0, l1] → [1, l0, l1] → all-gather → [k0·k1, l0, l1] → [k0, k1, l0, l1] → [k0, l0, k1, l1] → [k0·l0, k1·l1]
//! ```

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_dialect_tensor::{self as tensor, Direction};
use tofu_ir::{AttrData, BlockId, Builder, ElementType, Module, OpDef, OpId, ValueId};
use tofu_sharding::{Action, Axes, AxisRef, Communicate, Communication, Kind, Mesh, Reducer};

use super::site::{Made, Site};

/// The axes of some dimensions.
type Split = (usize, Axes);

/// The ops of `dist` in a function, on their way to those of StableHLO.
pub(super) struct Collectives<'a> {
    pub(super) site: Site<'a>,
    pub(super) mesh: &'a Mesh,
    /// The body, at whose beginning coordinates are made.
    block: BlockId,
    coordinates: FxHashMap<Vec<AxisRef>, ValueId>,
    channels: i64,
}

impl<'a> Collectives<'a> {
    /// Puts ops of StableHLO in the place of all that devices do together in a function.
    ///
    /// # Errors
    /// At what is wrong, or cannot be said.
    pub(super) fn expand(
        module: &'a mut Module,
        function: OpId,
        block: BlockId,
        mesh: &'a Mesh,
    ) -> Result<(), Diagnostic> {
        let ops: Vec<(OpId, Option<Communication>)> = module
            .walk(function)
            .filter_map(|op| Some((op, module.def(op).interface::<Communicate>()?.0(module, op))))
            .collect();
        let Some(op) = module.first_op(block) else { return Ok(()) };
        let site = Site { module, op };
        let mut all = Collectives { site, mesh, block, coordinates: FxHashMap::default(), channels: 0 };
        for (op, communication) in ops {
            all.site.op = op;
            let Some(communication) = communication else {
                let message = "it does not say what devices do";
                return Err(all.site.module.error(op, &codes::NOT_EXPRESSIBLE, message));
            };
            let values = all.op(op, &communication.kind)?;
            for (place, value) in values.into_iter().enumerate() {
                let old = all.site.module.result(op, place);
                let name = all.site.module.value_name(old);
                all.site.module.replace_all_uses(old, value);
                if name.is_some() && all.site.module.value_name(value).is_none() {
                    all.site.module.set_value_name(value, name);
                }
            }
            all.site.module.erase(op);
        }
        Ok(())
    }

    /// What stands for each result of an op.
    fn op(&mut self, op: OpId, kind: &Kind) -> Result<Vec<ValueId>, Diagnostic> {
        Ok(match kind {
            Kind::Index(axes) => vec![self.coordinate(&self.refs(axes))?],
            Kind::Fetch { dim, axes, start, step, extent } => {
                let to = self.extents(op, 0)?;
                let value = self.site.module.operand(op, 0);
                vec![self.fetch(value, &to, (*dim, axes), (*start, *step), *extent)?]
            }
            Kind::Convert(action) => vec![self.convert(op, 0, action)?],
            // XLA puts them together by itself.
            Kind::Bucket(actions) => {
                let each = actions.iter().enumerate();
                each.map(|(place, action)| self.convert(op, place, action)).collect::<Result<_, _>>()?
            }
        })
    }

    fn extents(&self, op: OpId, result: usize) -> Result<Vec<u64>, Diagnostic> {
        let module = &self.site.module;
        let ty = module.tensor_type(module.result(op, result));
        let dims = ty.and_then(|ty| ty.static_dims());
        dims.map(|dims| dims.to_vec())
            .ok_or_else(|| module.error(op, &codes::NOT_EXPRESSIBLE, "its extents are not known"))
    }

    /// The operand of an op in this place, as the action leaves it.
    fn convert(&mut self, op: OpId, place: usize, action: &Action) -> Made {
        let to = self.extents(op, place)?;
        let value = self.site.module.operand(op, place);
        match action {
            Action::Slice(dims) => self.slice(value, &to, dims),
            Action::Gather(dims) => self.gather(value, &to, dims),
            Action::Reduce(reducer, axes) => {
                let groups = self.groups(axes);
                self.reduction(&tensor::ALL_REDUCE, value, &to, &groups, *reducer, None)
            }
            Action::Scatter(reducer, dims) => self.scatter(value, &to, *reducer, dims),
            Action::Exchange(gone, come) => self.exchange(value, &to, gone, come),
            Action::Permute(changes) => self.permute(value, changes),
            Action::Term(reducer, axes) => self.term(value, *reducer, axes),
            Action::Embed(reducer, dim, axes) => self.embed(value, &to, *reducer, *dim, axes),
        }
    }

    pub(super) fn refs(&self, axes: &[u8]) -> Vec<AxisRef> {
        axes.iter().map(|&axis| self.mesh.whole(axis.into())).collect()
    }

    pub(super) fn size(&self, axes: &[u8]) -> u64 {
        self.mesh.devices_along(axes)
    }

    /// The devices that differ in these axes only, group by group, by their coordinates along them.
    pub(super) fn groups(&self, axes: &[u8]) -> Vec<Vec<u64>> {
        let axes = self.refs(axes);
        let others: Vec<AxisRef> = (0..self.mesh.axes().len())
            .filter(|&axis| axes.iter().all(|own| own.axis != axis))
            .map(|axis| self.mesh.whole(axis))
            .collect();
        let mut groups: Vec<Vec<u64>> =
            vec![Vec::new(); others.iter().map(|axis| axis.size as usize).product()];
        for device in 0..self.mesh.devices() {
            groups[self.mesh.joint_coordinate(device, &others) as usize].push(device);
        }
        groups.iter_mut().for_each(|group| {
            group.sort_by_key(|&device| self.mesh.joint_coordinate(device, &axes));
        });
        groups
    }

    /// The coordinate of the device, made once.
    pub(super) fn coordinate(&mut self, axes: &[AxisRef]) -> Made {
        if let Some(&known) = self.coordinates.get(axes) {
            return Ok(known);
        }
        let op = self.site.op;
        if let Some(first) = self.site.module.first_op(self.block) {
            self.site.op = first;
        }
        let made = self.site.coordinate(self.mesh, axes);
        self.site.op = op;
        let made = made?;
        self.coordinates.insert(axes.to_vec(), made);
        Ok(made)
    }

    fn slice(&mut self, value: ValueId, to: &[u64], dims: &[Split]) -> Made {
        let mut all = self.site.dims(value);
        let mut starts = vec![None; to.len()];
        for (dim, axes) in dims {
            all[*dim] = to[*dim] * self.size(axes);
            let place = self.coordinate(&self.refs(axes))?;
            starts[*dim] = Some(self.site.times(place, to[*dim])?);
        }
        let value = self.site.padded(value, &all)?;
        self.site.window(value, &starts, to)
    }

    fn gather(&mut self, value: ValueId, to: &[u64], dims: &[Split]) -> Made {
        let from = self.site.dims(value);
        let axes: Axes = dims.iter().flat_map(|(_, axes)| axes.iter().copied()).collect();
        let groups = self.groups(&axes);
        let mut whole = from.clone();
        dims.iter().for_each(|(dim, axes)| whole[*dim] *= self.size(axes));
        let gathered = match dims {
            [(dim, _)] => self.all_gather(value, &whole, *dim, &groups)?,
            _ => {
                let one = self.site.reshape(value, &[&[1], &from[..]].concat())?;
                let side_by_side = [&[self.size(&axes)], &from[..]].concat();
                let all = self.all_gather(one, &side_by_side, 0, &groups)?;
                self.joined(all, &axes, dims, &from)?
            }
        };
        self.site.cut(gathered, to)
    }

    fn all_gather(&mut self, value: ValueId, to: &[u64], dim: usize, groups: &[Vec<u64>]) -> Made {
        let dim = self.site.module.interner.int(dim as i64);
        self.collective(&tensor::ALL_GATHER, value, to, groups, &[("all_gather_dim", dim)])
    }

    /// A collective over groups of devices, with what else it says.
    fn collective(
        &mut self,
        def: &'static OpDef,
        value: ValueId,
        to: &[u64],
        groups: &[Vec<u64>],
        attributes: &[(&str, tofu_ir::Attr)],
    ) -> Made {
        let groups = self.site.devices(groups);
        let ty = self.site.ty(to, self.site.element(value));
        let (channel, kind) = self.channel();
        let unit = self.site.module.interner.attr(AttrData::Unit);
        let mut builder = self.site.builder();
        let op = builder.op(def).operand(value).attr("channel_id", channel).attr("channel_type", kind);
        let mut op = attributes.iter().fold(op, |op, &(name, attr)| op.attr(name, attr));
        op = op.attr("replica_groups", groups);
        if !std::ptr::eq(def, &tensor::ALL_TO_ALL) {
            op = op.attr("use_global_device_ids", unit);
        }
        if std::ptr::eq(def, &tensor::ALL_REDUCE) || std::ptr::eq(def, &tensor::REDUCE_SCATTER) {
            op = op.region();
        }
        let op = op.result(ty).build();
        Ok(self.site.module.result(op, 0))
    }

    fn channel(&mut self) -> (tofu_ir::Attr, tofu_ir::Attr) {
        self.channels += 1;
        let interner = &mut self.site.module.interner;
        (interner.int(self.channels), interner.int(1))
    }

    fn reduction(
        &mut self,
        def: &'static OpDef,
        value: ValueId,
        to: &[u64],
        groups: &[Vec<u64>],
        reducer: Reducer,
        dim: Option<usize>,
    ) -> Made {
        let scattered = dim.map(|dim| ("scatter_dimension", self.site.module.interner.int(dim as i64)));
        let attributes: SmallVec<[_; 1]> = scattered.into_iter().collect();
        let result = self.collective(def, value, to, groups, &attributes)?;
        let element = self.site.element(value);
        let module = &mut *self.site.module;
        let Some(op) = module.defining_op(result) else { return Ok(result) };
        let block = module.append_block(module.region(op, 0));
        let scalar = module.interner.tensor(&[], element);
        let [a, b] = [(); 2].map(|()| module.append_argument(block, scalar));
        let combine = match reducer {
            Reducer::Sum => tensor::add,
            Reducer::Prod => tensor::multiply,
            Reducer::Max => tensor::maximum,
            Reducer::Min => tensor::minimum,
            Reducer::And => tensor::and,
            Reducer::Or => tensor::or,
        };
        let mut builder = Builder::at_end(module, block).origin(op);
        let combined = combine(&mut builder, a, b)?;
        builder.op(&tensor::YIELD).operand(combined).build();
        Ok(result)
    }

    fn scatter(&mut self, value: ValueId, to: &[u64], reducer: Reducer, dims: &[Split]) -> Made {
        let mut whole = self.site.dims(value);
        dims.iter().for_each(|(dim, axes)| whole[*dim] = to[*dim] * self.size(axes));
        let value = self.site.padded(value, &whole)?;
        let axes: Axes = dims.iter().flat_map(|(_, axes)| axes.iter().copied()).collect();
        let groups = self.groups(&axes);
        if let [(dim, _)] = dims {
            return self.reduction(&tensor::REDUCE_SCATTER, value, to, &groups, reducer, Some(*dim));
        }
        let parts = self.side_by_side(value, dims, to)?;
        let one = [&[1], to].concat();
        let part = self.reduction(&tensor::REDUCE_SCATTER, parts, &one, &groups, reducer, Some(0))?;
        self.site.reshape(part, to)
    }

    /// The parts of dimensions along a new first one, in the order of the dimensions and their axes. Each is of the extents `part`.
    fn side_by_side(&mut self, value: ValueId, dims: &[Split], part: &[u64]) -> Made {
        let count =
            |dim: usize| dims.iter().find(|(other, _)| *other == dim).map(|(_, axes)| self.size(axes));
        let mut split = Vec::new();
        let (mut numbers, mut rest) = (Vec::new(), Vec::new());
        for (dim, &extent) in part.iter().enumerate() {
            if let Some(count) = count(dim) {
                numbers.push((dim, split.len()));
                split.push(count);
            }
            rest.push(split.len());
            split.push(extent);
        }
        let place = |dim: usize| numbers.iter().find(|(other, _)| *other == dim).map(|&(_, at)| at);
        let order: Vec<usize> = dims.iter().filter_map(|&(dim, _)| place(dim)).chain(rest).collect();
        let count: u64 = dims.iter().map(|(_, axes)| self.size(axes)).product();
        let value = self.site.reshape(value, &split)?;
        let value = self.site.transpose(value, &order)?;
        self.site.reshape(value, &[&[count], part].concat())
    }

    /// Parts that lie along the first dimension, by their coordinates along `axes`, put together along those of `dims`.
    fn joined(&mut self, value: ValueId, axes: &[u8], dims: &[Split], part: &[u64]) -> Made {
        let sizes: Vec<u64> = axes.iter().map(|&axis| self.size(&[axis])).collect();
        let value = self.site.reshape(value, &[&sizes, part].concat())?;
        let (mut order, mut whole) = (Vec::new(), Vec::new());
        for (dim, &extent) in part.iter().enumerate() {
            let own = dims.iter().find(|(other, _)| *other == dim).map_or(&[][..], |(_, axes)| axes);
            order.extend(own.iter().filter_map(|axis| axes.iter().position(|other| other == axis)));
            order.push(axes.len() + dim);
            whole.push(extent * self.size(own));
        }
        let value = self.site.transpose(value, &order)?;
        self.site.reshape(value, &whole)
    }

    fn exchange(&mut self, value: ValueId, to: &[u64], gone: &[Split], come: &[Split]) -> Made {
        let mut part = self.site.dims(value);
        let mut whole = part.clone();
        for (dim, axes) in come {
            part[*dim] = part[*dim].div_ceil(self.size(axes));
            whole[*dim] = part[*dim] * self.size(axes);
        }
        let value = self.site.padded(value, &whole)?;
        let axes: Axes = come.iter().flat_map(|(_, axes)| axes.iter().copied()).collect();
        let count = self.size(&axes);
        let groups = self.groups(&axes);
        let exchanged = match (gone, come) {
            ([(left, before)], [(split, after)]) if before == after => {
                let mut joined = part.clone();
                joined[*left] *= count;
                self.all_to_all(value, &joined, (*split, *left), count, &groups)?
            }
            _ => {
                let parts = self.side_by_side(value, come, &part)?;
                let all = [&[count], &part[..]].concat();
                let parts = self.all_to_all(parts, &all, (0, 0), count, &groups)?;
                self.joined(parts, &axes, gone, &part)?
            }
        };
        self.site.cut(exchanged, to)
    }

    fn all_to_all(
        &mut self,
        value: ValueId,
        to: &[u64],
        (split, joined): (usize, usize),
        count: u64,
        groups: &[Vec<u64>],
    ) -> Made {
        let [split, joined, count] =
            [split as i64, joined as i64, count as i64].map(|value| self.site.module.interner.int(value));
        let attributes = [("concat_dimension", joined), ("split_count", count), ("split_dimension", split)];
        self.collective(&tensor::ALL_TO_ALL, value, to, groups, &attributes)
    }

    fn permute(&mut self, value: ValueId, changes: &[(Axes, Axes)]) -> Made {
        let changes: Vec<_> = changes.iter().map(|(from, to)| (self.refs(from), self.refs(to))).collect();
        let moved: Vec<usize> =
            changes.iter().flat_map(|(from, _)| from.iter().map(|axis| axis.axis)).collect();
        let alike = |one: u64, other: u64| {
            (0..self.mesh.axes().len()).filter(|axis| !moved.contains(axis)).all(|axis| {
                let axis = self.mesh.whole(axis);
                self.mesh.coordinate(one, axis) == self.mesh.coordinate(other, axis)
            })
        };
        let sends = |source: u64, target: u64| {
            alike(source, target)
                && changes.iter().all(|(from, to)| {
                    self.mesh.joint_coordinate(source, from) == self.mesh.joint_coordinate(target, to)
                })
        };
        let all = 0..self.mesh.devices();
        let pairs: Vec<Vec<u64>> = all
            .clone()
            .flat_map(|source| {
                all.clone()
                    .filter(move |&target| sends(source, target))
                    .map(move |target| vec![source, target])
            })
            .collect();
        self.send(value, &pairs)
    }

    /// What each device gets from the one that is paired with it as its source; zeros where there is none.
    pub(super) fn send(&mut self, value: ValueId, pairs: &[Vec<u64>]) -> Made {
        let pairs = self.site.devices(pairs);
        let ty = self.site.module.ty(value);
        let (channel, kind) = self.channel();
        let mut builder = self.site.builder();
        let op = builder.op(&tensor::COLLECTIVE_PERMUTE).operand(value);
        let op = op.attr("channel_id", channel).attr("channel_type", kind);
        let op = op.attr("source_target_pairs", pairs).result(ty).build();
        Ok(self.site.module.result(op, 0))
    }

    fn term(&mut self, value: ValueId, reducer: Reducer, axes: &[u8]) -> Made {
        let place = self.coordinate(&self.refs(axes))?;
        let nothing = self.nothing(&self.site.dims(value), self.site.element(value), reducer)?;
        let zero = self.site.number(0)?;
        let mut builder = self.site.builder();
        let is_first = tensor::compare(&mut builder, Direction::Equal, place, zero)?;
        tensor::select(&mut builder, is_first, value, nothing)
    }

    fn embed(&mut self, value: ValueId, to: &[u64], reducer: Reducer, dim: usize, axes: &[u8]) -> Made {
        let own = self.site.dims(value)[dim];
        let mut whole = to.to_vec();
        whole[dim] = own * self.size(axes);
        let nothing = self.nothing(&whole, self.site.element(value), reducer)?;
        let place = self.coordinate(&self.refs(axes))?;
        let mut starts = vec![None; to.len()];
        starts[dim] = Some(self.site.times(place, own)?);
        let all = self.site.put(nothing, value, &starts)?;
        self.site.cut(all, to)
    }

    /// What a reducer gives of nothing.
    fn nothing(&mut self, dims: &[u64], element: ElementType, reducer: Reducer) -> Made {
        let value = match reducer {
            Reducer::Sum | Reducer::Or => 0.0,
            Reducer::Prod => 1.0,
            Reducer::Max => f64::NEG_INFINITY,
            Reducer::Min => f64::INFINITY,
            // All bits are set.
            Reducer::And if element.integer_range().is_some_and(|(low, _)| low == 0) => f64::INFINITY,
            Reducer::And => -1.0,
        };
        self.site.splat(dims, element, value)
    }
}

//! What devices exchange, step by step as they would: rings for gathers and reductions, pairs for all else. Every buffer that goes from one
//! device to another is counted where it is sent.
//!
//! A ring of k devices gathers in k − 1 steps, in each of which a device hands on what it got in the last one, and reduces and
//! scatters in as many: a part goes around, and each device adds its own, until it arrives where it belongs. An all-reduce is
//! both, of parts as even as they can be. (Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", 2005.)

use smallvec::SmallVec;
use tofu_ir::ElementType;
use tofu_sharding::{Action, Axes, AxisRef, Communication, Kind, Mesh, Reducer};
use tofu_tdl::numeric::{self, Word};

use crate::storage;

/// The buffers of all devices, of one type.
pub(crate) struct Buffers<'a> {
    pub(crate) element: ElementType,
    /// Their extents before, and after.
    pub(crate) dims: [&'a [u64]; 2],
    /// What each device has.
    pub(crate) all: &'a [&'a [u8]],
}

/// A buffer of each device.
type Each = Vec<Vec<u8>>;

/// What devices get, and the bytes that each sends and receives.
pub(crate) struct Exchanged {
    pub(crate) buffers: Each,
    pub(crate) sent: Vec<u64>,
    pub(crate) received: Vec<u64>,
}

/// What all devices do together. The result has the extents that are asked for: what padding is left is cut off.
///
/// # Errors
/// The buffers do not fit what is done with them.
pub(crate) fn exchange(communication: &Communication, buffers: &Buffers<'_>) -> Result<Exchanged, String> {
    let mesh = &communication.mesh;
    let mut run = Run {
        mesh,
        element: buffers.element,
        size: buffers.element.storage_bytes(),
        from: buffers.dims[0],
        to: buffers.dims[1],
        all: buffers.all,
        sent: vec![0; buffers.all.len()],
        received: vec![0; buffers.all.len()],
    };
    if buffers.all.len() as u64 != mesh.devices() {
        return Err(format!("{} devices run what is made for {}", buffers.all.len(), mesh.devices()));
    }
    storage::check(Run::elements(run.to).saturating_mul(run.size))?;
    let buffers = match &communication.kind {
        Kind::Convert(action) => run.convert(action)?,
        Kind::Fetch { dim, axes, start, step, extent } => run.fetch(*dim, axes, *start, *step, *extent)?,
        Kind::Bucket(_) => return Err("a bucket holds several buffers".to_owned()),
        Kind::Index(axes) => {
            let axes = run.axes(axes);
            let index = |device: u64| {
                let mut bytes = vec![0; run.size];
                Word::of_int(run.element, mesh.joint_coordinate(device, &axes).into())
                    .write(run.element, &mut bytes);
                bytes
            };
            (0..mesh.devices()).map(index).collect()
        }
    };
    let [sent, received] =
        [run.sent, run.received].map(|bits| bits.into_iter().map(|bits| bits.div_ceil(8)).collect());
    Ok(Exchanged { buffers, sent, received })
}

/// What all devices do together with several buffers each, which are of one type of elements; what each gives is as in [`exchange`], and
/// all are sent together. Buffers that are reduced go around as one, whose parts are as even as those of one are.
///
/// # Errors
/// The buffers do not fit what is done with them.
pub(crate) fn exchange_bucket(
    mesh: &Mesh,
    actions: &[Action],
    buffers: &[Buffers<'_>],
) -> Result<(Vec<Each>, Exchanged), String> {
    let alone = |action: &Action| Communication { mesh: mesh.clone(), kind: Kind::Convert(action.clone()) };
    let Some((first, one)) = buffers.first().zip(actions.first()).filter(|_| buffers.len() == actions.len())
    else {
        return Err("as many buffers as steps are expected".to_owned());
    };
    let mut all =
        Exchanged { buffers: Vec::new(), sent: vec![0; first.all.len()], received: vec![0; first.all.len()] };
    if matches!(one, Action::Reduce(..)) {
        let joined: Vec<Vec<u8>> = (0..first.all.len())
            .map(|device| buffers.iter().flat_map(|buffer| buffer.all[device].iter().copied()).collect())
            .collect();
        let size = first.element.storage_bytes();
        let count = [joined.first().map_or(0, Vec::len) as u64 / size as u64];
        let refs: Vec<&[u8]> = joined.iter().map(Vec::as_slice).collect();
        let joined = Buffers { element: first.element, dims: [&count, &count], all: &refs };
        let exchanged = exchange(&alone(one), &joined)?;
        let mut ends = vec![0];
        ends.extend(buffers.iter().scan(0, |end, buffer| {
            *end += Run::elements(buffer.dims[0]) * size;
            Some(*end)
        }));
        let given = ends
            .windows(2)
            .map(|pair| exchanged.buffers.iter().map(|device| device[pair[0]..pair[1]].to_vec()).collect());
        return Ok((given.collect(), Exchanged { buffers: Vec::new(), ..exchanged }));
    }
    let mut given = Vec::new();
    for (action, buffer) in actions.iter().zip(buffers) {
        let exchanged = exchange(&alone(action), buffer)?;
        all.sent.iter_mut().zip(&exchanged.sent).for_each(|(sum, bytes)| *sum += bytes);
        all.received.iter_mut().zip(&exchanged.received).for_each(|(sum, bytes)| *sum += bytes);
        given.push(exchanged.buffers);
    }
    Ok((given, all))
}

type Refs = SmallVec<[AxisRef; 4]>;

struct Run<'a> {
    mesh: &'a Mesh,
    element: ElementType,
    /// The bytes of an element.
    size: usize,
    from: &'a [u64],
    to: &'a [u64],
    all: &'a [&'a [u8]],
    /// In bits.
    sent: Vec<u64>,
    received: Vec<u64>,
}

impl Run<'_> {
    fn axes(&self, axes: &[u8]) -> Refs {
        axes.iter().map(|&axis| self.mesh.whole(axis.into())).collect()
    }

    /// The devices that differ in some axes only, group by group, by their coordinates along them.
    fn groups(&self, axes: &[AxisRef]) -> Vec<Vec<usize>> {
        let count = self.all.len();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut of: Vec<Option<usize>> = vec![None; count];
        for first in 0..count {
            if of[first].is_some() {
                continue;
            }
            let alike = |other: usize| {
                (0..self.mesh.axes().len()).map(|axis| self.mesh.whole(axis)).all(|axis| {
                    let is_among = axes.iter().any(|own| own.axis == axis.axis);
                    is_among
                        || self.mesh.coordinate(first as u64, axis)
                            == self.mesh.coordinate(other as u64, axis)
                })
            };
            let mut group: Vec<usize> = (0..count).filter(|&other| alike(other)).collect();
            group.sort_by_key(|&device| self.mesh.joint_coordinate(device as u64, axes));
            group.iter().for_each(|&device| of[device] = Some(groups.len()));
            groups.push(group);
        }
        groups
    }

    /// Counts a buffer that goes from one device to another, in bits: elements of less than a byte go packed, as everywhere bytes
    /// are counted.
    fn send(&mut self, from: usize, to: usize, bytes: usize) {
        let bits = (bytes / self.size) as u64 * u64::from(self.element.bits());
        self.sent[from] += bits;
        self.received[to] += bits;
    }

    fn elements(dims: &[u64]) -> usize {
        let elements = dims.iter().fold(1, |product: u64, &extent| product.saturating_mul(extent));
        usize::try_from(elements).unwrap_or(usize::MAX)
    }

    fn convert(&mut self, action: &Action) -> Result<Vec<Vec<u8>>, String> {
        match action {
            Action::Slice(dims) => {
                let axes: Vec<(usize, Refs)> =
                    dims.iter().map(|(dim, axes)| (*dim, self.axes(axes))).collect();
                (0..self.all.len())
                    .map(|device| {
                        let place = |dim: usize| {
                            let own = axes.iter().find(|(other, _)| *other == dim);
                            own.map_or(0, |(_, axes)| self.mesh.joint_coordinate(device as u64, axes))
                        };
                        let start: Dims = (0..self.to.len()).map(|dim| place(dim) * self.to[dim]).collect();
                        let mut buffer = self.filled(self.to, None);
                        self.copy(self.all[device], self.from, &start, &mut buffer, self.to, &zeros(self.to));
                        Ok(buffer)
                    })
                    .collect()
            }
            Action::Gather(dims) => Ok(self.gather(dims)),
            Action::Scatter(reducer, dims) => Ok(self.scatter(*reducer, dims)),
            Action::Reduce(reducer, axes) => Ok(self.reduce(*reducer, axes)),
            Action::Exchange(gone, come) => Ok(self.exchange(gone, come)),
            Action::Permute(changes) => Ok(self.permute(changes)),
            Action::Term(reducer, axes) => {
                let axes = self.axes(axes);
                Ok((0..self.all.len())
                    .map(|device| {
                        if self.mesh.joint_coordinate(device as u64, &axes) == 0 {
                            self.all[device].to_vec()
                        } else {
                            self.filled(self.to, Some(*reducer))
                        }
                    })
                    .collect())
            }
            Action::Embed(reducer, dim, axes) => {
                let axes = self.axes(axes);
                Ok((0..self.all.len())
                    .map(|device| {
                        let mut buffer = self.filled(self.to, Some(*reducer));
                        let mut start = zeros(self.to);
                        start[*dim] = self.mesh.joint_coordinate(device as u64, &axes) * self.from[*dim];
                        self.copy(
                            self.all[device],
                            self.from,
                            &zeros(self.from),
                            &mut buffer,
                            self.to,
                            &start,
                        );
                        buffer
                    })
                    .collect())
            }
        }
    }

    /// Zeros, or what a reducer gives of nothing.
    fn filled(&self, dims: &[u64], reducer: Option<Reducer>) -> Vec<u8> {
        let mut buffer = vec![0; Run::elements(dims) * self.size];
        if let Some(reducer) = reducer {
            let nothing = numeric::identity(reducer.description(), self.element);
            buffer.chunks_exact_mut(self.size).for_each(|one| nothing.write(self.element, one));
        }
        buffer
    }

    /// Copies what of a buffer, from `start` on, fits into another one, from `place` on.
    fn copy(
        &self,
        source: &[u8],
        dims: &[u64],
        start: &[u64],
        target: &mut [u8],
        target_dims: &[u64],
        place: &[u64],
    ) {
        copy_box(self.size, (source, dims, start), (target, target_dims, place));
    }

    fn gather(&mut self, dims: &[(usize, Axes)]) -> Vec<Vec<u8>> {
        let of_dims: Vec<(usize, Refs)> = dims.iter().map(|(dim, axes)| (*dim, self.axes(axes))).collect();
        let axes: Refs = of_dims.iter().flat_map(|(_, axes)| axes.iter().copied()).collect();
        let mut results = vec![Vec::new(); self.all.len()];
        for group in self.groups(&axes) {
            for (rank, &device) in group.iter().enumerate() {
                // What came from the left is handed on to the right, from the own part on.
                for _ in 1..group.len() {
                    self.send(device, group[(rank + 1) % group.len()], self.all[device].len());
                }
                let mut buffer = self.filled(self.to, None);
                for step in 0..group.len() {
                    let other = group[(rank + group.len() - step) % group.len()];
                    let mut place = zeros(self.to);
                    for (dim, axes) in &of_dims {
                        place[*dim] = self.mesh.joint_coordinate(other as u64, axes) * self.from[*dim];
                    }
                    self.copy(self.all[other], self.from, &zeros(self.from), &mut buffer, self.to, &place);
                }
                results[device] = buffer;
            }
        }
        results
    }

    fn combine(&self, reducer: Reducer, into: &mut [u8], other: &[u8]) {
        let op = numeric::reducer_op(reducer.description());
        let function = numeric::binary_fn(op, self.element);
        for (a, b) in into.chunks_exact_mut(self.size).zip(other.chunks_exact(self.size)) {
            let word = function(op, self.element, Word::read(self.element, a), Word::read(self.element, b));
            word.write(self.element, a);
        }
    }

    /// Parts go around the ring: `parts[rank][number]` is what a device has of a part; each part ends, reduced, on the device of its
    /// number.
    fn ring_scatter(&mut self, group: &[usize], reducer: Reducer, parts: &mut [Vec<Vec<u8>>]) {
        let count = group.len();
        for step in 0..count - 1 {
            // All devices send at the same time.
            let sent: Vec<(usize, Vec<u8>)> = (0..count)
                .map(|rank| {
                    let number = (rank + 2 * count - 1 - step) % count;
                    (number, parts[rank][number].clone())
                })
                .collect();
            for (rank, (number, part)) in sent.into_iter().enumerate() {
                self.send(group[rank], group[(rank + 1) % count], part.len());
                self.combine(reducer, &mut parts[(rank + 1) % count][number], &part);
            }
        }
    }

    fn scatter(&mut self, reducer: Reducer, dims: &[(usize, Axes)]) -> Vec<Vec<u8>> {
        let of_dims: Vec<(usize, Refs)> = dims.iter().map(|(dim, axes)| (*dim, self.axes(axes))).collect();
        let axes: Refs = of_dims.iter().flat_map(|(_, axes)| axes.iter().copied()).collect();
        let mut results = vec![Vec::new(); self.all.len()];
        for group in self.groups(&axes) {
            let part = |device: usize, target: usize| {
                let mut start = zeros(self.to);
                for (dim, axes) in &of_dims {
                    start[*dim] = self.mesh.joint_coordinate(target as u64, axes) * self.to[*dim];
                }
                let mut buffer = self.filled(self.to, None);
                self.copy(self.all[device], self.from, &start, &mut buffer, self.to, &zeros(self.to));
                buffer
            };
            let mut parts: Vec<Vec<Vec<u8>>> = group
                .iter()
                .map(|&device| group.iter().map(|&target| part(device, target)).collect())
                .collect();
            self.ring_scatter(&group, reducer, &mut parts);
            for (rank, &device) in group.iter().enumerate() {
                results[device] = std::mem::take(&mut parts[rank][rank]);
            }
        }
        results
    }

    fn reduce(&mut self, reducer: Reducer, axes: &[u8]) -> Vec<Vec<u8>> {
        let axes = self.axes(axes);
        let mut results = vec![Vec::new(); self.all.len()];
        for group in self.groups(&axes) {
            let (count, elements) = (group.len(), Run::elements(self.from));
            let ends: Vec<usize> = (0..=count).map(|part| part * elements / count * self.size).collect();
            let cut = |device: usize| -> Vec<Vec<u8>> {
                ends.windows(2).map(|pair| self.all[device][pair[0]..pair[1]].to_vec()).collect()
            };
            let mut parts: Vec<Vec<Vec<u8>>> = group.iter().map(|&device| cut(device)).collect();
            self.ring_scatter(&group, reducer, &mut parts);
            let whole: Vec<u8> = (0..count).flat_map(|rank| parts[rank][rank].clone()).collect();
            for (rank, &device) in group.iter().enumerate() {
                // The own part first, then what came from the left, but for what would come back.
                for step in 0..count - 1 {
                    let number = (rank + count - step) % count;
                    self.send(device, group[(rank + 1) % count], ends[number + 1] - ends[number]);
                }
                results[device] = whole.clone();
            }
        }
        results
    }

    fn exchange(&mut self, gone: &[(usize, Axes)], come: &[(usize, Axes)]) -> Vec<Vec<u8>> {
        let [gone, come] = [gone, come].map(|dims| {
            dims.iter().map(|(dim, axes)| (*dim, self.axes(axes))).collect::<Vec<(usize, Refs)>>()
        });
        let axes: Refs = gone.iter().flat_map(|(_, axes)| axes.iter().copied()).collect();
        // What one device sends to another: a part of each dimension that becomes split.
        let mut piece: Dims = self.from.into();
        for (dim, axes) in &come {
            piece[*dim] = piece[*dim].div_ceil(axes.iter().map(|axis| axis.size).product());
        }
        // The place of a device along a dimension, of the axes that leave it or come to it.
        let place = |device: usize, dim: usize, leaves: bool| {
            let own = if leaves { &gone } else { &come };
            let own = own.iter().find(|(other, _)| *other == dim);
            own.map_or(0, |(_, axes)| self.mesh.joint_coordinate(device as u64, axes))
        };
        let mut results = vec![Vec::new(); self.all.len()];
        let mut counts: Vec<(usize, usize, usize)> = Vec::new();
        for group in self.groups(&axes) {
            for &target in &group {
                let mut buffer = self.filled(self.to, None);
                for &source in &group {
                    let start: Dims =
                        (0..piece.len()).map(|dim| place(target, dim, false) * piece[dim]).collect();
                    let at: Dims =
                        (0..piece.len()).map(|dim| place(source, dim, true) * piece[dim]).collect();
                    let mut sent = self.filled(&piece, None);
                    self.copy(self.all[source], self.from, &start, &mut sent, &piece, &zeros(&piece));
                    if source != target {
                        counts.push((source, target, sent.len()));
                    }
                    self.copy(&sent, &piece, &zeros(&piece), &mut buffer, self.to, &at);
                }
                results[target] = buffer;
            }
        }
        counts.into_iter().for_each(|(source, target, bytes)| self.send(source, target, bytes));
        results
    }

    fn permute(&mut self, changes: &[(Axes, Axes)]) -> Vec<Vec<u8>> {
        let changes: Vec<(Refs, Refs)> =
            changes.iter().map(|(from, to)| (self.axes(from), self.axes(to))).collect();
        let axes: Refs = changes.iter().flat_map(|(from, _)| from.iter().copied()).collect();
        let mut results = vec![Vec::new(); self.all.len()];
        for group in self.groups(&axes) {
            for &target in &group {
                let holds = |&source: &usize| {
                    changes.iter().all(|(from, to)| {
                        self.mesh.joint_coordinate(source as u64, from)
                            == self.mesh.joint_coordinate(target as u64, to)
                    })
                };
                let source = group.iter().copied().find(holds).unwrap_or(target);
                results[target] = self.all[source].to_vec();
                if source != target {
                    self.send(source, target, self.all[source].len());
                }
            }
        }
        results
    }

    fn fetch(
        &mut self,
        dim: usize,
        axes: &[u8],
        start: i64,
        step: i64,
        extent: u64,
    ) -> Result<Vec<Vec<u8>>, String> {
        let axes = self.axes(axes);
        let (Some(&own), Some(&wanted)) = (self.from.get(dim), self.to.get(dim)) else {
            return Err(format!("there is no dimension {dim}"));
        };
        let mut results = vec![Vec::new(); self.all.len()];
        let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        for group in self.groups(&axes) {
            for (rank, &device) in group.iter().enumerate() {
                let low = start.saturating_add(step.saturating_mul(rank as i64));
                let mut buffer = self.filled(self.to, None);
                for (holder, &source) in group.iter().enumerate() {
                    let held = [
                        signed(own) * holder as i64,
                        (signed(own) * (holder as i64 + 1)).min(signed(extent)),
                    ];
                    let begin = low.max(held[0]);
                    let end = low.saturating_add(signed(wanted)).min(held[1]);
                    if begin >= end {
                        continue;
                    }
                    let mut part: Dims = self.from.into();
                    part[dim] = (end - begin) as u64;
                    let (mut from, mut place) = (zeros(self.from), zeros(self.to));
                    from[dim] = (begin - held[0]) as u64;
                    place[dim] = (begin - low) as u64;
                    let mut rows = self.filled(&part, None);
                    self.copy(self.all[source], self.from, &from, &mut rows, &part, &zeros(&part));
                    if source != device {
                        self.send(source, device, rows.len());
                    }
                    self.copy(&rows, &part, &zeros(&part), &mut buffer, self.to, &place);
                }
                results[device] = buffer;
            }
        }
        Ok(results)
    }
}

type Dims = SmallVec<[u64; 4]>;

fn zeros(dims: &[u64]) -> Dims {
    SmallVec::from_elem(0, dims.len())
}

/// Copies what there is of a source behind `start` to where it fits into a target behind `place`, row by row.
pub(crate) fn copy_box(
    size: usize,
    (source, dims, start): (&[u8], &[u64], &[u64]),
    (target, target_dims, place): (&mut [u8], &[u64], &[u64]),
) {
    let rank = dims.len();
    let part: Dims = (0..rank)
        .map(|dim| dims[dim].saturating_sub(start[dim]).min(target_dims[dim].saturating_sub(place[dim])))
        .collect();
    if part.contains(&0) {
        return;
    }
    let row = part.last().copied().unwrap_or(1) as usize * size;
    let rows: u64 = part.iter().rev().skip(1).product();
    for number in 0..rows {
        let (mut rest, mut from, mut to) = (number, 0u64, 0u64);
        let (mut stride_from, mut stride_to) = (1u64, 1u64);
        for dim in (0..rank).rev() {
            let at = if dim + 1 == rank { 0 } else { rest % part[dim] };
            if dim + 1 != rank {
                rest /= part[dim];
            }
            from += (at + start[dim]) * stride_from;
            to += (at + place[dim]) * stride_to;
            stride_from *= dims[dim];
            stride_to *= target_dims[dim];
        }
        let (from, to) = (from as usize * size, to as usize * size);
        target[to..to + row].copy_from_slice(&source[from..from + row]);
    }
}

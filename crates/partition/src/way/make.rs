//! From what an op does on each axis to what it wants, gives, sends and costs there.
//!
//! Variables are split independently of one another: each that is split over some axes makes a share of the operations, of
//! the operands that it is an index of, and of the results; shares of shares multiply.

use smallvec::SmallVec;
use tofu_machine::Collective;
use tofu_sharding::{Layout, Layouts, Mesh, Reducer, Step, share};

use super::{Choice, Choices, Wanted, Way, has_one_reducer};
use crate::op_info::{Give, Need, OpInfo, Shape, bytes};

/// Whether each axis that splits something gives devices less to do; if not, they only wait.
pub(crate) fn is_useful(info: &OpInfo, mesh: &Mesh, choices: Choices) -> bool {
    let axes = mesh.axes().len().min(Layouts::MAX_AXES);
    splits(mesh, axes, choices).iter().all(|split| {
        let share = |workers: u64| match workers {
            0 | 1 => Some(info.values[split.strategy]),
            _ => info.shares(split.strategy, workers).map(|shares| shares.share),
        };
        let all = share(split.workers);
        split.axes.iter().all(|&axis| all < share(split.workers / mesh.axes()[axis].size)) && all.is_some()
    })
}

/// The way of doing an op that has these choices; none if there is no such way.
pub fn way_of(info: &OpInfo, mesh: &Mesh, choices: Choices) -> Option<Way> {
    let axes = mesh.axes().len().min(Layouts::MAX_AXES);
    let mut making = Making::new(info, mesh, axes);
    for split in splits(mesh, axes, choices) {
        making.split(&split)?;
    }
    for axis in 0..axes {
        if let Choice::Linear(set) = choices.on(axis) {
            making.pass_terms(axis, set)?;
        }
    }
    making.finish(choices)
}

/// A strategy that is used.
struct Split {
    strategy: usize,
    axes: SmallVec<[usize; 4]>,
    /// The product of the axes.
    workers: u64,
}

fn splits(mesh: &Mesh, axes: usize, choices: Choices) -> SmallVec<[Split; 4]> {
    let mut used: SmallVec<[Split; 4]> = SmallVec::new();
    for axis in 0..axes {
        let Choice::Split(strategy) = choices.on(axis) else { continue };
        let size = mesh.axes()[axis].size;
        match used.iter_mut().find(|other| other.strategy == strategy) {
            Some(split) => {
                split.axes.push(axis);
                split.workers *= size;
            }
            None => used.push(Split { strategy, axes: SmallVec::from_slice(&[axis]), workers: size }),
        }
    }
    // Which of two is the first must not depend on their axes.
    used.sort_unstable_by_key(|split| split.strategy);
    used
}

/// An operand, as far as it is known how it is wanted.
#[derive(Clone, Default)]
struct Operand {
    layouts: Layouts,
    /// The layouts with which nothing is needed of neighbours.
    without: Layouts,
    /// What neighbours have.
    halo: SmallVec<[Halo; 1]>,
    is_unread: bool,
}

/// A result, as far as it is known how it is given.
#[derive(Clone, Default)]
struct Given {
    layouts: Layouts,
    /// Dimensions, and the elements along them that other devices should have.
    misplaced: SmallVec<[(usize, u64); 1]>,
    /// Axes along which terms are combined at once.
    combined: SmallVec<[u8; 4]>,
}

struct Making<'a> {
    info: &'a OpInfo,
    mesh: &'a Mesh,
    axes: usize,
    operands: SmallVec<[Operand; 4]>,
    results: SmallVec<[Given; 1]>,
    flops: u128,
    reads: SmallVec<[u64; 4]>,
}

impl<'a> Making<'a> {
    fn new(info: &'a OpInfo, mesh: &'a Mesh, axes: usize) -> Making<'a> {
        let operand = |&read: &u64| Operand { is_unread: read == 0, ..Operand::default() };
        Making {
            info,
            mesh,
            axes,
            operands: info.reads.iter().map(operand).collect(),
            results: info.results.iter().map(|_| Given::default()).collect(),
            flops: info.flops.into(),
            reads: info.reads.clone(),
        }
    }

    fn split(&mut self, split: &Split) -> Option<()> {
        let shares = self.info.shares(split.strategy, split.workers)?;
        let values = self.info.values[split.strategy].max(1);
        let part = |whole: u128| (whole * u128::from(shares.share)).div_ceil(u128::from(values));
        self.flops = part(self.flops);
        for (number, need) in shares.operands.iter().enumerate() {
            let operand = &mut self.operands[number];
            match *need {
                Need::Nothing => operand.is_unread = true,
                Need::Whole => {}
                Need::Share { dim, missing, size } => {
                    // A dimension of which two variables want shares is had as a whole by the second one.
                    if (0..self.axes).any(|axis| operand.layouts.on(axis) == Layout::Split(dim)) {
                        continue;
                    }
                    for &axis in &split.axes {
                        operand.layouts = operand.layouts.with(axis, Layout::Split(dim));
                        if missing == 0 {
                            operand.without = operand.without.with(axis, Layout::Split(dim));
                        }
                    }
                    if missing > 0 {
                        operand.halo.push(Halo { dim, missing, size });
                    }
                    self.reads[number] = part(self.reads[number].into()) as u64;
                }
            }
        }
        for (given, give) in self.results.iter_mut().zip(&shares.results) {
            let layout = match *give {
                Give::Whole => continue,
                Give::Share { dim, misplaced } => {
                    if misplaced > 0 {
                        given.misplaced.push((dim, misplaced));
                    }
                    Layout::Split(dim)
                }
                Give::Partial(reducer) => Layout::Partial(reducer),
                Give::Combined => {
                    given.combined.extend(split.axes.iter().map(|&axis| axis as u8));
                    continue;
                }
            };
            for &axis in &split.axes {
                given.layouts = given.layouts.with(axis, layout);
            }
        }
        Some(())
    }

    fn pass_terms(&mut self, axis: usize, set: usize) -> Option<()> {
        let linear = self.info.analysis.linear.get(set)?;
        let terms = Layout::Partial(Reducer::Sum);
        for &operand in &linear.partial {
            let operand = &mut self.operands[operand];
            operand.layouts = operand.layouts.with(axis, terms);
            operand.without = operand.without.with(axis, terms);
        }
        for (given, _) in self.results.iter_mut().zip(&linear.results).filter(|(_, partial)| **partial) {
            given.layouts = given.layouts.with(axis, terms);
        }
        Some(())
    }

    fn finish(self, choices: Choices) -> Option<Way> {
        let Making { info, mesh, axes, mut operands, results, flops, reads } = self;
        operands.iter_mut().for_each(|operand| operand.halo.sort_by_key(|halo| halo.dim));
        if results.iter().any(|given| !has_one_reducer(given.layouts, axes)) {
            return None;
        }
        let wanted = operands.iter().zip(&info.operands).map(|(operand, shape)| {
            let Operand { layouts, without, ref halo, is_unread } = *operand;
            // One dimension after the other, so that the later ones send what came with the earlier ones. Windows of which
            // nothing is missing are cut out at the end.
            let exchanges = halo
                .iter()
                .enumerate()
                .map(|(number, exchanged)| exchange(mesh, axes, layouts, shape, *exchanged, &halo[..number]));
            (!is_unread).then(|| Wanted { layouts, halo: exchanges.collect(), without })
        });
        let mut own: SmallVec<[Step; 1]> = SmallVec::new();
        for (given, shape) in results.iter().zip(&info.results) {
            let each = given.misplaced.iter();
            own.extend(each.map(|&(dim, missing)| {
                exchange(mesh, axes, given.layouts, shape, Halo { dim, missing, size: missing }, &[])
            }));
            if !given.combined.is_empty() {
                let bytes = local_bytes(mesh, given.layouts, shape);
                own.push(Step { collective: Collective::AllReduce, axes: given.combined.clone(), bytes });
            }
        }
        Some(Way {
            choices,
            operands: wanted.collect(),
            results: results.iter().map(|given| given.layouts).collect(),
            own,
            flops: u64::try_from(flops).unwrap_or(u64::MAX),
            reads,
            writes: results
                .iter()
                .zip(&info.results)
                .map(|(given, shape)| local_bytes(mesh, given.layouts, shape))
                .collect(),
        })
    }
}

/// The bytes that a device holds.
fn local_bytes(mesh: &Mesh, layouts: Layouts, shape: &Shape) -> u64 {
    bytes(layouts.local_elements(mesh, &shape.extents), shape.bits)
}

/// What a device needs of a dimension that others hold.
#[derive(Clone, Copy)]
struct Halo {
    dim: usize,
    /// The elements along it that others hold.
    missing: u64,
    /// All elements along it that it needs.
    size: u64,
}

/// The exchange by which each device gets what others hold of a dimension, after those of other dimensions.
fn exchange(
    mesh: &Mesh,
    axes: usize,
    layouts: Layouts,
    shape: &Shape,
    Halo { dim, missing, .. }: Halo,
    before: &[Halo],
) -> Step {
    let along = (0..axes).filter(|&axis| layouts.on(axis) == Layout::Split(dim)).map(|axis| axis as u8);
    let each = |(other, &extent): (usize, &u64)| {
        let grown = before.iter().find(|halo| halo.dim == other);
        match grown {
            _ if other == dim => missing,
            Some(halo) => halo.size,
            None => share(extent, layouts.shards(mesh, other)),
        }
    };
    let elements = shape.extents.iter().enumerate().map(each).fold(1u64, u64::saturating_mul);
    Step { collective: Collective::HaloExchange, axes: along.collect(), bytes: bytes(elements, shape.bits) }
}

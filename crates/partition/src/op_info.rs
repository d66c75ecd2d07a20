//! What one op costs, and what becomes of its operands and results when a variable of its description is split.

use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;
use tofu_ir::{ElementType, Module, OpId};
use tofu_sharding::{Reducer, share};
use tofu_tdl::{
    Analysis, Combine, Description, Descriptions, DimLayout, OpaqueRegistry, OperandLayout, Part, Strategy,
    Window, cost, regions, solve_op,
};

/// What is known of an op by its description, for its extents.
#[derive(Debug)]
pub struct OpInfo {
    /// The op's name; measured times are kept by it.
    pub name: &'static str,
    /// Its description.
    pub description: Description,
    /// What follows from it.
    pub analysis: Arc<Analysis>,
    /// The extents of the description.
    pub extents: Vec<u64>,
    /// The type that it computes in.
    pub element: ElementType,
    /// Operations of all of it.
    pub flops: u64,
    /// The bytes that it reads of each operand.
    pub reads: SmallVec<[u64; 4]>,
    /// The extents of the operands, and the bits of their elements.
    pub operands: SmallVec<[Shape; 4]>,
    /// Those of the results.
    pub results: SmallVec<[Shape; 1]>,
    /// For each strategy, how many values its variable has.
    pub values: Vec<u64>,
    /// What was asked before, by strategy and workers: regions take a while, and searches ask again and again.
    shares: Mutex<Vec<KnownShares>>,
}

/// The shares of a strategy for a number of workers; none if they would get no less.
type KnownShares = ((usize, u64), Option<Arc<Shares>>);

/// The extents of a tensor, and the bits of its elements.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The extents.
    pub extents: SmallVec<[u64; 4]>,
    /// The bits of an element.
    pub bits: u32,
}

/// An op of which a variable is split over a number of workers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shares {
    /// The values of the variable that a worker gets, padding included.
    pub share: u64,
    /// What workers need of each operand.
    pub operands: SmallVec<[Need; 4]>,
    /// What they give of each result.
    pub results: SmallVec<[Give; 1]>,
}

/// What workers need of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// All of it.
    Whole,
    /// A window of a dimension, and so many elements of it are in the shares of other workers.
    Share {
        /// The dimension.
        dim: usize,
        /// Of the worker that lacks most.
        missing: u64,
        /// The elements of the window.
        size: u64,
    },
}

/// What workers give of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Give {
    /// All of it.
    Whole,
    /// A share of a dimension, and so many elements along it belong to other workers.
    Share {
        /// The dimension.
        dim: usize,
        /// Of the worker that has most of them.
        misplaced: u64,
    },
    /// Terms.
    Partial(Reducer),
    /// Terms for a combiner of the description's own, which are reduced at once.
    Combined,
}

impl OpInfo {
    /// None if the op has no description, or not of static extents.
    pub(crate) fn of(
        module: &Module,
        op: OpId,
        descriptions: &Descriptions,
        functions: &OpaqueRegistry,
    ) -> Option<OpInfo> {
        let (description, analysis) = descriptions.of(module, op).ok()?;
        let solution = solve_op(module, op, &description).ok()?;
        let extents = solution.static_extents()?;
        let shape =
            |ty: &tofu_ir::TensorType| Some(Shape { extents: ty.static_dims()?, bits: ty.element.bits() });
        let operands: SmallVec<[Shape; 4]> = solution.operands.iter().map(shape).collect::<Option<_>>()?;
        let results: SmallVec<[Shape; 1]> = solution.results.iter().map(shape).collect::<Option<_>>()?;
        let whole = Part::default();
        let total = cost(&description, &extents, &solution.types, &whole, functions);
        let read = regions(&description, &extents, &whole);
        let reads =
            read.iter().zip(&operands).map(|(region, shape)| bytes(region.len(), shape.bits)).collect();
        // What a product of bf16 is computed in are its operands.
        let floats = || solution.operands.iter().map(|ty| ty.element).filter(|element| element.is_float());
        let result = solution.results.first().map(|ty| ty.element);
        let element = floats().min_by_key(|element| element.bits()).or(result)?;
        let values = (analysis.strategies.iter())
            .map(|strategy| strategy.padded_share(&description, &extents, 1))
            .collect();
        let name = module.def(op).name;
        let flops = total.flops;
        Some(OpInfo {
            name,
            description,
            analysis,
            extents,
            element,
            flops,
            reads,
            operands,
            results,
            values,
            shares: Mutex::default(),
        })
    }

    /// How the op looks when the variable of a strategy is split over so many workers; none if they would get no less
    /// than without.
    pub fn shares(&self, strategy: usize, workers: u64) -> Option<Arc<Shares>> {
        let mut known = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, shares)) = known.iter().find(|(of, _)| *of == (strategy, workers)) {
            return shares.clone();
        }
        let shares = self.shares_of(strategy, workers).map(Arc::new);
        known.push(((strategy, workers), shares.clone()));
        shares
    }

    fn shares_of(&self, strategy: usize, workers: u64) -> Option<Shares> {
        let of = self.analysis.strategies.get(strategy)?;
        let share = of.padded_share(&self.description, &self.extents, workers);
        if share >= self.values[strategy] {
            return None;
        }
        let operands = self.needs(of, workers);
        let gives = |(combine, shape): (&Combine, &Shape)| match *combine {
            Combine::Replicated => Give::Whole,
            Combine::Concat { dim } => {
                Give::Share { dim, misplaced: misplaced(share, shape.extents[dim], workers) }
            }
            Combine::Partial { reducer, .. } => {
                Reducer::of_description(reducer).map_or(Give::Combined, Give::Partial)
            }
        };
        let mut results: SmallVec<[Give; 1]> = of.outputs.iter().zip(&self.results).map(gives).collect();
        // What is combined by a combiner of its own, and what is carried along, goes together.
        if !of.carried.is_empty() {
            results
                .iter_mut()
                .filter(|give| matches!(give, Give::Partial(_)))
                .for_each(|give| *give = Give::Combined);
        }
        Some(Shares { share, operands, results })
    }

    fn needs(&self, strategy: &Strategy, workers: u64) -> SmallVec<[Need; 4]> {
        let values = strategy.padded_share(&self.description, &self.extents, 1);
        let quick: Option<SmallVec<[Need; 4]>> = strategy
            .operands
            .iter()
            .zip(&self.operands)
            .map(|(layout, shape)| {
                quick_need(strategy, layout.first_only, &layout.dims, shape, values, workers)
            })
            .collect();
        if let Some(quick) = quick {
            return quick;
        }
        let windows = strategy.windows(&self.description, &self.extents, workers);
        let each = self.operands.iter().zip(&windows).zip(&strategy.operands);
        let need =
            |((shape, windows), layout): ((&Shape, &SmallVec<[Window; 4]>), &OperandLayout)| match layout
                .dims
                .contains(&DimLayout::Unread)
            {
                true => Need::Nothing,
                false => need(shape, workers, windows),
            };
        each.map(need).collect()
    }
}

/// So many elements in bytes.
pub(crate) fn bytes(elements: u64, bits: u32) -> u64 {
    u64::try_from((u128::from(elements) * u128::from(bits)).div_ceil(8)).unwrap_or(u64::MAX)
}

/// Where classes of dimensions are enough to tell.
fn quick_need(
    strategy: &Strategy,
    first_only: bool,
    dims: &[DimLayout],
    shape: &Shape,
    values: u64,
    workers: u64,
) -> Option<Need> {
    if dims.is_empty() || first_only {
        return Some(Need::Whole);
    }
    let mut need = Need::Whole;
    for (dim, layout) in dims.iter().enumerate() {
        match layout {
            DimLayout::Unread => return Some(Need::Nothing),
            DimLayout::Whole => {}
            DimLayout::Split | DimLayout::Masked if strategy.block.is(1) && shape.extents[dim] == values => {
                if need != Need::Whole {
                    return None;
                }
                need = Need::Share { dim, missing: 0, size: share(values, workers) };
            }
            _ => return None,
        }
    }
    Some(need)
}

/// The one dimension of which workers need windows, if there is one along which shares serve.
fn need(shape: &Shape, workers: u64, windows: &[Window]) -> Need {
    let each =
        windows.iter().enumerate().filter(|(_, window)| window.moves.is_some()).map(|(dim, window)| {
            let extent = shape.extents[dim];
            (lacks(window, extent, share(extent, workers), workers), dim, window.size)
        });
    // What lacks more than all the others have is better had as a whole.
    let serves = |&(missing, dim, _): &(u64, usize, u64)| {
        let extent = shape.extents[dim];
        share(extent, workers) < extent && missing < extent - share(extent, workers)
    };
    let best = each.filter(serves).min();
    best.map_or(Need::Whole, |(missing, dim, size)| Need::Share { dim, missing, size })
}

/// Of windows of a dimension whose shares are so large, the elements of the worst worker that others hold.
pub fn lacks(window: &Window, extent: u64, each: u64, workers: u64) -> u64 {
    let within = |at: i128| u64::try_from(at.max(0)).unwrap_or(u64::MAX).min(extent);
    let of = |worker: u64| {
        let low = i128::from(window.start) + i128::from(window.step) * i128::from(worker);
        let (start, end) = (within(low), within(low + i128::from(window.size)));
        let own = worker.saturating_mul(each).min(extent);
        let kept = end.min((own + each).min(extent)).saturating_sub(start.max(own));
        (end - start).saturating_sub(kept)
    };
    (0..workers).map(of).max().unwrap_or(0)
}

/// Of shares of so many values, the elements of the worst worker that an even split puts elsewhere.
fn misplaced(each: u64, extent: u64, workers: u64) -> u64 {
    let even = share(extent, workers);
    if each == even {
        return 0;
    }
    let outside = |worker: u64| {
        let (start, own) = (worker.saturating_mul(each).min(extent), worker.saturating_mul(even).min(extent));
        let (end, own_end) = ((start + each).min(extent), (own + even).min(extent));
        let kept = end.min(own_end).saturating_sub(start.max(own));
        (own_end - own).saturating_sub(kept)
    };
    (0..workers).map(outside).max().unwrap_or(0)
}

//! Strategies: the ways of splitting one index variable over workers.
//!
//! Splitting an index variable of a result gives each worker a part of the result (the parts are concatenated);
//! splitting a variable of a reduction that is the last thing done to a result gives each worker a partial result (they
//! are reduced; what is combined with all of them, a bias, counts in the first one). Giving the variable the range of one
//! share and bounding every access tells what the worker reads (Tofu, EuroSys 2019, sections 4.2 and 4.3). The
//! classification is symbolic, once for a description; for actual extents [`regions`](crate::regions) gives the exact
//! boxes.

mod amount;
mod axes;
mod layout;
mod partial;
mod text;

use smallvec::SmallVec;

use crate::description::*;
use crate::evaluate::{Carried, Part};
use crate::region::{Region, regions, signed};
use crate::uniform::{Window, windows};
use crate::{evaluate::eval_extent, facts::Facts};
pub use amount::Amount;
use axes::Axis;
use partial::Split;

/// One way of splitting an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strategy {
    /// The name of the index variable that is split.
    pub variable: Box<str>,
    /// Its extent, an expression of the description.
    pub extent: IndexId,
    /// Shares are multiples of this many values of the variable.
    pub block: Amount,
    /// How the parts of each result make up the whole.
    pub outputs: Vec<Combine>,
    /// What workers give after the results, to be combined with partial ones and then dropped.
    pub carried: Vec<Carried>,
    /// What a worker needs of each operand.
    pub operands: Vec<OperandLayout>,
    var: VarId,
    split: Split,
}

/// How the parts of a result make up the whole.
///
/// Where shares are padded to one size, what is concatenated is cut to its extent afterwards, and what is reduced needs
/// the reducer's identity in place of what the padding would contribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combine {
    /// Each worker holds a share of this dimension.
    Concat {
        /// The dimension.
        dim: usize,
    },
    /// Each worker holds a value to be combined with those of the others. All results (and what is
    /// [`carried`](Strategy::carried)) that are combined by one custom combiner are combined together.
    Partial {
        /// How.
        reducer: Reducer,
        /// Which of the values that a custom combiner carries this is.
        component: u32,
    },
    /// Each worker computes all of it.
    Replicated,
}

/// What a worker needs of an operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperandLayout {
    /// One layout for each dimension.
    pub dims: Vec<DimLayout>,
    /// Only worker 0, whose share starts at 0, needs this, as what is added once to what the workers' parts sum up to
    /// (or combined in another way). The others read nothing of it.
    pub first_only: bool,
}

/// What a worker needs of a dimension of an operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DimLayout {
    /// Nothing of the operand is read.
    Unread,
    /// The same for all workers: all of it, or a part that does not depend on the share.
    Whole,
    /// An even share.
    Split,
    /// An even share of whole blocks of so many elements.
    Blocks(Amount),
    /// `scale` elements for each block of the share, and `low` more before, `high` more after; negative where fewer.
    Halo {
        /// Elements for each block of the share.
        scale: Amount,
        /// Elements before the share.
        low: Amount,
        /// Elements after the share.
        high: Amount,
        /// From one needed element to the next.
        stride: u64,
    },
    /// The worker's share counted from the end.
    Reversed,
    /// The worker's share, of which a worker uses what other data selects; the rest contributes nothing.
    Masked,
    /// Depends on the share in another way; only the boxes for actual extents tell.
    Irregular,
}

/// All strategies of a description, in the order of the results' indices, then of the reductions' variables.
pub fn strategies(description: &Description) -> Vec<Strategy> {
    let data = description.data();
    let facts = Facts::new(data);
    axes::candidates(data)
        .into_iter()
        .map(|axis| {
            let (block, operands) = layout::operands(&facts, &axis);
            let Axis { var, outputs, carried, split } = axis;
            let Variable { ref name, extent } = *data.variable(var);
            Strategy { variable: name.clone(), extent, block, outputs, carried, operands, var, split }
        })
        .collect()
}

impl Strategy {
    /// Whether the variable is one of a reduction, so that some result is partial.
    pub fn is_reduction(&self) -> bool {
        self.outputs.iter().any(|output| matches!(output, Combine::Partial { .. }))
    }

    /// The first value and the number of values of the variable that `worker` of `workers` gets: whole blocks, as many
    /// as the ceiling of an even share; the last shares may be short or empty. The extents are those of the description.
    pub fn share(&self, description: &Description, extents: &[u64], workers: u64, worker: u64) -> (u64, u64) {
        let each = self.padded_share(description, extents, workers);
        let extent = self.values(description, extents);
        let start = worker.saturating_mul(each).min(extent);
        (start, each.min(extent - start))
    }

    /// The number of values to which shares are padded where all must have one size.
    pub fn padded_share(&self, description: &Description, extents: &[u64], workers: u64) -> u64 {
        let block = self.block.value(&signed(extents)).unwrap_or(1).max(1) as u64;
        let blocks = self.values(description, extents).div_ceil(block);
        blocks.div_ceil(workers.max(1)).saturating_mul(block)
    }

    /// The extent of the variable.
    fn values(&self, description: &Description, extents: &[u64]) -> u64 {
        eval_extent(description.data(), self.extent, &signed(extents)).unwrap_or(0).max(0) as u64
    }

    /// Whether all workers get shares of one size.
    pub fn is_even(&self, description: &Description, extents: &[u64], workers: u64) -> bool {
        let each = self.padded_share(description, extents, workers);
        each.checked_mul(workers) == Some(self.values(description, extents))
    }

    /// The part of the index space that a worker computes. Addends of reductions that are split (a bias) count in the
    /// part of worker 0, whose share starts at 0; the others leave them out.
    pub fn part(&self, description: &Description, extents: &[u64], workers: u64, worker: u64) -> Part {
        let (start, length) = self.share(description, extents, workers, worker);
        let Split { reductions, addends, .. } = &self.split;
        Part {
            outputs: vec![(self.var, start, length)],
            reductions: reductions.iter().map(|&id| (id, self.var, start, length)).collect(),
            // Not the one whose share starts at 0: of no values at all, every share does.
            left_out: if worker == 0 { Vec::new() } else { addends.clone() },
            carried: self.carried.clone(),
        }
    }

    /// The windows that workers have of each dimension of each operand, where their shares are padded to one size; a dimension that does
    /// not move evenly from worker to worker, or all of which is reached, is whole.
    pub fn windows(
        &self,
        description: &Description,
        extents: &[u64],
        workers: u64,
    ) -> Vec<SmallVec<[Window; 4]>> {
        windows(description, extents, self, workers)
    }

    /// What a worker reads of each operand.
    pub fn regions(
        &self,
        description: &Description,
        extents: &[u64],
        workers: u64,
        worker: u64,
    ) -> Vec<Region> {
        regions(description, extents, &self.part(description, extents, workers, worker))
    }
}

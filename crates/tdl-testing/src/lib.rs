//! Tests of descriptions by execution, for this workspace's tests only.
//!
//! - [`check_strategies`]: every strategy is sound. The operands are cut as the regions say, each worker's share is run
//!   alone, and what comes out is put together as the strategy says: that must be what the whole op gives, exactly for
//!   integers and to rounding for floats.
//! - [`check_regions`]: regions are tight. Each is the smallest strided box around the elements that are really read.
//!
//! What is wrong is told as text, with the strategy and the description.

mod shares;
mod trace;

pub use shares::{Spoil, check_strategies, check_strategy, cut, same};
pub use trace::{check_regions, smallest_box};

use tofu_tdl::{Description, Tensor};

/// A description with actual operands.
#[derive(Clone, Debug)]
pub struct Instance {
    /// What is computed.
    pub description: Description,
    /// The extents of the description, in its order.
    pub extents: Vec<u64>,
    /// The operands.
    pub operands: Vec<Tensor>,
}

impl Instance {
    /// The instance of a description for these operands.
    ///
    /// # Errors
    ///
    /// They do not fit, or do not determine all extents.
    pub fn new(description: Description, operands: Vec<Tensor>) -> Result<Instance, String> {
        let types: Vec<_> = operands.iter().map(Tensor::ty).collect();
        let solution = tofu_tdl::solve(&description, &types).map_err(|mismatch| mismatch.message)?;
        let extents = solution.static_extents().ok_or("an extent does not follow from the operands")?;
        Ok(Instance { description, extents, operands })
    }

    /// The results.
    ///
    /// # Errors
    ///
    /// Evaluation fails.
    pub fn run(&self) -> Result<Vec<Tensor>, String> {
        let registry = tofu_tdl::OpaqueRegistry::builtin();
        tofu_tdl::evaluate(&self.description, &self.operands, &registry).map_err(|error| error.to_string())
    }
}

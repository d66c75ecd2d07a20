//! Tests of descriptions by execution, for the tests of this workspace.
//!
//! - [`Whole::compare`]: a strategy is sound. The operands are cut as the regions say, each worker's share is run alone,
//!   and what comes out is put together as the strategy says: that must be what the whole op gives, exactly for integers
//!   and to rounding for floats.
//! - [`Whole::check_linear`]: partial sums pass through. Each worker is given random terms of the operands, and what comes
//!   out must be terms of what the whole op gives.
//! - [`Whole::check_regions`]: regions are tight. Each is the smallest strided box around the elements that are really
//!   read.
//!
//! What is wrong is told as text.

mod shares;
mod terms;
mod trace;

pub use shares::{cut, same};
pub use terms::SpoilLinear;

use tofu_tdl::{Description, OpaqueRegistry, Region, Tensor, evaluate, strategies};

/// Changes what a worker is given, to see that it is found.
pub type Spoil<'a> = &'a dyn Fn(&mut Vec<Region>);

/// An op run as a whole, with which the shares of workers are compared.
#[derive(Debug)]
pub struct Whole<'a> {
    description: &'a Description,
    registry: &'a OpaqueRegistry,
    extents: &'a [u64],
    operands: &'a [Tensor],
    /// What it gives.
    pub results: Vec<Tensor>,
}

impl<'a> Whole<'a> {
    /// Runs an op on operands for which the description has these extents.
    ///
    /// # Errors
    ///
    /// Evaluation fails.
    pub fn run(
        description: &'a Description,
        registry: &'a OpaqueRegistry,
        extents: &'a [u64],
        operands: &'a [Tensor],
    ) -> Result<Whole<'a>, String> {
        let results = evaluate(description, operands, registry).map_err(|error| error.to_string())?;
        Ok(Whole { description, registry, extents, operands, results })
    }

    /// Tries all strategies with each number of workers; gives how many comparisons were made.
    ///
    /// # Errors
    ///
    /// The first strategy whose shares are not the whole, with the description.
    pub fn check_strategies(&self, workers: &[u64], spoil: Spoil<'_>) -> Result<usize, String> {
        let mut done = 0;
        for strategy in strategies(self.description) {
            for &workers in workers {
                self.compare(&strategy, workers, spoil).map_err(|error| {
                    let line = strategy.text(self.description);
                    let (extents, description) = (self.extents, self.description);
                    format!("{line}\n{workers} workers, extents {extents:?}\n{error}\n{description}")
                })?;
                done += 1;
            }
        }
        Ok(done)
    }
}

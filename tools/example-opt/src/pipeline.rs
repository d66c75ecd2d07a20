//! `--example-pipeline`.

use tofu_dialect_func::Func;
use tofu_pass::{PassManager, pass_options};
use tofu_pass_simplify::Simplify;

use crate::lower_scale::LowerScale;

pass_options! {
    /// Lowers the example dialect and simplifies what comes of it.
    pub(crate) struct ExamplePipeline {
        /// Whether to simplify.
        pub(crate) simplify: bool = true,
    }
}

/// The passes of the pipeline.
pub(crate) fn build(options: &ExamplePipeline, manager: PassManager) -> PassManager {
    manager.nest::<Func>(|func| {
        // Folding has nothing to do before the multiplications are there.
        let func = func.add(LowerScale::default());
        if options.simplify { func.add(Simplify::default()) } else { func }
    })
}

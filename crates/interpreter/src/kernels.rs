//! The kernels of a program: ops that are described alike, on operands of the same types, share one.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tofu_diagnostics::Diagnostic;
use tofu_ir::{Module, OpId, Profile, TensorType};
use tofu_tdl::{Describe, Description, EvaluateError, OpaqueRegistry};

use crate::kernel::Kernel;

/// Kernels by op, by the op's profile, and by its description.
#[derive(Debug, Default)]
pub(crate) struct Kernels {
    registry: OpaqueRegistry,
    of_op: FxHashMap<OpId, (Vec<TensorType>, Arc<Kernel>)>,
    described: FxHashMap<Profile, Description>,
    compiled: FxHashMap<(Description, Vec<TensorType>), Arc<Kernel>>,
}

/// Why there is no kernel.
pub(crate) enum NoKernel {
    /// The description does not come about.
    Described(Diagnostic),
    /// It cannot be compiled.
    Compiled(EvaluateError),
}

impl Kernels {
    pub(crate) fn new(registry: OpaqueRegistry) -> Kernels {
        Kernels { registry, ..Kernels::default() }
    }

    /// The kernel of an op for operands of these types.
    pub(crate) fn get(
        &mut self,
        module: &Module,
        op: OpId,
        describe: &Describe,
        operands: Vec<TensorType>,
    ) -> Result<Arc<Kernel>, NoKernel> {
        if let Some((_, kernel)) = self.of_op.get(&op).filter(|(types, _)| *types == operands) {
            return Ok(Arc::clone(kernel));
        }
        let profile = Profile::of(module, op);
        let known = profile.as_ref().and_then(|profile| self.described.get(profile)).cloned();
        let description = match known {
            Some(description) => description,
            None => {
                let description = (describe.0)(module, op).map_err(NoKernel::Described)?;
                if let Some(profile) = profile {
                    self.described.insert(profile, description.clone());
                }
                description
            }
        };
        let key = (description, operands.clone());
        let kernel = match self.compiled.get(&key) {
            Some(kernel) => Arc::clone(kernel),
            None => {
                let kernel = Kernel::new(&key.0, &key.1, &self.registry).map_err(NoKernel::Compiled)?;
                let kernel = Arc::new(kernel);
                self.compiled.insert(key, Arc::clone(&kernel));
                kernel
            }
        };
        self.of_op.insert(op, (operands, Arc::clone(&kernel)));
        Ok(kernel)
    }
}

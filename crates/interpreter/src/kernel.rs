//! Kernels: descriptions compiled for actual extents and element types.
//!
//! The evaluator of descriptions goes from element to element. A kernel gives the same results, bit for bit, some
//! hundred times as fast: it works on [columns](column) of up to a thousand elements, and knows other orders of doing the
//! same for [sums of products](contract) and [some further reductions](stage). It tells them by the structure of the
//! description, never by the name of an operator. What it cannot do, opaque functions, is left to the evaluator.
//!
//! | file | holds |
//! |---|---|
//! | `linear`, `rows` | index expressions in normal form, and how they change along a box |
//! | `program`, `compile`, `run` | expressions as steps over columns |
//! | `column` | what the steps compute |
//! | `plan`, `places` | how a description is cut into stages |
//! | `stage`, `contract` | the stages |

mod column;
mod compile;
mod contract;
mod linear;
mod places;
mod plan;
mod program;
mod rows;
mod run;
mod stage;

use rustc_hash::FxHashMap;
use tofu_ir::{Dim, TensorType};
use tofu_tdl::{Description, EvaluateError, OpaqueRegistry, Tensor, evaluate, solve};

use crate::storage::zeros;
use compile::Context;
use plan::Planner;
use run::Tensors;
use stage::{Stage, Target};

/// A description compiled for operands of certain types.
pub struct Kernel {
    operands: Vec<TensorType>,
    results: Vec<TensorType>,
    body: Body,
}

enum Body {
    Stages(Vec<Stage>, Vec<usize>),
    Evaluator(Description, OpaqueRegistry),
}

impl Kernel {
    /// Compiles a description for operands of these types, all of known extents.
    ///
    /// # Errors
    ///
    /// The operands do not fit the description, or something is too large.
    pub fn new(
        description: &Description,
        operands: &[TensorType],
        registry: &OpaqueRegistry,
    ) -> Result<Kernel, EvaluateError> {
        let solution = solve(description, operands).map_err(|mismatch| EvaluateError(mismatch.message))?;
        let data = description.data();
        let mut extents = Vec::new();
        for (dim, name) in solution.extents.iter().zip(&data.extents) {
            match dim {
                Dim::Static(size) => extents.push(i64::try_from(*size).unwrap_or(i64::MAX)),
                _ => return Err(EvaluateError(format!("the extent `{name}` is not known"))),
            }
        }
        let body = if data.opaques.is_empty() {
            let context = Context {
                data,
                extents,
                types: solution.types,
                staged: FxHashMap::default(),
                has_data_indices: compile::has_data_indices(data),
            };
            let mut planner = Planner { context, stages: Vec::new(), temporaries: Vec::new() };
            planner.plan()?;
            Body::Stages(planner.stages, planner.temporaries)
        } else {
            Body::Evaluator(description.clone(), registry.clone())
        };
        Ok(Kernel { operands: operands.to_vec(), results: solution.results, body })
    }

    /// The types of the results.
    pub fn results(&self) -> &[TensorType] {
        &self.results
    }

    /// Computes the results. Tensors are the bytes of their elements, row-major, each in its little-endian
    /// [storage](tofu_ir::ElementType::storage_bytes), as long as their types say.
    ///
    /// # Errors
    ///
    /// A data-dependent index lies outside its tensor, an opaque function is missing or fails, or tensors are not as long
    /// as they must be.
    pub fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), EvaluateError> {
        let fits = |types: &[TensorType], lengths: &mut dyn ExactSizeIterator<Item = usize>| {
            types.len() == lengths.len()
                && types.iter().zip(lengths).all(|(ty, length)| bytes(ty) == Some(length))
        };
        if !fits(&self.operands, &mut operands.iter().map(|operand| operand.len()))
            || !fits(&self.results, &mut results.iter().map(|result| result.len()))
        {
            return Err(EvaluateError("tensors are not as long as their types say".to_owned()));
        }
        match &self.body {
            Body::Stages(stages, sizes) => {
                let mut temporaries: Vec<Vec<u8>> =
                    sizes.iter().map(|&size| zeros(size).map_err(EvaluateError)).collect::<Result<_, _>>()?;
                for stage in stages {
                    match &stage.target {
                        Target::Result(number) => {
                            let tensors = Tensors { operands, temporaries: &temporaries };
                            stage.run(tensors, &mut [&mut *results[*number]])?;
                        }
                        Target::Temporaries(range) => {
                            let taken = temporaries[range.clone()].iter_mut().map(std::mem::take);
                            let mut taken: Vec<Vec<u8>> = taken.collect();
                            let mut targets: Vec<&mut [u8]> =
                                taken.iter_mut().map(Vec::as_mut_slice).collect();
                            stage.run(Tensors { operands, temporaries: &temporaries }, &mut targets)?;
                            temporaries[range.clone()]
                                .iter_mut()
                                .zip(taken)
                                .for_each(|(to, from)| *to = from);
                        }
                    }
                }
            }
            Body::Evaluator(description, registry) => {
                let tensor = |(ty, bytes): (&TensorType, &&[u8])| {
                    let dims: Vec<u64> = ty.dims.iter().filter_map(|dim| dim.size()).collect();
                    Tensor::from_bytes(ty.element, &dims, bytes.to_vec()).map_err(EvaluateError)
                };
                let operands =
                    self.operands.iter().zip(operands).map(tensor).collect::<Result<Vec<Tensor>, _>>()?;
                for (to, result) in results.iter_mut().zip(evaluate(description, &operands, registry)?) {
                    to.copy_from_slice(result.bytes());
                }
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stages: Vec<&str> = match &self.body {
            Body::Stages(stages, _) => stages.iter().map(|stage| stage.work.name()).collect(),
            Body::Evaluator(..) => vec!["Evaluator"],
        };
        write!(f, "Kernel [{}]", stages.join(", "))
    }
}

/// The bytes that a tensor takes here, which for the types narrower than a byte are more than on a device.
pub(crate) fn bytes(ty: &TensorType) -> Option<usize> {
    let size = ty.element.storage_bytes();
    ty.dims.iter().try_fold(size, |bytes, dim| bytes.checked_mul(usize::try_from(dim.size()?).ok()?))
}

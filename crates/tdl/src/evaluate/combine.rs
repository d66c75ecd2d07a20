//! Combines values that several workers hold.

use tofu_ir::EntityId;

use super::compile::{Context, UNSET};
use super::program::Combine;
use super::run::State;
use super::{EvaluateError, Part, Tensor};
use crate::description::*;
use crate::numeric;
use crate::opaque::OpaqueRegistry;

/// Combines two partial results, element by element. Each side has as many tensors as the reducer carries values; the
/// combined values replace the left ones.
///
/// # Errors
///
/// The tensors are not of one shape, or not as many as are carried.
pub fn combine_partials(
    description: &Description,
    reducer: Reducer,
    left: &mut [Tensor],
    right: &[Tensor],
) -> Result<(), EvaluateError> {
    let data = description.data();
    let carried = match reducer {
        Reducer::Custom(id) => data.combiners.get(id.index()).map_or(0, |combiner| combiner.types.len()),
        _ => 1,
    };
    let shapes_agree =
        left.iter().zip(right).all(|(a, b)| a.dims() == b.dims() && a.element() == b.element());
    if left.len() != carried || right.len() != carried || !shapes_agree {
        return Err(EvaluateError("partial results of different shapes or numbers are combined".to_owned()));
    }
    let Reducer::Custom(id) = reducer else {
        let (a, b) = (&mut left[0], &right[0]);
        let op = numeric::reducer_op(reducer);
        let run = numeric::binary_fn(op, a.element());
        for index in 0..a.len() {
            if let (Some(x), Some(y)) = (a.load(index), b.load(index)) {
                a.store(index, run(op, a.element(), x, y));
            }
        }
        return Ok(());
    };
    // The actual types of the carried values give those of the type parameters.
    let mut types = vec![tofu_ir::ElementType::I1; data.types.len()];
    for (ty, tensor) in data.combiner(id).types.iter().zip(left.iter()) {
        if let TypeRef::Param(number) = ty {
            types[*number as usize] = tensor.element();
        }
    }
    let (registry, part) = (OpaqueRegistry::new(), Part::default());
    let extents = vec![1; data.extents.len()];
    let context = Context { data, extents, types, registry: &registry, part: &part };
    let (combine, registers, ints) = context.combiner(id)?;
    let Combine::Custom { left: from_left, right: from_right, block, results } = &combine else {
        return Ok(());
    };
    let mut state = State::new(&[], &[], None, registers, ints, 0);
    for index in 0..left[0].len() {
        let sides = from_left.iter().zip(left.iter()).chain(from_right.iter().zip(right));
        for (&register, tensor) in sides {
            state.words[register as usize] = tensor.load(index).unwrap_or(UNSET);
        }
        state.block(block)?;
        for (tensor, &register) in left.iter_mut().zip(results) {
            tensor.store(index, state.words[register as usize]);
        }
    }
    Ok(())
}

//! What masks operands: descriptions of ops that keep some elements and replace the others by what a reducer gives of nothing.

use tofu_diagnostics::Diagnostic;
use tofu_ir::ElementType;
use tofu_tdl::{BinaryOp, Builder, Comparison, Description, IndexId, Reducer, TypeRef, VarId};

const WORKER: TypeRef = TypeRef::Concrete(ElementType::I32);

/// Which elements are kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kept {
    /// All, on the first device.
    Once,
    /// Those that lie within the extent of a dimension, of which the window of a device starts at `start + step · w`.
    Within { dim: usize, start: i64, step: i64, extent: u64 },
}

/// The description of a mask: of an operand of these extents, and the number of the device.
///
/// # Errors
/// It is too large.
pub(crate) fn mask(
    element: ElementType,
    dims: &[u64],
    kept: Kept,
    reducer: Reducer,
) -> Result<Description, Vec<Diagnostic>> {
    let mut b = Builder::new("mask");
    let ty = TypeRef::Concrete(element);
    let extents: Vec<IndexId> = dims.iter().map(|&dim| b.constant(dim as i64)).collect();
    let x = b.operand("x", ty, &extents);
    let worker = b.operand("worker", WORKER, &[]);
    let vars: Vec<VarId> =
        extents.iter().enumerate().map(|(dim, &extent)| b.var(&format!("i{dim}"), extent)).collect();
    let at: Vec<IndexId> = vars.iter().map(|&var| b.index(var)).collect();
    let number = b.read(worker, &[]);
    let number = b.data_index(number);
    let is_kept = match kept {
        Kept::Once => {
            let first = b.constant(0);
            b.compare_indices(Comparison::Eq, number, first)
        }
        Kept::Within { dim, start, step, extent } => {
            let window = b.affine(step, number, start);
            let index = b.index_add(window, at[dim]);
            let high = b.constant(extent as i64);
            let below = b.compare_indices(Comparison::Lt, index, high);
            if start < 0 || step < 0 {
                let low = b.constant(0);
                let above = b.compare_indices(Comparison::Le, low, index);
                b.binary(BinaryOp::And, above, below)
            } else {
                below
            }
        }
    };
    let value = b.read(x, &at);
    let nothing = b.literal(reducer.identity(ty), ty);
    let masked = b.select(is_kept, value, nothing);
    b.output("y", ty, &vars, masked);
    b.finish()
}

//! Ops through which processes exchange values. What one of them computes depends on what the others hold, which a
//! description of one op does not say.
//!
//! Attributes are StableHLO's, with the channel's handle as `channel_id` and `channel_type`.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    ANY_ATTR, Dim, ElementType, INT, Module, OpDef, OpId, TensorType, Trait, TypeData, op, optional, region,
    required, tensor,
};
use tofu_tdl::Undescribed;

use crate::shapes::{dimension, integer, operand_type, wrong_attribute};

const OTHERS: Undescribed = Undescribed("its results depend on what other processes hold");

/// `tensor.all_gather`: joins the operands of all processes of a group along a dimension.
pub static ALL_GATHER: OpDef = op("tensor.all_gather")
    .summary("Joins the operands of all processes of a group along `all_gather_dim`.")
    .example(
        "%r = tensor.all_gather %x {all_gather_dim = 0, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : \
         tensor<8x8xf32>",
    )
    .operands(&[tensor("operands").variadic()])
    .results(&[tensor("results").variadic()])
    .attributes(&[
        required("all_gather_dim", INT),
        optional("channel_id", INT),
        optional("channel_type", INT),
        required("replica_groups", ANY_ATTR),
        optional("use_global_device_ids", ANY_ATTR),
    ])
    .traits(&[Trait::Local])
    .interfaces(&[&OTHERS]);

/// `tensor.all_reduce`: combines the operands of all processes of a group, element by element.
pub static ALL_REDUCE: OpDef = op("tensor.all_reduce")
    .summary("Combines the operands of all processes of a group, element by element, by `computation`.")
    .example(
        "%r = tensor.all_reduce %x {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} ({\n  \
         ^computation(%a: tensor<f32>, %b: tensor<f32>):\n    %c = tensor.add %a, %b\n    tensor.yield %c\n})",
    )
    .operands(&[tensor("operands").variadic()])
    .results(&[tensor("results").variadic()])
    .attributes(&[
        optional("channel_id", INT),
        optional("channel_type", INT),
        required("replica_groups", ANY_ATTR),
        optional("use_global_device_ids", ANY_ATTR),
    ])
    .regions(&[region("computation")])
    .traits(&[Trait::Local])
    .infer_types(same_types)
    .interfaces(&[&OTHERS]);

/// `tensor.all_to_all`: splits the operand of each process of a group along one dimension, and joins the parts that come
/// from all processes along another.
pub static ALL_TO_ALL: OpDef = op("tensor.all_to_all")
    .summary("Sends a part of the operands to each process of a group, and joins the parts that come from them.")
    .example(
        "%r = tensor.all_to_all %x {concat_dimension = 1, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, \
         split_count = 2, split_dimension = 0}",
    )
    .operands(&[tensor("operands").variadic()])
    .results(&[tensor("results").variadic()])
    .attributes(&[
        optional("channel_id", INT),
        optional("channel_type", INT),
        required("concat_dimension", INT),
        required("replica_groups", ANY_ATTR),
        required("split_count", INT),
        required("split_dimension", INT),
    ])
    .traits(&[Trait::Local])
    .infer_types(infer_all_to_all)
    .interfaces(&[&OTHERS]);

/// `tensor.collective_broadcast`: the operand of the first process of a group.
pub static COLLECTIVE_BROADCAST: OpDef = op("tensor.collective_broadcast")
    .summary("The operand of the first process of a group.")
    .example("%r = tensor.collective_broadcast %x {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}")
    .operands(&[tensor("operand")])
    .results(&[tensor("result")])
    .attributes(&[
        optional("channel_id", INT),
        optional("channel_type", INT),
        required("replica_groups", ANY_ATTR),
    ])
    .traits(&[Trait::Local])
    .infer_types(same_types)
    .interfaces(&[&OTHERS]);

/// `tensor.collective_permute`: the operand of another process, or zeros.
pub static COLLECTIVE_PERMUTE: OpDef = op("tensor.collective_permute")
    .summary("The operand of the process that `source_target_pairs` pairs with this one; zeros, if it is in no pair.")
    .example("%r = tensor.collective_permute %x {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}")
    .operands(&[tensor("operand")])
    .results(&[tensor("result")])
    .attributes(&[
        optional("channel_id", INT),
        optional("channel_type", INT),
        required("source_target_pairs", ANY_ATTR),
    ])
    .traits(&[Trait::Local])
    .infer_types(same_types)
    .interfaces(&[&OTHERS]);

/// `tensor.reduce_scatter`: combines the operands of all processes of a group, and gives each a part of the result.
pub static REDUCE_SCATTER: OpDef = op("tensor.reduce_scatter")
    .summary("Combines the operands of all processes of a group and splits the result along `scatter_dimension`.")
    .example(
        "%r = tensor.reduce_scatter %x {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0} ({\n  \
         ^computation(%a: tensor<f32>, %b: tensor<f32>):\n    %c = tensor.add %a, %b\n    tensor.yield %c\n}) : \
         tensor<2x8xf32>",
    )
    .operands(&[tensor("operand")])
    .results(&[tensor("result")])
    .attributes(&[
        optional("channel_id", INT),
        optional("channel_type", INT),
        required("replica_groups", ANY_ATTR),
        required("scatter_dimension", INT),
        optional("use_global_device_ids", ANY_ATTR),
    ])
    .regions(&[region("computation")])
    .traits(&[Trait::Local])
    .interfaces(&[&OTHERS]);

/// `tensor.partition_id`: the number of the partition that this process works on.
pub static PARTITION_ID: OpDef = op("tensor.partition_id")
    .summary("The number of the partition that this process works on.")
    .example("%r = tensor.partition_id")
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(number)
    .interfaces(&[&Undescribed("each process has its own")]);

/// `tensor.replica_id`: the number of the replica that this process is.
pub static REPLICA_ID: OpDef = op("tensor.replica_id")
    .summary("The number of the replica that this process is.")
    .example("%r = tensor.replica_id")
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(number)
    .interfaces(&[&Undescribed("each process has its own")]);

fn number(_: &Module, _: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    Ok(vec![TypeData::Tensor(TensorType::of(&[], ElementType::Ui32))])
}

pub(crate) fn same_types(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    Ok(module.operands(op).map(|operand| module.value_type(operand).clone()).collect())
}

fn infer_all_to_all(module: &Module, op: OpId) -> Result<Vec<TypeData>, Diagnostic> {
    let count = integer(module, op, "split_count")?;
    let parts = u64::try_from(count).ok().filter(|&count| count > 0).ok_or_else(|| {
        let message = format!("`split_count` is {count}, but must be positive");
        wrong_attribute(module, op, "split_count", message)
    })?;
    let infer = |index: usize| {
        let mut ty = operand_type(module, op, index)?.clone();
        let split = dimension(module, op, "split_dimension", ty.rank())?;
        let joined = dimension(module, op, "concat_dimension", ty.rank())?;
        ty.dims[split] = match ty.dims[split].size() {
            Some(size) if size % parts != 0 => {
                let message =
                    format!("dimension {split} has {size} elements, which {count} parts do not share");
                return Err(wrong_attribute(module, op, "split_count", message));
            }
            Some(size) => Dim::Static(size / parts),
            None => Dim::Unknown,
        };
        ty.dims[joined] = match ty.dims[joined].size().and_then(|size| size.checked_mul(parts)) {
            Some(size) => Dim::Static(size),
            None => Dim::Unknown,
        };
        Ok(TypeData::Tensor(ty))
    };
    (0..module.operand_count(op)).map(infer).collect()
}

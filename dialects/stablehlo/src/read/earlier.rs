//! Ops that StableHLO keeps for programs of earlier versions, and those of CHLO that broadcast by themselves. We have
//! no op for them: each is read as the ops that say the same.
//!
//! A rewrite finds the operands, result types and attributes of the op as it was written, puts the ops that come first
//! in front of it, and leaves in its place what its target (our op) asks for. What it has to say of a program that is
//! wrong names the op as it was written.

use smallvec::SmallVec;
use tofu_diagnostics::{Span, codes, plural};
use tofu_dialect_tensor::YIELD;
use tofu_ir::{
    Attr, AttrData, BlockId, DenseConstant, DenseData, Dim, ElementType, OpState, TensorType, Type, TypeData,
    VALUE, ValueId,
};

use super::{Read, Reader, Reported, einsum, statement::Op};

/// Makes of an op, whose attributes are read, one of its target.
pub(super) type Rewrite = for<'s> fn(&mut Reader<'s>, &mut Op<'s>) -> Read;

/// How an op that we do not have is read: the name of the op of ours that comes to stand for it, and the way there.
pub(super) fn earlier(foreign: &str) -> Option<(String, Rewrite)> {
    let (target, rewrite): (&str, Rewrite) = match foreign {
        "chlo.constant_like" => ("tensor.constant", constant_like),
        "stablehlo.broadcast" => ("tensor.broadcast_in_dim", broadcast),
        "stablehlo.cross-replica-sum" => ("tensor.all_reduce", cross_replica_sum),
        "stablehlo.dot" => ("tensor.dot_general", dot),
        "stablehlo.einsum" => ("tensor.transpose", einsum::einsum),
        "stablehlo.torch_index_select" => ("tensor.gather", torch_index_select),
        "stablehlo.unary_einsum" => ("tensor.transpose", einsum::einsum),
        _ => {
            let name = foreign.strip_prefix("chlo.broadcast_")?;
            return Some((format!("tensor.{name}"), broadcasting));
        }
    };
    Some((target.to_owned(), rewrite))
}

/// A constant of the operand's shape.
fn constant_like<'s>(reader: &mut Reader<'s>, op: &mut Op<'s>) -> Read {
    reader.expect_operands(op, 1)?;
    let result = reader.result_of(op)?;
    reader.static_dims(op.name, op.name_span, &result)?;
    let Some(value) = reader.take_entry(op, VALUE) else { return reader.missing(op, VALUE) };
    let (bits, element) = match *reader.module.attr_data(value) {
        AttrData::Float(bits, element) => (u128::from(bits), element),
        AttrData::Int(value, element) => (value as u128, element),
        AttrData::Bool(value) => (u128::from(value), ElementType::I1),
        _ => {
            let message = format!("the value of `{}` must be a number", op.name);
            return reader.fail(&codes::WRONG_ATTRIBUTE, op.name_span, message);
        }
    };
    if element != result.element {
        let message = format!(
            "the value of `{}` is of `{}`, but its result of `{}`",
            op.name,
            element.name(),
            result.element.name()
        );
        return reader.fail(&codes::WRONG_ATTRIBUTE, op.name_span, message);
    }
    let bytes = &bits.to_le_bytes()[..element.storage_bytes()];
    let data = DenseData::Splat(SmallVec::from_slice(bytes));
    let value = reader.module.interner.attr(AttrData::Dense(DenseConstant { ty: op.types[0], data }));
    op.operands.clear();
    op.operand_spans.clear();
    reader.push(op, VALUE, value, op.name_span);
    Ok(())
}

/// New dimensions of these sizes in front.
fn broadcast<'s>(reader: &mut Reader<'s>, op: &mut Op<'s>) -> Read {
    const SIZES: &str = "broadcast_sizes";
    reader.expect_operands(op, 1)?;
    let Some(sizes) = reader.take_entry(op, SIZES) else { return reader.missing(op, SIZES) };
    let sizes = reader.list_of(sizes).unwrap_or_default();
    let operand = reader.tensor(op, 0)?;
    let result = reader.result_of(op)?;
    let new = sizes.iter().map(|&size| u64::try_from(size).ok().map(Dim::Static));
    let dims: Option<SmallVec<[Dim; 4]>> = new.chain(operand.dims.iter().copied().map(Some)).collect();
    if dims.is_none_or(|dims| dims != result.dims) {
        let message =
            format!("the result of `{}` must have the sizes and then the dimensions of its operand", op.name);
        return reader.fail(&codes::WRONG_RESULT_TYPE, op.name_span, message);
    }
    let dimensions = reader.range(sizes.len()..result.rank());
    reader.push(op, "dimensions", dimensions, op.name_span);
    Ok(())
}

/// The sum over the replicas of each group.
fn cross_replica_sum<'s>(reader: &mut Reader<'s>, op: &mut Op<'s>) -> Read {
    reader.expect_operands(op, 1)?;
    let operand = reader.tensor(op, 0)?;
    let block = reader.sum_of_two(op, operand.element)?;
    op.regions.push(vec![block]);
    Ok(())
}

/// A product of vectors and matrices: the last dimension of the one with the first of the other.
fn dot<'s>(reader: &mut Reader<'s>, op: &mut Op<'s>) -> Read {
    reader.expect_operands(op, 2)?;
    let left = reader.tensor(op, 0)?.rank();
    for index in 0..2 {
        let tensor = reader.tensor(op, index)?;
        if !(1..=2).contains(&tensor.rank()) {
            let message = format!(
                "`{}` takes vectors and matrices, and this has {}",
                op.name,
                plural(tensor.rank(), "dimension")
            );
            return reader.fail(&codes::WRONG_OPERAND_TYPE, op.operand_spans[index], message);
        }
    }
    let contracting = reader.pair(&[left as i64 - 1], &[0]);
    reader.push(op, "contracting", contracting, op.name_span);
    Ok(())
}

/// `result[a, b, i, c] = operand[a, b, index[a, i], c]`: `a` the batch dimensions, `b` and `c` those of the operand
/// before and after `dim`, `i` those of the index.
fn torch_index_select<'s>(reader: &mut Reader<'s>, op: &mut Op<'s>) -> Read {
    reader.expect_operands(op, 2)?;
    let operand = reader.tensor(op, 0)?;
    let operand_dims = reader.static_dims(op.name, op.operand_spans[0], &operand)?;
    let (rank, index_rank) = (operand.rank(), reader.tensor(op, 1)?.rank());
    let dim = reader.dimension(op, "dim", rank)?;
    let batch = reader.dimension(op, "batch_dims", index_rank)?;
    if dim >= rank || batch > dim || batch > index_rank {
        let message = format!(
            "`{}` asks for `batch_dims <= dim`, both within the dimensions of its operands, and this is {batch} and {dim}",
            op.name
        );
        return reader.fail(&codes::WRONG_ATTRIBUTE, op.name_span, message);
    }
    let after = dim + index_rank - batch;
    let sizes = operand_dims.iter().enumerate().map(|(at, &size)| match at {
        _ if at < batch || at == dim => 1,
        _ => size as i64,
    });
    let slice_sizes = reader.module.interner.ints(sizes);
    let offsets = (batch..dim).chain(after..after + rank - dim - 1).map(|at| at as i64);
    let offset_dims = reader.module.interner.ints(offsets);
    let collapsed = reader.range(dim..dim + 1);
    let batching = reader.range(0..batch);
    let index_vector = reader.module.interner.int(index_rank as i64);
    for (name, attr) in [
        ("collapsed_slice_dims", collapsed),
        ("index_vector_dim", index_vector),
        ("offset_dims", offset_dims),
        ("operand_batching_dims", batching),
        ("slice_sizes", slice_sizes),
        ("start_index_map", collapsed),
        ("start_indices_batching_dims", batching),
    ] {
        reader.push(op, name, attr, op.name_span);
    }
    Ok(())
}

/// Brings all operands to one shape, as NumPy does: aligned at the last dimension, or as `broadcast_dimensions` says
/// for the one of lower rank, and an extent of 1 repeated.
fn broadcasting<'s>(reader: &mut Reader<'s>, op: &mut Op<'s>) -> Read {
    let explicit = reader.take_entry(op, "broadcast_dimensions");
    let explicit = explicit.map(|attr| reader.list_of(attr).unwrap_or_default());
    let operands: Vec<TensorType> =
        (0..op.operands.len()).map(|index| reader.tensor(op, index)).collect::<Read<_>>()?;
    let rank = operands.iter().map(TensorType::rank).max().unwrap_or(0);
    let mut shape = vec![1u64; rank];
    let is_alike = operands.windows(2).all(|pair| pair[0].dims == pair[1].dims);
    let mut mappings: Vec<Vec<i64>> = Vec::new();
    for (index, operand) in operands.iter().enumerate() {
        let own = operand.rank();
        let is_lower = own < rank || operands.iter().all(|operand| operand.rank() == rank);
        let mapping = match &explicit {
            Some(explicit) if is_lower => explicit.clone(),
            _ => (rank - own..rank).map(|at| at as i64).collect(),
        };
        let is_ordered = mapping.windows(2).all(|pair| pair[0] < pair[1]);
        if mapping.len() != own || !is_ordered || mapping.iter().any(|&at| at < 0 || at >= rank as i64) {
            let message = format!(
                "`broadcast_dimensions` must name a dimension of the result for each of the operand's {own}, in order"
            );
            return reader.fail(&codes::WRONG_ATTRIBUTE, op.operand_spans[index], message);
        }
        mappings.push(mapping);
    }
    if is_alike {
        return Ok(());
    }
    for ((index, operand), mapping) in operands.iter().enumerate().zip(&mappings) {
        let span = op.operand_spans[index];
        let dims = reader.static_dims(op.name, span, operand)?;
        for (&at, &extent) in mapping.iter().zip(&dims) {
            let whole = &mut shape[at as usize];
            if *whole == 1 {
                *whole = extent;
            } else if extent != 1 && extent != *whole {
                let message = format!("an extent of {extent} cannot be brought to {whole}");
                return reader.fail(&codes::WRONG_OPERAND_TYPE, span, message);
            }
        }
    }
    for ((index, operand), mapping) in operands.iter().enumerate().zip(mappings) {
        let whole = TensorType::of(&shape, operand.element);
        if *operand != whole {
            let dimensions = reader.module.interner.ints(mapping);
            let ty = reader.module.interner.ty(whole);
            let value = op.operands[index];
            op.operands[index] = reader.helper(
                op,
                "tensor.broadcast_in_dim",
                &[value],
                ty,
                &[("dimensions", dimensions)],
                None,
            )?;
        }
    }
    Ok(())
}

impl<'s> Reader<'s> {
    /// Says so if the op does not have so many operands.
    pub(super) fn expect_operands(&mut self, op: &Op<'_>, count: usize) -> Read {
        if op.operands.len() == count {
            return Ok(());
        }
        let message = format!("`{}` takes {}, not {}", op.name, plural(count, "operand"), op.operands.len());
        self.fail(&codes::WRONG_OPERAND_COUNT, op.name_span, message)
    }

    /// The type of an operand, which must be a tensor.
    pub(super) fn tensor(&mut self, op: &Op<'_>, index: usize) -> Read<TensorType> {
        self.tensor_of(op.name, op.operand_spans[index], self.module.ty(op.operands[index]))
    }

    /// The type of the one result, which must be a tensor.
    pub(super) fn result_of(&mut self, op: &Op<'_>) -> Read<TensorType> {
        match op.types[..] {
            [ty] => self.tensor_of(op.name, op.name_span, ty),
            _ => {
                let message = format!("`{}` has one result, not {}", op.name, op.types.len());
                self.fail(&codes::WRONG_RESULT_COUNT, op.name_span, message)
            }
        }
    }

    fn tensor_of(&mut self, name: &str, span: Span, ty: Type) -> Read<TensorType> {
        match self.module.type_data(ty) {
            TypeData::Tensor(tensor) => Ok(tensor.clone()),
            TypeData::Error => Err(Reported),
            _ => {
                let message =
                    format!("`{name}` takes and gives tensors, not `{}`", self.module.type_text(ty));
                self.fail(&codes::WRONG_OPERAND_TYPE, span, message)
            }
        }
    }

    /// The extents of a tensor, which must be known.
    pub(super) fn static_dims(
        &mut self,
        name: &str,
        span: Span,
        tensor: &TensorType,
    ) -> Read<SmallVec<[u64; 4]>> {
        match tensor.static_dims() {
            Some(dims) => Ok(dims),
            None => {
                let message = format!("`{name}` is read for tensors of known extents only");
                self.fail(&codes::WRONG_OPERAND_TYPE, span, message)
            }
        }
    }

    /// Takes an attribute away from the op.
    pub(super) fn take_entry(&mut self, op: &mut Op<'_>, name: &str) -> Option<Attr> {
        let name = self.module.interner.name(name);
        let taken = op.entries.iter().rev().find(|entry| entry.name == name)?.attr;
        op.entries.retain(|entry| entry.name != name);
        Some(taken)
    }

    pub(super) fn missing<T>(&mut self, op: &Op<'_>, name: &str) -> Read<T> {
        let message = format!("`{}` needs the attribute `{name}`", op.name);
        self.fail(&codes::MISSING_ATTRIBUTE, op.name_span, message)
    }

    /// A number of a dimension; a negative one counts from the last.
    fn dimension(&mut self, op: &mut Op<'_>, name: &str, rank: usize) -> Read<usize> {
        let Some(attr) = self.take_entry(op, name) else { return self.missing(op, name) };
        let value = match *self.module.attr_data(attr) {
            AttrData::Int(value, _) if value < 0 => value + rank as i128,
            AttrData::Int(value, _) => value,
            _ => -1,
        };
        match usize::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => {
                let message = format!("`{name}` must be the number of a dimension");
                self.fail(&codes::WRONG_ATTRIBUTE, op.name_span, message)
            }
        }
    }

    /// The numbers of a range as an attribute.
    pub(super) fn range(&mut self, range: std::ops::Range<usize>) -> Attr {
        self.module.interner.ints(range.map(|at| at as i64))
    }

    /// Puts an op of ours in front of `op`, of which it is a part; its result.
    pub(super) fn helper(
        &mut self,
        op: &Op<'_>,
        name: &str,
        operands: &[ValueId],
        ty: Type,
        attributes: &[(&str, Attr)],
        body: Option<BlockId>,
    ) -> Read<ValueId> {
        let made = self.part(op, op.block, name, operands, ty, attributes, body.is_some())?;
        if let Some(block) = body {
            let region = self.module.region(made, 0);
            self.module.attach_block(region, block);
        }
        Ok(self.module.result(made, 0))
    }

    /// A block that adds its two arguments.
    pub(super) fn sum_of_two(&mut self, op: &Op<'_>, element: ElementType) -> Read<BlockId> {
        let ty = self.module.interner.tensor(&[], element);
        let block = self.module.create_block();
        let arguments = [ty, ty].map(|ty| self.module.append_argument(block, ty));
        let sum = self.part(op, block, "tensor.add", &arguments, ty, &[], false)?;
        let end = self.module.create(OpState::new(&YIELD).operands([self.module.result(sum, 0)]));
        self.module.set_spans(end, op.name_span, op.name_span, &[], &[]);
        self.module.append(block, end);
        Ok(block)
    }

    #[expect(clippy::too_many_arguments, reason = "they are the parts of an op")]
    fn part(
        &mut self,
        op: &Op<'_>,
        block: BlockId,
        name: &str,
        operands: &[ValueId],
        ty: Type,
        attributes: &[(&str, Attr)],
        has_region: bool,
    ) -> Read<tofu_ir::OpId> {
        let Some(def) = self.module.registry().op(name) else {
            let diagnostic = self.unknown(op.name, op.name_span);
            self.report(diagnostic);
            return Err(Reported);
        };
        let mut state = OpState::new(def).operands(operands.iter().copied()).results([ty]);
        state.location = op.location;
        if !attributes.is_empty() {
            let interner = &mut self.module.interner;
            let entries: Vec<_> =
                attributes.iter().map(|&(name, attr)| (interner.name(name), attr)).collect();
            state.attrs = Some(interner.dict(&entries));
        }
        let made = self.module.create(state.regions(has_region.into()));
        self.module.set_spans(made, op.name_span, op.name_span, &[], &[]);
        self.module.append(block, made);
        Ok(made)
    }
}

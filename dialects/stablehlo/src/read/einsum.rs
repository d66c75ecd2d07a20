//! Einstein's summation convention, `"ab,bc->ac"`, as reductions, a product and a transposition.
//!
//! A label that one operand has alone and the result has not is summed first. One that both have is contracted, or, if
//! the result has it too, a batch dimension of the product. The product has its batch dimensions first and then what is
//! left of its operands, and is brought into the order of the result. `...` stands for as many dimensions, counted from
//! the last, as the labels around it leave.

use tofu_diagnostics::codes;
use tofu_ir::{AttrData, DenseConstant, DenseData, Dim, TensorType, ValueId};

use super::{Read, Reader, statement::Op};

/// An operand, and a label for each of its dimensions.
struct Labelled {
    value: ValueId,
    ty: TensorType,
    labels: Vec<Label>,
}

/// A letter, or a dimension of `...` counted from the last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Letter(char),
    Other(usize),
}

/// `einsum` of two operands and `unary_einsum` of one.
pub(super) fn einsum<'s>(reader: &mut Reader<'s>, op: &mut Op<'s>) -> Read {
    let count = if op.name.ends_with("unary_einsum") { 1 } else { 2 };
    reader.expect_operands(op, count)?;
    let Some(config) = reader.take_entry(op, "einsum_config") else {
        return reader.missing(op, "einsum_config");
    };
    let AttrData::String(config) = reader.module.attr_data(config) else {
        return reader.wrong_config(op, "it must be a string");
    };
    let config: String = config.chars().filter(|c| !c.is_whitespace()).collect();
    let Some((inputs, output)) = config.split_once("->") else {
        return reader.wrong_config(op, "it must say `->` and the labels of the result");
    };
    let inputs: Vec<&str> = inputs.split(',').collect();
    if inputs.len() != count {
        return reader.wrong_config(op, "it must have labels for each operand");
    }
    let mut operands = Vec::new();
    for (index, input) in inputs.into_iter().enumerate() {
        let ty = reader.tensor(op, index)?;
        let labels = reader.labels(op, input, ty.rank())?;
        operands.push(Labelled { value: op.operands[index], ty, labels });
    }
    let result = reader.result_of(op)?;
    let wanted = reader.labels(op, output, result.rank())?;
    reader.check_labels(op, &operands, &wanted)?;
    for index in 0..count {
        let others: Vec<Label> = operands
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != index)
            .flat_map(|(_, other)| other.labels.clone())
            .chain(wanted.iter().copied())
            .collect();
        reader.sum_away(op, &mut operands[index], &others, &result)?;
    }
    let mut operands = operands.into_iter();
    let (Some(left), right) = (operands.next(), operands.next()) else { return Ok(()) };
    let product = match right {
        Some(right) => reader.product(op, left, right, &wanted, &result)?,
        None => left,
    };
    let position = |label: &Label| product.labels.iter().position(|own| own == label).unwrap_or(0) as i64;
    let permutation = reader.module.interner.ints(wanted.iter().map(position));
    op.operands.truncate(1);
    op.operand_spans.truncate(1);
    op.operands[0] = product.value;
    // What is said of products stands at the product.
    reader.take_entry(op, PRECISION);
    reader.push(op, "permutation", permutation, op.name_span);
    Ok(())
}

const PRECISION: &str = "stablehlo.precision_config";

impl Reader<'_> {
    fn wrong_config<T>(&mut self, op: &Op<'_>, what: &str) -> Read<T> {
        let message = format!("`einsum_config` of `{}` cannot be read: {what}", op.name);
        self.fail(&codes::WRONG_ATTRIBUTE, op.name_span, message)
    }

    /// A label for each of `rank` dimensions, no two the same.
    fn labels(&mut self, op: &Op<'_>, text: &str, rank: usize) -> Read<Vec<Label>> {
        let letters = |text: &str| text.chars().map(Label::Letter).collect::<Vec<Label>>();
        let (mut labels, after) = match text.split_once("...") {
            Some((before, after)) => {
                let mut labels = letters(before);
                let others = rank.saturating_sub(before.len() + after.len());
                labels.extend((0..others).rev().map(Label::Other));
                (labels, letters(after))
            }
            None => (letters(text), Vec::new()),
        };
        labels.extend(after);
        if labels.iter().any(|label| matches!(label, Label::Letter(c) if !c.is_ascii_alphabetic())) {
            return self.wrong_config(op, &format!("`{text}` holds more than letters and `...`"));
        }
        if labels.len() != rank {
            return self
                .wrong_config(op, &format!("`{text}` does not name the {rank} dimensions of its tensor"));
        }
        if (1..rank).any(|at| labels[..at].contains(&labels[at])) {
            return self.wrong_config(op, &format!("`{text}` names two dimensions of one tensor alike"));
        }
        Ok(labels)
    }

    /// Says so if a label stands for different extents, or stands in the result only.
    fn check_labels(&mut self, op: &Op<'_>, operands: &[Labelled], wanted: &[Label]) -> Read {
        let extent = |operand: &Labelled, label: &Label| -> Option<Dim> {
            Some(operand.ty.dims[operand.labels.iter().position(|own| own == label)?])
        };
        if wanted.iter().any(|label| operands.iter().all(|operand| !operand.labels.contains(label))) {
            return self.wrong_config(op, "a label of the result is none of an operand");
        }
        let [left, right] = operands else { return Ok(()) };
        let differs = |label: &Label| match (extent(left, label), extent(right, label)) {
            (Some(left), Some(right)) => !left.may_equal(right),
            _ => false,
        };
        if left.labels.iter().any(differs) {
            return self.wrong_config(op, "a label stands for dimensions of different extents");
        }
        Ok(())
    }

    /// Sums over the dimensions whose labels nothing else has, in the element type of the result.
    fn sum_away(
        &mut self,
        op: &Op<'_>,
        operand: &mut Labelled,
        others: &[Label],
        result: &TensorType,
    ) -> Read {
        let is_kept: Vec<bool> = operand.labels.iter().map(|label| others.contains(label)).collect();
        if is_kept.iter().all(|&is_kept| is_kept) {
            return Ok(());
        }
        let element = operand.ty.element;
        if element != result.element {
            return self.wrong_config(op, "a sum over one operand must have the element type of the result");
        }
        let summed = (0..).zip(&is_kept).filter(|&(_, &is_kept)| !is_kept).map(|(at, _)| at);
        let dimensions = self.module.interner.ints(summed);
        let mut kept = is_kept.iter();
        operand.labels.retain(|_| kept.next().is_some_and(|&is_kept| is_kept));
        let mut kept = is_kept.iter();
        operand.ty.dims.retain(|_| kept.next().is_some_and(|&is_kept| is_kept));
        let scalar = self.module.interner.tensor(&[], element);
        let zero = DenseData::Splat(smallvec::SmallVec::from_elem(0, element.storage_bytes()));
        let zero = self.module.interner.attr(AttrData::Dense(DenseConstant { ty: scalar, data: zero }));
        let zero = self.helper(op, "tensor.constant", &[], scalar, &[(tofu_ir::VALUE, zero)], None)?;
        let body = self.sum_of_two(op, element)?;
        let ty = self.module.interner.ty(operand.ty.clone());
        operand.value = self.helper(
            op,
            "tensor.reduce",
            &[operand.value, zero],
            ty,
            &[("dimensions", dimensions)],
            Some(body),
        )?;
        Ok(())
    }

    fn product(
        &mut self,
        op: &Op<'_>,
        left: Labelled,
        right: Labelled,
        wanted: &[Label],
        result: &TensorType,
    ) -> Read<Labelled> {
        let (mut batch, mut contracting) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let (mut labels, mut dims) = (Vec::new(), smallvec::SmallVec::new());
        for (at, label) in left.labels.iter().enumerate() {
            let Some(other) = right.labels.iter().position(|own| own == label) else { continue };
            let pairs = if wanted.contains(label) {
                labels.push(*label);
                dims.push(left.ty.dims[at].better(right.ty.dims[other]));
                &mut batch
            } else {
                &mut contracting
            };
            pairs[0].push(at as i64);
            pairs[1].push(other as i64);
        }
        for (own, other) in [(&left, &right), (&right, &left)] {
            for (label, &dim) in own.labels.iter().zip(&own.ty.dims) {
                if !other.labels.contains(label) {
                    labels.push(*label);
                    dims.push(dim);
                }
            }
        }
        let ty = TensorType { dims, element: result.element };
        let whole = self.module.interner.ty(ty.clone());
        let mut attributes = vec![("contracting", self.pair(&contracting[0], &contracting[1]))];
        if !batch[0].is_empty() {
            attributes.push(("batch", self.pair(&batch[0], &batch[1])));
        }
        let precision = op.entries.iter().find(|entry| self.module.text(entry.name) == PRECISION);
        attributes.extend(precision.map(|entry| (PRECISION, entry.attr)));
        let operands = [left.value, right.value];
        let value = self.helper(op, "tensor.dot_general", &operands, whole, &attributes, None)?;
        Ok(Labelled { value, ty, labels })
    }
}

//! Ops whose shape is an operand, where it is known: `stablehlo.dynamic_reshape` to a `tensor<6xf32>` is `tensor.reshape`.
//!
//! What our dynamic ops compute nobody knows before the program runs, so they can neither be run nor be split. Programs
//! have them with constants, though, and with results of known extents; those are read as the ops of known shape that
//! say the same.

use smallvec::SmallVec;
use tofu_dialect_tensor::CONSTANT;
use tofu_ir::{Attr, OpDef, Type, TypeData, VALUE};

use super::{Reader, statement::Op};

impl<'s> Reader<'s> {
    /// Makes of a dynamic op whose shapes are known the other one, and gives its definition. None, and nothing changed,
    /// if they are not known or contradict each other.
    pub(super) fn of_known_shape(&mut self, op: &mut Op<'s>, def: &'static OpDef) -> Option<&'static OpDef> {
        let dynamic = def.name.strip_prefix("tensor.")?;
        let (fixed, operands, attributes): (&str, usize, &[&str]) = match dynamic {
            "dynamic_broadcast_in_dim" => ("tensor.broadcast_in_dim", 1, &[SHAPE]),
            "dynamic_conv" => ("tensor.convolution", 2, &["padding"]),
            "dynamic_gather" => ("tensor.gather", 2, &["slice_sizes"]),
            "dynamic_iota" => ("tensor.iota", 0, &[SHAPE]),
            "dynamic_pad" => {
                ("tensor.pad", 2, &["edge_padding_low", "edge_padding_high", "interior_padding"])
            }
            "dynamic_reshape" => ("tensor.reshape", 1, &[SHAPE]),
            "real_dynamic_slice" => ("tensor.slice", 1, &["start", "limit", "stride"]),
            _ => return None,
        };
        let fixed = self.module.registry().op(fixed)?;
        if op.operands.len() != operands + attributes.len() {
            return None;
        }
        let types = op.operands.iter().map(|&operand| self.module.ty(operand));
        if !types.chain(op.types.iter().copied()).all(|ty| self.known_dims(ty).is_some()) {
            return None;
        }
        let mut entries = Vec::new();
        for (index, &name) in attributes.iter().enumerate() {
            let constant = self.constant_operand(op, operands + index);
            match name {
                SHAPE if constant.is_none_or(|shape| self.is_result_shape(op, shape)) => {}
                SHAPE => return None,
                "padding" => entries.push((name, self.columns(constant?))),
                _ => entries.push((name, self.ints(constant?))),
            }
        }
        op.operands.truncate(operands);
        op.operand_spans.truncate(operands);
        for (name, renamed) in [("broadcast_dimensions", "dimensions"), ("iota_dimension", "dimension")] {
            if let Some(attr) = self.take_entry(op, name) {
                self.push(op, renamed, attr, op.name_span);
            }
        }
        for said in SAID {
            self.take_entry(op, said);
        }
        for (name, attr) in entries {
            self.push(op, name, attr, op.name_span);
        }
        Some(fixed)
    }

    /// The constant that an operand is.
    fn constant_operand(&self, op: &Op<'s>, index: usize) -> Option<Attr> {
        let made = self.module.defining_op(op.operands[index])?;
        if self.module.is(made, &CONSTANT) { self.module.attr(made, VALUE) } else { None }
    }

    /// Whether a constant holds the extents of the op's result.
    fn is_result_shape(&self, op: &Op<'s>, shape: Attr) -> bool {
        let result = op.types.first().and_then(|&ty| self.known_dims(ty)).unwrap_or_default();
        self.list_of(shape)
            .is_some_and(|shape| shape.iter().copied().eq(result.iter().map(|&dim| dim as i64)))
    }

    /// The extents of a tensor type, where all are known.
    fn known_dims(&self, ty: Type) -> Option<SmallVec<[u64; 4]>> {
        match self.module.type_data(ty) {
            TypeData::Tensor(tensor) => tensor.static_dims(),
            _ => None,
        }
    }
}

/// In the place of an attribute: the operand is the result's shape.
const SHAPE: &str = "";

/// What dynamic ops say of shapes that says nothing of a known one.
const SAID: [&str; 4] = [
    "known_expanding_dimensions",
    "known_nonexpanding_dimensions",
    "stablehlo.known_non_expanding_dimensions",
    "stablehlo.slice_sizes",
];

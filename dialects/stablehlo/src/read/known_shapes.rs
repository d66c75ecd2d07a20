//! Ops whose shape is an operand, where it is known: `stablehlo.dynamic_reshape` to a `tensor<6xf32>` is `tensor.reshape`.
//!
//! What our dynamic ops compute nobody knows before the program runs, so they can neither be run nor be split. Programs
//! have them with constants, though, and with results of known extents; those are read as the ops of known shape that
//! say the same.

use smallvec::SmallVec;
use tofu_dialect_tensor::{BROADCAST_IN_DIM, CONSTANT, CONVOLUTION, GATHER, IOTA, PAD, RESHAPE, SLICE};
use tofu_ir::{Attr, OpDef, Type, TypeData, VALUE};

use super::{Reader, statement::Op};

/// What an operand says of shapes.
enum Says {
    /// The extents of the result.
    Extents,
    /// A list, which is an attribute of this name where it is known.
    List(&'static str),
    /// Pairs, which are an attribute of this name where they are known.
    Pairs(&'static str),
}

/// The op of known shape that says what a dynamic op of ours says, how many operands they share, and what the others
/// of the dynamic op say.
fn fixed(dynamic: &str) -> Option<(&'static OpDef, usize, &'static [Says])> {
    use Says::{Extents, List, Pairs};
    Some(match dynamic.strip_prefix("tensor.")? {
        "dynamic_broadcast_in_dim" => (&BROADCAST_IN_DIM, 1, &[Extents]),
        "dynamic_conv" => (&CONVOLUTION, 2, &[Pairs("padding")]),
        "dynamic_gather" => (&GATHER, 2, &[List("slice_sizes")]),
        "dynamic_iota" => (&IOTA, 0, &[Extents]),
        "dynamic_pad" => {
            (&PAD, 2, &[List("edge_padding_low"), List("edge_padding_high"), List("interior_padding")])
        }
        "dynamic_reshape" => (&RESHAPE, 1, &[Extents]),
        "real_dynamic_slice" => (&SLICE, 1, &[List("start"), List("limit"), List("stride")]),
        _ => return None,
    })
}

/// What dynamic ops say of shapes that says nothing of a known one.
const SAID: [&str; 4] = [
    "known_expanding_dimensions",
    "known_nonexpanding_dimensions",
    "stablehlo.known_non_expanding_dimensions",
    "stablehlo.slice_sizes",
];

impl<'s> Reader<'s> {
    /// Makes of a dynamic op whose shapes are known the other one, and gives its definition. None, and nothing changed,
    /// if they are not known or contradict each other.
    pub(super) fn of_known_shape(&mut self, op: &mut Op<'s>, def: &'static OpDef) -> Option<&'static OpDef> {
        let (fixed, shared, shapes) = fixed(def.name)?;
        if op.operands.len() != shared + shapes.len() {
            return None;
        }
        let types = op.operands.iter().map(|&operand| self.module.ty(operand));
        if !types.chain(op.types.iter().copied()).all(|ty| self.known_dims(ty).is_some()) {
            return None;
        }
        let mut entries = Vec::new();
        for (index, says) in shapes.iter().enumerate() {
            let constant = self.constant_operand(op, shared + index);
            match (says, constant) {
                // The type says them, too.
                (Says::Extents, None) => {}
                (Says::Extents, Some(shape)) if self.is_result_shape(op, shape) => {}
                (Says::List(name), Some(list)) => entries.push((name, self.ints(list))),
                (Says::Pairs(name), Some(pairs)) => entries.push((name, self.columns(pairs))),
                _ => return None,
            }
        }
        op.operands.truncate(shared);
        op.operand_spans.truncate(shared);
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

//! Indices are computed in 64 bits, in which they must not wrap: for known extents, whether they can.

use tofu_ir::EntityId;

use crate::description::*;
use crate::evaluate::eval_extent;

/// No index, nor any part of one, is larger than this or smaller than its negative.
const LIMIT: i128 = 1 << 62;

/// What an element that serves as an index is taken to be at most: it is checked against its dimension when it is used.
const ELEMENT: i128 = 1 << 32;

/// The first index expression that may pass the limit for these extents.
pub(super) fn too_large(data: &Data, extents: &[i64]) -> Option<IndexId> {
    let extent = |id| eval_extent(data, id, extents).map_or(LIMIT, |size| i128::from(size).abs());
    // Parts stand before the whole.
    let mut bounds: Vec<i128> = Vec::with_capacity(data.indices.len());
    for (number, &index) in data.indices.iter().enumerate() {
        let of = |id: IndexId| bounds[id.index()];
        let bound = match index {
            Index::Const(value) => i128::from(value).abs(),
            Index::Extent(id) => extents.get(id.index()).map_or(0, |&size| i128::from(size)),
            Index::Var(var) => extent(data.variable(var).extent),
            Index::Add(a, b) | Index::Sub(a, b) => of(a) + of(b),
            Index::Mul(a, b) => of(a).saturating_mul(of(b)),
            Index::FloorDiv(a, _) => of(a),
            Index::Mod(_, b) => of(b),
            Index::Data(_) => ELEMENT,
        };
        if bound > LIMIT {
            return Some(IndexId::from_index(number));
        }
        bounds.push(bound);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpaqueRegistry, parse};

    #[test]
    fn indices_that_wrap_are_found() {
        let wraps = |index: &str, size: i64| {
            let text = format!("tdl @a(x: [N]) -> [N] {{ out[i] = if {index} >= 1 then x[i] else 0 }}");
            let description = parse(&text, 1, &OpaqueRegistry::builtin()).unwrap();
            too_large(description.data(), &[size]).is_some()
        };
        for index in [
            "i * 9223372036854775807",
            "i * 3037000500 * 3037000500",
            "i - 9223372036854775807 - 5",
            "(i * 4611686018427387904) mod 5",
        ] {
            assert!(wraps(index, 6), "{index}");
        }
        for index in ["i * 3 + 5", "i * 4294967296", "i mod 4611686018427387904", "i floordiv 7 * 7"] {
            assert!(!wraps(index, 6), "{index}");
        }
        assert!(wraps("i * N", 1 << 40) && !wraps("i * N", 1 << 30));
    }
}

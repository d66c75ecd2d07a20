//! The conversions that are planned already.
//!
//! What a conversion takes depends on the dimensions that it splits or puts together, in their order; of such a dimension whose
//! shares are even all the way, only the bytes depend on its extent, in proportion. So one plan does for all tensors that agree
//! in this: that of the smallest one.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_sharding::{Layout, Layouts, Means, Mesh, Step, conversion};

use super::TensorShape;

/// Plans of conversions on one mesh, by one kind of means.
#[derive(Debug, Default)]
pub(super) struct Conversions {
    planned: RefCell<FxHashMap<Smallest, Rc<[Step]>>>,
}

/// The smallest tensor for which a conversion is the same but for the bytes: it has the dimensions that matter.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Smallest {
    from: Layouts,
    to: Layouts,
    extents: SmallVec<[u64; 4]>,
}

/// As few words, each of which takes one step of the hash; a list has one more, for its length, which says nothing here.
impl Hash for Smallest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.from.hash(state);
        self.to.hash(state);
        self.extents.iter().for_each(|&extent| state.write_u64(extent));
    }
}

/// A conversion as it is planned for the smallest tensor, of elements of a byte.
pub(super) struct Planned {
    steps: Rc<[Step]>,
    /// How many times as many elements the tensor has.
    times: u128,
    bits: u32,
}

impl Planned {
    /// The collectives, but of the smallest tensor, and the bytes of each.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Step, u64)> {
        self.steps.iter().map(|step| {
            let elements = u128::from(step.bytes).saturating_mul(self.times);
            let bytes = elements.saturating_mul(self.bits.into()).div_ceil(u8::BITS.into());
            (step, u64::try_from(bytes).unwrap_or(u64::MAX))
        })
    }
}

impl Conversions {
    /// How a tensor is converted.
    pub(super) fn plan(
        &self,
        mesh: &Mesh,
        means: Means,
        tensor: TensorShape<'_>,
        from: Layouts,
        to: Layouts,
    ) -> Planned {
        let (smallest, times) = Smallest::of(mesh, tensor.extents, from, to);
        let planned = self.planned.borrow().get(&smallest).map(Rc::clone);
        let steps = planned.unwrap_or_else(|| {
            let steps = conversion(mesh, &smallest.extents, u8::BITS, smallest.from, smallest.to, means);
            let steps: Rc<[Step]> = Rc::from(&steps[..]);
            self.planned.borrow_mut().insert(smallest, Rc::clone(&steps));
            steps
        });
        Planned { steps, times, bits: tensor.bits }
    }
}

impl Smallest {
    /// It, and how many times as many elements there are.
    fn of(mesh: &Mesh, extents: &[u64], from: Layouts, to: Layouts) -> (Smallest, u128) {
        let axes = mesh.axes().len().min(Layouts::MAX_AXES);
        // For each dimension, in how many shares it lies at most.
        let mut shares: SmallVec<[u64; 8]> = SmallVec::from_elem(1, extents.len());
        let mut matters: SmallVec<[bool; 8]> = SmallVec::from_elem(false, extents.len());
        for (axis, of) in mesh.axes().iter().enumerate().take(axes) {
            let (before, after) = (from.on(axis), to.on(axis));
            for (layout, is_new) in [(before, true), (after, after != before)] {
                if let Layout::Split(dim) = layout
                    && is_new
                {
                    matters[dim] = true;
                    shares[dim] = shares[dim].saturating_mul(of.size);
                }
            }
        }
        let mut smallest = Smallest { from, to, extents: SmallVec::new() };
        let mut times: u128 = 1;
        for (dim, &extent) in extents.iter().enumerate() {
            let least = match extent.is_multiple_of(shares[dim]) {
                true => shares[dim],
                false => extent,
            };
            times = times.saturating_mul((extent / least).into());
            if matters[dim] {
                smallest.extents.push(least);
            }
        }
        if !matters.iter().all(|&matters| matters) {
            let place = |dim: usize| matters[..dim].iter().filter(|&&matters| matters).count();
            [smallest.from, smallest.to] = [from, to].map(|layouts| {
                (0..axes).fold(layouts, |layouts, axis| match layouts.on(axis) {
                    Layout::Split(dim) => layouts.with(axis, Layout::Split(place(dim))),
                    Layout::Replicated | Layout::Partial(_) => layouts,
                })
            });
        }
        (smallest, times)
    }
}

#[cfg(test)]
mod tests {
    use tofu_ir::{ElementType, Interner};
    use tofu_sharding::Reducer;

    use super::*;

    /// Each is what planning it says, of shapes that are even, not quite, have nothing in them, and have dimensions that
    /// nothing splits.
    #[test]
    fn conversions_are_those_that_are_planned() {
        let mesh = Mesh::new([("x", 2), ("y", 2), ("z", 3)]).unwrap();
        let on = [Layout::Replicated, Layout::Split(0), Layout::Split(2), Layout::Partial(Reducer::Sum)];
        let of_code = |code: usize| {
            (0..3).fold(Layouts::REPLICATED, |of, axis| of.with(axis, on[code >> (2 * axis) & 3]))
        };
        let all: Vec<Layouts> = (0..64).map(of_code).collect();
        let ty = Interner::new().tensor(&[1], ElementType::F32);
        let shapes: [&[u64]; 7] =
            [&[12, 1, 24], &[144, 5, 36], &[6, 3, 12], &[7, 9, 12], &[12, 2, 1], &[0, 7, 12], &[3, 5, 7, 11]];
        for (reduce_scatter, ordered) in [(true, true), (true, false), (false, true)] {
            let means = Means { reduce_scatter, ordered };
            let conversions = Conversions::default();
            for (&from, &to) in all.iter().flat_map(|from| all.iter().map(move |to| (from, to))) {
                for (extents, bits) in shapes.iter().flat_map(|extents| [(*extents, 4), (*extents, 32)]) {
                    let plan = conversions.plan(&mesh, means, TensorShape { ty, extents, bits }, from, to);
                    let steps: SmallVec<[Step; 2]> =
                        plan.steps().map(|(step, bytes)| Step { bytes, ..step.clone() }).collect();
                    let planned = conversion(&mesh, extents, bits, from, to, means);
                    assert_eq!(steps, planned, "{extents:?} {from:?} {to:?}");
                }
            }
            assert!(conversions.planned.borrow().len() < all.len() * all.len() * shapes.len());
        }
    }
}

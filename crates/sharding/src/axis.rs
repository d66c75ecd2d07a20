//! Axes and parts of axes.
//!
//! An axis of size n is, as it were, a little mesh of its own: reshaped to [m, k, n/(m·k)], its second dimension is the part
//! `x:(m)k`. Two parts either have nothing in common, or one contains the other, or they overlap. Parts that no one reshape has
//! together, such as `x:(1)2` and `x:(3)2`, count as overlapping.

use std::cmp::Ordering;

/// An axis of a mesh, or a part of one.
///
/// The order is that of the mesh: by axis, then from the major part to the minor one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AxisRef {
    /// The number of the axis in its mesh.
    pub axis: usize,
    /// How many devices along the axis are major to the part; 1 for a whole axis.
    pub pre: u64,
    /// How many devices are along the part.
    pub size: u64,
}

impl AxisRef {
    /// What two references have together if the second goes on where the first one ends.
    pub fn joined(self, minor: AxisRef) -> Option<AxisRef> {
        let goes_on = self.axis == minor.axis && self.size > 1 && self.end() == minor.pre;
        goes_on.then(|| AxisRef { size: self.size.saturating_mul(minor.size), ..self })
    }

    /// Whether all of the other is part of this one.
    pub fn contains(self, other: AxisRef) -> bool {
        self.axis == other.axis
            && other.pre.is_multiple_of(self.pre)
            && self.end().is_multiple_of(other.end())
    }

    /// Whether they have nothing in common.
    pub fn is_disjoint(self, other: AxisRef) -> bool {
        let is_beside = other.pre.is_multiple_of(self.end()) || self.pre.is_multiple_of(other.end());
        self.axis != other.axis || self != other && is_beside
    }

    /// How many devices along the axis there are for one step beyond the part.
    pub(crate) fn end(self) -> u64 {
        self.pre.saturating_mul(self.size)
    }
}

impl PartialOrd for AxisRef {
    fn partial_cmp(&self, other: &AxisRef) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for AxisRef {
    fn cmp(&self, other: &AxisRef) -> Ordering {
        (self.axis, self.pre, self.size).cmp(&(other.axis, other.pre, other.size))
    }
}

/// Puts an axis into a list in the order of the mesh; what goes on from one to the next becomes one.
pub(crate) fn insert(axes: &mut smallvec::SmallVec<[AxisRef; 2]>, axis: AxisRef) {
    axes.push(axis);
    axes.sort_unstable();
    let mut index = 1;
    while index < axes.len() {
        match axes[index - 1].joined(axes[index]) {
            Some(joined) => {
                axes[index - 1] = joined;
                axes.remove(index);
            }
            None => index += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn part(pre: u64, size: u64) -> AxisRef {
        AxisRef { axis: 0, pre, size }
    }

    /// The digits of a number in the mixed radix that parts of an axis of 24 are.
    #[test]
    fn relations_are_those_of_digits() {
        let parts: Vec<AxisRef> = (1..=24)
            .filter(|pre| 24 % pre == 0)
            .flat_map(|pre| {
                (2..=24 / pre).filter(move |size| (24 / pre) % size == 0).map(move |size| part(pre, size))
            })
            .collect();
        let digit = |part: AxisRef, device: u64| device / (24 / part.end()) % part.size;
        for &a in &parts {
            for &b in &parts {
                // The devices that agree in one and the digits that they then have in the other.
                let depends = |on: AxisRef, what: AxisRef| {
                    let mut seen = vec![None; on.size as usize];
                    (0..24).all(|device| {
                        let seen = &mut seen[digit(on, device) as usize];
                        *seen.get_or_insert(digit(what, device)) == digit(what, device)
                    })
                };
                assert_eq!(a.contains(b), depends(a, b), "{a:?} {b:?}");
                let mut pairs: Vec<(u64, u64)> =
                    (0..24).map(|device| (digit(a, device), digit(b, device))).collect();
                pairs.sort_unstable();
                pairs.dedup();
                let is_product = pairs.len() as u64 == a.size * b.size;
                let ends = [a.pre, a.end(), b.pre, b.end()];
                let divides = |x: u64, y: u64| x.is_multiple_of(y) || y.is_multiple_of(x);
                let has_reshape = ends.iter().all(|&x| ends.iter().all(|&y| divides(x, y)));
                assert_eq!(a.is_disjoint(b), is_product && has_reshape, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn an_axis_of_one_device_is_not_beside_itself() {
        assert!(!part(1, 1).is_disjoint(part(1, 1)));
        assert_eq!(part(1, 1).joined(part(1, 1)), None);
    }

    #[test]
    fn neighbours_join() {
        assert_eq!(part(1, 2).joined(part(2, 3)), Some(part(1, 6)));
        assert_eq!(part(2, 3).joined(part(1, 2)), None);
        assert_eq!(part(1, 2).joined(AxisRef { axis: 1, pre: 2, size: 2 }), None);
    }
}

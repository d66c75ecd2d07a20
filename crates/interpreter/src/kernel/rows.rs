//! Walking a range of the points of a box, row by row.
//!
//! The points of a box are numbered in row-major order, and a block is a range of them. Along it, an affine form
//! changes by a constant from point to point, except where a row ends. Axes along which all forms of interest go on as
//! if they were one axis are joined first, so that a contiguous access is a single row.

use smallvec::SmallVec;

use super::linear::{Linear, Term};

/// The factors of several forms along one axis.
type Strides = SmallVec<[i64; 2]>;

/// How some affine forms change along the axes of a box.
#[derive(Debug)]
pub(super) struct Rows {
    /// Joined axes: the extent, and the factor of each form.
    axes: SmallVec<[(i64, Strides); 4]>,
    /// The rest of each form: its constant, and the points with their factors.
    bases: SmallVec<[Linear; 2]>,
}

/// A piece of a row.
pub(super) struct Row<'a> {
    /// The number of its first point, counted from the start of the block.
    pub(super) at: usize,
    /// How many points it has.
    pub(super) length: usize,
    /// The value of each form at the first point.
    pub(super) values: &'a [i64],
    /// How much each form changes from point to point.
    pub(super) steps: &'a [i64],
}

impl Rows {
    /// For affine forms over a box of these extents.
    pub(super) fn new(extents: &[i64], forms: &[&Linear]) -> Rows {
        let mut axes: SmallVec<[(i64, Strides); 4]> = SmallVec::new();
        for (axis, &extent) in extents.iter().enumerate() {
            let strides: Strides = forms.iter().map(|form| form.factor(Term::Axis(axis))).collect();
            let joins = |outer: &Strides| {
                outer.iter().zip(&strides).all(|(&outer, &inner)| outer == inner.wrapping_mul(extent))
            };
            match axes.last_mut() {
                _ if extent == 1 => {}
                Some((joined, outer)) if joins(outer) => {
                    *joined = joined.saturating_mul(extent);
                    *outer = strides;
                }
                _ => axes.push((extent, strides)),
            }
        }
        if axes.is_empty() {
            axes.push((1, SmallVec::from_elem(0, forms.len())));
        }
        let bases = forms.iter().map(|form| {
            let terms = form.terms.iter().filter(|(term, _)| matches!(term, Term::Point(_)));
            Linear { constant: form.constant, terms: terms.copied().collect() }
        });
        Rows { axes, bases: bases.collect() }
    }

    /// Calls `visit` for the rows of the points `start..start + length`; `points` are the values of the points' variables.
    pub(super) fn walk(
        &self,
        start: usize,
        length: usize,
        points: &[i64],
        mut visit: impl FnMut(Row<'_>) -> bool,
    ) -> bool {
        let mut index: SmallVec<[i64; 4]> = SmallVec::from_elem(0, self.axes.len());
        let mut rest = start as i64;
        for (index, (extent, _)) in index.iter_mut().zip(&self.axes).rev() {
            *index = rest % extent.max(&1);
            rest /= extent.max(&1);
        }
        let mut values: Strides = self
            .bases
            .iter()
            .enumerate()
            .map(|(form, base)| {
                let at_points = base.terms.iter().fold(base.constant, |sum, &(term, factor)| match term {
                    Term::Point(point) => sum.wrapping_add(factor.wrapping_mul(points[point])),
                    _ => sum,
                });
                index.iter().zip(&self.axes).fold(at_points, |sum, (&at, (_, strides))| {
                    sum.wrapping_add(at.wrapping_mul(strides[form]))
                })
            })
            .collect();
        let last = self.axes.len() - 1;
        let (extent, steps) = &self.axes[last];
        let mut at = 0;
        while at < length {
            let row = ((extent - index[last]) as usize).clamp(1, length - at);
            if !visit(Row { at, length: row, values: &values, steps }) {
                return false;
            }
            at += row;
            // To the start of the next row.
            for (value, &step) in values.iter_mut().zip(steps) {
                *value = value.wrapping_sub(step.wrapping_mul(index[last]));
            }
            index[last] = 0;
            for axis in (0..last).rev() {
                let (extent, strides) = &self.axes[axis];
                index[axis] += 1;
                let wraps = index[axis] >= *extent;
                let change = if wraps { 1 - *extent } else { 1 };
                for (value, &stride) in values.iter_mut().zip(strides) {
                    *value = value.wrapping_add(stride.wrapping_mul(change));
                }
                if !wraps {
                    break;
                }
                index[axis] = 0;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_visit_the_points_in_order() {
        let form = |constant, factors: &[i64]| {
            factors.iter().enumerate().fold(Linear::constant(constant), |form, (axis, &factor)| {
                form.plus(&Linear::term(Term::Axis(axis)), factor)
            })
        };
        for (extents, factors) in [
            (vec![3, 4, 5], [vec![20, 5, 1], vec![0, 0, 1]]),
            (vec![3, 4, 5], [vec![20, 5, 1], vec![0, 5, 1]]),
            (vec![2, 1, 3], [vec![-7, 9, 2], vec![1, 0, 0]]),
            (vec![], [vec![], vec![]]),
        ] {
            let forms = [form(7, &factors[0]), form(-1, &factors[1])];
            let rows = Rows::new(&extents, &[&forms[0], &forms[1]]);
            let count: usize = extents.iter().product::<i64>() as usize;
            let mut expected = Vec::new();
            for number in 0..count as i64 {
                let mut rest = number;
                let mut values = [7, -1];
                for (axis, extent) in extents.iter().enumerate().rev() {
                    values[0] += rest % extent * factors[0][axis];
                    values[1] += rest % extent * factors[1][axis];
                    rest /= extent;
                }
                expected.push(values);
            }
            for start in 0..count {
                for length in 0..=count - start {
                    let mut seen = Vec::new();
                    rows.walk(start, length, &[], |row| {
                        assert_eq!(row.at, seen.len());
                        for lane in 0..row.length as i64 {
                            seen.push([0, 1].map(|form| row.values[form] + lane * row.steps[form]));
                        }
                        true
                    });
                    assert_eq!(seen, expected[start..start + length], "{extents:?} {start} {length}");
                }
            }
        }
    }
}

//! Results against expected ones.

use rustc_hash::FxHashSet;
use tofu_ir::{Control, Definition, ElementType, Module, OpId, ValueId};
use tofu_tdl::Tensor;

use crate::text::{distance_text, element_text};

/// How many roundings results may be apart whose sums have another order, where that is little.
const ROUNDINGS: f64 = 256.0;

/// What they may be apart whose roundings are large: a part of the largest element, or some roundings if these are more.
const PART: f64 = 1.0 / 16.0;
const FEW_ROUNDINGS: f64 = 4.0;

/// More than that is never explained by rounding: a result of zeros is further away from any other.
const LARGEST_PART: f64 = 1.0 / 4.0;

/// One rounding of a number of size 1: results whose terms cancel out are as far from 0, whatever their type is.
const CANCELLED: f64 = 1.0 / (1 << 24) as f64;

/// How far results may be from what is expected: `absolute + relative * |expected|`.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// The part of the expected size.
    pub relative: f64,
    /// What is allowed whatever the size.
    pub absolute: f64,
}

impl Tolerance {
    /// What rounding explains in a result that is computed in another order of sums, from values of these types.
    ///
    /// Sums are as far apart as the size of their terms says, for which the largest element of the result stands. However coarse the types are,
    /// a result of zeros or of the opposite sign is told from the expected one.
    pub fn of_result(expected: &Tensor, computed_from: impl IntoIterator<Item = ElementType>) -> Tolerance {
        let coarsest = computed_from.into_iter().map(rounding).fold(rounding(expected.element()), f64::max);
        let bound = PART.max(FEW_ROUNDINGS * coarsest).min(LARGEST_PART);
        let relative = (ROUNDINGS * coarsest).min(bound);
        let sizes = (0..expected.len()).map(|index| {
            let (re, im) = expected.complex_at(index);
            re.hypot(im)
        });
        let scale = sizes.filter(|size| size.is_finite()).fold(0.0, f64::max);
        Tolerance { relative, absolute: relative * scale + CANCELLED.min(coarsest) }
    }
}

/// For each result of a function, the element types of the values that it is computed from, each once. Calls are not followed: where there are
/// some, all types of the program count.
pub fn elements_behind(module: &Module, function: OpId) -> Vec<Vec<ElementType>> {
    let block = module.regions(function).next().and_then(|region| module.entry(region));
    let returned = block.and_then(|block| module.last_op(block));
    let results = returned.map_or(Vec::new(), |last| module.operands(last).collect());
    results.into_iter().map(|value| elements_behind_value(module, value)).collect()
}

fn elements_behind_value(module: &Module, value: ValueId) -> Vec<ElementType> {
    let mut elements: Vec<ElementType> = Vec::new();
    let mut known: FxHashSet<ValueId> = FxHashSet::default();
    let mut seen: FxHashSet<OpId> = FxHashSet::default();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if !known.insert(value) {
            continue;
        }
        if let Some(ty) = module.tensor_type(value)
            && !elements.contains(&ty.element)
        {
            elements.push(ty.element);
        }
        let op = match module.definition(value) {
            Definition::Result { op, .. } => Some(op),
            Definition::Argument { block, .. } => module.block_parent(block),
            Definition::None => None,
        };
        // The arguments of a function come from nowhere.
        let Some(op) = op.filter(|&op| module.result_count(op) > 0 && seen.insert(op)) else { continue };
        let around =
            if matches!(module.def(op).interface(), Some(Control::Call(_))) { module.root() } else { op };
        // What an op gives can depend on all that its regions do.
        for inner in module.walk(around) {
            open.extend(module.operands(inner));
        }
    }
    elements
}

/// The relative error of rounding to a type; 0 for those that are exact.
fn rounding(element: ElementType) -> f64 {
    let part = element.part();
    let is_one =
        |value: f64| Tensor::from_numbers(part, &[], &[value]).is_ok_and(|tensor| tensor.number(0) == 1.0);
    if part.is_integer() {
        return 0.0;
    }
    let halves = std::iter::successors(Some(0.5), |half| Some(half / 2.0));
    halves.take(60).find(|&half| is_one(1.0 + half)).unwrap_or(0.0)
}

/// Says how a result called `name` differs from what is expected, by more than is allowed.
pub fn difference(name: &str, result: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Option<String> {
    Comparison::of(result, expected, tolerance).message(name, result, expected)
}

/// How far a result is from what is expected.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The largest `|result - expected|`, and the largest quotient of it and `|expected|`.
    absolute: f64,
    relative: f64,
    /// How many elements are further away than allowed.
    wrong: usize,
    /// The element that is, for what is allowed, furthest away.
    worst: usize,
}

impl Comparison {
    /// Compares a result with the expected one of the same type and extents. Integers and truth values must be equal, and NaN
    /// equals NaN.
    pub fn of(result: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Comparison {
        let mut errors = Comparison { absolute: 0.0, relative: 0.0, wrong: 0, worst: 0 };
        let mut furthest = 0.0;
        let is_exact = result.element().is_integer();
        for index in 0..result.len() {
            if is_exact && result.integer(index) == expected.integer(index) {
                continue;
            }
            let ((re, im), (expected_re, expected_im)) =
                (result.complex_at(index), expected.complex_at(index));
            let distance = distance(re, expected_re).hypot(distance(im, expected_im));
            let size = expected_re.hypot(expected_im);
            errors.absolute = errors.absolute.max(distance);
            if distance > 0.0 {
                errors.relative =
                    errors.relative.max(if size.is_nan() { f64::INFINITY } else { distance / size });
            }
            let allowed = tolerance.absolute + tolerance.relative * size;
            let is_wrong = is_exact || distance > 0.0 && !(distance <= allowed && distance.is_finite());
            if is_wrong {
                errors.wrong += 1;
                // Where nothing is allowed, everything is infinitely far away; the distance then decides.
                let excess = if allowed > 0.0 { distance / allowed } else { f64::MAX.min(1e300 * distance) };
                if excess > furthest || errors.wrong == 1 {
                    (furthest, errors.worst) = (excess, index);
                }
            }
        }
        errors
    }

    /// A line of a table: how far a result of this name and type is from what is expected.
    pub fn line(&self, name: &str, ty: &str) -> String {
        format!(
            "{name:<6} {ty:<28} max abs error {:<10} max rel error {:<10} {}\n",
            distance_text(self.absolute),
            distance_text(self.relative),
            self.verdict()
        )
    }

    fn verdict(&self) -> &'static str {
        match self.wrong {
            0 if self.absolute == 0.0 => "equal",
            0 => "close",
            _ => "differs",
        }
    }

    /// What differs by more than is allowed.
    pub fn message(&self, name: &str, result: &Tensor, expected: &Tensor) -> Option<String> {
        if self.wrong == 0 {
            return None;
        }
        let mut index = Vec::new();
        let mut rest = self.worst as u64;
        for &dim in result.dims().iter().rev() {
            index.insert(0, rest % dim);
            rest /= dim;
        }
        let index: Vec<String> = index.iter().map(ToString::to_string).collect();
        Some(format!(
            "`{name}`: {} of {} elements differ; the worst is [{}]: got {}, expected {}",
            self.wrong,
            result.len(),
            index.join(", "),
            element_text(result, self.worst),
            element_text(expected, self.worst)
        ))
    }
}

/// How far two numbers are apart; equal infinities, and NaN from NaN, not at all.
fn distance(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0.0,
        (false, false) if a == b => 0.0,
        (false, false) => (a - b).abs(),
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use tofu_ir::ElementType::{self, *};

    use super::*;

    fn wrong(
        element: ElementType,
        result: &[f64],
        expected: &[f64],
        relative: f64,
        absolute: f64,
    ) -> (usize, usize) {
        let tensor =
            |numbers: &[f64]| Tensor::from_numbers(element, &[numbers.len() as u64], numbers).unwrap();
        let errors = Comparison::of(&tensor(result), &tensor(expected), Tolerance { relative, absolute });
        (errors.wrong, errors.worst)
    }

    #[test]
    fn distances_are_judged_by_the_expected_value() {
        assert_eq!(wrong(F64, &[1.0, 110.0], &[1.0, 100.0], 0.1, 0.0), (0, 0));
        assert_eq!(wrong(F64, &[1.0, 100.0], &[1.0, 111.0], 0.09, 0.0), (1, 1));
        assert_eq!(wrong(F64, &[0.5, 0.0, 0.7], &[0.0, 0.0, 0.0], 1.0, 0.1), (2, 2));
        assert_eq!(wrong(F64, &[0.5, 0.0, 0.7], &[0.0, 0.0, 0.0], 0.0, 0.0), (2, 2));
    }

    #[test]
    fn special_values_equal_themselves_only() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        assert_eq!(wrong(F32, &[nan, inf, -inf, 0.0], &[nan, inf, -inf, -0.0], 0.0, 0.0), (0, 0));
        assert_eq!(wrong(F32, &[nan, 1.0, inf, 1.0], &[1.0, nan, -inf, inf], 1e9, 1e9).0, 4);
        assert_eq!(wrong(F32, &[1.0, 1.0], &[1.0, inf], 1e9, 1e9), (1, 1));
    }

    #[test]
    fn integers_are_equal_or_not() {
        assert_eq!(wrong(I32, &[3.0, 4.0, -9.0], &[3.0, 5.0, 9.0], 10.0, 10.0), (2, 2));
        let mut a = Tensor::zeros(I64, &[1]).unwrap();
        let mut b = a.clone();
        a.set_integer(0, i128::from(i64::MAX));
        b.set_integer(0, i128::from(i64::MAX - 1));
        assert_eq!(Comparison::of(&a, &b, Tolerance { relative: 1.0, absolute: 1.0 }).wrong, 1);
    }

    /// Of every type, what has lost its value or its sign is found, and what is a rounding away is not.
    #[test]
    fn zeros_and_other_signs_are_found_whatever_the_types() {
        for element in [F8E5M2, F8E4M3FN, BF16, F16, F32, F64] {
            for coarser in [F8E5M2, BF16, F32] {
                let tensor = |numbers: &[f64]| Tensor::from_numbers(element, &[2], numbers).unwrap();
                for scale in [0.25, 1.0, 64.0] {
                    let expected = tensor(&[scale, 0.0]);
                    let tolerance = Tolerance::of_result(&expected, [coarser]);
                    let is_found =
                        |numbers: &[f64]| difference("r", &tensor(numbers), &expected, tolerance).is_some();
                    assert!(is_found(&[0.0, 0.0]), "{element:?} of {coarser:?}, scale {scale}");
                    assert!(is_found(&[-scale, 0.0]), "{element:?} of {coarser:?}, scale {scale}");
                    let step = 2.0 * rounding(element).max(rounding(coarser)).min(0.125);
                    assert!(!is_found(&[scale * (1.0 + step), 0.0]), "{element:?} of {coarser:?}");
                }
            }
        }
    }
}

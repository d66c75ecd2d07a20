//! Runs an op on the terms of several workers, and adds the results.

use fastrand::Rng;
use tofu_ir::ElementType;
use tofu_tdl::{Linear, Reducer, Tensor, combine_partials, evaluate, linear, local};

use crate::{Whole, cut, same};

/// Changes what is claimed of an op, to see that it is found.
pub type SpoilLinear<'a> = &'a dyn Fn(&mut Linear);

impl Whole<'_> {
    /// Tries all ways in which partial sums pass through the op with each number of workers, on random terms; gives how
    /// many comparisons were made. Truth values, of which there are no terms, stay whole.
    ///
    /// # Errors
    ///
    /// The first way in which the workers' results are not terms of the whole, with the description.
    pub fn check_linear(
        &self,
        workers: &[u64],
        random: &mut Rng,
        spoil: SpoilLinear<'_>,
    ) -> Result<usize, String> {
        let mut done = 0;
        for mut way in linear(self.description) {
            if way.partial.iter().any(|&operand| self.operands[operand].element() == ElementType::I1) {
                continue;
            }
            spoil(&mut way);
            for &workers in workers {
                self.compare_linear(&way, workers, random).map_err(|error| {
                    let line = way.text(self.description);
                    let (extents, description) = (self.extents, self.description);
                    format!("{line}\n{workers} workers, extents {extents:?}\n{error}\n{description}")
                })?;
                done += 1;
            }
        }
        Ok(done)
    }

    /// Gives each worker a random term of the operands that are partial, runs its part of the op, and compares the sum of
    /// the results with the whole, where that is finite.
    ///
    /// # Errors
    ///
    /// The results differ, a worker reads what only the first one should, or a worker fails.
    pub fn compare_linear(&self, way: &Linear, workers: u64, random: &mut Rng) -> Result<(), String> {
        let terms: Vec<Vec<Tensor>> = (self.operands.iter().enumerate())
            .map(|(number, operand)| match way.partial.contains(&number) {
                true => terms(operand, workers, random),
                false => Ok(vec![operand.clone(); workers as usize]),
            })
            .collect::<Result<_, String>>()?;
        let mut sums: Vec<Tensor> = Vec::new();
        for worker in 0..workers {
            let results = self.share(way, worker, &terms)?;
            if sums.is_empty() {
                sums = results;
                continue;
            }
            let each = sums.iter_mut().zip(&results).zip(&way.results).enumerate();
            for (number, ((sum, result), &partial)) in each {
                if partial {
                    let (sum, result) = (std::slice::from_mut(sum), std::slice::from_ref(result));
                    combine_partials(self.description, Reducer::Sum, sum, result)
                        .map_err(|error| error.to_string())?;
                } else {
                    same(result, sum, &format!("result {number}, which is whole,"))?;
                }
            }
        }
        let mut each = sums.iter_mut().zip(&self.results).enumerate();
        each.try_for_each(|(number, (own, whole))| {
            // Infinities have no terms: a quotient by 0 is not the sum of quotients.
            for index in 0..whole.len() {
                let (re, im) = whole.complex_at(index);
                if !re.is_finite() || !im.is_finite() {
                    own.set_complex(index, re, im);
                }
            }
            same(own, whole, &format!("result {number}"))
        })
    }

    /// What one worker computes.
    fn share(&self, way: &Linear, worker: u64, terms: &[Vec<Tensor>]) -> Result<Vec<Tensor>, String> {
        let own = local(self.description, self.extents, &way.part(worker))
            .map_err(|errors| format!("no local op for worker {worker}: {errors:?}"))?;
        let late = |operand: usize| worker > 0 && way.first_only.contains(&operand);
        let inputs = terms.iter().zip(&own.operands).enumerate().map(|(operand, (all, region))| {
            let mut input = cut(&all[worker as usize], region)?;
            // Whoever reads what it should not gets something else; numbers are always there to be read.
            if late(operand) {
                (0..input.len()).for_each(|index| input.set_number(index, 77.0));
                if !region.dims.is_empty() && !region.is_empty() {
                    return Err(format!(
                        "worker {worker} reads operand {operand}, as only the first one should"
                    ));
                }
            }
            Ok(input)
        });
        let inputs = inputs.collect::<Result<Vec<Tensor>, String>>()?;
        evaluate(&own.description, &inputs, self.registry)
            .map_err(|error| format!("worker {worker}: {error}\n{}", own.description))
    }
}

/// Small random numbers for all workers but one, and for that what is left of the whole.
fn terms(whole: &Tensor, workers: u64, random: &mut Rng) -> Result<Vec<Tensor>, String> {
    let mut terms = (0..workers)
        .map(|_| Tensor::zeros(whole.element(), whole.dims()))
        .collect::<Result<Vec<Tensor>, String>>()?;
    for index in 0..whole.len() {
        let rest = random.usize(..terms.len());
        let mut sum = (0, 0);
        for worker in (0..terms.len()).filter(|&worker| worker != rest) {
            let (re, im) = (random.i64(-3..=3), random.i64(-3..=3));
            sum = (sum.0 + re, sum.1 + im);
            terms[worker].set_complex(index, re as f64, im as f64);
        }
        if whole.element().is_integer() {
            terms[rest].set_integer(index, whole.integer(index) - i128::from(sum.0));
        } else {
            let (re, im) = whole.complex_at(index);
            terms[rest].set_complex(index, re - sum.0 as f64, im - sum.1 as f64);
        }
    }
    Ok(terms)
}

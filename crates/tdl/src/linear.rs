//! Partial sums that pass through an op.
//!
//! Where each worker holds a term of an operand, and the sum of all terms is the operand, an op that is additive in it may
//! run on the terms: the workers' results are then terms of the result, and the sum need not be made before. What is only
//! added to it counts once, in one of the workers:
//!
//! ```text
//! out[b, o] = (sum(i) data[b, i] * weight[o, i]) + bias[o]      data, or weight; or bias with either; bias once or not
//! ```
//!
//! For a set of operands that are partial together, one pass over the table of expressions tells how each depends on them:
//! not at all, additively, or in another way ([`Degrees`]). Which sets are worth asking about is told by the structure: the
//! sides of a sum are partial together, of the factors of a product one is; whatever else stands beside such an expression
//! counts once.

use tofu_ir::{ElementType, EntityId};

use crate::description::*;
use crate::evaluate::Part;
use crate::scalar::{BinaryOp, Literal, UnaryOp};
use crate::walk::{each_element, each_part};

/// One way in which partial sums pass through an op: some operands are partial together, the others are whole, and then
/// the results are partial. Exact for integers, which wrap; to rounding for floats, where all terms stay finite. Truth values have no sums.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear {
    /// The operands of which each worker holds a term, in ascending order.
    pub partial: Vec<usize>,
    /// Operands that only worker 0 reads, as what is added once.
    pub first_only: Vec<usize>,
    /// For each result, whether it is partial; if not it depends on no partial operand, and all workers have the whole.
    pub results: Vec<bool>,
    /// Expressions, and the part of each that counts once.
    addends: Vec<(ScalarId, ScalarId)>,
}

/// More sets of operands than this are not tried, of those that one expression or the whole description gives.
const MOST: usize = 64;

/// The ways in which partial sums pass through an op, those in which nothing counts once first, then by their operands.
pub fn linear(description: &Description) -> Vec<Linear> {
    let data = description.data();
    let mut found: Vec<Linear> =
        candidates(data).into_iter().filter_map(|partial| Linear::of(data, partial)).collect();
    found.sort_by(|a, b| (a.counts_once(), &a.partial).cmp(&(b.counts_once(), &b.partial)));
    found
}

/// Whether every result is additive in this operand alone, with nothing that counts once.
pub(crate) fn is_additive(data: &Data, operand: usize) -> bool {
    let partial = [operand];
    let degrees = Degrees::new(data, &partial, false);
    data.results.iter().all(|result| matches!(degrees.of(result.body), Degree::Linear | Degree::Zero))
}

impl Linear {
    /// Whether worker 0 does more than the others.
    pub fn counts_once(&self) -> bool {
        !self.addends.is_empty()
    }

    /// What a worker computes: everything; but for worker 0, what counts once is left out.
    pub fn part(&self, worker: u64) -> Part {
        let left_out = if worker == 0 { Vec::new() } else { self.addends.clone() };
        Part { left_out, ..Part::default() }
    }

    /// One line: `partial data, bias once -> partial`, with the names of the description.
    pub fn text(&self, description: &Description) -> String {
        let names = |operands: &[usize], word: &str| -> String {
            let parameters = description.parameters();
            let each = operands.iter().map(|&operand| format!(" {}{word}", parameters[operand].name));
            each.collect::<Vec<_>>().join(",")
        };
        let once = match (self.counts_once(), &self.first_only[..]) {
            (false, _) => String::new(),
            (true, []) => ", rest once".to_owned(),
            (true, operands) => format!(",{}", names(operands, " once")),
        };
        let results = self.results.iter().map(|&partial| if partial { "partial" } else { "whole" });
        format!("partial{}{once} -> {}", names(&self.partial, ""), results.collect::<Vec<_>>().join(", "))
    }

    /// What comes of these operands being partial; `None` if some result is then neither partial nor whole, or all are
    /// whole.
    fn of(data: &Data, partial: Vec<usize>) -> Option<Linear> {
        let degrees = Degrees::new(data, &partial, true);
        let of = |result: &Output| degrees.of(result.body);
        if data.results.iter().any(|result| of(result) == Degree::Other) {
            return None;
        }
        let results: Vec<bool> = data.results.iter().map(|result| of(result) == Degree::Linear).collect();
        let (addends, first_only) = degrees.counted_once();
        results.contains(&true).then_some(Linear { partial, first_only, results, addends })
    }
}

/// How an expression depends on the partial operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Degree {
    /// It is 0.
    Zero,
    /// Not at all.
    Constant,
    /// Additively.
    Linear,
    /// In another way.
    Other,
}

/// How all expressions depend on some operands.
struct Degrees<'d> {
    data: &'d Data,
    partial: &'d [usize],
    /// Whether what is constant may be added to what is additive, and then counts once.
    once: bool,
    degrees: Vec<Degree>,
}

impl<'d> Degrees<'d> {
    fn new(data: &'d Data, partial: &'d [usize], once: bool) -> Degrees<'d> {
        let mut this = Degrees { data, partial, once, degrees: Vec::with_capacity(data.scalars.len()) };
        // Parts stand before the whole, intermediate tensors before what reads them.
        for number in 0..data.scalars.len() {
            let degree = this.look_into(ScalarId::from_index(number));
            this.degrees.push(degree);
        }
        this
    }

    fn of(&self, id: ScalarId) -> Degree {
        self.degrees[id.index()]
    }

    fn is_constant(&self, id: ScalarId) -> bool {
        matches!(self.of(id), Degree::Constant | Degree::Zero)
    }

    fn look_into(&self, id: ScalarId) -> Degree {
        use Degree::*;
        let data = self.data;
        let structural = match data.scalar(id) {
            Scalar::Literal(literal) if is_zero(*literal) => Some(Zero),
            Scalar::Read(source, indices) if indices.iter().all(|&index| self.index_is_constant(index)) => {
                Some(match source {
                    Source::Let(number) => self.of(data.lets[*number as usize].body),
                    Source::Operand(_) if self.is_partial(*source) => Linear,
                    Source::Operand(_) => Constant,
                })
            }
            Scalar::Unary(UnaryOp::Neg | UnaryOp::Real | UnaryOp::Imag, a) => Some(self.of(*a)),
            Scalar::Binary(op, a, b) => self.binary(id, *op, *a, *b),
            Scalar::Select(condition, a, b) if self.is_constant(*condition) => {
                match (self.of(*a), self.of(*b)) {
                    (Zero, Zero) => Some(Zero),
                    (a, b) => self.together(a, b),
                }
            }
            Scalar::Convert(a) if data.is_float(*a) && data.is_float(id) => Some(self.of(*a)),
            Scalar::Reduce(reduction, _) => match data.reduction(*reduction) {
                Reduction { reducer: Reducer::Sum, bodies, .. } => bodies.first().map(|&body| self.of(body)),
                _ => None,
            },
            _ => None,
        };
        structural.unwrap_or_else(|| {
            let mut constant = !self.reads_partial(id);
            each_part(data, id, &mut |part| constant &= self.is_constant(part));
            if constant { Constant } else { Other }
        })
    }

    fn binary(&self, id: ScalarId, op: BinaryOp, a: ScalarId, b: ScalarId) -> Option<Degree> {
        use Degree::*;
        match op {
            BinaryOp::Add | BinaryOp::Sub => self.together(self.of(a), self.of(b)),
            // The parts of a complex number: neither can be left out of it.
            BinaryOp::Complex if !self.is_constant(a) || !self.is_constant(b) => {
                match (self.of(a), self.of(b)) {
                    (Linear | Zero, Linear | Zero) => Some(Linear),
                    _ => None,
                }
            }
            BinaryOp::Mul if self.of(a) == Linear && self.is_constant(b) => Some(Linear),
            BinaryOp::Mul if self.is_constant(a) && self.of(b) == Linear => Some(Linear),
            BinaryOp::Div if self.of(a) == Linear && self.is_constant(b) => {
                self.data.is_inexact(id).then_some(Linear)
            }
            _ => None,
        }
    }

    /// What is added, or of which one is chosen.
    fn together(&self, a: Degree, b: Degree) -> Option<Degree> {
        use Degree::*;
        match (a, b) {
            (Linear | Zero, Linear) | (Linear, Zero) => Some(Linear),
            (Linear, Constant) | (Constant, Linear) if self.once => Some(Linear),
            _ => None,
        }
    }

    fn index_is_constant(&self, id: IndexId) -> bool {
        let mut constant = true;
        each_element(self.data, id, &mut |element| constant &= self.is_constant(element));
        constant
    }

    fn is_partial(&self, source: Source) -> bool {
        matches!(source, Source::Operand(number) if self.partial.contains(&(number as usize)))
    }

    /// Whether the expression itself reads a partial operand.
    fn reads_partial(&self, id: ScalarId) -> bool {
        match self.data.scalar(id) {
            Scalar::Read(source, _) => self.is_partial(*source),
            Scalar::Opaque(call, _) => {
                self.data.opaque(*call).arguments.iter().any(|slice| self.is_partial(slice.source))
            }
            _ => false,
        }
    }

    /// What is constant and added to what is additive, with what it is added in; and the operands that nothing else reads.
    fn counted_once(&self) -> (Vec<(ScalarId, ScalarId)>, Vec<usize>) {
        let data = self.data;
        let mut addends = Vec::new();
        let mut kept = vec![false; data.scalars.len()];
        data.results.iter().for_each(|result| kept[result.body.index()] = true);
        let mut once = vec![false; data.scalars.len()];
        for id in (0..data.scalars.len()).rev().map(ScalarId::from_index) {
            let is_sum = |op: BinaryOp| matches!(op, BinaryOp::Add | BinaryOp::Sub);
            let pair = match *data.scalar(id) {
                Scalar::Binary(op, a, b) if is_sum(op) => Some([a, b]),
                Scalar::Select(_, a, b) => Some([a, b]),
                _ => None,
            };
            let is_addend = |part: ScalarId| {
                let is_one = pair.is_some_and(|pair| pair.contains(&part));
                is_one && self.of(id) == Degree::Linear && self.of(part) == Degree::Constant
            };
            if kept[id.index()] {
                each_part(data, id, &mut |part| {
                    if is_addend(part) {
                        addends.push((id, part));
                        once[part.index()] = true;
                    } else {
                        kept[part.index()] = true;
                    }
                });
            } else if once[id.index()] {
                each_part(data, id, &mut |part| once[part.index()] = true);
            }
        }
        addends.sort_unstable();
        let read_by = |marked: &[bool], operand: usize| {
            let marked = data.scalars.iter().zip(marked).filter(|(_, marked)| **marked);
            let source = Source::Operand(operand as u32);
            marked.into_iter().any(|(scalar, _)| match scalar {
                Scalar::Read(read, _) => *read == source,
                Scalar::Opaque(call, _) => {
                    data.opaque(*call).arguments.iter().any(|slice| slice.source == source)
                }
                _ => false,
            })
        };
        let is_first_only = |&operand: &usize| read_by(&once, operand) && !read_by(&kept, operand);
        (addends, (0..data.parameters.len()).filter(is_first_only).collect())
    }
}

fn is_zero(literal: Literal) -> bool {
    matches!(literal, Literal::Int(0)) || literal == Literal::Float(0f64.to_bits())
}

/// Operands, in ascending order.
type Set = Vec<usize>;

/// The sets of operands that could be partial together: for each expression those with which it alone is additive, and
/// those with which all results are.
fn candidates(data: &Data) -> Vec<Set> {
    let mut each: Vec<Vec<Set>> = Vec::with_capacity(data.scalars.len());
    for scalar in &data.scalars {
        let of = |id: ScalarId| &each[id.index()];
        let sets = match *scalar {
            Scalar::Literal(literal) if is_zero(literal) => vec![Set::new()],
            Scalar::Read(Source::Operand(number), _) => {
                let has_sums = data.parameters[number as usize].ty != TypeRef::Concrete(ElementType::I1);
                if has_sums { vec![vec![number as usize]] } else { Vec::new() }
            }
            Scalar::Read(Source::Let(number), _) => of(data.lets[number as usize].body).clone(),
            Scalar::Unary(_, a) | Scalar::Convert(a) | Scalar::Binary(BinaryOp::Div, a, _) => of(a).clone(),
            Scalar::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Complex, a, b)
            | Scalar::Select(_, a, b) => unions(of(a), of(b)),
            Scalar::Binary(BinaryOp::Mul, a, b) => of(a).iter().chain(of(b)).cloned().collect(),
            Scalar::Reduce(reduction, _) => match &data.reduction(reduction).bodies[..] {
                &[body] => of(body).clone(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        each.push(few(sets));
    }
    let bodies = || data.results.iter().map(|result| &each[result.body.index()]);
    let together =
        bodies().filter(|sets| !sets.is_empty()).fold(vec![Set::new()], |all, sets| few(unions(&all, sets)));
    let mut all = together;
    all.extend(bodies().flatten().cloned());
    all.extend(each.iter().flatten().cloned());
    all.retain(|set| !set.is_empty());
    few(all)
}

fn unions(a: &[Set], b: &[Set]) -> Vec<Set> {
    let union = |a: &Set, b: &Set| {
        let mut both = [&a[..], b].concat();
        both.sort_unstable();
        both.dedup();
        both
    };
    a.iter().flat_map(|a| b.iter().map(move |b| union(a, b))).collect()
}

/// The first of them, each once.
fn few(sets: Vec<Set>) -> Vec<Set> {
    let mut found = indexmap::IndexSet::new();
    found.extend(sets);
    found.into_iter().take(MOST).collect()
}

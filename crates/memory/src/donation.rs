//! Which arguments a function may write over, and which result takes the place of which argument.

use std::collections::VecDeque;

use tofu_ir::{Control, Definition, Interface, Module, OpId, SecondaryMap, ValueId};
use tofu_tdl::Descriptions;

use crate::schedule::only_block;
use crate::source::{origin, part};

/// The interface of functions whose callers may give arguments away: what is said of the argument of this number.
#[derive(Debug)]
pub struct Donation(pub fn(&Module, OpId, usize) -> Option<Donated>);

impl Interface for Donation {}

/// What becomes of an argument that the caller has given away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Donated {
    /// The result of this number takes its place.
    To(usize),
    /// Some result may take its place, or anything else.
    Freely,
}

/// Results that take the place of arguments: the state of a step.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ties {
    /// Argument and result, by their numbers, ascending by argument. No argument and no result is in two pairs.
    pub pairs: Vec<(usize, usize)>,
    /// Whether the program says so; otherwise it was concluded.
    pub is_declared: bool,
}

impl Ties {
    /// What a function says of the arguments that it is given; if it says nothing, what its form tells.
    ///
    /// An argument that is given away freely goes to the first result of its type that is still without one, as in JAX.
    /// A function that gives nothing away, but returns its state first (as training steps in JAX do), ties as many
    /// arguments and results in front as have the same types, where the result depends on the argument. The last of them
    /// must be an update, element by element, or else a function that merely keeps a shape would have a state.
    pub fn of(module: &Module, function: OpId, descriptions: &Descriptions) -> Ties {
        let Some((arguments, results)) = ends(module, function) else { return Ties::default() };
        let declared = declared(module, function, &arguments, &results);
        if !declared.is_empty() {
            return Ties { pairs: declared, is_declared: true };
        }
        let fits = |(number, (&argument, &result)): (usize, (&ValueId, &ValueId))| {
            let walk = Walk { module, descriptions, in_place: false };
            (module.ty(argument) == module.ty(result) && walk.reaches(result, argument))
                .then_some((number, number))
        };
        let mut pairs: Vec<(usize, usize)> =
            arguments.iter().zip(&results).enumerate().map_while(fits).collect();
        let walk = Walk { module, descriptions, in_place: true };
        while let Some(&(argument, result)) = pairs.last()
            && !walk.reaches(results[result], arguments[argument])
        {
            pairs.pop();
        }
        Ties { pairs, is_declared: false }
    }

    /// The result that takes the place of an argument.
    pub fn result_of(&self, argument: usize) -> Option<usize> {
        let at = self.pairs.binary_search_by_key(&argument, |pair| pair.0).ok()?;
        Some(self.pairs[at].1)
    }
}

/// What is said of an argument.
pub(crate) fn donated(module: &Module, function: OpId, argument: usize) -> Option<Donated> {
    let Donation(donation) = module.def(function).interface()?;
    donation(module, function, argument)
}

/// The arguments and what is returned, of a function of one block.
pub(crate) fn ends(module: &Module, function: OpId) -> Option<(Vec<ValueId>, Vec<ValueId>)> {
    let block = only_block(module, module.only_region(function)?)?;
    let last = module.last_op(block)?;
    Some((module.arguments(block).to_vec(), module.operands(last).collect()))
}

fn declared(
    module: &Module,
    function: OpId,
    arguments: &[ValueId],
    results: &[ValueId],
) -> Vec<(usize, usize)> {
    let mut is_taken = vec![false; results.len()];
    let mut pairs = Vec::new();
    let said: Vec<Option<Donated>> =
        (0..arguments.len()).map(|argument| donated(module, function, argument)).collect();
    for (argument, said) in said.iter().enumerate() {
        if let &Some(Donated::To(result)) = said
            && is_taken.get(result) == Some(&false)
            && module.ty(results[result]) == module.ty(arguments[argument])
        {
            is_taken[result] = true;
            pairs.push((argument, result));
        }
    }
    for (argument, said) in said.iter().enumerate() {
        if *said == Some(Donated::Freely) {
            let fits = |result: &usize| {
                !is_taken[*result] && module.ty(results[*result]) == module.ty(arguments[argument])
            };
            if let Some(result) = (0..results.len()).find(fits) {
                is_taken[result] = true;
                pairs.push((argument, result));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// From values to what they are computed from.
struct Walk<'m> {
    module: &'m Module,
    descriptions: &'m Descriptions,
    /// Only from elements to the elements at the same indices.
    in_place: bool,
}

impl Walk<'_> {
    /// Whether one value depends on another. What is near is looked at first: state is updated last.
    fn reaches(&self, from: ValueId, to: ValueId) -> bool {
        let mut seen: SecondaryMap<ValueId, bool> = SecondaryMap::new();
        let mut pending = VecDeque::from([from]);
        while let Some(value) = pending.pop_front() {
            if value == to {
                return true;
            }
            if !std::mem::replace(&mut seen[value], true) {
                self.sources(value, &mut pending);
            }
        }
        false
    }

    /// What a value is computed from.
    fn sources(&self, value: ValueId, into: &mut VecDeque<ValueId>) {
        let module = self.module;
        let before = origin(module, value);
        if before != value {
            return into.push_back(before);
        }
        match module.definition(value) {
            Definition::Argument { block, index } => {
                let Some(op) = module.block_parent(block) else { return };
                if matches!(module.def(op).interface(), Some(Control::While)) {
                    into.push_back(module.operand(op, index as usize));
                    into.extend(part(module, op, 1).map(|(_, last)| module.operand(last, index as usize)));
                }
            }
            Definition::Result { op, index } => {
                let given = |region| {
                    let (_, last) = part(module, op, region)?;
                    Some(module.operand(last, index as usize))
                };
                match module.def(op).interface() {
                    Some(Control::While) => {
                        into.push_back(module.operand(op, index as usize));
                        into.extend(given(1));
                    }
                    Some(Control::Case | Control::If) => {
                        into.extend((0..module.region_count(op)).filter_map(given));
                        into.extend((!self.in_place).then(|| module.operand(op, 0)));
                    }
                    _ => into.extend(self.operands(op)),
                }
            }
            Definition::None => {}
        }
    }

    fn operands(&self, op: OpId) -> Vec<ValueId> {
        let operands = self.module.operands(op);
        if !self.in_place {
            return operands.collect();
        }
        let Ok((_, analysis)) = self.descriptions.of(self.module, op) else { return Vec::new() };
        let readings = &analysis.fusion.operands;
        operands
            .zip(readings)
            .filter(|(_, reading)| reading.is_in_place)
            .map(|(operand, _)| operand)
            .collect()
    }
}

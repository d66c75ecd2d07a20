//! Runs compiled definitions.

use rustc_hash::FxHashMap;

use super::compile::{Context, UNSET};
use super::program::*;
use super::{EvaluateError, Tensor, Trace};
use crate::numeric::{self, Word};
use crate::opaque::OpaqueArguments;

type Ran<T> = Result<T, EvaluateError>;

/// Computes intermediate tensors and results.
pub(super) fn run(context: &Context<'_>, operands: &[Tensor], trace: Option<&mut Trace>) -> Ran<Vec<Tensor>> {
    let mut trace = trace;
    if let Some(trace) = &mut trace {
        trace.operands = operands.iter().map(|operand| vec![false; operand.len()]).collect();
    }
    let mut lets = Vec::new();
    for item in &context.data.lets {
        let tensor = definition(&context.intermediate(item)?, operands, &lets, trace.as_deref_mut())?;
        lets.push(tensor);
    }
    let results = context.data.results.iter().map(|result| context.result(result));
    let carried = context.part.carried.iter().map(|carried| context.carried(carried));
    results
        .chain(carried)
        .map(|program| definition(&program?, operands, &lets, trace.as_deref_mut()))
        .collect()
}

fn definition(
    program: &Program,
    operands: &[Tensor],
    lets: &[Tensor],
    trace: Option<&mut Trace>,
) -> Ran<Tensor> {
    let dims: Vec<u64> = program.ranges.iter().map(|range| range.length as u64).collect();
    let mut result = Tensor::zeros(program.element, &dims).map_err(EvaluateError)?;
    let mut state =
        State::new(operands, lets, trace, program.registers, program.int_registers, program.caches);
    for range in &program.ranges {
        state.ints[range.register as usize] = range.start;
    }
    for index in 0..result.len() {
        state.block(&program.block)?;
        result.store(index, state.words[program.result as usize]);
        state.advance(&program.ranges);
    }
    Ok(result)
}

/// The calls of an opaque function: by the indices of its arguments, its results.
type Calls = FxHashMap<Vec<i64>, Vec<Tensor>>;

pub(super) struct State<'a> {
    operands: &'a [Tensor],
    lets: &'a [Tensor],
    trace: Option<&'a mut Trace>,
    pub(super) words: Vec<Word>,
    ints: Vec<i64>,
    caches: Vec<Calls>,
}

impl<'a> State<'a> {
    pub(super) fn new(
        operands: &'a [Tensor],
        lets: &'a [Tensor],
        trace: Option<&'a mut Trace>,
        registers: usize,
        int_registers: usize,
        caches: usize,
    ) -> State<'a> {
        let (words, ints) = (vec![UNSET; registers], vec![0; int_registers]);
        State { operands, lets, trace, words, ints, caches: vec![Calls::default(); caches] }
    }

    /// The next point in row-major order; after the last one comes the first.
    fn advance(&mut self, ranges: &[Range]) -> bool {
        for range in ranges.iter().rev() {
            let value = &mut self.ints[range.register as usize];
            *value += 1;
            if *value < range.start + range.length {
                return true;
            }
            *value = range.start;
        }
        false
    }

    pub(super) fn block(&mut self, block: &Block) -> Ran<()> {
        for step in block {
            match step {
                Step::Constant { to, value } => self.words[*to as usize] = *value,
                Step::Floor { to, a, b } => self.ints[*to as usize] = a.value(&self.ints).div_euclid(*b),
                Step::Modulo { to, a, b } => self.ints[*to as usize] = a.value(&self.ints).rem_euclid(*b),
                Step::FromIndex { to, a } => self.words[*to as usize] = Word::int(a.value(&self.ints)),
                Step::ToIndex { to, a, element } => {
                    self.ints[*to as usize] = numeric::to_index(*element, self.words[*a as usize]);
                }
                Step::Load(load) => self.load(load)?,
                Step::Unary { to, a, op, element, run } => {
                    self.words[*to as usize] = run(*op, *element, self.words[*a as usize]);
                }
                Step::Binary { to, a, b, op, element, run } => {
                    let (a, b) = (self.words[*a as usize], self.words[*b as usize]);
                    self.words[*to as usize] = run(*op, *element, a, b);
                }
                Step::Compare { to, a, b, comparison, element } => {
                    let (a, b) = (self.words[*a as usize], self.words[*b as usize]);
                    self.words[*to as usize] = Word::bool(numeric::compare(*comparison, *element, a, b));
                }
                Step::Convert { to, a, from, into } => {
                    self.words[*to as usize] = numeric::convert(*from, *into, self.words[*a as usize]);
                }
                Step::Bitcast { to, a, from, into } => {
                    self.words[*to as usize] = numeric::bitcast(*from, *into, self.words[*a as usize]);
                }
                Step::If { to, condition, then, otherwise } => {
                    let (block, result) =
                        if self.words[*condition as usize].low != 0 { then } else { otherwise };
                    self.block(block)?;
                    self.words[*to as usize] = self.words[*result as usize];
                }
                Step::Reduce(reduce) => self.reduce(reduce)?,
                Step::Opaque(call) => self.opaque(call)?,
            }
        }
        Ok(())
    }

    fn load(&mut self, load: &Load) -> Ran<()> {
        for Check { value, extent, dimension } in &load.checks {
            let value = value.value(&self.ints);
            if value < 0 || value >= *extent {
                return Err(EvaluateError(format!(
                    "the index into dimension {dimension} of `{}` is {value}, outside 0..{extent}",
                    load.name
                )));
            }
        }
        let offset = usize::try_from(load.offset.value(&self.ints)).unwrap_or(usize::MAX);
        let word = self.tensor(load.buffer).and_then(|tensor| tensor.load(offset));
        let Some(word) = word else {
            return Err(EvaluateError("an access lies outside its tensor".to_owned()));
        };
        self.words[load.to as usize] = word;
        self.note(load.buffer, offset);
        Ok(())
    }

    fn note(&mut self, buffer: Buffer, offset: usize) {
        if let (Some(trace), Buffer::Operand(number)) = (&mut self.trace, buffer) {
            trace.operands[number][offset] = true;
        }
    }

    fn tensor(&self, buffer: Buffer) -> Option<&Tensor> {
        match buffer {
            Buffer::Operand(number) => self.operands.get(number),
            Buffer::Let(number) => self.lets.get(number),
        }
    }

    fn reduce(&mut self, reduce: &Reduce) -> Ran<()> {
        self.block(&reduce.identities.0)?;
        for (&to, &from) in reduce.carried.iter().zip(&reduce.identities.1) {
            self.words[to as usize] = self.words[from as usize];
        }
        if reduce.ranges.iter().any(|range| range.length == 0) {
            return Ok(());
        }
        if let Some((block, values)) = &reduce.only {
            self.block(block)?;
            for (range, &value) in reduce.ranges.iter().zip(values) {
                let value = self.ints[value as usize];
                if value < range.start || value >= range.start + range.length {
                    return Ok(());
                }
                self.ints[range.register as usize] = value;
            }
            self.block(&reduce.bodies.0)?;
            for (&to, &from) in reduce.carried.iter().zip(&reduce.bodies.1) {
                self.words[to as usize] = self.words[from as usize];
            }
            return Ok(());
        }
        for range in &reduce.ranges {
            self.ints[range.register as usize] = range.start;
        }
        loop {
            self.block(&reduce.bodies.0)?;
            self.combine(reduce)?;
            if !self.advance(&reduce.ranges) {
                return Ok(());
            }
        }
    }

    fn combine(&mut self, reduce: &Reduce) -> Ran<()> {
        match &reduce.combine {
            Combine::Binary(op, element, run) => {
                let (to, from) = (reduce.carried[0] as usize, reduce.bodies.1[0] as usize);
                self.words[to] = run(*op, *element, self.words[to], self.words[from]);
                Ok(())
            }
            Combine::Custom { left, right, block, results } => {
                let inputs = reduce.carried.iter().zip(left).chain(reduce.bodies.1.iter().zip(right));
                for (&from, &to) in inputs {
                    self.words[to as usize] = self.words[from as usize];
                }
                self.block(block)?;
                for (&to, &from) in reduce.carried.iter().zip(results) {
                    self.words[to as usize] = self.words[from as usize];
                }
                Ok(())
            }
        }
    }

    fn opaque(&mut self, call: &Opaque) -> Ran<()> {
        let key: Vec<i64> = (call.arguments.iter().flat_map(|argument| &argument.dims))
            .filter_map(|(_, index)| index.as_ref().map(|index| index.value(&self.ints)))
            .collect();
        if !self.caches[call.cache].contains_key(&key) {
            let tensors =
                call.arguments.iter().map(|argument| self.slice(argument)).collect::<Ran<Vec<Tensor>>>()?;
            let mut less = |left: usize, right: usize| self.less(call, &tensors, left, right);
            let mut arguments = OpaqueArguments::new(&tensors, &call.constants, &mut less);
            let results = (call.function.reference)(&mut arguments).map_err(EvaluateError)?;
            self.caches[call.cache].insert(key.clone(), results);
        }
        let result = self.caches[call.cache].get(&key).and_then(|results| results.get(call.result));
        let word = result.and_then(|tensor| {
            let mut offset = 0u64;
            for (index, &extent) in call.indices.iter().zip(tensor.dims()) {
                let value = u64::try_from(index.value(&self.ints)).ok().filter(|&value| value < extent)?;
                offset = offset * extent + value;
            }
            let is_whole = call.indices.len() == tensor.dims().len();
            tensor.load(usize::try_from(offset).ok()?).filter(|_| is_whole)
        });
        let Some(word) = word else {
            return Err(EvaluateError(format!("\"{}\" gave no element at the indices", call.function.name)));
        };
        self.words[call.to as usize] = word;
        Ok(())
    }

    /// Whether the elements of all arguments at `left` come before those at `right`.
    fn less(&mut self, call: &Opaque, tensors: &[Tensor], left: usize, right: usize) -> Result<bool, String> {
        let Some(Combine::Custom { left: to_left, right: to_right, block, results }) = &call.comparator
        else {
            return Err(format!("\"{}\" is called without a comparator", call.function.name));
        };
        for (registers, index) in [(to_left, left), (to_right, right)] {
            for (&register, tensor) in registers.iter().zip(tensors) {
                self.words[register as usize] = tensor.load(index).unwrap_or(UNSET);
            }
        }
        self.block(block).map_err(|error| error.0)?;
        Ok(results.first().is_some_and(|&result| self.words[result as usize].low != 0))
    }

    /// The part of a tensor that an opaque function is given.
    fn slice(&mut self, argument: &Argument) -> Ran<Tensor> {
        let missing = || EvaluateError("an access lies outside its tensor".to_owned());
        let element = self.tensor(argument.buffer).ok_or_else(missing)?.element();
        let whole: Vec<u64> =
            argument.dims.iter().filter(|dim| dim.1.is_none()).map(|dim| dim.0.max(0) as u64).collect();
        let mut result = Tensor::zeros(element, &whole).map_err(EvaluateError)?;
        let mut at: Vec<i64> = argument
            .dims
            .iter()
            .map(|(_, index)| index.as_ref().map_or(0, |index| index.value(&self.ints)))
            .collect();
        for number in 0..result.len() {
            let mut offset = 0i64;
            for (&index, (extent, _)) in at.iter().zip(&argument.dims) {
                if index < 0 || index >= *extent {
                    return Err(missing());
                }
                offset = offset.wrapping_mul(*extent).wrapping_add(index);
            }
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            let word =
                self.tensor(argument.buffer).and_then(|tensor| tensor.load(offset)).ok_or_else(missing)?;
            result.store(number, word);
            self.note(argument.buffer, offset);
            for (index, (extent, given)) in at.iter_mut().zip(&argument.dims).rev() {
                if given.is_some() {
                    continue;
                }
                *index += 1;
                if *index < *extent {
                    break;
                }
                *index = 0;
            }
        }
        Ok(result)
    }
}

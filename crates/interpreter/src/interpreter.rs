//! Runs the functions of a program.
//!
//! An op is run as it says itself: by how control passes through it ([`Control`]), as a constant, or by its description
//! ([`Describe`]). Control is kept on a stack of our own, so that neither calls nor nested regions use the processor's;
//! loops go round without anything growing. A value is dropped after its last use.
//!
//! Several devices that run one program go through it together, op by op, each with values of its own. What they do
//! together ([`Communicate`]) then finds all of them at the same place; where control leads them to different ones, the
//! program is wrong, since somebody would wait forever.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes, plural};
use tofu_ir::{
    AttrData, BlockId, Control, DenseData, Module, OpId, TensorType, Trait, TypeData, VALUE, ValueId,
};
use tofu_sharding::{Communicate, Kind};
use tofu_tdl::{Describe, OpaqueRegistry, Tensor, Undescribed};

use crate::exchange::{Buffers, exchange, exchange_bucket};
use crate::functions::{self, Symbols, check_arguments, tensor_type};
use crate::kernel;
use crate::kernels::{Kernels, NoKernel};
use crate::lifetimes::Lifetimes;
use crate::storage::{Heap, Storage};
use crate::traffic::Traffic;

/// How many calls may be open at a time; a recursion that never ends is found here.
pub const MAX_CALL_DEPTH: usize = 1000;

/// Runs functions of one program, its tensors in a [`Storage`].
#[derive(Debug)]
pub struct Interpreter<'m, S: Storage = Heap> {
    module: &'m Module,
    storage: S,
    kernels: Kernels,
    lifetimes: FxHashMap<OpId, Arc<Lifetimes>>,
}

/// What a value is when the program runs.
#[derive(Clone)]
enum Value<B> {
    Tensor(TensorType, B),
    Tuple(Arc<[Value<B>]>),
    Token,
}

type Values<B> = SmallVec<[Value<B>; 2]>;

/// A call that is open: its values.
struct Call<B> {
    /// The op that calls; none for the function that is run.
    op: Option<OpId>,
    values: FxHashMap<ValueId, Value<B>>,
    lifetimes: Arc<Lifetimes>,
}

/// A block that is open.
struct Frame<B> {
    next: Option<OpId>,
    then: Then<B>,
}

/// What happens with the values that a block gives.
enum Then<B> {
    /// They are the results of the call that is open.
    Return,
    /// They are the results of this op.
    Results(OpId),
    /// They say whether this loop goes on, with these values.
    Test(OpId, Values<B>),
    /// They are the next values of this loop.
    Again(OpId),
}

impl<'m> Interpreter<'m> {
    /// An interpreter of a program, which must be valid. Descriptions may name the opaque functions of the registry.
    pub fn new(module: &'m Module, registry: &OpaqueRegistry) -> Interpreter<'m> {
        Interpreter::with_storage(module, registry, Heap)
    }

    /// Runs a function on several devices together, each with arguments of its own; the results of each, and what they sent.
    ///
    /// # Errors
    ///
    /// As [`run`](Interpreter::run); or control leads devices to different ops.
    pub fn run_together(
        &mut self,
        function: OpId,
        arguments: &[Vec<Tensor>],
    ) -> Result<(Vec<Vec<Tensor>>, Traffic), Diagnostic> {
        self.run_devices(function, arguments)
    }
}

impl<'m, S: Storage> Interpreter<'m, S> {
    /// An interpreter whose tensors are in `storage`.
    pub fn with_storage(module: &'m Module, registry: &OpaqueRegistry, storage: S) -> Interpreter<'m, S> {
        let kernels = Kernels::new(registry.clone());
        Interpreter { module, storage, kernels, lifetimes: FxHashMap::default() }
    }

    /// The storage.
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// Runs a function: one that [`entry`](crate::entry) has found, say.
    ///
    /// # Errors
    ///
    /// The arguments do not fit, an op cannot be run, or fails; the diagnostic stands at the op, and says who called.
    pub fn run(&mut self, function: OpId, arguments: &[Tensor]) -> Result<Vec<Tensor>, Diagnostic> {
        let (results, _) = self.run_devices(function, &[arguments])?;
        Ok(results.into_iter().next().unwrap_or_default())
    }

    fn run_devices<A: AsRef<[Tensor]>>(
        &mut self,
        function: OpId,
        arguments: &[A],
    ) -> Result<(Vec<Vec<Tensor>>, Traffic), Diagnostic> {
        for arguments in arguments {
            check_arguments(self.module, function, arguments.as_ref())?;
        }
        let devices = arguments.iter().map(|_| Device { calls: Vec::new(), frames: Vec::new() }).collect();
        let mut machine = Machine { interpreter: self, devices, current: 0, traffic: Traffic::default() };
        let values = machine.run(function, arguments).map_err(|error| machine.with_callers(error))?;
        let traffic = std::mem::take(&mut machine.traffic);
        let results =
            values.iter().map(|values| self.taken_out(function, values)).collect::<Result<_, _>>()?;
        Ok((results, traffic))
    }

    fn taken_out(&self, function: OpId, values: &Values<S::Buffer>) -> Result<Vec<Tensor>, Diagnostic> {
        let module = self.module;
        values
            .iter()
            .map(|value| match value {
                Value::Tensor(ty, buffer) => {
                    let dims: Vec<u64> = ty.dims.iter().filter_map(|dim| dim.size()).collect();
                    Tensor::from_bytes(ty.element, &dims, self.storage.bytes(buffer).to_vec())
                        .map_err(|message| module.error(function, &codes::EXECUTION_FAILED, message))
                }
                _ => {
                    let message = "only tensors can be taken out of a program, not tokens or tuples";
                    Err(module.error(function, &codes::CANNOT_RUN, message))
                }
            })
            .collect()
    }
}

/// The bytes of a tensor; what takes nothing has none.
fn bytes_of<'v, S: Storage>(storage: &'v S, value: Option<&'v Value<S::Buffer>>) -> &'v [u8] {
    match value {
        Some(Value::Tensor(_, buffer)) => storage.bytes(buffer),
        _ => &[],
    }
}

struct Machine<'i, 'm, S: Storage> {
    interpreter: &'i mut Interpreter<'m, S>,
    devices: Vec<Device<S::Buffer>>,
    /// The number of the device that is being run.
    current: usize,
    traffic: Traffic,
}

/// Where a device is.
struct Device<B> {
    calls: Vec<Call<B>>,
    frames: Vec<Frame<B>>,
}

impl<'m, S: Storage> Machine<'_, 'm, S> {
    fn module(&self) -> &'m Module {
        self.interpreter.module
    }

    fn device(&mut self) -> &mut Device<S::Buffer> {
        &mut self.devices[self.current]
    }

    /// The results of each device.
    fn run<A: AsRef<[Tensor]>>(
        &mut self,
        function: OpId,
        arguments: &[A],
    ) -> Result<Vec<Values<S::Buffer>>, Diagnostic> {
        let module = self.module();
        let block = functions::body(module, function).ok_or_else(|| {
            module.error(function, &codes::CANNOT_RUN, "only a function with a body can be run")
        })?;
        for (device, arguments) in arguments.iter().enumerate() {
            self.current = device;
            let mut values = Values::new();
            for (tensor, &argument) in arguments.as_ref().iter().zip(module.arguments(block)) {
                let bytes = tensor.bytes();
                let fill = &mut |target: &mut [u8]| target.copy_from_slice(bytes);
                let value = self.load(argument, tensor.ty(), bytes.len(), function, fill)?;
                values.push(value);
            }
            self.call(None, function, block, values)?;
        }
        let mut results = Vec::new();
        while results.is_empty() && !self.devices.is_empty() {
            let op = self.next(function)?;
            if let Some(communicate) = module.def(op).interface::<Communicate>() {
                self.communicate(op, communicate)?;
                continue;
            }
            for device in 0..self.devices.len() {
                self.current = device;
                results.extend(self.step(op)?);
            }
        }
        Ok(results)
    }

    /// The op that comes next, on all devices.
    fn next(&mut self, function: OpId) -> Result<OpId, Diagnostic> {
        let module = self.module();
        let mut next: Option<OpId> = None;
        for (number, device) in self.devices.iter_mut().enumerate() {
            let op = device.frames.last_mut().and_then(|frame| {
                let op = frame.next?;
                frame.next = module.next_op(op);
                Some(op)
            });
            let op = op.ok_or_else(|| module.error(function, &codes::CANNOT_RUN, "a block has no end"))?;
            match next {
                Some(other) if other != op => {
                    let message =
                        format!("control leads device {number} here, but the devices before it elsewhere");
                    return Err(module
                        .error(op, &codes::DEVICES_DIVERGE, message)
                        .secondary(module.span(other), "the others are here"));
                }
                _ => next = Some(op),
            }
        }
        next.ok_or_else(|| module.error(function, &codes::CANNOT_RUN, "no device runs it"))
    }

    /// What all devices do together.
    fn communicate(&mut self, op: OpId, communicate: &Communicate) -> Result<(), Diagnostic> {
        let module = self.module();
        let failed = |message: String| {
            let name = module.def(op).written_name();
            module.error(op, &codes::EXECUTION_FAILED, format!("`{name}` failed: {message}"))
        };
        let communication =
            (communicate.0)(module, op).ok_or_else(|| failed("it is not valid".to_owned()))?;
        let mut operands: Vec<Values<S::Buffer>> = Vec::new();
        for device in 0..self.devices.len() {
            self.current = device;
            operands.push(self.take_operands(op)?);
        }
        // What each device has of each operand, and the type of what it gets; what takes nothing has no bytes.
        let mut types: Vec<TensorType> = Vec::new();
        let mut dims: Vec<[SmallVec<[u64; 4]>; 2]> = Vec::new();
        let mut all: Vec<Vec<&[u8]>> = Vec::new();
        for (index, result) in module.results(op).enumerate() {
            let ty = tensor_type(module, module.ty(result));
            let ty = ty.ok_or_else(|| failed("its result is no tensor".to_owned()))?;
            let to = ty.static_dims().ok_or_else(|| failed("extents are not known".to_owned()))?;
            let from = match operands.first().and_then(|operands| operands.get(index)) {
                Some(Value::Tensor(ty, _)) => ty.static_dims().unwrap_or_default(),
                _ => SmallVec::new(),
            };
            let storage = &self.interpreter.storage;
            all.push(operands.iter().map(|operands| bytes_of(storage, operands.get(index))).collect());
            dims.push([from, to]);
            types.push(ty);
        }
        let each = types.iter().zip(&dims).zip(&all);
        let buffers: Vec<Buffers<'_>> = each
            .map(|((ty, [from, to]), all)| Buffers { element: ty.element, dims: [from, to], all })
            .collect();
        let (given, exchanged) = match (&communication.kind, &buffers[..]) {
            (Kind::Bucket(actions), buffers) => {
                exchange_bucket(&communication.mesh, actions, buffers).map_err(failed)?
            }
            (_, [buffers]) => {
                let mut exchanged = exchange(&communication, buffers).map_err(failed)?;
                (vec![std::mem::take(&mut exchanged.buffers)], exchanged)
            }
            _ => return Err(failed("it gives another number of results".to_owned())),
        };
        self.traffic.add(op, &exchanged.sent, &exchanged.received);
        for device in 0..self.devices.len() {
            self.current = device;
            let mut values = Values::new();
            for ((result, ty), given) in module.results(op).zip(&types).zip(&given) {
                let bytes = &given[device];
                let fill = &mut |target: &mut [u8]| target.copy_from_slice(bytes);
                values.push(self.load(result, ty.clone(), bytes.len(), op, fill)?);
            }
            self.finish(op, values)?;
        }
        Ok(())
    }

    /// Runs one op; the results of the whole run, if it was the last one.
    fn step(&mut self, op: OpId) -> Result<Option<Values<S::Buffer>>, Diagnostic> {
        let module = self.module();
        let operands = self.take_operands(op)?;
        match module.def(op).interface::<Control>() {
            Some(Control::Yield) => return self.give(op, operands),
            Some(&Control::Call(name)) => {
                let target = module.symbol_target(op, name);
                let block = target.and_then(|target| functions::body(module, target));
                let (Some(target), Some(block)) = (target, block) else {
                    let callee = module
                        .attr(op, name)
                        .map_or(String::new(), |attr| module.display_attr(attr).to_string());
                    let message = format!("`{callee}` has no body that could be run");
                    return Err(module.error(op, &codes::CANNOT_RUN, message));
                };
                self.call(Some(op), target, block, operands)?;
            }
            Some(Control::While) => {
                let then = Then::Test(op, operands.clone());
                self.open(op, 0, operands, then)?;
            }
            Some(Control::Case) => {
                let last = module.region_count(op).saturating_sub(1);
                let number = usize::try_from(self.integer(op, &operands)?).unwrap_or(last).min(last);
                self.open(op, number, Values::new(), Then::Results(op))?;
            }
            Some(Control::If) => {
                let number = usize::from(self.integer(op, &operands)? == 0);
                self.open(op, number, Values::new(), Then::Results(op))?;
            }
            Some(Control::Forward) => self.finish(op, operands)?,
            Some(Control::Tuple) => {
                let tuple = Value::Tuple(operands.into_iter().collect());
                self.finish(op, [tuple].into_iter().collect())?;
            }
            Some(&Control::Element(name)) => {
                let index = match module.attr_value(op, name) {
                    Some(AttrData::Int(index, _)) => usize::try_from(*index).ok(),
                    _ => None,
                };
                let element = match (operands.first(), index) {
                    (Some(Value::Tuple(values)), Some(index)) => values.get(index).cloned(),
                    _ => None,
                };
                let element = element
                    .ok_or_else(|| module.error(op, &codes::CANNOT_RUN, "the tuple has no such element"))?;
                self.finish(op, [element].into_iter().collect())?;
            }
            Some(Control::Token) => {
                self.finish(op, module.results(op).map(|_| Value::Token).collect())?;
            }
            None if module.has(op, Trait::Constant) => {
                let value = self.constant(op)?;
                self.finish(op, [value].into_iter().collect())?;
            }
            None => {
                let results = self.described(op, &operands)?;
                self.finish(op, results)?;
            }
        }
        Ok(None)
    }

    /// The operands of an op; those that nothing uses any more are then only here.
    fn take_operands(&mut self, op: OpId) -> Result<Values<S::Buffer>, Diagnostic> {
        let module = self.module();
        let Some(call) = self.device().calls.last_mut() else { return Ok(Values::new()) };
        let mut operands = Values::new();
        for operand in module.operands(op) {
            let value = call.values.get(&operand).cloned();
            operands.push(value.ok_or_else(|| {
                let message = format!("{} has no value here", module.quoted_value(operand));
                module.error(op, &codes::CANNOT_RUN, message)
            })?);
        }
        let lifetimes = Arc::clone(&call.lifetimes);
        lifetimes.taken(op).iter().for_each(|value| drop(call.values.remove(value)));
        Ok(operands)
    }

    /// Opens a function.
    fn call(
        &mut self,
        op: Option<OpId>,
        function: OpId,
        block: BlockId,
        arguments: Values<S::Buffer>,
    ) -> Result<(), Diagnostic> {
        let module = self.module();
        if let Some(op) = op.filter(|_| self.device().calls.len() >= MAX_CALL_DEPTH) {
            let message = format!("calls are nested more than {MAX_CALL_DEPTH} deep");
            return Err(module
                .error(op, &codes::CALL_DEPTH, message)
                .help("a function that calls itself must come to an end"));
        }
        let lifetimes = self.interpreter.lifetimes.entry(function);
        let lifetimes = Arc::clone(lifetimes.or_insert_with(|| Arc::new(Lifetimes::new(module, function))));
        self.device().calls.push(Call { op, values: FxHashMap::default(), lifetimes });
        self.enter(block, arguments, Then::Return)
    }

    /// Opens a region of an op.
    fn open(
        &mut self,
        op: OpId,
        region: usize,
        arguments: Values<S::Buffer>,
        then: Then<S::Buffer>,
    ) -> Result<(), Diagnostic> {
        let module = self.module();
        let block = module.regions(op).nth(region).and_then(|region| module.entry(region));
        let block = block.ok_or_else(|| {
            let message = format!("`{}` lacks a region that must be run", module.def(op).written_name());
            module.error(op, &codes::CANNOT_RUN, message)
        })?;
        self.enter(block, arguments, then)
    }

    fn enter(
        &mut self,
        block: BlockId,
        arguments: Values<S::Buffer>,
        then: Then<S::Buffer>,
    ) -> Result<(), Diagnostic> {
        let module = self.module();
        let expected = module.arguments(block);
        if let Some(op) = module.block_parent(block).filter(|_| arguments.len() != expected.len()) {
            let message =
                format!("{} expected, but {} came", plural(expected.len(), "value"), arguments.len());
            return Err(module.error(op, &codes::CANNOT_RUN, message));
        }
        for (&argument, value) in expected.iter().zip(arguments) {
            self.set(argument, value);
        }
        self.device().frames.push(Frame { next: module.first_op(block), then });
        Ok(())
    }

    /// A block comes to its end with these values.
    fn give(&mut self, op: OpId, values: Values<S::Buffer>) -> Result<Option<Values<S::Buffer>>, Diagnostic> {
        match self.device().frames.pop().map(|frame| frame.then) {
            None => return Ok(Some(values)),
            Some(Then::Return) => match self.device().calls.pop().and_then(|call| call.op) {
                Some(caller) => self.finish(caller, values)?,
                None => return Ok(Some(values)),
            },
            Some(Then::Results(owner)) => self.finish(owner, values)?,
            Some(Then::Test(owner, state)) => match self.integer(op, &values)? {
                0 => self.finish(owner, state)?,
                _ => self.open(owner, 1, state, Then::Again(owner))?,
            },
            Some(Then::Again(owner)) => {
                let then = Then::Test(owner, values.clone());
                self.open(owner, 0, values, then)?;
            }
        }
        Ok(None)
    }

    /// An op has these results.
    fn finish(&mut self, op: OpId, results: Values<S::Buffer>) -> Result<(), Diagnostic> {
        let module = self.module();
        if results.len() != module.result_count(op) {
            let expected = plural(module.result_count(op), "result");
            let message =
                format!("`{}` has {expected}, but gives {}", module.def(op).written_name(), results.len());
            return Err(module.error(op, &codes::CANNOT_RUN, message));
        }
        for (result, value) in module.results(op).zip(results) {
            self.set(result, value);
        }
        if let Some(call) = self.device().calls.last_mut() {
            let lifetimes = Arc::clone(&call.lifetimes);
            lifetimes.done(op).iter().for_each(|value| drop(call.values.remove(value)));
        }
        Ok(())
    }

    fn set(&mut self, id: ValueId, value: Value<S::Buffer>) {
        let value = match value {
            Value::Tensor(ty, buffer) => Value::Tensor(ty, self.interpreter.storage.share(id, &buffer)),
            other => other,
        };
        if let Some(call) = self.device().calls.last_mut() {
            call.values.insert(id, value);
        }
    }

    /// The number that decides where control goes: the first of the values.
    fn integer(&self, op: OpId, values: &Values<S::Buffer>) -> Result<i128, Diagnostic> {
        if let Some(Value::Tensor(ty, buffer)) = values.first()
            && ty.rank() == 0
            && ty.element.is_integer()
        {
            let bytes = self.interpreter.storage.bytes(buffer);
            return Ok(tofu_tdl::numeric::Word::read(ty.element, bytes).as_int(ty.element));
        }
        let message = "a single integer or truth value decides where to go on";
        Err(self.module().error(op, &codes::CANNOT_RUN, message))
    }

    fn constant(&mut self, op: OpId) -> Result<Value<S::Buffer>, Diagnostic> {
        let module = self.module();
        let Some(AttrData::Dense(dense)) = module.attr_value(op, VALUE) else {
            return Err(module.error(op, &codes::CANNOT_RUN, "the constant is no tensor"));
        };
        let result = module.result(op, 0);
        let ty =
            tensor_type(module, module.ty(result)).unwrap_or(TensorType::of(&[], tofu_ir::ElementType::I1));
        match &dense.data {
            DenseData::Bytes(bytes) => {
                self.load(result, ty, bytes.len(), op, &mut |target| target.copy_from_slice(bytes))
            }
            DenseData::Splat(element) => {
                let length = kernel::bytes(&ty).unwrap_or(usize::MAX);
                self.load(result, ty, length, op, &mut |target| {
                    target
                        .chunks_exact_mut(element.len().max(1))
                        .for_each(|one| one.copy_from_slice(element));
                })
            }
        }
    }

    /// A value of so many bytes, which `fill` writes.
    fn load(
        &mut self,
        id: ValueId,
        ty: TensorType,
        length: usize,
        op: OpId,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Value<S::Buffer>, Diagnostic> {
        let module = self.module();
        let storage = &mut self.interpreter.storage;
        let buffer = storage
            .allocate(id, length)
            .map_err(|message| module.error(op, &codes::EXECUTION_FAILED, message))?;
        let mut outputs = [buffer];
        storage.compute(&[], &mut outputs, &mut |_, outputs| fill(outputs[0]));
        let [buffer] = outputs;
        Ok(Value::Tensor(ty, buffer))
    }

    /// Runs an op by its description.
    fn described(&mut self, op: OpId, operands: &Values<S::Buffer>) -> Result<Values<S::Buffer>, Diagnostic> {
        let module = self.module();
        let name = module.def(op).written_name();
        let Some(describe) = module.def(op).interface::<Describe>() else {
            let error = module.error(op, &codes::CANNOT_RUN, format!("`{name}` cannot be run"));
            return Err(match module.def(op).interface::<Undescribed>() {
                Some(Undescribed(reason)) => error.note((*reason).to_owned()),
                None => error.note("it has no description, and does not say how control passes through it"),
            });
        };
        let mut types = Vec::new();
        let mut inputs = Vec::new();
        for (number, operand) in operands.iter().enumerate() {
            let Value::Tensor(ty, buffer) = operand else {
                let message = format!("`{name}` can only be run on tensors");
                return Err(Diagnostic::error(&codes::CANNOT_RUN, module.operand_span(op, number), message));
            };
            types.push(ty.clone());
            inputs.push(buffer);
        }
        let failed = |message: String| {
            module.error(op, &codes::EXECUTION_FAILED, format!("`{name}` failed: {message}"))
        };
        let kernel =
            self.interpreter.kernels.get(module, op, describe, types).map_err(|none| match none {
                NoKernel::Described(diagnostic) => diagnostic,
                NoKernel::Compiled(error) => failed(error.0),
            })?;
        let mut symbols = Symbols::default();
        let mut outputs = Vec::new();
        for (result, ty) in module.results(op).zip(kernel.results()) {
            let declared = tensor_type(module, module.ty(result));
            // Symbols are those of the function; only what the op itself says is looked at.
            if !declared.is_some_and(|declared| symbols.accept(&declared, ty)) {
                let declared = module.type_text(module.ty(result));
                let came = module.type_data_text(&TypeData::Tensor(ty.clone()));
                return Err(failed(format!("a `{declared}` is expected, but a `{came}` came out")));
            }
            let bytes = kernel::bytes(ty).ok_or_else(|| failed("a result is too large".to_owned()))?;
            outputs.push(self.interpreter.storage.allocate(result, bytes).map_err(failed)?);
        }
        let mut ran = Ok(());
        self.interpreter.storage.compute(&inputs, &mut outputs, &mut |inputs, outputs| {
            ran = kernel.run(inputs, outputs);
        });
        ran.map_err(|error| failed(error.0))?;
        Ok(kernel
            .results()
            .iter()
            .cloned()
            .zip(outputs)
            .map(|(ty, buffer)| Value::Tensor(ty, buffer))
            .collect())
    }

    /// Says which calls led to an error, innermost first.
    fn with_callers(&self, error: Diagnostic) -> Diagnostic {
        const SHOWN: usize = 4;
        let module = self.module();
        let calls: Vec<OpId> =
            self.devices[self.current].calls.iter().rev().filter_map(|call| call.op).collect();
        let hidden = calls.len().saturating_sub(SHOWN);
        let shown = calls.into_iter().take(SHOWN);
        let error = shown.fold(error, |error, op| error.secondary(module.span(op), "called from here"));
        if hidden > 0 { error.note(format!("{} lead here", plural(hidden, "further call"))) } else { error }
    }
}

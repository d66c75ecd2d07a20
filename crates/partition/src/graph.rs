//! What is to be split: the ops of a function in their order, and the tensors between them.
//!
//! Regions of control are walked into. Of a loop, what is carried is one tensor, with one layout: the operand becomes it
//! once, what the body yields becomes it in every iteration, and each [`Link`] may cost a conversion.
//!
//! ```text
//! %init ──link──► carried ──► ops of the body ──► yielded ──link, × iterations──► carried ──► uses of the result
//! ```
//!
//! The same holds of the results of branches, and of the state of a step, where a result takes the place of an argument in
//! the next step. A result of the function that is to lie otherwise than the value that is returned is a tensor of its own,
//! too, which that value becomes. Ops that only hand values on are not there at all: their results are their operands.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{
    AttrData, BlockId, Control, ElementType, Module, OpId, Profile, RegionId, SecondaryMap, Trait, Type,
    ValueId,
};
use tofu_sharding::Reducer;
use tofu_tdl::{Combine, Descriptions, Linear, OpaqueRegistry};

use crate::calls::refuse_call;
use crate::op_info::OpInfo;

/// The number of a tensor in its graph.
pub type TensorId = u32;

/// The ops and the tensors of a function.
#[derive(Debug)]
pub struct Graph<'m> {
    /// The program.
    pub module: &'m Module,
    /// The function.
    pub function: OpId,
    /// The ops that compute something, in their order.
    pub ops: Vec<Op>,
    /// The tensors.
    pub tensors: Vec<Tensor>,
    /// What becomes what.
    pub links: Vec<Link>,
    /// The tensors of the arguments of the function; none for what is no tensor.
    pub arguments: Vec<Option<TensorId>>,
    /// The tensors that the function gives: those of the values that are returned, or [of their own](Facts::own_results).
    pub results: Vec<Option<TensorId>>,
    /// What is known of ops; ops that are alike share it.
    pub infos: Vec<OpInfo>,
    of: SecondaryMap<ValueId, Option<TensorId>>,
}

/// An op.
#[derive(Clone, Debug)]
pub struct Op {
    /// In the program.
    pub id: OpId,
    /// How often it is done in a step.
    pub times: u64,
    /// Its operands, none for those that are no tensors.
    pub operands: SmallVec<[Option<TensorId>; 4]>,
    /// Its results.
    pub results: SmallVec<[Option<TensorId>; 1]>,
    /// What is known of it.
    pub kind: OpKind,
}

/// How an op can be done by several devices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OpKind {
    /// As its description says, of that number in [`Graph::infos`].
    Described(u32),
    /// Every device makes any part of it, at no cost: a constant.
    Constant,
    /// Every device does all of it.
    Whole,
}

/// A tensor: a value, or several that are one.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The values, the first one that which gives it its name; none of a result that is a tensor of its own.
    pub values: SmallVec<[ValueId; 1]>,
    /// Its type.
    pub ty: Type,
    /// Its extents.
    pub shape: SmallVec<[u64; 4]>,
    /// The type of its elements.
    pub element: ElementType,
    /// How often it is made in a step.
    pub times: u64,
    /// How many ops and links read it.
    pub uses: u32,
    /// By which reducers it may be partial where it is made: a bit for each, in their order.
    pub partials: u8,
    /// Whether it is in memory, and not only passed on within a kernel.
    pub in_memory: bool,
}

impl Tensor {
    /// Whether it is a result of the function, and no value at all.
    pub fn is_own_result(&self) -> bool {
        self.values.is_empty()
    }

    /// The bytes of all of it.
    pub fn bytes(&self) -> u64 {
        let elements = self.shape.iter().fold(1u64, |product, &extent| product.saturating_mul(extent));
        crate::op_info::bytes(elements, self.element.bits())
    }
}

/// A tensor becomes another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// What.
    pub from: TensorId,
    /// Becomes what.
    pub to: TensorId,
    /// How often in a step.
    pub times: u64,
}

/// What is known of a function besides its ops.
pub struct Facts<'f> {
    /// How often a loop runs.
    pub trips: &'f dyn Fn(OpId) -> Option<u64>,
    /// Which arguments take the value of which results in the next step: their numbers.
    pub ties: &'f [(usize, usize)],
    /// The numbers of the results that are tensors of their own, because something is asked of how they lie: what is returned
    /// becomes them. Others lie as the value does; to have all of them apart would only give searches more to choose from.
    pub own_results: &'f [usize],
    /// Whether a value is in memory, and not only passed on within a kernel.
    pub in_memory: &'f dyn Fn(ValueId) -> bool,
    /// Whether what an op only hands on may lie otherwise behind it: a tensor becomes another one there.
    pub converts: &'f dyn Fn(OpId) -> bool,
}

/// Tensors of more dimensions are refused: what is packed for searches has no room for them.
const MOST_DIMENSIONS: usize = 32;

/// How often loops run of which nothing is known.
const UNKNOWN_TRIPS: u64 = 1;

impl<'m> Graph<'m> {
    /// The graph of a function.
    ///
    /// # Errors
    /// At calls, at tensors whose extents are not known, and at control that goes other ways than regions.
    pub fn of(
        module: &'m Module,
        function: OpId,
        descriptions: &Descriptions,
        facts: &Facts<'_>,
    ) -> Result<Graph<'m>, Diagnostic> {
        let graph = Graph {
            module,
            function,
            ops: Vec::new(),
            tensors: Vec::new(),
            links: Vec::new(),
            arguments: Vec::new(),
            results: Vec::new(),
            infos: Vec::new(),
            of: SecondaryMap::new(),
        };
        let mut walk = Walk {
            graph,
            descriptions,
            functions: OpaqueRegistry::builtin(),
            facts,
            tuples: FxHashMap::default(),
            profiles: FxHashMap::default(),
        };
        let block = only_block(module, function, module.region(function, 0))?;
        for &argument in module.arguments(block) {
            let tensor = walk.add(argument, 1, 0)?;
            walk.graph.arguments.push(tensor);
        }
        walk.function(block)?;
        let mut graph = walk.graph;
        for &result in facts.own_results {
            graph.own_result(result);
        }
        // Nobody else can reduce what the function gives.
        for &result in graph.results.iter().flatten() {
            graph.tensors[result as usize].partials = 0;
        }
        for &(argument, result) in facts.ties {
            let argument = graph.arguments.get(argument).copied().flatten();
            let result = graph.results.get(result).copied().flatten();
            if let (Some(to), Some(from)) = (argument, result)
                && from != to
            {
                graph.link(from, to, 1);
            }
        }
        Ok(graph)
    }

    /// The tensor of a value.
    pub fn tensor_of(&self, value: ValueId) -> Option<TensorId> {
        self.of[value]
    }

    /// What is known of an op that is described.
    pub fn info(&self, op: &Op) -> Option<&OpInfo> {
        match op.kind {
            OpKind::Described(info) => self.infos.get(info as usize),
            OpKind::Constant | OpKind::Whole => None,
        }
    }

    /// Whether an operand may be terms of a sum where it is made.
    pub fn has_terms(&self, op: &Op, operand: usize) -> bool {
        let tensor = op.operands.get(operand).copied().flatten();
        tensor.is_some_and(|tensor| self.tensors[tensor as usize].partials & 1 << Reducer::Sum as u8 != 0)
    }

    /// Makes a result a tensor of its own.
    fn own_result(&mut self, result: usize) {
        let Some(from) = self.results.get(result).copied().flatten() else { return };
        let of = &mut self.tensors[from as usize];
        if of.is_own_result() {
            return;
        }
        // To return it is to let it become the result. Terms of it would be no less to keep, and are nothing to return.
        of.uses -= 1;
        of.partials = 0;
        let own = Tensor {
            values: SmallVec::new(),
            times: 1,
            uses: 0,
            partials: 0,
            in_memory: false,
            ..of.clone()
        };
        let to = self.tensors.len() as TensorId;
        self.tensors.push(own);
        self.results[result] = Some(to);
        self.link(from, to, 1);
    }

    fn link(&mut self, from: TensorId, to: TensorId, times: u64) {
        self.tensors[from as usize].uses += 1;
        self.links.push(Link { from, to, times });
    }
}

struct Walk<'m, 'w> {
    graph: Graph<'m>,
    descriptions: &'w Descriptions,
    functions: OpaqueRegistry,
    facts: &'w Facts<'w>,
    tuples: FxHashMap<ValueId, Vec<Option<TensorId>>>,
    profiles: FxHashMap<Profile, OpKind>,
}

/// A block that is being walked.
struct Frame {
    ops: std::vec::IntoIter<OpId>,
    times: u64,
    end: End,
}

/// What becomes of what a block yields.
enum End {
    /// They are the function's results.
    Results,
    /// They become these, so often.
    Becomes(Vec<Option<TensorId>>, u64),
    /// A device decides by them where to go on.
    Decides,
}

impl Walk<'_, '_> {
    /// Walks depth first, without recursion: programs nest as deep as they like.
    fn function(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        let mut frames = vec![self.frame(block, 1, End::Results)];
        while let Some(frame) = frames.last_mut() {
            let times = frame.times;
            let Some(op) = frame.ops.next() else {
                frames.pop();
                continue;
            };
            let module = self.graph.module;
            match module.def(op).interface::<Control>() {
                Some(Control::Yield) => {
                    let given = self.tensors(op);
                    match &frame.end {
                        End::Results => {
                            for &tensor in given.iter().flatten() {
                                self.graph.tensors[tensor as usize].uses += 1;
                            }
                            self.graph.results = given;
                        }
                        End::Becomes(to, times) => {
                            let pairs: Vec<_> = given.into_iter().zip(to.clone()).collect();
                            let times = *times;
                            for (from, to) in pairs {
                                if let (Some(from), Some(to)) = (from, to) {
                                    self.graph.link(from, to, times);
                                }
                            }
                        }
                        End::Decides => self.push_op(op, times, OpKind::Whole)?,
                    }
                }
                Some(Control::While) => frames.extend(self.enter_loop(op, times)?),
                Some(Control::If | Control::Case) => frames.extend(self.enter_branches(op, times)?),
                Some(Control::Forward) => {
                    let given = self.tensors(op);
                    let converts = (self.facts.converts)(op);
                    for (result, from) in module.results(op).zip(given) {
                        match from.filter(|_| converts) {
                            Some(from) => {
                                if let Some(to) = self.add(result, times, 0)? {
                                    self.graph.link(from, to, times);
                                }
                            }
                            None => self.alias(result, from),
                        }
                    }
                }
                Some(Control::Tuple) => {
                    let given = self.tensors(op);
                    self.tuples.insert(module.result(op, 0), given);
                }
                Some(Control::Element(attribute)) => {
                    let index = match module.attr_value(op, attribute) {
                        Some(&AttrData::Int(value, _)) => usize::try_from(value).ok(),
                        _ => None,
                    };
                    let tuple = self.tuples.get(&module.operand(op, 0));
                    let tensor =
                        tuple.zip(index).and_then(|(tuple, index)| tuple.get(index).copied().flatten());
                    match tensor {
                        Some(tensor) => self.alias(module.result(op, 0), Some(tensor)),
                        None => self.push_op(op, times, OpKind::Whole)?,
                    }
                }
                Some(Control::Token) => {}
                Some(&Control::Call(callee)) => return Err(refuse_call(module, op, callee)),
                None => {
                    let kind = self.kind(op);
                    self.push_op(op, times, kind)?;
                }
            }
        }
        Ok(())
    }

    fn frame(&self, block: BlockId, times: u64, end: End) -> Frame {
        let ops: Vec<OpId> = self.graph.module.ops(block).collect();
        Frame { ops: ops.into_iter(), times, end }
    }

    /// What is carried is one tensor: the arguments of both regions, and the result.
    fn enter_loop(&mut self, op: OpId, times: u64) -> Result<Vec<Frame>, Diagnostic> {
        let module = self.graph.module;
        let blocks: Vec<BlockId> =
            module.regions(op).map(|region| only_block(module, op, region)).collect::<Result<_, _>>()?;
        let [condition, body] = blocks[..] else {
            return Err(module.error(op, &codes::CANNOT_PARTITION, "a loop has a condition and a body"));
        };
        let trips = (self.facts.trips)(op).unwrap_or(UNKNOWN_TRIPS);
        let inside = times.saturating_mul(trips);
        let operands = self.tensors(op);
        let mut carried = Vec::with_capacity(operands.len());
        for (place, operand) in operands.into_iter().enumerate() {
            let tensor = self.add(module.result(op, place), times, 0)?;
            for block in [condition, body] {
                if let Some(&argument) = module.arguments(block).get(place) {
                    self.alias(argument, tensor);
                }
            }
            if let (Some(from), Some(to)) = (operand, tensor) {
                self.graph.link(from, to, times);
            }
            carried.push(tensor);
        }
        // The last one is walked first.
        let checks = times.saturating_mul(trips.saturating_add(1));
        Ok(vec![
            self.frame(body, inside, End::Becomes(carried, inside)),
            self.frame(condition, checks, End::Decides),
        ])
    }

    /// All branches are counted: which one is taken is not known.
    fn enter_branches(&mut self, op: OpId, times: u64) -> Result<Vec<Frame>, Diagnostic> {
        let module = self.graph.module;
        let decides = self.tensors(op).first().copied().flatten();
        let mut given = Vec::new();
        for result in module.results(op) {
            given.push(self.add(result, times, 0)?);
        }
        if let Some(tensor) = decides {
            self.graph.tensors[tensor as usize].uses += 1;
            let operands = SmallVec::from_slice(&[Some(tensor)]);
            self.graph.ops.push(Op {
                id: op,
                times,
                operands,
                results: SmallVec::new(),
                kind: OpKind::Whole,
            });
        }
        let mut frames = Vec::new();
        for region in module.regions(op) {
            let block = only_block(module, op, region)?;
            frames.push(self.frame(block, times, End::Becomes(given.clone(), times)));
        }
        frames.reverse();
        Ok(frames)
    }

    fn tensors(&self, op: OpId) -> Vec<Option<TensorId>> {
        self.graph.module.operands(op).map(|operand| self.graph.of[operand]).collect()
    }

    fn alias(&mut self, value: ValueId, tensor: Option<TensorId>) {
        self.graph.of[value] = tensor;
        if let Some(tensor) = tensor {
            self.graph.tensors[tensor as usize].values.push(value);
        }
    }

    /// A tensor of its own for a value; none if it is no tensor.
    fn add(&mut self, value: ValueId, times: u64, partials: u8) -> Result<Option<TensorId>, Diagnostic> {
        let module = self.graph.module;
        let Some(ty) = module.tensor_type(value) else { return Ok(None) };
        let Some(shape) = ty.static_dims() else {
            let message = format!("the extents of {} are not known", module.quoted_value(value));
            let error = Diagnostic::error(&codes::CANNOT_PARTITION, module.value_span(value), message);
            return Err(error.help("give the arguments static shapes and run `infer-shapes` first"));
        };
        if shape.len() > MOST_DIMENSIONS {
            let message = format!("{} has {} dimensions", module.quoted_value(value), shape.len());
            let error = Diagnostic::error(&codes::CANNOT_PARTITION, module.value_span(value), message);
            return Err(
                error.help(format!("tensors of up to {MOST_DIMENSIONS} dimensions can be partitioned"))
            );
        }
        let tensor = self.graph.tensors.len() as TensorId;
        self.graph.tensors.push(Tensor {
            values: SmallVec::from_slice(&[value]),
            ty: module.ty(value),
            shape,
            element: ty.element,
            times,
            uses: 0,
            partials,
            in_memory: (self.facts.in_memory)(value),
        });
        self.graph.of[value] = Some(tensor);
        Ok(Some(tensor))
    }

    fn push_op(&mut self, op: OpId, times: u64, kind: OpKind) -> Result<(), Diagnostic> {
        let operands: SmallVec<[Option<TensorId>; 4]> = self.tensors(op).into_iter().collect();
        for &tensor in operands.iter().flatten() {
            self.graph.tensors[tensor as usize].uses += 1;
        }
        let mut results = SmallVec::new();
        for (number, result) in self.graph.module.results(op).enumerate() {
            let partials = self.partials(kind, &operands, number);
            results.push(self.add(result, times, partials)?);
        }
        self.graph.ops.push(Op { id: op, times, operands, results, kind });
        Ok(())
    }

    /// By which reducers a result may be partial.
    fn partials(&self, kind: OpKind, operands: &[Option<TensorId>], result: usize) -> u8 {
        let OpKind::Described(info) = kind else { return 0 };
        let info = &self.graph.infos[info as usize];
        let made = info.analysis.strategies.iter().filter(|strategy| strategy.carried.is_empty());
        let made = made.filter_map(|strategy| match strategy.outputs.get(result)? {
            Combine::Partial { reducer, .. } => Reducer::of_description(*reducer),
            Combine::Concat { .. } | Combine::Replicated => None,
        });
        let sum = 1 << Reducer::Sum as u8;
        let has_terms = |&operand: &usize| {
            let tensor = operands.get(operand).copied().flatten();
            tensor.is_some_and(|tensor| self.graph.tensors[tensor as usize].partials & sum != 0)
        };
        let passes = |linear: &Linear| {
            linear.results.get(result) == Some(&true) && linear.partial.iter().any(has_terms)
        };
        let passed = info.analysis.linear.iter().any(passes);
        made.fold(if passed { sum } else { 0 }, |bits, reducer| bits | 1 << reducer as u8)
    }

    fn kind(&mut self, op: OpId) -> OpKind {
        let module = self.graph.module;
        let profile = Profile::of(module, op);
        if let Some(&kind) = profile.as_ref().and_then(|profile| self.profiles.get(profile)) {
            return kind;
        }
        let kind = if module.has(op, Trait::Constant) {
            OpKind::Constant
        } else if let Some(info) = OpInfo::of(module, op, self.descriptions, &self.functions) {
            self.graph.infos.push(info);
            OpKind::Described((self.graph.infos.len() - 1) as u32)
        } else {
            OpKind::Whole
        };
        if let Some(profile) = profile {
            self.profiles.insert(profile, kind);
        }
        kind
    }
}

fn only_block(module: &Module, op: OpId, region: RegionId) -> Result<BlockId, Diagnostic> {
    match module.blocks(region) {
        [block] => Ok(*block),
        _ => Err(module.error(op, &codes::CANNOT_PARTITION, "only regions of one block can be partitioned")),
    }
}

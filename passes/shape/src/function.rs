//! What the ops of a function say of the extents of its values.
//!
//! Each extent of each tensor is a node, and so is each number and each name; what is found equal is united. An op with a
//! description says its equations: its operands and results, with one name for each set of equal extents, go into the
//! solver, and whatever comes out under the same name or as the same number is equal. Forward and backward are the same
//! equations.
//!
//! What an op says holds where the op is executed. An op in a branch or a loop may never be: what it says is used for the
//! values in there, and taken back at the end of the region. What comes out of it:
//!
//! ```text
//!  %r = if … ({ yield %a }, { yield %b })    an extent of %r is one that both %a and %b have
//!  %r = while %x (… ^body(%y): yield %z)     an extent of %r is that of %x, if %z has that of %y whenever %y has that of %x
//! ```
//!
//! The ops of a block are walked forward and then backward, until the walk over the function's own block finds nothing
//! more. Each walk but the last unites two sets, of which there are no more than extents, so there is an end.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_dialect_func as func;
use tofu_ir::{
    BlockId, Control, Dim, EntityId, FunctionType, Module, Name, OpId, Profile, SecondaryMap, TensorType,
    Type, TypeData, ValueId,
};
use tofu_tdl::{Describe, Description, describe, solve_op_as};

use crate::classes::{Classes, Node};
use crate::fixed::{is_walked, yielded};

/// Loops that are nested deeper than this are taken to change every extent that they may change: each assumption about a
/// loop may take another walk through it.
const MAX_ASSUMING_LOOPS: u32 = 4;

/// How often a loop is walked through, each time with less assumed.
const MAX_ASSUMPTIONS: u32 = 3;

/// A conflict shows no more than so many ops that it follows from.
const MAX_CAUSES: usize = 4;

/// The extents of a type.
pub(crate) type Dims = SmallVec<[Dim; 4]>;

/// What was found out about a function.
pub(crate) struct Found {
    /// The extents of its values, as far as they are seen there.
    pub(crate) dims: SecondaryMap<ValueId, Option<Dims>>,
    /// What it says of what it takes and gives.
    pub(crate) summary: Summary,
    /// What cannot be, by op.
    pub(crate) conflicts: Vec<(OpId, Diagnostic)>,
    /// Whether there is nothing more to be found.
    pub(crate) is_complete: bool,
}

/// What a function says of the extents of its arguments and results, whenever it is executed: for each extent a number, or
/// which of them are equal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Summary(Vec<Label>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    Number(u64),
    Set(u32),
}

impl Summary {
    /// What its signature says.
    pub(crate) fn of_signature(module: &Module, signature: &FunctionType) -> Summary {
        let mut names: FxHashMap<Name, u32> = FxHashMap::default();
        let mut next = 0;
        let mut fresh = || {
            next += 1;
            Label::Set(next)
        };
        let types = signature.inputs.iter().chain(&signature.results);
        let dims = types.flat_map(|&ty| dims_of(module, ty));
        let labels = dims.map(|&dim| match dim {
            Dim::Static(size) => Label::Number(size),
            Dim::Symbol(name) => match names.get(&name) {
                Some(&set) => Label::Set(set),
                None => {
                    let label = fresh();
                    if let Label::Set(set) = label {
                        names.insert(name, set);
                    }
                    label
                }
            },
            Dim::Unknown => fresh(),
        });
        Summary(labels.collect())
    }
}

fn dims_of(module: &Module, ty: Type) -> &[Dim] {
    match module.type_data(ty) {
        TypeData::Tensor(tensor) => &tensor.dims,
        _ => &[],
    }
}

/// An extent of an argument that all calls give.
pub(crate) struct Given {
    /// The argument.
    pub(crate) argument: ValueId,
    /// Which of its dimensions.
    pub(crate) dim: usize,
    /// The extent.
    pub(crate) size: u64,
    /// One of the calls.
    pub(crate) call: OpId,
}

/// What is known from outside of the function that is looked at.
pub(crate) struct Context<'a> {
    /// What the functions of the program say.
    pub(crate) summaries: &'a FxHashMap<OpId, Summary>,
    /// Extents of its arguments that are the same number wherever it is called.
    pub(crate) given: &'a [Given],
    /// Descriptions of the ops of the program.
    pub(crate) descriptions: &'a mut FxHashMap<Profile, Description>,
    /// How many walks to take at most.
    pub(crate) max_walks: u32,
}

/// Finds out what there is to know about the extents in a function with a body.
pub(crate) fn analyse(module: &Module, function: OpId, context: &mut Context<'_>) -> Found {
    let mut walk = Walk {
        module,
        context,
        classes: Classes::default(),
        first: SecondaryMap::new(),
        numbers: FxHashMap::default(),
        symbols: FxHashMap::default(),
        names: Vec::new(),
        dims: SecondaryMap::new(),
        conflicts: Vec::new(),
        at: function,
        depth: 0,
        loops: 0,
        has_learned: false,
    };
    walk.number_values(function);
    for given in walk.context.given {
        let (node, number) = (walk.node(given.argument, given.dim), walk.number(given.size));
        walk.at = given.call;
        if let Some(node) = node {
            // Where the signature says something else, the calls are wrong and the verifier has said so.
            walk.unite(node, number);
        }
    }
    let blocks: Vec<BlockId> =
        module.regions(function).flat_map(|region| module.blocks(region)).copied().collect();
    let mut is_complete = false;
    for _ in 0..walk.context.max_walks {
        walk.has_learned = false;
        for (index, &block) in blocks.iter().enumerate() {
            // Whether other blocks than the entry are executed is not known.
            if index == 0 {
                walk.block(block)
            } else {
                walk.aside(|walk| walk.block(block))
            };
        }
        if !walk.has_learned {
            is_complete = true;
            break;
        }
    }
    let summary = walk.summary(function, &blocks);
    Found { dims: walk.dims, summary, conflicts: walk.conflicts, is_complete }
}

/// An extent of what a region gives, seen from outside: the number that it is, and an extent that is equal to it.
type Seen = (Option<u64>, Option<Node>);

struct Walk<'a, 'c> {
    module: &'a Module,
    context: &'a mut Context<'c>,
    classes: Classes,
    /// The node of the first extent of each tensor; the others follow.
    first: SecondaryMap<ValueId, Option<Node>>,
    numbers: FxHashMap<u64, Node>,
    symbols: FxHashMap<Name, Node>,
    /// The names, in the order of the program.
    names: Vec<Name>,
    dims: SecondaryMap<ValueId, Option<Dims>>,
    conflicts: Vec<(OpId, Diagnostic)>,
    /// The op that is looked at.
    at: OpId,
    /// How many regions are open that may not be executed.
    depth: u32,
    /// How many loops are open.
    loops: u32,
    /// Whether this walk has found something that holds in the whole function.
    has_learned: bool,
}

impl<'a> Walk<'a, '_> {
    // Nodes.

    /// Makes the nodes of all values in the function, each block's before those of the regions in it.
    fn number_values(&mut self, function: OpId) {
        let mut pending = vec![(function, 0)];
        while let Some((op, depth)) = pending.pop() {
            let before = pending.len();
            for region in self.module.regions(op) {
                for (index, &block) in self.module.blocks(region).iter().enumerate() {
                    let depth = if op == function && index == 0 { 0 } else { depth + 1 };
                    self.module
                        .arguments(block)
                        .iter()
                        .for_each(|&argument| self.number_value(argument, depth));
                    for inner in self.module.ops(block) {
                        self.module.results(inner).for_each(|result| self.number_value(result, depth));
                        if is_walked(self.module, inner) {
                            pending.push((inner, depth));
                        }
                    }
                }
            }
            pending[before..].reverse();
        }
    }

    fn number_value(&mut self, value: ValueId, depth: u32) {
        let Some(tensor) = self.module.tensor_type(value) else { return };
        let nodes: SmallVec<[Node; 4]> = tensor.dims.iter().map(|_| self.classes.add(depth)).collect();
        self.first[value] = nodes.first().copied();
        for (node, &dim) in nodes.into_iter().zip(&tensor.dims) {
            let known = match dim {
                Dim::Static(size) => self.number(size),
                Dim::Symbol(name) => self.symbol(name),
                Dim::Unknown => continue,
            };
            // Two sets of which one is new.
            let _ = self.classes.union(node, known, None);
        }
    }

    fn number(&mut self, size: u64) -> Node {
        let classes = &mut self.classes;
        *self.numbers.entry(size).or_insert_with(|| classes.add_number(size))
    }

    fn symbol(&mut self, name: Name) -> Node {
        let (classes, names) = (&mut self.classes, &mut self.names);
        *self.symbols.entry(name).or_insert_with(|| {
            names.push(name);
            classes.add_symbol(names.len() as u32 - 1)
        })
    }

    fn node(&self, value: ValueId, dim: usize) -> Option<Node> {
        Some(self.first[value]? + dim as Node)
    }

    fn rank(&self, value: ValueId) -> usize {
        self.module.tensor_type(value).map_or(0, TensorType::rank)
    }

    /// The nodes of a value's extents.
    fn nodes(&self, value: ValueId) -> impl Iterator<Item = Node> + use<> {
        let first = self.first[value].unwrap_or(0);
        first..first + self.rank(value) as Node
    }

    /// Makes two extents equal; whether they can be.
    fn unite(&mut self, a: Node, b: Node) -> bool {
        match self.classes.union(a, b, Some(self.at)) {
            Ok(is_new) => {
                self.has_learned |= is_new && self.depth == 0;
                true
            }
            Err(_) => false,
        }
    }

    // Blocks and regions.

    /// Looks at something that may not be executed: what is learned there is used there only.
    fn aside<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.classes.mark();
        self.depth += 1;
        let result = look(self);
        self.depth -= 1;
        self.classes.rollback(mark);
        result
    }

    fn block(&mut self, block: BlockId) {
        let ops: Vec<OpId> = self.module.ops(block).collect();
        ops.iter().for_each(|&op| self.op(op, true));
        ops.iter().rev().for_each(|&op| self.op(op, false));
        for &argument in self.module.arguments(block) {
            self.keep(argument);
        }
        for result in ops.into_iter().flat_map(|op| self.module.results(op)) {
            self.keep(result);
        }
    }

    /// Notes what is known of a value here.
    fn keep(&mut self, value: ValueId) {
        let Some(tensor) = self.module.tensor_type(value) else { return };
        let dims = tensor.dims.iter().zip(self.nodes(value)).map(|(&written, node)| {
            let facts = self.classes.facts(node);
            match (facts.number, facts.symbol) {
                (Some(size), _) => Dim::Static(size),
                (None, Some(order)) => Dim::Symbol(self.names[order as usize]),
                (None, None) => written,
            }
        });
        self.dims[value] = Some(dims.collect());
    }

    /// Looks at an op; at regions only on the way forward, so that a region is walked through no more often than what
    /// is around it.
    fn op(&mut self, op: OpId, is_forward: bool) {
        self.at = op;
        let def = self.module.def(op);
        match def.interface::<Control>() {
            Some(Control::While) if is_forward => self.repeat(op),
            Some(Control::Case | Control::If) if is_forward => self.branch(op),
            Some(Control::Call(callee)) => self.call(op, callee),
            Some(Control::Forward) => {
                let operands: Vec<ValueId> = self.module.operands(op).collect();
                for (operand, result) in operands.into_iter().zip(self.module.results(op)) {
                    self.unite_values(operand, result);
                }
            }
            Some(_) => {}
            None if def.interface::<Describe>().is_some() => self.described(op),
            None if is_forward => {
                for &block in self.module.regions(op).flat_map(|region| self.module.blocks(region)) {
                    self.aside(|walk| walk.block(block));
                }
            }
            None => {}
        }
    }

    fn unite_values(&mut self, a: ValueId, b: ValueId) -> bool {
        let pairs: SmallVec<[(Node, Node); 4]> = self.nodes(a).zip(self.nodes(b)).collect();
        pairs.into_iter().all(|(a, b)| self.unite(a, b))
    }

    /// One of several regions gives the results.
    fn branch(&mut self, op: OpId) {
        let results: Vec<Node> = self.module.results(op).flat_map(|result| self.nodes(result)).collect();
        let mut common: Option<Vec<Seen>> = None;
        for block in self.module.regions(op).filter_map(|region| self.module.entry(region)) {
            let outer = self.depth;
            let given: Vec<Seen> = self.aside(|walk| {
                walk.block(block);
                let values = yielded(walk.module, block).into_iter();
                let nodes = values.flat_map(|value| walk.nodes(value).collect::<Vec<_>>());
                nodes
                    .map(|node| (walk.classes.facts(node).number, walk.classes.seen_from(node, outer)))
                    .collect()
            });
            let agree = |a: Seen, b: Seen| -> Seen {
                let same = a.1.filter(|&a| b.1.is_some_and(|b| self.is_same(a, b)));
                (a.0.filter(|_| a.0 == b.0), same)
            };
            common = Some(match common {
                None => given,
                Some(common) => common.into_iter().zip(given).map(|(a, b)| agree(a, b)).collect(),
            });
        }
        self.at = op;
        for (result, (size, node)) in results.into_iter().zip(common.unwrap_or_default()) {
            let number = size.map(|size| self.number(size));
            for known in number.into_iter().chain(node) {
                self.unite(result, known);
            }
        }
    }

    fn is_same(&self, a: Node, b: Node) -> bool {
        self.classes.find(a) == self.classes.find(b)
    }

    /// A region is repeated with what it yields. That an extent stays the same in all rounds is assumed, and the
    /// assumption dropped where the region does not bear it out.
    fn repeat(&mut self, op: OpId) {
        let operands: Vec<Node> = self.module.operands(op).flat_map(|operand| self.nodes(operand)).collect();
        self.loops += 1;
        let mut stays = vec![self.loops <= MAX_ASSUMING_LOOPS; operands.len()];
        for attempt in 1..=MAX_ASSUMPTIONS {
            let known = self.conflicts.len();
            let mut broken = self.round(op, &operands, &stays);
            // What cannot be may be the assumption's fault.
            if self.conflicts.len() > known && stays.contains(&true) {
                self.conflicts.truncate(known);
                broken = vec![true; stays.len()];
            }
            if !broken.contains(&true) {
                break;
            }
            for (stays, is_broken) in stays.iter_mut().zip(broken) {
                *stays &= !is_broken && attempt + 1 < MAX_ASSUMPTIONS;
            }
        }
        self.loops -= 1;
        self.at = op;
        let results: Vec<Node> = self.module.results(op).flat_map(|result| self.nodes(result)).collect();
        for ((result, operand), stays) in results.into_iter().zip(operands).zip(stays) {
            if stays {
                self.unite(result, operand);
            }
        }
    }

    /// Walks through the regions of a loop once. Which of the extents that are assumed to stay do not.
    fn round(&mut self, op: OpId, operands: &[Node], stays: &[bool]) -> Vec<bool> {
        let mut broken = vec![false; stays.len()];
        for (number, block) in self.module.regions(op).map(|region| self.module.entry(region)).enumerate() {
            let Some(block) = block else { continue };
            self.aside(|walk| {
                let arguments = walk.module.arguments(block).iter();
                let arguments: Vec<Node> = arguments.flat_map(|&argument| walk.nodes(argument)).collect();
                walk.at = op;
                for ((&argument, &operand), _) in
                    arguments.iter().zip(operands).zip(stays).filter(|pair| *pair.1)
                {
                    walk.unite(argument, operand);
                }
                walk.block(block);
                if number == 1 {
                    let yielded = yielded(walk.module, block).into_iter();
                    let yielded: Vec<Node> =
                        yielded.flat_map(|value| walk.nodes(value).collect::<Vec<_>>()).collect();
                    for (index, (&next, &operand)) in yielded.iter().zip(operands).enumerate() {
                        broken[index] = stays[index] && !walk.is_same(next, operand);
                    }
                }
            });
        }
        broken
    }

    // Ops.

    fn described(&mut self, op: OpId) {
        let description = match self.description(op) {
            Ok(description) => description,
            // Its operands fit when they were known less well.
            Err(diagnostic) => return self.conflict(op, diagnostic),
        };
        let Some(operands) = self.types(self.module.operands(op)) else { return };
        let Some(results) = self.types(self.module.results(op)) else { return };
        let is_known = |ty: &TensorType| ty.static_dims().is_some();
        if operands.iter().chain(&results).all(is_known) && self.is_written(op) {
            return;
        }
        let solution = match solve_op_as(self.module, op, &description, &operands, &results) {
            Ok(solution) => solution,
            Err(diagnostic) => return self.conflict(op, diagnostic),
        };
        let values: Vec<ValueId> = self.module.operands(op).chain(self.module.results(op)).collect();
        let types = solution.operands.iter().chain(&solution.results);
        let mut can_be = true;
        for (value, ty) in values.into_iter().zip(types) {
            for (node, &dim) in self.nodes(value).zip(&ty.dims) {
                can_be &= self.node_of(dim).is_none_or(|known| self.unite(node, known));
            }
        }
        for (left, right) in solution.assumptions {
            if let (Some(left), Some(right)) = (self.node_of(left), self.node_of(right)) {
                can_be &= self.unite(left, right);
            }
        }
        if !can_be {
            let name = self.module.def(op).written_name();
            let message = format!("`{name}`: an extent would have to be two different numbers");
            self.conflict(op, self.module.error(op, &codes::SHAPE_MISMATCH, message));
        }
    }

    fn description(&mut self, op: OpId) -> Result<Description, Diagnostic> {
        let profile = Profile::of(self.module, op);
        if let Some(known) = profile.as_ref().and_then(|profile| self.context.descriptions.get(profile)) {
            return Ok(known.clone());
        }
        let description = describe(self.module, op)?;
        self.context.descriptions.extend(profile.map(|profile| (profile, description.clone())));
        Ok(description)
    }

    /// The types of values, with one name for each set of equal extents; none if one is no tensor.
    fn types(&self, values: impl Iterator<Item = ValueId>) -> Option<Vec<TensorType>> {
        let ty = |value: ValueId| {
            let element = self.module.tensor_type(value)?.element;
            Some(TensorType { dims: self.nodes(value).map(|node| self.dim(node)).collect(), element })
        };
        values.map(ty).collect()
    }

    /// Whether the types of all operands and results are written as they are known.
    fn is_written(&self, op: OpId) -> bool {
        let mut values = self.module.operands(op).chain(self.module.results(op));
        values.all(|value| self.module.tensor_type(value).is_none_or(|ty| ty.static_dims().is_some()))
    }

    fn dim(&self, node: Node) -> Dim {
        match self.classes.facts(node).number {
            Some(size) => Dim::Static(size),
            None => Dim::Symbol(Name::from_index(FIRST_SET + self.classes.find(node) as usize)),
        }
    }

    fn node_of(&mut self, dim: Dim) -> Option<Node> {
        match dim {
            Dim::Static(size) => Some(self.number(size)),
            Dim::Symbol(name) => name.index().checked_sub(FIRST_SET).map(|set| set as Node),
            Dim::Unknown => None,
        }
    }

    /// What the function that is called says of what it takes and gives.
    fn call(&mut self, op: OpId, callee: &str) {
        let Some(target) = self.module.symbol_target(op, callee) else { return };
        let Some(summary) = self.context.summaries.get(&target) else { return };
        let labels = summary.0.clone();
        let values: Vec<ValueId> = self.module.operands(op).chain(self.module.results(op)).collect();
        let extents: Vec<(usize, usize, Node)> = values
            .iter()
            .enumerate()
            .flat_map(|(index, &value)| {
                self.nodes(value).enumerate().map(move |(dim, node)| (index, dim, node))
            })
            .collect();
        let mut sets: FxHashMap<u32, (usize, usize, Node)> = FxHashMap::default();
        for (&(index, dim, node), label) in extents.iter().zip(labels) {
            let (known, other) = match label {
                Label::Number(size) => (self.number(size), None),
                Label::Set(set) => match sets.get(&set) {
                    Some(&(other, dim, known)) => (known, Some((other, dim))),
                    None => {
                        sets.insert(set, (index, dim, node));
                        continue;
                    }
                },
            };
            if !self.unite(node, known) {
                let conflict = self.wrong_call(op, target, (index, dim, node), known, other);
                return self.conflict(op, conflict);
            }
        }
    }

    // Conflicts.

    fn wrong_call(
        &self,
        op: OpId,
        target: OpId,
        (index, dim, node): (usize, usize, Node),
        known: Node,
        other: Option<(usize, usize)>,
    ) -> Diagnostic {
        let module = self.module;
        let size =
            |node| self.classes.facts(node).number.map_or("unknown".to_owned(), |size| size.to_string());
        let count = module.operand_count(op);
        let value = |index: usize| {
            if index < count { module.operand(op, index) } else { module.result(op, index - count) }
        };
        let place = |index: usize| {
            if index < count { module.operand_span(op, index) } else { module.value_span(value(index)) }
        };
        let name = module.symbol_name(target).map_or("", |name| module.text(name));
        let wanted = match other {
            None => size(known),
            Some((other, dim)) => {
                format!("dimension {dim} of {}, {}", module.quoted_value(value(other)), size(known))
            }
        };
        let message = format!(
            "dimension {dim} of {} is {}, but in `@{name}` it is {wanted}",
            module.quoted_value(value(index)),
            size(node)
        );
        let diagnostic = Diagnostic::error(&codes::SHAPE_MISMATCH, place(index), message)
            .secondary(module.span(target), "the function is defined here");
        match other {
            Some((other, _)) if other != index => {
                diagnostic.secondary(place(other), format!("`{}`", module.type_text(module.ty(value(other)))))
            }
            _ => diagnostic,
        }
    }

    /// Reports what cannot be, once for each op, with the ops that say so.
    fn conflict(&mut self, op: OpId, mut diagnostic: Diagnostic) {
        if self.conflicts.iter().any(|&(known, _)| known == op) {
            return;
        }
        let mut causes: Vec<(Span, String)> = Vec::new();
        for value in self.module.operands(op).chain(self.module.results(op)) {
            for (dim, node) in self.nodes(value).enumerate() {
                let facts = self.classes.facts(node);
                let is_written =
                    self.module.tensor_type(value).is_some_and(|ty| ty.dims[dim].size().is_some());
                if let (Some(size), Some(cause), false) = (facts.number, facts.cause, is_written)
                    && cause != op
                {
                    let value = self.module.quoted_value(value);
                    causes.push((
                        self.module.span(cause),
                        format!("dimension {dim} of {value} is {size} by this op"),
                    ));
                }
            }
        }
        causes.truncate(MAX_CAUSES);
        for (span, text) in causes {
            diagnostic = diagnostic.secondary(span, text);
        }
        self.conflicts.push((op, diagnostic));
    }

    // The function as a whole.

    fn summary(&self, function: OpId, blocks: &[BlockId]) -> Summary {
        let Some(signature) = func::signature(self.module, function) else { return Summary::default() };
        let &[entry] = blocks else { return Summary::of_signature(self.module, signature) };
        let values = self.module.arguments(entry).iter().copied().chain(yielded(self.module, entry));
        let mut sets: FxHashMap<Node, u32> = FxHashMap::default();
        let labels =
            values.flat_map(|value| self.nodes(value)).map(|node| match self.classes.facts(node).number {
                Some(size) => Label::Number(size),
                None => {
                    let next = sets.len() as u32;
                    Label::Set(*sets.entry(self.classes.find(node)).or_insert(next))
                }
            });
        Summary(labels.collect())
    }
}

/// The solver tells sets of extents apart by names that stand in no text, and that it hands back as they are: those from
/// this index on.
const FIRST_SET: usize = 1 << 31;

//! The program: one [`Module`] owns every op, value, block and region, in dense arenas.
//!
//! This file holds the data and the reading of it; `edit.rs` holds every change, so that the links below are kept in
//! one place:
//!
//! - an op knows its block and its neighbours in it, a block its region, a region its op;
//! - ops of a block carry ascending order keys, so that "which comes first" needs no walk (`order.rs`);
//! - operands are slots in the `uses` arena, chained into one list for each value, so that all uses of a value are
//!   known and replacing it costs one step a use;
//! - an erased entity stays in its arena as a tombstone and its id is never given out again.

use std::sync::Arc;

use smallvec::SmallVec;
use tofu_diagnostics::{Code, Diagnostic, Span};

use crate::memo::Memos;
use crate::symbols::SymbolIndex;
use crate::{
    Arena, Attr, AttrData, EntityId, Interner, Location, LocationData, Name, OpDef, OpState, Registry,
    SYMBOL_NAME, SecondaryMap, TensorType, Trait, Type, TypeData, builtin, write_location,
};

crate::entity_ids! {
    /// An op of a module.
    OpId = "op";
    /// A value: a result of an op or an argument of a block.
    ValueId = "value";
    /// A block of a region.
    BlockId = "block";
    /// A region of an op.
    RegionId = "region";
    /// An operand slot of an op.
    UseId = "use";
}

/// A whole program.
#[derive(Clone, Debug)]
pub struct Module {
    /// The names, types, attributes and locations.
    pub interner: Interner,
    pub(crate) registry: Arc<Registry>,
    pub(crate) ops: Arena<OpId, OpData>,
    pub(crate) values: Arena<ValueId, ValueData>,
    pub(crate) blocks: Arena<BlockId, BlockData>,
    pub(crate) regions: Arena<RegionId, RegionData>,
    pub(crate) uses: Arena<UseId, UseData>,
    pub(crate) value_names: SecondaryMap<ValueId, Option<Name>>,
    pub(crate) block_names: SecondaryMap<BlockId, Option<Name>>,
    pub(crate) spans: SecondaryMap<OpId, OpSpans>,
    pub(crate) operand_spans: Vec<Span>,
    /// Those of each op in the order of the keys' text.
    pub(crate) attr_spans: Vec<(Name, Span)>,
    pub(crate) value_spans: SecondaryMap<ValueId, Span>,
    pub(crate) root: OpId,
    pub(crate) symbols: SymbolIndex,
    pub(crate) memos: Memos,
}

#[derive(Clone, Debug)]
pub(crate) struct OpData {
    pub(crate) def: &'static OpDef,
    pub(crate) attrs: Attr,
    pub(crate) location: Location,
    pub(crate) block: Option<BlockId>,
    pub(crate) previous: Option<OpId>,
    pub(crate) next: Option<OpId>,
    pub(crate) order: u64,
    pub(crate) first_use: u32,
    pub(crate) use_count: u32,
    pub(crate) first_result: u32,
    pub(crate) result_count: u32,
    pub(crate) first_region: u32,
    pub(crate) region_count: u16,
    pub(crate) erased: bool,
    /// Rare, so kept out of line.
    pub(crate) successors: Option<Box<Successors>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Successors {
    list: Box<[Successor]>,
    /// How many operands go to those before each, and last, to all.
    starts: Box<[usize]>,
}

impl Successors {
    pub(crate) fn new(list: Vec<Successor>) -> Option<Box<Successors>> {
        if list.is_empty() {
            return None;
        }
        let mut starts = vec![0usize];
        let mut total = 0usize;
        for successor in &list {
            total = total.saturating_add(successor.argument_count as usize);
            starts.push(total);
        }
        Some(Box::new(Successors { list: list.into(), starts: starts.into() }))
    }
}

/// A block that a terminator may continue at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Successor {
    /// The block.
    pub block: BlockId,
    /// How many of the op's last operands are handed to it; those of several successors follow one another.
    pub argument_count: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct ValueData {
    pub(crate) ty: Type,
    pub(crate) definition: Definition,
    pub(crate) first_use: Option<UseId>,
    pub(crate) last_use: Option<UseId>,
}

/// What defines a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definition {
    /// Result number `index` of an op.
    Result {
        /// The op.
        op: OpId,
        /// Which result.
        index: u32,
    },
    /// Argument number `index` of a block.
    Argument {
        /// The block.
        block: BlockId,
        /// Which argument.
        index: u32,
    },
    /// Nothing, or nothing any more. A parser makes such values for uses that come before the definition.
    None,
}

#[derive(Clone, Debug)]
pub(crate) struct UseData {
    pub(crate) value: ValueId,
    pub(crate) user: OpId,
    pub(crate) previous: Option<UseId>,
    pub(crate) next: Option<UseId>,
}

#[derive(Clone, Debug)]
pub(crate) struct BlockData {
    pub(crate) region: Option<RegionId>,
    pub(crate) arguments: SmallVec<[ValueId; 2]>,
    pub(crate) first: Option<OpId>,
    pub(crate) last: Option<OpId>,
    pub(crate) erased: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct RegionData {
    pub(crate) op: OpId,
    pub(crate) blocks: Vec<BlockId>,
}

/// Where the parts of an op are written: its name here, operands and attributes in their pools.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpSpans {
    pub(crate) name: Span,
    pub(crate) whole: Span,
    pub(crate) first_operand: u32,
    pub(crate) operand_count: u32,
    pub(crate) first_attr: u32,
    pub(crate) attr_count: u32,
}

impl Module {
    /// An empty program.
    pub fn new(registry: Arc<Registry>) -> Module {
        let interner = Interner::new();
        let mut module = Module {
            interner,
            registry,
            ops: Arena::new(),
            values: Arena::new(),
            blocks: Arena::new(),
            regions: Arena::new(),
            uses: Arena::new(),
            value_names: SecondaryMap::new(),
            block_names: SecondaryMap::new(),
            spans: SecondaryMap::new(),
            operand_spans: Vec::new(),
            attr_spans: Vec::new(),
            value_spans: SecondaryMap::new(),
            root: OpId::from_index(0),
            symbols: SymbolIndex::default(),
            memos: Memos::default(),
        };
        let root = module.create(OpState::new(&builtin::MODULE).regions(1));
        let body = module.region(root, 0);
        module.append_block(body);
        module.root = root;
        module
    }

    /// The dialects this program may use.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The outermost op, a [`builtin::MODULE`].
    pub fn root(&self) -> OpId {
        self.root
    }

    /// The block that holds the functions.
    pub fn body(&self) -> BlockId {
        self.blocks(self.region(self.root, 0))[0]
    }

    // Ops.

    /// An op's definition.
    pub fn def(&self, op: OpId) -> &'static OpDef {
        self.ops[op].def
    }

    /// Whether an op is of this kind.
    pub fn is(&self, op: OpId, def: &'static OpDef) -> bool {
        std::ptr::eq(self.ops[op].def, def)
    }

    /// Whether an op's definition has a trait.
    pub fn has(&self, op: OpId, wanted: Trait) -> bool {
        self.ops[op].def.has(wanted)
    }

    /// Whether an op was erased.
    pub fn is_erased(&self, op: OpId) -> bool {
        self.ops[op].erased
    }

    /// Whether erasing the op, when nothing uses its results, changes nothing else: it and all ops in it are pure.
    pub fn is_pure(&self, op: OpId) -> bool {
        self.has(op, Trait::Pure)
            && (self.region_count(op) == 0
                || self
                    .walk(op)
                    .all(|inner| self.has(inner, Trait::Pure) || self.has(inner, Trait::Terminator)))
    }

    /// The number of operands.
    pub fn operand_count(&self, op: OpId) -> usize {
        self.ops[op].use_count as usize
    }

    /// Operand `index`.
    pub fn operand(&self, op: OpId, index: usize) -> ValueId {
        self.uses[self.operand_slot(op, index)].value
    }

    /// All operands.
    pub fn operands(&self, op: OpId) -> impl ExactSizeIterator<Item = ValueId> + DoubleEndedIterator + '_ {
        (0..self.operand_count(op)).map(move |index| self.operand(op, index))
    }

    pub(crate) fn operand_slot(&self, op: OpId, index: usize) -> UseId {
        assert!(index < self.operand_count(op), "{op:?} has no operand {index}");
        UseId::from_index(self.ops[op].first_use as usize + index)
    }

    /// The number of results.
    pub fn result_count(&self, op: OpId) -> usize {
        self.ops[op].result_count as usize
    }

    /// Result `index`.
    pub fn result(&self, op: OpId, index: usize) -> ValueId {
        assert!(index < self.result_count(op), "{op:?} has no result {index}");
        ValueId::from_index(self.ops[op].first_result as usize + index)
    }

    /// All results.
    pub fn results(&self, op: OpId) -> impl ExactSizeIterator<Item = ValueId> + DoubleEndedIterator + use<> {
        let first = self.ops[op].first_result as usize;
        (0..self.result_count(op)).map(move |index| ValueId::from_index(first + index))
    }

    /// The number of regions.
    pub fn region_count(&self, op: OpId) -> usize {
        usize::from(self.ops[op].region_count)
    }

    /// Region `index`.
    pub fn region(&self, op: OpId, index: usize) -> RegionId {
        assert!(index < self.region_count(op), "{op:?} has no region {index}");
        RegionId::from_index(self.ops[op].first_region as usize + index)
    }

    /// All regions.
    pub fn regions(&self, op: OpId) -> impl ExactSizeIterator<Item = RegionId> + use<> {
        let first = self.ops[op].first_region as usize;
        (0..self.region_count(op)).map(move |index| RegionId::from_index(first + index))
    }

    /// The blocks that a terminator may continue at.
    pub fn successors(&self, op: OpId) -> &[Successor] {
        self.ops[op].successors.as_ref().map_or(&[], |successors| &successors.list)
    }

    /// How many operands all successors together are given. In a broken program these can be more than there are.
    pub fn successor_argument_count(&self, op: OpId) -> usize {
        self.ops[op].successors.as_ref().map_or(0, |successors| successors.starts[successors.list.len()])
    }

    /// The operands that successor `index` is given; in a broken program, as many of them as there are.
    pub fn successor_arguments(&self, op: OpId, index: usize) -> impl ExactSizeIterator<Item = ValueId> + '_ {
        let successors = self.ops[op].successors.as_ref();
        let given = successors.and_then(|successors| successors.starts.get(index..index + 2));
        let own = self.operand_count(op).saturating_sub(self.successor_argument_count(op));
        let clamp = |at: usize| own.saturating_add(at).min(self.operand_count(op));
        let range = given.map_or(0..0, |given| clamp(given[0])..clamp(given[1]));
        range.map(move |at| self.operand(op, at))
    }

    /// The operands that are the op's own: all before those that its successors are given.
    pub fn own_operands(
        &self,
        op: OpId,
    ) -> impl ExactSizeIterator<Item = ValueId> + DoubleEndedIterator + '_ {
        let count = self.operand_count(op).saturating_sub(self.successor_argument_count(op));
        (0..count).map(move |index| self.operand(op, index))
    }

    // Attributes.

    /// Every attribute of an op, by name.
    pub fn attrs(&self, op: OpId) -> &[(Name, Attr)] {
        self.dict(self.ops[op].attrs)
    }

    /// All attributes of an op, as one dictionary.
    pub fn attr_dict(&self, op: OpId) -> Attr {
        self.ops[op].attrs
    }

    /// The attribute `name` of an op.
    pub fn attr(&self, op: OpId, name: &str) -> Option<Attr> {
        self.dict_entry(self.ops[op].attrs, name)
    }

    /// The content of the attribute `name` of an op.
    pub fn attr_value(&self, op: OpId, name: &str) -> Option<&AttrData> {
        self.attr(op, name).map(|attr| self.attr_data(attr))
    }

    /// The entries of a dictionary; none if it is something else.
    pub fn dict(&self, dict: Attr) -> &[(Name, Attr)] {
        match self.attr_data(dict) {
            AttrData::Dict(entries) => entries,
            _ => &[],
        }
    }

    /// An entry of a dictionary.
    pub fn dict_entry(&self, dict: Attr, name: &str) -> Option<Attr> {
        let entries = self.dict(dict);
        let found = entries.binary_search_by(|&(key, _)| self.text(key).cmp(name)).ok()?;
        Some(entries[found].1)
    }

    /// The list of `i64`s in the attribute `name` of an op; none if it is missing or something else.
    pub fn ints(&self, op: OpId, name: &str) -> &[i64] {
        match self.attr_value(op, name) {
            Some(AttrData::Ints(values)) => values,
            _ => &[],
        }
    }

    /// The name that an op with [`Trait::Symbol`] defines.
    pub fn symbol_name(&self, op: OpId) -> Option<Name> {
        match self.attr_value(op, SYMBOL_NAME)? {
            AttrData::Symbol(path) => path.first().copied(),
            _ => None,
        }
    }

    // Values.

    /// A value's type.
    pub fn ty(&self, value: ValueId) -> Type {
        self.values[value].ty
    }

    /// The content of a value's type.
    pub fn value_type(&self, value: ValueId) -> &TypeData {
        self.type_data(self.values[value].ty)
    }

    /// A value's type, if it is a tensor.
    pub fn tensor_type(&self, value: ValueId) -> Option<&TensorType> {
        match self.value_type(value) {
            TypeData::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// What defines a value.
    pub fn definition(&self, value: ValueId) -> Definition {
        self.values[value].definition
    }

    /// The op that a value is a result of.
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.values[value].definition {
            Definition::Result { op, .. } => Some(op),
            Definition::Argument { .. } | Definition::None => None,
        }
    }

    /// The block in which a value is defined, if it is still in one.
    pub fn defining_block(&self, value: ValueId) -> Option<BlockId> {
        match self.values[value].definition {
            Definition::Result { op, .. } => self.ops[op].block,
            Definition::Argument { block, .. } => Some(block),
            Definition::None => None,
        }
    }

    /// The name the user gave a value.
    pub fn value_name(&self, value: ValueId) -> Option<Name> {
        self.value_names[value]
    }

    /// Where a value is used: the op, and which of its operands. In the order in which the uses were made.
    pub fn uses(&self, value: ValueId) -> impl Iterator<Item = (OpId, usize)> + '_ {
        let mut next = self.values[value].first_use;
        std::iter::from_fn(move || {
            let slot = next?;
            let data = &self.uses[slot];
            next = data.next;
            Some((data.user, slot.index() - self.ops[data.user].first_use as usize))
        })
    }

    /// Whether anything uses a value.
    pub fn has_uses(&self, value: ValueId) -> bool {
        self.values[value].first_use.is_some()
    }

    // Structure.

    /// The block that holds an op.
    pub fn block_of(&self, op: OpId) -> Option<BlockId> {
        self.ops[op].block
    }

    /// The region that holds a block.
    pub fn region_of(&self, block: BlockId) -> Option<RegionId> {
        self.blocks[block].region
    }

    /// The op that has a region.
    pub fn op_of(&self, region: RegionId) -> OpId {
        self.regions[region].op
    }

    /// The op around an op.
    pub fn parent(&self, op: OpId) -> Option<OpId> {
        self.block_parent(self.ops[op].block?)
    }

    /// The op around a block.
    pub fn block_parent(&self, block: BlockId) -> Option<OpId> {
        Some(self.regions[self.blocks[block].region?].op)
    }

    /// An op and the ops around it, innermost first.
    pub fn ancestors(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        std::iter::successors(Some(op), |&inner| self.parent(inner))
    }

    /// The blocks of a region, entry first.
    pub fn blocks(&self, region: RegionId) -> &[BlockId] {
        &self.regions[region].blocks
    }

    /// The first block of a region.
    pub fn entry(&self, region: RegionId) -> Option<BlockId> {
        self.regions[region].blocks.first().copied()
    }

    /// A block's arguments.
    pub fn arguments(&self, block: BlockId) -> &[ValueId] {
        &self.blocks[block].arguments
    }

    /// The name the user gave a block.
    pub fn block_name(&self, block: BlockId) -> Option<Name> {
        self.block_names[block]
    }

    /// The ops of a block, in order.
    pub fn ops(&self, block: BlockId) -> impl DoubleEndedIterator<Item = OpId> + '_ {
        BlockOps { module: self, front: self.blocks[block].first, back: self.blocks[block].last }
    }

    /// The first op of a block.
    pub fn first_op(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].first
    }

    /// The last op of a block.
    pub fn last_op(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].last
    }

    /// The op after `op` in its block.
    pub fn next_op(&self, op: OpId) -> Option<OpId> {
        self.ops[op].next
    }

    /// The op before `op` in its block.
    pub fn previous_op(&self, op: OpId) -> Option<OpId> {
        self.ops[op].previous
    }

    /// Whether `a` stands before `b`; both must be in the same block.
    pub fn is_before(&self, a: OpId, b: OpId) -> bool {
        debug_assert_eq!(self.ops[a].block, self.ops[b].block);
        self.ops[a].order < self.ops[b].order
    }

    /// An op and all ops in it, each before its inner ones.
    pub fn walk(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        let mut pending = vec![op];
        std::iter::from_fn(move || {
            let op = pending.pop()?;
            let inner = pending.len();
            for region in self.regions(op) {
                for &block in self.blocks(region) {
                    pending.extend(self.ops(block));
                }
            }
            pending[inner..].reverse();
            Some(op)
        })
    }

    // Content of interned things.

    /// What a type stands for.
    pub fn type_data(&self, ty: Type) -> &TypeData {
        self.interner.type_data(ty)
    }

    /// What an attribute stands for.
    pub fn attr_data(&self, attr: Attr) -> &AttrData {
        self.interner.attr_data(attr)
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.interner.text(name)
    }

    // Places.

    /// What a framework said about where an op comes from.
    pub fn location(&self, op: OpId) -> Location {
        self.ops[op].location
    }

    /// What a location stands for.
    pub fn location_data(&self, location: Location) -> &LocationData {
        self.interner.location_data(location)
    }

    /// Where an op's name is written.
    pub fn span(&self, op: OpId) -> Span {
        self.spans[op].name
    }

    /// Where the whole op is written, regions included.
    pub fn whole_span(&self, op: OpId) -> Span {
        self.spans[op].whole.or(self.spans[op].name)
    }

    /// Where operand `index` is written; the op's own place if that is not known.
    pub fn operand_span(&self, op: OpId, index: usize) -> Span {
        let spans = self.spans[op];
        if index < spans.operand_count as usize {
            self.operand_spans[spans.first_operand as usize + index].or(spans.name)
        } else {
            spans.name
        }
    }

    /// Where the attribute `name` is written; the op's own place if that is not known.
    pub fn attr_span(&self, op: OpId, name: &str) -> Span {
        let spans = self.spans[op];
        if self.attr(op, name).is_none() {
            return spans.name;
        }
        let written = &self.attr_spans[spans.first_attr as usize..][..spans.attr_count as usize];
        let found = written.binary_search_by(|&(key, _)| self.text(key).cmp(name));
        found.map_or(spans.name, |index| written[index].1.or(spans.name))
    }

    /// Where a value's name is written at its definition; its op's place if that is not known.
    pub fn value_span(&self, value: ValueId) -> Span {
        let fallback = match self.values[value].definition {
            Definition::Result { op, .. } => self.span(op),
            Definition::Argument { block, .. } => {
                self.block_parent(block).map_or(Span::NONE, |parent| self.span(parent))
            }
            Definition::None => Span::NONE,
        };
        self.value_spans[value].or(fallback)
    }

    /// An error at an op. What a framework said about where the op comes from is a note.
    pub fn error(&self, op: OpId, code: &'static Code, message: impl Into<String>) -> Diagnostic {
        let mut error = Diagnostic::error(code, self.span(op), message);
        self.note_location(op, &mut error);
        error
    }

    /// Adds what a framework said about where an op comes from to a diagnostic about it.
    pub(crate) fn note_location(&self, op: OpId, diagnostic: &mut Diagnostic) {
        if self.location(op) == self.interner.unknown_location() {
            return;
        }
        let mut note = "the op comes from ".to_owned();
        write_location(&mut note, self, self.location(op));
        if !diagnostic.notes.contains(&note) {
            diagnostic.notes.push(note);
        }
    }
}

struct BlockOps<'a> {
    module: &'a Module,
    front: Option<OpId>,
    back: Option<OpId>,
}

impl Iterator for BlockOps<'_> {
    type Item = OpId;

    fn next(&mut self) -> Option<OpId> {
        let op = self.front?;
        if self.back == Some(op) {
            (self.front, self.back) = (None, None);
        } else {
            self.front = self.module.ops[op].next;
        }
        Some(op)
    }
}

impl DoubleEndedIterator for BlockOps<'_> {
    fn next_back(&mut self) -> Option<OpId> {
        let op = self.back?;
        if self.front == Some(op) {
            (self.front, self.back) = (None, None);
        } else {
            self.back = self.module.ops[op].previous;
        }
        Some(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{END, any_op, function, module};

    #[test]
    fn successors_are_given_the_last_operands() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let source = any_op(&mut module, block, &[], 3);
        let [a, b, c] = [0, 1, 2].map(|index| module.result(source, index));
        let mut state = OpState::new(&END).operands([a, b, c, a]);
        state.successors = [1, 0, 2].map(|argument_count| Successor { block, argument_count }).to_vec();
        let op = module.create(state);
        let other = any_op(&mut module, block, &[c, c, c, c], 0);
        let given = |module: &Module, index| module.successor_arguments(op, index).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(|index| given(&module, index)), [vec![b], vec![], vec![c, a]]);
        assert_eq!(module.successor_argument_count(op), 3);
        // Of an op that is broken, never what another op uses.
        module.set_operands(op, &[b]);
        assert_eq!([0, 1, 2, 3].map(|index| given(&module, index)), [vec![b], vec![], vec![], vec![]]);
        module.set_operands(op, &[]);
        assert_eq!(module.operand_count(other), 4);
        assert!((0..3).all(|index| given(&module, index).is_empty()));
    }

    #[test]
    #[should_panic(expected = "op2 has no operand 1")]
    fn operands_of_other_ops_are_out_of_reach() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let first = any_op(&mut module, block, &[], 1);
        let x = module.result(first, 0);
        module.set_operands(first, &[x]);
        any_op(&mut module, block, &[x], 0);
        module.operand(first, 1);
    }

    #[test]
    fn places_of_attributes_follow_their_names() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let op = any_op(&mut module, block, &[], 1);
        let one = module.interner.int(1);
        module.set_attr(op, "b", one);
        module.set_attr(op, "c", one);
        let span = |at: u32| Span::new(at, at + 1);
        module.set_spans(op, span(1), span(1), &[], &[span(10), span(20)]);
        module.remove_attr(op, "b");
        module.set_attr(op, "a", one);
        assert_eq!(["a", "b", "c"].map(|name| module.attr_span(op, name)), [span(1), span(1), span(20)]);
        let x = module.result(op, 0);
        module.set_operands(op, &[x]);
        assert_eq!(module.attr_span(op, "c"), span(20));
    }
}

//! Every change of a [`Module`].

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use tofu_diagnostics::Span;

use crate::{
    Attr, AttrData, BlockId, Definition, Location, LocationData, Module, Name, OpDef, OpId, RegionId,
    Successor, Trait, Type, UseId, ValueId, builtin,
    module::{BlockData, OpData, OpSpans, RegionData, UseData, ValueData},
};

/// All that an op is made of.
#[derive(Clone, Debug)]
pub struct OpState {
    /// Its definition.
    pub def: &'static OpDef,
    /// Its operands; those of successors last.
    pub operands: SmallVec<[ValueId; 4]>,
    /// The types of its results.
    pub results: SmallVec<[Type; 2]>,
    /// Its attributes, a dictionary; none for the empty one.
    pub attrs: Option<Attr>,
    /// How many regions it has; they start without blocks.
    pub regions: u16,
    /// Where it may continue.
    pub successors: Vec<Successor>,
    /// Where it comes from.
    pub location: Option<Location>,
}

impl OpState {
    /// An op without anything.
    pub fn new(def: &'static OpDef) -> OpState {
        OpState {
            def,
            operands: SmallVec::new(),
            results: SmallVec::new(),
            attrs: None,
            regions: 0,
            successors: Vec::new(),
            location: None,
        }
    }

    /// Sets the operands.
    #[must_use]
    pub fn operands(mut self, operands: impl IntoIterator<Item = ValueId>) -> OpState {
        self.operands = operands.into_iter().collect();
        self
    }

    /// Sets the result types.
    #[must_use]
    pub fn results(mut self, types: impl IntoIterator<Item = Type>) -> OpState {
        self.results = types.into_iter().collect();
        self
    }

    /// Sets the attributes.
    #[must_use]
    pub fn attrs(mut self, dict: Attr) -> OpState {
        self.attrs = Some(dict);
        self
    }

    /// Sets the number of regions.
    #[must_use]
    pub fn regions(mut self, count: u16) -> OpState {
        self.regions = count;
        self
    }
}

type FxIndexSet<T> = IndexSet<T, FxBuildHasher>;

/// Between the order keys of neighbours, so that most insertions need no renumbering.
const ORDER_STEP: u32 = 16;

impl Module {
    /// Makes an op that stands nowhere yet.
    pub fn create(&mut self, state: OpState) -> OpId {
        let op = self.ops.next_key();
        let (first_use, use_count) = self.push_uses(op, &state.operands);
        let first_region = self.regions.len() as u32;
        for _ in 0..state.regions {
            self.regions.push(RegionData { op, blocks: Vec::new() });
        }
        let successors = (!state.successors.is_empty()).then(|| state.successors.into_boxed_slice());
        self.ops.push(OpData {
            def: state.def,
            attrs: state.attrs.unwrap_or_else(|| self.interner.empty_dict()),
            location: state.location.unwrap_or_else(|| self.interner.unknown_location()),
            block: None,
            previous: None,
            next: None,
            order: 0,
            first_use,
            use_count,
            first_result: 0,
            result_count: 0,
            first_region,
            region_count: state.regions,
            erased: false,
            successors,
        });
        self.append_results(op, &state.results);
        op
    }

    /// Gives results to an op that has none.
    pub fn append_results(&mut self, op: OpId, types: &[Type]) {
        debug_assert_eq!(self.result_count(op), 0);
        self.ops[op].first_result = self.values.len() as u32;
        self.ops[op].result_count = types.len() as u32;
        for (index, &ty) in types.iter().enumerate() {
            let definition = Definition::Result { op, index: index as u32 };
            self.values.push(ValueData { ty, definition, first_use: None, last_use: None });
        }
    }

    /// Makes a module op that stands somewhere in the program the whole of it. What was around it is erased.
    pub fn set_root(&mut self, op: OpId) {
        debug_assert!(self.is(op, &builtin::MODULE));
        if op != self.root {
            self.detach(op);
            self.symbols.take();
            let old = std::mem::replace(&mut self.root, op);
            self.erase(old);
        }
    }

    /// Makes a value that nothing defines. A parser stands it in for one that is defined later.
    pub fn create_forward_value(&mut self, ty: Type) -> ValueId {
        self.values.push(ValueData { ty, definition: Definition::None, first_use: None, last_use: None })
    }

    // Blocks.

    /// Adds a block at the end of a region.
    pub fn append_block(&mut self, region: RegionId) -> BlockId {
        let block = self.create_block();
        self.attach_block(region, block);
        block
    }

    /// Makes a block that stands nowhere yet.
    pub fn create_block(&mut self) -> BlockId {
        self.blocks.push(BlockData {
            region: None,
            arguments: SmallVec::new(),
            first: None,
            last: None,
            erased: false,
        })
    }

    /// Puts a block that stands nowhere at the end of a region.
    pub fn attach_block(&mut self, region: RegionId, block: BlockId) {
        debug_assert_eq!(self.blocks[block].region, None);
        self.blocks[block].region = Some(region);
        self.regions[region].blocks.push(block);
    }

    /// Takes all blocks out of a region; they can be attached to another.
    pub fn take_blocks(&mut self, region: RegionId) -> Vec<BlockId> {
        let blocks = std::mem::take(&mut self.regions[region].blocks);
        for &block in &blocks {
            self.blocks[block].region = None;
        }
        blocks
    }

    /// Adds an argument to a block.
    pub fn append_argument(&mut self, block: BlockId, ty: Type) -> ValueId {
        let index = self.blocks[block].arguments.len() as u32;
        let definition = Definition::Argument { block, index };
        let value = self.values.push(ValueData { ty, definition, first_use: None, last_use: None });
        self.blocks[block].arguments.push(value);
        value
    }

    /// Takes an argument away from a block; nothing may use it.
    pub fn erase_argument(&mut self, block: BlockId, index: usize) {
        let value = self.blocks[block].arguments.remove(index);
        debug_assert!(!self.has_uses(value));
        self.values[value].definition = Definition::None;
        for at in index..self.blocks[block].arguments.len() {
            let value = self.blocks[block].arguments[at];
            self.values[value].definition = Definition::Argument { block, index: at as u32 };
        }
    }

    /// Names a block for its text; `None` takes the name away.
    pub fn set_block_name(&mut self, block: BlockId, name: Option<Name>) {
        self.block_names[block] = name;
    }

    // Places of ops.

    /// Puts an op that stands nowhere at the end of a block.
    pub fn append(&mut self, block: BlockId, op: OpId) {
        self.link(op, block, self.blocks[block].last, None);
    }

    /// Puts an op that stands nowhere before another.
    pub fn insert_before(&mut self, anchor: OpId, op: OpId) {
        if let Some(block) = self.ops[anchor].block {
            self.link(op, block, self.ops[anchor].previous, Some(anchor));
        }
    }

    /// Puts an op that stands nowhere after another.
    pub fn insert_after(&mut self, anchor: OpId, op: OpId) {
        if let Some(block) = self.ops[anchor].block {
            self.link(op, block, Some(anchor), self.ops[anchor].next);
        }
    }

    /// Takes an op out of its block; it can be put elsewhere.
    pub fn detach(&mut self, op: OpId) {
        let Some(block) = self.ops[op].block.take() else { return };
        self.forget_symbols(op);
        let (previous, next) = (self.ops[op].previous.take(), self.ops[op].next.take());
        match previous {
            Some(previous) => self.ops[previous].next = next,
            None => self.blocks[block].first = next,
        }
        match next {
            Some(next) => self.ops[next].previous = previous,
            None => self.blocks[block].last = previous,
        }
    }

    /// Moves an op before another, in any block.
    pub fn move_before(&mut self, anchor: OpId, op: OpId) {
        if anchor != op {
            self.detach(op);
            self.insert_before(anchor, op);
        }
    }

    /// Moves an op after another, in any block.
    pub fn move_after(&mut self, anchor: OpId, op: OpId) {
        if anchor != op {
            self.detach(op);
            self.insert_after(anchor, op);
        }
    }

    fn link(&mut self, op: OpId, block: BlockId, previous: Option<OpId>, next: Option<OpId>) {
        debug_assert!(self.ops[op].block.is_none(), "the op stands in a block already");
        self.forget_symbols(op);
        let data = &mut self.ops[op];
        (data.block, data.previous, data.next) = (Some(block), previous, next);
        match previous {
            Some(previous) => self.ops[previous].next = Some(op),
            None => self.blocks[block].first = Some(op),
        }
        match next {
            Some(next) => self.ops[next].previous = Some(op),
            None => self.blocks[block].last = Some(op),
        }
        self.assign_order(op, previous, next);
    }

    /// Gives `op` an order key between its neighbours', and moves the keys behind it where there is no room. A run of
    /// insertions at one place renumbers ever longer stretches with ever wider gaps, so the cost stays logarithmic
    /// for each insertion on average.
    fn assign_order(&mut self, op: OpId, previous: Option<OpId>, next: Option<OpId>) {
        let low = previous.map_or(0, |previous| self.ops[previous].order);
        let Some(next) = next else {
            match low.checked_add(ORDER_STEP) {
                Some(order) => self.ops[op].order = order,
                None => self.renumber(op),
            }
            return;
        };
        let high = self.ops[next].order;
        if high - low >= 2 {
            self.ops[op].order = low + (high - low) / 2;
            return;
        }
        let (mut at, mut order, mut step) = (Some(op), low, 1u32);
        while let Some(current) = at {
            let Some(raised) = order.checked_add(step) else { return self.renumber(op) };
            if current != op && self.ops[current].order >= raised {
                return;
            }
            order = raised;
            self.ops[current].order = order;
            at = self.ops[current].next;
            step = (step + 1).min(ORDER_STEP);
        }
    }

    fn renumber(&mut self, op: OpId) {
        let Some(block) = self.ops[op].block else { return };
        let mut at = self.blocks[block].first;
        let mut order = 0u32;
        while let Some(current) = at {
            // A block of more than 2^28 ops loses its gaps, not its order.
            order = order.saturating_add(if order < u32::MAX / 2 { ORDER_STEP } else { 1 });
            self.ops[current].order = order;
            at = self.ops[current].next;
        }
    }

    // Operands.

    /// Makes an op use another value.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: ValueId) {
        let slot = self.operand_slot(op, index);
        if self.uses[slot].value != value {
            self.unlink_use(slot);
            self.uses[slot].value = value;
            self.link_use(slot);
        }
    }

    /// Exchanges two operands of an op.
    pub fn swap_operands(&mut self, op: OpId, a: usize, b: usize) {
        let (first, second) = (self.operand(op, a), self.operand(op, b));
        self.set_operand(op, a, second);
        self.set_operand(op, b, first);
        let spans = self.spans[op];
        if a.max(b) < spans.operand_count as usize {
            self.span_pool.swap(spans.first as usize + a, spans.first as usize + b);
        }
    }

    /// Gives an op other operands, any number of them. What its successors are given stays the last ones.
    pub fn set_operands(&mut self, op: OpId, operands: &[ValueId]) {
        for index in 0..self.operand_count(op) {
            self.unlink_use(self.operand_slot(op, index));
        }
        let (first_use, use_count) = self.push_uses(op, operands);
        (self.ops[op].first_use, self.ops[op].use_count) = (first_use, use_count);
        self.spans[op].operand_count = 0;
        self.spans[op].attr_count = 0;
    }

    /// Makes every user of `old` use `new`; a name given to `old` passes to a nameless `new`.
    pub fn replace_all_uses(&mut self, old: ValueId, new: ValueId) {
        if old == new {
            return;
        }
        while let Some(slot) = self.values[old].first_use {
            self.unlink_use(slot);
            self.uses[slot].value = new;
            self.link_use(slot);
        }
        if self.value_names[new].is_none() && matches!(self.definition(new), Definition::Result { .. }) {
            self.value_names[new] = self.value_names[old];
        }
    }

    fn push_uses(&mut self, user: OpId, operands: &[ValueId]) -> (u32, u32) {
        let first = self.uses.len() as u32;
        for &value in operands {
            let slot = self.uses.push(UseData { value, user, previous: None, next: None });
            self.link_use(slot);
        }
        (first, operands.len() as u32)
    }

    fn link_use(&mut self, slot: UseId) {
        let value = self.uses[slot].value;
        let last = self.values[value].last_use.replace(slot);
        self.uses[slot].previous = last;
        self.uses[slot].next = None;
        match last {
            Some(last) => self.uses[last].next = Some(slot),
            None => self.values[value].first_use = Some(slot),
        }
    }

    fn unlink_use(&mut self, slot: UseId) {
        let UseData { value, previous, next, .. } = self.uses[slot];
        match previous {
            Some(previous) => self.uses[previous].next = next,
            None => self.values[value].first_use = next,
        }
        match next {
            Some(next) => self.uses[next].previous = previous,
            None => self.values[value].last_use = previous,
        }
    }

    // Ops.

    /// Erases an op and all that is in it. Uses of its results by other ops stay behind and are reported by the
    /// verifier; replace them first.
    pub fn erase(&mut self, op: OpId) {
        self.detach(op);
        let erased: Vec<OpId> = self.walk(op).collect();
        for &inner in &erased {
            for index in 0..self.operand_count(inner) {
                self.unlink_use(self.operand_slot(inner, index));
            }
            self.ops[inner].use_count = 0;
        }
        for &inner in &erased {
            self.ops[inner].erased = true;
            for value in self.results(inner) {
                self.values[value].definition = Definition::None;
            }
            for region in self.regions(inner) {
                for block in std::mem::take(&mut self.regions[region].blocks) {
                    self.blocks[block].erased = true;
                    for value in std::mem::take(&mut self.blocks[block].arguments) {
                        self.values[value].definition = Definition::None;
                    }
                }
            }
        }
    }

    /// Uses `values` wherever the results of `op` were used, and erases it.
    pub fn replace(&mut self, op: OpId, values: &[ValueId]) {
        debug_assert_eq!(self.result_count(op), values.len());
        for (old, &new) in self.results(op).zip(values) {
            self.replace_all_uses(old, new);
        }
        self.erase(op);
    }

    /// Changes a value's type.
    pub fn set_type(&mut self, value: ValueId, ty: Type) {
        self.values[value].ty = ty;
    }

    /// Names a value for its text; `None` takes the name away.
    pub fn set_value_name(&mut self, value: ValueId, name: Option<Name>) {
        self.value_names[value] = name;
    }

    /// Sets an attribute of an op.
    pub fn set_attr(&mut self, op: OpId, name: &str, attr: Attr) {
        self.forget_symbols(op);
        let name = self.interner.name(name);
        let mut entries = self.attrs(op).to_vec();
        match entries.iter_mut().find(|entry| entry.0 == name) {
            Some(entry) => entry.1 = attr,
            None => entries.push((name, attr)),
        }
        self.ops[op].attrs = self.interner.attr(AttrData::Dict(entries.into()));
    }

    /// Takes an attribute away from an op.
    pub fn remove_attr(&mut self, op: OpId, name: &str) {
        self.forget_symbols(op);
        let mut entries = self.attrs(op).to_vec();
        entries.retain(|&(key, _)| self.text(key) != name);
        self.ops[op].attrs = self.interner.attr(AttrData::Dict(entries.into()));
    }

    /// Drops what is remembered about symbols where a change of `op` may make it wrong: the op is named, or has names in
    /// it.
    fn forget_symbols(&mut self, op: OpId) {
        if self.has(op, Trait::Symbol) || self.has(op, Trait::SymbolTable) {
            self.symbols.take();
        }
    }

    /// Replaces all attributes of an op.
    pub fn set_attr_dict(&mut self, op: OpId, dict: Attr) {
        self.forget_symbols(op);
        self.ops[op].attrs = dict;
    }

    /// Sets where a terminator may continue.
    pub fn set_successors(&mut self, op: OpId, successors: Vec<Successor>) {
        self.ops[op].successors = (!successors.is_empty()).then(|| successors.into_boxed_slice());
    }

    // Places in texts.

    /// Sets what is known about where an op comes from.
    pub fn set_location(&mut self, op: OpId, location: Location) {
        self.ops[op].location = location;
    }

    /// Records where an op is written: its name, all of it, each operand, and each attribute in the order of the
    /// dictionary.
    pub fn set_spans(&mut self, op: OpId, name: Span, whole: Span, operands: &[Span], attrs: &[Span]) {
        let first = self.span_pool.len() as u32;
        self.span_pool.extend_from_slice(operands);
        self.span_pool.extend_from_slice(attrs);
        let (operand_count, attr_count) = (operands.len() as u32, attrs.len() as u32);
        self.spans[op] = OpSpans { name, whole, first, operand_count, attr_count };
    }

    /// Records where a value's name is written.
    pub fn set_value_span(&mut self, value: ValueId, span: Span) {
        self.value_spans[value] = span;
    }

    /// Makes `op` come from where `origin` comes from: for an op that replaces it.
    pub fn inherit_place(&mut self, op: OpId, origin: OpId) {
        let spans = self.spans[origin];
        self.spans[op] = OpSpans { operand_count: 0, attr_count: 0, ..spans };
        self.ops[op].location = self.ops[origin].location;
    }

    /// Makes `op` come from all of `origins`: for an op that stands for several. Its span is the first one's, since
    /// they need not be neighbours; its location names them all.
    pub fn join_places(&mut self, op: OpId, origins: &[OpId]) {
        let Some(&first) = origins.first() else { return };
        if first != op {
            self.inherit_place(op, first);
        }
        let mut parts: FxIndexSet<Location> = FxIndexSet::default();
        for &origin in origins {
            let location = self.ops[origin].location;
            match self.location_data(location) {
                LocationData::Unknown => {}
                LocationData::Fused(inner) => parts.extend(inner.iter().copied()),
                _ => {
                    parts.insert(location);
                }
            }
        }
        self.ops[op].location = match parts.len() {
            0 => self.interner.unknown_location(),
            1 => parts[0],
            _ => self.interner.location(LocationData::Fused(parts.into_iter().collect())),
        };
    }
}

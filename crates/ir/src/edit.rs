//! Every change of a [`Module`].

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use tofu_diagnostics::Span;

use crate::{
    Attr, AttrData, BlockId, Definition, Location, LocationData, Module, Name, OpDef, OpId, RegionId,
    SYMBOL_NAME, Successor, Trait, Type, UseId, ValueId, builtin,
    module::{BlockData, OpData, OpSpans, RegionData, Successors, UseData, ValueData},
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

/// An op that stands for very many others names this many of their places.
const MAX_JOINED_PLACES: usize = 16;

impl Module {
    /// Makes an op that stands nowhere yet.
    pub fn create(&mut self, state: OpState) -> OpId {
        let op = self.ops.next_key();
        let (first_use, use_count) = self.push_uses(op, &state.operands);
        let first_region = self.regions.len() as u32;
        for _ in 0..state.regions {
            self.regions.push(RegionData { op, blocks: Vec::new() });
        }
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
            successors: Successors::new(state.successors),
        });
        self.append_results(op, &state.results);
        self.create_symbol_table(op);
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
        self.forget_symbols(self.op_of(region));
    }

    /// Takes all blocks out of a region; they can be attached to another.
    pub fn take_blocks(&mut self, region: RegionId) -> Vec<BlockId> {
        let blocks = std::mem::take(&mut self.regions[region].blocks);
        for &block in &blocks {
            self.blocks[block].region = None;
        }
        self.forget_symbols(self.op_of(region));
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
        self.remove_symbol(op);
        let Some(block) = self.ops[op].block.take() else { return };
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

    /// Puts an op between two neighbours. Returns how many ops got another order key.
    pub(crate) fn link(
        &mut self,
        op: OpId,
        block: BlockId,
        previous: Option<OpId>,
        next: Option<OpId>,
    ) -> usize {
        debug_assert!(self.ops[op].block.is_none(), "the op stands in a block already");
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
        self.add_symbol(op);
        self.assign_order(op)
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
            let first = spans.first_operand as usize;
            self.operand_spans.swap(first + a, first + b);
        }
    }

    /// Gives an op other operands, any number of them. What its successors are given stays the last ones.
    pub fn set_operands(&mut self, op: OpId, operands: &[ValueId]) {
        let count = self.operand_count(op);
        if operands.len() <= count {
            for (index, &value) in operands.iter().enumerate() {
                self.set_operand(op, index, value);
            }
            for index in operands.len()..count {
                self.unlink_use(self.operand_slot(op, index));
            }
            self.ops[op].use_count = operands.len() as u32;
        } else {
            for index in 0..count {
                self.unlink_use(self.operand_slot(op, index));
            }
            (self.ops[op].first_use, self.ops[op].use_count) = self.push_uses(op, operands);
        }
        self.spans[op].operand_count = 0;
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
            self.symbols.remove(&inner);
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
        let name = self.interner.name(name);
        let mut entries = self.attrs(op).to_vec();
        match entries.iter_mut().find(|entry| entry.0 == name) {
            Some(entry) => entry.1 = attr,
            None => entries.push((name, attr)),
        }
        let dict = self.interner.attr(AttrData::Dict(entries.into()));
        self.set_attr_dict(op, dict);
    }

    /// Takes an attribute away from an op.
    pub fn remove_attr(&mut self, op: OpId, name: &str) {
        let mut entries = self.attrs(op).to_vec();
        entries.retain(|&(key, _)| self.text(key) != name);
        let dict = self.interner.attr(AttrData::Dict(entries.into()));
        self.set_attr_dict(op, dict);
    }

    /// Replaces all attributes of an op.
    pub fn set_attr_dict(&mut self, op: OpId, dict: Attr) {
        let renames =
            self.has(op, Trait::Symbol) && self.attr(op, SYMBOL_NAME) != self.dict_entry(dict, SYMBOL_NAME);
        if renames {
            self.remove_symbol(op);
        }
        self.ops[op].attrs = dict;
        if renames {
            self.add_symbol(op);
        }
    }

    /// Sets where a terminator may continue.
    pub fn set_successors(&mut self, op: OpId, successors: Vec<Successor>) {
        self.ops[op].successors = Successors::new(successors);
    }

    // Places in texts.

    /// Sets what is known about where an op comes from.
    pub fn set_location(&mut self, op: OpId, location: Location) {
        self.ops[op].location = location;
    }

    /// Records where an op is written: its name, all of it, each operand, and each attribute in the order of the
    /// dictionary.
    pub fn set_spans(&mut self, op: OpId, name: Span, whole: Span, operands: &[Span], attrs: &[Span]) {
        let keys = self.dict(self.ops[op].attrs).iter().map(|&(key, _)| key);
        let named: SmallVec<[(Name, Span); 4]> = keys.zip(attrs.iter().copied()).collect();
        self.set_named_spans(op, name, whole, operands, &named);
    }

    pub(crate) fn set_named_spans(
        &mut self,
        op: OpId,
        name: Span,
        whole: Span,
        operands: &[Span],
        attrs: &[(Name, Span)],
    ) {
        let (first_operand, operand_count) = (self.operand_spans.len() as u32, operands.len() as u32);
        let (first_attr, attr_count) = (self.attr_spans.len() as u32, attrs.len() as u32);
        self.operand_spans.extend_from_slice(operands);
        self.attr_spans.extend_from_slice(attrs);
        self.spans[op] = OpSpans { name, whole, first_operand, operand_count, first_attr, attr_count };
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
    /// they need not be neighbours; its location names them all, or the first 16 different ones if there are more.
    pub fn join_places(&mut self, op: OpId, origins: &[OpId]) {
        let Some(&first) = origins.first() else { return };
        if first != op {
            self.inherit_place(op, first);
        }
        let mut parts: FxIndexSet<Location> = FxIndexSet::default();
        for &origin in origins {
            if parts.len() >= MAX_JOINED_PLACES {
                break;
            }
            let location = self.ops[origin].location;
            match self.location_data(location) {
                LocationData::Unknown => {}
                LocationData::Fused { parts: inner, metadata: None } => parts.extend(inner.iter().copied()),
                _ => {
                    parts.insert(location);
                }
            }
        }
        parts.truncate(MAX_JOINED_PLACES);
        self.ops[op].location = match parts.len() {
            0 => self.interner.unknown_location(),
            1 => parts[0],
            _ => self.interner.location(LocationData::fused(parts)),
        };
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::testing::{any_op, end, f32, function, module};

    /// The ops of a block as they should stand, and as they do.
    fn check_order(module: &Module, block: BlockId, expected: &[OpId]) {
        let found: Vec<OpId> = module.ops(block).collect();
        assert_eq!(found, expected);
        assert!(found.windows(2).all(|pair| module.is_before(pair[0], pair[1])), "order keys do not ascend");
        let backwards: Vec<OpId> = module.ops(block).rev().collect();
        assert!(backwards.iter().eq(expected.iter().rev()));
    }

    #[test]
    fn order_keys_follow_any_insertion() {
        for place in 0..4 {
            let mut module = module();
            let (_, block) = function(&mut module, "f");
            let mut rng = Rng::with_seed(place);
            let mut expected: Vec<OpId> = (0..4).map(|_| any_op(&mut module, block, &[], 0)).collect();
            for step in 0..3000 {
                let op = module.create(OpState::new(&crate::testing::ANY));
                let at = match place {
                    0 => 0,
                    1 => 2,
                    2 => expected.len() - 1,
                    _ => rng.usize(0..expected.len()),
                };
                if step % 2 == 0 {
                    module.insert_before(expected[at], op);
                    expected.insert(at, op);
                } else {
                    module.insert_after(expected[at], op);
                    expected.insert(at + 1, op);
                }
                if step % 7 == 0 {
                    let (from, to) = (rng.usize(0..expected.len()), rng.usize(0..expected.len()));
                    let (moved, anchor) = (expected[from], expected[to]);
                    module.move_before(anchor, moved);
                    if moved != anchor {
                        expected.remove(from);
                        let to = expected.iter().position(|&op| op == anchor).unwrap();
                        expected.insert(to, moved);
                    }
                }
                if step % 250 == 0 {
                    check_order(&module, block, &expected);
                }
            }
            check_order(&module, block, &expected);
        }
    }

    #[test]
    fn uses_agree_with_the_operands() {
        for seed in 0..40 {
            let mut module = module();
            let (_, block) = function(&mut module, "f");
            let mut rng = Rng::with_seed(seed);
            let source = any_op(&mut module, block, &[], 6);
            let mut values: Vec<ValueId> = module.results(source).collect();
            // Each op with the operands that it should have.
            let mut model: Vec<(OpId, Vec<ValueId>)> = Vec::new();
            for _ in 0..200 {
                let some = |rng: &mut Rng, values: &[ValueId]| values[rng.usize(0..values.len())];
                let picked: Vec<ValueId> = (0..rng.usize(0..4)).map(|_| some(&mut rng, &values)).collect();
                let index = rng.usize(0..=model.len());
                match rng.u8(0..6) {
                    0 | 1 => {
                        let op = any_op(&mut module, block, &picked, 1);
                        values.push(module.result(op, 0));
                        model.push((op, picked));
                    }
                    2 if index < model.len() => {
                        module.set_operands(model[index].0, &picked);
                        model[index].1 = picked;
                    }
                    3 if index < model.len() && !model[index].1.is_empty() => {
                        let (op, operands) = &mut model[index];
                        let (at, other) = (rng.usize(0..operands.len()), rng.usize(0..operands.len()));
                        let value = some(&mut rng, &values);
                        module.set_operand(*op, at, value);
                        operands[at] = value;
                        module.swap_operands(*op, at, other);
                        operands.swap(at, other);
                    }
                    4 => {
                        let (old, new) = (some(&mut rng, &values), some(&mut rng, &values));
                        module.replace_all_uses(old, new);
                        for operand in model.iter_mut().flat_map(|(_, operands)| operands) {
                            *operand = if *operand == old { new } else { *operand };
                        }
                    }
                    5 if index < model.len() => {
                        let (op, _) = model.remove(index);
                        let (old, new) = (module.result(op, 0), values[0]);
                        values.retain(|&value| value != old);
                        module.replace(op, &[new]);
                        assert!(module.is_erased(op));
                        for operand in model.iter_mut().flat_map(|(_, operands)| operands) {
                            *operand = if *operand == old { new } else { *operand };
                        }
                    }
                    _ => {}
                }
                for &value in &values {
                    let mut found: Vec<(OpId, usize)> = module.uses(value).collect();
                    found.sort_unstable();
                    let mut expected: Vec<(OpId, usize)> = Vec::new();
                    for (op, operands) in &model {
                        let places = operands.iter().enumerate().filter(|&(_, &operand)| operand == value);
                        expected.extend(places.map(|(at, _)| (*op, at)));
                    }
                    expected.sort_unstable();
                    assert_eq!(found, expected, "seed {seed}");
                    assert_eq!(module.has_uses(value), !expected.is_empty());
                }
            }
        }
    }

    #[test]
    fn erasing_takes_all_that_is_inside() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let source = any_op(&mut module, block, &[], 1);
        let outer = module.create(OpState::new(&crate::testing::SCOPE).regions(1));
        module.append(block, outer);
        let region = module.region(outer, 0);
        let inner_block = module.append_block(region);
        let x = module.result(source, 0);
        let inner = any_op(&mut module, inner_block, &[x, x], 1);
        end(&mut module, inner_block, &[]);
        module.erase(outer);
        assert!(module.is_erased(inner) && !module.is_erased(source));
        assert!(!module.has_uses(x));
        assert_eq!(module.definition(module.result(inner, 0)), Definition::None);
        assert_eq!(module.ops(block).collect::<Vec<_>>(), [source]);
    }

    #[test]
    fn arguments_keep_their_numbers() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let ty = f32(&mut module);
        let arguments: Vec<ValueId> = (0..3).map(|_| module.append_argument(block, ty)).collect();
        module.erase_argument(block, 0);
        assert_eq!(module.arguments(block), &arguments[1..]);
        assert_eq!(module.definition(arguments[2]), Definition::Argument { block, index: 1 });
    }

    #[test]
    fn joined_places_name_each_origin_once() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let ops: Vec<OpId> = (0..4).map(|_| any_op(&mut module, block, &[], 0)).collect();
        let mut named = |text: &str| {
            let name = module.interner.name(text);
            let child = module.interner.unknown_location();
            module.interner.location(LocationData::Named { name, child })
        };
        let (a, b) = (named("a"), named("b"));
        module.set_location(ops[0], a);
        module.set_location(ops[1], b);
        let both = module.interner.location(LocationData::fused([a, b]));
        module.join_places(ops[3], &[ops[0], ops[1], ops[2]]);
        assert_eq!(module.location(ops[3]), both);
        module.join_places(ops[2], &[ops[3], ops[0]]);
        assert_eq!(module.location(ops[2]), both);
        module.join_places(ops[2], &[ops[0], ops[0]]);
        assert_eq!(module.location(ops[2]), a);
    }

    #[test]
    fn an_op_that_stands_for_many_names_the_first_places() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let ops: Vec<OpId> = (0..40).map(|_| any_op(&mut module, block, &[], 0)).collect();
        let mut places = Vec::new();
        for (index, &op) in ops.iter().enumerate() {
            let name = module.interner.name(&format!("place {index}"));
            let child = module.interner.unknown_location();
            let place = module.interner.location(LocationData::Named { name, child });
            module.set_location(op, place);
            places.push(place);
        }
        // In turns, as passes do it.
        module.join_places(ops[0], &ops[..10]);
        module.join_places(ops[0], &[ops[0], ops[10], ops[11]]);
        module.join_places(ops[20], &ops[20..]);
        module.join_places(ops[0], &[ops[0], ops[20]]);
        let expected: Vec<Location> = places[..12].iter().chain(&places[20..24]).copied().collect();
        let found = module.location_data(module.location(ops[0]));
        assert_eq!(found, &LocationData::fused(expected));
    }

    #[test]
    fn fewer_operands_take_no_new_room() {
        let mut module = module();
        let (_, block) = function(&mut module, "f");
        let source = any_op(&mut module, block, &[], 2);
        let (x, y) = (module.result(source, 0), module.result(source, 1));
        let op = any_op(&mut module, block, &[x, x, y], 0);
        let room = module.uses.len();
        module.set_operands(op, &[y, y, x]);
        module.set_operands(op, &[x, y]);
        assert_eq!(module.uses.len(), room);
        assert_eq!(module.operands(op).collect::<Vec<_>>(), [x, y]);
        assert_eq!(module.uses(x).collect::<Vec<_>>(), [(op, 0)]);
        assert_eq!(module.uses(y).collect::<Vec<_>>(), [(op, 1)]);
    }
}

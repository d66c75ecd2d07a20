//! Random edits of a program beside a naive model of it. After every edit all that the module keeps linked, ordered and
//! cached is compared with what a scan of the model gives.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fastrand::Rng;
use tofu_ir::{
    ANY_ATTR, BlockId, Definition, Dialect, ElementType, Module, Name, OpDef, OpId, OpState, Registry,
    SYMBOL_NAME, Trait, ValueId, any, op, optional,
};

static NODE: OpDef = op("t.node")
    .operands(&[any("inputs").variadic()])
    .results(&[any("outputs").variadic()])
    .attributes(&[optional("other", ANY_ATTR)])
    .traits(&[Trait::Symbol]);

static TABLE: OpDef = op("t.table").traits(&[Trait::Symbol, Trait::SymbolTable]);

static DIALECT: Dialect =
    Dialect { name: "t", summary: "", ops: &[&NODE, &TABLE], types: &[], attributes: &[], constant: None };

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[test]
fn links_orders_uses_and_symbols_survive_any_edit() {
    for seed in 0..40 {
        let mut program = Program::new(seed);
        for step in 0..250 {
            let what = program.edit();
            program.check(&format!("seed {seed}, step {step}: {what}"));
        }
    }
}

struct Program {
    rng: Rng,
    module: Module,
    ops: BTreeMap<OpId, OpModel>,
    blocks: BTreeMap<BlockId, BlockModel>,
    erased: Vec<OpId>,
    /// Every value there ever was.
    values: Vec<ValueId>,
    names: Vec<Name>,
    /// Tables are looked at only now and then, so that not all of them are always known.
    looks_rarely: bool,
}

struct OpModel {
    operands: Vec<ValueId>,
    results: Vec<ValueId>,
    name: Option<Name>,
    home: Option<BlockId>,
    blocks: Option<Vec<BlockId>>,
}

struct BlockModel {
    owner: OpId,
    ops: Vec<OpId>,
    arguments: Vec<ValueId>,
}

impl Program {
    fn new(seed: u64) -> Program {
        let mut module = Module::new(Arc::new(Registry::new(&[&DIALECT]).unwrap()));
        let (root, body) = (module.root(), module.body());
        let names = NAMES.iter().map(|name| module.interner.name(name)).collect();
        let model = OpModel {
            operands: Vec::new(),
            results: Vec::new(),
            name: None,
            home: None,
            blocks: Some(vec![body]),
        };
        Program {
            rng: Rng::with_seed(seed),
            module,
            ops: BTreeMap::from([(root, model)]),
            blocks: BTreeMap::from([(
                body,
                BlockModel { owner: root, ops: Vec::new(), arguments: Vec::new() },
            )]),
            erased: Vec::new(),
            values: Vec::new(),
            names,
            looks_rarely: seed % 2 == 1,
        }
    }

    // Picking.

    fn op(&mut self) -> OpId {
        let ops: Vec<OpId> = self.ops.keys().copied().collect();
        ops[self.rng.usize(0..ops.len())]
    }

    fn op_but_root(&mut self) -> Option<OpId> {
        Some(self.op()).filter(|&op| op != self.module.root())
    }

    fn table(&mut self) -> OpId {
        let tables: Vec<OpId> =
            self.ops.iter().filter(|(_, model)| model.blocks.is_some()).map(|(&op, _)| op).collect();
        tables[self.rng.usize(0..tables.len())]
    }

    fn block(&mut self) -> BlockId {
        let blocks: Vec<BlockId> = self.blocks.keys().copied().collect();
        blocks[self.rng.usize(0..blocks.len())]
    }

    fn some_values(&mut self, most: usize) -> Vec<ValueId> {
        let count = if self.values.is_empty() { 0 } else { self.rng.usize(0..=most) };
        (0..count).map(|_| self.values[self.rng.usize(0..self.values.len())]).collect()
    }

    /// Whether `block` is in `op`, however deep.
    fn is_inside(&self, op: OpId, block: BlockId) -> bool {
        let mut at = Some(block);
        while let Some(block) = at {
            let owner = self.blocks[&block].owner;
            if owner == op {
                return true;
            }
            at = self.ops[&owner].home;
        }
        false
    }

    // Editing.

    fn edit(&mut self) -> &'static str {
        match self.rng.u8(0..20) {
            0..=3 => self.create(),
            4 | 5 => self.append(),
            6..=8 => self.insert_or_move(),
            9 => self.detach(),
            10 => self.erase(),
            11 => self.set_operand(),
            12 => self.set_operands(),
            13 => self.replace_all_uses(),
            14 | 15 => self.rename(),
            16 => self.append_block(),
            17 => self.move_blocks(),
            18 => self.append_argument(),
            _ => self.erase_argument(),
        }
    }

    fn create(&mut self) -> &'static str {
        if self.ops.len() > 50 {
            return "too many ops";
        }
        let is_table = self.rng.u8(0..5) == 0;
        let operands = self.some_values(3);
        let ty = self.module.interner.ty(ElementType::F32);
        let types = vec![ty; self.rng.usize(0..3)];
        let state = OpState::new(if is_table { &TABLE } else { &NODE });
        let state = state.operands(operands.iter().copied()).results(types).regions(u16::from(is_table));
        let op = self.module.create(state);
        let results: Vec<ValueId> = self.module.results(op).collect();
        self.values.extend(&results);
        let blocks = is_table.then(Vec::new);
        self.ops.insert(op, OpModel { operands, results, name: None, home: None, blocks });
        if self.rng.bool() {
            self.set_name(op);
        }
        "create"
    }

    fn append(&mut self) -> &'static str {
        let block = self.block();
        let Some(op) = self.op_but_root() else { return "nothing to append" };
        if self.ops[&op].home.is_some() || self.is_inside(op, block) {
            return "cannot append";
        }
        self.module.append(block, op);
        self.blocks.get_mut(&block).unwrap().ops.push(op);
        self.ops.get_mut(&op).unwrap().home = Some(block);
        "append"
    }

    fn insert_or_move(&mut self) -> &'static str {
        let anchor = self.op();
        let (Some(op), Some(block)) = (self.op_but_root(), self.ops[&anchor].home) else { return "no place" };
        if op == anchor || self.is_inside(op, block) {
            return "no move";
        }
        let (before, moves) = (self.rng.bool(), self.ops[&op].home.is_some());
        match (before, moves) {
            (true, true) => self.module.move_before(anchor, op),
            (false, true) => self.module.move_after(anchor, op),
            (true, false) => self.module.insert_before(anchor, op),
            (false, false) => self.module.insert_after(anchor, op),
        }
        self.unlink(op);
        let ops = &mut self.blocks.get_mut(&block).unwrap().ops;
        let at = ops.iter().position(|&op| op == anchor).unwrap();
        ops.insert(if before { at } else { at + 1 }, op);
        self.ops.get_mut(&op).unwrap().home = Some(block);
        if moves { "move" } else { "insert" }
    }

    fn unlink(&mut self, op: OpId) {
        if let Some(block) = self.ops.get_mut(&op).unwrap().home.take() {
            self.blocks.get_mut(&block).unwrap().ops.retain(|&other| other != op);
        }
    }

    fn detach(&mut self) -> &'static str {
        let Some(op) = self.op_but_root() else { return "nothing to detach" };
        self.module.detach(op);
        self.unlink(op);
        "detach"
    }

    fn erase(&mut self) -> &'static str {
        let Some(op) = self.op_but_root() else { return "nothing to erase" };
        let results = self.ops[&op].results.clone();
        let values = self.some_values(results.len());
        if values.len() == results.len() && !values.iter().any(|value| results.contains(value)) {
            self.module.replace(op, &values);
            for (old, new) in results.into_iter().zip(values) {
                self.replace_uses(old, new);
            }
        } else {
            self.module.erase(op);
        }
        self.unlink(op);
        let mut pending = vec![op];
        while let Some(op) = pending.pop() {
            for block in self.ops.remove(&op).unwrap().blocks.into_iter().flatten() {
                pending.extend(self.blocks.remove(&block).unwrap().ops);
            }
            self.erased.push(op);
        }
        "erase"
    }

    fn set_operand(&mut self) -> &'static str {
        let op = self.op();
        let count = self.ops[&op].operands.len();
        let [value] = self.some_values(1)[..] else { return "no value" };
        if count == 0 {
            return "no operands";
        }
        let (a, b) = (self.rng.usize(0..count), self.rng.usize(0..count));
        self.module.set_operand(op, a, value);
        self.module.swap_operands(op, a, b);
        let operands = &mut self.ops.get_mut(&op).unwrap().operands;
        operands[a] = value;
        operands.swap(a, b);
        "set and swap operands"
    }

    fn set_operands(&mut self) -> &'static str {
        let (op, operands) = (self.op(), self.some_values(4));
        self.module.set_operands(op, &operands);
        self.ops.get_mut(&op).unwrap().operands = operands;
        "set operands"
    }

    fn replace_all_uses(&mut self) -> &'static str {
        if let [old, new] = self.some_values(2)[..] {
            self.module.replace_all_uses(old, new);
            self.replace_uses(old, new);
        }
        "replace all uses"
    }

    fn replace_uses(&mut self, old: ValueId, new: ValueId) {
        for operand in self.ops.values_mut().flat_map(|model| &mut model.operands) {
            if *operand == old {
                *operand = new;
            }
        }
    }

    fn rename(&mut self) -> &'static str {
        let Some(op) = self.op_but_root() else { return "nothing to rename" };
        match self.rng.u8(0..5) {
            0 => {
                self.module.remove_attr(op, SYMBOL_NAME);
                self.ops.get_mut(&op).unwrap().name = None;
            }
            1 => {
                let empty = self.module.interner.empty_dict();
                self.module.set_attr_dict(op, empty);
                self.ops.get_mut(&op).unwrap().name = None;
            }
            2 => {
                let other = self.module.interner.int(self.rng.i64(0..3));
                self.module.set_attr(op, "other", other);
            }
            _ => self.set_name(op),
        }
        "rename"
    }

    fn set_name(&mut self, op: OpId) {
        let index = self.rng.usize(0..NAMES.len());
        let symbol = self.module.interner.symbol(NAMES[index]);
        self.module.set_attr(op, SYMBOL_NAME, symbol);
        self.ops.get_mut(&op).unwrap().name = Some(self.names[index]);
    }

    fn append_block(&mut self) -> &'static str {
        let table = self.table();
        let block = self.module.append_block(self.module.region(table, 0));
        self.ops.get_mut(&table).unwrap().blocks.as_mut().unwrap().push(block);
        self.blocks.insert(block, BlockModel { owner: table, ops: Vec::new(), arguments: Vec::new() });
        "append block"
    }

    fn move_blocks(&mut self) -> &'static str {
        let (from, to) = (self.table(), self.table());
        if from == self.module.root() {
            return "the root keeps its blocks";
        }
        let mut around = self.ops[&to].home;
        while let Some(block) = around {
            let owner = self.blocks[&block].owner;
            if owner == from {
                return "cannot move blocks into themselves";
            }
            around = self.ops[&owner].home;
        }
        let (source, target) = (self.module.region(from, 0), self.module.region(to, 0));
        let moved = self.module.take_blocks(source);
        assert_eq!(self.ops.get_mut(&from).unwrap().blocks.replace(Vec::new()), Some(moved.clone()));
        for block in moved {
            self.module.attach_block(target, block);
            self.ops.get_mut(&to).unwrap().blocks.as_mut().unwrap().push(block);
            self.blocks.get_mut(&block).unwrap().owner = to;
        }
        "move blocks"
    }

    fn append_argument(&mut self) -> &'static str {
        let block = self.block();
        let ty = self.module.interner.ty(ElementType::F32);
        let value = self.module.append_argument(block, ty);
        self.blocks.get_mut(&block).unwrap().arguments.push(value);
        self.values.push(value);
        "append argument"
    }

    fn erase_argument(&mut self) -> &'static str {
        let block = self.block();
        let arguments = &mut self.blocks.get_mut(&block).unwrap().arguments;
        if arguments.is_empty() || self.values.len() == 1 {
            return "no arguments to spare";
        }
        let index = self.rng.usize(0..arguments.len());
        let value = arguments.remove(index);
        let other = self.values[usize::from(self.values[0] == value)];
        self.module.replace_all_uses(value, other);
        self.replace_uses(value, other);
        self.module.erase_argument(block, index);
        "erase argument"
    }

    // Checking.

    fn check(&mut self, what: &str) {
        self.check_structure(what);
        self.check_uses(what);
        if !self.looks_rarely || self.rng.u8(0..4) == 0 {
            self.check_symbols(what);
        }
    }

    fn check_structure(&self, what: &str) {
        let module = &self.module;
        for (&op, model) in &self.ops {
            assert!(!module.is_erased(op), "{what}");
            assert_eq!(module.block_of(op), model.home, "{what}");
            assert_eq!(module.operands(op).collect::<Vec<_>>(), model.operands, "{what}");
            assert_eq!(module.results(op).collect::<Vec<_>>(), model.results, "{what}");
            for (index, &value) in model.results.iter().enumerate() {
                let expected = Definition::Result { op, index: index as u32 };
                assert_eq!(module.definition(value), expected, "{what}");
            }
            if let Some(blocks) = &model.blocks {
                assert_eq!(module.blocks(module.region(op, 0)), blocks, "{what}");
            }
        }
        for (&block, model) in &self.blocks {
            assert_eq!(module.block_parent(block), Some(model.owner), "{what}");
            assert_eq!(module.ops(block).collect::<Vec<_>>(), model.ops, "{what}");
            assert!(module.ops(block).rev().eq(model.ops.iter().rev().copied()), "{what}");
            assert_eq!(module.first_op(block), model.ops.first().copied(), "{what}");
            assert_eq!(module.last_op(block), model.ops.last().copied(), "{what}");
            for pair in model.ops.windows(2) {
                assert!(module.is_before(pair[0], pair[1]) && !module.is_before(pair[1], pair[0]), "{what}");
                assert_eq!(module.next_op(pair[0]), Some(pair[1]), "{what}");
                assert_eq!(module.previous_op(pair[1]), Some(pair[0]), "{what}");
            }
            assert_eq!(module.arguments(block), model.arguments, "{what}");
            for (index, &value) in model.arguments.iter().enumerate() {
                let expected = Definition::Argument { block, index: index as u32 };
                assert_eq!(module.definition(value), expected, "{what}");
            }
        }
        assert!(self.erased.iter().all(|&op| module.is_erased(op)), "{what}");
    }

    fn check_uses(&self, what: &str) {
        let results = self.ops.values().flat_map(|model| &model.results);
        let arguments = self.blocks.values().flat_map(|model| &model.arguments);
        let defined: BTreeSet<ValueId> = results.chain(arguments).copied().collect();
        let mut expected: BTreeMap<ValueId, Vec<(OpId, usize)>> = BTreeMap::new();
        for (&op, model) in &self.ops {
            for (index, &value) in model.operands.iter().enumerate() {
                expected.entry(value).or_default().push((op, index));
            }
        }
        for &value in &self.values {
            let is_defined = self.module.definition(value) != Definition::None;
            assert_eq!(is_defined, defined.contains(&value), "{what}");
            let mut uses: Vec<(OpId, usize)> = self.module.uses(value).collect();
            uses.sort_unstable();
            assert_eq!(uses, expected.get(&value).cloned().unwrap_or_default(), "{what}");
            assert_eq!(self.module.has_uses(value), !uses.is_empty(), "{what}");
        }
    }

    fn check_symbols(&self, what: &str) {
        for (&op, model) in &self.ops {
            let table = self.module.symbol_table(op);
            let Some(blocks) = &model.blocks else {
                assert!(table.is_none(), "{what}");
                continue;
            };
            let table = table.unwrap();
            let (mut first, mut redefined) = (BTreeMap::new(), Vec::new());
            for &inner in blocks.iter().flat_map(|block| &self.blocks[block].ops) {
                let Some(name) = self.ops[&inner].name else { continue };
                match first.get(&name) {
                    Some(&before) => redefined.push((before, inner)),
                    None => {
                        first.insert(name, inner);
                    }
                }
            }
            for &name in &self.names {
                assert_eq!(table.get(name), first.get(&name).copied(), "{what}");
            }
            assert_eq!(table.iter().collect::<BTreeSet<_>>(), first.into_iter().collect(), "{what}");
            assert_eq!(table.redefinitions(), redefined, "{what}");
        }
        assert!(self.erased.iter().all(|&op| self.module.symbol_table(op).is_none()), "{what}");
    }
}

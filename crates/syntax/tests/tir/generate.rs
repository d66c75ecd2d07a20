//! Random programs, valid by construction: the same for the same seed.
//!
//! Every shape of op of the test dialect occurs, with every kind of type, attribute, constant and location. Blocks are
//! made along a dominator tree that is drawn first, and then stand in any order, so that values are used before their
//! definition in the text.

use std::sync::Arc;

use fastrand::Rng;
use tofu_ir::*;

use crate::dialect::{
    ADD, ANY, CALL, CONSTANT, DEFINITION, END, FUNC, HOST, ISOLATED, LIST, REGION, SCOPE, SPLIT, TABLE, TEXT,
    TWO_REGIONS, registry,
};

/// The program of a seed. With `plain_names` the text can say every name that a value or block has; else some clash,
/// and some can be no names in a text.
pub(crate) fn program(seed: u64, plain_names: bool) -> Module {
    let mut generator = Generator {
        rng: Rng::with_seed(seed),
        module: Module::new(registry()),
        symbols: Vec::new(),
        plain_names,
        depth: 0,
        budget: 0,
    };
    generator.budget = generator.rng.usize(0..6);
    generator.root();
    generator.module
}

struct Generator {
    rng: Rng,
    module: Module,
    /// The paths that a symbol may have here.
    symbols: Vec<SymbolRef>,
    plain_names: bool,
    depth: usize,
    /// How many more ops there may be.
    budget: usize,
}

/// Texts that are no words, or nearly.
const STRANGE: [&str; 22] = [
    "",
    " ",
    "a b",
    "é",
    "\"",
    "\\",
    "\n",
    "\t\r",
    "\u{1}",
    "\u{7f}\u{80}",
    "1",
    "1a",
    "a.",
    ".a",
    "a..b",
    "tensor",
    "x",
    "日本\u{202e}",
    "\\41",
    "//",
    "a::b",
    "}",
];

const WORDS: [&str; 12] =
    ["a", "b1", "_", "_9", "x", "true", "tensor", "loc", "dense", "a.b", "with$dollar", "unit"];

impl Generator {
    fn root(&mut self) {
        let root = self.module.root();
        if self.rng.bool() {
            let name = self.word();
            let attr = self.module.interner.symbol(&name);
            self.module.set_attr(root, SYMBOL_NAME, attr);
        }
        let body = self.module.body();
        self.items(body);
    }

    // Ops that stand in a symbol table.

    /// The ops of a symbol table.
    fn items(&mut self, block: BlockId) {
        let before = self.symbols.len();
        let count = if self.depth == 0 { self.rng.usize(1..3) } else { self.rng.usize(0..2) };
        let mut names: Vec<Name> = Vec::new();
        while names.len() < count {
            let text = self.word();
            let name = self.module.interner.name(&text);
            // A name that is seen from further out as well would change what symbols inside mean.
            if !names.contains(&name) && !self.symbols.iter().any(|path| path.contains(&name)) {
                names.push(name);
            }
        }
        self.symbols.extend(names.iter().map(|&name| SymbolRef::from_slice(&[name])));
        for name in names {
            match self.rng.u8(0..10) {
                0 if self.depth < 2 => self.table(block, &builtin::MODULE, name),
                1 if self.depth < 2 => self.table(block, &TABLE, name),
                2 => self.declaration(block, name),
                3 => self.text_item(block, name),
                4 => self.definition(block, name),
                _ => self.function(block, name),
            }
        }
        // From outside of the table, paths are longer.
        self.symbols.truncate(before);
    }

    fn table(&mut self, block: BlockId, def: &'static OpDef, name: Name) {
        let symbol = self.module.interner.attr(AttrData::symbol(name));
        let attrs = vec![(self.module.interner.name(SYMBOL_NAME), symbol)];
        let op = self.add(block, def, &[], &[], attrs, 1);
        let region = self.module.region(op, 0);
        let body = self.module.append_block(region);
        self.depth += 1;
        self.items(body);
        self.depth -= 1;
        let inner: Vec<Name> = self.module.ops(body).filter_map(|op| self.module.symbol_name(op)).collect();
        self.symbols.extend(inner.into_iter().map(|inner| SymbolRef::from_slice(&[name, inner])));
    }

    /// Text that ends with its braces, or that only the generic form can hold.
    fn text_item(&mut self, block: BlockId, name: Name) {
        const PIECES: [&str; 16] = [
            "{", "}", " {", "}", "\n  ", "\n", "// {\n", "\"}\"", "\"", "(", "]", "func @f", "text", "a",
            "é", "\r",
        ];
        let pieces = (0..self.rng.usize(0..12)).map(|_| PIECES[self.rng.usize(..PIECES.len())]);
        let body: String = pieces.collect();
        let text = if self.rng.bool() { format!("(x) {{{body}}}") } else { body };
        let mut attrs = vec![
            (self.module.interner.name(SYMBOL_NAME), self.module.interner.attr(AttrData::symbol(name))),
            (self.module.interner.name("words"), self.module.interner.attr(AttrData::String(text.into()))),
        ];
        if self.rng.u8(0..4) == 0 {
            attrs.push((self.module.interner.name("a"), self.attr(0)));
        }
        self.add(block, &TEXT, &[], &[], attrs, 0);
    }

    /// A name for an attribute, or for what only the generic form can define.
    fn definition(&mut self, block: BlockId, name: Name) {
        let defined = if self.rng.u8(0..4) == 0 {
            self.attr(0)
        } else {
            let ints = (0..self.rng.usize(0..4)).map(|_| self.rng.i64(..)).collect::<Vec<_>>();
            let params = self.module.interner.ints(ints);
            self.module.interner.attr(AttrData::Dialect(DialectAttr { def: &LIST, params }))
        };
        let mut attrs = vec![
            (self.module.interner.name(SYMBOL_NAME), self.module.interner.attr(AttrData::symbol(name))),
            (self.module.interner.name("list"), defined),
        ];
        if self.rng.u8(0..4) == 0 {
            attrs.push((self.module.interner.name("a"), self.attr(0)));
        }
        self.add(block, &DEFINITION, &[], &[], attrs, 0);
    }

    fn declaration(&mut self, block: BlockId, name: Name) {
        let (inputs, results) = (self.types(2), self.types(2));
        let attrs = self.function_attributes(name, &inputs, &results);
        self.add(block, &FUNC, &[], &[], attrs, 1);
    }

    fn function(&mut self, block: BlockId, name: Name) {
        let (inputs, results) = (self.types(2), self.types(2));
        let attrs = self.function_attributes(name, &inputs, &results);
        let op = self.add(block, &FUNC, &[], &[], attrs, 1);
        let region = self.module.region(op, 0);
        self.depth += 1;
        self.blocks(region, &inputs, &[]);
        self.depth -= 1;
    }

    fn function_attributes(&mut self, name: Name, inputs: &[Type], results: &[Type]) -> Vec<(Name, Attr)> {
        let symbol = self.module.interner.attr(AttrData::symbol(name));
        let ty = self.module.interner.function(inputs, results);
        let ty = self.module.interner.attr(AttrData::Type(ty));
        let mut attrs = vec![
            (self.module.interner.name(SYMBOL_NAME), symbol),
            (self.module.interner.name(FUNCTION_TYPE), ty),
        ];
        if self.rng.u8(0..3) == 0 {
            attrs.push((self.module.interner.name("a"), self.attr(0)));
        }
        for (key, count) in [(ARGUMENT_ATTRIBUTES, inputs.len()), (RESULT_ATTRIBUTES, results.len())] {
            match self.rng.u8(0..5) {
                0 => {
                    let items = (0..count)
                        .map(|_| if self.rng.bool() { self.dict(1) } else { self.empty() })
                        .collect();
                    let list = self.module.interner.attr(AttrData::Array(items));
                    attrs.push((self.module.interner.name(key), list));
                }
                // Not a list of dictionaries, so the signature cannot show it.
                1 if self.rng.u8(0..4) == 0 => {
                    let list = self.module.interner.ints([1]);
                    attrs.push((self.module.interner.name(key), list));
                }
                _ => {}
            }
        }
        attrs
    }

    // Ops in blocks.

    /// Fills a region; values of `visible` may be used in it.
    fn blocks(&mut self, region: RegionId, entry_types: &[Type], visible: &[ValueId]) {
        let count = if self.rng.u8(0..3) == 0 { self.rng.usize(2..5) } else { 1 };
        let mut index = 0;
        let mut argument_types = vec![entry_types.to_vec()];
        argument_types.extend((1..count).map(|_| self.types(2)));
        let blocks: Vec<BlockId> = argument_types
            .iter()
            .map(|types| {
                let block = self.module.create_block();
                for &ty in types {
                    let argument = self.module.append_argument(block, ty);
                    self.name_value(argument, &mut index);
                }
                block
            })
            .collect();
        let mut order: Vec<usize> = (1..count).collect();
        self.rng.shuffle(&mut order);
        self.module.attach_block(region, blocks[0]);
        for &at in &order {
            self.module.attach_block(region, blocks[at]);
        }
        self.name_blocks(&blocks);
        // Block `at` is dominated by block `parents[at]`; no way leads to a block without a parent.
        let parents: Vec<Option<usize>> =
            (0..count).map(|at| (at > 0 && self.rng.u8(0..6) > 0).then(|| self.rng.usize(0..at))).collect();
        let mut at_end: Vec<Vec<ValueId>> = Vec::new();
        let mut all = visible.to_vec();
        for at in 0..count {
            let mut seen = match parents[at] {
                Some(parent) => at_end[parent].clone(),
                None if at == 0 => visible.to_vec(),
                None => all.clone(),
            };
            seen.extend(self.module.arguments(blocks[at]));
            self.ops(blocks[at], &mut seen, &mut index);
            self.terminator(at, &blocks, &parents, &seen);
            all.extend(seen.iter().copied());
            at_end.push(seen);
        }
    }

    /// Continues at every block that is dominated by this one, and at others whose dominator is still on every way.
    fn terminator(&mut self, at: usize, blocks: &[BlockId], parents: &[Option<usize>], seen: &[ValueId]) {
        let is_under = |mut inner: usize, outer: usize| loop {
            if inner == outer {
                return true;
            }
            match parents[inner] {
                Some(parent) => inner = parent,
                None => return false,
            }
        };
        let is_reachable = is_under(at, 0);
        let mut operands: Vec<ValueId> = self.some_values(seen, 3);
        let mut successors = Vec::new();
        for next in 1..blocks.len() {
            let must = parents[next] == Some(at);
            let may = match parents[next] {
                Some(parent) => is_under(at, parent),
                None => !is_reachable,
            };
            if !(must || may && self.rng.u8(0..4) == 0) {
                continue;
            }
            let wanted: Vec<Type> =
                self.module.arguments(blocks[next]).iter().map(|&value| self.module.ty(value)).collect();
            let given: Option<Vec<ValueId>> = wanted
                .iter()
                .map(|&ty| seen.iter().copied().find(|&value| self.module.ty(value) == ty))
                .collect();
            let given = match given {
                Some(given) => given,
                // Where there is no value of the right type, one is made.
                None => {
                    let maker = self.add(blocks[at], &ANY, &[], &wanted, Vec::new(), 0);
                    self.module.results(maker).collect()
                }
            };
            operands.extend(&given);
            successors.push(Successor { block: blocks[next], argument_count: given.len() as u32 });
        }
        let end = self.add(blocks[at], &END, &operands, &[], Vec::new(), 0);
        self.module.set_successors(end, successors);
    }

    fn ops(&mut self, block: BlockId, seen: &mut Vec<ValueId>, index: &mut usize) {
        for _ in 0..self.rng.usize(0..6) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            let op = match self.rng.u8(0..13) {
                0 => self.add_op(block, seen),
                1 => self.split_op(block, seen),
                2 | 3 => self.constant_op(block),
                4 => self.call_op(block, seen),
                5 if self.depth < 4 => self.region_op(block, &REGION, seen),
                6 if self.depth < 4 => self.region_op(block, &TWO_REGIONS, seen),
                7 if self.depth < 4 => self.region_op(block, &ISOLATED, seen),
                8 if self.depth < 4 => self.scope_op(block, seen),
                _ => self.any_op(block, seen),
            };
            let Some(op) = op else { continue };
            for result in self.module.results(op) {
                self.name_value(result, index);
                seen.push(result);
            }
        }
    }

    fn any_op(&mut self, block: BlockId, seen: &[ValueId]) -> Option<OpId> {
        let (operands, results) = (self.some_values(seen, 4), self.types(2));
        let mut attrs = Vec::new();
        for key in ["a", "b", "c", "a strange name", "test.a", "builtin.é"] {
            if self.rng.u8(0..4) == 0 {
                attrs.push((self.module.interner.name(key), self.attr(0)));
            }
        }
        Some(self.add(block, &ANY, &operands, &results, attrs, 0))
    }

    fn add_op(&mut self, block: BlockId, seen: &[ValueId]) -> Option<OpId> {
        let x = self.some_tensor(seen)?;
        let result = self.loosened(x);
        Some(self.add(block, &ADD, &[x, x], &[result], Vec::new(), 0))
    }

    fn split_op(&mut self, block: BlockId, seen: &[ValueId]) -> Option<OpId> {
        let x = self.some_tensor(seen)?;
        let (low, high) = (self.loosened(x), self.module.ty(x));
        Some(self.add(block, &SPLIT, &[x], &[low, high], Vec::new(), 0))
    }

    fn constant_op(&mut self, block: BlockId) -> Option<OpId> {
        let value = self.dense();
        let AttrData::Dense(dense) = self.module.attr_data(value) else { return None };
        let ty = if self.rng.u8(0..8) == 0 { self.tensor() } else { dense.ty };
        let mut attrs = vec![(self.module.interner.name(VALUE), value)];
        if self.rng.u8(0..4) == 0 {
            attrs.push((self.module.interner.name("note"), self.attr(0)));
        }
        Some(self.add(block, &CONSTANT, &[], &[ty], attrs, 0))
    }

    fn call_op(&mut self, block: BlockId, seen: &[ValueId]) -> Option<OpId> {
        let callee = self.symbol()?;
        let (operands, results) = (self.some_values(seen, 3), self.types(3));
        let mut attrs = vec![(self.module.interner.name("callee"), callee)];
        if self.rng.u8(0..4) == 0 {
            attrs.push((self.module.interner.name("a"), self.attr(0)));
        }
        Some(self.add(block, &CALL, &operands, &results, attrs, 0))
    }

    fn region_op(&mut self, block: BlockId, def: &'static OpDef, seen: &[ValueId]) -> Option<OpId> {
        let (operands, results) = (self.some_values(seen, 2), self.types(2));
        let op = self.add(block, def, &operands, &results, Vec::new(), def.regions.len() as u16);
        let visible = if def.has(Trait::Isolated) { &[] } else { seen };
        self.depth += 1;
        for region in self.module.regions(op) {
            if self.rng.u8(0..6) > 0 {
                let arguments = self.types(2);
                self.blocks(region, &arguments, visible);
            }
        }
        self.depth -= 1;
        Some(op)
    }

    fn scope_op(&mut self, block: BlockId, visible: &[ValueId]) -> Option<OpId> {
        let mut attrs = Vec::new();
        if self.rng.bool() {
            let name = self.word();
            attrs.push((self.module.interner.name(SYMBOL_NAME), self.module.interner.symbol(&name)));
        }
        if self.rng.bool() {
            attrs.push((self.module.interner.name("a"), self.attr(0)));
        }
        let op = self.add(block, &SCOPE, &[], &[], attrs, 1);
        let region = self.module.region(op, 0);
        self.depth += 1;
        // Arguments do not fit the braces, nor do several blocks.
        let arguments = if self.rng.u8(0..6) == 0 { self.types(2) } else { Vec::new() };
        self.blocks(region, &arguments, visible);
        self.depth -= 1;
        Some(op)
    }

    fn add(
        &mut self,
        block: BlockId,
        def: &'static OpDef,
        operands: &[ValueId],
        results: &[Type],
        attrs: Vec<(Name, Attr)>,
        regions: u16,
    ) -> OpId {
        let mut state = OpState::new(def)
            .operands(operands.iter().copied())
            .results(results.iter().copied())
            .regions(regions);
        if !attrs.is_empty() {
            state.attrs = Some(self.module.interner.dict(&attrs));
        }
        if self.rng.u8(0..4) == 0 {
            state.location = Some(self.location(0));
        }
        let op = self.module.create(state);
        self.module.append(block, op);
        op
    }

    // Names.

    /// A name for value number `index` of a region. In plain programs it says its depth and its number, so that it is
    /// taken again in neighbouring regions, but never in a region within.
    fn name_value(&mut self, value: ValueId, index: &mut usize) {
        *index += 1;
        if self.rng.u8(0..3) == 0 {
            return;
        }
        let text = if self.plain_names {
            let separator = ["_", ".", "-", "$"][self.rng.usize(0..4)];
            format!("{}{separator}{}{separator}{index}", ["x", "_", "Ab"][self.rng.usize(0..3)], self.depth)
        } else {
            let names =
                ["0", "3", "7a", "a b", "é", "", "x", "x", "x", "x_1", "x_2", "x_1_1", "y", "a-b", "%", "\""];
            names[self.rng.usize(0..names.len())].to_owned()
        };
        let name = self.module.interner.name(&text);
        self.module.set_value_name(value, Some(name));
    }

    fn name_blocks(&mut self, blocks: &[BlockId]) {
        for (index, &block) in blocks.iter().enumerate() {
            if self.rng.bool() {
                continue;
            }
            let text = if self.plain_names {
                format!("{}{index}", ["next", "b.", "bb-", "bb_", "_"][self.rng.usize(0..5)])
            } else {
                let names = ["0", "bb0", "bb1", "bb2", "bb1_1", "next", "next", "next_1", "é", "", "^"];
                names[self.rng.usize(0..names.len())].to_owned()
            };
            let name = self.module.interner.name(&text);
            self.module.set_block_name(block, Some(name));
        }
    }

    fn word(&mut self) -> String {
        match self.rng.u8(0..3) {
            0 => WORDS[self.rng.usize(0..WORDS.len())].to_owned(),
            1 => STRANGE[self.rng.usize(0..STRANGE.len())].to_owned(),
            _ => format!("{}{}", WORDS[self.rng.usize(0..WORDS.len())], self.rng.u8(..)),
        }
    }

    fn string(&mut self) -> String {
        let mut text = self.word();
        for _ in 0..self.rng.usize(0..3) {
            text.push(self.rng.char(..));
        }
        text
    }

    // Values and types.

    fn some_values(&mut self, seen: &[ValueId], most: usize) -> Vec<ValueId> {
        if seen.is_empty() {
            return Vec::new();
        }
        (0..self.rng.usize(0..=most)).map(|_| seen[self.rng.usize(0..seen.len())]).collect()
    }

    fn some_tensor(&mut self, seen: &[ValueId]) -> Option<ValueId> {
        let tensors: Vec<ValueId> =
            seen.iter().copied().filter(|&value| self.module.tensor_type(value).is_some()).collect();
        if tensors.is_empty() { None } else { Some(tensors[self.rng.usize(0..tensors.len())]) }
    }

    /// The type of a tensor, perhaps with less known about its extents.
    fn loosened(&mut self, value: ValueId) -> Type {
        let Some(tensor) = self.module.tensor_type(value) else { return self.module.ty(value) };
        let mut tensor = tensor.clone();
        for dim in &mut tensor.dims {
            if self.rng.u8(0..4) == 0 {
                *dim = Dim::Unknown;
            }
        }
        self.module.interner.ty(tensor)
    }

    fn types(&mut self, most: usize) -> Vec<Type> {
        (0..self.rng.usize(0..=most)).map(|_| self.ty(0)).collect()
    }

    fn ty(&mut self, depth: usize) -> Type {
        match self.rng.u8(0..12) {
            0 => {
                let element = self.element();
                self.module.interner.ty(element)
            }
            1 => self.module.interner.ty(TypeData::Token),
            2 if depth < 3 => {
                let items = (0..self.rng.usize(0..3)).map(|_| self.ty(depth + 1)).collect();
                self.module.interner.ty(TypeData::Tuple(items))
            }
            3 if depth < 3 => {
                let inputs: Vec<Type> = (0..self.rng.usize(0..3)).map(|_| self.ty(depth + 1)).collect();
                let results: Vec<Type> = (0..self.rng.usize(0..3)).map(|_| self.ty(depth + 1)).collect();
                self.module.interner.function(&inputs, &results)
            }
            4 if depth < 3 => {
                let inner = self.ty(depth + 1);
                let params = self.module.interner.attr(AttrData::Type(inner));
                self.module.interner.ty(TypeData::Dialect(DialectType { def: &HOST, params }))
            }
            5 => self.module.interner.tensor(&[4], ElementType::F32),
            _ => self.tensor(),
        }
    }

    fn tensor(&mut self) -> Type {
        let dims = (0..self.rng.usize(0..4))
            .map(|_| match self.rng.u8(0..8) {
                0 => Dim::Unknown,
                1 | 2 => {
                    let text = self.word();
                    Dim::Symbol(self.module.interner.name(&text))
                }
                3 => Dim::Static(0),
                4 => Dim::Static(1 << self.rng.u8(0..17)),
                _ => Dim::Static(self.rng.u64(0..1000)),
            })
            .collect();
        let element = self.element();
        self.module.interner.ty(TensorType { dims, element })
    }

    fn element(&mut self) -> ElementType {
        ElementType::ALL[self.rng.usize(0..ElementType::ALL.len())]
    }

    // Attributes.

    fn empty(&self) -> Attr {
        self.module.interner.empty_dict()
    }

    fn attr(&mut self, depth: usize) -> Attr {
        let data = match self.rng.u8(0..if depth < 3 { 16 } else { 10 }) {
            0 => AttrData::Unit,
            1 => AttrData::Bool(self.rng.bool()),
            2 => AttrData::Int(self.rng.i64(..).into(), ElementType::I64),
            3 => self.int(),
            4 => self.float(),
            5 => AttrData::String(self.string().into()),
            6 => match self.symbol() {
                Some(symbol) => return symbol,
                None => AttrData::Unit,
            },
            7 => AttrData::Type(self.ty(0)),
            8 => return self.dense(),
            9 => {
                let ints: Vec<i64> = (0..self.rng.usize(0..4)).map(|_| self.rng.i64(-100..100)).collect();
                return self.module.interner.ints(ints);
            }
            10 | 11 => AttrData::Array((0..self.rng.usize(0..4)).map(|_| self.attr(depth + 1)).collect()),
            12 => return self.dict(depth + 1),
            13 | 14 => AttrData::Pair(self.attr(depth + 1), self.attr(depth + 1)),
            _ => {
                let items = (0..self.rng.usize(0..4)).map(|_| self.attr(depth + 1)).collect();
                let params = self.module.interner.attr(AttrData::Array(items));
                AttrData::Dialect(DialectAttr { def: &LIST, params })
            }
        };
        self.module.interner.attr(data)
    }

    fn dict(&mut self, depth: usize) -> Attr {
        let entries: Vec<(Name, Attr)> = (0..self.rng.usize(0..4))
            .map(|_| {
                let key = self.word();
                (self.module.interner.name(&key), self.attr(depth + 1))
            })
            .collect();
        self.module.interner.dict(&entries)
    }

    fn symbol(&mut self) -> Option<Attr> {
        if self.symbols.is_empty() {
            return None;
        }
        let path = self.symbols[self.rng.usize(0..self.symbols.len())].clone();
        Some(self.module.interner.attr(AttrData::Symbol(path)))
    }

    fn int(&mut self) -> AttrData {
        let element = self.element_where(ElementType::is_integer);
        AttrData::Int(self.integer(element), element)
    }

    fn integer(&mut self, element: ElementType) -> i128 {
        let (low, high) = element.integer_range().unwrap_or((0, 0));
        match self.rng.u8(0..4) {
            0 => low,
            1 => high,
            2 => low + (high - low) / 2,
            _ => self.rng.i128(low..=high),
        }
    }

    fn float(&mut self) -> AttrData {
        let element = self.element_where(ElementType::is_float);
        AttrData::Float(self.float_bits(element), element)
    }

    fn element_where(&mut self, condition: fn(ElementType) -> bool) -> ElementType {
        let fitting: Vec<ElementType> =
            ElementType::ALL.into_iter().filter(|&element| condition(element)).collect();
        fitting[self.rng.usize(0..fitting.len())]
    }

    fn float_bits(&mut self, element: ElementType) -> u64 {
        let mask = u64::MAX >> (64 - element.bits());
        let values = [
            0.0,
            -0.0,
            1.0,
            0.1,
            -1.5,
            1e9,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MIN_POSITIVE,
            1e-310,
        ];
        match self.rng.u8(0..3) {
            0 => encode_float(element, values[self.rng.usize(0..values.len())]),
            // Not-a-number with and without a payload, for the formats that have it, and the largest codes.
            1 => mask >> self.rng.u8(0..8),
            _ => self.rng.u64(..) & mask,
        }
    }

    fn dense(&mut self) -> Attr {
        let dims: &[u64] = match self.rng.u8(0..12) {
            0 => &[],
            1 => &[0],
            2 => &[2, 0, 3],
            3 => &[1],
            4 => &[1, 1],
            5 => &[65],
            6 => &[9, 8],
            7 => &[1 << 40],
            _ => &[2, 3],
        };
        let element = self.element();
        let ty = self.module.interner.tensor(dims, element);
        let count: u64 = dims.iter().product();
        let is_splat = count > 100 || count > 0 && self.rng.u8(0..3) == 0;
        let mut bytes = Vec::new();
        for _ in 0..if is_splat { 1 } else { count } {
            let parts = if element.is_complex() { 2 } else { 1 };
            for _ in 0..parts {
                let part = element.part();
                let bits = if part.is_float() { self.float_bits(part) } else { self.integer(part) as u64 };
                bytes.extend_from_slice(&bits.to_le_bytes()[..part.storage_bytes()]);
            }
        }
        let data =
            if is_splat { DenseData::Splat(bytes.into()) } else { DenseData::from_bytes(bytes, element) };
        self.module.interner.dense(ty, data)
    }

    // Locations.

    fn location(&mut self, depth: usize) -> Location {
        let data = match self.rng.u8(0..if depth < 3 { 6 } else { 3 }) {
            0 => LocationData::Unknown,
            1 => {
                let file = self.string();
                let file = self.module.interner.name(&file);
                let line = if self.rng.bool() { self.rng.u32(..) } else { self.rng.u32(0..100) };
                LocationData::File { file, line, column: self.rng.u32(0..1000) }
            }
            2 | 3 => {
                let name = self.string();
                let name = self.module.interner.name(&name);
                let child = if depth < 3 {
                    self.location(depth + 1)
                } else {
                    self.module.interner.unknown_location()
                };
                LocationData::Named { name, child }
            }
            4 => {
                let parts = (0..self.rng.usize(0..3)).map(|_| self.location(depth + 1)).collect();
                let metadata = self.rng.bool().then(|| self.attr(2));
                LocationData::Fused { parts, metadata }
            }
            _ => LocationData::Call { callee: self.location(depth + 1), caller: self.location(depth + 1) },
        };
        self.module.interner.location(data)
    }
}

/// A fresh module that holds a copy of what is in `module`.
pub(crate) fn copied(module: &Module) -> Module {
    let mut target = Module::new(Arc::clone(module.registry()));
    let copy = copy_op_from(module, module.root(), &mut target, &mut ValueMap::default());
    let body = target.body();
    target.append(body, copy);
    target.set_root(copy);
    target
}

//! Structural equality: two programs with equal digests are the same but for the numbers of their entities.
//!
//! The walk gives each value and block the number of its first occurrence and hashes everything else by content, so
//! that interned ids do not matter and modules can be compared with one another. What is interned is hashed once, from
//! the hashes of its parts. All hashes are SipHash-2-4 with 128 bits under a fixed key: the same in every run and on
//! every machine, and far from accidental collisions.

use std::hash::Hasher;

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128, SipHasher24};

use crate::{
    Attr, AttrData, BlockId, DenseData, Dim, Location, LocationData, Module, Name, OpId, Type, TypeData,
    ValueId,
};

/// The hash of a program's structure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Digest(u128);

/// What counts besides the structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Compared {
    /// The names of values and blocks.
    pub names: bool,
    /// The locations of ops.
    pub locations: bool,
}

/// The digest of an op and all that is in it; of a whole program, that of its root. Values from outside count by their
/// type and by which of them are equal.
pub fn digest(module: &Module, op: OpId, compared: Compared) -> Digest {
    let mut walker = Walker {
        module,
        compared,
        hash: Hash::new(),
        values: FxHashMap::default(),
        blocks: FxHashMap::default(),
        contents: Contents {
            module,
            types: FxHashMap::default(),
            attrs: FxHashMap::default(),
            locations: FxHashMap::default(),
        },
    };
    for inner in module.walk(op) {
        walker.op(inner);
    }
    Digest(walker.hash.finish())
}

struct Walker<'m> {
    module: &'m Module,
    compared: Compared,
    hash: Hash,
    values: FxHashMap<ValueId, u32>,
    blocks: FxHashMap<BlockId, u32>,
    contents: Contents<'m>,
}

impl Walker<'_> {
    fn op(&mut self, op: OpId) {
        let module = self.module;
        self.hash.text(module.def(op).name);
        self.hash.content(self.contents.attr(module.attr_dict(op)));
        self.hash.count(module.operand_count(op));
        for operand in module.operands(op) {
            self.value(operand);
        }
        self.hash.count(module.successors(op).len());
        for successor in module.successors(op) {
            self.block(successor.block);
            self.hash.number(successor.argument_count);
        }
        self.hash.count(module.result_count(op));
        for result in module.results(op) {
            self.value(result);
        }
        self.hash.count(module.region_count(op));
        for region in module.regions(op) {
            self.hash.count(module.blocks(region).len());
            for &block in module.blocks(region) {
                self.block(block);
                self.hash.count(module.ops(block).count());
                self.hash.count(module.arguments(block).len());
                for &argument in module.arguments(block) {
                    self.value(argument);
                }
            }
        }
        if self.compared.locations {
            self.hash.content(self.contents.location(module.location(op)));
        }
    }

    fn value(&mut self, value: ValueId) {
        let next = self.values.len() as u32;
        let number = *self.values.entry(value).or_insert(next);
        self.hash.number(number);
        if number == next {
            self.hash.content(self.contents.ty(self.module.ty(value)));
            self.name(self.module.value_name(value));
        }
    }

    fn block(&mut self, block: BlockId) {
        let next = self.blocks.len() as u32;
        let number = *self.blocks.entry(block).or_insert(next);
        self.hash.number(number);
        if number == next {
            self.name(self.module.block_name(block));
        }
    }

    fn name(&mut self, name: Option<Name>) {
        if self.compared.names {
            self.hash.count(usize::from(name.is_some()));
            self.hash.text(name.map_or("", |name| self.module.text(name)));
        }
    }
}

/// The hashes of interned things.
struct Contents<'m> {
    module: &'m Module,
    types: FxHashMap<Type, u128>,
    attrs: FxHashMap<Attr, u128>,
    locations: FxHashMap<Location, u128>,
}

impl Contents<'_> {
    fn ty(&mut self, ty: Type) -> u128 {
        if let Some(&known) = self.types.get(&ty) {
            return known;
        }
        let mut hash = Hash::new();
        match self.module.type_data(ty) {
            TypeData::Element(element) => hash.kind("element").text(element.name()),
            TypeData::Tensor(tensor) => {
                hash.kind("tensor").text(tensor.element.name()).count(tensor.dims.len());
                for dim in &tensor.dims {
                    match *dim {
                        Dim::Static(size) => hash.kind("size").bytes(&size.to_le_bytes()),
                        Dim::Unknown => hash.kind("?"),
                        Dim::Symbol(name) => hash.kind("symbol").text(self.module.text(name)),
                    };
                }
                &mut hash
            }
            TypeData::Token => hash.kind("token"),
            TypeData::Tuple(items) => {
                self.types(hash.kind("tuple"), items);
                &mut hash
            }
            TypeData::Function(function) => {
                self.types(hash.kind("function"), &function.inputs);
                self.types(&mut hash, &function.results);
                &mut hash
            }
            TypeData::Dialect(dialect) => {
                hash.kind("dialect").text(dialect.def.name).content(self.attr(dialect.params))
            }
            TypeData::Error => hash.kind("error"),
        };
        let content = hash.finish();
        self.types.insert(ty, content);
        content
    }

    fn types(&mut self, hash: &mut Hash, types: &[Type]) {
        hash.count(types.len());
        for &ty in types {
            hash.content(self.ty(ty));
        }
    }

    fn attr(&mut self, attr: Attr) -> u128 {
        if let Some(&known) = self.attrs.get(&attr) {
            return known;
        }
        let module = self.module;
        let mut hash = Hash::new();
        match module.attr_data(attr) {
            AttrData::Unit => hash.kind("unit"),
            AttrData::Bool(value) => hash.kind("bool").count(usize::from(*value)),
            AttrData::Int(value, element) => {
                hash.kind("int").text(element.name()).bytes(&value.to_le_bytes())
            }
            AttrData::Float(bits, element) => {
                hash.kind("float").text(element.name()).bytes(&bits.to_le_bytes())
            }
            AttrData::String(text) => hash.kind("string").text(text),
            AttrData::Symbol(path) => {
                hash.kind("symbol").count(path.len());
                path.iter().fold(&mut hash, |hash, &name| hash.text(module.text(name)))
            }
            AttrData::Type(ty) => hash.kind("type").content(self.ty(*ty)),
            AttrData::Array(items) => {
                hash.kind("array").count(items.len());
                items.iter().fold(&mut hash, |hash, &item| hash.content(self.attr(item)))
            }
            AttrData::Ints(items) => {
                hash.kind("ints").count(items.len());
                items.iter().fold(&mut hash, |hash, item| hash.bytes(&item.to_le_bytes()))
            }
            AttrData::Dict(entries) => {
                hash.kind("dict").count(entries.len());
                let add = |hash, &(name, attr): &(Name, Attr)| {
                    Hash::text(hash, module.text(name)).content(self.attr(attr))
                };
                entries.iter().fold(&mut hash, add)
            }
            AttrData::Dense(dense) => {
                hash.kind("dense").content(self.ty(dense.ty));
                match &dense.data {
                    DenseData::Splat(bytes) => hash.kind("splat").sized(bytes),
                    DenseData::Bytes(bytes) => hash.kind("bytes").sized(bytes),
                }
            }
            AttrData::Pair(left, right) => {
                hash.kind("pair").content(self.attr(*left)).content(self.attr(*right))
            }
            AttrData::Dialect(dialect) => {
                hash.kind("dialect").text(dialect.def.name).content(self.attr(dialect.params))
            }
        };
        let content = hash.finish();
        self.attrs.insert(attr, content);
        content
    }

    fn location(&mut self, location: Location) -> u128 {
        if let Some(&known) = self.locations.get(&location) {
            return known;
        }
        let module = self.module;
        let mut hash = Hash::new();
        match module.location_data(location) {
            LocationData::Unknown => hash.kind("unknown"),
            LocationData::File { file, line, column } => {
                hash.kind("file").text(module.text(*file)).number(*line).number(*column)
            }
            LocationData::Named { name, child } => {
                hash.kind("named").text(module.text(*name)).content(self.location(*child))
            }
            LocationData::Fused { parts, metadata } => {
                hash.kind("fused").count(usize::from(metadata.is_some()));
                metadata.iter().fold(&mut hash, |hash, &metadata| hash.content(self.attr(metadata)));
                hash.count(parts.len());
                parts.iter().fold(&mut hash, |hash, &part| hash.content(self.location(part)))
            }
            LocationData::Call { callee, caller } => {
                hash.kind("call").content(self.location(*callee)).content(self.location(*caller))
            }
        };
        let content = hash.finish();
        self.locations.insert(location, content);
        content
    }
}

/// A hash being made. Everything of variable length is preceded by its length, so that no two sequences run together.
struct Hash(SipHasher24);

impl Hash {
    fn new() -> Hash {
        Hash(SipHasher24::new_with_keys(0, 0))
    }

    fn finish(&self) -> u128 {
        self.0.finish128().as_u128()
    }

    /// Which sort of thing follows.
    fn kind(&mut self, kind: &str) -> &mut Hash {
        self.text(kind)
    }

    fn text(&mut self, text: &str) -> &mut Hash {
        self.sized(text.as_bytes())
    }

    fn content(&mut self, content: u128) -> &mut Hash {
        self.bytes(&content.to_le_bytes())
    }

    fn count(&mut self, count: usize) -> &mut Hash {
        self.bytes(&(count as u64).to_le_bytes())
    }

    fn number(&mut self, number: u32) -> &mut Hash {
        self.bytes(&number.to_le_bytes())
    }

    fn sized(&mut self, bytes: &[u8]) -> &mut Hash {
        self.count(bytes.len()).bytes(bytes)
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Hash {
        self.0.write(bytes);
        self
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{any_op, end, f32, function, module};
    use crate::{AttrData, ElementType, LocationData, OpId, OpState, Successor};

    fn whole(module: &Module, compared: Compared) -> Digest {
        digest(module, module.root(), compared)
    }

    const ALL: Compared = Compared { names: true, locations: true };

    struct Program {
        module: Module,
        function: OpId,
        source: OpId,
        user: OpId,
        end: OpId,
        second: BlockId,
    }

    /// A small program; with `detours` its entities and interned things have other numbers.
    fn program(detours: bool) -> Program {
        let mut module = module();
        if detours {
            module.interner.name("unused");
            module.interner.tensor(&[7], ElementType::I4);
            module.interner.string("unused");
            let (unused, block) = function(&mut module, "unused");
            any_op(&mut module, block, &[], 3);
            module.erase(unused);
        }
        let (function, block) = function(&mut module, "f");
        let region = module.region(function, 0);
        let second = module.append_block(region);
        let source = any_op(&mut module, block, &[], 2);
        let (x, y) = (module.result(source, 0), module.result(source, 1));
        let user = any_op(&mut module, block, &[x, y], 1);
        let list = module.interner.ints([1, 2]);
        module.set_attr(user, "list", list);
        let name = module.interner.name("x");
        module.set_value_name(x, Some(name));
        let end_op = end(&mut module, block, &[second]);
        end(&mut module, second, &[]);
        Program { module, function, source, user, end: end_op, second }
    }

    #[test]
    fn numbers_do_not_matter() {
        let (plain, detours) = (program(false), program(true));
        assert_ne!(plain.user, detours.user);
        assert_eq!(whole(&plain.module, ALL), whole(&detours.module, ALL));
        assert_eq!(digest(&plain.module, plain.user, ALL), digest(&detours.module, detours.user, ALL));
    }

    #[test]
    fn every_change_matters() {
        type Change = fn(&mut Program);
        let changes: [(&str, Change); 16] = [
            ("an operand", |p| {
                let y = p.module.result(p.source, 1);
                p.module.set_operand(p.user, 0, y);
            }),
            ("the order of operands", |p| p.module.swap_operands(p.user, 0, 1)),
            ("the number of operands", |p| {
                let x = p.module.result(p.source, 0);
                p.module.set_operands(p.user, &[x]);
            }),
            ("a type", |p| {
                let ty = p.module.interner.tensor(&[], ElementType::F32);
                p.module.set_type(p.module.result(p.user, 0), ty);
            }),
            ("an attribute", |p| {
                let list = p.module.interner.ints([1, 3]);
                p.module.set_attr(p.user, "list", list);
            }),
            ("an attribute's type", |p| {
                let item = p.module.interner.attr(AttrData::Int(1, ElementType::I32));
                p.module.set_attr(p.user, "list", item);
            }),
            ("a further attribute", |p| {
                let unit = p.module.interner.attr(AttrData::Unit);
                p.module.set_attr(p.user, "a", unit);
            }),
            ("no attribute", |p| p.module.remove_attr(p.user, "list")),
            ("a symbol", |p| {
                let name = p.module.interner.symbol("g");
                p.module.set_attr(p.function, crate::SYMBOL_NAME, name);
            }),
            ("an op more", |p| {
                let op = p.module.create(OpState::new(&crate::testing::ANY));
                p.module.insert_before(p.user, op);
            }),
            ("an op less", |p| p.module.erase(p.user)),
            ("the order of ops", |p| p.module.move_before(p.source, p.user)),
            ("no successor", |p| p.module.set_successors(p.end, Vec::new())),
            ("what a successor is given", |p| {
                let x = p.module.result(p.source, 0);
                p.module.set_operands(p.end, &[x]);
                p.module.set_successors(p.end, vec![Successor { block: p.second, argument_count: 1 }]);
            }),
            ("a block argument", |p| {
                let ty = f32(&mut p.module);
                p.module.append_argument(p.second, ty);
            }),
            ("a block", |p| {
                let region = p.module.region(p.function, 0);
                p.module.append_block(region);
            }),
        ];
        let before = whole(&program(false).module, Compared::default());
        let mut seen = vec![before];
        for (what, change) in changes {
            let mut changed = program(false);
            change(&mut changed);
            let after = whole(&changed.module, Compared::default());
            assert!(!seen.contains(&after), "{what}");
            seen.push(after);
        }
    }

    #[test]
    fn names_and_locations_matter_on_request() {
        let before = program(false).module;
        let check = |changed: &Module, matters: Compared| {
            let same = |compared| whole(&before, compared) == whole(changed, compared);
            assert!(same(Compared::default()));
            assert!(!same(ALL) && !same(matters));
        };
        let names = Compared { names: true, locations: false };
        let mut renamed = program(false);
        let name = renamed.module.interner.name("z");
        renamed.module.set_value_name(renamed.module.result(renamed.source, 0), Some(name));
        check(&renamed.module, names);
        let mut renamed = program(false);
        let name = renamed.module.interner.name("z");
        renamed.module.set_block_name(renamed.second, Some(name));
        check(&renamed.module, names);
        let mut moved = program(false);
        let file = moved.module.interner.name("f.py");
        let place = moved.module.interner.location(LocationData::File { file, line: 1, column: 2 });
        moved.module.set_location(moved.user, place);
        check(&moved.module, Compared { names: false, locations: true });
    }
}

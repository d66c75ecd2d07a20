//! Structural equality: two programs with equal digests are the same but for the numbers of their entities.
//!
//! The walk gives each value and block the number of its first occurrence and hashes everything else by content, so
//! that interned ids do not matter and modules can be compared with one another. The hash is SipHash-2-4 with 128 bits
//! under a fixed key: the same in every run and on every machine, and far from accidental collisions.

use std::hash::Hasher;

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128, SipHasher24};

use crate::{
    Attr, BlockId, DisplayOptions, Location, Module, OpId, Type, ValueId, write_attr, write_location,
    write_type,
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

/// The digest of a whole program.
pub fn digest_module(module: &Module, compared: Compared) -> Digest {
    digest(module, module.root(), compared)
}

/// The digest of an op and all that is in it. Values from outside count by their type and by which of them are equal.
pub fn digest(module: &Module, op: OpId, compared: Compared) -> Digest {
    let mut walker = Walker {
        module,
        compared,
        hasher: SipHasher24::new_with_keys(0, 0),
        values: FxHashMap::default(),
        blocks: FxHashMap::default(),
        types: FxHashMap::default(),
        attrs: FxHashMap::default(),
        text: String::new(),
    };
    for inner in module.walk(op) {
        walker.op(inner);
    }
    Digest(walker.hasher.finish128().as_u128())
}

struct Walker<'m> {
    module: &'m Module,
    compared: Compared,
    hasher: SipHasher24,
    values: FxHashMap<ValueId, u32>,
    blocks: FxHashMap<BlockId, u32>,
    /// The content of types and attributes, hashed once each.
    types: FxHashMap<Type, u64>,
    attrs: FxHashMap<Attr, u64>,
    text: String,
}

impl Walker<'_> {
    fn op(&mut self, op: OpId) {
        let module = self.module;
        self.bytes(module.def(op).name.as_bytes());
        let attrs = module.attr_dict(op);
        self.attr(attrs);
        self.count(module.operand_count(op));
        for operand in module.operands(op) {
            self.value(operand);
        }
        self.count(module.successors(op).len());
        for successor in module.successors(op) {
            self.block(successor.block);
            self.hasher.write_u32(successor.argument_count);
        }
        self.count(module.result_count(op));
        for result in module.results(op) {
            self.value(result);
        }
        self.count(module.region_count(op));
        for region in module.regions(op) {
            self.count(module.blocks(region).len());
            for &block in module.blocks(region) {
                self.block(block);
                self.count(module.ops(block).count());
                self.count(module.arguments(block).len());
                for &argument in module.arguments(block) {
                    self.value(argument);
                }
            }
        }
        if self.compared.locations {
            self.location(module.location(op));
        }
    }

    fn value(&mut self, value: ValueId) {
        let next = self.values.len() as u32;
        let number = *self.values.entry(value).or_insert(next);
        self.hasher.write_u32(number);
        if number == next {
            self.ty(self.module.ty(value));
            if let (true, Some(name)) = (self.compared.names, self.module.value_name(value)) {
                self.bytes(self.module.text(name).as_bytes());
            }
        }
    }

    fn block(&mut self, block: BlockId) {
        let next = self.blocks.len() as u32;
        let number = *self.blocks.entry(block).or_insert(next);
        self.hasher.write_u32(number);
        if let (true, true, Some(name)) = (number == next, self.compared.names, self.module.block_name(block))
        {
            self.bytes(self.module.text(name).as_bytes());
        }
    }

    fn ty(&mut self, ty: Type) {
        let hash = match self.types.get(&ty) {
            Some(&hash) => hash,
            None => {
                self.text.clear();
                write_type(&mut self.text, self.module, ty);
                let hash = content_hash(self.text.as_bytes());
                self.types.insert(ty, hash);
                hash
            }
        };
        self.hasher.write_u64(hash);
    }

    fn attr(&mut self, attr: Attr) {
        let hash = match self.attrs.get(&attr) {
            Some(&hash) => hash,
            None => {
                self.text.clear();
                write_attr(&mut self.text, self.module, attr, DisplayOptions::default());
                let hash = content_hash(self.text.as_bytes());
                self.attrs.insert(attr, hash);
                hash
            }
        };
        self.hasher.write_u64(hash);
    }

    fn location(&mut self, location: Location) {
        self.text.clear();
        write_location(&mut self.text, self.module, location);
        let hash = content_hash(self.text.as_bytes());
        self.hasher.write_u64(hash);
    }

    fn count(&mut self, count: usize) {
        self.hasher.write_u64(count as u64);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.hasher.write(bytes);
    }
}

fn content_hash(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher24::new_with_keys(0, 0);
    hasher.write(bytes);
    hasher.finish128().h1
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

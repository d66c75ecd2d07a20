//! Named ops: which name means which op.
//!
//! The tables of a module are made when a symbol is first looked up, and kept until a named op is added, taken away or
//! renamed.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::{Attr, AttrData, Module, Name, OpId, SymbolRef, Trait};

/// The names in one op with [`Trait::SymbolTable`].
#[derive(Clone, Debug, Default)]
pub struct SymbolTable {
    ops: IndexMap<Name, OpId, FxBuildHasher>,
    redefinitions: Vec<(OpId, OpId)>,
}

/// The tables of all ops with [`Trait::SymbolTable`] in a module.
pub(crate) type SymbolIndex = FxHashMap<OpId, SymbolTable>;

impl SymbolTable {
    fn of(module: &Module, table: OpId) -> SymbolTable {
        let mut symbols = SymbolTable::default();
        for op in children(module, table) {
            if let Some(name) = module.symbol_name(op) {
                symbols.add(name, op);
            }
        }
        symbols
    }

    fn add(&mut self, name: Name, op: OpId) {
        match self.ops.get(&name) {
            Some(&first) => self.redefinitions.push((first, op)),
            None => {
                self.ops.insert(name, op);
            }
        }
    }

    /// The op called `name`; the first, if there are several.
    pub fn get(&self, name: Name) -> Option<OpId> {
        self.ops.get(&name).copied()
    }

    /// All names, in the order of their ops.
    pub fn iter(&self) -> impl Iterator<Item = (Name, OpId)> {
        self.ops.iter().map(|(&name, &op)| (name, op))
    }

    /// Ops whose name was taken: the first of that name, and the later one.
    pub fn redefinitions(&self) -> &[(OpId, OpId)] {
        &self.redefinitions
    }
}

fn children(module: &Module, op: OpId) -> impl Iterator<Item = OpId> + '_ {
    module.regions(op).flat_map(|region| module.blocks(region)).flat_map(|&block| module.ops(block))
}

impl Module {
    /// The names in `op`; none if it stands outside of the program or holds no names.
    pub fn symbol_table(&self, op: OpId) -> Option<&SymbolTable> {
        let index = self.symbols.get_or_init(|| {
            let mut index = SymbolIndex::default();
            let mut pending = vec![self.root()];
            while let Some(table) = pending.pop() {
                pending.extend(children(self, table).filter(|&op| self.has(op, Trait::SymbolTable)));
                index.insert(table, SymbolTable::of(self, table));
            }
            index
        });
        index.get(&op)
    }

    /// What `path` means when `user` says it. Its first name is looked up in the symbol tables around `user`, innermost
    /// first; each further name in the op found so far.
    pub fn resolve_symbol(&self, user: OpId, path: &[Name]) -> Option<OpId> {
        let (&first, rest) = path.split_first()?;
        let mut around = self.ancestors(user).skip(1);
        let mut found = around.find_map(|op| self.symbol_table(op)?.get(first))?;
        for &name in rest {
            found = self.symbol_table(found)?.get(name)?;
        }
        Some(found)
    }

    /// The op that the symbol in the attribute `name` of `op` means.
    pub fn symbol_target(&self, op: OpId, name: &str) -> Option<OpId> {
        match self.attr_value(op, name)? {
            AttrData::Symbol(path) => self.resolve_symbol(op, path),
            _ => None,
        }
    }

    /// Calls `visit` for every symbol that an attribute mentions, however deep.
    pub fn visit_symbols(&self, attr: Attr, visit: &mut impl FnMut(&SymbolRef)) {
        match self.attr_data(attr) {
            AttrData::Symbol(path) => visit(path),
            AttrData::Array(items) => items.iter().for_each(|&item| self.visit_symbols(item, visit)),
            AttrData::Dict(entries) => entries.iter().for_each(|&(_, item)| self.visit_symbols(item, visit)),
            AttrData::Pair(left, right) => {
                [*left, *right].iter().for_each(|&side| self.visit_symbols(side, visit))
            }
            AttrData::Dialect(dialect) => self.visit_symbols(dialect.params, visit),
            _ => {}
        }
    }
}

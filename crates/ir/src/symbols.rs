//! Named ops: which name means which op.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::{Attr, AttrData, Module, Name, OpId, SymbolRef, Trait};

/// The names in one op with [`Trait::SymbolTable`].
#[derive(Clone, Debug, Default)]
pub struct SymbolTable {
    ops: IndexMap<Name, OpId, FxBuildHasher>,
    redefinitions: Vec<(OpId, OpId)>,
}

impl SymbolTable {
    /// The table of the ops that stand directly in `table`.
    pub fn of(module: &Module, table: OpId) -> SymbolTable {
        let mut symbols = SymbolTable::default();
        for region in module.regions(table) {
            for &block in module.blocks(region) {
                for op in module.ops(block) {
                    if let Some(name) = module.symbol_name(op) {
                        symbols.add(name, op);
                    }
                }
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

/// The symbol tables of a module, each made when it is first asked for.
#[derive(Clone, Debug, Default)]
pub struct SymbolTables {
    tables: FxHashMap<OpId, SymbolTable>,
}

impl SymbolTables {
    /// No tables yet.
    pub fn new() -> SymbolTables {
        SymbolTables::default()
    }

    /// The table of `op`.
    pub fn table(&mut self, module: &Module, op: OpId) -> &SymbolTable {
        self.tables.entry(op).or_insert_with(|| SymbolTable::of(module, op))
    }

    /// What `path` means when `user` says it. Its first name is looked up in the symbol tables around `user`, innermost
    /// first; each further name in the op found so far.
    pub fn resolve(&mut self, module: &Module, user: OpId, path: &[Name]) -> Option<OpId> {
        let (&first, rest) = path.split_first()?;
        let around: Vec<OpId> =
            module.ancestors(user).skip(1).filter(|&op| module.has(op, Trait::SymbolTable)).collect();
        let mut found = around.into_iter().find_map(|table| self.table(module, table).get(first))?;
        for &name in rest {
            if !module.has(found, Trait::SymbolTable) {
                return None;
            }
            found = self.table(module, found).get(name)?;
        }
        Some(found)
    }
}

impl Module {
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

    /// The op that the symbol in the attribute `name` of `op` means. For one question; ask [`SymbolTables`] for many.
    pub fn symbol_target(&self, op: OpId, name: &str) -> Option<OpId> {
        match self.attr_value(op, name)? {
            AttrData::Symbol(path) => SymbolTables::new().resolve(self, op, path),
            _ => None,
        }
    }
}

//! Named ops: which name means which op.
//!
//! The table of an op is made when a name is first looked up in it. From then on it is kept up to date, op by op; only
//! where a name is or becomes defined twice, or whole blocks come or go, is it made anew at the next look.

use std::sync::OnceLock;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::{Attr, AttrData, Module, Name, OpId, SymbolRef, Trait, Type, TypeData};

/// The names in one op with [`Trait::SymbolTable`].
#[derive(Clone, Debug, Default)]
pub struct SymbolTable {
    ops: IndexMap<Name, OpId, FxBuildHasher>,
    redefinitions: Vec<(OpId, OpId)>,
}

/// The tables of all ops with [`Trait::SymbolTable`] in a module, as far as they were needed.
pub(crate) type SymbolIndex = FxHashMap<OpId, OnceLock<SymbolTable>>;

impl SymbolTable {
    fn of(module: &Module, table: OpId) -> SymbolTable {
        let mut symbols = SymbolTable::default();
        let blocks = module.regions(table).flat_map(|region| module.blocks(region));
        for op in blocks.flat_map(|&block| module.ops(block)) {
            let Some(name) = defined_name(module, op) else { continue };
            match symbols.ops.get(&name) {
                Some(&first) => symbols.redefinitions.push((first, op)),
                None => {
                    symbols.ops.insert(name, op);
                }
            }
        }
        symbols
    }

    /// The op called `name`; the first, if there are several.
    pub fn get(&self, name: Name) -> Option<OpId> {
        self.ops.get(&name).copied()
    }

    /// All names, in an order that depends only on what was done to the program.
    pub fn iter(&self) -> impl Iterator<Item = (Name, OpId)> {
        self.ops.iter().map(|(&name, &op)| (name, op))
    }

    /// Ops whose name was taken: the first of that name, and the later one.
    pub fn redefinitions(&self) -> &[(OpId, OpId)] {
        &self.redefinitions
    }
}

fn defined_name(module: &Module, op: OpId) -> Option<Name> {
    module.has(op, Trait::Symbol).then(|| module.symbol_name(op)).flatten()
}

impl Module {
    /// The names in `op`; none if it is no op that holds names.
    pub fn symbol_table(&self, op: OpId) -> Option<&SymbolTable> {
        Some(self.symbols.get(&op)?.get_or_init(|| SymbolTable::of(self, op)))
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

    /// Calls `visit` for every symbol that the attributes of an op, the types of its results and those of the arguments
    /// of its blocks mention, however deep, each once. The name that the op defines is one of them.
    pub fn visit_symbols_of_op(&self, op: OpId, visit: &mut impl FnMut(&SymbolRef)) {
        let blocks = self.regions(op).flat_map(|region| self.blocks(region));
        let arguments = blocks.flat_map(|&block| self.arguments(block).iter().copied());
        let types = self.results(op).chain(arguments).map(|value| Part::Type(self.ty(value)));
        self.visit_symbols_in([Part::Attr(self.attr_dict(op))].into_iter().chain(types), visit);
    }

    /// Calls `visit` for every symbol that an attribute mentions, however deep, each once.
    pub fn visit_symbols(&self, attr: Attr, visit: &mut impl FnMut(&SymbolRef)) {
        self.visit_symbols_in([Part::Attr(attr)], visit);
    }

    /// Calls `visit` for every symbol that a type mentions, however deep, each once.
    pub fn visit_type_symbols(&self, ty: Type, visit: &mut impl FnMut(&SymbolRef)) {
        self.visit_symbols_in([Part::Type(ty)], visit);
    }

    fn visit_symbols_in(&self, parts: impl IntoIterator<Item = Part>, visit: &mut impl FnMut(&SymbolRef)) {
        // Interned things share what they are made of; without this, a small program could take forever.
        let mut seen = FxHashSet::default();
        let mut pending = Vec::new();
        for part in parts {
            pending.push(part);
            while let Some(part) = pending.pop() {
                if seen.insert(part) {
                    let before = pending.len();
                    self.visit_part(part, &mut pending, visit);
                    pending[before..].reverse();
                }
            }
        }
    }

    fn visit_part(&self, part: Part, inner: &mut Vec<Part>, visit: &mut impl FnMut(&SymbolRef)) {
        match part {
            Part::Attr(attr) => match self.attr_data(attr) {
                AttrData::Symbol(path) => visit(path),
                AttrData::Type(ty) => inner.push(Part::Type(*ty)),
                AttrData::Array(items) => inner.extend(items.iter().map(|&item| Part::Attr(item))),
                AttrData::Dict(entries) => inner.extend(entries.iter().map(|&(_, item)| Part::Attr(item))),
                AttrData::Pair(left, right) => inner.extend([Part::Attr(*left), Part::Attr(*right)]),
                AttrData::Dialect(dialect) => inner.push(Part::Attr(dialect.params)),
                AttrData::Unit
                | AttrData::Bool(_)
                | AttrData::Int(..)
                | AttrData::Float(..)
                | AttrData::String(_)
                | AttrData::Ints(_)
                // A constant's type is a tensor, which mentions nothing.
                | AttrData::Dense(_) => {}
            },
            Part::Type(ty) => match self.type_data(ty) {
                TypeData::Tuple(items) => inner.extend(items.iter().map(|&item| Part::Type(item))),
                TypeData::Function(function) => {
                    let types = function.inputs.iter().chain(&function.results);
                    inner.extend(types.map(|&ty| Part::Type(ty)));
                }
                TypeData::Dialect(dialect) => inner.push(Part::Attr(dialect.params)),
                TypeData::Element(_) | TypeData::Tensor(_) | TypeData::Token | TypeData::Error => {}
            },
        }
    }

    // What `edit.rs` tells about changes.

    pub(crate) fn create_symbol_table(&mut self, op: OpId) {
        if self.has(op, Trait::SymbolTable) {
            self.symbols.insert(op, OnceLock::new());
        }
    }

    /// The blocks of `table` have changed.
    pub(crate) fn forget_symbols(&mut self, table: OpId) {
        if let Some(known) = self.symbols.get_mut(&table) {
            known.take();
        }
    }

    /// `op` has come into its block, or was given its name.
    pub(crate) fn add_symbol(&mut self, op: OpId) {
        let Some((name, known)) = self.symbol_place(op) else { return };
        if let Some(table) = known.get_mut()
            && table.ops.insert(name, op).is_some()
        {
            known.take();
        }
    }

    /// `op` is about to leave its block, or to lose its name.
    pub(crate) fn remove_symbol(&mut self, op: OpId) {
        let Some((name, known)) = self.symbol_place(op) else { return };
        if let Some(table) = known.get_mut() {
            if table.redefinitions.is_empty() {
                table.ops.swap_remove(&name);
            } else {
                known.take();
            }
        }
    }

    /// The name that an op defines, and the table it is in.
    fn symbol_place(&mut self, op: OpId) -> Option<(Name, &mut OnceLock<SymbolTable>)> {
        let name = defined_name(self, op)?;
        let table = self.parent(op)?;
        Some((name, self.symbols.get_mut(&table)?))
    }
}

/// What symbols may be mentioned in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Attr(Attr),
    Type(Type),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{EVEN, any_op, function, module};
    use crate::{Builder, DialectType, SYMBOL_NAME, builtin};

    #[test]
    fn the_innermost_name_is_meant() {
        let mut module = module();
        let (outer, _) = function(&mut module, "f");
        let (other, other_block) = function(&mut module, "g");
        let body = module.body();
        let name = module.interner.symbol("nested");
        let nested =
            Builder::at_end(&mut module, body).op(&builtin::MODULE).attr(SYMBOL_NAME, name).region().build();
        let region = module.region(nested, 0);
        let nested_body = module.append_block(region);
        let (inner, inner_block) = function(&mut module, "f");
        module.detach(inner);
        module.append(nested_body, inner);
        let user = any_op(&mut module, inner_block, &[], 0);
        let outside = any_op(&mut module, other_block, &[], 0);
        let [f, g, nested_name, missing] =
            ["f", "g", "nested", "missing"].map(|text| module.interner.name(text));
        assert_eq!(module.resolve_symbol(user, &[f]), Some(inner));
        assert_eq!(module.resolve_symbol(user, &[g]), Some(other));
        assert_eq!(module.resolve_symbol(outside, &[f]), Some(outer));
        assert_eq!(module.resolve_symbol(outside, &[nested_name, f]), Some(inner));
        assert_eq!(module.resolve_symbol(outside, &[nested_name, g]), None);
        assert_eq!(module.resolve_symbol(outside, &[f, f]), None);
        assert_eq!(module.resolve_symbol(outside, &[missing]), None);
        assert_eq!(module.resolve_symbol(outside, &[]), None);
        let root = module.root();
        let table: Vec<OpId> = module.symbol_table(root).unwrap().iter().map(|(_, op)| op).collect();
        assert_eq!(table, [outer, other, nested]);
    }

    #[test]
    fn changes_are_seen() {
        let mut module = module();
        let (first, block) = function(&mut module, "f");
        let user = any_op(&mut module, block, &[], 0);
        let [f, g] = ["f", "g"].map(|text| module.interner.name(text));
        assert_eq!(
            (module.resolve_symbol(user, &[f]), module.resolve_symbol(user, &[g])),
            (Some(first), None)
        );
        let (second, _) = function(&mut module, "g");
        assert_eq!(module.resolve_symbol(user, &[g]), Some(second));
        let renamed = module.interner.symbol("f");
        module.set_attr(second, SYMBOL_NAME, renamed);
        assert_eq!(module.resolve_symbol(user, &[g]), None);
        let root = module.root();
        assert_eq!(module.symbol_table(root).unwrap().redefinitions(), [(first, second)]);
        module.erase(second);
        assert!(module.symbol_table(root).unwrap().redefinitions().is_empty());
        // Blocks that change their region take their names along.
        let region = module.region(root, 0);
        let blocks = module.take_blocks(region);
        assert_eq!(module.symbol_table(root).unwrap().iter().count(), 0);
        blocks.into_iter().for_each(|block| module.attach_block(region, block));
        assert_eq!(module.resolve_symbol(user, &[f]), Some(first));
    }

    #[test]
    fn symbols_are_found_in_attributes_and_types() {
        let mut module = module();
        let (function, block) = function(&mut module, "f");
        let op = any_op(&mut module, block, &[], 1);
        let mut dialect_type = |text: &str| {
            let params = module.interner.symbol(text);
            module.interner.ty(TypeData::Dialect(DialectType { def: &EVEN, params }))
        };
        let [a, b, c] = ["a", "b", "c"].map(&mut dialect_type);
        let tuple = module.interner.ty(TypeData::Tuple([a, a].into()));
        module.set_type(module.result(op, 0), tuple);
        let ty = module.interner.function(&[b], &[c]);
        let ty = module.interner.attr(AttrData::Type(ty));
        let d = module.interner.symbol("d");
        let attr = module.interner.attr(AttrData::Pair(d, ty));
        module.set_attr(op, "a", attr);
        let argument = module.append_argument(block, a);

        let texts = |visit: &dyn Fn(&mut Vec<String>)| {
            let mut found = Vec::new();
            visit(&mut found);
            found.join(" ")
        };
        let text = |path: &SymbolRef| module.text(path[0]).to_owned();
        let of_op = |op| texts(&|found| module.visit_symbols_of_op(op, &mut |path| found.push(text(path))));
        assert_eq!(of_op(op), "d b c a");
        // Those of a function are its name and what its arguments' types mention.
        assert_eq!(of_op(function), "f a");
        assert_eq!(texts(&|found| module.visit_symbols(attr, &mut |path| found.push(text(path)))), "d b c");
        let ty = module.ty(argument);
        assert_eq!(texts(&|found| module.visit_type_symbols(ty, &mut |path| found.push(text(path)))), "a");
    }

    #[test]
    fn what_is_shared_is_visited_once() {
        let mut module = module();
        let mut attr = module.interner.symbol("a");
        for _ in 0..64 {
            attr = module.interner.attr(AttrData::Pair(attr, attr));
        }
        let mut count = 0;
        module.visit_symbols(attr, &mut |_| count += 1);
        assert_eq!(count, 1);
    }
}

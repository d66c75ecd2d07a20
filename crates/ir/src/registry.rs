//! Dialects, and the explicit list of them that a tool is built with.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::{Attr, Module, OpDef, ParametricDef, Type, builtin};

/// A vocabulary: ops, types and attributes under one prefix.
#[derive(Debug)]
pub struct Dialect {
    /// The prefix.
    pub name: &'static str,
    /// One sentence, with a full stop.
    pub summary: &'static str,
    /// Its ops, by name.
    pub ops: &'static [&'static OpDef],
    /// Its types, by name.
    pub types: &'static [&'static ParametricDef],
    /// Its attributes, by name.
    pub attributes: &'static [&'static ParametricDef],
    /// Which op makes a constant of an attribute and a type, if one of this dialect does. The op takes the attribute
    /// as `value` and has one result.
    pub constant: Option<ConstantOp>,
}

/// The op that makes a constant of an attribute and a type, if a dialect has one for them.
pub type ConstantOp = fn(&Module, Attr, Type) -> Option<&'static OpDef>;

/// All that a tool knows. Nothing gets in here but through [`Registry::new`].
#[derive(Debug)]
pub struct Registry {
    dialects: Vec<&'static Dialect>,
    ops: IndexMap<&'static str, &'static OpDef, FxBuildHasher>,
    types: IndexMap<&'static str, &'static ParametricDef, FxBuildHasher>,
    attributes: IndexMap<&'static str, &'static ParametricDef, FxBuildHasher>,
}

/// Two definitions of one name, or a name that its definition cannot have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegistryError(String);

impl RegistryError {
    /// Says what is wrong with a name: for registries of other things than ops.
    pub fn new(message: String) -> RegistryError {
        RegistryError(message)
    }
}

impl std::fmt::Display for RegistryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RegistryError {}

impl Registry {
    /// A registry of these dialects and of [`builtin`].
    ///
    /// # Errors
    /// When a name is defined twice, or does not begin with its dialect's name.
    pub fn new(dialects: &[&'static Dialect]) -> Result<Registry, RegistryError> {
        let mut registry = Registry {
            dialects: std::iter::once(&builtin::DIALECT).chain(dialects.iter().copied()).collect(),
            ops: IndexMap::default(),
            types: IndexMap::default(),
            attributes: IndexMap::default(),
        };
        registry.dialects.sort_by_key(|dialect| dialect.name);
        for pair in registry.dialects.windows(2) {
            if pair[0].name == pair[1].name {
                return Err(RegistryError(format!("dialect `{}` is registered twice", pair[0].name)));
            }
        }
        for dialect in registry.dialects.clone() {
            for &def in dialect.ops {
                check_prefix(dialect, def.name)?;
                insert(&mut registry.ops, def.name, def)?;
                if let Some(keyword) = def.keyword {
                    insert(&mut registry.ops, keyword, def)?;
                }
            }
            for (defs, table) in
                [(dialect.types, &mut registry.types), (dialect.attributes, &mut registry.attributes)]
            {
                for &def in defs {
                    check_prefix(dialect, def.name)?;
                    insert(table, def.name, def)?;
                }
            }
        }
        Ok(registry)
    }

    /// The dialects, by name.
    pub fn dialects(&self) -> &[&'static Dialect] {
        &self.dialects
    }

    /// The dialect `name`.
    pub fn dialect(&self, name: &str) -> Option<&'static Dialect> {
        self.dialects.iter().copied().find(|dialect| dialect.name == name)
    }

    /// The op with this name or keyword.
    pub fn op(&self, name: &str) -> Option<&'static OpDef> {
        self.ops.get(name).copied()
    }

    /// Every name and keyword an op can be written with.
    pub fn op_names(&self) -> impl Iterator<Item = &'static str> {
        self.ops.keys().copied()
    }

    /// The type `name`.
    pub fn parametric_type(&self, name: &str) -> Option<&'static ParametricDef> {
        self.types.get(name).copied()
    }

    /// The names of all dialect types.
    pub fn type_names(&self) -> impl Iterator<Item = &'static str> {
        self.types.keys().copied()
    }

    /// The attribute `name`, without `#`.
    pub fn parametric_attr(&self, name: &str) -> Option<&'static ParametricDef> {
        self.attributes.get(name).copied()
    }

    /// The names of all dialect attributes.
    pub fn attr_names(&self) -> impl Iterator<Item = &'static str> {
        self.attributes.keys().copied()
    }
}

fn check_prefix(dialect: &Dialect, name: &str) -> Result<(), RegistryError> {
    match name.split_once('.') {
        Some((prefix, rest)) if prefix == dialect.name && !rest.is_empty() => Ok(()),
        _ => {
            Err(RegistryError(format!("`{name}` does not begin with its dialect's name `{}.`", dialect.name)))
        }
    }
}

fn insert<T>(
    table: &mut IndexMap<&'static str, &'static T, FxBuildHasher>,
    name: &'static str,
    def: &'static T,
) -> Result<(), RegistryError> {
    match table.insert(name, def) {
        None => Ok(()),
        Some(_) => Err(RegistryError(format!("`{name}` is defined twice"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op;

    static ONE: OpDef = op("a.one");
    static OTHER: OpDef = op("b.other");

    const fn dialect(name: &'static str, ops: &'static [&'static OpDef]) -> Dialect {
        Dialect { name, summary: "", ops, types: &[], attributes: &[], constant: None }
    }

    #[test]
    fn names_are_unique_and_prefixed() {
        static GOOD: Dialect = dialect("a", &[&ONE]);
        static TWICE: Dialect = dialect("a", &[&ONE, &ONE]);
        static FOREIGN: Dialect = dialect("a", &[&OTHER]);
        assert!(Registry::new(&[&GOOD]).unwrap().op("a.one").is_some());
        assert!(Registry::new(&[&TWICE]).is_err());
        assert!(Registry::new(&[&FOREIGN]).is_err());
        assert!(Registry::new(&[&GOOD, &GOOD]).is_err());
    }
}

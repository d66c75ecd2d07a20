//! Names for everything that is printed.
//!
//! A value keeps the name its author gave it. Where two values that are seen at one place share a name, the later one
//! gets a number behind it; values without a name are numbered in order. Names need to be unique only along nested
//! regions up to an isolated op, and are free again where a region ends.

use rustc_hash::{FxHashMap, FxHashSet};
use tofu_ir::{BlockId, EntityId, Module, Name, OpId, SecondaryMap, Trait, ValueId};

/// The names of all values and blocks in an op.
#[derive(Debug)]
pub struct ValueNames {
    values: SecondaryMap<ValueId, Label>,
    blocks: FxHashMap<BlockId, Label>,
    made: Vec<String>,
    opens_scope: fn(&Module, OpId) -> bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Label {
    /// The value lies outside of what is printed; its id is all there is.
    #[default]
    Outside,
    Number(u32),
    Given(Name),
    Made(u32),
}

/// What is visible at one place.
#[derive(Default)]
struct Scope {
    given: FxHashSet<Name>,
    made: FxHashSet<String>,
    next_number: u32,
    /// The last number that was put behind each name.
    tried: FxHashMap<Name, u32>,
    /// What to take away at the end of a region.
    log: Vec<Undo>,
}

enum Undo {
    Given(Name),
    Made(String),
}

impl ValueNames {
    /// Names for all that is in `op`; isolated ops have names of their own.
    pub fn of(module: &Module, op: OpId) -> ValueNames {
        ValueNames::with_scopes(module, op, |module, op| module.has(op, Trait::Isolated))
    }

    /// Names for all that is in `op`, where the ops that `opens_scope` tells have names of their own.
    pub fn with_scopes(module: &Module, op: OpId, opens_scope: fn(&Module, OpId) -> bool) -> ValueNames {
        let mut names = ValueNames {
            values: SecondaryMap::new(),
            blocks: FxHashMap::default(),
            made: Vec::new(),
            opens_scope,
        };
        let mut scope = Scope::default();
        for result in module.results(op) {
            names.value(module, &mut scope, result);
        }
        names.inside(module, op, &mut scope, 0);
        names
    }

    fn inside(&mut self, module: &Module, op: OpId, scope: &mut Scope, depth: usize) {
        if depth > super::MAX_DEPTH {
            return;
        }
        let mut own = Scope::default();
        let scope = if (self.opens_scope)(module, op) { &mut own } else { scope };
        for region in module.regions(op) {
            let (mark, number) = (scope.log.len(), scope.next_number);
            self.block_names(module, module.blocks(region));
            // All results of the region come first: a value is seen in the whole region, also before its definition.
            for &block in module.blocks(region) {
                for &argument in module.arguments(block) {
                    self.value(module, scope, argument);
                }
                for inner in module.ops(block) {
                    for result in module.results(inner) {
                        self.value(module, scope, result);
                    }
                }
            }
            for &block in module.blocks(region) {
                for inner in module.ops(block).filter(|&inner| module.region_count(inner) > 0) {
                    self.inside(module, inner, scope, depth + 1);
                }
            }
            scope.next_number = number;
            for undo in scope.log.drain(mark..) {
                match undo {
                    Undo::Given(name) => scope.given.remove(&name),
                    Undo::Made(text) => scope.made.remove(&text),
                };
            }
        }
    }

    fn value(&mut self, module: &Module, scope: &mut Scope, value: ValueId) {
        let Some(name) = module.value_name(value).filter(|&name| is_value_name(module.text(name))) else {
            self.values[value] = Label::Number(scope.next_number);
            scope.next_number += 1;
            return;
        };
        let fresh = scope.made.is_empty() || !scope.made.contains(module.text(name));
        if fresh && scope.given.insert(name) {
            scope.log.push(Undo::Given(name));
            self.values[value] = Label::Given(name);
            return;
        }
        let base = module.text(name);
        // Numbers tried before are taken still, or were given back at the end of a region and are not missed.
        let first = scope.tried.entry(name).or_insert(0);
        let start = *first + 1;
        let text = (start..)
            .inspect(|&number| *first = number)
            .map(|number| format!("{base}_{number}"))
            .find(|text| {
                let given = module.interner.find_name(text).is_some_and(|name| scope.given.contains(&name));
                !given && !scope.made.contains(text)
            })
            .unwrap_or_default();
        scope.made.insert(text.clone());
        scope.log.push(Undo::Made(text.clone()));
        self.values[value] = Label::Made(self.made.len() as u32);
        self.made.push(text);
    }

    fn block_names(&mut self, module: &Module, blocks: &[BlockId]) {
        let given_name = |block| written_block_name(module, block).map(|name| (name, module.text(name)));
        let given: FxHashSet<&str> = blocks.iter().filter_map(|&block| Some(given_name(block)?.1)).collect();
        let mut used: FxHashSet<String> = FxHashSet::default();
        for (index, &block) in blocks.iter().enumerate() {
            let base = match given_name(block) {
                Some((name, text)) if used.insert(text.to_owned()) => {
                    self.blocks.insert(block, Label::Given(name));
                    continue;
                }
                Some((_, text)) => text.to_owned(),
                None => format!("bb{index}"),
            };
            let free = |text: &String| !given.contains(text.as_str()) && !used.contains(text);
            let numbered = (1..).map(|number| format!("{base}_{number}"));
            let text = std::iter::once(base.clone()).chain(numbered).find(free).unwrap_or_default();
            used.insert(text.clone());
            self.blocks.insert(block, Label::Made(self.made.len() as u32));
            self.made.push(text);
        }
    }

    /// Writes a value's name, without `%`.
    pub fn write_value(&self, out: &mut String, module: &Module, value: ValueId) {
        self.write(out, module, self.values[value], value.index());
    }

    /// Writes a block's name, without `^`.
    pub fn write_block(&self, out: &mut String, module: &Module, block: BlockId) {
        let label = self.blocks.get(&block).copied().unwrap_or_default();
        self.write(out, module, label, block.index());
    }

    fn write(&self, out: &mut String, module: &Module, label: Label, index: usize) {
        use std::fmt::Write;
        match label {
            Label::Outside => {
                let _ = write!(out, "_outside{index}");
            }
            Label::Number(number) => {
                let _ = write!(out, "{number}");
            }
            Label::Given(name) => out.push_str(module.text(name)),
            Label::Made(index) => out.push_str(&self.made[index as usize]),
        }
    }
}

/// The name that a block is written with, if it has one that a text can say.
pub(super) fn written_block_name(module: &Module, block: BlockId) -> Option<Name> {
    let can_be_said = |text| is_value_name(text) && !is_block_number(text);
    module.block_name(block).filter(|&name| can_be_said(module.text(name)))
}

/// Whether a block's name is what the printer writes for a block without one, and is read as none.
pub(crate) fn is_block_number(text: &str) -> bool {
    let number = text.strip_prefix("bb").unwrap_or(text);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a name can be written after `%` or `^` and is told apart from a number.
fn is_value_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-'))
}
